"""The pages of the gallery: reports as the commands write them, of the sample's problems and three mixes of answers to
them, and of its questions.

The mixes are those of ``generate variants --preset`` and stand for models. All is made anew with each build.
"""

from __future__ import annotations

from contextlib import chdir
from pathlib import Path

import pddl_eval
import polars as pl
from pddl_eval.benchmark import PRESETS, Variants, write_made, write_sample
from pddl_eval.commands.folder import write_folder
from pddl_eval.datasets import open_source
from pddl_eval.report import compare_datasets, compare_series, comparison_text, series_text

QUESTIONS, SAMPLES, EXPLAINED, NIGHTS = 40, 2, 60, 3
"""Questions of the sample, answers of each mix to each of them, rows with a page of their own, and nights."""


def write_gallery(folder: Path) -> None:
    """Write the pages into the folder's ``gallery``, and beside it what they are made of. It takes ten seconds."""
    with chdir(folder):  # The pages name the datasets as the commands were given them.
        write_sample("sample.parquet")
        sample = pl.read_parquet("sample.parquet")
        asked = sample.gather_every(sample.height // QUESTIONS).head(QUESTIONS)
        asked = asked.select("domain", "reference_problem", "size_bucket", prompt="description", reference_id="name")
        asked.write_parquet("asked.parquet")
        nights = [_scored(night) for night in range(NIGHTS)]
        report = pddl_eval.build_report(nights[0])
        write_folder(report, "gallery/report", EXPLAINED)
        report.save("gallery/tables.tex")
        write_sample("questions.parquet", questions=True)
        pddl_eval.score_dataset("questions.parquet", "answers", workers=1)
        write_folder(pddl_eval.build_report("answers"), "gallery/questions", EXPLAINED)
        models = compare_datasets(nights[0], models=list(PRESETS)[:2])
        Path("gallery/models.html").write_text(comparison_text(models, "html"), encoding="utf-8")
        Path("gallery/nights.html").write_text(series_text(compare_series(nights), "html"), encoding="utf-8")


def _scored(night: int) -> str:
    """The answers of a night, scored; those of one mix are new each night."""
    made = Path(f"2026-03-{night + 1:02}")
    made.mkdir()
    parts = []
    for model, preset in PRESETS.items():
        drawn = Variants(preset, per_row=SAMPLES, seed=night if model == "fine-tuned" else 0)
        write_made(drawn, open_source("asked.parquet"), made / model, 1, lambda _: None)
        answers = pl.read_parquet(made / model).select(pl.exclude("^label.*$"), model=pl.lit(model))
        parts.append(answers.with_columns(sample=pl.int_range(pl.len()).over("reference_id")))
    pl.concat(parts).write_parquet(made / "answers.parquet")
    pddl_eval.score_dataset(made / "answers.parquet", made / "scored", workers=1)
    return f"{made}/scored"
