"""Test sets by name: ``NAME@REVISION``, where it is, and the digest that says whether it is still the same.

The digest is of values, not of files: Parquet and JSON Lines, in any order of rows and in any number of files, have the
same. So a copy is as good as the original, and what is another set is refused wherever it comes from. The program knows
``NAMED``. A folder that ``PDDL_EVAL_TEST_SETS`` names has copies (``planetarium@1.parquet``), and in ``test_sets.toml``
sets of one's own.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from pddl_eval.columns import PLAIN_NAMES, QUESTION_SIDE, REFERENCE_SIDE
from pddl_eval.datasets.columns import rows_of
from pddl_eval.datasets.inputs import Source
from pddl_eval.datasets.places import DatasetError
from pddl_eval.datasets.rows import column_batches
from pddl_eval.errors import did_you_mean

FOLDER = "PDDL_EVAL_TEST_SETS"
"""The variable that names a folder with copies, and with sets of one's own."""

OWN = "test_sets.toml"

MOST_BYTES = 2**20
"""Largest list of sets of one's own that is read."""

NAME = re.compile(r"[A-Za-z0-9][\w.-]*@[\w.-]+")

HASHED = ("reference_id", "id", "name", *PLAIN_NAMES, *REFERENCE_SIDE, *QUESTION_SIDE)
"""The columns that the digest is of, as far as a set has them: its ids and what is asked."""


class NamedSet(NamedTuple):
    """A name, a place, and the digest of what has to be there."""

    name: str
    place: str
    digest: str

    def require(self, source: Source) -> None:
        """Raise ``DatasetError`` where that is another set than the name says."""
        if (found := digest_of(source)) != self.digest:
            raise DatasetError(
                f"{self.place} is not the test set {self.name}: its digest is {found}, that of the set is {self.digest}"
            )


NAMED: Mapping[str, tuple[str, str]] = {
    # The published problems: 146,110, with the 192 that the paper leaves out.
    "planetarium@1": (
        "hf://datasets/BatsResearch/planetarium",
        "12796a6fd0434bc4e044f779df2407a4f9c11da1029bc0d7104f168ac90ee3e7",
    ),
}
"""Place and digest of the sets that the program knows."""


def named_set(text: str) -> NamedSet | None:
    """The set of that name, from a copy where there is one; None for what is no such name, or a file that is there.

    Raises ``DatasetError`` for a name that nobody knows.
    """
    if not NAME.fullmatch(text) or Path(text).exists():
        return None
    folder = os.environ.get(FOLDER)
    known = {**NAMED, **(_own(Path(folder)) if folder else {})}
    if text not in known:
        raise DatasetError(f"there is no test set {text}; {did_you_mean(text, known, 'test sets')}")
    place, digest = known[text]
    copies = sorted(Path(folder).glob(f"{text}*")) if folder else []
    return NamedSet(text, str(copies[0]) if copies else place, digest)


def _own(folder: Path) -> dict[str, tuple[str, str]]:
    """What ``test_sets.toml`` says: a table ``["NAME@REVISION"]`` with ``place`` and ``digest`` for each set."""
    file = folder / OWN
    try:
        if not file.exists():
            return {}
        with file.open("rb") as stream:
            said = tomllib.loads(stream.read(MOST_BYTES).decode())
        return {name: (str(each["place"]), str(each["digest"])) for name, each in said.items()}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DatasetError(f"{file} is no list of test sets, each with a place and a digest: {error}") from None


def digest_of(source: Source) -> str:
    """The digest of a set: SHA-256 of its rows' digests in ascending order; of a row, of the values in ``HASHED``.

    Raises ``DatasetError`` where a file cannot be read.
    """
    names = [name for name in HASHED if name in source.schema.names]
    rows = []
    for batch in column_batches(source, names):
        for row in rows_of(batch):
            known = ((PLAIN_NAMES.get(name, name), each) for name, each in row.items())
            said = {name: str(each) for name, each in known if each is not None}
            rows.append(sha256(json.dumps(said, sort_keys=True).encode()).digest())
    return sha256(b"".join(sorted(rows))).hexdigest()
