"""ADL: negative preconditions, equality, disjunctions, quantifiers and conditional effects."""

from random import Random

from tests.judges.domains.story import Scene, Story, both, facts, links, names

SEATING = """(define (domain seating)
  (:requirements :strips :equality :negative-preconditions)
  (:predicates (guest ?g) (chair ?c) (seated ?g ?c) (feud ?g ?h) (next ?c ?d) (met ?g ?h))
  (:action swap :parameters (?g ?h ?c ?d)
    :precondition (and (guest ?g) (guest ?h) (not (= ?g ?h)) (seated ?g ?c) (seated ?h ?d) (not (feud ?g ?h)))
    :effect (and (seated ?g ?d) (seated ?h ?c) (not (seated ?g ?c)) (not (seated ?h ?d))))
  (:action greet :parameters (?g ?h ?c ?d)
    :precondition (and (seated ?g ?c) (seated ?h ?d) (next ?c ?d) (not (= ?c ?d)) (not (met ?g ?h)) (not (feud ?h ?g)))
    :effect (and (met ?g ?h) (met ?h ?g)))
  (:action quarrel :parameters (?g ?h)
    :precondition (and (met ?g ?h) (not (= ?g ?h))) :effect (and (feud ?g ?h) (not (met ?g ?h)))))"""


def seating(random: Random) -> Scene:
    guests = names(random, "g", 2, 4)
    chairs = [f"c{number}" for number in range(len(guests))]
    init = [f"seated {guest} {chair}" for guest, chair in zip(guests, random.sample(chairs, len(chairs)), strict=True)]
    init += [f"feud {one} {other}" for one, other in links(random, guests)[:1]]
    kinds = [f"guest {each}" for each in guests] + [f"chair {each}" for each in chairs]
    return Scene(" ".join(guests + chairs), facts(kinds, init, both("next", links(random, chairs))))


CANAL = """(define (domain canal)
  (:requirements :strips :typing :negative-preconditions)
  (:types lock boat)
  (:predicates (open ?l - lock) (full ?l - lock) (in ?b - boat ?l - lock) (taken ?l - lock) (down ?k ?l - lock))
  (:action open-gate :parameters (?l - lock) :precondition (and (not (open ?l)) (full ?l)) :effect (open ?l))
  (:action shut-gate :parameters (?l - lock) :precondition (open ?l) :effect (not (open ?l)))
  (:action flood :parameters (?l - lock)
    :precondition (and (not (full ?l)) (not (open ?l))) :effect (full ?l))
  (:action empty :parameters (?l - lock)
    :precondition (and (full ?l) (not (open ?l))) :effect (not (full ?l)))
  (:action pass :parameters (?b - boat ?k ?l - lock)
    :precondition (and (in ?b ?k) (down ?k ?l) (open ?k) (not (open ?l)) (not (taken ?l)))
    :effect (and (in ?b ?l) (taken ?l) (not (in ?b ?k)) (not (taken ?k)))))"""


def canal(random: Random) -> Scene:
    locks, boats = names(random, "lock", 2, 4), names(random, "boat", 1, 2)
    places = random.sample(locks, len(boats))
    init = [f"in {boat} {lock}" for boat, lock in zip(boats, places, strict=True)] + [
        f"taken {lock}" for lock in places
    ]
    init += [f"full {lock}" for lock in locks if random.random() < 0.5]
    return Scene(f"{' '.join(locks)} - lock {' '.join(boats)} - boat", facts(init, both("down", links(random, locks))))


KITCHEN = """(define (domain kitchen)
  (:requirements :adl)
  (:types food pan)
  (:predicates (raw ?f - food) (fried ?f - food) (boiled ?f - food) (in ?f - food ?p - pan) (hot ?p - pan)
    (wet ?p - pan) (clean ?p - pan) (served ?f - food) (vegan ?f - food))
  (:action heat :parameters (?p - pan) :precondition (or (clean ?p) (wet ?p)) :effect (hot ?p))
  (:action pour :parameters (?p - pan) :precondition (imply (hot ?p) (clean ?p)) :effect (and (wet ?p) (not (hot ?p))))
  (:action put :parameters (?f - food ?p - pan)
    :precondition (and (raw ?f) (or (clean ?p) (exists (?g - food) (and (in ?g ?p) (vegan ?g)))))
    :effect (and (in ?f ?p) (not (clean ?p))))
  (:action cook :parameters (?f - food ?p - pan)
    :precondition (and (in ?f ?p) (hot ?p) (not (and (vegan ?f) (fried ?f))))
    :effect (and (when (wet ?p) (boiled ?f)) (when (not (wet ?p)) (fried ?f)) (not (raw ?f)) (not (hot ?p))))
  (:action serve :parameters (?f - food ?p - pan)
    :precondition (and (in ?f ?p) (not (raw ?f)) (imply (boiled ?f) (not (hot ?p))) (or (fried ?f) (boiled ?f)))
    :effect (and (served ?f) (not (in ?f ?p))
      (when (forall (?g - food) (or (= ?g ?f) (not (in ?g ?p)))) (clean ?p)))))"""


