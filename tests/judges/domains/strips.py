"""STRIPS: atoms, added and deleted; untyped, typed with a hierarchy, with constants and with ``either``."""

from random import Random

from tests.judges.domains.story import Scene, Story, both, facts, links, names

BEEHIVE = """(define (domain beehive)
  (:requirements :strips)
  (:predicates (bee ?b) (cell ?c) (near ?x ?y) (sits ?b ?c) (bloom ?c) (hungry ?b) (loaded ?b) (honey ?c) (wax ?c))
  (:action fly :parameters (?b ?from ?to)
    :precondition (and (bee ?b) (cell ?from) (cell ?to) (sits ?b ?from) (near ?from ?to))
    :effect (and (sits ?b ?to) (not (sits ?b ?from))))
  (:action gather :parameters (?b ?c)
    :precondition (and (bee ?b) (sits ?b ?c) (bloom ?c) (hungry ?b))
    :effect (and (loaded ?b) (not (hungry ?b)) (not (bloom ?c))))
  (:action fill :parameters (?b ?c)
    :precondition (and (bee ?b) (sits ?b ?c) (wax ?c) (loaded ?b))
    :effect (and (honey ?c) (not (wax ?c)) (hungry ?b) (not (loaded ?b)))))"""


def beehive(random: Random) -> Scene:
    bees, cells = names(random, "bee", 1, 2), names(random, "c", 2, 4)
    init = [f"{random.choice(['bloom', 'wax'])} {cell}" for cell in cells]
    init += [f"sits {bee} {random.choice(cells)}" for bee in bees] + [f"hungry {bee}" for bee in bees]
    kinds = [f"bee {bee}" for bee in bees] + [f"cell {cell}" for cell in cells]
    return Scene(" ".join(bees + cells), facts(kinds, both("near", links(random, cells)), init))


# Names that are alike when they are put together, and actions and atoms without arguments.
BELLS = """(define (domain bell-tower)
  (:requirements :strips)
  (:predicates (rope ?a ?b) (rope-a ?b) (wound) (rung ?x) (quiet) (rope1 ?x))
  (:action wind :parameters () :precondition (quiet) :effect (and (wound) (not (quiet))))
  (:action tie :parameters (?x ?y) :precondition (and (wound) (rope ?x ?y))
    :effect (and (rope-a ?y) (not (rope ?x ?y))))
  (:action tie-x :parameters (?y) :precondition (and (wound) (rope-a ?y)) :effect (and (rope1 ?y) (rope ?y ?y)))
  (:action ring :parameters (?x) :precondition (rope1 ?x) :effect (and (rung ?x) (not (rope1 ?x)) (not (rope-a ?x))))
  (:action hush :parameters () :precondition (wound) :effect (and (quiet) (not (wound)))))"""


def bells(random: Random) -> Scene:
    ropes = random.sample(["a", "a-b", "b", "x-a", "x", "a1", "a11", "ab", "b-1"], random.randint(3, 5))
    init = [f"rope {one} {other}" for one, other in links(random, ropes, 2)]
    return Scene(" ".join(ropes), facts("quiet", init, f"rope-a {random.choice(ropes)}"))


PLATES = """(define (domain plates)
  (:requirements :strips :typing)
  (:types plate shelf - thing thing)
  (:predicates (upon ?p - plate ?t - thing) (top ?t - thing) (free) (held ?p - plate))
  (:action lift :parameters (?p - plate ?t - thing)
    :precondition (and (free) (upon ?p ?t) (top ?p))
    :effect (and (held ?p) (top ?t) (not (free)) (not (upon ?p ?t)) (not (top ?p))))
  (:action lay :parameters (?p - plate ?t - thing)
    :precondition (and (held ?p) (top ?t))
    :effect (and (free) (upon ?p ?t) (top ?p) (not (held ?p)) (not (top ?t)))))"""


def plates(random: Random) -> Scene:
    dishes, shelves = names(random, "p", 1, 4), names(random, "s", 2, 3)
    tops, init = list(shelves), []
    for plate in dishes:
        below = tops.pop(random.randrange(len(tops)))
        init.append(f"upon {plate} {below}")
        tops.append(plate)
    text = f"{' '.join(dishes)} - plate {' '.join(shelves)} - shelf"
    return Scene(text, facts("free", init, [f"top {each}" for each in tops]))


