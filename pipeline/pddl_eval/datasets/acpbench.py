"""ACPBench and ACPBench Hard: their questions, as published and as harnesses log them (Kokel et al. 2025).

A question has a ``group`` (``landmarks_gen``), a ``context`` and a ``question`` in words, an ``answer``, and in
ACPBench Hard (``…_gen``) its domain and problem in PDDL. The actions that it is about stand in the question's words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pddl_eval.datasets.lines import Damaged, json_object
from pddl_eval.datasets.logs import WHOLE_BYTES, Answer, as_id, as_list, as_mapping, identity_of
from pddl_eval.datasets.places import DatasetError, Location, dataset_errors

GROUPS = {
    "applicable_actions": "applicable",
    "progression": "progression",
    "validation": "executability",
    "reachable_atom": "unreachable_atom",
    "reachable_action": "unreachable_action",
    "action_justification": "justification",
    "landmarks": "landmark",
    "goal_closer": "next_action",
}
"""What the groups of ACPBench Hard ask, by the names of DESIGN.md, section 12."""

FORMS = {"bool": "yes_no", "mc": "multiple_choice", "mcq": "multiple_choice"}
"""The other forms of a group's questions: their recorded answer is the key."""

PUBLISHED = tuple(f"*.{form}.json*" for form in ("gen", "bool", "mcq"))
"""What its files are called."""

_ASKED = ("question", "inputs", "input")
"""Where a question's words are: as published, in records of lm-evaluation-harness also, in logs of Inspect."""

_TASK = re.compile(r"(?:^|[/_])acp_[a-z]+_(bool|mcq)")
_ACTION = re.compile(r"\([^()]*\)")


def read_acpbench(place: Location, on: Sequence[str]) -> Iterator[Answer]:
    """The questions in a published file (a JSON array, also compressed), each answered as it is recorded there."""
    with dataset_errors(place, "read"), place.filesystem.open_input_stream(place.path) as stream:
        content = stream.read(WHOLE_BYTES + 1)
    try:
        if len(content) > WHOLE_BYTES:
            raise Damaged(f"has more than {WHOLE_BYTES:,} bytes")
        found = as_list(json_object(b'{"questions":%s}' % content)["questions"])
    except Damaged as error:
        raise DatasetError(f"{place} is no file of ACPBench's questions: it {error}.") from None
    for question in map(as_mapping, found):
        about = asked(question)
        text = about.get("reference_answer")
        why = "no question of ACPBench" if not about else None if text is not None else "no answer is recorded"
        group = as_id(question.get("group"))
        yield Answer(identity_of(question, on, None), "recorded answer", group, 1, text, why, None, question)


def asked(question: Mapping[str, Any], task: str | None = None, target: str | None = None) -> dict[str, Any]:
    """What a question asks, in the columns of DESIGN.md, section 12; empty for what is none of ACPBench.

    A log of Inspect names the form of a yes/no or multiple-choice question in its task; its target is the answer.

    >>> asked({"group": "validation_gen", "question": 'What is the first inapplicable action in: "(a) (b x)"?',
    ...        "answer": 1, "context": "Two blocks.", "PDDL_domain": "(define …)", "PDDL_problem": "(define …)"})
    ... # doctest: +NORMALIZE_WHITESPACE
    {'question': 'executability', 'plan': '(a)\\n(b x)', 'reference_answer': '1', 'reference_problem': '(define …)',
     'domain': '(define …)', 'question_text': 'Two blocks. What is the first inapplicable action in: "(a) (b x)"?'}
    >>> asked({"group": "landmarks_bool", "question": "Is (on a b) a landmark?", "answer": "no"})["question"]
    'yes_no'
    """
    group, _, form = str(question.get("group")).rpartition("_")
    said = [question.get("context"), next(filter(None, map(question.get, _ASKED)), None)]
    words = " ".join(each for each in said if isinstance(each, str))
    if named := None if group in GROUPS else _TASK.search(task or ""):
        form = named[1]
    elif group not in GROUPS or (form != "gen" and form not in FORMS):
        return {}
    if form in FORMS:
        key = question.get("answer", target)
        return _texts(question=FORMS[form], reference_answer=key, question_text=words)
    kind = GROUPS[group]
    quoted = re.search(r'"([^"]*)"|\[([^\]]*)\]', str(said[1]))
    plan = quoted[0].strip('"[]') if quoted else ""
    if kind != "progression":  # Its action is in words only.
        plan = "\n".join(_ACTION.findall(plan))
    return _texts(
        question=kind,
        plan=plan,
        reference_answer=_recorded(kind, question.get("answer"), plan.splitlines()),
        reference_problem=question.get("PDDL_problem"),
        domain=question.get("PDDL_domain"),
        question_text=words,
    )


def _texts(**values: Any) -> dict[str, str]:
    return {name: value for name, value in values.items() if isinstance(value, str)}


def _recorded(kind: str, answer: Any, plan: list[str]) -> str | None:
    """A recorded answer as a text: where any of several is right, the first of them."""
    if isinstance(answer, dict) and "pos" in answer:
        made, unmade = (", ".join(map(str, as_list(answer.get(each)))) for each in ("pos", "neg"))
        return f"Positive effects: [{made}]\nNegative effects: [{unmade}]"
    if not isinstance(answer, (dict, list)):
        return as_id(answer)
    texts = as_list(answer.get("yes") if isinstance(answer, dict) else answer)
    if kind == "justification":
        return "\n".join(_without(texts[0], plan)) if texts else "none"
    # An unreachable atom is recorded without its parentheses.
    texts = [each if str(each).startswith("(") else f"({each})" for each in texts]
    return "\n".join(map(str, texts if kind == "applicable" else texts[:1])) or "none"


def _without(removed: Any, plan: list[str]) -> list[str]:
    """The plan without an action, whose occurrence is counted from 1, or without a pair of consecutive ones (-1).

    >>> _without(["(a)", "2"], ["(a)", "(b)", "(a)"]), _without(["(A)", "(b)", "-1"], ["(a)", "(c)", "(a)", "(b)"])
    (['(a)', '(b)'], ['(a)', '(c)'])
    """
    *actions, number = map(str, as_list(removed) or [""])
    low = [each.lower() for each in actions]
    starts = [at for at in range(len(plan)) if [each.lower() for each in plan[at : at + len(low)]] == low]
    which = int(number) - 1 if re.fullmatch(r"[1-9][0-9]{0,8}", number) else 0
    at = starts[which] if which < len(starts) else len(plan)
    return plan[:at] + plan[at + len(low) :]
