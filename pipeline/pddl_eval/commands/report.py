"""``pddl-eval report SCORED``: the tables and figures of a scored dataset."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

import click

from pddl_eval.commands.command import Command, note
from pddl_eval.commands.flags import argument, by, flags, metrics
from pddl_eval.commands.outputs import force, require_kind, require_writable
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.errors import UNFINISHED
from pddl_eval.settings import FIGURES, FORMATS, ReadingOptions, chosen_format

if TYPE_CHECKING:
    from pddl_eval.report import Report


@click.command(cls=Command)
@argument("scored", "SCORED", "Scored dataset: folder, file, pattern, s3:// URI.")
@by
@flags(ReadingOptions, "where")
@metrics
@click.option("--detect", type=float, metavar="POINTS", help="How many questions find such a difference of two models.")
@click.option("--format", type=click.Choice(FORMATS), help="Default: the suffix of OUTPUT, else terminal.")
@click.option("--output", metavar="PATH", help="File, or a folder: of pages, of csv, parquet or figures; or s3://….")
@click.option("--about", metavar="NAME=VALUE", multiple=True, help="With --format eee|hf: dataset, organization, ….")
@force
@flags(ScoringOptions, "columns")
def report(
    scored: str,
    by: list[str] | None,
    where: str | None,
    metrics: list[str] | None,
    detect: float | None,
    format: str | None,
    output: str | None,
    about: dict[str, str],
    force: bool,
    columns: dict[str, str],
) -> None:
    """Turn a scored dataset into the tables and figures of a paper.

    \b
    pddl-eval report scored
    pddl-eval report scored --by model,domain,split
    pddl-eval report scored --where sample=0 --metrics equivalent,solvable
    pddl-eval report scored --detect 3
    pddl-eval report scored --output report/
    pddl-eval report scored --output report.html
    pddl-eval report scored --format pdf --output figures
    pddl-eval report scored --output tables.tex --column reference_id=question
    pddl-eval report scored --format csv --output tables
    pddl-eval report scored --format eee --output results --about dataset=blocks --about organization=ACME

    Rates with intervals, models compared on the same references, why answers fail, plan and domain metrics.
    """
    from pddl_eval.report import build_report, warnings

    chosen = chosen_format(format, output)
    require_writable(output, chosen, [scored], force=force)
    made = build_report(scored, by, columns=columns, where=where, metrics=metrics, detect=detect)
    if chosen in ("csv", "json", "parquet", *FIGURES):  # The other formats show the warnings themselves.
        for warning in warnings(made):
            note(warning)
    write_report(made, chosen, output, about, force=force)
    if made.unfinished:
        sys.exit(UNFINISHED)


def write_report(
    made: Report,
    chosen: str = "terminal",
    output: str | None = None,
    about: Mapping[str, str] = MappingProxyType({}),
    *,
    force: bool = False,
) -> None:
    """Write the report in any format, to a file or folder, else to stdout."""
    from rich.console import Console

    from pddl_eval.report import files_in, report_page, report_text, save
    from pddl_eval.terminal import terminal

    if output is not None:
        for file, columns in files_in(made, output, chosen, about).items():
            require_kind(file, chosen, force=force, columns=[columns])
        if said := save(made, output, chosen, about):
            note(said)
    elif chosen == "terminal":
        Console(highlight=False).print(terminal(report_page(made)))
    else:
        sys.stdout.write(report_text(made, chosen))
