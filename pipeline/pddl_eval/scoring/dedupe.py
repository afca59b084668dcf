"""Which rows of a dataset state the same planning problem: equivalence classes, duplicates, leaks between splits.

Each distinct text is certified once, in worker processes, and rows are joined by certificate: equal certificates are
equivalence (``definition.task.Task``), so no two problems are ever compared. Of the texts nothing is kept
but a digest: memory grows by a few hundred bytes a distinct text and a few bytes a row.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from itertools import chain
from typing import Any, NamedTuple

import polars as pl
import pyarrow as pa

from pddl_eval.datasets import (
    SIGNATURE_KEY,
    DatasetError,
    Input,
    Source,
    column_batches,
    holds_text,
    locate,
    new_parquet,
    place_of,
    require_columns,
    require_text,
    values_of,
)
from pddl_eval.definition.domains import chosen_domain
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.definition.pddl import Unreadable
from pddl_eval.definition.task import reference_task
from pddl_eval.definition.verdict import CERTIFICATE_VERSION, Undecided, Verdict
from pddl_eval.errors import UserError
from pddl_eval.kernel import tables
from pddl_eval.process import available_cpus, reraise_interrupt
from pddl_eval.run import open_rows, ordered_map
from pddl_eval.scoring.budget import row_budget
from pddl_eval.shown import labelled, printable
from pddl_eval.version import version_of

CHUNK_TEXTS = 256
CHUNK_CHARACTERS = 4_000_000
"""Texts that a worker gets at a time, and the characters after which it gets no further text."""

MOST_GROUPS = 100
"""Values of a split column, at most: a column of ids is a mistake."""

LEAKS_SHOWN = 20
"""Lines of a printed summary, at most."""


ProblemText = tuple[str, str | None]
"""A problem's text and its domain: a known name, a PDDL text, or None for the one that the text names."""


class Certified(NamedTuple):
    """A certificate, or None with the kind of obstacle (a verdict's name, or ``failed``) and its reason."""

    certificate: str | None
    obstacle: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class DedupeSummary:
    """The numbers of a deduplication, as frames.

    * ``datasets``: ``rows``, ``without_text``, ``texts`` and ``classes`` (distinct ones), ``duplicates`` (rows whose
      problem an earlier row states), ``repeated_texts`` (rows whose very text an earlier row has);
    * ``obstacles``: how many distinct ``texts``, and ``rows``, have no certificate for a reason;
    * ``leaks``: for each pair of groups that share ``classes``, how many rows of each state a shared problem, and their
      share; ``texts`` are those that both hold: the part of the leak that comparing texts would have found. None where
      there is only one group.
    """

    datasets: pl.DataFrame
    largest_class: int
    obstacles: pl.DataFrame
    leaks: pl.DataFrame | None

    def __str__(self) -> str:
        """A line for each number: a label and what it counts."""
        told = "{rows:,} rows ({without_text:,} without a text), {texts:,} distinct texts, {classes:,} problems"
        repeated = "{duplicates:,} rows repeat a problem of an earlier row, {repeated_texts:,} of them word for word"
        shared = (
            "{classes:,} problems ({texts:,} texts word for word): {first_rows:,} rows of {first} ({first_share:.1%}),"
            " {second_rows:,} of {second} ({second_share:.1%})"
        )
        lines: list[tuple[str, str]] = []
        for row in self.datasets.to_dicts():
            lines += [(row["dataset"], told.format(**row)), ("duplicates", repeated.format(**row))]
        lines.append(("largest class", f"{self.largest_class:,} rows"))
        for obstacle, texts, rows in self.obstacles.iter_rows():
            lines.append((f"no certificate: {obstacle}", f"{texts:,} texts in {rows:,} rows"))
        if self.leaks is not None:
            lines.append(("leaks", f"{self.leaks.height:,} pairs of groups share problems"))
            for row in self.leaks.head(LEAKS_SHOWN).to_dicts():
                lines.append((f"leak {row['first']} / {row['second']}", shared.format(**row)))
        # Splits are named by the data.
        return labelled([(printable(label), printable(value)) for label, value in lines])


