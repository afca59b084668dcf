"""What only the kernel decides, beyond the states that are enumerated: each yes is executed by the definition."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, permutations

import pytest
from pddl_eval import DomainScores, UnsolvableError, certificate, compare_domains, counterexample, fully_specify, kernel
from pddl_eval.definition.domains import PlanningDomain, blocksworld, gripper
from pddl_eval.definition.metrics import read_answer
from pddl_eval.definition.model import Atom, Domain, Problem, problem_to_pddl
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.definition.pddl import parse_domain
from pddl_eval.definition.planning import Solution
from pddl_eval.definition.validation import execute_actions
from pddl_eval.definition.verdict import ProblemVerdict
from pddl_eval.kernel import tables

from tests.support.differential import columns_of, has_many_states, needs_kernel
from tests.support.towers import blocks

pytestmark = [needs_kernel, pytest.mark.xdist_group("kernel")]

PAINT = "(:action paint :parameters (?x) :precondition (painter ?x) :effect (painted ?x)))"


def without_rules(text: str) -> tuple[str, Domain]:
    """A known domain with an operator more, so that no rules decide it."""
    more = f"{text.rstrip()[:-1]} {PAINT}"
    return more, parse_domain(more)


BLOCKS_TEXT, BLOCKS = without_rules(blocksworld.PDDL)
GRIPPER_TEXT, GRIPPER = without_rules(gripper.PDDL)


def scored(reference: Problem, generated: Problem, domain: str) -> ProblemVerdict:
    """The kernel's verdict on a pair that the definition does not decide."""
    texts = [problem_to_pddl(problem) for problem in (reference, generated)]
    assert has_many_states({"reference_problem": texts[0], "generated_problem": texts[1], "domain": domain})
    found = kernel.problem_verdict(texts[0], texts[1], False, domain, ScoringOptions())
    assert found is not None
    return found


def assert_executes(verdict: ProblemVerdict, problem: Problem, domain: Domain) -> None:
    assert verdict.solvable
    assert verdict.plan
    assert execute_actions(verdict.plan, problem, domain).reaches_goal


@pytest.mark.parametrize("count", [8, *(pytest.param(each, marks=pytest.mark.slow) for each in (20, 40))])
def test_rebuilds_towers(count: int) -> None:
    for seed in range(2):
        problem = blocks(seed, count)
        other = replace(problem, goal=problem.goal - {("arm-empty",)})
        verdict = scored(problem, other, BLOCKS_TEXT)
        assert verdict.equivalent
        assert_executes(verdict, other, BLOCKS)


def test_carries_thirty_balls() -> None:
    balls = [f"ball{number}" for number in range(30)]
    init: set[Atom] = {("room", "a"), ("room", "b"), ("at-robby", "a"), ("gripper", "left"), ("free", "left")}
    init |= {(predicate, ball, *more) for ball in balls for predicate, *more in (["ball"], ["at", "a"])}
    objects = dict.fromkeys(["a", "b", "left", *balls], "object")
    problem = Problem("p", "gripper", objects, frozenset(init), frozenset(("at", ball, "b") for ball in balls))
    assert_executes(scored(problem, problem, GRIPPER_TEXT), problem, GRIPPER)


def test_a_missing_atom_among_twenty_blocks_is_refuted() -> None:
    """What models forget: one ``clear`` of the initial state. The block can never be touched."""
    problem = blocks(7, 20)
    top = min(atom for atom in problem.init if atom[0] == "clear")
    verdict = scored(problem, replace(problem, init=problem.init - {top}), BLOCKS_TEXT)
    assert (verdict.verdict, verdict.solvable) == ("init_differs", False)


@pytest.mark.parametrize(
    "goal",
    [
        {("on", "b1", "b1")},
        {("on", "b1", "b2"), ("on", "b3", "b2")},
        {("on", "b1", "b2"), ("on", "b2", "b1")},
        {("on", "b1", "b2"), ("on", "b2", "b3"), ("on", "b3", "b1")},
        {("holding", "b1"), ("holding", "b2")},
        {("on", "b1", "b2"), ("painted", "b1")},
    ],
)
def test_contradictory_goals_are_refuted_in_a_huge_state_space(goal: set[Atom]) -> None:
    problem = blocks(0, 20)
    verdict = scored(problem, replace(problem, goal=frozenset(goal)), BLOCKS_TEXT)
    assert (verdict.verdict, verdict.solvable) == ("unsolvable", False)


def own(problem: Problem) -> str:
    return problem_to_pddl(problem)


