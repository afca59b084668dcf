"""Which actions of the plan can be left out? ACPBench Hard's *justification* (Kokel et al. 2025; Fink and Yang 1992).

The answer is a plan: the steps of the given plan in their order with at least one left out, and valid. An answer that
says what to leave out (*remove (a) and (b)*) stands for what is left. Where nothing can be left out, "none" is right.
``recall`` is the share of what is left out of the most that can be.

>>> from pddl_eval import judge_answer
>>> lamp = '''(define (domain lamp) (:action on :precondition (off) :effect (and (on) (not (off))))
...   (:action wait :effect (waited)))'''
>>> dark = "(define (problem p) (:domain lamp) (:init (off)) (:goal (on)))"
>>> verdict = judge_answer("justification", "(on) (wait)", dark, lamp, plan="(wait) (on) (wait)")
>>> verdict.correct, verdict.recall
(True, 0.5)
>>> judge_answer("justification", "Remove the first (wait).", dark, lamp, plan="(wait) (on)").correct
True
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from pddl_eval.definition import words
from pddl_eval.definition.budget import OutOfBudgetError, spend
from pddl_eval.definition.formulas import World
from pddl_eval.definition.model import Action, Atom, Operator, State, show_atom
from pddl_eval.definition.pddl.patterns import deferred, re
from pddl_eval.definition.plans import actions_of
from pddl_eval.definition.questions.question import InvalidQuestionError, Judged, Kind, Question
from pddl_eval.definition.questions.reading import NO_ELEMENT, Elements, answer_text, read_elements
from pddl_eval.definition.questions.sets import arities
from pddl_eval.definition.state_space import MAX_STATES
from pddl_eval.definition.validation import Failure, execute, is_goal, operator_of, taken
from pddl_eval.definition.verdict import Judgement, RightAnswers

_REMOVED = deferred(
    r"\b(?:remov\w*|leav\w*\s+out|left\s+out|omit\w*|delet\w*|drop(?:ping|ped)\b|redundant|unnecessary|unneeded|not\s+needed"
    r"|without|skip\w*|superfluous|eliminat\w*)\b",
    re.IGNORECASE,
)
_RESULT = deferred(
    r"\b(?:remaining|result\w*|simplified|reduced|shorter|new|final|left|justified)\s+(?:plan|sequence|actions|steps)\b[^\n(\[]*",
    re.IGNORECASE,
)

_State = tuple[State, frozenset[tuple[Atom, Fraction]]]
_Left = tuple[int, Action | None]


def shortest(question: Question) -> tuple[Action, ...] | None:
    """The shortest valid plan that leaves out at least one action of the plan; None where there is none.

    All ways to leave out actions are followed at once: after each action of the plan, each state that they lead to is
    kept with the fewest actions to it. Raises ``OutOfBudgetError`` beyond ``MAX_STATES`` states.
    """
    return _subplan(question, None)


def _subplan(question: Question, removed: Sequence[Action] | None) -> tuple[Action, ...] | None:
    """The shortest, or a valid plan from which exactly these actions are left out, in their order."""
    problem, domain = question.task.problem, question.domain
    world = World(problem, domain)
    start = (_key_of(world), 0)
    # A state, with the number of ``removed`` left out so far (or whether any was): the actions to it.
    reached: dict[tuple[_State, int], tuple[Action, ...]] = {start: ()}
    total = 0
    for action in _actions(question):
        after: dict[tuple[_State, int], tuple[Action, ...]] = {}
        for (state, left_out), taken_ in reached.items():
            if removed is None:
                _keep(after, (state, 1), taken_)
            elif left_out < len(removed) and removed[left_out] == action:
                _keep(after, (state, left_out + 1), taken_)
            following = _after(state, action, world)
            if following is not None:
                _keep(after, (following, left_out), (*taken_, action))
            spend(len(state[0]))
        reached = after
        total += len(reached)
        if total > MAX_STATES:
            raise OutOfBudgetError(f"the parts of the plan lead to more than {MAX_STATES:,} states")
    found: list[tuple[Action, ...]] = []
    wanted = 1 if removed is None else len(removed)
    for (state, left_out), plan in reached.items():
        world.become(state[0], dict(state[1]))
        if left_out == wanted and is_goal(problem, world):
            found.append(plan)
    return min(found, key=lambda plan: (len(plan), plan), default=None)


def _after(state: _State, action: Action, world: World) -> _State | None:
    """The state to which the action leads, None where it cannot be taken."""
    operator = operator_of(action, world)
    if not world.strata and isinstance(operator, Operator) and not operator.formulas:
        return (operator.apply(state[0]), state[1]) if operator.applicable(state[0]) else None
    world.become(state[0], dict(state[1]))
    step = taken({action}, world)
    if isinstance(step, Failure):
        return None
    world.change(*step)
    return _key_of(world)


def _keep(
    reached: dict[tuple[_State, int], tuple[Action, ...]], key: tuple[_State, int], plan: tuple[Action, ...]
) -> None:
    if key not in reached or len(plan) < len(reached[key]):
        reached[key] = plan


def _key_of(world: World) -> _State:
    return frozenset(world.atoms), frozenset(world.values.items())


def _actions(question: Question) -> list[Action]:
    """The actions of the plan; raises ``InvalidQuestionError`` where it has none, and where some are concurrent."""
    if any(len(actions_of(step)) != 1 for step in question.plan):
        raise OutOfBudgetError("the plan has concurrent actions")
    if not question.plan:
        raise InvalidQuestionError("the plan has no step")
    return [next(iter(actions_of(step))) for step in question.plan]


def _judge(question: Question, text: str, answer: str) -> Judged:
    plan, said = _actions(question), answer_text(text, answer)
    removed = _REMOVED.search(said)
    result = [*_RESULT.finditer(said)]
    if result and _steps(said[result[-1].end() :], question):
        said, removed = said[result[-1].end() :], None
    steps = _steps(said, question)
    if not steps and said.strip() not in ("[]", "()"):
        if _read(said, question).none:
            best = shortest(question)
            return Judged.of(best is None, words.not_none())
        return Judged.unreadable(NO_ELEMENT)
    fault = _fault(steps, plan, question)
    left = len(steps)
    if fault and removed:
        kept = _subplan(question, steps)
        fault, left = ("", len(plan) - len(steps)) if kept is not None else (fault, left)
    if fault:
        return Judged.of(False, fault)
    try:
        most = len(plan) - len(shortest(question) or ())
    except OutOfBudgetError:
        return Judged(Judgement.RIGHT, 1.0)
    return Judged(Judgement.RIGHT, 1.0, (len(plan) - left) / most)


def _read(text: str, question: Question) -> Elements:
    """The actions that an answer names: those of the plan also where the domain does not have them."""
    names = arities(question.operators) | {name: len(arguments) for name, *arguments in _actions(question)}
    return read_elements(text, names, arities(question.predicates))


def _steps(text: str, question: Question) -> list[Action]:
    """The actions that an answer names, one behind the other."""
    found = _read(text, question).elements
    if any(each[0] == "not" for each in found):
        return []
    return [each for each in found if all(isinstance(term, str) for term in each)]  # type: ignore[misc]


def _fault(steps: Sequence[Action], plan: Sequence[Action], question: Question) -> str:
    rest = iter(plan)
    if not all(step in rest for step in steps):
        return words.not_of_the_plan()
    if len(steps) == len(plan):
        return words.nothing_left_out()
    execution = execute([{step} for step in steps], question.task.problem, question.domain)
    if execution.failed_step is not None:
        return words.without_left_out(words.failure(execution.failed_step, execution.reason))
    if execution.unmet:
        return words.without_left_out(words.goal_not_reached(execution.unmet[0], len(execution.unmet)))
    return ""


def _key(question: Question) -> RightAnswers:
    best = shortest(question)
    plan = _actions(question)
    # An action of no operator is not read in an answer.
    is_read = all(name in question.operators for name, *_ in plan)
    left_out = f"Remove {' '.join(map(show_atom, plan))}" if is_read else "()"
    return RightAnswers(None, best is None, "none" if best is None else " ".join(map(show_atom, best)) or left_out)


KIND = Kind(
    "a plan made from the plan by leaving out actions, or none where no action can be left out",
    "it is shorter, in the order of the plan, and valid",
    _judge,
    _key,
    "the share of what can be left out",
)
