"""Gripper: balls in rooms and in the grippers of one robot that starts in the first room (the paper's appendix D).

The parameters are how many balls each gripper and each room holds; a configuration with an arrangement of its own takes
only how many balls, rooms and grippers there are. The domain's operators and rules are in
``pddl_eval.definition.domains.gripper``, not here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from random import Random

from pddl_eval.benchmark.tasks import (
    Arrange,
    Side,
    TaskDomain,
    benchmark_partitions,
    choose,
    counted,
    holding_for,
    named,
    numbered,
)
from pddl_eval.definition.model import Atom, Problem, State


@dataclass(frozen=True, slots=True)
class Load:
    """How many balls each gripper (none or one) and each room holds; the carried balls have the first numbers."""

    grippers: tuple[int, ...]
    rooms: tuple[int, ...]

    @property
    def carried(self) -> int:
        return sum(self.grippers)

    @property
    def balls(self) -> list[str]:
        return numbered("ball", self.carried + sum(self.rooms))

    @property
    def gripper_names(self) -> list[str]:
        return numbered("gripper", len(self.grippers))

    @property
    def room_names(self) -> list[str]:
        return numbered("room", len(self.rooms))


def one_room(load: Load) -> Side:
    """Single room: all balls are in the first room."""
    return _all_free(load, [("at", ball, "room1") for ball in load.balls], "every ball in the first room")


def evenly_distributed(load: Load) -> Side | None:
    """Evenly distributed: the balls are dealt out to the rooms, one after the other, and none is left over."""
    count = len(load.rooms)
    dealt = [("at", ball, room) for place, room in enumerate(load.room_names) for ball in load.balls[place::count]]
    return None if len(dealt) % count else _all_free(load, dealt, "the same number of balls in each room")


def n_room_distributed(load: Load) -> Side | None:
    """Distribute: each room has its number of balls, which leaves none for the grippers."""
    return None if load.carried else _all_free(load, _in_rooms(load), _told(load.rooms))


def holding(load: Load) -> Side:
    """Holding: the first balls are in grippers, the rest in rooms."""
    side = holding_only(load)
    return Side((*side.atoms, *_in_rooms(load)), f"{side.words}, {_told(load.rooms)}")


def holding_only(load: Load) -> Side:
    """Holding, as a goal: the first balls are in grippers, the rest anywhere."""
    words = f"a ball in each of {load.carried} grippers, the others free"
    return Side((*_carried(load.balls[: load.carried], load), *_free(load)[load.carried :]), words)


def pickup(load: Load) -> Side | None:
    """Pickup (goal only): every ball is in a gripper."""
    return (
        Side(_carried(load.balls, load), "every ball in a gripper") if len(load.balls) <= len(load.grippers) else None
    )


def focus_max(load: Load) -> Side | None:
    """Move to max (goal only): all balls are in the room that had the most."""
    return _focus(load, max(load.rooms), "most")


def focus_min(load: Load) -> Side | None:
    """Move to min (goal only): all balls are in the room that had the fewest."""
    return _focus(load, min(load.rooms), "fewest")


def drop_and_pickup(load: Load) -> Side | None:
    """Drop and pickup (goal only): carried balls end in a room that was empty, those of the first room in grippers."""
    first, *others = load.rooms
    if not others or any(others) or first > len(load.grippers):
        return None
    dropped = [("at", ball, "room2") for ball in load.balls[: load.carried]]
    words = (
        "the balls that are carried at the start all in one room that is not the first, each of the other balls in a"
        " gripper, and grippers that carry a ball at the start used before those that are free"
    )
    return Side((*dropped, *_carried(load.balls[load.carried :], load)), words)


def swap(load: Load) -> tuple[Side | None, Side | None]:
    """Swap rooms (tied): two rooms with equally many balls exchange them."""
    start = evenly_distributed(load)
    if start is None or len(load.rooms) != 2:
        return None, None
    other = {"room1": "room2", "room2": "room1"}
    swapped = [(name, ball, other[room]) for name, ball, room in reversed(start.atoms[len(load.grippers) :])]
    return _with_robby(load, start), _all_free(load, swapped, "each ball in the other of the two rooms")


def juggle(load: Load) -> tuple[Side | None, Side | None]:
    """Juggle (tied): each carried ball moves on to the neighbouring gripper, the first one's to the last."""
    carried = load.balls[: load.carried]
    words = (
        "in each gripper that carries a ball the ball of the next one, in the last of them that of the first;"
        " every other gripper and ball as it is at the start"
    )
    moved = _carried([*carried[1:], *carried[:1]], load)
    end = Side((*moved, *_free(load)[load.carried :], *_in_rooms(load)), words)
    return _with_robby(load, holding(load)), end


def _with_robby(load: Load, side: Side | None) -> Side | None:
    """The side as an initial state: with the robot in the first room, its words with the number of objects."""
    if side is None:
        return None
    counts = {"room": len(load.rooms), "ball": len(load.balls), "gripper": len(load.grippers)}
    told = ", ".join(counted(count, kind) for kind, count in counts.items())
    return Side((*side.atoms, ("at-robby", "room1")), f"{told}; {side.words}, Robby in the first room")


