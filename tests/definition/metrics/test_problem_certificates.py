"""The columns ``certificate`` and ``reference_certificate``: what ``pddl_eval.certificate`` says in the row's mode."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from hashlib import blake2b
from random import Random

import pyarrow as pa
import pytest
from pddl_eval import UndecidedError, certificate, compare_problems, kernel
from pddl_eval.definition.metrics import score_lone_problem
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.scoring.table import score_table

from tests.corpus import CORPUS
from tests.judges.equivalence import Side, compared
from tests.judges.pairs import pair
from tests.support import certificate_cases as cases
from tests.support.differential import Row, answers_in, columns_of
from tests.support.sample import sample_table


def in_strips_domains() -> list[Row]:
    random = Random(3)
    return [row for name in ("grippers", "ferry", "rovers") for row in answers_in(*CORPUS[name][:2], random, 2)]


def beyond_strips() -> list[Row]:
    drawn = [pair(number, seed=5) for number in range(10)]
    return [
        {
            "reference_problem": each.reference,
            "generated_problem": each.generated,
            "domain": each.story.text,
            "is_placeholder": each.is_placeholder,
        }
        for each in drawn
    ]


def of_the_benchmark() -> list[Row]:
    rows: list[Row] = sample_table().slice(0, 24).to_pylist()
    names = ("reference_problem", "generated_problem")
    return [
        {**{name: row[name] for name in names}, "is_placeholder": number % 2 > 0} for number, row in enumerate(rows)
    ]


def said(text: str, row: Row) -> str | None:
    try:
        return certificate(text, row.get("domain"), is_placeholder=row["is_placeholder"])
    except UndecidedError:
        return None


@pytest.fixture(params=["auto", "off"])
def _implementation(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv(kernel.VARIABLE, request.param)
    kernel.library.cache_clear()
    yield
    kernel.library.cache_clear()


@pytest.mark.usefixtures("_implementation")
@pytest.mark.parametrize("make", [in_strips_domains, beyond_strips, of_the_benchmark])
def test_the_columns_say_what_the_function_says(make: Callable[[], list[Row]]) -> None:
    rows = make()
    scored = score_table(pa.table(columns_of(rows)), ScoringOptions()).to_pylist()
    for row, scores in zip(rows, scored, strict=True):
        assert scores["reference_certificate"] == said(row["reference_problem"], row)
        if scores["verdict"] == "domain_mismatch" or not scores["parseable"]:
            continue
        expected = said(row["generated_problem"], row)
        if scores["certificate"] is None and expected:  # takes a search that the verdict did not need
            assert make is of_the_benchmark and scores["verdict"] == "init_differs"
        else:
            assert scores["certificate"] == expected


STOVE = """(define (domain stove) (:predicates (lit ?x) (hot ?x) (free ?x) (guards ?x ?y))
  (:action heat :parameters (?x ?y) :precondition (guards ?x ?y) :effect (hot ?y))
  (:action light :parameters (?x) :precondition (free ?x) :effect (and (lit ?x) (not (free ?x))))
  (:action guard :parameters (?x ?y) :precondition (and (guards ?x ?y) (not (hot ?y)))
    :effect (and (lit ?x) (not (guards ?x ?y)))))"""
ON = "(define (problem p) (:domain stove) (:objects a b c) (:init (free a) (guards b c)) (:goal {}))"
INIT = "(arm-empty) (clear a) (on a b) (on-table b)"
TWO = f"(define (problem p) (:domain blocksworld) (:objects a b) (:init {INIT}) (:goal {{}}))"


def test_a_placeholder_row_has_the_placeholders_certificate() -> None:
    texts = [TWO.format(goal) for goal in ("(on a b)", "(on b a)")]
    found = compare_problems(*texts, is_placeholder=True)
    assert found.equivalent and found.certificate == found.reference_certificate is not None
    assert found.certificate == certificate(texts[0], is_placeholder=True) != certificate(texts[0])
    assert score_lone_problem(texts[0], is_placeholder=True).certificate == found.certificate


@pytest.mark.parametrize(
    ("one", "other", "equivalent"),
    [
        ("(lit a)", "(lit b)", False),  # only (lit b) implies (not (hot c))
        ("(lit b)", "(and (lit b) (not (hot c)))", True),
        ("(lit a)", "(and (lit b) (not (hot c)))", False),
    ],
)
def test_a_placeholders_goal_has_its_negated_literals(one: str, other: str, equivalent: bool) -> None:
    texts = [ON.format(goal) for goal in (one, other)]
    assert compared(*(Side(STOVE, text, True) for text in texts), True).equivalent is equivalent
    found = compare_problems(*texts, is_placeholder=True, domain=STOVE)
    assert found.equivalent is equivalent
    assert (found.certificate == found.reference_certificate) is equivalent
    row = {"reference_problem": texts[0], "generated_problem": texts[1], "domain": STOVE, "is_placeholder": True}
    (scores,) = score_table(pa.table(columns_of([row])), ScoringOptions()).to_pylist()
    assert (scores["equivalent"], scores["certificate"]) == (equivalent, found.certificate)


def test_variables_that_quantifiers_bind_have_no_names() -> None:
    formula = "(or (forall (?q) (lit ?q)) (exists ({0}) (hot {0})))"
    domains = [
        STOVE.replace(":precondition (guards", f":precondition (and {formula.format(x)} (guards", 1)
        for x in ("?q", "?r")
    ]
    domains = [text.replace(":effect (hot ?y)", ") :effect (hot ?y)", 1) for text in domains]
    assert len({certificate(ON.format("(lit a)"), domain) for domain in domains}) == 1


def test_an_answer_with_other_objects_has_a_certificate() -> None:
    other = ON.replace("a b c", "a b c d").format("(lit a)")
    found = compare_problems(ON.format("(lit a)"), other, domain=STOVE)
    assert found.verdict == "object_count" and found.certificate == certificate(other, STOVE)


@pytest.mark.parametrize("reference", ["", TWO.format("(not (on a b))")])
def test_an_answer_to_an_unreadable_reference_has_a_certificate(reference: str) -> None:
    answer = TWO.format("(on b a)")
    found = compare_problems(reference, answer)
    assert found.verdict == "reference_invalid" and found.certificate == certificate(answer)


def test_the_file_of_cases_is_what_the_page_and_the_program_say() -> None:
    written = json.loads(cases.FILE.read_text(encoding="utf-8"))
    assert written == json.loads(json.dumps(cases.cases()))
    for case in written["problems"]:
        digits = certificate(case["problem"], case["domain"], is_placeholder=case["is_placeholder"])
        assert digits == case["certificate"] == blake2b(bytes.fromhex(case["bytes"]), digest_size=16).hexdigest()
    assert {case["value"][0] for case in written["problems"]} == {2, 3}
