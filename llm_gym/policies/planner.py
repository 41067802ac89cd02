"""The planner: it sees the whole house and never takes a step too many."""

from __future__ import annotations

from typing import Any

import gymnasium as gym

from llm_gym.core import Decision, Info, Opinion
from llm_gym.envs.alfworld.env import ALFWorld
from llm_gym.envs.alfworld.moves import Move, after
from llm_gym.envs.alfworld.planner import Planner
from llm_gym.envs.alfworld.sentences import command
from llm_gym.envs.alfworld.state import State
from llm_gym.errors import InvalidSetting
from llm_gym.policies.base import Policy
from llm_gym.policies.oracle import OraclePolicy


class PlannerPolicy(Policy):
    """Plays a shortest plan of ALFWorld, from whatever state the game is in.

    It may be asked at a state that another policy led to, and can name all commands that are equally good there. In a
    world that is no ALFWorld it is the oracle.
    """

    name = "planner"

    def __init__(self) -> None:
        self._world: gym.Env[str, str] | None = None
        self._oracle = OraclePolicy()
        self._forget()

    def _forget(self) -> None:
        self._planner: Planner | None = None
        self._plan: list[Move] | None = None
        self._planned_for: State | None = None
        """The state in which `_plan` begins."""

    def watch(self, world: gym.Env[str, str]) -> None:
        self._world = world
        self._oracle.watch(world)

    def reset(self, seed: int | None = None, trial: int = 0) -> None:
        self._forget()
        self._oracle.reset(seed, trial)

    def act(self, observation: str, info: Info) -> Decision:
        world = self._world
        if not isinstance(world, ALFWorld):
            return _asked(self._oracle, observation, info)
        state, plan = world.state, self._planned(world)
        if not plan:
            return Decision(None, "The goal is met." if plan == [] else "The goal cannot be met from here.")
        self._plan, self._planned_for = plan[1:], after(world.house, state, plan[0])
        return Decision(command(world.house, plan[0], world.wording))

    def advise(self, observation: str, info: Info, k: int = 1) -> list[Opinion]:
        """Up to `k` commands that begin a shortest plan, the planner's own first; it is certain of each."""
        world = self._world
        if not isinstance(world, ALFWorld):
            action = _asked(self._oracle, observation, info).action
            return [] if action is None else [Opinion(action, 1.0, self.name)][:k]
        best = (self._planned(world) or [])[:1]
        if best and k > 1:
            best += [move for move in self._planner_of(world).best_moves(world.state) if move not in best]
        return [Opinion(command(world.house, move, world.wording), 1.0, self.name) for move in best[:k]]

    def __getstate__(self) -> dict[str, Any]:
        """World and plan stay where they are: another process has its own."""
        return {"_oracle": self._oracle}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        self.__dict__ |= kept | {"_world": None}
        self._forget()

    def _planned(self, world: ALFWorld) -> list[Move] | None:
        """The rest of the plan as long as it is followed, or a new one."""
        planner = self._planner_of(world)
        if world.state != self._planned_for:
            self._plan, self._planned_for = planner.plan(world.state), world.state
        return self._plan

    def _planner_of(self, world: ALFWorld) -> Planner:
        if self._planner is None or self._planner.house is not world.house:
            self._forget()
            self._planner = Planner(world.house)
        return self._planner


def _asked(oracle: OraclePolicy, observation: str, info: Info) -> Decision:
    try:
        return oracle.act(observation, info)
    except NotImplementedError as error:
        raise InvalidSetting(f"{error}: the planner cannot play it.") from error
