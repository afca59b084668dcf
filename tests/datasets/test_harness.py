"""Logs of harnesses as the harnesses write them: which answers they hold, and that they score as the same pairs do.

The logs in ``tests/datasets/logs`` are written by the real packages (``tests/measure/harness_logs.py``); those of
OpenAI's batches are written here, in the form that their documentation gives.
"""

from __future__ import annotations

import errno
import json
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Collection, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pddl_eval import score_dataset
from pddl_eval.datasets import DatasetError, Unavailable, locate, logs
from pddl_eval.datasets import harness as harness_room
from pddl_eval.datasets.harness import HARNESSES
from pddl_eval.datasets.logs import Answer
from pddl_eval.definition.metrics import PROBLEM
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.scoring.columns import ROW_COLUMNS
from pddl_eval.scoring.table import score_table

from tests.measure.harness_logs import FIRST_ID, LOGS, answers, questions
from tests.run.test_run_restart import failing
from tests.support.running import ENVIRONMENT, ROOT

__all__ = ["failing"]

SCORES = [column.name for column in (*PROBLEM.columns, *ROW_COLUMNS) if column.name != "score_micros"]

LAST = (FIRST_ID + len(questions()) - 1, 2)
"""The answer at which the model of Inspect's log fails."""


def read(name: str, *files: Path, on: Sequence[str] = ()) -> list[Answer]:
    return [answer for file in files for answer in HARNESSES[name].read(locate(file), on)]


def inspect_json(folder: Path) -> Path:
    """The log of Inspect in its other form: one JSON document."""
    (source,) = (LOGS / "inspect").glob("*.eval")
    place = locate(source)
    with zipfile.ZipFile(source) as archive, source.open("rb") as file:
        names = [name for name in archive.namelist() if name.startswith("samples/")]
        log = json.loads(harness_room._member(archive, file, "header.json"))
        log["samples"] = [json.loads(harness_room._member(archive, file, name)) for name in names]
    path = folder / f"{place.name.removesuffix('.eval')}.json"
    path.write_text(json.dumps(log))
    return path


def openai_log(path: Path) -> Path:
    """The same answers as a batch gives them; every second one by the responses API."""
    lines = []
    for number, (id, sample, text) in enumerate(answers()):
        message = {"role": "assistant", "content": text, "refusal": None}
        body: dict[str, Any] = {
            "model": "gpt-x",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        }
        if number % 2:
            content = [{"type": "output_text", "text": text[:9]}, {"type": "output_text", "text": text[9:]}]
            output = [
                {"type": "reasoning", "summary": []},
                {"type": "message", "role": "assistant", "content": content},
            ]
            body = {"object": "response", "model": "gpt-x", "output": output, "error": None}
        response = {"status_code": 200, "request_id": "r", "body": body}
        line = {"id": f"batch_{number}", "custom_id": str(id), "response": response, "error": None}
        if (id, sample) == LAST:
            line |= {"response": None, "error": {"code": "server_error", "message": "the server is gone"}}
        lines.append(json.dumps(line))
    path.write_text("\n".join(lines) + "\n")
    return path


def references(folder: Path) -> Path:
    """Planetarium's columns."""
    path = folder / "references.parquet"
    pq.write_table(pa.Table.from_pylist(questions()).drop_columns(["answer"]), path)
    return path


def expected(name: str) -> list[tuple[Any, ...]]:
    """The scores of the same pairs in a table: without a log, without a join."""
    by_id = {each["id"]: each for each in questions()}
    failed = () if name == "lm-eval" else (LAST,)
    rows = [
        {
            "id": str(id),
            "sample": sample,
            "reference_problem": by_id[id]["problem_pddl"],
            "generated_problem": None if (id, sample) in failed else text,
            "is_placeholder": bool(by_id[id]["is_placeholder"]),
            "domain": by_id[id]["domain"],
        }
        for id, sample, text in answers()
    ]
    table = score_table(pa.Table.from_pylist(rows), ScoringOptions())
    return sorted(zip(*(table[column].to_pylist() for column in ["id", "sample", *SCORES]), strict=True), key=str)


def log_of(name: str, folder: Path) -> Path:
    return {
        "lm-eval": lambda: LOGS / "lm-eval",
        "inspect": lambda: LOGS / "inspect",
        "inspect json": lambda: inspect_json(folder),
        "openai": lambda: openai_log(folder / "batch.jsonl"),
    }[name]()


