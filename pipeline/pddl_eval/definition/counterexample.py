"""The counterexample of ``goal_differs``: a plan to a state with one goal and not the other, for validators to check.

cl(goal) of one side lacks an atom of the other side's goal, so some reachable state has the one goal and not that atom
(``decide`` finds the atom). Here a plan to such a state is made, on request: no score needs it.
"""

from __future__ import annotations

from dataclasses import replace

from pddl_eval.definition.budget import or_undecided
from pddl_eval.definition.equivalence import isomorphism
from pddl_eval.definition.model import renamed
from pddl_eval.definition.planning import solve
from pddl_eval.definition.task import Scene, Task
from pddl_eval.definition.verdict import Counterexample, ProblemVerdict, Undecided, Unsolvable


def counterexample(reference: Task, generated: Task, verdict: ProblemVerdict) -> Counterexample | Undecided:
    """A plan for ``goal_differs``, in the reference's words; ``Undecided`` where none was found within the limits.

    In placeholder mode it shows that the goals differ under the object map of the initial states; that no other map of
    the goal's objects helps is the verdict's own finding.

    >>> from pddl_eval.definition.comparison import compare
    >>> from pddl_eval.definition.task import read_pair
    >>> held = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"
    >>> pair = read_pair(held.replace("a)", "x)"), held.replace("(clear a)", "(holding a)"))
    >>> found = counterexample(*pair, compare(*pair, False))
    >>> found.plan, found.satisfies, sorted(found.lacking), found.object_map
    ((), 'generated', [('clear', 'x')], {'a': 'x'})
    """
    object_map = isomorphism(generated, reference, Scene.INIT)
    if object_map is None or verdict.separating_atom is None:
        return Undecided("no atom of one goal is known that the other does not imply")
    goals = {"reference": reference.problem.goal, "generated": renamed(generated.problem.goal, object_map)}
    atom = verdict.separating_atom
    satisfies = "generated"
    if verdict.separating_side == "generated":
        satisfies = "reference"
        (atom,) = renamed([atom], object_map)
    wanted = replace(reference.problem, goal=goals[satisfies])
    found = or_undecided(lambda: solve(wanted, reference.domain, reference.typed, atom))
    if isinstance(found, Unsolvable):
        raise AssertionError(f"a goal of {wanted.name} has a state without an atom, and no plan: {found.reason}")
    if isinstance(found, Undecided):
        return found
    (other,) = goals.keys() - {satisfies}
    return Counterexample(found.plan, satisfies, goals[other] - found.state, object_map)
