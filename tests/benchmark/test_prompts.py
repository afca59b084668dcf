"""Requests for models: what they hold, which examples they have, and that answers are scored as what was asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq
import pytest
from pddl_eval.benchmark import FORMATS, SAMPLE, Prompts
from pddl_eval.columns import asked_for
from pddl_eval.errors import UserError
from pddl_eval.scoring.scorer import score_dataset

from tests.corpus import CORPUS

LIFT = CORPUS["lift"]
ROWS = [{"reference_id": row["name"], **row} for row in pq.read_table(SAMPLE).take([0, 60, 120, 200, 290]).to_pylist()]
QUESTION = {
    "reference_id": "q-1",
    "domain": LIFT.domain,
    "reference_problem": LIFT.problem,
    "question": "state",
    "question_text": "Which atoms are true then?",
    "reference_answer": "(lift-at f0)",
}


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("kind", ["problem", "plan", "domain"])
def test_a_request_says_what_is_asked_and_not_the_answer(kind: Any, form: str) -> None:
    for row, request in zip(ROWS, Prompts(kind, format=form).requests(ROWS), strict=True):
        identity = request.get("custom_id") or request["id"]
        assert asked_for(identity) == (kind, row["reference_id"])
        text = json.dumps({name: value for name, value in request.items() if name not in ("target", "id", "custom_id")})
        assert json.dumps(row[f"reference_{kind}"])[1:-1] not in text


def test_a_question_is_asked_in_its_own_words() -> None:
    (request,) = Prompts("question").requests([QUESTION])
    assert asked_for(request["custom_id"]) == ("answer", "q-1")
    (message,) = request["body"]["messages"]
    assert message["content"].endswith(QUESTION["question_text"]) and LIFT.problem.strip() in message["content"]


def test_examples_are_no_twins_of_the_question() -> None:
    """The second row states the first one's problem in other words: it is no example for it."""
    other = {**ROWS[0], "reference_id": "renamed", "reference_problem": ROWS[0]["reference_problem"].replace("b1", "c")}
    rows = [ROWS[0], other, ROWS[1], ROWS[2]]
    for row, request in zip(rows, Prompts("plan", shots=2).requests(rows), strict=True):
        *examples, asked = [each["content"] for each in request["body"]["messages"]]
        assert len(examples) == 4 and row["reference_problem"] in asked
        if row in rows[:2]:
            assert not any(each["reference_problem"] in text for each in rows[:2] for text in examples)
    with pytest.raises(UserError, match="examples"):
        [*Prompts("plan", shots=3).requests(rows)]


def test_answers_of_several_kinds_are_scored_as_what_was_asked(tmp_path: Path) -> None:
    """Keys for answers, but for one plan."""
    row = ROWS[0]
    pl.DataFrame(
        [{name: row[name] for name in row if name.startswith("reference_") or name == "domain"}]
    ).write_parquet(tmp_path / "references.parquet")
    with (tmp_path / "answers.jsonl").open("w") as answers:
        for kind in ("problem", "plan", "domain"):
            (request,) = Prompts(kind).requests([row])  # type: ignore[arg-type]
            text = "(putdown b9)" if kind == "plan" else row[f"reference_{kind}"]
            body = {"model": "m", "choices": [{"message": {"content": text}}]}
            answers.write(json.dumps({"custom_id": request["custom_id"], "response": {"body": body}}) + "\n")
    score_dataset(
        str(tmp_path / "answers.jsonl"),
        str(tmp_path / "scored"),
        harness="openai",
        references=str(tmp_path / "references.parquet"),
        engine="local",
        workers=1,
    )
    scored = pl.read_parquet(str(tmp_path / "scored" / "*.parquet"))
    assert scored["verdict"].to_list().count("identical") == 1 and scored["plan_valid"].drop_nulls().sum() == 0
    assert "identical" in scored["domain_verdict"].to_list() and set(scored["reference_id"]) == {row["reference_id"]}


def test_other_kinds_are_refused() -> None:
    with pytest.raises(UserError, match="prompts are for"):
        Prompts("poem")  # type: ignore[arg-type]
