"""A dataset scored shard by shard: what an input holds, which partitions are missing, where shards are worked on.

It moves Arrow tables between filesystems and knows no PDDL: what is done to rows is a ``Scorer`` that is handed in
(``score_dataset`` hands in the one of pairs). What scores mean, and how they are compared, is not known here.
"""

from pddl_eval.run.engines import EngineError, WorkerLost, available_cpus, ordered_map
from pddl_eval.run.inputs import (
    SIGNATURE_KEY,
    Input,
    Shard,
    Source,
    column_batches,
    holds_text,
    open_source,
    place_of,
    plan_shards,
    require_columns,
    require_text,
)
from pddl_eval.run.manifest import MANIFEST, SUMMARY, Run, prepare_run
from pddl_eval.run.partitions import CARRIED_KEY, SCORE_ERROR, Scorer, ShardFailure, ShardRecord, Work
from pddl_eval.run.places import (
    DatasetError,
    Location,
    OutputError,
    dataset_errors,
    list_files,
    locate,
    new_file,
    new_parquet,
    put_bytes,
    read_bytes,
)
from pddl_eval.run.rows import read_row, read_rows
from pddl_eval.run.score import (
    MEANS,
    SHARES,
    Event,
    PairScorer,
    RunIncomplete,
    RunSummary,
    Watcher,
    finish_shards,
    run_scorer,
    score_dataset,
)

__all__ = [
    "CARRIED_KEY",
    "MANIFEST",
    "MEANS",
    "SCORE_ERROR",
    "SHARES",
    "SIGNATURE_KEY",
    "SUMMARY",
    "DatasetError",
    "EngineError",
    "Event",
    "Input",
    "Location",
    "OutputError",
    "PairScorer",
    "Run",
    "RunIncomplete",
    "RunSummary",
    "Scorer",
    "Shard",
    "ShardFailure",
    "ShardRecord",
    "Source",
    "Watcher",
    "Work",
    "WorkerLost",
    "available_cpus",
    "column_batches",
    "dataset_errors",
    "finish_shards",
    "holds_text",
    "list_files",
    "locate",
    "new_file",
    "new_parquet",
    "open_source",
    "ordered_map",
    "place_of",
    "plan_shards",
    "prepare_run",
    "put_bytes",
    "read_bytes",
    "read_row",
    "read_rows",
    "require_columns",
    "require_text",
    "run_scorer",
    "score_dataset",
]
