"""What formulas mean: truth in a state, effects on a state, numbers, derived predicates.

Formulas are S-expressions as written (``model.Formula``), with a binding of their free variables; ``pddl.language``
says which can be read. Truth, effects and numbers are those of PDDL 2.1, level 2 (Fox and Long, JAIR 20, 2003), numbers
are exact. Derived predicates are the least fixpoint of each stratum (Thiébaux, Hoffmann and Nebel, "In defense of PDDL
axioms", AIJ 168, 2005). A number that is not defined is neither equal to another nor larger nor smaller: a formula that
is neither true nor false without it raises ``NoValueError``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from fractions import Fraction
from functools import reduce
from itertools import chain, count, product
from math import prod
from operator import eq, ge, gt, itemgetter, le, lt, sub
from typing import Any, NamedTuple, cast

from pddl_eval.definition import words
from pddl_eval.definition.budget import OutOfBudgetError, spend
from pddl_eval.definition.grounding import halves_of, objects_that_fit, unify
from pddl_eval.definition.kept import kept
from pddl_eval.definition.model import (
    ARITHMETIC,
    COMPARISONS,
    CONNECTIVES,
    EQUALITY,
    NO_PREDICATES,
    NUMBER,
    PREFERENCE,
    QUANTIFIERS,
    TOTAL_COST,
    UPDATES,
    Atom,
    Domain,
    Formula,
    Operator,
    Problem,
    Types,
    bound_apart,
    compares_numbers,
    fluents_of,
    is_atom,
    is_equation,
    show_formula,
    words_of,
)
from pddl_eval.definition.pddl import Rule, derivation_rules, strata, typed_list

MAX_BITS = 4_096
"""Bits of the numerator and of the denominator of a number."""

MAX_VARIABLES = 100
"""Variables of a rule, with those of its quantifiers."""

MAX_EVALUATIONS = 3_000_000
"""Formulas and bindings that are looked at in one execution, some five seconds."""

MAX_ATOMS = 250_000
"""Atoms that are true with all that is derived, and changes that one action makes."""

EVALUATIONS_PER_CHECK, WORK_PER_EVALUATION = 100, 4
"""Evaluations between two looks at the row's budget, and the work (``budget.spend``) of one."""

_COMPARED = {"<": lt, "<=": le, EQUALITY: eq, ">=": ge, ">": gt}

ADDITIVE = frozenset({"increase", "decrease"})

Binding = Mapping[str, str]
"""The values of variables."""

UNBOUND: Binding = {}


class NoValueError(Exception):
    """A number is read that is not defined; the message says which."""


class ConflictError(Exception):
    """Two effects give a number two values; the message says which number."""


class Change(NamedTuple):
    """A ground effect: ``add`` or ``delete`` and an atom, or one of ``UPDATES``, a fluent and an amount."""

    verb: str
    target: Atom
    amount: Fraction = Fraction(0)


