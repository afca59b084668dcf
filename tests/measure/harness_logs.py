"""Writes the logs of ``tests/datasets/logs`` with the real packages, which must be installed: inspect_ai and lm_eval.

    python -m tests.measure.harness_logs [FOLDER]

Questions and answers are rows of the bundled sample. Each question is answered twice: as in the sample, and with its
reference in a fence; the model fails at the last answer of Inspect. ``acpbench`` has two questions in the form of
ACPBench's, as the tasks of its repository for Inspect and those of lm-evaluation-harness ask and log them.
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


def acpbench() -> list[dict[str, Any]]:
    """A question of ACPBench Hard and one of ACPBench, written here, each with ``said``, an answer to it."""
    domain = "(define (domain trip) (:predicates (at ?x) (road ?x ?y)) (:action go :parameters (?x ?y)\n"
    domain += "  :precondition (and (at ?x) (road ?x ?y)) :effect (and (at ?y) (not (at ?x)))))"
    problem = "(define (problem p) (:domain trip) (:objects a b c) (:init (at a) (road a b) (road b c)) (:goal (at c)))"
    context = "Towns are joined by roads. " * 20
    hard = {"PDDL_domain": domain, "PDDL_problem": problem, "context": context, "said": "It is (at b)."}
    asked = "Generate a non-trivial fact landmark, one that does not hold in the initial state or goal."
    return [
        {"id": 7, "group": "landmarks_gen", "question": asked, "answer": {"yes": ["(at b)"], "no": []}, **hard},
        {"id": 8, "group": "landmarks_bool", "question": "Is (at b) a landmark?", "answer": "yes", "context": context}
        | {"said": "The answer is no."},
    ]


def write_inspect(folder: Path, form: str) -> None:
    """A log of Inspect, and with it those of ACPBench's tasks."""
    from inspect_ai.dataset import Sample

    samples = [
        Sample(
            id=each["id"],
            input=each["natural_language"],
            target=each["problem_pddl"],
            metadata={name: each[name] for name in ("name", "domain", "is_placeholder")},
        )
        for each in questions()
    ]
    _evaluate(folder, form, "blocks", samples, [*(text for _, _, text in answers())][:-1])
    for asked in acpbench():
        # As its repository makes samples: the id is a number, all of a record but its question is metadata.
        is_hard = asked["group"].endswith("_gen")
        kept = ("context", "group", "PDDL_problem", "PDDL_domain", "answer") if is_hard else ("context",)
        metadata = {name: asked[name] for name in kept}
        sample = Sample(input=asked["question"], target=str(asked["answer"]), metadata=metadata)
        task = f"acp_land_{asked['group'].rpartition('_')[2]}"
        _evaluate(folder.with_name(f"acpbench-{folder.name}"), form, task, [sample], [asked["said"]] * 2)


def _evaluate(folder: Path, form: str, task: str, samples: Any, texts: list[str]) -> None:
    """Ask each question twice; the model fails where there is no more text."""
    import inspect_ai
    from inspect_ai.dataset import MemoryDataset
    from inspect_ai.model import ModelAPI, ModelOutput, get_model, modelapi
    from inspect_ai.solver import generate, prompt_template

    left = iter(texts)

    @modelapi(name="written")
    class Written(ModelAPI):
        async def generate(self, *_: Any, **__: Any) -> ModelOutput:
            if (text := next(left, None)) is None:
                raise ValueError("the server is gone")
            return ModelOutput.from_content("model-a", text)

    solver = [prompt_template("{context}\n{prompt}"), generate()] if task.startswith("acp") else generate()
    inspect_ai.eval(
        inspect_ai.Task(dataset=MemoryDataset(samples), solver=solver, name=task),
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
    """A sample file of lm-evaluation-harness, and the results beside it; with it those of ACPBench's tasks."""
    _lm_evaluate(folder, data, "blocks", questions(), {(i, s): text for i, s, text in answers()})
    for asked in acpbench():
        task = f"acp_land_{asked['group'].rpartition('_')[2]}"
        texts = {(asked["id"], 1): asked.pop("said")}
        _lm_evaluate(folder.with_name("acpbench-lm-eval"), data, task, [asked], texts)


def _lm_evaluate(
    folder: Path, data: Path, task: str, asked: list[dict[str, Any]], texts: dict[tuple[int, int], str]
) -> None:
    import lm_eval
    from lm_eval.api.model import LM
    from lm_eval.loggers import EvaluationTracker
    from lm_eval.tasks import TaskManager

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

    is_acpbench = task.startswith("acp")
    text, target = ("context", "answer") if is_acpbench else ("natural_language", "problem_pddl")
    with (data / f"{task}.jsonl").open("w", encoding="utf-8") as lines:
        for each in asked:
            kept = {name: value for name, value in each.items() if is_acpbench or name != "answer"}
            lines.write(json.dumps(kept) + "\n")
    (data / f"{task}.yaml").write_text(
        f"""
task: {task}
dataset_path: json
dataset_kwargs: {{data_files: {{test: "{data}/{task}.jsonl"}}}}
test_split: test
output_type: generate_until
doc_to_text: "{{{{{text}}}}}"
doc_to_target: "{{{{{target}}}}}"
generation_kwargs: {{until: ["<end>"], do_sample: false}}
repeats: {len(texts) // len(asked)}
metric_list: [{{metric: exact_match, aggregation: mean, higher_is_better: true}}]
"""
    )
    tracker = EvaluationTracker(output_path=str(folder))
    found = lm_eval.simple_evaluate(
        model=Written(),
        tasks=[task],
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
    for name, rows in samples.items():
        tracker.save_results_samples(task_name=name, samples=rows)


def main(folder: Path) -> None:
    """Write all logs, in place of those that are there."""
    os.environ |= {"HF_DATASETS_OFFLINE": "1", "HF_HUB_OFFLINE": "1"}
    for name in ("inspect", "lm-eval", "acpbench-inspect", "acpbench-lm-eval"):
        shutil.rmtree(folder / name, ignore_errors=True)
    data = folder / "data"
    data.mkdir(parents=True, exist_ok=True)
    write_lm_eval(folder / "lm-eval", data)
    write_inspect(folder / "inspect", "eval")
    if folder != LOGS:  # A large file, of which the tests make their own.
        write_inspect(folder / "inspect-json", "json")
    shutil.rmtree(data)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else LOGS)
