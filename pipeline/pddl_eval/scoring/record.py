"""The record of a scored dataset: a digest of each column, small enough to be published beside a number.

Whoever scores the same answers again, elsewhere and in other partitions, gets the same digests, as long as the scores
are the same: they are of values, not of files. A record proves that two datasets are equal, not that either is right.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from pddl_eval.datasets import Source, column_batches, locate, put_bytes, read_bytes
from pddl_eval.errors import UserError
from pddl_eval.run import Finding, open_scored_rows
from pddl_eval.scoring.table import SCORE_MICROS
from pddl_eval.version import program_version, without_version

FORMAT = 1
"""Of records; a change of what a digest is of changes it."""


class _Digest:
    """Of the values of a column in the order of its rows, wherever the batches end.

    Three parts, each hashed by BLAKE2b (16 bytes): for each row 1 or, of a null, 0; for each row its number (8 bytes,
    little-endian; a yes is 1) or the length of its text in bytes; the texts in UTF-8. The digest is that of the parts.
    """

    def __init__(self) -> None:
        self._parts = [blake2b(digest_size=16) for _ in range(3)]

    def add(self, values: pa.Array) -> None:
        """The next rows."""
        type_ = values.type
        if pa.types.is_dictionary(type_):
            values, type_ = values.cast(type_.value_type), type_.value_type
        if not (pa.types.is_boolean(type_) or pa.types.is_integer(type_) or pa.types.is_floating(type_)):
            if not (pa.types.is_string(type_) or pa.types.is_large_string(type_)):
                values = pa.array([None if each is None else str(each) for each in values.to_pylist()], pa.string())
            values = values.cast(pa.large_binary())  # Texts that are not UTF-8 have a digest, too.
            self._parts[2].update(b"".join(pc.drop_null(values).to_pylist()))
            numbers = pc.fill_null(pc.binary_length(values), 0)
        else:
            numbers = pc.fill_null(values.cast(pa.float64() if pa.types.is_floating(type_) else pa.int64()), 0)
        for part, column in zip(self._parts, (values.is_valid().cast(pa.uint8()), numbers), strict=False):
            part.update(column.to_numpy(zero_copy_only=False).tobytes())

    def __str__(self) -> str:
        return blake2b(b"".join(part.digest() for part in self._parts), digest_size=16).hexdigest()


def make_record(place: str | os.PathLike[str]) -> dict[str, Any]:
    """The record of a scored dataset: signature, rows, and the digest of each column but the time of each row.

    Beside them, for a reader and not compared: the program, the machine and the day of the record.
    """
    source, tiling = open_scored_rows(os.fspath(place))
    if tiling is not None:
        raise UserError(f"a record is of a whole dataset: {tiling.unfinished(str(place))}")
    return {
        "record": FORMAT,
        "signature": " and ".join(sorted({str(file.signature) for file in source.files})),
        "rows": source.rows,
        "columns": _digests(source),
        "made": {
            "by": f"pddl-eval {program_version()}",
            "with": f"Python {platform.python_version()}, {platform.system()} {platform.machine()}",
            "on": datetime.now(UTC).date().isoformat(),
        },
    }


def save_record(place: str | os.PathLike[str], file: str | os.PathLike[str]) -> None:
    """Write the record of a scored dataset as JSON."""
    put_bytes(locate(file), f"{json.dumps(make_record(place), indent=1, ensure_ascii=False)}\n".encode())


def compare_record(place: str | os.PathLike[str], file: str | os.PathLike[str]) -> list[Finding]:
    """In what a scored dataset is not the one that a record is of.

    Raises ``UserError`` for a file that is no record.
    """
    try:
        told = json.loads(read_bytes(locate(file)))
        if told["record"] != FORMAT or any(not isinstance(told[name], kind) for name, kind in _KINDS.items()):
            raise ValueError
    except (ValueError, KeyError, TypeError):
        raise UserError(f"{file} is no record of `pddl-eval verify --save-record` that this program reads") from None
    return [Finding("record", where, detail) for where, detail in _differences(told, make_record(place))]


_KINDS: Mapping[str, type] = {"record": int, "signature": str, "rows": int, "columns": dict}


def _differences(told: Mapping[str, Any], now: Mapping[str, Any]) -> list[tuple[str, str]]:
    found = []
    if told["rows"] != now["rows"]:
        return [("rows", f"the record has {told['rows']:,} and the dataset {now['rows']:,}")]
    if without_version(told["signature"]) != without_version(now["signature"]):
        found.append(("signature", f"the record's is {told['signature']}"))
    before, after = told["columns"], now["columns"]
    found += [(name, "the column is missing") for name in before if name not in after]
    found += [(name, "the record does not have this column") for name in after if name not in before]
    found += [(name, "other values") for name in after if name in before and before[name] != after[name]]
    return found


def _digests(source: Source) -> dict[str, str]:
    names: Sequence[str] = [name for name in source.schema.names if name != SCORE_MICROS]
    digests = {name: _Digest() for name in names}
    for batch in column_batches(source, names):
        for name, digest in digests.items():
            digest.add(batch.column(name))
    return {name: str(digest) for name, digest in digests.items()}
