"""Plan exchange: both directions by hand, and a plain executor as the judge of the plans that were found."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from pddl_eval import DomainScores, compare_domains, kernel
from pddl_eval.definition.domains import PlanningDomain, known_domain, planning_domain
from pddl_eval.definition.metrics import DOMAIN
from pddl_eval.definition.metrics.plan_exchange import exchange_plans
from pddl_eval.definition.model import domain_to_pddl, problem_to_pddl
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.definition.pddl import parse_domain, parse_problem
from pddl_eval.definition.planning import Solution, solve
from pddl_eval.definition.task import Task
from pddl_eval.definition.validation import execute
from pddl_eval.definition.verdict import Unsolvable

from tests.definition.test_closure import judged_plan, plan_of
from tests.judges import behaviour
from tests.support.ipc_domains import DOMAINS, PROBLEMS
from tests.support.random_tasks import as_the_judge_reads, random_task
from tests.support.sample import sample_table

DOORS = """(define (domain doors) (:types room) (:constants home - room)
  (:predicates (at ?r - room) (open ?r ?s - room) (key))
  (:action take :parameters (?r - room) :precondition (at ?r) :effect (key))
  (:action go :parameters (?r ?s - room) :precondition (and (at ?r) (open ?r ?s) (key))
    :effect (and (at ?s) (not (at ?r)))))"""
ROOMS = """(define (problem p) (:domain doors) (:objects a b - room)
  (:init (at home) (open home a) (open a b)) (:goal (and (at b))))"""


@pytest.fixture(autouse=True)
def without_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """The definition is tested, which is asked last."""
    monkeypatch.setattr(kernel, "library", lambda: None)


def exchanged(generated: str | None, problem: str = ROOMS) -> tuple[bool | None, bool | None, str]:
    scores = compare_domains(DOORS, generated, problem=problem)
    assert isinstance(scores, DomainScores)
    return scores.domain_plan_valid, scores.domain_reference_plan_valid, scores.detail


@pytest.mark.parametrize(
    ("was", "is_", "valid", "reference_valid"),
    [
        ("", "", True, True),
        # In other words: the plans are exchanged under the renaming.
        ("go :parameters (?r ?s", "go :parameters (?s ?r", True, True),
        ("go :", "walk :", True, True),
        # Weaker: it forgets the key, and its own plan does without.
        ("?s) (key))", "?s))", False, True),
        # Stronger: nobody ever gets the key.
        (":precondition (at ?r) :effect (key)", ":precondition (and (at ?r) (key)) :effect (key)", False, False),
        (":effect (key))", ":effect (at home))", False, False),
        # What its own plan does not need does no harm.
        ("(not (at ?r))", "", True, True),
        ("(at ?s)", "(there ?s)", False, False),
    ],
)
def test_by_hand(was: str, is_: str, valid: bool, reference_valid: bool) -> None:
    assert exchanged(DOORS.replace(was, is_, 1) if was else DOORS)[:2] == (valid, reference_valid)


WALK = DOORS.replace("go :parameters (?r ?s", "walk :parameters (?s ?r")
for _old, _new in (
    ("(open ?r ?s", "(way ?s ?r"),
    ("at ?", "here ?"),
    ("room", "site"),
    ("key", "door"),
):
    WALK = WALK.replace(_old, _new)


def test_an_equivalent_domain_in_other_words_accepts_the_plan_and_has_one() -> None:
    """Other names, and arguments and parameters in another order; an executor that knows no renaming agrees."""
    scores = compare_domains(DOORS, WALK, problem=ROOMS)
    assert isinstance(scores, DomainScores) and scores.verdict.value == "renamed" and scores.renaming is not None
    assert (scores.domain_plan_valid, scores.domain_reference_plan_valid) == (True, True)
    back = scores.renaming.inverse
    problem, domain = parse_problem(ROOMS, ["home"]), parse_domain(DOORS)
    plan = Task(problem, PlanningDomain(domain)).plan
    assert isinstance(plan, tuple)
    assert behaviour.is_plan(tuple(map(back.action, plan)), back.problem(problem, domain), parse_domain(WALK))
    # Without a plan in the reference there is none to exchange.
    locked = compare_domains(DOORS, WALK, problem=ROOMS.replace("(open a b)", ""))
    assert (locked.domain_plan_valid, locked.domain_reference_plan_valid) == (None, None)


def test_a_problem_that_the_generated_domain_cannot_hold() -> None:
    """As VAL: the object is not declared, or the predicate's argument is of another type."""
    for was, is_, why in (
        ("(:constants home - room)", "", "home"),
        ("(:types room)", "(:types room box) (:constants c - box)", ""),
        ("(at ?r - room) (open", "(at ?r - box) (open", "at"),
    ):
        valid, reference_valid, detail = exchanged(
            DOORS.replace("(:types room)", "(:types room box)").replace(was, is_)
        )
        assert (valid, reference_valid) == ((True, True) if not why else (False, False)), was
        assert why in detail


