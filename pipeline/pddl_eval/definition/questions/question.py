"""A question about a task and a plan: what all kinds of questions ask of it, and the forms that judgements take."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice, product
from typing import Any, TypeVar, cast

from pddl_eval.definition import words
from pddl_eval.definition.budget import OutOfBudgetError, spend
from pddl_eval.definition.domains import PlanningDomain
from pddl_eval.definition.formulas import World
from pddl_eval.definition.grounding import objects_that_fit
from pddl_eval.definition.model import ROOT_TYPE, Action, Atom, Domain, Problem, State, Types
from pddl_eval.definition.planning import Solution, solve
from pddl_eval.definition.plans import Plan, actions_of
from pddl_eval.definition.state_space import MAX_STATES, StateSpace, state_space
from pddl_eval.definition.task import Task
from pddl_eval.definition.validation import Execution, Failure, operator_of, without_costs
from pddl_eval.definition.verdict import Judgement, PlanVerdict, RightAnswers, Undecided, Unsolvable

Found = TypeVar("Found")

Search = Callable[[Problem, PlanningDomain], Solution | Unsolvable | Undecided]


@dataclass(frozen=True, slots=True)
class Searches:
    """Who finds plans: plain enumeration, or somebody who can do more.

    ``plan`` finds one or proves that there is none. ``cheapest``, if there is one, finds a plan of the fewest actions.
    ``states`` is how many are enumerated before these two are asked, where they can be asked.
    """

    plan: Search = solve
    cheapest: Search | None = None
    states: int = MAX_STATES


PLAIN = Searches()
"""What the definition does by itself."""


class InvalidQuestionError(Exception):
    """The question has no answer: its plan cannot be executed, or there is no plan. The message says why."""


@dataclass(frozen=True, eq=False)
class Question:
    """A task that can be executed, a plan in it and how far that gets; states are those of the validator.

    ``damage`` says that not all of the plan could be read: its execution fails there.
    """

    task: Task
    plan: Plan
    execution: Execution
    searches: Searches = PLAIN
    _found: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)  # Of a changed copy nothing is known.

    def once(self, compute: Callable[[Question], Found]) -> Found:
        """What the function says of the question, which is asked once."""
        if compute not in self._found:
            self._found[compute] = compute(self)
        return cast(Found, self._found[compute])

    @property
    def domain(self) -> Domain:
        assert self.task.domain is not None
        return self.task.domain.domain

    @property
    def steps(self) -> int:
        """The number of the plan's steps, of which each was executed; raises ``InvalidQuestionError``."""
        if self.execution.failed_step is not None:
            raise InvalidQuestionError(words.failure(self.execution.failed_step, self.execution.reason, "the plan: "))
        return len(self.execution.steps)

    @cached_property
    def actions(self) -> frozenset[Action]:
        """The actions of the plan."""
        return frozenset[Action]().union(*map(actions_of, self.plan))

    @cached_property
    def after(self) -> Problem:
        """The problem that begins after the plan."""
        if not self.steps:
            return self.task.problem
        return replace(self.task.problem, init=self.execution.state, values=dict(self.execution.values))

    @cached_property
    def world(self) -> World:
        """The state after the plan."""
        return World(self.after, self.domain)

    @cached_property
    def true(self) -> State:
        """What is true after the plan, derived atoms included."""
        return frozenset(self.world.true)

    def states(self) -> Iterator[State]:
        """What is true initially and after each step that was executed, derived atoms included."""
        return true_states(self.execution, self.task.problem, self.domain)

    @property
    def space(self) -> StateSpace:
        """The states that can be reached from there."""
        return state_space(self.after, without_costs(self.after, self.domain))

    @cached_property
    def is_enumerated(self) -> bool:
        """True where the states that can be reached from there are few enough to be enumerated."""
        assert self.task.domain is not None
        asked = self.searches.states if self.task.domain.is_searched_in(self.after) else MAX_STATES
        space = self.space
        return not any(islice(space, asked, None)) and space.limit is None

    @property
    def whole_space(self) -> StateSpace:
        """All states that can be reached from there; raises ``OutOfBudgetError`` where they are too many."""
        space = self.space
        for _ in space:
            pass
        if space.limit is not None:
            raise OutOfBudgetError(space.limit.reason)
        return space

    def reach(self, atoms: Iterable[Atom], absent: Iterable[Atom] = ()) -> Solution | Unsolvable | Undecided:
        """A plan from there to a state that has some atoms and lacks others."""
        assert self.task.domain is not None
        problem = replace(self.after.with_goal(("not", atom) for atom in absent), goal=frozenset(atoms))
        return self.searches.plan(problem, self.task.domain)

    @cached_property
    def solution(self) -> Solution | Undecided:
        """A plan from there to the goal; raises ``InvalidQuestionError`` where there is none."""
        assert self.task.domain is not None
        found = self.searches.plan(self.after, self.task.domain)
        if isinstance(found, Unsolvable):
            raise InvalidQuestionError(f"there is no plan: {found.reason}")
        return found

    # What the problem has words for

    @cached_property
    def objects(self) -> Mapping[str, str]:
        """The types of the objects and constants."""
        return {**self.task.problem.objects, **self.domain.constants}

    @cached_property
    def predicates(self) -> Mapping[str, tuple[Types, ...]]:
        """The types of each predicate's arguments: as declared, else any object in each atom that the task uses."""
        if self.domain.predicates:
            return self.domain.predicates
        used = [*self.task.problem.init, *self.task.problem.goal]
        used += [atom for operator in self.domain.operators for part in operator.parts for atom in part]
        return {atom[0]: ((ROOT_TYPE,),) * (len(atom) - 1) for atom in sorted(used) if atom[0] != "="}

    @cached_property
    def operators(self) -> Mapping[str, tuple[Types, ...]]:
        """The types of each operator's parameters."""
        return {each.name: tuple(types for _, types in each.parameters) for each in self.domain.operators}

    def why_no_atom(self, atom: Atom) -> str | None:
        """Why the problem has no such atom: its predicate, the number of its arguments, an object or a type."""
        for name in atom[1:]:
            if name not in self.objects:
                return words.not_of_problem(atom, words.no_such_object(name))
        declared = replace(self.domain, predicates=self.predicates)
        why = declared.why_not(atom, self.objects)
        return words.not_of_problem(atom, why) if why else None

    def why_no_action(self, action: Action) -> str | None:
        """Why the problem has no such action: its operator, the number of its arguments, an object or a type."""
        found = operator_of(action, self.world)
        if isinstance(found, Failure) and found.verdict is not PlanVerdict.PRECONDITION:
            return found.reason
        return None

    def instances(self, kinds: Mapping[str, tuple[Types, ...]]) -> Iterator[Atom]:
        """All atoms of the predicates, or all actions of the operators."""
        for name, types in sorted(kinds.items()):
            fitting = [objects_that_fit(self.objects, each, self.domain) for each in types]
            for number, terms in enumerate(product(*fitting)):
                spend(number % 2)
                yield (name, *terms)