def scores(output: Path) -> list[tuple[Any, ...]]:
    frame = pl.read_parquet(output / "*.parquet")
    return sorted(frame.select("reference_id", "sample", *SCORES).rows(), key=str)


@pytest.mark.parametrize("name", ["lm-eval", "inspect", "inspect json", "openai"])
def test_a_log_scores_as_the_same_pairs(name: str, tmp_path: Path) -> None:
    log, harness = log_of(name, tmp_path), name.split()[0]
    keywords: dict[str, Any] = {"harness": harness, "references": str(references(tmp_path))}
    summary = score_dataset(str(log), tmp_path / "joined", **keywords)
    assert summary.rows == len(answers())
    wanted = expected(harness)
    if harness == "openai":  # It does not count the answers to a question.
        wanted = sorted(((id, 1, *rest) for id, _, *rest in wanted), key=str)
    assert scores(tmp_path / "joined") == wanted
    if harness != "openai":  # The other two say themselves what the reference is.
        score_dataset(str(log), tmp_path / "alone", harness=harness)
        assert scores(tmp_path / "alone") == wanted


def test_the_names_of_models_and_tasks_are_those_of_the_logs(tmp_path: Path) -> None:
    found = {(each.model, each.task) for each in read("lm-eval", *(LOGS / "lm-eval").rglob("samples*"))}
    assert found == {("org/model-b", "blocks")}
    (samples,) = (LOGS / "lm-eval").rglob("samples*")
    shutil.copy(samples, tmp_path)
    assert {each.model for each in read("lm-eval", tmp_path / samples.name)} == {tmp_path.name}
    found = {(each.model, each.task) for each in read("inspect", *(LOGS / "inspect").iterdir())}
    assert found == {("written/model-a", "blocks")}


def test_a_name_that_cannot_be_read_now_is_no_other_name(failing: Callable[[Collection[Path], int], None]) -> None:
    (samples,), results = (LOGS / "lm-eval").rglob("samples*"), [*(LOGS / "lm-eval").rglob("results*")]
    assert results
    failing(results, errno.EIO)
    with pytest.raises(Unavailable):
        read("lm-eval", samples)


def test_an_error_is_an_empty_answer_with_its_reason() -> None:
    failed = [each for each in read("inspect", *(LOGS / "inspect").iterdir()) if each.error]
    assert [(each.id, each.sample, each.text) for each in failed] == [(str(LAST[0]), 2, None)]
    assert "the server is gone" in str(failed[0].error)


def test_a_field_of_the_question_can_be_the_id() -> None:
    for name, folder in (("lm-eval", "lm-eval"), ("inspect", "inspect")):
        files = [file for file in (LOGS / folder).rglob("*") if file.is_file() and "results" not in file.name]
        assert {each.id for each in read(name, *files, on=["name"])} == {each["name"] for each in questions()}


def lines_of(path: Path, *records: object) -> Path:
    path.write_text("".join(f"{each if isinstance(each, str) else json.dumps(each)}\n" for each in records))
    return path


def batch(body: object, **more: object) -> dict[str, object]:
    return {"custom_id": "q", "response": {"status_code": 200, "body": body, **more}, "error": None}


@pytest.mark.parametrize(
    ("record", "text", "error"),
    [
        (batch({"choices": [{"message": {"content": [{"type": "text", "text": "a"}, {"text": "b"}]}}]}), "ab", None),
        (batch({"choices": [{"text": "completed"}]}), "completed", None),
        (batch({"choices": [{"message": {"content": None, "refusal": "I will not."}}]}), None, "I will not."),
        (batch({"choices": [{"message": {"content": None}, "finish_reason": "length"}]}), None, "length"),
        (batch({"output": [{"type": "message", "content": [{"type": "refusal", "refusal": "No."}]}]}), None, "No."),
        (batch({"error": {"message": "too many requests"}}, status_code=429), None, "too many"),
        (batch({}, status_code=500), None, "500"),
        ({"custom_id": "q", "response": None, "error": {"code": "expired"}}, None, "expired"),
        ({"custom_id": "q"}, None, "no answer"),
        ("{broken", None, "line 1"),
        ("[]", None, "line 1"),
        ("[" * 100_000, None, "deep"),
        ('{"custom_id": %s}' % ("9" * 5000), None, "line 1"),
    ],
)
def test_what_a_batch_can_answer(record: object, text: str | None, error: str | None, tmp_path: Path) -> None:
    (found,) = read("openai", lines_of(tmp_path / "batch.jsonl", record))
    assert found.text == text
    assert (found.error is None) if error is None else (error in str(found.error))


