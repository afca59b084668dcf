"""Answers of known correctness to plans, domains and questions: the right one rewritten, damaged, or none at all.

As in ``answers``, no label comes from the comparison that answers are there to test. Rewritten ones are right, because
only notation or names change. A damaged plan is executed, as the actions that it was made of, not as it is read. A
damaged domain has one operator or one literal fewer, or a literal of the other sign: no renaming changes their numbers.
A damaged answer to a question lacks an element of a set, names one that is not in it, or says the opposite.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from random import Random
from typing import Any, NamedTuple

import pyarrow as pa

from pddl_eval import kernel
from pddl_eval.benchmark.answers import Grade
from pddl_eval.benchmark.questions import bounded, damaged, solution_of, with_plan
from pddl_eval.benchmark.twins import Twins
from pddl_eval.benchmark.variants import PROBLEMS, Kind, Preset, Variant
from pddl_eval.columns import ASKED
from pddl_eval.definition.metrics import NotExecuted
from pddl_eval.definition.model import Action, Operator, domain_to_pddl, show_atom
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.definition.pddl import parse_domain
from pddl_eval.definition.questions import Question, key
from pddl_eval.errors import UserError

LOOKS = 500
"""Most work for a key (``budget.WORK_PER_LOOK``), about half a second: the same answers on every machine."""

MOST_ATOMS = 1_000
"""Atoms or actions of a problem that are looked through for one that is not in a set."""


class Recipe(NamedTuple):
    """The function that makes an answer, None where it does not apply; and whether that is right, damaged or none."""

    make: Callable[[Any, Random], Any]
    grade: Grade


# Plans: of a question whether one is valid. What is damaged is a sequence of actions.


def shown_plan(plan: Sequence[Action]) -> str:
    return "\n".join(map(show_atom, plan)) or "[]"  # an empty text is no answer


def _calls(plan: Sequence[Action]) -> str:
    return ", ".join(f"{name}({', '.join(names)})" for name, *names in plan) or "[]"


def _objects(plan: Sequence[Action]) -> str:
    return json.dumps([{"id": number, "name": name, "args": names} for number, (name, *names) in enumerate(plan)])


def _at_a_step(
    change: Callable[[Action], Sequence[Action]], question: Question, random: Random
) -> Sequence[Action] | None:
    """The plan with other actions in the place of one."""
    plan: Any = question.plan
    place = random.randrange(len(plan)) if plan else 0
    return (*plan[:place], *chain.from_iterable(map(change, plan[place : place + 1])), *plan[place + 1 :])


PLAN_RECIPES: Mapping[str, Recipe] = {
    "same_plan": Recipe(lambda of, _: shown_plan(of.plan), Grade.CORRECT),
    "plan_in_a_list": Recipe(lambda of, _: _calls(of.plan), Grade.CORRECT),
    "plan_as_json": Recipe(lambda of, _: _objects(of.plan), Grade.CORRECT),
    "plan_in_a_fence": Recipe(lambda of, _: f"Here it is.\n\n```\n{shown_plan(of.plan)}\n```\n", Grade.CORRECT),
    "plan_step_lost": Recipe(partial(_at_a_step, lambda _: ()), Grade.OPEN),
    "plan_step_doubled": Recipe(partial(_at_a_step, lambda step: (step, step)), Grade.OPEN),
    "plan_argument_lost": Recipe(partial(_at_a_step, lambda step: (step[: max(1, len(step) - 1)],)), Grade.OPEN),
    "plan_changed": Recipe(damaged, Grade.OPEN),
    "plan_cut_off": Recipe(lambda of, _: shown_plan(of.plan)[:-1] if of.plan else None, Grade.UNPARSEABLE),
    "no_plan": Recipe(lambda _, __: "I could not find a plan for this problem.", Grade.UNPARSEABLE),
}


def plan_original(row: Mapping[str, Any], options: ScoringOptions) -> Question:
    """The row's problem with its ``reference_plan``, or with one that is found.

    Raises ``UserError`` where it is not valid, or has actions at the same time.
    """
    said = row.get("reference_plan")
    question = _question({**row, "question": "validity", "plan": said}, options)
    if not said:
        question = with_plan(solution_of(question), question)
    if not question.execution.reaches_goal or any(isinstance(step, frozenset) for step in question.plan):
        raise UserError("the reference plan is not a valid sequence of actions")
    return question


# Domains, as texts.


def _renamed(text: str, random: Random) -> str | None:
    """Other words for all names, where there are enough."""
    try:
        twins = Twins("words", random.randrange(10**6)).table(pa.table({"domain": [text]}))
    except UserError:
        return None
    return str(twins["domain"][1].as_py()) if len(twins) else None


def _operator_lost(text: str, random: Random) -> str | None:
    domain = parse_domain(text)
    kept = random.sample(domain.operators, len(domain.operators) - 1)
    return domain_to_pddl(replace(domain, operators=tuple(kept))) if kept else None


def _literal_lost(text: str, random: Random, *, negated: bool = False) -> str | None:
    """A literal of some operator fewer, or its opposite in its place."""
    domain = parse_domain(text)
    places = [
        (number, part, atom)
        for number, operator in enumerate(domain.operators)
        for part, atoms in enumerate(operator.parts)
        for atom in sorted(atoms - operator.parts[part ^ 1])
    ]
    if not places:
        return None
    number, part, atom = random.choice(places)
    operators = [*domain.operators]
    before = operators[number]
    parts = [*before.parts]
    parts[part] -= {atom}
    parts[part ^ 1] |= {atom} if negated else set()
    needed, denied, added, deleted = parts
    operators[number] = Operator(before.name, before.parameters, needed, denied, added, deleted, before.formulas)
    return domain_to_pddl(replace(domain, operators=tuple(operators)))


DOMAIN_RECIPES: Mapping[str, Recipe] = {
    "same_domain": Recipe(lambda text, _: text, Grade.CORRECT),
    "domain_parameters_renamed": Recipe(lambda text, _: text.replace("?", "?x-"), Grade.CORRECT),
    "domain_renamed": Recipe(_renamed, Grade.CORRECT),
    "domain_in_a_fence": Recipe(lambda text, _: f"Here it is.\n\n```pddl\n{text}\n```\n", Grade.CORRECT),
    "domain_operator_lost": Recipe(_operator_lost, Grade.OPEN),
    "domain_literal_lost": Recipe(_literal_lost, Grade.OPEN),
    "domain_literal_negated": Recipe(partial(_literal_lost, negated=True), Grade.OPEN),
    "no_domain": Recipe(lambda _, __: "(define (domain", Grade.UNPARSEABLE),
}


def domain_original(row: Mapping[str, Any], _options: ScoringOptions) -> str:
    """The row's ``reference_domain``; raises ``DomainError``."""
    parse_domain(row["reference_domain"] or "")
    return str(row["reference_domain"])


