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

from collections.abc import Container, Iterator
from dataclasses import dataclass
from operator import contains

from pddl_eval.definition.budget import spend
from pddl_eval.definition.domains.reading import NotCovered, exclude_each_other, never_true
from pddl_eval.definition.model import Action, Atom, Problem, State
from pddl_eval.definition.verdict import Unsolvable

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

STEP = {"up": ("up", "down"), "right": ("right", "left")}
"""For each relation, the action that goes from its second tile to its first, and the one that goes back."""


def read(problem: Problem, typed: bool = True) -> Floor | NotCovered:  # noqa: C901 (one case a predicate)
    """The floor and its robots, or two atoms that have a robot on two tiles or with two colours.

    >>> init = frozenset({("robot-at", "r", "x"), ("robot-has", "r", "c"), ("up", "y", "x"), ("available-color", "d")})
    >>> objects = {"r": "robot", "x": "tile", "y": "tile", "c": "color", "d": "color"}
    >>> goal = read(Problem("p", "floor-tile", objects, init, frozenset())).goal(frozenset({("painted", "y", "d")}))
    >>> sorted(goal.closure)
    [('available-color', 'd'), ('painted', 'y', 'd'), ('robot-has', 'r', 'd'), ('up', 'y', 'x')]
    >>> goal.plan
    (('change-color', 'r', 'c', 'd'), ('paint-up', 'r', 'y', 'x', 'd'))
    """
    robots, tiles, colors = (
        {name for name, type_ in problem.objects.items() if type_ == kind or not typed}
        for kind in ("robot", "tile", "color")
    )
    steps: dict[str, list[tuple[str, str]]] = {}
    place: dict[str, str] = {}
    color: dict[str, str] = {}
    static: set[Atom] = set()
    for atom in sorted(problem.init):
        predicate = atom[0]
        if predicate == "robot-at" and _fits(atom, robots, tiles):
            if place.setdefault(atom[1], atom[2]) != atom[2]:
                return NotCovered((("robot-at", atom[1], place[atom[1]]), atom))
        elif predicate == "robot-has" and _fits(atom, robots, colors):
            if color.setdefault(atom[1], atom[2]) != atom[2]:
                return NotCovered((("robot-has", atom[1], color[atom[1]]), atom))
        else:
            static.add(atom)
            if predicate in STEP and _fits(atom, tiles, tiles):
                _, first, second = atom
                forward, backward = STEP[predicate]
                steps.setdefault(second, []).append((forward, first))
                steps.setdefault(first, []).append((backward, second))
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
    available = {atom[1] for atom in static if atom[0] == "available-color" and _fits(atom, colors)}
    return Floor(steps, component, place, color, available, colors, frozenset(static))


def _fits(atom: Atom, *kinds: Container[str]) -> bool:
    """True when the atom has as many arguments as there are kinds, each of its kind."""
    return len(atom) == len(kinds) + 1 and all(map(contains, kinds, atom[1:]))


