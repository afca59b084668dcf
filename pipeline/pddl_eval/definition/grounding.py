"""Grounding: which operators can ever apply when nothing is deleted (delete-relaxed reachability).

Each newly reached atom is unified with the preconditions of operators, and the other preconditions are joined with the
atoms reached before (Helmert, "Concise finite-domain representations for PDDL planning tasks", 2009, section 6). So the
cost follows the operators that exist and not the product of all parameters. Negative preconditions do not count here;
equations do. Plans and sampled states ground single operators with ``instance``.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from heapq import heapify, heappop, heappush
from itertools import chain
from operator import itemgetter
from typing import Any, NamedTuple

from pddl_eval.definition.budget import spend
from pddl_eval.definition.model import EQUALITY, Atom, Domain, Formula, Operator, State, Types, When, renamed

MAX_OPERATORS = 40_000
"""Ground operators of one task; with ``MAX_ATOMS`` it keeps a task's bit sets below some 100 MB."""

MAX_ATOMS = 12_000
"""Atoms of one task that can be reached or may change."""

MAX_WORK = 1_000_000
"""Work to find the operators. The unit is a row of a join or an atom of a ground operator, about a microsecond."""

OBJECTS_PER_WORK = 8
"""Objects that are compared with a type in a unit of work."""

Binding = dict[str, str]
"""The values of variables."""

Fitting = Mapping[str, Collection[str]]
"""The objects that each variable may stand for, in alphabetical order."""

Equations = Sequence[tuple[Atom, bool]]
"""Atoms of equality, each with whether it has to hold."""

Table = dict[tuple[str, ...], list[Atom]]
"""The atoms of a relation by their terms at some positions."""


class GroundingLimitError(Exception):
    """A bound of grounding was hit; the message names it."""


def reachable_operators(objects: Mapping[str, str], init: State, domain: Domain) -> list[Operator]:
    """Every ground operator that can apply when deletes and negative preconditions do not count.

    Raises ``GroundingLimitError`` when a bound is hit. The order depends on names only, not on the hashes of a run.
    """
    return _Grounding(objects, init, domain).operators


def may_be_added(
    atom: Atom, objects: Mapping[str, str], init: State, domain: Domain, by_formulas: Set[str] = frozenset()
) -> bool:
    """Whether an instance that adds the atom has the static preconditions that it needs; if none, none ever applies.

    ``by_formulas`` are the predicates that formulas may add. It takes little where the task's operators are too many;
    True also where a bound is hit.
    """
    if atom[0] in by_formulas:
        return True
    added = by_formulas | {effect[0] for operator in domain.operators for effect in operator.add_effects}
    nothing: State = frozenset()
    adding = []
    for operator in domain.operators:
        fitting = {name: objects_that_fit(objects, types, domain) for name, types in operator.parameters}
        needed = frozenset(each for each in operator.preconditions if each[0] not in added)
        unequal = frozenset(each for each in operator.negative_preconditions if each[0] == EQUALITY)
        for effect in operator.add_effects:
            if _relation(effect) == _relation(atom) and (binding := unify(effect, atom, {}, fitting)) is not None:
                free = tuple(each for each in operator.parameters if each[0] not in binding)
                bound, others = renamed(needed, binding), renamed(unequal, binding)
                adding.append(Operator(operator.name, free, bound, others, nothing, nothing))
    try:
        return bool(reachable_operators(objects, init, replace(domain, operators=tuple(adding))))
    except GroundingLimitError:
        return True


def instance(operator: Operator, arguments: Sequence[str]) -> Operator | Atom:
    """The operator with these arguments and without its equations, or the first equation that does not hold.

    >>> swap = Operator("swap", (("?x", ("box",)), ("?y", ("box",))), frozenset({("at", "?x")}),
    ...                 frozenset({("=", "?x", "?y")}), frozenset({("at", "?y")}), frozenset({("at", "?x")}))
    >>> instance(swap, ("a", "b")).parts[:2], instance(swap, ("a", "a"))
    ((frozenset({('at', 'a')}), frozenset()), ('=', 'a', 'a'))
    """
    plain, equations = without_equations(operator)
    binding = dict(zip(operator.action[1:], arguments, strict=True))
    for atom, holds in equations:
        one, other = (binding.get(term, term) for term in atom[1:])
        if (one == other) != holds:
            return (EQUALITY, one, other)
    return plain.renamed(binding)


