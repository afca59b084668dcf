"""The reward of an answer for reinforcement learning: one number from 0 to 1, whatever a model wrote.

It is no metric of its own: it says how far an answer gets on a scale of four steps, which are scores of its pair. The
upper steps are far apart, because the lower ones can be reached without an answer to the question: a problem with an
empty goal is parseable and solvable. Half the reward needs the reference's goal, all of it what counts as right in a
published score.

A batch goes through the kernel first. What it leaves is scored in this thread, or in worker processes that are kept for
the next batch and shared by all threads. No signal is sent or awaited in this process.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
import signal
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import pairwise
from math import isfinite
from numbers import Real
from threading import local
from time import perf_counter
from typing import Any, NamedTuple

from pddl_eval import kernel
from pddl_eval.columns import ASKED, PAIRS
from pddl_eval.definition.budget import OutOfBudgetError, or_undecided
from pddl_eval.definition.metrics import (
    DOMAIN,
    PLAN,
    PROBLEM,
    DomainPair,
    OnlySome,
    Pair,
    PlanPair,
    Row,
    executed_plan,
    plan_jaccard,
    plan_lcs,
)
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.definition.plans import actions_of
from pddl_eval.definition.task import Task as PlanningTask
from pddl_eval.definition.task import reference_task
from pddl_eval.definition.validation import execute_actions
from pddl_eval.definition.verdict import DomainVerdict, Judgement, PlanVerdict, Undecided, Verdict
from pddl_eval.errors import UserError, did_you_mean
from pddl_eval.process import reraise_interrupt
from pddl_eval.scoring.budget import row_budget, thread_time
from pddl_eval.scoring.pairing import as_column
from pddl_eval.scoring.plans import step_labels
from pddl_eval.scoring.texts import answer_text, without_prompt
from pddl_eval.shown import encodable, line

SCALE = (0.1, 0.2, 0.5, 1.0)
"""The reward of each step, the highest that an answer reaches; what reaches none gets 0."""

SHAPES = ("scale", "shares", "labels")
"""What tells answers apart within a step of the scale: nothing, shares of a plan, also labels of its steps."""

ROW_SECONDS = 2.0
"""Processor time of an answer: hundreds of times the usual, and no batch waits long for a hopeless one."""

GRACE_SECONDS = 3.0
"""Processor time beyond that after which a worker process is ended, and the answer with it."""

PATIENCE = 120.0
"""Seconds after which a worker process that does not even compute is lost, such as one that was stopped."""

_LOG = logging.getLogger("pddl_eval.rewards")
_EMPTY_STEP = re.compile(r"\{\s*+\}")


@dataclass(frozen=True, slots=True)
class Rewarded:
    """The reward of an answer, and how it came about.

    ``reached`` is the highest of the four steps, 0 for none. ``seconds`` is the time that scoring it took; an answer
    that repeats takes none. ``error`` says why a row could not be scored; its reward is 0. ``labels`` are the values
    (``StepLabel``) of the plan's steps with ``shape="labels"``, None where the states could not be enumerated.
    ``exhausted``: scoring used the whole budget, and what was open then does not count; training can penalise that. A
    right answer is none of these.

    >>> held = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"
    >>> found = reward("(putdown a), (fly a)", kind="plan", problem=held, details=True)
    >>> found.reward, found.reached, found.error
    (0.5, 3, None)
    """

    reward: float
    reached: int
    seconds: float
    error: str | None = None
    labels: tuple[float, ...] | None = None
    exhausted: bool = False


class Task(NamedTuple):
    """An answer to be scored: its kind, the row of a dataset that it would be, and how."""

    kind: str
    row: Row
    options: ScoringOptions
    shape: str = "scale"
    scale: Sequence[float] = SCALE


def reward(  # noqa: PLR0913 (the columns of a row)
    completions: Any,
    reference: Any = None,
    *,
    kind: Any = "problem",
    problem: Any = None,
    domain: Any = None,
    question: Any = None,
    plan: Any = None,
    is_placeholder: Any = False,
    strip_prompt: Any = None,
    scale: Sequence[float] = SCALE,
    shape: str = "scale",
    seconds: float = ROW_SECONDS,
    workers: int | None = None,
    details: bool = False,
    **_columns: object,
) -> Any:
    """The reward of a model's answer, or of each answer in a list: a number from 0 to 1.

    * ``reference``: what the answer should be: a PDDL problem, or with ``kind`` ``plan`` or ``domain`` one of these;
    * ``problem``: a PDDL text in which a plan is executed, which needs no reference then; domains exchange their plans
      in it;
    * ``domain``: a known name or a PDDL text, by default what the problem names;
    * ``question``, ``plan``: with ``kind`` ``answer``, as in ``judge_answer``; there a ``reference`` is needed only for
      yes or no and for multiple choice;
    * ``is_placeholder``: as in ``compare_problems``.

    The reward is that of the highest of four steps that the answer reaches. By default (``scale``):

    - 0.1 a problem, plan or domain can be read;
    - 0.2 problem: it is solvable; plan: every step can be executed; domain: no operator is missing by name;
    - 0.5 problem: its plan solves the reference; plan: the goal was reached; domain: each domain's plan is valid in the
      other, or only types differ;
    - 1.0 problem or domain: it is equivalent; plan: it is valid.

    An answer to a question gets 0.1 where it can be read, 1.0 where it is right, and between, with F the harmonic mean
    of ``precision`` and ``recall``, 0.2 where it is above 0 and 0.5 from 0.5 on.

    Without a ``problem``, a plan gets 0.2 for one of the reference's actions, 0.5 for all of them and no other, 1.0 for
    the same plan. What is not decided is not reached. ``scale=(0, 0, 0, 1)`` rewards only what is right.

    ``shape`` fills the gaps for plans that are executed; with any but ``scale``, an answer that is not right gets 0.1
    and up to 0.4 for F. ``shares``: a plan that is not valid gets 0.1 for being read,
    up to 0.1 for the share of its steps that could be executed and up to 0.3 for the share of the goal that it made
    true. ``labels``: instead of that share, the part of the way to the goal, in costs of cheapest plans; and a valid
    plan gets 0.5, and up to 0.5 for what its steps are worth. Where the states cannot be enumerated, as ``shares``.

    A list, tuple or series of answers is a batch; then each of the other arguments is one value or a list as long. An
    answer is a text or a chat, whose last message counts. Columns of other names are ignored, so that this function is
    a reward function of TRL's trainers: ``GRPOTrainer(reward_funcs=pddl_eval.reward, …)``, where ``reference`` and
    what else is needed are columns of the training data. ``strip_prompt`` is for trainers that hand over prompt and
    answer in one text: the prompt in it, so that no PDDL of the prompt is scored.

    No answer raises: what is no text, cannot be read or takes too long gets what it reached. A reference that cannot be
    used, and a text without its prompt, give 0 and a warning in the log ``pddl_eval.rewards``. ``seconds`` is the
    processor time of an answer that the kernel leaves. In this thread a batch of n takes n times as much at most. With
    ``workers``, so many processes score them and are kept for the next call; all threads share them. One that an
    answer exhausts or crashes is replaced, and the answer gets 0. A script that asks for workers does so under ``if
    __name__ == "__main__":``. With ``details``, the result has ``Rewarded`` values in place of numbers.

    Raises ``UserError`` for a call without references, with an unknown ``kind`` or a wrong setting, and for lists of
    different lengths; ``EngineError`` where no worker process starts.

    >>> held = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"
    >>> reward(held.replace("clear", "on-table"), held), reward(held.replace("clear", "holding"), held)
    (1.0, 0.2)
    >>> reward(["I cannot do that.", "Sure: (putdown a)"], kind="plan", problem=held)
    [0.0, 1.0]
    """
    scale = _steps(scale)
    if workers is not None and not (isinstance(workers, int) and workers >= 1):
        raise UserError(f"workers is a number of processes from 1 up, not {line(repr(workers))}")
    if shape not in SHAPES:
        raise UserError(f"shape cannot be {line(repr(shape))}; {did_you_mean(str(shape), SHAPES)}")
    batch = _batch(completions)
    columns = {
        "kind": kind,
        "reference": reference,
        "problem": problem,
        "domain": domain,
        "question": question,
        "plan": plan,
        "is_placeholder": is_placeholder,
        "prompt": strip_prompt,
    }
    answers = [completions] if batch is None else batch
    values = {name: _spread(name, value, len(answers)) for name, value in columns.items()}
    for each in dict.fromkeys(values["kind"]):
        if each not in PAIRS:
            raise UserError(f"no kind of answer is named {each}; {did_you_mean(str(each), PAIRS, 'kinds')}")
        if reference is None and (each not in ("plan", "answer") or problem is None):
            raise UserError(f"no reference for a {each}: give `reference`, or the training data a column of that name")
    options = ScoringOptions(row_seconds=seconds)
    rows = (dict(zip(values, row, strict=True)) for row in zip(*values.values(), strict=True))
    tasks = [
        Task(given["kind"], _row(answer, given), options, shape, scale)
        for answer, given in zip(answers, rows, strict=True)
    ]
    rewarded = _rewarded(tasks, workers)
    for number, each in enumerate(rewarded):
        if each.error:
            _LOG.warning("answer %d gets 0: %s", number, line(each.error))
    if exhausted := sum(each.exhausted for each in rewarded):
        _LOG.warning("%d of %d answers used their whole budget of %g seconds", exhausted, len(rewarded), seconds)
    found = rewarded if details else [each.reward for each in rewarded]
    return found[0] if batch is None else found


async def areward(completions: Any, reference: Any = None, **arguments: Any) -> Any:
    """``reward`` for asynchronous loops: the loop goes on meanwhile. Arguments, result and errors are the same.

    As many calls as the loop's default executor has threads are under way at once. With ``workers`` an answer that
    takes long keeps one of the processes busy, and no other call waits for it.

    >>> held = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"
    >>> asyncio.run(areward(["no", held], held))
    [0.0, 1.0]
    """
    return await asyncio.to_thread(reward, completions, reference, **arguments)


def _steps(scale: Any) -> list[float]:
    """The numbers of a scale; raises ``UserError`` where it is none."""
    steps = [*scale] if isinstance(scale, Iterable) else []
    if len(steps) != len(SCALE) or not all(isinstance(step, Real) and isfinite(step) for step in steps):
        raise UserError(f"scale is {len(SCALE)} numbers, not {line(repr(scale))}")
    if not all(low <= high for low, high in pairwise((0, *steps))):
        raise UserError(f"scale is {len(SCALE)} numbers from 0 up, none below the one before, not {scale}")
    return steps


def _batch(completions: Any) -> list[Any] | None:
    """The answers of a batch; None for a single answer, whatever it is."""
    try:
        return as_column(completions)
    except Exception as error:
        reraise_interrupt(error)
        return None


def _spread(name: str, value: Any, rows: int) -> list[Any]:
    """The value of each row: its own, or the one of all."""
    column = as_column(value)
    if column is None:
        return [value] * rows
    if len(column) != rows:
        raise UserError(f"{len(column)} values of {name} do not fit {rows} answers")
    return column


def _row(answer: Any, given: Mapping[str, Any]) -> Row:
    """The row of a dataset that this would be."""
    kind, problem, text = given["kind"], given["problem"], answer_text(answer)
    if given["prompt"] is not None and text is not None:
        text = without_prompt(text, answer_text(given["prompt"]) or "")
        if text is None:
            return {"strip_prompt": _NO_PROMPT}
    row = {f"generated_{kind}": text, f"reference_{kind}": given["reference"]}
    row |= {"domain": given["domain"], "is_placeholder": bool(given["is_placeholder"])}
    if kind == "answer":
        row |= {name: given[name] for name in ASKED}
    if kind != "problem" and problem is not None:
        row["reference_problem"] = problem
        if kind == "plan":
            row["reference_plan"] = None  # The problem decides, whatever the reference is.
    return row


_NO_PROMPT = "the prompt is not in the text that should begin with it"


# How far answers get


def _rewarded(tasks: Sequence[Task], workers: int | None) -> list[Rewarded]:
    """The rewards of all tasks: the kernel's, and of those that it leaves the definition's."""
    found = _by_kernel(tasks)
    left: dict[Any, list[int]] = {}  # samples of one model repeat: equal rows are scored once
    for number, task in enumerate(tasks):
        if number not in found:
            left.setdefault(_content(task) or number, []).append(number)
    first = [tasks[numbers[0]] for numbers in left.values()]
    by_definition = map(_by_definition, first) if workers is None else _in_workers(first, workers)
    for numbers, each in zip(left.values(), by_definition, strict=True):
        found.update(dict.fromkeys(numbers, replace(each, seconds=0.0)))
        found[numbers[0]] = each
    return [found[number] for number in range(len(tasks))]


def _content(task: Task) -> tuple[Any, ...] | None:
    """What the reward follows from; None where a row holds what is no text."""
    values = tuple(task.row.items())
    return (task.kind, *values) if all(isinstance(value, str | bool | None) for _, value in values) else None


def _by_kernel(tasks: Sequence[Task]) -> dict[int, Rewarded]:
    """The rewards of the tasks that the kernel answers, by their numbers."""
    found: dict[int, Rewarded] = {}
    for kind, reward_of in _OF_SCORES.items():
        numbers = [number for number, task in enumerate(tasks) if task.kind == kind and _is_plain(task)]
        rows = [tasks[number].row for number in numbers]
        answered = kernel.score_rows(kind, rows, tasks[0].options, certificates=False) if rows else None
        for number, row in zip(numbers, answered or (), strict=False):
            if row is not None and (each := reward_of(row, tasks[number])) is not None:
                found[number] = replace(each, seconds=row["score_micros"] / 1e6)
    return found


def _is_plain(task: Task) -> bool:
    """Whether the kernel may be asked: texts alone, and no step without an action, which its columns do not tell."""
    values = [value for name, value in task.row.items() if name != "is_placeholder"]
    texts = all(value is None or (isinstance(value, str) and value == encodable(value)) for value in values)
    is_plan = task.kind == "plan"
    reference = "reference_problem" in task.row or not is_plan or isinstance(task.row.get("reference_plan"), str)
    empty = is_plan and _EMPTY_STEP.search(task.row.get("generated_plan") or "")
    return texts and reference and not empty and task.shape != "labels" and "strip_prompt" not in task.row


def _by_definition(task: Task) -> Rewarded:
    """The reward of an answer; no exception leaves this function."""
    start, exhausted = perf_counter(), False
    try:
        for name, value in task.row.items():
            if not isinstance(value, str | bool | None):
                raise UserError(f"{name} is a text, not {type(value).__name__}")
        if "strip_prompt" in task.row:
            raise UserError(task.row["strip_prompt"])
        began = thread_time()
        with row_budget(task.options.row_seconds):
            try:
                found = _OF_ROW[task.kind](task)
            finally:
                exhausted = thread_time() - began >= task.options.row_seconds
    except Exception as error:
        reraise_interrupt(error)
        why = str(error) if isinstance(error, UserError) else f"{type(error).__name__}: {error}"
        found = Rewarded(0.0, 0, 0.0, why)
    return replace(found, seconds=perf_counter() - start, exhausted=exhausted and found.reached < len(SCALE))


def _reached(task: Task, *steps: bool | None, labels: tuple[float, ...] | None = None) -> Rewarded:
    """The reward of the highest of these steps; that of all is for a valid plan by what its steps are worth."""
    quality = sum(labels) / len(labels) if labels else 1.0
    reached = max((number for number, step in enumerate(steps, 1) if step), default=0)
    _, _, half, full = task.scale
    value = half + (full - half) * quality if reached == len(SCALE) else (0.0, *task.scale)[reached]
    return Rewarded(float(value), reached, 0.0, labels=labels)


def _problem_scores(scores: Mapping[str, Any], task: Task) -> Rewarded:
    if scores["verdict"] == Verdict.REFERENCE_INVALID:
        return Rewarded(0.0, 0, 0.0, scores["detail"])
    return _reached(task, scores["parseable"], scores["solvable"], scores["solves_reference"], scores["equivalent"])


def _problem(task: Task) -> Rewarded:
    names = ("verdict", "detail", "parseable", "solvable", "solves_reference", "equivalent")
    return _problem_scores(_scores(PROBLEM, PROBLEM.read(task.row, task.options), *names), task)


def _plan_scores(scores: Mapping[str, Any], task: Task) -> Rewarded | None:
    """The reward; None where more has to be known of the plan than its scores."""
    verdict = scores["plan_verdict"]
    if verdict is None:
        return None if scores["plan_detail"] else _compared_plan(scores, True, task)
    if verdict in (PlanVerdict.REFERENCE_INVALID, PlanVerdict.UNDECIDED):
        return None
    some = scores["plan_length"] > 0 and not (verdict == PlanVerdict.UNREADABLE and scores["first_failed_step"] == 1)
    return _executed_plan(scores, some, task)


def _plan(task: Task) -> Rewarded:
    pair = PLAN.read(task.row, task.options)
    if isinstance(pair, OnlySome):
        raise UserError(pair["plan_detail"])
    if "reference_problem" in task.row and pair.task is None:
        raise UserError(pair.detail)
    if pair.task is not None and pair.task.ill_typed:
        raise UserError(f"in the reference, {pair.task.ill_typed}")
    # What stands behind a step that cannot be read earns nothing.
    steps = pair.generated[: pair.damage.steps_before] if pair.damage else pair.generated
    if pair.task is None:
        similar = {"plan_lcs": plan_lcs(pair.reference, steps), "plan_jaccard": plan_jaccard(pair.reference, steps)}
        return _compared_plan({**similar, "plan_length": len(steps)}, pair.damage is None, task)
    names = ("executable_share", "goal_share", "plan_valid", "goal_reached", "first_failed_step")
    scores, some = _scores(PLAN, pair, *names), any(map(actions_of, steps))
    if scores["plan_valid"] is None:  # the row's budget has ended
        return _reached(task, some)
    return _executed_plan(scores, some, task, pair if task.shape == "labels" else None)


def _compared_plan(scores: Mapping[str, Any], whole: bool, task: Task) -> Rewarded:
    jaccard = scores["plan_jaccard"]
    return _reached(task, scores["plan_length"] > 0, jaccard > 0, jaccard == 1, scores["plan_lcs"] == 1 and whole)


def _executed_plan(scores: Mapping[str, Any], some: bool, task: Task, labelled: PlanPair | None = None) -> Rewarded:
    """``some``: a step with an action was read. A goal that held before any step counts for a valid plan alone."""
    can_run = scores["first_failed_step"] is None
    start = 0.0 if can_run and task.shape == "scale" else _share_at_start(task)
    goal = scores["goal_reached"] and (can_run or start < 1)
    progress, labels = (scores["goal_share"] - start) / (1 - start) if start < 1 else 0.0, None
    if labelled and (worth := _labelled(labelled)):
        labels, progress = worth
    found = _reached(task, some, some and can_run, goal, scores["plan_valid"], labels=labels)
    if task.shape == "scale" or found.reached in (0, len(SCALE)):
        return found
    low, middle, half, _ = task.scale
    shaped = low + (middle - low) * scores["executable_share"] + (half - middle) * max(0.0, progress)
    return replace(found, reward=float(shaped))


def _share_at_start(task: Task) -> float:
    """The share of the goal that holds before any step."""
    found = reference_task(task.row["reference_problem"], task.row["domain"], for_plans=True)
    assert isinstance(found, PlanningTask)
    return executed_plan((), None, found).goal_share


def _labelled(pair: PlanPair) -> tuple[tuple[float, ...], float] | None:
    """What each step of the plan is worth, and the part of the way to the goal that it went, in costs."""
    solved = pair.task
    if solved is None or pair.execution is None:
        return None
    costs = or_undecided(lambda: solved.goal_costs)
    if isinstance(costs, Undecided):
        return None
    labels = tuple(label.value for label in step_labels(costs, pair.execution, solved.problem))
    end = costs.space.node(pair.execution.state, pair.execution.values)
    whole, left = costs.to_goal.get(costs.space.start), costs.to_goal.get(end)
    return labels, float(1 - left / whole) if whole and left is not None else 0.0


def _domain_scores(scores: Mapping[str, Any], task: Task) -> Rewarded | None:
    """The reward; None where the scores decide nothing."""
    verdict = scores["domain_verdict"]
    if verdict in (None, DomainVerdict.UNDECIDED, DomainVerdict.REFERENCE_INVALID):
        return None
    if verdict in [each.value for each in DomainVerdict if each.right]:
        return _reached(task, True, True, True, True)
    try:
        with row_budget(task.options.row_seconds):
            pair = DOMAIN.read(task.row, task.options)
    except (UserError, OutOfBudgetError):
        return None
    if isinstance(pair, OnlySome):
        return None
    exchanged = scores["domain_plan_valid"] and scores["domain_reference_plan_valid"]
    return _near(pair, verdict == DomainVerdict.TYPES_DIFFER, exchanged, task)


def _domain(task: Task) -> Rewarded:
    pair = DOMAIN.read(task.row, task.options)
    if isinstance(pair, OnlySome):
        raise UserError(pair["domain_detail"])
    decision = or_undecided(lambda: pair.decision)
    if not isinstance(decision, Undecided) and decision.verdict.right:
        return _reached(task, True, True, True, True)
    near = not isinstance(decision, Undecided) and decision.verdict == DomainVerdict.TYPES_DIFFER
    exchanged = False
    if pair.generated is not None and not near and _takes_the_plan(pair):  # The other way it may take a search.
        exchanged = all(_scores(DOMAIN, pair, "domain_plan_valid", "domain_reference_plan_valid").values())
    return _near(pair, near, exchanged, task)


def _near(pair: DomainPair, near: bool, exchanged: bool, task: Task) -> Rewarded:
    """The reward of a domain that is not equivalent; two empty plans say nothing of its operators."""
    is_read = pair.generated is not None
    nothing_to_do = pair.task is not None and pair.task.problem.goal <= pair.task.problem.init
    return _reached(task, is_read, is_read and not pair.missing_operators, near or (exchanged and not nothing_to_do))


def _takes_the_plan(pair: DomainPair) -> bool:
    """False where the reference's plan is not valid in the generated domain; true where that is not known yet."""
    if pair.task is None or pair.generated is None or not isinstance(pair.task.plan, tuple):
        return True
    return execute_actions(pair.task.plan, pair.task.as_written, pair.generated).reaches_goal


