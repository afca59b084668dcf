"""JSON Lines, CSV and Arrow IPC give the rows, shards and scores of Parquet; damage in a text costs one row."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pddl_eval import score_dataset
from pddl_eval.benchmark.sample import sample_table
from pddl_eval.datasets import forms, inputs, lines
from pddl_eval.datasets.inputs import Source, open_source
from pddl_eval.datasets.places import DatasetError, locate
from pddl_eval.datasets.rows import close_file, column_batches, read_row, read_rows
from pddl_eval.run.shards import plan_shards

from tests.datasets.parquet_files import numbered, read_output

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


def as_stream(table: pa.Table) -> bytes:
    return as_arrow(table, pa.ipc.new_stream)


FORMS = {".jsonl": as_json_lines, ".csv": as_csv, ".arrow": as_arrow, ".arrows": as_stream}

FILES = [(suffix, packed) for suffix in FORMS for packed in COMPRESS if suffix != ".arrow" or not packed]


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
def test_ranges_in_any_order_in_every_form(
    suffix: str, packed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forms, "MOST_MARKS", 4)
    table = numbered(1107)
    source = written(tmp_path / f"x{suffix}{packed}", COMPRESS[packed](FORMS[suffix](table)))
    assert source.schema.equals(table.schema)
    assert source.rows == 1107
    version = source.files[0].version
    assert len(version.marks) <= 5
    for start, stop in ((0, 1107), (1000, 1107), (20, 30), (30, 400), (1106, 1107), (299, 301), (0, 0)):
        pieces = list(read_rows(version, start, stop, table.schema))
        assert pa.concat_tables(piece.table for piece in pieces).equals(table.slice(start, stop - start))
    assert read_row(source, 700, ["text"]) == {"text": table["text"][700].as_py()}
    batches = list(column_batches(source, ["text"], batch_rows=100))
    assert [text for batch in batches for text in batch["text"].to_pylist()] == table["text"].to_pylist()


@pytest.mark.parametrize("suffix", [".jsonl", ".csv"])
def test_memory_follows_the_shard(suffix: str, tmp_path: Path) -> None:
    """Blocks end after 256 rows or 1 MiB, so that shards keep to their bytes as they do with Parquet."""
    table = pa.table({"text": [f"{n % 7}" * 100_000 for n in range(100)]})
    groups = written(tmp_path / f"x{suffix}", FORMS[suffix](table)).files[0].row_groups
    assert sum(group.rows for group in groups) == 100
    assert max(group.size for group in groups) < 1.2 * 2**20
    many = written(tmp_path / f"y{suffix}", FORMS[suffix](numbered(1000)))
    assert [group.rows for group in many.files[0].row_groups] == [256, 256, 256, 232]


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


@settings(max_examples=50)
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


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("x.csv", b"a,b,a\n", "two columns named a"),
        ("x.csv", b'"a,b\n1,2\n', "first line"),
        ("x.csv", ",".join(map(str, range(1001))).encode(), "more than 1,000 columns"),
        ("x.jsonl", b'[\n {"n": 1},\n {"n": 2}\n]', "one object a line"),
        ("x.json", b'[\n {"n": 1},\n {"n": 2}\n]', "one object a line"),
        ("x.jsonl", '{"n": 1}'.encode("utf-16"), "UTF-16"),
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


@pytest.mark.parametrize("suffix", FORMS)
def test_ctrl_c_does_not_wait_for_the_end_of_a_large_file(suffix: str, tmp_path: Path) -> None:
    place = tmp_path / f"x{suffix}"
    place.write_bytes(FORMS[suffix](numbered(1000)))
    stopped = Event()
    stopped.set()
    with pytest.raises(KeyboardInterrupt):
        inputs._describe(str(place), locate(tmp_path), stopped)


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
def test_a_file_that_changed_is_an_error_and_never_other_rows(suffix: str, tmp_path: Path) -> None:
    source = written(tmp_path / f"x{suffix}", FORMS[suffix](numbered(50)))
    version = source.files[0].version
    (tmp_path / f"x{suffix}").write_bytes(FORMS[suffix](numbered(50, start=1)))
    with pytest.raises(DatasetError, match="has changed"):
        list(read_rows(version, 20, 30, source.schema))


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
