"""verl's reward loop and OpenRLHF's executor themselves, with torch; only the model is a stand-in.

``.ci/more`` runs them, each in an environment of its own: ``pip install verl`` brings torch. OpenRLHF comes without
what needs a GPU (deepspeed, flash-attn, vllm); its executor and its reward functions import none of that.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import string
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.integrations.test_integrations import ANSWERS, HERE, PLAN, REWARDS, TOWER

PLANS = ["(pickup a)\n(stack a b)", "(pickup a)", "(putdown a)"]
PLAN_REWARDS = [1.0, 0.2, 0.1]


def tokenizer() -> Any:
    """One token for each letter, so that every text comes back as it was; it needs no file of a model."""
    tokenizers, transformers = pytest.importorskip("tokenizers"), pytest.importorskip("transformers")
    letters = {each: number for number, each in enumerate([*string.printable, "<eos>"])}
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel(letters, unk_token=" "))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Split("", "isolated")
    made.decoder = tokenizers.decoders.Fuse()
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=made, eos_token="<eos>", pad_token="<eos>", clean_up_tokenization_spaces=False
    )


@pytest.fixture
def ray_here() -> Iterator[None]:
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield
    ray.shutdown()


@pytest.mark.timeout(900)  # Workers of Ray import torch, each for itself.
@pytest.mark.skipif(not importlib.util.find_spec("verl"), reason="verl is not here")
@pytest.mark.parametrize("manager", ["naive", "dapo", "gdpo", "remote"])
def test_verl_scores_a_batch(manager: str, tmp_path: Path, ray_here: None) -> None:
    """Its reward loop, as its trainer starts it: the reward function by its ``pkg://`` name, each of its managers."""
    import numpy as np
    import torch
    from omegaconf import OmegaConf
    from verl import DataProto
    from verl.experimental.reward_loop.reward_loop import RewardLoopWorker

    letters = tokenizer()
    letters.save_pretrained(tmp_path)
    settings = {
        "actor_rollout_ref": {"model": {"tokenizer_path": str(tmp_path), "path": str(tmp_path)}},
        "trainer": {"experiment_name": "planning"},
        "reward": {
            "num_workers": 1,
            "custom_reward_function": {"path": "pkg://pddl_eval.integrations.verl", "name": "compute_score"},
            "reward_manager": {"source": "register", "name": manager},
            "reward_model": {"enable": False},
        },
    }
    answers, problems = [*ANSWERS, *PLANS], len(ANSWERS)
    ids = [letters.encode(text) for text in answers]
    longest = max(map(len, ids))
    padded = torch.tensor([each + [letters.pad_token_id] * (longest - len(each)) for each in ids])
    mask = torch.tensor([[1] * len(each) + [0] * (longest - len(each)) for each in ids])
    prompts = torch.zeros((len(ids), 3), dtype=torch.long)

    def told(values: list[Any]) -> Any:
        column = np.empty(len(values), dtype=object)
        column[:] = values
        return column

    data = DataProto.from_dict(
        tensors={"prompts": prompts, "responses": padded, "attention_mask": torch.cat([prompts + 1, mask], 1)},
        non_tensors={
            "data_source": told(["pddl"] * len(ids)),
            "reward_model": told([{"ground_truth": TOWER if at < problems else None} for at in range(len(ids))]),
            "extra_info": told([{"index": 1} if at < problems else dict(PLAN) for at in range(len(ids))]),
        },
    )

    async def scored() -> Any:
        worker = RewardLoopWorker(OmegaConf.create(settings))
        return worker, await worker.compute_score_batch(data)

    worker, found = asyncio.run(scored())
    scores = [each["reward_score"] for each in found]
    assert scores == REWARDS + PLAN_REWARDS
    assert [each["reward_extra_info"]["step"] for each in found[:problems]] == [4, 2, 0, 1]
    rewards = worker.reward_manager.assemble_rm_scores(data, scores)
    assert rewards.sum(1).tolist() == pytest.approx(scores)


@pytest.mark.skipif(not importlib.util.find_spec("openrlhf"), reason="OpenRLHF is not here")
def test_openrlhf_executes_a_turn() -> None:
    """Its executor loads the file as ``--reward.remote_url`` names it, and asks it about what the model wrote."""
    torch = pytest.importorskip("torch")
    from openrlhf.utils.agent import SingleTurnAgentExecutor

    letters = tokenizer()
    executor = SingleTurnAgentExecutor(str(HERE / "openrlhf.py"))
    prompt = f"Here is a problem:\n{TOWER}\nWrite it in other words.\n"

    class Model:
        def __init__(self, text: str) -> None:
            self.said = SimpleNamespace(token_ids=letters.encode(text), text=text, finish_reason="stop", logprobs=None)

        async def generate(self, *_: Any, **__: Any) -> Any:
            return SimpleNamespace(outputs=[self.said])

    def turn(answer: str, label: str) -> Any:
        asked = SimpleNamespace(max_tokens=4096, logprobs=None)
        return asyncio.run(executor.execute(prompt, label, asked, 8192, letters, Model(f"{answer}<eos>")))

    found = [turn(answer, TOWER) for answer in ANSWERS] + [turn(plan, json.dumps(PLAN)) for plan in PLANS]
    assert [each["reward"].item() for each in found] == pytest.approx(REWARDS + PLAN_REWARDS)
    assert [each["scores"].item() for each in found] == [each["reward"].item() for each in found]
    assert torch.stack([each["extra_logs"]["step"] for each in found]).flatten().tolist()[:4] == [4, 2, 0, 1]
