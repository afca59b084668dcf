"""The scores of a run in its summary: shares, means, verdicts, and what was left out."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc

from pddl_eval.datasets import is_text, values_of
from pddl_eval.definition.domains import known_domain_names, planning_domain
from pddl_eval.definition.metrics import PAIRS, PROBLEM, Pair
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.definition.verdict import OUTSIDE_STRIPS, SEVERAL_DRAFTS, Verdict
from pddl_eval.errors import did_you_mean
from pddl_eval.run import VERDICT, RunCounts, Statistics, count_values
from pddl_eval.scoring.columns import OPTIONAL, UNDECIDED_WITH, left_out_by, needed_by
from pddl_eval.scoring.table import KERNEL_KEY, MOST_NAMES, SCORE_ERROR, WITHOUT_SCORES
from pddl_eval.shown import Sections, line, row_count

_SHOWN = [column for pair in PAIRS for column in pair.columns if column.in_summary]
SHARES = tuple(column.name for column in _SHOWN if column.type is bool)
"""Score columns that a summary shows the share of."""

MEANS = tuple(column.name for column in _SHOWN if column.type is float)
"""Score columns that a summary shows the mean of."""

VERDICTS = tuple(pair.verdict for pair in PAIRS if pair is not PROBLEM)
"""Columns of which the summary says how often each verdict occurs; the run counts those of problems."""

UNCOUNTED = ("count", SEVERAL_DRAFTS)
"""Statistics of texts that are no verdicts."""

NOT_COMPARED, NOT_SCORED, OUTSIDE, REPEATED = (
    *("not compared", "rows not scored", "references outside STRIPS", "rows repeated"),
)
UNKNOWN_DOMAINS, KERNEL = "unknown domains", "kernel"
"""Statistics of rows, see ``count_rows``."""


def count_rows(table: pa.Table, columns: Iterable[str], options: ScoringOptions) -> Statistics:
    """The statistics of a scored table: ``count_scores``, and where there are any, how many rows

    * name a domain that is not known, by name (``UNKNOWN_DOMAINS``);
    * have a reference problem outside STRIPS, which is no mistake in the data (``OUTSIDE``);
    * had no reference for a pair, by pair (``NOT_COMPARED``);
    * the kernel was given and how many it left, by reason (``KERNEL``);
    * could not be scored, for each of the first reasons (``NOT_SCORED``): a damaged line says which it is;
    * are equal to another row of their shard in every column of the input (``REPEATED``).

    >>> scored = pa.table({"detail": ["the reference is outside STRIPS: it has a metric", None]})
    >>> count_rows(scored, ["detail"], ScoringOptions())["references outside STRIPS"]
    {'rows': 1}
    """
    names = [*columns]
    kernel = (table.schema.metadata or {}).get(KERNEL_KEY.encode())
    errors = table[SCORE_ERROR].drop_null().slice(0, MOST_NAMES) if SCORE_ERROR in table.column_names else []
    counts: dict[str, Mapping[str, float]] = {
        UNKNOWN_DOMAINS: _unknown_domains(table, options),
        OUTSIDE: _rows(pc.starts_with(table["detail"].cast(pa.string()), OUTSIDE_STRIPS)) if "detail" in names else {},
        NOT_COMPARED: {pair.name: count for pair in PAIRS if (count := _sum(nothing_compared(table, pair)))},
        KERNEL: json.loads(kernel) if kernel else {},
        NOT_SCORED: Counter(line(str(each)) for each in errors),
        REPEATED: _repeated(table, [name for name in table.column_names if name not in names]),
    }
    return {**count_scores(table, names), **{name: dict(each) for name, each in counts.items() if each}}


def _sum(rows: pa.Array) -> int:
    return pc.sum(rows).as_py() or 0


def _rows(rows: pa.Array) -> dict[str, float]:
    return {"rows": count} if (count := _sum(rows)) else {}


def _unknown_domains(table: pa.Table, options: ScoringOptions) -> Counter[str]:
    domain, problem = map(options.column, ("domain", "reference_problem"))
    if not {domain, problem} <= set(table.column_names):
        return Counter()  # Only problems, and plans in them, have a domain.
    names = Counter(name for name in values_of(table[domain]) if name and "(" not in name)
    rows = Counter({name: count for name, count in names.items() if planning_domain(name) is None})
    named = Counter({line(name): count for name, count in rows.most_common(MOST_NAMES)})
    if len(rows) > MOST_NAMES:
        named["others"] += rows.total() - named.total()
    return named


def _repeated(table: pa.Table, inputs: Sequence[str]) -> dict[str, float]:
    """How many rows repeat another row in all these columns, lists and mappings aside."""
    columns = [table[name] for name in inputs if not pa.types.is_nested(table[name].type)]
    columns = [each.cast(pa.large_string()) if is_text(each.type) else each for each in columns]
    # Few rows have texts of the same lengths, which are known.
    lengths = [pc.binary_length(each) if pa.types.is_large_string(each.type) else each for each in columns]
    try:
        repeated = columns and _more_than_once(lengths) and _more_than_once(columns)
    except pa.ArrowNotImplementedError:  # of a type that has no order, such as a dictionary of numbers
        return {}
    return {"rows": repeated} if repeated else {}


def _more_than_once(columns: Sequence[pa.ChunkedArray]) -> int:
    """How many rows of the columns say the same as one before them; a damaged line is all null and says nothing."""
    rows = pa.table(columns, [*map(str, range(len(columns)))])
    silent = _sum(reduce(pc.and_, map(pc.is_null, columns)))
    different = len(rows.group_by(rows.column_names, use_threads=False).aggregate([]))
    return len(rows) - different - max(0, silent - 1)


def nothing_compared(table: pa.Table, pair: Pair) -> pa.Array:
    """True for rows of a table with scores in which the pair's generated value had no reference.

    >>> nothing_compared(pa.table({"equivalent": [None, None], "verdict": [None, "undecided"]}), PAIRS[0]).to_pylist()
    [True, False]
    """
    if not {pair.compared, pair.verdict} <= set(table.column_names):
        return pa.repeat(False, table.num_rows)
    undecided = pc.is_in(table[pair.verdict].cast(pa.string()), pa.array(WITHOUT_SCORES))
    none = pc.and_(pc.is_null(table[pair.compared]), pc.invert(undecided))
    if SCORE_ERROR in table.column_names:
        none = pc.and_(none, pc.is_null(table[SCORE_ERROR]))
    return none


def count_scores(table: pa.Table, columns: Iterable[str]) -> Statistics:
    """``count_values`` of the score columns without rows whose reference is a mistake in the data.

    Of scores that compare also without rows that have no reference. Of verdicts on plans and domains how often
    each occurs. Of a detail also how many answers held several drafts.
    """
    statistics: dict[str, dict[str, float]] = {}
    silent = {pair: nothing_compared(table, pair) for pair in PAIRS}
    for name in columns:
        is_text = pa.types.is_string(table[name].type)
        verdicts = [] if is_text else [verdict for verdict in left_out_by(name) if verdict in table.column_names]
        needed = [silent[pair] for pair in needed_by(name)]
        left_out = [pc.fill_null(pc.equal(table[each], Verdict.REFERENCE_INVALID.value), False) for each in verdicts]
        counted = table.select([name])  # The texts of the rows need not be copied.
        if left_out := [*left_out, *needed]:
            counted = counted.filter(pc.invert(reduce(pc.or_, left_out)))
        statistics[name] = dict(count_values(counted, [name])[name])
        if name in VERDICTS:
            counts = pc.value_counts(table[name].drop_null()).to_pylist()
            statistics[name] = {str(each["values"]): each["counts"] for each in counts}
        has_drafts = is_text and name not in (VERDICT, *VERDICTS)
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
        invalid = "their reference cannot be read or solved; score --check says why"
        reasons = (invalid, self.mistakes - outside), (OUTSIDE_STRIPS, outside)
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
        why = ", ".join(f"{reason} {count:,}" for reason, count in counts.items())
        left = f", {int(sum(counts.values())):,} of them scored in Python ({why})" if counts else ""
        return [("kernel", f"{row_count(rows)}{left}")]

    def _share_line(self, column: str) -> str:
        counts = self.statistics.get(column)
        if not counts:
            return ""
        nulls = self.statistics.get(UNDECIDED_WITH.get(column, column), counts)["null"]
        if nulls == sum(counts.values()):
            return ""
        others = f", {nulls:,} {'not checked' if column in OPTIONAL else 'undecided'}" if nulls else ""
        return f"{self.share(column):7.2%}  ({counts['true']:,}{others})"
