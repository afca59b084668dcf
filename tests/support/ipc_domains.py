"""Three domains in the manner of the International Planning Competition, for which nobody wrote special code.

Written from what the domains are about: Logistics has a type hierarchy, Sokoban dead ends, Ferry constants, negative
preconditions and an equation. For each there is a function from a seed to a small random problem.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from pddl_eval.definition.model import Atom, Problem
from pddl_eval.definition.pddl import parse_domain

from tests.corpus import CORPUS

DOMAINS = {name: parse_domain(CORPUS[name].domain) for name in ("logistics", "sokoban", "ferry")}


def logistics_problem(seed: int) -> Problem:
    """Up to two cities with up to two places each, one of them perhaps an airport; vehicles may be missing."""
    choose = random.Random(seed)
    cities = [f"city{n}" for n in range(choose.randint(1, 2))]
    places = {f"{city}-{n}": city for city in cities for n in range(choose.randint(1, 2))}
    objects = dict.fromkeys(cities, "city")
    objects |= {place: choose.choice(["airport", "airport", "place"]) for place in places}
    movable = [("truck", choose.randint(0, 2)), ("plane", choose.randint(0, 1)), ("parcel", choose.randint(1, 2))]
    movables = {f"{kind}{n}": kind for kind, count in movable for n in range(count)}
    vehicles = [name for name, kind in movables.items() if kind != "parcel"]
    init: set[Atom] = {("part-of", place, city) for place, city in places.items()}
    for name, kind in movables.items():
        if kind == "parcel" and vehicles and choose.random() < 0.2:
            init.add(("inside", name, choose.choice(vehicles)))
        else:
            init.add(("located", name, choose.choice(list(places))))
    parcels = [name for name, kind in movables.items() if kind == "parcel"]
    possible: list[Atom] = [("located", name, place) for name in movables for place in places]
    possible += [("inside", parcel, vehicle) for parcel in parcels for vehicle in vehicles]
    return Problem("p", "logistics", objects | movables, frozenset(init), _some(possible, choose))


def sokoban_problem(seed: int) -> Problem:
    """A room of two by four cells or less, with up to two boxes; some cells are walls."""
    choose = random.Random(seed)
    width, height = choose.randint(1, 4), choose.randint(1, 3)
    cells = {(x, y): f"c{x}{y}" for x in range(width) for y in range(height) if choose.random() < 0.9}
    if not cells:
        cells = {(0, 0): "c00"}
    init: set[Atom] = set()
    for direction, dx, dy in (("up", 0, -1), ("down", 0, 1), ("left", -1, 0), ("right", 1, 0)):
        for (x, y), cell in cells.items():
            if (x + dx, y + dy) in cells:
                init.add(("next", cell, cells[x + dx, y + dy], direction))
    taken = choose.sample(list(cells.values()), min(len(cells), choose.randint(1, 3)))
    boxes = [f"b{n}" for n in range(len(taken) - 1)]
    init |= {("player", taken[0])} | {("clear", cell) for cell in cells.values() if cell not in taken}
    init |= {("at", box, cell) for box, cell in zip(boxes, taken[1:], strict=True)}
    objects = dict.fromkeys(cells.values(), "cell") | dict.fromkeys(boxes, "box")
    objects |= dict.fromkeys(("up", "down", "left", "right"), "direction")
    possible: list[Atom] = [("at", box, cell) for box in boxes for cell in cells.values()]
    possible += [(kind, cell) for kind in ("player", "clear") for cell in cells.values()]
    return Problem("p", "sokoban", objects, frozenset(init), _some(possible, choose))


def ferry_problem(seed: int) -> Problem:
    """Up to two ports beside home and up to three cars; the ferry may be missing, two may be there."""
    choose = random.Random(seed)
    ports = [f"port{n}" for n in range(choose.randint(0, 2))]
    cars = [f"car{n}" for n in range(choose.randint(1, 3))]
    everywhere = ["home", *ports]
    init: set[Atom] = {("at", car, choose.choice(everywhere)) for car in cars}
    init |= {("at-ferry", choose.choice(everywhere)) for _ in range(choose.choice([0, 1, 1, 1, 1, 2]))}
    init |= {atom for atom in [("fuel",), ("full",)] if choose.random() < 0.3}
    objects = dict.fromkeys(ports, "port") | dict.fromkeys(cars, "car")
    possible: list[Atom] = [("at", car, port) for car in cars for port in everywhere]
    possible += [("on", car) for car in cars] + [("at-ferry", port) for port in everywhere] + [("fuel",), ("full",)]
    return Problem("p", "ferry", objects, frozenset(init), _some(possible, choose))


def _some(atoms: list[Atom], choose: random.Random) -> frozenset[Atom]:
    return frozenset(choose.sample(atoms, min(len(atoms), choose.choice([0, 1, 1, 2, 2, 3]))))


PROBLEMS: dict[str, Callable[[int], Problem]] = {
    "logistics": logistics_problem,
    "sokoban": sokoban_problem,
    "ferry": ferry_problem,
}