def _answer(task: Task) -> Rewarded:
    found = kernel.read_answer(task.row, task.options).verdict
    if found.verdict is Judgement.REFERENCE_INVALID:
        raise UserError(found.detail)
    shares = (found.precision or 0.0, found.recall or 0.0)
    mean = 2 * shares[0] * shares[1] / sum(shares) if any(shares) else 0.0
    some = found.verdict not in (Judgement.EMPTY, Judgement.UNREADABLE, Judgement.UNDECIDED)
    reached = _reached(task, some, mean > 0, mean >= 1 / 2, found.correct)
    if task.shape == "scale" or reached.reached in (0, len(SCALE)):
        return reached
    low, _, half, _ = task.scale
    return replace(reached, reward=float(low + (half - low) * mean))


_OF_SCORES: Mapping[str, Callable[[Mapping[str, Any], Task], Rewarded | None]]
_OF_SCORES = {"problem": _problem_scores, "plan": _plan_scores, "domain": _domain_scores}
_OF_ROW = {"problem": _problem, "plan": _plan, "domain": _domain, "answer": _answer}


def _scores(pair: Pair, of: Any, *names: str) -> dict[str, Any]:
    """These scores; metrics without any of them are not computed."""
    metrics = (each for each in pair.metrics if any(column.name in names for column in each.columns))
    scores = replace(pair, metrics=tuple(metrics)).scores(of)
    return {name: scores[name] for name in names}


