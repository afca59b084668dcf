"""Tasks of one's own: judged by an interpreter that shares no code with the program, and the same however many work."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from itertools import combinations, islice
from typing import Any

import pytest
from pddl_eval.benchmark import OwnTask, OwnTasks, own_tasks
from pddl_eval.benchmark.starts import Starts
from pddl_eval.definition.domains import planning_domain
from pddl_eval.definition.task import task_of
from pddl_eval.errors import UserError

from tests.corpus import CORPUS, DELIVERIES_WITH_COSTS
from tests.judges import equivalence, interpreter

NUMBER = 12


def tasks_of(name: str, **settings: Any) -> OwnTasks:
    seed = DELIVERIES_WITH_COSTS if name == "deliveries" else CORPUS[name].problem
    return OwnTasks(CORPUS[name].domain, [seed], **{"steps": (1, 4), "seed": 3, **settings})


@pytest.fixture(scope="module", params=["logistics", "lift-adl", "deliveries", "blocks", "ferry"])
def drawn(request: pytest.FixtureRequest) -> tuple[str, list[OwnTask]]:
    name = request.param
    return CORPUS[name].domain, [*tasks_of(name, unsolvable=0.2).draw(NUMBER)]


def test_a_seed_gives_costs_their_values() -> None:
    """An action whose cost has no value cannot be executed: plans of such tasks would not be valid."""
    with pytest.raises(UserError, match="length"):
        OwnTasks(CORPUS["deliveries"].domain, [CORPUS["deliveries"].problem])
    several = OwnTasks(CORPUS["deliveries"].domain, [CORPUS["deliveries"].problem, DELIVERIES_WITH_COSTS], steps=(1, 3))
    assert all("(= (length a b) 3)" in task.reference_problem for task in several.draw(6))


def test_plans_costs_and_states_are_what_the_judge_says(drawn: tuple[str, list[OwnTask]]) -> None:
    domain, tasks = drawn
    assert len(tasks) == NUMBER
    for task in tasks:
        if task.states > 300:
            continue
        judged = interpreter.read(domain, task.reference_problem)
        states = interpreter.reachable_states(judged)
        assert task.states_complete and task.states == len(states)
        goal_states = [state for state in states if interpreter.satisfied(judged, judged.goal, state)]
        if task.reference_plan is None:
            assert task.proof and not goal_states and task.steps is None
            continue
        plan = [tuple(line.strip("()").split()) for line in task.reference_plan.splitlines()]
        judgement = interpreter.judge_task(judged, plan)
        assert judgement.valid and len(plan) == task.steps
        assert judgement.cost == interpreter.optimal_task_cost(judged) == task.optimal_cost
        always = frozenset.intersection(*(interpreter.with_derived(judged, state) for state in goal_states))
        assert task.closure_size == len(always)


def test_no_two_are_equivalent(drawn: tuple[str, list[OwnTask]]) -> None:
    domain, tasks = drawn
    small = [task for task in tasks if task.states < 100 and task.reference_plan][:5]
    sides = [equivalence.Side(domain, task.reference_problem) for task in small]
    assert not any(equivalence.compared(one, other, False).equivalent for one, other in combinations(sides, 2))
    assert len({task.reference_id for task in tasks}) == len(tasks)


def test_lengths_are_balanced() -> None:
    steps = Counter(task.steps for task in OwnTasks("gripper", steps=(2, 5), seed=1).draw(20))
    assert steps == {2: 5, 3: 5, 4: 5, 5: 5}


def test_lengths_that_are_not_found_are_made_up_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lamp is switched on, or off again: no plan is longer."""
    monkeypatch.setattr(own_tasks, "PATIENCE", 2)
    monkeypatch.setattr(own_tasks, "LARGEST", own_tasks.SMALLEST)
    tasks = [*tasks_of("switches", steps=(1, 9)).draw(9)]
    assert 0 < len(tasks) < 9 and max(task.steps or 0 for task in tasks) <= 3


def test_how_many_work_changes_no_task(monkeypatch: pytest.MonkeyPatch) -> None:
    def eager(function: Callable[[Any], Any], items: Iterable[Any], *_: Any) -> Iterator[Any]:
        waiting, items = deque[Any](), iter(items)
        while True:
            waiting.extend(islice(items, own_tasks.LAG - len(waiting)))
            if not waiting:
                return
            yield function(waiting.popleft())

    asked = tasks_of("ferry", steps=(1, 6))
    alone = [*asked.draw(40)]
    monkeypatch.setattr(own_tasks, "ordered_map", eager)
    assert [*asked.draw(40)] == alone


def test_excluded_problems_are_not_drawn_again() -> None:
    first = [*tasks_of("ferry").draw(6)]
    excluded = {task.reference_id for task in first}
    others = [*tasks_of("ferry", excluded=excluded).draw(6)]
    assert excluded.isdisjoint(task.reference_id for task in others)


def test_objects_are_added_where_others_keep_their_shapes() -> None:
    """No block stands on two, none is held beside another, and no parcel is in two places."""
    from random import Random

    for name, held in [("blocks", "held"), ("logistics", None)]:
        domain = planning_domain(CORPUS[name].domain)
        assert domain is not None
        starts = Starts(domain, [task_of(CORPUS[name].problem, CORPUS[name].domain).problem])
        for seed in range(12):
            problem = starts.draw(Random(seed), 8)
            first = Counter(
                atom[1] for atom in problem.init if atom[0] in ("above", "grounded", "held", "located", "inside")
            )
            assert set(first.values()) <= {1}
            assert sum(atom[0] == held for atom in problem.init) <= 1


@pytest.mark.parametrize(
    ("settings", "word"),
    [({"steps": (0, 3)}, "steps"), ({"steps": (4, 3)}, "steps"), ({"unsolvable": 1.0}, "unsolvable")],
)
def test_what_cannot_be_asked_for_is_said(settings: dict[str, Any], word: str) -> None:
    with pytest.raises(UserError, match=word):
        tasks_of("ferry", **settings)
    with pytest.raises(UserError, match="--from"):
        OwnTasks(CORPUS["ferry"].domain)
    with pytest.raises(UserError, match="none of the 2 seeds"):
        OwnTasks(CORPUS["ferry"].domain, [CORPUS["blocks"].problem, CORPUS["logistics"].problem])
