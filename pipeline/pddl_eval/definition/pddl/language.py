"""The part of PDDL that plans are executed in, and the names of what lies outside it.

Executed: PDDL 1.2 with ADL (negation, disjunction, implication, quantifiers, equality, conditional effects), derived
predicates, action costs and numeric fluents (PDDL 2.1, level 2), durative actions, constraints and preferences. What
formulas mean is said in ``definition.formulas``. Refused by name: processes, events, nondeterminism, object fluents.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Set
from contextlib import suppress
from functools import partial
from itertools import chain
from typing import NamedTuple

from pddl_eval.definition import words
from pddl_eval.definition.budget import spend
from pddl_eval.definition.model import (
    AT_END,
    COMPARISONS,
    CONNECTIVES,
    DURATION,
    FUNCTION,
    IS_VIOLATED,
    NUMBER,
    PREDICATE,
    PREFERENCE,
    QUANTIFIERS,
    UPDATES,
    Atom,
    Domain,
    Formula,
    Operator,
    Types,
    fluents_of,
    is_atom,
    is_equation,
)
from pddl_eval.definition.pddl.domains import DomainError, typed_list
from pddl_eval.definition.pddl.durative import DURATION_PART
from pddl_eval.definition.pddl.sexpr import excerpt
from pddl_eval.shown import quote

MAX_STRATA = 50
"""Strata of a domain's rules, each found in time linear in the rules."""

MAX_ALTERNATIVES = 20
"""Types of one variable (``either``) that are compared with the declarations."""

_OVER_TIME = frozenset({"durative action", ":constraints", PREFERENCE})
"""Constructs with which no reachable state alone says whether a plan is valid, and what it costs."""
_EXECUTED = _OVER_TIME | {"when", "forall", "exists", "or", "imply", "numeric condition", "negated conjunction"}
_EXECUTED |= {"derived predicate"}
"""Constructs that ``Domain.outside_strips`` names, and that are executed all the same if nothing in them is refused."""
_SEVERAL_TYPES = "has more than one type"
_OPERANDS = {"not": 1, "imply": 2}
"""How many formulas these take; ``and`` and ``or`` take any number."""
_ARITHMETIC = {"+": (1, None), "*": (1, None), "-": (1, None), "/": (2, 2)}
"""How many numbers each takes, at least and at most."""
MODAL = {
    "always": (0, 1),
    "sometime": (0, 1),
    "at-most-once": (0, 1),
    "sometime-after": (0, 2),
    "sometime-before": (0, 2),
    "within": (1, 1),
    "always-within": (1, 2),
    "hold-after": (1, 1),
    "hold-during": (2, 1),
}
"""Modal operators of constraints, but for ``at end``: how many times and how many formulas follow each."""
_REFUSED = frozenset(
    {PREFERENCE, "oneof", "probabilistic", "unknown", "when", "at", "over", "at-end", "at-start", *MODAL}
)


_NO_PARAMETER, _NO_CONSTANT = " is not a parameter", " is not a constant"  # as ``Domain.outside_strips`` says it

_METRICS = frozenset({"minimize", "maximize"})
_RESERVED = UPDATES | _METRICS | {"when"}
"""No names of predicates: in formulas and metrics they say something else."""


class Undeclared(str):
    """The fault that a formula names an object that nobody declares."""

    name: str

    def __new__(cls, name: str) -> Undeclared:
        fault = super().__new__(cls, f"{name}{_NO_CONSTANT}")
        fault.name = name
        return fault


class Scope(NamedTuple):
    """What a formula may name: variables, objects, and which predicates are derived."""

    variables: Set[str]
    names: Collection[str]
    derived: Collection[str] = ()
    has_duration: bool = False

    def within(self, variables: Iterable[str]) -> Scope:
        """The scope inside a quantifier."""
        return self._replace(variables=self.variables | {*variables})


_Faults = Callable[[Formula, Scope], Iterator[str]]


