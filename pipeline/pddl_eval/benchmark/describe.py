"""A problem in words: a text from which a model is to write the PDDL. The words are the project's own.

Each side is told either explicitly, one sentence for each atom, or abstractly, by its configuration. A description
determines its problem. An explicit side can be read back into its atoms by ``SENTENCES`` alone (which a test does for
every predicate); two problems with the same abstract words have the same scene up to the names of objects (which a test
checks for all words of the benchmark).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pddl_eval.benchmark.scene import Scene
from pddl_eval.model import Atom

SENTENCES: Mapping[str, str] = {
    "arm-empty": "the arm is empty",
    "holding": "the arm holds {0}",
    "clear": "{0} has nothing on top",
    "on": "{0} stands on {1}",
    "on-table": "{0} stands on the table",
    "at-robby": "Robby is in {0}",
    "at": "{0} lies in {1}",
    "free": "{0} is free",
    "carry": "{0} is carried in {1}",
    "up": "{0} is directly above {1}",
    "right": "{0} is directly to the right of {1}",
    "robot-at": "{0} stands on tile {1}",
    "robot-has": "{0} has the colour {1}",
    "available-color": "the colour {0} is available",
    "painted": "{0} is painted in the colour {1}",
}
"""How an explicit description tells an atom, for each predicate of the three domains."""

PLURALS: Mapping[str, str] = {
    "b": "blocks",
    "ball": "balls",
    "gripper": "grippers",
    "room": "rooms",
    "tile": "tiles",
    "robot": "robots",
    "color": "colours",
}
"""What the objects are whose names are a kind and a number."""


def describe(objects: Iterable[str], init: Scene, goal: Scene, *, init_abstract: bool, goal_abstract: bool) -> str:
    """The text of a problem.

    >>> held, down = Scene((("holding", "b1"),), "one held block"), Scene((("on-table", "b1"),), "one block, unheld")
    >>> print(describe(["b1"], held, down, init_abstract=False, goal_abstract=True))
    There are blocks: b1.
    At the start: the arm holds b1.
    In the end there shall be: one block, unheld.
    """
    start = [init.words] if init_abstract else dict.fromkeys(map(tell, init.atoms))
    end = [goal.words] if goal_abstract else dict.fromkeys(map(tell, goal.atoms))
    return "\n".join(
        [
            *([] if init_abstract else _objects_told(objects)),
            f"At the start{' there are' if init_abstract else ''}: {'; '.join(start)}.",
            f"In the end {'there shall be' if goal_abstract else 'this shall hold'}: {'; '.join(end)}.",
        ]
    )


def tell(atom: Atom) -> str:
    """An atom as a sentence.

    >>> tell(("on", "b2", "b1"))
    'b2 stands on b1'
    """
    return SENTENCES[atom[0]].format(*atom[1:])


def _objects_told(objects: Iterable[str]) -> list[str]:
    names: dict[str, list[str]] = {}
    for name in objects:
        names.setdefault(PLURALS[name.rstrip("0123456789")], []).append(name)
    return [f"There are {kind}: {', '.join(listed)}." for kind, listed in names.items()]
