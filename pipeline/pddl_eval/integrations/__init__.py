"""What harnesses, trainers and agents load: a file for each, a thin adapter over the functions of the Python interface.

Only the program that it is for imports a file of this folder. The tasks are Planetarium's: a row of the published
dataset has ``natural_language``, ``problem_pddl``, ``domain`` and ``is_placeholder``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pddl_eval

SCORES = ("parseable", "solvable", "solves_reference", "equivalent")
"""What the tasks report of an answer; what is undecided counts as no."""

REWARD_COLUMNS = ("kind", "problem", "domain", "question", "plan", "is_placeholder")
"""What a row of training data may say to ``pddl_eval.reward`` beside the reference."""


def question(row: Mapping[str, Any]) -> str:
    """What a model is asked: the text of the row, and in which domain the problem is.

    >>> question({"natural_language": "Put a on b.", "domain": "blocksworld"})
    'Put a on b.\\n\\nAnswer with a PDDL problem of the domain blocksworld.'
    """
    return f"{row['natural_language']}\n\nAnswer with a PDDL problem of the domain {row['domain']}."


def judged(row: Mapping[str, Any], answer: str) -> pddl_eval.ProblemVerdict:
    """The verdict of an answer to the row's question."""
    return pddl_eval.compare_problems(row["problem_pddl"], answer, is_placeholder=bool(row.get("is_placeholder")))


def scores(verdict: pddl_eval.ProblemVerdict) -> dict[str, float]:
    """The numbers that a task reports of a verdict.

    >>> held = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"
    >>> scores(judged({"problem_pddl": held}, held.replace("clear", "holding")))
    {'parseable': 1.0, 'solvable': 1.0, 'solves_reference': 0.0, 'equivalent': 0.0}
    """
    return {name: float(bool(getattr(verdict, name))) for name in SCORES}


def reward_columns(info: Mapping[str, Any] | None) -> dict[str, Any]:
    """What of a row's further fields ``pddl_eval.reward`` takes.

    >>> reward_columns({"kind": "plan", "split": "train"})
    {'kind': 'plan'}
    """
    return {name: info[name] for name in REWARD_COLUMNS if name in info} if info else {}
