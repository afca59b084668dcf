"""Parquet: files described by their footers, and their rows.

A reader reaches the middle of a row group only by decoding what comes before; it stays open where it stopped.
"""

from __future__ import annotations

import hashlib
import struct
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import accumulate

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pddl_eval.datasets.columns import PIECE_BYTES
from pddl_eval.datasets.forms import AS_LINES, DAMAGE, SUFFIXES, FileVersion, Form, form_of_content
from pddl_eval.datasets.places import DatasetError, Location, one_line

LOCAL_BUFFER_BYTES = 128 * 1024
REMOTE_BUFFER_BYTES = 2 * 2**20
"""Read from each column chunk at a time: what a worker holds of a file is this times the number of columns."""

MOST_STEP_ROWS, STEP_BYTES = 4096, 2**20
"""Decoded at a time, at most: rows, and bytes of rows of average length."""

STEP_ROWS, FEW_STEP_ROWS = 64, 256
"""Rows that are decoded at a time where nothing bounds their texts, and at most where sizes in the footer alone do."""

GROUP_BYTES = 256 * 2**20
"""Of a row group of at most that size, all values that are written once may stand side by side."""

NUMBER_BYTES = 16
"""Decoded bytes of a value that is no text, at most."""

_FOOTER_BYTES = 64 * 1024
_MAGIC = b"PAR1"


def read_footer(file: pa.NativeFile, location: Location) -> tuple[FileVersion, pq.FileMetaData]:
    """The version of an open file and what its footer says; raises ``DatasetError`` for a file that is not Parquet."""
    size = file.size()
    tail = file.read_at(min(size, _FOOTER_BYTES), max(0, size - _FOOTER_BYTES))
    # Thrift metadata, its length and the magic number end the file, which begins with the magic number too.
    length = struct.unpack("<I", tail[-8:-4])[0] + 8 if len(tail) >= 12 and tail.endswith(_MAGIC) else size
    if length + len(_MAGIC) > size:
        raise DatasetError(f"{location} is not a Parquet file{_what_it_is(tail, file.read_at(min(size, 64), 0))}.")
    footer = tail[-length:] if length <= len(tail) else file.read_at(length, size - length)
    try:
        metadata = pq.read_metadata(pa.BufferReader(_MAGIC + footer))
    except (OSError, pa.ArrowException) as error:
        raise DatasetError(f"{location} is not a Parquet file that can be read: {one_line(error)}.") from None
    return FileVersion(location, hashlib.blake2b(footer, digest_size=16).hexdigest()), metadata


