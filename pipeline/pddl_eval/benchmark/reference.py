"""A reference problem as the makers of answers see it: its text, its value, and the closure of its goal.

It is prepared once for all its answers, and writes problems as a model might: objects and atoms in any order.
"""

from __future__ import annotations

from itertools import count
from random import Random

from pddl_eval.domains import planning_domain
from pddl_eval.equivalence.analysis import closure_of
from pddl_eval.errors import UserError
from pddl_eval.model import ROOT_TYPE, Atom, Problem, State, show_atom
from pddl_eval.parsing import parse_problem
from pddl_eval.verdict import Undecided, Unsolvable


class Reference:
    """A reference, and how its answers are to be compared (the paper's isPlaceholder).

    ``domain`` is a known domain's name or a PDDL text, by default what the problem names. Raises ``ValueError``
    (``ParseError``, ``DomainError``) where one of the texts cannot be read, and where the goal cannot be reached: an
    answer to such a reference has no label.

    ``closures`` is cl(goal) as types have it and, where there are any, as it is without them; empty where one of the
    two is not known.
    """

    def __init__(self, text: str, is_placeholder: bool = False, domain: str | None = None) -> None:
        self.text = text
        self.is_placeholder = is_placeholder
        self.planning_domain = planning_domain(domain) if domain else None
        self.problem = parse_problem(text, self.planning_domain.domain.constants if self.planning_domain else ())
        if not domain:
            self.planning_domain = planning_domain(self.problem.domain)
        closure = closure_of(self.problem, self.planning_domain)
        if isinstance(closure, Unsolvable):
            raise UserError(f"the reference has no solution: {closure.reason}")
        domain_types = self.planning_domain.domain.types if self.planning_domain else {}
        self._types_matter = bool(domain_types) or self.problem != self.problem.without_types()
        self.closures = self.closures_with(self.problem)

    def closures_with(self, changed: Problem) -> tuple[State, ...]:
        """``closures`` of a changed problem in the same domain; where they are known, its goal can be reached."""
        found = [closure_of(changed, self.planning_domain)]
        if self._types_matter:
            found.append(closure_of(changed.without_types(), self.planning_domain, typed=False))
        known = tuple(closure for closure in found if not isinstance(closure, (Unsolvable, Undecided)))
        return known if len(known) == len(found) else ()


def fresh_name(problem: Problem, stem: str) -> str:
    """A name that no object of the problem has."""
    return next(name for name in (f"{stem}{number}" for number in count(1)) if name not in problem.objects)


def write(problem: Problem, random: Random) -> str:
    """The problem as PDDL, its objects and atoms in random order, on one line for each section or for each atom.

    >>> print(write(Problem("p", "d", {"a": "object"}, frozenset({("q", "a")}), frozenset({("q", "a")})), Random(0)))
    (define (problem p)
      (:domain d)
      (:requirements :strips)
      (:objects a)
      (:init (q a))
      (:goal (and (q a)))
    )
    """
    between = random.choice((" ", "\n    "))
    is_typed = any(type_ != ROOT_TYPE for type_ in problem.objects.values())
    return "\n".join(
        [
            f"(define (problem {problem.name})",
            f"  (:domain {problem.domain})",
            f"  (:requirements :strips{' :typing' if is_typed else ''})",
            f"  (:objects {_objects(problem, random)})",
            f"  (:init {between.join(_shuffled(problem.init, random))})",
            f"  (:goal (and {between.join(_shuffled(problem.goal, random))}))",
            ")",
        ]
    )


def _objects(problem: Problem, random: Random) -> str:
    """The declaration of the objects; those without a type come last, where PDDL's grammar wants them."""
    by_type: dict[str, list[str]] = {}
    for name in random.sample(sorted(problem.objects), len(problem.objects)):
        by_type.setdefault(problem.objects[name], []).append(name)
    untyped = " ".join(by_type.pop(ROOT_TYPE, []))
    typed = [f"{' '.join(names)} - {type_}" for type_, names in by_type.items()]
    return " ".join(part for part in [*typed, untyped] if part)


def _shuffled(atoms: State, random: Random) -> list[str]:
    ordered: list[Atom] = sorted(atoms)
    random.shuffle(ordered)
    return list(map(show_atom, ordered))
