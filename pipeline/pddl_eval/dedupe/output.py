"""The table of a deduplication as a Parquet file that says in its metadata what its certificates depend on."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from pddl_eval.run import SIGNATURE_KEY, DatasetError, locate, put_bytes

if TYPE_CHECKING:
    import os

    import polars

CERTIFICATE_DEPENDS_ON = ("pddl-eval", "pddl", "igraph")
"""Distributions with another version of which a problem may have another certificate."""


def certificate_signature(is_placeholder: bool) -> str:
    """One line with all that certificates depend on; those of files with equal lines can be joined.

    >>> certificate_signature(is_placeholder=False).rpartition("|")[2]
    'mode:identity'
    """
    versions = [f"{distribution}:{version(distribution)}" for distribution in CERTIFICATE_DEPENDS_ON]
    return "|".join([*versions, f"mode:{'placeholder' if is_placeholder else 'identity'}"])


def write_rows(rows: polars.DataFrame, output: str | os.PathLike[str], is_placeholder: bool) -> None:
    """Write the frame, whole or not at all; raises ``DatasetError``."""
    sink = pa.BufferOutputStream()
    with pq.ParquetWriter(sink, (table := rows.to_arrow()).schema, compression="zstd") as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({SIGNATURE_KEY: certificate_signature(is_placeholder)})
    put_bytes(locate(output), sink.getvalue())


def require_output(output: str | os.PathLike[str], inputs: list[str]) -> None:
    """Raise ``DatasetError`` where the output would replace an input or is a folder: before the work, not after."""
    from pyarrow import fs

    place = locate(output)
    if any(place == locate(text) for text in inputs):
        raise DatasetError(f"{place} is the input: name another file for the output.")
    if place.filesystem.get_file_info(place.path).type == fs.FileType.Directory:
        raise DatasetError(f"{place} is a folder: name a file for the output.")
