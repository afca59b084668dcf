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

from pipeline.problem import Atom

if TYPE_CHECKING:
    import igraph

Label = tuple[object, ...]


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
        pairs: dict[tuple[str, str], list[str]] = {}
        longer: list[tuple[str, Atom]] = []
        flags: list[str] = []
        for scene, atoms in scenes.items():
            for atom in atoms:
                label = f"{scene} {atom[0]}"
                if len(atom) == 2:
                    own[atom[1]].append(label)
                elif len(atom) == 3:
                    pairs.setdefault(atom[1:], []).append(label)  # type: ignore[arg-type]
                elif len(atom) == 1:
                    flags.append(label)
                else:
                    longer.append((label, atom))
        labelled: dict[str, Label] = {name: (colors[name], *sorted(labels)) for name, labels in own.items()}
        self._pairs = [(pair, tuple(sorted(labels))) for pair, labels in pairs.items()]
        self._longer = longer
        self._flags = tuple(sorted(flags))
        self._twins = self._fold_twins(labelled) if len(colors) >= FOLD_TWINS_FROM else {}
        self._names = list(labelled)
        self._labels = list(labelled.values())

    def _fold_twins(self, labelled: dict[str, Label]) -> dict[str, list[str]]:
        """Leave one of each set of objects with the same label and the same neighbours, the label saying how many.

        Interchangeable objects are what costs BLISS most, quadratically: a thousand balls in one room. Which objects
        are twins is a property of the graph, so isomorphic graphs stay isomorphic, and others do not become so.
        """
        neighbours: dict[str, list[Label]] = {name: [] for name in labelled}
        for (first, second), labels in self._pairs:
            neighbours[first].append((0, second, labels))
            neighbours[second].append((1, first, labels))
        for place, (_, atom) in enumerate(self._longer):
            for name in atom[1:]:
                neighbours[name].append((2, place, name))
        alike: dict[object, list[str]] = {}
        for name, around in neighbours.items():
            alike.setdefault((labelled[name], frozenset(around)), []).append(name)
        twins = {names[0]: names for names in alike.values() if len(names) > 1}
        for names in twins.values():
            for name in names[1:]:
                del labelled[name]
            labelled[names[0]] = (*labelled[names[0]], f"{len(names)} alike")
        self._pairs = [pair for pair in self._pairs if pair[0][0] in labelled and pair[0][1] in labelled]
        return twins

    @cached_property
    def invariant(self) -> tuple[object, ...]:
        """Flags, and how often each label occurs on objects, pairs and longer atoms."""
        return (
            self._flags,
            Counter(self._labels),
            Counter(labels for _, labels in self._pairs),
            Counter((label, len(atom)) for label, atom in self._longer),
        )

    @cached_property
    def _graph(self) -> tuple[igraph.GraphBase, list[int], tuple[Label, ...], list[tuple[int, int]]]:
        """The graph for BLISS, each node's colour as a rank in the palette, the palette, and the edges."""
        import igraph

        index = {name: i for i, name in enumerate(self._names)}
        nodes: list[Label] = [(0, label) for label in self._labels]
        edges: list[tuple[int, int]] = []
        for (first, second), labels in self._pairs:
            edges += [(index[first], len(nodes)), (len(nodes), index[second])]
            nodes.append((1, labels))
        for label, atom in self._longer:
            center = len(nodes)
            nodes.append((2, (label, len(atom))))
            for position, argument in enumerate(atom[1:]):
                edges += [(index[argument], len(nodes)), (len(nodes), center)]
                nodes.append((3, (position,)))
        palette = {label: rank for rank, label in enumerate(sorted(set(nodes)))}  # type: ignore[type-var]
        graph = igraph.GraphBase(len(nodes), edges, True)
        return graph, [palette[node] for node in nodes], tuple(palette), edges

    @cached_property
    def _labelling(self) -> tuple[tuple[object, ...], list[str]]:
        graph, colors, palette, edges = self._graph
        order = graph.canonical_permutation(color=colors)
        position_of = [0] * len(colors)
        for position, node in enumerate(order):
            position_of[node] = position
        form = (
            self._flags,
            palette,
            tuple([colors[node] for node in order]),
            tuple(sorted([(position_of[a], position_of[b]) for a, b in edges])),
        )
        found = [self._names[node] for node in order if node < len(self._names)]
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


def isomorphic(a: LabelledGraph, b: LabelledGraph) -> bool:
    """True when a colour-preserving bijection of the objects maps the scenes of one onto those of the other."""
    return a.invariant == b.invariant and a.form == b.form
