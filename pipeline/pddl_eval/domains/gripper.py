"""Gripper: its PDDL, which initial states the rules cover, closure and planner.

The argument. ``room``, ``ball`` and ``gripper`` never change. Call *live* the robot where its one ``at-robby`` names a
room, a gripper that is ``free`` or carries a ball, and a ball that is in a room or in a live gripper. Everything else
is named by no operator in any reachable state and stays as it is; without a live robot or without a live gripper no
ball ever moves. Otherwise the robot can put every carried ball down, carry any ball to any room with one gripper, and
take any ball into any gripper. So the reachable states are exactly: the robot in any room, each ball in any room or
in a gripper of its own, the grippers without a ball free.

A goal is solvable exactly when it puts the robot in one place, each ball in one and one thing in each gripper. What
follows from it is what no such arrangement can avoid: the robot's room where there is only one; ``free`` for a gripper
of which the goal says nothing when every ball's place is given; a ball's room when there is only one room and every
gripper's state is given.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from pddl_eval.errors import UserError
from pddl_eval.model import Action, Atom, Problem, State, show_atom
from pddl_eval.verdict import BrokenAssumption, Unsolvable

PDDL = """
(define (domain gripper)
  (:requirements :strips)
  (:predicates (room ?r) (ball ?b) (gripper ?g) (at-robby ?r) (at ?b ?r) (free ?g) (carry ?b ?g))
  (:action move :parameters (?from ?to)
    :precondition (and (room ?from) (room ?to) (at-robby ?from))
    :effect (and (at-robby ?to) (not (at-robby ?from))))
  (:action pick :parameters (?b ?r ?g)
    :precondition (and (ball ?b) (room ?r) (gripper ?g) (at ?b ?r) (at-robby ?r) (free ?g))
    :effect (and (carry ?b ?g) (not (at ?b ?r)) (not (free ?g))))
  (:action drop :parameters (?b ?r ?g)
    :precondition (and (ball ?b) (room ?r) (gripper ?g) (carry ?b ?g) (at-robby ?r))
    :effect (and (at ?b ?r) (free ?g) (not (carry ?b ?g)))))
