"""All reachable states of a task, in any PDDL that is executed: what the goal costs from each of them, exactly.

The states are enumerated with the validator's own steps; the least costs are found backwards from the goal states
(Dijkstra's algorithm). So a plan can be called optimal, and each of its steps be judged.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, replace
from fractions import Fraction
from heapq import heappop, heappush
from math import inf
from typing import cast

from pddl_eval.definition.budget import spend
from pddl_eval.definition.formulas import WORK_PER_EVALUATION, World
from pddl_eval.definition.grounding import GroundingLimitError, reachable_operators
from pddl_eval.definition.model import (
    TOTAL_COST,
    UPDATES,
    Action,
    Atom,
    Domain,
    Formula,
    Operator,
    Problem,
    State,
    show_formula,
)
from pddl_eval.definition.validation import Failure, ground_operator, is_goal, taken
from pddl_eval.definition.verdict import Undecided

MAX_STATES = 20_000
"""States of a task that are enumerated."""

MOST_ATOMS = 4_000_000
"""Atoms and numbers of all states that are kept, some 250 megabytes."""

MOST_WORK = 2_000_000
"""Work (``budget.spend``) to enumerate the states of a problem that is compared, two or three seconds. It is a count:
the answer is the same on every machine, and kept."""

WORK_PER_STEP = 20
"""Work (``budget.spend``) to apply an operator to a state; to see whether that can be takes a unit."""

READ = "read"
"""How a formula uses what no effect in it updates."""

Values = Mapping[Atom, Fraction]

Node = tuple[State, frozenset[tuple[Atom, Fraction]]]
"""A state: its atoms, and the values of its fluents that may change."""


@dataclass(frozen=True, slots=True)
class StateSpace:
    """``to_goal``: what the goal costs at least from each reachable state from which it can be reached.

    ``counter`` is the fluent that counts costs; None where each action costs 1. ``base`` is its value in the initial
    state, ``start``. ``changing`` are the functions that effects update and on which it depends what can be done,
    ``read`` those on whose values it depends.
    """

    start: Node
    counter: Atom | None
    base: Fraction
    changing: frozenset[str]
    read: frozenset[str]
    to_goal: Mapping[Node, Fraction]

    @property
    def optimal_cost(self) -> Fraction | None:
        """The cost of the cheapest plans; None where there is no plan."""
        least = self.to_goal.get(self.start)
        return None if least is None else self.base + least

    def node(self, atoms: Iterable[Atom], values: Values) -> Node:
        """A state with these numbers, as it is told from others."""
        return node_of(atoms, values, self.changing, self.read)


def state_space(problem: Problem, domain: Domain) -> StateSpace | Undecided:
    """The reachable states of a task in a domain of which nothing is refused, with what the goal costs from each.

    ``Undecided`` where there are more than ``MAX_STATES``, a bound of grounding is hit, or the metric is another than
    the least value of one fluent that effects only increase. Raises ``OutOfBudgetError``.

    >>> from pddl_eval.definition.pddl import parse_domain
    >>> lamp = parse_domain("(define (domain d) (:action switch :precondition (off) :effect (and (on) (not (off)))))")
    >>> state_space(Problem("p", "d", {}, frozenset({("off",)}), frozenset({("on",)})), lamp).optimal_cost
    Fraction(1, 1)
    """
    counter = _counter(problem, {*_uses((*_formulas(domain), *problem.conjuncts))})
    if isinstance(counter, Undecided):
        return counter
    exploration = Exploration(problem, domain)
    goals = [node for node in exploration if is_goal(problem, exploration.world)]
    if exploration.limit is not None:
        return exploration.limit
    into: dict[Node, list[tuple[Fraction, Node]]] = {}
    for after, steps in exploration.into.items():
        # What only counts is 0 in a node.
        costs = (Fraction(1) if counter is None else updates.get(counter, Fraction(0)) for _, updates, _ in steps)
        into[after] = [(cost, before) for cost, (_, _, before) in zip(costs, steps, strict=True)]
        for cost, _ in into[after]:
            if cost < 0:
                return Undecided(f"a step has a cost below 0, {cost}")
    base = problem.values.get(counter or (), Fraction(0))
    least = _least_costs(goals, into)
    return StateSpace(exploration.start, counter, base, exploration.changing, exploration.read, least)


class Exploration:
    """The reachable states of a task, breadth first; an iteration yields them while ``world`` is in each.

    ``read`` are the functions on whose values it depends what can be done, or whether the goal holds, and those that
    are asked for in ``reading``: states are told apart by their values. ``into`` has the
    steps that lead into each state that was found, the first one first. ``limit`` says why the iteration ended before
    all states were found; None where it did not.

    >>> from pddl_eval.definition.pddl import parse_domain
    >>> lamp = parse_domain("(define (domain d) (:action switch :precondition (off) :effect (and (on) (not (off)))))")
    >>> exploration = Exploration(Problem("p", "d", {}, frozenset({("off",)}), frozenset()), lamp)
    >>> [sorted(atoms) for atoms, _ in exploration]
    [[('off',)], [('on',)]]
    """

    def __init__(
        self, problem: Problem, domain: Domain, most_work: float = inf, reading: frozenset[str] = frozenset()
    ) -> None:
        uses = {*_uses((*_formulas(domain), *problem.conjuncts))}
        self.read = reading.union(name for verb, name in uses if verb == READ)
        self._updated = frozenset(name for verb, name in uses if verb != READ)
        # Without a value it cannot be increased; ``total-cost`` always has one, and what only is assigned needs none.
        needed = {name for verb, name in uses if verb not in (READ, "assign")} - {TOTAL_COST[0]}
        self.changing = self._updated & (self.read | needed)
        self.world = World(problem, domain)
        self.start = node_of(self.world.atoms, self.world.values, self.changing, self.read)
        self.into: dict[Node, list[tuple[Action, Values, Node]]] = {self.start: []}
        self.limit: Undecided | None = None
        self._most_work = most_work
        self._operators: list[Operator] = []
        try:
            self._operators = _operators(problem, domain)
        except GroundingLimitError as limit:
            self.limit = Undecided(str(limit))

    def __iter__(self) -> Iterator[Node]:
        world, waiting, work, kept = self.world, deque([self.start]), 0, sum(map(len, self.start))
        fixed = {fluent: value for fluent, value in world.values.items() if fluent[0] not in self._updated}
        while waiting and self.limit is None:
            if work + WORK_PER_EVALUATION * world.evaluations > self._most_work:
                self.limit = Undecided(
                    f"the states that can be reached take more than {self._most_work:,} steps of work"
                )
                return
            node = waiting.popleft()
            atoms, values = node[0], dict(node[1])
            world.become(atoms, {**fixed, **values})
            yield node
            steps = _steps(self._operators, world)
            work += len(self._operators) + WORK_PER_STEP * len(steps)
            for (done,), updates in steps:
                after = node_of(done.apply(atoms), {**values, **updates}, self.changing, self.read)
                if after not in self.into:
                    kept += sum(map(len, after))
                    if kept > MOST_ATOMS:
                        self.limit = Undecided(f"the states that can be reached have more than {MOST_ATOMS:,} atoms")
                        return
                    if len(self.into) == MAX_STATES:
                        self.limit = Undecided(f"more than {MAX_STATES:,} states can be reached")
                        return
                    self.into[after] = []
                    waiting.append(after)
                self.into[after].append((done.action, updates, node))

    def plan_to(self, node: Node) -> tuple[Action, ...]:
        """A shortest plan to a state that was found."""
        plan: list[Action] = []
        while node != self.start:
            action, _, node = self.into[node][0]
            plan.append(action)
        return tuple(reversed(plan))


def _steps(operators: list[Operator], world: World) -> list[tuple[tuple[Operator, ...], Values]]:
    """What can be done in a state, one operator at a time."""
    applicable = [
        operator
        for operator in operators
        if operator.preconditions <= world.true and operator.negative_preconditions.isdisjoint(world.true)
    ]
    steps = [step for operator in applicable if not isinstance(step := taken({operator.action}, world), Failure)]
    spend(len(operators) + WORK_PER_STEP * len(applicable))
    return steps


def _least_costs(goals: list[Node], into: Mapping[Node, list[tuple[Fraction, Node]]]) -> dict[Node, Fraction]:
    """What it costs at least to come from each state to a goal state (Dijkstra's algorithm, backwards)."""
    number = {node: index for index, node in enumerate(into)}  # Sets of atoms have no order.
    heap = [(Fraction(0), number[goal], goal) for goal in goals]
    least: dict[Node, Fraction] = {}
    heap.sort()
    while heap:
        paid, _, node = heappop(heap)
        if node in least:
            continue
        least[node] = paid
        for cost, before in into[node]:
            if before not in least:
                heappush(heap, (paid + cost, number[before], before))
        spend(1 + len(into[node]))
    return least


def node_of(atoms: Iterable[Atom], values: Values, changing: Set[str], read: Set[str]) -> Node:
    """A state as it is told from others: of fluents that nothing reads it says only that they have values."""
    if TOTAL_COST[0] in changing:
        values = {TOTAL_COST: Fraction(0), **values}
    told = ((f, value if f[0] in read else Fraction(0)) for f, value in values.items() if f[0] in changing)
    return frozenset(atoms), frozenset(told)


def _counter(problem: Problem, uses: Set[tuple[str, str]]) -> Atom | Undecided | None:
    """The fluent whose least value the metric asks for, if effects only increase it and nothing reads it."""
    metric = problem.metric
    if metric is None:
        return None
    sense, expression = metric[0], metric[1]
    fluent = cast("Atom", (expression,) if isinstance(expression, str) else expression)
    if sense != "minimize" or (fluent not in problem.values and fluent != TOTAL_COST):
        return Undecided(f"the metric {show_formula(metric)} is not the least value of one function")
    if any(name == fluent[0] and verb != "increase" for verb, name in uses):
        return Undecided(f"{show_formula(fluent)} is more than a sum of costs")
    return fluent


def _formulas(domain: Domain) -> tuple[Formula, ...]:
    """The formulas of a domain and of its operators."""
    of_operators = [formula for operator in domain.operators for _, formula in operator.formulas]
    return *[formula for _, formula in domain.formulas], *of_operators


def functions_read(domain: Domain) -> frozenset[str]:
    """The words that formulas of a domain read, the functions on which it depends what can be done among them."""
    return frozenset(name for verb, name in _uses(_formulas(domain)) if verb == READ)


def _uses(formula: Formula) -> Iterator[tuple[str, str]]:
    """The words of formulas: a function that an effect updates with the effect's verb, all others as read."""
    if isinstance(formula, str):
        yield READ, formula
    elif formula[:1] and formula[0] in UPDATES and len(formula) == 3:
        fluent = formula[1]
        yield str(formula[0]), str(fluent if isinstance(fluent, str) else fluent[0])
        yield from _uses(formula[2])
    else:
        for part in formula:
            yield from _uses(part)


def _operators(problem: Problem, domain: Domain) -> list[Operator]:
    """Ground operators among which are all that ever apply.

    Atoms that formulas add, or that are derived, count as true when it is asked what can be reached.
    """
    possible = {name for _, name in _uses(_formulas(domain))}
    relaxed = [
        replace(each, preconditions=frozenset(atom for atom in each.preconditions if atom[0] not in possible))
        for each in domain.operators
    ]
    objects = {**problem.objects, **domain.constants}
    found = reachable_operators(objects, problem.init, replace(domain, operators=tuple(relaxed)))
    ground = (ground_operator(each.action, domain) for each in sorted(found, key=lambda each: each.action))
    return [operator for operator in ground if isinstance(operator, Operator)]
