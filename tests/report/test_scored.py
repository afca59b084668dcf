"""Where the rows come from: partitions, their order, their signatures, what is no scored dataset."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pddl_eval.datasets import DatasetError, locate, put_bytes
from pddl_eval.errors import UserError
from pddl_eval.report import build_report, scored, warnings
from pddl_eval.report.groups import MISSING, choose_groups, group_key, in_order, levels
from pddl_eval.report.scored import ROW, open_scored

from tests.support.parquet_files import damage
from tests.support.scored_rows import answers, several_samples, write_partitions

ONE, OTHER = "pddl-eval:0.1.0|solvable:yes", "pddl-eval:0.1.0|solvable:no"


def test_a_folder_a_pattern_a_file_and_a_frame_are_reported_alike(tmp_path: Path) -> None:
    frame = answers()
    folder = write_partitions(tmp_path / "scored", [frame.head(4), frame.tail(5)], [ONE, ONE])
    expected = build_report(frame)
    frame.write_parquet(tmp_path / "one.parquet")
    for place in (folder, folder / "*.parquet", tmp_path / "one.parquet"):
        found = build_report(place)
        assert found.rates.equals(expected.rates)
        assert found.differences.equals(expected.differences)
        assert found.examples.drop("command").equals(expected.examples.drop("command"))


def test_a_column_named_as_the_number_of_a_row_is_not_read(tmp_path: Path) -> None:
    frame = answers()
    named = frame.with_columns(pl.lit("mine").alias(ROW))
    named.write_parquet(tmp_path / "one.parquet")
    for place in (named, tmp_path / "one.parquet"):
        assert open_scored(place).frame.select(ROW).collect()[ROW].to_list() == list(range(len(frame)))
        assert build_report(place).rates.equals(build_report(frame).rates)


def test_rows_are_numbered_through_the_partitions_in_order(tmp_path: Path) -> None:
    frame = answers()
    folder = write_partitions(tmp_path, [frame.slice(start, 3) for start in (0, 3, 6)])
    scored = open_scored(folder)
    assert scored.frame.select(ROW, "id", "model").collect().rows() == [
        (number, id_, model) for number, (id_, model) in enumerate(frame.select("id", "model").iter_rows())
    ]


def test_an_object_store_is_read_as_a_folder(bucket: str, tmp_path: Path) -> None:
    frame = answers(plans=True)
    folder = write_partitions(tmp_path, [frame.head(4), frame.tail(5)], [ONE, ONE])
    for path in folder.iterdir():
        put_bytes(locate(f"s3://{bucket}/scored/{path.name}"), path.read_bytes())
    local, remote = build_report(folder), build_report(f"s3://{bucket}/scored")
    assert remote.signatures == local.signatures == ((ONE, 9),)
    for name, table in local.tables().items():
        assert remote.tables()[name].drop("command", strict=False).equals(table.drop("command", strict=False))
    assert remote.examples["command"][0].startswith(f"pddl-eval explain s3://{bucket}/scored --row ")


def test_one_signature_is_a_fact_and_two_are_a_warning(tmp_path: Path) -> None:
    frame = answers()
    same = build_report(write_partitions(tmp_path / "same", [frame.head(4), frame.tail(5)], [ONE, ONE]))
    assert same.signatures == ((ONE, 9),)
    assert warnings(same) == ()
    mixed = build_report(write_partitions(tmp_path / "mixed", [frame.head(4), frame.tail(5)], [ONE, OTHER]))
    assert mixed.signatures == ((ONE, 4), (OTHER, 5))
    (warning,) = warnings(mixed)
    assert "not comparable" in warning
    assert f"{ONE} (4 rows); {OTHER} (5 rows)" in warning


def test_a_file_without_a_signature_beside_one_that_has_it_is_a_warning(tmp_path: Path) -> None:
    frame = answers()
    mixed = build_report(write_partitions(tmp_path, [frame.head(4), frame.tail(5)], [ONE, None]))
    assert "no signature (5 rows)" in warnings(mixed)[0]


def test_no_signature_at_all_is_nothing_to_speak_of(tmp_path: Path) -> None:
    assert warnings(build_report(write_partitions(tmp_path, [answers()]))) == ()
    assert warnings(build_report(answers())) == ()


def test_what_is_not_scored_is_refused(tmp_path: Path) -> None:
    pl.DataFrame({"reference_problem": ["x"]}).write_parquet(tmp_path / "pairs.parquet")
    with pytest.raises(ValueError, match=r"has no score columns .* score it first with `pddl-eval score`"):
        build_report(tmp_path / "pairs.parquet")
    with pytest.raises(DatasetError, match="There is no file or folder"):
        build_report(tmp_path / "nothing")


def test_only_needed_columns_are_read(tmp_path: Path) -> None:
    frame = answers().with_columns(generated_problem=pl.lit("(define (problem p) …)" * 100))
    path = write_partitions(tmp_path, [frame]) / "pairs-0.parquet"
    expected = build_report(path)
    damage(path, row_group=0, column=frame.columns.index("generated_problem"))
    with pytest.raises(pl.exceptions.ComputeError):
        pl.read_parquet(path)
    found = build_report(path)
    assert {name: frame.to_dicts() for name, frame in found.tables().items()} == {
        name: frame.to_dicts() for name, frame in expected.tables().items()
    }


@pytest.mark.parametrize("most", [0, 2**25])
def test_columns_that_are_kept_are_those_of_the_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    frame = several_samples(seed=1).with_columns(generated_problem=pl.lit("(define (problem p) …)" * 100))
    folder = write_partitions(tmp_path, [frame.slice(start, 19) for start in range(0, frame.height, 19)])
    monkeypatch.setattr(scored, "KEPT_BYTES", most)
    numbered = frame.with_row_index(ROW, offset=0).with_columns(pl.col(ROW).cast(pl.get_index_type()))
    found = open_scored(folder, where="domain = 'd1'")
    assert found.frame.collect().equals(numbered.filter(domain="d1"))
    assert (
        found.frame.select("domain", "generated_problem")
        .head(9)
        .collect()
        .equals(numbered.filter(domain="d1").select("domain", "generated_problem").head(9))
    )
    for file in folder.iterdir():
        file.unlink()
    if most:
        assert found.frame.select("domain", "equivalent").collect().height == found.rows
    with pytest.raises((DatasetError, FileNotFoundError)):
        found.frame.select("generated_problem").collect()


def test_what_polars_cannot_read_is_one_sentence_where_it_matters(tmp_path: Path) -> None:
    odd = pa.array([b"a\xff", b"b"], pa.binary()).cast(pa.string(), safe=False)
    pq.write_table(pa.table({"answer": odd, "equivalent": [True, False]}), tmp_path / "fine.parquet")
    assert build_report(str(tmp_path / "fine.parquet")).rows == 2
    pq.write_table(pa.table({"model": odd, "equivalent": [True, False]}), tmp_path / "odd.parquet")
    with pytest.raises(UserError, match="UTF-8"):
        build_report(str(tmp_path / "odd.parquet"))
    twice = pa.table([[1], [2], [True]], names=["id", "id", "equivalent"])
    pq.write_table(twice, tmp_path / "twice.parquet")
    with pytest.raises(UserError, match="named id"):
        build_report(str(tmp_path / "twice.parquet"))


def test_a_pandas_frame_is_read_as_a_polars_frame_is() -> None:
    frame = answers()
    strange = frame.to_pandas().assign(mixed=[1, "two", object()] * 3)
    strange[3] = 0  # a name that is no text
    strange.index = [7] * 9
    assert open_scored(strange).frame.collect().drop(ROW).equals(frame)


# --- Columns to group by: which are taken, which refused, how values are named and ordered


SCHEMA = {
    "model": pl.String(),
    "domain": pl.String(),
    "tags": pl.List(pl.String),
    "rows": pl.Int64(),
    "verdict": pl.String(),
}


def test_by_default_model_and_domain_where_there_are_such() -> None:
    assert choose_groups(SCHEMA, None) == ("model", "domain")
    assert choose_groups({"model": pl.List(pl.String), "domain": pl.String()}, None) == ("domain",)
    assert choose_groups({}, None) == ()


def test_a_single_name_is_a_column_and_not_its_letters() -> None:
    assert choose_groups(SCHEMA, "domain") == ("domain",)


def test_no_groups_where_none_are_asked_for() -> None:
    assert choose_groups(SCHEMA, []) == ()


def test_a_column_asked_for_twice_counts_once() -> None:
    assert choose_groups(SCHEMA, ["domain", "model", "domain"]) == ("domain", "model")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("modell", ("modell", "did you mean model?")),
        ("zzz", ("zzz", "the columns are model, domain, tags, rows")),
        ("verdict", ("verdict", "score")),
        ("tags", ("tags", "List")),
        ("rows", ("rows", "rename")),
    ],
)
def test_a_column_that_cannot_group_is_refused_in_one_sentence(name: str, said: tuple[str, ...]) -> None:
    with pytest.raises(UserError) as raised:
        choose_groups(SCHEMA, [name])
    assert all(part in str(raised.value) for part in said)


def test_levels_are_each_column_alone_the_first_with_each_other_and_all() -> None:
    expected = ((), ("a",), ("b",), ("c",), ("a", "b"), ("a", "c"), ("a", "b", "c"))
    assert levels(["a", "b", "c"]) == expected
    assert levels([]) == ((),)


def test_values_of_any_type_become_names() -> None:
    frame = pl.DataFrame({"flag": [True, None], "size": [20, None], "text": ["", "x"]})
    named = frame.select(group_key("flag"), group_key("size"), group_key("text"))
    assert named.rows() == [("true", "20", MISSING), (MISSING, MISSING, "x")]


def test_pddl_in_another_column_than_domain_stays_as_it_is() -> None:
    text = "(define (domain ferry))"
    frame = pl.DataFrame({"domain": [text], "prompt": [text]})
    assert frame.select(group_key("domain"), group_key("prompt")).row(0) == ("ferry", text)


def test_the_rows_of_all_groups_come_first() -> None:
    frame = pl.DataFrame({"size": ["100", None, "20"], "rank": [1, 2, 3]})
    assert in_order(frame, ["size"])["rank"].to_list() == [2, 3, 1]