class World:
    """A problem's objects and a state of it, changed in place: what formulas speak of.

    ``atoms`` are the state, ``true`` has what is derived from it as well, ``values`` are those of the fluents.
    """

    def __init__(self, problem: Problem, domain: Domain) -> None:
        self.domain = domain
        self.objects = {**problem.objects, **domain.constants}
        self.atoms = set(problem.init)
        self.values = dict(problem.values)
        self.strata = kept(_strata, domain) if domain.formulas else ()
        self.halves = kept(halves_of, domain)
        self.evaluations = 0
        self.index: dict[tuple[str | int, ...], list[Atom]] | None = None
        """While atoms are derived: those that are true, by predicate, and by predicate, position and argument."""
        self.variables: Mapping[int, Set[str]] = {}
        """While atoms are derived: those of each part of the rules (``Stratum``)."""
        self._ranges: dict[Types, Collection[str]] = {}
        self._listed: dict[Formula, list[tuple[str, Collection[str]]]] = {}
        self.operators: dict[Any, Any] = {}
        """Of the actions that were looked at (``validation.operator_of``)."""
        self.true: Set[Atom] = self.atoms
        self._derived: list[set[Atom]] = []
        self._derive(frozenset())

    def become(self, atoms: Iterable[Atom], values: Mapping[Atom, Fraction]) -> None:
        """Be in another state."""
        before = self.atoms, self.values
        self.atoms, self.values = set(atoms), dict(values)
        if self.strata:
            changed = {atom[0] for atom in before[0] ^ self.atoms}
            self._derive(changed | {fluent[0] for fluent, _ in before[1].items() ^ self.values.items()})
        else:
            self.true = self.atoms

    def change(self, operators: Sequence[Operator], values: Mapping[Atom, Fraction]) -> None:
        """Delete, then add, and give fluents these values: what is deleted and added is added."""
        for operator in operators:
            self.atoms -= operator.delete_effects
        for operator in operators:
            self.atoms |= operator.add_effects
        self.values.update(values)
        if self.strata:
            effects = (atoms for operator in operators for atoms in operator.parts[2:])
            self._derive({atom[0] for atoms in effects for atom in atoms} | {fluent[0] for fluent in values})

    def _derive(self, changed: Set[str]) -> None:
        """Derive what follows in the state; a stratum that reads nothing of what changed is as it was."""
        if not self.strata:
            return
        true, before = set(self.atoms), self._derived
        self.true, self._derived = true, []
        for number, stratum in enumerate(self.strata):
            if before and changed.isdisjoint(stratum.words):
                found = before[number]
                true |= found
            else:
                found = derived(stratum, self, true)
                changed = changed | {atom[0] for atom in (found ^ before[number] if before else found)}
            self._derived.append(found)

    def fits(self, name: str, types: Types) -> bool:
        """True where an object or a constant may stand for a parameter of these types."""
        return any(self.domain.fits(type_, types) for type_ in self.types_of(name))

    def types_of(self, name: str) -> Types:
        """The types of an object or a constant; several, where it was declared with ``either``."""
        return self.domain.types_of(name) if name in self.domain.constants else (self.objects[name],)

    def of_types(self, types: Types) -> Collection[str]:
        """The objects and constants that a variable of these types ranges over."""
        if types not in self._ranges:
            self._ranges[types] = objects_that_fit(self.objects, types, self.domain)
        return self._ranges[types]

    def ranges(self, listing: Formula) -> list[tuple[str, Collection[str]]]:
        """The variables of a quantifier's typed list, each with the objects and constants that it ranges over."""
        if listing not in self._listed:
            variables = typed_list(listing, "a quantifier")
            self._listed[listing] = [(name, self.of_types(types)) for name, types in variables]
        return self._listed[listing]

    def count(self) -> None:
        """Count an evaluation; raises ``OutOfBudgetError``."""
        self.evaluations += 1
        if self.evaluations % EVALUATIONS_PER_CHECK:
            return
        if self.evaluations > MAX_EVALUATIONS:
            raise OutOfBudgetError(f"the plan takes more than {MAX_EVALUATIONS:,} evaluations of formulas")
        spend(EVALUATIONS_PER_CHECK * WORK_PER_EVALUATION)


def holds(  # noqa: C901 (one case a construct)
    formula: Formula, world: World, binding: Binding = UNBOUND
) -> bool:
    """Whether a formula is true in a state; a preference is, for it may be violated (``trajectory`` counts that).

    Raises ``NoValueError`` where it depends on a number that is not defined.

    >>> world = World(Problem("p", "d", {"a": "object", "b": "object"}, frozenset({("lit", "a")}), frozenset()),
    ...               Domain("d", {}, {}, {}, ()))
    >>> holds(("forall", ("?x",), ("or", ("lit", "?x"), ("=", "?x", "b"))), world)
    True
    """
    world.count()
    assert not isinstance(formula, str)
    if not formula:
        return True
    head, *parts = formula
    if head not in NO_PREDICATES:
        return _ground(formula, binding) in world.true
    match head:
        case "and":
            return not _some(((part, binding) for part in parts), world, False)
        case "or":
            return _some(((part, binding) for part in parts), world, True)
        case "not":
            return not holds(parts[0], world, binding)
        case "preference":
            return True
        case "imply":
            return _some([(("not", parts[0]), binding), (parts[1], binding)], world, True)
        case "exists":
            return _some(((parts[1], each) for each in witnesses(parts[0], parts[1], world, binding)), world, True)
        case "forall":
            return not _some(((parts[1], each) for each in bindings(parts[0], world, binding)), world, False)
    if is_equation(formula):
        one, other = _ground(parts, binding)
        return one == other
    one_value, other_value = (value_of(part, world, binding) for part in parts)
    return bool(_COMPARED[str(head)](one_value, other_value))


