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

VERDICT = "verdict"
"""The column in which a scored dataset keeps the verdict."""


@dataclass(frozen=True, slots=True)
class PairRow:
    """A row's pair of problems; ``number`` counts from 0 over the files in the order of their partitions.

    ``verdict`` is what a scored dataset recorded, None where it is not scored.
    """

    number: int
    reference_problem: str | None
    generated_problem: str | None
    is_placeholder: bool
    domain: str | None
    verdict: str | None


def pair_at(places: Input, number: int, columns: Mapping[str, str] | None = None) -> PairRow:
    """The pair of row ``number``; ``columns`` maps meanings (DESIGN.md, section 2) to the dataset's names.

    Raises ``DatasetError`` where there is no such row or column.
    """
    source = open_source(places)
    columns = columns or {}
    reference, generated, is_placeholder, domain = (
        columns.get(meaning, meaning)
        for meaning in ("reference_problem", "generated_problem", "is_placeholder", "domain")
    )
    require_text(source, reference)
    require_text(source, generated)
    require_columns(source, columns.values())
    optional = [name for name in (is_placeholder, domain, VERDICT) if name in source.schema.names]
    row = read_row(source, number, [reference, generated, *optional])
    return PairRow(
        number=number,
        reference_problem=row[reference],
        generated_problem=row[generated],
        is_placeholder=bool(row.get(is_placeholder)),
        domain=(row[domain] or None) if holds_text(source, domain) else None,
        verdict=row[VERDICT] if holds_text(source, VERDICT) else None,
    )


def row_of_pair(places: Input, pair_id: str, column: str = PAIR_ID) -> int:
    """The number of the first row with that id, whatever the type of the column.

    Raises ``DatasetError`` where no row has it.
    """
    source = open_source(places)
    require_columns(source, [column])
    number = 0
    for batch in column_batches(source, [column], batch_rows=65_536):
        for value in batch.column(column).to_pylist():
            if str(value) == pair_id:
                return number
            number += 1
    raise DatasetError(f"No row has {column} {pair_id}.")
