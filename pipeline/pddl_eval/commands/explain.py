"""``pddl-eval explain``: why an answer has its verdict, from two files or from a row of a dataset."""

from __future__ import annotations

from typing import Any

import click

from pddl_eval.columns import PAIRS
from pddl_eval.commands.command import Command, note, require_all_rows
from pddl_eval.commands.flags import Known, argument, flags, is_placeholder, key
from pddl_eval.commands.outputs import force_option, require_all_writable
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.errors import UserError
from pddl_eval.shown import line, listed, printable

SHOWN = 5
"""Other rows with an id that are named."""


@click.command(cls=Command)
@argument("source", "REFERENCE.pddl|DATASET", "The reference, or a dataset.")
@argument("answer", "[ANSWER.txt]", "The raw answer; - reads stdin.", required=False)
@click.option("--row", type=int, metavar="N", help="The row of DATASET, counted from 0.")
@click.option(
    "--id", multiple=True, metavar="ID", help="The row of DATASET with this id; again for each column of --key."
)
@key("pair_id, else id, else reference_id")
@flags(ScoringOptions, "columns", "domain")
@click.option("--problem", metavar="FILE", help="With two plans: the problem they solve; with two domains: one to try.")
@click.option("--only", type=Known(PAIRS), metavar="|".join(PAIRS), help="Explain only this pair of a row.")
@is_placeholder
@click.option("--feedback", is_flag=True, help="Print what to tell the model that wrote the answer, and nothing else.")
@click.option("--html", metavar="FILE", help="Write a page with drawings of both problems.")
@click.option("--svg", metavar="FILE", help="Write the drawings as one picture.")
@click.option("--save-plan", metavar="FILE", help="Write the counterexample, else the plan.")
@force_option
def explain(
    source: str,
    answer: str | None,
    key: list[str] | None,
    only: str | None,
    is_placeholder: bool,
    feedback: bool,
    html: str | None,
    svg: str | None,
    save_plan: str | None,
    force: bool,
    **where: Any,
) -> None:
    """Show why a problem, plan or domain has its scores.

    \b
    pddl-eval explain reference.pddl answer.txt
    pddl-eval explain pairs.parquet --row 17 --html why.html
    pddl-eval explain scored/ --id gpt-4o/1234 --svg why.svg
    pddl-eval explain scored/ --row 14 --save-plan plan.txt
    pddl-eval explain plan.txt answer.txt --problem problem.pddl
    pddl-eval explain reference.pddl answer.txt --feedback
    """
    from rich.console import Console

    from pddl_eval.datasets import locate, put_bytes
    from pddl_eval.explain import PlanExplanation, explain_row, find_row, html_page, plan_file, scenes_svg, timeline_svg
    from pddl_eval.pages import render

    files = {"html": html, "svg": svg, "plan": save_plan}
    require_all_writable(files, [source, answer, where["problem"]], force=force)
    found = find_row(source, answer, on=key, **where)
    values = {**found.values, "is_placeholder": found.values.get("is_placeholder") or is_placeholder}
    if feedback:
        print(_told(values, found.options, only))
        require_all_rows(found.unfinished)
        return
    title = f"{answer} against {source}"
    if answer is None:
        title = f"row {found.number:,} of {source}"
        title += f", model {found.values['model']}" if found.values.get("model") else ""
        scored = found.verdict if only in (None, "problem") else None  # it is about the problem
        print(printable(title) + (f", scored there as {line(scored)}" if scored else ""))
        if found.error:
            print(f"not scored there: {line(found.error)}")
    if found.others:
        others = listed([f"{number:,}" for number in found.others], SHOWN)
        note(f"{len(found.others) + 1:,} rows have this id; the others are {others}: choose with --row or --key")
    explanation = explain_row(values, options=found.options, only=only)
    plan = explanation.parts.get("plan")
    is_drawn = svg is not None and explanation.problem is None
    bars = timeline_svg(plan) if is_drawn and isinstance(plan, PlanExplanation) else ""
    if explanation.problem is None and ((svg and not bars) or save_plan):
        raise UserError(
            "--svg and --save-plan are for problems, --svg also for plans with times, and there is no pair of problems."
        )
    if html is not None:
        put_bytes(locate(html), html_page(explanation, title, script=render("row.js")).encode())
    if svg is not None:
        drawn = bars if explanation.problem is None else scenes_svg(explanation.problem)
        put_bytes(locate(svg), drawn.encode())
    Console(highlight=False).print(explanation)
    if save_plan is not None and explanation.problem is not None:
        put_bytes(locate(save_plan), plan_file(explanation.problem).encode())
    for file in filter(None, files.values()):
        print(f"\nwritten: {printable(file)}")
    require_all_rows(found.unfinished)


def _told(values: dict[str, Any], options: ScoringOptions, only: str | None) -> str:
    """What to tell the model that answered."""
    from pddl_eval.scoring.feedback import row_feedback

    told = row_feedback(values, options, only)
    if told is None:
        raise UserError(f"There is no generated_{only or 'problem, generated_plan or generated_domain'}.")
    return told
