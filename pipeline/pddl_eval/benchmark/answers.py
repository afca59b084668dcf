"""Recipes for answers of known correctness: the same problem rewritten, another problem, or no problem at all.

A recipe takes the original and a source of randomness and returns the answer (a problem, to be written as PDDL, or a
text); None where it does not apply or its label would not be certain. Labels hold by construction: each docstring says
why. No label comes from the comparison of problems that answers are there to test; closures, which exhaustive search
tests, are used where a docstring says so. Three reasons why an answer is not equivalent serve in both of the paper's
modes:

* A bijection of objects keeps the number of objects, their types, and the number of atoms of each side.
* R(g) and with it cl(g) only shrinks or grows with the goal: the closure of a part of a goal is a part of its closure,
  so that two such closures are isomorphic only if they are equal.
* Two sides that differ in an invariant of isomorphism (``surely_different``) are not isomorphic.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from enum import Enum
from random import Random
from typing import NamedTuple

from pddl_eval.benchmark.enumeration import DOMAINS
from pddl_eval.benchmark.original import Original, write
from pddl_eval.benchmark.tasks import choose, fresh_name, of_type
from pddl_eval.definition.domains import NotCovered
from pddl_eval.definition.model import ROOT_TYPE, Atom, Problem, State, show_atom
from pddl_eval.definition.model import renamed as with_names

TRIES = 8
"""Atoms that are tried before a recipe is given up for an original."""

PROSE = (
    ("Sure! Here is the problem you asked for:\n\n", "\n\nLet me know if anything should be changed."),
    ("The description gives the following objects (see below) and states.\n", "\nThis should match the text."),
    ("1. I list the objects.\n2. I write the initial state.\n3. I write the goal (all of it).\n\n", ""),
)

REFUSALS = (
    "I'm sorry, but I need more details about the actions before I can write this problem.",
    "The goal is reached by moving one thing after another; no PDDL is needed for that.",
    "```pddl\n```",
)


class Labels(NamedTuple):
    """What the score columns of these names must say; None where it is not known."""

    parseable: bool
    solvable: bool | None
    equivalent: bool
    equivalent_untyped: bool


class Grade(Enum):
    """The classes by which papers count answers, with the labels of each where types make no difference."""

    CORRECT = Labels(True, True, True, True)
    SOLVABLE = Labels(True, True, False, False)
    """Another problem, which has a solution."""
    UNSOLVABLE = Labels(True, False, False, False)
    """Another problem, which has none."""
    OPEN = Labels(True, None, False, False)
    """Another problem; whether it has a solution is not known."""
    UNPARSEABLE = Labels(False, False, False, False)


Make = Callable[[Original, Random], Problem | str | None]


class Recipe(NamedTuple):
    """The function that makes an answer, the answer's grade, and its labels."""

    make: Make
    grade: Grade
    labels: Labels


RECIPES: dict[str, Recipe] = {}
"""All recipes by name. Their order, which is that of this file, decides what a seed draws."""


def recipe(grade: Grade, *, same_without_types: bool = False) -> Callable[[Make], Make]:
    """Register a function as a recipe under its name."""

    def register(make: Make) -> Make:
        labels = grade.value._replace(equivalent_untyped=grade.value.equivalent_untyped or same_without_types)
        RECIPES[make.__name__] = Recipe(make, grade, labels)
        return make

    return register


# The same problem.


@recipe(Grade.CORRECT)
def identical(original: Original, _random: Random) -> str:
    """The original's own text."""
    return original.text


@recipe(Grade.CORRECT)
def shuffled(original: Original, _random: Random) -> Problem:
    """Objects and atoms in another order: a problem consists of sets."""
    return original.problem


@recipe(Grade.CORRECT)
def renamed(original: Original, random: Random) -> Problem:
    """Other names for the objects, among them perhaps old ones for other objects: the renaming is the bijection."""
    problem = original.problem
    old = sorted(problem.objects)
    fresh = [f"x{number}" for number in range(1, len(old) + 1)]
    names = dict(zip(old, random.sample(random.choice((old, fresh)), len(old)), strict=True))
    return replace(
        problem,
        objects={names[name]: type_ for name, type_ in problem.objects.items()},
        init=with_names(problem.init, names),
        goal=with_names(problem.goal, names),
    )


@recipe(Grade.CORRECT)
def implied_atoms_left_out(original: Original, random: Random) -> Problem | None:
    """Some goal atoms fewer, with the same closure: the same goal states are reachable."""
    goal = original.problem.goal
    for atom in choose(TRIES, goal, random):
        closures = original.closures_with(replace(original.problem, goal=goal - {atom}))
        if closures and closures == original.closures:
            goal -= {atom}
    return replace(original.problem, goal=goal) if goal != original.problem.goal else None


