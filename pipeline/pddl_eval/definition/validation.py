"""The validator: executes a plan step by step and says where it fails and why.

Everything that runs a plan asks here: the check of what planners find, and the validity of plans that models write. It
works on atoms, straight from the definitions (the paper, definition 1; for what sets of atoms cannot say ``formulas``),
and shares nothing with the planners.

Concurrent actions are executed together when each is applicable and none interferes with another: none changes what
another's condition or numbers read, none deletes what another adds, and the values that they give fluents do not depend
on their order. An action that is not in the domain's words (an unknown operator or object, a wrong number or type of
arguments) fails like any other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import chain, islice

from pddl_eval.definition import words
from pddl_eval.definition.budget import OutOfBudgetError, spend
from pddl_eval.definition.formulas import (
    MAX_ATOMS,
    Change,
    ConflictError,
    NoValueError,
    World,
    changes,
    grounded,
    holds,
    instances,
    is_true,
    read_by,
    read_by_effect,
    updated,
    value_of,
    with_sources,
)
from pddl_eval.definition.grounding import instance
from pddl_eval.definition.model import (
    TOTAL_TIME,
    UPDATES,
    Action,
    Atom,
    Domain,
    Formula,
    Operator,
    Problem,
    State,
    Types,
    show_atom,
)
from pddl_eval.definition.verdict import PlanVerdict

NO_VALUES: Mapping[Atom, Fraction] = {}

_WORST_FIRST = (PlanVerdict.UNKNOWN_ACTION, PlanVerdict.WRONG_ARGUMENTS, PlanVerdict.PRECONDITION)
"""Which fault of several concurrent actions is the step's."""

ACTIONS_KEPT = 20_000
"""Ground operators kept, a kilobyte each: the actions of a reference's plan stand in most of its answers."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a step cannot be executed: the kind of fault, a sentence, and the conditions that do not hold.

    A missing condition is an atom, ``("not", atom)`` or another formula of the precondition with objects for its
    parameters.
    """

    verdict: PlanVerdict
    reason: str
    missing: tuple[Formula, ...] = ()


START = 0
"""The number of the initial state among the steps, which count from 1."""


@dataclass(frozen=True, slots=True)
class Execution:
    """How far a plan got.

    ``steps`` are the operators of each step that was executed, with the effects that they had there; ``updates`` are
    the values that it gave fluents. ``state`` and ``values`` are those after the last of them; what is derived is no
    part of a state. ``failed_step`` is the number, from 1, of the first step that could not be executed and ``failure``
    says why; None where every step could. ``unmet`` are the conjuncts of the goal that do not hold at the end.
    ``goal_share`` is the share of its conjuncts that do, a ``forall`` counted as what it stands for; 1.0 where there
    are none. ``metric`` is the value of the problem's metric at the end, None where it has none or where that is
    not defined.
    """

    steps: tuple[tuple[Operator, ...], ...]
    updates: tuple[Mapping[Atom, Fraction], ...]
    state: State
    values: Mapping[Atom, Fraction]
    failed_step: int | None
    failure: Failure | None
    unmet: tuple[Formula, ...]
    goal_share: float
    has_metric: bool
    metric: Fraction | None

    @property
    def verdict(self) -> PlanVerdict:
        """``VALID``, ``GOAL_NOT_REACHED`` or why the first step that failed did."""
        if self.failure is not None:
            return self.failure.verdict
        return PlanVerdict.GOAL_NOT_REACHED if self.unmet else PlanVerdict.VALID

    @property
    def reason(self) -> str:
        """Why the first step that failed did; empty where none did."""
        return "" if self.failure is None else self.failure.reason

    @property
    def missing(self) -> tuple[Formula, ...]:
        """What does not hold: conditions of the first step that failed, else of the goal."""
        return self.unmet if self.failure is None else self.failure.missing

    @property
    def reaches_goal(self) -> bool:
        """True where every step was executed and the goal holds at the end: the plan is valid."""
        return self.failed_step is None and not self.unmet

    @property
    def cost(self) -> Fraction | None:
        """The value of the problem's metric, else the number of actions; None where the plan is not valid."""
        if not self.reaches_goal:
            return None
        return self.metric if self.has_metric else Fraction(sum(map(len, self.steps)))


