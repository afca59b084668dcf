"""Which atom can never become true? ACPBench Hard's *reachability* (Kokel et al. 2025).

An atom of the problem (a declared predicate with objects of its types) that no state has that can be reached from the
state after the plan, that one included. "None" is right where every atom of a predicate that some action changes, or
that is derived, is reachable, as in ACPBench: nobody asks for the others. An atom is reachable exactly where the
problem with that atom as its goal has a plan, so the answer is a plan or a proof.

>>> from pddl_eval import judge_answer, right_answers
>>> lamp = '''(define (domain lamp) (:predicates (on) (off) (broken))
...   (:action switch :precondition (off) :effect (and (on) (not (off)))))'''
>>> dark = "(define (problem p) (:domain lamp) (:init (off)) (:goal (on)))"
>>> judge_answer("unreachable_atom", "(on)", dark, lamp).detail
'(on) can be reached after (switch)'
>>> found = right_answers("unreachable_atom", dark, lamp)
>>> found.elements, found.none_is_right
(frozenset({('broken',)}), True)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from pddl_eval.definition import words
from pddl_eval.definition.model import Atom, Operator
from pddl_eval.definition.planning import Solution
from pddl_eval.definition.questions.picks import ONE_OF_MANY, Picks, fewest_terms_first, pick_kind, picks_among
from pddl_eval.definition.questions.question import Question, decided
from pddl_eval.definition.validation import operator_of


def _why_wrong(atom: Atom, question: Question) -> str:
    if why := question.why_no_atom(atom):
        return why
    if atom in question.true:
        return words.reachable(atom, ())
    found = decided(question.reach([atom]))
    return words.reachable(atom, found.plan) if isinstance(found, Solution) else ""


def unreachable_atoms(question: Question) -> Picks:
    """The atoms of the problem that are true in no reachable state: first those that actions or rules can change."""
    assert question.task.domain is not None
    fluents, kinds = question.task.domain.fluents, question.predicates.items()
    space = question.space

    def atoms(changing: bool) -> Iterator[Atom]:
        return question.instances({name: types for name, types in kinds if (name in fluents) == changing})

    if question.is_enumerated:
        reached = frozenset[Atom]().union(*(true for _, true, _ in space.judged(question.after)))
        found, others = (picks_among(atoms(each), lambda atom: atom not in reached) for each in (True, False))
        all_known = found.all_known and others.all_known
        or_none = found.all_known and not found.some
        return Picks(found.some + others.some, all_known, found.open or others.open, or_none)
    possible = space.possible
    if possible is not None and (never := next((each for each in atoms(True) if each not in possible), None)):
        return Picks((never,), False, ONE_OF_MANY)
    # What is true in one of the first states, or is added by a plan that was found, needs no search.
    first = islice(space.judged(question.after), question.searches.states)
    seen = set[Atom]().union(*(true for _, true, _ in first))

    def is_never_true(atom: Atom) -> bool:
        plan = decided(question.reach([atom]))
        if isinstance(plan, Solution):
            operators = (operator_of(action, question.world) for action in plan.plan)
            seen.update(*(each.add_effects for each in operators if isinstance(each, Operator)))
        return not isinstance(plan, Solution)

    unseen = (atom for atom in fewest_terms_first(atoms(True)) if atom not in seen)
    found = picks_among(unseen, is_never_true, ONE_OF_MANY)
    # Atoms that nothing changes were not tried.
    return replace(found, all_known=False, or_none=found.all_known and not found.some)


KIND = pick_kind(
    "an atom that is true in no state that can be reached, or none",
    "no reachable state has it",
    _why_wrong,
    unreachable_atoms,
)
