"""A generated plan and its reference: what the metrics of plans take."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any

from pddl_eval.definition import words
from pddl_eval.definition.domains import nothing_known_of
from pddl_eval.definition.kept import kept
from pddl_eval.definition.model import Scheduled, show_atom
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.definition.pddl import Unreadable, mistakes, note_on_drafts
from pddl_eval.definition.plans import EMPTY, NO_ANSWER, Damage, Plan, PlanError, ReadPlan, actions_of
from pddl_eval.definition.task import Task
from pddl_eval.definition.validation import Execution, Failure, execute
from pddl_eval.definition.verdict import PlanVerdict, Verdict
from pddl_eval.shown import encodable, listed

MAX_DETAIL = 500
"""Characters of a detail."""


class PlanPair:
    """A generated plan, the reference plan if there is one, and what they are executed in.

    ``task`` is that, or None where there is nothing to execute plans in. ``reference`` is None where there is none to
    compare with. ``found`` is False where the answer holds no plan, and ``reason`` says what of it could not be read.
    ``not_executed`` says why the problem, if there is one, cannot be executed. ``damage`` is the first step that could
    not be read. Metrics add ``notes``. Raises ``PlanError`` where there is neither a reference plan nor a problem.
    """

    def __init__(
        self, reference: ReadPlan | None, generated: ReadPlan, task: Task | NotExecuted | None, options: ScoringOptions
    ) -> None:
        why = reference.reason if reference is not None else NO_ANSWER
        # An empty text is the empty plan: a planner with nothing to do may write nothing.
        is_known = reference is not None and (reference.found or why == EMPTY)
        if task is None and not is_known:
            missing = f"the reference plan is missing: {why}"
            raise PlanError("there is neither a problem to solve nor a reference plan" if why == NO_ANSWER else missing)
        self.reference = reference.steps if reference is not None and is_known else None
        self.generated = generated.steps
        self.found = generated.found
        self.reason = generated.reason
        self.damage = generated.damage
        self.skipped = generated.skipped
        self.options = options
        self.task = task if isinstance(task, Task) else None
        self.not_executed = task if isinstance(task, NotExecuted) else None
        self.notes = [note_on_drafts(generated.several, options.answer), generated.reason]
        self.notes += task.problem.remarks if isinstance(task, Task) else ()
        if why and why not in (EMPTY, NO_ANSWER):
            self.notes.append(f"{'' if is_known else 'no '}reference plan: {why}")
        if self.not_executed is not None:
            self.notes.append(f"not executed: {self.not_executed.reason}")

    @cached_property
    def execution(self) -> Execution | None:
        """How far the generated plan gets: a step that cannot be read fails. None where nothing can be executed."""
        if not self.found or not self._is_executable:
            return None
        assert self.task is not None
        return executed_plan(self.generated, self.damage, self.task)

    @cached_property
    def reference_execution(self) -> Execution | None:
        """How far the reference plan gets; None where there is none or nothing can be executed."""
        if self.reference is None or self.task is None or not self._is_executable:
            return None
        return kept(_executed_reference, self.reference, _times_of(self.reference), self.task)

    @property
    def _is_executable(self) -> bool:
        return self.task is not None and not self.task.ill_typed

    @property
    def detail(self) -> str:
        """All notes on one line that every file can hold: names come from JSON and may be endless, or no Unicode."""
        return detail_of(self.notes)


def _times_of(plan: Plan) -> tuple[Any, ...]:
    """What plans that are equal in their actions may differ in."""
    actions = chain.from_iterable(sorted(actions_of(step)) for step in plan)
    return tuple((each.start, each.duration, each.more) for each in actions if isinstance(each, Scheduled))


def _executed_reference(plan: Plan, _times: tuple[Any, ...], task: Task) -> Execution:
    return executed_plan(plan, None, task)


def executed_plan(plan: Plan, damage: Damage | None, task: Task) -> Execution:
    """The execution of a plan up to the first step that cannot be read: there it fails."""
    assert task.domain is not None
    plan = plan if damage is None else plan[: damage.steps_before]
    execution = execute(map(actions_of, plan), task.problem, task.domain.domain)
    if damage is None or execution.failed_step is not None:
        return execution
    unread = Failure(PlanVerdict.UNREADABLE, words.cannot_be_read(damage.place))
    return replace(execution, failed_step=len(plan) + 1, failure=unread)


def detail_of(notes: Iterable[str]) -> str:
    """The notes on one line.

    >>> detail_of(["", "the answer is empty"])
    'the answer is empty'
    """
    text = " ".join("; ".join(filter(None, notes)).split())
    return encodable(text[:MAX_DETAIL])


@dataclass(frozen=True, slots=True)
class NotExecuted:
    """Why no plan can be executed, and the verdict on all plans: a mistake in the data, or nothing is decided."""

    reason: str
    verdict: PlanVerdict = PlanVerdict.REFERENCE_INVALID


def executable(task: Task | Unreadable) -> Task | NotExecuted:
    """What plans are executed in, or why they cannot be."""
    if isinstance(task, Unreadable):
        if task.verdict is Verdict.UNDECIDED:
            return NotExecuted(task.detail, PlanVerdict.UNDECIDED)
        return NotExecuted(f"the problem to solve cannot be read: {task.detail}")
    if task.domain is None:
        return NotExecuted(nothing_known_of(task.asked_for))
    domain = task.domain.domain
    if wrong := mistakes(task.domain.not_executed):
        return NotExecuted(f"domain {domain.name} is invalid ({listed(wrong, most=3)})")
    if task.domain.not_executed:
        what = listed(task.domain.not_executed, most=3)
        return NotExecuted(f"domain {domain.name} has what is not supported ({what})", PlanVerdict.UNDECIDED)
    derived = sorted(atom for atom in task.problem.init if atom[0] in task.domain.derived) if domain.formulas else ()
    return NotExecuted(f"{show_atom(derived[0])} in :init is a derived predicate") if derived else task
