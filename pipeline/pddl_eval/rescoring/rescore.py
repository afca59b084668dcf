"""The run that carries scores over: plan, index of the earlier dataset beside the output, run, index away."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace

from pddl_eval.dataset.locations import DatasetError, Location, dataset_errors, list_files, locate
from pddl_eval.dataset.plan import plan_run
from pddl_eval.dataset.sources import Input
from pddl_eval.engines.choice import choose_engine
from pddl_eval.options import SHARD_ROWS, ScoringOptions
from pddl_eval.rescoring.carry import CarryingScorer
from pddl_eval.rescoring.index import build_index, close_index
from pddl_eval.rescoring.previous import Previous, open_previous
from pddl_eval.run import Watcher, pair_scorer, run_plan
from pddl_eval.summary import RunSummary

INDEX_FOLDER = "_previous"
"""In the output, while the run lasts: workers on other machines see it there."""


def rescore_dataset(
    previous: Input,
    input: Input,
    output: str | os.PathLike[str],
    settings: ScoringOptions | None = None,
    *,
    previous_columns: Mapping[str, str] | None = None,
    engine: str = "auto",
    address: str | None = None,
    workers: int | None = None,
    shard_rows: int = SHARD_ROWS,
    json_log: str | os.PathLike[str] | None = None,
    watch: Watcher | None = None,
    warn: Callable[[str], None] | None = None,
) -> RunSummary:
    """Score a dataset as ``score_dataset`` does, but for the rows whose scores ``previous`` already holds.

    ``previous`` is a scored dataset, its rows in any order, complete or not. A row's scores are carried over,
    ``score_micros`` included, where its content (the pairs, ``is_placeholder``, ``domain``) is that of a row there
    which was scored without ``score_error`` and with the same signature. ``RunSummary.rows_carried`` says how many;
    ``warn`` is told why rows of ``previous`` cannot serve. ``previous_columns`` are the names of the meaningful columns
    there, by default those under which they were scored.

    It is the same run as that of ``score_dataset`` into the same output: one may finish what the other began. Raises
    what ``score_dataset`` raises.
    """
    choose_engine(0, 0, engine=engine, address=address, workers=workers)
    scorer = pair_scorer(settings or ScoringOptions())
    plan = plan_run(input, output, scorer, shard_rows)
    before = open_previous(
        previous, previous_columns, scorer.options, scorer.signature, plan.source.schema, plan.work.output_schema
    )
    folder = locate(output)
    _refuse_output(before, folder)
    if before.obstacle and warn is not None:
        warn(before.obstacle)
    if plan.missing and before.source.files:
        carrying = CarryingScorer(scorer, build_index(before, folder / INDEX_FOLDER))
        plan = replace(plan, work=replace(plan.work, scorer=carrying))
    try:
        summary = run_plan(plan, engine=engine, address=address, workers=workers, json_log=json_log, watch=watch)
    finally:
        close_index()
    _remove_index(folder / INDEX_FOLDER)
    return summary


def _refuse_output(before: Previous, output: Location) -> None:
    for file in before.source.files:
        if file.location.within(output):
            raise DatasetError(
                f"The previous scores {file.location} lie in the output {output}: choose another folder."
            )


def _remove_index(folder: Location) -> None:
    if list_files(folder):
        with dataset_errors(folder, "write"):
            folder.filesystem.delete_dir(folder.path)
