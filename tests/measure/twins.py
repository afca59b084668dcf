"""Twins of answers of every kind: ``python -m tests.measure.twins --count 2000``.

Makes that many right, damaged and unreadable answers to problems, plans, domains and questions, in the corpus' domains
and in those of the benchmark, and their twins (``generate obfuscate``). Scores all again, each side by itself, and
compares every score that is no text; of domains the certificates, too. Prints how many rows have a twin, how many of
these with moved arguments, and the scores that were compared. Exits with 1 on a difference.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import cycle, islice
from random import Random
from typing import Any

import polars as pl
import pyarrow as pa
from pddl_eval import score_frame
from pddl_eval.benchmark import KINDS, PRESETS, SAMPLE, Asking, Twins, Variants
from pddl_eval.scoring.columns import SCORE_COLUMNS

from tests.corpus import CORPUS
from tests.measure.tally import Tally, drawing

COLUMNS = ["rows", "twins", "moved", "scores", "differ"]
TOLD = ("score_micros", "certificate", "reference_certificate", "feedback", "score_error")


def references(kind: str) -> Iterator[dict[str, Any]]:
    """What is answered."""
    tasks = [{"reference_problem": each.problem, "domain": each.domain} for each in CORPUS.values()]
    if kind == "domain":
        yield from ({"reference_domain": each.domain, "reference_problem": each.problem} for each in CORPUS.values())
    elif kind == "question":
        yield from Asking(per_row=22).table(pa.Table.from_pylist(tasks)).to_pylist()
    else:
        yield from (*tasks, *pl.read_parquet(SAMPLE, columns=["reference_problem", "domain"]).to_dicts())


def answered(kind: str, count: int, seed: int) -> pa.Table:
    """That many answers of the kind."""
    asked = list(references(kind))
    rows = pa.Table.from_pylist(list(islice(cycle(asked), count)))
    return Variants(PRESETS["every-kind"], KINDS[kind], seed=seed).table(rows)


def main() -> int:
    """Compare, print the table; 1 on a difference."""
    parser = drawing(__doc__, 200, "answers of each kind")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=[*KINDS])
    chosen = parser.parse_args()
    tally = Tally(*COLUMNS)
    for kind in chosen.kinds:
        rows = answered(kind, chosen.count, chosen.seed)
        style = Random(f"{chosen.seed} {kind}").choice(["words", "other", "letters"])
        made = pl.DataFrame(Twins(style, chosen.seed).table(rows))
        sides = [made.filter(pl.col("names") == side) for side in ("kept", "replaced")]
        scored = [score_frame(side) for side in sides]
        compared = [name for name in scored[0].columns if name in SCORE_COLUMNS and name not in TOLD]
        compared = [name for name in compared if not name.endswith("detail")]
        tally.cells[kind].update({"rows": len(rows), "twins": len(sides[0]), "scores": len(compared)})
        tally.cells[kind]["moved"] = len(sides[1]) - sides[1]["arguments_moved"].null_count()
        for row, (one, other) in enumerate(zip(*(each.select(compared).rows() for each in scored), strict=True)):
            if different := [name for name, *two in zip(compared, one, other, strict=True) if two[0] != two[1]]:
                tally.cells[kind]["differ"] += 1
                tally.disagree(f"{kind} {row}: {different}\n{sides[1].row(row, named=True)}")
    return tally.finish(chosen.seed)


if __name__ == "__main__":
    sys.exit(main())
