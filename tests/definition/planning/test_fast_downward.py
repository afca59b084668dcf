"""Fast Downward: plans that execute, proofs that are proofs, limits that are kept, names that cannot hurt."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from pddl_eval import compare_problems
from pddl_eval.definition import state_space as states
from pddl_eval.definition.closure import closure
from pddl_eval.definition.domains import NotCovered, blocksworld
from pddl_eval.definition.model import Problem
from pddl_eval.definition.planning import fast_downward
from pddl_eval.definition.planning.fast_downward import find_plan
from pddl_eval.definition.state_space import state_space
from pddl_eval.definition.task import task_of
from pddl_eval.definition.validation import execute
from pddl_eval.definition.verdict import Undecided, Unsolvable

from tests.support.ipc_domains import DOMAINS, PROBLEMS
from tests.support.towers import BLOCKS, blocks

pytestmark = pytest.mark.skipif(fast_downward._driver() is None, reason="up-fast-downward is not installed")


def test_finds_a_plan() -> None:
    problem = blocks(1, 12)
    plan = find_plan(problem, BLOCKS)
    assert isinstance(plan, tuple)
    assert execute([{action} for action in plan], problem, BLOCKS).reaches_goal


def test_proves_that_there_is_none() -> None:
    start = blocks(1, 4)
    circle = frozenset({("on", "b0", "b1"), ("on", "b1", "b2"), ("on", "b2", "b0")})
    problem = Problem("p", "blocksworld", start.objects, start.init, circle)
    assert isinstance(find_plan(problem, BLOCKS), Unsolvable)
    nowhere = Problem("p", "blocksworld", start.objects, start.init, frozenset({("on", "b0", "moon")}))
    assert isinstance(find_plan(nowhere, BLOCKS), Unsolvable)


def test_a_time_limit_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fast_downward, "SECONDS", 1)
    start = blocks(1, 40)
    circle = frozenset({("on", "b0", "b1"), ("on", "b1", "b2"), ("on", "b2", "b0")})
    problem = Problem("p", "blocksworld", start.objects, start.init, circle)
    answer = find_plan(problem, BLOCKS)
    assert isinstance(answer, Undecided)
    assert "1 seconds" in answer.reason


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="asks Linux which processes are alive")
def test_a_planner_that_hangs_is_killed_with_its_children(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "hangs.py"
    script.write_text(
        "import subprocess, sys, time, pathlib\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        f"pathlib.Path({str(tmp_path / 'child')!r}).write_text(str(child.pid))\n"
        "time.sleep(60)\n"
    )
    monkeypatch.setattr(fast_downward, "_driver", lambda: script)
    monkeypatch.setattr(fast_downward, "SECONDS", 1)
    monkeypatch.setattr(fast_downward, "_GRACE_SECONDS", 0.5)
    assert find_plan(blocks(1, 4), BLOCKS) == Undecided("Fast Downward found no plan in 1 seconds")
    child = int((tmp_path / "child").read_text())
    patience = 100
    while patience and not _is_gone(child):
        time.sleep(0.05)
        patience -= 1
    assert _is_gone(child)


def _is_gone(process: int) -> bool:
    """True when a process has ended, reaped by its parent or not."""
    status = Path(f"/proc/{process}/status")
    try:
        return "State:\tZ" in status.read_text()
    except OSError:
        return True


def test_a_memory_limit_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fast_downward, "MEGABYTES", 1)
    assert isinstance(find_plan(blocks(1, 30), BLOCKS), Undecided)


def test_without_the_package_everything_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fast_downward, "find_spec", lambda name: None)
    answer = find_plan(blocks(1, 4), BLOCKS)
    assert isinstance(answer, Undecided)
    assert "not installed" in answer.reason


def test_hostile_names_reach_the_plan_and_not_the_planner() -> None:
    names = ["(", ")); (rm", "a b\n", "?x", "ö", "and"]
    init = {("arm-empty",)} | {(predicate, name) for name in names for predicate in ("clear", "on-table")}
    goal = frozenset({("on", "(", ")); (rm"), ("on", "?x", "ö")})
    problem = Problem("()", "blocksworld", dict.fromkeys(names, "object"), frozenset(init), goal)
    plan = find_plan(problem, BLOCKS)
    assert isinstance(plan, tuple)
    assert ("stack", "(", ")); (rm") in plan


@pytest.mark.parametrize(
    "name", ["ferry", *(pytest.param(each, marks=pytest.mark.slow) for each in sorted(DOMAINS.keys() - {"ferry"}))]
)
def test_agrees_with_the_search_on_ipc_domains(name: str) -> None:
    """Types, constants, equations and negative preconditions all survive the rewriting."""
    for seed in range(100, 104):
        problem, domain = PROBLEMS[name](seed), DOMAINS[name]
        answer = find_plan(problem, domain)
        if isinstance(closure(problem, state_space(problem, domain)), Unsolvable):
            assert isinstance(answer, Unsolvable)
        else:
            assert isinstance(answer, tuple)


def test_rules_of_the_domain_are_not_needed() -> None:
    problem = blocks(5, 20)
    assert not isinstance(blocksworld.read(problem), NotCovered)
    assert isinstance(find_plan(problem, BLOCKS), tuple)


def test_adl_and_derived_predicates_beyond_enumeration(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is found is executed by the validator, which knows the types and the rules as they are written."""
    monkeypatch.setattr(states, "MAX_STATES", 4)
    domain = """(define (domain d) (:types lamp switch) (:predicates (lit ?l - lamp) (of ?s - switch ?l - lamp) (dark))
      (:derived (dark) (not (exists (?l - lamp) (lit ?l))))
      (:action press :parameters (?s - switch) :precondition (or (dark) (exists (?l - lamp) (of ?s ?l)))
        :effect (forall (?l - lamp) (when (of ?s ?l)
          (and (when (lit ?l) (not (lit ?l))) (when (not (lit ?l)) (lit ?l)))))))"""
    problem = """(define (problem p) (:domain d) (:objects a b c d - lamp s t u - switch)
      (:init (of s a) (of s b) (of t b) (of t c) (of u d) (lit b)) (:goal (and (not (dark)) GOAL)))"""
    found = compare_problems(
        problem.replace("GOAL", "(lit a)"), problem.replace("GOAL", "(lit c) (lit d)"), domain=domain
    )
    assert (found.solvable, len(found.plan or ())) == (True, 2)
    never = problem.replace("GOAL", "(forall (?l - lamp) (lit ?l))").replace("(lit b)", "")
    assert compare_problems(problem.replace("GOAL", "(lit a)"), never, domain=domain).solvable is False


@pytest.mark.parametrize(("switches", "listed"), [(14, False), (5, True)])
def test_it_is_asked_first_where_states_are_too_many_to_be_listed(
    switches: int, listed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With formulas, where states take long; where they can all be listed the plan is the defined one."""
    names = [f"s{number:02}" for number in range(switches)]
    every = " ".join(f"(when (off {name}) (and (seen {name}) (not (off {name}))))" for name in names)
    domain = f"""(define (domain d) (:predicates (on ?x) (off ?x) (seen ?x)) (:constants {" ".join(names)})
      (:action switch :parameters (?x) :precondition (not (on ?x)) :effect (and (on ?x) {every}))
      (:action back :parameters (?x) :precondition (on ?x) :effect (and (not (on ?x)) {every})))"""
    goal = " ".join(f"(on {name})" for name in names)
    off = " ".join(f"(off {name})" for name in names)
    task = task_of(f"(define (problem p) (:domain d) (:init {off}) (:goal (and {goal})))", domain)
    found = tuple(("switch", name) for name in reversed(names))
    monkeypatch.setattr(fast_downward, "find_plan", lambda problem, domain: found)
    assert task.plan == (tuple(("switch", name) for name in names) if listed else found)
