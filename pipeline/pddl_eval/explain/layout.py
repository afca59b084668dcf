"""Where the cards of a scene stand: grids as grids, chains as towers, other graphs spread out, side by side.

Positions are top left corners in pixels. Pure geometry: sizes and arrows in, positions out.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

Size = tuple[float, float]
Position = tuple[float, float]
Link = tuple[str, str, str]
"""Source, target and label of an arrow."""

GAP = 26.0
"""Room between two cards, for an arrow and its label."""

SHELF_GAP = 14.0
"""Room between parts that no arrow joins."""

WIDTH = 520.0
"""Of a scene, unless one of its parts is wider."""

LARGEST_SPREAD = 2400.0

STEPS = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)} | {
    "north": (0, -1),
    "south": (0, 1),
    "west": (-1, 0),
    "east": (1, 0),
}
"""``(up a b)``: a is the tile above b, as in Floor Tile."""


@dataclass(frozen=True, slots=True)
class Placed:
    """Positions of all cards and the size of their bounding box."""

    positions: dict[str, Position]
    width: float
    height: float


def place(sizes: Mapping[str, Size], links: Sequence[Link], label: float = 0.0) -> Placed:
    """Positions for all cards, such that none overlap; ``label`` is the width of the longest label between two.

    >>> placed = place({"a": (40, 20), "b": (40, 20)}, [("a", "b", "on")])
    >>> placed.positions["a"], placed.positions["b"]
    ((0.0, 0.0), (0.0, 46.0))
    """
    parts = []
    for names in _components(sizes, links):
        inside = [link for link in links if link[0] in names]
        own = {name: size for name, size in sizes.items() if name in names}
        parts.append(_grid(own, inside) or _tower(own, inside) or _spread(own, inside, label))
    return _shelves(parts)


def _components(sizes: Mapping[str, Size], links: Iterable[Link]) -> list[set[str]]:
    of = {name: {name} for name in sizes}
    for source, target, _ in links:
        if of[source] is not of[target]:
            small, large = sorted((of[source], of[target]), key=len)
            large |= small
            of.update(dict.fromkeys(small, large))
    return list({id(component): component for component in of.values()}.values())


def _tower(sizes: Mapping[str, Size], links: Sequence[Link]) -> Placed | None:
    """One below the other, where the arrows make a chain."""
    below = {source: target for source, target, _ in links}
    bases = set(below.values())
    if len(below) != len(sizes) - 1 or len(bases) != len(below) or len({link[:2] for link in links}) != len(below):
        return None
    name: str | None = next(name for name in sizes if name not in bases)
    width = max(width for width, _ in sizes.values())
    positions: dict[str, Position] = {}
    y = 0.0
    while name is not None:
        positions[name] = ((width - sizes[name][0]) / 2, y)
        y += sizes[name][1] + GAP
        name = below.get(name)
    return Placed(positions, width, y - GAP)


def _grid(sizes: Mapping[str, Size], links: Sequence[Link]) -> Placed | None:
    """Rows and columns, where the arrows name directions that agree with one another."""
    steps: dict[str, list[tuple[str, int, int]]] = {name: [] for name in sizes}
    for source, target, label in links:
        if label in STEPS:
            dx, dy = STEPS[label]
            steps[target].append((source, dx, dy))
            steps[source].append((target, -dx, -dy))
    start = next(iter(sizes))
    cells = {start: (0, 0)}
    queue = [start]
    for name in queue:
        x, y = cells[name]
        for other, dx, dy in steps[name]:
            if other not in cells:
                cells[other] = (x + dx, y + dy)
                queue.append(other)
            elif cells[other] != (x + dx, y + dy):
                return None
    if len(cells) != len(sizes) or len(set(cells.values())) != len(cells):
        return None
    cell_width = max(width for width, _ in sizes.values()) + GAP
    cell_height = max(height for _, height in sizes.values()) + GAP
    middles = {name: (x * cell_width, y * cell_height) for name, (x, y) in cells.items()}
    return _around(middles, sizes)


def _spread(sizes: Mapping[str, Size], links: Sequence[Link], label: float) -> Placed:
    """Kamada and Kawai's layout by igraph, turned to the axes and scaled until no cards overlap."""
    import igraph

    names = list(sizes)
    index = {name: i for i, name in enumerate(names)}
    edges = sorted({(index[source], index[target]) for source, target, _ in links})
    points = igraph.Graph(len(names), edges).layout_kamada_kawai().coords
    points = min(
        (_turned(points, math.radians(degrees)) for degrees in range(0, 90, 5)), key=lambda p: _slant(p, edges)
    )
    scale = 1.0
    for i, (x, y) in enumerate(points):
        for j in range(i):
            dx, dy = abs(x - points[j][0]), abs(y - points[j][1])
            (width, height), (other_width, other_height) = sizes[names[i]], sizes[names[j]]
            wide = ((width + other_width) / 2 + 2 * GAP + label) / max(dx, 1e-3)
            high = ((height + other_height) / 2 + 2 * GAP) / max(dy, 1e-3)
            scale = max(scale, min(wide, high))
    scale = min(scale, LARGEST_SPREAD / max(1.0, *(abs(value) for point in points for value in point)))
    return _around({name: (x * scale, y * scale) for name, (x, y) in zip(names, points, strict=True)}, sizes)


def _turned(points: Sequence[Sequence[float]], angle: float) -> list[Position]:
    cos, sin = math.cos(angle), math.sin(angle)
    return [(x * cos - y * sin, x * sin + y * cos) for x, y in points]


def _slant(points: Sequence[Position], edges: Iterable[tuple[int, int]]) -> float:
    """How far the edges are from running along the axes."""
    return sum(min(abs(points[a][0] - points[b][0]), abs(points[a][1] - points[b][1])) for a, b in edges)


def _around(middles: Mapping[str, Position], sizes: Mapping[str, Size]) -> Placed:
    """The cards around these middles, moved so that their bounding box begins at the origin."""
    corners = {name: (x - sizes[name][0] / 2, y - sizes[name][1] / 2) for name, (x, y) in middles.items()}
    left = min(x for x, _ in corners.values())
    top = min(y for _, y in corners.values())
    positions = {name: (x - left, y - top) for name, (x, y) in corners.items()}
    width = max(x + sizes[name][0] for name, (x, _) in positions.items())
    return Placed(positions, width, max(y + sizes[name][1] for name, (_, y) in positions.items()))


def _shelves(parts: Sequence[Placed]) -> Placed:
    """The parts from left to right on shelves; what stands on one shelf shares a floor."""
    shelves: list[list[Placed]] = [[]]
    limit = max([WIDTH, *(part.width for part in parts)])
    x = 0.0
    for part in parts:
        if shelves[-1] and x + part.width > limit:
            shelves.append([])
            x = 0.0
        shelves[-1].append(part)
        x += part.width + SHELF_GAP
    positions: dict[str, Position] = {}
    y = width = 0.0
    for shelf in shelves:
        x, height = 0.0, max((part.height for part in shelf), default=0.0)
        for part in shelf:
            positions |= {name: (x + px, y + height - part.height + py) for name, (px, py) in part.positions.items()}
            x += part.width + SHELF_GAP
        width = max(width, x - SHELF_GAP)
        y += height + SHELF_GAP
    return Placed(positions, max(width, 0.0), max(y - SHELF_GAP, 0.0))
