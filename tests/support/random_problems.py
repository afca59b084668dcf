"""Nasty random problems of the three domains, small enough for the judge in ``tests.judges.exhaustive`` to enumerate.

A problem is a function of a ``random.Random`` alone: the same seed gives the same problem in every process (sets are
sorted before anything is drawn from them), and hypothesis can draw the seed. Four of five initial states are what the
domain's usual assumptions allow, the others break some; goals range from one atom to a whole state and from implied to
impossible. Nothing here knows an answer: that is the judge's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from random import Random

from pddl_eval.definition.model import ROOT_TYPE, Atom, Problem, State

from tests.judges.exhaustive import (
    DOMAINS,
    goal_states,
    isomorphisms,
    reachable,
    renamed_state,
    steps,
)

MOST_STATES = 3_000
"""No problem drawn here has more reachable states, with types or without."""

VOCABULARY: dict[str, dict[str, tuple[str, ...]]] = {
    "blocksworld": {
        "arm-empty": (),
        "clear": ("block",),
        "holding": ("block",),
        "on": ("block", "block"),
        "on-table": ("block",),
    },
    "gripper": {
        "at": ("ball", "room"),
        "at-robby": ("room",),
        "ball": ("ball",),
        "carry": ("ball", "gripper"),
        "free": ("gripper",),
        "gripper": ("gripper",),
        "room": ("room",),
    },
    "floor-tile": {
        "available-color": ("color",),
        "painted": ("tile", "color"),
        "right": ("tile", "tile"),
        "robot-at": ("robot", "tile"),
        "robot-has": ("robot", "color"),
        "up": ("tile", "tile"),
    },
}
"""Each predicate of a domain with the roles that its arguments play."""


@dataclass(frozen=True, slots=True)
class Scene:
    """An initial state: objects with their types, the role that each was made for, and the atoms.

    ``legal`` is False where an assumption that one usually makes about the domain was broken on purpose.
    """

    types: dict[str, str]
    roles: dict[str, str]
    init: State
    legal: bool = True


@dataclass(frozen=True, slots=True)
class Pair:
    """Two problems to compare, the way in which the second was made from the first, and whether both are legal."""

    kind: str
    reference: Problem
    generated: Problem
    legal: bool


# --- Problems --------------------------------------------------------------------------------------------------------


def random_problem(rng: Random, domain: str) -> Problem:
    """A problem of the domain ``"blocksworld"``, ``"gripper"`` or ``"floor-tile"``."""
    return _problem_and_scene(rng, domain)[0]


def _problem_and_scene(rng: Random, domain: str) -> tuple[Problem, Scene]:
    while True:
        scene = _SCENES[domain](rng)
        if _chance(rng, 0.17):
            scene = _spoiled(rng, domain, scene)
        scene = _decorated(rng, domain, scene)
        problem = Problem("random", domain, scene.types, scene.init, frozenset())
        if _small(problem):
            return replace(problem, goal=_goal(rng, problem, scene)), scene


def _small(problem: Problem) -> bool:
    return all(reachable(problem, typed=typed, limit=MOST_STATES) is not None for typed in (True, False))


def _chance(rng: Random, probability: float) -> bool:
    return rng.random() < probability


def _some(rng: Random, atoms: Iterable[Atom], share: float) -> State:
    """Each of the atoms with the given probability."""
    return frozenset(atom for atom in sorted(atoms) if rng.random() < share)


def _shuffled(rng: Random, names: Iterable[str]) -> list[str]:
    listed = list(names)
    rng.shuffle(listed)
    return listed


def _count(rng: Random, *weights: int) -> int:
    """A number from 0 on, by its weight."""
    return rng.choices(range(len(weights)), weights)[0]


def _scene(roles: dict[str, str], atoms: Iterable[Atom], type_of: Callable[[str], str]) -> Scene:
    return Scene({o: type_of(role) for o, role in roles.items()}, roles, frozenset(atoms))


# --- Initial states --------------------------------------------------------------------------------------------------


def _blocks_scene(rng: Random) -> Scene:
    """None to five blocks in towers, one of them perhaps in the hand."""
    blocks = _shuffled(rng, [f"b{i}" for i in range(_count(rng, 1, 2, 6, 12, 16, 8))])
    atoms: list[Atom] = []
    roles = dict.fromkeys(sorted(blocks), "block")
    if blocks and _chance(rng, 0.25):
        atoms.append(("holding", blocks.pop()))
    else:
        atoms.append(("arm-empty",))
    tops: list[str] = []
    for block in blocks:
        below = rng.choice([None, *tops])
        if below is None:
            atoms.append(("on-table", block))
        else:
            atoms.append(("on", block, below))
            tops.remove(below)
        tops.append(block)
    return _scene(roles, [*atoms, *(("clear", top) for top in tops)], lambda role: ROOT_TYPE)


def _gripper_scene(rng: Random) -> Scene:
    """Up to four balls, three rooms and three grippers, with or without robby, rooms that are not said to be one."""
    balls = [f"ball{i}" for i in range(_count(rng, 1, 3, 8, 10, 5))]
    rooms = [f"room{i}" for i in range(_count(rng, 1, 6, 10, 4))]
    grippers = [f"gripper{i}" for i in range(_count(rng, 1, 5, 8, 4))]
    roles = {name: role for role, names in (("ball", balls), ("room", rooms), ("gripper", grippers)) for name in names}
    atoms: list[Atom] = [(role, name) for name, role in roles.items()]
    if rooms and _chance(rng, 0.1):
        atoms.remove(("room", rng.choice(rooms)))
    if rooms and _chance(rng, 0.9):
        atoms.append(("at-robby", rng.choice(rooms)))
    carried = _shuffled(rng, balls)
    for gripper in grippers:
        if carried and _chance(rng, 0.3):
            atoms.append(("carry", carried.pop(), gripper))
        else:
            atoms.append(("free", gripper))
    if rooms:
        atoms += [("at", ball, rng.choice(rooms)) for ball in carried]
    return _scene(roles, atoms, lambda role: ROOT_TYPE)


_FLOOR_SIZES = "511 521 412 421 431 312 322 331 222 223 232 123 132 133"
"""Numbers of tiles, robots and colours that make hundreds of states, not hundreds of thousands."""


def _floor_scene(rng: Random) -> Scene:
    """Up to five tiles, three robots and three colours; often the robots hold colours that they cannot get again."""
    numbers = [int(digit) for digit in rng.choice(_FLOOR_SIZES.split())]
    if _chance(rng, 0.35):
        changed = rng.randrange(3)
        numbers[changed] = max(0, numbers[changed] + rng.choice((-2, -1, -1, 1)))
    tiles, robots, colors = ([f"{letter}{i}" for i in range(n)] for letter, n in zip("trc", numbers, strict=True))
    roles = {name: role for role, names in (("tile", tiles), ("robot", robots), ("color", colors)) for name in names}
    available = rng.sample(colors, min(len(colors), rng.choice((0, 1, 1, 1, 2, 3))))
    lost = [color for color in colors if color not in available]
    atoms = [*_neighbours(rng, tiles), *(("available-color", color) for color in available)]
    only_lost = _chance(rng, 0.5)
    for robot in robots:
        if tiles and _chance(rng, 0.95):
            atoms.append(("robot-at", robot, rng.choice(tiles)))
        if colors and _chance(rng, 0.95):
            atoms.append(("robot-has", robot, rng.choice(lost if lost and only_lost else colors)))
    painted = rng.choice((0.0, 0.0, 0.15, 0.5))
    atoms += [("painted", tile, color) for tile in tiles for color in colors if _chance(rng, painted)]
    scene = _scene(roles, atoms, lambda role: role)
    return replace(scene, types=_wrong_types(rng, scene.types)) if _chance(rng, 0.25) else scene


def _neighbours(rng: Random, tiles: list[str]) -> list[Atom]:
    """Which tile is above or right of which: rows of two with gaps, a line with gaps, or anything, self-loops too."""
    shape, gaps = rng.choice(("grid", "line", "line", "anything")), rng.choice((0.0, 0.0, 0.0, 0.3, 0.5))
    if shape == "grid":
        atoms = [("right", b, a) for a, b in zip(tiles[::2], tiles[1::2], strict=False)]
        atoms += [("up", b, a) for a, b in zip(tiles, tiles[2:], strict=False)]
    elif shape == "line":
        atoms = [(rng.choice(("right", "up")), b, a) for a, b in pairwise(tiles)]
    else:
        atoms = [(way, b, a) for way in ("right", "up") for a in tiles for b in tiles if _chance(rng, 0.15)]
    if tiles and _chance(rng, 0.7 if len(tiles) == 1 else 0.1):
        atoms.append(("up", tiles[0], tiles[0]))
    return sorted(_some(rng, atoms, 1 - gaps))


def _wrong_types(rng: Random, types: dict[str, str]) -> dict[str, str]:
    """No types at all, or some objects of another type, of no type or of one that is not declared."""
    if _chance(rng, 0.3):
        return dict.fromkeys(types, ROOT_TYPE)
    others = ("robot", "tile", "color", ROOT_TYPE, "thing")
    return {o: rng.choice(others) if _chance(rng, 0.3) else type_ for o, type_ in types.items()}


def _spoiled(rng: Random, domain: str, scene: Scene) -> Scene:
    """The scene with up to three atoms lost, added or changed: what the domain's assumptions forbid, mostly."""
    init = scene.init
    for _ in range(rng.choice((1, 1, 2, 3))):
        init = _edited(rng, domain, scene, init)
    if domain == "blocksworld" and _chance(rng, 0.15):
        init = _with_ring(rng, init, list(scene.roles))
    if domain == "gripper" and _chance(rng, 0.3):
        init = _with_two_roles(rng, init, scene) if _chance(rng, 0.6) else _with_shared_ball(rng, init, scene)
    return replace(scene, init=init, legal=False)


