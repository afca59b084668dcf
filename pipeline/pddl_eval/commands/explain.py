"""``pddl-eval explain``: why an answer has its verdict, from two files or from a row of a dataset."""

from __future__ import annotations

from typing import Annotated, cast

from typer import Argument, Option

from pddl_eval.commands.command import IsPlaceholder, command, flag_of
from pddl_eval.commands.completion import choices, several_columns
from pddl_eval.errors import UserError
from pddl_eval.options import PAIRS, ScoringOptions
from pddl_eval.shown import line, printable


@command
def explain(
    source: Annotated[str, Argument(metavar="REFERENCE.pddl|DATASET", help="The reference, or a dataset.")],
    answer: Annotated[str | None, Argument(metavar="ANSWER.txt", help="The raw answer; - reads stdin.")] = None,
    row: Annotated[int | None, Option(metavar="N", help="The row of DATASET, counted from 0.")] = None,
    id: Annotated[
        list[str] | None, Option(metavar="ID", help="The row of DATASET with this id; again for each column of --on.")
    ] = None,
    on: Annotated[
        list[str] | None,
        Option(
            metavar="COLUMN,…",
            help="What identifies a row. Default: pair_id, else id, else reference_id.",
            autocompletion=several_columns,
        ),
    ] = None,
    columns: Annotated[list[str] | None, flag_of(ScoringOptions, "columns")] = None,
    domain: Annotated[str | None, flag_of(ScoringOptions, "domain")] = None,
    problem: Annotated[
        str | None, Option(metavar="FILE", help="With two files of plans: the problem they solve.")
    ] = None,
    only: Annotated[
        str | None,
        Option(metavar="|".join(PAIRS), help="Explain only this pair of a row.", autocompletion=choices(PAIRS)),
    ] = None,
    is_placeholder: IsPlaceholder = False,
    html: Annotated[str | None, Option(metavar="FILE", help="Write a page with drawings of both problems.")] = None,
    svg: Annotated[str | None, Option(metavar="FILE", help="Write the drawings as one picture.")] = None,
    save_plan: Annotated[str | None, Option(metavar="FILE", help="Write the counterexample, else the plan.")] = None,
) -> None:
    """Show why a problem, plan or domain has its scores.

    \b
    pddl-eval explain reference.pddl answer.txt
    pddl-eval explain pairs.parquet --row 17 --html why.html
    pddl-eval explain scored/ --id gpt-4o/1234 --svg why.svg
    pddl-eval explain scored/ --row 14 --save-plan plan.txt
    pddl-eval explain plan.txt answer.txt --problem problem.pddl
    """
    from rich.console import Console

    from pddl_eval.datasets import locate, put_bytes
    from pddl_eval.explain import explain_row, find_row, html_page, plan_file, scenes_svg

    named = cast("dict[str, str] | None", columns)  # ``command`` has read them.
    found = find_row(source, answer, row=row, id=id, on=on, columns=named, domain=domain, problem=problem)
    title = f"{answer} against {source}"
    if answer is None:
        title = f"row {found.number:,} of {source}"
        title += f", model {found.values['model']}" if found.values.get("model") else ""
        scored = found.verdict if only in (None, "problem") else None  # it is about the problem
        print(printable(title) + (f", scored there as {line(scored)}" if scored else ""))
        if found.error:
            print(f"not scored there: {line(found.error)}")
    values = {**found.values, "is_placeholder": found.values.get("is_placeholder") or is_placeholder}
    explanation = explain_row(values, found.options, only=only)
    if explanation.problem is None and (svg or save_plan):
        raise UserError("--svg and --save-plan are for problems, and there is no pair of problems.")
    if html is not None:
        put_bytes(locate(html), html_page(explanation, title).encode())
    if svg is not None and explanation.problem is not None:
        put_bytes(locate(svg), scenes_svg(explanation.problem).encode())
    Console(highlight=False).print(explanation)
    if save_plan is not None and explanation.problem is not None:
        put_bytes(locate(save_plan), plan_file(explanation.problem).encode())
    for file in filter(None, (html, svg, save_plan)):
        print(f"\nwritten: {printable(file)}")
