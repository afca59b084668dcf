"""Single values or whole columns of references and generated values, as users hold them, into pairs; their scores.

A polars or pandas series, a numpy array and a pyarrow array are always columns; a list or tuple is a column unless the
caller says that it is one value. A single reference serves every generated value of a column.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, Protocol, TypeVar

from pddl_eval.definition.metrics import Pair
from pddl_eval.errors import UserError
from pddl_eval.shown import labelled

Value = TypeVar("Value", covariant=True)


class _Arrow(Protocol[Value]):
    def to_pylist(self) -> Sequence[Value]: ...


class _Series(Protocol[Value]):
    def to_list(self) -> Sequence[Value]: ...


class _Array(Protocol):
    def tolist(self) -> Any: ...


Values = Sequence[Value] | _Arrow[Value] | _Series[Value] | _Array
"""A list or tuple, a pyarrow array, a polars or pandas series, a numpy array."""


def as_column(value: Any, is_one_value: Callable[[Any], bool] = lambda _: False) -> list[Any] | None:
    """The values of a column, missing ones (None, NaN, NA) as None; None where this is a single value.

    ``is_one_value`` says of a list or tuple that it is no column.

    >>> as_column(("a", float("nan"))), as_column("a")
    (['a', None], None)
    """
    if isinstance(value, str):  # numpy's strings have a `tolist` too
        return None
    for method in ("to_pylist", "to_list", "tolist"):  # pyarrow, polars and pandas, numpy
        if hasattr(value, method):
            items = getattr(value, method)()
            # A scalar of numpy has a `tolist` too, which is its value.
            return [None if _is_missing(item) else item for item in items] if isinstance(items, list) else None
    if isinstance(value, (list, tuple)) and not is_one_value(value):
        return [None if _is_missing(item) else item for item in value]
    return None


def pair_up(
    reference: Any, generated: Any, what: str, is_one_value: Callable[[Any], bool] = lambda _: False
) -> tuple[list[tuple[Any, Any]], bool]:
    """Each generated value with its reference, its own or the single one; and whether these are columns.

    Beside a column an empty list is an empty column. Raises ``UserError``, which says ``what`` the columns hold, where
    they differ in length or only the reference is a column.

    >>> pair_up("(a)", ["(a)", "(b)"], "plans")
    ([('(a)', '(a)'), ('(a)', '(b)')], True)
    """
    references, column = as_column(reference, is_one_value), as_column(generated, is_one_value)
    if references is None and column is None:
        return [(reference, generated)], False
    if column is None:
        if not _is_empty(generated):
            raise UserError(f"a column of reference {what} needs a column of generated {what}")
        column = []
    if references is None:
        references = [] if _is_empty(reference) else [reference] * len(column)
    if len(references) != len(column):
        raise UserError(f"{len(references)} reference {what} do not pair up with {len(column)} generated ones")
    return list(zip(references, column, strict=True)), True


def _is_empty(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and not value


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float) and value != value


class Scores(SimpleNamespace):
    """The scores of one pair as attributes named like their columns, and ``detail``: what went wrong, if anything."""

    def __init__(self, kind: Pair, pair: Any, known: Mapping[str, Any] | None = None) -> None:
        """``known``: the columns, where they are known already."""
        super().__init__(**({each.name: known[each.name] for each in kind.columns} if known else kind.scores(pair)))
        self.detail: str = known[f"{kind.name}_detail"] or "" if known else pair.detail

    def __str__(self) -> str:
        """A line for each column that is known."""
        columns = [*vars(self)]
        known = ((name, vars(self)[name]) for name in columns[: columns.index("detail")])
        return labelled(
            [
                (name, f"{value:.3g}" if type(value) is float else str(value))
                for name, value in known
                if value is not None
            ]
        )
