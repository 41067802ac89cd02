"""The expert of ALFWorld: in a flat made by hand, in the official games, and elsewhere."""

from __future__ import annotations

import pickle
import random
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_gym.core import Info
from llm_gym.envs.alfworld.engines.base import Reply
from llm_gym.envs.alfworld.engines.native import NativeEngine
from llm_gym.envs.alfworld.game import Game
from llm_gym.envs.alfworld.planner import Planner
from llm_gym.envs.alfworld.problem import Problem
from llm_gym.envs.alfworld.store import GameStore
from llm_gym.envs.alfworld.wording import CURRENT, ORIGINAL, Wording
from llm_gym.errors import UnknownName
from llm_gym.policies import ALFWorldExpertPolicy
from llm_gym.policies.alfworld.expert import READERS
from llm_gym.policies.alfworld.goal_reader import GoalReader

PLACES = {
    "bed_bar_1": (1, "pillow_bar_1"),
    "desk_bar_1": (2, "pen_bar_1 desklamp_bar_1"),
    "shelf_bar_1": (2, ""),
    "drawer_bar_1": (3, "pen_bar_2"),
    "drawer_bar_2": (4, "mug_bar_1"),
    "fridge_bar_1": (5, "egg_bar_1"),
    "microwave_bar_1": (6, ""),
    "sink_bar_1_bar_sinkbasin": (7, "mug_bar_2"),
    "countertop_bar_1": (8, "roll_bar_1"),
}
"""The flat: place → its location and what it holds. The agent begins at location 0, where nothing is."""
DOORS = "drawer_bar_1 drawer_bar_2 fridge_bar_1 microwave_bar_1"
TREATABLE = "egg_bar_1 mug_bar_1 mug_bar_2"
ANYWHERE = "pillow pen mug egg"
"""Kinds of things that every place takes; the roll is taken by none."""
PUT = (
    "(exists (?r - receptacle) (exists (?o - object) (and (inReceptacle ?o ?r) (objectType ?o {0}Type) "
    "(receptacleType ?r {1}Type) {2})))"
)
TWO = (
    "(exists (?r - receptacle) (exists (?a - object) (and (objectType ?a {0}Type) (receptacleType ?r {1}Type) "
    "(inReceptacle ?a ?r) (exists (?b - object) (and (not (= ?a ?b)) (objectType ?b {0}Type) "
    "(receptacleType ?r {1}Type) (inReceptacle ?b ?r))))))"
)
LOOK = (
    "(exists (?l - object ?r - receptacle ?p - location ?a - agent) (and (objectType ?l DesklampType) (toggleable ?l) "
    "(isToggled ?l) (inReceptacle ?l ?r) (receptacleAtLocation ?r ?p) (atLocation ?a ?p) "
    "(exists (?o - object) (and (objectType ?o {0}Type) (holds ?a ?o)))))"
)
TASKS = {
    "put some pillow on shelf.": PUT.format("Pillow", "Shelf", ""),
    "put a clean mug in bed.": PUT.format("Mug", "Bed", "(cleanable ?o) (isClean ?o)"),
    "heat some egg and put it in desk.": PUT.format("Egg", "Desk", "(heatable ?o) (isHot ?o)"),
    "put a cool mug in drawer.": PUT.format("Mug", "Drawer", "(coolable ?o) (isCool ?o)"),
    "put two pen in bed.": TWO.format("Pen", "Bed"),
    "find two mug and put them in drawer.": TWO.format("Mug", "Drawer"),
    "examine the pillow with the desklamp.": LOOK.format("Pillow"),
}
"""Sentence → what the game checks."""

every_task = pytest.mark.parametrize("goal", sorted(TASKS))
both_wordings = pytest.mark.parametrize("wording", [CURRENT, ORIGINAL], ids=lambda wording: wording.name)


def flat(goal: str) -> Game:
    """The flat with a task."""
    kinds = {place: "sinkbasin" if "sink" in place else place.partition("_")[0] for place in PLACES}
    facts = ["atLocation agent1 loc_bar_0", *(f"openable {place}" for place in DOORS.split())]
    for place, (location, contents) in PLACES.items():
        facts += [f"receptacleType {place} {kinds[place]}Type", f"receptacleAtLocation {place} loc_bar_{location}"]
        for thing in contents.split():
            kind = thing.partition("_")[0]
            facts += [f"objectType {thing} {kind}Type", f"inReceptacle {thing} {place}"]
            facts += [f"objectAtLocation {thing} loc_bar_{location}"]
            facts += [f"toggleable {thing}" if kind == "desklamp" else f"pickupable {thing}"]
    facts += [f"{flag} {thing}" for thing in TREATABLE.split() for flag in ("cleanable", "heatable", "coolable")]
    facts += [f"canContain {kind}Type {thing}Type" for kind in set(kinds.values()) for thing in ANYWHERE.split()]
    text = f"(define (problem flat) (:init {' '.join(f'({fact})' for fact in facts)}) (:goal {TASKS[goal]}))"
    return Game("flat/trial", "train", goal, Problem.parse(text))


