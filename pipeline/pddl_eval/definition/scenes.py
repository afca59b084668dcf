"""What a problem says beyond sets of atoms, as labelled sets of atoms over its objects: numbers, metric, formulas.

So one graph shows all of a problem, and a bijection of the objects that maps these sets onto those of another problem
maps its numbers and formulas, too. A STRIPS problem has none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set
from fractions import Fraction
from itertools import count

from pddl_eval.definition.budget import OutOfBudgetError, spend
from pddl_eval.definition.formulas import bounded
from pddl_eval.definition.model import (
    ARITHMETIC,
    BINDERS,
    COMPARISONS,
    CONNECTIVES,
    NUMBER,
    TOTAL_COST,
    UPDATES,
    Atom,
    Formula,
    Problem,
    State,
    bound_apart,
    is_equation,
    show_formula,
)

CONSTANT: Atom = ("",)
"""The part of a metric that no fluent changes: the empty product."""

GOAL_STATE = "goal state"
LATER = "init as written"
"""The label of timed literals."""

MAX_LISTED = 20_000
"""Atoms and numbers by which goal states differ, where these states have to be listed."""

_Sum = dict[Atom, Fraction]
"""Fluents, each with its factor."""

_MADE_OF_FORMULAS = UPDATES | ARITHMETIC | CONNECTIVES | {"when", "minimize", "maximize"}


def numeric_scenes(problem: Problem) -> dict[str, State]:
    """The numbers of the initial state and the metric: the fluents with each value, and with each factor.

    ``total-cost`` is 0 where it has no value. A metric that is no sum is compared as written, as is what the initial
    state says of later times (``LATER``). Raises
    ``OutOfBudgetError`` for numbers that are too long.

    >>> values = {("total-cost",): Fraction(0), ("fuel", "t"): Fraction(5, 2)}
    >>> metric = (":metric", ("minimize", ("+", ("*", "2", ("total-cost",)), "total-time")))
    >>> for label, atoms in numeric_scenes(Problem("p", "d", {}, frozenset(), frozenset(), values, (metric,))).items():
    ...     print(label, sorted(atoms))
    = 5/2 [('fuel', 't')]
    minimize 2 [('total-cost',)]
    minimize 1 [('total-time',)]
    """
    labelled = [(f"= {value}", fluent) for fluent, value in values_of(problem).items()]
    if problem.metric is not None:
        sense, expression = problem.metric[0], problem.metric[1]
        sum_ = _linear(expression)
        if sum_ is None:
            labelled.append(("metric", as_written(problem.metric)))
        else:
            terms = {term: factor for term, factor in sum_.items() if factor} or {CONSTANT: Fraction(0)}
            labelled += [(f"{sense} {factor}", term) for term, factor in terms.items()]
    labelled += [(LATER, as_written(each)) for each in problem.timed_literals]
    return _gathered(labelled)


def formula_scene(problem: Problem) -> dict[str, State]:
    """The conjuncts of the goal that are no atoms, and the constraints, as written."""
    sections = {":goal": "goal as written", ":constraints": ":constraints"}
    return _gathered([(sections[name], as_written(each)) for name, each in problem.formulas if name in sections])


def state_scenes(states: Iterable[tuple[State, Set[tuple[Atom, Fraction]]]]) -> dict[str, State]:
    """States as objects of their own: their atoms, their numbers, and an atom that says that each is one.

    >>> for label, atoms in state_scenes([(frozenset({("on", "a", "b")}), {(("fuel", "t"), Fraction(2))})]).items():
    ...     print(label, sorted(atoms))
    goal state [('', ' 0'), ('on', ' 0', 'a', 'b')]
    goal state = 2 [('fuel', ' 0', 't')]
    """
    labelled: list[tuple[str, Atom]] = []
    for number, (atoms, values) in enumerate(sorted(states, key=lambda state: [*map(sorted, state)])):
        if len(labelled) > MAX_LISTED:
            raise OutOfBudgetError(f"the goal states have more than {MAX_LISTED:,} atoms that tell them apart")
        name = f" {number}"  # No object has a blank in its name.
        labelled.append((GOAL_STATE, ("", name)))
        labelled += [(GOAL_STATE, (head, name, *terms)) for head, *terms in atoms]
        labelled += [(f"{GOAL_STATE} = {value}", (head, name, *terms)) for (head, *terms), value in values]
    return _gathered(labelled)


def values_of(problem: Problem) -> dict[Atom, Fraction]:
    """The values of the initial state, without a ``total-cost`` of 0."""
    return {fluent: value for fluent, value in problem.values.items() if value or fluent != TOTAL_COST}


def as_written(formula: Formula) -> Atom:
    """A formula as an atom over the objects that it names: equal for formulas that are equal up to names.

    >>> as_written(("forall", ("?x",), ("imply", ("on", "?x", "b"), ("on", "b", "a"))))
    ('(forall (?0) (imply (on ?0 0) (on 0 1)))', 'b', 'a')
    """
    objects: dict[str, str] = {}
    return (show_formula(numbered(formula, lambda name: objects.setdefault(name, str(len(objects))))), *objects)


def numbered(formula: Formula, rename: Callable[[str], str] = str, variables: Iterable[str] = ()) -> Formula:
    """The formula with its variables as ``?0``, ``?1`` …, these first, then in the order in which they occur.

    Variables of two quantifiers are two, whatever they are called. A number is in lowest terms, and a function in
    parentheses, which PDDL lets one leave out. ``rename`` maps objects.

    >>> numbered(("when", ("lit", "?l"), ("increase", "total-cost", "1.50")), variables=["?x", "?l"])
    ('when', ('lit', '?1'), ('increase', ('total-cost',), '3/2'))
    >>> numbered(("or", ("exists", ("?x",), ("lit", "?x")), ("forall", ("?x",), ("lit", "?x"))))
    ('or', ('exists', ('?0',), ('lit', '?0')), ('forall', ('?1',), ('lit', '?1')))
    """
    places = {name: f"?{place}" for place, name in enumerate(variables)}

    def term(name: str) -> str:
        return places.setdefault(name, f"?{len(places)}") if name.startswith("?") else rename(name)

    own_names = bound_apart(formula, count())
    return with_terms(own_names, term, lambda word: str(Fraction(word)) if NUMBER.fullmatch(word) else (word,))


def renamed_formula(formula: Formula, names: Mapping[str, str]) -> Formula:
    """The formula with other names for its objects.

    >>> renamed_formula(("not", ("clear", "clear")), {"clear": "b1"})
    ('not', ('clear', 'b1'))
    """
    return with_terms(formula, lambda name: names.get(name, name))


def with_terms(formula: Formula, rename: Callable[[str], str], word: Callable[[str], Formula] = str) -> Formula:
    """The formula, effect, rule or expression with other words for its objects and variables, not for its predicates.

    ``word`` maps its numbers, and functions without parentheses.
    """
    if isinstance(formula, str) or not formula:
        return word(formula) if isinstance(formula, str) else formula
    head, *parts = formula
    if head in BINDERS and len(parts) == 2:
        listing = tuple(rename(each) if isinstance(each, str) and each.startswith("?") else each for each in formula[1])
        return (head, listing, with_terms(formula[2], rename, word))
    if head in _MADE_OF_FORMULAS or (head in COMPARISONS and not is_equation(formula)):
        return (head, *(with_terms(part, rename, word) for part in parts))
    if any(not isinstance(part, str) for part in parts):  # a preference, a constraint or a timed literal
        # The name of a preference is no object.
        times = (word(part) if NUMBER.fullmatch(part) else part for part in parts if isinstance(part, str))
        return (head, *times, *(with_terms(part, rename, word) for part in parts if not isinstance(part, str)))
    return (head, *(rename(part) for part in parts if isinstance(part, str)))


def _linear(expression: Formula) -> _Sum | None:
    """An expression as a sum of fluents with constant factors; None where it is none."""
    if isinstance(expression, str):
        return {CONSTANT: Fraction(expression)} if NUMBER.fullmatch(expression) else {(expression,): Fraction(1)}
    head, *parts = expression
    if head not in ARITHMETIC:
        return {tuple([word for word in expression if isinstance(word, str)]): Fraction(1)}
    first, *others = [_linear(part) for part in parts]
    if first is None or None in others:
        return None
    found = first if others or head != "-" else _times(first, Fraction(-1))
    for other in others:
        assert other is not None
        if head in ("+", "-"):
            for term, factor in other.items():
                found[term] = bounded(found.get(term, Fraction(0)) + (factor if head == "+" else -factor))
            spend(len(other))
        elif other.keys() == {CONSTANT} and (head == "*" or other[CONSTANT]):
            found = _times(found, other[CONSTANT] if head == "*" else 1 / other[CONSTANT])
        elif head == "*" and found.keys() == {CONSTANT}:
            found = _times(other, found[CONSTANT])
        else:
            return None
    return found


def _times(sum_: _Sum, factor: Fraction) -> _Sum:
    spend(len(sum_))
    return {term: bounded(each * factor) for term, each in sum_.items()}


def _gathered(labelled: list[tuple[str, Atom]]) -> dict[str, State]:
    found: dict[str, set[Atom]] = {}
    for label, atom in labelled:
        found.setdefault(label, set()).add(atom)
    return {label: frozenset(atoms) for label, atoms in found.items()}
