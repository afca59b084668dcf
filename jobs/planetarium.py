"""The paper's table from nothing: the benchmark, answers of a given mix, their scores, the report.

    python jobs/planetarium.py FOLDER --preset zero-shot

FOLDER gets benchmark.parquet, and zero-shot-0/ (preset and seed) with answers.parquet, scored/ and report.html. What is
there is not made again.
"""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from pddl_eval.commands.command import command, run_alone
from pddl_eval.commands.generate import Preset, Seed, planetarium, variants
from pddl_eval.commands.report import write_report
from pddl_eval.commands.score import watched_run
from pddl_eval.errors import require_extra
from pddl_eval.options import RunOptions, ScoringOptions
from pddl_eval.report import build_report
from pddl_eval.run import score_dataset


@command
def planetarium_table(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Local folder for all that is made.")],
    options: ScoringOptions,
    run: RunOptions,
    preset: Preset = "zero-shot",
    seed: Seed = 0,
) -> None:
    """Make the benchmark and answers of known correctness, score them, and print the paper's table.

    \b
    python jobs/planetarium.py planetarium
    python jobs/planetarium.py planetarium --preset fine-tuned --workers 4

    If the job is interrupted, the same command continues where it stopped.
    """
    require_extra("figures", "The report")
    benchmark, place = folder / "benchmark.parquet", folder / f"{preset}-{seed}"
    answers, scored = place / "answers.parquet", str(place / "scored")
    if not benchmark.exists():
        planetarium(output=str(benchmark))
    if not answers.exists():
        workers = run.workers or os.cpu_count() or 1
        variants(inputs=[str(benchmark)], output=str(answers), preset=preset, seed=seed, workers=workers)
    with watched_run() as watch:
        print(score_dataset(answers, scored, watch=watch, **asdict(options), **asdict(run)))
    report = build_report(scored)
    write_report(report, "html", str(place / "report.html"))
    write_report(report)


if __name__ == "__main__":
    run_alone(planetarium_table)
