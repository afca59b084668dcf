"""Equivalence classes, duplicates and leaks of small datasets whose classes are known by hand."""

import os
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pddl_eval.datasets import DatasetError
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.errors import RunError, UserError
from pddl_eval.scoring.api import compare_problems
from pddl_eval.scoring.dedupe import certificate_signature, certify, dedupe, ordered_map, write_rows
from pddl_eval.scoring.table import score_table

HELD = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"
PUT_DOWN = "(define (problem q) (:domain blocksworld) (:objects z) (:init (holding z)) (:goal (and (on-table z))))"
KEEP_HOLDING = HELD.replace("(:goal (clear a))", "(:goal (holding a))")
UNKNOWN = "(define (problem p) (:domain nowhere) (:objects a) (:init (q a)) (:goal (q a)))"
PROSE = "Sorry, I cannot do that."
PROBLEMS = [HELD, PUT_DOWN, KEEP_HOLDING, HELD, UNKNOWN, UNKNOWN, PROSE, None, "  "]
SPLITS = ["train", "train", "train", "test", "train", "test", "test", "test", "test"]


def dataset(folder: Path, name: str = "problems.parquet", row_group_size: int = 4, **columns: Any) -> str:
    pq.write_table(pa.table(columns), folder / name, row_group_size=row_group_size)
    return str(folder / name)


@pytest.fixture
def problems(tmp_path: Path) -> str:
    return dataset(tmp_path, reference_problem=PROBLEMS, split=SPLITS, id=list("abcdefghi"))


def test_classes_are_equivalence_classes_and_not_classes_of_texts(problems: str) -> None:
    rows = dedupe(problems, workers=1).rows
    assert rows["row"].to_list() == list(range(9))
    assert rows["first_row"].to_list() == [0, 0, 2, 0, 4, 4, None, None, None]
    assert rows["class_rows"].to_list() == [3, 3, 1, 3, 2, 2, None, None, None]
    assert rows["class_texts"].to_list() == [2, 2, 1, 2, 1, 1, None, None, None]
    assert rows["duplicate"].to_list() == [False, True, False, True, False, True, None, None, None]
    certificates = rows["certificate"].to_list()
    assert certificates[0] == certificates[1] == certificates[3] != certificates[2]
    assert certificates[4:] == [None] * 5
    assert rows["obstacle"].to_list()[4:] == ["undecided", "undecided", "unparseable", None, None]
    assert not {"groups", "leak"} & set(rows.columns)


def test_the_summary_counts_rows_texts_and_problems(problems: str) -> None:
    summary = dedupe(problems, workers=1).summary
    assert summary.datasets.to_dicts() == [
        {
            "dataset": "input",
            "rows": 9,
            "without_text": 2,
            "texts": 5,
            "classes": 3,
            "duplicates": 3,
            "repeated_texts": 2,
        }
    ]
    assert summary.largest_class == 3
    assert summary.obstacles.rows() == [("undecided", 1, 2), ("unparseable", 1, 1)]
    assert summary.leaks is None


def test_a_problem_leaks_where_two_splits_state_it(problems: str) -> None:
    found = dedupe(problems, split_by="split", keep=["id"], workers=1)
    leaking = found.rows.filter("leak")
    assert leaking["id"].to_list() == ["a", "b", "d", "e", "f"]
    assert set(map(tuple, leaking["groups"].to_list())) == {("test", "train")}
    assert found.summary.leaks is not None
    (leak,) = found.summary.leaks.to_dicts()
    assert (leak["first"], leak["first_rows"], leak["first_share"]) == ("train", 3, 3 / 4)
    assert (leak["second"], leak["second_rows"], leak["second_share"]) == ("test", 2, 2 / 5)
    assert (leak["classes"], leak["texts"]) == (2, 2)
    assert "train / test" in str(found.summary) and "75.0%" in str(found.summary)


