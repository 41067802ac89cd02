"""Policy and environment on their way to other threads and processes."""

from __future__ import annotations

import dataclasses
import io
import pickle
from dataclasses import dataclass
from typing import Any

import gymnasium as gym

from llm_gym.errors import InvalidSetting
from llm_gym.evaluation.plan import step_limit
from llm_gym.policies.base import Policy

ALONE = "use jobs=1 and concurrency=1"
"""What always works; the end of a sentence."""


@dataclass(frozen=True, slots=True)
class Parcel:
    """A policy, and the spec of an environment. Each `unpacked` gives new ones.

    The chat clients and embedders in them are not copied within a process: they promise to be safe in several threads,
    and only so do a budget, a limit and a count hold for all threads together.
    """

    content: bytes
    shared: tuple[Any, ...]
    """Clients and embedders, by the numbers that stand for them in `content`."""

    def unpacked(self) -> tuple[Policy, gym.Env[str, str]]:
        """A policy and an environment that share nothing with others but what is read only, and `shared`."""
        policy, spec = _Unpickler(self.content, self.shared).load()
        return policy, gym.make(spec)


def packed(policy: Policy, env: gym.Env[str, str]) -> Parcel:
    """What other threads need to play.

    Raises:
        InvalidSetting: policy or environment cannot be made again; the message says why and what works.
    """
    spec = env.spec
    if spec is None:
        raise InvalidSetting(f"An environment that was not made by gymnasium.make cannot be made again: {ALONE}.")
    silent = [wrapper.name for wrapper in spec.additional_wrappers if wrapper.kwargs is None]
    if silent:
        raise InvalidSetting(
            f"{silent[0]} does not record its arguments, so nobody can wrap with it again: let it inherit "
            f"gymnasium.utils.RecordConstructorArgs, or {ALONE}."
        )
    stream = io.BytesIO()
    pickler = _Pickler(stream)
    try:
        pickler.dump((policy, dataclasses.replace(spec, max_episode_steps=step_limit(env))))
    except _UNPICKLABLE as error:
        raise InvalidSetting(f"{policy!r} cannot be copied ({error}): {ALONE}.") from error
    return Parcel(stream.getvalue(), tuple(pickler.shared))


def sealed(parcel: Parcel, policy: Policy) -> bytes:
    """A parcel for other processes.

    Raises:
        InvalidSetting: a client of the policy cannot travel.
    """
    try:
        return pickle.dumps(parcel)
    except _UNPICKLABLE as error:
        raise InvalidSetting(f"{policy!r} cannot be sent to other processes ({error}): use jobs=1.") from error


_UNPICKLABLE = (pickle.PicklingError, TypeError, AttributeError, ValueError, RuntimeError)


class _Pickler(pickle.Pickler):
    def __init__(self, stream: io.BytesIO) -> None:
        super().__init__(stream)
        self.shared: list[Any] = []

    def persistent_id(self, value: Any) -> int | None:
        if not _safe_in_threads(value):
            return None
        for number, known in enumerate(self.shared):
            if known is value:
                return number
        self.shared.append(value)
        return len(self.shared) - 1


class _Unpickler(pickle.Unpickler):
    def __init__(self, content: bytes, shared: tuple[Any, ...]) -> None:
        super().__init__(io.BytesIO(content))
        self._shared = shared

    def persistent_load(self, number: Any) -> Any:
        return self._shared[number]


def _safe_in_threads(value: Any) -> bool:
    """Whether it has the methods of `llm.ChatClient` or `llm.Embedder`. A policy may have them too: it has a memory."""
    kind = type(value)
    named = callable(getattr(kind, "complete", None)) or callable(getattr(kind, "embed", None))
    return named and callable(getattr(kind, "settings", None)) and not isinstance(value, Policy)