def step_rows(footer: pq.FileMetaData, most: int, most_bytes: int = PIECE_BYTES) -> int:
    """Rows of a file to decode at a time: at most that many, and fewer where they are long, down to one."""
    groups = (footer.row_group(number) for number in range(footer.num_row_groups))
    steps = (max(1, most_bytes * each.num_rows // max(1, each.total_byte_size)) for each in groups)
    return int(min([most, *steps]))


def _is_of(path: str, names: Sequence[str]) -> bool:
    return path in names or ("." in path and any(path.startswith(f"{name}.") for name in names))


def _longest(entries: pa.Array, chunk: pq.ColumnChunkMetaData) -> int:
    """Bytes of the longest text in a column's dictionary; where its first page has none, one may follow."""
    longest = pc.max(pc.binary_length(entries)).as_py() or 0
    return int(max(longest, chunk.total_uncompressed_size if chunk.has_dictionary_page and len(entries) < 2 else 0))


def _what_it_is(tail: bytes, head: bytes) -> str:
    """What a file seems to be that is not Parquet, and what to do about it."""
    if tail.endswith(b"PARE"):
        return ": its footer is encrypted, so write it without encryption first"
    found = form_of_content(head)
    if found is Form.PARQUET:
        return " that is whole: its end is missing, so copy or write it again"
    if found is not None:
        return f" but seems to be {found}: give it a name that ends in {SUFFIXES[found][0]}"
    return f" but seems to be JSON: {AS_LINES}" if head.lstrip().startswith(b"[") else ""


def _note_damage(batch: pa.RecordBatch, file: FileVersion, first: int, lost: dict[int, str]) -> None:
    """Add the reasons of rows that could not be converted; raises ``OSError`` for those of a damaged Arrow batch."""
    reasons = batch.column(DAMAGE)
    if reasons.null_count < len(reasons):
        found = {number: why for number, why in enumerate(reasons.to_pylist(), first) if why is not None}
        if file.form is Form.ARROW:
            raise OSError(next(iter(found.values())))
        lost.update(found)


class ParquetReader:
    """A Parquet file, open at a row; reading on from there costs nothing. It decodes all columns, or those named."""

    def __init__(self, file: FileVersion, names: Sequence[str] | None = None) -> None:
        place = file.location
        handle = place.filesystem.open_input_file(place.path)
        version, metadata = read_footer(handle, place)
        if version.footer != file.footer:
            raise DatasetError(f"{file} has changed since the run was prepared.")
        self.file = file
        self._open = partial(
            pq.ParquetFile,
            handle,
            metadata=metadata,
            buffer_size=LOCAL_BUFFER_BYTES if place.is_local else REMOTE_BUFFER_BYTES,
            pre_buffer=False,
            page_checksum_verification=True,
        )
        self._parquet = self._open()
        self._names = names
        # Of converted rows, DAMAGE is read as well.
        self._columns = names if names is None or file.form is Form.PARQUET else list({*names, DAMAGE})
        rows = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
        self._bounds: list[int] = list(
            accumulate(rows, initial=0)
        )  # The first row of each row group, and the number of rows.
        self._batches: Iterator[pa.RecordBatch] = iter(())
        self._position = -1
        self._rest: pa.RecordBatch | None = None  # What was decoded and not yet asked for.

    @property
    def rows(self) -> int:
        return self._bounds[-1]

    def close(self) -> None:
        self._parquet.close(force=True)

    def row_group(self, row: int) -> tuple[int, int]:
        """The first row of that row's row group, and of the next one: damage behind a row costs at most these."""
        group = bisect_right(self._bounds, row)
        return self._bounds[group - 1], self._bounds[group]

    def read(
        self, start: int, stop: int, lost: dict[int, str], batch_rows: int = MOST_STEP_ROWS
    ) -> Iterator[pa.RecordBatch]:
        """These rows, at most that many at a time, fewer where they are long.

        It continues decoding where ``start`` is ahead in the same row group, otherwise begins at its row group. Rows
        that could not be converted are nulls, and ``lost`` gets the reasons, by number.
        """
        group = bisect_right(self._bounds, start) - 1
        if not self._bounds[group] <= self._position <= start:
            self._rest, self._position = None, self._bounds[group]
        while self._position < stop:
            group = bisect_right(self._bounds, self._position) - 1
            if self._rest is None and self._position == self._bounds[group]:
                step = self._rows_at_a_time(group, batch_rows)
                self._batches = self._parquet.iter_batches(step, [group], self._columns, use_threads=False)
            batch = self._rest if self._rest is not None else next(self._batches, None)
            if batch is None:
                raise OSError("the file holds fewer rows than its footer says")
            first = min(batch.num_rows, max(0, start - self._position))
            last = min(batch.num_rows, stop - self._position)
            self._rest = batch.slice(last) if last < batch.num_rows else None
            self._position += last
            if last > first:
                rows = batch.slice(first, last - first)
                if self.file.form is not Form.PARQUET:
                    _note_damage(rows, self.file, self._position - rows.num_rows, lost)
                    rows = rows if self._names is not None else rows.select(rows.schema.names[:-1])
                yield rows if self._names is None else rows.select(self._names)

    def _rows_at_a_time(self, number: int, most: int) -> int:
        """Rows of a row group to decode at a time: at most that many, and so few that they fit into memory."""
        group = self._parquet.metadata.row_group(number)
        every = map(group.column, range(group.num_columns))
        chunks = [each for each in every if self._columns is None or _is_of(each.path_in_schema, self._columns)]
        size: int = sum(each.total_uncompressed_size for each in chunks)
        most = max(1, min(most, STEP_BYTES * group.num_rows // max(1, size)))
        if group.num_rows <= MOST_STEP_ROWS:  # Too few to look into them.
            return min(most, FEW_STEP_ROWS, max(STEP_ROWS, PIECE_BYTES // max(1, size)))
        entries = self._dictionaries(number, chunks)
        known, unknown = 1, 0  # Bytes of a row whose texts are the longest that rows share.
        for each in chunks:
            if "BYTE_ARRAY" not in each.physical_type and "." not in each.path_in_schema:
                known += NUMBER_BYTES
            elif each.path_in_schema in entries and "DELTA_BYTE_ARRAY" not in each.encodings:
                known += _longest(entries[each.path_in_schema], each)
            else:
                unknown += each.total_uncompressed_size  # A text is written once at least, whole.
        most = min(most, STEP_ROWS if size > GROUP_BYTES else most, max(1, PIECE_BYTES // 4 // known))
        return min(most, max(STEP_ROWS, min(FEW_STEP_ROWS, PIECE_BYTES // (known + unknown)))) if unknown else most

    def _dictionaries(self, number: int, chunks: Sequence[pq.ColumnChunkMetaData]) -> dict[str, pa.Array]:
        """The dictionaries of columns of text in a row group, as far as they can be had for little."""
        names = [each.path_in_schema for each in chunks if each.physical_type == "BYTE_ARRAY"]
        names = [name for name in names if "." not in name]
        with suppress(OSError, pa.ArrowException, StopIteration):  # Whoever reads the rows meets it.
            if names and self.file.location.is_local:  # In a store, each would be a request more.
                rows = self._open(read_dictionary=names).iter_batches(1, [number], names, use_threads=False)
                first = next(rows)  # A row that is read as a place in the dictionary comes with all of it.
                columns = zip(first.schema.names, first.columns, strict=True)
                return {name: each.dictionary for name, each in columns if pa.types.is_dictionary(each.type)}
        return {}
