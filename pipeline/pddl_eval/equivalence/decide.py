"""Algorithm 1 of the paper in both modes, easy cases first: the verdict and the reason for it.

With object identity two problems are equivalent when one bijection of their objects maps initial state onto initial
state and cl(goal) onto cl(goal): isomorphism of the joined graphs. In placeholder mode the two scenes are compared
separately. Every cheap comparison (equal sets, counts of labels) comes before any closure, and closures before labels.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial
from typing import Any

from pddl_eval.budget import attempt
from pddl_eval.canonical import PREDICATE, LabelledGraph, isomorphic
from pddl_eval.domains import known_domain
from pddl_eval.equivalence.task import Task
from pddl_eval.equivalence.wording import (
    goal_sentence,
    init_sentence,
    object_count_sentence,
    types_sentence,
    vocabulary_sentence,
)
from pddl_eval.model import Atom, State, renamed
from pddl_eval.parsing import Unreadable
from pddl_eval.solve import goal_state
from pddl_eval.strips import SeparatingState, separating_state
from pddl_eval.verdict import ProblemVerdict, Undecided, Unsolvable, Verdict


def decide(reference: Task | Unreadable, generated: Task | Unreadable, is_placeholder: bool) -> ProblemVerdict:
    """Whether the generated problem is the reference's planning problem, strictly and ignoring types.

    Solvability and certificate are left for the caller to fill in.

    >>> from pddl_eval.equivalence import read_pair
    >>> held = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"
    >>> decision = decide(*read_pair(held, held.replace("clear", "on-table").replace("a)", "z)")), False)
    >>> decision.verdict.value, decision.equivalent, decision.object_map
    ('equivalent', True, {'z': 'a'})
    """
    parseable = isinstance(generated, Task)
    if isinstance(reference, Unreadable):
        return _answer(None, Verdict.REFERENCE_INVALID, f"the reference cannot be read: {reference.detail}", parseable)
    if isinstance(reference.closure, Unsolvable):
        vocabulary = vocabulary_sentence(reference.problem, reference.domain)
        detail = f"the reference has no solution: {reference.closure.reason}{vocabulary}"
        return _answer(None, Verdict.REFERENCE_INVALID, detail, parseable)
    if isinstance(generated, Unreadable):
        return _answer(False, generated.verdict, generated.detail, parseable)
    if not same_domain(reference, generated):
        detail = f"the domain is {generated.problem.domain} instead of {reference.problem.domain}"
        return _answer(False, Verdict.DOMAIN_MISMATCH, detail)
    if len(generated.problem.objects) != len(reference.problem.objects):
        detail = object_count_sentence(generated.problem, reference.problem)
        return _answer(False, Verdict.OBJECT_COUNT, detail)

    strict = attempt(lambda: _decide(reference, generated, is_placeholder))
    if isinstance(strict, Undecided):
        return _answer(None, Verdict.UNDECIDED, strict.reason)
    as_written = strict.verdict in (Verdict.IDENTICAL, Verdict.ISOMORPHIC)
    if as_written or not (reference.types_matter or generated.types_matter):
        return strict
    blind = attempt(lambda: _decide(reference.untyped, generated.untyped, is_placeholder))
    return replace(strict, equivalent_untyped=None if isinstance(blind, Undecided) else blind.equivalent)


def same_domain(reference: Task, generated: Task) -> bool:
    """True where the generated problem names the reference's domain, by the problem's name for it or the domain's."""
    name = generated.problem.domain
    if name == reference.problem.domain:
        return True
    return reference.domain is not None and (name == reference.domain.name or known_domain(name) is reference.domain)


def init_map(generated: Task, reference: Task) -> dict[str, str] | None:
    """Generated → reference objects, initial state onto initial state, by the same names first; None where none is."""
    ours, theirs = generated.problem, reference.problem
    if ours.objects == theirs.objects and ours.init == theirs.init:
        return {name: name for name in ours.objects}
    return _object_map(generated.initial_scene, reference.initial_scene)


