"""The values of planning: atoms, problems, operators, domains, and what it means to apply an operator.

Atoms are plain tuples and states are frozensets of atoms, so that the definitions of the literature are the lines of
code: a goal holds in a state when ``goal <= state``. Nothing here reads text, searches or scores.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Self

Atom = tuple[str, ...]
"""A predicate's name followed by its arguments: ``("on", "b1", "b2")``."""

Action = tuple[str, ...]
"""An operator's name followed by its arguments: ``("stack", "b1", "b2")``."""


class Scheduled(Action):
    """An action with the time at which it starts and how long it takes, as far as a text says so.

    ``more`` are further durations where it starts several times at that time. It is equal to the bare action: what
    compares plans looks at actions, and only the validator at times.

    >>> Scheduled(("move", "a"), Fraction(1, 2)) == ("move", "a")
    True
    """

    start: Fraction | None
    duration: Fraction | None
    more: tuple[Fraction | None, ...]

    def __new__(
        cls,
        action: Action,
        start: Fraction | None = None,
        duration: Fraction | None = None,
        more: tuple[Fraction | None, ...] = (),
    ) -> Self:
        scheduled = super().__new__(cls, action)
        scheduled.start, scheduled.duration, scheduled.more = start, duration, more
        return scheduled


def in_order_of(parameters: Sequence[str], arguments: Sequence[str]) -> Sequence[str]:
    """The arguments, in the order of the parameters if each is written ``name=object``.

    >>> in_order_of(("?x", "?y"), ("y=a", "x=b")), in_order_of(("?x",), ("b",))
    (['b', 'a'], ('b',))
    """
    named = dict(argument.split("=", 1) for argument in arguments if "=" in argument)
    if named and len(named) == len(arguments) and sorted(f"?{key}" for key in named) == sorted(parameters):
        return [named[parameter[1:]].strip() for parameter in parameters]
    return arguments


State = frozenset[Atom]

Types = tuple[str, ...]
"""The alternative types of a parameter (PDDL's ``either``), nearly always one."""

Formula = str | tuple["Formula", ...]
"""A PDDL expression as written: a word, or a head and what follows it."""

PREDICATE, FUNCTION = "predicate", "function"
"""What a domain declares, in words."""

ROOT_TYPE = "object"
"""The type of an object that declares none, and the ancestor of every type."""

EQUALITY = "="
"""The predicate of ``(= ?x ?y)``: decided by the arguments, never part of a state."""

COMPARISONS = frozenset({"<", ">", "<=", ">=", EQUALITY})
"""Heads of comparisons, of numbers or, for ``EQUALITY``, of objects (``is_equation``)."""

UPDATES = frozenset({"increase", "decrease", "assign", "scale-up", "scale-down"})
"""Heads of effects on numbers."""

ARITHMETIC = frozenset({"+", "-", "*", "/"})

CONNECTIVES = frozenset({"and", "or", "not", "imply"})

QUANTIFIERS = frozenset({"forall", "exists"})

BINDERS = QUANTIFIERS | {":derived"}
"""Heads of what begins with variables: quantifiers, and rules of derived predicates."""

NUMBER = re.compile(r"-?+(?:[0-9]{1,1000}+(?:\.[0-9]{1,1000}+)?+|\.[0-9]{1,1000}+)(?:e[+-]?+[0-9]{1,3}+)?+")
"""A number; PDDL has none with an exponent, but programs print them."""

TOTAL_COST: Atom = ("total-cost",)
"""The function that is 0 where the initial state does not say what it is."""

TOTAL_TIME: Atom = ("total-time",)
"""When the plan ends, in a metric: the makespan, without times the number of steps."""

DURATION = "?duration"
"""The variable of a durative action to which PDDL itself gives a meaning."""

When = tuple[str, str]
"""``AT_START``, ``OVER_ALL`` or ``AT_END`` of a durative action."""

AT_START: When = ("at", "start")
OVER_ALL: When = ("over", "all")
AT_END: When = ("at", "end")