def test_several_choices_are_several_samples(tmp_path: Path) -> None:
    choices = [{"message": {"content": each}} for each in "abc"]
    found = read("openai", lines_of(tmp_path / "batch.jsonl", batch({"choices": choices})))
    assert [(each.sample, each.text) for each in found] == [(1, "a"), (2, "b"), (3, "c")]


def test_a_request_that_failed_is_one_of_the_batch_s_model(tmp_path: Path) -> None:
    good = batch({"model": "m", "choices": [{"text": "yes"}]}) | {"custom_id": str(FIRST_ID)}
    failed = {"custom_id": str(FIRST_ID), "response": None, "error": {"code": "expired"}}
    other = batch({"model": "n", "choices": [{"text": "yes"}]}) | {"custom_id": str(FIRST_ID)}
    lines_of(tmp_path / "one.jsonl", failed, good, "{")
    lines_of(tmp_path / "two.jsonl", failed, good, other)
    score_dataset(str(tmp_path / "*.jsonl"), tmp_path / "out", harness="openai", references=str(references(tmp_path)))
    found = pl.read_parquet(tmp_path / "out" / "*.parquet").select("log", "model").rows()
    assert [model for log, model in found if log == "one.jsonl"] == ["m", "m", "m"]
    assert [model for log, model in found if log == "two.jsonl"] == [None, "m", "n"]


def test_the_id_of_a_log_can_be_several_fields_of_its_questions(tmp_path: Path) -> None:
    """Also one that is called like a column of the log."""
    keys = [{"task": task, "n": n} for task in "ab" for n in range(2)]
    rows = [{"doc_id": 7, "doc": key, "resps": [[f"(go {key['task']} {key['n']})"]]} for key in keys]
    log = lines_of(tmp_path / "samples_x.jsonl", *rows)
    table = pa.Table.from_pylist([{**key, "reference_plan": f"(go {key['task']} {key['n']})"} for key in keys[::-1]])
    pq.write_table(table, tmp_path / "plans.parquet")
    for number, key in enumerate((["task", "n"], ["n", "task"])):
        summary = score_dataset(
            log,
            tmp_path / str(number),
            harness="lm-eval",
            columns={"generated_plan": "answer"},
            references=str(tmp_path / "plans.parquet"),
            key=key,
        )
        assert (summary.rows, summary.mistakes, summary.mean("plan_lcs")) == (4, 0, 1.0)


@pytest.mark.parametrize("answers", ["problem", "plan", "domain"])
def test_a_log_without_any_reference_is_refused(answers: str, tmp_path: Path) -> None:
    log = lines_of(tmp_path / "batch.jsonl", batch({"choices": [{"text": "yes"}]}))
    with pytest.raises(DatasetError, match="--references"):
        score_dataset(str(log), tmp_path / "out", harness="openai", columns={f"generated_{answers}": "answer"})
    assert not (tmp_path / "out").exists()


def test_the_answers_of_the_first_filter_count_once(tmp_path: Path) -> None:
    rows = [
        {"doc_id": id, "doc": {}, "target": "t", "resps": [["raw"]], "filtered_resps": [each], "filter": each}
        for each in ("strict", "flexible")
        for id in range(3)
    ]
    found = read("lm-eval", lines_of(tmp_path / "samples_t.jsonl", *rows))
    assert [(each.id, each.text) for each in found] == [("0", "raw"), ("1", "raw"), ("2", "raw")]
    (choice,) = read("lm-eval", lines_of(tmp_path / "samples_c.jsonl", {"doc_id": 1, "resps": [[[-1.5, False]]]}))
    assert choice.text is None and "no text" in str(choice.error)


def test_a_damaged_or_endless_line_costs_its_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "RECORD_BYTES", 1000)
    good = batch({"choices": [{"text": "yes"}]})
    log = lines_of(tmp_path / "batch.jsonl", good, "{", json.dumps(batch({"x": "y" * 5000})), "", good)
    found = read("openai", log)
    assert [each.text for each in found] == ["yes", None, None, "yes"]
    assert "line 2" in str(found[1].error) and "1,000 bytes" in str(found[2].error)


