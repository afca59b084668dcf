"""Plans: compared with a reference, or executed without one, step by step, with what each step is worth.

Why a condition does not hold where a plan needs it is said with the step that made it so. Nothing is decided here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import Enum
from fractions import Fraction
from functools import cached_property, partial
from itertools import pairwise
from math import isfinite
from pathlib import Path
from typing import Any

from pddl_eval import kernel
from pddl_eval.definition.budget import OutOfBudgetError, or_undecided
from pddl_eval.definition.domains import nothing_known_of, planning_domain
from pddl_eval.definition.formulas import UNBOUND, NoValueError, World, bindings, holds, is_true, read_by
from pddl_eval.definition.metrics import (
    PLAN,
    NotExecuted,
    PlanPair,
    as_float,
    as_reference,
    detail_of,
    embed_plans,
    ending,
    executable,
    failed_step_without_plan,
    is_optimal,
    operators_of,
    verdict_without_plan,
)
from pddl_eval.definition.model import (
    QUANTIFIERS,
    Action,
    Atom,
    Domain,
    Formula,
    Operator,
    Problem,
    State,
    is_atom,
    show_atom,
    show_formula,
    show_number,
    words_of,
)
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.definition.pddl import (
    DEFINE_DOMAIN,
    DEFINE_PROBLEM,
    DomainError,
    ParseError,
    Unreadable,
    derived_predicates,
)
from pddl_eval.definition.plans import (
    EMPTY,
    Operators,
    Plan,
    PlanError,
    ReadPlan,
    Step,
    actions_of,
    in_order,
    read_plan,
    steps_of_value,
    without_finish,
)
from pddl_eval.definition.state_space import GoalCosts
from pddl_eval.definition.task import Task, executed_in, task_of
from pddl_eval.definition.validation import START, Execution, effects_of, ground_operator, in_words, last_changes
from pddl_eval.definition.verdict import PlanVerdict, Undecided
from pddl_eval.definition.words import preferences
from pddl_eval.errors import UserError
from pddl_eval.process import reraise_interrupt
from pddl_eval.scoring.budget import row_budget
from pddl_eval.scoring.pairing import Scores, Values, as_column, pair_up
from pddl_eval.shown import line, printable, quote, words

DEFAULTS = ScoringOptions()

MOST_ADVICE = 10
"""Conditions that are explained."""

MOST_DETAIL = 1_000
"""Characters of a detail, or of a sentence of advice."""

NOT_EXECUTED = (PlanVerdict.EMPTY, PlanVerdict.UNREADABLE, PlanVerdict.UNDECIDED, PlanVerdict.REFERENCE_INVALID)
"""Verdicts on plans that were not executed to their end or to a fault: nothing is known of what they do."""


class PlanScores(Scores):
    """The scores of one generated plan: an attribute for each column, None where nothing can be computed.

    Rates and distances are from 0 to 1, lengths are steps. ``plan_valid``: every step can be executed and the goal
    holds at the end (as in VAL). ``goal_reached``: the goal holds where the execution ended, after the last step or
    before the first that failed. ``first_failed_step`` counts from 1. ``plan_verdict`` names the first fault,
    ``executable_share`` and ``goal_share`` say how far the plan gets, ``plan_cost`` what it costs if it is valid. All
    these, ``state_distance`` and ``causal_distance`` are None if domain or problem is not known; the distances also if
    one of the plans fails. ``detail`` says what went wrong, if anything.

    >>> scores = compare_plans("(pick a), (drop a)", "(drop a), (pick a)")
    >>> scores.plan_lcs, scores.plan_jaccard, scores.plan_valid
    (0.5, 1.0, None)
    >>> str(scores).splitlines()[:2]
    ['plan_lcs               0.5', 'plan_jaccard           1']
    """

    def __init__(self, pair: PlanPair) -> None:
        super().__init__(PLAN, pair)


def compare_plans(  # noqa: PLR0913 (the contract's keywords)
    reference: str | Values[Any],
    generated: str | Values[Any] | None,
    *,
    domain: str | Domain | None = None,
    problem: str | Problem | None = None,
    similarity: str = DEFAULTS.similarity,
    beta: float = DEFAULTS.beta,
    threshold: float = DEFAULTS.threshold,
    answer: str = DEFAULTS.answer,
) -> PlanScores | list[PlanScores]:
    """Compare a generated plan with a reference plan, and execute both if ``problem`` is given.

    * ``reference``, ``generated``: a text (any notation of ``definition.plans``, also a raw model answer) or a sequence
      of steps: tuples or lists ``("stack", "a", "b")``, T-Eval mappings, sets for concurrent actions, and strings among
      these; ``[]`` is the empty plan. Or a column: a list or tuple of texts only, or of whole plans, a polars or pandas
      series, a numpy array. A single reference serves a whole column.
    * ``problem``: what both plans are executed in (a PDDL text or a ``Problem``).
    * ``domain``: a known domain's name, a PDDL text or a ``Domain``; default: the domain that the problem names.
    * ``similarity``, ``beta``, ``threshold``: the settings of T-Eval's plan score, see ``plan_score``.
    * ``answer``: which of several drafts in a model's answer counts, ``first`` or ``last``.

    The result is one ``PlanScores``, for columns a list of them. A generated text that is empty, None or unreadable
    scores 0.

    Raises ``PlanError`` if a reference is missing or unreadable, ``UserError`` if columns differ in length or a setting
    is wrong, ``ParseError`` or ``DomainError`` if problem or domain cannot be read or no domain has the name,
    ``TypeError`` for what is neither a plan nor a column.
    Sources: GAICo's and T-Eval's pages on planning metrics; Nguyen et al. 2012 for the distances.

    >>> compare_plans("pickup(A), stack(A,B), pickup(C)", "1. (pickup a)\\n2. (stack a b)").plan_lcs
    0.6666666666666666
    >>> [scores.plan_jaccard for scores in compare_plans([("noop",)], ["noop", "noop, wave"])]
    [1.0, 0.5]
    """
    options = ScoringOptions(similarity=similarity, beta=beta, threshold=threshold, answer=answer)
    task = executable(executed_in(problem, domain)) if problem is not None else None
    pairs, are_columns = pair_up(reference, generated, "plans", _is_plan)
    references = {id(value): value for value, _ in pairs}
    operators = operators_of(task)  # A reference that serves several is read once.
    read = {key: as_reference(plan_of(value), value, operators) for key, value in references.items()}
    plans = [(read[id(value)], plan_of(other, answer, operators)) for value, other in pairs]
    for number, (plan, _) in enumerate(plans):
        if not plan.found and plan.reason != EMPTY:
            where = f" in row {number}" * are_columns
            raise PlanError(f"the reference plan{where} is missing: {plan.reason}")
    embed_plans((plan for pair in plans for plan in pair), options)
    scores = [PlanScores(PlanPair(*pair, task, options)) for pair in plans]
    return scores if are_columns else scores[0]


def _is_plan(sequence: Any) -> bool:
    """True for the steps of one plan, False for a column of plans."""
    if any(isinstance(item, (Set, Mapping)) for item in sequence):
        return True
    others = [item for item in sequence if not isinstance(item, str)]
    return all(map(_is_action, others)) and (bool(others) or not sequence)


def _is_action(value: Any) -> bool:
    """True for ``("stack", "a", "b")``, but not for ``["pick(a)", "drop(a)"]``, which is a plan."""
    if not isinstance(value, (list, tuple)) or not value:
        return False
    return all(isinstance(part, str) for part in value) and "(" not in value[0]


def plan_of(value: Any, answer: str = "first", operators: Operators | None = None) -> ReadPlan:
    """The plan that a text holds, or that a sequence of steps is.

    >>> plan_of([("pick", "a")]).steps
    (('pick', 'a'),)
    """
    if isinstance(value, ReadPlan):
        return value
    if value is None or isinstance(value, str):
        return read_plan(value, answer, operators)
    steps = as_column(value)
    if steps is None:
        raise TypeError(f"a plan is a text or a sequence of steps, not {type(value).__name__}")
    return ReadPlan(without_finish(plan_of_steps(steps)))


def plan_of_steps(steps: Iterable[Any]) -> Plan:
    """The plan of a Python sequence: each step an action string, a sequence ``("stack", "a", "b")``, a T-Eval
    mapping, or a set of such for concurrent actions, which is what ``{…}`` is in a text.

    A string that is not in the notation of an action is the name of an action without arguments. Raises ``PlanError``
    for a step of another type.

    >>> plan_of_steps([("pick", "A"), {"noop", "drop(A)"}]) == (
    ...     ("pick", "a"), frozenset({("noop",), ("drop", "a")}))
    True
    """
    said = [(s, frozenset(map(_action_of_value, s)) if isinstance(s, Set) else _step_of_value(s)) for s in steps]
    return tuple(in_order(said))


def _step_of_value(value: Any) -> Step:
    steps: Sequence[Step] = steps_of_value(value)
    if not steps and isinstance(value, str) and re.search(r"[^\W\d_]", value) and not re.search(r"[(){},]", value):
        return (" ".join(value.lower().split()),)
    if len(steps) != 1:
        raise PlanError(f"a step of the plan is not an action: {quote(str(value))}")
    return steps[0]


def _action_of_value(value: Any) -> Action:
    step = _step_of_value(value)
    if isinstance(step, frozenset):
        raise PlanError(f"a set of actions holds another one: {quote(str(value))}")
    return step


# Validation


@dataclass(frozen=True, slots=True)
class Condition:
    """What a step needs, or the goal: an atom, whether it is to be true, whether it is so, and what made it so.

    ``step`` is the last one that added or deleted the atom; ``START`` where none did; None of what steps do not add,
    a derived atom or another formula. ``why`` says the same in words, and of an unmet formula what makes it false.
    """

    atom: Formula
    wanted: bool
    holds: bool
    step: int | None
    why: str = field(default="", compare=False)

    def sentence(self, where: str) -> str:
        """That it does not hold ``where`` it is needed, and why."""
        if is_atom(self.atom):
            said = f"{show_formula(self.atom)} is {'false' if self.wanted else 'true'} {where}"
        else:
            said = f"{show_formula(self.atom if self.wanted else ('not', self.atom))} is false {where}"
        return f"{said}: {self.why}" if self.why else said


@dataclass(frozen=True)
class Validation:
    """Whether a plan is valid, and why not.

    ``valid`` is None where that is not decided, or where there is no task to decide it in. ``detail`` is one sentence.
    ``failed_step`` counts from 1. ``missing`` are the conditions that do not hold, of the step that failed or of the
    goal: atoms, ``("not", atom)`` and other formulas over the problem's objects. ``cost`` is the value of the problem's
    metric, without one the number of actions; None where the plan is not valid. Where the kernel found the verdict, the
    definition executes the plan when ``missing``, ``states`` or what follows from them is asked for.

    >>> found = validate("(putdown a)", "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a))"
    ...                                 " (:goal (clear a)))")
    >>> found.valid, found.cost, sorted(found.states[-1][0])
    (True, Fraction(1, 1), [('arm-empty',), ('clear', 'a'), ('on-table', 'a')])
    """

    verdict: PlanVerdict
    detail: str
    failed_step: int | None = None
    cost: Fraction | None = None
    executed: PlanPair | Callable[[], PlanPair | None] | None = field(default=None, repr=False, compare=False)

    @cached_property
    def _pair(self) -> PlanPair | None:
        return self.executed() if callable(self.executed) else self.executed

    @property
    def missing(self) -> tuple[Formula, ...]:
        return self.execution.missing if self.execution else ()

    @property
    def plan(self) -> Plan:
        return self._pair.generated if self._pair else ()

    @property
    def execution(self) -> Execution | None:
        return self._pair.execution if self._pair else None

    @property
    def task(self) -> Task | None:
        return self._pair.task if self._pair else None

    def __str__(self) -> str:
        return f"{self.verdict.value}: {self.detail or self.verdict.meaning}"

    @property
    def valid(self) -> bool | None:
        """True for a valid plan, None where a limit was hit, or the domain or the problem says no task."""
        return None if self.verdict in (PlanVerdict.UNDECIDED, PlanVerdict.REFERENCE_INVALID) else self.verdict.right

    @property
    def goal_reached(self) -> bool:
        """True where the goal holds at the end of what could be executed."""
        return self.execution is not None and not self.execution.unmet

    @property
    def constraint_share(self) -> float | None:
        """The share of the constraints that hold on the states up to a step that fails; None where there are none."""
        return None if self.execution is None else self.execution.constraint_share

    @property
    def violated(self) -> Mapping[str, int]:
        """The preferences that were violated, each with how often."""
        return {} if self.execution is None else self.execution.violated

    @property
    def times(self) -> tuple[Fraction, ...]:
        """When each of the ``states`` begins; none for a plan whose steps have no times."""
        return () if self.execution is None else self.execution.times

    @property
    def failed(self) -> list[Action]:
        """The actions of the step that failed; none where none did or it could not be read."""
        if self.failed_step is None or self.execution is None or self.verdict is PlanVerdict.UNREADABLE:
            return []
        return sorted(actions_of(self.plan[self.failed_step - 1]))

    @cached_property
    def conditions(self) -> tuple[Condition, ...]:
        """What the step that failed needs, else what the goal asks for, unmet conditions first."""
        if self.task is None or self.task.domain is None:
            return ()
        asked: Iterable[Formula] = self.task.problem.goal_as_written
        if self.failed_step is not None and self.times:  # what an action needs at another time holds there or not
            asked = self.missing
        elif self.failed_step is not None:
            world = World(self.task.problem, self.task.domain.domain)
            operators = (ground_operator(action, world) for action in self.failed)
            asked = (each for operator in operators if isinstance(operator, Operator) for each in _needs(operator))
        return tuple(sorted(self._conditions(asked), key=lambda each: (each.holds, show_formula(each.atom))))

    @cached_property
    def advice(self) -> tuple[str, ...]:
        """A sentence on each condition that does not hold, with the step that made it so."""
        failed = f", {' '.join(map(show_atom, self.failed))}" if self.failed else ""
        where = "at the end" if self.failed_step is None else f"before step {self.failed_step}{failed}"
        if self.failed_step is not None and self.times:  # which may be at its end, or under way
            where = f"where step {self.failed_step}{failed}, fails"
        return tuple(each.sentence(where) for each in self._conditions(self.missing[:MOST_ADVICE]))

    def _conditions(self, formulas: Iterable[Formula]) -> list[Condition]:
        """What is known of conditions where the execution ended; nothing past a limit."""
        execution, task = self.execution, self.task
        if execution is None or task is None:
            return []
        with row_budget(DEFAULTS.row_seconds):
            found = or_undecided(lambda: [*conditions_of(dict.fromkeys(formulas), execution, task)])
        return [] if isinstance(found, Undecided) else found

    @cached_property
    def states(self) -> tuple[tuple[State, Mapping[Atom, Fraction]], ...]:
        """The atoms and the numbers of the initial state and after each step that was executed."""
        if self.execution is None or self.task is None:
            return ()
        return tuple(states_of(self.execution, self.task.problem))

    @cached_property
    def state_space(self) -> GoalCosts | Undecided:
        """What the goal costs from each reachable state of the task; ``Undecided`` where a limit is hit."""
        task = self.task
        if task is None:
            return Undecided(self.detail)
        with row_budget(DEFAULTS.row_seconds):
            return or_undecided(lambda: task.goal_costs)

    @property
    def optimal_cost(self) -> Fraction | None:
        """The cost of the cheapest plans; None where there is no plan, or where that is not decided."""
        return None if isinstance(self.state_space, Undecided) else self.state_space.optimal_cost

    @property
    def optimal(self) -> bool | None:
        """Whether the plan is valid and none is cheaper; None where that is not decided."""
        if not self.valid or isinstance(self.state_space, Undecided):
            return None if self.valid else self.valid
        return is_optimal(self.valid, self.cost, self.optimal_cost)

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
    return _by_kernel(plan, problem, domain, answer) or validate_in(executed_in(problem, domain), plan, answer=answer)


def _by_kernel(plan: Any, problem: str | Problem, domain: str | Domain | None, answer: str) -> Validation | None:
    """The kernel's verdict on texts, without a metric: it has no exact numbers. None where the definition is asked."""
    if not (isinstance(plan, str) and isinstance(problem, str) and isinstance(domain, str | None)):
        return None
    row = {"generated_plan": plan, "reference_problem": problem, "domain": domain}
    found = None if _METRIC.search(problem) else kernel.one_row("plan", row, ScoringOptions(answer=answer))
    if found is None or found["plan_verdict"] is None:
        return None
    cost = None if found["plan_cost"] is None else Fraction(found["plan_cost"])
    verdict, detail = PlanVerdict[found["plan_verdict"].upper()], found["plan_detail"] or ""
    return Validation(verdict, detail, found["first_failed_step"], cost, partial(_pair, plan, problem, domain, answer))


