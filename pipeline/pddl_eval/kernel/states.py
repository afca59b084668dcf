"""The reachable states of a task in any PDDL without numbers, listed by the kernel: of rows that it leaves.

Operators and rules are ground here, with a formula for each condition that sets of atoms cannot say; what no effect
changes is decided on the way. The kernel applies them to states, which are sets of bits (``state_space.rs``). It lists
the same states and steps in the same order as the definition, which has the list where there is no kernel.
"""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property, partial
from itertools import chain, product
from typing import Any, cast

from pddl_eval.definition import state_space
from pddl_eval.definition.budget import WORK_PER_LOOK, spend
from pddl_eval.definition.domains import PlanningDomain
from pddl_eval.definition.formulas import (
    ADDITIVE,
    UNBOUND,
    Binding,
    ConflictError,
    NoValueError,
    World,
    bindings,
    changes,
    grounded,
    updated,
)
from pddl_eval.definition.kept import Keep, kept
from pddl_eval.definition.model import (
    UPDATES,
    Atom,
    Formula,
    Operator,
    Problem,
    State,
    is_atom,
    is_equation,
)
from pddl_eval.definition.pddl import Rule, derivation_rules, strata
from pddl_eval.definition.state_space import Node, StateSpace, Values, list_states, too_many_states, too_much_work
from pddl_eval.definition.validation import NO_VALUES, operator_of
from pddl_eval.definition.verdict import Undecided
from pddl_eval.kernel import library

MOST_PARTS = 1_000_000
"""Parts of a task's ground formulas that are put together, about a second; of more the definition makes those that it
comes to."""

NOT, AND, OR = 1, 2, 3

Parts = tuple[int, ...]
"""A ground formula in postfix order: ``4 * atom``, ``NOT``, ``4 * count + AND`` and ``+ OR``."""

TRUE: Parts = (AND,)
FALSE: Parts = (OR,)


class _Beyond(Exception):
    """The kernel does not list the states of such a task."""


class ListedSpace(StateSpace):
    """As the definition's states, which the kernel lists where it can: all of them when the first one is expanded.

    Operators in ``into`` have the effects that they have in all states, and not those of formulas.

    >>> from pddl_eval.definition.pddl import parse_domain
    >>> effect = "(forall (?l) (when (off ?l) (and (on ?l) (not (off ?l)))))"
    >>> lamps = parse_domain(f"(define (domain d) (:action switch :effect {effect}))")
    >>> dark = Problem("p", "d", {"a": "object", "b": "object"}, frozenset({("off", "a"), ("off", "b")}), frozenset())
    >>> [sorted(atoms) for atoms, _ in ListedSpace(dark, lamps)]
    [[('off', 'a'), ('off', 'b')], [('on', 'a'), ('on', 'b')]]
    """

    @cached_property
    def _listed(self) -> _Listed | None:
        """None where the kernel does not list them."""
        if self.changing & self.read:
            return None
        world = self._world
        world.become(self.start[0], {**self.fixed, **dict(self.start[1])})
        before = world.evaluations
        try:
            return _Grounding(world, self.start[0]).listed(self._operators)
        except _Beyond:
            return None
        finally:
            world.evaluations = before

    @property
    def known_limit(self) -> Undecided | None:
        """The limit that the kernel has hit."""
        if self.limit is not None or self._listed is None or self._listed.is_complete:
            return self.limit
        return too_many_states()

    def outgrows(self, problem: Problem) -> bool:
        """As the definition's; never where the kernel has listed all states."""
        is_complete = self._listed is not None and self._listed.is_complete
        return not is_complete and super().outgrows(problem)

    def _expand(self, node: Node) -> None:
        if self._listed is None:
            super()._expand(node)
            return
        nodes = self._nodes
        self._expanded += 1
        for operator, updates, number in self._listed.steps():
            if number == len(nodes):
                after = self._listed.atoms(number), self.start[1]
                self._work += sum(map(len, after))
                self.into[after] = []
                nodes.append(after)
            self.into[nodes[number]].append((operator, updates, node))
        if self._expanded == self._listed.expanded:
            self.limit = self.known_limit
        elif self._work > state_space.MOST_WORK and self._expanded < len(nodes):
            self.limit = too_much_work()

    def judged(self, problem: Problem) -> Iterator[tuple[Node, State, bool]]:
        """As the definition's."""
        is_plain = not (problem.conjuncts or self.domain.formulas)
        listed = None if is_plain else self._listed
        goal = None if listed is None else listed.condition(problem.conjuncts)
        if listed is None or goal is None:
            yield from super().judged(problem)
            return
        for number, node in enumerate(self):
            true = listed.true(number) if self.domain.formulas else node[0]
            yield node, true, problem.goal <= true and listed.holds(goal, number)