# Answers to questions.


class Asked(NamedTuple):
    """A question, its kind, a right answer, and whether "none" is right, too."""

    kind: str
    question: Question
    key: str
    none_is_right: bool | None = None


def _element_lost(asked: Asked, _random: Random) -> str | None:
    """The last of at least two elements of a set."""
    found = [*re.finditer(r"[,\s]*\([^()]*\)", asked.key)] if asked.kind in SETS else []
    return asked.key[: found[-1].start()] + asked.key[found[-1].end() :] if len(found) > 1 else None


def _element_added(asked: Asked, random: Random) -> str | None:
    """An atom, or an action, that the set does not have."""
    if asked.kind not in ("applicable", "state"):
        return None
    question = asked.question
    all_ = question.instances(question.operators if asked.kind == "applicable" else question.predicates)
    others = [shown for shown in map(show_atom, islice(all_, MOST_ATOMS)) if shown not in asked.key]
    return f"{asked.key} {random.choice(others)}" if others and asked.key != "none" else None


def _other(asked: Asked, _random: Random) -> str | None:
    """No for yes, something for none, and none where that is wrong."""
    opposite = {"none": "(nowhere b1)", "yes": "no", "no": "yes"}.get(asked.key.partition(",")[0])
    is_some = re.search(r"[(\d]", asked.key) and not asked.none_is_right
    return opposite or ("none" if is_some else None)