class Play:
    """A game while it is played, with the expert looking on."""

    def __init__(self, game: Game, wording: Wording = CURRENT) -> None:
        self.goal = game.goal
        self.policy = ALFWorldExpertPolicy()
        self.engine = NativeEngine()
        self.reply: Reply = self.engine.begin(game, game.goal, wording)

    @property
    def info(self) -> Info:
        return {"goal": self.goal, "admissible_actions": list(self.reply.admissible)}

    def advised(self, k: int = 100) -> list[str]:
        return [opinion.action for opinion in self.policy.advise(self.reply.text, self.info, k)]

    def do(self, *commands: str) -> None:
        """Somebody else acts, and the expert sees what comes of it."""
        for command in commands:
            assert command in self.reply.admissible
            self.advised()
            self.reply = self.engine.respond(command)

    def wander(self, steps: int, rng: random.Random) -> None:
        for _ in range(steps):
            if not self.reply.won:
                self.do(rng.choice(self.reply.admissible))

    def finish(self, limit: int = 50) -> int | None:
        """The number of steps in which the expert wins; None if it does not."""
        for steps in range(limit):
            if self.reply.won:
                return steps
            action = self.policy.act(self.reply.text, self.info).action
            if action is None:
                return None
            assert action in self.reply.admissible
            self.reply = self.engine.respond(action)
        return limit if self.reply.won else None


@every_task
@both_wordings
def test_it_wins_each_kind_of_task(goal: str, wording: Wording) -> None:
    assert Play(flat(goal), wording).finish() is not None


@every_task
@both_wordings
def test_it_wins_from_wherever_somebody_else_wandered(goal: str, wording: Wording) -> None:
    rng = random.Random(0)
    for _ in range(30):
        play = Play(flat(goal), wording)
        play.wander(rng.randint(0, 20), rng)
        dead_end = "examine roll 1" in play.reply.admissible
        assert (play.finish() is None) == dead_end


@every_task
def test_it_helps_one_whom_it_sees_for_the_first_time(goal: str) -> None:
    rng = random.Random(1)
    for _ in range(10):
        play = Play(flat(goal))
        play.wander(rng.randint(0, 20), rng)
        play.policy = ALFWorldExpertPolicy()
        dead_end = "examine roll 1" in play.reply.admissible
        assert (play.finish() is None) == dead_end


def test_it_takes_the_shortest_way_once_it_knows_where_things_are() -> None:
    play = Play(flat("heat some egg and put it in desk."))
    play.do("go to fridge 1", "open fridge 1", "go to bed 1")
    expected = ["go to fridge 1", "take egg 1 from fridge 1", "go to microwave 1", "heat egg 1 with microwave 1"]
    for command in [*expected, "go to desk 1", "move egg 1 to desk 1"]:
        assert play.advised() == [command]
        play.do(command)
    assert play.reply.won


def test_places_of_which_it_knows_nothing_are_equally_good() -> None:
    play = Play(flat("put two pen in bed."))
    play.do("go to desk 1", "take pen 2 from desk 1", "go to countertop 1", "go to bed 1", "move pen 2 to bed 1")
    assert play.advised() == ["go to drawer 1", "go to drawer 2"]
    assert play.advised(k=1) == ["go to drawer 1"]
    play.do("go to drawer 2", "open drawer 2")
    assert "go to drawer 2" not in play.advised()


def test_a_wrong_thing_in_hand_is_laid_down_anywhere() -> None:
    play = Play(flat("put a cool mug in drawer."))
    play.do("go to desk 1", "take pen 2 from desk 1")
    assert sorted(play.advised()) == ["move pen 2 to desk 1", "move pen 2 to shelf 1"]


def test_the_second_thing_goes_beside_the_first() -> None:
    play = Play(flat("find two mug and put them in drawer."))
    play.do("go to sinkbasin 1", "take mug 1 from sinkbasin 1")
    play.do("go to drawer 1", "open drawer 1", "go to drawer 2", "open drawer 2")
    assert "move mug 1 to drawer 2" in play.reply.admissible
    assert play.advised() == ["go to drawer 1"]


def test_cooling_undoes_heating() -> None:
    play = Play(flat("heat some egg and put it in desk."))
    play.do("go to fridge 1", "open fridge 1", "take egg 1 from fridge 1", "go to microwave 1")
    play.do("heat egg 1 with microwave 1", "go to fridge 1", "cool egg 1 with fridge 1")
    assert play.advised() == ["go to microwave 1"]


def test_a_thing_that_nothing_takes_is_a_dead_end_and_it_says_so() -> None:
    play = Play(flat("put some pillow on shelf."))
    play.do("go to countertop 1", "take roll 1 from countertop 1")
    assert play.finish() is None
    decision = play.policy.act(play.reply.text, play.info)
    assert decision.action is None
    assert "what I hold can be put nowhere" in decision.rationale


