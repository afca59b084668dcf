"""Whether a byte has changed since a run was finished: local files, their digests, and what the run's summary says.

It imports the standard library alone: where nothing has changed, a finished run that is looked at again needs no more.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
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

READ = "read"
"""In the manifest: of files of the input, by place, the mark and the content that ``datasets.known_contents`` has."""

ASKED, SAID = "asked", "said"
"""In the summary: the ``question`` to which a command has answered with these lines."""

UNKNOWN = (OSError, ValueError, TypeError, KeyError, AttributeError)
"""Raised where a small file of a run is gone or says nothing."""

HASHED_BYTES = 2 * 2**30
"""Largest input that is read as a whole, one or two seconds a gigabyte."""

THREADS, LARGE_BYTES = 16, 2**20
"""Files of that size, on average, are read by several threads."""

HASHED = "blake2b:"
"""Begins a content that is a digest of the file's bytes."""

CONTENT = re.compile(r'"content": "(?!made:)(?:blake2b:)?([^"]*)"')
"""In a manifest: the digest of a file of the input, or what it has in its place."""


def signed(said: Mapping[str, Any]) -> dict[str, Any]:
    """What a summary says, with the digest of it."""
    rest = {name: value for name, value in said.items() if name != DIGEST}
    return {**rest, DIGEST: _digest(rest)}


def digest_of_file(opened: Any) -> str:
    """A digest of the bytes of an open file."""
    return hashlib.file_digest(opened, partial(hashlib.blake2b, digest_size=16)).hexdigest()


def mark_of(file: str) -> str:
    """The size of a file and the times at which it was written and changed: another whenever it is written."""
    found = Path(file).stat()
    return f"{found.st_size} {found.st_mtime_ns} {found.st_ctime_ns}"


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

    Files that the run has read and nobody has written since (``READ``) are not read again. None where it cannot be
    known: of an input that is no local file, folder or pattern, of a large one, and of one that is not the manifest's.
    """
    with suppress(*UNKNOWN):
        manifest = Path(output, MANIFEST).read_text("utf-8")
        named = list(map(_files_named, inputs))
        files = dict.fromkeys(chain.from_iterable(named))
        if not all(named) or sum(Path(file).stat().st_size for file in files) > HASHED_BYTES:
            return None
        marked = json.loads(manifest)[READ].items()
        known = {file: content for file, (mark, content) in marked if file in files and mark == mark_of(file)}
        read = _digests(file for file in files if file not in known)
        read |= {file: content.removeprefix(HASHED) for file, content in known.items()}
        if {*CONTENT.findall(manifest)} <= {*read.values()}:
            return _digest([words, sorted(read.items()), manifest])
    return None


def said_before(words: Any, inputs: Iterable[str], output: str) -> Any:
    """What was said of a finished run (``SAID``) to the same question, where each file of its output is as it was left.

    None where nobody knows.
    """
    with suppress(*UNKNOWN):
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


def folder_of(pattern: str) -> str:
    """The folder below which a pattern finds files."""
    return os.path.dirname(re.split(r"[*?\[]", pattern, maxsplit=1)[0]) or "/"  # noqa: PTH120 (also of object stores)


def files_matching(pattern: str, base: str, walk: Callable[..., Iterable[str]]) -> list[str]:
    """The paths below ``base``, its folder, that match a pattern; ``walk`` lists them, ``recursive`` or not."""
    parts = pattern[len(base) :].lstrip("/").split("/")
    walked = walk(recursive=len(parts) > 1)
    return [path for path in walked if _matches(path[len(base) :].lstrip("/").split("/"), parts)]


def _matches(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    """``**`` is any number of folders; everything else stays within one name."""
    if not parts or not pattern:
        return not parts and not pattern
    if pattern[0] == "**" and len(pattern) > 1:
        return any(_matches(parts[skipped:], pattern[1:]) for skipped in range(len(parts)))
    return fnmatchcase(parts[0], pattern[0]) and _matches(parts[1:], pattern[1:])


def _files_named(place: str) -> list[str]:
    """The local files that a place names: of a folder, or of a pattern, at least those that belong to the input."""
    path = os.path.abspath(Path(place).expanduser())  # noqa: PTH100 (as ``datasets.locate``)
    if place == "-" or "://" in place:
        return []
    if Path(path).is_file():
        return [path]
    if Path(path).is_dir():
        return [*files_below(path)]
    base = folder_of(path)
    return files_matching(path, base, partial(files_below, base))


def _digests(files: Iterable[str]) -> dict[str, str]:
    every = list(files)
    # Paths made of thousands of names would take as long as their bytes do.
    if sum(os.stat(file).st_size for file in every) < LARGE_BYTES * len(every):  # noqa: PTH116
        return {file: _content(file) for file in every}  # Small ones take several threads three times as long.
    from concurrent.futures import ThreadPoolExecutor  # here: it loads logging

    with ThreadPoolExecutor(THREADS) as readers:
        return dict(zip(every, readers.map(_content, every), strict=True))


def _content(file: str) -> str:
    with Path(file).open("rb", buffering=0) as opened:
        return digest_of_file(opened)


def _digest(said: Any) -> str:
    return hashlib.blake2b(json.dumps(said).encode(), digest_size=16).hexdigest()
