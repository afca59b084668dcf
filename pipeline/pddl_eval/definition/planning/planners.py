"""Which plan a problem has, and who is asked for it: the domain's own rules, enumeration, Fast Downward.

The plan is defined: the rules' in a known domain, else the shortest, and of several the first in alphabetical order.
What Fast Downward finds beyond that is only a plan.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product

from pddl_eval.definition import words
from pddl_eval.definition.budget import WORK_PER_LOOK, spend
from pddl_eval.definition.domains import NotCovered, PlanningDomain, Rules
from pddl_eval.definition.model import Action, Atom, Domain, Formula, Problem, State, compares_numbers
from pddl_eval.definition.planning import fast_downward
from pddl_eval.definition.state_space import state_space
from pddl_eval.definition.validation import execute_actions, without_costs
from pddl_eval.definition.verdict import Undecided, Unsolvable

CONFLICTS = 3
"""Atoms that may be set aside from an initial state that no rules cover before its states are enumerated."""

MOST_PARTS = 300
"""Parts of an initial state that are tried before: a circle of 60 blocks has 60, and three circles have 216,000."""

MOST_ALTERNATIVES = 20_000
"""Atoms that are tried in the place of one that a plan's last state must lack, each in some ten microseconds."""


@dataclass(frozen=True, slots=True)
class Solution:
    """A plan that was executed, and the state that it leads to."""

    plan: tuple[Action, ...]
    state: State


def solve(
    problem: Problem, planning_domain: PlanningDomain | None, typed: bool = True, lacking: Atom | None = None
) -> Solution | Unsolvable | Undecided:
    """The plan of the problem in that domain, executed and found to reach the goal; else a proof or a limit.

    ``lacking`` is an atom that the plan's last state must not have.

    >>> from pddl_eval.definition.domains import known_domain
    >>> init, goal = frozenset({("holding", "a")}), frozenset({("clear", "a")})
    >>> problem = Problem("p", "blocksworld", {"a": "object"}, init, goal)
    >>> solve(problem, known_domain("blocksworld")).plan
    (('putdown', 'a'),)
    """
    is_plain = not problem.conjuncts and not problem.beyond_states
    if problem.goal <= problem.init and lacking not in problem.init and is_plain:
        return Solution((), problem.init)
    if planning_domain is None:
        return Undecided("the domain is not known")
    domain = planning_domain.operators_of(typed)
    if planning_domain.rules is not None and problem.is_strips and planning_domain.moves_atoms(problem):
        found = _solve_by_rules(problem, planning_domain.rules, typed, domain, lacking)
        if found is not None:
            return found
    if obstacle := planning_domain.obstacle_of(problem):
        return Undecided(obstacle)
    problem = _lacking(problem, lacking)
    space = state_space(problem, without_costs(problem, domain))
    if proof := space.refuted(problem):
        return proof
    for node, _, has_goal in space.judged(problem):
        if has_goal:
            return executed(space.plan_to(node), problem, domain)
    return space.limit or Unsolvable(words.no_state(len(space.into)))


def solve_anyhow(
    problem: Problem, planning_domain: PlanningDomain | None, typed: bool = True, lacking: Atom | None = None
) -> Solution | Unsolvable | Undecided:
    """As ``solve``, but beyond enumeration any plan that Fast Downward finds."""
    found = solve(problem, planning_domain, typed, lacking)
    return search(problem, planning_domain, typed, lacking) or found if isinstance(found, Undecided) else found


def search(
    problem: Problem, planning_domain: PlanningDomain | None, typed: bool = True, lacking: Atom | None = None
) -> Solution | Unsolvable | Undecided | None:
    """What Fast Downward says of the problem; None where it is not asked: it knows no numbers and no time."""
    if planning_domain is None or planning_domain.obstacle_of(problem):
        return None
    problem, domain = _lacking(problem, lacking), planning_domain.operators_of(typed)
    if reads_numbers(problem.conjuncts, domain):
        return None
    spend(WORK_PER_LOOK)  # Nothing is started for a row whose budget has ended.
    plan = fast_downward.find_plan(problem, domain)
    if not isinstance(plan, tuple):
        return plan
    if planning_domain.moves_freely(problem):
        return executed(plan, problem, domain)
    # It knows nothing of costs: where one has no value, the action cannot be executed.
    execution = execute_actions(plan, problem, domain)
    return Solution(plan, execution.state) if execution.reaches_goal else None