def true_states(execution: Execution, problem: Problem, domain: Domain) -> Iterator[State]:
    """What is true initially and after each step of an execution, derived atoms included."""
    world = World(problem, domain)
    yield frozenset(world.true)
    for operators, updates in zip(execution.steps, execution.updates, strict=True):
        world.change(operators, updates)
        spend(1 + len(world.true))
        yield frozenset(world.true)


@dataclass(frozen=True, slots=True)
class Judged:
    """A judgement, its shares, what is wrong in words (``detail``), and that without the right answer (``told``)."""

    judgement: Judgement
    precision: float | None = None
    recall: float | None = None
    first_wrong_step: int | None = None
    detail: str = ""
    told: str | None = None

    @staticmethod
    def of(is_right: bool, wrong: str = "", told: str | None = None) -> Judged:
        """Of an answer that is right or wrong as a whole."""
        share = float(is_right)
        return Judged(
            Judgement.RIGHT if is_right else Judgement.WRONG, share, share, None, "" if is_right else wrong, told
        )

    @staticmethod
    def unreadable(reason: str) -> Judged:
        return Judged(Judgement.UNREADABLE, 0.0, 0.0, None, reason)


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of question: what it asks for, which answers are right, and the right answers.

    ``judge`` takes an answer as text and which of several drafts counts. Both raise ``InvalidQuestionError`` where the
    question has no answer and ``OutOfBudgetError`` where a limit was hit.
    """

    asks: str
    right_when: str
    judge: Callable[[Question, str, str], Judged]
    key: Callable[[Question], RightAnswers]
    partial: str = field(default="")


def decided(found: Any) -> Any:
    """What was found; raises ``OutOfBudgetError`` where it is not decided."""
    if isinstance(found, Undecided):
        raise OutOfBudgetError(found.reason)
    return found