_METRIC = re.compile(":metric", re.IGNORECASE)


def _pair(plan: str, problem: str, domain: str | None, answer: str) -> PlanPair | None:
    pair = validate_in(executed_in(problem, domain), plan, answer=answer).executed
    assert not callable(pair), "the definition has executed it"
    return pair


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
            return validation_of(
                PlanPair(None, plan_of(plan, answer, operators_of(task)), task, ScoringOptions(answer=answer))
            )
        except OutOfBudgetError as end:
            return Validation(PlanVerdict.UNDECIDED, str(end))


def validation_of(pair: PlanPair) -> Validation:
    """What is found of the generated plan of a pair that has a problem to solve. Raises ``OutOfBudgetError``."""
    assert pair.task is not None
    if pair.task.ill_typed:
        return Validation(PlanVerdict.REFERENCE_INVALID, detail_of([pair.task.ill_typed]))
    execution = pair.execution
    if execution is None:
        failed_step = failed_step_without_plan(pair.reason)
        return Validation(verdict_without_plan(pair.reason), pair.detail, failed_step)
    return Validation(
        execution.verdict,
        detail_of([*pair.notes, ending(execution) or preferences(execution.violated)]),
        execution.failed_step,
        execution.cost,
        pair,
    )


# What each step is worth: for process rewards


