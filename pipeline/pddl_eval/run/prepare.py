"""A run before it starts: which run it is, what is done of it, what is to be done.

The manifest in the output folder says which run the folder belongs to. The same run started again finds its finished
partitions and does the rest, cut into shards of any size; any other run is refused, because one folder cannot hold the
scores of two settings.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pddl_eval.datasets import Input, Source, contents, in_threads, known_contents, places
from pddl_eval.run.manifest import COLUMNS, FORMAT, OtherRun, found_contents, require_output, same_run
from pddl_eval.run.partitions import Scorer, ShardRecord, Work, damaged, finished_records, with_content
from pddl_eval.run.shards import Part, Shard, in_order, overlaps, plan_shards, ranges_of, shards_named
from pddl_eval.run.tiling import MERGED, open_rows, untouched
from pddl_eval.unchanged import MANIFEST, READ
from pddl_eval.version import without_version


@dataclass(frozen=True, slots=True)
class Run:
    """A run before it starts: its shards, and the records of those that are ``finished``, by name.

    Of a ``part``, they are those that have its rows. ``stale`` are partitions that do not count: damaged, without some
    of their rows, or overlapping others. ``summary`` is that of a finished run whose folder nobody has touched: no
    record is read of it.
    """

    source: Source
    work: Work
    shards: tuple[Shard, ...]
    finished: Mapping[str, ShardRecord]
    manifest: Mapping[str, Any]
    part: Part | None = None
    stale: tuple[Shard, ...] = ()
    summary: Mapping[str, Any] | None = None

    @property
    def missing(self) -> tuple[Shard, ...]:
        return () if self.summary else tuple(shard for shard in self.shards if shard.name not in self.finished)

    @property
    def rows_missing(self) -> int:
        return sum(shard.rows for shard in self.missing)

    @property
    def total_rows(self) -> int:
        """Rows of the input, or of the part."""
        return sum(block.rows for block in self.part.split(self.source)[0]) if self.part else self.source.rows

    @property
    def suffix(self) -> str:
        """The end of the names of files that each part has."""
        return self.part.suffix if self.part else ""


def prepare_run(
    inputs: Input | Source,
    output: str | os.PathLike[str],
    scorer: Scorer,
    shard_rows: int | None = None,
    part: str | None = None,
) -> Run:
    """Look at input and output and say what is to be done; nothing is written. Without ``shard_rows`` the scorer's.

    Raises ``DatasetError`` for an input that cannot be read, an output that belongs to another run and an output that
    lies in the input, and what the scorer raises for a schema that it cannot score.
    """
    share = None if part is None else Part.parse(part)
    folder = places.locate(output)
    source = inputs if isinstance(inputs, Source) else open_rows(inputs)
    present = require_output(folder, source)
    output_schema = scorer.output_schema(source.schema)
    shard_rows = shard_rows or scorer.shard_rows(source.schema)
    if scorer.constants_signed:
        scorer = replace(scorer, signature=scorer.signature + scorer.constants_signed(source.schema))
    # All that must be the same for a run to be the same. Where the input lies and how it is cut is not part of it.
    made = source.made_of
    of_folder = found_contents(folder) if MANIFEST in present else {}
    parts = share.of if share else 1
    content = {source.files[0].name: f"made:{made['key']}"} if made else contents(source, parts, of_folder)
    identity = {
        "format": FORMAT,
        "signature": scorer.signature,
        "settings": scorer.settings,
        "schema": source.schema.to_string(show_schema_metadata=False, show_field_metadata=False),
        "files": [
            {"name": file.name, "rows": file.rows, "size": file.size, "content": content[file.name]}
            for file in source.files
        ],
    }
    if made:
        identity["made_of"] = made
    # Two versions of one code make the same scores: a commit of documentation alone changes no run.
    same = {**identity, "signature": without_version(scorer.signature)}
    run = hashlib.blake2b(json.dumps(same, sort_keys=True).encode(), digest_size=16).hexdigest()
    files = [str(file.version.location) for each in (source, source.original) if each for file in each.files]
    read = {place: known_contents[place] for place in files if place in known_contents}
    manifest: Mapping[str, Any] = {"run": run, "place": str(source.base), "shard_rows": shard_rows, **identity}
    work = Work(run, folder, source.schema, output_schema, scorer)
    manifest = {**manifest, COLUMNS: work.columns, READ: read}
    if MANIFEST in present:
        manifest = same_run(folder, manifest)
        # All partitions of a run have one signature.
        work = replace(work, run=manifest["run"], scorer=replace(scorer, signature=manifest["signature"]))
        if MERGED in manifest:
            raise OtherRun(f"{folder} has {MERGED} {manifest[MERGED]}: score with that, or choose another folder.")
    there = shards_named(source, present)
    if share is None and folder.is_local and (summary := untouched(folder, present, work.run)):
        return Run(source, work, tuple(there), {}, manifest, summary=summary)
    if share:  # Whoever completes the run looks at those of the others.
        own = ranges_of(share.split(source)[0])
        there = [shard for shard in there if overlaps(shard, own)]
    finished = finished_records(folder, there, work.run, columns=work.columns)
    done = [shard for shard in there if shard.name in finished]
    missing = missing_shards(source, shard_rows, done, share)
    if not missing and share is None and folder.is_local:
        # Who starts a complete run again may have a reason. Object stores check what they hold themselves.
        lost = damaged((folder / shard.name for shard in done), work.columns)
        done = [shard for shard in done if folder / shard.name not in lost]
        records = in_threads(lambda shard: with_content(finished[shard.name], folder), done)
        finished = {record.name: record for record in records}
        missing = missing_shards(source, shard_rows, done)
    if missing and scorer.check:
        scorer.check(source)
    return Run(
        source,
        work,
        tuple(in_order(source, [*done, *missing])),
        finished,
        manifest,
        share,
        tuple(shard for shard in there if shard.name not in finished),
    )


def missing_shards(
    source: Source, shard_rows: int, there: Iterable[Shard], part: Part | None = None
) -> tuple[Shard, ...]:
    """The shards of the rows that others leave, or of those among them that belong to a part."""
    return plan_shards(source, shard_rows, ranges_of([*there, *(part.split(source)[1] if part else ())]))