def _decide(  # noqa: C901 (the cases of the algorithm, in order of cost)
    reference: Task, generated: Task, is_placeholder: bool
) -> ProblemVerdict:
    theirs, ours = reference.problem, generated.problem
    same_names = ours.objects == theirs.objects
    same_init = same_names and ours.init == theirs.init
    if same_init and ours.goal == theirs.goal:
        return _answer(True, Verdict.IDENTICAL, "the same atoms", object_map={name: name for name in ours.objects})
    if not same_names and Counter(ours.objects.values()) != Counter(theirs.objects.values()):
        return _answer(False, Verdict.TYPES_DIFFER, types_sentence(ours, theirs))
    init_alike = same_init or _same_predicates(ours.init, theirs.init)
    if init_alike and _same_predicates(ours.goal, theirs.goal):
        object_map = _object_map(generated.graph_as_written, reference.graph_as_written)
        if object_map is not None:
            return _answer(True, Verdict.ISOMORPHIC, "the same atoms after renaming objects", object_map=object_map)
    if not init_alike or (not same_init and generated.initial_scene.invariant != reference.initial_scene.invariant):
        return _answer(False, Verdict.INIT_DIFFERS, init_sentence(ours, theirs))

    if isinstance(generated.closure, frozenset) and isinstance(reference.closure, frozenset):
        yes = _with_closures(reference, generated, is_placeholder, same_init)
        if yes is not None:
            return yes
    object_map = init_map(generated, reference)
    if object_map is None:
        return _answer(False, Verdict.INIT_DIFFERS, init_sentence(ours, theirs))
    if isinstance(generated.closure, Unsolvable):
        return _answer(False, Verdict.UNSOLVABLE, f"the goal is out of reach: {generated.closure.reason}")
    if isinstance(generated.closure, Undecided) or not isinstance(reference.closure, frozenset):
        return _without_closures(reference, generated, is_placeholder, object_map)
    back = {new: old for old, new in object_map.items()}
    not_implied = renamed(theirs.goal, back) - generated.closure
    if not_implied:
        return _separated(min(renamed(not_implied, object_map)), "reference", object_map)
    not_asked = renamed(ours.goal, object_map) - reference.closure
    if not_asked:
        return _separated(min(renamed(not_asked, back)), "generated", object_map)
    return _answer(False, Verdict.GOAL_DIFFERS, "the goals place the objects of the initial state differently")


def _same_predicates(ours: State, theirs: State) -> bool:
    """True where both have equally many atoms of each predicate, as isomorphic scenes do: at next to no cost."""
    return len(ours) == len(theirs) and sorted(map(PREDICATE, ours)) == sorted(map(PREDICATE, theirs))


def _with_closures(reference: Task, generated: Task, is_placeholder: bool, same_init: bool) -> ProblemVerdict | None:
    """The verdict where both goals are fully specified and agree, else None."""
    assert isinstance(generated.closure, frozenset) and isinstance(reference.closure, frozenset)
    goal_map = None
    if is_placeholder:
        goal_map = _object_map(generated.closed_goal_scene, reference.closed_goal_scene)
        object_map = init_map(generated, reference) if goal_map is not None else None
    elif same_init and generated.closure == reference.closure:
        object_map = {name: name for name in generated.problem.objects}
    else:
        object_map = _object_map(generated.closed_graph, reference.closed_graph)
    if object_map is None:
        return None
    added = f"{len(generated.closure) - len(generated.problem.goal)} implied atoms added to the answer's"
    also_added = f"{len(reference.closure) - len(reference.problem.goal)} to the reference's"
    detail = f"the goals agree once fully specified: {added}, {also_added}"
    return _answer(True, Verdict.EQUIVALENT, detail, object_map=object_map, goal_object_map=goal_map)


def _without_closures(
    reference: Task, generated: Task, is_placeholder: bool, object_map: dict[str, str]
) -> ProblemVerdict:
    """Where a closure is beyond every budget and the initial states agree: only what a proof supports, else undecided.

    Each goal implying the other under one object map is a yes in both modes. A reachable state that satisfies one goal
    and not the other is a no where the initial state leaves no other map and the maps of both scenes are one.
    """
    closure = generated.closure if isinstance(generated.closure, Undecided) else reference.closure
    assert isinstance(closure, Undecided)
    undecided = _answer(None, Verdict.UNDECIDED, closure.reason)
    if generated.domain is None:
        return undecided
    problem, domain = generated.problem, generated.domain.operators_of(generated.typed)
    wanted = renamed(reference.problem.goal, {theirs: ours for ours, theirs in object_map.items()})
    planner = partial(goal_state, problem, domain)
    not_implied = separating_state(problem, domain, problem.goal, wanted, planner)
    not_asked = separating_state(problem, domain, wanted, problem.goal, planner)
    if not_implied is None and not_asked is None:
        return _answer(True, Verdict.EQUIVALENT, "each goal implies the other", object_map=object_map)
    if is_placeholder or not generated.initial_scene.is_rigid:
        return undecided
    if isinstance(not_implied, SeparatingState):
        (atom,) = renamed([not_implied.atom], object_map)
        return _separated(atom, "reference", object_map)
    if isinstance(not_asked, SeparatingState):
        return _separated(not_asked.atom, "generated", object_map)
    return undecided


def _separated(atom: Atom, side: str, object_map: dict[str, str]) -> ProblemVerdict:
    """Not equivalent: the goal of that side asks for an atom that the other goal does not imply."""
    detail = goal_sentence(atom, side, object_map)
    return _answer(False, Verdict.GOAL_DIFFERS, detail, separating_atom=atom, separating_side=side)


def _answer(
    equivalent: bool | None, verdict: Verdict, detail: str, parseable: bool = True, **known: Any
) -> ProblemVerdict:
    return ProblemVerdict(parseable, None if parseable else False, equivalent, equivalent, verdict, detail, **known)


def _object_map(generated: LabelledGraph, reference: LabelledGraph) -> dict[str, str] | None:
    """An isomorphism of the graphs; None where there is none."""
    return dict(zip(generated.order, reference.order, strict=True)) if isomorphic(generated, reference) else None
