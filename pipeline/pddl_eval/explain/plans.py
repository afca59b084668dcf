"""Why a plan has its scores: which step fails and why, what the goal lacks, both plans step beside step.

``explain_plans`` collects what the metrics and the validator say, ``page`` puts it into words. Nothing is scored here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from pddl_eval.definition.budget import or_undecided
from pddl_eval.definition.formulas import NoValueError, World, holds
from pddl_eval.definition.metrics import PLAN, OnlySome, Row
from pddl_eval.definition.model import Formula, Operator, is_atom, show_atom, show_formula, words_of
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.definition.plans import Plan, PlanError, Step, actions_of
from pddl_eval.definition.validation import START, Execution, execute, ground_operator, last_changes
from pddl_eval.definition.verdict import Undecided
from pddl_eval.explain.tables import (
    ABSENT,
    ALL_ROWS,
    DIFFERENT,
    MOST_ALIGNED,
    MOST_ROWS,
    Pairs,
    align,
    as_written,
    cells,
    noted,
    scores_table,
    shortened,
)
from pddl_eval.pages import Cell, Page, Section, Table
from pddl_eval.shown import line, listed

MOST_ATOMS = 30
"""Atoms of a state that are listed."""

EQUAL = ("", "", "… {} equal steps", "", "…", "")
"""A row for equal steps that are left out."""


@dataclass(frozen=True, slots=True)
class Condition:
    """What a step needs, or the goal: an atom, whether it is to be true, whether it is so, and what made it so.

    ``step`` is the last one that added or deleted the atom; ``START`` where none did; None of what steps do not add,
    a derived atom or another formula.
    """

    atom: Formula
    wanted: bool
    holds: bool
    step: int | None


@dataclass(frozen=True, slots=True)
class PlanExplanation:
    """Why a generated plan has its scores.

    ``scores`` are the score columns by name. ``execution`` is that of the generated plan, None where it could not be
    executed at all (``detail`` says why). ``reference`` is None where there is none. ``conditions`` are those of the
    step that failed, else of the goal, unmet ones first. ``state`` is where the execution ended. ``alignment`` pairs
    the steps of a longest common subsequence.
    """

    scores: Mapping[str, Any]
    detail: str
    texts: tuple[str | None, str | None]
    reference: Plan | None
    generated: Plan
    found: bool
    execution: Execution | None
    conditions: tuple[Condition, ...]
    alignment: Pairs

    def page(self, *, whole: bool = False) -> Page:
        """The self in words: scores, the failed step or the goal, the state, both plans side by side."""
        most = ALL_ROWS if whole else MOST_ROWS
        sections = [Section("", tables=[scores_table(PLAN, self.scores, whole=whole)])]
        if self.execution is not None:
            sections += _ending(self, self.execution, most)
        sections.append(_side_by_side(self, most))
        if whole:
            sections.append(as_written("The plans as written", ("The reference plan", "The answer"), self.texts))
        facts = [self.detail] if self.detail else []
        badge = Cell(plans_headline(self), kind=self.scores["plan_verdict"] or "other")
        return Page(plans_headline(self), (), facts, sections, self.scores["plan_valid"], badges=[badge])


def explain_plans(row: Row, options: ScoringOptions) -> PlanExplanation:
    """Why the generated plan of a row has its scores.

    ``row`` maps meanings (``options.MEANINGS``) to values. Raises ``PlanError`` where there is neither a reference plan
    nor a problem to solve, ``DomainError`` where the row's domain is a text that cannot be read.

    >>> dark = "(define (problem p) (:domain d) (:init (off)) (:goal (on)))"
    >>> lamp = "(define (domain d) (:action switch :precondition (off) :effect (and (on) (not (off)))))"
    >>> row = {"reference_plan": "(switch)", "generated_plan": "(switch)\\n(switch)", "reference_problem": dark}
    >>> explain_plans({**row, "domain": lamp}, ScoringOptions()).conditions
    (Condition(atom=('off',), wanted=True, holds=False, step=1),)
    """
    pair = PLAN.read(row, options)
    if isinstance(pair, OnlySome):
        raise PlanError(pair["plan_detail"])
    scores = dict(zip((column.name for column in PLAN.columns), PLAN.score(pair), strict=True))
    execution: Execution | None = None
    conditions: tuple[Condition, ...] = ()
    if pair.task is not None and pair.found and not pair.task.ill_typed:
        problem, domain = pair.task.problem, pair.task.domain.domain
        read = pair.generated[: pair.damage.steps_before] if pair.damage else pair.generated
        executed = or_undecided(lambda: execute(map(actions_of, read), problem, domain))
        execution = executed if isinstance(executed, Execution) else None
        asked = [(formula, True) for formula in problem.goal_as_written]
        if execution is not None and execution.failed_step is not None:
            step = actions_of(pair.generated[execution.failed_step - 1])
            operators = [ground_operator(action, domain) for action in step]
            asked = [each for operator in operators if isinstance(operator, Operator) for each in _needs(operator)]
        if execution is not None:
            world = World(replace(problem, init=execution.state, values=execution.values), domain)
            found = or_undecided(partial(_conditions, asked, execution, world))
            conditions = () if isinstance(found, Undecided) else found
    return PlanExplanation(
        scores=scores,
        detail=pair.detail,
        texts=(row.get("reference_plan"), row["generated_plan"]),
        reference=pair.reference,
        generated=pair.generated,
        found=pair.found,
        execution=execution,
        conditions=conditions,
        alignment=align(pair.reference or (), pair.generated),
    )


def _needs(operator: Operator) -> Iterator[tuple[Formula, bool]]:
    """The conditions of an operator, each with whether it is to be true."""
    yield from [(atom, True) for atom in operator.preconditions]
    yield from [(atom, False) for atom in operator.negative_preconditions]
    yield from [(formula, True) for part, formula in operator.formulas if part == ":precondition"]


def _conditions(asked: Iterable[tuple[Formula, bool]], execution: Execution, world: World) -> tuple[Condition, ...]:
    """Conditions at the end of an execution, unmet ones first; a negated one is an atom that is to be false."""
    last = last_changes(execution)
    derived = {rule.name for stratum in world.strata for rule in stratum}
    found = set()
    for formula, wanted in asked:
        if formula[:1] == ("not",):
            formula, wanted = formula[1], not wanted
        try:
            truth = holds(formula, world) == wanted
        except NoValueError:
            truth = False
        is_told = is_atom(formula) and formula[0] not in derived
        found.add(Condition(formula, wanted, truth, last.get(formula, START) if is_told else None))
    return tuple(sorted(found, key=lambda each: (each.holds, show_formula(each.atom))))


def plans_headline(explanation: PlanExplanation) -> str:
    """Whether the plan is valid, and where it fails."""
    execution = explanation.execution
    if not explanation.found:
        return "no plan was read"
    if execution is None:
        return "the plan was not executed"
    if execution.failed_step is not None:
        return f"invalid plan: step {execution.failed_step} of {len(explanation.generated)} fails"
    if execution.reaches_goal and not explanation.scores["plan_valid"]:
        return "invalid plan: a step cannot be read"
    return "valid plan" if execution.reaches_goal else "invalid plan: the goal is not reached"


def _ending(explanation: PlanExplanation, execution: Execution, most: int) -> Iterator[Section]:
    """What the failed step needs, else what the goal asks for; and the state there."""
    failed = execution.failed_step
    caption = "The goal at the end" if failed is None else f"What step {failed} needs"
    conditions = explanation.conditions
    rows = [
        cells(
            ["✗" * (not each.holds), "not " * (not each.wanted) + show_formula(each.atom), _since(each, explanation)],
            not each.holds,
        )
        for each in conditions[:most]
    ]
    unmet = sum(not each.holds for each in conditions)
    count = f"{unmet:,} of {len(conditions):,} unmet" * bool(unmet)
    caption = noted(caption, count, f"the first {most}" * (len(conditions) > most))
    if failed is None:
        title = "Where it ends"
        names = {name for each in execution.unmet if is_atom(each) for name in words_of(each[1:])}
    else:
        step = explanation.generated[failed - 1]
        title = f"Where it fails: step {failed}, {_shown(step)}"
        names = {name for action in actions_of(step) for name in action[1:]}
    near = [show_atom(atom) for atom in sorted(execution.state) if not names.isdisjoint(atom[1:])]
    far = [show_atom(atom) for atom in sorted(execution.state) if names.isdisjoint(atom[1:])]
    state = [f"the atoms with {listed(sorted(names), MOST_ATOMS)}: {listed(near, MOST_ATOMS, ' ')}"] if near else []
    state.append(f"{'other atoms' if near else 'atoms'}: {listed(far, MOST_ATOMS, ' ') or 'none'}")
    yield Section(title, (), [Table(caption, ("", "", ""), rows, labels=0, texts=3)] if rows else [])
    yield Section("The state at the end" if failed is None else f"The state before step {failed}", state)


def _since(condition: Condition, explanation: PlanExplanation) -> str:
    """Since when an atom is true or false."""
    is_true = condition.holds == condition.wanted
    if condition.step is None:
        return ""
    if condition.step == START:
        return "true from the start" if is_true else "false from the start, added by no step"
    step = explanation.generated[condition.step - 1]
    return f"{'added' if is_true else 'deleted'} by step {condition.step}, {_shown(step)}"


def _shown(step: Step) -> str:
    """A step; concurrent actions in braces."""
    actions = " ".join(line(show_atom(action)) for action in sorted(actions_of(step)))
    return f"{{{actions}}}" if isinstance(step, frozenset) else actions


def _side_by_side(explanation: PlanExplanation, most: int) -> Section:
    """Both plans, long runs of equal steps cut short, the failed step marked; without a reference the answer's."""
    failed = explanation.execution.failed_step if explanation.execution else None
    if explanation.reference is None:
        return _alone(explanation.generated, failed, most)
    rows = list(shortened(_rows(explanation, explanation.reference, failed), EQUAL))
    differ = sum(None in pair for pair in explanation.alignment)
    caption = noted(
        "Steps",
        f"{differ:,} different" * bool(differ),
        f"the first {most} of {len(rows):,} rows" * (len(rows) > most),
        f"the first {MOST_ALIGNED:,} steps"
        * (max(len(explanation.reference), len(explanation.generated)) > MOST_ALIGNED),
    )
    header = ("", "", "reference", "", "answer", "")
    if not rows:
        return Section("Both plans", ["Both plans are empty."])
    return Section("Both plans", (), [Table(caption, header, rows[:most], labels=0, texts=6)])


