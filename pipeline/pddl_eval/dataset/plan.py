"""What a run will do and what it has done: its manifest, the shards that are missing, its completion.

The manifest in the output folder says which run the folder belongs to. The same run started again finds its finished
partitions and does the rest; any other run is refused, because scores of two settings in one folder are no result.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from pddl_eval.dataset.locations import (
    DatasetError,
    Location,
    OutputError,
    list_files,
    locate,
    put_bytes,
    read_bytes,
    remove_file,
    remove_temporary_files,
)
from pddl_eval.dataset.partitions import ShardRecord, finished_records
from pddl_eval.dataset.shards import SHARD_ROWS, Shard, plan_shards
from pddl_eval.dataset.sources import SUFFIXES, Input, Source, open_source
from pddl_eval.dataset.work import Scorer, Work

MANIFEST = "_pddl_eval_run.json"
SUMMARY = "_summary.json"
"""Written last, when every partition is there; Parquet readers leave names with a leading underscore alone."""

FORMAT = 1


@dataclass(frozen=True, slots=True)
class RunPlan:
    """A run before it starts. ``finished`` are the records of the partitions that are there already, by shard name."""

    source: Source
    work: Work
    shards: tuple[Shard, ...]
    finished: Mapping[str, ShardRecord]
    manifest: Mapping[str, Any]

    @property
    def missing(self) -> tuple[Shard, ...]:
        return tuple(shard for shard in self.shards if shard.name not in self.finished)


def plan_run(input: Input, output: str | os.PathLike[str], scorer: Scorer, shard_rows: int = SHARD_ROWS) -> RunPlan:
    """Look at input and output and say what is to be done; nothing is written.

    Raises ``DatasetError`` for an input that cannot be read, an output that belongs to another run and an output that
    lies in the input; whatever the scorer raises for a schema that it cannot score.
    """
    folder = locate(output)
    source = open_source(input)
    _refuse_overlap(source, folder)
    shards = plan_shards(source, shard_rows)
    output_schema = scorer.output_schema(source.schema)
    identity = _identity(source, scorer, shard_rows)
    run = hashlib.blake2b(json.dumps(identity, sort_keys=True).encode(), digest_size=16).hexdigest()
    work = Work(run, folder, source.schema, output_schema, scorer)
    present = list_files(folder)
    if MANIFEST in present:
        _refuse_other_run(folder, identity)
    elif any(name.endswith(SUFFIXES) for name in present):
        raise DatasetError(f"{folder} holds Parquet files and no run of this program: choose an empty folder.")
    finished = finished_records(folder, shards, present, run)
    manifest = {"run": run, "place": str(source.base), **identity}
    return RunPlan(source, work, shards, finished, manifest)


def begin_run(plan: RunPlan) -> None:
    """Claim the output folder for the run; raises ``OutputError`` where it cannot be written to."""
    output = plan.work.output
    remove_temporary_files(output)
    put_bytes(output / MANIFEST, json.dumps(plan.manifest, indent=1).encode())
    if plan.missing:
        remove_file(output / SUMMARY)


def finish_run(plan: RunPlan, summary: Mapping[str, Any]) -> None:
    """Mark the run as complete, with its summary.

    Raises ``OutputError`` where partitions that workers wrote are not to be seen from here.
    """
    output = plan.work.output
    unseen = {shard.name for shard in plan.shards} - list_files(output).keys()
    if unseen:
        raise OutputError(
            f"{len(unseen)} of {len(plan.shards)} partitions are not to be seen in {output}: "
            "on a cluster, the output must be a folder that all nodes share, or an object store."
        )
    put_bytes(output / SUMMARY, json.dumps({"run": plan.work.run, "complete": True, **summary}, indent=1).encode())


def _identity(source: Source, scorer: Scorer, shard_rows: int) -> dict[str, Any]:
    """All that must be the same for a run to be the same, as JSON. Where the input lies is not part of it."""
    return {
        "format": FORMAT,
        "signature": scorer.signature,
        "settings": dict(scorer.settings),
        "shard_rows": shard_rows,
        "schema": _schema_text(source.schema),
        "files": [
            {"name": file.name, "rows": file.rows, "size": file.size, "footer": file.version.footer}
            for file in source.files
        ],
    }


def _schema_text(schema: pa.Schema) -> str:
    return schema.to_string(show_schema_metadata=False, show_field_metadata=False)


def _refuse_overlap(source: Source, output: Location) -> None:
    for file in source.files:
        if file.location.within(output):
            raise DatasetError(f"The input {file.location} lies in the output {output}: choose another folder.")
    for folder in source.walked:
        if output.within(folder):
            raise DatasetError(f"The output {output} lies in the input {folder}: choose a folder outside of it.")


def _refuse_other_run(output: Location, identity: Mapping[str, Any]) -> None:
    try:
        theirs = json.loads(read_bytes(output / MANIFEST))
        difference = _first_difference(theirs, identity)
    except (ValueError, TypeError, KeyError, AttributeError):
        difference = f"its {MANIFEST} cannot be read"
    if difference:
        raise DatasetError(f"{output} belongs to another run: {difference}. Choose another folder, or delete this one.")


def _first_difference(theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> str | None:
    if theirs["format"] != ours["format"]:
        return f"its format is {theirs['format']}, this program writes {ours['format']}"
    for name in sorted({*theirs["settings"], *ours["settings"]}):
        before, now = theirs["settings"].get(name), ours["settings"].get(name)
        if before != now:
            return f"{name} was {_short(before)} and is {_short(now)} now"
    for name in ("signature", "shard_rows"):
        if theirs[name] != ours[name]:
            return f"{name} was {_short(theirs[name])} and is {_short(ours[name])} now"
    if theirs["files"] != ours["files"]:
        return f"its input was another one ({_file_difference(theirs['files'], ours['files'])})"
    return "its input had other columns" if theirs["schema"] != ours["schema"] else None


def _file_difference(theirs: Iterable[Mapping[str, Any]], ours: Iterable[Mapping[str, Any]]) -> str:
    before, now = ({file["name"]: file for file in files} for files in (theirs, ours))
    for name in now:
        if name not in before:
            return f"{name} is new"
        if now[name] != before[name]:
            return f"{name} has changed"
    return f"{next(name for name in before if name not in now)} is gone"


def _short(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 80 else f"{text[:77]}…"
