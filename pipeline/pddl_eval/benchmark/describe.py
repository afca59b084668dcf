"""A problem in words: a text from which a model is to write the PDDL. The words are the project's own.

Each side is described either explicitly, one sentence for each atom, or abstractly, by its configuration. A description
determines its problem. An explicit side can be read back into its atoms by ``SENTENCES`` alone (which a test does for
every predicate). Two problems with the same abstract words have the same side up to the names of objects (which a test
checks for all words of the benchmark).
"""

from __future__ import annotations

from collections.abc import Mapping

from pddl_eval.benchmark.tasks import TaskProblem, kind_of
from pddl_eval.definition.model import Atom

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
"""An atom of each predicate of the three domains as a sentence."""

PLURALS: Mapping[str, str] = {"b": "blocks", "color": "colours"}
"""The plurals of kinds of objects that are not the kind with an s."""


def describe(described: TaskProblem, *, init_abstract: bool, goal_abstract: bool) -> str:
    """The text of a problem.

    >>> from pddl_eval.benchmark.blocksworld import on_table, stack
    >>> from pddl_eval.definition.model import Problem
    >>> problem = Problem("p", "blocksworld", {"b1": "object"}, frozenset(), frozenset())
    >>> described = TaskProblem(problem, on_table((1,)), stack((1,)), "on_table", "stack", refers_to_start=False)
    >>> print(describe(described, init_abstract=False, goal_abstract=True))
    There are blocks: b1.
    At the start: the arm is empty; b1 has nothing on top; b1 stands on the table.
    In the end there shall be: 1 block in a single stack; empty arm.
    """
    init = [described.init.words] if init_abstract else dict.fromkeys(map(sentence_of, described.init.atoms))
    goal = [described.goal.words] if goal_abstract else dict.fromkeys(map(sentence_of, described.goal.atoms))
    names: dict[str, list[str]] = {}
    for name in [] if init_abstract else described.problem.objects:
        names.setdefault(kind_of(name), []).append(name)
    return "\n".join(
        [
            *(f"There are {PLURALS.get(kind, kind + 's')}: {', '.join(listed)}." for kind, listed in names.items()),
            f"At the start{' there are' if init_abstract else ''}: {'; '.join(init)}.",
            f"In the end {'there shall be' if goal_abstract else 'this shall hold'}: {'; '.join(goal)}.",
        ]
    )


def sentence_of(atom: Atom) -> str:
    """An atom as a sentence: the benchmark's, else its predicate's name between or behind its arguments.

    >>> sentence_of(("parked-at", "van", "home")), sentence_of(("broken", "van")), sentence_of(("link", "a", "b", "c"))
    ('van parked at home', 'van is broken', 'link of a, b and c')
    """
    name, *terms = atom
    if (known := SENTENCES.get(name)) and known.count("{") == len(terms):
        return known.format(*terms)
    words = name.replace("-", " ").replace("_", " ")
    match terms:
        case []:
            return words
        case [one]:
            return f"{one} is {words}"
        case [one, other]:
            return f"{one} {words} {other}"
        case [*first, last]:
            return f"{words} of {', '.join(first)} and {last}"
    raise AssertionError(atom)