class StepLabel(Enum):
    """What a step of a plan is worth, as process rewards say it (Pisano and Navigli, "PDDL2PRM", ACL 2026).

    ``NOT_EXECUTABLE``; ``DEAD_END``, the goal cannot be reached any more; ``BACKTRACKING``, to a state in which the
    plan has been; ``SUBOPTIMAL``, no cheapest plan goes on like that; ``OPTIMAL``. The value is the reward.

    >>> StepLabel.DEAD_END.value
    0.25
    """

    NOT_EXECUTABLE = 0.0
    DEAD_END = 0.25
    BACKTRACKING = 0.5
    SUBOPTIMAL = 0.75
    OPTIMAL = 1.0


def step_labels(costs: GoalCosts, execution: Execution, problem: Problem) -> tuple[StepLabel, ...]:
    """A label for each step of a plan up to the first that could not be executed.

    >>> from pddl_eval.definition.pddl import parse_domain
    >>> from pddl_eval.definition.state_space import goal_costs
    >>> from pddl_eval.definition.validation import execute
    >>> lamp = parse_domain('''(define (domain d) (:action on :effect (lit)) (:action off :effect (not (lit)))
    ...   (:action drop :effect (broken))
    ...   (:action read :precondition (and (lit) (not (broken))) :effect (done)))''')
    >>> dark = Problem("p", "d", {}, frozenset(), frozenset({("done",)}))
    >>> execution = execute([{(name,)} for name in ("on", "off", "on", "drop", "read")], dark, lamp)
    >>> [label.value for label in step_labels(goal_costs(dark, lamp), execution, dark)]
    [1.0, 0.5, 0.5, 0.25, 0.0]
    """
    labels: list[StepLabel] = []
    space = costs.space
    before, paid, been = space.start, costs.base, {space.start}
    following = list(states_of(execution, problem))[1:]
    for operators, (atoms, values) in zip(execution.steps, following, strict=True):
        after, cost = space.node(atoms, values), Fraction(len(operators))
        if costs.counter is not None:
            cost = values.get(costs.counter, costs.base) - paid
            paid += cost
        if after not in costs.to_goal:
            labels.append(StepLabel.DEAD_END)
        elif after in been:
            labels.append(StepLabel.BACKTRACKING)
        elif costs.to_goal[before] == cost + costs.to_goal[after]:
            labels.append(StepLabel.OPTIMAL)
        else:
            labels.append(StepLabel.SUBOPTIMAL)
        been.add(after)
        before = after
    return (*labels, *[StepLabel.NOT_EXECUTABLE] * (execution.failed_step is not None))


