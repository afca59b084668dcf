"""AMLGym's definition on domains whose precision and recall are computed by hand, and its conventions."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from random import Random

import polars as pl
import pytest
from pddl_eval import DomainScores, compare_domains, score_dataset
from pddl_eval.definition.metrics import DOMAIN
from pddl_eval.definition.metrics.syntactic import COLUMNS as SCORE_COLUMNS
from pddl_eval.definition.metrics.syntactic import GROUPS
from pddl_eval.definition.model import Atom, Domain, Operator
from pddl_eval.report import build_report
from pddl_eval.scoring.summary import MEANS

FERRY = """
(define (domain ferry) (:requirements :strips :negative-preconditions)
  (:predicates (at-ferry ?l) (at ?c ?l) (empty) (on ?c) (closed ?l))
  (:action sail :parameters (?from ?to)
    :precondition (and (at-ferry ?from) (not (closed ?to)))
    :effect (and (at-ferry ?to) (not (at-ferry ?from))))
  (:action board :parameters (?car ?loc)
    :precondition (and (at ?car ?loc) (at-ferry ?loc) (empty))
    :effect (and (on ?car) (not (at ?car ?loc)) (not (empty))))
  (:action debark :parameters (?car ?loc)
    :precondition (and (on ?car) (at-ferry ?loc))
    :effect (and (at ?car ?loc) (empty) (not (on ?car)))))
"""


COLUMNS = [column.name for column in SCORE_COLUMNS]


def scores(generated: str, reference: str = FERRY) -> DomainScores:
    return compare_domains(reference, generated)


def all_columns(value: float) -> dict[str, float]:
    return dict.fromkeys(COLUMNS, value)


def columns_of(found: DomainScores) -> dict[str, float]:
    return {name: getattr(found, name) for name in COLUMNS}


def test_columns_are_those_of_the_contract() -> None:
    suffixes = ("", "_preconditions_positive", "_preconditions_negative", "_effects_positive", "_effects_negative")
    expected = [f"domain_{measure}{suffix}" for suffix in suffixes for measure in ("precision", "recall")]
    assert [column.name for column in SCORE_COLUMNS] == expected
    assert {column.name for column in DOMAIN.columns} > set(expected)


def test_the_same_domain() -> None:
    found = scores(FERRY)
    assert columns_of(found) == all_columns(1.0)
    assert (found.detail, found.missing_operators, found.extra_operators) == ("", (), ())


@pytest.mark.parametrize(
    "rewritten",
    [
        FERRY.replace("?car", "?x").replace("?loc", "?y").replace("?from", "?y").replace("?to", "?x"),
        FERRY.replace("?from ?to)", "?from - port ?to - port)").replace("(:predicates", "(:types port) (:predicates"),
        " ".join(FERRY.split()).upper(),
        FERRY.replace("debark", "DeBark").replace("(empty) (not (on ?car))", "(not (on ?car)) (empty) (empty)"),
        f"Here it is:\n```pddl\n{FERRY}\n```\nGood luck (really)!",
    ],
    ids=["parameters renamed", "types added", "one line, upper case", "atoms in another order", "a raw answer"],
)
def test_what_makes_no_difference(rewritten: str) -> None:
    assert columns_of(scores(rewritten)) == all_columns(1.0)


def test_one_effect_removed_from_one_operator() -> None:
    """board has 3 + 3 atoms; without `(not (empty))` 5 of 6 are found, all of them right; 1 of 2 deletes."""
    found = scores(FERRY.replace(" (not (empty))", ""))
    assert columns_of(found) == {
        **all_columns(1.0),
        "domain_recall": pytest.approx(float((1 + Fraction(5, 6) + 1) / 3)),
        "domain_recall_effects_negative": pytest.approx(float((1 + Fraction(1, 2) + 1) / 3)),
    }


def test_wrong_and_missing_atoms_by_hand() -> None:
    """sail: needs (at-ferry ?from) and, wrongly, (at-ferry ?to) instead of (not (closed ?to)).

    TP: 1 + 0 + 1 + 1 = 3; found 4 (2 + 0 + 1 + 1); expected 4 (1 + 1 + 1 + 1).
    """
    found = scores(FERRY.replace("(not (closed ?to))", "(at-ferry ?to)"))
    assert columns_of(found) == {
        **all_columns(1.0),
        "domain_precision": pytest.approx((3 / 4 + 1 + 1) / 3),
        "domain_recall": pytest.approx((3 / 4 + 1 + 1) / 3),
        "domain_precision_preconditions_positive": pytest.approx((1 / 2 + 1 + 1) / 3),
        "domain_recall_preconditions_negative": pytest.approx((0 + 1 + 1) / 3),
    }


def test_parameters_count_by_position() -> None:
    """With ?from and ?to exchanged in the list, all atoms of sail speak of the other place."""
    found = scores(FERRY.replace("(?from ?to)", "(?to ?from)"))
    assert found.domain_precision == pytest.approx(2 / 3)
    assert found.domain_recall == pytest.approx(2 / 3)


def test_a_missing_operator_is_an_empty_one() -> None:
    """Its recall is 0 and its precision, 0/0, is 1; AMLGym's convention."""
    start = FERRY.index("(:action debark")
    found = scores(FERRY[:start] + ")")
    assert found.domain_precision == 1.0
    assert found.domain_recall == pytest.approx(2 / 3)
    assert found.domain_recall_preconditions_negative == 1.0  # debark has none to miss
    assert found.missing_operators == ("debark",)
    assert "debark" in found.detail


