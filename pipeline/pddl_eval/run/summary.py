"""The result of a run: how many rows, with which verdicts, how fast, where they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pddl_eval.errors import RunError
from pddl_eval.metrics import PAIRS
from pddl_eval.run.partitions import Statistics

_SHOWN = [column for pair in PAIRS for column in pair.columns if column.in_summary]

SHARES = tuple(column.name for column in _SHOWN if column.type is bool)
"""Score columns that a summary shows the share of."""

MEANS = tuple(column.name for column in _SHOWN if column.type is float)
"""Score columns that a summary shows the mean of."""


@dataclass(frozen=True, slots=True)
class RunSummary:
    """A run's result over all its partitions, those of an earlier start included.

    ``rows`` lie in the output, ``rows_scored`` of them were scored this time, in ``seconds`` of wall time;
    ``rows_carried`` have their scores from an earlier dataset (``pddl_eval.reuse``); ``shards_reused`` partitions were
    there already.

    >>> statistics = {"equivalent": {"true": 1, "false": 3, "null": 0}, "verdict": {"identical": 1, "goal_differs": 3}}
    >>> summary = RunSummary("scored", 4, 4, 0, 0, 1, 0, "local", 1, 0.002, "pddl-eval:0.1.0", statistics)
    >>> summary.share("equivalent"), list(summary.verdicts), summary.rows_per_second
    (0.25, ['goal_differs', 'identical'], 2000.0)
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

    @property
    def verdicts(self) -> Mapping[str, float]:
        """How often each verdict was given, the most frequent first."""
        counts = self.statistics.get("verdict", {})
        return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))

    @property
    def rows_per_second(self) -> float:
        return self.rows_scored / self.seconds if self.seconds else 0.0

    @property
    def errors(self) -> int:
        """Rows with a ``score_error``."""
        return int(self.statistics.get("score_error", {}).get("count", 0))

    def share(self, column: str) -> float | None:
        """The share of rows in which a bool score column is true, undecided rows counting as not; None without it."""
        counts = self.statistics.get(column)
        return counts["true"] / self.rows if counts and self.rows else None

    def mean(self, column: str) -> float | None:
        """The mean of a number score column over the rows that have one; None where none has."""
        values = self.statistics.get(column)
        return values["sum"] / values["count"] if values and values["count"] else None

    def to_json(self) -> dict[str, Any]:
        """What the run's ``_summary.json`` keeps: only what a run that was resumed can say as well."""
        return {
            "rows": self.rows,
            "rows_carried": self.rows_carried,
            "shards": self.shards,
            "signature": self.signature,
            "verdicts": self.verdicts,
            "statistics": self.statistics,
        }

    def lines(self) -> list[tuple[str, str]]:
        """The summary as pairs of a label and its value, in the order in which a person wants them."""
        reused = f" ({self.shards_reused} of them from an earlier start)" if self.shards_reused else ""
        lines = [("pairs", f"{self.rows:,} in {self.shards:,} shard{'' if self.shards == 1 else 's'}{reused}")]
        if self.rows_carried:
            lines.append(("carried over", f"{self.rows_carried:,} unchanged, {self.rows - self.rows_carried:,} scored"))
        if self.rows_unreadable:
            lines.append(("not readable", f"{self.rows_unreadable:,}"))
        for column in SHARES:
            counts = self.statistics.get(column)
            if counts and counts["true"] + counts["false"]:
                undecided = f", {counts['null']:,} undecided" if counts["null"] else ""
                lines.append((column, f"{self.share(column):7.2%}  ({counts['true']:,}{undecided})"))
        for column in MEANS:
            mean = self.mean(column)
            if mean is not None:
                lines.append((column, f"{mean:7.4f}  (mean of {self.statistics[column]['count']:,})"))
        lines += [(f"verdict {verdict}", f"{count:,}") for verdict, count in self.verdicts.items()]
        if self.errors:
            lines.append(("score_error", f"{self.errors:,} rows could not be scored"))
        if self.rows_scored:
            workers = f", {self.workers} workers" if (self.workers or 1) > 1 else ""
            speed = f"{self.rows_per_second:,.0f} pairs/s in {self.seconds:,.1f} s ({self.engine}{workers})"
            lines.append(("throughput", speed))
        return [*lines, ("signature", self.signature), ("output", self.output)]

    def __str__(self) -> str:
        width = max(len(label) for label, _ in self.lines())
        return "\n".join(f"{label:<{width}}  {value}" for label, value in self.lines())


class RunIncomplete(RunError):
    """Shards failed or rows could not be read; everything else is scored and written. ``summary`` says how much."""

    def __init__(self, message: str, summary: RunSummary) -> None:
        super().__init__(message)
        self.summary = summary
