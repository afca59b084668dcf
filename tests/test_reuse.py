"""A dataset scored again equals one scored from the start, and only what changed is scored."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pddl_eval import reuse
from pddl_eval.columns import MEANINGS
from pddl_eval.datasets.places import DatasetError, list_files, locate
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.explain import find_row
from pddl_eval.report import build_report, compare_datasets
from pddl_eval.reuse import KNOWN_FOLDER, content_columns, content_keys, prepare_rescore, rescore_dataset
from pddl_eval.run import MANIFEST, SUMMARY, RowsDoubled, RunIncomplete
from pddl_eval.scoring.dedupe import dedupe
from pddl_eval.scoring.scorer import score_dataset
from pddl_eval.scoring.summary import RunSummary
from pddl_eval.scoring.table import ColumnError

from tests.support.parquet_files import damage, read_output
from tests.support.running import ROOT

SAMPLE = ROOT / "pipeline" / "pddl_eval" / "benchmark" / "sample.parquet"

ROWS = 60


def plans(rows: int = ROWS, changed: frozenset[int] = frozenset()) -> pa.Table:
    return pa.table(
        {
            "id": list(range(rows)),
            "reference_plan": [f"(pick b{n}) (drop b{n})" for n in range(rows)],
            "generated_plan": [f"(pick b{n})" + " (drop b0)" * (n in changed) for n in range(rows)],
        }
    )


@pytest.fixture
def old(tmp_path: Path) -> Path:
    pq.write_table(plans(), tmp_path / "old.parquet")
    score_dataset(tmp_path / "old.parquet", tmp_path / "old", engine="local", shard_rows=25)
    return tmp_path / "old"


def rescore(
    old: Path | str,
    table: pa.Table,
    scoring: dict[str, object] = {},  # noqa: B006 (not changed)
    name: str = "new",
    **options: object,
) -> tuple[RunSummary, pa.Table]:
    """The summary, and the output, which is asserted to be that of a run from the start."""
    folder = Path(old).parent
    pq.write_table(table, folder / f"{name}.parquet")
    settings = {"engine": "local", "shard_rows": 25, **scoring}
    summary = rescore_dataset(old, folder / f"{name}.parquet", folder / name, **settings, **options)
    score_dataset(folder / f"{name}.parquet", folder / f"{name}-anew", **settings)
    output = read_output(folder / name)
    anew = read_output(folder / f"{name}-anew")
    assert output.drop_columns("score_micros").equals(anew.drop_columns("score_micros"))
    assert not (folder / name / KNOWN_FOLDER).exists()
    return summary, output


def test_an_unchanged_dataset_keeps_all_scores_and_what_they_cost(old: Path) -> None:
    summary, output = rescore(old, plans())
    assert (summary.rows, summary.rows_carried, summary.rows_scored) == (ROWS, ROWS, 0)
    assert output["score_micros"].equals(read_output(old)["score_micros"])
    assert "60 unchanged, 0 scored" in str(summary)
    assert json.loads((old.parent / "new" / SUMMARY).read_text())["rows_carried"] == ROWS


def test_rows_of_the_same_files_are_the_same_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is joined. The partitions of ``a+`` come before those of ``a``, whose file comes first."""
    (tmp_path / "parts").mkdir()
    for name, first in (("a", 0), ("a+", 30)):
        pq.write_table(plans(changed=frozenset(range(45, 60))).slice(first, 30), tmp_path / "parts" / f"{name}.parquet")
    score_dataset(tmp_path / "parts", tmp_path / "old", engine="local", shard_rows=7)
    monkeypatch.setattr(reuse, "content_keys", None)
    summary = rescore_dataset(tmp_path / "old", tmp_path / "parts", tmp_path / "new", engine="local", shard_rows=11)
    assert summary.rows_carried == ROWS
    lengths = {n: 2 if n >= 45 else 1 for n in range(ROWS)}
    assert by_id(tmp_path / "old") == by_id(tmp_path / "new") == lengths


def by_id(folder: Path) -> dict[int, int]:
    scored = read_output(folder)
    return dict(zip(scored["id"].to_pylist(), scored["plan_length"].to_pylist(), strict=True))


