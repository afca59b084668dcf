"""A generated domain and its reference: what the metrics of domains take. Or the scores of one without a reference."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import NamedTuple

from pddl_eval.definition import words
from pddl_eval.definition.budget import or_undecided
from pddl_eval.definition.domain_equivalence import DomainDecision, decide_domains
from pddl_eval.definition.domains import PlanningDomain, planning_domain
from pddl_eval.definition.kept import kept
from pddl_eval.definition.metrics.plan_pair import MAX_DETAIL, NotExecuted, executable
from pddl_eval.definition.metrics.registry import OnlySome
from pddl_eval.definition.model import Atom, Domain
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
from pddl_eval.definition.verdict import DomainVerdict, Undecided
from pddl_eval.errors import UserError
from pddl_eval.shown import listed

DEFAULTS = ScoringOptions()


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
        self.problems: tuple[tuple[str | None, str], str | None, bool] | None = None
        self._read = _read_domain(generated, options, self.reference)
        self.generated = self._read.domain
        self.notes = [*self._read.notes]
        if self.generated is not None and self.outside_definition:
            self.notes.insert(0, f"outside the definition: {', '.join(self.outside_definition)}")
        self.own = None if self.generated is None else PlanningDomain(self.generated)
        self.task = self._executable(find_task())
        self.ill_typed = self.own is not None and self._is_ill_typed("generated", self.own)

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
            self.notes.append(words.ill_typed_domain(side, why))
        return isinstance(why, str)

    @property
    def outside_definition(self) -> tuple[str, ...]:
        """What either domain says that the syntactic definition does not cover."""
        ours = [] if self.generated is None else _beyond_literals(self.generated)
        return (*(f"reference: {note}" for note in _beyond_literals(self.reference)), *ours)

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
            return DomainDecision(self._read.verdict, "")
        return decide_domains(self.known.structure, self.own.structure)

    @property
    def detail(self) -> str:
        """The nearest difference and all notes in one sentence."""
        return "; ".join(filter(None, (self._read.drafts, self.decision.detail, *self.notes)))[:MAX_DETAIL]


class _ReadDomain(NamedTuple):
    """A generated domain, or the verdict where there is none; ``drafts`` says whether the answer had several."""

    domain: Domain | None
    verdict: DomainVerdict
    notes: Sequence[str] = ()
    drafts: str = ""


def _read_domain(generated: str | Domain | None, options: ScoringOptions, header: Domain | None = None) -> _ReadDomain:
    """``header`` is the domain with which actions alone are read, where the options say so."""
    if isinstance(generated, Domain):
        return _ReadDomain(generated, DomainVerdict.UNDECIDED)
    if generated is None:
        return _ReadDomain(None, DomainVerdict.EMPTY, [words.no_domain()])
    if not isinstance(generated, str):
        raise TypeError(f"the generated domain is a PDDL text or a Domain, not {type(generated).__name__}")
    verdict = DomainVerdict.EMPTY if says_nothing(generated) else DomainVerdict.UNPARSEABLE
    notes = []
    try:
        try:
            domain = parse_domain(generated, options.answer)
        except OnlyActionsError:
            if options.domain_header == "none" or header is None:
                raise
            domain = parse_actions(generated, header, options.answer)
            notes.append("only actions: types, predicates and constants are the reference's")
    except DomainError as error:
        return _ReadDomain(None, verdict, [str(error)])
    return _ReadDomain(domain, verdict, notes, note_on_drafts(has_several_domains(generated), options.answer))


def check_domain(generated: str | None, options: ScoringOptions) -> OnlySome:
    """The scores that need no reference: the certificate, and in ``domain_detail`` what is wrong with the domain.

    The verdict says that there is none, or none that can be read; else it is null, for nothing is compared.

    >>> header = "(define (domain d) (:types car) (:predicates (at ?x - car))"
    >>> scores = check_domain(header + "(:action go :parameters (?x - car) :effect (in ?x)))", ScoringOptions())
    >>> scores.get("domain_verdict"), scores["domain_detail"]
    (None, 'the domain is ill-typed: operator go: (in ?x): the domain declares no predicate in')
    """
    domain, verdict, notes, drafts = _read_domain(generated, options)
    if domain is None:
        detail = words.no_domain() if verdict is DomainVerdict.EMPTY else notes[0]
        return OnlySome(domain_verdict=verdict.value, domain_detail=detail)
    known = PlanningDomain(domain)
    certificate = or_undecided(lambda: known.structure.certificate)
    ill_typed = or_undecided(lambda: known.ill_typed or _undeclared(domain))
    notes = [drafts, f"the domain {domain.name} has no operators" * (not domain.operators)]
    notes += [f"the domain is ill-typed: {ill_typed}"] if isinstance(ill_typed, str) else []
    if known.not_executed and not ill_typed:
        notes.append(f"not executed: {listed(known.not_executed, most=3)}")
    notes += [each.reason for each in dict.fromkeys((certificate, ill_typed)) if isinstance(each, Undecided)]
    return OnlySome(
        domain_certificate=certificate if isinstance(certificate, str) else None,
        domain_detail="; ".join(filter(None, notes))[:MAX_DETAIL] or None,
    )


def _undeclared(domain: Domain) -> str | None:
    """In words, an atom of an operator that the declarations do not have; a typed domain is checked elsewhere."""
    for operator in domain.operators if domain.predicates else ():
        for atom in sorted(frozenset[Atom]().union(*operator.parts)):
            if why := domain.why_not(atom, {}):
                return words.in_operator(operator.name, words.of_atom(atom, why))
    return None


def _reference(reference: str | Domain | None) -> PlanningDomain:
    if reference is None:
        raise UserError("there is no reference domain")
    if isinstance(reference, str):
        try:
            # Only a text that holds an expression is no name.
            known = kept(planning_domain, reference) if "(" in reference else PlanningDomain(parse_domain(reference))
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


def _beyond_literals(domain: Domain) -> tuple[str, ...]:
    """What a domain says beyond literals, those of the halves of durative actions among them."""
    taken_apart = {f"{operator.name}: durative action" for operator in domain.operators if operator.halves}
    return tuple(note for note in domain.outside_strips if note not in taken_apart)


def _operators_only_in(one: Domain, other: Domain) -> tuple[str, ...]:
    """The names of the operators of a domain that match none of the other's."""
    known = set(map(operator_name, other.operators))
    return tuple(operator.name for operator in one.operators if operator_name(operator) not in known)