@dataclass(frozen=True, slots=True, eq=False)
class Floor:
    """An initial state: the tiles with their neighbours, and what each robot is on and holds."""

    steps: dict[str, list[tuple[str, str]]]
    """For each tile the moves from it: the action's name and the tile it leads to."""
    component: dict[str, str]
    """For each tile with a neighbour, a tile that stands for its connected component."""
    place: dict[str, str]
    color: dict[str, str]
    available: set[str]
    colors: set[str]
    """The objects that the operators take for colours."""
    static: State

    def direction(self, tile: str, neighbour: str) -> str:
        """The action that goes from a tile to its neighbour."""
        return next(direction for direction, following in self.steps[tile] if following == neighbour)

    def route(self, start: str, end: str) -> Iterator[tuple[str, str, str]]:
        """A shortest way, as (action, from, to) steps; the tiles are in one component."""
        towards = {end: end}
        queue = [end] if start != end else []
        for tile in queue:
            for _, neighbour in self.steps[tile]:
                if neighbour not in towards:
                    towards[neighbour] = tile
                    queue.append(neighbour)
        while start != end:
            yield self.direction(start, towards[start]), start, towards[start]
            start = towards[start]

    def goal(self, goal: State) -> Tour | Unsolvable:  # noqa: C901 (one case a predicate, one a painter)
        """What the goal asks of which robot, or atoms that exclude each other."""
        place: dict[str, str] = {}
        color: dict[str, str] = {}
        wanted: dict[str, dict[str, set[str]]] = {}
        for atom in sorted(goal):
            if atom in self.static:
                continue
            match atom:
                case ("robot-at", robot, tile) if robot in self.place:
                    start = self.place[robot]
                    if tile != start and (
                        tile not in self.component or self.component.get(start) != self.component[tile]
                    ):
                        return never_true(atom)
                    if place.setdefault(robot, tile) != tile:
                        return exclude_each_other(("robot-at", robot, place[robot]), atom)
                case ("robot-has", robot, new) if robot in self.color:
                    if new != self.color[robot] and new not in self.available:
                        return never_true(atom)
                    if color.setdefault(robot, new) != new:
                        return exclude_each_other(("robot-has", robot, color[robot]), atom)
                case ("painted", tile, new) if tile in self.component and new in self.colors:
                    wanted.setdefault(self.component[tile], {}).setdefault(tile, set()).add(new)
                case _:
                    return never_true(atom)

        work: list[tuple[str, dict[str, set[str]]]] = []
        must_change: set[str] = set()
        teams: dict[str | None, list[str]] = {}
        for robot, tile in sorted(self.place.items()) if wanted else ():
            if robot in self.color:
                teams.setdefault(self.component.get(tile), []).append(robot)
        for component, tiles in sorted(wanted.items(), key=lambda item: min(item[1])):
            team = teams.get(component, [])
            begun = {self.color[robot]: robot for robot in team}
            possible = {*begun, *self.available} if team else set()
            for tile, colors in tiles.items():
                if not colors <= possible:
                    return never_true(("painted", tile, min(colors - possible)))
            for own, robot in begun.items():
                share = {tile: {own} for tile, colors in tiles.items() if own in colors}
                if share:
                    work.append((robot, share))
            later = {tile: left for tile, colors in tiles.items() if (left := colors - begun.keys())}
            if later:
                changed = [
                    r for r in team if self.color[r] in self.available or color.get(r, self.color[r]) != self.color[r]
                ]
                undecided = [robot for robot in team if robot not in color]
                if not changed and not undecided:
                    tile = min(later)
                    kept = [("robot-has", robot, color[robot]) for robot in team]
                    return exclude_each_other(("painted", tile, min(later[tile])), *kept)
                if not changed and len(undecided) == 1:
                    must_change.update(undecided)
                work.append(((changed or undecided)[0], later))
        return Tour(self, goal, place, color, work, must_change)


@dataclass(frozen=True, slots=True, eq=False)
class Tour:
    """A goal that can be reached: the places and colours it asks for and who paints what."""

    start: Floor
    goal: State
    place: dict[str, str]
    color: dict[str, str]
    work: list[tuple[str, dict[str, set[str]]]]
    """Painters in order, each with the colours it paints on each tile."""
    must_change: set[str]
    """Robots of open colour that must have changed theirs in every reachable goal state."""

    @property
    def closure(self) -> State:
        """cl(goal)."""
        floor = self.start
        closure = set(self.goal | floor.static)
        for robot, tile in floor.place.items():
            if robot not in self.place and all(neighbour == tile for _, neighbour in floor.steps.get(tile, ())):
                closure.add(("robot-at", robot, tile))
        for robot, color in floor.color.items():
            if robot not in self.color:
                possible = floor.available if robot in self.must_change else floor.available | {color}
                if len(possible) == 1:
                    closure.add(("robot-has", robot, *possible))
        return frozenset(closure)

    @property
    def plan(self) -> tuple[Action, ...]:  # noqa: C901 (one walk of each painter)
        """Linear in the floor: each painter walks its component once, then all take the colours and tiles asked for."""
        floor = self.start
        place = dict(floor.place)
        color = dict(floor.color)
        actions: list[Action] = []

        def take(robot: str, new: str) -> None:
            if color[robot] != new:
                actions.append(("change-color", robot, color[robot], new))
                color[robot] = new

        def paint_from(robot: str, tile: str, wanted: dict[str, set[str]]) -> None:
            for direction, neighbour in floor.steps[tile]:
                for new in sorted(wanted.pop(neighbour, ()), key=lambda new: (new != color[robot], new)):
                    take(robot, new)
                    actions.append((f"paint-{direction}", robot, neighbour, tile, new))

        for robot, work in self.work:
            wanted = {tile: set(colors) for tile, colors in work.items()}
            paint_from(robot, place[robot], wanted)
            seen = {place[robot]}
            path = [(place[robot], iter(floor.steps[place[robot]]))]
            while wanted:
                spend(1)  # robots times tiles may be millions
                tile, steps = path[-1]
                direction, following = next((step for step in steps if step[1] not in seen), ("", ""))
                if direction:
                    seen.add(following)
                    path.append((following, iter(floor.steps[following])))
                    actions.append((direction, robot, tile, following))
                    paint_from(robot, following, wanted)
                else:
                    path.pop()
                    actions.append((floor.direction(tile, path[-1][0]), robot, tile, path[-1][0]))
            place[robot] = path[-1][0]
        for robot, new in sorted(self.color.items()):
            take(robot, new)
        for robot, tile in sorted(self.place.items()):
            actions += [(direction, robot, *tiles) for direction, *tiles in floor.route(place[robot], tile)]
            spend(10)
        return tuple(actions)
