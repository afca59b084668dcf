"""The public functions on single problems: PDDL texts or ``Problem`` values in, values out, exceptions at the edge."""

from __future__ import annotations

from dataclasses import replace

from pddl_eval import kernel
from pddl_eval.definition.closure import ClosedGoal
from pddl_eval.definition.counterexample import counterexample as find_counterexample
from pddl_eval.definition.domains import chosen_domain
from pddl_eval.definition.kept import keeping
from pddl_eval.definition.metrics import DomainPair, decided_task
from pddl_eval.definition.model import Domain, Formula, Problem, State, domain_to_pddl, problem_to_pddl
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.definition.pddl import ParseError
from pddl_eval.definition.task import Task, read_pair, task_of
from pddl_eval.definition.task_equivalence import TaskDecision
from pddl_eval.definition.verdict import Counterexample, ProblemVerdict, Undecided, Unsolvable, Verdict
from pddl_eval.errors import UserError
from pddl_eval.scoring.budget import row_budget
from pddl_eval.scoring.kept import KEPT

ROW_SECONDS = ScoringOptions().row_seconds
"""Processor time of each call: that of a row in a dataset."""


class UnsolvableError(UserError):
    """No reachable state contains the goal, so the goal has no closure; the message says why.

    >>> held = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (on a a)))"
    >>> try:
    ...     fully_specify(held)
    ... except UnsolvableError as error:
    ...     print(error)
    (on a a) is never true
    """


class UndecidedError(UserError):
    """A limit was hit before the answer was found, or the domain is not known; the message says which.

    >>> try:
    ...     certificate("(define (problem p) (:domain blocks-world) (:objects a) (:init (held a)) (:goal (clear a)))")
    ... except UndecidedError as error:
    ...     print(error)
    nothing is known of a domain named `blocks-world`; did you mean blocksworld?
    """


def compare_problems(  # noqa: PLR0913 (the contract's keywords)
    reference: str | Problem,
    generated: str | Problem | None,
    *,
    is_placeholder: bool = False,
    domain: str | None = None,
    check_solvable: bool = True,
    answer: str = "first",
) -> ProblemVerdict:
    """Decide whether a generated problem is equivalent to its reference; with reason, object map and plan.

    * ``reference``: a PDDL text;
    * ``generated``: a PDDL text, or a raw model answer with one in it;
    * ``is_placeholder``: compare initial states and goals separately (the paper's "PDDL without object identity");
    * ``domain``: a known domain's name or a PDDL text; default: the domain that the reference names;
    * ``check_solvable``: False to leave ``solvable`` None;
    * ``answer``: which of several problems in a model's answer counts, ``first`` or ``last``; what it wrote in thinking
      marks never does.

    Raises ``DomainError`` if ``domain`` is neither a known name nor a PDDL domain, ``TypeError`` for an argument of
    another type: columns are for ``score_frame``.
    Source: the paper, section 4, algorithm 1.

    >>> held = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"
    >>> verdict = compare_problems(held, "Sure: " + held.replace("a)", "z)"))
    >>> verdict.equivalent, verdict.verdict.value, verdict.object_map
    (True, 'isomorphic', {'z': 'a'})
    """
    texts = _texts(reference, generated)
    if domain:
        with keeping(KEPT):
            chosen_domain(domain)
    with row_budget(ROW_SECONDS):
        return kernel.score_problem_pair(*texts, is_placeholder, domain or None, check_solvable, answer)


def counterexample(
    reference: str | Problem,
    generated: str | Problem | None,
    *,
    is_placeholder: bool = False,
    domain: str | None = None,
    answer: str = "first",
) -> Counterexample | None:
    """A plan to a state with one goal and without the other, where the verdict is ``goal_differs``; else None.

    Any validator can check it: the plan is valid for the problem whose goal it satisfies, and for the other one it
    lacks goal atoms at the end. It is in the reference's words. Parameters as ``compare_problems``; in placeholder mode
    the goals are those under the object map of the initial states.

    Raises ``UndecidedError`` if no plan was found within the limits; ``DomainError`` and ``TypeError`` as
    ``compare_problems``.

    >>> held = "(define (problem p) (:domain blocksworld) (:objects a b) (:init (holding a) (clear b) (on-table b)) {})"
    >>> found = counterexample(held.format("(:goal (on a b))"), held.format("(:goal (arm-empty))"))
    >>> found.plan, found.satisfies, found.lacking
    ((('putdown', 'a'),), 'generated', frozenset({('on', 'a', 'b')}))
    """
    verdict = compare_problems(
        reference, generated, is_placeholder=is_placeholder, domain=domain, check_solvable=False, answer=answer
    )
    if verdict.verdict != Verdict.GOAL_DIFFERS:
        return None
    with row_budget(ROW_SECONDS):
        theirs, ours = read_pair(*_texts(reference, generated), domain or None, answer)
        assert isinstance(theirs, Task) and isinstance(ours, Task), "goals that differ were read"
        found = find_counterexample(theirs, ours, verdict)
    if isinstance(found, Undecided):
        raise UndecidedError(found.reason)
    return found


