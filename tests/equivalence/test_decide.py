"""Verdicts on pairs whose answer is known from the definition, and the words that go with them."""

import pyarrow as pa
import pytest
from pddl_eval.definition import comparison, wording
from pddl_eval.definition.difference import Difference
from pddl_eval.definition.domains import known_domain
from pddl_eval.definition.model import Problem, State
from pddl_eval.definition.task import Task
from pddl_eval.definition.verdict import ProblemVerdict, Verdict


def atoms(text: str) -> State:
    return frozenset(tuple(atom.split()) for atom in text.split(",") if atom.strip())


def blocks(init: str, goal: str, names: str = "a b c", types: str = "object", domain: str = "blocksworld") -> Problem:
    return Problem("p", domain, dict.fromkeys(names.split(), types), atoms(init), atoms(goal))


TABLE = "arm-empty, clear a, clear b, clear c, on-table a, on-table b, on-table c"
TOWER = "on a b, on b c"


def compare(
    reference: Problem, generated: Problem, is_placeholder: bool = False, domain: str | None = "blocksworld"
) -> ProblemVerdict:
    known = known_domain(domain) if domain else None
    return comparison.compare(Task(reference, known), Task(generated, known), is_placeholder, check_solvable=False)


def test_the_same_atoms_are_identical() -> None:
    decision = compare(blocks(TABLE, TOWER), blocks(TABLE, TOWER))
    assert (decision.equivalent, decision.verdict) == (True, Verdict.IDENTICAL)
    assert decision.object_map == {"a": "a", "b": "b", "c": "c"}


def test_renamed_objects_are_isomorphic_and_the_map_says_how() -> None:
    renamed = blocks(
        "arm-empty, clear x, clear y, clear z, on-table x, on-table y, on-table z", "on x y, on y z", "x y z"
    )
    decision = compare(blocks(TABLE, TOWER), renamed)
    assert (decision.equivalent, decision.verdict) == (True, Verdict.ISOMORPHIC)
    assert decision.object_map == {"x": "a", "y": "b", "z": "c"}


def test_implied_atoms_make_no_difference() -> None:
    full = blocks(TABLE, TOWER + ", clear a, on-table c, arm-empty")
    decision = compare(full, blocks(TABLE, TOWER))
    assert (decision.equivalent, decision.verdict) == (True, Verdict.EQUIVALENT)
    assert decision.object_map is not None


def test_swapped_blocks_are_another_goal_unless_the_start_is_symmetric() -> None:
    start = "arm-empty, clear a, on a b, on-table b, clear c, on-table c"
    swapped = compare(blocks(start, "on a b, on b c"), blocks(start, "on a c, on c b"))
    assert (swapped.equivalent, swapped.verdict) == (False, Verdict.GOAL_DIFFERS)
    symmetric = compare(blocks(TABLE, "on a b, on b c"), blocks(TABLE, "on a c, on c b"))
    assert (symmetric.equivalent, symmetric.verdict) == (True, Verdict.ISOMORPHIC)


def test_placeholder_mode_compares_the_scenes_separately() -> None:
    start = "arm-empty, clear a, on a b, on-table b, clear c, on-table c"
    decision = compare(blocks(start, "on a b, on b c"), blocks(start, "on a c, on c b"), is_placeholder=True)
    assert (decision.equivalent, decision.verdict) == (True, Verdict.EQUIVALENT)
    assert decision.object_map == {"a": "a", "b": "b", "c": "c"}
    assert decision.goal_object_map == {"a": "a", "c": "b", "b": "c"}


def test_goal_differs_names_an_atom_that_the_other_goal_does_not_imply() -> None:
    start = "arm-empty, clear a, on a b, on-table b, clear c, on-table c"
    decision = compare(blocks(start, "on a c"), blocks(start, "on b c"))
    assert decision.separating_atom == ("on", "a", "c")
    assert decision.separating_side == "reference"
    assert decision.detail == "the goal does not imply (on a c), which the reference asks for"
    stronger = compare(blocks(start, "on a c"), blocks(start, "on a c, on c b"))
    assert stronger.separating_atom == ("on", "c", "b")
    assert stronger.detail == "the goal asks for (on c b), which the reference's goal does not imply"


def test_a_lost_initial_atom_is_named() -> None:
    decision = compare(blocks(TABLE, TOWER), blocks(TABLE.replace("clear b, ", ""), TOWER))
    assert (decision.equivalent, decision.verdict) == (False, Verdict.INIT_DIFFERS)
    assert decision.detail == "the initial state lacks (clear b)"


def test_object_count_names_what_is_missing() -> None:
    two = blocks("arm-empty, clear a, clear b, on-table a, on-table b", "on a b", "a b")
    decision = compare(blocks(TABLE, TOWER), two)
    assert (decision.equivalent, decision.verdict) == (False, Verdict.OBJECT_COUNT)
    assert decision.detail == "2 objects instead of 3; missing: c"


def test_added_types_are_a_strict_no_and_an_untyped_yes() -> None:
    decision = compare(blocks(TABLE, TOWER), blocks(TABLE, TOWER, types="block"))
    assert (decision.equivalent, decision.equivalent_untyped) == (False, True)
    assert decision.verdict == Verdict.TYPES_DIFFER
    assert decision.detail == "a has type block instead of object"


