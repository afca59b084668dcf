"""A planning task: a problem in its domain, and what follows from the two.

This is the one place where a text and the name of a domain become something that can be compared, solved and named. A
task computes each thing once; who scores rows keeps the tasks of references (``kept``), for they serve all answers.
"""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from itertools import islice

from pddl_eval.definition import words
from pddl_eval.definition.budget import OutOfBudgetError, cached_or_undecided, or_undecided
from pddl_eval.definition.canonical import LabelledGraph, digest
from pddl_eval.definition.closure import ClosedGoal, closure
from pddl_eval.definition.domains import (
    CoveredGoal,
    CoveredState,
    NotCovered,
    PlanningDomain,
    chosen_domain,
    known_domain,
    nothing_known_of,
    planning_domain,
)
from pddl_eval.definition.kept import kept
from pddl_eval.definition.model import ROOT_TYPE, Action, Domain, Problem, State
from pddl_eval.definition.pddl import (
    TOO_LONG,
    ParseError,
    Unreadable,
    ill_typed,
    read_any_problem,
    read_problem,
    require_declared,
)
from pddl_eval.definition.planning import Solution, executed, search, solve
from pddl_eval.definition.scenes import GOAL_STATE, formula_scene, numeric_scenes, state_scenes
from pddl_eval.definition.state_space import GoalCosts, StateSpace, goal_costs, state_space
from pddl_eval.definition.validation import without_costs
from pddl_eval.definition.verdict import CERTIFICATE_VERSION, UNCHANGED_SINCE, Undecided, Unsolvable, Verdict

FEW_OBJECTS = 8
"""Objects up to which states are listed for a certificate where a domain has rules that do not cover them.

With twenty blocks, one of them in two places, cl(goal) takes the kernel a hundred times as long as the verdict.
"""

FEW_STATES = 300
"""States up to which they are listed for the certificate of an ill-typed problem, whose verdict needs none."""

UNREACHABLE = "no reachable state has"
NEVER: State = frozenset({("the-goal",)})
"""The closed goal of an unsolvable problem, and its label: no goal has them."""


class Scene(StrEnum):
    """Which atoms over a problem's objects a graph shows."""

    INIT = "init"
    AS_WRITTEN = "initial state and goal as written"
    CLOSED = "initial state and closed goal"
    CLOSED_GOAL = "closed goal"