def _with_ring(rng: Random, init: State, blocks: list[str]) -> State:
    """Some blocks one on another in a ring."""
    ring = rng.sample(blocks, rng.randint(min(1, len(blocks)), len(blocks)))
    rest = {atom for atom in init if atom[1:2] == () or atom[1] not in ring}
    return frozenset(rest) | {("on", upper, lower) for upper, lower in zip(ring, ring[1:] + ring[:1], strict=True)}


def _with_two_roles(rng: Random, init: State, scene: Scene) -> State:
    """An object is a ball, a room or a gripper too, then perhaps a free one."""
    if not scene.roles:
        return init
    o = rng.choice(list(scene.roles))
    return init | rng.choice(({("ball", o)}, {("room", o)}, {("gripper", o)}, {("gripper", o), ("free", o)}))


def _with_shared_ball(rng: Random, init: State, scene: Scene) -> State:
    """A ball is in every gripper, and perhaps in a room."""
    balls = [o for o, role in scene.roles.items() if role == "ball"]
    grippers = [o for o, role in scene.roles.items() if role == "gripper"]
    if not balls:
        return init
    ball = rng.choice(balls)
    lost: set[Atom] = {("free", gripper) for gripper in grippers}
    if _chance(rng, 0.5):
        lost |= {atom for atom in init if atom[:2] == ("at", ball)}
    return (init - lost) | {("carry", ball, gripper) for gripper in grippers}


