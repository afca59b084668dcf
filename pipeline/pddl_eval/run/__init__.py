"""A dataset scored shard by shard: which partitions are missing, where shards are worked on, when a run is complete.

It knows no PDDL: what is done to rows is a ``Scorer`` that is handed in (``scoring`` has the one of pairs). What scores
mean, and how they are compared, is not known here.
"""

from pddl_eval.run.engines import Processes, WorkerLost, forked_workers, ordered_map
from pddl_eval.run.inputs import readable_input
from pddl_eval.run.lock import claimed
from pddl_eval.run.manifest import OtherRun, settings_of
from pddl_eval.run.merged import finish_merged, partitions_of
from pddl_eval.run.partitions import KNOWN_ROW, ROW_SECONDS, Scorer, ShardFailure, ShardRecord, batches_of, damaged
from pddl_eval.run.prepare import Run, prepare_run
from pddl_eval.run.score import finish_shards, keep_said
from pddl_eval.run.shards import Shard, plan_shards
from pddl_eval.run.status import RunStatus, run_status
from pddl_eval.run.summary import (
    SCORE_ERROR,
    VERDICT,
    InputChanged,
    RunCounts,
    RunIncomplete,
    Statistics,
    count_values,
)
from pddl_eval.run.tiling import (
    RowsDoubled,
    RowsMissing,
    Tiling,
    open_rows,
    open_scored_rows,
    open_untouched,
    run_folder,
    untouched,
)
from pddl_eval.run.verify import Drawn, Finding, Verification, check_folder
from pddl_eval.run.watching import Event, Watcher, shown_progress
from pddl_eval.unchanged import MANIFEST, SUMMARY
