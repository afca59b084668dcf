"""The reward of an answer for reinforcement learning: one number from 0 to 1, whatever a model wrote.

It is no metric of its own: it says how far an answer gets on a scale of four steps, which are scores of its pair. The
upper steps are far apart, because the lower ones can be reached without an answer to the question: a problem with an
empty goal is parseable and solvable. Half the reward needs the reference's goal, all of it what counts as right in a
published score. Answers are scored in this process, or in worker processes that are kept for the next batch.
"""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pddl_eval.columns import PAIRS
from pddl_eval.definition.budget import or_undecided, row_budget
from pddl_eval.definition.metrics import DOMAIN, PLAN, PROBLEM, OnlySome, Pair, Row, as_column
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.definition.verdict import DomainVerdict, Undecided, Verdict
from pddl_eval.errors import UserError, did_you_mean
from pddl_eval.process import reraise_interrupt
from pddl_eval.run import Processes, WorkerLost
from pddl_eval.shown import encodable, line

SCALE = (0.1, 0.2, 0.5, 1.0)
"""The reward of each step, the highest that an answer reaches; what reaches none gets 0."""

ROW_SECONDS = 2.0
"""Processor time of an answer: hundreds of times the usual, and no batch waits long for a hopeless one."""

GRACE_SECONDS = 3.0
"""Processor time beyond that after which a worker process is ended, and the answer with it."""

MAX_DEPTH = 4
"""Lists and mappings around an answer's text: a chat, its last message, its content, the last part of that."""

_LOG = logging.getLogger("pddl_eval.rewards")
_POOLS: dict[tuple[int, int], Processes] = {}
_POOLS_LOCK = threading.Lock()

Task = tuple[str, Row, ScoringOptions]
Outcome = tuple[int, str]
"""How many steps an answer reaches, and why the row could not be scored, if it could not."""