def instances_of(operator: Operator) -> Callable[..., Operator]:
    """Makes the operator with given arguments, and formulas, else its own; equations are not looked at.

    >>> load = Operator("load", (("?x", ("box",)),), frozenset({("at", "?x", "dock")}), *[frozenset()] * 3)
    >>> instances_of(load)(("b",)).preconditions
    frozenset({('at', 'b', 'dock')})
    """
    variables = operator.action[1:]
    atoms = [atom for part in operator.parts for atom in part]
    names = (*{name: name for atom in atoms for name in atom[:1]}, *{term: term for atom in atoms for term in atom[1:]})
    # An atom is picked from a row of the arguments and all names, which is much faster than renaming its terms.
    of_name = {name: place for place, name in enumerate(names, len(variables))}
    of_term = {**of_name, **{variable: place for place, variable in enumerate(variables)}}

    def picked(atom: Atom) -> Callable[[tuple[str, ...]], Any]:
        return itemgetter(*map(of_name.get, atom[:1]), *map(of_term.get, atom[1:])) if atom[1:] else lambda _: atom

    parts = [[picked(atom) for atom in part] for part in operator.parts]
    types = [types for _, types in operator.parameters]

    def made(arguments: tuple[str, ...], formulas: tuple[tuple[str, Formula], ...] = operator.formulas) -> Operator:
        row = arguments + names
        needed, negative, added, deleted = [frozenset([pick(row) for pick in part]) for part in parts]
        parameters = tuple(zip(arguments, types, strict=True))
        return Operator(operator.name, parameters, needed, negative, added, deleted, formulas, operator.when)

    return made


def halves_of(domain: Domain) -> Mapping[str, Mapping[When, tuple[Operator, Callable[..., Operator]]]]:
    """The halves of each durative action, with what makes instances; equations, which hold at a time, are formulas."""
    found: dict[str, dict[When, tuple[Operator, Callable[..., Operator]]]] = {}
    for operator in domain.operators:
        for when, half in operator.halves.items():
            plain, equations = without_equations(half)
            asked = [(":precondition", atom if holds else ("not", atom)) for atom, holds in equations]
            plain = replace(plain, formulas=(*half.formulas, *asked))
            found.setdefault(operator.name, {})[when] = plain, instances_of(plain)
    return found


def without_equations(operator: Operator) -> tuple[Operator, Equations]:
    """The operator without its equations, and these."""
    equal, different = ({atom for atom in part if atom[0] == EQUALITY} for part in operator.parts[:2])
    if not equal and not different:
        return operator, ()
    plain = replace(
        operator,
        preconditions=operator.preconditions - equal,
        negative_preconditions=operator.negative_preconditions - different,
    )
    return plain, tuple(sorted([*((atom, True) for atom in equal), *((atom, False) for atom in different)]))


def objects_that_fit(objects: Mapping[str, str], types: Types, domain: Domain) -> Collection[str]:
    """The objects that may stand for a parameter of these types, in alphabetical order.

    >>> tram = Domain("d", {}, {"tram": "bus"}, {}, (), several={("constants", "tram"): ("bus", "train")})
    >>> [*objects_that_fit({"t": "train", "tram": "bus"}, ("train",), tram)]
    ['t', 'tram']
    """
    fitting = {type_ for type_ in {*objects.values()} if domain.fits(type_, types)}
    names = {name for name, type_ in objects.items() if type_ in fitting}
    for section, name in domain.several:
        if (
            section == "constants"
            and name in objects
            and any(domain.fits(each, types) for each in domain.types_of(name))
        ):
            names.add(name)
    return dict.fromkeys(sorted(names)).keys()


def unify(lifted: Atom, atom: Atom, binding: Binding, fitting: Fitting) -> Binding | None:
    """The binding with values for the variables of the lifted atom that make it the atom; None where nothing does."""
    extended = binding.copy()
    for term, value in zip(lifted, atom, strict=True):
        if term not in fitting:  # a predicate or a constant
            if term != value:
                return None
        elif extended.setdefault(term, value) != value or value not in fitting[term]:
            return None
    return extended


def _relation(atom: Atom) -> tuple[str, int]:
    """Atoms of one predicate and length form a relation; the empty atom has its own and triggers what needs nothing."""
    return (atom[0] if atom else "", len(atom))


def _least_free_first(atoms: Sequence[Atom], free: frozenset[str]) -> Iterator[Atom]:
    """The atoms, each time the first of those that have the fewest free variables; an atom binds its variables."""
    spend(2 * len(atoms))
    unbound = [free.intersection(atom) for atom in atoms]
    users: dict[str, list[int]] = {}
    for number, variables in enumerate(unbound):
        for variable in variables:
            users.setdefault(variable, []).append(number)
    left = [len(variables) for variables in unbound]  # -1: the atom was given
    heap = [(count, number) for number, count in enumerate(left)]
    heapify(heap)
    while heap:
        count, number = heappop(heap)
        if count != left[number]:  # It has fewer now, and with these another place in the heap.
            continue
        yield atoms[number]
        for other in chain.from_iterable(users.pop(variable, ()) for variable in unbound[number]):
            left[other] -= 1
            heappush(heap, (left[other], other))
        left[number] = -1


class _Join(NamedTuple):
    """A precondition that is joined with the atoms reached so far.

    ``bound`` are its terms that have a value by then; ``table`` has the reached atoms by the values of these.
    """

    lifted: Atom
    bound: tuple[str, ...]
    table: Table