def test_a_problem_that_declares_a_constant_again() -> None:
    """In a domain that lacks the constant it is the problem's object."""
    again = ROOMS.replace("a b - room", "home a b - room")
    assert exchanged(DOORS.replace("(:constants home - room)", ""), again)[:2] == (True, True)


def test_the_detail_tells_a_plan_that_fails_from_no_plan() -> None:
    valid, _, detail = exchanged(DOORS.replace("?s) (key))", "?s))"))
    assert valid is False and "step 1 fails: (go home a) needs (key)" in detail and "no plan" not in detail
    valid, _, detail = exchanged(DOORS.replace(":effect (key))", ":effect (at home))"))
    assert valid is False and "the generated domain has no plan:" in detail


def test_a_plan_that_was_not_found_is_null(monkeypatch: pytest.MonkeyPatch) -> None:
    """No other planner is asked: it might find another plan."""
    weak = DOORS.replace("?s) (key))", "?s))")
    many = weak.replace("(key))", "(key) (called ?r - room))", 1)
    many = f"{many[:-1]} (:action call :parameters (?r - room) :effect (called ?r)))"
    monkeypatch.setattr("pddl_eval.definition.state_space.MAX_STATES", 10)
    assert exchanged(many)[:2] == (None, True)
    assert "the generated domain has no plan that was found: more than 10 states can be reached" in exchanged(many)[2]


def test_nothing_to_exchange_is_null() -> None:
    unsolvable = ROOMS.replace("(open a b)", "")
    assert exchanged(DOORS.replace("?s) (key))", "?s))"), unsolvable)[:2] == (None, None)
    door = DOORS.replace("(open ?r ?s) (key)", "(key)")
    assert exchanged(door, unsolvable)[:2] == (False, None)
    assert exchanged(None)[:2] == exchanged("sorry")[:2] == (False, False)
    ill_typed = ROOMS.replace("(at home)", "(at home home)")
    assert exchanged(DOORS.replace("?s) (key))", "?s))"), ill_typed)[:2] == (None, None)
    without = compare_domains(DOORS, DOORS)
    assert (without.domain_plan_valid, without.domain_reference_plan_valid, without.detail) == (None, None, "")


def test_no_plan_within_the_limits_is_null_with_its_reason() -> None:
    """Where every action is possible there are too many to be listed; no other planner is asked."""
    places = " ".join(f"x{number}" for number in range(34))
    rooms = ROOMS.replace("a b - room", f"a b {places} - room")
    free = DOORS.replace("(?r ?s - room) :precondition (and (at ?r) (open ?r ?s) (key))", "(?r ?s ?t - room)")
    valid, reference_valid, detail = exchanged(free, rooms)
    assert (valid, reference_valid) == (None, False)
    assert "reachable" in detail


def test_without_planners_it_is_null() -> None:
    row = {"reference_domain": DOORS, "generated_domain": DOORS, "reference_problem": ROOMS}
    names = [column.name for column in DOMAIN.columns]
    for check, expected in ((True, True), (False, None)):
        options = ScoringOptions(check_solvable=check)
        scores = dict(zip(names, DOMAIN.score(DOMAIN.read(row, options)), strict=True))
        assert scores["domain_plan_valid"] is scores["domain_reference_plan_valid"] is expected
        assert scores["domain_applicability_recall"] == 1.0


def test_rows_and_values_have_the_same_scores() -> None:
    broken = DOORS.replace("(not (at ?r))", "(not (key))")
    row = {"reference_domain": DOORS, "generated_domain": broken, "reference_problem": ROOMS}
    scored = dict(
        zip((each.name for each in DOMAIN.columns), DOMAIN.score(DOMAIN.read(row, ScoringOptions())), strict=True)
    )
    by_text = compare_domains(DOORS, [broken, DOORS], problem=[ROOMS, ROOMS])[0]
    values = parse_domain(DOORS), parse_domain(broken)
    by_value = compare_domains(*values, problem=parse_problem(ROOMS, ["home"]))
    for name, value in scored.items():
        assert value == getattr(by_text, name) == getattr(by_value, name), name


def test_an_unreadable_problem_is_null_with_its_reason() -> None:
    row = {"reference_domain": DOORS, "generated_domain": DOORS, "reference_problem": "(define (problem p)"}
    pair = DOMAIN.read(row, ScoringOptions())
    assert (
        dict(zip((each.name for each in DOMAIN.columns), DOMAIN.score(pair), strict=True))["domain_plan_valid"] is None
    )
    assert "the problem to solve cannot be read" in pair.detail


