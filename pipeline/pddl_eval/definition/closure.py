"""cl(goal): what is true in all reachable states that contain the goal (the paper, section 4).

R(g) are the states reachable from the initial state that contain g, and cl(g) is their intersection. The states are
enumerated, and these two lines are the program; where there are too many, it says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from operator import and_, or_

from pddl_eval.definition import words
from pddl_eval.definition.model import TOTAL_COST, Atom, Formula, Problem, State
from pddl_eval.definition.state_space import Node, StateSpace
from pddl_eval.definition.verdict import Undecided, Unsolvable


@dataclass(frozen=True, slots=True)
class ClosedGoal:
    """What tells the reachable states with the goal, R, from all other reachable ones: equal for goals with equal R.

    ``true`` are the atoms that are true in each state of R, cl(goal). Where other reachable states have them too,
    ``false`` are the atoms that are false in each state of R, but true in some reachable state with all of ``true``.
    Where still others have all of ``true`` and none of ``false``, ``states`` is R itself: of each state the atoms that
    are not in ``true``, and the numbers; ``read`` are functions that are among these only because the goal reads them.
    ``possible`` are the atoms that are true in some states of R and not in all; rules do not look for them.

    Why R is determined: of a conjunction of literals, ``R = {s: true ⊆ s, false ∩ s = ∅}``. Its positive atoms are in
    ``true``. A negated atom is false throughout R, so it is in ``false`` unless no reachable state with ``true`` has
    it, and then nothing depends on it. So goals with equal R have equal ``true`` and ``false``, which are made of R
    alone, and goals with equal ``true`` and ``false`` have equal R.
    """

    true: State
    false: State = frozenset()
    states: frozenset[tuple[State, frozenset[tuple[Atom, Fraction]]]] | None = None
    read: frozenset[str] = frozenset()
    possible: State = frozenset()

    @property
    def literals(self) -> frozenset[Formula]:
        """The atoms, and the negated ones as ``("not", atom)``."""
        return frozenset[Formula](self.true).union([("not", atom) for atom in self.false])


def closure(problem: Problem, space: StateSpace) -> ClosedGoal | Unsolvable | Undecided:
    """cl(goal): what is true in all reachable states with the goal, and nothing else; exact or ``Undecided``.

    >>> from pddl_eval.definition.pddl import parse_domain
    >>> from pddl_eval.definition.state_space import state_space
    >>> lamp = parse_domain("(define (domain d) (:action switch :precondition (off) :effect (and (on) (not (off)))))")
    >>> lit = Problem("p", "d", {}, frozenset({("off",), ("dry",)}), frozenset({("on",)}))
    >>> sorted(closure(lit, state_space(lit, lamp)).true)
    [('dry',), ('on',)]
    >>> dark = Problem("p", "d", {}, lit.init, frozenset(), formulas=((":goal", ("not", ("off",))),))
    >>> closure(dark, state_space(dark, lamp)) == closure(lit, state_space(lit, lamp))
    True
    """
    if proof := space.refuted(problem):
        return proof
    if space.known_limit is not None:
        return space.known_limit
    goal_states: list[Node] = []  # R(g), with what is derived
    others: list[State] = []
    for (_, values), true, has_goal in space.judged(problem):
        if has_goal:
            goal_states.append((true, values))
        else:
            others.append(true)
    if space.limit is not None:
        return space.limit
    if not goal_states:
        return Unsolvable(words.no_state(len(others)))
    always = reduce(and_, [true for true, _ in goal_states])  # cl(g)
    ever = reduce(or_, [true for true, _ in goal_states])
    others, sometimes = [true for true in others if always <= true], ever - always
    never = reduce(or_, others, always) - ever
    if all(not never.isdisjoint(true) for true in others):
        return ClosedGoal(always, never, possible=sometimes)
    listed = {
        (true - always, frozenset((f, v) for f, v in values if f[0] in space.read and (v or f != TOTAL_COST)))
        for true, values in goal_states
    }
    return ClosedGoal(always, frozenset(), frozenset(listed), space.asked, sometimes)
