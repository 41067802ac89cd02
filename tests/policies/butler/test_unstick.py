"""A command that failed is not given for ever."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from llm_gym.policies.butler.unstick import Trouble


def never() -> Sequence[str]:
    pytest.fail("no beam search is needed here")


def test_while_all_goes_well_the_greedy_command_is_given() -> None:
    assert Trouble().choice("go", None, never) == ("go", Trouble())


def test_only_an_action_that_did_nothing_counts_as_failed() -> None:
    assert Trouble().after("You open the box 1.", "open box 1") == Trouble()
    assert Trouble().after("Nothing happens.", "fly").failed == {"fly"}
    assert Trouble().after("Nothing happens.", None) == Trouble()


def test_the_beams_are_tried_in_turn_without_the_action_before() -> None:
    trouble = Trouble().after("Nothing happens.", "a")
    action, trouble = trouble.choice("a", "a", lambda: ["a", "b", "c", "d"])
    assert (action, trouble.untried) == ("b", ("c", "d"))
    trouble = trouble.after("Nothing happens.", "b")
    action, trouble = trouble.choice("a", "b", never)
    assert (action, trouble.untried, trouble.failed) == ("c", ("d",), {"a", "b"})


def test_a_greedy_command_that_did_not_fail_ends_the_trouble() -> None:
    trouble = Trouble(frozenset({"a"}), ("c",))
    assert trouble.choice("b", "a", never) == ("b", Trouble())


def test_where_nothing_is_left_to_try_the_greedy_command_is_given() -> None:
    trouble = Trouble(frozenset({"a"}))
    assert trouble.choice("a", "a", lambda: ["a"]) == ("a", trouble)
