"""Executes a plan step by step: the last word before a problem is called solvable.

Straight from the definitions (the paper, definition 1), on atoms, and independent of ``grounded`` on purpose: whatever
a planner did to find the plan, each step is looked up by name, bound to its arguments and applied here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pddl_eval.model import Action, Atom, Domain, Operator, Problem, State, show_atom
from pddl_eval.solve.binding import binder_of


@dataclass(frozen=True, slots=True)
class Execution:
    """How far a plan gets. ``state`` is the state after the last step that could be applied.

    ``failed_step`` is the position of the first step that could not, counted from 0, and ``reason`` says why in one
    sentence; both are None where every step could. ``reaches_goal`` is true only then.
    """

    state: State
    failed_step: int | None
    reason: str | None
    reaches_goal: bool


def execute(plan: Iterable[Action], problem: Problem, domain: Domain, typed: bool = True) -> Execution:
    """Apply a plan's steps to the initial state, until the end or to the first that is not applicable.

    ``typed=False`` erases the types of problem and domain first.

    >>> from pddl_eval.parsing import parse_domain
    >>> lamp = parse_domain("(define (domain d) (:action switch :precondition (off) :effect (and (on) (not (off)))))")
    >>> execute([("switch",), ("switch",)], Problem("p", "d", {}, frozenset({("off",)}), frozenset()), lamp).reason
    'step 1, (switch): (off) is not true'
    """
    if not typed:
        problem, domain = problem.without_types(), domain.without_types()
    binder = binder_of(domain)
    objects = {**problem.objects, **domain.constants}
    state = set(problem.init)
    for step, action in enumerate(plan):
        operator = binder.bind(action)
        reason = operator if isinstance(operator, str) else binder.misfit(action, objects) or _unmet(operator, state)
        if reason is not None:
            return Execution(frozenset(state), step, f"step {step}, {show_atom(action)}: {reason}", False)
        assert isinstance(operator, Operator)
        state -= operator.delete_effects
        state |= operator.add_effects
    return Execution(frozenset(state), None, None, problem.goal <= state)


def _unmet(operator: Operator, state: set[Atom]) -> str | None:
    """The first precondition that the state does not meet, in words."""
    if operator.preconditions <= state and operator.negative_preconditions.isdisjoint(state):
        return None
    missing = sorted(operator.preconditions - state)
    if missing:
        return f"{show_atom(missing[0])} is not true"
    present = sorted(operator.negative_preconditions & state)
    return f"{show_atom(present[0])} is true" if present else None
