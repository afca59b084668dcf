"""Where one draft of a plan ends and the next begins: a plan that is written twice is not one of double length.

Marks of a new draft: a numbering that begins again; a heading such as *Final plan:*, or a sentence such as *that was
wrong*; another fence; and a second list that repeats the first. A plan goes on where its numbering does, under headings
that count (*Phase 2:*) or continue (*Then:*), and where prose interrupts a list that does not repeat itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, islice
from typing import NamedTuple

from pddl_eval.definition.budget import spend
from pddl_eval.definition.pddl.patterns import deferred, re
from pddl_eval.definition.plans.found import Step, TimedStep, Unread

LINES_BETWEEN = 20
"""Lines kept of what stands between two steps: the heading is the last of them."""

STEPS_COMPARED = 100
"""Steps of a list that are compared with those before it."""

_PLAN = r"(?:plan|answer|solution|sequence|steps|actions|list)"
_FINAL = deferred(
    rf"\b(?:final|complete|full|whole|entire|overall|revised|corrected?|updated|improved|new|alternative|proper|valid)\b"
    rf"[^.:]{{0,40}}\b{_PLAN}\b|^\W*(?:so[ ,]*)?(?:the|my|our)?\s*(?:pddl\s*)?(?:plan|answer|solution)\b[^.]{{0,40}}$",
    re.IGNORECASE,
)
_WRONG = deferred(
    r"\b(?:try(?:ing)? again|start(?:ing)? over|scratch that|mistake|incorrect|wrong|not (?:right|valid|correct)"
    r"|second attempt|let me (?:re|correct|fix)\w*|(?:final|revised|corrected|alternative) (?:plan|answer|solution))\b",
    re.IGNORECASE,
)
_OF_THE_PLAN = deferred(
    r"\b(?:plan|answer|solution|pddl|summary|summari[sz]\w+|recap|breakdown|sequence of actions|action sequence"
    r"|explanation|explained|details?|justification|verification|verify|trace|walk-?\s?through)\b",
    re.IGNORECASE,
)
_GOES_ON = deferred(
    r"^\W*(?:[2-9]|[1-9]\d+)\s*[.):]"
    r"|\b(?:step|phase|stage|part|(?:sub-?)?goal|(?:sub-?)?task|section|round|object|package|block|ball|city)\s*[#:]?\s*"
    r"(?:\d|[ivx]+\b|[a-h]\b|one|two|three|four|five)|\b(?:then|next|now|after|afterwards|continu\w*|remaining|rest)\b"
    r"|^\W*(?:second|third|fourth|fifth|finally|lastly)\b",
    re.IGNORECASE,
)
_CONTINUES = deferred(r"\b(?:goes on|continu\w*|remaining|rest|next|then)\b", re.IGNORECASE)
_HEADING = deferred(r"\s*+#|.*:[\s*_]*$|\s*+\*\*[^*]*+\*\*\s*$")


class Row(NamedTuple):
    """A line: its steps with their times, and how they are marked as such: by brackets, a lead, a separator at the end.

    Without steps it is prose, or, if ``damaged``, looks like an action, and if ``cut`` it can only be a broken one. If
    an action has the name ``head``, it is a broken one, too. ``unread`` is the place that is reported, of a
    ``doubtful`` row only then. ``ordinal`` is its number, ``label`` what leads it, ``between`` the lines of prose and
    headings since the steps before, ``gap`` whether there is only a blank line, ``fence`` the number of its fence,
    ``aside`` the words behind its steps.
    """

    number: int
    steps: Sequence[TimedStep] = ()
    brackets: bool = True
    led: bool = False
    joined: bool = False
    damaged: bool = False
    unread: Unread | None = None
    cut: bool = False
    head: str = ""
    doubtful: bool = False
    ordinal: int | None = None
    label: str = ""
    between: Sequence[str] = ()
    gap: bool = False
    fence: int = 0
    aside: str = ""


def drafts_of(rows: Sequence[Row]) -> list[Sequence[Row]]:
    """The rows of each draft; these follow one another and are all rows.

    >>> a, b = (None, ("a",)), (None, ("b",))
    >>> first = [Row(0, [a], ordinal=1), Row(1, [b], ordinal=2)]
    >>> len(drafts_of([*first, Row(2, [b], ordinal=3)])), len(drafts_of([*first, Row(2, [b], ordinal=1)]))
    (1, 2)
    """
    drafts: list[Sequence[Row]] = []
    start, highest, gaps = 0, -1, False
    steps: list[Step] = []
    times: set[str | None] = set()
    for at, row in enumerate(rows):
        spend(10)
        before = rows[at - 1]
        if steps and (
            _is_marked(rows, start, at, highest, row.steps[0][0] in times)
            or (_is_apart(row, before, gaps) and _repeats(rows[at : at + STEPS_COMPARED], steps, bool(row.between)))
        ):
            drafts.append(rows[start:at])
            start, highest, gaps, steps, times = at, -1, False, [], set()
        gaps |= row.gap and bool(steps)
        highest = max(highest, -1 if row.ordinal is None else row.ordinal)
        times.update(time for time, _ in row.steps)
        if len(steps) <= STEPS_COMPARED:
            steps += [step for _, step in row.steps]
    return [*drafts, rows[start:]] if rows else []


def _is_marked(rows: Sequence[Row], start: int, at: int, highest: int, again: bool) -> bool:
    """True where a new draft begins here whatever it says; ``again``: its time was in this draft before."""
    first, before, row = rows[start], rows[at - 1], rows[at]
    if row.label and before.label != row.label and _FINAL.search(row.label):
        return True
    if row.fence == before.fence and not row.between and (row.ordinal is None or row.ordinal > highest):
        return False
    headings = [line for line in row.between if _HEADING.match(line) and not _CONTINUES.search(line)]
    if any(map(_WRONG.search, row.between)) or any(map(_FINAL.search, headings)):
        return True
    if row.ordinal is not None and row.ordinal == highest + 1:
        return False
    goes_on = any(map(_GOES_ON.search, row.between))
    if row.fence != before.fence:
        return not goes_on
    if row.ordinal is not None and first.ordinal is not None and row.ordinal <= first.ordinal and highest > row.ordinal:
        timed = row.steps[0][0] is not None and not re.search(r"[^\W\d_]", row.label)
        apart = bool(row.between) or row.gap
        # `3: (b)`, `1: (a)` are to be sorted, unless they are in order up to here, and again from the first step on.
        from_first = row.steps[0] == first.steps[0] and before.ordinal == highest
        in_order = any((each.ordinal or 0) > row.ordinal for each in rows[at + 1 : at + 2])
        if not timed or (from_first and in_order) or (apart and again):
            return not goes_on
    return not goes_on and any(map(_OF_THE_PLAN.search, headings))


def _is_apart(row: Row, before: Row, gaps: bool) -> bool:
    """True where the row may be the first of another list."""
    numbered = (row.ordinal is None) != (before.ordinal is None)
    return bool(row.between) or (row.gap and not gaps) or numbered or len(row.steps) > 1


def _repeats(rows: Sequence[Row], steps: Sequence[Step], after_words: bool) -> bool:
    """True where these rows say the same steps again, or, after words, begin as they did for at least a half."""
    again = (step for _, step in chain.from_iterable(row.steps for row in rows))
    same = 0
    for step, other in zip(islice(steps, STEPS_COMPARED), again, strict=False):
        if step != other:
            break
        same += 1
    if same == min(len(steps), STEPS_COMPARED):
        return after_words or len({*steps[:same]}) > 1
    return after_words and same > 1 and 2 * same >= len(steps)
