"""Which ground operators can ever apply when nothing is deleted: delete-relaxed reachability.

The preconditions are joined like database relations (Helmert, "Concise finite-domain representations for PDDL
planning tasks", 2009), one newly reached atom at a time, so that the cost follows the operators that exist and not the
product of all parameters. Negative preconditions do not count here, equations do. ``ground`` makes a task of it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from operator import itemgetter

from pddl_eval.budget import check
from pddl_eval.model import EQUALITY, Atom, Domain, Operator, State, Types

MAX_OPERATORS = 40_000
"""Ground operators of one task; with ``MAX_ATOMS`` it keeps a task's bit sets below some 100 MB."""

MAX_ATOMS = 12_000
"""Atoms of one task that can be reached or may change."""

MAX_WORK = 1_000_000
"""Work to find the operators. The unit is a row of a join or an atom of a ground operator, about a microsecond."""

WORK_PER_CHECK = 10_000
"""Work between two looks at the row's budget."""

Row = tuple[str, ...]
"""An atom, or a binding: an operator's words (predicates and constants), then the values of its variables."""

Pick = Callable[[Row], Row]
"""Takes the values at fixed positions out of a row."""

Table = dict[Row, list[Row]]
"""The atoms of a relation by their values at the positions that a join looks up."""

Instance = tuple[Operator[State], Row, list[Atom], list[Atom], list[Atom], list[Atom]]
"""An operator, its arguments, and its preconditions, negative preconditions, add effects and delete effects."""


class GroundingLimitError(Exception):
    """A bound of grounding was hit; the message names it."""


def reachable_instances(objects: Mapping[str, str], init: State, domain: Domain) -> list[Instance]:
    """Every instance of an operator that can apply when deletes and negative preconditions do not count.

    Preconditions of predicates that nothing changes are left out of the instances: they are true. Raises
    ``GroundingLimitError`` when a bound is hit. The order depends on names only, not on the hashes of a run.
    """
    grounding = _Grounding(objects, sorted(init), domain)
    while grounding.queue:
        atom = grounding.queue.popleft()
        for pick, table in grounding.tables.get(_relation(atom), {}).values():
            table.setdefault(pick(atom), []).append(atom)
        for trigger in grounding.triggers.get(_relation(atom), ()):
            trigger(atom)
    return grounding.instances


def objects_that_fit(objects: Mapping[str, str], types: Types, domain: Domain) -> frozenset[str]:
    """The objects that may stand for a parameter of these types; each type of objects is looked at once."""
    fitting = {type_ for type_ in {*objects.values()} if domain.fits(type_, types)}
    return frozenset(name for name, type_ in objects.items() if type_ in fitting)


def picker(positions: list[int]) -> Pick:
    """The function that picks the values at these positions."""
    if len(positions) > 1:
        return itemgetter(*positions)
    return itemgetter(slice(positions[0], positions[0] + 1) if positions else slice(0))


def _relation(atom: Atom) -> tuple[str, int]:
    """Atoms of one predicate and length form a relation; the empty atom has its own and triggers what needs nothing."""
    return (atom[0] if atom else "", len(atom))


class _Join:
    """How the atoms of a relation extend bindings: what has to agree (``value``, ``key``, ``fits``), what is ``fresh``.

    ``slots`` says where each term is in a binding; the new variables of the lifted atom get the next slots.
    """

    def __init__(self, atom: Atom, slots: dict[str, int], fitting: Mapping[str, list[str] | None]) -> None:
        first: dict[str, int] = {}
        for position, term in enumerate(atom):
            if term not in slots:
                first.setdefault(term, position)
        self.bound = [position for position, term in enumerate(atom) if term in slots]
        self.value = picker(self.bound)
        self.key = picker([slots[atom[position]] for position in self.bound])
        self.fresh = picker(list(first.values()))
        equal = [(p, first[term]) for p, term in enumerate(atom) if first.get(term, p) != p]
        typed = [(p, frozenset(fit)) for term, p in first.items() if (fit := fitting[term]) is not None]
        self.fits: Callable[[Row], bool] | None = None
        if equal or typed:
            self.fits = lambda row: all(row[p] == row[q] for p, q in equal) and all(row[p] in fit for p, fit in typed)
        self.table: Table = {}
        slots |= {variable: len(slots) + offset for offset, variable in enumerate(first)}


