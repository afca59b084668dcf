"""To which run an output belongs: its manifest says it, and a folder of another run, or of no run, is refused."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from pddl_eval.datasets import PARQUET_SUFFIXES, DatasetError, Location, places
from pddl_eval.shown import shorten

MANIFEST = "_pddl_eval_run.json"
"""Says to which run an output belongs."""

FORMAT = 3
"""Of the manifest."""

FORMATS = (2, FORMAT)
"""Those whose runs can be continued. In 2, the number of rows of a shard was a part of the run's identity."""

FILE_SUFFIXES = ("parquet", "parq", "pq", "jsonl", "json", "csv", "arrow", "feather", "txt")


class OtherRun(DatasetError):
    """The output belongs to a run of another input or of other settings."""


def require_folder(output: Location) -> None:
    """Raise ``DatasetError`` for an output that is named like a file."""
    suffix = output.name.rpartition(".")[2].lower()
    if suffix in FILE_SUFFIXES and not places.list_files(output):
        raise DatasetError(f"The output {output} is named like a file: name a folder, which gets Parquet partitions.")


def refuse_foreign(output: Location, present: Iterable[str]) -> None:
    """Raise ``DatasetError`` for an output without a manifest that holds Parquet files."""
    if any(name.endswith(PARQUET_SUFFIXES) for name in present):
        raise DatasetError(f"{output} holds Parquet files that no run of this program wrote: choose an empty folder.")


def same_run(output: Location, manifest: Mapping[str, Any]) -> Mapping[str, Any]:
    """The manifest of the folder; raises ``OtherRun`` where it is that of another run."""
    try:
        theirs: Mapping[str, Any] = json.loads(places.read_bytes(output / MANIFEST))
        difference = _first_difference(theirs, manifest)
        if not difference and not isinstance(theirs["run"], str):
            raise TypeError
    except (ValueError, TypeError, KeyError, AttributeError):
        difference = f"its {MANIFEST} cannot be read"
    if difference:
        raise OtherRun(f"{output} belongs to another run: {difference}. Choose another folder, or delete this one.")
    return theirs


def _first_difference(theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> str | None:
    format_ = ours["format"] if theirs["format"] in FORMATS else theirs["format"]
    before = {**theirs["settings"], "format": format_, "signature": theirs["signature"]}
    now = {**ours["settings"], "format": ours["format"], "signature": ours["signature"]}
    for name in before | now:
        if before.get(name) != now.get(name):
            was, is_ = (shorten(json.dumps(each.get(name)), 80) for each in (before, now))
            return f"{name} was {was} and is {is_} now"
    before, now = ({file["name"]: file for file in each["files"]} for each in (theirs, ours))
    changed = sorted(name for name in before | now if before.get(name) != now.get(name))
    return f"its input was another one ({changed[0]} is not the same)" if changed else None
