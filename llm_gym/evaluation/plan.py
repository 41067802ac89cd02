"""Everything that fixes the result of an evaluation, as JSON with a fingerprint."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium as gym
import orjson
from gymnasium.utils import RecordConstructorArgs

import llm_gym
from llm_gym.envs.base import panel_of
from llm_gym.errors import BadRecord
from llm_gym.policies.base import Policy

FORMAT_VERSION = 1
"""Of the run folder; another number means that files of this version cannot be read or resumed."""

_OUTSIDE_FINGERPRINT = ("llm_gym_version",)
"""Recorded, but not part of the fingerprint: a run begun before an upgrade can be resumed after it. What changes a
result has a name of its own that is part of it: an environment's `-vN`, the digest of its data, a policy's settings."""

_ABSENT = "(not there)"

_TYPES: Mapping[str, type] = {
    "format_version": int,
    "llm_gym_version": str,
    "environment": dict,
    "description": dict,
    "panel": dict,
    "policy": dict,
    "n": int,
    "repeats": int,
    "trials": int,
    "seed": int,
}

_NEEDED = (
    ("environment", "id", str),
    ("environment", "wrappers", list),
    ("panel", "name", str),
    ("panel", "digest", str),
    ("panel", "size", int),
    ("policy", "name", str),
)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What is played, by whom, how often and with which seeds. How many at once is no part of it."""

    environment: Mapping[str, Any]
    """`id`, `kwargs`, `max_episode_steps` and `wrappers`, innermost first."""
    description: Mapping[str, Any]
    """What the environment says about itself: data, digests, split, counts."""
    panel: Mapping[str, Any]
    """`name`, `digest` and `size` of the whole panel, of which the first `n` tasks are played."""
    policy: Mapping[str, Any]
    """`name`, `class` and `settings`."""
    n: int
    repeats: int = 1
    trials: int = 1
    seed: int = 0
    format_version: int = FORMAT_VERSION
    llm_gym_version: str = ""

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the canonical JSON (sorted keys, no space), 64 hexadecimal digits."""
        return hashlib.sha256(orjson.dumps(self._fixed(), option=orjson.OPT_SORT_KEYS)).hexdigest()

    def to_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _TYPES}

    def to_bytes(self) -> bytes:
        """The content of `plan.json`; the fingerprint is in it for people, it is computed anew when read."""
        content = {**self.to_dict(), "fingerprint": self.fingerprint}
        return orjson.dumps(content, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE)

    @classmethod
    def from_bytes(cls, content: bytes, source: str) -> Plan:
        """Read `plan.json`. `source` is its name in messages.

        Raises:
            BadRecord: it is no plan, or one of another format version.
        """
        try:
            fields = orjson.loads(content)
        except orjson.JSONDecodeError as error:
            raise BadRecord(f"{source} is not JSON: {error}") from None
        if not isinstance(fields, dict) or not isinstance(fields.get("format_version"), int):
            raise BadRecord(f"{source} is not the plan of an evaluation.")
        if fields["format_version"] != FORMAT_VERSION:
            raise BadRecord(
                f"{source} has format version {fields['format_version']}; this llm_gym reads {FORMAT_VERSION}."
            )
        for name, kind in _TYPES.items():
            if type(fields.get(name)) is not kind:
                raise BadRecord(f"{source}: {name!r} must be a JSON {kind.__name__}, it is {fields.get(name)!r:.80}.")
        for part, needed, kind in _NEEDED:
            if type(fields[part].get(needed)) is not kind:
                raise BadRecord(f"{source}: {part!r} has no {needed!r}.")
        if not all(isinstance(wrapper, dict) for wrapper in fields["environment"]["wrappers"]):
            raise BadRecord(f"{source}: a wrapper must be a JSON object.")
        return cls(**{name: fields[name] for name in _TYPES})

    def difference(self, other: Plan) -> list[str]:
        """What `other` has different, one line each: `n: 50 → 100`. Empty when the fingerprints are equal."""
        mine, theirs = _leaves(self._fixed()), _leaves(other._fixed())
        return [
            f"{path}: {mine.get(path, _ABSENT)} → {theirs.get(path, _ABSENT)}"
            for path in dict.fromkeys([*mine, *theirs])
            if mine.get(path) != theirs.get(path)
        ]

    def _fixed(self) -> dict[str, Any]:
        """What two equal plans share, wherever they are played.

        Of an absolute path among the environment's arguments only the last name counts: the same data may lie elsewhere
        on another machine, and the description holds its digest. A policy's paths count whole, nothing else tells them.
        """
        fixed = {key: value for key, value in self.to_dict().items() if key not in _OUTSIDE_FINGERPRINT}
        kwargs = self.environment.get("kwargs")
        return {**fixed, "environment": {**self.environment, "kwargs": _without_folders(kwargs)}}


def _without_folders(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_folders(item) for key, item in value.items()}
    return Path(value).name if isinstance(value, str) and value.startswith("/") else value


def plan_of(
    policy: Policy, env: gym.Env[Any, Any], *, n: int, repeats: int = 1, trials: int = 1, seed: int = 0
) -> Plan:
    """The plan for a policy in an environment; both are only looked at.

    Raises:
        InvalidSetting: the environment has no task panel.
    """
    panel = panel_of(env)
    world: Any = env.unwrapped
    kind = type(policy)
    plan = Plan(
        environment=_environment(env),
        description=described(world.description()),
        panel={"name": panel.name, "digest": panel.digest, "size": len(panel)},
        policy={
            "name": policy.name,
            "class": f"{kind.__module__}:{kind.__qualname__}",
            "settings": described(policy.settings()),
        },
        n=n,
        repeats=repeats,
        trials=trials,
        seed=seed,
        llm_gym_version=llm_gym.__version__,
    )
    # Once through JSON, so that a plan of this process equals the same plan read from a folder.
    return Plan.from_bytes(plan.to_bytes(), "The plan")


def described(value: Any) -> Any:
    """A value as JSON that says what it is: numbers and text as they are, objects by their class and settings.

    A policy inside a wrapper's arguments is told by `settings()`, a record by its fields, a function by its name. Of an
    object that tells nothing only the class is known.
    """
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Mapping):
        return {str(key): described(item) for key, item in value.items()}
    if isinstance(value, Set):
        return sorted((described(item) for item in value), key=repr)
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray)):
        return [described(item) for item in value]
    if hasattr(value, "tolist"):  # numpy scalars and arrays
        return described(value.tolist())
    if isinstance(value, Path):
        return str(value)
    return _object(value)


def _object(value: Any) -> Any:
    if isinstance(value, type) or hasattr(value, "__qualname__"):
        return f"{value.__module__}:{value.__qualname__}"
    name = f"{type(value).__module__}:{type(value).__qualname__}"
    if hasattr(value, "settings") and callable(value.settings):
        return {"class": name, "settings": described(value.settings())}
    if dataclasses.is_dataclass(value):
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        return {"class": name, "settings": described(fields)}
    return name


def _environment(env: gym.Env[Any, Any]) -> dict[str, Any]:
    spec = env.spec
    if spec is None:  # not from gymnasium.make: the class and the stack of wrappers are all that can be said
        world = type(env.unwrapped)
        return {
            "id": f"{world.__module__}:{world.__qualname__}",
            "kwargs": {},
            "max_episode_steps": step_limit(env),
            "wrappers": [_wrapper(wrapper) for wrapper in _wrappers(env)],
        }
    return {
        "id": spec.id,
        "kwargs": described(spec.kwargs),
        "max_episode_steps": step_limit(env),
        "wrappers": [
            {"name": wrapper.name, "class": str(wrapper.entry_point), "kwargs": described(wrapper.kwargs)}
            for wrapper in spec.additional_wrappers
        ],
    }


def step_limit(env: gym.Env[Any, Any]) -> int | None:
    """The number of steps after which an episode is truncated; None without a limit.

    Not `env.spec.max_episode_steps`: Gymnasium's spec knows only the outermost of several limits, and that of
    `env.unwrapped` names one that is not in force.
    """
    limits = [wrapper._max_episode_steps for wrapper in _wrappers(env) if isinstance(wrapper, gym.wrappers.TimeLimit)]
    return min(limits, default=None)


def _wrappers(env: gym.Env[Any, Any]) -> list[gym.Wrapper[Any, Any, Any, Any]]:
    found = []
    while isinstance(env, gym.Wrapper):
        found.append(env)
        env = env.env
    return found[::-1]


def _wrapper(wrapper: gym.Wrapper[Any, Any, Any, Any]) -> dict[str, Any]:
    kind = type(wrapper)
    kwargs = wrapper._saved_kwargs if isinstance(wrapper, RecordConstructorArgs) else None
    return {
        "name": kind.__name__,
        "class": f"{kind.__module__}:{kind.__qualname__}",
        "kwargs": described({key: value for key, value in kwargs.items() if key != "env"} if kwargs else kwargs),
    }


def _leaves(value: Any, path: str = "") -> dict[str, str]:
    """The innermost values as JSON, by their path; JSON tells `true` from `1`."""
    if not isinstance(value, Mapping) or not value:
        return {path: orjson.dumps(value).decode()}
    leaves: dict[str, str] = {}
    for key, item in value.items():
        leaves |= _leaves(item, f"{path}.{key}" if path else str(key))
    return leaves