def _edited(rng: Random, domain: str, scene: Scene, atoms: State) -> State:
    """The atoms with one lost, one added or one changed."""
    listed = sorted(atoms)
    way = rng.choice(("lose", "add", "change")) if listed else "add"
    lost = {rng.choice(listed)} if way != "add" else set()
    return (atoms - lost) | ({_atom(rng, domain, scene)} if way != "lose" else set())


def _atom(rng: Random, domain: str, scene: Scene) -> Atom:
    """An atom of the domain's vocabulary, mostly with arguments of the right role."""
    predicate = rng.choice(list(VOCABULARY[domain]))
    arguments = []
    for role in VOCABULARY[domain][predicate]:
        fitting = [o for o in scene.roles if scene.roles[o] == role] if _chance(rng, 0.93) else list(scene.roles)
        if not fitting:
            return ("windy",)
        arguments.append(rng.choice(fitting))
    return (predicate, *arguments)


def _odd_atom(rng: Random, domain: str, scene: Scene) -> Atom:
    """An atom that the domain does not declare: an unknown predicate, or a known one with the wrong number of words."""
    if _chance(rng, 0.6) or not scene.roles:
        arguments = [rng.choice(list(scene.roles)) for _ in range(_count(rng, 1, 3, 2))] if scene.roles else []
        return (rng.choice(("shiny", "beside")), *arguments)
    predicate, *known = _atom(rng, domain, scene)
    return (
        (predicate, *known[1:]) if known and _chance(rng, 0.5) else (predicate, *known, rng.choice(list(scene.roles)))
    )


