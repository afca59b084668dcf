"""Why answers fail: counts, kinds of detail, and which rows are shown."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from pddl_eval.report import build_report
from pddl_eval.report.groups import at_level
from pddl_eval.report.numbers import kind_of_detail

from tests.report.scored_rows import answers, write_partitions


def kind(detail: str) -> str:
    return pl.DataFrame({"detail": [detail]}).select(kind_of_detail(pl.col("detail"))).item()


def test_details_that_differ_in_names_are_of_one_kind() -> None:
    assert kind("the goal asks for (on b1 b2)") == kind("the goal asks for (on b13 b4)") == "the goal asks for (on …)"
    assert kind("b3 has type block") == kind("b12 has type block")
    assert kind("5 objects instead of 6: b6 is missing") == "# objects instead of #: b# is missing"


def test_details_that_differ_in_predicates_are_not() -> None:
    assert kind("lacks (on b1 b2)") != kind("lacks (clear b1)")
    assert kind("has (arm-empty)") == "has (arm-empty)"


def test_a_detail_that_quotes_a_whole_answer_is_cut() -> None:
    assert len(kind("x" * 100_000)) == 400


def test_verdicts_are_counted_by_group() -> None:
    report = build_report(answers())
    alone = at_level(report.verdicts, report.by, ())
    assert alone.row(0, named=True)["verdict"] == "goal_differs"
    assert alone["rows"].sum() == 9
    assert alone["percent"].sum() == pytest.approx(100)
    strong = at_level(report.verdicts, report.by, ("model",)).filter(model="strong", verdict="goal_differs")
    assert strong.select("rows", "percent").row(0) == (1, 25.0)


def test_the_commonest_kinds_come_first() -> None:
    details = build_report(answers()).details
    assert details.row(0) == (
        "goal_differs",
        "the goal asks for (on …), which the reference's does not imply",
        2,
        pytest.approx(100 * 2 / 6),
    )
    assert set(details["verdict"]).isdisjoint({"identical", "isomorphic", "equivalent"})


def test_examples_show_three_rows_of_different_kinds_first() -> None:
    details = ["lacks (on b1 b2)"] * 5 + ["lacks (clear b1)"] * 4 + ["lacks (arm-empty)"] + ["lacks (on b1 b9)"] * 5
    frame = pl.DataFrame({"verdict": ["init_differs"] * 15, "detail": details, "equivalent": [False] * 15})
    assert build_report(frame).examples["row"].to_list() == [0, 5, 9]


def test_examples_of_one_kind_are_its_first_rows() -> None:
    frame = pl.DataFrame({"verdict": ["empty"] * 9, "detail": ["no answer"] * 9, "equivalent": [False] * 9})
    assert build_report(frame).examples["row"].to_list() == [0, 1, 2]


def test_examples_say_how_to_explain_them(tmp_path: Path) -> None:
    frame = answers()
    folder = write_partitions(tmp_path / "it's scored", [frame.head(4), frame.tail(5)])
    examples = build_report(folder).examples
    shown = examples.filter(pl.col("verdict") == "types_differ").row(0, named=True)
    assert (shown["row"], shown["model"], shown["domain"]) == (5, "weak", "blocksworld")
    assert shown["detail"] == "b1 has type block instead of object"
    quoted = str(folder).replace("'", "'\"'\"'")
    assert shown["command"] == f"pddl-eval explain '{quoted}' --row 5"


def test_examples_of_a_frame_have_no_command() -> None:
    assert build_report(answers()).examples["command"].null_count() == 5 + 1
