"""Reachable states of small problems in any domain of the corpus, ADL included, by the semantics of PDDL.

Conditions are evaluated as they are written, quantifiers over all objects, derived predicates to a fixed point; costs
change nothing. It is slow and serves problems of a few objects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import Any

from pddl_eval.definition.model import EQUALITY, ROOT_TYPE, Problem, State

from tests.benchmark.written_domain import Formula, Typed, WrittenDomain

STATES = 20_000


def reaches_goal(domain: WrittenDomain, problem: Problem, goal: Callable[[State], bool]) -> bool:
    """Whether some reachable state has the goal; ``AssertionError`` beyond the limit of states."""
    world = _World(domain, problem)
    layer, seen = [problem.init], {problem.init}
    while layer:
        if any(goal(state) for state in layer):
            return True
        layer = [new for state in layer for new in world.successors(state) if new not in seen and not seen.add(new)]  # type: ignore[func-returns-value]
        assert len(seen) < STATES
    return False


class _World:
    def __init__(self, domain: WrittenDomain, problem: Problem) -> None:
        self.domain = domain
        self.objects = {**{name: types[0] for name, types in domain.constants}, **problem.objects}

    def successors(self, state: State) -> Iterator[State]:
        known = self.derived(state)
        for operator in self.domain.operators:
            for binding in self.bindings(operator.parameters):
                if all(self.holds(condition, known, binding) for condition in operator.conditions):
                    added: set[tuple[str, ...]] = set()
                    deleted: set[tuple[str, ...]] = set()
                    for effect in operator.effects:
                        self.apply(effect, known, binding, added, deleted)
                    yield (state - deleted) | added

    def bindings(self, parameters: Typed) -> Iterator[dict[str, str]]:
        fitting = [
            [
                name
                for name, type_ in self.objects.items()
                if ROOT_TYPE in types or set(types) & set(self.domain.ancestors(type_))
            ]
            for _, types in parameters
        ]
        for chosen in product(*fitting):
            yield dict(zip((name for name, _ in parameters), chosen, strict=True))

    def derived(self, state: State) -> State:
        while True:
            new = {
                (name, *binding.values())
                for name, parameters, body in self.domain.derived
                for binding in self.bindings(parameters)
                if self.holds(body, state, binding)
            }
            if new <= state:
                return state
            state |= new

    def holds(self, formula: Formula, state: State, binding: Mapping[str, str]) -> bool:
        head, *parts = formula
        if head == "not":
            return not self.holds(parts[0], state, binding)
        if head == "imply":
            return not self.holds(parts[0], state, binding) or self.holds(parts[1], state, binding)
        if head in ("and", "or"):
            return {"and": all, "or": any}[head](self.holds(part, state, binding) for part in parts)
        if head in ("forall", "exists"):
            inner = ({**binding, **more} for more in self.bindings(parts[0]))
            return {"forall": all, "exists": any}[head](self.holds(parts[1], state, each) for each in inner)
        terms = [binding.get(term, term) for term in parts]
        return terms[0] == terms[1] if head == EQUALITY else (head, *terms) in state

    def apply(
        self, effect: Formula, state: State, binding: Mapping[str, str], added: set[Any], deleted: set[Any]
    ) -> None:
        head, *parts = effect
        if head == "and":
            for part in parts:
                self.apply(part, state, binding, added, deleted)
        elif head == "forall":
            for more in self.bindings(parts[0]):
                self.apply(parts[1], state, {**binding, **more}, added, deleted)
        elif head == "when":
            if self.holds(parts[0], state, binding):
                self.apply(parts[1], state, binding, added, deleted)
        elif head == "not":
            name, *terms = parts[0]
            deleted.add((name, *(binding.get(term, term) for term in terms)))
        elif head != "increase":
            added.add((head, *(binding.get(term, term) for term in parts)))