def reward(  # noqa: PLR0913 (the columns of a row)
    completions: Any,
    reference: Any = None,
    *,
    kind: Any = "problem",
    problem: Any = None,
    domain: Any = None,
    is_placeholder: Any = False,
    scale: Sequence[float] = SCALE,
    seconds: float = ROW_SECONDS,
    workers: int | None = None,
    **_columns: object,
) -> float | list[float]:
    """The reward of a model's answer, or of each answer in a list: a number from 0 to 1.

    ``reference`` is what the answer should be: a PDDL problem, or with ``kind`` ``plan`` or ``domain`` one of these. A
    plan is executed in ``problem`` (a PDDL text) and needs no reference then; domains exchange their plans in it.
    ``domain`` is a known name or a PDDL text, by default what the problem names. ``is_placeholder`` as in
    ``compare_problems``.

    The reward is that of the highest of four steps that the answer reaches. By default (``scale``):

    - 0.1 a problem, plan or domain can be read;
    - 0.2 problem: it is solvable; plan: every step can be executed; domain: no operator is missing by name;
    - 0.5 problem: its plan solves the reference; plan: the goal was reached; domain: each domain's plan is valid in the
      other, or only types differ;
    - 1.0 problem or domain: it is equivalent; plan: it is valid.

    Without a ``problem``, a plan gets 0.2 for one of the reference's actions, 0.5 for all of them and no other, 1.0 for
    the same plan. What is not decided is not reached. ``scale=(0, 0, 0, 1)`` rewards only what is right.

    A list, tuple or series of answers is a batch; then each of the other arguments is one value or a list as long. An
    answer is a text or a chat, whose last message counts. Columns of other names are ignored, so that this function is
    a reward function of TRL's trainers: ``GRPOTrainer(reward_funcs=pddl_eval.reward, …)``, where ``reference`` and
    what else is needed are columns of the training data.

    No answer raises: what is no text, cannot be read or takes too long gets what it reached. A reference that cannot be
    used gives 0 and a warning in the log ``pddl_eval.rewards``. ``seconds`` is the processor time of an answer in this
    process, so a batch of n takes n times as much at most. With ``workers``, so many processes score the answers and
    are kept for the next call; one that an answer exhausts or crashes is replaced, and the answer gets 0. A script that
    asks for workers does so under ``if __name__ == "__main__":``.

    Raises ``UserError`` for a call without references, with an unknown ``kind`` or a wrong setting, and for lists of
    different lengths; ``EngineError`` where no worker process starts.

    >>> held = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"
    >>> reward(held.replace("clear", "on-table"), held), reward(held.replace("clear", "holding"), held)
    (1.0, 0.2)
    >>> reward(["I cannot do that.", "Sure: (putdown a)"], kind="plan", problem=held)
    [0.0, 1.0]
    """
    if len(scale) != len(SCALE) or not all(low <= high for low, high in zip((0, *scale), scale, strict=False)):
        raise UserError(f"scale is {len(SCALE)} numbers from 0 up, none below the one before, not {scale}")
    if workers is not None and workers < 1:
        raise UserError(f"workers is a number of processes from 1 up, not {workers}")
    batch = _batch(completions)
    columns = {
        "kind": kind,
        "reference": reference,
        "problem": problem,
        "domain": domain,
        "is_placeholder": is_placeholder,
    }
    answers = [completions] if batch is None else batch
    values = {name: _spread(name, value, len(answers)) for name, value in columns.items()}
    for each in dict.fromkeys(values["kind"]):
        if each not in PAIRS:
            raise UserError(f"no kind of answer is named {each}; {did_you_mean(str(each), PAIRS, 'kinds')}")
        if reference is None and (each != "plan" or problem is None):
            raise UserError(f"no reference for a {each}: give `reference`, or the training data a column of that name")
    options = ScoringOptions(row_seconds=seconds)
    rows = (dict(zip(values, row, strict=True)) for row in zip(*values.values(), strict=True))
    tasks = [(given["kind"], _row(answer, given), options) for answer, given in zip(answers, rows, strict=True)]
    outcomes = map(_outcome, tasks) if workers is None else _in_workers(tasks, workers)
    rewards = []
    for number, (reached, reason) in enumerate(outcomes):
        if reason:
            _LOG.warning("answer %d gets 0: %s", number, line(reason))
        rewards.append(float((0.0, *scale)[reached]))
    return rewards[0] if batch is None else rewards


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


def _text(answer: Any) -> str | None:
    """What an answer says, in Unicode; None where it says nothing."""
    try:
        for _ in range(MAX_DEPTH):
            if isinstance(answer, Mapping):
                answer = answer.get("content", answer.get("text"))
            elif isinstance(answer, list | tuple):
                answer = answer[-1] if answer else None
        if isinstance(answer, bytes | bytearray):
            return answer.decode("utf-8", "backslashreplace")
        return encodable(str(answer)) if isinstance(answer, str) else None
    except Exception as error:
        reraise_interrupt(error)
        return None


def _row(answer: Any, given: Mapping[str, Any]) -> Row:
    """The row of a dataset that this would be."""
    kind, problem = given["kind"], given["problem"]
    row = {f"generated_{kind}": _text(answer), f"reference_{kind}": given["reference"]}
    row |= {"domain": given["domain"], "is_placeholder": bool(given["is_placeholder"])}
    if kind != "problem" and problem is not None:
        row["reference_problem"] = problem
        if kind == "plan":
            row["reference_plan"] = None  # The problem decides, whatever the reference is.
    return row


def _outcome(task: Task) -> Outcome:
    """How far an answer gets; no exception leaves this function."""
    kind, row, options = task
    try:
        for name, value in row.items():
            if not isinstance(value, str | bool | None):
                raise UserError(f"{name} is a text, not {type(value).__name__}")
        with row_budget(options.row_seconds):
            reached = _REACHED[kind](row, options)
    except Exception as error:
        reraise_interrupt(error)
        return 0, f"{type(error).__name__}: {error}"
    return max((number for number, step in enumerate(reached, 1) if step), default=0), ""


