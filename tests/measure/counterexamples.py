"""The long check of counterexamples: ``python -m tests.measure.counterexamples --count 20000``.

Every goal-changing answer to the benchmark's reference problems that is ``goal_differs`` needs a plan that the judge
finds right (``tests.judges.counterexamples``), and so do random small problems. A tenth of the references are of a
domain that is drawn first, so that rare domains occur. Prints faults, a table and the times; exits with 1 on any fault.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from pathlib import Path
from random import Random
from statistics import median
from time import thread_time

import polars as pl

from tests.judges.counterexamples import VAL, Row, outcome, row_of, small_rows

PROBLEMS = Path(__file__).parents[3] / "shared" / "data" / "planetarium_problems.parquet"

SHOWN = 20
"""How many faults are printed."""


def main() -> int:
    """Check, print the faults and the table; 1 when there are any."""
    parser = argparse.ArgumentParser(description="Check counterexamples with the judge's operators.")
    parser.add_argument("--count", type=int, default=1000, help="rows with the verdict goal_differs")
    parser.add_argument("--small", type=float, default=0.2, help="share of them that are random small problems")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--problems", type=Path, default=PROBLEMS, help="references, a Parquet file")
    arguments = parser.parse_args()
    random = Random(arguments.seed)
    references = pl.read_parquet(arguments.problems)
    by_domain = references.partition_by("domain", maintain_order=True)
    counts: Counter[tuple[str, str]] = Counter()
    seconds: dict[str, list[float]] = defaultdict(list)
    shown = 0
    while counts.total() < arguments.count:
        rows: list[Row]
        if random.random() < arguments.small:
            rows = list(small_rows(random.randrange(2**32)))
        else:
            pool = random.choice(by_domain) if random.random() < 0.1 else references
            reference = pool.row(random.randrange(pool.height), named=True)
            domain = "rover-single" if reference["domain"] == "rover-single" else None
            made = row_of(reference["problem_pddl"], domain, bool(reference["is_placeholder"]), random)
            rows = [] if made is None else [made]
        for row in rows:
            start = thread_time()
            found = outcome(row)
            if found is None:
                continue
            kind = row[0].domain if row[3] is None or row[3].name.startswith("rover") else f"small {row[3].name}"
            seconds[kind].append(thread_time() - start)
            counts[kind, found if found == "right" else found.partition(":")[0]] += 1
            if found != "right" and shown < SHOWN:
                shown += 1
                print(f"--- {kind}: {found}\n{row}", flush=True)
    print(f"{'domain':24}{'rows':>8}{'right':>8}{'undecided':>11}{'faults':>8}{'median ms':>11}{'slowest ms':>12}")
    for kind, times in sorted(seconds.items()):
        right, undecided = counts[kind, "right"], counts[kind, "undecided"]
        numbers = f"{len(times):>8}{right:>8}{undecided:>11}{len(times) - right - undecided:>8}"
        print(f"{kind:24}{numbers}{1000 * median(times):>11.1f}{1000 * max(times):>12.1f}")
    faults = sum(number for (_, found), number in counts.items() if found not in ("right", "undecided"))
    judges = f"the judge{' and VAL' if VAL else ' (VAL is not installed)'}"
    print(f"seed {arguments.seed}: {counts.total()} rows checked by {judges}, {faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
