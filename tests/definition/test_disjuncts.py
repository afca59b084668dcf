"""Operators with disjunctions against their meaning: an action is applicable where one of those that it becomes is."""

from __future__ import annotations

from itertools import combinations, product

import pytest
from pddl_eval import judge_answer
from pddl_eval.definition.disjuncts import MOST_DISJUNCTS, split
from pddl_eval.definition.domains import PlanningDomain
from pddl_eval.definition.formulas import World
from pddl_eval.definition.model import Problem
from pddl_eval.definition.pddl import parse_domain, parse_problem
from pddl_eval.definition.validation import Failure, taken

CONDITIONS = [
    "(or (p ?x) (q ?x))",
    "(and (r) (or (p ?x) (not (q ?x))) (or (q ?x) (p a)))",
    "(imply (p ?x) (and (q ?x) (r)))",
    "(not (and (p ?x) (q ?x)))",
    "(not (or (p ?x) (imply (q ?x) (r))))",
    "(or (= ?x a) (p ?x))",
    "(or (and (p ?x) (not (p a))) (not (imply (r) (= ?x b))))",
    "(or (and) (p ?x))",
]
ATOMS = [("p", "a"), ("p", "b"), ("q", "a"), ("q", "b"), ("r",)]


@pytest.mark.parametrize("condition", CONDITIONS)
def test_an_action_is_applicable_where_one_of_its_disjuncts_is(condition: str) -> None:
    domain = parse_domain(
        f"(define (domain d) (:action act :parameters (?x) :precondition {condition} :effect (done ?x)))"
    )
    plain = split(domain)
    assert not any(operator.formulas for operator in plain.domain.operators)
    assert plain.domain.outside_strips == ()
    for count, name in product(range(len(ATOMS) + 1), "ab"):
        for state in combinations(ATOMS, count):
            problem = Problem("p", "d", {"a": "object", "b": "object"}, frozenset(state), frozenset())
            can = not isinstance(taken({("act", name)}, World(problem, domain)), Failure)
            world, ways = World(problem, plain.domain), plain.of(("act", name))
            assert can == any(not isinstance(taken({way}, world), Failure) for way in ways), (state, name)
            assert plain.own(ways) == (("act", name),) * len(ways)


@pytest.mark.parametrize(
    "condition",
    [
        "(or (p ?x) (exists (?y) (q ?y)))",
        "(or (p ?x) (> (f) 1))",
        "(and (p ?x) (or))",
        f"(and {' (or (p ?x) (q ?x))' * 6})",
    ],
)
def test_what_is_not_made_of_few_literals_stays(condition: str) -> None:
    domain = parse_domain(
        f"(define (domain d) (:action act :parameters (?x) :precondition {condition} :effect (done ?x)))"
    )
    assert MOST_DISJUNCTS < 2**6
    assert split(domain).domain is domain


def test_effects_and_other_constructs_stay() -> None:
    text = """(define (domain d) (:functions (total-cost)) (:action act :parameters (?x)
      :precondition (or (p ?x) (q ?x)) :effect (and (done ?x) {} (increase (total-cost) 2))))"""
    problem = parse_problem("(define (problem x) (:domain d) (:objects a) (:init (p a)) (:goal (done a)))")
    plain = parse_domain(text.format(""))
    assert PlanningDomain(plain).is_searched_in(problem)
    assert {each.formulas for each in split(plain).domain.operators} == {
        ((":effect", ("increase", ("total-cost",), "2")),)
    }
    conditional = PlanningDomain(parse_domain(text.format("(when (p ?x) (q ?x))")))
    assert not conditional.is_searched_in(problem)


def test_an_action_whose_condition_is_met_in_no_way_is_never_applied() -> None:
    domain = """(define (domain d) (:predicates (p ?x) (q ?x) (r ?x))
      (:action act :parameters (?x) :precondition (or (p ?x) (q ?x)) :effect (r ?x))
      (:action make :parameters (?x) :precondition (r ?x) :effect (q ?x)))"""
    problem = "(define (problem x) (:domain d) (:objects a b) (:init (r a)) (:goal (q a)))"
    asked = [judge_answer("unreachable_action", said, problem, domain) for said in ("(act b)", "(act a)")]
    assert [each.correct for each in asked] == [True, False]
    assert asked[1].detail == "(act a) can be reached after (make a)"
