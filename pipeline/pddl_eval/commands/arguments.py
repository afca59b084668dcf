"""Command-line arguments that several jobs understand alike: ``--column MEANING=NAME`` and ``--domain NAME|FILE``."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

from pddl_eval.errors import UserError

DOMAIN_BYTES = 10 * 2**20


def column_names(columns: Sequence[str]) -> dict[str, str]:
    """Meaning → name of the dataset's column, from ``MEANING=NAME`` arguments.

    Raises ``ValueError``.

    >>> column_names(["generated_problem=output"])
    {'generated_problem': 'output'}
    """
    names = dict(column.partition("=")[::2] for column in columns)
    for meaning, name in names.items():
        if not meaning or not name:
            raise UserError(f"--column {meaning}{name} should read MEANING=NAME, such as generated_problem=output.")
    return names


def domain_text(name_or_file: str) -> str:
    """A known domain's name as it is, else the content of the file.

    Raises ``ValueError`` where it is neither.
    """
    from pddl_eval.domains import known_domain_names

    names = known_domain_names()
    if name_or_file in names:
        return name_or_file
    path = Path(name_or_file)
    if not path.is_file():
        near = get_close_matches(name_or_file, names, n=1) or [", ".join(names)]
        raise UserError(f"--domain {name_or_file} is neither a file nor a known domain; did you mean {near[0]}?")
    if path.stat().st_size > DOMAIN_BYTES:
        raise UserError(f"--domain {name_or_file} is no PDDL domain: it has more than {DOMAIN_BYTES:,} bytes.")
    return path.read_text(encoding="utf-8", errors="replace")
