"""Words for the first difference between two problems: which atom, which object, what was expected.

The words follow a matching of generated to reference objects: by name where both use the same names, else by the
roles that objects play. They explain a verdict; they never decide one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from pddl_eval.domains import PlanningDomain, known_domain
from pddl_eval.model import Atom, Problem, renamed, show_atom

MOST_NAMES = 5
"""Objects that a sentence names."""


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


def object_count_sentence(generated: Problem, reference: Problem) -> str:
    """Both numbers, and which objects are missing or extra where names tell."""
    ours, theirs = generated.objects.keys(), reference.objects.keys()
    sentence = f"{len(ours)} objects instead of {len(theirs)}"
    if ours < theirs or theirs < ours:
        sentence += f"; {'missing' if ours < theirs else 'extra'}: {_some(sorted(ours ^ theirs))}"
    return sentence


def types_sentence(generated: Problem, reference: Problem) -> str:
    """The first object whose type is another, by name where both sides use it, else the first count that is off."""
    for name in generated.objects:
        expected = reference.objects.get(name)
        if expected is not None and expected != generated.objects[name]:
            return f"{name} has type {generated.objects[name]} instead of {expected}"
    ours, theirs = Counter(generated.objects.values()), Counter(reference.objects.values())
    type_ = min(type_ for type_ in ours.keys() | theirs.keys() if ours[type_] != theirs[type_])
    return f"{ours[type_]} objects of type {type_} instead of {theirs[type_]}"


def vocabulary_sentence(problem: Problem, domain: PlanningDomain | None) -> str:
    """Which predicates a known domain does not have, and how to give the right one; empty where it has all.

    >>> from pddl_eval.domains import known_domain
    >>> problem = Problem("p", "blocksworld", {}, frozenset({("handempty",)}), frozenset())
    >>> vocabulary_sentence(problem, known_domain("blocksworld"))
    '; blocksworld has no predicate handempty here: if the problem is of another version, give its PDDL (--domain FILE)'
    """
    if domain is None or known_domain(domain.name) is not domain:
        return ""
    strange = sorted({atom[0] for atom in problem.init | problem.goal} - domain.domain.predicates.keys())
    if not strange:
        return ""
    named = f"predicate{'s' if len(strange) > 1 else ''} {_some(strange)}"
    return f"; {domain.name} has no {named} here: if the problem is of another version, give its PDDL (--domain FILE)"


def init_sentence(generated: Problem, reference: Problem) -> str:
    """The first atom of each initial state that is not in the other."""
    matching = closest_matching(generated, reference)
    found = renamed(generated.init, matching)
    back = {theirs: ours for ours, theirs in matching.items()}
    missing = sorted(reference.init - found)
    extra = sorted(found - reference.init)
    parts = []
    if missing:
        parts.append(f"lacks {_in_both_words(missing[0], back)}")
    if extra:
        parts.append(f"has {show_atom(*renamed(extra[:1], back))}, which is not in the reference")
    return f"the initial state {' and '.join(parts)}" if parts else "the initial states differ"


def goal_sentence(atom: Atom, side: str, object_map: Mapping[str, str]) -> str:
    """What it means that ``atom``, of the goal of that side, does not follow from the other side's goal."""
    if side == "generated":
        return f"the goal asks for {show_atom(atom)}, which the reference's goal does not imply"
    back = {theirs: ours for ours, theirs in object_map.items()}
    return f"the goal does not imply {_in_both_words(atom, back)}, which the reference asks for"


def _in_both_words(atom: Atom, back: Mapping[str, str]) -> str:
    """The reference's atom in the answer's words, and in the reference's where the two differ."""
    (ours,) = renamed([atom], back)
    return show_atom(ours) + ("" if ours == atom else f" (the reference's {show_atom(atom)})")


def _some(names: list[str]) -> str:
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return ", ".join(names[:MOST_NAMES]) + more


def _roles(problem: Problem) -> dict[str, tuple[object, ...]]:
    roles: dict[str, list[tuple[str, str, int]]] = {name: [] for name in problem.objects}
    for scene, atoms in (("init", problem.init), ("goal", problem.goal)):
        for atom in atoms:
            for position, name in enumerate(atom[1:]):
                if name in roles:
                    roles[name].append((scene, atom[0], position))
    return {name: (problem.objects[name], *sorted(role)) for name, role in roles.items()}
