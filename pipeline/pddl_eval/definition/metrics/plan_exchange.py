"""Plan exchange: is the plan of the reference problem in one domain a plan in the other?

Both directions together are the heuristic domain equivalence of Oswald et al., "Large Language Models as Planning
Domain Generators" (ICAPS 2024), with one plan of each domain instead of many: the defined one (``planning.planners``).
Plans of equivalent domains are exchanged under the renaming that makes them equal. Elsewhere operators, predicates,
types and objects are the same where their names are.
"""

from __future__ import annotations

from collections.abc import Callable

from pddl_eval.definition import words
from pddl_eval.definition.domain_equivalence import shared_operators
from pddl_eval.definition.domains import with_rules
from pddl_eval.definition.metrics.domain_pair import DomainPair
from pddl_eval.definition.metrics.registry import Column, Metric
from pddl_eval.definition.metrics.validity import ending
from pddl_eval.definition.model import Action, Domain
from pddl_eval.definition.pddl import ParseError, require_declared
from pddl_eval.definition.planning import Solution
from pddl_eval.definition.task import Task
from pddl_eval.definition.validation import execute_actions
from pddl_eval.definition.verdict import DomainVerdict, Undecided, Unsolvable


def exchange_plans(reference: Task, generated: Task) -> tuple[bool | None, bool | None, list[str]]:
    """Whether the generated domain's plan is valid in the reference, and the other way round; and notes.

    Both tasks have the same problem. A plan is valid if each step can be executed and the goal holds at the end.
    Where no plan was found within the limits the answer is None. Where it is proven that there is none in the generated
    domain, it is false if there is one in the reference domain, else None: nothing can be exchanged.

    >>> from pddl_eval.definition.task import task_of
    >>> lamp = "(define (domain d) (:action light :precondition (dark) :effect (and (lit) (not (dark)))))"
    >>> problem = "(define (problem p) (:domain d) (:init (dark)) (:goal (and (lit))))"
    >>> broken = lamp.replace("(lit)", "(shining)")
    >>> exchange_plans(task_of(problem, lamp), task_of(problem, broken))[:2]
    (False, False)
    """
    if reference.ill_typed:
        return None, None, [f"in the reference, {reference.ill_typed}"]
    notes: list[str] = []
    valid: bool | None = None
    reference_valid: bool | None = None
    ours, theirs = reference.solution, generated.solution
    if isinstance(ours, Solution):
        reference_valid = _is_valid(ours.plan, generated, words.reference_plan, notes)
    else:
        notes.append(words.no_reference_plan(ours.reason, _found(ours)))
    if isinstance(theirs, Solution):
        valid = _is_valid(theirs.plan, reference, words.generated_plan, notes)
    else:
        notes.append(words.no_generated_plan(theirs.reason, _found(theirs)))
        if isinstance(theirs, Unsolvable) and isinstance(ours, Solution):
            valid = False
    return valid, reference_valid, notes


def _found(why: Unsolvable | Undecided) -> str:
    """There is none, or none was found."""
    return "" if isinstance(why, Unsolvable) else " that was found"


def _is_valid(plan: tuple[Action, ...], task: Task, says: Callable[[str], str], notes: list[str]) -> bool:
    assert task.domain is not None
    if task.ill_typed:
        notes.append(says(task.ill_typed))
        return False
    execution = execute_actions(plan, task.problem, task.domain.domain)
    if why := ending(execution):
        notes.append(says(why))
    return execution.reaches_goal


def _score(pair: DomainPair) -> tuple[bool | None, bool | None]:
    """Both None where the domains cannot be executed; false where the generated domain is missing or ill-typed."""
    if pair.task is None or not pair.options.check_solvable:
        return None, None
    if pair.generated is None or pair.ill_typed:
        return False, False
    generated = pair.task
    # A domain in other words is, once it is renamed, the reference: each one's plan is the other's.
    if pair.decision.verdict != DomainVerdict.RENAMED and not _behaves_the_same(pair.reference, pair.generated):
        try:
            require_declared(pair.task.as_written, pair.generated.constants)
        except ParseError as error:
            pair.notes.append(f"the reference problem in the generated domain: {error.detail}")
            return False, False
        generated = Task(pair.task.as_written, with_rules(pair.generated))
    valid, reference_valid, notes = exchange_plans(pair.task, generated)
    pair.notes += notes
    return valid, reference_valid


def _behaves_the_same(reference: Domain, generated: Domain) -> bool:
    """True where the domains have the same operators under the same names, and admit the same problems."""
    names, others = ({operator.name for operator in domain.operators} for domain in (reference, generated))
    same = len(shared_operators(reference, generated)) == len(names)
    return names == others and same and reference.predicates == generated.predicates


METRIC = Metric(
    (
        Column(
            "domain_plan_valid",
            bool,
            "the generated domain has a plan, and it is valid in the reference domain",
            optional=True,
        ),
        Column(
            "domain_reference_plan_valid", bool, "the reference domain's plan is valid in the generated", optional=True
        ),
    ),
    _score,
)
