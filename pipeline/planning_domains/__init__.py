"""All that is known of particular planning domains, one file a domain, found here by name.

A file of this room holds the domain's PDDL text (``PDDL``) and, where polynomial rules are known, three functions:
``failed_assumption`` (which initial states the rules cover), ``fully_specify`` (cl(goal), exactly) and ``plan`` (a plan
or a proof that there is none). A domain without rules is decided by the general machinery of ``pipeline.grounded``.
A new planning domain is one new file: its name is the module's, ``floor_tile`` and ``floor-tile`` being the same.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import import_module

from pipeline.domain import Action, Domain, Operator
from pipeline.outcome import Unsolvable
from pipeline.problem import Problem, State


@dataclass(frozen=True, slots=True)
class Rules:
    """Polynomial decisions for one domain; ``typed`` is False where types are to be ignored.

    ``failed_assumption`` names the assumption that the problem's initial state breaks, None when all hold; the other
    two are exact for every problem for which it returns None.
    """

    failed_assumption: Callable[[Problem, bool], str | None]
    fully_specify: Callable[[Problem, bool], State | Unsolvable]
    plan: Callable[[Problem, bool], tuple[Action, ...] | Unsolvable]


@dataclass(frozen=True, slots=True)
class PlanningDomain:
    """A domain and, where there are any, the rules that decide its problems in polynomial time."""

    domain: Domain
    rules: Rules | None = None

    @property
    def name(self) -> str:
        return self.domain.name


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
    from pipeline.parsing.domains import parse_domain

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

    A text whose operators are those of a known domain (whatever its parameters are called) is decided by its rules.

    Raises ``pipeline.parsing.domains.DomainError`` where the text is no PDDL domain.

    >>> planning_domain("floor-tile").rules is not None
    True
    """
    from pipeline.parsing.domains import parse_domain

    if "(" not in name_or_pddl:
        return known_domain(name_or_pddl.strip().lower())
    domain = parse_domain(name_or_pddl)
    for known in map(known_domain, known_domain_names()):
        if known is not None and known.rules is not None and _same_operators(domain, known.domain):
            return PlanningDomain(domain, known.rules)
    return PlanningDomain(domain)


def _same_operators(a: Domain, b: Domain) -> bool:
    return (
        not (a.outside_strips or a.constants or b.constants)
        and a.types == b.types
        and {_numbered(operator) for operator in a.operators} == {_numbered(operator) for operator in b.operators}
    )


def _numbered(operator: Operator) -> Operator:
    number = {name: f"?{i}" for i, (name, _) in enumerate(operator.parameters)}

    def renamed(atoms: State) -> State:
        return frozenset((atom[0], *(number.get(term, term) for term in atom[1:])) for atom in atoms)

    return replace(
        operator,
        parameters=tuple((number[name], types) for name, types in operator.parameters),
        preconditions=renamed(operator.preconditions),
        negative_preconditions=renamed(operator.negative_preconditions),
        add_effects=renamed(operator.add_effects),
        delete_effects=renamed(operator.delete_effects),
    )
