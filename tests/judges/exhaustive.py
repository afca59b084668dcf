"""The judge: what the pipeline decides by rules, decided here by looking at every reachable state.

Everything follows the definitions word by word (DESIGN.md, section 3; the Planetarium paper, sections 3 and 4.1): a
state is a frozenset of atoms, the states are enumerated breadth first, cl(g) is an intersection, equivalence is a
search for a bijection between the objects. The three domains are written here a second time and share no text with the
pipeline's; other domains are given as values. It serves problems of up to about ten objects; nothing in it is clever,
so that it can be believed. Only tests import it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from pddl_eval.definition.model import EQUALITY, ROOT_TYPE, Action, Atom, Domain, Operator, Problem, State

STATE_LIMIT = 20_000
"""How many states are enumerated before a problem is called too large."""

Bijection = dict[str, str]
"""Each object of one problem with the object of the other that it becomes."""


class GroundOperator(NamedTuple):
    """An operator with objects in the place of its variables (the judge's own: it shares no code with the program)."""

    action: Action
    preconditions: State
    negative_preconditions: State
    add_effects: State
    delete_effects: State

    def applicable(self, state: State) -> bool:
        return self.preconditions <= state and not (self.negative_preconditions & state)

    def apply(self, state: State) -> State:
        return (state - self.delete_effects) | self.add_effects


class TooManyStates(Exception):
    """The problem has more reachable states than the limit."""


# --- The three domains -----------------------------------------------------------------------------------------------


def _atoms(text: str) -> frozenset[Atom]:
    """``"on ?x ?y, arm-empty"`` as a set of atoms; no text is no atom."""
    return frozenset(tuple(atom.split()) for atom in text.split(",") if atom)


def operator(name: str, parameters: str, needs: str, adds: str, deletes: str) -> Operator:
    """An operator without negative preconditions; its parameters read ``"?r robot, ?x"`` (``?x`` fits any object)."""
    words = [parameter.split() for parameter in parameters.split(",") if parameter]
    typed = tuple((variable, tuple(types) or (ROOT_TYPE,)) for variable, *types in words)
    return Operator(name, typed, _atoms(needs), frozenset(), _atoms(adds), _atoms(deletes))


def domain_of(name: str, types: Mapping[str, str], *operators: Operator) -> Domain:
    """A domain that consists of types (each with its parent) and operators."""
    return Domain(name, types, {}, {}, operators)


BLOCKSWORLD = domain_of(
    "blocksworld",
    {},
    operator("pickup", "?x", "clear ?x, on-table ?x, arm-empty", "holding ?x", "clear ?x, on-table ?x, arm-empty"),
    operator("putdown", "?x", "holding ?x", "clear ?x, arm-empty, on-table ?x", "holding ?x"),
    operator("stack", "?x, ?y", "clear ?y, holding ?x", "arm-empty, clear ?x, on ?x ?y", "clear ?y, holding ?x"),
    operator(
        "unstack", "?x, ?y", "on ?x ?y, clear ?x, arm-empty", "holding ?x, clear ?y", "on ?x ?y, clear ?x, arm-empty"
    ),
)

GRIPPER = domain_of(
    "gripper",
    {},
    operator("move", "?a, ?b", "room ?a, room ?b, at-robby ?a", "at-robby ?b", "at-robby ?a"),
    operator(
        "pick",
        "?o, ?r, ?g",
        "ball ?o, room ?r, gripper ?g, at ?o ?r, at-robby ?r, free ?g",
        "carry ?o ?g",
        "at ?o ?r, free ?g",
    ),
    operator(
        "drop",
        "?o, ?r, ?g",
        "ball ?o, room ?r, gripper ?g, carry ?o ?g, at-robby ?r",
        "at ?o ?r, free ?g",
        "carry ?o ?g",
    ),
)


def _paint(name: str, neighbour: str) -> Operator:
    """A robot at ``?x`` paints the tile ``?y`` beside it."""
    parameters = "?r robot, ?y tile, ?x tile, ?c color"
    return operator(name, parameters, f"robot-has ?r ?c, robot-at ?r ?x, {neighbour}", "painted ?y ?c", "")


def _step(name: str, neighbour: str) -> Operator:
    """A robot goes from ``?x`` to the tile ``?y`` beside it."""
    parameters = "?r robot, ?x tile, ?y tile"
    return operator(name, parameters, f"robot-at ?r ?x, {neighbour}", "robot-at ?r ?y", "robot-at ?r ?x")


FLOOR_TILE = domain_of(
    "floor-tile",
    {"robot": ROOT_TYPE, "tile": ROOT_TYPE, "color": ROOT_TYPE},
    operator(
        "change-color",
        "?r robot, ?c color, ?c2 color",
        "robot-has ?r ?c, available-color ?c2",
        "robot-has ?r ?c2",
        "robot-has ?r ?c",
    ),
    _paint("paint-up", "up ?y ?x"),
    _paint("paint-down", "up ?x ?y"),
    _paint("paint-right", "right ?y ?x"),
    _paint("paint-left", "right ?x ?y"),
    _step("up", "up ?y ?x"),
    _step("down", "up ?x ?y"),
    _step("right", "right ?y ?x"),
    _step("left", "right ?x ?y"),
)

DOMAINS = {domain.name: domain for domain in (BLOCKSWORLD, GRIPPER, FLOOR_TILE)}


FLOOR_TILE_PREDICATES = {
    "up": ["tile", "tile"],
    "right": ["tile", "tile"],
    "robot-at": ["robot", "tile"],
    "robot-has": ["robot", "color"],
    "available-color": ["color"],
    "painted": ["tile", "color"],
}


def well_typed(problem: Problem) -> bool:
    """True unless an atom is not as its domain declares it; the other two domains have no types and admit all."""
    if problem.domain != FLOOR_TILE.name:
        return True
    return all(
        FLOOR_TILE_PREDICATES.get(predicate) == [problem.objects[name] for name in names]
        for predicate, *names in problem.init | problem.goal
    )


def changing_predicates(domain: Domain) -> frozenset[str]:
    """The predicates that some operator adds or deletes; atoms of all others are static."""
    return frozenset(
        predicate for lifted in domain.operators for predicate, *_ in lifted.add_effects | lifted.delete_effects
    )


# --- States ----------------------------------------------------------------------------------------------------------


def ground_operators(problem: Problem, domain: Domain | None = None, typed: bool = True) -> list[GroundOperator]:
    """Each operator with each choice of fitting objects; two parameters may be one object.

    Left out are those that need a static atom which the initial state lacks (or forbid one which it has), for they are
    never applicable. The order depends on the order of operators and objects only.
    """
    domain = domain or DOMAINS[problem.domain]
    objects = {**domain.constants, **problem.objects}
    changing = changing_predicates(domain)
    ground = []
    for lifted in domain.operators:
        static = [(atom, True) for atom in lifted.preconditions if atom[0] not in changing]
        static += [(atom, False) for atom in lifted.negative_preconditions if atom[0] not in changing]
        unbound = {variable for variable, _ in lifted.parameters}
        bindings: list[Bijection] = [{}]
        for variable, types in (*lifted.parameters, ("", ())):
            ready = [(atom, wanted) for atom, wanted in static if unbound.isdisjoint(atom)]
            static = [condition for condition in static if condition not in ready]
            bindings = [b for b in bindings if all(_holds(atom, b, problem) == wanted for atom, wanted in ready)]
            if variable:
                fitting = [o for o, t in objects.items() if not typed or not set(types).isdisjoint(domain.ancestors(t))]
                bindings = [{**binding, variable: o} for binding in bindings for o in fitting]
                unbound.remove(variable)
        ground += [_ground(lifted, binding) for binding in bindings]
    return ground


def _holds(atom: Atom, binding: Mapping[str, str], problem: Problem) -> bool:
    """Whether a static atom is true: in one state, and so in all."""
    predicate, *arguments = renamed_atom(atom, binding)
    return arguments[0] == arguments[1] if predicate == EQUALITY else (predicate, *arguments) in problem.init


def _ground(lifted: Operator, binding: Mapping[str, str]) -> GroundOperator:
    action = (lifted.name, *(binding[variable] for variable, _ in lifted.parameters))
    positive = frozenset(atom for atom in lifted.preconditions if atom[0] != EQUALITY)
    negative = frozenset(atom for atom in lifted.negative_preconditions if atom[0] != EQUALITY)
    parts = (positive, negative, lifted.add_effects, lifted.delete_effects)
    return GroundOperator(action, *(renamed_state(part, binding) for part in parts))


def renamed_atom(atom: Atom, renaming: Mapping[str, str]) -> Atom:
    """The atom with its arguments renamed; a name that is not mapped (a constant) stays."""
    return (atom[0], *(renaming.get(argument, argument) for argument in atom[1:]))


def renamed_state(state: State, renaming: Mapping[str, str]) -> State:
    """The state with every atom's arguments renamed."""
    return frozenset(renamed_atom(atom, renaming) for atom in state)


def reachable(
    problem: Problem, domain: Domain | None = None, typed: bool = True, limit: int = STATE_LIMIT
) -> frozenset[State] | None:
    """All states reachable from the initial state, or None when they are more than ``limit``.

    ``domain`` is the one that the problem names unless given; ``typed=False`` ignores all types.
    """
    domain = domain or DOMAINS[problem.domain]
    if all(types == (ROOT_TYPE,) for lifted in domain.operators for _, types in lifted.parameters):
        typed = False  # types bind nothing, so that one enumeration serves both
    objects = frozenset(problem.objects.items() if typed else problem.objects)
    declared = frozenset(domain.types.items()), frozenset(domain.constants.items())
    key = (objects, problem.init, *declared, domain.operators)
    if key not in _REACHED:
        states = _enumerate(problem.init, ground_operators(problem, domain, typed), limit)
        if states is None:
            return None
        if len(_REACHED) >= 64:
            _REACHED.clear()
        _REACHED[key] = states
    return _REACHED[key] if len(_REACHED[key]) <= limit else None


_REACHED: dict[object, frozenset[State]] = {}
"""The last few state sets: goals over one initial state share them."""


def _enumerate(initial: State, ground: Sequence[GroundOperator], limit: int) -> frozenset[State] | None:
    """Breadth-first search; None beyond the limit. An operator is filed under one of its preconditions, the one that
    fewest operators have, and tried in the states that hold this atom; one without preconditions in every state.
    """
    wanted_by = Counter(atom for operator in ground for atom in operator.preconditions)
    filed: dict[Atom | None, list[GroundOperator]] = defaultdict(list)
    for candidate in ground:
        filed[min(candidate.preconditions, key=lambda atom: wanted_by[atom], default=None)].append(candidate)
    reached = {initial}
    layer = [initial]
    while layer:
        following = []
        for state in layer:
            for atom in (None, *state):
                for candidate in filed.get(atom, ()):
                    if candidate.preconditions <= state and candidate.negative_preconditions.isdisjoint(state):
                        successor = (state - candidate.delete_effects) | candidate.add_effects
                        if successor not in reached:
                            reached.add(successor)
                            following.append(successor)
                            if len(reached) > limit:
                                return None
        layer = following
    return frozenset(reached)


def goal_states(problem: Problem, domain: Domain | None = None, typed: bool = True) -> frozenset[State]:
    """R(g): the reachable states that contain the goal. Raises ``TooManyStates`` beyond the limit."""
    states = reachable(problem, domain, typed)
    if states is None:
        raise TooManyStates(problem.name)
    return frozenset(state for state in states if problem.goal <= state)


def closure(problem: Problem, domain: Domain | None = None, typed: bool = True) -> State | None:
    """cl(g): what is true in every reachable goal state; None when there is no such state."""
    states = goal_states(problem, domain, typed)
    return frozenset.intersection(*states) if states else None


def solvable(problem: Problem, domain: Domain | None = None, typed: bool = True) -> bool:
    """True when some reachable state contains the goal."""
    return bool(goal_states(problem, domain, typed))


def state_after(
    problem: Problem, plan: Sequence[Action], domain: Domain | None = None, typed: bool = True
) -> State | None:
    """The state that the plan leads to from the initial state; None when a step of it is not applicable.

    Each step is bound on its own, so that a problem may be of any size.
    """
    domain = domain or DOMAINS[problem.domain]
    objects = {**domain.constants, **problem.objects}
    state = problem.init
    for name, *arguments in plan:
        lifted = next((each for each in domain.operators if each.name == name), None)
        if lifted is None or len(arguments) != len(lifted.parameters) or not objects.keys() >= set(arguments):
            return None
        binding = {}
        for (variable, types), argument in zip(lifted.parameters, arguments, strict=True):
            if typed and set(types).isdisjoint(domain.ancestors(objects[argument])):
                return None
            binding[variable] = argument
        if not all(_holds(atom, binding, problem) for atom in lifted.preconditions if atom[0] == EQUALITY):
            return None
        if any(_holds(atom, binding, problem) for atom in lifted.negative_preconditions if atom[0] == EQUALITY):
            return None
        step = _ground(lifted, binding)
        if not step.applicable(state):
            return None
        state = step.apply(state)
    return state


# --- Equivalence -----------------------------------------------------------------------------------------------------


def isomorphisms(
    left: Problem, right: Problem, left_atoms: State, right_atoms: State, typed: bool = True
) -> Iterator[Bijection]:
    """Every bijection from the left objects to the right ones that keeps types and maps the left atoms onto the right.

    A type is kept when it is written the same. Two prunings: an object becomes only one that stands in as many atoms of
    each predicate at each position, and a choice is taken back as soon as an atom has all its arguments mapped and its
    image is missing. Each bijection that is left is checked whole.
    """
    left_marks, right_marks = _marks(left, left_atoms, typed), _marks(right, right_atoms, typed)
    if sorted(map(repr, left_marks.values())) != sorted(map(repr, right_marks.values())):
        return
    twins = {o: [p for p, mark in right_marks.items() if mark == left_marks[o]] for o in left.objects}
    order = sorted(left.objects, key=lambda o: len(twins[o]))
    atoms_of = {o: [atom for atom in left_atoms if o in atom[1:]] for o in order}

    def extend(mapping: Bijection) -> Iterator[Bijection]:
        if len(mapping) == len(order):
            if renamed_state(left_atoms, mapping) == right_atoms:
                yield dict(mapping)
            return
        o = order[len(mapping)]
        for p in twins[o]:
            if p not in mapping.values():
                mapping[o] = p
                complete = [atom for atom in atoms_of[o] if mapping.keys() >= set(atom[1:])]
                if all(renamed_atom(atom, mapping) in right_atoms for atom in complete):
                    yield from extend(mapping)
                del mapping[o]

    yield from extend({})


def _marks(problem: Problem, atoms: State, typed: bool) -> dict[str, list[tuple[str, ...]]]:
    """For each object its type and the sorted list of (predicate, position) at which it stands in the atoms."""
    marks = {o: [("", type_ if typed else ROOT_TYPE)] for o, type_ in problem.objects.items()}
    for atom in sorted(atoms):
        for position, argument in enumerate(atom[1:]):
            if argument in marks:
                marks[argument].append((atom[0], str(position)))
    return {o: sorted(mark) for o, mark in marks.items()}


def equivalent(
    left: Problem, right: Problem, is_placeholder: bool = False, domain: Domain | None = None, typed: bool = True
) -> bool:
    """The definition: some bijection between the objects maps the initial state onto the initial state and the *set of
    reachable goal states* onto the set of reachable goal states. With ``is_placeholder``: one bijection maps initial
    state onto initial state and one, perhaps another, closed goal onto closed goal; where one side has no goal state
    neither may the other.
    """
    if len(left.objects) != len(right.objects):
        return False
    scenes = isomorphisms(left, right, left.init, right.init, typed)
    if is_placeholder:
        if next(scenes, None) is None:
            return False
        left_goal, right_goal = closure(left, domain, typed), closure(right, domain, typed)
        if left_goal is None or right_goal is None:
            return left_goal is right_goal
        return next(isomorphisms(left, right, left_goal, right_goal, typed), None) is not None
    first = next(scenes, None)
    if first is None:
        return False
    left_states, right_states = goal_states(left, domain, typed), goal_states(right, domain, typed)
    if len(left_states) != len(right_states):
        return False
    return maps_onto(first, left_states, right_states) or any(maps_onto(s, left_states, right_states) for s in scenes)


def maps_onto(bijection: Bijection, left: frozenset[State], right: frozenset[State]) -> bool:
    """True when the bijection maps the one set of states onto the other (equal in number: then into is onto)."""
    image = {atom: renamed_atom(atom, bijection) for atom in frozenset().union(*left)}
    return len(left) == len(right) and all(frozenset(image[atom] for atom in state) in right for state in left)
