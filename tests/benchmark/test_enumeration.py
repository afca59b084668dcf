"""The benchmark as enumerated: table 1 of the paper, and the same problems as the published dataset, task by task."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from pddl_eval.benchmark.enumeration import PAIRS, Pair, benchmark_pairs, size_bucket
from pddl_eval.definition.model import Problem
from pddl_eval.definition.pddl import parse_problem
from pddl_eval.scoring.api import certificate

from tests.support.benchmark_problems import all_problems, problems_of
from tests.support.shared_problems import SHARED_PROBLEMS

# Table 1 of the Planetarium paper.
TABLE_1 = {
    "blocksworld": (22595, 20152, 20152, 22706, 963, 10011, 47153, 25766, 1712, 80612, 4993),
    "gripper": (13683, 10565, 12466, 17427, 2334, 13640, 16405, 20325, 1437, 49363, 4778),
    "floor-tile": (2289, 797, 793, 2293, 706, 2114, 2224, 404, 724, 0, 6172),
}
COLUMNS = (
    *("explicit-explicit", "explicit-abstract", "abstract-explicit", "abstract-abstract"),
    *("1-20", "21-40", "41-60", "61-80", ">80", "train", "test"),
)

SAME_UP_TO_RENAMING = ("gripper", "holding", "pickup")
"""Here the published goals give the waiting balls to the free grippers in no particular order."""

Row = tuple[str, str, str, str, bool, str, int]
"""Domain, initial and goal configuration, abstractness, is_placeholder, split, and the problem by its number."""


class Numbering:
    """Numbers for problems, the same for those with the same objects and atoms; a problem is looked at once a name."""

    def __init__(self) -> None:
        self.numbers: dict[tuple[object, ...], int] = {}
        self.by_name: dict[str, int] = {}
        self.problems: list[Problem] = []

    def number(self, name: str, make: Callable[[], Problem]) -> int:
        if name not in self.by_name:
            problem = make()
            content = problem.domain, frozenset(problem.objects.items()), problem.init, problem.goal
            self.by_name[name] = self.numbers.setdefault(content, len(self.numbers))
            if len(self.problems) < len(self.numbers):
                self.problems.append(problem)
        return self.by_name[name]


@pytest.fixture(scope="module")
def numbering() -> Numbering:
    return Numbering()


@pytest.fixture(scope="module")
def pairs() -> list[Pair]:
    return list(benchmark_pairs(all_problems()))


@pytest.fixture(scope="module")
def ours(pairs: list[Pair], numbering: Numbering) -> Counter[Row]:
    return Counter(_row(pair, numbering) for pair in pairs)


@pytest.fixture(scope="module")
def theirs(numbering: Numbering) -> Counter[Row]:
    if not SHARED_PROBLEMS.exists():
        pytest.skip("the published problems are not here")
    told = {True: "abstract", False: "explicit"}
    table = pq.read_table(SHARED_PROBLEMS, filters=pc.field("domain") != "rover-single")
    columns = (
        "domain",
        "init",
        "goal",
        "init_is_abstract",
        "goal_is_abstract",
        "is_placeholder",
        "split",
        "problem_pddl",
    )
    return Counter(
        (
            *(domain, init, goal, f"{told[init_told]}-{told[goal_told]}", is_placeholder, split),
            numbering.number(text, partial(parse_problem, text)),
        )
        for domain, init, goal, init_told, goal_told, is_placeholder, split, text in zip(
            *(table[column].to_pylist() for column in columns), strict=True
        )
    )


def _task(pair: Pair) -> tuple[str, str, str]:
    return pair.described.problem.domain, pair.described.task_init, pair.described.task_goal


def _row(pair: Pair, numbering: Numbering) -> Row:
    described = pair.described
    number = numbering.number(described.problem.name, lambda: described.problem)
    return (*_task(pair), pair.abstractness, pair.is_placeholder, described.split, number)


@pytest.mark.parametrize(
    "domain", ["floor-tile", *(pytest.param(each, marks=pytest.mark.slow) for each in ("blocksworld", "gripper"))]
)
def test_table_1(domain: str) -> None:
    counts = Counter(
        column
        for pair in benchmark_pairs(problems_of(domain))
        for column in (pair.abstractness, size_bucket(pair.described.size), pair.described.split)
    )
    assert tuple(counts[column] for column in COLUMNS) == TABLE_1[domain]
    assert sum(sum(row[-2:]) for row in TABLE_1.values()) == PAIRS == 145_918


@pytest.mark.slow
def test_there_are_73_tasks_and_a_name_for_each_problem(pairs: list[Pair]) -> None:
    assert len({_task(pair) for pair in pairs}) == 73
    assert len({pair.described.problem.name for pair in pairs}) == 42_426


@pytest.mark.slow
def test_a_description_belongs_to_one_pair(pairs: list[Pair]) -> None:
    assert len({pair.description for pair in pairs}) == len(pairs)


@pytest.mark.slow  # It reads and names 42,000 problems.
def test_the_published_problems_task_by_task(ours: Counter[Row], theirs: Counter[Row], numbering: Numbering) -> None:
    """The same pairs, with their abstractness, split and is_placeholder, atom for atom but for the one task above."""

    def up_to_renaming(rows: Counter[Row]) -> Counter[tuple[object, ...]]:
        return Counter((*row[:-1], certificate(numbering.problems[row[-1]])) for row in rows.elements())

    missing, extra = theirs - ours, ours - theirs
    assert {row[:3] for row in [*missing, *extra]} == {SAME_UP_TO_RENAMING}
    assert up_to_renaming(missing) == up_to_renaming(extra)