class Rule(NamedTuple):
    """A derived predicate with its variables and the formula from which it follows."""

    name: str
    listing: Formula
    variables: tuple[tuple[str, Types], ...]
    body: Formula


def not_executed(domain: Domain) -> tuple[str, ...]:
    """What a domain says that plans cannot be executed with, each construct with the operator that it stands in.

    >>> from pddl_eval.definition.pddl import parse_domain
    >>> not_executed(parse_domain("(define (domain d) (:event fly :parameters ()) (:action a :effect (p)))"))
    ('domain: :event',)
    """
    notes = [
        note
        for note in domain.outside_strips
        if note.partition(": ")[2] not in _EXECUTED and not note.endswith(_SEVERAL_TYPES)
    ]
    rules = []
    for section, formula in domain.formulas:
        if section in (":derived", ":axiom"):
            try:
                rules.append(_rule(formula))
            except DomainError as error:
                notes.append(str(error))
    derived = {rule.name for rule in rules}
    for rule in rules:
        scope = Scope({variable for variable, _ in rule.variables}, domain.constants)
        notes += [f"{rule.name}: {fault}" for fault in condition_faults(rule.body, scope)]
    unstratified = _level(rules)
    if isinstance(unstratified, str):
        notes.append(unstratified)
    for body in (body for section, body in domain.formulas if section == ":constraints"):
        faults = constraint_faults(body, Scope(frozenset(), domain.constants, derived))
        notes += [f"domain: {fault}" for fault in faults]
    refused = {note.partition(": ")[0] for note in notes}
    for operator in domain.operators:
        if operator.name in refused:
            continue
        scope = Scope({variable for variable, _ in operator.parameters}, domain.constants, derived)
        notes += [f"{operator.name}: {fault}" for fault in _operator_faults(operator, scope)]
    return tuple(dict.fromkeys(notes))


def mistakes(notes: Iterable[str]) -> tuple[str, ...]:
    """Those notes of ``not_executed`` that say a mistake: VAL refuses such a domain, too.

    >>> mistakes(["go: ?z is not a parameter", "fly: durative action"])
    ('go: ?z is not a parameter',)
    """
    return tuple(note for note in notes if note.endswith((_NO_PARAMETER, _NO_CONSTANT)))


def _operator_faults(operator: Operator, scope: Scope) -> Iterator[str]:
    scope = scope._replace(has_duration=bool(operator.halves))
    for each in operator.halves.values() or (operator,):
        changed = {atom[0] for atom in each.add_effects | each.delete_effects}
        yield from (f"derived predicate {name} in an effect" for name in sorted(changed.intersection(scope.derived)))
        for part, formula in each.formulas:
            if faults := _FAULTS.get(part):
                yield from faults(formula, scope)


def over_time(domain: Domain) -> str | None:
    """The first construct of a domain with which no reachable state alone says whether a plan is valid.

    >>> from pddl_eval.definition.pddl import parse_domain
    >>> over_time(parse_domain("(define (domain d) (:durative-action fly :duration () :effect ()))"))
    'fly: durative action'
    """
    return next((note for note in domain.outside_strips if note.partition(": ")[2] in _OVER_TIME), None)


def derivation_rules(domain: Domain) -> list[Rule]:
    """The derived predicates of a domain of which nothing is refused."""
    return [_rule(formula) for section, formula in domain.formulas if section in (":derived", ":axiom")]


def derived_predicates(domain: Domain) -> frozenset[str]:
    """The names of the derived predicates of a domain of which nothing is refused."""
    return frozenset(rule.name for rule in derivation_rules(domain))


def strata(rules: Iterable[Rule]) -> tuple[tuple[Rule, ...], ...]:
    """The rules in strata: what a predicate denies is derived in a lower one, what it needs in none above its own.

    >>> rules = [Rule("safe", (), (), ("not", ("lost",))), Rule("lost", (), (), ("or", ("lost",), ("dark",)))]
    >>> [[rule.name for rule in stratum] for stratum in strata(rules)]
    [['lost'], ['safe']]
    """
    rules = list(rules)
    level = _level(rules)
    assert not isinstance(level, str)
    return tuple(tuple(rule for rule in rules if level[rule.name] == each) for each in sorted({*level.values()}))


