"""How far apart two plans are in what they do: the states they pass through, the causal links they rest on.

0.0 is the same and 1.0 nothing in common. The actions themselves are compared in ``jaccard.action_distance``.
Source: Srivastava et al., IJCAI 2007; formulas as in Nguyen et al., "Generating diverse plans to handle unknown and
partially known user preferences", Artificial Intelligence 190, 2012.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from itertools import zip_longest
from typing import TYPE_CHECKING

from pddl_eval.metrics.registry import Column, Metric
from pddl_eval.model import Action, Atom, State
from pddl_eval.solve import GroundOperator

if TYPE_CHECKING:
    from pddl_eval.metrics.plans import PlanPair

INIT: Action = ("<init>",)
"""The producer of what is true at the start; no operator can have this name."""

GOAL: Action = ("<goal>",)
"""The consumer of what the goal asks for."""

CausalLink = tuple[Action, Atom, Action]
"""Producer, atom, consumer."""

Steps = Sequence[Sequence[GroundOperator]]


def state_distance(init: State, first: Steps, second: Steps) -> float:
    """The mean, over the steps of the longer plan, of set difference over union of the states after that step.

    A step that only the longer plan has counts 1. Two empty plans have distance 0.0.

    >>> from pddl_eval.model import Operator
    >>> paint = [Operator("paint", (), frozenset(), frozenset(), frozenset({("painted",)}), frozenset())]
    >>> state_distance(frozenset({("dry",)}), [paint], [paint, paint])
    0.5
    """
    total = 0.0
    states: tuple[set[Atom], set[Atom]] = (set(init), set(init))
    common = len(init)
    for steps in zip_longest(first, second):
        if None in steps:
            total += 1.0
            continue
        for state, other, step in ((*states, steps[0]), (*states[::-1], steps[1])):
            added, deleted = _effects(step)
            lost, gained = deleted & state, added - state
            common += len(gained & other) - len(lost & other)
            state -= lost
            state |= gained
        union = len(states[0]) + len(states[1]) - common
        total += 1.0 - common / union if union else 0.0
    longer = max(len(first), len(second))
    return total / longer if longer else 0.0


def causal_links(steps: Steps, init: State, goal: State) -> frozenset[CausalLink]:
    """Who makes true what another needs: between the steps, from the initial state, to the goal atoms that hold."""
    producers: dict[Atom, tuple[Action, ...]] = dict.fromkeys(init, (INIT,))
    links: set[CausalLink] = set()
    for step in steps:
        for operator in step:
            links |= {
                (producer, atom, operator.action)
                for atom in operator.preconditions
                for producer in producers.get(atom, ())
            }
        added, deleted = _effects(step)
        for atom in deleted:
            producers.pop(atom, None)
        for atom in added:
            producers[atom] = tuple(operator.action for operator in step if atom in operator.add_effects)
    return frozenset(links | {(producer, atom, GOAL) for atom in goal for producer in producers.get(atom, ())})


def causal_distance(first: Set[CausalLink], second: Set[CausalLink]) -> float:
    """Set difference over union of the causal links, those from the initial state and to the goal included.

    >>> link = (("pick", "a"), ("held", "a"), ("drop", "a"))
    >>> causal_distance({link}, {link, (("<init>",), ("free",), ("pick", "a"))})
    0.5
    """
    union = len(first | second)
    return 1.0 - len(first & second) / union if union else 0.0


def _effects(step: Sequence[GroundOperator]) -> tuple[State, State]:
    """What the operators of a step add and delete together."""
    if len(step) == 1:
        return step[0].add_effects, step[0].delete_effects - step[0].add_effects
    added: State = frozenset().union(*(operator.add_effects for operator in step))
    return added, frozenset().union(*(operator.delete_effects for operator in step)) - added


def _distances(pair: PlanPair) -> tuple[float | None, float | None]:
    """None where one of the plans cannot be carried out: then it has no states and causal links to compare."""
    execution, expected = pair.execution, pair.reference_execution
    if pair.problem is None or execution is None or expected is None or not pair.found:
        return None, None
    if execution.failed_step is not None or expected.failed_step is not None:
        return None, None
    init, goal = pair.problem.init, pair.problem.goal
    links = (causal_links(each.steps, init, goal) for each in (expected, execution))
    return state_distance(init, expected.steps, execution.steps), causal_distance(*links)


METRIC = Metric(
    (
        Column("state_distance", float, "the same idea over the states that the plans pass through"),
        Column("causal_distance", float, "the same idea over the plans' causal links"),
    ),
    _distances,
)
