"""The command as a person uses it: what it prints, what it says when something is wrong, how it stops."""

from __future__ import annotations

import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pddl_eval.commands.score import score as score_command
from pddl_eval.run import MANIFEST, SUMMARY
from pddl_eval.unchanged import signed

from tests.support.parquet_files import damage, flip_bit, read_output, write_numbered
from tests.support.running import ENVIRONMENT, ROOT, only_line, run, settings, shard_rows, start

TOWER = (
    "(define (problem tower) (:domain blocksworld) (:objects a b)"
    " (:init (arm-empty) (clear a) (on-table a) (clear b) (on-table b)) (:goal (and (on a b))))"
)
RENAMED = ("--column", "generated_problem=answer")


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    table = pa.table(
        {
            "pair_id": list(range(12)),
            "reference_problem": [TOWER] * 12,
            "answer": [TOWER] * 9 + [None, "", "I cannot write PDDL."],
            "is_placeholder": [False] * 12,
        }
    )
    pq.write_table(table, tmp_path / "pairs.parquet")
    return tmp_path / "pairs.parquet"


def test_a_dataset_is_scored_summed_up_and_not_scored_again(pairs: Path, tmp_path: Path) -> None:
    arguments = ("score", pairs, tmp_path / "out", *RENAMED, *shard_rows(5, tmp_path))
    first = start("-m", "pddl_eval", *arguments)
    assert first.returncode == 0, first.stderr
    assert "12 in 3 shards" in first.stdout
    assert str(tmp_path / "out") in first.stdout
    assert "pairs/s" in first.stdout
    table = pa.concat_tables(pq.read_table(path) for path in sorted((tmp_path / "out").glob("*.parquet")))
    assert table.select(["pair_id", "reference_problem", "answer", "is_placeholder"]).equals(pq.read_table(pairs))
    assert table["verdict"].to_pylist() == ["identical"] * 9 + ["empty", "empty", "unparseable"]
    assert table["equivalent"].to_pylist() == [True] * 9 + [False] * 3
    assert json.loads((tmp_path / "out" / SUMMARY).read_text())["verdicts"]["identical"] == 9
    second = run(*arguments)
    assert second.exit_code == 0
    assert "3 of them from an earlier start" in second.stdout


AGAIN = """
import sys
from pddl_eval.commands.cli import main
try:
    main(sys.argv[1:])
except SystemExit as ended:
    print(sorted({"pyarrow", "polars", "ray"} & set(sys.modules)), file=sys.stderr)
    sys.exit(ended.code)
"""
"""The command, and which libraries it has loaded."""


def models_of(pairs: Path, folder: Path) -> tuple[str | Path, ...]:
    """The command for a folder of two files, whose rows have models."""
    (folder / "in").mkdir()
    table = pq.read_table(pairs).append_column("model", pa.array(["a", "b", "c"] * 4))
    for name in ("one", "two"):
        pq.write_table(table, folder / "in" / f"{name}.parquet")
    (folder / "in" / "notes.txt").write_text("There are no rows here.\n")
    return "score", folder / "in", folder / "out", *RENAMED


def test_a_finished_run_says_the_same_again_and_loads_nothing(pairs: Path, tmp_path: Path) -> None:
    command = models_of(pairs, tmp_path)
    first = start("-c", AGAIN, *command)
    assert first.returncode == 0 and "polars" in first.stderr
    again = start("-c", AGAIN, *command)
    assert (again.returncode, again.stderr) == (0, "[]\n")
    kept = json.loads((tmp_path / "out" / SUMMARY).read_text())
    # As a summary that an earlier version has written: all is read, and kept from then on.
    (tmp_path / "out" / SUMMARY).write_text(json.dumps(signed({**kept, "asked": None, "said": None})))
    read = start("-c", AGAIN, *command)
    assert "polars" in read.stderr and read.stdout == again.stdout
    assert "2 of them from an earlier start" in again.stdout and "75.0 % equivalent" in again.stdout
    assert json.loads((tmp_path / "out" / SUMMARY).read_text()) == kept
    assert run(*command).stdout == again.stdout
    for more in (("--part", "1/1"), ("--report", tmp_path / "report.html"), ("--verbose",), ("--dry-run",)):
        assert "pyarrow" in start("-c", AGAIN, *command, *more).stderr


