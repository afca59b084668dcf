"""For each domain of the benchmark: other goals and initial states over the objects of any problem, and contradictions.

What is arranged here is arranged at random, not by a task. A domain that is not listed has none of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import pairwise
from random import Random

from pddl_eval.model import Atom, Problem, State


def other_goal(problem: Problem, random: Random) -> Problem | None:
    """The problem with a random goal in place of its own."""
    arrange = GOALS.get(problem.domain)
    goal = arrange(problem, random) if arrange else None
    return replace(problem, goal=goal) if goal else None


def other_init(problem: Problem, random: Random) -> Problem | None:
    """The problem with a random initial state in place of its own."""
    arrange = STARTS.get(problem.domain)
    init = arrange(problem, random) if arrange else None
    return replace(problem, init=init) if init else None


def contradiction(problem: Problem, random: Random) -> tuple[Atom, ...]:
    """Atoms no two of which hold in one state; none where the problem has too few objects for any."""
    found = CONTRADICTIONS.get(problem.domain, lambda problem, random: [])(problem, random)
    return random.choice(found) if found else ()


def _towers(problem: Problem, random: Random) -> State:
    """Blocks World: all blocks in towers, a state that is its own closure."""
    blocks = random.sample(sorted(problem.objects), len(problem.objects))
    atoms: set[Atom] = {("arm-empty",)}
    while blocks:
        cut = random.randint(1, len(blocks))
        tower, blocks = blocks[:cut], blocks[cut:]
        atoms |= {("clear", tower[0]), ("on-table", tower[-1]), *(("on", *pair) for pair in pairwise(tower))}
    return frozenset(atoms)


def _impossible_blocks(problem: Problem, random: Random) -> list[tuple[Atom, ...]]:
    found: list[tuple[Atom, ...]] = []
    for a in _some(problem.objects, random):
        found += [(("on", a, a),), (("holding", a), ("arm-empty",))]
    for a, b in pairwise(_some(problem.objects, random)):
        found += [(("on", a, b), ("on", b, a)), (("on", a, b), ("clear", b)), (("on", a, b), ("on-table", a))]
    return found


def _balls_in_rooms(problem: Problem, random: Random) -> State:
    """Gripper: every ball in some room."""
    rooms = _holding_for("room", problem)
    return frozenset(("at", ball, random.choice(rooms)) for ball in _holding_for("ball", problem) if rooms)


def _robby_with_balls_in_rooms(problem: Problem, random: Random) -> State:
    """Gripper: every ball in some room, every gripper free, and what else there is as it was."""
    kept = {atom for atom in problem.init if atom[0] not in ("at", "carry", "free")}
    free = {("free", gripper) for gripper in _holding_for("gripper", problem)}
    return frozenset(kept | free | _balls_in_rooms(problem, random))


def _impossible_balls(problem: Problem, random: Random) -> list[tuple[Atom, ...]]:
    balls, rooms = (_some(_holding_for(kind, problem), random) for kind in ("ball", "room"))
    loaded = {atom[-1] for atom in problem.init if atom[0] == "carry"}
    both = loaded.intersection(_holding_for("free", problem))  # Contradictory from the start, so that more can follow.
    grippers = _some(set(_holding_for("gripper", problem)) - both, random)
    found: list[tuple[Atom, ...]] = []
    for one, other in pairwise(rooms):
        found += [
            (("at-robby", one), ("at-robby", other)),
            *((("at", ball, one), ("at", ball, other)) for ball in balls),
        ]
    for ball in balls:
        for gripper in grippers:
            found += [(("carry", ball, gripper), ("free", gripper))]
            found += [(("carry", ball, gripper), ("at", ball, room)) for room in rooms]
    return found


def _painted(problem: Problem, random: Random) -> State:
    """Floor Tile: some tiles painted in available colours."""
    colors = _holding_for("available-color", problem)
    tiles = _of_type("tile", problem)
    chosen = random.sample(tiles, random.randint(min(1, len(tiles)), len(tiles)))
    return frozenset(("painted", tile, random.choice(colors)) for tile in chosen if colors)


def _robot_elsewhere(problem: Problem, random: Random) -> State | None:
    """Floor Tile: one robot on another tile."""
    standing = sorted(atom for atom in problem.init if atom[0] == "robot-at" and len(atom) == 3)
    if not standing:
        return None
    old = random.choice(standing)
    return problem.init - {old} | {(*old[:2], random.choice(_of_type("tile", problem) or [old[2]]))}


def _impossible_robots(problem: Problem, random: Random) -> list[tuple[Atom, ...]]:
    robots, tiles, colors = (_some(_of_type(kind, problem), random) for kind in ("robot", "tile", "color"))
    found: list[tuple[Atom, ...]] = []
    for robot in robots:
        found += [(("robot-at", robot, one), ("robot-at", robot, other)) for one, other in pairwise(tiles)]
        found += [(("robot-has", robot, one), ("robot-has", robot, other)) for one, other in pairwise(colors)]
    return found


GOALS: Mapping[str, Callable[[Problem, Random], State]] = {
    "blocksworld": _towers,
    "gripper": _balls_in_rooms,
    "floor-tile": _painted,
}

STARTS: Mapping[str, Callable[[Problem, Random], State | None]] = {
    "blocksworld": _towers,
    "gripper": _robby_with_balls_in_rooms,
    "floor-tile": _robot_elsewhere,
}

CONTRADICTIONS: Mapping[str, Callable[[Problem, Random], list[tuple[Atom, ...]]]] = {
    "blocksworld": _impossible_blocks,
    "gripper": _impossible_balls,
    "floor-tile": _impossible_robots,
}


def _holding_for(predicate: str, problem: Problem) -> list[str]:
    """The objects of which the initial state says this."""
    return sorted(atom[1] for atom in problem.init if atom[0] == predicate and len(atom) == 2)


def _of_type(type_: str, problem: Problem) -> list[str]:
    return sorted(name for name, of in problem.objects.items() if of == type_)


def _some(names: Iterable[str], random: Random) -> list[str]:
    """Up to three of them, in random order."""
    ordered = sorted(names)
    return random.sample(ordered, min(3, len(ordered)))
