"""From a dataset to its equivalence classes: read, certify each distinct text once, join and count."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from pddl_eval.dedupe.certify import Certified, certify_texts
from pddl_eval.dedupe.classes import CLASS, GROUP, classify
from pddl_eval.dedupe.summary import DedupeSummary, summarise
from pddl_eval.dedupe.texts import TEXT, Columns, DistinctTexts
from pddl_eval.run import DatasetError, Input, Source, holds_text, open_source, place_of, require_columns, require_text

if TYPE_CHECKING:
    import polars

OWN = ("dataset", "row", *Certified._fields, "class_rows", "class_texts", "first_row", "duplicate", "groups", "leak")
"""The output's own columns."""

DOMAIN = "domain"
"""The column with each row's domain (DESIGN.md, section 2)."""

WORKING = (TEXT, CLASS, GROUP)


@dataclass(frozen=True, slots=True)
class Duplicates:
    """A frame with one row for each row of the dataset(s), and what it comes to.

    ``rows`` has ``dataset`` (``input`` or ``against``), ``row`` (counted from 0 over the files in the order of their
    names), the split column and the kept columns, and then

    * ``certificate``: equal exactly for equivalent problems; null where there is none, with ``obstacle`` (a verdict's
      name, or ``failed``) and ``reason``;
    * ``class_rows``, ``class_texts``: how many rows and how many distinct texts state this problem. A text without a
      certificate is a class of its own; a row without a text is in none;
    * ``first_row``, ``duplicate``: the first row of the same dataset that states it; whether that is an earlier one;
    * ``groups``, ``leak`` (where there is something to leak between): the split values and datasets in which the
      problem occurs, and whether they are more than one.
    """

    rows: polars.DataFrame
    summary: DedupeSummary


def dedupe(
    places: Input,
    *,
    column: str = "reference_problem",
    split_by: str | None = None,
    against: Input | None = None,
    against_column: str | None = None,
    keep: Sequence[str] = (),
    domain: str | None = None,
    is_placeholder: bool = False,
    workers: int | None = None,
    watch: Callable[[int], None] | None = None,
) -> Duplicates:
    """Find which rows of a Parquet dataset state the same planning problem, and which leak between splits or datasets.

    ``places`` and ``against`` are files, folders, patterns or URIs; ``column`` holds the problems (PDDL or raw
    answers), ``against_column`` those of the other dataset where it is called otherwise there. ``domain`` (a known name
    or a PDDL text) is for rows whose column ``domain`` is missing or null; without it the problem names its own.
    ``is_placeholder``: initial states and goals correspond separately. ``workers`` processes certify (default: one a
    CPU); ``watch`` is told how many distinct texts are done.

    Raises ``DatasetError`` for what cannot be read, ``TooManyGroups`` for a split column of ids, ``EngineError`` where
    a worker process dies.
    """
    parts = {"input": _opened(places, column, split_by, keep)}
    if against is not None:
        parts["against"] = _opened(against, against_column or column, split_by, keep, optional=True)
    texts = DistinctTexts(domain)
    frames: dict[str, list[polars.DataFrame]] = {name: [] for name in parts}
    new = chain.from_iterable(texts.read(*part, frames[name]) for name, part in parts.items())
    certified = []
    for certificate in certify_texts(new, is_placeholder, workers or os.cpu_count() or 1):
        certified.append(certificate)
        if watch is not None:
            watch(len(certified))
    rows = classify(frames, certified, split_by)
    return Duplicates(rows.drop(WORKING), summarise(rows, list(parts)))


def _opened(
    places: Input, column: str, split_by: str | None, keep: Sequence[str], optional: bool = False
) -> tuple[Source, Columns]:
    """The dataset and its columns; the split and the kept columns may be ``optional``."""
    source = open_source(places)
    kept = list(dict.fromkeys([*([split_by] if split_by else []), *keep]))
    taken = [name for name in kept if name in OWN + WORKING]
    if taken:
        raise DatasetError(
            f"There is to be a column {taken[0]} of another meaning: rename that of {place_of(source)} to keep it."
        )
    if optional:
        kept = [name for name in kept if name in source.schema.names]
    require_text(source, column)
    require_columns(source, kept)
    return source, Columns(column, DOMAIN if holds_text(source, DOMAIN) else None, kept)
