"""A dataset scored shard by shard: which partitions are missing, where shards are worked on, when a run is complete.

It knows no PDDL: what is done to rows is a ``Scorer`` that is handed in (``score_dataset`` hands in the one of pairs).
What scores mean, and how they are compared, is not known here.
"""

from pddl_eval.run.answers import readable_input
from pddl_eval.run.engines import Processes, WorkerLost, available_cpus, ordered_map
from pddl_eval.run.lock import claimed
from pddl_eval.run.manifest import MANIFEST, OtherRun
from pddl_eval.run.merged import is_merged, partitions_of
from pddl_eval.run.partitions import KNOWN_ROW, SCORE_ERROR, Scorer, ShardFailure, ShardRecord, Work
from pddl_eval.run.prepare import Run, prepare_run
from pddl_eval.run.score import finish_shards, pair_scorer, score_dataset
from pddl_eval.run.shards import Shard, plan_shards
from pddl_eval.run.status import RunStatus, run_status
from pddl_eval.run.summary import SUMMARY, RunIncomplete, RunSummary, scored_with, unfinished_rows
from pddl_eval.run.watching import Event, Watcher, shown_progress

__all__ = [
    "KNOWN_ROW",
    "MANIFEST",
    "SCORE_ERROR",
    "SUMMARY",
    "Event",
    "OtherRun",
    "Processes",
    "Run",
    "RunIncomplete",
    "RunStatus",
    "RunSummary",
    "Scorer",
    "Shard",
    "ShardFailure",
    "ShardRecord",
    "Watcher",
    "Work",
    "WorkerLost",
    "available_cpus",
    "claimed",
    "finish_shards",
    "is_merged",
    "ordered_map",
    "pair_scorer",
    "partitions_of",
    "plan_shards",
    "prepare_run",
    "readable_input",
    "run_status",
    "score_dataset",
    "scored_with",
    "shown_progress",
    "unfinished_rows",
]