class _Grounding:
    """The operators and rules of a task in numbers: atoms, and formulas that are decided as far as no effect counts."""

    def __init__(self, world: World, init: State) -> None:
        self.world, self.init = world, init
        self.rules = derivation_rules(world.domain)
        self.changing = kept(PlanningDomain, world.domain).fluents
        self.static = frozenset(atom for atom in init if atom[0] not in self.changing)
        self.numbers: dict[Atom, int] = {}
        self.added: set[int] = set()
        self.parts = 0

    def listed(self, operators: Iterable[Operator]) -> _Listed:
        """The states that the operators lead to; raises ``_Beyond`` where they say more than the kernel reads."""
        made = [(each, *found) for each in operators if (found := self._operator(each))]
        levels = [[*chain.from_iterable(self._instances(stratum))] for stratum in strata(self.rules)]
        initial = self._atoms(self.init - self.static)
        possible = {*initial[1:], *self.added}
        encoded = chain(initial, [len(made)], *[numbers for _, numbers, _ in made], [len(levels)], *levels)
        task = array("I", [len(possible), *sorted(possible), 0, *encoded])
        task[1 + len(possible)] = len(self.numbers)
        return _Listed(self, [(each, updates) for each, _, updates in made], _list(task))

    def _operator(self, operator: Operator) -> tuple[list[int], Values] | None:
        """The operator in numbers, with the values that it gives fluents; None where it applies in no state."""
        ground = operator_of(operator.action, self.world) if operator.formulas else operator
        if not isinstance(ground, Operator):
            return None
        needed, avoided, added, deleted = ground.parts
        is_static = [[atom for atom in part if atom[0] not in self.changing] for part in (needed, avoided)]
        if not self.static.issuperset(is_static[0]) or not self.static.isdisjoint(is_static[1]):
            return None
        numeric = [each for _, each in ground.formulas if each[:1] and each[0] in ADDITIVE]
        plain = [(part, each) for part, each in ground.formulas if each not in numeric]
        condition = self._joined(AND, [self.condition(each) for part, each in plain if part == ":precondition"])
        if condition == FALSE:
            return None
        by_condition: dict[Parts, tuple[set[Atom], set[Atom]]] = {TRUE: ({*added}, {*deleted})}
        for asked, place, atom in chain.from_iterable(self._effects(each) for part, each in plain if part == ":effect"):
            by_condition.setdefault(asked, (set(), set()))[place].add(atom)
        try:
            updates = updated(self.world, chain.from_iterable(changes(each, self.world) for each in numeric))
        except (NoValueError, ConflictError):  # which is so in each state
            return None
        self.added.update(self._number(atom) for adds, _ in by_condition.values() for atom in adds)
        parts = (needed.difference(is_static[0]), avoided.difference(is_static[1]), *by_condition.pop(TRUE))
        numbers = [*chain.from_iterable(map(self._atoms, parts)), len(condition), *condition, len(by_condition)]
        for asked, sets in by_condition.items():
            numbers += [len(asked), *asked, *chain.from_iterable(map(self._atoms, sets))]
        return numbers, updates or NO_VALUES

    def _instances(self, stratum: Iterable[Rule]) -> Iterator[Sequence[int]]:
        """How many instances the rules have, and of each the atom and the formula from which it follows."""
        found: list[Sequence[int]] = []
        for rule in stratum:
            for chosen in product(*[self.world.of_types(types) for _, types in rule.variables]):
                binding = dict(zip((name for name, _ in rule.variables), chosen, strict=True))
                body = self.condition(rule.body, binding)
                if body != FALSE:
                    head = self._number((rule.name, *chosen))
                    self.added.add(head)
                    found.append((head, len(body), *body))
        return iter([[len(found)], *found])

    def condition(self, formula: Formula, binding: Binding = UNBOUND) -> Parts:
        """The formula with these values; ``TRUE`` or ``FALSE`` where that is so in all states."""
        self._count()
        if not formula:
            return TRUE
        head, *parts = cast("tuple[Any, ...]", formula)
        if is_atom(formula):
            atom = cast("Atom", grounded(formula, binding))
            if head in self.changing:
                return (4 * self._number(atom),)
            return TRUE if atom in self.static else FALSE
        if is_equation(formula):
            one, other = (binding.get(term, term) for term in parts)
            return TRUE if one == other else FALSE
        match head:
            case "and" | "or":
                return self._joined(OR if head == "or" else AND, [self.condition(part, binding) for part in parts])
            case "not":
                return _negated(self.condition(parts[0], binding))
            case "imply":
                return self._joined(
                    OR, [_negated(self.condition(parts[0], binding)), self.condition(parts[1], binding)]
                )
            case "forall" | "exists":
                every = bindings(parts[0], self.world, binding)
                return self._joined(OR if head == "exists" else AND, [self.condition(parts[1], each) for each in every])
            case "preference":
                return TRUE
        raise _Beyond

    def _effects(
        self, effect: Formula, binding: Binding = UNBOUND, asked: Parts = TRUE
    ) -> Iterator[tuple[Parts, int, Atom]]:
        """What the effect adds (0) and deletes (1), each atom with the condition for it."""
        self._count()
        if not effect or asked == FALSE:
            return
        head, *parts = cast("tuple[Any, ...]", effect)
        match head:
            case "and":
                yield from chain.from_iterable(self._effects(part, binding, asked) for part in parts)
            case "forall":
                for each in bindings(parts[0], self.world, binding):
                    yield from self._effects(parts[1], each, asked)
            case "when":
                asked = self._joined(AND, [asked, self.condition(parts[0], binding)])
                yield from self._effects(parts[1], binding, asked)
            case "not":
                yield asked, 1, cast("Atom", grounded(parts[0], binding))
            case _ if head in UPDATES:
                raise _Beyond
            case _:
                yield asked, 0, cast("Atom", grounded(effect, binding))

    def _count(self, parts: int = 1) -> None:
        self.world.count()
        self.parts += parts
        if self.parts > MOST_PARTS:
            raise _Beyond

    def _joined(self, kind: int, formulas: Sequence[Parts]) -> Parts:
        """Their conjunction or their disjunction."""
        decides, other = (TRUE, FALSE) if kind == OR else (FALSE, TRUE)
        left = [formula for formula in formulas if formula != other]
        if not left or decides in left:
            return decides if left else other
        self._count(sum(map(len, left)))
        return left[0] if len(left) == 1 else (*chain.from_iterable(left), 4 * len(left) + kind)

    def _number(self, atom: Atom) -> int:
        return self.numbers.setdefault(atom, len(self.numbers))

    def _atoms(self, atoms: Collection[Atom]) -> list[int]:
        return [len(atoms), *map(self._number, atoms)]


