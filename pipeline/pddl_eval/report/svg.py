"""Figures as SVG: a few marks with named inks, the same in a page (light or dark) and in a file for a paper.

Every mark carries its light colour as an attribute, which any program that reads SVG understands, and its ink as a
class, through which a page's style sheet gives it the colour of the reader's scheme.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from html import escape

from pddl_eval.report.labels import clean

WIDTH = 420
"""Of every figure: a column of a paper, and near enough a phone's to be readable there without zooming."""

INKS = {
    "ink": ("#1b1f24", "#e6e9ee"),
    "faint": ("#5a6370", "#a3adba"),
    "grid": ("#dde1e6", "#333a44"),
    "paper": ("#ffffff", "#15181d"),
    "parseable": ("#87909e", "#8f99a8"),
    "solvable": ("#2a9387", "#45b8aa"),
    "equivalent_untyped": ("#c77700", "#f0a33c"),
    "equivalent": ("#2457a6", "#6ea8fe"),
    "series-0": ("#2457a6", "#6ea8fe"),
    "series-1": ("#a86400", "#f0a33c"),
    "series-2": ("#1c7a70", "#45b8aa"),
    "series-3": ("#b5364e", "#f0718a"),
    "series-4": ("#7a4fa3", "#b995e0"),
    "series-5": ("#55751f", "#a3c76a"),
    "series-6": ("#7a4b2a", "#c99b76"),
    "series-7": ("#6d7683", "#9aa5b4"),
}
"""Colours on a light and on a dark page. Against the page, texts have a contrast of 4.5:1 (and so has the page's colour
as a text on a series), marks one of 3:1; only the grid is fainter."""

SERIES = 8


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawing with its file name (without suffix), its title and, in words, what it shows."""

    name: str
    title: str
    description: str
    height: float
    marks: tuple[str, ...]


_CHARACTER = 0.58
"""Width of a character for each unit of the font's size, in a wide sans-serif."""


def rect(x: float, y: float, width: float, height: float, ink: str) -> str:
    """A filled rectangle."""
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0):.1f}" height="{height:.1f}" {_fill(ink)}/>'


def line(
    points: Sequence[tuple[float, float]], ink: str, width: float = 1.0, dashes: str = "", opacity: float = 1.0
) -> str:
    """A line through the points."""
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    dashed += f' stroke-opacity="{opacity:g}"' if opacity < 1 else ""
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline points="{path}" fill="none" {_stroke(ink)} stroke-width="{width:g}"{dashed}/>'


def polygon(points: Sequence[tuple[float, float]], ink: str) -> str:
    """A filled polygon."""
    return f'<polygon points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}" {_fill(ink)}/>'


def text(
    x: float, y: float, content: str, *, ink: str = "ink", size: float = 12, anchor: str = "start", bold: bool = False
) -> str:
    """A line of text whose baseline is at y."""
    weight = ' font-weight="600"' if bold else ""
    place = f'x="{x:.1f}" y="{y:.1f}" font-size="{size:g}" text-anchor="{anchor}"{weight} {_fill(ink)}'
    return f"<text {place}>{escape(clean(content))}</text>"


def text_width(content: str, size: float = 12) -> float:
    """About how wide a text is, with some room to spare; the reader's font is not known."""
    return size * sum(1.0 if unicodedata.east_asian_width(each) in "WF" else _CHARACTER for each in content)


def fit(content: str, width: float, size: float = 12) -> str:
    """The text cut to a width.

    >>> fit("gemma-2-27b-it", 60)
    'gemma-2…'
    """
    longest = int(width / (_CHARACTER * size)) + 1
    if len(content) <= longest and text_width(content, size) <= width:
        return content
    content = content[:longest]
    while content and text_width(content + "…", size) > width:
        content = content[:-1]
    return content + "…"


def legend(entries: Sequence[tuple[str, str]], y: float) -> tuple[list[str], float]:
    """Swatches with (label, ink), wrapped to the figure's width, and the y below them."""
    marks, x = [], 0.0
    for label, ink in entries:
        label = fit(label, WIDTH - 20, 11)
        width = 16 + text_width(label, 11) + 12
        if x and x + width > WIDTH:
            x, y = 0.0, y + 17
        marks += [rect(x, y - 9, 10, 10, ink), text(x + 15, y, label, size=11, ink="faint")]
        x += width
    return marks, y + 17


def inline(figure: Figure) -> str:
    """The figure as an element of a page, named for screen readers by its title and description."""
    key = blake2b((figure.name + figure.description).encode(), digest_size=5).hexdigest()
    return (
        f'<svg viewBox="0 0 {WIDTH} {figure.height:.0f}" role="img" aria-labelledby="t{key} d{key}">'
        f'<title id="t{key}">{escape(clean(figure.title))}</title>'
        f'<desc id="d{key}">{escape(clean(figure.description))}</desc>'
        f"{''.join(figure.marks)}</svg>"
    )


def standalone(figure: Figure) -> str:
    """The figure as a file of its own, dark on white, under its title.

    >>> standalone(Figure("empty", "Nothing", "Nothing at all", 10, ()))[:38]
    '<svg xmlns="http://www.w3.org/2000/svg'
    """
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-8 -32 {WIDTH + 16} {figure.height + 40:.0f}" '
        f'width="{WIDTH + 16}" height="{figure.height + 40:.0f}" role="img" '
        "font-family=\"Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif\">"
    )
    title = f"<title>{escape(clean(figure.title))}</title><desc>{escape(clean(figure.description))}</desc>"
    paper = rect(-8, -32, WIDTH + 16, figure.height + 40, "paper")
    heading = text(0, -12, fit(figure.title, WIDTH, 14), size=14, bold=True)
    return f"{head}{title}{paper}{heading}{''.join(figure.marks)}</svg>\n"


def _fill(ink: str) -> str:
    return f'class="fill-{ink}" fill="{INKS[ink][0]}"'


def _stroke(ink: str) -> str:
    return f'class="stroke-{ink}" stroke="{INKS[ink][0]}"'
