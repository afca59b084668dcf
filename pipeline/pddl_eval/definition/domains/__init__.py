"""All that is known of particular planning domains, one file a domain, found here by name.

A file of a domain holds its PDDL text (``PDDL``) and, where polynomial rules are known, a function ``read``: from a
problem to its initial state as the rules see it, which gives cl(goal) and a plan for any goal, exactly; or to the atoms
because of which the rules do not cover it (``reading``). A domain without rules is decided by
the general machinery of ``definition.planning``. A new planning domain is one new file: its name is the module's with
``-`` for ``_``; other names that problems have for it are in ``ALSO_NAMED``.
"""

from __future__ import annotations

import pkgutil
from collections import Counter
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module

from pddl_eval.definition.disjuncts import Disjuncts, split
from pddl_eval.definition.domains.reading import (
    CoveredGoal,
    CoveredState,
    NotCovered,
    Rules,
    exclude_each_other,
    never_true,
)
from pddl_eval.definition.domains.renaming import recognised, renamed_rules
from pddl_eval.definition.formulas import ADDITIVE
from pddl_eval.definition.kept import kept
from pddl_eval.definition.model import EQUALITY, ROOT_TYPE, TOTAL_COST, Domain, Problem, fluents_of, negates, words_of
from pddl_eval.definition.pddl import (
    DomainError,
    changed_predicates,
    derived_predicates,
    misfits,
    not_executed,
    over_time,
    parse_domain,
)
from pddl_eval.definition.structure import DomainStructure
from pddl_eval.errors import did_you_mean
from pddl_eval.shown import quote


@dataclass(frozen=True)
class PlanningDomain:
    """A domain and, where there are any, the rules that decide its problems in polynomial time."""

    domain: Domain
    rules: Rules | None = None

    @property
    def name(self) -> str:
        """The domain's own name."""
        return self.domain.name

    @cached_property
    def has_types(self) -> bool:
        """True where some operator takes more than plain objects."""
        return any(types != (ROOT_TYPE,) for operator in self.domain.operators for _, types in operator.parameters)

    @cached_property
    def is_strips(self) -> bool:
        """True where operators are sets of atoms with positive preconditions, and there are no functions."""
        domain = self.domain
        beyond = (operator.negative_preconditions or operator.formulas for operator in domain.operators)
        return not (domain.formulas or domain.functions or any(beyond))

    def is_searched_in(self, problem: Problem) -> bool:
        """True where searches understand the task: operators are made of literals and costs, the goal of atoms.

        So are those with disjunctions of literals (``disjuncts``).
        """
        domain = self.disjuncts.domain
        if domain is not self.domain:
            return PlanningDomain(domain).is_searched_in(problem)
        return not (domain.outside_strips or domain.formulas or problem.conjuncts) and (
            self.moves_atoms(problem) and self.obstacle_of(problem) is None
        )

    @cached_property
    def disjuncts(self) -> Disjuncts:
        """The domain as searches take it: an operator for each way to meet a condition."""
        return split(self.domain)

    @cached_property
    def uses_negation(self) -> bool:
        """True where an operator or a rule asks for an atom to be false: then cl(goal) is a set of literals."""
        operators = self.domain.operators
        formulas = [*self.domain.formulas, *(each for operator in operators for each in operator.formulas)]
        return any(atom[0] != EQUALITY for operator in operators for atom in operator.negative_preconditions) or any(
            negates(formula, part == ":effect") for part, formula in formulas
        )

    @cached_property
    def ill_typed(self) -> str | None:
        """In words, an atom or a number of an operator or a rule that the declarations do not admit."""
        return next(misfits(self.domain), None)

    @cached_property
    def not_executed(self) -> tuple[str, ...]:
        """What the domain says that plans cannot be executed with."""
        return not_executed(self.domain)

    def moves_atoms(self, problem: Problem) -> bool:
        """True where atoms alone decide what can be done: where operators are made of literals and of plain costs.

        Also where a STRIPS domain is not understood, for ``ground`` says why.
        """
        return self.is_strips or not (self.domain.outside_strips or (problem.has_numbers and not self._has_plain_costs))

    def moves_freely(self, problem: Problem) -> bool:
        """As ``moves_atoms``, where no operator's cost asks for a number that may lack a value."""
        if not problem.has_numbers or not self.moves_atoms(problem):
            return self.moves_atoms(problem)
        effects = [formula for operator in self.domain.operators for _, formula in operator.formulas]
        read = {fluent for effect in effects for part in effect[1:] for fluent in fluents_of(part)} - {TOTAL_COST}
        given = Counter((fluent[0], len(fluent)) for fluent in problem.values)
        names = {**problem.objects, **self.domain.constants}
        return all(given[fluent[0], len(fluent)] == len(names) ** (len(fluent) - 1) for fluent in read)

    @cached_property
    def _has_plain_costs(self) -> bool:
        """True where an effect on a number is an increase or a decrease, which never lacks a value on the way."""
        effects = [formula for operator in self.domain.operators for _, formula in operator.formulas]
        return all(effect[0] in ADDITIVE and "/" not in words_of(effect) for effect in effects)

    @cached_property
    def obstacle(self) -> str | None:
        """Why its states cannot be enumerated."""
        if self.is_strips and self.domain.outside_strips:
            return f"the domain is not STRIPS ({self.domain.outside_strips[0]})"
        if self.not_executed:
            return f"the domain is not executed ({self.not_executed[0]})"
        return None

    def beyond_states(self, problem: Problem) -> str | None:
        """Why no reachable state alone says whether a plan is valid and what it costs."""
        beyond = over_time(self.domain) or problem.beyond_states
        return f"states alone do not decide it: {beyond}" if beyond else None

    def obstacle_of(self, problem: Problem) -> str | None:
        """As ``obstacle``, also for what the problem says."""
        return self.obstacle or self.beyond_states(problem)

    @cached_property
    def derived(self) -> frozenset[str]:
        """The derived predicates."""
        return derived_predicates(self.domain)

    @cached_property
    def fluents(self) -> frozenset[str]:
        """The predicates that some operator changes, or that are derived; all others are static."""
        effects = [operator.add_effects | operator.delete_effects for operator in self.domain.operators]
        found = {atom[0] for part in effects for atom in part}
        for operator in self.domain.operators:
            for part, formula in operator.formulas:
                found.update(changed_predicates(formula) if part == ":effect" else ())
        return frozenset(found if self.not_executed else found | self.derived)

    @cached_property
    def named(self) -> frozenset[str]:
        """The objects that operators name, declared or not: no other object can stand for them."""
        return self.structure.graph.names("constant")

    @cached_property
    def structure(self) -> DomainStructure:
        """What the domain says, independent of its words."""
        return DomainStructure(self.domain)

    @cached_property
    def _untyped(self) -> Domain:
        return self.domain.without_types()

    def operators_of(self, typed: bool) -> Domain:
        """The domain, with types or without; always the same value, for what is derived from it is kept."""
        return self.domain if typed else self._untyped


