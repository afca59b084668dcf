"""Tables through the kernel: Arrow in and out, the columns of many rows at once."""

from __future__ import annotations

import ctypes
import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from pddl_eval import kernel
from pddl_eval.definition.metrics import detail_of, domain_of_problem, only_equal
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.kernel.differences import differences

_SCHEMA_BYTES, _ARRAY_BYTES = 72, 80

Answers: TypeAlias = "tuple[dict[str, pa.Array], pa.Array]"
"""Score columns by name, and the reason why each row was left; null where it was not."""


def score(rows: Mapping[str, pa.ChunkedArray], options: ScoringOptions, *, certificates: bool = True) -> Answers | None:
    """The score columns of pairs of problems, and for each row the reason why it was left, else null.

    ``rows`` maps meanings to columns of equal length; those of a row that was left are null. None where there is no
    kernel, or neither a reference nor a domain. ``certificates`` may be null where nobody reads them.

    >>> held = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"
    >>> column = pa.chunked_array([[held]])
    >>> scored = score({"reference_problem": column, "generated_problem": column}, ScoringOptions())
    >>> scored is None or scored[0]["verdict"].to_pylist() == ["identical"]
    True
    """
    if not kernel.answers_now(options):
        return None
    if "reference_problem" not in rows:
        rows = _alone(rows, options)
        if not rows["domain"].null_count < len(rows["domain"]):
            return None
    try:
        columns = [_texts(rows["reference_problem"]), _texts(rows["generated_problem"]), _truths(rows)]
        columns += _domain(rows, options)
    except pa.ArrowException:  # no texts
        return None
    flags = kernel.flags_of(options) | kernel.NO_CERTIFICATES * (not certificates)
    return _answers(kernel.PROBLEMS, columns, flags, "detail", "; ".join)


def _alone(rows: Mapping[str, pa.ChunkedArray], options: ScoringOptions) -> dict[str, pa.ChunkedArray]:
    """The rows of problems that have no reference, each with the domain that it is for."""
    values = zip(*(column.to_pylist() for column in rows.values()), strict=True)
    domains = [domain_of_problem(dict(zip(rows, row, strict=True)), options) for row in values]
    columns = {"reference_problem": [None] * len(domains), "domain": domains}
    return {**rows, **{name: pa.chunked_array([pa.array(each, pa.string())]) for name, each in columns.items()}}


def score_plans(rows: Mapping[str, pa.ChunkedArray], options: ScoringOptions) -> Answers | None:
    """As ``score``, for pairs of plans; None also where similar steps that are not equal may be matched.

    >>> plans = {"reference_plan": pa.chunked_array([["(a)"]]), "generated_plan": pa.chunked_array([["(a), (b)"]])}
    >>> scored = score_plans(plans, ScoringOptions())
    >>> scored is None or scored[0]["plan_lcs"].to_pylist() == [0.5]
    True
    """
    if not only_equal(options) or options.optimal or not kernel.answers_now(options):
        return None
    try:
        plans = _texts(rows["generated_plan"])
        # Without a column of references no row has one: plans are executed in their problems.
        references = _texts(rows["reference_plan"]) if "reference_plan" in rows else pa.nulls(len(plans), plans.type)
        columns = [references, plans]
        if "reference_problem" in rows:
            columns += [_texts(rows["reference_problem"]), *_domain(rows, options)]
    except pa.ArrowException:
        return None
    return _answers(kernel.PLANS, columns, kernel.flags_of(options), "plan_detail", detail_of)


def score_domains(rows: Mapping[str, pa.ChunkedArray], options: ScoringOptions) -> Answers | None:
    """As ``score``, for pairs of domains.

    >>> domain = pa.chunked_array([["(define (domain d) (:action a :effect (p)))"]])
    >>> scored = score_domains({"reference_domain": domain, "generated_domain": domain}, ScoringOptions())
    >>> scored is None or scored[0]["domain_verdict"].to_pylist() == ["identical"]
    True
    """
    if "reference_domain" not in rows or not kernel.answers_now(options):
        return None
    try:
        # Generated problems say something only beside those of the reference.
        wanted = kernel.DOMAIN_COLUMNS[: 4 if "reference_problem" in rows else 2]
        columns = [_texts(rows[name]) for name in wanted if name in rows]
        if len(columns) == len(kernel.DOMAIN_COLUMNS):
            columns.append(_truths(rows))
    except pa.ArrowException:
        return None
    return _answers(kernel.DOMAINS, columns, kernel.flags_of(options), "domain_detail", detail_of)


