"""The validator: executes a plan step by step and says where it fails and why.

Everything that runs a plan asks here: the check of what planners find, and the validity of plans that models write. It
works on atoms, straight from the definitions (the paper, definition 1; for what sets of atoms cannot say ``formulas``),
and shares nothing with the planners.

A plan is a list of happenings (``happenings``), each a set of operators: the actions of a step, or what starts, what
ends and what is so at a time. A durative action is an operator at its start, another at its end, and conditions that
hold after each happening in between (Fox and Long, definition 18).

Concurrent actions are executed together when each is applicable and none interferes with another: none changes what
another's condition or numbers read, none deletes what another adds, and the values that they give fluents do not depend
on their order. An action that is not in the domain's words (an unknown operator or object, a wrong number or type of
arguments) fails like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
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
from pddl_eval.definition.happenings import TOLERANCE, Agenda, Event, start_of
from pddl_eval.definition.model import (
    AT_END,
    AT_START,
    DURATION,
    EQUALITY,
    IS_VIOLATED,
    OVER_ALL,
    PREFERENCE,
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
    fluents_of,
    in_order_of,
    show_atom,
    show_formula,
)
from pddl_eval.definition.pddl import DURATION_PART
from pddl_eval.definition.trajectory import Broken, Trajectory
from pddl_eval.definition.verdict import PlanVerdict

NO_VALUES: Mapping[Atom, Fraction] = {}

_WORST_FIRST = (
    *(PlanVerdict.UNKNOWN_ACTION, PlanVerdict.WRONG_ARGUMENTS),
    *(PlanVerdict.PRECONDITION, PlanVerdict.DURATION),
)
"""Which fault of several concurrent actions is the step's."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a step cannot be executed: the kind of fault, a sentence, and the conditions that do not hold.

    A missing condition is an atom, ``("not", atom)`` or another formula of the precondition with objects for its
    parameters. ``place`` is that of the operator among those of the happening, and ``time`` is that of the happening.
    """

    verdict: PlanVerdict
    reason: str
    missing: tuple[Formula, ...] = ()
    place: int = 0
    time: Fraction | None = None


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

    Where time counts, ``steps`` are the happenings, and ``times`` say when each of the states begins, the initial one
    at 0; else there are no times. ``length`` is the number of actions that began. ``broken`` are those of the
    ``constraints`` (their number) on the states passed through that do not hold, and ``violated`` the preferences, each
    with how often it was violated; those of the goal and of the trajectory count where no step failed.
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
    length: int
    times: tuple[Fraction, ...]
    constraints: int
    broken: tuple[Broken, ...]
    violated: Mapping[str, int]

    @property
    def verdict(self) -> PlanVerdict:
        """``VALID``, or why the first step that failed did, else ``CONSTRAINT`` or ``GOAL_NOT_REACHED``."""
        if self.failure is not None:
            return self.failure.verdict
        if self.broken:
            return PlanVerdict.CONSTRAINT
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
        """True where every step was executed, constraints hold, and the goal does at the end: the plan is valid."""
        return self.failed_step is None and not self.unmet and not self.broken

    @property
    def constraint_share(self) -> float | None:
        """The share of the constraints that hold; None where there are none."""
        return 1.0 - len(self.broken) / self.constraints if self.constraints else None

    @property
    def cost(self) -> Fraction | None:
        """The value of the problem's metric, else the number of actions; None where the plan is not valid."""
        if not self.reaches_goal:
            return None
        return self.metric if self.has_metric else Fraction(self.length)


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
    world, agenda = World(problem, domain), Agenda(plan, problem, domain)
    trajectory = Trajectory(problem, world)
    done: list[tuple[Operator, ...]] = []
    updates: list[Mapping[Atom, Fraction]] = []
    times = [Fraction(0)]
    under_way: dict[tuple[int, Action, Fraction | None], Operator] = {}
    failed_step: int | None = None
    length, failure = 0, None
    for time, events in agenda:
        for place, event in enumerate(events):  # which may grow by what ends at once
            events[place] = _with_operator(event, world)
            agenda.begin(events[place])
        at_a_time = agenda.is_timed or any(start_of(event.action) is not None for event in events)
        happening = [_operator_at(event, world) for event in events]
        found = together(happening, world, at_a_time)
        if isinstance(found, Failure):
            event = events[found.place]
            failed_step = event.step or max(1, *(each.step for each in events))
            failure = _at_time(found, event, happening) if agenda.is_timed else found
            break
        operators, values = found
        trajectory.prefer(operators, world)
        world.change(operators, values)
        trajectory.record(time, world)
        done.append(operators)
        updates.append(values)
        times.append(time)
        length += sum(event.half != AT_END and event.step > 0 for event in events)
        spend(len(operators))
        for event in events:
            if event.half == AT_START:
                under_way[event.step, event.action, event.duration] = event.operator.halves[OVER_ALL]
            elif event.half == AT_END:
                under_way.pop((event.step, event.action, event.duration), None)  # None of one that is written twice
        if under_way and (broken := _broken_invariant(under_way, world, operators, time)):
            failed_step, failure = broken
            break
    if failure is None:
        trajectory.end(world)
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
        metric=None if metric is None else _metric(metric, world, agenda.makespan, trajectory.violated),
        length=length,
        times=tuple(times) if agenda.is_timed else (),
        constraints=len(trajectory.constraints),
        broken=tuple(trajectory.broken()),
        violated={name: count for name, count in sorted(trajectory.violated.items()) if count},
    )


