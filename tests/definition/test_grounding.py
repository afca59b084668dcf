"""Ground tasks: which operators are reachable, what stays as it is, which bounds hold."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pddl_eval.definition import grounding
from pddl_eval.definition.closure import ClosedGoal, closure
from pddl_eval.definition.model import Domain, Operator, Problem
from pddl_eval.definition.pddl import parse_domain
from pddl_eval.definition.planning.planners import shortest_plan
from pddl_eval.definition.planning.task import GroundTask, ground
from pddl_eval.definition.validation import execute
from pddl_eval.definition.verdict import Undecided, Unsolvable

from tests.judges import exhaustive
from tests.support.ipc_domains import DOMAINS, PROBLEMS
from tests.support.random_tasks import as_the_judge_reads, random_task
from tests.support.volume import scaled

TRUCKS = parse_domain("""
(define (domain trucks) (:types truck car - vehicle)
  (:action move :parameters (?v - vehicle ?from ?to - town)
    :precondition (and (at ?v ?from) (road ?from ?to)) :effect (and (at ?v ?to) (not (at ?v ?from))))
  (:action wash :parameters (?t - truck) :precondition (not (clean ?t)) :effect (clean ?t)))
""")
"""``town`` is not declared: any object fits."""


def task_of(problem: Problem, domain: Domain) -> GroundTask:
    task = ground(problem, domain)
    assert isinstance(task, GroundTask)
    return task


def trip(**objects: str) -> Problem:
    init = {("at", "v", "a"), ("road", "a", "b"), ("road", "b", "c"), ("road", "z", "a"), ("tall", "v")}
    return Problem("p", "trucks", dict.fromkeys("abcz", "object") | objects, frozenset(init), frozenset())


def actions(task: GroundTask) -> set[tuple[str, ...]]:
    return {operator.action for operator in task.operators}


def test_only_reachable_operators_are_built() -> None:
    task = task_of(trip(v="car"), TRUCKS)
    assert actions(task) == {("move", "v", "a", "b"), ("move", "v", "b", "c")}
    assert task.always == {("road", "a", "b"), ("road", "b", "c"), ("road", "z", "a"), ("tall", "v")}
    assert set(task.atoms) == {("at", "v", "a"), ("at", "v", "b"), ("at", "v", "c")}


def test_types_decide_which_objects_fit() -> None:
    assert ("wash", "v") in actions(task_of(trip(v="truck"), TRUCKS))
    assert ("wash", "v") not in actions(task_of(trip(v="vehicle"), TRUCKS))
    assert actions(task_of(trip(v="spoon"), TRUCKS)) == set()


def test_an_untyped_problem_in_an_untyped_domain_fits_everywhere() -> None:
    task = task_of(trip(v="spoon").without_types(), TRUCKS.without_types())
    assert {("wash", name) for name in "abczv"} <= actions(task)


def test_constants_are_objects() -> None:
    domain = parse_domain("(define (domain d) (:constants k) (:action a :parameters (?x) :effect (done ?x)))")
    assert actions(task_of(Problem("p", "d", {"o": "object"}, frozenset(), frozenset()), domain)) == {
        ("a", "k"),
        ("a", "o"),
    }


def test_the_domain_says_the_type_of_its_constants() -> None:
    """A problem that declares the constant as a boat changes nothing for grounding, closure, plan and execution."""
    domain = parse_domain("""(define (domain d) (:types car boat) (:constants k - car)
      (:action drive :parameters (?c - car) :effect (gone ?c)))""")
    problem = Problem("p", "d", {"k": "boat", "b": "boat"}, frozenset(), frozenset({("gone", "k")}))
    assert actions(task_of(problem, domain)) == {("drive", "k")}
    assert shortest_plan(problem, domain) == (("drive", "k"),)
    assert closure(problem, domain) == ClosedGoal(frozenset({("gone", "k")}))
    assert execute([{("drive", "k")}], problem, domain).reaches_goal


def test_a_negative_precondition_that_stays_true_stops_an_operator_and_what_needs_it() -> None:
    domain = parse_domain("""(define (domain d)
      (:action a :precondition (not (locked)) :effect (p)) (:action b :precondition (p) :effect (q)))""")
    locked = Problem("p", "d", {}, frozenset({("locked",)}), frozenset({("q",)}))
    assert actions(task_of(locked, domain)) == set()
    assert actions(task_of(replace(locked, init=frozenset()), domain)) == {("a",), ("b",)}


def test_an_operator_that_adds_what_it_deletes_adds_it() -> None:
    domain = parse_domain("(define (domain d) (:action a :parameters (?x ?y) :effect (and (p ?x) (not (p ?y)))))")
    task = task_of(Problem("p", "d", {"o": "object"}, frozenset(), frozenset()), domain)
    (only,) = task.operators
    assert task.state(only.apply(0)) == {("p", "o")}


def test_an_unreachable_goal_is_a_proof_that_names_the_atom() -> None:
    answer = task_of(trip(v="car"), TRUCKS).bits_of_goal({("at", "v", "b"), ("at", "v", "z")})
    assert isinstance(answer, Unsolvable)
    assert "(at v z)" in answer.reason


@pytest.mark.parametrize("limit", ["MAX_OPERATORS", "MAX_ATOMS", "MAX_WORK"])
def test_a_bound_that_is_hit_is_undecided(limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grounding, limit, 1)
    answer = ground(trip(v="car", not_seen_in_another_test=limit), TRUCKS)
    assert isinstance(answer, Undecided)
    assert "more than 1 " in answer.reason


def test_many_free_parameters_hit_a_bound_and_not_the_memory() -> None:
    domain = parse_domain("(define (domain d) (:action a :parameters (?a ?b ?c ?d ?e ?f ?g ?h) :effect (p ?a ?h)))")
    objects = {f"o{number}": "object" for number in range(100)}
    assert isinstance(ground(Problem("p", "d", objects, frozenset(), frozenset()), domain), Undecided)


class Counted(str):
    """A word that counts how often sets and dictionaries look at it."""

    looks = 0

    def __hash__(self) -> int:
        Counted.looks += 1
        return super().__hash__()


def looks_at_a_chain(length: int) -> int:
    """How often words are looked at to ground an operator with a chain of preconditions."""
    variables = [Counted(f"?{n}") for n in range(length + 1)]
    chain = frozenset(zip(["on"] * length, variables[:-1], variables[1:], strict=True))
    parameters = tuple((variable, ("object",)) for variable in variables)
    held = frozenset({("held", variables[0])})
    pick = Operator("pick", parameters, chain, frozenset(), held, frozenset())
    Counted.looks = 0
    found = grounding.reachable_operators(
        {"a": "object"}, frozenset({("on", "a", "a")}), Domain("d", {}, {}, {}, (pick,))
    )
    assert [ground.action[1:] for ground in found] == [("a",) * (length + 1)]
    return Counted.looks


def test_an_operator_is_prepared_in_linear_time() -> None:
    assert looks_at_a_chain(400) < 2.5 * looks_at_a_chain(200)


def test_objects_that_fit_a_type_are_found_once_for_all_parameters() -> None:
    """Each parameter had a copy of them, and each copy looked at all objects again."""
    objects = {Counted(f"x{n}"): "car" for n in range(300)} | {Counted("y"): "road"}
    parameters = tuple((f"?{n}", ("car",)) for n in range(300))
    needed = frozenset(("at", variable) for variable, _ in parameters)
    pick = Operator("pick", parameters, needed, frozenset(), frozenset({("held", "?0")}), frozenset())
    domain = Domain("d", {"car": "object", "road": "object"}, {}, {}, (pick,))
    Counted.looks = 0
    assert (
        len(grounding.reachable_operators(objects, frozenset({("at", name) for name in [*objects][:1]}), domain)) == 1
    )
    assert Counted.looks < 20 * len(objects)


def test_atoms_that_never_change_hit_no_bound() -> None:
    roads = {("road", f"o{a}", f"o{b}") for a in range(120) for b in range(120)}
    objects = {f"o{number}": "object" for number in range(120)}
    task = ground(Problem("p", "trucks", objects, frozenset(roads), frozenset()), TRUCKS)
    assert isinstance(task, GroundTask)
    assert len(task.always) == 14_400


def test_what_is_outside_strips_is_undecided() -> None:
    domain = parse_domain("(define (domain d) (:action a :effect (when (p) (q))))")
    assert ground(Problem("p", "d", {}, frozenset(), frozenset()), domain) == Undecided(
        "the domain is not STRIPS (a: when)"
    )


def check_operators(problem: Problem, domain: Domain) -> None:
    """Each operator that changes a reachable state, and no other change, is in the ground task."""
    states = exhaustive.reachable(problem, as_the_judge_reads(domain), limit=500)
    if states is None:
        return
    task = task_of(problem, domain)
    judged = exhaustive.steps(problem, as_the_judge_reads(domain))
    for state in list(states)[:40]:
        bits = sum(task.bit[atom] for atom in state - task.always)
        assert task.state(bits) == state
        expected = {*judged(state).values()} - {state}
        found = {task.state(operator.apply(bits)) for operator in task.operators if operator.applicable(bits)}
        assert found - {state} == expected


@settings(max_examples=scaled(60), deadline=None)
@given(st.integers(0, 10**9))
def test_the_ground_task_moves_as_the_judge_does(seed: int) -> None:
    check_operators(*random_task(seed))


@pytest.mark.parametrize("name", sorted(DOMAINS))
def test_the_ground_task_of_ipc_domains_moves_as_the_judge_does(name: str) -> None:
    for seed in range(30):
        check_operators(PROBLEMS[name](seed), DOMAINS[name])
