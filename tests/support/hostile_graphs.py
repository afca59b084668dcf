"""Graphs that are hard or large to label, as objects and binary atoms: what a hostile answer could spell out.

``GRAPHS`` names them, from small to large in each family; each is a function of a seed and always the same for the
same seed. ``LOOKALIKES`` names pairs of the same counts and degrees that are not isomorphic. An undirected edge is
two atoms. Sources: McKay and Piperno, "Practical graph isomorphism II" (2014), section 5, for the choice of families;
Cai, Fürer and Immerman (1992); Miyazaki (1997); Colbourn and Dinitz, "Handbook of Combinatorial Designs" (2007).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import partial
from itertools import combinations, product
from random import Random
from typing import Any, NamedTuple

import networkx as nx

Atom = tuple[str, ...]


class HostileGraph(NamedTuple):
    """Objects, all of one type, and their atoms."""

    objects: tuple[str, ...]
    atoms: tuple[Atom, ...]


def written(graph: nx.Graph) -> HostileGraph:
    """A graph of networkx with numbers as names."""
    numbered = nx.convert_node_labels_to_integers(graph).to_directed()
    return HostileGraph(
        tuple(f"o{n}" for n in numbered), tuple(("edge", f"o{a}", f"o{b}") for a, b in numbered.edges())
    )


def renamed(graph: HostileGraph, seed: int) -> HostileGraph:
    """The graph under other names, everything in another order."""
    rng = Random(seed)
    objects = rng.sample(graph.objects, len(graph.objects))
    new = dict(zip(objects, (f"n{i}" for i in rng.sample(range(len(objects)), len(objects))), strict=True))
    atoms = rng.sample(graph.atoms, len(graph.atoms))
    return HostileGraph(tuple(new.values()), tuple((atom[0], *(new[o] for o in atom[1:])) for atom in atoms))


def union(*graphs: HostileGraph) -> HostileGraph:
    """The graphs side by side."""
    return HostileGraph(
        tuple(f"{i}-{name}" for i, graph in enumerate(graphs) for name in graph.objects),
        tuple((atom[0], *(f"{i}-{o}" for o in atom[1:])) for i, graph in enumerate(graphs) for atom in graph.atoms),
    )


def adjacent(vertices: Iterable[Hashable], test: Callable[[Any, Any], object]) -> HostileGraph:
    """The undirected graph in which the test says what is adjacent."""
    graph = nx.Graph()
    graph.add_nodes_from(vertices)
    graph.add_edges_from((a, b) for a, b in combinations(list(graph), 2) if test(a, b))
    return written(graph)


def incidence(blocks: Sequence[Sequence[Hashable]]) -> HostileGraph:
    """An arc from each point to each of its blocks."""
    graph = nx.DiGraph()
    graph.add_nodes_from(dict.fromkeys(point for block in blocks for point in block))
    graph.add_edges_from((point, ("block", i)) for i, block in enumerate(blocks) for point in block)
    return written(graph)


# Latin squares, Steiner triple systems, projective planes.


def latin_square(seed: int, n: int) -> list[list[int]]:
    """A random one: each row is a random perfect matching of columns with the symbols that they lack."""
    rng = Random(seed)
    left = [set(range(n)) for _ in range(n)]
    square = []
    for _ in range(n):
        taken: dict[int, int] = {}

        def place(column: int, tried: set[int], taken: dict[int, int]) -> bool:
            for symbol in rng.sample(sorted(left[column]), len(left[column])):
                if symbol not in tried:
                    tried.add(symbol)
                    if symbol not in taken or place(taken[symbol], tried, taken):
                        taken[symbol] = column
                        return True
            return False

        for column in range(n):
            place(column, set(), taken)
        row = [0] * n
        for symbol, column in taken.items():
            row[column] = symbol
            left[column].remove(symbol)
        square.append(row)
    return square


def group_table(n: int) -> list[list[int]]:
    """The Latin square of the cyclic group."""
    return [[(i + j) % n for j in range(n)] for i in range(n)]


def latin_square_graph(square: Sequence[Sequence[int]]) -> HostileGraph:
    """Cells, adjacent when in one row, in one column or of one symbol: strongly regular."""
    cells = [(i, j, symbol) for i, row in enumerate(square) for j, symbol in enumerate(row)]
    return adjacent(cells, lambda a, b: any(map(int.__eq__, a, b)))


def random_latin_square_graph(seed: int, n: int) -> HostileGraph:
    return latin_square_graph(latin_square(seed, n))


Block = tuple[int, int, int]


def bose(v: int) -> list[Block]:
    """A Steiner triple system of v = 6t + 3 points."""
    n = v // 3
    half = (n + 1) // 2
    blocks = [(3 * x, 3 * x + 1, 3 * x + 2) for x in range(n)]
    return blocks + [
        (3 * x + i, 3 * y + i, 3 * ((x + y) * half % n) + (i + 1) % 3)
        for x, y in combinations(range(n), 2)
        for i in range(3)
    ]


def random_steiner(seed: int, v: int) -> list[Block]:
    """Stinson's hill climbing: almost surely without any symmetry."""
    rng = Random(seed)
    third: dict[tuple[int, int], int] = {}
    open_points = {a: set(range(v)) - {a} for a in range(v)}
    live = list(range(v))
    while live:
        a = rng.choice(live)
        b, c = rng.sample(sorted(open_points[a]), 2)
        old = third.get((b, c))
        if old is not None:
            for x, y in ((b, old), (c, old)):
                open_points[x].add(y)
                open_points[y].add(x)
            for x, y in ((b, c), (b, old), (c, old)):
                del third[x, y], third[y, x]
        for x, y, z in ((a, b, c), (a, c, b), (b, c, a)):
            third[x, y] = third[y, x] = z
            open_points[x].discard(y)
            open_points[y].discard(x)
        live = [point for point in range(v) if open_points[point]]
    return sorted({tuple(sorted((a, b, c))) for (a, b), c in third.items()})  # type: ignore[misc]


