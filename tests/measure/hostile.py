"""Answers, plans and domains made to hang, exhaust or crash the program, scored by the command line.

    python -m tests.measure.hostile            # one run of all kinds, two worker processes
    python -m tests.measure.hostile --each     # one process for each kind: who needs the memory?
    python -m tests.measure.hostile --only "plan: *"

Prints a table with the time and the result of each kind, and the maxima. Ends with 1 if a row is lost or above its
budget of time, if a row is a ``score_error``, or if a process is above 1 GB. It is no test of the default run: it
takes minutes. Verdicts of some kinds are facts and are checked, too.
"""

from __future__ import annotations

import argparse
import gzip
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatch
from itertools import combinations, pairwise, permutations, product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pddl_eval.definition.questions import kinds as kinds_of_questions

from tests.support.hostile_graphs import GRAPHS, HostileGraph, renamed
from tests.support.running import shard_rows

SECONDS = 10.0
"""Budget of a row, of processor time; a row may take a fifth more (``GRACE``)."""

GRACE = 1.2

MEGABYTES = 1_000

START = "(arm-empty) (clear a) (on-table a) (clear b) (on-table b)"
TOWER = f"(define (problem p) (:domain blocksworld) (:objects a b) (:init {START}) (:goal (on a b)))"
DOMAIN = """(define (domain ferry) (:predicates (at ?c) (on ?c))
  (:action board :parameters (?c) :precondition (at ?c) :effect (and (on ?c) (not (at ?c))))
  (:action leave :parameters (?c) :precondition (on ?c) :effect (and (at ?c) (not (on ?c)))))"""


PLAN = "(pickup a), (stack a b)"
ORDINARY: dict[str, str | None] = {
    "reference_problem": TOWER,
    "generated_problem": TOWER,
    "reference_plan": PLAN,
    "generated_plan": PLAN,
    "reference_domain": DOMAIN,
    "generated_domain": DOMAIN,
    "domain": "blocksworld",  # else the reference domain would be that of the problems
    "question": None,
    "generated_answer": None,
    "plan": None,
}
"""A row without malice."""


@dataclass(frozen=True)
class Kind:
    """What of a row is not ordinary; ``verdict`` is what the problem must get, where that is a fact.

    An ``error`` is what the row must get that names no domain: it cannot be scored.
    """

    name: str
    row: Mapping[str, str | bytes | None]
    verdict: str | None = None
    error: bool = False


def answer(name: str, text: str | bytes, verdict: str | None = None, reference: str = TOWER) -> Kind:
    """An answer to a problem."""
    return Kind(f"answer: {name}", {"reference_problem": reference, "generated_problem": text}, verdict)


def plan(name: str, text: str, reference: str = PLAN) -> Kind:
    """A plan for the tower."""
    return Kind(f"plan: {name}", {"reference_plan": reference, "generated_plan": text})


def domain(name: str, text: str, reference: str = DOMAIN) -> Kind:
    """A generated domain."""
    return Kind(f"domain: {name}", {"reference_domain": reference, "generated_domain": text})


def search(name: str, text: str, reference: str, generated: str, *, error: bool = False) -> Kind:
    """A pair of problems in a domain of their own."""
    row = {"domain": text, "reference_problem": reference, "generated_problem": generated}
    return Kind(f"search: {name}", row, error=error)


def problem(objects: str, init: str, goal: str, name: str = "blocksworld") -> str:
    return f"(define (problem p) (:domain {name}) (:objects {objects}) (:init {init}) (:goal (and {goal})))"


def names(count: int, letter: str = "b") -> list[str]:
    return [f"{letter}{number}" for number in range(count)]


def blocks(count: int) -> str:
    """An initial state of blocks on the table."""
    return "(arm-empty) " + " ".join(f"(clear {each}) (on-table {each})" for each in names(count))


def texts() -> Iterator[Kind]:
    """Answers that are hard to read."""
    prefix, suffix = TOWER.split("(on a b)")
    yield answer("opening parentheses, 1 million", "(" * 1_000_000, "unparseable")
    yield answer("closing parentheses, 1 million", ")" * 1_000_000, "unparseable")
    yield answer("both in turn", "()" * 500_000, "unparseable")
    yield answer("started 100,000 times", "(define (problem p) " * 100_000, "unparseable")
    yield answer("10,000 drafts, none whole", TOWER[:-8] * 10_000)
    yield answer("10,000 whole drafts", TOWER * 10_000, "identical")
    yield answer("prose of 3 MB before it", "word " * 600_000 + TOWER, "identical")
    yield answer("prose of 3 MB after it", TOWER + " word" * 600_000, "identical")
    yield answer("prose of 10 MB before it", "word " * 2_000_000 + TOWER, "unparseable")  # more than is read
    yield answer("white space of 10 MB inside", prefix + " " * 10_000_000 + "(on a b)" + suffix)
    yield answer("comments of 1 MB inside", prefix + "; (on b a)\n" * 90_000 + "(on a b)" + suffix)
    yield answer("comment without an end", prefix + ";" * 1_000_000)
    yield answer("quotes", '"' * 1_000_000, "unparseable")
    yield answer("fences", "```pddl\n" * 100_000, "unparseable")
    yield answer("NUL", prefix + "\0" * 100_000 + "(on a b)" + suffix)
    yield answer("byte order mark", "\ufeff" + TOWER, "identical")
    yield answer("UTF-16 read as text", TOWER.encode("utf-16-le").decode("latin-1"))
    yield answer("invalid UTF-8 in prose", b"\xff\xfe answer:\n" + TOWER.encode(), "identical")
    yield answer("invalid UTF-8 in a name", TOWER.encode().replace(b" a", b" \xc3\x28"))
    yield answer("half a code point at the end", TOWER.encode() + b"\xe2\x82", "identical")
    yield answer("carriage returns", TOWER.replace(" ", "\r"))
    yield answer("white space of Unicode", TOWER.replace(" ", "\u2003"))
    yield answer("wide parentheses", TOWER.replace("(", "\uff08"), "unparseable")
    yield answer("a name that grows in lower case", TOWER.replace(" a", " \u0130" * 1), None)
    yield answer("escape sequences in names", TOWER.replace(" a", " \x1b[2Ja"))
    yield answer("right to left", TOWER.replace(" a", " \u202ea"))
    yield answer("combining marks", TOWER.replace(" a", " a" + "\u0301" * 50_000))
    yield answer("a name of 1 million characters", TOWER.replace(" a", " " + "a" * 200_000))
    for depth in (100, 1_000, 30_000):
        nested = "(and " * depth + "(on a b)" + ")" * depth
        yield answer(f"goal in {depth} ands", TOWER.replace("(on a b)", nested))
        yield answer(f"goal in {depth} nots", TOWER.replace("(on a b)", "(not " * depth + "(on a b)" + ")" * depth))
        yield answer(f"init in {depth} ands", TOWER.replace(START, "(and " * depth + START + ")" * depth))
        yield answer(f"goal of {depth} lists", TOWER.replace("(on a b)", "(" * depth + ")" * depth))
    yield answer("a disjunction of 20,000", TOWER.replace("(on a b)", "(or " + "(on a b) " * 20_000 + ")"))
    yield answer("either of 5,000 types", TOWER.replace("a b)", "a b - (either " + " ".join(names(5_000)) + "))", 1))
    yield answer("100,000 keywords", TOWER.replace("(:goal", "(:requirements " + ":strips " * 100_000 + ") (:goal"))
    yield answer("a section 10,000 times", TOWER.replace("(:goal", "(:objects c) " * 10_000 + "(:goal"))


