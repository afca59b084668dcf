"""The pairs to explain: those of a row of a dataset, scored or not, or the pair of two files.

Rooms that read datasets are imported where they are needed: what explains texts needs no Arrow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pddl_eval.columns import MEANINGS
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.definition.pddl import DEFINE_DOMAIN, DEFINE_PROBLEM, without_comments
from pddl_eval.definition.plans import read_plan
from pddl_eval.errors import UserError

if TYPE_CHECKING:
    from pddl_eval.datasets import Source

IDS = ("pair_id", "id", "reference_id")
"""Columns that identify a row, where none is named."""

RECORDED = ("verdict", "score_error")
"""What a scored dataset says of a row as a whole."""


@dataclass(frozen=True, slots=True)
class DatasetRow:
    """A row; ``number`` counts from 0 over the files in the order of their partitions.

    ``values`` are its values by meaning (``options.MEANINGS``).
    ``verdict`` is what a scored dataset recorded, None if it is not scored; ``error`` why it could not score the row.
    ``options`` are for its scores. ``others`` are the numbers of other rows with the id that was asked for.
    ``unfinished`` says, in a sentence, which rows of the run are missing: numbers count those that are there.
    """

    number: int
    values: Mapping[str, Any]
    verdict: str | None = None
    error: str | None = None
    options: ScoringOptions = field(default_factory=ScoringOptions)
    others: tuple[int, ...] = ()
    unfinished: str | None = None


def find_row(  # noqa: PLR0913 (one keyword a flag of the command)
    source: str,
    answer: str | None = None,
    *,
    row: int | None = None,
    id: str | Sequence[str] | None = None,
    on: str | Sequence[str] | None = None,
    columns: Mapping[str, str] | None = None,
    domain: str | None = None,
    problem: str | None = None,
) -> DatasetRow:
    """The pair of the files ``source`` and ``answer`` (``-`` is stdin), else a row of the dataset ``source``.

    Two files hold problems, plans or domains: what the first one holds. ``problem`` is the file of the problem that
    plans are for. A row is named by its number or by its ``id`` in the column ``on`` (default: the first of ``IDS``),
    several values for several columns. ``columns`` (see ``row_at``) and ``domain``, for a row that names none, are by
    default those that the dataset was scored with. Raises ``UserError`` where the
    arguments name no pair or more than one, and ``DatasetError`` where it cannot be read.
    """
    from pddl_eval.run import open_scored_rows

    if answer is not None:
        if row is not None or id or on or columns:
            raise UserError("--row, --id, --key and --column belong to a dataset; with two files there is one pair.")
        return DatasetRow(0, _values_of_files(source, answer, domain, problem))
    if problem is not None:
        raise UserError("--problem belongs to two files with plans; a dataset has the column reference_problem.")
    dataset, tiling = open_scored_rows(source)
    scored = options_of(dataset)
    known = {meaning: name for meaning, name in (scored.columns or {}).items() if name in dataset.schema.names}
    names = {**known, **(columns or {})}
    ids, keys = ([each] if isinstance(each, str) else list(each or []) for each in (id, on))
    others: list[int] = []
    pair_id = names.pop("pair_id", None)  # as the column was named before there was --key
    if ids and row is None:
        known_ids = [names.get(name, name) for name in IDS]
        keys = keys or [pair_id or next((name for name in known_ids if name in dataset.schema.names), IDS[0])]
        row, *others = rows_of_id(dataset, ids, keys)
    elif row is None or ids:
        raise UserError(f"to explain a row of {source}, name one: --row N or --id ID; to compare two files, name both")
    found = row_at(dataset, row, names)
    options = replace(scored, columns=None, domain=domain or scored.domain)
    unfinished = tiling.unfinished(source) if tiling else None
    return replace(found, options=options, others=tuple(others), unfinished=unfinished)


def options_of(source: Source) -> ScoringOptions:
    """The columns of a dataset and what its domains are read with, as it was scored."""
    from pddl_eval.run import settings_of

    return ScoringOptions.reading_as(settings_of(source))


def _values_of_files(source: str, answer: str, domain: str | None, problem: str | None) -> dict[str, Any]:
    """The values of a row with one pair; what the reference holds says which."""
    from pddl_eval.datasets import read_text

    if [source, answer, problem].count("-") > 1:
        raise UserError("Standard input can be only one of the files.")
    reference, generated = map(read_text, (source, answer))
    kind = "problem"
    if not DEFINE_PROBLEM.search(reference.lower()):
        if DEFINE_DOMAIN.search(without_comments(reference.lower())):
            kind = "domain"
        elif read_plan(reference).found:
            kind = "plan"
    values = {f"reference_{kind}": reference, f"generated_{kind}": generated, "domain": domain}
    if problem is not None:
        if kind == "problem":
            raise UserError(f"--problem belongs to two files with plans; {source} holds a problem.")
        values["reference_problem"] = read_text(problem)
    return values


def row_at(source: Source, number: int, columns: Mapping[str, str] | None = None) -> DatasetRow:
    """Row ``number``; ``columns`` maps meanings (``options.MEANINGS``) to the dataset's names.

    Raises ``DatasetError`` if there is no such row, ``UserError`` if a column is missing or no pair is there.
    """
    from pddl_eval.datasets import holds_text, read_row

    names = scored_columns(source, columns)
    row = read_row(
        source, number, [*dict.fromkeys([*names.values(), *(each for each in RECORDED if holds_text(source, each))])]
    )
    verdict, error = (row.get(name) for name in RECORDED)
    return DatasetRow(number, {meaning: row[name] for meaning, name in names.items()}, verdict, error)


def scored_columns(source: Source, columns: Mapping[str, str] | None = None) -> dict[str, str]:
    """The columns of a dataset that its scores are made of, by meaning.

    Raises ``UserError`` if a column is missing or holds no text, and if no pair is there.
    """
    from pddl_eval.datasets import holds_text, require_text
    from pddl_eval.pairs import pairs_present

    options = ScoringOptions(columns=columns)
    for pair in pairs_present(source.schema, options):
        for meaning in (pair.generated, *pair.compared_with):
            if options.column(meaning) in source.schema.names:
                require_text(source, options.column(meaning))
    names = {meaning: options.column(meaning) for meaning in MEANINGS}
    return {
        meaning: name
        for meaning, name in names.items()
        if holds_text(source, name) or (meaning == "is_placeholder" and name in source.schema.names)
    }


def rows_of_id(source: Source, ids: Sequence[str], columns: Sequence[str]) -> list[int]:
    """The numbers of the rows with these values in these columns, of any types; at least one.

    Raises ``UserError`` if they are not as many, and ``DatasetError`` if no row has them.
    """
    from pddl_eval.datasets import DatasetError, column_batches, require_columns, values_of

    if len(ids) != len(columns):
        raise UserError(
            f"--key names {len(columns)} columns ({', '.join(columns)}): give --id as often, not {len(ids)} times."
        )
    require_columns(source, columns)
    batches = column_batches(source, list(dict.fromkeys(columns)), batch_rows=65_536)
    rows = (row for batch in batches for row in zip(*(values_of(batch.column(name)) for name in columns), strict=True))
    wanted = tuple(ids)
    if found := [number for number, row in enumerate(rows) if tuple(map(str, row)) == wanted]:
        return found
    raise DatasetError(f"No row has {' and '.join(map(' '.join, zip(columns, ids, strict=True)))}.")