def _alone(plan: Plan, failed: int | None, most: int) -> Section:
    """The answer's plan, the failed step marked; the first steps, and those up to the one that failed."""
    first = max(0, min(failed or 0, len(plan)) - most)
    shown = [
        cells([*_numbered(place, plan), "fails" * (place + 1 == failed)], place + 1 == failed)
        for place in range(first, min(first + most, len(plan)))
    ]
    cut = f"steps {first + 1:,} to {first + len(shown):,} of {len(plan):,}" * (len(shown) < len(plan))
    if not shown:
        return Section("The plan", ["The plan is empty."])
    return Section("The plan", (), [Table(noted("Steps", cut), ("", "answer", ""), shown, labels=0, texts=3)])


def _rows(explanation: PlanExplanation, reference_plan: Plan, failed: int | None) -> Iterator[Sequence[Cell]]:
    for left, right in explanation.alignment:
        fails = right is not None and right + 1 == failed
        differs = left is None or right is None
        reference, answer = _numbered(left, reference_plan), _numbered(right, explanation.generated)
        yield cells([DIFFERENT * differs, *reference, *answer, "fails" * fails], differs or fails)


def _numbered(place: int | None, plan: Plan) -> tuple[str, str]:
    return ("", ABSENT) if place is None else (f"{place + 1}", _shown(plan[place]))
