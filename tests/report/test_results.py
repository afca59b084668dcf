"""Results for those who collect them: what stands in the files follows from the report, and each line from its row."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from huggingface_hub import parse_eval_result_entries
from pddl_eval.errors import UserError
from pddl_eval.report import Report, build_report, save

from tests.support.scored_rows import HOSTILE, answers

ABOUT = {"dataset": "acme/blocks", "organization": "ACME", "developer": "acme"}


def report_on(folder: Path, frame: pl.DataFrame, by: list[str] | None = None) -> Report:
    frame.write_parquet(folder / "scored.parquet")
    return build_report(folder / "scored.parquet", by)


@pytest.fixture
def report(tmp_path: Path) -> Report:
    texts = {"generated_problem": pl.format("answer {}", "id"), "prompt": pl.format("ask {}", "id")}
    return report_on(tmp_path, answers("lab/strong").with_columns(**texts))


def evaluations(folder: Path) -> dict[str, tuple[dict[str, Any], list[dict[str, Any]]]]:
    """By the model's id, its evaluation and the lines beside it, found as the evaluation says."""
    found = {}
    for file in folder.glob("data/*/*/*/*.json"):
        log = json.loads(file.read_text())
        beside = log["detailed_evaluation_results"]
        content = (folder / beside["file_path"]).read_bytes()
        lines = [json.loads(line) for line in content.decode().splitlines()]
        assert beside["checksum"] == hashlib.sha256(content).hexdigest() and beside["total_rows"] == len(lines)
        assert {line["evaluation_id"] for line in lines} <= {log["evaluation_id"]}
        found[log["model_info"]["id"]] = log, lines
    return found


def test_rates_and_answers_for_every_eval_ever(report: Report, tmp_path: Path) -> None:
    """An undecided answer counts as wrong in the rate and has no line; a mistake in the data is in neither."""
    save(report, tmp_path / "out", "eee", ABOUT)
    save(report, tmp_path / "out", "eee", ABOUT)  # The same results replace themselves.
    found = evaluations(tmp_path / "out")
    assert sorted(found) == ["acme/weak", "lab/strong"]
    log, lines = found["acme/weak"]
    results = {each["evaluation_result_id"]: each for each in log["evaluation_results"]}
    weak = results["equivalent"]["score_details"]
    assert weak["score"] == 0 and weak["details"] == {"rows": "4", "yes": "0", "undecided": "1", "references": "4"}
    interval = weak["uncertainty"]["confidence_interval"]
    assert 0 <= interval["lower"] < 0.01 and 0.4 < interval["upper"] < 0.6
    assert "equivalent/domain=gripper" in results
    assert [(each["metadata"]["row"], each["evaluation"]["is_correct"]) for each in lines] == [
        *(("4", False), ("5", False), ("6", False)),
    ]
    assert lines[0]["input"]["raw"] == "ask 1" and lines[0]["output"]["raw"] == ["answer 1"]
    assert lines[0]["metadata"]["verdict"] == "goal_differs"
    assert results["equivalent"]["metric_config"]["metric_id"] == "pddl_eval.equivalent"


def test_the_strictest_rate_for_the_hub(report: Report, tmp_path: Path) -> None:
    save(report, tmp_path / "out", "hf", {**ABOUT, "url": "https://acme.example/log", "date": "2026-11-26"})
    file = tmp_path / "out/lab/strong/.eval_results/blocks.yaml"
    (entry,) = parse_eval_result_entries(yaml.safe_load(file.read_text()))
    assert (entry.dataset_id, entry.task_id, entry.value) == ("acme/blocks", "default", 75.0)
    assert entry.notes is not None and entry.notes.startswith("equivalent, 4 answers, 95 % interval 30.1 to 95.4")


def test_a_dataset_without_a_column_of_models_is_of_the_one_that_is_named(tmp_path: Path) -> None:
    report = report_on(tmp_path, answers().drop("model"))
    with pytest.raises(UserError, match="model"):
        save(report, tmp_path / "out", "hf", ABOUT)
    save(report, tmp_path / "out", "eee", {**ABOUT, "model": "lab/only"})
    assert list(evaluations(tmp_path / "out")) == ["lab/only"]


@pytest.mark.parametrize("form", ["eee", "hf"])
def test_a_hostile_name_stays_below_the_folder(form: str, tmp_path: Path) -> None:
    for name in ("../../up", "..", HOSTILE, "a/../../b"):
        save(report_on(tmp_path, answers(name)), tmp_path / "out" / "in", form, ABOUT)
    files = [each.relative_to(tmp_path) for each in tmp_path.rglob("*") if each.is_file()]
    assert all(each.parts[:2] == ("out", "in") for each in files if each.name != "scored.parquet")


@pytest.mark.parametrize(
    ("form", "about"),
    [
        ("eee", {"dataset": "blocks"}),
        ("hf", {"dataset": "blocks"}),
        ("eee", {**ABOUT, "relationship": "friends"}),
        ("eee", {**ABOUT, "colour": "red"}),
        ("eee", {"dataset": "blocks", "organization": "ACME"}),
    ],
)
def test_what_the_collection_asks_for_is_said(form: str, about: dict[str, str], report: Report, tmp_path: Path) -> None:
    with pytest.raises(UserError):
        save(report, tmp_path / "out", form, about)
    assert not (tmp_path / "out").exists()
