"""Rows that nobody would write, scored: never an exception or a ``score_error``, always a verdict, in bounded time.

A long run: ``python -m tests.measure.fuzz --minutes 60 --seed 0``. It prints every case that breaks a rule with the
call that makes it again, ``case(seed, number)``, and in the end the slowest. ``test_fuzz`` runs a few seconds of it.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random

import pyarrow as pa
from pddl_eval.definition.metrics import PLAN
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.scoring.table import score_table

from tests.support.mutations import OWN_PROBLEMS, differ, mutate, reference_texts, soup

ROW_SECONDS = 60.0
"""No row may take longer, on a machine that does other things as well."""

COMPARED_CHARACTERS = 20_000
"""Texts up to that length are read by the ``pddl`` package too."""

LONGEST = 3_000_000
"""Characters of an answer that is made by repetition."""

PLANS = [
    "(pick ball1 room1 left)\n(move room1 room2)\n(drop ball1 room2 left)",
    "0: (unstack b1 b2) [1]\n1: (put-down b1) [1]\n; cost = 2 (unit cost)",
    "take(a), move(l1, l2), {x(p), y}, drop(a)",
    'Sure:\n```json\n[{"name": "pick", "args": ["a", "b"], "id": 0}, {"name": "FinishAction", "args": {}}]\n```',
]

DOMAINS = [
    """(define (domain ferry) (:requirements :strips :typing) (:types car place - object)
    (:predicates (at ?c - car ?p - place) (here ?p - place) (empty) (on ?c - car))
    (:action sail :parameters (?from ?to - place) :precondition (here ?from)
      :effect (and (here ?to) (not (here ?from))))
    (:action board :parameters (?c - car ?p - place) :precondition (and (at ?c ?p) (here ?p) (empty))
      :effect (and (on ?c) (not (at ?c ?p)) (not (empty)))))""",
    """(define (domain d) (:predicates (p ?x) (q))
    (:action a :parameters (?x) :precondition (not (p ?x)) :effect (p ?x)))""",
]

PIECES = [
    "(",
    ")",
    "((",
    "()",
    "{",
    "[",
    '"',
    "```",
    "\\",
    ";",
    "- ",
    "(and ",
    "(not ",
    "(define (problem ",
    "a ",
    "é",
    "\U0001f9f1",
]
PIECES += [
    "\x00",
    "\n",
    "0: ",
    "(on a b) ",
    "(:init ",
    '{"name": "a", "args": [',
    "x" * 500,
    "?x - (either ",
    "1e999 ",
    "\u2028",
]


@dataclass(frozen=True, slots=True)
class Case:
    """A row, and which generator made each of its answers."""

    row: dict[str, str | bool | None]
    origins: tuple[str, ...]


def case(seed: int, number: int) -> Case:
    """The case with that number, always the same."""
    chance = Random(f"{seed}:{number}")
    row: dict[str, str | bool | None] = {"is_placeholder": chance.random() < 0.3}
    origins = []
    for kind, references in (("problem", _references()), ("plan", PLANS), ("domain", DOMAINS)):
        reference = chance.choice(references)
        origin = chance.choice(list(ANSWERS))
        row[f"reference_{kind}"] = reference
        row[f"generated_{kind}"] = _valid(ANSWERS[origin](reference, chance))
        origins.append(f"{kind}: {origin}")
    # The pairs are drawn one by one: the reference domain is not that of the problem.
    row["domain"] = re.search(r"\(:domain ([^ )]+)", str(row["reference_problem"]))[1]
    return Case(row, tuple(origins))


def broken_rules(tried: Case) -> Iterator[str]:
    """What is wrong with how a row is scored, if anything."""
    started = time.perf_counter()
    try:
        (scores,) = score_table(pa.Table.from_pylist([tried.row], schema=SCHEMA), ScoringOptions()).to_pylist()
    except Exception as error:
        yield f"{type(error).__name__}: {error}"
        return
    if time.perf_counter() - started > ROW_SECONDS:
        yield f"it took {time.perf_counter() - started:.0f} s"
    if scores["score_error"] is not None:
        yield f"score_error: {scores['score_error']}"
    if scores["verdict"] is None or scores["verdict"] == "reference_invalid":
        yield f"the verdict is {scores['verdict']}: {scores['detail']}"
    if (scores["verdict"] in ("identical", "isomorphic", "equivalent")) != (scores["equivalent"] is True):
        yield f"verdict {scores['verdict']} and equivalent {scores['equivalent']}"
    for field in PLAN.columns[:5]:
        if scores[field.name] is None or not 0 <= scores[field.name] <= 1:
            yield f"{field.name} is {scores[field.name]}"
    answer = tried.row["generated_problem"]
    if isinstance(answer, str) and len(answer) <= COMPARED_CHARACTERS:
        difference = differ(answer)
        if difference:
            yield f"the readers differ: {difference}"


def run(seconds: float, seed: int, tell: Callable[[str], None] = print) -> int:
    """Try cases for so long; returns how many broke a rule."""
    end = time.monotonic() + seconds
    slowest, slowest_number, number, broken = 0.0, 0, 0, 0
    tally: Counter[str] = Counter()
    while time.monotonic() < end:
        tried = case(seed, number)
        started = time.perf_counter()
        rules = list(broken_rules(tried))
        took = time.perf_counter() - started
        if took > slowest:
            slowest, slowest_number = took, number
        tally.update(tried.origins)
        broken += bool(rules)
        for rule in rules:
            tell(f"case({seed}, {number}) {', '.join(tried.origins)}: {rule[:2000]}")
        number += 1
    tell(f"{number:,} cases, {broken} broke a rule; slowest: case({seed}, {slowest_number}), {slowest:.2f} s")
    tell(", ".join(f"{origin} {count:,}" for origin, count in sorted(tally.items())))
    return broken


SCHEMA = pa.schema(
    [
        *(
            (f"{side}_{kind}", pa.string())
            for kind in ("problem", "plan", "domain")
            for side in ("reference", "generated")
        ),
        ("is_placeholder", pa.bool_()),
        ("domain", pa.string()),
    ]
)


def _references() -> list[str]:
    if not _KEPT:
        _KEPT.extend([OWN_PROBLEMS[0], *reference_texts()[::97]])  # The others state no problem that can be solved.
    return _KEPT


_KEPT: list[str] = []


def _valid(text: str | None) -> str | None:
    """Text as Parquet can hold it: lone surrogates cannot be."""
    return None if text is None else text.encode("utf-8", "replace").decode()


def _bytes(reference: str, chance: Random) -> str:
    return chance.randbytes(chance.randint(0, 3000)).decode(chance.choice(["utf-8", "latin-1", "utf-16"]), "replace")


def _pieces(reference: str, chance: Random) -> str:
    return "".join(chance.choices(PIECES, k=chance.randint(0, 60)))


def _long(reference: str, chance: Random) -> str:
    piece = chance.choice([*PIECES, reference, _pieces(reference, chance) or "("])
    return piece * max(1, int(chance.choice([1e3, 1e5, LONGEST])) // len(piece))


def _nested(reference: str, chance: Random) -> str:
    depth = int(10 ** chance.uniform(1, 5))
    opened, closed = chance.choice([("(and ", ")"), ("(not ", ")"), ("(", ")"), ("[", "]"), ('{"a":', "}"), ("{", "}")])
    return (
        reference[: chance.randint(0, len(reference))] + opened * depth + closed * chance.choice([depth, 0, depth - 1])
    )


def _cut(reference: str, chance: Random) -> str:
    return reference[: chance.randint(0, len(reference))] + _pieces(reference, chance)


ANSWERS: dict[str, Callable[[str, Random], str | None]] = {
    "nothing": lambda reference, chance: chance.choice([None, "", " \n"]),
    "the reference": lambda reference, chance: reference,
    "mutated": mutate,
    "mutated twice": lambda reference, chance: mutate(mutate(reference, chance), chance),
    "another kind": lambda reference, chance: mutate(chance.choice([*PLANS, *DOMAINS, *_references()]), chance),
    "soup": lambda reference, chance: soup(chance),
    "bytes": _bytes,
    "pieces": _pieces,
    "long": _long,
    "nested": _nested,
    "cut": _cut,
}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    sys.exit(min(1, run(60 * chosen.minutes, chosen.seed)))
