"""Two scored datasets row by row: what is joined, what counts as worse, how much moved, and what is said of it."""

from __future__ import annotations

import io
import json
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from random import Random

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pddl_eval import score_dataset
from pddl_eval.datasets import SIGNATURE_KEY
from pddl_eval.errors import UserError
from pddl_eval.pages import markdown
from pddl_eval.report import (
    Comparison,
    build_report,
    compare_datasets,
    compare_series,
    comparison_page,
    comparison_text,
    series_page,
    series_text,
)
from pddl_eval.report.intervals import paired
from pddl_eval.terminal import terminal
from rich.console import Console

from tests.support.pairs_by_verdict import REFERENCE
from tests.support.running import run
from tests.support.scored_rows import several_samples

YES, NO, OPEN = True, False, None
VERDICT = {YES: "isomorphic", NO: "goal_differs", OPEN: "undecided"}


def problems(*equivalent: bool | None, **columns: list[object]) -> pl.DataFrame:
    values = {
        "id": list(range(len(equivalent))),
        "equivalent": list(equivalent),
        "verdict": [VERDICT[each] for each in equivalent],
        "detail": [f"detail {n}" for n in range(len(equivalent))],
    }
    return pl.DataFrame(values | columns, schema_overrides={"equivalent": pl.Boolean})


def test_flips_are_counted_in_both_directions_by_verdict() -> None:
    found = compare_datasets(problems(YES, YES, NO, NO, YES), problems(NO, OPEN, YES, NO, YES))
    assert (found.both, found.regressions, found.improvements) == (5, 2, 1)
    assert set(found.flips.rows()) == {
        ("isomorphic", "goal_differs", 1),
        ("isomorphic", "undecided", 1),
        ("goal_differs", "isomorphic", 1),
    }


def test_plans_alone_have_their_own_verdicts() -> None:
    old = pl.DataFrame({"id": [1], "goal_reached": [YES], "plan_verdict": ["valid"]})
    new = pl.DataFrame({"id": [1], "goal_reached": [NO], "plan_verdict": ["precondition"]})
    assert compare_datasets(old, new).flips.rows() == [("valid", "precondition", 1)]


def test_rows_are_joined_by_key_and_not_by_place() -> None:
    old = problems(YES, NO, YES)
    new = problems(NO, YES, YES, id=[9, 2, 0])
    found = compare_datasets(old, new)
    assert (found.both, found.added, found.gone) == (2, 1, 1)
    assert (found.regressions, found.improvements) == (0, 0)


def test_a_difference_and_its_interval_are_those_of_the_rows_that_both_have() -> None:
    old = problems(*[YES] * 60, *[NO] * 40)
    new = problems(*[YES] * 50, *[NO] * 10, *[YES] * 5, *[NO] * 35, *[YES] * 7)
    rate = compare_datasets(old, new).rates.row(0, named=True)
    assert (rate["measure"], rate["rows"], rate["rose"], rate["fell"]) == ("equivalent", 100, 5, 10)
    assert (rate["old"], rate["new"], rate["difference"]) == pytest.approx((0.6, 0.55, -0.05))
    interval = paired([-1.0] * 10 + [0.0] * 85 + [1.0] * 5)
    assert (rate["low"], rate["high"], rate["p"]) == pytest.approx((interval["low"], interval["high"], interval["p"]))
    assert rate["low"] < -0.05 < rate["high"]


def test_groups_stand_under_the_rows_together() -> None:
    models = ["a", "a", "b", "b"]
    found = compare_datasets(
        problems(YES, YES, YES, NO, model=models), problems(NO, YES, YES, NO, model=models), by="model"
    )
    assert [(line["model"], line["rows"], line["fell"]) for line in found.rates.to_dicts()] == [
        (None, 4, 1),
        ("a", 2, 1),
        ("b", 2, 0),
    ]
    assert found.flips.rows() == [(None, "isomorphic", "goal_differs", 1), ("a", "isomorphic", "goal_differs", 1)]


def test_datasets_of_one_model_each_are_named_by_them() -> None:
    """Review C, B8: the group gpt had llama's rates."""
    old, new = problems(YES, NO, NO, model=["llama"] * 3), problems(YES, YES, NO, model=["gpt"] * 3)
    found = compare_datasets(old, new)
    assert (found.names, found.by) == (("llama", "gpt"), ())
    assert [each["old"] for each in found.rates.to_dicts()] == [pytest.approx(1 / 3)]


