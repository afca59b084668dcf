"""Batches in and out: slices, nulls, types of columns, what is no text, and which implementation scores."""

from __future__ import annotations

import _ctypes
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from random import Random
from types import SimpleNamespace
from unittest.mock import Mock

import pyarrow as pa
import pytest
from pddl_eval import kernel
from pddl_eval.definition.metrics import DOMAIN, PLAN, PROBLEM
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.definition.words import SENTENCES, Difference, sentence
from pddl_eval.errors import UserError
from pddl_eval.kernel import crate, tables
from pddl_eval.kernel.differences import differences
from pddl_eval.scoring.summary import count_rows
from pddl_eval.scoring.table import score_table

from tests.kernel.test_domains import labelled_domains
from tests.kernel.test_plans import executed_rows
from tests.measure.kernel import answered
from tests.support.differential import SCORES, columns_of, needs_kernel
from tests.support.random_problems import VOCABULARY
from tests.support.sample import sample_table
from tests.support.shared_problems import needs_shared_problems

HELD = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"
TEXTS = [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())]
ELSEWHERE = "(define (problem p) (:domain other) (:objects a) (:init (holding a)) (:goal (clear a)))"


def count_kernel(table: pa.Table) -> dict[str, Mapping[str, float]]:
    """How many rows the kernel was given and left, in a scored table."""
    return {name: each for name, each in count_rows(table, [], ScoringOptions()).items() if name == "kernel"}


