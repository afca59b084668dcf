"""How names and numbers are shown to people: cleaned of control characters, shortened, rounded.

Names of models and details of verdicts come from datasets and model answers: they are hostile until shown through here.
"""

from __future__ import annotations

import unicodedata

MEASURE_NAMES = {
    "parseable": "parseable",
    "solvable": "solvable",
    "equivalent": "equivalent",
    "equivalent_untyped": "ignoring types",
    "plan_valid": "plan valid",
    "goal_reached": "goal reached",
}

VERDICT_MEANINGS = {
    "identical": "the same atoms under the same names",
    "isomorphic": "the same atoms after renaming objects",
    "equivalent": "the same problem once both goals are fully specified",
    "empty": "no answer",
    "unparseable": "no PDDL problem that can be read",
    "not_strips": "a construct outside STRIPS",
    "domain_mismatch": "a problem of another domain",
    "invalid_atom": "an atom names an object that is not declared",
    "object_count": "too many or too few objects",
    "types_differ": "objects of other types",
    "init_differs": "another initial state",
    "goal_differs": "another goal",
    "unsolvable": "the goal is out of reach",
    "undecided": "a limit was hit before an answer was found",
    "reference_invalid": "a mistake in the data: the reference cannot be read or solved",
}


def clean(text: str) -> str:
    """The text with everything invisible (control, format and unassigned characters) shown as �.

    >>> clean("gpt\\x1b[31m-4o")
    'gpt�[31m-4o'
    """
    return "".join(" " if each in "\n\t" else "�" if unicodedata.category(each)[0] == "C" else each for each in text)


def shorten(text: str, most: int) -> str:
    """The text cut to so many characters.

    >>> shorten("gemma-2-27b-it", 8)
    'gemma-2…'
    """
    return text if len(text) <= most else text[: most - 1] + "…"


def percent(value: float | None) -> str:
    """Percent with one decimal, a dash for None.

    >>> percent(24.84), percent(None)
    ('24.8', '–')
    """
    return "–" if value is None else f"{value:.1f}"


def signed(value: float) -> str:
    """Percentage points with their sign.

    >>> signed(-3.41), signed(0.0)
    ('−3.4', '+0.0')
    """
    return f"{value:+.1f}".replace("-", "−")


def interval(low: float | None, high: float | None) -> str:
    """Bounds in percent.

    >>> interval(49.02, 94.33)
    '49.0–94.3'
    """
    return "" if low is None or high is None else f"{low:.1f}–{high:.1f}"


def count(number: int) -> str:
    """A number of rows.

    >>> count(145918)
    '145,918'
    """
    return f"{number:,}"


def rows(number: int) -> str:
    """So many rows, in words.

    >>> rows(1), rows(2000)
    ('1 row', '2,000 rows')
    """
    return f"{number:,} row" if number == 1 else f"{number:,} rows"


def words(name: str) -> str:
    """A verdict's or metric's name as words.

    >>> words("goal_differs")
    'goal differs'
    """
    return name.replace("_", " ")
