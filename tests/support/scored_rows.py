"""Small scored datasets for the tests of the report: frames, and folders of partitions as a run writes them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow.parquet as pq
from pddl_eval.datasets import SIGNATURE_KEY

HOSTILE = "<script>alert(1)</script> & \"quotes\" 'too' | `code` [bold]x[/bold] \x1b[31m\u202e"
"""A name as nobody should have it: markup of three languages, an escape sequence, a change of direction."""

ANSWERS = (
    ("strong", "blocksworld", 1, "identical", "the same atoms", 3),
    ("strong", "blocksworld", 2, "isomorphic", "the same atoms after renaming objects", 4),
    ("strong", "gripper", 3, "equivalent", "the goals agree once fully specified", 5),
    ("strong", "gripper", 4, "goal_differs", "the goal asks for (on b1 b2), which the reference's does not imply", 9),
    ("weak", "blocksworld", 1, "goal_differs", "the goal asks for (on b3 b4), which the reference's does not imply", 3),
    ("weak", "blocksworld", 2, "types_differ", "b1 has type block instead of object", 4),
    ("weak", "gripper", 3, "unparseable", "no (define (problem …)) was found", 5),
    ("weak", "gripper", 4, "undecided", "more than 100,000 states are reachable", 9),
    ("weak", "gripper", 5, "reference_invalid", "the reference has no solution", 9),
)
"""Model, domain, problem, verdict, detail and number of objects: nine answers of two models."""

YES = ("identical", "isomorphic", "equivalent")


def answers(strong: str = "strong", plans: bool = False) -> pl.DataFrame:
    """The nine answers with their scores; ``strong`` renames the model of that name."""
    names = ("model", "domain", "id", "verdict", "detail", "num_objects")
    frame = pl.DataFrame(ANSWERS, schema=names, orient="row")
    verdict = pl.col("verdict")
    open_ = verdict.is_in(["undecided", "reference_invalid"])
    frame = frame.with_columns(
        pl.col("model").replace("strong", strong),
        reference_certificate=pl.format("{}", "id"),
        parseable=verdict != "unparseable",
        solvable=pl.when(verdict != "undecided").then(verdict != "unparseable"),
        equivalent=pl.when(~open_).then(verdict.is_in(YES)),
        equivalent_untyped=pl.when(~open_).then(verdict.is_in([*YES, "types_differ"])),
        score_error=pl.lit(None, pl.String),
    )
    if not plans:
        return frame
    return frame.with_columns(
        plan_score=pl.Series([1.0, 1.0, 0.5, 0.5, 0.0, 0.3, 0.25, None, 0.9]),
        plan_length=pl.Series([3, 3, 4, 8, 0, 2, 2, 2, 50]),
        plan_valid=pl.Series([True, True, False, False, False, False, None, None, True]),
    )


def several_samples(seed: int, models: str = "abc", references: int = 20) -> pl.DataFrame:
    """Up to four answers of each model to each reference, with all scores that a report has numbers of."""
    generator = np.random.default_rng(seed)
    rows = [
        {"model": model, "reference_certificate": f"c{reference}", "domain": f"d{reference % 3}", "sample": sample}
        for model in models
        for reference in range(references)
        for sample in range(generator.integers(1, 5))
    ]
    frame, size = pl.DataFrame(rows), len(rows)
    equivalent = pl.Series(
        "equivalent", generator.choice([True, False, None], size, p=[0.5, 0.4, 0.1]).tolist(), pl.Boolean
    )
    return frame.with_columns(
        equivalent,
        parseable=pl.Series(generator.random(size) < 0.9),
        verdict=pl.Series(generator.choice(["isomorphic", "goal_differs", "init_differs", "reference_invalid"], size)),
        certificate=pl.format("c{}", pl.Series(generator.integers(0, 5, size))),
        detail=pl.format("detail {}", pl.Series(generator.choice(["x", "y"], size))),
        plan_score=pl.Series(generator.random(size)),
        plan_valid=pl.Series(generator.choice([True, False, None], size).tolist(), dtype=pl.Boolean),
        num_objects=pl.Series(generator.integers(1, 40, size)),
        domain_verdict=pl.lit("operators_differ"),
        domain_detail=pl.lit("go lacks the effect (p)"),
    )


def write_partitions(folder: Path, parts: Sequence[pl.DataFrame], signatures: Sequence[str | None] = ()) -> Path:
    """The frames as partitions ``pairs-0.parquet``, ``pairs-1.parquet``, … with their signatures, beside a manifest."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, part in enumerate(parts):
        table = part.to_arrow()
        with pq.ParquetWriter(folder / f"pairs-{number}.parquet", table.schema) as writer:
            writer.write_table(table)
            if number < len(signatures) and signatures[number] is not None:
                writer.add_key_value_metadata({SIGNATURE_KEY: signatures[number]})
    (folder / "_run.parquet").write_text("no partition")
    return folder
