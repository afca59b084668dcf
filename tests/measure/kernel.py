"""The kernel beside the definition, on labelled answers to the benchmark's references, and beside the ``pddl`` package.

    python -m tests.measure.kernel --references 5000     # how many references; 0: all 145,918
    python -m tests.measure.kernel --speed               # microseconds a pair, in units of one parse
    python -m tests.measure.kernel --speed --planetarium PYTHON  # and beside Planetarium, which that Python has
    python -m tests.measure.kernel --plans PYTHON        # pairs of plans beside GAICo, which that Python has
    python -m tests.measure.kernel --domains 2000        # pairs of domains: every column, and microseconds a pair
    python -m tests.measure.kernel --domains 340 --amlgym PYTHON
    python -m tests.measure.kernel --strips 20           # answers to each problem of the corpus, domains given as text
    python -m tests.measure.kernel --strips 20 --checkout PATH   # to the smallest problems of the competitions' domains
    python -m tests.measure.kernel --instructions        # instructions a row, by function, for each kind of row

Prints how many rows were compared, how many the kernel left and why, and each difference; ends with 1 where there is
one. The speed of the two is measured alternately, batch by batch; the median of the ratios is printed.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from random import Random
from subprocess import DEVNULL, PIPE

import pyarrow as pa
import pyarrow.parquet as pq
from pddl_eval import kernel
from pddl_eval.benchmark.original import Original
from pddl_eval.benchmark.variants import PRESETS, draw_variant
from pddl_eval.definition.domains import known_domain
from pddl_eval.definition.kept import keeping
from pddl_eval.definition.metrics import DOMAIN, PLAN, PROBLEM, Pair
from pddl_eval.definition.model import domain_to_pddl
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.errors import UserError
from pddl_eval.kernel import tables
from pddl_eval.scoring.kept import KEPT

from tests.corpus import ADL, CORPUS
from tests.kernel.test_domains import (
    corpus_tasks,
    known_tasks,
    labelled_domains,
    renamed_tasks,
    small_tasks,
    without_problems,
)
from tests.kernel.test_plans import executed_rows
from tests.measure import peer
from tests.measure.ipc import instances
from tests.measure.workloads import STEPS, WORKLOADS
from tests.support.differential import SCORES, Row, answers_in, columns_of, compared, labelled_answers
from tests.support.random_problems import VOCABULARY
from tests.support.shared_problems import SHARED_PROBLEMS

BATCH = 500
"""References at a time."""

DOMAIN_BATCH = 170

TASKS = (labelled_domains, small_tasks, known_tasks, renamed_tasks, corpus_tasks)
"""What domains are executed in."""

SPEED_ROWS, SPEED_BATCH, PARSES, PEER_PAIRS = 4_000, 200, 25, 100

Score = Callable[[Mapping[str, pa.ChunkedArray]], object]
"""What scores a batch."""

ALL_COLUMNS: Score = partial(tables.score, options=ScoringOptions())

STEPS_MEASURED = 40_000
"""Steps of all reference plans of a kind; GAICo gets fewer plans."""


def references(count: int, seed: int) -> Iterator[Row]:
    """That many references of the three domains, drawn at random; all in their order for 0."""
    table = pq.read_table(SHARED_PROBLEMS, columns=["problem_pddl", "is_placeholder", "domain"])
    if count:
        table = table.take(sorted(Random(seed).sample(range(table.num_rows), min(count, table.num_rows))))
    for row in table.to_pylist():
        if not row["domain"].startswith("rover"):
            yield {"reference_problem": row["problem_pddl"], "is_placeholder": bool(row["is_placeholder"])}


def compare(count: int, seed: int, recipes: int) -> int:
    """Compare kernel and definition; the number of differences."""
    rows, differences, left = 0, 0, Counter[str]()
    drawn = list(references(count, seed))
    for start in range(0, len(drawn), BATCH):
        found = compared(labelled_answers(drawn[start : start + BATCH], Random(seed + start), recipes))
        rows, differences, left = rows + found.rows, differences + len(found.differences), left + found.left
        for row, columns in found.differences:
            print(columns, row, sep="\n", flush=True)
    print(f"{rows:,} rows compared, {left.total():,} left {dict(left)}, {differences} differences")
    return differences


def answered(preset: str, count: int, seed: int, answers: int = 1) -> list[Row]:
    """That many references with this many answers of the preset each."""
    random, rows = Random(seed), []
    for row in references(count, seed):
        original = Original(row["reference_problem"], is_placeholder=row["is_placeholder"])
        texts = [draw_variant(original, PRESETS[preset], random).text for _ in range(answers)]
        rows += [{**row, "generated_problem": text} for text in texts]
    return rows


def measure_speed(seed: int, planetarium: str | None) -> None:
    """Print how long a pair takes the kernel, all columns, and how long a reference takes the package."""
    equivalence = partial(tables.score, options=ScoringOptions(check_solvable=False), certificates=False)
    for preset in ("zero-shot", "fine-tuned", "every-kind"):
        in_parses(preset, answered(preset, SPEED_ROWS, seed))
    in_parses("zero-shot, four answers a reference", answered("zero-shot", SPEED_ROWS // 4, seed, answers=4))
    weak: list[Row] = WORKLOADS["weak"](SPEED_ROWS).to_pylist()
    in_parses("weak", weak)
    micros = in_parses("weak, the equivalence alone", weak, equivalence)
    if planetarium is not None:
        sides = ("reference_problem", "generated_problem", "is_placeholder")
        pairs = [tuple(row[side] for side in sides) for row in weak[:: SPEED_ROWS // PEER_PAIRS]]
        theirs = peer_micros(planetarium, "planetarium", "", pairs)
        for average in (statistics.fmean, statistics.median):
            said = f"{average(theirs):,.0f} µs a pair ({average(theirs) / micros:,.0f} times)"
            print(f"Planetarium, {average.__name__} of {len(theirs)} pairs: {said}")


def in_parses(name: str, rows: list[Row], score: Score = ALL_COLUMNS) -> float:
    """Print how long a pair takes, in microseconds and in units of one parse of a reference; return the first."""
    from pddl.parser.problem import ProblemParser

    parser = ProblemParser()

    def by_kernel(batch: list[Row]) -> float:
        columns = columns_of(batch)
        start = time.process_time()
        score(columns)
        return (time.process_time() - start) / len(batch) * 1e6

    def by_package(batch: list[Row]) -> float:
        start = time.process_time()
        for row in batch:
            parser._transformer._objects_by_name = {}  # the package keeps the objects of the last problem
            with suppress(Exception):
                parser(row["reference_problem"].lower())
        return (time.process_time() - start) / len(batch) * 1e6

    by_package(rows[:5])
    batches = [rows[start : start + SPEED_BATCH] for start in range(0, len(rows), SPEED_BATCH)]
    times = [(by_kernel(batch), by_package(batch[:PARSES])) for batch in batches]
    ours, theirs = (statistics.median(each) for each in zip(*times, strict=True))
    ratio = statistics.median(one / other for one, other in times)
    print(f"{name}: {ours:.1f} µs a pair, {theirs:.0f} µs a parse, {ratio:.4f} parses a pair", flush=True)
    return ours


def peer_micros(python: str, name: str, function: str, pairs: Sequence[Sequence[object]]) -> list[float]:
    """Microseconds that a program takes for each pair, without those that it cannot read, which take it no time."""
    command = [python, peer.__file__, name, function]
    ran = subprocess.run(command, input=json.dumps(pairs), capture_output=True, text=True, check=True)
    return [1e6 * each for each in json.loads(ran.stdout)["times"] if not isinstance(each, str)]


def measure_plans(python: str) -> None:
    """Print how long a pair of plans takes the kernel and the definition, all columns, and GAICo, one column."""
    options = ScoringOptions()
    executed = Random(1)
    kinds: dict[str, list[Row]] = {}
    for kind, step in STEPS.items():
        for steps in (20, 100, 1000):
            pairs = [
                [", ".join(step(executed) for _ in range(steps)) for _ in range(2)]
                for _ in range(STEPS_MEASURED // steps)
            ]
            kinds[f"{kind}, {steps} steps"] = [{"reference_plan": one, "generated_plan": two} for one, two in pairs]
    kinds["executed in a problem"] = [
        {**row, "domain": None} for domain in VOCABULARY for row in executed_rows(executed, domain, 100)
    ]
    for name, rows in kinds.items():
        columns = columns_of(rows)
        ours: list[float] = []
        theirs: list[float] = []
        for _ in range(5):  # in turn
            start = time.process_time()
            scored = tables.score_plans(columns, options)
            middle = time.process_time()
            with keeping(KEPT):
                for row in rows:
                    PLAN.score(PLAN.read(row, options))
            ours.append((middle - start) / len(rows) * 1e6)
            theirs.append((time.process_time() - middle) / len(rows) * 1e6)
            KEPT.clear()
        assert scored is not None
        left = sum(each is not None for each in scored[1].to_pylist())
        kernel_micros = statistics.median(ours)
        said = [f"kernel {kernel_micros:.1f} µs", f"definition {statistics.median(theirs):.1f}"]
        for metric in ("PlanningLCS", "PlanningJaccard") if "problem" not in name else ():
            few = rows[: max(5, 10_000 // len(rows[0]["reference_plan"]))]
            pairs = [(row["reference_plan"], row["generated_plan"], False) for row in few]
            gaico = statistics.median(peer_micros(python, "gaico", metric, pairs))
            said.append(f"{metric} {gaico:.0f} ({gaico / kernel_micros:.1f} times)")
        print(f"{name}: {', '.join(said)}; {left} of {len(rows)} left", flush=True)


def micros_in_turn(rows: list[Row], pair: Pair) -> list[tuple[float, float]]:
    """What a row takes the kernel, and one that it answers the definition, batch by batch."""
    options, times = ScoringOptions(), []
    for start in range(0, len(rows), DOMAIN_BATCH):
        columns = columns_of(rows[start : start + DOMAIN_BATCH])
        began = time.process_time()
        scored = SCORES[pair](columns, options)
        middle = time.process_time()
        assert scored is not None
        answered = [each is None for each in scored[1].to_pylist()]
        with keeping(KEPT):
            for row, is_answered in zip(rows[start:], answered, strict=False):
                if is_answered:
                    pair.score(pair.read(row, options))
        ended = time.process_time()
        times.append((1e6 * (middle - began) / len(answered), 1e6 * (ended - middle) / max(1, sum(answered))))
    return times


def measure_strips(count: int, seed: int, checkout: Path | None) -> int:
    """Compare kernel and definition on answers in domains given as text; the number of differences."""
    random, rows, totals = Random(seed), 0, Counter[str]()
    entries = [tuple(CORPUS[name]) for name in sorted(CORPUS)]
    if checkout is not None:
        entries = [(domain, problem) for _, domain, problem in instances(checkout, 2)]
    differences, left = 0, Counter[str]()
    answered: list[Row] = []
    for domain, problem in entries:
        try:
            answers = list(answers_in(domain, problem, random, count))
        except UserError:  # no STRIPS problem
            totals["not read"] += 1
            continue
        found = compared(answers)
        differences, left, rows = differences + len(found.differences), left + found.left, rows + found.rows
        for row, columns in found.differences:
            print(columns, row, sep="\n", flush=True)
        answered += [] if found.left else answers
    KEPT.clear()
    ours, theirs = (statistics.fmean(each) for each in zip(*micros_in_turn(answered, PROBLEM), strict=True))
    print(
        f"{rows:,} pairs in {len(entries)} domains, {dict(totals)}, left {dict(left)}, {differences} differences;"
        f" where none is left: kernel {ours:.0f} µs a pair, definition {theirs:.0f} ({theirs / ours:.0f} times)"
    )
    return differences


def measure_domains(count: int, seed: int, python: str | None) -> int:
    """Compare kernel and definition on domains, and print how long a pair takes each; the number of differences."""
    differences = 0
    for name, tasks in (("as written", labelled_domains), *((each.__name__, each) for each in TASKS)):
        rows = list(tasks(Random(seed), count))
        rows = without_problems(rows) if name == "as written" else rows
        found = compared(rows, pair=DOMAIN)
        differences += len(found.differences)
        for row, columns in found.differences:
            print(columns, row, sep="\n", flush=True)
        times = micros_in_turn(rows, DOMAIN)
        ours, theirs = map(statistics.median, zip(*times, strict=True))
        said = f"kernel {ours:.0f} µs a pair, definition {theirs:.0f} ({theirs / ours:.1f} times)"
        if python and name == "as written":
            pairs = [(row["reference_domain"], row["generated_domain"]) for row in rows[:40]]
            read = peer_micros(python, "amlgym", "", pairs)
            amlgym = statistics.median(read)
            said += f", AMLGym {amlgym:.0f} ({amlgym / ours:.0f} times; it read {len(read)} of {len(pairs)})"
        print(f"{name}: {said}; {found.rows:,} rows, left {dict(found.left)}, {len(found.differences)} differences")
    return differences


COUNTED = 340
"""Rows of a kind whose instructions are counted."""

LEAST_SHARE = 0.04
"""Functions that take less of a row's instructions are not listed."""

