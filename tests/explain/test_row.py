"""A row's explanation has a part for each pair of columns; a mistake in one of them costs that part only."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pddl_eval import score_dataset
from pddl_eval.datasets import DatasetError, open_source
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.errors import UserError
from pddl_eval.explain import explain_row, html_page
from pddl_eval.explain.dataset_row import DatasetRow, row_at, rows_of_id
from pddl_eval.explain.plans import PlanExplanation
from pddl_eval.explain.row import NotScored

from tests.support.pairs_by_verdict import HOSTILE, REFERENCE, RENAMED
from tests.support.sample import DOMAIN_TEXTS

ROW = {
    "reference_problem": REFERENCE,
    "generated_problem": RENAMED,
    "reference_plan": "(unstack a b)",
    "generated_plan": "(unstack b a)",
    "reference_domain": DOMAIN_TEXTS["blocksworld"],
    "generated_domain": "none",
}


def test_each_pair_is_explained() -> None:
    explanation = explain_row(ROW)
    assert list(explanation.parts) == ["problem", "plan", "domain"]
    assert explanation.page().good is False
    titles = [section.title for section in explanation.page().sections]
    assert [title.partition(":")[0] for title in titles if title.endswith(("equivalent", "fails"))] == [
        "Problems",
        "Plans",
        "Domains",
    ]
    assert len(set(filter(None, titles))) == len([*filter(None, titles)]), "a title is a link of the page"


def test_one_pair_alone_is_the_page() -> None:
    explanation = explain_row(ROW, only="problem")
    assert explanation.problem is not None
    assert explanation.page() == explanation.problem.page()
    assert explain_row(ROW, only="plan").problem is None


def test_a_row_without_that_pair_is_a_mistake() -> None:
    for row, only in ((ROW, "plans"), ({"reference_plan": "(a)"}, None), ({**ROW, "generated_plan": ""}, "plots")):
        with pytest.raises(UserError):
            explain_row(row, only=only)


def test_a_mistake_in_one_pair_is_its_explanation() -> None:
    explanation = explain_row(
        {**ROW, "reference_domain": "nothing", "reference_plan": "Nothing can be done.", "domain": "gripper"}
    )
    assert explanation.problem is not None
    assert isinstance(explanation.parts["domain"], NotScored)
    plan = explanation.parts["plan"]
    assert isinstance(plan, PlanExplanation)
    assert plan.reference is None, "the plan is executed; there is none to compare it with"
    without = {"reference_plan": "Nothing can be done.", "generated_plan": "(putdown a)"}
    assert isinstance(explain_row(without).parts["plan"], NotScored)


def test_the_domain_of_the_options_is_for_rows_that_name_none() -> None:
    row = {**ROW, "reference_domain": None}
    assert explain_row(row, options=ScoringOptions(domain="gripper"), only="problem").problem.domain == "gripper"  # type: ignore[union-attr]
    assert explain_row(row, only="problem").problem.domain == "blocksworld"  # type: ignore[union-attr]


def test_a_hostile_row_is_escaped_and_bounded() -> None:
    row = dict.fromkeys(ROW, HOSTILE) | {"reference_plan": f"(a)\n{HOSTILE}", "generated_plan": f"(b)\n(c {HOSTILE})"}
    row |= {"reference_domain": DOMAIN_TEXTS["gripper"], "generated_domain": DOMAIN_TEXTS["gripper"] + HOSTILE}
    explanation = explain_row(row)
    page = html_page(explanation)
    assert "<script" not in page and "\x1b" not in page and "\u202e" not in page
    assert "\x1b" not in str(explanation) and len(page) < 10**6


def test_the_row_may_be_one_of_a_dataset_a_run_or_a_frame(tmp_path: Path) -> None:
    frame = pl.DataFrame([ROW, {**ROW, "generated_plan": "(unstack a b)"}]).rename({"generated_plan": "output"})
    frame.write_parquet(tmp_path / "pairs.parquet")
    columns = {"generated_plan": "output"}
    run = score_dataset(tmp_path / "pairs.parquet", tmp_path / "scored", columns=columns, check_solvable=False)
    plain = frame.rename({"output": "generated_plan"})
    for dataset in (tmp_path / "scored", str(tmp_path / "scored"), run, plain, plain.to_pandas()):
        alignments = [explain_row(dataset, number).parts["plan"].alignment for number in (0, 1)]  # type: ignore[union-attr]
        assert alignments == [((0, None), (None, 0)), ((0, 0),)]
    for wrong in (("no such folder", 3), (tmp_path / "scored", 2), (plain, 2), (plain, -1), (plain, None)):
        with pytest.raises(UserError):
            explain_row(*wrong)


def test_without_references_there_is_only_the_answer() -> None:
    """A plan in its problem, a problem in its domain, a domain: one column."""
    row = {name: value for name, value in ROW.items() if name not in ("reference_plan", "reference_domain")}
    row["generated_domain"] = DOMAIN_TEXTS["gripper"]
    explanation = explain_row(row | {"reference_problem": None}, only="problem")
    page = explanation.page()
    assert page.good is True and page.title == "solvable: not compared"
    assert not [
        cell for section in page.sections for table in section.tables for cell in table.header if cell == "reference"
    ]
    plan = explain_row(row, only="plan").page()
    assert plan.good is False and [section.title for section in plan.sections][-1] == "The plan"
    domain = explain_row(row, only="domain").page()
    assert domain.good is None
    operators = [cells[0].text for table in domain.sections[0].tables for cells in table.rows]
    assert operators == ["move", "pick", "drop"]
    for only in ("problem", "plan", "domain"):
        assert "<html" in html_page(explain_row(row | {"reference_problem": ROW["reference_problem"]}, only=only))
    assert "<svg" in html_page(explanation), "the answer alone is drawn"


# --- A row of a dataset: found by number over files and row groups, or by its id


@pytest.fixture
def scored(tmp_path: Path) -> Path:
    """Two partitions with row groups of two rows: rows 0 to 4 and 5 to 7."""
    for name, numbers in (("part-000.parquet", range(5)), ("part-001.parquet", range(5, 8))):
        columns = {
            "reference_problem": [f"reference {number}" for number in numbers],
            "output": [None if number == 3 else f"answer {number}" for number in numbers],
            "is_placeholder": [number % 2 == 1 for number in numbers],
            "domain": ["" if number == 0 else "gripper" for number in numbers],
            "pair_id": [100 + number for number in numbers],
            "verdict": ["identical" for _ in numbers],
        }
        pq.write_table(pa.table(columns), tmp_path / name, row_group_size=2)
    return tmp_path


NAMES = {"generated_problem": "output"}


def test_every_row_is_found_over_row_groups_and_files(scored: Path) -> None:
    for number in range(8):
        pair = row_at(open_source(scored), number, NAMES)
        assert (pair.number, pair.values["reference_problem"]) == (number, f"reference {number}")
        assert pair.values["is_placeholder"] == (number % 2 == 1)
    values = {"reference_problem": "reference 3", "generated_problem": None, "is_placeholder": True}
    assert row_at(open_source(scored), 3, NAMES) == DatasetRow(3, {**values, "domain": "gripper"}, "identical")


def test_a_dataset_needs_no_column_but_the_pair(tmp_path: Path) -> None:
    pq.write_table(pa.table({"reference_problem": ["r"], "generated_problem": ["g"]}), tmp_path / "p.parquet")
    assert row_at(open_source(tmp_path / "p.parquet"), 0) == DatasetRow(
        0, {"reference_problem": "r", "generated_problem": "g"}
    )


def test_an_id_of_any_type_names_the_first_row_that_has_it(scored: Path) -> None:
    assert rows_of_id(open_source(scored), ["106"], ["pair_id"]) == [6]
    assert rows_of_id(open_source(scored), ["reference 2", "102"], ["reference_problem", "pair_id"]) == [2]
    with pytest.raises(DatasetError, match="999"):
        rows_of_id(open_source(scored), ["999"], ["pair_id"])


def test_what_is_not_there_is_said(scored: Path) -> None:
    with pytest.raises(DatasetError, match=r"\b8\b"):
        row_at(open_source(scored), 8, NAMES)
    with pytest.raises(DatasetError, match="-1"):
        row_at(open_source(scored), -1, NAMES)
    with pytest.raises(UserError, match="generated_problem"):
        row_at(open_source(scored), 0)
    with pytest.raises(UserError, match=r"placeholder.*is_placeholder"):
        row_at(open_source(scored), 0, NAMES | {"is_placeholder": "placeholder"})
    with pytest.raises(DatasetError, match=r"pair_id.*int64"):
        row_at(open_source(scored), 0, {"generated_problem": "pair_id"})
