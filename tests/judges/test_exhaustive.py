"""The judge is judged: by numbers of states from the literature or counted by hand, by closures worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from math import comb, perm
from random import Random

import pytest
from pddl_eval.definition.model import Problem, State

from tests.judges.exhaustive import (
    DOMAINS,
    closure,
    domain_of,
    equivalent,
    goal_states,
    isomorphisms,
    operator,
    reachable,
    renamed_state,
    solvable,
    state_after,
    steps,
)
from tests.support.random_problems import MOST_STATES, VOCABULARY, random_pair, random_problem
from tests.support.volume import in_two_sizes


def atoms(text: str) -> State:
    """``"on a b, arm-empty"`` as atoms."""
    return frozenset(tuple(atom.split()) for atom in text.split(",") if atom.strip())


def problem(domain: str, objects: str, init: str, goal: str = "") -> Problem:
    """Objects read ``"r1-robot t1"``."""
    typed = (word.partition("-") for word in objects.split())
    return Problem("p", domain, {o: type_ or "object" for o, _, type_ in typed}, atoms(init), atoms(goal))


def blocks(names: str, goal: str = "") -> Problem:
    """All blocks on the table."""
    init = ", ".join(["arm-empty", *(f"clear {name}, on-table {name}" for name in names.split())])
    return problem("blocksworld", names, init, goal)


def gripper(balls: int, rooms: int, grippers: int, goal: str = "", without: str = "") -> Problem:
    """All balls and robby in the first room r0; balls b0…, grippers g0…; ``without`` leaves atoms out."""
    init = [f"ball b{i}" for i in range(balls)] + [f"room r{i}" for i in range(rooms)]
    init += [f"gripper g{i}" for i in range(grippers)] + [f"free g{i}" for i in range(grippers)]
    init += [f"at b{i} r0" for i in range(balls)] + ["at-robby r0"]
    names = " ".join(word.split()[1] for word in init[: balls + rooms + grippers])
    whole = problem("gripper", names, ", ".join(init), goal)
    return replace(whole, init=whole.init - atoms(without))


CORRIDOR = "r-robot t1-tile t2-tile c-color d-color"
"""A robot and two tiles side by side."""


def floor(init: str, goal: str = "", objects: str = CORRIDOR) -> Problem:
    return problem("floor-tile", objects, init, goal)


# --- Numbers of states -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("number", "standing"), list(enumerate([1, 1, 3, 13, 73, 501])))
def test_blocks_world_has_as_many_states_as_sets_of_lists(number: int, standing: int) -> None:
    """The ways to stack n blocks (OEIS A000262), and n times those of n - 1 blocks with one in the hand."""
    states = reachable(blocks(" ".join(f"b{i}" for i in range(number))))
    assert states is not None
    assert sum(("arm-empty",) in state for state in states) == standing
    in_hand = number * [1, 1, 3, 13, 73][number - 1] if number else 0
    assert len(states) == standing + in_hand


@pytest.mark.parametrize(
    ("balls", "rooms", "grippers"), [(1, 2, 2), (2, 2, 2), (3, 2, 1), (0, 3, 2), (2, 1, 3), (4, 2, 3)]
)
def test_gripper_states_are_robby_times_carried_balls_times_the_rooms_of_the_others(
    balls: int, rooms: int, grippers: int
) -> None:
    states = reachable(gripper(balls, rooms, grippers))
    expected = rooms * sum(comb(balls, k) * perm(grippers, k) * rooms ** (balls - k) for k in range(balls + 1))
    assert states is not None
    assert len(states) == expected


def test_one_robot_paints_two_tiles_in_any_order() -> None:
    states = reachable(floor("right t2 t1, robot-at r t1, robot-has r c, available-color c"))
    assert states is not None
    assert len(states) == 2 * 2**2  # where the robot is, times which tiles are painted


def test_a_colour_that_is_not_available_is_lost_for_ever() -> None:
    """On one tile beside itself: with d the tile bears d or not, with c also c or not."""
    states = reachable(floor("up t1 t1, robot-at r t1, robot-has r d, available-color c"))
    assert states is not None
    assert len(states) == 2 + 4
    assert not any({("robot-has", "r", "d"), ("painted", "t1", "c")} <= state for state in states)


def test_types_bind_operators_unless_they_are_ignored() -> None:
    """A robot that is declared a tile does not move; an undeclared type is no tile either."""
    init = "right t2 t1, robot-at r t1"
    for objects in ("r-tile t1-tile t2-tile", "r-robot t1-tile t2-slab", "r t1 t2"):
        still = floor(init, objects=objects)
        assert reachable(still) == {still.init}
        assert reachable(still, typed=False) == {still.init, atoms("right t2 t1, robot-at r t2")}


def test_subtypes_negative_preconditions_and_equality_are_understood() -> None:
    """Trucks are vehicles; a vehicle drives from a place to another that is not closed."""
    drive = operator("drive", "?v vehicle, ?a place, ?b place", "at ?v ?a", "at ?v ?b", "at ?v ?a")
    types = {"truck": "vehicle", "vehicle": "object", "place": "object"}
    forbidden = frozenset({("closed", "?b"), ("=", "?a", "?b")})
    roads = domain_of("roads", types, replace(drive, negative_preconditions=forbidden))
    trip = problem("roads", "t-truck v-tram a-place b-place c-place", "at t a, at v a, closed c")
    for place, others in {"a": "b", "b": "a", "c": "ab"}.items():
        there = trip.init - atoms("at t a") | atoms(f"at t {place}")
        assert [*steps(trip, roads)(there)] == [("drive", "t", place, other) for other in others]
    assert reachable(trip, roads) == {trip.init, atoms("at t b, at v a, closed c")}


def test_more_states_than_the_limit_are_no_answer() -> None:
    assert reachable(blocks("a b c"), limit=21) is None
    assert len(reachable(blocks("a b c"), limit=22) or ()) == 22


# --- Closures, solvability, plans ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("goal", "expected"),
    [
        # Two blocks, one on the other: nothing else is open.
        ("on a b", "on a b, clear a, on-table b, arm-empty"),
        # Appendix C: all bottoms known, so what is above is known.
        ("on-table a, on-table b", "on-table a, on-table b, clear a, clear b, arm-empty"),
        # Appendix C: all tops known; the one without a bottom is on the table.
        ("clear a, clear b, on-table a, arm-empty", "clear a, clear b, on-table a, on-table b, arm-empty"),
        # Two tops and an open arm: one block may be in the hand, but only one that is not clear.
        ("clear a, clear b", "clear a, clear b, on-table a, on-table b, arm-empty"),
        # The arm is open here: b may be on the table or in the hand.
        ("on-table a, clear a", "on-table a, clear a"),
        ("holding a", "holding a, clear b, on-table b"),
        ("", ""),
    ],
)
def test_closed_goals_of_two_blocks(goal: str, expected: str) -> None:
    assert closure(blocks("a b", goal)) == atoms(expected)


def test_the_top_of_the_only_tower_cannot_stand_on_its_own_bottom() -> None:
    """Appendix C: where top and bottom belong to one tower, they are clear and on the table."""
    expected = atoms("on a b, on b c, clear a, on-table c, arm-empty")
    assert closure(blocks("a b c", "on a b, on b c")) == expected
    assert closure(blocks("a b c d", "on a b, on c d, arm-empty")) == atoms("on a b, on c d, arm-empty")


@pytest.mark.parametrize(
    "goal",
    ["on a a", "on a c, on b c", "on a b, on b a", "holding a, arm-empty", "holding a, holding b", "on a b, clear b"],
)
def test_impossible_blocks(goal: str) -> None:
    impossible = blocks("a b c", goal)
    assert not solvable(impossible)
    assert goal_states(impossible) == frozenset()
    assert closure(impossible) is None


def test_gripper_closures_of_appendix_c() -> None:
    static = "ball b0, ball b1, gripper g0, gripper g1, room r0"
    placed = "at b0 r0, at b1 r0"
    # All balls in rooms: every gripper is free. One room: robby is there.
    assert closure(gripper(2, 1, 2, placed)) == atoms(f"{static}, {placed}, free g0, free g1, at-robby r0")
    # One room and all grippers known: the ball that is not carried is in the room.
    carried = "carry b0 g1, free g0"
    assert closure(gripper(2, 1, 2, carried)) == atoms(f"{static}, {carried}, at b1 r0, at-robby r0")
    # Two rooms: where robby is and where the other ball is stays open.
    assert closure(gripper(2, 2, 2, carried)) == atoms(f"{static}, room r1, {carried}")


def test_gripper_where_the_definition_says_more_or_less_than_the_rules() -> None:
    # No robby: nothing ever moves.
    still = gripper(1, 2, 1, without="at-robby r0")
    assert closure(still) == still.init
    # No gripper: balls stay, robby goes.
    assert closure(gripper(1, 2, 0)) == atoms("ball b0, room r0, room r1, at b0 r0")
    # A second room that is not called one is out of reach.
    assert closure(gripper(1, 2, 1, "free g0", without="room r1")) == atoms(
        "ball b0, room r0, gripper g0, free g0, at b0 r0, at-robby r0"
    )


def test_floor_tile_closures_of_appendix_c() -> None:
    corridor = "right t2 t1, robot-at r t1, robot-has r c, available-color c"
    # Colours and neighbours never change, and with one colour to be had the robot keeps it.
    assert closure(floor(corridor, "painted t1 c")) == atoms(
        "right t2 t1, available-color c, robot-has r c, painted t1 c"
    )
    # A robot on an isolated tile stays there and paints nothing.
    isolated = floor("robot-at r t1, robot-has r c, available-color c, available-color d")
    assert closure(isolated) == atoms("robot-at r t1, available-color c, available-color d")
    assert not solvable(floor("robot-at r t1, robot-has r c", "painted t1 c"))


def test_who_painted_with_the_only_available_colour_has_it() -> None:
    """The robot started with d, which it cannot get again; a tile of colour c says that it has c now."""
    init = "right t2 t1, robot-at r t1, robot-has r d, available-color c"
    static = "right t2 t1, available-color c"
    assert closure(floor(init, "painted t2 c")) == atoms(f"{static}, painted t2 c, robot-has r c")
    assert closure(floor(init, "painted t2 d")) == atoms(f"{static}, painted t2 d")
    assert not solvable(floor(init, "painted t2 c, robot-has r d"))


def test_a_plan_is_executed_step_by_step() -> None:
    tower = blocks("a b", "on a b")
    assert state_after(tower, [("pickup", "a"), ("stack", "a", "b")]) == closure(tower)
    assert state_after(tower, [("stack", "a", "b")]) is None
    assert state_after(tower, [("fly", "a")]) is None
    assert state_after(tower, []) == tower.init


# --- Equivalence -----------------------------------------------------------------------------------------------------


def test_equivalence_sees_through_names_and_implied_atoms() -> None:
    assert equivalent(blocks("a b", "on a b"), blocks("x y", "on y x, on-table x, arm-empty"))
    assert not equivalent(blocks("a b c", "on a b"), blocks("a b c", "on a b, on-table b"))
    assert not equivalent(blocks("a b", "on a b"), blocks("a b c", "on a b"))


def test_identity_and_placeholder_differ_where_the_initial_state_tells_blocks_apart() -> None:
    standing = "on a b, clear a, on-table b, arm-empty"
    kept = problem("blocksworld", "a b", standing, "on a b")
    turned = problem("blocksworld", "a b", standing, "on b a")
    assert not equivalent(kept, turned)
    assert equivalent(kept, turned, is_placeholder=True)


def test_types_are_compared_unless_they_are_ignored() -> None:
    plain, typed = problem("blocksworld", "a", "clear a"), problem("blocksworld", "a-block", "clear a")
    for is_placeholder in (False, True):
        assert not equivalent(plain, typed, is_placeholder)
        assert equivalent(plain, typed, is_placeholder, typed=False)


def test_unsolvable_problems_are_equivalent_where_their_initial_states_are() -> None:
    for is_placeholder in (False, True):
        assert equivalent(blocks("a b", "on a a"), blocks("c d", "holding c, arm-empty"), is_placeholder)
        assert not equivalent(blocks("a b", "on a a"), blocks("a b", "on a b"), is_placeholder)


@pytest.mark.parametrize("domain", sorted(DOMAINS))
@in_two_sizes(8, full=60)
def test_isomorphisms_are_all_permutations_that_map_the_atoms(domain: str, cases: int) -> None:
    """The two prunings against no pruning at all."""
    for seed in range(cases):
        pair = random_pair(Random(seed), domain)
        left, right = pair.reference, pair.generated
        if len(left.objects) > 6 or len(left.objects) != len(right.objects):
            continue
        for left_atoms, right_atoms in ((left.init, right.init), (left.goal, right.goal)):
            every = [dict(zip(left.objects, image, strict=True)) for image in permutations(right.objects)]
            expected = [
                mapping
                for mapping in every
                if all(right.objects[p] == left.objects[o] for o, p in mapping.items())
                and renamed_state(left_atoms, mapping) == right_atoms
            ]
            found = list(isomorphisms(left, right, left_atoms, right_atoms))
            assert len(found) == len(expected)
            assert all(mapping in expected for mapping in found)


@pytest.mark.parametrize("domain", sorted(DOMAINS))
def test_goal_states_are_those_that_contain_the_closed_goal(domain: str) -> None:
    """R(g) = R(cl(g)), on which the whole method rests (DESIGN.md, section 3)."""
    for seed in range(10):
        drawn = random_problem(Random(seed), domain)
        closed = closure(drawn)
        if closed is not None:
            assert drawn.goal <= closed
            assert goal_states(replace(drawn, goal=closed)) == goal_states(drawn)


# --- The random problems ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("domain", sorted(DOMAINS))
@pytest.mark.slow
@pytest.mark.parametrize("cases", [150])
def test_the_random_problems_are_small_varied_and_repeatable(domain: str, cases: int) -> None:
    pairs = [random_pair(Random(seed), domain) for seed in range(cases)]
    assert pairs[:5] == [random_pair(Random(seed), domain) for seed in range(5)]
    both = [drawn for pair in pairs for drawn in (pair.reference, pair.generated)]
    assert all(reachable(drawn, limit=MOST_STATES) is not None for drawn in both)
    used = {atom[0] for drawn in both for atom in drawn.init | drawn.goal}
    assert used > VOCABULARY[domain].keys()
    assert any(not solvable(drawn) for drawn in both)
    assert {len(drawn.goal) for drawn in both} >= {0, 1, 2, 3, 4}
    equal = [equivalent(pair.reference, pair.generated) for pair in pairs]
    assert 0.3 < sum(equal) / len(equal) < 0.9
