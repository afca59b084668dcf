"""A generated plan and its reference: what the metrics of plans take."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property

from pddl_eval.definition.domains import nothing_known_of
from pddl_eval.definition.metrics.actions import common_subsequence, plan_jaccard
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.definition.pddl import Unreadable, note_on_drafts
from pddl_eval.definition.plans import EMPTY, NO_ANSWER, Plan, PlanError, ReadPlan, actions_of
from pddl_eval.definition.task import Task
from pddl_eval.definition.validation import Execution, Failure, execute
from pddl_eval.definition.verdict import PlanVerdict, Verdict
from pddl_eval.shown import encodable

MAX_DETAIL = 500
"""Characters of a detail."""


class PlanPair:
    """A generated plan, the reference plan if there is one, and what they are executed in.

    ``task`` is that, or None where there is nothing to execute plans in. ``reference`` is None where there is none to
    compare with. ``found`` is False where the answer holds no plan; ``is_empty`` where it says nothing at all.
    ``is_unexecutable``: there is a problem, but none that can be executed. ``damage`` is the first step that could not
    be read. Metrics add ``notes``. Raises ``PlanError`` where there is neither a reference plan nor a problem to solve.
    """

    def __init__(
        self, reference: ReadPlan | None, generated: ReadPlan, task: Task | str | None, options: ScoringOptions
    ) -> None:
        why = reference.reason if reference is not None else NO_ANSWER
        # An empty text is the empty plan: a planner with nothing to do may write nothing.
        is_known = reference is not None and (reference.found or why == EMPTY)
        if task is None and not is_known:
            raise PlanError(f"the reference plan is missing: {why}")
        self.reference = reference.steps if reference is not None and is_known else None
        self.generated = generated.steps
        self.found = generated.found
        self.is_empty = not generated.found and generated.reason in (EMPTY, NO_ANSWER)
        self.damage = generated.damage
        self.options = options
        self.task = None if isinstance(task, str) else task
        self.is_unexecutable = isinstance(task, str)
        self.notes = [note_on_drafts(generated.several, options.answer), generated.reason]
        if why and why not in (EMPTY, NO_ANSWER):
            self.notes.append(f"{'' if is_known else 'no '}reference plan: {why}")
        if isinstance(task, str):
            self.notes.append(f"not executed: {task}")

    @cached_property
    def in_order(self) -> int:
        """The length of the longest common subsequence."""
        assert self.reference is not None
        return common_subsequence(self.reference, self.generated)

    @cached_property
    def jaccard(self) -> float:
        """The shared actions over all actions."""
        assert self.reference is not None
        return plan_jaccard(self.reference, self.generated)

    @cached_property
    def execution(self) -> Execution | None:
        """How far the generated plan gets: a step that cannot be read fails. None where nothing can be executed."""
        if not self.found or not self._is_executable:
            return None
        damage = self.damage
        plan = self.generated if damage is None else self.generated[: damage.steps_before]
        execution = self._executed(plan)
        if damage is None or execution.failed_step is not None:
            return execution
        unread = Failure(PlanVerdict.UNREADABLE, f"it cannot be read, {damage.place}")
        return replace(execution, failed_step=len(plan) + 1, failure=unread)

    @cached_property
    def reference_execution(self) -> Execution | None:
        """How far the reference plan gets; None where there is none or nothing can be executed."""
        return self._executed(self.reference) if self.reference is not None and self._is_executable else None

    @property
    def _is_executable(self) -> bool:
        return self.task is not None and not self.task.ill_typed

    def _executed(self, plan: Plan) -> Execution:
        assert self.task is not None and self.task.domain is not None
        return execute(map(actions_of, plan), self.task.problem, self.task.domain.domain)

    @property
    def detail(self) -> str:
        """All notes on one line that every file can hold: names come from JSON and may be endless, or no Unicode."""
        return detail_of(self.notes)


def detail_of(notes: Iterable[str]) -> str:
    """The notes on one line.

    >>> detail_of(["", "the answer is empty"])
    'the answer is empty'
    """
    text = " ".join("; ".join(filter(None, notes)).split())
    return encodable(text[:MAX_DETAIL])


def executable(task: Task | Unreadable) -> Task | str:
    """What plans are executed in, or in words why they cannot be."""
    if isinstance(task, Unreadable):
        outside = task.verdict is Verdict.NOT_STRIPS
        return f"the reference problem {'is outside STRIPS' if outside else 'cannot be read'}: {task.detail}"
    if task.domain is None:
        return nothing_known_of(task.asked_for)
    domain = task.domain.domain
    if domain.outside_strips:
        return f"domain {domain.name} goes beyond STRIPS ({', '.join(domain.outside_strips)})"
    return task
