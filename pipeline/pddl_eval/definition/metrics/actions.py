"""What actions two plans share: GAICo's PlanningLCS and PlanningJaccard, the action distance, T-Eval's lengths.

Steps are compared whole in the sequence: a concurrent step, also one of a single action, equals only a concurrent step
of the same actions. Actions that are merely alike do not count: for that see ``plan_score``.
"""

from __future__ import annotations

from itertools import count

from pddl_eval.definition.metrics.registry import Column, Metric
from pddl_eval.definition.model import Action
from pddl_eval.definition.plans import Plan, Step, actions_of


def plan_lcs(reference: Plan, generated: Plan) -> float:
    """The longest common subsequence's length over the longer plan's; 1.0 where both plans are empty.

    Source: GAICo's page on planning metrics, PlanningLCS.

    >>> from pddl_eval.definition.plans import read_plan
    >>> reference = read_plan("pickup(A), stack(A,B), pickup(C)").steps
    >>> plan_lcs(reference, read_plan("pickup(A), stack(A,B), {noop1, noop2}, pickup(C)").steps)
    0.75
    """
    longer = max(len(reference), len(generated))
    return common_subsequence(reference, generated) / longer if longer else 1.0


def common_subsequence(first: Plan, second: Plan) -> int:
    """The length of the longest common subsequence of the steps.

    Steps are numbered first: rapidfuzz compares hashes, and small numbers are their own.
    """
    from rapidfuzz.distance import LCSseq  # Here, as in ``similarities``.

    number: dict[Step, int] = {}
    unused = count()
    numbered = [[*map(number.setdefault, plan, unused)] for plan in (first, second)]
    return int(LCSseq.similarity(*numbered))


def plan_jaccard(reference: Plan, generated: Plan) -> float:
    """|A ∩ B| / |A ∪ B| over the sets of actions, concurrent steps flattened; 1.0 where both plans are empty.

    Source: GAICo's page on planning metrics, PlanningJaccard.

    >>> from pddl_eval.definition.plans import read_plan
    >>> reference = read_plan("pickup(A), stack(A,B), drop(B)").steps
    >>> plan_jaccard(reference, read_plan("pickup(A), {stack(A,B), noop}").steps)
    0.5
    """
    first, second = _actions(reference), _actions(generated)
    common = len(first & second)
    union = len(first) + len(second) - common
    return common / union if union else 1.0


def _actions(plan: Plan) -> set[Action]:
    return {action for step in plan for action in actions_of(step)}


LCS = "GAICo's PlanningLCS: the longest common subsequence over the longer plan's length"

SHARED = Metric(
    (
        Column("plan_lcs", float, LCS, has_mean=True),
        Column("plan_jaccard", float, "GAICo's PlanningJaccard: shared actions over all actions", has_mean=True),
    ),
    lambda pair: [share(pair.reference, pair.generated) if pair.found else 0.0 for share in (plan_lcs, plan_jaccard)],
    compares=True,
)

LENGTHS = Metric(
    (
        Column("plan_length", int, "steps of the generated plan"),
        Column("reference_plan_length", int, "steps of the reference plan"),
    ),
    lambda pair: (len(pair.generated), None if pair.reference is None else len(pair.reference)),
)

# Srivastava et al., "Domain independent approaches for finding diverse plans", IJCAI 2007, as a share of the union
# (Nguyen et al., Artificial Intelligence 190, 2012): that is 1 − PlanningJaccard.
DISTANCE = Metric(
    (Column("action_distance", float, "set difference over union of the actions (Srivastava et al. 2007)"),),
    lambda pair: (1.0 - plan_jaccard(pair.reference, pair.generated) if pair.found else 1.0,),
    compares=True,
)
