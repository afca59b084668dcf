"""Instantiates a domain's operators over a problem's objects: the ground task that every other file here works on.

The goal plays no part: every goal over the same objects and initial state shares one ground task. How operators are
found is ``instantiate``'s; here they get their bits, and what can never apply or never changes anything goes.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache, reduce
from operator import or_

from pddl_eval.model import Atom, Domain, Operator, Problem, State
from pddl_eval.strips.instantiate import GroundingLimitError, GroundingLimits, Instance, reachable_instances
from pddl_eval.strips.task import BitOperator, GroundTask
from pddl_eval.verdict import Undecided

LIMITS = GroundingLimits()

CACHED_TASKS = 4
"""Ground tasks kept: a reference and its answers share theirs."""


def ground(problem: Problem, domain: Domain, limits: GroundingLimits = LIMITS) -> GroundTask | Undecided:
    """Ground the domain over the problem's objects and its own constants, from the problem's initial state.

    ``Undecided`` when a bound was hit or when the domain says more than its STRIPS operators
    (``Domain.outside_strips``). An undeclared type is a plain ``object``, of an object as of a parameter; an atom that
    no operator touches stays as it is. The last ``CACHED_TASKS`` answers are kept.
    """
    if domain.outside_strips:
        return Undecided(f"the domain is not STRIPS ({domain.outside_strips[0]})")
    objects = frozenset({**problem.objects, **domain.constants}.items())
    return _ground(objects, problem.init, frozenset(domain.types.items()), domain.operators, limits)


@lru_cache(maxsize=CACHED_TASKS)
def _ground(
    objects: frozenset[tuple[str, str]],
    init: State,
    types: frozenset[tuple[str, str]],
    operators: tuple[Operator, ...],
    limits: GroundingLimits,
) -> GroundTask | Undecided:
    try:
        instances = reachable_instances(dict(objects), init, Domain("", dict(types), {}, {}, operators), limits)
    except GroundingLimitError as limit:
        return Undecided(str(limit))
    task = _task(init, _without_impossible(instances, init))
    if len(task.atoms) > limits.atoms:
        return Undecided(f"more than {limits.atoms:,} atoms may change")
    return task


def _without_impossible(instances: list[Instance], init: State) -> list[Instance]:
    """Leave out what needs a false atom that stays true, or a true one that is added only by what is left out."""
    if not any(atom in init for instance in instances for atom in instance.forbidden):
        return instances
    true, false = set(init), set[Atom]()
    kept: list[Instance] = []
    waiting, size = instances, -1
    while size != len(kept):
        size = len(kept)
        still_waiting = []
        for instance in waiting:
            if true.issuperset(instance.required) and all(a not in init or a in false for a in instance.forbidden):
                kept.append(instance)
                true.update(instance.added)
                false.update(atom for atom in instance.deleted if atom not in instance.added)
            else:
                still_waiting.append(instance)
        waiting = still_waiting
    return kept


def _task(init: State, instances: list[Instance]) -> GroundTask:
    """Give each atom that changes its bit; drop operators that can never apply, change nothing or repeat another."""
    deletable = {atom for instance in instances for atom in instance.deleted if atom not in instance.added}
    always = init - deletable
    changing = dict.fromkeys(atom for instance in instances for atom in (*instance.added, *instance.deleted))
    addable = {atom for instance in instances for atom in instance.added}
    atoms = tuple(atom for atom in changing if atom not in always and (atom in addable or atom in init))
    bit = {atom: 1 << index for index, atom in enumerate(atoms)}

    def bits(some: Iterable[Atom]) -> int:
        return reduce(or_, (bit[atom] for atom in some if atom in bit), 0)

    operators: dict[tuple[int, int, int, int], BitOperator] = {}
    for action, required, forbidden, added, deleted in instances:
        needs, avoids, adds = bits(required), bits(forbidden), bits(added)
        deletes = bits(deleted) & ~adds & ~avoids
        adds &= ~needs
        possible = not needs & avoids and always.isdisjoint(forbidden)
        if possible and (adds or deletes):
            operators.setdefault((needs, avoids, adds, deletes), BitOperator(action, needs, avoids, adds, deletes))
    return GroundTask(atoms, bit, always, bits(init), tuple(operators.values()))
