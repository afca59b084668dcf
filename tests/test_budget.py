"""A row has a budget of processor time: its end is null or ``undecided`` with the reason, and touches no other row."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from math import inf
from time import thread_time

import pyarrow as pa
import pytest
from pddl_eval.budget import OutOfBudgetError, attempt, check, row_budget, seconds_left, spend
from pddl_eval.errors import UserError
from pddl_eval.options import ScoringOptions
from pddl_eval.table import score_table
from pddl_eval.verdict import Undecided

from tests.sliding_tiles import DOMAIN, random_goal


def test_outside_a_budget_time_is_not_limited() -> None:
    check()
    assert seconds_left() == inf


def test_the_end_of_a_budget_is_an_exception_and_attempt_makes_a_reason_of_it() -> None:
    with row_budget(1):
        check()
        spend(2)
        with pytest.raises(OutOfBudgetError):
            check()
        assert seconds_left() == 0
        assert isinstance(attempt(check), Undecided)
    check()


def test_a_row_has_one_budget() -> None:
    with row_budget(0), row_budget(100), pytest.raises(OutOfBudgetError):
        check()


def test_each_thread_has_a_budget_of_its_own() -> None:
    def of_another_thread() -> float:
        return seconds_left()

    with row_budget(0), ThreadPoolExecutor(1) as pool:
        assert pool.submit(of_another_thread).result() == inf


@pytest.mark.parametrize("seconds", [0, -1.0, float("nan")])
def test_a_budget_is_positive(seconds: float) -> None:
    with pytest.raises(UserError):
        ScoringOptions(row_seconds=seconds)


def test_the_budget_is_part_of_the_signature() -> None:
    assert "seconds:10" in ScoringOptions().signature.split("|")
    assert ScoringOptions(row_seconds=0.5).signature != ScoringOptions().signature


def test_a_row_that_runs_out_is_undecided_and_the_next_has_time_of_its_own() -> None:
    references, answers = [random_goal(3, seed) for seed in (1, 1)], [random_goal(3, seed) for seed in (2, 1)]
    table = pa.table({"reference_problem": references, "generated_problem": answers, "domain": [DOMAIN] * 2})
    start = thread_time()
    open_row, identical = score_table(table, ScoringOptions(row_seconds=0.01)).to_pylist()
    assert thread_time() - start < 1
    assert (open_row["verdict"], open_row["equivalent"], open_row["solvable"]) == ("undecided", None, None)
    assert "budget" in open_row["detail"]
    assert open_row["score_error"] is None
    assert identical["verdict"] == "identical"
    again = score_table(table.slice(0, 1), ScoringOptions(row_seconds=60)).to_pylist()
    assert (again[0]["verdict"], again[0]["solvable"]) == ("goal_differs", True)
