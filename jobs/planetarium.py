"""The paper's table from nothing: the benchmark, answers of a given mix, their scores, the report.

    python jobs/planetarium.py FOLDER --preset zero-shot

FOLDER gets benchmark.parquet, and zero-shot-0/ (preset and seed) with answers.parquet, scored/ and report.html. What is
there is not made again.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from pddl_eval.commands import generate
from pddl_eval.commands.command import Command
from pddl_eval.commands.flags import argument, flags
from pddl_eval.commands.report import write_report
from pddl_eval.commands.score import watched_run
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.errors import require_extra
from pddl_eval.report import build_report
from pddl_eval.scoring.scorer import score_dataset
from pddl_eval.settings import RunOptions


@click.command(cls=Command)
@argument("folder", "FOLDER", "Local folder for all that is made.")
@flags(ScoringOptions)
@flags(RunOptions)
@generate.preset(default="zero-shot")
@generate.seed
@click.pass_context
def planetarium(ctx: click.Context, folder: str, preset: str, seed: int, **settings: Any) -> None:
    """Make the benchmark and answers of known correctness, score them, and print the paper's table.

    \b
    python jobs/planetarium.py planetarium
    python jobs/planetarium.py planetarium --preset fine-tuned --workers 4

    If the job is interrupted, the same command continues where it stopped.
    """
    require_extra("figures", "The report")
    benchmark, place = Path(folder, "benchmark.parquet"), Path(folder, f"{preset}-{seed}")
    answers, scored = place / "answers.parquet", str(place / "scored")
    if not benchmark.exists():
        ctx.invoke(generate.planetarium, output=str(benchmark))
    if not answers.exists():
        made = {"inputs": [str(benchmark)], "output": str(answers), "preset": preset, "seed": seed}
        ctx.invoke(generate.variants, workers=settings["workers"], **made)
    with watched_run() as watch:
        print(score_dataset(answers, scored, watch=watch, **settings))
    report = build_report(scored)
    write_report(report, "html", str(place / "report.html"))
    write_report(report)


if __name__ == "__main__":
    planetarium()
