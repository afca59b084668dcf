"""Verdicts and certificates against the definition of equivalence, decided by enumeration, on nasty random pairs.

``python -m tests.exhaustive_run`` makes the same comparisons on as many pairs as one likes.
"""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pddl_eval.domains import known_domain

from tests.exhaustive import DOMAINS
from tests.exhaustive_run import AGREED, SKIPPED, certificate_findings, verdict_findings
from tests.random_problems import random_pair


@pytest.mark.parametrize("domain", sorted(DOMAINS))
@settings(max_examples=200, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_verdicts_are_those_of_the_definition(domain: str, seed: int) -> None:
    """Both modes, with types and without; the object map maps initial state and closed goal."""
    pair = random_pair(Random(seed), domain)
    found = verdict_findings(pair, known_domain(domain))
    assert not [finding for finding in found if finding.outcome not in (AGREED, SKIPPED)], pair


@pytest.mark.parametrize("domain", sorted(DOMAINS))
@settings(max_examples=200, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_certificates_are_equal_exactly_for_equivalent_problems(domain: str, seed: int) -> None:
    pair = random_pair(Random(seed), domain)
    found = certificate_findings(pair, known_domain(domain))
    assert not [finding for finding in found if finding.outcome != AGREED], pair
