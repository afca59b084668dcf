"""Bars: grouped (the paper's figures 3 and 4), stacked (verdicts) and of a histogram."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pddl_eval.report.labels import percent
from pddl_eval.report.svg import WIDTH, Figure, fit, legend, line, rect, text, text_width

_LEFT, _RIGHT = 2, 372
_BAR, _GAP, _GROUP = 11, 3, 26


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of ``value`` percent with its interval; ``ink`` says which of the series it belongs to."""

    ink: str
    value: float
    low: float
    high: float


def grouped_bars(
    name: str,
    title: str,
    description: str,
    groups: Sequence[tuple[str, Sequence[Bar]]],
    series: Sequence[tuple[str, str]],
) -> Figure:
    """Horizontal bars from 0 to 100 %, group under group, each with its interval and its value.

    ``series`` are the (label, ink) of the legend.
    """
    marks, top = legend(series, 12)
    top += 2
    bottom = top + sum(_GROUP + len(bars) * (_BAR + _GAP) for _, bars in groups)
    marks += _percent_axis(top, bottom)
    y = float(top)
    for label, bars in groups:
        marks.append(text(_LEFT + 4, y + 17, fit(label, WIDTH - 6), bold=True))
        y += _GROUP - 3
        for bar in bars:
            middle, end = y + _BAR / 2, _x(bar.high)
            marks += [
                rect(_LEFT, y, _x(bar.value) - _LEFT, _BAR, bar.ink),
                line([(_x(bar.low), middle), (end, middle)], "ink"),
                *(line([(_x(bound), middle - 3), (_x(bound), middle + 3)], "ink") for bound in (bar.low, bar.high)),
                text(end + 6, y + 10, percent(bar.value), size=11),
            ]
            y += _BAR + _GAP
        y += 3
    return Figure(name, title, description, bottom + 20, tuple(marks))


def stacked_bars(
    name: str,
    title: str,
    description: str,
    groups: Sequence[tuple[str, Sequence[float]]],
    series: Sequence[tuple[str, str]],
) -> Figure:
    """One bar of 100 % for each group, its parts in the order of the legend ``series`` of (label, ink)."""
    marks, top = legend(series, 12)
    top += 2
    height = 18
    scale = WIDTH - 2
    y = top
    for label, parts in groups:
        marks.append(text(_LEFT, y + 14, fit(label, WIDTH), bold=True))
        x, y = 1.0, y + 20
        for part, (_, ink) in zip(parts, series, strict=True):
            width = part / 100 * scale
            if width > 0.5:
                # A thin line of paper keeps neighbours apart for those who do not tell their colours apart.
                marks.append(rect(x, y, max(width - 1, 0.5), height, ink))
            caption = f"{part:.0f}"
            if width > text_width(caption, 10) + 6:
                marks.append(text(x + width / 2, y + 13, caption, size=10, anchor="middle", ink="paper", bold=True))
            x += width
        y += height + 6
    marks.append(text(_LEFT, y + 12, "percent of rows", size=10.5, ink="faint"))
    return Figure(name, title, description, y + 18, tuple(marks))


def histogram_rows(
    name: str, title: str, description: str, groups: Sequence[tuple[str, Sequence[float]]], ticks: Sequence[str]
) -> Figure:
    """A row of upright bars for each group: the share of its rows in each bin; ``ticks`` name the bins.

    Each row of bars is scaled to the largest of all, so that rows can be compared.
    """
    largest = max(share for _, shares in groups for share in shares) or 1.0
    width = (WIDTH - 4) / len(ticks)
    tall = 44.0
    marks: list[str] = []
    y = 0.0
    for label, shares in groups:
        marks.append(text(_LEFT, y + 13, fit(label, WIDTH), size=11.5, bold=True))
        base = y + 28 + tall
        for place, share in enumerate(shares):
            x, height = 2 + place * width, share / largest * tall
            marks.append(rect(x + 1, base - height, width - 2, height, "series-0"))
            if share >= 0.5:
                marks.append(text(x + width / 2, base - height - 3, f"{share:.0f}", size=10, anchor="middle"))
        marks.append(line([(2, base), (WIDTH - 2, base)], "faint"))
        y = base + 8
    for place, tick in enumerate(ticks):
        marks.append(text(2 + (place + 0.5) * width, y + 8, tick, size=9, ink="faint", anchor="middle"))
    marks.append(text(_LEFT, y + 24, "percent of the group's rows in each bin", size=10.5, ink="faint"))
    return Figure(name, title, description, y + 30, tuple(marks))


def _x(value: float) -> float:
    return _LEFT + value / 100 * (_RIGHT - _LEFT)


def _percent_axis(top: float, bottom: float) -> list[str]:
    marks = []
    for tick in (0, 25, 50, 75, 100):
        x = _x(tick)
        marks.append(line([(x, top), (x, bottom)], "faint" if tick == 0 else "grid"))
        label = f"{tick} %" if tick == 100 else str(tick)
        anchor = "start" if tick == 0 else "middle"
        marks.append(text(x, bottom + 14, label, size=10.5, ink="faint", anchor=anchor))
    return marks
