"""What a metric is: the columns that it fills, what they mean, and the function that fills them.

The schema of a scored dataset, the run's summary, the report and the documentation's table of columns all follow from
the metrics that a pair lists. A new metric is one file with a ``METRIC`` and its name in its pair's list.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

from pddl_eval.definition.budget import OutOfBudgetError
from pddl_eval.definition.options import ScoringOptions

Row = Mapping[str, Any]
"""The columns of a row that mean something, by meaning; absent ones are missing."""


def given(text: str | None) -> bool:
    """True where a column says something in a row: a reference that is null or blank is none.

    >>> given(None), given(" "), given("[]")
    (False, False, True)
    """
    return text is not None and bool(text.strip())


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
    other is a no. ``needs`` names the pairs whose references it needs: a row in which one of them had nothing to
    compare is left out, too. ``unbounded``: a number that is no share and no distance from 0 to 1.
    """

    name: str
    type: type
    meaning: str
    _: KW_ONLY
    has_mean: bool = False
    optional: bool = False
    follows: str | None = None
    needs: tuple[str, ...] = ()
    unbounded: bool = False

    @property
    def in_summary(self) -> bool:
        """True where a run prints its mean, or the share of its yeses."""
        return self.has_mean or self.type is bool


@dataclass(frozen=True, slots=True)
class Metric:
    """``score`` takes what its pair makes of a row and returns one value for each column, None for no score.

    A metric that ``compares`` is not asked where what was read has the ``reference`` None: its columns are null.
    ``asked_by`` names the setting without which its columns are no part of the output.
    """

    columns: tuple[Column, ...]
    score: Callable[[Any], Sequence[Any]]
    compares: bool = False
    asked_by: str = ""


@dataclass(frozen=True, slots=True)
class Pair:
    """What is scored: the column ``generated_NAME``, compared with ``reference_NAME`` where that is there.

    ``read`` parses a row: its value is what all metrics of the pair take. ``compared`` is the score that has a value
    wherever there was a reference, and ``verdict`` the one that names what was found. ``prepare`` sees all rows of a
    table before they are scored. What is read has ``notes``, a list: a metric that the row's budget ends gives null,
    and the reason is noted there. ``signed`` is what the signature says of the constants of the metrics. ``reads``: the
    columns that generated values are held against, and whether a text is one of these, even if it has no scores. If
    ``needs_one``, one of these columns has to be there. ``asks`` are the columns with what else is asked.
    """

    name: str
    read: Callable[[Row, ScoringOptions], Any]
    metrics: tuple[Metric, ...]
    compared: str
    verdict: str
    prepare: Callable[[Sequence[Row], ScoringOptions], None] | None = None
    signed: str = ""
    reads: tuple[tuple[str, Callable[[str], bool]], ...] = ()
    needs_one: bool = False
    asks: tuple[str, ...] = ()

    @property
    def reference(self) -> str:
        """The meaning of the column with the references."""
        return f"reference_{self.name}"

    @property
    def generated(self) -> str:
        """The meaning of the column with the generated values."""
        return f"generated_{self.name}"

    def is_among(self, meanings: Collection[str]) -> bool:
        """True where the columns with these meanings are enough to score something."""
        return self.generated in meanings and not (self.needs_one and set(self.compared_with).isdisjoint(meanings))

    @property
    def compared_with(self) -> tuple[str, ...]:
        """The meanings of the columns that generated values are held against, the reference first."""
        return tuple(meaning for meaning, _ in self.reads)

    @property
    def columns(self) -> tuple[Column, ...]:
        """The score columns of all metrics, in the order of the output."""
        return tuple(column for metric in self.metrics for column in metric.columns)

    def asked(self, options: ScoringOptions) -> Pair:
        """The pair with the metrics that these options ask for."""
        metrics = tuple(each for each in self.metrics if not each.asked_by or getattr(options, each.asked_by))
        return replace(self, metrics=metrics)

    def score(self, pair: Any) -> list[Any]:
        """The values of all columns for what ``read`` made of a row."""
        if isinstance(pair, OnlySome):
            return [pair.get(column.name) for column in self.columns]
        scores: list[Any] = []
        for metric in self.metrics:
            if metric.compares and pair.reference is None:
                scores += [None] * len(metric.columns)
                continue
            try:
                scores += metric.score(pair)
            except OutOfBudgetError as end:
                scores += [None] * len(metric.columns)
                pair.notes += [reason for reason in [str(end)] if reason not in pair.notes]
        return scores

    def scores(self, pair: Any) -> dict[str, Any]:
        """The same by the names of the columns."""
        return dict(zip((column.name for column in self.columns), self.score(pair), strict=True))


class OnlySome(dict[str, Any]):
    """What a pair's ``read`` returns for a row that has only these scores."""
