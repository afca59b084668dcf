"""To which run an output belongs: its manifest says it, and a folder of another run, or of no run, is refused."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from pddl_eval.datasets import (
    INPUT_FOLDER,
    PARQUET_SUFFIXES,
    PARTITIONS,
    DatasetError,
    Location,
    Source,
    known_contents,
    places,
)
from pddl_eval.shown import shorten
from pddl_eval.unchanged import MANIFEST, READ
from pddl_eval.version import without_version

FORMAT = 3
"""The form of the manifest; a run of another one is refused."""

COLUMNS = "columns"
"""In the manifest: names and types of the columns of its partitions."""

CHANGED = "changed"
"""The content of a file that was written while its rows were scored: no version has it."""

FILE_SUFFIXES = ("parquet", "parq", "pq", "jsonl", "json", "csv", "arrow", "feather", "txt")


class OtherRun(DatasetError):
    """The output belongs to a run of another input or of other settings."""


def require_output(output: Location, source: Source | None = None) -> Mapping[str, int]:
    """The files of an output and their sizes; raises ``DatasetError`` where no run can write rows of that input there.

    An output is not named like a file and holds no Parquet files of other programs; it lies in no folder of the input,
    and no file of the input lies in it.
    """
    present = places.list_files(output)
    if output.name.rpartition(".")[2].lower() in FILE_SUFFIXES and not present:
        raise DatasetError(f"The output {output} is named like a file: name a folder, which gets Parquet partitions.")
    source = source and (source.original or source)
    for file in source.files if source else ():
        if file.version.location.within(output) and file.version.location.parent != output / INPUT_FOLDER:
            raise DatasetError(f"The input {file.version} lies in the output {output}: choose another folder.")
    for folder in source.walked if source else ():
        if output.within(folder):
            raise DatasetError(f"The output {output} lies in the input {folder}: choose a folder outside of it.")
    # A merged run that was killed late leaves the folder of its partitions without its manifest.
    if not {MANIFEST, PARTITIONS} & {*present, output.name} and any(n.endswith(PARQUET_SUFFIXES) for n in present):
        raise DatasetError(f"{output} holds Parquet files that no run of this program wrote: choose an empty folder.")
    return present


def entries_of(place: Location, *within: str) -> Mapping[str, Any]:
    """What a small file of a run says, or what lies in it under these names; empty where that means nothing.

    Raises ``DatasetError`` where the file cannot be read: it may be right.
    """
    try:
        found = json.loads(places.read_bytes(place))
        for name in within:
            found = found[name]
    except DatasetError:  # Also a ValueError.
        raise
    except (ValueError, TypeError, KeyError):
        return {}
    return found if isinstance(found, dict) else {}


def found_contents(output: Location) -> dict[str, str]:
    """The content of each file of the input as the folder's run has found it, by name; empty where nothing says it.

    Files that were not written since then are not read again (``datasets.known_contents``).
    """
    manifest = entries_of(output / MANIFEST)
    with suppress(ValueError, TypeError, KeyError, AttributeError):
        for place, (mark, digest) in manifest.get(READ, {}).items():
            known_contents.setdefault(place, (str(mark), str(digest)))
        return {str(file["name"]): str(file["content"]) for file in manifest["files"]}
    return {}


def settings_of(source: Source) -> Mapping[str, Any]:
    """What the rows of a dataset were scored with, from the manifest beside its files; empty where nothing says it."""
    manifest = source.base / MANIFEST
    return entries_of(manifest, "settings") if places.has_file(manifest) else {}


def same_run(output: Location, manifest: Mapping[str, Any]) -> Mapping[str, Any]:
    """The manifest of the folder; raises ``OtherRun`` where it is that of another run."""
    theirs = entries_of(output / MANIFEST)
    difference: str | None = f"its {MANIFEST} cannot be read"
    with suppress(ValueError, TypeError, KeyError, AttributeError):
        found = _first_difference(theirs, manifest)
        if found or isinstance(theirs["run"], str):
            difference = found
    if difference:
        raise OtherRun(f"{output} belongs to another run: {difference}. Choose another folder, or delete this one.")
    return theirs


def _first_difference(theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> str | None:
    before, now = (
        {**each["settings"], "format": each["format"], "signature": without_version(each["signature"])}
        for each in (theirs, ours)
    )
    if name := next((name for name in before | now if before.get(name) != now.get(name)), None):
        was, is_ = before.get(name), now.get(name)
        if isinstance(was, dict) and isinstance(is_, dict):  # of the names of columns those that differ
            was, is_ = (dict(sorted(each.items() - other.items())) for each, other in ((was, is_), (is_, was)))
        was, is_ = (shorten(json.dumps(each), 80) for each in (was, is_))
        return f"{name} was {was} and is {is_} now"
    before, now = ({file["name"]: file for file in each["files"]} for each in (theirs, ours))
    for name, file in before.items():
        if file["content"] == CHANGED:
            return f"{name} was written while it was scored"
    changed = sorted(name for name in before | now if before.get(name) != now.get(name))
    return f"its input was another one ({changed[0]} is not the same)" if changed else None
