"""The pairs to explain: those of a row of a dataset, scored or not, or the pair of two files."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pddl_eval.errors import UserError
from pddl_eval.options import MEANINGS, ScoringOptions
from pddl_eval.parsing import DEFINE_DOMAIN, DEFINE_PROBLEM, read_plan
from pddl_eval.run import (
    DatasetError,
    Input,
    Source,
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
from pddl_eval.table import pairs_present, values_of

PAIR_ID = "pair_id"


@dataclass(frozen=True, slots=True)
class DatasetRow:
    """A row; ``number`` counts from 0 over the files in the order of their partitions.

    ``values`` are its values by meaning (``options.MEANINGS``), both columns of each pair that it has among them.
    ``verdict`` is what a scored dataset recorded, None if it is not scored. ``options`` are for its scores.
    """

    number: int
    values: Mapping[str, Any]
    verdict: str | None = None
    options: ScoringOptions = field(default_factory=ScoringOptions)


def find_row(  # noqa: PLR0913 (one keyword a flag of the command)
    source: str,
    answer: str | None = None,
    *,
    row: int | None = None,
    pair_id: str | None = None,
    columns: Mapping[str, str] | None = None,
    domain: str | None = None,
    problem: str | None = None,
) -> DatasetRow:
    """The pair of the files ``source`` and ``answer`` (``-`` is stdin), else a row of the dataset ``source``.

    Two files hold problems, plans or domains: what the first one holds. ``problem`` is the file of the problem that
    plans are for. A row is named by its number or by its ``pair_id``. ``columns`` (see ``row_at``) and ``domain``, for
    a row that names none, are by default those that the dataset was scored with. Raises ``UserError`` where the
    arguments name no pair or more than one, and ``DatasetError`` where it cannot be read.
    """
    if answer is not None:
        if row is not None or pair_id is not None or columns:
            raise UserError("--row, --pair-id and --column belong to a dataset; with two files there is one pair.")
        return DatasetRow(0, _values_of_files(source, answer, domain, problem))
    if problem is not None:
        raise UserError("--problem belongs to two files with plans; a dataset has the column reference_problem.")
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
    return replace(row_at(source, row, names), options=ScoringOptions(domain=domain or scored.domain))


def _values_of_files(source: str, answer: str, domain: str | None, problem: str | None) -> dict[str, Any]:
    """The values of a row with one pair; what the reference holds says which."""
    files = [sys.stdin.buffer.read() if file == "-" else read_bytes(locate(file)) for file in (source, answer)]
    reference, generated = (content.decode("utf-8", "replace") for content in files)
    kind = "problem"
    if not DEFINE_PROBLEM.search(reference.lower()):
        if DEFINE_DOMAIN.search(reference.lower()):
            kind = "domain"
        elif read_plan(reference).found:
            kind = "plan"
    values = {f"reference_{kind}": reference, f"generated_{kind}": generated, "domain": domain}
    if problem is not None:
        if kind == "problem":
            raise UserError(f"--problem belongs to two files with plans; {source} holds a problem.")
        values["reference_problem"] = read_bytes(locate(problem)).decode("utf-8", "replace")
    return values


def row_at(places: Input | Source, number: int, columns: Mapping[str, str] | None = None) -> DatasetRow:
    """Row ``number``; ``columns`` maps meanings (``options.MEANINGS``) to the dataset's names.

    Raises ``DatasetError`` if there is no such row, ``UserError`` if a column is missing or no pair is there.
    """
    source = places if isinstance(places, Source) else open_source(places)
    options = ScoringOptions(columns=columns)
    for pair in pairs_present(source.schema, options):
        for meaning in (pair.reference, pair.generated):
            require_text(source, options.column(meaning))
    names = {meaning: options.column(meaning) for meaning in MEANINGS}
    there = [*dict.fromkeys(name for name in (*names.values(), "verdict") if name in source.schema.names)]
    row = read_row(source, number, there)
    values = {
        meaning: row[name]
        for meaning, name in names.items()
        if name in row and (meaning == "is_placeholder" or holds_text(source, name))
    }
    verdict = row["verdict"] if holds_text(source, "verdict") else None
    return DatasetRow(number, values, verdict)


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
