"""A generated plan and its reference: what the metrics of plans take."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from pddl_eval.definition.domains import nothing_known_of
from pddl_eval.definition.metrics.actions import common_subsequence, plan_jaccard
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.definition.pddl import Unreadable, note_on_drafts
from pddl_eval.definition.plans import EMPTY, NO_ANSWER, PlanError, ReadPlan
from pddl_eval.definition.task import Task
from pddl_eval.definition.verdict import Verdict
from pddl_eval.shown import encodable

MAX_DETAIL = 500
"""Characters of a detail."""


class PlanPair:
    """A generated plan, the reference plan if there is one, and what they are executed in.

    ``task`` is that, or None where there is nothing to execute plans in. ``reference`` is None where there is none to
    compare with. ``found`` is False where the answer holds no plan. ``damage`` is the first step that could not be
    read. Metrics add ``notes``. Raises ``PlanError`` where there is neither a reference plan nor a problem to solve.
    """

    def __init__(
        self, reference: ReadPlan, generated: ReadPlan, task: Task | str | None, options: ScoringOptions
    ) -> None:
        if task is None and not reference.found and reference.reason != EMPTY:
            raise PlanError(f"the reference plan is missing: {reference.reason}")
        # An empty text is the empty plan of a planner with nothing to do; else it is no plan.
        is_known = reference.found or (reference.reason == EMPTY and (task is None or _nothing_to_do(task)))
        self.reference = reference.steps if is_known else None
        self.generated = generated.steps
        self.found = generated.found
        self.damage = generated.damage
        self.options = options
        self.task = None if isinstance(task, str) else task
        self.notes = [note_on_drafts(generated.several, options.answer), generated.reason]
        if reference.reason and reference.reason not in (EMPTY, NO_ANSWER):
            self.notes.append(f"{'' if is_known else 'no '}reference plan: {reference.reason}")
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


def _nothing_to_do(task: Task | str) -> bool:
    """True where the goal holds in the initial state."""
    return isinstance(task, Task) and task.problem.goal <= task.problem.init


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
