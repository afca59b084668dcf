"""What a comparison says to a person: facts first, then tables, before anything is rendered."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import polars as pl

from pddl_eval.comparison.compare import Comparison
from pddl_eval.report.labels import MEASURE_NAMES, count, rows, signed, words
from pddl_eval.report.page import MOST_ROWS, Cell, Table, table
from pddl_eval.report.scored import Scored

ALL = "all"
"""Stands for all groups of a column together."""

OVER = "over the rows that both have, of groups those where something moved"


def title(comparison: Comparison) -> str:
    """The heading."""
    return f"{comparison.old.place or 'before'} → {comparison.new.place or 'after'}"


def warning(comparison: Comparison) -> str | None:
    """What a reader must know before believing a difference."""
    if comparison.same_signature:
        return None
    return (
        "The datasets were scored in different ways, so a difference may be the scorer's and not the answers'. "
        f"Before: {_signatures(comparison.old)}. Now: {_signatures(comparison.new)}."
    )


def facts(comparison: Comparison) -> list[str]:
    """One sentence each: what was joined, what got worse, what got better."""
    on = ", ".join(comparison.on)
    others = f"{count(comparison.added)} new, {count(comparison.gone)} gone"
    lines = [
        f"{rows(comparison.both)} in both, joined on {on}; {others}.",
        f"{rows(comparison.regressions)} right before and not any more, "
        f"{count(comparison.improvements)} right now and not before.",
    ]
    if comparison.same_signature and comparison.new.signatures:
        lines.append(f"Signature: {_signatures(comparison.new)}")
    return lines


def tables(comparison: Comparison) -> list[Table]:
    """The tables for which there is something to say."""
    shown = [_examples(comparison), _rates(comparison), _scores(comparison), _flips(comparison)]
    return [each for each in shown if each.rows]


def _examples(comparison: Comparison) -> Table:
    keys = [*comparison.on, *(name for name in comparison.by if name not in comparison.on)]
    lines: list[list[Cell | str]] = []
    for line in comparison.examples.to_dicts():
        command = comparison.new.explain_command(line["row"]) or ""
        verdicts = f"{words(line['old_verdict'] or '–')} → {words(line['new_verdict'] or '–')}"
        said = Cell(line["detail"] or "", command, minor_is_code=bool(command))
        lines.append([*(str(line[key]) for key in keys), verdicts, said])
    caption = f"Right before and not any more: the first of {count(comparison.regressions)}"
    return _shown(caption, [*keys, "verdict", "detail"], lines, labels=len(keys), texts=2)


def _rates(comparison: Comparison) -> Table:
    lines: list[list[Cell | str]] = [
        [
            *_groups(line, comparison.by),
            MEASURE_NAMES[line["measure"]],
            count(line["rows"]),
            f"{100 * line['old']:.1f}",
            f"{100 * line['new']:.1f}",
            _difference(line, lambda value: signed(100 * value)),
            count(line["rose"]),
            count(line["fell"]),
        ]
        for line in _moved(comparison.rates, comparison.by)
    ]
    header = [*comparison.by, "share", "rows", "before %", "now %", "difference", "now yes", "now no"]
    return _shown(f"Rates {OVER}", header, lines, labels=len(comparison.by) + 1)


def _scores(comparison: Comparison) -> Table:
    lines: list[list[Cell | str]] = [
        [
            *_groups(line, comparison.by),
            words(line["measure"]),
            count(line["rows"]),
            f"{line['old']:.3f}",
            f"{line['new']:.3f}",
            _difference(line, lambda value: f"{value:+.3f}".replace("-", "−")),
            count(line["rose"]),
            count(line["fell"]),
        ]
        for line in _moved(comparison.scores, comparison.by)
    ]
    header = [*comparison.by, "score", "rows", "before", "now", "difference", "rose", "fell"]
    return _shown(f"Mean scores {OVER}", header, lines, labels=len(comparison.by) + 1)


def _flips(comparison: Comparison) -> Table:
    lines: list[list[Cell | str]] = [
        [
            *_groups(line, comparison.by),
            words(line["old_verdict"] or "–"),
            words(line["new_verdict"] or "–"),
            count(line["rows"]),
        ]
        for line in comparison.flips.to_dicts()
    ]
    header = [*comparison.by, "verdict before", "verdict now", "rows"]
    return _shown("Verdicts that changed", header, lines, labels=len(comparison.by), texts=2)


def _shown(caption: str, header: list[str], lines: list[list[Cell | str]], *, labels: int, texts: int = 0) -> Table:
    if len(lines) > MOST_ROWS:
        caption += f" (the first {MOST_ROWS} of {count(len(lines))}; --format json has all)"
    return table(caption, header, lines[:MOST_ROWS], labels=labels, texts=texts)


def _moved(frame: pl.DataFrame, by: Sequence[str]) -> list[dict[str, Any]]:
    """All groups together, and those in which something moved."""
    together = [pl.col(name).is_null() for name in by]
    return frame.filter(pl.all_horizontal(pl.lit(True), *together) | (pl.col("rose") + pl.col("fell") > 0)).to_dicts()


def _groups(line: Mapping[str, Any], by: Sequence[str]) -> list[str]:
    return [line[name] if line[name] is not None else ALL for name in by]


def _difference(line: Mapping[str, Any], show: Callable[[float], str]) -> Cell:
    return Cell(show(line["difference"]), f"{show(line['low'])} to {show(line['high'])}")


def _signatures(scored: Scored) -> str:
    return "; ".join(f"{signature or 'none'} ({rows(number)})" for signature, number in scored.signatures) or "none"
