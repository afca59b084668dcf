"""What each step of a plan is worth, and the states that a plan passes through: for process rewards, and to look at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from fractions import Fraction

from pddl_eval.definition.model import Atom, Problem
from pddl_eval.definition.state_space import StateSpace
from pddl_eval.definition.validation import Execution, effects_of


class StepLabel(Enum):
    """What a step of a plan is worth, as process rewards say it (Pisano and Navigli, "PDDL2PRM", ACL 2026).

    ``NOT_EXECUTABLE``; ``DEAD_END``, the goal cannot be reached any more; ``BACKTRACKING``, to a state in which the
    plan has been; ``SUBOPTIMAL``, no cheapest plan goes on like that; ``OPTIMAL``. The value is the reward.

    >>> StepLabel.DEAD_END.value
    0.25
    """

    NOT_EXECUTABLE = 0.0
    DEAD_END = 0.25
    BACKTRACKING = 0.5
    SUBOPTIMAL = 0.75
    OPTIMAL = 1.0


def step_labels(space: StateSpace, execution: Execution, problem: Problem) -> tuple[StepLabel, ...]:
    """A label for each step of a plan up to the first that could not be executed.

    >>> from pddl_eval.definition.pddl import parse_domain
    >>> from pddl_eval.definition.state_space import state_space
    >>> from pddl_eval.definition.validation import execute
    >>> lamp = parse_domain('''(define (domain d) (:action on :effect (lit)) (:action off :effect (not (lit)))
    ...   (:action drop :effect (broken))
    ...   (:action read :precondition (and (lit) (not (broken))) :effect (done)))''')
    >>> dark = Problem("p", "d", {}, frozenset(), frozenset({("done",)}))
    >>> execution = execute([{(name,)} for name in ("on", "off", "on", "drop", "read")], dark, lamp)
    >>> [label.value for label in step_labels(state_space(dark, lamp), execution, dark)]
    [1.0, 0.5, 0.5, 0.25, 0.0]
    """
    labels: list[StepLabel] = []
    before, paid, been = space.start, space.base, {space.start}
    following = list(states_of(execution, problem))[1:]
    for operators, (atoms, values) in zip(execution.steps, following, strict=True):
        after, cost = space.node(atoms, values), Fraction(len(operators))
        if space.counter is not None:
            cost = values.get(space.counter, space.base) - paid
            paid += cost
        if after not in space.to_goal:
            labels.append(StepLabel.DEAD_END)
        elif after in been:
            labels.append(StepLabel.BACKTRACKING)
        elif space.to_goal[before] == cost + space.to_goal[after]:
            labels.append(StepLabel.OPTIMAL)
        else:
            labels.append(StepLabel.SUBOPTIMAL)
        been.add(after)
        before = after
    return (*labels, *[StepLabel.NOT_EXECUTABLE] * (execution.failed_step is not None))


def states_of(execution: Execution, problem: Problem) -> Iterator[tuple[frozenset[Atom], Mapping[Atom, Fraction]]]:
    """The atoms and the numbers of the initial state and after each step that was executed."""
    atoms, values = problem.init, dict(problem.values)
    yield atoms, dict(values)
    for step, updates in zip(execution.steps, execution.updates, strict=True):
        added, deleted = effects_of(step)
        atoms = (atoms - deleted) | added
        values.update(updates)
        yield atoms, dict(values)