def block_graph(blocks: Sequence[Block]) -> HostileGraph:
    """Blocks, adjacent when they share a point: strongly regular."""
    return adjacent(blocks, lambda a, b: not set(a).isdisjoint(b))


def plane(p: int) -> list[list[tuple[int, ...]]]:
    """The lines of the projective plane over the integers modulo a prime."""
    points = [(1, a, b) for a, b in product(range(p), repeat=2)] + [(0, 1, a) for a in range(p)] + [(0, 0, 1)]
    return [[q for q in points if sum(map(int.__mul__, q, line)) % p == 0] for line in points]


# Hadamard matrices.

Matrix = list[list[int]]


def paley_matrix(p: int) -> Matrix:
    """Of order p + 1, for a prime p = 3 modulo 4."""
    squares = {a * a % p for a in range(1, p)}
    core = [[1 if i == j or (i - j) % p in squares else -1 for j in range(p)] for i in range(p)]
    return [[1] * (p + 1)] + [[-1, *row] for row in core]


def sylvester(k: int) -> Matrix:
    """Of order 2^k."""
    matrix = [[1]]
    for _ in range(k):
        matrix = doubled(matrix, matrix)
    return matrix


def doubled(a: Matrix, b: Matrix) -> Matrix:
    """Of twice the order: a and b above a and -b. For b = a it is the Kronecker product with order 2."""
    return [[*x, *y] for x, y in zip(a, b, strict=True)] + [
        [*x, *(-value for value in y)] for x, y in zip(a, b, strict=True)
    ]


def switched(seed: int, matrix: Matrix) -> Matrix:
    """Of twice the order: the second half under other columns, which leaves little symmetry."""
    order = Random(seed).sample(range(len(matrix)), len(matrix))
    return doubled(matrix, [[row[j] for j in order] for row in matrix])


def hadamard_graph(matrix: Matrix) -> HostileGraph:
    """Two objects for each row and column, one for each sign: the standard graph of 4n vertices."""
    n = range(len(matrix))
    graph = nx.DiGraph()
    graph.add_nodes_from((side, i, sign) for side in ("row", "column") for i in n for sign in (1, -1))
    graph.add_edges_from((("row", i, s), ("column", j, s * matrix[i][j])) for i in n for j in n for s in (1, -1))
    graph.add_edges_from(((side, i, s), (side, i, -s)) for side in ("row", "column") for i in n for s in (1, -1))
    return written(graph)


# Cai, Fürer and Immerman; Miyazaki.


def cfi(base: nx.Graph, twisted: bool = False, paired: bool = False) -> HostileGraph:
    """The CFI graph of a connected base (a multigraph too): even sets of edges of each vertex, two ends of each edge.

    Twisted, one edge is crossed: not isomorphic, and no refinement of bounded dimension sees it. ``paired`` joins
    the two ends of each edge at each vertex.
    """
    edges = [(i, a, b) for i, (a, b) in enumerate(base.edges())]
    graph = nx.Graph()
    for vertex in base:
        ends = [i for i, a, b in edges if vertex in (a, b)]
        for size in range(0, len(ends) + 1, 2):
            for chosen in combinations(ends, size):
                graph.add_edges_from(((vertex, chosen), (vertex, i, int(i in chosen))) for i in ends)
        if paired:
            graph.add_edges_from(((vertex, i, 0), (vertex, i, 1)) for i in ends)
    for i, a, b in edges:
        graph.add_edges_from(((a, i, side), (b, i, side ^ int(twisted and i == 0))) for side in (0, 1))
    return written(graph)


