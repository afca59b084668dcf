"""``pddl-eval report SCORED``: the tables and figures of a scored dataset."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import click

from pddl_eval.commands.command import Command, note
from pddl_eval.commands.flags import argument, by, columns_option, flags, metrics
from pddl_eval.commands.outputs import force_option, require_kind, require_writable
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.errors import UNFINISHED, UserError
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
@click.option(
    "--all", "shows_all", is_flag=True, help="All tables on the terminal. Default: the first, on two screens."
)
@click.option("--table", metavar="NAME", help="One table: ranking, models-compared, …; or methods, a paragraph.")
@columns_option("--columns", "chosen_columns", help="Columns of that table: equivalent,rows,…. Default: all.")
@click.option("--wide", is_flag=True, help="Figures as wide as the text (6.9 inches). Default: as a column (3.3).")
@click.option("--about", metavar="NAME=VALUE", multiple=True, help="With --format eee|hf: dataset, organization, ….")
@force_option
@flags(ScoringOptions, "columns")
def report(
    scored: str,
    shows_all: bool,
    table: str | None,
    chosen_columns: list[str] | None,
    wide: bool,
    format: str | None,
    output: str | None,
    about: dict[str, str],
    force: bool,
    **asked: Any,
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
    pddl-eval report scored --table ranking --columns equivalent,rows --output ranking.tex
    pddl-eval report scored --table methods --format md
    pddl-eval report scored --format csv --output tables
    pddl-eval report scored --format eee --output results --about dataset=blocks --about organization=ACME

    Rates with intervals, models compared on the same references, why answers fail, plan and domain metrics.
    """
    from pddl_eval.report import build_report, report_text, warnings

    chosen = chosen_format(format, output)
    if table is None and chosen_columns:
        raise UserError("--columns are those of a table: name it with --table")
    if table is not None and chosen not in ("terminal", "md", "tex", "html"):
        raise UserError(f"one table is written as terminal, md, tex or html, not as {chosen}")
    require_writable(output, chosen, [scored], force=force)
    made = build_report(scored, **asked)
    if chosen in ("csv", "json", "parquet", *FIGURES):  # The other formats show the warnings themselves.
        for warning in warnings(made):
            note(warning)
    of_table: dict[str, Any] = {"table": table, "columns": chosen_columns}
    if table is not None and output is None:
        sys.stdout.write(report_text(made, chosen, **of_table))
    else:
        write_report(made, chosen, output, about, force=force, brief=not shows_all, **of_table, wide=wide)
    if made.unfinished:
        sys.exit(UNFINISHED)


def write_report(
    made: Report,
    chosen: str = "terminal",
    output: str | None = None,
    about: Mapping[str, str] = MappingProxyType({}),
    *,
    force: bool = False,
    brief: bool = False,
    **options: Any,
) -> None:
    """Write the report in any format, to a file or folder, else to stdout, ``brief`` or not; options as in ``save``."""
    from rich.console import Console

    from pddl_eval.report import brief_page, files_in, report_page, report_text, save
    from pddl_eval.terminal import terminal

    if output is not None:
        for file, columns in files_in(made, output, chosen, about).items():
            require_kind(file, chosen, force=force, columns=[columns])
        if said := save(made, output, chosen, about, **options):
            note(said)
    elif chosen == "terminal":
        console, page = Console(highlight=False), report_page(made)
        console.print(terminal(brief_page(page, console.width) if brief else page))
    else:
        sys.stdout.write(report_text(made, chosen))
