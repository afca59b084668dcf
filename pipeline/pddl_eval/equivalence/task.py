"""A planning task: a problem in its domain, and all that follows from the two, each thing computed once.

This is the one place where a text and the name of a domain become something that can be compared, solved and named: a
reference serves all answers that are compared with it. Deciding between two tasks is ``decide``'s business.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property, lru_cache, partial
from hashlib import blake2b

from pddl_eval.budget import OutOfBudgetError, attempted
from pddl_eval.canonical import LabelledGraph
from pddl_eval.domains import (
    BrokenAssumption,
    CoveredState,
    PlanningDomain,
    chosen_domain,
    known_domain,
    nothing_known_of,
    planning_domain,
)
from pddl_eval.model import ROOT_TYPE, Action, Domain, Problem, State
from pddl_eval.parsing import ParseError, Unreadable, parse_problem, read_problem, require_declared
from pddl_eval.solve import Solution, goal_state, solve
from pddl_eval.strips import closure as closure_by_search
from pddl_eval.verdict import CERTIFICATE_VERSION, Undecided, Unsolvable

REFERENCES_KEPT = 256
"""References kept for further answers; about 50 KB each for a typical benchmark problem."""


class Task:
    """A problem in its domain (None: nothing is known of it), with types or (``typed`` False) ignoring them.

    What the row's budget cuts short is ``Undecided`` and not kept: the next row has time of its own.

    >>> from pddl_eval.domains import known_domain
    >>> init, goal = frozenset({("holding", "a")}), frozenset({("clear", "a")})
    >>> task = Task(Problem("p", "blocksworld", {"a": "object"}, init, goal), known_domain("blocksworld"))
    >>> sorted(task.closure), task.plan
    ([('arm-empty',), ('clear', 'a'), ('on-table', 'a')], (('putdown', 'a'),))
    """

    def __init__(
        self, problem: Problem, domain: PlanningDomain | None, typed: bool = True, asked_for: str | None = None
    ) -> None:
        self.as_written = problem
        # What the domain declares as a constant is one, whatever a problem declares again.
        constants = domain.domain.constants if domain is not None else {}
        if not constants.keys().isdisjoint(problem.objects):
            own = {name: type_ for name, type_ in problem.objects.items() if name not in constants}
            problem = replace(problem, objects=own)
        self.problem = problem
        self.asked_for = asked_for or problem.domain
        """The name, where no domain was found."""
        self.domain = domain
        self.typed = typed

    @cached_property
    def untyped(self) -> Task:
        """The same task with types erased from the problem and from the operators."""
        return Task(self.problem.without_types(), self.domain, typed=False, asked_for=self.asked_for)

    @cached_property
    def types_matter(self) -> bool:
        """True unless every object is a plain ``object`` and no operator asks for more."""
        return (self.domain is not None and self.domain.has_types) or any(
            type_ != ROOT_TYPE for type_ in self.problem.objects.values()
        )

    @cached_property
    def ill_typed(self) -> str | None:
        """In words, an atom that the declarations of a typed domain do not admit (``Domain.ill_typed``)."""
        return self.domain.domain.ill_typed(self.problem) if self.domain is not None and self.typed else None

    @cached_property
    def start(self) -> CoveredState | None:
        """The initial state as the domain's own rules read it; None where there are none or they do not cover it."""
        rules = self.domain.rules if self.domain is not None else None
        start = rules(self.problem, self.typed) if rules is not None else None
        return None if isinstance(start, BrokenAssumption) else start

    @attempted
    def closure(self) -> State | Unsolvable | Undecided:
        """cl(goal), the intersection of all reachable states that contain the goal (the paper's fullySpecify, exactly).

        By the domain's own rules where they cover the problem, else by enumeration, invariants, search and Fast
        Downward within their limits.
        """
        return _closure_of(self)

    @property
    def has_closure(self) -> bool:
        """True where the closure is known already or costs no search."""
        return "closure" in self.__dict__ or self.start is not None

    @property
    def plan(self) -> tuple[Action, ...] | Unsolvable | Undecided:
        """A plan that was executed, the proof that there is none, or the limit that was hit."""
        found = self.solution
        return found.plan if isinstance(found, Solution) else found

    @attempted
    def solution(self) -> Solution | Unsolvable | Undecided:
        """The plan with the state that it leads to."""
        if self.ill_typed:
            return Unsolvable(f"the problem is ill-typed: {self.ill_typed}")
        if self.has_closure and isinstance(self.closure, Unsolvable):
            return self.closure
        return solve(self.problem, self.domain, self.typed)

    @attempted
    def certificate(self) -> str | Undecided:
        """32 hexadecimal digits, equal exactly for equivalent problems; Undecided where cl(goal) is.

        All unsolvable problems over isomorphic initial states are one problem: none has a goal state.
        """
        if isinstance(self.closure, Undecided):
            raise OutOfBudgetError(self.closure.reason)
        return self._digest(self.closed_graph)

    @attempted
    def placeholder_certificate(self) -> str | Undecided:
        """As ``certificate``, for the paper's placeholder mode: initial state and goal are compared separately."""
        if isinstance(self.closure, Undecided):
            raise OutOfBudgetError(self.closure.reason)
        return self._digest(self.initial_scene, self.closed_goal_scene)

    def _digest(self, *graphs: LabelledGraph) -> str:
        domain = self.domain.fingerprint if self.domain is not None else self.problem.domain
        forms = [graph.form for graph in graphs]
        return blake2b(repr((CERTIFICATE_VERSION, domain, forms)).encode(), digest_size=16).hexdigest()

    @cached_property
    def _colors(self) -> dict[str, str]:
        """Each object's type; a constant of the domain is known by name, so nothing else can stand for it."""
        constants = self.domain.domain.constants if self.domain is not None else ()
        return {**self.problem.objects, **{name: f"= {name}" for name in constants}}

    @cached_property
    def initial_scene(self) -> LabelledGraph:
        """The graph of the initial state."""
        return LabelledGraph(self._colors, {"init": self.problem.init})

    @cached_property
    def graph_as_written(self) -> LabelledGraph:
        """The initial state joined with the goal's own atoms."""
        return LabelledGraph(self._colors, {"init": self.problem.init, "goal": self.problem.goal})

    @cached_property
    def closed_goal_scene(self) -> LabelledGraph:
        """The graph of cl(goal)."""
        return LabelledGraph(self._colors, self._closed_goal)

    @cached_property
    def closed_graph(self) -> LabelledGraph:
        """The initial state joined with cl(goal), without what no operator changes: it stands in the initial state."""
        goal = self._closed_goal
        if self.domain is not None and isinstance(self.closure, frozenset):
            fluents = self.domain.fluents
            goal = {"goal": frozenset([atom for atom in self.closure if atom[0] in fluents])}
        return LabelledGraph(self._colors, {"init": self.problem.init, **goal})

    @property
    def _closed_goal(self) -> dict[str, State]:
        if isinstance(self.closure, Unsolvable):  # a scene that no goal's atoms can make
            return {"no reachable state has": frozenset({("the-goal",)})}
        assert not isinstance(self.closure, Undecided)
        return {"goal": self.closure}