def test_the_order_of_rows_without_ids_changes_no_number() -> None:
    rows = several_samples(6)
    sides = rows.filter(model="a"), rows.filter(model="b").with_columns(model=pl.lit("a"))
    shuffled = (side.sample(fraction=1, shuffle=True, seed=seed) for seed, side in enumerate(sides))
    found, again = (json.loads(comparison_text(compare_datasets(*each), "json")) for each in (sides, shuffled))
    for name in ("flips", "regressions", "improvements"):
        assert found[name] == again[name]
    for name in ("rates", "scores"):
        for line, other in zip(found[name], again[name], strict=True):
            assert line == pytest.approx(other)


def test_a_column_to_group_by_may_be_new_or_a_key() -> None:
    old, new = problems(YES, YES, id=[1, 2]), problems(NO, YES, id=[1, 2], model=["a", "b"])
    assert compare_datasets(old, new).by == ("model",)
    both = old.with_columns(model=pl.Series(["a", "b"])), new
    found = compare_datasets(*both, on=["id", "model"], by=["model"])
    assert found.examples.select("id", "model", "row").rows() == [(1, "a", 0)]


def test_a_plan_is_right_where_it_reaches_the_goal_or_equals_the_reference() -> None:
    def plans(*values: tuple[float, bool | None]) -> pl.DataFrame:
        scores, reached = zip(*values, strict=True)
        frame = {"pair_id": list(range(len(values))), "plan_score": scores, "plan_valid": reached}
        return pl.DataFrame(frame, schema_overrides={"plan_valid": pl.Boolean})

    old = plans((0.5, True), (1.0, None), (1.0, False), (0.2, None))
    found = compare_datasets(old, plans((0.5, False), (0.9, None), (0.4, False), (1.0, None)))
    assert (found.regressions, found.improvements) == (2, 1)
    score = found.scores.row(0, named=True)
    assert (score["measure"], score["rows"], score["rose"], score["fell"]) == ("plan_score", 4, 1, 2)
    assert score["difference"] == pytest.approx((0 - 0.1 - 0.6 + 0.8) / 4)
    reached = found.rates.row(0, named=True)
    assert (reached["measure"], reached["rows"], reached["fell"]) == ("plan_valid", 2, 1), "a null was not executed"


def test_a_domain_is_right_without_an_error() -> None:
    old = pl.DataFrame({"id": [1, 2], "domain_precision": [1.0, 1.0], "domain_recall": [1.0, 0.5]})
    new = pl.DataFrame({"id": [1, 2], "domain_precision": [1.0, 1.0], "domain_recall": [0.9, 1.0]})
    found = compare_datasets(old, new)
    assert (found.regressions, found.improvements) == (1, 1)


def test_a_mistake_in_the_data_is_no_rate_and_yet_no_longer_right() -> None:
    new = problems(OPEN, YES, verdict=["reference_invalid", "isomorphic"])
    found = compare_datasets(problems(YES, YES), new)
    assert found.regressions == 1
    assert found.rates["rows"].to_list() == [1]


def test_what_was_not_asked_is_not_compared() -> None:
    old = problems(YES, YES).with_columns(solvable=pl.Series([True, True]))
    new = problems(YES, YES).with_columns(solvable=pl.Series([None, None], dtype=pl.Boolean))
    assert compare_datasets(old, new).rates["measure"].to_list() == ["equivalent"]


@pytest.mark.parametrize(
    ("old", "new", "on", "sentence"),
    [
        (problems(YES, YES, id=[7, 7]), problems(YES), None, "2 rows of the frame share id 7"),
        (problems(YES).drop("id"), problems(YES), None, "neither pair_id nor id is in both datasets"),
        (problems(YES), problems(YES), ["idd"], "there is no column idd in the frame; did you mean id"),
        (problems(YES), problems(YES, id=["0"]), None, "column id is Int64 in the frame and String in the frame"),
    ],
)
def test_keys_that_do_not_identify_rows_are_refused(
    old: pl.DataFrame, new: pl.DataFrame, on: list[str] | None, sentence: str
) -> None:
    with pytest.raises(ValueError, match=sentence):
        compare_datasets(old, new, on=on)


def test_datasets_without_a_common_score_have_rows_in_common_and_no_rates() -> None:
    found = compare_datasets(pl.DataFrame({"id": [3, 1, 2], "plan_score": [1.0, 0.5, 0.0]}), problems(YES, YES, NO))
    assert (found.both, found.added, found.gone, found.regressions) == (2, 1, 1, 0)
    assert found.rates.is_empty() and found.scores.is_empty()


def test_integers_of_two_widths_are_one_key() -> None:
    assert compare_datasets(problems(YES).cast({"id": pl.Int32}), problems(YES)).both == 1


ANSWERS = st.lists(st.sampled_from([YES, NO, OPEN]), min_size=1, max_size=20)


