"""A frame in a notebook: the scores of the command, in the library that it came in, its own columns untouched."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pddl_eval
import polars as pl
import pyarrow as pa
import pytest
from pddl_eval.columns import MEANINGS
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.scoring import table
from pddl_eval.scoring.table import CHUNK_ROWS, ColumnError, score_frame, score_table
from rich import progress as rich_progress

pd = pytest.importorskip("pandas")

SAMPLE = Path(__file__).parents[2] / "pipeline" / "pddl_eval" / "benchmark" / "sample.parquet"
HELD = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"


@pytest.fixture(scope="module")
def sample() -> pl.DataFrame:
    return pl.read_parquet(SAMPLE).drop("reference_domain", "generated_domain")  # slow to score


def problems(make: Callable[[dict[str, Any]], Any], *generated: Any, **columns: Any) -> Any:
    return make({"reference_problem": [HELD] * len(generated), "generated_problem": list(generated), **columns})


def test_the_scores_are_those_of_the_command(sample: pl.DataFrame) -> None:
    assert sample.height > CHUNK_ROWS
    expected = pl.from_arrow(score_table(sample.to_arrow(), ScoringOptions()))
    assert isinstance(expected, pl.DataFrame)
    scored = score_frame(sample)
    assert scored.drop("score_micros").equals(expected.drop("score_micros"))
    assert scored.schema == expected.schema


def test_pandas_in_pandas_out_with_its_index_and_nullable_scores(sample: pl.DataFrame) -> None:
    frame = sample.to_pandas()
    frame.index = pd.Index([f"row {number}" for number in range(len(frame))])
    before = frame.copy()
    scored = score_frame(frame)
    assert isinstance(scored, pd.DataFrame)
    pd.testing.assert_frame_equal(frame, before)
    pd.testing.assert_frame_equal(scored[frame.columns], frame)
    assert scored["equivalent"].dtype == pd.BooleanDtype()
    assert scored["equivalent"].mean() == score_frame(sample)["equivalent"].mean()
    assert list(scored["verdict"]) == score_frame(sample)["verdict"].to_list()


def test_an_index_that_repeats_itself_pairs_rows_by_their_place() -> None:
    frame = problems(pd.DataFrame, HELD, None, HELD.replace("a)", "z)"))
    frame.index = pd.Index([7, 7, 7])
    assert list(score_frame(frame)["verdict"]) == ["identical", "empty", "isomorphic"]


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame], ids=["polars", "pandas"])
def test_columns_that_mean_nothing_may_hold_anything(make: Callable[[dict[str, Any]], Any]) -> None:
    things = [object(), object()]
    scored = score_frame(problems(make, HELD, "no", anything=pd.Series(things) if make is pd.DataFrame else things))
    assert list(scored["anything"]) == things
    assert list(scored["verdict"]) == ["identical", "unparseable"]


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame], ids=["polars", "pandas"])
def test_a_frame_without_rows_gets_the_columns_all_the_same(make: Callable[[dict[str, Any]], Any]) -> None:
    frame = make({"reference_plan": ["(pick a)"], "generated_plan": ["(pick a)"]})
    scored = score_frame(frame[:0])
    assert len(scored) == 0
    assert list(scored.columns) == list(score_frame(frame).columns)


def test_missing_values_of_pandas_are_failed_answers() -> None:
    frame = problems(pd.DataFrame, HELD, float("nan"), None, is_placeholder=pd.Series([True, None, pd.NA]))
    assert list(score_frame(frame)["verdict"]) == ["identical", "empty", "empty"]


def test_categories_are_texts() -> None:
    frame = problems(pd.DataFrame, HELD, HELD, domain=pd.Categorical(["blocksworld", "blocksworld"]))
    assert score_frame(frame)["equivalent"].all()


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame], ids=["polars", "pandas"])
def test_settings_and_names_are_as_of_a_dataset(make: Callable[[dict[str, Any]], Any]) -> None:
    frame = make({"reference_problem": [HELD], "output": [HELD.replace("blocksworld", "x")]})
    scored = score_frame(frame, columns={"generated_problem": "output"}, domain="blocksworld", check_solvable=False)
    assert [value is None or value is pd.NA for value in scored["solvable"]] == [True]
    assert scored["verdict"].to_list() == ["domain_mismatch"]
    with pytest.raises(ValueError, match="beta is a number from 0 to 1"):
        score_frame(frame, beta=2)
    with pytest.raises(ValueError, match="did you mean generated_problem"):
        score_frame(frame, columns={"generated_problm": "output"})


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame], ids=["polars", "pandas"])
def test_what_is_wrong_with_the_columns_is_said(make: Callable[[dict[str, Any]], Any]) -> None:
    scored = score_frame(problems(make, HELD))
    for frame, columns, sentence in (
        (problems(make, HELD), {"generated_problem": "generatd_problem"}, "did you mean generated_problem"),
        (make({"reference_problem": [HELD], "output": [HELD]}), None, r"columns=\{'generated_problem': NAME\}"),
        (make({"reference_problem": [1], "generated_problem": [HELD]}), None, "should hold text"),
        (make({"answer": [HELD]}), None, "found answer"),
        (problems(make, HELD, is_placeholder=["yes"]), None, "should be boolean"),
        (scored, None, "it seems scored already"),
    ):
        with pytest.raises(ColumnError, match=sentence):
            score_frame(frame, columns=columns)


def test_a_column_of_mixed_values_and_two_columns_of_one_name_are_refused() -> None:
    with pytest.raises(ColumnError, match="generated_problem holds values of different"):
        score_frame(pd.DataFrame({"reference_problem": [HELD, HELD], "generated_problem": pd.Series([HELD, object()])}))
    twice = pd.DataFrame([[HELD, HELD, HELD]], columns=["reference_problem", "generated_problem", "generated_problem"])
    with pytest.raises(ColumnError, match="2 columns are named generated_problem"):
        score_frame(twice)


@pytest.mark.parametrize(
    "thing", [[{"reference_plan": "a"}], "pairs.parquet", pa.table({"reference_plan": ["a"]}), None]
)
def test_what_is_no_frame_is_refused(thing: object) -> None:
    with pytest.raises(TypeError, match="takes a polars or pandas DataFrame, not a"):
        score_frame(thing)


def test_a_lazy_frame_is_to_be_collected_first() -> None:
    with pytest.raises(TypeError, match="collect"):
        score_frame(pl.LazyFrame({"reference_plan": ["a"]}))


def test_a_bar_is_taken_down_when_scoring_is_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    stopped: list[bool] = []

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(rich_progress.Progress, "stop", lambda _: stopped.append(True))
    monkeypatch.setattr(table, "score_table", interrupted)
    with pytest.raises(KeyboardInterrupt):
        score_frame(problems(pl.DataFrame, HELD))
    assert stopped == [True]


def test_nothing_of_ray_is_touched() -> None:
    program = (
        "import sys, polars, pddl_eval\n"
        "pddl_eval.score_frame(polars.DataFrame({'reference_plan': ['(a)'], 'generated_plan': ['(a)']}))\n"
        "print('ray' in sys.modules)"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (result.stdout, result.stderr) == ("False\n", "")


def test_it_is_a_public_name() -> None:
    assert pddl_eval.score_frame is score_frame


@pytest.mark.parametrize("meaning", MEANINGS)
def test_each_meaning_can_have_another_name(meaning: str) -> None:
    frame = problems(pl.DataFrame, HELD, reference_plan=["(putdown a)"], generated_plan=["(putdown a)"])
    frame = frame.with_columns(reference_domain=None, generated_domain=None, domain=None, is_placeholder=None)
    frame = frame.with_columns(question=None, plan=None, reference_answer=None, generated_answer=None)
    frame = frame.with_columns(model=pl.lit("m"), reference_id=pl.lit(1), sample=pl.lit(2)).rename({meaning: "own"})
    assert score_frame(frame, columns={meaning: "own"})["verdict"].to_list() == ["identical"]
