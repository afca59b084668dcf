"""Asks Fast Downward for a plan: the planner behind the searches of this project, run as a subprocess with limits.

Only text that is written here reaches it: every name of problem and domain is replaced by a plain one and the plan is
translated back, so that no answer of a model can upset the planner's reader. What it finds is executed before it is
returned. The planner comes with the package ``up-fast-downward``; without it every question is undecided.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

from pddl_eval.model import Action, Atom, Domain, Problem, State, domain_to_pddl, problem_to_pddl
from pddl_eval.solve.execute import execute
from pddl_eval.solve.plain_names import with_plain_names
from pddl_eval.verdict import Undecided, Unsolvable

SECONDS = 30
"""Processor time for translating and searching; the process is killed when the clock shows ``_GRACE_SECONDS`` more."""

MEGABYTES = 2_000
"""Address space of each of the planner's processes."""

_GRACE_SECONDS = 5
_CONFIGURATION = "lama-first"
_PLAN_FOUND = (0, 1, 2, 3)
_PROVEN_UNSOLVABLE = (10, 11)
_OUT_OF_TIME = (21, 23, 24, 256 - signal.SIGXCPU)
_OUT_OF_MEMORY = (20, 22)


def find_plan(
    problem: Problem,
    domain: Domain,
    *,
    without: frozenset[Atom] = frozenset(),
    seconds: float = SECONDS,
    megabytes: int = MEGABYTES,
) -> tuple[Action, ...] | Unsolvable | Undecided:
    """A plan to a state that contains the goal and none of the atoms ``without``, already executed; or the proof.

    ``Unsolvable`` only for the exit codes that stand for a proof: no relaxed plan, or all states explored without
    unsafe pruning. ``Undecided`` for a limit, a missing planner or a failure, which its reason names.

    >>> find_plan(Problem("p", "d", {}, frozenset(), frozenset()), Domain("d", {}, {}, {}, (), ("sail: forall",)))
    Undecided(reason='the domain is not STRIPS (sail: forall)')
    """
    if domain.outside_strips:
        return Undecided(f"the domain is not STRIPS ({domain.outside_strips[0]})")
    driver = _driver()
    if driver is None:
        return Undecided("Fast Downward is not installed (package up-fast-downward)")
    plain_problem, plain_domain, names = with_plain_names(problem, domain, without)
    with tempfile.TemporaryDirectory(prefix="fast-downward-") as folder:
        scratch = Path(folder)
        (scratch / "domain.pddl").write_text(domain_to_pddl(plain_domain), encoding="ascii")
        (scratch / "problem.pddl").write_text(problem_to_pddl(plain_problem), encoding="ascii")
        exit_code = _run(driver, scratch, seconds, megabytes)
        if exit_code not in _PLAN_FOUND:
            return _failure(exit_code, seconds)
        lines = (scratch / "plan").read_text(encoding="ascii").splitlines()
    plan = tuple(tuple(names[word] for word in line.strip(" ()").split()) for line in lines if line.startswith("("))
    execution = execute(plan, problem, domain)
    if not execution.reaches_goal or not without.isdisjoint(execution.state):
        return Undecided(f"Fast Downward's plan does not execute: {execution.reason or 'the goal is not reached'}")
    return plan


def reach(problem: Problem, domain: Domain, without: frozenset[Atom]) -> State | Unsolvable | Undecided:
    """The state that Fast Downward's plan ends in; what ``grounded.closure`` may ask where its own search gives up."""
    plan = find_plan(problem, domain, without=without)
    return execute(plan, problem, domain).state if isinstance(plan, tuple) else plan


def _driver() -> Path | None:
    """The script that runs translator and search, None where the package is missing."""
    spec = find_spec("up_fast_downward")
    folders = spec.submodule_search_locations if spec is not None else None
    scripts = [Path(folder) / "downward" / "fast-downward.py" for folder in folders or ()]
    return next((script for script in scripts if script.is_file()), None)


def _run(driver: Path, scratch: Path, seconds: float, megabytes: int) -> int | None:
    """Run the planner in the scratch folder and return its exit code; None where the clock ran out and it was killed.

    It runs in a process group of its own, which is killed as one: the driver starts the translator and the search.
    """
    limits = ["--overall-time-limit", f"{max(1, round(seconds))}s", "--overall-memory-limit", f"{megabytes}M"]
    files = ["domain.pddl", "problem.pddl"]
    command = [sys.executable, str(driver), "--plan-file", "plan", *limits, "--alias", _CONFIGURATION, *files]
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    silent = subprocess.DEVNULL
    process = subprocess.Popen(
        command, cwd=scratch, env=environment, stdin=silent, stdout=silent, stderr=silent, start_new_session=True
    )
    try:
        return process.wait(timeout=seconds + _GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        return None
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _failure(exit_code: int | None, seconds: float) -> Unsolvable | Undecided:
    """What an exit without a plan means (https://www.fast-downward.org/latest/documentation/exit-codes/)."""
    if exit_code in _PROVEN_UNSOLVABLE:
        return Unsolvable("Fast Downward searched all states that could lead to the goal")
    if exit_code is None or exit_code in _OUT_OF_TIME:
        return Undecided(f"Fast Downward found no plan in {seconds:g} seconds")
    if exit_code in _OUT_OF_MEMORY:
        return Undecided("Fast Downward ran out of memory")
    return Undecided(f"Fast Downward ended with exit code {exit_code}")
