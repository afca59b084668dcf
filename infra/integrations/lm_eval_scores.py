"""What ``planetarium.yaml`` calls for each answer in lm-evaluation-harness."""

import pddl_eval


def process_results(doc: dict, results: list[str]) -> dict[str, float]:
    """The scores of one answer; what is undecided counts as no."""
    placeholder = bool(doc.get("is_placeholder"))
    found = pddl_eval.compare_problems(doc["problem_pddl"], results[0], is_placeholder=placeholder)
    names = ("parseable", "solvable", "solves_reference", "equivalent")
    return {name: float(bool(getattr(found, name))) for name in names}
