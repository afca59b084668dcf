"""Pairs of problems in any PDDL against the judge: ``python -m tests.measure.pairs_any --count 10000 --seed 1``.

Draws small problems of the judges' domains (ADL, derived predicates, costs, numbers, STRIPS) with a copy of each after
labelled damage, and compares what the program says with ``tests.judges.equivalence``, which enumerates all states and
tries all bijections of the objects: equivalent with types and without, the verdict, the object map, solvable and its
plan, cl(goal), certificates, the plan of the counterexample, which the judge's interpreter executes. Prints the first
disagreements in full and tables by check, by kind of domain and by damage, with the reasons for what was not decided,
and exits with 1 on any disagreement; Ctrl-C ends the run early. ``--stories`` takes names or kinds of domains.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from contextlib import suppress

from tests.judges.pair_agreement import AGREE, INVALID, READING, SILENT, UNDECIDED, WRONG, Finding, findings
from tests.judges.pairs import Pair, pair
from tests.measure.tally import Tally, drawing


def compare(number: int, pair: Pair, tally: Tally, reasons: Counter[str]) -> None:
    """Compare a pair in all that can be compared."""
    try:
        found = list(findings(pair))
    except Exception as error:
        found = [Finding("all", None, WRONG, f"raised {error!r}")]
    for each in found:
        rows = [each.check]
        if each.check.endswith(" typed"):
            rows += ["all", f"kind {pair.story.kind}", f"domain {pair.story.name}"]
            rows += [f"damage {how}" for how in pair.how]
        tally.count(rows, "pairs", "yes" if each.judged else "", each.outcome)
        if each.outcome == UNDECIDED:
            reasons[f"{each.check}: {re.sub(r'[0-9,.]+', 'N', each.note)[:150]}"] += 1
    if faults := [f"  {each.check}: {each.note}" for each in found if each.outcome == WRONG]:
        mode = "placeholder" if pair.is_placeholder else "identity"
        shown = [f"{number} {pair.story.name} {pair.how} {mode}", *faults, pair.reference, pair.generated]
        tally.disagree("\n".join(shown))


def main() -> int:
    """Compare, print the disagreements and the tables; 1 when there are any."""
    parser = drawing(__doc__, 1000, "pairs")
    parser.add_argument("--stories", default="", help="names or kinds of domains, with commas; default: all")
    arguments = parser.parse_args()
    tally, reasons = Tally("pairs", "yes", AGREE, READING, UNDECIDED, SILENT, INVALID, WRONG), Counter[str]()
    stories = tuple(filter(None, arguments.stories.split(",")))
    with suppress(KeyboardInterrupt):
        for number in range(arguments.first, arguments.first + arguments.count):
            compare(number, pair(number, arguments.seed, stories), tally, reasons)
    for reason, count in reasons.most_common(40):
        print(f"{count:>8}  {reason}")
    return tally.finish(arguments.seed)


if __name__ == "__main__":
    sys.exit(main())
