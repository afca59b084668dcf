"""The output schema and what is said of datasets that do not fit."""

import pyarrow as pa
import pytest
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.errors import UserError
from pddl_eval.scoring.table import ColumnError, constants_signed, score_schema

TEXT = pa.string()
PROBLEMS = pa.schema(
    [("id", pa.int32()), ("reference_problem", TEXT), ("generated_problem", TEXT)], metadata={"a": "b"}
)


def test_the_input_comes_first_and_unchanged_with_its_metadata() -> None:
    schema = score_schema(PROBLEMS, ScoringOptions())
    assert schema.names[:4] == ["id", "reference_problem", "generated_problem", "parseable"]
    assert schema.names[-2:] == ["score_error", "score_micros"]
    assert schema.metadata == {b"a": b"b"}


def test_only_the_pairs_that_are_present_are_scored() -> None:
    assert "plan_lcs" not in score_schema(PROBLEMS, ScoringOptions()).names
    plans = pa.schema([("reference_plan", TEXT), ("generated_plan", pa.large_string())])
    assert "verdict" not in score_schema(plans, ScoringOptions()).names


def test_columns_can_be_renamed() -> None:
    schema = pa.schema([("truth", TEXT), ("output", pa.dictionary(pa.int32(), TEXT))])
    renaming = ScoringOptions(columns={"reference_problem": "truth", "generated_problem": "output"})
    assert "verdict" in score_schema(schema, renaming).names


@pytest.mark.parametrize(
    ("schema", "settings", "message"),
    [
        (pa.schema([("id", TEXT)]), ScoringOptions(), "no column to score"),
        (
            pa.schema([("reference_problem", TEXT), ("generated_problems", TEXT)]),
            ScoringOptions(),
            "no generated_problem; did you mean generated_problems?",
        ),
        (
            pa.schema([("reference_problem", TEXT), ("output", TEXT)]),
            ScoringOptions(),
            "no generated_problem; the other columns are output;",
        ),
        (
            PROBLEMS,
            ScoringOptions(columns={"generated_problem": "outptu"}),
            "there is no column outptu for generated_problem",
        ),
        (
            pa.schema([("reference_problem", TEXT), ("generated_problem", pa.int64())]),
            ScoringOptions(),
            "column generated_problem should hold text, but its type is int64",
        ),
        (PROBLEMS.append(pa.field("is_placeholder", TEXT)), ScoringOptions(), "is_placeholder should be boolean"),
        (PROBLEMS.append(pa.field("verdict", TEXT)), ScoringOptions(), "already has the score column verdict"),
    ],
)
def test_what_does_not_fit_is_named_in_one_sentence(schema: pa.Schema, settings: ScoringOptions, message: str) -> None:
    with pytest.raises(ColumnError, match=message.replace("?", r"\?")):
        score_schema(schema, settings)


def test_an_unknown_meaning_is_refused() -> None:
    with pytest.raises(ValueError, match="no column means problem"):
        ScoringOptions(columns={"problem": "x"})


def test_a_column_that_stands_twice_is_refused_and_others_may() -> None:
    twice = PROBLEMS.append(pa.field("generated_problem", TEXT))
    with pytest.raises(ColumnError, match="2 columns are named generated_problem"):
        score_schema(twice, ScoringOptions())
    assert score_schema(PROBLEMS.append(pa.field("id", TEXT)), ScoringOptions()).names.count("id") == 2


def test_score_columns_that_are_there_are_counted_and_some_are_named() -> None:
    scored = score_schema(PROBLEMS, ScoringOptions())
    with pytest.raises(ColumnError, match=r"parseable, .* and \d+ more") as refusal:
        score_schema(scored, ScoringOptions())
    assert len(str(refusal.value)) < 250


@pytest.mark.parametrize("other", ["reference_problem", "generated_plan", "domain"])
def test_one_column_is_not_an_answer_and_something_else(other: str) -> None:
    with pytest.raises(UserError, match=other):
        ScoringOptions(columns={"generated_problem": other})
    ScoringOptions(columns={"reference_domain": "domain"})


def test_constants_stand_in_the_signature_of_the_scores_that_they_change() -> None:
    domains = pa.schema([("reference_domain", TEXT), ("generated_domain", TEXT)])
    assert constants_signed(PROBLEMS, ScoringOptions()) == ""
    assert constants_signed(domains, ScoringOptions()) == "|walks:20x25|seed:0"


def test_the_reference_problem_of_domains_is_text() -> None:
    domains = pa.schema([("reference_domain", TEXT), ("generated_domain", TEXT), ("reference_problem", pa.int64())])
    with pytest.raises(ColumnError, match="reference_problem should hold text"):
        score_schema(domains, ScoringOptions())
