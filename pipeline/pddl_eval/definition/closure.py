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
from pddl_eval.definition.budget import spend
from pddl_eval.definition.model import TOTAL_COST, Atom, Domain, Formula, Problem, State, indexes
from pddl_eval.definition.planning.task import GroundTask, bits_of, ground_goal
from pddl_eval.definition.state_space import MOST_WORK, Exploration, Node, functions_read
from pddl_eval.definition.validation import is_goal
from pddl_eval.definition.verdict import Undecided, Unsolvable

FEW_OBJECTS = 8
"""Objects up to which states are listed for a certificate alone where a domain has rules that do not cover them.

With twenty blocks, one of them in two places, cl(goal) takes the kernel a hundred times as long as the verdict.
"""


@dataclass(frozen=True, slots=True)
class ClosedGoal:
    """What tells the reachable states with the goal, R, from all other reachable ones: equal for goals with equal R.

    ``true`` are the atoms that are true in each state of R, cl(goal). Where other reachable states have them too,
    ``false`` are the atoms that are false in each state of R, but true in some reachable state with all of ``true``.
    Where still others have all of ``true`` and none of ``false``, ``states`` is R itself: of each state the atoms that
    are not in ``true``, and the numbers; ``read`` are functions that are among these only because the goal reads them.
    ``possible`` are the atoms that are true in some states of R and not in all (``possible_atoms``), None where they
    were not looked for.

    Why R is determined: of a conjunction of literals, ``R = {s: true ⊆ s, false ∩ s = ∅}``. Its positive atoms are in
    ``true``. A negated atom is false throughout R, so it is in ``false`` unless no reachable state with ``true`` has
    it, and then nothing depends on it. So goals with equal R have equal ``true`` and ``false``, which are made of R
    alone, and goals with equal ``true`` and ``false`` have equal R.
    """

    true: State
    false: State = frozenset()
    states: frozenset[tuple[State, frozenset[tuple[Atom, Fraction]]]] | None = None
    read: frozenset[str] = frozenset()
    possible: State | None = None

    @property
    def literals(self) -> frozenset[Formula]:
        """The atoms, and the negated ones as ``("not", atom)``."""
        return frozenset[Formula](self.true).union([("not", atom) for atom in self.false])


def closure(problem: Problem, domain: Domain, false: State = frozenset()) -> ClosedGoal | Unsolvable | Undecided:
    """cl(goal): what is true in all reachable states with the goal, and nothing else; exact or ``Undecided``.

    The goal is the problem's atoms, with others that have to be ``false``. Negated atoms are atoms of their own there,
    so the closure of the goal and that of its positive part say it all.

    >>> from pddl_eval.definition.pddl import parse_domain
    >>> lamp = parse_domain("(define (domain d) (:action switch :precondition (off) :effect (and (on) (not (off)))))")
    >>> init = frozenset({("off",), ("dry",)})
    >>> sorted(closure(Problem("p", "d", {}, init, frozenset({("on",)})), lamp).true)
    [('dry',), ('on',)]
    >>> sorted(closure(Problem("p", "d", {}, init, frozenset()), lamp, frozenset({("off",)})).literals)
    [('dry',), ('on',)]
    """
    grounded = ground_goal(problem, domain, problem.goal)
    if not isinstance(grounded, tuple):
        return grounded
    task, goal = grounded
    for atom in sorted(false & task.always):
        return Unsolvable("is true in every reachable state", (atom,))
    lacking = bits_of(false, task.bit)
    if not lacking:
        closed = _closed(task, goal)
        return ClosedGoal(task.state(closed)) if isinstance(closed, int) else closed
    doubled, width = task.with_negations, len(task.atoms)
    closed = _closed(doubled, goal | lacking << width)
    if not isinstance(closed, int):
        return closed
    positive = closed & (1 << width) - 1
    implied = _closed(doubled, positive)
    if not isinstance(implied, int):
        assert not isinstance(implied, Unsolvable)
        return implied
    needed = (closed & ~implied) >> width
    return ClosedGoal(task.state(positive), frozenset(task.atoms[index] for index in indexes(needed)))


