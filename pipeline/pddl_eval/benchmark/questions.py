"""Questions about any problems, each with its computed key: after prefixes of random walks and of plans.

What a question asks for and which answers are right is in ``definition.questions``; here is what is asked, in which
words, and how yes and no, some and none are balanced. A key that is not decided is no key: its question is left out,
and its kind is not asked again about the problem.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import count
from random import Random
from typing import Any, NamedTuple, cast

import polars as pl
import pyarrow as pa

from pddl_eval import kernel
from pddl_eval.benchmark.variants import PLAIN, widened, widened_table
from pddl_eval.definition.budget import OutOfBudgetError, looked_after, spend
from pddl_eval.definition.domains import PlanningDomain
from pddl_eval.definition.formulas import World
from pddl_eval.definition.grounding import GroundingLimitError, objects_that_fit
from pddl_eval.definition.kept import Keep, keeping
from pddl_eval.definition.metrics import NotExecuted, Row
from pddl_eval.definition.model import Action, Atom, Domain, Operator, Problem, State, show_atom
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.definition.planning import Solution
from pddl_eval.definition.plans import Plan
from pddl_eval.definition.questions import (
    InvalidQuestionError,
    Question,
    Searches,
    applicable_in,
    kinds,
    unknown_kind,
)
from pddl_eval.definition.state_space import StateSpace, ground_operators, list_states, still_reachable
from pddl_eval.definition.validation import Failure, execute, taken, without_costs
from pddl_eval.definition.verdict import RightAnswers, Undecided, Unsolvable
from pddl_eval.errors import UserError
from pddl_eval.kernel.states import by_kernel
from pddl_eval.scoring.kept import KEPT, Kept

LONGEST_WALK = 10
"""Steps of a random walk, at most."""

DRAWS = 6
"""Plans that are tried for a question whose key says what is wanted, yes or no, some or none; then any key will do."""

ENUMERATIONS = 2
"""Keys that are computed for it where they need the states that can be reached after the plan."""

LOOKS = 50
"""Most work for a key (``budget.WORK_PER_LOOK``), a twentieth of a second: the same questions on every machine."""

FEW_STATES = 60
"""States that are enumerated before the kernel searches."""

LONGEST_PLAN = 20
"""Steps of a plan of which it is asked what can be left out, at most."""

SHORT = 10
"""Steps of a plan for which it is soon known whether it is a cheapest one."""

WORK_TO_SEARCH = 5_000
"""What a search by the kernel counts as."""

EACH = "Write each as in PDDL and nothing else."
OR_NONE = "Answer with it alone, as in PDDL, or with none."

TEXTS: Mapping[str, str] = {
    "applicable": f"Which actions can be executed next? List all of them. {EACH}",
    "progression": "What does the last action make true that was false before, and what does it make false? Answer "
    "with two lists: positive effects: […], negative effects: […].",
    "state": f"Which atoms are true then? List all of them, also those that no action changes. {EACH}",
    "trace": "Which atoms are true after each of them, those included that no action changes? Answer with a line for "
    "each step, such as step 1: (…) (…).",
    "executability": "Which is the first that cannot be executed? Answer with its number, or with none if all can.",
    "validity": "Is this a plan for the problem: can each action be executed, and does the goal hold at the end? "
    "Answer yes or no; after no, name a condition that is not met.",
    "unreachable_atom": f"Which atom can never be true then or later, whatever is done? {OR_NONE}",
    "unreachable_action": f"Which action can never be executed, whatever is done before? {OR_NONE}",
    "justification": "Which of them can be left out, so that the others still reach the goal? Answer with the actions "
    "that are left, or with none if no action can be left out.",
    "landmark": "Which atom does every plan from there to the goal make true, besides the goal's own atoms and what is "
    f"true already? {OR_NONE}",
    "next_action": f"Which action begins a cheapest plan from there to the goal? {OR_NONE}",
}
"""What each kind of question asks, in words; before it are the plan's actions."""

NOT_EXECUTED = ("executability", "validity", "justification")
"""The kinds that do not say that their plan was executed."""

QUESTION_FIELDS = (
    pa.field("domain", pa.string()),
    pa.field("reference_id", pa.string()),
    pa.field("question", pa.string()),
    pa.field("plan", pa.string()),
    pa.field("prefix_length", pa.int64()),
    pa.field("question_text", pa.string()),
    pa.field("reference_answer", pa.string()),
)
"""What a question adds to its problem's row; ``prefix_length`` is the number of the plan's actions."""

REPLACED = ("domain", "reference_id")
"""Those that a problem may have, too."""

READ = ("reference_problem", *REPLACED)