def without_costs(problem: Problem, domain: Domain) -> Domain:
    """The domain in which a problem is solved: where formulas say no more than costs and it has no numbers, none."""
    if problem.has_numbers or domain.outside_strips or not any(operator.formulas for operator in domain.operators):
        return domain
    return replace(domain, operators=tuple(replace(operator, formulas=()) for operator in domain.operators))


def execute_actions(plan: Iterable[Action], problem: Problem, domain: Domain) -> Execution:
    """Execute actions one after the other, as planners plan them (``without_costs``)."""
    return execute([{action} for action in plan], problem, without_costs(problem, domain))


def execute(plan: Iterable[Set[Action]], problem: Problem, domain: Domain) -> Execution:
    """Execute the steps of a plan, each a set of actions, up to the first that fails.

    Nothing in the domain is refused (``pddl.not_executed``). Raises ``OutOfBudgetError``.

    >>> lamp = Domain("d", {}, {}, {}, (Operator("switch", (), frozenset({("off",)}), frozenset(),
    ...                                          frozenset({("on",)}), frozenset({("off",)})),))
    >>> dark = Problem("p", "d", {}, frozenset({("off",)}), frozenset())
    >>> execute([{("switch",)}, {("switch",)}], dark, lamp).reason
    '(switch) needs (off)'
    """
    world = World(problem, domain)
    done: list[tuple[Operator, ...]] = []
    updates: list[Mapping[Atom, Fraction]] = []
    failed_step, failure = None, None
    for number, step in enumerate(plan, 1):
        found = taken(step, world)
        if isinstance(found, Failure):
            failed_step, failure = number, found
            break
        operators, values = found
        world.change(operators, values)
        done.append(operators)
        updates.append(values)
        spend(len(operators))
    conjuncts, metric = problem.conjuncts, problem.metric
    return Execution(
        steps=tuple(done),
        updates=tuple(updates),
        state=frozenset(world.atoms),
        values=world.values,
        failed_step=failed_step,
        failure=failure,
        unmet=(*sorted(problem.goal - world.true), *[each for each in conjuncts if not is_true(each, world)]),
        goal_share=_goal_share(problem, world),
        has_metric=metric is not None,
        metric=None if metric is None else _metric(metric, world, len(done)),
    )


def _goal_share(problem: Problem, world: World) -> float:
    conjuncts: set[Formula] = {*problem.goal, *instances(("and", *problem.conjuncts), world)}
    return 1.0 - sum(not is_true(each, world) for each in conjuncts) / len(conjuncts) if conjuncts else 1.0


def is_goal(problem: Problem, world: World) -> bool:
    """Whether the goal holds in a state."""
    return problem.goal <= world.true and all(is_true(formula, world) for formula in problem.conjuncts)


def _metric(metric: Formula, world: World, steps: int) -> Fraction | None:
    """The value of a metric; ``total-time`` is the number of steps."""
    world.values[TOTAL_TIME] = Fraction(steps)
    try:
        return value_of(metric[1], world)
    except NoValueError:
        return None
    finally:
        del world.values[TOTAL_TIME]


@lru_cache(maxsize=ACTIONS_KEPT)
def ground_operator(action: Action, domain: Domain) -> Operator | Failure:
    """The operator with the action's arguments, taken in order, or by name where each is written ``name=object``.

    A failure where no objects make such an operator.

    >>> lamp = Domain("d", {}, {}, {}, (Operator("switch", (), frozenset({("off",)}), *[frozenset()] * 3),))
    >>> ground_operator(("switch",), lamp).preconditions
    frozenset({('off',)})
    """
    name, *arguments = action
    operator = next((each for each in domain.operators if each.name == name), None)
    if operator is None:
        known = [each.name for each in domain.operators]
        return Failure(PlanVerdict.UNKNOWN_ACTION, words.unknown_action(action, known))
    variables = operator.action[1:]
    arguments = _in_order(arguments, variables)
    if len(arguments) != len(variables):
        why = words.wrong_arguments(action, len(variables), len(arguments))
        return Failure(PlanVerdict.WRONG_ARGUMENTS, why)
    ground = instance(operator, arguments)
    if isinstance(ground, Operator):
        if not operator.formulas:
            return ground
        binding = dict(zip(variables, arguments, strict=True))
        return replace(ground, formulas=tuple((part, grounded(each, binding)) for part, each in operator.formulas))
    _, one, other = ground
    missing: Formula = ("not", ground) if one == other else ground
    return Failure(PlanVerdict.PRECONDITION, words.different((name, *arguments), one, other), (missing,))


