"""JSON Lines, CSV and Arrow IPC give the rows, shards and scores of Parquet; damage in a text costs one row."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pddl_eval import score_dataset
from pddl_eval.datasets import conversion, forms, inputs, lines
from pddl_eval.datasets.inputs import INPUT_FOLDER, Source, open_source
from pddl_eval.datasets.places import DatasetError
from pddl_eval.datasets.rows import close_file, column_batches, read_row, read_rows
from pddl_eval.run.shards import plan_shards

from tests.support.parquet_files import numbered, read_output
from tests.support.running import run
from tests.support.sample import sample_table
from tests.support.volume import scaled

COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": lambda content: pa.Codec("zstd").compress(content, asbytes=True),
}


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    close_file()


def as_csv(table: pa.Table) -> bytes:
    """As polars writes it: a null is empty, an empty text has quotes."""
    return pl.DataFrame(pl.from_arrow(table)).write_csv().encode()


def as_json_lines(table: pa.Table) -> bytes:
    return "".join(f"{json.dumps(row)}\n" for row in table.to_pylist()).encode()


def as_arrow(table: pa.Table, new: Any = pa.ipc.new_file) -> bytes:
    sink = pa.BufferOutputStream()
    with new(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=300)
    return sink.getvalue().to_pybytes()


def parquet(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    return sink.getvalue().to_pybytes()


def as_stream(table: pa.Table) -> bytes:
    return as_arrow(table, pa.ipc.new_stream)


FORMS = {".jsonl": as_json_lines, ".csv": as_csv, ".arrow": as_arrow, ".arrows": as_stream}

FILES = [(suffix, packed) for suffix in FORMS for packed in COMPRESS if suffix != ".arrow" or not packed]


PLAN = json.dumps({"reference_plan": "(pick a)", "generated_plan": "(pick a)"})


def rows_of(source: Source, shard_rows: int = 2048) -> list[dict[str, Any]]:
    """All rows, shard by shard; those that are lost have only the reason."""
    rows: list[dict[str, Any]] = []
    for shard in plan_shards(source, shard_rows):
        for piece in read_rows(shard.file, shard.start, shard.stop, source.schema):
            assert piece.damage is None
            for number, row in zip(piece.numbers, piece.table.to_pylist(), strict=True):
                lost = number in piece.lost
                assert not lost or set(row.values()) <= {None}
                rows.append({"lost": piece.lost[number]} if lost else row)
    return rows


def written(path: Path, content: bytes | str) -> Source:
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass"))
    return open_source(path)


@pytest.mark.parametrize(("suffix", "packed"), FILES)
def test_ranges_in_any_order_in_every_form(suffix: str, packed: str, tmp_path: Path) -> None:
    table = numbered(1107)
    source = written(tmp_path / f"x{suffix}{packed}", COMPRESS[packed](FORMS[suffix](table)))
    assert source.schema.equals(table.schema)
    assert source.rows == 1107
    version = source.files[0].version
    for start, stop in ((0, 1107), (1000, 1107), (20, 30), (30, 400), (1106, 1107), (299, 301), (0, 0)):
        pieces = list(read_rows(version, start, stop, table.schema))
        assert pa.concat_tables(piece.table for piece in pieces).equals(table.slice(start, stop - start))
    assert read_row(source, 700, ["text"]) == {"text": table["text"][700].as_py()}
    batches = list(column_batches(source, ["text"], batch_rows=100))
    assert [text for batch in batches for text in batch["text"].to_pylist()] == table["text"].to_pylist()


@pytest.mark.parametrize("suffix", FORMS)
def test_memory_follows_the_shard(suffix: str, tmp_path: Path) -> None:
    """Row groups of at most 1,024 rows and about 4 MiB, so that shards keep to their bytes as they do with Parquet."""
    table = pa.table({"text": [f"{n % 7}" * 100_000 for n in range(100)]})
    groups = written(tmp_path / f"x{suffix}", FORMS[suffix](table)).files[0].row_groups
    assert sum(group.rows for group in groups) == 100
    assert max(group.rows for group in groups) * 100_000 < 1.1 * conversion.GROUP_BYTES
    many = written(tmp_path / f"y{suffix}", FORMS[suffix](numbered(3000)))
    assert max(group.rows for group in many.files[0].row_groups) <= 1024
    for number in range(40):
        (tmp_path / f"z{number}{suffix}").write_bytes(FORMS[suffix](numbered(10)))
    few = open_source(f"{tmp_path}/z*{suffix}")
    assert [group.rows for group in few.files[0].row_groups] == [400]


def test_a_file_without_a_suffix_is_known_by_its_content(tmp_path: Path) -> None:
    table = numbered(3)
    for suffix, packed in FILES:
        source = written(tmp_path / "blob", COMPRESS[packed](FORMS[suffix](table)))
        assert rows_of(source) == table.to_pylist()
    pq.write_table(table, tmp_path / "blob")
    assert rows_of(open_source(tmp_path / "blob")) == table.to_pylist()


def test_every_form_has_the_scores_of_parquet(tmp_path: Path) -> None:
    """With nulls, empty texts, quotes and line breaks, as the sample has them."""
    sample = pl.DataFrame(pl.from_arrow(sample_table()))
    some = sample.filter(pl.col("generated_plan").is_not_null() | pl.col("generated_problem").is_not_null())
    some = some.gather_every(13).drop("reference_domain", "generated_domain")
    assert some["is_placeholder"].dtype == pl.Boolean
    pairs = some.to_arrow().cast(pq.read_schema(io.BytesIO(_parquet(some))))
    scored = {}
    for suffix, content in {**{each: FORMS[each](pairs) for each in FORMS}, ".parquet": _parquet(some)}.items():
        (tmp_path / f"pairs{suffix}").write_bytes(content)
        output = tmp_path / f"scored{suffix.replace('.', '_')}"
        summary = score_dataset(tmp_path / f"pairs{suffix}", output, engine="local", workers=1)
        assert (summary.rows, summary.errors) == (some.height, 0)
        rows = read_output(output).drop_columns(["score_micros"])
        scored[suffix] = rows.select(rows.column_names[some.width :])
    assert all(scores.equals(scored[".parquet"]) for scores in scored.values())


def _parquet(frame: pl.DataFrame) -> bytes:
    sink = io.BytesIO()
    frame.write_parquet(sink)
    return sink.getvalue()


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
names = st.text(st.characters(exclude_categories=["Cs"]), max_size=3)


@settings(max_examples=scaled(50))
@given(st.lists(st.dictionaries(names, json_values, max_size=4), min_size=1, max_size=8).filter(any))
def test_no_value_of_json_lines_is_lost(tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]]) -> None:
    path = tmp_path_factory.mktemp("json") / "x.jsonl"
    source = written(path, "".join(f"{json.dumps(row)}\n" for row in rows))
    assert source.schema.names == list(dict.fromkeys(name for row in rows for name in row))
    for row, read in zip(rows, rows_of(source), strict=True):
        for name, value in read.items():
            expected = row.get(name)
            if isinstance(value, str) and not isinstance(expected, str):
                value = json.loads(value)
            if isinstance(expected, str):
                expected = expected.encode("utf-8", "backslashreplace").decode()
            assert value == expected or json.dumps(value) == json.dumps(expected)


@pytest.mark.parametrize(
    ("values", "type_"),
    [
        ("null, true, false", pa.bool_()),
        ("1, -9007199254740993, null", pa.int64()),
        ("1, 0.5, NaN, -Infinity", pa.float64()),
        ("0.5, 9007199254740993", pa.string()),
        ("9223372036854775808", pa.string()),
        ("true, 1", pa.string()),
        ('1, "a"', pa.string()),
        ("[1], null", pa.string()),
        ("null", pa.null()),
    ],
)
def test_the_type_of_a_column_loses_nothing(values: str, type_: pa.DataType, tmp_path: Path) -> None:
    lines = "".join(f'{{"x": {value}}}\n' for value in values.split(", "))
    assert written(tmp_path / "x.jsonl", lines).schema.field("x").type == type_


def test_a_plan_as_a_list_is_the_text_of_that_list(tmp_path: Path) -> None:
    source = written(tmp_path / "x.jsonl", '{"plan": [{"name": "pick", "args": ["a"]}]}\n{"plan": "(pick a)"}\n')
    assert [row["plan"] for row in rows_of(source)] == ['[{"name": "pick", "args": ["a"]}]', "(pick a)"]


DAMAGED_LINES = {
    b"{": "not JSON",
    b'{"n": 1, "text": "\xff"}': "not UTF-8",
    b"[1]": "not a JSON object",
    b"7": "not a JSON object",
    b'{"n": 1} {"n": 2}': "not JSON",
    b'{"n": ' + b"9" * 5000 + b"}": "not JSON that can be read",
    b'{"n": ' + b"[" * 100_000 + b"]" * 100_000 + b"}": "nested too deeply",
    b'{"\\ud800": 1}': "not Unicode",
    b'{"text": "' + b"x" * 3_000_000 + b'"}': "is longer",
    b"{%s}" % b",".join(b'"%d":1' % n for n in range(2000)): "1,000 keys",
    b"\0\0\0": "not JSON",
    b'{"text": "\t': "not JSON: Invalid control character, character 10",
}


@pytest.mark.parametrize("line", DAMAGED_LINES, ids=DAMAGED_LINES.values())
def test_a_damaged_line_of_json_costs_a_row_and_is_named(
    line: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "LINE_BYTES", 2_000_000)
    good = as_json_lines(numbered(600)).splitlines(keepends=True)
    source = written(tmp_path / "x.jsonl", b"".join([*good[:300], b"\n", line, b"\n", *good[300:]]))
    rows = rows_of(source, shard_rows=100)
    (lost,) = rows.pop(300).values()
    assert lost.startswith("x.jsonl:302 ") and DAMAGED_LINES[line] in lost
    assert rows == numbered(600).to_pylist()
    with pytest.raises(DatasetError, match=r"x\.jsonl:302"):
        read_row(source, 300, ["n"])


def test_of_a_key_that_stands_twice_the_last_value_counts_and_half_a_surrogate_is_its_code(tmp_path: Path) -> None:
    source = written(tmp_path / "x.jsonl", '{"n": 1, "n": 2, "t": "a\\ud800b"}\r\n\r\n{"n": 3, "t": "\\ud83d\\ude00"}')
    assert rows_of(source) == [{"n": 2, "t": "a\\ud800b"}, {"n": 3, "t": "😀"}]


def test_a_damaged_row_is_in_the_output_without_scores(tmp_path: Path) -> None:
    good = '{"id": %d, "reference_plan": "(pick a)", "generated_plan": "(pick a)"}\n'
    (tmp_path / "x.jsonl").write_text(good % 1 + '{"id": 2, "reference_plan": "(pi\n' + good % 3)
    summary = score_dataset(tmp_path / "x.jsonl", tmp_path / "out")
    assert (summary.rows, summary.errors, summary.mean("plan_lcs")) == (3, 1, 1.0)
    table = read_output(tmp_path / "out")
    assert table["id"].to_pylist() == [1, None, 3]
    assert table["plan_lcs"].to_pylist() == [1.0, None, 1.0]
    assert [bool(error and "x.jsonl:2 " in error) for error in table["score_error"].to_pylist()] == [False, True, False]


texts = st.lists(st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=8), min_size=2, max_size=2)


@given(st.lists(texts.filter(any), min_size=1, max_size=8), st.sampled_from([",", "\t", ";"]))
def test_no_text_of_a_csv_is_lost(
    tmp_path_factory: pytest.TempPathFactory, rows: list[list[str | None]], delimiter: str
) -> None:
    sink = io.StringIO()
    writer = csv.writer(sink, delimiter=delimiter)
    writer.writerows([["plän", "b"], ["x", "y"], *rows])
    source = written(tmp_path_factory.mktemp("csv") / "x.csv", "\ufeff" + sink.getvalue())
    read = [[None if value is None else str(value) for value in row.values()] for row in rows_of(source)]
    assert source.schema.names == ["plän", "b"]
    assert read == [["x", "y"], *([value or None for value in row] for row in rows)]


@pytest.mark.parametrize(
    ("values", "type_"),
    [
        ("true,False,,TRUE", pa.bool_()),
        ("1,-20,", pa.int64()),
        ("1,0.5,-1e-07", pa.float64()),
        ("007,1", pa.string()),
        ("0.50", pa.string()),
        ("nan", pa.string()),
        (",,", pa.null()),
        ('"",,""', pa.string()),
        ("true,1", pa.string()),
    ],
)
def test_a_csv_has_numbers_where_they_can_be_written_back(values: str, type_: pa.DataType, tmp_path: Path) -> None:
    content = "x,y\n" + "".join(f"{value},y\n" for value in values.split(","))
    assert written(tmp_path / "x.csv", content).schema.field("x").type == type_


def test_an_empty_field_is_null_and_two_quotes_are_an_empty_text(tmp_path: Path) -> None:
    source = written(tmp_path / "x.csv", 'a,b,c\n,"","x,""y"""\n"",z,\n')
    assert [list(row.values()) for row in rows_of(source)] == [[None, "", 'x,"y"'], ["", "z", None]]