def possible_atoms(problem: Problem, domain: Domain, closed: ClosedGoal) -> State | Undecided:
    """The atoms that are true in some of the reachable goal states, of which ``closed`` is the closure, and not in all.

    All others that are not in ``closed.true`` are false in each of them: these are the negated literals of cl(goal).

    >>> from pddl_eval.definition.pddl import parse_domain
    >>> lamp = parse_domain("(define (domain d) (:action switch :precondition (not (on)) :effect (and (on) (hot))))")
    >>> off = Problem("p", "d", {}, frozenset(), frozenset())
    >>> sorted(possible_atoms(off, lamp, closure(off, lamp)))
    [('hot',), ('on',)]
    """
    grounded = ground_goal(problem, domain, closed.true)
    assert not isinstance(grounded, Unsolvable)
    if isinstance(grounded, Undecided):
        return grounded
    (task, goal), width = grounded, len(grounded[0].atoms)
    shared = _closed(task.with_negations, goal | bits_of(closed.false, task.bit) << width)
    if not isinstance(shared, int):
        assert not isinstance(shared, Unsolvable)
        return shared
    return frozenset(atom for index, atom in enumerate(task.atoms) if not (shared | shared >> width) >> index & 1)


def _closed(task: GroundTask, goal: int) -> int | Unsolvable | Undecided:
    """The bits that all reachable states with the goal's bits have."""
    states = task.space.states()
    if isinstance(states, Undecided):
        return states
    goal_states = [state for state in states if state & goal == goal]  # R(g)
    if not goal_states:
        return Unsolvable(words.no_state(len(states)))
    return reduce(and_, goal_states)  # cl(g)


def closure_by_states(
    problem: Problem, domain: Domain, reading: frozenset[str] = frozenset()
) -> ClosedGoal | Unsolvable | Undecided:
    """As ``closure``, for any goal in any domain of which nothing is refused: each state is looked at.

    ``reading`` are functions whose values belong to the states also where the goal does not read them.

    >>> from pddl_eval.definition.pddl import parse_domain
    >>> text = "(define (domain d) (:action {0} :effect (and ({0}))))"
    >>> either = Problem("p", "d", {}, frozenset(), frozenset(), formulas=((":goal", ("or", ("a",), ("b",))),))
    >>> domain = parse_domain(f"(define (domain d) {' '.join(f'(:action {x} :effect ({x}))' for x in 'ab')})")
    >>> sorted(sorted(atoms) for atoms, _ in closure_by_states(either, domain).states)
    [[('a',)], [('a',), ('b',)], [('b',)]]
    """
    exploration = Exploration(problem, domain, MOST_WORK, reading)
    goal_states: list[Node] = []  # R(g), with what is derived
    others: list[State] = []
    for _, values in exploration:
        true = frozenset(exploration.world.true)
        if is_goal(problem, exploration.world):
            goal_states.append((true, values))
        else:
            others.append(true)
        spend(len(true))
    if exploration.limit is not None:
        return exploration.limit
    if not goal_states:
        return Unsolvable(words.no_state(len(others)))
    always = reduce(and_, [true for true, _ in goal_states])
    ever = reduce(or_, [true for true, _ in goal_states])
    others, sometimes = [true for true in others if always <= true], ever - always
    never = reduce(or_, others, always) - ever
    if all(not never.isdisjoint(true) for true in others):
        return ClosedGoal(always, never, possible=sometimes)
    listed = {
        (true - always, frozenset((f, v) for f, v in values if f[0] in exploration.read and (v or f != TOTAL_COST)))
        for true, values in goal_states
    }
    read = exploration.read & exploration.changing - functions_read(domain)
    return ClosedGoal(always, frozenset(), frozenset(listed), read, sometimes)
