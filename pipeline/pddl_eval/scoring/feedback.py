"""What to tell the model that wrote an answer: what is wrong, where, and what would be right, in one bounded text.

Faults of an answer by itself (``scoring.findings``) know no reference. Of the comparison with one only the verdict's
name comes in, so two references that lead to the same verdict give the same feedback. What differs
is said where it is asked for (``reveal``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from typing import Any

from pddl_eval import kernel
from pddl_eval.columns import PAIRS
from pddl_eval.definition.metrics import Row, domain_of
from pddl_eval.definition.options import ANSWERS, ScoringOptions
from pddl_eval.definition.pddl import DEFINE_DOMAIN, DEFINE_PROBLEM, too_long, without_thinking
from pddl_eval.definition.verdict import DomainVerdict, Judgement, PlanVerdict, Verdict
from pddl_eval.errors import UserError, did_you_mean
from pddl_eval.scoring.budget import row_budget
from pddl_eval.scoring.findings import MAX_ISSUES, Check, Issue, Kind, bare_text, findings, place_of
from pddl_eval.scoring.texts import answer_text
from pddl_eval.shown import line

LEVELS = ("verdict", "first", "all")
"""How much is said: what is wrong in a few words; also the first issue; all issues."""

REVEALED = ("nothing", "difference")
"""What is said of the reference."""

SECONDS = 5.0
"""Processor time of the checks, and again of the comparison."""

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

    def __str__(self) -> str:
        return self.text


def feedback(  # noqa: PLR0913 (the columns of a row, and how much is said)
    answer: Any,
    reference: str | None = None,
    *,
    kind: str = "problem",
    problem: str | None = None,
    domain: str | None = None,
    question: str | None = None,
    plan: str = "",
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
    * ``question``, ``plan``: with ``kind`` ``answer``, what is asked of the ``problem``, as in ``judge_answer``. It is
      said what is wrong, and how much is missing;
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
    for name, value, known in (
        ("kind", kind, PAIRS),
        ("level", level, LEVELS),
        ("reveal", reveal, REVEALED),
        ("drafts", drafts, ANSWERS),
    ):
        if value not in known:
            raise UserError(f"{name} cannot be {value!r}; {did_you_mean(str(value), known)}")
    text = answer_text(answer)
    if kind == "answer":
        asked = {"question": question, "plan": plan, "reference_problem": problem, "reference_answer": reference}
        options = ScoringOptions(domain=domain, answer=drafts, row_seconds=seconds)
        return _of_answer({**asked, "generated_answer": text}, options, level, reveal)
    found = findings(kind, text, reference, problem, domain, domain, is_placeholder, drafts, seconds)
    return _told(kind, text, *found, level, reveal, drafts)


def _told(  # noqa: PLR0913 (what is found, and how much of it is told)
    kind: str,
    text: str | None,
    faults: Sequence[Issue],
    compared: Issue | None,
    level: str = "all",
    reveal: str = "nothing",
    drafts: str = "first",
) -> Feedback:
    """What is told of the faults of an answer, and of what differs from its reference."""
    errors = [fault for fault in faults if fault.is_error]
    wrong = compared or (errors[0] if errors else None)
    if wrong is not None and wrong.check == Verdict.REFERENCE_INVALID:
        raise UserError(wrong.says)
    check = wrong.check if wrong else PlanVerdict.VALID if kind == "plan" else None
    if compared is not None:
        ok = _is_right(compared.check)
        # Whether the domain is the right one, the reference knows.
        faults = [fault for fault in faults if fault.check is not Check.UNKNOWN_DOMAIN]
        faults = _with_verdict(compared, faults, reveal)
    else:
        ok = not errors or (None if all(_is_right(each.check) is None for each in errors) else False)
    faults = sorted(faults, key=lambda fault: not fault.is_error)
    shown = faults[: {"verdict": 0, "first": 1, "all": MAX_ISSUES}[level]]
    issues = tuple(_issues(shown, "" if too_long(text or "") else text or "", kind, drafts))
    headline = (
        f"The {kind} was not decided." if ok is None else f"The {kind} is wrong: {check.meaning if check else ''}."
    )
    if ok:
        headline = "The plan is valid." if kind == "plan" and compared is None else f"The {kind} is right."
        headline = headline if check else f"Nothing is wrong with the {kind} by itself."
    return Feedback(ok, str(check or NO_FAULT), _text(headline, issues, len(faults) - len(issues)), issues)


def _of_answer(row: Row, options: ScoringOptions, level: str = "all", reveal: str = "nothing") -> Feedback:
    """What is told of an answer to a question."""
    with row_budget(options.row_seconds):
        found = kernel.read_answer(row, options).verdict
    if found.verdict is Judgement.REFERENCE_INVALID:
        raise UserError(found.detail)
    said = found.detail if reveal == "difference" else found.told
    issues = (
        (Issue(found.verdict, line(said, MAX_SENTENCE)),) if said and not found.correct and level != "verdict" else ()
    )
    ends = {True: "is right", None: "was not decided", False: f"is wrong: {found.verdict.meaning}"}
    return Feedback(found.correct, found.verdict.value, _text(f"The answer {ends[found.correct]}.", issues, 0), issues)


NO_FAULT = "no_fault"
"""The verdict on an answer without a reference with which nothing is wrong."""


def _is_right(check: Kind) -> bool | None:
    return None if check == Verdict.UNDECIDED else not isinstance(check, Check) and check.right


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
        text = answer_text(row[f"generated_{kind}"])
        settings = (bool(row.get("is_placeholder")), options.answer, options.row_seconds)
        try:
            if kind == "answer":
                texts.append(_of_answer({**row, "generated_answer": text}, options).text)
                continue
            found = findings(kind, text, row.get(f"reference_{kind}"), solved, known, domain, *settings)
            texts.append(_told(kind, text, *found, "verdict" if hides else "all", drafts=options.answer).text)
        except UserError as error:
            mistake = error
    if mistake is not None and not texts:
        raise mistake
    return "\n\n".join(texts) or None
