"""Reading a `pddl_problem`, and refusing what is none."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from llm_gym.envs.alfworld.problem import PREDICATES, Problem
from llm_gym.errors import BadRecord

SMALL = """
; a comment (with a parenthesis
(define (problem plan_Trial_1)
    (:domain alfred)
    (:objects
        agent1 - agent
        Cup_bar_1 - object
    )
    (:init
        (= (total-cost) 0)
        (= (distance loc_bar_1 loc_bar_2) 12)
        ( = ( distance  loc_bar_2 loc_bar_1 )  1.5 )
        (atLocation agent1 loc_bar_1)   ; where it begins
        (receptacleAtLocation  Shelf_bar_1
                               loc_bar_2 )
        ( inReceptacle Cup_bar_1 Shelf_bar_1)
        (inReceptacle cup_bar_1 SHELF_bar_1)
        (objectType Cup_bar_1 CupType)
    )
    (:goal (and (exists (?r - receptacle) (exists (?o - object)
        (and (objectType ?o CupType) (inReceptacle ?o ?r))))))
    (:metric minimize (total-cost))
)
"""


def problem(init: str = "(atLocation agent1 l)", goal: str = "(exists (?o - object) (isHot ?o))") -> str:
    return f"(define (problem p)\n(:domain alfred)\n(:init {init})\n(:goal {goal})\n)"


def test_facts_are_read_in_lower_case_without_distances_comments_and_repetitions() -> None:
    assert Problem.parse(SMALL) == Problem(
        "plan_trial_1",
        frozenset(
            {
                ("atlocation", "agent1", "loc_bar_1"),
                ("receptacleatlocation", "shelf_bar_1", "loc_bar_2"),
                ("inreceptacle", "cup_bar_1", "shelf_bar_1"),
                ("objecttype", "cup_bar_1", "cuptype"),
            }
        ),
        (
            "and",
            (
                "exists",
                ("?r", "-", "receptacle"),
                (
                    "exists",
                    ("?o", "-", "object"),
                    ("and", ("objecttype", "?o", "cuptype"), ("inreceptacle", "?o", "?r")),
                ),
            ),
        ),
    )


def test_what_is_written_reads_as_the_same_problem() -> None:
    small = Problem.parse(SMALL)
    assert Problem.parse(small.to_pddl()) == small


def test_a_problem_without_a_name_has_one() -> None:
    assert Problem.parse("(define (:init (opened r)) (:goal (holdsany agent1)))").name == "unnamed"


def test_windows_lines_and_tabs_are_blanks() -> None:
    assert Problem.parse(SMALL.replace("\n", "\r\n").replace("    ", "\t")) == Problem.parse(SMALL)


def test_kinds_of_all_that_facts_and_goal_name() -> None:
    read = Problem.parse(problem("(atLocation agent1 l) (canContain shelfType cupType)", "(opened fridge_bar_1)"))
    assert read.kinds() == {
        "agent1": "agent",
        "l": "location",
        "shelftype": "rtype",
        "cuptype": "otype",
        "fridge_bar_1": "receptacle",
    }


def test_the_constants_of_the_domain_are_declared_when_nothing_uses_them() -> None:
    written = Problem.parse(problem()).to_pddl()
    for constant in ("microwavetype", "fridgetype", "sinkbasintype", "sinktype"):
        assert f"    {constant} - rtype\n" in written
    for constant in ("knifetype", "butterknifetype"):
        assert f"    {constant} - otype\n" in written


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has a part"),
        ("hello", "has a part"),
        ("(define (problem p) (:goal (holdsany agent1)))", "has a part"),
        ("(define (problem p) (:init (opened r)))", "has a part"),
        ("(:goal (holdsany agent1)) (:init (opened r))", "has a part"),
        (problem("(flies agent1)"), "Unknown predicate 'flies' in the initial state"),
        (problem("()"), "Unknown predicate '' in the initial state"),
        (problem("(opened)"), r"opened has 1 arguments \(receptacle\), not 0"),
        (problem("(inReceptacle a)"), r"inreceptacle has 2 arguments \(object, receptacle\), not 1"),
        (problem("(inReceptacle a b c)"), "not 3"),
        (problem("(not (opened r))"), "facts and nothing else"),
        (problem("opened r (opened s)"), "facts and nothing else, not 'opened r"),
        (problem("(opened r"), "facts and nothing else"),
        (problem("(opened r))"), "facts and nothing else"),
        (problem(goal=""), "has a goal"),
        (problem(goal="hot"), "unknown shape: hot"),
        (problem(goal="()"), "unknown shape"),
        (problem(goal="(and (isHot ?o) hot)"), "unknown shape: hot"),
        (problem(goal="(exists (?o - object) (isHot ?o)) (exists (?o - object) (isCool ?o))"), "one goal, not several"),
        (problem(goal="(flies agent1)"), "Unknown predicate 'flies' in the goal"),
        (problem(goal="(when (isHot ?o) (isClean ?o))"), "unknown shape"),
        (problem(goal="(exists (?o - object))"), "unknown shape"),
        (problem(goal="(exists ?o (isHot ?o))"), "unknown shape"),
        (problem(goal="(exists (?o - object) (isHot ?o) (isCool ?o))"), "unknown shape"),
        (problem(goal="(isHot ?o ?p)"), r"\(ishot \?o \?p\): ishot has 1 arguments"),
        ("(:init (opened r)) (:goal (and (isHot ?o)", "ends too early"),
        (problem(goal="(" * 60), "nested too deeply"),
        (SMALL[: SMALL.index("(:metric")].rstrip()[:-1], "ends too early"),
    ],
)
def test_what_is_no_problem_is_refused_with_a_sentence(text: str, message: str) -> None:
    with pytest.raises(BadRecord, match=message):
        Problem.parse(text)


def test_a_long_wrong_word_does_not_fill_the_message() -> None:
    with pytest.raises(BadRecord) as raised:
        Problem.parse(problem("x" * 100_000))
    assert len(str(raised.value)) < 300


def test_something_of_two_kinds_is_refused_whatever_the_order_of_the_facts() -> None:
    twofold = Problem.parse(problem("(inReceptacle a b) (inReceptacle b c)"))
    for use in (twofold.kinds, twofold.to_pddl):
        with pytest.raises(BadRecord, match="b of a problem is of two kinds: object and receptacle"):
            use()


def test_something_that_the_goal_takes_for_another_kind_is_refused() -> None:
    with pytest.raises(BadRecord, match="a of a problem is of two kinds: object and receptacle"):
        Problem.parse(problem("(pickupable a)", "(opened a)")).kinds()


@pytest.mark.parametrize(
    "text",
    [
        "(" * 100_000,
        ")" * 100_000,
        "()" * 50_000,
        problem("(" + " " * 100_000),
        problem("(opened" + " " * 100_000 + "r)" + "(" * 1000),
        problem("(= (distance a b)" + " " * 100_000 + "x"),
        problem("(= (distance" + " " * 100_000),
        problem("(= (distance a b)" + " " * 100_000 + "(x)"),
        problem("(=" * 50_000),
        problem("(=(" * 30_000),
        problem("(= (" * 1000 + ")" * 1000),
        problem(goal="(" * 100_000),
        problem(goal="(and " * 20_000 + ")" * 20_000),
        problem(goal="(and" + " (isHot ?o)" * 9_000 + ")"),
        problem(goal="(exists (" + "?o " * 30_000 + "- object) (isHot ?o))"),
        "(problem" + " " * 100_000 + problem(),
        "(problem " + "x" * 100_000,
        "(problem " * 10_000,
        "(:init" * 10_000 + "(:goal" * 10_000,
        ";" * 100_000 + problem(),
    ],
    ids=range(20),
)
def test_hundred_thousand_odd_characters_are_read_or_refused_at_once(text: str) -> None:
    begin = time.process_time()
    assert len(refusal(text)) < 300
    assert time.process_time() - begin < 2


def refusal(text: str) -> str:
    """Why a text is no problem; "" when it is one. Any other error goes through."""
    try:
        hash(Problem.parse(text))
    except BadRecord as error:
        return str(error)
    return ""


NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)
OF_KIND = {kind: NAMES.map(f"{kind[:2]}_{{}}".format) for kinds in PREDICATES.values() for kind in kinds}
FACTS = st.sampled_from(sorted(PREDICATES)).flatmap(
    lambda predicate: st.tuples(st.just(predicate), *(OF_KIND[kind] for kind in PREDICATES[predicate]))
)
LITERALS = st.sampled_from(sorted(PREDICATES)).flatmap(
    lambda predicate: st.tuples(
        st.just(predicate), *(st.one_of(OF_KIND[kind], st.just(f"?{kind}")) for kind in PREDICATES[predicate])
    )
)


def _larger(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    variables = st.lists(st.sampled_from(["?a", "?b", "?c"]), min_size=1, max_size=3).map(lambda v: (*v, "-", "object"))
    return st.one_of(
        st.tuples(st.sampled_from(["and", "or"]), inner, inner),
        st.tuples(st.just("not"), inner),
        st.tuples(st.sampled_from(["exists", "forall"]), variables, inner),
    )


GOALS = st.recursive(st.one_of(LITERALS, st.just(("=", "?a", "?b"))), _larger, max_leaves=8)
PROBLEMS = st.builds(Problem, NAMES, st.frozensets(FACTS, max_size=20), GOALS)


@given(PROBLEMS)
def test_any_problem_reads_as_it_was_written(problem: Problem) -> None:
    assert Problem.parse(problem.to_pddl()) == problem
    assert Problem.parse(problem.to_pddl().upper()) == problem


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(PROBLEMS, st.data())
def test_mutated_text_is_read_or_refused_and_nothing_else(problem: Problem, data: st.DataObject) -> None:
    text = problem.to_pddl()
    for _ in range(data.draw(st.integers(1, 4))):
        first, last = sorted(data.draw(st.tuples(st.integers(0, len(text)), st.integers(0, len(text)))))
        new = data.draw(
            st.sampled_from(["", "(", ")", "((", " ", ";", "\n", "?", "-", "=", "(and", "exists", "\0", "é"])
        )
        text = data.draw(
            st.sampled_from(
                [
                    text[:first],  # truncated
                    text[:first] + new + text[first:],  # inserted
                    text[:first] + new + text[last:],  # cut out
                    text[last:] + text[first:last] + text[:first],  # swapped
                ]
            )
        )
    assert len(refusal(text)) < 300


@given(st.text(st.sampled_from("()abcdefinotxgl:?-=; \n"), max_size=200))
def test_any_text_between_the_two_parts_is_read_or_refused_and_nothing_else(text: str) -> None:
    assert len(refusal(f"(:init {text} (:goal {text[::-1]}")) < 300


def test_a_problem_cut_short_before_its_goal_ends_is_always_refused() -> None:
    whole = SMALL[: SMALL.index("(:metric")].rstrip()
    for end in range(len(whole)):
        with pytest.raises(BadRecord):
            Problem.parse(whole[:end])
