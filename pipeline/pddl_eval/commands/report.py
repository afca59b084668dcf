"""``pddl-eval report SCORED``: the tables and figures of a scored dataset."""

from __future__ import annotations

import sys
from enum import StrEnum
from io import StringIO
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Annotated

import typer

from pddl_eval.commands.command import command, say
from pddl_eval.errors import UserError

if TYPE_CHECKING:
    from pddl_eval.report import Report

PAGE_WIDTH = 100
"""Characters in a line of a text file."""


class Format(StrEnum):
    """How the report is written."""

    TERMINAL = "terminal"
    MARKDOWN = "md"
    CSV = "csv"
    JSON = "json"
    HTML = "html"
    PARQUET = "parquet"


@command
def report(
    scored: Annotated[str, typer.Argument(metavar="SCORED", help="Scored dataset: folder, file, pattern, s3:// URI.")],
    by: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN,…", help="Group by these, '' for none. Default: model,domain.")
    ] = None,
    form: Annotated[
        Format | None, typer.Option("--format", help="Default: the suffix of OUTPUT, else terminal.")
    ] = None,
    output: Annotated[
        str | None, typer.Option(metavar="PATH", help="File, or for csv and parquet a folder; may be s3://….")
    ] = None,
    figures: Annotated[
        str | None, typer.Option(metavar="FOLDER", help="Write the figures as SVG and PNG; may be s3://….")
    ] = None,
    pair_on: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="What identifies a problem when models are compared.")
    ] = None,
) -> None:
    """Turn a scored dataset into the tables and figures of a paper.

    \b
    pddl-eval report scored
    pddl-eval report scored --by model,domain,split
    pddl-eval report scored --output report.html --figures figures
    pddl-eval report scored --format csv --output tables

    Rates with intervals, models compared on the same problems, why answers fail, plan and domain metrics.
    """
    from pddl_eval.report import build_report
    from pddl_eval.report.figure_files import write_figures
    from pddl_eval.report.figures import all_figures
    from pddl_eval.report.sections import warnings

    suffix = PurePosixPath(output or "").suffix.removeprefix(".")
    chosen = form or (Format(suffix) if suffix in [*Format] else Format.TERMINAL)
    if chosen == Format.PARQUET and output is None:
        raise UserError("--format parquet needs --output FOLDER (or FILE.parquet for the rates alone).")
    made = build_report(scored, by, pair_on)
    if chosen in (Format.CSV, Format.JSON, Format.PARQUET):  # The other formats show the warnings themselves.
        for warning in warnings(made):
            say(warning)
    write_report(made, chosen, output)
    if figures is not None:
        drawn = all_figures(made)
        say(f"{len(drawn)} figures in {figures} as {' and '.join(write_figures(drawn, figures))}")


def write_report(made: Report, chosen: Format = Format.TERMINAL, output: str | None = None) -> None:
    """Write the report to a file or folder, else to stdout."""
    from rich.console import Console

    from pddl_eval.dataset.locations import locate, put_bytes
    from pddl_eval.report.files import report_json, write_tables
    from pddl_eval.report.html import report_html
    from pddl_eval.report.markdown import report_markdown
    from pddl_eval.report.terminal import print_report

    if chosen in (Format.CSV, Format.PARQUET) and output is not None:
        write_tables(made, output, chosen.value)
        return
    if chosen == Format.TERMINAL:
        page = StringIO()
        here = Console(highlight=False) if output is None else Console(file=page, width=PAGE_WIDTH, highlight=False)
        print_report(made, here)
        text = page.getvalue()
    elif chosen == Format.CSV:
        text = made.main_table().write_csv()
    else:
        text = {Format.MARKDOWN: report_markdown, Format.JSON: report_json, Format.HTML: report_html}[chosen](made)
    if output is None:
        sys.stdout.write(text)
    else:
        put_bytes(locate(output), text.encode())
