"""Plans as they were executed, step by step: a page for people who look for a fault."""

from __future__ import annotations

from collections.abc import Sequence

from pddl_eval.definition.model import show_atom, show_formula, show_number
from pddl_eval.definition.plans import actions_of
from pddl_eval.explain.tables import cells
from pddl_eval.pages import Page, Section, Table
from pddl_eval.scoring.plans import Validation, changes, verdict_line
from pddl_eval.shown import listed

MOST_STEPS, MOST_ATOMS = 1_000, 200
"""Steps, and atoms of the last state, that are listed."""

HEADER = ("", "what happens", "needs", "becomes true", "becomes false", "numbers")

_WHAT = ("actions", "needed", "added", "deleted")


def validation_page(validated: Sequence[tuple[str, Validation]]) -> Page:
    """A page with a section for each plan, under its name: its verdict, what is missing, what each step changed.

    >>> from pddl_eval.scoring.plans import validate
    >>> held = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"
    >>> page = validation_page([("a.plan", validate("(putdown a)", held))])
    >>> page.title, [cell.text for cell in page.sections[0].tables[0].rows[0]][:4]
    ('1 of 1 plans are valid', ['1', '(putdown a)', '(holding a)', '(arm-empty) (clear a) (on-table a)'])
    """
    right = sum(bool(found.valid) for _, found in validated)
    sections = [_section(name, found) for name, found in validated]
    return Page(f"{right:,} of {len(validated):,} plans are valid", (), [], sections, right == len(validated))


def _section(name: str, found: Validation) -> Section:
    told = [verdict_line(found), *found.advice]
    return steps_section(name, found, told, f"{name}: {told[0]}")


def steps_section(title: str, found: Validation, told: Sequence[str] = (), caption: str = "Steps") -> Section:
    """What each step of a plan needed, added, deleted and set, and the last state."""
    rows = []
    for each in changes(found, show_number):
        numbers = ", ".join(f"{fluent} = {value}" for fluent, value in each["numbers"].items())
        texts = [str(each.get("time", each.get("step"))), *(" ".join(each[what]) for what in _WHAT), numbers]
        rows.append(cells(texts, differs=False))
    if found.execution is not None and found.failed_step and not found.execution.times:
        action = " ".join(show_atom(each) for each in sorted(actions_of(found.plan[found.failed_step - 1])))
        unmet = [each.atom if each.wanted else ("not", each.atom) for each in found.conditions if not each.holds]
        lacks = " ".join(map(show_formula, unmet))
        rows.append(cells([str(found.failed_step), f"{action} fails", lacks, "", "", ""], differs=True))
    if not rows:
        return Section(title, told)
    caption += f" (the first {MOST_STEPS:,} of {len(rows):,} steps)" * (len(rows) > MOST_STEPS)
    last = sorted(map(show_atom, found.states[-1][0]))
    ending = f"The last state: {listed(last, MOST_ATOMS, ' ') or 'nothing is true'}"
    shown = Table(caption, HEADER, rows[:MOST_STEPS], labels=1, texts=5, kind="steps")
    return Section(title, [*told, ending], [shown if any(row[-1].text for row in rows) else shown.only(range(5))])
