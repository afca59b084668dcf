"""Twins: other names, the same scores; the names of a domain are replaced alike in all rows."""

from __future__ import annotations

import json
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pddl_eval.benchmark import SAMPLE, STYLES, Twins
from pddl_eval.definition.domains import planning_domain
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.errors import UserError
from pddl_eval.report import build_report
from pddl_eval.scoring.columns import SCORE_COLUMNS
from pddl_eval.scoring.table import score_table

from tests.corpus import CORPUS

QUESTION = {
    "reference_problem": CORPUS["lift-adl"].problem,
    "domain": CORPUS["lift-adl"].domain,
    "question": "applicable",
    "plan": "(stop f0)",
    "generated_answer": "1. (stop f0)\n2. (move f0 f1)\n3. (move f0 f0)",
}


def twins_of(rows: list[dict[str, Any]], style: str = "words") -> list[dict[str, Any]]:
    return Twins(style).table(pa.Table.from_pylist(rows)).to_pylist()


@pytest.mark.parametrize("style", STYLES)
def test_twins_of_the_sample_have_the_same_scores(style: str) -> None:
    """Problems, plans and domains of three domains, right and wrong ones; no pair is left out."""
    rows = pq.read_table(SAMPLE).take(list(range(STYLES.index(style), 292, 60)))
    found = Twins(style).table(rows)
    assert len(found) == 2 * len(rows)
    columns = [name for name in found.column_names if name not in ("twin", "names", "names_replaced")]
    scored = score_table(found.select(columns), ScoringOptions())
    told = {"score_micros", "certificate", "reference_certificate"}
    compared = sorted(name for name in SCORE_COLUMNS & {*scored.column_names} - told if not name.endswith("detail"))
    values = scored.select(compared).to_pylist()
    assert values[::2] == values[1::2] and "domain_certificate" in compared and "verdict" in compared
    for original, twin in zip(found.to_pylist()[::2], found.to_pylist()[1::2], strict=True):
        assert original["twin"] == twin["twin"] and (original["names"], twin["names"]) == ("kept", "replaced")
        assert "arm-empty" not in twin["domain"] + twin["reference_problem"] and twin["description"] is None


def test_a_question_beyond_strips_keeps_its_verdict() -> None:
    original, twin = twins_of([QUESTION])
    names = json.loads(twin["names_replaced"])
    assert twin["plan"] == f"({names['stop']} {names['f0']})" and twin["question"] == "applicable"
    assert twin["generated_answer"].splitlines()[0] == f"1. {twin['plan']}"
    assert original["generated_answer"] == QUESTION["generated_answer"]


ROADS = """(define (domain roads) (:requirements :typing) (:types town car) (:predicates (at ?c - car ?t - town)
  (road ?a ?b - town ?c - car)) (:action go :parameters (?c - car ?a ?b - town)
  :precondition (and (at ?c ?a) (road ?a ?b ?c)) :effect (and (at ?c ?b) (not (at ?c ?a)))))"""
DRIVE = {
    "domain": ROADS,
    "reference_problem": "(define (problem p) (:domain roads) (:objects v - car x y - town)"
    " (:init (at v x) (road x y v)) (:goal (and (at v y))))",
    "reference_plan": "(go v x y)",
}


def test_arguments_are_moved_alike_in_domain_problem_and_plan() -> None:
    """Into which places is drawn by the domain: so the plan is read off the operator's parameters."""
    answers = ("(go v x y)", "go(v, x, y)", "1: (GO V X Y) [1]")
    rows = twins_of([{**DRIVE, "generated_plan": answer} for answer in answers])
    orders = {row["arguments_moved"] for row in rows[1::2]}
    assert len(orders) == 1
    names, moved = json.loads(rows[1]["names_replaced"]), json.loads(orders.pop())
    order = moved[names["go"]]
    assert order != [0, 1, 2] and sorted(order) == [0, 1, 2] and len(moved[names["at"]]) == 2
    objects = [names[each] for each in ("v", "x", "y")]
    plan = [objects[place] for place in order]
    assert rows[1]["reference_plan"] == rows[1]["generated_plan"] == f"({names['go']} {' '.join(plan)})"
    assert rows[3]["generated_plan"] == f"{names['go']}({', '.join(plan)})"
    operator = planning_domain(rows[1]["domain"]).domain.operators[0]
    assert [types[0] for _, types in operator.parameters] == [names[("car", "town", "town")[place]] for place in order]


def test_arguments_stay_where_an_answer_has_them_in_a_list_of_their_own() -> None:
    """They are not found there, so the twin with moved arguments would say another action."""
    said = {**DRIVE, "generated_plan": '[{"name": "go", "args": ["v", "x", "y"]}]'}
    _, twin = twins_of([said])
    assert twin["arguments_moved"] is None
    names = json.loads(twin["names_replaced"])
    assert twin["reference_plan"] == f"({names['go']} {names['v']} {names['x']} {names['y']})"


def test_names_are_one_to_one_and_alike_in_rows_of_a_domain() -> None:
    rows = twins_of([{**QUESTION, "generated_answer": text} for text in ("none", "(stop f1)")], "other")
    maps = [json.loads(row["names_replaced"]) for row in rows[1::2]]
    assert maps[0] == maps[1] and len({*maps[0].values()}) == len(maps[0])


def test_what_a_name_is_glued_to_stays() -> None:
    r"""``pick_up`` is ``pick-up`` to some metrics; ``\n`` in JSON is no part of a name."""
    domain = "(define (domain d) (:predicates (p ?x)) (:action pick-up :parameters (?x) :effect (p ?x)))"
    row = {
        "domain": domain,
        "reference_problem": "(define (problem q) (:domain d) (:objects n) (:init) (:goal (p n)))",
        "generated_plan": '{"plan": "\\npick_up(N)"}',
    }
    _, twin = twins_of([row])
    names = json.loads(twin["names_replaced"])
    assert twin["generated_plan"] == f'{{"plan": "\\n{names["pick-up"].replace("-", "_")}({names["n"]})"}}'


def test_a_twin_of_every_domain_can_be_read() -> None:
    rows = [{"domain": entry.domain, "reference_problem": entry.problem} for entry in CORPUS.values()]
    for row in twins_of(rows)[1::2]:
        domain = planning_domain(row["domain"])
        assert domain is not None and not domain.obstacle


def test_a_report_sets_twins_beside_each_other() -> None:
    rows = [
        {"twin": str(number), "names": names, "model": "m", "reference_id": f"{number}{names}", "equivalent": right}
        for number in range(12)
        for names, right in (("kept", True), ("replaced", number % 3 > 0))
    ]
    (found,) = build_report(pl.DataFrame(rows), by="names").differences.to_dicts()
    assert (found["first"], found["second"], found["references"]) == ("kept", "replaced", 12)
    assert found["first_better"] == 4 and found["p"] == pytest.approx(2 / 2**4)


def test_rows_without_pddl_have_no_twins() -> None:
    with pytest.raises(UserError, match="PDDL"):
        twins_of([{"text": "a"}])