IS_VIOLATED = "is-violated"
"""In a metric, how often a preference is violated: ``("is-violated p",)`` is a function that ends with that number."""

PREFERENCE = "preference"
"""The head of a condition that may be violated: it is never false."""

NO_PREDICATES = CONNECTIVES | QUANTIFIERS | COMPARISONS | {PREFERENCE}


@dataclass(frozen=True, slots=True)
class Problem:
    """A set of typed objects, an initial state (closed world) and a goal (open world), all in lower case.

    ``values`` are the numbers of the initial state: ``{("fuel", "t1"): Fraction(3)}``. ``formulas`` are what sets of
    atoms cannot say, as written, each with its section: conjuncts of the ``:goal`` that are no atoms, and the
    ``:metric``. A STRIPS problem has neither. ``denied`` are atoms that the text calls false in the initial
    state, which says nothing under a closed world. ``remarks`` say what of the text VAL reads and the ``pddl`` package
    does not.

    >>> swap = Problem("p", "blocksworld", {"a": "object"}, frozenset({("clear", "a")}), frozenset())
    >>> swap.goal <= swap.init
    True
    """

    name: str
    domain: str
    objects: Mapping[str, str]
    init: State
    goal: State
    values: Mapping[Atom, Fraction] = field(default_factory=dict)
    formulas: tuple[tuple[str, Formula], ...] = ()
    denied: State = field(default=frozenset(), compare=False)
    remarks: tuple[str, ...] = field(default=(), compare=False)

    @property
    def is_strips(self) -> bool:
        """True where sets of atoms say it all."""
        return not self.values and not self.formulas

    @property
    def has_numbers(self) -> bool:
        """True where it has a metric, a number that does not go without saying as a ``total-cost`` of 0 does, or a goal
        that compares numbers.
        """
        said = any(value or fluent != TOTAL_COST for fluent, value in self.values.items())
        return said or self.metric is not None or any(map(compares_numbers, self.conjuncts))

    @property
    def conjuncts(self) -> tuple[Formula, ...]:
        """The conjuncts of the goal that are no atoms."""
        return self._section(":goal")

    @property
    def constraints(self) -> tuple[Formula, ...]:
        """What the states that a plan passes through have to be, as written."""
        return self._section(":constraints")

    @property
    def timed_literals(self) -> tuple[Formula, ...]:
        """What becomes true, false or another number at a time, whatever the plan: ``("at", "5", ("open",))``."""
        return self._section(":init")

    @property
    def beyond_states(self) -> str | None:
        """What of it no reachable state alone decides, in words: a timed literal, a constraint, a preference."""
        named = {"a timed initial literal": self.timed_literals, "a trajectory constraint": self.constraints}
        found = next((name for name, formulas in named.items() if formulas), None)
        return found or ("a preference" if PREFERENCE in words_of(self.conjuncts) else None)

    def _section(self, name: str) -> tuple[Formula, ...]:
        return tuple([formula for section, formula in self.formulas if section == name])

    @property
    def goal_as_written(self) -> tuple[Formula, ...]:
        """All conjuncts of the goal, the atoms first."""
        return (*sorted(self.goal), *self.conjuncts)

    @property
    def metric(self) -> Formula | None:
        """``("minimize", …)`` or ``("maximize", …)``, None where there is none."""
        return next((formula for section, formula in self.formulas if section == ":metric"), None)

    def with_goal(self, conjuncts: Iterable[Formula]) -> Problem:
        """The same problem with another goal."""
        others = [formula for formula in self.formulas if formula[0] != ":goal"]
        return replace(self, goal=frozenset(), formulas=(*((":goal", each) for each in conjuncts), *others))

    def without_types(self) -> Problem:
        """The same problem with every object a plain ``object`` (the paper's figure 4, "ignoring typing")."""
        return replace(self, objects=dict.fromkeys(self.objects, ROOT_TYPE))


