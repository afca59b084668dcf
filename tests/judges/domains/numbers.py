"""Action costs and numeric fluents: comparisons, all assignments, undefined values, divisors that may be zero."""

from random import Random

from tests.judges.domains.story import Scene, Story, both, facts, links, names

COURIER = """(define (domain courier)
  (:requirements :strips :typing :action-costs)
  (:types spot note)
  (:predicates (here ?s - spot) (road ?s ?t - spot) (waits ?n - note ?s - spot) (has ?n - note))
  (:functions (toll ?s ?t - spot) - number (total-cost) - number)
  (:action go :parameters (?s ?t - spot)
    :precondition (and (here ?s) (road ?s ?t))
    :effect (and (here ?t) (not (here ?s)) (increase (total-cost) (toll ?s ?t))))
  (:action grab :parameters (?n - note ?s - spot)
    :precondition (and (here ?s) (waits ?n ?s)) :effect (and (has ?n) (not (waits ?n ?s)) (increase (total-cost) 1)))
  (:action leave :parameters (?n - note ?s - spot)
    :precondition (and (here ?s) (has ?n)) :effect (and (waits ?n ?s) (not (has ?n)))))"""


def courier(random: Random) -> Scene:
    spots, notes = names(random, "spot", 2, 4), names(random, "n", 1, 2)
    edges, prices = links(random, spots), random.choice([["0", "1", "2.5", "0.1"], ["0", "1", "7"]])
    tolls = [
        f"= (toll {a} {b}) {random.choice(prices)}"
        for one, other in edges
        for a, b in ((one, other), (other, one))
        if random.random() < 0.95  # A road without a toll: what reads it cannot be executed.
    ]
    tolls = list({toll.rpartition(" ")[0]: toll for toll in tolls}.values())
    init = [f"here {spots[0]}"] + [f"waits {note} {random.choice(spots)}" for note in notes]
    start = random.choice([[], ["= (total-cost) 0"], ["= (total-cost) 5"]])
    objects = f"{' '.join(spots)} - spot {' '.join(notes)} - note"
    metric = random.choice(["minimize (total-cost)", "minimize (total-cost)", ""])
    return Scene(objects, facts(init, both("road", edges), tolls, start), metric)


TAILOR = """(define (domain tailor)
  (:requirements :strips :typing :negative-preconditions :action-costs)
  (:types cloth colour)
  (:constants red blue - colour)
  (:predicates (dyed ?c - cloth ?k - colour) (cut ?c - cloth) (sewn ?c - cloth) (sharp))
  (:functions (total-cost) - number (length ?c - cloth) - number)
  (:action dye-red :parameters (?c - cloth)
    :precondition (not (cut ?c)) :effect (and (dyed ?c red) (not (dyed ?c blue)) (increase (total-cost) 3)))
  (:action dye :parameters (?c - cloth ?k - colour)
    :precondition (and (not (dyed ?c ?k)) (not (sewn ?c)))
    :effect (and (dyed ?c ?k) (increase (total-cost) (length ?c))))
  (:action cut-out :parameters (?c - cloth)
    :precondition (and (sharp) (not (cut ?c))) :effect (and (cut ?c) (not (sharp)) (increase (total-cost) (length ?c))))
  (:action sharpen :parameters () :precondition (not (sharp)) :effect (and (sharp) (increase (total-cost) 0)))
  (:action sew :parameters (?c ?d - cloth ?k - colour)
    :precondition (and (cut ?c) (cut ?d) (dyed ?c ?k) (dyed ?d ?k)) :effect (and (sewn ?c) (sewn ?d))))"""


def tailor(random: Random) -> Scene:
    cloths, more = names(random, "cloth", 1, 3), random.choice([[], ["green"]])
    init = [f"dyed {each} {random.choice(['red', 'blue', *more])}" for each in cloths if random.random() < 0.6]
    init += [f"= (length {each}) {random.randint(0, 4)}" for each in cloths] + ["= (total-cost) 0"]
    objects = f"{' '.join(cloths)} - cloth" + " green - colour" * bool(more)
    return Scene(objects, facts(init), "minimize (total-cost)")