class Task:
    """A problem in its domain (None: nothing is known of it), with types or (``typed`` False) ignoring them.

    What the row's budget cuts short is ``Undecided`` and not kept: the next row has time of its own.

    >>> from pddl_eval.definition.domains import known_domain
    >>> init, goal = frozenset({("holding", "a")}), frozenset({("clear", "a")})
    >>> task = Task(Problem("p", "blocksworld", {"a": "object"}, init, goal), known_domain("blocksworld"))
    >>> sorted(task.closure), task.plan
    ([('arm-empty',), ('clear', 'a'), ('on-table', 'a')], (('putdown', 'a'),))
    """

    def __init__(
        self, problem: Problem, domain: PlanningDomain | None, typed: bool = True, asked_for: str | None = None
    ) -> None:
        self.as_written = problem
        # A constant of the domain is one even if the problem declares it again.
        constants = domain.domain.constants if domain is not None else {}
        if not constants.keys().isdisjoint(problem.objects):
            own = {name: type_ for name, type_ in problem.objects.items() if name not in constants}
            problem = replace(problem, objects=own)
        self.problem = problem
        self.asked_for = asked_for or problem.domain
        """The name, where no domain was found."""
        self.domain = domain
        self.typed = typed
        self._graphs: dict[Scene, LabelledGraph] = {}

    @cached_property
    def untyped(self) -> Task:
        """The same task with types erased from the problem and from the operators."""
        return Task(self.problem.without_types(), self.domain, typed=False, asked_for=self.asked_for)

    def reading(self, functions: frozenset[str]) -> Task:
        """The same task, whose goal states have the values of these functions, too."""
        other = Task(self.problem, self.domain, typed=self.typed, asked_for=self.asked_for)
        other.__dict__["closed_goal"] = or_undecided(lambda: closure(self.problem, self._space(functions)))
        return other

    def _space(self, functions: frozenset[str] = frozenset()) -> StateSpace:
        """The reachable states, told apart by the values of these functions, too."""
        assert self.domain is not None
        domain = without_costs(self.problem, self.domain.operators_of(self.typed))
        return state_space(self.problem, domain, functions)

    @cached_property
    def types_matter(self) -> bool:
        """True unless every object is a plain ``object`` and no operator asks for more."""
        return (self.domain is not None and self.domain.has_types) or any(
            type_ != ROOT_TYPE for type_ in self.problem.objects.values()
        )

    @cached_property
    def numbers(self) -> dict[str, State]:
        """The numbers of the initial state and the metric; raises ``OutOfBudgetError`` for endless ones."""
        return {} if self.problem.is_strips else numeric_scenes(self.problem)

    @cached_property
    def ill_typed(self) -> str | None:
        """In words, an atom or number of the domain or the problem that a typed domain's declarations do not admit."""
        if self.domain is None or not self.typed:
            return None
        if self.domain.ill_typed:
            return f"the domain is ill-typed: {self.domain.ill_typed}"
        domain, types = self.domain.domain, [(name, (type_,)) for name, type_ in self.problem.objects.items()]
        why = domain.ill_typed(self.problem)
        for _, formula in self.problem.formulas:
            why = why or next(ill_typed(formula, types, domain), None)
        return words.ill_typed_problem(why) if why else None

    @cached_property
    def start(self) -> CoveredState | None:
        """The initial state as the domain's own rules read it; None where there are none or they do not cover it."""
        rules = self.domain.rules if self.domain is not None and self.is_plain else None
        start = rules(self.problem, self.typed) if rules is not None else None
        return None if isinstance(start, NotCovered) else start

    @cached_property
    def is_plain(self) -> bool:
        """True where costs forbid nothing and the goal is a set of atoms."""
        if self.problem.conjuncts or self.problem.beyond_states:
            return False
        return self.domain is None or self.domain.moves_freely(self.problem)

    @cached_property
    def goal(self) -> CoveredGoal | Unsolvable | None:
        """The goal as the domain's own rules read it."""
        return None if self.start is None else self.start.goal(self.problem.goal)

    @cached_or_undecided
    def closed_goal(self) -> ClosedGoal | Unsolvable | Undecided:
        """What tells the reachable goal states from all other reachable states (the paper's fullySpecify, exactly).

        By the domain's own rules where they cover the problem, else by enumeration.
        """
        if self.domain is None:
            return Undecided(nothing_known_of(self.asked_for))
        if self.goal is not None:
            return self.goal if isinstance(self.goal, Unsolvable) else ClosedGoal(self.goal.closure)
        if obstacle := self.domain.obstacle_of(self.problem):
            return Undecided(obstacle)
        return closure(self.problem, self._space())

    @property
    def closure(self) -> State | Unsolvable | Undecided:
        """cl(goal): the atoms that are true in all reachable goal states."""
        closed = self.closed_goal
        return closed.true if isinstance(closed, ClosedGoal) else closed

    @property
    def has_certificate(self) -> bool:
        """False where rules do not cover the problem and its states may be too many to be listed for a certificate."""
        if self.domain is None or self.start is not None or self.domain.obstacle_of(self.problem):
            return True
        if self.domain.rules is not None and len(self.problem.objects) > FEW_OBJECTS:
            return False
        if not self.ill_typed or (space := self._space()).refuted(self.problem):
            return True
        return len([*islice(space, FEW_STATES + 1)]) <= FEW_STATES

    @cached_or_undecided
    def plan(self) -> tuple[Action, ...] | Unsolvable | Undecided:
        """A plan that was executed, the proof that there is none, or the limit that was hit.

        It is that of ``solution``; beyond its limits any planner's. The planner is asked first where formulas make
        states slow and there are too many of them.
        """
        asked = self._outgrows_enumeration
        found = search(self.problem, self.domain, self.typed) if asked else None
        if found is None or isinstance(found, Undecided):
            found = self.solution
        if isinstance(found, Undecided) and not asked:
            found = search(self.problem, self.domain, self.typed) or found
        return found.plan if isinstance(found, Solution) else found

    @property
    def _outgrows_enumeration(self) -> bool:
        if self.domain is None or self.ill_typed or self.goal is not None or self.domain.obstacle_of(self.problem):
            return False
        return bool(self.domain.domain.outside_strips) and self._space().outgrows(self.problem)

    @cached_or_undecided
    def solution(self) -> Solution | Unsolvable | Undecided:
        """The defined plan (``planning``), with the state that it leads to."""
        if self.ill_typed:
            return Unsolvable(self.ill_typed)
        if isinstance(self.goal, Unsolvable):
            return self.goal
        if self.domain is not None and self.goal is not None:
            return executed(self.goal.plan, self.problem, self.domain.operators_of(self.typed))
        return solve(self.problem, self.domain, self.typed)

    @property
    def goal_costs(self) -> GoalCosts | Undecided:
        """What the goal costs from each reachable state; raises ``OutOfBudgetError``."""
        return kept(_goal_costs, self)

    @cached_or_undecided
    def optimal_cost(self) -> Fraction | Undecided | None:
        """What the cheapest plans cost, None where there is no plan."""
        found = self.goal_costs
        return found if isinstance(found, Undecided) else found.optimal_cost

    @cached_or_undecided
    def certificate(self) -> str | Undecided:
        """32 hexadecimal digits, equal exactly for equivalent problems; Undecided where cl(goal) is.

        All unsolvable problems over isomorphic initial states are one problem: none has a goal state.
        """
        return self._digest(Scene.CLOSED)

    @cached_or_undecided
    def placeholder_certificate(self) -> str | Undecided:
        """As ``certificate``, for the paper's placeholder mode: initial state and goal are compared separately."""
        return self._digest(Scene.INIT, Scene.CLOSED_GOAL)

    def _digest(self, *scenes: Scene) -> str:
        if self.domain and not self.domain.obstacle and self.domain.beyond_states(self.problem):
            return self._digest_as_written()
        closed = self.closed_goal
        if isinstance(closed, Undecided):
            raise OutOfBudgetError(closed.reason)
        if isinstance(closed, ClosedGoal) and closed.read:
            raise OutOfBudgetError(f"only the goal reads {' and '.join(sorted(closed.read))}")
        domain, version = self.problem.domain, UNCHANGED_SINCE
        if self.domain is not None:
            types = self.problem.objects.values()
            domain = self.domain.structure.fingerprint(types, numbers=bool(self.numbers))
            if self.domain.uses_negation and Scene.CLOSED_GOAL in scenes:
                version = CERTIFICATE_VERSION
        return digest(version, domain, *[self.graph(scene).form for scene in scenes])

    def _digest_as_written(self) -> str:
        """Where states alone do not decide what the problem is: equal for problems that are isomorphic as written."""
        assert self.domain is not None
        fingerprint = self.domain.structure.fingerprint(self.problem.objects.values(), numbers=True)
        return digest(CERTIFICATE_VERSION, fingerprint, self.graph(Scene.AS_WRITTEN).form)

    def atoms(self, scene: Scene) -> dict[str, State]:
        """The labelled sets of atoms of a scene; for a closed one the closure is known."""
        if scene is Scene.INIT:
            return {"init": self.problem.init, **self.numbers}
        if scene is Scene.AS_WRITTEN:
            goal_as_written = {"goal": self.problem.goal, **formula_scene(self.problem)}
            return {"init": self.problem.init, **self.numbers, **goal_as_written}
        closed = self.closed_goal
        assert not isinstance(closed, Undecided)
        if isinstance(closed, Unsolvable):
            goal = {UNREACHABLE: NEVER}
        else:
            true = closed.true
            if self.domain is not None and scene is Scene.CLOSED:
                # What no operator changes stands in the initial state already.
                true = frozenset([atom for atom in true if atom[0] in self.domain.fluents])
            goal = {"goal": true, "goal not": closed.false, **state_scenes(closed.states or ())}
            is_apart = scene is Scene.CLOSED_GOAL and closed.states is None
            if is_apart and self.domain is not None and self.domain.uses_negation:
                # Beside the initial state the needed negations say it all; alone, only all of them do.
                goal = {"goal": true, "goal possible": closed.possible}
        return goal if scene is Scene.CLOSED_GOAL else {"init": self.problem.init, **self.numbers, **goal}

    def graph(self, scene: Scene) -> LabelledGraph:
        """The objects with their types and the atoms of a scene.

        What the domain declares as a constant or operators name is known by name, so nothing else can stand for it; a
        declared constant that no atom names is left out.
        """
        if scene not in self._graphs:
            colours, atoms = dict(self.problem.objects), self.atoms(scene)
            if self.domain is not None:
                # What operators name and only the problem declares has the type that the problem says.
                named = self.domain.named.intersection(colours)
                colours |= {name: f"{colours[name]} = {name}" for name in named}
                constants = self.domain.domain.constants
                terms = {term for each in atoms.values() for atom in each for term in atom[1:]} if constants else ()
                colours |= {name: f"= {name}" for name in constants if name in terms}
            colours |= {atom[1]: GOAL_STATE for atom in atoms.get(GOAL_STATE, ())}
            self._graphs[scene] = LabelledGraph(colours, atoms)
        return self._graphs[scene]


