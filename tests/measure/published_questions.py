"""Published questions and answers, graded again: ``python -m tests.measure.published_questions SOURCE GIT_DIR``.

``GIT_DIR`` is a clone of the source's repository, a bare one will do, and nothing of it is kept:

* ``acpbench``: github.com/IBM/ACPBench; the recorded answers of ACPBench Hard, each that is recorded as right or wrong,
  and damaged ones: one element changed, left out or added, another index, "none" and no "none".
* ``planbench``: github.com/karthikv792/LLMs-Planning; the responses of models in plan verification, plan execution and
  goal reformulation, with the verdicts that PlanBench recorded.

``--grader PYTHON`` lets ACPBench's own program grade the same answers: a Python that has its requirements.
``--planner`` lets Fast Downward say, where the record and we differ about atoms, actions and landmarks, who is right.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
from pddl_eval import judge_answer, kernel, validate
from pddl_eval.datasets import locate
from pddl_eval.datasets.acpbench import asked
from pddl_eval.datasets.harness import HARNESSES, meant
from pddl_eval.definition.model import Operator
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.definition.planning.fast_downward import find_plan
from pddl_eval.definition.questions import Question
from pddl_eval.definition.validation import ground_operator
from pddl_eval.definition.verdict import Undecided, Unsolvable

from tests.measure.published import Clone

Row = dict[str, Any]
"""The columns of a question, ``generated_answer``, ``what`` was done to the answer, ``expected`` or ``recorded``."""

TASKS = {
    "applicable": "app",
    "progression": "prog",
    "executability": "val",
    "unreachable_atom": "reach",
    "unreachable_action": "areach",
    "justification": "just",
    "landmark": "land",
    "next_action": "nexta",
}
"""What ACPBench calls the questions."""


# --- ACPBench Hard ---------------------------------------------------------------------------------------------------


def acpbench(clone: Clone, each: int) -> Iterator[Row]:
    """The answers to each question that are recorded, and damaged ones; of long lists ``each``."""
    for path in (path for path in clone.files if re.fullmatch(r"dataset/\w+/\w+\.gen\.json(\.gz)?", path)):
        content = subprocess.run([*clone.gits[0], "show", f"HEAD:{path}"], capture_output=True, check=True).stdout
        records = json.loads(gzip.decompress(content) if path.endswith(".gz") else content)
        for number, record in enumerate(records):
            said = asked(record)
            drawn = random.Random(f"{path} {number}")
            for what, answer, expected in answers(said, record, drawn, each):
                file = f"{path} {number}"
                yield said | {
                    "generated_answer": answer,
                    "what": what,
                    "expected": expected,
                    "file": file,
                    "doc": record,
                }


Answer = tuple[str, str, bool | None]
"""What was done, the text, and whether it is right; None where that is not known beforehand."""


def answers(said: Row, record: Row, drawn: random.Random, each: int) -> Iterator[Answer]:
    """Right and damaged answers in the notation of ACPBench's own prompts."""
    recorded: Any = record["answer"]
    kind, problem = said["question"], said["reference_problem"].lower()
    objects = objects_of(problem)
    initial = atoms(problem.partition(":init")[2].partition("(:goal")[0])
    if kind == "applicable":
        yield from damaged_set(sorted(map(str.lower, recorded)), drawn, objects, lambda found: f"[{', '.join(found)}]")
    elif kind == "progression":
        made, unmade = (sorted(map(str.lower, recorded[side])) for side in ("pos", "neg"))
        yield "swapped", f"[{', '.join(unmade)}] [{', '.join(made)}]", False
        for found, other, in_order in ((made, unmade, True), (unmade, made, False)):
            for what, text, right in damaged_set(found, drawn, objects, lambda found: f"[{', '.join(found)}]"):
                lists = [text, f"[{', '.join(other)}]"]
                yield what, " ".join(lists if in_order else lists[::-1]), right
    elif kind == "executability":
        yield "recorded", str(recorded), True
        yield "another index", str(recorded + 1), False
        yield "another index", str(recorded - 1 if recorded else 2), False
        yield "none", "None", False
    elif kind == "justification":
        yield "as it was", f"[{', '.join(said['plan'].lower().splitlines())}]", False
        yield from simplified(record, drawn, objects, each)
    else:
        yield from picks(recorded if isinstance(recorded, dict) else {"yes": recorded}, drawn, objects, each)
        goal = atoms(problem.partition("(:goal")[2])
        if kind in ("unreachable_atom", "landmark"):
            yield "an initial atom", drawn.choice(initial), False
            yield "an atom of the goal", drawn.choice(goal), False if kind == "landmark" else None


