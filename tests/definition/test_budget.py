"""A row has a budget of processor time: its end is null or ``undecided`` with the reason, and touches no other row."""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from time import thread_time

import pyarrow as pa
import pytest
from pddl_eval import compare_problems
from pddl_eval.definition import canonical
from pddl_eval.definition.budget import WORK_PER_LOOK, OutOfBudgetError, or_undecided, spend
from pddl_eval.definition.domain_equivalence import shared_operators
from pddl_eval.definition.grounding import reachable_operators
from pddl_eval.definition.model import Domain
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.definition.pddl import parse_domain
from pddl_eval.definition.structure import DomainGraph, DomainStructure
from pddl_eval.definition.verdict import Undecided
from pddl_eval.errors import UserError
from pddl_eval.scoring.budget import row_budget
from pddl_eval.scoring.table import score_table

from tests.support.sliding_tiles import DOMAIN, random_goal


def test_outside_a_budget_work_is_not_limited() -> None:
    spend(10**9)


def test_work_is_counted_over_calls_and_the_budget_looked_at_when_there_is_enough() -> None:
    with row_budget(0):
        spend(WORK_PER_LOOK - 1)
        with pytest.raises(OutOfBudgetError):
            spend(1)
        spend(1)
    with row_budget(60):
        spend(10**9)


def operators(count: int) -> Domain:
    text = " ".join(f"(:action o{n} :parameters (?x) :precondition (p ?x) :effect (r{n} ?x))" for n in range(count))
    return parse_domain(f"(define (domain d) {text})")


def sections(count: int) -> Domain:
    return parse_domain(f"(define (domain d) {'(:x)' * count})")


def types(count: int) -> Domain:
    """An operator that asks for any of some types, each in the next."""
    chain = " ".join(f"t{n} - t{n + 1}" for n in range(count))
    either = " ".join(f"t{n}" for n in range(count))
    return parse_domain(f"(define (domain d) (:types {chain}) (:action go :parameters (?x - (either {either}))))")


LONG: dict[str, tuple[Callable[[int], Domain], Callable[[Domain], object]]] = {
    "as written": (operators, lambda domain: DomainStructure(domain).as_written),
    "types as written": (types, lambda domain: DomainStructure(domain).as_written),
    "shared operators": (operators, lambda domain: shared_operators(domain, domain)),
    "grounding": (
        operators,
        lambda domain: reachable_operators({"a": "object"}, frozenset({("p", "a")}), domain),
    ),
    "sections of a graph": (sections, DomainGraph),
}


@pytest.mark.parametrize("stretch", LONG)
def test_what_is_long_looks_at_the_budget_and_what_is_short_needs_none(stretch: str) -> None:
    make, compute = LONG[stretch]
    large, small = make(700), make(3)
    with row_budget(0):
        assert isinstance(or_undecided(lambda: compute(large)), Undecided)
        if "graph" not in stretch:  # To label it asks for time in any case.
            assert not isinstance(or_undecided(lambda: compute(small)), Undecided)


def test_each_step_of_refinement_counts_its_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """A path is refined from its ends: as many steps as it has vertices."""
    path = {"": [("next", f"x{n}", f"x{n + 1}") for n in range(100)]}
    steps: list[int] = []
    monkeypatch.setattr(canonical, "spend", steps.append)
    assert canonical.LabelledGraph(dict.fromkeys([f"x{n}" for n in range(101)], "object"), path).is_rigid
    assert len(steps) > 50


def test_a_row_has_one_budget() -> None:
    with row_budget(0), row_budget(100), pytest.raises(OutOfBudgetError):
        spend(WORK_PER_LOOK)


def test_each_thread_has_a_budget_of_its_own() -> None:
    with row_budget(0), ThreadPoolExecutor(1) as pool:
        pool.submit(spend, WORK_PER_LOOK).result()


@pytest.mark.parametrize("seconds", [0, -1.0, float("nan")])
def test_a_budget_is_positive(seconds: float) -> None:
    with pytest.raises(UserError):
        ScoringOptions(row_seconds=seconds)


def test_the_budget_is_part_of_the_signature() -> None:
    assert "seconds:10" in ScoringOptions().signature.split("|")
    assert ScoringOptions(row_seconds=0.5).signature != ScoringOptions().signature


def test_a_row_that_runs_out_is_undecided_and_the_next_has_time_of_its_own() -> None:
    references, answers = [random_goal(3, seed) for seed in (1, 1)], [random_goal(3, seed) for seed in (2, 1)]
    table = pa.table({"reference_problem": references, "generated_problem": answers, "domain": [DOMAIN] * 2})
    start = thread_time()
    open_row, identical = score_table(table, ScoringOptions(row_seconds=0.01)).to_pylist()
    assert thread_time() - start < 1
    assert (open_row["verdict"], open_row["equivalent"], open_row["solvable"]) == ("undecided", None, None)
    assert "budget" in open_row["detail"]
    assert open_row["score_error"] is None
    assert identical["verdict"] == "identical"
    again = score_table(table.slice(0, 1), ScoringOptions(row_seconds=60)).to_pylist()
    assert (again[0]["verdict"], again[0]["solvable"]) == ("goal_differs", True)


