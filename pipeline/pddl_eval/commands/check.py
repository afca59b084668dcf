"""``pddl-eval check FILE…``: what is wrong in PDDL files, for repositories of planners and datasets."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pddl_eval.commands.command import Command, note
from pddl_eval.commands.flags import argument
from pddl_eval.errors import FAILED, UserError

if TYPE_CHECKING:
    from pddl_eval.scoring.findings import Issue

FORMS = ("text", "github")
DOMAIN = re.compile(r"\(\s*define\s*\(\s*domain\s+([^\s()]+)", re.IGNORECASE)
PROBLEM = re.compile(r"\(\s*define\s*\(\s*problem\b", re.IGNORECASE)
ITS_DOMAIN = re.compile(r"\(\s*:domain\s+([^\s()]+)", re.IGNORECASE)


@click.command(cls=Command, epilog="Exit codes: 0 nothing is wrong, 1 something is; warnings are not.")
@argument("files", "FILE...", "PDDL domains and problems, and folders of them.", nargs=-1, required=True)
@click.option("--format", type=click.Choice(FORMS), default="text", help="github: notes beside the lines.")
def check(files: tuple[str, ...], format: str) -> None:
    """Say what is wrong in PDDL files, with line and column.

    \b
    pddl-eval check domain.pddl problems/
    pddl-eval check benchmarks/ --format github

    A problem is checked in its domain: a known one, or one among FILE, in its folder or in the folder above.
    """
    wrong = 0
    others: list[Path] = []
    for file, issue in _issues([*_expanded(files)], others):
        wrong += issue.is_error
        print(_shown(file, issue, format))
    if others:
        note(f"files that are neither a domain nor a problem, not checked: {len(others):,}, the first {others[0]}")
    if wrong:
        sys.exit(FAILED)


def _expanded(names: Iterable[str]) -> Iterator[Path]:
    for path in map(Path, names):
        if path.is_dir():
            yield from sorted(path.rglob("*.pddl"))
        elif path.is_file():
            yield path
        else:
            raise UserError(f"{path} is no file")


def _issues(files: list[Path], others: list[Path]) -> Iterator[tuple[Path, Issue]]:
    """Each file with each thing that is wrong in it; what is neither a domain nor a problem goes to ``others``."""
    import pddl_eval
    from pddl_eval.definition.pddl import without_comments

    @cache  # Each problem asks the files beside it.
    def domain_in(file: Path) -> str | None:
        found = DOMAIN.search(without_comments(_text(file)))
        return found[1].lower() if found else None

    given = {name: file for file in files if (name := domain_in(file))}
    for file in files:
        text = _text(file)
        bare = without_comments(text)
        if DOMAIN.search(bare):
            found = pddl_eval.feedback(text, kind="domain")
        elif PROBLEM.search(bare):
            named = ITS_DOMAIN.search(bare)
            name = named[1].lower() if named else ""
            near = (each for folder in (file.parent, file.parent.parent) for each in sorted(folder.glob("*.pddl")))
            place = next((each for each in near if domain_in(each) == name), given.get(name))
            found = pddl_eval.feedback(text, domain=_text(place) if place else None)
        else:
            others.append(file)
            continue
        yield from ((file, issue) for issue in found.issues)


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="replace")


def _shown(file: Path, issue: Issue, form: str) -> str:
    from pddl_eval.shown import line

    says = line(f"{issue.says}; {issue.advice}" if issue.advice else issue.says)
    place, at = line(str(file)), (issue.line or 1, issue.column or 1)
    if form == "github":
        says = says.replace("%", "%25")
        return f"::{issue.severity} file={place},line={at[0]},col={at[1]},title={issue.check}::{says}"
    return f"{place}:{at[0]}:{at[1]}: {issue.severity}: {says} [{issue.check}]"
