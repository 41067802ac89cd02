"""Environments, policies and wrappers made from what the command line says."""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast, get_args

import gymnasium as gym
from gymnasium.envs.registration import find_highest_version, load_env_creator

from llm_gym.cli.keywords import accepts, comma_pairs, fitted, pairs, parameters
from llm_gym.errors import InvalidSetting, LLMGymError, UnknownName
from llm_gym.policies.base import Policy
from llm_gym.registry import Registry, policies, wrappers

NAMESPACE = "llm_gym/"

_MADE_BY_GYMNASIUM: Mapping[str, Any] = {"max_episode_steps": int}
"""Keywords of `gymnasium.make` itself that change a result."""


def environment_names() -> list[str]:
    """Ids of the environments of this package and its extensions, without the namespace."""
    return [name.removeprefix(NAMESPACE) for name in gym.registry if name.startswith(NAMESPACE)]


def environment_id(name: str) -> str:
    """The id that Gymnasium knows: `WebShop-v1` → `llm_gym/WebShop-v1`, and so `WebShop`, the newest version.

    `module:Id` imports the module first.

    Raises:
        UnknownName: no such environment. InvalidSetting: no such module.
    """
    module, _, identity = name.rpartition(":")
    if module:
        _imported(module)
    for candidate in (identity, NAMESPACE + identity):
        if candidate in gym.registry:
            return candidate
    identity = identity.removeprefix(NAMESPACE)
    newest = find_highest_version(NAMESPACE.removesuffix("/"), identity)
    if newest is not None:
        return f"{NAMESPACE}{identity}-v{newest}"
    raise UnknownName("environment", name, environment_names())


def environment_class(identity: str) -> Callable[..., Any]:
    """What makes the environment with this id; imported, not called."""
    entry = gym.registry[identity].entry_point
    return load_env_creator(entry) if isinstance(entry, str) else cast(Callable[..., Any], entry)


def make_environment(
    name: str, settings: Sequence[str] = (), wrapped: Sequence[str] = (), render_mode: str | None = None
) -> gym.Env[str, str]:
    """An environment of `gymnasium.make` with wrappers around it.

    Args:
        name: as for `environment_id`.
        settings: `key=value` texts.
        wrapped: `name` or `name:key=value,…` texts, innermost first.
        render_mode: only where the settings name none.

    Raises:
        LLMGymError: a name or a value is wrong; the message says which would do.
    """
    identity = environment_id(name)
    short = identity.removeprefix(NAMESPACE)
    kind = environment_class(identity)
    keywords = fitted(kind, pairs(settings, "--set"), short, "--set", _MADE_BY_GYMNASIUM)
    if render_mode is not None:
        keywords.setdefault("render_mode", render_mode)
    env: gym.Env[str, str] = _called(lambda: _made(identity, keywords), short)
    for text in wrapped:
        env = _wrapped(env, text)
    return env


def _made(identity: str, keywords: Mapping[str, Any]) -> gym.Env[str, str]:
    with warnings.catch_warnings():
        # Who asks for the original version by name knows that it is the original.
        warnings.filterwarnings("ignore", message=r".*is out of date", category=DeprecationWarning)
        return gym.make(identity, **keywords)


def make_policy(name: str, settings: Sequence[str] = (), flag: str = "--policy-set") -> Policy:
    """A policy by its name, or by `module:Class`.

    Raises:
        LLMGymError: a name or a value is wrong; the message says which would do.
    """
    kind = _named(policies, name)
    if not (isinstance(kind, type) and issubclass(kind, Policy)):
        raise InvalidSetting(f"{name} is no policy: it does not inherit llm_gym.policies.Policy.")
    keywords = _with_policies(kind, fitted(kind, pairs(settings, flag), name, flag))
    policy: Policy = _called(lambda: kind(**keywords), name)
    return policy


def _with_policies(kind: Callable[..., Any], keywords: Mapping[str, Any]) -> dict[str, Any]:
    """The keywords with a policy, of its default settings, for each name that stands where one is wanted."""
    known = parameters(kind)
    return {
        key: make_policy(value) if key in known and _names_a_policy(known[key].annotation, value) else value
        for key, value in keywords.items()
    }


def _names_a_policy(kind: Any, value: Any) -> bool:
    """Whether a text stands where a policy is wanted, and is nothing else that is wanted there."""
    wanted = get_args(kind) or (kind,)
    others = [one for one in wanted if not (isinstance(one, type) and issubclass(one, Policy))]
    return isinstance(value, str) and len(others) < len(wanted) and not any(accepts(one, value) for one in others)


def _wrapped(env: gym.Env[str, str], text: str) -> gym.Env[str, str]:
    name, rest = _wrapper_parts(text)
    kind = _named(wrappers, name)
    flag = f"--wrapper {name}:"
    keywords = _with_policies(kind, fitted(kind, pairs(comma_pairs(rest), flag), name, flag))
    wrapped: gym.Env[str, str] = _called(lambda: kind(env, **keywords), name)
    return wrapped


def _wrapper_parts(text: str) -> tuple[str, str]:
    """Name and settings of `name`, `name:key=value,…`, `module:Class` or `module:Class:key=value,…`."""
    name, _, rest = text.partition(":")
    attribute, _, settings = rest.partition(":")
    if name in wrappers or not attribute or "=" in attribute:
        return name, rest
    return f"{name}:{attribute}", settings


def _named(registry: Registry, name: str) -> Any:
    module, colon, attribute = name.partition(":")
    if name in registry or not colon:
        return registry.load(name)
    found = _imported(module)
    if not hasattr(found, attribute):
        raise UnknownName(f"name in {module}", attribute, [known for known in vars(found) if known[0] != "_"])
    return getattr(found, attribute)


def _imported(module: str) -> Any:
    """A module of the user's, the current folder included, as with `python -m`."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise InvalidSetting(f"{module} cannot be imported: {error}.") from None


def _called(make: Callable[[], Any], name: str) -> Any:
    """Values from a command line have the types of JSON at best: what a constructor makes of them is no bug of ours."""
    try:
        return make()
    except LLMGymError:
        raise
    except (TypeError, ValueError, AssertionError) as error:  # Gymnasium asserts what its callers pass
        raise InvalidSetting(f"{name} cannot be made with these settings: {error}") from error