def sizes() -> Iterator[Kind]:
    """Problems that are large or symmetric."""
    many = problem(" ".join(names(20_000)), blocks(20_000), "(on b0 b1)")
    yield answer("20,000 blocks", many, "object_count")
    yield answer("one object 50,000 times", TOWER.replace("a b)", "a b " + "a " * 50_000 + ")", 1))
    yield answer("one atom 50,000 times", TOWER.replace(START, START + " (clear a)" * 50_000))
    yield answer("an atom of 10,000 terms", TOWER.replace("(on a b)", "(on " + "a " * 10_000 + ")"))
    yield answer("10,000 predicates", TOWER.replace(START, START + "".join(f" (p{n} a)" for n in range(10_000))))
    yield answer("100,000 goal atoms", TOWER.replace("(on a b)", "(on a b) " * 100_000))
    for count in (300, 3_000):
        stack = " ".join(f"(on b{n} b{n + 1})" for n in range(0, count, 2))
        same = problem(" ".join(names(count)), blocks(count), stack)
        renamed = same.replace("b0)", "x)").replace("b0 ", "x ")
        yield answer(f"{count} interchangeable blocks in pairs", renamed, "isomorphic", same)
        loose = problem(" ".join(names(count)), blocks(count), "(arm-empty)")
        yield answer(f"{count} interchangeable blocks", loose.replace("b1 ", "x ").replace("b1)", "x)"), None, loose)
    held = problem(" ".join(names(100)), blocks(100).replace("(arm-empty)", "(holding b0) (holding b1)"), "(on b2 b3)")
    yield answer("two held blocks among 100", held, None, held)
    balls = " ".join(names(1000, "ball"))
    start = "(room r) (room s) (gripper g) (at-robby r) (at-robby s) (free g) "
    start += " ".join(f"(ball {each}) (at {each} r)" for each in names(1000, "ball"))
    gripper = problem(f"r s g {balls}", start, "(at ball0 s)", "gripper")
    yield answer("1,000 balls with a broken start", gripper.replace("ball0 s", "ball1 s"), None, gripper)
    tiles = names(400, "t")
    grid = " ".join(f"(up t{n + 20} t{n})" for n in range(380))
    floor = problem(
        " ".join(tiles) + " - tile r - robot c - color", f"(robot-at r t0) {grid}", "(painted t9 c)", "floor-tile"
    )
    yield answer("a floor of 400 tiles", floor.replace("t9 c", "t8 c"), None, floor)


def graph(drawn: HostileGraph) -> str:
    """A graph spelled out in a predicate that nobody declares."""
    atoms = " ".join(f"({' '.join(atom)})" for atom in drawn.atoms)
    loose = " ".join(f"(clear {each}) (on-table {each})" for each in drawn.objects)
    return problem(" ".join(sorted(drawn.objects)), f"(arm-empty) {loose} {atoms}", "(arm-empty)")


def graphs() -> Iterator[Kind]:
    """Graphs whose labelling is hard, as answers and as references, too."""
    for name in (
        *("latin-square-6", "latin-square-10", "latin-square-12", "latin-square-16", "clique-200", "cycle-1000"),
        *("cycles-500-500", "hypercube-8", "rook-20", "paley-149", "paley-101-3-times", "kneser-10-3", "plane-13"),
        *("random-cubic-500", "grid-30x30"),
    ):
        one, other = (renamed(GRAPHS[name](1), seed) for seed in (1, 2))
        fewer = one._replace(atoms=one.atoms[1:])
        yield answer(f"graph against a tower: {name}", graph(one), "object_count")
        yield answer(f"graph against itself: {name}", graph(one), None, graph(other))
        yield answer(f"graph less an edge: {name}", graph(fewer), None, graph(other))


