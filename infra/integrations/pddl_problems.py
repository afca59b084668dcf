"""A metric for Hugging Face ``evaluate``, loaded from this file.

import evaluate
metric = evaluate.load("infra/integrations/pddl_problems.py")
metric.compute(predictions=answers, references=problems)["equivalent"]
"""

import datasets
import evaluate
import pddl_eval
import polars as pl

COLUMNS = ("parseable", "solvable", "solves_reference", "equivalent")


class PddlProblems(evaluate.Metric):
    """The shares of answers that are parseable, solvable, solve the reference and are equivalent; and the verdicts."""

    def _info(self) -> evaluate.MetricInfo:
        text = datasets.Value("string")
        return evaluate.MetricInfo(
            description="Whether PDDL problems are their references, up to names and to what their goals imply.",
            citation="",
            inputs_description="predictions: answers of a model; references: PDDL problems",
            features=datasets.Features({"predictions": text, "references": text}),
        )

    def _compute(self, predictions, references, is_placeholder=False, **settings):
        """``is_placeholder``: one value or a list; ``settings`` are those of ``pddl_eval.score_frame``."""
        rows = pl.DataFrame({"reference_problem": references, "generated_problem": predictions})
        placeholder = pl.Series(is_placeholder) if isinstance(is_placeholder, list) else pl.lit(is_placeholder)
        scored = pddl_eval.score_frame(rows.with_columns(placeholder.alias("is_placeholder")), **settings)
        usable = scored.filter(pl.col("verdict") != "reference_invalid")
        shares = usable.select(pl.col(COLUMNS).fill_null(False).mean()).row(0, named=True)
        return shares | {"verdicts": scored["verdict"].to_list()}
