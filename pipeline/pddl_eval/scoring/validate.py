"""Is this plan valid, and if not, why: any plan, in any PDDL that is executed, without a reference plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

from pddl_eval.definition.budget import OutOfBudgetError, row_budget
from pddl_eval.definition.domains import nothing_known_of
from pddl_eval.definition.metrics import (
    NotExecuted,
    detail_of,
    ending,
    executable,
    executed_plan,
    failed_step_without_plan,
    is_optimal,
    operators_of,
    verdict_without_plan,
)
from pddl_eval.definition.model import Atom, Domain, Formula, Problem, State, show_atom
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.definition.pddl import DomainError, Unreadable, note_on_drafts
from pddl_eval.definition.plans import ReadPlan, actions_of
from pddl_eval.definition.state_space import StateSpace
from pddl_eval.definition.task import Task, executed_in
from pddl_eval.definition.validation import Execution
from pddl_eval.definition.verdict import PlanVerdict, Undecided
from pddl_eval.scoring.plans import plan_of
from pddl_eval.scoring.repair import repair_advice
from pddl_eval.scoring.steps import StepLabel, states_of, step_labels

DEFAULTS = ScoringOptions()


@dataclass(frozen=True)
class Validation:
    """Whether a plan is valid, and why not.

    ``valid`` is None where that is not decided, or where there is no task to decide it in. ``detail`` is one sentence.
    ``failed_step`` counts from 1. ``missing`` are the conditions that do not hold, of the step that failed or of the
    goal: atoms, ``("not", atom)`` and other formulas over the problem's objects; ``advice`` has a sentence on each,
    with the step that made it false. ``cost`` is the value of the problem's metric, without one the number of actions;
    None where the plan is not valid.

    >>> found = validate("(putdown a)", "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a))"
    ...                                 " (:goal (clear a)))")
    >>> found.valid, found.cost, sorted(found.states[-1][0])
    (True, Fraction(1, 1), [('arm-empty',), ('clear', 'a'), ('on-table', 'a')])
    """

    verdict: PlanVerdict
    detail: str
    failed_step: int | None = None
    missing: tuple[Formula, ...] = ()
    advice: tuple[str, ...] = ()
    cost: Fraction | None = None
    execution: Execution | None = field(default=None, repr=False)
    task: Task | None = field(default=None, repr=False)

    @property
    def valid(self) -> bool | None:
        """True for a valid plan, None where a limit was hit, or the domain or the problem says no task."""
        return None if self.verdict in (PlanVerdict.UNDECIDED, PlanVerdict.REFERENCE_INVALID) else self.verdict.right

    @cached_property
    def states(self) -> tuple[tuple[State, Mapping[Atom, Fraction]], ...]:
        """The atoms and the numbers of the initial state and after each step that was executed."""
        if self.execution is None or self.task is None:
            return ()
        return tuple(states_of(self.execution, self.task.problem))

    @cached_property
    def state_space(self) -> StateSpace | Undecided:
        """All reachable states of the task, with what the goal costs from each; ``Undecided`` where a limit is hit."""
        if self.task is None:
            return Undecided(self.detail)
        with row_budget(DEFAULTS.row_seconds):
            return self.task.state_space

    @property
    def optimal_cost(self) -> Fraction | None:
        """The cost of the cheapest plans; None where there is no plan, or where that is not decided."""
        return None if isinstance(self._least, Undecided) else self._least

    @property
    def _least(self) -> Fraction | Undecided | None:
        return self.state_space.optimal_cost if isinstance(self.state_space, StateSpace) else self.state_space

    @property
    def optimal(self) -> bool | None:
        """Whether the plan is valid and none is cheaper; None where that is not decided."""
        return is_optimal(self.valid, self.cost, self._least) if self.valid else self.valid

    @property
    def steps(self) -> tuple[StepLabel, ...] | None:
        """What each step is worth, up to the first that could not be executed; None where that is not decided.

        >>> problem = "(define (problem p) (:domain blocksworld) (:objects a) (:init {}) (:goal (holding a)))".format(
        ...     "(arm-empty) (clear a) (on-table a)")
        >>> found = validate("(pickup a) (putdown a) (pickup a) (pickup a)", problem)
        >>> [step.value for step in found.steps], found.optimal_cost
        ([1.0, 0.5, 0.5, 0.0], Fraction(1, 1))
        """
        if self.execution is None or self.task is None or isinstance(self.state_space, Undecided):
            return None
        return step_labels(self.state_space, self.execution, self.task.problem)


def validate(
    plan: Any, problem: str | Problem, domain: str | Domain | None = None, *, answer: str = DEFAULTS.answer
) -> Validation:
    """Execute a plan step by step, as VAL does.

    * ``plan``: a text (any notation of ``definition.plans``, also a raw model answer) or a sequence of steps, as
      ``compare_plans`` takes them.
    * ``problem``: a PDDL text or a ``Problem``; ``domain``: a known domain's name, a PDDL text or a ``Domain``, by
      default the domain that the problem names. ADL, derived predicates, action costs and numeric fluents are executed.
    * ``answer``: which of several drafts in a model's answer counts, ``first`` or ``last``.

    Raises ``ParseError`` if the problem cannot be read, ``DomainError`` if the domain cannot or is not known,
    ``TypeError`` if the plan is neither a text nor a sequence.
    Sources: Howey, Long and Fox, "VAL" (ICTAI 2004); Fox and Long, "PDDL2.1" (JAIR 20, 2003).

    >>> problem = "(define (problem p) (:domain blocksworld) (:objects a b) (:goal (clear b)) {})".format(
    ...     "(:init (holding a) (clear b) (on-table b))")
    >>> found = validate("(stack a b) (stack b a)", problem)
    >>> found.verdict.value, found.failed_step, found.missing
    ('precondition', 2, (('holding', 'b'),))
    >>> found.advice[0]
    '(holding b) is false before step 2, (stack b a): it is not in the initial state, and no step added it'
    """
    return validate_in(executed_in(problem, domain), plan, answer=answer)


def validate_in(whole: Task | Unreadable, plan: Any, *, answer: str = DEFAULTS.answer) -> Validation:
    """As ``validate``, in a task that was read: what is found out about the task serves all its plans.

    A problem that cannot be read is the verdict on each of them.

    >>> held = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"
    >>> validate_in(executed_in(held), "(putdown a)").valid
    True
    """
    if isinstance(whole, Task) and whole.domain is None:
        raise DomainError(nothing_known_of(whole.asked_for))
    task = executable(whole)
    if isinstance(task, NotExecuted):
        return Validation(task.verdict, f"not executed: {task.reason}")
    with row_budget(DEFAULTS.row_seconds):
        try:
            return _validated(plan_of(plan, answer, operators_of(task)), task, answer)
        except OutOfBudgetError as end:
            return Validation(PlanVerdict.UNDECIDED, str(end))


def _validated(plan: ReadPlan, task: Task, answer: str) -> Validation:
    assert task.domain is not None
    notes = [note_on_drafts(plan.several, answer), plan.reason, *task.problem.remarks]
    if task.ill_typed:
        return Validation(PlanVerdict.REFERENCE_INVALID, detail_of([task.ill_typed]))
    if not plan.found:
        failed_step = failed_step_without_plan(plan.reason)
        return Validation(verdict_without_plan(plan.reason), detail_of(notes), failed_step)
    execution = executed_plan(plan.steps, plan.damage, task)
    failed = ""
    if execution.failed_step is not None and execution.failed_step <= len(plan.steps):
        failed = " ".join(map(show_atom, sorted(actions_of(plan.steps[execution.failed_step - 1]))))
    return Validation(
        execution.verdict,
        detail_of([*notes, ending(execution)]),
        execution.failed_step,
        execution.missing,
        repair_advice(execution, task.problem, task.domain.domain, failed),
        execution.cost,
        execution,
        task,
    )
