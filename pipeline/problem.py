"""The value that flows through the program: a STRIPS planning problem, its atoms as tuples of str.

Nothing here reads text, searches or scores. Atoms are plain tuples, states are frozensets of atoms, so that the
definitions of the literature are the lines of code: a goal holds in a state when ``goal <= state``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

Atom = tuple[str, ...]
"""A predicate's name followed by its arguments: ``("on", "b1", "b2")``."""

State = frozenset[Atom]

ROOT_TYPE = "object"
"""The type of an object that declares none, and the ancestor of every type."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A set of typed objects, an initial state (closed world) and a goal (open world), all in lower case.

    >>> swap = Problem("p", "blocksworld", {"a": "object"}, frozenset({("clear", "a")}), frozenset())
    >>> swap.goal <= swap.init
    True
    """

    name: str
    domain: str
    objects: Mapping[str, str]
    init: State
    goal: State

    def without_types(self) -> Problem:
        """The same problem with every object a plain ``object`` (the paper's figure 4, "ignoring typing")."""
        return replace(self, objects=dict.fromkeys(self.objects, ROOT_TYPE))


def show_atom(atom: Atom) -> str:
    """An atom as PDDL writes it.

    >>> show_atom(("on", "b1", "b2"))
    '(on b1 b2)'
    """
    return f"({' '.join(atom)})"


def problem_to_pddl(problem: Problem) -> str:
    """The problem as PDDL text, one section a line, atoms in alphabetical order.

    >>> print(problem_to_pddl(Problem("p", "d", {"a": "t", "b": "object"}, frozenset({("q", "a")}), frozenset())))
    (define (problem p)
      (:domain d)
      (:requirements :strips :typing)
      (:objects a - t b)
      (:init (q a))
      (:goal (and))
    )
    """
    by_type: dict[str, list[str]] = {}
    for name, type_ in problem.objects.items():
        by_type.setdefault(type_, []).append(name)
    untyped = by_type.pop(ROOT_TYPE, [])
    listing = [f"{' '.join(names)} - {type_}" for type_, names in by_type.items()] + [" ".join(untyped)]
    requirements = ":strips :typing" if by_type else ":strips"
    objects = " ".join(part for part in listing if part)
    return "\n".join(
        [
            f"(define (problem {problem.name})",
            f"  (:domain {problem.domain})",
            f"  (:requirements {requirements})",
            f"  (:objects {objects})" if objects else "  (:objects)",
            " ".join(["  (:init", *map(show_atom, sorted(problem.init))]) + ")",
            " ".join(["  (:goal (and", *map(show_atom, sorted(problem.goal))]) + "))",
            ")",
        ]
    )
