"""Gripper: balls in rooms and in the grippers of one robot that starts in the first room (the paper's appendix D).

The parameters are how many balls each gripper and each room holds; a configuration with an arrangement of its own takes
only how many balls, rooms and grippers there are. What can be done is in ``planning_domains.gripper``, not here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pddl_eval.benchmark.partitions import benchmark_partitions
from pddl_eval.benchmark.scene import Arrange, Scene, TaskDomain, counted, numbered
from pddl_eval.model import ROOT_TYPE, Atom


@dataclass(frozen=True, slots=True)
class Load:
    """How many balls each gripper (none or one) and each room holds; the carried balls have the first numbers."""

    grippers: tuple[int, ...]
    rooms: tuple[int, ...]

    @property
    def balls(self) -> list[str]:
        return numbered("ball", self.carried + sum(self.rooms))

    @property
    def carried(self) -> int:
        return sum(self.grippers)

    @property
    def gripper_names(self) -> list[str]:
        return numbered("gripper", len(self.grippers))

    @property
    def room_names(self) -> list[str]:
        return numbered("room", len(self.rooms))


def one_room(load: Load) -> Scene:
    """Single room: all balls are in the first room."""
    return Scene((*_all_free(load), *_all_in(load, "room1")), "every ball in the first room, every gripper free")


def evenly_distributed(load: Load) -> Scene | None:
    """Evenly distributed: the balls are dealt out to the rooms, one after the other, and none is left over."""
    balls, rooms = load.balls, load.room_names
    if len(balls) % len(rooms):
        return None
    dealt = [("at", ball, room) for place, room in enumerate(rooms) for ball in balls[place :: len(rooms)]]
    return Scene((*_all_free(load), *dealt), "the same number of balls in each room, every gripper free")


def n_room_distributed(load: Load) -> Scene | None:
    """Distribute: each room has its number of balls, which leaves none for the grippers."""
    if load.carried:
        return None
    return Scene((*_all_free(load), *_in_rooms(load)), f"{_told(load.rooms)}, every gripper free")


def holding(load: Load) -> Scene:
    """Holding: the first balls are in grippers, the rest in rooms."""
    scene = holding_only(load)
    return Scene((*scene.atoms, *_in_rooms(load)), f"{scene.words}, {_told(load.rooms)}")


def holding_only(load: Load) -> Scene:
    """Holding, as a goal: the first balls are in grippers, the rest anywhere."""
    words = f"a ball in each of {load.carried} grippers, the others free"
    return Scene((*_carried(load.balls[: load.carried], load), *_all_free(load)[load.carried :]), words)


def pickup(load: Load) -> Scene | None:
    """Pickup (goal only): every ball is in a gripper."""
    if len(load.balls) > len(load.grippers):
        return None
    return Scene(_carried(load.balls, load), "every ball in a gripper")


def focus_max(load: Load) -> Scene | None:
    """Move to max (goal only): all balls are in the room that had the most."""
    return _focus(load, max(load.rooms), "every ball in the room that has the most balls at the start")


def focus_min(load: Load) -> Scene | None:
    """Move to min (goal only): all balls are in the room that had the fewest."""
    return _focus(load, min(load.rooms), "every ball in the room that has the fewest balls at the start")


def drop_and_pickup(load: Load) -> Scene | None:
    """Drop and pickup (goal only): carried balls end in a room that was empty, those of the first room in grippers."""
    first, *others = load.rooms
    if not others or any(others) or first > len(load.grippers):
        return None
    dropped = [("at", ball, "room2") for ball in load.balls[: load.carried]]
    words = (
        "the balls that are carried at the start all in one room that is not the first, each of the other balls in a"
        " gripper, and grippers that carry a ball at the start used before those that are free"
    )
    return Scene((*dropped, *_carried(load.balls[load.carried :], load)), words)


def swap(load: Load) -> tuple[Scene, Scene] | None:
    """Swap rooms (tied): two rooms with equally many balls exchange them."""
    start = evenly_distributed(load)
    if start is None or len(load.rooms) != 2:
        return None
    other = {"room1": "room2", "room2": "room1"}
    swapped = [(name, ball, other[room]) for name, ball, room in start.atoms[len(load.grippers) :]]
    words = "each ball in the other of the two rooms, every gripper free"
    return _at_the_start(load, start), Scene((*_all_free(load), *reversed(swapped)), words)


def juggle(load: Load) -> tuple[Scene, Scene]:
    """Juggle (tied): each carried ball moves on to the neighbouring gripper, the first one's to the last."""
    carried = load.balls[: load.carried]
    rest = (*_all_free(load)[load.carried :], *_in_rooms(load))
    words = (
        "in each gripper that carries a ball the ball of the next one, in the last of them that of the first;"
        " every other gripper and ball as it is at the start"
    )
    return _at_the_start(load, holding(load)), Scene((*_carried([*carried[1:], *carried[:1]], load), *rest), words)