class _Listed:
    """What the kernel has listed: states by number, and the steps from each in order."""

    def __init__(self, grounding: _Grounding, actions: Sequence[tuple[Operator, Values]], found: array[int]) -> None:
        self._grounding, self._actions, self._found = grounding, actions, found
        self._atoms = [*grounding.numbers]
        self._next = 3
        self.count, is_complete, self.expanded = found[:3]
        self.is_complete = bool(is_complete)
        self._states = 3
        for _ in range(self.expanded):
            self._states += 1 + 2 * found[self._states]
        self._full = self._states
        """Where the states are with what is derived."""
        if grounding.rules:
            self._full += self.count + 1 + found[self._states + self.count]

    def steps(self) -> Iterator[tuple[Operator, Values, int]]:
        """The steps from the next state: each an operator with the values that it gives, and the state after it."""
        start = self._next + 1
        self._next = start + 2 * self._found[self._next]
        for place in range(start, self._next, 2):
            yield *self._actions[self._found[place]], self._found[place + 1]

    def atoms(self, number: int) -> State:
        """A state."""
        return self._named(self._numbers(self._states, number))

    def true(self, number: int) -> State:
        """A state with all that is derived in it."""
        return self._named(self._numbers(self._full, number))

    def holds(self, condition: Parts, number: int) -> bool:
        """Whether it is true in a state."""
        true, values = {*self._numbers(self._full, number)}, list[bool]()
        for part in condition:
            count = part >> 2
            if part & 3 == NOT:
                values[-1] = not values[-1]
            elif part & 3:
                first = len(values) - count
                values[first:] = [all(values[first:]) if part & 3 == AND else any(values[first:])]
            else:
                values.append(count in true)
        return values[-1]

    def condition(self, formulas: Sequence[Formula]) -> Parts | None:
        """A conjunction, as ``holds`` takes it; None for one that asks for numbers."""
        self._grounding.parts = self._grounding.world.evaluations = 0  # Many goals are asked for in one list.
        try:
            return self._grounding.condition(("and", *formulas))
        except _Beyond:
            return None

    def _numbers(self, states: int, number: int) -> array[int]:
        start, end = self._found[states + number : states + number + 2]
        first = states + self.count + 1
        return self._found[first + start : first + end]

    def _named(self, numbers: Iterable[int]) -> State:
        return self._grounding.static.union(map(self._atoms.__getitem__, numbers))


def _negated(formula: Parts) -> Parts:
    return {TRUE: FALSE, FALSE: TRUE}.get(formula, (*formula, NOT))


def _list(task: array[int]) -> array[int]:
    """What the kernel says of a task in numbers."""
    spend(WORK_PER_LOOK)
    shared, length = library(), ctypes.c_size_t()
    assert shared
    numbers = (ctypes.c_uint32 * len(task)).from_buffer(task)
    found = shared.pddl_eval_list_states(numbers, len(task), state_space.MAX_STATES, ctypes.byref(length))
    if not found:
        raise _Beyond
    try:
        return array("I", ctypes.string_at(found, 4 * length.value))
    finally:
        shared.pddl_eval_release_states(found, length)


_LISTED = partial(list_states, kind=ListedSpace)


def by_kernel(keep: Keep) -> Keep:
    """As ``keep``, but states are listed by the kernel, where there is one."""

    def listing(compute: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        return keep(_LISTED if compute is list_states else compute, *arguments, **options)

    return listing if library() else keep
