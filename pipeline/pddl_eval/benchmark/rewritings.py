"""Answers that write the reference's problem in another way. Each is equivalent to it, and its docstring says why.

Every function takes the reference and a source of randomness and returns the answer's text, None where the kind does
not apply. Nothing here changes what the problem is.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random

from pddl_eval.benchmark.reference import Reference, write
from pddl_eval.model import Problem, State

TRIES = 8
"""Atoms that are tried before a kind is given up for a reference."""

PROSE = (
    ("Sure! Here is the problem you asked for:\n\n", "\n\nLet me know if anything should be changed."),
    ("The description gives the following objects (see below) and states.\n", "\nThis should match the text."),
    ("1. I list the objects.\n2. I write the initial state.\n3. I write the goal (all of it).\n\n", ""),
)


def identical(reference: Reference, random: Random) -> str:
    """The reference's own text."""
    return reference.text


def shuffled(reference: Reference, random: Random) -> str:
    """Objects and atoms in another order: a problem consists of sets."""
    return write(reference.problem, random)


def renamed(reference: Reference, random: Random) -> str:
    """Other names for the objects, among them perhaps old ones for other objects: the renaming is the bijection."""
    return write(rename(reference.problem, random), random)


def implied_atoms_left_out(reference: Reference, random: Random) -> str | None:
    """Some goal atoms fewer, with the same closure: the same goal states are reachable."""
    goal = reference.problem.goal
    for atom in random.sample(sorted(goal), min(TRIES, len(goal))):
        closures = reference.closures_with(replace(reference.problem, goal=goal - {atom}))
        if closures and closures == reference.closures:
            goal -= {atom}
    return write(replace(reference.problem, goal=goal), random) if goal != reference.problem.goal else None


def implied_atoms_added(reference: Reference, random: Random) -> str | None:
    """Some atoms of the goal's closure more: all reachable goal states have them anyway."""
    problem = reference.problem
    implied = sorted(frozenset.intersection(*reference.closures) - problem.goal) if reference.closures else []
    if not implied:
        return None
    added = random.sample(implied, random.randint(1, len(implied)))
    return write(replace(problem, goal=problem.goal.union(added)), random)


def in_prose(reference: Reference, random: Random) -> str:
    """Sentences before and after: only the substring that is a problem counts."""
    before, after = random.choice(PROSE)
    return before + write(reference.problem, random) + after


def in_a_fence(reference: Reference, random: Random) -> str:
    """A Markdown fence, which is text around the problem."""
    return f"```{random.choice(('pddl', 'lisp', ''))}\n{write(reference.problem, random)}\n```\n"


def in_upper_case(reference: Reference, random: Random) -> str:
    """Capitals: PDDL does not distinguish case."""
    return write(reference.problem, random).upper()


def commented(reference: Reference, random: Random) -> str:
    """Comments at the ends of lines, which PDDL skips."""
    lines = write(reference.problem, random).splitlines()
    return "\n".join(f"{line} ; part {number} (of {len(lines)})" for number, line in enumerate(lines, 1))


def goal_renamed(reference: Reference, random: Random) -> str | None:
    """Two objects exchanged in the goal, where a placeholder goal leaves open which they are.

    Equivalent where the exchange carries the reference's closed goal onto that of the answer, the initial state being
    the same: then both scenes are isomorphic, each by itself. Without placeholders it is not offered.
    """
    if not reference.is_placeholder or not reference.closures:
        return None
    exchange, changed = exchange_in_goal(reference.problem, random)
    carried = tuple(_mapped(closure, exchange) for closure in reference.closures)
    return write(changed, random) if exchange and carried == reference.closures_with(changed) else None


def rename(problem: Problem, random: Random) -> Problem:
    """The problem with its objects renamed, half of the time within their own names."""
    old = sorted(problem.objects)
    fresh = [f"x{number}" for number in range(1, len(old) + 1)]
    names = dict(zip(old, random.sample(random.choice((old, fresh)), len(old)), strict=True))
    return replace(
        problem,
        objects={names[name]: type_ for name, type_ in problem.objects.items()},
        init=_mapped(problem.init, names),
        goal=_mapped(problem.goal, names),
    )


def exchange_in_goal(problem: Problem, random: Random) -> tuple[dict[str, str], Problem]:
    """Exchange two objects of one type in the goal: the exchange, empty where none was found, and the new problem."""
    used = sorted({name for _, *names in problem.goal for name in names if name in problem.objects})
    for _ in range(TRIES if used else 0):
        one = random.choice(used)
        other = random.choice([name for name in used if problem.objects[name] == problem.objects[one]])
        goal = _mapped(problem.goal, {one: other, other: one})
        if goal != problem.goal:
            return {one: other, other: one}, replace(problem, goal=goal)
    return {}, problem


def _mapped(atoms: State, names: dict[str, str]) -> State:
    return frozenset((predicate, *(names.get(name, name) for name in arguments)) for predicate, *arguments in atoms)
