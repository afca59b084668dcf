"""Curves: a rate against an ordered quantity, one line a group, with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, pi, sin

from pddl_eval.report.svg import WIDTH, Figure, fit, line, polygon, text, text_width

_LEFT, _RIGHT, _TALL = 30, WIDTH - 8, 210
_DASHES = ("", "6 3", "2 3", "8 3 2 3", "4 2", "1 2")
_CORNERS = (12, 4, 3, 5, 6, 8)
"""Marks differ by their number of corners, lines by their dashes: colour is never the only difference."""

MOST_CURVES = len(_DASHES)


@dataclass(frozen=True, slots=True)
class Point:
    """A rate in percent with its interval, at the ``place``-th value of the axis."""

    place: int
    value: float
    low: float
    high: float


def curves(
    name: str,
    title: str,
    description: str,
    groups: Sequence[tuple[str, Sequence[Point]]],
    ticks: Sequence[str],
    quantity: str,
) -> Figure:
    """Up to six lines over the places that ``ticks`` name; ``quantity`` names the axis."""
    marks, top = _legend([label for label, _ in groups], 12)
    top += 6
    bottom = top + _TALL
    step = (_RIGHT - _LEFT) / max(1, len(ticks))
    for tick in (0, 25, 50, 75, 100):
        y = bottom - tick / 100 * _TALL
        marks.append(line([(_LEFT, y), (_RIGHT, y)], "faint" if tick == 0 else "grid"))
        marks.append(text(_LEFT - 6, y + 4, str(tick), size=10.5, ink="faint", anchor="end"))
    every = max(1, -(-sum(int(text_width(tick, 10)) + 6 for tick in ticks) // int(_RIGHT - _LEFT)))
    for place, label in enumerate(ticks):
        if place % every == 0:
            x = _LEFT + (place + 0.5) * step
            marks.append(text(x, bottom + 15, fit(label, every * step, 10), size=10, ink="faint", anchor="middle"))
    for number, (_, points) in enumerate(groups):
        aside = (number - (len(groups) - 1) / 2) * min(5.0, step / (len(groups) + 1))
        ink = f"series-{number}"
        spots = []
        for point in points:
            x = _LEFT + (point.place + 0.5) * step + aside
            spots.append((x, bottom - point.value / 100 * _TALL))
            bounds = [(x, bottom - bound / 100 * _TALL) for bound in (point.low, point.high)]
            marks.append(line(bounds, ink, opacity=0.5))
        marks.append(line(spots, ink, 1.8, _DASHES[number]))
        marks += [polygon(_mark(x, y, number), ink) for x, y in spots]
    marks.append(text((_LEFT + _RIGHT) / 2, bottom + 32, quantity, size=10.5, ink="faint", anchor="middle"))
    return Figure(name, title, description, bottom + 38, tuple(marks))


def _legend(labels: Sequence[str], y: float) -> tuple[list[str], float]:
    marks, x = [], 0.0
    for number, label in enumerate(labels):
        label = fit(label, WIDTH - 40, 11)
        width = 32 + text_width(label, 11) + 12
        if x and x + width > WIDTH:
            x, y = 0.0, y + 17
        ink = f"series-{number}"
        marks += [
            line([(x, y - 4), (x + 26, y - 4)], ink, 1.8, _DASHES[number]),
            polygon(_mark(x + 13, y - 4, number), ink),
            text(x + 31, y, label, size=11, ink="faint"),
        ]
        x += width
    return marks, y + 17


def _mark(x: float, y: float, number: int) -> list[tuple[float, float]]:
    corners = _CORNERS[number]
    return [
        (x + 4.2 * sin(2 * pi * corner / corners), y - 4.2 * cos(2 * pi * corner / corners))
        for corner in range(corners)
    ]
