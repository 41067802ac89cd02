"""Asking an expert: when, how many opinions, and which of them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare

from llm_gym.core import Decision, Info, Opinion
from llm_gym.envs.base import MAX_ACTION_CHARS
from llm_gym.errors import AccessDenied, BudgetExceeded, ExpertFailed, InvalidSetting, MissingData, UnknownName
from llm_gym.policies import LexicalPolicy, Policy, RandomPolicy
from llm_gym.policies.advice import CANDIDATES, Advice, drawn, random_opinions

A, B, C = Opinion("a", 0.3, "e"), Opinion("b", 0.5, "e"), Opinion("c", 0.2, "e")
DRAWS = 6_000


class Expert(Policy):
    """Gives the same opinions everywhere and keeps all that it is told."""

    name = "told"

    def __init__(self, *opinions: Any) -> None:
        self.gives = list(opinions)
        self.asked: list[tuple[str, dict[str, Any], int]] = []
        self.noted: list[tuple[str, str]] = []
        self.seeds: list[int | None] = []

    def reset(self, seed: int | None = None, trial: int = 0) -> None:
        self.seeds.append(seed)

    def act(self, observation: str, info: Info) -> Decision:
        raise NotImplementedError

    def advise(self, observation: str, info: Info, k: int = 1) -> list[Opinion]:
        self.asked.append((observation, dict(info), k))
        return self.gives

    def note(self, observation: str, info: Info, action: str) -> None:
        self.noted.append((observation, action))


class Broken(Policy):
    """Raises what it was given."""

    name = "broken"

    def __init__(self, error: Exception) -> None:
        self.error = error

    def act(self, observation: str, info: Info) -> Decision:
        raise self.error


def advice(expert: Policy, seed: int = 0, **settings: Any) -> Advice:
    chosen = {"top_k": 1, "draw": "argmax", "when": "always", "threshold": 0.5, "control": None, **settings}
    made = Advice(expert, **chosen)
    made.begin(seed)
    return made


def info(page: str = "p", **more: Any) -> Any:
    return {"page": page, "admissible_actions": ["x", "y", "z"], **more}


def test_the_expert_sees_the_page_and_no_opinions_of_others() -> None:
    expert = Expert(A)
    advice(expert).opinions("decorated", info(opinions=[B], goal="g"))
    assert expert.asked == [("p", {"page": "p", "admissible_actions": ["x", "y", "z"], "goal": "g"}, 1)]


def test_a_world_without_page_shows_its_observation() -> None:
    expert = Expert(A)
    advice(expert).opinions("seen", {})
    assert expert.asked[0][0] == "seen"


def test_the_expert_is_told_what_was_done_on_the_page_it_saw() -> None:
    expert = Expert(A)
    asked = advice(expert)
    asked.note("before any page")
    asked.opinions("", info("one"))
    asked.note("go")
    asked.opinions("", info("two"))
    assert expert.noted == [("one", "go")]


def test_no_more_opinions_than_wanted() -> None:
    assert advice(Expert(A, B, C), top_k=2, draw="beam").opinions("", info()) == [A, B]
    assert advice(Expert(A), top_k=2).opinions("", info()) == [A]


def test_the_best_are_the_most_confident_and_a_beam_keeps_the_experts_order() -> None:
    def chosen(draw: Any, opinions: Sequence[Opinion] = (A, B, C)) -> list[Opinion]:
        return drawn(opinions, 3, draw, np.random.default_rng())

    assert chosen("argmax") == [B, A, C]
    assert chosen("beam") == [A, B, C]
    assert chosen("argmax", (A, Opinion("n"), B)) == [A, Opinion("n"), B]


def test_opinions_are_drawn_in_proportion_to_confidence() -> None:
    random = np.random.default_rng(1)
    counts = Counter(drawn((A, B, C), 1, "sample", random)[0].action for _ in range(DRAWS))
    assert chisquare([counts["a"], counts["b"], counts["c"]], [0.3 * DRAWS, 0.5 * DRAWS, 0.2 * DRAWS]).pvalue > 0.001


def test_a_sample_repeats_opinions() -> None:
    random = np.random.default_rng(1)
    pairs = Counter(len({o.action for o in drawn((A, B), 2, "sample", random)}) for _ in range(DRAWS))
    same = (0.3**2 + 0.5**2) / 0.8**2  # confidences that do not add up to 1 are shares
    assert chisquare([pairs[1], pairs[2]], [same * DRAWS, (1 - same) * DRAWS]).pvalue > 0.001


def test_without_replacement_each_draw_is_in_proportion_to_what_is_left() -> None:
    random = np.random.default_rng(2)
    draws = (drawn((A, B, C), 2, "sample_without_replacement", random) for _ in range(DRAWS))
    pairs = Counter(f"{first.action}{second.action}" for first, second in draws)
    shares = {
        "ab": 0.3 * 0.5 / 0.7, "ac": 0.3 * 0.2 / 0.7, "ba": 0.5 * 0.3 / 0.5,
        "bc": 0.5 * 0.2 / 0.5, "ca": 0.2 * 0.3 / 0.8, "cb": 0.2 * 0.5 / 0.8,
    }  # fmt: skip
    assert set(pairs) == set(shares)
    assert chisquare([pairs[pair] for pair in shares], [share * DRAWS for share in shares.values()]).pvalue > 0.001


@pytest.mark.parametrize("opinions", [[Opinion("n"), A, B], [Opinion(action, 0.0) for action in "xyz"]])
def test_without_confidence_all_have_the_same_chance(opinions: list[Opinion]) -> None:
    random = np.random.default_rng(3)
    counts = Counter(drawn(opinions, 1, "sample", random)[0].action for _ in range(DRAWS))
    assert chisquare(list(counts.values())).pvalue > 0.001
    assert len(counts) == 3


def test_what_has_no_confidence_at_all_is_never_drawn() -> None:
    random = np.random.default_rng(3)
    zero = Opinion("z", 0.0)
    assert {o.action for _ in range(200) for o in drawn((A, zero), 3, "sample", random)} == {"a"}
    assert drawn((A, zero), 3, "sample_without_replacement", random) == [A]


@pytest.mark.parametrize("draw", ["sample", "sample_without_replacement"])
def test_what_is_drawn_comes_from_all_candidates(draw: str) -> None:
    expert = Expert(A, B, C)
    asked = advice(expert, draw=draw)
    assert {asked.opinions("", info())[0].action for _ in range(100)} == {"a", "b", "c"}
    assert expert.asked[0][2] == CANDIDATES


def test_after_a_failure_only() -> None:
    expert = Expert(A)
    asked = advice(expert, when="after_failure")
    pages = [info("one"), info("two"), info("two"), info("three"), info("four", invalid_action="No.")]
    assert [bool(asked.opinions("", page)) for page in pages] == [False, False, True, False, True]
    assert len(expert.asked) == 5  # it is shown every page, whether its opinion is wanted or not


def test_the_first_page_of_an_episode_is_no_failure() -> None:
    asked = advice(Expert(A), when="after_failure")
    asked.opinions("", info("one"))
    asked.begin(1)
    assert asked.opinions("", info("one")) == []


@pytest.mark.parametrize(
    ("opinions", "shown"),
    [((A, C), True), ((C, B), False), ((Opinion("n"), B), True), ((Opinion("s", 0.49),), True), ((), False)],
)
def test_where_the_expert_is_uncertain(opinions: Sequence[Opinion], shown: bool) -> None:
    assert bool(advice(Expert(*opinions), top_k=2, when="uncertain").opinions("", info())) is shown


def test_what_is_uncertain_can_be_said() -> None:
    assert advice(Expert(B), when="uncertain", threshold=0.6).opinions("", info()) == [B]


def test_the_control_is_as_many_random_actions_on_the_same_pages() -> None:
    asked = advice(Expert(A, B), top_k=2, when="after_failure", control="random")
    assert asked.opinions("", info("one")) == []
    shown = asked.opinions("", info("one"))
    assert len({opinion.action for opinion in shown}) == 2
    assert {(opinion.action in "xyz", opinion.confidence, opinion.source) for opinion in shown} == {
        (True, 1 / 3, "random")
    }
    assert len(advice(Expert(A), top_k=2, control="random").opinions("", info())) == 1


def test_every_action_is_as_likely_in_the_control() -> None:
    random = np.random.default_rng(4)
    counts = Counter(random_opinions(info(), 1, random)[0].action for _ in range(DRAWS))
    assert chisquare([counts["x"], counts["y"], counts["z"]]).pvalue > 0.001


def test_where_no_actions_are_listed_there_is_no_control() -> None:
    assert advice(Expert(A), control="random").opinions("", {"page": "p", "admissible_actions": None}) == []


def test_expert_and_drawing_have_streams_of_their_own() -> None:
    expert = Expert(A, B, C)
    asked = advice(expert, seed=5)
    asked.begin(5, place=1)
    asked.begin(6)
    assert len({5, *expert.seeds}) == 4
    own = [advice(RandomPolicy(), seed=seed).opinions("", info())[0].action for seed in range(20)]
    control = [advice(RandomPolicy(), seed=seed, control="random").opinions("", info())[0].action for seed in range(20)]
    assert own != control  # both are the first of a permutation: from one stream they would be the same


def test_the_same_seed_draws_the_same() -> None:
    def shown(asked: Advice) -> list[str]:
        asked.begin(7)
        return [asked.opinions("", info(str(page)))[0].action for page in range(20)]

    used = advice(RandomPolicy(), draw="sample")
    assert shown(used) == shown(used) == shown(advice(RandomPolicy(), draw="sample"))


def test_without_a_seed_the_next_one_follows_from_the_last() -> None:
    seeds = []
    for _ in range(2):
        expert = Expert(A)
        asked = advice(expert, seed=3)
        asked.begin(None)
        asked.begin(None)
        seeds.append(expert.seeds)
    assert seeds[0] == seeds[1]
    assert len(set(seeds[0])) == 3


@pytest.mark.parametrize(
    ("expert", "sentence"),
    [
        (Broken(KeyError("shelf")), "The expert 'broken' failed: KeyError: 'shelf'"),
        (Expert("click"), "The expert 'told' failed: TypeError: an opinion is an Opinion with an action in words"),
        (Expert(Opinion(None)), "The expert 'told' failed: TypeError"),  # type: ignore[arg-type]
        (Expert(Opinion("a", 1.5)), "ValueError: a confidence lies between 0 and 1, it is 1.5"),
        (Expert(Opinion("a", float("nan"))), "The expert 'told' failed: ValueError: a confidence"),
        (Expert(Opinion("a" * (MAX_ACTION_CHARS + 1))), "at most 200,000 characters, not 200,001"),
    ],
)
def test_an_expert_that_fails_is_named(expert: Policy, sentence: str) -> None:
    with pytest.raises(ExpertFailed, match=sentence):
        advice(expert).opinions("", info())


@pytest.mark.parametrize(
    "error", [MissingData("no file"), InvalidSetting("no world"), BudgetExceeded("spent"), AccessDenied("no key")]
)
def test_what_the_user_has_to_put_right_passes(error: Exception) -> None:
    with pytest.raises(type(error), match=str(error)):
        advice(Broken(error)).opinions("", info())


@pytest.mark.parametrize(
    ("settings", "kind", "sentence"),
    [
        ({"top_k": 0}, InvalidSetting, "top_k must be 1 opinion at least, got 0"),
        ({"threshold": 0}, InvalidSetting, "threshold must lie above 0 and not above 1, got 0"),
        ({"draw": "best"}, UnknownName, "Unknown draw 'best'"),
        ({"when": "sometimes"}, UnknownName, "Unknown when 'sometimes'"),
        ({"control": "randm"}, UnknownName, "Unknown control 'randm'. Did you mean 'random'?"),
    ],
)
def test_a_setting_that_cannot_work_is_refused(settings: dict[str, Any], kind: type[Exception], sentence: str) -> None:
    with pytest.raises(kind, match=sentence):
        advice(Expert(A), **settings)


def test_an_expert_is_a_policy() -> None:
    with pytest.raises(InvalidSetting, match="An expert is a policy, such as LexicalPolicy"):
        advice("lexical")  # type: ignore[arg-type]


def test_settings_are_json_and_hold_the_experts() -> None:
    settings = advice(LexicalPolicy(read=3), top_k=2).settings()
    assert json.loads(json.dumps(settings)) == settings
    assert settings["expert"] == {"name": "lexical", "settings": {"read": 3}}
    assert settings["top_k"] == 2