def test_goals_that_differ_have_a_counterexample_that_executes() -> None:
    for seed in range(3):
        problem = blocks(seed, 9)
        atom = min(atom for atom in problem.goal if atom[0] == "on")
        weaker = replace(problem, goal=problem.goal - {atom, *(each for each in problem.goal if each[0] == "clear")})
        for reference, generated in ((problem, weaker), (weaker, problem)):
            assert scored(reference, generated, BLOCKS_TEXT).verdict == "goal_differs"
            found = counterexample(own(reference), own(generated), domain=BLOCKS_TEXT)
            assert found is not None
            satisfied, other = reference.goal, generated.goal
            if found.satisfies == "generated":
                satisfied, other = other, satisfied
            end = execute_actions(found.plan, replace(reference, goal=satisfied), BLOCKS)
            assert end.reaches_goal
            assert found.lacking == other - end.state != frozenset()


def test_functions_on_one_problem_ask_for_what_takes_a_search() -> None:
    problem = blocks(0, 20)
    weaker = replace(problem, goal=problem.goal - {("arm-empty",)})
    closures = [fully_specify(own(each), BLOCKS_TEXT) for each in (problem, weaker)]
    assert closures[0] == closures[1] >= problem.goal
    assert certificate(own(problem), BLOCKS_TEXT) == certificate(own(weaker), BLOCKS_TEXT)
    circle = replace(problem, goal=frozenset({("on", "b1", "b2"), ("on", "b2", "b1")}))
    with pytest.raises(UnsolvableError, match="is excluded"):
        fully_specify(own(circle), BLOCKS_TEXT)
    assert certificate(own(circle), BLOCKS_TEXT) != certificate(own(problem), BLOCKS_TEXT)
    other = BLOCKS_TEXT.replace("(painter ?x)", "(clear ?x)")
    scores = compare_domains(BLOCKS_TEXT, other, problem=own(problem))
    assert isinstance(scores, DomainScores)
    assert (scores.domain_plan_valid, scores.domain_reference_plan_valid) == (True, True)


def test_a_reference_that_has_no_solution_is_invalid_whatever_the_answer() -> None:
    problem = blocks(0, 20)
    circle = replace(problem, goal=frozenset({("on", "b1", "b2"), ("on", "b2", "b1")}))
    for generated, solvable in ((circle, False), (problem, True)):
        verdict = scored(circle, generated, BLOCKS_TEXT)
        assert (verdict.verdict, verdict.equivalent, verdict.solvable) == ("reference_invalid", None, solvable)
        assert verdict.detail.startswith("the reference has no solution: no reachable state has")
    unread = kernel.problem_verdict(own(circle), "Sorry.", False, BLOCKS_TEXT, ScoringOptions())
    assert unread is not None
    assert (unread.verdict, unread.parseable, unread.solvable) == ("reference_invalid", False, False)


def test_a_problem_without_a_reference_is_solved() -> None:
    problem = blocks(0, 20)
    circle = replace(problem, goal=frozenset({("on", "b1", "b2"), ("on", "b2", "b1")}))
    rows = [{"generated_problem": own(each), "domain": BLOCKS_TEXT} for each in (problem, circle)]
    scored = tables.score(columns_of(rows), ScoringOptions())
    assert scored is not None
    assert scored[0]["solvable"].to_pylist() == [True, False]
    assert scored[0]["verdict"].to_pylist() == [None, "unsolvable"]
    together = [{"generated_problem": own(problem), "generated_domain": BLOCKS_TEXT}]
    scored = tables.score(columns_of(together), ScoringOptions())
    assert scored is not None
    assert scored[0]["solvable"].to_pylist() == [True]


def test_a_cheapest_plan_beyond_enumeration() -> None:
    """A tower is turned upside down: each of its blocks is lifted once and put on the one that was on it."""
    names = [f"b{number}" for number in range(9)]
    tower = frozenset({("on", *pair) for pair in pairwise(names)})
    other = frozenset({("on", *pair) for pair in pairwise(names[::-1])})
    init = tower | {("clear", names[0]), ("on-table", names[-1]), ("arm-empty",)}
    found = kernel.cheapest(
        Problem("p", BLOCKS.name, dict.fromkeys(names, "object"), init, other), PlanningDomain(BLOCKS)
    )
    assert isinstance(found, Solution)
    assert len(found.plan) == 2 * len(names)