def kitchen(random: Random) -> Scene:
    foods, pans = names(random, "f", 1, 3), names(random, "pan", 1, 2)
    init = [f"raw {food}" for food in foods] + [f"vegan {food}" for food in foods if random.random() < 0.5]
    init += [f"{random.choice(['clean', 'wet'])} {pan}" for pan in pans]
    return Scene(f"{' '.join(foods)} - food {' '.join(pans)} - pan", facts(init))


SHEEPDOG = """(define (domain sheepdog)
  (:requirements :adl)
  (:types sheep field)
  (:predicates (grazes ?s - sheep ?f - field) (gate ?f ?g - field) (dog ?f - field) (wild ?s - sheep) (tired))
  (:action run :parameters (?f ?g - field)
    :precondition (and (dog ?f) (gate ?f ?g) (not (tired)))
    :effect (and (dog ?g) (not (dog ?f)) (when (exists (?s - sheep) (and (grazes ?s ?g) (wild ?s))) (tired))))
  (:action herd :parameters (?f ?g - field)
    :precondition (and (dog ?f) (gate ?f ?g) (not (= ?f ?g)))
    :effect (and (dog ?g) (not (dog ?f))
      (forall (?s - sheep) (when (and (grazes ?s ?f) (not (wild ?s))) (and (grazes ?s ?g) (not (grazes ?s ?f)))))))
  (:action calm :parameters (?s - sheep ?f - field)
    :precondition (and (dog ?f) (grazes ?s ?f) (wild ?s)) :effect (not (wild ?s)))
  (:action bark :parameters ()
    :precondition (and)
    :effect (forall (?s - sheep ?f - field) (when (and (dog ?f) (grazes ?s ?f)) (wild ?s))))
  (:action rest :parameters () :precondition (tired) :effect (not (tired))))"""


def sheepdog(random: Random) -> Scene:
    sheep, fields = names(random, "s", 1, 3), names(random, "f", 2, 3)
    init = [f"grazes {each} {random.choice(fields)}" for each in sheep] + [f"dog {random.choice(fields)}"]
    init += [f"wild {each}" for each in sheep if random.random() < 0.4]
    objects = f"{' '.join(sheep)} - sheep {' '.join(fields)} - field"
    return Scene(objects, facts(init, both("gate", links(random, fields)), f"gate {fields[0]} {fields[0]}"))


ALARM = """(define (domain alarm)
  (:requirements :adl)
  (:types room sensor)
  (:predicates (inside ?s - sensor ?r - room) (armed ?s - sensor) (loud ?r - room) (smoke ?r - room) (wall ?r ?q - room)
    (log ?s - sensor ?r - room))
  (:action arm :parameters (?s - sensor) :precondition (not (armed ?s)) :effect (armed ?s))
  (:action burn :parameters (?r - room)
    :precondition (not (smoke ?r))
    :effect (and (smoke ?r)
      (forall (?s - sensor) (when (and (inside ?s ?r) (armed ?s))
        (and (log ?s ?r) (not (armed ?s))
          (forall (?q - room) (when (wall ?r ?q) (when (not (smoke ?q)) (and (loud ?q) (log ?s ?q))))))))))
  (:action spread :parameters (?r ?q - room)
    :precondition (and (smoke ?r) (or (wall ?r ?q) (wall ?q ?r)) (not (= ?r ?q)))
    :effect (and (smoke ?q) (when (loud ?q) (not (loud ?q))) (when (not (loud ?q)) (loud ?q))))
  (:action air :parameters (?r - room)
    :precondition (and (smoke ?r)
      (forall (?q - room) (imply (wall ?r ?q) (exists (?s - sensor) (or (inside ?s ?q) (loud ?r))))))
    :effect (and (not (smoke ?r)) (not (loud ?r)))))"""


def alarm(random: Random) -> Scene:
    rooms, sensors = names(random, "r", 2, 3), names(random, "x", 1, 2)
    init = [f"inside {sensor} {random.choice(rooms)}" for sensor in sensors]
    init += [f"wall {one} {other}" for one, other in links(random, rooms)] + [f"smoke {rooms[0]}"] * random.randint(
        0, 1
    )
    return Scene(f"{' '.join(rooms)} - room {' '.join(sensors)} - sensor", facts(init, f"loud {rooms[-1]}"))


