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
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from random import Random
from unittest.mock import patch

import pddl_eval

from tests.judges import interpreter, trajectories
from tests.judges.agreement import timed_difference
from tests.judges.interpreter import Atom, Change, Failed, State, Task, as_atom, change, read_by, satisfied
from tests.judges.trajectories import Judgement, Step, TimedTask, happen, judge_task, read
from tests.measure.tally import Tally, drawing
from tests.support.random_trajectories import DAMAGES, Case, PlainDraw, TimedDraw, cases, plan_text, trajectory

SECONDS = 60


@lru_cache(maxsize=4)
def task_of(domain: str, problem: str) -> TimedTask:
    """The task that the judge reads, once for all plans for it."""
    return read(domain, problem)


def judged(case: Case) -> Judgement:
    return judge_task(task_of(case.domain, case.problem), case.steps)


def drawn(arguments: argparse.Namespace) -> Iterator[tuple[str, Case]]:
    """The cases, each with what draws it again."""
    for number in range(arguments.first, arguments.first + arguments.trajectories):
        yield f"trajectory {number}", trajectory(Random(f"{arguments.seed} {number}"))
    left, number, kind = arguments.count, arguments.first, PlainDraw if arguments.val else TimedDraw
    while left > 0:
        for case in list(cases(number, arguments.seed, kind))[:left]:
            left -= 1
            yield f"plan {number}", case
        number += 1


def against_judge(arguments: argparse.Namespace) -> Tally:
    """Compare the program with the judge."""
    tally = Tally("cases", "valid", "disagree")
    for number, case in drawn(arguments):
        right = judged(case)
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
            timed, random = task_of(domain, problem), Random(f"{seed} {file}")
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
    """What VAL says of each plan of a group: ``valid``, ``invalid``, or that it cannot read the task, or crashes."""
    with tempfile.TemporaryDirectory() as folder:
        plans = [f"{place}.plan" for place in range(len(group))]
        texts = {"domain.pddl": group[0][1].domain, "problem.pddl": group[0][1].problem}
        texts |= {plan: plan_text(case) if case.steps else "" for plan, (_, case) in zip(plans, group, strict=True)}
        for name, text in texts.items():
            (Path(folder) / name).write_text(f"{text}\n", "utf-8")
        return asked(val, folder, plans)


def asked(val: str, folder: str, plans: list[str]) -> list[str]:
    """Ask VAL about some plans; where it stops or crashes, about each half of them."""
    command = [val, "domain.pddl", "problem.pddl", *plans]
    try:
        run = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return ["crashes"] * len(plans)
    if "Problem in domain" in run.stderr or "Bad problem" in run.stderr or "problem specification" in run.stderr:
        return ["cannot read"] * len(plans)
    if run.returncode == 0:
        return ["valid" if "Plan valid" in part else "invalid" for part in run.stdout.split("Checking plan: ")[1:]]
    if len(plans) == 1:
        return ["crashes" if run.returncode < 0 else "invalid"]  # It stops at a step that it cannot read.
    half = len(plans) // 2
    return asked(val, folder, plans[:half]) + asked(val, folder, plans[half:])


def shown(found: Judgement) -> str:
    return " or ".join(sorted({each.verdict for each in found.faults})) or "valid"


def first_in_window(times: Sequence[Fraction], begin: Fraction, end: Fraction, phi: Sequence[bool]) -> bool:
    return next((now for time, now in zip(times, phi, strict=True) if begin <= time < end), True)


def read_by_what_happens(task: Task, state: State, atoms: frozenset[Atom], action: Atom) -> set[Atom]:
    """What an action reads, if conditions of effects are read only where they are true."""
    condition, effects = task.instances[action]
    happening = [each for each in effects if satisfied(task, each[0], state)]
    with patch.dict(task.instances, {action: (condition, happening)}):
        return read_by(task, state, atoms, action)


def adding_once(task: Task, state: State, atoms: frozenset[Atom], action: Atom, alone: bool = False) -> Change:
    """What an action does, if it may not add twice what it reads when others happen beside it."""
    made = change(task, state, atoms, action, alone)
    added = [as_atom(effect) for condition, effect in task.instances[action][1] if satisfied(task, condition, state)]
    if any(added.count(atom) > 1 for atom in made.reads):
        raise Failed("interference")
    return made


