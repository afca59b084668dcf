"""Carrying out plans: which step fails and why, concurrent steps, against textbook semantics on random operators."""

from __future__ import annotations

from itertools import permutations
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pddl_eval.definition.domains import PlanningDomain
from pddl_eval.definition.model import Atom, Domain, Operator, Problem, State
from pddl_eval.definition.pddl import parse_domain
from pddl_eval.definition.planning import Solution, solve
from pddl_eval.definition.plans import actions_of, read_plan
from pddl_eval.definition.validation import Execution, execute

from tests.judges import exhaustive
from tests.support.random_tasks import as_the_judge_reads, random_task
from tests.support.volume import scaled

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


def run(plan: str, problem: Problem = PROBLEM) -> Execution:
    return execute(map(actions_of, read_plan(plan).steps), problem, LORRY)


def test_goal_reached() -> None:
    execution = run("(drive l town depot) (home l)")
    assert (execution.failed_step, execution.reason, execution.unmet) == (None, "", ())
    assert [[operator.action for operator in step] for step in execution.steps] == [
        [("drive", "l", "town", "depot")],
        [("home", "l")],
    ]
    assert execution.state == PROBLEM.init - {("at", "l", "town")} | {("at", "l", "depot"), ("fuelled", "l")}
    assert execution.reaches_goal
    assert (execution.verdict, execution.missing, execution.goal_share, execution.cost) == ("valid", (), 1.0, 2)


def test_goal_not_reached() -> None:
    execution = run("(drive l town depot)")
    assert execution.unmet == execution.missing == (("fuelled", "l"),)
    assert (execution.verdict, execution.goal_share, execution.cost) == ("goal_not_reached", 0.5, None)
    assert {*run("[]").unmet} == PROBLEM.goal


def test_the_conditions_that_do_not_hold() -> None:
    assert run("(drive v town town)").missing == (("not", ("=", "town", "town")),)
    assert run("(drive v town depot)").missing == (("at", "v", "town"),)
    assert run("(close depot) (drive l town depot)").missing == (("not", ("closed", "depot")),)
    assert run("(fly)").missing == ()


@pytest.mark.parametrize(
    ("step", "verdict", "reason"),
    [
        ("(home l)", "precondition", "(home l) needs (at l depot)"),
        ("(drive v town depot)", "precondition", "(drive v town depot) needs (at v town)"),
        ("(drive v depot town)", "precondition", "(drive v depot town) needs (road depot town)"),
        ("(drive l town town)", "precondition", "(drive l town town): it needs two different objects, not town twice"),
        ("(drive l moon moon)", "wrong_arguments", "(drive l moon moon): there is no object moon"),
        ("(drive l rock rock)", "wrong_arguments", "(drive l rock rock): rock is an object, not a place"),
        ("(fly l town)", "unknown_action", "(fly l town): the domain has no operator fly"),
        ("(drive l town)", "wrong_arguments", "(drive l town): drive takes 3 arguments, not 2"),
        ("(drive l town moon)", "wrong_arguments", "(drive l town moon): there is no object moon"),
        ("(drive rock town depot)", "wrong_arguments", "(drive rock town depot): rock is an object, not a vehicle"),
        ("(drive l town v)", "wrong_arguments", "(drive l town v): v is a vehicle, not a place"),
    ],
)
def test_first_failed_step_and_its_reason(step: str, verdict: str, reason: str) -> None:
    execution = run(f"(close town) {step} (fly away)")
    assert (execution.failed_step, execution.verdict, execution.reason) == (2, verdict, reason)
    assert len(execution.steps) == 1
    assert execution.state == PROBLEM.init | {("closed", "town")}
    assert not execution.reaches_goal


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
    kind = "interference" if "interfere" in reason else "precondition" if reason else "goal_not_reached"
    assert execution.verdict == kind


def test_delete_interferes_with_add_and_need() -> None:
    fuelled = Problem("p", "lorry", PROBLEM.objects, PROBLEM.init | {("fuelled", "v")}, frozenset())
    reason = run("{drain(v), home(v)}", fuelled).reason
    assert reason == "(drain v) and (home v) interfere: the first deletes (fuelled v), which the second adds"


def test_what_is_deleted_and_added_is_added() -> None:
    domain = parse_domain("(define (domain d) (:action swap :parameters (?a ?b) :effect (and (p ?a) (not (p ?b)))))")
    problem = Problem("p", "d", {"x": "object"}, frozenset(), frozenset({("p", "x")}))
    assert execute([{("swap", "x", "x")}], problem, domain).reaches_goal


