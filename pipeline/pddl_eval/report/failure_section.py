"""In words and tables: why answers fail, and rows to look at."""

from __future__ import annotations

from pddl_eval.report.build import Report
from pddl_eval.report.failures import YES
from pddl_eval.report.figures import verdict_figures
from pddl_eval.report.labels import VERDICT_MEANINGS, count, percent, words
from pddl_eval.report.page import Cell, Section, Table, table
from pddl_eval.report.rates import at_level

MOST_VERDICTS = 6
"""Verdicts in a column of their own in the table by groups."""

MOST_KINDS = 12
"""Kinds of detail on the page."""

MAIN_VERDICTS = 5
"""Verdicts of which the page shows example rows, the commonest, and besides mistakes in the data and the undecided."""


def failure_section(report: Report) -> Section | None:
    """Verdicts, kinds of detail and examples; None where there are no verdicts."""
    if report.verdicts.is_empty():
        return None
    tables = [_verdict_table(report)]
    if report.by:
        tables.append(_verdicts_by_group(report))
    if not report.details.is_empty():
        tables += [_kind_table(report), *_example_tables(report)]
    paragraphs = (
        "Verdicts in percent of all rows. Details that differ only in names count together: the arguments of an atom "
        "are written …, digits are written #.",
    )
    return Section("Why answers fail", paragraphs, tuple(tables), verdict_figures(report))


def _verdict_table(report: Report) -> Table:
    frame = at_level(report.verdicts, report.by, ())
    rows = [
        [words(verdict), VERDICT_MEANINGS.get(verdict, ""), count(rows), percent(share)]
        for verdict, rows, share in frame.select("verdict", "rows", "percent").iter_rows()
    ]
    return table("Verdicts", ("verdict", "meaning", "rows", "percent"), rows, texts=1)


def _verdicts_by_group(report: Report) -> Table:
    first = report.by[0]
    alone = at_level(report.verdicts, report.by, ())["verdict"].to_list()
    shown = [verdict for verdict in alone if verdict not in YES][:MOST_VERDICTS]
    shares: dict[str, dict[str, float]] = {}
    for record in at_level(report.verdicts, report.by, report.by[:1]).iter_rows(named=True):
        shares.setdefault(record[first], {})[record["verdict"]] = record["percent"]
    rows = [
        [
            group,
            percent(sum(share for verdict, share in found.items() if verdict in YES)),
            *(percent(found.get(verdict, 0.0)) for verdict in shown),
        ]
        for group, found in shares.items()
    ]
    header = (first, "right", *map(words, shown))
    return table(f"Commonest verdicts in percent, by {first}", header, rows)


def _kind_table(report: Report) -> Table:
    rows = [
        [words(verdict), kind, count(rows), percent(share)]
        for verdict, kind, rows, share in report.details.head(MOST_KINDS).iter_rows()
    ]
    return table(
        "Commonest details, in percent of the rows that are not right",
        ("verdict", "detail", "rows", "percent"),
        rows,
        texts=1,
    )


def _example_tables(report: Report) -> list[Table]:
    tables = []
    always = ("undecided", "reference_invalid")
    for number, ((verdict,), frame) in enumerate(report.examples.group_by("verdict", maintain_order=True)):
        if number >= MAIN_VERDICTS and verdict not in always:
            continue
        rows = [
            [
                Cell(str(record["row"]), ", ".join(record[name] for name in report.by)),
                Cell(record["detail"] or "", record["command"] or "", minor_is_code=True),
            ]
            for record in frame.iter_rows(named=True)
        ]
        header = (f"row ({', '.join(report.by)})" if report.by else "row", "detail, and the command that explains it")
        tables.append(table(f"Examples: {words(str(verdict))}", header, rows, texts=1))
    return tables
