"""Renamings: one domain in the words of an equivalent one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from pddl_eval.model import ROOT_TYPE, Action, Atom, Domain, Operator, Problem, State
from pddl_eval.structure.graph import DomainGraph

Places = tuple[int, ...]
"""For each argument or parameter of what is renamed, its position in what it becomes."""

UNDECLARED = "undeclared "
"""In front of a predicate that no operator of its domain uses, where the new words have it for another one."""


@dataclass(frozen=True)
class Renaming:
    """A way to read one domain in the words of an equivalent one.

    ``types`` and ``constants`` map names to names; ``predicates`` and ``operators`` map a name to the new name and, for
    each argument or parameter, its new position. Only what operators use is in it.

    >>> turned = Renaming({}, {}, {"on": ("under", (1, 0))}, {})
    >>> turned.atoms({("on", "a", "b")})
    frozenset({('under', 'b', 'a')})
    """

    types: Mapping[str, str]
    constants: Mapping[str, str]
    predicates: Mapping[str, tuple[str, Places]]
    operators: Mapping[str, tuple[str, Places]]

    @cached_property
    def _new(self) -> frozenset[str]:
        return frozenset(new for new, _ in self.predicates.values())

    def atom(self, atom: Atom) -> Atom:
        """An atom or a literal in the new words."""
        name, places = self.predicates.get(atom[0], ("", ()))
        if name and len(places) == len(atom) - 1:
            return self._moved(name, places, atom)
        if atom[0].startswith(UNDECLARED):
            return (atom[0].removeprefix(UNDECLARED), *self._terms(atom))
        return (UNDECLARED + atom[0] if atom[0] in self._new else atom[0], *self._terms(atom))

    def atoms(self, atoms: Iterable[Atom]) -> State:
        """Atoms in the new words."""
        return frozenset(map(self.atom, atoms))

    def action(self, action: Action) -> Action:
        """A ground action in the new words."""
        return self._moved(*self.operators[action[0]], action)

    def operator(self, operator: Operator[State]) -> Operator[State]:
        """An operator in the new words, without its formulas; its parameters keep their names."""
        types = {name: tuple(self.types.get(type_, type_) for type_ in types) for name, types in operator.parameters}
        name, *order = self.action(operator.action)
        preconditions, negative, added, deleted = map(self.atoms, operator.parts)
        parameters = tuple((parameter, types[parameter]) for parameter in order)
        return Operator(name, parameters, preconditions, negative, added, deleted)

    def problem(self, problem: Problem, domain: Domain) -> Problem:
        """A problem of the given domain in the new words: a type that no operator asks for is the next one above it."""

        def new(type_: str) -> str:
            return next((self.types[each] for each in domain.ancestors(type_) if each in self.types), ROOT_TYPE)

        objects = {self.constants.get(name, name): new(type_) for name, type_ in problem.objects.items()}
        return replace(problem, objects=objects, init=self.atoms(problem.init), goal=self.atoms(problem.goal))

    @property
    def inverse(self) -> Renaming:
        """The renaming back."""
        return Renaming(
            {new: old for old, new in self.types.items()},
            {new: old for old, new in self.constants.items()},
            *(
                {new: (old, tuple(map(places.index, range(len(places))))) for old, (new, places) in names.items()}
                for names in (self.predicates, self.operators)
            ),
        )

    def _terms(self, atom: Atom) -> list[str]:
        return [self.constants.get(term, term) for term in atom[1:]]

    def _moved(self, name: str, places: Places, atom: Atom) -> Atom:
        terms = self._terms(atom)
        for term, place in zip(terms.copy(), places, strict=True):
            terms[place] = term
        return (name, *terms)


def renaming_between(given: DomainGraph, other: DomainGraph) -> Renaming:
    """The renaming that an isomorphism says, of two graphs that are isomorphic."""

    def names(kind: str) -> dict[str, str]:
        return _becomes(given, other, kind)

    places, parameters = names("place "), names("parameter ")
    predicates = {
        _word(name): (
            _word(new),
            tuple(int(places.get(f"{i} {name}", "0").split()[0]) for i in range(given.arities[name])),
        )
        for name, new in names("predicate ").items()
    }
    operators = {}
    for ours, theirs in names("operator ").items():
        old, new = given.domain.operators[int(ours)], other.domain.operators[int(theirs)]
        moved = tuple(int(parameters[f"{i} {ours}"].split()[0]) for i in range(len(old.parameters)))
        operators[old.name] = (new.name, moved)
    return Renaming(names("type "), names("constant "), predicates, operators)


def object_map(given: DomainGraph, other: DomainGraph, scene: str) -> dict[str, str]:
    """The objects of a scene under the isomorphism of two graphs that are isomorphic."""
    return _becomes(given, other, f"object {scene} ")


def _becomes(given: DomainGraph, other: DomainGraph, kind: str) -> dict[str, str]:
    pairs = zip(given.labelled.order, other.labelled.order, strict=True)
    return {ours[len(kind) :]: theirs[len(kind) :] for ours, theirs in pairs if ours.startswith(kind)}


def same_names(domain: Domain) -> Renaming:
    """The renaming in which everything keeps its name."""
    graph = DomainGraph(domain)
    predicates = {_word(name): (_word(name), tuple(range(arity))) for name, arity in graph.arities.items()}
    operators = {each.name: (each.name, tuple(range(len(each.parameters)))) for each in domain.operators}
    types, constants = ({name: name for name in graph.names(kind)} for kind in ("type ", "constant "))
    return Renaming(types, constants, predicates, operators)


def _word(name: str) -> str:
    """A predicate's name without its arity."""
    return name.rpartition("/")[0]