THEATRE = """(define (domain theatre)
  (:requirements :strips :typing)
  (:types person thing place - object actor stagehand - person prop costume - thing wig - costume)
  (:constants stage wardrobe - place)
  (:predicates (at ?x - (either person thing) ?p - place) (door ?p ?q - place) (wears ?a - actor ?c - costume)
    (bare ?a - actor) (lit) (played ?a - actor))
  (:action walk :parameters (?x - person ?p ?q - place)
    :precondition (and (at ?x ?p) (door ?p ?q)) :effect (and (at ?x ?q) (not (at ?x ?p))))
  (:action bring :parameters (?s - stagehand ?t - thing ?p ?q - place)
    :precondition (and (at ?s ?p) (at ?t ?p) (door ?p ?q))
    :effect (and (at ?s ?q) (at ?t ?q) (not (at ?s ?p)) (not (at ?t ?p))))
  (:action dress :parameters (?a - actor ?c - costume)
    :precondition (and (at ?a wardrobe) (at ?c wardrobe) (bare ?a))
    :effect (and (wears ?a ?c) (not (at ?c wardrobe)) (not (bare ?a))))
  (:action light :parameters (?s - stagehand) :precondition (at ?s stage) :effect (lit))
  (:action play :parameters (?a - actor ?w - wig)
    :precondition (and (lit) (at ?a stage) (wears ?a ?w)) :effect (and (played ?a) (not (lit)))))"""


def theatre(random: Random) -> Scene:
    people = {"ada": "actor", "bo": random.choice(["actor", "stagehand"]), "cy": "stagehand"}
    things = {"lamp": "prop", "cape": random.choice(["costume", "wig"]), "curls": "wig"}
    places = ["stage", "wardrobe", *names(random, "yard", 0, 1)]
    objects = [f"{name} - {kind}" for name, kind in (people | things).items()] + [
        f"{place} - place" for place in places[2:]
    ]
    init = [f"at {name} {random.choice(places)}" for name in people | things]
    init += [f"bare {name}" for name, kind in people.items() if kind == "actor"]
    return Scene("\n    ".join(objects), facts(init, both("door", links(random, places))))


POST = """(define (domain post)
  (:requirements :strips :typing)
  (:types letter parcel carrier - object cyclist driver - carrier house)
  (:predicates (lies ?i - (either letter parcel) ?h - house) (bag ?i - (either letter parcel) ?c - carrier)
    (in-house ?c - carrier ?h - house) (street ?g ?h - house) (signed ?p - parcel)
    (seen ?x - object))
  (:action ride :parameters (?c - carrier ?g ?h - house)
    :precondition (and (in-house ?c ?g) (street ?g ?h)) :effect (and (not (in-house ?c ?g)) (in-house ?c ?h)))
  (:action take :parameters (?c - carrier ?l - letter ?h - house)
    :precondition (and (in-house ?c ?h) (lies ?l ?h)) :effect (and (bag ?l ?c) (not (lies ?l ?h))))
  (:action heave :parameters (?d - driver ?p - parcel ?h - house)
    :precondition (and (in-house ?d ?h) (lies ?p ?h)) :effect (and (bag ?p ?d) (not (lies ?p ?h))))
  (:action give :parameters (?c - (either cyclist driver) ?i - (either letter parcel) ?h - house)
    :precondition (and (in-house ?c ?h) (bag ?i ?c)) :effect (and (lies ?i ?h) (not (bag ?i ?c))))
  (:action look :parameters (?x ?h - object) :precondition (seen ?h) :effect (and (seen ?x) (not (seen ?h))))
  (:action sign :parameters (?p - parcel ?h - house) :precondition (lies ?p ?h) :effect (signed ?p)))"""


def post(random: Random) -> Scene:
    houses, items = names(random, "h", 2, 4), names(random, "i", 1, 3)
    kinds = {item: random.choice(["letter", "parcel"]) for item in items} | {"kim": "driver", "lou": "cyclist"}
    objects = " ".join(f"{name} - {kind}" for name, kind in kinds.items()) + f" {' '.join(houses)} - house"
    init = [f"lies {item} {random.choice(houses)}" for item in items]
    init += [f"in-house {carrier} {random.choice(houses)}" for carrier in ("kim", "lou")]
    return Scene(objects, facts(init, both("street", links(random, houses)), f"seen {random.choice(list(kinds))}"))


STORIES = [
    Story("beehive", "strips", BEEHIVE, beehive),
    Story("bell-tower", "strips", BELLS, bells),
    Story("plates", "typing", PLATES, plates),
    Story("theatre", "typing", THEATRE, theatre),
    Story("post", "typing", POST, post),
]
