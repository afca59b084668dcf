"""Answers that are well-formed and state another problem: solvable ones, and ones that nothing can solve.

Every function takes the reference and a source of randomness and returns the answer's text, None where the kind does
not apply or its label would not be certain. Why an answer is not equivalent stands in its docstring; three reasons
serve in both of the paper's modes:

* A bijection of objects keeps the number of objects, their types, and the number of atoms of each scene.
* R(g) and with it cl(g) only shrinks or grows with the goal: the closure of a part of a goal is a part of its closure,
  so that two such closures are isomorphic only if they are equal.
* Two scenes that differ in an invariant of isomorphism (``scene_invariant``) are not isomorphic.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random

from pddl_eval.benchmark.arrangements import contradiction, other_goal, other_init
from pddl_eval.benchmark.reference import Reference, fresh_name, write
from pddl_eval.benchmark.rewritings import TRIES, exchange_in_goal
from pddl_eval.benchmark.scene_invariant import surely_different
from pddl_eval.domains import BrokenAssumption
from pddl_eval.model import ROOT_TYPE, Atom, Problem, State


def init_atom_lost(reference: Reference, random: Random) -> str | None:
    """One initial atom fewer, by which the initial scenes differ; whether a plan is left is not known."""
    init = reference.problem.init
    if not init:
        return None
    return write(replace(reference.problem, init=init - {random.choice(sorted(init))}), random)


def init_atom_added(reference: Reference, random: Random) -> str | None:
    """One initial atom more. It spoils no plan, because no operator asks for an atom's absence."""
    domain = reference.planning_domain
    if domain is None or any(operator.negative_preconditions for operator in domain.domain.operators):
        return None
    problem = reference.problem
    for _ in range(TRIES):
        predicate, *names = random.choice(sorted(problem.init or {("",)}))
        new = (predicate, *(random.choice(_alike(problem, name)) for name in names))
        if names and new not in problem.init:
            return write(replace(problem, init=problem.init | {new}), random)
    return None


def init_unknown_predicate(reference: Reference, random: Random) -> str:
    """One initial atom more, of a predicate that the domain does not declare, so that no operator touches it."""
    changed = reference.problem.init | {_unknown_atom(reference.problem, random)}
    return write(replace(reference.problem, init=changed), random)


def init_other(reference: Reference, random: Random) -> str | None:
    """Another initial state over the same objects; that the goal is still reachable shows in its closure."""
    return _if_different(reference, other_init(reference.problem, random), random)


def object_added(reference: Reference, random: Random) -> str:
    """One object more, in no atom: the reference's plan still works, the number of objects does not fit."""
    problem = reference.problem
    type_ = random.choice(sorted(problem.objects.values()) or [ROOT_TYPE])
    objects = {**problem.objects, fresh_name(problem, "extra"): type_}
    return write(replace(problem, objects=objects), random)


def goal_atom_lost(reference: Reference, random: Random) -> str | None:
    """One goal atom fewer, which the others do not imply: the closure is smaller, the old plan still good."""
    goal = reference.problem.goal
    for atom in random.sample(sorted(goal), min(TRIES, len(goal))):
        changed = _with_smaller_closure(reference, goal - {atom})
        if changed:
            return write(changed, random)
    return None


def goal_weakened(reference: Reference, random: Random) -> str | None:
    """Part of the goal only, which does not imply the rest."""
    goal = sorted(reference.problem.goal)
    if len(goal) < 2:
        return None
    changed = _with_smaller_closure(reference, frozenset(random.sample(goal, random.randint(1, len(goal) - 1))))
    return write(changed, random) if changed else None


def goal_strengthened(reference: Reference, random: Random) -> str | None:
    """One goal atom more, taken from the initial state, that was not implied and can be had with the goal."""
    if not reference.closures:
        return None
    problem = reference.problem
    open_atoms = sorted(problem.init.difference(*reference.closures))
    for atom in random.sample(open_atoms, min(TRIES, len(open_atoms))):
        changed = replace(problem, goal=problem.goal | {atom})
        if reference.closures_with(changed):
            return write(changed, random)
    return None


