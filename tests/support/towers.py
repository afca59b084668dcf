"""Blocks World without its rules: random towers of any number of blocks, legal and always solvable."""

from __future__ import annotations

from itertools import pairwise
from random import Random

from pddl_eval.definition.domains import blocksworld
from pddl_eval.definition.model import Atom, Problem, State
from pddl_eval.definition.pddl import parse_domain

BLOCKS = parse_domain(blocksworld.PDDL)


def towers(choose: Random, count: int) -> State:
    """A random legal state of so many blocks."""
    names = [f"b{number}" for number in range(count)]
    choose.shuffle(names)
    atoms: set[Atom] = {("arm-empty",)}
    while names:
        tower = [names.pop() for _ in range(min(len(names), choose.randint(1, 5)))]
        atoms |= {("on-table", tower[0]), ("clear", tower[-1])}
        atoms |= {("on", above, below) for below, above in pairwise(tower)}
    return frozenset(atoms)


def blocks(seed: int, count: int) -> Problem:
    choose = Random(seed)
    objects = {f"b{number}": "object" for number in range(count)}
    return Problem("p", "blocksworld", objects, towers(choose, count), towers(choose, count))
