"""Questions about problems: their keys are right by the judge, different and balanced, and a seed draws them."""

from __future__ import annotations

from typing import Any

import pddl_eval
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pddl_eval import kernel
from pddl_eval.benchmark import QUESTIONS_SAMPLE, Asking
from pddl_eval.benchmark.questions import QUESTION_FIELDS, TEXTS
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.definition.questions import kinds
from pddl_eval.errors import UserError

from tests.corpus import CORPUS
from tests.judges.interpreter import tree_of
from tests.judges.questions import right_answers
from tests.support.sample import SAMPLE_ANSWERS, made_questions

NAMES = ("ferry", "lift-adl", "wires", "movie")
PROBLEMS = pa.table(
    {
        "name": NAMES,
        "reference_problem": [CORPUS[name].problem for name in NAMES],
        "domain": [CORPUS[name].domain for name in NAMES],
    }
)


@pytest.fixture(scope="module")
def asked() -> list[dict[str, Any]]:
    return Asking(per_row=44).table(PROBLEMS).to_pylist()


def actions(text: str) -> list[tuple[str, ...]]:
    return [tuple(each) for each in tree_of(f"({text})")]


def test_each_kind_has_its_words_and_is_asked(asked: list[dict[str, Any]]) -> None:
    assert TEXTS.keys() == kinds().keys()
    assert {row["question"] for row in asked} == kinds().keys()
    for row in asked:
        assert row["prefix_length"] == len(actions(row["plan"]))
        assert all(f"({' '.join(step)})" in row["question_text"] for step in actions(row["plan"]))


def test_each_key_is_right(asked: list[dict[str, Any]]) -> None:
    for row in asked:
        about = row["question"], row["reference_answer"], row["reference_problem"], row["domain"]
        assert pddl_eval.judge_answer(*about, plan=row["plan"]).correct, row


def test_the_judge_finds_the_same_keys(asked: list[dict[str, Any]]) -> None:
    """Where a key is a value as it is written: an action or an atom, a set of them, an index, none."""
    compared = 0
    for row in asked:
        kind, said = row["question"], row["reference_answer"]
        if kind in ("progression", "trace", "validity") or row["name"] == "lift-adl":
            continue
        right = right_answers(kind, row["domain"], row["reference_problem"], actions(row["plan"]))
        found: Any = None if said == "none" else int(said) if kind == "executability" else actions(said)
        if kind in ("applicable", "state"):
            found = frozenset(found or ())
        elif found is not None and kind != "executability":
            found = tuple(found) if kind == "justification" else found[0]
        assert found in right, row
        compared += 1
    assert compared > 50


def test_questions_are_different_and_balanced(asked: list[dict[str, Any]]) -> None:
    assert len({(row["name"], row["question"], row["plan"]) for row in asked}) == len(asked)
    assert len({row["reference_id"] for row in asked}) == len(asked)
    for kind, word in (("executability", "none"), ("validity", "yes"), ("justification", "none")):
        keys = [row["reference_answer"] == word for row in asked if row["question"] == kind]
        assert 0.25 < sum(keys) / len(keys) < 0.75, kind


def test_a_question_depends_on_the_seed_and_its_row_only() -> None:
    whole = Asking(per_row=11).table(PROBLEMS)
    assert whole.slice(11).to_pylist()[:5] == Asking(per_row=11).table(PROBLEMS.slice(1), 1).to_pylist()[:5]
    assert whole != Asking(per_row=11, seed=1).table(PROBLEMS)


def test_the_rows_of_the_questions_keep_their_columns_and_name_problem_and_domain() -> None:
    rows = pa.table({"gold": [CORPUS["ferry"].problem, "(define"], "reference_id": ["f", "x"]})
    options = ScoringOptions(columns={"reference_problem": "gold"}, domain=CORPUS["ferry"].domain)
    made = Asking(["state", "applicable"], 4, options=options).table(rows)
    assert made.column_names == ["gold", *(each.name for each in QUESTION_FIELDS)]
    assert [row["reference_id"] for row in made.to_pylist()] == ["f/0", "f/1", "f/2", "f/3"]
    assert {row["domain"] for row in made.to_pylist()} == {CORPUS["ferry"].domain}


def test_what_cannot_be_asked_is_refused() -> None:
    with pytest.raises(UserError, match="landmark"):
        Asking(["landmarks"])
    with pytest.raises(UserError, match="reference_problem"):
        Asking().schema(pa.schema([("problem", pa.string())]))
    with pytest.raises(UserError, match="plan"):
        Asking().schema(pa.schema([("reference_problem", pa.string()), ("plan", pa.string())]))


VERDICTS = {
    "right": {"right"},
    "right_in_prose": {"right"},
    "element_lost": {"incomplete", "wrong"},
    "other": {"wrong", "incomplete", "unreadable"},
    "no_answer": {"unreadable"},
}
"""What the answers of the bundled sample are, by their recipes."""


@pytest.mark.skipif(kernel.version() is None, reason="beyond few states its searches decide which question is asked")
def test_the_bundled_questions_are_those_that_are_made() -> None:
    """``python -m tests.support.sample`` writes them."""
    assert made_questions().equals(pq.read_table(QUESTIONS_SAMPLE))


def test_the_bundled_questions_have_answers_of_all_kinds() -> None:
    rows = pq.read_table(QUESTIONS_SAMPLE).to_pylist()
    assert {row["question"] for row in rows} == kinds().keys()
    assert {row["label_answer"] for row in rows} == VERDICTS.keys() == {*SAMPLE_ANSWERS}
    for row in rows:
        about = row["question"], row["generated_answer"], row["reference_problem"], row["domain"]
        found = pddl_eval.judge_answer(*about, plan=row["plan"]).verdict.value
        assert found in VERDICTS[row["label_answer"]], (row, found)
