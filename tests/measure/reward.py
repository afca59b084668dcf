"""How long a reward takes: ``python -m tests.measure.reward --references 100``.

Real references of each domain, each with eight answers of ``generate variants`` as in a group of GRPO (for plans by the
sample's recipes), are scored one call at a time. Prints milliseconds, of wall time and of processor time with the
planner's (p50, p99, maximum), and how many answers got each reward. Then batches of 64 are scored in this process and
in two worker processes. Exits with 1 if a batch has other rewards, or if an answer that is right by construction has
less than 1, or a wrong one 1.
"""

from __future__ import annotations

import argparse
import logging
import resource
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pddl_eval
import polars as pl
import pyarrow as pa
from pddl_eval.benchmark import DOMAIN_TEXTS, PLAN_RECIPES, PRESETS, by_preset, variants_table
from pddl_eval.definition.domains import known_domain
from pddl_eval.definition.model import plan_to_pddl
from pddl_eval.definition.pddl import parse_problem
from pddl_eval.definition.planning import Solution, solve

from tests.benchmark.domain_variants import domain_rows

PROBLEMS = Path(__file__).parents[3] / "shared" / "data" / "planetarium_problems.parquet"

GROUP = 8
"""Answers to a reference."""

BATCH = 64

RIGHT_PLANS = ("same_plan", "plan_in_a_list", "plan_as_json")

Row = dict[str, Any]
"""Arguments of ``reward``, and ``right``: whether the answer is; None where construction does not tell."""


def main() -> int:
    """Measure, print the table; 1 where a reward is wrong."""
    parser = argparse.ArgumentParser(description="Measure how long a reward takes.")
    parser.add_argument("--references", type=int, default=100, help="of each domain")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--problems", type=Path, default=PROBLEMS, help="references, a Parquet file")
    arguments = parser.parse_args()
    logging.disable()
    wrong = 0
    for domain, text in DOMAIN_TEXTS.items():
        found = pl.scan_parquet(arguments.problems).filter(pl.col("domain") == domain).collect()
        references = found.sample(min(found.height, arguments.references), seed=arguments.seed)
        for kind, rows in (
            ("problem", list(problems(references, arguments.seed))),
            ("plan", list(plans(references, domain, arguments.seed))),
            ("domain", list(domains(references, text, arguments.seed))),
        ):
            wrong += measure(domain, kind, rows)
    return 1 if wrong else 0


def problems(references: pl.DataFrame, seed: int) -> Iterator[Row]:
    """Answers to the problems."""
    table = references.select(pl.col("problem_pddl").alias("reference_problem"), "is_placeholder").to_arrow()
    for row in answers(table, seed):
        yield {
            "completions": row["generated_problem"],
            "reference": row["reference_problem"],
            "is_placeholder": row["is_placeholder"],
            "right": row["label_equivalent"],
        }


def plans(references: pl.DataFrame, domain: str, seed: int) -> Iterator[Row]:
    """Plans for the problems: the program's own, rewritten or damaged."""
    random = Random(seed)
    for text in references["problem_pddl"]:
        found = solve(parse_problem(text), known_domain(domain))
        if not isinstance(found, Solution):
            continue
        for number in range(GROUP):
            recipe = list(PLAN_RECIPES)[number % len(PLAN_RECIPES)]
            answer = PLAN_RECIPES[recipe](found.plan, random.randrange(len(found.plan)) if found.plan else 0)
            yield {
                "completions": answer,
                "reference": plan_to_pddl(found.plan),
                "problem": text,
                "right": True if recipe in RIGHT_PLANS else None,
            }


def domains(references: pl.DataFrame, text: str, seed: int) -> Iterator[Row]:
    """Answers to the domain, each with a problem to carry it out in."""
    rows = references.select(pl.lit(text).alias("reference_domain"), pl.col("problem_pddl").alias("problem")).to_dicts()
    for row in domain_rows(rows, seed, GROUP):
        yield {
            "completions": row["generated_domain"],
            "reference": row["reference_domain"],
            "problem": row["problem"],
            "right": row["label_domain_equivalent"],
        }


def answers(references: pa.Table, seed: int) -> list[Row]:
    """A group of answers of known correctness to each reference."""
    rows: list[Row] = variants_table(references, 0, by_preset(PRESETS["every-kind"], seed), GROUP).to_pylist()
    return rows


def measure(domain: str, kind: str, rows: list[Row]) -> int:
    """Score each row by itself and all in batches, print a line; how many rewards are wrong."""
    right = [row.pop("right") for row in rows]
    wall, cpu, alone = [], [], []
    for row in rows:
        start, used = time.perf_counter(), processor_seconds()
        alone.append(pddl_eval.reward(**row, kind=kind))
        wall.append(1000 * (time.perf_counter() - start))
        cpu.append(1000 * (processor_seconds() - used))
    rates, wrong = [], 0
    for workers in (None, 2):
        start = time.perf_counter()
        together: list[float] = []
        for first in range(0, len(rows), BATCH):
            columns = {name: [row[name] for row in rows[first : first + BATCH]] for name in rows[0]}
            together += pddl_eval.reward(**columns, kind=kind, workers=workers)  # type: ignore[operator]
        rates.append(f"{len(rows) / (time.perf_counter() - start):.0f}/s")
        wrong += sum(one != other for one, other in zip(alone, together, strict=True))
    wrong += sum(known is not None and known != (found == 1) for known, found in zip(right, alone, strict=True))
    shown = " ".join(
        f"{name} p50 {np.median(values):.2f} p99 {np.percentile(values, 99):.1f} max {max(values):.0f} ms;"
        for name, values in (("wall", wall), ("processor", cpu))
    )
    counts = ", ".join(f"{reward:g}: {count}" for reward, count in sorted(Counter(alone).items()))
    print(
        f"{domain} {kind}: {len(rows)} answers; {shown} repeated {rates[0]}, two workers {rates[1]}; "
        f"rewards {counts}; {wrong} wrong"
    )
    return wrong


def processor_seconds() -> float:
    """Processor time so far, of this process and of programs that it ran."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


if __name__ == "__main__":
    sys.exit(main())