def states_of(execution: Execution, problem: Problem) -> Iterator[tuple[frozenset[Atom], Mapping[Atom, Fraction]]]:
    """The atoms and the numbers of the initial state and after each step that was executed."""
    atoms, values = problem.init, dict(problem.values)
    yield atoms, dict(values)
    for step, updates in zip(execution.steps, execution.updates, strict=True):
        added, deleted = effects_of(step)
        atoms = (atoms - deleted) | added
        values.update(updates)
        yield atoms, dict(values)


# Why conditions do not hold


def conditions_of(formulas: Iterable[Formula], execution: Execution, task: Task) -> Iterator[Condition]:
    """Whether conditions hold where an execution ended, and why. Raises ``OutOfBudgetError``.

    >>> dark = "(define (problem p) (:domain lamp) (:init (off)) (:goal (on)))"
    >>> lamp = "(define (domain lamp) (:action switch :precondition (off) :effect (and (on) (not (off)))))"
    >>> (found,) = validate("(switch) (switch)", dark, lamp).conditions
    >>> found.sentence("before step 2")
    '(off) is false before step 2: step 1, (switch), deleted it'
    """
    assert task.domain is not None
    world = World(replace(task.problem, init=execution.state, values=execution.values), task.domain.domain)
    derived, changed = derived_predicates(world.domain), last_changes(execution)
    for formula in formulas:
        atom, wanted = (formula[1], False) if formula[:1] == ("not",) else (formula, True)
        met, step = is_true(formula, world), None
        if not is_atom(atom):
            why = "" if met else _instance(formula, world) or "; ".join(_numbers(formula, execution, world))
        elif atom[0] in derived:
            why = f"{'a' if met == wanted else 'no'} rule derives it"
        else:
            step = changed.get(atom, START)
            why = _since(met == wanted, execution, step)
        yield Condition(atom, wanted, met, step, why)


