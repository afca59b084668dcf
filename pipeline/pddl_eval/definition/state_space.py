"""The reachable states of a task in any PDDL that is executed, and what the goal costs from each of them, exactly.

States are enumerated with the validator's own steps, breadth first, by actions in alphabetical order: the way on which
a state is found is the shortest, and of the shortest the first. The goal plays no part: one enumeration serves
cl(goal), plans, counterexamples and costs of all tasks that begin alike. The least costs are found backwards from the
goal states (Dijkstra's algorithm). So a plan can be called optimal, and each of its steps be judged.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from heapq import heappop, heappush
from itertools import chain, count
from typing import cast

from pddl_eval.definition import words
from pddl_eval.definition.budget import spend
from pddl_eval.definition.formulas import ADDITIVE, WORK_PER_EVALUATION, World
from pddl_eval.definition.grounding import (
    GroundingLimitError,
    instances_of,
    may_be_added,
    reachable_operators,
    without_equations,
)
from pddl_eval.definition.kept import kept
from pddl_eval.definition.model import (
    EQUALITY,
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
from pddl_eval.definition.validation import NO_VALUES, Failure, is_goal, taken
from pddl_eval.definition.verdict import Undecided, Unsolvable

MAX_STATES = 20_000
"""States of a task that are enumerated."""

MOST_WORK = 3_000_000
"""Work (``budget.spend``) to enumerate them, about three seconds; an atom of a state counts as a unit, too: there are
at most some 200 megabytes of them. It is a count: the answer is the same on every machine."""

OPERATORS_PER_WORK = 2
"""Operators that are examined in a unit of work."""

WORK_PER_STEP = 2
"""Work to apply an operator to a state, but for formulas."""

WORK_TO_TAKE = 30
"""What it takes to look at an action with formulas, beyond what these are made of: for the row's budget alone."""

READ = "read"
"""How a formula uses what no effect in it updates."""

Values = Mapping[Atom, Fraction]

Node = tuple[State, frozenset[tuple[Atom, Fraction]]]
"""A state: its atoms, and the values of its fluents that may change."""


