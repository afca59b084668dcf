"""Canonical labelling: two sets of atoms over typed objects are isomorphic exactly when their forms are equal.

Colour refinement, then the quotient, then what the quotient leaves open (McKay and Piperno, "Practical graph
isomorphism II", 2014). The page "Certificates" of the documentation defines the form, number by number, so that other
programs can compute it; where this file does less work than that page says, a comment says why the form is the same.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from functools import cached_property
from hashlib import blake2b
from itertools import pairwise
from struct import pack
from typing import Any, TypeAlias

from pddl_eval.definition.budget import OutOfBudgetError, spend

BUDGET = 1_500_000
"""Edges and vertices that may be visited for one graph, some two seconds; ordinary problems need some hundred."""

DEEPEST = 100
"""Objects individualised one inside the other."""

Form: TypeAlias = "str | int | tuple[Form, ...] | bytes"
"""A text, a number, or several forms; bytes are a form that is encoded already."""

Edge = tuple[int, int, int]
"""A relation, and the vertices that it leads from and to."""

Numbers = tuple[int, ...]

Labelling = tuple[Numbers, list[int], list[tuple[int, int]]]
"""A form, the vertices in canonical order, and pairs of vertices that symmetries exchange (they generate the rest)."""


def digest(*form: Form) -> str:
    """32 hexadecimal digits: BLAKE2b of numbers of 8 bytes, little end first, each text and tuple behind its length.

    >>> digest("on", 2, ("a",))
    '98e069c6a39536147e862fe7d1d5fca4'
    """
    return blake2b(encoded(form), digest_size=16).hexdigest()


def encoded(form: Form) -> bytes:
    """The bytes of a form.

    >>> encoded(("on", 2))
    b'\\x02\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x02\\x00\\x00\\x00\\x00\\x00\\x00\\x00on\\x02\\x00\\x00\\x00\\x00\\x00\\x00\\x00'
    """
    if isinstance(form, int):
        return pack("<Q", form)
    if isinstance(form, str):
        text = form.encode(errors="surrogatepass")
        return pack("<Q", len(text)) + text
    if isinstance(form, bytes):
        return form
    if {*map(type, form)} <= {int}:  # as nearly all of a form is
        return pack(f"<{1 + len(form)}Q", len(form), *form)
    return b"".join([pack("<Q", len(form)), *map(encoded, form)])


class LabelledGraph:
    """The graph of some scenes (``{"init": atoms, "goal": atoms}``) over typed objects, called by any sortable values.

    ``invariant`` is cheap and equal for isomorphic graphs; ``form`` is equal exactly for isomorphic graphs; the k-th
    objects of ``order`` in two isomorphic graphs correspond. ``form``, ``order`` and ``is_rigid`` raise
    ``OutOfBudgetError``.

    >>> a = LabelledGraph({"x": "block", "y": "block"}, {"init": [("on", "x", "y")]})
    >>> b = LabelledGraph({"x": "block", "y": "block"}, {"init": [("on", "y", "x")]})
    >>> a.form == b.form, dict(zip(a.order, b.order)) == {"x": "y", "y": "x"}
    (True, True)
    """

    def __init__(self, types: Mapping[Any, str], scenes: Mapping[str, Iterable[tuple[Any, ...]]]) -> None:
        labelled = [((scene, atom[0], len(atom) - 1), atom) for scene, atoms in scenes.items() for atom in atoms]
        labels = sorted({label for label, _ in labelled})
        number = {label: i for i, label in enumerate(labels)}
        vertex = {name: i for i, name in enumerate(types)}
        marks: list[list[int]] = [[] for _ in types]
        edges: list[Edge] = []
        longer: list[tuple[int, tuple[Any, ...]]] = []
        for label, atom in labelled:
            if len(atom) == 2 or (len(atom) == 3 and atom[1] == atom[2]):
                marks[vertex[atom[1]]].append(number[label])
            elif len(atom) == 3:
                edges.append((number[label], vertex[atom[1]], vertex[atom[2]]))
            elif len(atom) > 3:
                longer.append((number[label], atom))
        kinds: list[tuple[str, tuple[int, ...]]] = [
            (type_, tuple(sorted(each))) for type_, each in zip(types.values(), marks, strict=True)
        ]
        # Sorted, because sets have another order in each run; which of several symmetries is found must not.
        for own, atom in sorted(longer):
            edges += [(len(labels) + place, len(kinds), vertex[name]) for place, name in enumerate(atom[1:])]
            kinds.append(("", (own,)))
        # An atom's kind comes behind those of all objects.
        self._keys = [(i >= len(types), kind) for i, kind in enumerate(kinds)]
        self.names, self._edges = list(types), sorted(edges)
        often = sorted(Counter(self._keys).items())
        self._outline: Form = tuple(labels), tuple([(*kind, count) for (_, kind), count in often])

    @cached_property
    def invariant(self) -> tuple[object, ...]:
        """How often each kind of vertex and each relation occurs."""
        return self._outline, Counter(relation for relation, _, _ in self._edges)

    @cached_property
    def _labelling(self) -> Labelling:
        cells: dict[int, list[int]] = {}
        groups = defaultdict(list)
        for vertex, key in enumerate(self._keys):
            groups[key].append(vertex)
        start = 0
        for key in sorted(groups):
            cells[start] = groups[key]
            start += len(groups[key])
        piece = _Piece(cells, self._edges)
        search = _Search(len(self.names))
        search.refine(piece, list(range(start)))
        return search.label(piece, 0)

    @property
    def form(self) -> Form:
        """Equal for two graphs exactly when they are isomorphic."""
        return self._outline, self._labelling[0]

    @property
    def order(self) -> list[Any]:
        """The objects in canonical order."""
        return [self.names[vertex] for vertex in self._labelling[1] if vertex < len(self.names)]

    @property
    def is_rigid(self) -> bool:
        """True when no bijection but the identity maps the graph onto itself."""
        return not self._labelling[2]


def isomorphic(a: LabelledGraph, b: LabelledGraph) -> bool:
    """True when a colour-preserving bijection of the objects maps the scenes of one onto those of the other."""
    return a.invariant == b.invariant and a.form == b.form


class _Piece:
    """Some vertices in cells of one colour each, and the edges that still say something.

    A cell's number, its colour, is the number of vertices of the whole graph in the cells before it.
    """

    def __init__(self, cells: Mapping[int, Collection[int]], edges: list[Edge]) -> None:
        self.cells = {start: {*cell} for start, cell in cells.items()}
        self.edges = edges
        self.colour = {vertex: start for start, cell in cells.items() for vertex in cell}

    @cached_property
    def around(self) -> dict[int, list[tuple[int, int]]]:
        """The neighbours of each vertex, each with the direction in which it sees the vertex, a multiple of 2³²."""
        around: dict[int, list[tuple[int, int]]] = {vertex: [] for vertex in self.colour}
        for relation, first, second in self.edges:
            around[first].append((2 * relation << 32, second))
            around[second].append((2 * relation + 1 << 32, first))
        return around

    def split(self, start: int, parts: list[list[int]]) -> None:
        """Put parts of a cell behind what is left of it, one after the other, in the time that the parts take alone."""
        cell = self.cells[start]
        for part in parts:
            cell.difference_update(part)
        start += len(cell)
        for part in parts:
            self.cells[start] = {*part}
            self.colour.update(dict.fromkeys(part, start))
            start += len(part)


class _Search:
    """The labelling of one graph, with its budget."""

    def __init__(self, objects: int) -> None:
        self.left = BUDGET
        self.objects = objects
        self.least: set[tuple[Numbers, Numbers]] = set()

    def spend(self, visits: int) -> None:
        spend(visits)
        self.left -= visits
        if self.left < 0:
            raise OutOfBudgetError("the graph of its atoms is too symmetric to label within the budget")

    def refine(self, piece: _Piece, telling: list[int]) -> None:
        """Split cells until all vertices of a cell have equally many neighbours in each cell, relation by relation.

        In each round the vertices whose colour is new tell it to their neighbours, and each cell is sorted by what its
        vertices heard, those first that heard nothing.
        """
        while telling and len(piece.cells) < len(piece.colour):
            heard: defaultdict[int, list[int]] = defaultdict(list)
            for vertex in telling:
                colour = piece.colour[vertex]
                for direction, other in piece.around[vertex]:
                    heard[other].append(direction + colour)  # a pair as one number, in the same order
            self.spend(len(telling) + sum(map(len, heard.values())))
            groups: defaultdict[int, defaultdict[Numbers, list[int]]]
            groups = defaultdict(lambda: defaultdict(list))
            for vertex, words in heard.items():
                words.sort()
                groups[piece.colour[vertex]][tuple(words)].append(vertex)
            telling = []
            for start, group in groups.items():
                parts = [group[words] for words in sorted(group)]
                silent = len(piece.cells[start]) - sum(map(len, parts))
                if silent or len(parts) > 1:
                    piece.split(start, parts)
                    # What the largest part would tell follows from what the whole cell told and the others tell.
                    largest = max(parts, key=len)
                    if silent < len(largest):
                        parts.remove(largest)
                        telling += piece.cells[start] if silent else ()
                    telling += [vertex for part in parts for vertex in part]

    def label(self, piece: _Piece, depth: int) -> Labelling:
        """A refined piece's form, its vertices in canonical order, and symmetries that generate all of its symmetries.

        The form is the quotient, that is the size of each cell and how many edges of each relation lead from cell to
        cell, followed by the forms of what the quotient leaves open.
        """
        self.spend(len(piece.colour) + len(piece.edges))
        colour, cells = piece.colour, sorted(piece.cells.items())
        lines = [(relation, colour[first], colour[second]) for relation, first, second in piece.edges]
        often = Counter(lines)
        form = [len(cells), *[number for start, cell in cells for number in (start, len(cell))]]
        form += [len(often), *[number for line, count in sorted(often.items()) for number in (*line, count)]]
        # Edges between all vertices of two cells say nothing more than the quotient.
        size = {start: len(cell) for start, cell in cells}
        whole = {line for line, n in often.items() if n == size[line[1]] * (size[line[2]] - (line[1] == line[2]))}
        kept = [edge for edge, line in zip(piece.edges, lines, strict=True) if line not in whole]
        parts = _connected(kept)
        if len(parts) == 1 and len(parts[0][0]) == len(colour):
            found = [self.branch(_Piece(piece.cells, kept), tuple(form), depth)]
        else:
            found = []
            for vertices, edges in parts:
                part: defaultdict[int, list[int]] = defaultdict(list)
                for vertex in sorted(vertices):
                    part[colour[vertex]].append(vertex)
                found.append(self.label(_Piece(dict(part), edges), depth))
            found.sort(key=lambda labelling: labelling[0])
        form.append(len(found))
        alone = set(colour).difference(*[vertices for vertices, _ in parts])
        order = sorted(alone, key=lambda vertex: (colour[vertex], vertex))
        symmetries = [(a, b) for a, b in pairwise(order) if colour[a] == colour[b]]
        for own_form, own_order, own_symmetries in found:
            form += own_form
            order += own_order
            symmetries += own_symmetries
        for (one, first, _), (other, second, _) in pairwise(found):
            if one == other:
                symmetries += zip(first, second, strict=True)
        return tuple(form), order, symmetries

    def branch(self, piece: _Piece, quotient: Numbers, depth: int) -> Labelling:
        """The least form after a vertex of the largest cell gets a colour of its own, each of its vertices in turn."""
        if depth == DEEPEST:
            raise OutOfBudgetError(
                f"the graph of its atoms stays symmetric after {DEEPEST} of its objects are told apart"
            )
        # An object rather than an atom: where all objects are told apart, so are all atoms.
        target = max(piece.cells, key=lambda start: (start < self.objects, len(piece.cells[start]), -start))
        orbit = {vertex: vertex for vertex in piece.colour}
        tried: list[int] = []
        best: tuple[Numbers, list[int]] | None = None
        for vertex in sorted(piece.cells[target]):
            # A symmetry that maps a vertex onto one that was tried maps the whole branch: its form is the same.
            if any(_root(orbit, vertex) == _root(orbit, other) for other in tried):
                continue
            tried.append(vertex)
            child = _Piece(piece.cells, piece.edges)
            child.split(target, [[other for other in piece.cells[target] if other != vertex]])
            child.around = piece.around  # the same edges
            self.refine(child, [vertex])
            form, order, symmetries = self.label(child, depth + 1)
            if best is None or form < best[0]:
                best = form, order
            elif form == best[0]:
                symmetries += zip(best[1], order, strict=True)
            for a, b in symmetries:
                orbit[_root(orbit, a)] = _root(orbit, b)
            if (quotient, form) in self.least:  # of a piece labelled before, to which this one must be isomorphic
                best = form, order
                break
        assert best is not None
        self.least.add((quotient, best[0]))
        return best[0], best[1], [(vertex, leader) for vertex, leader in orbit.items() if vertex != leader]


def _connected(edges: list[Edge]) -> list[tuple[set[int], list[Edge]]]:
    """The vertices and the edges of each connected component that has an edge."""
    parents = {vertex: vertex for edge in edges for vertex in edge[1:]}
    for _, first, second in edges:
        parents[_root(parents, first)] = _root(parents, second)
    components: dict[int, tuple[set[int], list[Edge]]] = {}
    for edge in edges:
        vertices, inside = components.setdefault(_root(parents, edge[1]), (set(), []))
        vertices.update(edge[1:])
        inside.append(edge)
    return list(components.values())


def _root(parents: dict[int, int], vertex: int) -> int:
    while parents[vertex] != vertex:
        parents[vertex] = vertex = parents[parents[vertex]]
    return vertex
