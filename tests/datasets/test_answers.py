"""Answers joined to their references by id: which rows come of it, what is a mistake, and that it stays one run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from importlib.util import find_spec
from io import BufferedReader
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest
from pddl_eval import score_dataset
from pddl_eval.datasets import DatasetError, known_contents, locate, put_bytes
from pddl_eval.reuse import rescore_dataset
from pddl_eval.run import MANIFEST, SUMMARY, OtherRun, run_status
from pddl_eval.run.inputs import INPUT_FOLDER, readable_input
from pddl_eval.settings import ReadingOptions

from tests.support.running import only_line, run, shard_rows, start

TOWER = (
    "(define (problem tower) (:domain blocksworld) (:objects a b)"
    " (:init (arm-empty) (clear a) (on-table a) (clear b) (on-table b)) (:goal (and (on a b))))"
)
NAMES = {"generated_problem": "output"}

REFERENCES = {
    "id": pa.array(range(50), pa.int32()),
    "name": [f"n{number}" for number in range(50)],
    "problem_pddl": pa.array(
        [TOWER.replace("(on a b)", "(holding a)") if n % 2 else TOWER for n in range(50)], pa.large_string()
    ),
    "is_placeholder": pa.array([0] * 50, pa.int64()),
    "natural_language": ["Stack."] * 50,
}


@pytest.fixture
def references(tmp_path: Path) -> str:
    pq.write_table(pa.table(REFERENCES), tmp_path / "references.parquet", row_group_size=7)
    return str(tmp_path / "references.parquet")


def written(path: Path, **columns: Any) -> str:
    """JSON Lines with these columns."""
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return str(path)


def scored(output: Path) -> pl.DataFrame:
    return pl.read_parquet(output / "*.parquet")


def joined(answers: str, references: str, output: Path, **keywords: Any) -> pl.DataFrame:
    score_dataset(answers, output, columns=NAMES, references=references, **keywords)
    return scored(output)


def test_answers_of_every_form_find_the_columns_of_planetarium(references: str, tmp_path: Path) -> None:
    ids, output = [3, 4, 4, 49, 0], [TOWER] * 5
    lines = written(tmp_path / "answers.jsonl", id=ids, output=output, model=["a", "a", "b", "a", "a"])
    frame = pl.read_ndjson(lines)
    frame.write_csv(tmp_path / "answers.csv")
    frame.write_parquet(tmp_path / "answers.parquet")
    for name in ("answers.jsonl", "answers.csv", "answers.parquet"):
        found = joined(str(tmp_path / name), references, tmp_path / f"scored {name.replace('.', ' ')}")
        assert found["id"].to_list() == ids
        assert found["equivalent"].to_list() == [False, True, True, False, True]
        assert found["name"].to_list() == [f"n{id}" for id in ids]
        assert set(found["is_placeholder"]) == {False} and "reference_problem" in found.columns


@pytest.mark.parametrize(
    ("columns", "on"),
    [
        ({"id": [1, 2]}, None),
        ({"id": ["1", "2"]}, None),
        ({"reference_id": [1, 2]}, None),
        ({"reference_id": ["n1", "n2"]}, ["name"]),
        ({"name": ["n1", "n2"], "id": [7, 7]}, "name"),
        ({"id": [1.0, 2.0]}, None),
        ({"name": ["n1", "n2"], "id": [1, 2]}, ["id", "name"]),
    ],
)
def test_the_id_is_a_usual_one_or_that_of_on(
    columns: Mapping[str, Any], on: str | list[str] | None, references: str, tmp_path: Path
) -> None:
    answers = written(tmp_path / "answers.jsonl", **columns, output=[TOWER, TOWER])
    assert joined(answers, references, tmp_path / "out", key=on)["equivalent"].to_list() == [False, True]


def test_answers_without_a_reference_are_kept_counted_and_said(references: str, tmp_path: Path) -> None:
    answers = written(tmp_path / "answers.jsonl", id=[2, 99, None], output=[TOWER] * 3)
    said: list[str] = []
    summary = score_dataset(answers, tmp_path / "out", columns=NAMES, references=references, warn=said.append)
    assert (summary.rows, summary.share("equivalent")) == (3, 1.0)
    assert summary.statistics["not compared"] == {"problem": 2}
    assert len(said) == 1 and "2 of 3" in said[0] and "99" in said[0]
    said.clear()
    score_dataset(answers, tmp_path / "out", columns=NAMES, references=references, warn=said.append)
    assert len(said) == 1, "it is said again when the run is started again"


def test_a_damaged_line_is_a_row_that_is_named(references: str, tmp_path: Path) -> None:
    answers = written(tmp_path / "answers.jsonl", id=[2, 4], output=[TOWER] * 2)
    with Path(answers).open("a") as lines:
        lines.write('{"id": 6, "outp\n')
    said: list[str] = []
    score_dataset(answers, tmp_path / "out", columns=NAMES, references=references, warn=said.append)
    found = scored(tmp_path / "out")
    assert found["equivalent"].to_list()[:2] == [True, True] and found["output"][2] is None
    assert "answers.jsonl:3" in found["answer_error"][2] and "answers.jsonl:3" in " ".join(said)


@pytest.mark.parametrize(
    ("columns", "keywords", "said"),
    [
        ({"id": ["x", "y"]}, {}, "x, y"),
        ({"id": [1, 2]}, {"key": ["nam"]}, "did you mean name?"),
        ({"question": [1, 2]}, {}, "id"),
        ({"id": [1, 2], "reference_problem": ["", ""]}, {}, "both"),
        ({"id": [1, 2]}, {"twice": True}, "two references"),
    ],
)
def test_a_join_that_cannot_be_meant_is_the_users_mistake(
    columns: Mapping[str, Any], keywords: dict[str, Any], said: str, references: str, tmp_path: Path
) -> None:
    if keywords.pop("twice", False):
        table = pq.read_table(references)
        pq.write_table(pa.concat_tables([table, table.slice(2, 1)]), references)
    answers = written(tmp_path / "answers.jsonl", **columns, output=[TOWER, TOWER])
    with pytest.raises(DatasetError, match=said):
        score_dataset(answers, tmp_path / "out", columns=NAMES, references=references, **keywords)
    assert not (tmp_path / "out").exists()


def test_keys_of_several_columns_do_not_run_together(tmp_path: Path) -> None:
    """Joined by a character, the keys ("x<char>y", "z") and ("x", "y<char>z") were one."""
    for separator in ("\x1f", ",", '", "', "\0"):
        keys = {"a": [f"x{separator}y", "x"], "b": ["z", f"y{separator}z"]}
        references = written(tmp_path / "references.jsonl", **keys, reference_plan=["(one)", "(two)"])
        answers = written(tmp_path / "answers.jsonl", **keys, generated_plan=["(one)", "(two)"])
        output = tmp_path / str(ord(separator[0])) / str(len(separator))
        score_dataset(answers, output, references=references, key=["a", "b"])
        assert scored(output)["plan_lcs"].to_list() == [1.0, 1.0]


def test_a_reference_that_nobody_asks_for_may_be_there_twice(references: str, tmp_path: Path) -> None:
    table = pq.read_table(references)
    pq.write_table(pa.concat_tables([table, table.slice(40, 5)]), references)
    answers = written(tmp_path / "answers.jsonl", id=[2, 4], output=[TOWER] * 2)
    assert joined(answers, references, tmp_path / "out").height == 2


def test_it_is_one_run_that_resumes_and_knows_both_inputs(references: str, tmp_path: Path) -> None:
    answers = written(tmp_path / "answers.jsonl", id=list(range(50)), output=[TOWER] * 50)
    keywords: dict[str, Any] = {"columns": NAMES, "references": references, "shard_rows": 10}
    score_dataset(answers, tmp_path / "out", **keywords)
    whole = scored(tmp_path / "out").drop("score_micros")
    partitions = sorted((tmp_path / "out").glob("*.parquet"))
    made = next((tmp_path / "out" / INPUT_FOLDER).iterdir())
    before = made.stat().st_mtime_ns
    partitions[1].unlink()
    (tmp_path / "out" / SUMMARY).unlink()
    summary = score_dataset(answers, tmp_path / "out", **keywords)
    assert (summary.shards, summary.shards_reused, summary.rows_scored) == (5, 4, 10)
    assert scored(tmp_path / "out").drop("score_micros").equals(whole) and made.stat().st_mtime_ns == before
    manifest = json.loads((tmp_path / "out" / MANIFEST).read_text())
    assert [file["name"] for file in manifest["made_of"]["answers"]] == ["answers.jsonl"]
    assert manifest["made_of"]["references"][0]["content"].startswith("blake2b:")
    changed = pq.read_table(references)
    pq.write_table(changed.take(list(reversed(range(50)))), references)
    with pytest.raises(OtherRun):
        score_dataset(answers, tmp_path / "out", **keywords)
    assert len(list((tmp_path / "out" / INPUT_FOLDER).iterdir())) == 1


def convert(answers: str, references: str, output: str) -> str:
    with readable_input(answers, output, ReadingOptions(references=references), NAMES) as made:
        return made.files[0].version.location.path


def test_parts_of_a_join_make_the_whole_and_the_last_one_its_report(references: str, tmp_path: Path) -> None:
    answers = written(tmp_path / "answers.jsonl", id=list(range(40)), output=[TOWER] * 40)
    whole = joined(answers, references, tmp_path / "whole").drop("score_micros")
    column = ("--column", "generated_problem=output", *shard_rows(10, tmp_path))
    report = tmp_path / "report.md"
    for part in ("2/2", "1/2"):
        arguments = ("--references", references, "--part", part, "--report", report, *column)
        result = run("score", answers, tmp_path / "out", *arguments)
        assert result.exit_code == 0, result.stderr
        assert report.exists() == (part == "1/2")
    assert scored(tmp_path / "out").drop("score_micros").sort("id").equals(whole)


def test_other_programs_read_the_output_as_one_dataset_of_its_rows(references: str, tmp_path: Path) -> None:
    """As the README says: by a pattern, because polars and ``datasets`` take all files of a folder for data."""
    answers = written(tmp_path / "answers.jsonl", id=list(range(30)), output=[TOWER] * 30)
    out = tmp_path / "out"
    score_dataset(answers, out, columns=NAMES, references=references, shard_rows=7)
    expected = sorted(scored(out)["id"])
    assert len(expected) == 30 and len(list(out.glob("*.parquet"))) > 1
    for pattern in ("*.parquet", "**/*.parquet"):
        assert sorted(pl.read_parquet(out / pattern)["id"]) == expected
        assert sorted(pl.scan_parquet(out / pattern).collect()["id"]) == expected
    assert sorted(pa.dataset.dataset(out).to_table()["id"].to_pylist()) == expected
    if find_spec("pandas"):
        assert sorted(import_module("pandas").read_parquet(out)["id"]) == expected
    if find_spec("duckdb"):
        duckdb = import_module("duckdb")
        for pattern in ("*.parquet", "**/*.parquet"):
            rows = duckdb.execute(f"SELECT id FROM '{out}/{pattern}'").fetchall()
            assert sorted(id for (id,) in rows) == expected
    if find_spec("datasets"):
        program = (
            "import datasets, sys; "
            "print(*datasets.load_dataset('parquet', data_files=sys.argv[1], cache_dir=sys.argv[2])['train']['id'])"
        )
        read = start("-c", program, out / "*.parquet", tmp_path / "cache")
        assert sorted(map(int, read.stdout.split())) == expected, read.stderr


def test_runs_that_start_together_make_the_same_input(references: str, tmp_path: Path) -> None:
    answers = written(tmp_path / "answers.jsonl", id=list(range(50)), output=[TOWER] * 50)
    with ThreadPoolExecutor(2) as threads:
        calls = [threads.submit(convert, answers, references, str(tmp_path / f"out{n % 2}")) for n in range(4)]
        made = [Path(call.result()) for call in calls]
    assert len({path.read_bytes() for path in made}) == 1 and len({path.name for path in made}) == 1


def test_an_output_of_another_program_is_left_alone(references: str, tmp_path: Path) -> None:
    answers = written(tmp_path / "answers.jsonl", id=[2], output=[TOWER])
    (tmp_path / "out").mkdir()
    pq.write_table(pa.table({"a": [1]}), tmp_path / "out" / "theirs.parquet")
    with pytest.raises(DatasetError, match="no run of this program"):
        joined(answers, references, tmp_path / "out")
    with pytest.raises(DatasetError, match="named like a file"):
        joined(answers, references, tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists() and len(list((tmp_path / "out").iterdir())) == 1


def test_rescore_joins_too(references: str, tmp_path: Path) -> None:
    answers = written(tmp_path / "answers.jsonl", id=[2, 4], output=[TOWER] * 2)
    joined(answers, references, tmp_path / "old")
    more = written(tmp_path / "more.jsonl", id=[2, 4, 5], output=[TOWER] * 3)
    summary = rescore_dataset(tmp_path / "old", more, tmp_path / "new", columns=NAMES, references=references)
    assert (summary.rows, summary.rows_carried) == (3, 2)
    assert scored(tmp_path / "new")["equivalent"].to_list() == [True, True, False]


def test_the_commands_do_it_in_one(references: str, tmp_path: Path) -> None:
    answers = written(tmp_path / "answers.jsonl", id=[2, 4, 99], output=[TOWER, "", TOWER])
    config = tmp_path / "settings.toml"
    config.write_text(f'references = "{references}"\nkey = "id"\n[column]\ngenerated_problem = "output"\n')
    dry = run("score", answers, tmp_path / "out", "--config", config, "--dry-run")
    assert dry.exit_code == 0 and "3 of 3 pairs" in dry.stdout, dry.stderr
    assert not (tmp_path / "out").exists()
    result = run("score", answers, tmp_path / "out", "--config", config)
    assert result.exit_code == 0 and "1 of 3 answers have no reference" in only_line(result.stderr)
    assert run("explain", tmp_path / "out", "--id", 2).exit_code == 0
    assert run("report", tmp_path / "out", "--format", "json").exit_code == 0
    batch = written(
        tmp_path / "batch.jsonl",
        custom_id=["2"],
        response=[{"status_code": 200, "body": {"model": "m", "choices": [{"text": TOWER}]}}],
    )
    arguments = ("score", batch, tmp_path / "log", "--references", references)
    result = run(*arguments, "--from", "openai", "--report", tmp_path / "report.md")
    assert result.exit_code == 0 and "identical" in (tmp_path / "report.md").read_text()
    assert run("score", batch, tmp_path / "no", "--report", tmp_path / "report.xyz").exit_code == 2
    assert scored(tmp_path / "log")["verdict"].to_list() == ["identical"]
    for wrong in (("--from", "opnai"), ("--from", "openai", "--column", "generated_plans=a")):
        assert "did you mean" in only_line(run(*arguments, *wrong).stderr)
    assert run("score", batch, tmp_path / "no", "--key", "id").exit_code == 2


def test_answers_of_a_log_can_be_plans(tmp_path: Path) -> None:
    log = written(tmp_path / "samples_plans.jsonl", doc_id=[0], target=["(pick a)"], resps=[[["(pick a), (drop a)"]]])
    summary = score_dataset(log, tmp_path / "out", harness="lm-eval", columns={"generated_plan": "answer"})
    assert summary.mean("plan_lcs") == 0.5


def test_answers_of_a_log_to_questions_are_of_no_other_pair(tmp_path: Path) -> None:
    """ACPBench Hard in a log of lm-evaluation-harness: the record has its problem, which nobody was asked to write."""
    record = {"group": "applicable_actions_gen", "context": "Blocks.", "question": "List.", "answer": ["(pickup a)"]}
    record |= {"PDDL_domain": "(define (domain d) (:action wait))", "PDDL_problem": TOWER}
    line = {"doc_id": 0, "doc": record, "target": "…", "resps": [["(wait)"]], "filtered_resps": ["(wait)"]}
    log = tmp_path / "samples_acp_app_gen_2026-01-01T00-00-00.000000.jsonl"
    log.write_text(json.dumps(line))
    score_dataset(str(log), tmp_path / "out", harness="lm-eval")
    (row,) = scored(tmp_path / "out").to_dicts()
    assert row["answer_verdict"] == "right"
    assert not row.keys() & {"generated_problem", "verdict"}


@pytest.mark.s3
def test_answers_and_references_of_a_store_are_joined_there(bucket: str, references: str, tmp_path: Path) -> None:
    answers = written(tmp_path / "answers.jsonl", id=[3, 4], output=[TOWER] * 2)
    for name, path in (("answers.jsonl", answers), ("references.parquet", references)):
        put_bytes(locate(f"s3://{bucket}/{name}"), Path(path).read_bytes())
    for _ in range(2):
        summary = score_dataset(
            f"s3://{bucket}/answers.jsonl",
            f"s3://{bucket}/out",
            columns=NAMES,
            references=f"s3://{bucket}/references.parquet",
        )
    assert (summary.rows, summary.shards_reused, summary.share("equivalent")) == (2, 1, 0.5)


def test_rows_in_another_form_are_read_by_the_first_start_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pddl_eval.datasets.inputs.SETTLED_SECONDS", 0.0)
    rows = [{"reference_plan": "(a)", "generated_plan": f"(b{n})"} for n in range(8)]
    (tmp_path / "pairs.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    digests, digest = [], hashlib.file_digest
    monkeypatch.setattr(hashlib, "file_digest", lambda *file: (digests.append(file[0]), digest(*file))[1])
    for part in ("1/2", "2/2", "1/2"):
        known_contents.clear()  # As in a process of its own.
        score_dataset(tmp_path / "pairs.jsonl", tmp_path / "out", part=part, engine="local")
        assert len([file for file in digests if isinstance(file, BufferedReader)]) == 1  # The others are partitions.
    assert run_status(tmp_path / "out").finished