class _Rule(NamedTuple):
    """How instances of an operator follow from a new atom: unify ``start`` with it, join the others, bind the rest.

    ``found`` are the arguments of the instances so far, for all rules of the operator.
    """

    made: Callable[[tuple[str, ...]], Operator]
    variables: tuple[str, ...]
    equations: Equations
    found: set[tuple[str, ...]]
    fitting: Fitting
    start: Atom
    joins: list[_Join]
    unbound: list[str]


class _Grounding:
    """The fixed point of delete-relaxed reachability, one new atom at a time."""

    def __init__(self, objects: Mapping[str, str], init: State, domain: Domain) -> None:
        self.operators: list[Operator] = []
        self.work = 0
        self.grows = {_relation(atom) for operator in domain.operators for atom in operator.add_effects}
        self.reached = {atom for atom in init if _relation(atom) in self.grows}
        self.tables: dict[tuple[str, int], dict[tuple[int, ...], Table]] = {}
        self.rules: dict[tuple[str, int], list[_Rule]] = {}
        fitting = {}
        for types in {types for operator in domain.operators for _, types in operator.parameters}:
            fitting[types] = objects_that_fit(objects, types, domain)
            self._spend(len(objects) // OBJECTS_PER_WORK)
        for operator in domain.operators:
            self._prepare(operator, {variable: fitting[types] for variable, types in operator.parameters})
        # Atoms of relations that do not grow start no rule: they come first, so that they are there for the joins.
        self.queue = deque([*sorted(init - self.reached), (), *sorted(self.reached)])
        while self.queue:
            atom = self.queue.popleft()
            for bound, table in self.tables.get(_relation(atom), {}).items():
                table.setdefault(tuple([atom[position] for position in bound]), []).append(atom)
            for rule in self.rules.get(_relation(atom), ()):
                self._apply(rule, atom)

    def _prepare(self, operator: Operator, fitting: Fitting) -> None:
        """Plan the joins of an operator: from each precondition that may become true later, or from nothing."""
        operator, equations = without_equations(operator)
        atoms = sorted(operator.preconditions, key=lambda atom: (_relation(atom) in self.grows, -len(atom), atom))
        found: set[tuple[str, ...]] = set()
        made, variables = instances_of(replace(operator, formulas=())), operator.action[1:]
        for start in [atom for atom in atoms if _relation(atom) in self.grows] or [()]:
            free = set(fitting.keys() - start)
            joins = []
            for atom in _least_free_first([atom for atom in atoms if atom != start], frozenset(free)):
                bound = tuple(position for position, term in enumerate(atom) if term not in free)
                table = self.tables.setdefault(_relation(atom), {}).setdefault(bound, {})
                joins.append(_Join(atom, tuple(atom[position] for position in bound), table))
                free.difference_update(atom)
                self._spend(1)
            self._spend(1 + len(free))
            unbound = [each for each in fitting if each in free]
            rule = _Rule(made, variables, equations, found, fitting, start, joins, unbound)
            self.rules.setdefault(_relation(start), []).append(rule)

    def _apply(self, rule: _Rule, atom: Atom) -> None:
        """Add each instance of the rule's operator that has the atom as its first precondition."""
        made, variables, equations, found, fitting, start, joins, unbound = rule
        binding = unify(start, atom, {}, fitting)
        bindings = [] if binding is None else [binding]
        for lifted, bound, table in joins:
            extended = []
            for binding in bindings:
                atoms = table.get(tuple([binding.get(term, term) for term in bound]), ())
                self._spend(len(atoms) * (1 + len(binding) // 8))
                extended += [more for atom in atoms if (more := unify(lifted, atom, binding, fitting)) is not None]
            bindings = extended
        for variable in unbound:
            extended = []
            for binding in bindings:
                self._spend(len(fitting[variable]) * (1 + len(binding) // 8))
                extended += [{**binding, variable: name} for name in fitting[variable]]
            bindings = extended
        for binding in bindings:
            arguments = tuple([binding[variable] for variable in variables])
            if arguments not in found:
                found.add(arguments)
                value = binding.get
                if all((value(one, one) == value(other, other)) == holds for (_, one, other), holds in equations):
                    self._add(made(arguments))
        if len(self.operators) > MAX_OPERATORS:
            raise GroundingLimitError(f"more than {MAX_OPERATORS:,} operators are reachable")
        if len(self.reached) > MAX_ATOMS:
            raise GroundingLimitError(f"more than {MAX_ATOMS:,} atoms are reachable")

    def _add(self, ground: Operator) -> None:
        """Add an instance, and reach what it adds."""
        self.operators.append(ground)
        self._spend(sum(map(len, ground.parts)))
        new = sorted(ground.add_effects - self.reached)
        self.reached.update(new)
        self.queue.extend(new)

    def _spend(self, work: int) -> None:
        spend(work)
        self.work += work
        if self.work > MAX_WORK:
            raise GroundingLimitError(f"grounding takes more than {MAX_WORK:,} steps")
