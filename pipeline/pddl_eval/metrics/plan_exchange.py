"""Plan exchange: is the plan found for the reference problem in one domain a plan in the other?

Both directions together are the heuristic domain equivalence of Oswald et al., "Large Language Models as Planning
Domain Generators" (ICAPS 2024), with one plan of each domain instead of many. Operators, predicates, types and objects
are the same where their names are: a domain in other words accepts no plan.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pddl_eval.domains import PlanningDomain
from pddl_eval.equivalence import Task
from pddl_eval.metrics.execution import ending
from pddl_eval.metrics.registry import Column, Metric
from pddl_eval.model import Action
from pddl_eval.parsing import ParseError, require_declared
from pddl_eval.solve import execute
from pddl_eval.strips import ground
from pddl_eval.verdict import Undecided, Unsolvable

if TYPE_CHECKING:
    from pddl_eval.metrics.domains import DomainPair


def exchange_plans(reference: Task, generated: Task) -> tuple[bool | None, bool | None, list[str]]:
    """Whether the generated domain's plan is valid in the reference, and the other way round; and notes.

    Both tasks have the same problem. A plan is valid if each step can be carried out and the goal holds at the end.
    Where no plan was found within the limits the answer is None. Where it is proven that there is none in the generated
    domain, it is false if there is one in the reference domain, else None: nothing can be exchanged.

    >>> from pddl_eval.equivalence import task_of
    >>> lamp = "(define (domain d) (:action light :precondition (dark) :effect (and (lit) (not (dark)))))"
    >>> problem = "(define (problem p) (:domain d) (:init (dark)) (:goal (and (lit))))"
    >>> broken = lamp.replace("(lit)", "(shining)")
    >>> exchange_plans(task_of(problem, lamp), task_of(problem, broken))[:2]
    (False, False)
    """
    if reference.ill_typed:
        return None, None, [f"the reference problem is ill-typed: {reference.ill_typed}"]
    notes: list[str] = []
    valid: bool | None
    reference_valid: bool | None
    ours = reference.plan
    theirs = ours if generated is reference else _plan_of(generated)
    if isinstance(ours, tuple):
        reference_valid = _is_valid(ours, generated, "the reference's plan in the generated domain: ", notes)
    else:
        reference_valid = None
        notes.append(f"the reference domain's plan: {ours.reason}")
    if isinstance(theirs, tuple):
        valid = _is_valid(theirs, reference, "the generated domain's plan in the reference: ", notes)
    else:
        notes.append(f"the generated domain's plan: {theirs.reason}")
        valid = False if isinstance(theirs, Unsolvable) and isinstance(ours, tuple) else None
    return valid, reference_valid, notes


def _plan_of(generated: Task) -> tuple[Action, ...] | Unsolvable | Undecided:
    """Its plan, but of what is too large to be grounded no planner is asked: it would take all the time of the row."""
    assert generated.domain is not None
    easy = generated.ill_typed or generated.problem.goal <= generated.problem.init
    grounded = None if easy else ground(generated.problem, generated.domain.domain)
    return grounded if isinstance(grounded, Undecided) else generated.plan


def _is_valid(plan: tuple[Action, ...], task: Task, where: str, notes: list[str]) -> bool:
    assert task.domain is not None
    if task.ill_typed:
        notes.append(f"{where}{task.ill_typed}")
        return False
    execution = execute([{action} for action in plan], task.problem, task.domain.domain)
    notes += [ending(execution, where)]
    return execution.reaches_goal


def _score(pair: DomainPair) -> tuple[bool | None, bool | None]:
    """Both None where the domains cannot be carried out; false where there is no generated domain."""
    if pair.task is None or not pair.options.check_solvable:
        return None, None
    if pair.generated is None:
        return False, False
    names = [{operator.name for operator in domain.operators} for domain in (pair.reference, pair.generated)]
    generated = pair.task
    if names[0] != names[1] or len(pair.same_operators) < len(names[0]):
        try:
            require_declared(pair.task.as_written, pair.generated.constants)
        except ParseError as error:
            pair.notes.append(f"the reference problem in the generated domain: {error.detail}")
            return False, False
        generated = Task(pair.task.as_written, PlanningDomain(pair.generated))
    valid, reference_valid, notes = exchange_plans(pair.task, generated)
    pair.notes += notes
    return valid, reference_valid


METRIC = Metric(
    (
        Column("domain_plan_valid", bool, "the generated domain's plan is valid in the reference domain", True, True),
        Column(
            "domain_reference_plan_valid", bool, "the reference domain's plan is valid in the generated", True, True
        ),
    ),
    _score,
)
