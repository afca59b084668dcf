"""A dataset scored again: a row with the content of a row scored before keeps its scores, the others are scored.

The output is what ``score_dataset`` would have written, partition by partition; only the time spent differs. It
compares no scores: that is ``pddl_eval.report``.

The earlier scores are found before the run starts: the rows of both datasets are joined by a digest of their content,
24 bytes a row; not so where both are rows of the same files and nobody has touched the earlier run's. What is found
lies in the output while the run lasts, in one file, in blocks of some rows of the new dataset, in their order: a worker
reads the blocks of its rows and nothing else.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import pairwise
from math import inf
from typing import Any, cast

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import ipc

from pddl_eval import datasets
from pddl_eval import run as runs
from pddl_eval.columns import MEANINGS
from pddl_eval.datasets import KNOWN_FOLDER
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.kernel.tables import digests
from pddl_eval.pairs import ColumnError, pairs_present
from pddl_eval.run import settings_of
from pddl_eval.scoring.scorer import pair_scorer
from pddl_eval.scoring.summary import RunSummary
from pddl_eval.scoring.table import SCORE_MICROS
from pddl_eval.settings import ReadingOptions, RunOptions, grouped, shows_settings
from pddl_eval.version import without_version

KNOWN_FORMAT = 8
"""Goes up when keys or blocks change."""

BLOCK_ROWS = 8192
"""Row numbers of a block, which is a batch of the file: a few shards, some hundred bytes for each row that is known."""

PASS_BLOCKS = 128
"""Blocks whose earlier scores are in memory at a time; each pass reads the earlier scores."""

READ_ROWS = 16_384
"""Rows that are read at a time."""

VERDICTS = frozenset({"verdict", "domain_verdict"})
"""Score columns that say ``undecided``."""

KEY, ROW = ("pddl_eval.key.0", "pddl_eval.key.1"), "pddl_eval.number"
TEXT = pa.large_binary()

Keys = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Previous:
    """The earlier dataset: ``source`` has those of its files that can be reused, perhaps none.

    ``options`` have the names of its columns; ``scores`` are the columns to carry over; rows with a verdict in
    ``retry`` are not reused, nor those that took ``seconds`` or longer: with another limit of time, only their scores
    may be other ones. ``obstacle`` says why not all rows can be reused, or is None; ``unfinished`` which ones its run
    has not written.
    """

    source: datasets.Source
    options: ScoringOptions
    scores: pa.Schema
    obstacle: str | None = None
    retry: tuple[str, ...] = ()
    seconds: float = inf
    unfinished: str | None = None

    def reusable(self, table: pa.Table) -> pa.Table:
        """The rows whose scores can be carried over: they were scored, and are not to be tried again."""
        table = table.filter(pc.is_null(table[runs.SCORE_ERROR]))
        for verdict in self.verdicts:
            tried_again = pc.is_in(table[verdict].cast(pa.string()), pa.array(self.retry, pa.string()))
            table = table.filter(pc.invert(tried_again))
        if self.seconds < inf:
            table = table.filter(pc.less(table[SCORE_MICROS], int(self.seconds * 1e6)))
        return table

    def count_reusable(self) -> int:
        """How many rows can be carried over; raises ``DatasetError`` where a file cannot be read."""
        batches = datasets.column_batches(self.source, self.needed, READ_ROWS)
        return sum(self.reusable(pa.Table.from_batches([batch])).num_rows for batch in batches)

    @property
    def verdicts(self) -> list[str]:
        """The columns that say what is to be tried again."""
        return [name for name in self.scores.names if name in VERDICTS and self.retry]

    @property
    def needed(self) -> list[str]:
        """The columns that ``reusable`` looks at."""
        return [runs.SCORE_ERROR, *self.verdicts, *([SCORE_MICROS] if self.seconds < inf else [])]


@shows_settings(ReadingOptions, ScoringOptions, RunOptions)
def rescore_dataset(  # noqa: PLR0913 (one keyword a setting)
    previous: datasets.Input | datasets.Source,
    input: datasets.Input,
    output: str | os.PathLike[str],
    *,
    previous_columns: Mapping[str, str] | None = None,
    retry: Sequence[str] = (),
    watch: runs.Watcher | None = None,
    warn: Callable[[str], None] | None = None,
    **settings: Any,
) -> RunSummary:
    """Score a dataset as ``score_dataset`` does, except for the rows whose scores ``previous`` has.

    ``previous`` is a scored dataset, its rows in any order, complete or not. A row's scores are carried over,
    ``score_micros`` included, where its content (the pairs, ``is_placeholder``, ``domain``) is that of a row there
    which was scored without ``score_error`` and with the same signature. ``RunSummary.rows_carried`` says how many;
    ``warn`` is told why rows of ``previous`` cannot be reused. ``previous_columns`` are the names of the columns there,
    by default those under which they were scored. Rows whose ``verdict`` or ``domain_verdict`` there is in ``retry``
    (such as ``undecided``, which a limit of time can cause) are scored again. Where ``row_seconds`` alone was another,
    rows that took less than either keep their scores: neither limit was hit.

    It is the same run as that of ``score_dataset`` into the same output: one may finish what the other began. Raises
    what ``score_dataset`` raises.
    """
    reading, scoring, running = grouped(settings, ReadingOptions, ScoringOptions, RunOptions)
    with runs.readable_input(input, output, reading, scoring.columns, warn) as source:
        run, before = prepare_rescore(previous, source, output, scoring, running.shard_rows, previous_columns, retry)
    for sentence in (before.unfinished, before.obstacle):
        if warn is not None and sentence:
            warn(sentence)
    folder = run.work.output / KNOWN_FOLDER

    def with_known() -> runs.Scorer:
        known = find_known(before, run, scoring, folder)
        starts = {file.version.location.path: first for file, first in zip(source.files, _starts(source), strict=True)}
        return replace(run.work.scorer, known=partial(known_scores, known=known, starts=starts))

    reuses = run.missing and before.source.files
    summary = runs.finish_shards(run, running, watch=watch, scorer=with_known if reuses else None)
    if datasets.list_files(folder):
        datasets.remove_folder(folder)
    return cast(RunSummary, summary)


def prepare_rescore(  # noqa: PLR0913 (what rescore_dataset takes)
    previous: datasets.Input | datasets.Source,
    inputs: datasets.Input | datasets.Source,
    output: str | os.PathLike[str],
    options: ScoringOptions,
    shard_rows: int | None,
    previous_columns: Mapping[str, str] | None = None,
    retry: Sequence[str] = (),
) -> tuple[runs.Run, Previous]:
    """What ``rescore_dataset`` would do, and what it would reuse; nothing is written. Errors as there.

    Equal content has equal scores only where the signatures are equal and the same pairs of columns were scored. The
    limit of time of a row is in the signature, but says nothing of rows that end before it.
    """
    run = runs.prepare_run(inputs, output, pair_scorer(options), shard_rows)
    source, tiling = (previous, None) if isinstance(previous, datasets.Source) else runs.open_scored_rows(previous)
    for file in source.files:
        if file.version.location.within(run.work.output):
            raise datasets.DatasetError(
                f"The previous scores {file.version} lie in the output {run.work.output}: choose another folder."
            )
    if previous_columns is None:
        # A column may have got another name since.
        known = ScoringOptions.reading_as(settings_of(source)).columns or options.columns or {}
        previous_columns = {meaning: name for meaning, name in known.items() if name in source.schema.names}
    named = replace(options, columns=previous_columns)
    scores = pa.schema([run.work.output_schema.field(name) for name in run.work.score_columns])
    signature = run.work.scorer.signature
    now, limit = _limited(signature)
    scored = [(file, *_limited(file.signature)) for file in source.files]
    files = tuple(file for file, rest, _ in scored if rest == now)
    others = [file for file, rest, _ in scored if rest != now]
    limits = {limit, *(each for _, rest, each in scored if rest == now)}
    seconds = inf if len(limits) == 1 else min(limits)
    mismatch = _mismatch(source.schema, named, run.work.input_schema, options, scores)
    obstacle = None
    if mismatch:
        files = ()
        obstacle = f"{datasets.place_of(source)} cannot be reused: {mismatch}"
    elif others:
        obstacle = (
            f"{sum(file.rows for file in others):,} rows of {datasets.place_of(source)} were scored in another way and "
            f"cannot be reused: {others[0].signature or 'no signature'}, now {signature}"
        )
    unfinished = tiling.unfinished(str(datasets.place_of(source))) if tiling else None
    files_of = replace(source, files=files)
    return run, Previous(files_of, named, scores, obstacle, tuple(sorted(retry)), seconds, unfinished)


def _limited(signature: str | None) -> tuple[str | None, float]:
    """What of a signature scores depend on, but for the limit of time of a row; that limit.

    >>> _limited("pddl-eval:0.1.0+g8abb01a|code:d3f2a91c0d1|seconds:10|domain:row")
    ('code:d3f2a91c0d1|domain:row', 10.0)
    """
    rest = without_version(signature) or ""
    found = re.search(r"\|seconds:([0-9.e+-]+)", rest)
    return (rest.replace(found[0], ""), float(found[1])) if found else (signature and rest, inf)


def content_columns(schema: pa.Schema, options: ScoringOptions) -> dict[str, str]:
    """The columns that the scores of such a dataset depend on: their names, by meaning.

    Raises ``ColumnError`` where the dataset has nothing to score.

    >>> plans = pa.schema({"id": pa.int64(), "reference_plan": pa.string(), "output": pa.string()})
    >>> content_columns(plans, ScoringOptions(columns={"generated_plan": "output"}))
    {'reference_plan': 'reference_plan', 'generated_plan': 'output'}
    """
    scored = {meaning for pair in pairs_present(schema, options) for meaning in (pair.reference, pair.generated)}
    # Plans and domains are executed in the reference problem, problems and plans in the reference domain.
    scored |= {"is_placeholder", "domain", "reference_problem", "reference_domain"}
    names = {meaning: options.column(meaning) for meaning in MEANINGS if meaning in scored}
    return {meaning: name for meaning, name in names.items() if name in schema.names}


def content_keys(table: pa.Table, content: Mapping[str, str]) -> Keys:
    """A 128-bit digest of each row's content: equal for rows that get equal scores, in all columns that matter.

    It is two numbers. ``content`` are the ``content_columns`` of the whole dataset. A missing column counts as one of
    nulls, a null ``is_placeholder`` as false and an empty ``domain`` as null, as in scoring. The length of each text is
    hashed before it, so that no two rows hash the same bytes.

    >>> plans = pa.table({"reference_plan": ["(a)", "(a)"], "generated_plan": ["(b)", "(b)"], "id": [1, 2]})
    >>> first, second = content_keys(plans, content_columns(plans.schema, ScoringOptions())).tolist()
    >>> first == second
    True
    """
    nothing, colon = pa.scalar(b"", TEXT), pa.scalar(b":", TEXT)
    parts = []
    for meaning, name in content.items():
        values = table[name]
        if meaning == "is_placeholder":
            values = pc.if_else(values.cast(pa.bool_()), "yes", None)
        if pa.types.is_dictionary(values.type):
            values = values.cast(values.type.value_type)
        # By way of a type from which bytes can be had, whether they are UTF-8 or not.
        texts = values.cast(pa.large_string()).cast(TEXT)
        if meaning == "domain":
            texts = pc.if_else(pc.equal(texts, nothing), pa.scalar(None, TEXT), texts)
        length = pc.binary_length(texts).cast(pa.large_string()).cast(TEXT)
        told = pc.binary_join_element_wise(pa.scalar(meaning.encode(), TEXT), length, texts, colon)
        parts.append(told.fill_null(nothing))
    rows = pc.binary_join_element_wise(*parts, nothing)
    return np.concatenate([np.empty((0, len(KEY)), np.uint64), *map(digests, rows.chunks)])


def find_known(
    previous: Previous, run: runs.Run, options: ScoringOptions, folder: datasets.Location
) -> datasets.Location:
    """Write the scores that are known of the rows of a run into a file; what an earlier start has found is kept.

    A row that could not be scored, or whose verdict is to be tried again, is not known, nor is one behind damage in an
    earlier file.
    """
    identity = [
        KNOWN_FORMAT,
        [file.version.footer for file in previous.source.files],
        previous.options.columns,
        previous.scores.names,
        previous.retry,
        previous.seconds,
        run.work.run,
        str(run.source.base),
    ]
    known = folder / f"{hashlib.blake2b(json.dumps(identity).encode(), digest_size=16).hexdigest()}.arrow"
    if not datasets.has_file(known):
        _write_known(known, previous, _matching_rows(previous, run, options), run.source.rows)
    return known


def _matching_rows(previous: Previous, run: runs.Run, options: ScoringOptions) -> pl.DataFrame:
    """The rows of the new dataset whose content is known: their numbers, and those of the first earlier row with it."""
    content, now = (
        content_columns(source.schema, its)
        for source, its in ((previous.source, previous.options), (run.source, options))
    )
    if content == now and (same := _same_rows(previous.source, run)) is not None:
        kept = _keys(previous.source, {}, previous.needed, previous.reusable)[ROW]
        return pl.DataFrame({"new": same[kept], "old": kept}).sort("new")
    earlier = _keys(previous.source, content, previous.needed, previous.reusable)
    first = earlier.rename({ROW: "old"}).lazy().group_by(KEY).agg(pl.col("old").min())
    later = _keys(run.source, now).rename({ROW: "new"}).lazy()
    return later.join(first, on=KEY).select("new", "old").sort("new").collect(engine="streaming")


def _same_rows(earlier: datasets.Source, run: runs.Run) -> Keys | None:
    """The number in the new dataset of each earlier row, where both are of the same files, byte for byte; else None."""
    present = datasets.list_files(earlier.base)
    folder = runs.run_folder(earlier.base, present) if runs.MANIFEST in present else None
    if folder is None or not runs.untouched(earlier.base, present, folder.manifest["run"]):
        return None
    before, now = (
        [(file["name"], file.get("content", "")) for file in manifest["files"]]
        for manifest in (folder.manifest, run.manifest)
    )
    if before != now or not all(content.startswith(("blake2b:", "made:")) for _, content in now):
        return None
    rows = {file.name: file.rows for file in earlier.files}
    held = folder.rows_held(rows, rows)
    return np.concatenate([np.arange(0), *(np.arange(*each) for name in rows for each in held[name])])


def _keys(
    source: datasets.Source,
    content: Mapping[str, str],
    names: Sequence[str] = (),
    kept: Callable[[pa.Table], pa.Table] = lambda table: table,
) -> pl.DataFrame:
    """The keys of the rows that are kept, each as two numbers, with the numbers of the rows in the dataset.

    Without columns of ``content`` the numbers alone.
    """
    schema = {**dict.fromkeys(KEY if content else (), pl.UInt64), ROW: pl.Int64}
    frames = [pl.DataFrame(schema=schema)]
    for first, batch in _batches(source, list(dict.fromkeys([*content.values(), *names]))):
        numbers = pa.array(np.arange(first, first + batch.num_rows))
        table = kept(pa.Table.from_batches([batch]).append_column(ROW, numbers))
        keys = content_keys(table, content).T if content else ()
        frames.append(pl.DataFrame([*keys, table[ROW].to_numpy()], schema=schema))
    return pl.concat(frames)


def _batches(source: datasets.Source, names: Sequence[str]) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Columns of a dataset, some rows at a time, with the number of the first; of a file those before damage in it.

    Damage in the new dataset is found by the run itself, damage in the earlier one costs time alone.
    """
    for start, file in zip(_starts(source).tolist(), source.files, strict=True):
        try:
            for batch in datasets.column_batches(replace(source, files=(file,)), names, READ_ROWS):
                yield start, batch
                start += batch.num_rows
        except datasets.Unavailable:
            raise
        except datasets.DatasetError:
            continue


