"""To which run an output belongs: its manifest says it, and a folder of another run, or of no run, is refused."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from pddl_eval.datasets import INPUT_FOLDER, PARQUET_SUFFIXES, DatasetError, Location, Source, known_contents, places
from pddl_eval.shown import shorten
from pddl_eval.version import without_version

MANIFEST = "_pddl_eval_run.json"
"""Says to which run an output belongs."""

FORMAT = 3
"""The form of the manifest; a run of another one is refused."""

READ = "read"
"""In the manifest: of files of the input, by place, the mark (``datasets.marks``) and the digest of what was read."""

COLUMNS = "columns"
"""In the manifest: names and types of the columns of its partitions."""

CHANGED = "changed"
"""The content of a file that was written while its rows were scored: no version has it."""

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


def refuse_overlap(source: Source, output: Location) -> None:
    """Raise ``DatasetError`` where the output lies in a folder of the input, or a file of the input in the output."""
    source = source.original or source
    for file in source.files:
        if file.version.location.within(output) and file.version.location.parent != output / INPUT_FOLDER:
            raise DatasetError(f"The input {file.version} lies in the output {output}: choose another folder.")
    for folder in source.walked:
        if output.within(folder):
            raise DatasetError(f"The output {output} lies in the input {folder}: choose a folder outside of it.")


def found_contents(output: Location) -> dict[str, str]:
    """The content of each file of the input as the folder's run has found it, by name; empty where nothing says it.

    Files that were not written since then are not read again (``datasets.known_contents``).
    """
    try:
        manifest = json.loads(places.read_bytes(output / MANIFEST))
        for place, (mark, digest) in manifest.get(READ, {}).items():
            known_contents.setdefault(place, (str(mark), str(digest)))
        return {str(file["name"]): str(file["content"]) for file in manifest["files"]}
    except DatasetError:  # Also a ValueError; but what cannot be read now may be right.
        raise
    except (ValueError, TypeError, KeyError, AttributeError):
        return {}


def settings_of(source: Source) -> Mapping[str, Any]:
    """What the rows of a dataset were scored with, from the manifest beside its files; empty where nothing says it."""
    try:
        if places.has_file(source.base / MANIFEST):
            return dict(json.loads(places.read_bytes(source.base / MANIFEST))["settings"])
    except DatasetError:  # Also a ValueError; but what cannot be read now may be right.
        raise
    except (ValueError, KeyError, TypeError):
        pass  # A copy beside another manifest.
    return {}


def made_of_key(output: Location) -> str | None:
    """The key of what the input of the folder's run was made of; None where it was made of nothing."""
    try:
        return str(json.loads(places.read_bytes(output / MANIFEST))["made_of"]["key"])
    except DatasetError:  # Also a ValueError; but what cannot be read now may be right.
        raise
    except (ValueError, TypeError, KeyError):
        return None


def same_run(output: Location, manifest: Mapping[str, Any]) -> Mapping[str, Any]:
    """The manifest of the folder; raises ``OtherRun`` where it is that of another run."""
    try:
        theirs: Mapping[str, Any] = json.loads(places.read_bytes(output / MANIFEST))
        difference = _first_difference(theirs, manifest)
        if not difference and not isinstance(theirs["run"], str):
            raise TypeError
    except DatasetError:  # Also a ValueError; but what cannot be read now may be right.
        raise
    except (ValueError, TypeError, KeyError, AttributeError):
        difference = f"its {MANIFEST} cannot be read"
    if difference:
        raise OtherRun(f"{output} belongs to another run: {difference}. Choose another folder, or delete this one.")
    return theirs


def _first_difference(theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> str | None:
    before, now = (
        {**each["settings"], "format": each["format"], "signature": without_version(each["signature"])}
        for each in (theirs, ours)
    )
    for name in before | now:
        if before.get(name) != now.get(name):
            was, is_ = (shorten(json.dumps(each.get(name)), 80) for each in (before, now))
            return f"{name} was {was} and is {is_} now"
    before, now = ({file["name"]: file for file in each["files"]} for each in (theirs, ours))
    for name, file in before.items():
        if file["content"] == CHANGED:
            return f"{name} was written while it was scored"
    changed = sorted(name for name in before | now if before.get(name) != now.get(name))
    return f"its input was another one ({changed[0]} is not the same)" if changed else None