class _Grounding:
    """Delete-relaxed reachability from an initial state, one new atom at a time."""

    def __init__(self, objects: Mapping[str, str], init: list[Atom], domain: Domain) -> None:
        self.instances: list[Instance] = []
        self.work = self.checked = 0
        self.names = sorted(objects)
        all_declared = all(term in objects for atom in init for term in atom[1:])
        self.fitting: dict[Types, list[str] | None] = {}
        for types in {types for operator in domain.operators for _, types in operator.parameters}:
            fitting = objects_that_fit(objects, types, domain)
            fit = [name for name in self.names if name in fitting]
            self.fitting[types] = None if all_declared and len(fit) == len(self.names) else fit
        self.grows = {_relation(atom) for operator in domain.operators for atom in operator.add_effects}
        self.changes = self.grows.union(_relation(atom) for o in domain.operators for atom in o.delete_effects)
        self.reached = {atom for atom in init if _relation(atom) in self.grows}
        static = [atom for atom in init if atom not in self.reached]
        self.queue: deque[Atom] = deque([*static, (), *sorted(self.reached)])
        self.tables: dict[tuple[str, int], dict[tuple[int, ...], tuple[Pick, Table]]] = {}
        self.triggers: dict[tuple[str, int], list[Callable[[Atom], None]]] = {}
        for operator in domain.operators:
            self._prepare(operator)

    def _prepare(self, operator: Operator[State]) -> None:
        """Plan the joins of an operator: from each precondition that may become true later, or from nothing."""
        fitting = {variable: self.fitting[types] for variable, types in operator.parameters}
        words = tuple(sorted({term for part in operator.parts for atom in part for term in atom} - fitting.keys()))
        terms = (*words, *operator.action[1:])
        add_instance = self._instantiator(operator, words, {term: slot for slot, term in enumerate(terms)})
        atoms = sorted(atom for atom in operator.preconditions if atom[0] != EQUALITY)
        for start in [atom for atom in atoms if _relation(atom) in self.grows] or [()]:
            bound = {word: slot for slot, word in enumerate(words)}
            joins = [_Join(start, bound, fitting)]
            left = sorted(
                (atom for atom in atoms if atom != start), key=lambda a: (_relation(a) in self.grows, -len(a), a)
            )
            while left:
                # Those that bind no further variable come first, all at once.
                following = [atom for atom in left if bound.keys() >= {*atom}]
                following = following or [min(left, key=lambda a: sum(term not in bound for term in {*a}))]
                taken = {*following}
                left = [atom for atom in left if atom not in taken]
                for atom in following:
                    join = _Join(atom, bound, fitting)
                    tables = self.tables.setdefault(_relation(atom), {})
                    _, join.table = tables.setdefault(tuple(join.bound), (join.value, join.table))
                    joins.append(join)
            for variable, fit in fitting.items():
                if variable not in bound:
                    joins.append(_Join((variable,), bound, dict.fromkeys(fitting)))
                    joins[-1].table[()] = [(name,) for name in (self.names if fit is None else fit)]
            self._count(len(joins))
            trigger = self._trigger(words, joins, picker([bound[term] for term in terms]), add_instance)
            self.triggers.setdefault(_relation(start), []).append(trigger)

    def _trigger(
        self, words: Row, joins: list[_Join], reorder: Pick, add_instance: Callable[[Row], None]
    ) -> Callable[[Atom], None]:
        """The function from a newly reached atom to all instances of an operator in which it is a precondition."""
        first, *others = joins
        wanted = first.key(words)
        steps = [(join.table, join.key, join.fits, join.fresh) for join in others]

        def trigger(atom: Atom) -> None:
            if first.value(atom) != wanted or not (first.fits is None or first.fits(atom)):
                return
            bindings = [words + first.fresh(atom)]
            for table, key, fits, fresh in steps:
                extended: list[Row] = []
                for binding in bindings:
                    rows = table.get(key(binding))
                    if rows:
                        self._count(len(rows) * (1 + len(binding) // 8))
                        extended += [binding + fresh(row) for row in rows if fits is None or fits(row)]
                bindings = extended
            for binding in bindings:
                add_instance(reorder(binding))
            if len(self.instances) > MAX_OPERATORS:
                raise GroundingLimitError(f"more than {MAX_OPERATORS:,} operators are reachable")
            if len(self.reached) > MAX_ATOMS:
                raise GroundingLimitError(f"more than {MAX_ATOMS:,} atoms are reachable")

        return trigger

    def _instantiator(self, operator: Operator[State], words: Row, slots: Mapping[str, int]) -> Callable[[Row], None]:
        """The function that adds the instance of an operator with a binding, once, if its equations hold."""

        def picks(lifted: Iterable[Atom]) -> list[Pick]:
            return [picker([slots[term] for term in atom]) for atom in sorted(lifted) if atom[0] != EQUALITY]

        def equations(lifted: State) -> list[tuple[int, int]]:
            return [(slots[atom[1]], slots[atom[2]]) for atom in lifted if atom[0] == EQUALITY]

        equal, different = equations(operator.preconditions), equations(operator.negative_preconditions)
        changing = [atom for atom in operator.preconditions if _relation(atom) in self.changes]
        parts = [picks(part) for part in (changing, *operator.parts[1:])]
        size = sum(len(picks(part)) for part in operator.parts)
        seen: set[Row] = set()

        def add_instance(binding: Row) -> None:
            if binding in seen:
                return
            seen.add(binding)
            if any(binding[a] != binding[b] for a, b in equal) or any(binding[a] == binding[b] for a, b in different):
                return
            needed, avoided, added, deleted = ([pick(binding) for pick in part] for part in parts)
            self.instances.append((operator, binding[len(words) :], needed, avoided, added, deleted))
            self._count(size)
            for atom in added:
                if atom not in self.reached:
                    self.reached.add(atom)
                    self.queue.append(atom)

        return add_instance

    def _count(self, work: int) -> None:
        self.work += work
        if self.work > self.checked + WORK_PER_CHECK:
            self.checked = self.work
            check()
        if self.work > MAX_WORK:
            raise GroundingLimitError(f"grounding takes more than {MAX_WORK:,} steps")