class StateSpace:
    """The reachable states, as far as somebody asked for them.

    ``read`` are the functions on whose values it depends what can be done, and those that are asked for in ``reading``:
    states are told apart by their values; ``asked`` are among them only for that. ``changing`` are those that effects
    update and on which it depends what can be done. ``actions`` has all that ever apply, and maybe more; None where
    they are too many. ``possible`` has all atoms that are ever true, and maybe more; None beyond STRIPS. ``into`` has
    the steps that lead into each state that was found, the first one first. ``limit`` says why states are missing;
    None where none is.

    >>> from pddl_eval.definition.pddl import parse_domain
    >>> lamp = parse_domain("(define (domain d) (:action switch :precondition (off) :effect (and (on) (not (off)))))")
    >>> space = StateSpace(Problem("p", "d", {}, frozenset({("off",)}), frozenset()), lamp)
    >>> [sorted(atoms) for atoms, _ in space]
    [[('off',)], [('on',)]]
    """

    def __init__(
        self,
        problem: Problem,
        domain: Domain,
        reading: frozenset[str] = frozenset(),
        operators: Sequence[Operator] | None = None,
    ) -> None:
        """``operators`` are those of ``ground_operators``, where they are known."""
        uses = {*_uses(_formulas(domain))}
        read = frozenset(name for verb, name in uses if verb == READ)
        self.read = read | reading
        updated = frozenset(name for verb, name in uses if verb != READ)
        # Without a value it cannot be increased; ``total-cost`` always has one, and what only is assigned needs none.
        needed = {name for verb, name in uses if verb not in (READ, "assign")} - {TOTAL_COST[0]}
        self.changing = updated & (self.read | needed)
        self.asked = (reading & self.changing) - read
        self.domain = domain
        self.fixed = {fluent: value for fluent, value in problem.values.items() if fluent[0] not in updated}
        self.start = self.node(problem.init, problem.values)
        self.into: dict[Node, list[tuple[Operator, Values, Node]]] = {self.start: []}
        self.limit: Undecided | None = None
        self._world = World(problem, domain)
        self._nodes = [self.start]
        self._expanded = self._work = 0
        self._operators: Sequence[Operator] = []
        # Where effects on numbers only count, what an action does with them is the same in each state.
        formulas = _formulas(domain)
        only_counts = updated.isdisjoint(self.read) and all(each[0] in ADDITIVE for each in formulas)
        self._counting: dict[Action, tuple[Operator, Values] | None] | None = {} if only_counts else None
        self.possible: State | None = None
        self.actions: frozenset[Action] | None = None
        try:
            self._operators = ground_operators(problem, domain) if operators is None else operators
            self.actions = frozenset([each.action for each in self._operators])
            if not domain.outside_strips:
                self.possible = problem.init.union(*(operator.add_effects for operator in self._operators))
        except GroundingLimitError as limit:
            self.limit = Undecided(str(limit))

    @cached_property
    def _filed(self) -> Mapping[Atom, Sequence[int]]:
        """The places of the operators by the precondition of each that the fewest have; () where it has none."""
        having = Counter(atom for operator in self._operators for atom in operator.preconditions)
        filed = defaultdict[Atom, list[int]](list)
        for place, operator in enumerate(self._operators):
            filed[min(operator.preconditions, key=having.__getitem__, default=())].append(place)
        return dict(filed)

    @property
    def known_limit(self) -> Undecided | None:
        """Why states will be missing, where that is known before they are listed."""
        return self.limit

    def __iter__(self) -> Iterator[Node]:
        """The states, the initial one first."""
        for number in count():
            while number == len(self._nodes):
                if self.limit is not None or self._expanded == len(self._nodes):
                    return
                self._expand(self._nodes[self._expanded])
            yield self._nodes[number]

    def steps(self, node: Node) -> list[tuple[Operator, Values, Node]]:
        """What can be done in a state: each operator with the values that it updates and the state after it."""
        return self._steps(node)[0]

    def _steps(self, node: Node) -> tuple[list[tuple[Operator, Values, Node]], int]:
        """These, and how much work it was to find them."""
        (atoms, told), world = node, self._world
        values, before = dict(told), world.evaluations
        world.become(atoms, {**self.fixed, **values})
        steps: list[tuple[Operator, Values]] = []
        looked_at = 0
        filed = self._filed
        places = sorted([*filed.get((), ()), *chain.from_iterable(filed[atom] for atom in world.true if atom in filed)])
        for operator in map(self._operators.__getitem__, places):
            if operator.preconditions <= world.true and operator.negative_preconditions.isdisjoint(world.true):
                if not operator.formulas:
                    steps.append((operator, NO_VALUES))
                else:
                    looked_at += self._counting is None
                    if (step := self._taken(operator.action)) is not None:
                        steps.append(step)
        work = len(self._operators) // OPERATORS_PER_WORK + WORK_PER_STEP * len(steps)
        work += WORK_PER_EVALUATION * (world.evaluations - before)
        spend(work + WORK_TO_TAKE * looked_at)
        return [(each, updates, self.node(each.apply(atoms), {**values, **updates})) for each, updates in steps], work

    def _taken(self, action: Action) -> tuple[Operator, Values] | None:
        """The action's operator with the effects that it has in the world's state; None where it cannot be taken."""
        if self._counting is not None and action in self._counting:
            return self._counting[action]
        step = taken({action}, self._world)
        found = None if isinstance(step, Failure) else (step[0][0], step[1])
        if self._counting is not None:
            self._counting[action] = found
        return found

    def _expand(self, node: Node) -> None:
        """Find the states after one."""
        steps, work = self._steps(node)
        self._expanded += 1
        self._work += work
        for operator, updates, after in steps:
            if after not in self.into:
                self._work += sum(map(len, after))
                if len(self.into) == MAX_STATES:
                    self.limit = too_many_states()
                    return
                self.into[after] = []
                self._nodes.append(after)
            self.into[after].append((operator, updates, node))
        if self._work > MOST_WORK and self._expanded < len(self._nodes):
            self.limit = too_much_work()

    def judged(self, problem: Problem) -> Iterator[tuple[Node, State, bool]]:
        """The states, each with all that is true in it, derived atoms included, and whether it has the problem's goal.

        The problem begins like the one of the states.
        """
        if not problem.conjuncts and not self.domain.formulas:
            for node in self:
                yield node, node[0], problem.goal <= node[0]
            return
        world = World(problem, self.domain)
        for node in self:
            world.become(node[0], {**self.fixed, **dict(node[1])})
            yield node, frozenset(world.true), is_goal(problem, world)
            spend(len(node[0]))

    def outgrows(self, problem: Problem) -> bool:
        """True where, before a goal state, what is found and not expanded would take more work than is left.

        Going by the work that the states before took; no limit was hit yet.
        """
        for _, _, has_goal in self.judged(problem):
            if has_goal or self.limit is not None:
                return False
            if (len(self._nodes) - self._expanded) * self._work > (MOST_WORK - self._work) * self._expanded:
                return True
        return False

    def refuted(self, problem: Problem) -> Unsolvable | None:
        """The proof that the problem's goal has an atom that is never true, if that needs no states."""
        objects, init = self._world.objects, self.start[0]
        if self.possible is not None:
            never = iter(sorted(problem.goal - self.possible))
        elif self.actions is not None:
            return None
        else:  # There are too many operators.
            effects = [
                each for operator in self.domain.operators for part, each in operator.formulas if part == ":effect"
            ]
            by_formulas = {name for _, name in _uses((*effects, *(each for _, each in self.domain.formulas)))}
            goal = sorted(problem.goal - init)
            never = (atom for atom in goal if not may_be_added(atom, objects, init, self.domain, by_formulas))
        return next((Unsolvable(words.never_added(atom)) for atom in never), None)

    def plan_to(self, node: Node) -> tuple[Action, ...]:
        """The alphabetically first of the shortest plans to a state that was found."""
        plan: list[Action] = []
        while node != self.start:
            operator, _, node = self.into[node][0]
            plan.append(operator.action)
        return tuple(reversed(plan))

    def node(self, atoms: Iterable[Atom], values: Values) -> Node:
        """A state as it is told from others: of fluents that nothing reads it says only that they have values."""
        if TOTAL_COST[0] in self.changing:
            values = {TOTAL_COST: Fraction(0), **values}
        if not values:
            return frozenset(atoms), frozenset()
        changing = [fluent for fluent in values if fluent[0] in self.changing]
        told = ((fluent, values[fluent] if fluent[0] in self.read else Fraction(0)) for fluent in changing)
        return frozenset(atoms), frozenset(told)


