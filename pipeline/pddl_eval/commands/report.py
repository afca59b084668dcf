"""``pddl-eval report SCORED``: the tables and figures of a scored dataset."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from pddl_eval.commands.cli import run_job
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


def report(
    scored: Annotated[str, typer.Argument(metavar="SCORED", help="Scored dataset: folder, file, pattern, s3:// URI.")],
    by: Annotated[
        Optional[list[str]],  # noqa: UP045 (typer reads it)
        typer.Option(metavar="COLUMN,…", help="Group by these, '' for none. Default: model,domain."),
    ] = None,
    format: Annotated[
        Optional[Format],  # noqa: UP045
        typer.Option(help="Default: what OUTPUT's name ends in, else terminal."),
    ] = None,
    output: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(metavar="PATH", help="File, or for csv and parquet a folder; may be s3://…."),
    ] = None,
    figures: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(metavar="FOLDER", help="Write the figures as SVG and PNG; may be s3://…."),
    ] = None,
    pair_on: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(metavar="COLUMN", help="What identifies a problem when models are compared."),
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
    from pddl_eval.report.sections import warnings

    chosen = format or _format_of(output)
    if chosen == Format.PARQUET and output is None:
        raise UserError("--format parquet needs --output FOLDER (or FILE.parquet for the rates alone).")
    names = [name for part in by for name in part.split(",") if name] if by else None
    made = build_report(scored, names, pair_on)
    if chosen not in (Format.TERMINAL, Format.MARKDOWN, Format.HTML):
        for warning in warnings(made):
            print(f"pddl-eval: {warning}", file=sys.stderr)
    _write(made, chosen, output)
    if figures is not None:
        _draw(made, figures)


def _format_of(output: str | None) -> Format:
    """What the output's name ends in."""
    suffix = PurePosixPath(output or "").suffix.removeprefix(".")
    return Format(suffix) if suffix in [*Format] else Format.TERMINAL


def _write(made: Report, chosen: Format, output: str | None) -> None:
    from pddl_eval.report.files import report_json, write_tables
    from pddl_eval.report.html import report_html
    from pddl_eval.report.markdown import report_markdown
    from pddl_eval.run import locate, put_bytes

    if chosen in (Format.CSV, Format.PARQUET) and output is not None:
        write_tables(made, output, chosen.value)
    elif chosen == Format.TERMINAL and output is None:
        _print(made)
    else:
        render = {
            Format.TERMINAL: _plain_text,
            Format.MARKDOWN: report_markdown,
            Format.JSON: report_json,
            Format.HTML: report_html,
            Format.CSV: lambda each: each.main_table().write_csv(),
        }
        text = render[chosen](made)
        if output is None:
            sys.stdout.write(text)
        else:
            put_bytes(locate(output), text.encode())


def _print(made: Report) -> None:
    from rich.console import Console

    from pddl_eval.report.terminal import print_report

    print_report(made, Console(highlight=False))


def _plain_text(made: Report) -> str:
    from io import StringIO

    from rich.console import Console

    from pddl_eval.report.terminal import print_report

    page = StringIO()
    print_report(made, Console(file=page, width=PAGE_WIDTH, highlight=False))
    return page.getvalue()


def _draw(made: Report, folder: str) -> None:
    from pddl_eval.report.figure_files import write_figures
    from pddl_eval.report.figures import all_figures

    found = all_figures(made)
    suffixes = write_figures(found, folder)
    print(f"pddl-eval: {len(found)} figures in {folder} as {' and '.join(suffixes)}", file=sys.stderr)
    if "png" not in suffixes:
        print("pddl-eval: for PNG as well: pip install 'pddl-eval[report]'", file=sys.stderr)


if __name__ == "__main__":
    run_job(report)