def is_equation(formula: Formula) -> bool:
    """True where a comparison is one of objects, not of numbers.

    >>> is_equation(("=", "?x", "b1")), is_equation(("=", "fuel", "3"))
    (True, False)
    """
    return formula[0] == EQUALITY and all(isinstance(term, str) and not NUMBER.fullmatch(term) for term in formula[1:])


def negates(formula: Formula, is_effect: bool = False) -> bool:
    """True where a condition, or a condition in an effect, asks for something to be false; equations do not count.

    >>> negates(("when", ("not", ("on", "?l")), ("lit", "?l")), is_effect=True), negates(("not", ("on", "?l")), True)
    (True, False)
    """
    if isinstance(formula, str) or not formula:
        return False
    head, *parts = formula
    is_unequal = any(part[:1] == (EQUALITY,) for part in parts)
    if not is_effect and (head == "imply" or (head == "not" and not is_unequal)):
        return True
    if is_effect and head == "when":
        return any(negates(part, place > 0) for place, part in enumerate(parts))
    return any(negates(part, is_effect) for part in parts[head in BINDERS :])


def is_atom(formula: Formula) -> bool:
    """True for an atom, which may have variables.

    >>> is_atom(("on", "?x", "b")), is_atom(("not", ("on", "a", "b")))
    (True, False)
    """
    return bool(formula) and not isinstance(formula, str) and formula[0] not in NO_PREDICATES


def words_of(formula: Formula) -> Iterator[str]:
    """All words of a formula in their order, heads and lists of variables included.

    >>> list(words_of(("not", ("on", "a", "b"))))
    ['not', 'on', 'a', 'b']
    """
    if isinstance(formula, str):
        yield formula
        return
    for part in formula:
        yield from words_of(part)


def bound_apart(formula: Formula, numbers: Iterator[int], names: Mapping[str, str] | None = None) -> Formula:
    """The formula with a name of its own, which no text has, for each variable that it binds.

    >>> from itertools import count
    >>> bound_apart(("not", ("exists", ("?x",), ("on", "?x", "?y"))), count())
    ('not', ('exists', ('? 0',), ('on', '? 0', '?y')))
    """
    names = names or {}
    if isinstance(formula, str) or not formula:
        return names.get(formula, formula) if isinstance(formula, str) else formula
    if formula[0] in BINDERS and len(formula) > 1:
        own = {word: f"? {next(numbers)}" for word in formula[1] if isinstance(word, str) and word.startswith("?")}
        names = {**names, **own}
    return tuple([bound_apart(part, numbers, names) for part in formula])


def fluents_of(expression: Formula) -> Iterator[Atom]:
    """The fluents of a numeric expression.

    >>> list(fluents_of(("+", "fuel", ("*", "2", ("price", "a")))))
    [('fuel',), ('price', 'a')]
    """
    if isinstance(expression, str):
        if not NUMBER.fullmatch(expression) and expression != DURATION:
            yield (expression,)
    elif expression[0] in ARITHMETIC:
        for part in expression[1:]:
            yield from fluents_of(part)
    else:
        yield tuple([word for word in expression if isinstance(word, str)])