BAKERY = """(define (domain bakery)
  (:requirements :adl :action-costs)
  (:types loaf oven)
  (:predicates (dough ?l - loaf) (in ?l - loaf ?o - oven) (baked ?l - loaf) (burnt ?l - loaf) (hot ?o - oven))
  (:functions (total-cost) - number (gas ?o - oven) - number)
  (:action fire :parameters (?o - oven)
    :precondition (not (hot ?o)) :effect (and (hot ?o) (increase (total-cost) (gas ?o))))
  (:action load :parameters (?l - loaf ?o - oven)
    :precondition (and (dough ?l) (forall (?p - oven) (not (in ?l ?p)))) :effect (in ?l ?o))
  (:action bake :parameters (?o - oven)
    :precondition (and (hot ?o) (exists (?l - loaf) (in ?l ?o)))
    :effect (and (not (hot ?o)) (increase (total-cost) 1)
      (forall (?l - loaf) (and
        (when (and (in ?l ?o) (baked ?l)) (and (burnt ?l) (increase (total-cost) 10)))
        (when (and (in ?l ?o) (dough ?l)) (and (baked ?l) (not (dough ?l)) (increase (total-cost) 2)))))))
  (:action unload :parameters (?l - loaf ?o - oven)
    :precondition (and (in ?l ?o) (or (baked ?l) (not (hot ?o)))) :effect (not (in ?l ?o))))"""


def bakery(random: Random) -> Scene:
    loaves, ovens = names(random, "loaf", 1, 3), names(random, "o", 1, 2)
    gas = [f"= (gas {oven}) {random.choice(['0', '3', '1.25'])}" for oven in ovens]
    init = [f"dough {loaf}" for loaf in loaves] + [f"in {loaves[0]} {ovens[0]}"] * random.randint(0, 1)
    objects = f"{' '.join(loaves)} - loaf {' '.join(ovens)} - oven"
    return Scene(objects, facts(init, gas, "= (total-cost) 0"), "minimize (total-cost)")


JUGS = """(define (domain jugs)
  (:requirements :strips :typing :numeric-fluents)
  (:types jug)
  (:predicates (tap ?j - jug) (poured ?a ?b - jug))
  (:functions (level ?j - jug) (size ?j - jug) (spilled))
  (:action fill :parameters (?j - jug)
    :precondition (and (tap ?j) (< (level ?j) (size ?j))) :effect (assign (level ?j) (size ?j)))
  (:action spill :parameters (?j - jug)
    :precondition (> (level ?j) 0) :effect (and (increase (spilled) (level ?j)) (assign (level ?j) 0)))
  (:action pour-all :parameters (?a ?b - jug)
    :precondition (and (> (level ?a) 0) (<= (+ (level ?a) (level ?b)) (size ?b)))
    :effect (and (increase (level ?b) (level ?a)) (decrease (level ?a) (level ?a)) (poured ?a ?b)))
  (:action pour-some :parameters (?a ?b - jug)
    :precondition (and (>= (+ (level ?a) (level ?b)) (size ?b)) (> (level ?a) 0))
    :effect (and (assign (level ?b) (size ?b)) (decrease (level ?a) (- (size ?b) (level ?b))) (poured ?a ?b))))"""


def jugs(random: Random) -> Scene:
    vessels = names(random, "j", 2, 3)
    init = [f"= (size {jug}) {random.randint(2, 6)}" for jug in vessels]
    init += [f"= (level {jug}) {random.randint(0, 2)}" for jug in vessels] + ["= (spilled) 0"]
    init += [f"tap {jug}" for jug in vessels if random.random() < 0.7]
    return Scene(f"{' '.join(vessels)} - jug", facts(init), random.choice(["minimize (spilled)", ""]))


BANK = """(define (domain savings)
  (:requirements :strips :typing :negative-preconditions :numeric-fluents)
  (:types account)
  (:predicates (frozen ?a - account))
  (:functions (sum ?a - account) (rate ?a - account) (fees) (years))
  (:action pay-interest :parameters (?a - account)
    :precondition (not (frozen ?a)) :effect (and (scale-up (sum ?a) (rate ?a)) (increase (years) 1)))
  (:action halve :parameters (?a - account)
    :precondition (>= (sum ?a) 4) :effect (and (scale-down (sum ?a) 2) (increase (fees) 0.5) (frozen ?a)))
  (:action move-third :parameters (?a ?b - account)
    :precondition (and (not (frozen ?a)) (not (frozen ?b)) (> (sum ?a) (* 2 (sum ?b))))
    :effect (and (decrease (sum ?a) (/ (sum ?a) 3)) (increase (sum ?b) (/ (sum ?a) 3)) (increase (fees) 1)))
  (:action thaw :parameters (?a - account)
    :precondition (frozen ?a) :effect (and (not (frozen ?a)) (decrease (rate ?a) 0.05))))"""


