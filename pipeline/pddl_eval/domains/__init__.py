"""All that is known of particular planning domains, one file a domain, found here by name.

A file of this room holds the domain's PDDL text (``PDDL``) and, where polynomial rules are known, three functions:
``failed_assumption`` (which initial states the rules cover), ``fully_specify`` (cl(goal), exactly) and ``plan`` (a plan
or a proof that there is none). A domain without rules is decided by the general machinery of ``pddl_eval.strips``.
A new planning domain is one new file: its name is the module's, ``floor_tile`` and ``floor-tile`` being the same.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib import import_module

from pddl_eval.model import ROOT_TYPE, Action, Domain, Problem, State
from pddl_eval.renamed_rules import Renaming, renaming_between
from pddl_eval.verdict import BrokenAssumption, Unsolvable


@dataclass(frozen=True, slots=True)
class Rules:
    """Polynomial decisions for one domain; ``typed`` is False where types are to be ignored.

    ``failed_assumption`` gives the assumption that the problem's initial state breaks, None when all hold; the other
    two are exact for every problem for which it returns None.
    """

    failed_assumption: Callable[[Problem, bool], BrokenAssumption | None]
    fully_specify: Callable[[Problem, bool], State | Unsolvable]
    plan: Callable[[Problem, bool], tuple[Action, ...] | Unsolvable]


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
    def _untyped(self) -> Domain:
        return self.domain.without_types()

    def operators_of(self, typed: bool) -> Domain:
        """The domain, with types or without; always the same value, for what is derived from it is kept."""
        return self.domain if typed else self._untyped


@lru_cache(maxsize=1)
def known_domain_names() -> tuple[str, ...]:
    """The names of the domains of this room.

    >>> known_domain_names()
    ('blocksworld', 'floor-tile', 'gripper', 'rover-single')
    """
    return tuple(sorted(module.name.replace("_", "-") for module in pkgutil.iter_modules(__path__)))


@lru_cache(maxsize=64)
def known_domain(name: str) -> PlanningDomain | None:
    """The domain of this room with that name; None where there is none.

    >>> known_domain("gripper").domain.operators[0].name
    'move'
    """
    from pddl_eval.parsing import parse_domain

    if name not in known_domain_names():
        return None
    module = import_module(f"{__name__}.{name.replace('-', '_')}")
    rules = None
    if hasattr(module, "fully_specify"):
        rules = Rules(module.failed_assumption, module.fully_specify, module.plan)
    return PlanningDomain(parse_domain(module.PDDL), rules)


@lru_cache(maxsize=64)
def planning_domain(name_or_pddl: str) -> PlanningDomain | None:
    """The planning domain that a ``domain`` column means: a known domain's name or a PDDL text; None for another name.

    A text whose operators are those of a known domain under other names is decided by that domain's rules.

    Raises ``DomainError`` where the text is no PDDL domain.

    >>> planning_domain("floor-tile").rules is not None
    True
    """
    from pddl_eval.parsing import parse_domain

    if "(" not in name_or_pddl:
        return known_domain(name_or_pddl.strip().lower())
    domain = parse_domain(name_or_pddl)
    for known in map(known_domain, known_domain_names()):
        renaming = renaming_between(domain, known.domain) if known is not None and known.rules is not None else None
        if renaming is not None and known is not None and known.rules is not None:
            return PlanningDomain(domain, _renamed(known.rules, renaming))
    return PlanningDomain(domain)


def _renamed(rules: Rules, renaming: Renaming) -> Rules:
    """The known domain's rules for problems in the given domain's words."""

    def failed_assumption(problem: Problem, typed: bool) -> BrokenAssumption | None:
        broken = rules.failed_assumption(renaming.to_known(problem), typed)
        return broken and BrokenAssumption(broken.reason, tuple(map(renaming.atom_back, broken.atoms)))

    def fully_specify(problem: Problem, typed: bool) -> State | Unsolvable:
        closure = rules.fully_specify(renaming.to_known(problem), typed)
        return closure if isinstance(closure, Unsolvable) else renaming.atoms_back(closure)

    def plan(problem: Problem, typed: bool) -> tuple[Action, ...] | Unsolvable:
        found = rules.plan(renaming.to_known(problem), typed)
        return found if isinstance(found, Unsolvable) else tuple(map(renaming.action_back, found))

    return Rules(failed_assumption, fully_specify, plan)
