"""How far apart are the effects of two plans that can be executed?

The distances are over the states that the plans pass through and the causal links that they rest on: 0.0 is the same
and 1.0 nothing in common. The actions themselves are compared in ``actions``.
Source: Srivastava et al., IJCAI 2007; formulas as in Nguyen et al., "Generating diverse plans to handle unknown and
partially known user preferences", Artificial Intelligence 190, 2012.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from itertools import zip_longest

from pddl_eval.definition.metrics.plan_pair import PlanPair
from pddl_eval.definition.metrics.registry import Column, Metric
from pddl_eval.definition.model import Action, Atom, Operator, State
from pddl_eval.definition.validation import effects_of

INIT: Action = ("<init>",)
"""The producer of what is true at the start; no operator can have this name."""

GOAL: Action = ("<goal>",)
"""The consumer of what the goal asks for."""

CausalLink = tuple[Action, Atom, Action]
"""Producer, atom, consumer."""

Steps = Sequence[Sequence[Operator]]

MAX_LINKS = 250_000
"""Causal links of a plan; n concurrent actions that add what n others need make n²."""


def state_distance(init: State, first: Steps, second: Steps) -> float:
    """The mean, over the steps of the longer plan, of set difference over union of the states after that step.

    A step that only the longer plan has counts 1. Two empty plans have distance 0.0.

    >>> from pddl_eval.definition.model import Operator
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
            added, deleted = effects_of(step)
            lost, gained = deleted & state, added - state
            common += len(gained & other) - len(lost & other)
            state -= lost
            state |= gained
        union = len(states[0]) + len(states[1]) - common
        total += 1.0 - common / union if union else 0.0
    longer = max(len(first), len(second))
    return total / longer if longer else 0.0


def causal_links(steps: Steps, init: State, goal: State) -> frozenset[CausalLink] | None:
    """Who makes true what another needs: between the steps, from the initial state, to the goal atoms that hold.

    None where there are more than ``MAX_LINKS``.
    """
    producers: dict[Atom, Sequence[Action]] = dict.fromkeys(init, (INIT,))
    links: set[CausalLink] = set()
    made = 0
    for step in steps:
        for operator in step:
            made += sum(len(producers.get(atom, ())) for atom in operator.preconditions)
            if made > MAX_LINKS:
                return None
            links |= {
                (producer, atom, operator.action)
                for atom in operator.preconditions
                for producer in producers.get(atom, ())
            }
        for atom in effects_of(step)[1]:
            producers.pop(atom, None)
        added: dict[Atom, list[Action]] = {}
        for operator in step:
            for atom in operator.add_effects:
                added.setdefault(atom, []).append(operator.action)
        producers.update(added)
    return frozenset(links | {(producer, atom, GOAL) for atom in goal for producer in producers.get(atom, ())})


def causal_distance(first: Set[CausalLink], second: Set[CausalLink]) -> float:
    """Set difference over union of the causal links, those from the initial state and to the goal included.

    >>> link = (("pick", "a"), ("held", "a"), ("drop", "a"))
    >>> causal_distance({link}, {link, (("<init>",), ("free",), ("pick", "a"))})
    0.5
    """
    union = len(first | second)
    return 1.0 - len(first & second) / union if union else 0.0


def _score(pair: PlanPair) -> tuple[float | None, float | None]:
    """Both None unless both plans can be executed."""
    if pair.task is None or pair.execution is None or pair.reference_execution is None:
        return None, None
    actual, expected, problem = pair.execution, pair.reference_execution, pair.task.problem
    if actual.failed_step is not None or expected.failed_step is not None:
        return None, None
    links, others = (causal_links(each.steps, problem.init, problem.goal) for each in (expected, actual))
    distance = state_distance(problem.init, expected.steps, actual.steps)
    if links is None or others is None:
        pair.notes.append(f"no causal distance: more than {MAX_LINKS:,} causal links")
        return distance, None
    return distance, causal_distance(links, others)


METRIC = Metric(
    (
        Column("state_distance", float, "set difference over union of the states passed through, a mean over steps"),
        Column("causal_distance", float, "set difference over union of the plans' causal links"),
    ),
    _score,
)
