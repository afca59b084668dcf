"""Canonical labelling: two sets of atoms over typed objects are isomorphic exactly when their forms are equal.

BLISS (through igraph) labels; it uses the graph's symmetries instead of suffering from them, so twenty identical towers
or a hundred interchangeable balls take microseconds where a backtracking matcher hangs. The graph it is given is the
paper's scene graph with everything folded away that a colour can say: a unary atom is part of its object's colour,
all binary atoms over the same ordered pair of objects are one node, and only longer atoms keep a node an argument.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from pddl_eval.model import Atom

if TYPE_CHECKING:
    import igraph

SEPARATOR = "\n"
"""Between the labels of one node; no name contains it."""


FOLD_TWINS_FROM = 64
"""Objects from which looking for twins pays."""


class LabelledGraph:
    """The graph of some scenes (``{"init": atoms, "goal": atoms}``) over coloured objects.

    ``invariant`` is cheap and equal for isomorphic graphs; ``form`` is equal exactly for isomorphic graphs; the k-th
    objects of ``order`` in two isomorphic graphs correspond.

    >>> a = LabelledGraph({"x": "block", "y": "block"}, {"init": [("on", "x", "y")]})
    >>> b = LabelledGraph({"x": "block", "y": "block"}, {"init": [("on", "y", "x")]})
    >>> a.form == b.form, dict(zip(a.order, b.order)) == {"x": "y", "y": "x"}
    (True, True)
    """

    def __init__(self, colors: Mapping[str, str], scenes: Mapping[str, Iterable[Atom]]) -> None:
        own: dict[str, list[str]] = {name: [] for name in colors}
        pairs: dict[Atom, list[str]] = {}
        longer: list[tuple[str, Atom]] = []
        flags: list[str] = []
        for scene, atoms in scenes.items():
            labels: dict[str, str] = {}
            for atom in atoms:
                label = labels.get(atom[0]) or labels.setdefault(atom[0], f"{scene} {atom[0]}")
                if len(atom) == 2:
                    own[atom[1]].append(label)
                elif len(atom) == 3:
                    found = pairs.get(atom[1:])
                    if found is None:
                        pairs[atom[1:]] = [label]
                    else:
                        found.append(label)
                elif len(atom) == 1:
                    flags.append(label)
                else:
                    longer.append((label, atom))
        objects = {name: _joined("0", colors[name], labels) for name, labels in own.items()}
        self._pairs = [(first, second, _joined("1", "", labels)) for (first, second), labels in pairs.items()]
        self._longer = longer
        self._flags = tuple(sorted(flags))
        self._twins = self._fold_twins(objects) if len(colors) >= FOLD_TWINS_FROM else {}
        self._objects = objects

    def _fold_twins(self, objects: dict[str, str]) -> dict[str, list[str]]:
        """Leave one of each set of objects with the same label and the same neighbours, the label saying how many.

        Interchangeable objects are what costs BLISS most, quadratically: a thousand balls in one room. Which objects
        are twins is a property of the graph, so isomorphic graphs stay isomorphic, and others do not become so.
        """
        neighbours: dict[str, list[tuple[object, ...]]] = {name: [] for name in objects}
        for first, second, labels in self._pairs:
            neighbours[first].append((0, second, labels))
            neighbours[second].append((1, first, labels))
        for place, (_, atom) in enumerate(self._longer):
            for name in atom[1:]:
                neighbours[name].append((2, place, name))
        alike: dict[object, list[str]] = {}
        for name, around in neighbours.items():
            alike.setdefault((objects[name], frozenset(around)), []).append(name)
        twins = {names[0]: names for names in alike.values() if len(names) > 1}
        for names in twins.values():
            for name in names[1:]:
                del objects[name]
            objects[names[0]] += f"{SEPARATOR}{len(names)} alike"
        self._pairs = [pair for pair in self._pairs if pair[0] in objects and pair[1] in objects]
        return twins

    @cached_property
    def invariant(self) -> tuple[object, ...]:
        """Flags, and how often each label occurs on objects, pairs and longer atoms."""
        return (
            self._flags,
            Counter(self._objects.values()),
            Counter([labels for _, _, labels in self._pairs]),
            Counter([(label, len(atom)) for label, atom in self._longer]),
        )

    @cached_property
    def _graph(self) -> tuple[igraph.GraphBase, list[int], tuple[str, ...], list[tuple[int, int]]]:
        """The graph for BLISS, each node's colour as a rank in the palette, the palette, and the edges."""
        import igraph

        index = {name: i for i, name in enumerate(self._objects)}
        nodes = list(self._objects.values())
        edges: list[tuple[int, int]] = []
        for node, (first, second, labels) in enumerate(self._pairs, len(nodes)):
            nodes.append(labels)
            edges.append((index[first], node))
            edges.append((node, index[second]))
        for label, atom in self._longer:
            center = len(nodes)
            nodes.append(_joined("2", str(len(atom)), [label]))
            for position, argument in enumerate(atom[1:]):
                edges += [(index[argument], len(nodes)), (len(nodes), center)]
                nodes.append(_joined("3", str(position), []))
        palette = sorted(set(nodes))
        rank = {label: i for i, label in enumerate(palette)}
        return igraph.GraphBase(len(nodes), edges, True), [rank[label] for label in nodes], tuple(palette), edges

    @cached_property
    def _labelling(self) -> tuple[tuple[object, ...], list[str]]:
        graph, colors, palette, edges = self._graph
        order = graph.canonical_permutation(color=colors)
        count = len(colors)
        position_of = [0] * count
        for position, node in enumerate(order):
            position_of[node] = position
        form = (
            self._flags,
            palette,
            tuple([colors[node] for node in order]),
            tuple(sorted([position_of[a] * count + position_of[b] for a, b in edges])),
        )
        names = list(self._objects)
        found = [names[node] for node in order if node < len(names)]
        return form, [name for first in found for name in self._twins.get(first, (first,))]

    @cached_property
    def is_rigid(self) -> bool:
        """True when no bijection but the identity maps the graph onto itself."""
        graph, colors, _, _ = self._graph
        return not self._twins and bool(graph.count_automorphisms(color=colors) == 1)

    @property
    def form(self) -> tuple[object, ...]:
        """Equal for two graphs exactly when they are isomorphic."""
        return self._labelling[0]

    @property
    def order(self) -> list[str]:
        """The objects in canonical order."""
        return self._labelling[1]


def _joined(kind: str, color: str, labels: list[str]) -> str:
    """A node's colour as one string, quick to hash and to sort: what kind of node it is, and all its labels."""
    if len(labels) > 1:
        labels.sort()
    return SEPARATOR.join([kind, color, *labels])


def isomorphic(a: LabelledGraph, b: LabelledGraph) -> bool:
    """True when a colour-preserving bijection of the objects maps the scenes of one onto those of the other."""
    return a.invariant == b.invariant and a.form == b.form
