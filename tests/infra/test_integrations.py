"""The files of ``infra/integrations`` in the programs that they are for; each test skips where its program is missing.

Nothing is downloaded. TRL needs torch: its example is called as TRL calls reward functions.
"""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.infra.folder import ROOT

HERE = ROOT / "infra" / "integrations"
START = "(arm-empty) (clear a) (on-table a) (clear b) (on-table b)"
TOWER = f"(define (problem p) (:domain blocksworld) (:objects a b) (:init {START}) (:goal (on a b)))"
RIGHT = f"Sure!\n```pddl\n{TOWER.replace('(on a b)', '(and (on a b) (clear a))')}\n```"
EASY = TOWER.replace("(on a b)", "(and)")
ANSWERS = [RIGHT, EASY, "I cannot do that.", TOWER.replace("(on a b)", "(on a a)")]
SHARES = {"parseable": 0.75, "solvable": 0.5, "solves_reference": 0.25, "equivalent": 0.25}


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    """As many questions as answers, in JSON Lines."""
    row = {"natural_language": "Put a on b.", "problem_pddl": TOWER, "domain": "blocksworld", "is_placeholder": False}
    file = tmp_path / "pairs.jsonl"
    file.write_text("".join(f"{json.dumps(row)}\n" for _ in ANSWERS), encoding="utf-8")
    return file


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "HF_EVALUATE_OFFLINE"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "huggingface"))


def module(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, HERE / f"{name}.py")
    assert spec is not None and spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def test_inspect(pairs: Path, tmp_path: Path) -> None:
    inspect_ai = pytest.importorskip("inspect_ai")
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    outputs: list[Any] = [ModelOutput.from_content("mockllm/model", answer) for answer in ANSWERS]
    for output in outputs:
        output.usage = ModelUsage()  # Without it the mock loads a tokenizer from the network.
    (log,) = inspect_ai.eval(
        module("inspect_planetarium").planetarium(str(pairs)),
        model=get_model("mockllm/model", custom_outputs=outputs),
        log_dir=str(tmp_path / "logs"),
        display="none",
        max_samples=1,
    )
    assert log.status == "success", log.error
    assert {each.name: each.metrics["mean"].value for each in log.results.scores} == SHARES
    assert [sample.scores["pddl_problem"].explanation.split(":")[0] for sample in log.samples] == [
        *("equivalent", "goal_differs", "unparseable", "unsolvable")
    ]


def test_lm_evaluation_harness(pairs: Path, tmp_path: Path) -> None:
    pytest.importorskip("lm_eval")
    from lm_eval import simple_evaluate
    from lm_eval.api.model import LM
    from lm_eval.tasks import TaskManager

    class Answers(LM):
        def generate_until(self, requests: Any, **_: Any) -> list[str]:
            return ANSWERS

        def loglikelihood(self, requests: Any) -> Any: ...

        def loglikelihood_rolling(self, requests: Any) -> Any: ...

    text = f"include: {HERE / 'planetarium.yaml'}\ntask: local_pairs\ndataset_path: json\n"
    text += f"test_split: train\ndataset_kwargs:\n  data_files: {pairs}\n"
    (tmp_path / "tasks").mkdir()
    (tmp_path / "tasks" / "local.yaml").write_text(text, encoding="utf-8")
    found = simple_evaluate(
        Answers(),
        tasks=["local_pairs"],
        task_manager=TaskManager(include_path=str(tmp_path / "tasks"), include_defaults=False),
        bootstrap_iters=0,
    )
    results = found["results"]["local_pairs"]
    assert {name: results[f"{name},none"] for name in SHARES} == SHARES


def test_evaluate() -> None:
    evaluate = pytest.importorskip("evaluate")
    metric = evaluate.load(str(HERE / "pddl_problems.py"))
    found = metric.compute(predictions=ANSWERS, references=[TOWER] * len(ANSWERS))
    assert {name: found[name] for name in SHARES} == SHARES
    assert found["verdicts"] == ["equivalent", "goal_differs", "unparseable", "unsolvable"]
    damaged = metric.compute(predictions=[RIGHT, RIGHT], references=[TOWER, "no"], is_placeholder=[True, False])
    assert damaged["equivalent"] == 1.0


def test_trl_by_its_calling_convention() -> None:
    example = module("trl_grpo")
    row = {"natural_language": "Put a on b.", "problem_pddl": TOWER, "domain": "blocksworld", "is_placeholder": False}
    made = row | example.as_example(row)
    assert made["prompt"][0]["role"] == "user"
    rewards = example.pddl_reward(
        prompts=[made["prompt"]] * 4,
        completions=[[{"role": "assistant", "content": answer}] for answer in ANSWERS],
        completion_ids=[[1, 2]] * 4,
        trainer_state=object(),
        log_extra=None,
        log_metric=None,
        reference=[made["reference"]] * 4,
        is_placeholder=[False] * 4,
    )
    assert rewards == [1.0, 0.2, 0.0, 0.1]
    assert all(type(each) is float for each in rewards)
    assert example.pddl_reward.__name__