def simplified(record: Row, drawn: random.Random, objects: list[str], each: int) -> Iterator[Answer]:
    """Plans without what is recorded as superfluous, and damaged ones, which may be valid, too."""
    for removed in some(record["answer"], drawn, each):
        left = asked(record | {"answer": [removed]})["reference_answer"].lower().splitlines()
        at = drawn.randrange(len(left))
        yield "recorded", f"[{', '.join(left)}]", True
        yield "left out", f"[{', '.join(left[:at] + left[at + 1 :])}]", None
        yield "added", f"[{', '.join(left[: at + 1] + left[at:])}]", None
        yield "changed", f"[{', '.join([*left[:at], changed(left[at], drawn, objects), *left[at + 1 :]])}]", None


def picks(recorded: dict[str, list[str]], drawn: random.Random, objects: list[str], each: int) -> Iterator[Answer]:
    """What is recorded as right, as wrong and as neither, with other objects, and "none"."""
    right = [text if text.startswith("(") else f"({text})" for text in recorded["yes"]]
    yield "none", "None", not right
    for text in some(right, drawn, each):
        yield "recorded", text.lower(), True
        yield "changed", changed(text.lower(), drawn, objects), None
    for text in some(recorded.get("no", []), drawn, each):
        yield "recorded as wrong", text.lower(), False
    for text in some(recorded.get("maybe", []), drawn, each):
        yield "recorded as unknown", text.lower(), None


def some(listed: list[Any], drawn: random.Random, most: int) -> list[Any]:
    return listed if len(listed) <= most else drawn.sample(listed, most)


def damaged_set(found: list[str], drawn: random.Random, objects: list[str], written: Any) -> Iterator[Answer]:
    """A set, and with one element left out, changed and added."""
    yield "recorded", written(found), True
    if found:
        at = drawn.randrange(len(found))
        rest, other = found[:at] + found[at + 1 :], changed(found[at], drawn, objects)
        yield "left out", written(rest), False
        if other not in found:
            yield "changed", written([*rest, other]), False
            yield "added", written([*found, other]), False


def changed(atom: str, drawn: random.Random, objects: list[str]) -> str:
    """The atom or action with another object at one place; without arguments, with one."""
    name, *arguments = atom.strip("()").split()
    at = drawn.randrange(max(1, len(arguments)))
    arguments[at : at + 1] = [drawn.choice([each for each in objects if [each] != arguments[at : at + 1]])]
    return f"({' '.join([name, *arguments])})"


def atoms(text: str) -> list[str]:
    return [each for each in re.findall(r"\([^()]*\)", text) if not each.startswith("(=")]


def objects_of(problem: str) -> list[str]:
    listed = re.search(r"\(:objects([^()]*)", problem)
    return sorted(set(re.sub(r"-\s+\S+", " ", listed[1] if listed else "").split()))


GRADER = """
import json, sys
from evaluate_gen import GRAMMAR_FILE, ACPGrammarParser, get_evaluator, get_grammar_task, get_parsed_answer

rows, scores = sys.argv[1:]
with open(rows) as given, open(scores, "w") as found:
    for line in given:
        task, answer, doc = json.loads(line)
        try:
            parsed = get_parsed_answer(answer, task, ACPGrammarParser(GRAMMAR_FILE, get_grammar_task(task)))
            score = False if parsed is None else bool(get_evaluator(doc["group"]).get_score([parsed], doc))
        except Exception as error:
            score = type(error).__name__
        print(json.dumps(score), file=found, flush=True)
"""
"""Asks the functions of ACPBench's program for one answer after the other; what they print is for nobody."""


def graded_by_acpbench(rows: list[Row], clone: Clone, python: str) -> list[str]:
    """What ACPBench's own program says of each answer: right, wrong, or the exception that it ends with."""
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run([*clone.gits[0], "archive", "HEAD", "src"], capture_output=True, check=True).stdout
        subprocess.run(["tar", "-x", "-C", folder], input=archive, check=True)
        given, found = Path(folder) / "rows", Path(folder) / "scores"
        tasks = [f"acp_{TASKS[row['question']]}_gen" for row in rows]
        lines = zip(tasks, (row["generated_answer"] for row in rows), (row["doc"] for row in rows), strict=True)
        given.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
        command = [python, "-c", GRADER, str(given), str(found)]
        subprocess.run(command, cwd=Path(folder) / "src", check=True, capture_output=True)
        said = [json.loads(line) for line in found.read_text().splitlines()]
    return [{True: "right", False: "wrong"}.get(score, str(score)) for score in said]


