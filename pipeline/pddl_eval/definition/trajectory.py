"""Preferences, and constraints on the states that a plan passes through (PDDL 3).

The modal operators are those of Gerevini, Haslum, Long, Saetti and Dimopoulos ("Deterministic planning in the fifth
international planning competition: PDDL3", AIJ 173, 2009): each is a line of ``breaking``, over the times of the states
and the truth of its formulas in each of them. The initial state is the first, at time 0; a state holds up to the next.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple

from pddl_eval.definition.budget import OutOfBudgetError
from pddl_eval.definition.formulas import MAX_ATOMS, World, instances, is_true
from pddl_eval.definition.kept import kept
from pddl_eval.definition.model import PREFERENCE, Domain, Formula, Operator, Problem, words_of

UNNAMED = "unnamed"
"""What a preference without a name is called."""

NEVER = -1
"""In place of the state that breaks a constraint: that no state came that it asks for."""


class Broken(NamedTuple):
    """A constraint that a plan breaks, ``state`` is the number of the first state that does (0: the initial state).

    ``state`` is ``NEVER``, and ``time`` that of the last state, where what it asks for never comes.
    """

    constraint: Formula
    state: int
    time: Fraction


class Trajectory:
    """The states that a plan passes through, as far as constraints and preferences ask for them.

    ``constraints`` are those that must hold, ground. ``violated`` counts for each preference how often it was violated
    so far: in the conditions of actions each time that one is executed, elsewhere once for each choice of objects.

    >>> light = Problem("p", "d", {}, frozenset(), frozenset(), formulas=((":constraints", ("sometime", ("p",))),))
    >>> Trajectory(light, World(light, Domain("d", {}, {}, {}, ()))).broken()
    [Broken(constraint=('sometime', ('p',)), state=-1, time=Fraction(0, 1))]
    """

    def __init__(self, problem: Problem, world: World) -> None:
        self.constraints: list[Formula] = []
        self.violated: Counter[str] = Counter()
        self.times: list[Fraction] = []
        self._preferences: list[tuple[str, list[Formula]]] = []
        self._truth: dict[Formula, list[bool]] = {}
        self._goal = ("and", *problem.conjuncts)
        self._in_actions = kept(_has_preferences, world.domain)
        for number, each in enumerate(instances(("and", *constraints_of(problem, world.domain)), world)):
            if number > MAX_ATOMS:
                raise OutOfBudgetError(f"there are more than {MAX_ATOMS:,} constraints")
            asked = [each]
            if each[0] == PREFERENCE:
                asked = list(instances(each[-1], world))
                self._preferences.append((name_of(each), asked))
            else:
                self.constraints.append(each)
            self._truth |= {formula: [] for one in asked for formula in formulas_of(one)}
        self.record(Fraction(0), world)

    def record(self, time: Fraction, world: World) -> None:
        """Add the state in which the world is from this time on."""
        if self._truth:
            self.times.append(time)
            for formula, truth in self._truth.items():
                truth.append(is_true(formula, world))

    def prefer(self, operators: Iterable[Operator], world: World) -> None:
        """Count the preferences in the conditions of operators that are violated where they are executed."""
        for operator in operators if self._in_actions else ():
            for part, formula in operator.formulas:
                if part == ":precondition":
                    self._count(formula, world)

    def end(self, world: World) -> None:
        """Count the preferences in the goal and those on the trajectory."""
        self._count(self._goal, world)
        for name, asked in self._preferences:
            self.violated[name] += any(self._breaking(each) is not None for each in asked)

    def _count(self, condition: Formula, world: World) -> None:
        preferences = (each for each in instances(condition, world) if each[0] == PREFERENCE)
        self.violated.update(name_of(each) for each in preferences if not is_true(each[-1], world))

    def broken(self) -> list[Broken]:
        """The constraints that do not hold."""
        found = ((each, self._breaking(each)) for each in self.constraints)
        return [Broken(each, state, self.times[state]) for each, state in found if state is not None]

    def _breaking(self, constraint: Formula) -> int | None:
        return breaking(constraint, self.times, *[self._truth[each] for each in formulas_of(constraint)])


def _has_preferences(domain: Domain) -> bool:
    formulas = (formula for operator in domain.operators for _, formula in operator.formulas)
    return any(PREFERENCE in words_of(formula) for formula in formulas)


def constraints_of(problem: Problem, domain: Domain) -> Sequence[Formula]:
    """The constraints of a domain and of a problem, preferences among them, as written."""
    return [*(body for section, body in domain.formulas if section == ":constraints"), *problem.constraints]


def name_of(preference: Formula) -> str:
    """The name of a preference, which PDDL lets one leave out."""
    return str(preference[1]) if len(preference) == 3 else UNNAMED


def formulas_of(constraint: Formula) -> Sequence[Formula]:
    """The formulas of a modal operator, without the times before them."""
    return [each for each in constraint[1:] if not isinstance(each, str)]


def breaking(constraint: Formula, times: Sequence[Fraction], *truth: Sequence[bool]) -> int | None:
    """The first state that breaks a constraint, ``NEVER`` where none came that it asks for; None where it holds.

    ``truth`` says of each of its formulas in which states they are true.

    >>> now = [Fraction(time) for time in (0, 2, 5)]
    >>> breaking(("within", "4", ("p",)), now, [False, False, True])
    -1
    >>> breaking(("sometime-before", ("p",), ("q",)), now, [False, True, False], [False, True, False])
    1
    """
    head, rest = constraint[0], constraint[1:]
    states = range(len(times))
    is_so, other = truth[0], truth[-1]
    limits = [Fraction(each) for each in rest if isinstance(each, str) and head != "at"]
    match head:
        case "at":
            wrong = [] if is_so[-1] else [states[-1]]
        case "always":
            wrong = [i for i in states if not is_so[i]]
        case "sometime":
            wrong = [] if any(is_so) else [NEVER]
        case "within":
            wrong = [] if any(is_so[i] and times[i] <= limits[0] for i in states) else [NEVER]
        case "at-most-once":
            began = [i for i in states if is_so[i] and (i == 0 or not is_so[i - 1])]
            wrong = began[1:]
        case "sometime-after":
            last_met = max((i for i in states if other[i]), default=NEVER)
            wrong = [i for i in states if is_so[i] and i > last_met]
        case "sometime-before":
            first_met = min((i for i in states if other[i]), default=len(times))
            wrong = [i for i in states if is_so[i] and i <= first_met]
        case "always-within":
            met = [i for i in states if other[i]]
            following = ((i, met[(k := bisect_left(met, i)) : k + 1]) for i in states if is_so[i])
            wrong = [i for i, next_met in following if all(times[j] - times[i] > limits[0] for j in next_met)]
        case _:  # hold-during and hold-after: what is true at the first time, and what comes after it
            first, last = limits[0], limits[-1]
            holding = [i for i in states if times[i] <= first and (i == states[-1] or first < times[i + 1])]
            holding += [i for i in states if first <= times[i] and (head == "hold-after" or times[i] < last)]
            wrong = [i for i in holding if not is_so[i]]
    return min(wrong) if wrong else None
