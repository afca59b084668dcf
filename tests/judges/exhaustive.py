"""The judge on values: ``interpreter`` and ``equivalence`` for STRIPS problems and domains of ``definition.model``.

The three domains are written here a second time and share no text with the pipeline's; other domains are given as
values. It serves problems of up to about ten objects. Only tests import it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from pddl_eval.definition.model import ROOT_TYPE, Action, Atom, Domain, Operator, Problem, State

from tests.judges import equivalence, interpreter
from tests.judges.equivalence import Bijection
from tests.judges.equivalence import renamed as renamed_state

__all__ = ["renamed_state"]

STATE_LIMIT = 20_000
"""How many states are enumerated before a problem is called too large."""


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


# --- Values as the interpreter has them ------------------------------------------------------------------------------


def task_of(problem: Problem, domain: Domain | None = None, typed: bool = True) -> interpreter.Task:
    """The problem in the domain that it names, unless another is given; ``typed=False`` ignores all types.

    An object of a type that the domain does not declare is an ``object``.
    """
    domain = domain or DOMAINS[problem.domain]
    assert len({each.name for each in domain.operators}) == len(domain.operators)
    objects = {**domain.constants, **problem.objects}
    return interpreter.Task(
        parents={name: domain.several.get(("types", name), (parent,)) for name, parent in domain.types.items()},
        objects={name: (type_ if type_ in domain.types else ROOT_TYPE,) for name, type_ in objects.items()},
        actions={
            each.name: interpreter.Action(
                list(each.parameters),
                _conjunction(each.preconditions, each.negative_preconditions),
                _conjunction(each.add_effects, each.delete_effects),
            )
            for each in domain.operators
        },
        initial=interpreter.State(problem.init, {}),
        goal=_conjunction(problem.goal),
        with_types=typed,
    )


def _conjunction(true: State, false: State = frozenset()) -> interpreter.Tree:
    return ["and", *map(list, sorted(true)), *(["not", list(atom)] for atom in sorted(false))]


def side_of(
    problem: Problem, domain: Domain | None = None, typed: bool = True, limit: int = STATE_LIMIT
) -> equivalence.Side:
    """The problem as the judge of pairs has it."""
    domain = domain or DOMAINS[problem.domain]
    value = frozenset(domain.types.items()), frozenset(domain.constants.items()), domain.operators
    objects = {name: (type_,) for name, type_ in problem.objects.items()}
    return equivalence.Side.of(value, task_of(problem, domain, typed), objects, limit)


def steps(problem: Problem, domain: Domain | None = None, typed: bool = True) -> Callable[[State], dict[Action, State]]:
    """What can be done in a state, and where it leads."""
    task = task_of(problem, domain, typed)
    return lambda state: {
        action: after.atoms for action, after in interpreter.successors(task, interpreter.State(state, {}))
    }


# --- What the definitions say ----------------------------------------------------------------------------------------


def reachable(
    problem: Problem, domain: Domain | None = None, typed: bool = True, limit: int = STATE_LIMIT
) -> frozenset[State] | None:
    """All states reachable from the initial state, or None when they are more than ``limit``."""
    states = side_of(problem, domain, typed, limit).states
    return None if states is None else frozenset(state.atoms for state in states)


def goal_states(problem: Problem, domain: Domain | None = None, typed: bool = True) -> frozenset[State]:
    """R(g): the reachable states that contain the goal. Raises ``TooManyStates`` beyond the limit."""
    states = side_of(problem, domain, typed).goal_states
    if states is None:
        raise TooManyStates(problem.name)
    return frozenset(state.atoms for state in states)


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
    """The state that the plan leads to from the initial state; None when a step of it is not applicable."""
    end = equivalence.after(task_of(problem, domain, typed), plan)
    return end and end.atoms


def isomorphisms(
    left: Problem, right: Problem, left_atoms: State, right_atoms: State, typed: bool = True
) -> Iterator[Bijection]:
    """Every bijection of left objects onto right ones that keeps types and maps the left atoms onto the right."""
    nothing = Domain("", {}, {}, {}, ())
    sides = (side_of(each, nothing, typed) for each in (left, right))
    return equivalence.bijections(*sides, (left_atoms, frozenset()), (right_atoms, frozenset()))


def equivalent(
    left: Problem, right: Problem, is_placeholder: bool = False, domain: Domain | None = None, typed: bool = True
) -> bool:
    """Whether the problems are equivalent; where one side has no goal state neither may the other."""
    sides = (side_of(each, domain, typed) for each in (left, right))
    found = equivalence.compared(*sides, is_placeholder).equivalent
    if found is None:
        raise TooManyStates(left.name)
    return found