@pytest.mark.parametrize(
    ("line", "reason", "cost"),
    [
        (b"1,2,3", "3 fields and not 2", 1),
        (b"1", "1 fields and not 2", 1),
        (b'1,"text\nof ""two"" lines",3', "3 fields", 1),
        (b'1,"never closed', "not CSV", 1),
        (b'"1","a"b', "not CSV", 1),
        (b"1,\xff", "not UTF-8", 1),
        (b"1," + b"x" * 3_000_000, "is longer", 1),
        (b'1,"\n' + b"x" * 1_500_000 + b"\n" + b"x" * 1_500_000 + b'"', "is longer", 3),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_damaged_row_of_a_csv_costs_a_row_and_is_named(
    line: bytes, reason: str, cost: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "LINE_BYTES", 2_000_000)
    good = ["n,text\n", *(f'{n},"{n}:\n{"x" * (n % 7)}"\n' for n in range(600))]
    source = written(
        tmp_path / "x.csv", b"".join([*map(str.encode, good[:301]), line, b"\n", *map(str.encode, good[301:])])
    )
    rows = rows_of(source, shard_rows=100)
    lost = [row.pop("lost") for row in rows if "lost" in row]
    assert lost[0].startswith("x.csv:602 ") and reason in lost[0]
    assert len(lost) == cost
    assert [row["text"] for row in rows if row] == [f"{n}:\n{'x' * (n % 7)}" for n in range(600)]


def test_lines_that_leave_a_quote_open_are_read_twice_and_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of them took all lines behind it: 48 KB cost 16 seconds."""
    taken: list[str] = []

    class Counting(lines._CsvLines):
        def __next__(self) -> str:
            taken.append(super().__next__())
            return taken[-1]

    monkeypatch.setattr(lines, "_CsvLines", Counting)
    source = written(tmp_path / "x.csv", b"n,text\n" + b'a","b\n' * 3000 + b"1,x\n")
    assert len(taken) < 2 * (2 * 3001 + 10), "twice in each of two passes: the last row has other types than the first"
    rows = rows_of(source, shard_rows=500)
    assert ["lost" in row for row in rows] == [True] * 3000 + [False]
    # What is behind the lines is found as it was described, from any row on.
    assert next(read_rows(source.files[0].version, 2999, 3001, source.schema)).table["text"].to_pylist() == [None, "x"]


def evil(column: pa.Array, places: bytes, place: int, value: int, new: Any) -> bytes:
    """Three batches of a table, in the second one a number of a buffer replaced."""
    table = pa.table({"n": list(range(300)), "text": pa.chunked_array([column] * 3)})
    content = bytearray(as_arrow(table, new))
    second = content.index(places, content.index(places) + 1)
    content[second + place : second + place + 4] = value.to_bytes(4, "little", signed=True)
    return bytes(content)


TEXTS = pa.array([f"(pick x{n})" for n in range(100)])
WORDS = pa.array(["(pick a)", "(drop a)"] * 50).dictionary_encode()
LISTS = pa.array([["a", "b"]] * 100)


@pytest.mark.parametrize("new", [pa.ipc.new_file, pa.ipc.new_stream])
@pytest.mark.parametrize(
    ("column", "buffer", "place", "value"),
    [
        (TEXTS, TEXTS.buffers()[1], 50, 2**30),
        (TEXTS, TEXTS.buffers()[1], 50, -5),
        (TEXTS, TEXTS.buffers()[1], 100, 2**30),
        (LISTS, LISTS.buffers()[1], 50, 2**30),
        (LISTS, LISTS.buffers()[1], 100, 2**30),
        (WORDS, WORDS.buffers()[1], 9, 2**30),
        (WORDS, WORDS.buffers()[1], 9, -3),
    ],
)
def test_a_batch_that_points_out_of_its_buffers_is_named_and_the_others_are_kept(  # noqa: PLR0913
    column: pa.Array, buffer: pa.Buffer, place: int, value: int, new: Any, tmp_path: Path
) -> None:
    content = evil(column, buffer.to_pybytes()[:400], 4 * place, value, new)
    source = written(tmp_path / "x.arrow", content)
    kept, damage = [], []
    for rows in read_rows(source.files[0].version, 0, source.rows, source.schema):
        kept += rows.table["n"].to_pylist()
        damage += [rows.damage] if rows.damage else []
    assert kept == [*range(100), *range(200, 300)]
    assert len(damage) == 1 and "batch 1" in damage[0]


def test_an_answer_that_is_not_utf_8_costs_no_batch(tmp_path: Path) -> None:
    for column in (TEXTS, WORDS):
        raw = as_arrow(pa.table({"text": column})).replace(b"(pick", b"(\xffick")
        source = written(tmp_path / "x.arrow", raw)
        (rows,) = read_rows(source.files[0].version, 0, 100, source.schema)
        assert (rows.table.num_rows, rows.damage) == (100, None)
        close_file()


def test_a_batch_of_more_rows_than_bytes_can_hold_is_refused(tmp_path: Path) -> None:
    content = as_arrow(pa.table({"text": pa.nulls(10)}))
    with pytest.raises(DatasetError, match="batch 0"):
        written(tmp_path / "x.arrow", content.replace((10).to_bytes(8, "little"), (2**60).to_bytes(8, "little")))


def test_a_stream_without_its_end_mark_is_said(tmp_path: Path) -> None:
    plans = pa.table({"reference_plan": TEXTS, "generated_plan": TEXTS})
    whole = as_stream(plans)
    for name, content, notes in (("whole", whole, 0), ("cut", whole[:-8], 1)):
        (tmp_path / f"{name}.arrows").write_bytes(content)
        said: list[str] = []
        assert score_dataset(tmp_path / f"{name}.arrows", tmp_path / name, warn=said.append).rows == 100
        assert len(said) == notes
    (tmp_path / "references.jsonl").write_text('{"id": 1, "reference_plan": "(a)"}\n')
    answers = as_stream(pa.table({"id": [1], "generated_plan": ["(a)"]}))[:-8]
    (tmp_path / "answers.arrows").write_bytes(answers)
    references = str(tmp_path / "references.jsonl")
    score_dataset(tmp_path / "answers.arrows", tmp_path / "joined", references=references, key=["id"], warn=said.append)
    assert len(said) == 2


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("x.csv", b"a,b,a\n", "two columns named a"),
        ("x.csv", b'"a,b\n1,2\n', "first line"),
        ("x.csv", ",".join(map(str, range(1001))).encode(), "more than 1,000 columns"),
        ("x.jsonl", b'[\n {"n": 1},\n {"n": 2}\n]', "one object a line"),
        ("x.json", b'[\n {"n": 1},\n {"n": 2}\n]', "one object a line"),
        ("x.jsonl", '{"n": 1}'.encode("utf-16"), "UTF-16"),
        ("x.jsonl", '{"n": 1}'.encode("utf-16-le"), "UTF-16"),
        ("x.jsonl", b"\0" * 4096, "damaged"),
        ("x.parquet", b"PAR1" + b"x" * 999, "end is missing"),
        ("x.jsonl", '{"n": 1}\n{"n": 2}\n'.encode("utf-16-le"), "UTF-8"),
        ("x.jsonl.gz", gzip.compress(bytes(1_000_000), mtime=0), "UTF-8"),
        ("x.jsonl", b'{\n "n": 1\n}\n', "one object a line"),
        ("x.parquet", parquet(numbered(99))[:-200], "end is missing"),
        ("x.arrow", b"FEA1" + b"\0" * 99, "Feather version 1"),
        ("x.arrow", b"n,text\n", "not an Arrow file"),
        ("x.arrow", as_arrow(numbered(9))[:-200], "Cannot read"),
        ("x.jsonl.gz", gzip.compress(as_json_lines(numbered(9)), mtime=0)[:-20], "Truncated"),
        ("x.jsonl.xz", lzma.compress(as_json_lines(numbered(9)))[:-20], "Cannot read"),
        ("x", b"\x89PNG\r\n", "none of Parquet, Arrow IPC, JSON Lines, CSV"),
        ("x.arrow.gz", gzip.compress(as_arrow(numbered(9)), mtime=0), "decompress it first"),
        ("x.zip", b"PK\x03\x04\0\0", "ZIP"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_files_that_are_refused(name: str, content: bytes, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=sentence):
        written(tmp_path / name, content)


def test_an_interrupted_conversion_leaves_nothing_and_is_done_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "x.jsonl").write_text(f"{PLAN}\n" * 3000)

    def interrupted(*arguments: Any) -> Iterator[Any]:
        yield from islice(lines.rows(*arguments), 2000)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(conversion, "lines", SimpleNamespace(**{**vars(lines), "rows": interrupted}))
        score_dataset(tmp_path / "x.jsonl", tmp_path / "out")
    assert not list((tmp_path / "out" / INPUT_FOLDER).iterdir())
    assert score_dataset(tmp_path / "x.jsonl", tmp_path / "out").rows == 3000


@pytest.mark.parametrize("suffix", FORMS)
def test_a_run_converts_its_input_once(suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plans = pa.table({"n": range(50), "reference_plan": ["(pick a)"] * 50, "generated_plan": ["(pick a)"] * 50})
    path, out = tmp_path / f"x{suffix}", tmp_path / "out"
    path.write_bytes(FORMS[suffix](plans))
    dry = run("score", path, out, "--dry-run")
    assert dry.exit_code == 0 and "50 of 50 pairs" in dry.stdout and not out.exists()
    for part in ("2/2", "1/2"):
        score_dataset(path, out, shard_rows=10, part=part)
    assert sorted(read_output(out)["n"].to_pylist()) == list(range(50))
    (made,) = (out / INPUT_FOLDER).iterdir()
    assert pq.ParquetFile(made).metadata.num_rows == 50
    with monkeypatch.context() as patched:
        patched.setattr(inputs, "convert", None)  # It is not called.
        next(out.glob("*.parquet")).unlink()
        assert score_dataset(path, out, shard_rows=10).rows_scored > 0
    made.unlink()
    assert score_dataset(path, out, shard_rows=10).rows_scored == 0, "it can be made again"


def test_an_input_in_its_output_is_refused_before_it_is_converted(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "x.jsonl").write_text(f"{PLAN}\n")
    for rows_per_file in (None, 10):
        with pytest.raises(DatasetError, match="lies in the output"):
            score_dataset(tmp_path / "out" / "x.jsonl", tmp_path / "out", rows_per_file=rows_per_file)


@pytest.mark.parametrize(
    ("first", "last", "type_"),
    [
        ("1", '"a"', pa.string()),
        ("1", "0.5", pa.float64()),
        ("null", "true", pa.bool_()),
        ("0.5", "9007199254740993", pa.string()),
        ("{", "1", pa.int64()),
    ],
)
def test_the_last_row_of_many_decides_on_the_type_of_all(
    first: str, last: str, type_: pa.DataType, tmp_path: Path
) -> None:
    content = f'{{"x": {first}, "y": 1}}\n' * 3000 + f'{{"x": {last}, "z": 2}}\n'
    source = written(tmp_path / "x.jsonl", content)
    assert source.schema.field("x").type == type_ and set(source.schema.names) >= {"x", "z"}
    rows = rows_of(source)
    read = [
        json.loads(row["x"]) if type_ == pa.string() and row["x"] != "a" else row["x"] for row in rows[1:] if "x" in row
    ]
    expected = [json.loads(value) for value in ([first] * 2999 if first != "{" else []) + [last]]
    assert read == expected


def test_a_file_that_changes_while_it_is_converted_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(f"{PLAN}\n" * 3)
    real = inputs.convert

    def changing(*arguments: Any) -> None:
        path.write_text(f"{PLAN}\n" * 4)
        real(*arguments)

    monkeypatch.setattr(inputs, "convert", changing)
    with pytest.raises(DatasetError, match="has changed"):
        score_dataset(path, tmp_path / "out")


def test_the_column_of_damage_is_nobody_elses(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="two columns"):
        written(tmp_path / "x.jsonl", json.dumps({forms.DAMAGE: "x"}))
    table = pa.table({"n": [1], forms.DAMAGE: ["x"]})
    assert rows_of(written(tmp_path / "x.parquet", parquet(table))) == table.to_pylist()


def test_an_empty_file_has_no_rows(tmp_path: Path) -> None:
    for name in ("x.jsonl", "x.csv"):
        assert written(tmp_path / name, b"").rows == 0
    assert written(tmp_path / "y.csv", b"a,b\n").schema.names == ["a", "b"]


def test_a_folder_mixes_compressions_and_its_files_need_not_have_the_same_keys(tmp_path: Path) -> None:
    for folder in ("model=a", "model=b"):
        (tmp_path / folder).mkdir()
    (tmp_path / "model=a/x.jsonl").write_text('{"n": 1, "t": "x"}\n')
    (tmp_path / "model=b/x.jsonl.gz").write_bytes(gzip.compress(b'{"t": "y", "n": 0.5, "more": true}\n'))
    (tmp_path / "README.md").write_text("not rows")
    source = open_source(tmp_path)
    assert rows_of(source) == [
        {"n": 1.0, "t": "x", "more": None, "model": "a"},
        {"n": 0.5, "t": "y", "more": True, "model": "b"},
    ]
    (tmp_path / "y.csv").write_text("n,t\n1,x\n")
    with pytest.raises(DatasetError, match="JSON Lines and CSV files"):
        open_source(tmp_path)
    with pytest.raises(DatasetError, match="must have one form"):
        open_source([tmp_path / "y.csv", tmp_path / "model=a"])
    pq.write_table(numbered(2), tmp_path / "z.parquet")
    assert [file.name for file in open_source(tmp_path).files] == ["z.parquet"]


def test_declared_columns_must_be_equal(tmp_path: Path) -> None:
    (tmp_path / "a.arrow").write_bytes(as_arrow(numbered(2)))
    (tmp_path / "b.arrow").write_bytes(as_arrow(numbered(2).select(["n"])))
    with pytest.raises(DatasetError, match="same columns"):
        open_source(tmp_path)


@pytest.mark.parametrize("suffix", FORMS)
def test_a_file_that_changed_never_gives_other_rows(suffix: str, tmp_path: Path) -> None:
    source = written(tmp_path / f"x{suffix}", FORMS[suffix](numbered(50)))
    assert rows_of(written(tmp_path / f"x{suffix}", FORMS[suffix](numbered(50, start=1)))) != numbered(50).to_pylist()
    assert rows_of(source) == numbered(50).to_pylist()


def test_a_run_of_lines_is_resumed_and_another_content_is_another_run(tmp_path: Path) -> None:
    plans = [{"n": n, "reference_plan": "(pick a)", "generated_plan": "(pick a)"} for n in range(30)]
    path = tmp_path / "x.jsonl"
    path.write_text("".join(f"{json.dumps(plan)}\n" for plan in plans))
    score_dataset(path, tmp_path / "out", shard_rows=10)
    names = sorted(each.name for each in (tmp_path / "out").glob("*.parquet"))
    next((tmp_path / "out").glob("*.parquet")).unlink()
    summary = score_dataset(path, tmp_path / "out", shard_rows=10)
    assert (summary.rows, summary.rows_scored) == (30, 10)
    assert sorted(each.name for each in (tmp_path / "out").glob("*.parquet")) == names
    path.write_text(path.read_text().replace("pick", "drop", 1))
    with pytest.raises(DatasetError, match="another"):
        score_dataset(path, tmp_path / "out", shard_rows=10)


def test_arrow_as_polars_writes_it(tmp_path: Path) -> None:
    """Views of texts, also in lists and in categories, become texts as Parquet stores them."""
    frame = pl.DataFrame({"t": ["a", None], "l": [["b"], []], "c": pl.Series(["x", "y"], dtype=pl.Categorical)})
    frame.write_ipc(tmp_path / "x.arrow")
    source = open_source(tmp_path / "x.arrow")
    assert source.schema.field("t").type == pa.string()
    assert rows_of(source) == frame.to_dicts()
    with pytest.raises(DatasetError, match="Parquet cannot hold"):
        written(tmp_path / "y.arrow", as_arrow(pa.table({"x": pa.nulls(1, pa.month_day_nano_interval())})))
