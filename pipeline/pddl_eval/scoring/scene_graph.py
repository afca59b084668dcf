"""The paper's scene and problem graphs (section 3.3) as networkx graphs, for people and for checks.

Deciding isomorphism at speed is ``canonical``'s business; it works on a smaller encoding of the same graphs.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from pddl_eval.definition.model import Atom, Problem
from pddl_eval.definition.pddl import ParseError, Unreadable, read_problem

if TYPE_CHECKING:
    import networkx


def scene_graph(
    problem: str | Problem, scenes: Iterable[str] = ("init", "goal"), *, goal: Iterable[Atom] | None = None
) -> networkx.MultiDiGraph:
    """The paper's ProblemGraph of a problem, as a networkx graph, which notebooks draw.

    * ``problem``: a PDDL text or a ``Problem``;
    * ``scenes``: with ``("init",)`` or ``("goal",)`` it is one of the paper's SceneGraphs;
    * ``goal``: replaces the problem's own goal, for instance by its closure.

    There is a node for each object and each atom (``kind`` object or atom). An object's node has its ``type``, an
    atom's node its ``predicate`` and ``scene``. An edge from an atom to an argument has ``predicate``, ``position``
    (0, 1, …) and ``scene``.

    Raises ``ParseError`` if the text is not a STRIPS problem: only its atoms are shown.

    >>> problem = Problem("p", "d", {"a": "object"}, frozenset({("clear", "a")}), frozenset())
    >>> list(scene_graph(problem).edges(data=True))
    [(('init', 'clear', 'a'), 'a', {'predicate': 'clear', 'position': 0, 'scene': 'init'})]
    """
    import networkx  # takes a tenth of a second, and only this function needs it

    if isinstance(problem, str):
        found = read_problem(problem)
        if isinstance(found, Unreadable):
            raise ParseError(found.verdict, found.detail)
        problem = found
    graph = networkx.MultiDiGraph()
    for name, type_ in problem.objects.items():
        graph.add_node(name, kind="object", type=type_)
    for scene in scenes:
        atoms = problem.init if scene == "init" else problem.goal if goal is None else goal
        for atom in sorted(atoms):
            node = (scene, *atom)
            graph.add_node(node, kind="atom", predicate=atom[0], scene=scene)
            for position, argument in enumerate(atom[1:]):
                graph.add_edge(node, argument, predicate=atom[0], position=position, scene=scene)
    return graph


def problem_of(graph: networkx.MultiDiGraph) -> Problem | None:
    """The problem whose graph that is, as far as the graph says it; None if it is no graph of ``scene_graph``.

    >>> problem = Problem("p", "d", {"a": "block"}, frozenset({("clear", "a")}), frozenset({("on", "a", "a")}))
    >>> problem_of(scene_graph(problem)) == Problem("", "", problem.objects, problem.init, problem.goal)
    True
    """
    kinds = dict(graph.nodes(data="kind"))
    if not kinds or not {*kinds.values()} <= {"object", "atom"}:
        return None
    atoms = [node for node, kind in kinds.items() if kind == "atom"]
    init, goal = (frozenset(node[1:] for node in atoms if node[0] == scene) for scene in ("init", "goal"))
    return Problem("", "", {name: graph.nodes[name]["type"] for name in kinds.keys() - {*atoms}}, init, goal)