@recipe(Grade.CORRECT)
def implied_atoms_added(original: Original, random: Random) -> Problem | None:
    """Some atoms of the goal's closure more: all reachable goal states have them anyway."""
    goal = original.problem.goal
    implied = sorted(frozenset.intersection(*original.closures) - goal) if original.closures else []
    if not implied:
        return None
    added = random.sample(implied, random.randint(1, len(implied)))
    return replace(original.problem, goal=goal.union(added))


@recipe(Grade.CORRECT)
def goal_renamed(original: Original, random: Random) -> Problem | None:
    """Two objects exchanged in the goal, where a placeholder goal leaves open which they are.

    Equivalent where the exchange carries the original's closed goal onto that of the answer, the initial state being
    the same: then both sides are isomorphic, each by itself. Without placeholders it is not offered.
    """
    if not original.is_placeholder or not original.closures:
        return None
    exchange, changed = _exchange_in_goal(original.problem, random)
    carried = tuple(with_names(closure, exchange) for closure in original.closures)
    return changed if exchange and carried == original.closures_with(changed) else None


@recipe(Grade.CORRECT)
def in_prose(original: Original, random: Random) -> str:
    """Sentences before and after: only the substring that is a problem counts."""
    before, after = random.choice(PROSE)
    return before + write(original.problem, random) + after


@recipe(Grade.CORRECT)
def in_a_fence(original: Original, random: Random) -> str:
    """A Markdown fence, which is text around the problem."""
    return f"```{random.choice(('pddl', 'lisp', ''))}\n{write(original.problem, random)}\n```\n"


@recipe(Grade.CORRECT)
def in_upper_case(original: Original, random: Random) -> str:
    """Capitals: PDDL does not distinguish case."""
    return write(original.problem, random).upper()


@recipe(Grade.CORRECT)
def commented(original: Original, random: Random) -> str:
    """Comments at the ends of lines, which PDDL skips."""
    lines = write(original.problem, random).splitlines()
    return "\n".join(f"{line} ; part {number} (of {len(lines)})" for number, line in enumerate(lines, 1))


# Another problem, which has a solution.


@recipe(Grade.SOLVABLE)
def init_atom_added(original: Original, random: Random) -> Problem | None:
    """One initial atom more. It spoils no plan, because no operator asks for an atom's absence."""
    problem, domain = original.problem, original.planning_domain
    if domain is None or any(operator.negative_preconditions for operator in domain.domain.operators):
        return None
    for _ in range(TRIES):
        predicate, *names = random.choice(sorted(problem.init or {("",)}))
        new = (predicate, *(random.choice(_alike(problem, name)) for name in names))
        if names and new not in problem.init:
            return replace(problem, init=problem.init | {new})
    return None


@recipe(Grade.SOLVABLE)
def init_unknown_predicate(original: Original, random: Random) -> Problem:
    """One initial atom more, of a predicate that the domain does not declare, so that no operator touches it.

    Where the domain has types, that makes the problem ill-typed; ``variant_of`` labels it so.
    """
    return replace(original.problem, init=original.problem.init | {_unknown_atom(original.problem, random)})


@recipe(Grade.SOLVABLE)
def init_other(original: Original, random: Random) -> Problem | None:
    """Another initial state over the same objects; that the goal is still reachable shows in its closure."""
    domain = DOMAINS.get(original.problem.domain)
    init = domain.random_init(original.problem, random) if domain else None
    return _if_different(original, replace(original.problem, init=init)) if init else None


@recipe(Grade.SOLVABLE)
def object_added(original: Original, random: Random) -> Problem:
    """One object more, in no atom: the original's plan still works, the number of objects does not fit."""
    objects = original.problem.objects
    type_ = random.choice(sorted(objects.values()) or [ROOT_TYPE])
    return replace(original.problem, objects={**objects, fresh_name("extra", objects): type_})


@recipe(Grade.SOLVABLE)
def goal_atom_lost(original: Original, random: Random) -> Problem | None:
    """One goal atom fewer, which the others do not imply: the closure is smaller, the old plan still good."""
    goal = original.problem.goal
    changed = (_with_smaller_closure(original, goal - {atom}) for atom in choose(TRIES, goal, random))
    return next(filter(None, changed), None)


@recipe(Grade.SOLVABLE)
def goal_weakened(original: Original, random: Random) -> Problem | None:
    """Part of the goal only, which does not imply the rest."""
    goal = sorted(original.problem.goal)
    if len(goal) < 2:
        return None
    return _with_smaller_closure(original, frozenset(random.sample(goal, random.randint(1, len(goal) - 1))))


