"""Many environments at once, and many games one after another; with the games of the package."""

from __future__ import annotations

import gc
import sys
import threading
from typing import Any

import gymnasium as gym

from llm_gym.envs.alfworld.env import ALFWorld


def test_sixty_four_play_side_by_side() -> None:
    envs = gym.make_vec("llm_gym/ALFWorld-v1", num_envs=64, vectorization_mode="sync")
    observations, infos = envs.reset(seed=3)
    assert len(observations) == len(infos["admissible_actions"]) == 64
    assert len(set(infos["task_id"])) > 32
    first = [commands[0] for commands in infos["admissible_actions"]]
    observations, rewards, terminated, truncated, _ = envs.step(first)
    assert all(text.startswith("You arrive at ") for text in observations)
    assert (rewards.sum(), terminated.any(), truncated.any()) == (0.0, False, False)
    envs.close()


def test_environments_in_threads_do_not_disturb_each_other() -> None:
    tasks = list(ALFWorld().panel[:3])

    def played(task: str) -> list[Any]:
        world = ALFWorld()
        told: list[Any] = [world.reset(options={"task": task})]
        return told + [world.step(command) for command in [*world.solution(), "look"]]

    alone = {task: played(task) for task in tasks}
    same: list[bool] = []

    def play(task: str) -> None:
        same.extend(played(task) == alone[task] for _ in range(20))

    threads = [threading.Thread(target=play, args=(task,)) for task in tasks for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert same == [True] * 120


def test_a_thousand_resets_leave_nothing_behind() -> None:
    world = ALFWorld()

    def reset(times: int) -> None:
        for number in range(times):
            world.reset(options={"task": world.panel[number % 40]})  # more games than the engine remembers houses
            world.step("go to the moon")

    reset(80)
    gc.collect()
    before = sys.getallocatedblocks()
    reset(1000)
    gc.collect()
    assert sys.getallocatedblocks() - before < 3_000