def digests(texts: pa.Array) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """A 128-bit digest (BLAKE2b) of each text, or bytes, as two numbers; none is null.

    >>> one, other, same = digests(pa.array([b"a", b"b", b"a"], pa.large_binary())).tolist()
    >>> one == same, one == other
    (True, False)
    """
    found = _scored(kernel.TEXTS, [texts.view(pa.large_string())], 0)
    if found is not None:
        return np.column_stack([half.to_numpy() for half in found.values()]).view(np.uint64)
    hashed = b"".join([hashlib.blake2b(text, digest_size=16).digest() for text in texts.to_pylist()])
    return np.frombuffer(hashed, "<u8").reshape(-1, 2)


def _scored(what: int, columns: Sequence[pa.Array], flags: int) -> dict[str, pa.Array] | None:
    """What the library makes of a batch."""
    batch = pa.StructArray.from_arrays(columns, [str(number) for number in range(len(columns))])
    schemas, arrays = ([ctypes.create_string_buffer(size) for _ in range(2)] for size in (_SCHEMA_BYTES, _ARRAY_BYTES))
    addresses = [
        (ctypes.addressof(schema), ctypes.addressof(array)) for schema, array in zip(schemas, arrays, strict=True)
    ]
    (schema_in, array_in), (schema_out, array_out) = addresses
    batch._export_to_c(array_in, schema_in)  # noqa: SLF001 (the C data interface of pyarrow)
    library = kernel.library()
    if library is None or library.pddl_eval_score(what, flags, schema_in, array_in, schema_out, array_out):
        return None
    scored = pa.Array._import_from_c(array_out, schema_out)  # noqa: SLF001 (as above)
    return dict(zip((field.name for field in scored.type), scored.flatten(), strict=True))


def _answers(
    what: int, columns: Sequence[pa.Array], flags: int, detail: str, joined: Callable[[Iterable[str]], str]
) -> Answers | None:
    """What the library makes of a batch, with its differences in words; a row that no words are known for is left."""
    found = _scored(what, columns, flags)
    if found is None:
        return None
    column = found[detail]
    said = [kernel.in_words(each, joined) for each in differences(column.dictionary)]
    found[detail], left = pa.array(said, pa.string()).take(column.indices), found.pop("left")
    if None in said:
        import pyarrow.compute as pc  # here and below: a first verdict does without it

        left = left.fill_null(pc.if_else(pc.and_not(found[detail].is_null(), column.is_null()), "words", None))
    return found, left


def count_left(left: pa.Array) -> dict[str, int]:
    """How many rows were left, by reason.

    >>> count_left(pa.array([None, "domain"]))
    {'domain': 1}
    """
    return dict(sorted(Counter(left.drop_null().to_pylist()).items()))


def _texts(column: pa.ChunkedArray) -> pa.Array:
    if column.num_chunks == 1 and column.type == pa.string():  # which the kernel takes as it is
        return column.chunk(0)
    return _whole(column, pa.large_string())


def _truths(rows: Mapping[str, pa.ChunkedArray]) -> pa.Array:
    column = rows.get("is_placeholder")
    return pa.nulls(len(rows["reference_problem"]), pa.bool_()) if column is None else _whole(column, pa.bool_())


def _whole(column: pa.ChunkedArray, type_: pa.DataType) -> pa.Array:
    whole = column.cast(type_).combine_chunks()
    return pa.concat_arrays(whole.chunks) if isinstance(whole, pa.ChunkedArray) else whole


def _domain(rows: Mapping[str, pa.ChunkedArray], options: ScoringOptions) -> list[pa.Array]:
    """The name or text of the domain of each row, as ``domain_of`` finds it; no column where no row has any."""
    given = [_texts(rows[name]) for name in ("domain", "reference_domain") if name in rows]
    if not given and not options.domain:
        return []
    import pyarrow.compute as pc

    named = [pc.if_else(pc.equal(column, ""), None, column) for column in given]
    found = pc.coalesce(*named, pa.scalar(options.domain or None, pa.large_string()))
    if isinstance(found, pa.Scalar):
        found = pa.repeat(found, len(rows["reference_problem"]))
    is_text = pc.match_substring(found, "(")
    name = pc.if_else(is_text, None, found)  # Texts, which are long, are not rewritten.
    name = pc.replace_substring(pc.utf8_lower(pc.utf8_trim_whitespace(name)), "_", "-")
    return [pc.if_else(is_text, found, name).cast(pa.large_string())]