@dataclass(frozen=True, slots=True)
class Duplicates:
    """A frame with one row for each row of the dataset(s), and its summary.

    ``rows`` has ``dataset`` (``input`` or ``against``), ``row`` (counted from 0 over the files in the order of their
    names), the split column and the kept columns, and then

    * ``certificate``: equal exactly for equivalent problems; null where there is none, with ``obstacle`` (a verdict's
      name, or ``failed``) and ``reason``;
    * ``class_rows``, ``class_texts``: how many rows and how many distinct texts state this problem. A text without a
      certificate is a class of its own; a row whose text states no problem (``NO_PROBLEM``), or without a text, is in
      none: the columns from here on are null there;
    * ``first_row``, ``duplicate``: the first row of the same dataset that states it; whether that is an earlier one;
    * ``groups``, ``leak`` (where there is something to leak between): the split values and datasets in which the
      problem occurs, and whether they are more than one.
    """

    rows: pl.DataFrame
    summary: DedupeSummary


WORKING = ("text", "class", "group")
"""Columns that are dropped at the end: the numbers of the row's text and of its class's first text; the row's group."""

NO_PROBLEM = (Verdict.EMPTY.value, Verdict.UNPARSEABLE.value)
"""Obstacles of texts that state no problem: two of them are not the same one."""

OWN = ("dataset", "row", *Certified._fields, "class_rows", "class_texts", "first_row", "duplicate", "groups", "leak")
"""The output's own columns."""

OWN_ALWAYS = OWN[:-2]
"""Those that every output has."""


def dedupe(  # noqa: PLR0913, RUF100 (one keyword a flag of the command)
    places: Input,
    *,
    columns: Mapping[str, str] | None = None,
    split_by: str | None = None,
    against: Input | None = None,
    against_columns: Mapping[str, str] | None = None,
    keep: Sequence[str] = (),
    domain: str | None = None,
    is_placeholder: bool = False,
    workers: int | None = None,
    watch: Callable[[int], None] | None = None,
) -> Duplicates:
    """Find which rows of a Parquet dataset state the same planning problem, and which leak between splits or datasets.

    ``places`` and ``against`` are files, folders, patterns or URIs. ``columns`` maps a column's meaning to its
    name, as everywhere; read are ``reference_problem`` (PDDL or raw answers), ``domain`` and ``reference_domain``.
    ``against_columns`` are those of the other dataset, if they differ there.
    ``domain`` (a known name or a PDDL text) is for rows that have none; without it the problem names its own.
    ``is_placeholder``: initial states and goals correspond separately. ``workers`` processes certify (default: one a
    CPU); ``watch`` is told how many distinct texts are done.

    Raises ``DatasetError`` for what cannot be read and for a scored dataset with rows missing or twice, ``UserError``
    for a split column of ids, ``RunError`` where a worker process dies.
    """
    kept = list(dict.fromkeys([*([split_by] if split_by else []), *keep]))
    if domain:
        chosen_domain(domain)
    named = [("input", open_rows(places), columns or {}, kept)]
    if against is not None:
        other = open_rows(against)  # It may lack the split and the kept columns.
        theirs = columns if against_columns is None else against_columns
        named.append(("against", other, theirs or {}, [name for name in kept if name in other.schema.names]))
    numbers: dict[bytes, int] = {}
    frames: list[pl.DataFrame] = []
    texts = [
        _new_texts(name, source, _read_columns(source, own, its), its, domain, numbers, frames)
        for name, source, own, its in named
    ]
    certified: list[Certified] = []
    make = partial(certify, is_placeholder=is_placeholder)
    for answer in ordered_map(make, _chunks(chain.from_iterable(texts)), workers or available_cpus(), "dedupe"):
        certified += answer
        if watch is not None:
            watch(len(certified))
    names = [name for name, *_ in named]
    rows = _classify(pl.concat(frames, how="diagonal_relaxed"), names, certified, split_by)
    return Duplicates(rows.drop(WORKING), _summarise(rows, names))


def _read_columns(source: Source, columns: Mapping[str, str], kept: Sequence[str]) -> list[str]:
    """The column of problems, then those with a row's domain as for its scores: named, else that of its reference."""
    meanings = ("reference_problem", "domain", "reference_domain")
    require_columns(source, [columns[meaning] for meaning in meanings if meaning in columns])
    if taken := [name for name in kept if name in OWN + WORKING]:
        raise DatasetError(f"{place_of(source)}: column {taken[0]} must be renamed, the output has one too")
    problem, *domains = map(ScoringOptions(columns=columns).column, meanings)
    require_text(source, problem)
    require_columns(source, kept)
    return [problem, *(each for each in domains if holds_text(source, each))]


