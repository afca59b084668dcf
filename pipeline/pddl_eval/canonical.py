"""Canonical labelling: two sets of atoms over typed objects are isomorphic exactly when their forms are equal.

Individualisation and refinement (McKay and Piperno, "Practical graph isomorphism II", 2014) on coloured relational
structures. An object's colour is its type with its unary atoms; a binary atom is an edge; a longer atom is a vertex
with an edge to each argument. Colours are refined until all objects of a colour have equally many neighbours of each
colour. Edges between all objects of two colours then say nothing more and are dropped; what is left falls into pieces,
which are labelled one by one and sorted. A piece that refinement cannot take apart is branched on: each object of one
colour is individualised in turn, the least form counts, and of objects that a symmetry exchanges one is tried.

The work is bounded: past ``BUDGET`` a graph raises ``OutOfBudgetError``. The form depends on nothing but the structure,
so certificates are the same in every release; a change of the form raises ``verdict.CERTIFICATE_VERSION``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import pairwise
from operator import itemgetter
from typing import Any

from pddl_eval.budget import OutOfBudgetError, check
from pddl_eval.model import Atom

BUDGET = 4_000_000
"""Edges and vertices that refinement may visit for one graph, about a second; ordinary problems need some hundred."""

SPLITTER = 30
"""What a splitter costs besides its edges."""

QUOTIENT = 6
"""What each vertex and edge costs where a piece is copied and its quotient made: they are visited several times."""

DEEPEST = 100
"""Objects individualised one inside the other."""

PREDICATE = itemgetter(0)

Form = tuple[Any, ...]
Edge = tuple[int, int, int]
"""A relation, and the vertices that it leads from and to."""
Cells = dict[int, set[int]]
"""The vertices of each colour. A colour is the number of vertices in smaller colours, as in the textbook."""
Pairs = list[tuple[int, int]]
"""Vertices that a symmetry exchanges."""


class LabelledGraph:
    """The graph of some scenes (``{"init": atoms, "goal": atoms}``) over typed objects.

    ``invariant`` is cheap and equal for isomorphic graphs; ``form`` is equal exactly for isomorphic graphs; the k-th
    objects of ``order`` in two isomorphic graphs correspond. ``form``, ``order`` and ``is_rigid`` raise
    ``OutOfBudgetError``.

    >>> a = LabelledGraph({"x": "block", "y": "block"}, {"init": [("on", "x", "y")]})
    >>> b = LabelledGraph({"x": "block", "y": "block"}, {"init": [("on", "y", "x")]})
    >>> a.form == b.form, dict(zip(a.order, b.order)) == {"x": "y", "y": "x"}
    (True, True)
    """

    def __init__(self, types: Mapping[str, str], scenes: Mapping[str, Iterable[Atom]]) -> None:
        scenes = dict(sorted(scenes.items()))
        known = {scene: sorted(set(map(PREDICATE, atoms))) for scene, atoms in scenes.items()}
        labels = [(scene, name) for scene, names in known.items() for name in names]
        width = len(labels)
        # A vertex's colour, before refinement, is a number: its kind, then a bit for each loop and each unary atom.
        kinds = sorted(set(types.values()))
        kind_of = {kind: i << 2 * width for i, kind in enumerate(kinds)}
        colours = [kind_of[type_] for type_ in types.values()]
        number = {name: vertex for vertex, name in enumerate(types)}
        flags: list[int] = []
        edges: list[Edge] = []
        longer: list[tuple[int, Atom]] = []
        first = 0
        for scene, atoms in scenes.items():
            label_of = {name: label for label, name in enumerate(known[scene], first)}
            first += len(label_of)
            for atom in atoms:
                label = label_of[atom[0]]
                if len(atom) == 2:
                    colours[number[atom[1]]] |= 1 << label
                elif len(atom) == 3:
                    one, other = number[atom[1]], number[atom[2]]
                    if one == other:
                        colours[one] |= 1 << width + label
                    else:
                        edges.append((label, one, other))
                elif len(atom) == 1:
                    flags.append(label)
                else:
                    longer.append((label, atom))
        shapes = sorted({(label, len(atom)) for label, atom in longer})
        shape_of = {shape: len(kinds) + i << 2 * width for i, shape in enumerate(shapes)}
        self._relations = width
        for label, atom in sorted(longer):
            edges += [(width + place, len(colours), number[name]) for place, name in enumerate(atom[1:])]
            colours.append(shape_of[label, len(atom)])
            self._relations = max(self._relations, width + len(atom) - 1)
        self._names, self._colours, self._edges = list(types), colours, edges
        # What is made once and only if asked for; not cached_property, which mypyc's classes have not.
        self._invariant: tuple[object, ...] | None = None
        self._found: tuple[Form, list[int], Pairs] | None = None
        often = sorted(Counter(colours).items())
        self._outline = (tuple(labels), tuple(kinds), tuple(shapes), tuple(sorted(flags)), tuple(often))

    @property
    def invariant(self) -> tuple[object, ...]:
        """How often each colour and each relation occurs."""
        if self._invariant is None:
            self._invariant = self._outline, Counter([relation for relation, _, _ in self._edges])
        return self._invariant

    @property
    def _labelling(self) -> tuple[Form, list[int], Pairs]:
        if self._found is None:
            self._found = self._labelled()
        return self._found

    def _labelled(self) -> tuple[Form, list[int], Pairs]:
        colour, cells = _cells(self._colours)
        search = _Search(len(self._names), len(colour), self._relations)
        edges = sorted(self._edges)  # sets of atoms have another order in each run; which symmetry is found must not
        piece = _Piece(colour, cells, edges)
        search.refine(piece, list(cells))
        labelling = search.label(piece, 0, None)
        assert labelling is not None
        return labelling

    @property
    def form(self) -> Form:
        """Equal for two graphs exactly when they are isomorphic; nested tuples of strings and whole numbers."""
        return *self._outline, self._labelling[0]

    @property
    def order(self) -> list[str]:
        """The objects in canonical order."""
        return [self._names[vertex] for vertex in self._labelling[1] if vertex < len(self._names)]

    @property
    def is_rigid(self) -> bool:
        """True when no bijection but the identity maps the graph onto itself."""
        return not self._labelling[2]


def isomorphic(a: LabelledGraph, b: LabelledGraph) -> bool:
    """True when a colour-preserving bijection of the objects maps the scenes of one onto those of the other."""
    return a.invariant == b.invariant and a.form == b.form


def _cells(keys: list[int]) -> tuple[list[int], Cells]:
    """The colour of each vertex and the vertices of each colour: colours are as the keys are ordered."""
    groups: dict[int, set[int]] = {}
    for vertex, key in enumerate(keys):
        if key in groups:
            groups[key].add(vertex)
        else:
            groups[key] = {vertex}
    colour, cells, start = [0] * len(keys), {}, 0
    for key in sorted(groups):
        cells[start] = groups[key]
        for vertex in groups[key]:
            colour[vertex] = start
        start += len(groups[key])
    return colour, cells


class _Piece:
    """Some vertices, numbered from 0, with their colours and the edges that still say something."""

    def __init__(self, colour: list[int], cells: Cells, edges: list[Edge], around: list[Pairs] | None = None) -> None:
        self.colour = colour
        self.cells = cells
        self.edges = edges
        self.around = around
        """Made when it is asked for: few pieces of a refined one are refined again."""

    def individualised(self, vertex: int) -> _Piece:
        """A copy in which the vertex has a colour of its own, the one below its fellows'."""
        colour, cells = self.colour.copy(), {start: vertices.copy() for start, vertices in self.cells.items()}
        start = colour[vertex]
        cells[start].discard(vertex)
        cells[start + 1] = cells[start]
        for fellow in cells[start + 1]:
            colour[fellow] = start + 1
        cells[start] = {vertex}
        return _Piece(colour, cells, self.edges, self.around)