def blocks(count: int, init: str, goal: str) -> str:
    names = " ".join(f"b{i}" for i in range(count))
    return f"(define (problem p) (:domain blocksworld) (:objects {names}) (:init {init}) (:goal (and {goal})))"


def held_blocks() -> tuple[str, str]:
    """100 blocks, two of them held at once, which no rules cover."""
    tower = " ".join(f"(on b{i} b{i + 1})" for i in range(99))
    loose = [f"(clear b{i}) (on-table b{i})" for i in range(100)]
    held = " ".join(["(holding b0) (holding b1)", *loose[2:]])
    return blocks(100, " ".join(["(arm-empty)", *loose]), tower), blocks(100, held, tower)


def circles() -> tuple[str, str]:
    """Towers that stand on themselves: each way to break four circles is tried."""
    towers = [[f"(on b{60 * t + i} b{60 * t + (i + 1) % 60})" for i in range(60)] for t in range(4)]
    init = "(arm-empty) " + " ".join(atom for tower in towers for atom in tower)
    return blocks(240, "(arm-empty)", ""), blocks(240, init, "(holding b0)")


def on_themselves() -> tuple[str, str]:
    """Fifty blocks that stand on themselves: a part that breaks no assumption lacks fifty atoms."""
    init = " ".join(f"(on b{i} b{i})" for i in range(50))
    return blocks(50, "(arm-empty)", ""), blocks(50, init, "(holding b0)")


def corridor() -> tuple[str, str]:
    """Robots that walk through a long corridor: a plan of millions of actions."""
    tiles, robots = range(3000), range(1500)
    kinds = f"{' '.join(f't{i}' for i in tiles)} - tile {' '.join(f'r{i}' for i in robots)} - robot c - color"
    init = [f"(right t{i + 1} t{i})" for i in tiles[:-1]] + ["(available-color c)"]
    init += [f"(robot-at r{i} t{i}) (robot-has r{i} c)" for i in robots]
    goal = [f"(robot-at r{i} t{2999 - i})" for i in robots]
    text = "(define (problem p) (:domain floor-tile) (:objects {}) (:init {}) (:goal (and {})))"
    return text.format(kinds, " ".join(init), goal[0]), text.format(kinds, " ".join(init), " ".join(goal))


def boards() -> tuple[str, str]:
    return random_goal(6, 1), random_goal(6, 2)


@pytest.mark.parametrize("pair", [held_blocks, circles, corridor, boards])
def test_no_row_takes_longer_than_its_budget(pair: Callable[[], tuple[str, str]]) -> None:
    reference, answer = pair()
    row = {"reference_problem": [reference], "generated_problem": [answer]}
    table = pa.table(row | ({"domain": [DOMAIN]} if pair is boards else {}))
    start = thread_time()
    (scored,) = score_table(table, ScoringOptions(row_seconds=0.5)).to_pylist()
    assert thread_time() - start < 1.5
    assert scored["score_error"] is None
    assert scored["parseable"] is True


@pytest.mark.parametrize("pair", [circles, on_themselves])
def test_blocks_in_circles_take_a_moment(pair: Callable[[], tuple[str, str]]) -> None:
    start = thread_time()
    assert compare_problems(*pair()).solvable is False
    assert thread_time() - start < 0.5


@pytest.mark.slow
def test_a_hard_reference_leaves_time_for_what_is_right_as_written() -> None:
    reference = random_goal(6, 1)
    renamed = re.sub(r"\b([a-z]+)(\d+)\b", r"\1-\2", reference)
    table = pa.table({"reference_problem": [reference], "generated_problem": [renamed], "domain": [DOMAIN]})
    (scored,) = score_table(table, ScoringOptions()).to_pylist()
    assert (scored["verdict"], scored["equivalent"]) == ("isomorphic", True)


def test_long_plans_are_carried_out_in_linear_time() -> None:
    loose = " ".join(["(arm-empty)", *(f"(clear b{i}) (on-table b{i})" for i in range(2000))])
    tower = [f"(on b{i} b{i + 1})" for i in range(1999)]
    reference = blocks(2000, loose, " ".join(tower))
    start = thread_time()
    verdict = compare_problems(reference, blocks(2000, loose, " ".join(tower[1:])))
    assert (verdict.equivalent, verdict.solvable) == (False, True)
    assert thread_time() - start < 2