def read_task(
    problem: str | Problem | None,
    domain: str | Domain | None = None,
    *,
    answer: str = "first",
    for_plans: bool = False,
) -> Task | Unreadable:
    """The task that a problem and a domain state: PDDL texts or values, or the name of a known domain.

    ``domain`` defaults to the domain that the problem names; of an unknown name nothing is known (``Task.domain`` is
    None). ``answer`` says which of several drafts counts. ``for_plans``: the problem may go beyond STRIPS in any
    domain. Raises ``DomainError`` where the domain is a text that cannot be read.

    >>> read_task("(define (problem p)").verdict.value
    'unparseable'
    >>> text = "(define (problem p) (:domain gripper) (:objects b g) (:init) (:goal (not (carry b g))))"
    >>> read_task(text).verdict.value, read_task(text, for_plans=True).problem.conjuncts
    ('not_strips', (('not', ('carry', 'b', 'g')),))
    """
    given = PlanningDomain(domain) if isinstance(domain, Domain) else kept(planning_domain, domain) if domain else None
    found = problem if isinstance(problem, Problem) else problem_in(given, problem, answer, for_plans)
    if isinstance(found, Unreadable):
        return found
    name = domain if isinstance(domain, str) else None
    return Task(found, given if domain else known_domain(found.domain), asked_for=name)