def test_the_first_number_of_a_summary_knows_missing_operators(tmp_path: Path) -> None:
    """One of three operators, written rightly: AMLGym's precision is 1, the share that was found a third."""
    pair = {"reference_domain": [FERRY], "generated_domain": [FERRY[: FERRY.index("(:action board")] + ")"]}
    pl.DataFrame(pair).write_parquet(tmp_path / "pairs.parquet")
    summary = score_dataset(str(tmp_path / "pairs.parquet"), str(tmp_path / "scored"))
    first, second, *others = (name for name, _ in summary.lines() if name in MEANS)
    assert (summary.mean(first), summary.mean(second)) == pytest.approx((1 / 3, 1 / 3))
    assert summary.mean("domain_precision") == 1.0 and "domain_precision" in others
    shown = build_report(tmp_path / "scored").metrics["metric"].to_list()
    assert shown.index(first) < shown.index("domain_precision")


def test_extra_operators_are_reported_and_not_scored() -> None:
    found = scores(FERRY.rstrip()[:-1] + "(:action honk :parameters () :effect (loud)))")
    assert columns_of(found) == all_columns(1.0)
    assert found.extra_operators == ("honk",)
    assert "honk" in found.detail


def test_dashes_and_underscores_are_alike_in_operators_only() -> None:
    domain = "(define (domain d) (:action pick-up :parameters (?x) :precondition (is-clear ?x) :effect (held ?x)))"
    assert columns_of(scores(domain.replace("pick-up", "pick_up"), domain)) == all_columns(1.0)
    assert scores(domain.replace("is-clear", "is_clear"), domain).domain_precision_preconditions_positive == 0.0


def test_constants_are_terms() -> None:
    domain = "(define (domain d) (:constants c) (:action a :parameters (?x) :effect (and (on ?x c) (on c ?x))))"
    assert columns_of(scores(domain.replace("?x", "?c"), domain)) == all_columns(1.0)
    assert scores(domain.replace("(on c ?x)", "(on ?x ?x)"), domain).domain_precision_effects_positive == 0.5


def test_equality_is_symmetric() -> None:
    domain = "(define (domain d) (:action a :parameters (?x ?y) :precondition (not (= ?x ?y)) :effect (on ?x ?y)))"
    assert columns_of(scores(domain.replace("(= ?x ?y)", "(= ?y ?x)"), domain)) == all_columns(1.0)


def test_durative_actions_count_by_halves() -> None:
    """An effect at another time is another one: of three effects and two conditions one effect is wrong."""
    strike = (
        "(define (domain d) (:durative-action strike :parameters (?m) :duration (= ?duration 8)"
        " :condition (and (at start (unused ?m)) (over all (light)))"
        " :effect (and (at start (and (not (unused ?m)) (light))) (at end (not (light))))))"
    )
    found = scores(strike.replace("at end", "at start"), strike)
    assert (found.domain_precision, found.domain_recall) == (0.8, 0.8)
    assert (found.domain_recall_effects_negative, found.domain_recall_effects_positive) == (0.5, 1.0)
    assert found.domain_detail == "strike lacks the effect (at end (not (light)))"


def test_constructs_outside_the_definition_are_reported() -> None:
    found = scores(FERRY.replace("(on ?car) (not (at", "(when (empty) (on ?car)) (not (at"))
    assert found.outside_definition == ("board: when",)
    assert "outside the definition: board: when" in found.detail
    assert found.domain_recall_effects_positive == pytest.approx(2 / 3)
    assert scores(FERRY, FERRY.replace("(empty) (not (on", "(forall (?x) (p ?x)) (not (on")).outside_definition == (
        "reference: debark: forall",
    )


def test_a_domain_without_operators() -> None:
    assert columns_of(scores("(define (domain ferry))")) == {
        name: (1.0 if "precision" in name else pytest.approx(2 / 3) if name.endswith("preconditions_negative") else 0.0)
        for name in COLUMNS
    }
    with pytest.raises(ValueError, match="has no operators"):
        scores(FERRY, "(define (domain ferry))")


def test_an_unreadable_domain_scores_0() -> None:
    found = compare_domains(FERRY, None)
    assert columns_of(found) == all_columns(0.0)
    assert found.detail


def test_definition_on_random_operators() -> None:
    """TP, FP and FN counted atom by atom, as AMLGym's page writes them."""
    rng = Random(21)
    atoms: list[Atom] = [("p", "?x"), ("q", "?x", "?y"), ("q", "?y", "?x"), ("r",), ("p", "c")]

    def operator(name: str) -> Operator:
        sets = (frozenset(atom for atom in atoms if rng.random() < 0.4) for _ in GROUPS)
        return Operator(name, (("?x", ("object",)), ("?y", ("object",))), *sets)

    def groups(one: Operator) -> tuple[frozenset[Atom], ...]:
        return one.preconditions, one.negative_preconditions, one.add_effects, one.delete_effects

    def ratio(part: int, whole: int) -> Fraction:
        return Fraction(part, whole) if whole else Fraction(1)

    for _ in range(200):
        reference = tuple(operator(name) for name in "abc")
        generated = tuple(operator(name) for name in "abc" if rng.random() < 0.9)
        found = compare_domains(Domain("d", {}, {}, {}, reference), Domain("d", {}, {}, {}, generated))
        names = {one.name: groups(one) for one in generated}
        precision, recall = Fraction(0), Fraction(0)
        for one in reference:
            tp = fp = fn = 0
            for ours, theirs in zip(groups(one), names.get(one.name, (frozenset(),) * 4), strict=True):
                tp += sum(atom in theirs for atom in ours)
                fp += sum(atom not in ours for atom in theirs)
                fn += sum(atom not in theirs for atom in ours)
            precision += ratio(tp, tp + fp) / 3
            recall += ratio(tp, tp + fn) / 3
        assert found.domain_precision == pytest.approx(float(precision))
        assert found.domain_recall == pytest.approx(float(recall))