def compares_numbers(formula: Formula) -> bool:
    """True where a formula has a comparison that is not one of two objects.

    >>> compares_numbers(("or", ("=", "?x", "?y"), ("p",))), compares_numbers(("not", ("=", ("fuel",), "1")))
    (False, True)
    """
    if isinstance(formula, str) or not formula:
        return False
    if formula[0] in COMPARISONS:
        return not is_equation(formula)
    return any(map(compares_numbers, formula))


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator: lifted, with variables (``"?x"``) as parameters, or ground, with objects in their place.

    Each parameter stands with its alternative types. ``(= ?x ?y)`` is the atom ``("=", "?x", "?y")`` among the
    preconditions, negated among the negative ones; a ground operator has none. ``formulas`` are the conjuncts that sets
    of atoms cannot say (quantifiers, conditional effects, costs …), each with the part that it stands in; only
    ``validation`` asks for them. Those of a durative action are its parts as written; it is executed, and compared, by
    its ``halves``: what it needs and does at its start, over all and at its end, where ``when`` says which of these it
    is (Fox and Long, definition 18).

    >>> drop = Operator("drop", (("?b", ("ball",)),), frozenset({("held", "?b")}), frozenset(), frozenset(),
    ...                 frozenset({("held", "?b")})).renamed({"?b": "b1"})
    >>> drop.action, drop.applicable(frozenset({("held", "b1")})), drop.apply(frozenset({("held", "b1")}))
    (('drop', 'b1'), True, frozenset())
    """

    name: str
    parameters: tuple[tuple[str, Types], ...]
    preconditions: State
    negative_preconditions: State
    add_effects: State
    delete_effects: State
    formulas: tuple[tuple[str, Formula], ...] = ()
    when: When | tuple[()] = ()
    halves: Mapping[When, Operator] = field(default_factory=dict, compare=False)

    @property
    def action(self) -> Action:
        """The operator's name followed by its parameters."""
        return (self.name, *(parameter for parameter, _ in self.parameters))

    @property
    def parts(self) -> tuple[State, State, State, State]:
        """Preconditions, negative preconditions, add effects and delete effects."""
        return self.preconditions, self.negative_preconditions, self.add_effects, self.delete_effects

    def applicable(self, state: Set[Atom]) -> bool:
        """pre⁺(a) ⊆ s and pre⁻(a) ∩ s = ∅."""
        return self.preconditions <= state and self.negative_preconditions.isdisjoint(state)

    def apply(self, state: State) -> State:
        """γ(s, a) = (s − del(a)) ∪ add(a) (the paper's definition 1)."""
        return (state - self.delete_effects) | self.add_effects

    def renamed(self, names: Mapping[str, str]) -> Operator:
        """The operator, without its formulas, with other names for its parameters and for the constants in it."""
        parameters = tuple((names.get(parameter, parameter), types) for parameter, types in self.parameters)
        preconditions, negative, added, deleted = (renamed(part, names) for part in self.parts)
        return Operator(self.name, parameters, preconditions, negative, added, deleted)

    def without_types(self) -> Operator:
        """The same operator with parameters that any object fits."""
        return replace(self, parameters=tuple((name, (ROOT_TYPE,)) for name, _ in self.parameters))


