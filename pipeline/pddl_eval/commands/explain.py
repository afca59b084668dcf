"""``pddl-eval explain``: why an answer has its verdict, from two files or from a row of a dataset."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from pddl_eval.commands.arguments import column_names, domain_text
from pddl_eval.commands.cli import run_job
from pddl_eval.errors import UserError

if TYPE_CHECKING:
    from pddl_eval.explain import PairRow


def explain(
    source: Annotated[str, typer.Argument(metavar="REFERENCE.pddl|DATASET", help="The reference, or a dataset.")],
    answer: Annotated[
        Optional[str],  # noqa: UP045 (typer reads it)
        typer.Argument(metavar="ANSWER.txt", help="The raw answer; - reads stdin."),
    ] = None,
    row: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(metavar="N", help="The row of DATASET, counted from 0."),
    ] = None,
    pair_id: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(metavar="ID", help="The row of DATASET with this pair_id."),
    ] = None,
    column: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(metavar="MEANING=NAME", help="What a column is called: generated_problem=output."),
    ] = None,
    domain: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(metavar="NAME|FILE", help="If the row names no domain: a known one or a PDDL file."),
    ] = None,
    placeholder: Annotated[
        bool, typer.Option("--placeholder", help="Compare initial states and goals separately.")
    ] = False,
    html: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(metavar="FILE", help="Write a page with drawings of both problems."),
    ] = None,
    svg: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(metavar="FILE", help="Write the drawings as one picture."),
    ] = None,
) -> None:
    """Show why an answer has its verdict: what was read, what differs, what decided, the plans.

    \b
    pddl-eval explain reference.pddl answer.txt
    pddl-eval explain pairs.parquet --row 17 --html why.html
    pddl-eval explain scored/ --pair-id gpt-4o/1234 --svg why.svg
    """
    from rich.console import Console

    from pddl_eval.explain import PairRow, html_page, scenes_svg
    from pddl_eval.explain import explain as explain_pair
    from pddl_eval.run import locate, put_bytes, read_bytes

    names = column_names(column or [])
    if answer is not None:
        if row is not None or pair_id is not None or names:
            raise UserError("--row, --pair-id and --column belong to a dataset; with two files there is one pair.")
        texts = [sys.stdin.buffer.read() if text == "-" else read_bytes(locate(text)) for text in (source, answer)]
        reference, generated = (text.decode("utf-8", "replace") for text in texts)
        pair = PairRow(0, reference, generated, placeholder, None, None)
        title = f"{answer} against {source}"
    else:
        pair = _pair(source, row, pair_id, names)
        title = f"row {pair.number:,} of {source}"
        print(title + (f", scored there as {pair.verdict}" if pair.verdict else ""))
    explanation = explain_pair(
        pair.reference_problem,
        pair.generated_problem,
        is_placeholder=pair.is_placeholder or placeholder,
        domain=pair.domain or (domain_text(domain) if domain else None),
    )
    if html is not None:
        put_bytes(locate(html), html_page(explanation, title).encode())
    if svg is not None:
        put_bytes(locate(svg), scenes_svg(explanation).encode())
    Console(highlight=False).print(explanation)
    for file in filter(None, (html, svg)):
        print(f"\nwritten: {file}")


def _pair(dataset: str, row: int | None, pair_id: str | None, names: dict[str, str]) -> PairRow:
    from pddl_eval.explain import PAIR_ID, pair_at, row_of_pair

    if (row is None) == (pair_id is None):
        raise UserError(
            f"to explain a row of {dataset}, name one: --row N or --pair-id ID; to compare two files, name both"
        )
    if pair_id is not None:
        row = row_of_pair(dataset, pair_id, names.pop(PAIR_ID, PAIR_ID))
    assert row is not None
    return pair_at(dataset, row, names)


if __name__ == "__main__":
    run_job(explain)
