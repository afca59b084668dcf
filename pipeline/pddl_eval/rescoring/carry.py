"""A scorer that looks for each row's content in an index of earlier scores, and scores what is not there."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from pddl_eval.dataset.locations import Location
from pddl_eval.dataset.work import CARRIED_KEY
from pddl_eval.rescoring.content import content_keys
from pddl_eval.rescoring.index import look_up
from pddl_eval.run import PairScorer


@dataclass(frozen=True, slots=True)
class CarryingScorer:
    """``scorer`` for the rows whose content the ``index`` does not know; to the run, it is that scorer."""

    scorer: PairScorer
    index: tuple[Location, ...]

    @property
    def signature(self) -> str:
        return self.scorer.signature

    @property
    def settings(self) -> dict[str, object]:
        return self.scorer.settings

    @property
    def counted(self) -> tuple[str, ...]:
        return self.scorer.counted

    def output_schema(self, schema: pa.Schema) -> pa.Schema:
        return self.scorer.output_schema(schema)

    def __call__(self, table: pa.Table) -> pa.Table:
        import numpy as np

        found, carried = look_up(self.index, content_keys(table, self.scorer.options))
        schema = self.output_schema(table.schema)
        names = schema.names[len(table.schema) :]
        unknown = np.ones(table.num_rows, dtype=bool)
        unknown[found] = False
        scores = [carried.select(names)]
        if unknown.any():
            scores.append(self.scorer(table.filter(unknown)).select(names))
        order = np.argsort(np.concatenate([found, np.flatnonzero(unknown)]))
        together = pa.concat_tables(scores).take(order)
        scored = pa.table([*table.columns, *together.columns], schema=schema)
        return scored.replace_schema_metadata({CARRIED_KEY: str(len(found))})
