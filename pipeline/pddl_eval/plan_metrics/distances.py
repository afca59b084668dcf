"""How far apart two plans are in what they do: the states they pass through, the causal links they rest on.

0.0 is the same and 1.0 nothing in common. The actions themselves are compared in ``jaccard.action_distance``.
Source: Srivastava et al., IJCAI 2007; formulas as in Nguyen et al., "Generating diverse plans to handle unknown and
partially known user preferences", Artificial Intelligence 190, 2012.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from itertools import zip_longest

from pddl_eval.model import Atom, State
from pddl_eval.plan_metrics.simulate import CausalLink, StepEffects


def state_distance(init: State, first: Sequence[StepEffects], second: Sequence[StepEffects]) -> float:
    """The mean, over the steps of the longer plan, of set difference over union of the states after that step.

    A step that only the longer plan has counts 1. Two empty plans have distance 0.0.

    >>> paint = StepEffects(frozenset({("painted",)}), frozenset())
    >>> state_distance(frozenset({("dry",)}), [paint], [paint, paint])
    0.5
    """
    total = 0.0
    states: tuple[set[Atom], set[Atom]] = (set(init), set(init))
    common = len(init)
    for effects in zip_longest(first, second):
        if None in effects:
            total += 1.0
            continue
        for (state, other), effect in zip((states, states[::-1]), effects, strict=True):
            lost, gained = effect.deleted & state, effect.added - state
            common += len(gained & other) - len(lost & other)
            state -= lost
            state |= gained
        union = len(states[0]) + len(states[1]) - common
        total += 1.0 - common / union if union else 0.0
    longer = max(len(first), len(second))
    return total / longer if longer else 0.0


def causal_distance(first: Set[CausalLink], second: Set[CausalLink]) -> float:
    """Set difference over union of the causal links, those from the initial state and to the goal included.

    >>> link = (("pick", "a"), ("held", "a"), ("drop", "a"))
    >>> causal_distance({link}, {link, (("<init>",), ("free",), ("pick", "a"))})
    0.5
    """
    union = len(first | second)
    return 1.0 - len(first & second) / union if union else 0.0
