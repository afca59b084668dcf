"""All that is known of particular planning domains, one file a domain, found here by name.

A file of a domain holds its PDDL text (``PDDL``) and, where polynomial rules are known, a function ``read``: from a
problem to its initial state as the rules see it, which gives cl(goal) and a plan for any goal, exactly; or to the
``BrokenAssumption`` because of which the rules do not cover it (``reading``). A domain without rules is decided by
the general machinery of ``pddl_eval.strips``. A new planning domain is one new file: its name is the module's with
``-`` for ``_``; other names that problems have for it are in ``ALSO_NAMED``.
"""

from __future__ import annotations

import pkgutil
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import blake2b
from importlib import import_module

from pddl_eval.domains.reading import BrokenAssumption, CoveredState, Rules
from pddl_eval.domains.renaming import recognised, renamed_rules
from pddl_eval.errors import did_you_mean
from pddl_eval.model import ROOT_TYPE, Domain, renamed
from pddl_eval.parsing import DomainError, parse_domain
from pddl_eval.shown import quote
from pddl_eval.structure import Structure

__all__ = [
    "BrokenAssumption",
    "CoveredState",
    "PlanningDomain",
    "Rules",
    "chosen_domain",
    "known_domain",
    "known_domain_names",
    "nothing_known_of",
    "planning_domain",
]


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
    def fluents(self) -> frozenset[str]:
        """The predicates that some operator changes; all others are static."""
        effects = [operator.add_effects | operator.delete_effects for operator in self.domain.operators]
        return frozenset(atom[0] for part in effects for atom in part)

    @cached_property
    def fingerprint(self) -> str:
        """32 digits of name, types, constants and operators, whatever the operators and parameters are called."""
        operators = []
        for operator in self.domain.operators:
            places = {name: f"?{place}" for place, (name, _) in enumerate(operator.parameters)}
            types = [sorted(types) for _, types in operator.parameters]
            operators.append([types, *(sorted(renamed(part, places)) for part in operator.parts)])
        named = [self.name, sorted(self.domain.types.items()), sorted(self.domain.constants.items())]
        return blake2b(repr([*named, sorted(operators)]).encode(), digest_size=16).hexdigest()

    @cached_property
    def structure(self) -> Structure:
        """What the domain says, whatever its words."""
        return Structure(self.domain)

    @cached_property
    def _untyped(self) -> Domain:
        return self.domain.without_types()

    def operators_of(self, typed: bool) -> Domain:
        """The domain, with types or without; always the same value, for what is derived from it is kept."""
        return self.domain if typed else self._untyped


@lru_cache(maxsize=1)
def known_domain_names() -> tuple[str, ...]:
    """The names of the domains of this room.

    >>> known_domain_names()
    ('blocksworld', 'floor-tile', 'gripper', 'rover-single-storeless', 'rover-single-stores')
    """
    modules = {module.name for module in pkgutil.iter_modules(__path__)} - {"reading", "renaming"}
    return tuple(sorted(name.replace("_", "-") for name in modules))


def known_domain(name: str) -> PlanningDomain | None:
    """The domain of this room that problems call by that name; None where there is none.

    >>> known_domain("gripper").domain.operators[0].name
    'move'
    >>> known_domain("rover") is known_domain("rover-single-stores")
    True
    """
    module = _modules().get(name)
    return _domain_of(module) if module else None


@lru_cache(maxsize=1)
def _modules() -> dict[str, str]:
    """The module of each name."""
    modules = {name: f"{__name__}.{name.replace('-', '_')}" for name in known_domain_names()}
    also = {name: module for module in modules.values() for name in getattr(import_module(module), "ALSO_NAMED", ())}
    return modules | also


@lru_cache(maxsize=64)
def _domain_of(module: str) -> PlanningDomain:
    file = import_module(module)
    return PlanningDomain(parse_domain(file.PDDL), getattr(file, "read", None))


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
    domain = planning_domain(value)
    if domain is None:
        raise DomainError(nothing_known_of(value))
    return domain


@lru_cache(maxsize=64)
def planning_domain(name_or_pddl: str) -> PlanningDomain | None:
    """The planning domain that a ``domain`` column means: a known domain's name or a PDDL text; None for another name.

    ``floor_tile`` and ``Floor-Tile`` are ``floor-tile`` here.

    A text whose operators are those of a known domain under other names is decided by that domain's rules.

    Raises ``DomainError`` where the text is no PDDL domain.

    >>> planning_domain("floor-tile").rules is not None
    True
    """
    if "(" not in name_or_pddl:
        return known_domain(name_or_pddl.strip().lower().replace("_", "-"))
    domain = parse_domain(name_or_pddl)
    for known in map(known_domain, known_domain_names()):
        if known is not None and known.rules is not None:
            renaming = recognised(domain, known.structure)
            if renaming is not None:
                return PlanningDomain(domain, renamed_rules(known.rules, domain, renaming))
    return PlanningDomain(domain)