def test_a_leak_that_no_comparison_of_texts_would_find(tmp_path: Path) -> None:
    source = dataset(tmp_path, reference_problem=[HELD, PUT_DOWN], split=["train", "test"])
    leaks = dedupe(source, split_by="split", workers=1).summary.leaks
    assert leaks is not None and leaks.select("classes", "texts").rows() == [(1, 0)]


def test_texts_that_state_no_problem_are_no_duplicates_and_no_leaks(tmp_path: Path) -> None:
    texts = ["nothing here", "nothing here", None, "", HELD, HELD, UNKNOWN, UNKNOWN]
    source = dataset(tmp_path, reference_problem=texts, split=["train", "test"] * 4)
    found = dedupe(source, split_by="split", workers=1)
    for name in ("class_rows", "class_texts", "first_row", "duplicate", "groups", "leak"):
        assert found.rows[name].null_count() == 4 and found.rows[name][4:].null_count() == 0
    assert found.rows["duplicate"][4:].to_list() == [False, True] * 2
    assert found.summary.datasets.select("texts", "classes", "duplicates").row(0) == (3, 2, 2)
    assert found.summary.leaks is not None and found.summary.leaks["classes"].to_list() == [2]


def test_two_datasets_may_call_their_columns_differently(tmp_path: Path) -> None:
    mine = dataset(tmp_path, reference_problem=[KEEP_HOLDING, HELD])
    other = dataset(tmp_path, "other.parquet", pddl=[PUT_DOWN, PUT_DOWN])
    found = dedupe(mine, against=other, against_columns={"reference_problem": "pddl"}, workers=1)
    assert found.rows["dataset"].to_list() == ["input", "input", "against", "against"]
    assert found.rows["row"].to_list() == [0, 1, 0, 1]
    assert found.rows["leak"].to_list() == [False, True, True, True]
    assert found.rows["first_row"].to_list() == [0, 1, 0, 0], "the first row is one of the same dataset"
    assert found.summary.datasets["dataset"].to_list() == ["input", "against"]


def test_groups_name_dataset_and_split_where_there_are_both(tmp_path: Path) -> None:
    mine = dataset(tmp_path, reference_problem=[HELD], split=["train"])
    other = dataset(tmp_path, "other.parquet", reference_problem=[HELD])
    rows = dedupe(mine, against=other, split_by="split", workers=1).rows
    assert rows["groups"].to_list() == [["against: no split", "input: train"]] * 2


def test_placeholder_mode_joins_problems_that_place_other_objects(tmp_path: Path) -> None:
    start = "(define (problem p) (:domain blocksworld) (:objects a b c) (:init (arm-empty) (clear a) (on a b)"
    start += " (on-table b) (clear c) (on-table c)) (:goal (and (on a b) (on b c))))"
    source = dataset(tmp_path, reference_problem=[start, start.replace("(on a b) (on b c))", "(on a c) (on c b))")])
    assert dedupe(source, workers=1).rows["certificate"].n_unique() == 2
    assert dedupe(source, workers=1, is_placeholder=True).rows["certificate"].n_unique() == 1


def test_a_row_may_bring_its_domain(tmp_path: Path) -> None:
    ferry = "(define (domain ferry) (:predicates (q ?x)) (:action a :parameters (?x) :effect (q ?x)))"
    source = dataset(tmp_path, reference_problem=[UNKNOWN, UNKNOWN, UNKNOWN], domain=[ferry, None, "(define (domain"])
    rows = dedupe(source, workers=1).rows
    assert [certificate is not None for certificate in rows["certificate"]] == [True, False, False]
    assert rows["obstacle"].to_list() == [None, "undecided", "failed"]
    assert rows["class_rows"].to_list() == [1, 1, 1], "the same text in another domain is another problem"