def test_partitions_that_somebody_has_sorted_are_joined_by_content(old: Path) -> None:
    table = plans(changed=frozenset(range(10)))
    rescore(old, table, name="second")
    [first, *_] = sorted((old.parent / "second").glob("*.parquet"))
    scored = pq.ParquetFile(first).read()
    pq.write_table(scored.take(list(reversed(range(len(scored))))), first)
    summary = rescore_dataset(old.parent / "second", old.parent / "second.parquet", old.parent / "third")
    assert summary.rows_carried == ROWS
    assert by_id(old.parent / "third") == {n: 2 if n < 10 else 1 for n in range(ROWS)}


def test_what_changed_and_what_is_new_is_scored_wherever_the_rows_stand(old: Path) -> None:
    table = plans(ROWS + 5, changed=frozenset({3, 40})).append_column("model", pa.array(["m"] * (ROWS + 5)))
    shuffled = table.take([n * 7 % (ROWS + 5) for n in range(ROWS + 5)])
    summary, output = rescore(old, shuffled)
    assert (summary.rows_carried, summary.rows_scored) == (ROWS - 2, 7)
    assert output.select(table.column_names).equals(shuffled)


def test_the_scores_of_a_rescored_dataset_are_carried_on(old: Path) -> None:
    rescore(old, plans(changed=frozenset({1})), name="second")
    summary, _ = rescore(old.parent / "second", plans(changed=frozenset({1, 2})), name="third")
    assert (summary.rows_carried, summary.rows_scored) == (ROWS - 1, 1)


def test_repeated_and_missing_rows_cost_nothing(old: Path) -> None:
    summary, _ = rescore(old, pa.concat_tables([plans(10), plans(10)]))
    assert (summary.rows_carried, summary.rows_scored) == (20, 0)