@dataclass(frozen=True, slots=True)
class Domain:
    """A planning domain.

    ``types`` maps each declared type to its parent; ``constants`` maps each constant to its type; ``predicates`` and
    ``functions`` map a name to its parameters' types. ``outside_strips`` names each construct that the STRIPS reading
    had to leave out (``"sail: forall"``): where it is not empty, the operators do not say all that the text says.
    ``formulas`` are the sections that belong to no operator, such as derived predicates, as written. ``several`` has
    all types of those types and constants (``("types", "amphibian")``) that are declared with more than one, by
    ``either`` or twice.
    """

    name: str
    types: Mapping[str, str]
    constants: Mapping[str, str]
    predicates: Mapping[str, tuple[Types, ...]]
    operators: tuple[Operator, ...]
    outside_strips: tuple[str, ...] = ()
    formulas: tuple[tuple[str, Formula], ...] = ()
    several: Mapping[tuple[str, str], Types] = field(default_factory=dict)
    functions: Mapping[str, tuple[Types, ...]] = field(default_factory=dict)

    def __hash__(self) -> int:
        # The mappings have no hash. The name alone would put all answers to one task into one place of a cache.
        return hash((self.name, *(part for operator in self.operators for part in operator.parts)))

    def ancestors(self, type_: str) -> Iterator[str]:
        """The type itself, then its ancestors up to ``object``; an undeclared type is a plain ``object``.

        Each of several parents is an ancestor, as VAL reads them.

        >>> list(Domain("d", {"truck": "vehicle", "vehicle": "object"}, {}, {}, ()).ancestors("truck"))
        ['truck', 'vehicle', 'object']
        """
        seen = {ROOT_TYPE}
        waiting = [type_]
        for each in waiting:  # grows while it is walked
            if each in self.types and each not in seen:
                seen.add(each)
                yield each
                waiting += self.parents(each)
        yield ROOT_TYPE

    def parents(self, type_: str) -> Types:
        """The types that a declared type is declared with, nearly always one."""
        return self.several.get(("types", type_)) or (self.types[type_],)

    def types_of(self, constant: str) -> Types:
        """The type of a constant, or its alternative types; of one that is not declared: ``object``."""
        return self.several.get(("constants", constant)) or (self.constants.get(constant, ROOT_TYPE),)

    def fits(self, type_: str, alternatives: Types) -> bool:
        """True when an object of that type may stand for a parameter; an undeclared type asks for a plain object."""
        ancestors = set(self.ancestors(type_))
        return any(wanted in ancestors or wanted not in self.types or wanted == ROOT_TYPE for wanted in alternatives)

    def ill_typed(self, problem: Problem) -> str | None:
        """In words, the first atom or number of a problem's sets that the declarations do not admit, if any.

        VAL refuses a problem with an undeclared predicate or function, or with arguments that do not fit. A domain
        without types, or without declarations of predicates, admits everything.

        >>> car = Domain("d", {"car": "object"}, {}, {"at": (("car",), ("object",))}, ())
        >>> car.ill_typed(Problem("p", "d", {"x": "object"}, frozenset({("at", "x", "x")}), frozenset()))
        '(at x x): argument 1 of at is of type car, not object'
        """
        types = {**problem.objects, **self.constants}
        atoms = problem.init | problem.goal | problem.denied
        return self.misfit(atoms, types) or self.misfit(problem.values.keys(), types, FUNCTION)

    def misfit(self, atoms: Set[Atom], types: Mapping[str, str], what: str = PREDICATE) -> str | None:
        """In words, the first of some atoms over terms of these types that the declarations do not admit.

        ``what`` says whether they are atoms or numbers.
        """
        if not self.types or not self.predicates:
            return None
        kinds = {(atom[0], tuple(map(types.get, atom[1:]))) for atom in atoms if atom[0] != EQUALITY}
        refused = {kind: why for kind in kinds if (why := _misfit(self, *kind, what))}  # of thousands few kinds
        for atom in sorted(atoms) if refused else ():
            if why := refused.get((atom[0], tuple(map(types.get, atom[1:])))):
                return f"{show_atom(atom)}: {why}"
        return None

    def why_not(self, atom: Atom, types: Mapping[str, str]) -> str | None:
        """As ``misfit``, for one atom, also in a domain without types: there only its words and their number count."""
        return _misfit(self, atom[0], tuple(map(types.get, atom[1:]))) if atom[0] != EQUALITY else None

    def without_types(self) -> Domain:
        """The same domain with every parameter and constant a plain ``object``."""
        return replace(
            self,
            types={},
            constants=dict.fromkeys(self.constants, ROOT_TYPE),
            predicates={name: ((ROOT_TYPE,),) * len(types) for name, types in self.predicates.items()},
            functions={name: ((ROOT_TYPE,),) * len(types) for name, types in self.functions.items()},
            operators=tuple(operator.without_types() for operator in self.operators),
            several={},
        )


def _misfit(domain: Domain, predicate: str, types: tuple[str | None, ...], what: str = PREDICATE) -> str | None:
    """In words, why the declarations admit no atom of the predicate over terms of these types (None: any)."""
    declared = (domain.functions if what == FUNCTION else domain.predicates).get(predicate)
    if declared is None:  # total-cost and total-time need no declaration
        is_built_in = what == FUNCTION and (predicate, *types) in (TOTAL_COST, TOTAL_TIME)
        is_built_in |= predicate.startswith(f"{IS_VIOLATED} ")
        return None if is_built_in else no_such_predicate(predicate, what)
    if len(declared) != len(types):
        return wrong_number_of_arguments(predicate, len(declared), len(types))
    for number, (type_, wanted) in enumerate(zip(types, declared, strict=True), 1):
        if type_ is not None and not domain.fits(type_, wanted):
            return wrong_type(predicate, number, " or ".join(wanted), type_)
    return None


