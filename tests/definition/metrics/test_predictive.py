"""Predictive power: AMLGym's own test cases, hand-computed numbers, and a plain implementation as the judge."""

from __future__ import annotations

import pytest
from pddl_eval import DomainScores, compare_domains
from pddl_eval.definition.grounding import instance
from pddl_eval.definition.metrics.predictive import COLUMNS, predictive_power
from pddl_eval.definition.model import Domain, Problem
from pddl_eval.definition.pddl import ParseError, parse_domain, parse_problem
from pddl_eval.definition.states import SEED, STEPS, WALKS, count_applicable, visited_states
from pddl_eval.definition.task import Task, read_task
from pddl_eval.definition.verdict import Undecided
from pddl_eval.scoring.budget import row_budget

from tests.corpus import ADL, CORPUS
from tests.judges import behaviour
from tests.support.ipc_domains import DOMAINS, PROBLEMS
from tests.support.random_tasks import random_task

NAMES = [column.name for column in COLUMNS]


def power(reference: str, generated: str | None, problem: str) -> list[float | None]:
    scores = compare_domains(reference, generated, problem=problem)
    assert isinstance(scores, DomainScores)
    return [getattr(scores, name) for name in NAMES]


ONE_STEP = "(define (domain d) (:predicates (p) (q) (r) (s)) (:action a :parameters () :effect (and {})))"
"""An operator that applies everywhere. In the state {p, q} the reference makes r true and p false."""


@pytest.mark.parametrize(
    ("effect", "precision", "recall"),
    [
        ("(r) (not (p))", 1.0, 1.0),
        ("(not (p))", 1.0, 0.5),
        ("(r)", 1.0, 0.5),
        ("(r) (s) (not (p))", 2 / 3, 1.0),
        ("(r) (not (p)) (not (q))", 2 / 3, 1.0),
        ("", 1.0, 0.0),
    ],
    ids=["exact", "missing add", "missing delete", "spurious add", "spurious delete", "no effects"],
)
def test_the_cases_that_amlgym_tests_itself_with(effect: str, precision: float, recall: float) -> None:
    """The numbers of ``tests/test_predictive.py`` in AMLGym's repository (commit 902e58d)."""
    reference, generated = (parse_domain(ONE_STEP.format(each)) for each in ("(r) (not (p))", effect))
    only_state = {frozenset({("p",), ("q",)}): [instance(reference.operators[0], ())]}
    found = predictive_power(reference, generated, Problem("p", "d", {}, frozenset(), frozenset()), only_state)
    assert found[2:] == pytest.approx((precision, recall))


DOORS = """(define (domain doors) (:predicates (at ?r) (open ?r ?s) (locked ?s))
  (:action go :parameters (?r ?s) :precondition (and (at ?r) (open ?r ?s) (not (locked ?s)))
    :effect (and (at ?s) (not (at ?r)))))"""
ROOMS = """(define (problem p) (:domain doors) (:objects a b c)
  (:init (at a) (open a b) (open b c) (locked c)) (:goal (and (at b))))"""
"""Two states: in a one action applies, in b none."""


@pytest.mark.parametrize(
    ("was", "is_", "expected"),
    [
        ("", "", [1.0, 1.0, 1.0, 1.0]),
        # In b, it says that one can go to c, too.
        ("(not (locked ?s))", "", [0.5, 1.0, 1.0, 1.0]),
        # In a, one can go to a, b and c, in b likewise.
        ("(open ?r ?s) (not (locked ?s))", "", [1 / 6, 1.0, 1.0, 1.0]),
        # From anywhere to anywhere: nine actions in two states.
        ("(and (at ?r) (open ?r ?s) (not (locked ?s)))", "()", [1 / 18, 1.0, 1.0, 1.0]),
        ("(and (at ?r)", "(and (locked ?r) (at ?r)", [1.0, 0.0, 1.0, 0.0]),
        # In b, one can go from a to b.
        ("(and (at ?r)", "(and (at ?s)", [0.0, 0.0, 1.0, 0.0]),
        ("(not (at ?r))", "(locked ?s)", [1.0, 1.0, 0.5, 0.5]),
        # Arguments count by their position.
        ("(?r ?s)", "(?s ?r)", [0.0, 0.0, 1.0, 0.0]),
        ("go", "walk", [1.0, 0.0, 1.0, 0.0]),
        ("(?r ?s)", "(?r ?s ?t)", [0.0, 0.0, 1.0, 0.0]),
    ],
)
def test_by_hand(was: str, is_: str, expected: list[float]) -> None:
    assert power(DOORS, DOORS.replace(was, is_, 1) if was else DOORS, ROOMS) == pytest.approx(expected)


def test_what_is_not_asked() -> None:
    """Names of parameters, ``_`` for ``-``, operators that only the generated domain has, its name."""
    other = DOORS.replace("?r", "?x").replace("domain doors", "domain rooms")
    other = other[:-1] + "(:action sleep :parameters (?r) :effect (not (at ?r))))"
    assert power(DOORS, other, ROOMS) == [1.0] * 4
    assert power(DOORS.replace("go", "go-to"), DOORS.replace("go", "go_to"), ROOMS) == [1.0] * 4


def test_an_operator_that_is_never_seen_is_right_where_both_say_so() -> None:
    """AMLGym's page would give it recall 0, and no domain would equal itself; its code gives 1."""
    flood = "(:action swim :parameters (?r) :precondition (wet ?r) :effect (dry ?r)))"
    reference, generated = (DOORS[:-1] + each for each in (flood, flood.replace("(dry ?r)", "(at ?r)")))
    assert power(reference, generated, ROOMS) == [1.0] * 4


