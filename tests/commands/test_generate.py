"""``pddl-eval generate``: the files it writes, what it prints, and what it says when the input is wrong."""

from __future__ import annotations

import json
from collections import Counter
from itertools import islice
from pathlib import Path

import pddl_eval
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pddl_eval.benchmark import PRESETS, TASKS_SCHEMA, Variants, files
from pddl_eval.benchmark.enumeration import PAIRS_SCHEMA

from tests.corpus import CORPUS
from tests.support.domain_variants import domain_rows
from tests.support.running import run

BUNDLED = Path(pddl_eval.__file__).parent / "benchmark" / "sample.parquet"
HELD = (
    "(define (problem p) (:domain blocksworld) (:objects a b)"
    " (:init (holding a) (clear b) (on-table b)) (:goal (and (on a b))))"
)


@pytest.fixture
def references(tmp_path: Path) -> Path:
    path = tmp_path / "references.parquet"
    table = pa.table({"n": range(300), "reference_problem": [HELD] * 300})
    pq.write_table(table, path, row_group_size=100)
    return path


def test_the_bundled_sample_is_written(tmp_path: Path) -> None:
    result = run("generate", "sample", tmp_path / "sample.parquet")
    assert result.exit_code == 0 and "292" in result.stdout
    assert pq.read_table(tmp_path / "sample.parquet").equals(pq.read_table(BUNDLED))


