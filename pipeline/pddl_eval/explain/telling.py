"""A plan that works in only one of two domains: one step, in a problem made for it, executed in both.

Operators of the same name are compared. Nothing is said of those with formulas, and nothing that was not executed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pddl_eval.definition.model import EQUALITY, Domain, Formula, Operator, Problem, show_atom
from pddl_eval.definition.verdict import PlanVerdict
from pddl_eval.errors import UserError
from pddl_eval.scoring.plans import validate

_FAILS = (PlanVerdict.PRECONDITION, PlanVerdict.GOAL_NOT_REACHED)


@dataclass(frozen=True, slots=True)
class TellingPlan:
    """A step that reaches the problem's goal in one domain; ``why`` it does not in the other."""

    step: str
    problem: Problem
    works_in_reference: bool
    why: str


def telling_plan(reference: Domain, generated: Domain) -> TellingPlan | None:
    """The first such plan, one that works in the reference if there is one; None where no single step tells.

    >>> from pddl_eval.definition.pddl import parse_domain
    >>> go = "(define (domain d) (:action go :parameters (?a ?b) :precondition (at ?a) :effect (at ?b)))"
    >>> found = telling_plan(parse_domain(go), parse_domain(go.replace("(at ?a)", "(and (at ?a) (road ?a ?b))")))
    >>> found.step, found.works_in_reference, found.why
    ('(go a b)', True, 'step 1 fails: (go a b) needs (road a b)')
    """
    for one, other in ((reference, generated), (generated, reference)):
        theirs = {each.name: each for each in other.operators}
        for operator in one.operators:
            if operator.name not in theirs:
                continue
            for step, problem in _problems(operator, theirs[operator.name], one.name):
                try:
                    works, fails = (validate(step, problem, domain) for domain in (one, other))
                except UserError:  # an object of a type that only one of them has
                    continue
                if works.valid and fails.verdict in _FAILS:
                    return TellingPlan(step, problem, one is reference, fails.detail or fails.verdict.meaning)
    return None


def _problems(own: Operator, other: Operator, domain: str) -> Iterator[tuple[str, Problem]]:
    """The step with what it needs and, as the goal, what it makes true or false in one domain alone."""
    if own.formulas or other.formulas or len(own.parameters) != len(other.parameters):
        return
    names = [parameter.lstrip("?") for parameter, _ in own.parameters]
    mine, theirs = (
        each.renamed({parameter: name for (parameter, _), name in zip(each.parameters, names, strict=True)})
        for each in (own, other)
    )
    needed, forbidden, added, deleted = mine.parts
    if any(atom[0] == EQUALITY for atom in needed):  # its objects are all different
        return
    lost = deleted - added - theirs.delete_effects
    init = (needed | lost | theirs.negative_preconditions) - forbidden
    goal = added - theirs.add_effects - init
    gone = (lost & init) | (theirs.add_effects - added - init)
    formulas: tuple[tuple[str, Formula], ...] = tuple((":goal", ("not", atom)) for atom in sorted(gone))
    objects = {name: types[0] for name, (_, types) in zip(names, own.parameters, strict=True)}
    step = show_atom(mine.action)
    yield step, Problem("telling", domain, objects, frozenset(init), frozenset(goal), formulas=formulas)
