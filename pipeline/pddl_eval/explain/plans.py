"""Why a plan has its scores: which step fails and why, what the goal lacks, both plans step beside step.

``explain_plans`` collects what the metrics and the validator say, ``page`` puts it into words. Nothing is scored here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from pddl_eval.definition.budget import or_undecided
from pddl_eval.definition.metrics import PLAN, OnlySome, Row
from pddl_eval.definition.model import Scheduled, is_atom, show_atom, show_formula, show_number, words_of
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.definition.plans import Plan, PlanError, Step, actions_of
from pddl_eval.definition.trajectory import NEVER, Broken
from pddl_eval.definition.validation import Execution
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
from pddl_eval.explain.timeline import bars_of, time_table
from pddl_eval.explain.validation import steps_section
from pddl_eval.pages import BESIDE, Cell, Excerpt, Page, Section, Table
from pddl_eval.scoring.plans import Validation, validation_of
from pddl_eval.shown import line, listed

TIME_LINE = "When it happens"
"""The section with the time line of a plan with times."""

MOST_ATOMS = 30
"""Atoms of a state that are listed."""

EQUAL = ("", "", "… {} equal steps", "", "…", "")
"""A row for equal steps that are left out."""


@dataclass(frozen=True, slots=True)
class PlanExplanation:
    """Why a generated plan has its scores.

    ``scores`` are the score columns by name. ``validation`` is that of the generated plan, None where there is no
    problem to solve (``detail`` says why). ``reference`` is None where there is none. ``alignment`` pairs the steps of
    a longest common subsequence.
    """

    scores: Mapping[str, Any]
    detail: str
    texts: tuple[str | None, str | None]
    reference: Plan | None
    generated: Plan
    found: bool
    validation: Validation | None
    alignment: Pairs

    @property
    def execution(self) -> Execution | None:
        """How far the generated plan gets; None where it was not executed."""
        return self.validation.execution if self.validation else None

    @property
    def as_read(self) -> str | None:
        """The steps that were read, a line each; actions with times or durations have theirs."""
        return "\n".join(text for step in self.generated[:ALL_ROWS] for text in _read(step)) or None

    def page(self, *, whole: bool = False) -> Page:
        """The self in words: scores, the failed step or the goal, the state, both plans side by side."""
        most = ALL_ROWS if whole else MOST_ROWS
        sections = [Section("", tables=[scores_table(PLAN, self.scores, whole=whole)])]
        if self.validation is not None and self.execution is not None:
            bars = bars_of(self.execution, self.generated)
            sections += [Section(TIME_LINE, (), [time_table(bars, most)])] if bars else []
            sections += _ending(self.validation, self.execution, most)
        sections.append(_side_by_side(self, most))
        if whole and self.validation is not None and self.execution is not None:
            sections.append(steps_section("Step by step", self.validation))
        if whole:
            written = as_written("The plans as written", ("The reference plan", "The answer"), self.texts)
            read = [Excerpt("The answer as it was read", self.as_read, BESIDE)] if self.as_read else []
            sections.append(replace(written, excerpts=[*written.excerpts, *read]))
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
    >>> (condition,) = explain_plans({**row, "domain": lamp}, ScoringOptions()).validation.conditions
    >>> condition.atom, condition.holds, condition.step
    (('off',), False, 1)
    """
    pair = PLAN.read(row, options)
    if isinstance(pair, OnlySome):
        raise PlanError(pair["plan_detail"])
    scores = PLAN.scores(pair)
    found = None if pair.task is None else or_undecided(partial(validation_of, pair))
    return PlanExplanation(
        scores=scores,
        detail=pair.detail,
        texts=(row.get("reference_plan"), row["generated_plan"]),
        reference=pair.reference,
        generated=pair.generated,
        found=pair.found,
        validation=found if isinstance(found, Validation) else None,
        alignment=align(pair.reference or (), pair.generated),
    )


