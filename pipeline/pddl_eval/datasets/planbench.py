"""PlanBench: its result files and responses, with the instances of its checkout (Valmeekam et al. 2023).

Read are plan generation (``task_1_….json``), plan verification (``task_3_…``), plan execution (``task_7_…``) and goal
reformulation (``task_8_…``). All but the first are asked and answered in words, which PlanBench's own templates turn
into PDDL.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from pddl_eval.datasets.logs import Answer, as_id, as_list, as_mapping, as_text, document, small_text
from pddl_eval.datasets.places import DatasetError, Location

ASKED = {"task_1_": None, "task_3_": "validity", "task_7_": "state", "task_8_": None}
"""What a file asks by the beginning of its name, by the names of DESIGN.md, section 12; None: for a plan."""

VERDICTS = ("llm_correct", "correct", "llm_correct_w_expl")
"""What PlanBench calls its verdict on an answer; of a verification, whether its explanation is right."""


def read_planbench(place: Location, _on: Sequence[str]) -> Iterator[Answer]:
    """The answers in a result file, each with what it was asked.

    An answer is the raw response, with the phrases of PlanBench's templates in PDDL; of plan generation it is the plan
    that PlanBench extracted, except for a prompt in PDDL (``…_pddl.json``). The problem and the domain are those of the
    checkout that the file lies in; without it, only the recorded answer is known.
    """
    results = document(place, "result file of PlanBench")
    task = place.name[:7]
    if not isinstance(results.get("instances"), list) or task not in ASKED:
        raise DatasetError(f"{place} is no result file of PlanBench's tasks 1, 3, 7 and 8, such as task_1_….json.")
    folder = place.parent.parent
    about = _Instances(folder.parent.parent, folder.name)
    model = as_text(results.get("engine"), place.parent.name)
    for instance in map(as_mapping, results["instances"]):
        number = as_id(instance.get("instance_id"))
        question = about.question(number)
        raw, recorded = as_text(instance.get("llm_raw_response")), instance.get("ground_truth_plan")
        if task == "task_1_":
            text, target = _lines(instance.get("extracted_llm_plan")), _lines(recorded)
            if place.name.endswith("_pddl.json"):
                text = raw or text
        else:
            # A model that goes on writes the next question.
            text, target = about.in_pddl((raw or "").partition("[STATEMENT]")[0]), about.in_pddl(_lines(recorded) or "")
            if ASKED[task] is None:  # "put down the red block on the table": what stands behind a step is no step.
                text = _STEP.sub(r"\1", text)
            question = about.asked(ASKED[task], as_text(instance.get("query")) or "", question)
            if ASKED[task]:
                atoms = [f"({' '.join(str(each).split('_'))})" for each in as_list(recorded)]
                question["reference_answer"] = "\n".join(atoms) or target
        correct = next((instance[name] for name in VERDICTS if name in instance), None)
        yield Answer(
            None if number is None else f"{folder.name}/{number}",
            model,
            place.name.removesuffix(".json"),
            text=text or None,
            error=None if text else "no plan was extracted" if task == "task_1_" else "no response",
            target=target,
            question=question,
            recorded=correct if isinstance(correct, bool) else {"True": True, "False": False}.get(str(correct)),
        )


def _lines(plan: Any) -> str | None:
    return "\n".join(map(str, plan)) if isinstance(plan, list) else as_text(plan)


class _Instances:
    """The instances of a configuration in a checkout of PlanBench, as its file in ``configs`` names them."""

    def __init__(self, checkout: Location, configuration: str) -> None:
        self._base = checkout / "instances"
        read = small_text(checkout / "configs" / f"{configuration}.yaml") or ""
        self._names = dict(re.findall(r"(?m)^(\w+): *['\"]?([\w./{}-]+)", read))
        self._phrases = phrases(read)
        self._domain = self._text(self._names.get("domain_file"))

    def question(self, number: str | None) -> dict[str, str]:
        """The problem and the domain of an instance; empty where they are not there."""
        folder, template = self._names.get("instance_dir"), self._names.get("instances_template", "")
        problem = self._text(f"{folder}/{template.replace('{}', number)}") if folder and number else None
        return {} if problem is None or self._domain is None else {"reference_problem": problem, "domain": self._domain}

    def _text(self, name: str | None) -> str | None:
        # Nothing outside of the folder, whatever a configuration or an id says.
        inside = name is not None and re.fullmatch(r"[\w-][\w.-]*(/[\w-][\w.-]*)*", name) is not None
        return small_text(replace(self._base, path=posixpath.join(self._base.path, name))) if inside and name else None

    def asked(self, kind: str | None, query: str, instance: Mapping[str, str]) -> dict[str, str]:
        """The instance with what a prompt in words asks last: about a sequence of actions, or for another goal."""
        question = dict(instance)
        goal = self.in_pddl(query.rpartition("My goal is to have that")[2].partition("\n")[0])
        if kind is None and question:
            question["reference_problem"] = with_goal(question["reference_problem"], _ATOM.findall(goal))
        elif kind:
            # What is asked for stands behind what it is asked of.
            plan = re.split(r"\[(?:PLAN|ACTION SEQUENCE)\]", query)[-1].partition("[")[0]
            question |= {"question": kind, "plan": "\n".join(_ATOM.findall(self.in_pddl(plan))), "question_text": query}
        return question

    def in_pddl(self, text: str) -> str:
        """The text with PDDL in the place of each phrase that PlanBench has for an action or an atom."""
        text = _BOTH.sub(r"\1 is \3, \2 is \3", _REMARK.sub("", text))
        for phrase, name, objects in self._phrases:
            text = phrase.sub(partial(_atom, name=name, objects=objects), text)
        return text


LEFT_OUT = ("the", "currently")
"""Words of templates that a model may leave out; "unstack a from b" for "unstack a from on top of b", too."""

_ATOM = re.compile(r"\([^()]*\)")
# What models write beside the templates: "both a and b are clear", "(since it is being held)".
_BOTH = re.compile(r"(?i)\bboth[ \t]+([\w \t]{1,40}?)[ \t]+and[ \t]+([\w \t]{1,40}?)[ \t]+are[ \t]+([\w \t]{1,80})")
_REMARK = re.compile(r"(?i)\((?:since|because|as)\b[^()\n]{0,200}\)")
_STEP = re.compile(r"(?m)^([\d. *-]{,9}\([^()\n]*\))[^\n]*")

Phrase = tuple[re.Pattern[str], str, Mapping[str, str]]
"""What an action or atom is in words, its name, and the letters of the objects by their words."""


def phrases(configuration: str) -> list[Phrase]:
    """The phrases of a configuration of PlanBench, the longest first; a model may leave out ``LEFT_OUT``.

    >>> ((on, name, objects),) = phrases('''predicates: {on: "the {} is on top of the {}"}
    ... encoded_objects: {"a": "red block", "b": "blue block"}''')
    >>> _atom(on.search("the red block is not on top of blue block"), name, objects)
    '(not (on a b))'
    """
    names = {}
    for section in ("actions", "predicates", "encoded_objects"):
        found = re.search(rf"(?m)^{section}:([^\n]*\n?(?:[ \t}}][^\n]*\n?|\n)*)", configuration)
        pairs = re.findall(r"""["']?([\w-]+)["']?: *["']([^"'\n]*)["']""", found[1] if found else "")
        names[section] = [(name, words) for name, words in pairs if words]
    objects = {words.replace("{}", "#"): name for name, words in names["encoded_objects"]}
    one_object = "|".join(re.escape(each).replace(r"\#", r"\d+") for each in sorted(objects, key=len, reverse=True))
    patterns = {"{}": f"({one_object})", "is": r"(?:is|am)(?:[ \t]+(?P<not>not|no longer))?", "hand": "(?:hand|I)"}
    made: list[Phrase] = []
    for left_out, phrased in (((*LEFT_OUT, "on", "top", "of"), names["actions"]), (LEFT_OUT, names["predicates"])):
        between = rf"[ \t]+(?:(?:{'|'.join(left_out)})[ \t]+)*"
        for name, words in phrased:
            parts = [patterns.get(each, re.escape(each)) for each in words.split() if each not in left_out]
            made.append((re.compile(rf"\b(?:the[ \t]+)?{between.join(parts)}\b", re.IGNORECASE), name, objects))
    made.sort(key=lambda phrase: -len(phrase[0].pattern))
    return made


def _atom(found: re.Match[str], name: str, objects: Mapping[str, str]) -> str:
    """The action or atom that a phrase says; a number in an object's words is a part of its name."""
    negated = "not" in found.re.groupindex and found["not"] is not None
    said = [text for index, text in enumerate(found.groups(), 1) if index != found.re.groupindex.get("not")]
    arguments = []
    for text in said:
        numbers = re.findall(r"\d+", text)
        arguments.append(objects[re.sub(r"\d+", "#", text.lower())] + "-".join(numbers))
    atom = f"({' '.join([name, *arguments])})"
    return f"(not {atom})" if negated else atom


def with_goal(problem: str, atoms: Sequence[str]) -> str:
    """The problem with these atoms as its goal.

    >>> with_goal("(define (problem p) (:init (a)) (:goal (and (b) (c))))", ["(a)"])
    '(define (problem p) (:init (a)) (:goal (and (a))))'
    """
    start = re.search(r"\(\s*:goal\b", problem)
    if start is None or not atoms:
        return problem
    depth, end = 0, start.start()
    for end in range(start.start(), len(problem)):
        depth += {"(": 1, ")": -1}.get(problem[end], 0)
        if not depth:
            break
    return f"{problem[: start.start()]}(:goal (and {' '.join(atoms)})){problem[end + 1 :]}"
