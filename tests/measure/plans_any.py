"""Plans in any PDDL against the judge: ``python -m tests.measure.plans_any --count 20000 --seed 1``.

Draws problems of the judges' domains with a valid plan and ten damaged copies of it each, and compares what
``pddl_eval.validate`` says with ``tests.judges.interpreter``: valid or not, the verdict, the step that fails, the cost.
Prints the first disagreements of each domain in full and a table, by domain and by kind of damage, and exits with 1 on
any disagreement.

``--columns`` compares the columns of ``score_frame`` instead, shares of steps and goals among them.

``--peer unified-planning --python PYTHON`` compares the judge with the sequential plan validator of unified-planning
instead, which is installed for that other Python.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from math import isclose
from pathlib import Path
from random import Random

from tests.judges.interpreter import judge, read
from tests.judges.plans import Case, cases, plan_text
from tests.measure.tally import Tally, drawing


def drawn(arguments: argparse.Namespace) -> Iterator[tuple[int, Case]]:
    """The cases with their numbers: of the walk, which draws them again with ``--first``."""
    left, number = arguments.count, arguments.first
    while True:
        for case in cases(number, arguments.seed):
            if left == 0:
                return
            left -= 1
            yield number, case
        number += 1


def against_program(arguments: argparse.Namespace) -> Tally:
    """Compare the program with the judge."""
    from tests.judges.agreement import outcome

    tally = Tally("cases", "valid", "disagree", "undecided")
    for number, case in drawn(arguments):
        found = outcome(case, Random(f"{arguments.seed} {number} {case.how}"))
        marks = {
            "valid": found.judgement.valid,
            "disagree": found.difference,
            "undecided": found.undecided,
        }
        rows = (domain_row(case), case.how, found.judgement.verdict, "all")
        tally.count(rows, "cases", *(mark for mark, is_so in marks.items() if is_so))
        if found.difference:
            tally.disagree(f"{number} {case.story.name}, {case.how}: {found.shown()}")
    return tally


def domain_row(case: Case) -> str:
    return f"{case.story.kind}: {case.story.name}"


def against_columns(arguments: argparse.Namespace) -> Tally:
    """Compare the columns of plans without references with the judge."""
    import polars
    from pddl_eval import score_frame

    from tests.judges.agreement import plain

    asked, rows = [], []
    for number, case in drawn(arguments):
        text = plan_text(Random(f"{arguments.seed} {number} {case.how}"), case.steps)
        right = judge(case.story.text, case.problem, case.steps, any_order=plain(case.story.text))
        asked.append((number, case, right))
        rows.append({"reference_problem": case.problem, "domain": case.story.text, "generated_plan": text})
    tally = Tally("values", "null", "disagree")
    scores = score_frame(polars.DataFrame(rows)).iter_rows(named=True)
    for (number, case, right), row in zip(asked, scores, strict=True):
        wanted = {
            "plan_valid": right.valid,
            "plan_verdict": right.verdict,
            "first_failed_step": right.failed_step,
            "executable_share": right.executable_share,
            # An answer of which no step names an action is read as no plan, and nothing is credited to it.
            "goal_share": right.goal_share if names_action(case) else 0,
            "plan_cost": None if right.cost is None else float(right.cost),
        }
        for column, value in wanted.items():
            wrong = row[column] != value and not (
                isinstance(value, float) and isclose(float("nan" if row[column] is None else row[column]), value)
            )
            null = "null" if row[column] is None else ""
            tally.count((column, "all"), "values", null, "disagree" if wrong else "")
            if wrong:
                said = f"{column} {row[column]}, judge {value}"
                tally.disagree(
                    f"{number} {case.story.name}, {case.how}: {said}\n{case.problem}\n{row['generated_plan']}"
                )
    return tally


def names_action(case: Case) -> bool:
    """Whether any step is an action of the domain; the empty plan has none that is not."""
    actions = read(case.story.text, case.problem).actions
    steps = [step if isinstance(step, frozenset) else {step} for step in case.steps]
    return not steps or any(action[0] in actions for step in steps for action in step)


def against_peer(arguments: argparse.Namespace) -> Tally:
    """Compare unified-planning with the judge."""
    asked = [each for each in drawn(arguments) if not any(isinstance(step, frozenset) for step in each[1].steps)]
    texts = [{"domain": case.story.text, "problem": case.problem, "steps": case.steps} for _, case in asked]
    script = Path(__file__).with_name("plans_peer.py")
    run = subprocess.run(
        [arguments.python, str(script)], input=json.dumps(texts), text=True, stdout=subprocess.PIPE, check=True
    )
    answers = json.loads(run.stdout)
    print(f"unified-planning {answers['version']}")
    tally = Tally("cases", "valid", "disagree", "unread")
    reasons: Counter[str] = Counter()
    for (number, case), (answer, cost) in zip(asked, answers["answers"], strict=True):
        right = judge(case.story.text, case.problem, case.steps)
        unread = answer not in ("valid", "invalid")
        wrong = not unread and (answer == "valid") != right.valid
        costs = cost is not None and answer == "valid" and right.valid and Fraction(cost) != right.cost
        reasons[f"{case.story.name}: {answer}"] += unread
        marks = {"valid": right.valid, "disagree": wrong or costs, "unread": unread}
        rows = (domain_row(case), case.how, "all")
        tally.count(rows, "cases", *(mark for mark, is_so in marks.items() if is_so))
        if wrong or costs:
            said = f"{answer} {cost}, judge {right.verdict} at {right.failed_step}, cost {right.cost}"
            tally.disagree(f"{number} {case.story.name}, {case.how}: {said}\n{case.problem}\n{case.steps}")
    for reason, count in reasons.most_common():
        if count:
            print(f"{count:>8}  {reason}")
    return tally


def main() -> int:
    """Compare, print the disagreements and the table; 1 when there are any."""
    parser = drawing(__doc__, 2000, "plans")
    parser.add_argument("--columns", action="store_true", help="compare the columns of score_frame instead")
    parser.add_argument("--peer", choices=["unified-planning"], help="compare another program with the judge instead")
    parser.add_argument("--python", default=sys.executable, help="a Python that has the other program")
    arguments = parser.parse_args()
    compare = against_peer if arguments.peer else against_columns if arguments.columns else against_program
    return compare(arguments).finish(arguments.seed)


if __name__ == "__main__":
    sys.exit(main())
