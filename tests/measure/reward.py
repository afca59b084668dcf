"""How long a reward takes: ``python -m tests.measure.reward --references 100``.

Real references of each domain, each with eight answers of ``generate variants`` as in a group of GRPO, are scored one
call at a time. Prints milliseconds, of wall time and of processor time with the
planner's (p50, p99, maximum), and how many answers got each reward. Then batches of 64 are scored in this process and
in two worker processes. Exits with 1 if a batch has other rewards, or if an answer that is right by construction has
less than 1, or a wrong one 1.

``--batch 4096`` measures a training batch of that many answers instead: half of them problems, three eighths plans, an
eighth domains that are executed, with hostile answers among them (``HOSTILE``); in this thread, with one worker process
and with two. Then again beside a call whose answer is stalled: is that one still at work when the batch is done?
"""

from __future__ import annotations

import argparse
import logging
import resource
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pddl_eval
import polars as pl
import pyarrow as pa
from pddl_eval.benchmark import KINDS, PRESETS, Variants
from pddl_eval.benchmark.variants import Kind
from pddl_eval.scoring.rewards import ROW_SECONDS, Rewarded

from tests.support.domain_variants import domain_rows
from tests.support.sample import DOMAIN_TEXTS
from tests.support.shared_problems import SHARED_PROBLEMS

GROUP = 8
"""Answers to a reference."""

BATCH = 64

Row = dict[str, Any]
"""Arguments of ``reward``, and ``right``: whether the answer is; None where construction does not tell."""