def _texts(reference: str | Problem, generated: str | Problem | None) -> tuple[str | None, str | None]:
    """Both problems as PDDL texts."""
    texts: list[str | None] = []
    for side, problem in (("reference", reference), ("generated", generated)):
        if not isinstance(problem, str | Problem | None):
            kind = type(problem).__name__
            raise TypeError(f"{side} is one problem, a PDDL text or a Problem, not {kind}; for columns use score_frame")
        texts.append(problem_to_pddl(problem) if isinstance(problem, Problem) else problem)
    return texts[0], texts[1]


def fully_specify(problem: str | Problem, domain: str | None = None) -> frozenset[Formula]:
    """cl(goal): every atom that is true in all reachable states that contain the goal, static atoms included.

    Where other reachable states have these atoms too, as they may if the goal has negated atoms: also each atom that is
    false in all goal states and true in some of those others, as ``("not", atom)``. The result is
    the same for all goals with the same goal states.

    Raises ``UnsolvableError`` if no reachable state contains the goal, ``UndecidedError`` if no atoms and negated atoms
    say which states are goal states (of a disjunction), a limit was hit or the domain that the problem names is not
    known, ``ParseError`` if the text is not a problem, ``DomainError`` as ``compare_problems``.
    Source: the paper, section 4 (fullySpecify) and appendix C.

    >>> held = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"
    >>> sorted(fully_specify(held))
    [('arm-empty',), ('clear', 'a'), ('on-table', 'a')]
    """
    found = _asked(problem, domain, False)
    if found and isinstance(found[1], frozenset):
        return frozenset[Formula](found[1])
    closed: ClosedGoal | Unsolvable | Undecided
    if found and isinstance(found[1], Unsolvable):
        closed = found[1]
    else:
        with row_budget(ROW_SECONDS):
            closed = task_of(problem, domain).closed_goal
    if isinstance(closed, Unsolvable):
        raise UnsolvableError(closed.reason)
    if isinstance(closed, Undecided):
        raise UndecidedError(closed.reason)
    if closed.states is not None:
        raise UndecidedError("no conjunction of literals says which states are goal states")
    return closed.literals


def certificate(problem: str | Problem, domain: str | None = None, *, is_placeholder: bool = False) -> str:
    """32 hexadecimal digits that are equal exactly for equivalent problems of one domain.

    ``is_placeholder``: equivalent when initial states and goals are compared separately.

    Raises as ``fully_specify``, except that an unsolvable problem has a certificate too.

    >>> held = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"
    >>> certificate(held) == certificate(held.replace("clear a", "on-table a"))
    True
    """
    asked = _asked(problem, domain, is_placeholder)
    if asked and asked[0].reference_certificate:
        return asked[0].reference_certificate
    with row_budget(ROW_SECONDS):
        task = task_of(problem, domain)
        found = task.placeholder_certificate if is_placeholder else task.certificate
    if isinstance(found, Undecided):
        raise UndecidedError(found.reason)
    return found


def _asked(
    problem: str | Problem, domain: str | None, is_placeholder: bool
) -> tuple[ProblemVerdict, State | Unsolvable | None] | None:
    """What the kernel says of a problem that is a reference without an answer."""
    text, _ = _texts(problem, None)
    return kernel.problem_pair(text, None, is_placeholder, domain or None, ScoringOptions(check_solvable=False))


def compare_tasks(
    reference_domain: str | Domain,
    reference_problem: str | Problem,
    generated_domain: str | Domain | None,
    generated_problem: str | Problem | None,
    *,
    is_placeholder: bool = False,
) -> TaskDecision:
    """Whether a generated domain and problem together are the reference's planning task, in whatever words.

    Some renaming that makes the domains equivalent has to make the problems equivalent. The generated texts may be raw
    model answers. ``is_placeholder`` as in ``compare_problems``.

    Raises ``UserError`` where the reference domain is missing, has no operators or cannot be read, ``ParseError`` (a
    ``UserError``) where the reference problem cannot be read.
    Source: Planetarium, section 4, and strong equivalence of domains (Shoeeb and McCluskey) under one renaming.

    >>> go = "(define (domain d) (:action go :parameters (?a ?b) :precondition (at ?a) :effect (at ?b)))"
    >>> trip = "(define (problem p) (:domain d) (:objects x y) (:init (at x)) (:goal (at y)))"
    >>> task = compare_tasks(go, trip, go.replace("at ", "in "), trip.replace("at ", "in ").replace(" x", " home"))
    >>> task.equivalent, task.renaming.predicates
    (True, {('in', 1): ('at', (0,))})
    """
    with row_budget(ROW_SECONDS):
        pair = DomainPair(reference_domain, generated_domain)
        try:
            reference = task_of(reference_problem, reference_domain)
        except ParseError as error:
            raise ParseError(error.verdict, f"the reference problem cannot be read: {error.detail}") from None
        decision = decided_task(pair, reference, generated_problem, is_placeholder)
    if decision.equivalent is None:  # A yes has a renaming, which only the definition makes: the kernel is asked last.
        sides = (reference_domain, generated_domain)
        domains = (domain_to_pddl(each) if isinstance(each, Domain) else each for each in sides)
        names = ("reference_domain", "generated_domain", "reference_problem", "generated_problem")
        row = dict(zip(names, (*domains, *_texts(reference_problem, generated_problem)), strict=True))
        found = kernel.one_row("domain", {**row, "is_placeholder": is_placeholder}, ScoringOptions())
        if found and found["task_equivalent"] is not None:
            return replace(decision, equivalent=found["task_equivalent"], detail="the kernel's search decided it")
    return decision
