"""Verification of a scored folder: the folder is checked by ``run``, and rows of it are scored again."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from math import inf
from typing import Any

import pyarrow as pa

from pddl_eval.datasets import locate
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.errors import UserError
from pddl_eval.run import Drawn, Finding, Verification, check_folder
from pddl_eval.scoring.record import compare_record
from pddl_eval.scoring.scorer import pair_scorer
from pddl_eval.scoring.table import SCORE_MICROS
from pddl_eval.settings import ROWS_AGAIN, SHARD_ROWS, setting_of
from pddl_eval.shown import shorten
from pddl_eval.version import without_version

SHOWN_CHARACTERS = 100
"""Of a score in a finding."""


def verify_dataset(
    output: str | os.PathLike[str],
    *,
    rows: int = ROWS_AGAIN,
    seed: int = 0,
    repair: bool = False,
    record: str | os.PathLike[str] | None = None,
) -> Verification:
    """Check the folder that ``score_dataset`` has written, and score some of its rows again.

    * each row of the input is there, once, and no other Parquet file;
    * every page agrees with its checksum, and the columns and the signature are those that the run announced;
    * killed processes have left nothing, and the summary counts what the partitions count;
    * ``rows`` rows, drawn from all by ``seed``, are scored again from their own columns: every score but the time is
      the same.

    ``record`` is a file of ``record.save_record``: a folder in which nothing else is wrong is held against it, column
    by column. ``repair`` first removes what is proven damaged, doubled or left over. Raises ``DatasetError`` where the
    folder is not that of a run, or one that is to be repaired is held by another process, and ``Unavailable`` where
    something cannot be read now.

    >>> verify_dataset("/no/such/folder")
    Traceback (most recent call last):
    pddl_eval.datasets.places.DatasetError: /no/such/folder is not the output of a run: it has no _pddl_eval_run.json.
    """
    if rows < 0:
        raise UserError(f"The number of rows to score again cannot be {rows}.")
    found, drawn = check_folder(locate(output), rows, seed, repair=repair)
    findings, notes = list(found.findings), list[str]()
    again, slow = 0, 0
    if drawn.rows is not None:
        try:
            again, slow, differences, ours = _score_again(drawn)
            findings += differences
            if without_version(found.signature) != without_version(ours):
                notes.append(f"scored by another program than this one, which signs {ours}")
        except (UserError, TypeError, KeyError) as error:
            findings.append(
                Finding("signature", found.signature, f"this program cannot score as that one did: {error}")
            )
    if rows and found.rows and not again and not findings:
        findings.append(Finding("score", found.output, "none of the rows that were drawn could be compared"))
    if record is not None and not findings:
        findings += compare_record(output, record)
    return replace(
        found,
        rows_again=again,
        rows_set_aside=found.rows_set_aside + slow,
        findings=tuple(findings),
        notes=tuple(notes),
        command=_command(drawn.manifest, os.fspath(output)),
    )


def _score_again(drawn: Drawn) -> tuple[int, int, list[Finding], str]:
    """How many rows were compared, how many were too slow for that, the differences, this program's signature."""
    before = drawn.rows
    assert before is not None
    options = ScoringOptions(**drawn.manifest["settings"])
    scorer = pair_scorer(options)
    given = _given(before.schema, drawn.manifest["schema"])
    expected = scorer.output_schema(given)
    if expected.names != before.schema.names:
        raise UserError("its score columns are other ones")
    now = pa.concat_tables([scorer.score(part, inf) for part in _pieces(before.select(given.names))])
    slow = _slow(before, now, options.row_seconds)
    findings: dict[int, Finding] = {}
    for name in expected.names[len(given) :]:
        pairs = zip(before[name].to_pylist(), now[name].to_pylist(), strict=True) if name != SCORE_MICROS else ()
        for row, (was, is_) in enumerate(pairs):
            if was != is_ and not (was != was and is_ != is_):  # NaN equals NaN.
                said = (shorten(str(each), SHOWN_CHARACTERS) for each in (was, is_))
                findings.setdefault(row, Finding("score", drawn.labels[row], "{} was {} and is {}".format(name, *said)))
    aside = [row for row in findings if row in slow]
    differences = [finding for row, finding in sorted(findings.items()) if row not in slow]
    signature = scorer.signature + (scorer.constants_signed(given) if scorer.constants_signed else "")
    return before.num_rows - len(aside), len(aside), differences, signature


def _given(schema: pa.Schema, said: str) -> pa.Schema:
    """The columns of the input: as many of the first ones as the manifest describes."""
    for number in range(len(schema), -1, -1):
        given = pa.schema(list(schema)[:number])
        if given.to_string(show_schema_metadata=False, show_field_metadata=False) == said:
            return given
    raise UserError("the columns of its input are not those that the manifest describes")


def _pieces(table: pa.Table) -> Iterator[pa.Table]:
    return (table.slice(first, SHARD_ROWS) for first in range(0, table.num_rows, SHARD_ROWS))


def _slow(before: pa.Table, now: pa.Table, seconds: float) -> set[int]:
    """The rows that a limit of time may have decided, then or now: it is of processor time, which is less."""
    micros = zip(before[SCORE_MICROS].to_pylist(), now[SCORE_MICROS].to_pylist(), strict=True)
    return {row for row, each in enumerate(micros) if max(took or 0 for took in each) >= seconds * 1e6}


def _command(manifest: Mapping[str, Any], output: str) -> str | None:
    """The command that makes the run, if it can be said in one line."""
    place, names = manifest.get("place"), [str(file["name"]) for file in manifest["files"]]
    if not place or len(names) > 1 or "made_of" in manifest:
        return None
    words = ["pddl-eval", "score", f"{place}/{names[0]}", output]
    settings = manifest["settings"]
    for each in fields(ScoringOptions):
        value, flag = settings.get(each.name, each.default), setting_of(each).flag
        if each.name == "columns":
            words += [word for pair in (value or {}).items() for word in (flag, "=".join(pair))]
        elif value != each.default:
            if not flag or "\n" in str(value) or "(" in str(value):
                return None
            yes, _, no = flag.partition("/")
            words += [yes if value else no] if isinstance(value, bool) else [flag, str(value)]
    if "rows_per_file" in manifest:
        words += ["--rows-per-file", str(manifest["rows_per_file"])]
    return shlex.join(words)
