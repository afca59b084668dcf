"""Recognise a known domain under other names: ``pick-up`` and ``handempty`` are Blocks World all the same.

Rules speak of a domain's structure, not of its words. Where a one-to-one renaming of predicates and operators (with
their parameters in any order) makes a given domain's operators those of a known one, the known domain's rules decide
the given domain's problems: atoms go in and come out translated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import permutations

from pddl_eval.model import Action, Atom, Domain, Operator, Problem, State

STEPS = 20_000
"""Partial renamings tried before two domains are called different; the known domains need a few hundred."""


@dataclass(frozen=True, slots=True)
class Renaming:
    """``predicates``: given → known name. ``operators``: known → (given name, where each given parameter stands)."""

    predicates: Mapping[str, str]
    operators: Mapping[str, tuple[str, tuple[int, ...]]]

    def to_known(self, problem: Problem) -> Problem:
        """The problem in the known domain's words; a predicate of the problem's own keeps clear of them."""

        def known(atom: Atom) -> Atom:
            return (self.predicates.get(atom[0], f"undeclared {atom[0]}"), *atom[1:])

        return replace(problem, init=frozenset(map(known, problem.init)), goal=frozenset(map(known, problem.goal)))

    def atom_back(self, atom: Atom) -> Atom:
        """An atom in the given domain's words."""
        given = (name for name, known in self.predicates.items() if known == atom[0])
        return (next(given, atom[0].removeprefix("undeclared ")), *atom[1:])

    def atoms_back(self, atoms: State) -> State:
        """Atoms in the given domain's words."""
        return frozenset(map(self.atom_back, atoms))

    def action_back(self, action: Action) -> Action:
        """A ground action in the given domain's words."""
        name, order = self.operators[action[0]]
        return (name, *(action[1 + position] for position in order))


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
    budget = iter(range(STEPS))
    return _match(given.operators, known.operators, {}, {}, budget)


def _match(
    given: tuple[Operator, ...],
    known: tuple[Operator, ...],
    predicates: dict[str, str],
    operators: dict[str, tuple[str, tuple[int, ...]]],
    budget: Iterator[int],
) -> Renaming | None:
    if not given:
        return Renaming(predicates, operators)
    operator, *rest = given
    for candidate in known:
        if candidate.name in operators or len(candidate.parameters) != len(operator.parameters):
            continue
        for order in permutations(range(len(operator.parameters))):
            if next(budget, None) is None:
                return None
            place = {operator.parameters[i][0]: candidate.parameters[order[i]] for i in range(len(order))}
            if any(types != place[name][1] for name, types in operator.parameters):
                continue
            moved = {name: parameter for name, (parameter, _) in place.items()}
            for extended in _match_atoms(_pairs(operator, candidate, moved), predicates, budget):
                found = _match(
                    tuple(rest), known, extended, operators | {candidate.name: (operator.name, order)}, budget
                )
                if found is not None:
                    return found
    return None


def _pairs(given: Operator, known: Operator, moved: Mapping[str, str]) -> list[tuple[list[Atom], list[Atom]]] | None:
    """The atoms of the four parts of both operators, the given one's over the known one's parameters."""
    pairs = []
    for ours, theirs in (
        (given.preconditions, known.preconditions),
        (given.negative_preconditions, known.negative_preconditions),
        (given.add_effects, known.add_effects),
        (given.delete_effects, known.delete_effects),
    ):
        if len(ours) != len(theirs):
            return None
        pairs.append(
            ([(atom[0], *(moved.get(term, term) for term in atom[1:])) for atom in sorted(ours)], sorted(theirs))
        )
    return pairs


def _match_atoms(
    parts: list[tuple[list[Atom], list[Atom]]] | None, predicates: dict[str, str], budget: Iterator[int]
) -> Iterator[dict[str, str]]:
    """Every extension of the predicate renaming under which the parts are equal."""
    if parts is None or next(budget, None) is None:
        return
    if not parts:
        yield predicates
        return
    (ours, theirs), *rest = parts
    if not ours:
        yield from _match_atoms(rest, predicates, budget)
        return
    atom, *others = ours
    for candidate in theirs:
        if candidate[1:] != atom[1:]:
            continue
        fits = (
            predicates[atom[0]] == candidate[0]
            if atom[0] in predicates
            else candidate[0] not in predicates.values() and (atom[0] == "=") == (candidate[0] == "=")
        )
        if fits:
            left = [other for other in theirs if other != candidate]
            yield from _match_atoms([(others, left), *rest], predicates | {atom[0]: candidate[0]}, budget)
