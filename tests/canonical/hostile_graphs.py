"""Graphs that are hard or large to label, as objects and binary atoms: what a hostile answer could spell out.

``GRAPHS`` names them, from small to large in each family; each is a function of a seed and always the same for the
same seed. ``LOOKALIKES`` names pairs of the same counts and degrees that are not isomorphic. An undirected edge is
two atoms. Sources: McKay and Piperno, "Practical graph isomorphism II" (2014), section 5, for the choice of families;
Cai, Fürer and Immerman (1992); Miyazaki (1997); Colbourn and Dinitz, "Handbook of Combinatorial Designs" (2007).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import cache, partial
from itertools import combinations, product
from random import Random
from typing import NamedTuple

import networkx as nx

Atom = tuple[str, ...]
Pair = tuple[Hashable, Hashable]


class HostileGraph(NamedTuple):
    """Objects, all of one type, and their atoms."""

    objects: tuple[str, ...]
    atoms: tuple[Atom, ...]


def _graph(vertices: Iterable[Hashable], arcs: Iterable[Pair] = (), edges: Iterable[Pair] = ()) -> HostileGraph:
    """Vertices are numbered as they come; an edge is an arc in each direction."""
    names = {vertex: f"o{i}" for i, vertex in enumerate(vertices)}
    atoms = [("edge", names[a], names[b]) for a, b in arcs]
    atoms += [("edge", names[x], names[y]) for a, b in edges for x, y in ((a, b), (b, a))]
    return HostileGraph(tuple(names.values()), tuple(dict.fromkeys(atoms)))


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


# Finite fields.


class Field(NamedTuple):
    """GF(q): the elements are 0 to q - 1, 0 and 1 the neutral ones."""

    add: list[list[int]]
    times: list[list[int]]

    @property
    def q(self) -> int:
        return len(self.add)

    def minus(self, a: int, b: int) -> int:
        return self.add[b].index(a)

    def inverse(self, a: int) -> int:
        return self.times[a].index(1)

    def squares(self) -> set[int]:
        """The squares other than 0."""
        return {self.times[a][a] for a in range(1, self.q)}


@cache
def field(q: int) -> Field:
    """Polynomials over GF(p) modulo the first monic one of degree k that leaves no divisors of zero; q = p^k."""
    p = next(p for p in range(2, q + 1) if q % p == 0)
    k = next(k for k in range(1, q) if p**k == q)

    def digits(a: int) -> list[int]:
        return [a // p**i % p for i in range(k)]

    def number(coefficients: Sequence[int]) -> int:
        return sum(c % p * p**i for i, c in enumerate(coefficients))

    def times(a: int, b: int, modulus: Sequence[int]) -> int:
        result = [0] * (2 * k)
        for (i, x), (j, y) in product(enumerate(digits(a)), enumerate(digits(b))):
            result[i + j] += x * y
        for i in range(2 * k - 1, k - 1, -1):
            for j, c in enumerate(modulus):
                result[i - k + j] -= result[i] * c
            result[i] = 0
        return number(result[:k])

    add = [[number([x + y for x, y in zip(digits(a), digits(b), strict=True)]) for b in range(q)] for a in range(q)]
    for low in product(range(p), repeat=k):
        table = [[times(a, b, low) for b in range(q)] for a in range(q)]
        if all(table[a][b] for a in range(1, q) for b in range(1, q)):
            return Field(add, table)
    raise AssertionError(f"no field of order {q}")


# Latin squares and nets.


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
    return _graph(cells, edges=((a, b) for a, b in combinations(cells, 2) if any(map(int.__eq__, a, b))))


def random_latin_square_graph(seed: int, n: int) -> HostileGraph:
    return latin_square_graph(latin_square(seed, n))


def latin_square_net(seed: int, n: int) -> HostileGraph:
    """The 3-net of a random Latin square: its cells as points, its rows, columns and symbols as lines."""
    square = latin_square(seed, n)
    points = list(product(range(n), repeat=2))
    lines = [(kind, i) for kind in ("row", "column", "symbol") for i in range(n)]
    arcs = [((i, j), line) for i, j in points for line in (("row", i), ("column", j), ("symbol", square[i][j]))]
    return _graph([*points, *lines], arcs)


def slope_net(seed: int, q: int, k: int) -> HostileGraph:
    """Points of the affine plane over GF(q), and the lines of k random parallel classes."""
    f = field(q)
    slopes = Random(seed).sample(range(q), k)
    points = list(product(range(q), repeat=2))
    lines = [("line", m, b) for m in slopes for b in range(q)]
    arcs = [((x, f.add[f.times[m][x]][b]), ("line", m, b)) for _, m, b in lines for x in range(q)]
    return _graph([*points, *lines], arcs)


# Steiner triple systems.

Block = tuple[int, int, int]


def bose(v: int) -> list[Block]:
    """v = 6t + 3."""
    n = v // 3
    half = (n + 1) // 2
    blocks = [(3 * x, 3 * x + 1, 3 * x + 2) for x in range(n)]
    return blocks + [
        (3 * x + i, 3 * y + i, 3 * ((x + y) * half % n) + (i + 1) % 3)
        for x, y in combinations(range(n), 2)
        for i in range(3)
    ]


def skolem(v: int) -> list[Block]:
    """v = 6t + 1; the last point is Skolem's infinity."""
    n = v // 3
    half = n // 2

    def product_of(x: int, y: int) -> int:
        total = (x + y) % n
        return total // 2 if total % 2 == 0 else (total - 1) // 2 + half

    blocks = [(3 * x, 3 * x + 1, 3 * x + 2) for x in range(half)]
    blocks += [(v - 1, 3 * (x + half) + i, 3 * x + (i + 1) % 3) for x in range(half) for i in range(3)]
    return blocks + [
        (3 * x + i, 3 * y + i, 3 * product_of(x, y) + (i + 1) % 3)
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


def triple_system(v: int) -> list[Block]:
    return bose(v) if v % 6 == 3 else skolem(v)


def block_graph(blocks: Sequence[Block]) -> HostileGraph:
    """Blocks, adjacent when they share a point: strongly regular."""
    return _graph(blocks, edges=((a, b) for a, b in combinations(blocks, 2) if not set(a).isdisjoint(b)))


def incidence_graph(blocks: Sequence[Sequence[Hashable]]) -> HostileGraph:
    """An arc from each point to each of its blocks."""
    points = dict.fromkeys(point for block in blocks for point in block)
    arcs = [(point, ("block", i)) for i, block in enumerate(blocks) for point in block]
    return _graph([*points, *(("block", i) for i in range(len(blocks)))], arcs)


# Projective planes.


def plane(q: int) -> list[list[Hashable]]:
    """The lines of PG(2, q)."""
    f = field(q)
    points = [(1, a, b) for a, b in product(range(q), repeat=2)] + [(0, 1, a) for a in range(q)] + [(0, 0, 1)]

    def meet(a: Sequence[int], b: Sequence[int]) -> bool:
        x, y, z = (f.times[i][j] for i, j in zip(a, b, strict=True))
        return f.add[f.add[x][y]][z] == 0

    return [[point for point in points if meet(point, line)] for line in points]


def hall_plane(q: int) -> list[list[Hashable]]:
    """The lines of the Hall plane of order q²: a projective plane that is not PG(2, q²); q = 3 or 4.

    Its coordinates are a + λb; products with b ≠ 0 solve one quadratic equation that has no solution in GF(q).
    """
    f = field(q)
    r, s = next(
        (r, s)
        for r, s in product(range(q), repeat=2)
        if all(f.times[x][x] != f.add[f.times[r][x]][s] for x in range(q))
    )

    def times(one: Pair, other: Pair) -> tuple[int, int]:
        (a, b), (c, d) = one, other  # type: ignore[misc]
        if d == 0:
            return f.times[a][c], f.times[b][c]
        value = f.minus(f.minus(f.times[c][c], f.times[r][c]), s)
        low = f.minus(f.times[a][c], f.times[f.times[b][f.inverse(d)]][value])
        return low, f.add[f.minus(f.times[a][d], f.times[b][c])][f.times[b][r]]

    numbers = list(product(range(q), repeat=2))

    def plus(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
        return f.add[one[0]][other[0]], f.add[one[1]][other[1]]

    lines: list[list[Hashable]] = [
        [*((x, plus(times(x, m), b)) for x in numbers), ("slope", m)] for m, b in product(numbers, repeat=2)
    ]
    lines += [[*((x, y) for y in numbers), "vertical"] for x in numbers]
    return [*lines, [*(("slope", m) for m in numbers), "vertical"]]


# Hadamard matrices.

Matrix = list[list[int]]


def paley_matrix(q: int) -> Matrix:
    """Of order q + 1 for q = 3 modulo 4, of order 2(q + 1) for q = 1 modulo 4."""
    f = field(q)
    squares = f.squares()

    def sign(a: int, b: int) -> int:
        return 0 if a == b else 1 if f.minus(a, b) in squares else -1

    core = [[sign(i, j) for j in range(q)] for i in range(q)]
    if q % 4 == 3:
        bordered = [[1] * (q + 1)] + [[-1, *row] for row in core]
        return [[x + (i == j and i > 0) for j, x in enumerate(row)] for i, row in enumerate(bordered)]
    bordered = [[0] + [1] * q] + [[1, *row] for row in core]
    blocks = {0: ((1, -1), (-1, -1)), 1: ((1, 1), (1, -1)), -1: ((-1, -1), (-1, 1))}
    return [[blocks[x][i][j] for x in row for j in range(2)] for row in bordered for i in range(2)]


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


def shuffled_columns(seed: int, matrix: Matrix) -> Matrix:
    order = Random(seed).sample(range(len(matrix)), len(matrix))
    return [[row[j] for j in order] for row in matrix]


def hadamard_graph(matrix: Matrix) -> HostileGraph:
    """Two objects for each row and column, one for each sign: the standard graph of 4n vertices."""
    n = len(matrix)
    vertices = [(side, i, sign) for side in ("row", "column") for i in range(n) for sign in (1, -1)]
    arcs = [
        (("row", i, sign), ("column", j, sign * matrix[i][j])) for i in range(n) for j in range(n) for sign in (1, -1)
    ]
    return _graph(vertices, arcs, (((side, i, 1), (side, i, -1)) for side in ("row", "column") for i in range(n)))


def switched_hadamard_graph(seed: int, matrix: Matrix) -> HostileGraph:
    """Of twice the order: the second half under other columns, which leaves little symmetry."""
    return hadamard_graph(doubled(matrix, shuffled_columns(seed, matrix)))


# Cai, Fürer and Immerman; Miyazaki.


def cfi(base: nx.Graph, twisted: bool = False, paired: bool = False) -> HostileGraph:
    """The CFI graph of a connected base (a multigraph too): even sets of edges of each vertex, two ends of each edge.

    Twisted, one edge is crossed: not isomorphic, and no refinement of bounded dimension sees it. ``paired`` joins
    the two ends of each edge at each vertex.
    """
    edges = [(i, a, b) for i, (a, b) in enumerate(base.edges())]
    at = {vertex: [i for i, a, b in edges if vertex in (a, b)] for vertex in base}
    vertices: list[Hashable] = []
    found: list[Pair] = []
    for vertex, ends in at.items():
        vertices += [(vertex, i, side) for i in ends for side in (0, 1)]
        for size in range(0, len(ends) + 1, 2):
            for chosen in combinations(ends, size):
                vertices.append((vertex, chosen))
                found += [((vertex, chosen), (vertex, i, int(i in chosen))) for i in ends]
        if paired:
            found += [((vertex, i, 0), (vertex, i, 1)) for i in ends]
    for i, a, b in edges:
        cross = int(twisted and i == 0)
        found += [((a, i, side), (b, i, side ^ cross)) for side in (0, 1)]
    return _graph(vertices, edges=found)


def cubic(seed: int, n: int) -> nx.Graph:
    """A random connected 3-regular graph."""
    while not nx.is_connected(graph := nx.random_regular_graph(3, n, seed=seed)):
        seed += 1
    return nx.Graph(sorted(tuple(sorted(edge)) for edge in graph.edges()))


def torus(*sides: int) -> nx.Graph:
    return nx.convert_node_labels_to_integers(nx.grid_graph(sides, periodic=True))


def grid(*sides: int) -> nx.Graph:
    return nx.convert_node_labels_to_integers(nx.grid_graph(sides))


def ladder(k: int) -> nx.MultiGraph:
    """Miyazaki's base: a circle of 2k vertices whose edges are single and double in turn."""
    graph = nx.MultiGraph()
    for i in range(k):
        graph.add_edges_from([(2 * i, 2 * i + 1)] * 2 + [(2 * i + 1, (2 * i + 2) % (2 * k))])
    return graph


def miyazaki(k: int, augmented: bool) -> HostileGraph:
    """CFI on that circle, 20k objects; augmented, the two ends of each edge are joined."""
    return cfi(ladder(k), paired=augmented)


# Strongly regular and other symmetric graphs.


def from_networkx(graph: nx.Graph) -> HostileGraph:
    arcs = graph.edges() if graph.is_directed() else ()
    return _graph(graph, arcs, () if graph.is_directed() else graph.edges())


def paley(q: int) -> HostileGraph:
    """Elements of GF(q), adjacent when their difference is a square; a tournament where q = 3 modulo 4."""
    f = field(q)
    squares = f.squares()
    return _graph(range(q), [(a, b) for a in range(q) for b in range(q) if a != b and f.minus(a, b) in squares])


def subsets(n: int, k: int, common: int) -> HostileGraph:
    """Subsets of size k of n, adjacent when so many elements are common: Johnson with k - 1, Kneser with 0."""
    vertices = list(combinations(range(n), k))
    return _graph(vertices, edges=((a, b) for a, b in combinations(vertices, 2) if len(set(a) & set(b)) == common))


def shrikhande() -> HostileGraph:
    """Strongly regular like the rook's graph of order 4, and not isomorphic."""
    vertices = list(product(range(4), repeat=2))
    steps = {(0, 1), (0, 3), (1, 0), (3, 0), (1, 1), (3, 3)}
    return _graph(
        vertices, ((a, b) for a in vertices for b in vertices if ((b[0] - a[0]) % 4, (b[1] - a[1]) % 4) in steps)
    )


def rook(n: int) -> HostileGraph:
    cells = list(product(range(n), repeat=2))
    return _graph(cells, edges=((a, b) for a, b in combinations(cells, 2) if a[0] == b[0] or a[1] == b[1]))


def chang() -> HostileGraph:
    """Strongly regular like J(8, 2), and not isomorphic: J(8, 2) switched at the pairs of a perfect matching."""
    vertices = list(combinations(range(8), 2))
    matching = {(0, 1), (2, 3), (4, 5), (6, 7)}
    return _graph(
        vertices,
        edges=(
            (a, b) for a, b in combinations(vertices, 2) if bool(set(a) & set(b)) ^ ((a in matching) != (b in matching))
        ),
    )


def disjoint_cycles(*lengths: int) -> HostileGraph:
    return union(*(from_networkx(nx.cycle_graph(n)) for n in lengths))


# Large and simple.


def interchangeable(n: int) -> HostileGraph:
    return HostileGraph((*(f"o{i}" for i in range(n)), "x"), tuple(("at", f"o{i}", "x") for i in range(n)))


def towers(count: int, height: int) -> HostileGraph:
    atoms: list[Atom] = []
    for t in range(count):
        atoms += [("on-table", f"b{t}-0"), ("clear", f"b{t}-{height - 1}")]
        atoms += [("on", f"b{t}-{h + 1}", f"b{t}-{h}") for h in range(height - 1)]
    return HostileGraph(tuple(f"b{t}-{h}" for t in range(count) for h in range(height)), tuple(atoms))


def _petersen() -> HostileGraph:
    return from_networkx(nx.petersen_graph())


def _k4(twisted: bool) -> HostileGraph:
    return cfi(nx.complete_graph(4), twisted)


def _cfi_parts(parts: int, twisted: int, n: int) -> HostileGraph:
    """So many CFI graphs side by side, some of them twisted."""
    return union(*(cfi(cubic(1, n), i < twisted) for i in range(parts)))


def _mixed(seed: int) -> HostileGraph:
    """Hard graphs of several families side by side, one of them twice."""
    square = random_latin_square_graph(seed, 8)
    return union(square, square, cfi(cubic(seed, 16)), incidence_graph(plane(5)), miyazaki(5, True), paley(29))


Make = Callable[[int], HostileGraph]

GRAPHS: dict[str, Make] = {
    **{f"latin-square-{n}": partial(random_latin_square_graph, n=n) for n in (6, 8, 10, 12, 14, 16)},
    **{f"cyclic-latin-square-{n}": lambda _, n=n: latin_square_graph(group_table(n)) for n in (8, 12, 16)},
    **{f"latin-square-net-{n}": partial(latin_square_net, n=n) for n in (8, 16, 24)},
    **{f"slope-net-{q}-{k}": partial(slope_net, q=q, k=k) for q, k in ((9, 4), (16, 6), (23, 5), (19, 15))},
    **{f"steiner-{v}": lambda _, v=v: incidence_graph(triple_system(v)) for v in (13, 15, 31, 45, 61, 63)},
    **{f"steiner-blocks-{v}": lambda _, v=v: block_graph(triple_system(v)) for v in (13, 15, 31, 45, 61, 63)},
    **{f"random-steiner-{v}": lambda seed, v=v: incidence_graph(random_steiner(seed, v)) for v in (19, 31, 45, 63)},
    **{f"random-steiner-blocks-{v}": lambda seed, v=v: block_graph(random_steiner(seed, v)) for v in (19, 31, 45, 63)},
    **{f"plane-{q}": lambda _, q=q: incidence_graph(plane(q)) for q in (2, 3, 4, 5, 7, 8, 9, 11, 13, 16)},
    **{f"hall-plane-{q * q}": lambda _, q=q: incidence_graph(hall_plane(q)) for q in (3, 4)},
    **{f"sylvester-{2**k}": lambda _, k=k: hadamard_graph(sylvester(k)) for k in (3, 5, 6)},
    **{f"hadamard-paley-{q + 1}": lambda _, q=q: hadamard_graph(paley_matrix(q)) for q in (19, 103, 199)},
    "hadamard-doubled-104": lambda _: hadamard_graph(doubled(paley_matrix(25), paley_matrix(25))),
    "hadamard-switched-40": lambda seed: switched_hadamard_graph(seed, paley_matrix(19)),
    "hadamard-switched-104": lambda seed: switched_hadamard_graph(seed, paley_matrix(25)),
    "hadamard-switched-200": lambda seed: switched_hadamard_graph(seed, paley_matrix(49)),
    **{
        f"cfi-{name}{'-twisted' if twisted else ''}": lambda seed, base=base, twisted=twisted: cfi(base(seed), twisted)
        for name, base in {
            "k4": lambda _: nx.complete_graph(4),
            "k5": lambda _: nx.complete_graph(5),
            "grid-4x4": lambda _: grid(4, 4),
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
    **{f"paley-{q}": lambda _, q=q: paley(q) for q in (13, 29, 49, 101, 149)},
    "paley-tournament-103": lambda _: paley(103),
    "shrikhande": lambda _: shrikhande(),
    "rook-4": lambda _: rook(4),
    "rook-20": lambda _: rook(20),
    "johnson-8-2": lambda _: subsets(8, 2, 1),
    "chang": lambda _: chang(),
    "johnson-11-4": lambda _: subsets(11, 4, 3),
    "johnson-30-2": lambda _: subsets(30, 2, 1),
    "kneser-10-3": lambda _: subsets(10, 3, 0),
    **{f"hypercube-{d}": lambda _, d=d: from_networkx(nx.hypercube_graph(d)) for d in (5, 8, 10)},
    "grid-30x30": lambda _: from_networkx(grid(30, 30)),
    "torus-30x30": lambda _: from_networkx(torus(30, 30)),
    "torus-8x8x8": lambda _: from_networkx(torus(8, 8, 8)),
    "cycle-1000": lambda _: disjoint_cycles(1000),
    "cycles-3-4-5-20-times": lambda _: disjoint_cycles(*[3, 4, 5] * 20),
    "clique-200": lambda _: from_networkx(nx.complete_graph(200)),
    "random-cubic-500": lambda seed: from_networkx(cubic(seed, 500)),
    "petersen-100": lambda _: union(*[_petersen()] * 100),
    "shrikhande-10-rook-10": lambda _: union(*[shrikhande(), rook(4)] * 10),
    "shrikhande-11-rook-9": lambda _: union(*[shrikhande()] * 11, *[rook(4)] * 9),
    "cfi-union-1-of-3-twisted": lambda _: _cfi_parts(3, 1, 16),
    "cfi-union-2-of-3-twisted": lambda _: _cfi_parts(3, 2, 16),
    "latin-squares-10-equal": lambda seed: union(*[random_latin_square_graph(seed, 8)] * 10),
    "latin-squares-10-unequal": lambda seed: union(*(random_latin_square_graph(seed + i, 8) for i in range(10))),
    "planes-7-and-8": lambda _: union(incidence_graph(plane(7)), incidence_graph(plane(8))),
    "planes-9-and-hall": lambda _: union(incidence_graph(plane(9)), incidence_graph(hall_plane(3))),
    "planes-9-twice": lambda _: union(*[incidence_graph(plane(9))] * 2),
    "mixed-union": _mixed,
    "gadgets-100": lambda _: union(*(_k4(i % 2 == 0) for i in range(100))),
    "gadgets-100-one-more-twisted": lambda _: union(*(_k4(i % 2 == 0 or i == 1) for i in range(100))),
    "interchangeable-5000": lambda _: interchangeable(5000),
    "towers-1000-of-3": lambda _: towers(1000, 3),
    "tower-of-3000": lambda _: towers(1, 3000),
}
"""Name to function of a seed."""

LOOKALIKES: dict[str, str] = {
    **{name: f"{name}-twisted" for name in GRAPHS if f"{name}-twisted" in GRAPHS},
    "rook-4": "shrikhande",
    "johnson-8-2": "chang",
    "plane-9": "hall-plane-9",
    "plane-16": "hall-plane-16",
    "planes-9-twice": "planes-9-and-hall",
    "shrikhande-10-rook-10": "shrikhande-11-rook-9",
    "cfi-union-1-of-3-twisted": "cfi-union-2-of-3-twisted",
    "gadgets-100": "gadgets-100-one-more-twisted",
    "hadamard-paley-104": "hadamard-doubled-104",
    "latin-square-8": "cyclic-latin-square-8",
    "latin-square-12": "cyclic-latin-square-12",
    "latin-square-16": "cyclic-latin-square-16",
    "random-steiner-31": "steiner-31",
    "random-steiner-blocks-31": "steiner-blocks-31",
}
"""Equal in size and degrees, and not isomorphic."""
