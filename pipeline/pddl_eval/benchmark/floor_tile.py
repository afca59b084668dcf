"""Floor Tile: robots that paint tiles in a grid or in rows (the paper's appendix D).

Tiles are numbered row by row from the top left. What robots can do is in ``planning_domains.floor_tile``, not here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate, chain, combinations_with_replacement, pairwise

from pddl_eval.benchmark.scene import Scene, TaskDomain, counted, numbered
from pddl_eval.model import Atom

LARGEST_SIDE = 7
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh")


@dataclass(frozen=True, slots=True)
class Floor:
    """Tiles in rows of the given lengths, with so many colours and robots; a grid has rows of one length."""

    rows: tuple[int, ...]
    colors: int
    robots: int

    @property
    def tiles(self) -> list[str]:
        return numbered("tile", sum(self.rows))

    @property
    def color_names(self) -> list[str]:
        return numbered("color", self.colors)

    @property
    def height(self) -> int:
        return len(self.rows)

    @property
    def width(self) -> int:
        return self.rows[0]

    @property
    def is_square(self) -> bool:
        return self.height == self.width

    def tile(self, row: int, column: int) -> str:
        return f"tile{row * self.width + column + 1}"

    def cells(self) -> Iterator[tuple[str, int, int]]:
        """Each tile of a grid with its row and column."""
        return ((self.tile(row, column), row, column) for row in range(self.height) for column in range(self.width))


def grid(floor: Floor) -> Scene:
    """Grid (initial only): a rectangle with robots in its corners, or along it where it is one tile wide or high."""
    last_row, last_column = floor.height - 1, floor.width - 1
    corners = [(0, 0), (last_row, 0), (last_row, last_column), (0, last_column)]
    standing = [floor.tile(*corner) for corner in corners]
    places = [f"in the {corner} corner" for corner in ("top left", "bottom left", "bottom right", "top right")]
    if 1 in (floor.height, floor.width):
        standing = floor.tiles
        places = [f"on the {ordinal} tile" for ordinal in ORDINALS]
    words = f"{counted(floor.height, 'row')} of {floor.width} unpainted tiles in a grid; {_crew(floor, places)}"
    return Scene((*_neighbours(floor), *_robots(floor, standing), *_available(floor)), words)


def rings(floor: Floor) -> Scene | None:
    """Rings (initial only): a square with robots along its diagonal and two colours for three tiles of a side."""
    if not floor.is_square or floor.width < 3 or floor.robots > floor.width or floor.colors != 2 * floor.width // 3:
        return None
    places = [f"on the {ordinal} tile of the diagonal" for ordinal in ORDINALS]
    diagonal = [floor.tile(step, step) for step in range(floor.width)]
    words = f"{floor.height} rows of {floor.width} unpainted tiles in concentric rings; {_crew(floor, places)}"
    return Scene((*_available(floor), *_robots(floor, diagonal), *_neighbours(floor)), words)


def painted_rings(floor: Floor) -> Scene | None:
    """Painted rings (goal only): the tiles at one distance from the border share a colour that no others have."""
    if not floor.is_square or floor.colors < (floor.width + 1) // 2:
        return None
    last = floor.width - 1
    painted = [_painted(tile, min(row, column, last - row, last - column)) for tile, row, column in floor.cells()]
    return Scene((*_available(floor), *painted), "each ring painted in a colour of its own, all colours available")


def paint_all(floor: Floor) -> Scene | None:
    """Paint all (goal only): every tile in one colour, of two or three."""
    if floor.colors not in (2, 3):
        return None
    return Scene(tuple(_painted(tile, 0) for tile in floor.tiles), "every tile painted in the same colour")


def paint_x(floor: Floor) -> Scene | None:
    """Painted X (goal only): both diagonals of a square in one colour, all else in the other where there is one."""
    if not floor.is_square or floor.colors > 2:
        return None
    last = floor.width - 1
    on_x = [floor.tile(row, column) for row in range(floor.height) for column in (row, last - row)]
    painted = [_painted(tile, 0) for tile in on_x]
    if floor.colors == 1:
        return Scene(tuple(painted), "the tiles of both diagonals painted")
    others = [_painted(tile, 1) for tile in floor.tiles if tile not in on_x]
    return Scene((*painted, *others), "the tiles of both diagonals painted in one colour, all others in the other")


def all_different(floor: Floor) -> Scene | None:
    """One tile, one colour (goal only): as many colours as tiles."""
    if floor.colors != len(floor.tiles):
        return None
    return Scene(tuple(map(_painted, floor.tiles, range(floor.colors))), "every tile painted in a colour of its own")


def checkerboard(floor: Floor) -> Scene | None:
    """Checkerboard (goal only): two colours by turns.

    The benchmark counts columns by the grid's height, so that only squares and grids of odd sides get a checkerboard;
    the words of the others say what they get.
    """
    if floor.colors != 2:
        return None
    turns = [sum(divmod(number, floor.height)) % 2 for number in range(len(floor.tiles))]
    words = "the tiles painted as a checkerboard of two colours"
    if turns != [(row + column) % 2 for _, row, column in floor.cells()]:
        words = (
            f"the tiles, in reading order and cut into runs of {floor.height}, painted in two colours by turns,"
            " each run starting with the colour that the run before it did not start with"
        )
    return Scene(tuple(map(_painted, floor.tiles, turns)), words)


def disconnected_rows(floor: Floor) -> tuple[Scene, Scene]:
    """Disconnected rows (tied): a robot at the left end of each, whose colour both ends get; no colour is available."""
    tiles = floor.tiles
    rows = [tiles[start:stop] for start, stop in pairwise(accumulate(floor.rows, initial=0))]
    right = [("right", tile, before) for row in rows for before, tile in pairwise(row)]
    painted = [_painted(tile, color) for color, row in enumerate(rows) for tile in (row[0], row[-1])]
    lengths = ", ".join(map(str, floor.rows))
    words = (
        f"unconnected rows of {lengths} unpainted tiles, a robot with a colour of its own at the left end of each;"
        " no colour available"
    )
    return (
        Scene((*right, *_robots(floor, [row[0] for row in rows])), words),
        Scene(tuple(painted), "both ends of each row painted in the colour that its robot has at the start"),
    )


def _crew(floor: Floor, places: list[str]) -> str:
    robots = "; ".join(
        f"the {ORDINALS[robot]} robot {places[robot]} with the {ORDINALS[robot % floor.colors]} colour"
        for robot in range(floor.robots)
    )
    return f"{counted(floor.robots, 'robot')}; {robots}; {counted(floor.colors, 'colour')}, all available"


def _neighbours(floor: Floor) -> Iterator[Atom]:
    for tile, row, column in floor.cells():
        if column > 0:
            yield ("right", tile, floor.tile(row, column - 1))
        if row > 0:
            yield ("up", floor.tile(row - 1, column), tile)


def _robots(floor: Floor, tiles: list[str]) -> list[Atom]:
    """Each robot on its tile, the colours given out by turns."""
    crew = [
        (("robot-has", robot, floor.color_names[place % floor.colors]), ("robot-at", robot, tiles[place]))
        for place, robot in enumerate(numbered("robot", floor.robots))
    ]
    return list(chain.from_iterable(crew))


def _available(floor: Floor) -> list[Atom]:
    return [("available-color", color) for color in floor.color_names]


def _painted(tile: str, color: int) -> Atom:
    return ("painted", tile, f"color{color + 1}")


def _grids() -> Iterator[tuple[int, ...]]:
    """All grids up to seven by seven with more than one tile, as rows."""
    for width in range(1, LARGEST_SIDE + 1):
        for height in range(1, LARGEST_SIDE + 1):
            if (width, height) != (1, 1):
                yield (width,) * height


def _crews(rows: tuple[int, ...]) -> range:
    """One robot to four, no more than tiles."""
    return range(1, min(4, sum(rows)) + 1)


def _one_color_a_tile() -> Iterator[Floor]:
    return (Floor(rows, sum(rows), robots) for rows in _grids() for robots in _crews(rows))


def _two_colors() -> Iterator[Floor]:
    return (Floor(rows, 2, robots) for rows in _grids() for robots in _crews(rows))


def _two_or_three_colors() -> Iterator[Floor]:
    """Three colours only where there are at least two robots."""
    for rows in _grids():
        for robots in _crews(rows):
            yield from (Floor(rows, colors, robots) for colors in (2, 3) if colors - robots < 2)


def _squares_with_one_or_two_colors() -> Iterator[Floor]:
    for side in range(2, LARGEST_SIDE + 1):
        for robots in _crews((side,) * side):
            yield from (Floor((side,) * side, colors, robots) for colors in (1, 2))


def _rings() -> Iterator[Floor]:
    for side in range(3, LARGEST_SIDE + 1):
        yield from (Floor((side,) * side, 2 * side // 3, robots) for robots in range(1, side + 1))


def _rows() -> Iterator[Floor]:
    """Two to seven rows of two to eight tiles each, together fewer than 30."""
    for count in range(2, 8):
        for lengths in combinations_with_replacement(range(2, 9), count):
            if sum(lengths) < 30:
                yield Floor(lengths, count, count)


def _label(floor: Floor) -> str:
    return f"t{'-'.join(map(str, floor.rows))}_c{floor.colors}_r{floor.robots}"


def _objects(floor: Floor) -> dict[str, str]:
    robots = numbered("robot", floor.robots)
    return (
        dict.fromkeys(floor.tiles, "tile") | dict.fromkeys(robots, "robot") | dict.fromkeys(floor.color_names, "color")
    )


FLOOR_TILE: TaskDomain[Floor] = TaskDomain(
    name="floor-tile",
    objects=_objects,
    kinds=lambda floor: (),
    label=_label,
    initial={"rings": rings, "grid": grid},
    goals={
        "rings": painted_rings,
        "checkerboard": checkerboard,
        "all_different": all_different,
        "paint_all": paint_all,
        "paint_x": paint_x,
    },
    tied={"disconnected_rows": disconnected_rows},
    sizes={
        "grid": _one_color_a_tile,
        "rings": _rings,
        "checkerboard": _two_colors,
        "all_different": _one_color_a_tile,
        "paint_all": _two_or_three_colors,
        "paint_x": _squares_with_one_or_two_colors,
        "disconnected_rows": _rows,
    },
    left_out=frozenset({("grid", "rings")}),
)
