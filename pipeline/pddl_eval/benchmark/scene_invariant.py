"""A cheap proof that two scenes are not isomorphic; its silence proves nothing.

Colours of objects are refined round by round by the atoms they occur in (Weisfeiler and Leman's idea), and what is
compared is how many objects have each colour. Written for labels of generated answers, which must not be known from
the judge that they are to test: it shares no code with ``pddl_eval.equivalence``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from pddl_eval.model import State


def surely_different(objects: Mapping[str, str], scenes: tuple[State, ...], other_scenes: tuple[State, ...]) -> bool:
    """True only where no bijection of the objects that keeps types maps each scene onto its other.

    >>> objects, up, down = dict.fromkeys("abc", "object"), frozenset({("on", "a", "b")}), frozenset({("on", "b", "a")})
    >>> surely_different(objects, (up,), (down,)), surely_different(objects, (up, up), (up, down))
    (False, True)
    """
    return _shape(scenes) != _shape(other_scenes) or _colors(objects, scenes) != _colors(objects, other_scenes)


def _shape(scenes: tuple[State, ...]) -> list[Counter[str]]:
    return [Counter(atom[0] for atom in scene) for scene in scenes]


def _colors(objects: Mapping[str, str], scenes: tuple[State, ...]) -> Counter[int]:
    atoms = [(number, atom) for number, scene in enumerate(scenes) for atom in scene]
    colors = {name: hash(type_) for name, type_ in objects.items()}
    distinct = 0
    while distinct < len(set(colors.values())):
        distinct = len(set(colors.values()))
        seen: dict[str, list[int]] = {name: [] for name in colors}
        for number, (predicate, *names) in atoms:
            told = tuple(colors[name] for name in names)
            for place, name in enumerate(names):
                seen[name].append(hash((number, predicate, place, told)))
        colors = {name: hash((color, *sorted(seen[name]))) for name, color in colors.items()}
    return Counter(colors.values())
