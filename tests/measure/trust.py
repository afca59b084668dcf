"""The tables of the pages on trust and speed: ``python -m tests.measure.trust [--only trust] [--times 10]``.

Runs each comparison with a judge and the measurement of speed, and writes what they said between the marks of the
tables: no number in them is written by hand. ``--times`` multiplies the counts; ``--peers`` are options of
``growth``, such as ``--val VALIDATE``.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Sequence

from pddl_eval.version import program_version

from tests.docs.markdown import ROOT

GUIDE = ROOT / "infra" / "site" / "pages" / "guide"
COMPARED = {  # what, with what, the measurement and its counts
    "problems, three domains": ("enumeration of all states, all bijections", "exhaustive --domain {} --count", 200),
    "problems in any PDDL": ("enumeration of all states, all bijections", "pairs_any --count", 300),
    "domains": ("all bijections; labels of mutants", "domains --count", 500),
    "counterexamples": ("an executor of its own", "counterexamples --count", 500),
    "certificates": ("BLISS, all bijections", "canonical --count", 2_000),
    "plans": ("an interpreter of the definitions", "plans_any --count", 3_000),
    "plans with times": ("a judge written from the papers", "temporal --trajectories 500 --count", 1_000),
    "optimal costs": ("uniform-cost search", "optimal_costs --count", 300),
    "questions": ("enumeration of all right answers", "questions --count", 300),
    "plans as written": ("the plan that was written", "written_plans --count", 5_000),
}
DOMAINS = ("blocksworld", "gripper", "floor-tile")
ENDED = re.compile(r"seed \d+: (\d+) disagreements; (\d+) s of CPU")
GROWTH = re.compile(r"^(.+): (.+): ([\d,]+) to ([\d,]+): (\S+) to (\S+) ms, exponent (\S+)$", re.MULTILINE)
SPEED = re.compile(r"^(.+): ([\d.]+) µs a pair, .*, ([\d.]+) parses a pair$", re.MULTILINE)


def output(words: str) -> str:
    """What a measurement prints; one that finds a disagreement exits with 1."""
    done = subprocess.run([sys.executable, "-m", *words.split()], cwd=ROOT, capture_output=True, text=True)
    if done.returncode > 1:
        raise SystemExit(f"{words}: {done.stderr[-2_000:]}")
    return done.stdout


def compared(what: str, times: int) -> str:
    """A row of the table: cases and disagreements of one measurement."""
    judge, words, count = COMPARED[what]
    runs = [words.format(each) for each in (DOMAINS if "{}" in words else ("",))]
    found = [output(f"tests.measure.{each} {count * times}") for each in runs]
    ends = [ENDED.search(text) for text in found]
    wrong = sum(int(end[1]) for end in ends if end)
    assert all(ends)
    return f"| {what} | {judge} | `{words.split()[0]}` | {count * times * len(runs):,} | {wrong} |"


def write(page: str, mark: str, header: Sequence[str], rows: Sequence[str]) -> None:
    """Put a table behind its mark, in place of the one that is there."""
    place = GUIDE / page
    table = [f"| {' | '.join(header)} |", "|---" * len(header) + "|", *rows]
    before, _, after = place.read_text(encoding="utf-8").partition(f"<!-- {mark} -->\n")
    rest = re.sub(r"\A\n(?:\|.*\n)*", "", after)
    place.write_text(f"{before}<!-- {mark} -->\n\n" + "\n".join(table) + f"\n{rest}", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--only", choices=["trust", "speed", "growth"])
    parser.add_argument("--peers", default="", help="options of growth: the peers to measure beside")
    chosen = parser.parse_args()
    version = program_version()
    if chosen.only in (None, "trust"):
        rows = []
        for what in COMPARED:
            rows.append(compared(what, chosen.times))
            print(rows[-1], flush=True)
        head = ("what", "compared with", "measurement", f"cases ({version})", "disagreements")
        write("trust.md", "trust", head, rows)
    if chosen.only in (None, "growth"):
        print(said := output(f"tests.measure.growth {chosen.peers}"))
        found = [
            f"| {what} | {who} | {low} to {high} | {first} to {last} | {slope} |"
            for what, who, low, high, first, last, slope in GROWTH.findall(said)
        ]
        write("speed.md", "growth", ("what grows", f"program ({version})", "from, to", "ms", "exponent"), found)
    if chosen.only in (None, "speed"):
        print(said := output("tests.measure.kernel --speed"))
        found = [f"| {what} | {micros} | {parses} |" for what, micros, parses in SPEED.findall(said)]
        write("speed.md", "speed", (f"a pair of problems ({version})", "µs", "in parses"), found)


if __name__ == "__main__":
    main()
