"""Which action do words mean? ACPBench Hard's *progression* asks about "debark car c2 to location l1".

The action that is applicable and takes the objects that the words name, each of them and no other. Of several it is the
one whose name shares most words with them, then the first by its name: a swap has two actions with the same effects.

>>> from pddl_eval import judge_answer
>>> ferry = '''(define (domain ferry) (:predicates (at ?c ?l) (on ?c)) (:action board :parameters (?c ?l)
...   :precondition (at ?c ?l) :effect (and (on ?c) (not (at ?c ?l)))))'''
>>> quay = "(define (problem p) (:domain ferry) (:objects c0 c1 l0) (:init (at c0 l0) (at c1 l0)) (:goal (on c1)))"
>>> effects = "Positive effects: [(on c1)]. Negative effects: [(at c1 l0)]"
>>> judge_answer("progression", effects, quay, ferry, plan="load car c1 at l0 on to the ferry").correct
True
"""

from __future__ import annotations

from pddl_eval.definition.model import Action
from pddl_eval.definition.pddl.patterns import deferred, re
from pddl_eval.definition.questions.applicable import applicable_actions
from pddl_eval.definition.questions.question import Question
from pddl_eval.definition.questions.reading import as_atom

MOST_CHARACTERS = 1_000
"""A longer text is no action in words."""

_WORD = deferred(r"[\w-]+")


def action_in_words(text: str, question: Question) -> Action | None:
    """The action that a text means after the question's plan; None where no applicable action takes these objects."""
    if len(text) > MOST_CHARACTERS:
        return None
    said = {*_WORD.findall(text.lower())}
    named = said & question.objects.keys()
    actions = [as_atom(each)[0] for each in applicable_actions(question)]
    fitting = [action for action in actions if {*action[1:]} == named]
    return min(fitting, key=lambda action: (-len(said & {*re.split("[-_]", action[0])}), action), default=None)
