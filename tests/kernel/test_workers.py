"""Workers with the kernel and workers without it in one run: their scores are the same."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pddl_eval import kernel
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.scoring.scorer import pair_scorer
from pddl_eval.settings import RunOptions

from tests.support.differential import needs_kernel
from tests.support.length_scorer import run_scorer
from tests.support.parquet_files import read_output
from tests.support.sample import sample_table

ROWS, SHARD_ROWS = 12, 3

pytestmark = needs_kernel


def score_half_without(table: pa.Table, until: float, score: Callable[[pa.Table, float], pa.Table]) -> pa.Table:
    """Every second shard as a worker scores it that has no kernel."""
    without = table["n"][0].as_py() // SHARD_ROWS % 2
    before = os.environ.get(kernel.VARIABLE)
    os.environ[kernel.VARIABLE] = "off" if without else "must"
    kernel.library.cache_clear()
    try:
        return score(table, until)
    finally:
        os.environ[kernel.VARIABLE] = before or "auto"
        kernel.library.cache_clear()


@pytest.mark.parametrize("engine", ["local", pytest.param("ray", marks=pytest.mark.slow)])
def test_half_of_the_shards_without_the_kernel(engine: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    if engine == "ray":
        request.getfixturevalue("ray_session")
    table = sample_table().slice(0, ROWS)
    pq.write_table(table.append_column("n", pa.array(range(ROWS))), tmp_path / "pairs.parquet")
    scorer = pair_scorer(ScoringOptions())
    mixed = replace(scorer, score=partial(score_half_without, score=scorer.score))
    options = RunOptions(engine=engine, shard_rows=SHARD_ROWS, workers=2)
    found = run_scorer(tmp_path / "pairs.parquet", tmp_path / "half", mixed, options)
    assert found.statistics["kernel"]["rows"] == ROWS / 2
    alone = RunOptions(engine="local", workers=1)
    assert run_scorer(tmp_path / "pairs.parquet", tmp_path / "all", scorer, alone).statistics["kernel"]["rows"] == ROWS
    # Which plan is found beyond enumeration, only the kernel says.
    apart = ["score_micros", "domain_plan_valid", "domain_detail"]
    ours, theirs = (read_output(tmp_path / name).drop_columns(apart) for name in ("all", "half"))
    assert ours.equals(theirs)
