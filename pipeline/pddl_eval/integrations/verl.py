"""A reward for verl, with each of its reward managers of today (``naive``, ``dapo``, ``gdpo``, ``remote``).

    reward.custom_reward_function.path=pkg://pddl_eval.integrations.verl
    reward.custom_reward_function.name=compute_score

They call it for one answer at a time, in threads or, with ``remote``, in processes. ``ground_truth`` is the
reference; ``extra_info`` may have what else ``pddl_eval.reward`` takes. verl's own time limit needs the main thread's
signals; this reward needs none.
"""

from typing import Any

import pddl_eval
from pddl_eval.integrations import reward_columns


def compute_score(
    data_source: str,  # noqa: ARG001
    solution_str: str,
    ground_truth: str,
    extra_info: dict[str, Any] | None = None,
    **_others: object,
) -> dict[str, float]:
    """The score of an answer; the other entries are logged, and with ``gdpo`` can be rewards of their own."""
    found = pddl_eval.reward(solution_str, ground_truth, **reward_columns(extra_info), workers=2, details=True)
    return {"score": found.reward, "step": found.reached, "seconds": found.seconds}
