"""Answers to questions wherever a pair is: columns, rewards, feedback, explanations, reports."""

from __future__ import annotations

import polars as pl
import pytest
from pddl_eval import build_report, explain_row, feedback, judge_answer, reward, right_answers, score_frame
from pddl_eval.errors import UserError
from pddl_eval.report.diff import compare_datasets

from tests.definition.questions.test_questions import BLOCKS, PREFIX, TOWER

ASKED = {"question": "state", "plan": PREFIX}
TASK = {"problem": TOWER, "domain": BLOCKS}
RIGHT = "(holding b) (clear a) (clear c) (ontable a) (ontable c)"


def rows(**columns: list[str | None]) -> pl.DataFrame:
    (answers,) = {len(values) for values in columns.values()}
    return pl.DataFrame({"reference_problem": [TOWER] * answers, "domain": [BLOCKS] * answers, **columns})


def test_columns() -> None:
    answers = [RIGHT, "(ontable b)", None]
    frame = rows(question=["state"] * 3, plan=[PREFIX] * 3, generated_answer=answers)
    scored = score_frame(frame)
    assert scored["answer_correct"].to_list() == [True, False, False]
    assert scored["answer_verdict"].to_list() == ["right", "wrong", "empty"]
    assert scored["answer_recall"].to_list() == [1.0, 0.0, 0.0]


def test_a_recorded_key_is_judged_by_the_computed_one() -> None:
    frame = rows(
        question=["state"] * 2, plan=[PREFIX] * 2, generated_answer=[RIGHT] * 2, reference_answer=[RIGHT, "(on a b)"]
    )
    assert score_frame(frame)["reference_answer_correct"].to_list() == [True, False]


@pytest.mark.parametrize(
    ("said", "key", "correct"),
    [
        ("**Final Answer**: Yes.", "yes", True),
        ("No, it cannot.", "yes", False),
        ("A step is needed. The answer is B.", "B", True),
        ("(C) because", "B", False),
    ],
)
def test_yes_no_and_multiple_choice_are_compared_with_the_recorded_key(said: str, key: str, correct: bool) -> None:
    frame = pl.DataFrame({"question": ["yes_no"], "generated_answer": [said], "reference_answer": [key]})
    assert score_frame(frame)["answer_correct"].to_list() == [correct]


def test_an_unknown_question_is_a_mistake_in_the_data() -> None:
    frame = rows(question=["landmarks"], plan=[None], generated_answer=["(clear a)"])
    scored = score_frame(frame)
    assert scored["answer_verdict"].to_list() == ["reference_invalid"]
    assert "did you mean landmark?" in scored["answer_detail"][0]
    with pytest.raises(UserError, match="did you mean landmark"):
        judge_answer("landmarks", "", TOWER, BLOCKS)


def test_other_columns_may_be_called_as_what_is_asked() -> None:
    frame = pl.DataFrame({"reference_plan": ["(a)"], "generated_plan": ["(a)"], "plan": [[1]], "question": [2.5]})
    assert score_frame(frame)["plan_lcs"].to_list() == [1.0]


def test_rewards_have_partial_credit() -> None:
    answers = [RIGHT, "(holding b) (clear a) (clear c)", "(holding b)", "(on a b)", "Hm."]
    assert reward(answers, kind="answer", **ASKED, **TASK) == [1.0, 0.5, 0.2, 0.1, 0.0]
    shaped = reward(answers, kind="answer", shape="shares", **ASKED, **TASK)
    assert shaped == sorted(shaped, reverse=True)
    assert reward("yes", "yes", kind="answer", question="yes_no") == 1.0


def test_feedback_says_what_is_wrong_and_not_what_is_right() -> None:
    wrong = feedback("(ontable b)", kind="answer", **ASKED, **TASK)
    assert (wrong.ok, wrong.verdict) == (False, "wrong")
    assert "(pick-up b) deleted it" in wrong.text
    incomplete = feedback("(holding b)", kind="answer", **ASKED, **TASK)
    assert "4 are missing" in incomplete.text
    assert "(clear a)" not in incomplete.text
    assert "(clear a)" in feedback("(holding b)", kind="answer", reveal="difference", **ASKED, **TASK).text
    assert feedback(RIGHT, kind="answer", **ASKED, **TASK).ok is True


def test_feedback_names_the_condition_that_is_met_as_the_answer_does() -> None:
    plan = "(unstack c a) (pick-up b)"
    wrong = feedback("No: at step 2 (clear b) is not true.", kind="answer", question="validity", plan=plan, **TASK)
    assert wrong.text.endswith("1. (clear b) is not what is unmet.")


def test_an_explanation_has_a_right_answer() -> None:
    row = {**ASKED, "reference_problem": TOWER, "domain": BLOCKS, "generated_answer": "(ontable b)"}
    shown = str(explain_row(row))
    assert "(pick-up b) deleted it" in shown
    assert str(right_answers("state", TOWER, BLOCKS, plan=PREFIX).text) in shown


def test_reports_have_rates_by_question() -> None:
    frame = rows(
        question=["state", "state", "applicable", "applicable"],
        plan=[PREFIX] * 4,
        generated_answer=[RIGHT, "none", "(put-down b) (stack b a) (stack b c)", "(fly b)"],
        model=["one", "two"] * 2,
    )
    report = build_report(score_frame(frame))
    assert report.by == ("model", "domain", "question")
    found = report.rates.filter(pl.col("question") == "state", pl.col("model") == "one", pl.col("domain").is_null())
    assert found.select("measure", "percent").rows() == [("answer_correct", 100.0)]


@pytest.mark.parametrize("identity", [None, "1"])
def test_two_questions_about_one_problem_are_two_questions(identity: str | None) -> None:
    """Without an id of their own, or with one that is only the problem's or the number in a task."""
    kinds, answers = ["state", "applicable"] * 4, [RIGHT, "none", "none", "(put-down b) (stack b a) (stack b c)"] * 2
    frame = rows(question=kinds, plan=[PREFIX] * 8, generated_answer=answers, model=["one"] * 4 + ["two"] * 4)
    scored = score_frame(frame.with_columns(reference_id=pl.lit(identity), sample=pl.Series([1, 1, 2, 2] * 2)))
    report = build_report(scored)
    whole = report.rates.filter(pl.all_horizontal(pl.col(report.by).is_null()))
    assert whole["references"].to_list() == [2]
    assert report.pass_at_k.select("k", "references").unique().sort("k").rows() == [(1, 2), (2, 2)]
    other = scored.with_row_index().sort("question", "index").drop("index")
    by_model, by_night = compare_datasets(other, models=("one", "two")), compare_datasets(scored, other)
    assert [(each.regressions, each.improvements, each.strangers) for each in (by_model, by_night)] == [(0, 0, 0)] * 2


def test_yes_no_questions_are_told_apart_by_their_words() -> None:
    words = ["Is (on a b) a landmark?", "Is (clear a) reachable?"] * 2
    frame = pl.DataFrame({"question": ["yes_no"] * 4, "generated_answer": ["yes", "no", "yes", "yes"]})
    frame = frame.with_columns(reference_answer=pl.lit("yes"), question_text=pl.Series(words), reference_id=pl.lit("1"))
    report = build_report(score_frame(frame))
    assert report.rates["references"].to_list()[:1] == [2]
