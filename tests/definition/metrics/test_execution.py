"""Distances over states and causal links, against their formulas written down plainly."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

import pytest
from pddl_eval import compare_plans
from pddl_eval.definition.metrics.execution import GOAL, INIT, causal_distance, causal_links, state_distance
from pddl_eval.definition.model import Atom, Operator, State

P, Q, R = ("p",), ("q",), ("r",)


def step(added: Iterable[Atom], deleted: Iterable[Atom], needs: Iterable[Atom] = (), name: str = "a") -> Operator:
    return Operator(name, (), frozenset(needs), frozenset(), frozenset(added), frozenset(deleted))


def effects(*steps: tuple[set[Atom], set[Atom]]) -> list[list[Operator]]:
    return [[step(added, deleted)] for added, deleted in steps]


def test_same_states_have_distance_0() -> None:
    assert state_distance(frozenset({P}), effects(({Q}, {P})), effects(({Q}, {P, R}))) == 0.0
    assert state_distance(frozenset(), [], []) == 0.0


def test_nothing_in_common_has_distance_1() -> None:
    assert state_distance(frozenset({P}), effects(({Q}, {P})), effects(({R}, {P}))) == 1.0
    assert state_distance(frozenset({P}), effects((set(), set())), []) == 1.0


def test_hand_computed() -> None:
    """States {p,q} and {p,r}: 1 − 1/3; then {q} and {p,q,r}: 1 − 1/3; then one plan goes on alone: 1. Mean 7/9."""
    first = effects(({Q}, set()), (set(), {P}))
    second = effects(({R}, set()), ({Q}, set()), (set(), {P}))
    assert state_distance(frozenset({P}), first, second) == pytest.approx(7 / 9)


def test_formula_on_random_effects() -> None:
    """δ = (Σ over the shorter plan of 1 − |s ∩ s'| / |s ∪ s'|, plus the difference in length) / the longer length."""
    rng = Random(13)
    facts = [P, Q, R, ("s",), ("t",)]

    def some(chance: float) -> State:
        return frozenset(fact for fact in facts if rng.random() < chance)

    for _ in range(300):
        init = some(0.5)
        plans = [[[step(some(0.3), some(0.4))] for _ in range(rng.randint(0, 5))] for _ in "ab"]
        visited = []
        for plan in plans:
            state, states = init, []
            for (operator,) in plan:
                state = (state - operator.delete_effects) | operator.add_effects
                states.append(state)
            visited.append(states)
        shorter, longer = sorted(map(len, visited))
        total = sum(1 - (len(s & t) / len(s | t) if s | t else 1) for s, t in zip(*visited, strict=False))
        expected = (total + longer - shorter) / longer if longer else 0.0
        assert state_distance(init, *plans) == pytest.approx(expected)
        assert state_distance(init, *plans[::-1]) == pytest.approx(expected)


def test_causal_distance() -> None:
    one, two, three = ((("a",), P, ("b",)), (("b",), Q, ("c",)), (("c",), R, ("d",)))
    assert causal_distance({one, two}, {two, three}) == pytest.approx(2 / 3)
    assert causal_distance({one}, {one}) == 0.0
    assert causal_distance({one}, {two}) == 1.0
    assert causal_distance(set(), set()) == 0.0


def test_causal_links() -> None:
    """Who made true what is needed: the start, or the last operator that added it; the goal needs its atoms."""
    paint, dry = step({P}, {Q}, {Q, R}, "paint"), step({Q}, {P}, {P, R}, "dry")
    again = step({P}, (), {Q}, "again")
    links = causal_links([[paint], [dry], [again]], frozenset({Q, R}), frozenset({P, Q, ("never",)}))
    assert links == {
        (INIT, Q, ("paint",)),
        (INIT, R, ("paint",)),
        (("paint",), P, ("dry",)),
        (INIT, R, ("dry",)),
        (("dry",), Q, ("again",)),
        (("again",), P, GOAL),
        (("dry",), Q, GOAL),
    }


def test_causal_links_are_bounded() -> None:
    """n concurrent actions that add what n others need make n² links: 2,500 of each took 1 GB."""
    givers = [step({P}, (), name=f"give{number}") for number in range(600)]
    takers = [step({Q}, (), {P}, name=f"take{number}") for number in range(600)]
    assert causal_links([givers, takers], frozenset(), frozenset()) is None
    assert len(causal_links([givers[:300], takers[:300]], frozenset(), frozenset()) or ()) == 90_000


def test_beyond_the_bound_there_is_no_causal_distance_and_a_reason() -> None:
    plan = ", ".join(["{" + ", ".join(f"a(o{number})" for number in range(600)) + "}"] * 2)
    problem = (
        f"(define (problem p) (:domain d) (:objects {' '.join(f'o{n}' for n in range(600))}) (:init (z)) (:goal (z)))"
    )
    domain = "(define (domain d) (:action a :parameters (?x) :precondition (z) :effect (and (z) (p ?x))))"
    scores = compare_plans(plan, plan, problem=problem, domain=domain)
    assert (scores.plan_valid, scores.state_distance, scores.causal_distance) == (True, 0.0, None)
    assert "causal links" in scores.detail
