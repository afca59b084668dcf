"""A few seconds of ``tests.measure.fuzz``, and that it would notice."""

from __future__ import annotations

import pytest

from tests.measure import fuzz


@pytest.mark.parametrize("number", range(20))
def test_no_row_breaks_a_rule(number: int) -> None:
    assert list(fuzz.broken_rules(fuzz.case(0, number))) == []


def test_a_case_is_the_same_every_time() -> None:
    assert fuzz.case(1, 5) == fuzz.case(1, 5) != fuzz.case(2, 5)


def test_a_row_that_cannot_be_scored_is_noticed() -> None:
    tried = fuzz.case(0, 0)
    spoilt = fuzz.Case({**tried.row, "reference_plan": None, "reference_problem": None}, tried.origins)
    assert any("score_error" in rule for rule in fuzz.broken_rules(spoilt))
