"""Standard input as an input: copied to a temporary file once, because its form is only known by looking at it."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from pddl_eval.datasets.places import DatasetError, Location, dataset_errors, locate

STANDARD_INPUT = "-"
"""Its name as an input."""

MOST_BYTES = 2 * 2**30
"""Larger inputs are files: a run that is resumed, and workers on other machines, need them."""


@cache
def temporary_folder() -> TemporaryDirectory[str]:
    """A folder that is removed when the process ends; the same one each time."""
    return TemporaryDirectory(prefix="pddl-eval-")


@cache
def stored_standard_input() -> Location:
    """A file with all that standard input holds; the same one each time.

    Its name is always ``stdin``, so that the same rows have the same shards. Raises ``DatasetError`` where standard
    input is a terminal, empty or too large.
    """
    source = getattr(sys.stdin, "buffer", None)
    if source is None or sys.stdin.isatty():
        raise DatasetError("- is standard input: pipe rows into the command, as in `cat answers.jsonl | pddl-eval …`.")
    place = Path(temporary_folder().name) / "stdin"
    size = 0
    with dataset_errors(locate(place), "read"), place.open("wb") as file:
        while block := source.read(2**20):
            size += file.write(block)
            if size > MOST_BYTES:
                raise DatasetError(f"Standard input has more than {MOST_BYTES // 2**30} GiB: write it to a file first.")
    if not size:
        raise DatasetError("Standard input is empty.")
    return locate(place)
