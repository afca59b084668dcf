"""The input of a run as a dataset of pairs in Parquet: other forms, logs and joined answers are converted once.

The file is in the output's folder ``_input``, where all workers see it. Its name is a digest of the settings and of the
content of the input, so that a run that is started again finds it, and so do the other parts of a run.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

from pddl_eval.datasets import (
    INPUT_FOLDER,
    Input,
    Location,
    Source,
    Write,
    as_parquet,
    find_source,
    key_of,
    only_where,
    parquet_where,
    places,
    with_references,
)
from pddl_eval.run.manifest import OtherRun, entries_of, found_contents, require_output
from pddl_eval.run.tiling import open_rows
from pddl_eval.settings import ReadingOptions
from pddl_eval.unchanged import MANIFEST


@contextmanager
def readable_input(  # noqa: PLR0913 (what is read, where it goes, how)
    inputs: Input,
    output: str | os.PathLike[str],
    reading: ReadingOptions,
    columns: Mapping[str, str] | None,
    warn: Callable[[str], None] | None = None,
    *,
    keep: bool = True,
) -> Iterator[Source]:
    """The input as a dataset of pairs in Parquet: as it is, or converted from other forms, logs and references.

    ``columns`` are the input's own names of columns by their meaning. ``warn`` is told what could not be read or has no
    reference. Without ``keep`` nothing stays in the output. Raises ``DatasetError`` where something cannot be read, is
    no such log, no answer has a reference or an id has two, and ``OtherRun`` where the output belongs to another input.
    """
    with tempfile.TemporaryDirectory() as aside:
        folder = places.locate(output)
        make = partial(_make, folder=folder, into=folder if keep else places.locate(aside))
        if places.has_file(folder / MANIFEST):
            found_contents(folder)
        chosen = make if reading.where is None else only_where(make, reading.where)
        if reading.harness or reading.references:
            source = with_references(inputs, reading, columns or {}, chosen)
        else:
            found = open_rows(find_source(inputs))
            source = as_parquet(found, chosen)
            if reading.where is not None and source.made_of is None:  # Parquet, which is not converted.
                source = parquet_where(source, make, reading.where)
        if warn is not None:
            for sentence in source.notes:
                warn(sentence)
        yield source


def _make(
    original: Source | None, made_of: Mapping[str, Any], write: Write, *, folder: Location, into: Location
) -> Location:
    """The file in the output's folder ``_input`` that was made of that; it is written there unless it is there."""
    key = key_of(made_of)
    kind = "rows" if original else "answers"
    place = folder / INPUT_FOLDER / f"{kind}-{key}"  # Not named .parquet, so that no pattern takes it for scored rows.
    if places.has_file(place):
        return place
    present = require_output(folder, original)
    if (
        MANIFEST in present and entries_of(folder / MANIFEST, "made_of").get("key") != key
    ):  # Who deleted the file may have it again.
        raise OtherRun(
            f"{folder} belongs to another run: its input was another one. Choose another folder, or delete this one."
        )
    place = into / INPUT_FOLDER / place.name
    write(place, {**made_of, "key": key})
    return place
