"""Single values or whole columns of references and generated values, as users hold them, into pairs.

A polars or pandas series, a numpy array and a pyarrow array are columns whatever they hold; of a list or tuple, its
caller knows whether it is a column or one value. A single reference stands for every generated value of a column.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pddl_eval.errors import UserError


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
            return [None if _is_missing(item) else item for item in getattr(value, method)()]
    if isinstance(value, (list, tuple)) and not is_one_value(value):
        return [None if _is_missing(item) else item for item in value]
    return None


def pair_up(
    reference: Any, references: list[Any] | None, generated: list[Any], what: str, hint: str = ""
) -> list[tuple[Any, Any]]:
    """Each generated value with its reference: its own of the column, or the single one.

    Raises ``UserError`` where the columns' lengths differ; ``what`` they hold and a ``hint`` belong to the message.

    >>> pair_up("(a)", None, ["(a)", "(b)"], "plans")
    [('(a)', '(a)'), ('(a)', '(b)')]
    """
    if references is None:
        return [(reference, value) for value in generated]
    if len(references) != len(generated):
        raise UserError(f"{len(references)} reference {what} do not pair up with {len(generated)} generated ones{hint}")
    return list(zip(references, generated, strict=True))


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float) and value != value