def _in_order(arguments: list[str], variables: Sequence[str]) -> list[str]:
    """The arguments, in the order of the variables if each is written ``name=object``."""
    named = dict(argument.split("=", 1) for argument in arguments if "=" in argument)
    if named and len(named) == len(arguments) and sorted(f"?{key}" for key in named) == sorted(variables):
        return [named[variable[1:]].strip() for variable in variables]
    return arguments


def effects_of(step: Sequence[Operator]) -> tuple[State, State]:
    """What the operators of a step add and delete together."""
    added: State = frozenset().union(*(operator.add_effects for operator in step))
    return added, frozenset().union(*(operator.delete_effects for operator in step)) - added


def last_changes(execution: Execution) -> dict[Formula, int]:
    """The last step that added or deleted each atom, for those that one did."""
    steps = enumerate(map(effects_of, execution.steps), 1)
    return {atom: number for number, (added, deleted) in steps for atom in added | deleted}


def taken(step: Set[Action], world: World) -> tuple[tuple[Operator, ...], Mapping[Atom, Fraction]] | Failure:
    """The step's operators with the effects that they have now, and the values that they give; or why it cannot be."""
    operators = [operator_of(action, world) for action in (step if len(step) == 1 else sorted(step))]
    faults = [operator for operator in operators if isinstance(operator, Failure)]
    if faults:
        return min(faults, key=lambda fault: _WORST_FIRST.index(fault.verdict))
    found: list[Operator] = []
    updates: list[list[Change]] = []
    for operator in operators:
        assert isinstance(operator, Operator)
        acting = _applied(operator, world)
        if isinstance(acting, Failure):
            return acting
        found.append(acting[0])
        updates.append(acting[1])
    if len(found) > 1:
        failure = _interference(found, updates, world)
        if failure is not None:
            return failure
    if not any(updates):
        return tuple(found), NO_VALUES
    try:
        return tuple(found), updated(world, [update for each in updates for update in each])
    except ConflictError as conflict:
        shown = " and ".join(show_atom(operator.action) for operator in found)
        return Failure(PlanVerdict.INTERFERENCE, f"{shown}: the effects on {conflict} contradict each other")
    except NoValueError as error:
        shown = " and ".join(show_atom(operator.action) for operator in found)
        return Failure(PlanVerdict.PRECONDITION, f"{shown}: {error}")


def operator_of(action: Action, world: World) -> Operator | Failure:
    """The action's operator, if its name and its arguments make one, whether or not it can be applied."""
    operator = ground_operator(action, world.domain)
    if isinstance(operator, Operator):
        return misfit(action, operator.parameters, world) or operator
    if operator.verdict is not PlanVerdict.PRECONDITION:
        return operator
    lifted = next(each for each in world.domain.operators if each.name == action[0])
    arguments = _in_order([*action[1:]], lifted.action[1:])
    parameters = [(name, types) for name, (_, types) in zip(arguments, lifted.parameters, strict=True)]
    return misfit(action, parameters, world) or operator  # Before an equation that does not hold.


def misfit(action: Action, parameters: Iterable[tuple[str, Types]], world: World) -> Failure | None:
    """Which of an action's arguments is no object, or none of the parameter's type."""
    for argument, types in parameters:
        type_ = world.objects.get(argument)
        if type_ is None:
            return Failure(PlanVerdict.WRONG_ARGUMENTS, words.no_object(action, argument))
        if type_ not in types and not world.fits(argument, types):
            why = words.not_of_type(action, argument, world.types_of(argument), types)
            return Failure(PlanVerdict.WRONG_ARGUMENTS, why)
    return None


def _applied(operator: Operator, world: World) -> tuple[Operator, list[Change]] | Failure:
    """The operator with the effects that it has now and the updates of fluents, or why it cannot be applied."""
    if not operator.preconditions <= world.true:
        lacking = tuple(sorted(operator.preconditions - world.true))
        return Failure(PlanVerdict.PRECONDITION, words.needs(operator.action, lacking), lacking)
    if not operator.negative_preconditions.isdisjoint(world.true):
        true = sorted(operator.negative_preconditions & world.true)
        why = words.needs_false(operator.action, true)
        return Failure(PlanVerdict.PRECONDITION, why, tuple(("not", atom) for atom in true))
    return _acting(operator, world) if operator.formulas else (operator, [])


