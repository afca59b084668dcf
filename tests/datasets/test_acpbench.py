"""Questions of ACPBench, as published and as harnesses log them, in the columns of DESIGN.md, section 12.

The questions are written here, in the form of the published ones.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from pddl_eval.datasets import DatasetError, locate
from pddl_eval.datasets.acpbench import asked, read_acpbench
from pddl_eval.datasets.harness import HARNESSES, meant

from tests.measure.harness_logs import LOGS, acpbench

PDDL = {"PDDL_domain": "(define (domain d))", "PDDL_problem": "(define (problem p) (:domain d))"}

PLAN = "(a x) (b) (A x) (b)"


def question(group: str, text: str, answer: Any, **more: str) -> dict[str, Any]:
    return {"id": -7, "group": group, "context": "Two things.", "question": text, "answer": answer, **more}


@pytest.mark.parametrize(
    ("group", "text", "answer", "expected"),
    [
        ("applicable_actions_gen", "Generate …", ["(a x)", "(b)"], ("applicable", "", "(a x)\n(b)")),
        ("applicable_actions_gen", "Generate …", [], ("applicable", "", "none")),
        (
            "progression_gen",
            'Break down "board car x" into …',
            {"pos": ["(p)", "(q x)"], "neg": []},
            ("progression", "board car x", "Positive effects: [(p), (q x)]\nNegative effects: []"),
        ),
        ("validation_gen", f'The first in: "{PLAN}"?', 3, ("executability", "(a x)\n(b)\n(A x)\n(b)", "3")),
        ("validation_gen", "The first in: [(a x), (b)]?", 0, ("executability", "(a x)\n(b)", "0")),
        ("reachable_atom_gen", "What proposition …?", ["on x x", "p"], ("unreachable_atom", "", "(on x x)")),
        ("reachable_atom_gen", "What proposition …?", [], ("unreachable_atom", "", "none")),
        ("reachable_action_gen", "What action …?", ["(a x)"], ("unreachable_action", "", "(a x)")),
        ("landmarks_gen", "Generate …", {"yes": [], "no": ["(p)"]}, ("landmark", "", "none")),
        ("goal_closer_gen", "What is …?", {"yes": ["(b)"], "no": []}, ("next_action", "", "(b)")),
    ],
)
def test_what_is_asked_of_what(group: str, text: str, answer: Any, expected: tuple[str, str, str]) -> None:
    found = asked(question(group, text, answer, **PDDL))
    assert (found["question"], found["plan"], found["reference_answer"]) == expected
    assert found["reference_problem"] == PDDL["PDDL_problem"] and found["domain"] == PDDL["PDDL_domain"]
    assert found["question_text"] == f"Two things. {text}"


@pytest.mark.parametrize(
    ("removed", "left"),
    [
        (["(a x)", "2"], "(a x)\n(b)\n(b)"),  # The second occurrence.
        (["(a x)", "(b)", "-1"], "(A x)\n(b)"),  # A pair, wherever it stands first.
        (["(c)", "1"], "(a x)\n(b)\n(A x)\n(b)"),  # It is not in the plan: nothing is left out.
        (["(b)", "9" * 30], "(a x)\n(A x)\n(b)"),
    ],
)
def test_a_justification_is_recorded_as_what_is_removed(removed: list[str], left: str) -> None:
    found = asked(question("action_justification_gen", f'Simplify the plan "{PLAN}" by removing …', [removed], **PDDL))
    assert found["reference_answer"] == left


@pytest.mark.parametrize(
    ("group", "answer", "kind"),
    [
        ("landmarks_bool", "no", "yes_no"),
        ("progression_mcq", "D", "multiple_choice"),
        ("reachable_atom_mc", "A", "multiple_choice"),
    ],
)
def test_yes_no_and_multiple_choice_have_a_recorded_key(group: str, answer: str, kind: str) -> None:
    found = asked(question(group, "Is it?", answer))
    assert found == {"question": kind, "reference_answer": answer, "question_text": "Two things. Is it?"}


def test_other_records_are_no_questions_of_acpbench() -> None:
    for record in ({}, {"group": None}, {"group": "landmarks_x"}, {"group": "other_gen", "question": "?"}):
        assert asked(record) == {}
    assert meant({"question": "What is true?", "reference_problem": "p"}) == {"reference_problem": "p"}
    assert meant({"question": "state", "plan": "(a)"}) == {"question": "state", "plan": "(a)"}


def test_published_files_answer_as_they_record(tmp_path: Path) -> None:
    questions = [
        question("goal_closer_gen", "?", {"yes": ["(a)"]}, **PDDL),
        {"group": "x"},
        7,
        {"group": "landmarks_gen"},
    ]
    file = tmp_path / "test.gen.json.gz"
    file.write_bytes(gzip.compress(json.dumps(questions).encode()))
    found = list(read_acpbench(locate(file), ()))
    assert [(each.id, each.text) for each in found] == [("-7", "(a)"), (None, None), (None, None), (None, None)]
    assert [each.error for each in found] == [None, *["no question of ACPBench"] * 2, "no answer is recorded"]
    for wrong in ("[1", "{}, {", '"'):
        file = tmp_path / "wrong.json"
        file.write_text(wrong)
        with pytest.raises(DatasetError, match="ACPBench"):
            list(read_acpbench(locate(file), ()))


@pytest.mark.parametrize(("harness", "times"), [("inspect", 2), ("lm-eval", 1)])
def test_logs_that_the_packages_wrote(harness: str, times: int) -> None:
    files = sorted(file for file in (LOGS / f"acpbench-{harness}").rglob("*") if file.is_file())
    found = [answer for file in files for answer in HARNESSES[harness].read(locate(file), ())]
    said = {each.task: (each.text, meant(each.question, each.task, each.target)) for each in found}
    hard, simple = (asked({**each, "said": None}) for each in acpbench())
    assert said == {"acp_land_gen": ("It is (at b).", hard), "acp_land_bool": ("The answer is no.", simple)}
    assert hard["question"] == "landmark" and simple["reference_answer"] == "yes"
    assert len(found) == 2 * times


def test_logs_of_harnesses_hold_the_questions(tmp_path: Path) -> None:
    """lm-evaluation-harness logs the record, Inspect its fields as metadata, of simple questions only the context."""
    record = question("landmarks_gen", "Generate …", {"yes": ["(p)"], "no": []}, **PDDL)
    samples = tmp_path / "samples_acp_land_gen.jsonl"
    samples.write_text(json.dumps({"doc_id": 0, "doc": record, "target": "…", "resps": [["It is (p)."]]}))
    (found,) = HARNESSES["lm-eval"].read(locate(samples), ())
    assert found.text == "It is (p)." and meant(found.question, found.task, found.target) == asked(record)

    output = {"choices": [{"message": {"content": "Yes."}}]}
    hard = {name: value for name, value in record.items() if name not in ("question", "id")}
    samples_of = {
        "acp_land_gen": {"id": 1, "input": "Generate …", "target": "{…}", "metadata": hard, "output": output},
        "acp_app_bool": {"id": 1, "input": "Is it?", "target": "yes", "metadata": {"context": "C."}, "output": output},
    }
    for task, sample in samples_of.items():
        log = tmp_path / "2026-01-01T00-00-00.json"
        log.write_text(json.dumps({"eval": {"model": "m", "task": task}, "samples": [sample]}))
        (found,) = HARNESSES["inspect"].read(locate(log), ())
        said = meant(found.question, found.task, found.target)
        simple = {"question": "yes_no", "reference_answer": "yes", "question_text": "C. Is it?"}
        assert said == (simple if task == "acp_app_bool" else asked(record))