def compare_mutants(count: int) -> dict[tuple[bool | None, bool | None], int]:
    """Judge the exchange for mutants of random domains; returns how often each pair of answers came."""
    seen: dict[tuple[bool | None, bool | None], int] = {}
    tasks = [(PROBLEMS[name](seed), DOMAINS[name]) for name in DOMAINS for seed in range(count)]
    for seed, (problem, domain) in enumerate([*tasks, *(random_task(seed) for seed in range(count))]):
        *_, last = behaviour.random_walks(problem, domain, 2, 20, seed)
        goal = sorted(last - problem.init)[:5]
        if not goal:
            continue
        problem = replace(problem, goal=frozenset(goal))
        other = behaviour.mutated(domain, seed)
        reference, generated = (Task(problem, PlanningDomain(each)) for each in (domain, other))
        if reference.ill_typed or generated.ill_typed:
            continue
        valid, reference_valid, _ = exchange_plans(reference, generated)
        plan, own = reference.plan, generated.plan
        if isinstance(plan, tuple):
            assert behaviour.is_plan(plan, problem, domain)
            assert reference_valid == behaviour.is_plan(plan, problem, other), seed
        else:
            assert reference_valid is None
        if isinstance(own, tuple):
            assert behaviour.is_plan(own, problem, other)
            assert valid == behaviour.is_plan(own, problem, domain), seed
        elif isinstance(own, Unsolvable):
            states = behaviour.reachable(problem, other)
            assert states is None or not any(problem.goal <= state for state in states)
            assert valid is (False if isinstance(plan, tuple) else None)
        # Through the texts, as a row has it.
        scores = compare_domains(domain_to_pddl(domain), domain_to_pddl(other), problem=problem_to_pddl(problem))
        found = scores.domain_plan_valid, scores.domain_reference_plan_valid
        if scores.verdict.value == "renamed":  # In its words each domain's plan is the other's.
            assert found == ((True, True) if isinstance(plan, tuple) else (None, None)), seed
        elif not scores.outside_definition:
            assert found == (valid, reference_valid), seed
        seen[valid, reference_valid] = seen.get((valid, reference_valid), 0) + 1
    return seen


@pytest.mark.parametrize("row", sample_table().take([14, 102, 182, 186, 210]).to_pylist(), ids=lambda row: row["name"])
def test_the_defined_plan_is_exchanged_also_where_another_shortest_one_would_be_valid(row: dict[str, Any]) -> None:
    """In these rows of the sample an answer lost a delete effect. A search may find a plan that does without it."""
    problem = parse_problem(row["reference_problem"])
    reference, generated = (parse_domain(row[f"{side}_domain"]) for side in ("reference", "generated"))
    plan = judged_plan(problem, as_the_judge_reads(generated))
    assert plan and plan == plan_of(problem, generated)
    assert not execute([{action} for action in plan], problem, reference).reaches_goal
    other = plan_of(problem, reference)
    assert len(other) == len(plan) and execute([{action} for action in other], problem, generated).reaches_goal
    assert compare_domains(reference, generated, problem=problem).domain_plan_valid is False


def test_equal_to_the_plain_implementation_on_mutants() -> None:
    seen = compare_mutants(4)
    assert min(seen[True, True], seen[False, False]) > 1


@pytest.mark.slow
def test_equal_to_the_plain_implementation_on_more_mutants() -> None:
    seen = compare_mutants(90)
    assert min(seen[True, True], seen[False, False]) > 50
    assert seen[False, True]


@pytest.mark.parametrize("renamed", [False, True])
def test_a_generated_domain_that_is_a_known_one_has_the_plan_of_its_rules(renamed: bool) -> None:
    """The rules bring c away before they come back for b; the shortest plan takes b first and never comes back."""
    true = domain_to_pddl(known_domain("gripper").domain)
    burns = true.replace("(not (at-robby ?from))", "(not (at-robby ?from)) (not (room ?from))")
    problem = """(define (problem p) (:domain gripper) (:objects a b c north south east l r)
      (:init (room north) (room south) (room east) (ball a) (ball b) (ball c) (gripper l) (gripper r) (free l) (free r)
        (at-robby east) (at a north) (at b east) (at c south))
      (:goal (and (at c north) (carry a r) (carry b l))))"""
    texts = [text.replace("carry", "holds") if renamed else text for text in (burns, true, problem)]
    reference, generated = map(parse_domain, texts[:2])
    problem_read = parse_problem(texts[2])
    rules, shortest = (solve(problem_read, domain) for domain in (planning_domain(texts[1]), PlanningDomain(generated)))
    assert isinstance(rules, Solution) and isinstance(shortest, Solution)
    valid = [
        execute([{action} for action in each.plan], problem_read, reference).reaches_goal for each in (rules, shortest)
    ]
    assert valid == [False, True]
    assert compare_domains(*texts[:2], problem=texts[2]).domain_plan_valid is False
