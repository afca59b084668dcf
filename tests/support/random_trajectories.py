"""Random cases for the judge of time and trajectories: trajectories with constraints, and plans with times.

A trajectory is any sequence of states, made by timed literals and by actions without conditions; each of its
constraints is drawn without a look at it. A plan with times is a random walk in a random domain with durative actions,
valid by construction, and the same walk damaged in eighteen ways. Damage may leave a plan valid: the judge says what.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from random import Random
from typing import NamedTuple

from tests.judges.interpreter import Atom, ground, satisfied, tree_of
from tests.judges.random_domains import OBJECTS, Draw, Typed, shown
from tests.judges.trajectories import Judgement, Step, TimedTask, holds_on, judge_task, read

GAPS = ("0", "0.0004", "0.0009", "0.001", "0.0011", "0.5", "1", "1", "2", "3")
"""Times between happenings: some within the tolerance, some at its edge."""

DURATIONS = ("0", "0.0005", "0.5", "1", "2", "3", "4", "5", "10")
TRIES = 12
WALK = 6


class Case(NamedTuple):
    """A plan for a problem in a domain, and how it was made; without ``times`` its steps are written one a line."""

    how: str
    domain: str
    problem: str
    steps: tuple[Step, ...]
    times: bool = True


def decimal(number: Fraction) -> str:
    """A decimal number, as plans have it; any other is rounded to six places."""
    return f"{float(number):.6f}".rstrip("0").rstrip(".")


def plan_text(case: Case) -> str:
    """The plan, one step a line; the empty plan is a pair of brackets."""
    lines = []
    for step in case.steps:
        time = f"{decimal(step.time)}: " if case.times else ""
        duration = "" if step.duration is None else f" [{decimal(step.duration)}]"
        lines.append(f"{time}({' '.join(step.action)}){duration}")
    return "\n".join(lines) or "()"


# --- Constraints -----------------------------------------------------------------------------------------------------


MODAL = (
    *("always", "sometime", "at-most-once", "at end", "within", "hold-during", "hold-after", "always-within"),
    *("sometime-before", "sometime-after"),
)
NEVER = "(sometime (and (z) (not (z))))"  # At ``(or)`` VAL skips all constraints.
READ_BY_VAL = tuple(each for each in MODAL if each != "hold-after")  # At which it crashes.


def constraint(random: Random, formula: Callable[[], str], modal: Sequence[str] = MODAL) -> str:
    """A formula with a random modal operator; its times lie where states often begin."""
    kind = random.choice(modal)
    bound = Fraction(random.choice(["0", "0.5", "1", "2", "3", "4", "5", "7.5", "10"]))
    bounds = {
        "within": [bound],
        "always-within": [bound],
        "hold-after": [bound],
        "hold-during": [bound, bound + Fraction(random.choice(["0.5", "1", "2", "4", "20"]))],
    }
    count = 2 if kind in ("always-within", "sometime-before", "sometime-after") else 1
    return f"({' '.join([kind, *map(decimal, bounds.get(kind, [])), *(formula() for _ in range(count))])})"


# --- Trajectories ----------------------------------------------------------------------------------------------------

SWITCHES = ("p", "q", "r")

SWITCHED = (
    "(define (domain switches) (:requirements :adl :fluents :durative-actions :timed-initial-literals :constraints"
    " :preferences)\n(:predicates (p) (q) (r) (done ?x)) (:functions (n))\n"
    + "\n".join(
        f"(:action {name}-{way} :parameters () :precondition (and) :effect {effect})"
        for name in SWITCHES
        for way, effect in (("on", f"({name})"), ("off", f"(not ({name}))"))
    )
    + "\n(:action count :parameters () :precondition (and) :effect (and (increase (n) 1)))\n"
    "(:durative-action keep :parameters (?x) :duration (>= ?duration 0) :condition (and)"
    " :effect (and (at start (not (done ?x))) (at end (done ?x)))))"
)
"""Any trajectory of three atoms and a number, and two atoms that are set at ends of actions."""


def switched_formula(random: Random) -> str:
    atoms = [f"({name})" for name in SWITCHES] + ["(done a)", "(done b)", f"(> (n) {random.randint(0, 2)})"]
    kind, first, second = (
        random.choice(["", "", "not", "and", "or", "imply", "forall", "exists"]),
        *random.sample(atoms, 2),
    )
    if kind in ("forall", "exists"):
        return f"({kind} (?y) (or (done ?y) {first}))"
    return first if not kind else f"(not {first})" if kind == "not" else f"({kind} {first} {second})"


def trajectory(random: Random) -> Case:
    """A trajectory with up to six constraints and nine preferences, each with a weight of its own in the metric."""
    time, steps, facts = Fraction(0), [], [f"({name})" for name in SWITCHES if random.random() < 0.5]
    for _ in range(random.randint(0, 7)):
        time += Fraction(random.choice(["0.001", "0.5", "0.5", "1", "1", "2", "2.5"]))
        for name in random.sample([*SWITCHES, "n", "a", "b"], random.randint(1, 3)):
            by_plan = random.random() < 0.5
            if name in ("a", "b"):
                steps.append(Step(time, ("keep", name), Fraction(random.choice(["0.5", "1", "2", "2.5"]))))
            elif name == "n":
                steps.append(Step(time, ("count",)))
            elif by_plan:
                steps.append(Step(time, (f"{name}-{random.choice(['on', 'off'])}",)))
            else:
                facts.append(f"(at {decimal(time)} {random.choice([f'({name})', f'(not ({name}))'])})")

    def drawn() -> str:
        each = constraint(random, lambda: switched_formula(random))
        if random.random() < 0.15:
            return f"(forall (?x) {constraint(random, lambda: random.choice(['(done ?x)', '(not (done ?x))']))})"
        return each if random.random() < 0.9 else f"(and {each} {constraint(random, lambda: switched_formula(random))})"

    hard = [drawn() for _ in range(random.randint(0, 6) if random.random() < 0.4 else 0)]
    soft = [f"(preference w{number} {drawn()})" for number in range(random.randint(0, 8))]
    if random.random() < 0.3:
        soft.append(f"(forall (?x) (preference w8 {constraint(random, lambda: '(done ?x)')}))")
    goal = [switched_formula(random)] if random.random() < 0.2 else []
    goal += [f"(preference g {switched_formula(random)})"] if random.random() < 0.3 else []
    weights = " ".join(
        f"(* {3**number} (is-violated w{number}))" for number in range(len(soft)) if f"w{number} " in str(soft)
    )
    metric = f"(:metric minimize (+ (* 0.001 (total-time)) {weights}))" if weights else ""
    asked = f"(:constraints (and {' '.join(hard + soft)}))" if hard or soft else ""
    problem = (
        f"(define (problem path) (:domain switches) (:objects a b)\n(:init (= (n) 0) {' '.join(facts)})\n"
        f"(:goal (and {' '.join(goal)}))\n{asked}\n{metric})"
    )
    return Case("trajectory", SWITCHED, problem, tuple(steps))


# --- Domains and problems with time ----------------------------------------------------------------------------------


class TimedDraw(Draw):
    """A random domain with durative actions."""

    def domain(self) -> str:
        """The domain in PDDL."""
        sections = [super().domain()[:-1]]
        for number in range(self.random.randint(1, 3)):
            own = self.listing(self.random.randint(0, 2))
            scope = [*own, OBJECTS[-1]]
            conditions = " ".join(self.timed_condition(scope) for _ in range(self.random.randint(0, 3)))
            effects = " ".join(self.timed_effect(scope) for _ in range(self.random.randint(1, 4)))
            sections.append(
                f"(:durative-action b{number} :parameters ({shown(own)}) :duration {self.duration(scope)}\n"
                f"  :condition (and {conditions}) :effect (and {effects}))"
            )
        if self.random.random() < 0.2:
            each = constraint(self.random, lambda: self.condition([("?x", "t"), OBJECTS[-1]], self.all, 0))
            sections.append(f"(:constraints (forall (?x - t) (preference each {each})))")
        return "\n".join(sections) + ")"

    def duration(self, scope: Sequence[Typed]) -> str:
        fluent = self.atom(scope, self.functions)
        fluent = "2" if fluent == "(z)" else fluent
        return self.random.choice(
            [
                f"(= ?duration {self.random.choice(DURATIONS[2:])})",
                f"(= ?duration {fluent})",
                f"(= ?duration (+ 1 {fluent}))",
                "(and (>= ?duration 1) (<= ?duration 4))",
                f"(and (at start (>= ?duration 0.5)) (at end (<= ?duration (+ 3 {fluent}))))",
                "(<= ?duration 3)",
                "(and (>= ?duration 1) (= ?duration 2))",
            ]
        )

    def timed_condition(self, scope: Sequence[Typed]) -> str:
        when = self.random.choice(["at start", "over all", "over all", "at end"])
        inner = self.condition(scope, self.all, self.random.randint(0, 2))
        if self.random.random() < 0.1:
            new = self.listing(1)
            return f"(forall ({shown(new)}) ({when} {self.condition([*scope, *new], self.all, 0)}))"
        if when != "over all" and self.random.random() < 0.1:
            return f"(preference soft ({when} {inner}))"
        return f"({when} {inner})"

    def timed_effect(self, scope: Sequence[Typed]) -> str:
        when, kind = self.random.choice(["at start", "at end"]), self.random.random()
        if kind < 0.15 and (fluent := self.atom(scope, self.functions)) != "(z)":
            verb = self.random.choice(["increase", "decrease", "assign"])
            return f"({when} ({verb} {fluent} {self.random.choice(['?duration', '(* 2 ?duration)'])}))"
        inner = self.effect(scope, self.random.randint(0, 1))
        if kind < 0.25:
            return f"(when ({when} {self.condition(scope, self.all, 1)}) ({when} {inner}))"
        return f"({when} {inner})"

    def timed_problem(self, goal: str, literals: Sequence[str], constraints: Sequence[str], metric: str) -> str:
        """A problem in PDDL; the same initial state each time that it is asked for."""
        if not hasattr(self, "initial"):
            init = [f"({' '.join(atom)})" for atom in self._ground(self.basic) if self.random.random() < 0.5]
            values = [f"({' '.join(fluent)})" for fluent in self._ground(self.functions) if self.random.random() < 0.95]
            self.initial = init + [f"(= {each} {self.random.choice(['0', '1', '2', '0.5', '3'])})" for each in values]
        asked = f"(:constraints (and {' '.join(constraints)}))" if constraints else ""
        return (
            f"(define (problem p) (:domain drawn) (:objects {shown(OBJECTS[:-1])})\n"
            f"(:init {' '.join([*self.initial, *literals])})\n(:goal {goal})\n{asked} {metric})"
        )

    def literals(self) -> list[str]:
        found = []
        for _ in range(self.random.choice([0, 0, 1, 3])):
            atom, time = self.atom(OBJECTS, self.basic), self.random.choice(["0.5", "1", "2", "2.0005", "4", "6", "9"])
            fluent = self.atom(OBJECTS, self.functions)
            number = f"(= {fluent} {self.random.randint(0, 3)})" if fluent != "(z)" else atom
            found.append(f"(at {time} {self.random.choice([atom, atom, f'(not {atom})', number])})")
        return found


class PlainDraw(TimedDraw):
    """A random domain of what VAL reads: no derived predicates, ``either``, nested effects or empty connectives."""

    def __init__(self, random: Random) -> None:
        super().__init__(random)
        self.derived, self.all = {}, self.basic

    def _types(self, count: int) -> list[str]:
        return [self.random.choice(["object", "t"]) for _ in range(count)]

    def domain(self) -> str:
        """The domain in PDDL."""
        text = super().domain().replace("v - (either t u)", "v - t").replace(":condition (and )", ":condition (and)")
        plain, found, _ = text.partition("\n(:constraints")
        return f"{plain})" if found else text

    def condition(self, scope: Sequence[Typed], names: Mapping[str, Sequence[str]], depth: int = 2) -> str:
        """A condition."""
        kind = self.random.choice(["atom", "atom", "atom", "not", "and", "or", "forall", "<"] if depth else ["atom"])
        if kind == "forall":
            new = self.listing(1)
            return f"(forall ({shown(new)}) {self.atom([*scope, *new], names)})"
        if kind == "<" and (fluent := self.atom(scope, self.functions)) != "(z)":
            return f"({self.random.choice(['<', '<=', '>=', '>'])} {fluent} {self.random.choice(['0', '1', '2.5'])})"
        count = {"not": 1, "and": 2, "or": 2}.get(kind)
        inner = " ".join(self.atom(scope, names) for _ in range(count or 1))
        return f"({kind} {inner})" if count else inner

    def effect(self, scope: Sequence[Typed], depth: int = 3) -> str:
        """An effect."""
        kind = self.random.random()
        if kind < 0.2 and (fluent := self.atom(scope, self.functions)) != "(z)":
            verb = self.random.choice(["increase", "decrease", "assign"])
            return f"({verb} {fluent} {self.random.choice(['1', '0.5'])})"
        atom = self.atom(scope, self.basic)
        return f"(not {atom})" if kind < 0.6 else atom

    def timed_condition(self, scope: Sequence[Typed]) -> str:
        when = self.random.choice(["at start", "over all", "at end"])
        return f"({when} {self.condition(scope, self.all)})"

    def number(self, scope: Sequence[Typed], depth: int = 2) -> str:
        return self.random.choice(["0", "1", "2"])


def every_action(timed: TimedTask) -> list[Atom]:
    """Every action with objects that its types admit."""
    actions = timed.task.actions.items()
    return [(name, *each.values()) for name, action in actions for each in timed.task.bindings(action.parameters)]


def executed(judged: Judgement) -> bool:
    """Whether each step could be executed."""
    return all(each.verdict in ("constraint", "goal_not_reached") for each in judged.faults)


def walk(random: Random, timed: TimedTask, written: bool) -> tuple[list[Step], Judgement]:
    """Some steps that can be executed, each with its duration if that is to be ``written``, and what they do."""
    steps: list[Step] = []
    judged = judge_task(timed, steps)
    if not executed(judged):  # Timed literals that interfere.
        return steps, judged
    actions = every_action(timed)
    time = Fraction(random.choice(["0", "0", "0.001", "1"]))
    for _ in range(random.randint(1, WALK)):
        for _ in range(TRIES):
            action = random.choice(actions)
            durations: list[Fraction | None] = [None]
            if action[0] in timed.durations:
                durations = [Fraction(each) for each in random.sample(DURATIONS, len(DURATIONS))]
                durations = durations if written else [*durations[: random.random() < 0.8], None]
            for duration in durations:
                tried = [*steps, Step(time, action, duration)]
                found = judge_task(timed, tried)
                if {each.verdict for each in found.faults} != {"duration"}:
                    break
            if executed(found):
                steps, judged = tried, found
                break
        time += Fraction(random.choice(GAPS))
    return steps, judged


def cases(number: int, seed: int, kind: type[TimedDraw] = TimedDraw) -> Iterator[Case]:
    """The walk with this number, valid, and its damaged copies."""
    random = Random(f"{seed} {number}")
    draw = kind(random)
    domain, literals = draw.domain(), draw.literals()
    modal = READ_BY_VAL if kind is PlainDraw else MODAL
    timed = read(domain, draw.timed_problem("(and)", literals, [], ""))
    steps, judged = walk(random, timed, written=kind is PlainDraw)

    def formula() -> str:
        return draw.condition(OBJECTS, draw.all, random.randint(0, 1))

    def goal(wanted: bool) -> str:
        for _ in range(TRIES):
            drawn = formula()
            if satisfied(timed.task, ground(timed.task, tree_of(drawn), {}), judged.path[-1].state) is wanted:
                return drawn
        return "(and)" if wanted else "(or)"

    def constrained(wanted: bool) -> str:
        for _ in range(TRIES):
            drawn = constraint(random, formula, modal)
            if holds_on(timed.task, ground(timed.task, tree_of(drawn), {}), judged.path) is wanted:
                return drawn
        return "(always (and))" if wanted else NEVER

    true = f"(and {' '.join(goal(True) for _ in range(random.randint(0, 2)))} (preference g {formula()}))"
    hard = [constrained(True) for _ in range(random.choice([0, 1, 3]))]
    soft = [f"(preference w{each} {constraint(random, formula, modal)})" for each in range(random.choice([0, 1, 3]))]
    metric = random.choice(
        ["", "(:metric minimize (total-time))", "(:metric minimize (+ (total-time) (is-violated g)))"]
    )
    if soft:
        metric = f"(:metric maximize (- (* 2 (is-violated w0)) (+ (* 10 (is-violated soft)) {draw.number(OBJECTS)})))"
    problem = draw.timed_problem(true, literals, hard + soft, metric)
    yield Case("valid", domain, problem, tuple(steps))
    for how, damage in DAMAGES.items():
        yield Case(how, domain, problem, tuple(damage(random, timed, list(steps))))
    yield Case("another goal", domain, draw.timed_problem(goal(False), literals, hard + soft, metric), tuple(steps))
    worse = draw.timed_problem(true, literals, [*hard, constrained(False), *soft], metric)
    yield Case("another constraint", domain, worse, tuple(steps))


# --- Damage ----------------------------------------------------------------------------------------------------------


def one(random: Random, steps: list[Step], change: Callable[[Step], Step]) -> list[Step]:
    """The plan with one step changed."""
    if steps:
        place = random.randrange(len(steps))
        steps[place] = change(steps[place])
    return steps


def drop(random: Random, timed: TimedTask, steps: list[Step]) -> list[Step]:
    if steps:
        del steps[random.randrange(len(steps))]
    return steps


def swap(random: Random, timed: TimedTask, steps: list[Step]) -> list[Step]:
    """Two steps exchange their times."""
    if len(steps) > 1:
        a, b = random.sample(range(len(steps)), 2)
        steps[a], steps[b] = steps[a]._replace(time=steps[b].time), steps[b]._replace(time=steps[a].time)
    return steps


def repeat(random: Random, timed: TimedTask, steps: list[Step]) -> list[Step]:
    """A step again, a little later."""
    if steps:
        step = random.choice(steps)
        steps.append(step._replace(time=step.time + Fraction(random.choice(GAPS[1:]))))
    return steps


def another(random: Random, timed: TimedTask, steps: list[Step]) -> list[Step]:
    """An action more, at any time."""
    action = random.choice(every_action(timed))
    time = random.choice([*(step.time for step in steps), Fraction(0)]) + Fraction(random.choice(GAPS))
    duration = Fraction(random.choice(DURATIONS)) if action[0] in timed.durations else None
    return [*steps, Step(time, action, duration)]


def other_action(random: Random, timed: TimedTask, steps: list[Step]) -> list[Step]:
    return one(random, steps, lambda step: step._replace(action=(f"{step.action[0]}x", *step.action[1:])))


def other_object(random: Random, timed: TimedTask, steps: list[Step]) -> list[Step]:
    def change(step: Step) -> Step:
        return step._replace(action=(step.action[0], *(random.choice(OBJECTS)[0] for _ in step.action[1:])))

    return one(random, steps, change)


def arity(random: Random, timed: TimedTask, steps: list[Step]) -> list[Step]:
    def change(step: Step) -> Step:
        action: Atom = step.action[:-1] if len(step.action) > 1 and random.random() < 0.5 else (*step.action, "a")
        return step._replace(action=action)

    return one(random, steps, change)


def unknown_object(random: Random, timed: TimedTask, steps: list[Step]) -> list[Step]:
    return one(random, steps, lambda step: step._replace(action=(*step.action[:-1], "nobody")[: len(step.action)]))


def lasting(change: Callable[[Random, Fraction], Fraction | None]) -> Callable[..., list[Step]]:
    """A damage that changes one duration."""

    def damage(random: Random, timed: TimedTask, steps: list[Step]) -> list[Step]:
        long = [place for place, step in enumerate(steps) if step.duration is not None]
        if long:
            place = random.choice(long)
            steps[place] = steps[place]._replace(duration=change(random, steps[place].duration or Fraction(0)))
        return steps

    return damage


def nearly(random: Random, duration: Fraction) -> Fraction:
    return max(Fraction(0), duration + Fraction(random.choice(["0.001", "-0.001", "0.0011", "-0.0011", "0.0004"])))


def other_duration(random: Random, duration: Fraction) -> Fraction:
    return random.choice([duration * 2, duration / 2, duration + 1, Fraction(0), Fraction(random.choice(DURATIONS))])


def moved(times: Callable[[Random, list[Step], Step], Fraction]) -> Callable[..., list[Step]]:
    """A damage that changes the time of one step."""

    def damage(random: Random, timed: TimedTask, steps: list[Step]) -> list[Step]:
        return one(random, steps, lambda step: step._replace(time=max(Fraction(0), times(random, steps, step))))

    return damage


def nudge(random: Random, steps: list[Step], step: Step) -> Fraction:
    return step.time + Fraction(random.choice(["-0.001", "0.001", "0.0009", "-0.0009", "0.0004", "-0.0005", "0.0011"]))


def touch(random: Random, steps: list[Step], step: Step) -> Fraction:
    """The time at which another step begins or ends, or just before or after."""
    other = random.choice(steps)
    edge = other.time + random.choice([Fraction(0), other.duration or Fraction(0)])
    return edge + Fraction(random.choice(["0", "0", "0.001", "-0.001", "0.0005"]))


def scale(random: Random, timed: TimedTask, steps: list[Step]) -> list[Step]:
    factor, more = random.choice([(Fraction(1, 2), 0), (Fraction(2), 0), (Fraction(1), 1), (Fraction(1), 5)])
    return [step._replace(time=step.time * factor + more) for step in steps]


def shuffle(random: Random, timed: TimedTask, steps: list[Step]) -> list[Step]:
    """The lines in another order; a line at 0 or 1 stays before the others, for there a second draft might begin."""
    random.shuffle(steps)
    return sorted(steps, key=lambda step: step.time > 1)


DAMAGES: dict[str, Callable[[Random, TimedTask, list[Step]], list[Step]]] = {
    "a step dropped": drop,
    "two times exchanged": swap,
    "a step repeated": repeat,
    "another action more": another,
    "another object": other_object,
    "unknown action": other_action,
    "unknown object": unknown_object,
    "number of arguments": arity,
    "a duration nearly right": lasting(nearly),
    "another duration": lasting(other_duration),
    "a duration left out": lasting(lambda random, duration: None),
    "a time nearly the same": moved(nudge),
    "another time": moved(
        lambda random, steps, step: step.time + Fraction(random.choice(["-2", "-1", "-0.5", *GAPS[5:]]))
    ),
    "beside another step": moved(touch),
    "all times changed": scale,
    "lines shuffled": shuffle,
}
"""All but the last two damages, which change the problem and not the plan."""