def too_many_states() -> Undecided:
    """Why states are missing."""
    return Undecided(f"more than {MAX_STATES:,} states can be reached")


def too_much_work() -> Undecided:
    """The same for those that are large, or whose steps take long to find."""
    return Undecided(f"the states that can be reached take more than {MOST_WORK:,} steps of work")


def state_space(problem: Problem, domain: Domain, reading: frozenset[str] = frozenset()) -> StateSpace:
    """The states of a problem in a domain of which nothing is refused, with the values that its goal reads.

    Raises ``OutOfBudgetError``.
    """
    updated = {name for verb, name in _uses(_formulas(domain)) if verb != READ}
    asked = {name for _, name in _uses(problem.conjuncts)} & updated
    return kept(
        list_states,
        tuple(problem.objects.items()),
        problem.init,
        frozenset(problem.values.items()),
        domain,
        reading | asked,
    )


def list_states(  # noqa: PLR0913 (what the states depend on, and who lists them)
    objects: tuple[tuple[str, str], ...],
    init: State,
    values: frozenset[tuple[Atom, Fraction]],
    domain: Domain,
    reading: frozenset[str],
    kind: type[StateSpace] = StateSpace,
) -> StateSpace:
    """As ``state_space``, from what the states depend on."""
    return kind(Problem("p", domain.name, dict(objects), init, frozenset(), dict(values)), domain, reading)


@dataclass(frozen=True, slots=True)
class GoalCosts:
    """``to_goal``: what the goal costs at least from each reachable state from which it can be reached.

    ``counter`` is the fluent that counts costs; None where each action costs 1. ``base`` is its value in the initial
    state, ``space.start``.
    """

    space: StateSpace
    counter: Atom | None
    base: Fraction
    to_goal: Mapping[Node, Fraction]

    @property
    def optimal_cost(self) -> Fraction | None:
        """The cost of the cheapest plans; None where there is no plan."""
        least = self.to_goal.get(self.space.start)
        return None if least is None else self.base + least