AHEAD = ("landmark", "next_action", "unreachable_action", "unreachable_atom")
"""The kinds that are about all states that can be reached."""

LAST_STEP = ("progression", "trace")
"""The kinds that are about a plan's steps."""

NONE_IS_AN_ANSWER = ("executability", "justification", *AHEAD)


class Asked(NamedTuple):
    """A question about a problem: its kind, its plan, and a right answer."""

    kind: str
    plan: tuple[Action, ...]
    answer: str

    @property
    def values(self) -> tuple[object, ...]:
        """What it adds to its problem's row, after the two columns that name problem and domain."""
        plan = "\n".join(map(show_atom, self.plan))
        return self.kind, plan, len(self.plan), self.text, self.answer

    @property
    def text(self) -> str:
        """The question in words.

        >>> print(Asked("executability", (("wait",),), "none").text.partition("?")[0])
        These actions are to be executed one after the other, from the initial state:
        0: (wait)
        Which is the first that cannot be executed
        """
        to_do = self.kind in NOT_EXECUTED
        steps = [*map(show_atom, self.plan)]
        if self.kind == "executability":  # Its answers count from 0, as ACPBench's do.
            steps = [f"{number}: {step}" for number, step in enumerate(steps)]
        begin = (
            f"These actions {'are to be' if to_do else 'were'} executed one after the other, from the initial state:"
        )
        nothing = "No action is to be executed." if to_do else "Nothing was executed yet."
        return "\n".join([*([begin, *steps] if steps else [nothing]), TEXTS[self.kind]])


