"""A plan with times as bars: when each action starts and ends, what becomes so by itself, and where it fails."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from pddl_eval.definition.model import AT_END, Action, show_atom, show_number
from pddl_eval.definition.plans import Step, actions_of
from pddl_eval.definition.validation import Execution
from pddl_eval.explain.tables import DIFFERENT, cells, noted
from pddl_eval.pages import Table
from pddl_eval.shown import line

COLUMNS = 40
"""Characters of the longest bar in a terminal."""


class Bar(NamedTuple):
    """An action, or a timed literal, and when it starts and ends; None where it fails before its end.

    ``failed`` is the time at which it fails; None where it does not.
    """

    action: Action
    start: Fraction
    end: Fraction | None
    failed: Fraction | None = None

    @property
    def last(self) -> Fraction:
        """Where the bar ends."""
        return max(each for each in (self.start, self.end, self.failed) if each is not None)


def bars_of(execution: Execution, plan: Sequence[Step]) -> list[Bar]:
    """The bars of a plan as far as it was executed, in the order in which they start; none where there are no times.

    >>> from pddl_eval import validate
    >>> domain = '''(define (domain d) (:predicates (p)) (:durative-action rest :duration (= ?duration 3)
    ...   :condition (over all (not (p))) :effect (at end (p))))'''
    >>> problem = "(define (problem x) (:domain d) (:init (at 2 (p))) (:goal (p)))"
    >>> found = validate("1: (rest) [3]", problem, domain)
    >>> [(bar.action[0], str(bar.start), bar.end, str(bar.failed)) for bar in bars_of(found.execution, found.plan)]
    [('rest', '1', None, '2'), ('at', '2', Fraction(2, 1), 'None')]
    """
    bars: list[Bar] = []
    for time, operators in zip(execution.times[1:], execution.steps, strict=False):
        for operator in operators:
            if operator.when == AT_END:
                place = next(i for i, bar in enumerate(bars) if bar.action == operator.action and bar.end is None)
                bars[place] = bars[place]._replace(end=time)
            else:
                bars.append(Bar(operator.action, time, None if operator.when else time))
    failure, number = execution.failure, execution.failed_step
    if failure is not None and failure.time is not None and number is not None:
        actions = actions_of(plan[number - 1])
        under_way = [i for i, bar in enumerate(bars) if bar.end is None and bar.action in actions]
        for place in under_way:
            bars[place] = bars[place]._replace(failed=failure.time)
        bars += [Bar(action, failure.time, None, failure.time) for action in sorted(actions) if not under_way]
    return sorted(bars, key=lambda bar: (bar.start, bar.last))


def time_table(bars: Sequence[Bar], most: int) -> Table:
    """The bars for a page of text, each a line."""
    end = max((bar.last for bar in bars), default=Fraction(0)) or Fraction(1)
    rows = []
    for bar in bars[:most]:
        before, length = int(bar.start / end * COLUMNS), max(1, round((bar.last - bar.start) / end * COLUMNS))
        drawn = "·" * before + ("│" if bar.last == bar.start else "█" * length) + "✗" * (bar.failed is not None)
        rows.append(
            cells([DIFFERENT * (bar.failed is not None), when(bar), _shown(bar), drawn], bar.failed is not None)
        )
    return Table(
        noted("From start to end", f"the first {most} of {len(bars):,}" * (len(bars) > most)),
        ("", "", "", ""),
        rows,
        0,
        4,
    )


def when(bar: Bar) -> str:
    """From when to when, or when it fails."""
    if bar.failed is not None:
        return f"{show_number(bar.start)}, fails at {show_number(bar.failed)}"
    start = show_number(bar.start)
    return start if bar.end == bar.start else f"{start} to {'…' if bar.end is None else show_number(bar.end)}"


def _shown(bar: Bar) -> str:
    return line(show_atom(bar.action))
