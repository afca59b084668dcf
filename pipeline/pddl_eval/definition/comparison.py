"""All that is said of a generated problem: the decision, with types and without, solvability, plan, certificates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pddl_eval.definition.budget import or_undecided
from pddl_eval.definition.difference import reference_unsolvable
from pddl_eval.definition.domains import known_domain
from pddl_eval.definition.equivalence import Decision, decide, same_domain
from pddl_eval.definition.model import Action, renamed_atom
from pddl_eval.definition.pddl import Unreadable
from pddl_eval.definition.planning import Solution
from pddl_eval.definition.task import Task
from pddl_eval.definition.validation import execute_actions
from pddl_eval.definition.verdict import ProblemVerdict, Undecided, Unsolvable, Verdict
from pddl_eval.definition.words import Difference, no_reference, sentence

Plan = tuple[Action, ...]


def compare(
    reference: Task | Unreadable, generated: Task | Unreadable, is_placeholder: bool, check_solvable: bool = True
) -> ProblemVerdict:
    """The scores of a generated problem; without ``check_solvable`` no plan is looked for.

    >>> from pddl_eval.definition.task import read_pair
    >>> held = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"
    >>> scores = compare(*read_pair(held, held.replace("(clear a)", "(holding a)")), False)
    >>> scores.verdict.value, scores.detail
    ('goal_differs', 'the goal does not imply (clear a), which the reference asks for')
    """
    decision = decided(reference, generated, is_placeholder)
    atom, side = decision.difference.separating or (None, None)
    verdict = ProblemVerdict(
        parseable=isinstance(generated, Task),
        solvable=None,
        equivalent=decision.equivalent,
        equivalent_untyped=None,
        verdict=decision.verdict,
        detail=sentence(decision.difference),
        object_map=decision.object_map,
        goal_object_map=decision.goal_map,
        separating_atom=atom,
        separating_side=side,
    )
    verdict = _noted(_noted(verdict, generated), reference, "the reference is ")
    own = generated
    if isinstance(generated, Unreadable):
        verdict = replace(verdict, solvable=_solvable_unread(generated), equivalent_untyped=decision.equivalent)
    elif isinstance(reference, Unreadable):
        verdict = _with_plan(verdict, reference, generated) if check_solvable else verdict
        own = generated if generated.domain else Task(generated.problem, known_domain(generated.problem.domain))
    elif not same_domain(reference, generated):
        own = Task(generated.problem, known_domain(generated.problem.domain))
        solvable = False if check_solvable else None
        verdict = replace(verdict, solvable=solvable, equivalent_untyped=decision.equivalent)
    else:
        verdict = _with_plan(verdict, reference, generated) if check_solvable else verdict
        untyped = _decided_untyped(reference, generated, is_placeholder, decision)
        verdict = replace(verdict, equivalent_untyped=untyped)
    # Last: where states are enumerated, a certificate may use up the budget.
    theirs = _certificate(reference, is_placeholder)
    ours = theirs if verdict.equivalent else _certificate(own, is_placeholder)
    return replace(verdict, certificate=ours, reference_certificate=theirs)


def _noted(verdict: ProblemVerdict, task: Task | Unreadable, whose: str = "") -> ProblemVerdict:
    """The verdict, whose detail says first what of a problem VAL reads and the ``pddl`` package does not."""
    remarks = () if isinstance(task, Unreadable) else task.problem.remarks
    return replace(verdict, detail="; ".join([*map(whose.__add__, remarks), verdict.detail])) if remarks else verdict


def _solvable_unread(problem: Unreadable) -> bool | None:
    """False, but of a problem that only says what is not executed nothing is known."""
    return None if problem.verdict is Verdict.UNDECIDED else False


def read_alone(
    generated: Task | Unreadable, check_solvable: bool = True, is_placeholder: bool = False
) -> ProblemVerdict:
    """The scores of a generated problem that has no reference: is it read, can it be solved, its certificate.

    The verdict says what is wrong with the problem itself, and is None where nothing is.

    >>> from pddl_eval.definition.task import read_task
    >>> held = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (on a a)))"
    >>> scores = read_alone(read_task(held))
    >>> scores.parseable, scores.solvable, scores.verdict.value, scores.equivalent
    (True, False, 'unsolvable', None)
    """
    return _noted(_read_alone(generated, check_solvable, is_placeholder), generated)


def _read_alone(generated: Task | Unreadable, check_solvable: bool, is_placeholder: bool) -> ProblemVerdict:
    if isinstance(generated, Unreadable):
        unread = sentence(Difference("unread", reason=generated.detail))
        return ProblemVerdict(False, _solvable_unread(generated), None, None, generated.verdict, unread)
    name, domain = generated.problem.domain, generated.domain
    if domain is not None and name != domain.name and known_domain(name) is not domain:
        differs = sentence(Difference("domain", names=(name, domain.name)))
        certificate = _certificate(Task(generated.problem, known_domain(name)), is_placeholder)
        solvable = False if check_solvable else None
        return ProblemVerdict(True, solvable, None, None, Verdict.DOMAIN_MISMATCH, differs, certificate)
    plan = generated.plan if check_solvable else None
    verdict = ProblemVerdict(
        True, None, None, None, None, no_reference(), certificate=_certificate(generated, is_placeholder)
    )
    if isinstance(plan, Undecided):
        return replace(verdict, detail=f"{no_reference()}; {plan.reason}")
    if isinstance(plan, Unsolvable):
        why = sentence(Difference("unsolvable", reason=plan.reason))
        detail = generated.ill_typed or why
        return replace(verdict, solvable=False, verdict=Verdict.UNSOLVABLE, detail=detail)
    return verdict if plan is None else replace(verdict, solvable=True, plan=plan)


def _certificate(task: Task | Unreadable, is_placeholder: bool) -> str | None:
    """The certificate in the row's mode; None where there is no problem, or cl(goal) is beyond the limits."""
    if isinstance(task, Unreadable):
        return None
    if or_undecided(lambda: task.has_certificate) is not True:
        return None
    certificate = task.placeholder_certificate if is_placeholder else task.certificate
    return certificate if isinstance(certificate, str) else None