@settings(max_examples=30)
@given(ANSWERS, ANSWERS, st.randoms(use_true_random=False))
def test_comparing_backwards_turns_everything_round(
    first: list[bool | None], second: list[bool | None], chance: object
) -> None:
    old, new = problems(*first), problems(*second).sample(fraction=1, shuffle=True, seed=len(first))
    forth, back = compare_datasets(old, new), compare_datasets(new, old)
    assert (forth.regressions, forth.added, forth.both) == (back.improvements, back.gone, back.both)
    for line, other in zip(forth.rates.to_dicts(), back.rates.to_dicts(), strict=True):
        assert line["difference"] == pytest.approx(-other["difference"])
        assert (line["rose"], line["fell"]) == (other["fell"], other["rose"])
    together = [(a, b) for a, b in zip(first, second, strict=False)]
    assert forth.regressions == sum(a is True and b is not True for a, b in together)
    assert forth.flips["rows"].sum() == sum(a is not b for a, b in together)


def scored(path: Path, signature: str, equivalent: list[bool], models: list[str]) -> Path:
    verdicts = ["identical" if each else "goal_differs" for each in equivalent]
    columns = {"id": list(range(len(models))), "model": models, "equivalent": equivalent, "verdict": verdicts}
    table = pa.table({**columns, "detail": ["the goal lacks\n(on a b)"] * len(models)})
    pq.write_table(table.replace_schema_metadata({SIGNATURE_KEY: signature}), path)
    return path


@pytest.fixture
def comparison(tmp_path: Path) -> Comparison:
    models = ["a|b", "[red]\x1b[31m", "a|b"]
    old = scored(tmp_path / "old.parquet", "pddl-eval:1", [True, True, False], models)
    return compare_datasets(old, scored(tmp_path / "new.parquet", "pddl-eval:2", [False, True, False], models))


def printed(comparison: Comparison) -> str:
    page = io.StringIO()
    Console(file=page, width=100, highlight=False).print(terminal(comparison_page(comparison)))
    return page.getvalue()


def test_different_signatures_are_said_first(comparison: Comparison) -> None:
    for text in (printed(comparison), markdown(comparison_page(comparison)).removeprefix("> **")):
        assert text.startswith("Warning:")
        assert text.index("pddl-eval:1") < text.index("pddl-eval:2") < text.index("in both")
    assert not json.loads(comparison_text(comparison, "json"))["same_signature"]


def test_a_regression_is_shown_with_its_key_and_the_command_that_explains_it(comparison: Comparison) -> None:
    text = " ".join(printed(comparison).split())
    assert "3 rows in both, joined on id; 0 only of OLD, 0 only of NEW." in text
    assert "1 row right in OLD and not in NEW, 0 right in NEW and not in OLD." in text
    assert "identical → goal differs" in text
    assert "--row 0" in text
    assert json.loads(comparison_text(comparison, "json"))["examples"][0]["detail"] == "the goal lacks\n(on a b)"


def test_names_from_the_data_are_neither_markup_nor_escape_sequences(comparison: Comparison) -> None:
    moved = compare_datasets(comparison.new.frame.drop("pddl_eval.row"), comparison.old.frame.drop("pddl_eval.row"))
    assert "\x1b" not in printed(comparison) + markdown(comparison_page(comparison))
    assert "a\\|b" in markdown(comparison_page(moved))


def test_only_groups_in_which_something_moved_are_printed(comparison: Comparison) -> None:
    rates = printed(comparison).partition("Rates")[2]
    assert "a|b" in rates
    assert "[red]" not in rates


def test_equal_datasets_have_no_tables_of_changes() -> None:
    frame = pl.DataFrame({"id": [1], "equivalent": [True], "verdict": ["identical"]})
    text = printed(compare_datasets(frame, frame))
    assert "Warning" not in text
    assert "Verdicts that differ" not in text
    assert "Rates" not in text and "+0.0" not in text
    assert "0 rows right in OLD" in text


def test_long_tables_are_cut_and_say_so() -> None:
    models = [f"m{n:03}" for n in range(100)]
    frame = pl.DataFrame(
        {"id": range(100), "model": models, "equivalent": [True] * 100, "verdict": ["identical"] * 100}
    )
    page = printed(compare_datasets(frame, frame.with_columns(equivalent=~pl.col("equivalent"))))
    assert "the first 20 of 101" in " ".join(page.split())


def side(references: list[str], equivalent: list[bool], **columns: object) -> pl.DataFrame:
    """Rows 0, 1, … with their references' certificates."""
    known = {"id": range(len(references)), "reference_certificate": references, "equivalent": equivalent}
    return pl.DataFrame({**known, **columns})