def _level(rules: Collection[Rule]) -> dict[str, int] | str:
    """The stratum of each derived predicate, or in words why there is none."""
    left: Set[str] = {rule.name for rule in rules}
    users: dict[str, set[tuple[str, bool]]] = {}
    for rule in rules:
        for other, denied in _predicates(rule.body):
            users.setdefault(other, set()).add((rule.name, denied))
    level: dict[str, int] = {}
    for number in range(MAX_STRATA):
        # Those that deny one of those that are left, and all that need one of these, are in a higher stratum.
        higher = {name for other in left for name, denied in users.get(other, ()) if denied}
        waiting = [*higher]
        for other in waiting:  # grows while it is walked
            new = {name for name, _ in users.get(other, ())} - higher
            higher |= new
            waiting += new
        if higher == left:
            return f"{min(left)}: derived predicate that depends on its own negation" if left else level
        level |= dict.fromkeys(left - higher, number)
        left = higher
    return f"domain: more than {MAX_STRATA} strata of derived predicates" if left else level


def _predicates(formula: Formula, denied: bool = False) -> Iterator[tuple[str, bool]]:
    """The predicates of a formula, each with whether it occurs negated."""
    if isinstance(formula, str) or not formula:
        return
    head, *parts = formula
    if head in QUANTIFIERS:
        yield from _predicates(parts[-1], denied)
    elif head == "imply":
        yield from _predicates(parts[0], not denied)
        yield from _predicates(parts[-1], denied)
    elif head in CONNECTIVES:
        for part in parts:
            yield from _predicates(part, denied != (head == "not"))
    elif isinstance(head, str) and head not in COMPARISONS:
        yield head, denied


def _rule(formula: Formula) -> Rule:
    """The rule of a section ``(:derived (above ?x ?y) …)``; raises ``DomainError``."""
    parts = formula[1:]
    if len(parts) != 2 or isinstance(parts[0], str) or not parts[0] or not isinstance(parts[0][0], str):
        raise DomainError("derived predicate that is not a predicate with variables and a formula")
    (name, *listing), body = parts[0], parts[1]
    assert isinstance(name, str)
    variables = tuple(typed_list(listing, f"derived predicate {name}"))
    names = {variable for variable, _ in variables}
    if len(names) < len(variables) or not all(variable.startswith("?") for variable in names):
        raise DomainError(f"{name}: derived predicate with arguments that are not different variables")
    return Rule(name, tuple(listing), variables, body)


def condition_faults(formula: Formula, scope: Scope) -> Iterator[str]:  # noqa: C901 (one case a construct)
    """The constructs of a condition that are not executed, and what it names that is not declared.

    >>> list(condition_faults(("or", ("preference", "p", ("lit",)), ("on", "?x")), Scope(set(), [])))
    ['preference', '?x is not a parameter']
    """
    if formula == ():
        return
    if isinstance(formula, str) or not isinstance(formula[0], str):
        yield f"{excerpt(formula)} is not a condition"
        return
    head, *parts = formula
    if head in CONNECTIVES:
        if _OPERANDS.get(head, len(parts)) != len(parts):
            yield f"`{head}` of {len(parts)} conditions"
        for part in parts:
            yield from condition_faults(part, scope)
    elif head in QUANTIFIERS:
        yield from _quantified(formula, scope, condition_faults)
    elif head in COMPARISONS:
        if len(parts) != 2:
            yield f"`{head}` of {len(parts)} terms"
        elif is_equation(formula):
            yield from _term_faults(parts, scope)
        else:
            for part in parts:
                yield from number_faults(part, scope)
    else:
        yield from atom_faults(formula, scope)


