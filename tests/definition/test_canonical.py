"""Canonical labelling against judges that share no code with it, and on symmetry, where they cannot be waited for."""

from collections import Counter

import pytest
from pddl_eval import certificate
from pddl_eval.definition.canonical import LabelledGraph, isomorphic
from pddl_eval.definition.model import Problem

from tests.measure.canonical import AGREED, UNDECIDED, compared, draw
from tests.support.volume import in_two_sizes


@in_two_sizes(30, 2_000)
def test_random_pairs_against_the_judges(cases: int) -> None:
    """Equal forms mean isomorphic, and the orders of isomorphic graphs are an isomorphism.

    Nothing of up to 12 objects is undecided, and next to nothing larger.

    ``python -m tests.measure.canonical`` draws more.
    """
    seen: Counter[tuple[str, bool]] = Counter()
    undecided = 0
    for number in range(cases):
        how, a, b = draw(1, number)
        expected, outcome, note = compared(how, a, b)
        if outcome == UNDECIDED and len(a.colors) > 12:  # dense and symmetric: some thousand atoms
            undecided += 1
            continue
        assert outcome == AGREED, (number, note, a, b)
        seen[how, expected] += 1
    assert undecided <= cases / 5_000
    assert min(seen[how, expected] for how in ("edit", "sibling") for expected in (True, False)) > cases / 100


def graph(problem: Problem) -> LabelledGraph:
    return LabelledGraph(problem.objects, {"init": problem.init, "goal": problem.goal})


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


def test_atoms_differ_by_predicate_arity_and_the_places_of_an_argument() -> None:
    forms = [
        LabelledGraph({"a": "t", "b": "t"}, {"init": atoms}).form
        for atoms in (
            [],
            [("p",)],
            [("q",)],
            [("p", "a")],
            [("p", "a", "a")],
            [("p", "a", "b")],
            [("p", "a", "a", "b")],
            [("p", "a", "b", "a")],
            [("p", "b", "a", "a")],
            [("p", "a", "b"), ("p", "b", "a")],
            [("p", "a", "a"), ("p", "b", "b")],
            [("p", "a"), ("p", "b")],
            [("p", "a"), ("q", "a")],
            [("p", "a"), ("q", "b")],
            [("p", "a"), ("p",)],
        )
    ]
    assert len(set(forms)) == len(forms)


def test_thousands_of_interchangeable_objects_are_labelled() -> None:
    def balls(prefix: str) -> LabelledGraph:
        names = [f"{prefix}{i}" for i in range(5000)]
        return LabelledGraph(dict.fromkeys([*names, "x"], "object"), {"init": [("at", name, "x") for name in names]})

    assert isomorphic(balls("a"), balls("b"))
    assert sorted(balls("a").order) == sorted([*(f"a{i}" for i in range(5000)), "x"])


@pytest.mark.parametrize(
    ("goal", "digest"),
    [
        ("(and)", "d6f02a746b9de7af5d16bd87e37e80e6"),
        ("(clear a)", "8cb68a6175b06092214f167727922014"),
        ("(on a b)", "dba502fb48b5afbf673b73a840d9297a"),
        ("(and (on a b) (on b a))", "ba4a434d8329697875bb3414855cd4a4"),
    ],
)
def test_certificates_of_this_version_never_change(goal: str, digest: str) -> None:
    """Where one of these changes, ``verdict.CERTIFICATE_VERSION`` has to change with it."""
    init = "(arm-empty) (clear a) (on a b) (on-table b) (clear c) (on-table c)"
    text = f"(define (problem p) (:domain blocksworld) (:objects a b c) (:init {init}) (:goal {goal}))"
    assert certificate(text) == digest


def test_certificates_do_not_depend_on_how_the_domain_is_written() -> None:
    """Issue 24: not on the order of an operator's parameters, not on types and constants that nothing uses."""
    text = (
        "(define (domain d) (:types{} place - thing) (:constants{} home - place) (:action go"
        " :parameters ({}) :precondition (and (at ?a) (road ?a ?b) (not (= {}))) :effect (and (at ?b) (seen home))))"
    )
    problem = (
        "(define (problem p) (:domain d) (:objects a b - place) (:init (at a) (road a b) (near b home)) (:goal (at b)))"
    )
    plain = certificate(problem, text.format("", "", "?a ?b - place", "?a ?b"))
    others = [
        text.format("", "", "?b ?a - place", "?a ?b"),
        text.format("", "", "?a ?b - place", "?b ?a"),
        text.format(" spare - place", "", "?a ?b - place", "?a ?b"),
        text.format("", " spare", "?a ?b - place", "?a ?b"),
    ]
    assert {certificate(problem, other) for other in others} == {plain}
    different = [
        text.format("", "", "?a ?b - thing", "?a ?b"),
        text.format("", "", "?a - place ?b - thing", "?a ?b"),
        text.format("", "", "?a ?b - place", "?a ?a"),
    ]
    assert len({certificate(problem, other) for other in different} | {plain}) == 4


def test_where_the_types_of_objects_stand_in_the_domain_counts() -> None:
    text = "(define (domain d) (:types place - object yard - {}) (:action go :parameters (?a - place) :effect (at ?a)))"
    problem = "(define (problem p) (:domain d) (:objects a - yard) (:init (at a)) (:goal (at a)))"
    assert certificate(problem, text.format("place")) != certificate(problem, text.format("object"))
