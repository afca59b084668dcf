"""Reads a dataset's problems batch by batch and numbers the distinct texts, so that each is looked at once.

Of the texts themselves nothing is kept but a digest: memory grows by a few hundred bytes a distinct text and a few
bytes a row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from pddl_eval.dedupe.certify import ProblemText
from pddl_eval.run import Source, column_batches

if TYPE_CHECKING:
    import polars

TEXT = "text"
"""In the frames of this room: the number of a row's text, null where the row has none."""


@dataclass(frozen=True, slots=True)
class Columns:
    """Which columns hold the problems and their domains, and which further ones are to be kept."""

    problem: str
    domain: str | None = None
    kept: Sequence[str] = ()

    @property
    def read(self) -> list[str]:
        return list(dict.fromkeys([self.problem, *([self.domain] if self.domain else []), *self.kept]))


@dataclass(slots=True)
class DistinctTexts:
    """Numbers distinct problems (text and domain) in the order in which they are first seen."""

    default_domain: str | None = None
    _numbers: dict[bytes, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self._numbers)

    def read(self, source: Source, columns: Columns, frames: list[polars.DataFrame]) -> Iterator[ProblemText]:
        """Yield the problems that are new; append to ``frames``, batch by batch, text numbers and kept columns.

        Raises ``DatasetError`` where a file cannot be read.
        """
        frames.append(_frame([], pa.RecordBatch.from_pylist([], source.schema), columns))
        for batch in column_batches(source, columns.read):
            texts = batch.column(columns.problem).to_pylist()
            domains = batch.column(columns.domain).to_pylist() if columns.domain else [None] * len(texts)
            numbers: list[int | None] = []
            for text, domain in zip(texts, domains, strict=True):
                if not text or text.isspace():
                    numbers.append(None)
                    continue
                problem = ProblemText(text, domain or self.default_domain)
                known = len(self._numbers)
                numbers.append(self._numbers.setdefault(_digest(problem), known))
                if len(self._numbers) > known:
                    yield problem
            frames.append(_frame(numbers, batch, columns))


def _frame(numbers: list[int | None], batch: pa.RecordBatch, columns: Columns) -> polars.DataFrame:
    import polars

    kept: dict[str, Any] = {name: polars.from_arrow(batch.column(name)) for name in columns.kept}
    return polars.DataFrame({TEXT: polars.Series(numbers, dtype=polars.UInt32), **kept})


def _digest(problem: ProblemText) -> bytes:
    return blake2b(f"{problem.domain or ''}\0{problem.text}".encode("utf-8", "replace"), digest_size=16).digest()