def soft_faults(
    formula: Formula, scope: Scope, faults: _Faults = condition_faults, may_be_soft: bool = True
) -> Iterator[str]:
    """As ``condition_faults``, for a condition with preferences; ``faults`` are those of what is in them.

    >>> list(soft_faults(("and", ("preference", "p", ("lit",)), ("not", ("preference", ("on",)))), Scope(set(), [])))
    ['preference']
    """
    head, parts = (formula[0], formula[1:]) if formula and not isinstance(formula, str) else ("", ())
    if head == "and":
        for part in parts:
            yield from soft_faults(part, scope, faults, may_be_soft)
    elif head == "forall":
        inner = partial(soft_faults, faults=faults, may_be_soft=may_be_soft)
        yield from _quantified(("forall", *parts), scope, inner)
    elif (
        head == PREFERENCE
        and may_be_soft
        and len(parts) in (1, 2)
        and all(isinstance(each, str) for each in parts[:-1])
    ):
        yield from soft_faults(parts[-1], scope, faults, False)
    else:
        yield from faults(formula, scope)


def constraint_faults(formula: Formula, scope: Scope) -> Iterator[str]:
    """As ``condition_faults``, for constraints on a trajectory: modal operators in conjunctions and preferences.

    >>> list(constraint_faults(("and", ("within", "5", ("on",)), ("always", ("sometime", ("on",)))), Scope(set(), [])))
    ['sometime']
    """
    yield from soft_faults(formula, scope, _modal_faults)


def _modal_faults(formula: Formula, scope: Scope) -> Iterator[str]:
    head = formula[0] if formula and not isinstance(formula, str) else ""
    before, formulas = (1, 1) if formula[:2] == AT_END else MODAL.get(str(head), (0, -1))
    if isinstance(formula, str) or len(formula) != 1 + before + formulas:
        yield f"{excerpt(formula)} as a constraint"
        return
    for time in formula[1 : 1 + before] if head != "at" else ():
        if not isinstance(time, str) or not NUMBER.fullmatch(time):
            yield f"{excerpt(time)} as a time"
    for each in formula[1 + before :]:
        yield from condition_faults(each, scope)


def _duration_faults(formula: Formula, scope: Scope) -> Iterator[str]:
    if len(formula) != 3 or formula[0] not in COMPARISONS or formula[1] != DURATION:
        yield f"{excerpt(formula)} as a duration"
    else:
        yield from number_faults(formula[2], scope)


def effect_faults(formula: Formula, scope: Scope) -> Iterator[str]:  # noqa: C901 (one case a construct)
    """As ``condition_faults``, for an effect.

    >>> list(effect_faults(("when", ("lit",), ("oneof", ("a",), ("b",))), Scope(set(), [])))
    ['oneof']
    """
    if formula == ():
        return
    if isinstance(formula, str) or not isinstance(formula[0], str):
        yield f"{excerpt(formula)} is not an effect"
        return
    head, *parts = formula
    if head == "and":
        for part in parts:
            yield from effect_faults(part, scope)
    elif head == "forall":
        yield from _quantified(formula, scope, effect_faults)
    elif head == "when":
        if len(parts) != 2:
            yield "`when` without a condition and an effect"
        else:
            yield from condition_faults(parts[0], scope)
            yield from effect_faults(parts[1], scope)
    elif head in UPDATES:
        fluent = (parts[0],) if parts and isinstance(parts[0], str) else parts[0] if parts else ()
        if len(parts) != 2 or not fluent or (parts[0] != fluent and fluent[0] in _ARITHMETIC):
            yield f"`{head}` without a function and a number"
        else:
            yield from number_faults(fluent, scope)
            yield from number_faults(parts[1], scope)
    else:
        atom = parts[0] if head == "not" and len(parts) == 1 else formula
        if isinstance(atom, str) or not is_atom(atom) or atom[0] in UPDATES:
            yield f"{excerpt(formula)} as an effect"
            return
        if atom[0] in scope.derived:
            yield f"derived predicate {atom[0]} in an effect"
        yield from atom_faults(atom, scope)


