"""Is there a plan? A plan that was found and executed, a proof that there is none, or a limit that was hit.

A planning domain's own planner is asked first; where its assumptions do not hold, or there is none, the general search
of ``pddl_eval.strips`` and then Fast Downward. Every plan that is found is executed (``executor``) before it counts.
"""

from pddl_eval.solve.executor import Execution, GroundOperator, effects_of, execute, ground_operator
from pddl_eval.solve.planners import Solution, goal_state, solve

__all__ = ["Execution", "GroundOperator", "Solution", "effects_of", "execute", "goal_state", "ground_operator", "solve"]
