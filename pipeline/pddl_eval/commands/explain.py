"""``pddl-eval explain``: why an answer has its verdict, from two files or from a row of a dataset."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from pddl_eval.commands.command import column_names, command, flag_of
from pddl_eval.errors import UserError
from pddl_eval.options import ScoringOptions
from pddl_eval.shown import line

if TYPE_CHECKING:
    from pddl_eval.explain import PairRow


@command
def explain(
    source: Annotated[str, Argument(metavar="REFERENCE.pddl|DATASET", help="The reference, or a dataset.")],
    answer: Annotated[str | None, Argument(metavar="ANSWER.txt", help="The raw answer; - reads stdin.")] = None,
    row: Annotated[int | None, Option(metavar="N", help="The row of DATASET, counted from 0.")] = None,
    pair_id: Annotated[str | None, Option(metavar="ID", help="The row of DATASET with this pair_id.")] = None,
    column: Annotated[list[str] | None, flag_of(ScoringOptions, "columns")] = None,
    domain: Annotated[str | None, flag_of(ScoringOptions, "domain")] = None,
    placeholder: Annotated[bool, Option("--placeholder", help="Compare initial states and goals separately.")] = False,
    html: Annotated[str | None, Option(metavar="FILE", help="Write a page with drawings of both problems.")] = None,
    svg: Annotated[str | None, Option(metavar="FILE", help="Write the drawings as one picture.")] = None,
) -> None:
    """Show why an answer has its verdict.

    \b
    pddl-eval explain reference.pddl answer.txt
    pddl-eval explain pairs.parquet --row 17 --html why.html
    pddl-eval explain scored/ --pair-id gpt-4o/1234 --svg why.svg
    """
    from rich.console import Console

    from pddl_eval.explain import explain as explain_pair
    from pddl_eval.explain import html_page, scenes_svg
    from pddl_eval.run import locate, put_bytes

    columns = column_names(column or [])
    if answer is None:
        pair = _pair_of_dataset(source, row, pair_id, columns)
        title = f"row {pair.number:,} of {source}"
        print(title + (f", scored there as {line(pair.verdict)}" if pair.verdict else ""))
    elif row is None and pair_id is None and not columns:
        pair = _pair_of_files(source, answer)
        title = f"{answer} against {source}"
    else:
        raise UserError("--row, --pair-id and --column belong to a dataset; with two files there is one pair.")
    explanation = explain_pair(
        pair.reference_problem,
        pair.generated_problem,
        is_placeholder=pair.is_placeholder or placeholder,
        domain=pair.domain or domain,
    )
    if html is not None:
        put_bytes(locate(html), html_page(explanation, title).encode())
    if svg is not None:
        put_bytes(locate(svg), scenes_svg(explanation).encode())
    Console(highlight=False).print(explanation)
    for file in filter(None, (html, svg)):
        print(f"\nwritten: {file}")


def _pair_of_files(reference: str, answer: str) -> PairRow:
    from pddl_eval.explain import PairRow
    from pddl_eval.run import locate, read_bytes

    contents = [sys.stdin.buffer.read() if file == "-" else read_bytes(locate(file)) for file in (reference, answer)]
    problem, generated = (content.decode("utf-8", "replace") for content in contents)
    return PairRow(0, problem, generated, is_placeholder=False, domain=None, verdict=None)


def _pair_of_dataset(dataset: str, row: int | None, pair_id: str | None, columns: dict[str, str]) -> PairRow:
    from pddl_eval.explain import PAIR_ID, pair_at, row_of_pair

    id_column = columns.pop(PAIR_ID, PAIR_ID)
    if pair_id is not None and row is None:
        row = row_of_pair(dataset, pair_id, id_column)
    elif row is None or pair_id is not None:
        raise UserError(
            f"to explain a row of {dataset}, name one: --row N or --pair-id ID; to compare two files, name both"
        )
    return pair_at(dataset, row, columns)
