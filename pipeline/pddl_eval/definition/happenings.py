"""When what of a plan happens: the starts and the ends of its actions, and the timed literals of the problem.

Without times a step is a happening, and the number of the step its time. Where time counts (durative actions, timed
literals, constraints on a plan with times), a plan is what VAL makes of it: happenings closer than ``TOLERANCE`` to the
first of them are one, and timed literals also happen after the last action. A step without a time begins when all
before it is done.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Set
from fractions import Fraction
from heapq import heappop, heappush
from typing import Any, NamedTuple

from pddl_eval.definition.model import AT_END, AT_START, Action, Domain, Formula, Problem, Scheduled, When
from pddl_eval.definition.trajectory import constraints_of

TOLERANCE = Fraction(1, 1000)
"""VAL's: happenings that are closer are at one time, and a duration may be off by as much."""


class Event(NamedTuple):
    """An action of a step, its start or its end (``half``), or of step 0 a timed ``literal``.

    ``duration`` is that of the action, as far as it is known. ``operator`` is what the validator finds for it.
    """

    time: Fraction
    step: int
    action: Action
    half: When | tuple[()] = ()
    duration: Fraction | None = None
    literal: Formula = ()
    operator: Any = None


class Agenda:
    """What is still to happen, first things first; ``now`` is the time of the last happening.

    >>> go = Scheduled(("go",), Fraction(2), Fraction(3))
    >>> later = Problem("p", "d", {}, frozenset(), frozenset(), formulas=((":init", ("at", "7", ("lit",))),))
    >>> agenda = Agenda([{go}], later, Domain("d", {}, {}, {}, ()))
    >>> [(time, [event.action for event in events]) for time, events in agenda]
    [(Fraction(2, 1), [('go',)]), (Fraction(7, 1), [('at', '7')])]
    """

    def __init__(self, plan: Iterable[Set[Action]], problem: Problem, domain: Domain) -> None:
        self.makespan = Fraction(0)
        self._durative = {operator.name for operator in domain.operators if operator.halves}
        self._waiting = deque(enumerate(plan, 1))
        self.is_timed = bool(self._durative or problem.timed_literals)
        if not self.is_timed and constraints_of(problem, domain):
            self.is_timed = any(start_of(action) is not None for _, step in self._waiting for action in step)
        self._now: Fraction | None = None
        self._until = Fraction(0)
        self._events: list[tuple[int, Fraction, int, int, Event]] = []
        self._happening: list[Event] = []
        self._pushed = self._under_way = 0
        for literal in problem.timed_literals:
            self._push(Event(Fraction(str(literal[1])), 0, ("at", str(literal[1])), literal=literal[2]))

    def __iter__(self) -> Iterator[tuple[Fraction, list[Event]]]:
        """The happenings, each with its time."""
        if not self.is_timed:
            for number, step in self._waiting:
                self.makespan = Fraction(number)
                yield self.makespan, [Event(self.makespan, number, action) for action in _sorted(step)]
            return
        self._admit()
        while self._events:
            time = self._events[0][1]
            self._until = time + TOLERANCE
            events = self._happening = []
            while self._events and self._events[0][1] < self._until:
                _, self._now, _, _, event = heappop(self._events)
                events.append(event)
                if event.step:
                    self._under_way -= 1
                    self.makespan = self._now
            yield time, events
            self._admit()

    def begin(self, start: Event) -> None:
        """Note when an action ends that starts in this happening: in it, or later."""
        if start.half != AT_START or start.duration is None or start.duration < 0:
            return
        end = start._replace(time=start.time + start.duration, half=AT_END)
        if end.time < self._until:
            self._happening.append(end)
            self._now = self.makespan = max(self.makespan, end.time)
        else:
            self._push(end)

    def _admit(self) -> None:
        """Note the starts of the next steps: of those with a time, else of one where all before it is done."""
        while self._waiting:
            number, step = self._waiting[0]
            actions = _sorted(step)
            times = [start for start in map(start_of, actions) if start is not None]
            if not times and self._under_way:
                return
            self._waiting.popleft()
            time = max(times) if times else self._after(number)
            for action in actions:
                is_long = action[0] in self._durative
                durations = (action.duration, *action.more) if isinstance(action, Scheduled) else (None,)
                for duration in durations if is_long else durations[:1]:
                    self._push(Event(time, number, action, AT_START if is_long else (), duration))

    def _after(self, step: int) -> Fraction:
        """When a step without a time begins: without durative actions the steps are at the times 1, 2, 3 …"""
        if not self._durative:
            return Fraction(step)
        return Fraction(0) if self._now is None else self._now + TOLERANCE

    def _push(self, event: Event) -> None:
        self._pushed += 1
        self._under_way += event.step > 0
        thousandths = event.time.numerator * 1000 // event.time.denominator  # compared faster than fractions
        heappush(self._events, (thousandths, event.time, event.step, self._pushed, event))


def start_of(action: Action) -> Fraction | None:
    """When the action starts, as far as the plan says so."""
    return action.start if isinstance(action, Scheduled) else None


def _sorted(step: Set[Action]) -> list[Action]:
    return [*step] if len(step) == 1 else sorted(step)