def main() -> int:
    """Measure, print the table; 1 where a reward is wrong."""
    parser = argparse.ArgumentParser(description="Measure how long a reward takes.")
    parser.add_argument("--references", type=int, default=100, help="of each domain")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--batch", type=int, help="measure one batch of that many answers of all kinds")
    parser.add_argument("--problems", type=Path, default=SHARED_PROBLEMS, help="references, a Parquet file")
    arguments = parser.parse_args()
    logging.disable()
    if arguments.batch:
        return measure_batch(training_batch(arguments.problems, arguments.batch, arguments.seed))
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
    table = references.select(pl.col("problem_pddl").alias("reference_problem"), domain=pl.lit(domain)).to_arrow()
    for row in answers(table, seed, KINDS["plan"]):
        yield {
            "completions": row["generated_plan"],
            "reference": None,
            "problem": row["reference_problem"],
            "right": row["label_plan_valid"],
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


def answers(references: pa.Table, seed: int, kind: Kind = KINDS["problem"]) -> list[Row]:
    """A group of answers of known correctness to each reference."""
    rows: list[Row] = Variants(PRESETS["every-kind"], kind, GROUP, seed).table(references).to_pylist()
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


NAMES = " ".join(f"b{number}" for number in range(60))
SLOW_DOMAIN = """(define (domain d) (:action go :parameters (?a ?b ?c ?d ?e)
    :precondition (and (at ?a ?b) (at ?b ?c) (at ?c ?d) (at ?d ?e)) :effect (in ?a ?e)))"""
SLOW = f"(define (problem p) (:domain d) (:objects {NAMES}) (:init {{}}) (:goal (and (in b1 b2))))".format(
    " ".join(f"(at {one} {other})" for one in NAMES.split() for other in NAMES.split())
)
"""A problem whose 60^5 actions nobody can list: it uses up whatever time it has."""

HOSTILE = (
    *("", "(" * 200_000, "(and " * 20_000, "\0\x1b[31m" * 10_000, "word " * 200_000, "<think>" * 20_000, SLOW),
    "(define (problem p) (:domain blocksworld) (:objects " + "b " * 50_000 + ") (:init) (:goal (and)))",
    "(define (domain d) " + "(:action a :parameters (?x) :effect (p ?x))" * 2_000 + ")",
    "\n".join("(pickup b1)\n(putdown b1)" for _ in range(5_000)),
    '[{"name": "pickup", "args": ["b1"]},' * 10_000,
)


BESIDE = 256
"""Answers that are scored beside a stalled call."""


def training_batch(file: Path, size: int, seed: int) -> list[Row]:
    """A batch of all kinds in a random order; one answer in a hundred is hostile."""
    rows: list[Row] = []
    for domain, text in DOMAIN_TEXTS.items():
        found = pl.scan_parquet(file).filter(pl.col("domain") == domain).collect()
        for kind, share in (("problem", 1 / 2), ("plan", 3 / 8), ("domain", 1 / 8)):
            wanted = -(-int(size * share) // len(DOMAIN_TEXTS)) + 1
            references = found.sample(min(found.height, 2 * wanted // GROUP + 1), seed=seed)
            made = problems(references, seed)
            if kind != "problem":
                made = plans(references, domain, seed) if kind == "plan" else domains(references, text, seed)
            empty = {"reference": None, "problem": None, "is_placeholder": False}
            rows += [{**empty, **row, "kind": kind} for row in islice(made, wanted)]
    random = Random(seed)
    random.shuffle(rows)
    rows = rows[:size]
    for number in range(0, len(rows), 100):
        rows[number] |= {"completions": random.choice(HOSTILE), "right": None}
    return rows


def measure_batch(rows: list[Row]) -> int:
    """Score the batch in several ways, print a line for each; how many rewards are wrong."""
    right = [row.pop("right") for row in rows]
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    kinds = ", ".join(f"{count} {kind}s" for kind, count in Counter(columns["kind"]).items())
    print(f"{len(rows)} answers ({kinds}), {len(range(0, len(rows), 100))} of them hostile")
    for workers in (1, 2):  # Worker processes are started once.
        pddl_eval.reward(["(define (domain d))"] * workers, DOMAIN_TEXTS["gripper"], kind="domain", workers=workers)
    runs = [timed(columns, each, f"{each or 'no'} worker{'s' * (each == 2)}") for each in (None, 1, 2)]
    wrong, spent = 0, 0
    for known, *same in zip(right, *runs, strict=True):
        differ = len({each.reward for each in same}) > 1
        # What may have used up its time can have got further in another run.
        spent += differ and max(each.seconds for each in same) >= ROW_SECONDS
        wrong += differ and max(each.seconds for each in same) < ROW_SECONDS
        wrong += known is not None and known != (same[0].reward == 1)
    part = {name: column[:BESIDE] for name, column in columns.items()}
    timed(part, 2, f"the first {BESIDE} with 2 workers")
    with ThreadPoolExecutor(1) as thread:
        arguments = {"domain": SLOW_DOMAIN, "seconds": 120, "workers": 2}
        stalled = thread.submit(pddl_eval.reward, SLOW.replace("b1 b2", "b2 b1"), SLOW, **arguments)
        time.sleep(2)
        beside = timed(part, 2, "the same beside a stalled call")
        wrong += sum(
            one.reward != other.reward and max(one.seconds, other.seconds) < ROW_SECONDS
            for one, other in zip(beside, runs[0], strict=False)
        )
        print(f"the stalled call {'ended before' if stalled.done() else 'is still at work'} then")
        started = time.perf_counter()
        stalled.result()
        print(f"it ended {time.perf_counter() - started:.0f} s later")
    counts = dict(sorted(Counter(each.reward for each in runs[0]).items()))
    print(f"rewards {counts}; {wrong} wrong, {spent} at their limit")
    return wrong


def timed(columns: dict[str, list[Any]], workers: int | None, name: str) -> list[Rewarded]:
    """The rewards of the batch; prints seconds in all, and of its answers."""
    start, used = time.perf_counter(), processor_seconds()
    found = pddl_eval.reward(**columns, workers=workers, details=True)
    seconds, cpu = time.perf_counter() - start, processor_seconds() - used
    each = [1000 * answer.seconds for answer in found]
    print(
        f"{name}: {seconds:.2f} s, {cpu:.2f} s of processor time in this process; an answer p50 {np.median(each):.3f} "
        f"p99 {np.percentile(each, 99):.1f} max {max(each):.0f} ms"
    )
    return list(found)


def processor_seconds() -> float:
    """Processor time so far, of this process and of programs that it ran."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


if __name__ == "__main__":
    sys.exit(main())
