"""What a domain of the judges is: a text, and how its random small problems are made."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import NamedTuple


class Scene(NamedTuple):
    """The random part of a problem; its goal is made later, from a state that can be reached."""

    objects: str
    init: str
    metric: str = ""


class Story(NamedTuple):
    """A domain, the kind under which it is counted, and its problems."""

    name: str
    kind: str
    text: str
    scene: Callable[[Random], Scene]


def names(random: Random, stem: str, least: int, most: int) -> list[str]:
    """Some objects: ``stem1``, ``stem2``, …"""
    return [f"{stem}{number}" for number in range(1, random.randint(least, most) + 1)]


def links(random: Random, places: list[str], more: int = 1) -> list[tuple[str, str]]:
    """A random tree over the places and some more edges, each in one direction."""
    edges = [(random.choice(places[:number]), places[number]) for number in range(1, len(places))]
    edges += [tuple(random.sample(places, 2)) for _ in range(more if len(places) > 1 else 0)]
    return list(dict.fromkeys(edges))


def facts(*groups: object) -> str:
    """Atoms in brackets: a text is one atom, a list or a generator has many."""
    flat = [each for group in groups for each in ([group] if isinstance(group, str) else group)]
    return " ".join(f"({each})" for each in dict.fromkeys(flat))


def both(predicate: str, edges: list[tuple[str, str]]) -> list[str]:
    """The edges as atoms in both directions."""
    return [f"{predicate} {a} {b}" for one, other in edges for a, b in ((one, other), (other, one))]