def planned(row: Row) -> str:
    """What Fast Downward finds for the atom or action of an answer, of "none" for the one that we name instead.

    It is asked for a plan to a state that has the atom or admits the action; of a landmark, for a plan to the goal
    whose states all lack it: each operator needs that, and so does the end.
    """
    found = re.search(r"\(([^()]*)\)", row["detail"] if row["what"] == "none" else row["generated_answer"])
    asked_about = kernel.read_answer(row, ScoringOptions()).question
    if found is None or not isinstance(asked_about, Question):
        return ""
    element, problem, domain = tuple(found[1].lower().split()), asked_about.after, asked_about.domain
    if row["question"] == "landmark":
        named = {name: type_ for name, type_ in problem.objects.items() if name in element[1:]}
        lacking = [
            replace(each, negative_preconditions=each.negative_preconditions | {element}) for each in domain.operators
        ]
        domain = replace(domain, operators=tuple(lacking), constants={**domain.constants, **named})
        others = {name: type_ for name, type_ in problem.objects.items() if name not in named}
        problem = replace(problem, objects=others, formulas=(*problem.formulas, (":goal", ("not", element))))
    else:
        goal = frozenset({element})
        if row["question"] == "unreachable_action":
            operator = ground_operator(element, domain)
            if not isinstance(operator, Operator) or operator.formulas or operator.negative_preconditions:
                return ""
            goal = operator.preconditions
        problem = replace(problem.with_goal(()), goal=goal)
    answer = find_plan(problem, domain)
    return "a proof" if isinstance(answer, Unsolvable) else "open" if isinstance(answer, Undecided) else "a plan"


# --- PlanBench -------------------------------------------------------------------------------------------------------


def planbench(clone: Clone) -> Iterator[Row]:
    """The responses in words that PlanBench graded, with what it asked and its verdict."""
    root = "plan-bench/"
    needed = re.compile(
        rf"{root}(results/[^/]+/[^/]+/task_[378]_[^/]*\.json|configs/.*|instances/blocksworld/.*\.pddl)"
    )
    with tempfile.TemporaryDirectory() as folder:
        for path in filter(needed.fullmatch, clone.files):
            if (text := clone.show(path)) is not None:
                file = Path(folder) / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
        for file in sorted(Path(folder).glob("*/results/*/*/*.json")):
            for answer in HARNESSES["planbench"].read(locate(file), ()):
                said = meant(answer.question)
                text = {"generated_answer" if "question" in said else "generated_plan": answer.text}
                row = said | text | {"what": answer.task, "expected": answer.recorded, "model": answer.model}
                yield row | {"file": f"{file.parent.parent.name} {answer.id}", "question": said.get("question", "plan")}


# --- Grading ---------------------------------------------------------------------------------------------------------

SOURCES = {"acpbench": acpbench, "planbench": planbench}

PLANNED = ("landmark", "unreachable_action", "unreachable_atom")

SAID = {True: "right", False: "wrong", None: "undecided"}


def graded(row: Row) -> Row:
    """The row with our verdict (``ours``), and why (``detail``)."""
    task = row.get("reference_problem", ""), row.get("domain")
    if "generated_plan" in row:
        plan = validate(row["generated_plan"], *task)
        return row | {"ours": SAID[plan.valid], "detail": plan.detail}
    found = judge_answer(row["question"], row["generated_answer"], *task, plan=row["plan"])
    return row | {"ours": SAID[found.correct], "detail": found.detail}


def main() -> None:
    """Print, for each question and each kind of answer, what we, the record and ACPBench's own program say."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("source", choices=SOURCES)
    parser.add_argument("git_dir")
    parser.add_argument("--each", type=int, default=3, help="answers of a recorded list")
    parser.add_argument("--grader", help="a Python that has what ACPBench's own program needs")
    parser.add_argument("--planner", action="store_true", help="ask Fast Downward where the record says something else")
    parser.add_argument("--differences", action="store_true", help="print each answer with another verdict")
    arguments = parser.parse_args()
    clone = Clone(arguments.git_dir)
    rows = list(acpbench(clone, arguments.each) if arguments.source == "acpbench" else planbench(clone))
    used = time.process_time()
    rows = [graded(row) for row in rows]
    print(f"{len(rows):,} answers in {time.process_time() - used:.1f} s of CPU\n")
    for row in rows if arguments.planner else ():
        if row["question"] in PLANNED and row["expected"] is not None and row["ours"] != SAID[row["expected"]]:
            row["planner"] = planned(row)
    theirs = graded_by_acpbench(rows, clone, arguments.grader) if arguments.grader else [""] * len(rows)
    table = pl.DataFrame(
        {
            "question": [row["question"] for row in rows],
            "what": [row["what"] for row in rows],
            "expected": ["" if row["expected"] is None else SAID[row["expected"]] for row in rows],
            "ours": [row["ours"] for row in rows],
            "theirs": theirs,
            "planner": [row.get("planner", "") for row in rows],
        }
    )
    pl.Config(tbl_rows=-1, tbl_cols=-1, fmt_str_lengths=90, tbl_hide_dataframe_shape=True, tbl_width_chars=180)
    print(table.group_by(table.columns).len().sort(table.columns))
    if arguments.differences:
        for row, their in zip(rows, theirs, strict=True):
            said = {
                row["ours"],
                their or row["ours"],
                SAID[row["expected"]] if row["expected"] is not None else row["ours"],
            }
            if len(said) > 1:
                answer = " ".join((row.get("generated_answer") or row.get("generated_plan") or "").split())[:200]
                print(f"{row['file']} {row['what']}: {row['ours']}, theirs {their}: {answer}: {row['detail']}")


if __name__ == "__main__":
    main()
