"""What is kept between rows: bounded by bytes, the oldest goes first, and no score depends on it."""

from __future__ import annotations

import pyarrow as pa
import pytest
from pddl_eval import kernel
from pddl_eval.definition import task
from pddl_eval.definition.kept import keeping, kept
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.scoring.budget import row_budget
from pddl_eval.scoring.kept import BYTES_OF_CHARACTER, KEPT, Kept
from pddl_eval.scoring.table import score_table

HELD = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"


def test_the_oldest_goes_where_there_is_no_room() -> None:
    asked: list[str] = []
    keep = Kept(most=4 * BYTES_OF_CHARACTER)

    def read(text: str) -> str:
        asked.append(text)
        return text.upper()

    for text in ("aa", "bb", "aa", "cc", "aa", "bb", "far too long", "far too long"):
        assert keep(read, text) == text.upper()
    assert asked == ["aa", "bb", "cc", "bb", "far too long", "far too long"]
    keep.clear()
    keep(read, "aa")
    assert asked[-1] == "aa"


def test_what_is_raised_is_not_kept_and_options_count() -> None:
    keep = Kept()
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            keep(divmod, 1, 0)
    assert [keep(int, "11", base=base) for base in (2, 3, 2)] == [3, 4, 3]


def test_a_definition_alone_keeps_nothing() -> None:
    def read(text: str) -> list[str]:
        return [text]

    assert kept(read, "a") is not kept(read, "a")
    with keeping(Kept()):
        assert kept(read, "a") is kept(read, "a")
    with row_budget(1):
        first = kept(read, "a")
    with row_budget(1):
        assert kept(read, "a") is first


def test_a_reference_is_read_once_for_all_its_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    KEPT.clear()
    read: list[str] = []
    monkeypatch.setattr(kernel, "library", lambda: None)
    problem_in = task.problem_in
    monkeypatch.setattr(task, "problem_in", lambda *asked: (read.append(asked[1]), problem_in(*asked))[1])
    answers = [HELD.replace("problem p", f"problem p{number}") for number in range(5)]
    score_table(pa.table({"reference_problem": [HELD] * 5, "generated_problem": answers}), ScoringOptions())
    assert sorted(read) == sorted([HELD, *answers])
