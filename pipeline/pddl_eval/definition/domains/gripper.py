"""Gripper: its PDDL, which initial states the rules cover, closures and plans.

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

from collections.abc import Container, Iterable
from dataclasses import dataclass

from pddl_eval.definition.domains.reading import NotCovered, exclude_each_other, never_true
from pddl_eval.definition.model import Action, Atom, Problem, State
from pddl_eval.definition.verdict import Unsolvable

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

ROBBY, NOTHING = "(robby)", "(nothing)"
"""The robot is in a room as a ball is; ``free`` says that nothing is in a gripper."""


def read(problem: Problem, _typed: bool = True) -> Scene | NotCovered:
    """Where everything is in the initial state, or atoms that no state of Gripper has together.

    >>> kinds = {("room", "r"), ("ball", "b"), ("gripper", "g")}
    >>> init = frozenset(kinds | {("at-robby", "r"), ("at", "b", "r"), ("free", "g")})
    >>> goal = read(Problem("p", "gripper", {}, init, frozenset())).goal(frozenset({("carry", "b", "g")}))
    >>> sorted(goal.closure)
    [('at-robby', 'r'), ('ball', 'b'), ('carry', 'b', 'g'), ('gripper', 'g'), ('room', 'r')]
    >>> goal.plan
    (('pick', 'b', 'r', 'g'),)
    """
    init = sorted(problem.init)
    named: dict[str, set[str]] = {"room": set(), "ball": set(), "gripper": set()}
    for atom in init:
        if atom[0] in named and len(atom) == 2:
            named[atom[0]].add(atom[1])
    rooms, balls, grippers = named.values()
    if rooms & grippers:
        both = min(rooms & grippers)
        return NotCovered((("room", both), ("gripper", both)))
    live = [atom for atom in init if _is_live(atom, rooms, balls, grippers)]
    if not any(atom[0] == "at-robby" for atom in live):
        rooms, live = set(), []
    arrangement = _arrange(live)
    if isinstance(arrangement, NotCovered):
        return arrangement
    place, content = arrangement
    if not content:
        place = {thing: atom for thing, atom in place.items() if thing == ROBBY}
    static = problem.init.difference(place.values(), content.values())
    where = {thing: atom[-1] for thing, atom in place.items()}
    robby = where.pop(ROBBY, None)
    held = {gripper: atom[1] if atom[0] == "carry" else NOTHING for gripper, atom in content.items()}
    return Scene(problem.init, rooms, robby, where, held, static)


def _is_live(atom: Atom, rooms: Container[str], balls: Container[str], grippers: Container[str]) -> bool:
    """True when operators can change the atom: robot and balls are in these rooms or in these grippers."""
    match atom:
        case ("at", ball, room):
            return ball in balls and room in rooms
        case ("carry", ball, gripper):
            return ball in balls and gripper in grippers
        case ("free", gripper):
            return gripper in grippers
        case ("at-robby", room):
            return room in rooms
    return False


def _arrange(atoms: Iterable[Atom]) -> tuple[dict[str, Atom], dict[str, Atom]] | NotCovered:
    """The atom that says where each thing is, and the one that says what is in each gripper; else two that clash."""
    place: dict[str, Atom] = {}
    content: dict[str, Atom] = {}
    for atom in atoms:
        thing = ROBBY if atom[0] == "at-robby" else atom[1]
        if atom[0] != "free" and (first := place.setdefault(thing, atom)) != atom:
            return NotCovered((first, atom))
        if atom[0] in ("free", "carry") and (first := content.setdefault(atom[-1], atom)) != atom:
            return NotCovered((first, atom))
    return place, content


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """An initial state: where each live thing is, and what is in each live gripper."""

    init: State
    rooms: set[str]
    """The rooms that the robot can be in; none where there is no robot."""
    robby: str | None
    balls: dict[str, str]
    """The room or the gripper of each live ball."""
    grippers: dict[str, str]
    """What is in each live gripper."""
    static: State

    def goal(self, goal: State) -> Places | Unsolvable:
        """The goal's atom for each thing and for each gripper, or atoms that exclude each other."""
        wanted = [atom for atom in sorted(goal) if atom not in self.static]
        for atom in wanted:
            if not _is_live(atom, self.rooms, self.balls, self.grippers):
                return never_true(atom)
        arrangement = _arrange(wanted)
        if isinstance(arrangement, NotCovered):
            return exclude_each_other(*arrangement.atoms)
        return Places(self, goal, *arrangement)


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """A consistent goal: the atom that says where each thing shall be, and the one for each gripper."""

    start: Scene
    goal: State
    place: dict[str, Atom]
    content: dict[str, Atom]

    @property
    def closure(self) -> State:
        """cl(goal)."""
        start = self.start
        closure = set(self.goal | start.static)
        open_balls = start.balls.keys() - self.place.keys()
        open_grippers = start.grippers.keys() - self.content.keys()
        if len(start.rooms) == 1:
            (room,) = start.rooms
            closure.add(("at-robby", room))
            if not open_grippers:
                closure.update(("at", ball, room) for ball in open_balls)
        if not open_balls:
            closure.update(("free", gripper) for gripper in open_grippers)
        return frozenset(closure)

    @property
    def plan(self) -> tuple[Action, ...]:  # noqa: C901 (each phase follows from the one before)
        """A few actions a ball: put down, carry to the rooms asked for, pick up, go where asked."""
        start = self.start
        if self.goal <= start.init:
            return ()
        assert start.robby is not None, "a goal beyond the initial state asks for a live robot"
        robby = start.robby
        aim = {thing: atom[-1] for thing, atom in self.place.items()}
        final_room = aim.pop(ROBBY, None)
        place = dict(start.balls)
        actions: list[Action] = []

        def do(name: str, ball: str, room: str, gripper: str) -> None:
            nonlocal robby
            if room != robby:
                actions.append(("move", robby, room))
                robby = room
            actions.append((name, ball, room, gripper))
            place[ball] = room if name == "drop" else gripper

        for ball, gripper in sorted(start.balls.items()):
            if gripper in start.grippers and aim.get(ball) != gripper:
                do("drop", ball, aim[ball] if aim.get(ball) in start.rooms else robby, gripper)
        to_carry = [ball for ball in aim if aim[ball] in start.rooms and place[ball] != aim[ball]]
        busy = {gripper: ball for ball, gripper in place.items() if gripper in start.grippers}
        if to_carry:
            hand = min(start.grippers.keys() - busy.keys(), default=None)
            if hand is None:
                hand, ball = min(busy.items())
                do("drop", ball, robby, hand)
            for ball in sorted(to_carry, key=lambda ball: (aim[ball], place[ball], ball)):
                do("pick", ball, place[ball], hand)
                do("drop", ball, aim[ball], hand)
        for ball, gripper in sorted(aim.items()):
            if gripper in start.grippers and place[ball] != gripper:
                do("pick", ball, place[ball], gripper)
        if final_room not in (None, robby):
            actions.append(("move", robby, final_room))
        return tuple(actions)
