"""The rules of the three domains, verdicts and certificates against enumeration of every reachable state.

On adversarial random problems; ``python -m tests.measure.exhaustive`` makes the same comparisons on any number of them.
"""

from __future__ import annotations

from random import Random

import pytest
from pddl_eval.definition.domains import known_domain

from tests.judges.exhaustive import DOMAINS
from tests.measure.exhaustive import (
    AGREED,
    SKIPPED,
    certificate_findings,
    draw,
    overloaded_findings,
    problem_findings,
    verdict_findings,
)
from tests.support.random_problems import random_pair, random_problem
from tests.support.volume import in_two_sizes, seeded


@pytest.mark.parametrize("domain", sorted(DOMAINS))
@seeded(12, full=300)
def test_closed_goals_and_plans_are_those_of_exhaustive_search(seed: int, domain: str) -> None:
    """cl(g) to the atom or a proof that there is none, and a plan that the judge can execute."""
    problem = random_problem(Random(seed), domain)
    wrong = [finding for finding in problem_findings(problem, known_domain(domain)) if finding.outcome != AGREED]
    assert not wrong, problem


@pytest.mark.parametrize("domain", sorted(DOMAINS))
@seeded(6, full=200)
def test_verdicts_are_those_of_the_definition(seed: int, domain: str) -> None:
    """Both modes, with types and without; the object map maps initial state and closed goal."""
    pair = random_pair(Random(seed), domain)
    found = verdict_findings(pair, known_domain(domain))
    assert not [finding for finding in found if finding.outcome not in (AGREED, SKIPPED)], pair


@pytest.mark.parametrize("domain", sorted(DOMAINS))
@seeded(6, full=200)
def test_certificates_are_equal_exactly_for_equivalent_problems(seed: int, domain: str) -> None:
    pair = random_pair(Random(seed), domain)
    found = certificate_findings(pair, known_domain(domain))
    assert not [finding for finding in found if finding.outcome != AGREED], pair


@pytest.mark.parametrize("domain", ["blocksworld", "gripper"])
@in_two_sizes(6, full=300)
def test_predicates_that_share_a_name_are_as_many_as_their_numbers_of_arguments(domain: str, cases: int) -> None:
    for number in range(cases):
        pair = draw(domain, 0, number)
        found = list(overloaded_findings(pair, domain, Random(number)))
        assert [finding for finding in found if finding.outcome not in (AGREED, SKIPPED)] == [], number
