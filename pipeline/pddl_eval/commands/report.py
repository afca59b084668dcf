"""``pddl-eval report SCORED``: the tables and figures of a scored dataset."""

from __future__ import annotations

import sys
from io import StringIO
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Annotated, Literal, get_args

from typer import Argument, Option

from pddl_eval.commands.command import By, command, say
from pddl_eval.errors import UserError

if TYPE_CHECKING:
    from pddl_eval.report import Report

PAGE_WIDTH = 100
"""Characters in a line of a text file."""


Format = Literal["terminal", "md", "csv", "json", "html", "parquet"]


@command
def report(
    scored: Annotated[str, Argument(metavar="SCORED", help="Scored dataset: folder, file, pattern, s3:// URI.")],
    by: By = None,
    form: Annotated[Format | None, Option("--format", help="Default: the suffix of OUTPUT, else terminal.")] = None,
    output: Annotated[
        str | None, Option(metavar="PATH", help="File, or for csv and parquet a folder; or s3://….")
    ] = None,
    figures: Annotated[
        str | None, Option(metavar="FOLDER", help="Write the figures as SVG and PNG; or s3://….")
    ] = None,
    pair_on: Annotated[
        str | None, Option(metavar="COLUMN", help="Identifies a problem when models are compared.")
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
    from pddl_eval.report import build_report, warnings, write_figures

    suffix = PurePosixPath(output or "").suffix.removeprefix(".")
    chosen = form or (suffix if suffix in get_args(Format) else "terminal")
    if chosen == "parquet" and output is None:
        raise UserError("--format parquet needs --output FOLDER (or FILE.parquet for the rates alone).")
    made = build_report(scored, by, pair_on)
    if chosen in ("csv", "json", "parquet"):  # The other formats show the warnings themselves.
        for warning in warnings(made):
            say(warning)
    write_report(made, chosen, output)
    if figures is not None:
        say(f"{len(write_figures(made, figures))} figures in {figures} as svg, png and pdf")


def write_report(made: Report, chosen: str = "terminal", output: str | None = None) -> None:
    """Write the report to a file or folder, else to stdout."""
    from rich.console import Console

    from pddl_eval.pages import markdown, terminal
    from pddl_eval.report import report_html, report_json, report_page, to_csv, write_tables
    from pddl_eval.run import locate, put_bytes

    if chosen in ("csv", "parquet") and output is not None:
        write_tables(made, output, chosen)
        return
    if chosen == "terminal":
        page = StringIO()
        here = Console(highlight=False) if output is None else Console(file=page, width=PAGE_WIDTH, highlight=False)
        here.print(terminal(report_page(made)))
        text = page.getvalue()
    elif chosen == "csv":
        text = to_csv(made.main_table())
    elif chosen == "md":
        text = markdown(report_page(made))
    else:
        text = report_json(made) if chosen == "json" else report_html(made)
    if output is None:
        sys.stdout.write(text)
    else:
        put_bytes(locate(output), text.encode())