@recipe(Grade.SOLVABLE)
def goal_strengthened(original: Original, random: Random) -> Problem | None:
    """One goal atom more, taken from the initial state, that was not implied and can be had with the goal."""
    problem = original.problem
    if not original.closures:
        return None
    for atom in choose(TRIES, problem.init.difference(*original.closures), random):
        changed = replace(problem, goal=problem.goal | {atom})
        if original.closures_with(changed):
            return changed
    return None


@recipe(Grade.SOLVABLE)
def goal_objects_swapped(original: Original, random: Random) -> Problem | None:
    """Two objects exchanged in the goal, where an invariant shows that no automorphism undoes it."""
    exchange, changed = _exchange_in_goal(original.problem, random)
    return _if_different(original, changed) if exchange else None


@recipe(Grade.SOLVABLE)
def goal_other(original: Original, random: Random) -> Problem | None:
    """Another goal over the same objects."""
    domain = DOMAINS.get(original.problem.domain)
    goal = domain.random_goal(original.problem, random) if domain else None
    return _if_different(original, replace(original.problem, goal=goal)) if goal else None


@recipe(Grade.SOLVABLE, same_without_types=True)
def types_added(original: Original, _random: Random) -> Problem | None:
    """Types for objects that have none, in a domain that knows none: plain objects to it, so that all plans work.

    Without types the problem is the original; with them its objects are others.
    """
    problem, domain = original.problem, original.planning_domain
    if domain is None or domain.domain.types or problem != problem.without_types() or not problem.objects:
        return None
    stems = {name: name.rstrip("0123456789_-") for name in problem.objects}  # A model would take the name for a type.
    types = {"b": "block", "": "item", ROOT_TYPE: "item"}
    return replace(problem, objects={name: types.get(stem, stem) for name, stem in stems.items()})


# Another problem, which has no solution, or perhaps none.


@recipe(Grade.UNSOLVABLE)
def goal_contradictory(original: Original, random: Random) -> Problem | None:
    """Two goal atoms more that no reachable state has both, the initial state being one of the domain's."""
    problem, domain, tasks = original.problem, original.planning_domain, DOMAINS.get(original.problem.domain)
    if not tasks or domain is None or domain.rules is None or isinstance(domain.rules(problem, True), NotCovered):
        return None
    found = tasks.contradictions(problem, random)
    return replace(problem, goal=problem.goal.union(random.choice(found))) if found else None


@recipe(Grade.UNSOLVABLE)
def goal_unknown_predicate(original: Original, random: Random) -> Problem:
    """One goal atom more, of a predicate that no operator adds and that does not hold at the start."""
    return replace(original.problem, goal=original.problem.goal | {_unknown_atom(original.problem, random)})


@recipe(Grade.UNSOLVABLE)
def wrong_domain(original: Original, random: Random) -> Problem:
    """Another domain's name, to which the original's operators do not belong."""
    return replace(original.problem, domain=f"{original.problem.domain}-{random.choice(('typed', 'v2', 'strips'))}")


@recipe(Grade.UNSOLVABLE, same_without_types=True)
def types_removed(original: Original, _random: Random) -> Problem | None:
    """No types in a domain each of whose operators asks for one: none applies, and the goal does not hold yet.

    Without types the problem is the original; with them its objects are others.
    """
    problem, domain = original.problem, original.planning_domain
    if domain is None or problem == problem.without_types() or problem.goal <= problem.init:
        return None
    if not all(any(ROOT_TYPE not in types for _, types in operator.parameters) for operator in domain.domain.operators):
        return None
    return problem.without_types()


@recipe(Grade.OPEN)
def init_atom_lost(original: Original, random: Random) -> Problem | None:
    """One initial atom fewer, by which the initial states differ; whether a plan is left is not known."""
    init = original.problem.init
    return replace(original.problem, init=init - {random.choice(sorted(init))}) if init else None


# No problem. Parseable is what DESIGN.md section 3 calls so: a substring from ``(define (problem`` on that the ``pddl``
# package accepts, in STRIPS, without undeclared objects.


@recipe(Grade.UNPARSEABLE)
def cut_off(original: Original, random: Random) -> str:
    """The text ends early, so that the parenthesis it opened with is never closed."""
    text = write(original.problem, random)
    return text[: random.randint(len("(define (problem "), text.rindex(")") - 1)]


@recipe(Grade.UNPARSEABLE)
def unbalanced(original: Original, random: Random) -> str:
    """One closing parenthesis is missing somewhere, so that the first one is never closed."""
    text = write(original.problem, random)
    place = random.choice([place for place, letter in enumerate(text) if letter == ")"])
    return text[:place] + text[place + 1 :]


@recipe(Grade.UNPARSEABLE)
def undeclared_object(original: Original, random: Random) -> str | None:
    """An atom of the initial state names an object that is not declared."""
    text = write(original.problem, random)
    atoms = [atom for atom in sorted(original.problem.init) if len(atom) > 1]
    if not atoms:
        return None
    atom = (*random.choice(atoms)[:-1], fresh_name("undeclared", original.problem.objects))
    return text.replace("(:init ", f"(:init {show_atom(atom)} ", 1)


