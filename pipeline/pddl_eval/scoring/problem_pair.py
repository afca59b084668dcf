"""One pair of problems: read both, decide, look for a plan, and say it in the names of DESIGN.md section 2.

A reference is read and analysed once for all its answers; answers that repeat are scored once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

from pddl_eval.domains import planning_domain
from pddl_eval.equivalence.analysis import Analysis
from pddl_eval.equivalence.certificate import certify
from pddl_eval.equivalence.decide import Decision, decide_analysed, domain_sentence
from pddl_eval.model import Action, Atom, Problem
from pddl_eval.parsing import Unreadable, read_problem
from pddl_eval.solve import solve
from pddl_eval.verdict import Undecided, Unsolvable, Verdict

REFERENCES_KEPT = 256
"""Analysed references kept for further answers; about 50 KB each for a typical benchmark problem."""

VERDICTS_KEPT = 1024
"""Scored pairs kept for rows that repeat them."""


@dataclass(frozen=True, slots=True)
class ProblemVerdict:
    """The scores of one generated problem against its reference; None where not decided.

    ``object_map`` (generated → reference) stands behind a yes; ``goal_object_map`` is the goal's own in placeholder
    mode. ``separating_atom`` is, for ``goal_differs``, an atom of the goal of ``separating_side`` that the other goal
    does not imply. ``plan`` is the executed plan behind ``solvable``. In a notebook it shows itself.

    >>> held = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"
    >>> verdict = score_problem_pair(held, held.replace("(clear a)", "(holding a)"))
    >>> verdict.equivalent, verdict.solvable, verdict.detail
    (False, True, 'the goal does not imply (clear a), which the reference asks for')
    """

    parseable: bool
    solvable: bool | None
    equivalent: bool | None
    equivalent_untyped: bool | None
    verdict: Verdict
    detail: str
    certificate: str | None = None
    object_map: dict[str, str] | None = None
    goal_object_map: dict[str, str] | None = None
    separating_atom: Atom | None = None
    separating_side: str | None = None
    plan: tuple[Action, ...] | None = None

    def _repr_html_(self) -> str:
        from pddl_eval.scoring.verdict_html import verdict_html

        return verdict_html(self)


class Reference:
    """A reference problem, read once: what is wrong with it, or its analysis and its plan."""

    def __init__(self, text: str | None, domain: str | None) -> None:
        given = planning_domain(domain) if domain is not None else None
        problem = read_problem(text, given.domain.constants if given else ())
        self.problem = problem
        self.planning_domain = given
        if domain is None and isinstance(problem, Problem):
            self.planning_domain = planning_domain(problem.domain)

    @cached_property
    def analysis(self) -> Analysis:
        assert isinstance(self.problem, Problem)
        return Analysis(self.problem, self.planning_domain)

    @cached_property
    def plan(self) -> tuple[Action, ...] | Unsolvable | Undecided:
        return solve(self.analysis.problem, self.planning_domain)

    @cached_property
    def certificate(self) -> str | Undecided:
        return certify(self.analysis)

    @property
    def mistake(self) -> str | None:
        """Why no answer can be scored against this reference, None where one can."""
        if isinstance(self.problem, Unreadable):
            return f"the reference cannot be read: {self.problem.detail}"
        if isinstance(self.analysis.closure, Unsolvable):
            return f"the reference has no solution: {self.analysis.closure.reason}"
        return None


@lru_cache(maxsize=REFERENCES_KEPT)
def reference_of(text: str | None, domain: str | None) -> Reference:
    """The reference that the text writes, kept for its next answer.

    Raises ``pddl_eval.parsing.domains.DomainError`` where ``domain`` is a text but no PDDL domain.
    """
    return Reference(text, domain)


@lru_cache(maxsize=VERDICTS_KEPT)
def score_problem_pair(
    reference_text: str | None,
    generated_text: str | None,
    is_placeholder: bool = False,
    domain: str | None = None,
    check_solvable: bool = True,
) -> ProblemVerdict:
    """Score one generated answer; ``domain`` (a known name or a PDDL text) defaults to the reference's own.

    Raises ``pddl_eval.parsing.domains.DomainError`` where ``domain`` is a text but no PDDL domain.

    >>> held = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"
    >>> score_problem_pair(held, held.replace("clear", "on-table")).verdict.value
    'equivalent'
    """
    reference = reference_of(reference_text, domain)
    constants = reference.planning_domain.domain.constants if reference.planning_domain else ()
    generated = read_problem(generated_text, constants)
    if isinstance(generated, Unreadable):
        if reference.mistake is not None:
            return ProblemVerdict(False, False, None, None, Verdict.REFERENCE_INVALID, reference.mistake)
        return ProblemVerdict(False, False, False, False, Verdict(generated.verdict), generated.detail)

    analysis = Analysis(generated, reference.planning_domain)
    if reference.mistake is not None:
        decision = Decision(None, None, Verdict.REFERENCE_INVALID, reference.mistake)
    else:
        decision = decide_analysed(reference.analysis, analysis, is_placeholder)
    other_domain = isinstance(reference.problem, Problem) and domain_sentence(reference.analysis, analysis) is not None
    plan: tuple[Action, ...] | Unsolvable | Undecided | None = None
    if check_solvable:
        plan = Unsolvable("it belongs to another domain") if other_domain else _plan(reference, analysis, decision)
    if other_domain:  # its certificate is that of its own domain, equal to none of the reference's
        analysis = Analysis(generated, planning_domain(generated.domain))
    certificate = _certificate(reference, analysis, decision)
    return ProblemVerdict(
        parseable=True,
        solvable=None if plan is None or isinstance(plan, Undecided) else not isinstance(plan, Unsolvable),
        equivalent=decision.equivalent,
        equivalent_untyped=decision.equivalent_untyped,
        verdict=decision.verdict,
        detail=decision.detail,
        certificate=certificate,
        object_map=decision.object_map,
        goal_object_map=decision.goal_object_map,
        separating_atom=decision.separating_atom,
        separating_side=decision.separating_side,
        plan=plan if isinstance(plan, tuple) else None,
    )


def _certificate(reference: Reference, generated: Analysis, decision: Decision) -> str | None:
    """The generated problem's certificate: an equivalent problem has the reference's.

    None where it would take a search that the verdict did not need: where no rules cover the problem (``dedupe`` does
    search).
    """
    if decision.equivalent and decision.goal_object_map is None:
        found = reference.certificate
    elif generated.has_closure_at_hand:
        found = certify(generated)
    else:
        return None
    return found if isinstance(found, str) else None


def _plan(reference: Reference, generated: Analysis, decision: Decision) -> tuple[Action, ...] | Unsolvable | Undecided:
    """The generated problem's plan: an equivalent problem inherits the reference's, through the object map."""
    one_map = decision.goal_object_map is None
    if decision.equivalent and one_map and decision.object_map is not None and isinstance(reference.plan, tuple):
        back = {theirs: ours for ours, theirs in decision.object_map.items()}
        return tuple((name, *(back.get(argument, argument) for argument in rest)) for name, *rest in reference.plan)
    if generated.has_closure_at_hand and isinstance(generated.closure, Unsolvable):
        return generated.closure
    return solve(generated.problem, generated.planning_domain)
