"""A known domain under other names: ``pick-up`` and ``handempty`` are Blocks World all the same.

Rules speak of a domain's structure, not of its words. Where a one-to-one renaming of predicates and operators (with
their parameters in any order) makes a given domain's operators those of a known one, the known domain's rules decide
the given domain's problems: atoms go in and come out translated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import permutations

from pddl_eval.domains.reading import BrokenAssumption, CoveredState, Rules
from pddl_eval.model import EQUALITY, Action, Atom, Domain, Operator, Problem, State
from pddl_eval.verdict import Unsolvable

STEPS = 20_000
"""Partial renamings tried before two domains are called different; the known domains need a few hundred."""

UNDECLARED = "undeclared "
"""In front of a predicate that the given domain's operators do not have, so that it is none of the known domain's."""


@dataclass(frozen=True, slots=True)
class Renaming:
    """``predicates``: given → known name. ``operators``: known → (given name, the known position of each parameter)."""

    predicates: Mapping[str, str]
    operators: Mapping[str, tuple[str, tuple[int, ...]]]

    def to_known(self, atoms: State) -> State:
        """Atoms in the known domain's words."""
        return frozenset([(self.predicates.get(name, UNDECLARED + name), *terms) for name, *terms in atoms])

    def to_given(self, atoms: State) -> State:
        """Atoms in the given domain's words."""
        given = {known: name for name, known in self.predicates.items()}
        return frozenset([(given.get(name, name.removeprefix(UNDECLARED)), *terms) for name, *terms in atoms])

    def each_to_given(self, atoms: tuple[Atom, ...]) -> tuple[Atom, ...]:
        """The same, in the same order."""
        return tuple(given for atom in atoms for given in self.to_given(frozenset({atom})))

    def proof(self, known: Unsolvable) -> Unsolvable:
        """A proof in the given domain's words."""
        return replace(known, atoms=self.each_to_given(known.atoms))

    def action(self, action: Action) -> Action:
        """A ground action in the given domain's words."""
        name, order = self.operators[action[0]]
        return (name, *(action[1 + position] for position in order))


@dataclass(frozen=True, slots=True)
class _RenamedState:
    """An initial state that a known domain's rules cover, asked in the given domain's words."""

    known: CoveredState
    renaming: Renaming

    def fully_specify(self, goal: State) -> State | Unsolvable:
        closure = self.known.fully_specify(self.renaming.to_known(goal))
        return self.renaming.proof(closure) if isinstance(closure, Unsolvable) else self.renaming.to_given(closure)

    def plan(self, goal: State) -> tuple[Action, ...] | Unsolvable:
        plan = self.known.plan(self.renaming.to_known(goal))
        return self.renaming.proof(plan) if isinstance(plan, Unsolvable) else tuple(map(self.renaming.action, plan))


def renamed_rules(rules: Rules, renaming: Renaming) -> Rules:
    """The known domain's rules for problems in the given domain's words."""

    def read(problem: Problem, typed: bool) -> CoveredState | BrokenAssumption:
        known = rules(replace(problem, init=renaming.to_known(problem.init)), typed)
        if isinstance(known, BrokenAssumption):
            return BrokenAssumption(renaming.each_to_given(known.atoms))
        return _RenamedState(known, renaming)

    return read


def renaming_between(given: Domain, known: Domain) -> Renaming | None:
    """The renaming that makes the given domain's operators those of the known domain; None where there is none.

    >>> from pddl_eval.domains import known_domain
    >>> blocks = known_domain("blocksworld").domain
    >>> renaming_between(blocks, blocks).operators["stack"]
    ('stack', (0, 1))
    """
    if given.outside_strips or given.constants or known.constants or given.types != known.types:
        return None
    if len(given.operators) != len(known.operators):
        return None
    return next(
        _renamings(given.operators, known.operators, Renaming({EQUALITY: EQUALITY}, {}), iter(range(STEPS))), None
    )


def _renamings(
    given: tuple[Operator[State], ...], known: tuple[Operator[State], ...], so_far: Renaming, budget: Iterator[int]
) -> Iterator[Renaming]:
    """Every extension of a renaming to more operators, until the budget is spent."""
    if not given:
        yield so_far
        return
    operator, *others = given
    for candidate in known:
        if candidate.name in so_far.operators or len(candidate.parameters) != len(operator.parameters):
            continue
        for order in permutations(range(len(operator.parameters))):
            if next(budget, None) is None:
                return
            place = {operator.parameters[i][0]: candidate.parameters[position] for i, position in enumerate(order)}
            if all(types == place[name][1] for name, types in operator.parameters):
                moved = operator.renamed({name: parameter for name, (parameter, _) in place.items()})
                operators = {**so_far.operators, candidate.name: (operator.name, order)}
                for predicates in _predicates(_atoms(moved), _atoms(candidate), so_far.predicates, budget):
                    yield from _renamings(tuple(others), known, Renaming(predicates, operators), budget)


def _atoms(operator: Operator[State]) -> list[tuple[int, Atom]]:
    """The atoms of an operator, each with the number of its part."""
    parts = (operator.preconditions, operator.negative_preconditions, operator.add_effects, operator.delete_effects)
    return [(number, atom) for number, part in enumerate(parts) for atom in sorted(part)]


def _predicates(
    ours: list[tuple[int, Atom]], theirs: list[tuple[int, Atom]], so_far: Mapping[str, str], budget: Iterator[int]
) -> Iterator[Mapping[str, str]]:
    """Every extension of a renaming of predicates under which the two lists have the same atoms."""
    if len(ours) != len(theirs) or next(budget, None) is None:
        return
    if not ours:
        yield so_far
        return
    (part, (name, *terms)), *rest = ours
    for candidate in theirs:
        number, (known, *known_terms) = candidate
        free = name not in so_far and known not in so_far.values()
        if number == part and known_terms == terms and (free or so_far.get(name) == known):
            left = [other for other in theirs if other != candidate]
            yield from _predicates(rest, left, {**so_far, name: known}, budget)