def no_such_predicate(predicate: str, what: str = PREDICATE) -> str:
    """The sentence about a predicate or a function that a domain does not declare."""
    return f"the domain declares no {what} {predicate}"


def wrong_number_of_arguments(predicate: str, takes: int, given: int) -> str:
    """The sentence about an atom with a wrong number of arguments."""
    return f"{predicate} takes {takes} argument{'' if takes == 1 else 's'}, not {given}"


def wrong_type(predicate: str, number: int, wanted: str, type_: str) -> str:
    """The sentence about an argument of a wrong type."""
    return f"argument {number} of {predicate} is of type {wanted}, not {type_}"


def indexes(bits: int) -> Iterator[int]:
    """The positions of the set bits, lowest first.

    >>> list(indexes(0b1010))
    [1, 3]
    """
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


def show_atom(atom: Atom) -> str:
    """An atom or action as PDDL writes it.

    >>> show_atom(("on", "b1", "b2"))
    '(on b1 b2)'
    """
    return f"({' '.join(atom)})"


def show_formula(formula: Formula) -> str:
    """A formula as PDDL writes it.

    >>> show_formula(("not", ("on", "b1", "b2")))
    '(not (on b1 b2))'
    """
    if isinstance(formula, str):
        return formula
    try:
        return f"({' '.join(formula)})"  # type: ignore[arg-type]
    except TypeError:  # it has parts
        return f"({' '.join(map(show_formula, formula))})"


def renamed_atom(atom: Atom, names: Mapping[str, str]) -> Atom:
    """The atom or the action with other names for its arguments, of which the map names some; no atom stays none.

    >>> renamed_atom(("on", "a", "b"), {"a": "x"})
    ('on', 'x', 'b')
    """
    return (*atom[:1], *map(names.get, atom[1:], atom[1:]))


def renamed(atoms: Iterable[Atom], names: Mapping[str, str]) -> State:
    """The atoms with other names for their arguments."""
    return frozenset([renamed_atom(atom, names) for atom in atoms]) if atoms else frozenset()


