"""What ``planetarium.yaml`` calls for each answer in lm-evaluation-harness."""

from typing import Any

from pddl_eval.integrations import judged, scores


def process_results(doc: dict[str, Any], results: list[str]) -> dict[str, float]:
    """The scores of one answer."""
    return scores(judged(doc, results[0]))
