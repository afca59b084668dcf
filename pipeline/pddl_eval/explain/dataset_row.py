"""The pair to explain: that of two files, or of a row of a dataset, scored or not."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace

from pddl_eval.errors import UserError
from pddl_eval.run import (
    DatasetError,
    Input,
    column_batches,
    holds_text,
    locate,
    open_source,
    read_bytes,
    read_row,
    require_columns,
    require_text,
    scored_with,
)
from pddl_eval.table import values_of

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


def find_pair(  # noqa: PLR0913 (one keyword a flag of the command)
    source: str,
    answer: str | None = None,
    *,
    row: int | None = None,
    pair_id: str | None = None,
    columns: Mapping[str, str] | None = None,
    domain: str | None = None,
) -> PairRow:
    """The pair of the files ``source`` and ``answer`` (``-`` is stdin), else of a row of the dataset ``source``.

    A row is named by its number or by its ``pair_id``. ``columns`` (see ``pair_at``) and ``domain``, for a row that
    names none, are by default those that the dataset was scored with. Raises ``UserError`` where the arguments name no
    pair or more than one, and ``DatasetError`` where it cannot be read.
    """
    if answer is not None:
        if row is not None or pair_id is not None or columns:
            raise UserError("--row, --pair-id and --column belong to a dataset; with two files there is one pair.")
        files = [sys.stdin.buffer.read() if file == "-" else read_bytes(locate(file)) for file in (source, answer)]
        reference, generated = (content.decode("utf-8", "replace") for content in files)
        return PairRow(0, reference, generated, is_placeholder=False, domain=domain, verdict=None)
    dataset = open_source(source)
    scored = scored_with(dataset)
    known = {meaning: name for meaning, name in (scored.columns or {}).items() if name in dataset.schema.names}
    names = {**known, **(columns or {})}
    id_column = names.pop(PAIR_ID, PAIR_ID)
    if pair_id is not None and row is None:
        row = row_of_pair(source, pair_id, id_column)
    elif row is None or pair_id is not None:
        raise UserError(
            f"to explain a row of {source}, name one: --row N or --pair-id ID; to compare two files, name both"
        )
    pair = pair_at(source, row, names)
    return replace(pair, domain=pair.domain or domain or scored.domain)


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
    values = (value for batch in batches for value in values_of(batch.column(column)))
    for number, value in enumerate(values):
        if str(value) == pair_id:
            return number
    raise DatasetError(f"No row has {column} {pair_id}.")