@pytest.mark.parametrize("kind", ["unreachable_atom", "unreachable_action", "landmark", "next_action"])
def test_questions_are_decided_as_by_enumeration(kind: str) -> None:
    problem = blocks(1, 5)
    text, options = problem_to_pddl(problem), ScoringOptions()
    says = ["none", "(on b0 b0)", "(holding b1)", "(clear b2)", "(on-table b3)", "(on b1 b2)", "(painted b0)"]
    says += [f"({name} {block})" for name in ("pick-up", "pickup", "paint") for block in ("b0", "b1", "b2")]
    says += [f"(unstack {one} {two})" for one, two in permutations(sorted(problem.objects)[:4], 2)]
    for said in says:
        row = {"question": kind, "generated_answer": said, "reference_problem": text, "domain": BLOCKS_TEXT}
        assert kernel.read_answer(row, options).verdict == read_answer(row, options).verdict, said


LAMPS = "".join(f" l{number}" for number in range(18))

CUT = """(define (domain cut) (:types lamp thing - object) (:predicates (lit ?l - lamp) (off ?l - lamp)
  (knife ?t - thing) (saw ?t - thing) (sharp ?t - thing) (near ?t - thing) (held ?t - thing) (free) (cut ?t - thing)
  (glued ?t - thing))
  (:action switch :parameters (?l - lamp) :precondition (off ?l) :effect (and (lit ?l) (not (off ?l))))
  (:action darken :parameters (?l - lamp) :precondition (lit ?l) :effect (and (off ?l) (not (lit ?l))))
  (:action take :parameters (?t - thing) :precondition (and (near ?t) (free)) :effect (and (held ?t) (not (free))))
  (:action drop :parameters (?t - thing) :precondition (held ?t) :effect (and (free) (not (held ?t))))
  (:action slice :parameters (?t ?w - thing) :precondition (and (held ?t) (near ?w) (or (knife ?t) (and (saw ?t)
    (sharp ?t)))) :effect (cut ?w)))"""

LOAF = f"""(define (problem p) (:domain cut) (:objects{LAMPS} - lamp loaf bread wood shelf - thing) (:goal (cut loaf))
  (:init {LAMPS.replace(" ", ") (off ")[2:]}) (near loaf) (near bread) (near shelf) (near wood) (knife bread) (saw wood)
  (free)))"""


@pytest.mark.parametrize(
    ("kind", "right", "wrong"),
    [
        ("next_action", ["(take bread)"], ["(take wood)", "(switch l0)", "none"]),
        ("landmark", ["(held bread)"], ["(lit l0)", "(held wood)", "none"]),
        ("unreachable_action", ["(slice wood loaf)"], ["(slice bread loaf)", "(darken l3)", "none"]),
        ("unreachable_atom", ["(glued loaf)"], ["(cut wood)", "(lit l5)"]),
    ],
)
def test_a_disjunction_among_a_million_states(kind: str, right: list[str], wrong: list[str]) -> None:
    """Only a knife cuts, for the saw is not sharp: without the disjunction everything would, or nothing."""
    row = {"question": kind, "reference_problem": LOAF, "domain": CUT}
    for said in [*right, *wrong]:
        found = kernel.read_answer({**row, "generated_answer": said}, ScoringOptions()).verdict
        assert found.correct is (said in right), (said, found.detail)


def test_cheapest_plans_where_many_objects_change_places() -> None:
    """Ten parcels to carry and ten that stay, over one bridge: what is carried first makes no difference."""
    carry = """(define (domain carry) (:predicates (at ?p ?x) (here ?x) (has ?p) (empty) (bridge ?x ?y) (parcel ?p))
      (:action take :parameters (?p ?x) :precondition (and (at ?p ?x) (here ?x) (empty) (parcel ?p))
        :effect (and (has ?p) (not (at ?p ?x)) (not (empty))))
      (:action leave :parameters (?p ?x) :precondition (and (has ?p) (here ?x))
        :effect (and (at ?p ?x) (empty) (not (has ?p))))
      (:action walk :parameters (?x ?y) :precondition (and (here ?x) (bridge ?x ?y))
        :effect (and (here ?y) (not (here ?x)))))"""
    parcels = [f"p{number}" for number in range(20)]
    init = [f"(parcel {each}) (at {each} west)" for each in parcels]
    problem = f"""(define (problem p) (:domain carry) (:objects west east {" ".join(parcels)})
      (:init (here west) (empty) (bridge west east) (bridge east west) {" ".join(init)})
      (:goal (and {" ".join(f"(at {each} {'east' if each in parcels[:10] else 'west'})" for each in parcels)})))"""
    row = {"question": "next_action", "reference_problem": problem, "domain": carry}
    said = {"(take p3 west)": True, "(take p12 west)": False, "(walk west east)": False}
    for answer, right in said.items():
        found = kernel.read_answer({**row, "generated_answer": answer}, ScoringOptions()).verdict
        assert found.correct is right, found.detail
    assert found.detail == "(walk west east): the cheapest plan that begins with it costs 41, not 39"
