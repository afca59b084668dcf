"""The pair that a row of a dataset holds, scored or not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pddl_eval.run import (
    DatasetError,
    Input,
    column_batches,
    holds_text,
    open_source,
    read_row,
    require_columns,
    require_text,
)

PAIR_ID = "pair_id"

MEANINGS = ("reference_problem", "generated_problem", "domain", "verdict", "is_placeholder")


@dataclass(frozen=True, slots=True)
class PairRow:
    """A row's pair of problems; ``number`` counts from 0 over the files in the order of their partitions.

    ``verdict`` is what a scored dataset recorded, None if it is not scored.
    """

    number: int
    reference_problem: str | None
    generated_problem: str | None
    is_placeholder: bool
    domain: str | None
    verdict: str | None


def pair_at(places: Input, number: int, columns: Mapping[str, str] | None = None) -> PairRow:
    """The pair of row ``number``; ``columns`` maps meanings (DESIGN.md, section 2) to the dataset's names.

    Raises ``DatasetError`` if there is no such row or column.
    """
    source = open_source(places)
    columns = columns or {}
    names = {meaning: columns.get(meaning, meaning) for meaning in MEANINGS}
    require_text(source, names["reference_problem"])
    require_text(source, names["generated_problem"])
    require_columns(source, columns.values())
    row = read_row(source, number, [name for name in names.values() if name in source.schema.names])
    reference, generated, domain, verdict = (
        row[names[meaning]] if holds_text(source, names[meaning]) else None for meaning in MEANINGS[:4]
    )
    return PairRow(number, reference, generated, bool(row.get(names["is_placeholder"])), domain or None, verdict)


def row_of_pair(places: Input, pair_id: str, column: str = PAIR_ID) -> int:
    """The number of the first row with that id, whatever the type of the column.

    Raises ``DatasetError`` if no row has it.
    """
    source = open_source(places)
    require_columns(source, [column])
    batches = column_batches(source, [column], batch_rows=65_536)
    values = (value for batch in batches for value in batch.column(column).to_pylist())
    for number, value in enumerate(values):
        if str(value) == pair_id:
            return number
    raise DatasetError(f"No row has {column} {pair_id}.")