# Happenings of durative actions, and timed literals


def _with_operator(event: Event, world: World) -> Event:
    """The event with its operator, and with the duration that is fixed in this state where the plan gives none."""
    if event.operator is not None:  # the end of what has begun
        return event
    if event.literal:
        return event._replace(operator=_timed_literal(event))
    operator = operator_of(event.action, world, event.duration)
    if event.duration is None and isinstance(operator, Operator) and operator.halves:
        asked = (each for half in operator.halves.values() for part, each in half.formulas if part == DURATION_PART)
        with suppress(NoValueError):
            fixed = next((value_of(each[2], world) for each in asked if each[0] == EQUALITY), None)
            return event._replace(duration=fixed, operator=operator_of(event.action, world, fixed))
    return event._replace(operator=operator)


def _operator_at(event: Event, world: World) -> Operator | Failure:
    """The operator of an event, which is half of that of a durative action; or why there is none."""
    operator: Operator | Failure = event.operator
    if isinstance(operator, Failure) or not event.half:
        return operator
    lasts = event.duration
    if lasts is None:
        return Failure(PlanVerdict.DURATION, words.no_duration(event.action))
    half = operator.halves[event.half]
    for part, asked in half.formulas:
        try:
            if part == DURATION_PART and (lasts < 0 or not _TAKES[asked[0]](lasts - value_of(asked[2], world))):
                why = words.wrong_duration(event.action, lasts, asked)
                return Failure(PlanVerdict.DURATION, why, (asked,))
        except NoValueError as error:
            return Failure(PlanVerdict.DURATION, f"{show_atom(event.action)}: {error}")
    return half


def in_words(operator: Operator) -> str:
    """An action of a happening, or what of it happens there.

    >>> in_words(Operator("fly", (), *[frozenset()] * 4, when=("at", "end")))
    '(fly) ends'
    """
    return show_atom(operator.action) + (f" {operator.when[1]}s" if operator.when else "")


_TAKES: Mapping[Formula, Callable[[Fraction], bool]] = {
    "<": lambda longer: longer < 0,
    "<=": lambda longer: longer <= TOLERANCE,
    EQUALITY: lambda longer: abs(longer) < TOLERANCE,
    ">=": lambda longer: longer >= -TOLERANCE,
    ">": lambda longer: longer > 0,
}
"""Whether a duration that is so much longer than the value of a constraint is what it asks for."""


def _timed_literal(event: Event) -> Operator:
    """What makes it so at that time."""
    head, rest = event.literal[0], event.literal[1:]
    parameters = tuple((word, ()) for word in (*event.action[1:], show_formula(event.literal)))
    effect = ("assign", *rest) if head == EQUALITY else event.literal
    nothing: State = frozenset()
    return Operator("at", parameters, nothing, nothing, nothing, nothing, ((":effect", effect),))


def _broken_invariant(
    under_way: Mapping[tuple[int, Action, Fraction | None], Operator],
    world: World,
    step: Sequence[Operator],
    time: Fraction,
) -> tuple[int, Failure] | None:
    """The first condition over all of an action under way that a happening broke, with the step of that action."""
    for (number, action, _), condition in under_way.items():
        if condition.applicable(world.true) and all(is_true(each, world) for _, each in condition.formulas):
            continue
        asked: list[Formula] = [*sorted(condition.preconditions), *(formula for _, formula in condition.formulas)]
        asked += [("not", each) for each in sorted(condition.negative_preconditions)]
        broken = tuple(each for each in asked if not is_true(each, world))
        why = words.invariant(action, broken, map(in_words, step), time)
        return number, Failure(PlanVerdict.INVARIANT, why, broken, time=time)
    return None