"""

ARITY = {"room": 1, "ball": 1, "gripper": 1, "at-robby": 1, "at": 2, "free": 1, "carry": 2}
RECENT = 16
"""Readings kept of initial states and goals: closure and planner, reference and answer ask for the same ones."""


def failed_assumption(problem: Problem, typed: bool = True) -> BrokenAssumption | None:
    """What the robot, a ball or a gripper has two of, None when the rules of this file cover the initial state.

    >>> two = frozenset({("room", "a"), ("room", "b"), ("at-robby", "a"), ("at-robby", "b")})
    >>> failed_assumption(Problem("p", "gripper", {"a": "object", "b": "object"}, two, frozenset())).reason
    'the robot is in two rooms'
    """
    scene = _scene(problem.init)
    return scene if isinstance(scene, BrokenAssumption) else None


def fully_specify(problem: Problem, typed: bool = True) -> State | Unsolvable:
    """cl(goal): the atoms true in all reachable states that contain the goal (the paper's appendix C, made exact).

    >>> kinds = {("room", "r"), ("ball", "b"), ("gripper", "g")}
    >>> init = frozenset(kinds | {("at-robby", "r"), ("at", "b", "r"), ("free", "g")})
    >>> problem = Problem("p", "gripper", dict.fromkeys("rbg", "object"), init, frozenset({("carry", "b", "g")}))
    >>> sorted(fully_specify(problem) - problem.goal)
    [('at-robby', 'r'), ('ball', 'b'), ('gripper', 'g'), ('room', 'r')]
    """
    aims = _aims(problem.init, problem.goal)
    if isinstance(aims, Unsolvable):
        return aims
    scene = aims.scene
    closure = set(problem.goal | scene.static)
    open_balls = scene.balls.keys() - aims.balls.keys()
    open_grippers = scene.grippers.keys() - aims.grippers.keys()
    if scene.robby is not None and len(scene.rooms) == 1:
        closure.add(("at-robby", scene.robby))
        if not open_grippers:
            closure.update(("at", ball, scene.robby) for ball in open_balls)
    if not open_balls:
        closure.update(("free", gripper) for gripper in open_grippers)
    return frozenset(closure)


def plan(problem: Problem, typed: bool = True) -> tuple[Action, ...] | Unsolvable:
    """A plan of a few actions a ball: put down, carry to the rooms asked for, pick up, go where asked.

    >>> kinds = {("room", "r"), ("ball", "b"), ("gripper", "g")}
    >>> init = frozenset(kinds | {("at-robby", "r"), ("at", "b", "r"), ("free", "g")})
    >>> plan(Problem("p", "gripper", dict.fromkeys("rbg", "object"), init, frozenset({("carry", "b", "g")})))
    (('pick', 'b', 'r', 'g'),)
    """
    aims = _aims(problem.init, problem.goal)
    if isinstance(aims, Unsolvable):
        return aims
    if problem.goal <= problem.init:
        return ()
    scene = aims.scene
    assert scene.robby is not None, "a goal beyond the initial state asks for a live robot"
    robby = scene.robby
    place = dict(scene.balls)
    actions: list[Action] = []

    def go(room: str) -> None:
        nonlocal robby
        if room != robby:
            actions.append(("move", robby, room))
            robby = room

    to_carry = [ball for ball, aim in aims.balls.items() if aim in scene.rooms and aim != place[ball]]
    for ball, gripper in sorted(scene.balls.items()):
        if gripper in scene.grippers and aims.balls.get(ball) != gripper:
            if aims.balls.get(ball) in scene.rooms:
                go(aims.balls[ball])
            actions.append(("drop", ball, robby, gripper))
            place[ball] = robby
    to_carry = [ball for ball in to_carry if place[ball] != aims.balls[ball]]
    busy = {gripper: ball for ball, gripper in place.items() if gripper in scene.grippers}
    if to_carry:
        hand = min((gripper for gripper in scene.grippers if gripper not in busy), default=None)
        if hand is None:
            hand, ball = min(busy.items())
            actions.append(("drop", ball, robby, hand))
            place[ball] = robby
        for ball in sorted(to_carry, key=lambda ball: (aims.balls[ball], place[ball], ball)):
            go(place[ball])
            actions.append(("pick", ball, robby, hand))
            go(aims.balls[ball])
            actions.append(("drop", ball, robby, hand))
    for ball, aim in sorted(aims.balls.items()):
        if aim in scene.grippers and place[ball] != aim:
            go(place[ball])
            actions.append(("pick", ball, robby, aim))
    if aims.robby is not None:
        go(aims.robby)
    return tuple(actions)


@dataclass(frozen=True, slots=True)
class _Scene:
    """An initial state: the rooms, and where each live thing is."""

    rooms: frozenset[str]
    robby: str | None
    balls: dict[str, str]
    """The room or the gripper of each live ball."""
    grippers: dict[str, str | None]
    """The ball in each live gripper, None where it is free."""
    static: State


@lru_cache(maxsize=RECENT)
def _scene(init: State) -> _Scene | BrokenAssumption:
    """The scene that the atoms describe, or the assumption they break."""
    by_predicate: dict[str, list[Atom]] = {predicate: [] for predicate in ARITY}
    for atom in init:
        if ARITY.get(atom[0]) == len(atom) - 1:
            by_predicate[atom[0]].append(atom)
    rooms = {room for _, room in by_predicate["room"]}
    all_balls = {ball for _, ball in by_predicate["ball"]}
    all_grippers = {gripper for _, gripper in by_predicate["gripper"]}

    if rooms & all_grippers:
        both = min(rooms & all_grippers)
        return BrokenAssumption(f"{both} is both a room and a gripper", (("room", both), ("gripper", both)))
    robby_rooms = [room for _, room in by_predicate["at-robby"] if room in rooms]
    if len(robby_rooms) > 1:
        return BrokenAssumption("the robot is in two rooms", tuple(("at-robby", room) for room in sorted(robby_rooms)))
    balls: dict[str, str] = {}
    grippers: dict[str, str | None] = {}
    if robby_rooms:
        for _, gripper in by_predicate["free"]:
            if gripper in all_grippers:
                grippers[gripper] = None
        for _, ball, gripper in by_predicate["carry"]:
            if gripper in all_grippers and ball in all_balls:
                if gripper in grippers:
                    other = grippers[gripper]
                    content = ("free", gripper) if other is None else ("carry", other, gripper)
                    conflict = (content, ("carry", ball, gripper))
                    return BrokenAssumption(f"{gripper} carries {ball} and is free or carries another", conflict)
                if ball in balls:
                    conflict = (("carry", ball, balls[ball]), ("carry", ball, gripper))
                    return BrokenAssumption(f"{ball} is in two grippers", conflict)
                grippers[gripper] = ball
                balls[ball] = gripper
        for _, ball, room in by_predicate["at"]:
            if ball in all_balls and room in rooms:
                if ball in balls:
                    carried = balls[ball] in grippers
                    conflict = (("carry" if carried else "at", ball, balls[ball]), ("at", ball, room))
                    return BrokenAssumption(f"{ball} is in two places", conflict)
                balls[ball] = room
        if not grippers:
            balls = {}
    dynamic: set[Atom] = {("at-robby", room) for room in robby_rooms}
    dynamic |= {("free", gripper) for gripper, ball in grippers.items() if ball is None}
    dynamic |= {("carry" if place in grippers else "at", ball, place) for ball, place in balls.items()}
    return _Scene(
        rooms=frozenset(rooms),
        robby=robby_rooms[0] if robby_rooms else None,
        balls=balls,
        grippers=grippers,
        static=init - dynamic,
    )


@dataclass(frozen=True, slots=True)
class _Aims:
    """A consistent goal: where it wants the robot, which balls where, and what in which grippers."""

    scene: _Scene
    robby: str | None
    balls: dict[str, str]
    grippers: dict[str, str | None]


@lru_cache(maxsize=RECENT)
def _aims(init: State, goal: State) -> _Aims | Unsolvable:
    scene = _scene(init)
    if isinstance(scene, BrokenAssumption):
        raise UserError(f"the initial state breaks an assumption: {scene.reason}")
    robby: str | None = None
    balls: dict[str, str] = {}
    grippers: dict[str, str | None] = {}
    for atom in goal - scene.static:
        predicate = atom[0]
        out_of_reach = f"{show_atom(atom)} does not hold at the start and no operator can make it true"
        if predicate in ("room", "ball", "gripper") or ARITY.get(predicate) != len(atom) - 1 or scene.robby is None:
            return Unsolvable(out_of_reach)
        if predicate == "at-robby":
            if atom[1] not in scene.rooms:
                return Unsolvable(f"{atom[1]} is no room, so the robot can never be there")
            if robby is not None:
                return Unsolvable(f"the goal has the robot both in {robby} and in {atom[1]}")
            robby = atom[1]
        elif predicate == "at":
            _, ball, room = atom
            if ball not in scene.balls or room not in scene.rooms:
                return Unsolvable(out_of_reach)
            if ball in balls:
                return Unsolvable(f"the goal puts {ball} in two places")
            balls[ball] = room
        elif predicate == "carry":
            _, ball, gripper = atom
            if ball not in scene.balls or gripper not in scene.grippers:
                return Unsolvable(out_of_reach)
            if ball in balls:
                return Unsolvable(f"the goal puts {ball} in two places")
            if gripper in grippers:
                return Unsolvable(f"the goal puts two things into {gripper}, or has it free and carrying")
            balls[ball] = gripper
            grippers[gripper] = ball
        else:
            gripper = atom[1]
            if gripper not in scene.grippers:
                return Unsolvable(out_of_reach)
            if gripper in grippers:
                return Unsolvable(f"the goal has {gripper} both free and carrying {grippers[gripper]}")
            grippers[gripper] = None
    return _Aims(scene, robby, balls, grippers)