def _problem(row: Row, options: ScoringOptions) -> Sequence[bool | None]:
    verdict = PROBLEM.read(row, options)
    if verdict.verdict == Verdict.REFERENCE_INVALID:
        raise UserError(verdict.detail)
    return verdict.parseable, verdict.solvable, verdict.solves_reference, verdict.equivalent


def _plan(row: Row, options: ScoringOptions) -> Sequence[bool | None]:
    pair = PLAN.read(row, options)
    if isinstance(pair, OnlySome):
        raise UserError(pair["plan_detail"])
    if "reference_problem" in row and pair.task is None:
        raise UserError(pair.detail)
    if pair.task is not None and pair.task.ill_typed:
        raise UserError(f"in the reference, {pair.task.ill_typed}")
    if pair.damage is not None:  # What stands behind it earns nothing.
        pair.generated = pair.generated[: pair.damage.steps_before]
    scores = _scores(
        PLAN, pair, "plan_lcs", "plan_jaccard", "plan_length", "plan_valid", "goal_reached", "first_failed_step"
    )
    some = scores["plan_length"] > 0
    if pair.task is None:
        return (
            some,
            scores["plan_jaccard"] > 0,
            scores["plan_jaccard"] == 1,
            scores["plan_lcs"] == 1 and pair.damage is None,
        )
    if scores["plan_valid"] is None:  # the row's budget has ended
        return (some,)
    return some, some and scores["first_failed_step"] is None, scores["goal_reached"], scores["plan_valid"]


def _domain(row: Row, options: ScoringOptions) -> Sequence[bool | None]:
    pair = DOMAIN.read(row, options)
    if isinstance(pair, OnlySome):
        raise UserError(pair["domain_detail"])
    decision = or_undecided(lambda: pair.decision)
    if not isinstance(decision, Undecided) and decision.verdict.right:
        return (True,) * len(SCALE)
    is_read = pair.generated is not None
    near = not isinstance(decision, Undecided) and decision.verdict == DomainVerdict.TYPES_DIFFER
    if is_read and not near:  # It may take a search for a plan in each domain.
        near = all(_scores(DOMAIN, pair, "domain_plan_valid", "domain_reference_plan_valid").values())
        if pair.missing_operators and pair.task is not None and pair.task.plan == ():
            near = False  # Two empty plans say nothing of the operators.
    return is_read, is_read and not pair.missing_operators, near


_REACHED = {"problem": _problem, "plan": _plan, "domain": _domain}


def _scores(pair: Pair, of: Any, *names: str) -> dict[str, Any]:
    """These scores; metrics without any of them are not computed."""
    metrics = (each for each in pair.metrics if any(column.name in names for column in each.columns))
    needed = replace(pair, metrics=tuple(metrics))
    scores = dict(zip((column.name for column in needed.columns), needed.score(of), strict=True))
    return {name: scores[name] for name in names}


def _in_workers(tasks: Sequence[Task], workers: int) -> list[Outcome]:
    """The outcomes of all tasks, from worker processes that are kept; a task that ends its process gets nothing."""
    outcomes: list[Outcome] = [(0, "")] * len(tasks)
    key = os.getpid(), workers  # A process that was forked has none of its parent's.
    with _POOLS_LOCK:
        pool = _POOLS.pop(key, None) or Processes(_bounded, workers, "reward")
        try:
            for (number, _), outcome in pool.outcomes(enumerate(tasks)):
                outcomes[number] = (0, outcome.reason) if isinstance(outcome, WorkerLost) else outcome
        except BaseException:  # Ctrl-C too: what still runs must not answer the next call.
            pool.close()
            raise
        _POOLS[key] = pool
    return outcomes


def _bounded(numbered: tuple[int, Task]) -> Outcome:
    """The outcome, in a worker process: beyond its budget the kernel ends the process, whatever it does."""
    _, task = numbered
    signal.setitimer(signal.ITIMER_PROF, task[2].row_seconds + GRACE_SECONDS)
    try:
        return _outcome(task)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
