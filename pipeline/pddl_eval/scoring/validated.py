"""Plans in files are validated; what each came to, in words and as values for programs. Nothing is decided here."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from math import isfinite
from pathlib import Path
from typing import Any

from pddl_eval.datasets import locate, read_bytes, text_of
from pddl_eval.definition.budget import row_budget
from pddl_eval.definition.domains import planning_domain
from pddl_eval.definition.metrics import as_float
from pddl_eval.definition.model import show_atom, show_formula, show_number
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.definition.pddl import ParseError, Unreadable
from pddl_eval.definition.task import Task, plan_task_of
from pddl_eval.definition.verdict import PlanVerdict, Undecided
from pddl_eval.errors import UserError
from pddl_eval.pages import words
from pddl_eval.process import reraise_interrupt
from pddl_eval.scoring.steps import states_of
from pddl_eval.scoring.validate import Validation, validate_in
from pddl_eval.shown import line, printable

MOST_DETAIL = 1_000
"""Characters of a detail, or of a sentence of advice."""

NOT_EXECUTED = (PlanVerdict.EMPTY, PlanVerdict.UNREADABLE, PlanVerdict.UNDECIDED, PlanVerdict.REFERENCE_INVALID)
"""Verdicts on plans that were not executed to their end or to a fault: nothing is known of what they do."""


def validate_files(
    domain: str, problem: str, plans: Sequence[str], answer: str = "first"
) -> Iterator[tuple[str, Validation]]:
    """The plans in files (``-`` is stdin), each with its name, as they are validated.

    ``domain`` may also be the name of a known domain. An empty file is the empty plan, as planners write it where there
    is nothing to do. A domain or a problem that cannot be read is the verdict on every plan. Raises ``DatasetError``
    where a file cannot be read.
    """
    domain_text = domain if _is_known(domain) else _content(domain)
    task = _read(_content(problem), domain_text)
    for name in plans:
        text = _content(name)
        yield name, task if isinstance(task, Validation) else _validated(text, task, answer)


def _read(problem: str, domain: str) -> Task | Unreadable | Validation:
    """What the plans are executed in, or the verdict on all of them."""
    try:
        with row_budget(ScoringOptions().row_seconds):
            return plan_task_of(problem, domain)
    except ParseError as error:
        return Unreadable(error.verdict, error.detail)
    except UserError as error:
        return Validation(PlanVerdict.REFERENCE_INVALID, str(error))
    except Exception as error:
        reraise_interrupt(error)
        return Validation(PlanVerdict.UNDECIDED, f"{type(error).__name__}: {error}")


def _validated(text: str, task: Task | Unreadable, answer: str) -> Validation:
    try:
        found = validate_in(task, text, answer=answer)
        return validate_in(task, ()) if found.verdict is PlanVerdict.EMPTY else found
    except Exception as error:  # One plan costs one verdict.
        reraise_interrupt(error)
        return Validation(PlanVerdict.UNDECIDED, f"{type(error).__name__}: {error}")


def _content(file: str) -> str:
    content = sys.stdin.buffer.read() if file == "-" else read_bytes(locate(file))
    return text_of(content, file)


def _is_known(domain: str) -> bool:
    """True for the name of a known domain, unless there is a file of that name."""
    return "(" not in domain and not Path(domain).exists() and planning_domain(domain) is not None


def verdict_line(found: Validation) -> str:
    """The verdict in one line: valid with its cost, or what is wrong, or why nothing was executed.

    >>> from pddl_eval import validate
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

    >>> from pddl_eval import validate
    >>> held = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"
    >>> optimal_line(validate("(putdown a) (pickup a) (putdown a)", held))
    'not optimal: the cheapest plans cost 1; steps: optimal, backtracking, backtracking'
    """
    space, steps = found.state_space, found.steps
    if isinstance(space, Undecided):
        return f"optimal: not decided: {line(space.reason, MOST_DETAIL)}"
    least = (
        f"the cheapest plans cost {show_number(space.optimal_cost)}" if space.optimal_cost is not None else "no plan"
    )
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
    """What each step that was executed changed: atoms added and deleted, and the new values of numbers.

    >>> from pddl_eval import validate
    >>> held = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"
    >>> next(changes(validate("(putdown a)", held)))["deleted"]
    ['(holding a)']
    """
    if found.execution is None or found.task is None:
        return
    states = pairwise(states_of(found.execution, found.task.problem))  # All at once are too many of a long plan.
    for place, (step, (before, after)) in enumerate(zip(found.execution.steps, states, strict=True), 1):
        (atoms, values), (later, new) = before, after
        changed = {fluent: value for fluent, value in new.items() if values.get(fluent) != value}
        yield {
            "step": place,
            "actions": [show_atom(operator.action) for operator in step],
            "added": [show_atom(atom) for atom in sorted(later - atoms)],
            "deleted": [show_atom(atom) for atom in sorted(atoms - later)],
            "numbers": {show_atom(fluent): number(value) for fluent, value in sorted(changed.items())},
        }


def _step_line(step: dict[str, Any]) -> str:
    marks = [("+", step["added"]), ("-", step["deleted"])]
    parts = [f"{mark}{atom}" for mark, atoms in marks for atom in atoms]
    parts += [f"{fluent} = {value}" for fluent, value in step["numbers"].items()]
    return printable(f"step {step['step']}: {' '.join(step['actions'])}: {'  '.join(parts) or 'nothing changes'}")