def goal_costs(problem: Problem, domain: Domain) -> GoalCosts | Undecided:
    """What the goal costs from each reachable state of a task in a domain of which nothing is refused.

    ``Undecided`` where a limit is hit, or the metric is another than the least value of one fluent that effects only
    increase. Raises ``OutOfBudgetError``.

    >>> from pddl_eval.definition.pddl import parse_domain
    >>> lamp = parse_domain("(define (domain d) (:action switch :precondition (off) :effect (and (on) (not (off)))))")
    >>> goal_costs(Problem("p", "d", {}, frozenset({("off",)}), frozenset({("on",)})), lamp).optimal_cost
    Fraction(1, 1)
    """
    counter = _counter(problem, {*_uses((*_formulas(domain), *problem.conjuncts))})
    if isinstance(counter, Undecided):
        return counter
    space = state_space(problem, domain)
    if space.known_limit is not None:
        return space.known_limit
    goals = [node for node, _, has_goal in space.judged(problem) if has_goal]
    if space.limit is not None:
        return space.limit
    into: dict[Node, list[tuple[Fraction, Node]]] = {}
    for after, steps in space.into.items():
        # What only counts is 0 in a node.
        costs = (Fraction(1) if counter is None else updates.get(counter, Fraction(0)) for _, updates, _ in steps)
        into[after] = [(cost, before) for cost, (_, _, before) in zip(costs, steps, strict=True)]
        for cost, _ in into[after]:
            if cost < 0:
                return Undecided(f"a step has a cost below 0, {cost}")
    base = problem.values.get(counter or (), Fraction(0))
    return GoalCosts(space, counter, base, _least_costs(goals, into))


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


def ground_operators(problem: Problem, domain: Domain) -> list[Operator]:
    """Ground operators among which are all that ever apply, in alphabetical order.

    Atoms that formulas add, or that are derived, count as true when it is asked what can be reached. Raises
    ``GroundingLimitError``.
    """
    possible = {name for _, name in _uses(_formulas(domain))} - {EQUALITY}
    relaxed = [
        replace(each, preconditions=frozenset(atom for atom in each.preconditions if atom[0] not in possible))
        for each in domain.operators
    ]
    objects = {**problem.objects, **domain.constants}
    found = reachable_operators(objects, problem.init, replace(domain, operators=tuple(relaxed)))
    found.sort(key=lambda each: each.action)
    if not possible:  # These are the operators themselves.
        return found
    # Of formulas, ``taken`` makes instances where an action is looked at.
    made = {each.name: instances_of(without_equations(each)[0]) for each in reversed(domain.operators)}
    return [made[each.name](each.action[1:]) for each in found]


def still_reachable(operators: Sequence[Operator], init: State, domain: Domain) -> list[Operator]:
    """Those of a task's ground operators that may still apply from a later state, as ``ground_operators`` finds them.

    >>> lamp = Operator("on", (), frozenset({("off",)}), frozenset(), frozenset({("lit",)}), frozenset({("off",)}))
    >>> [len(still_reachable([lamp], frozenset({atom}), Domain("d", {}, {}, {}, ()))) for atom in (("off",), ("lit",))]
    [1, 0]
    """
    possible = {name for _, name in _uses(_formulas(domain))}
    reached, new, waiting = {*init}, [*init], dict[Atom, list[int]]()
    missing: list[int] = []
    is_left = [False] * len(operators)

    def add(number: int) -> None:
        is_left[number] = True
        for atom in operators[number].add_effects:
            if atom not in reached:
                reached.add(atom)
                new.append(atom)

    for number, operator in enumerate(operators):
        asked = [atom for atom in operator.preconditions - init if atom[0] not in possible]
        missing.append(len(asked))
        for atom in asked:
            waiting.setdefault(atom, []).append(number)
        if not asked:
            add(number)
    while new:
        for number in waiting.pop(new.pop(), ()):
            missing[number] -= 1
            if not missing[number]:
                add(number)
    spend(2 * len(operators))
    return [operator for operator, left in zip(operators, is_left, strict=True) if left]
