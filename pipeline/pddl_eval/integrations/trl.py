"""Reinforcement learning with TRL: group relative policy optimisation (GRPO) on Planetarium's training split.

accelerate launch -m pddl_eval.integrations.trl Qwen/Qwen2.5-0.5B-Instruct
"""

import sys
from typing import Any

import pddl_eval
from pddl_eval.integrations import question


def pddl_reward(**columns: Any) -> Any:
    """TRL gives ``completions`` and the columns of the data: here ``reference`` and ``is_placeholder``."""
    return pddl_eval.reward(**columns, workers=2)


def as_example(row: dict[str, Any]) -> dict[str, Any]:
    """A row of the published dataset as TRL takes it: a chat, and what the reward needs."""
    return {"prompt": [{"role": "user", "content": question(row)}], "reference": row["problem_pddl"]}


def main(model: str) -> None:
    """Train."""
    from datasets import load_dataset
    from trl import GRPOConfig, GRPOTrainer

    data = load_dataset("BatsResearch/planetarium", split="train").map(as_example)
    # The domain's name in the data is not a setting of the reward: the reference says it.
    data = data.select_columns(["prompt", "reference", "is_placeholder"])
    settings = GRPOConfig(output_dir="grpo", num_generations=8, max_completion_length=1024)
    GRPOTrainer(model=model, reward_funcs=pddl_reward, args=settings, train_dataset=data).train()


if __name__ == "__main__":
    main(sys.argv[1])
