"""What VAL's ``Validate`` prints and exits with, for scripts that read it.

Source: KCL-Planning/VAL, ``applications/Validate/src/main.cpp``, without options.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pddl_eval.definition.metrics import as_float
from pddl_eval.definition.verdict import PlanVerdict
from pddl_eval.scoring.plans import MOST_DETAIL, Validation
from pddl_eval.shown import line, printable

MOST_FAILED, FAILED_TO_START = 254, 255
"""VAL's exit code is the number of plans that are not valid, and -1 where it cannot read the domain or the problem."""

_NOT_READ = (PlanVerdict.EMPTY, PlanVerdict.UNREADABLE, PlanVerdict.UNKNOWN_ACTION, PlanVerdict.WRONG_ARGUMENTS)
_NOT_REACHED = (PlanVerdict.GOAL_NOT_REACHED, PlanVerdict.CONSTRAINT)


def val_lines(validated: Iterable[tuple[str, Validation]]) -> Iterator[str]:
    """The lines for plans, each with its name; last a summary.

    >>> from pddl_eval import validate
    >>> held = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"
    >>> next(lines for lines in val_lines([("a.plan", validate("(putdown a)", held))]) if "valid" in lines)
    'Plan executed successfully - checking goal\\nPlan valid\\nFinal value: 1 '
    """
    values: dict[float, list[str]] = {}
    failed: list[str] = []
    queries: list[str] = []
    for full, found in validated:
        name = printable(full)
        yield f"Checking plan: {name}"
        if found.valid:
            value = as_float(found.cost) if found.cost is not None else 0.0
            values.setdefault(value, []).append(name)
            yield f"Plan executed successfully - checking goal\nPlan valid\nFinal value: {value:.10g} "
        elif found.verdict is PlanVerdict.UNDECIDED:
            queries.append(name)
            yield f"Error occurred in validation attempt:\n  {line(found.detail, MOST_DETAIL)}"
        else:
            failed.append(name)
            if found.verdict in _NOT_READ:
                yield "Bad plan description!"
            elif found.verdict in _NOT_REACHED:
                yield "Plan executed successfully - checking goal\nGoal not satisfied\nPlan invalid"
            else:
                yield "\nPlan failed to execute"
    for number, value in enumerate(sorted(values)):
        listed = "\n".join(f"{name} {value:.10g} " for name in values[value])
        yield "\nSuccessful plans:" * (not number) + f"\nValue: {value:.10g}\n {listed}\n"
    for title, names in (("Failed plans", failed), ("Queries (validator failed)", queries)):
        if names:
            yield f"\n\n{title}:\n {' '.join(names)} "


def val_exit_code(validated: Iterable[Validation]) -> int:
    """As VAL's; here a plan that cannot be read, and one that is not decided, count as not valid."""
    return min(sum(not found.valid for found in validated), MOST_FAILED)