SETS = ("applicable", "progression", "state", "trace")

ANSWER_RECIPES: Mapping[str, Recipe] = {
    "right": Recipe(lambda asked, _: asked.key, Grade.CORRECT),
    "right_in_prose": Recipe(
        lambda asked, _: f"<think>One step after the other.</think>\nHere it is.\n\n```\n{asked.key}\n```",
        Grade.CORRECT,
    ),
    "element_lost": Recipe(_element_lost, Grade.OPEN),
    "element_added": Recipe(_element_added, Grade.OPEN),
    "other": Recipe(_other, Grade.OPEN),
    "no_answer": Recipe(lambda _, __: "I cannot say.", Grade.UNPARSEABLE),
}


def answer_original(row: Mapping[str, Any], options: ScoringOptions) -> Asked:
    """The row's question with its computed key; raises ``UserError`` where that is not decided."""
    question = _question(row, options)
    with bounded(LOOKS):
        found = key(row["question"], question)
    if found.text is None:
        raise UserError(f"the question has no key: {found.detail}")
    return Asked(row["question"], question, found.text, found.none_is_right)


def _question(row: Mapping[str, Any], options: ScoringOptions) -> Question:
    question = kernel.read_answer(row, options).question
    if isinstance(question, NotExecuted):
        raise UserError(question.reason)
    return question


# What all three have in common.

RECIPES_OF: Mapping[str, Mapping[str, Recipe]] = {
    "plan": PLAN_RECIPES,
    "domain": DOMAIN_RECIPES,
    "answer": ANSWER_RECIPES,
}


def draw(pair: str, original: Any, preset: Preset, random: Random) -> Variant:
    """One answer: right, damaged or none by the preset's shares, of any recipe that applies; else the right one."""
    recipes = RECIPES_OF[pair]
    (grade,) = random.choices(list(preset.shares), list(preset.shares.values()))
    wanted = grade if grade in (Grade.CORRECT, Grade.UNPARSEABLE) else Grade.OPEN
    names = [name for name, recipe in recipes.items() if recipe.grade is wanted]
    made = ((name, recipes[name].make(original, random)) for name in (*random.sample(names, len(names)), *recipes))
    name, answer = next((name, answer) for name, answer in made if answer is not None)
    if isinstance(answer, str):
        return Variant(answer, name, (recipes[name].grade is Grade.CORRECT,))
    return Variant(shown_plan(answer), name, (with_plan(answer, original).execution.reaches_goal,))


def _kind(pair: str, label: str, original: Callable[..., Any], *reads: str) -> Kind:
    text, recipe = pa.field(f"generated_{pair}", pa.string()), pa.field(f"label_{pair}", pa.string())
    return Kind(reads, (text, recipe, pa.field(label, pa.bool_())), original, partial(draw, pair))


ABOUT = ("reference_problem", "domain", "reference_domain")

KINDS: Mapping[str, Kind] = {
    "problem": PROBLEMS,
    "plan": _kind("plan", "label_plan_valid", plan_original, *ABOUT, "reference_plan"),
    "domain": _kind("domain", "label_domain_equivalent", domain_original, "reference_domain"),
    "question": _kind("answer", "label_answer_correct", answer_original, *ASKED, *ABOUT),
}
"""What answers are made to, by the names that ``generate prompts`` has, too. The first column has to be there."""
