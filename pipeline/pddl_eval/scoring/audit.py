"""What is doubtful in a dataset before it is scored: damaged lines, repeated rows, swapped columns, wrong references.

Each distinct reference is scored against itself, so a reference is judged by what judges answers. Of the texts nothing
is kept but digests. A dataset of references alone is audited as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa

from pddl_eval.columns import MEANINGS
from pddl_eval.datasets import Input, Source, holds_text, read_rows, rows_of
from pddl_eval.definition.model import Problem
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.definition.pddl import DEFINE_DOMAIN, DEFINE_PROBLEM, read_any_problem, without_comments
from pddl_eval.definition.verdict import PlanVerdict, Verdict
from pddl_eval.run import readable_input
from pddl_eval.scoring.columns import PAIRS, Pair
from pddl_eval.scoring.table import score_table
from pddl_eval.settings import ReadingOptions, RunOptions, grouped
from pddl_eval.shown import line

MOST_NAMED = 5
"""Rows of a kind that are named."""

AT_A_TIME = 256
"""References that are scored together."""

CURES = {
    "damaged line": "mend the line: the reason names what cannot be read",
    "repeated row": "drop it, or number samples in a column sample",
    "columns swapped": "exchange --column reference_…= and --column generated_…=",
    "another kind": "name the column by what it holds: generated_plan, generated_problem, generated_domain",
    "no reference": "add it, or leave the row out: what compares is null",
    "reference cannot be read": "mend the text",
    "reference ill-typed": "mend the types of objects or the domain's declarations",
    "reference cannot be solved": "mend initial state or goal: no plan exists",
    "reference is solved as it is": "ask for something: the goal is true in the initial state",
    "reference plan is not valid": "mend the plan: it does not solve its reference problem",
    "reference beyond the limits": "raise --row-seconds, or leave it out: its rows will be undecided",
    "reference states another one again": "give both one reference_id, or drop one: they count as two questions",
}
"""What mends each kind of doubt, in the order in which they are shown."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """Rows (counted from 0, the first of them named) with one fault: its ``kind`` (of ``CURES``), and an example.

    >>> Doubt("damaged line", 1, (3,), "answers.jsonl:4 is not JSON").cure
    'mend the line: the reason names what cannot be read'
    """

    kind: str
    rows: int
    first: tuple[int, ...]
    example: str

    @property
    def cure(self) -> str:
        return CURES[self.kind]


def audit_dataset(inputs: Input, **settings: Any) -> tuple[int, list[Doubt]]:
    """The number of rows of a dataset that is not scored yet, and what is doubtful in them.

    ``settings`` are those of ``score_dataset``. Raises as that.

    >>> from pathlib import Path
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "references.jsonl")
    ...     _ = file.write_text('{"reference_problem": "(define (problem p)"}')
    ...     rows, doubts = audit_dataset(file)
    >>> rows, doubts[0].kind, doubts[0].first
    (1, 'reference cannot be read', (0,))
    """
    reading, options, _ = grouped(settings, ReadingOptions, ScoringOptions, RunOptions)
    with TemporaryDirectory() as aside, readable_input(inputs, aside, reading, options.columns, keep=False) as source:
        audit = _Audit(source, options)
        for file in source.files:
            for rows in read_rows(file.version, 0, file.rows, source.schema):
                audit.read(rows_of(rows.table), rows.numbers.start, rows.lost)
            audit.start += file.rows
        audit.score()
    order = list(CURES)
    found = [Doubt(kind, rows, tuple(first), said) for kind, (rows, first, said) in audit.found.items()]
    return source.rows, sorted(found, key=lambda each: order.index(each.kind))


class _Audit:
    """Collects doubts, row by row; ``start`` is the number of the first row of the file that is read."""

    def __init__(self, source: Source, options: ScoringOptions) -> None:
        self.found: dict[str, tuple[int, list[int], str]] = {}
        self.start = 0
        self._options = options
        names = {meaning: options.column(meaning) for meaning in MEANINGS}
        self._names = {meaning: name for meaning, name in names.items() if name in source.schema.names}
        self._pairs = [
            pair for pair in PAIRS if any(self._is_text(source, each) for each in (pair.generated, pair.reference))
        ]
        self._known: dict[bytes, int] = {}
        self._references: dict[bytes, tuple[dict[str, str], list[int], str]] = {}
        self._stated: dict[str, tuple[int, str]] = {}

    def _is_text(self, source: Source, meaning: str) -> bool:
        return meaning in self._names and holds_text(source, self._names[meaning])

    def read(self, rows: Iterable[Mapping[str, Any]], start: int, lost: Mapping[int, str]) -> None:
        for number, row in enumerate(rows, start):
            place = self.start + number
            if number in lost:
                self._doubt("damaged line", place, lost[number])
                continue
            digest = _digest(*map(str, row.values()))
            if (first := self._known.setdefault(digest, place)) != place:
                self._doubt("repeated row", place, f"row {place:,} is row {first:,} again, in all columns")
            meant = {meaning: row[name] for meaning, name in self._names.items()}
            for pair in self._pairs:
                self._read_pair(pair, meant, place)
        if len(self._references) >= AT_A_TIME:
            self.score()

    def _read_pair(self, pair: Pair, meant: Mapping[str, Any], place: int) -> None:
        reference, generated = (_text(meant.get(each)) for each in (pair.reference, pair.generated))
        for name, text in ((pair.reference, reference), (pair.generated, generated)):
            if text and pair.name in _FITS and (kind := _kind(text)) not in (None, pair.name):
                self._doubt("another kind", place, f"{self._names[name]} holds a {kind}")
                return
        if pair.name == "problem" and reference and generated and _is_pure(generated) and not _is_pure(reference):
            self._doubt("columns swapped", place, f"{self._names[pair.reference]} has text around the problem")
        if not reference:
            if generated and pair.reference in self._names:
                self._doubt("no reference", place, f"{self._names[pair.reference]} is empty")
            return
        asked = {pair.reference: reference, pair.generated: reference}
        asked |= {each: text for each in pair.compared_with if (text := _text(meant.get(each)))}
        asked |= {"domain": text} if (text := _text(meant.get("domain"))) else {}
        identity = str(meant.get("reference_id") or "")
        _, numbers, _ = self._references.setdefault(_digest(*asked.values()), (asked, [], identity))
        numbers.append(place)

    def score(self) -> None:
        """Score the references that were collected against themselves."""
        by_columns: dict[tuple[str, ...], list[tuple[dict[str, str], list[int], str]]] = {}
        for each in self._references.values():
            by_columns.setdefault(tuple(each[0]), []).append(each)
        options = replace(self._options, columns=None, feedback=False)
        for names, all_ in by_columns.items():
            for some in (all_[start : start + AT_A_TIME] for start in range(0, len(all_), AT_A_TIME)):
                table = pa.table({name: [asked[name] for asked, _, _ in some] for name in names})
                for (asked, numbers, identity), scored in zip(
                    some, score_table(table, options).to_pylist(), strict=True
                ):
                    for kind, said in _faults(asked, scored):
                        self._doubt(kind, numbers[0], said, numbers)
                    self._restated(scored.get("reference_certificate"), numbers, identity)
        self._references.clear()

    def _restated(self, certificate: str | None, numbers: Sequence[int], identity: str) -> None:
        if certificate is not None:
            first, known = self._stated.setdefault(certificate, (numbers[0], identity))
            if first != numbers[0] and (known != identity or not identity):
                said = f"row {numbers[0]:,} states the problem of row {first:,}"
                self._doubt("reference states another one again", numbers[0], said, numbers)

    def _doubt(self, kind: str, place: int, said: str, numbers: Sequence[int] = ()) -> None:
        count, first, example = self.found.get(kind, (0, [], said))
        rows = numbers or [place]
        self.found[kind] = (count + len(rows), [*first, *rows][:MOST_NAMED], example)


def _faults(asked: Mapping[str, str], scored: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What is wrong with a reference that was scored against itself."""
    detail = line(next((scored[name] for name in ("detail", "plan_detail", "domain_detail") if scored.get(name)), ""))
    if said := scored.get("score_error"):
        yield "reference cannot be read", line(said)
        return
    verdicts = [scored.get(name) for name in ("verdict", "domain_verdict", "plan_verdict")]
    if Verdict.REFERENCE_INVALID.value in verdicts:
        is_solved = re.search("no plan|no solution|unsolvable|out of reach|none of the", detail)
        is_typed = re.search("type|declare", detail)
        kind = "cannot be solved" if is_solved else "ill-typed" if is_typed else "cannot be read"
        yield f"reference {kind}", detail
    elif Verdict.UNDECIDED.value in verdicts or ("solvable" in scored and scored["solvable"] is None):
        yield "reference beyond the limits", detail or "whether it can be solved was not decided"
    elif scored.get("solvable") is False:
        yield "reference cannot be solved", detail
    elif scored.get("plan_verdict") not in (None, PlanVerdict.VALID.value):
        yield "reference plan is not valid", detail
    elif text := asked.get("generated_problem"):
        problem = read_any_problem(text.lower())
        if isinstance(problem, Problem) and not problem.conjuncts and problem.goal <= problem.init:
            yield "reference is solved as it is", "the goal is true in the initial state"


_FITS = ("problem", "plan", "domain")


def _kind(text: str) -> str | None:
    """What a text holds: a problem, else a domain; None where it defines neither."""
    lowered = without_comments(text[:100_000].lower())
    found = "problem" if DEFINE_PROBLEM.search(lowered) else None
    return found or ("domain" if DEFINE_DOMAIN.search(lowered) else None)


def _is_pure(text: str) -> bool:
    """True for PDDL and nothing besides."""
    bare = without_comments(text).strip()
    return bool(re.match(r"\(\s*define", bare, re.IGNORECASE)) and bare.endswith(")")


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value.strip() else None


def _digest(*parts: str) -> bytes:
    digest = blake2b(digest_size=16)
    for part in parts:
        known = part.encode("utf-8", "surrogatepass")
        digest.update(f"{len(known)} ".encode() + known)
    return digest.digest()