SCORE_FILE = """
import sys, pyarrow
from pddl_eval import kernel
from pddl_eval.kernel import tables
from pddl_eval.definition.options import ScoringOptions
rows = pyarrow.ipc.open_file(sys.argv[2]).read_all()
def score(rows):
    getattr(tables, sys.argv[1])(dict(zip(rows.column_names, rows.columns)), ScoringOptions())
score(rows[:1])  # imports what is imported late
print("ready", flush=True)
sys.stdin.readline()
score(rows)
"""
"""Scores a batch once it is told to: counting is on by then. Python's start would take a minute under callgrind."""


def rows_by_kind(seed: int) -> dict[str, tuple[Pair, list[Row]]]:
    """Rows of each kind whose instructions are counted."""
    random = Random(seed)
    domains = list(labelled_domains(random, COUNTED))
    entries = [CORPUS[name] for name in sorted(CORPUS.keys() - ADL)]
    texts = {name: domain_to_pddl(known.domain) for name in VOCABULARY if (known := known_domain(name))}
    executed = {name: list(executed_rows(random, name, COUNTED // len(VOCABULARY))) for name in VOCABULARY}
    plans = [[", ".join(STEPS["calls"](random) for _ in range(20)) for _ in range(2)] for _ in range(COUNTED)]
    in_domains = [answer for domain, problem in entries for answer in answers_in(domain, problem, random, 20)]
    return {
        "problems, zero-shot": (PROBLEM, answered("zero-shot", COUNTED, seed)),
        "problems in a domain given as text": (PROBLEM, in_domains),
        "plans of 20 calls": (PLAN, [{"reference_plan": one, "generated_plan": two} for one, two in plans]),
        "plans that are executed": (PLAN, [row | {"domain": None} for rows in executed.values() for row in rows]),
        "plans in a domain given as text": (
            PLAN,
            [row | {"domain": texts[name]} for name, rows in executed.items() for row in rows],
        ),
        "domains": (DOMAIN, without_problems(domains)),
        "domains with behaviour": (DOMAIN, domains),
    }


def count_instructions(seed: int) -> None:
    """Print what a row of each kind takes the kernel's functions, with what they call; valgrind's callgrind counts."""
    with tempfile.TemporaryDirectory() as folder:
        for kind, (pair, rows) in rows_by_kind(seed).items():
            table, counted = pa.table(columns_of(rows)), f"{folder}/counted"
            with pa.ipc.new_file(f"{folder}/rows", table.schema) as file:
                file.write_table(table)
            scores = [sys.executable, "-c", SCORE_FILE, SCORES[pair].__name__, f"{folder}/rows"]
            command = ["valgrind", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={counted}", *scores]
            with subprocess.Popen(command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, text=True) as scoring:
                assert scoring.stdout
                scoring.stdout.readline()
                subprocess.run(["callgrind_control", "-i", "on", str(scoring.pid)], capture_output=True, check=True)
                scoring.communicate("\n")
            command = ["callgrind_annotate", "--inclusive=yes", "--threshold=100", counted]
            said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            # In descending order; a name with 'N counts what recursion calls once more.
            found = re.findall(r"^ *([\d,]+) .*?:<?pddl_eval_kernel::([^'\n]+) \[", said, re.MULTILINE)
            counts = {re.sub(r" as .*?>", "", name): int(count.replace(",", "")) for count, name in reversed(found)}
            whole = max(counts.values())
            print(f"{kind}: {len(rows)} rows")
            for name, count in sorted(counts.items(), key=lambda each: -each[1]):
                if count >= LEAST_SHARE * whole:
                    print(f"{count / len(rows):12,.0f} {count / whole:7.1%}  {name}", flush=True)


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--references", type=int, default=5_000)
    parser.add_argument("--recipes", type=int, default=2, help="answers to each reference")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--planetarium", metavar="PYTHON", help="a Python that has Planetarium, with --speed")
    parser.add_argument("--plans", metavar="PYTHON", help="a Python that has GAICo")
    parser.add_argument("--domains", type=int, metavar="COUNT", help="pairs of domains of each kind")
    parser.add_argument("--strips", type=int, metavar="COUNT", help="answers to each problem in a domain given as text")
    parser.add_argument("--checkout", type=Path, help="of github.com/potassco/pddl-instances, in place of the corpus")
    parser.add_argument("--instructions", action="store_true", help="counted by valgrind, which must be installed")
    parser.add_argument("--amlgym", metavar="PYTHON", help="a Python that has AMLGym")
    chosen = parser.parse_args()
    if kernel.version() is None:
        print("there is no kernel to measure")
        return 1
    if chosen.domains:
        return int(measure_domains(chosen.domains, chosen.seed, chosen.amlgym) > 0)
    if chosen.strips:
        return int(measure_strips(chosen.strips, chosen.seed, chosen.checkout) > 0)
    if chosen.plans:
        measure_plans(chosen.plans)
        return 0
    if chosen.instructions:
        count_instructions(chosen.seed)
        return 0
    if chosen.speed:
        measure_speed(chosen.seed, chosen.planetarium)
        return 0
    return int(compare(chosen.references, chosen.seed, chosen.recipes) > 0)


if __name__ == "__main__":
    sys.exit(main())
