"""Is there a plan? One that was found and executed, a proof that there is none, or a limit that was hit.

A planning domain's own planner is asked first; where its assumptions do not hold, or there is none, the general search
(``search``) and then Fast Downward. Every plan that is found is executed (``definition.validation``) before it counts.
For the search a state is an int with one bit an atom (``task``); mutex groups, h² and regression (``mutex_groups``,
``invariants``) prove what cannot be reached, and ``bounds`` catches cl(goal) of spaces that are too large to list. Sets
of atoms become bits in ``task`` and nowhere else. Every limit counts something, so an answer is the same on every
machine; loops count their work (``budget.spend``).
"""

from pddl_eval.definition.planning.planners import Solution, executed, goal_state, solve
from pddl_eval.definition.planning.search import EACH_WAY, EXCLUDED, OUT_OF_REACH, no_state, ran_out
from pddl_eval.definition.planning.task import never_added

__all__ = [
    "EACH_WAY",
    "EXCLUDED",
    "OUT_OF_REACH",
    "Solution",
    "executed",
    "goal_state",
    "never_added",
    "no_state",
    "ran_out",
    "solve",
]