def test_it_forgets_an_episode() -> None:
    play = Play(flat("put some pillow on shelf."))
    first = play.advised()
    play.do("go to bed 1", "take pillow 1 from bed 1", "go to shelf 1")
    play.policy.reset()
    fresh = Play(flat("put some pillow on shelf."))
    assert [one.action for one in play.policy.advise(fresh.reply.text, fresh.info, 100)] == first


def test_a_copy_made_half_way_goes_on_alike() -> None:
    play = Play(flat("put two pen in bed."))
    play.do("go to desk 1", "take pen 2 from desk 1", "go to drawer 1")
    expected = play.advised()
    play.policy = pickle.loads(pickle.dumps(play.policy))
    assert play.advised() == expected


@pytest.mark.parametrize("goals", READERS)
def test_a_goal_in_peoples_own_words_is_tried_one_reading_after_the_other(goals: Literal["learned", "rules"]) -> None:
    play = Play(flat("put some pillow on shelf."))
    play.policy = ALFWorldExpertPolicy(goals)
    play.goal = "Put the cushion away."
    assert play.finish() is not None


def test_rules_and_the_trained_reader_are_told_apart() -> None:
    assert ALFWorldExpertPolicy("rules").settings() == {"goals": "rules"}
    assert ALFWorldExpertPolicy().settings() == {"goals": GoalReader.pretrained().digest}
    with pytest.raises(UnknownName, match=r"Unknown reader of goals 'rule'\. Did you mean 'rules'"):
        ALFWorldExpertPolicy("rule")  # type: ignore[arg-type]


@pytest.mark.parametrize("goal", ["", "Be happy.", "Sing a song on the table."])
def test_a_goal_that_it_does_not_understand_ends_the_episode(goal: str) -> None:
    play = Play(flat("put some pillow on shelf."))
    play.goal = goal
    decision = play.policy.act(play.reply.text, play.info)
    assert decision.action is None
    assert decision.rationale == f"I do not understand the goal: {goal}"
    assert play.advised() == []


@pytest.mark.parametrize("info", [{}, {"admissible_actions": None}, {"admissible_actions": ["forward", "back"]}])
def test_elsewhere_it_stops_and_says_why(info: Any) -> None:
    decision = ALFWorldExpertPolicy().act("A corridor.", info)
    assert decision.action is None
    assert "no game of ALFWorld" in decision.rationale


names = st.sampled_from(["", "mug 1", "mug 2", "pen", "bed 1", "fridge 1", "desklamp 1", "drawer 1", "throne 1"])
commands = st.sampled_from(
    [
        "go to {0}",
        "open {0}",
        "close {0}",
        "examine {0}",
        "use {0}",
        "take {0} from {1}",
        "move {0} to {1}",
        "put {0} in/on {1}",
        "{0}",
        "clean {0} with {1}",
        "heat {0} with {1}",
        "cool {0} with {1}",
    ]
)
sentences = st.sampled_from(
    [
        "On the {0}, you see a {1}.",
        "The {0} is open. In it, you see a {1}, and a mug 1.",
        "You turn on the {0}.",
        "{0}",
        "You pick up the {0} from the {1}.",
        "You heat the {0} using the {1}.",
        "Your task is to: {0}",
    ]
)


def filled(templates: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.builds(lambda template, one, other: template.format(one, other), templates, names, names)


@given(
    st.lists(st.tuples(filled(sentences), st.lists(filled(commands), max_size=12)), max_size=6),
    st.sampled_from([*TASKS, "Put a mug on the throne.", "Look at the pen under the light."]),
)
def test_whatever_it_is_shown_its_advice_is_admissible(steps: list[tuple[str, list[str]]], goal: str) -> None:
    policy = ALFWorldExpertPolicy()
    for observation, offered in steps:
        admissible = [*offered, "look", "inventory"]
        decision = policy.act(observation, {"goal": goal, "admissible_actions": admissible})
        assert decision.action in admissible or (decision.action is None and decision.rationale)


@pytest.mark.data
@both_wordings
def test_it_wins_the_official_games(official_store: GameStore, wording: Wording) -> None:
    steps = []
    for split in ("valid_seen", "valid_unseen"):
        for entry in official_store.entries(split):
            steps.append(Play(official_store.game(split, entry.task_id), wording).finish())
    wins = [count for count in steps if count is not None]
    assert len(steps) == 274
    assert len(wins) >= 0.99 * len(steps)
    assert sum(wins) / len(wins) <= 8.5


@pytest.mark.data
@both_wordings
def test_it_wins_official_games_from_wherever_somebody_else_wandered(
    official_store: GameStore, wording: Wording
) -> None:
    rng = random.Random(0)
    entries = rng.sample(official_store.entries("train"), 100)
    lost = []
    for entry in entries:
        play = Play(official_store.game("train", entry.task_id), wording)
        play.wander(rng.randint(0, 20), rng)
        state = play.engine.state
        if play.finish() is None and Planner(play.engine.house).distance(state) is not None:
            lost.append(entry.task_id)
    assert len(lost) <= 1