def is_true(formula: Formula, world: World, binding: Binding = UNBOUND) -> bool:
    """As ``holds``; a formula without a truth value is not true."""
    try:
        return holds(formula, world, binding)
    except NoValueError:
        return False


def _some(cases: Iterable[tuple[Formula, Binding]], world: World, truth: bool) -> bool:
    """Whether some formula has this truth value; where none has, one without a value decides."""
    undefined: NoValueError | None = None
    for formula, binding in cases:
        try:
            if holds(formula, world, binding) is truth:
                return True
        except NoValueError as error:
            undefined = undefined or error
    if undefined is not None:
        raise undefined
    return False


def value_of(expression: Formula, world: World, binding: Binding = UNBOUND) -> Fraction:
    """The number that an expression denotes in a state.

    Raises ``NoValueError`` where a fluent is not defined or the divisor is 0, and ``OutOfBudgetError`` for a number
    with more than ``MAX_BITS``.

    >>> world = World(Problem("p", "d", {}, frozenset(), frozenset(), {("fuel",): Fraction(7)}),
    ...               Domain("d", {}, {}, {}, ()))
    >>> value_of(("/", ("fuel",), "2"), world)
    Fraction(7, 2)
    """
    world.count()
    if isinstance(expression, str) and NUMBER.fullmatch(expression):
        return Fraction(expression)
    head, *parts = (expression,) if isinstance(expression, str) else expression
    assert isinstance(head, str)
    if head not in ARITHMETIC:
        fluent = (head, *_ground(parts, binding))
        if fluent in world.values:
            return world.values[fluent]
        if fluent != TOTAL_COST:
            raise NoValueError(words.no_value(fluent))
        return Fraction(0)
    first, *others = [value_of(part, world, binding) for part in parts]
    match head:
        case "+":
            return bounded(sum(others, first))
        case "*":
            return bounded(prod(others, start=first))
        case "-":
            return bounded(reduce(sub, others, first) if others else -first)
    if others[0] == 0:
        raise NoValueError(f"{show_formula(grounded(expression, binding))} divides by 0")
    return bounded(first / others[0])


def changes(  # noqa: C901 (one case a construct)
    effect: Formula, world: World, binding: Binding = UNBOUND, undefined: NoValueError | None = None
) -> Iterator[Change]:
    """What an effect does to a state; its conditions and its numbers are read in that state, before any change.

    Nested conditions are one: raises ``NoValueError`` where one has no truth value (``undefined`` says so of those
    around this effect) and none is false.

    >>> world = World(Problem("p", "d", {"a": "object", "b": "object"}, frozenset({("in", "a")}), frozenset()),
    ...               Domain("d", {}, {}, {}, ()))
    >>> list(changes(("forall", ("?x",), ("when", ("in", "?x"), ("not", ("at", "?x")))), world))
    [Change(verb='delete', target=('at', 'a'), amount=Fraction(0, 1))]
    """
    world.count()
    assert not isinstance(effect, str)
    if not effect:
        return
    head, *parts = effect
    match head:
        case "and":
            for part in parts:
                yield from changes(part, world, binding, undefined)
        case "forall":
            for each in bindings(parts[0], world, binding):
                yield from changes(parts[1], world, each, undefined)
        case "when":
            try:
                happens = holds(parts[0], world, binding)
            except NoValueError as error:
                happens, undefined = True, undefined or error
            if happens:
                yield from changes(parts[1], world, binding, undefined)
        case _ if undefined is not None:
            raise undefined
        case "not":
            yield Change("delete", _ground(parts[0], binding))
        case "increase" | "decrease" | "scale-up" | "scale-down" | "assign":
            fluent = (parts[0],) if isinstance(parts[0], str) else parts[0]
            yield Change(head, _ground(fluent, binding), value_of(parts[1], world, binding))
        case _:
            yield Change("add", _ground(effect, binding))


