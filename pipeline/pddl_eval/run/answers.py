"""Answers in another form than a dataset of pairs, logs of a harness or answers without references, as such a dataset.

They are written once, as a Parquet file in the output's folder ``_input``, where all workers see it, and then scored
as any input: the guarantees of a run (the same shards, resuming, any engine) are those of that file. Its name is a
digest of the settings and of the content of logs and references, so that a run that is started again finds it. The logs
are streamed, twice; of the references those are held in memory that the answers ask for.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pddl_eval.datasets import (
    HARNESSES,
    METADATA_PREFIX,
    PIECE_BYTES,
    Answer,
    DatasetError,
    Form,
    Harness,
    Input,
    Location,
    Source,
    close_file,
    column_batches,
    contents,
    dataset_errors,
    find_logs,
    join_key,
    locate,
    meant,
    open_source,
    place_of,
    places,
    read_rows,
    require_columns,
)
from pddl_eval.errors import did_you_mean
from pddl_eval.options import PAIRS, PLAIN_NAMES, REFERENCE_SIDE, ReadingOptions, ScoringOptions
from pddl_eval.run.manifest import MANIFEST, OtherRun, refuse_foreign, require_folder
from pddl_eval.shown import encodable, line, listed
from pddl_eval.table import values_of

INPUT_FOLDER = "_input"
"""In the output: what was made of logs and references. Readers of datasets ignore names with a leading underscore."""

FORMAT = 1
"""Goes up when the same logs make other rows."""

IDS = ("reference_id", "id", "name", "doc_id")
"""Columns that identify a reference, where none is named."""

ROWS = 1024
"""Of a record batch and of a row group."""

REFERENCE_BYTES = 8 * 2**30
"""Of the references that are held in memory, at most."""

MADE_OF, NOTES = f"{METADATA_PREFIX}made_of", f"{METADATA_PREFIX}notes"
"""Keys of the file's metadata: what it was made of, and what the user is told of it."""

ERROR = "answer_error"
"""The column that says why a row has no answer."""

SHOWN = 3
"""Examples in a sentence."""


@contextmanager
def readable_input(  # noqa: PLR0913 (what is read, where it goes, how)
    inputs: Input,
    output: str | os.PathLike[str],
    reading: ReadingOptions,
    scoring: ScoringOptions,
    warn: Callable[[str], None] | None = None,
    *,
    keep: bool = True,
) -> Iterator[Input]:
    """The input as a dataset of pairs: as it is, or made of the logs or the references that ``reading`` names.

    ``warn`` is told which answers could not be read or have no reference. Without ``keep`` nothing stays in the output.
    Raises ``DatasetError`` where something cannot be read, is no such log, no answer has a reference or an id has two,
    and ``OtherRun`` where the output belongs to another input.
    """
    if reading.harness is None and reading.references is None:
        yield inputs
        return
    folder = locate(output)
    require_folder(folder)
    if reading.harness is not None:
        harness = HARNESSES[reading.harness]
        answers: _Logs | _Rows = _Logs(find_logs(inputs, harness), harness, reading)
    else:
        answers = _Rows(open_source(inputs), scoring)
    references = None if reading.references is None else open_source(reading.references)
    made_of = {
        "format": FORMAT,
        "settings": {"harness": reading.harness, "answers": reading.answers, "on": reading.on},
        "columns": dict(sorted((scoring.columns or {}).items())),
        "answers": _described(answers.source),
        "references": None if references is None else _described(references),
    }
    key = hashlib.blake2b(json.dumps(made_of, sort_keys=True).encode(), digest_size=8).hexdigest()
    place = folder / INPUT_FOLDER / f"answers-{key}.parquet"
    with tempfile.TemporaryDirectory() as aside:
        if not places.has_file(place):
            present = places.list_files(folder)
            if MANIFEST in present:
                raise OtherRun(
                    f"{folder} belongs to another run: its input was another one. Choose another folder, or delete "
                    "this one."
                )
            refuse_foreign(folder, present)
            if not keep:
                place = locate(aside) / INPUT_FOLDER / place.name
            _write(answers, references, reading, scoring, place, {**made_of, "key": key})
        for sentence in json.loads(_metadata(place).get(NOTES, "[]")):
            if warn is not None:
                warn(sentence)
        yield str(place)


def made_of(source: Source) -> Any | None:
    """What the input was made of, from the file in an output's ``_input``; None for any other input.

    Its ``key`` says what the content is, whichever process wrote it.
    """
    if len(source.files) != 1 or source.files[0].version.location.parent.name != INPUT_FOLDER:
        return None
    text = _metadata(source.files[0].version.location).get(MADE_OF)
    return None if text is None else json.loads(text)


