"""The report as one HTML file that needs no network and no script, and as a fragment for notebooks.

Headings in order, captions and scopes on tables, titles and descriptions on figures. A table that is wider than the
page scrolls in its own box, which the keyboard reaches. Everything that comes from the data is escaped.
"""

from __future__ import annotations

from html import escape

from pddl_eval.report.build import Report
from pddl_eval.report.labels import clean
from pddl_eval.report.page import Cell, Section, Table
from pddl_eval.report.sections import facts, sections, title, warnings
from pddl_eval.report.style import style_sheet
from pddl_eval.report.svg import Figure, inline


def report_html(report: Report) -> str:
    """The report as a page of its own."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        # Nothing is loaded from anywhere, whatever a dataset may hold.
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>{_text(title(report))}</title>\n<style>{style_sheet()}</style>\n</head>\n"
        f"<body>\n{_body(report, 'main')}</body>\n</html>\n"
    )


def report_fragment(report: Report) -> str:
    """The report for a place in another page; brings its own style."""
    return f"<style>{style_sheet()}</style>\n{_body(report, 'div')}"


def _body(report: Report, element: str) -> str:
    shown = sections(report)
    links = "".join(
        f'<li><a href="#section-{number}">{_text(each.title)}</a></li>' for number, each in enumerate(shown)
    )
    lines = [
        f'<{element} class="pddl-eval">',
        f"<h1>{_text(title(report))}</h1>",
        *(f'<p class="warning" role="note">Warning: {_text(warning)}</p>' for warning in warnings(report)),
        *(f'<p class="about">{_text(fact)}</p>' for fact in facts(report)),
        f'<nav aria-label="Sections"><ul>{links}</ul></nav>',
        *(_section(section, number) for number, section in enumerate(shown)),
        f"</{element}>",
    ]
    return "\n".join(lines) + "\n"


def _section(section: Section, number: int) -> str:
    figures = "".join(map(_figure, section.figures))
    alone = " alone" if len(section.figures) == 1 else ""
    lines = [
        f'<section aria-labelledby="section-{number}">',
        f'<h2 id="section-{number}">{_text(section.title)}</h2>',
        *(f"<p>{_text(paragraph)}</p>" for paragraph in section.paragraphs),
        *([f'<div class="figures{alone}">{figures}</div>'] if figures else []),
        *map(_table, section.tables),
        "</section>",
    ]
    return "\n".join(lines)


def _figure(figure: Figure) -> str:
    return f"<figure><figcaption>{_text(figure.title)}</figcaption>{inline(figure)}</figure>"


def _table(table: Table) -> str:
    words = table.labels + table.texts
    kinds = [' class="words"' if place < words else "" for place in range(len(table.header))]
    header = "".join(
        f'<th scope="col"{kind}>{_text(name)}</th>' for kind, name in zip(kinds, table.header, strict=True)
    )
    rows = "\n".join(f"<tr>{_row(table, row, kinds)}</tr>" for row in table.rows)
    caption = _text(table.caption)
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{caption}"><table>\n'
        f"<caption><span>{caption}</span></caption>\n"
        f"<thead><tr>{header}</tr></thead>\n<tbody>\n{rows}\n</tbody></table></div>"
    )


def _row(table: Table, row: tuple[Cell, ...], kinds: list[str]) -> str:
    return "".join(
        f'<th scope="row"{kind}>{_cell(cell)}</th>' if place < table.labels else f"<td{kind}>{_cell(cell)}</td>"
        for place, (cell, kind) in enumerate(zip(row, kinds, strict=True))
    )


def _cell(cell: Cell) -> str:
    if not cell.minor:
        return _text(cell.text)
    element = "code" if cell.minor_is_code else "small"
    return f"{_text(cell.text)} <{element}>{_text(cell.minor)}</{element}>"


def _text(content: str) -> str:
    return escape(clean(content))