def _decorated(rng: Random, domain: str, scene: Scene) -> Scene:
    """The scene with things that no operator cares for: odd atoms, an idle object, types where the domain has none."""
    if _chance(rng, 0.08):
        scene = replace(scene, init=scene.init | {_odd_atom(rng, domain, scene) for _ in range(_count(rng, 0, 3, 1))})
    if _chance(rng, 0.05):
        scene = replace(
            scene,
            types={**scene.types, "idle": rng.choice((ROOT_TYPE, "thing", "tile", "robot", "color"))},
            roles={**scene.roles, "idle": "idle"},
            legal=False,
        )
    if domain != "floor-tile" and _chance(rng, 0.15):
        named = {o: rng.choice((ROOT_TYPE, role, role, "thing")) for o, role in scene.roles.items()}
        scene = replace(scene, types=named)
    return scene


_SCENES: dict[str, Callable[[Random], Scene]] = {
    "blocksworld": _blocks_scene,
    "gripper": _gripper_scene,
    "floor-tile": _floor_scene,
}


# --- Goals -----------------------------------------------------------------------------------------------------------


def _goal(rng: Random, problem: Problem, scene: Scene) -> State:
    """A part of a reachable state, with none, some or all of the static atoms; sometimes with an atom too many."""
    state = _walk(rng, problem)
    changing = {
        atom[0] for each in DOMAINS[problem.domain].operators for atom in each.add_effects | each.delete_effects
    }
    fluents = frozenset(atom for atom in state if atom[0] in changing)
    goal = _part(rng, fluents, list(problem.objects))
    goal |= _some(rng, state - fluents, rng.choice((0.0, 0.0, 0.0, 0.1, 0.5, 1.0)))
    if _chance(rng, 0.07):
        goal |= {_atom(rng, problem.domain, scene)}
    if _chance(rng, 0.08):
        goal = _some(rng, goal, 0.7) | _part(rng, _walk(rng, problem), list(problem.objects))
    if _chance(rng, 0.02):
        goal |= {_odd_atom(rng, problem.domain, scene)}
    return goal


def _walk(rng: Random, problem: Problem) -> State:
    """The end of a random walk from the initial state."""
    steps_in = steps(problem)
    state = problem.init
    for _ in range(rng.choice((0, 3, 10, 25, 40))):
        following = [*steps_in(state).values()]
        if not following:
            break
        state = rng.choice(following)
    return state


def _part(rng: Random, atoms: State, objects: list[str]) -> State:
    """A part of the atoms: none, a few, most, or all but those of some predicates or those about some objects."""
    listed = sorted(atoms)
    way = rng.choices(("none", "one", "share", "most", "predicates", "objects"), (3, 7, 30, 35, 15, 10))[0]
    if way == "none" or not listed:
        return frozenset()
    if way == "one":
        return frozenset(rng.sample(listed, min(len(listed), rng.choice((1, 1, 2)))))
    if way == "share":
        return _some(rng, listed, rng.choice((0.2, 0.4, 0.6, 0.8)))
    if way == "most":
        return atoms - set(rng.sample(listed, min(len(listed), rng.choice((0, 1, 1, 2, 2, 3, 4)))))
    if way == "predicates":
        names = sorted({atom[0] for atom in listed})
        dropped = set(rng.sample(names, min(len(names), rng.choice((1, 1, 2)))))
        return _some(rng, (atom for atom in listed if atom[0] not in dropped), rng.choice((1.0, 1.0, 0.8)))
    silent = set(rng.sample(objects, min(len(objects), rng.choice((1, 2)))))
    return frozenset(atom for atom in listed if silent.isdisjoint(atom[1:]))


# --- Pairs -----------------------------------------------------------------------------------------------------------


def random_pair(rng: Random, domain: str) -> Pair:
    """Two problems of the domain, equivalent in a good share of the cases."""
    problem, scene = _problem_and_scene(rng, domain)
    kind = rng.choices(list(_KINDS), list(_KINDS.values()))[0]
    other = kind(rng, problem, scene)
    if not _small(other):
        other = problem
    if _chance(rng, 0.6):
        other = _renamed_copy(rng, other, scene)
    first, second = (problem, other) if _chance(rng, 0.5) else (other, problem)
    legal = scene.legal and kind not in (_init_edited, _another)
    return Pair(kind.__name__.strip("_"), first, second, legal)


def _renamed_copy(rng: Random, problem: Problem, scene: Scene) -> Problem:
    """The same problem under other names, the old ones permuted or new ones, its objects in another order."""
    old = sorted(problem.objects)
    new = _shuffled(rng, old if _chance(rng, 0.5) else [f"x{i}" for i in range(len(old))])
    renaming = dict(zip(old, new, strict=True))
    return replace(
        problem,
        objects={renaming[o]: problem.objects[o] for o in _shuffled(rng, problem.objects)},
        init=renamed_state(problem.init, renaming),
        goal=renamed_state(problem.goal, renaming),
    )


