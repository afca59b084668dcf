"""``compare_domains``: texts, values and columns, and what happens to domains that cannot be read."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pddl_eval import DomainScores, compare_domains, score_frame
from pddl_eval.definition.metrics.components import COLUMNS, component_f1
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.definition.pddl import DomainError, parse_domain
from pddl_eval.definition.verdict import SEVERAL_DRAFTS
from pddl_eval.errors import UserError

BUS = "(define (domain bus) (:action stop :parameters (?b) :precondition (moving ?b) :effect (not (moving ?b))))"
STILL = BUS.replace("(not (moving ?b))", "()")


def test_texts_and_values() -> None:
    assert compare_domains(BUS, f"Sure!\n{BUS}").domain_recall == 1.0
    assert compare_domains(parse_domain(BUS), parse_domain(STILL)) == compare_domains(BUS, STILL)
    assert compare_domains(BUS, STILL).domain_recall == 0.5


@pytest.mark.parametrize(
    ("generated", "reason"),
    [
        (None, "there is no domain"),
        ("", "(define (domain …"),
        ("I cannot.", "(define (domain …"),
        (BUS[:-1], "never closed"),
        ("(" * 100_000, "(define (domain …"),
        ("(define (domain d) " + "(" * 100_000, "the domain nests deeper than"),
    ],
)
def test_an_unreadable_domain_scores_0_with_its_reason(generated: str | None, reason: str) -> None:
    scores = compare_domains(BUS, generated)
    assert (scores.domain_precision, scores.domain_recall) == (0.0, 0.0)
    assert scores.domain_precision_effects_positive == 0.0
    assert reason in scores.detail


def test_a_missing_or_unreadable_reference_is_an_error() -> None:
    with pytest.raises(ValueError, match="there is no reference domain"):
        compare_domains(None, BUS)
    with pytest.raises(ValueError, match="there is no reference domain"):
        compare_domains([BUS, None], [BUS, BUS])
    with pytest.raises(DomainError):
        compare_domains("(define", BUS)


TEXTS = [BUS, STILL, None]


@pytest.mark.parametrize(
    "column",
    [
        TEXTS,
        tuple(TEXTS),
        [parse_domain(BUS), STILL, None],
        pl.Series(TEXTS),
        pd.Series(TEXTS),
        np.array(TEXTS, dtype=object),
        pa.array(TEXTS),
    ],
)
def test_columns(column: object) -> None:
    for reference in (BUS, parse_domain(BUS), [BUS] * 3, pl.Series([BUS] * 3)):
        scores = compare_domains(reference, column)
        assert isinstance(scores, list)
        assert [one.domain_recall for one in scores] == [1.0, 0.5, 0.0]
        assert all(isinstance(one, DomainScores) for one in scores)


def test_columns_that_do_not_pair_up_are_errors() -> None:
    with pytest.raises(ValueError, match="2 reference domains do not pair up with 3 generated ones"):
        compare_domains([BUS, BUS], TEXTS)
    with pytest.raises(ValueError, match="needs a column"):
        compare_domains([BUS], BUS)


WRONG = BUS.replace("(not (moving ?b))", "(moving ?b)")
ACTIONS = BUS[BUS.index("(:action") : -1]


def test_actions_alone_are_read_with_the_reference_where_that_is_asked_for() -> None:
    typed = BUS.replace("(:action", "(:types bus) (:constants red - bus) (:predicates (moving ?b - bus)) (:action")
    typed = typed.replace("(?b)", "(?b - bus)", 1)
    answer = f"First:\n```pddl\n{ACTIONS.replace('(?b)', '(?b - bus)', 1)}\n```\nThat is all."
    none = compare_domains(typed, answer)
    assert (none.verdict.value, none.domain_recall) == ("unparseable", 0.0) and "only actions" in none.detail
    read = compare_domains(typed, answer, domain_header="reference")
    assert (read.verdict.value, read.domain_recall, read.domain_f1_predicates) == ("identical", 1.0, 1.0)
    assert read.detail.startswith("only actions")
    # A domain of its own has a header of its own, also where it is cut off or has no declarations.
    for own, verdict in ((BUS, "types_differ"), (BUS[:-1], "unparseable")):
        scores = compare_domains(typed, own, domain_header="reference")
        assert scores.verdict.value == verdict and "only actions" not in scores.detail
    assert compare_domains(typed, "Sorry.", domain_header="reference").verdict.value == "unparseable"
    with pytest.raises(UserError, match="generated"):
        compare_domains(typed, answer, domain_header="generated")


def test_the_header_is_a_part_of_the_signature_and_of_each_row() -> None:
    frame = pl.DataFrame({"reference_domain": [BUS, BUS], "generated_domain": [ACTIONS, BUS]})
    assert score_frame(frame)["domain_verdict"].to_list() == ["unparseable", "identical"]
    read = score_frame(frame, domain_header="reference")
    assert read["domain_verdict"].to_list() == ["identical", "identical"]
    assert ["the reference's" in (detail or "") for detail in read["domain_detail"]] == [True, False]
    signatures = {ScoringOptions(domain_header=header).signature for header in ("none", "reference")}
    assert len(signatures) == 2 and all("|header:" in signature for signature in signatures)


@pytest.mark.parametrize(
    "thought", ["<think>{}</think>", "{}</think>", "[THINK]{}[/THINK]", "<reasoning>\n{}\n</reasoning>"]
)
def test_a_thought_is_never_the_domain(thought: str) -> None:
    for answer in ("first", "last"):
        assert compare_domains(BUS, thought.format(WRONG) + BUS, answer=answer).equivalent is True
    assert compare_domains(BUS, thought.format(BUS)).verdict.value == "empty"
    draft = thought.format("(:action stop)") + ACTIONS
    assert compare_domains(BUS, draft, domain_header="reference").equivalent is True


def test_of_several_drafts_the_first_or_the_last_counts_and_it_is_said() -> None:
    for drafts in (f"{WRONG}\nNo: {BUS}", f"{WRONG.replace(BUS[:21], '')[:-1]}\nNo: {ACTIONS}"):
        first, last = (
            compare_domains(BUS, drafts, answer=answer, domain_header="reference") for answer in ("first", "last")
        )
        assert (first.equivalent, last.equivalent) == (False, True)
        assert first.detail.startswith(SEVERAL_DRAFTS) and last.detail.startswith(SEVERAL_DRAFTS)
    cut_off = "(define (domain bus) (:action"
    assert compare_domains(BUS, f"{WRONG} {BUS} {cut_off}", answer="last").equivalent is True
    assert SEVERAL_DRAFTS not in compare_domains(BUS, f"; (define (domain e))\n{BUS}").detail
    with pytest.raises(UserError, match="middle"):
        compare_domains(BUS, BUS, answer="middle")


# --- Text2World's component-wise F1 on parsed atoms: computed by hand, and what its published code counts otherwise


FERRY = """(define (domain ferry) (:types car port) (:predicates (at ?c - car ?p - port) (at-ferry ?p - port) (empty))
  (:action sail :parameters (?from ?to - port) :precondition (and (at-ferry ?from) (not (= ?from ?to)))
    :effect (and (at-ferry ?to) (not (at-ferry ?from))))
  (:action board :parameters (?c - car ?p - port) :precondition (and (at ?c ?p) (at-ferry ?p) (empty))
    :effect (and (not (at ?c ?p)) (not (empty)))))"""


def f1(generated: str, reference: str = FERRY) -> list[float]:
    return component_f1(parse_domain(reference), parse_domain(generated))


@pytest.mark.parametrize(
    ("was", "is_", "expected"),
    [
        ("", "", [1, 1, 1, 1]),
        ("?from", "?x", [1, 1, 1, 1]),
        ("(= ?from ?to)", "(= ?to ?from)", [1, 1, 1, 1]),
        ("(define (domain ferry)", "(define (domain other)", [1, 1, 1, 1]),
        # One predicate of three is another; its atoms in one precondition of three and one effect of two.
        ("(empty)", "(free)", [2 / 3, 1, (1 + 2 / 3) / 2, (1 + 1 / 2) / 2]),
        # As many arguments as before, whatever their types.
        ("(at ?c - car ?p - port)", "(at ?c ?p)", [1, 1, 1, 1]),
        ("(at ?c - car ?p - port)", "(at ?c - car)", [2 / 3, 1, 1, 1]),
        (":parameters (?from ?to - port)", ":parameters (?from ?to)", [1, 1 / 2, 1, 1]),
        (":parameters (?from ?to - port)", ":parameters (?from ?to - port ?c - car)", [1, (4 / 5 + 1) / 2, 1, 1]),
        (":parameters (?from ?to - port)", ":parameters (?to ?from - port)", [1, 1, (1 / 2 + 1) / 2, 1 / 2]),
        # A literal turned into its negation is another one.
        ("(not (at-ferry ?from))", "(at-ferry ?from)", [1, 1, 1, (1 / 2 + 1) / 2]),
        ("(and (at ?c ?p) (at-ferry ?p) (empty))", "(at ?c ?p)", [1, 1, (1 + 1 / 2) / 2, 1]),
        ("(and (at ?c ?p) (at-ferry ?p) (empty))", "()", [1, 1, 1 / 2, 1]),
        ("(:action board", "(:action embark", [1, 1 / 2, 1 / 2, 1 / 2]),
        ("(:action sail", "(:action rest :effect ()) (:action sail", [1, 1, 1, 1]),
    ],
)
def test_by_hand(was: str, is_: str, expected: list[float]) -> None:
    assert f1(FERRY.replace(was, is_) if was else FERRY) == pytest.approx(expected)


def test_nothing_on_both_sides_is_1() -> None:
    """As in Text2World's code."""
    still = "(define (domain d) (:action wait :effect ()))"
    assert f1(still, still) == [1.0] * 4


def test_where_the_published_code_differs() -> None:
    """It splits the printed precondition at ``and``, whatever holds it; here names may hold it."""
    land = "(define (domain d) (:action go :parameters (?x) :precondition (and (island ?x) (handy ?x)) :effect ()))"
    assert f1(land.replace("(island ?x) (handy ?x)", "(handy ?x) (isthmus ?x)"), land)[2] == 1 / 2
    # It gives all operators 0 where one is missing, and counts parameters by their names.
    assert f1(FERRY.replace("(:action board", "(:action embark").replace("?to", "?x"))[1:] == [1 / 2] * 3


def test_what_cannot_be_read_scores_0() -> None:
    for generated in (None, "", "(define (domain"):
        scores = compare_domains(FERRY, generated)
        assert [getattr(scores, column.name) for column in COLUMNS] == [0.0] * 4
