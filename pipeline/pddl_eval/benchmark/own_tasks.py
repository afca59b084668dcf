"""Tasks of one's own: problems in any domain, new and all different, each with a plan and what is known of it.

A *family* are tasks with one initial state. Its states are enumerated once, breadth first: a goal that is drawn from
one of them has the shortest plan for free, also where there are too many states to see them all. Goals beyond them come
from a random walk, with the shorter of its plan and the kernel's. The certificates of a family are computed in one
batch; a task whose certificate is unknown, taken or excluded is left out. ``starts`` draws initial states.

Families are drawn by their numbers, and the wishes of a family (how long its plans are to be) follow from the families
``LAG`` places before it: so the number of workers changes no task.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import islice
from random import Random
from typing import NamedTuple, get_args, get_type_hints

import pyarrow as pa

from pddl_eval import kernel
from pddl_eval.benchmark.questions import bounded, needed
from pddl_eval.benchmark.starts import Starts, walk
from pddl_eval.definition.budget import OutOfBudgetError, spend
from pddl_eval.definition.domains import PlanningDomain, chosen_domain
from pddl_eval.definition.formulas import World
from pddl_eval.definition.model import (
    TOTAL_COST,
    Action,
    Atom,
    Operator,
    Problem,
    State,
    problem_to_pddl,
    show_atom,
    words_of,
)
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.definition.pddl import Unreadable
from pddl_eval.definition.planning import executed
from pddl_eval.definition.state_space import Node, Values, goal_costs, state_space
from pddl_eval.definition.task import Task, problem_in
from pddl_eval.definition.validation import Failure, is_goal, taken, without_costs
from pddl_eval.definition.verdict import Undecided, Unsolvable
from pddl_eval.errors import UserError
from pddl_eval.run import ordered_map

MOST_STATES = 1_500
"""States of a family that are enumerated, at most."""

GOALS = 16
"""Goals that are drawn for a family."""

WALK = 4
"""Length of a family's walk, in longest plans that are asked for."""

LAG = 48
"""Families until what was found counts for the wishes of others: ``ordered_map`` has three under way a worker."""

MOST_WORKERS = LAG // 3

MOST_SEEDS = 500
"""Seeds that are read: the first of those that are problems of the domain."""

PATIENCE = LAG
"""Families of the largest size without a task of some length, after which it is given up."""

WINDOW, ENOUGH = 16, 4
"""Larger families are wished for where so many in a row have fewer new tasks than this on average."""

LOOKS = 3_000
"""Most work for a family (``budget.WORK_PER_LOOK``), about three seconds: the same tasks on every machine."""

SMALLEST, LARGEST = 2, 16
"""Most objects that an initial state has more than its seed, at the beginning and at the end."""


class OwnTask(NamedTuple):
    """A task and what is known of it: the columns of the output.

    ``reference_id`` is its certificate. ``optimal_cost`` is null where it is not proven. ``steps`` are those of
    ``reference_plan``, null with it where ``proof`` says why there is none. ``states`` can be reached, or at least so
    many where not ``states_complete``. ``closure_size`` counts the atoms of cl(goal).
    """

    reference_problem: str
    reference_plan: str | None
    domain: str
    reference_id: str
    optimal_cost: float | None
    steps: int | None
    states: int
    states_complete: bool
    closure_size: int | None
    proof: str | None


_COLUMN_TYPES = {str: pa.string(), float: pa.float64(), int: pa.int64(), bool: pa.bool_()}

TASKS_SCHEMA = pa.schema(
    [(name, _COLUMN_TYPES[(*get_args(type_), type_)[0]]) for name, type_ in get_type_hints(OwnTask).items()]
)

Plan = tuple[Action, ...]

Wish = tuple[tuple[int | None, ...], int]
"""Lengths of plans that are asked for (None: unsolvable), and the size of the initial state."""


