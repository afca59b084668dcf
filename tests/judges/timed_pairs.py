"""The judge of problems with time, constraints and preferences, and random pairs of them, small enough for all maps.

The page on the language: such problems are equivalent where some bijection of the objects that keeps their types makes
one the other, as written, up to the order of facts and conjuncts and the names of variables. Else nothing is decided,
unless no bijection maps the initial atoms, the numbers, the timed literals and the metric: then they are not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import permutations
from random import Random
from typing import NamedTuple

import pddl_eval

from tests.judges.interpreter import NUMBER, Tree, tree_of
from tests.judges.random_domains import OBJECTS
from tests.support.random_trajectories import TimedDraw, constraint


class TimedPair(NamedTuple):
    """Two problems in a domain, and how the second one was made of the first."""

    how: str
    domain: str
    reference: str
    generated: str


class Said(NamedTuple):
    """What a problem says, each part in any order."""

    initial: frozenset[object]
    goal: frozenset[object]
    constraints: frozenset[object]


def timed_pair(random: Random) -> TimedPair:
    """A random problem with its copy: renamed and in another order, and for four of five with another word."""
    draw = TimedDraw(random)
    domain = draw.domain()

    def formula() -> str:
        return draw.condition(OBJECTS, draw.all, random.randint(0, 2))

    goal = [formula(), f"(preference g {formula()})", f"(preference h {formula()})"][: random.randint(1, 3)]
    asked = [constraint(random, formula) for _ in range(random.randint(0, 2))]
    asked += [f"(preference i {constraint(random, formula)})"] * (random.random() < 0.4)
    parts = {"init": draw.literals(), "goal": goal, "constraints": asked}
    metric = random.choice(["", "(:metric minimize (+ (total-time) (is-violated g)))"]) if len(goal) > 1 else ""

    def problem() -> str:
        return draw.timed_problem(f"(and {' '.join(parts['goal'])})", parts["init"], parts["constraints"], metric)

    reference, how = problem(), random.choice(["renamed", "number", "word", "dropped", "fact"])
    names = {name: name for name, _ in OBJECTS}
    for one, other in [("c", "d"), *[(name, f"{name}2") for name in "ab"]]:  # c and d are of one type
        names |= {one: other, **({other: one} if other in names else {})} if random.random() < 0.5 else {}
    for each in [*parts.values(), draw.initial]:
        random.shuffle(each)
    place = random.choice([name for name in parts if parts[name]] or ["init"])
    if how == "fact":
        draw.initial = draw.initial[1:]
    elif how == "dropped":
        parts[place] = parts[place][1:]
    elif how == "number":
        parts[place] = [each.replace("2", "3").replace("1 ", "7 ") for each in parts[place]]
    elif how == "word":
        swaps = [("always", "sometime"), ("preference h", "preference f"), ("(z)", "(not (z))"), ("2", "3")]
        for one, other in random.sample(swaps, 2):
            parts |= {name: [each.replace(one, other) for each in parts[name]] for name in ("goal", "constraints")}
    return TimedPair(how, domain, reference, " ".join(renamed_tree(tree_of(problem()), names)))


def renamed_tree(tree: Tree, names: Mapping[str, str]) -> Iterator[str]:
    """The words of a text with other names for objects."""
    if isinstance(tree, str):
        yield names.get(tree, tree)
        return
    yield "("
    for each in tree:
        yield from renamed_tree(each, names)
    yield ")"


def said_by(text: str, names: Mapping[str, str]) -> Said:
    """What a problem says in other names; a problem lists what it says in the usual sections."""
    sections = {str(each[0]): each[1:] for each in tree_of(text)[2:]}
    facts = sections.get(":init", [])
    metric = sections.get(":metric", [])
    return Said(
        frozenset(plain(each, names) for each in [*facts, metric]),
        frozenset(plain(each, names) for each in conjuncts(sections.get(":goal", []))),
        frozenset(plain(each, names) for each in conjuncts(sections.get(":constraints", []))),
    )


def conjuncts(trees: Iterable[Tree]) -> Iterator[Tree]:
    for tree in trees:
        if tree[:1] == ["and"]:
            yield from conjuncts(tree[1:])
        elif tree:
            yield tree


def plain(tree: Tree, names: Mapping[str, str]) -> object:
    """A formula whose conjunctions have no order, whose numbers are rational, and whose variables are counted."""
    if isinstance(tree, str):
        return Fraction(tree) if NUMBER.fullmatch(tree) else names.get(tree, tree)
    if tree[:1] in (["forall"], ["exists"]):
        outer = sum(each.startswith("?") for each in names)
        variables = [str(each) for each in tree[1] if str(each).startswith("?")]
        names = {**names, **{each: f"?{outer + place}" for place, each in enumerate(variables)}}
    if tree[:1] == ["and"]:
        return "and", frozenset(plain(each, names) for each in conjuncts(tree[1:]))
    return tuple(plain(each, names) for each in tree)


def judged(pair: TimedPair) -> bool | None:
    """Whether the problems are equivalent; None where what they say does not decide it."""
    one, other = objects_of(pair.generated), objects_of(pair.reference)
    same_initial = False
    for images in permutations(other):
        names = dict(zip(one, images, strict=True)) if len(one) == len(other) else {}
        if not names or any(one[name] != other[image] for name, image in names.items()):
            continue
        ours, theirs = said_by(pair.generated, names), said_by(pair.reference, {})
        if ours == theirs:
            return True
        same_initial |= ours.initial == theirs.initial
    return None if same_initial else False


def objects_of(text: str) -> dict[str, str]:
    """The objects of a problem, each with its type; each is declared with its own."""
    (words,) = (each[1:] for each in tree_of(text)[2:] if each[0] == ":objects")
    return dict(zip(map(str, words[::3]), map(str, words[2::3]), strict=True))


def timed_pair_fault(pair: TimedPair) -> str:
    """How the program's answer on a pair is not the judge's; empty where it is."""
    right, found = judged(pair), pddl_eval.compare_problems(pair.reference, pair.generated, domain=pair.domain)
    certificates = found.certificate == found.reference_certificate and found.certificate is not None
    if found.equivalent is right and certificates is bool(right):
        return ""
    return f"{pair.how}: judge {right}, {found.verdict} ({found.detail}), certificates {certificates}"