def _at_time(failure: Failure, event: Event, happening: Iterable[Operator | Failure]) -> Failure:
    """The failure, which says when it is, and which operator of the happening gives what is missing too late."""
    operators = (each for each in happening if isinstance(each, Operator))
    made = ((each, {*each.add_effects, *(("not", atom) for atom in each.delete_effects)}) for each in operators)
    late = next((in_words(each) for each, changed in made if not changed.isdisjoint(failure.missing)), "")
    why = words.at_time(failure.reason, event.time, "".join(event.half[1:]), late)
    return replace(failure, reason=why, time=event.time)


def _goal_share(problem: Problem, world: World) -> float:
    conjuncts: set[Formula] = {*problem.goal, *instances(("and", *problem.conjuncts), world)}
    conjuncts = {each for each in conjuncts if each[0] != PREFERENCE}
    return 1.0 - sum(not is_true(each, world) for each in conjuncts) / len(conjuncts) if conjuncts else 1.0


def is_goal(problem: Problem, world: World) -> bool:
    """Whether the goal holds in a state."""
    return problem.goal <= world.true and all(is_true(formula, world) for formula in problem.conjuncts)


def _metric(metric: Formula, world: World, makespan: Fraction, violated: Mapping[str, int]) -> Fraction | None:
    """The value of a metric; ``total-time`` is when the last action ends, without times the number of steps."""
    own = {TOTAL_TIME: makespan}
    for fluent in fluents_of(metric[1]):
        if fluent[0].startswith(f"{IS_VIOLATED} "):
            own[fluent] = Fraction(violated[fluent[0].removeprefix(f"{IS_VIOLATED} ")])
    world.values.update(own)
    try:
        return value_of(metric[1], world)
    except NoValueError:
        return None
    finally:
        for fluent in own:
            del world.values[fluent]


def ground_operator(action: Action, world: World, duration: Fraction | None = None) -> Operator | Failure:
    """The operator with the action's arguments, taken in order, or by name where each is written ``name=object``.

    Its halves take this ``duration``, if one is known. A failure where no objects make such an operator.

    >>> lamp = Domain("d", {}, {}, {}, (Operator("switch", (), frozenset({("off",)}), *[frozenset()] * 3),))
    >>> ground_operator(("switch",), World(Problem("p", "d", {}, frozenset(), frozenset()), lamp)).preconditions
    frozenset({('off',)})
    """
    name, *arguments = action
    operator = next((each for each in world.domain.operators if each.name == name), None)
    if operator is None:
        known = [each.name for each in world.domain.operators]
        return Failure(PlanVerdict.UNKNOWN_ACTION, words.unknown_action(action, known))
    variables = operator.action[1:]
    arguments = [*in_order_of(variables, arguments)]
    if len(arguments) != len(variables):
        why = words.wrong_arguments(action, len(variables), len(arguments))
        return Failure(PlanVerdict.WRONG_ARGUMENTS, why)
    binding = dict(zip(variables, arguments, strict=True))
    if operator.halves:
        lasts: Formula = DURATION if duration is None else ("/", str(duration.numerator), str(duration.denominator))
        own = {**binding, DURATION: lasts}
        halves = {}
        for when, (half, make) in world.halves[name].items():
            said = [(part, grounded(each, binding if part == DURATION_PART else own)) for part, each in half.formulas]
            halves[when] = make(tuple(arguments), tuple(said))
        return Operator(name, halves[AT_START].parameters, *operator.parts, halves=halves)
    ground = instance(operator, arguments)
    if isinstance(ground, Operator):
        formulas = tuple([(part, grounded(each, binding)) for part, each in operator.formulas])
        return replace(ground, formulas=formulas) if formulas else ground
    _, one, other = ground
    missing: Formula = ("not", ground) if one == other else ground
    return Failure(PlanVerdict.PRECONDITION, words.different((name, *arguments), one, other), (missing,))


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
    return together([operator_of(action, world) for action in (step if len(step) == 1 else sorted(step))], world)


def together(
    operators: Sequence[Operator | Failure], world: World, at_a_time: bool = False
) -> tuple[tuple[Operator, ...], Mapping[Atom, Fraction]] | Failure:
    """As ``taken``, for the operators of a happening, which may have a time; where one is a fault that is why."""
    faults = [replace(each, place=place) for place, each in enumerate(operators) if isinstance(each, Failure)]
    if faults:
        return min(faults, key=lambda fault: _WORST_FIRST.index(fault.verdict))
    found: list[Operator] = []
    updates: list[list[Change]] = []
    for place, operator in enumerate(operators):
        assert isinstance(operator, Operator)
        acting = _applied(operator, world)
        if isinstance(acting, Failure):
            return replace(acting, place=place)
        found.append(acting[0])
        updates.append(acting[1])
    if len(found) > 1:
        failure = _interference(found, updates, world, at_a_time)
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


