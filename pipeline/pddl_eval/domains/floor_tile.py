"""Floor Tile as the paper simplifies it (section 4.2): no ``left``, ``down``, ``clear``; painting in four directions.

The argument. ``up``, ``right`` and ``available-color`` never change, and ``painted`` is never undone. Robots do not
hinder each other. A robot that stands on a tile can reach exactly the tiles of its connected component, moves being
possible both ways, and can paint exactly the tiles there that have a neighbour. A robot with a colour can take any
available colour at any time; only an initial colour that is not available is lost for good once given up. Painting is
never forced. So a reachable state is: each robot on any tile of its component; each robot with its initial colour or
an available one; and any set of further painted atoms, each of which some robot of the tile's component can have
painted, in a colour it began with or, if it is a robot that *changed* (its final colour is available), an available
one.

What follows from a goal: everything static, all that is painted at the start, the place of a robot whose component is
one tile, the colour of a robot that can have no other. Robots' colours are tied to each other in one way only: where
the goal wants a tile painted in a colour with which no robot of its component began, some robot there must have
changed. That forces a single robot only when it is the only one there whose colour the goal leaves open, no robot that
certainly changed being there; and it fixes that robot's colour when one colour is available.

Where types count, operators apply to a ``robot``, ``tile`` and ``color`` only; an atom over other objects is static.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from pddl_eval.errors import UserError
from pddl_eval.model import Action, Atom, Problem, State, show_atom
from pddl_eval.verdict import BrokenAssumption, Unsolvable

PDDL = """
(define (domain floor-tile)
  (:requirements :strips :typing)
  (:types robot tile color - object)
  (:predicates (up ?above - tile ?x - tile) (right ?beside - tile ?x - tile) (robot-at ?r - robot ?x - tile)
    (robot-has ?r - robot ?c - color) (available-color ?c - color) (painted ?x - tile ?c - color))
  (:action change-color :parameters (?r - robot ?old - color ?new - color)
    :precondition (and (robot-has ?r ?old) (available-color ?new))
    :effect (and (not (robot-has ?r ?old)) (robot-has ?r ?new)))
  (:action paint-up :parameters (?r - robot ?y - tile ?x - tile ?c - color)
    :precondition (and (robot-at ?r ?x) (robot-has ?r ?c) (up ?y ?x)) :effect (painted ?y ?c))
  (:action paint-down :parameters (?r - robot ?y - tile ?x - tile ?c - color)
    :precondition (and (robot-at ?r ?x) (robot-has ?r ?c) (up ?x ?y)) :effect (painted ?y ?c))
  (:action paint-right :parameters (?r - robot ?y - tile ?x - tile ?c - color)
    :precondition (and (robot-at ?r ?x) (robot-has ?r ?c) (right ?y ?x)) :effect (painted ?y ?c))
  (:action paint-left :parameters (?r - robot ?y - tile ?x - tile ?c - color)
    :precondition (and (robot-at ?r ?x) (robot-has ?r ?c) (right ?x ?y)) :effect (painted ?y ?c))
  (:action up :parameters (?r - robot ?x - tile ?y - tile)
    :precondition (and (robot-at ?r ?x) (up ?y ?x)) :effect (and (not (robot-at ?r ?x)) (robot-at ?r ?y)))
  (:action down :parameters (?r - robot ?x - tile ?y - tile)
    :precondition (and (robot-at ?r ?x) (up ?x ?y)) :effect (and (not (robot-at ?r ?x)) (robot-at ?r ?y)))
  (:action right :parameters (?r - robot ?x - tile ?y - tile)
    :precondition (and (robot-at ?r ?x) (right ?y ?x)) :effect (and (not (robot-at ?r ?x)) (robot-at ?r ?y)))
  (:action left :parameters (?r - robot ?x - tile ?y - tile)
    :precondition (and (robot-at ?r ?x) (right ?x ?y)) :effect (and (not (robot-at ?r ?x)) (robot-at ?r ?y))))
