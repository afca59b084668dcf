"""Floor Tile: robots that paint tiles in a grid or in rows (the paper's appendix D).

Tiles are numbered row by row from the top left. The domain's operators and rules are in
``pddl_eval.definition.domains.floor_tile``, not here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate, combinations_with_replacement, pairwise, product
from random import Random

from pddl_eval.benchmark.tasks import Side, TaskDomain, choose, counted, holding_for, named, numbered, of_type
from pddl_eval.definition.model import Atom, Problem, State

ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh")


@dataclass(frozen=True, slots=True)
class Floor:
    """Tiles in rows of the given lengths, with that many colours and robots; a grid has rows of one length."""

    rows: tuple[int, ...]
    colors: int
    robots: int

    @property
    def tiles(self) -> list[str]:
        return numbered("tile", sum(self.rows))

    @property
    def height(self) -> int:
        return len(self.rows)

    @property
    def width(self) -> int:
        return self.rows[0]

    @property
    def is_square(self) -> bool:
        return self.height == self.width

    @property
    def cells(self) -> list[tuple[int, int]]:
        """Row and column of each tile of a grid, in the order of the tiles."""
        return [(row, column) for row in range(self.height) for column in range(self.width)]

    def tile(self, row: int, column: int) -> str:
        return f"tile{row * self.width + column + 1}"


def grid(floor: Floor) -> Side:
    """Grid (initial only): a rectangle with robots in its corners, or along it where it is one tile wide or high."""
    last_row, last_column = floor.height - 1, floor.width - 1
    corners = [(0, 0), (last_row, 0), (last_row, last_column), (0, last_column)]
    standing = [floor.tile(*corner) for corner in corners]
    places = [f"in the {corner} corner" for corner in ("top left", "bottom left", "bottom right", "top right")]
    if 1 in (floor.height, floor.width):
        standing = floor.tiles
        places = [f"on the {ordinal} tile" for ordinal in ORDINALS]
    words = f"{counted(floor.height, 'row')} of {floor.width} unpainted tiles in a grid; {_crew(floor, places)}"
    return Side((*_neighbours(floor), *_robots(floor, standing), *_available(floor)), words)


def rings(floor: Floor) -> Side | None:
    """Rings (initial only): a square with robots along its diagonal and two colours for three tiles of a side."""
    if not floor.is_square or floor.width < 3 or floor.robots > floor.width or floor.colors != 2 * floor.width // 3:
        return None
    places = [f"on the {ordinal} tile of the diagonal" for ordinal in ORDINALS]
    diagonal = [floor.tile(step, step) for step in range(floor.width)]
    words = f"{floor.height} rows of {floor.width} unpainted tiles in concentric rings; {_crew(floor, places)}"
    return Side((*_available(floor), *_robots(floor, diagonal), *_neighbours(floor)), words)


def painted_rings(floor: Floor) -> Side | None:
    """Painted rings (goal only): the tiles at one distance from the border share a colour that no others have."""
    if not floor.is_square or floor.colors < (floor.width + 1) // 2:
        return None
    last = floor.width - 1
    distances = [min(row, column, last - row, last - column) for row, column in floor.cells]
    words = "each ring painted in a colour of its own, all colours available"
    return Side((*_available(floor), *_painted(floor.tiles, distances)), words)


def paint_all(floor: Floor) -> Side | None:
    """Paint all (goal only): every tile in one colour, of two or three."""
    if floor.colors not in (2, 3):
        return None
    return Side(_painted(floor.tiles, [0] * len(floor.tiles)), "every tile painted in the same colour")


def paint_x(floor: Floor) -> Side | None:
    """Painted X (goal only): both diagonals of a square in one colour, all else in the other where there is one."""
    if not floor.is_square or floor.colors > 2:
        return None
    on_x = [floor.tile(row, column) for row in range(floor.height) for column in (row, floor.width - 1 - row)]
    painted = _painted(on_x, [0] * len(on_x))
    if floor.colors == 1:
        return Side(painted, "the tiles of both diagonals painted")
    others = [tile for tile in floor.tiles if tile not in on_x]
    words = "the tiles of both diagonals painted in one colour, all others in the other"
    return Side((*painted, *_painted(others, [1] * len(others))), words)


def all_different(floor: Floor) -> Side | None:
    """One tile, one colour (goal only): as many colours as tiles."""
    if floor.colors != len(floor.tiles):
        return None
    return Side(_painted(floor.tiles, range(floor.colors)), "every tile painted in a colour of its own")


def checkerboard(floor: Floor) -> Side | None:
    """Checkerboard (goal only): two colours by turns.

    The benchmark counts columns by the grid's height, so that only squares and grids of odd sides get a checkerboard;
    the words of the others say what they get.
    """
    if floor.colors != 2:
        return None
    turns = [sum(divmod(number, floor.height)) % 2 for number in range(len(floor.tiles))]
    words = "the tiles painted as a checkerboard of two colours"
    if turns != [sum(cell) % 2 for cell in floor.cells]:
        words = (
            f"the tiles, in reading order and cut into runs of {floor.height}, painted in two colours by turns,"
            " each run starting with the colour that the run before it did not start with"
        )
    return Side(_painted(floor.tiles, turns), words)


def disconnected_rows(floor: Floor) -> tuple[Side, Side]:
    """Disconnected rows (tied): a robot at the left end of each, whose colour both ends get; no colour is available."""
    rows = [floor.tiles[start:stop] for start, stop in pairwise(accumulate(floor.rows, initial=0))]
    right = [("right", tile, before) for row in rows for before, tile in pairwise(row)]
    painted = [atom for color, row in enumerate(rows) for atom in _painted((row[0], row[-1]), (color, color))]
    words = (
        f"unconnected rows of {', '.join(map(str, floor.rows))} unpainted tiles, a robot with a colour of its own at"
        " the left end of each; no colour available"
    )
    start = Side((*right, *_robots(floor, [row[0] for row in rows])), words)
    return start, Side(tuple(painted), "both ends of each row painted in the colour that its robot has at the start")


def _crew(floor: Floor, places: list[str]) -> str:
    robots = "; ".join(
        f"the {ORDINALS[robot]} robot {places[robot]} with the {ORDINALS[robot % floor.colors]} colour"
        for robot in range(floor.robots)
    )
    return f"{counted(floor.robots, 'robot')}; {robots}; {counted(floor.colors, 'colour')}, all available"


def _neighbours(floor: Floor) -> Iterator[Atom]:
    for row, column in floor.cells:
        if column > 0:
            yield ("right", floor.tile(row, column), floor.tile(row, column - 1))
        if row > 0:
            yield ("up", floor.tile(row - 1, column), floor.tile(row, column))


def _robots(floor: Floor, tiles: list[str]) -> Iterator[Atom]:
    """Each robot on its tile, the colours given out by turns."""
    for place, robot in enumerate(numbered("robot", floor.robots)):
        yield ("robot-has", robot, f"color{place % floor.colors + 1}")
        yield ("robot-at", robot, tiles[place])


def _available(floor: Floor) -> list[Atom]:
    return [("available-color", color) for color in numbered("color", floor.colors)]


def _painted(tiles: Iterable[str], colors: Iterable[int]) -> tuple[Atom, ...]:
    return tuple(("painted", tile, f"color{color + 1}") for tile, color in zip(tiles, colors, strict=True))


def _grids() -> Iterator[tuple[tuple[int, ...], int]]:
    """All grids up to seven by seven with more than one tile, as rows, with one robot to four, no more than tiles."""
    for width, height in product(range(1, 8), repeat=2):
        for robots in range(1, min(4, width * height) + 1):
            if width * height > 1:
                yield (width,) * height, robots


def _random_painting(problem: Problem, random: Random) -> State:
    """Some tiles painted in available colours."""
    colors, tiles = holding_for("available-color", problem), of_type("tile", problem)
    chosen = random.sample(tiles, random.randint(min(1, len(tiles)), len(tiles)))
    return frozenset(("painted", tile, random.choice(colors)) for tile in chosen if colors)


def _random_init(problem: Problem, random: Random) -> State | None:
    """One robot on another tile."""
    standing = sorted(atom for atom in problem.init if atom[0] == "robot-at" and len(atom) == 3)
    if not standing:
        return None
    old = random.choice(standing)
    return problem.init - {old} | {(*old[:2], random.choice(of_type("tile", problem) or [old[2]]))}


def _contradictions(problem: Problem, random: Random) -> list[tuple[Atom, ...]]:
    robots, tiles, colors = (choose(3, of_type(kind, problem), random) for kind in ("robot", "tile", "color"))
    found: list[tuple[Atom, ...]] = []
    for robot in robots:
        found += [(("robot-at", robot, one), ("robot-at", robot, other)) for one, other in pairwise(tiles)]
        found += [(("robot-has", robot, one), ("robot-has", robot, other)) for one, other in pairwise(colors)]
    return found


FLOOR_TILE: TaskDomain[Floor] = TaskDomain(
    objects=lambda floor: [*floor.tiles, *numbered("robot", floor.robots), *numbered("color", floor.colors)],
    label=lambda floor: f"t{'-'.join(map(str, floor.rows))}_c{floor.colors}_r{floor.robots}",
    initial=named(rings, grid),
    goals={"rings": painted_rings, **named(checkerboard, all_different, paint_all, paint_x)},
    tied={"disconnected_rows": disconnected_rows},
    sizes={
        "grid": lambda: (Floor(rows, sum(rows), robots) for rows, robots in _grids()),
        "rings": lambda: (
            Floor((side,) * side, 2 * side // 3, robots) for side in range(3, 8) for robots in range(1, side + 1)
        ),
        "checkerboard": lambda: (Floor(rows, 2, robots) for rows, robots in _grids()),
        "all_different": lambda: (Floor(rows, sum(rows), robots) for rows, robots in _grids()),
        "paint_all": lambda: (
            # Three colours only where there are at least two robots.
            Floor(rows, colors, robots)
            for rows, robots in _grids()
            for colors in ((2, 3) if robots > 1 else (2,))
        ),
        "paint_x": lambda: (
            Floor(rows, colors, robots) for rows, robots in _grids() if len(rows) == rows[0] for colors in (1, 2)
        ),
        "disconnected_rows": lambda: (
            Floor(lengths, count, count)
            for count in range(2, 8)
            for lengths in combinations_with_replacement(range(2, 9), count)
            if sum(lengths) < 30
        ),
    },
    random_goal=_random_painting,
    random_init=_random_init,
    contradictions=_contradictions,
    kinds_as="types",
    left_out=frozenset({("grid", "rings")}),
)