def goal_objects_swapped(reference: Reference, random: Random) -> str | None:
    """Two objects exchanged in the goal, where an invariant shows that no automorphism undoes it."""
    exchange, changed = exchange_in_goal(reference.problem, random)
    return _if_different(reference, changed, random) if exchange else None


def goal_other(reference: Reference, random: Random) -> str | None:
    """The goal of another task over the same objects."""
    return _if_different(reference, other_goal(reference.problem, random), random)


def types_added(reference: Reference, random: Random) -> str | None:
    """Types for objects that have none, in a domain that knows none: plain objects to it, so that all plans work.

    Without types the problem is the reference's; with them its objects are others.
    """
    problem, domain = reference.problem, reference.planning_domain
    if domain is None or domain.domain.types or problem != problem.without_types() or not problem.objects:
        return None
    return write(replace(problem, objects={name: _kind(name) for name in problem.objects}), random)


def types_removed(reference: Reference, random: Random) -> str | None:
    """No types in a domain each of whose operators asks for one: none applies, and the goal does not hold yet.

    Without types the problem is the reference's; with them its objects are others.
    """
    problem, domain = reference.problem, reference.planning_domain
    if domain is None or problem == problem.without_types() or problem.goal <= problem.init:
        return None
    if not all(any(ROOT_TYPE not in types for _, types in operator.parameters) for operator in domain.domain.operators):
        return None
    return write(problem.without_types(), random)


def goal_contradictory(reference: Reference, random: Random) -> str | None:
    """Two goal atoms more that no reachable state has both, the initial state being one of the domain's."""
    domain = reference.planning_domain
    if domain is None or domain.rules is None:
        return None
    if isinstance(domain.rules(reference.problem, True), BrokenAssumption):
        return None
    added = contradiction(reference.problem, random)
    return write(replace(reference.problem, goal=reference.problem.goal.union(added)), random) if added else None


def goal_unknown_predicate(reference: Reference, random: Random) -> str:
    """One goal atom more, of a predicate that no operator adds and that does not hold at the start."""
    changed = reference.problem.goal | {_unknown_atom(reference.problem, random)}
    return write(replace(reference.problem, goal=changed), random)


def wrong_domain(reference: Reference, random: Random) -> str:
    """Another domain's name, to which the reference's operators do not belong."""
    return write(
        replace(reference.problem, domain=f"{reference.problem.domain}-{random.choice(('typed', 'v2', 'strips'))}"),
        random,
    )


def _with_smaller_closure(reference: Reference, goal: State) -> Problem | None:
    changed = replace(reference.problem, goal=goal)
    closures = zip(reference.closures, reference.closures_with(changed), strict=False)
    return changed if reference.closures and all(before != after for before, after in closures) else None


def _if_different(reference: Reference, changed: Problem | None, random: Random) -> str | None:
    """The changed problem, where it has the reference's objects, is solvable and surely not equivalent to it."""
    closures = reference.closures_with(changed) if changed and reference.closures else ()
    if not changed or not closures:
        return None
    inits = reference.problem.init, changed.init
    readings = zip((changed, changed.without_types()), reference.closures, closures, strict=False)
    for problem, *goals in readings:
        scenes = [(inits, goals)] if not reference.is_placeholder else [(inits,), (goals,)]
        if not any(surely_different(problem.objects, *zip(*sides, strict=True)) for sides in scenes):
            return None
    return write(changed, random)


def _unknown_atom(problem: Problem, random: Random) -> Atom:
    names = sorted(problem.objects)
    return ("polished", *random.sample(names, min(1, len(names))))


def _alike(problem: Problem, name: str) -> list[str]:
    """The objects of the same type, itself included; a constant is like nothing else."""
    type_ = problem.objects.get(name)
    return sorted(other for other in problem.objects if problem.objects[other] == type_) if type_ else [name]


def _kind(name: str) -> str:
    """A type that a model would think of: the name without its number."""
    kind = name.rstrip("0123456789_-")
    return {"b": "block", "": "item", ROOT_TYPE: "item"}.get(kind, kind)