def cubic(seed: int, n: int) -> nx.Graph:
    """A random connected 3-regular graph."""
    while not nx.is_connected(graph := nx.random_regular_graph(3, n, seed=seed)):
        seed += 1
    return nx.Graph(sorted(tuple(sorted(edge)) for edge in graph.edges()))


def torus(*sides: int) -> nx.Graph:
    return nx.grid_graph(sides, periodic=True)


def miyazaki(k: int, augmented: bool) -> HostileGraph:
    """CFI on a circle of 2k vertices whose edges are single and double in turn: 20k objects.

    Augmented, the two ends of each edge are joined.
    """
    ladder = nx.MultiGraph()
    for i in range(k):
        ladder.add_edges_from([(2 * i, 2 * i + 1)] * 2 + [(2 * i + 1, (2 * i + 2) % (2 * k))])
    return cfi(ladder, paired=augmented)


# Other symmetric graphs, and large and simple ones.


def subsets(n: int, k: int, common: int) -> HostileGraph:
    """Subsets of size k of n, adjacent when so many elements are common: Johnson with k - 1, Kneser with 0."""
    return adjacent(combinations(range(n), k), lambda a, b: len(set(a) & set(b)) == common)


def shrikhande() -> HostileGraph:
    """Strongly regular like the rook's graph of order 4, and not isomorphic."""
    steps = {(0, 1), (0, 3), (1, 0), (3, 0), (1, 1), (3, 3)}
    cells = product(range(4), repeat=2)
    return adjacent(cells, lambda a, b: ((b[0] - a[0]) % 4, (b[1] - a[1]) % 4) in steps)


def rook(n: int) -> HostileGraph:
    return adjacent(product(range(n), repeat=2), lambda a, b: a[0] == b[0] or a[1] == b[1])


def chang() -> HostileGraph:
    """Strongly regular like J(8, 2), and not isomorphic: J(8, 2) switched at the pairs of a perfect matching."""
    matching = {(0, 1), (2, 3), (4, 5), (6, 7)}
    return adjacent(
        combinations(range(8), 2), lambda a, b: bool(set(a) & set(b)) ^ ((a in matching) != (b in matching))
    )


def cycles(*lengths: int) -> HostileGraph:
    return union(*(written(nx.cycle_graph(n)) for n in lengths))


def interchangeable(n: int) -> HostileGraph:
    return HostileGraph((*(f"o{i}" for i in range(n)), "x"), tuple(("at", f"o{i}", "x") for i in range(n)))


def towers(count: int, height: int) -> HostileGraph:
    atoms: list[Atom] = []
    for t in range(count):
        atoms += [("on-table", f"b{t}-0"), ("clear", f"b{t}-{height - 1}")]
        atoms += [("on", f"b{t}-{h + 1}", f"b{t}-{h}") for h in range(height - 1)]
    return HostileGraph(tuple(f"b{t}-{h}" for t in range(count) for h in range(height)), tuple(atoms))


def _gadgets(twisted: int) -> HostileGraph:
    """A hundred CFI graphs of K4, some of them twisted."""
    return union(*(cfi(nx.complete_graph(4), i < twisted) for i in range(100)))


def _mixed(seed: int) -> HostileGraph:
    """Hard graphs of several families side by side, one of them twice."""
    square = random_latin_square_graph(seed, 8)
    return union(square, square, cfi(cubic(seed, 16)), incidence(plane(5)), miyazaki(5, True), _paley(29))


def _paley(p: int) -> HostileGraph:
    """Numbers modulo p, adjacent when their difference is a square; a tournament where p = 3 modulo 4."""
    return written(nx.paley_graph(p))


Make = Callable[[int], HostileGraph]

