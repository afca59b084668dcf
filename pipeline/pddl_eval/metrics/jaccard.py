"""GAICo's PlanningJaccard, and the action distance: which actions two plans share, whatever their order and number."""

from __future__ import annotations

from pddl_eval.metrics.registry import Column, Metric
from pddl_eval.model import Action
from pddl_eval.parsing import Plan


def plan_jaccard(reference: Plan, generated: Plan) -> float:
    """|A ∩ B| / |A ∪ B| over the sets of actions, concurrent steps flattened; 1.0 where both plans are empty.

    Source: GAICo's page on planning metrics, PlanningJaccard.

    >>> from pddl_eval.parsing import read_plan
    >>> reference = read_plan("pickup(A), stack(A,B), drop(B)").steps
    >>> plan_jaccard(reference, read_plan("pickup(A), {stack(A,B), noop}").steps)
    0.5
    """
    first, second = actions_of(reference), actions_of(generated)
    union = len(first | second)
    return len(first & second) / union if union else 1.0


def action_distance(reference: Plan, generated: Plan) -> float:
    """Set difference over union of the actions, 0.0 where all are shared: 1 − ``plan_jaccard``.

    Source: Srivastava et al., "Domain independent approaches for finding diverse plans", IJCAI 2007, as a share of
    the union (Nguyen et al., Artificial Intelligence 190, 2012).

    >>> pick, drop = frozenset({("pick", "a")}), frozenset({("drop", "a")})
    >>> action_distance((pick, drop), (drop, pick))
    0.0
    """
    return 1.0 - plan_jaccard(reference, generated)


def actions_of(plan: Plan) -> frozenset[Action]:
    """All actions of a plan."""
    return frozenset().union(*plan)


METRIC = Metric(
    (Column("plan_jaccard", float, "GAICo's PlanningJaccard: shared actions over all actions", True),),
    lambda pair: (plan_jaccard(pair.reference, pair.generated) if pair.found else 0.0,),
)

DISTANCE = Metric(
    (Column("action_distance", float, "set difference over union of the actions (Srivastava et al. 2007)"),),
    lambda pair: (action_distance(pair.reference, pair.generated) if pair.found else 1.0,),
)
