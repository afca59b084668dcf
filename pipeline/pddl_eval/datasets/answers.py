"""Answers and the references they belong to, joined by id into one dataset of pairs.

The answers are a dataset, or logs of a harness, which become one first. They are read twice: once for their ids, once
to write them. Of the references, those that answers ask for are held in memory.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import pyarrow as pa

from pddl_eval.columns import PAIRS, PLAIN_NAMES, QUESTION_SIDE, REFERENCE_SIDE, asked_for
from pddl_eval.datasets.columns import PIECE_BYTES, values_of
from pddl_eval.datasets.forms import DAMAGE
from pddl_eval.datasets.harness import HARNESSES, find_logs, meant
from pddl_eval.datasets.inputs import (
    FORMAT,
    MADE_OF,
    NOTES,
    Input,
    Make,
    Source,
    as_parquet,
    described,
    find_source,
    make_aside,
    open_source,
    place_of,
    require_columns,
)
from pddl_eval.datasets.logs import join_key
from pddl_eval.datasets.named import NamedSet, named_set
from pddl_eval.datasets.places import DatasetError, Location, locate, new_parquet
from pddl_eval.datasets.rows import column_batches
from pddl_eval.errors import did_you_mean
from pddl_eval.settings import ReadingOptions
from pddl_eval.shown import encodable, line, listed

IDS = ("reference_id", "id", "name", "doc_id")
"""Columns that identify a reference if none is named."""

ROWS = 1024
"""Rows of a record batch and of a row group."""

REFERENCE_BYTES = 8 * 2**30
"""Most memory for the references."""

ERROR = "answer_error"
"""The column that says why a row has no answer."""

RECORDED = "recorded_correct"
"""The column that says whether the harness took the answer for right."""

SHOWN = 3
"""Examples in a sentence."""


def with_references(inputs: Input, reading: ReadingOptions, columns: Mapping[str, str], make: Make) -> Source:
    """The answers with their references beside them, in a file that ``make`` keeps.

    ``columns`` are the dataset's own names of columns by their meaning. Raises ``DatasetError`` where something cannot
    be read, no answer has a reference, or an id has two.
    """
    answers = find_source(inputs) if reading.harness is None else find_logs(inputs, HARNESSES[reading.harness])
    references, named = None, None
    if reading.references is not None:
        named = named_set(reading.references)
        place = named.place if named else reading.references
        reading = replace(reading, references=place)
        references = find_logs(place, HARNESSES["acpbench"]) if _are_published(reading) else find_source(place)
    made_of = {
        "format": FORMAT,
        "settings": {"harness": reading.harness, "key": reading.key},
        "columns": dict(sorted(columns.items())),
        "answers": described(answers),
        "references": None if references is None else described(references),
    }
    return open_source(str(make(None, made_of, partial(_write, answers, references, named, reading, columns))))


def _are_published(reading: ReadingOptions) -> bool:
    """Whether the references are questions of ACPBench, as published: no dataset is a JSON array."""
    return str(reading.references).endswith((".json", ".json.gz"))


def _write(  # noqa: PLR0913 (what is read, how, where it goes)
    found: Source,
    references: Source | None,
    named: NamedSet | None,
    reading: ReadingOptions,
    columns: Mapping[str, str],
    place: Location,
    made_of: Mapping[str, Any],
) -> None:
    with TemporaryDirectory(prefix="pddl-eval-") as aside:
        if reading.harness is not None:
            answers = _rows_of_logs(found, reading, columns, locate(aside) / "logs")
            why = ERROR if ERROR in answers.schema.names else ""
        else:
            answers = as_parquet(found, make_aside)
            why = DAMAGE if answers.original else ""
        if references is None:
            ids = []
        elif _are_published(reading):
            asking = replace(reading, harness="acpbench", references=None)
            rows = _rows_of_logs(references, asking, columns, locate(aside) / "questions")
            ids, asked = ["reference_id"], {"reference_id", *REFERENCE_SIDE, *QUESTION_SIDE}
            references = replace(rows, schema=pa.schema([field for field in rows.schema if field.name in asked]))
        else:
            references = as_parquet(references, make_aside)
            ids = _reference_ids(references, reading.key, columns)
        if references is not None and named is not None:
            named.require(references)
        # A log's reader has made one id of the fields that are named.
        own_ids = ["reference_id"] if reading.harness is not None else _answer_ids(answers, ids, columns)
        seen = _look(answers, own_ids, why)
        notes = [*answers.notes, *(references.notes if references else [])]
        if seen.errors:
            notes.append(f"{seen.errors:,} of {answers.rows:,} answers are empty: the column {ERROR} says why")
        if seen.damaged:
            notes.append(f"Not read: {'; '.join(seen.damaged)}")
        names = answers.schema.names
        if why == DAMAGE and seen.errors and ERROR not in names:
            answers = _with_damage(answers)
            names = [*names, ERROR]
        schema = pa.schema(
            [field.with_name(name) for field, name in zip(answers.schema, names, strict=True)], answers.schema.metadata
        )
        beside: _References | None = None
        if references is not None:
            beside = _asked_for(references, ids, seen.keys, _fields(references, schema, columns))
            notes += _without_reference(answers, own_ids, seen.keys, references, ids, beside)
            schema = pa.schema([*schema, *beside.table.schema], metadata=schema.metadata)
        schema = schema.with_metadata(
            {**(schema.metadata or {}), MADE_OF: json.dumps(made_of), NOTES: json.dumps(notes)}
        )
        with new_parquet(place, schema) as writer:
            for batch in column_batches(answers, answers.schema.names, ROWS):
                arrays = [*batch.columns, *(beside.of(_keys(batch, own_ids)).columns if beside else [])]
                writer.write_table(pa.table(arrays, schema=schema))


def _rows_of_logs(logs: Source, reading: ReadingOptions, columns: Mapping[str, str], place: Location) -> Source:
    """The answers in logs as a dataset, without columns that no log fills; raises ``DatasetError``.

    Without references, what a log says of its questions is all that is known of them.
    """
    # What the answers are: the generated column that --column names says it.
    kinds = [kind for kind in PAIRS if f"generated_{kind}" in columns]
    if len(kinds) > 1:
        raise DatasetError(f"The answers in a log are of one kind: not both {' and '.join(kinds)}.")
    harness = HARNESSES[reading.harness or ""]
    (kind,) = kinds or ["answer" if _are_published(reading) else harness.kind]
    by_pair = {pair: columns.get(f"generated_{pair}", f"generated_{pair}") for pair in PAIRS}
    generated, reference, answered = by_pair[kind], f"reference_{kind}", by_pair["answer"]
    alone = reading.references is None
    names = ["reference_id", "model", "task", "sample", generated, *by_pair.values(), ERROR, RECORDED, "log"]
    names += [reference, *REFERENCE_SIDE, *QUESTION_SIDE] if alone else []
    names = list(dict.fromkeys(names))
    types = {"sample": pa.int64(), "is_placeholder": pa.bool_(), RECORDED: pa.bool_()}
    schema = pa.schema([(name, types.get(name, pa.string())) for name in names])
    filled, asked, first_error = set(), set(), ""
    of_requests: set[str] = set()
    with new_parquet(place, schema) as writer:
        rows: list[dict[str, Any]] = []
        size = 0
        for file in logs.files:
            for answer in harness.read(file.version.location, reading.key or ()):
                pair, identity = asked_for(answer.id)
                about = meant(answer.question, answer.task, answer.target)
                asked |= {"question" in about} if answer.question else set()
                said = by_pair[pair] if pair else answered if "question" in about else generated
                row = {
                    "reference_id": identity,
                    "model": answer.model,
                    "task": answer.task,
                    "sample": answer.sample,
                    said: answer.text,
                    ERROR: answer.error,
                    RECORDED: answer.recorded,
                    "log": file.name,
                }
                if alone:
                    row = ({} if "question" in about else {reference: answer.target}) | row | about
                rows.append({name: encodable(each) if isinstance(each, str) else each for name, each in row.items()})
                filled |= {name for name, value in row.items() if value is not None}
                of_requests.add(said)
                first_error = first_error or answer.error or ""
                size += sum(len(value) for value in row.values() if isinstance(value, str))
                if len(rows) == ROWS or size > PIECE_BYTES:
                    writer.write_batch(pa.RecordBatch.from_pylist(rows, schema))
                    rows, size = [], 0
        writer.write_batch(pa.RecordBatch.from_pylist(rows, schema))
    if len(asked) > 1:
        raise DatasetError(
            f"{place_of(logs)} holds answers to questions and other ones: score them apart, with a pattern for each."
        )
    if True in asked:
        generated = reference = answered
    if alone and filled and not filled & {"question", *(f"reference_{pair}" for pair in PAIRS)}:
        why = f" The first that is empty: {line(first_error, 200).rstrip('.')}." if first_error else ""
        raise DatasetError(
            f"No answer in {place_of(logs)} has a reference: name the dataset that holds them, --references "
            f"DATASET.{why}"
        )
    kept = filled | {"reference_id", "model", "sample", reference} | (of_requests or {generated})
    return replace(open_source(str(place)), schema=pa.schema([field for field in schema if field.name in kept]))


def _with_damage(converted: Source) -> Source:
    """The rows with the column that says why some of them could not be read."""
    return replace(converted, schema=converted.schema.append(pa.field(DAMAGE, pa.string())))


def _reference_ids(references: Source, on: Sequence[str] | None, columns: Mapping[str, str]) -> list[str]:
    """The columns that identify a reference; raises ``DatasetError`` if it has none."""
    if on:
        require_columns(references, on)
        return list(on)
    known = dict.fromkeys([columns.get("reference_id", "reference_id"), *IDS])
    for name in known:
        if name in references.schema.names:
            return [name]
    raise DatasetError(
        f"{place_of(references)} has none of the columns {', '.join(known)}: name its id with --key COLUMN."
    )


def _answer_ids(answers: Source, ids: Sequence[str], columns: Mapping[str, str]) -> list[str]:
    """The columns that identify an answer's question: as the references call them, else a usual one.

    Raises ``DatasetError`` if it has none.
    """
    names = answers.schema.names
    if all(name in names for name in ids):
        return list(ids)
    if len(ids) == 1:
        for name in (columns.get("reference_id", "reference_id"), *IDS):
            if name in names:
                return [name]
    absent = next(name for name in ids if name not in names)
    hint = did_you_mean(absent, names, "columns")
    raise DatasetError(f"{place_of(answers)} has no column {absent} to find references by; {hint}")


class _Seen(NamedTuple):
    """How many answers each id has, how many have an error, and the first errors of answers that were not read."""

    keys: Counter[str]
    errors: int
    damaged: list[str]


def _look(answers: Source, ids: Sequence[str], why: str) -> _Seen:
    """``why`` is the column of errors, if there is one."""
    keys: Counter[str] = Counter()
    errors = 0
    damaged: list[str] = []
    answers = _with_damage(answers) if why == DAMAGE else answers
    for batch in column_batches(answers, list(dict.fromkeys([*ids, *([why] if why else [])])), ROWS):
        found = _keys(batch, ids)
        keys.update(key for key in found if key is not None)
        for key, error in zip(found, batch.column(why).to_pylist() if why else (), strict=bool(why)):
            if error is not None:
                errors += 1
                damaged += [error] if key is None and len(damaged) < SHOWN else []
    return _Seen(keys, errors, damaged)


class _References(NamedTuple):
    """The references that answers ask for, the row of each by its id, and the first ids that there are."""

    table: pa.Table
    row_of: Mapping[str, int]
    others: Sequence[str]

    def of(self, keys: Sequence[str | None]) -> pa.Table:
        """The reference of each answer, null if it has none."""
        return self.table.take(pa.array([None if key is None else self.row_of.get(key) for key in keys], pa.int64()))


def _asked_for(
    references: Source, ids: Sequence[str], wanted: Mapping[str, int], fields: Mapping[str, pa.Field]
) -> _References:
    """The references with these ids; ``fields`` are those beside the answers, by the columns' names.

    Raises ``DatasetError`` if an id is there twice.
    """
    row_of: dict[str, int] = {}
    others: list[str] = []
    pieces = [pa.schema([references.schema.field(name) for name in fields]).empty_table()]
    size = 0
    for batch in column_batches(references, list(dict.fromkeys([*ids, *fields]))):
        keys = _keys(batch, ids)
        others += [key for key in keys if key is not None][: SHOWN - len(others)]
        asked = [(row, key) for row, key in enumerate(keys) if key is not None and key in wanted]
        for _, key in asked:
            if key in row_of:
                raise DatasetError(
                    f"{place_of(references)} has two references with {', '.join(ids)} {line(key, 80)}: ids name one "
                    "each."
                )
            row_of[key] = len(row_of)
        rows = pa.array([row for row, _ in asked], pa.int64())
        pieces.append(pa.Table.from_batches([batch.select(list(fields)).take(rows)]))
        size += pieces[-1].nbytes
        if size > REFERENCE_BYTES:
            raise DatasetError(
                f"The references asked for take more than {REFERENCE_BYTES // 2**30} GiB of memory: score the answers "
                "in several runs, or join them before."
            )
    columns = pa.concat_tables(pieces).columns
    cast = [column.cast(field.type) for column, field in zip(columns, fields.values(), strict=True)]
    return _References(pa.table(cast, schema=pa.schema(fields.values())).combine_chunks(), row_of, others)


def _fields(references: Source, answers: pa.Schema, columns: Mapping[str, str]) -> dict[str, pa.Field]:
    """The references' columns that the answers do not have, as they are called and typed beside them."""
    taken = set(answers.names)
    found: dict[str, pa.Field] = {}
    for field in references.schema:
        meaning = PLAIN_NAMES.get(field.name)
        own = columns.get(meaning, meaning) if meaning else field.name
        if meaning and own in references.schema.names:
            own = field.name  # Both are there: the plain name means nothing.
        if own not in taken:
            # Planetarium writes is_placeholder as 0 and 1.
            is_truth = own == "is_placeholder" and pa.types.is_integer(field.type)
            type_ = pa.bool_() if is_truth else field.type
            found[field.name] = pa.field(own, type_, metadata=field.metadata)
            taken.add(own)
        elif own in [columns.get(name, name) for name in REFERENCE_SIDE[:3]]:
            raise DatasetError(
                f"The answers and the references {place_of(references)} both have a column {own}: drop one."
            )
    return found


