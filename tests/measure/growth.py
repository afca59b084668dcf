"""How time grows with objects, steps, operators and states: ``python -m tests.measure.growth --val VALIDATE``.

    --val VALIDATE                   VAL's program, on the same plans
    --unified-planning PYTHON        unified-planning's validator, which that Python has, on the same plans
    --largest 0.1                    a tenth of the largest sizes

Prints for each program the milliseconds of the smallest and of the largest size, and the exponent that fits the larger
half of the sizes: 1.0 is time that grows as what is given does. Peers stop at the sizes that take them seconds.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from math import log
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import linear_regression
from time import process_time
from typing import NamedTuple

from pddl.parser.domain import DomainParser
from pddl.parser.problem import ProblemParser
from pddl_eval import DomainScores, compare_domains, compare_problems, validate
from pddl_eval.definition.domains import blocksworld

TRIES = 3
"""The least of so many times counts."""

VALIDATE = """
import json, sys, time
from unified_planning.engines.plan_validator import SequentialPlanValidator
from unified_planning.io import PDDLReader
from unified_planning.shortcuts import get_environment
get_environment().credits_stream = None
reader = PDDLReader()
for domain, problem, plan in json.load(sys.stdin):
    start = time.process_time()
    read = reader.parse_problem_string(domain, problem)
    found = SequentialPlanValidator().validate(read, reader.parse_plan_string(read, plan))
    assert found.status.name == "VALID", found
    print(time.process_time() - start, flush=True)
"""


class Growth(NamedTuple):
    """What one program was measured at."""

    what: str
    program: str
    sizes: Sequence[int]
    seconds: Sequence[float]

    @property
    def exponent(self) -> float:
        """Of the power of the size that fits best, over the larger half of the sizes."""
        half = min(len(self.sizes) // 2, len(self.sizes) - 3)
        return linear_regression([*map(log, self.sizes[half:])], [*map(log, self.seconds[half:])]).slope


def tower(count: int, name: str) -> str:
    """A tower that is built the other way round, as a problem of Blocks World."""
    blocks = [f"{name}{number}" for number in range(count)]
    up = " ".join(f"(on {above} {below})" for above, below in pairwise(blocks))
    down = " ".join(f"(on {below} {above})" for above, below in pairwise(blocks))
    init = f"(arm-empty) (clear {blocks[0]}) (on-table {blocks[-1]}) {up}"
    objects = " ".join(blocks)
    return f"(define (problem p) (:domain blocksworld) (:objects {objects}) (:init {init}) (:goal (and {down})))"


LIFTED = tower(2, "b").replace("(and (on b1 b0))", "(and (arm-empty))")


def plan(steps: int) -> str:
    """A valid plan of so many steps."""
    return "\n".join(["(unstack b0 b1)", "(stack b0 b1)"] * (steps // 2))


def domain(operators: int, name: str) -> str:
    """A domain of so many operators, each on predicates of its own."""
    actions = (
        f"(:action {name}{number} :parameters (?x ?y) :precondition (and (p{number} ?x) (q{number} ?x ?y))"
        f" :effect (and (p{number + 1} ?y) (not (p{number} ?x))))"
        for number in range(operators)
    )
    return f"(define (domain d) (:requirements :strips) (:predicates {declared(operators)}) {' '.join(actions)})"


def declared(operators: int) -> str:
    ones = (f"(p{number} ?x)" for number in range(operators + 1))
    twos = (f"(q{number} ?x ?y)" for number in range(operators))
    return " ".join([*ones, *twos])


LAMPS = """(define (domain lamps) (:predicates (on ?l) (off ?l))
  (:action light :parameters (?l) :precondition (off ?l) :effect (and (on ?l) (not (off ?l))))
  (:action darken :parameters (?l) :precondition (on ?l) :effect (and (off ?l) (not (on ?l)))))"""


def lamps(count: int) -> str:
    """A problem of two to that many states."""
    names = [f"l{number}" for number in range(count)]
    off, lit = (" ".join(f"({state} {name})" for name in names) for state in ("off", "on"))
    return f"(define (problem p) (:domain lamps) (:objects {' '.join(names)}) (:init {off}) (:goal (and {lit})))"


def least(call: Callable[[], object]) -> float:
    """The least processor time that a call takes."""
    times = []
    for _ in range(TRIES):
        start = used()
        call()
        times.append(used() - start)
    return min(times)


def used() -> float:
    """Seconds of processor time of this process and of those that it has started."""
    started = getrusage(RUSAGE_CHILDREN)
    return process_time() + started.ru_utime + started.ru_stime


def grown(what: str, program: str, sizes: Sequence[int], call: Callable[[int], Callable[[], object]]) -> Growth:
    """How the calls for these sizes grow; what they are given is made before."""
    return Growth(what, program, sizes, [least(call(size)) for size in sizes])


def scaled(sizes: Sequence[int], largest: float) -> list[int]:
    return [max(4 + 2 * place, 2 * int(size * largest / 2)) for place, size in enumerate(sizes)]


def val_on(val: str, folder: Path, steps: int) -> Callable[[], object]:
    """VAL on a plan, as a process."""
    texts = {"domain": blocksworld.PDDL, "problem": LIFTED, "plan": plan(steps)}
    for name, text in texts.items():
        (folder / name).write_text(text)
    return lambda: subprocess.run([val, *(folder / name for name in texts)], capture_output=True, check=True)


def unified_planning(python: str, sizes: Sequence[int]) -> Growth:
    """unified-planning's validator, in its own Python, without its start."""
    cases = json.dumps([(blocksworld.PDDL, LIFTED, plan(size)) for size in sizes for _ in range(TRIES)])
    done = subprocess.run([python, "-c", VALIDATE], input=cases, capture_output=True, text=True, check=True)
    times = [*map(float, done.stdout.split())]
    least_of = [min(times[place : place + TRIES]) for place in range(0, len(times), TRIES)]
    return Growth("steps of a plan", "unified-planning", sizes, least_of)


