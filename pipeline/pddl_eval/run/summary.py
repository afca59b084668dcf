"""What a run says in the end: its summary, and what the files beside its partitions say of it later."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pddl_eval.datasets import Source, places
from pddl_eval.domains import known_domain_names
from pddl_eval.errors import RunError, did_you_mean
from pddl_eval.metrics import PAIRS
from pddl_eval.options import ScoringOptions
from pddl_eval.run.manifest import MANIFEST
from pddl_eval.run.partitions import SCORE_ERROR, VERDICT, Statistics
from pddl_eval.run.shards import named_rows
from pddl_eval.shown import labelled, printable
from pddl_eval.table import UNKNOWN_DOMAINS
from pddl_eval.verdict import Verdict

SUMMARY = "_summary.json"
"""Written last, when every partition is there; Parquet readers ignore names with a leading underscore."""

_SHOWN = [column for pair in PAIRS for column in pair.columns if column.in_summary]
SHARES = tuple(column.name for column in _SHOWN if column.type is bool)
"""Score columns that a summary shows the share of."""

OPTIONAL = frozenset(column.name for column in _SHOWN if column.optional)
"""Those whose share is that of the rows that have a value."""

FOLLOWS = {column.name: column.follows for column in _SHOWN if column.follows}
"""Those whose null is undecided only where this other column is null too, and else a no."""

MEANS = tuple(column.name for column in _SHOWN if column.type is float)
"""Score columns that a summary shows the mean of."""


@dataclass(frozen=True, slots=True)
class RunSummary:
    """The result of a run over all its partitions, also those that an interrupted run had finished.

    ``rows`` is the number of rows in the output. ``rows_scored`` of them were scored this time, in ``seconds`` of wall
    time; ``rows_carried`` have their scores from an earlier dataset (``pddl_eval.reuse``). ``shards_reused`` is the
    number of partitions that were there already. ``rows_missing`` are rows that other parts have not written yet.
    ``excluded_nodes`` says which nodes of a cluster failed, and why.

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

    def share(self, column: str) -> float | None:
        """The share of rows in which a bool score column is true; None without it.

        It is the rate of ``pddl_eval.report``: rows whose reference is a mistake in the data are left out, undecided
        rows count as no.
        """
        counts = self.statistics.get(column, {})
        rows = sum(number for value, number in counts.items() if value != "null" or column not in OPTIONAL)
        return counts["true"] / rows if rows else None

    @property
    def mistakes(self) -> int:
        """Rows whose reference is a mistake in the data: left out of all shares and means."""
        return int(self.statistics.get(VERDICT, {}).get(Verdict.REFERENCE_INVALID, 0))

    def mean(self, column: str) -> float | None:
        """The mean of a number score column over the rows that have one; None where none has."""
        values = self.statistics.get(column)
        return values["sum"] / values["count"] if values and values["count"] else None

    def to_json(self) -> dict[str, Any]:
        """What the run's ``_summary.json`` keeps: only what a run that was resumed can say as well."""
        names = ("rows", "rows_carried", "shards", "signature", "verdicts", "statistics")
        return {name: getattr(self, name) for name in names}

    @classmethod
    def from_json(cls, kept: Mapping[str, Any], output: str) -> RunSummary:
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

    def lines(self) -> list[tuple[str, str]]:
        """The summary as pairs of a label and its value, in the order in which a person wants them."""
        reused = f" ({self.shards_reused} of them from an earlier start)" if self.shards_reused else ""
        lines = [("pairs", f"{self.rows:,} in {self.shards:,} shard{'' if self.shards == 1 else 's'}{reused}")]
        if self.rows_carried:
            lines.append(("carried over", f"{self.rows_carried:,} unchanged, {self.rows - self.rows_carried:,} scored"))
        if self.rows_missing:
            lines.append(("missing", f"{self.rows_missing:,} of other parts"))
        if self.rows_unreadable:
            lines.append(("not readable", f"{self.rows_unreadable:,}"))
        if self.mistakes:
            lines.append(("left out", f"{self.mistakes:,} whose reference is a mistake in the data"))
        lines += [(column, shown) for column in SHARES if (shown := self._share_line(column))]
        for column in MEANS:
            mean = self.mean(column)
            if mean is not None:
                lines.append((column, f"{mean:7.4f}  (mean of {self.statistics[column]['count']:,})"))
        lines += [(f"verdict {verdict}", f"{count:,}") for verdict, count in self.verdicts.items()]
        for name, count in self.statistics.get(UNKNOWN_DOMAINS, {}).items():
            hint = did_you_mean(name, known_domain_names(), "known domains")
            lines.append(("unknown domain", f"{count:,} rows: {name}; {hint}"))
        if self.errors:
            lines.append(("score_error", f"{self.errors:,} rows could not be scored"))
        if self.rows_scored:
            workers = f", {self.workers} worker{'' if self.workers == 1 else 's'}" if self.workers else ""
            speed = f"{self.rows_per_second:,.0f} pairs/s in {self.seconds:,.1f} s ({self.engine}{workers})"
            lines.append(("throughput", speed))
        lines += [("excluded node", printable(reason)) for reason in self.excluded_nodes]
        return [*lines, ("signature", self.signature), ("output", printable(self.output))]

    def _share_line(self, column: str) -> str:
        counts = self.statistics.get(column)
        if not counts:
            return ""
        nulls = self.statistics.get(FOLLOWS.get(column, column), counts)["null"]
        if nulls == sum(counts.values()):
            return ""
        others = f", {nulls:,} {'not checked' if column in OPTIONAL else 'undecided'}" if nulls else ""
        return f"{self.share(column):7.2%}  ({counts['true']:,}{others})"

    def __str__(self) -> str:
        return labelled(self.lines())


