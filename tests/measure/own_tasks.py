"""Tasks of one's own, judged by others: ``python -m tests.measure.own_tasks --count 500 --domains 20 --val VALIDATE``.

Draws that many tasks in each of the corpus' domains, each from its one problem, or in those that are named: of the
corpus, known ones, or folders with a ``domain.pddl`` and ``instances``. ``--val`` puts every plan to VAL;
``--planner`` is Fast Downward's driver, which looks for the optimal cost of the first ``--optimal`` tasks where it is
said to be proven. The judge's interpreter lists all states of the smallest tasks (``--states``): their number, and the
cost of the cheapest plan. All certificates have to differ, and the numbers of tasks of each length are printed. Exits
with 1 on any disagreement. ``--seconds`` of processor time end the drawing in a domain.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from pddl_eval.benchmark import OwnTask, OwnTasks
from pddl_eval.definition.domains import chosen_domain, known_domain_names
from pddl_eval.definition.model import domain_to_pddl

from tests.corpus import CORPUS, DELIVERIES_WITH_COSTS
from tests.judges.interpreter import Refused, TooManyStates, Undefined, optimal_task_cost, reachable_states, read
from tests.measure.tally import Tally, drawing

SEEDS = 5
"""Seeds of a folder: the first of its problems."""

NAME, GOAL = re.compile(r"\(problem [^()]*\)"), re.compile(r"(?m)^  \(:goal.*$")

COLUMNS = ["tasks", "VAL", "VAL reads not", "Fast Downward", "cost is optimal", "all states", "wrong"]


def seeded(name: str) -> tuple[str, list[str]]:
    """A domain and its seeds."""
    if name == "deliveries":
        return CORPUS[name].domain, [DELIVERIES_WITH_COSTS]
    if name in CORPUS:
        return CORPUS[name].domain, [CORPUS[name].problem]
    if name in known_domain_names():
        return name, []
    problems = sorted((Path(name) / "instances").iterdir(), key=lambda each: (len(each.name), each.name))[:SEEDS]
    return (Path(name) / "domain.pddl").read_text("utf-8"), [each.read_text("utf-8") for each in problems]


def tasks(name: str, chosen: argparse.Namespace) -> Iterator[OwnTask]:
    """Tasks in a domain, with its text, until there are enough or the time is over."""
    end = time.process_time() + chosen.seconds
    drawn = OwnTasks(*seeded(name), chosen.steps, chosen.seed, chosen.unsolvable).draw(chosen.count)
    text = "" if "(" in seeded(name)[0] else domain_to_pddl(chosen_domain(name).domain)
    for task in drawn:
        yield task._replace(domain=text or task.domain)
        if time.process_time() > end:
            return


def run(folder: Path, task: OwnTask, *command: str) -> str:
    """What a program says of a task."""
    for file, text in (("d.pddl", task.domain), ("p.pddl", task.reference_problem), ("plan", task.reference_plan)):
        (folder / file).write_text(text or "", encoding="utf-8")
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stdout


def as_val_reads(task: OwnTask) -> OwnTask:
    """The task with a condition for each operator and without predicates named ``within``, for which VAL ends.

    An operator without a condition costs it all of the domain's, the name is one of PDDL 3's constraints.
    """
    domain = re.sub(r"(:parameters\s*\([^)]*\))(\s*:effect)", r"\1 :precondition (and)\2", task.domain)
    domain, problem = (re.sub(r"\(within\b", "(inside", text) for text in (domain, task.reference_problem))
    return task._replace(domain=domain, reference_problem=problem)


@lru_cache
def all_states(domain: str, without_goal: str, most: int) -> int | None:
    """How many states all tasks with this initial state have; None for too many."""
    try:
        return len(reachable_states(read(domain, without_goal), most))
    except (TooManyStates, Undefined, Refused):
        return None


def disagreements(task: OwnTask, chosen: argparse.Namespace, folder: Path, number: int) -> Iterator[tuple[str, str]]:
    """Who judged what, and where it is wrong why."""
    if chosen.val and task.reference_plan:
        said = run(folder, as_val_reads(task), chosen.val, "-v", "d.pddl", "p.pddl", "plan")
        # It asks for values that a seed without numbers does not give: here such a problem has no costs.
        is_read = not re.search(r"Errors: [1-9]|No matching action|undefined numeric", said)
        yield ("VAL", "" if "Plan valid" in said else said) if is_read else ("VAL reads not", "")
    if chosen.planner and number < chosen.optimal and task.optimal_cost is not None:
        for search in ("astar(lmcut())", "astar(blind())"):  # LM-cut knows no conditional effects and no axioms.
            options = ("--overall-time-limit", "10", "d.pddl", "p.pddl", "--search", search)
            found = re.search(r"Plan cost: (\d+)", run(folder, task, sys.executable, chosen.planner, *options))
            if found:
                same = int(found[1]) == task.optimal_cost
                yield "Fast Downward", "" if same else f"costs {found[1]}, not {task.optimal_cost}"
                break
    without_goal = GOAL.sub("(:goal (and))", NAME.sub("(problem p)", task.reference_problem))
    states = all_states(task.domain, without_goal, chosen.states)
    if states is None:
        return
    yield "all states", "" if states == task.states and task.states_complete else f"{states} states, not {task.states}"
    if task.reference_plan is None or task.optimal_cost is not None:
        least = optimal_task_cost(read(task.domain, task.reference_problem), chosen.states)
        yield "cost is optimal", "" if least == task.optimal_cost else f"costs {least}, not {task.optimal_cost}"


def main() -> int:
    """Draw, judge, print the disagreements, the table and the numbers of steps; 1 when there is any."""
    parser = drawing(__doc__, 20, "tasks in each domain")
    parser.add_argument("names", nargs="*", metavar="NAME|FOLDER")
    parser.add_argument("--domains", type=int, default=4, help="of the corpus, where none is named")
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--steps", type=int, nargs=2, default=(1, 20))
    parser.add_argument("--unsolvable", type=float, default=0.05)
    parser.add_argument("--states", type=int, default=300)
    parser.add_argument("--optimal", type=int, default=25, help="of each domain")
    parser.add_argument("--val")
    parser.add_argument("--planner")
    chosen = parser.parse_args()
    tally = Tally(*COLUMNS)
    for name in chosen.names or list(CORPUS)[chosen.first : chosen.first + chosen.domains]:
        certificates: set[str] = set()
        lengths: Counter[int | None] = Counter()
        begun, drawing_took = time.process_time(), 0.0
        with tempfile.TemporaryDirectory() as folder:
            for task in tasks(name, chosen):
                drawing_took += time.process_time() - begun
                wrong = [("certificate", "twice")] * (task.reference_id in certificates)
                certificates.add(task.reference_id)
                lengths[task.steps] += 1
                for who, why in disagreements(task, chosen, Path(folder), lengths.total()):
                    tally.count((name, "all"), who)
                    wrong += [(who, why)] if why else []
                tally.count((name, "all"), "tasks", "wrong" if wrong else "")
                if wrong:
                    tally.disagree(f"{name}: {wrong}\n{task.reference_problem}\n{task.reference_plan}")
                begun = time.process_time()
        shown = " ".join(
            f"{steps}:{lengths[steps]}" for steps in sorted(lengths, key=lambda each: (each is None, each))
        )
        each = 1000 * drawing_took / max(1, lengths.total())
        print(f"{name}: {lengths.total()} tasks, {each:.0f} ms each; steps {shown}", flush=True)
    return tally.finish(chosen.seed)


if __name__ == "__main__":
    sys.exit(main())