class _Search:
    """The labelling of one graph: its budget, and the forms that were found to be least."""

    def __init__(self, objects: int, vertices: int, relations: int) -> None:
        self.left = BUDGET
        self.objects = objects
        self.vertices = vertices
        bits = 1 + vertices.bit_length()
        self.units = [(1 << place, 1 << place + bits) for place in range(0, 2 * relations * bits, 2 * bits)]
        self.cost = 1 + (2 * relations * bits >> 9)  # of one edge; long numbers cost more
        self.least: set[Form] = set()

    def spend(self, visits: int) -> None:
        self.left -= visits
        if self.left < 0:
            raise OutOfBudgetError("the graph of its atoms is too symmetric to label within the budget")

    def neighbours(self, piece: _Piece) -> list[Pairs]:
        """For each vertex its neighbours, each with a number in which the edges of each relation are counted apart."""
        if piece.around is None:
            piece.around = [[] for _ in piece.colour]
            for relation, first, second in piece.edges:
                there, back = self.units[relation]
                piece.around[first].append((second, there))
                piece.around[second].append((first, back))
        return piece.around

    def refine(self, piece: _Piece, splitters: list[int]) -> None:  # noqa: C901 (one loop, run most of all)
        """Split colours until all vertices of a colour have equally many edges to each other colour."""
        colour, cells, around = piece.colour, piece.cells, self.neighbours(piece)
        cost = self.cost * (1 + 2 * len(piece.edges) // max(1, len(colour)))
        waiting = set(splitters)
        for splitter in splitters:  # grows while it is walked
            if len(cells) == len(colour):
                break
            waiting.discard(splitter)
            self.spend(SPLITTER + cost * len(cells[splitter]))
            counts: dict[int, int] = {}
            for vertex in cells[splitter]:
                for neighbour, edge in around[vertex]:
                    counts[neighbour] = counts.get(neighbour, 0) + edge
            touched: dict[int, list[int]] = {}
            for vertex in counts:
                start = colour[vertex]
                if start in touched:
                    touched[start].append(vertex)
                elif len(cells[start]) > 1:
                    touched[start] = [vertex]
            for start in sorted(touched):
                new = _split(piece, start, touched[start], counts)
                if not new:
                    continue
                if start in waiting:
                    del new[0]
                else:  # edges to the largest part follow from those to the whole and to the other parts
                    new.remove(max(new, key=lambda part: len(cells[part])))
                splitters += new
                waiting.update(new)

    def label(self, piece: _Piece, depth: int, worst: Form | None) -> tuple[Form, list[int], Pairs] | None:
        """A refined piece's form, its vertices in canonical order, symmetries; None where it exceeds worst.

        The form is the quotient, how many edges of each relation lead from colour to colour, with the forms of what
        the quotient leaves open: the pieces that the other edges make, or the best of the branches.
        """
        check()
        self.spend(QUOTIENT * (len(piece.colour) + len(piece.edges)))
        colour, cells, count = piece.colour, piece.cells, self.vertices
        sizes = tuple([(start, len(cells[start])) for start in sorted(cells)])
        codes = [(relation * count + colour[first]) * count + colour[second] for relation, first, second in piece.edges]
        if len(cells) == len(colour):
            codes.sort()
            return (sizes, tuple(codes)), [vertex for start, _ in sizes for vertex in cells[start]], []
        often = Counter(codes)
        form: Form = (sizes, tuple(sorted(often.items())))
        if worst is not None and form >= worst[:2]:
            if form > worst[:2] or len(worst) == 2:
                return None
            worst = worst[2]
        else:
            worst = None
        size = dict(sizes)
        complete = set()
        for code, times in often.items():
            first, second = code // count % count, code % count
            if times == size[first] * (size[second] - (first == second)):  # as many as there can be
                complete.add(code)
        kept = [edge for edge, code in zip(piece.edges, codes, strict=True) if code not in complete]
        parts = _connected(kept)
        if len(parts) == 1 and len(parts[0][0]) == len(colour):
            return self._branch(piece, form, depth, worst)
        return self._parts(piece, form, parts, depth, worst)

    def _parts(
        self, piece: _Piece, form: Form, parts: list[tuple[list[int], list[Edge]]], depth: int, worst: Form | None
    ) -> tuple[Form, list[int], Pairs] | None:
        """Each part is labelled by itself; equal ones, and vertices of one colour without an edge, are exchangeable."""
        alone = set(range(len(piece.colour)))
        found: list[tuple[Form, list[int], Pairs]] = []
        for vertices, edges in parts:
            alone.difference_update(vertices)
            place = {vertex: i for i, vertex in enumerate(vertices)}
            edges = [(relation, place[first], place[second]) for relation, first, second in edges]
            colour = [piece.colour[vertex] for vertex in vertices]
            cells: Cells = {}
            for i, start in enumerate(colour):
                cells.setdefault(start, set()).add(i)
            labelling = self.label(_Piece(colour, cells, edges), depth, worst if len(parts) == 1 else None)
            if labelling is None:
                return None
            part_form, order, moves = labelling
            found.append((part_form, [vertices[i] for i in order], [(vertices[i], vertices[j]) for i, j in moves]))
        found.sort(key=lambda labelling: labelling[0])
        ordered = sorted(alone, key=piece.colour.__getitem__)
        symmetries = [(a, b) for a, b in pairwise(ordered) if piece.colour[a] == piece.colour[b]]
        for _, order, moves in found:
            ordered += order
            symmetries += moves
        for (one, first, _), (other, second, _) in pairwise(found):
            if one == other:
                symmetries += zip(first, second, strict=True)
        return (*form, *[part_form for part_form, _, _ in found]), ordered, symmetries

    def _branch(
        self, piece: _Piece, form: Form, depth: int, worst: Form | None
    ) -> tuple[Form, list[int], Pairs] | None:
        """The least form after each object of the largest colour is individualised, one of each orbit found so far.

        A branch that gives a form which is the least of a piece labelled before ends the search: the pieces are
        isomorphic.
        """
        if depth == DEEPEST:
            raise OutOfBudgetError(
                f"the graph of its atoms stays symmetric after {DEEPEST} of its objects are told apart"
            )
        # An object rather than an atom: where all objects are told apart, so are all atoms.
        wide = [(start < self.objects, len(each), start) for start, each in piece.cells.items() if len(each) > 1]
        target = max(wide)[2]
        orbits = list(range(len(piece.colour)))
        tried: list[int] = []
        best: tuple[Form, list[int]] | None = None
        for vertex in sorted(piece.cells[target]):
            if any(_root(orbits, vertex) == _root(orbits, other) for other in tried):
                continue
            check()
            tried.append(vertex)
            child = piece.individualised(vertex)
            self.refine(child, [target])
            labelling = self.label(child, depth + 1, best[0] if best else worst)
            if labelling is None:
                continue
            child_form, order, moves = labelling
            if best is None or child_form < best[0]:
                best = child_form, order
            elif child_form == best[0]:
                moves += zip(best[1], order, strict=True)
            for a, b in moves:
                orbits[_root(orbits, a)] = _root(orbits, b)
            if (*form, child_form) in self.least:
                best = child_form, order
                break
        if best is None:
            return None
        self.least.add((*form, best[0]))
        symmetries = [(vertex, leader) for vertex, leader in enumerate(orbits) if vertex != leader]
        return (*form, best[0]), best[1], symmetries


def _split(piece: _Piece, start: int, touched: list[int], counts: dict[int, int]) -> list[int]:
    """Split a colour by its vertices' counts and return the parts' colours; nothing where the counts agree.

    The first part keeps the colour: the vertices that were not touched, else those with the least count.
    """
    groups: dict[int, list[int]] = {}
    for vertex in touched:
        groups.setdefault(counts[vertex], []).append(vertex)
    vertices = piece.cells[start]
    moved = [groups[count] for count in sorted(groups)]
    if len(touched) == len(vertices):
        del moved[0]
    if not moved:
        return []
    vertices.difference_update(*moved)
    parts = [start]
    end = start + len(vertices)
    for group in moved:
        piece.cells[end] = set(group)
        for vertex in group:
            piece.colour[vertex] = end
        parts.append(end)
        end += len(group)
    return parts


def _connected(edges: list[Edge]) -> list[tuple[list[int], list[Edge]]]:
    """The vertices and edges of each connected component that has an edge."""
    component: dict[int, set[int]] = {}
    for _, first, second in edges:
        larger = component.setdefault(first, {first})
        smaller = component.setdefault(second, {second})
        if larger is not smaller:
            if len(larger) < len(smaller):
                larger, smaller = smaller, larger
            larger |= smaller
            for vertex in smaller:
                component[vertex] = larger
    inside: dict[int, tuple[set[int], list[Edge]]] = {}
    for edge in edges:
        vertices = component[edge[1]]
        inside.setdefault(id(vertices), (vertices, []))[1].append(edge)
    return [(sorted(vertices), within) for vertices, within in inside.values()]


def _root(parents: list[int], vertex: int) -> int:
    while parents[vertex] != vertex:
        parents[vertex] = vertex = parents[parents[vertex]]
    return vertex