def updated(world: World, updates: Iterable[Change]) -> dict[Atom, Fraction]:
    """The values that updates give fluents together, in any order.

    Only increases and decreases go together. Raises ``ConflictError`` where another update stands beside one, and
    ``NoValueError`` where a fluent that is increased or scaled is not defined, or is divided by 0.

    >>> world = World(Problem("p", "d", {}, frozenset(), frozenset()), Domain("d", {}, {}, {}, ()))
    >>> updated(world, [Change("increase", ("total-cost",), Fraction(number)) for number in (2, 3)])
    {('total-cost',): Fraction(5, 1)}
    """
    of_fluent: dict[Atom, list[Change]] = {}
    for update in updates:
        of_fluent.setdefault(update.target, []).append(update)
    found: dict[Atom, Fraction] = {}
    for fluent, together in of_fluent.items():
        if len(together) > 1 and not all(update.verb in ADDITIVE for update in together):
            raise ConflictError(show_formula(fluent))
        for verb, _, amount in together:
            if verb == "scale-down" and amount == 0:
                raise NoValueError(f"{show_formula(fluent)} is divided by 0")
            if fluent not in found:
                found[fluent] = Fraction(0) if verb == "assign" else value_of(fluent, world)
            found[fluent] = bounded(_APPLIED[verb](found[fluent], amount))
    return found


_APPLIED: Mapping[str, Callable[[Fraction, Fraction], Fraction]] = {
    "assign": lambda _, amount: amount,
    "increase": Fraction.__add__,
    "decrease": Fraction.__sub__,
    "scale-up": Fraction.__mul__,
    "scale-down": Fraction.__truediv__,
}


def read_by(condition: Formula, world: World, binding: Binding = UNBOUND) -> Iterator[Atom]:
    """The atoms and fluents that occur in a condition.

    >>> world = World(Problem("p", "d", {"a": "object"}, frozenset(), frozenset()), Domain("d", {}, {}, {}, ()))
    >>> list(read_by(("exists", ("?x",), ("and", ("lit", "?x"), (">", ("heat", "?x"), "3"))), world))
    [('lit', 'a'), ('heat', 'a')]
    """
    world.count()
    if not condition or isinstance(condition, str):
        return
    head, *parts = condition
    if head in CONNECTIVES:
        for part in parts:
            yield from read_by(part, world, binding)
    elif head == PREFERENCE:
        yield from read_by(parts[-1], world, binding)
    elif head in QUANTIFIERS:
        for each in bindings(parts[0], world, binding):
            yield from read_by(parts[1], world, each)
    elif head not in COMPARISONS:
        yield _ground(condition, binding)
    elif not is_equation(condition):
        for part in parts:
            yield from (_ground(fluent, binding) for fluent in fluents_of(part))


def read_by_effect(effect: Formula, world: World, binding: Binding = UNBOUND, happens: bool = True) -> Iterator[Atom]:
    """The atoms and fluents that occur in the conditions of an effect, and in the amounts of updates that happen.

    >>> world = World(Problem("p", "d", {"a": "object"}, frozenset(), frozenset()), Domain("d", {}, {}, {}, ()))
    >>> effect = ("increase", ("cost",), ("price", "a"))
    >>> list(read_by_effect(effect, world)), list(read_by_effect(("when", ("p",), effect), world))
    ([('price', 'a')], [('p',)])
    """
    world.count()
    if not effect or isinstance(effect, str):
        return
    head, *parts = effect
    if head == "and":
        for part in parts:
            yield from read_by_effect(part, world, binding, happens)
    elif head == "forall":
        for each in bindings(parts[0], world, binding):
            yield from read_by_effect(parts[1], world, each, happens)
    elif head == "when":
        yield from read_by(parts[0], world, binding)
        yield from read_by_effect(parts[1], world, binding, happens and is_true(parts[0], world, binding))
    elif head in UPDATES and happens:
        yield from (_ground(fluent, binding) for fluent in fluents_of(parts[1]))


