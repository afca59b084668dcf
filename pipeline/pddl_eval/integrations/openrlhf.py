"""A reward function for OpenRLHF, which wants the file's place: ``--reward.remote_url FILE``, where

    FILE=$(python -c 'import pddl_eval; print(*pddl_eval.__path__)')/integrations/openrlhf.py

A query is the prompt with the answer behind it, in one text with its special tokens: what the prompt says is not what
is scored. A label is the reference problem, or a JSON object of what ``pddl_eval.reward`` takes, such as
``{"kind": "plan", "problem": "(define …"}``. OpenRLHF calls it in threads of Ray actors.
"""

import json
from typing import Any

import torch

import pddl_eval
from pddl_eval.integrations import reward_columns


def reward_func(queries: list[str], prompts: list[str], labels: list[str], **_others: object) -> dict[str, Any]:
    """The rewards, and the steps reached for the log."""
    found = [
        pddl_eval.reward(query, **_asked(label), strip_prompt=prompt, workers=2, details=True)
        for query, prompt, label in zip(queries, prompts, labels, strict=True)
    ]
    rewards = torch.tensor([each.reward for each in found])
    reached = torch.tensor([float(each.reached) for each in found])
    return {"rewards": rewards, "scores": rewards, "extra_logs": {"step": reached}}


def _asked(label: str) -> dict[str, Any]:
    """What a label says; PDDL begins with no brace."""
    if not label.lstrip().startswith("{"):
        return {"reference": label}
    known = json.loads(label)
    return {"reference": known.get("reference"), **reward_columns(known)}