def test_the_domain_of_a_row_is_that_of_its_scores(tmp_path: Path) -> None:
    ferry = "(define (domain ferry) (:predicates (q ?x)) (:action a :parameters (?x) :effect (q ?x)))"
    table = pa.table(
        {
            "reference_problem": [UNKNOWN, HELD, UNKNOWN],
            "generated_problem": [UNKNOWN, HELD, UNKNOWN],
            "reference_domain": [ferry, None, ferry.replace("(q ?x)))", "(r ?x)))")],
        }
    )
    scored = score_table(table, ScoringOptions())["reference_certificate"].to_pylist()
    assert len(set(scored)) == 3 and None not in scored
    assert dedupe(dataset(tmp_path, **table.to_pydict()), workers=1).rows["certificate"].to_list() == scored


@pytest.mark.slow
def test_several_processes_say_what_one_says() -> None:
    by_identity = partial(certify, is_placeholder=False)
    chunks = [[(text, None)] for text in (HELD, PUT_DOWN, UNKNOWN, PROSE)]
    assert list(ordered_map(by_identity, chunks, 2)) == list(map(by_identity, chunks))


class Deadly(str):
    """A text that ends the process that unpickles it."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os._exit, (1,)


@pytest.mark.slow
def test_a_lost_worker_is_a_failed_run() -> None:
    by_identity = partial(certify, is_placeholder=False)
    with pytest.raises(RunError, match="worker"):
        list(ordered_map(by_identity, [[(HELD, None)], [(Deadly(HELD), None)]], 2))


def test_an_empty_dataset_has_no_classes(tmp_path: Path) -> None:
    source = dataset(tmp_path, reference_problem=pa.array([], pa.string()))
    found = dedupe(source, workers=1)
    assert found.rows.height == 0
    assert found.summary.datasets["rows"].to_list() == [0]


def test_what_is_wrong_with_the_columns_is_said(problems: str, tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"reference_problem\b(?!s)"):
        dedupe(problems, columns={"reference_problem": "reference_problems"})
    with pytest.raises(DatasetError, match=r"reference_problem.*int64"):
        dedupe(dataset(tmp_path, "n.parquet", reference_problem=[1]))
    with pytest.raises(DatasetError, match="column row"):
        dedupe(dataset(tmp_path, "r.parquet", reference_problem=[HELD], row=[1]), keep=["row"])
    ids = dataset(tmp_path, "i.parquet", reference_problem=[HELD] * 101, id=list(range(101)))
    with pytest.raises(UserError, match="id has 101"):
        dedupe(ids, split_by="id", workers=1)


def test_the_output_is_a_parquet_file_with_a_signature(problems: str, tmp_path: Path) -> None:
    rows = dedupe(problems, split_by="split", workers=1).rows
    write_rows(rows, tmp_path / "out" / "classes.parquet", is_placeholder=True)
    written = pq.ParquetFile(tmp_path / "out" / "classes.parquet")
    assert written.read().column("first_row").to_pylist() == rows["first_row"].to_list()
    assert written.metadata.metadata[b"pddl_eval.signature"].decode() == certificate_signature(is_placeholder=True)


def test_the_published_splits_share_problems_but_no_texts(tmp_path: Path) -> None:
    published = Path("../shared/data/planetarium_problems.parquet")
    if not published.exists():
        pytest.skip("the shared reference problems are not here")
    small = pq.read_table(published, columns=["problem_pddl", "split"], filters=[("num_objects", "<", 6)])
    source = str(tmp_path / "small.parquet")
    pq.write_table(small, source)
    found = dedupe(source, columns={"reference_problem": "problem_pddl"}, split_by="split", workers=1)
    assert found.summary.leaks is not None
    ((classes, texts_shared),) = found.summary.leaks.select("classes", "texts").rows()
    assert classes > 0 == texts_shared
    leaking = found.rows.filter("leak").unique(["certificate", "split"], keep="first", maintain_order=True)
    texts = small["problem_pddl"].to_pylist()
    for rows in leaking.partition_by("certificate"):
        train, test = (texts[row] for row in rows["row"])
        assert compare_problems(train, test, check_solvable=False).equivalent
