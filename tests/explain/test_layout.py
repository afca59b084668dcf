"""Cards never overlap, towers stand, grids are grids."""

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st
from pddl_eval.explain.layout import Placed, place

NAMES = "abcdefgh"
SIZES = st.tuples(st.integers(10, 200), st.integers(10, 120))
LINKS = st.lists(
    st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES), st.sampled_from(["on", "up", "right", "road"])),
    max_size=16,
)


def overlaps(placed: Placed, sizes: dict[str, tuple[float, float]], a: str, b: str) -> bool:
    return all(
        placed.positions[a][axis] < placed.positions[b][axis] + sizes[b][axis] - 1e-6
        and placed.positions[b][axis] < placed.positions[a][axis] + sizes[a][axis] - 1e-6
        for axis in (0, 1)
    )


@given(st.fixed_dictionaries(dict.fromkeys(NAMES, SIZES)), LINKS)
def test_cards_do_not_overlap_and_stay_within_the_box(
    sizes: dict[str, tuple[float, float]], links: list[tuple[str, str, str]]
) -> None:
    placed = place(sizes, [link for link in links if link[0] != link[1]])
    assert placed.positions.keys() == sizes.keys()
    for name, (x, y) in placed.positions.items():
        assert x > -1e-6 and y > -1e-6
        assert x + sizes[name][0] < placed.width + 1e-6 and y + sizes[name][1] < placed.height + 1e-6
    assert not [pair for pair in combinations(sizes, 2) if overlaps(placed, sizes, *pair)]


def test_a_tower_stands_upright_with_its_base_on_the_floor() -> None:
    sizes = dict.fromkeys("abcd", (40.0, 20.0))
    placed = place(sizes, [("a", "b", "on"), ("b", "c", "on")])
    assert {placed.positions[name][0] for name in "abc"} == {0.0}
    assert placed.positions["a"][1] < placed.positions["b"][1] < placed.positions["c"][1] == placed.positions["d"][1]


def test_directions_make_a_grid() -> None:
    """1 2 above 3 4, told as Floor Tile tells it."""
    links = [("2", "1", "right"), ("4", "3", "right"), ("1", "3", "up"), ("2", "4", "up")]
    at = place(dict.fromkeys("1234", (40.0, 20.0)), links).positions
    assert at["1"][1] == at["2"][1] < at["3"][1] == at["4"][1]
    assert at["1"][0] == at["3"][0] < at["2"][0] == at["4"][0]


def test_directions_that_contradict_one_another_are_no_grid() -> None:
    links = [("b", "a", "right"), ("c", "b", "right"), ("a", "c", "right")]
    placed = place(dict.fromkeys("abc", (40.0, 20.0)), links)
    assert len(set(placed.positions.values())) == 3


def test_nothing_needs_no_room() -> None:
    assert place({}, []) == Placed({}, 0.0, 0.0)