def _initially(arrange: Arrange[Load]) -> Arrange[Load]:
    def arranged(load: Load) -> Scene | None:
        scene = arrange(load)
        return scene and _at_the_start(load, scene)

    return arranged


def _at_the_start(load: Load, scene: Scene) -> Scene:
    things = (
        f"{counted(len(load.rooms), 'room')}, {counted(len(load.balls), 'ball')},"
        f" {counted(len(load.grippers), 'gripper')}"
    )
    return Scene((*scene.atoms, ("at-robby", "room1")), f"{things}; {scene.words}, Robby in the first room")


def _focus(load: Load, count: int, words: str) -> Scene | None:
    """All balls in the one room with that count, of several rooms with two balls in one of them at least."""
    if len(load.rooms) == 1 or max(load.rooms) < 2 or load.rooms.count(count) != 1:
        return None
    room = load.room_names[load.rooms.index(count)]
    return Scene((*_all_free(load), *_all_in(load, room)), f"{words}, every gripper free")


def _all_free(load: Load) -> tuple[Atom, ...]:
    return tuple(("free", gripper) for gripper in load.gripper_names)


def _all_in(load: Load, room: str) -> tuple[Atom, ...]:
    return tuple(("at", ball, room) for ball in load.balls)


def _carried(balls: list[str], load: Load) -> tuple[Atom, ...]:
    return tuple(("carry", *pair) for pair in zip(balls, load.gripper_names, strict=False))


def _in_rooms(load: Load) -> tuple[Atom, ...]:
    waiting = iter(load.balls[load.carried :])
    return tuple(
        ("at", next(waiting), room)
        for room, count in zip(load.room_names, load.rooms, strict=True)
        for _ in range(count)
    )


def _told(rooms: tuple[int, ...]) -> str:
    return f"the rooms in their order with {', '.join(map(str, rooms))} balls"


def _kinds(load: Load) -> tuple[Atom, ...]:
    return (
        *(("ball", ball) for ball in load.balls),
        *(("gripper", gripper) for gripper in load.gripper_names),
        *(("room", room) for room in load.room_names),
    )


def _in_the_first_of(rooms: int, balls: int, grippers: tuple[int, ...] = (0, 0)) -> Load:
    return Load(grippers, (balls, *(0,) * (rooms - 1)))


def _one_room_sizes() -> Iterator[Load]:
    return (_in_the_first_of(rooms, balls) for rooms in range(1, 9) for balls in range(1, 26))


def _even_sizes() -> Iterator[Load]:
    """Up to eleven rooms and five balls in each, rooms and balls together no more than 35."""
    return (Load((0, 0), (each,) * rooms) for rooms in range(1, 12) for each in range(1, 6) if rooms * (1 + each) <= 35)


def _holding_sizes(
    most_grippers: int, most_carried: int, most_rooms: int, most_in_room: int
) -> Callable[[], Iterator[Load]]:
    def sizes() -> Iterator[Load]:
        for grippers in range(2, most_grippers + 1):
            for carried in range(2, min(grippers, most_carried) + 1):
                hands = (1,) * carried + (0,) * (grippers - carried)
                for rooms in range(1, most_rooms + 1):
                    yield from (_in_the_first_of(rooms, balls, hands) for balls in range(most_in_room + 1))

    return sizes


GRIPPER: TaskDomain[Load] = TaskDomain(
    name="gripper",
    objects=lambda load: dict.fromkeys([*load.balls, *load.gripper_names, *load.room_names], ROOT_TYPE),
    kinds=_kinds,
    label=lambda load: f"g{'-'.join(map(str, load.grippers))}_r{'-'.join(map(str, load.rooms))}",
    initial={
        "one_room": _initially(one_room),
        "evenly_distributed": _initially(evenly_distributed),
        "n_room_distributed": _initially(n_room_distributed),
        "holding": _initially(holding),
    },
    goals={
        "one_room": one_room,
        "evenly_distributed": evenly_distributed,
        "n_room_distributed": n_room_distributed,
        "focus_max": focus_max,
        "focus_min": focus_min,
        "pickup": pickup,
        "drop_and_pickup": drop_and_pickup,
        "holding": holding_only,
    },
    tied={"swap": swap, "juggle": juggle},
    relative=frozenset({"focus_max", "focus_min", "drop_and_pickup"}),
    sizes={
        "one_room": _one_room_sizes,
        "evenly_distributed": _even_sizes,
        "n_room_distributed": lambda: (Load((0, 0), rooms) for rooms in benchmark_partitions(most_parts=8)),
        "holding": _holding_sizes(most_grippers=5, most_carried=5, most_rooms=10, most_in_room=5),
        "swap": lambda: (Load((0, 0), (half, half)) for half in range(1, 13)),
        "juggle": _holding_sizes(most_grippers=10, most_carried=6, most_rooms=5, most_in_room=8),
    },
)