def draw_questions(
    problem: Question, among: Sequence[str], number: int, random: Random, turn: int = 0
) -> Iterator[Asked]:
    """That many questions about a problem, of the kinds in turn; fewer where no others are found or decided.

    ``problem`` is a question about it without a plan. The kinds of a turn are asked after the same walks. In every
    other turn the answer should be yes, or some; ``turn`` is the number of the first.
    """
    ground = Ground(problem)
    plan = solution_of(problem, ground.keep)
    asked: set[tuple[str, Plan]] = set()
    undecided: set[str] = set()
    for place in range(number):
        if place % len(among) == 0:
            draw = Draw(problem, plan, random, (turn + place // len(among)) % 2 == 0, ground)
        kind = among[place % len(among)]
        if kind not in undecided:
            try:
                found = draw.question(kind, asked)
            except OutOfBudgetError:
                undecided.update(AHEAD if kind in AHEAD and not ground.is_searched else [kind])
                continue
            if found:
                asked.add(found[:2])
                yield found


class Ground:
    """The operators of a problem, ground once: those that may apply after a plan are among them.

    ``operators`` are all that ever apply, and maybe more; None where there are too many to ground them soon.
    """

    def __init__(self, problem: Question) -> None:
        assert problem.task.domain is not None
        self.problem, self.domain = problem.task.problem, without_costs(problem.task.problem, problem.domain)
        self.is_searched = problem.task.domain.is_searched_in(self.problem)
        self._kept, self._world = Kept(), World(self.problem, problem.domain)
        try:
            with bounded(LOOKS):
                self.operators: list[Operator] | None = ground_operators(self.problem, self.domain)
        except (OutOfBudgetError, GroundingLimitError):
            self.operators = None

    def keep(self, compute: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """For ``keeping``: states are listed with these operators."""
        if compute is list_states:
            return self._kept(self._states, *arguments, **options)
        return KEPT(compute, *arguments, **options)

    def _states(self, objects: Any, init: State, values: Any, domain: Domain, reading: frozenset[str]) -> StateSpace:
        if dict(objects) != self.problem.objects or domain != self.domain:  # A task that asks for a landmark.
            return list_states(objects, init, values, domain, reading)
        if self.operators is None:
            raise OutOfBudgetError("there are too many operators")
        operators = self.operators
        if init != self.problem.init:
            operators = still_reachable(operators, init, domain)
        return StateSpace(replace(self.problem, init=init, values=dict(values)), domain, reading, operators)

    def walk(self, steps: int, random: Random) -> tuple[Action, ...]:
        """A random walk: each step is one of all that can be done, with equal chances; shorter where nothing can."""
        world, walked = self._world, list[Action]()
        world.become(self.problem.init, self.problem.values)
        while len(walked) < steps and (step := self._step(random)):
            world.change(*step)
            walked += [each.action for each in step[0]]
        return tuple(walked)

    def _step(self, random: Random) -> tuple[tuple[Operator, ...], Mapping[Atom, Fraction]] | None:
        world = self._world
        if self.operators is None:
            with bounded(LOOKS):
                found = sorted(applicable_in(world))
        else:
            found = [each.action for each in self.operators if each.applicable(world.true)]
        while found:
            action = random.choice(found)
            step = taken({action}, world)
            if not isinstance(step, Failure):
                return step
            found.remove(action)
        return None


class Draw:
    """Plans in a problem for questions of all kinds, whose keys should be yes, or some, if ``wanted``, else no or none.

    All kinds begin with the same few walks: what can be reached after each is enumerated once.
    """

    def __init__(
        self, problem: Question, plan: tuple[Action, ...], random: Random, wanted: bool, ground: Ground
    ) -> None:
        self.problem, self.plan, self.random, self.wanted, self.ground = problem, plan, random, wanted, ground
        self.starts: list[Question] = []
        self.ends: dict[Plan, tuple[Action, ...]] = {}

    def question(self, kind: str, asked: Set[tuple[str, Plan]]) -> Asked | None:
        """A question of the kind, if one is found soon; raises ``OutOfBudgetError`` where a key is not decided."""
        other, keys = None, ENUMERATIONS if kind in AHEAD else DRAWS
        for draw in range(DRAWS):
            if draw == len(self.starts):  # What is to be reached is ahead after few steps.
                self.starts.append(self._prefix(LONGEST_WALK // (1 + draw * self.wanted)))
            start = self.starts[draw]
            try:
                with bounded(LOOKS, self.ground.keep):
                    plan = self._plan(kind, start)
                    if (kind, plan) in asked or (kind in LAST_STEP and not plan):
                        continue
                    found = kinds()[kind].key(start if plan == start.plan else with_plan(plan, self.problem))
            except InvalidQuestionError:
                continue
            assert found.text is not None
            other, keys = Asked(kind, plan, found.text), keys - 1
            if keys == 0 or _says(kind, found) in (self.wanted, None) or (kind in AHEAD and not start.is_enumerated):
                break
        return other

    def _prefix(self, longest: int) -> Question:
        """The problem after a random walk, or after the first steps of a plan."""
        steps = self.random.randint(0, longest)
        if self.plan and self.random.random() < 0.5:
            return with_plan(self.plan[:steps], self.problem)
        return with_plan(self.ground.walk(steps, self.random), self.problem)

    def _plan(self, kind: str, start: Question) -> tuple[Action, ...]:
        if kind == "executability":
            return _actions(start) if self.wanted else damaged(start, self.random)
        if kind not in ("justification", "validity"):
            return _actions(start)
        if start.plan not in self.ends:  # Where the problem has no plan soon, none is searched for from its states.
            self.ends[start.plan] = solution_of(start, self.ground.keep) if self.plan else ()
        whole = (*_actions(start), *self.ends[start.plan])
        if kind == "justification" and len(whole) > LONGEST_PLAN:
            raise OutOfBudgetError("the plan is too long")
        if self.wanted:
            return whole
        if kind == "validity":
            return damaged(replace(self.problem, plan=whole), self.random)
        return needed(whole, lambda plan: with_plan(plan, self.problem).execution.reaches_goal)


def needed(plan: tuple[Action, ...], reaches_goal: Callable[[tuple[Action, ...]], bool]) -> tuple[Action, ...]:
    """The plan without steps that can be left out one at a time, the last first.

    >>> needed((("a",), ("b",), ("a",)), lambda plan: ("a",) in plan)
    (('a',),)
    """
    for place in reversed(range(len(plan))):
        without = (*plan[:place], *plan[place + 1 :])
        if reaches_goal(without):
            plan = without
    return plan


def damaged(question: Question, random: Random) -> tuple[Action, ...]:
    """The plan without a step, with two exchanged, or with any action in the place of one."""
    plan = _actions(question)
    if not plan:
        return plan
    one, other = (random.randrange(len(plan)) for _ in range(2))
    match random.randrange(4):
        case 0:
            return (*plan[:one], *plan[one + 1 :])
        case 1:
            changed = {one: plan[other], other: plan[one]}
        case _:
            changed = {one: _any_action(plan[one], question, random)}
    return tuple(changed.get(number, step) for number, step in enumerate(plan))


def _any_action(like: Action, question: Question, random: Random) -> Action:
    """An action of the problem, of the same operator or of another."""
    name = random.choice([like[0], *sorted(question.operators)])
    fitting = [sorted(objects_that_fit(question.objects, types, question.domain)) for types in question.operators[name]]
    return (name, *map(random.choice, fitting)) if all(fitting) else like


def _actions(question: Question) -> tuple[Action, ...]:
    """The plan's steps: here each is one action."""
    return cast(tuple[Action, ...], question.plan)


def with_plan(plan: tuple[Action, ...], problem: Question) -> Question:
    """The question about the problem with that plan."""
    execution = execute([{action} for action in plan], problem.task.problem, problem.domain)
    return replace(problem, plan=plan, execution=execution)


def solution_of(question: Question, keep: Keep | None = None) -> tuple[Action, ...]:
    """A plan from there to the goal; empty where none is known."""
    try:
        with bounded(LOOKS, keep):
            found = question.solution
    except (InvalidQuestionError, OutOfBudgetError):
        return ()
    return () if isinstance(found, Undecided) else tuple(found.plan)


def _search(problem: Problem, domain: PlanningDomain) -> Solution | Unsolvable | Undecided:
    """A plan, or a proof that there is none; it counts as work."""
    found = kernel.search(problem, domain, soon=True)
    spend(WORK_TO_SEARCH)
    return found


def _cheapest(problem: Problem, domain: PlanningDomain) -> Solution | Unsolvable | Undecided:
    """A cheapest plan, where there is a short one; raises ``OutOfBudgetError`` for others."""
    found = _search(problem, domain)
    if isinstance(found, Solution) and len(found.plan) > SHORT:
        raise OutOfBudgetError("a cheapest plan is not found soon")
    return kernel.cheapest(problem, domain) if isinstance(found, Solution) else found


SOON = Searches(_search, _cheapest, FEW_STATES)
"""Searches for the keys of questions: what takes long is not asked."""


def _says(kind: str, answers: RightAnswers) -> bool | None:
    """Whether the key is yes, or some; None for a kind whose keys are all alike."""
    if kind == "validity":
        return answers.elements == frozenset({True})
    if kind not in NONE_IS_AN_ANSWER or answers.none_is_right is None:
        return None
    return answers.none_is_right is (kind == "executability")


@contextmanager
def bounded(most: int, keep: Keep | None = None) -> Iterator[None]:
    """Give what runs inside that much work (``budget.WORK_PER_LOOK``); then it raises ``OutOfBudgetError``."""
    looks = count(1)

    def look() -> None:
        if next(looks) > most:
            raise OutOfBudgetError("it takes too long")

    with looked_after(look), keeping(keep or by_kernel(KEPT)):
        yield


@dataclass(frozen=True)
class Asking:
    """Which questions are asked about each problem: of which kinds (default: of all), how many, drawn by which seed.

    Raises ``UserError`` for an unknown kind. ``options`` name the columns and the domain of rows that name none.

    >>> held = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"
    >>> asked = Asking(["applicable", "state"], per_row=3).table(pa.table({"reference_problem": [held]}))
    >>> asked["question"].to_pylist()
    ['applicable', 'state', 'applicable']
    """

    kinds: Sequence[str] = ()
    per_row: int = 11
    seed: int = 0
    options: ScoringOptions = PLAIN

    def __post_init__(self) -> None:
        for why in map(unknown_kind, self.kinds):
            if why:
                raise UserError(why)

    def schema(self, schema: pa.Schema) -> pa.Schema:
        """The schema of the questions about problems with this schema; raises ``UserError`` as ``widened`` does."""
        return widened(schema, READ, QUESTION_FIELDS, self.options, REPLACED)

    def table(self, problems: pa.Table, first_row: int = 0) -> pa.Table:
        """Questions about each problem, in the problems' order; none about one that cannot be executed.

        ``first_row`` is the number of the table's first row in its dataset. A row has the columns of its problem and
        ``QUESTION_FIELDS``; its ``reference_id`` is that of the problem, else the number of its row, with a number.
        """
        return widened_table(problems, first_row, READ, QUESTION_FIELDS, self.options, self._asked, REPLACED)

    def counted(self, table: pa.Table) -> pl.DataFrame:
        """How many ``questions`` there are of each kind, and how many keys are "none" or "no"."""
        kind, key = map(self.options.column, ("question", "reference_answer"))
        is_none = pl.col(key).str.contains("^(none|no)\\b").cast(pl.Int64).sum().alias("none or no")
        return pl.DataFrame(table.select([kind, key])).group_by(kind).agg(pl.len().alias("questions"), is_none)

    def _asked(self, row: Row, number: int) -> Iterator[tuple[object, ...]]:
        """The values of ``QUESTION_FIELDS`` of the questions about a problem."""
        problem = kernel.read_answer({**row, "question": "state"}, self.options).question
        if isinstance(problem, NotExecuted):
            return
        if problem.searches.cheapest is not None:
            problem = replace(problem, searches=SOON)
        random = Random(f"{self.seed} {number}")
        domain, name = row.get("domain") or self.options.domain, row.get("reference_id") or number
        asked = draw_questions(problem, self.kinds or sorted(kinds()), self.per_row, random, number)
        yield from ((domain, f"{name}/{place}", *each.values) for place, each in enumerate(asked))
