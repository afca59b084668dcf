"""The long run of the reader of plans: ``python -m tests.measure.written_plans --count 100000 --seed 1``.

Writes random plans in every notation and setting (``tests/support/written_plans``), whole and with a bracket lost or
doubled, and reads them. A whole one must be read back as it is and nothing be reported; of a damaged one something must
be reported and no step be read that it does not have. Prints each fault with the number that draws it again (``--first
NUMBER --count 1``) and a table, and exits with 1 on any fault.

``--answers 4000`` scores answers around plans of known validity instead (``tests/support/written_answers``): with
several drafts, thoughts and damaged steps. None is read twice or lost, and none that is damaged is valid.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from random import Random

from pddl_eval import compare_plans
from pddl_eval.definition.plans import read_plan

from tests.support.written_answers import DAMAGES, DRAFTS, LINES, THOUGHTS, WHOLE, write_answer
from tests.support.written_plans import write

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


def check_answers(arguments: argparse.Namespace) -> int:
    """Score answers, print the faults and a table of each kind; their number."""
    answers: Counter[str] = Counter()
    faults: Counter[str] = Counter()
    shown = 0
    for number in range(arguments.first, arguments.first + arguments.answers):
        kinds, wrong = answer_fault(number, arguments.seed)
        answers.update(kinds)
        if wrong:
            faults.update(kinds)
            shown += 1
            if shown <= SHOWN:
                print(f"--- {number} {', '.join(kinds)}: {wrong}", flush=True)
    print(f"{'kind':32}{'answers':>10}{'faults':>10}")
    for kind in (*LINES, *WHOLE, *DRAFTS, "whole", *DAMAGES, *THOUGHTS):
        print(f"{kind:32}{answers[kind]:>10}{faults[kind]:>10}")
    print(f"seed {arguments.seed}: {arguments.answers} answers, {shown} faults")
    return shown


def main() -> int:
    """Compare, print the faults and the table; 1 when there are any."""
    parser = argparse.ArgumentParser(description="Read back plans that were written in every notation.")
    parser.add_argument("--count", type=int, default=1000, help="number of plans, whole and as many damaged")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first plan")
    parser.add_argument("--answers", type=int, default=0, help="instead, number of answers with drafts and thoughts")
    arguments = parser.parse_args()
    if arguments.answers:
        return 1 if check_answers(arguments) else 0
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