def _with_plan(verdict: ProblemVerdict, reference: Task | Unreadable, generated: Task) -> ProblemVerdict:
    """The verdict with a plan of the generated problem: an equivalent one inherits the reference's."""
    inherited: Plan | None = None
    if verdict.object_map is not None and verdict.goal_object_map is None and isinstance(reference, Task):
        back = {theirs: ours for ours, theirs in verdict.object_map.items()}
        if isinstance(reference.plan, tuple):
            inherited = tuple([renamed_atom(action, back) for action in reference.plan])
    plan = inherited if inherited is not None else generated.plan
    if isinstance(plan, Undecided):
        return verdict
    if isinstance(plan, Unsolvable):
        detail = f"{verdict.detail}; {plan.reason}" if generated.ill_typed else verdict.detail
        return replace(verdict, solvable=False, detail=detail)
    solves = or_undecided(lambda: inherited is not None or _solves(reference, generated, verdict.object_map))
    return replace(
        verdict, solvable=True, plan=plan, solves_reference=None if isinstance(solves, Undecided) else solves
    )


def _solves(reference: Task | Unreadable, generated: Task, object_map: Mapping[str, str] | None) -> bool | None:
    """Whether the generated problem's plan solves the reference, under the object map of a yes, else under equal names.

    None where the names differ and there is no map, or the plan is not defined.
    """
    found = generated.solution
    if isinstance(reference, Unreadable) or not isinstance(found, Solution):
        return None
    problem = reference.problem
    if object_map is None and problem.objects.keys() != generated.problem.objects.keys():
        return None
    if reference.domain is None:  # then the only plan is the empty one
        return problem.goal <= problem.init if problem.is_strips else None
    if reference.domain.obstacle_of(problem):
        return None
    steps = [renamed_atom(action, object_map or {}) for action in found.plan]
    execution = execute_actions(steps, problem, reference.domain.domain)
    return not reference.ill_typed and execution.reaches_goal


def decided(reference: Task | Unreadable, generated: Task | Unreadable, is_placeholder: bool) -> Decision:
    """The decision. Mistakes in the reference come first."""
    if isinstance(reference, Unreadable):
        is_outside = reference.verdict in (Verdict.NOT_STRIPS, Verdict.UNDECIDED)
        what = "reference outside" if is_outside else "reference unread"
        return Decision(Verdict.REFERENCE_INVALID, Difference(what, reason=reference.detail))
    ill_typed = or_undecided(lambda: reference.ill_typed)
    if isinstance(ill_typed, str):
        return Decision(Verdict.REFERENCE_INVALID, Difference("reference ill typed", reason=ill_typed))
    closure = reference.closure
    if isinstance(closure, Unsolvable):
        why = reference_unsolvable(reference.problem, reference.domain, closure)
        return Decision(Verdict.REFERENCE_INVALID, why)
    if isinstance(generated, Unreadable):
        return Decision(generated.verdict, Difference("unread", reason=generated.detail))
    strict = or_undecided(lambda: decide(reference, generated, is_placeholder))
    if isinstance(strict, Undecided):
        return Decision(Verdict.UNDECIDED, Difference("undecided", reason=strict.reason))
    return strict


def _decided_untyped(reference: Task, generated: Task, is_placeholder: bool, strict: Decision) -> bool | None:
    """Whether the problems are equivalent without types."""
    if strict.verdict == Verdict.REFERENCE_INVALID:
        return None
    as_typed = strict.verdict in (Verdict.IDENTICAL, Verdict.ISOMORPHIC)
    if as_typed or not (reference.types_matter or generated.types_matter):
        return strict.equivalent
    untyped = or_undecided(lambda: decide(reference.untyped, generated.untyped, is_placeholder))
    return None if isinstance(untyped, Undecided) else untyped.equivalent
