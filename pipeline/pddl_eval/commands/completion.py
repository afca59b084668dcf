"""What a shell completes in the command line besides names of commands and options: columns and choices.

Columns are those of the dataset that the line already names, from the footer of its first file. Only local files are
looked at, because a shell that completes must not wait for a network.
"""

from __future__ import annotations

import csv
import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path

import typer

from pddl_eval.options import MEANINGS

DATASETS = ("inputs", "scored", "old", "source")
"""The parameters of commands that name a dataset whose columns the options are about."""

FILES_TRIED = 200
"""Files, and folders, that are looked at to find the first file of rows in a folder."""

LINE_CHARACTERS = 2**20
"""Of a first line, at most."""

_LINES = (".jsonl", ".ndjson", ".csv")
_ROWS = (".parquet", ".parq", ".pq", *_LINES)

_finished = ""
"""The part of the current word that bash takes to be a word of its own: it wants only what follows."""


def choices(known: Sequence[str]) -> Callable[[str], list[str]]:
    """The completion of an option that has these values, one or several with commas between them."""

    def complete(incomplete: str) -> list[str]:
        return _behind_commas(known, incomplete)

    return complete


def one_column(ctx: typer.Context, incomplete: str) -> list[str]:
    """Columns of the dataset."""
    return [name for name in _columns(ctx, *DATASETS) if name.startswith(incomplete)]


def several_columns(ctx: typer.Context, incomplete: str) -> list[str]:
    """Columns of the dataset, with commas between them."""
    return _behind_commas(_columns(ctx, *DATASETS), incomplete)


def renamed_columns(*datasets: str) -> Callable[[typer.Context, str], list[str]]:
    """The completion of ``MEANING=NAME``, with names of the columns of the dataset that these parameters name."""

    def complete(ctx: typer.Context, incomplete: str) -> list[str]:
        incomplete = _finished + incomplete
        begun, equals, _ = incomplete.partition("=")
        meanings = [begun] if equals else [each for each in MEANINGS if each.startswith(begun)]
        if len(meanings) > 1:
            return [f"{meaning}=" for meaning in meanings]
        pairs = [f"{meaning}={name}" for meaning in meanings for name in _columns(ctx, *datasets)]
        return [pair.removeprefix(_finished) for pair in pairs if pair.startswith(incomplete)]

    return complete


def reference_columns(ctx: typer.Context, incomplete: str) -> list[str]:
    """Columns of the references, with commas between them."""
    return _behind_commas(_columns(ctx, "references"), incomplete)


def known_domains(incomplete: str) -> list[str]:
    """Names of known domains; where none begins so, the shell completes files."""
    from pddl_eval.domains import known_domain_names

    return [name for name in known_domain_names() if name.startswith(incomplete)]


COMPLETED: dict[str, Callable[..., list[str]]] = {
    "columns": renamed_columns(*DATASETS),
    "domain": known_domains,
    "on": reference_columns,
}
"""How the values of declared settings are completed, where they are no choices."""


def join_words_of_bash() -> None:
    """Put the words together that bash takes apart at ``=`` and ``:``, before the completion looks at them.

    Bash hands over ``--column generated_problem=out`` as four words, and replaces the last of them.
    """
    global _finished
    if not os.environ.get("_PDDL_EVAL_COMPLETE", "").endswith("_bash") or "COMP_WORDS" not in os.environ:
        return
    line, current = os.environ["COMP_WORDS"], int(os.environ.get("COMP_CWORD", "0"))
    words = line.split("\n") if "\n" in line else line.split(" ")
    joined: list[str] = []
    apart = False
    for number, word in enumerate(words[: current + 1]):
        separator = re.fullmatch(r"[=:]+", word) is not None
        if joined and number > 1 and (separator or apart):
            if number == current and not joined[-1].startswith("-"):  # typer knows --by=NAME
                _finished, joined[-1] = joined[-1] + word * separator, word * (not separator)
            else:
                joined[-1] += word
        else:
            joined.append(word)
        apart = separator
    os.environ["COMP_WORDS"], os.environ["COMP_CWORD"] = "\n".join(joined), str(len(joined) - 1)


def _behind_commas(known: Sequence[str], incomplete: str) -> list[str]:
    before, comma, begun = incomplete.rpartition(",")
    named = before.split(",")
    return [f"{before}{comma}{name}" for name in known if name.startswith(begun) and name not in named]


def _columns(ctx: typer.Context, *datasets: str) -> list[str]:
    """The columns of the first file that one of the parameters names; none where there is no such file."""
    # The positional arguments are not assigned yet if the option that is completed has no value.
    words = [*(ctx.params.get(name) for name in (*datasets, "output")), ctx.args]
    for word in chain.from_iterable([each] if isinstance(each, str) else each or () for each in words):
        for file in _files(word):
            if names := _names(file):
                keys = [key for key, equals, _ in (part.partition("=") for part in file.parts[:-1]) if equals]
                return [*names, *(key for key in keys if key not in names)]
    return []


def _files(word: str) -> Iterator[Path]:
    """The first file of rows that a word means, if there is one nearby."""
    if "://" in word or "**" in word or word.startswith("~"):  # A shell has replaced ~ where it means a folder.
        return
    place = Path(word)
    found: Iterator[Path] = iter([place])
    if place.is_dir():
        walked = islice(os.walk(place), FILES_TRIED)
        found = (Path(folder) / name for folder, _, names in walked for name in sorted(names))
        found = (file for file in islice(found, FILES_TRIED) if file.suffix in _ROWS and file.name[0] not in "._")
    elif re.search(r"[*?\[]", word):
        pattern = place.relative_to(place.anchor)
        found = islice(Path(place.anchor).glob(str(pattern)), FILES_TRIED)
    yield from islice((file for file in found if file.is_file()), 1)


def _names(file: Path) -> list[str]:
    """The columns of a file: by its footer, its header or its first line."""
    try:
        if file.suffix in _LINES:
            with file.open(encoding="utf-8-sig") as lines:
                first = lines.readline(LINE_CHARACTERS)
                return list(json.loads(first)) if file.suffix in _LINES[:2] else next(csv.reader([first]))
        from pyarrow import parquet

        return list(parquet.read_schema(file).names)
    except Exception:  # A shell completes nothing where the file is none.
        return []
