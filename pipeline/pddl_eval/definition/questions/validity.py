"""Is the plan valid, and if it is not, why? PlanBench's *plan verification* (task 3; Valmeekam et al. 2023).

A plan is valid as the validator says it. The answer is yes or no; where it names a step, counted from 1, this has to be
the first that fails, and where it names atoms, one of them has to be an unmet condition of that step, or of the goal.
``precision`` is the share of what is said (the verdict, the step, a condition) that is right, ``recall`` is 1 where the
verdict is.

>>> from pddl_eval import judge_answer
>>> lamp = "(define (domain lamp) (:action switch :precondition (off) :effect (and (on) (not (off)))))"
>>> dark = "(define (problem p) (:domain lamp) (:init (off)) (:goal (on)))"
>>> verdict = judge_answer("validity", "No: step 1 needs (off).", dark, lamp, plan="(switch) (switch)")
>>> verdict.verdict.value, round(verdict.precision, 2), verdict.recall, verdict.detail
('wrong', 0.67, 1.0, 'step 2 cannot be executed: (switch) needs (off)')
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pddl_eval.definition import words
from pddl_eval.definition.formulas import World, grounded, instances, is_true
from pddl_eval.definition.grounding import without_equations
from pddl_eval.definition.model import QUANTIFIERS, Formula, is_atom, show_formula
from pddl_eval.definition.plans import actions_of
from pddl_eval.definition.questions.question import Judged, Kind, Question
from pddl_eval.definition.questions.reading import (
    NO_ELEMENT,
    answer_text,
    as_atom,
    mentioned,
    read_step,
    read_truth,
)
from pddl_eval.definition.questions.sets import arities
from pddl_eval.definition.verdict import Judgement, PlanVerdict, RightAnswers


def is_valid(question: Question) -> bool:
    """True where every step can be executed and the goal holds at the end."""
    return question.execution.reaches_goal


def _why(question: Question) -> str:
    execution = question.execution
    if execution.failed_step is not None:
        return words.step_fails(execution.failed_step, execution.reason)
    return words.goal_not_reached(execution.unmet[0], len(execution.unmet))


def _judge(question: Question, text: str, answer: str) -> Judged:
    text = answer_text(text, answer)
    said = read_truth(text, answer)
    if said is None:
        return Judged.unreadable(NO_ELEMENT)
    if is_valid(question):
        return Judged.of(said, words.valid_plan())
    if said:
        return Judged.of(False, words.not_valid_plan(_why(question)), words.not_valid_plan("").rstrip(": "))
    execution, parts, told = question.execution, [True], ""
    step = read_step(text, answer)
    if step is not None:
        parts.append(step == execution.failed_step)
        told = (
            "" if parts[-1] else words.no_step_fails(step) if _is_executed(step, question) else words.is_not_first(step)
        )
    unmet = unmet_literals(question)
    named = [each for each in mentioned(text, arities(question.predicates)) if as_atom(each)[0] not in question.actions]
    if named:
        parts.append(any(each in unmet or _negated(each) in unmet for each in named))
        told = told or ("" if parts[-1] else words.not_unmet(as_atom(named[0])[0]))
    precision = sum(parts) / len(parts)
    judgement = Judgement.RIGHT if all(parts) else Judgement.WRONG
    return Judged(judgement, precision, 1.0, None, "" if all(parts) else _why(question), told)


def _is_executed(step: int, question: Question) -> bool:
    failed = question.execution.failed_step
    return 0 < step <= len(question.plan) and (failed is None or step < failed)


def unmet_literals(question: Question) -> set[Formula]:
    """The literals of the conditions that do not hold where the execution ended, a ``forall`` as its instances."""
    problem = replace(question.task.problem, init=question.execution.state, values=dict(question.execution.values))
    world = World(problem, question.domain)
    others = (each for each in _conditions(question) if not is_true(each, world))
    return {
        literal
        for formula in (*question.execution.missing, *others)
        for literal in _literals(formula, world)
        if not is_true(literal, world)
    }


def _conditions(question: Question) -> Iterator[Formula]:
    """All conditions of the step that failed: the validator names those of the first kind that does not hold."""
    execution = question.execution
    if execution.failed_step is None or execution.verdict is not PlanVerdict.PRECONDITION:
        return
    for action in actions_of(question.plan[execution.failed_step - 1]):
        for operator in question.domain.operators:
            if operator.name == action[0] and not operator.halves:
                plain, _ = without_equations(operator)
                binding = dict(zip(plain.action[1:], action[1:], strict=False))
                needed, forbidden, *_ = plain.renamed(binding).parts
                yield from (*needed, *(("not", atom) for atom in forbidden))
                yield from (grounded(each, binding) for part, each in plain.formulas if part == ":precondition")


def _literals(formula: Formula, world: World) -> list[Formula]:
    """The literals of a condition: any that is false may be what is unmet."""
    if isinstance(formula, str) or not formula:
        return []
    if formula[0] == "not" and not isinstance(formula[1], str) and not is_atom(formula[1]):
        return [_negated(each) for each in _literals(formula[1], world)]
    if is_atom(formula) or formula[0] == "not":
        return [formula]
    if formula[0] in QUANTIFIERS:
        every = ("and", ("forall", *formula[1:]))
        return [literal for each in instances(every, world) for literal in _literals(each, world)]
    if formula[0] == "imply":
        return _literals(("or", ("not", formula[1]), formula[2]), world)
    return [literal for part in formula[1:] for literal in _literals(part, world)]


def _negated(literal: Formula) -> Formula:
    """``(holding a) must be false`` is said as ``(holding a)``, too."""
    atom, is_said = as_atom(literal)
    return ("not", atom) if is_said else atom


def _key(question: Question) -> RightAnswers:
    valid = is_valid(question)
    text = "yes" if valid else "no"
    if not valid and question.execution.failed_step is not None:
        text = f"no: step {question.execution.failed_step}"
    literals = () if valid else map(show_formula, unmet_literals(question))
    return RightAnswers(frozenset({valid}), False, f"{text} {min(literals, default='')}".rstrip())


KIND = Kind(
    "whether the plan is valid, and if it is not, why",
    "the verdict is right, and so are the step and the unmet condition where they are named",
    _judge,
    _key,
    "the verdict alone",
)