def show_number(value: Fraction) -> str:
    """A number as PDDL writes it, exactly; what no decimal says is written as a fraction, which PDDL cannot read.

    >>> [show_number(Fraction(*each)) for each in ((3,), (-5, 2), (1, 3))]
    ['3', '-2.5', '1/3']
    """
    places, rest = 0, value.denominator
    for prime in (2, 5):
        power = 0
        while not rest % prime:
            rest, power = rest // prime, power + 1
        places = max(places, power)
    if not places or rest > 1:
        return str(value)
    digits = str(abs(value.numerator) * 10**places // value.denominator).rjust(places + 1, "0")
    return f"{'-' if value < 0 else ''}{digits[:-places]}.{digits[-places:]}"


def problem_to_pddl(problem: Problem) -> str:
    """The problem as PDDL text, one section a line, atoms in alphabetical order.

    >>> print(problem_to_pddl(Problem("p", "d", {"a": "t", "b": "object"}, frozenset({("q", "a")}), frozenset())))
    (define (problem p)
      (:domain d)
      (:requirements :strips :typing)
      (:objects a - t b)
      (:init (q a))
      (:goal (and))
    )
    """
    by_type: dict[str, list[str]] = {}
    for name, type_ in problem.objects.items():
        by_type.setdefault(type_, []).append(name)
    untyped = by_type.pop(ROOT_TYPE, [])
    listing = [f"{' '.join(names)} - {type_}" for type_, names in by_type.items()] + [" ".join(untyped)]
    requirements = [":strips", *[":typing"] * bool(by_type), *[":adl"] * bool(problem.conjuncts)]
    requirements += [":numeric-fluents"] * bool(problem.values or problem.metric)
    requirements += [":timed-initial-literals"] * bool(problem.timed_literals)
    requirements += [":constraints"] * bool(problem.constraints)
    values = [f"(= {show_atom(fluent)} {show_number(value)})" for fluent, value in sorted(problem.values.items())]
    lines = [
        f"(define (problem {problem.name})",
        f"  (:domain {problem.domain})",
        f"  (:requirements {' '.join(requirements)})",
        f"  (:objects {' '.join(part for part in listing if part)}".rstrip() + ")",
        " ".join(
            ["  (:init", *map(show_atom, sorted(problem.init)), *values, *map(show_formula, problem.timed_literals)]
        )
        + ")",
        " ".join(["  (:goal (and", *map(show_atom, sorted(problem.goal)), *map(show_formula, problem.conjuncts)])
        + "))",
    ]
    if problem.constraints:
        lines.append(f"  (:constraints (and {' '.join(map(show_formula, problem.constraints))}))")
    metric = [f"  (:metric {' '.join(map(show_formula, problem.metric))})"] if problem.metric else []
    return "\n".join([*lines, *metric, ")"])


def domain_to_pddl(domain: Domain) -> str:
    """What a domain says without numbers and time, as PDDL text; ``parse_domain`` reads it back.

    Atoms are in alphabetical order, behind them what is no literal: ADL and rules of derived predicates.

    >>> print(domain_to_pddl(Domain("d", {"car": "object"}, {}, {"at": (("car",),)}, ())))
    (define (domain d)
      (:requirements :strips :typing :equality :negative-preconditions)
      (:types car - object)
      (:predicates (at ?x0 - car))
    )
    """

    def shown_types(alternatives: Types) -> str:
        return alternatives[0] if len(alternatives) == 1 else f"(either {' '.join(alternatives)})"

    def part(positive: State, negative: State, formulas: Iterable[Formula]) -> str:
        negated = (f"(not {show_atom(atom)})" for atom in sorted(negative))
        others = (show_formula(each) for each in formulas if UPDATES.isdisjoint(words_of(each)))
        return " ".join(["(and", *map(show_atom, sorted(positive)), *negated, *others]) + ")"

    def listing(section: str, single: Mapping[str, str]) -> str:
        several = ((name, domain.several.get((section, name), (type_,))) for name, type_ in single.items())
        return " ".join(f"{name} - {shown_types(types)}" for name, types in several)

    predicates = [
        f"({name}{''.join(f' ?x{index} - {shown_types(types)}' for index, types in enumerate(arguments))})"
        for name, arguments in domain.predicates.items()
    ]
    lines = [
        f"(define (domain {domain.name})",
        "  (:requirements :strips :typing :equality :negative-preconditions)",
    ]
    # An empty section is left out: with (:types ) VAL knows no type of an object.
    listed = [(section, listing(section, getattr(domain, section))) for section in ("types", "constants")]
    lines += [f"  (:{section} {names})" for section, names in listed if names]
    lines.append(f"  (:predicates {' '.join(predicates)})")
    lines += [f"  {show_formula(rule)}" for section, rule in domain.formulas if section == ":derived"]
    for operator in domain.operators:
        parameters = " ".join(f"{variable} - {shown_types(types)}" for variable, types in operator.parameters)
        needed, done = (
            [form for part, form in operator.formulas if part == name] for name in (":precondition", ":effect")
        )
        lines += [
            f"  (:action {operator.name}",
            f"    :parameters ({parameters})",
            f"    :precondition {part(operator.preconditions, operator.negative_preconditions, needed)}",
            f"    :effect {part(operator.add_effects, operator.delete_effects, done)})",
        ]
    return "\n".join([*lines, ")"])
