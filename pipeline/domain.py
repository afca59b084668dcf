"""A STRIPS planning domain as a value: types, predicates and lifted operators, and what it means to apply one.

An operator here is the textbook's: four sets of atoms over its parameters. ``parsing.domains`` makes these values
from PDDL text; ``grounded`` instantiates them; nothing here searches.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from pipeline.problem import ROOT_TYPE, Atom, State

EQUALITY = "="
"""The predicate of ``(= ?x ?y)``: decided by the arguments, never part of a state."""

Action = tuple[str, ...]
"""A ground action: the operator's name followed by its arguments, ``("stack", "b1", "b2")``."""


@dataclass(frozen=True, slots=True)
class Operator:
    """A lifted action. Atoms mix variables (``"?x"``) and constants; a variable's types are alternatives (``either``).

    ``(= ?x ?y)`` stands as the atom ``("=", "?x", "?y")`` among the preconditions, negated among the negative ones.
    """

    name: str
    parameters: tuple[tuple[str, tuple[str, ...]], ...]
    preconditions: frozenset[Atom]
    negative_preconditions: frozenset[Atom]
    add_effects: frozenset[Atom]
    delete_effects: frozenset[Atom]

    def without_types(self) -> Operator:
        """The same operator with parameters that any object fits."""
        return replace(self, parameters=tuple((name, (ROOT_TYPE,)) for name, _ in self.parameters))


@dataclass(frozen=True, slots=True)
class Domain:
    """A planning domain.

    ``types`` maps each declared type to its parent; ``constants`` maps each constant to its type; ``predicates`` maps
    a name to its parameters' types. ``outside_strips`` names each construct that the STRIPS reading had to leave
    out (``"sail: forall"``): where it is not empty, the operators do not say all that the text says.
    """

    name: str
    types: Mapping[str, str]
    constants: Mapping[str, str]
    predicates: Mapping[str, tuple[tuple[str, ...], ...]]
    operators: tuple[Operator, ...]
    outside_strips: tuple[str, ...] = ()

    def ancestors(self, type_: str) -> Iterator[str]:
        """The type itself, then its ancestors up to ``object``; an undeclared type is a plain ``object``.

        >>> list(Domain("d", {"truck": "vehicle", "vehicle": "object"}, {}, {}, ()).ancestors("truck"))
        ['truck', 'vehicle', 'object']
        """
        seen = set()
        while type_ in self.types and type_ not in seen and type_ != ROOT_TYPE:
            seen.add(type_)
            yield type_
            type_ = self.types[type_]
        yield ROOT_TYPE

    def without_types(self) -> Domain:
        """The same domain with every parameter and constant a plain ``object``."""
        return replace(
            self,
            types={},
            constants=dict.fromkeys(self.constants, ROOT_TYPE),
            predicates={name: ((ROOT_TYPE,),) * len(types) for name, types in self.predicates.items()},
            operators=tuple(operator.without_types() for operator in self.operators),
        )


@dataclass(frozen=True, slots=True)
class GroundOperator:
    """An operator with its parameters replaced by objects."""

    action: Action
    preconditions: frozenset[Atom]
    negative_preconditions: frozenset[Atom]
    add_effects: frozenset[Atom]
    delete_effects: frozenset[Atom]

    def applicable(self, state: State) -> bool:
        """True when every precondition holds in the state and no negative one does."""
        return self.preconditions <= state and self.negative_preconditions.isdisjoint(state)

    def apply(self, state: State) -> State:
        """γ(s, a) = (s − del(a)) ∪ add(a) (the paper's definition 1)."""
        return (state - self.delete_effects) | self.add_effects
