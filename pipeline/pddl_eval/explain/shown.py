"""How parts of a hostile text are shown: cut to a length, and with nothing in them that a terminal would obey.

Colours, links and markup are the business of ``text`` and ``html``; both show nothing that did not pass through here.
"""

from __future__ import annotations

from collections.abc import Sequence

from pddl_eval.model import Atom, show_atom

MOST_CHARACTERS = 120
"""Characters of a name, an atom, an action or a sentence."""


def shown(text: str, most: int = MOST_CHARACTERS) -> str:
    """The text on one line: white space collapsed, unprintable characters by their codes, cut.

    >>> shown("a\\n b\\x1b[2J"), shown("long" * 10, most=8)
    ('a b\\\\x1b[2J', 'longlon…')
    """
    text = " ".join(text[: 4 * most].split())
    text = "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)
    return text if len(text) <= most else f"{text[: most - 1]}…"


def shown_block(text: str, most: int) -> str:
    """As ``shown``, but with its lines, cut to so many characters.

    >>> shown_block("(a)\\n\\t(b)\\u202e", most=80)
    '(a)\\n    (b)\\\\u202e'
    """
    lines = text[:most].expandtabs(4).split("\n")
    block = "\n".join("".join(char if char.isprintable() else repr(char)[1:-1] for char in line) for line in lines)
    return block if len(text) <= most else f"{block}… ({len(text) - most:,} characters more)"


def shown_atom(atom: Atom) -> str:
    """An atom as PDDL writes it, cut."""
    return shown(show_atom(atom))


def shown_plan(plan: Sequence[Atom], most: int) -> str:
    """The first actions of a plan and how many more there are.

    >>> shown_plan([("pick", "a"), ("drop", "a")], most=1)
    '(pick a) and 1 more'
    """
    actions = " ".join(shown_atom(action) for action in plan[:most])
    return actions if len(plan) <= most else f"{actions} and {len(plan) - most:,} more"