_FAULTS = {":precondition": soft_faults, ":effect": effect_faults, DURATION_PART: _duration_faults}
"""Who reads the formulas of each part of an operator."""


def changed_predicates(effect: Formula) -> Iterator[str]:
    """The predicates that an effect adds or deletes.

    >>> list(changed_predicates(("forall", ("?x",), ("when", ("in", "?x"), ("not", ("at", "?x"))))))
    ['at']
    """
    if isinstance(effect, str) or not effect:
        return
    head, *parts = effect
    if head in ("and", "not"):
        for part in parts:
            yield from changed_predicates(part)
    elif head in ("forall", "when"):
        yield from changed_predicates(parts[-1] if parts else ())
    elif head not in UPDATES:
        yield str(head)


def number_faults(expression: Formula, scope: Scope) -> Iterator[str]:
    """As ``condition_faults``, for a numeric expression.

    >>> list(number_faults(("+", ("fuel", "?x"), "1.5"), Scope({"?x"}, [])))
    []
    """
    if isinstance(expression, str):
        # PDDL 2.1 writes a function without arguments also without parentheses.
        if expression == DURATION and scope.has_duration:
            return
        if expression == "#t":
            yield "continuous effect"
        elif not NUMBER.fullmatch(expression) and (not expression[0].isalpha() or expression in scope.names):
            yield f"{quote(expression)} where a number is expected"
    elif not expression or not isinstance(expression[0], str):
        yield f"{excerpt(expression)} where a number is expected"
    elif expression[0] in _ARITHMETIC:
        head, *parts = expression
        least, most = _ARITHMETIC[expression[0]]
        if len(parts) < least or (most is not None and len(parts) > most):
            yield f"`{excerpt(head)}` of {len(parts)} numbers"
        for part in parts:
            yield from number_faults(part, scope)
    elif expression[0] == IS_VIOLATED:
        yield f"{IS_VIOLATED} outside of the metric"
    else:
        yield from atom_faults(expression, scope)


def _quantified(formula: tuple[Formula, ...], scope: Scope, faults: _Faults) -> Iterator[str]:
    head, *parts = formula
    if len(parts) != 2 or isinstance(parts[0], str):
        yield f"`{head}` without a list of variables and a formula"
        return
    try:
        variables = [variable for variable, _ in typed_list(parts[0], f"`{head}`")]
    except DomainError as error:
        yield str(error)
        return
    for variable in variables:
        if not variable.startswith("?"):
            yield f"{quote(variable)} is not a variable"
    yield from faults(parts[1], scope.within(variables))


def atom_faults(atom: tuple[Formula, ...], scope: Scope) -> Iterator[str]:
    """As ``condition_faults``, for an atom, or for a function of a number; without faults it is made of words.

    >>> list(atom_faults(("on", "a", ("top", "b")), Scope(set(), ["a", "b"])))
    ['nested term in on']
    """
    head, *terms = atom
    if not isinstance(head, str) or head.startswith(("?", ":")):
        yield f"{excerpt(atom)} is not an atom"
    elif head in _RESERVED:
        yield f"{head} as the name of a predicate"
    elif head in _REFUSED and not all(isinstance(term, str) for term in terms):
        yield head
    elif not all(isinstance(term, str) for term in terms):
        yield f"nested term in {head}"
    else:
        yield from _term_faults(terms, scope)


def _term_faults(terms: Iterable[Formula], scope: Scope) -> Iterator[str]:
    for term in terms:
        if isinstance(term, str) and term.startswith("?"):
            if term not in scope.variables:
                yield f"{term}{_NO_PARAMETER}"
        elif isinstance(term, str) and term not in scope.names:
            yield Undeclared(term)


