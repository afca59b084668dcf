"""The content of a row as a key: equal for rows that get equal scores from the same scorer, whatever else they hold."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from pddl_eval.options import ScoringOptions
from pddl_eval.scoring.columns import KINDS, pairs_present

if TYPE_CHECKING:
    import numpy as np

KEY_BYTES = 16

TEXTS = ("domain", *(name for kind in KINDS for name in (kind.reference, kind.generated)))
"""Meanings that hold text."""


def content_columns(schema: pa.Schema, settings: ScoringOptions) -> list[str]:
    """The names of the columns that the scores of such a dataset depend on.

    Raises ``ColumnError`` where the dataset has nothing to score.

    >>> plans = pa.schema({"id": pa.int64(), "reference_plan": pa.string(), "generated_plan": pa.string()})
    >>> content_columns(plans, ScoringOptions())
    ['reference_plan', 'generated_plan']
    """
    # Of the others, the reference problem matters to plans too.
    scored = {name for kind in pairs_present(schema, settings) for name in (kind.reference, kind.generated)}
    meanings = scored | {"is_placeholder", "domain", "reference_problem"}
    names = {settings.column(meaning) for meaning in meanings}
    return [name for name in schema.names if name in names]


def content_keys(table: pa.Table, settings: ScoringOptions) -> np.ndarray[Any, Any]:
    """A 128-bit digest of each row's content, as two ``uint64``.

    A column that is missing counts as one of nulls, a null ``is_placeholder`` as false and an empty ``domain`` as null,
    as in scoring. Texts are hashed where they lie, and with their lengths, so that none can run over into the next.

    >>> plans = pa.table({"reference_plan": ["(a)", "(a)"], "generated_plan": ["(b)", "(b)"], "id": [1, 2]})
    >>> first, second = content_keys(plans, ScoringOptions()).tolist()
    >>> first == second
    True
    """
    import numpy as np

    columns = content_columns(table.schema, settings)
    texts: list[tuple[memoryview, np.ndarray[Any, Any]]] = []
    # What each row's digest begins with: is it a placeholder, then the length of each text, -1 for a null.
    heads = np.full((table.num_rows, 1 + len(TEXTS)), -1, dtype="<i8")
    heads[:, 0] = _flags(table, settings.column("is_placeholder"), columns)
    for place, meaning in enumerate(TEXTS, start=1):
        name = settings.column(meaning)
        if name in columns:
            values = _large_strings(table[name])
            if meaning == "domain":
                values = pc.if_else(pc.equal(values, ""), pa.scalar(None, pa.large_string()), values)
            present = values.is_valid().to_numpy(zero_copy_only=False)
            values = values.fill_null("")  # What lies behind a null is arbitrary.
            _, bounds, content = values.buffers()
            offsets = np.frombuffer(bounds, dtype="<i8", count=len(values) + 1, offset=8 * values.offset)
            heads[:, place] = np.where(present, np.diff(offsets), -1)
            texts.append((memoryview(content or b""), offsets))
    keys = bytearray()
    for row, head in enumerate(heads):
        digest = blake2b(head, digest_size=KEY_BYTES)
        for content, offsets in texts:
            digest.update(content[offsets[row] : offsets[row + 1]])
        keys += digest.digest()
    return np.frombuffer(bytes(keys), dtype="<u8").reshape(-1, 2)


def _flags(table: pa.Table, name: str, columns: list[str]) -> Any:
    return table[name].cast(pa.bool_()).fill_null(False).to_numpy() if name in columns else False


def _large_strings(column: pa.ChunkedArray) -> pa.LargeStringArray:
    """One array, whatever the encoding and the chunks of the column."""
    return pa.concat_arrays(column.cast(pa.large_string()).chunks or [pa.array([], pa.large_string())])