def with_sources(atoms: Set[Atom], world: World) -> Set[Atom]:
    """The atoms with all that occurs in the rules from which they are derived, and so on.

    >>> rule = (":derived", (":derived", ("lit", "?x"), ("on", "?x")))
    >>> world = World(Problem("p", "d", {"a": "object"}, frozenset(), frozenset()),
    ...               Domain("d", {}, {}, {}, (), formulas=(rule,)))
    >>> sorted(with_sources({("lit", "a")}, world))
    [('lit', 'a'), ('on', 'a')]
    """
    rules = derivation_rules(world.domain) if world.strata else []
    found, waiting = set(atoms), [*atoms]
    while rules and waiting:
        name, *arguments = waiting.pop()
        for rule in rules:
            if rule.name == name and len(rule.variables) == len(arguments):
                variables = [variable for variable, _ in rule.variables]
                new = {*read_by(rule.body, world, dict(zip(variables, arguments, strict=True)))} - found
                found |= new
                waiting += new
    return found


class Clause(NamedTuple):
    """Of a rule: the head follows where the conjuncts are true for some objects in place of the free variables."""

    head: Atom
    conjuncts: tuple[Formula, ...]
    free: Mapping[str, Types]


class Stratum(NamedTuple):
    """The rules of a stratum, and the words in them.

    ``uses`` has, for each predicate that the stratum derives, the atoms with it in its rules, each with the clause of
    what is needed beside it. The rules ``again`` have such atoms where another one may make no instance of the rule
    true by itself, as under ``forall``. ``variables`` has those of each part of a rule, by its ``id``: no two
    quantifiers of a rule share one.
    """

    clauses: list[Clause]
    words: frozenset[str]
    variables: dict[int, Set[str]]
    uses: dict[str, list[tuple[Atom, Clause]]]
    again: list[Clause]


def _strata(domain: Domain) -> tuple[Stratum, ...]:
    return tuple(map(_stratum, strata(derivation_rules(domain))))


def _stratum(rules: Sequence[Rule]) -> Stratum:
    names = {rule.name for rule in rules}
    found = Stratum([], frozenset(word for rule in rules for word in words_of(rule.body)), {}, {}, [])
    for rule in rules:
        variables = dict(rule.variables)
        body = bound_apart(rule.body, count())
        _note_variables(body, found.variables)
        clause = Clause((rule.name, *variables), (body,), variables)
        found.clauses.append(clause)
        uses = list(_uses(body, names))
        for atom, beside, own in uses:
            seed = Clause(clause.head, beside, {**variables, **own})
            found.uses.setdefault(str(atom[0]), []).append((atom, seed))
        if sum(word in names for word in words_of(rule.body)) > len(uses):
            found.again.append(clause)
    return found


def _note_variables(formula: Formula, found: dict[int, Set[str]]) -> Set[str]:
    if isinstance(formula, str):
        return {formula} if formula.startswith("?") else set()
    found[id(formula)] = set().union(*(_note_variables(part, found) for part in formula))
    return found[id(formula)]


def _uses(formula: Formula, names: Set[str]) -> Iterator[tuple[Atom, tuple[Formula, ...], dict[str, Types]]]:
    """Atoms of these predicates, each with what else makes the formula true, over variables of ``exists``."""
    head, parts = formula[:1], formula[1:]
    if head == ("and",):
        spend(len(parts))
        for place, part in enumerate(parts):
            for atom, beside, own in _uses(part, names):
                spend(len(parts))
                yield atom, (*beside, *parts[:place], *parts[place + 1 :]), own
    elif head == ("or",):
        for part in parts:
            yield from _uses(part, names)
    elif head == ("exists",):
        for atom, beside, own in _uses(parts[1], names):
            yield atom, beside, {**dict(typed_list(parts[0], "a quantifier")), **own}
    elif is_atom(formula) and formula[0] in names:
        yield cast("Atom", formula), (), {}


