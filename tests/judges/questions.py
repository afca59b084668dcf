"""The judge of questions: all right answers of each kind, by enumeration of all reachable states.

Written from DESIGN.md, section 12, on top of the plain interpreter beside it, and from nothing of the program. An
answer is a value: what the kind's function below returns a set of. What the contract leaves open is decided as follows.

- What is true in a state is all its atoms, derived ones included; numbers are no part of an answer. An action makes
  true what was false before it and is true after it.
- Steps of a plan are single actions. Indices count from 0.
- Why a plan is not valid is a step that fails, or None for the goal, and a literal of its precondition or of the goal
  that is not as it should be, under either sign; quantifiers are what they stand for.
- An atom or an action that is asked for has a declared name and objects that the declared types admit.
- "None" is right for an atom that is never true where only predicates have one that nothing changes (as in ACPBench).
- States are reachable from the state after the prefix, which is the first of a plan that landmarks are asked of.
- A plan reaches what it makes true through the states that are visited one action after the other.
- A cost is that of one action after the other: ``total-cost`` where it is minimized, the metric of the last state where
  no cost is part of it, else the number of actions.
- Where the goal is reached already, nothing is a landmark and nothing is the next action. Where no plan exists, or a
  prefix cannot be executed, there is no key.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property

from tests.judges.interpreter import (
    ASSIGNMENTS,
    TOTAL_COST,
    Atom,
    Failed,
    Refused,
    State,
    Task,
    Tree,
    Undefined,
    as_atom,
    execute,
    identity,
    instance,
    judge_task,
    reachable_states,
    read,
    satisfied,
    successors,
    value,
    with_derived,
)

Answers = frozenset[Hashable]
"""All right answers; ``None`` among them where "none" is right."""

NONE: Answers = frozenset({None})

Plan = Sequence[Atom]


class NoKey(Exception):
    """The question has no answer: there is no state or no plan that it is about."""


class Scene:
    """A task with its reachable states, each with what can be done in it; enumerated when they are asked for."""

    def __init__(self, domain_text: str, problem_text: str, limit: int = 2_000) -> None:
        self.task, self.limit = read(domain_text, problem_text), limit

    @cached_property
    def states(self) -> list[State]:
        """All reachable states; raises ``TooManyStates``."""
        return reachable_states(self.task, self.limit)

    @cached_property
    def edges(self) -> list[list[tuple[Atom, int, Fraction]]]:
        """Of each state the actions that can be executed in it, where each leads and what it adds to the cost."""
        numbers = {identity(state): number for number, state in enumerate(self.states)}
        return [
            [
                (action, numbers[identity(after)], spent(after) - spent(state))
                for action, after in successors(self.task, state)
            ]
            for state in self.states
        ]

    @cached_property
    def goal_states(self) -> set[int]:
        return {number for number, state in enumerate(self.states) if satisfied(self.task, self.task.goal, state)}

    def after(self, plan: Plan) -> list[State]:
        """The initial state and the state after each step."""
        states = [self.task.initial]
        for step in plan:
            try:
                states.append(execute(self.task, states[-1], step))
            except Failed as failed:
                raise NoKey(f"{step}: {failed}") from failed
        return states

    def true(self, state: State) -> frozenset[Atom]:
        return with_derived(self.task, state)

    def all_atoms(self) -> Iterator[Atom]:
        """Every atom that can be written with the declared predicates and types."""
        for name, parameters in self.task.predicates.items():
            named = [(f"{place}", kinds) for place, (_, kinds) in enumerate(parameters)]
            yield from ((name, *binding.values()) for binding in self.task.bindings(named))

    def every_action(self) -> Iterator[Atom]:
        """Every action with objects that its types admit, executable anywhere or not."""
        for name, action in self.task.actions.items():
            yield from ((name, *binding.values()) for binding in self.task.bindings(action.parameters))


def spent(state: State) -> Fraction:
    return state.numbers.get(TOTAL_COST, Fraction(0))


# --- The state after a prefix ----------------------------------------------------------------------------------------


def applicable(scene: Scene, plan: Plan) -> Answers:
    """One set: the actions that can be executed after the plan."""
    return frozenset({frozenset(action for action, _ in successors(scene.task, scene.after(plan)[-1]))})


def state(scene: Scene, plan: Plan) -> Answers:
    """One set: the atoms that are true after the plan."""
    return frozenset({scene.true(scene.after(plan)[-1])})


def progression(scene: Scene, plan: Plan) -> Answers:
    """One pair of sets: the atoms that the last action makes true and those that it makes false."""
    if not plan:
        raise NoKey("no last action")
    before, after = map(scene.true, scene.after(plan)[-2:])
    return frozenset({(after - before, before - after)})


def trace(scene: Scene, plan: Plan) -> Answers:
    """One tuple of sets: the atoms that are true after each step."""
    return frozenset({tuple(map(scene.true, scene.after(plan)[1:]))})


# --- Plans -----------------------------------------------------------------------------------------------------------


def executability(scene: Scene, plan: Plan) -> Answers:
    """The index of the first action that cannot be executed, or None."""
    judged = judge_task(scene.task, plan)
    return frozenset({None if judged.failed_step is None else judged.failed_step - 1})


def validity(scene: Scene, plan: Plan) -> Answers:
    """``(True, None, None)``, or ``(False, index, literal)``: of a plan that is not valid either may be left out."""
    judged = judge_task(scene.task, plan)
    if judged.valid:
        return frozenset({(True, None, None)})
    index, why = None, scene.task.goal
    if judged.failed_step is not None:
        index = judged.failed_step - 1
        why = instance(scene.task, plan[index])[0] if judged.verdict == "precondition" else ["and"]
    unmet = {None, *(each for each in false_literals(scene.task, why, judged.last_state))}
    return frozenset((False, *given) for given in itertools.product({None, index}, unmet))


def false_literals(task: Task, tree: Tree, at: State, wanted: bool = True) -> Iterator[Atom]:
    """The literals that a ground formula wants to be true and that are not, under either sign.

    Parts that are as they are wanted are left out; of a disjunction that is false, any part would have done.
    """
    if satisfied(task, tree, at) is wanted:
        return
    if tree[:1] == ["not"]:
        yield from false_literals(task, tree[1], at, not wanted)
    elif tree[:1] in (["and"], ["or"]):
        for each in tree[1:]:
            yield from false_literals(task, each, at, wanted)
    elif atom := as_atom_of(task, tree):
        yield from (atom, ("not", *atom))


def as_atom_of(task: Task, tree: Tree) -> Atom | None:
    """A ground atom; None for any other formula."""
    return tuple(tree) if tree and tree[0] in task.predicates.keys() | task.levels.keys() else None


def justification(scene: Scene, plan: Plan) -> Answers:
    """The valid plans that leave out at least one action, or None if there is none."""
    if not plan:
        raise NoKey("no action")
    shorter = {kept for count in range(len(plan)) for kept in itertools.combinations(plan, count)}
    return frozenset(each for each in shorter if judge_task(scene.task, each).valid) or NONE


# --- All reachable states --------------------------------------------------------------------------------------------


def unreachable_atom(scene: Scene, plan: Plan) -> Answers:
    """The atoms that no state has that can be reached after the plan; None where no action or rule could change one."""
    found = [scene.true(scene.states[at]) for at in reached(scene, start(scene, plan))]
    never = frozenset(scene.all_atoms()).difference(*found)
    changing = {name for action in scene.task.actions.values() for name in changed(action.effect)} | {
        *scene.task.levels
    }
    return never if any(atom[0] in changing for atom in never) else never | NONE


def changed(effect: Tree) -> Iterator[str]:
    """The predicates of which an effect adds or deletes an atom."""
    head, *rest = effect or ["and"]
    if head in ("and", "not"):
        for each in rest:
            yield from changed(each)
    elif head in ("forall", "when"):
        yield from changed(rest[1])
    elif head not in ASSIGNMENTS:
        yield head


def unreachable_action(scene: Scene, plan: Plan) -> Answers:
    """The actions that can be executed in no state that can be reached after the plan, or None."""
    found = {action for at in reached(scene, start(scene, plan)) for action, _, _ in scene.edges[at]}
    return frozenset(scene.every_action()) - found or NONE


def landmark(scene: Scene, plan: Plan) -> Answers:
    """The atoms, false after the plan and no conjunct of the goal, without which no goal state is reached, or None."""
    at = start(scene, plan)
    everywhere = reached(scene, at)
    if not everywhere & scene.goal_states:
        raise NoKey("no plan from here")
    trues = {number: scene.true(scene.states[number]) for number in everywhere}
    candidates = frozenset().union(*trues.values()) - trues[at] - {*goal_atoms(scene.task, scene.task.goal)}
    return frozenset(
        atom for atom in candidates
        if not reached(scene, at, lambda number, atom=atom: atom not in trues[number]) & scene.goal_states
    ) or NONE  # fmt: skip


def start(scene: Scene, plan: Plan) -> int:
    """The number of the state after the plan."""
    return [identity(each) for each in scene.states].index(identity(scene.after(plan)[-1]))


def reached(scene: Scene, at: int, allowed: Callable[[int], bool] = lambda _: True) -> set[int]:
    """The states that can be reached from one, through allowed states only."""
    found, waiting = {at}, [at]
    while waiting:
        new = {other for _, other, _ in scene.edges[waiting.pop()] if other not in found and allowed(other)}
        found |= new
        waiting += new
    return found


def goal_atoms(task: Task, tree: Tree) -> Iterator[Atom]:
    """The conjuncts of a ground goal that are atoms."""
    if tree[:1] == ["and"]:
        for each in tree[1:]:
            yield from goal_atoms(task, each)
    elif atom := as_atom_of(task, tree):
        yield atom


def next_action(scene: Scene, plan: Plan) -> Answers:
    """The actions a with c*(s) = c(a) + c*(s'), and None where nothing needs to be done."""
    costs = cheapest(scene)
    at = start(scene, plan)
    if at not in costs:
        raise NoKey("no plan from here")
    best = {action for action, other, price in priced(scene)[at] if costs.get(other, math.inf) + price == costs[at]}
    return frozenset(best | {None} if at in scene.goal_states and costs[at] == ending(scene, at) else best)


def cheapest(scene: Scene) -> dict[int, Fraction]:
    """c* of each state from which a goal state can be reached: the costs are lowered until nothing changes."""
    costs = {number: ending(scene, number) for number in scene.goal_states}
    edges, changed = priced(scene), True
    while changed:
        changed = False
        for number in range(len(edges)):
            found = min((costs[other] + price for _, other, price in edges[number] if other in costs), default=None)
            if found is not None and (number not in costs or found < costs[number]):
                costs[number], changed = found, True
    return costs


def counted(scene: Scene) -> str:
    """What a plan costs: its actions, what they add to ``total-cost``, or what the metric says at its end."""
    if scene.task.metric is None:
        return "actions"
    if as_atom(scene.task.metric) == TOTAL_COST and not scene.task.maximize:
        return "total-cost"
    if TOTAL_COST[0] in str(scene.task.metric):
        raise Refused("a metric with total-cost in it")
    return "end"


def priced(scene: Scene) -> list[list[tuple[Atom, int, Fraction]]]:
    """The edges, each with what its action costs."""
    if (how := counted(scene)) != "total-cost":
        return [[(action, to, Fraction(how == "actions")) for action, to, _ in edges] for edges in scene.edges]
    if any(price < 0 for edges in scene.edges for *_, price in edges):
        raise Refused("an action has a negative cost")
    return scene.edges


def ending(scene: Scene, number: int) -> Fraction:
    """What is to be paid for ending in a goal state; to maximize is to minimize what is lacking."""
    if counted(scene) != "end":
        return Fraction(0)
    try:
        worth = value(scene.task.metric, scene.states[number].numbers)
    except Undefined as error:
        raise Refused("the metric is undefined") from error
    return -worth if scene.task.maximize else worth


KINDS: dict[str, Callable[[Scene, Plan], Answers]] = {
    each.__name__: each
    for each in (
        applicable, progression, state, trace, executability, validity, unreachable_atom, unreachable_action,
        justification, landmark, next_action,
    )
}  # fmt: skip
"""The right answers of each kind of question; each may raise ``NoKey``, and where states count ``TooManyStates``."""


def right_answers(question: str, domain_text: str, problem_text: str, plan: Plan = ()) -> Answers:
    """All right answers to one question."""
    return KINDS[question](Scene(domain_text, problem_text), plan)


def is_right(question: str, answer: Hashable, domain_text: str, problem_text: str, plan: Plan = ()) -> bool:
    """Whether this answer is right."""
    return answer in right_answers(question, domain_text, problem_text, plan)
