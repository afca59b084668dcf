"""What is known of one problem, each thing computed when first asked for and then kept.

A reference is analysed once for all answers that are compared with it; so an analysis holds every value that only
depends on one side of a comparison.
"""

from __future__ import annotations

from functools import cached_property

from pddl_eval.domains import BrokenAssumption, PlanningDomain
from pddl_eval.equivalence.canonical import LabelledGraph
from pddl_eval.errors import UserError
from pddl_eval.model import ROOT_TYPE, Problem, State
from pddl_eval.verdict import Undecided, Unsolvable


def closure_of(
    problem: Problem, planning_domain: PlanningDomain | None, typed: bool = True
) -> State | Unsolvable | Undecided:
    """cl(goal), the intersection of all reachable states that contain the goal (the paper's fullySpecify, exactly).

    By the domain's own rules where they cover the problem, else by enumeration, invariants and search within a budget.

    >>> from pddl_eval.domains import known_domain
    >>> init, goal = frozenset({("holding", "a")}), frozenset({("clear", "a")})
    >>> problem = Problem("p", "blocksworld", {"a": "object"}, init, goal)
    >>> sorted(closure_of(problem, known_domain("blocksworld")))
    [('arm-empty',), ('clear', 'a'), ('on-table', 'a')]
    """
    if planning_domain is None:
        return Undecided(f"nothing is known of a domain named {problem.domain}")
    start = planning_domain.rules(problem, typed) if planning_domain.rules is not None else None
    if start is not None and not isinstance(start, BrokenAssumption):
        return start.fully_specify(problem.goal)
    from pddl_eval.strips import closure

    domain = planning_domain.domain if typed else planning_domain.domain.without_types()
    return closure(problem if typed else problem.without_types(), domain)


class Analysis:
    """A problem in its domain, with types or (``typed`` False) ignoring them."""

    def __init__(self, problem: Problem, planning_domain: PlanningDomain | None, typed: bool = True) -> None:
        self.problem = problem
        self.planning_domain = planning_domain
        self.typed = typed

    @cached_property
    def ignoring_types(self) -> Analysis:
        return Analysis(self.problem.without_types(), self.planning_domain, typed=False)

    @cached_property
    def types_matter(self) -> bool:
        """True unless every object is a plain ``object`` and no operator asks for more."""
        if self.planning_domain is not None and any(
            types != (ROOT_TYPE,)
            for operator in self.planning_domain.domain.operators
            for _, types in operator.parameters
        ):
            return True
        return any(type_ != ROOT_TYPE for type_ in self.problem.objects.values())

    @cached_property
    def closure(self) -> State | Unsolvable | Undecided:
        return closure_of(self.problem, self.planning_domain, self.typed)

    @property
    def has_closure_at_hand(self) -> bool:
        """True where the closure is known already or the domain's rules give it in polynomial time."""
        if "closure" in self.__dict__:
            return True
        rules = self.planning_domain.rules if self.planning_domain is not None else None
        return rules is not None and not isinstance(rules(self.problem, self.typed), BrokenAssumption)

    @cached_property
    def _colors(self) -> dict[str, str]:
        """Each object's type; a constant of the domain is known by name, so nothing else can stand for it."""
        colors = dict(self.problem.objects)
        if self.planning_domain is not None:
            colors |= {name: f"= {name}" for name in self.planning_domain.domain.constants}
        return colors

    @cached_property
    def initial_scene(self) -> LabelledGraph:
        return LabelledGraph(self._colors, {"init": self.problem.init})

    @cached_property
    def graph_as_written(self) -> LabelledGraph:
        return LabelledGraph(self._colors, {"init": self.problem.init, "goal": self.problem.goal})

    @cached_property
    def closed_goal_scene(self) -> LabelledGraph:
        """The scene of cl(goal); an unsolvable goal's scene is one no goal's atoms can make."""
        return LabelledGraph(self._colors, self._closed_goal())

    @cached_property
    def closed_graph(self) -> LabelledGraph:
        """The initial scene joined with the scene of cl(goal)."""
        return LabelledGraph(self._colors, {"init": self.problem.init, **self._closed_goal()})

    def _closed_goal(self) -> dict[str, State]:
        if isinstance(self.closure, Undecided):
            raise UserError(f"the closure is undecided: {self.closure.reason}")
        if isinstance(self.closure, Unsolvable):
            return {"no reachable state has": frozenset({("the-goal",)})}
        return {"goal": self.closure}
