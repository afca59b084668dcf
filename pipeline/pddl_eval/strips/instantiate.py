"""Which instances of a domain's operators can ever apply when nothing is deleted: delete-relaxed reachability.

The preconditions are joined like database relations (Helmert, "Concise finite-domain representations for PDDL
planning tasks", 2009), one newly reached atom at a time, so that the cost follows the operators that exist and not the
product of all parameters. Negative preconditions do not count here, equations do. ``ground`` turns the instances into
a task.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from operator import itemgetter
from typing import NamedTuple

from pddl_eval.model import EQUALITY, ROOT_TYPE, Action, Atom, Domain, Operator, State


class GroundingLimits(NamedTuple):
    """Bounds of one task: its operators, its atoms that may change, and the work to find them.

    The first two keep a task's bit sets below some 100 MB. The unit of work is a row of a join or an atom of an
    operator instance, about a microsecond.
    """

    operators: int = 40_000
    atoms: int = 12_000
    work: int = 1_000_000


class GroundingLimitError(Exception):
    """A bound of grounding was hit; the message names it."""


class Instance(NamedTuple):
    """A ground operator over atoms."""

    action: Action
    required: tuple[Atom, ...]
    forbidden: tuple[Atom, ...]
    added: tuple[Atom, ...]
    deleted: tuple[Atom, ...]


def reachable_instances(
    objects: Mapping[str, str], init: State, domain: Domain, limits: GroundingLimits
) -> list[Instance]:
    """Every operator instance whose preconditions can become true when deletes and negative preconditions do not count.

    Raises ``GroundingLimitError`` when a bound is hit. The order depends on names only, not on the hashes of a run.
    """
    return _Exploration(_Members(dict(sorted(objects.items())), domain), init, domain.operators, limits).run()


class _Members:
    """The objects that fit a parameter's types."""

    def __init__(self, objects: Mapping[str, str], domain: Domain) -> None:
        self.all = tuple(objects)
        self._domain = domain
        self._by_type: dict[str, list[str]] = {}
        for name, type_ in objects.items():
            for ancestor in domain.ancestors(type_):
                self._by_type.setdefault(ancestor, []).append(name)

    def of(self, alternatives: tuple[str, ...]) -> tuple[str, ...]:
        """The objects of any of the types, in alphabetical order."""
        if any(type_ == ROOT_TYPE or type_ not in self._domain.types for type_ in alternatives):
            return self.all
        return tuple(sorted({name for type_ in alternatives for name in self._by_type.get(type_, ())}))


Row = tuple[str, ...]
Pick = Callable[[Row], Row]


def _pick(positions: list[int]) -> Pick:
    """The function that takes the values at the positions out of a tuple, as a tuple."""
    if len(positions) > 1:
        return itemgetter(*positions)
    return itemgetter(slice(positions[0], positions[0] + 1) if positions else slice(0))


class _Relation:
    """The atoms of one predicate that are known to be reachable, indexed by the positions that joins look up."""

    def __init__(self) -> None:
        self._indexes: dict[tuple[int, ...], tuple[Pick, dict[Row, list[Row]]]] = {}

    def index(self, positions: list[int]) -> dict[Row, list[Row]]:
        """The rows by their values at the positions; to be asked for before the first row is added."""
        return self._indexes.setdefault(tuple(positions), (_pick(positions), {}))[1]

    def add(self, row: Row) -> None:
        for pick, index in self._indexes.values():
            index.setdefault(pick(row), []).append(row)


class _Step(NamedTuple):
    """One join: look the bound values up in a relation's index and append the new ones to the binding."""

    table: dict[Row, list[Row]]
    key: Pick
    matches: Callable[[Row], bool] | None
    fresh: Pick


