"""A run and its report say the same: the same numbers, and that the run is not finished."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest
from pddl_eval import pages, score_dataset
from pddl_eval.benchmark.files import SAMPLE
from pddl_eval.report import build_report, compare_datasets, report_page
from pddl_eval.run import MANIFEST, SUMMARY
from pddl_eval.scoring.summary import RunSummary

from tests.support.running import only_line, run
from tests.support.scored_rows import answers, write_partitions

ROWS, SHARD_ROWS = 90, 10


@pytest.fixture(scope="module")
def run_of_sample(tmp_path_factory: pytest.TempPathFactory) -> tuple[RunSummary, Path]:
    """Ninety rows of the sample; in nine the reference problem is a mistake, in nine others the reference domain."""
    folder = tmp_path_factory.mktemp("run")
    number, impossible = (
        pl.int_range(pl.len()),
        "(define (problem p) (:domain blocksworld) (:init) (:goal (holding x)))",
    )
    frame = (
        pl.read_parquet(SAMPLE)
        .head(ROWS)
        .with_columns(
            model=pl.when(number % 2 == 0).then(pl.lit("even")).otherwise(pl.lit("odd")),
            reference_problem=pl.when(number % 10 == 7).then(pl.lit(impossible)).otherwise("reference_problem"),
            reference_domain=pl.when(number % 10 == 3).then(pl.lit("no domain")).otherwise("reference_domain"),
        )
    )
    frame.write_parquet(folder / "pairs.parquet")
    return score_dataset(folder / "pairs.parquet", folder / "scored", shard_rows=SHARD_ROWS, workers=1), folder


def test_score_and_report_say_the_same_number(run_of_sample: tuple[RunSummary, Path]) -> None:
    summary, folder = run_of_sample
    report = build_report(folder / "scored", by=[])
    assert summary.mistakes == report.mistakes == 9
    rates = {row["measure"]: row for row in report.rates.to_dicts()}
    assert {"parseable", "solvable", "equivalent", "equivalent_untyped", "plan_valid", "goal_reached"} <= set(rates)
    for measure, row in rates.items():
        assert 100 * (summary.share(measure) or 0) == pytest.approx(row["percent"])
    assert rates["parseable"]["rows"] == ROWS - 9
    assert rates["domain_equivalent"]["rows"] == ROWS - 9 - 9
    for row in report.metrics.to_dicts():
        assert summary.mean(row["metric"]) == pytest.approx(row["mean"])


def test_a_plan_that_cannot_be_checked_is_left_out_of_both() -> None:
    text = "(pick a)"
    frame = pl.DataFrame(
        {"reference_plan": [text] * 4, "generated_plan": [text] * 4, "goal_reached": [True, None, False, True]}
    )
    assert build_report(frame.with_columns(plan_score=1.0)).rates["percent"].to_list() == pytest.approx([200 / 3])
    statistics = {"goal_reached": {"true": 2, "false": 1, "null": 1}, "equivalent": {"true": 2, "false": 1, "null": 1}}
    summary = RunSummary("scored", 4, 4, 0, 0, 1, 0, "local", 1, 1.0, "s", statistics)
    assert (summary.share("goal_reached"), summary.share("equivalent")) == (pytest.approx(2 / 3), 0.5)


def test_an_answer_without_a_plan_is_not_called_undecided() -> None:
    solvable, solves = {"true": 2, "false": 1, "null": 1}, {"true": 1, "false": 0, "null": 3}
    statistics = {"solvable": solvable, "solves_reference": solves}
    lines = dict(RunSummary("scored", 4, 4, 0, 0, 1, 0, "local", 1, 1.0, "s", statistics).lines())
    assert lines["solves_reference"].split() == ["25.00%", "(1,", "1", "undecided)"]


def stopped(folder: Path, kept: Sequence[int], complete: bool = False) -> Path:
    """The run with only some of its partitions, as if it had been stopped."""
    scored = folder / f"stopped-{len(kept)}-{complete}"
    scored.mkdir()
    partitions = sorted((folder / "scored").glob("*.parquet"))
    for place in kept:
        (scored / partitions[place].name).write_bytes(partitions[place].read_bytes())
    for name in (MANIFEST, SUMMARY) if complete else (MANIFEST,):
        (scored / name).write_bytes((folder / "scored" / name).read_bytes())
    return scored


@pytest.mark.usefixtures("brief_reports")
def test_an_unfinished_run_is_called_so_in_every_output(run_of_sample: tuple[RunSummary, Path], tmp_path: Path) -> None:
    scored = stopped(run_of_sample[1], [0, 3, 4])
    report = build_report(scored, by=[])
    assert (report.rows, report.missing) == (30, 60)
    html = pages.html(report_page(report), {})
    assert "unfinished" in html and "60 of 90" in html
    for form in ("terminal", "tex"):
        found = run("report", scored, "--by", "", "--format", form)
        assert found.exit_code == 3
        text = " ".join(found.stdout.split())
        assert "unfinished" in text and "60 of 90" in text, form
    known = json.loads(run("report", scored, "--by", "", "--format", "json").stdout)
    assert (known["missing"], known["signature"]) == (60, report.signature)
    run("report", scored, "--by", "", "--format", "parquet", "--output", tmp_path / "tables")
    about = pl.read_parquet(tmp_path / "tables" / "about.parquet").to_dicts()
    assert [(each["rows"], each["missing"], each["signature"]) for each in about] == [(30, 60, report.signature)]
    for arguments in (("--format", "csv"), ("--output", tmp_path / "rates.csv"), ("--output", tmp_path / "r.parquet")):
        found = run("report", scored, "--by", "", *arguments)
        assert found.exit_code == 3 and "60 of 90" in only_line(found.stderr)


def test_a_single_partition_of_an_unfinished_run_knows_the_others(run_of_sample: tuple[RunSummary, Path]) -> None:
    scored = stopped(run_of_sample[1], [1, 2])
    assert build_report(next(iter(sorted(scored.glob("*.parquet"))))).missing == 70


@pytest.mark.usefixtures("brief_reports")
def test_all_partitions_without_the_summary_are_unfinished_with_nothing_missing(
    run_of_sample: tuple[RunSummary, Path],
) -> None:
    scored = stopped(run_of_sample[1], range(9))
    assert build_report(scored).missing == 0
    result = run("report", scored)
    assert result.exit_code == 3 and "0 of" not in result.stdout


@pytest.mark.usefixtures("brief_reports")
def test_a_manifest_that_cannot_be_read_is_said(run_of_sample: tuple[RunSummary, Path], tmp_path: Path) -> None:
    copy = shutil.copytree(run_of_sample[1] / "scored", tmp_path / "copy")
    (copy / MANIFEST).write_bytes((copy / MANIFEST).read_bytes()[:100])
    result = run("report", copy)
    assert result.exit_code == 2 and MANIFEST in result.stderr
    (copy / MANIFEST).unlink()
    assert run("report", copy).exit_code == 0


@pytest.mark.usefixtures("brief_reports")
def test_a_finished_run_is_not_called_unfinished(run_of_sample: tuple[RunSummary, Path], tmp_path: Path) -> None:
    finished = build_report(run_of_sample[1] / "scored")
    assert finished.missing is None and finished.unfinished is None
    assert run("report", run_of_sample[1] / "scored").exit_code == 0
    assert build_report(write_partitions(tmp_path, [answers()])).unfinished is None


def test_the_summary_of_another_run_completes_nothing(run_of_sample: tuple[RunSummary, Path]) -> None:
    scored = stopped(run_of_sample[1], [0, 1, 2, 3], complete=True)
    summary = json.loads((scored / SUMMARY).read_text())
    (scored / SUMMARY).write_text(json.dumps({**summary, "run": "another"}))
    assert build_report(scored).missing == 50


def test_an_unfinished_run_is_compared_with_a_warning(run_of_sample: tuple[RunSummary, Path]) -> None:
    scored = stopped(run_of_sample[1], [5])
    found = run("compare", run_of_sample[1] / "scored", scored, "--key", "id")
    assert found.exit_code == 3 and "80 of 90" in " ".join(found.stdout.split())
    assert len(compare_datasets(run_of_sample[1] / "scored", scored, on=["id"]).unfinished) == 1


def test_names_of_columns_come_from_the_run(tmp_path: Path) -> None:
    frame = pl.read_parquet(SAMPLE).head(4).rename({"id": "question", "reference_domain": "d"}).drop("generated_domain")
    frame.with_columns(llm=pl.lit("a")).write_parquet(tmp_path / "pairs.parquet")
    names = {"reference_id": "question", "model": "llm"}
    score_dataset(tmp_path / "pairs.parquet", tmp_path / "scored", columns=names, workers=1)
    report = build_report(tmp_path / "scored")
    assert (report.clusters, report.model, report.by) == ("question", "llm", ("llm", "domain"))
