"""How parts of hostile texts are shown: cut to a length and without control characters.

Names of models, details of verdicts and answers come from datasets: every part that is printed passes through here.
Colours and markup are added by the caller.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

MOST_CHARACTERS = 120
"""Characters of a name, an atom, an action or a sentence."""

YES = {True: "yes", False: "no", None: "not decided"}
"""Words for the values of a score."""


def score_text(value: object) -> str:
    """A score for a person: yes or no, a fraction with three decimals, a number with separators.

    >>> score_text(True), score_text(0.25), score_text(1200), score_text("valid")
    ('yes', '0.250', '1,200', 'valid')
    """
    match value:
        case bool():
            return YES[value]
        case float():
            return f"{value:.3f}"
        case int():
            return f"{value:,}"
    return str(value)


def printable(text: str) -> str:
    """The text with unprintable characters (control, format, unassigned) as their codes.

    >>> printable("gpt\\x1b[31m-4o")
    'gpt\\\\x1b[31m-4o'
    """
    return text if text.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def encodable(text: str) -> str:
    """The text with lone surrogates, which no file can hold, as their codes.

    >>> encodable("a\\ud800")
    'a\\\\ud800'
    """
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def shorten(text: str, most: int) -> str:
    """The text cut to ``most`` characters.

    >>> shorten("gemma-2-27b-it", 8)
    'gemma-2…'
    """
    return text if len(text) <= most else f"{text[: most - 1]}…"


def line(text: str, most: int = MOST_CHARACTERS) -> str:
    """The text on one line: white space collapsed, unprintable characters as their codes, cut.

    >>> line("a\\n b\\x1b[2J"), line("long" * 10, most=8)
    ('a b\\\\x1b[2J', 'longlon…')
    """
    return shorten(printable(" ".join(text[: 4 * most].split())), most)


def block(text: str, most: int) -> str:
    """As ``line``, but with its line breaks, cut to ``most`` characters.

    >>> block("(a)\\n\\t(b)\\u202e", most=80)
    '(a)\\n    (b)\\\\u202e'
    """
    shown = "\n".join(map(printable, text[:most].expandtabs(4).split("\n")))
    return shown if len(text) <= most else f"{shown}… ({len(text) - most:,} characters more)"


def labelled(lines: Sequence[tuple[str, str]]) -> str:
    """Labels and their values in two columns.

    >>> print(labelled([("pairs", "8"), ("state", "finished")]))
    pairs  8
    state  finished
    """
    return grouped([("", lines)])


Sections = Sequence[tuple[str, Sequence[tuple[str, str]]]]
"""Lines (a label and its value) under headings; a heading may be empty."""


def grouped(sections: Sections) -> str:
    """Labels and their values in two columns, under their headings.

    >>> print(grouped([("", [("pairs", "8")]), ("Plans", [("plan_valid", "50 %")])]))
    pairs       8
    <BLANKLINE>
    Plans
    plan_valid  50 %
    """
    width = max((len(label) for _, lines in sections for label, _ in lines), default=0)
    parts = [
        "\n".join([heading] * bool(heading) + [f"{label:<{width}}  {value}" for label, value in lines])
        for heading, lines in sections
        if lines
    ]
    return "\n\n".join(parts)


def listed(items: Sequence[object], most: int, between: str = ", ") -> str:
    """The first items, each on one line, and how many more there are.

    >>> listed(["b1", "b2", "b3"], most=2)
    'b1, b2 and 1 more'
    """
    more = f" and {len(items) - most:,} more" if len(items) > most else ""
    return between.join(line(str(each)) for each in items[:most]) + more


def row_count(number: int) -> str:
    """A number of rows in words.

    >>> row_count(1), row_count(2000)
    ('1 row', '2,000 rows')
    """
    return f"{number:,} row" if number == 1 else f"{number:,} rows"


def natural_key(name: str) -> str:
    """A key to sort names by: alphabetical order, numbers within them in numerical order.

    >>> sorted(["21-40", "100-120", "1-20"], key=natural_key)
    ['1-20', '21-40', '100-120']
    """
    return re.sub(r"[0-9]{1,18}", lambda digits: digits[0].zfill(18), name.casefold())


def quote(excerpt: str, most: int = 40) -> str:
    """An excerpt for use in a sentence: at most ``most`` characters, all printable, in backquotes.

    >>> quote("on\\x00table"), quote("b" * 50, most=9)
    ('`on\\\\x00table`', '`bbbbbbbbb…`')
    """
    return f"`{printable(excerpt if len(excerpt) <= most else excerpt[:most] + '…')}`"


def words(name: str) -> str:
    """The name of a verdict or a metric as words.

    >>> words("goal_differs")
    'goal differs'
    """
    return name.replace("_", " ")
