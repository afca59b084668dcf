"""``pddl-eval report SCORED``: the tables and figures of a scored dataset."""

from __future__ import annotations

import sys
from io import StringIO
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Annotated, Literal, cast, get_args

import typer
from typer import Argument, Option

from pddl_eval.commands.command import UNFINISHED, By, command, flag_of, note
from pddl_eval.commands.completion import one_column
from pddl_eval.errors import UserError, require_extra
from pddl_eval.options import ScoringOptions

if TYPE_CHECKING:
    from pddl_eval.report import Report

FAILURES = 500
"""Rows explained in a folder of pages, at most."""

PAGE_WIDTH = 100
"""Characters in a line of a text file."""


Format = Literal["terminal", "md", "tex", "csv", "json", "html", "parquet", "folder"]

SUFFIXES: dict[str, Format] = {"": "folder", "txt": "terminal"}
SUFFIXES |= {each: each for each in get_args(Format) if each not in SUFFIXES.values()}
"""What the name of an output ends in, and the format that this means."""

Size = Annotated[
    str | None,
    Option(
        metavar="COLUMN",
        help="What tells a size: size_bucket, num_objects, reference_problem (its atoms), reference_plan_length.",
        autocompletion=one_column,
    ),
]


@command
def report(
    scored: Annotated[str, Argument(metavar="SCORED", help="Scored dataset: folder, file, pattern, s3:// URI.")],
    by: By = None,
    form: Annotated[Format | None, Option("--format", help="Default: the suffix of OUTPUT, else terminal.")] = None,
    output: Annotated[
        str | None, Option(metavar="PATH", help="File, or a folder: of pages, of csv or parquet; or s3://….")
    ] = None,
    figures: Annotated[
        str | None, Option(metavar="FOLDER", help="Write the figures as SVG, PNG and PDF; or s3://….")
    ] = None,
    failures: Annotated[
        int, Option(metavar="N", help="Rows that are not right, shown and explained in a folder of pages.")
    ] = FAILURES,
    size: Size = None,
    columns: Annotated[list[str] | None, flag_of(ScoringOptions, "columns")] = None,
) -> None:
    """Turn a scored dataset into the tables and figures of a paper.

    \b
    pddl-eval report scored
    pddl-eval report scored --by model,domain,split
    pddl-eval report scored --output report/
    pddl-eval report scored --output report.html --figures figures
    pddl-eval report scored --output tables.tex --column reference_id=question
    pddl-eval report scored --format csv --output tables

    Rates with intervals, models compared on the same references, why answers fail, plan and domain metrics.
    """
    from pddl_eval.report import build_report, warnings, write_figures

    chosen = chosen_format(form, output)
    if figures is not None:
        require_extra("figures", "--figures")
    named = cast("dict[str, str] | None", columns)  # A mapping by now.
    made = build_report(scored, by, columns=named, size=size)
    if chosen in ("csv", "json", "parquet"):  # The other formats show the warnings themselves.
        for warning in warnings(made):
            note(warning)
    write_as(made, chosen, output, failures)
    if figures is not None:
        note(f"{len(write_figures(made, figures))} figures in {figures} as svg, png and pdf")
    if made.unfinished:
        raise typer.Exit(UNFINISHED)


def chosen_format(form: Format | None, output: str | None) -> Format:
    """The format that was asked for, else that of the output's suffix; raises ``UserError`` if it cannot be made."""
    suffix = PurePosixPath(output or "").suffix.removeprefix(".").lower()
    if form is None and output is not None and suffix not in SUFFIXES:
        known = ", ".join(f".{each}" for each in SUFFIXES if each)
        raise UserError(f"--output {output} does not end in a known suffix ({known}): choose one, or say --format.")
    chosen = form or ("terminal" if output is None else SUFFIXES[suffix])
    if chosen in ("parquet", "folder") and output is None:
        raise UserError(f"--format {chosen} needs --output FOLDER.")
    if chosen in ("html", "folder"):
        require_extra("figures", "A report with figures")
    return chosen


def built(scored: str) -> Report:
    """The report of a dataset as ``pddl-eval report`` makes it when nothing else is said."""
    from pddl_eval.report import build_report

    return build_report(scored)


def write_as(made: Report, chosen: Format, output: str | None, failures: int = FAILURES) -> None:
    """Write the report in that format: also as a folder of pages, with its failures explained."""
    from pddl_eval.viewer import INDEX, write_folder

    if chosen == "folder" and output is not None:
        note(f"{write_folder(made, output, failures):,} rows explained; open {output.rstrip('/')}/{INDEX}")
    else:
        write_report(made, chosen, output)


def write_report(made: Report, chosen: str = "terminal", output: str | None = None) -> None:
    """Write the report to a file or folder, else to stdout."""
    from rich.console import Console

    from pddl_eval.datasets import locate, put_bytes
    from pddl_eval.pages import markdown, terminal
    from pddl_eval.report import latex, report_html, report_json, report_page, to_csv, write_tables

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
    elif chosen in ("md", "tex"):
        text = (markdown if chosen == "md" else latex)(report_page(made))
    else:
        text = report_json(made) if chosen == "json" else report_html(made)
    if output is None:
        sys.stdout.write(text)
    else:
        put_bytes(locate(output), text.encode())