def test_equal_keys_with_other_references_are_not_compared() -> None:
    old = side([f"c{number}" for number in range(1000)], [True] * 1000)
    order = np.random.default_rng(5).permutation(1000)
    new = side([f"c{number}" for number in order], [False] * 1000)
    found = compare_datasets(old, new)
    same = int((order == np.arange(1000)).sum())
    assert (found.both, found.strangers, found.regressions) == (1000, 1000 - same, same)
    # The texts tell as well; a reference that says nothing is nobody's.
    texts = [each.rename({"reference_certificate": "reference_problem"}) for each in (old, new)]
    assert compare_datasets(*texts).strangers == 1000 - same
    assert compare_datasets(*(each.drop("reference_certificate") for each in (old, new))).strangers == 0


def test_rows_of_one_reference_count_as_one() -> None:
    generator = np.random.default_rng(6)
    before, after = generator.random((2, 40)) < 0.5
    references = [f"c{number}" for number in range(40)]
    once = compare_datasets(side(references, before.tolist()), side(references, after.tolist())).rates
    ten = (side(references * 10, values.tolist() * 10) for values in (before, after))
    again = compare_datasets(*ten).rates
    assert again["rows"].to_list() == [400]
    for name in ("difference", "low", "high", "p"):
        assert again[name].to_list() == pytest.approx(once[name].to_list())


def test_an_answer_without_a_plan_is_compared_as_one_that_does_not_solve_the_reference() -> None:
    old = problems(YES, YES, solvable=[True, True], solves_reference=[True, True])
    none = pl.Series([None, None], dtype=pl.Boolean)
    new = problems(YES, YES, solvable=[False, False]).with_columns(solves_reference=none)
    rates = {row["measure"]: row["new"] for row in compare_datasets(old, new).rates.to_dicts()}
    assert rates == {"equivalent": 1.0, "solvable": 0.0, "solves_reference": 0.0}


def test_details_of_several_pairs_name_their_pair() -> None:
    old = problems(YES)
    new = problems(NO, domain_detail=["go lacks the effect (p)"], plan_detail=[""])
    (detail,) = compare_datasets(old, new).examples["detail"]
    assert detail == "problem: detail 0; domain: go lacks the effect (p)"


def test_null_keys_match_nothing_and_are_counted() -> None:
    old, new = (side(["c"] * 3, equivalent, id=[None, None, 1]) for equivalent in ([True] * 3, [False] * 3))
    found = compare_datasets(old, new)
    assert (found.both, found.gone, found.added, found.keyless, found.regressions) == (1, 2, 2, 4, 1)
    assert found.too_few and "1 of the 3" in found.too_few
    assert "4 rows of OLD and NEW have an empty key" in printed(found)
    assert json.loads(comparison_text(found, "json"))["keyless"] == 4


@pytest.mark.parametrize(
    ("old_ids", "new_ids", "enough"),
    [
        (range(10), range(10, 20), False),
        (range(292), range(10), False),
        (range(10), range(1, 1000), True),
        (range(10), range(2, 10), False),
        (range(0), range(5), False),  # A gate that compared nothing fails.
    ],
)
def test_too_few_partners_are_said(old_ids: range, new_ids: range, enough: bool) -> None:
    found = compare_datasets(*(side([f"c{n}" for n in ids], [True] * len(ids), id=ids) for ids in (old_ids, new_ids)))
    assert (found.too_few is None) == enough
    assert [*comparison_page(found).warnings] == [found.too_few] * (not enough)


def test_kinds_of_answers_that_the_new_dataset_does_not_have_are_said() -> None:
    both = side(["a", "b"], [True, True], id=[1, 2])
    plans = pl.DataFrame({"id": [1, 2], "plan_score": [1.0, 0.0], "plan_valid": [True, False]})
    assert compare_datasets(both, both).too_few is None
    found = compare_datasets(both.join(plans, on="id"), both)
    assert (found.regressions, found.compared) == (0, ("problem",)) and "plans" in str(found.too_few)
    assert compare_datasets(both, both.join(plans, on="id")).too_few is None
    unjudged = pl.DataFrame({"id": [1, 2], "parseable": [True, True]})
    assert compare_datasets(unjudged, unjudged).too_few


def test_rows_without_ids_are_joined_by_reference_and_model() -> None:
    """Shuffled; of a model's samples, the right ones are paired first, so that a shuffle is no regression."""
    rows = [(f"c{n}", model, equivalent) for n in range(20) for model in ("m", None) for equivalent in (True, False)]
    order = np.random.default_rng(7).permutation(len(rows))

    def frame(rows: list[tuple[str, str | None, bool]]) -> pl.DataFrame:
        references, models, equivalent = zip(*rows, strict=True)
        return side(list(references), list(equivalent), model=models).drop("id")

    found = compare_datasets(frame(rows), frame([rows[n] for n in order]))
    assert (found.both, found.gone, found.added, found.regressions, found.improvements) == (80, 0, 0, 0, 0)
    worse = [(reference, model, right and reference != "c3") for reference, model, right in rows]
    found = compare_datasets(frame(rows), frame([worse[n] for n in order]))
    assert (found.both, found.regressions, found.improvements) == (80, 2, 0)
    assert {rows[order[row]][0] for row in found.examples["row"]} == {"c3"}
    other = compare_datasets(frame(rows), frame([(f"d{n}", "m", True) for n in range(80)]))
    assert (other.both, other.gone, other.added) == (0, 80, 80)
    assert other.too_few