class _Pattern:
    """A lifted atom seen from a binding: which of its terms are bound, which are new."""

    def __init__(self, atom: Atom, slots: Mapping[str, int], fitting: Mapping[str, frozenset[str] | None]) -> None:
        self.bound = [position for position, term in enumerate(atom) if term in slots]
        self.key = _pick([slots[atom[position]] for position in self.bound])
        first = {term: position for position, term in reversed(list(enumerate(atom))) if term not in slots}
        self.new = sorted(first, key=first.__getitem__)
        self.fresh = _pick([first[term] for term in self.new])
        equal = [(p, first[t]) for p, t in enumerate(atom) if t not in slots and first[t] != p]
        typed = [(first[term], objects) for term in self.new if (objects := fitting[term]) is not None]
        self.matches: Callable[[Row], bool] | None = None
        if equal or typed:
            self.matches = lambda row: all(row[p] == row[q] for p, q in equal) and all(row[p] in o for p, o in typed)


class _Schema:
    """An operator prepared for instantiation: a binding is its words (constants and predicates), then its variables."""

    def __init__(self, operator: Operator, members: _Members, all_declared: bool) -> None:
        self.operator = operator
        self.variables = [variable for variable, _ in operator.parameters]
        self.objects = {variable: members.of(types) for variable, types in operator.parameters}
        self.fitting: dict[str, frozenset[str] | None] = {
            variable: None if all_declared and objects is members.all else frozenset(objects)
            for variable, objects in self.objects.items()
        }
        atoms = (
            operator.preconditions | operator.negative_preconditions | operator.add_effects | operator.delete_effects
        )
        self.words = tuple(sorted({term for atom in atoms for term in atom if term not in self.objects}))
        slots = {word: slot for slot, word in enumerate((*self.words, *self.variables))}

        def picks(lifted: Iterable[Atom]) -> list[Pick]:
            return [_pick([slots[term] for term in atom]) for atom in sorted(lifted) if atom[0] != EQUALITY]

        def equations(lifted: Iterable[Atom]) -> list[tuple[int, int]]:
            return [(slots[atom[1]], slots[atom[2]]) for atom in sorted(lifted) if atom[0] == EQUALITY]

        self.required = picks(operator.preconditions)
        self.forbidden = picks(operator.negative_preconditions)
        self.added = picks(operator.add_effects)
        self.deleted = picks(operator.delete_effects)
        self.equal = equations(operator.preconditions)
        self.different = equations(operator.negative_preconditions)
        self.size = len(self.required) + len(self.forbidden) + len(self.added) + len(self.deleted)
        self.seen: set[Row] = set()

    def admits(self, binding: Row) -> bool:
        """True once for each binding that satisfies the operator's equations."""
        if binding in self.seen:
            return False
        self.seen.add(binding)
        return all(binding[a] == binding[b] for a, b in self.equal) and all(
            binding[a] != binding[b] for a, b in self.different
        )

    def instance(self, binding: Row) -> Instance:
        return Instance(
            (self.operator.name, *binding[len(self.words) :]),
            tuple(pick(binding) for pick in self.required),
            tuple(pick(binding) for pick in self.forbidden),
            tuple(pick(binding) for pick in self.added),
            tuple(pick(binding) for pick in self.deleted),
        )


class _Trigger(NamedTuple):
    """How a newly reached atom that matches one precondition is completed to bindings of the whole operator."""

    schema: _Schema
    key: Row
    pattern: _Pattern
    steps: list[_Step]
    free: list[tuple[str, ...]]
    reorder: Pick


