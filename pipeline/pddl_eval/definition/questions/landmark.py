"""Which atom does every plan make true? Fact landmarks (Hoffmann, Porteous and Sebastia 2004), as ACPBench Hard asks.

An atom that is true after some step of every plan from the state after the plan to the goal, and neither true in that
state nor a conjunct of the goal; or "none". Among enumerated states these are the atoms on each way to each goal state.
Beyond, an atom is no landmark exactly where a plan avoids it: the problem without the actions that add it is solved, or
proven to have no plan.

>>> from pddl_eval import judge_answer
>>> trip = '''(define (domain trip) (:predicates (at ?x) (road ?x ?y)) (:action go :parameters (?x ?y)
...   :precondition (and (at ?x) (road ?x ?y)) :effect (and (at ?y) (not (at ?x)))))'''
>>> north = '''(define (problem p) (:domain trip) (:objects a b c d) (:goal (at d))
...   (:init (at a) (road a b) (road a c) (road b d) (road c d) (road d a)))'''
>>> judge_answer("landmark", "(at b)", north, trip).detail
'a plan reaches the goal without (at b)'
>>> [judge_answer("landmark", "none", text, trip).correct for text in (north, north.replace("(road a c)", ""))]
[True, False]
"""

from __future__ import annotations

from dataclasses import replace
from itertools import islice, product
from typing import cast

from pddl_eval.definition import words
from pddl_eval.definition.budget import spend
from pddl_eval.definition.domains import PlanningDomain
from pddl_eval.definition.formulas import instances
from pddl_eval.definition.model import EQUALITY, Atom, Domain, Operator, Problem, State, is_atom
from pddl_eval.definition.planning import Solution
from pddl_eval.definition.questions.picks import ONE_OF_MANY, Picks, pick_kind, picks_among
from pddl_eval.definition.questions.question import Question, decided, true_states
from pddl_eval.definition.validation import execute_actions
from pddl_eval.definition.verdict import Undecided

MOST_COPIES = 50
"""Copies of an operator, none of which adds an atom."""


def _why_wrong(atom: Atom, question: Question) -> str:
    if why := question.why_no_atom(atom):
        return why
    solution = question.solution
    if atom in question.true:
        return words.trivial_landmark(atom, "initial state")
    if atom in _goal_atoms(question):
        return words.trivial_landmark(atom, "goal")
    decided(solution)
    return words.avoided(atom) if is_avoided(atom, question) else ""


def _goal_atoms(question: Question) -> State:
    """The conjuncts of the goal that are atoms, those of a ``forall`` with each choice of objects."""
    stated = (each for formula in question.after.conjuncts for each in instances(formula, question.world))
    return question.after.goal.union(cast(Atom, each) for each in stated if is_atom(each))


def is_avoided(atom: Atom, question: Question) -> bool:
    """Whether a plan never makes the atom true; raises ``OutOfBudgetError`` where that is not decided."""
    if atom not in question.once(_on_one_way):
        return True
    if not question.is_enumerated and (without := avoiding(atom, question.after, question.domain)):
        found = question.searches.plan(without[0], PlanningDomain(without[1]))
        if not isinstance(found, Undecided):
            return isinstance(found, Solution)
    return atom not in question.once(on_every_way)


def on_every_way(question: Question) -> State:
    """The atoms that are true in some state of each way to each goal state; raises ``OutOfBudgetError``.

    Of a state these are its own and those that all states before it have in common: the greatest such sets.
    """
    space = question.whole_space
    states = {node: (true, has_goal) for node, true, has_goal in space.judged(question.after)}
    start, into = space.start, space.into
    passed = {start: question.true}
    is_stable = False
    while not is_stable:
        is_stable = True
        for node in islice(states, 1, None):
            # A state that was not looked at yet excludes nothing; the one that found this one was.
            known = (passed[before] for _, _, before in into[node] if before in passed)
            common = states[node][0].union(frozenset.intersection(*known))
            is_stable &= passed.get(node) == common
            passed[node] = common
            spend(1 + len(into[node]))
    return frozenset.intersection(*(passed[node] for node, (_, has_goal) in states.items() if has_goal))


def avoiding(atom: Atom, problem: Problem, domain: Domain) -> tuple[Problem, Domain] | None:
    """The task without the actions that add an atom, which is false initially; None where literals do not decide it.

    In place of an operator that may add it stand copies, in each of which an argument of the effect is another object.
    """
    planning_domain = PlanningDomain(domain)
    if not planning_domain.is_searched_in(problem):
        return None
    domain = planning_domain.disjuncts.domain
    operators: list[Operator] = []
    for operator in domain.operators:
        adding = [each for each in operator.add_effects if (each[0], len(each)) == (atom[0], len(atom))]
        places = [[*zip(each[1:], atom[1:], strict=True)] for each in adding]
        if len([*product(*places)]) > MOST_COPIES:
            return None
        for number, differing in enumerate(product(*places)):
            # Terms that are no variables differ or do not.
            if any(one == other for one, other in differing):
                continue
            unequal = {(EQUALITY, one, other) for one, other in differing if one.startswith("?")}
            name = operator.name if not number else f"{operator.name}-{number}"
            operators.append(
                replace(operator, name=name, negative_preconditions=operator.negative_preconditions | unequal)
            )
    named = {name: type_ for name, type_ in problem.objects.items() if name in atom[1:]}
    others = {name: type_ for name, type_ in problem.objects.items() if name not in named}
    constants = {**domain.constants, **named}
    return replace(problem, objects=others), replace(domain, operators=tuple(operators), constants=constants)


def landmarks(question: Question) -> Picks:
    """The atoms that every plan makes true; where that is searched for, the first of those that one plan makes true."""
    decided(question.solution)
    trivial = question.true | _goal_atoms(question)
    if question.is_enumerated:
        return Picks(tuple(sorted(question.once(on_every_way) - trivial)))
    candidates = sorted(question.once(_on_one_way) - trivial)
    return picks_among(candidates, lambda atom: not is_avoided(atom, question), ONE_OF_MANY)


def _on_one_way(question: Question) -> State:
    """What is true in the states of one plan."""
    execution = execute_actions(decided(question.solution).plan, question.after, question.domain)
    return frozenset[Atom]().union(*true_states(execution, question.after, question.domain))


KIND = pick_kind(
    "an atom that every plan makes true, neither true initially nor a goal, or none",
    "no plan avoids it",
    _why_wrong,
    landmarks,
)