def test_the_benchmark_is_written_and_table_1_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On its first pairs; that all of them are right is tested in ``tests/benchmark``."""
    whole = files.benchmark_pairs
    monkeypatch.setattr(files, "benchmark_pairs", lambda: islice(whole(), 500))
    result = run("generate", "planetarium", tmp_path / "new" / "pairs.parquet")
    assert result.exit_code == 0, result.output
    written = pq.ParquetFile(tmp_path / "new" / "pairs.parquet")
    assert written.schema_arrow == PAIRS_SCHEMA and written.metadata.num_rows == 500
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["pairs.parquet"]
    line = next(line for line in result.stdout.splitlines() if "blocksworld" in line)
    assert line.split()[1] == "500"


def test_variants_are_the_same_for_any_number_of_workers(
    references: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "ROW_GROUP_ROWS", 100)
    for workers in (1, 2):
        result = run(
            "generate", "variants", references, tmp_path / f"{workers}.parquet", "--seed", 3, "--workers", workers
        )
        assert result.exit_code == 0, result.output
    assert (tmp_path / "1.parquet").read_bytes() == (tmp_path / "2.parquet").read_bytes()
    written = pq.ParquetFile(tmp_path / "1.parquet")
    assert written.schema_arrow == Variants(PRESETS["every-kind"]).schema(pq.read_schema(references))
    assert (written.metadata.num_rows, written.num_row_groups) == (300, 3)
    assert "300 answers; 0 left out" in result.stdout


def test_there_can_be_several_answers_to_a_reference(references: Path, tmp_path: Path) -> None:
    options = "--per-reference", 3, "--preset", "fine-tuned", "--workers", 1
    result = run("generate", "variants", references, tmp_path / "out.parquet", *options)
    assert result.exit_code == 0, result.output
    assert pq.read_table(tmp_path / "out.parquet")["n"].to_pylist() == [n for n in range(300) for _ in range(3)]


def test_answers_to_plans_are_the_same_for_any_number_of_workers(
    references: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "ROW_GROUP_ROWS", 100)
    for workers in (1, 2):
        out = tmp_path / f"{workers}.parquet"
        result = run("generate", "variants", references, out, "--kind", "plan", "--workers", workers)
        assert result.exit_code == 0 and "300 answers" in result.stdout, result.output
    written = pq.read_table(out)
    assert written.equals(pq.read_table(tmp_path / "1.parquet"))
    assert written.column_names[-3:] == ["generated_plan", "label_plan", "label_plan_valid"]
    labels = Counter(zip(*(written[name].to_pylist() for name in written.column_names[-2:]), strict=True))
    assert labels["same_plan", True] and labels["plan_step_lost", False]


def test_another_seed_gives_other_answers(references: Path, tmp_path: Path) -> None:
    for seed in (1, 2):
        run("generate", "variants", references, tmp_path / f"{seed}.parquet", "--seed", seed, "--workers", 1)
    assert not pq.read_table(tmp_path / "1.parquet").equals(pq.read_table(tmp_path / "2.parquet"))


def test_references_that_cannot_be_used_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "in.parquet"
    pq.write_table(pa.table({"reference_problem": [HELD, "nothing", None]}), path)
    assert "1 answers; 2 left out" in run("generate", "variants", path, tmp_path / "out.parquet", "--workers", 1).stdout


def test_variants_of_references_that_are_all_unusable_are_an_error_and_no_file(tmp_path: Path) -> None:
    path, output = tmp_path / "bad.parquet", tmp_path / "out.parquet"
    pq.write_table(pa.table({"reference_problem": ["", "(define (problem p)", None]}), path)
    result = run("generate", "variants", path, output, "--workers", 1)
    assert result.exit_code == 2 and "3 references" in result.stderr
    assert [each.name for each in tmp_path.iterdir()] == ["bad.parquet"]


def test_variants_of_domains_and_what_their_scores_must_be(tmp_path: Path) -> None:
    """From the corpus to a scored dataset in which every verdict is its label."""
    answers, scored = (tmp_path / name for name in ("answers.parquet", "scored"))
    references = [{"reference_domain": entry.domain} for entry in CORPUS.values()]
    pq.write_table(pa.Table.from_pylist(domain_rows(references, seed=0)), answers)
    assert run("score", answers, scored, "--engine", "local").exit_code == 0
    table = pq.read_table(scored)
    for label, column in {
        "label_domain_equivalent": "domain_equivalent",
        "label_domain_verdict": "domain_verdict",
    }.items():
        expected = zip(table[label].to_pylist(), table[column].to_pylist(), strict=True)
        assert [pair for pair in expected if pair[0] not in (None, pair[1])] == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["{references}", "{out}", "--preset", "strong"], "strong"),
        (["{out}/nothing", "{out}"], "nothing"),
        (["{other}", "{out}"], "reference_problem"),
        (["{references}", "{out}", "--kind", "domain"], "no column reference_domain"),
    ],
)
def test_a_mistake_is_one_sentence(arguments: list[str], said: str, references: Path, tmp_path: Path) -> None:
    other, out = tmp_path / "other.parquet", tmp_path / "out.parquet"
    pq.write_table(pa.table({"text": [""]}), other)
    result = run(
        "generate", "variants", *(each.format(references=references, other=other, out=out) for each in arguments)
    )
    assert result.exit_code == 2 and said in result.stderr
    assert not out.exists()


@pytest.mark.slow
def test_questions_are_the_same_for_any_number_of_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "ROW_GROUP_ROWS", 8)
    domain, problems = tmp_path / "ferry.pddl", tmp_path / "problems.parquet"
    domain.write_text(CORPUS["ferry"].domain, encoding="utf-8")
    pq.write_table(pa.table({"reference_problem": [CORPUS["ferry"].problem, "nothing"] * 2}), problems)
    for workers in (1, 2):
        options = ["--kind", "applicable,validity", "--per-problem", 4, "--domain", domain, "--workers", workers]
        result = run("generate", "questions", problems, tmp_path / f"{workers}.parquet", *options)
        assert result.exit_code == 0, result.output
    assert "8 questions; 8 fewer" in result.stdout
    table = pq.read_table(tmp_path / "1.parquet")
    assert table.equals(pq.read_table(tmp_path / "2.parquet"))
    assert table["question"].to_pylist() == ["applicable", "validity"] * 4


def test_an_unknown_kind_of_question_is_refused(references: Path, tmp_path: Path) -> None:
    result = run("generate", "questions", references, tmp_path / "out.parquet", "--kind", "landmarks")
    assert result.exit_code == 2 and "landmark" in result.stderr
    assert not (tmp_path / "out.parquet").exists()


def test_tasks_of_a_domain_file_are_written_and_excluded(tmp_path: Path) -> None:
    """What a first run has made, a second does not make again."""
    domain, seed = tmp_path / "ferry.pddl", tmp_path / "seed.pddl"
    domain.write_text(CORPUS["ferry"].domain)
    seed.write_text(CORPUS["ferry"].problem)
    asked = ["--domain", domain, "--from", seed, "--count", 8, "--steps", "1..4", "--workers", 1]
    result = run("generate", "tasks", tmp_path / "first.parquet", *asked)
    assert result.exit_code == 0, result.output
    first = pq.read_table(tmp_path / "first.parquet")
    assert first.schema == TASKS_SCHEMA and first["steps"].value_counts().to_pylist()
    assert sorted(first["steps"].to_pylist()) == [1, 1, 2, 2, 3, 3, 4, 4]
    result = run("generate", "tasks", tmp_path / "second.parquet", *asked, "--exclude", tmp_path / "first.parquet")
    second = pq.read_table(tmp_path / "second.parquet")
    assert len(second) == 8 and not {*second["reference_id"].to_pylist()} & {*first["reference_id"].to_pylist()}
    assert run("generate", "tasks", tmp_path / "x.parquet", *asked, "--steps", "four").exit_code == 2


def test_a_seed_that_is_not_there_is_named(tmp_path: Path) -> None:
    result = run("generate", "tasks", tmp_path / "x.parquet", "--domain", "gripper", "--from", tmp_path / "gone.pddl")
    assert result.exit_code == 2 and "gone.pddl" in result.stderr


@pytest.mark.parametrize(
    ("command", "column"),
    [
        ("variants", "reference_problem"),
        ("variants --kind plan", "reference_plan"),
        ("questions", "domain"),
        ("obfuscate", "domain"),
        ("prompts --kind plan", "reference_problem"),
        ("prompts --kind question", "question_text"),
    ],
)
def test_a_column_that_should_hold_text_is_named(command: str, column: str, tmp_path: Path) -> None:
    pq.write_table(pa.table({"reference_problem": [HELD], column: [1]}), tmp_path / "numbers.parquet")
    name, *options = command.split()
    result = run("generate", name, tmp_path / "numbers.parquet", tmp_path / "out", *options)
    assert result.exit_code == 2 and f"olumn {column} should hold text" in result.stderr


def test_requests_are_made_of_texts_that_are_not_utf_8(tmp_path: Path) -> None:
    text = pa.array([f"{HELD} \xe4".encode("latin-1")]).cast(pa.string(), safe=False)
    pq.write_table(pa.table({"reference_problem": text}), tmp_path / "tasks.parquet")
    result = run("generate", "prompts", tmp_path / "tasks.parquet", tmp_path / "batch.jsonl", "--kind", "plan")
    assert (
        result.exit_code == 0
        and HELD in json.loads((tmp_path / "batch.jsonl").read_text())["body"]["messages"][0]["content"]
    )
