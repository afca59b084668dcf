"""Goals that are conjunctions of literals: the atoms that have to be true, and those that have to be false.

A quantified goal is grounded over the objects. What is left, a disjunction or a condition on numbers, is decided by
the states themselves (``state_space``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from pddl_eval.definition.domains import PlanningDomain
from pddl_eval.definition.formulas import UNBOUND, Binding, World, bindings, grounded
from pddl_eval.definition.model import (
    COMPARISONS,
    TOTAL_COST,
    Atom,
    Domain,
    Formula,
    Operator,
    Problem,
    State,
    fluents_of,
    is_equation,
    show_formula,
)
from pddl_eval.definition.verdict import Unsolvable

Literal = tuple[Formula, bool]
"""An atom or an equation of two objects, and whether it has to hold."""


def in_literals(
    problem: Problem, planning_domain: PlanningDomain, typed: bool
) -> tuple[Problem, Domain, State] | Unsolvable | None:
    """The problem and its domain in atoms, and the atoms that the goal forbids; None where one of them says more.

    An operator needs an atom for each number that its costs read: without a value the action cannot be executed.
    ``Unsolvable`` where an equation of objects does not hold. Raises ``OutOfBudgetError``.

    >>> from pddl_eval.definition.pddl import parse_domain
    >>> effect = "(and (at ?x) (increase (total-cost) (price ?x)))"
    >>> domain = parse_domain(f"(define (domain d) (:action go :parameters (?x) :effect {effect}))")
    >>> asked = (":goal", ("forall", ("?x",), ("and", ("lit", "?x"), ("not", ("hot", "?x")))))
    >>> problem = Problem("p", "d", {"a": "object"}, frozenset(), frozenset(), {("price", "a"): 1}, (asked,))
    >>> problem, domain, forbidden = in_literals(problem, PlanningDomain(domain), True)
    >>> problem.goal, forbidden
    (frozenset({('lit', 'a')}), frozenset({('hot', 'a')}))
    >>> problem.init, domain.operators[0].preconditions
    (frozenset({('(price)', 'a')}), frozenset({('(price)', '?x')}))
    """
    domain = planning_domain.operators_of(typed)
    world = World(replace(problem, init=frozenset()), replace(domain, formulas=()))
    both: dict[bool, set[Atom]] = {True: set(problem.goal), False: set()}
    try:
        for formula, holds in (each for part in problem.conjuncts for each in _literals(part, True, world, UNBOUND)):
            atom = tuple([word for word in formula if isinstance(word, str)])
            if not is_equation(formula):
                both[holds].add(atom)
            elif (atom[1] == atom[2]) != holds:
                return Unsolvable(f"{show_formula(formula)} is {'false' if holds else 'true'}")
    except _NotLiteralError:
        return None
    if not planning_domain.moves_atoms(problem):
        return None
    init = problem.init
    if problem.has_numbers:
        init |= {_valued(fluent) for fluent in problem.values}
        needed = [each.preconditions.union(map(_valued, _costs(each))) for each in domain.operators]
        operators = zip(domain.operators, needed, strict=True)
        domain = replace(domain, operators=tuple(replace(each, preconditions=atoms) for each, atoms in operators))
    return replace(problem, init=init, goal=frozenset(both[True]), formulas=()), domain, frozenset(both[False])


def all_payable(problem: Problem, domain: Domain) -> bool:
    """True where the costs of no operator ask for a number that may lack a value."""
    if not problem.has_numbers:
        return True
    read = {fluent for operator in domain.operators for fluent in _costs(operator)}
    given = Counter((fluent[0], len(fluent)) for fluent in problem.values)
    names = {**problem.objects, **domain.constants}
    return all(given[fluent[0], len(fluent)] == len(names) ** (len(fluent) - 1) for fluent in read)


def is_price(atom: Atom) -> bool:
    """True for an atom that says that a number has a value."""
    return atom[0].startswith("(")


def _valued(fluent: Atom) -> Atom:
    return (f"({fluent[0]})", *fluent[1:])  # No predicate is called so.


def _costs(operator: Operator) -> set[Atom]:
    """The fluents that increases and decreases read: they also change a value that there was."""
    expressions = (expression for _, effect in operator.formulas for expression in effect[1:])
    return {fluent for expression in expressions for fluent in fluents_of(expression)} - {TOTAL_COST}


class _NotLiteralError(Exception):
    """The formula is not a conjunction of literals."""


def _literals(formula: Formula, holds: bool, world: World, binding: Binding) -> Iterator[Literal]:
    """The literals of which a formula, or its negation, is the conjunction; raises ``_NotLiteralError``."""
    world.count()
    assert not isinstance(formula, str)
    head, *parts = formula or ("and",)
    if head == "not":
        yield from _literals(parts[0], not holds, world, binding)
    elif head == "imply":
        yield from _literals(("or", ("not", parts[0]), parts[1]), holds, world, binding)
    elif head in ("and", "or") and ((head == "and") == holds or len(parts) == 1):
        for part in parts:
            yield from _literals(part, holds, world, binding)
    elif head in ("forall", "exists") and (head == "forall") == holds:
        for each in bindings(parts[0], world, binding):
            yield from _literals(parts[1], holds, world, each)
    elif head in ("and", "or", "forall", "exists") or (head in COMPARISONS and not is_equation(formula)):
        raise _NotLiteralError
    else:
        yield grounded(formula, binding), holds
