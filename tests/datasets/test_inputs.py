"""Finding the files of an input and refusing what is none."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import Result
from pddl_eval.datasets import standard_input
from pddl_eval.datasets.inputs import Source, holds_text, open_source, partition_stem, require_columns, require_text
from pddl_eval.datasets.places import DatasetError
from pddl_eval.datasets.rows import column_batches, read_row

from tests.support.parquet_files import numbered, read_output, write_numbered
from tests.support.running import run, shard_rows


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("b.parquet", "a.parquet", "deep/er/c.parquet", "_run/x.parquet", ".hidden.parquet"):
        write_numbered(tmp_path / name, rows=3, row_group=2)
    (tmp_path / "README.md").write_text("not Parquet")
    return tmp_path


def names(*places: Path | str) -> list[str]:
    return [file.name for file in open_source([str(place) for place in places]).files]


def test_a_pipe_and_a_link_that_leads_nowhere_are_said_to_be_these(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "loop.jsonl").symlink_to("loop.jsonl")
    (tmp_path / "gone.jsonl").symlink_to("elsewhere.jsonl")
    for name, said in (("pipe", "pipe"), ("loop", "link that leads nowhere"), ("gone", "link that leads nowhere")):
        with pytest.raises(DatasetError, match=said):
            open_source(str(tmp_path / f"{name}.jsonl"))


def test_lines_with_too_many_keys_are_said_to_have_them(tmp_path: Path) -> None:
    file = tmp_path / "wide.jsonl"
    file.write_text(json.dumps({f"c{number}": number for number in range(1_001)}) + "\n")
    with pytest.raises(DatasetError, match="1,000 keys"):
        open_source(str(file))


def test_a_folder_is_walked_and_hidden_and_underscored_names_are_left_out(folder: Path) -> None:
    source = open_source(folder)
    assert [file.name for file in source.files] == ["a.parquet", "b.parquet", "deep/er/c.parquet"]
    assert source.rows == 9
    assert [group.rows for group in source.files[0].row_groups] == [2, 1]


def test_a_pattern_stays_within_one_folder_unless_it_says_otherwise(folder: Path) -> None:
    assert names(folder / "*.parquet") == ["a.parquet", "b.parquet"]
    assert names(folder / "[!a].parquet") == ["b.parquet"]
    assert names(folder / "**/*.parquet") == ["a.parquet", "b.parquet", "deep/er/c.parquet"]
    assert names(folder / "d*/?r/c.parquet") == ["deep/er/c.parquet"]


def test_a_file_whose_name_looks_like_a_pattern_is_that_file(tmp_path: Path) -> None:
    write_numbered(tmp_path / "a[1].parquet", rows=1, row_group=1)
    assert names(tmp_path / "a[1].parquet") == ["a[1].parquet"]


def test_several_inputs_are_one_and_a_file_named_twice_counts_once(folder: Path) -> None:
    assert names(folder / "b.parquet", folder / "deep", folder / "*.parquet") == [
        "a.parquet",
        "b.parquet",
        "deep/er/c.parquet",
    ]


def test_a_file_is_told_from_another_by_its_rows_and_not_by_its_time(tmp_path: Path) -> None:
    path = write_numbered(tmp_path / "a.parquet", rows=5, row_group=5)
    before = open_source(path).files
    os.utime(path, (0, 0))
    assert open_source(path).files == before
    write_numbered(path, rows=5, row_group=5, start=1)
    assert open_source(path).files != before


@pytest.mark.parametrize("content", [b"", b"PAR1", b"id,text\n1,x\n" * 9, b"PAR1" + b"\0" * 40 + b"PAR1"])
def test_a_file_that_is_not_parquet_is_named(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    path.write_bytes(content)
    with pytest.raises(DatasetError, match=r"x\.parquet is not a Parquet file"):
        open_source(path)


def test_nothing_there(tmp_path: Path) -> None:
    for place, sentence in {
        tmp_path / "none.parquet": "There is no file or folder",
        tmp_path / "*.parquet": "No file matches",
        tmp_path / "none/*.parquet": "There is no folder",
        tmp_path: "holds no files of rows",
    }.items():
        with pytest.raises(DatasetError, match=sentence) as refusal:
            open_source(place)
        assert str(place) in str(refusal.value) or place.name == "*.parquet"
    with pytest.raises(DatasetError, match="No input is named"):
        open_source([])


@pytest.mark.parametrize(
    ("other", "sentence"),
    [
        (numbered(1).drop_columns(["text"]), "a.parquet has text: string where b.parquet has no column"),
        (numbered(1).append_column("more", pa.array([1])), "a.parquet has no column where b.parquet has more: int64"),
        (numbered(1).set_column(0, "n", pa.array(["1"])), "n: int64 where b.parquet has n: string"),
        (numbered(1).select(["text", "n"]), "n: int64 where b.parquet has text: string"),
    ],
)
def test_files_with_other_columns_are_refused(other: pa.Table, sentence: str, tmp_path: Path) -> None:
    write_numbered(tmp_path / "a.parquet", rows=1, row_group=1)
    pq.write_table(other, tmp_path / "b.parquet")
    with pytest.raises(DatasetError, match=sentence):
        open_source(tmp_path)


def test_partition_names_are_safe_short_and_tell_files_apart() -> None:
    files = ["a.parquet", "a", "a.pq", "a/b.parquet", "a__b.parquet", "ä.parquet", "ö.parquet", "x" * 300 + ".parquet"]
    stems = {partition_stem(file) for file in files}
    assert len(stems) == len(files)
    assert all(stem.isascii() and len(stem) < 120 and not stem.startswith((".", "_")) for stem in stems)


@pytest.fixture
def source(tmp_path: Path) -> Source:
    for name, numbers in (("b.parquet", range(5, 8)), ("a.parquet", range(5))):
        texts = pa.array([str(number) for number in numbers]).dictionary_encode()
        columns = {"number": list(numbers), "text": texts, "nothing": pa.nulls(len(numbers))}
        pq.write_table(pa.table(columns), tmp_path / name, row_group_size=2)
    return open_source(tmp_path)


def test_batches_follow_the_files_in_order(source: Source) -> None:
    batches = list(column_batches(source, ["number"], batch_rows=3))
    assert [number for batch in batches for number in batch["number"].to_pylist()] == list(range(8))
    assert {batch.num_columns for batch in batches} == {1}
    assert max(batch.num_rows for batch in batches) <= 3


def test_a_row_is_found_wherever_it_lies(source: Source) -> None:
    assert [read_row(source, number, ["text"]) for number in range(8)] == [{"text": str(n)} for n in range(8)]
    with pytest.raises(DatasetError, match="There is no row 8"):
        read_row(source, 8, ["text"])


def test_text_is_text_however_it_is_encoded(source: Source) -> None:
    assert [holds_text(source, name) for name in ("text", "nothing", "number", "absent")] == [True, True, False, False]
    require_text(source, "text")
    with pytest.raises(DatasetError, match=r"Column number of .* should hold text, but its type is int64"):
        require_text(source, "number")


def test_a_missing_column_is_named_with_the_nearest(source: Source) -> None:
    require_columns(source, ["number", "text"])
    with pytest.raises(DatasetError, match=r"There is no column numbers in .*: did you mean number?"):
        require_columns(source, ["text", "numbers"])
    with pytest.raises(DatasetError, match="the columns are number, text, nothing"):
        require_columns(source, ["xyz"])


def test_folders_named_key_and_value_are_columns_of_text(tmp_path: Path) -> None:
    for folder in ("model=a b%2F1/split=x", "model=b", "model=__HIVE_DEFAULT_PARTITION__"):
        write_numbered(tmp_path / folder / "pairs.parquet", rows=2, row_group=1)
    source = open_source(tmp_path)
    assert source.schema.names == ["n", "text", "model", "split"]
    batches = column_batches(source, ["split", "n", "model"])
    rows = [tuple(row.values()) for batch in batches for row in batch.to_pylist()]
    assert sorted(rows, key=str) == [
        ("x", 0, "a b/1"),
        ("x", 1, "a b/1"),
        *((None, n, model) for n in (0, 1) for model in ("b", None)),
    ]
    assert read_row(source, 5, ["n", "model", "split"])["n"] == 1
    pq.write_table(numbered(1).append_column("model", pa.array(["own"])), tmp_path / "model=b" / "pairs.parquet")
    assert open_source(tmp_path / "model=b").schema.names == ["n", "text", "model"]
    assert read_row(open_source(tmp_path / "model=b"), 0, ["model"]) == {"model": "own"}


def test_a_link_to_its_own_folder_multiplies_no_rows(folder: Path) -> None:
    expected = names(folder)
    (folder / "deep" / "again").symlink_to(folder)
    (folder / "deep" / "too").symlink_to(folder / "deep")
    assert names(folder) == expected
    (folder / "0").symlink_to(folder / "deep")
    assert names(folder) == expected, "the folder itself counts, not the link"


def test_a_pipe_in_a_folder_is_not_waited_for(folder: Path) -> None:
    os.mkfifo(folder / "waits.parquet")
    assert "waits.parquet" not in names(folder)


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (b'{"reference_problem": "(define"}\n' * 9, "JSON Lines"),
        (b'[{"reference_problem": "(define"}]' * 9, "one object a line"),
        (b"id,reference_problem\n1,x\n" * 9, "CSV"),
        (b"ARROW1\0\0" + b"\0" * 99, "Arrow IPC"),
        (b"PAR1" + b"\0" * 40 + b"PARE", "encrypted"),
    ],
)
def test_what_a_file_is_and_what_to_do_is_said(content: bytes, word: str, tmp_path: Path) -> None:
    (tmp_path / "x.parquet").write_bytes(content)
    with pytest.raises(DatasetError, match=word):
        open_source(tmp_path / "x.parquet")


def test_a_column_that_stands_twice_is_said(tmp_path: Path) -> None:
    pq.write_table(pa.table([["a"], ["b"]], names=["text", "text"]), tmp_path / "x.parquet")
    with pytest.raises(DatasetError, match="2 columns named text"):
        require_text(open_source(tmp_path / "x.parquet"), "text")


# --- Rows from standard input: scored, resumed, read by the other commands; bounded


PLAN = json.dumps({"reference_plan": "(pick a)", "generated_plan": "(pick a)"})

PROBLEM = (
    "(define (problem p) (:domain gripper) (:objects r b g) (:init (room r) (ball b) (at b r) (gripper g) (free g)"
    " (at-robby r)) (:goal (and (at b r))))"
)


@pytest.fixture(autouse=True)
def unread() -> Iterator[None]:
    """Standard input can be read once in a process."""
    yield
    standard_input.stored_standard_input.cache_clear()


def piped(rows: str, *arguments: object) -> Result:
    standard_input.stored_standard_input.cache_clear()
    return run(*arguments, stdin=rows)


def test_rows_are_scored_and_the_same_rows_are_the_same_run(tmp_path: Path) -> None:
    rows = f"{PLAN}\n" * 30
    score = ("score", "-", tmp_path / "out", *shard_rows(10, tmp_path))
    assert piped(rows, *score).exit_code == 0
    partitions = sorted((tmp_path / "out").glob("*.parquet"))
    assert len(partitions) == 3
    partitions[1].unlink()
    again = piped(rows, *score)
    assert again.exit_code == 0 and "2 of them from an earlier start" in again.stdout
    assert read_output(tmp_path / "out").num_rows == 30
    assert piped(rows * 2, *score).exit_code == 2, "other rows are another run"


def test_a_log_of_answers(tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": ["q"], "reference_plan": ["(pick a)"]}), tmp_path / "references.parquet")
    log = json.dumps({"custom_id": "q", "response": {"body": {"choices": [{"text": "(pick a)"}]}}})
    score = ("score", "-", tmp_path / "out", "--from", "openai", "--column", "generated_plan=answer", "--references")
    for _ in range(2):
        assert piped(f"{log}\n", *score, tmp_path / "references.parquet").exit_code == 0
    assert read_output(tmp_path / "out")["plan_lcs"].to_pylist() == [1.0]


def test_every_form_is_known_by_its_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pq.write_table(numbered(5), tmp_path / "x.parquet")
    (tmp_path / "x.csv").write_text("n;text\n1;a\n")
    for name, rows in (("x.parquet", 5), ("x.csv", 1)):
        standard_input.stored_standard_input.cache_clear()
        with (tmp_path / name).open() as file:
            monkeypatch.setattr(sys, "stdin", file)
            source = open_source("-")
            assert (source.rows, source.schema.names) == (rows, ["n", "text"])
            assert open_source("-").files == source.files


def test_what_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "empty").touch()
    (tmp_path / "large").write_bytes(b"x" * 100)
    monkeypatch.setattr(standard_input, "MOST_BYTES", 10)
    for place, word in ((tmp_path / "empty", "empty"), (tmp_path / "large", "more than"), (Path(os.devnull), "empty")):
        with place.open() as file:
            monkeypatch.setattr(sys, "stdin", file)
            with pytest.raises(DatasetError, match=word):
                open_source("-")


def test_other_commands_read_lines_and_standard_input(tmp_path: Path) -> None:
    row = {"pair_id": 7, "reference_problem": PROBLEM}
    references = f"{json.dumps(row)}\n" * 2
    pairs = f"{json.dumps({**row, 'generated_problem': PROBLEM})}\n" * 2
    (tmp_path / "references.jsonl").write_text(references)
    (tmp_path / "pairs.jsonl").write_text(pairs)
    for place in ("-", tmp_path / "references.jsonl"):
        assert piped(references, "dedupe", place, tmp_path / "classes.parquet", "--workers", "1").exit_code == 0
        assert pq.read_table(tmp_path / "classes.parquet")["duplicate"].to_pylist() == [False, True]
        made = piped(references, "generate", "variants", place, tmp_path / "answers.parquet", "--workers", "1")
        assert made.exit_code == 0
        assert pq.read_table(tmp_path / "answers.parquet").num_rows == 2
    for place in ("-", tmp_path / "pairs.jsonl"):
        explained = piped(pairs, "explain", place, "--id", "7")
        assert explained.exit_code == 0 and "identical" in explained.stdout
    assert run("score", tmp_path / "pairs.jsonl", tmp_path / "scored").exit_code == 0
    rescored = piped(pairs, "rescore", "--previous", tmp_path / "scored", "-", tmp_path / "new")
    assert rescored.exit_code == 0 and "2 unchanged" in rescored.stdout
    assert piped(pairs, "report", tmp_path / "pairs.jsonl").exit_code == 2
