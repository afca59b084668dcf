"""Rows to score columns: passing through, failed answers, mistakes in the data, one bad row costing one row."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pddl_eval
import pyarrow as pa
import pytest
from pddl_eval.definition import metrics
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.errors import UserError
from pddl_eval.process import stop_requested
from pddl_eval.scoring.table import ColumnError, constants_signed, score_schema, score_table

HELD = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"


def score(*generated: str | None, reference: str | None = HELD, **columns: Any) -> list[dict[str, Any]]:
    table = pa.table(
        {
            "reference_problem": pa.array([reference] * len(generated), pa.string()),
            "generated_problem": pa.array(generated, pa.string()),
            **columns,
        }
    )
    return score_table(table, ScoringOptions()).to_pylist()


def test_columns_pass_through_and_every_row_has_its_scores() -> None:
    rows = score(HELD, HELD.replace("a)", "z)"), tags=[["x"], []])
    assert [row["tags"] for row in rows] == [["x"], []]
    assert [row["verdict"] for row in rows] == ["identical", "isomorphic"]
    assert all(row["parseable"] and row["solvable"] and row["equivalent"] and row["equivalent_untyped"] for row in rows)
    assert rows[0]["certificate"] == rows[1]["certificate"]
    assert all(row["score_error"] is None and row["score_micros"] >= 0 for row in rows)


def test_a_null_or_empty_answer_is_a_failed_answer() -> None:
    for row in score(None, "", "   \n"):
        assert (row["parseable"], row["solvable"], row["equivalent"], row["verdict"]) == (False, False, False, "empty")


def test_what_cannot_be_read_is_no_but_not_an_error() -> None:
    negated = HELD.replace("(clear a)", "(not (holding a))")
    undeclared = HELD.replace("(clear a)", "(clear b)")
    rows = score("no PDDL at all", HELD[:-8], negated, undeclared)
    assert [row["verdict"] for row in rows] == ["unparseable", "unparseable", "not_strips", "invalid_atom"]
    assert all((row["parseable"], row["equivalent"], row["score_error"]) == (False, False, None) for row in rows)
    assert all(row["detail"] for row in rows)


def test_an_unsolvable_or_unreadable_reference_is_a_mistake_in_the_data() -> None:
    for reference in (HELD.replace("(clear a)", "(on a a)"), "nothing"):
        (row,) = score(HELD, reference=reference)
        assert (row["verdict"], row["equivalent"], row["parseable"]) == ("reference_invalid", None, True)
        assert "the reference" in row["detail"]


def test_another_domain_is_not_solvable() -> None:
    (row,) = score(HELD.replace("blocksworld", "blocks"))
    assert (row["verdict"], row["solvable"], row["equivalent"]) == ("domain_mismatch", False, False)


def test_a_domain_column_that_is_no_domain_costs_only_its_row() -> None:
    rows = score(HELD, HELD, domain=["(define (domain", None])
    assert rows[0]["score_error"] is not None and rows[0]["verdict"] is None
    assert rows[1]["score_error"] is None and rows[1]["verdict"] == "identical"


def test_placeholder_rows_compare_the_scenes_separately() -> None:
    start = "(arm-empty) (clear a) (on a b) (on-table b) (clear c) (on-table c)"
    reference = f"(define (problem p) (:domain blocksworld) (:objects a b c) (:init {start}) (:goal (on a c)))"
    rows = score(*[reference.replace("(on a c)))", "(on b c)))")] * 2, reference=reference, is_placeholder=[True, None])
    assert [row["equivalent"] for row in rows] == [True, False]


def test_an_empty_table_gives_an_empty_scored_table() -> None:
    assert score() == []


def test_plans_are_scored_and_carried_out_in_the_reference_problem() -> None:
    table = pa.table(
        {
            "reference_problem": [HELD] * 3,
            "reference_plan": ["(putdown a)"] * 3,
            "generated_plan": ["putdown(a)", "(stack a b)", None],
        }
    )
    rows = score_table(table, ScoringOptions()).to_pylist()
    assert [row["plan_lcs"] for row in rows] == [1.0, 0.0, 0.0]
    assert [row["plan_valid"] for row in rows] == [True, False, False]
    assert [row["first_failed_step"] for row in rows] == [None, 1, None]
    assert rows[1]["plan_detail"]
    assert "parseable" not in rows[0]


def test_domains_are_scored_and_without_a_reference_they_are_read() -> None:
    sail = "(define (domain f) (:action sail :parameters (?x) :precondition (at ?x) :effect (not (at ?x))))"
    table = pa.table(
        {"reference_domain": [sail, None, sail], "generated_domain": [sail.replace("?x", "?y"), sail, "no domain"]}
    )
    rows = score_table(table, ScoringOptions()).to_pylist()
    assert [row["domain_precision"] for row in rows] == [1.0, None, 0.0]
    assert [row["domain_verdict"] for row in rows] == ["identical", None, "unparseable"]
    assert rows[1]["domain_certificate"] == rows[0]["domain_certificate"]
    assert rows[2]["domain_detail"]


def test_an_answer_of_another_domain_never_has_a_certificate_of_the_reference_s() -> None:
    rows = score(HELD, HELD.replace("blocksworld", "blocks"), HELD.replace("blocksworld", "gripper"))
    assert [row["verdict"] for row in rows] == ["identical", "domain_mismatch", "domain_mismatch"]
    assert rows[0]["certificate"] is not None and rows[1]["certificate"] is None
    assert (
        rows[2]["certificate"]
        == pddl_eval.certificate(HELD.replace("blocksworld", "gripper"))
        != rows[0]["certificate"]
    )


def test_another_domain_is_not_solvable_beside_an_unsolvable_reference_either() -> None:
    (row,) = score(HELD.replace("blocksworld", "blocks"), reference=HELD.replace("(clear a)", "(on a a)"))
    assert (row["verdict"], row["solvable"], row["certificate"]) == ("reference_invalid", False, None)


def test_bytes_that_are_not_utf_8_cost_no_row_but_their_own() -> None:
    raw = [HELD.encode(), HELD.encode() + b"\xff", b"\xff\xfe", HELD.replace("a)", "\xff)").encode("latin-1")]
    answers = pa.array(raw, pa.binary()).cast(pa.string(), safe=False)
    table = pa.table({"reference_problem": [HELD] * 4, "generated_problem": answers})
    scored = score_table(table, ScoringOptions())
    assert scored["verdict"].to_pylist() == ["identical", "identical", "unparseable", "unparseable"]
    assert scored["generated_problem"].cast(pa.binary()).to_pylist() == raw
    shared = pa.table({"reference_problem": [HELD] * 4, "generated_problem": answers.dictionary_encode()})
    assert score_table(shared, ScoringOptions())["verdict"].to_pylist() == scored["verdict"].to_pylist()


def test_an_interrupt_is_never_a_score(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt:
            raise RuntimeError("what a library in C makes of it")  # noqa: B904 (as they do)

    def forgotten(*_: object) -> None:
        stop_requested.set()
        raise RuntimeError("interrupted")

    for broken in (interrupted, forgotten):
        pair = replace(metrics.PROBLEM, read=broken)
        monkeypatch.setattr("pddl_eval.pairs.PAIRS", (pair,))
        with pytest.raises(KeyboardInterrupt):
            score(HELD)
        stop_requested.clear()


def test_sentences_about_answers_are_printable() -> None:
    domain = "(define (domain d) (:action go :effect (at)))"
    table = pa.table(
        {
            "reference_problem": [HELD],
            "reference_plan": ["(putdown a)"],
            "generated_plan": ["(go \x9ba)"],
            "reference_domain": [domain],
            "generated_domain": [domain.replace("go", "g\x9bo")],
        }
    )
    (row,) = score_table(table, ScoringOptions()).to_pylist()
    assert "\\x9b" in row["plan_detail"] and "\\x9b" in row["domain_detail"]
    assert row["plan_detail"].isprintable() and row["domain_detail"].isprintable()


@pytest.mark.parametrize("domain", ["blockworld", "# A page (with brackets)", "(define (domain"])
def test_a_domain_that_is_none_is_an_error_before_any_row(domain: str) -> None:
    with pytest.raises(UserError, match="domain"):
        score_schema(
            pa.schema({"reference_plan": pa.string(), "generated_plan": pa.string()}), ScoringOptions(domain=domain)
        )


def test_equal_rows_are_scored_once() -> None:
    """Whatever is undecided or wrong in the first is so in the others; only the first has taken time."""
    plans = pa.table({"reference_plan": ["(a)", "(b)", "(a)"], "generated_plan": ["(a), (b)", "(b)", "(a), (b)"]})
    by_definition = ScoringOptions(similarity="lexical")  # the kernel leaves these
    first, other, again = score_table(plans, by_definition).to_pylist()
    assert again == first | {"score_micros": 0} and first["score_micros"] > 0
    assert other["plan_lcs"] == 1.0 != first["plan_lcs"]


# --- The output schema and what is said of datasets that do not fit


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
