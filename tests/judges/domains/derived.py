"""Derived predicates: recursive, with negation between strata, over quantifiers."""

from random import Random

from tests.judges.domains.story import Scene, Story, both, facts, links, names

GRID = """(define (domain power-grid)
  (:requirements :adl :derived-predicates)
  (:types node)
  (:predicates (cable ?a ?b - node) (source ?n - node) (cut ?a ?b - node) (powered ?n - node) (dark ?n - node)
    (repaired ?n - node))
  (:derived (powered ?n - node)
    (or (source ?n) (exists (?m - node) (and (powered ?m) (cable ?m ?n) (not (cut ?m ?n))))))
  (:derived (dark ?n - node) (not (powered ?n)))
  (:action sever :parameters (?a ?b - node)
    :precondition (and (cable ?a ?b) (powered ?a) (not (cut ?a ?b))) :effect (cut ?a ?b))
  (:action join :parameters (?a ?b - node) :precondition (and (cut ?a ?b) (dark ?b)) :effect (not (cut ?a ?b)))
  (:action repair :parameters (?n - node) :precondition (dark ?n) :effect (repaired ?n))
  (:action blackout :parameters ()
    :precondition (forall (?n - node) (powered ?n))
    :effect (forall (?a ?b - node) (when (and (cable ?a ?b) (powered ?b)) (cut ?a ?b)))))"""


def grid(random: Random) -> Scene:
    nodes = names(random, "n", 2, 4)
    edges = links(random, nodes)
    init = [f"cut {one} {other}" for one, other in edges if random.random() < 0.3]
    return Scene(f"{' '.join(nodes)} - node", facts(f"source {nodes[0]}", both("cable", edges), init))


CRATES = """(define (domain crates)
  (:requirements :strips :typing :negative-preconditions :disjunctive-preconditions :existential-preconditions
    :universal-preconditions :derived-predicates)
  (:types crate)
  (:predicates (on ?x ?y - crate) (above ?x ?y - crate) (bare ?x - crate) (floor ?x - crate) (safe ?x - crate)
    (fragile ?x - crate))
  (:derived (above ?x ?y - crate) (or (on ?x ?y) (exists (?z - crate) (and (on ?x ?z) (above ?z ?y)))))
  (:derived (bare ?x - crate) (not (exists (?y - crate) (on ?y ?x))))
  (:derived (safe ?x - crate) (forall (?y - crate) (or (not (above ?y ?x)) (not (fragile ?x)))))
  (:action heave :parameters (?x ?y - crate)
    :precondition (and (bare ?x) (bare ?y) (floor ?x) (not (above ?y ?x)) (safe ?y))
    :effect (and (on ?x ?y) (not (floor ?x))))
  (:action drop :parameters (?x ?y - crate)
    :precondition (and (bare ?x) (on ?x ?y)) :effect (and (floor ?x) (not (on ?x ?y))))
  (:action pad :parameters (?x - crate) :precondition (and (fragile ?x) (not (safe ?x))) :effect (not (fragile ?x))))"""


def crates(random: Random) -> Scene:
    boxes = names(random, "k", 2, 4)
    init, below = [], ""
    for box in random.sample(boxes, len(boxes)):
        init.append(f"on {box} {below}" if below and random.random() < 0.6 else f"floor {box}")
        below = box
    return Scene(
        f"{' '.join(boxes)} - crate", facts(init, [f"fragile {box}" for box in boxes if random.random() < 0.4])
    )


# Three strata, and rules of one head that are more than one; a derived predicate without arguments.
GOSSIP = """(define (domain gossip)
  (:requirements :adl :derived-predicates)
  (:types villager)
  (:constants mayor - villager)
  (:predicates (trusts ?a ?b - villager) (told ?a - villager) (hears ?a - villager) (calm ?a - villager) (peace)
    (away ?a - villager))
  (:derived (hears ?a - villager) (told ?a))
  (:derived (hears ?a - villager) (exists (?b - villager) (and (hears ?b) (trusts ?a ?b) (not (away ?b)))))
  (:derived (calm ?a - villager) (and (not (hears ?a)) (not (away ?a))))
  (:derived (calm ?a - villager) (and (= ?a mayor) (told ?a)))
  (:derived (peace) (and (calm mayor) (not (exists (?a - villager) (and (trusts mayor ?a) (not (calm ?a)))))))
  (:action tell :parameters (?a - villager) :precondition (and (not (told ?a)) (not (away ?a))) :effect (told ?a))
  (:action travel :parameters (?a - villager)
    :precondition (or (calm ?a) (peace)) :effect (and (away ?a) (not (told ?a))))
  (:action return-home :parameters (?a - villager) :precondition (away ?a) :effect (not (away ?a)))
  (:action befriend :parameters (?a ?b - villager)
    :precondition (and (hears ?a) (not (= ?a ?b)) (not (trusts ?a ?b)))
    :effect (and (trusts ?a ?b) (when (peace) (trusts ?b ?a)))))"""


def gossip(random: Random) -> Scene:
    people = ["mayor", *names(random, "v", 1, 3)]
    init = [f"trusts {one} {other}" for one, other in links(random, people)]
    init += [f"{random.choice(['told', 'away'])} {person}" for person in people if random.random() < 0.4]
    return Scene(f"{' '.join(people[1:])} - villager", facts(init))


STORIES = [
    Story("power-grid", "derived", GRID, grid),
    Story("crates", "derived", CRATES, crates),
    Story("gossip", "derived", GOSSIP, gossip),
]
