"""Renamings: one domain in the words of an equivalent one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from pddl_eval.definition.model import (
    ROOT_TYPE,
    Action,
    Atom,
    Domain,
    Operator,
    Problem,
    State,
)
from pddl_eval.definition.structure.graph import DomainGraph, Vertex

Places = tuple[int, ...]
"""For each argument or parameter of what is renamed, its position in what it becomes."""

Symbol = tuple[str, int]
"""A predicate's name and the number of its arguments: ``(at ?x)`` and ``(at ?x ?y)`` are two predicates."""


@dataclass(frozen=True)
class Renaming:
    """A way to read one domain in the words of an equivalent one.

    ``types`` and ``constants`` map names to names; ``operators`` maps a name to the new name and, for each parameter,
    its new position; ``predicates`` and ``functions`` do so for a name with its number of arguments. Only what
    operators use is in it. Of several operators with one name the second is ``name#2``.

    >>> turned = Renaming({}, {}, {("on", 2): ("under", (1, 0))}, {})
    >>> turned.atoms({("on", "a", "b")})
    frozenset({('under', 'b', 'a')})
    """

    types: Mapping[str, str]
    constants: Mapping[str, str]
    predicates: Mapping[Symbol, tuple[str, Places]]
    operators: Mapping[str, tuple[str, Places]]
    functions: Mapping[Symbol, tuple[str, Places]] = field(default_factory=dict)

    @cached_property
    def _all_predicates(self) -> Mapping[Symbol, tuple[str, Places]]:
        """The predicates and, for those that no operator uses and whose names are given away, names that are free.

        A one-to-one map from some names to some becomes a permutation of all of them; its inverse, that of the inverse.
        """
        old = {(new, len(places)): symbol for symbol, (new, places) in self.predicates.items()}
        found = dict(self.predicates)
        for symbol in old.keys() - self.predicates.keys():
            free = symbol
            while free in old:
                free = old[free]
            found[symbol] = free[0], tuple(range(free[1]))
        return found

    def atom(self, atom: Atom) -> Atom:
        """An atom or a literal in the new words."""
        name, places = self._all_predicates.get((atom[0], len(atom) - 1)) or (atom[0], range(len(atom) - 1))
        return self._moved(name, places, atom)

    def atoms(self, atoms: Iterable[Atom]) -> State:
        """Atoms in the new words."""
        return frozenset(map(self.atom, atoms))

    def action(self, action: Action) -> Action:
        """A ground action in the new words."""
        return self._moved(*self.operators[action[0]], action)

    def problem(self, problem: Problem, domain: Domain) -> Problem:
        """A STRIPS problem of the given domain in the new words, without its numbers.

        A type that no operator asks for is the next one above it.
        """

        def new(type_: str) -> str:
            return next((self.types[each] for each in domain.ancestors(type_) if each in self.types), ROOT_TYPE)

        objects = {self.constants.get(name, name): new(type_) for name, type_ in problem.objects.items()}
        return Problem(problem.name, problem.domain, objects, self.atoms(problem.init), self.atoms(problem.goal))

    @property
    def inverse(self) -> Renaming:
        """The renaming back."""

        def back(places: Places) -> Places:
            return tuple(map(places.index, range(len(places))))

        predicates, functions = (
            {(new, arity): (old, back(places)) for (old, arity), (new, places) in symbols.items()}
            for symbols in (self.predicates, self.functions)
        )
        return Renaming(
            {new: old for old, new in self.types.items()},
            {new: old for old, new in self.constants.items()},
            predicates,
            {new: (old, back(places)) for old, (new, places) in self.operators.items()},
            functions,
        )

    def _moved(self, name: str, places: Iterable[int], atom: Atom) -> Atom:
        terms = list(atom[1:])
        for term, place in zip(atom[1:], places, strict=True):
            terms[place] = self.constants.get(term, term)
        return (name, *terms)


def isomorphism(given: DomainGraph, other: DomainGraph) -> dict[Vertex, Vertex]:
    """The vertices of two graphs that are isomorphic; of a graph with itself, each is its own image."""
    if given.says_the_same(other):  # without labelling, for which there may be no time
        return {vertex: vertex for vertex in given.kinds}
    return dict(zip(given.labelled.order, other.labelled.order, strict=True))


def renaming_between(given: DomainGraph, other: DomainGraph) -> Renaming:
    """The renaming that an isomorphism says, of two graphs that are isomorphic."""
    image = isomorphism(given, other)

    def named(kind: str) -> list[tuple[Vertex, Vertex]]:
        return [(old, new) for old, new in image.items() if old[0] == kind]

    def symbols(kind: str) -> dict[Symbol, tuple[str, Places]]:
        return {
            (name, arity): (new[1], tuple(image["place", old, i][-1] if arity > 1 else 0 for i in range(arity)))
            for old, new in named(kind)
            for _, name, arity in [old]
        }

    types, constants = ({old[1]: new[1] for old, new in named(kind)} for kind in ("type", "constant"))
    ours, theirs = (operator_names(graph.domain) for graph in (given, other))
    operators = {
        ours[old[1]]: (theirs[new[1]], tuple(image["parameter", old[1], i][-1] for i in range(count)))
        for old, new in sorted(named("operator"))
        for count in [len(given.domain.operators[old[1]].parameters)]
    }
    return Renaming(types, constants, symbols("predicate"), operators, symbols("function"))


def operator_names(domain: Domain) -> list[str]:
    """What a renaming calls the operators: of several that have one name the second is ``name#2``."""
    often: Counter[str] = Counter()
    names = []
    for operator in domain.operators:
        often[operator.name] += 1
        names.append(f"{operator.name}#{often[operator.name]}" if often[operator.name] > 1 else operator.name)
    return names


def operator_name(operator: Operator) -> str:
    """The name by which operators match: in lower case, ``_`` as ``-``."""
    return operator.name.lower().replace("_", "-")


def by_name(domain: Domain) -> dict[str, Operator]:
    """The operators by the names by which they match; of several with one name the last."""
    return {operator_name(operator): operator for operator in domain.operators}
