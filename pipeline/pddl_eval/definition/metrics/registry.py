"""What a metric is: the columns that it fills, what they mean, and the function that fills them.

The schema of a scored dataset, the run's summary, the report and the documentation's table of columns all follow from
the metrics that a pair lists. A new metric is one file with a ``METRIC`` and its name in its pair's list.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from types import SimpleNamespace
from typing import Any

from pddl_eval.definition.budget import OutOfBudgetError
from pddl_eval.definition.options import ScoringOptions

Row = Mapping[str, Any]
"""The columns of a row that mean something, by meaning; absent ones are missing."""


def domain_of(row: Row, options: ScoringOptions) -> str | None:
    """The domain that a row names, or the text of its reference domain, or the domain of all rows that name none.

    >>> domain_of({"domain": None, "reference_domain": "(define (domain d))"}, ScoringOptions(domain="gripper"))
    '(define (domain d))'
    """
    return row.get("domain") or row.get("reference_domain") or options.domain


@dataclass(frozen=True, slots=True)
class Column:
    """A score column. ``type`` is bool, int, float or str; ``has_mean``: a run prints the mean of these numbers.

    A null bool is undecided and counts as no in every rate; where it is ``optional`` there was nothing to decide, and
    the row is left out. If ``follows`` names another bool of the pair, only a null with a null there is undecided: any
    other is a no.
    """

    name: str
    type: type
    meaning: str
    _: KW_ONLY
    has_mean: bool = False
    optional: bool = False
    follows: str | None = None

    @property
    def in_summary(self) -> bool:
        """True where a run prints its mean, or the share of its yeses."""
        return self.has_mean or self.type is bool


@dataclass(frozen=True, slots=True)
class Metric:
    """``score`` takes what its pair makes of a row and returns one value for each column, None for no score."""

    columns: tuple[Column, ...]
    score: Callable[[Any], Sequence[Any]]


@dataclass(frozen=True, slots=True)
class Pair:
    """What is compared: the columns ``reference_NAME`` and ``generated_NAME``, and the metrics over them.

    ``read`` parses a row: its value is what all metrics of the pair take. ``prepare`` sees all rows of a table before
    they are scored. What is read has ``notes``, a list: a metric that the row's budget ends gives null, and the reason
    is noted there. ``signed`` is what the signature says of the constants of the metrics. ``reads``: whether a text is
    a reference, even if it has no scores.
    """

    name: str
    read: Callable[[Row, ScoringOptions], Any]
    metrics: tuple[Metric, ...]
    prepare: Callable[[Sequence[Row], ScoringOptions], None] | None = None
    signed: str = ""
    reads: Callable[[str], bool] = bool

    @property
    def reference(self) -> str:
        """The meaning of the column with the references."""
        return f"reference_{self.name}"

    @property
    def generated(self) -> str:
        """The meaning of the column with the generated values."""
        return f"generated_{self.name}"

    @property
    def columns(self) -> tuple[Column, ...]:
        """The score columns of all metrics, in the order of the output."""
        return tuple(column for metric in self.metrics for column in metric.columns)

    def score(self, pair: Any) -> list[Any]:
        """The values of all columns for what ``read`` made of a row."""
        if isinstance(pair, OnlySome):
            return [pair.get(column.name) for column in self.columns]
        scores: list[Any] = []
        for metric in self.metrics:
            try:
                scores += metric.score(pair)
            except OutOfBudgetError as end:
                scores += [None] * len(metric.columns)
                pair.notes += [reason for reason in [str(end)] if reason not in pair.notes]
        return scores


class OnlySome(dict[str, Any]):
    """What a pair's ``read`` returns for a row that has only these scores."""


class Scores(SimpleNamespace):
    """The scores of one pair as attributes named like their columns, and ``detail``: what went wrong, if anything."""

    def __init__(self, kind: Pair, pair: Any) -> None:
        super().__init__(**dict(zip((column.name for column in kind.columns), kind.score(pair), strict=True)))
        self.detail: str = pair.detail