def derived(stratum: Stratum, world: World, true: set[Atom]) -> set[Atom]:
    """What a stratum derives from the atoms that are true, which it is added to: the least fixpoint, semi-naively.

    After the first round a rule is tried with each new atom in place of one that it needs. A rule whose body has no
    truth value derives nothing.
    """
    world.index, world.variables = {}, stratum.variables
    for atom in sorted(atom for atom in true if atom[0] in stratum.words):
        _enter(atom, world)
    spend(len(true))
    found: list[Atom] = []
    waiting: list[tuple[Clause, Binding]] = [(clause, UNBOUND) for clause in stratum.clauses]
    tried = 0
    while waiting:
        for atom in chain.from_iterable(_follows(clause, binding, world) for clause, binding in waiting):
            if atom not in true:
                true.add(atom)
                found.append(atom)
                _enter(atom, world)
                if len(true) > MAX_ATOMS:
                    raise OutOfBudgetError(f"more than {MAX_ATOMS:,} atoms are true")
        new, tried = found[tried:], len(found)
        waiting = [seed for atom in new for seed in _seeds(stratum, atom, world)]
        waiting += [(clause, UNBOUND) for clause in stratum.again if new]
    world.index = None
    return set(found)


def _seeds(stratum: Stratum, atom: Atom, world: World) -> Iterator[tuple[Clause, Binding]]:
    """The clauses in which a new atom is in place of one that a rule needs."""
    for lifted, clause in stratum.uses.get(atom[0], ()):
        fitting = {name: world.of_types(types) for name, types in clause.free.items()}
        binding = unify(lifted, atom, {}, fitting) if len(lifted) == len(atom) else None
        if binding is not None:
            yield clause, binding


def _follows(clause: Clause, binding: Binding, world: World) -> Iterator[Atom]:
    free = {name: world.of_types(types) for name, types in clause.free.items() if name not in binding}
    return (_ground(clause.head, each) for each in solutions(clause.conjuncts, free, world, binding))


def _enter(atom: Atom, world: World) -> None:
    assert world.index is not None
    for key in [(atom[0],), *[(atom[0], place, name) for place, name in enumerate(atom[1:], 1)]]:
        world.index.setdefault(key, []).append(atom)


def _indexed(lifted: Atom, free: Collection[str], world: World) -> Sequence[Atom]:
    """True atoms among which are all that an atom with free variables stands for, while atoms are derived."""
    assert world.index is not None
    keys: list[tuple[str | int, ...]] = [
        (lifted[0], place, term) for place, term in enumerate(lifted[1:], 1) if term not in free
    ]
    return min([world.index.get(key, ()) for key in keys or [(lifted[0],)]], key=len)


def solutions(  # noqa: C901 (one case a construct)
    conjuncts: Sequence[Formula], free: Mapping[str, Collection[str]], world: World, binding: Binding
) -> Iterator[Binding]:
    """The bindings of free variables to objects that fit under which conjuncts are true, maybe some of them twice.

    Only while atoms are derived. What has no free variable is tested, then atoms bind theirs, fewest first, then what
    is left of the others is tried with all objects.
    """
    world.count()
    if len(free) > MAX_VARIABLES:
        raise OutOfBudgetError(f"a rule has more than {MAX_VARIABLES} variables")
    left: list[tuple[Formula, ...]] = []
    for each in conjuncts:
        if free and not free.keys().isdisjoint(world.variables[id(each)]):
            left.append(cast("tuple[Formula, ...]", each))
        elif not is_true(each, world, binding):
            return
    ways: list[tuple[int, int, Sequence[Atom]]] = []
    for place, each in enumerate(left):
        rest = [*left[:place], *left[place + 1 :]]
        if each[0] == "and":
            yield from solutions([*each[1:], *rest], free, world, binding)
            return
        if each[0] == "exists":
            yield from solutions([each[2], *rest], {**free, **dict(world.ranges(each[1]))}, world, binding)
            return
        if is_atom(each):
            lifted = _ground(cast("Atom", each), binding)
            found = _indexed(lifted, free, world)
            ways.append((len(found), place, found))
    if ways:
        _, place, atoms = min(ways, key=itemgetter(0))
        lifted = _ground(cast("Atom", left[place]), binding)
        rest = [*left[:place], *left[place + 1 :]]
        for atom in atoms:
            world.count()
            matched = unify(lifted, atom, {}, free) if len(atom) == len(lifted) else None
            if matched is not None:
                still = {name: objects for name, objects in free.items() if name not in matched}
                yield from solutions(rest, still, world, {**binding, **matched})
    elif either := next((each for each in left if each[0] == "or"), None):
        rest = [each for each in left if each is not either]
        for part in either[1:]:
            yield from solutions([part, *rest], free, world, binding)
    else:
        # Where nothing is left to be true, any objects are.
        names = [name for name in free if not left or name in world.variables[id(left[0])]]
        still = {name: objects for name, objects in free.items() if name not in names}
        for chosen in product(*[free[name] for name in names]):
            world.count()
            more = {**binding, **dict(zip(names, chosen, strict=True))}
            yield from solutions(left, still, world, more) if left else [more]