def _needs(operator: Operator) -> Iterator[Formula]:
    """The conditions of an operator."""
    yield from operator.preconditions
    yield from (("not", atom) for atom in operator.negative_preconditions)
    yield from (formula for part, formula in operator.formulas if part == ":precondition")


def _since(is_true: bool, execution: Execution, last: int) -> str:
    """Which step made an atom true or false."""
    if last == START:
        return "it is so from the start" if is_true else "it is not in the initial state, and no step added it"
    return f"{_happening(execution, last)}, {'added' if is_true else 'deleted'} it"


def _happening(execution: Execution, number: int) -> str:
    """A step, or what happened at a time."""
    when = f"at time {show_number(execution.times[number])}" if execution.times else f"step {number}"
    return f"{when}, {_shown(execution.steps[number - 1])}"


def _instance(condition: Formula, world: World) -> str:
    """The objects with which a quantified condition is false; empty for others, and past a limit."""
    quantified, truth = (condition[1], True) if condition[0] == "not" else (condition, False)
    if isinstance(quantified, str) or quantified[:1] != ("exists" if truth else "forall",):
        return ""
    _, listing, body = quantified
    with suppress(OutOfBudgetError, NoValueError):
        for binding in bindings(listing, world, UNBOUND):
            if holds(body, world, binding) is truth:
                return f"for {', '.join(f'{variable} = {name}' for variable, name in binding.items())}"
    return ""


