"""The scores of a run in its summary: shares, means, verdicts, and what was left out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc

from pddl_eval.definition.domains import known_domain_names
from pddl_eval.definition.metrics import DOMAIN, PAIRS, PLAN, Pair
from pddl_eval.definition.verdict import OUTSIDE_STRIPS, SEVERAL_DRAFTS, Verdict
from pddl_eval.errors import did_you_mean
from pddl_eval.run import VERDICT, RunCounts, Statistics, count_values
from pddl_eval.scoring.columns import OPTIONAL, UNDECIDED_WITH, left_out_by, needed_by
from pddl_eval.scoring.table import (
    KERNEL,
    MOST_NAMES,
    NOT_COMPARED,
    NOT_SCORED,
    OUTSIDE,
    REPEATED,
    UNKNOWN_DOMAINS,
    nothing_compared,
)
from pddl_eval.shown import Sections, row_count

_SHOWN = [column for pair in PAIRS for column in pair.columns if column.in_summary]
SHARES = tuple(column.name for column in _SHOWN if column.type is bool)
"""Score columns that a summary shows the share of."""

MEANS = tuple(column.name for column in _SHOWN if column.type is float)
"""Score columns that a summary shows the mean of."""

UNCOUNTED = ("count", SEVERAL_DRAFTS)
"""Statistics of texts that are no verdicts."""


def count_scores(table: pa.Table, columns: Iterable[str]) -> Statistics:
    """``count_values`` of the score columns without rows whose reference is a mistake in the data.

    Of scores that compare also without rows that have no reference. Of verdicts on plans and domains how often
    each occurs. Of a detail also how many answers held several drafts.
    """
    statistics: dict[str, dict[str, float]] = {}
    for name in columns:
        is_text = pa.types.is_string(table[name].type)
        verdicts = [] if is_text else [verdict for verdict in left_out_by(name) if verdict in table.column_names]
        needed = [nothing_compared(table, pair) for pair in needed_by(name)]
        left_out = [pc.fill_null(pc.equal(table[each], Verdict.REFERENCE_INVALID.value), False) for each in verdicts]
        counted = table.select([name])  # The texts of the rows need not be copied.
        if left_out := [*left_out, *needed]:
            counted = counted.filter(pc.invert(reduce(pc.or_, left_out)))
        statistics[name] = dict(count_values(counted, [name])[name])
        if name in (PLAN.verdict, DOMAIN.verdict):
            counts = pc.value_counts(table[name].drop_null()).to_pylist()
            statistics[name] = {str(each["values"]): each["counts"] for each in counts}
        has_drafts = is_text and name not in (VERDICT, PLAN.verdict, DOMAIN.verdict)
        drafts = pc.sum(pc.starts_with(table[name], SEVERAL_DRAFTS)).as_py() if has_drafts else 0
        if drafts:
            statistics[name][SEVERAL_DRAFTS] = drafts
    return statistics


@dataclass(frozen=True, slots=True)
class RunSummary(RunCounts):
    """The result of a run: what it has done (``RunCounts``), and its scores.

    >>> statistics = {"equivalent": {"true": 1, "false": 3, "null": 0}, "verdict": {"identical": 1, "goal_differs": 3}}
    >>> summary = RunSummary("scored", 4, 4, 0, 0, 1, 0, "local", 1, 0.002, "pddl-eval:0.1.0", statistics)
    >>> summary.share("equivalent"), list(summary.verdicts), summary.rows_per_second
    (0.25, ['goal_differs', 'identical'], 2000.0)
    """

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
        """Rows whose reference cannot be read or solved, or is outside STRIPS: left out of all shares and means."""
        return int(self.statistics.get(VERDICT, {}).get(Verdict.REFERENCE_INVALID, 0))

    def mean(self, column: str) -> float | None:
        """The mean of a number score column over the rows that have one; None where none has."""
        values = self.statistics.get(column)
        return values["sum"] / values["count"] if values and values["count"] else None

    def left_out(self) -> list[tuple[str, str]]:
        lines = [
            ("not compared", f"{row_count(int(rows))}: no reference {pair}")
            for pair, rows in self.statistics.get(NOT_COMPARED, {}).items()
        ]
        outside = int(self.statistics.get(OUTSIDE, {}).get("rows", 0))
        reasons = ("their reference cannot be read or solved", self.mistakes - outside), (OUTSIDE_STRIPS, outside)
        return lines + [("left out", f"{row_count(rows)}: {reason}") for reason, rows in reasons if rows]

    def score_sections(self) -> Sections:
        sections = [(f"{pair.name.capitalize()}s", self._pair_lines(pair)) for pair in PAIRS]
        notes = []
        for name, count in self.statistics.get(UNKNOWN_DOMAINS, {}).items():
            hint = did_you_mean(name, known_domain_names(), "known domains")
            notes.append(("unknown domain", f"{row_count(int(count))}: {name}; {hint}"))
        errors = self.statistics.get(NOT_SCORED, {})
        notes += [("not scored", why) for why in list(errors)[:MOST_NAMES]]
        if errors:
            notes.append(
                ("not scored", f"all {row_count(self.errors)}: score_error says why; mend them and score again")
            )
        if 4 * (self.mistakes - int(self.statistics.get(OUTSIDE, {}).get("rows", 0))) > self.rows:
            hint = "--column reference_problem=NAME --column generated_problem=NAME"
            notes.append(("many references invalid", f"are references and answers the wrong way round? {hint}"))
        if repeated := int(self.statistics.get(REPEATED, {}).get("rows", 0)):
            said = f"{row_count(repeated)} equal to another one in every column: each counts as a sample of its own"
            notes.append(("repeated rows", said))
        drafts = ((column, values.get(SEVERAL_DRAFTS)) for column, values in self.statistics.items())
        notes += [(SEVERAL_DRAFTS, f"{count:,} answers, see {column}") for column, count in drafts if count]
        return [*sections, ("Notes", notes)]

    def _pair_lines(self, pair: Pair) -> list[tuple[str, str]]:
        """Shares, means, and how often each verdict was given."""
        names = [column.name for column in pair.columns]
        lines = [(column, shown) for column in SHARES if column in names and (shown := self._share_line(column))]
        for column in (each for each in MEANS if each in names):
            mean = self.mean(column)
            if mean is not None:
                lines.append((column, f"{mean:7.4f}  (mean of {self.statistics[column]['count']:,})"))
        verdicts = self.statistics.get(pair.verdict, {}).items()
        counts = sorted(
            ((name, count) for name, count in verdicts if name not in UNCOUNTED), key=lambda each: (-each[1], each[0])
        )
        return lines + [(f"{pair.verdict} {verdict}", f"{count:,}") for verdict, count in counts]

    def work(self) -> list[tuple[str, str]]:
        counts = dict(self.statistics.get(KERNEL, {}))
        if not (rows := int(counts.pop("rows", 0))):
            return []
        why = f" ({', '.join(f'{reason} {count:,}' for reason, count in counts.items())})" if counts else ""
        return [("kernel", f"{row_count(rows)}, {int(sum(counts.values())):,} of them left to the definition{why}")]

    def _share_line(self, column: str) -> str:
        counts = self.statistics.get(column)
        if not counts:
            return ""
        nulls = self.statistics.get(UNDECIDED_WITH.get(column, column), counts)["null"]
        if nulls == sum(counts.values()):
            return ""
        others = f", {nulls:,} {'not checked' if column in OPTIONAL else 'undecided'}" if nulls else ""
        return f"{self.share(column):7.2%}  ({counts['true']:,}{others})"