@recipe(Grade.UNPARSEABLE)
def negated_goal(original: Original, random: Random) -> str | None:
    """A goal atom is negated, which STRIPS does not allow."""
    if not original.problem.goal:
        return None
    before, goal = write(original.problem, random).split("(:goal (and")
    atom = show_atom(random.choice(sorted(original.problem.goal)))
    return f"{before}(:goal (and{goal.replace(atom, f'(not {atom})', 1)}"


@recipe(Grade.UNPARSEABLE)
def no_goal(original: Original, random: Random) -> str:
    """The section that says what is wanted is missing."""
    return write(original.problem, random).split("  (:goal")[0] + ")"


@recipe(Grade.UNPARSEABLE)
def refused(_original: Original, random: Random) -> str:
    """Words without any PDDL."""
    return random.choice(REFUSALS)


@recipe(Grade.UNPARSEABLE)
def empty(_original: Original, random: Random) -> str:
    """Nothing at all, or white space."""
    return random.choice(("", " \n"))


def _exchange_in_goal(problem: Problem, random: Random) -> tuple[dict[str, str], Problem]:
    """Exchange two objects of one type in the goal: the exchange, empty where none was found, and the new problem."""
    used = sorted({name for _, *names in problem.goal for name in names if name in problem.objects})
    for _ in range(TRIES if used else 0):
        one = random.choice(used)
        other = random.choice([name for name in used if problem.objects[name] == problem.objects[one]])
        goal = with_names(problem.goal, {one: other, other: one})
        if goal != problem.goal:
            return {one: other, other: one}, replace(problem, goal=goal)
    return {}, problem


def _with_smaller_closure(original: Original, goal: State) -> Problem | None:
    changed = replace(original.problem, goal=goal)
    closures = zip(original.closures, original.closures_with(changed), strict=False)
    return changed if original.closures and all(before != after for before, after in closures) else None


def _if_different(original: Original, changed: Problem) -> Problem | None:
    """The changed problem, where it has the original's objects, is solvable and surely not equivalent to it."""
    closures = original.closures_with(changed) if original.closures else ()
    if not closures:
        return None
    inits = original.problem.init, changed.init
    for problem, *goals in zip((changed, changed.without_types()), original.closures, closures, strict=False):
        together = [(inits,), (goals,)] if original.is_placeholder else [(inits, goals)]
        if not any(surely_different(problem.objects, *zip(*sides, strict=True)) for sides in together):
            return None
    return changed


def surely_different(
    objects: Mapping[str, str],
    sides: Iterable[State],
    other_sides: Iterable[State],
    *,
    other_objects: Mapping[str, str] | None = None,
) -> bool:
    """True only where no bijection of the objects that keeps types maps each side onto its other; False proves nothing.

    Both sides have the same objects unless the other's are given.

    Colours of objects are refined round by round by the atoms they occur in (Weisfeiler and Leman's idea), and what is
    compared is how many objects have each colour. Labels must not come from the judge that they are there to test, so
    this shares no code with ``pddl_eval.definition.equivalence``.

    >>> objects, up, down = dict.fromkeys("abc", "object"), frozenset({("on", "a", "b")}), frozenset({("on", "b", "a")})
    >>> surely_different(objects, (up,), (down,)), surely_different(objects, (up, up), (up, down))
    (False, True)
    """
    return _colors(objects, sides) != _colors(other_objects or objects, other_sides)


def _colors(objects: Mapping[str, str], sides: Iterable[State]) -> tuple[Counter[int], Counter[tuple[int, str]]]:
    """How many objects have each colour, and how many atoms of each side have each predicate."""
    atoms = [(number, atom) for number, side in enumerate(sides) for atom in side]
    colors = {name: hash(type_) for name, type_ in objects.items()}
    distinct = 0
    while distinct < len(set(colors.values())):
        distinct = len(set(colors.values()))
        seen: dict[str, list[int]] = {name: [] for name in colors}
        for number, (predicate, *names) in atoms:
            told = tuple(colors[name] for name in names)
            for place, name in enumerate(names):
                seen[name].append(hash((number, predicate, place, told)))
        colors = {name: hash((color, *sorted(seen[name]))) for name, color in colors.items()}
    return Counter(colors.values()), Counter((number, atom[0]) for number, atom in atoms)


def _alike(problem: Problem, name: str) -> list[str]:
    """The objects of the same type, itself included; a constant is like nothing else."""
    return of_type(problem.objects[name], problem) if name in problem.objects else [name]


def _unknown_atom(problem: Problem, random: Random) -> Atom:
    return ("polished", *choose(1, problem.objects, random))
