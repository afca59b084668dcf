"""Random domains in any PDDL that is executed, each with a problem and a plan, for what the stories do not think of.

Types with ``either``, constants, derived predicates with recursion and negation below, nested ``when`` and ``forall``,
shadowed variables, empty connectives, numbers that lack a value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from random import Random

from tests.judges.interpreter import Failed, Step, all_actions, execute, read

Typed = tuple[str, str]
Arities = Mapping[str, Sequence[str]]
"""Predicates or functions with the types of their arguments."""

ABOVE = {"object": {"object"}, "t": {"t", "object"}, "u": {"u", "object"}, "v": {"v", "t", "u", "object"}}
"""The types that a type is below: ``v`` is both a ``t`` and a ``u``."""

OBJECTS = [("a", "t"), ("b", "u"), ("c", "v"), ("d", "v"), ("k", "v")]
"""The last one is a constant."""


class Draw:
    """A random domain, and formulas in its words."""

    def __init__(self, random: Random) -> None:
        self.random, self.variables = random, 0
        self.basic = {f"p{number}": self._types(random.randint(0, 2)) for number in range(4)} | {"z": []}
        self.derived = {f"d{number}": self._types(random.randint(0, 2)) for number in range(random.randint(0, 3))}
        self.functions: dict[str, list[str]] = {}
        self.all: Arities = self.basic | self.derived

    def _types(self, count: int) -> list[str]:
        return [self.random.choice(["object", "object", "t", "u", "v"]) for _ in range(count)]

    def atom(self, scope: Sequence[Typed], names: Arities) -> str:
        """An atom or a fluent over the terms in scope; ``(z)`` where there is none."""
        for name in self.random.sample([*names], len(names)):
            fitting = [[term for term, own in scope if wanted in ABOVE[own]] for wanted in names[name]]
            if all(fitting):
                return f"({' '.join([name, *map(self.random.choice, fitting)])})"
        return "(z)"

    def listing(self, count: int) -> list[Typed]:
        """New variables."""
        self.variables += count
        names = [f"?v{self.variables - number}" for number in range(count)]
        return list(zip(names, self._types(count), strict=True))

    def number(self, scope: Sequence[Typed], depth: int = 2) -> str:
        """A numeric expression."""
        kind = self.random.random()
        if kind < 0.6 or not depth:
            fluent = self.atom(scope, self.functions)
            return fluent if kind < 0.3 and fluent != "(z)" else self.random.choice(["0", "1", "2", "0.5", "0.1"])
        parts = [self.number(scope, depth - 1) for _ in range(2)]
        return f"({self.random.choice('+-*/')} {' '.join(parts)})"

    def condition(self, scope: Sequence[Typed], names: Arities, depth: int = 2) -> str:
        """A condition."""
        kind = self.random.choice(
            ["atom", "atom", "not", "and", "or", "imply", "forall", "exists", "=", "<"] if depth else ["atom"]
        )
        if kind in ("forall", "exists"):
            new = self.listing(self.random.randint(1, 2))
            if scope and self.random.random() < 0.2 and scope[0][0].startswith("?"):
                new = [scope[0]]  # The same variable again.
            inside = [each for each in scope if each[0] not in dict(new)] + new
            return f"({kind} ({shown(new)}) {self.condition(inside, names, depth - 1)})"
        if kind == "=" and scope:
            return f"(= {self.random.choice(scope)[0]} {self.random.choice(scope)[0]})"
        if kind == "<" and (fluent := self.atom(scope, self.functions)) != "(z)":
            return f"({self.random.choice(['<', '<=', '=', '>=', '>'])} {fluent} {self.number(scope)})"
        if kind in ("not", "and", "or", "imply"):
            count = {"not": 1, "imply": 2}.get(kind, self.random.randint(0, 3))
            return f"({' '.join([kind, *(self.condition(scope, names, depth - 1) for _ in range(count))])})"
        return self.atom(scope, names)

    def effect(self, scope: Sequence[Typed], depth: int = 3) -> str:
        """An effect."""
        kind = self.random.choice(["add", "delete", "and", "when", "forall", "number"] if depth else ["add"])
        if kind == "when":
            return f"(when {self.condition(scope, self.all)} {self.effect(scope, depth - 1)})"
        if kind == "forall":
            new = self.listing(1)
            return f"(forall ({shown(new)}) {self.effect([*scope, *new], depth - 1)})"
        if kind == "and":
            return f"(and {' '.join(self.effect(scope, depth - 1) for _ in range(self.random.randint(1, 3)))})"
        if kind == "number" and (fluent := self.atom(scope, self.functions)) != "(z)":
            verb = self.random.choice(["increase", "increase", "decrease", "assign", "scale-up", "scale-down"])
            return f"({verb} {fluent} {self.number(scope)})"
        atom = self.atom(scope, self.basic)
        return f"(not {atom})" if kind == "delete" else atom

    def domain(self) -> str:
        """The domain in PDDL."""
        constant = OBJECTS[-1]
        sections = [
            "(define (domain drawn) (:types t u - object v - (either t u))",
            f"(:constants {shown([constant])})",
        ]
        sections.append(f"(:predicates {' '.join(self._declared(*each) for each in self.all.items())})")
        for name, types in self.derived.items():
            own = [(f"?y{number}", type_) for number, type_ in enumerate(types)]
            lower = {other: each for other, each in self.all.items() if other in self.basic or other < name}
            new = self.listing(1)
            inside = [*own, *new, constant]
            again = self.atom(inside, {name: types})  # It may need itself, but not deny itself.
            sections.append(
                f"(:derived ({' '.join([name, shown(own)])}) (or {self.condition([*own, constant], lower)}"
                f" (exists ({shown(new)}) (and {self.atom(inside, self.basic)} {again}))))"
            )
        # The judge has no answer where a rule reads a number without a value: rules know of none.
        self.functions = {f"f{number}": self._types(self.random.randint(0, 1)) for number in range(2)}
        sections.append(f"(:functions {' '.join(self._declared(*each) for each in self.functions.items())})")
        for number in range(self.random.randint(2, 4)):
            own = self.listing(self.random.randint(0, 2))
            scope = [*own, constant]
            effects = " ".join(self.effect(scope) for _ in range(self.random.randint(1, 3)))
            sections.append(
                f"(:action a{number} :parameters ({shown(own)}) :precondition {self.condition(scope, self.all)}"
                f" :effect (and {effects}))"
            )
        return "\n".join(sections) + ")"

    def _declared(self, name: str, types: Sequence[str]) -> str:
        return f"({' '.join([name, shown([(f'?x{number}', type_) for number, type_ in enumerate(types)])])})"

    def problem(self) -> str:
        """A problem in PDDL."""
        init = [f"({' '.join(atom)})" for atom in self._ground(self.basic) if self.random.random() < 0.4]
        values = [f"({' '.join(fluent)})" for fluent in self._ground(self.functions) if self.random.random() < 0.9]
        init += [f"(= {fluent} {self.random.choice(['0', '1', '2', '0.5', '-1'])})" for fluent in values]
        goal = " ".join(self.condition(OBJECTS, self.all) for _ in range(self.random.randint(1, 3)))
        return (
            f"(define (problem p) (:domain drawn) (:objects {shown(OBJECTS[:-1])})\n(:init {' '.join(init)})\n"
            f"(:goal (and {goal})) (:metric {self.random.choice(['minimize', 'maximize'])} {self.number(OBJECTS)}))"
        )

    def _ground(self, names: Arities) -> Iterator[tuple[str, ...]]:
        for name, types in names.items():
            for terms in product(*([term for term, own in OBJECTS if wanted in ABOVE[own]] for wanted in types)):
                yield name, *terms


def shown(names: Sequence[Typed]) -> str:
    """A typed list."""
    return " ".join(f"{name} - {type_}" for name, type_ in names)


def random_case(random: Random) -> tuple[str, str, list[Step]]:
    """A domain, a problem and a plan of which most steps can be executed, some of them concurrent."""
    draw = Draw(random)
    domain, problem = draw.domain(), draw.problem()
    task = read(domain, problem)
    state, steps, actions = task.initial, [], all_actions(task)
    for _ in range(random.randint(0, 6)):
        for _ in range(10):
            step: Step = frozenset(random.sample(actions, 2)) if random.random() < 0.3 else random.choice(actions)
            try:
                state = execute(task, state, step)
            except Failed:
                if random.random() < 0.05:
                    return domain, problem, [*steps, step]
                continue
            steps.append(step)
            break
    return domain, problem, steps