def by_key(path: Path, keys: pa.Array, equivalent: list[bool]) -> Path:
    pq.write_table(pa.table({"key": keys, "equivalent": equivalent}), path)
    return path


MOMENT = datetime(2026, 3, 1, 12, 30, 15)
STRUCT = pa.struct([("split", pa.dictionary(pa.int8(), pa.string())), ("n", pa.float32())])
NAN = float("nan")


@pytest.mark.parametrize(
    ("type_", "values", "other"),
    [
        (pa.bool_(), [True, False], None),
        (pa.int8(), [3, 4], pa.uint64()),
        (pa.uint64(), [2**64 - 1, 4], pa.int64()),
        (pa.float32(), [0.5, NAN], pa.float64()),
        (pa.float16(), [0.5, -0.0], pa.float32()),
        (pa.string(), ["a", ""], pa.large_string()),
        (pa.string_view(), ["a", ""], pa.dictionary(pa.int32(), pa.string())),
        (pa.dictionary(pa.int8(), pa.large_string()), ["a", "b"], pa.string()),
        (pa.binary(), [b"\xff", b""], pa.large_binary()),
        (pa.binary(2), [b"\xff\x00", b"\x00\x00"], pa.binary()),
        (pa.date32(), [MOMENT.date(), date(1, 1, 1)], pa.date32()),
        (pa.time32("s"), [time(1), time(2)], pa.time64("us")),
        (pa.timestamp("ms"), [MOMENT, datetime(2999, 1, 1)], pa.timestamp("ns")),
        (pa.timestamp("us", "UTC"), [MOMENT, datetime(2025, 1, 1)], pa.timestamp("us", "Asia/Tokyo")),
        (pa.duration("s"), [timedelta(1), timedelta(2)], pa.duration("us")),
        (pa.decimal128(5, 2), [Decimal("1.50"), Decimal("2.00")], pa.decimal128(20, 4)),
        (pa.list_(pa.int32()), [[1, None], []], pa.large_list(pa.int64())),
        (pa.list_(pa.float64(), 1), [[NAN], [0.0]], pa.list_(pa.float64())),
        (STRUCT, [{"split": "a", "n": 1.0}, {"split": None, "n": NAN}], STRUCT),
        (pa.list_(STRUCT), [[{"split": "a", "n": 1.0}], []], None),
    ],
    ids=str,
)
def test_every_type_can_be_a_key(
    type_: pa.DataType, values: list[object], other: pa.DataType | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A null is found nowhere, and of two types that differ a value that one of them does not have."""
    monkeypatch.setattr("pddl_eval.report.keys.PASS_CELLS", 3)
    old = by_key(tmp_path / "old.parquet", pa.array([*values, None], type_), [True] * 3)
    new = by_key(tmp_path / "new.parquet", pa.array([None, *values[::-1]], type_), [False] * 3)
    found = compare_datasets(old, new, on=["key"])
    assert (found.both, found.regressions, found.added, found.gone, found.keyless) == (2, 2, 1, 1, 2)
    if other is not None:
        wide = other in (pa.int64(), pa.timestamp("ns"))  # Too narrow for one of the values.
        held = [None, values[1]] if other == pa.int64() else [values[0], None] if wide else values
        new = by_key(tmp_path / "new.parquet", pa.array(held, other), [False] * 2)
        found = compare_datasets(old, new, on=["key"])
        assert (found.both, found.gone) == ((1, 2) if wide else (2, 1))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (pa.int64(), pa.float64()),
        (pa.string(), pa.binary()),
        (pa.timestamp("us"), pa.timestamp("us", "UTC")),
        (pa.date32(), pa.timestamp("us")),
        (pa.list_(pa.int64()), pa.list_(pa.uint64())),
    ],
    ids=str,
)
def test_keys_of_two_kinds_are_refused(one: pa.DataType, other: pa.DataType, tmp_path: Path) -> None:
    old, new = (by_key(tmp_path / f"{n}.parquet", pa.nulls(1, type_), [True]) for n, type_ in enumerate((one, other)))
    with pytest.raises(UserError, match="column key is"):
        compare_datasets(old, new, on=["key"])
    assert compare_datasets(old, by_key(tmp_path / "none.parquet", pa.nulls(1), [True]), on=["key"]).gone == 1


@settings(max_examples=8)
@given(st.data())
def test_many_passes_say_what_one_says(data: st.DataObject) -> None:
    """Keys are joined, and scores are read, some at a time."""
    rows = st.tuples(
        st.integers(0, 6), st.sampled_from(["m", "n", None]), st.sampled_from([YES, NO, OPEN]), st.integers()
    )
    sides = []
    for _ in range(2):
        references, models, equivalent, seeds = zip(*data.draw(st.lists(rows, min_size=1, max_size=30)), strict=True)
        columns = {
            "reference_certificate": [f"c{each}" for each in references],
            "model": pl.Series(models, dtype=pl.String),
            "plan_score": [(seed % 100) / 100 for seed in seeds],
        }
        sides.append(problems(*equivalent, **columns))
    for on in ("id", "model"):
        frames = [side.drop("id") if on == "model" else side for side in sides]
        found = [comparison_text(compare_datasets(*frames), "json")]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("pddl_eval.report.keys.PASS_CELLS", 40)
            patch.setattr("pddl_eval.report.diff.PASS_CELLS", 4)
            found.append(comparison_text(compare_datasets(*frames), "json"))
        one, many = (json.loads(text, parse_float=lambda number: round(float(number), 9)) for text in found)
        assert one == many


def test_a_repeated_key_is_found_in_any_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pddl_eval.report.keys.PASS_CELLS", 40)
    old, new = problems(*[YES] * 40), problems(*[YES] * 40, id=[*range(36), 8, 8, 30, 7])
    with pytest.raises(UserError, match="2 rows of the frame share id 7:"):
        compare_datasets(old, new)


def two_models_of_one() -> pl.DataFrame:
    """Model a is right on three of four questions, b on one; two samples of each, shuffled."""
    rows = [
        {"model": model, "reference_id": question, "sample": sample, "equivalent": right, "verdict": verdict}
        for model, solved in (("a", {"q1", "q2", "q3"}), ("b", {"q3"}))
        for question in ("q1", "q2", "q3", "q4")
        for sample in range(2)
        for right in (question in solved,)
        for verdict in ("identical" if right else "goal_differs",)
    ]
    frame = pl.DataFrame(rows).with_columns(reference_problem=pl.format("(define (problem {}))", "reference_id"))
    return frame.sample(fraction=1, shuffle=True, seed=3)


def test_two_models_of_one_dataset_are_compared_on_the_same_questions() -> None:
    frame = two_models_of_one()
    found = compare_datasets(frame, models=["a", "b"])
    assert (found.names, found.both, found.added, found.gone) == (("a", "b"), 8, 0, 0)
    assert (found.regressions, found.improvements) == (4, 0)
    (rate,) = found.rates.filter(measure="equivalent").to_dicts()
    assert (rate["old"], rate["new"], rate["p"]) == (0.75, 0.25, 0.5)
    apart = compare_datasets(frame.filter(model="a"), frame.filter(model="b"))
    assert (apart.names, apart.regressions, apart.on) == (("a", "b"), 4, found.on)
    (rates,) = (each for each in comparison_page(found).sections[0].tables if each.caption.startswith("Rates"))
    assert list(rates.header)[1:5] == ["a", "b", "difference", "p"]


def test_samples_and_questions_of_other_names_are_those_that_the_columns_name(tmp_path: Path) -> None:
    """``--column sample=attempt``: two models' third attempts at a question are compared with each other."""
    frame = two_models_of_one()
    old = compare_datasets(frame, models=["a", "b"])
    renamed = frame.rename({"sample": "attempt", "reference_id": "task"})
    columns = {"reference_id": "task", "sample": "attempt"}
    report = build_report(renamed, columns=columns)
    assert report.columns == columns and report.questions.equals(build_report(frame).questions)
    pairs = renamed.drop("equivalent", "verdict").with_columns(
        reference_problem=pl.lit(REFERENCE), generated_problem=pl.lit("none")
    )
    pairs.write_parquet(tmp_path / "pairs.parquet")
    score_dataset(tmp_path / "pairs.parquet", tmp_path / "scored", columns=columns)
    found = compare_datasets(tmp_path / "scored", models=["a", "b"])
    assert found.on == old.on and "sample" in found.on and found.both == old.both


def test_a_condition_leaves_rows_out() -> None:
    frame = two_models_of_one()
    found = compare_datasets(frame, models=["a", "b"], where="reference_id <> 'q1'")
    assert (found.both, found.regressions) == (6, 2)
    assert build_report(frame, where="model = 'a'").rows == 8
    with pytest.raises(UserError, match="nowhere"):
        build_report(frame, where="nowhere = 1")


def test_a_model_that_is_not_there_is_named() -> None:
    with pytest.raises(UserError, match="mean a"):
        compare_datasets(two_models_of_one(), models=["a", "aa"])


def nights_of(folder: Path, *nights: pl.DataFrame) -> list[Path]:
    """Scored datasets, a night each."""
    for number, frame in enumerate(nights, 1):
        place = folder / f"2026-03-0{number}" / "scored"
        place.mkdir(parents=True)
        frame.write_parquet(place / "pairs-0.parquet")
    return sorted(folder.glob("*/scored"))


def wrong(frame: pl.DataFrame, *ids: str) -> pl.DataFrame:
    """These answers are not equivalent, and cannot be read."""
    is_wrong = pl.col("id").is_in(ids)
    verdict = pl.when(is_wrong).then(pl.lit("unparseable")).otherwise("verdict")
    return frame.with_columns(equivalent=pl.col("equivalent") & ~is_wrong, verdict=verdict)


def test_nights_are_compared_each_with_the_one_before(tmp_path: Path) -> None:
    """On the second night three answers get worse: one is mended on the third, one is not asked on the fourth."""
    named = pl.format("{}/{}/{}", "model", "reference_id", "sample")
    first = two_models_of_one().with_columns(id=named, domain=pl.lit("ferry"))
    mended, gone, stays = "a/q2/0", "b/q3/0", "a/q1/0"
    assert first.filter(pl.col("id").is_in([mended, gone, stays]))["equivalent"].all()
    nights = [first, wrong(first, mended, gone, stays), wrong(first, gone, stays)]
    places = nights_of(tmp_path, *nights, wrong(first, stays).filter(pl.col("id") != gone).reverse())
    series = compare_series(places)
    assert series.names[1:3] == ("2026-03-02", "2026-03-03")
    assert [(step.regressions, step.improvements) for step in series.steps] == [(3, 0), (0, 1), (0, 0)]
    rates = {(line["dataset"], line["model"]): line["percent"] for line in series.rates.to_dicts()}
    assert (rates["2026-03-01", "b"], rates["2026-03-03", "b"], rates["2026-03-01", "a"]) == (25.0, 12.5, 75.0)
    found = {nights[1]["id"][each["row"]]: (each["state"], each["until"]) for each in series.worse.to_dicts()}
    assert found == {stays: ("wrong now", None), mended: ("mended", "2026-03-03"), gone: ("no longer asked", None)}
    assert nights[1]["id"][series.worse["row"][0]] == stays, "what is wrong now comes first"
    page = series_page(series, {"2026-03-02": "there.html"}, {("2026-03-02", series.worse["row"][0]): "row.html"})
    (line, *_), head = page.sections[0].tables[0].rows, page.sections[0].tables[0].header
    known = {name: cell.text for name, cell in zip(head, line, strict=True)}
    assert [known[name] for name in ("model", "question", "domain", "sample")] == ["a", "q1", "ferry", "0"]
    assert line[0].address == "row.html" and (known["was"], known["became"]) == ("identical", "unparseable")
    assert ": 1 answer that was right is wrong now. In all 3 got worse, 1 of them mended since; 1 " in page.lead
    assert "rows: 1 gone" in [row[1].text for row in page.sections[-1].tables[0].rows]
    drawn = series_text(series, "html")
    assert drawn.count("<polyline") == 3 and drawn.count('class="changed"') == 3, "two models, and both together"
    result = run("compare", *places, "--format", "md")
    assert result.exit_code == 0 and "is wrong now" in result.stdout


def test_samples_without_numbers_are_mended_one_after_the_other(tmp_path: Path) -> None:
    """Two samples of one question share a key: both get worse, one becomes right again."""
    rows = {"reference_id": ["q"] * 2, "reference_problem": ["p"] * 2, "verdict": ["identical"] * 2}
    known = [pl.DataFrame({**rows, "equivalent": right}) for right in ([True] * 2, [False] * 2, [False, True])]
    assert compare_series(nights_of(tmp_path, *known)).worse["state"].to_list() == ["wrong now", "mended"]


def test_plans_that_one_side_did_not_look_for_are_not_compared(tmp_path: Path) -> None:
    """Without --check-solvable only what cannot be read has a value: 60 % would have become 0 %."""
    frame = pl.DataFrame({"id": [1, 2], "equivalent": [True, False], "solvable": [True, False]})
    sides = []
    for name, signature in (("old", "solvable:yes"), ("new", "solvable:no")):
        table = frame.with_columns(
            solvable=pl.when(pl.lit(name == "old") | ~pl.col("equivalent")).then("solvable")
        ).to_arrow()
        sides.append(tmp_path / f"{name}.parquet")
        pq.write_table(table.replace_schema_metadata({SIGNATURE_KEY: f"pddl-eval:1|{signature}|x"}), sides[-1])
    assert compare_datasets(*sides).rates["measure"].unique().to_list() == ["equivalent"]


@pytest.mark.parametrize("seed", range(25))
def test_two_models_compared_are_as_the_report_compares_them(seed: int) -> None:
    """Unequal numbers of samples, questions that one model alone answered, nulls, mistakes in the data."""
    random = Random(seed)
    verdicts = ["identical", "goal_differs", "undecided", "reference_invalid"]
    rows = [
        {
            "model": model,
            "reference_id": f"q{question}",
            "sample": sample,
            "domain": "gripper" if question % 2 else "blocksworld",
            "equivalent": random.choice([True, False, None]) if random.random() < 0.3 else random.random() < 0.5,
            "plan_valid": random.choice([True, False, None]),
            "verdict": random.choices(verdicts, [5, 5, 2, 1])[0],
        }
        for model in ("a", "b")
        for question in random.sample(range(12), 9)
        for sample in range(random.choice([1, 2, 3]))
    ]
    random.shuffle(rows)
    frame = pl.DataFrame(rows)
    said = build_report(frame).differences
    found = compare_datasets(frame, models=["a", "b"])
    for line in found.rates.filter(pl.col("domain").is_null()).to_dicts():
        (report,) = said.filter(measure=line["measure"]).to_dicts()
        assert (100 * line["old"], 100 * line["new"]) == pytest.approx(
            (report["first_percent"], report["second_percent"])
        )
        assert (line["p"], line["references"]) == (report["p"], report["references"])
        ends = (-line["high"], -line["low"]) if line["low"] is not None else (None, None)
        assert [end and 100 * end for end in ends] == pytest.approx([report["low"], report["high"]])
    assert found.rates.filter(pl.col("domain").is_null()).height == said.height


def test_each_reference_has_the_same_weight() -> None:
    """Review H, 2: rows had it, so that the model with more samples of the easy questions led."""
    ids = ["easy"] * 4 + ["hard", "harder"]
    old, new = (
        pl.DataFrame({"id": range(6), "reference_id": ids, "equivalent": right})
        for right in ([True] * 4 + [False] * 2, [True, True, False, False, True, True])
    )
    (rate,) = compare_datasets(old, new).rates.to_dicts()
    assert (rate["rows"], rate["references"]) == (6, 3)
    assert (rate["old"], rate["new"]) == pytest.approx((1 / 3, 5 / 6))
    assert rate["p"] == 0.5, "of the eight ways to sign 0.5, 1, 1 four are as far from 0"


def test_models_of_a_frame_made_of_several_are_compared_with_two_kinds_of_answers() -> None:
    def answers(model: str, right: bool) -> pl.DataFrame:
        problem = {"equivalent": [right] * 300, "verdict": [VERDICT[right]] * 300, "detail": ["a problem"] * 300}
        plan = {"plan_valid": [True] * 300, "plan_verdict": ["valid"] * 300, "plan_detail": ["a plan"] * 300}
        named = {"model": [model] * 300, "reference_id": [str(number) for number in range(300)]}
        return pl.DataFrame({**named, **problem, **plan, "plan_score": [1.0] * 300})

    frame = pl.concat([answers("a", YES), answers("b", NO), answers("c", YES)])
    worse, same = (compare_datasets(frame, models=["a", other]) for other in ("b", "c"))
    assert (worse.regressions, worse.examples["detail"][0]) == (300, "problem: a problem; plan: a plan")
    assert (same.regressions, same.examples.height) == (0, 0)


def test_questions_with_one_reference_are_told_apart_by_their_ids() -> None:
    """The right answer to a changed question was taken for the answer to another one, which then had got worse."""
    row = {"model": "m", "reference_problem": "(p)", "verdict": "identical"}
    monday = pl.DataFrame([{**row, "reference_id": name, "equivalent": name == "a"} for name in "ab"])
    tuesday = monday.with_columns(reference_problem=pl.Series(["(q)", "(p)"]))
    found = compare_datasets(monday, tuesday)
    assert (found.regressions, found.both, found.added, found.gone) == (0, 1, 1, 1)


def test_the_sample_that_got_worse_is_named(tmp_path: Path) -> None:
    """Of two samples one was wrong and stays so; the verdict of the other one comes later in the alphabet."""
    rows = {"reference_id": ["q"] * 3, "sample": [0, 1, None], "reference_problem": ["p"] * 3}
    before = pl.DataFrame({**rows, "equivalent": [True, False, True], "verdict": ["identical", "empty", "identical"]})
    after = before.with_columns(equivalent=pl.lit(False), verdict=pl.Series(["unsolvable", "empty", "undecided"]))
    found = compare_datasets(before, after)
    assert found.on[1:] == ("reference_id", "sample") and found.both == 3
    assert found.moved.select("row", "old_row").rows() == [(0, 0), (2, 2)]
