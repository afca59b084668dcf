"""The dataset whose scores are to be carried over: which of its files can serve, and why the others cannot.

Equal content has equal scores only where the signatures are equal and the same pairs of columns were scored.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import pyarrow as pa

from pddl_eval.dataset.columns import place_of
from pddl_eval.dataset.locations import DatasetError, list_files, read_bytes
from pddl_eval.dataset.partitions import FOOTER_READERS, read_signature
from pddl_eval.dataset.plan import MANIFEST
from pddl_eval.dataset.sources import Input, Source, open_source
from pddl_eval.options import ScoringOptions
from pddl_eval.rescoring.content import content_columns
from pddl_eval.scoring.columns import ROW_FIELDS, ColumnError, pairs_present

INDEX_FORMAT = 1
"""Goes up when keys or index files change."""


@dataclass(frozen=True, slots=True)
class Previous:
    """``source`` are the files that can serve (perhaps none), ``score_columns`` what is carried over from them.

    ``settings`` say what their columns are called; ``obstacle`` says why not all rows can serve, or is None.
    """

    source: Source
    settings: ScoringOptions
    score_columns: tuple[str, ...]
    obstacle: str | None = None

    @property
    def fingerprint(self) -> str:
        """Names the content of the files that can serve, and how it is read."""
        files = [file.version.footer for file in self.source.files]
        identity = [INDEX_FORMAT, files, dict(self.settings.columns), self.score_columns]
        return hashlib.blake2b(json.dumps(identity).encode(), digest_size=16).hexdigest()


def open_previous(
    places: Input,
    columns: Mapping[str, str] | None,
    settings: ScoringOptions,
    signature: str,
    input_schema: pa.Schema,
    output_schema: pa.Schema,
) -> Previous:
    """Look at the footers of a scored dataset and say what of it can serve a run with these settings and schemas.

    ``columns`` are the names of its meaningful columns; None: those that its run's manifest names, else those of the
    new run. Raises ``DatasetError`` where there is no such dataset.
    """
    source = open_source(places)
    named = replace(settings, columns=dict(columns)) if columns is not None else _as_it_was_scored(source, settings)
    added = [field for field in output_schema if field.name not in input_schema.names]
    names = tuple(field.name for field in added)
    none = replace(source, files=())
    mismatch = _schema_mismatch(source.schema, named, added, input_schema, settings)
    if mismatch:
        return Previous(none, named, names, f"{place_of(source)} {mismatch}")
    with ThreadPoolExecutor(FOOTER_READERS) as readers:
        signatures = list(readers.map(read_signature, [file.location for file in source.files]))
    files = tuple(file for file, theirs in zip(source.files, signatures, strict=True) if theirs == signature)
    others: Counter[str | None] = Counter()
    for file, theirs in zip(source.files, signatures, strict=True):
        if theirs != signature:
            others[theirs] += file.rows
    obstacle = None
    if others:
        (other, _), *_ = others.most_common()
        obstacle = (
            f"{others.total():,} rows of {place_of(source)} were scored in another way and cannot be reused: "
            f"{other or 'no signature'}, now {signature}"
        )
    return Previous(replace(source, files=files), named, names, obstacle)


def _as_it_was_scored(source: Source, settings: ScoringOptions) -> ScoringOptions:
    """The settings with the column names of the manifest that lies beside the files."""
    try:
        if MANIFEST in list_files(source.base):
            columns = json.loads(read_bytes(source.base / MANIFEST))["settings"]["columns"]
            return replace(settings, columns=dict(columns))
    except (DatasetError, ValueError, KeyError, TypeError):
        pass  # A copy without its manifest, or with another's: the new run's names are as good a guess.
    return settings


def _schema_mismatch(
    theirs: pa.Schema, named: ScoringOptions, added: list[pa.Field], ours: pa.Schema, settings: ScoringOptions
) -> str | None:
    """What keeps all of the dataset from serving, as the rest of a sentence about it."""
    try:
        content_columns(theirs, named)
        pairs = [kind.name for kind in pairs_present(theirs, named)]
    except ColumnError as error:
        return f"cannot be reused: {error}"
    if pairs != [kind.name for kind in pairs_present(ours, settings)]:
        return f"cannot be reused: it has other pairs of columns ({', '.join(pairs)})"
    for field in added:
        if field.name not in theirs.names:
            return f"cannot be reused: it has no scores ({field.name} is missing)"
        if theirs.field(field.name).type != field.type and field not in ROW_FIELDS:
            return f"cannot be reused: {field.name} is {theirs.field(field.name).type} and not {field.type}"
    return None
