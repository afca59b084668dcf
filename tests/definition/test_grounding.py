"""Which operators are reachable, what they lead to, which bounds hold."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pddl_eval.definition import grounding
from pddl_eval.definition.closure import ClosedGoal, closure
from pddl_eval.definition.domains import PlanningDomain
from pddl_eval.definition.grounding import may_be_added
from pddl_eval.definition.model import Atom, Domain, Operator, Problem
from pddl_eval.definition.pddl import parse_domain
from pddl_eval.definition.planning import solve
from pddl_eval.definition.state_space import StateSpace, ground_operators, still_reachable
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


def trip(**objects: str) -> Problem:
    init = {("at", "v", "a"), ("road", "a", "b"), ("road", "b", "c"), ("road", "z", "a"), ("tall", "v")}
    return Problem("p", "trucks", dict.fromkeys("abcz", "object") | objects, frozenset(init), frozenset())


def actions(problem: Problem, domain: Domain) -> set[tuple[str, ...]]:
    objects = {**problem.objects, **domain.constants}
    return {operator.action for operator in grounding.reachable_operators(objects, problem.init, domain)}


def test_only_reachable_operators_are_built() -> None:
    assert actions(trip(v="car"), TRUCKS) == {("move", "v", "a", "b"), ("move", "v", "b", "c")}


def test_types_decide_which_objects_fit() -> None:
    assert ("wash", "v") in actions(trip(v="truck"), TRUCKS)
    assert ("wash", "v") not in actions(trip(v="vehicle"), TRUCKS)
    assert actions(trip(v="spoon"), TRUCKS) == set()


def test_an_untyped_problem_in_an_untyped_domain_fits_everywhere() -> None:
    found = actions(trip(v="spoon").without_types(), TRUCKS.without_types())
    assert {("wash", name) for name in "abczv"} <= found


def test_constants_are_objects() -> None:
    domain = parse_domain("(define (domain d) (:constants k) (:action a :parameters (?x) :effect (done ?x)))")
    assert actions(Problem("p", "d", {"o": "object"}, frozenset(), frozenset()), domain) == {
        ("a", "k"),
        ("a", "o"),
    }


def test_the_domain_says_the_type_of_its_constants() -> None:
    """A problem that declares the constant as a boat changes nothing for grounding, closure, plan and execution."""
    domain = parse_domain("""(define (domain d) (:types car boat) (:constants k - car)
      (:action drive :parameters (?c - car) :effect (gone ?c)))""")
    problem = Problem("p", "d", {"k": "boat", "b": "boat"}, frozenset(), frozenset({("gone", "k")}))
    assert actions(problem, domain) == {("drive", "k")}
    assert closure(problem, StateSpace(problem, domain)) == ClosedGoal(frozenset({("gone", "k")}))
    assert execute([{("drive", "k")}], problem, domain).reaches_goal


def test_an_operator_that_adds_what_it_deletes_adds_it() -> None:
    domain = parse_domain("(define (domain d) (:action a :parameters (?x ?y) :effect (and (p ?x) (not (p ?y)))))")
    space = StateSpace(Problem("p", "d", {"o": "object"}, frozenset(), frozenset()), domain)
    assert [atoms for atoms, _ in space] == [frozenset(), {("p", "o")}]


def test_an_unreachable_goal_is_a_proof_that_names_the_atom() -> None:
    problem = replace(trip(v="car"), goal=frozenset({("at", "v", "b"), ("at", "v", "z")}))
    answer = closure(problem, StateSpace(problem, TRUCKS))
    assert isinstance(answer, Unsolvable)
    assert "(at v z)" in answer.reason


@pytest.mark.parametrize("limit", ["MAX_OPERATORS", "MAX_ATOMS", "MAX_WORK"])
def test_a_bound_that_is_hit_is_undecided(limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grounding, limit, 1)
    problem = trip(v="car")
    answer = closure(problem, StateSpace(problem, TRUCKS))
    assert isinstance(answer, Undecided)
    assert "more than 1 " in answer.reason


def test_what_nothing_adds_is_a_proof_also_where_the_operators_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """A boat can be painted where there is paint in its colour; formulas without effects change nothing of that."""
    domain = parse_domain(
        """(define (domain d) (:predicates (paint ?c) (painted ?b ?c) (wet) (dry) (on ?c))
        (:action paint :parameters (?b ?c) :precondition (and (paint ?c) (not (= ?b ?c)) (or (wet) (dry)))
          :effect (painted ?b ?c))
        (:action open :parameters (?c) :precondition (dry) :effect (when (wet) (on ?c))))"""
    )
    objects = dict.fromkeys(("boat", "red", "blue"), "object")
    problem = Problem("p", "d", objects, frozenset({("paint", "red"), ("dry",)}), frozenset())
    monkeypatch.setattr(grounding, "MAX_OPERATORS", 1)

    def solved(*goal: str) -> type:
        return type(solve(replace(problem, goal=frozenset({goal})), PlanningDomain(domain)))

    assert solved("painted", "boat", "blue") is solved("painted", "red", "red") is solved("paint", "blue") is Unsolvable
    assert solved("painted", "boat", "red") is solved("on", "red") is Undecided


def test_many_free_parameters_hit_a_bound_and_not_the_memory() -> None:
    domain = parse_domain("(define (domain d) (:action a :parameters (?a ?b ?c ?d ?e ?f ?g ?h) :effect (p ?a ?h)))")
    objects = {f"o{number}": "object" for number in range(100)}
    assert StateSpace(Problem("p", "d", objects, frozenset(), frozenset()), domain).limit is not None


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
    assert actions(Problem("p", "trucks", objects, frozenset(roads), frozenset()), TRUCKS) == set()


def check_states(problem: Problem, domain: Domain) -> None:
    """The states are the reachable ones; from each, the operators are those that grounding finds there."""
    states = exhaustive.reachable(problem, as_the_judge_reads(domain), limit=500)
    if states is None:
        return
    assert {atoms for atoms, _ in StateSpace(problem, domain)} == states
    objects = {**problem.objects, **domain.constants}
    for atom in frozenset[Atom]().union(*states) - problem.init:
        assert may_be_added(atom, objects, problem.init, domain)
    operators = ground_operators(problem, domain)
    for state in sorted(map(sorted, states))[:5]:
        later = frozenset(state)
        assert still_reachable(operators, later, domain) == ground_operators(replace(problem, init=later), domain)


@settings(max_examples=scaled(60), deadline=None)
@given(st.integers(0, 10**9))
def test_the_operators_lead_where_the_judge_s_do(seed: int) -> None:
    check_states(*random_task(seed))


@pytest.mark.parametrize("name", sorted(DOMAINS))
def test_the_operators_of_ipc_domains_lead_where_the_judge_s_do(name: str) -> None:
    for seed in range(30):
        check_states(PROBLEMS[name](seed), DOMAINS[name])