def _numbers(condition: Formula, execution: Execution, world: World) -> Iterator[str]:
    """The values of the fluents of a condition without quantifiers, and which steps gave them."""
    if not QUANTIFIERS.isdisjoint(words_of(condition)):
        return
    for fluent in sorted({*read_by(condition, world)} & execution.values.keys()):
        last = max((number for number, values in enumerate(execution.updates, 1) if fluent in values), default=START)
        since = "from the start" if last == START else f"since {_happening(execution, last)}"
        yield f"{show_atom(fluent)} is {show_number(execution.values[fluent])} {since}"


def _shown(step: Sequence[Operator]) -> str:
    shown = " ".join(map(in_words, step))
    return shown if len(step) == 1 else f"{{{shown}}}"


# Files of plans, and what each came to: in words and as values for programs


EXCHANGED = [[False, True], [True, False]]
"""Where the file of the domain has only a problem, and that of the problem only a domain."""


def validate_files(
    domain: str, problem: str, plans: Sequence[str], answer: str = "first"
) -> Iterator[tuple[str, Validation]]:
    """The plans in files (``-`` is stdin), each with its name, as they are validated.

    ``domain`` may also be the name of a known domain. An empty file is the empty plan, as planners write it where there
    is nothing to do. A domain or a problem that cannot be read is the verdict on every plan. Raises ``DatasetError``
    where a file cannot be read, ``UserError`` where domain and problem are exchanged.
    """
    from pddl_eval.datasets import read_text  # Arrow, which no other function here needs

    is_name = "(" not in domain and not Path(domain).exists() and planning_domain(domain) is not None
    domain_text, problem_text = domain if is_name else read_text(domain), read_text(problem)
    texts = domain_text.lower(), problem_text.lower()
    if [[bool(each.search(text)) for each in (DEFINE_DOMAIN, DEFINE_PROBLEM)] for text in texts] == EXCHANGED:
        raise UserError(f"{domain} holds a problem and {problem} a domain: the domain comes first")
    task: Task | Unreadable | Validation
    try:
        with row_budget(DEFAULTS.row_seconds):
            task = task_of(problem_text, domain_text, for_plans=True)
    except ParseError as error:
        task = Unreadable(error.verdict, error.detail)
    except UserError as error:
        task = Validation(PlanVerdict.REFERENCE_INVALID, str(error))
    except Exception as error:
        task = _not_decided(error)
    for name in plans:
        text = read_text(name)
        try:
            found = task if isinstance(task, Validation) else validate_in(task, text, answer=answer)
            if not isinstance(task, Validation) and found.verdict is PlanVerdict.EMPTY:
                found = validate_in(task, ())
        except Exception as error:  # One plan costs one verdict.
            found = _not_decided(error)
        yield name, found