def measured(largest: float, val: str | None, python: str | None) -> Iterator[Growth]:
    """All that was measured, in one run."""
    package = scaled((100, 200, 400, 800), largest)
    objects = scaled((500, 1_000, 2_000, 5_000, 10_000, 20_000), largest)
    steps = scaled((200, 500, 1_000, 2_000, 5_000, 10_000), largest)
    operators = scaled((10, 20, 50, 100, 200, 400), largest)

    problem_parser, domain_parser = ProblemParser(), DomainParser()
    yield grown(
        "objects of a problem", "compare_problems", objects, lambda size: partial(compare_problems, *towers(size))
    )
    yield grown("objects of a problem", "pddl, a parse", package, lambda size: partial(problem_parser, towers(size)[0]))
    yield grown("steps of a plan", "validate", steps, lambda size: partial(validate, plan(size), LIFTED))
    yield grown("steps of a plan", "validate, states", steps, lambda size: partial(states, plan(size)))
    if val:
        with tempfile.TemporaryDirectory() as folder:
            yield grown("steps of a plan", "VAL", steps, lambda size: val_on(val, Path(folder), size))
    if python:
        yield unified_planning(python, package)

    yield grown("operators of a domain", "compare_domains", operators, lambda size: partial(renamed, *domains(size)))
    parsed = scaled((10, 20, 50, 100), largest)
    yield grown("operators of a domain", "pddl, a parse", parsed, lambda size: partial(domain_parser, domains(size)[0]))
    counts = [4, 6, 8, 10, *[12] * (largest >= 1)]
    found = grown("states", "validate, optimal_cost", counts, lambda size: partial(optimal, size))
    yield found._replace(sizes=[2**count for count in counts])


def towers(count: int) -> tuple[str, str]:
    return tower(count, "b"), tower(count, "c")


def domains(count: int) -> tuple[str, str]:
    return domain(count, "a"), domain(count, "b")


def renamed(one: str, other: str) -> None:
    found = compare_domains(one, other)
    assert isinstance(found, DomainScores) and found.equivalent


def states(steps: str) -> int:
    return len(validate(steps, LIFTED).states)


def optimal(count: int) -> None:
    everything = " ".join(f"(light l{number})" for number in range(count))
    assert validate(everything, lamps(count), LAMPS).optimal_cost == count


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--val", help="VAL's program Validate")
    parser.add_argument("--unified-planning", metavar="PYTHON")
    parser.add_argument("--largest", type=float, default=1.0)
    chosen = parser.parse_args()
    for each in measured(chosen.largest, chosen.val, chosen.unified_planning):
        print(
            f"{each.what}: {each.program}: {each.sizes[0]:,} to {each.sizes[-1]:,}: {1e3 * each.seconds[0]:.3g} to "
            f"{1e3 * each.seconds[-1]:.3g} ms, exponent {each.exponent:.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
