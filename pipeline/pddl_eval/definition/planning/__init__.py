"""Is there a plan? One that was found and executed, a proof that there is none, or a limit that was hit.

A planning domain's own planner is asked first; where its assumptions do not hold, or there is none, the states
are enumerated (``definition.state_space``), and beyond their limit Fast Downward is asked. Every plan that is found is
executed (``definition.validation``) before it counts.
"""

from pddl_eval.definition.planning.planners import Solution, executed, search, solve, solve_anyhow
