"""The kernel beside the definition, on labelled answers to the benchmark's references, and beside the ``pddl`` package.

    python -m tests.measure.kernel --references 5000     # how many references; 0: all 145,918
    python -m tests.measure.kernel --speed               # microseconds a pair, in units of one parse
    python -m tests.measure.kernel --plans PYTHON        # pairs of plans beside GAICo, which that Python has
    python -m tests.measure.kernel --domains 2000        # pairs of domains: every column, and microseconds a pair
    python -m tests.measure.kernel --domains 340 --amlgym PYTHON
    python -m tests.measure.kernel --strips 20           # answers to each problem of the corpus, domains given as text
    python -m tests.measure.kernel --strips 20 --checkout PATH   # to the smallest problems of the competitions' domains

Prints how many rows were compared, how many the kernel left and why, and each difference; ends with 1 where there is
one. The speed of the two is measured alternately, batch by batch; the median of the ratios is printed.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from random import Random

import pyarrow.parquet as pq
from pddl_eval import kernel
from pddl_eval.benchmark.original import Original
from pddl_eval.benchmark.variants import PRESETS, draw_variant
from pddl_eval.definition import task
from pddl_eval.definition.domains import planning_domain
from pddl_eval.definition.metrics import DOMAIN, PLAN, PROBLEM, Pair, plans
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.definition.planning import search
from pddl_eval.definition.planning import task as ground_task
from pddl_eval.definition.plans import ordinary
from pddl_eval.errors import UserError

from tests.corpus import ADL, CORPUS
from tests.kernel.differential import SCORES, Row, answers_in, columns_of, compared, labelled_answers
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
from tests.measure.workloads import STEPS
from tests.random_problems import VOCABULARY

PROBLEMS = Path(__file__).parents[3] / "shared" / "data" / "planetarium_problems.parquet"

BATCH = 500
"""References at a time."""

DOMAIN_BATCH = 170

TASKS = (labelled_domains, small_tasks, known_tasks, renamed_tasks, corpus_tasks)
"""What domains are executed in."""

SPEED_ROWS, SPEED_BATCH, PARSES = 4_000, 200, 25

STEPS_MEASURED = 40_000
"""Steps of all reference plans of a kind; GAICo gets fewer plans."""


def references(count: int, seed: int) -> Iterator[Row]:
    """That many references of the three domains, drawn at random; all in their order for 0."""
    table = pq.read_table(PROBLEMS, columns=["problem_pddl", "is_placeholder", "domain"])
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


def measure_speed(preset: str, seed: int) -> None:
    """Print how long a pair takes the kernel, all columns, and how long a reference takes the package."""
    from pddl.parser.problem import ProblemParser

    random = Random(seed)
    rows = []
    for row in references(SPEED_ROWS, seed):
        original = Original(row["reference_problem"], is_placeholder=row["is_placeholder"])
        rows.append({**row, "generated_problem": draw_variant(original, PRESETS[preset], random).text})
    parser, options = ProblemParser(), ScoringOptions()

    def by_kernel(batch: list[Row]) -> float:
        columns = columns_of(batch)
        start = time.process_time()
        kernel.score(columns, options)
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
    print(f"{preset}: {ours:.1f} µs a pair, {theirs:.0f} µs a parse, {ratio:.4f} parses a pair")


def measure_plans(python: str) -> None:
    """Print how long a pair of plans takes the kernel and the definition, all columns, and GAICo, one column."""
    options = ScoringOptions()
    executed = Random(1)
    tables: dict[str, list[Row]] = {}
    for kind, step in STEPS.items():
        for steps in (20, 100, 1000):
            pairs = [
                [", ".join(step(executed) for _ in range(steps)) for _ in range(2)]
                for _ in range(STEPS_MEASURED // steps)
            ]
            tables[f"{kind}, {steps} steps"] = [{"reference_plan": one, "generated_plan": two} for one, two in pairs]
    tables["executed in a problem"] = [
        {**row, "domain": None} for domain in VOCABULARY for row in executed_rows(executed, domain, 100)
    ]
    for name, rows in tables.items():
        columns = columns_of(rows)
        ours: list[float] = []
        theirs: list[float] = []
        for _ in range(5):  # in turn
            start = time.process_time()
            scored = kernel.score_plans(columns, options)
            middle = time.process_time()
            for row in rows:
                PLAN.score(PLAN.read(row, options))
            ours.append((middle - start) / len(rows) * 1e6)
            theirs.append((time.process_time() - middle) / len(rows) * 1e6)
            forget_plans()
        assert scored is not None
        left = sum(each != 0 for each in scored[1].to_pylist())
        kernel_micros = statistics.median(ours)
        said = [f"kernel {kernel_micros:.1f} µs", f"definition {statistics.median(theirs):.1f}"]
        for metric in ("PlanningLCS", "PlanningJaccard") if "problem" not in name else ():
            few = rows[: max(5, 10_000 // len(rows[0]["reference_plan"]))]
            sent = json.dumps([(row["reference_plan"], row["generated_plan"], False) for row in few])
            command = [python, peer.__file__, "gaico", metric]
            ran = subprocess.run(command, input=sent, capture_output=True, text=True, check=True)
            gaico = 1e6 * statistics.median(json.loads(ran.stdout)["times"])
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
        answered = [each == 0 for each in scored[1].to_pylist()]
        for row, is_answered in zip(rows[start:], answered, strict=False):
            if is_answered:
                pair.score(pair.read(row, options))
        ended = time.process_time()
        times.append((1e6 * (middle - began) / len(answered), 1e6 * (ended - middle) / max(1, sum(answered))))
    return times


def measure_strips(count: int, seed: int, checkout: Path | None) -> int:
    """Compare kernel and definition on answers in STRIPS domains given as text; the number of differences."""
    random, rows, totals = Random(seed), 0, Counter[str]()
    entries = [tuple(CORPUS[name]) for name in sorted(CORPUS.keys() - ADL)]
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
    forget_tasks()
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
            command = [python, peer.__file__, "amlgym", ""]
            ran = subprocess.run(command, input=json.dumps(pairs), capture_output=True, text=True, check=True)
            # What it cannot read takes it no time.
            read = [each for each in json.loads(ran.stdout)["times"] if not isinstance(each, str)]
            amlgym = 1e6 * statistics.median(read)
            said += f", AMLGym {amlgym:.0f} ({amlgym / ours:.0f} times; it read {len(read)} of {len(pairs)})"
        print(f"{name}: {said}; {found.rows:,} rows, left {dict(found.left)}, {len(found.differences)} differences")
    return differences


def forget_tasks() -> None:
    """Empty what the definition keeps of domains and references, which the kernel reads anew."""
    for kept in (task.read_task, planning_domain, ground_task._ground, search.find_path):
        kept.cache_clear()


def forget_plans() -> None:
    """Empty the definition's caches: a dataset's plans do not come five times."""
    for kept in (ordinary._kept_line, ordinary._ordinary_item, plans._reference, task.read_task):
        kept.cache_clear()


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--references", type=int, default=5_000)
    parser.add_argument("--recipes", type=int, default=2, help="answers to each reference")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--plans", metavar="PYTHON", help="a Python that has GAICo")
    parser.add_argument("--domains", type=int, metavar="COUNT", help="pairs of domains of each kind")
    parser.add_argument("--strips", type=int, metavar="COUNT", help="answers to each problem in a domain given as text")
    parser.add_argument("--checkout", type=Path, help="of github.com/potassco/pddl-instances, in place of the corpus")
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
    if chosen.speed:
        for preset in ("zero-shot", "fine-tuned", "every-kind"):
            measure_speed(preset, chosen.seed)
        return 0
    return int(compare(chosen.references, chosen.seed, chosen.recipes) > 0)


if __name__ == "__main__":
    sys.exit(main())
