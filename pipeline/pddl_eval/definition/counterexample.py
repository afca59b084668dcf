"""The counterexample of ``goal_differs``: a plan to a state with one goal and not the other, for validators to check.

cl(goal) of one side lacks an atom of the other side's goal, so some reachable state has the one goal and not that atom
(``decide`` finds the atom). Here a plan to such a state is made, on request: no score needs it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from pddl_eval.definition.budget import or_undecided
from pddl_eval.definition.equivalence import isomorphism
from pddl_eval.definition.model import Atom, renamed, renamed_atom
from pddl_eval.definition.planning import Solution, executed, solve_anyhow
from pddl_eval.definition.scenes import renamed_formula
from pddl_eval.definition.separation import separation, unmet
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
    in_atoms = reference.domain is not None and reference.domain.moves_atoms(reference.problem)
    if reference.problem.conjuncts or generated.problem.conjuncts or not in_atoms:
        return _beyond_strips(reference, generated, verdict, object_map)
    goals = {"reference": reference.problem.goal, "generated": renamed(generated.problem.goal, object_map)}
    atom = cast("Atom", verdict.separating_atom)
    satisfies = "generated"
    if verdict.separating_side == "generated":
        satisfies = "reference"
        atom = renamed_atom(atom, object_map)
    wanted = replace(reference.problem, goal=goals[satisfies])
    if verdict.separating_plan is not None and reference.domain is not None:
        operators = reference.domain.operators_of(reference.typed)
        found: Solution | Unsolvable | Undecided = executed(verdict.separating_plan, wanted, operators, atom)
    else:
        found = or_undecided(lambda: solve_anyhow(wanted, reference.domain, reference.typed, atom))
    if isinstance(found, Unsolvable):
        raise AssertionError(f"a goal of {wanted.name} has a state without an atom, and no plan: {found.reason}")
    if isinstance(found, Undecided):
        return found
    (other,) = goals.keys() - {satisfies}
    return Counterexample(found.plan, satisfies, goals[other] - found.state, object_map)


def _beyond_strips(
    reference: Task, generated: Task, verdict: ProblemVerdict, object_map: dict[str, str]
) -> Counterexample | Undecided:
    """A plan to a state where the separating conjunct is false, of the problem that does not ask for it."""
    ours = [renamed_formula(conjunct, object_map) for conjunct in generated.problem.goal_as_written]
    asked, given = [*reference.problem.goal_as_written], ours
    satisfies = "generated"
    if verdict.separating_side == "generated":
        satisfies, asked, given = "reference", given, asked
    task = Task(reference.problem.with_goal(given), reference.domain, reference.typed)
    found = or_undecided(lambda: separation(task, asked))
    if found is None or isinstance(found, Undecided):
        return found or Undecided("no plan was found to a state with only one of the goals")
    plan = found[1].plan
    return Counterexample(plan, satisfies, frozenset(unmet(plan, task, asked)), object_map)