def _not_decided(error: Exception) -> Validation:
    reraise_interrupt(error)
    return Validation(PlanVerdict.UNDECIDED, f"{type(error).__name__}: {error}")


def verdict_line(found: Validation) -> str:
    """The verdict in one line: valid with its cost, or what is wrong, or why nothing was executed.

    >>> held = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"
    >>> verdict_line(validate("(putdown a)", held)), verdict_line(validate("(putdown a) (putdown a)", held))
    ('valid, cost 1', 'not valid: step 2 fails: (putdown a) needs (holding a)')
    """
    detail = line(found.detail, MOST_DETAIL)
    if found.valid:
        cost = "" if found.cost is None else f", cost {show_number(found.cost)}"
        return f"valid{cost}" + f" ({detail})" * bool(detail)
    if found.verdict is PlanVerdict.REFERENCE_INVALID:
        return f"domain or problem invalid: {detail}"
    return f"{words(found.verdict.value) if found.verdict in NOT_EXECUTED else 'not valid'}: {detail}"


def optimal_line(found: Validation) -> str:
    """What the cheapest plans cost, and what each step of this one is worth.

    >>> held = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"
    >>> optimal_line(validate("(putdown a) (pickup a) (putdown a)", held))
    'not optimal: the cheapest plans cost 1; steps: optimal, backtracking, backtracking'
    """
    space, steps = found.state_space, found.steps
    if isinstance(space, Undecided):
        return f"optimal: not decided: {line(space.reason, MOST_DETAIL)}"
    cost = space.optimal_cost
    least = "no plan" if cost is None else f"the cheapest plans cost {show_number(cost)}"
    worth = f"; steps: {', '.join(words(step.name.lower()) for step in steps)}" if steps else ""
    return f"{'' if found.optimal else 'not '}optimal: {least}{worth}"


