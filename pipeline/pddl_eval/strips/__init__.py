"""Any STRIPS problem after grounding: plans, closures, and proofs that there is none.

For domains without rules of their own, and for initial states that the rules of a known domain do not cover. A state is
an int with one bit an atom (``task``). Exact answers come from the list of all reachable states where it is short
enough; beyond that from mutex groups (``mutex_groups``), h² and regression (``invariants``) and a search for a plan
(``search``). ``goal_closure`` puts them together. ``walks`` samples states to compare domains in. Every limit of this
room counts something, so an answer is the same on every machine; long loops also look at the row's budget
(``pddl_eval.budget``). No program is started.
"""

from pddl_eval.strips.goal_closure import SeparatingState, closure, separating_state
from pddl_eval.strips.joins import GroundingLimitError
from pddl_eval.strips.search import find_plan
from pddl_eval.strips.task import ground
from pddl_eval.strips.walks import SEED, STEPS, WALKS, Instances, VisitedStates, count_applicable, visited_states

__all__ = [
    "SEED",
    "STEPS",
    "WALKS",
    "GroundingLimitError",
    "Instances",
    "SeparatingState",
    "VisitedStates",
    "closure",
    "count_applicable",
    "find_plan",
    "ground",
    "separating_state",
    "visited_states",
]
