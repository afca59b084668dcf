"""What one goal does not imply of another: a conjunct, and a plan to a state with the one goal where it is false."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pddl_eval.definition.model import Action, Formula
from pddl_eval.definition.planning import Solution, solve_anyhow
from pddl_eval.definition.task import Task
from pddl_eval.definition.validation import execute_actions


def separation(task: Task, asked: Sequence[Formula]) -> tuple[Formula, Solution] | None:
    """The first of some conjuncts, in the words of the task, that its goal does not imply, with a plan that shows it.

    None where each is implied, and where a limit was hit before one was found. Raises ``OutOfBudgetError``.

    >>> from pddl_eval.definition.task import task_of
    >>> domain = "(define (domain d) (:action go :precondition (not (at)) :effect (at)))"
    >>> task = task_of("(define (problem p) (:domain d) (:init) (:goal (and)))", domain)
    >>> conjunct, solution = separation(task, [("not", ("at",))])
    >>> conjunct, solution.plan
    (('not', ('at',)), (('go',),))
    """
    if task.domain is None or not asked:
        return None
    # Atoms are asked for one by one, which rules may answer. Where states are enumerated, once is enough.
    one_by_one = task.domain.moves_atoms(task.problem)
    for formula in asked if one_by_one else [("and", *asked)]:
        wanted = replace(task.problem, formulas=(*task.problem.formulas, (":goal", ("not", formula))))
        found = solve_anyhow(wanted, task.domain, task.typed)
        if isinstance(found, Solution):
            return unmet(found.plan, task, asked)[0], found
    return None


def unmet(plan: Sequence[Action], task: Task, asked: Sequence[Formula]) -> tuple[Formula, ...]:
    """Which of some conjuncts are false after a plan."""
    assert task.domain is not None
    problem, domain = task.problem.with_goal(asked), task.domain.operators_of(task.typed)
    return execute_actions(plan, problem, domain).unmet
