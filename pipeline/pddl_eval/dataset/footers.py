"""Parquet footers: what identifies a file's content without reading its rows, and the key to reading them."""

from __future__ import annotations

import hashlib
import struct
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq

from pddl_eval.dataset.locations import DatasetError, Location

_TAIL_BYTES = 64 * 1024
_MAGIC = b"PAR1"


@dataclass(frozen=True, slots=True)
class FileVersion:
    """A file as it was when the run was planned: ``footer`` is a digest of its footer.

    The footer holds the size, place and bounds of every column chunk, so that a file whose rows changed has another
    one, while copying or touching the file changes nothing.
    """

    location: Location
    footer: str

    def __str__(self) -> str:
        return str(self.location)


def read_footer(file: pa.NativeFile, location: Location) -> tuple[FileVersion, pq.FileMetaData]:
    """The version of an open file and what its footer says; raises ``DatasetError`` for a file that is not Parquet."""
    footer = _footer_bytes(file)
    if footer is None:
        raise DatasetError(f"{location} is not a Parquet file.")
    try:
        metadata = pq.read_metadata(pa.BufferReader(_MAGIC + footer))
    except (OSError, pa.ArrowException) as error:
        raise DatasetError(f"{location} is not a Parquet file that can be read: {error}") from None
    return FileVersion(location, hashlib.blake2b(footer, digest_size=16).hexdigest()), metadata


def _footer_bytes(file: pa.NativeFile) -> bytes | None:
    """Thrift metadata, its length and the magic number, as they end the file; None where they do not."""
    size = file.size()
    tail = file.read_at(min(size, _TAIL_BYTES), max(0, size - _TAIL_BYTES))
    if len(tail) < 12 or not tail.endswith(_MAGIC):
        return None
    length = struct.unpack("<I", tail[-8:-4])[0] + 8
    if length + len(_MAGIC) > size:
        return None
    return tail[-length:] if length <= len(tail) else file.read_at(length, size - length)
