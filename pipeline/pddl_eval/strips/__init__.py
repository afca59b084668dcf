"""What can be decided of any STRIPS problem once its operators are grounded: plans, closures, proofs of their absence.

The room is for domains of which nothing is known but their PDDL, and for problems that break the assumptions of
``planning_domains``. A state is an int, one bit an atom (``ground``). Exact answers come from all reachable states
where they fit a budget (``reachable``); beyond it from invariants (``groups``, ``pairs``, ``literals``), from a search
for a plan (``search``) and from regression, which can prove that there is none (``regression``); ``closure`` puts them
together. No clock is read: every budget counts something, so that an answer is the same on every machine. No
subprocess is started: a stronger planner is handed in as a function.
"""

from pddl_eval.strips.closure import Counterexample, closure, counterexample
from pddl_eval.strips.search import find_plan
