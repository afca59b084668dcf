"""Cheapest costs and labels of steps: equal to uniform-cost search in the judge's interpreter, which shares no code."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import pytest
from pddl_eval import validate
from pddl_eval.definition.state_space import GoalCosts, goal_costs
from pddl_eval.definition.task import task_of
from pddl_eval.definition.validation import execute
from pddl_eval.definition.verdict import Undecided
from pddl_eval.scoring.plans import StepLabel, step_labels

from tests.judges.interpreter import (
    Failed,
    Refused,
    Task,
    TooManyStates,
    identity,
    optimal_task_cost,
    reachable_states,
    read,
)
from tests.judges.interpreter import (
    execute as judged_step,
)
from tests.judges.plans import cases
from tests.support.volume import in_two_sizes

FEW_STATES = 40

HOW = ("valid", "two steps swapped", "a step repeated", "another object", "another goal")


def costs_of(problem: str, domain: str) -> GoalCosts | Undecided:
    task = task_of(problem, domain, for_plans=True)
    assert task.domain is not None
    return goal_costs(task.problem, task.domain.domain)


@in_two_sizes(4, 120)
def test_costs_and_labels_are_the_judge_s(cases: int) -> None:
    seen: Counter[str] = Counter()
    for number in range(cases):
        for kind in check(number):
            seen[kind] += 1
    assert seen["cost"] > cases / 2
    assert {label.name for label in StepLabel} - {"DEAD_END"} <= seen.keys(), seen


def test_where_no_plan_is_every_step_is_a_dead_end() -> None:
    domain = """(define (domain d) (:predicates (lit) (warm)) (:functions (total-cost))
      (:action on :effect (and (lit) (increase (total-cost) 2))))"""
    problem = "(define (problem p) (:domain d) (:init) (:goal (warm)) (:metric minimize (total-cost)))"
    found = validate("(on) (on)", problem, domain)
    assert (found.valid, found.optimal, found.optimal_cost) == (False, False, None)
    assert found.steps == (StepLabel.DEAD_END, StepLabel.DEAD_END)
    lit = validate("(on) (on)", problem.replace("(warm)", "(lit)"), domain)
    assert (lit.cost, lit.optimal_cost, lit.optimal) == (4, 2, False)
    assert lit.steps == (StepLabel.OPTIMAL, StepLabel.BACKTRACKING)


@pytest.mark.parametrize(
    ("effect", "metric"),
    [
        ("(increase (total-cost) 1)", "maximize (total-cost)"),
        ("(assign (total-cost) 1)", "minimize (total-cost)"),
        ("(increase (total-cost) (- 0 1))", "minimize (total-cost)"),
        ("(increase (count) 1)", "minimize (+ (count) 1)"),
        ("(when (< (count) 9) (increase (count) 1))", "minimize (count)"),
    ],
)
def test_costs_that_are_no_sums_are_not_decided(effect: str, metric: str) -> None:
    domain = f"(define (domain d) (:functions (total-cost) (count)) (:action on :effect (and (lit) {effect})))"
    problem = f"(define (problem p) (:domain d) (:init (= (count) 0)) (:goal (lit)) (:metric {metric}))"
    found = validate("(on)", problem, domain)
    assert found.valid and (found.optimal, found.optimal_cost, found.steps) == (None, None, None)


def test_a_constant_of_several_types_stands_for_each_of_them() -> None:
    domain = """(define (domain d) (:types a b) (:constants c - (either a b)) (:predicates (done) (begun))
      (:action at-once :parameters (?x - b) :effect (done))
      (:action begin :effect (begun)) (:action end :precondition (begun) :effect (done)))"""
    problem = "(define (problem p) (:domain d) (:init) (:goal (done)))"
    found = validate("(begin) (end)", problem, domain)
    assert (found.cost, found.optimal_cost, found.optimal) == (2, 1, False)
    assert found.steps == (StepLabel.SUBOPTIMAL, StepLabel.OPTIMAL)
    assert validate("(at-once c)", problem, domain).optimal


def test_more_states_than_the_bound_are_not_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pddl_eval.definition.state_space.MAX_STATES", 500)
    lamps = " ".join(f"l{number}" for number in range(10))
    domain = "(define (domain d) (:action on :parameters (?l) :effect (lit ?l)))"
    found = validate("(on l0)", f"(define (problem p) (:domain d) (:objects {lamps}) (:init) (:goal (lit l0)))", domain)
    assert found.valid and found.optimal is None and found.optimal_cost is None


@pytest.mark.parametrize("counter", ["(= (total-cost) 0)", "", "(= (total-cost) 7)"])
@pytest.mark.parametrize("updates", ["(increase (total-cost) 1)", "(and (increase (total-cost) 1) (assign (last) 1))"])
def test_whether_a_counter_that_nothing_reads_is_written_tells_no_states_apart(counter: str, updates: str) -> None:
    domain = f"""(define (domain d) (:predicates (high) (done)) (:functions (total-cost) (last))
      (:action up :effect (and (high) {updates})) (:action down :effect (and (not (high)) {updates}))
      (:action fin :precondition (high) :effect (and (done) {updates})))"""
    for metric, cost in ((" (:metric minimize (total-cost))", 2 + 7 * ("7" in counter)), ("", 2)):
        problem = f"(define (problem p) (:domain d) (:init {counter}) (:goal (done)){metric})"
        found = validate("(up) (down) (up) (fin)", problem, domain)
        assert found.steps is not None and [step.value for step in found.steps] == [1, 0.5, 0.5, 1]
        assert found.optimal_cost == cost


def test_numbers_of_the_states_count_as_atoms(monkeypatch: pytest.MonkeyPatch) -> None:
    """2,000 numbers in each of 20,000 states are gigabytes."""
    monkeypatch.setattr("pddl_eval.definition.state_space.MOST_WORK", 200)
    domain = """(define (domain d) (:functions (f ?x))
      (:action add :parameters (?x) :precondition (< (f ?x) 3) :effect (increase (f ?x) 1)))"""
    start = " ".join(f"(= (f o{number}) 0)" for number in range(20))
    objects = " ".join(f"o{number}" for number in range(20))
    problem = f"(define (problem p) (:domain d) (:objects {objects}) (:init {start}) (:goal (= (f o1) 1)))"
    found = validate("(add o1)", problem, domain)
    assert found.valid and found.optimal is None
    assert isinstance(found.state_space, Undecided) and "200 steps" in found.state_space.reason


def check(number: int) -> list[str]:
    """What was compared in the cases with this number: a valid plan and its damaged copies."""
    seen = []
    for case in (each for each in cases(number, seed=5) if each.how in HOW):
        task = read(case.story.text, case.problem)
        try:
            reachable_states(task, FEW_STATES)
            least = optimal_task_cost(task, FEW_STATES)
        except (TooManyStates, Refused):
            continue
        found = costs_of(case.problem, case.story.text)
        assert isinstance(found, GoalCosts), found
        assert found.optimal_cost == least, (case, found.optimal_cost, least)
        seen.append("no plan" if least is None else "cost")
        plan = [step if isinstance(step, frozenset) else frozenset({step}) for step in case.steps]
        if all(len(step) == 1 for step in plan):
            read_task = task_of(case.problem, case.story.text, for_plans=True)
            assert read_task.domain is not None
            execution = execute(plan, read_task.problem, read_task.domain.domain)
            labels = step_labels(found, execution, read_task.problem)
            assert labels == tuple(judged_labels(task, [next(iter(step)) for step in plan])), case
            seen += [label.name for label in labels]
    return seen


def judged_labels(task: Task, plan: list[tuple[str, ...]]) -> list[StepLabel]:
    """The labels by their definitions, with a search of its own from each state."""

    def least(state: object) -> Fraction | None:
        return optimal_task_cost(replace(task, initial=state), FEW_STATES)

    labels = []
    state, been = task.initial, {identity(task.initial)}
    for action in plan:
        try:
            after = judged_step(task, state, action)
        except Failed:
            return [*labels, StepLabel.NOT_EXECUTABLE]
        before_costs, after_costs = least(state), least(after)
        if after_costs is None:
            labels.append(StepLabel.DEAD_END)
        elif identity(after) in been:
            labels.append(StepLabel.BACKTRACKING)
        else:
            paid = Fraction(1) if task.metric is None else Fraction(0)  # With a metric it is in the cost of the end.
            labels.append(StepLabel.OPTIMAL if before_costs == after_costs + paid else StepLabel.SUBOPTIMAL)
        state = after
        been.add(identity(after))
    return labels
