"""The long run of the reader of plans: ``python -m tests.written_plans_run --count 100000 --seed 1``.

Writes random plans in every notation and setting (``tests/parsing/written_plans``), whole and with a bracket lost or
doubled, and reads them. A whole one must be read back as it is and nothing be reported; of a damaged one something must
be reported and no step be read that it does not have. Prints each fault with the number that draws it again (``--first
NUMBER --count 1``) and a table, and exits with 1 on any fault.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from random import Random

from pddl_eval.parsing import read_plan

from tests.parsing.written_plans import write

SHOWN = 20
"""How many faults are printed in full."""


def fault(number: int, seed: int, damaged: bool) -> tuple[str, str]:
    """How the plan with this number was written, and what is wrong with its reading; empty where nothing is."""
    written = write(Random(f"{seed} {number} {damaged}"), damaged)
    reading = read_plan(written.text)
    rest = iter(written.plan)
    if not all(step in rest for step in reading.steps):
        wrong = "invented"
    elif damaged:
        wrong = "" if reading.reason else "damaged and not reported"
    else:
        wrong = "lost" if reading.steps != written.plan else "reported" if reading.reason else ""
    shown = f"{wrong}: {written.text!r}\n  written {written.plan}\n  read {reading.steps} {reading.reason}"
    return written.how, shown if wrong else ""


def main() -> int:
    """Compare, print the faults and the table; 1 when there are any."""
    parser = argparse.ArgumentParser(description="Read back plans that were written in every notation.")
    parser.add_argument("--count", type=int, default=1000, help="number of plans, whole and as many damaged")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first plan")
    arguments = parser.parse_args()
    read: Counter[tuple[str, bool]] = Counter()
    faults: Counter[tuple[str, bool]] = Counter()
    for number in range(arguments.first, arguments.first + arguments.count):
        for damaged in (False, True):
            how, wrong = fault(number, arguments.seed, damaged)
            key = how.partition(",")[0], damaged
            read[key] += 1
            if wrong:
                faults[key] += 1
                if faults.total() <= SHOWN:
                    print(f"--- {number} {how}: {wrong}", flush=True)
    print(f"{'notation':20}{'whole':>10}{'faults':>10}{'damaged':>10}{'faults':>10}")
    for name in sorted({name for name, _ in read}):
        columns = (count[name, damaged] for damaged in (False, True) for count in (read, faults))
        print(f"{name:20}" + "".join(f"{column:>10}" for column in columns))
    print(f"seed {arguments.seed}: {read.total()} texts, {faults.total()} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
