"""ALFWorld as a Gymnasium environment: the current wording and that of the papers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

from gymnasium.error import ResetNeeded

from llm_gym.envs.alfworld.engines import ENGINES, make_engine
from llm_gym.envs.alfworld.engines.base import Reply
from llm_gym.envs.alfworld.engines.native import NativeEngine
from llm_gym.envs.alfworld.game import Game
from llm_gym.envs.alfworld.games import EMBEDDED, open_games
from llm_gym.envs.alfworld.house import House
from llm_gym.envs.alfworld.panels import default_split, make_panel
from llm_gym.envs.alfworld.planner import Planner
from llm_gym.envs.alfworld.sentences import command
from llm_gym.envs.alfworld.state import State
from llm_gym.envs.alfworld.tasks import TASK_TYPES
from llm_gym.envs.alfworld.wording import CURRENT, NOTHING_HAPPENS, ORIGINAL, Wording, reworded
from llm_gym.envs.base import Outcome, TextEnv, copied
from llm_gym.errors import InvalidSetting, UnknownName

GOALS = ("templated", "annotation")


class ALFWorld(TextEnv):
    """Do what is asked for in a house: find things, clean, heat or cool them, put them away (arXiv:2010.03768).

    Actions are the commands of `info["admissible_actions"]`, such as `go to fridge 1` or `take egg 2 from fridge 1`;
    anything else is answered `Nothing happens.` The reward is 1 at the command that meets the goal, which ends the
    episode. `info` holds, beside the keys of every environment, `task_type` (one of six), `won`, and `expert_plan` on
    request.

    Args:
        games: "embedded" (invented games), "official" (what `llm-gym download alfworld` fetched), a store built by
            `llm-gym build alfworld`, a folder or archive of official games, or one `game.tw-pddl`.
        split: "train", "valid_seen", "valid_unseen", or another one that the games have; "train_scenes" and
            "heldout_scenes" divide the rooms of "train"; None: "valid_unseen", or the games of a file or folder that
            belong to no split.
        task_types: only these, by name ("pick_heat_then_place_in_recep") or short name ("heat"); None: all.
        engine: "native", or "textworld" (the original engine; needs the extra `alfworld`). Both say the same.
        goal: "templated", or "annotation": in the words of people, each of which is a task of its own.
        expert_plan: `info["expert_plan"]` is a shortest list of commands that meets the goal, from the present state;
            empty when there is none.
        render_mode: "ansi" or None.
    """

    wording: ClassVar[Wording] = CURRENT
    shuffled: ClassVar[bool] = True
    """Whether the panel is in a fixed random order, so that the first n games are a fair sample of the task types."""
    refusal: ClassVar[str | None] = NOTHING_HAPPENS

    def __init__(
        self,
        games: str | Path = EMBEDDED,
        split: str | None = None,
        task_types: Sequence[str] | str | None = None,
        engine: Literal["native", "textworld"] = "native",
        goal: Literal["templated", "annotation"] = "templated",
        expert_plan: bool = False,
        render_mode: str | None = None,
    ) -> None:
        for kind, name, known in (("engine", engine, ENGINES), ("kind of goal", goal, GOALS)):
            if name not in known:
                raise UnknownName(kind, name, known)
        self.games = open_games(games)
        annotated = goal == "annotation"
        self.split = split or default_split(self.games)
        panel = make_panel(self.games, self.split, task_types, shuffled=self.shuffled, annotated=annotated)
        super().__init__(panel, render_mode)
        self.engine_name = engine
        self.goal_kind = goal
        self.expert_plan = expert_plan
        self._engine = make_engine(engine)
        self._machine = self._engine if isinstance(self._engine, NativeEngine) else NativeEngine()
        self._game: Game | None = None
        self._goal = self._task_type = ""
        self._played: list[str] = []
        """Commands that the machine has not followed yet; with the native engine always none."""
        self._planner: Planner | None = None

    def description(self) -> dict[str, Any]:
        return {
            "games": self.games.name,
            "games_digest": self.games.digest,
            "split": self.panel.name,
            "tasks": len(self.panel),
            "goal": self.goal_kind,
            "engine": self.engine_name,
            "wording": self.wording.name,
            "categories": list(TASK_TYPES.values()),
        }

    @property
    def game(self) -> Game:
        """The game that is played, with all that is hidden from the agent."""
        if self._game is None:
            raise ResetNeeded("Call reset() first: no game is played yet.")
        return self._game

    @property
    def house(self) -> House:
        """What does not change in the present game."""
        return self._following().house

    @property
    def state(self) -> State:
        """What does; hashable, and safe to keep."""
        return self._following().state

    def restore(self, state: State) -> tuple[str, dict[str, Any]]:
        """Go on from a state of the present game, also after its end; returns what `look` says there, and info.

        Raises:
            InvalidSetting: TextWorld cannot be set to a state; or the state is one of another game.
        """
        if not isinstance(self._engine, NativeEngine):
            raise InvalidSetting('Only engine="native" can go back to a state.')
        if not self.house.has(state):
            raise InvalidSetting("This is a state of another game.")
        self._last = self._outcome(self._engine.restore(state))
        return self._last.observation, copied(self._last.info)

    def solution(self) -> list[str]:
        """A shortest list of commands that meets the goal from the present state; empty when none does."""
        if self._planner is None:
            self._planner = Planner(self.house)
        plan = self._planner.plan(self.state) or []
        return [command(self.house, move, self.wording) for move in plan]

    @property
    def walkthrough(self) -> list[str] | None:
        """The commands that its makers wrote into the game, from its beginning; None where there are none."""
        steps = self.game.walkthrough
        return None if steps is None else [reworded(step, self.wording) for step in steps]

    def close(self) -> None:
        self._engine.close()

    def _begin(self, task_id: str) -> Outcome:
        identity, _, annotation = task_id.partition("#")
        game = self.games.game(self.split, identity)
        goal = game.annotations[int(annotation)] if annotation else game.goal
        reply = self._engine.begin(game, goal, self.wording)
        if self._machine is not self._engine:
            self._machine.begin(game, goal, self.wording)
        self._game, self._goal, self._task_type = game, goal, game.task_type
        self._planner, self._played = None, []
        return self._outcome(reply)

    def _respond(self, action: str) -> Outcome | str:
        reply = self._engine.respond(action)
        if reply.text == NOTHING_HAPPENS:
            return f"{action[:80]!r} is none of the commands that are possible here."
        if self._machine is not self._engine:
            self._played.append(action)
        return self._outcome(reply)

    def _following(self) -> NativeEngine:
        """The machine, after it has done what was done in TextWorld since it was last looked at."""
        if self._game is None:
            raise ResetNeeded("Call reset() first: no game is played yet.")
        for action in self._played:
            self._machine.respond(action)
        self._played.clear()
        return self._machine

    def _outcome(self, reply: Reply) -> Outcome:
        assert self.task_id is not None, "a game is played"
        info: dict[str, Any] = {
            "task_id": self.task_id,
            "goal": self._goal,
            "admissible_actions": reply.admissible,
            "success": reply.won,
            "page": reply.text,
            "category": TASK_TYPES.get(self._task_type, self._task_type),
            "metrics": {},
            "task_type": self._task_type,
            "won": reply.won,
        }
        if self.goal_kind == "annotation":  # several people described the same game
            info["cluster"] = self.task_id.partition("#")[0]
        if self.expert_plan:
            info["expert_plan"] = self.solution()
        return Outcome(reply.text, info, float(reply.won), terminated=reply.won)


class ALFWorldV0(ALFWorld):
    """ALFWorld as the papers had it: `put X in/on Y`, `You arrive at loc 7.`, and games in the order of their ids.

    Its arguments are those of `ALFWorld`.
    """

    wording: ClassVar[Wording] = ORIGINAL
    shuffled: ClassVar[bool] = False
