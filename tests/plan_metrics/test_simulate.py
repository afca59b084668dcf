"""Carrying out plans: which step fails and why, concurrent steps, against textbook semantics on random operators."""

from __future__ import annotations

from itertools import permutations
from random import Random

import pytest
from pddl_eval.model import Atom, Domain, Operator, Problem, State
from pddl_eval.parsing import parse_domain, read_plan
from pddl_eval.plan_metrics.simulate import GOAL, INIT, Execution, StepEffects, Task, execute, task_of

LORRY = parse_domain("""
(define (domain lorry) (:requirements :strips :typing :equality :negative-preconditions)
  (:types place vehicle - object lorry - vehicle)
  (:constants depot - place)
  (:predicates (at ?v - vehicle ?p - place) (closed ?p - place) (road ?a ?b - place) (fuelled ?v - vehicle))
  (:action drive :parameters (?v - vehicle ?from ?to - place)
    :precondition (and (at ?v ?from) (road ?from ?to) (not (closed ?to)) (not (= ?from ?to)))
    :effect (and (at ?v ?to) (not (at ?v ?from))))
  (:action close :parameters (?p - place) :precondition () :effect (closed ?p))
  (:action home :parameters (?v - vehicle) :precondition (at ?v depot) :effect (fuelled ?v))
  (:action drain :parameters (?v - vehicle) :precondition (fuelled ?v) :effect (not (fuelled ?v))))
""")

PROBLEM = Problem(
    "p",
    "lorry",
    {"l": "lorry", "v": "vehicle", "town": "place", "rock": "object"},
    frozenset({("at", "l", "town"), ("at", "v", "depot"), ("road", "town", "depot"), ("road", "town", "town")}),
    frozenset({("at", "l", "depot"), ("fuelled", "l")}),
)


def lorry_task() -> Task:
    task = task_of(LORRY, PROBLEM)
    assert isinstance(task, Task)
    return task


def run(plan: str) -> Execution:
    return execute(read_plan(plan).steps, lorry_task())


def test_goal_reached() -> None:
    execution = run("(drive l town depot) (home l)")
    assert (execution.failed_step, execution.reason, execution.lacking) == (None, "", frozenset())
    assert execution.effects[0] == StepEffects(frozenset({("at", "l", "depot")}), frozenset({("at", "l", "town")}))


def test_goal_not_reached() -> None:
    assert run("(drive l town depot)").lacking == {("fuelled", "l")}
    assert run("[]").lacking == PROBLEM.goal


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        ("(home l)", "(home l) needs (at l depot)"),
        ("(drive v town depot)", "(drive v town depot) needs (at v town)"),
        ("(drive v depot town)", "(drive v depot town) needs (road depot town)"),
        ("(drive l town town)", "(drive l town town): it needs two different objects, not town twice"),
        ("(fly l town)", "(fly l town): the domain has no operator fly"),
        ("(drive l town)", "(drive l town): drive takes 3 arguments, not 2"),
        ("(drive l town moon)", "(drive l town moon): there is no object moon"),
        ("(drive rock town depot)", "(drive rock town depot): rock is no vehicle"),
        ("(drive l town v)", "(drive l town v): v is no place"),
    ],
)
def test_first_failed_step_and_its_reason(step: str, reason: str) -> None:
    execution = run(f"(close town) {step} (fly away)")
    assert (execution.failed_step, execution.reason) == (2, reason)
    assert len(execution.effects) == 1


def test_negative_precondition() -> None:
    execution = run("(close depot) (drive l town depot)")
    assert execution.reason == "(drive l town depot) needs (closed depot) to be false"


def test_arguments_by_name() -> None:
    """T-Eval's way to write arguments, and `drive(v=l, to=depot, from=town)`."""
    assert run('[{"name": "drive", "args": {"v": "l", "from": "town", "to": "depot"}}]').failed_step is None
    assert run("drive(to=depot, v=l, from=town)").failed_step is None
    assert run("drive(to=depot, v=l, other=town)").failed_step == 1


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        ("{drive(l, town, depot), close(town)}", ""),
        ("{drive(l, town, depot), home(v)}", ""),
        (
            "{drive(l, town, depot), close(depot)}",
            "(close depot) and (drive l town depot) interfere: the first adds (closed depot), which the second forbids",
        ),
        ("{close(town), home(l)}", "(home l) needs (at l depot)"),
    ],
)
def test_concurrent_steps(step: str, reason: str) -> None:
    execution = run(step)
    assert execution.reason == reason
    assert execution.failed_step == (1 if reason else None)


