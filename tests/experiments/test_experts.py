"""The accidents of the published set-up, one by one."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import Any

import gymnasium as gym
import pytest

from llm_gym.core import Decision, Info, Opinion
from llm_gym.experiments.asked_after_end import AskedAfterEnd
from llm_gym.experiments.experts import Around, FirstCharacterExpert, RandomClicks, SilentAfterError, TitledExpert
from llm_gym.policies import ALFWorldExpertPolicy, AutoGPTPolicy, LexicalPolicy, Policy, RulePolicy
from llm_gym.rollout import play
from llm_gym.wrappers import OpinionWrapper


class Diary(Policy):
    """Writes down what it is shown and told; advises the first admissible action."""

    name = "diary"

    def __init__(self) -> None:
        self.seen: list[tuple[str, Any]] = []
        self.told: list[str] = []

    def act(self, observation: str, info: Info) -> Decision:
        self.seen.append((observation, info.get("page")))
        actions = info.get("admissible_actions") or [None]
        return Decision(actions[-1])

    def note(self, observation: str, info: Info, action: str) -> None:
        self.told.append(action)


def page(text: str, *actions: str, **more: Any) -> Info:
    return {"page": text, "admissible_actions": list(actions), **more}  # type: ignore[typeddict-item]


RESULTS: dict[str, Any] = {
    "screen": "results",
    "results": [
        SimpleNamespace(asin="B01", title="Red Shoe", price="$1"),
        SimpleNamespace(asin="B02", title="Hat", price="$2"),
    ],
}


def test_an_expert_around_another_changes_nothing_by_itself() -> None:
    shop = gym.make("llm_gym/WebShop-v1")
    task = shop.unwrapped.panel[3]
    assert (
        play(shop, Around(LexicalPolicy()), task).to_row()["trajectory"]
        == (play(shop, LexicalPolicy(), task).to_row()["trajectory"])
    )


def test_from_the_second_page_on_the_expert_sees_one_character_and_believes_that_it_is_obeyed() -> None:
    diary = Diary()
    expert = FirstCharacterExpert(diary)
    expert.reset(seed=1)
    expert.advise("You are in a room.", page("You are in a room.", "look", "go to desk 1"))
    expert.note("You are in a room.", page("You are in a room."), "look")
    expert.advise("Nothing happens.", page("Nothing happens.", "look", "take pen 1"))
    assert diary.seen == [("You are in a room.", "You are in a room."), ("N", "N")]
    assert diary.told == ["go to desk 1"]


def test_a_new_episode_begins_with_a_whole_page() -> None:
    diary = Diary()
    expert = FirstCharacterExpert(diary)
    for _ in range(2):
        expert.reset(seed=1)
        expert.advise("Welcome.", page("Welcome.", "look"))
    assert [seen for seen, _ in diary.seen] == ["Welcome.", "Welcome."]


def test_after_a_reply_without_a_command_there_is_no_opinion_and_then_again_one() -> None:
    expert = SilentAfterError(Diary())
    expert.reset(seed=1)
    shown = page("A page.", "look")
    assert expert.advise("A page.", shown)
    expert.note("A page.", shown, "")
    assert expert.advise("A page.", shown) == []
    expert.note("A page.", shown, "click[what is not there]")
    assert expert.advise("A page.", shown)


def test_random_clicks_leave_the_search_to_the_expert_and_are_uniform_elsewhere() -> None:
    expert = RandomClicks(Diary())
    expert.reset(seed=7)
    search = page("", "search[a red shoe]")
    assert expert.advise("", search) == [Opinion("search[a red shoe]", source="diary")]
    clicks = page("", "click[a]", "click[b]", "click[c]")
    drawn = Counter(expert.advise("", clicks)[0].action for _ in range(900))
    # 300 each; 5 standard deviations of a binomial with p = 1/3 are 5 * sqrt(900 * 2/9) = 71
    assert set(drawn) == {"click[a]", "click[b]", "click[c]"}
    assert all(abs(count - 300) < 71 for count in drawn.values())


def test_a_titled_expert_reads_titles_and_is_heard_by_ids() -> None:
    class Reader(Diary):
        def act(self, observation: str, info: Info) -> Decision:
            self.seen.append(("", info.get("admissible_actions")))
            return Decision("click[item - hat]")

    reader = Reader()
    expert = TitledExpert(reader)
    expert.reset()
    info = page("", "click[back to search]", "click[b01]", "click[b02]", **RESULTS)
    assert [opinion.action for opinion in expert.advise("", info)] == ["click[b02]"]
    assert expert.act("", info).action == "click[b02]"
    expert.note("", info, "click[B01]")
    assert reader.seen[0][1] == ["click[back to search]", "click[item - red shoe]", "click[item - hat]"]
    assert reader.told == ["click[item - red shoe]"]


@pytest.mark.parametrize("expert", [RulePolicy, LexicalPolicy])
def test_whoever_reads_ids_and_titles_advises_the_same_with_both(expert: type[Policy]) -> None:
    shop = gym.make("llm_gym/WebShop-v1")
    for task in shop.unwrapped.panel[:5]:
        titled, plain = play(shop, TitledExpert(expert()), task), play(shop, expert(), task)
        assert [step.action for step in titled.steps] == [step.action for step in plain.steps]


def test_a_house_has_no_titles() -> None:
    house = gym.make("llm_gym/ALFWorld-v1")
    task = house.unwrapped.panel[0]
    titled = play(house, TitledExpert(ALFWorldExpertPolicy()), task)
    assert [step.action for step in titled.steps] == [
        step.action for step in play(house, ALFWorldExpertPolicy(), task).steps
    ]


class Talker(Policy):
    """Opens the door and then says something more, or stops."""

    name = "talker"

    def __init__(self, last: str | None) -> None:
        self.last = last

    def act(self, observation: str, info: Info) -> Decision:
        return Decision(self.last if info["success"] else "open")


def corridor(*wrappers: Any) -> gym.Env[str, str]:
    env: gym.Env[str, str] = gym.make("llm_gym/Corridor-v0")
    for wrapper in wrappers:
        env = wrapper(env)
    return env


FIRST = "corridor-0"


def test_after_the_end_the_agent_is_asked_once_more() -> None:
    episode = play(corridor(AskedAfterEnd), Talker("left"), FIRST)
    assert [(step.action, step.reward) for step in episode.steps][-2:] == [("open", 1.0), ("left", 0.0)]
    assert (episode.success, episode.ended_by, episode.score) == (True, "task", 100.0)


def test_the_end_tells_the_reward_as_the_original_did() -> None:
    env = corridor(AskedAfterEnd)
    env.reset(options={"task": FIRST})
    for action in env.unwrapped.solution():
        observation, reward, terminated, _, info = env.step(action)
    assert observation.endswith("The door is open.{'reward': 10}")
    assert (reward, terminated, info["admissible_actions"], info["page"]) == (1.0, False, [], observation)


@pytest.mark.parametrize("world", ["WebShop-v0", "WebShop-v1", "ALFWorld-v1"])
def test_the_scripted_model_sees_the_end_and_says_finish(make_env: Any, world: str) -> None:
    env = OpinionWrapper(make_env(f"llm_gym/{world}"), LexicalPolicy() if "Shop" in world else ALFWorldExpertPolicy())
    episode = play(AskedAfterEnd(env), AutoGPTPolicy("scripted"), env.unwrapped.panel[0])
    assert (episode.ended_by, episode.steps[-1].action) == ("agent", None)
    assert episode.steps[-2].reward > 0


def test_an_agent_that_answers_the_end_with_finish_ends_the_episode_itself() -> None:
    episode = play(corridor(AskedAfterEnd), Talker(None), FIRST)
    assert (episode.success, episode.ended_by, episode.score) == (True, "agent", 100.0)


def test_there_is_no_opinion_after_the_end() -> None:
    episode = play(corridor(lambda env: OpinionWrapper(env, Talker("left")), AskedAfterEnd), Talker("left"), FIRST)
    assert [len(step.opinions) for step in episode.steps][-2:] == [1, 0]


def test_an_end_at_the_last_step_leaves_no_time_to_ask() -> None:
    env = AskedAfterEnd(gym.make("llm_gym/Corridor-v0", max_episode_steps=1))
    here = next(task for task in env.unwrapped.panel if len(play(corridor(), Talker(None), task).steps) == 1)
    episode = play(env, Talker(None), here)
    assert (episode.ended_by, episode.success, len(episode.steps)) == ("task", True, 1)
