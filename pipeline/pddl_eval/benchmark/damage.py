"""Answers that hold no problem: broken texts, problems outside STRIPS, refusals. None of them is parseable.

Every function takes the reference and a source of randomness and returns the answer's text, None where the kind does
not apply. Parseable is what DESIGN.md section 3 calls so: a substring from ``(define (problem`` on that the ``pddl``
package accepts, in STRIPS, without undeclared objects.
"""

from __future__ import annotations

from random import Random

from pddl_eval.benchmark.reference import Reference, fresh_name, write
from pddl_eval.model import show_atom

REFUSALS = (
    "I'm sorry, but I need more details about the actions before I can write this problem.",
    "The goal is reached by moving one thing after another; no PDDL is needed for that.",
    "```pddl\n```",
)


def cut_off(reference: Reference, random: Random) -> str:
    """The text ends early, so that the parenthesis it opened with is never closed."""
    text = write(reference.problem, random)
    return text[: random.randint(len("(define (problem "), text.rindex(")") - 1)]


def unbalanced(reference: Reference, random: Random) -> str:
    """One closing parenthesis is missing somewhere, so that the first one is never closed."""
    text = write(reference.problem, random)
    place = random.choice([place for place, letter in enumerate(text) if letter == ")"])
    return text[:place] + text[place + 1 :]


def undeclared_object(reference: Reference, random: Random) -> str | None:
    """An atom of the initial state names an object that is not declared."""
    text = write(reference.problem, random)
    atoms = [atom for atom in sorted(reference.problem.init) if len(atom) > 1]
    if not atoms:
        return None
    atom = (*random.choice(atoms)[:-1], fresh_name(reference.problem, "undeclared"))
    return text.replace("(:init ", f"(:init {show_atom(atom)} ", 1)


def negated_goal(reference: Reference, random: Random) -> str | None:
    """A goal atom is negated, which STRIPS does not allow."""
    if not reference.problem.goal:
        return None
    before, goal = write(reference.problem, random).split("(:goal (and")
    atom = show_atom(random.choice(sorted(reference.problem.goal)))
    return f"{before}(:goal (and{goal.replace(atom, f'(not {atom})', 1)}"


def no_goal(reference: Reference, random: Random) -> str:
    """The section that says what is wanted is missing."""
    before, _ = write(reference.problem, random).split("  (:goal")
    return f"{before})"


def refused(reference: Reference, random: Random) -> str:
    """Words without any PDDL."""
    return random.choice(REFUSALS)


def empty(reference: Reference, random: Random) -> str:
    """Nothing at all, or white space."""
    return random.choice(("", " \n"))
