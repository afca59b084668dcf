"""PlanBench's tasks in words: what was asked of which instance, and answers with its phrases in PDDL.

A checkout is written here, in the form of PlanBench's; ``test_harness`` has its plan generation.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pddl_eval.datasets import locate
from pddl_eval.datasets.harness import meant
from pddl_eval.datasets.logs import Answer
from pddl_eval.datasets.planbench import read_planbench

CONFIGURATION = """
instance_dir: blocks
domain_file: b.pddl
instances_template: instance-{}.pddl
actions:
  {pick-up: "pick up the {}",
   unstack: "unstack the {} from on top of the {}",
   stack: "stack the {} on top of the {}"}


predicates:
  {ontable: "the {} is on the table",
   handempty: "the hand is empty",
   holding: "the hand is currently holding {}",
   "on": "the {} is on top of the {}", "quiet": ""}

predicate_mapping:
   {"ontable": "on the table"}

encoded_objects:
  {"a": "red block", "b": "blue block",
   "l": "location_{}_{}" }
"""

PROBLEM = "(define (problem p) (:domain b)\n(:init (handempty)) (:goal (and\n(on a b)))\n)"


def read(folder: Path, name: str, **instance: object) -> Answer:
    files = {
        "configs/blocks.yaml": CONFIGURATION,
        "instances/b.pddl": "(define (domain b))",
        "instances/blocks/instance-4.pddl": PROBLEM,
        f"results/blocks/m/{name}.json": json.dumps({"engine": "gpt", "instances": [{"instance_id": 4, **instance}]}),
    }
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    (found,) = read_planbench(locate(folder / "results" / "blocks" / "m" / f"{name}.json"), ())
    return found


def test_plan_verification(tmp_path: Path) -> None:
    query = "[PLAN]\nstack the red block on top of the blue block\n[PLAN END]\n[VERIFICATION]\n…\n[PLAN]\n"
    found = read(
        tmp_path,
        "task_3_plan_verification",
        query=query
        + "unstack the red block from on top of the blue block\npick up the red block\n[PLAN END]\n\n[VERIF",
        ground_truth_plan="The above plan is valid.\n",
        llm_raw_response="It is invalid. Unmet: the hand is holding the blue block [STATEMENT] the hand is empty",
        llm_correct_binary=True,
        llm_correct_w_expl=False,
    )
    said = meant(found.question)
    assert said["question"] == "validity" and said["plan"] == "(unstack a b)\n(pick-up a)", (
        "the last plan is asked about"
    )
    assert said["reference_problem"] == PROBLEM and said["reference_answer"] == "The above plan is valid.\n"
    assert found.text == "It is invalid. Unmet: (holding b) " and found.recorded is False


def test_plan_execution(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        "task_7_plan_execution",
        query="[ACTION SEQUENCE]\npick up the blue block\n[ACTION SEQUENCE END]\n[RESULTING STATE]\n",
        ground_truth_plan=["holding_b", "on_a_b", "handempty"],
        llm_raw_response="The hand is no longer empty, Red Block is on the table, blue block is on top of red block",
    )
    said = meant(found.question)
    assert (said["question"], said["plan"]) == ("state", "(pick-up b)")
    assert said["reference_answer"] == "(holding b)\n(on a b)\n(handempty)"
    assert found.text == "(not (handempty)), (ontable a), (on b a)"
    assert read(tmp_path, "task_7_x", query="", llm_raw_response=None).error == "no response"


@pytest.mark.parametrize(
    ("said", "in_pddl"),
    [
        ("I am holding the red block", "(holding a)"),
        ("the red block is not on the table (since it is being held), too", "(not (ontable a)) , too"),
        ("and both the red block and blue block are on the table, the hand is empty", None),
        ("a block is both red and blue", "a block is both red and blue"),
    ],
)
def test_phrases_of_models_that_are_not_in_the_templates(tmp_path: Path, said: str, in_pddl: str | None) -> None:
    found = read(tmp_path, "task_7_x", query="", llm_raw_response=said)
    assert found.text == (in_pddl or "and (ontable a), (ontable b), (handempty)")


@pytest.mark.parametrize("ending", ["", " \nMy plan is as follows:"])
def test_goal_reformulation_asks_for_a_plan_with_another_goal(tmp_path: Path, ending: str) -> None:
    goals = "My goal is to have that the hand is empty.\nMy goal is to have that {} and the hand is empty."
    query = goals.format("the blue block is on top of the red block") + ending
    answer = "1. Pick up the blue block from the table\n2. unstack the blue block from red block"
    found = read(tmp_path, "task_8_3_partial_to_full", query=query, llm_raw_response=answer, llm_correct=True)
    said = meant(found.question)
    assert "question" not in said and found.recorded
    assert said["reference_problem"] == PROBLEM.replace("(on a b)", "(on b a) (handempty)").replace("(and\n", "(and ")
    assert found.text == "1. (pick-up b)\n2. (unstack b a)"


def test_objects_with_numbers(tmp_path: Path) -> None:
    found = read(tmp_path, "task_8_1_x", query="", llm_raw_response="pick up location_0_12\npick up the location")
    assert found.text == "(pick-up l0-12)\npick up the location"