# Threads and worker processes


_POOLS: dict[int, ThreadPoolExecutor] = {}
"""By how many there are: threads with a worker process each, kept for the next call and shared by all callers."""

# A process that was forked has none of its parent's threads and workers.
os.register_at_fork(after_in_child=_POOLS.clear)

_OWN = local()
"""The worker process of a thread; it starts with its first task."""


def _in_workers(tasks: Sequence[Task], workers: int) -> Iterator[Rewarded]:
    """The rewards in order. Where one raises, or Ctrl-C does, what has not begun is given up."""
    return _POOLS.setdefault(workers, ThreadPoolExecutor(workers, "pddl-eval worker")).map(_in_worker, tasks)


def _in_worker(task: Task) -> Rewarded:
    """The reward from this thread's worker process; a task that ends the process gets nothing."""
    from pddl_eval.run import Processes, WorkerLost  # here: without workers no data stack is needed

    if not hasattr(_OWN, "process"):
        _OWN.process = Processes(_bounded, 1, "reward", PATIENCE)
    start = perf_counter()
    _OWN.process.submit(task)
    _, found = _OWN.process.take()
    if isinstance(found, WorkerLost):
        seconds = perf_counter() - start
        return Rewarded(0.0, 0, seconds, found.reason, exhausted=seconds >= task.options.row_seconds)
    assert isinstance(found, Rewarded)
    return found


def _bounded(task: Task) -> Rewarded:
    """The reward, in a worker process: beyond its budget the kernel ends the process, whatever it does."""
    signal.setitimer(signal.ITIMER_PROF, task.options.row_seconds + GRACE_SECONDS)
    try:
        return _by_definition(task)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
