"""``compare_domains``: texts, values and columns, and what happens to domains that cannot be read."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pddl_eval.metrics import DomainScores, compare_domains
from pddl_eval.parsing import DomainError, parse_domain

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
