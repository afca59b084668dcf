"""Verdicts and certificates against the definition of equivalence, decided by enumeration, on adversarial random pairs.

``python -m tests.measure.exhaustive`` makes the same comparisons on any number of pairs.
"""

from __future__ import annotations

from random import Random

import pytest
from pddl_eval.definition.domains import known_domain

from tests.exhaustive import DOMAINS
from tests.measure.exhaustive import AGREED, SKIPPED, certificate_findings, verdict_findings
from tests.random_problems import random_pair
from tests.volume import in_two_sizes, with_seeds


@pytest.mark.parametrize("domain", sorted(DOMAINS))
@in_two_sizes(25, full=200)
def test_verdicts_are_those_of_the_definition(domain: str, cases: int) -> None:
    """Both modes, with types and without; the object map maps initial state and closed goal."""

    def check(seed: int) -> None:
        pair = random_pair(Random(seed), domain)
        found = verdict_findings(pair, known_domain(domain))
        assert not [finding for finding in found if finding.outcome not in (AGREED, SKIPPED)], pair

    with_seeds(cases, check)


@pytest.mark.parametrize("domain", sorted(DOMAINS))
@in_two_sizes(25, full=200)
def test_certificates_are_equal_exactly_for_equivalent_problems(domain: str, cases: int) -> None:
    def check(seed: int) -> None:
        pair = random_pair(Random(seed), domain)
        found = certificate_findings(pair, known_domain(domain))
        assert not [finding for finding in found if finding.outcome != AGREED], pair

    with_seeds(cases, check)