class _Exploration:
    """Delete-relaxed reachability from the initial state, one new atom at a time."""

    def __init__(
        self, members: _Members, init: State, operators: tuple[Operator, ...], limits: GroundingLimits
    ) -> None:
        self.limits = limits
        self.work = 0
        self.init = sorted(init)
        self.relations: dict[tuple[str, int], _Relation] = {}
        self.triggers: dict[tuple[str, int], list[_Trigger]] = {}
        self.started: list[_Trigger] = []
        objects = frozenset(members.all)
        all_declared = all(term in objects for atom in init for term in atom[1:])
        self.grows = {(atom[0], len(atom)) for operator in operators for atom in operator.add_effects}
        for operator in operators:
            self._prepare(_Schema(operator, members, all_declared))

    def _prepare(self, schema: _Schema) -> None:
        """Plan the joins of one operator, from each precondition that may become true later or from nothing."""
        atoms = sorted(atom for atom in schema.operator.preconditions if atom[0] != EQUALITY)
        growing = [atom for atom in atoms if (atom[0], len(atom)) in self.grows]
        slots = {word: slot for slot, word in enumerate(schema.words)}
        starts: list[Atom | None] = [*growing] or [None]
        for atom in starts:
            bound = dict(slots)
            pattern = _Pattern(atom or (), bound, schema.fitting)
            key = pattern.key(schema.words)
            for variable in pattern.new:
                bound[variable] = len(bound)
            steps = self._steps([other for other in atoms if other != atom], bound, schema)
            free = [variable for variable in schema.variables if variable not in bound]
            for variable in free:
                bound[variable] = len(bound)
            reorder = _pick([bound[term] for term in (*schema.words, *schema.variables)])
            trigger = _Trigger(schema, key, pattern, steps, [schema.objects[variable] for variable in free], reorder)
            if atom is None:
                self.started.append(trigger)
            else:
                self.triggers.setdefault((atom[0], len(atom)), []).append(trigger)

    def _steps(self, atoms: list[Atom], bound: dict[str, int], schema: _Schema) -> list[_Step]:
        """Join the atoms in the order that binds fewest new variables at a time, static ones first; extends bound."""
        steps = []
        while atoms:
            atom = min(atoms, key=lambda a: (len({*a} - bound.keys()), (a[0], len(a)) in self.grows, -len(a), a))
            atoms.remove(atom)
            pattern = _Pattern(atom, bound, schema.fitting)
            relation = self.relations.setdefault((atom[0], len(atom)), _Relation())
            steps.append(_Step(relation.index(pattern.bound), pattern.key, pattern.matches, pattern.fresh))
            for variable in pattern.new:
                bound[variable] = len(bound)
        return steps

    def run(self) -> list[Instance]:
        """All operators that are reachable when deletes and negative preconditions do not count."""
        instances: list[Instance] = []
        reached: set[Atom] = set()
        queue: deque[Atom] = deque()
        for atom in self.init:
            if (atom[0], len(atom)) in self.grows:
                reached.add(atom)
                queue.append(atom)
            elif relation := self.relations.get((atom[0], len(atom))):
                relation.add(atom)

        def instantiate(trigger: _Trigger, bindings: list[Row]) -> None:
            for binding in self._complete(trigger, bindings):
                if trigger.schema.admits(binding):
                    instance = trigger.schema.instance(binding)
                    instances.append(instance)
                    self._count(trigger.schema.size)
                    for atom in instance.added:
                        if atom not in reached:
                            reached.add(atom)
                            queue.append(atom)
            if len(instances) > self.limits.operators:
                raise GroundingLimitError(f"more than {self.limits.operators:,} operators are reachable")
            if len(reached) > self.limits.atoms:
                raise GroundingLimitError(f"more than {self.limits.atoms:,} atoms are reachable")

        for trigger in self.started:
            instantiate(trigger, [trigger.schema.words])
        while queue:
            atom = queue.popleft()
            name = (atom[0], len(atom))
            if relation := self.relations.get(name):
                relation.add(atom)
            for trigger in self.triggers.get(name, ()):
                pattern = trigger.pattern
                fits = all(atom[p] == value for p, value in zip(pattern.bound, trigger.key, strict=True))
                if fits and (pattern.matches is None or pattern.matches(atom)):
                    instantiate(trigger, [trigger.schema.words + pattern.fresh(atom)])
        return instances

    def _complete(self, trigger: _Trigger, bindings: list[Row]) -> Iterable[Row]:
        """All bindings of the operator's variables that extend the given ones."""
        for table, key, matches, fresh in trigger.steps:
            extended: list[Row] = []
            for binding in bindings:
                rows = table.get(key(binding))
                if rows:
                    self._count(len(rows) * (1 + len(binding) // 8))
                    extended += [binding + fresh(row) for row in rows if matches is None or matches(row)]
            bindings = extended
        for objects in trigger.free:
            self._count(sum(1 + len(binding) // 8 for binding in bindings) * len(objects))
            bindings = [(*binding, name) for binding in bindings for name in objects]
        return map(trigger.reorder, bindings)

    def _count(self, work: int) -> None:
        self.work += work
        if self.work > self.limits.work:
            raise GroundingLimitError(f"grounding takes more than {self.limits.work:,} steps")