def _starts(source: datasets.Source) -> Keys:
    """The number in the dataset of the first row of each file."""
    return np.cumsum([0, *(file.rows for file in source.files)])[:-1]


def _write_known(known: datasets.Location, previous: Previous, matches: pl.DataFrame, rows: int) -> None:
    """Write the scores of the matching rows, in the order of the new dataset, in a batch for each block of its rows."""
    schema = previous.scores.insert(0, pa.field(runs.KNOWN_ROW, pa.int64()))
    nothing = pa.RecordBatch.from_pylist([], schema)
    with datasets.new_file(known) as new_file, ipc.new_file(new_file, schema) as writer:
        for first in range(0, rows + 1, PASS_BLOCKS * BLOCK_ROWS):  # A file without rows may begin at the last.
            stop = min(first + PASS_BLOCKS * BLOCK_ROWS, rows + 1)
            some = matches.filter(pl.col("new").is_between(first, stop, closed="left")).sort("old")
            parts = [nothing]
            for start, batch in _batches(previous.source, previous.scores.names) if some.height else ():
                low, high = np.searchsorted(some["old"], [start, start + batch.num_rows])
                here = some[low:high]
                scores = datasets.taken(pa.Table.from_batches([batch]), (here["old"] - start).to_arrow())
                scores = scores.cast(previous.scores)
                parts += scores.add_column(0, runs.KNOWN_ROW, here["new"].to_arrow()).combine_chunks().to_batches()
            table = pa.Table.from_batches(parts, schema)
            table = datasets.taken(table, pa.array(np.argsort(table[runs.KNOWN_ROW])))
            ends = np.searchsorted(table[runs.KNOWN_ROW], np.arange(first, stop + BLOCK_ROWS, BLOCK_ROWS)).tolist()
            for start, end in pairwise(ends):
                block = table.slice(start, end - start).combine_chunks()
                writer.write_batch((block.to_batches() or [nothing])[0])


