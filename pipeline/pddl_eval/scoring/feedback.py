"""What to tell the model that wrote an answer: what is wrong, where, and what would be right, in one bounded text.

All but the verdict is said by ``scoring.checks``, which never sees a reference. Of the comparison with a reference
only the verdict's name comes in, so two references that lead to the same verdict give the same feedback. What differs
is said where it is asked for (``reveal``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise, zip_longest
from typing import Any

from pddl_eval.columns import PAIRS
from pddl_eval.definition.budget import OutOfBudgetError, or_undecided
from pddl_eval.definition.domains import chosen_domain
from pddl_eval.definition.metrics import DomainPair, Row, domain_of, given, verdict_without_plan
from pddl_eval.definition.model import show_atom
from pddl_eval.definition.options import ANSWERS, ScoringOptions
from pddl_eval.definition.pddl import DEFINE_DOMAIN, DEFINE_PROBLEM, too_long, without_thinking
from pddl_eval.definition.plans import Step, actions_of, read_plan
from pddl_eval.definition.task import executed_in
from pddl_eval.definition.verdict import DomainVerdict, PlanVerdict, Undecided, Verdict
from pddl_eval.errors import UserError, did_you_mean
from pddl_eval.scoring.budget import row_budget
from pddl_eval.scoring.checks import (
    Check,
    Issue,
    Kind,
    bare_text,
    domain_faults,
    place_of,
    plan_faults,
    problem_faults,
)
from pddl_eval.scoring.texts import answer_text
from pddl_eval.shown import line

LEVELS = ("verdict", "first", "all")
"""How much is said: what is wrong in a few words; also the first issue; all issues."""

REVEALED = ("nothing", "difference")
"""What is said of the reference."""

SECONDS = 5.0
"""Processor time of the checks, and again of the comparison."""

MAX_ISSUES = 20

MAX_SENTENCE = 300
"""Characters of what an issue says, of its advice and of its words."""

MAX_TEXT = 4_000
"""Characters of a text."""

MOST_STEPS, MOST_CHARACTERS = 50_000, 500
"""Equal actions of a plan, and characters of an expression, that are looked for in an answer."""


@dataclass(frozen=True, slots=True)
class Feedback:
    """What to tell the model that wrote an answer: ``text``, and the same as ``issues``.

    ``ok``: the answer is right or, where there is no reference, nothing is wrong with it by itself; None where a limit
    was hit first. ``verdict`` names what is wrong, or what is right.

    >>> found = feedback("(pickup a)", kind="plan", problem="(define (problem p) (:domain blocksworld) (:objects a)"
    ...                  "(:init (clear a) (on-table a) (arm-empty)) (:goal (holding a)))")
    >>> found.ok, found.text, found.issues
    (True, 'The plan is valid.', ())
    """

    ok: bool | None
    verdict: str
    text: str
    issues: tuple[Issue, ...]


def feedback(  # noqa: PLR0913 (the columns of a row, and how much is said)
    answer: Any,
    reference: str | None = None,
    *,
    kind: str = "problem",
    problem: str | None = None,
    domain: str | None = None,
    is_placeholder: bool = False,
    level: str = "all",
    reveal: str = "nothing",
    drafts: str = "first",
    seconds: float = SECONDS,
) -> Feedback:
    """What to tell the model that wrote an answer, so that it can repair it.

    * ``answer``: the raw text of a model, or a chat, whose last message counts;
    * ``reference``: what the answer should be, if that is known: a PDDL problem, or with ``kind`` ``plan`` or
      ``domain`` one of these. A plan with a ``problem`` needs none;
    * ``problem``: a PDDL text that the prompt has: what the plan has to solve, or a problem for the domain to be
      written;
    * ``domain``: the domain that the prompt has, a known name or a PDDL text; default: the one that is named;
    * ``is_placeholder``: as in ``compare_problems``;
    * ``level``: how much is said: ``verdict``, also the ``first`` issue, or ``all``;
    * ``reveal``: what is said of the reference: ``nothing`` beyond the verdict, or the first ``difference``. The
      ``domain`` and the ``problem`` are known to the model;
    * ``drafts``: which of several drafts is read, ``first`` or ``last``;
    * ``seconds``: processor time of the checks, and again of the comparison.

    No answer raises. Raises ``UserError`` where the reference, the problem or the domain cannot be used, a plan has
    neither problem nor reference, or a setting has another value.

    >>> answer = "(define (problem p) (:domain gripper) (:objects b) (:init (ball b)) (:goal (and (carry b g))))"
    >>> found = feedback(answer)
    >>> found.ok, found.verdict, found.issues[0].column, found.issues[0].words
    (False, 'undeclared_object', 81, '(carry b g)')
    """
    ScoringOptions(row_seconds=seconds)  # raises where it is no number above 0
    return _told(
        answer_text(answer), reference, kind, problem, domain, domain, is_placeholder, level, reveal, drafts, seconds
    )


def _told(  # noqa: PLR0913 (as feedback)
    text: str | None,
    reference: str | None,
    kind: str,
    problem: str | None,
    domain: str | None,
    compared_in: str | None,
    is_placeholder: bool,
    level: str,
    reveal: str,
    drafts: str,
    seconds: float,
) -> Feedback:
    """As ``feedback``; the comparison is in a domain that may be secret."""
    for name, value, known in (
        ("kind", kind, PAIRS),
        ("level", level, LEVELS),
        ("reveal", reveal, REVEALED),
        ("drafts", drafts, ANSWERS),
    ):
        if value not in known:
            raise UserError(f"{name} cannot be {value!r}; {did_you_mean(str(value), known)}")
    sources: Mapping[str, Callable[[], Iterable[Issue]]] = {
        "problem": lambda: problem_faults(text, chosen_domain(domain) if domain else None, drafts),
        "plan": lambda: plan_faults(text, executed_in(problem, domain), drafts) if problem is not None else (),
        "domain": lambda: domain_faults(text, problem, drafts),
    }
    long = too_long(text or "")
    faults: list[Issue] = [Issue(_UNREAD[kind], long)] if long else []
    with row_budget(seconds):
        try:
            faults += () if long else _bounded(sources[kind]())
        except OutOfBudgetError as end:
            faults.append(Issue(Verdict.UNDECIDED, str(end)))
    compares = given(reference) and not (kind == "plan" and problem is not None)
    if compares:
        with row_budget(seconds):
            compared = _COMPARED[kind](str(reference), text, compared_in, is_placeholder, drafts)
        if compared.check == Verdict.REFERENCE_INVALID:
            raise UserError(compared.says)
        # Whether the domain is the right one, the reference knows.
        faults = [fault for fault in faults if fault.check is not Check.UNKNOWN_DOMAIN]
        faults = _with_verdict(compared, faults, reveal)
        check: Kind | None = compared.check
        ok = _is_right(compared.check)
    elif kind == "plan" and problem is None:
        raise UserError("a plan needs the problem that it has to solve, or a reference")
    else:
        errors = [fault for fault in faults if fault.is_error]
        if errors and errors[0].check == Verdict.REFERENCE_INVALID:
            raise UserError(errors[0].says)
        check = errors[0].check if errors else PlanVerdict.VALID if kind == "plan" else None
        ok = not errors or (None if all(_is_right(each.check) is None for each in errors) else False)
    faults.sort(key=lambda fault: not fault.is_error)
    shown = faults[: {"verdict": 0, "first": 1, "all": MAX_ISSUES}[level]]
    issues = tuple(_issues(shown, "" if long else text or "", kind, drafts))
    headline = (
        f"The {kind} was not decided." if ok is None else f"The {kind} is wrong: {check.meaning if check else ''}."
    )
    if ok:
        headline = "The plan is valid." if kind == "plan" and not compares else f"The {kind} is right."
        headline = headline if check else f"Nothing is wrong with the {kind} by itself."
    return Feedback(ok, str(check or NO_FAULT), _text(headline, issues, len(faults) - len(issues)), issues)


def _bounded(faults: Iterable[Issue]) -> Iterator[Issue]:
    """The first errors and the first warnings: many warnings hide no error."""
    counts = {True: 0, False: 0}
    for fault in faults:
        counts[fault.is_error] += 1
        if counts[fault.is_error] <= MAX_ISSUES:
            yield fault
        if counts[True] == MAX_ISSUES:
            return


NO_FAULT = "no_fault"
"""The verdict on an answer without a reference with which nothing is wrong."""

_UNREAD: Mapping[str, Kind] = {
    "problem": Verdict.UNPARSEABLE,
    "plan": PlanVerdict.UNREADABLE,
    "domain": DomainVerdict.UNPARSEABLE,
}


def _is_right(check: Kind) -> bool | None:
    return None if check == Verdict.UNDECIDED else not isinstance(check, Check) and check.right


# What differs from the reference


def _problem(reference: str, answer: str | None, domain: str | None, is_placeholder: bool, drafts: str) -> Issue:
    from pddl_eval import kernel  # here: what needs no kernel imports no Arrow

    found = kernel.score_problem_pair(reference, answer, is_placeholder, domain, check_solvable=False, answer=drafts)
    assert found.verdict is not None
    return Issue(found.verdict, found.detail)


def _domain(reference: str, answer: str | None, _domain: str | None, _placeholder: bool, drafts: str) -> Issue:
    pair = DomainPair(reference, answer, options=ScoringOptions(answer=drafts))
    decision = or_undecided(lambda: pair.decision)
    if isinstance(decision, Undecided):
        return Issue(DomainVerdict.UNDECIDED, decision.reason)
    return Issue(decision.verdict, decision.detail)


def _plan(reference: str, answer: str | None, _domain: str | None, _placeholder: bool, drafts: str) -> Issue:
    theirs, ours = read_plan(reference), read_plan(answer, drafts)
    if not theirs.found:
        raise UserError(f"the reference plan is missing: {theirs.reason}")
    if not ours.found:
        return Issue(verdict_without_plan(ours.reason), ours.reason)
    if ours.damage is not None:
        return Issue(PlanVerdict.UNREADABLE, f"a step cannot be read, {ours.damage.place}")
    steps = zip_longest(theirs.steps, ours.steps)
    for number, (expected, step) in enumerate(steps, 1):
        if step != expected:
            return Issue(Check.PLAN_DIFFERS, f"step {number} is {_shown(step)} instead of {_shown(expected)}")
    return Issue(Verdict.IDENTICAL, "")


def _shown(step: Step | None) -> str:
    return "missing" if step is None else " ".join(map(show_atom, sorted(actions_of(step)))) or "{}"


_COMPARED = {"problem": _problem, "plan": _plan, "domain": _domain}

_ADVICE: Mapping[Kind, str] = {
    Verdict.OBJECT_COUNT: "count the objects of the task again",
    Verdict.TYPES_DIFFER: "compare the type of each object with the task",
    Verdict.INIT_DIFFERS: "compare :init with the task atom by atom: some are missing, or not in the task",
    Verdict.GOAL_DIFFERS: "compare the goal with the task: it asks for something else, for too much or for too little",
    Verdict.DOMAIN_MISMATCH: "write the name of the task's domain in (:domain …)",
    Verdict.UNSOLVABLE: "change :init or the goal so that a plan can reach the goal",
    DomainVerdict.OPERATOR_COUNT: "write one action for each that the task describes, and no other",
    DomainVerdict.OPERATORS_DIFFER: "compare preconditions and effects of each action with the task",
    DomainVerdict.TYPES_DIFFER: "compare the types of the parameters with the task",
    Check.PLAN_DIFFERS: "compare the steps with the task",
}


def _with_verdict(compared: Issue, faults: list[Issue], reveal: str) -> list[Issue]:
    """The faults that are told: of the comparison its name alone, unless more is to be revealed."""
    if _is_right(compared.check):
        return []
    if reveal == "difference":
        return [replace(compared, advice=_ADVICE.get(compared.check, "")), *faults]
    errors = [fault.check for fault in faults if fault.is_error]
    if errors and (compared.check not in _ADVICE or compared.check in errors):
        return faults
    return [*faults, Issue(compared.check, compared.check.meaning, _ADVICE.get(compared.check, ""))]


# Places and text


def _issues(faults: Iterable[Issue], answer: str, kind: str, drafts: str) -> Iterator[Issue]:
    text = without_thinking(answer.lower()) if kind == "plan" else bare_text(answer)
    opening = {"problem": DEFINE_PROBLEM, "domain": DEFINE_DOMAIN}.get(kind)
    starts = [found.start() for found in opening.finditer(text)] if opening else []
    start = starts[-1 if drafts == "last" else 0] if starts else 0
    for fault in faults:
        at = (fault.line, fault.column) if fault.line else _place(fault, text, start, kind) or (None, None)
        short = {name: line(getattr(fault, name), MAX_SENTENCE) for name in ("says", "advice", "words", "within")}
        yield replace(fault, line=at[0], column=at[1], **short)  # type: ignore[arg-type]


def _place(fault: Issue, text: str, start: int, kind: str) -> tuple[int, int] | None:
    """Where the words of a fault stand, or what it quotes; else where the part opens that it is in."""
    quoted = _QUOTED.search(fault.says)
    words = fault.words or (quoted[1].removesuffix("…") if quoted and not fault.within else "")
    part = _pattern(f"({fault.within}", kind).search(text, start) if fault.within else None
    if words:
        found = [*islice(_pattern(words, kind).finditer(text, part.start() if part else start), MOST_STEPS)]
        if -len(found) <= fault.nth < len(found):
            return place_of(text, found[fault.nth].start())
    if part:
        return place_of(text, part.start())
    named = _LINE.search(fault.says)
    return (int(named[1]), 1) if named else None


_QUOTED = re.compile(r"`([^`]++)`")
_LINE = re.compile(r"\bline (\d{1,9})")
_PIECE = re.compile(r"[()]|[^\s()]++")


def _pattern(words: str, kind: str) -> re.Pattern[str]:
    """What finds words however they are spaced; those of an action in any notation of plans.

    >>> bool(_pattern("(stack a b)", "plan").search('{"name": "stack", "args": ["a", "b"]}'))
    True
    """
    pieces = _PIECE.findall(words[:MOST_CHARACTERS])
    if kind == "plan":
        names = [re.escape(piece) for piece in pieces if piece not in "()"]
        between = r"[^\w-]++(?:args[^\w-]++)?+"
        return re.compile(rf"(?<![\w-]){between.join(names)}(?![\w-])")
    found = ""
    for before, piece in pairwise(["(", *pieces]):
        found += (r"\s*+" if "(" in (before, piece) or piece == ")" else r"\s++") * bool(found) + re.escape(piece)
    return re.compile(rf"(?<![^\s()]){found}(?![^\s()])" if pieces[0] != "(" else found)


def _text(headline: str, issues: Sequence[Issue], more: int) -> str:
    """The issues as a numbered list under a headline."""
    lines = [headline]
    for number, issue in enumerate(issues, 1):
        place = f"line {issue.line}, column {issue.column}: " if issue.line else ""
        perhaps = "" if issue.is_error else "perhaps wrong: "
        # The headline has said it where nothing but the verdict is told.
        said = issue.advice and not place and headline.endswith(f": {issue.says}.")
        parts = ("" if said else f"{place}{perhaps}{issue.says}", issue.advice)
        sentences = (_sentence(part) for part in parts if part)
        lines.append(f"{number}. {' '.join(sentences)}")
    while sum(map(len, lines)) > MAX_TEXT:
        lines.pop()
        more += 1
    return "\n".join([*lines, f"There is more to say ({more})."] if more and len(lines) > 1 else lines)


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}" + "." * (text[-1] not in ".?…")


def row_feedback(row: Row, options: ScoringOptions, only: str | None = None) -> str | None:
    """What to tell the model that answered in a row of a dataset, on each of its answers; None where there is none.

    What the row asks the model to write is secret with all that follows from it: where it has a ``generated_problem``,
    the reference problem, of which a plan is then called valid or not; and where it has a ``generated_domain``, the
    text of a domain. ``only`` names one of the pairs. Raises as ``feedback`` where nothing can be said.

    >>> print(row_feedback({"generated_plan": "(fly a)", "reference_plan": "(walk a)"}, ScoringOptions()))
    The plan is wrong: another plan.
    1. Compare the steps with the task.
    """
    own_domain, own_problem = "generated_domain" in row, "generated_problem" in row
    domain = domain_of(row, options)
    texts: list[str] = []
    mistake: UserError | None = None
    for kind in PAIRS if only is None else (only,):
        if f"generated_{kind}" not in row:
            continue
        solved = (row.get("reference_problem") or None) if kind == "plan" else None
        hides = kind == "plan" and (own_problem or own_domain)
        known = None if own_domain and kind == "problem" and "(" in (domain or "") else domain
        try:
            found = _told(
                answer_text(row[f"generated_{kind}"]),
                row.get(f"reference_{kind}"),
                kind,
                solved,
                known,
                domain,
                bool(row.get("is_placeholder")),
                "verdict" if hides else "all",
                "nothing",
                options.answer,
                options.row_seconds,
            )
            texts.append(found.text)
        except UserError as error:
            mistake = error
    if mistake is not None and not texts:
        raise mistake
    return "\n\n".join(texts) or None