def test_an_undeclared_type_asks_for_any_object() -> None:
    domain = parse_domain("(define (domain d) (:action a :parameters (?x - thing) :effect (p ?x)))")
    assert execute([{("a", "rock")}], PROBLEM, domain).state >= {("p", "rock")}


def test_types_can_be_ignored() -> None:
    drive = frozenset({("at", "rock", "town"), ("road", "town", "depot")})
    problem = Problem("p", "lorry", PROBLEM.objects, drive, frozenset({("at", "rock", "depot")}))
    assert not execute([{("drive", "rock", "town", "depot")}], problem, LORRY).reaches_goal
    assert execute([{("drive", "rock", "town", "depot")}], problem, LORRY.without_types()).reaches_goal


def test_the_domain_says_what_a_constant_is() -> None:
    """An object that the problem declares again, as something else, stays what the domain declares."""
    domain = parse_domain(
        "(define (domain d) (:types car boat) (:constants k - car)"
        " (:action go :parameters (?x - car) :effect (gone ?x)))"
    )
    problem = Problem("p", "d", {"k": "boat"}, frozenset(), frozenset({("gone", "k")}))
    assert solve(problem, PlanningDomain(domain)) == Solution((("go", "k"),), frozenset({("gone", "k")}))
    assert execute([{("go", "k")}], problem, domain).reaches_goal


@settings(max_examples=scaled(60), deadline=None)
@given(st.integers(0, 10**9))
def test_random_walks_go_as_the_judge_says(seed: int) -> None:
    problem, domain = random_task(seed)
    choose = Random(seed)
    names = sorted({**problem.objects, **domain.constants})
    plan = []
    for _ in range(6):
        operator = choose.choice(domain.operators)
        plan.append((operator.name, *(choose.choice(names) for _ in operator.parameters)))
    execution = execute([{action} for action in plan], problem, domain)
    failed = execution.failed_step
    done = plan if failed is None else plan[: failed - 1]
    assert exhaustive.state_after(problem, done, as_the_judge_reads(domain)) == execution.state
    if failed is not None:
        assert exhaustive.state_after(problem, plan[:failed], as_the_judge_reads(domain)) is None
        assert not execution.reaches_goal
    else:
        assert execution.reaches_goal == (problem.goal <= execution.state)


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
    """Without interference, and only then, all orders of a step's actions can be executed and end in one state."""
    rng = Random(11)
    outcomes = {True: 0, False: 0}
    for _ in range(4_000):
        operators = [random_operator(rng, name) for name in ("a", "b", "c")[: rng.randint(1, 3)]]
        init = frozenset(fact for fact in FACTS if rng.random() < 0.6)
        step = frozenset((operator.name,) for operator in operators)
        problem = Problem("p", "d", {}, init, frozenset())
        execution = execute((step,), problem, Domain("d", {}, {}, {}, tuple(operators)))
        ends = {run_in_order(order, init) for order in permutations(operators)}
        possible = len(ends) == 1 and None not in ends
        assert (execution.failed_step is None) == possible, (operators, init, execution)
        if possible:
            assert execution.state == ends.pop()
        outcomes[possible] += 1
    assert min(outcomes.values()) > 500


def test_the_answers_to_one_task_have_places_of_their_own_in_a_cache() -> None:
    """Domains of one name with the same actions: each was compared with all others, a hundred times as slow."""
    nothing: State = frozenset()
    answers = [
        Domain("d", {}, {}, {}, (Operator("go", (), nothing, nothing, frozenset({("at", str(place))}), nothing),))
        for place in range(100)
    ]
    assert len({hash(domain) for domain in answers}) > 90


def test_sequences_follow_the_textbook() -> None:
    rng = Random(12)
    for _ in range(400):
        operators = [random_operator(rng, name) for name in "abc"]
        init = frozenset(fact for fact in FACTS if rng.random() < 0.6)
        goal = frozenset(fact for fact in FACTS if rng.random() < 0.3)
        plan = [rng.choice(operators) for _ in range(rng.randint(0, 5))]
        problem = Problem("p", "d", {}, init, goal)
        execution = execute(
            [{(operator.name,)} for operator in plan], problem, Domain("d", {}, {}, {}, tuple(operators))
        )
        state = init
        failed = None
        for number, operator in enumerate(plan, 1):
            if not operator.applicable(state):
                failed = number
                break
            state = operator.apply(state)
        assert execution.failed_step == failed
        assert {*execution.unmet} == goal - state