MUSEUM = """(define (domain museum)
  (:requirements :typing :negative-preconditions :disjunctive-preconditions :existential-preconditions
    :universal-preconditions :equality)
  (:types painting hall guard - object)
  (:predicates (hangs ?p - painting ?h - hall) (watches ?g - guard ?h - hall) (closed ?h - hall) (lent ?p - painting)
    (rivals ?p ?q - painting))
  (:action close :parameters (?h - hall)
    :precondition (and (not (closed ?h)) (exists (?k - hall) (and (not (= ?h ?k)) (not (closed ?k)))))
    :effect (closed ?h))
  (:action reopen :parameters (?h - hall)
    :precondition (and (closed ?h)
      (forall (?p ?q - painting) (or (not (rivals ?p ?q)) (not (hangs ?p ?h)) (not (hangs ?q ?h)))))
    :effect (not (closed ?h)))
  (:action hang :parameters (?p - painting ?h ?k - hall)
    :precondition (and (hangs ?p ?h) (closed ?h) (closed ?k)) :effect (and (not (hangs ?p ?h)) (hangs ?p ?k)))
  (:action lend :parameters (?p - painting ?h - hall)
    :precondition (and (hangs ?p ?h) (forall (?g - guard) (not (watches ?g ?h)))
      (not (exists (?q - painting) (and (lent ?q) (rivals ?p ?q)))))
    :effect (and (lent ?p) (not (hangs ?p ?h))))
  (:action patrol :parameters (?g - guard ?h ?k - hall)
    :precondition (and (watches ?g ?h) (not (closed ?k))) :effect (and (not (watches ?g ?h)) (watches ?g ?k))))"""


def museum(random: Random) -> Scene:
    paintings, halls, guards = names(random, "p", 2, 3), names(random, "h", 2, 3), names(random, "g", 1, 2)
    init = [f"hangs {each} {random.choice(halls)}" for each in paintings]
    init += [f"watches {each} {random.choice(halls)}" for each in guards]
    init += [f"closed {each}" for each in halls if random.random() < 0.4]
    objects = f"{' '.join(paintings)} - painting {' '.join(halls)} - hall {' '.join(guards)} - guard"
    return Scene(objects, facts(init, both("rivals", links(random, paintings)[:1])))


# Effects read the state before the action, and an atom may be deleted and added by one action.
MIRRORS = """(define (domain mirrors)
  (:requirements :adl)
  (:types lamp switch)
  (:predicates (on ?l - lamp) (wired ?s - switch ?l - lamp) (worn ?s - switch) (left ?s - switch))
  (:action press :parameters (?s - switch)
    :precondition (not (worn ?s))
    :effect (and (forall (?l - lamp) (and (when (and (wired ?s ?l) (on ?l)) (not (on ?l)))
        (when (and (wired ?s ?l) (not (on ?l))) (on ?l))))
      (when (left ?s) (not (left ?s))) (when (not (left ?s)) (left ?s))))
  (:action shift :parameters (?a ?b - lamp)
    :precondition (and)
    :effect (and (when (on ?a) (on ?b)) (when (on ?b) (on ?a)) (not (on ?a)) (not (on ?b))))
  (:action rewire :parameters (?s ?t - switch ?l - lamp)
    :precondition (or (wired ?s ?l) (and (left ?s) (not (left ?t)) (not (= ?s ?t))))
    :effect (and (not (wired ?s ?l)) (wired ?t ?l) (worn ?s)))
  (:action mend :parameters (?s - switch)
    :precondition (imply (exists (?l - lamp) (wired ?s ?l)) (forall (?l - lamp) (imply (wired ?s ?l) (not (on ?l)))))
    :effect (and (worn ?s) (not (worn ?s)))))"""


def mirrors(random: Random) -> Scene:
    lamps, switches = names(random, "l", 2, 3), names(random, "s", 1, 2)
    init = [f"wired {switch} {lamp}" for switch in switches for lamp in lamps if random.random() < 0.5]
    init += [f"on {lamp}" for lamp in lamps if random.random() < 0.5]
    return Scene(f"{' '.join(lamps)} - lamp {' '.join(switches)} - switch", facts(init, f"left {switches[0]}"))


STORIES = [
    Story("seating", "negation", SEATING, seating),
    Story("canal", "negation", CANAL, canal),
    Story("kitchen", "adl", KITCHEN, kitchen),
    Story("sheepdog", "adl", SHEEPDOG, sheepdog),
    Story("alarm", "adl", ALARM, alarm),
    Story("museum", "adl", MUSEUM, museum),
    Story("mirrors", "adl", MIRRORS, mirrors),
]
