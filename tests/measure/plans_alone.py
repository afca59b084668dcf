"""Plans without references: ``python -m tests.measure.plans_alone --rows 100000 --workers 1,2``.

Writes that many plans with the problems that they should solve as JSON Lines, ten answers to a question: the problems
of the bundled sample (blocksworld, gripper, floor-tile) and of a domain with types and numbers, the plans valid, cut
short, out of order, with an unknown action or an unreadable step, in several notations. Scores the file with
``pddl-eval score`` and prints rows a second, CPU seconds and peak memory of a process (Linux). Each kind of plan has a
known verdict: ends with 1 where a row has another one.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from random import Random

import polars as pl
from pddl_eval.definition.model import Action, show_atom
from pddl_eval.definition.task import task_of

SAMPLE = Path(__file__).parents[2] / "pipeline" / "pddl_eval" / "benchmark" / "sample.parquet"

POST = """(define (domain post) (:requirements :typing :numeric-fluents)
 (:types place parcel)
 (:predicates (road ?a ?b - place) (at ?p - place) (in ?x - parcel ?p - place) (on ?x - parcel))
 (:functions (fuel) (total-cost) (length ?a ?b - place))
 (:action drive :parameters (?a ?b - place)
  :precondition (and (at ?a) (road ?a ?b) (>= (fuel) (length ?a ?b)))
  :effect (and (not (at ?a)) (at ?b) (decrease (fuel) (length ?a ?b)) (increase (total-cost) (length ?a ?b))))
 (:action load :parameters (?x - parcel ?p - place)
  :precondition (and (at ?p) (in ?x ?p)) :effect (and (on ?x) (not (in ?x ?p))))
 (:action drop :parameters (?x - parcel ?p - place)
  :precondition (and (at ?p) (on ?x)) :effect (and (in ?x ?p) (not (on ?x)))))"""

Question = tuple[str, str | None, list[Action]]
"""A problem, its domain if the name is not known, and a plan that solves it."""

ANSWERS = 10


def round_trip(random: Random, number: int) -> Question:
    """A van brings parcels along a road, and comes back for more."""
    places = [f"p{index}" for index in range(random.randint(3, 8))]
    parcels = [f"x{index}" for index in range(random.randint(1, 5))]
    lengths = {(a, b): random.randint(1, 9) for pair in pairwise(places) for a, b in (pair, pair[::-1])}
    plan: list[Action] = []
    here = 0
    for parcel in parcels:
        start, end = sorted(random.sample(range(len(places)), 2))
        for there in (start, end):
            step = 1 if there > here else -1
            plan += [("drive", places[place], places[place + step]) for place in range(here, there, step)]
            plan.append(("load" if there == start else "drop", parcel, places[there]))
            here = there
    starts = {parcel: action[2] for action in plan if action[0] == "load" for parcel in action[1:2]}
    ends = {parcel: action[2] for action in plan if action[0] == "drop" for parcel in action[1:2]}
    fuel = sum(lengths[action[1], action[2]] for action in plan if action[0] == "drive")
    init = [f"(road {a} {b}) (= (length {a} {b}) {length})" for (a, b), length in lengths.items()]
    init += [f"(at {places[0]}) (= (fuel) {fuel}) (= (total-cost) 0)", *(f"(in {x} {p})" for x, p in starts.items())]
    goal = " ".join(f"(in {x} {p})" for x, p in ends.items())
    problem = (
        f"(define (problem post-{number}) (:domain post)"
        f" (:objects {' '.join(places)} - place {' '.join(parcels)} - parcel)"
        f" (:init {' '.join(init)}) (:goal (and {goal})) (:metric minimize (total-cost)))"
    )
    return problem, POST, plan


def questions(random: Random) -> list[Question]:
    """Those of the sample, and as many again as one of its domains has."""
    found: list[Question] = []
    for problem in pl.read_parquet(SAMPLE)["reference_problem"].unique(maintain_order=True):
        plan = task_of(problem).plan
        if isinstance(plan, tuple) and len(plan) > 1:
            found.append((problem, None, list(plan)))
    return found + [round_trip(random, number) for number in range(len(found) // 3)]


DAMAGES: dict[str, Callable[[list[str]], list[str]]] = {
    "valid": lambda steps: steps,
    "goal_not_reached": lambda steps: steps[:-1],
    "precondition": lambda steps: [*steps[1:], steps[0]],
    "unknown_action": lambda steps: [*steps, "(fly home)"],
    "unreadable": lambda steps: [*steps[:-1], steps[-1][:-1]],
}
"""By the verdict on what they make of a plan; the third has it only where the first step is needed at once."""

NOTATIONS: tuple[Callable[[list[str]], str], ...] = (
    "\n".join,
    lambda steps: "\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1)),
    lambda steps: "Here is the plan:\n```\n" + "\n".join(steps) + "\n```",
    lambda steps: "<think>Let me see.</think>\n" + "\n".join(steps),
)


def rows(count: int, seed: int) -> Iterator[dict[str, str | None]]:
    random = Random(seed)
    asked = questions(random)
    for number in range(count):
        problem, domain, plan = asked[number // ANSWERS % len(asked)]
        verdict = random.choice(list(DAMAGES))
        steps = DAMAGES[verdict]([show_atom(action) for action in plan])
        text = random.choice(NOTATIONS)(steps)
        yield {"reference_problem": problem, "domain": domain, "generated_plan": text, "expected": verdict}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--workers", default="1,2")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "plans.jsonl"
        with file.open("w", encoding="utf-8") as lines:
            lines.writelines(f"{json.dumps(row)}\n" for row in rows(arguments.rows, arguments.seed))
        print(f"{arguments.rows:,} rows, {file.stat().st_size / 2**20:,.0f} MiB", flush=True)
        for workers in arguments.workers.split(","):
            output = Path(folder) / f"scored-{workers}"
            before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
            command = [
                sys.executable,
                "-m",
                "pddl_eval",
                "score",
                file,
                output,
                "--workers",
                workers,
                "--engine",
                "local",
            ]
            subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            seconds, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
            cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            print(
                f"{workers} worker(s): {arguments.rows / seconds:,.0f} rows/s, {seconds:,.1f} s, CPU {cpu:,.1f} s, "
                f"largest process so far {after.ru_maxrss / 2**10:,.0f} MiB",
                flush=True,
            )
            scored = pl.read_parquet(
                output / "*.parquet", columns=["expected", "plan_verdict", "plan_valid", "score_error"]
            )
            differ = (
                scored.filter(pl.col("expected") != pl.col("plan_verdict")).group_by("expected", "plan_verdict").len()
            )
            print(differ.sort("len", descending=True).rows(), scored["score_error"].drop_nulls().len(), "errors")
            wrong += differ.filter(pl.col("expected") != "precondition").height
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