def operator_of(action: Action, world: World, duration: Fraction | None = None) -> Operator | Failure:
    """The action's operator, if its name and its arguments make one, whether or not it can be applied."""
    found: Operator | Failure | None = world.operators.get((action, duration))
    if found is None:
        found = world.operators[action, duration] = _operator_of(action, world, duration)
    return found


def _operator_of(action: Action, world: World, duration: Fraction | None) -> Operator | Failure:
    operator = ground_operator(action, world, duration)
    if isinstance(operator, Operator):
        return misfit(action, operator.parameters, world) or operator
    if operator.verdict is not PlanVerdict.PRECONDITION:
        return operator
    lifted = next(each for each in world.domain.operators if each.name == action[0])
    arguments = in_order_of(lifted.action[1:], action[1:])
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
    try:
        conditions = [formula for part, formula in operator.formulas if part == ":precondition"]
        missing = tuple([formula for formula in conditions if not holds(formula, world)])
        if missing:
            return Failure(PlanVerdict.PRECONDITION, words.needs(operator.action, missing), missing)
        effects = [changes(effect, world) for part, effect in operator.formulas if part == ":effect"]
        if not effects:
            return operator, []
        found = list(islice(chain.from_iterable(effects), MAX_ATOMS + 1))
        if len(found) > MAX_ATOMS:
            shown = show_atom(operator.action)
            raise OutOfBudgetError(f"{shown} changes more than {MAX_ATOMS:,} atoms and numbers")
        updates = [change for change in found if change.verb in UPDATES]
        updated(world, updates)
    except NoValueError as error:
        return Failure(PlanVerdict.PRECONDITION, f"{show_atom(operator.action)}: {error}")
    except ConflictError as conflict:
        shown = show_atom(operator.action)
        return Failure(PlanVerdict.INTERFERENCE, f"{shown}: the effects on {conflict} contradict each other")
    if len(found) == len(updates):
        return operator, updates
    added = operator.add_effects | {change.target for change in found if change.verb == "add"}
    deleted = operator.delete_effects | {change.target for change in found if change.verb == "delete"}
    return replace(operator, add_effects=added, delete_effects=deleted), updates


_Claim = tuple[int, str, str, Set[Atom]]
"""An operator, what it does, what that concerns, and with which atoms."""


def _interference(
    operators: list[Operator], updates: list[list[Change]], world: World, at_a_time: bool
) -> Failure | None:
    """Which two of the operators cannot happen at once.

    None deletes what another needs or adds, or adds what another forbids. Where one leaves STRIPS or they have a time,
    there are no moving targets (Fox and Long): no operator adds, deletes or updates what another reads, itself or in a
    rule of a derived predicate, and none deletes what another adds: as written, whether or not it was so before.
    """
    claims: list[_Claim] = []  # of operators by their places: two may be of one action
    changes: list[_Claim] = []
    moving: list[_Claim] = []
    no_moving_targets = at_a_time or world.strata or any(operator.formulas for operator in operators)
    for place, (each, own) in enumerate(zip(operators, updates, strict=True)):
        claims.append((place, "needs", "truth", each.preconditions))
        claims.append((place, "adds", "truth", each.add_effects))
        claims.append((place, "forbids", "falsity", each.negative_preconditions))
        changes.append((place, "deletes", "truth", each.delete_effects - each.add_effects))
        changes.append((place, "adds", "falsity", each.add_effects))
        if no_moving_targets:
            claims.append((place, "reads", "value", with_sources(_read_by(each, world), world)))
            changed = each.add_effects | each.delete_effects | {update.target for update in own}
            moving.append((place, "changes", "value", changed))
            moving.append((place, "changes", "truth", each.delete_effects))
    claimed: dict[tuple[str, Atom], list[tuple[int, str]]] = {}
    for place, verb, concern, atoms in claims:
        for atom in atoms:
            claimed.setdefault((concern, atom), []).append((place, verb))
    for place, verb, concern, atoms in [*changes, *moving]:
        for atom in sorted(atoms):
            for other, claim in claimed.get((concern, atom), ()):
                if other != place:
                    both = f"{show_atom(operators[place].action)} and {show_atom(operators[other].action)} interfere"
                    reason = f"{both}: the first {verb} {show_atom(atom)}, which the second {claim}"
                    return Failure(PlanVerdict.INTERFERENCE, reason, place=place)
    return None


def _read_by(operator: Operator, world: World) -> set[Atom]:
    """The atoms and fluents that occur in an operator's conditions, and in the numbers of the effects that happen."""
    read = {*operator.preconditions, *operator.negative_preconditions}
    for part, formula in operator.formulas:
        read.update(read_by_effect(formula, world) if part == ":effect" else read_by(formula, world))
    return read


def _listed(atoms: Iterable[Atom]) -> str:
    return " and ".join(show_atom(atom) for atom in sorted(atoms))
