"""Public tasks, read: ``python -m tests.measure.corpora CHECKOUT… --each 2 --val VALIDATE``.

Each ``CHECKOUT`` is a folder that holds PDDL files, such as a clone of potassco/pddl-instances; nothing of it is kept.
Each problem is read with its domain, and the empty plan is executed. Counted are the tasks that are read, those that
are refused because of a construct that the page on the language names, those that hit a limit, and those that are
broken, each with its reason. With ``--val`` VAL is asked about the broken ones. Exits with 1 if less than 97 % are read
of the tasks that have no such construct and that VAL does not refuse, too.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from pddl_eval import validate
from pddl_eval.errors import UserError

SECONDS = 20
HEAD = 20_000
"""Characters in which a file says what it is."""


class Pair(NamedTuple):
    """A problem and its domain."""

    corpus: str
    problem: Path
    domain: Path


def text(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace")


def head(path: Path) -> tuple[str, str]:
    """Whether a file holds a domain or a problem, and the name of the domain."""
    with path.open("rb") as file:
        written = re.sub(r";[^\n]*", "", file.read(HEAD).decode("utf-8", "replace")).lower()
    if found := re.search(r"\(\s*define\s*\(\s*domain\s+([^\s()]+)", written):
        return "domain", found[1]
    found = re.search(r"\(\s*:domain\s+([^\s()]+)", written)
    return ("problem", found[1]) if found and re.search(r"\(\s*define\s*\(\s*problem", written) else ("", "")


def own(path: Path) -> str:
    """What the name of a file says beside what it is: ``p02`` of ``p02-domain.pddl``."""
    return re.sub(r"domain|instance|problem|[^a-z0-9]", "", path.stem.lower())


def domain_of(problem: Path, domains: list[Path]) -> Path | None:
    """The nearest domain, in folders; where each problem has a domain of its own, the one named like it."""
    numbered = [path for path in domains if re.search(r"\d", own(path))]
    like = [path for path in numbered if own(problem) == own(path) or own(problem).startswith(own(path))]
    plain = [path for path in domains if path not in numbered] if len(numbered) > 1 else domains

    def away(domain: Path) -> tuple[int, int]:
        shared = sum(1 for one, other in zip(problem.parts, domain.parts, strict=False) if one == other)
        return len(problem.parts) + len(domain.parts) - 2 * shared, len(domain.name)

    near = min(map(away, domains), default=(0, 0))[0]
    best = [path for path in like if away(path)[0] <= near + 1] or plain
    return min(best, key=away, default=None)


def pairs(checkout: Path, each: int) -> Iterator[Pair]:
    """The smallest problems of each folder and domain, each text once."""
    domains: dict[str, list[Path]] = defaultdict(list)
    problems: dict[tuple[Path, str], list[Path]] = defaultdict(list)
    for path in sorted(checkout.rglob("*")):
        if path.is_file() and path.suffix not in (".py", ".md", ".soln", ".plan", ".txt") and ".git" not in path.parts:
            kind, name = head(path)
            if kind == "domain":
                domains[name].append(path)
            elif kind == "problem":
                problems[path.parent, name].append(path)
    seen = set()
    for (_, name), found in sorted(problems.items()):
        left = each
        for problem in sorted(found, key=lambda path: (path.stat().st_size, path)):
            domain = domain_of(problem, domains[name]) if left else None
            if domain is not None and (texts := (text(problem), text(domain))) not in seen:
                seen.add(texts)
                left -= 1
                yield Pair(checkout.name, problem, domain)


def outcome(pair: Pair) -> tuple[str, str]:
    """What became of a pair, and why. A reason that begins with "not executed" names a construct of the language."""
    try:
        found = validate("()", text(pair.problem), text(pair.domain))
    except UserError as error:
        verdict, reason = "broken", " ".join(str(error).split())
    else:
        verdict, reason = str(found.verdict), found.detail
    if "not executed: " in reason and " is invalid (" not in reason:
        return "refused", reason
    return {"undecided": "limit", "reference_invalid": "broken", "broken": "broken"}.get(verdict, "read"), reason


def val_refuses(val: str, pair: Pair) -> bool:
    """Whether VAL cannot read a pair either."""
    with tempfile.NamedTemporaryFile("w", suffix=".plan") as plan:
        command = [val, str(pair.domain), str(pair.problem), plan.name]
        try:
            run = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return False
    said = run.stdout + run.stderr
    return run.returncode < 0 or bool(re.search(r"Problem in domain|Bad problem|Type problem|Parser failed|rror", said))


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path, nargs="+")
    parser.add_argument("--each", type=int, default=2, help="problems of a folder and domain")
    parser.add_argument("--val", help="VAL's program Validate")
    chosen = parser.parse_args()
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for checkout in chosen.checkout:
        for pair in pairs(checkout.resolve(), chosen.each):
            what, why = outcome(pair)
            if what == "broken" and chosen.val and val_refuses(chosen.val, pair):
                what = "VAL, too"
            counts[checkout.name][what] += 1
            if what != "read":
                print(
                    f"{what}: {pair.problem.relative_to(checkout.resolve())} ({pair.domain.name}): {why[:200]}",
                    flush=True,
                )
    columns = ("read", "refused", "limit", "broken", "VAL, too")
    print(f"{'':36}" + "".join(f"{column:>10}" for column in columns))
    for name, found in counts.items():
        print(f"{name:36}" + "".join(f"{found[column]:>10,}" for column in columns))
    total = sum(counts.values(), Counter[str]())
    asked = total["read"] + total["limit"] + total["broken"]
    share = total["read"] / asked if asked else 0
    print(f"{total.total()} tasks; {share:.1%} of {asked} read")
    return int(share < 0.97)


if __name__ == "__main__":
    sys.exit(main())
