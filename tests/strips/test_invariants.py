"""Groups, h² and regression: whatever they say holds in every reachable state; and what they should find they find."""

from __future__ import annotations

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st
from pddl_eval.definition.domains import blocksworld, rover_single_stores
from pddl_eval.definition.model import Atom, Domain, Problem
from pddl_eval.definition.pddl import parse_domain
from pddl_eval.definition.planning.invariants import MAX_LITERALS, h2, is_unreachable, unit_propagation
from pddl_eval.definition.planning.mutex_groups import mutex_groups
from pddl_eval.definition.planning.task import GroundTask, ground

from tests.strips.random_tasks import random_task

BLOCKS = parse_domain(blocksworld.PDDL)


def on_the_table(count: int, *without: Atom) -> GroundTask:
    """So many blocks on the table; ``without`` is missing from the initial state."""
    names = [f"b{number}" for number in range(count)]
    init = {("arm-empty",)} | {(predicate, name) for name in names for predicate in ("clear", "on-table")}
    task = ground(
        Problem("p", "blocksworld", dict.fromkeys(names, "object"), frozenset(init - {*without}), frozenset()), BLOCKS
    )
    assert isinstance(task, GroundTask)
    return task


def groups_with(task: GroundTask, atom: Atom) -> set[frozenset[Atom]]:
    """The groups of which exactly one is true, of those that have the atom."""
    return {task.state(group) - task.always for group in mutex_groups(task).exactly_one if group & task.bit[atom]}


def test_finds_the_mutex_groups_of_blocks_world() -> None:
    task = on_the_table(3)
    blocks = ["b0", "b1", "b2"]
    arm = {("arm-empty",)} | {("holding", block) for block in blocks}
    place = {("holding", "b0"), ("on-table", "b0")} | {("on", "b0", below) for below in blocks}
    top = {("holding", "b0"), ("clear", "b0")} | {("on", above, "b0") for above in blocks}
    assert groups_with(task, ("holding", "b0")) == {frozenset(arm), frozenset(place), frozenset(top)}


def test_a_broken_initial_state_costs_only_its_own_group() -> None:
    task = on_the_table(3, ("clear", "b0"))
    assert not any(task.bit.keys() & {("holding", "b0"), ("on", "b1", "b0"), ("on", "b0", "b1")})
    assert len(groups_with(task, ("holding", "b1"))) == 3


def test_an_invalid_start_proves_nothing_about_it() -> None:
    """Two robots where the domain means one: no group of places holds one atom."""
    domain = parse_domain("""(define (domain d) (:action go :parameters (?a ?b)
      :precondition (and (at ?a) (road ?a ?b)) :effect (and (at ?b) (not (at ?a)))))""")
    init = frozenset({("at", "x"), ("at", "y"), ("road", "x", "y"), ("road", "y", "x")})
    task = ground(Problem("p", "d", {"x": "object", "y": "object"}, init, frozenset()), domain)
    assert isinstance(task, GroundTask)
    assert mutex_groups(task).at_most_one == ()


def test_h2_shows_that_what_is_sent_is_had() -> None:
    init = {("at_rover", "w"), ("at_lander", "w"), ("visible", "w", "w"), ("at_soil_sample", "w")}
    init |= {("empty", "s"), ("available",), ("channel_free",)}
    problem = Problem("p", "rover", {"w": "waypoint", "s": "store"}, frozenset(init), frozenset())
    task = ground(problem, parse_domain(rover_single_stores.PDDL))
    assert isinstance(task, GroundTask)
    sent = task.bit[("communicated_soil_data", "w")]
    with_h2 = unit_propagation(task, sent, 0)
    without_h2 = unit_propagation(task, sent, 0, with_h2=False)
    assert with_h2 is not None
    assert without_h2 is not None
    assert task.state(with_h2[0]) >= {("communicated_soil_data", "w"), ("have_soil_analysis", "w")}
    assert with_h2[1] & task.bit[("at_soil_sample", "w")]
    assert without_h2[0] == sent


def test_a_large_task_has_no_h2_table() -> None:
    task = on_the_table(26)
    assert 2 * len(task.atoms) > MAX_LITERALS
    assert h2(task) is None


def test_the_last_place_left_is_implied() -> None:
    task = on_the_table(3)
    tower = task.bit["on", "b0", "b1"] | task.bit["on", "b1", "b2"] | task.bit["on-table", "b2"]
    known = unit_propagation(task, tower, 0, with_h2=False)
    assert known is not None
    assert task.state(known[0]) - task.state(tower) == {("clear", "b0"), ("arm-empty",)}
    assert unit_propagation(task, task.bit["on", "b0", "b1"] | task.bit["on", "b2", "b1"], 0, with_h2=False) is None


def test_regression_refutes_a_circle_that_no_pair_refutes() -> None:
    task = on_the_table(4)
    circle = [("on", "b0", "b1"), ("on", "b1", "b2"), ("on", "b2", "b0")]
    assert is_unreachable(task, sum(task.bit[atom] for atom in circle), 0)
    assert unit_propagation(task, sum(task.bit[atom] for atom in circle), 0) is not None
    assert not is_unreachable(task, sum(task.bit[atom] for atom in circle[:2]), 0)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**9))
def test_what_they_prove_holds_in_every_reachable_state(seed: int) -> None:
    check(*random_task(seed), Random(seed))


def check(problem: Problem, domain: Domain, choose: Random) -> None:
    task = ground(problem, domain)
    assert isinstance(task, GroundTask)
    states = task.space.states(2_000)
    if states is None:
        return
    groups = mutex_groups(task)
    assert all((state & group).bit_count() <= 1 for state in states for group in groups.at_most_one)
    assert all(state & group for state in states for group in groups.exactly_one)
    assert not any(state & groups.impossible for state in states)
    table = h2(task)
    assert isinstance(table, tuple)
    n = len(task.atoms)
    everything = (1 << n) - 1
    for state in states:
        literals = state | (everything & ~state) << n
        assert all(literals & ~table[literal] == 0 for literal in range(2 * n) if literals >> literal & 1)
    for _ in range(3):
        true = choose.getrandbits(n + 1) & choose.getrandbits(n + 1) & everything
        false = choose.getrandbits(n + 1) & choose.getrandbits(n + 1) & everything & ~true
        having = [state for state in states if state & true == true and not state & false]
        known = unit_propagation(task, true, false)
        assert known is not None or not having
        assert known is None or all(not known[0] & ~state and not known[1] & state for state in having)
        assert not having or not is_unreachable(task, true, false)
