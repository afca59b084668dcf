"""Everything there is to explain about a row: its pair of problems, of plans, of domains, whichever it has."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pddl_eval.definition.metrics import PAIRS, Row, domain_of_problem
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.errors import UserError, did_you_mean
from pddl_eval.explain.answers import AnswerExplanation, explain_answers
from pddl_eval.explain.dataset_row import DatasetRow, find_row
from pddl_eval.explain.domains import DomainExplanation, explain_domains
from pddl_eval.explain.explanation import Explanation, explain
from pddl_eval.explain.plans import PlanExplanation, explain_plans
from pddl_eval.pages import Cell, Page, Section
from pddl_eval.scoring.budget import row_budget

if TYPE_CHECKING:
    from rich.console import Group

    from pddl_eval.run import RunCounts


@dataclass(frozen=True, slots=True)
class NotScored:
    """A pair that cannot be scored, and why: a mistake in the data."""

    reason: str

    def page(self, *, whole: bool = False) -> Page:  # noqa: ARG002 (the same for all parts)
        title = "a mistake in the data"
        return Page(title, (), [self.reason], [], badges=[Cell(title, kind="other")])


Part = Explanation | PlanExplanation | DomainExplanation | AnswerExplanation | NotScored


@dataclass(frozen=True, slots=True)
class RowExplanation:
    """The explanation of each pair of a row, by the pair's name; ``print`` shows it, ``html_page`` draws it."""

    parts: Mapping[str, Part]

    @property
    def problem(self) -> Explanation | None:
        """The explanation of the pair of problems, which can be drawn."""
        part = self.parts.get("problem")
        return part if isinstance(part, Explanation) else None

    def as_read(self, pair: str) -> str | None:
        """What was read of a pair's answer, in its words; None where nothing was, or all of it counts."""
        part = self.parts.get(pair)
        return part.as_read if isinstance(part, Explanation | PlanExplanation) else None

    def page(self, *, whole: bool = False) -> Page:
        """All parts on one page, each under a heading; one part alone is the page."""
        pages = {name: part.page(whole=whole) for name, part in self.parts.items()}
        if len(pages) == 1:
            return next(iter(pages.values()))
        sections: list[Section] = []
        for name, page in pages.items():
            sections += [Section(f"{name.capitalize()}s: {page.title}", page.facts), *page.sections]
        goods = {page.good for page in pages.values()}
        title = "; ".join(f"{name}: {page.title}" for name, page in pages.items())
        good = False if False in goods else None if None in goods else True
        badges = [replace(badge, text=f"{name}: {badge.text}") for name, page in pages.items() for badge in page.badges]
        return Page(title, (), [], sections, good, badges=badges)

    def __rich__(self) -> Group:
        from pddl_eval.terminal import terminal  # here: pages of HTML need no rich

        return terminal(self.page())

    def __str__(self) -> str:
        from pddl_eval.terminal import plain  # here: pages of HTML need no rich

        return plain(self.page())


def explain_row(
    row: Row | str | os.PathLike[str] | RunCounts | Any,
    number: int | None = None,
    *,
    options: ScoringOptions | None = None,
    only: str | None = None,
) -> RowExplanation:
    """Why each generated value of a row has its scores.

    * ``row``: maps meanings (``options.MEANINGS``) to values: a generated one, and what it is held against. Or it is a
      dataset: a place, a run's summary, a polars or pandas frame;
    * ``number``: the row of the dataset, counted from 0;
    * ``options``: how it is scored, by default as the dataset was;
    * ``only``: one of the pairs, ``problem``, ``plan``, ``domain`` or ``answer``; default: all.

    A pair that cannot be scored is explained by the reason. Raises ``UserError`` if there is no pair, and
    ``DatasetError`` if there is no such row.

    >>> pick = {"reference_plan": "(pick a)", "generated_plan": "(pick b)"}
    >>> explain_row(pick).parts["plan"].alignment
    ((0, None), (None, 0))
    """
    if not isinstance(row, Mapping):
        found = _row_of(row, number)
        row, options = found.values, options or found.options
    options = options or ScoringOptions()
    makers: dict[str, Callable[[Row, ScoringOptions], Any]] = {
        "problem": _explain_problems,
        "plan": explain_plans,
        "domain": explain_domains,
        "answer": explain_answers,
    }
    parts: dict[str, Part] = {}
    for pair in PAIRS:
        if pair.is_among(row.keys()) and only in (None, pair.name):
            with row_budget(options.row_seconds):
                try:
                    parts[pair.name] = makers[pair.name](row, options)
                except UserError as mistake:
                    parts[pair.name] = NotScored(str(mistake))
    if not parts:
        wanted = [pair for pair in PAIRS if only in (None, pair.name)]
        if not wanted:
            raise UserError(
                f"no pair is named {only}; {did_you_mean(str(only), [pair.name for pair in PAIRS], 'pairs')}"
            )
        names = " or ".join(pair.generated for pair in wanted)
        raise UserError(f"there is nothing to explain: expected {names}")
    return RowExplanation(parts)


def _row_of(dataset: Any, number: int | None) -> DatasetRow:
    from pddl_eval.datasets import DatasetError  # here: what explains texts needs no Arrow
    from pddl_eval.run import RunCounts

    if number is None:
        raise UserError("name the row to explain: explain_row(dataset, number)")
    if isinstance(dataset, RunCounts | str | os.PathLike):
        return find_row(dataset.output if isinstance(dataset, RunCounts) else os.fspath(dataset), row=number)
    if not 0 <= number < len(dataset):
        raise DatasetError(f"There is no row {number:,}: the frame has {len(dataset):,}, counted from 0.")
    piece = dataset[number : number + 1]
    values = {str(name): piece[name].to_list()[0] for name in piece.columns}
    # A missing text of pandas is a number that is not equal to itself.
    return DatasetRow(number, {name: value if value == value else None for name, value in values.items()})


def _explain_problems(row: Row, options: ScoringOptions) -> Explanation:
    return explain(
        row.get("reference_problem"),
        row["generated_problem"],
        is_placeholder=bool(row.get("is_placeholder")),
        domain=domain_of_problem(row, options),
        answer=options.answer,
    )