@cache
def _known() -> dict[tuple[str, ...], PlanningDomain]:
    """The domains of this room by their names, the own one first."""
    found = {}
    for module in sorted({each.name for each in pkgutil.iter_modules(__path__)} - {"reading", "renaming"}):
        file = import_module(f"{__name__}.{module}")
        names = (module.replace("_", "-"), *getattr(file, "ALSO_NAMED", ()))
        found[names] = PlanningDomain(parse_domain(file.PDDL), getattr(file, "read", None))
    return found


def known_domain_names() -> tuple[str, ...]:
    """The names of the domains of this room.

    >>> known_domain_names()
    ('blocksworld', 'floor-tile', 'gripper', 'rover-single-storeless', 'rover-single-stores')
    """
    return tuple(name for name, *_ in _known())


def known_domain(name: str) -> PlanningDomain | None:
    """The domain of this room that problems call by that name, or None.

    >>> known_domain("gripper").domain.operators[0].name
    'move'
    >>> known_domain("rover") is known_domain("rover-single-stores")
    True
    """
    return next((domain for names, domain in _known().items() if name in names), None)


def nothing_known_of(name: str) -> str:
    """What to say of a name that no known domain has.

    >>> nothing_known_of("blockworld")
    'nothing is known of a domain named `blockworld`; did you mean blocksworld?'
    """
    hint = did_you_mean(name, known_domain_names(), "known domains")
    return f"nothing is known of a domain named {quote(name)}; {hint}"


def chosen_domain(value: str) -> PlanningDomain:
    """As ``planning_domain``, for a ``domain`` that serves all rows: there an unknown name is an error.

    Raises ``DomainError``, which says what the name may have meant.

    >>> chosen_domain("floor_tile").name
    'floor-tile'
    """
    domain = kept(planning_domain, value)
    if domain is None:
        raise DomainError(nothing_known_of(value))
    return domain


def planning_domain(name_or_pddl: str) -> PlanningDomain | None:
    """The planning domain that a ``domain`` column means: a known domain's name or a PDDL text; None for another name.

    ``floor_tile`` and ``Floor-Tile`` are ``floor-tile`` here. A text whose operators are those of a known domain under
    other names is decided by that domain's rules.

    Raises ``DomainError`` where the text is no PDDL domain.

    >>> planning_domain("floor-tile").rules is not None
    True
    """
    if "(" not in name_or_pddl:
        return known_domain(name_or_pddl.strip().lower().replace("_", "-"))
    return with_rules(parse_domain(name_or_pddl))


def with_rules(domain: Domain) -> PlanningDomain:
    """The domain, with the rules of a known one whose operators it has under any names.

    >>> from dataclasses import replace
    >>> with_rules(replace(known_domain("gripper").domain, name="robot")).rules is not None
    True
    """
    for known in _known().values():
        if known.rules is not None and (renaming := recognised(domain, known.structure)) is not None:
            return PlanningDomain(domain, renamed_rules(known.rules, domain, renaming))
    return PlanningDomain(domain)