@dataclass(frozen=True)
class OwnTasks:
    """Which tasks are made: in which domain, from which seeds, with plans from how many steps to how many.

    ``domain`` is a known domain's name or a PDDL text, ``seeds`` are texts of problems. ``unsolvable`` is the share of
    tasks without a plan. ``excluded`` are certificates; ``admits`` says which others may be drawn. Raises
    ``UserError``.

    >>> tasks = [*OwnTasks("blocksworld", steps=(2, 4), seed=7).draw(6)]
    >>> sorted(task.steps for task in tasks), len({task.reference_id for task in tasks})
    ([2, 2, 3, 3, 4, 4], 6)
    """

    domain: str
    seeds: Sequence[str] = ()
    steps: tuple[int, int] = (1, 20)
    seed: int | str = 0
    unsolvable: float = 0.0
    excluded: Collection[str] = field(default=frozenset(), repr=False)
    admits: Callable[[str], bool] | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.steps[0] <= self.steps[1]:
            raise UserError(f"steps go from at least 1 upwards, not from {self.steps[0]} to {self.steps[1]}")
        if not 0 <= self.unsolvable < 1:
            raise UserError(f"the share of unsolvable tasks is from 0 to below 1, not {self.unsolvable}")
        _ = self._starts

    @cached_property
    def _planning_domain(self) -> PlanningDomain:
        return chosen_domain(self.domain)

    @cached_property
    def _starts(self) -> Starts:
        domain, seeds = self._planning_domain, []
        for text in self.seeds:
            problem = problem_in(domain, text)
            why = problem.detail if isinstance(problem, Unreadable) else self._lacks_costs(problem)
            # A dataset may have problems of other domains; a text alone is meant.
            if isinstance(problem, Unreadable) or why:
                if len(self.seeds) == 1:
                    raise UserError(f"the seed cannot be used: {why}")
            elif len(self.seeds) == 1 or problem.domain == domain.name:
                seeds.append(problem)
        if self.seeds and not seeds:
            raise UserError(f"none of the {len(self.seeds):,} seeds is a problem of the domain {domain.name}")
        return Starts(domain, seeds[:MOST_SEEDS])

    def _lacks_costs(self, problem: Problem) -> str:
        """Which costs the problem gives no value: the domain's actions cannot be executed in it."""
        domain = self._planning_domain.domain
        if without_costs(problem, domain) is domain:
            return ""
        said = {word for each in domain.operators for _, form in each.formulas for word in words_of(form)}
        lacking = sorted(said.intersection(domain.functions) - {TOTAL_COST})
        return f"it gives {lacking[0]}, which actions cost, no value" if lacking else ""

    def draw(self, count: int, workers: int = 1) -> Iterator[OwnTask]:
        """That many tasks, as many of each length of plans; fewer where no others are found.

        Where plans of some length are not found, those of other lengths are more. Raises ``EngineError``.
        """
        balance = _Balance(self, count)
        wishes = deque([balance.wish] * LAG)

        def families() -> Iterator[tuple[int, Wish]]:
            number = 0
            while wishes:
                yield number, wishes.popleft()
                number += 1

        taken = {*self.excluded}
        for family in ordered_map(self.family, families(), min(workers, MOST_WORKERS), "generate tasks"):
            new = 0
            for task in family:
                if task.reference_id not in taken and balance.takes(task.steps):
                    taken.add(task.reference_id)
                    new += 1
                    yield task
                    if not balance.left:
                        return
            balance.count(new)
            if not balance.left:
                return
            wishes.append(balance.wish)

    def family(self, numbered: tuple[int, Wish]) -> list[OwnTask]:
        """The tasks of a family, given its number and what is wished for; empty where none are found in time."""
        number, (lengths, size) = numbered
        random = Random(f"{self.seed} {number}")
        try:
            with bounded(LOOKS):
                start = self._starts.draw(random, size)
                metric = tuple(each for each in start.formulas if each[0] == ":metric")
                family = _Family(self, replace(start, goal=frozenset(), formulas=metric), random, number)
                # The goal of a seed is known, that of a configuration is one of many.
                return family.tasks(lengths, frozenset() if self.seeds else start.goal)
        except OutOfBudgetError:
            return []


class _Balance:
    """How many tasks are still asked for, by the lengths of their plans; ``left`` is empty at the end."""

    def __init__(self, tasks: OwnTasks, count: int) -> None:
        unsolvable = round(count * tasks.unsolvable)
        first, last = tasks.steps
        self.left = _shared(count - unsolvable, range(first, min(last, first + count - 1) + 1))
        if unsolvable:
            self.left[None] = unsolvable
        self.found: Counter[int | None] = Counter()
        self.since: Counter[int | None] = Counter()
        self.size, self.recent, self.families = SMALLEST, 0, 0

    @property
    def wish(self) -> Wish:
        return tuple(self.left), self.size

    def takes(self, length: int | None) -> bool:
        """Whether a task of that length is still asked for; then there is one less."""
        if length not in self.left:
            return False
        self.left[length] -= 1
        self.found[length] += 1
        self.since[length] = 0
        if not self.left[length]:
            del self.left[length]
        return True

    def count(self, new: int) -> None:
        """Count a family: larger ones are wished for where few of its tasks are new."""
        self.recent, self.families = self.recent + new, self.families + 1
        if self.families % WINDOW == 0:
            self.size = min(LARGEST, self.size + 4 * (self.recent < ENOUGH * WINDOW))
            self.recent = 0
        for length in [*self.left] if self.size == LARGEST else ():
            self.since[length] += 1
        given_up = [length for length in self.left if self.since[length] >= PATIENCE]
        lost = sum(self.left.pop(length) for length in given_up)
        others = [length for length in self.found if length is not None and self.since[length] < PATIENCE]
        for length, more in _shared(lost, others).items() if others else ():
            self.left[length] = self.left.get(length, 0) + more


