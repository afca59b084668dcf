"""The judge of time, trajectory constraints and preferences, on top of the plain interpreter beside it.

Written from the papers and from the page on the language, not from the program: Fox and Long (2003, JAIR 20) on
durative actions, Gerevini, Haslum, Long, Saetti and Dimopoulos (2009, AIJ 173) on constraints and preferences. A
durative action is a simple action at its start, another one at its end, and an invariant in between (definition 18);
the simple plan that this makes is executed happening by happening (definitions 11 to 15). What the definitions leave
open is decided as follows; the page says the same.

- What begins less than 0.001 after the first of a happening belongs to it; its time is that of the first.
- A happening is a set of actions (definition 14): a step that is written twice at one time is one.
- A duration may be off by 0.001 from a bound, by less from an equation. One that is left out is what
  ``(= ?duration …)`` says in the state before the start.
- A timed literal is an action without a condition. Goals and constraints are asked after the last of them, too.
- The initial state is the state at time 0, and the first one even where an action starts at time 0.
- ``hold-during`` and ``hold-after`` ask for each state that begins in their window and for the state in force at its
  beginning.
- A formula that reads a number without a value does not hold.
- ``total-time`` is when the last action ends. A preference under ``forall`` is one for each choice of objects; one in
  a condition is violated each time that the action is executed and the condition is false.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

from tests.judges.interpreter import (
    ASSIGNMENTS,
    Action,
    Atom,
    Binding,
    Failed,
    State,
    Task,
    Tree,
    Undefined,
    as_atom,
    change,
    check_arguments,
    effects,
    execute,
    ground,
    read_domain,
    read_problem,
    satisfied,
    strata,
    tree_of,
    typed,
    value,
    with_derived,
)

TOLERANCE = Fraction(1, 1000)
SLACK = Fraction(1, 1000)
"""How far a duration may be off."""

once = dict.fromkeys
"""The steps of a plan, each once."""


def together(first: Fraction, time: Fraction) -> bool:
    """Whether what begins at a time belongs to the happening that begins first."""
    return time < first + TOLERANCE


ALWAYS: Tree = ["and"]


class Step(NamedTuple):
    """An action of a plan; a simple one has no duration, a durative one may have left it out."""

    time: Fraction
    action: Atom
    duration: Fraction | None = None


class Moment(NamedTuple):
    """A state and the time at which it begins."""

    time: Fraction
    state: State


class Fault(NamedTuple):
    """What is wrong, and with which step. Actions that begin at one time are one step; steps count from 1."""

    verdict: str
    step: int | None


@dataclass
class TimedTask:
    """A domain and a problem with time, constraints and preferences."""

    task: Task
    durations: dict[str, Tree] = field(default_factory=dict)
    """The durative actions with what is asked of their durations; their parameters and parts are in the task."""
    literals: list[tuple[Fraction, Tree]] = field(default_factory=list)
    """Timed literals: when, and which effect."""
    constraints: list[Tree] = field(default_factory=list)
    """Ground formulas with modal operators that have to hold."""
    preferences: list[tuple[str, Tree]] = field(default_factory=list)
    """Ground formulas with modal operators that should hold, each with its name."""


@dataclass(frozen=True)
class Judgement:
    """What a plan does. All faults of the first happening that has one are named: each of them is a right answer."""

    faults: frozenset[Fault]
    path: tuple[Moment, ...]
    violated: Counter[str]
    share: Fraction | None
    """The share of the constraints that hold; None without constraints or where the plan fails before its end."""
    cost: Fraction | None

    @property
    def valid(self) -> bool:
        return not self.faults


# --- Reading ---------------------------------------------------------------------------------------------------------


def read(domain_text: str, problem_text: str) -> TimedTask:
    """The task that a domain and a problem describe."""
    timed, domain = TimedTask(Task()), tree_of(domain_text)[2:]
    problem = {section[0]: section[1:] for section in tree_of(problem_text)[2:]}
    constraints = [part for key, *parts in domain if key == ":constraints" for part in parts]
    constraints += problem.pop(":constraints", [])
    derived = read_domain(timed.task, [each for each in domain if each[0] not in (":constraints", ":durative-action")])
    for key, name, *rest in domain:
        if key == ":durative-action":
            parts = dict(zip(rest[::2], rest[1::2], strict=True))
            parameters = typed(parts.get(":parameters", []))
            timed.task.actions[name] = Action(parameters, parts.get(":condition", []), parts.get(":effect", []))
            timed.durations[name] = parts[":duration"]
    facts, (goal,) = problem.get(":init", []), problem.pop(":goal", [[]])
    timed.literals = [(Fraction(each[1]), literal(each[2])) for each in facts if is_timed(each)]
    read_problem(timed.task, problem | {":init": [each for each in facts if not is_timed(each)]})
    for (name, *words), body in derived:
        for binding in timed.task.bindings(typed(words)):
            head = (name, *(binding[variable] for variable, _ in typed(words)))
            timed.task.rules.append((head, ground(timed.task, body, binding)))
    timed.task.levels = strata(timed.task)
    hard, soft = parted(timed.task, goal, {})
    timed.task.goal, timed.preferences = ["and", *hard], [(name, ["at", "end", each]) for name, each in soft]
    for each in constraints:
        hard, soft = parted(timed.task, each, {})
        timed.constraints += hard
        timed.preferences += soft
    return timed


def is_timed(fact: Tree) -> bool:
    """Whether a fact of the initial state is a timed literal, and not an atom of a predicate ``at``."""
    return fact[0] == "at" and len(fact) == 3 and isinstance(fact[2], list)


def literal(tree: Tree) -> Tree:
    return ["assign", *tree[1:]] if tree[0] == "=" else tree


def parted(task: Task, tree: Tree, binding: Binding) -> tuple[list[Tree], list[tuple[str, Tree]]]:
    """The conjuncts of a formula that are no preferences, and its preferences with their names; all of them ground."""
    head, *rest = tree or ["and"]
    if head == "preference":
        return [], [(rest[0], ground(task, rest[1], binding))]
    if head == "and":
        parts = [parted(task, each, binding) for each in rest]
    elif head == "forall":
        parts = [parted(task, rest[1], {**binding, **more}) for more in task.bindings(typed(rest[0]))]
    else:
        return [ground(task, tree, binding)], []
    return [each for hard, _ in parts for each in hard], [each for _, soft in parts for each in soft]


def part(tree: Tree, when: str) -> Tree:
    """What a condition, an effect or a duration of a durative action says of ``at start``, ``over all``, ``at end``."""
    head, *rest = tree or ["and"]
    if head in ("at", "over") and rest[0] in ("start", "end", "all"):
        return rest[1] if f"{head} {rest[0]}" == when else ALWAYS
    if head in ("and", "when"):
        return [head, *(part(each, when) for each in rest)]
    if head in ("forall", "preference"):
        return [head, rest[0], part(rest[1], when)]
    return tree if when == "at start" else ALWAYS  # A constraint on the duration that names no time.


def with_duration(tree: Tree, duration: Fraction) -> Tree:
    if isinstance(tree, list):
        return [with_duration(each, duration) for each in tree]
    return ["/", str(duration.numerator), str(duration.denominator)] if tree == "?duration" else tree


# --- Actions and happenings ------------------------------------------------------------------------------------------


@dataclass
class Event:
    """A simple action of the induced plan: a step, the start or the end of one, or a timed literal."""

    step: int | None
    key: Atom
    soft: list[tuple[str, Tree]]


@dataclass
class Running:
    """A durative action that has started: what it needs until its end."""

    step: int
    invariant: Tree


def simple(timed: TimedTask, key: Atom, step: int | None, binding: Binding, parts: Sequence[Tree]) -> Event:
    """An action with this condition, effect and constraint on its duration, filed in the task under a key of its own.

    The constraint is part of the condition (definition 18), so that it counts among what the action reads.
    """
    condition, effect, duration = parts
    hard, soft = parted(timed.task, condition, binding)
    read: list[Tree] = [["or", ALWAYS, each] for _, each in soft]  # Else the order would decide what is violated.
    asked = ["and", *hard, *read, ground(timed.task, duration, binding)]
    timed.task.instances[key] = asked, list(effects(timed.task, effect, binding))
    return Event(step, key, soft)


def about_duration(tree: Tree, duration: Fraction) -> Tree:
    """A constraint on the duration as a condition on numbers, with the tolerance."""
    head, *rest = tree
    if head == "and":
        return ["and", *(about_duration(each, duration) for each in rest)]
    own, bound = with_duration(rest, duration)
    slack: Tree = ["/", str(SLACK.numerator), str(SLACK.denominator)]
    highest, lowest = ["+", bound, slack], ["-", bound, slack]
    if head == "=":
        return ["and", ["<", lowest, own], ["<", own, highest]]
    return ["<=", own, highest] if head == "<=" else ["<=", lowest, own]


def fixed(timed: TimedTask, tree: Tree, binding: Binding, state: State) -> Fraction | None:
    """The duration that an equation fixes in a state."""
    head, *rest = tree
    if head == "and":
        found = [fixed(timed, each, binding, state) for each in rest]
        return next((each for each in found if each is not None), None)
    return value(ground(timed.task, rest[1], binding), state.numbers) if head == "=" else None


def started(
    timed: TimedTask, key: str, number: int, step: Step, state: State
) -> tuple[Event, Event | None, Running | None, Fraction]:
    """The event with which a step begins and, for a durative action, the one with which it ends, what runs, how long.

    Raises ``Failed`` where the step is no action of the domain or has no duration.
    """
    check_arguments(timed.task, [step.action])
    action = timed.task.actions[step.action[0]]
    binding = dict(zip((name for name, _ in action.parameters), step.action[1:], strict=True))
    if step.action[0] not in timed.durations:
        event = simple(timed, ("step", key), number, binding, (action.precondition, action.effect, ALWAYS))
        return event, None, None, Fraction(0)
    asked, duration = timed.durations[step.action[0]], step.duration
    if duration is None:
        with suppress(Undefined):
            duration = fixed(timed, part(asked, "at start"), binding, state)
    if duration is None or duration < 0:
        raise Failed("duration")
    begin, end = (
        simple(
            timed,
            (when, key),
            number,
            binding,
            (
                with_duration(part(action.precondition, when), duration),
                with_duration(part(action.effect, when), duration),
                about_duration(part(asked, when), duration),
            ),
        )
        for when in ("at start", "at end")
    )
    invariant, _ = parted(timed.task, with_duration(part(action.precondition, "over all"), duration), binding)
    return begin, end, Running(number, ["and", *invariant]), duration


def contradicts(task: Task, state: State, key: Atom) -> bool:
    """Whether an action gives a number two new values, by updates of which one is no increase or decrease."""
    kinds: dict[Atom, list[str]] = {}
    for condition, effect in task.instances[key][1]:
        if effect[0] in ASSIGNMENTS and satisfied(task, condition, state):
            kinds.setdefault(as_atom(effect[1]), []).append(str(effect[0]))
    return any(len(each) > 1 and not {"increase", "decrease"}.issuperset(each) for each in kinds.values())


def happen(timed: TimedTask, state: State, events: Sequence[Event]) -> tuple[State, frozenset[Fault]]:
    """The state after a happening (definition 13), and its faults."""
    faults: set[Fault] = set()
    for event in events:
        condition, _ = timed.task.instances[event.key]
        asked = {"precondition": ["and", *condition[1:-1]], "duration": condition[-1]}
        wrong = {Fault(kind, event.step) for kind, each in asked.items() if not satisfied(timed.task, each, state)}
        try:
            change(timed.task, state, with_derived(timed.task, state), event.key, alone=True)
        except (Failed, Undefined):  # Without a false condition it is an effect that has no value.
            faults |= wrong or {Fault("precondition", event.step)}
            if not wrong and contradicts(timed.task, state, event.key):
                faults.add(Fault("interference", event.step))
    if not faults:
        try:
            state = execute(timed.task, state, frozenset(event.key for event in events))
        except Failed as failed:
            faults = {Fault(str(failed), event.step) for event in events}
    return state, frozenset(faults)


# --- Plans -----------------------------------------------------------------------------------------------------------


@dataclass
class Execution:
    """A plan that is being executed."""

    timed: TimedTask
    waiting: list[tuple[Fraction, int, Step | Event]]
    """What has not happened yet: steps, timed literals and ends of what has started; none has the number of another."""
    steps: dict[Fraction, int]
    """The number of the step that begins at a time."""
    path: list[Moment]
    violated: Counter[str] = field(default_factory=Counter)
    makespan: Fraction = Fraction(0)
    running: dict[str, Running] = field(default_factory=dict)
    faults: frozenset[Fault] = frozenset()

    def happening(self) -> None:
        """The next happening: what begins less than the tolerance after the first of those that wait."""
        first, state = self.waiting[0][0], self.path[-1].state
        events: list[Event] = []
        begun: dict[str, Running] = {}
        wrong: set[Fault] = set()
        while self.waiting and together(first, self.waiting[0][0]):
            time, number, what = heapq.heappop(self.waiting)
            if isinstance(what, Event):
                events.append(what)
                continue
            try:
                begin, end, runs, duration = started(self.timed, str(number), self.steps[time], what, state)
            except Failed as failed:
                wrong.add(Fault(str(failed), self.steps[time]))
                continue
            events.append(begin)
            self.makespan = max(self.makespan, time + duration)
            if end is not None and runs is not None:
                heapq.heappush(self.waiting, (time + duration, -number, end))
                begun[str(number)] = runs
        soft = [name for event in events for name, each in event.soft if not satisfied(self.timed.task, each, state)]
        after, faults = happen(self.timed, state, events)
        if wrong:
            faults = frozenset(wrong | {each for each in faults if each.verdict != "interference"})
        self.faults = faults
        if not faults:
            self.violated.update(soft)
            self.path.append(Moment(first, after))
            ended = {event.key[1] for event in events if event.key[0] == "at end"}
            self.running = {key: each for key, each in (self.running | begun).items() if key not in ended}
            self.faults = frozenset(
                Fault("invariant", each.step)
                for each in self.running.values()
                if not satisfied(self.timed.task, each.invariant, after)
            )


def judge(domain_text: str, problem_text: str, plan: Iterable[Step]) -> Judgement:
    """Execute a plan and say whether it is valid, what is wrong with it and what it costs."""
    return judge_task(read(domain_text, problem_text), plan)


def judge_task(timed: TimedTask, plan: Iterable[Step]) -> Judgement:
    """``judge`` for a task that was read."""
    steps = sorted(once(plan), key=lambda step: step.time)
    waiting: list[tuple[Fraction, int, Step | Event]] = []
    for place, step in enumerate(steps, start=1):
        waiting.append((step.time, place, step))
    for place, (time, effect) in enumerate(timed.literals, start=len(steps) + 1):
        waiting.append((time, place, simple(timed, ("literal", str(place)), None, {}, (ALWAYS, effect, ALWAYS))))
    heapq.heapify(waiting)
    numbers = {time: number for number, time in enumerate(sorted({step.time for step in steps}), start=1)}
    run = Execution(timed, waiting, numbers, [Moment(Fraction(0), timed.task.initial)])
    while run.waiting and not run.faults:
        run.happening()
    share, faults, last = None, run.faults, run.path[-1].state
    if not faults:
        hold = [holds_on(timed.task, each, run.path) for each in timed.constraints]
        share = Fraction(sum(hold), len(hold)) if hold else None
        run.violated.update(name for name, each in timed.preferences if not holds_on(timed.task, each, run.path))
        if not all(hold):
            faults = frozenset({Fault("constraint", None)})
        elif not satisfied(timed.task, timed.task.goal, last):
            faults = frozenset({Fault("goal_not_reached", None)})
    cost = None if faults else paid(timed, len(steps), run.makespan, run.violated, last)
    return Judgement(faults, tuple(run.path), run.violated, share, cost)


def paid(timed: TimedTask, steps: int, makespan: Fraction, violated: Counter[str], last: State) -> Fraction | None:
    """The value of the metric, else the number of actions; None where the metric has no value."""
    if timed.task.metric is None:
        return Fraction(steps)
    counts = {("is-violated", name): Fraction(violated[name]) for name in names(timed.task.metric)}
    try:
        return value(timed.task.metric, {**last.numbers, **counts, ("total-time",): makespan})
    except Undefined:
        return None


def names(metric: Tree) -> Iterator[str]:
    """The preferences that a metric asks about."""
    if isinstance(metric, list):
        if metric[0] == "is-violated":
            yield metric[1]
        for each in metric[1:]:
            yield from names(each)


# --- Trajectories ----------------------------------------------------------------------------------------------------


def holds_on(task: Task, tree: Tree, path: Sequence[Moment]) -> bool:
    """Whether a trajectory satisfies a ground formula with modal operators (Gerevini et al. 2009, figure 3)."""
    head, *rest = tree
    if head == "and":
        return all(holds_on(task, each, path) for each in rest)
    bounds = [Fraction(each) for each in rest if isinstance(each, str) and each != "end"]
    truths = [[satisfied(task, each, moment.state) for moment in path] for each in rest if isinstance(each, list)]
    return MODAL[head]([moment.time for moment in path], *bounds, *truths)


Times = Sequence[Fraction]
Truth = Sequence[bool]
"""Whether a formula holds in each state of the trajectory."""


def at_most_once(times: Times, phi: Truth) -> bool:
    places = range(len(phi))
    return all(any(all(phi[i : j + 1]) and not any(phi[j + 1 :]) for j in places[i:]) for i in places if phi[i])


def always_within(times: Times, limit: Fraction, phi: Truth, psi: Truth) -> bool:
    places = range(len(phi))
    return all(any(psi[j] and times[j] - times[i] <= limit for j in places[i:]) for i in places if phi[i])


def hold_during(times: Times, begin: Fraction, end: Fraction | None, phi: Truth) -> bool:
    in_force = max(i for i, time in enumerate(times) if time <= begin)
    inside = {i for i, time in enumerate(times) if begin <= time and (end is None or time < end)}
    return all(phi[i] for i in inside | {in_force})


MODAL: dict[str, Callable[..., bool]] = {
    "at": lambda times, phi: phi[-1],
    "always": lambda times, phi: all(phi),
    "sometime": lambda times, phi: any(phi),
    "within": lambda times, limit, phi: any(now and time <= limit for time, now in zip(times, phi, strict=True)),
    "at-most-once": at_most_once,
    "sometime-after": lambda times, phi, psi: all(any(psi[i:]) for i, now in enumerate(phi) if now),
    "sometime-before": lambda times, phi, psi: all(any(psi[:i]) for i, now in enumerate(phi) if now),
    "always-within": always_within,
    "hold-during": hold_during,
    "hold-after": lambda times, begin, phi: hold_during(times, begin, None, phi),
}
