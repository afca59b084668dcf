"""``pddl-eval score INPUT OUTPUT``: score a dataset, in this process, in several, or on a Ray cluster."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import asdict, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pddl_eval.commands.command import Command, note, plain_errors, say
from pddl_eval.commands.flags import READERS, argument, flags, inputs
from pddl_eval.commands.outputs import force_option, require_writable
from pddl_eval.commands.report import write_report
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.errors import FAILED, RunError, UserError, Verbosity, verbosity
from pddl_eval.settings import ReadingOptions, RunOptions, chosen_format, grouped
from pddl_eval.unchanged import ASKED, SUMMARY, question, said_before

if TYPE_CHECKING:
    from pddl_eval.run import Event, Run
    from pddl_eval.scoring.summary import RunSummary
    from pddl_eval.shown import Sections

report_to = click.option(
    "--report", "report_to", metavar="PATH", help="Also write the report: report/, report.html, tables.tex, …."
)
check = click.option("--check", is_flag=True, help="Say what is doubtful in the rows, with its cure; score nothing.")
rows_per_file = click.option(
    "--rows-per-file",
    type=click.IntRange(min=1),
    metavar="N",
    help="Merge the partitions into files of N rows.",
    hidden=True,
)

dry_run = click.option("--dry-run", is_flag=True, help="Print the shards and write nothing.")


class Score(Command):
    """The command ``score``; with ``--check``, which writes nothing, it needs no OUTPUT."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """A single path behind ``--check`` is INPUT."""
        words = list(args)
        try:
            return super().parse_args(ctx, args)
        except click.MissingParameter:
            given, *_ = self.make_parser(ctx).parse_args(list(words))
            if not (given.get("check") and isinstance(given.get("output"), str)):
                raise
            return super().parse_args(ctx, [*words, given["output"]])

    def invoke(self, ctx: click.Context) -> Any:
        """Nothing is done where nothing has changed."""
        with plain_errors(ctx):
            if self.says_again(ctx):
                return None
        return super().invoke(ctx)

    def says_again(self, ctx: click.Context) -> bool:
        """Where no byte has changed since the run was finished, what its summary has kept."""
        given = ctx.params
        if given["check"] or given["engine"] not in ("auto", "local") or any(map(given.get, SAYING_MORE)):
            return False
        ctx.meta[ASKED] = asked = _asked(given)
        said = said_before(*asked)
        if said is None or verbosity.get() is Verbosity.VERBOSE:
            return False
        for sentence in said["notes"]:
            note(sentence)
        print_sections(said["sections"], said["models"], given["output"])
        return True


SAYING_MORE = ("part", "rows_per_file", "report_to", "dry_run", "counters", "address")
"""Parameters with which it does, or says, something else than to score all rows."""


def _asked(given: Mapping[str, Any]) -> tuple[Any, list[str], str]:
    """What it is asked to score, as ``question`` takes it."""
    groups = (ReadingOptions, ScoringOptions, RunOptions)
    settings = {each.name: given[each.name] for group in groups for each in fields(group)}
    settings |= {name: READERS[name](given[name]) for name in ("columns", "key")}
    reading, scoring, _ = grouped(settings, *groups)
    output = os.path.abspath(Path(given["output"]).expanduser())  # noqa: PTH100 (as ``datasets.locate``)
    words = [output, given["inputs"], asdict(reading), asdict(scoring), scoring.comparable]
    files = [reading.references, scoring.domain if os.path.isfile(scoring.domain or "") else None]  # noqa: PTH113 (texts, too)
    return words, [*given["inputs"], *filter(None, files)], output


@click.command(cls=Score)
@inputs
@argument("output", "OUTPUT", "Folder for the scored partitions; may be s3://…. Not needed with --check.")
@flags(ReadingOptions)
@flags(ScoringOptions)
@flags(RunOptions)
@click.option("--part", metavar="I/N", help="Score the I-th of N shares of the rows, for any scheduler.")
@rows_per_file
@report_to
@force_option
@check
@dry_run
def score(
    inputs: tuple[str, ...],
    output: str,
    part: str | None,
    rows_per_file: int | None,
    report_to: str | None,
    force: bool,
    check: bool,
    dry_run: bool,
    **settings: Any,
) -> None:
    """Score a dataset of (generated, reference) pairs.

    \b
    pddl-eval score pairs.parquet scored
    pddl-eval score 'pairs/*.parquet' scored --column generated_problem=output --workers 4
    pddl-eval score pairs.parquet scored --domain logistics.pddl
    pddl-eval score answers.jsonl.gz scored
    pddl-eval score s3://bucket/pairs s3://bucket/scored --engine ray
    pddl-eval score answers.parquet scored --references problems.parquet --key id
    pddl-eval score logs/ scored --from inspect --references problems.parquet --report report/
    pddl-eval score pairs.parquet scored --part 3/32
    pddl-eval score answers.jsonl --check

    OUTPUT gets Parquet partitions: every column of INPUT unchanged, then the score columns.
    If the command is interrupted, the same command continues where it stopped. One run at a time writes into OUTPUT, or
    several parts of it, each once; a second run stops with exit code 2 and names the one that holds the folder. The
    part that finds all others done writes the summary and the report. The command status says what is missing.
    """
    from pddl_eval.datasets import has_file, locate
    from pddl_eval.run import keep_said, prepare_run, readable_input
    from pddl_eval.scoring.scorer import pair_scorer, score_dataset

    if check:
        sys.exit(print_doubts(inputs, settings))
    if dry_run:
        reading, scoring, running = grouped(settings, ReadingOptions, ScoringOptions, RunOptions)
        with readable_input(inputs, output, reading, scoring.columns, note, keep=False) as source:
            print_shards(prepare_run(source, output, pair_scorer(scoring), running.shard_rows, part))
        return
    chosen = require_outputs(inputs, output, report_to, settings, force=force)
    notes: list[str] = []

    def warn(sentence: str) -> None:
        notes.append(sentence)
        note(sentence)

    with watched_run() as watch:
        summary = score_dataset(
            inputs, output, part=part, rows_per_file=rows_per_file, watch=watch, warn=warn, **settings
        )
    models = table_of_models(summary)
    print_sections(summary.sections(), models, output)
    if (asked := click.get_current_context().meta.get(ASKED)) and (known := question(*asked)):
        again = summary.from_json(summary.to_json(), summary.output)
        keep_said(output, known, {"notes": notes, "sections": again.sections(), "models": models})
    if chosen is not None and (part is None or has_file(locate(output) / SUMMARY)):
        from pddl_eval.report import build_report  # polars, which no run needs

        write_report(build_report(output), chosen, report_to, force=force)


def print_doubts(inputs: Sequence[str], settings: dict[str, Any]) -> int:
    """What is doubtful in a dataset, and what mends it; returns the exit code."""
    from pddl_eval.commands.compare import write_page
    from pddl_eval.pages import Cell, Page, Section, Value, table
    from pddl_eval.scoring.audit import audit_dataset

    rows, doubts = audit_dataset(inputs, **settings)
    lines: list[list[Value]] = [
        [
            each.kind,
            ", ".join(f"{row:,}" for row in each.first) + ", …" * (each.rows > len(each.first)),
            Cell(each.example, each.cure),
            each.rows,
        ]
        for each in doubts
    ]
    header = ("", "rows, counted from 0", "for example, and what mends it", "how many")
    found = table("What is doubtful", header, lines, texts=2)
    title = "nothing is doubtful" if not doubts else "mend these before you score, or go on: a bad row costs one row"
    write_page(Page(f"{rows:,} rows: {title}", (), (), [Section("", (), [found] if doubts else [])]))
    return FAILED if doubts else 0


def require_outputs(
    inputs: Sequence[str], output: str, report_to: str | None, settings: dict[str, Any], *, force: bool
) -> str | None:
    """Raise ``UserError`` where a run may not write; returns the format of its report, None without one."""
    chosen = None if report_to is None else chosen_format(None, report_to)
    read = [*inputs, settings.get("references")]
    require_writable(output, "partitions", read)
    require_writable(report_to, chosen or "", [*read, output], force=force)
    if counters := settings["counters"]:
        require_writable(counters, counters.rpartition(".")[2], [*read, output], force=force)
    return chosen


def table_of_models(summary: RunSummary) -> list[tuple[str, str]]:
    """The models of a run, the best first; none of a part that is not the last, because others are to come."""
    from pddl_eval.scoring.columns import MEASURES

    found = (summary.statistics.get(name, {}) for name in MEASURES)
    if not summary.rows_missing and any(each.get("true") or each.get("false") for each in found):
        from pddl_eval.report import ranking  # polars, a third of a second
        from pddl_eval.shown import line

        with suppress(UserError, RunError):
            best = ranking(summary.output, is_whole=True)[:MOST_MODELS]
            return [(line(name, MOST_NAME), said) for name, said in best]
    return []


def print_sections(sections: Sections, models: Sequence[tuple[str, str]], output: str) -> None:
    """What was scored, by models too, and what to do next; on a terminal with colours."""
    from rich.console import Console
    from rich.text import Text

    from pddl_eval.shown import grouped, printable

    *scores, run = sections
    place = printable(shlex.quote(output))
    following = [
        ("report", f"pddl-eval report {place} --output report/"),
        ("one row", f"pddl-eval explain {place} --row 0"),
    ]
    console = Console(highlight=False, soft_wrap=True)
    headings = {heading for heading, _ in (*sections, ("Models", ()), ("Next", ()))}
    for each in map(printable, grouped([*scores, ("Models", models), ("Next", following), run]).splitlines()):
        label, gap, value = each.partition("  ")
        if each in headings:
            console.print(Text(each, "bold"))
        else:
            style = "red" if label == "score_error" else "cyan" if value.strip().startswith("pddl-eval ") else ""
            console.print(Text(label, "dim") + Text(gap + value, style))


MOST_MODELS, MOST_NAME = 20, 48
"""Models in a summary, and characters of a name."""


def print_shards(run: Run) -> None:
    """What a run would do: its shards, which of them are done, how many rows are left."""
    missing = {*run.missing}
    for shard in run.shards:
        print(f"{'to do' if shard in missing else 'done '}  {shard.rows:>8,}  {shard.name}")
    print(f"{len(run.missing):,} of {len(run.shards):,} shards to do, {run.rows_missing:,} of {run.total_rows:,} pairs")


@contextmanager
def watched_run() -> Iterator[Callable[[Event], None]]:
    """A watcher of a run that shows its progress and what goes wrong."""
    from pddl_eval.run import shown_progress

    # Ray reports dead workers on stdout, which is for the summary.
    with redirect_stdout(sys.stderr), shown_progress(lines=True) as watch:
        yield partial(_in_full, watch) if verbosity.get() is Verbosity.VERBOSE else watch


def _in_full(watch: Callable[[Event], None], event: Event) -> None:
    """Tell the watcher the event, and the user what it does not show: what the run is, and each finished shard."""
    from pddl_eval.run import Run, ShardRecord

    if isinstance(event, Run):
        source = event.source
        shards = f"{len(event.missing):,} of {len(event.shards):,} shards to do"
        say(f"{source.rows:,} pairs in {len(source.files):,} files, {shards}")
        say(f"signature {event.work.scorer.signature}")
    watch(event)
    if isinstance(event, ShardRecord):
        say(f"{event.name}: {event.rows:,} pairs in {event.seconds:.1f} s on {event.node}, attempt {event.attempt}")