def _initial(arrange: Arrange[Load]) -> Arrange[Load]:
    return lambda load: _with_robby(load, arrange(load))


def _focus(load: Load, count: int, extreme: str) -> Side | None:
    """All balls in the one room with that count, of several rooms with two balls in one of them at least."""
    if len(load.rooms) == 1 or max(load.rooms) < 2 or load.rooms.count(count) != 1:
        return None
    room = load.room_names[load.rooms.index(count)]
    words = f"every ball in the room that has the {extreme} balls at the start"
    return _all_free(load, [("at", ball, room) for ball in load.balls], words)


def _all_free(load: Load, atoms: Iterable[Atom], words: str) -> Side:
    return Side((*_free(load), *atoms), f"{words}, every gripper free")


def _free(load: Load) -> list[Atom]:
    return [("free", gripper) for gripper in load.gripper_names]


def _carried(balls: list[str], load: Load) -> tuple[Atom, ...]:
    return tuple(("carry", *pair) for pair in zip(balls, load.gripper_names, strict=False))


def _in_rooms(load: Load) -> list[Atom]:
    """The balls that no gripper carries, each in its room."""
    rooms = [room for room, count in zip(load.room_names, load.rooms, strict=True) for _ in range(count)]
    return [("at", *pair) for pair in zip(load.balls[load.carried :], rooms, strict=True)]


def _told(rooms: tuple[int, ...]) -> str:
    return f"the rooms in their order with {', '.join(map(str, rooms))} balls"


def _loads(most_grippers: int, most_carried: int, most_rooms: int, most_balls: int) -> Iterator[Load]:
    """Two carried balls or more, and all the others in the first room."""
    return (
        Load((1,) * carried + (0,) * (grippers - carried), (balls,) + (0,) * (rooms - 1))
        for grippers in range(2, most_grippers + 1)
        for carried in range(2, min(grippers, most_carried) + 1)
        for rooms in range(1, most_rooms + 1)
        for balls in range(most_balls + 1)
    )


def _random_rooms(problem: Problem, random: Random) -> State:
    """Every ball in some room."""
    rooms = holding_for("room", problem)
    return frozenset(("at", ball, random.choice(rooms)) for ball in holding_for("ball", problem) if rooms)


def _random_init(problem: Problem, random: Random) -> State:
    """Every ball in some room, every gripper free, all else as it was."""
    kept = {atom for atom in problem.init if atom[0] not in ("at", "carry", "free")}
    free = {("free", gripper) for gripper in holding_for("gripper", problem)}
    return frozenset(kept | free | _random_rooms(problem, random))


def _contradictions(problem: Problem, random: Random) -> list[tuple[Atom, ...]]:
    balls = choose(3, holding_for("ball", problem), random)
    rooms = choose(3, holding_for("room", problem), random)
    # A gripper that is both loaded and free at the start contradicts itself already, so its atoms can hold together.
    loaded = {atom[-1] for atom in problem.init if atom[0] == "carry"}.intersection(holding_for("free", problem))
    grippers = choose(3, set(holding_for("gripper", problem)) - loaded, random)
    found: list[tuple[Atom, ...]] = []
    for one, other in pairwise(rooms):
        found += [(("at-robby", one), ("at-robby", other))]
        found += [(("at", ball, one), ("at", ball, other)) for ball in balls]
    for ball in balls:
        for gripper in grippers:
            elsewhere: list[Atom] = [("free", gripper), *(("at", ball, room) for room in rooms)]
            found += [(("carry", ball, gripper), atom) for atom in elsewhere]
    return found


GRIPPER: TaskDomain[Load] = TaskDomain(
    objects=lambda load: [*load.balls, *load.gripper_names, *load.room_names],
    label=lambda load: f"g{'-'.join(map(str, load.grippers))}_r{'-'.join(map(str, load.rooms))}",
    initial={
        name: _initial(arrange)
        for name, arrange in named(one_room, evenly_distributed, n_room_distributed, holding).items()
    },
    goals={
        **named(one_room, evenly_distributed, n_room_distributed, focus_max, focus_min, pickup, drop_and_pickup),
        "holding": holding_only,
    },
    tied={"swap": swap, "juggle": juggle},
    sizes={
        "one_room": lambda: (
            Load((0, 0), (balls,) + (0,) * (rooms - 1)) for rooms in range(1, 9) for balls in range(1, 26)
        ),
        "evenly_distributed": lambda: (
            Load((0, 0), (each,) * rooms) for rooms in range(1, 12) for each in range(1, 6) if rooms * (1 + each) <= 35
        ),
        "n_room_distributed": lambda: (Load((0, 0), rooms) for rooms in benchmark_partitions(most_parts=8)),
        "holding": lambda: _loads(most_grippers=5, most_carried=5, most_rooms=10, most_balls=5),
        "swap": lambda: (Load((0, 0), (half, half)) for half in range(1, 13)),
        "juggle": lambda: _loads(most_grippers=10, most_carried=6, most_rooms=5, most_balls=8),
    },
    random_goal=_random_rooms,
    random_init=_random_init,
    contradictions=_contradictions,
    kinds_as="atoms",
    relative=frozenset({"focus_max", "focus_min", "drop_and_pickup"}),
)
