"""What a run will do and what it has done: its manifest, the shards that are missing, its completion.

The manifest in the output folder says which run the folder belongs to. The same run started again finds its finished
partitions and does the rest; any other run is refused, because scores of two settings in one folder are no result.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pddl_eval.run import places
from pddl_eval.run.inputs import SUFFIXES, Input, Shard, Source, open_source, plan_shards
from pddl_eval.run.partitions import Scorer, ShardRecord, Work, finished_records
from pddl_eval.run.places import DatasetError, Location, OutputError, locate
from pddl_eval.shown import shorten

MANIFEST = "_pddl_eval_run.json"
SUMMARY = "_summary.json"
"""Written last, when every partition is there; Parquet readers leave names with a leading underscore alone."""

FORMAT = 1


@dataclass(frozen=True, slots=True)
class Run:
    """A run before it starts. ``finished`` are the records of the partitions that are there already, by shard name."""

    source: Source
    work: Work
    shards: tuple[Shard, ...]
    finished: Mapping[str, ShardRecord]
    manifest: Mapping[str, Any]

    @property
    def missing(self) -> tuple[Shard, ...]:
        return tuple(shard for shard in self.shards if shard.name not in self.finished)


def prepare_run(inputs: Input, output: str | os.PathLike[str], scorer: Scorer, shard_rows: int) -> Run:
    """Look at input and output and say what is to be done; nothing is written.

    Raises ``DatasetError`` for an input that cannot be read, an output that belongs to another run and an output that
    lies in the input; whatever the scorer raises for a schema that it cannot score.
    """
    folder = locate(output)
    source = open_source(inputs)
    _refuse_overlap(source, folder)
    output_schema = scorer.output_schema(source.schema)
    # All that must be the same for a run to be the same. Where the input lies is not part of it.
    identity = {
        "format": FORMAT,
        "signature": scorer.signature,
        "settings": scorer.settings,
        "shard_rows": shard_rows,
        "schema": source.schema.to_string(show_schema_metadata=False, show_field_metadata=False),
        "files": [
            {"name": file.name, "rows": file.rows, "size": file.size, "footer": file.version.footer}
            for file in source.files
        ],
    }
    run = hashlib.blake2b(json.dumps(identity, sort_keys=True).encode(), digest_size=16).hexdigest()
    present = places.list_files(folder)
    if MANIFEST in present:
        _refuse_other_run(folder, identity)
    elif any(name.endswith(SUFFIXES) for name in present):
        raise DatasetError(f"{folder} holds Parquet files and no run of this program: choose an empty folder.")
    shards = plan_shards(source, shard_rows)
    finished = finished_records(folder, [shard for shard in shards if shard.name in present], run)
    manifest = {"run": run, "place": str(source.base), **identity}
    return Run(source, Work(run, folder, source.schema, output_schema, scorer, scorer), shards, finished, manifest)


def begin_run(run: Run) -> None:
    """Claim the output folder for the run; raises ``OutputError`` where it cannot be written to."""
    output = run.work.output
    places.remove_temporary_files(output)
    places.put_bytes(output / MANIFEST, json.dumps(run.manifest, indent=1).encode())
    if run.missing:
        places.remove_file(output / SUMMARY)


def finish_run(run: Run, summary: Mapping[str, Any]) -> None:
    """Mark the run as complete, with its summary; raises ``OutputError`` where a partition is missing."""
    output = run.work.output
    unseen = {shard.name for shard in run.shards} - places.list_files(output).keys()
    if unseen:
        raise OutputError(
            f"{len(unseen)} of {len(run.shards)} partitions are missing from {output}: "
            "on a cluster, the output must be a folder that all nodes share, or an object store."
        )
    places.put_bytes(
        output / SUMMARY, json.dumps({"run": run.work.run, "complete": True, **summary}, indent=1).encode()
    )


def _refuse_overlap(source: Source, output: Location) -> None:
    for file in source.files:
        if file.location.within(output):
            raise DatasetError(f"The input {file.location} lies in the output {output}: choose another folder.")
    for folder in source.walked:
        if output.within(folder):
            raise DatasetError(f"The output {output} lies in the input {folder}: choose a folder outside of it.")


def _refuse_other_run(output: Location, identity: Mapping[str, Any]) -> None:
    try:
        difference = _first_difference(json.loads(places.read_bytes(output / MANIFEST)), identity)
    except (ValueError, TypeError, KeyError, AttributeError):
        difference = f"its {MANIFEST} cannot be read"
    if difference:
        raise DatasetError(f"{output} belongs to another run: {difference}. Choose another folder, or delete this one.")


def _first_difference(theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> str | None:
    if theirs["format"] != ours["format"]:
        return f"its format is {theirs['format']}, this program writes {ours['format']}"
    before, now = (
        each["settings"] | {name: each[name] for name in ("signature", "shard_rows")} for each in (theirs, ours)
    )
    for name in (*sorted({*theirs["settings"], *ours["settings"]}), "signature", "shard_rows"):
        if before.get(name) != now.get(name):
            return f"{name} was {_shown(before.get(name))} and is {_shown(now.get(name))} now"
    before, now = ({file["name"]: file for file in each["files"]} for each in (theirs, ours))
    for name in sorted({*before, *now}):
        if before.get(name) != now.get(name):
            change = "is gone" if name not in now else "is new" if name not in before else "has changed"
            return f"its input was another one ({name} {change})"
    return "its input had other columns" if theirs["schema"] != ours["schema"] else None


def _shown(value: object) -> str:
    return shorten(json.dumps(value), 80)
