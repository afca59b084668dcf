"""The output schema: which score columns a dataset gets, and what is wrong with a dataset that cannot get any."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches

import pyarrow as pa

from pddl_eval.errors import UserError
from pddl_eval.options import ScoringOptions


class ColumnError(UserError):
    """The dataset's columns do not fit; the message says which and what would be right."""


@dataclass(frozen=True, slots=True)
class PairKind:
    """A pair of columns that is scored where both are present, and the columns that its scores fill."""

    name: str
    fields: tuple[pa.Field, ...]

    @property
    def reference(self) -> str:
        return f"reference_{self.name}"

    @property
    def generated(self) -> str:
        return f"generated_{self.name}"


def _fields(type_: pa.DataType, *names: str) -> tuple[pa.Field, ...]:
    return tuple(pa.field(name, type_) for name in names)


_ASPECTS = (
    "",
    "_preconditions_positive",
    "_preconditions_negative",
    "_effects_positive",
    "_effects_negative",
)

PROBLEM = PairKind(
    "problem",
    _fields(pa.bool_(), "parseable", "solvable", "equivalent", "equivalent_untyped")
    + _fields(pa.string(), "verdict", "detail", "certificate"),
)
PLAN = PairKind(
    "plan",
    _fields(pa.float64(), "plan_lcs", "plan_jaccard", "plan_score", "plan_precision", "plan_recall")
    + _fields(pa.int64(), "plan_length", "reference_plan_length")
    + _fields(pa.float64(), "action_distance")
    + _fields(pa.bool_(), "plan_valid", "goal_reached")
    + _fields(pa.int64(), "first_failed_step")
    + _fields(pa.float64(), "state_distance", "causal_distance")
    + _fields(pa.string(), "plan_detail"),
)
DOMAIN = PairKind(
    "domain",
    _fields(pa.float64(), *(f"domain_{score}{aspect}" for aspect in _ASPECTS for score in ("precision", "recall")))
    + _fields(pa.string(), "domain_detail"),
)
KINDS = (PROBLEM, PLAN, DOMAIN)

ROW_FIELDS = (pa.field("score_error", pa.string()), pa.field("score_micros", pa.int64()))
"""Null or why the row could not be scored; the time spent on the row in microseconds."""


def pairs_present(schema: pa.Schema, settings: ScoringOptions) -> list[PairKind]:
    """The pairs of columns that the dataset has.

    Raises ``ColumnError`` where there is none, or where only one side of a pair is there.
    """
    present = [
        kind
        for kind in KINDS
        if settings.column(kind.reference) in schema.names and settings.column(kind.generated) in schema.names
    ]
    for meaning, name in settings.columns.items():
        if name not in schema.names:
            raise ColumnError(f"there is no column {name} for {meaning}{_nearest(name, schema.names)}")
    if not present:
        wanted = " or ".join(
            f"{settings.column(kind.reference)} and {settings.column(kind.generated)}" for kind in KINDS
        )
        one_sided = next(
            (
                (settings.column(there), settings.column(absent))
                for kind in KINDS
                for there, absent in ((kind.reference, kind.generated), (kind.generated, kind.reference))
                if settings.column(there) in schema.names
            ),
            None,
        )
        if one_sided is not None:
            there, absent = one_sided
            raise ColumnError(
                f"there is a column {there} but no {absent}{_nearest(absent, schema.names)}; "
                f"say which one it is: --column {absent}=NAME, in Python columns={{{absent!r}: NAME}}"
            )
        raise ColumnError(f"no pair of columns to score: wanted {wanted}; found {', '.join(schema.names) or 'none'}")
    return present


def score_schema(schema: pa.Schema, settings: ScoringOptions) -> pa.Schema:
    """The schema of the scored dataset: all columns of the input, then the score columns.

    Raises ``ColumnError``: no pair of columns present, a column of the wrong type, a score column's name already taken.

    >>> text = pa.schema([("reference_plan", pa.string()), ("generated_plan", pa.string())])
    >>> score_schema(text, ScoringOptions()).names[2:5]
    ['plan_lcs', 'plan_jaccard', 'plan_score']
    """
    present = pairs_present(schema, settings)
    texts = [name for kind in present for name in (kind.reference, kind.generated)] + ["domain"]
    for meaning in texts:
        name = settings.column(meaning)
        if name in schema.names and not _is_text(schema.field(name).type):
            raise ColumnError(f"column {name} should hold text, but its type is {schema.field(name).type}")
    placeholder = settings.column("is_placeholder")
    if placeholder in schema.names and schema.field(placeholder).type not in (pa.bool_(), pa.null()):
        raise ColumnError(f"column {placeholder} should be boolean, but its type is {schema.field(placeholder).type}")
    added = [field for kind in present for field in kind.fields] + list(ROW_FIELDS)
    taken = [field.name for field in added if field.name in schema.names]
    if taken:
        raise ColumnError(
            f"the input already has the score column{'s' if len(taken) > 1 else ''} {', '.join(taken)}: "
            "it seems scored already; drop or rename them first, or use `pddl-eval rescore`"
        )
    return pa.schema([*schema, *added], metadata=schema.metadata)


def _is_text(type_: pa.DataType) -> bool:
    if pa.types.is_dictionary(type_):
        type_ = type_.value_type
    return bool(
        pa.types.is_string(type_)
        or pa.types.is_large_string(type_)
        or pa.types.is_string_view(type_)
        or pa.types.is_null(type_)
    )


def _nearest(name: str, names: list[str]) -> str:
    close = get_close_matches(name, names, n=1)
    return f"; did you mean {close[0]}?" if close else f"; the columns are {', '.join(names)}"
