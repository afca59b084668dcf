"""Questions whose answer is one of possibly many atoms or actions, or "none": each that is named has to be right."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice

from pddl_eval.definition import words
from pddl_eval.definition.budget import WORK_PER_LOOK, OutOfBudgetError, or_undecided, spend
from pddl_eval.definition.model import Atom, Formula, show_atom, show_formula
from pddl_eval.definition.questions.question import Judged, Kind, Question
from pddl_eval.definition.questions.reading import answer_text, as_atom, first_of_plan
from pddl_eval.definition.questions.sets import read
from pddl_eval.definition.verdict import RightAnswers, Undecided

MOST_CANDIDATES = 20_000
"""Ground atoms or actions of a problem that are tried, to list all that are right."""

ATOMS, ACTIONS, PLAN = "atoms", "actions", "a plan, of which the first action counts, or actions"
"""What answers name."""

ONE_OF_MANY = "it is one of many"
"""Why not all that are right are known: the first was enough."""


@dataclass(frozen=True, slots=True)
class Picks:
    """``some`` that are right, the first one first; ``all_known``: no other is. ``open``: why that is not known.

    ``or_none``: "none" is right beside them.
    """

    some: tuple[Atom, ...]
    all_known: bool = True
    open: str = ""
    or_none: bool = False


def pick_kind(
    asks: str,
    right_when: str,
    why_wrong: Callable[[Atom, Question], str],
    picks: Callable[[Question], Picks],
    *,
    named: str = ATOMS,
) -> Kind:
    """A kind of question to which any of ``picks`` is an answer, and "none" where there are none.

    ``why_wrong`` says why one is not right, and is empty for one that is. ``named`` says what answers name.
    """

    def judge(question: Question, text: str, answer: str) -> Judged:
        text = answer_text(text, answer)
        said = read(text, question, actions=named != ATOMS)
        if not said.found:
            return Judged.unreadable(said.reason)
        if said.none:
            found = picks(question)
            if not (found.some or found.all_known or found.or_none):
                raise OutOfBudgetError(found.open)
            shown = "".join(f": {show_atom(first)}" for first in found.some[:1])
            return Judged.of(not found.some or found.or_none, words.not_none() + shown, words.not_none())
        if said.damage:
            return Judged.of(False, words.cannot_read_element(said.damage[0]))
        # "Not (a) but (b)" names (b).
        elements = tuple([each for each in said.elements if as_atom(each)[1]]) or said.elements
        if named == PLAN and elements:
            elements = first_of_plan(text, elements)
        return _judged(elements, lambda element: why_wrong(element, question))

    def key(question: Question) -> RightAnswers:
        found = picks(question)
        if found.some:
            known = frozenset(found.some) if found.all_known else None
            return RightAnswers(known, found.or_none, show_atom(found.some[0]), found.open)
        if not (found.all_known or found.or_none):
            raise OutOfBudgetError(found.open)
        return RightAnswers(frozenset[Atom]() if found.all_known else None, True, "none")

    return Kind(asks, right_when, judge, key)


def _judged(elements: Iterable[Formula], why_wrong: Callable[[Atom], str]) -> Judged:
    undecided: OutOfBudgetError | None = None
    for element in dict.fromkeys(elements):
        atom, is_said = as_atom(element)
        try:
            if wrong := why_wrong(atom) if is_said else show_formula(element):
                return Judged.of(False, wrong)
        except OutOfBudgetError as end:
            undecided = end
    if undecided:
        raise undecided
    return Judged.of(True)


def picks_among(candidates: Iterable[Atom], is_right: Callable[[Atom], bool], only_one: str = "") -> Picks:
    """Those of the candidates that are right; ``only_one``, why the first of them is enough.

    ``is_right`` raises ``OutOfBudgetError`` where it is not decided.
    """
    found: list[Atom] = []
    undecided = ""
    for number, candidate in enumerate(candidates):
        if number == MOST_CANDIDATES:
            undecided = f"more than {MOST_CANDIDATES:,} candidates"
            break
        try:
            if is_right(candidate):
                found.append(candidate)
                if only_one:
                    return Picks((candidate,), False, only_one)
        except OutOfBudgetError as end:
            undecided = undecided or str(end)
            if isinstance(or_undecided(lambda: spend(WORK_PER_LOOK)), Undecided):  # the row's own budget has ended
                break
    return Picks(tuple(found), not undecided, undecided)


def fewest_terms_first(candidates: Iterator[Atom]) -> Iterator[Atom]:
    """The candidates, first those that name an object twice: where searches are needed, these are rarely reachable.

    Only as many as may be tried are brought into that order: 20,000 blocks have 400 million atoms.

    >>> list(fewest_terms_first(iter([("on", "a", "b"), ("on", "a", "a")])))
    [('on', 'a', 'a'), ('on', 'a', 'b')]
    """
    first = islice(candidates, MOST_CANDIDATES)
    return chain(sorted(first, key=lambda each: len({*each}) - len(each)), candidates)
