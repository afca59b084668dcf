"""The paper's scene and problem graphs (section 3.3) as networkx graphs, for people and for checks.

Deciding isomorphism at speed is ``canonical``'s business; it works on a smaller encoding of the same graphs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from pddl_eval.model import Atom, Problem

if TYPE_CHECKING:
    import networkx


def initial_scene(problem: Problem) -> networkx.MultiDiGraph:
    """SceneGraph_init: a node for each object and each initial atom (``kind`` object or atom).

    An object's node carries its ``type``, an atom's its ``predicate`` and ``scene``; an edge from an atom to an
    argument carries ``predicate``, ``position`` (0, 1, …) and ``scene``.

    >>> problem = Problem("p", "d", {"a": "object"}, frozenset({("clear", "a")}), frozenset())
    >>> list(initial_scene(problem).edges(data=True))
    [(('init', 'clear', 'a'), 'a', {'predicate': 'clear', 'position': 0, 'scene': 'init'})]
    """
    return _graph(problem.objects, {"init": problem.init})


def goal_scene(problem: Problem, goal: Iterable[Atom] | None = None) -> networkx.MultiDiGraph:
    """SceneGraph_goal over the problem's goal, or over the closed ``goal`` that is given."""
    return _graph(problem.objects, {"goal": problem.goal if goal is None else goal})


def problem_graph(problem: Problem, goal: Iterable[Atom] | None = None) -> networkx.MultiDiGraph:
    """ProblemGraph: initial and goal scene over the same object nodes."""
    return _graph(problem.objects, {"init": problem.init, "goal": problem.goal if goal is None else goal})


def same_graph(a: networkx.MultiDiGraph, b: networkx.MultiDiGraph) -> bool:
    """Isomorphism by networkx's matcher: the definition in code, exponential on symmetric graphs.

    >>> a = Problem("p", "d", {"x": "object"}, frozenset({("clear", "x")}), frozenset())
    >>> b = Problem("p", "d", {"y": "object"}, frozenset({("clear", "y")}), frozenset())
    >>> same_graph(problem_graph(a), problem_graph(b))
    True
    """
    import networkx

    def same_node(a: Mapping[str, object], b: Mapping[str, object]) -> bool:
        return a == b

    def same_edges(a: Mapping[int, Mapping[str, object]], b: Mapping[int, Mapping[str, object]]) -> bool:
        def key(edges: Mapping[int, Mapping[str, object]]) -> list[str]:
            return sorted(repr(sorted(edge.items())) for edge in edges.values())

        return key(a) == key(b)

    return networkx.is_isomorphic(a, b, node_match=same_node, edge_match=same_edges)


def _graph(objects: Mapping[str, str], scenes: Mapping[str, Iterable[Atom]]) -> networkx.MultiDiGraph:
    import networkx

    graph = networkx.MultiDiGraph()
    for name, type_ in objects.items():
        graph.add_node(name, kind="object", type=type_)
    for scene, atoms in scenes.items():
        for atom in sorted(atoms):
            node = (scene, *atom)
            graph.add_node(node, kind="atom", predicate=atom[0], scene=scene)
            for position, argument in enumerate(atom[1:]):
                graph.add_edge(node, argument, predicate=atom[0], position=position, scene=scene)
    return graph