def known_scores(
    file: datasets.FileVersion, numbers: range, known: datasets.Location, starts: Mapping[str, int]
) -> pa.Table | None:
    """The known scores of some rows of a file, as ``Scorer.known`` has them; None where another part has removed them.

    Rows are counted over the whole new dataset, so that many small files share a block; ``starts`` has the number of
    the first row of each file, by its path.
    """
    if not datasets.has_file(known):
        return None
    first = starts[file.location.path]
    start, stop = first + numbers.start, first + numbers.stop
    blocks = range(start // BLOCK_ROWS, max(start, stop - 1) // BLOCK_ROWS + 1)
    rows = pa.Table.from_batches([_read_block(known, number) for number in blocks])
    low, high = np.searchsorted(rows[runs.KNOWN_ROW], [start, stop])
    inside = rows.slice(low, high - low)
    return inside.set_column(0, runs.KNOWN_ROW, pc.subtract(inside[runs.KNOWN_ROW], first))


@lru_cache(maxsize=4)
def _read_block(known: datasets.Location, number: int) -> pa.RecordBatch:
    with datasets.dataset_errors(known, "read"), known.filesystem.open_input_file(known.path) as file:
        return ipc.open_file(file).get_batch(number)


def _mismatch(
    theirs: pa.Schema, named: ScoringOptions, ours: pa.Schema, options: ScoringOptions, scores: pa.Schema
) -> str | None:
    """Why no row of the dataset can be reused, as the end of a sentence."""
    try:
        pairs = [kind.name for kind in pairs_present(theirs, named)]
    except ColumnError as error:
        return str(error)
    if pairs != [kind.name for kind in pairs_present(ours, options)]:
        return f"it has other pairs of columns ({', '.join(pairs)})"
    for field in scores:
        if field.name not in theirs.names:
            return f"it has no scores ({field.name} is missing)"
        if theirs.field(field.name).type not in (field.type, pa.null()):
            return f"{field.name} is {theirs.field(field.name).type} and not {field.type}"
    return None
