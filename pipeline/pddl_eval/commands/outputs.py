"""Where a command may write: never over its input, and over a file of another kind only with ``--force``."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pddl_eval.errors import UserError

if TYPE_CHECKING:
    from pddl_eval.datasets import Location

TEXT = rb"(?s)\A(# )?\d+ scored datasets\n|\A[^<%{\\].*\bpddl-eval(-report)?:\d[^\s|]*\|"
"""The title of a series, or the beginning of a signature."""

FILES_ALONE = ("html", "md", "terminal", "tex", "json", "record", "plan", "prom", "jsonl", "prompts", "table")
"""What is one file; the others but ``folder`` and ``partitions`` are if the name ends in them."""

LOOKS = {
    "html": rb'(?s)\A<!DOCTYPE html>.*<main class="pddl-eval\b',
    "md": TEXT,
    "terminal": TEXT,
    "tex": rb"\A(%[^\n]*\n)*% Needs \\usepackage",
    "json": rb'\A\{\s*"(signature|same_signature)": ',
    "record": rb'\A\{\s*"record": \d',
    "eee": rb'(?s)\A\{\s*"schema_version": .*"pddl-eval"',
    "hf": rb"(?s)\A- dataset:.*\bpddl-eval:",
    "svg": rb'\A<svg [^>]*(class="pddl-eval-|role="img" aria-label=)',
    "png": rb"\A\x89PNG",
    "pdf": rb"(?s)\A%PDF.*svg2pdf",
    "plan": rb"\A; A (plan for the answer's problem|counterexample), in ",
    "prom": rb"\A# HELP pddl_eval_",
    "prompts": rb'\A\{"(custom_id|id)": "pddl-eval-',
    "jsonl": rb'(?m)^\{"time": "[^"]*", "output": ',
}
"""What this program writes, by format; tables (``csv``, ``parquet``) are known by their columns."""

FILES = "pddl_eval.files"
"""Where a context has the files that a command reads besides its own inputs: of ``--domain`` and ``--config``."""

TABLES = ({"measure", "rows"}, {"metric", "rows"})
"""Columns of the main table of a report, and of a comparison."""

LOOKED_AT = 8 * 2**20
"""Bytes of a file that are looked at."""

force_option = click.option("--force", is_flag=True, help="Also replace a file of another kind; never an input.")


def require_writable(
    output: str | None,
    form: str,
    inputs: Iterable[str | None] = (),
    *,
    force: bool = False,
    columns: Iterable[Collection[str]] = TABLES,
    alone: bool = False,
) -> None:
    """Raise ``UserError`` where a command may not write: before its work, not after. No place (None) is always right.

    An input is recognised through links and other spellings of its name, too; in its folder, nothing is written that
    would be taken for rows of it. A file that is there must look like what is written, unless ``force``: a table has
    one of these sets of ``columns``. ``form`` is a format of reports, ``plan``, ``table`` (Parquet under any name) or
    ``partitions`` (a folder of them). The tables and figures in a folder are looked at when their names are known;
    ``alone``, it is one file whatever its name.
    """
    from pddl_eval.datasets import list_files, locate

    if output is None:
        return
    place = locate(output)
    is_file = alone or form in FILES_ALONE or place.path.endswith(f".{form}")
    makes_rows = not is_file and form in ("csv", "parquet", "partitions")
    files = click.get_current_context().meta[FILES]
    for each in (*inputs, *files):
        if each not in (None, "", "-"):
            _require_no_input(place, locate(str(each)), makes_rows=makes_rows)
    require = partial(require_kind, force=force, columns=columns)
    if is_file:
        require(place, form)
    elif form == "folder":
        own = [each for each in ("index.html", "rows.html") if each in list_files(place)]
        pages = [] if own else [f"rows/{name}" for name in list_files(place / "rows") if name.endswith(".html")]
        for name in (*own, *pages):
            require(place / name, "html")


def require_all_writable(files: Mapping[str, str | None], inputs: Sequence[str | None], *, force: bool) -> None:
    """``require_writable`` for several files by form, which must be different ones."""
    for form, file in files.items():
        others = (each for other, each in files.items() if other != form)
        require_writable(file, form, [*inputs, *others], force=force, alone=True)


def require_kind(place: Location, form: str, *, force: bool, columns: Iterable[Collection[str]] = ()) -> None:
    """Raise ``UserError`` for what is no file, and for a file that does not look like what is written there."""
    from pyarrow.fs import FileType

    from pddl_eval.datasets import dataset_errors

    with dataset_errors(place, "read"):
        found = place.filesystem.get_file_info(place.path)
        if found.type == FileType.Directory:
            raise UserError(f"{place} is a folder: name a file for the output")
        if found.type == FileType.Unknown:  # It would be renamed over, /dev/null of a root included.
            raise UserError(f"{place} is a pipe or a device: name a file for the output")
        if force or found.type != FileType.File or not found.size or _looks(place, form, columns):
            return
    raise UserError(f"{place} holds something else than what is written here: name another file, or say --force")


def _looks(place: Location, form: str, columns: Iterable[Collection[str]]) -> bool:
    import pyarrow
    import pyarrow.parquet as pq

    if form in ("parquet", "table"):
        try:
            with place.filesystem.open_input_file(place.path) as file:
                names = set(pq.read_schema(file).names)
        except pyarrow.ArrowInvalid:
            return False
        return any(names.issuperset(each) for each in columns)
    with place.filesystem.open_input_stream(place.path) as stream:
        head = bytes(stream.read(LOOKED_AT))
    if form == "csv":
        names = set(head.partition(b"\n")[0].decode(errors="replace").strip().split(","))
        return any(names.issuperset(each) for each in columns)
    return re.search(LOOKS[form], head) is not None


def _require_no_input(place: Location, given: Location, *, makes_rows: bool) -> None:
    from pddl_eval.datasets import form_of_name

    place_path, given_path = _real(place), _real(given)
    same_store = place.root == given.root
    is_input = same_store and place_path == given_path and not makes_rows
    if place.is_local and given.is_local:
        pattern = given.path.lstrip("/") if re.search(r"[*?\[]", given.path) else ""
        named = [Path(given.path), *(Path("/").glob(pattern) if pattern else ())]
        is_input |= any(_same_file(Path(place.path), each) for each in named)
    if makes_rows or form_of_name(place.name) is not None:  # It would be read with the input's other files.
        is_file = given.is_local and Path(given.path).is_file()
        inside = not is_file and f"{place_path}/".startswith(f"{given_path.rstrip('/')}/")
        is_input |= same_store and (inside or fnmatchcase(place_path, given_path))
    if is_input:
        raise UserError(f"{place} is the input {given}, or in its folder: name another place for the output")


def _real(place: Location) -> str:
    return os.path.realpath(place.path) if place.is_local else place.path


def _same_file(first: Path, second: Path) -> bool:
    try:
        return second.is_file() and second.samefile(first)
    except OSError:  # One of them is not there.
        return False
