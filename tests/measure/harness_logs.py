"""Writes the logs of ``tests/datasets/logs`` with the real packages, which must be installed: inspect_ai and lm_eval.

    python -m tests.measure.harness_logs [FOLDER]

Questions and answers are rows of the bundled sample. Each question is answered twice: as in the sample, and with its
reference in a fence; the model fails at the last answer of Inspect.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

ROOT = Path(__file__).parents[2]
LOGS = ROOT / "tests" / "datasets" / "logs"
SAMPLE = ROOT / "pipeline" / "pddl_eval" / "benchmark" / "sample.parquet"

FIRST_ID = 100


def questions() -> list[dict[str, Any]]:
    """Questions as Planetarium publishes them, and the answer in the sample."""
    columns = ["reference_problem", "generated_problem", "is_placeholder", "domain"]
    rows = pq.read_table(SAMPLE, columns=columns).to_pylist()[3::50]
    return [
        {
            "id": FIRST_ID + number,
            "name": f"question {number}",
            "natural_language": "Stack the blocks.",
            "problem_pddl": row["reference_problem"],
            "is_placeholder": int(row["is_placeholder"]),
            "domain": row["domain"],
            "answer": row["generated_problem"],
        }
        for number, row in enumerate(rows)
    ]


def answers() -> list[tuple[int, int, str]]:
    """Question, sample and text of each answer, sample by sample."""
    fenced = [f"Sure!\n```pddl\n{each['problem_pddl']}\n```" for each in questions()]
    first = [each["answer"] or "" for each in questions()]
    return [
        (FIRST_ID + number, sample, text)
        for sample, texts in ((1, first), (2, fenced))
        for number, text in enumerate(texts)
    ]


def write_inspect(folder: Path, form: str) -> None:
    """A log of Inspect."""
    import inspect_ai
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ModelAPI, ModelOutput, get_model, modelapi
    from inspect_ai.solver import generate

    texts = [text for _, _, text in answers()]

    @modelapi(name="written")
    class Written(ModelAPI):
        given = 0

        async def generate(self, *_: Any, **__: Any) -> ModelOutput:
            self.given += 1
            if self.given == len(texts):
                raise ValueError("the server is gone")
            return ModelOutput.from_content("model-a", texts[self.given - 1])

    samples = [
        Sample(
            id=each["id"],
            input=each["natural_language"],
            target=each["problem_pddl"],
            metadata={name: each[name] for name in ("name", "domain", "is_placeholder")},
        )
        for each in questions()
    ]
    inspect_ai.eval(
        inspect_ai.Task(dataset=MemoryDataset(samples), solver=generate(), name="blocks"),
        model=get_model("written/model-a", memoize=False),
        log_dir=str(folder),
        log_format=form,
        epochs=2,
        display="none",
        max_connections=1,
        max_samples=1,
        fail_on_error=False,
    )


def write_lm_eval(folder: Path, data: Path) -> None:
    """A sample file of lm-evaluation-harness, and the results beside it."""
    import lm_eval
    from lm_eval.api.model import LM
    from lm_eval.loggers import EvaluationTracker
    from lm_eval.tasks import TaskManager

    texts = {(id, sample): text for id, sample, text in answers()}

    class Written(LM):
        def generate_until(self, requests: Any, **_: Any) -> list[str]:
            given: dict[int, int] = {}
            found = []
            for each in requests:
                given[each.doc["id"]] = given.get(each.doc["id"], 0) + 1
                found.append(texts[each.doc["id"], given[each.doc["id"]]])
            return found

        def loglikelihood(self, *_: Any, **__: Any) -> Any:
            raise NotImplementedError

        def loglikelihood_rolling(self, *_: Any, **__: Any) -> Any:
            raise NotImplementedError

    (data / "blocks.yaml").write_text(
        f"""
task: blocks
dataset_path: json
dataset_kwargs: {{data_files: {{test: "{data}/references.jsonl"}}}}
test_split: test
output_type: generate_until
doc_to_text: "{{{{natural_language}}}}"
doc_to_target: "{{{{problem_pddl}}}}"
generation_kwargs: {{until: ["<end>"], do_sample: false}}
repeats: 2
metric_list: [{{metric: exact_match, aggregation: mean, higher_is_better: true}}]
"""
    )
    tracker = EvaluationTracker(output_path=str(folder))
    found = lm_eval.simple_evaluate(
        model=Written(),
        tasks=["blocks"],
        task_manager=TaskManager(include_path=str(data), include_defaults=False),
        log_samples=True,
        evaluation_tracker=tracker,
        bootstrap_iters=0,
    )
    samples = found.pop("samples")
    tracker.general_config_tracker.model_name = "org/model-b"
    tracker.general_config_tracker.model_name_sanitized = "org__model-b"
    found = {name: found[name] for name in ("results", "configs", "versions", "n-shot") if name in found}
    tracker.save_results_aggregated(results=found, samples=samples)
    for task, rows in samples.items():
        tracker.save_results_samples(task_name=task, samples=rows)


def main(folder: Path) -> None:
    """Write all logs, in place of those that are there."""
    os.environ |= {"HF_DATASETS_OFFLINE": "1", "HF_HUB_OFFLINE": "1"}
    for name in ("inspect", "lm-eval"):
        shutil.rmtree(folder / name, ignore_errors=True)
    data = folder / "data"
    data.mkdir(parents=True, exist_ok=True)
    with (data / "references.jsonl").open("w", encoding="utf-8") as lines:
        for each in questions():
            lines.write(json.dumps({name: value for name, value in each.items() if name != "answer"}) + "\n")
    write_lm_eval(folder / "lm-eval", data)
    write_inspect(folder / "inspect", "eval")
    if folder != LOGS:  # A large file, of which the tests make their own.
        write_inspect(folder / "inspect-json", "json")
    shutil.rmtree(data)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else LOGS)
