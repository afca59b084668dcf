"""Isomorphism of small coloured structures, judged apart from the program, and random pairs to judge.

A structure is what ``LabelledGraph`` is made of: objects with colours, and scenes of atoms of any arity. Two judges
decide whether two structures are isomorphic: ``by_definition`` tries every bijection, ``by_bliss`` asks a library.
``random_pair`` draws pairs that are alike: renamed copies, copies with one edit, and siblings with the same degrees.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations, pairwise, permutations
from random import Random
from typing import Any, NamedTuple

import igraph

Atom = tuple[str, ...]
Edge = tuple[int, int]


class Structure(NamedTuple):
    """The colour of each object, and the atoms of each scene without repetition."""

    colors: Mapping[str, str]
    scenes: Mapping[str, tuple[Atom, ...]]

    @property
    def atoms(self) -> list[tuple[str, Atom]]:
        return [(scene, atom) for scene, atoms in self.scenes.items() for atom in atoms]


def is_isomorphism(a: Structure, b: Structure, mapping: Mapping[str, str]) -> bool:
    """Whether the mapping is a bijection that maps colours onto colours and each scene onto its scene."""
    return (
        mapping.keys() == a.colors.keys()
        and len(set(mapping.values())) == len(mapping)
        and {mapping[name]: color for name, color in a.colors.items()} == dict(b.colors)
        and {(scene, mapped(atom, mapping)) for scene, atom in a.atoms} == set(b.atoms)
    )


def mapped(atom: Atom, mapping: Mapping[str, str]) -> Atom:
    return (atom[0], *(mapping[name] for name in atom[1:]))


def by_definition(a: Structure, b: Structure) -> bool:
    """Whether one of all n! bijections is an isomorphism."""
    return len(a.colors) == len(b.colors) and any(
        is_isomorphism(a, b, dict(zip(a.colors, image, strict=True))) for image in permutations(b.colors)
    )


def by_bliss(a: Structure, b: Structure) -> bool:
    """What BLISS says, through igraph, of graphs with a node per object, atom and argument: fit for some 30 objects."""
    (one, labels), (two, others) = _coloured_graph(a), _coloured_graph(b)
    colors = {label: i for i, label in enumerate(dict.fromkeys([*labels, *others]))}
    same = one.isomorphic_bliss(two, color1=[colors[n] for n in labels], color2=[colors[n] for n in others])
    return sorted(map(repr, labels)) == sorted(map(repr, others)) and bool(same)


def _coloured_graph(structure: Structure) -> tuple[igraph.Graph, list[Any]]:
    number = {name: i for i, name in enumerate(structure.colors)}
    labels: list[Any] = list(structure.colors.values())
    edges = []
    for scene, atom in structure.atoms:
        node = len(labels)
        labels.append((scene, atom[0], len(atom)))
        for place, name in enumerate(atom[1:]):
            edges += [(node, len(labels)), (len(labels), number[name])]
            labels.append(place)
    return igraph.Graph(len(labels), edges), labels


# Random structures.

COLORS = ("object", "tile", "p")
SCENES = ("init", "goal", "more")
PREDICATES = ("p", "q", "object")
"""Some words are a colour and a predicate at once, and a predicate may come with several arities."""

NAMES = ("init", "goal", "p", "q", "object", "tile", "0", "1", "-", "", "a b", "é", *(f"o{i}" for i in range(60)))


def random_structure(rng: Random, most: int = 12) -> Structure:
    """Few predicates of arity 0 to 4, few colours, up to so many objects, nothing planned."""
    names = [f"x{i}" for i in range(rng.randint(0, most))]
    colors = rng.sample(COLORS, rng.randint(1, 3))
    scenes = rng.sample(SCENES, rng.randint(1, 3))
    kinds = [(rng.choice(PREDICATES), rng.choice((0, 1, 1, 2, 2, 2, 3, 4))) for _ in range(rng.randint(1, 3))]
    kinds = [(predicate, arity) for predicate, arity in kinds if names or not arity]
    atoms = {
        (rng.choice(scenes), (predicate, *rng.choices(names, k=arity)))
        for predicate, arity in (rng.choices(kinds, k=rng.randint(0, 2 * len(names) + 1)) if kinds else [])
    }
    return _structure({name: rng.choice(colors) for name in names}, scenes, sorted(atoms))


def _structure(colors: Mapping[str, str], scenes: list[str], atoms: list[tuple[str, Atom]]) -> Structure:
    return Structure(colors, {scene: tuple(atom for where, atom in atoms if where == scene) for scene in scenes})


def _cycles(rng: Random, n: int) -> list[Edge]:
    return [edge for part in _parts(rng, n) for edge in zip(part, [*part[1:], part[0]], strict=True)]


def _towers(rng: Random, n: int) -> list[Edge]:
    return [edge for part in _parts(rng, n) for edge in pairwise(part)]


def _cliques(rng: Random, n: int) -> list[Edge]:
    return [edge for part in _parts(rng, n) for edge in combinations(part, 2)]


def _parts(rng: Random, n: int) -> list[list[int]]:
    """Consecutive numbers cut into parts, often of one size."""
    if rng.random() < 0.5:
        size = rng.choice([size for size in range(1, n + 1) if n % size == 0])
        return [list(range(i, i + size)) for i in range(0, n, size)]
    cuts = sorted(rng.sample(range(1, n), rng.randint(0, min(3, n - 1))))
    return [list(range(i, j)) for i, j in zip([0, *cuts], [*cuts, n], strict=True)]


def _copies(rng: Random, n: int) -> list[Edge]:
    size = rng.choice([size for size in range(1, n + 1) if n % size == 0])
    part = [(i, j) for i in range(size) for j in range(size) if rng.random() < 0.3]
    return [(i + k, j + k) for k in range(0, n, size) for i, j in part]


def _twins(rng: Random, n: int) -> list[Edge]:
    """A small random graph whose vertices are blown up into twins."""
    few = rng.randint(1, max(1, n // 2))
    small = {(i, j) for i in range(few) for j in range(few) if rng.random() < 0.4}
    of = [rng.randrange(few) for _ in range(n)]
    return [(i, j) for i in range(n) for j in range(n) if i != j and (of[i], of[j]) in small]


def _grid(rng: Random, n: int) -> list[Edge]:
    width = rng.choice([width for width in range(1, n + 1) if n % width == 0])
    wraps = rng.random() < 0.5
    edges = []
    for i in range(n):
        row, column = divmod(i, width)
        if column + 1 < width or wraps:
            edges.append((i, row * width + (column + 1) % width))
        if i + width < n or wraps:
            edges.append((i, (i + width) % n))
    return edges


def _circulant(rng: Random, n: int) -> list[Edge]:
    steps = rng.sample(range(1, n), min(n - 1, rng.randint(1, 3))) if n > 1 else []
    return [(i, (i + step) % n) for step in steps for i in range(n)]


def _regular(rng: Random, n: int) -> list[Edge]:
    """Everybody has as many edges out as in: the sum of some random permutations."""
    edges = []
    for _ in range(rng.randint(1, 3)):
        image = list(range(n))
        rng.shuffle(image)
        edges += list(enumerate(image))
    return edges


def _several_regular(rng: Random, n: int) -> list[Edge]:
    """Side by side two graphs of the same degrees, often of different symmetry."""
    size = n // 2
    if not size:
        return []
    image = list(range(size))
    rng.shuffle(image)
    first = [edge for i in range(size) for edge in ((i, (i + 1) % size), (i, image[i]))]
    step = rng.randrange(size)
    second = [edge for i in range(size) for edge in ((i, (i + 1) % size), (i, (i + step) % size))]
    return first + [(i + size, j + size) for i, j in second]


def _petersen(rng: Random, n: int) -> list[Edge]:
    """Five spokes between a pentagon and a pentagram (Petersen's graph), or another step inside."""
    step = rng.choice((1, 2))
    half = max(1, n // 2)
    ring = [(i, (i + 1) % half) for i in range(half)] + [(i, i + half) for i in range(half) if i + half < n]
    return ring + [(i + half, (i + step) % half + half) for i in range(half) if half + half <= n]


SHAPES: tuple[Callable[[Random, int], list[Edge]], ...] = (
    _cycles,
    _towers,
    _cliques,
    _copies,
    _twins,
    _grid,
    _circulant,
    _regular,
    _petersen,
    _several_regular,
    _several_regular,
    _regular,
)
"""Where all degrees are equal and not all vertices are, labelling has to search: those come more often."""


def symmetric_structure(
    rng: Random, shape: Callable[[Random, int], list[Edge]], n: int, style: int, undirected: bool
) -> Structure:
    """A shape on n vertices; equal styles write equal shapes down as equal structures.

    Styles: plain edges, colours that repeat, a flag on one vertex, edges in two scenes, a third argument that repeats
    one of the two, arity 4, an object for each pair of edges' ends.
    """
    edges = dict.fromkeys((i, j) for i, j in shape(rng, n))
    if undirected:
        edges |= {(j, i): None for i, j in edges}
    colors = {f"x{i}": "object" if style != 1 else COLORS[i % 2] for i in range(n)}
    atoms: list[tuple[str, Atom]] = []
    for i, j in edges:
        a, b = f"x{i}", f"x{j}"
        scene = "goal" if style == 3 and (i + j) % 2 else "init"
        atom = {4: ("p", a, b, b if undirected else a), 5: ("p", a, b, a, b)}.get(style, ("p", a, b))
        atoms.append((scene, atom))
    if style == 2:
        atoms += [("init", ("p", "x0")), ("goal", ("q",))]
    if style == 6:
        atoms += [("init", ("q", f"x{i}", f"x{j}", f"x{k}")) for i, j in edges for k in range(n) if (j, k) in edges]
    return _structure(colors, ["init", "goal"], atoms)


STYLES = 7


def renamed(structure: Structure, rng: Random) -> Structure:
    """The same under other names, everything in another order."""
    old = list(structure.colors)
    names = rng.sample(NAMES, len(old)) if len(old) <= len(NAMES) else [f"y{i}" for i in range(len(old))]
    rng.shuffle(old)
    new = dict(zip(old, names, strict=True))
    scenes = list(structure.scenes)
    rng.shuffle(scenes)
    return Structure(
        {new[name]: structure.colors[name] for name in old},
        {
            scene: tuple(
                mapped(atom, new) for atom in rng.sample(structure.scenes[scene], len(structure.scenes[scene]))
            )
            for scene in scenes
        },
    )


def edited(structure: Structure, rng: Random) -> Structure:
    """One edit: of an argument, a scene, a predicate, a colour; an atom less or more; two atoms exchange an argument.

    The last one leaves all degrees alone, which counting neighbours cannot see.
    """
    colors, atoms, scenes = dict(structure.colors), list(structure.atoms), list(structure.scenes)
    names = list(colors)
    with_arguments = [i for i, (_, atom) in enumerate(atoms) if len(atom) > 1]
    edit = rng.choice(("argument", "scene", "predicate", "colour", "colours", "less", "exchange", "exchange", "turn"))
    if edit in ("colour", "colours") and names:
        one, other = rng.choice(names), rng.choice(names)
        if edit == "colour":
            colors[one] = rng.choice(COLORS)
        else:
            colors[one], colors[other] = colors[other], colors[one]
    elif edit == "exchange" and with_arguments:
        i = rng.choice(with_arguments)
        scene, atom = atoms[i]
        alike = [j for j in with_arguments if (atoms[j][0], len(atoms[j][1])) == (scene, len(atom))]
        j = rng.choice([j for j in alike if atoms[j][1][0] == atom[0]])
        place = rng.randrange(1, len(atom))
        one, other = list(atom), list(atoms[j][1])
        one[place], other[place] = other[place], one[place]
        atoms[i], atoms[j] = (scene, tuple(one)), (scene, tuple(other))
    elif edit == "turn" and with_arguments:
        i = rng.choice(with_arguments)
        scene, (predicate, *arguments) = atoms[i]
        rng.shuffle(arguments)
        atoms[i] = (scene, (predicate, *arguments))
    elif edit == "argument" and with_arguments:
        i = rng.choice(with_arguments)
        scene, atom = atoms[i]
        place = rng.randrange(1, len(atom))
        atoms[i] = (scene, (*atom[:place], rng.choice(names), *atom[place + 1 :]))
    elif atoms:
        i = rng.randrange(len(atoms))
        scene, (predicate, *arguments) = atoms.pop(i)
        if edit == "scene":
            atoms.append((rng.choice(scenes), (predicate, *arguments)))
        elif edit == "predicate":
            atoms.append((scene, (rng.choice(PREDICATES), *arguments)))
    return _structure(colors, scenes, list(dict.fromkeys(atoms)))


def random_pair(rng: Random, most: int = 12) -> tuple[str, Structure, Structure]:
    """A pair and how it was made: ``copy`` (isomorphic), ``edit`` or ``sibling`` (either)."""
    how = rng.choice(("copy", "edit", "edit", "sibling"))
    if rng.random() < 0.3:
        one, other = random_structure(rng, most), None
    else:
        shape, n = rng.choice(SHAPES), max(rng.randint(1, most), rng.randint(1, most))
        style, undirected = rng.choice((0, 0, *range(STYLES))), rng.random() < 0.6
        one = symmetric_structure(rng, shape, n, style, undirected)
        other = symmetric_structure(rng, shape, n, style, undirected)
    if how == "sibling":
        return how, one, renamed(other if other else edited(edited(one, rng), rng), rng)
    return how, one, renamed(one if how == "copy" else edited(one, rng), rng)
