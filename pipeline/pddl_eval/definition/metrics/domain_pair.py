"""A generated domain and its reference: what the metrics of domains take."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from pddl_eval.definition.budget import or_undecided
from pddl_eval.definition.domain_equivalence import DomainDecision, decide_domains
from pddl_eval.definition.domains import PlanningDomain, planning_domain
from pddl_eval.definition.metrics.plan_pair import MAX_DETAIL, NotExecuted, executable
from pddl_eval.definition.model import Domain
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.definition.pddl import (
    DomainError,
    OnlyActionsError,
    Unreadable,
    has_several_domains,
    mistakes,
    note_on_drafts,
    parse_actions,
    parse_domain,
    says_nothing,
)
from pddl_eval.definition.structure import operator_name
from pddl_eval.definition.task import Task
from pddl_eval.definition.verdict import DomainVerdict
from pddl_eval.errors import UserError
from pddl_eval.shown import listed

DEFAULTS = ScoringOptions()

NO_ANSWER = "there is no domain"


class DomainPair:
    """Two domains, and the task in which both are executed.

    ``generated`` is None where the answer holds no domain; ``known`` and ``own`` are what follows from the reference
    and from it. ``notes`` say what is not scored, or why the domain cannot be read; metrics add to them. ``task`` is
    the reference problem in the reference domain; None where there is none, where one of the domains goes beyond STRIPS
    and where the reference domain is ill-typed. ``ill_typed``: nothing can be executed in the generated domain, as VAL
    says. What is compared as it is written asks for none of these. ``problems`` are a row's reference problem with its
    domain, generated problem and mode, where it has them.
    """

    def __init__(
        self,
        reference: str | Domain | None,
        generated: str | Domain | None,
        find_task: Callable[[], Task | Unreadable | None] = lambda: None,
        options: ScoringOptions = DEFAULTS,
    ) -> None:
        self.known = _reference(reference)
        self.reference = self.known.domain
        self.options = options
        self.generated: Domain | None = None
        self.drafts = ""
        self.notes: list[str] = []
        self.problems: tuple[tuple[str | None, str], str | None, bool] | None = None
        self.verdict_without = DomainVerdict.EMPTY
        """The verdict where there is no generated domain."""
        if isinstance(generated, Domain):
            self.generated = generated
        elif isinstance(generated, str):
            if not says_nothing(generated):
                self.verdict_without = DomainVerdict.UNPARSEABLE
            self._read(generated)
        elif generated is None:
            self.notes.append(NO_ANSWER)
        else:
            raise TypeError(f"the generated domain is a PDDL text or a Domain, not {type(generated).__name__}")
        if self.generated is not None and self.outside_definition:
            self.notes.insert(0, f"outside the definition: {', '.join(self.outside_definition)}")
        self.own = None if self.generated is None else PlanningDomain(self.generated)
        self.task = self._executable(find_task())
        self.ill_typed = self.own is not None and self._is_ill_typed("generated", self.own)

    def _read(self, text: str) -> None:
        answer = self.options.answer
        try:
            try:
                self.generated = parse_domain(text, answer)
            except OnlyActionsError:
                if self.options.domain_header == "none":
                    raise
                self.generated = parse_actions(text, self.reference, answer)
                self.notes.append("only actions: types, predicates and constants are the reference's")
            self.drafts = note_on_drafts(has_several_domains(text), answer)
        except DomainError as error:
            self.notes.append(str(error))

    def _executable(self, task: Task | Unreadable | None) -> Task | None:
        """What both domains can be executed in; where there is nothing, the reason is noted."""
        if self._is_ill_typed("reference", self.known) or task is None:
            return None
        found = executable(task)
        if isinstance(found, NotExecuted):
            why = found.reason
        elif self.reference.outside_strips:
            why = f"domain {self.reference.name} goes beyond STRIPS ({', '.join(self.reference.outside_strips)})"
        elif self.own is not None and self.own.domain.outside_strips:
            wrong = mistakes(self.own.not_executed)
            why = f"the generated domain {f'is invalid ({listed(wrong, most=3)})' if wrong else 'goes beyond STRIPS'}"
        else:
            return found
        self.notes.append(f"behaviour not compared: {why}")
        return None

    def _is_ill_typed(self, side: str, domain: PlanningDomain) -> bool:
        """True where a domain is one that VAL refuses; the reason is noted."""
        why = or_undecided(lambda: domain.ill_typed)
        if isinstance(why, str):
            self.notes.append(ill_typed_domain(side, why))
        return isinstance(why, str)

    @property
    def outside_definition(self) -> tuple[str, ...]:
        """What either domain says that the syntactic definition does not cover."""
        ours = self.generated.outside_strips if self.generated is not None else ()
        return (*(f"reference: {note}" for note in self.reference.outside_strips), *ours)

    @property
    def missing_operators(self) -> tuple[str, ...]:
        """The names of the operators that only the reference has; none where there is no generated domain."""
        return () if self.generated is None else _operators_only_in(self.reference, self.generated)

    @property
    def extra_operators(self) -> tuple[str, ...]:
        """The names of the operators that only the generated domain has."""
        return () if self.generated is None else _operators_only_in(self.generated, self.reference)

    @cached_property
    def decision(self) -> DomainDecision:
        """The verdict on the domains."""
        if self.own is None:
            return DomainDecision(self.verdict_without, "")
        return decide_domains(self.known.structure, self.own.structure)

    @property
    def detail(self) -> str:
        """The nearest difference and all notes in one sentence."""
        return "; ".join(filter(None, (self.drafts, self.decision.detail, *self.notes)))[:MAX_DETAIL]


def ill_typed_domain(side: str, why: str) -> str:
    """What to say of the ``reference`` or the ``generated`` domain where VAL refuses it."""
    return f"the {side} domain is ill-typed: {why}"


def _reference(reference: str | Domain | None) -> PlanningDomain:
    if reference is None:
        raise UserError("there is no reference domain")
    if isinstance(reference, str):
        try:
            # Only a text that holds an expression is no name.
            known = planning_domain(reference) if "(" in reference else PlanningDomain(parse_domain(reference))
        except DomainError as error:
            raise DomainError(f"the reference domain cannot be read: {error}") from None
        assert known is not None
    elif isinstance(reference, Domain):
        known = PlanningDomain(reference)
    else:
        raise TypeError(f"the reference domain is a PDDL text or a Domain, not {type(reference).__name__}")
    if not known.domain.operators:
        raise UserError(f"the reference domain {known.name} has no operators")
    return known


def _operators_only_in(one: Domain, other: Domain) -> tuple[str, ...]:
    """The names of the operators of a domain that match none of the other's."""
    known = set(map(operator_name, other.operators))
    return tuple(operator.name for operator in one.operators if operator_name(operator) not in known)