def test_delete_interferes_with_add_and_need() -> None:
    fuelled = Problem("p", "lorry", PROBLEM.objects, PROBLEM.init | {("fuelled", "v")}, frozenset())
    task = task_of(LORRY, fuelled)
    assert isinstance(task, Task)
    reason = execute(read_plan("{drain(v), home(v)}").steps, task).reason
    assert reason == "(drain v) and (home v) interfere: the first deletes (fuelled v), which the second adds"


def test_causal_links() -> None:
    drive, home = ("drive", "l", "town", "depot"), ("home", "l")
    at_depot, fuelled = ("at", "l", "depot"), ("fuelled", "l")
    assert run("(drive l town depot) (home l)").causal_links == {
        (INIT, ("at", "l", "town"), drive),
        (INIT, ("road", "town", "depot"), drive),
        (drive, at_depot, home),
        (drive, at_depot, GOAL),
        (home, fuelled, GOAL),
    }


def test_a_domain_beyond_strips_is_not_simulated() -> None:
    domain = Domain("d", {}, {}, {}, (), ("sail: forall",))
    assert task_of(domain, PROBLEM) == "domain d goes beyond STRIPS (sail: forall)"


FACTS: list[Atom] = [("p",), ("q",), ("r",), ("s",)]


def random_operator(rng: Random, name: str) -> Operator:
    def some(chance: float) -> State:
        return frozenset(fact for fact in FACTS if rng.random() < chance)

    required = some(0.25)
    return Operator(name, (), required, some(0.2) - required, some(0.3), some(0.25))


def run_in_order(operators: tuple[Operator, ...], state: State) -> State | None:
    for operator in operators:
        if not operator.applicable(state):
            return None
        state = operator.apply(state)
    return state


def test_concurrent_means_any_order_gives_the_same() -> None:
    """Without interference, and only then, all orders of a step's actions can be carried out and end in one state."""
    rng = Random(11)
    outcomes = {True: 0, False: 0}
    for _ in range(4_000):
        operators = [random_operator(rng, name) for name in ("a", "b", "c")[: rng.randint(1, 3)]]
        init = frozenset(fact for fact in FACTS if rng.random() < 0.6)
        task = task_of(Domain("d", {}, {}, {}, tuple(operators)), Problem("p", "d", {}, init, frozenset()))
        assert isinstance(task, Task)
        execution = execute((frozenset((operator.name,) for operator in operators),), task)
        ends = {run_in_order(order, init) for order in permutations(operators)}
        possible = len(ends) == 1 and None not in ends
        assert (execution.failed_step is None) == possible, (operators, init, execution)
        if possible:
            (effects,) = execution.effects
            assert (init - effects.deleted) | effects.added == ends.pop()
        outcomes[possible] += 1
    assert min(outcomes.values()) > 500


def test_sequences_follow_the_textbook() -> None:
    rng = Random(12)
    for _ in range(1_000):
        operators = [random_operator(rng, name) for name in "abc"]
        init = frozenset(fact for fact in FACTS if rng.random() < 0.6)
        goal = frozenset(fact for fact in FACTS if rng.random() < 0.3)
        task = task_of(Domain("d", {}, {}, {}, tuple(operators)), Problem("p", "d", {}, init, goal))
        assert isinstance(task, Task)
        plan = [rng.choice(operators) for _ in range(rng.randint(0, 5))]
        execution = execute(tuple(frozenset({(operator.name,)}) for operator in plan), task)
        state = init
        failed = None
        for number, operator in enumerate(plan, 1):
            if not operator.applicable(state):
                failed = number
                break
            state = operator.apply(state)
        assert execution.failed_step == failed
        assert execution.lacking == goal - state