def certify(texts: Sequence[ProblemText], is_placeholder: bool) -> list[Certified]:
    """The certificate of the problem in each text, or why it has none.

    The kernel's, and of texts that it leaves the definition's, which also says why there is none.

    >>> certify([("Sorry, I cannot do that.", None)], is_placeholder=False)[0].obstacle
    'unparseable'
    """
    problems, domains = (pa.chunked_array([each], pa.large_string()) for each in zip(*texts, strict=True))
    rows = {"reference_problem": problems, "generated_problem": problems, "domain": domains}
    rows["is_placeholder"] = pa.chunked_array([[is_placeholder] * len(texts)])
    answers = tables.score(rows, ScoringOptions(check_solvable=False))
    known = answers[0]["reference_certificate"].to_pylist() if answers else [None] * len(texts)
    made = zip(texts, known, strict=True)
    return [Certified(found) if found else _certified(*each, is_placeholder) for each, found in made]


def _certified(text: str, domain: str | None, is_placeholder: bool) -> Certified:
    try:
        with row_budget(ScoringOptions().row_seconds):
            task = reference_task(text, domain)
            if isinstance(task, Unreadable):
                return Certified(None, task.verdict.value, task.detail)
            found = task.placeholder_certificate if is_placeholder else task.certificate
    except Exception as error:  # a mistake in this program or in one row's domain must not cost the other rows
        reraise_interrupt(error)
        return Certified(None, "failed", f"{type(error).__name__}: {error}")
    return Certified(None, "undecided", found.reason) if isinstance(found, Undecided) else Certified(found)


def _new_texts(  # noqa: PLR0913 (which rows, what is read of them, and where it goes)
    name: str,
    source: Source,
    read: Sequence[str],
    kept: Sequence[str],
    default_domain: str | None,
    numbers: dict[bytes, int],
    frames: list[pl.DataFrame],
) -> Iterator[ProblemText]:
    """Number a dataset's texts by their digests, add its rows to the frames, and yield the texts that are new.

    Raises ``DatasetError`` where a file cannot be read.
    """
    first = 0
    nothing = pa.RecordBatch.from_pylist([], source.schema)
    for batch in chain([nothing], column_batches(source, list(dict.fromkeys([*read, *kept])))):
        of_rows: list[int | None] = []
        for text, *domains in zip(*(values_of(batch.column(each)) for each in read), strict=True):
            if not text or text.isspace():
                of_rows.append(None)
                continue
            domain = next(filter(None, domains), default_domain)
            told = f"{len(domain or '')}:{domain or ''}{text}".encode("utf-8", "replace")
            new = len(numbers)
            of_rows.append(numbers.setdefault(blake2b(told, digest_size=16).digest(), new))
            if of_rows[-1] == new:
                yield text, domain
        columns: dict[str, Any] = {each: pl.from_arrow(batch.column(each)) for each in kept}
        frame = pl.DataFrame({"text": pl.Series(of_rows, dtype=pl.UInt32), **columns})
        row = pl.int_range(first, first + len(of_rows)).alias("row")
        frames.append(frame.select(pl.lit(name).alias("dataset"), row, pl.all()))
        first += len(of_rows)


def _chunks(texts: Iterable[ProblemText]) -> Iterator[list[ProblemText]]:
    some: list[ProblemText] = []
    for text in texts:
        some.append(text)
        if len(some) == CHUNK_TEXTS or sum(len(each) for each, _ in some) >= CHUNK_CHARACTERS:
            yield some
            some = []
    if some:
        yield some