def _goal_respecified(rng: Random, problem: Problem, scene: Scene) -> Problem:
    """Another goal with the same closure: the closed goal less some atoms that the others imply."""
    states = goal_states(problem)
    if not states:
        return replace(problem, goal=problem.goal | {_atom(rng, problem.domain, scene)})
    goal = frozenset.intersection(*states)
    share = rng.choice((0.2, 0.6, 1.0))
    for atom in rng.sample(sorted(goal), len(goal)):
        if _chance(rng, share) and goal_states(replace(problem, goal=goal - {atom})) == states:
            goal -= {atom}
    return replace(problem, goal=goal)


def _goal_extended(rng: Random, problem: Problem, scene: Scene) -> Problem:
    """The goal with some atoms that it implies."""
    states = goal_states(problem)
    implied = frozenset.intersection(*states) if states else frozenset({_atom(rng, problem.domain, scene)})
    return replace(problem, goal=problem.goal | _some(rng, implied, rng.choice((0.2, 0.5, 1.0))))


def _goal_edited(rng: Random, problem: Problem, scene: Scene) -> Problem:
    """The goal, or an equivalent one, with one atom lost, added or changed."""
    base = _goal_respecified(rng, problem, scene) if _chance(rng, 0.4) else problem
    return replace(base, goal=_edited(rng, problem.domain, scene, base.goal))


def _goal_redrawn(rng: Random, problem: Problem, scene: Scene) -> Problem:
    """The same initial state with another goal."""
    return replace(problem, goal=_goal(rng, problem, scene))


def _goal_from_same_state(rng: Random, problem: Problem, scene: Scene) -> Problem:
    """The goal with a few more atoms of one of its goal states, implied or not."""
    states = goal_states(problem)
    if not states:
        return problem
    state = min(states, key=sorted)
    return replace(problem, goal=problem.goal | set(rng.sample(sorted(state), min(len(state), rng.choice((1, 1, 2))))))


def _goal_under_automorphism(rng: Random, problem: Problem, scene: Scene) -> Problem:
    """The goal moved by a symmetry of the initial state: an equivalent problem."""
    symmetries = list(islice(isomorphisms(problem, problem, problem.init, problem.init), 50))
    return replace(problem, goal=renamed_state(problem.goal, rng.choice(symmetries)))


def _goal_permuted(rng: Random, problem: Problem, scene: Scene) -> Problem:
    """The goal with the objects of one role exchanged, or of each, as if they were placeholders."""
    renaming: dict[str, str] = {}
    exchanged = rng.choice(("", *sorted(set(scene.roles.values()))))
    for role in sorted(set(scene.roles.values())):
        playing = [o for o in sorted(scene.roles) if scene.roles[o] == role]
        renaming |= dict(zip(playing, _shuffled(rng, playing) if exchanged in ("", role) else playing, strict=True))
    return replace(problem, goal=renamed_state(problem.goal, renaming))


def _init_edited(rng: Random, problem: Problem, scene: Scene) -> Problem:
    """The initial state with one atom lost, added or changed."""
    return replace(problem, init=_edited(rng, problem.domain, scene, problem.init))


def _init_advanced(rng: Random, problem: Problem, scene: Scene) -> Problem:
    """The same goal from another reachable state."""
    return replace(problem, init=_walk(rng, problem))


def _retyped(rng: Random, problem: Problem, scene: Scene) -> Problem:
    """The same atoms with types added, taken away or changed."""
    return replace(problem, objects=_wrong_types(rng, dict(problem.objects)))


def _another(rng: Random, problem: Problem, scene: Scene) -> Problem:
    """A problem drawn afresh."""
    return random_problem(rng, problem.domain)


def _unchanged(rng: Random, problem: Problem, scene: Scene) -> Problem:
    """The problem itself."""
    return problem


_KINDS: dict[Callable[[Random, Problem, Scene], Problem], int] = {
    _unchanged: 6,
    _goal_respecified: 20,
    _goal_extended: 8,
    _goal_edited: 24,
    _goal_redrawn: 6,
    _goal_from_same_state: 8,
    _goal_under_automorphism: 6,
    _goal_permuted: 14,
    _init_edited: 4,
    _init_advanced: 3,
    _retyped: 3,
    _another: 2,
}
"""How a second problem is made from a first, with the weight of each way."""