def test_a_table_of_models_that_would_be_empty_loads_nothing(tmp_path: Path) -> None:
    """Plans without problems are right or wrong nowhere."""
    table = pa.table({"model": ["a", "b"], "reference_plan": ["(pick a)"] * 2, "generated_plan": ["(pick a)", "(b)"]})
    pq.write_table(table, tmp_path / "plans.parquet")
    scored = start("-c", AGAIN, "score", tmp_path / "plans.parquet", tmp_path / "out", "--quiet")
    assert (scored.returncode, scored.stderr) == (0, "['pyarrow']\n")


def test_a_file_of_the_input_is_hashed_once(pairs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pddl_eval.datasets.inputs.SETTLED_SECONDS", 0.0)
    names: list[str] = []
    digest = hashlib.file_digest
    monkeypatch.setattr(
        hashlib,
        "file_digest",
        lambda file, *how: (names.append(Path(getattr(file, "name", "")).name), digest(file, *how))[1],
    )
    command = models_of(pairs, tmp_path)
    assert run(*command).exit_code == 0
    files = ("one.parquet", "two.parquet", "notes.txt")
    assert [names.count(name) for name in files] == [1, 1, 1]
    assert score_command.says_again(score_command.make_context("score", [str(each) for each in command[1:]]))
    assert [names.count(name) for name in files] == [1, 1, 2], "what is no file of rows is not in the manifest"


def edit(place: Path) -> None:
    """One byte that says nothing, or nothing that counts."""
    content = place.read_bytes()
    os.utime(place, ns=(0, 0))
    place.write_bytes(content[:-9] + bytes([content[-9] ^ 1]) + content[-8:])


@pytest.mark.parametrize(
    "harm",
    [
        lambda folder: edit(folder / "in" / "one.parquet"),
        lambda folder: edit(folder / "in" / "notes.txt"),
        lambda folder: edit(min((folder / "out").glob("*.parquet"))),
        lambda folder: edit(folder / "out" / MANIFEST),
        lambda folder: edit(folder / "out" / SUMMARY),
        lambda folder: min((folder / "out").glob("*.parquet")).unlink(),
        lambda folder: (folder / "in" / "three.parquet").write_bytes((folder / "in" / "two.parquet").read_bytes()),
        lambda folder: (folder / "in" / "two.parquet").unlink(),
        lambda folder: (folder / "out" / "_running-x.json").write_text("{}"),
    ],
)
def test_after_a_changed_byte_nothing_is_said_from_memory(
    harm: Callable[[Path], None], pairs: Path, tmp_path: Path
) -> None:
    command = models_of(pairs, tmp_path)
    assert run(*command).exit_code == 0
    context = score_command.make_context("score", [str(each) for each in command[1:]])
    assert score_command.says_again(context)
    for more in (["--domain", "gripper"], ["--answer", "last"], ["--where", "pair_id > 3"]):
        assert not score_command.says_again(score_command.make_context("score", [*map(str, command[1:]), *more]))
    harm(tmp_path)
    assert not score_command.says_again(context)


@pytest.mark.parametrize("place", ["in/*.parquet", "in/one.parquet", "*/*.parquet", "**/t*.parquet"])
def test_a_pattern_is_looked_at_again(place: str, pairs: Path, tmp_path: Path) -> None:
    models_of(pairs, tmp_path)
    (tmp_path / "other").mkdir()
    command = ("score", f"{tmp_path}/{place}", tmp_path / "other" / "out", *RENAMED)
    if "**" in place:  # the output lies in what is walked
        command = ("score", f"{tmp_path}/in/{place}", tmp_path / "other" / "out", *RENAMED)
    assert run(*command).exit_code == 0
    assert start("-c", AGAIN, *command).stderr == "[]\n"
    pq.write_table(pq.read_table(pairs), tmp_path / "in" / "t.parquet")
    assert start("-c", AGAIN, *command).stderr == "[]\n" if place == "in/one.parquet" else run(*command).exit_code == 2


def test_a_domain_header_is_signed_and_explained_as_it_was_scored(tmp_path: Path) -> None:
    domain = "(define (domain d) (:predicates (p) (q)) (:action go :precondition (p) :effect (q)))"
    actions = "(:action go :precondition (p) :effect (q))"
    pq.write_table(pa.table({"reference_domain": [domain], "generated_domain": [actions]}), tmp_path / "in.parquet")
    made = run("score", tmp_path / "in.parquet", tmp_path / "out", *settings(tmp_path, 'domain-header = "reference"'))
    assert made.exit_code == 0 and "|header:reference|" in made.stdout
    (partition,) = (tmp_path / "out").glob("*.parquet")
    assert pq.read_table(partition)["domain_verdict"].to_pylist() == ["identical"]
    assert "identical" in run("explain", tmp_path / "out", "--row", 0).stdout
    by_flag = run("score", tmp_path / "in.parquet", tmp_path / "flag", "--domain-header", "reference")
    assert by_flag.exit_code == 0 and "|header:reference|" in by_flag.stdout
    refused = run("score", tmp_path / "in.parquet", tmp_path / "other", *settings(tmp_path, 'domain-header = "mine"'))
    assert refused.exit_code == 2 and "reference" in only_line(refused.stderr)


@pytest.mark.parametrize("form", ["parquet", "jsonl"])
def test_a_condition_chooses_the_rows_that_are_scored(pairs: Path, tmp_path: Path, form: str) -> None:
    table = pl.read_parquet(pairs)
    if form == "jsonl":
        table.write_ndjson(tmp_path / "pairs.jsonl")
        with (tmp_path / "pairs.jsonl").open("a") as file:
            file.write("{a damaged line\n")
    chosen = ("score", tmp_path / f"pairs.{form}", tmp_path / "out", *RENAMED, "--where")
    condition = "pair_id > avg(pair_id) and answer is not null"  # 6, 7, 8, and two that are not right
    for _ in range(2):  # The second start finds what the first has written.
        result = run(*chosen, condition)
        assert result.exit_code == 0 and f"5 of {12 + (form == 'jsonl')} rows" in result.stderr
    found = read_output(tmp_path / "out")
    assert found["pair_id"].to_pylist() == [6, 7, 8, 10, 11, *([None] * (form == "jsonl"))]
    assert found.schema.names[:4] == table.columns
    assert "another run" in only_line(run(*chosen, "pair_id = 6").stderr)
    for wrong, said in (("pair = 1", "did you mean pair_id?"), ("pair_id =", "parse"), ("pair_id > 99", "no row")):
        refused = run(*chosen[:2], tmp_path / "other", *RENAMED, "--where", wrong)
        assert refused.exit_code == 2 and said in only_line(refused.stderr)


def test_what_is_doubtful_in_the_data_is_said(tmp_path: Path) -> None:
    problem = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"
    rows = [{"id": number, "reference_problem": problem, "generated_problem": problem} for number in (1, 2, 2, 3)]
    lines = [json.dumps(row) for row in rows]
    (tmp_path / "in.jsonl").write_text("\n".join([*lines[:2], "{cut", *lines[2:]]))
    said = run("score", tmp_path / "in.jsonl", tmp_path / "out").stdout
    assert "in.jsonl:3" in said
    assert "1 row equal to another" in said
    wrong = [{**row, "reference_problem": "Sure, here it is."} for row in rows]
    (tmp_path / "wrong.jsonl").write_text("\n".join(map(json.dumps, [*rows, *wrong])))
    assert "wrong way round" in run("score", tmp_path / "wrong.jsonl", tmp_path / "wrong").stdout
    assert "wrong way round" not in said


def test_a_dry_run_lists_the_shards_and_writes_nothing(pairs: Path, tmp_path: Path) -> None:
    result = run("score", pairs, tmp_path / "out", *RENAMED, *shard_rows(5, tmp_path), "--dry-run")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[0].split() == ["to", "do", "5", "pairs-000000000000-000000000005.parquet"]
    assert "3 of 3 shards" in result.stdout and "12 of 12 pairs" in result.stdout
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("flag", ["--check-solvable", "--no-check-solvable"])
def test_both_spellings_of_a_switch_are_accepted(pairs: Path, tmp_path: Path, flag: str) -> None:
    assert run("score", pairs, tmp_path / "out", *RENAMED, flag).exit_code == 0
    solvable = pq.read_table(tmp_path / "out" / "pairs-000000000000-000000000012.parquet")["solvable"].to_pylist()
    assert (solvable[0] is True) == (flag == "--check-solvable")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("none.parquet", "out"), "none.parquet"),
        (("{root}/pyproject.toml", "out"), "pyproject.toml"),
        (("pairs.parquet", "out"), "generated_problem"),
        (("pairs.parquet", "out", "--column", "generated_problem=anwser"), "did you mean answer?"),
        (("pairs.parquet", "out", "--column", "answer"), "MEANING=NAME"),
        (("pairs.parquet", "out", "--column", "goal=answer"), "goal"),
        (("pairs.parquet", "out", "--domain", "blockworld"), "did you mean blocksworld?"),
        (("pairs.parquet", "out", "--domain", "{root}/LICENSE"), "LICENSE"),
        (("pairs.parquet", "out", "--column", "generated_problem=reference_problem"), "cannot be both"),
        (("pairs.parquet", "out", *RENAMED, *RENAMED), "twice"),
        (("pairs.parquet", ""), "place"),
        (("", "out"), "place"),
        (("pairs.parquet", "-"), "place"),
        (("pairs.parquet", "out.parquet"), "name a folder"),
        (("pairs.parquet", "out", "--engine", "spark"), "spark"),
        (("pairs.parquet", "out", "--workers", "0"), "0"),
        (("pairs.parquet", "out", "--row-seconds", "0"), "0.0"),
        (("s3://key:secret@bucket/in", "out"), "AWS_ACCESS_KEY_ID"),
    ],
)
def test_a_mistake_is_one_sentence(
    arguments: tuple[str, ...], said: str, pairs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(pairs.parent)
    result = run("score", *(argument.replace("{root}", str(ROOT)) for argument in arguments))
    assert result.exit_code == 2, result.stderr
    assert only_line(result.stderr).startswith("pddl-eval: ") and said in result.stderr
    assert "secret@" not in result.stderr
    assert not (pairs.parent / "out").exists()


def test_an_output_that_cannot_be_written_is_one_sentence(pairs: Path) -> None:
    result = run("score", pairs, pairs / "out", *RENAMED)
    assert result.exit_code == 1
    assert str(pairs / "out") in only_line(result.stderr)


def test_another_run_in_the_folder_is_refused(pairs: Path, tmp_path: Path) -> None:
    arguments = ("score", pairs, tmp_path / "out", *RENAMED)
    assert run(*arguments).exit_code == 0
    manifest = (tmp_path / "out" / MANIFEST).read_bytes()
    other = run(*arguments, "--no-check-solvable")
    assert other.exit_code == 2
    assert "check_solvable" in only_line(other.stderr)
    assert (tmp_path / "out" / MANIFEST).read_bytes() == manifest


def test_a_damaged_input_ends_with_one_sentence_and_its_readable_rows(tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.parquet"
    texts = [f"{TOWER}; {n}" for n in range(60)]
    pq.write_table(pa.table({"reference_problem": texts, "generated_problem": texts}), pairs, row_group_size=20)
    damage(pairs, row_group=1, column=1)
    result = run("score", pairs, tmp_path / "out")
    assert result.exit_code == 1
    assert "20 to 39" in result.stderr
    assert sum(pq.read_metadata(path).num_rows for path in (tmp_path / "out").glob("*.parquet")) == 40


INTERRUPTED = """
import click
from pddl_eval.commands.command import Command
from pddl_eval.commands.flags import flags
from pddl_eval.settings import RunOptions
from tests.support.length_scorer import length_scorer, run_scorer

@click.command(cls=Command)
@flags(RunOptions)
def score(**settings):
    source, output = {places!r}
    run_scorer(source, output, length_scorer(pause=0.3), RunOptions(**{{**settings, "shard_rows": 10}}))

if __name__ == "__main__":
    score()
"""


@pytest.mark.parametrize(
    ("number", "code", "engine", "workers"),
    [
        (signal.SIGINT, 130, "local", 1),
        pytest.param(signal.SIGINT, 130, "local", 2, marks=pytest.mark.slow),
        pytest.param(signal.SIGTERM, 143, "local", 1, marks=pytest.mark.slow),
        # Each starts a Ray of its own.
        pytest.param(signal.SIGINT, 130, "ray", 2, marks=[pytest.mark.ray, pytest.mark.slow]),
        pytest.param(signal.SIGTERM, 143, "ray", 2, marks=[pytest.mark.ray, pytest.mark.slow]),
    ],
)
def test_a_signal_stops_cleanly_and_says_how_to_go_on(
    number: signal.Signals, code: int, engine: str, workers: int, tmp_path: Path
) -> None:
    source = write_numbered(tmp_path / "pairs.parquet", rows=200, row_group=200)
    out = tmp_path / "out"
    script = tmp_path / "slow.py"
    script.write_text(INTERRUPTED.format(places=(str(source), str(out))))
    options = ["--engine", engine, "--workers", str(workers)]
    process = subprocess.Popen(
        [sys.executable, script, *options],
        env=ENVIRONMENT,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    while len(list(out.glob("*.parquet"))) < 2:
        assert process.poll() is None
        time.sleep(0.02)
    # Ctrl-C reaches the whole process group.
    (os.killpg if number == signal.SIGINT else os.kill)(process.pid, number)
    _, stderr = process.communicate(timeout=120)
    assert process.returncode == code, stderr
    assert stderr.splitlines()[-1].endswith(f": {script} {' '.join(options)}"), "the command that continues"
    assert "Traceback" not in stderr and "PC: @" not in stderr
    partitions = list(out.glob("*.parquet"))
    assert 2 <= len(partitions) < 20
    assert sum(pq.read_metadata(path).num_rows for path in partitions) == 10 * len(partitions)


def test_workers_that_are_asked_for_are_said(pairs: Path, tmp_path: Path) -> None:
    asked = run("score", pairs, tmp_path / "out", *RENAMED, "--workers", 3)
    assert "1 worker)" in asked.stdout, "there is one shard"


@pytest.mark.skipif(sys.platform != "linux", reason="workers are forks on Linux")
def test_workers_of_the_command_import_nothing_anew(tmp_path: Path) -> None:
    plans = pa.table({"reference_plan": ["(pick a)"] * 600, "generated_plan": ["(pick a)"] * 600})
    pq.write_table(plans, tmp_path / "plans.parquet")
    words = ("score", tmp_path / "plans.parquet", tmp_path / "out", "--workers", 2)
    done = start("-X", "importtime", "-m", "pddl_eval", *words)
    assert "(local, 2 workers)" in done.stdout, done.stderr
    assert re.findall(r"\| +(pyarrow\.lib|pddl_eval\.scoring\.scorer)\n", done.stderr) == [
        "pyarrow.lib",
        "pddl_eval.scoring.scorer",
    ]


def test_what_the_report_says_explains_a_row_with_the_settings_of_the_run(pairs: Path, tmp_path: Path) -> None:
    domain, out = tmp_path / "mine.pddl", tmp_path / "out"
    domain.write_text("(define (domain mine) (:action on :parameters (?x ?y) :effect (on ?x ?y)))")
    problem = TOWER.replace("blocksworld", "mine")
    pq.write_table(pa.table({"reference_problem": [problem] * 2, "answer": [problem, None]}), pairs)
    assert run("score", pairs, out, *RENAMED, "--domain", domain).exit_code == 0
    found = run("explain", out, "--row", 0)
    assert found.exit_code == 0 and "scored there as identical" in found.stdout, found.stderr
    assert "identical: equivalent" in found.stdout and "undecided" not in found.stdout


def test_a_name_cannot_tell_the_terminal_what_to_do(pairs: Path) -> None:
    result = run("score", pairs, pairs.parent / "out\x1b[2J", *RENAMED)
    assert result.exit_code == 0 and "\x1b" not in result.stdout and "\\x1b[2J" in result.stdout


HELD = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"
PLANS = {"reference_plan": ["(a)"] * 3, "generated_plan": ["(a)"] * 3}


@pytest.mark.parametrize(
    ("columns", "options", "said"),
    [
        ({"reference_problem": ["q1", None, "q3"], "generated_problem": [HELD] * 3}, [], "--references"),
        ({"reference_problem": ["q1"] * 3, "generated_problem": [HELD] * 3, **PLANS}, ["--workers", "2"], "q1"),
        ({"reference_plan": ["17"] * 3, "generated_plan": ["(a)"] * 3}, [], "--column reference_plan="),
        ({"reference_domain": ["gripper"] * 3, "generated_domain": ["(a)"] * 3}, [], "--column reference_domain="),
        ({"doc_id": [1], "target": ["q"], "resps": [HELD], "filtered_resps": [HELD]}, [], "--from lm-eval"),
        (
            {"doc_id": [1], "target": ["q"], "resps": [HELD], "filtered_resps": [HELD]},
            ["--column", "reference_problem=target", "--column", "generated_problem=resps"],
            "--from lm-eval",
        ),
        ({"custom_id": ["q"], "response": ["{}"]}, [], "--from openai"),
    ],
)
@pytest.mark.parametrize("dry", [[], ["--dry-run"]])
def test_a_run_whose_references_are_none_ends_before_it_begins(
    columns: dict[str, list[object]], options: list[str], said: str, dry: list[str], tmp_path: Path
) -> None:
    pq.write_table(pa.table(columns), tmp_path / "pairs.parquet")
    result = run("score", tmp_path / "pairs.parquet", tmp_path / "out", *options, *dry)
    assert result.exit_code == 2 and said in only_line(result.stderr)
    assert not (tmp_path / "out").exists()


def test_one_reference_that_can_be_read_is_enough_and_an_empty_one_says_nothing(tmp_path: Path) -> None:
    problems = {"reference_problem": ["q1"] * 70 + [HELD, ""], "generated_problem": [HELD] * 72}
    for name, columns in (("one", problems), ("empty", {**PLANS, "reference_plan": [None, "", " "]})):
        pq.write_table(pa.table(columns), tmp_path / f"{name}.parquet")
        assert run("score", tmp_path / f"{name}.parquet", tmp_path / name).exit_code == 0


def test_outside_strips_is_no_mistake_in_the_data_and_is_counted_for_itself(tmp_path: Path) -> None:
    cost = HELD.replace("(clear a))", "(clear a)) (:metric minimize (total-cost))")
    negation = HELD.replace("(clear a)", "(not (holding a))")
    columns = {"reference_problem": [cost, negation, "none", HELD], "generated_problem": [HELD] * 4}
    pq.write_table(pa.table(columns), tmp_path / "pairs.parquet")
    result = run("score", tmp_path / "pairs.parquet", tmp_path / "out")
    left_out = [line for line in result.stdout.splitlines() if line.startswith("left out")]
    assert result.exit_code == 0 and "mistake" not in result.stdout
    assert [line.split()[2:4] for line in left_out] == [["1", "row:"], ["2", "rows:"]]
    details = pq.read_table(tmp_path / "out")["detail"].to_pylist()
    assert ["outside STRIPS" in detail for detail in details] == [True, True, False, False]
    again = run("rescore", "--previous", tmp_path / "out", tmp_path / "pairs.parquet", tmp_path / "again")
    assert [line for line in again.stdout.splitlines() if line.startswith("left out")] == left_out


@pytest.mark.parametrize("column", ["detail", "score_micros", "generated_problem"])
def test_a_flipped_bit_is_named_and_repaired(column: str, tmp_path: Path) -> None:
    columns = {"reference_problem": [TOWER] * 4, "generated_problem": [TOWER, HELD, "none", ""]}
    pq.write_table(pa.table(columns), tmp_path / "pairs.parquet")
    command = ("score", tmp_path / "pairs.parquet", tmp_path / "out", *shard_rows(2, tmp_path))
    assert run(*command).exit_code == 0
    before = read_output(tmp_path / "out").drop_columns("score_micros")
    damaged, other = sorted((tmp_path / "out").glob("*.parquet"))
    inode = other.stat().st_ino
    flip_bit(damaged, column)
    for about in (("report", tmp_path / "out"), ("compare", tmp_path / "out", tmp_path / "out")):
        if column != "generated_problem":
            result = run(*about)
            assert result.exit_code == 2 and str(damaged) in only_line(result.stderr)
    again = run(*command)
    assert again.exit_code == 0, again.stderr
    assert read_output(tmp_path / "out").drop_columns("score_micros").equals(before)
    assert other.stat().st_ino == inode, "the others are kept"
    assert run("report", tmp_path / "out").exit_code == run("status", tmp_path / "out").exit_code == 0


@pytest.mark.parametrize(
    ("command", "missing"),
    [
        (("score", "a.parquet"), "OUTPUT"),
        (("score", "--workers", "2", "a.parquet"), "OUTPUT"),
        (("rescore", "a.parquet", "--previous", "b"), "NEW"),
        (("dedupe", "a.parquet"), "OUT.parquet"),
        (("score",), "INPUT..."),
        (("score", "--workers", "2", "--quiet"), "INPUT..."),
    ],
)
def test_the_argument_that_is_missing_is_named(command: tuple[str, ...], missing: str) -> None:
    result = run(*command)
    assert result.exit_code == 2 and f"'{missing}'" in result.stderr


def test_the_summary_has_groups_models_and_what_to_do_next(tmp_path: Path) -> None:
    rows = {
        "model": ["a", "a", "b", "b"],
        "reference_id": [1, 2, 1, 2],
        "reference_plan": ["(go a b)"] * 4,
        "generated_plan": ["(go a b)", "(go b a)", "(go a b)", "(go a b)"],
    }
    pl.DataFrame(rows).with_columns(reference_problem=pl.lit(PROBLEM), generated_problem=pl.lit(PROBLEM)).write_parquet(
        tmp_path / "answers.parquet"
    )
    result = run("score", tmp_path / "answers.parquet", tmp_path / "scored")
    lines = result.stdout.splitlines()
    headings = [line for line in lines if line in ("Problems", "Plans", "Domains", "Models", "Next", "Run")]
    assert headings == ["Problems", "Plans", "Models", "Next", "Run"]
    models = [line.split()[0] for line in lines[lines.index("Models") + 1 : lines.index("Next") - 1]]
    assert sorted(models) == ["a", "b"] and lines[-1].startswith("signature")
    (command,) = (line for line in lines if line.startswith("report"))
    arguments = command.split()[2:4]
    assert run(*arguments, "--format", "json").exit_code == 0


PROBLEM = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"