def bank(random: Random) -> Scene:
    accounts = names(random, "acc", 2, 3)
    init = [f"= (sum {each}) {random.choice(['0', '1', '10', '33.3', '100'])}" for each in accounts]
    init += [f"= (rate {each}) {random.choice(['1.1', '1.05', '1'])}" for each in accounts] + [
        "= (fees) 0",
        "= (years) 0",
    ]
    metric = random.choice(["maximize (- (sum acc1) (fees))", "minimize (+ (* 2 (fees)) (years))", ""])
    return Scene(f"{' '.join(accounts)} - account", facts(init), metric)


SNOWPLOW = """(define (domain snowplow)
  (:requirements :strips :typing :fluents)
  (:types road plow)
  (:predicates (on ?p - plow ?r - road) (meets ?r ?s - road) (cleared ?r - road))
  (:functions (fuel ?p - plow) (snow ?r - road) (speed ?p - plow) (clock))
  (:action drive :parameters (?p - plow ?r ?s - road)
    :precondition (and (on ?p ?r) (meets ?r ?s) (>= (fuel ?p) 1))
    :effect (and (on ?p ?s) (not (on ?p ?r)) (decrease (fuel ?p) 1) (increase (clock) (/ 6 (speed ?p)))))
  (:action plow-it :parameters (?p - plow ?r - road)
    :precondition (and (on ?p ?r) (> (snow ?r) 0) (>= (fuel ?p) (/ (snow ?r) 2)))
    :effect (and (cleared ?r) (decrease (fuel ?p) (/ (snow ?r) 2)) (assign (snow ?r) 0)))
  (:action gear-up :parameters (?p - plow) :precondition (< (speed ?p) 3) :effect (increase (speed ?p) 1))
  (:action gear-down :parameters (?p - plow) :precondition (> (speed ?p) 0) :effect (decrease (speed ?p) 1))
  (:action measure :parameters (?r - road) :precondition (cleared ?r) :effect (assign (snow ?r) (- 1 0.5))))"""


def snowplow(random: Random) -> Scene:
    roads, plows = names(random, "r", 2, 4), names(random, "plow", 1, 2)
    init = [f"on {plow} {random.choice(roads)}" for plow in plows] + [f"cleared {roads[0]}", "= (clock) 0"]
    init += [f"= (fuel {plow}) {random.randint(2, 6)}" for plow in plows]
    init += [f"= (speed {plow}) {random.randint(0, 2)}" for plow in plows]
    # A road whose snow is unknown: no number is read there before it is measured.
    init += [f"= (snow {road}) {random.choice(['0', '1', '3.5'])}" for road in roads if random.random() < 0.7]
    objects = f"{' '.join(roads)} - road {' '.join(plows)} - plow"
    return Scene(objects, facts(init, both("meets", links(random, roads))), random.choice(["minimize (clock)", ""]))


MARKET = """(define (domain market)
  (:requirements :adl :numeric-fluents)
  (:types stall ware)
  (:constants apple - ware)
  (:predicates (shut ?s - stall) (famous ?s - stall))
  (:functions (stock ?s - stall ?w - ware) (price ?w - ware) (cash ?s - stall) (deals))
  (:action trade :parameters (?s ?t - stall ?w - ware)
    :precondition (and (not (= ?s ?t)) (> (stock ?s ?w) 0) (>= (cash ?t) (price ?w)) (not (shut ?s)))
    :effect (and (decrease (stock ?s ?w) 1) (increase (stock ?t ?w) 1) (increase (cash ?s) (price ?w))
      (decrease (cash ?t) (price ?w)) (increase (deals) 1)
      (when (= (stock ?s ?w) 1) (shut ?s)) (when (>= (* (price ?w) 2) (+ (cash ?s) (cash ?t))) (famous ?t))))
  (:action haggle :parameters (?w - ware)
    :precondition (exists (?s - stall) (= (stock ?s ?w) 0))
    :effect (assign (price ?w) (/ (price ?w) (deals))))
  (:action share :parameters (?s - stall)
    :precondition (forall (?t - stall) (or (= ?s ?t) (> (cash ?s) (cash ?t))))
    :effect (forall (?t - stall) (when (not (= ?t ?s)) (and (increase (cash ?t) 1) (decrease (cash ?s) 1)))))
  (:action reopen :parameters (?s - stall)
    :precondition (and (shut ?s) (imply (famous ?s) (> (cash ?s) 1)))
    :effect (and (not (shut ?s)) (scale-up (price apple) 1.5))))"""


