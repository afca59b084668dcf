"""Plans with times, constraints and preferences: ``python -m tests.measure.temporal --count 5000 --trajectories 5000``.

Compares what ``pddl_eval.validate`` says with ``tests.judges.trajectories``: verdict, step, cost, states and their
times, constraints and preferences. ``--trajectories`` are random sequences of timed states under random constraints,
``--count`` plans with times in random domains, valid and damaged in eighteen ways. Exits with 1 on any disagreement.

``--val VALIDATE`` compares the program and the judge with VAL instead; ``--tasks FOLDER`` takes the plans from folders
that hold ``domain.pddl``, ``problem.pddl`` and plans (``….plan``, ``….SOL``), and damages each of them. What differs is
printed with what the judge says; nothing of the folder is kept.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from random import Random

import pddl_eval

from tests.judges.agreement import timed_difference
from tests.judges.trajectories import Judgement, Step, judge, read
from tests.measure.tally import Tally, drawing
from tests.support.random_trajectories import DAMAGES, Case, cases, plan_text, trajectory

SECONDS = 60


def drawn(arguments: argparse.Namespace) -> Iterator[tuple[str, Case]]:
    """The cases, each with what draws it again."""
    for number in range(arguments.first, arguments.first + arguments.trajectories):
        yield f"trajectory {number}", trajectory(Random(f"{arguments.seed} {number}"))
    left, number = arguments.count, arguments.first
    while left > 0:
        for case in list(cases(number, arguments.seed))[:left]:
            left -= 1
            yield f"plan {number}", case
        number += 1


def against_judge(arguments: argparse.Namespace) -> Tally:
    """Compare the program with the judge."""
    tally = Tally("cases", "valid", "disagree")
    for number, case in drawn(arguments):
        right = judge(case.domain, case.problem, case.steps)
        difference = timed_difference(plan_text(case), case.problem, case.domain, right)
        rows = [case.how, *sorted({each.verdict for each in right.faults}), "all"]
        tally.count(rows, "cases", "valid" * right.valid, "disagree" * bool(difference))
        if difference:
            tally.disagree(f"{number}, {case.how}: {difference}\n{case.domain}\n{case.problem}\n{plan_text(case)}")
    return tally


# --- VAL -------------------------------------------------------------------------------------------------------------


def stored(folder: Path, seed: int) -> Iterator[list[tuple[str, Case]]]:
    """The plans that a folder of tasks holds, each with its damaged copies."""
    for task in sorted(path.parent for path in folder.rglob("domain.pddl")):
        domain, problem = ((task / f"{name}.pddl").read_text("utf-8", "replace") for name in ("domain", "problem"))
        for file in sorted(path for path in task.iterdir() if path.suffix in (".plan", ".SOL")):
            if not (steps := steps_of(file.read_text("utf-8", "replace"))):
                continue
            timed, random = read(domain, problem), Random(f"{seed} {file}")
            copies = {"as it is": steps}
            copies |= {how: tuple(damage(random, timed, list(steps))) for how, damage in DAMAGES.items()}
            yield [(str(file.relative_to(folder)), Case(how, domain, problem, each)) for how, each in copies.items()]


def steps_of(plan: str) -> tuple[Step, ...]:
    """The steps of a planner's file: a time, an action and, in brackets, a duration."""
    found = re.findall(r"(?m)^\s*([\d.]+)\s*:\s*\(([^()]*)\)\s*(?:\[\s*(?:D:)?\s*([\d.]+))?", plan)
    return tuple(
        Step(Fraction(time), tuple(action.lower().split()), Fraction(duration) if duration else None)
        for time, action, duration in found
    )


def in_groups(arguments: argparse.Namespace) -> Iterator[list[tuple[str, Case]]]:
    """The random cases that have a domain and a problem in common."""
    group: list[tuple[str, Case]] = []
    for number, case in drawn(arguments):
        if group and (case.domain, case.problem) != (group[0][1].domain, group[0][1].problem):
            yield group
            group = []
        group.append((number, case))
    yield group


def said_by_val(val: str, group: list[tuple[str, Case]]) -> list[str]:
    """What VAL says of each plan of a group: ``valid``, ``invalid``, or that it cannot read it or crashes."""
    with tempfile.TemporaryDirectory() as folder:
        names = ("domain.pddl", "problem.pddl", *(f"{place}.plan" for place in range(len(group))))
        texts = (
            group[0][1].domain,
            group[0][1].problem,
            *(plan_text(case).strip("()\n") and plan_text(case) for _, case in group),
        )
        for name, text in zip(names, texts, strict=True):
            (Path(folder) / name).write_text(text + "\n", "utf-8")
        said: list[str] = []
        while len(said) < len(group):  # It goes on behind a plan on which it crashes.
            command = [val, "-t", "0.001", "domain.pddl", "problem.pddl", *names[2 + len(said) :]]
            try:
                run = subprocess.run(
                    command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=SECONDS
                )
                output, died = run.stdout, run.returncode < 0
            except subprocess.TimeoutExpired:
                output, died = "", True
            if re.search(r"Problem in domain|Bad problem|Type problem|Parser failed", output):
                return [*said, *["cannot read the task"] * (len(group) - len(said))]
            parts = re.split(r"(?m)^Checking plan: ", output)[1:]
            said += [answer(part) for part in (parts[:-1] if died else parts)]
            if died or not parts:
                said.append("crashes")
        return said[: len(group)]


def answer(part: str) -> str:
    if "Plan valid" in part:
        return "valid"
    return "cannot read the plan" if "Bad plan description" in part else "invalid"


def shown(judged: Judgement) -> str:
    return " or ".join(sorted({each.verdict for each in judged.faults})) or "valid"


def against_val(arguments: argparse.Namespace) -> Tally:
    """Compare the program and the judge with VAL."""
    tally = Tally("cases", "valid", "not read by VAL", "VAL differs", "judge differs")
    for group in stored(arguments.tasks, arguments.seed) if arguments.tasks else in_groups(arguments):
        for (number, case), val in zip(group, said_by_val(arguments.val, group), strict=True):
            plan = plan_text(case)
            found, right = (
                pddl_eval.validate(plan, case.problem, case.domain),
                judge(case.domain, case.problem, case.steps),
            )
            unread, wrong = val not in ("valid", "invalid"), (val == "valid") != bool(found.valid)
            disagree = right.valid != found.valid
            marks = ["valid" * bool(found.valid), "not read by VAL" * unread, "VAL differs" * (wrong and not unread)]
            rows = [case.how, f"here: {found.verdict}", "all"]
            tally.count(rows, "cases", *marks, "judge differs" * disagree)
            if (wrong and not unread) or disagree:
                detail = f"VAL {val}, here {found.verdict} ({found.detail}), judge {shown(right)}"
                texts = "" if arguments.tasks else f"\n{case.domain}\n{case.problem}"
                tally.disagree(f"{number}, {case.how}: {detail}{texts}\n{plan}")
    return tally


def main() -> int:
    """Compare, print the disagreements and the table; 1 when there are any."""
    parser = drawing(__doc__, 2000, "plans")
    parser.add_argument("--trajectories", type=int, default=1000, help="number of trajectories")
    parser.add_argument("--val", help="VAL's program Validate")
    parser.add_argument("--tasks", type=Path, help="a folder of tasks with plans")
    arguments = parser.parse_args()
    return (against_val if arguments.val else against_judge)(arguments).finish(arguments.seed)


if __name__ == "__main__":
    sys.exit(main())
