"""Plans out of text: the notations in which people and models write action sequences, inside raw model answers.

A plan is a tuple of steps. A step is an action or, as on GAICo's page, a set of concurrent actions: ``{a, b}``, also
``{a}`` and ``{}``, which are other things than the bare ``a`` and no step. What a text says beside its plan (prose,
numbers, comments) is skipped. One rule holds for all notations: what should be a step and cannot be read whole is not
read at all and is reported with its place; inside of a plan it is the plan's ``damage``, and so is, before and behind
it, what begins like a step. Prose that quotes actions is counted (``skipped``). Thoughts and end tokens are no answer,
and of several drafts (``drafts``) one is read. Nothing here knows whether a plan can be executed.

What stands in ``<plan>``, ``<answer>``, ``[PLAN]`` or ``\\boxed{}`` is the answer, where that holds a plan.

Records (``records``: YAML, fields, tables with a header) become lines first, where no other steps stand beside them.
Notations, tried in this order; the first that yields a step is the text's notation:

1. *Items*: nothing but actions and braces, apart by commas or line breaks: ``take(a), {x(p), y}, (drop a)``.
2. *JSON*: the first list of ``{"name", "args", "id"}`` objects (T-Eval), sorted by ``id`` where all have one; named
   arguments become ``key=value`` in the order of their keys, or take the order of the parameters whose names they
   have, where the operators are known. Objects one a line, as tools are called, are such a list. Else a list of
   strings with steps (known operators need no parentheses), or of lists of names. Python's quotes, tuples and
   constants are read too. Or the text of a key: ``{"plan": "(a)"}``.
3. *A fence*: the first Markdown fence that holds a step and no PDDL definition; its lines are read as in 4. Another
   fence is another draft, or goes on with it; a step that only the text outside holds is reported as not read.
4. *Lines*: each line of items, after a bullet, a number, a time or a label (``2.``, ``Step 2:``, ``0.000:``, ``The
   plan is:``), signs, tags, mark-up or what cannot be seen (``decoration``), and before a comment. Commas, arrows,
   linking words, numbers and ``;`` right behind an action separate items; blanks only items of one notation. A
   comment needs a mark (``;``, a dash, a colon …) where the line is neither numbered nor bulleted nor in a fence;
   one that is nothing but actions is reported, one that quotes actions is counted, and is damage where the line is
   the whole plan. ``. Then``, ``. Next`` and such between actions begin no comment. A bare name is an action between
   separators, and on a line of its own where all lines are alike and none is prose. Times order the steps, and lines
   with equal times (``0: (a)``, ``0: (b)``) are one concurrent step, as in a planner's output. A line that begins with
   a parenthesis, or with the name of an action and no sentence, is damage. Lines that begin otherwise are prose, and
   so are those whose label, or the label above them, speaks of states, goals, preconditions or effects.
5. *Sentences*: ``take(a)`` anywhere in the text, and ``(take a)`` where it is emphasised, quoted or marked as code.
6. *Lines without parentheses*, ``2. take a``, where the operators are known and no line that begins with one is prose;
   also ``take a, drop b`` and ``take a -> drop b``, where each has its number of arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import accumulate, islice, pairwise

from pddl_eval.definition import words
from pddl_eval.definition.pddl.drafts import too_long, without_thinking
from pddl_eval.definition.pddl.patterns import deferred, re
from pddl_eval.definition.plans.decoration import undecorated, visible
from pddl_eval.definition.plans.found import (
    MAX_UNREAD,
    Damage,
    Operators,
    Plan,
    ReadPlan,
    Unread,
    actions_of,
    by_parameters,
    chosen,
    names_of,
    without_finish,
)
from pddl_eval.definition.plans.json import read_json, text_here
from pddl_eval.definition.plans.lines import (
    MAX_ACTIONS,
    in_parentheses,
    in_quotes,
    quoting,
    read_lines,
    read_sentences,
)
from pddl_eval.definition.plans.records import as_lines
from pddl_eval.errors import UserError, did_you_mean
from pddl_eval.shown import quote

MAX_MARKED = 20
"""Pairs of marks such as ``<answer>`` that are read."""

EMPTY = words.empty_answer()
NO_ANSWER = words.no_answer()
NO_OPERATOR = "no step names an operator of the domain"

_EMPTY_PLAN = deferred(r"(?:[\s,]|```\w*+|;[^\n]*+)*+(?P<list>(?:\[[\s,]*+\]|\(\s*+\)|[\s,]|```\w*+|;[^\n]*+)*+)")
"""Comments and fences, and the empty list where there is nothing to do."""
_END_OF_LINE = deferred(r"(?<!\\)\\++(?=[ \t]*+(?:\n|\Z))")
_PLAN_HEAD = deferred(
    r"\((?:define[ \t]++\(plan(?:[ \t]++[\w.-]++)?+[ \t]*+\)|(?:define[ \t]++\()?+:?(?:plan|steps|actions)(?=\s*+\())",
    re.IGNORECASE,
)
_MARKS = deferred(
    r"""(?P<opens><(?:(?:final[_ ]?)?(?:answer|plan)|solution|output)> | \[(?:\w++[ ])?PLAN\])
    | </(?:(?:final[_ ]?)?(?:answer|plan)|solution|output)>
    | \[(?:\w++[ ])?PLAN[ _]END\] | \[/PLAN\] | \[END(?:[ ]OF)?[ ]PLAN\]
    | (?P<boxed>\\boxed\{(?:\\text\{)?(?P<inside>(?:[^{}]|\{[^{}]*+\})*+)\}\}?)""",
    re.VERBOSE | re.IGNORECASE,
)
_TEXT_OF_PLAN = deferred(r"""["'](?:\w*_)?(?:plan|steps|actions|answer|solution)["']\s*+:\s*+(?=")""", re.IGNORECASE)


class PlanError(UserError):
    """A plan that has to be there is missing or cannot be read; the message is one sentence."""


def read_plan(text: str | None, answer: str = "first", operators: Operators | None = None) -> ReadPlan:
    """Find the plan in a raw answer; in time linear in the text, and without exceptions, whatever the text.

    ``answer`` says which of several drafts counts, the ``first`` or the ``last``; what stands in thinking marks never
    does. ``operators`` are those of the domain, where it is known, with the names of their parameters: a text of which
    no step names one of them holds no plan, and arguments that are named so are put in the parameters' order. Raises
    ``OutOfBudgetError`` where the row's budget ends.

    >>> read_plan("Sure: take(A), move(l1, l2), {x(p), y}").steps[:2]
    (('take', 'a'), ('move', 'l1', 'l2'))
    >>> read_plan("1. (pick a b)\\n2. pick the other one").reason
    "not read: line 2, column 1: '2. pick the other one'"
    >>> read_plan("1. (pick a)\\nFinal plan:\\n1. (pick b)", answer="last").steps
    (('pick', 'b'),)
    """
    if text is None:
        return ReadPlan((), reason=NO_ANSWER, found=False)
    if long := too_long(text):
        return ReadPlan((), reason=long, found=False)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = visible(without_thinking(text))
    if (empty := _EMPTY_PLAN.fullmatch(text)) is not None:
        said = any(bracket in empty["list"] for bracket in "[(")
        return ReadPlan(()) if said else ReadPlan((), reason=EMPTY, found=False)
    read = _read_marked(text, answer, operators)
    if not read or not read.steps:
        places = read.unread if read else (Unread.in_text(text, len(text) - len(text.lstrip())),)
        return ReadPlan((), places, words.no_action(place=str(places[0])), found=False)
    if len(steps := without_finish(read.steps)) < len(read.steps):
        read = read._replace(steps=steps)
    if operators and read.steps and not _name_operator(read.steps, operators):  # atoms in a refusal are no plan
        name = min(actions_of(read.steps[0]), default=("",))[0]
        known = did_you_mean(name, operators, "operators")
        reason = f"{NO_OPERATOR}: {quote(name)}; {known}"
        return ReadPlan((), reason=reason, found=False, several=read.several, skipped=read.skipped)
    if operators:
        read = read._replace(steps=tuple(by_parameters(step, operators) for step in read.steps))
    return _bounded(read, len(text))


def _read_marked(text: str, answer: str, operators: Operators | None) -> ReadPlan | None:
    """The plan inside of marks such as ``<answer>``, else that of the whole text."""
    if "\\" in text:
        text = _END_OF_LINE.sub(lambda end: " " * len(end[0]), text)
    text = _PLAN_HEAD.sub(lambda head: ("(" * (head[0].count("(") - head[0].count(")"))).ljust(len(head[0])), text)
    if marks := [*_MARKS.finditer(text)]:
        whole = _MARKS.sub(lambda mark: (mark["inside"] or "").rjust(len(mark[0])), text)
        for boxed in (False, True):
            group = [mark for mark in marks if bool(mark["boxed"]) == boxed]
            parts = (_read(inside, answer, operators) for inside in _marked(text, group))
            held = [found for found in parts if found and found.steps]
            if boxed and max((len(found.steps) for found in held), default=0) == 1:
                steps = _read(whole, answer, operators)
                if steps and len(steps.steps) > 1 and not steps.several:  # the box is around one of the steps
                    return steps
            if held:
                plan = chosen(held, answer)
                around = _around(text, group).split("\n")
                return plan._replace(skipped=plan.skipped + quoting(around, operators or names_of(plan.steps)))
        text = whole
    return _read(text, answer, operators)


def marked_texts(text: str) -> list[str]:
    """What stands in ``<answer>``, ``[PLAN]`` and such, else in ``\\\\boxed{}``; nothing where there are no such marks.

    >>> marked_texts("So <answer>(a)</answer>, or <answer>(b)</answer>"), marked_texts("(a)")
    (['(a)', '(b)'], [])
    """
    marks = [*_MARKS.finditer(text)]
    groups = ([mark for mark in marks if bool(mark["boxed"]) == boxed] for boxed in (False, True))
    return next(([text[start:end] for start, end in _spans(text, group)] for group in groups if group), [])


def _marked(text: str, marks: Iterable[re.Match[str]]) -> list[str]:
    """What each pair of marks holds, lines and columns as in the text; a mark without its pair goes to the end."""
    return ["\n" * text.count("\n", 0, start) + text[start:end] for start, end in _spans(text, marks)]


def _around(text: str, marks: Iterable[re.Match[str]]) -> str:
    """What no pair of marks holds."""
    spans = _spans(text, marks)
    return "".join(text[end:start] for (_, end), (start, _) in pairwise([(0, 0), *spans, (len(text), 0)]))


def _spans(text: str, marks: Iterable[re.Match[str]]) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    opened, closed = -1, 0
    for mark in marks:
        if mark["boxed"]:
            spans.append(mark.span("inside"))
        elif mark["opens"]:
            opened = mark.end()
        else:
            spans.append((max(opened, closed), mark.start()))
            opened, closed = -1, mark.end()
        if len(spans) > MAX_MARKED:
            break
    if opened >= 0:
        spans.append((opened, len(text)))
    return spans


def _read(text: str, answer: str, operators: Operators | None) -> ReadPlan | None:
    if records := as_lines(text, operators):
        lines, rest = records
        beside = read_json(rest, answer, operators) or read_lines(undecorated(rest, operators or ()), answer, operators)
        actions = [action for step in (beside.steps if beside else ()) for action in actions_of(step)]
        if not any(len(action) > 1 or action[0] in (operators or ()) for action in actions):
            text = lines
    found = read_json(text, answer, operators)
    if operators and not (found and _name_operator(found.steps, operators)):
        quoted = in_quotes(text, operators)
        found = (quoted != text and read_json(quoted, answer, operators)) or found
    if found and found.steps:
        return found
    keys = () if found else islice(_TEXT_OF_PLAN.finditer(text), MAX_MARKED)
    texts = (text_here(text, key.end()) for key in keys)
    held = [inner for said in texts if said and (inner := _read(said, answer, operators)) and inner.steps]
    if held:  # {"plan": "(a)\n(b)"}
        return chosen(held, answer)
    plain = undecorated(text, operators or ())
    found = found or read_lines(plain, answer, operators) or read_sentences(text, answer, operators)
    if operators and not (found and _name_operator(found.steps, operators, all)):
        bare = in_parentheses(plain, operators)
        read = read_lines(bare, answer, operators) if bare else None
        is_other = not (found and _name_operator(found.steps, operators))
        if read and read.steps and (is_other or _name_operator(read.steps, operators, all)):  # `take,a,b` a line
            return read
    return found


def _name_operator(steps: Plan, operators: Operators, some: Callable[[Iterable[bool]], bool] = any) -> bool:
    """True where some step of the plan, or with ``all`` each of them, names an operator."""
    return bool(steps) and some(action[0] in operators for step in steps for action in actions_of(step))


def _bounded(read: ReadPlan, characters: int) -> ReadPlan:
    """The plan within ``MAX_ACTIONS``, and the reason in full."""
    kept = len(read.steps)
    if characters > MAX_ACTIONS:  # fewer cannot hold more actions
        actions = accumulate(max(1, len(actions_of(step))) for step in read.steps)
        kept = sum(number <= MAX_ACTIONS for number in actions)
    reasons, damage, unread = [read.reason] if read.reason else [], read.damage, read.unread
    if kept < len(read.steps):
        reasons.insert(0, f"only the first {kept:,} steps were read: more have over {MAX_ACTIONS:,} actions")
        damage = damage if damage and damage.steps_before < kept else Damage(kept, "it is beyond the limit")
    if unread:
        more = f" and {'at least ' * (len(unread) >= MAX_UNREAD)}{len(unread) - 1} more" if len(unread) > 1 else ""
        reasons.append(words.not_read(f"{unread[0]}{more}"))
    if damage and damage.steps_before > kept:  # behind a FinishAction
        damage = Damage(kept, damage.place)
    steps, unread = read.steps[:kept], unread[:MAX_UNREAD]
    return ReadPlan(steps, unread, "; ".join(reasons), True, damage, read.several, read.skipped)
