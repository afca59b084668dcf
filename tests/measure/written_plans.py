"""The long run of the reader of plans: ``python -m tests.measure.written_plans --count 100000 --seed 1``.

Writes random plans in every notation and setting (``tests/support/written_plans``), whole and with a bracket lost or
doubled, and reads them. A whole one must be read back as it is and nothing be reported; of a damaged one something must
be reported and no step be read that it does not have. Prints each fault with the number that draws it again (``--first
NUMBER --count 1``) and a table, and exits with 1 on any fault.

``--answers 4000`` scores answers around plans of known validity instead (``tests/support/written_answers``): with
several drafts, thoughts and damaged steps. None is read twice or lost, and none that is damaged is valid.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from random import Random

from pddl_eval import compare_plans
from pddl_eval.definition.plans import read_plan

from tests.measure.tally import Tally, drawing
from tests.support.written_answers import write_answer
from tests.support.written_plans import write


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


def answer_fault(number: int, seed: int) -> tuple[Sequence[str], str]:
    """How the answer with this number was written, and what is wrong with its scores; empty where nothing is."""
    written = write_answer(Random(f"{seed} {number}"))
    for at, answer in ((0, "first"), (-1, "last")):
        plan, valid, damaged = written.drafts[at]
        scores = compare_plans([plan], [written.text], problem=written.problem, answer=answer)[0]
        wrong = ""
        if damaged:
            wrong = "damaged and valid" if scores.plan_valid else "" if scores.detail else "damaged and not said"
        elif scores.plan_length != len(plan):
            wrong = "read twice" if scores.plan_length > len(plan) else "lost"
        elif scores.plan_lcs != 1 or scores.plan_valid != valid:
            wrong = f"lcs {scores.plan_lcs}, valid {scores.plan_valid} and not {valid}"
        elif scores.detail.startswith("several drafts") != (len(written.drafts) > 1):
            wrong = "drafts not counted"
        if wrong:
            return written.kinds, f"{answer}: {wrong}: {written.text}\n  drafts {written.drafts}\n  {scores}"
    return written.kinds, ""


def main() -> int:
    """Compare, print the faults and the table; 1 when there are any."""
    parser = drawing(__doc__, 1000, "plans, whole and as many damaged")
    parser.add_argument("--answers", type=int, default=0, help="instead, number of answers with drafts and thoughts")
    arguments = parser.parse_args()
    tally = Tally("texts", "damaged", "faults")
    for number in range(arguments.first, arguments.first + (arguments.answers or arguments.count)):
        for damaged in (False,) if arguments.answers else (False, True):
            if arguments.answers:
                kinds, wrong = answer_fault(number, arguments.seed)
            else:
                how, wrong = fault(number, arguments.seed, damaged)
                kinds = [how.partition(",")[0]]
            tally.count(kinds, "texts", "damaged" if damaged else "", "faults" if wrong else "")
            if wrong:
                tally.disagree(f"{number} {', '.join(kinds)}: {wrong}")
    return tally.finish(arguments.seed)


if __name__ == "__main__":
    sys.exit(main())
