"""Pairs of problems with timed literals, constraints and preferences, in domains with durative actions."""

from __future__ import annotations

from random import Random

from tests.judges.timed_pairs import timed_pair, timed_pair_fault
from tests.support.volume import in_two_sizes


@in_two_sizes(40, 2000)
def test_pairs_are_equivalent_where_some_bijection_makes_them_the_same_as_written(cases: int) -> None:
    found = (timed_pair_fault(timed_pair(Random(number))) for number in range(cases))
    assert [fault for fault in found if fault] == []
