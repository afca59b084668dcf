"""What comparisons with a judge share: how many cases are drawn from which seed, the counts, the disagreements."""

from __future__ import annotations

import argparse
import time
from collections import Counter, defaultdict
from collections.abc import Iterable

SHOWN = 20
"""How many disagreements are printed in full."""


def drawing(about: str | None, count: int, what: str) -> argparse.ArgumentParser:
    """Options that say which cases are drawn: the same numbers draw the same cases."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=count, help=f"number of {what}")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="the number from which is drawn")
    return parser


class Tally:
    """Counts by rows and columns of a table, and how many comparisons went wrong."""

    def __init__(self, *columns: str) -> None:
        self.columns = columns
        self.cells: dict[str, Counter[str]] = defaultdict(Counter)
        self.wrong = 0
        self._started = time.process_time()

    def count(self, rows: Iterable[str], *columns: str) -> None:
        """One more in each of these cells."""
        for row in rows:
            self.cells[row].update(column for column in columns if column)

    def disagree(self, shown: str) -> None:
        """One disagreement more; the first ones are printed."""
        self.wrong += 1
        if self.wrong <= SHOWN:
            print(f"--- {shown}", flush=True)

    def finish(self, seed: int) -> int:
        """Print the table; 1 where there is a disagreement."""
        print(f"{'':36}" + "".join(f"{column:>19}" for column in self.columns))
        for row in sorted(self.cells):
            print(f"{row:36}" + "".join(f"{self.cells[row][column]:>19,}" for column in self.columns))
        seconds = time.process_time() - self._started
        print(f"seed {seed}: {self.wrong} disagreements; {seconds:.0f} s of CPU")
        return 1 if self.wrong else 0
