"""Three domains in the manner of the International Planning Competition, for which nobody wrote special code.

Written from what the domains are about: Logistics has a type hierarchy, Sokoban dead ends, Ferry constants, negative
preconditions and an equation. For each there is a function from a seed to a small random problem.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from pddl_eval.model import Atom, Problem
from pddl_eval.parsing import parse_domain

LOGISTICS = parse_domain("""
(define (domain logistics)
  (:requirements :strips :typing)
  (:types truck plane - vehicle  parcel vehicle - movable  airport - place  city)
  (:predicates (located ?m - movable ?p - place) (inside ?p - parcel ?v - vehicle) (part-of ?p - place ?c - city))
  (:action load
    :parameters (?p - parcel ?v - vehicle ?where - place)
    :precondition (and (located ?p ?where) (located ?v ?where))
    :effect (and (inside ?p ?v) (not (located ?p ?where))))
  (:action unload
    :parameters (?p - parcel ?v - vehicle ?where - place)
    :precondition (and (inside ?p ?v) (located ?v ?where))
    :effect (and (located ?p ?where) (not (inside ?p ?v))))
  (:action drive
    :parameters (?t - truck ?from ?to - place ?c - city)
    :precondition (and (located ?t ?from) (part-of ?from ?c) (part-of ?to ?c))
    :effect (and (located ?t ?to) (not (located ?t ?from))))
  (:action fly
    :parameters (?a - plane ?from ?to - airport)
    :precondition (located ?a ?from)
    :effect (and (not (located ?a ?from)) (located ?a ?to))))
""")

SOKOBAN = parse_domain("""
(define (domain sokoban)
  (:types cell direction box)
  (:predicates (next ?a ?b - cell ?d - direction) (player ?c - cell) (at ?b - box ?c - cell) (clear ?c - cell))
  (:action walk
    :parameters (?from ?to - cell ?d - direction)
    :precondition (and (player ?from) (next ?from ?to ?d) (clear ?to))
    :effect (and (not (player ?from)) (not (clear ?to)) (player ?to) (clear ?from)))
  (:action push
    :parameters (?b - box ?behind ?from ?to - cell ?d - direction)
    :precondition (and (player ?behind) (next ?behind ?from ?d) (next ?from ?to ?d) (at ?b ?from) (clear ?to))
    :effect (and (not (player ?behind)) (clear ?behind) (player ?from) (not (at ?b ?from)) (at ?b ?to)
      (not (clear ?to)))))
""")

FERRY = parse_domain("""
(define (domain ferry)
  (:requirements :strips :typing :negative-preconditions :equality)
  (:types port car)
  (:constants home - port)
  (:predicates (at-ferry ?p - port) (at ?c - car ?p - port) (on ?c - car) (full) (fuel))
  (:action sail
    :parameters (?from ?to - port)
    :precondition (and (not (= ?from ?to)) (at-ferry ?from) (fuel))
    :effect (and (at-ferry ?to) (not (at-ferry ?from)) (not (fuel))))
  (:action tank :precondition (and (at-ferry home) (not (fuel))) :effect (fuel))
  (:action drift
    :parameters (?from - port)
    :precondition (and (at-ferry ?from) (not (fuel)) (not (= ?from home)))
    :effect (and (at-ferry home) (not (at-ferry ?from))))
  (:action board
    :parameters (?c - car ?p - port)
    :precondition (and (at ?c ?p) (at-ferry ?p) (not (full)))
    :effect (and (on ?c) (full) (not (at ?c ?p))))
  (:action land
    :parameters (?c - car ?p - port)
    :precondition (and (on ?c) (at-ferry ?p))
    :effect (and (at ?c ?p) (not (on ?c)) (not (full)))))
""")


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
DOMAINS = {"logistics": LOGISTICS, "sokoban": SOKOBAN, "ferry": FERRY}