def test_another_domain_is_a_mismatch() -> None:
    decision = compare(blocks(TABLE, TOWER), blocks(TABLE, TOWER, domain="blocks"))
    assert (decision.equivalent, decision.equivalent_untyped) == (False, False)
    assert decision.verdict == Verdict.DOMAIN_MISMATCH
    assert decision.detail == "the domain is blocks instead of blocksworld"


@pytest.mark.parametrize(
    "goal", ["on a a", "on a b, on c b", "on a b, on b a", "holding a, holding b", "on a b, clear b"]
)
def test_an_impossible_goal_is_unsolvable_and_as_a_reference_a_mistake(goal: str) -> None:
    assert compare(blocks(TABLE, TOWER), blocks(TABLE, goal)).verdict == Verdict.UNSOLVABLE
    invalid = compare(blocks(TABLE, goal), blocks(TABLE, goal))
    assert (invalid.equivalent, invalid.verdict) == (None, Verdict.REFERENCE_INVALID)


def test_an_unknown_domain_is_decided_only_where_no_closure_is_needed() -> None:
    def ferry(goal: str, domain: str = "ferry") -> Problem:
        return Problem("p", domain, {"a": "object"}, atoms("at a"), atoms(goal))

    assert compare(ferry("at a"), ferry("at a"), domain=None).equivalent is True
    assert compare(ferry("on a"), ferry("at a"), domain=None).verdict == Verdict.UNDECIDED


def test_five_hundred_balls_and_three_hundred_blocks_are_decided() -> None:
    balls = [f"ball{i}" for i in range(500)]
    init = {("room", "x"), ("room", "y"), ("gripper", "l"), ("free", "l"), ("at-robby", "x")}
    init |= {("ball", ball) for ball in balls} | {("at", ball, "x") for ball in balls}
    objects = dict.fromkeys(["x", "y", "l", *balls], "object")
    moved = Problem("p", "gripper", objects, frozenset(init), frozenset(("at", ball, "y") for ball in balls))
    all_but_one = Problem("p", "gripper", objects, frozenset(init), frozenset(("at", ball, "y") for ball in balls[1:]))
    another = Problem("p", "gripper", objects, frozenset(init), frozenset(("at", ball, "y") for ball in balls[:-1]))
    assert compare(all_but_one, another, domain="gripper").verdict == Verdict.ISOMORPHIC
    assert compare(moved, all_but_one, domain="gripper").verdict == Verdict.GOAL_DIFFERS

    names = [f"b{i}" for i in range(300)]
    on_table = {("clear", b) for b in names} | {("on-table", b) for b in names} | {("arm-empty",)}
    tower = {("on", names[i], names[i + 1]) for i in range(299)}
    backwards = {("on", names[i + 1], names[i]) for i in range(299)}
    stacked = Problem("p", "blocksworld", dict.fromkeys(names, "object"), frozenset(on_table), frozenset(tower))
    reversed_ = Problem(
        "p", "blocksworld", dict.fromkeys(names, "object"), frozenset(on_table), frozenset(backwards | {("arm-empty",)})
    )
    assert compare(stacked, reversed_, domain="blocksworld").verdict == Verdict.EQUIVALENT


ATOM = pa.list_(pa.string())

DIFFERENCE = pa.struct(
    dict.fromkeys(("lacks", "lacks_here", "has", "names"), ATOM)
    | dict.fromkeys(("what", "reason"), pa.string())
    | dict.fromkeys(("found", "expected"), pa.int64())
    | {"atoms": pa.list_(ATOM)}
)


@pytest.mark.parametrize(
    ("generated", "sentence"),
    [
        (blocks(TABLE, TOWER), "the same atoms"),
        (blocks(TABLE, TOWER + ", arm-empty"), "the goals agree once fully specified: 2 implied atoms added"),
        (blocks(TABLE, TOWER, domain="blocks"), "the domain is blocks instead of blocksworld"),
        (blocks("arm-empty", "", "a b"), "2 objects instead of 3; missing: c"),
        (blocks(TABLE, TOWER, types="block"), "a has type block instead of object"),
        (blocks(TABLE + ", holding a", TOWER), "the initial state has (holding a), which is not in the reference"),
        (blocks(TABLE, "on a a"), "the goal is out of reach: (on a a) is never true"),
        (blocks(TABLE, "on a b, on-table c"), "the goal does not imply (on b c), which the reference asks for"),
    ],
)
def test_a_difference_is_plain_enough_for_arrow_and_then_says_the_same(generated: Problem, sentence: str) -> None:
    known = known_domain("blocksworld")
    decision = comparison.decided(Task(blocks(TABLE, TOWER), known), Task(generated, known), False)
    (back,) = pa.array([decision.difference._asdict()], DIFFERENCE).to_pylist()
    back |= {name: tuple(back[name]) for name in ("lacks", "lacks_here", "has", "names")}
    back["atoms"] = tuple(map(tuple, back["atoms"]))
    assert Difference(**back) == decision.difference
    assert wording.sentence(Difference(**back)).startswith(sentence)
