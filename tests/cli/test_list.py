"""`llm-gym list`."""

from __future__ import annotations

import pytest

from llm_gym.cli.making import environment_names
from llm_gym.errors import MissingDependency
from llm_gym.registry import policies, wrappers


def test_everything_registered_is_listed(run):
    ran = run("list")
    assert ran.code == 0
    for name in (*environment_names(), *policies, *wrappers):
        assert f"\n {name} " in ran.out


@pytest.mark.parametrize(
    ("what", "shown", "hidden"),
    [
        ("environments", "Corridor-v0", "oracle"),
        ("policies", "oracle", "Corridor-v0"),
        ("wrappers", "history", "oracle"),
    ],
)
def test_one_kind_alone(run, what, shown, hidden):
    out = run("list", what).out
    assert shown in out
    assert f"\n {hidden}" not in out


def test_keywords_are_shown_as_they_are_typed(run):
    out = run("list", "environments", width=200).out
    assert "length=5, tasks=200, render_mode=null" in out
    assert "catalogue=embedded" in out
    assert "Walk along `length` rooms to the door named in the goal and open it." in out


def test_what_needs_an_extra_is_listed_with_the_way_to_get_it(run, monkeypatch):
    def missing(name):
        raise MissingDependency("torch", "torch")

    monkeypatch.setattr("llm_gym.cli.listing._LISTS", {"policies": ("--policy-set", lambda: ["bart"], missing)})
    ran = run("list", "policies", width=200)
    assert ran.code == 0
    assert '"torch" is not installed. Install it with: pip install "llm-gym[torch]"' in ran.out
