"""The problem that answers are made from, read and closed once for all its answers; problems as models write them.

The room's only use of parsing, planning domains and closures is here. Nothing here makes an answer.
"""

from __future__ import annotations

from random import Random

from pddl_eval.definition.model import ROOT_TYPE, Problem, State, show_atom
from pddl_eval.definition.task import Task, task_of
from pddl_eval.definition.verdict import Undecided, Unsolvable
from pddl_eval.errors import UserError


class Original:
    """A reference problem, and how its answers are to be compared (the paper's isPlaceholder).

    ``domain`` is a known domain's name or a PDDL text, by default what the problem names. Raises ``UserError``
    (``ParseError``, ``DomainError``) where one of the texts cannot be read, and where the goal cannot be reached: an
    answer to such a problem has no label.

    ``closures`` is cl(goal) as types have it and, where types matter, as it is without them; empty where one of the
    two is not known.
    """

    def __init__(self, text: str, is_placeholder: bool = False, domain: str | None = None) -> None:
        self.text = text
        self.is_placeholder = is_placeholder
        task = task_of(text, domain or None)
        self.problem = task.problem
        self.planning_domain = task.domain
        found = _closures(task)
        if isinstance(found[0], Unsolvable):
            raise UserError(f"the reference has no solution: {found[0].reason}")
        self.closures = _all_known(found)

    def closures_with(self, changed: Problem) -> tuple[State, ...]:
        """``closures`` of a changed problem in the same domain; where they are known, its goal can be reached."""
        return _all_known(_closures(Task(changed, self.planning_domain)))

    def ill_typed(self, problem: Problem) -> bool:
        """True where the declarations of the original's domain do not admit an atom of the problem."""
        return Task(problem, self.planning_domain).ill_typed is not None


def _closures(task: Task) -> list[State | Unsolvable | Undecided]:
    return [task.closure, task.untyped.closure] if task.types_matter else [task.closure]


def _all_known(found: list[State | Unsolvable | Undecided]) -> tuple[State, ...]:
    known = tuple(closure for closure in found if not isinstance(closure, (Unsolvable, Undecided)))
    return known if len(known) == len(found) else ()


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
    by_type: dict[str, list[str]] = {}
    for name in random.sample(sorted(problem.objects), len(problem.objects)):
        by_type.setdefault(problem.objects[name], []).append(name)
    untyped = by_type.pop(ROOT_TYPE, [])  # PDDL's grammar wants the objects without a type last.
    objects = [f"{' '.join(names)} - {type_}" for type_, names in by_type.items()] + untyped
    init, goal = sorted(problem.init), sorted(problem.goal)
    random.shuffle(init)
    random.shuffle(goal)
    return "\n".join(
        [
            f"(define (problem {problem.name})",
            f"  (:domain {problem.domain})",
            f"  (:requirements :strips{' :typing' if by_type else ''})",
            f"  (:objects {' '.join(objects)})",
            f"  (:init {between.join(map(show_atom, init))})",
            f"  (:goal (and {between.join(map(show_atom, goal))}))",
            ")",
        ]
    )