def test_nulls_and_their_reasons() -> None:
    adl = DOORS.replace("(at ?s) (not", "(when (locked ?s) (at ?s)) (not")
    scores = [compare_domains(*pair, problem=ROOMS) for pair in ((DOORS, adl), (adl, DOORS))]
    scores.append(compare_domains(DOORS, adl))
    for found in scores:
        assert [getattr(found, name) for name in NAMES] == [None] * 4
    assert ["beyond STRIPS" in found.detail for found in scores] == [True, True, False]
    assert power(DOORS, None, ROOMS) == power(DOORS, "sorry", ROOMS) == [0.0] * 4
    with pytest.raises(ParseError):
        compare_domains(DOORS, DOORS, problem="(define (problem p)")


def test_a_type_or_a_constant_of_another_name_fits_nothing() -> None:
    typed = DOORS.replace("(:predicates", "(:types room) (:predicates").replace("(?r ?s)", "(?r ?s - room)", 1)
    rooms = ROOMS.replace("a b c)", "a b c - room)")
    assert power(typed, typed.replace("room", "place"), rooms) == [1.0, 0.0, 1.0, 0.0]
    assert power(typed, DOORS, rooms) == [1.0] * 4


MANY = ROOMS.replace("a b c)", "a b c " + " ".join(f"x{number}" for number in range(37)) + ")")
WIDE = DOORS.replace("(?r ?s)", "(?r ?s ?t ?u ?v ?w)", 1)


def test_free_parameters_are_counted_and_not_listed() -> None:
    """Six parameters over 40 objects are four billion actions."""
    problem = parse_problem(MANY)
    visited = visited_states(problem, parse_domain(DOORS))
    assert not isinstance(visited, Undecided)
    assert count_applicable(parse_domain(WIDE), problem.objects, visited) == {"go": 40**4}
    free = parse_domain(WIDE.replace("(and (at ?r) (open ?r ?s) (not (locked ?s)))", "()"))
    assert count_applicable(free, problem.objects, visited) == {"go": 2 * 40**6}


def test_too_many_actions_are_a_null_with_its_reason() -> None:
    weak = WIDE.replace("(and (at ?r)", "(and (not (at ?t)) (not (at ?u)) (not (at ?v)) (not (at ?w))")
    found = compare_domains(DOORS, weak, problem=MANY)
    assert [getattr(found, name) for name in NAMES] == [None] * 4
    assert "no predictive power: in the generated domain, " in found.detail


def test_a_row_without_time_is_null() -> None:
    with row_budget(1e-9):
        found = compare_domains(DOORS, DOORS.replace("(not (locked ?s))", ""), problem=ROOMS)
    assert found.domain_applicability_precision in (None, 0.5)


def corpus_tasks() -> list[tuple[Problem, Domain]]:
    """The domains of the corpus that are STRIPS, each with its problem."""
    read = [read_task(*reversed(CORPUS[name])) for name in CORPUS if name not in ADL]
    return [(task.problem, task.domain.domain) for task in read if isinstance(task, Task) and task.domain is not None]


def tasks(count: int) -> list[tuple[Problem, Domain]]:
    ipc = [(PROBLEMS[name](seed), DOMAINS[name]) for name in DOMAINS for seed in range(count // 6)]
    return ipc + corpus_tasks()[: count // 4] + [random_task(seed) for seed in range(count // 2)]


def test_the_walks_are_as_their_docstring_says() -> None:
    for problem, domain in tasks(8):
        visited = visited_states(problem, domain)
        assert not isinstance(visited, Undecided)
        assert list(visited) == behaviour.random_walks(problem, domain, WALKS, STEPS, SEED)


@pytest.mark.slow
def test_every_operator_that_can_apply_is_seen() -> None:
    """An operator that no visited state allows would be right for free."""
    for problem, domain in corpus_tasks():
        states = behaviour.reachable(problem, domain)
        visited = visited_states(problem, domain)
        assert states is not None and not isinstance(visited, Undecided)
        follow = behaviour.steps(domain, problem)
        applying = {name for state in states for name, followers in follow(state).items() if followers}
        assert applying == {each.name for operators in visited.values() for each in operators}


def test_each_domain_of_the_corpus_behaves_like_itself() -> None:
    for name, (domain, problem) in CORPUS.items():
        found = compare_domains(domain, domain, problem=problem)
        expected = (None, None, None) if name in ADL else (1.0, True, True)
        shown = found.domain_predicted_effects_recall, found.domain_plan_valid, found.domain_reference_plan_valid
        assert shown == expected, name


def compare_mutants(count: int) -> int:
    """How many mutants do not have all four numbers 1; each has the numbers of the plain implementation."""
    different = 0
    for seed, (problem, domain) in enumerate(tasks(count)):
        visited = visited_states(problem, domain)
        assert not isinstance(visited, Undecided)
        for turn in range(5):
            generated = behaviour.mutated(domain, 5 * seed + turn)
            found = predictive_power(domain, generated, problem, visited)
            judged = behaviour.predictive_power(domain, generated, problem, list(visited))
            assert found == pytest.approx(judged), (seed, turn)
            different += found != (1.0, 1.0, 1.0, 1.0)
    return different


def test_equal_to_the_plain_implementation_on_mutants() -> None:
    assert compare_mutants(36) > 60


@pytest.mark.slow
def test_equal_to_the_plain_implementation_on_more_mutants() -> None:
    assert compare_mutants(96) > 160
