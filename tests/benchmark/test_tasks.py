"""What the configurations of appendix D look like, read off their atoms; and the lists of numbers that they take."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pddl_eval.benchmark import blocksworld, floor_tile, gripper
from pddl_eval.benchmark.floor_tile import Floor
from pddl_eval.benchmark.gripper import Load
from pddl_eval.benchmark.tasks import Side, benchmark_partitions, partitions
from pddl_eval.definition.model import Atom

# p(n), the number of partitions of n (OEIS A000041).
PARTITION_NUMBERS = [1, 1, 2, 3, 5, 7, 11, 15, 22, 30, 42, 56, 77, 101, 135, 176]

HEIGHTS = st.lists(st.integers(1, 6), min_size=1, max_size=6).map(lambda heights: tuple(sorted(heights)))
LOADS = st.builds(
    lambda carried, free, rooms: Load((1,) * carried + (0,) * free, tuple(rooms)),
    st.integers(0, 3),
    st.integers(0, 3),
    st.lists(st.integers(0, 4), min_size=1, max_size=4),
)
GRIDS = st.builds(
    lambda width, height, colors, robots: Floor((width,) * height, colors, min(robots, width * height)),
    st.integers(1, 5),
    st.integers(2, 5),
    st.integers(1, 3),
    st.integers(1, 4),
)


def heights_of(side: Side) -> Counter[int]:
    """How many towers of each height stand on the table."""
    below = {atom[1]: atom[2] for atom in side.atoms if atom[0] == "on"}
    found: Counter[int] = Counter()
    for top in (atom[1] for atom in side.atoms if atom[0] == "clear"):
        height = 1
        while top in below:
            top, height = below[top], height + 1
        assert ("on-table", top) in side.atoms
        found[height] += 1
    return found


def balls_of(side: Side) -> Counter[str]:
    """How many balls each room has."""
    return Counter(atom[2] for atom in side.atoms if atom[0] == "at")


def colors_of(side: Side) -> dict[str, str]:
    return {atom[1]: atom[2] for atom in side.atoms if atom[0] == "painted"}


def arguments(side: Side, predicate: str) -> list[Atom]:
    return [atom[1:] for atom in side.atoms if atom[0] == predicate]


@given(HEIGHTS)
def test_towers_have_the_heights_of_the_list(heights: tuple[int, ...]) -> None:
    assert heights_of(blocksworld.tower(heights)) == Counter(heights)
    assert heights_of(blocksworld.stack(heights)) == {sum(heights): 1}
    assert heights_of(blocksworld.on_table(heights)) == {1: sum(heights)}


@given(HEIGHTS)
def test_equal_towers_are_equal_and_as_high_as_can_be(heights: tuple[int, ...]) -> None:
    side = blocksworld.equal_towers(heights)
    if side is None:
        assert len(heights) > 1 and set(heights) == {1}
        return
    ((height, count),) = heights_of(side).items()
    assert height * count == sum(heights)
    assert not any(sum(heights) % higher == 0 for higher in range(height + 1, 6))


@pytest.mark.parametrize("total", range(1, 40))
def test_a_staircase_has_one_tower_of_each_height(total: int) -> None:
    side = blocksworld.staircase((total,))
    steps = [steps for steps in range(1, 10) if steps * (steps + 1) // 2 == total]
    assert (side is not None) == bool(steps)
    if side:
        assert heights_of(side) == dict.fromkeys(range(1, steps[0] + 1), 1)


@given(st.integers(2, 6), st.integers(2, 6))
def test_swap_exchanges_the_bases_and_nothing_else(first: int, second: int) -> None:
    start, end = blocksworld.swap((first, second))
    bases = {base for (base,) in arguments(start, "on-table")}
    assert bases == {base for (base,) in arguments(end, "on-table")} and len(bases) == 2
    moved = set(arguments(start, "on")) ^ set(arguments(end, "on"))
    assert {below for _, below in moved} == bases and len(moved) == 4
    assert set(arguments(start, "clear")) == set(arguments(end, "clear"))


@given(HEIGHTS)
def test_invert_turns_every_pair_of_blocks_round(heights: tuple[int, ...]) -> None:
    start, end = blocksworld.invert(heights)
    assert {(lower, upper) for upper, lower in arguments(start, "on")} == set(arguments(end, "on"))
    assert set(arguments(start, "clear")) == set(arguments(end, "on-table"))


@given(LOADS)
def test_every_ball_is_in_one_place(load: Load) -> None:
    sides = [gripper.one_room(load), gripper.holding(load), gripper.evenly_distributed(load), gripper.juggle(load)[1]]
    for side in filter(None, sides):
        placed = [ball for ball, _ in arguments(side, "at") + arguments(side, "carry")]
        assert sorted(placed) == sorted(load.balls)
        used = [place for _, place in arguments(side, "carry")] + [place for (place,) in arguments(side, "free")]
        assert sorted(used) == sorted(load.gripper_names)


@given(LOADS)
def test_balls_are_distributed_as_the_configuration_says(load: Load) -> None:
    assert balls_of(gripper.one_room(load)) == Counter({"room1": len(load.balls)})
    evenly = gripper.evenly_distributed(load)
    if evenly and load.balls:
        assert set(balls_of(evenly).values()) == {len(load.balls) // len(load.rooms)}
    rooms = gripper.n_room_distributed(load)
    if rooms:
        assert balls_of(rooms) == Counter(dict(zip(load.room_names, load.rooms, strict=True)))


@given(LOADS)
def test_focus_goes_to_the_one_room_with_most_or_fewest_balls(load: Load) -> None:
    for goal, extreme in ((gripper.focus_max(load), max), (gripper.focus_min(load), min)):
        if goal and load.balls:
            (room,) = balls_of(goal)
            assert load.rooms[load.room_names.index(room)] == extreme(load.rooms)
            assert load.rooms.count(extreme(load.rooms)) == 1


@given(LOADS)
def test_juggled_balls_change_their_grippers(load: Load) -> None:
    start, end = gripper.juggle(load)
    assert start and end
    before, after = set(arguments(start, "carry")), set(arguments(end, "carry"))
    assert {ball for ball, _ in before} == {ball for ball, _ in after}
    assert before.isdisjoint(after) or load.carried == 1
    assert set(arguments(start, "at")) == set(arguments(end, "at"))


@given(st.integers(1, 6))
def test_swapped_rooms_have_each_others_balls(half: int) -> None:
    start, end = gripper.swap(Load((0, 0), (half, half)))
    assert start and end
    other = {"room1": "room2", "room2": "room1"}
    assert {(ball, other[room]) for ball, room in arguments(start, "at")} == set(arguments(end, "at"))


@given(LOADS)
def test_drop_and_pickup_leaves_no_ball_where_it_was(load: Load) -> None:
    goal = gripper.drop_and_pickup(load)
    if goal:
        carried, waiting = load.balls[: load.carried], load.balls[load.carried :]
        assert arguments(goal, "at") == [(ball, "room2") for ball in carried]
        assert [ball for ball, _ in arguments(goal, "carry")] == waiting


@given(GRIDS)
def test_a_grid_has_its_neighbours_and_its_robots(floor: Floor) -> None:
    side = floor_tile.grid(floor)
    assert len(arguments(side, "right")) == floor.height * (floor.width - 1)
    assert len(arguments(side, "up")) == (floor.height - 1) * floor.width
    standing = [tile for _, tile in arguments(side, "robot-at")]
    assert len(standing) == len(set(standing)) == floor.robots
    assert set(standing) <= set(floor.tiles)


def test_neighbours_point_as_in_the_domain() -> None:
    """The first tile is above, or to the right of, the second."""
    side = floor_tile.grid(Floor((2, 2), 2, 1))
    assert set(arguments(side, "up")) == {("tile1", "tile3"), ("tile2", "tile4")}
    assert set(arguments(side, "right")) == {("tile2", "tile1"), ("tile4", "tile3")}


@pytest.mark.parametrize("side", range(2, 8))
def test_an_x_covers_both_diagonals(side: int) -> None:
    one, two = (floor_tile.paint_x(Floor((side,) * side, colors, 1)) for colors in (1, 2))
    assert one and two
    assert len(colors_of(one)) == 2 * side - side % 2
    assert Counter(colors_of(two).values())["color1"] == len(colors_of(one))
    assert len(colors_of(two)) == side * side


@pytest.mark.parametrize("side", range(3, 8))
def test_rings_have_a_colour_each(side: int) -> None:
    floor = Floor((side,) * side, 2 * side // 3, 1)
    goal = floor_tile.painted_rings(floor)
    assert goal and floor_tile.rings(floor)
    sizes = [4 * (side - 2 * ring - 1) or 1 for ring in range((side + 1) // 2)]
    assert Counter(colors_of(goal).values()) == {f"color{ring + 1}": size for ring, size in enumerate(sizes)}


def test_a_checkerboard_is_one_where_the_words_say_so() -> None:
    for floor in (Floor((width,) * height, 2, 1) for width in range(1, 8) for height in range(2, 8)):
        goal = floor_tile.checkerboard(floor)
        assert goal
        color = colors_of(goal)
        neighbours = arguments(floor_tile.grid(floor), "right") + arguments(floor_tile.grid(floor), "up")
        is_checkerboard = all(color[one] != color[other] for one, other in neighbours)
        assert is_checkerboard == ("checkerboard" in goal.words)


@given(st.lists(st.integers(2, 8), min_size=2, max_size=7).map(lambda lengths: tuple(sorted(lengths))))
def test_rows_are_unconnected_and_painted_at_their_ends(lengths: tuple[int, ...]) -> None:
    floor = Floor(lengths, len(lengths), len(lengths))
    start, end = floor_tile.disconnected_rows(floor)
    assert len(arguments(start, "right")) == sum(lengths) - len(lengths)
    assert not arguments(start, "up") and not arguments(start, "available-color")
    ends = [tile for tile, _ in arguments(end, "painted")]
    assert ends[::2] == [tile for _, tile in arguments(start, "robot-at")]
    places = [floor.tiles.index(tile) for tile in ends]
    assert [last - first + 1 for first, last in pairwise(places)][::2] == list(lengths)


@pytest.mark.parametrize("total", range(len(PARTITION_NUMBERS)))
def test_there_are_as_many_partitions_as_euler_counted(total: int) -> None:
    listed = [parts for count in range(total + 1) for parts in partitions(total, count)]
    assert len(listed) == len(set(listed)) == PARTITION_NUMBERS[total]
    assert all(sum(parts) == total and list(parts) == sorted(parts) for parts in listed)


def test_the_benchmark_has_all_partitions_of_small_numbers_that_begin_with_one() -> None:
    small = {parts for parts in benchmark_partitions() if sum(parts) <= 10}
    assert small == {(1, *rest) for n in range(10) for count in range(n + 1) for rest in partitions(n, count)}


def test_the_benchmark_thins_out_the_partitions_of_large_numbers() -> None:
    counts = [sum(1 for parts in benchmark_partitions() if sum(parts) == total) for total in range(20, 26)]
    assert counts == [393, 98, 119, 37, 44, 18]
    assert max(map(len, benchmark_partitions())) == 10
