"""Figures as files for a paper or a README: SVG always, PNG where the extra ``report`` is installed.

The PNG is the SVG as vl-convert draws it, with fonts of its own: the same on a laptop and in a bare container.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.util import find_spec

from pddl_eval.report.svg import Figure, standalone
from pddl_eval.run import locate, put_bytes

PNG_SCALE = 3
"""Pixels of a PNG for one unit of the SVG: about 300 dots an inch in a column of a paper."""


def write_figures(figures: Sequence[Figure], folder: str | os.PathLike[str]) -> tuple[str, ...]:
    """Write every figure as ``NAME.svg`` and, where that can be, ``NAME.png``; returns the suffixes written.

    The folder may be a URI. Raises ``DatasetError`` where it names nothing that can be, ``OutputError`` where it cannot
    be written.
    """
    place = locate(folder)
    draws_png = find_spec("vl_convert") is not None
    for figure in figures:
        drawing = standalone(figure)
        put_bytes(place / f"{figure.name}.svg", drawing.encode())
        if draws_png:
            put_bytes(place / f"{figure.name}.png", _png(drawing))
    return ("svg", "png") if draws_png else ("svg",)


def _png(drawing: str) -> bytes:
    from vl_convert import svg_to_png

    return bytes(svg_to_png(drawing, scale=PNG_SCALE))
