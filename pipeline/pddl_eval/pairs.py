"""Which pairs a dataset has: problems, plans, domains, each with the column of what it is held against."""

from __future__ import annotations

import pyarrow as pa

from pddl_eval.columns import SCORED
from pddl_eval.definition.metrics import PAIRS, Pair
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.errors import UserError, did_you_mean

LOG_COLUMNS = {"lm-eval": ("doc_id", "resps"), "openai": ("custom_id", "response"), "inspect": ("eval", "samples")}
"""Columns that the logs of a harness have where they are read as if they were datasets."""


class ColumnError(UserError):
    """The dataset's columns do not fit; the message says which and what would be right."""


def pairs_present(schema: pa.Schema, options: ScoringOptions) -> list[Pair]:
    """The pairs of which the dataset has the generated column, and what a plan is held against.

    Raises ``ColumnError`` where there is none.
    """
    for meaning, name in (options.columns or {}).items():
        if name not in schema.names:
            raise ColumnError(f"there is no column {name} for {meaning}; {did_you_mean(name, schema.names, 'columns')}")
    meanings = {meaning for meaning in SCORED if options.column(meaning) in schema.names}
    if present := [pair.asked(options) for pair in PAIRS if pair.is_among(meanings)]:
        return present
    names = {pair: (options.column(pair.reference), options.column(pair.generated)) for pair in PAIRS}
    others = [name for name in schema.names if name not in set().union(*names.values())]
    for pair, sides in names.items():
        there, absent = sorted(sides, key=lambda name: name not in schema.names)
        if there in schema.names:
            wanted = " or ".join(pair.compared_with) if pair.generated in meanings else absent
            raise ColumnError(
                f"there is a column {there} but no {wanted}; {did_you_mean(absent, others, 'other columns')}; "
                f"name the column: --column {absent}=NAME, in Python columns={{{absent!r}: NAME}}"
            )
    wanted = " or ".join(generated for _, generated in names.values())
    name = "; name yours: --column generated_problem=NAME, in Python columns={'generated_problem': NAME}"
    raise ColumnError(
        f"no column to score: expected {wanted}; found {', '.join(schema.names) or 'none'}{log_hint(schema) or name}"
    )


def held_against(pair: Pair, schema: pa.Schema, options: ScoringOptions) -> list[str]:
    """The columns of the dataset that generated values of the pair are held against: references, problems to solve."""
    return [name for name in map(options.column, pair.compared_with) if name in schema.names]


def log_hint(schema: pa.Schema) -> str:
    """What to do with the log of a harness, as the end of a sentence; empty where it looks like none."""
    found = [name for name, columns in LOG_COLUMNS.items() if {*columns} <= {*schema.names}]
    return f"; this looks like a log of {found[0]}: --from {found[0]}" if found else ""
