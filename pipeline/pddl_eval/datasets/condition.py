"""Rows of which a condition in SQL is true: those that ``--where`` lets a run score, or a report show.

A condition is an expression on the columns. What polars is given is written anew from tokens that are known here, so
there are no subqueries, table functions, files or comments in it: no such word is known.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from pddl_eval.datasets.columns import together
from pddl_eval.datasets.conversion import GROUP_BYTES, GROUP_ROWS
from pddl_eval.datasets.forms import DAMAGE, Form
from pddl_eval.datasets.inputs import (
    FORMAT,
    INPUT_FOLDER,
    MADE_OF,
    NOTES,
    Make,
    Source,
    Write,
    described,
    made_from,
    open_source,
)
from pddl_eval.datasets.places import DatasetError, Location, locate, new_parquet
from pddl_eval.datasets.rows import column_batches
from pddl_eval.errors import UserError, did_you_mean
from pddl_eval.shown import line

if TYPE_CHECKING:
    import polars as pl

ROW = "pddl_eval.row"
"""The number of a row in its dataset, from 0."""

MAX_CHARACTERS, MAX_OPERATORS, MAX_OPEN = 100_000, 500, 40
"""Of a condition: its length, its operators and keywords (polars takes a second for 1,000), and parentheses at once."""

_TOKEN = re.compile(
    r"""\s*+(?:(?P<text>'(?:[^'\\]|''|\\(?!'))*+')|(?P<quoted>"(?:[^"]|"")++"|`[^`]++`)
    |(?P<number>\d++(?:\.\d++)?+(?:[eE][+-]?\d++)?+(?!\w))|(?P<word>[^\W\d]\w*+)(?!['"])
    |(?P<operator><=|>=|<>|!=|\|\||::|!?~\*?|[=<>+/%]|-(?!-)|(?<!/)\*|[.,()]))""",
    re.VERBOSE,
)

_KEYWORDS = frozenset(
    """and or not in like ilike between is null true false case when then else end cast as distinct rlike
    regexp""".split()  # noqa: SIM905 (a long list)
)
_TYPES = frozenset(
    """int integer bigint smallint tinyint float double real varchar text string boolean bool date time
    timestamp""".split()  # noqa: SIM905 (as above)
)
_FUNCTIONS = frozenset(
    """lower upper initcap length char_length octet_length trim ltrim rtrim left right substr strpos replace reverse
    starts_with ends_with regexp_like concat concat_ws coalesce nullif ifnull if greatest least abs sign ceil floor
    round sqrt pow power mod div exp ln log10 log2 date date_part strftime avg min max sum count median stddev
    variance""".split()  # noqa: SIM905 (as above)
)


def fulfilling(frame: pl.LazyFrame, condition: str, name: object) -> tuple[pl.LazyFrame, int]:
    """The rows of which the condition is true, and how many; ``name`` is what messages call the dataset.

    Raises ``UserError`` where the condition cannot be understood.

    >>> import polars
    >>> fulfilling(polars.LazyFrame({"split": ["test", "train", None]}), "split = 'test'", "the frame")[1]
    1
    """
    import polars as pl  # Workers import this room and read no SQL.

    expression, _ = _read(condition, frame.collect_schema().names(), name)
    try:
        found = frame.filter(expression)
        return found, int(found.select(pl.len()).collect().item())
    except (pl.exceptions.PolarsError, TypeError, ValueError) as error:
        raise _unusable(condition, name, _first_line(error)) from None


def _read(condition: str, columns: Sequence[str], name: object) -> tuple[pl.Expr, list[str]]:
    """The condition with the columns that it asks for; raises ``UserError`` where it is none or one is not there."""
    import polars as pl  # as above

    columns = [each for each in columns if each != ROW]
    try:
        expression = pl.sql_expr(" ".join(_tokens(condition, columns)))
        return expression, list(dict.fromkeys(expression.meta.root_names()))
    except (pl.exceptions.PolarsError, TypeError, ValueError) as error:
        raise _unusable(condition, name, _first_line(error)) from None


def _tokens(condition: str, columns: Sequence[str]) -> Iterator[str]:
    """The tokens of a condition, its columns in quotes; raises ``ValueError`` at one that is not known.

    >>> print(*_tokens("lower(name)='a' and select > 1", ["name", "select"]))
    LOWER ( "name" ) = 'a' AND "select" > 1
    """
    if len(condition) > MAX_CHARACTERS:
        raise ValueError(f"it is longer than {MAX_CHARACTERS:,} characters")
    at = opened = operators = 0
    before = ""
    end = len(condition.rstrip())
    while at < end:
        token = _TOKEN.match(condition, at)
        if token is None:
            raise ValueError(f"it cannot be understood from {condition[at : at + 20].strip()!r} on")
        at = token.end()
        shown = token[0].strip()
        is_called = condition[at:].lstrip()[:1] == "("
        opened += (shown == "(") - (shown == ")")
        operators += token.lastgroup == "operator" and shown not in ",()"
        if token["word"]:
            shown, keyword = _word(shown, before, is_called, condition[at:].lstrip()[:1], columns)
            operators += keyword
        elif token["quoted"]:
            column = shown[1:-1].replace('""', '"') if shown[0] == '"' else shown[1:-1]
            if is_called or (before != "." and column not in columns):
                raise _unknown(shown, column, is_called, columns)
            shown = _in_quotes(column)
        elif shown == "*" and before in ("", *"(,=<>.*/+-%"):
            raise ValueError("`*` stands between two numbers")
        if operators > MAX_OPERATORS or opened > MAX_OPEN:
            raise ValueError(
                f"it has more than {MAX_OPERATORS} operators, or {MAX_OPEN} open parentheses: IN (…) takes a list"
            )
        yield shown
        before = shown


def _word(word: str, before: str, is_called: bool, following: str, columns: Sequence[str]) -> tuple[str, bool]:
    """What a word without quotes is written as, and whether it is a keyword: a column, a function, a type."""
    low, high = word.lower(), word.upper()
    if low in _KEYWORDS or (low == "from" and before == "DISTINCT"):
        return high, True
    if low in _FUNCTIONS and is_called:
        return high, False
    if low in _TYPES and (before in ("AS", "::") or following == "'"):
        return high, False
    if not is_called and (word in columns or before == "."):
        return _in_quotes(word), False
    raise _unknown(word, word, is_called, columns)


def _unknown(shown: str, name: str, is_called: bool, columns: Sequence[str]) -> ValueError:
    if is_called:
        return ValueError(
            f"{shown} is no function of a condition; {did_you_mean(name, sorted(_FUNCTIONS), 'functions')}"
        )
    return ValueError(f"there is no column {line(name)}; {did_you_mean(name, columns, 'columns')}")


def _in_quotes(name: str) -> str:
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def _first_line(error: Exception) -> str:
    """What is wrong, without the plan of a query that polars adds."""
    return next(iter(str(error).splitlines()), "")


def _unusable(condition: str, name: object, why: str) -> UserError:
    return UserError(f"--where {line(condition)!r} cannot be used on {name}: {line(why)}")


def only_where(make: Make, condition: str) -> Make:
    """As ``make``, but the file has only the rows of which the condition is true."""

    def write_chosen(write: Write, place: Location, made_of: Mapping[str, Any]) -> None:
        with TemporaryDirectory(prefix="pddl-eval-") as aside:
            whole = locate(aside) / INPUT_FOLDER / "rows"
            write(whole, made_of)
            _copy(open_source(str(whole)), condition, place, made_of)

    def chosen(original: Source | None, made_of: Mapping[str, Any], write: Write) -> Location:
        return make(original, {**made_of, "where": condition}, lambda *to: write_chosen(write, *to))

    return chosen


def parquet_where(found: Source, make: Make, condition: str) -> Source:
    """The rows of an input in Parquet of which the condition is true, in a file that ``make`` keeps."""
    made_of = {"format": FORMAT, "where": condition, "rows": described(found)}
    return made_from(found, make(found, made_of, lambda place, told: _copy(found, condition, place, told)))


def _copy(source: Source, condition: str, place: Location, made_of: Mapping[str, Any]) -> None:
    """Write the rows of which the condition is true; a damaged line, of which nothing is known, stays and is named."""
    import polars as pl  # as above

    schema, total = source.schema, source.rows
    if source.form is not Form.PARQUET:
        schema = schema.append(pa.field(DAMAGE, pa.string()))
        source = replace(source, schema=schema)
    names = _read(condition, schema.names, "the input")[1] or schema.names[:1]
    names += [DAMAGE] if DAMAGE in schema.names else []
    frame = pl.concat([pl.DataFrame(batch) for batch in column_batches(source, names)]).with_row_index(ROW)
    found, rows = fulfilling(frame.lazy(), condition, "the input")
    if not rows:
        raise DatasetError(f"--where {line(condition)!r} is true of no row.")
    damaged = pl.col(DAMAGE).is_not_null() if DAMAGE in names else False
    mask = frame.select(pl.col(ROW).is_in(found.select(ROW).collect()[ROW].implode()) | damaged)[ROW].to_arrow()

    def kept() -> Iterator[pa.RecordBatch]:
        first = 0
        for batch in column_batches(source, schema.names, GROUP_ROWS):
            yield batch.filter(mask.slice(first, batch.num_rows))
            first += batch.num_rows

    with new_parquet(place, schema) as writer:
        for some in together(kept(), GROUP_ROWS, GROUP_BYTES):
            writer.write_table(pa.Table.from_batches(some, schema))
        notes = [*source.notes, f"{rows:,} of {total:,} rows are scored, those with {line(condition)}"]
        writer.add_key_value_metadata({MADE_OF: json.dumps(made_of), NOTES: json.dumps(notes)})