def archive(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return path


def test_a_member_that_is_a_bomb_or_broken_costs_its_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(harness_room, "RECORD_BYTES", 100_000)
    sample = {"id": 1, "epoch": 1, "target": "t", "output": {"choices": [{"message": {"content": "yes"}}]}}
    members = {
        "header.json": b'{"eval": {"model": "m"}}',
        "samples/1_epoch_1.json": json.dumps(sample).encode(),
        "samples/2_epoch_1.json": b" " * 10_000_000,
        "samples/3_epoch_1.json": b"{",
        "summaries.json": b"[]",
    }
    found = read("inspect", archive(tmp_path / "log.eval", members))
    assert [(each.id, each.model, each.text) for each in found] == [
        ("1", "m", "yes"),
        (None, "m", None),
        (None, "m", None),
    ]
    assert "2_epoch_1" in str(found[1].error) and "3_epoch_1" in str(found[2].error)


def sample_member(answer: str, epoch: object = 1) -> bytes:
    sample = {"id": 1, "epoch": epoch, "target": "t", "output": {"choices": [{"message": {"content": answer}}]}}
    return json.dumps(sample).encode()


@pytest.mark.parametrize("fault", ["flipped", "lzma", "encrypted", "method"])
@pytest.mark.parametrize("damaged", ["samples/2_epoch_1.json", "header.json"])
def test_a_member_that_cannot_be_unpacked_costs_its_row_and_the_header_its_log(
    fault: str, damaged: str, tmp_path: Path
) -> None:
    method = zipfile.ZIP_LZMA if fault == "lzma" else zipfile.ZIP_DEFLATED
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w", method) as file:
        file.writestr("header.json", b'{"eval": {"model": "m"}}')
        for number in (1, 2, 3):
            file.writestr(f"samples/{number}_epoch_1.json", sample_member(f"answer {number} " * 50))
        info = file.getinfo(damaged)
    content = bytearray(path.read_bytes())
    entry = content.rindex(damaged.encode()) - 46  # in the directory at the end
    data = info.header_offset + 30 + len(damaged)
    if fault == "encrypted":
        for flags in (entry + 8, info.header_offset + 6):
            content[flags] |= 1
    elif fault == "method":
        content[entry + 10] = content[info.header_offset + 8] = 99
    else:
        kept = 9 if fault == "lzma" else 4  # Behind the decompressor's own settings.
        content[data + kept : data + info.compress_size] = b"\xff" * (info.compress_size - kept)
        content[data + kept - 4] ^= 7
    path.write_bytes(content)
    if damaged == "header.json":
        with pytest.raises(DatasetError, match=r"log\.eval"):
            read("inspect", path)
        return
    first, lost, last = read("inspect", path)
    assert (str(first.text)[:8], lost.text, str(last.text)[:8]) == ("answer 1", None, "answer 3")
    assert "2_epoch_1" in str(lost.error)


@pytest.mark.parametrize("epoch", [10**20, -(10**20), 0, True, None, "2"])
def test_an_epoch_that_is_none_counts_as_the_first(epoch: object, tmp_path: Path) -> None:
    members = {"header.json": b'{"eval": {"model": "m"}}', "samples/1.json": sample_member("yes", epoch)}
    (found,) = read("inspect", archive(tmp_path / "log.eval", members))
    assert (found.sample, found.text) == (1, "yes")


@pytest.mark.parametrize(
    "content", [b"", b"no archive", b"PK\x03\x04" + b"\0" * 100, "no header", b'{"eval": {"model": "m"}}']
)
def test_a_file_that_is_no_log_is_said(content: bytes | str, tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    if isinstance(content, str):
        archive(path, {"samples/1.json": b"{}"})
    else:
        path.write_bytes(content)
    with pytest.raises(DatasetError, match=r"log\.eval"):
        read("inspect", path)
    path = path.rename(tmp_path / "log.json")
    with pytest.raises(DatasetError, match=r"log\.json"):
        path.write_text('{"samples": []}')
        read("inspect", path)


@pytest.mark.slow
@pytest.mark.skipif(not (find_spec("inspect_ai") and find_spec("lm_eval")), reason="the packages are not installed")
def test_logs_that_the_packages_write_now_score_as_the_same_pairs(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.measure.harness_logs", str(tmp_path / "logs")]
    subprocess.run(command, cwd=ROOT, env=ENVIRONMENT, check=True, timeout=300, capture_output=True)
    for name, folder in (("lm-eval", "lm-eval"), ("inspect", "inspect"), ("inspect", "inspect-json")):
        output = tmp_path / folder
        score_dataset(str(tmp_path / "logs" / folder), output, harness=name, references=str(references(tmp_path)))
        assert scores(output) == expected(name)
    for name in ("inspect", "lm-eval"):
        output = tmp_path / f"acpbench {name}"
        score_dataset(str(tmp_path / "logs" / f"acpbench-{name}"), output, harness=name)
        rows = pq.read_table(output, columns=["question", "answer_correct"]).to_pylist()
        assert {(row["question"], row["answer_correct"]) for row in rows} == {("landmark", True), ("yes_no", False)}


def planbench(folder: Path) -> Path:
    """A checkout of PlanBench with two configurations, one of which points outside of it."""
    files = folder / "llm_planning_analysis"
    instances = [
        {
            "instance_id": 2,
            "extracted_llm_plan": "(pickup a)\n",
            "llm_correct": True,
            "ground_truth_plan": "(pickup a)\n",
        },
        {"instance_id": 3, "extracted_llm_plan": ["(pickup a)", "(putdown a)"], "correct": "False"},
        {"instance_id": "../../../secret", "extracted_llm_plan": "(pickup a)", "llm_raw_response": "[PLAN](pickup a)"},
        {"instance_id": 9, "extracted_llm_plan": "", "llm_raw_response": None},
        "no instance",
    ]
    results = {"task": "t1", "domain": "blocks", "engine": "gpt-4", "instances": instances}
    problem = "(define (problem p) (:domain b) (:objects a) (:init (clear a)) (:goal (held a)))"
    domain = "(define (domain b) (:action pickup :parameters (?x) :precondition (clear ?x) :effect (held ?x)))"
    template = "instances_template: instance-{}.pddl\n"
    generation = [f"results/{each}/gpt-4_chat/task_1_plan_generation.json" for each in ("blocks", "other")]
    written = {
        "secret.pddl": problem,
        "configs/blocks.yaml": f"instance_dir: blocks\ndomain_file: 'b.pddl'\n{template}",
        "configs/other.yaml": f"instance_dir: ../..\ndomain_file: ../secret.pddl\n{template}",
        "instances/b.pddl": domain,
        "instances/blocks/instance-2.pddl": problem,
        "instances/blocks/instance-3.pddl": problem,
        **dict.fromkeys(generation, json.dumps(results)),
        "results/blocks/gpt-4_chat/task_1_plan_generation_pddl.json": json.dumps(results),
        "results/blocks/gpt-4_chat/task_2_plan_optimality.json": json.dumps(results),
    }
    for name, text in written.items():
        (files / name).parent.mkdir(parents=True, exist_ok=True)
        (files / name).write_text(text)
    return files


def test_planbench(tmp_path: Path) -> None:
    files = planbench(tmp_path)
    score_dataset(str(files / "results"), tmp_path / "out", harness="planbench", workers=1)
    scored = pl.read_parquet(tmp_path / "out" / "*.parquet")
    assert scored.height == 15 and set(scored["model"]) == {"gpt-4"}
    plain = scored.filter(pl.col("log").str.contains("blocks") & ~pl.col("task").str.contains("pddl"))
    assert plain["reference_id"].to_list()[:2] == ["blocks/2", "blocks/3"]
    assert plain["plan_verdict"].to_list() == ["valid", "unknown_action", None, None, None]
    assert plain["recorded_correct"].to_list() == [True, False, None, None, None]
    assert plain["reference_problem"].null_count() == 3, "an id leads nowhere else"
    other = scored.filter(pl.col("log").str.contains("other"))
    assert other["reference_problem"].null_count() == other["domain"].null_count() == 5
    raw = scored.filter(pl.col("task").str.contains("pddl"))["generated_plan"].to_list()
    assert "[PLAN](pickup a)" in raw
    for wrong in ("task_2_plan_optimality.json", "task_1_damaged.json"):
        file = files / "results" / "blocks" / "gpt-4_chat" / wrong
        file.touch()
        with pytest.raises(DatasetError, match="PlanBench"):
            score_dataset(str(file), tmp_path / "none", harness="planbench", workers=1)
