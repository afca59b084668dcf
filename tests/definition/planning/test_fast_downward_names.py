"""Plain names: the rewritten task is the same task, and its text reads back as the value that it was written from."""

from __future__ import annotations

import re
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pddl_eval.definition.domains import PlanningDomain
from pddl_eval.definition.model import Problem, domain_to_pddl, problem_to_pddl
from pddl_eval.definition.pddl import not_executed, parse_domain, parse_problem
from pddl_eval.definition.planning import Solution, solve
from pddl_eval.definition.planning.fast_downward import with_plain_names
from pddl_eval.definition.planning.planners import reads_numbers
from pddl_eval.definition.validation import execute
from pddl_eval.definition.verdict import Unsolvable

from tests.judges.random_domains import Draw
from tests.support.ipc_domains import DOMAINS
from tests.support.random_tasks import random_task
from tests.support.volume import scaled

HOSTILE = ["(", ")", ";", "a b", "?x", "-", "=", "", "ö", "and", "not", "x" * 5_000, "p0", "o0", "\n", '"']


@pytest.mark.parametrize("name", sorted(DOMAINS))
def test_domain_text_reads_back_as_the_domain(name: str) -> None:
    assert parse_domain(domain_to_pddl(DOMAINS[name])) == DOMAINS[name]


@settings(max_examples=scaled(100), deadline=None)
@given(st.integers(0, 10**9))
def test_texts_of_random_tasks_read_back(seed: int) -> None:
    problem, domain, _ = with_plain_names(*random_task(seed))
    assert parse_domain(domain_to_pddl(domain)) == domain
    read = parse_problem(problem_to_pddl(problem), domain.constants)
    assert (read.objects, read.init, read.goal) == (problem.objects, problem.init, problem.goal)


@settings(max_examples=scaled(60), deadline=None)
@given(st.integers(0, 10**9))
def test_the_rewritten_task_is_solvable_when_the_task_is(seed: int) -> None:
    problem, domain = random_task(seed)
    plain_problem, plain_domain, names = with_plain_names(problem, domain)
    found = solve(plain_problem, PlanningDomain(plain_domain))
    if isinstance(found, Solution):
        original = [{tuple(names[word] for word in action)} for action in found.plan]
        assert execute(original, problem, domain).reaches_goal
    else:
        assert isinstance(found, Unsolvable)
        assert isinstance(solve(problem, PlanningDomain(domain)), Unsolvable)


@pytest.mark.parametrize("seed", range(scaled(40)))
def test_a_task_with_adl_and_rules_is_the_same_once_its_text_is_read(seed: int) -> None:
    """Types of quantified variables, hidden variables, nested conditions: as many reachable states, as many steps."""
    draw = Draw(Random(seed))
    domain = parse_domain(draw.domain())
    problem = parse_problem(draw.problem(), domain.constants)
    if reads_numbers(problem.conjuncts, domain) or not_executed(domain):
        return
    plain_problem, plain_domain, names = with_plain_names(problem, domain)
    read_domain = parse_domain(domain_to_pddl(plain_domain))
    read_problem = parse_problem(problem_to_pddl(plain_problem), read_domain.constants)
    without = replace(problem, values={}, formulas=tuple(each for each in problem.formulas if each[0] == ":goal"))
    costless = parse_domain(domain_to_pddl(domain))
    ours, plain = (
        solve(*each) for each in ((without, PlanningDomain(costless)), (read_problem, PlanningDomain(read_domain)))
    )
    assert type(ours) is type(plain)
    if isinstance(ours, Solution) and isinstance(plain, Solution):
        assert len(ours.plan) == len(plain.plan)
        steps = [{tuple(names[word] for word in action)} for action in plain.plan]
        assert execute(steps, without, costless).reaches_goal


def test_no_name_of_the_task_is_left_in_the_text() -> None:
    domain = parse_domain("(define (domain d) (:types t) (:action a :parameters (?v - t) :effect (p ?v)))")
    init = frozenset((name, name) for name in HOSTILE)
    problem = Problem("(", ")", dict.fromkeys(HOSTILE, "t"), init, frozenset({("p", "(")}) | {(")", "a b")})
    plain_problem, plain_domain, names = with_plain_names(problem, domain)
    text = domain_to_pddl(plain_domain) + problem_to_pddl(plain_problem)
    keywords = {"define", "domain", "problem", "object", "and", "-", *re.findall(r":[a-z-]+", text)}
    plain = {"plain-domain", "plain-problem", "a0", "p0", "p1", "t0", "?x0"}
    assert set(re.findall(r"[^\s()]+", text)) <= keywords | plain | {f"o{number}" for number in range(len(HOSTILE))}
    assert sorted(set(names.values()) - {"a"}) == sorted(HOSTILE)