def _closure_of(task: Task) -> State | Unsolvable | Undecided:
    if task.domain is None:
        return Undecided(nothing_known_of(task.asked_for))
    if task.start is not None:
        return task.start.fully_specify(task.problem.goal)
    domain = task.domain.operators_of(task.typed)
    return closure_by_search(task.problem, domain, partial(goal_state, task.problem, domain))


def task_of(problem: str | Problem | None, domain: str | Domain | None = None) -> Task:
    """The task that a problem and a domain state: PDDL texts or values, or the name of a known domain.

    ``domain`` defaults to the domain that the problem names. Raises ``ParseError`` where the problem cannot be read,
    ``DomainError`` where the domain cannot, or where ``domain`` is the name of none.

    >>> task_of("(define (problem p) (:domain gripper) (:init) (:goal (and)))").domain.name
    'gripper'
    """
    given = PlanningDomain(domain) if isinstance(domain, Domain) else chosen_domain(domain) if domain else None
    return _task(problem, given)


def _task(problem: str | Problem | None, given: PlanningDomain | None) -> Task:
    constants = given.domain.constants if given else ()
    if isinstance(problem, Problem):
        require_declared(problem, constants)
    else:
        problem = parse_problem(problem, constants)
    return Task(problem, given or known_domain(problem.domain))


@lru_cache(maxsize=REFERENCES_KEPT)
def read_task(text: str | None, domain: str | None = None) -> Task | Unreadable:
    """As ``task_of``, for a row: what cannot be read or is not known is returned, not raised; the last tasks are kept.

    Raises ``DomainError`` where the domain is a text that cannot be read.

    >>> read_task("(define (problem p)").verdict.value
    'unparseable'
    """
    given = planning_domain(domain) if domain else None
    try:
        task = _task(text, given)
    except ParseError as error:
        return Unreadable(error.verdict, error.detail)
    return Task(task.problem, None, asked_for=domain) if domain and given is None else task


def read_pair(
    reference: str | None, generated: str | None, domain: str | None = None
) -> tuple[Task | Unreadable, Task | Unreadable]:
    """A reference and an answer in one domain: the one that is given, else the one that the reference names.

    >>> read_pair("(define (problem p) (:domain gripper) (:init) (:goal (and)))", None)[1].verdict.value
    'empty'
    """
    task = read_task(reference, domain)
    if isinstance(task, Task):
        known = task.domain
    else:
        known = planning_domain(domain) if domain else None
    problem = read_problem(generated, known.domain.constants if known else ())
    return task, problem if isinstance(problem, Unreadable) else Task(problem, known, asked_for=domain)
