"""What a shell completes besides commands, options and choices: known domains, and the columns of the dataset that the
line names. Only local files are looked at, because a shell that completes must not wait for a network.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from itertools import chain, islice
from pathlib import Path

import click

from pddl_eval.columns import MEANINGS

DATASETS = ("references", "inputs", "scored", "old", "source")
"""The parameters of commands that name a dataset whose columns the options are about."""

LINE_CHARACTERS = 2**20
"""Most characters of a first line that are read."""


def known_domains(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Names of known domains."""
    from pddl_eval.definition.domains import known_domain_names

    return [name for name in known_domain_names() if name.startswith(incomplete)]


def several_columns(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Columns of the dataset, with commas between them."""
    before, comma, begun = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in _columns(ctx) if name.startswith(begun) and name not in before]


def renamed_columns(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """``MEANING=NAME``, first the meaning, then the name of a column of the dataset."""
    meaning, equals, begun = incomplete.partition("=")
    if not equals:
        return [f"{each}=" for each in MEANINGS if each.startswith(meaning)]
    return [f"{meaning}={name}" for name in _columns(ctx) if name.startswith(begun)]


def _columns(ctx: click.Context) -> Sequence[str]:
    """The columns of the first file that the line names; none where there is no such file."""
    # The arguments are in ctx.args where the option that is completed has no value yet.
    given = [*(ctx.params.get(name) for name in DATASETS), ctx.params.get("output"), ctx.args]
    for word in chain.from_iterable([each] if isinstance(each, str) else each or () for each in given):
        place = Path(word)
        if "://" in word:
            continue
        files = place.rglob("[!_.]*.*") if place.is_dir() else place.parent.glob(place.name)
        for file in islice(files, 1):
            keys = [part.partition("=")[0] for part in file.parts[:-1] if "=" in part]
            try:
                return [*_names(file), *keys]
            except Exception:  # A file that cannot be read completes nothing.
                continue
    return ()


def _names(file: Path) -> Sequence[str]:
    """The columns of a file: by its footer, its header or its first line."""
    if file.suffix in (".jsonl", ".ndjson", ".csv"):
        with file.open(encoding="utf-8-sig") as lines:
            first = lines.readline(LINE_CHARACTERS)
            return next(csv.reader([first])) if file.suffix == ".csv" else list(json.loads(first))
    from pyarrow import parquet

    return list(parquet.read_schema(file).names)
