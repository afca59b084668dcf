"""Which atom can never become true? ACPBench Hard's *reachability* (Kokel et al. 2025).

An atom of the problem (a declared predicate with objects of its types) that no state has that can be reached from the
state after the plan, that one included; or "none". An atom is reachable exactly where the problem with that atom as its
goal has a plan, so the answer is a plan or a proof.

>>> from pddl_eval import judge_answer, right_answers
>>> lamp = '''(define (domain lamp) (:predicates (on) (off) (broken))
...   (:action switch :precondition (off) :effect (and (on) (not (off)))))'''
>>> dark = "(define (problem p) (:domain lamp) (:init (off)) (:goal (on)))"
>>> judge_answer("unreachable_atom", "(on)", dark, lamp).detail
'(on) can be reached after (switch)'
>>> right_answers("unreachable_atom", dark, lamp).elements
frozenset({('broken',)})
"""

from __future__ import annotations

from pddl_eval.definition import words
from pddl_eval.definition.model import Atom
from pddl_eval.definition.planning import Solution
from pddl_eval.definition.questions.picks import Picks, pick_kind, picks_among
from pddl_eval.definition.questions.question import Question, decided


def _why_wrong(atom: Atom, question: Question) -> str:
    if why := question.why_no_atom(atom):
        return why
    if atom in question.true:
        return words.reachable(atom, ())
    found = decided(question.reach([atom]))
    return words.reachable(atom, found.plan) if isinstance(found, Solution) else ""


def unreachable_atoms(question: Question) -> Picks:
    """The atoms of the problem that are true in no reachable state."""
    space = question.space
    reached = frozenset[Atom]().union(*(true for _, true, _ in space.judged(question.after)))
    atoms = question.instances(question.predicates)
    if space.limit is None:
        return picks_among(atoms, lambda atom: atom not in reached)
    return picks_among(
        (atom for atom in atoms if atom not in reached),
        lambda atom: not isinstance(decided(question.reach([atom])), Solution),
        space.limit.reason,
    )


KIND = pick_kind(
    "an atom that is true in no state that can be reached, or none",
    "no reachable state has it",
    _why_wrong,
    unreachable_atoms,
)