def validation_text(found: Validation, *, states: bool = False, optimal: bool = False) -> str:
    """The verdict, and a line on each condition that does not hold.

    With ``states`` first what each step changed, with ``optimal`` also what the cheapest plans cost.
    """
    lines = [_step_line(step) for step in changes(found, show_number)] if states else []
    lines += [verdict_line(found), *(line(advice, MOST_DETAIL) for advice in found.advice)]
    return "\n".join([*lines, optimal_line(found)] if optimal else lines)


def validation_values(found: Validation, *, states: bool = False, optimal: bool = False) -> dict[str, Any]:
    """The same as values that JSON has: conditions and atoms as PDDL, numbers as numbers."""
    values: dict[str, Any] = {
        "valid": found.valid,
        "verdict": found.verdict.value,
        "detail": found.detail or None,
        "failed_step": found.failed_step,
        "missing": [show_formula(condition) for condition in found.missing],
        "advice": list(found.advice),
        "cost": None if found.cost is None else _number(found.cost),
    }
    if optimal:
        least, steps = found.optimal_cost, found.steps
        values |= {"optimal": found.optimal, "optimal_cost": None if least is None else _number(least)}
        values["steps"] = None if steps is None else [step.value for step in steps]
    return {**values, "states": list(changes(found))} if states else values


def _number(value: Fraction) -> int | float | str:
    """As JSON has numbers; in words where it is beyond them."""
    if value.denominator == 1:
        return value.numerator
    return number if isfinite(number := as_float(value)) else show_number(value)


def changes(found: Validation, number: Callable[[Fraction], Any] = _number) -> Iterator[dict[str, Any]]:
    """What each step that was executed needed and changed: atoms added and deleted, and the new values of numbers.

    Where time counts, what happened at each time, a time line.

    >>> held = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"
    >>> next(changes(validate("(putdown a)", held)))["deleted"]
    ['(holding a)']
    """
    if found.execution is None or found.task is None:
        return
    states = pairwise(states_of(found.execution, found.task.problem))  # All at once are too many of a long plan.
    steps = enumerate(zip(found.execution.steps, states, strict=True), 1)
    for place, (step, ((atoms, values), (later, new))) in steps:
        changed = {fluent: value for fluent, value in new.items() if values.get(fluent) != value}
        yield {
            **({"time": number(found.execution.times[place])} if found.execution.times else {"step": place}),
            "actions": list(map(in_words, step)),
            "needed": sorted({show_formula(each) for operator in step for each in _needs(operator)}),
            "added": [show_atom(atom) for atom in sorted(later - atoms)],
            "deleted": [show_atom(atom) for atom in sorted(atoms - later)],
            "numbers": {show_atom(fluent): number(value) for fluent, value in sorted(changed.items())},
        }


def _step_line(step: dict[str, Any]) -> str:
    parts = [*map("+{}".format, step["added"]), *map("-{}".format, step["deleted"])]
    parts += [f"{fluent} = {value}" for fluent, value in step["numbers"].items()]
    when = f"step {step['step']}" if "step" in step else step["time"]
    return printable(f"{when}: {' '.join(step['actions'])}: {'  '.join(parts) or 'nothing changes'}")
