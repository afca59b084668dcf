"""The first difference between two problems, as values: which atom, which object, how many.

Differences explain a verdict; they never decide one. ``words`` says them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from pddl_eval.definition.domains import PlanningDomain, known_domain
from pddl_eval.definition.model import (
    TOTAL_COST,
    Problem,
    renamed,
    renamed_atom,
    show_formula,
    show_number,
)
from pddl_eval.definition.scenes import numbered, renamed_formula, values_of
from pddl_eval.definition.verdict import Unsolvable
from pddl_eval.definition.words import Difference

MOST_NAMES = 5
"""Objects or predicates that a difference names."""


def reference_unsolvable(problem: Problem, domain: PlanningDomain | None, proof: Unsolvable) -> Difference:
    """The proof, and which predicates a known domain does not have: the problem may be of another version."""
    is_known = domain is not None and known_domain(domain.name) is domain
    used = {atom[0] for atom in problem.init | problem.goal}
    unknown = sorted(used - domain.domain.predicates.keys()) if domain is not None and is_known else []
    names = (domain.name, *unknown[:MOST_NAMES]) if domain is not None and unknown else ()
    return Difference("reference unsolvable", reason=proof.reason, names=names, found=len(unknown))


def object_count(generated: Problem, reference: Problem) -> Difference:
    """Both numbers, and which objects are missing or extra where the other names are equal."""
    ours, theirs = generated.objects.keys(), reference.objects.keys()
    names = sorted(ours ^ theirs)[:MOST_NAMES] if ours < theirs or theirs < ours else ()
    return Difference("object count", found=len(ours), expected=len(theirs), names=tuple(names))


def type_difference(generated: Problem, reference: Problem) -> Difference:
    """The first object whose type is another, by name where both sides use it, else the first count that is off."""
    for name, type_ in generated.objects.items():
        expected = reference.objects.get(name, type_)
        if expected != type_:
            return Difference("object type", names=(name, type_, expected))
    ours, theirs = Counter(generated.objects.values()), Counter(reference.objects.values())
    type_ = min(type_ for type_ in ours.keys() | theirs.keys() if ours[type_] != theirs[type_])
    return Difference("type count", names=(type_,), found=ours[type_], expected=theirs[type_])


def init_difference(generated: Problem, reference: Problem) -> Difference:
    """The first atom, number, metric or timed literal of one initial scene that is not in the other.

    Under a plausible matching.
    """
    matching = closest_matching(generated, reference)
    back = {theirs: ours for ours, theirs in matching.items()}
    found = renamed(generated.init, matching)
    lacks = min(reference.init - found, default=())
    has = min(found - reference.init, default=())
    if not lacks and not has and not (generated.is_strips and reference.is_strips):
        numbers = _number_difference(generated, reference, matching, back)
        return numbers or _later_difference(generated, reference, matching, back)
    return Difference("init", lacks=lacks, lacks_here=renamed_atom(lacks, back), has=renamed_atom(has, back))


def _number_difference(
    generated: Problem, reference: Problem, matching: Mapping[str, str], back: Mapping[str, str]
) -> Difference | None:
    ours = {renamed_atom(fluent, matching): value for fluent, value in values_of(generated).items()}
    theirs = values_of(reference)
    for fluent in sorted(ours.keys() | theirs.keys()):
        both = ours.get(fluent), theirs.get(fluent)
        if both[0] != both[1]:
            missing = "0" if fluent == TOTAL_COST else ""
            names = tuple(missing if value is None else show_number(value) for value in both)
            here = renamed_atom(fluent, back)
            return Difference("value", lacks=fluent, lacks_here=here, has=() if names[1] else here, names=names)
    metrics = (renamed_formula(generated.metric or (), matching), reference.metric or ())
    names = tuple(show_formula(metric) if metric else "" for metric in metrics)
    return Difference("metric", names=names) if names[0] != names[1] else None


def _later_difference(
    generated: Problem, reference: Problem, matching: Mapping[str, str], back: Mapping[str, str]
) -> Difference:
    ours = {numbered(each, lambda name: matching.get(name, name)): each for each in generated.timed_literals}
    theirs = {numbered(each): each for each in reference.timed_literals}
    lacks = next((each for form, each in theirs.items() if form not in ours), ())
    has = next((each for form, each in ours.items() if form not in theirs), ())
    return Difference("init", lacks=lacks, lacks_here=renamed_formula(lacks, back), has=has)


def closest_matching(generated: Problem, reference: Problem) -> dict[str, str]:
    """A plausible generated → reference object map for problems that are not isomorphic: by name, then by role."""
    if generated.objects.keys() == reference.objects.keys():
        return {name: name for name in generated.objects}
    matching = {name: name for name in generated.objects if name in reference.objects}
    roles: dict[tuple[object, ...], list[str]] = {}
    for name, role in _roles(reference).items():
        if name not in matching:
            roles.setdefault(role, []).append(name)
    unmatched = []
    for name, role in _roles(generated).items():
        if name not in matching:
            if roles.get(role):
                matching[name] = roles[role].pop(0)
            else:
                unmatched.append(name)
    rest = [name for names in roles.values() for name in names]
    return matching | dict(zip(unmatched, rest, strict=False))


def _roles(problem: Problem) -> dict[str, tuple[object, ...]]:
    """What each object is and does: its type, and where it stands in which atoms."""
    roles: dict[str, list[tuple[str, str, int]]] = {name: [] for name in problem.objects}
    for scene, atoms in (("init", problem.init), ("goal", problem.goal)):
        for atom in atoms:
            for position, name in enumerate(atom[1:]):
                if name in roles:
                    roles[name].append((scene, atom[0], position))
    return {name: (problem.objects[name], *sorted(role)) for name, role in roles.items()}