class RunIncomplete(RunError):
    """Shards failed or rows could not be read; everything else is scored and written. ``summary`` says how much."""

    def __init__(self, troubles: list[str], summary: RunSummary) -> None:
        others = f" (and {len(troubles) - 1} more)" if len(troubles) > 1 else ""
        super().__init__(
            f"Not all rows could be scored: {troubles[0]}{others}. The other {summary.rows:,} rows are in "
            f"{summary.output}; the same run started again tries the rest."
        )
        self.summary = summary


def scored_with(source: Source) -> ScoringOptions:
    """The columns and the domain that a dataset was scored with, from the manifest beside its files.

    Those of no settings where there is no manifest, or none that can be read.
    """
    try:
        if places.has_file(source.base / MANIFEST):
            settings = json.loads(places.read_bytes(source.base / MANIFEST))["settings"]
            return ScoringOptions(columns=settings["columns"], domain=settings["domain"])
    except (ValueError, KeyError, TypeError, AttributeError):
        pass  # A copy beside another manifest.
    return ScoringOptions()


def unfinished_rows(source: Source) -> tuple[int, int] | None:
    """How many rows the run that wrote a dataset has not written, and of how many; None for a complete run or no run.

    A run that had to leave rows out, because they could not be read, is not complete either.
    """
    present = places.list_files(source.base)
    if MANIFEST not in present:
        return None
    try:
        manifest = json.loads(places.read_bytes(source.base / MANIFEST))
        if SUMMARY in present and json.loads(places.read_bytes(source.base / SUMMARY))["run"] == manifest["run"]:
            return None
        expected = sum(int(file["rows"]) for file in manifest["files"])
    except (ValueError, KeyError, TypeError):
        return None  # A copy beside another manifest.
    known = {file.name: file.rows for file in source.files}
    named = {name: found[2] - found[1] for name in present if (found := named_rows(name))}
    written = sum(known.get(name, rows) for name, rows in named.items())
    return max(0, expected - written), expected