def plans_headline(explanation: PlanExplanation) -> str:
    """Whether the plan is valid, and where it fails."""
    execution = explanation.execution
    if not explanation.found:
        return "no plan was read"
    if execution is None:
        return "the plan was not executed"
    if execution.failed_step is not None:
        return f"invalid plan: step {execution.failed_step} of {len(explanation.generated)} fails"
    if execution.broken:
        return "invalid plan: a constraint does not hold"
    return "valid plan" if execution.reaches_goal else "invalid plan: the goal is not reached"


def _ending(found: Validation, execution: Execution, most: int) -> Iterator[Section]:
    """What the failed step needs, else what the goal asks for; and the state there."""
    failed, conditions = found.failed_step, found.conditions
    rows = [
        cells(["✗" * (not each.holds), "not " * (not each.wanted) + show_formula(each.atom), each.why], not each.holds)
        for each in conditions[:most]
    ]
    unmet = sum(not each.holds for each in conditions)
    count = f"{unmet:,} of {len(conditions):,} unmet" * bool(unmet)
    caption = "The goal at the end" if failed is None else f"What step {failed} needs"
    caption = noted(caption, count, f"the first {most}" * (len(conditions) > most))
    title = "Where it ends"
    names = {name for each in execution.unmet if is_atom(each) for name in words_of(each[1:])}
    if failed is not None:
        title = f"Where it fails: step {failed}" + (f", {_shown(found.plan[failed - 1])}" if found.failed else "")
        names = {name for action in found.failed for name in action[1:]}
    near = [show_atom(atom) for atom in sorted(execution.state) if not names.isdisjoint(atom[1:])]
    far = [show_atom(atom) for atom in sorted(execution.state) if names.isdisjoint(atom[1:])]
    state = [f"the atoms with {listed(sorted(names), MOST_ATOMS)}: {listed(near, MOST_ATOMS, ' ')}"] if near else []
    state.append(f"{'other atoms' if near else 'atoms'}: {listed(far, MOST_ATOMS, ' ') or 'none'}")
    yield Section(title, (), [Table(caption, ("", "", ""), rows, labels=0, texts=3)] if rows else [])
    asked = [cells(["✗", show_formula(each.constraint), _broken(each, execution)], True) for each in execution.broken]
    asked += [
        cells(["✗", f"(preference {line(name)} …)", f"violated {count}×" if count > 1 else "violated"], True)
        for name, count in execution.violated.items()
    ]
    if asked:
        cut = f"the first {most} of {len(asked):,}" * (len(asked) > most)
        caption = noted("What does not hold", cut)
        yield Section(
            "Constraints and preferences", (), [Table(caption, ("", "", ""), asked[:most], labels=0, texts=3)]
        )
    where = "The state at the end" if failed is None else f"The state before step {failed}"
    if failed is not None and execution.times:
        where = f"The state at time {show_number(execution.times[-1])}"
    yield Section(where, state)


def _broken(each: Broken, execution: Execution) -> str:
    """Which state breaks a constraint."""
    if each.state == NEVER:
        return "no state came that it asks for"
    where = f"at time {show_number(each.time)}" if execution.times else f"after step {each.state}"
    return f"broken {where}" if each.state else "broken in the initial state"


def _shown(step: Step) -> str:
    """A step; concurrent actions in braces."""
    actions = " ".join(line(show_atom(action)) for action in sorted(actions_of(step)))
    return f"{{{actions}}}" if isinstance(step, frozenset) else actions


def _read(step: Step) -> list[str]:
    """The lines of a step as a planner writes it."""
    actions = [action for action in sorted(actions_of(step)) if isinstance(action, Scheduled)]
    starts = ["" if each.start is None else f"{show_number(each.start)}: " for each in actions]
    lasts = ["" if each.duration is None else f" [{show_number(each.duration)}]" for each in actions]
    return [f"{start}{_shown(each)}{end}" for each, start, end in zip(actions, starts, lasts, strict=True)] or [
        _shown(step)
    ]


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
