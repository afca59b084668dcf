"""TRL itself, with torch: one step of GRPO on a model with random weights, which nothing downloads.

``.ci/more`` runs it in an environment of its own: ``pip install trl`` brings torch.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

HELD = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"


def test_a_step_of_grpo_asks_the_reward(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trl = pytest.importorskip("trl")
    torch = pytest.importorskip("torch")
    from datasets import Dataset
    from pddl_eval.integrations.trl import pddl_reward
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    words = [HELD, "?", " ", "<eos>", "<pad>"]
    by_letter = Tokenizer(models.WordLevel({word: number for number, word in enumerate(words)}, unk_token=" "))
    by_letter.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=by_letter, eos_token="<eos>", pad_token="<pad>")
    tokenizer.chat_template = "{% for each in messages %}{{ each['content'] }}{% endfor %}"
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "max_position_embeddings": 512}
    model = LlamaForCausalLM(LlamaConfig(vocab_size=len(words), num_attention_heads=2, num_key_value_heads=2, **sizes))
    asked: list[dict[str, Any]] = []

    def recorded(**columns: Any) -> Any:
        asked.append(columns)
        return pddl_reward(**columns)

    example = {"prompt": [{"role": "user", "content": "?"}], "reference": HELD, "is_placeholder": False}
    settings = trl.GRPOConfig(
        output_dir=str(tmp_path),
        num_generations=64,
        per_device_train_batch_size=64,
        max_completion_length=1,  # one word, of which one is the whole problem
        max_steps=1,
        report_to=[],
        use_cpu=True,
        logging_steps=1,
        save_strategy="no",
    )
    trainer = trl.GRPOTrainer(
        model=model,
        processing_class=tokenizer,
        reward_funcs=recorded,
        args=settings,
        train_dataset=Dataset.from_list([example] * 64),
    )
    trainer.train()
    (columns,) = asked
    said = [completion[0]["content"] for completion in columns["completions"]]
    expected = [1.0 if text == HELD else 0.0 for text in said]
    assert set(expected) == {0.0, 1.0} and len(said) == 64 and columns["reference"] == [HELD] * 64
    assert pddl_reward(**columns) == expected
    mean = trainer.state.log_history[0]["rewards/recorded/mean"]
    assert mean == pytest.approx(sum(expected) / 64, abs=1e-4)