GRAPHS: dict[str, Make] = {
    **{f"latin-square-{n}": partial(random_latin_square_graph, n=n) for n in (6, 8, 10, 12, 14, 16)},
    **{
        f"cyclic-latin-square-{n}": lambda _, n=n: latin_square_graph(
            [[(i + j) % n for j in range(n)] for i in range(n)]
        )
        for n in (8, 12, 16)
    },
    **{f"steiner-{v}": lambda _, v=v: incidence(bose(v)) for v in (15, 45, 63)},
    **{f"steiner-blocks-{v}": lambda _, v=v: block_graph(bose(v)) for v in (15, 45, 63)},
    **{f"random-steiner-{v}": lambda seed, v=v: incidence(random_steiner(seed, v)) for v in (19, 45, 63)},
    **{f"random-steiner-blocks-{v}": lambda seed, v=v: block_graph(random_steiner(seed, v)) for v in (19, 45, 63)},
    **{f"plane-{p}": lambda _, p=p: incidence(plane(p)) for p in (2, 3, 5, 7, 11, 13)},
    **{f"sylvester-{2**k}": lambda _, k=k: hadamard_graph(sylvester(k)) for k in (3, 5, 6)},
    **{f"hadamard-paley-{p + 1}": lambda _, p=p: hadamard_graph(paley_matrix(p)) for p in (19, 31, 103, 199)},
    **{
        f"hadamard-switched-{2 * p + 2}": lambda seed, p=p: hadamard_graph(switched(seed, paley_matrix(p)))
        for p in (19, 47, 103)
    },
    **{
        f"cfi-{name}{'-twisted' if twisted else ''}": lambda seed, base=base, twisted=twisted: cfi(base(seed), twisted)
        for name, base in {
            "k4": lambda _: nx.complete_graph(4),
            "k5": lambda _: nx.complete_graph(5),
            "grid-4x4": lambda _: nx.grid_graph((4, 4)),
            "torus-3x3": lambda _: torus(3, 3),
            "torus-6x6": lambda _: torus(6, 6),
            "cubic-10": lambda seed: cubic(seed, 10),
            "cubic-20": lambda seed: cubic(seed, 20),
            "cubic-60": lambda seed: cubic(seed, 60),
            "cubic-200": lambda seed: cubic(seed, 200),
        }.items()
        for twisted in (False, True)
    },
    **{f"miyazaki-{k}": lambda _, k=k: miyazaki(k, augmented=False) for k in (5, 10, 20, 50)},
    **{f"miyazaki-augmented-{k}": lambda _, k=k: miyazaki(k, augmented=True) for k in (5, 10, 20, 50)},
    **{f"paley-{p}": lambda _, p=p: _paley(p) for p in (13, 29, 101, 149, 103)},
    "shrikhande": lambda _: shrikhande(),
    "rook-4": lambda _: rook(4),
    "rook-20": lambda _: rook(20),
    "johnson-8-2": lambda _: subsets(8, 2, 1),
    "chang": lambda _: chang(),
    "johnson-11-4": lambda _: subsets(11, 4, 3),
    "johnson-30-2": lambda _: subsets(30, 2, 1),
    "kneser-10-3": lambda _: subsets(10, 3, 0),
    **{f"hypercube-{d}": lambda _, d=d: written(nx.hypercube_graph(d)) for d in (5, 8, 10)},
    "grid-30x30": lambda _: written(nx.grid_graph((30, 30))),
    "torus-30x30": lambda _: written(torus(30, 30)),
    "torus-8x8x8": lambda _: written(torus(8, 8, 8)),
    "cycle-1000": lambda _: cycles(1000),
    "cycles-500-500": lambda _: cycles(500, 500),
    "cycles-3-4-5-20-times": lambda _: cycles(*[3, 4, 5] * 20),
    "clique-200": lambda _: written(nx.complete_graph(200)),
    "random-cubic-500": lambda seed: written(cubic(seed, 500)),
    "petersen-100": lambda _: union(*[written(nx.petersen_graph())] * 100),
    "paley-101-3-times": lambda _: union(*[_paley(101)] * 3),
    "shrikhande-10-rook-10": lambda _: union(*[shrikhande(), rook(4)] * 10),
    "shrikhande-11-rook-9": lambda _: union(*[shrikhande()] * 11, *[rook(4)] * 9),
    "latin-squares-10-equal": lambda seed: union(*[random_latin_square_graph(seed, 8)] * 10),
    "latin-squares-10-unequal": lambda seed: union(*(random_latin_square_graph(seed + i, 8) for i in range(10))),
    "planes-7-and-11": lambda _: union(incidence(plane(7)), incidence(plane(11))),
    "mixed-union": _mixed,
    "gadgets-100": lambda _: _gadgets(50),
    "gadgets-100-one-more-twisted": lambda _: _gadgets(51),
    "interchangeable-5000": lambda _: interchangeable(5000),
    "towers-1000-of-3": lambda _: towers(1000, 3),
    "tower-of-3000": lambda _: towers(1, 3000),
}
"""Name to function of a seed."""

LOOKALIKES: dict[str, str] = {
    **{name: f"{name}-twisted" for name in GRAPHS if f"{name}-twisted" in GRAPHS},
    **{f"latin-square-{n}": f"cyclic-latin-square-{n}" for n in (8, 12, 16)},
    "rook-4": "shrikhande",
    "johnson-8-2": "chang",
    "cycle-1000": "cycles-500-500",
    "sylvester-32": "hadamard-paley-32",
    "shrikhande-10-rook-10": "shrikhande-11-rook-9",
    "latin-squares-10-equal": "latin-squares-10-unequal",
    "gadgets-100": "gadgets-100-one-more-twisted",
    "random-steiner-45": "steiner-45",
    "random-steiner-blocks-45": "steiner-blocks-45",
}
"""Equal in size and degrees, and not isomorphic."""