def ill_typed(formula: Formula, variables: Iterable[tuple[str, Types]], domain: Domain) -> Iterator[str]:
    """In words, the atoms and numbers of a formula that the declarations of a typed domain do not admit.

    ``variables`` are those around the formula, or objects, with their types; of alternative types all have to fit. A
    metric is a formula here. Nothing in the formula is refused (``not_executed``).

    >>> from pddl_eval.definition.pddl import parse_domain
    >>> domain = parse_domain("(define (domain d) (:types car) (:predicates (at ?c - car)))")
    >>> list(ill_typed(("forall", ("?x",), ("not", ("at", "?x"))), [], domain))
    ['(at ?x): argument 1 of at is of type car, not object']
    """
    types = {name: domain.types_of(name) for name in domain.constants} | dict(variables)
    waiting: list[tuple[Formula, dict[str, Types]]] = [(formula, types)] if domain.types and domain.predicates else []
    while waiting:
        part, types = waiting.pop()
        if isinstance(part, str) or not part:
            continue
        head, *parts = part
        if head in QUANTIFIERS:
            waiting.append((parts[1], types | dict(typed_list(parts[0], "a quantifier"))))
        elif head in CONNECTIVES or head == "when":
            waiting += [(each, types) for each in parts]
        elif head in COMPARISONS or head in UPDATES or head in _METRICS:
            for fluent in () if is_equation(part) else dict.fromkeys(chain.from_iterable(map(fluents_of, parts))):
                yield from _misfit(fluent, FUNCTION, types, domain)
        elif inside := [each for each in parts if not isinstance(each, str)]:  # a preference, or what has a time
            waiting += [(each, types) for each in inside]
        else:
            yield from _misfit(tuple([word for word in part if isinstance(word, str)]), PREDICATE, types, domain)


def _misfit(atom: Atom, what: str, types: Mapping[str, Types], domain: Domain) -> Iterator[str]:
    terms = {term: types[term] for term in atom[1:] if term in types}
    for number in range(min(MAX_ALTERNATIVES, max([1, *map(len, terms.values())]))):
        why = domain.misfit({atom}, {term: each[number % len(each)] for term, each in terms.items()}, what)
        if why:
            yield why
            break


def misfits(domain: Domain) -> Iterator[str]:
    """In words, what operators and rules say that the declarations of a typed domain do not admit, as VAL says it.

    Of formulas that are refused nothing is said. Raises ``OutOfBudgetError``.

    >>> from pddl_eval.definition.pddl import parse_domain
    >>> text = "(define (domain d) (:types car) (:predicates (at ?c - car)) (:action go :parameters (?c) :effect {}))"
    >>> list(misfits(parse_domain(text.format("(at ?c)"))))
    ['operator go: (at ?c): argument 1 of at is of type car, not object']
    """
    if not domain.types:
        return
    constants = {name: domain.types_of(name) for name in domain.constants}
    for operator in domain.operators:
        types = ChainMap(dict(operator.parameters), constants)
        for atom in sorted(frozenset[Atom]().union(*operator.parts)):
            spend(10)
            for why in _misfit(atom, PREDICATE, types, domain):
                yield words.in_operator(operator.name, why)
    if domain.formulas or any(operator.formulas for operator in domain.operators):
        yield from _misfits_of_formulas(domain)


def _misfits_of_formulas(domain: Domain) -> Iterator[str]:
    refused = {note.partition(": ")[0] for note in not_executed(domain)}
    for section, formula in domain.formulas:
        with suppress(DomainError):
            rule = _rule(formula) if section in (":derived", ":axiom") else None
            if rule and rule.name not in refused:
                head = (rule.name, *[variable for variable, _ in rule.variables])
                for why in ill_typed(("and", head, rule.body), rule.variables, domain):
                    yield f"derived predicate {rule.name}: {why}"
    for operator in domain.operators:
        for _, formula in () if operator.name in refused else operator.formulas:
            for why in ill_typed(formula, operator.parameters, domain):
                yield words.in_operator(operator.name, why)
