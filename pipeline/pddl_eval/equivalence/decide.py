"""The decision: algorithm 1 of the paper in both modes, easy cases first, with the verdict and the reason for it.

With object identity two problems are equivalent when one bijection of their objects maps initial state onto initial
state and cl(goal) onto cl(goal): isomorphism of the joined graphs. In placeholder mode the two scenes are compared
separately. Every cheap comparison (equal sets, counts of labels) comes before any closure, and closures before labels.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from pddl_eval.domains import PlanningDomain
from pddl_eval.equivalence.analysis import Analysis
from pddl_eval.equivalence.canonical import LabelledGraph, isomorphic
from pddl_eval.equivalence.differences import (
    goal_sentence,
    init_sentence,
    object_count_sentence,
    renamed,
    types_sentence,
)
from pddl_eval.model import Atom, Problem
from pddl_eval.verdict import Undecided, Unsolvable, Verdict


@dataclass(frozen=True, slots=True)
class Decision:
    """What a comparison of two readable problems came to; None where it was not decided.

    ``object_map`` sends generated to reference objects on a yes; in placeholder mode it speaks of the initial states
    and ``goal_object_map`` of the goals. For ``goal_differs``, ``separating_atom`` is an atom of one goal that the
    other does not imply, in the words of the side that ``separating_side`` names (``generated`` or ``reference``).
    """

    equivalent: bool | None
    equivalent_untyped: bool | None
    verdict: Verdict
    detail: str
    object_map: dict[str, str] | None = None
    goal_object_map: dict[str, str] | None = None
    separating_atom: Atom | None = None
    separating_side: str | None = None


def decide(
    reference: Problem, generated: Problem, is_placeholder: bool, planning_domain: PlanningDomain | None
) -> Decision:
    """Whether the generated problem is the reference's planning problem, strictly and ignoring types.

    >>> from pddl_eval.domains import known_domain
    >>> def block(name, *goal):
    ...     return Problem("p", "blocksworld", {name: "object"}, frozenset({("holding", name)}), frozenset(goal))
    >>> decision = decide(block("a", ("clear", "a")), block("z", ("on-table", "z")), False, known_domain("blocksworld"))
    >>> decision.verdict.value, decision.equivalent, decision.object_map
    ('equivalent', True, {'z': 'a'})
    """
    return decide_analysed(Analysis(reference, planning_domain), Analysis(generated, planning_domain), is_placeholder)


def decide_analysed(reference: Analysis, generated: Analysis, is_placeholder: bool) -> Decision:
    """``decide`` for problems that are already analysed, the reference perhaps for many answers."""
    if isinstance(reference.closure, Unsolvable):
        detail = f"the reference has no solution: {reference.closure.reason}"
        return Decision(None, None, Verdict.REFERENCE_INVALID, detail)
    wrong_domain = domain_sentence(reference, generated)
    if wrong_domain is not None:
        return Decision(False, False, Verdict.DOMAIN_MISMATCH, wrong_domain)
    if len(generated.problem.objects) != len(reference.problem.objects):
        detail = object_count_sentence(generated.problem, reference.problem)
        return Decision(False, False, Verdict.OBJECT_COUNT, detail)

    strict = _decide(reference, generated, is_placeholder)
    if strict.verdict in (Verdict.IDENTICAL, Verdict.ISOMORPHIC):
        return replace(strict, equivalent_untyped=True)
    if not (reference.types_matter or generated.types_matter):
        return replace(strict, equivalent_untyped=strict.equivalent)
    blind = _decide(reference.ignoring_types, generated.ignoring_types, is_placeholder)
    return replace(strict, equivalent_untyped=blind.equivalent)


def _decide(reference: Analysis, generated: Analysis, is_placeholder: bool) -> Decision:
    theirs, ours = reference.problem, generated.problem
    same_names = ours.objects == theirs.objects
    same_init = same_names and ours.init == theirs.init
    if same_init and ours.goal == theirs.goal:
        return _yes(Verdict.IDENTICAL, "the same atoms", {name: name for name in ours.objects})
    if not same_names and Counter(ours.objects.values()) != Counter(theirs.objects.values()):
        return Decision(False, None, Verdict.TYPES_DIFFER, types_sentence(ours, theirs))
    if len(ours.goal) == len(theirs.goal) and isomorphic(generated.graph_as_written, reference.graph_as_written):
        object_map = _object_map(generated.graph_as_written, reference.graph_as_written)
        return _yes(Verdict.ISOMORPHIC, "the same atoms after renaming objects", object_map)
    if not same_init and generated.initial_scene.invariant != reference.initial_scene.invariant:
        return Decision(False, None, Verdict.INIT_DIFFERS, init_sentence(ours, theirs))

    if isinstance(generated.closure, Unsolvable):
        if not same_init and not isomorphic(generated.initial_scene, reference.initial_scene):
            return Decision(False, None, Verdict.INIT_DIFFERS, init_sentence(ours, theirs))
        return Decision(False, None, Verdict.UNSOLVABLE, f"the goal is out of reach: {generated.closure.reason}")
    if isinstance(generated.closure, Undecided) or isinstance(reference.closure, Undecided):
        return _decide_without_closures(reference, generated, is_placeholder, same_init)
    if is_placeholder:
        if isomorphic(generated.closed_goal_scene, reference.closed_goal_scene) and (
            same_init or isomorphic(generated.initial_scene, reference.initial_scene)
        ):
            return replace(
                _yes(Verdict.EQUIVALENT, _added(generated, reference), _init_map(generated, reference, same_init)),
                goal_object_map=_object_map(generated.closed_goal_scene, reference.closed_goal_scene),
            )
    elif same_init and generated.closure == reference.closure:
        return _yes(Verdict.EQUIVALENT, _added(generated, reference), {name: name for name in ours.objects})
    elif isomorphic(generated.closed_graph, reference.closed_graph):
        object_map = _object_map(generated.closed_graph, reference.closed_graph)
        return _yes(Verdict.EQUIVALENT, _added(generated, reference), object_map)
    if not same_init and not isomorphic(generated.initial_scene, reference.initial_scene):
        return Decision(False, None, Verdict.INIT_DIFFERS, init_sentence(ours, theirs))
    return _goal_differs(reference, generated, same_init)


def _decide_without_closures(
    reference: Analysis, generated: Analysis, is_placeholder: bool, same_init: bool
) -> Decision:
    """Where a closure is beyond every budget: only what a proof supports, else undecided.

    Each goal implying the other under one object map is a yes in both modes. A reachable state that satisfies one goal
    and not the other is a no where the initial state leaves no other map and the maps of both scenes are one.
    """
    theirs, ours = reference.problem, generated.problem
    if not same_init and not isomorphic(generated.initial_scene, reference.initial_scene):
        return Decision(False, None, Verdict.INIT_DIFFERS, init_sentence(ours, theirs))
    closure = generated.closure if isinstance(generated.closure, Undecided) else reference.closure
    assert isinstance(closure, Undecided)
    undecided = Decision(None, None, Verdict.UNDECIDED, closure.reason)
    if generated.planning_domain is None:
        return undecided
    from pddl_eval.strips import Counterexample, counterexample

    domain = generated.planning_domain.domain if generated.typed else generated.planning_domain.domain.without_types()
    object_map = _init_map(generated, reference, same_init)
    wanted = renamed(theirs.goal, {theirs_: ours_ for ours_, theirs_ in object_map.items()})
    not_implied = counterexample(ours, domain, ours.goal, wanted)
    not_asked = counterexample(ours, domain, wanted, ours.goal)
    if not_implied is None and not_asked is None:
        return _yes(Verdict.EQUIVALENT, "each goal implies the other", object_map)
    if is_placeholder or not generated.initial_scene.is_rigid:
        return undecided
    if isinstance(not_implied, Counterexample):
        (atom,) = renamed(frozenset({not_implied.atom}), object_map)
        detail = goal_sentence(atom, in_generated=False, object_map=object_map)
        return Decision(False, None, Verdict.GOAL_DIFFERS, detail, separating_atom=atom, separating_side="reference")
    if isinstance(not_asked, Counterexample):
        detail = goal_sentence(not_asked.atom, in_generated=True, object_map=object_map)
        return Decision(
            False, None, Verdict.GOAL_DIFFERS, detail, separating_atom=not_asked.atom, separating_side="generated"
        )
    return undecided


def _goal_differs(reference: Analysis, generated: Analysis, same_init: bool) -> Decision:
    object_map = _init_map(generated, reference, same_init)
    back = {theirs: ours for ours, theirs in object_map.items()}
    assert isinstance(generated.closure, frozenset) and isinstance(reference.closure, frozenset)
    not_asked = renamed(generated.problem.goal, object_map) - reference.closure
    not_implied = renamed(reference.problem.goal, back) - generated.closure
    if not_implied:
        atom = min(renamed(not_implied, object_map))
        side, detail = "reference", goal_sentence(atom, in_generated=False, object_map=object_map)
    elif not_asked:
        atom = min(renamed(not_asked, back))
        side, detail = "generated", goal_sentence(atom, in_generated=True, object_map=object_map)
    else:
        return Decision(
            False, None, Verdict.GOAL_DIFFERS, "the goals place the objects of the initial state differently"
        )
    return Decision(False, None, Verdict.GOAL_DIFFERS, detail, separating_atom=atom, separating_side=side)


def _yes(verdict: Verdict, detail: str, object_map: dict[str, str]) -> Decision:
    return Decision(True, None, verdict, detail, object_map)


def _added(generated: Analysis, reference: Analysis) -> str:
    """How many atoms fullySpecify had to add on each side before the goals agreed."""
    assert isinstance(generated.closure, frozenset) and isinstance(reference.closure, frozenset)
    ours = len(generated.closure) - len(generated.problem.goal)
    theirs = len(reference.closure) - len(reference.problem.goal)
    return (
        f"the goals agree once fully specified: {ours} implied atoms added to the answer's, {theirs} to the reference's"
    )


def _object_map(generated: LabelledGraph, reference: LabelledGraph) -> dict[str, str]:
    return dict(zip(generated.order, reference.order, strict=True))


def _init_map(generated: Analysis, reference: Analysis, same_init: bool) -> dict[str, str]:
    if same_init:
        return {name: name for name in generated.problem.objects}
    return _object_map(generated.initial_scene, reference.initial_scene)


def domain_sentence(reference: Analysis, generated: Analysis) -> str | None:
    """That the generated problem names another domain than the reference; None where it does not."""
    accepted = {reference.problem.domain}
    if reference.planning_domain is not None:
        accepted.add(reference.planning_domain.name)
    if generated.problem.domain in accepted:
        return None
    return f"the domain is {generated.problem.domain} instead of {reference.problem.domain}"