def _metadata(place: Location) -> dict[str, str]:
    with dataset_errors(place, "read"), place.filesystem.open_input_file(place.path) as file:
        found = pq.read_schema(file).metadata or {}
    return {key.decode("utf-8", "replace"): value.decode("utf-8", "replace") for key, value in found.items()}


def _described(source: Source) -> list[dict[str, Any]]:
    content = contents(source)
    return [{"name": file.name, "size": file.size, "content": content[file.name]} for file in source.files]


@dataclass(slots=True)
class _Seen:
    """What a first pass over the answers found: rows, also by key, columns that have a value, what is damaged."""

    keys: Counter[str] = field(default_factory=Counter)
    rows: int = 0
    filled: set[str] = field(default_factory=set)
    damaged: list[str] = field(default_factory=list)
    errors: int = 0
    why: str = ""
    """Why an answer is empty, of the first that is."""


class _Logs:
    """The answers in logs, as record batches."""

    def __init__(self, source: Source, harness: Harness, reading: ReadingOptions) -> None:
        self.source = source
        self._harness = harness
        self._reading = reading
        self._generated, self._reference = (f"{side}_{reading.answers}" for side in ("generated", "reference"))
        text = ("reference_id", "model", "task", self._generated, ERROR, "log")
        fields = [pa.field(name, pa.string()) for name in text]
        fields.insert(3, pa.field("sample", pa.int64()))
        if reading.references is None:  # The log is all that is known of the questions.
            names = dict.fromkeys((self._reference, *REFERENCE_SIDE))
            fields += [pa.field(name, pa.bool_() if name == "is_placeholder" else pa.string()) for name in names]
        self._schema = pa.schema(fields)
        self._models: dict[str, str] = {}

    def keys(self, _right: Sequence[str]) -> list[str]:
        """The columns that identify an answer's question."""
        return ["reference_id"]

    def schema(self, seen: _Seen) -> pa.Schema:
        """The columns of the rows: what no log says is left out."""
        kept = {"reference_id", "model", "sample", self._generated, self._reference}
        return pa.schema([each for each in self._schema if each.name in kept | seen.filled])

    def first_pass(self, _left: Sequence[str]) -> _Seen:
        """Read all logs once.

        A request that failed has no model in an OpenAI batch, which is of one model: it counts as that one's.
        """
        seen = _Seen()
        models: defaultdict[str, set[str]] = defaultdict(set)
        for answer, row in self._rows():
            seen.rows += 1
            if answer.model is not None:
                models[row["log"]].add(answer.model)
            seen.filled |= {name for name, value in row.items() if value is not None}
            if answer.error is not None:
                seen.errors += 1
                seen.why = seen.why or answer.error
                if answer.id is None and len(seen.damaged) < SHOWN:
                    seen.damaged.append(answer.error)
            if answer.id is not None:
                seen.keys[row["reference_id"]] += 1
        self._models = {name: min(found) for name, found in models.items() if len(found) == 1}
        return seen

    def batches(self, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """All rows, in the order of the logs, after a first pass."""
        rows: list[dict[str, Any]] = []
        size = 0
        for _, row in self._rows():
            rows.append({name: row.get(name) for name in schema.names})
            size += sum(len(value) for value in row.values() if isinstance(value, str))
            if len(rows) == ROWS or size > PIECE_BYTES:
                yield pa.RecordBatch.from_pylist(rows, schema)
                rows, size = [], 0
        if rows:
            yield pa.RecordBatch.from_pylist(rows, schema)

    def _rows(self) -> Iterator[tuple[Answer, dict[str, Any]]]:
        for file in self.source.files:
            for answer in self._harness.read(file.version.location, self._reading.on or ()):
                row: dict[str, Any] = {
                    "reference_id": answer.id,
                    "model": answer.model or self._models.get(file.name),
                    "task": answer.task,
                    "sample": answer.sample,
                    self._generated: answer.text,
                    ERROR: answer.error,
                    "log": file.name,
                }
                if self._reading.references is None:
                    row = {self._reference: answer.target} | row | meant(answer.question)
                yield (
                    answer,
                    {name: encodable(value) if isinstance(value, str) else value for name, value in row.items()},
                )


class _Rows:
    """The answers in a dataset, as record batches."""

    def __init__(self, source: Source, scoring: ScoringOptions) -> None:
        self.source = source
        self._scoring = scoring

    def keys(self, right: Sequence[str]) -> list[str]:
        """The columns that identify an answer's question: as the references call them, else ``reference_id``.

        Raises ``DatasetError`` where there are none.
        """
        names = self.source.schema.names
        if all(name in names for name in right):
            return list(right)
        if len(right) == 1:
            for name in (self._scoring.column("reference_id"), *IDS):
                if name in names:
                    return [name]
        absent = next(name for name in right if name not in names)
        hint = did_you_mean(absent, names, "columns")
        raise DatasetError(f"{place_of(self.source)} has no column {absent} to find references by; {hint}")

    def schema(self, seen: _Seen) -> pa.Schema:
        """The columns of the rows, and why some of them could not be read."""
        named = seen.errors and ERROR not in self.source.schema.names
        return self.source.schema.append(pa.field(ERROR, pa.string())) if named else self.source.schema

    def first_pass(self, left: Sequence[str]) -> _Seen:
        """Read the keys of all rows."""
        seen = _Seen(rows=self.source.rows)
        for batch, lost in self._batches(list(dict.fromkeys(left))):
            seen.keys.update(key for key in _keys(batch, left) if key is not None)
            seen.errors += len(lost)
            seen.damaged += islice(lost.values(), SHOWN - len(seen.damaged))
        return seen

    def batches(self, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """All rows, in their order."""
        for batch, lost in self._batches(self.source.schema.names):
            if len(schema) > batch.num_columns:
                errors = pa.array([lost.get(number) for number in range(batch.num_rows)], pa.string())
                batch = pa.RecordBatch.from_arrays([*batch.columns, errors], schema=schema)
            yield batch

    def _batches(self, names: Sequence[str]) -> Iterator[tuple[pa.RecordBatch, dict[int, str]]]:
        """These columns of all rows; and why rows of the batch are nulls, by their numbers in it."""
        if self.source.files[0].version.form is Form.PARQUET:
            for batch in column_batches(self.source, names, ROWS):
                yield batch, {}
            return
        for file in self.source.files:
            for rows in read_rows(file.version, 0, file.rows, self.source.schema):
                if rows.damage:
                    raise DatasetError(f"{file.version} is damaged: {rows.damage}.")
                first = rows.numbers.start
                for batch in rows.table.select(list(names)).combine_chunks().to_batches(ROWS):
                    lost = {number - first: why for number, why in rows.lost.items()}
                    yield batch, {number: why for number, why in lost.items() if 0 <= number < batch.num_rows}
                    first += batch.num_rows
        close_file()


def _write(  # noqa: PLR0913 (what is read, how, where it goes)
    answers: _Logs | _Rows,
    references: Source | None,
    reading: ReadingOptions,
    scoring: ScoringOptions,
    place: Location,
    made_of: Mapping[str, Any],
) -> None:
    right = [] if references is None else _reference_keys(references, reading.on, scoring)
    left = answers.keys(right)
    seen = answers.first_pass(left)
    notes = []
    if seen.errors:
        notes.append(f"{seen.errors:,} of {seen.rows:,} answers are empty: the column {ERROR} says why")
    if seen.damaged:
        notes.append(f"Not read: {'; '.join(seen.damaged)}")
    schema = answers.schema(seen)
    if references is None and seen.rows and not seen.filled & {f"reference_{pair}" for pair in PAIRS}:
        why = f" The first that is empty: {line(seen.why, 200).rstrip('.')}." if seen.why else ""
        raise DatasetError(
            f"No answer in {place_of(answers.source)} has a reference: name the dataset that holds them, --references "
            f"DATASET.{why}"
        )
    joined: _Join | None = None
    if references is not None:
        joined = _Join(references, right, seen.keys, schema, scoring)
        unmatched = sorted(islice((key for key in seen.keys if key not in joined.found), 10_000))
        if not joined.found and seen.rows:
            asked = listed([line(each, 40) for each in unmatched], SHOWN) or "none"
            there = listed([line(each, 40) for each in joined.others], SHOWN) or "none"
            raise DatasetError(
                f"No answer has a reference in {place_of(references)}: the answers' {', '.join(left)} are {asked}, its "
                f"{', '.join(right)} are {there}. Name the column: --on COLUMN."
            )
        schema = joined.schema
        left_out = seen.rows - sum(seen.keys[key] for key in joined.found)
        if left_out:
            examples = listed([line(each, 40) for each in unmatched], SHOWN)
            notes.append(f"{left_out:,} of {seen.rows:,} answers have no reference: {examples or 'they have no id'}")
    told = {MADE_OF: json.dumps(made_of), NOTES: json.dumps(notes)}
    with places.new_parquet(place, schema.with_metadata({**(schema.metadata or {}), **told})) as writer:
        for batch in answers.batches(answers.schema(seen)):
            table = pa.Table.from_batches([batch])
            if joined is not None:
                table = joined.join(table, _keys(batch, left))
            writer.write_table(table.replace_schema_metadata(writer.schema.metadata))


def _reference_keys(references: Source, on: Sequence[str] | None, scoring: ScoringOptions) -> list[str]:
    """The columns that identify a reference; raises ``DatasetError`` where there are none."""
    if on:
        require_columns(references, on)
        return list(on)
    known = dict.fromkeys([scoring.column("reference_id"), *IDS])
    for name in known:
        if name in references.schema.names:
            return [name]
    raise DatasetError(
        f"{place_of(references)} has none of the columns {', '.join(known)}: name its id with --on COLUMN."
    )


class _Join:
    """The references that the answers ask for, and their columns beside those of the answers."""

    def __init__(
        self, source: Source, keys: Sequence[str], wanted: Iterable[str], answers: pa.Schema, scoring: ScoringOptions
    ) -> None:
        """Raises ``DatasetError`` where an id that is asked for is there twice, or a reference is in both datasets."""
        names = self._names(source, answers, scoring)
        asked = pa.array(sorted(wanted), pa.string())
        self.others: list[str] = []
        pieces: list[pa.Table] = []
        found: list[str] = []
        size = 0
        for batch in column_batches(source, list(dict.fromkeys([*keys, *names]))):
            of_rows = pa.array(_keys(batch, keys), pa.string())
            if len(self.others) < SHOWN:
                self.others += [key for key in of_rows.to_pylist() if key is not None][:SHOWN]
            there = pc.and_kleene(pc.is_valid(of_rows), pc.is_in(of_rows, asked))
            piece = pa.Table.from_batches([batch.filter(there)]).select(list(names))
            found += of_rows.filter(there).to_pylist()
            size += piece.nbytes
            if size > REFERENCE_BYTES:
                raise DatasetError(
                    f"The references asked for take more than {REFERENCE_BYTES // 2**30} GiB of memory: score the "
                    "answers in several runs, or join them before."
                )
            if piece.num_rows:
                pieces.append(piece)
        place = place_of(source)
        self.found = frozenset(found)
        if len(self.found) < len(found):
            (twice, _), *_ = Counter(found).most_common(1)
            raise DatasetError(
                f"{place} has two references with {', '.join(keys)} {line(twice, 80)}: ids name one each."
            )
        fields = [_reference_field(source.schema.field(name), names[name]) for name in names]
        empty = pa.schema([source.schema.field(name) for name in names]).empty_table()
        columns = (pa.concat_tables(pieces) if pieces else empty).columns
        cast = [column.cast(each.type) for column, each in zip(columns, fields, strict=True)]
        self._table = pa.table(cast, schema=pa.schema(fields)).combine_chunks()
        self.schema = pa.schema([*answers, *fields], metadata=answers.metadata)
        self._places = pl.DataFrame(
            {"key": found, "place": range(len(found))}, schema={"key": pl.String, "place": pl.Int64}
        )

    @staticmethod
    def _names(source: Source, answers: pa.Schema, scoring: ScoringOptions) -> dict[str, str]:
        """The references' columns that the answers do not have, and what they are called beside them."""
        taken = set(answers.names)
        names: dict[str, str] = {}
        for name in source.schema.names:
            meaning = PLAIN_NAMES.get(name)
            own = scoring.column(meaning) if meaning else name
            if meaning and own in source.schema.names:
                own = name  # Both are there: the plain name means nothing.
            if own not in taken:
                names[name] = own
                taken.add(own)
            elif own in map(scoring.column, REFERENCE_SIDE[:3]):
                raise DatasetError(
                    f"The answers and the references {place_of(source)} both have a column {own}: drop one."
                )
        return names

    def join(self, table: pa.Table, keys: Sequence[str | None]) -> pa.Table:
        """The answers with their references beside them, null where there is none."""
        asked = pl.DataFrame({"key": keys}, schema={"key": pl.String})
        rows = asked.join(self._places, on="key", how="left", maintain_order="left")["place"].to_arrow()
        return pa.table([*table.columns, *self._table.take(rows).columns], schema=self.schema)


def _reference_field(declared: pa.Field, name: str) -> pa.Field:
    """The column beside the answers, null where there is no reference. Planetarium writes is_placeholder as 0 and 1."""
    type_ = pa.bool_() if name == "is_placeholder" and pa.types.is_integer(declared.type) else declared.type
    return pa.field(name, type_, metadata=declared.metadata)


def _keys(batch: pa.RecordBatch, names: Sequence[str]) -> list[str | None]:
    """The key of each row as a text; None where a part of it is null."""
    return [join_key(values) for values in zip(*(values_of(batch.column(name)) for name in names), strict=True)]
