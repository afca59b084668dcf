"""Canonical labelling against networkx's matcher where one can wait for it, and on symmetry, where one cannot."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pddl_eval.equivalence import same_graph, scene_graph
from pddl_eval.equivalence.canonical import LabelledGraph, isomorphic
from pddl_eval.model import Problem, renamed

PREDICATES = {"flag": 0, "clear": 1, "on": 2, "right": 2, "between": 3}


def random_problem(rng: Random) -> Problem:
    objects = {f"o{i}": rng.choice(["object", "tile"]) for i in range(rng.randint(0, 5))}
    names = list(objects)

    def atoms() -> frozenset[tuple[str, ...]]:
        usable = [(p, arity) for p, arity in PREDICATES.items() if names or arity == 0]
        chosen = [rng.choice(usable) for _ in range(rng.randint(0, 6))]
        return frozenset((p, *(rng.choice(names) for _ in range(arity))) for p, arity in chosen)

    return Problem("p", "d", objects, atoms(), atoms())


def shuffled(problem: Problem, rng: Random) -> Problem:
    names = list(problem.objects)
    rng.shuffle(names)
    new = {old: f"n{i}" for i, old in enumerate(names)}
    objects = {new[old]: problem.objects[old] for old in names}
    return Problem("q", "d", objects, renamed(problem.init, new), renamed(problem.goal, new))


def graph(problem: Problem) -> LabelledGraph:
    return LabelledGraph(problem.objects, {"init": problem.init, "goal": problem.goal})


@settings(deadline=None)
@given(st.integers(0, 2**32))
def test_a_renamed_copy_has_the_same_form_and_the_orders_give_the_renaming(seed: int) -> None:
    rng = Random(seed)
    problem = random_problem(rng)
    copy = shuffled(problem, rng)
    a, b = graph(copy), graph(problem)
    assert isomorphic(a, b)
    object_map = dict(zip(a.order, b.order, strict=True))
    assert renamed(copy.init, object_map) == problem.init
    assert renamed(copy.goal, object_map) == problem.goal
    assert {object_map[name]: type_ for name, type_ in copy.objects.items()} == problem.objects


@settings(deadline=None)
@given(st.integers(0, 2**32))
def test_small_problems_agree_with_the_matcher_of_networkx(seed: int) -> None:
    rng = Random(seed)
    problem = random_problem(rng)
    other = shuffled(problem, rng)
    if other.init and rng.random() < 0.7:
        lost = rng.choice(sorted(other.init))
        regained = (lost[0], *rng.choices(list(other.objects), k=len(lost) - 1)) if len(lost) > 1 else lost
        other = Problem("q", "d", other.objects, other.init - {lost} | {regained}, other.goal)
    assert isomorphic(graph(problem), graph(other)) == same_graph(scene_graph(problem), scene_graph(other))


def towers(count: int, height: int, prefix: str) -> Problem:
    blocks = [[f"{prefix}{t}-{h}" for h in range(height)] for t in range(count)]
    on = {("on", tower[h + 1], tower[h]) for tower in blocks for h in range(height - 1)}
    return Problem("p", "d", {b: "object" for tower in blocks for b in tower}, frozenset(on), frozenset())


@pytest.mark.parametrize(("count", "height"), [(20, 5), (100, 1), (1, 100), (50, 2)])
def test_symmetric_problems_are_labelled(count: int, height: int) -> None:
    assert isomorphic(graph(towers(count, height, "a")), graph(towers(count, height, "b")))


def test_graphs_that_look_alike_to_every_object_are_told_apart() -> None:
    """One hexagon and two triangles: the same degrees everywhere, so counting neighbours cannot see the difference."""

    def rings(*lengths: int) -> Problem:
        names = [[f"{r}-{i}" for i in range(length)] for r, length in enumerate(lengths)]
        atoms = {("next", ring[i], ring[(i + 1) % len(ring)]) for ring in names for i in range(len(ring))}
        return Problem("p", "d", {n: "object" for ring in names for n in ring}, frozenset(atoms), frozenset())

    one, two = graph(rings(6)), graph(rings(3, 3))
    assert one.invariant == two.invariant
    assert not isomorphic(one, two)


def test_an_atom_in_the_initial_state_is_not_the_same_atom_in_the_goal() -> None:
    init = LabelledGraph({"a": "object"}, {"init": [("clear", "a")], "goal": []})
    goal = LabelledGraph({"a": "object"}, {"init": [], "goal": [("clear", "a")]})
    assert not isomorphic(init, goal)


def test_only_a_graph_without_symmetry_is_rigid() -> None:
    assert LabelledGraph({"a": "t", "b": "t"}, {"init": [("on", "a", "b")]}).is_rigid
    assert not LabelledGraph({"a": "t", "b": "t"}, {"init": []}).is_rigid


def test_thousands_of_interchangeable_objects_are_labelled() -> None:
    def balls(prefix: str) -> LabelledGraph:
        names = [f"{prefix}{i}" for i in range(5000)]
        return LabelledGraph(dict.fromkeys([*names, "x"], "object"), {"init": [("at", name, "x") for name in names]})

    assert isomorphic(balls("a"), balls("b"))
    assert sorted(balls("a").order) == sorted([*(f"a{i}" for i in range(5000)), "x"])