def _shared(count: int, lengths: Collection[int]) -> dict[int | None, int]:
    """The number shared out, as evenly as can be."""
    each, rest = divmod(count, len(lengths))
    return {length: each + (place < rest) for place, length in enumerate(lengths) if each + (place < rest)}


class _Drawn(NamedTuple):
    """A goal, and a plan that is known for it; ``is_shortest`` where that is proven."""

    problem: Problem
    plan: Plan | None
    is_shortest: bool


class _Family:
    """Tasks with one initial state."""

    def __init__(self, tasks: OwnTasks, start: Problem, random: Random, number: int) -> None:
        self.asked, self.start, self.random = tasks, start, random
        self.domain = chosen_domain(tasks.domain)
        self.name = f"{self.domain.name}-{tasks.seed}-{number}"
        self.solved_in = without_costs(start, self.domain.domain)
        self.space = state_space(start, self.solved_in)
        self.nodes = [*islice(self.space, MOST_STATES + 1)]
        self.is_complete = len(self.nodes) <= MOST_STATES and self.space.limit is None
        self.depths = {self.space.start: 0}
        for node in self.nodes[1:]:
            self.depths[node] = self.depths[self.space.into[node][0][2]] + 1
        self.having: dict[Atom, int] = defaultdict(int)
        """The numbers of the states that have an atom, as a bit set."""
        for place, (atoms, _) in enumerate(self.nodes):
            for atom in atoms:
                self.having[atom] |= 1 << place
        self.every = (1 << len(self.nodes)) - 1
        self.world = World(start, self.solved_in)
        self.changing = frozenset(atom for atom, places in self.having.items() if places != self.every)

    def tasks(self, lengths: Sequence[int | None], given: State) -> list[OwnTask]:
        """Tasks whose plans have one of these lengths, as far as they are found soon; one with a given goal."""
        by_depth: dict[int, list[Node]] = defaultdict(list)
        for node, depth in self.depths.items():
            by_depth[depth].append(node)
        deepest = max(by_depth)
        goals: dict[State, _Drawn] = {given: self._reached(given)} if given else {}
        for length in self.random.choices(lengths, k=GOALS):
            if length is None:
                drawn = self._unsolvable()
            elif length in by_depth:
                drawn = self._near(self.random.choice(by_depth[length]), length)
            elif length > deepest and not self.is_complete:
                drawn = self._far(length)
            else:
                continue
            if drawn is not None and drawn.problem.goal:
                goals.setdefault(drawn.problem.goal, drawn)
        named = [
            each._replace(problem=replace(each.problem, name=f"{self.name}-{place}"))
            for place, each in enumerate(goals.values())
        ]
        return [task for task in self._known(named) if task.steps in lengths]

    def _goal(self, node: Node, deep_enough: Callable[[State], bool]) -> State:
        """Some of what is true in a state and not in all: the whole, or little more than is deep enough."""
        atoms = sorted(self.changing.intersection(node[0]) if self.is_complete else node[0] & self._fluents)
        self.random.shuffle(atoms)
        if self.random.random() < 1 / 4:
            return frozenset(atoms)
        least = next((n for n in range(1, len(atoms)) if deep_enough(frozenset(atoms[:n]))), len(atoms))
        return frozenset(atoms[: self.random.randint(least, min(len(atoms), 2 * least))])

    @cached_property
    def _fluents(self) -> State:
        return frozenset(atom for node in self.nodes for atom in node[0] if atom[0] in self.domain.fluents)

    def _near(self, node: Node, depth: int) -> _Drawn:
        """A goal that the states of this depth are the first to have."""
        return self._reached(self._goal(node, lambda atoms: self.depths[self._first(atoms)] >= depth))

    def _reached(self, goal: State, plan: Plan | None = None) -> _Drawn:
        """The goal with the shortest plan to a state that was enumerated, else with the given one."""
        problem = replace(self.start, goal=goal)
        if self._places(goal):
            return _Drawn(problem, self.space.plan_to(self._first(goal)), True)
        return _Drawn(problem, plan, False)

    def _first(self, atoms: State) -> Node:
        """The first of the states that have these atoms, which some state has."""
        places = self._places(atoms)
        return self.nodes[(places & -places).bit_length() - 1]

    def _places(self, atoms: State) -> int:
        places = self.every
        for atom in atoms:
            places &= self.having.get(atom, 0)
        return places

    def _unsolvable(self) -> _Drawn | None:
        """Atoms of two states that no state that was found has together."""
        if len(self.nodes) < 3:
            return None
        one, other = self.random.sample(self.nodes, 2)
        goal = self._goal(one, bool) | self._goal(other, bool)
        return None if self._places(goal) else _Drawn(replace(self.start, goal=goal), None, False)

    def _far(self, length: int) -> _Drawn | None:
        """A goal from a state of the walk, beyond the states that were enumerated."""
        if len(self._walk) <= length:
            return None
        last = self.random.randint(length, min(len(self._walk) - 1, 3 * length))
        node = self._walk[last][0]
        goal = frozenset(atom for atom in node[0] if atom[0] in self.domain.fluents)
        if self.random.random() < 1 / 2:
            goal = frozenset(self.random.sample(sorted(goal), self.random.randint((len(goal) + 1) // 2, len(goal))))
        return self._reached(goal, self._without_circles(last))

    @cached_property
    def _walk(self) -> list[tuple[Node, Action]]:
        longest = WALK * self.asked.steps[1]
        return [(node, operator.action) for node, operator in islice(walk(self.space, self.random), longest)]

    def _without_circles(self, last: int) -> Plan:
        plan: list[Action] = []
        reached = {self.space.start: 0}
        for node, action in self._walk[: last + 1]:
            plan.append(action)
            if node in reached:
                del plan[reached[node] :]
                reached = {each: place for each, place in reached.items() if place <= len(plan)}
            reached[node] = len(plan)
        return tuple(plan)

    def _known(self, drawn: Sequence[_Drawn]) -> Iterator[OwnTask]:
        """What is known of these goals, of those whose certificates are."""
        if not drawn:
            return
        texts = [problem_to_pddl(each.problem) for each in drawn]
        pairs = [(text, text) for text in texts]
        of_kernel = kernel.problem_pairs(pairs, False, self.asked.domain, ScoringOptions()) or [None] * len(texts)
        for each, text, found in zip(drawn, texts, of_kernel, strict=True):
            task, (verdict, closed) = Task(each.problem, self.domain), found or (None, None)
            if closed is None and not (self.is_complete or task.start is not None):
                continue  # Its states would be enumerated, for one task alone.
            closure = task.closure if closed is None else closed
            certificate = (verdict.reference_certificate if verdict else None) or task.certificate
            if isinstance(certificate, Undecided) or isinstance(closure, Undecided):
                continue
            if self.asked.admits is not None and not self.asked.admits(certificate):
                continue
            states = len(self.nodes), self.is_complete
            row = OwnTask(text, None, self.asked.domain, certificate, None, None, *states, None, None)
            if isinstance(closure, Unsolvable):
                yield row._replace(proof=closure.reason)
            elif plans := [plan for plan in (each.plan, verdict.plan if verdict else None) if plan is not None]:
                plan, cost = self._best(each, plans)
                executed(plan, each.problem, self.domain.domain)
                written = "\n".join(map(show_atom, plan))
                yield row._replace(
                    reference_plan=written, optimal_cost=cost, steps=len(plan), closure_size=len(closure)
                )

    def _best(self, drawn: _Drawn, plans: Sequence[Plan]) -> tuple[Plan, float | None]:
        """The best plan that is known, and its cost where none is cheaper."""
        problem = drawn.problem
        if problem.metric is not None and self.is_complete:
            return self._cheapest(problem) or (plans[0], None)
        if drawn.is_shortest:
            return plans[0], None if problem.metric else float(len(plans[0]))
        return needed(min(plans, key=len), partial(self._reaches_goal, problem)), None

    def _cheapest(self, problem: Problem) -> tuple[Plan, float] | None:
        """A cheapest plan, and the shortest of them; None where its cost is not decided."""
        costs = goal_costs(problem, self.domain.domain)
        if isinstance(costs, Undecided) or costs.optimal_cost is None:
            return None
        plans: dict[Node, Plan] = {costs.space.start: ()}
        for node in (waiting := [*plans]):
            if problem.goal <= node[0]:
                return plans[node], float(costs.optimal_cost)
            for operator, updates, after in self._onwards[node]:
                cost = 1 if costs.counter is None else updates.get(costs.counter, 0)
                if after not in plans and after in costs.to_goal and cost + costs.to_goal[after] == costs.to_goal[node]:
                    plans[after] = (*plans[node], operator.action)
                    waiting.append(after)
        raise AssertionError(f"no cheapest plan leads to the goal of {problem.name}")

    @cached_property
    def _onwards(self) -> dict[Node, list[tuple[Operator, Values, Node]]]:
        """The steps from each state."""
        found = defaultdict(list)
        for after, steps in self.space.into.items():
            for operator, updates, node in steps:
                found[node].append((operator, updates, after))
        return found

    def _reaches_goal(self, problem: Problem, plan: Plan) -> bool:
        """As ``execute_actions`` says it; the operators are made once for all plans of the family."""
        self.world.become(problem.init, problem.values)
        for action in plan:
            step = taken({action}, self.world)
            if isinstance(step, Failure):
                return False
            self.world.change(*step)
        spend(len(plan))
        return is_goal(problem, self.world)
