"""The long check of counterexamples: ``python -m tests.measure.counterexamples --count 20000``.

Every goal-changing answer to the benchmark's reference problems that is ``goal_differs`` needs a plan that the judge
finds right (``tests.judges.counterexamples``), and so do random small problems. A tenth of the references are of a
domain that is drawn first, so that rare domains occur. Prints faults, a table and the times; exits with 1 on any fault.
"""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random

import polars as pl

from tests.judges.counterexamples import VAL, Row, outcome, row_of, small_rows
from tests.measure.tally import Tally, drawing
from tests.support.shared_problems import SHARED_PROBLEMS


def main() -> int:
    """Check, print the faults and the table; 1 when there are any."""
    parser = drawing(__doc__, 1000, "rows with the verdict goal_differs")
    parser.add_argument("--small", type=float, default=0.2, help="share of them that are random small problems")
    parser.add_argument("--problems", type=Path, default=SHARED_PROBLEMS, help="references, a Parquet file")
    arguments = parser.parse_args()
    random = Random(f"{arguments.seed} {arguments.first}")
    references = pl.read_parquet(arguments.problems)
    by_domain = references.partition_by("domain", maintain_order=True)
    tally = Tally("rows", "right", "undecided", "faults")
    while tally.cells["all"]["rows"] < arguments.count:
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
            found = outcome(row)
            if found is None:
                continue
            kind = row[0].domain if row[3] is None or row[3].name.startswith("rover") else f"small {row[3].name}"
            said = found.partition(":")[0]
            tally.count((kind, "all"), "rows", said if said in ("right", "undecided") else "faults")
            if said not in ("right", "undecided"):
                tally.disagree(f"{kind}: {found}\n{row}")
    print(f"checked by the judge{' and VAL' if VAL else ' (VAL is not installed)'}")
    return tally.finish(arguments.seed)


if __name__ == "__main__":
    sys.exit(main())
