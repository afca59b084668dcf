"""Texts of any length: beyond a bound nothing looks into them, below it they are read within a row's budget."""

from __future__ import annotations

from time import thread_time

import pyarrow as pa
import pytest
from pddl_eval import feedback, parse_problem, reward, validate
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.definition.pddl import MAX_CHARACTERS, ParseError
from pddl_eval.errors import did_you_mean
from pddl_eval.explain import explain
from pddl_eval.scoring.table import score_table

from tests.support.volume import in_two_sizes

HELD = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"
LAMP = "(define (domain lamp) (:predicates (on)) (:action switch :effect (on)))"
PLAN = "(putdown a)"
KINDS = {"problem": HELD, "plan": PLAN, "domain": LAMP}
UNREAD = {"problem": "unparseable", "plan": "unreadable", "domain": "unparseable"}
LONG = "<b>x " * 1_600_000
"""8 MB: to look through 40 for thoughts alone took seven seconds."""


def scored(**row: str | None) -> dict[str, object]:
    """The scores of a row, in a moment, though 8 MB are copied."""
    table = pa.table({name: pa.array([value], pa.large_string()) for name, value in row.items()})
    start = thread_time()
    (scores,) = score_table(table, ScoringOptions()).to_pylist()
    assert thread_time() - start < 0.7
    return {name: value for name, value in scores.items() if name not in row}


def verdict_name(kind: str) -> str:
    return {"problem": "verdict"}.get(kind, f"{kind}_verdict")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("compares", [True, False])
def test_an_answer_beyond_the_bound_is_unreadable_at_once(kind: str, compares: bool) -> None:
    row = {f"generated_{kind}": LONG} | ({f"reference_{kind}": KINDS[kind]} if compares else {})
    row |= {"reference_problem": HELD} if kind == "plan" else {}
    found = scored(**row)
    assert (found[verdict_name(kind)], found["score_error"]) == (UNREAD[kind], None)
    assert "4,000,000" in str(found["detail" if kind == "problem" else f"{kind}_detail"])


@pytest.mark.parametrize("kind", KINDS)
def test_a_reference_beyond_the_bound_is_no_answers_fault(kind: str) -> None:
    found = scored(**{f"reference_{kind}": LONG, f"generated_{kind}": KINDS[kind]})
    assert found["score_error"] or found.get(verdict_name(kind)) in ("reference_invalid", None)
    assert "4,000,000" in str(found)


@pytest.mark.parametrize("domain", [LONG, f"({LONG}"], ids=["name", "text"])
def test_a_domain_beyond_the_bound_costs_its_row(domain: str) -> None:
    found = scored(reference_problem=HELD, generated_problem=HELD, domain=domain)
    assert found["score_error"] or found["verdict"] != "equivalent"
    assert scored(generated_problem=LONG, generated_domain=LAMP)["verdict"] == "unparseable"


@pytest.mark.parametrize("kind", KINDS)
def test_no_function_looks_into_an_answer_beyond_the_bound(kind: str) -> None:
    start = thread_time()
    assert reward([LONG, KINDS[kind]], KINDS[kind], kind=kind) == [0.0, 1.0]
    found = feedback(LONG, KINDS[kind], kind=kind)
    assert (found.ok, found.verdict) == (False, UNREAD[kind])
    if kind == "plan":
        assert validate(LONG, HELD).verdict.value == "unreadable"
        assert feedback(LONG, kind=kind, problem=HELD).verdict == "unreadable"
        assert reward(LONG, kind=kind, problem=HELD, strip_prompt="x x") == 0
    if kind == "problem":
        assert explain(HELD, LONG).verdict.verdict.value == "unparseable"
        with pytest.raises(ParseError, match="4,000,000"):
            parse_problem(LONG)
    assert thread_time() - start < 1


@pytest.mark.parametrize("kind", [pytest.param(each, marks=[pytest.mark.slow] * (each != "plan")) for each in KINDS])
def test_a_text_as_long_as_the_bound_is_read(kind: str) -> None:
    text = KINDS[kind]
    answer = f"<think>{'x y ' * ((MAX_CHARACTERS - 100 - len(text)) // 4)}</think>{text}"
    assert MAX_CHARACTERS - 100 < len(answer) <= MAX_CHARACTERS
    assert reward(answer, text, kind=kind, seconds=20) == 1


@in_two_sizes(1_340, full=13_400)
def test_a_problem_of_a_million_characters_is_read(cases: int) -> None:
    names = [f"block-number-{number}" for number in range(cases)]
    loose = " ".join(f"(clear {name}) (on-table {name})" for name in names)
    text = f"(define (problem p) (:domain blocksworld) (:objects {' '.join(names)}) (:init (arm-empty) {loose}) {{}})"
    reference, answer = text.format("(:goal (and))"), text.format(f"(:goal (clear {names[0]}))")
    assert 70 * cases < len(answer) < 75 * cases
    assert scored(reference_problem=reference, generated_problem=answer)["equivalent"] is False
    assert len(parse_problem(answer).objects) == cases


def test_a_long_name_is_compared_with_few_others() -> None:
    start = thread_time()
    assert did_you_mean("x" * 20_000_000, ["gripper"]) == "the choices are gripper"
    assert thread_time() - start < 0.1