def test_many_passes_and_blocks_hold_what_one_holds(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, rows in {"BLOCK_ROWS": 7, "PASS_BLOCKS": 2, "READ_ROWS": 11}.items():
        monkeypatch.setattr(reuse, name, rows)
    summary, _ = rescore(old, plans(changed=frozenset({8})))
    assert (summary.rows_carried, summary.rows_scored) == (ROWS - 1, 1)


def test_a_damaged_file_costs_its_own_rows(old: Path, tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    for name, first in (("a", 0), ("b", 30)):
        pq.write_table(plans().slice(first, 30), tmp_path / "parts" / f"{name}.parquet")
    damage(tmp_path / "parts" / "a.parquet", row_group=0, column=2)
    with pytest.raises(RunIncomplete) as found:
        rescore_dataset(old, tmp_path / "parts", tmp_path / "new", engine="local")
    assert (found.value.summary.rows, found.value.summary.rows_carried) == (30, 30)


def test_small_files_share_blocks(old: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Thirty files of two rows in another order, and no worker needs all blocks."""
    monkeypatch.setattr(reuse, "BLOCK_ROWS", 20)
    table = plans(changed=frozenset({5})).take([n * 7 % ROWS for n in range(ROWS)])
    (tmp_path / "parts").mkdir()
    for start in range(0, ROWS, 2):
        pq.write_table(table.slice(start, 2), tmp_path / "parts" / f"{start:02}.parquet")
    opened = []
    monkeypatch.setattr(
        reuse.ipc, "open_file", lambda file, open_file=reuse.ipc.open_file: opened.append(file) or open_file(file)
    )
    summary = rescore_dataset(old, tmp_path / "parts", tmp_path / "new", engine="local", workers=1)
    assert (summary.rows_carried, summary.rows_scored, len(opened)) == (ROWS - 1, 1, 3)
    assert read_output(tmp_path / "new").select(table.column_names).equals(table)


def test_other_settings_score_everything_and_say_so(old: Path) -> None:
    told: list[str] = []
    summary, _ = rescore(old, plans(), {"beta": 0.5}, warn=told.append)
    assert (summary.rows_carried, summary.rows_scored) == (0, ROWS)
    assert len(told) == 1
    assert all(part in told[0] for part in ("60", "beta:0.75", "beta:0.5"))


def test_columns_may_be_called_otherwise_than_before(old: Path) -> None:
    renamed = plans().rename_columns(["id", "reference_plan", "output"])
    settings = {"columns": {"generated_plan": "output"}}
    first, _ = rescore(old, renamed, settings, name="renamed", previous_columns={})
    assert first.rows_carried == ROWS
    unsaid, _ = rescore(old, renamed, settings, name="unsaid")
    assert unsaid.rows_carried == ROWS, "the column has its own name there"
    again, _ = rescore(old.parent / "renamed", plans(), name="back")
    assert again.rows_carried == ROWS, "the manifest says what the columns were called"
    (old.parent / "renamed" / "_pddl_eval_run.json").unlink()
    told: list[str] = []
    lost, _ = rescore(old.parent / "renamed", plans(), name="lost", warn=told.append)
    assert lost.rows_carried == 0
    assert "there is a column reference_plan but no generated_plan" in told[0]


def test_other_pairs_of_columns_score_everything_and_say_so(old: Path) -> None:
    told: list[str] = []
    problems = pa.array([None] * ROWS, pa.string())
    both = plans().append_column("reference_problem", problems).append_column("generated_problem", problems)
    summary, _ = rescore(old, both, warn=told.append)
    assert summary.rows_carried == 0
    assert "it has other pairs of columns (plan)" in told[0]


def test_a_dataset_that_was_never_scored_is_named(old: Path, tmp_path: Path) -> None:
    told: list[str] = []
    rescore(tmp_path / "old.parquet", plans(), warn=told.append)
    assert "it has no scores (plan_lcs is missing)" in told[0]
    with pytest.raises(DatasetError, match="There is no file or folder"):
        rescore(tmp_path / "nothing", plans(), name="other")


@pytest.mark.parametrize("failed", [1, 25, ROWS])  # 25: a whole partition has no score.
def test_rows_that_could_not_be_scored_are_tried_again(old: Path, failed: int) -> None:
    references = [None] * failed + plans()["reference_plan"].to_pylist()[failed:]
    table = plans().set_column(1, "reference_plan", pa.array(references, pa.string()))
    rescore(old, table, name="failed")
    summary, output = rescore(old.parent / "failed", table, name="again")
    assert output["score_error"].null_count == ROWS - failed
    assert (summary.rows_carried, summary.rows_scored) == (ROWS - failed, failed)


def test_undecided_rows_are_scored_again_where_that_is_asked_for(tmp_path: Path) -> None:
    """The earlier verdicts are written over: two rows ran into a limit of time, one of them in its domain."""
    rows = pq.read_table(SAMPLE).slice(0, 4)
    pq.write_table(rows, tmp_path / "old.parquet")
    score_dataset(tmp_path / "old.parquet", tmp_path / "old", engine="local")
    [partition] = (tmp_path / "old").glob("*.parquet")
    scored = pq.ParquetFile(partition).read()
    for column, place in (("verdict", 1), ("domain_verdict", 3)):
        values = scored[column].to_pylist()
        values[place] = "undecided"
        scored = scored.set_column(scored.schema.get_field_index(column), column, pa.array(values, pa.string()))
    pq.write_table(scored, partition)
    arguments = (tmp_path / "old", tmp_path / "old.parquet")
    kept = rescore_dataset(*arguments, tmp_path / "kept", engine="local")
    assert (kept.rows_carried, kept.verdicts["undecided"]) == (4, 1)
    for retry, reusable in ((["undecided"], 2), ([], 4)):
        _, before = prepare_rescore(*arguments, tmp_path / "again", ScoringOptions(), 2048, retry=retry)
        assert before.count_reusable() == reusable
    again = rescore_dataset(*arguments, tmp_path / "again", engine="local", retry=["undecided"])
    assert (again.rows_carried, again.rows_scored) == (2, 2)
    assert "undecided" not in again.verdicts
    assert "undecided" not in read_output(tmp_path / "again")["domain_verdict"].to_pylist()


@pytest.mark.parametrize(("seconds", "kept"), [(60.0, 3), (10.0, 4), (9.0, 3), (0.4, 3), (0.1, 2)])
def test_with_another_limit_of_time_rows_that_took_less_than_either_keep_their_scores(
    seconds: float, kept: int, tmp_path: Path
) -> None:
    """Scored with ten seconds: the times are written over, one row hit the limit, one took a fifth of a second."""
    rows = pq.read_table(SAMPLE).slice(0, 4)
    pq.write_table(rows, tmp_path / "old.parquet")
    score_dataset(tmp_path / "old.parquet", tmp_path / "old", engine="local")
    [partition] = (tmp_path / "old").glob("*.parquet")
    scored = pq.ParquetFile(partition).read()
    place = scored.schema.get_field_index("score_micros")
    times = pa.array([100, 10_000_100, 200_000, 300], scored.schema.field(place).type)
    pq.write_table(scored.set_column(place, "score_micros", times), partition)
    arguments = (tmp_path / "old", tmp_path / "old.parquet", tmp_path / "new")
    _, before = prepare_rescore(*arguments, ScoringOptions(row_seconds=seconds), 2048)
    assert before.obstacle is None and before.count_reusable() == kept
    again = rescore_dataset(*arguments, engine="local", row_seconds=seconds)
    assert (again.rows_carried, again.rows_scored) == (kept, 4 - kept)
    _, other = prepare_rescore(*arguments[:2], tmp_path / "x", ScoringOptions(row_seconds=seconds, answer="last"), 2048)
    assert other.count_reusable() == 0 and "answer:first" in str(other.obstacle)


def test_of_a_row_that_was_scored_twice_the_first_scores_are_kept(old: Path) -> None:
    [first, *_] = sorted(old.glob("*.parquet"))
    scored = pq.ParquetFile(first).read()
    again = scored.set_column(scored.schema.get_field_index("plan_lcs"), "plan_lcs", pa.array([0.25] * len(scored)))
    pq.write_table(pa.concat_tables([scored, again], promote_options="none"), first)
    with pytest.raises(RowsDoubled):
        rescore(old, plans())
    (old / MANIFEST).unlink()  # Files of no run may have what they want.
    _, output = rescore(old, plans())
    assert set(output["plan_lcs"].to_pylist()) == {0.5}


def test_a_verdict_that_no_row_has_is_tried_again_nowhere(old: Path) -> None:
    """A column of nulls alone may have the type of nulls."""
    run, before = prepare_rescore(old, old.parent / "old.parquet", old.parent / "new", ScoringOptions(), 25)
    table = pa.table({"score_error": pa.nulls(2), "verdict": pa.nulls(2)})
    scores = pa.schema([("score_error", pa.string()), ("verdict", pa.string())])
    assert replace(before, scores=scores, retry=("undecided",)).reusable(table).num_rows == 2
    assert run.total_rows == ROWS


def test_damage_in_earlier_scores_costs_time_alone(old: Path) -> None:
    """Or every later night would fail, each of which begins with the same earlier one."""
    first = sorted(old.glob("*.parquet"))[0]
    content = bytearray(first.read_bytes())
    group = pq.read_metadata(first).row_group(0)
    [scores] = [group.column(n) for n in range(group.num_columns) if group.column(n).path_in_schema == "plan_lcs"]
    content[scores.data_page_offset + scores.total_compressed_size - 1] ^= 1
    first.write_bytes(content)
    summary, _ = rescore(old, plans())
    assert (summary.rows_carried, summary.rows_scored) == (35, 25)


def test_half_of_an_earlier_dataset_serves_for_half(old: Path) -> None:
    sorted(old.glob("*.parquet"))[0].unlink()
    summary, _ = rescore(old, plans())
    assert (summary.rows_carried, summary.rows_scored) == (35, 25)


def test_an_interrupted_run_goes_on_with_what_was_found(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pq.write_table(plans(changed=frozenset({30})), old.parent / "new.parquet")

    def stop(event: object) -> None:
        if getattr(event, "rows", None):
            raise KeyboardInterrupt

    arguments = (old, old.parent / "new.parquet", old.parent / "new")
    with pytest.raises(KeyboardInterrupt):
        rescore_dataset(*arguments, engine="local", shard_rows=25, watch=stop)
    assert sorted(path.suffix for path in (old.parent / "new" / KNOWN_FOLDER).iterdir()) == [".arrow"]
    monkeypatch.setattr(reuse.datasets, "column_batches", None)
    summary, _ = rescore(old, plans(changed=frozenset({30})))
    assert (summary.shards_reused, summary.rows_carried, summary.rows_scored) == (1, ROWS - 1, 1)


def test_score_may_finish_what_rescore_began(old: Path) -> None:
    rescore(old, plans())
    sorted((old.parent / "new").glob("*.parquet"))[0].unlink()
    summary = score_dataset(old.parent / "new.parquet", old.parent / "new", engine="local", shard_rows=25)
    assert (summary.shards_reused, summary.rows_scored, summary.rows_carried) == (2, 25, 35)


def test_the_earlier_scores_are_not_written_over(old: Path) -> None:
    before = read_output(old)
    with pytest.raises(DatasetError, match="belongs to another run"):
        rescore_dataset(old, old.parent / "old.parquet", old, engine="local", beta=0.5)
    with pytest.raises(DatasetError, match="lie in the output"):
        rescore_dataset(old, old.parent / "old.parquet", old, engine="local")
    assert read_output(old).equals(before)


@pytest.mark.s3
@pytest.mark.slow
def test_between_buckets(old: Path, bucket: str, tmp_path: Path) -> None:
    new = f"s3://{bucket}/new"
    first = rescore_dataset(old, tmp_path / "old.parquet", new, engine="local", shard_rows=25)
    second = rescore_dataset(new, tmp_path / "old.parquet", f"s3://{bucket}/newer", engine="local", shard_rows=25)
    assert (first.rows_carried, second.rows_carried) == (ROWS, ROWS)
    assert list_files(locate(new) / KNOWN_FOLDER) == {}
    other = rescore_dataset(new, tmp_path / "old.parquet", f"s3://{bucket}/other", beta=0.5, engine="local")
    assert (other.rows, other.rows_carried) == (ROWS, 0)


TEXTS = st.none() | st.text("ab(", max_size=3)
CONTENTS = st.lists(
    st.fixed_dictionaries(
        {
            "reference_problem": TEXTS,
            "generated_problem": TEXTS,
            "domain": TEXTS,
            "is_placeholder": st.none() | st.booleans(),
        }
    ),
    max_size=12,
)
SCHEMA = pa.schema(
    [
        ("reference_problem", pa.string()),
        ("generated_problem", pa.string()),
        ("domain", pa.string()),
        ("is_placeholder", pa.bool_()),
    ]
)


def keys(table: pa.Table, **columns: str) -> list[bytes]:
    content = content_columns(table.schema, ScoringOptions(columns=columns))
    return [key.tobytes() for key in content_keys(table, content)]


@given(CONTENTS)
def test_rows_have_equal_keys_exactly_where_their_content_is_equal(rows: list[dict[str, object]]) -> None:
    contents = [
        (row["reference_problem"], row["generated_problem"], row["domain"] or None, bool(row["is_placeholder"]))
        for row in rows
    ]
    found = keys(pa.Table.from_pylist(rows, schema=SCHEMA))
    for mine, my_key in zip(contents, found, strict=True):
        for other, key in zip(contents, found, strict=True):
            assert (mine == other) == (my_key == key)


@given(CONTENTS, st.integers(0, 5))
def test_neither_encoding_nor_chunks_nor_names_nor_other_columns_change_a_key(
    rows: list[dict[str, object]], cut: int
) -> None:
    table = pa.Table.from_pylist(rows, schema=SCHEMA)
    expected = keys(table)
    assert keys(pa.concat_tables([table.slice(0, cut), table.slice(cut)])) == expected
    assert keys(table.slice(cut)) == expected[cut:]
    wide = table.cast(
        pa.schema([SCHEMA.field(0).with_type(pa.large_string()), *(SCHEMA.field(place) for place in (1, 2, 3))])
    )
    assert keys(wide) == expected
    text = table["generated_problem"]
    encoded = table.set_column(1, "output", text.dictionary_encode() if len(rows) else text)
    assert keys(encoded.append_column("n", pa.array(range(len(rows)))), generated_problem="output") == expected
    assert keys(table.set_column(1, "generated_problem", text.cast(pa.string_view()))) == expected


def test_the_reference_domain_is_content_of_a_pair_of_problems() -> None:
    table = pa.table({"reference_problem": ["a"] * 2, "generated_problem": ["b"] * 2, "reference_domain": ["c", "d"]})
    one, other = keys(table)
    assert one != other


def test_a_missing_column_is_one_of_nulls() -> None:
    pair = pa.table({"reference_problem": ["(a)"], "generated_problem": ["(b)"]})
    full = pair.append_column("domain", pa.nulls(1, pa.string())).append_column("is_placeholder", pa.array([False]))
    assert keys(pair) == keys(full)


def test_what_is_not_scored_is_not_content() -> None:
    """A plan that is held against nothing has no scores. Plans are executed in the reference problem and domain."""
    kept = {"generated_plan", "reference_plan", "reference_domain", "reference_problem"}
    schema = pa.schema([(name, pa.string()) for name in sorted(kept)])
    assert content_columns(schema, ScoringOptions()).keys() == kept
    schema = pa.schema([(name, pa.string()) for name in ("generated_problem", "generated_plan", "reference_domain")])
    assert content_columns(schema, ScoringOptions()).keys() == {"generated_problem", "reference_domain"}
    with pytest.raises(ColumnError):
        content_columns(pa.schema([("reference_plan", pa.string())]), ScoringOptions())


def test_what_lies_behind_a_null_is_no_content() -> None:
    hidden = pa.Array.from_buffers(
        pa.string(),
        2,
        [pa.py_buffer(b"\x00"), pa.py_buffer(bytes([0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0])), pa.py_buffer(b"xy")],
    )
    assert hidden.to_pylist() == [None, None]
    first, second = keys(pa.table({"reference_plan": hidden, "generated_plan": ["(a)", "(a)"]}))
    assert first == second


def test_preparing_says_what_would_be_done_and_writes_nothing(old: Path) -> None:
    sorted(old.glob("*.parquet"))[0].unlink()
    run, previous = prepare_rescore(old, old.parent / "old.parquet", old.parent / "new", ScoringOptions(), 25)
    assert (len(run.missing), previous.source.rows, previous.obstacle) == (3, 35, None)
    assert previous.count_reusable() == 35
    assert not (old.parent / "new").exists()


BLOCKSWORLD = (
    "(define (domain blocksworld) (:predicates (holding ?x) (clear ?x) (on-table ?x)) "
    "(:action putdown :parameters (?x) :precondition (holding ?x) "
    ":effect (and (not (holding ?x)) (clear ?x) (on-table ?x))))"
)
HELD = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"


def test_each_meaning_can_have_another_name_in_all_that_reads_a_scored_dataset(tmp_path: Path) -> None:
    row = {
        "reference_problem": HELD,
        "generated_problem": HELD.replace("clear", "on-table"),
        "reference_plan": "(putdown a)",
        "generated_plan": "(putdown a)",
        "reference_domain": BLOCKSWORLD,
        "generated_domain": BLOCKSWORLD,
        "is_placeholder": False,
        "domain": "blocksworld",
        "model": "m",
        "reference_id": "q",
        "sample": "2",
        "question": "next_action",
        "plan": "",
        "reference_answer": "(putdown a)",
        "generated_answer": "(putdown a)",
    }
    assert row.keys() == set(MEANINGS)
    columns = {name: f"own {name}" for name in row}
    pq.write_table(pa.Table.from_pylist([{columns[name]: row[name] for name in row}]), tmp_path / "pairs.parquet")
    settings = {"columns": columns, "check_solvable": False}
    score_dataset(tmp_path / "pairs.parquet", tmp_path / "old", **settings)
    summary = rescore_dataset(tmp_path / "old", tmp_path / "pairs.parquet", tmp_path / "new", **settings)
    assert (summary.rows_carried, summary.errors) == (1, 0)
    assert build_report(tmp_path / "new").model == "own model"
    found = compare_datasets(tmp_path / "old", tmp_path / "new")
    assert (found.both, found.added, found.strangers) == (1, 0, 0)
    assert found.by == ("own model", "own domain", "own question")
    assert find_row(str(tmp_path / "new"), row=0).values.items() >= row.items()
    assert dedupe(tmp_path / "pairs.parquet", columns=columns, workers=1).rows["certificate"].null_count() == 0
