"""The corpus: it is read whole, its problems have solutions, and the domains are of many kinds and sizes."""

from __future__ import annotations

from random import Random

import pytest
from pddl_eval.definition.domains import planning_domain
from pddl_eval.definition.model import Problem
from pddl_eval.definition.pddl import parse_domain, read_problem
from pddl_eval.definition.planning import solve
from pddl_eval.definition.verdict import Undecided, Unsolvable

from tests.corpus import ADL, CORPUS, SYMMETRIC
from tests.judges import interpreter
from tests.support.written_domain import read_written, spelled_out, write_domain


def problem_of(name: str) -> Problem:
    problem = read_problem(CORPUS[name].problem, parse_domain(CORPUS[name].domain).constants)
    assert isinstance(problem, Problem), problem
    return problem


def test_there_are_domains_of_every_kind_and_size() -> None:
    domains = {name: parse_domain(entry.domain) for name, entry in CORPUS.items()}
    assert len(domains) >= 25
    assert {len(domain.operators) for domain in domains.values()} >= {1, 2, 3, 4, 5, 6, 8, 9, 10, 12, 13, 15}
    assert [name for name, domain in domains.items() if domain.outside_strips] == sorted(ADL)
    assert {*ADL, *SYMMETRIC} < domains.keys() == {domain.name for domain in domains.values()}
    assert sum(bool(domain.constants) for domain in domains.values()) >= 5
    assert sum(not domain.types for domain in domains.values()) >= 8


@pytest.mark.parametrize("name", CORPUS)
def test_a_domain_is_written_as_it_is_read(name: str) -> None:
    written = read_written(CORPUS[name].domain)
    for seed in range(3):
        again = read_written(write_domain(written, Random(seed), any_order=bool(seed)))
        assert spelled_out(again) == spelled_out(written)
    domain = parse_domain(CORPUS[name].domain)
    assert len(written.operators) == len(domain.operators)
    assert dict(written.types) == domain.types


@pytest.mark.parametrize("name", sorted(CORPUS.keys() - {"deliveries"}))  # Nobody says what its steps cost.
def test_its_problem_has_a_solution(name: str) -> None:
    problem = problem_of(name)
    assert not problem.goal <= problem.init
    task = interpreter.read(*CORPUS[name])
    assert any(interpreter.satisfied(task, task.goal, state) for state in interpreter.reachable_states(task, 20_000))


@pytest.mark.parametrize("name", sorted(CORPUS.keys() - {*ADL, "deliveries"}))
def test_the_program_finds_a_plan(name: str) -> None:
    assert not isinstance(solve(problem_of(name), planning_domain(CORPUS[name].domain)), Unsolvable | Undecided)