def _classify(
    rows: pl.DataFrame, datasets: Sequence[str], certified: Sequence[Certified], split: str | None
) -> pl.DataFrame:
    """All rows with the columns that ``Duplicates`` describes and the working columns.

    A group is what a problem may leak out of: a value of the split column, a dataset, or a value within a dataset.
    """
    number, class_, group = map(pl.col, WORKING)
    first_text = (
        pl.when(pl.col("certificate").is_not_null())
        .then(number.min().over("certificate"))
        .when(~pl.col("obstacle").is_in(NO_PROBLEM))
        .then(number)
    )
    texts = (
        pl.DataFrame(certified, schema=dict.fromkeys(Certified._fields, pl.String), orient="row")
        .with_row_index("text")
        .with_columns(first_text.alias("class"))
    )
    of_row = pl.col("dataset")
    if split is not None:
        value = pl.col(split).cast(pl.String).fill_null(f"no {split}")
        of_row = pl.format("{}: {}", of_row, value) if len(datasets) > 1 else value
    has_class = class_.is_not_null()
    first_row = pl.col("row").min().over("dataset", "class")
    of_class = {
        "class_rows": pl.len().over("class"),
        "class_texts": number.n_unique().over("class"),
        "first_row": first_row,
        "duplicate": pl.col("row") > first_row,
    }
    rows = rows.join(texts, on="text", how="left", maintain_order="left").with_columns(
        *(pl.when(has_class).then(value).alias(name) for name, value in of_class.items()), of_row.alias("group")
    )
    if len(datasets) == 1 and split is None:
        return rows
    if rows["group"].n_unique() > MOST_GROUPS:
        raise UserError(
            f"column {split} has {rows['group'].n_unique():,} values; a split column has at most {MOST_GROUPS}"
        )
    groups = rows.filter(has_class).group_by("class").agg(group.unique().sort().alias("groups"))
    rows = rows.join(groups, on="class", how="left", maintain_order="left")
    return rows.with_columns((pl.col("groups").list.len() > 1).alias("leak"))


def _summarise(rows: pl.DataFrame, datasets: Sequence[str]) -> DedupeSummary:
    text, class_ = pl.col("text").drop_nulls(), pl.col("class").drop_nulls()
    counts = rows.group_by("dataset").agg(
        pl.len().alias("rows"),
        pl.col("text").null_count().alias("without_text"),
        text.n_unique().alias("texts"),
        class_.n_unique().alias("classes"),
        (class_.len() - class_.n_unique()).alias("duplicates"),
        (text.len() - text.n_unique()).alias("repeated_texts"),
    )
    obstacles = (
        rows.drop_nulls("obstacle")
        .group_by("obstacle")
        .agg(pl.col("text").n_unique().alias("texts"), pl.len().alias("rows"))
        .sort("texts", "obstacle", descending=[True, False])
    )
    return DedupeSummary(
        datasets=pl.DataFrame({"dataset": datasets}).join(counts, on="dataset", how="left").fill_null(0),
        largest_class=rows["class_rows"].max() or 0,  # type: ignore[arg-type]
        obstacles=obstacles,
        leaks=_leaks(rows) if "leak" in rows.columns else None,
    )


def _leaks(rows: pl.DataFrame) -> pl.DataFrame:
    """The pairs of groups that share a problem; groups in the order in which the rows name them."""
    groups = rows.group_by("group", maintain_order=True).len("total").with_row_index("rank")
    leaking = rows.filter("leak").join(groups, on="group")
    ranks = ["first_rank", "second_rank"]

    def shared(by: str, counted: str) -> pl.DataFrame:
        """For each pair of groups: how many values of ``by`` both have, in how many rows of each."""
        held = leaking.group_by("rank", "group", "total", by).len("rows")
        first, second = (held.select(by, pl.exclude(by).name.prefix(side)) for side in ("first_", "second_"))
        pairs = first.join(second, on=by).filter(pl.col("first_rank") < pl.col("second_rank"))
        return pairs.group_by(ranks).agg(
            pl.first("first_group").alias("first"),
            pl.first("second_group").alias("second"),
            pl.len().alias(counted),
            pl.sum("first_rows", "second_rows"),
            (pl.sum("first_rows") / pl.first("first_total")).alias("first_share"),
            (pl.sum("second_rows") / pl.first("second_total")).alias("second_share"),
        )

    texts = shared("text", "texts").select(*ranks, "texts")
    leaks = shared("class", "classes").join(texts, on=ranks, how="left").with_columns(pl.col("texts").fill_null(0))
    return leaks.sort(ranks).drop(ranks)


def certificate_signature(is_placeholder: bool) -> str:
    """One line with all that certificates depend on; those of files with equal lines can be joined.

    >>> certificate_signature(is_placeholder=False).rpartition("|")[2]
    'mode:identity'
    """
    mode = "placeholder" if is_placeholder else "identity"
    return f"certificate:{CERTIFICATE_VERSION}|pddl:{version_of('pddl')}|mode:{mode}"


def write_rows(rows: pl.DataFrame, output: str | os.PathLike[str], is_placeholder: bool) -> None:
    """Write the frame as Parquet with the signature in its metadata, whole or not at all; raises ``DatasetError``."""
    table = rows.to_arrow().replace_schema_metadata({SIGNATURE_KEY: certificate_signature(is_placeholder)})
    with new_parquet(locate(output), table.schema) as writer:
        writer.write_table(table)