@pytest.fixture
def choose(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Sets which implementation scores."""

    def chosen(value: str) -> None:
        monkeypatch.setenv(kernel.VARIABLE, value)
        kernel.library.cache_clear()

    yield chosen
    kernel.library.cache_clear()


def pairs(generated: pa.Array, reference: str = HELD) -> pa.Table:
    return pa.table({"reference_problem": [reference] * len(generated), "generated_problem": generated})


@needs_kernel
@pytest.mark.parametrize("type_", TEXTS)
def test_every_type_of_text_and_slices(type_: pa.DataType) -> None:
    answers = pa.array(["", HELD, None, HELD.replace("clear", "holding"), " \n", HELD.upper()]).cast(type_)
    whole = score_table(pairs(answers), ScoringOptions())
    verdicts = ["empty", "identical", "empty", "goal_differs", "empty", "identical"]
    assert whole["verdict"].to_pylist() == verdicts
    assert count_kernel(whole) == {"kernel": {"rows": 6}}
    for start in range(6):
        part = score_table(pairs(answers).slice(start, 3), ScoringOptions())
        assert part.drop_columns("score_micros") == whole.slice(start, 3).drop_columns("score_micros")


@needs_kernel
@pytest.mark.parametrize("type_", [pa.bool_(), pa.int8(), pa.null()])
def test_every_type_of_truth(type_: pa.DataType) -> None:
    table = pairs(pa.array([HELD])).append_column("is_placeholder", pa.nulls(1, type_))
    assert score_table(table, ScoringOptions())["verdict"].to_pylist() == ["identical"]


@needs_kernel
def test_no_rows() -> None:
    empty = pairs(pa.array([], pa.string()))
    assert score_table(empty, ScoringOptions()).num_rows == 0


@needs_kernel
def test_bytes_that_are_no_text_are_left() -> None:
    strange = pa.array([HELD.encode() + b"\xff", HELD.encode()]).cast(pa.string(), safe=False)
    scored = score_table(pairs(strange), ScoringOptions())
    assert scored["verdict"].to_pylist() == ["identical", "identical"]
    assert count_kernel(scored) == {"kernel": {"rows": 2, "text": 1}}


@needs_kernel
def test_rows_that_are_left_keep_their_places() -> None:
    answers = pa.array([HELD, HELD, None])
    table = pa.table({"reference_problem": [ELSEWHERE, HELD, ELSEWHERE], "generated_problem": answers})
    scored = score_table(table, ScoringOptions())
    assert scored["verdict"].to_pylist()[1] == "identical"
    assert count_kernel(scored) == {"kernel": {"rows": 3, "domain": 2}}
    stopped = score_table(table, ScoringOptions(), until=0.0)  # the time is up after one row that takes the definition
    assert stopped.num_rows == 2
    assert stopped["verdict"].to_pylist() == scored["verdict"].to_pylist()[:2]


def agree(with_kernel: pa.Table, without: pa.Table) -> None:
    """In all columns; but a certificate or a plan to exchange may take a search, which only the kernel makes."""
    searched = [name for name in ("certificate", "domain_plan_valid") if name in with_kernel.column_names]
    apart = [name for name in ("score_micros", "domain_detail", *searched) if name in with_kernel.column_names]
    assert with_kernel.drop_columns(apart).equals(without.drop_columns(apart))
    for name in searched:
        both = zip(*(each[name].to_pylist() for each in (with_kernel, without)), strict=True)
        assert all(theirs in (None, ours) for ours, theirs in both)


@needs_kernel
def test_the_table_is_the_same_without_the_kernel(choose: Callable[[str], None]) -> None:
    table = sample_table().slice(0, 24)
    with_kernel = score_table(table, ScoringOptions())
    assert count_kernel(with_kernel)["kernel"]["rows"] == 24
    choose("off")
    without = score_table(table, ScoringOptions())
    assert count_kernel(without) == {}
    agree(with_kernel, without)
    only = ["reference_problem", "generated_problem", "is_placeholder"]
    again = score_table(table.select(only), ScoringOptions())
    choose("must")
    scored = score_table(table.select(only), ScoringOptions())
    agree(scored, again)


@needs_kernel
@pytest.mark.parametrize("type_", TEXTS)
def test_pairs_of_plans_beside_others(type_: pa.DataType, choose: Callable[[str], None]) -> None:
    """A row is open where any of its pairs was left: rows of each combination, also without rows and cut short."""
    table = pa.table(
        {
            "reference_plan": pa.array(["(putdown a)", "(a)", None, "Well: (a)", "(putdown a)", "(b)"]).cast(type_),
            "generated_plan": pa.array(["(putdown a)", "(a)", "(a)", "(b)", "no plan", None]).cast(type_),
            "reference_problem": [HELD, ELSEWHERE, HELD, HELD, ELSEWHERE, HELD],
            "generated_problem": [HELD, HELD, None, "", HELD, ELSEWHERE],
        }
    )
    plans = table.select(["reference_plan", "generated_plan"])
    with_kernel = [score_table(each, ScoringOptions()) for each in (table, plans, table.slice(0, 0), table.slice(1, 3))]
    assert count_kernel(with_kernel[0]) == {"kernel": {"rows": 6, "notation": 2, "domain": 2}}
    assert score_table(table, ScoringOptions(), until=0.0).num_rows == 2
    lexical = ScoringOptions(similarity="lexical")
    assert count_kernel(score_table(plans, lexical)) == {}
    choose("off")
    for each, scored in zip((table, plans, table.slice(0, 0), table.slice(1, 3)), with_kernel, strict=True):
        without = score_table(each, ScoringOptions())
        assert scored.drop_columns("score_micros").equals(without.drop_columns("score_micros"))


@needs_kernel
def test_a_row_with_little_time_is_the_definitions() -> None:
    assert (
        tables.score(
            columns_of([{"reference_problem": HELD, "generated_problem": HELD}]), ScoringOptions(row_seconds=0.5)
        )
        is None
    )


def test_what_is_chosen(choose: Callable[[str], None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    choose("off")
    assert kernel.version() is None
    monkeypatch.setattr(kernel, "LIBRARY", tmp_path / "none.so")
    choose("auto")
    assert kernel.version() is None
    choose("must")
    with pytest.raises(UserError, match="PDDL_EVAL_KERNEL=must"):
        kernel.version()
    choose("perhaps")
    with pytest.raises(UserError, match="auto, off or must"):
        kernel.version()


@pytest.mark.skipif(not crate.CRATE.exists(), reason="a package without the crate's sources")
def test_the_digest_is_that_of_the_crate() -> None:
    assert crate.digest_of(crate.CRATE) == crate.DIGEST, "run python pipeline/pddl_eval/kernel/crate.py"


@needs_kernel
def test_a_library_of_other_sources_is_not_used(
    choose: Callable[[str], None], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    other = Path(_ctypes.__file__)  # a library without the kernel's functions
    without_digest = SimpleNamespace(pddl_eval_crate=Mock(return_value=b"1.0.0"))
    targets = (crate, "DIGEST"), (kernel, "LIBRARY"), (kernel.ctypes, "CDLL")
    for target, value in zip(targets, ("0" * 32, other, lambda _: without_digest), strict=True):
        with monkeypatch.context() as patch:
            patch.setattr(*target, value)
            choose("auto")
            assert kernel.version() is None
            assert kernel.version() is None
            assert capsys.readouterr().err.count("\n") == 1
            choose("must")
            with pytest.raises(UserError, match="pip install"):
                kernel.version()
    choose("must")
    assert kernel.version()


@needs_kernel
@pytest.mark.parametrize("unknown", ["kind", "field"])
def test_a_difference_that_no_words_are_known_for_costs_its_row(unknown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The definition scores it, and the other rows of the batch are the kernel's."""
    table = pairs(pa.array([HELD, HELD.replace("clear", "holding"), HELD, "", HELD]))
    expected = score_table(table, ScoringOptions())

    strange = Difference("from the future") if unknown == "kind" else Difference("goal", colour="red")

    def read(column: pa.ListArray) -> list[list[Difference]]:
        return [[strange] if each[0].what == "goal" else each for each in differences(column)]

    monkeypatch.setattr(tables, "differences", read)
    scored = score_table(table, ScoringOptions())
    assert count_kernel(scored) == {"kernel": {"rows": 5, "words": 1}}
    assert scored.drop_columns("score_micros") == expected.drop_columns("score_micros")
    assert kernel.problem_verdict(HELD, HELD, False, None, ScoringOptions()) is not None


@needs_kernel
@pytest.mark.parametrize("kind", [pytest.param("problem", marks=needs_shared_problems), "plan", "domain"])
def test_a_call_is_told_what_its_row_in_a_table_is(kind: str) -> None:
    """Every column, of rows that are read and rows that are left; and what a text may hold."""
    random = Random(7)
    if kind == "problem":
        pair, rows = PROBLEM, answered("every-kind", 60, 7)
    elif kind == "plan":
        pair, rows = PLAN, [row for name in VOCABULARY for row in executed_rows(random, name, 20)]
    else:
        pair, rows = DOMAIN, list(labelled_domains(random, 40))
    odd = ['(define (problem "p\\") (:domain gripper) (:init (a\0)) (:goal (and)))', "", None, "\U0001f916 (a\x07 b)"]
    rows += [{**rows[0], f"generated_{kind}": text} for text in odd]
    scored = SCORES[pair](columns_of(rows), ScoringOptions())
    assert scored is not None
    columns, left = scored
    expected = pa.table(columns).drop_columns("score_micros").to_pylist()
    found = kernel.score_rows(kind, rows, ScoringOptions())
    assert found is not None
    assert [each is None for each in found] == [reason is not None for reason in left.to_pylist()]
    for row, each, scores in zip(rows, found, expected, strict=True):
        if each is not None:
            del each["score_micros"]
            assert each == scores
            alone = kernel.one_row(kind, row, ScoringOptions())
            assert alone is not None
            del alone["score_micros"]
            assert alone == scores
    assert kernel.one_row(kind, {**rows[0], f"generated_{kind}": "\ud800"}, ScoringOptions()) is None


def test_a_difference_inside_another_is_the_one_before_it() -> None:
    """As the kernel sends it: a value of type null is the difference before."""
    kinds = [pa.array([7, 9]), pa.nulls(2)]
    codes, places = pa.array([0, 1, 0, 1], pa.int8()), pa.array([0, 0, 1, 1], pa.int32())
    values = pa.UnionArray.from_dense(codes, places, kinds)
    named = pa.StructArray.from_arrays([pa.array(["states", "reason"] * 2), values], ["name", "value"])
    fields = pa.ListArray.from_arrays(pa.array([0, 0, 1, 2, 3, 4], pa.int32()), named)
    whats = pa.array(["identical", *["ran out", "unsolvable"] * 2])
    sent = pa.StructArray.from_arrays([whats, fields], ["what", "fields"])
    column = pa.ListArray.from_arrays(pa.array([0, 1, 1, 3, 5], pa.int32()), sent)
    proofs = [Difference("unsolvable", reason=Difference("ran out", states=states)) for states in (7, 9)]
    assert differences(column) == [[Difference("identical")], [], [proofs[0]], [proofs[1]]]
    assert sentence(proofs[0]) == "the goal is out of reach: the search for the goal ran out after 7 states"


@pytest.mark.skipif(not crate.CRATE.exists(), reason="a package without the crate's sources")
def test_every_kind_of_the_crate_has_words() -> None:
    sources = "".join(file.read_text("utf-8") for file in (crate.CRATE / "src").rglob("*.rs") if file.stem != "tests")
    kinds = set(re.findall(r'(?:Difference::of|fault|named|needs)\(\s*"([^"]+)"\)', sources))
    assert len(kinds) >= 50
    assert not kinds - SENTENCES.keys()


@needs_kernel
def test_digests_are_those_of_the_standard_library(choose: Callable[[str], None]) -> None:
    random = Random(1)
    texts = pa.array([random.randbytes(length) for length in [*range(300), 70_000]], pa.large_binary())
    for some in (texts, texts[7:], texts[:0]):
        choose("must")
        by_kernel = tables.digests(some).tolist()
        choose("off")
        assert by_kernel == tables.digests(some).tolist() and len(by_kernel) == len(some)
