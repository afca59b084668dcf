"""A known domain in other words is decided by the known rules; a domain that only looks like one is not."""

import re

import pytest
from pddl_eval.definition.domains import NotCovered, planning_domain
from pddl_eval.definition.domains.renaming import recognised
from pddl_eval.definition.model import Problem
from pddl_eval.definition.pddl import parse_domain
from pddl_eval.definition.task import Task, read_task
from pddl_eval.definition.verdict import Unsolvable

FOUR_OPERATORS = """
(define (domain blocks-4ops) (:requirements :strips)
  (:predicates (handempty) (hold ?x) (free ?x) (above ?x ?y) (ontable ?x))
  (:action put-on :parameters (?under ?x) :precondition (and (hold ?x) (free ?under))
    :effect (and (handempty) (above ?x ?under) (free ?x) (not (hold ?x)) (not (free ?under))))
  (:action take-off :parameters (?x ?under) :precondition (and (above ?x ?under) (free ?x) (handempty))
    :effect (and (hold ?x) (free ?under) (not (above ?x ?under)) (not (free ?x)) (not (handempty))))
  (:action pick-up :parameters (?x) :precondition (and (free ?x) (ontable ?x) (handempty))
    :effect (and (hold ?x) (not (free ?x)) (not (ontable ?x)) (not (handempty))))
  (:action put-down :parameters (?x) :precondition (hold ?x)
    :effect (and (free ?x) (handempty) (ontable ?x) (not (hold ?x)))))
"""


def test_blocks_world_in_other_words_keeps_its_rules() -> None:
    domain = planning_domain(FOUR_OPERATORS)
    assert domain is not None and domain.rules is not None
    blocks = [f"b{i}" for i in range(40)]
    init = {("handempty",)} | {("free", b) for b in blocks} | {("ontable", b) for b in blocks}
    init |= {("arm-empty",), ("color", "b0", "b1")}
    goal = frozenset(("above", blocks[i], blocks[i + 1]) for i in range(39))
    problem = Problem("p", "blocks-4ops", dict.fromkeys(blocks, "object"), frozenset(init), goal)
    closure = Task(problem, domain).closure
    assert isinstance(closure, frozenset)
    assert closure - goal == {
        ("handempty",),
        ("free", "b0"),
        ("ontable", "b39"),
        ("arm-empty",),
        ("color", "b0", "b1"),
    }
    start = domain.rules(problem, True)
    assert not isinstance(start, NotCovered)
    reached = start.goal(goal)
    assert not isinstance(reached, Unsolvable)
    assert ("put-on", "b39", "b38") in reached.plan and ("pick-up", "b38") in reached.plan


@pytest.mark.parametrize(
    ("change", "into"),
    [
        ("(not (handempty))))\n  (:action put-down", "(not (hold ?x))))\n  (:action put-down"),
        (":precondition (hold ?x)", ":precondition (and (hold ?x) (free ?x))"),
        ("(:action put-down", "(:action noop :parameters () :effect (handempty)) (:action put-down"),
    ],
)
def test_another_domain_is_not_taken_for_blocks_world(change: str, into: str) -> None:
    assert change in FOUR_OPERATORS
    domain = planning_domain(FOUR_OPERATORS.replace(change, into))
    assert domain is not None and domain.rules is None


def test_reasons_are_in_the_given_words() -> None:
    domain = planning_domain(FOUR_OPERATORS)
    assert domain is not None and domain.rules is not None
    init = frozenset({("handempty",), *((state, block) for state in ("free", "ontable") for block in "abc")})
    start = domain.rules(Problem("p", "blocks-4ops", dict.fromkeys("abc", "object"), init, frozenset()), True)
    assert not isinstance(start, NotCovered)
    goals = {
        "(red a) is not true initially and no operator can make it true": {("red", "a")},
        "(on a b) is not true initially and no operator can make it true": {("on", "a", "b")},
        "(above a b) and (above c b) are never true together": {("above", "a", "b"), ("above", "c", "b")},
        "(above a b) and (above b a) are never true together": {("above", "a", "b"), ("above", "b", "a")},
    }
    for reason, goal in goals.items():
        proof = start.goal(frozenset(goal))
        assert isinstance(proof, Unsolvable)
        assert proof.reason == reason


@pytest.mark.parametrize("name", ["blocksworld", "gripper", "floor-tile"])
def test_every_known_domain_is_recognised_in_its_own_words(name: str) -> None:
    known = planning_domain(name)
    assert known is not None
    renaming = recognised(known.domain, known.structure)
    assert renaming is not None
    assert set(renaming.operators) == {operator.name for operator in known.domain.operators}


def test_rules_do_not_read_the_costs_of_a_known_domain_in_other_words() -> None:
    priced = FOUR_OPERATORS.replace("(:action", "(:functions (total-cost)) (:action", 1)
    priced = re.sub(r":effect \(and", ":effect (and (increase (total-cost) 1)", priced)
    problem = (
        f"(define (problem p) (:domain {parse_domain(priced).name}) (:objects a b)"
        " (:init (handempty) (free a) (free b) (ontable a) (ontable b) (= (total-cost) 0)) (:goal (and (above a b)))"
        " (:metric minimize (total-cost)))"
    )
    assert isinstance(read_task(problem, priced).plan, tuple)