def bindings(listing: Formula, world: World, binding: Binding) -> Iterator[Binding]:
    """The binding with each choice of objects for the variables of a typed list."""
    ranges = world.ranges(listing)
    names = [name for name, _ in ranges]
    for chosen in product(*[objects for _, objects in ranges]):
        world.count()
        yield {**binding, **dict(zip(names, chosen, strict=True))}


def instances(formula: Formula, world: World, binding: Binding = UNBOUND) -> Iterator[Formula]:
    """The conjuncts that a condition stands for, those of ``forall`` with each choice of objects.

    >>> world = World(Problem("p", "d", {"a": "object", "b": "object"}, frozenset(), frozenset()),
    ...               Domain("d", {}, {}, {}, ()))
    >>> list(instances(("and", ("forall", ("?x",), ("and", ("lit", "?x"), ("on",))), ("dark",)), world))
    [('lit', 'a'), ('on',), ('lit', 'b'), ('on',), ('dark',)]
    """
    if formula[:1] == ("and",):
        for part in formula[1:]:
            yield from instances(part, world, binding)
    elif formula[:1] == ("forall",):
        for each in bindings(formula[1], world, binding):
            yield from instances(formula[2], world, each)
    elif formula:
        yield grounded(formula, binding)


def witnesses(listing: Formula, body: Formula, world: World, binding: Binding) -> Iterator[Binding]:
    """The bindings of ``exists`` under which the body may be true; while atoms are derived, those under which it is."""
    if world.index is None or compares_numbers(body):  # which may have no truth value
        return bindings(listing, world, binding)
    return solutions((body,), dict(world.ranges(listing)), world, binding)


def grounded(formula: Formula, binding: Mapping[str, Formula]) -> Formula:
    """The formula with values in place of its free variables.

    >>> grounded(("exists", ("?x",), ("on", "?x", "?y")), {"?x": "a", "?y": "b"})
    ('exists', ('?x',), ('on', '?x', 'b'))
    """
    if isinstance(formula, str):
        return binding.get(formula, formula)
    if formula and formula[0] in QUANTIFIERS:
        head, listing, body = formula
        if not binding.keys().isdisjoint(listing):  # Its variables hide those outside.
            hidden = {name for name, _ in typed_list(listing, "a quantifier")}
            binding = {name: each for name, each in binding.items() if name not in hidden}
        return head, listing, grounded(body, binding)
    return tuple([grounded(part, binding) for part in formula])


def _ground(terms: Iterable[Formula], binding: Binding) -> Atom:
    return tuple([binding.get(term, term) for term in cast("Iterable[str]", terms)])


def bounded(number: Fraction) -> Fraction:
    """The number; raises ``OutOfBudgetError`` where it has more than ``MAX_BITS``.

    >>> bounded(Fraction(1, 3))
    Fraction(1, 3)
    """
    if max(number.numerator.bit_length(), number.denominator.bit_length()) > MAX_BITS:
        raise OutOfBudgetError(f"a number has more than {MAX_BITS:,} bits")
    return number