def reference_task(problem: str | None, domain: str | None = None, *, for_plans: bool = False) -> Task | Unreadable:
    """As ``read_task``, for what further answers are held against."""
    return kept(read_task, problem, domain, for_plans=for_plans)


def _goal_costs(task: Task) -> GoalCosts | Undecided:
    assert task.domain is not None
    if obstacle := task.domain.beyond_states(task.problem):
        return Undecided(obstacle)
    return goal_costs(task.problem, task.domain.domain)


def problem_in(
    domain: PlanningDomain | None, text: str | None, answer: str = "first", for_plans: bool = False
) -> Problem | Unreadable:
    """The problem in a text: STRIPS in a STRIPS domain, any that is executed in another, any ``for_plans``."""
    constants = domain.domain.constants if domain else ()
    if for_plans or (domain is not None and not domain.is_strips):
        return read_any_problem(text, constants, answer, strips_first=for_plans)
    found = read_problem(text, constants, answer=answer)
    if (
        isinstance(found, Unreadable) and found.verdict is Verdict.UNPARSEABLE
    ):  # for the package, which says what is STRIPS
        other = read_any_problem(text, constants, answer)
        if isinstance(other, Problem) and other.beyond_states:
            return Unreadable(Verdict.NOT_STRIPS, f"the problem has {other.beyond_states}")
        if isinstance(other, Problem) and not other.is_strips and TOO_LONG in found.detail:
            return Unreadable(Verdict.NOT_STRIPS, "the problem has numbers, a metric or a goal that is not STRIPS")
    return found


def task_of(problem: str | Problem | None, domain: str | Domain | None = None, *, for_plans: bool = False) -> Task:
    """As ``read_task``, where a mistake is an error.

    Raises ``ParseError`` where the problem cannot be read, ``DomainError`` where the domain cannot, or where ``domain``
    is the name of none.

    >>> task_of("(define (problem p) (:domain gripper) (:init) (:goal (and)))").domain.name
    'gripper'
    """
    if isinstance(domain, str) and domain:
        chosen_domain(domain)
    task = read_task(problem, domain, for_plans=for_plans)
    if isinstance(task, Unreadable):
        raise ParseError(task.verdict, task.detail)
    if isinstance(problem, Problem):
        require_declared(problem, task.domain.domain.constants if task.domain else ())
    return task


def executed_in(problem: str | Problem | None, domain: str | Domain | None = None) -> Task | Unreadable:
    """As ``task_of``, for plans; a problem with a construct that is not executed (``undecided``) is returned.

    >>> executed_in("(define (problem p) (:domain gripper) (:init) (:goal (and)) (:htn (and)))").detail
    '`(:htn …)` in the problem'
    """
    try:
        return task_of(problem, domain, for_plans=True)
    except ParseError as error:
        if error.verdict is not Verdict.UNDECIDED:
            raise
        return Unreadable(error.verdict, error.detail)


def read_pair(
    reference: str | None, generated: str | None, domain: str | None = None, answer: str = "first"
) -> tuple[Task | Unreadable, Task | Unreadable]:
    """A reference and an answer in one domain: the one that is given, else the one that the reference names.

    ``answer`` says which of several drafts of the answer counts.

    >>> read_pair("(define (problem p) (:domain gripper) (:init) (:goal (and)))", None)[1].verdict.value
    'empty'
    """
    task = reference_task(reference, domain)
    known = task.domain if isinstance(task, Task) else kept(planning_domain, domain) if domain else None
    problem = problem_in(known, generated, answer)
    return task, problem if isinstance(problem, Unreadable) else Task(problem, known, asked_for=domain)
