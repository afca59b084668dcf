"""What a run has done, in numbers: those of its shards add up, and a run that is complete keeps them in a file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import pyarrow as pa
import pyarrow.compute as pc

from pddl_eval.errors import FAILED, TRY_AGAIN, RunError
from pddl_eval.shown import Sections, grouped, printable, row_count

SCORE_ERROR = "score_error"
"""The score column that every scorer has: why a row could not be scored, or null."""

VERDICT = "verdict"
"""The score column whose values are counted one by one."""

Statistics = Mapping[str, Mapping[str, float]]
"""By score column, numbers that add up: those of shards to those of a run."""


def count_values(table: pa.Table, columns: Iterable[str]) -> Statistics:
    """What some columns of a table hold.

    That is ``true``, ``false`` and ``null`` of bools, ``count`` and ``sum`` of numbers, ``count`` of strings (not
    null), and of ``verdict`` how often each of its values occurs.

    >>> scores = pa.table({"verdict": ["equivalent", "equivalent", "unparseable"], "solvable": [True, None, False]})
    >>> count_values(scores, ["verdict", "solvable"])
    {'verdict': {'equivalent': 2, 'unparseable': 1}, 'solvable': {'true': 1, 'false': 1, 'null': 1}}
    """
    statistics: dict[str, Mapping[str, float]] = {}
    for name in columns:
        column = table[name]
        present = len(column) - column.null_count
        if name == VERDICT:
            counts = pc.value_counts(column.drop_null()).to_pylist()
            statistics[name] = {str(each["values"]): each["counts"] for each in counts}
        elif pa.types.is_boolean(column.type):
            true = pc.sum(column).as_py() or 0
            statistics[name] = {"true": true, "false": present - true, "null": column.null_count}
        elif pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
            statistics[name] = {"count": present, "sum": pc.sum(column).as_py() or 0}
        else:
            statistics[name] = {"count": present}
    return statistics


def merge_statistics(parts: Iterable[Statistics]) -> Statistics:
    """The statistics of all parts together; sums are added in the order of the parts.

    >>> merge_statistics([{"plan_lcs": {"count": 2, "sum": 1.5}}, {"plan_lcs": {"count": 1, "sum": 0.5}}])
    {'plan_lcs': {'count': 3, 'sum': 2.0}}
    """
    total: dict[str, Any] = {}
    for part in parts:
        for column, values in part.items():
            total.setdefault(column, Counter()).update(values)
    return {column: dict(values) for column, values in total.items()}


@dataclass(frozen=True, slots=True)
class RunCounts:
    """What a run has done over all its partitions, also those that an interrupted run had finished.

    ``rows`` is the number of rows in the output. ``rows_scored`` of them were scored this time, in ``seconds`` of wall
    time; ``rows_carried`` have their scores from an earlier dataset (``pddl_eval.reuse``). ``shards_reused`` is the
    number of partitions that were there already. ``rows_missing`` are rows that other parts have not written yet.
    ``excluded_nodes`` says which nodes of a cluster failed, and why.
    """

    output: str
    rows: int
    rows_scored: int
    rows_carried: int
    rows_unreadable: int
    shards: int
    shards_reused: int
    engine: str
    workers: int | None
    seconds: float
    signature: str
    statistics: Statistics
    rows_missing: int = 0
    excluded_nodes: tuple[str, ...] = ()

    @property
    def verdicts(self) -> Mapping[str, float]:
        """How often each verdict was given, the most frequent first."""
        counts = self.statistics.get(VERDICT, {})
        return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))

    @property
    def rows_per_second(self) -> float:
        return self.rows_scored / self.seconds if self.seconds else 0.0

    @property
    def errors(self) -> int:
        """Rows with a ``score_error``."""
        return int(self.statistics.get(SCORE_ERROR, {}).get("count", 0))

    def to_json(self) -> dict[str, Any]:
        """What the run's ``_summary.json`` keeps: only what a run that was resumed can say as well."""
        names = ("rows", "rows_carried", "shards", "signature", "verdicts", "statistics")
        return {name: getattr(self, name) for name in names}

    @classmethod
    def from_json(cls, kept: Mapping[str, Any], output: str) -> Self:
        """The summary of a finished run of which nothing was left to do, from what ``to_json`` kept."""
        return cls(
            output=output,
            rows=kept["rows"],
            rows_scored=0,
            rows_carried=kept["rows_carried"],
            rows_unreadable=0,
            shards=kept["shards"],
            shards_reused=kept["shards"],
            engine="local",
            workers=None,
            seconds=0.0,
            signature=kept["signature"],
            statistics=kept["statistics"],
        )

    def score_sections(self) -> Sections:
        """The statistics of the scores, under headings."""
        return [("Verdicts", [(f"verdict {verdict}", f"{count:,}") for verdict, count in self.verdicts.items()])]

    def left_out(self) -> list[tuple[str, str]]:
        """What the scores do not count."""
        return []

    def work(self) -> list[tuple[str, str]]:
        """How the scores were made."""
        return []

    def sections(self) -> Sections:
        """The summary under headings, in the order in which a person wants it, the signature last."""
        reused = f" ({self.shards_reused} of them from an earlier start)" if self.shards_reused else ""
        lines = [("pairs", f"{self.rows:,} in {self.shards:,} shard{'' if self.shards == 1 else 's'}{reused}")]
        if self.rows_carried:
            lines.append(("carried over", f"{self.rows_carried:,} unchanged, {self.rows - self.rows_carried:,} scored"))
        if self.rows_missing:
            lines.append(("missing", f"{self.rows_missing:,} of other parts"))
        if self.rows_unreadable:
            lines.append(("not readable", f"{self.rows_unreadable:,}"))
        lines += self.left_out()
        if self.errors:
            lines.append(("score_error", f"{row_count(self.errors)} could not be scored"))
        run = self.work()
        if self.rows_scored:
            workers = f", {self.workers} worker{'' if self.workers == 1 else 's'}" if self.workers else ""
            speed = f"{self.rows_per_second:,.0f} pairs/s in {self.seconds:,.1f} s ({self.engine}{workers})"
            run.append(("throughput", speed))
        run += [("excluded node", printable(reason)) for reason in self.excluded_nodes]
        run += [("output", printable(self.output)), ("signature", self.signature)]
        return [("", lines), *self.score_sections(), ("Run", run)]

    def lines(self) -> list[tuple[str, str]]:
        """The summary as pairs of a label and its value."""
        return [each for _, lines in self.sections() for each in lines]

    def __str__(self) -> str:
        return grouped(self.sections())


class RunIncomplete(RunError):
    """Shards failed or rows could not be read; everything else is scored and written. ``summary`` says how much.

    Its exit code is ``TRY_AGAIN`` if some of it ``may_pass``.
    """

    def __init__(self, troubles: list[str], summary: RunCounts, may_pass: bool = False) -> None:
        others = f" (and {len(troubles) - 1} more)" if len(troubles) > 1 else ""
        super().__init__(
            f"Not all rows could be scored: {troubles[0]}{others}. The other {summary.rows:,} rows are in "
            f"{summary.output}; the same run started again tries the rest."
        )
        self.summary = summary
        self.exit_code = TRY_AGAIN if may_pass else FAILED


class InputChanged(RunError):
    """A file of the input was written while its rows were scored, so the output may have rows of two versions of it."""

    def __init__(self, file: str, output: str) -> None:
        super().__init__(
            f"{file} was written while its rows were scored: {output} may have rows of both versions, and no run "
            "continues it. Score the input into another folder; rescore carries over the rows that are the same "
            f"(--previous {output})."
        )
