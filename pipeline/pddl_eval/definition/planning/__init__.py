"""Is there a plan? One that was found and executed, a proof that there is none, or a limit that was hit.

A planning domain's own planner is asked first; where its assumptions do not hold, or there is none, the states
are enumerated, and beyond their limit Fast Downward is asked. Every plan that is found is executed
(``definition.validation``) before it counts. For the enumeration a state is an int with one bit an atom; sets of atoms
become bits in ``task`` and nowhere else. Every limit counts something, so an answer is the same on every machine; loops
count their work (``budget.spend``).
"""

from pddl_eval.definition.planning.planners import Solution, executed, solve, solve_anyhow
