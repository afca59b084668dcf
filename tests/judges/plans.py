"""Random plans for the judges' domains: walks that are valid, and the same walks damaged in ten ways.

A problem is a random scene, a walk in it and a goal made of what is true at the end of the walk. Damage may leave a
plan valid: the interpreter says what it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import NamedTuple

from tests.judges.domains import STORIES, Scene, Story
from tests.judges.interpreter import (
    TOTAL_COST,
    Atom,
    Failed,
    State,
    Step,
    Task,
    all_actions,
    execute,
    ground,
    read,
    satisfied,
    successors,
    tree_of,
    with_derived,
)

WALK = 9
"""Steps of the longest walk."""

TRIES = 60
"""Formulas that are drawn until one has the truth value that is wanted."""


class Case(NamedTuple):
    """A plan for a problem, and how it was made."""

    story: Story
    how: str
    problem: str
    steps: tuple[Step, ...]


def cases(number: int, seed: int) -> Iterator[Case]:
    """The walk with this number, valid, and its ten damaged copies."""
    random = Random(f"{seed} {number}")
    story = STORIES[number % len(STORIES)]
    scene = story.scene(random)
    task = read(story.text, problem_text(story, scene, "(and)"))
    steps, last = walk(random, task)
    true = goal(random, story, task, last, True)
    problem = problem_text(story, scene, true)
    yield Case(story, "valid", problem, steps)
    for how, damage in DAMAGES.items():
        yield Case(story, how, problem, tuple(damage(random, task, list(steps))))
    false = goal(random, story, task, last, False)
    yield Case(story, "another goal", problem_text(story, scene, false), steps)


def problem_text(story: Story, scene: Scene, wanted: str) -> str:
    """The problem in PDDL."""
    metric = f"\n  (:metric {scene.metric})" if scene.metric else ""
    return (
        f"(define (problem {story.name}-problem)\n  (:domain {story.name})\n  (:objects {scene.objects})\n"
        f"  (:init {scene.init})\n  (:goal {wanted}){metric})"
    )


def walk(random: Random, task: Task) -> tuple[tuple[Step, ...], State]:
    """Some steps that can be executed one after the other, and the state after them."""
    state, steps = task.initial, []
    actions = all_actions(task)
    for _ in range(random.randint(1, WALK)):
        # Names first: an action with few instances is as likely as one with many.
        by_name = {name: random.random() for name in task.actions}
        random.shuffle(actions)
        for action in sorted(actions, key=lambda action, by_name=by_name: by_name[action[0]]):
            try:
                state = execute(task, state, action)
            except Failed:
                continue
            steps.append(action)
            break
    return tuple(steps), state


# --- Goals -----------------------------------------------------------------------------------------------------------


def goal(random: Random, story: Story, task: Task, last: State, true: bool) -> str:
    """A goal in the language of the domain, true or false in the state."""
    conjuncts = [formula(random, story, task, last, True) for _ in range(random.randint(1, 4))]
    if not true:
        conjuncts[random.randrange(len(conjuncts))] = formula(random, story, task, last, False)
    conjuncts = list(dict.fromkeys(conjuncts))
    return conjuncts[0] if len(conjuncts) == 1 and random.random() < 0.5 else f"(and {' '.join(conjuncts)})"


def formula(random: Random, story: Story, task: Task, last: State, true: bool) -> str:
    """A random formula with the truth value; where one is found, one whose value the walk has changed."""
    for attempt in range(TRIES):
        found = drawn(random, story, task, last, random.choice(kinds(story)))
        grounded = ground(task, tree_of(found), {})
        if satisfied(task, grounded, last) != true:
            continue
        if attempt > TRIES // 2 or satisfied(task, grounded, task.initial) != true:
            return found
    return "(and)" if true else atom(random, task, last, False)


def kinds(story: Story) -> list[str]:
    """The formulas that the requirements of the domain allow in a goal."""
    requirements = set(re.findall(r":[a-z-]+", story.text[: story.text.index("(:predicates")]))
    allowed = {
        "not": {":adl", ":negative-preconditions"},
        "or": {":adl", ":disjunctive-preconditions"},
        "imply": {":adl"},
        "exists": {":adl", ":existential-preconditions"},
        "forall": {":adl", ":universal-preconditions"},
        "compare": {":numeric-fluents", ":fluents"},
    }
    return ["atom", "atom", *(kind for kind, needs in allowed.items() if needs & requirements)]


def atom(random: Random, task: Task, last: State, true: bool) -> str:
    """An atom that is true in the state, or any atom."""
    atoms = sorted(with_derived(task, last))
    if true and atoms:
        return f"({' '.join(random.choice(atoms))})"
    while True:  # Until it is a predicate for which there are objects.
        name, parameters = random.choice(list(task.predicates.items()))
        fitting = [[each for each in task.objects if task.fits(each, types)] for _, types in parameters]
        if all(fitting):
            return f"({' '.join([name, *map(random.choice, fitting)])})"


def drawn(random: Random, story: Story, task: Task, last: State, kind: str) -> str:
    """A formula of a kind, true or not."""
    first = atom(random, task, last, random.random() < 0.5)
    if kind == "atom":
        return first
    if kind == "not":
        return f"(not {first})"
    if kind in ("or", "imply"):
        return f"({kind} {first} {drawn(random, story, task, last, random.choice(['atom', 'not']))})"
    if kind == "compare":
        fluents = [f"({' '.join(fluent)})" for fluent in sorted(last.numbers) if fluent != TOTAL_COST]
        number = random.choice([*map(str, range(4)), "2.5", *fluents, f"(+ 1 {random.choice(fluents)})"])
        return f"({random.choice(['<', '<=', '=', '>=', '>'])} {random.choice(fluents)} {number})"
    name, *arguments = first.strip("()").split()
    if not arguments:
        return first
    at = random.randrange(len(arguments))
    _, types = task.predicates[name][at]
    wanted = types[0] if len(types) == 1 else f"(either {' '.join(types)})"
    arguments[at] = "?z"
    inner = f"({' '.join([name, *arguments])})"
    inner = random.choice([inner, f"(not {inner})", f"(or {inner} {atom(random, task, last, False)})"])
    return f"({kind} (?z - {wanted}) {inner})"


# --- Damage ----------------------------------------------------------------------------------------------------------


def drop(random: Random, task: Task, steps: list[Step]) -> list[Step]:
    if steps:
        del steps[random.randrange(len(steps))]
    return steps


def swap(random: Random, task: Task, steps: list[Step]) -> list[Step]:
    if len(steps) > 1:
        one, other = random.sample(range(len(steps)), 2)
        steps[one], steps[other] = steps[other], steps[one]
    return steps


def repeat(random: Random, task: Task, steps: list[Step]) -> list[Step]:
    if steps:
        steps.insert(random.randint(0, len(steps)), random.choice(steps))
    return steps


def merge(random: Random, task: Task, steps: list[Step]) -> list[Step]:
    """Two steps become one concurrent step, mostly neighbours; or a step gets company that could be in its place."""
    if len(steps) > 1 and random.random() < 0.5:
        one = random.randrange(len(steps) - 1)
        other = one + 1 if random.random() < 0.8 else random.choice([at for at in range(len(steps)) if at != one])
        steps[one] = frozenset((steps[one], steps[other]))
        del steps[other]
    elif steps:
        at = random.randrange(len(steps))
        state = task.initial
        for step in steps[:at]:
            state = execute(task, state, step)
        company = [action for action, _ in successors(task, state)]
        steps[at] = frozenset((steps[at], *random.sample(company, min(len(company), random.randint(1, 2)))))
    return steps


def other_action(random: Random, task: Task, steps: list[Step]) -> list[Step]:
    """An action that the domain does not have, among them names that are almost right."""
    if steps:
        at = random.randrange(len(steps))
        name = steps[at][0]
        wrong = [
            each
            for each in ("noop", f"{name}s", f"{name}-", name[:-1], f"x{name}")
            if each and each not in task.actions
        ]
        steps[at] = (random.choice(wrong), *steps[at][1:])
    return steps


def arity(random: Random, task: Task, steps: list[Step]) -> list[Step]:
    """One argument too few or too many."""
    if steps:
        at = random.randrange(len(steps))
        name, *arguments = steps[at]
        if arguments and random.random() < 0.5:
            del arguments[random.randrange(len(arguments))]
        else:
            arguments.insert(random.randint(0, len(arguments)), random.choice(list(task.objects)))
        steps[at] = (name, *arguments)
    return steps


def argument(random: Random, steps: list[Step], choose: Callable[[Atom, int], str]) -> list[Step]:
    """One argument of one step becomes another."""
    places = [(at, place) for at, step in enumerate(steps) for place in range(1, len(step))]
    if places:
        at, place = random.choice(places)
        wanted = choose(steps[at], place)
        steps[at] = (*steps[at][:place], wanted, *steps[at][place + 1 :])
    return steps


def other_object(random: Random, task: Task, steps: list[Step]) -> list[Step]:
    """Another object of a type that fits, where there is one."""

    def choose(step: Atom, place: int) -> str:
        _, types = task.actions[step[0]].parameters[place - 1]
        fitting = [each for each in task.objects if task.fits(each, types)]
        return random.choice([each for each in fitting if each != step[place]] or fitting)

    return argument(random, steps, choose)


def other_type(random: Random, task: Task, steps: list[Step]) -> list[Step]:
    """An object of another type, or any object where there is none."""

    def choose(step: Atom, place: int) -> str:
        _, types = task.actions[step[0]].parameters[place - 1]
        return random.choice([each for each in task.objects if not task.fits(each, types)] or list(task.objects))

    return argument(random, steps, choose)


def unknown_object(random: Random, task: Task, steps: list[Step]) -> list[Step]:
    """A name that is no object: a type, a predicate, or almost an object."""

    def choose(step: Atom, place: int) -> str:
        wrong = [f"{step[place]}0", f"{step[place]}-", "nobody", "object", *task.parents, *task.predicates]
        return random.choice([each for each in wrong if each not in task.objects])

    return argument(random, steps, choose)


DAMAGES = {
    "a step dropped": drop,
    "two steps swapped": swap,
    "another object": other_object,
    "number of arguments": arity,
    "unknown action": other_action,
    "unknown object": unknown_object,
    "a step repeated": repeat,
    "another type": other_type,
    "a concurrent step": merge,
}
"""All but the last damage, another goal, which changes the problem and not the plan."""


# --- Text ------------------------------------------------------------------------------------------------------------


def plan_text(random: Random, steps: Sequence[Step]) -> str:
    """The plan in one of the notations that are read; only GAICo's has concurrent steps. No text is not a plan."""
    if not steps:
        return "[]"
    concurrent = any(isinstance(step, frozenset) for step in steps)
    notation = "gaico" if concurrent else random.choice(["pddl", "numbered", "gaico"])
    if notation == "gaico":
        written = [gaico(step) for step in steps]
        return random.choice([", ", "\n"]).join(written)
    lines = [f"({' '.join(step)})" for step in steps]
    if random.random() < 0.2:
        lines = [line.upper() for line in lines]
    return "\n".join(f"{number}: {line}" if notation == "numbered" else line for number, line in enumerate(lines))


def gaico(step: Step) -> str:
    if isinstance(step, frozenset):
        return "{" + ", ".join(map(gaico, sorted(step))) + "}"
    return f"{step[0]}({', '.join(step[1:])})"
