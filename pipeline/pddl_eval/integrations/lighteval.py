"""Planetarium in lighteval: a task with four metrics.

lighteval accelerate model_name=MODEL "planetarium" --custom-tasks pddl_eval.integrations.lighteval
"""

from typing import Any

import numpy as np
from lighteval.metrics.metrics_sample import SampleLevelComputation
from lighteval.metrics.utils.metric_utils import SampleLevelMetricGrouping
from lighteval.tasks.lighteval_task import LightevalTaskConfig
from lighteval.tasks.requests import Doc, SamplingMethod

from pddl_eval.integrations import SCORES, judged, question, scores


class Problems(SampleLevelComputation):
    """The scores of an answer."""

    def compute(self, doc: Any, model_response: Any, **_others: object) -> dict[str, float]:
        return scores(judged(doc.specific, model_response.final_text[0]))


def prompt(line: dict[str, Any], task_name: str = "") -> Doc:
    """A row as a question with its reference."""
    return Doc(query=question(line), choices=[line["problem_pddl"]], gold_index=0, task_name=task_name, specific=line)


METRIC = SampleLevelMetricGrouping(
    metric_name=list(SCORES),
    higher_is_better=dict.fromkeys(SCORES, True),
    category=SamplingMethod.GENERATIVE,
    sample_level_fn=Problems(),
    corpus_level_fn=dict.fromkeys(SCORES, np.mean),
)
TASKS_TABLE = [
    LightevalTaskConfig(
        name="planetarium",
        prompt_function=prompt,
        hf_repo="BatsResearch/planetarium",
        hf_subset="default",
        evaluation_splits=["test"],
        metrics=[METRIC],
        generation_size=2048,
    )
]