def happen_from_zero(
    timed: TimedTask, state: State, events: Sequence[trajectories.Event]
) -> tuple[State, frozenset[trajectories.Fault]]:
    """A happening, if what is updated and has no value is 0."""
    effects = (effect for event in events for _, effect in timed.task.instances[event.key][1])
    zeros = {as_atom(effect[1]): Fraction(0) for effect in effects if effect[0] in interpreter.ASSIGNMENTS}
    return happen(timed, State(state.atoms, {**zeros, **state.numbers}), events)


NEARLY = Fraction(1, 10_000)

OTHER_RULES: dict[str, Callable[[], AbstractContextManager[object]]] = {
    "happenings exactly 0.001 apart are one where floats say so": lambda: patch.object(
        trajectories, "together", lambda first, time: not float(time) > float(first) + 0.01 / 10
    ),
    "durations off by 0.01": lambda: patch.object(trajectories, "SLACK", Fraction(1, 100)),
    "conditions of effects that do not happen are not read": lambda: patch.object(
        interpreter, "read_by", read_by_what_happens
    ),
    "beside others an action may not add twice what it reads": lambda: patch.object(interpreter, "change", adding_once),
    "an update of a number without a value starts from 0": lambda: patch.object(
        trajectories, "happen", happen_from_zero
    ),
    "an action twice at one time is two": lambda: patch.object(trajectories, "once", list),
    "hold-during: only the first state that begins in the window": lambda: patch.dict(
        trajectories.MODAL, {"hold-during": first_in_window}
    ),
    "hold-after does not hold": lambda: patch.dict(trajectories.MODAL, {"hold-after": lambda *_: False}),
    "numbers off by 0.0001": lambda: patch.dict(
        interpreter.COMPARISONS,
        {">": lambda one, other: one > other - NEARLY, "<": lambda one, other: one < other + NEARLY},
    ),
}
"""What VAL decides otherwise than the page on the language, as other rules for the judge."""


def rules_of_val(case: Case) -> str:
    """Which other rules make the judge say what VAL says, where it says another thing than the program."""
    before = judged(case).valid
    for count in range(1, len(OTHER_RULES) + 1):
        for chosen in combinations(OTHER_RULES, count):
            with ExitStack() as stack:
                for each in chosen:
                    stack.enter_context(OTHER_RULES[each]())
                if judged(case).valid != before:
                    return " and ".join(chosen)
    if any(
        step.duration is None and step.action[0] in task_of(case.domain, case.problem).durations for step in case.steps
    ):
        return "a duration that is left out is 0"
    numbers = re.findall(r"\([<>]=? \(([^()?]+)\)", case.problem.partition("(:constraints")[2])
    if any(tuple(each.split()) not in task_of(case.domain, case.problem).task.initial.numbers for each in numbers):
        return "constraints that read a number without a value do not hold, also as preferences"
    actions = task_of(case.domain, case.problem).task.actions
    known = (actions.get(step.action[0]) for step in case.steps)
    most = [1 + len(action.parameters) if action else None for action in known]
    cut = [step._replace(action=step.action[:end]) for step, end in zip(case.steps, most, strict=True)]
    return "surplus arguments are ignored" if judged(case._replace(steps=tuple(cut))).valid != before else ""


def against_val(arguments: argparse.Namespace) -> Tally:
    """Compare the program and the judge with VAL."""
    tally = Tally("cases", "valid", "not read by VAL", "VAL differs", "not explained", "judge differs")
    for group in stored(arguments.tasks, arguments.seed) if arguments.tasks else in_groups(arguments):
        for (number, case), val in zip(group, said_by_val(arguments.val, group), strict=True):
            plan = plan_text(case)
            found, right = pddl_eval.validate(plan, case.problem, case.domain), judged(case)
            unread, disagree = val not in ("valid", "invalid"), right.valid != found.valid
            wrong = not unread and (val == "valid") != bool(found.valid)
            why = rules_of_val(case) if wrong else ""
            marks = ["valid" * bool(found.valid), "not read by VAL" * unread, "VAL differs" * wrong]
            marks += ["not explained" * (wrong and not why), "judge differs" * disagree]
            rows = [case.how, f"here: {found.verdict}", "all", *([f"VAL: {why}"] if why else [])]
            tally.count(rows, "cases", *marks)
            if (wrong and not why) or disagree:
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