def market(random: Random) -> Scene:
    stalls, wares = names(random, "st", 2, 3), ["apple", *names(random, "w", 0, 1)]
    init = [f"= (stock {stall} {ware}) {random.randint(0, 2)}" for stall in stalls for ware in wares]
    init += [f"= (price {ware}) {random.randint(1, 3)}" for ware in wares] + ["= (deals) 0"]
    init += [f"= (cash {stall}) {random.randint(0, 4)}" for stall in stalls]
    objects = f"{' '.join(stalls)} - stall" + f" {' '.join(wares[1:])} - ware" * (len(wares) > 1)
    return Scene(objects, facts(init, [f"shut {stall}" for stall in stalls if random.random() < 0.3]))


BALLOON = """(define (domain balloon)
  (:requirements :adl :numeric-fluents :derived-predicates)
  (:types balloon town)
  (:predicates (over ?b - balloon ?t - town) (wind ?t ?u - town) (floats ?b - balloon) (landed ?b - balloon)
    (reaches ?b - balloon ?t - town))
  (:functions (height ?b - balloon) (weight ?b - balloon) (hill ?t - town))
  (:derived (floats ?b - balloon) (and (> (height ?b) 0) (<= (weight ?b) (* 3 (height ?b)))))
  (:derived (reaches ?b - balloon ?t - town)
    (or (over ?b ?t) (exists (?u - town) (and (reaches ?b ?u) (wind ?u ?t) (floats ?b) (> (height ?b) (hill ?t))))))
  (:action rise :parameters (?b - balloon) :precondition (< (height ?b) 4) :effect (increase (height ?b) 1))
  (:action drop-sand :parameters (?b - balloon)
    :precondition (and (>= (weight ?b) 1) (not (landed ?b))) :effect (decrease (weight ?b) 1))
  (:action drift :parameters (?b - balloon ?t ?u - town)
    :precondition (and (floats ?b) (over ?b ?t) (wind ?t ?u) (reaches ?b ?u))
    :effect (and (over ?b ?u) (not (over ?b ?t))))
  (:action soar :parameters (?b - balloon ?t ?u - town)
    :precondition (and (over ?b ?t) (reaches ?b ?u) (not (= ?t ?u)))
    :effect (and (over ?b ?u) (not (over ?b ?t)) (decrease (height ?b) 1)))
  (:action land :parameters (?b - balloon ?t - town)
    :precondition (and (over ?b ?t) (not (landed ?b))) :effect (and (landed ?b) (assign (height ?b) 0))))"""


def balloon(random: Random) -> Scene:
    balloons, towns = names(random, "b", 1, 2), names(random, "t", 2, 4)
    init = [f"over {each} {random.choice(towns)}" for each in balloons]
    init += [f"= (height {each}) {random.randint(0, 2)}" for each in balloons]
    init += [f"= (weight {each}) {random.randint(1, 5)}" for each in balloons]
    init += [f"= (hill {town}) {random.randint(0, 2)}" for town in towns]
    init += [f"wind {one} {other}" for one, other in links(random, towns, 2)]
    return Scene(f"{' '.join(balloons)} - balloon {' '.join(towns)} - town", facts(init))


STORIES = [
    Story("courier", "costs", COURIER, courier),
    Story("tailor", "costs", TAILOR, tailor),
    Story("bakery", "costs", BAKERY, bakery),
    Story("jugs", "numbers", JUGS, jugs),
    Story("savings", "numbers", BANK, bank),
    Story("snowplow", "numbers", SNOWPLOW, snowplow),
    Story("market", "numbers", MARKET, market),
    Story("balloon", "numbers", BALLOON, balloon),
]