def _acting(operator: Operator, world: World) -> tuple[Operator, list[Change]] | Failure:
    """The operator with the effects that its formulas have in this state, and the updates of fluents among them."""
    shown = show_atom(operator.action)
    try:
        conditions = [formula for part, formula in operator.formulas if part == ":precondition"]
        missing = tuple([formula for formula in conditions if not holds(formula, world)])
        if missing:
            return Failure(PlanVerdict.PRECONDITION, words.needs(operator.action, missing), missing)
        effects = (changes(effect, world) for part, effect in operator.formulas if part == ":effect")
        found = list(islice(chain.from_iterable(effects), MAX_ATOMS + 1))
        if len(found) > MAX_ATOMS:
            raise OutOfBudgetError(f"{shown} changes more than {MAX_ATOMS:,} atoms and numbers")
        updates = [change for change in found if change.verb in UPDATES]
        updated(world, updates)
    except NoValueError as error:
        return Failure(PlanVerdict.PRECONDITION, f"{shown}: {error}")
    except ConflictError as conflict:
        return Failure(PlanVerdict.INTERFERENCE, f"{shown}: the effects on {conflict} contradict each other")
    added = operator.add_effects | {change.target for change in found if change.verb == "add"}
    deleted = operator.delete_effects | {change.target for change in found if change.verb == "delete"}
    return replace(operator, add_effects=added, delete_effects=deleted), updates


_Claim = tuple[Action, str, str, Set[Atom]]
"""An action, what it does, what that concerns, and with which atoms."""


def _interference(operators: list[Operator], updates: list[list[Change]], world: World) -> Failure | None:
    """Which two of the operators cannot happen at once.

    None deletes what another needs or adds, or adds what another forbids. Where one leaves STRIPS there are no moving
    targets (Fox and Long): no operator adds, deletes or updates what another reads, itself or in a rule of a derived
    predicate, and none deletes what another adds: as written, whether or not it was so before.
    """
    claims: list[_Claim] = []
    changes: list[_Claim] = []
    moving: list[_Claim] = []
    beyond_strips = world.strata or any(operator.formulas for operator in operators)
    for each, own in zip(operators, updates, strict=True):
        claims.append((each.action, "needs", "truth", each.preconditions))
        claims.append((each.action, "adds", "truth", each.add_effects))
        claims.append((each.action, "forbids", "falsity", each.negative_preconditions))
        changes.append((each.action, "deletes", "truth", each.delete_effects - each.add_effects))
        changes.append((each.action, "adds", "falsity", each.add_effects))
        if beyond_strips:
            claims.append((each.action, "reads", "value", with_sources(_read_by(each, world), world)))
            changed = each.add_effects | each.delete_effects | {update.target for update in own}
            moving.append((each.action, "changes", "value", changed))
            moving.append((each.action, "changes", "truth", each.delete_effects))
    claimed: dict[tuple[str, Atom], list[tuple[Action, str]]] = {}
    for action, verb, concern, atoms in claims:
        for atom in atoms:
            claimed.setdefault((concern, atom), []).append((action, verb))
    for action, verb, concern, atoms in [*changes, *moving]:
        for atom in sorted(atoms):
            for other, claim in claimed.get((concern, atom), ()):
                if other != action:
                    both = f"{show_atom(action)} and {show_atom(other)} interfere"
                    reason = f"{both}: the first {verb} {show_atom(atom)}, which the second {claim}"
                    return Failure(PlanVerdict.INTERFERENCE, reason)
    return None


def _read_by(operator: Operator, world: World) -> set[Atom]:
    """The atoms and fluents that occur in an operator's conditions, and in the numbers of the effects that happen."""
    read = {*operator.preconditions, *operator.negative_preconditions}
    for part, formula in operator.formulas:
        read.update(read_by_effect(formula, world) if part == ":effect" else read_by(formula, world))
    return read


def _listed(atoms: Iterable[Atom]) -> str:
    return " and ".join(show_atom(atom) for atom in sorted(atoms))