def reads_numbers(goal: Iterable[Formula], domain: Domain) -> bool:
    """Whether a condition of an operator, a rule or a goal compares numbers."""
    formulas = [*goal, *(form for _, form in domain.formulas)]
    formulas += [form for operator in domain.operators for _, form in operator.formulas]
    return any(map(compares_numbers, formulas))


def _lacking(problem: Problem, atom: Atom | None) -> Problem:
    """The problem, whose goal asks for the atom to be false."""
    return problem if atom is None else replace(problem, formulas=(*problem.formulas, (":goal", ("not", atom))))


def _solve_by_rules(
    problem: Problem, rules: Rules, typed: bool, domain: Domain, lacking: Atom | None
) -> Solution | Unsolvable | None:
    plan = _plan_by_rules(problem, rules, typed, CONFLICTS, iter(range(MOST_PARTS)))
    if isinstance(plan, tuple) and lacking is not None:
        ending = executed(plan, problem, domain)
        if lacking not in ending.state:
            return ending
        plan = _plan_by_alternatives(problem, rules, typed, domain, lacking)
    return executed(plan, problem, domain, lacking) if isinstance(plan, tuple) else plan


def executed(plan: tuple[Action, ...], problem: Problem, domain: Domain, *lacking: Atom | None) -> Solution:
    """The plan after it was executed: one that is not valid, or ends with an atom to be lacking, is a bug."""
    execution = execute_actions(plan, problem, domain)
    if not execution.reaches_goal or not execution.state.isdisjoint(lacking):
        raise AssertionError(f"a plan for {problem.name} does not lead to a goal state: {execution.reason}")
    return Solution(plan, execution.state)


def _plan_by_rules(
    problem: Problem, rules: Rules, typed: bool, conflicts: int, parts: Iterator[int]
) -> tuple[Action, ...] | Unsolvable | None:
    """The rules' answer; where the initial state breaks an assumption, a plan from a part of it that breaks none.

    Where operators ask for no absent atom, as in every domain with rules, further initial atoms never hurt: a plan from
    a part of the initial state is a plan. That a part has none proves nothing: None.
    """
    start = rules(problem, typed)
    if not isinstance(start, NotCovered):
        goal = start.goal(problem.goal)
        return goal if isinstance(goal, Unsolvable) else goal.plan
    if conflicts:
        for atom, _ in zip(sorted(start.atoms, key=problem.goal.__contains__), parts, strict=False):
            spend(len(problem.init))
            part = replace(problem, init=problem.init - {atom})
            found = _plan_by_rules(part, rules, typed, conflicts - 1, parts)
            if isinstance(found, tuple):
                return found
    return None


def _plan_by_alternatives(
    problem: Problem, rules: Rules, typed: bool, domain: Domain, lacking: Atom
) -> tuple[Action, ...] | None:
    """The rules' plan to a goal state without an atom: for the goal and another atom, which excludes that one.

    In the domains with rules, what takes the place of an atom is an atom too: a block is on another one, a robot
    has another colour. What nothing takes the place of (paint) is made true only on demand. None where no atom helps.
    """
    start = rules(problem, typed)
    if isinstance(start, NotCovered):
        return None
    for other in islice(_alternatives(lacking, [*problem.objects, *domain.constants], domain), MOST_ALTERNATIVES):
        goal = problem.goal | {other}
        spend(len(problem.init))
        if isinstance(start.goal(goal | {lacking}), Unsolvable):
            reached = start.goal(goal)
            if not isinstance(reached, Unsolvable):
                return reached.plan
    return None


def _alternatives(atom: Atom, objects: Sequence[str], domain: Domain) -> Iterator[Atom]:
    """The atoms that operators add, those that share an object with the given one first, then those of few objects."""
    added = {(each[0], len(each) - 1) for operator in domain.operators for each in operator.add_effects}
    shapes = sorted(added, key=lambda shape: (shape[1], shape))
    for name, arity in shapes:
        for place, term in product(range(arity), atom[1:]):
            for others in product(objects, repeat=arity - 1):
                yield (name, *others[:place], term, *others[place:])
    for name, arity in shapes:
        for terms in product(objects, repeat=arity):
            yield (name, *terms)