def plans() -> Iterator[Kind]:
    """Plans that are hard to read, to match or to carry out."""
    for name, unit in {
        "opening parentheses": "(",
        "opening braces": "{",
        "opening brackets": "[",
        "commas": ",",
        "arrows": "->",
        "ands": "and ",
        "semicolons": ";",
        "bullets": "- ",
        "numbers": "1. ",
        "labels": "step 1: ",
        "colons": ":",
        "quotes": "'",
        "double quotes": '"',
        "backslashes": "\\",
        "fences": "```\n",
        "spaces": " ",
        "tabs and line breaks": "\t\n",
        "names": "pickup ",
        "names and parentheses": "pickup(",
        "half actions": "(pickup a",
        "closed twice": "(pickup a)) ",
        "brackets of costs": "[1] ",
        "hyphens": "a-",
        "dots": "a.",
        "escapes": "\x1b[2J",
        "zero-width": "\u200b",
    }.items():
        yield plan(f"{name}, 300,000 characters", (unit * 300_000)[:300_000])
        yield plan(f"{name} around an action", (unit * 20_000)[:20_000] + "(pickup a)" + (unit * 20_000)[:20_000])
    for name, unit, end in (
        ("words and a parenthesis", "a\n", "("),
        ("commas, numbers and line breaks", ",A. \n", "1."),
        ("a parenthesis a line", "\n(", ""),
        ("wide digits", "\uff11\n\n", ""),
    ):
        yield plan(f"{name}, 2 million characters", unit * ((1_999_000 - len(end)) // len(unit)) + end)
    pair = "(pickup a)\n(putdown a)\n"
    yield plan("100,000 steps", pair * 50_000)
    yield plan("100,000 steps against as many", pair * 50_000, pair * 49_999 + "(pickup b)\n(putdown b)")
    yield plan("3,000 steps against as many, all different", _steps(3_000, "a"), _steps(3_000, "b"))
    yield plan("3,000 steps in reverse", "\n".join(_steps(3_000, "a").split("\n")[::-1]), _steps(3_000, "a"))
    for count in (2_500, 100_000):
        group = "{" + ", ".join(f"(pickup x{n})" for n in range(count)) + "}"
        yield plan(f"a step of {count} actions", group, group)
    yield plan("2,500 actions in a step", "{" + ", ".join(f"put(x{n})" for n in range(2_500)) + "}, (pickup a)")
    make = """(define (domain make) (:action make :parameters (?x) :effect (p))
      (:action use :parameters (?x) :precondition (p) :effect (used ?x)))"""
    steps = ["{" + ", ".join(f"{name}(c{n})" for n in range(2_500)) + "}" for name in ("make", "use")]
    carried = problem(" ".join(names(2_500, "c")), "(q)", "(used c0)", "make")
    linked = {"domain": make, "reference_problem": carried, "generated_problem": carried}
    linked |= {"reference_plan": ", ".join(steps), "generated_plan": ", ".join(steps * 2)}
    yield Kind("plan: 2,500 actions that each serve 2,500 others", linked)
    yield plan("an action of 100,000 arguments", f"(pickup {'a ' * 100_000})")
    yield plan("a name of 1 million characters", f"({'pickup' * 200_000} a)")
    yield plan("JSON 100,000 deep", "[" * 100_000 + "]" * 100_000)
    yield plan("JSON of objects 100,000 deep", '{"name": ' * 100_000 + "}" * 100_000)
    step = '{"name": "pickup", "args": ["a"], "id": 0}'
    yield plan("JSON of 20,000 steps", f"[{', '.join([step] * 20_000)}]")
    yield plan("JSON number of 100,000 digits", f'[{{"name": "pickup", "args": {{"n": {"9" * 100_000}}}}}]')
    yield plan("JSON exponent", '[{"name": "pickup", "args": [1e999999999, NaN, -Infinity]}]')
    yield plan("JSON half a surrogate pair", '[{"name": "pick\\ud800up", "args": ["\\udfff"]}]')
    yield plan(
        "JSON 10,000 keys", '[{"name": "pickup", "args": {' + ", ".join(f'"k{n}": 1' for n in range(10_000)) + "}}]"
    )
    yield plan("JSON inside JSON inside JSON", _nested_json(12))
    yield plan("JSON cut in the middle", f"[{', '.join([step] * 20_000)}"[:-20])
    yield plan("500 JSON lists, all broken", f"[{step}, {{]\n" * 500)
    yield plan("Python's repr, 20,000 steps", str([{"name": "pickup", "args": ["a"]}] * 20_000))
    yield plan("prose of 10 MB", "First pick up a, then stack it. " * 300_000)


def _steps(count: int, letter: str) -> str:
    return "\n".join(f"(stack {letter}{n} {letter}{n + 1})" for n in range(count))


def _nested_json(depth: int) -> str:
    import json

    text = "a"
    for _ in range(depth):
        text = json.dumps([{"name": "pickup", "args": text}])
    return text


def domains() -> Iterator[Kind]:
    """Generated domains that are hard to read."""
    yield domain("opening parentheses", "(" * 1_000_000)
    yield domain("started 100,000 times", "(define (domain d) " * 100_000)
    operator = "(:action {} :parameters (?c) :precondition (at ?c) :effect (on ?c))"
    yield domain("3,000 operators", DOMAIN[:-1] + " ".join(operator.format(f"o{n}") for n in range(3_000)) + ")")
    yield domain("one operator 3,000 times", DOMAIN[:-1] + operator.format("board") * 3_000 + ")")
    for depth in (100, 1_000, 30_000):
        for word in ("and", "not", "or", "when (at ?c)", "forall (?x)"):
            nested = f"({word} " * depth + "(on ?c)" + ")" * depth
            yield domain(f"{depth} nested {word.split()[0]}s", DOMAIN.replace("(on ?c)", nested, 2))
    yield domain("5,000 parameters", DOMAIN.replace("(?c)", "(" + " ".join(f"?c{n}" for n in range(5_000)) + ")"))
    yield domain("an effect of 50,000 atoms", DOMAIN.replace("(on ?c)", "(on ?c) " * 50_000))
    circle = "(:types a - b b - a) (:predicates (at ?c - a)"
    yield domain("types in a circle", DOMAIN.replace("(:predicates (at ?c)", circle))
    chain = " ".join(f"t{n + 1} - t{n}" for n in range(5_000))
    yield domain("5,000 types, each in the next", DOMAIN.replace("(:predicates", f"(:types {chain}) (:predicates"))
    sorts = names(30_000, "t")
    side_by_side, each_in_the_next = " ".join(sorts), " ".join(f"{one} - {other}" for one, other in pairwise(sorts))
    either = f"(either {side_by_side})"
    for name, types in (("side by side", side_by_side), ("each in the next", each_in_the_next)):
        text = DOMAIN.replace("(:predicates", f"(:types {types}) (:predicates")
        asked = text.replace(":parameters (?c)", f":parameters (?c - {either})")
        yield domain(f"30,000 types {name}", text)
        yield domain(f"an either of 30,000 types {name}", asked, asked)
        several = text.replace("(:predicates", f"(:types z - {either}) (:predicates")
        yield domain(
            f"a type with 30,000 parents {name}", *[several.replace("(?c)", f"(?c - {z})") for z in ("z", "t0")]
        )
    yield domain("keywords nobody knows", DOMAIN.replace("(:predicates", "(:magic x) " * 20_000 + "(:predicates"))
    yield domain("160,000 empty sections", DOMAIN.replace("(:predicates", "(:x)" * 160_000 + "(:predicates"))
    yield domain("control characters", DOMAIN.replace("board", "bo\x1b[2Jard"))
    yield domain("prose of 10 MB", "word " * 2_000_000 + DOMAIN)
    for name, text in (
        ("nothing", "(define (domain d))"),
        ("10,000 parentheses", "(" * 10_000),
        ("an object nobody declares", DOMAIN.replace("(on ?c)", "(on home)")),
        ("an empty precondition denied", DOMAIN.replace(":precondition (at ?c)", ":precondition (not (and))")),
        ("types in a circle", DOMAIN.replace("(:predicates (at ?c)", circle)),
    ):
        ferry = problem("x y", "(at x) (at y)", "(on x)", "ferry")
        error = name == "10,000 parentheses"
        yield search(f"domain of the row: {name}", text, ferry, ferry.replace("on x", "on y"), error=error)


def structures() -> Iterator[Kind]:
    """Domains whose structure is large or symmetric, each against itself with an effect of another name."""

    def structure(name: str, parameters: Iterable[str], conditions: Iterable[str], before: str = "") -> Kind:
        action = (
            f"(:action a :parameters ({' '.join(parameters)}) :precondition (and {' '.join(conditions)}) :effect (q))"
        )
        text = f"(define (domain d) {before} {action})"
        return domain(f"structure: {name}", text.replace("(q)", "(r)"), text)

    many = [f"?x{n}" for n in range(40)]
    yield structure("a clique of 40", many, (f"(e {one} {other})" for one, other in permutations(many, 2)))
    squares = {n * n % 29 for n in range(1, 29)}
    paley = (f"(e ?x{n} ?x{m})" for n, m in permutations(range(29), 2) if (n - m) % 29 in squares)
    yield structure("the Paley graph of 29", many[:29], paley)
    rows = [f"?{side}{n}" for side in "xyz" for n in range(7)]
    yield structure(
        "a Latin square of 7", rows, (f"(l ?x{n} ?y{m} ?z{(n + m) % 7})" for n in range(7) for m in range(7))
    )
    shuffled = random.Random(1)
    yield structure(
        "10 atoms of six arguments", many[:6], (f"(p {' '.join(shuffled.sample(many[:6], 6))})" for _ in range(10))
    )
    yield structure("80,000 atoms, 1 MB", ["?x"], (f"(p{n} ?x)" for n in range(80_000)))
    yield structure("30,000 objects nobody declares", ["?x"], (f"(p c{n})" for n in range(30_000)))
    yield structure("a disjunction of 20,000", ["?x"], ["(or", *(f"(p{n} ?x)" for n in range(20_000)), ")"])
    yield structure("40 nested quantifiers", ["?x"], ["(forall (?x)"] * 40 + ["(p ?x)"] + [")"] * 40)
    chain = [f"(:action b{n} :parameters (?x - t{n}) :effect (p ?x))" for n in range(3_000)]
    types = " ".join(f"t{n} - t{n + 1}" for n in range(3_000))
    yield structure("3,000 types in use, each in the next", ["?x"], [], f"(:types {types}) {' '.join(chain)}")
    words = "(:action {0}{1} :parameters (?x) :precondition (p{1} ?x) :effect {2})"
    ours, theirs = (
        " ".join(words.format(letter, n, "(q)" if n == 7 or letter == "b" else "(s)") for n in range(9_000))
        for letter in "bc"
    )
    yield domain(
        "structure: 9,000 operators in other words", *(f"(define (domain d) {each})" for each in (ours, theirs))
    )
    alike = " ".join(f"(:action b{n} :parameters (?x) :precondition (p ?x) :effect (s ?x))" for n in range(5_000))
    yield structure("5,000 operators alike", ["?x"], [], alike)


def behaviours() -> Iterator[Kind]:
    """Generated domains that are hard to carry out from the reference problem's initial state."""
    things = names(60, "x")
    ferry = problem(" ".join(things), " ".join(f"(at {each})" for each in things), "(on x1) (on x2)", "ferry")

    def behaviour(name: str, text: str, reference: str = DOMAIN, start: str = ferry) -> Kind:
        row = {"domain": reference, "reference_problem": start, "generated_problem": start}
        return Kind(f"behaviour: {name}", {**row, "reference_domain": reference, "generated_domain": text})

    operator = "(:action {} :parameters (?c) :precondition (at ?c) :effect (and (on ?c) (r{} ?c)))"
    extra = " ".join(operator.format(f"o{n}", n) for n in range(9_000))
    yield behaviour("9,000 further operators, 1 MB", f"{DOMAIN[:-1]} {extra})")
    many = f"{DOMAIN[:-1]} {' '.join(operator.format(f'o{n}', n) for n in range(2_000))})"
    short = " ".join(f"(:action o{n} :effect (r{n}))" for n in range(28_000))
    yield behaviour("28,000 operators, 1 MB", f"{DOMAIN[:-1]} {short})")
    yield behaviour("2,000 operators, each with another effect", many.replace("(on ?c) (r", "(r"), many)
    wide = " ".join(f"?x{n}" for n in range(20))
    conditions = " ".join(f"(at ?x{n})" for n in range(20))
    yield behaviour("20 free parameters", DOMAIN.replace("(?c)", f"(?c {wide})"))
    yield behaviour(
        "20 parameters with a condition each",
        DOMAIN.replace("(?c) :precondition (at ?c)", f"(?c {wide}) :precondition (and (at ?c) {conditions})"),
    )
    unlike = " ".join(f"(not (= ?x{n} ?x{m}))" for n, m in combinations(range(20), 2))
    yield behaviour(
        "20 different parameters",
        DOMAIN.replace("(?c) :precondition (at ?c)", f"(?c {wide}) :precondition (and (at ?c) {unlike})"),
    )
    absent = " ".join(f"(not (on ?x{n}))" for n in range(4))
    yield behaviour(
        "4 parameters that are not on board",
        DOMAIN.replace("(?c) :precondition (at ?c)", f"(?c {wide}) :precondition (and (at ?c) {absent})"),
    )
    ten = " ".join(f"?x{n}" for n in range(10))
    yield behaviour(
        "a predicate of 10 arguments",
        DOMAIN.replace("(?c) :precondition", f"({ten} ?c) :precondition").replace(
            "(and (on ?c)", f"(and (on ?c) (p {ten})"
        ),
    )
    yield behaviour("an effect of 50,000 atoms", DOMAIN.replace("(on ?c) (not", " (on ?c)" * 50_000 + " (not"))
    for count in (1_000, 12_000):  # 12,000 have 279 KB
        chain = " ".join(f"(on ?{n} ?{n + 1})" for n in range(count))
        parameters = " ".join(f"?{n}" for n in range(count + 1))
        action = f"(:action pick :parameters ({parameters}) :precondition (and {chain}) :effect (holding ?0))"
        yield behaviour(f"a chain of {count:,} preconditions", f"(define (domain ferry) {action})")
        yield behaviour(
            f"a chain of {count:,} preconditions that become true",
            f"{DOMAIN[:-1]} {action.replace('(holding ?0)', '(and (on ?0 ?1) (on ?1 ?2))')})",
        )
    kinds = " ".join(names(2_000, "k"))
    listed = " ".join(f"?{n} - k{n % 2_000}" for n in range(20_000))
    yield behaviour(
        "20,000 free parameters of 2,000 types over 20,000 constants",
        f"(define (domain ferry) (:types {kinds}) (:constants {' '.join(names(20_000, 'c'))} - k1 z) "
        f"(:action pick :parameters ({listed}) :effect (on ?1)))",
    )
    facts = " ".join(f"(q{n} ?c)" for n in range(20_000))
    yield behaviour("a precondition of 20,000 atoms", DOMAIN.replace("(at ?c) :effect", f"(and {facts}) :effect"))
    yield behaviour("effects of 20,000 atoms", DOMAIN.replace("(on ?c) (not", f"(on ?c) {facts} (not"))
    constants = " ".join(names(50_000, "home"))
    yield behaviour("50,000 constants", DOMAIN.replace("(:predicates", f"(:constants {constants}) (:predicates"))
    chain = " ".join(f"t{n + 1} - t{n}" for n in range(20_000))
    typed = DOMAIN.replace("(:predicates", f"(:types {chain}) (:predicates").replace("(?c) :pre", "(?c - t1) :pre")
    yield behaviour("20,000 types, each in the next", typed, DOMAIN, ferry.replace(") (:init", " - t20000) (:init", 1))
    blind = DOMAIN.replace(
        "(:action board", "(:action look :parameters (?a ?b ?c ?d) :effect (seen ?a ?b ?c ?d)) (:action board"
    )
    yield behaviour("an action without conditions over 13 million", blind)
    yield behaviour("such an action in both, with another effect", blind.replace("(seen ?a ?b", "(seen ?b ?a"), blind)
    for name, text, start in (
        ("sliding tiles of 5", SLIDE, _sliding(5, 1)),
        ("towers of Hanoi, 12", HANOI, _hanoi(12, "c")),
        ("a counter of 24 bits", _counter(24), _counting(24, 23)),
        ("lights out of 12", _lights(12), _lit(12, 1)),
    ):
        operator, _, rest = text.partition(":effect")
        yield behaviour(name, text, text, start)
        yield behaviour(
            f"{name}, more true than is",
            f"{operator}:effect (and (noise) {rest[rest.index('(and') + 4 :]}",
            text,
            start,
        )
        lost, _, kept = text.rpartition("(not ")
        yield behaviour(f"{name}, less false than is", lost + kept[kept.index("))") + 2 :], text, start)
    loads = _loads(40)
    yield behaviour("40 trucks and 400 parcels", *loads)
    yield behaviour(
        "40 trucks and 400 parcels, no conditions", loads[0].replace("(and (at ?p ?w) (at ?t ?w))", "()"), *loads[1:]
    )


def _loads(trucks: int) -> tuple[str, str, str]:
    """A logistics domain that forgets to take the parcel away, the domain, and a large problem."""
    text = """(define (domain loads) (:predicates (at ?t ?w) (in ?p ?t) (road ?w ?v))
      (:action drive :parameters (?t ?w ?v) :precondition (and (at ?t ?w) (road ?w ?v))
        :effect (and (at ?t ?v) (not (at ?t ?w))))
      (:action load :parameters (?p ?t ?w) :precondition (and (at ?p ?w) (at ?t ?w))
        :effect (and (in ?p ?t) (not (at ?p ?w)))))"""
    places, parcels, vehicles = names(20, "w"), names(10 * trucks, "p"), names(trucks, "t")
    init = [f"(road {a} {b})" for a in places for b in places]
    init += [f"(at {each} w{number % 20})" for number, each in enumerate(parcels + vehicles)]
    start = problem(" ".join(places + parcels + vehicles), " ".join(init), f"(in p0 {vehicles[-1]})", "loads")
    return text.replace("(in ?p ?t) (not (at ?p ?w))", "(in ?p ?t)"), text, start


def searches() -> Iterator[Kind]:
    """Domains in which one search is hard, or many are asked for."""
    for side in (3, 4, 5, 7, 10):
        yield search(f"sliding tiles of {side}", SLIDE, *(_sliding(side, seed) for seed in (1, 2)))
    for disks in (5, 10, 40):
        yield search(f"towers of Hanoi, {disks}", HANOI, _hanoi(disks, "c"), _hanoi(disks, "b"))
    for bits in (8, 24, 64):
        yield search(
            f"a counter of {bits} bits", _counter(bits), *(_counting(bits, bit) for bit in (bits - 1, bits - 2))
        )
    for lamps in (4, 12, 20):
        yield search(f"lights out of {lamps}", _lights(lamps), *(_lit(lamps, seed) for seed in (1, 2)))
    wide = " ".join(f"?x{n}" for n in range(12))
    ground = f"(define (domain wide) (:action go :parameters ({wide}) :precondition (p {wide}) :effect (q {wide})))"
    things = " ".join(names(60, "x"))
    twelve = " ".join(names(12, "x"))
    start = problem(things, f"(p {twelve})", f"(q {twelve})", "wide")
    yield search("12 parameters over 60 objects", ground, start, start.replace("(q x0 x1", "(q x1 x0"))
    free = ground.replace(f"(p {wide})", "(and)")
    yield search("12 free parameters over 60 objects", free, start, start.replace("(q x0 x1", "(q x1 x0"))
    for count in (6, 14, 40):
        pigeons, places = names(count, "p"), names(count - 1, "h")
        init = " ".join([f"(out {each})" for each in pigeons] + [f"(free {each})" for each in places])
        goal = " ".join(f"(in {each})" for each in pigeons)
        full = problem(" ".join(pigeons + places), init, goal, "holes")
        yield search(f"{count} pigeons, a hole less", HOLES, full.replace(f"(in p{count - 1})", ""), full)
    roads = """(define (domain rover) (:predicates (at ?w) (road ?w ?v) (seen ?w)) (:action go :parameters (?w ?v)
      :precondition (and (at ?w) (road ?w ?v)) :effect (and (at ?v) (seen ?v) (not (at ?w)))))"""
    for count in (30, 150, 600):
        chance = random.Random(count)
        pairs = [(a, b) for a in range(count) for b in ((a + 1) % count, chance.randrange(count))]
        init = "(at w0) " + " ".join(f"(road w{a} w{b})" for a, b in pairs)
        seen = " ".join(f"(seen w{n})" for n in range(1, count, 3))
        tour = problem(" ".join(names(count, "w")), init, seen, "rover")
        yield search(f"{count} waypoints", roads, tour, tour.replace("(seen w1)", "(seen w2)"))


def _sliding(side: int, seed: int) -> str:
    cells = [f"p{x}-{y}" for x, y in product(range(side), repeat=2)]
    near = [
        f"(next p{x}-{y} p{x + dx}-{y + dy})"
        for x, y in product(range(side), repeat=2)
        for dx, dy in ((0, 1), (1, 0), (0, -1), (-1, 0))
        if 0 <= x + dx < side and 0 <= y + dy < side
    ]
    tiles = names(side * side - 1, "t")
    shuffled = tiles.copy()
    random.Random(seed).shuffle(shuffled)
    init = [f"(at {tile} {cell})" for tile, cell in zip(tiles, cells, strict=False)] + [f"(blank {cells[-1]})", *near]
    goal = " ".join(f"(at {tile} {cell})" for tile, cell in zip(shuffled, cells, strict=False))
    return problem(" ".join(tiles + cells), " ".join(init), goal, "slide")


SLIDE = """(define (domain slide) (:predicates (at ?t ?p) (blank ?p) (next ?p ?q))
  (:action move :parameters (?t ?p ?q) :precondition (and (at ?t ?p) (blank ?q) (next ?p ?q))
  :effect (and (at ?t ?q) (blank ?p) (not (at ?t ?p)) (not (blank ?q)))))"""

HOLES = """(define (domain holes) (:predicates (in ?p) (out ?p) (free ?h))
  (:action put :parameters (?p ?h) :precondition (and (out ?p) (free ?h))
  :effect (and (in ?p) (not (out ?p)) (not (free ?h)))))"""

HANOI = """(define (domain hanoi) (:predicates (clear ?x) (on ?x ?y) (smaller ?x ?y))
  (:action move :parameters (?d ?from ?to)
  :precondition (and (smaller ?d ?to) (on ?d ?from) (clear ?d) (clear ?to))
  :effect (and (clear ?from) (on ?d ?to) (not (on ?d ?from)) (not (clear ?to)))))"""


def _hanoi(disks: int, goal_peg: str) -> str:
    all_disks = names(disks, "d")
    smaller = [f"(smaller {d} {peg})" for d in all_disks for peg in "abc"]
    smaller += [f"(smaller d{n} d{m})" for n in range(disks) for m in range(n + 1, disks)]

    def tower(peg: str) -> list[str]:
        return [f"(on d{n} {f'd{n + 1}' if n + 1 < disks else peg})" for n in range(disks)]

    init = " ".join(["(clear d0) (clear b) (clear c)", *tower("a"), *smaller])
    return problem(" ".join([*all_disks, *"abc"]), init, " ".join(tower(goal_peg)), "hanoi")


def _counter(bits: int) -> str:
    operators = []
    for bit in range(bits):
        low = " ".join(f"(one{n})" for n in range(bit))
        zero = " ".join(f"(zero{n}) (not (one{n}))" for n in range(bit))
        effect = f"(one{bit}) (not (zero{bit})) {zero}"
        operators.append(
            f"(:action up{bit} :parameters () :precondition (and (zero{bit}) {low}) :effect (and {effect}))"
        )
    return f"(define (domain counter) {' '.join(operators)})"


def _counting(bits: int, goal: int) -> str:
    return problem("x", " ".join(f"(zero{n})" for n in range(bits)), f"(one{goal}) (one0)", "counter")


def _lights(lamps: int) -> str:
    """Each operator switches three lamps, from one of their eight patterns: operators ask for no absent atom."""
    operators = []
    for lamp in range(lamps):
        near = [(lamp - 1) % lamps, lamp, (lamp + 1) % lamps]
        for number, pattern in enumerate(product(("on", "off"), repeat=3)):
            now = " ".join(f"({state}{n})" for state, n in zip(pattern, near, strict=True))
            then = " ".join(
                f"({'off' if state == 'on' else 'on'}{n}) (not ({state}{n}))"
                for state, n in zip(pattern, near, strict=True)
            )
            operators.append(
                f"(:action s{lamp}-{number} :parameters () :precondition (and {now}) :effect (and {then}))"
            )
    return f"(define (domain lights) {' '.join(operators)})"


def _lit(lamps: int, seed: int) -> str:
    chance = random.Random(seed)
    init, goal = (" ".join(f"({chance.choice(('on', 'off'))}{n})" for n in range(lamps)) for _ in range(2))
    return problem("x", " ".join(f"(on{n})" for n in range(lamps)), goal if seed else init, "lights")


REPEATED = (
    *("(", "[", "{", "\n[", "- ", "1. ", "a", "not ", "(not ", "none ", "first ", "valid ", "step 1 ", "(on a b) "),
)


def questions() -> Iterator[Kind]:
    """Answers to questions of each kind that say one thing again and again; and questions about many states."""
    tasks = {
        "a counter of 24 bits": (_counter(24), _counting(24, 23)),
        "a counter of 64 bits": (_counter(64), _counting(64, 63)),
        "lights out of 20": (_lights(20), _lit(20, 1)),
        "sliding tiles of 10": (SLIDE, _sliding(10, 1)),
        "towers of Hanoi, 40": (HANOI, _hanoi(40, "c")),
        "20,000 blocks": ("blocksworld", problem(" ".join(names(20_000)), blocks(20_000), "(on b1 b2)")),
    }
    nothing = dict.fromkeys(ORDINARY)
    for kind in kinds_of_questions():
        tower = {"question": kind, "plan": "(pickup a)", "domain": "blocksworld", "reference_problem": TOWER}
        for part in REPEATED:
            said = {"generated_answer": part * (1_000_000 // len(part))}
            yield Kind(f"question: {kind}, {part!r} again and again", {**nothing, **tower, **said})
        for name, (domain_text, task) in tasks.items():
            asked = {"question": kind, "domain": domain_text, "reference_problem": task, "generated_answer": "none"}
            yield Kind(f"question: {kind}, {name}", {**nothing, **asked})


MAKERS: tuple[Callable[[], Iterator[Kind]], ...] = (
    texts,
    sizes,
    graphs,
    plans,
    domains,
    structures,
    behaviours,
    searches,
    questions,
)


def files() -> Iterator[tuple[str, str, bytes, int]]:
    """Files that are hard to read: the kind, the file's ending, its content, the exit code that is right."""
    rows = pa.table({"reference_plan": [PLAN] * 100, "generated_plan": [PLAN] * 100})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as stream:
        for _ in range(3):
            stream.write_table(rows)
    arrow = sink.getvalue().to_pybytes()
    offsets = rows["generated_plan"].chunk(0).buffers()[1].to_pybytes()[:404]
    for name, value in (("far behind its values", 2**31 - 1), ("a little behind them", 3_000 + len(PLAN) * 50)):
        at = arrow.index(offsets, len(arrow) // 3) + 4 * 50
        yield f"file: an Arrow offset {name}", "arrows", arrow[:at] + value.to_bytes(4, "little") + arrow[at + 4 :], 1
    hundred, many = (number.to_bytes(8, "little") for number in (100, 2**60))
    yield "file: Arrow batches of 2**60 rows", "arrows", arrow.replace(hundred, many), 2
    header = b"reference_plan,generated_plan\n"
    yield "file: 20,000 lines that leave a quote open", "csv", header + b'a","b\n' * 20_000, 0
    yield "file: a quote left open before 10,000 rows", "csv", header + b'"a,b\n' + b"a,b\n" * 10_000, 0
    yield "file: 500 MB of zeros in gzip", "jsonl.gz", gzip.compress(bytes(500_000_000), 1), 2


def write(kinds: list[Kind], path: Path) -> None:
    """The kinds as a Parquet file; texts may hold bytes that are not UTF-8."""
    columns = {"kind": pa.array([kind.name for kind in kinds])}
    for column, ordinary in ORDINARY.items():
        values = [kind.row.get(column, ordinary) for kind in kinds]
        raw = [each.encode("utf-8", "surrogatepass") if isinstance(each, str) else each for each in values]
        columns[column] = pa.array(raw, pa.binary()).cast(pa.string(), safe=False)
    pq.write_table(pa.table(columns), path, row_group_size=16)


@dataclass
class Spent:
    """What runs needed, added up: seconds of the clock and of processors, the largest process, exit codes."""

    seconds: float = 0.0
    processor: float = 0.0
    megabytes: int = 0
    codes: tuple[int, ...] = ()


def score(path: Path, output: Path, spent: Spent, *options: str) -> int:
    """Score a file; returns the megabytes of the largest process: the run, its workers and its planners."""
    command = [sys.executable, "-m", "pddl_eval", "score", str(path), str(output), *options]
    started = time.monotonic()
    with Path(os.devnull).open("wb") as nowhere:
        process = subprocess.Popen(command, stdout=nowhere)
    try:
        _, status, usage = os.wait4(process.pid, 0)
    except BaseException:
        process.terminate()
        raise
    peak = usage.ru_maxrss // 1024
    spent.seconds += time.monotonic() - started
    spent.processor += usage.ru_utime + usage.ru_stime
    spent.megabytes = max(spent.megabytes, peak)
    spent.codes += (os.waitstatus_to_exitcode(status),)
    return peak


def read(output: Path) -> list[dict[str, Any]]:
    """The scored rows without their texts."""
    rows: list[dict[str, Any]] = []
    for path in sorted(output.glob("*.parquet")):
        present = [name for name in pq.read_schema(path).names if name not in ORDINARY]
        rows += pq.read_table(path, columns=present).to_pylist()
    return rows


def main() -> int:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--each", action="store_true", help="a process for each kind, with its memory")
    parser.add_argument("--only", default="*", metavar="PATTERN", help="names of kinds")
    parser.add_argument("--workers", default="2")
    arguments = parser.parse_args()
    kinds = [kind for make in MAKERS for kind in make() if fnmatch(kind.name, arguments.only)]
    rows: list[dict[str, Any]] = []
    spent = Spent()
    with tempfile.TemporaryDirectory() as folder:
        for number, batch in enumerate([[kind] for kind in kinds] if arguments.each else [kinds]):
            path, output = Path(folder, f"{number}.parquet"), Path(folder, f"{number}")
            write(batch, path)
            options = () if arguments.each else ("--workers", arguments.workers, *shard_rows(16, Path(folder)))
            peak = score(path, output, spent, *options)
            rows += [row | {"megabytes": peak} for row in read(output)]
        wrong = []
        for number, (name, ending, content, code) in enumerate(files()):
            if fnmatch(name, arguments.only):
                path, own = Path(folder, f"file{number}.{ending}"), Spent()
                path.write_bytes(content)
                score(path, Path(folder, f"of file{number}"), own, "--workers", arguments.workers)
                print(f"{own.processor * 1000:>9,.1f} ms {own.megabytes:>6,} MB  exit code {own.codes[0]}       {name}")
                if own.codes[0] != code or own.megabytes > MEGABYTES or own.processor > 10 * SECONDS:
                    wrong.append(f"{name}: exit code {own.codes[0]}, {own.processor:,.0f} s, {own.megabytes:,} MB")
    workers = 1 if arguments.each else int(arguments.workers)
    wrong += report(kinds, rows, spent, max(1.0, workers * spent.seconds / spent.processor))
    print("\n".join(["", *wrong, f"{len(wrong)} things are wrong"]))
    return bool(wrong)


def report(kinds: list[Kind], rows: list[dict[str, Any]], spent: Spent, busy: float) -> list[str]:
    """Print the rows, the slowest last; returns what is wrong.

    A row's time is the clock's, its budget the processor's: on a ``busy`` machine the clock runs faster.
    """
    found = {row["kind"]: row for row in rows}
    for row in sorted(rows, key=lambda row: row["score_micros"] or 0):
        said = row["score_error"] or row["detail"]
        verdict = row["verdict"] or row["answer_verdict"] or "–"
        said = row["answer_detail"] or said or ""
        if row["kind"].startswith(("plan", "domain", "behaviour")):
            said = row["plan_detail"] or row["domain_detail"] or ""
        millis = (row["score_micros"] or 0) / 1000
        print(f"{millis:>9,.1f} ms {row['megabytes']:>6,} MB  {verdict:<17} {row['kind']}: {said[:60]}")
    wrong = [f"exit code {code}" for code in spent.codes if code]
    for kind in kinds:
        row = found.get(kind.name)
        if row is None:
            wrong.append(f"{kind.name}: lost")
            continue
        if bool(row["score_error"]) != kind.error:
            wrong.append(f"{kind.name}: {str(row['score_error'])[:200]}")
        if kind.verdict not in (None, row["verdict"]):
            wrong.append(f"{kind.name}: {row['verdict']}, not {kind.verdict}")
        if (row["score_micros"] or 0) > busy * SECONDS * GRACE * 1e6:
            wrong.append(f"{kind.name}: {row['score_micros'] / 1e6:,.1f} s")
    largest = (
        {row["kind"]: row["megabytes"] for row in rows} if len(spent.codes) > 1 else {"a process": spent.megabytes}
    )
    wrong += [f"{name}: {megabytes:,} MB" for name, megabytes in largest.items() if megabytes > MEGABYTES]
    print(
        f"\n{len(kinds)} kinds, {len(found)} rows, {spent.seconds:,.0f} s, {spent.processor:,.0f} s of processor time"
    )
    print(f"the largest process: {spent.megabytes:,} MB")
    return wrong


if __name__ == "__main__":
    sys.exit(main())