def _without_reference(  # noqa: PLR0913 (both sides, and what was found)
    answers: Source,
    own_ids: Sequence[str],
    keys: Counter[str],
    references: Source,
    ids: Sequence[str],
    beside: _References,
) -> list[str]:
    """The note on answers without a reference; raises ``DatasetError`` if no answer has one."""
    unmatched = sorted(islice((key for key in keys if key not in beside.row_of), 10_000))
    asked = listed([line(each, 40) for each in unmatched], SHOWN)
    if not beside.row_of and answers.rows:
        there = listed([line(each, 40) for each in beside.others], SHOWN) or "none"
        raise DatasetError(
            f"No answer has a reference in {place_of(references)}: the answers' {', '.join(own_ids)} are "
            f"{asked or 'none'}, its {', '.join(ids)} are {there}. Name the column: --key COLUMN."
        )
    left_out = answers.rows - sum(keys[key] for key in beside.row_of)
    what = asked or "they have no id"
    return [f"{left_out:,} of {answers.rows:,} answers have no reference: {what}"] if left_out else []


def _keys(batch: pa.RecordBatch, names: Sequence[str]) -> list[str | None]:
    """The key of each row as a text; None where a part of it is null."""
    return [join_key(values) for values in zip(*(values_of(batch.column(name)) for name in names), strict=True)]
