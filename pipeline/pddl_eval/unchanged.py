"""Whether a byte has changed since a run was finished: local files, their digests, and what the run's summary says.

It imports the standard library alone: where nothing has changed, a finished run that is looked at again needs no more.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from fnmatch import fnmatchcase
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

MANIFEST = "_pddl_eval_run.json"
"""Says to which run an output belongs."""

SUMMARY = "_summary.json"
"""Written last, when every partition is there; Parquet readers ignore names with a leading underscore."""

COUNTED = "partitions"
"""In the summary: the names of the partitions that count, each with the number of the claim under which it was written.
Any other one was written late, by a process that had lost its claim, and has rows of these once more."""

CONTENTS = "contents"
"""In the summary: digests of these partitions, of those that were proven whole when it was written."""

DIGEST = "digest"
"""In the summary: a digest of all else that it says."""

ASKED, SAID = "asked", "said"
"""In the summary: the ``question`` to which a command has answered with these lines."""

HASHED_BYTES = 2 * 2**30
"""Largest input that is read as a whole, one or two seconds a gigabyte."""

READERS, LARGE_BYTES = 16, 2**20
"""Files of that size, on average, are read by several threads."""

CONTENT = re.compile(rb'"content": "(?!made:)(?:blake2b:)?([^"]*)"')
"""In a manifest: the digest of a file of the input, or what it has in its place."""


def signed(said: Mapping[str, Any]) -> dict[str, Any]:
    """What a summary says, with the digest of it."""
    rest = {name: value for name, value in said.items() if name != DIGEST}
    return {**rest, DIGEST: _digest(rest)}


def digest_of_file(opened: Any) -> str:
    """A digest of the bytes of an open file."""
    return hashlib.file_digest(opened, partial(hashlib.blake2b, digest_size=16)).hexdigest()


def files_below(folder: str, *, recursive: bool = True) -> Iterator[str]:
    """The files of a folder; each folder once, whatever links lead to it, real folders before links."""
    walked = set()
    for place, folders, files in os.walk(folder, followlinks=True):
        here = Path(place)
        new = here.resolve() not in walked
        walked.add(here.resolve())
        links = [name for name in folders if (here / name).is_symlink()]
        folders[:] = [*sorted({*folders} - {*links}), *sorted(links)] if new and recursive else []
        if new:
            yield from (f"{place.rstrip('/')}/{name}" for name in files if (here / name).is_file())


def question(words: Any, inputs: Iterable[str], output: str) -> str | None:
    """A digest of all that the summary of a run depends on: its settings in ``words``, its input, its manifest.

    None where it cannot be known: of an input that is no local file, folder or pattern, of a large one, and of one that
    is not the manifest's.
    """
    with suppress(OSError, ValueError):
        manifest = Path(output, MANIFEST).read_bytes()
        named = list(map(_files_named, inputs))
        files = list(dict.fromkeys(chain.from_iterable(named)))
        if not all(named) or sum(Path(file).stat().st_size for file in files) > HASHED_BYTES:
            return None
        read = _digests(files)
        if {each.decode() for each in CONTENT.findall(manifest)} <= {*read.values()}:
            return _digest([words, read, manifest.hex()])
    return None


def said_before(words: Any, inputs: Iterable[str], output: str) -> Any:
    """What was said of a finished run (``SAID``) to the same question, where each file of its output is as it was left.

    None where nobody knows.
    """
    with suppress(OSError, ValueError, TypeError, KeyError, AttributeError):
        summary = json.loads(Path(output, SUMMARY).read_bytes())
        present = {each.name for each in os.scandir(output) if each.is_file()}
        if summary[ASKED] == question(words, inputs, output) and is_untouched(output, present, summary):
            return summary[SAID]
    return None


def is_untouched(folder: str, present: Collection[str], summary: Mapping[str, Any], *, compared: bool = True) -> bool:
    """Whether the files of a finished run that are ``present`` are those that it has left, byte for byte.

    Unless it is ``compared``, no file is read. Raises ``OSError``.
    """
    contents: Mapping[str, str] = summary.get(CONTENTS) or {}
    if not contents or signed(summary) != summary or contents.keys() != summary[COUNTED].keys():
        return False
    files = {f"{folder}/{name}": content for name, content in contents.items()}
    return {*present} == {MANIFEST, SUMMARY, *contents} and (not compared or _digests(files) == files)


def _files_named(place: str) -> list[str]:
    """The local files that a place names: of a folder, or of a pattern, at least those that belong to the input."""
    path = os.path.abspath(Path(place).expanduser())  # noqa: PTH100 (as ``datasets.locate``)
    if place == "-" or "://" in place:
        return []
    if Path(path).is_file():
        return [path]
    if Path(path).is_dir():
        return [*files_below(path)]
    base = os.path.dirname(re.split(r"[*?\[]", path, maxsplit=1)[0])  # noqa: PTH120
    inside, name = path[len(base) :].lstrip("/"), Path(path).name
    walked = files_below(base, recursive="/" in inside)
    return [file for file in walked if fnmatchcase(Path(file).name, name)]


def _digests(files: Iterable[str]) -> dict[str, str]:
    every = list(files)
    if sum(Path(file).stat().st_size for file in every) < LARGE_BYTES * len(every):
        return {file: _content(file) for file in every}  # Small ones take several threads three times as long.
    from concurrent.futures import ThreadPoolExecutor  # here: it loads logging

    with ThreadPoolExecutor(READERS) as readers:
        return dict(zip(every, readers.map(_content, every), strict=True))


def _content(file: str) -> str:
    with Path(file).open("rb") as opened:
        return digest_of_file(opened)


def _digest(said: Any) -> str:
    return hashlib.blake2b(json.dumps(said).encode(), digest_size=16).hexdigest()