"""

RECENT = 16
"""Readings kept of initial states and goals: closure and planner, reference and answer ask for the same ones."""

Types = frozenset[tuple[str, str]] | None
"""Each object with its type; None where types do not count."""

STEP = {"up": ("up", "down"), "right": ("right", "left")}
"""For each relation, the action that goes from its second tile to its first, and the one that goes back."""


def failed_assumption(problem: Problem, typed: bool = True) -> BrokenAssumption | None:
    """The robot that is on two tiles or has two colours, None when the rules cover the initial state.

    >>> two = frozenset({("robot-at", "r", "x"), ("robot-at", "r", "y")})
    >>> objects = {"r": "robot", "x": "tile", "y": "tile"}
    >>> failed_assumption(Problem("p", "floor-tile", objects, two, frozenset())).reason
    'r is on two tiles'
    """
    floor = _floor(problem.init, _types(problem, typed))
    return floor if isinstance(floor, BrokenAssumption) else None


def fully_specify(problem: Problem, typed: bool = True) -> State | Unsolvable:
    """cl(goal): the atoms true in all reachable states that contain the goal (the paper's appendix C, made exact).

    >>> init = frozenset({("robot-at", "r", "x"), ("robot-has", "r", "c"), ("up", "y", "x"), ("available-color", "d")})
    >>> objects = {"r": "robot", "x": "tile", "y": "tile", "c": "color", "d": "color"}
    >>> goal = frozenset({("painted", "y", "d")})
    >>> sorted(fully_specify(Problem("p", "floor-tile", objects, init, goal)) - goal)
    [('available-color', 'd'), ('robot-has', 'r', 'd'), ('up', 'y', 'x')]
    """
    aims = _aims(problem.init, problem.goal, _types(problem, typed))
    if isinstance(aims, Unsolvable):
        return aims
    floor = aims.floor
    closure = set(problem.goal | floor.static)
    for robot, tile in floor.place.items():
        if robot not in aims.place and not floor.exits(tile):
            closure.add(("robot-at", robot, tile))
    for robot, color in floor.color.items():
        if robot not in aims.color:
            possible = floor.available if robot in aims.must_change else floor.available | {color}
            if len(possible) == 1:
                closure.add(("robot-has", robot, *possible))
    return frozenset(closure)


def plan(problem: Problem, typed: bool = True) -> tuple[Action, ...] | Unsolvable:
    """A plan linear in the floor: each painter walks its component once, then all take the colours and tiles asked for.

    >>> init = frozenset({("robot-at", "r", "x"), ("robot-has", "r", "c"), ("up", "y", "x"), ("available-color", "d")})
    >>> objects = {"r": "robot", "x": "tile", "y": "tile", "c": "color", "d": "color"}
    >>> plan(Problem("p", "floor-tile", objects, init, frozenset({("painted", "y", "d")})))
    (('change-color', 'r', 'c', 'd'), ('paint-up', 'r', 'y', 'x', 'd'))
    """
    aims = _aims(problem.init, problem.goal, _types(problem, typed))
    if isinstance(aims, Unsolvable):
        return aims
    floor = aims.floor
    place = dict(floor.place)
    color = dict(floor.color)
    actions: list[Action] = []

    def take(robot: str, new: str) -> None:
        if color[robot] != new:
            actions.append(("change-color", robot, color[robot], new))
            color[robot] = new

    def paint_from(robot: str, tile: str, wanted: dict[str, set[str]]) -> None:
        for direction, neighbour in floor.steps.get(tile, ()):
            for new in sorted(wanted.pop(neighbour, ()), key=lambda new: (new != color[robot], new)):
                take(robot, new)
                actions.append((f"paint-{direction}", robot, neighbour, tile, new))

    def walk(robot: str, wanted: dict[str, set[str]]) -> None:
        paint_from(robot, place[robot], wanted)
        seen = {place[robot]}
        path: list[tuple[str, Iterator[tuple[str, str]]]] = [(place[robot], iter(floor.steps.get(place[robot], ())))]
        while wanted:
            tile, steps = path[-1]
            for direction, neighbour in steps:
                if neighbour not in seen:
                    seen.add(neighbour)
                    actions.append((direction, robot, tile, neighbour))
                    path.append((neighbour, iter(floor.steps[neighbour])))
                    paint_from(robot, neighbour, wanted)
                    break
            else:
                path.pop()
                back = path[-1][0]
                actions.append((next(d for d, n in floor.steps[tile] if n == back), robot, tile, back))
        place[robot] = path[-1][0]

    for robot, wanted in aims.work:
        walk(robot, {tile: set(colors) for tile, colors in wanted.items()})
    for robot, new in sorted(aims.color.items()):
        take(robot, new)
    for robot, tile in sorted(aims.place.items()):
        for direction, source, target in floor.route(place[robot], tile):
            actions.append((direction, robot, source, target))
    return tuple(actions)


@dataclass(frozen=True, slots=True)
class _Floor:
    """An initial state: the tiles with their neighbours, and what each robot stands on and holds."""

    steps: dict[str, list[tuple[str, str]]]
    """For each tile the moves from it: the action's name and the tile it leads to."""
    component: dict[str, str]
    """For each tile with a neighbour, a tile that stands for its connected component."""
    place: dict[str, str]
    color: dict[str, str]
    available: frozenset[str]
    robots: frozenset[str] | None
    """The objects that the operators take for robots, None for all; so for tiles and colours."""
    tiles: frozenset[str] | None
    colors: frozenset[str] | None
    static: State

    def exits(self, tile: str) -> bool:
        """True when a robot can leave the tile."""
        return any(neighbour != tile for _, neighbour in self.steps.get(tile, ()))

    def route(self, start: str, end: str) -> list[tuple[str, str, str]]:
        """A shortest way, as (action, from, to) steps; the tiles are in one component."""
        came: dict[str, tuple[str, str]] = {}
        frontier = [end]
        while start != end and start not in came:
            reached, frontier = frontier, []
            for tile in reached:
                for _, neighbour in self.steps[tile]:
                    if neighbour not in came and neighbour != end:
                        came[neighbour] = (next(d for d, n in self.steps[neighbour] if n == tile), tile)
                        frontier.append(neighbour)
        way = []
        while start != end:
            direction, following = came[start]
            way.append((direction, start, following))
            start = following
        return way


@lru_cache(maxsize=RECENT)
def _floor(init: State, types: Types) -> _Floor | BrokenAssumption:
    """The floor that the atoms describe, or the assumption they break."""

    def of_type(name: str) -> frozenset[str] | None:
        return None if types is None else frozenset(o for o, t in types if t == name)

    robots, tiles, colors = of_type("robot"), of_type("tile"), of_type("color")
    steps: dict[str, list[tuple[str, str]]] = {}
    place: dict[str, str] = {}
    color: dict[str, str] = {}
    available: set[str] = set()
    static: set[Atom] = set()
    for atom in init:
        predicate = atom[0]
        if predicate in STEP and _fits(atom, tiles, tiles):
            _, first, second = atom
            forward, backward = STEP[predicate]
            steps.setdefault(second, []).append((forward, first))
            steps.setdefault(first, []).append((backward, second))
            static.add(atom)
        elif predicate == "robot-at" and _fits(atom, robots, tiles):
            if atom[1] in place:
                conflict = (("robot-at", atom[1], place[atom[1]]), atom)
                return BrokenAssumption(f"{atom[1]} is on two tiles", conflict)
            place[atom[1]] = atom[2]
        elif predicate == "robot-has" and _fits(atom, robots, colors):
            if atom[1] in color:
                conflict = (("robot-has", atom[1], color[atom[1]]), atom)
                return BrokenAssumption(f"{atom[1]} has two colours", conflict)
            color[atom[1]] = atom[2]
        else:
            if predicate == "available-color" and len(atom) == 2 and (colors is None or atom[1] in colors):
                available.add(atom[1])
            static.add(atom)

    for moves in steps.values():
        moves.sort()
    component: dict[str, str] = {}
    for start in steps:
        if start not in component:
            component[start] = start
            frontier = [start]
            while frontier:
                for _, neighbour in steps[frontier.pop()]:
                    if neighbour not in component:
                        component[neighbour] = start
                        frontier.append(neighbour)
    return _Floor(steps, component, place, color, frozenset(available), robots, tiles, colors, frozenset(static))


def _types(problem: Problem, typed: bool) -> Types:
    return frozenset(problem.objects.items()) if typed else None


@dataclass(frozen=True, slots=True)
class _Aims:
    """A goal that can be reached: the places and colours it asks for and who paints what."""

    floor: _Floor
    place: dict[str, str]
    color: dict[str, str]
    work: list[tuple[str, dict[str, set[str]]]]
    """Painters in order, each with the colours it paints on each tile."""
    must_change: frozenset[str]
    """Robots of open colour that must have changed theirs in every reachable goal state."""


def _fits(atom: Atom, *allowed: frozenset[str] | None) -> bool:
    return len(atom) == len(allowed) + 1 and all(
        objects is None or name in objects for name, objects in zip(atom[1:], allowed, strict=True)
    )


@lru_cache(maxsize=RECENT)
def _aims(init: State, goal: State, types: Types) -> _Aims | Unsolvable:
    floor = _floor(init, types)
    if isinstance(floor, BrokenAssumption):
        raise UserError(f"the initial state breaks an assumption: {floor.reason}")
    place: dict[str, str] = {}
    color: dict[str, str] = {}
    wanted: dict[str, dict[str, set[str]]] = {}
    for atom in goal - floor.static:
        predicate = atom[0]
        if predicate == "robot-at" and len(atom) == 3 and atom[1] in floor.place:
            _, robot, tile = atom
            start = floor.place[robot]
            if tile != start and (start not in floor.component or floor.component.get(tile) != floor.component[start]):
                return Unsolvable(f"{robot} can never get from {start} to {tile}")
            if robot in place:
                return Unsolvable(f"the goal has {robot} both on {place[robot]} and on {tile}")
            place[robot] = tile
        elif predicate == "robot-has" and len(atom) == 3 and atom[1] in floor.color:
            _, robot, new = atom
            if new != floor.color[robot] and new not in floor.available:
                return Unsolvable(f"{robot} can never get {new}, which is not available")
            if robot in color:
                return Unsolvable(f"the goal has {robot} hold both {color[robot]} and {new}")
            color[robot] = new
        elif predicate == "painted" and _fits(atom, floor.tiles, floor.colors):
            if atom[1] not in floor.component:
                return Unsolvable(f"{atom[1]} has no neighbour from which a robot could paint it")
            wanted.setdefault(floor.component[atom[1]], {}).setdefault(atom[1], set()).add(atom[2])
        else:
            return Unsolvable(f"{show_atom(atom)} does not hold at the start and no operator can make it true")

    painters: dict[str, list[str]] = {}
    for robot, tile in sorted(floor.place.items()):
        if robot in floor.color and tile in floor.component:
            painters.setdefault(floor.component[tile], []).append(robot)
    work: list[tuple[str, dict[str, set[str]]]] = []
    must_change: set[str] = set()
    for component, tiles in sorted(wanted.items(), key=lambda item: min(item[1])):
        team = painters.get(component, [])
        if not team:
            return Unsolvable(f"no robot with a colour can reach {min(tiles)}, which the goal wants painted")
        begun = {floor.color[robot]: robot for robot in team}
        later = {tile: {c for c in colors if c not in begun} for tile, colors in tiles.items()}
        later = {tile: colors for tile, colors in later.items() if colors}
        for tile, colors in later.items():
            if not colors <= floor.available:
                missing = min(colors - floor.available)
                return Unsolvable(f"nobody who can reach {tile} can ever get {missing} to paint it")
        for own, robot in begun.items():
            share = {tile: {own} for tile, colors in tiles.items() if own in colors}
            if share:
                work.append((robot, share))
        if later:
            changed = [
                r for r in team if floor.color[r] in floor.available or color.get(r, floor.color[r]) != floor.color[r]
            ]
            undecided = [r for r in team if r not in color]
            if not changed and not undecided:
                return Unsolvable(
                    f"{min(later)} must be painted in a colour that nobody there began with, but the goal has every "
                    "robot there keep a colour that is lost once changed"
                )
            if not changed and len(undecided) == 1:
                must_change.update(undecided)
            work.append(((changed or undecided)[0], later))
    return _Aims(floor, place, color, work, frozenset(must_change))
