"""Where the cards of a scene stand: one layout for both sides, without overlapping cards.

Arrows that name directions make grids (``(up a b)``: a is the tile above b), arrows that make chains make towers. They
are followed in the order in which they are given, each unless it contradicts those before it: a wrong arrow of an
answer is drawn across the grid and moves nothing. Any other graph is spread out by networkx.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, chain
from typing import Any

GAP = 28.0
"""Room between cards."""

WIDTH, GRAPH_WIDTH = 340.0, 560.0
"""The width at which the parts of a scene begin a new row (a phone's), and the width of a graph."""

STEPS = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}
STEPS |= {"north": (0, -1), "south": (0, 1), "west": (-1, 0), "east": (1, 0)}

Size = tuple[float, float]
Position = tuple[float, float]
Arrow = tuple[str, str, str]
"""Source, target and label."""

Part = tuple[dict[str, Position], Size]
"""Top left corners of cards from the origin on, and the size of all."""

Cells = dict[tuple[int, int], str]
"""Cards by column and row."""


def place(sizes: Mapping[str, Size], *sides: Sequence[Arrow]) -> Part:
    """Top left corners of all cards of both sides, and the size of all; ``sides`` are the arrows of each side.

    >>> place({"a": (40, 20), "b": (40, 20)}, [("a", "b", "on")])[0] == {"a": (0, 0), "b": (0, 48)}
    True
    """
    rows: list[list[Part]] = [[]]
    x = y = right = 0.0
    for part in _parts(sizes, sides):
        if x and x + part[1][0] > WIDTH:
            rows.append([])
            x = 0.0
        rows[-1].append(part)
        x += part[1][0] + GAP / 2
    places: dict[str, Position] = {}
    for row in rows:
        x, floor = 0.0, y + max((height for _, (_, height) in row), default=0.0)
        for corners, (width, height) in row:
            places |= {name: (x + left, floor - height + top) for name, (left, top) in corners.items()}
            x += width + GAP / 2
        right, y = max(right, x - GAP / 2), floor + GAP / 2
    return places, (right, y - GAP / 2)


def _parts(sizes: Mapping[str, Size], sides: Sequence[Sequence[Arrow]]) -> list[Part]:
    """Grids, towers and spread graphs, in the order of their first cards."""
    import networkx  # slow to import, and only drawings need it

    # What is on both sides comes first, then what only the reference has.
    links = sorted(dict.fromkeys(chain(*sides)), key=lambda link: [link not in side for side in sides].count(True))
    steps = _steps(links, sides)
    grids = _grids(sizes, [link for link in links if link[2] in steps], steps)
    alone = {name for cells in grids if len(cells) == 1 for name in cells.values()}
    free = networkx.Graph(link[:2] for link in links if link[2] not in steps and alone.issuperset(link[:2]))
    parts = {frozenset(cells.values()): _grid(cells, sizes) for cells in grids if free.nodes.isdisjoint(cells.values())}
    for names in networkx.connected_components(free):
        graph = networkx.Graph()
        graph.add_nodes_from(name for name in sizes if name in names)  # in an order that no hash decides
        graph.add_edges_from(sorted(map(sorted, free.edges(names))))
        parts[frozenset(names)] = _spread(graph, sizes)
    of_card = {name: part for names, part in parts.items() for name in names}
    return list({id(of_card[name]): of_card[name] for name in sizes}.values())


def _steps(links: Sequence[Arrow], sides: Sequence[Sequence[Arrow]]) -> dict[str, tuple[int, int]]:
    """The step of each label that has one: a direction's, else up if the label's arrows make chains on one side."""
    import networkx  # slow to import, and only drawings need it

    def is_chain(label: str, side: Sequence[Arrow]) -> bool:
        graph = networkx.DiGraph(link[:2] for link in side if link[2] == label)
        degrees = chain(dict(graph.in_degree).values(), dict(graph.out_degree).values())
        return 0 < max(degrees, default=0) < 2 and networkx.is_directed_acyclic_graph(graph)

    labels = dict.fromkeys(label for _, _, label in links)
    directions = {label: STEPS[label] for label in labels if label in STEPS}
    return directions or {each: STEPS["up"] for each in labels if any(is_chain(each, side) for side in sides)}


def _grids(names: Iterable[str], links: Sequence[Arrow], steps: Mapping[str, tuple[int, int]]) -> list[Cells]:
    """All names in grids: every arrow joins two grids, unless cards of both would stand in one cell."""
    grid = {name: {(0, 0): name} for name in names}
    at = dict.fromkeys(names, (0, 0))
    for source, target, label in links:
        if grid[source] is grid[target]:
            continue
        dx, dy = (at[target][axis] + steps[label][axis] - at[source][axis] for axis in (0, 1))
        moved = {(x + dx, y + dy): name for (x, y), name in grid[source].items()}
        if moved.keys().isdisjoint(grid[target]):
            grid[target] |= moved
            for cell, name in moved.items():
                grid[name], at[name] = grid[target], cell
    return list({id(cells): cells for cells in grid.values()}.values())


def _grid(cells: Cells, sizes: Mapping[str, Size]) -> Part:
    """Cards in the middles of their cells; a column is as wide as its widest card, a row as high as its highest."""
    middles: list[dict[int, float]] = []
    extent: list[float] = []
    for axis in (0, 1):
        lines = range(min(cell[axis] for cell in cells), max(cell[axis] for cell in cells) + 1)
        widths = dict.fromkeys(lines, 0.0)
        for cell, name in cells.items():
            widths[cell[axis]] = max(widths[cell[axis]], float(sizes[name][axis]))
        starts = [0.0, *accumulate(width + GAP for width in widths.values())]
        middles.append({line: start + widths[line] / 2 for line, start in zip(lines, starts, strict=False)})
        extent.append(starts[-1] - GAP)
    corners = {
        name: (middles[0][x] - sizes[name][0] / 2, middles[1][y] - sizes[name][1] / 2) for (x, y), name in cells.items()
    }
    return corners, (extent[0], extent[1])


def _spread(graph: Any, sizes: Mapping[str, Size]) -> Part:
    """A graph by the forces of Fruchterman and Reingold, as wide as a row; overlapping cards move down."""
    import networkx  # slow to import, and only drawings need it

    points = {
        name: (float(x), float(y)) for name, (x, y) in networkx.spring_layout(graph, iterations=300, seed=1).items()
    }
    (first, *_, last) = sorted(x for x, _ in points.values())
    room = min(GRAPH_WIDTH, sum(sizes[name][0] + GAP for name in points)) - max(sizes[name][0] for name in points)
    scale = room / max(last - first, 1e-3)
    corners: dict[str, Position] = {}
    for name, (x, y) in sorted(points.items(), key=lambda each: each[1][1]):
        left, top = x * scale - sizes[name][0] / 2, y * scale - sizes[name][1] / 2
        above = [
            other_top + sizes[other][1] + GAP
            for other, (other_left, other_top) in corners.items()
            if left < other_left + sizes[other][0] + GAP and other_left < left + sizes[name][0] + GAP
        ]
        corners[name] = left, max([top, *above])
    left, top = (min(corner[axis] for corner in corners.values()) for axis in (0, 1))
    right, bottom = (max(corner[axis] + sizes[name][axis] for name, corner in corners.items()) for axis in (0, 1))
    return {name: (x - left, y - top) for name, (x, y) in corners.items()}, (right - left, bottom - top)
