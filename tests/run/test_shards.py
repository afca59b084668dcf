"""An input is divided into shards by its rows alone, and every row is in exactly one of them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, pairwise

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from pddl_eval.datasets import FileVersion, InputFile, Location, RowGroup, Source
from pddl_eval.run.shards import SHARD_BYTES, Shard, disjoint, plan_shards, shards_named
from pddl_eval.settings import SHARD_ROWS

row_groups = st.lists(st.builds(RowGroup, st.integers(0, 50), st.integers(0, 10**9)), max_size=12)


def described(*files: list[RowGroup]) -> Source:
    files_of = tuple(
        InputFile(FileVersion(Location(f"/in/{i}.parquet"), ""), f"{i}.parquet", 1, tuple(groups))
        for i, groups in enumerate(files)
    )
    return Source(Location("/in"), (), files_of, None)


@given(st.lists(row_groups, min_size=1, max_size=3), st.integers(1, 60))
def test_every_row_is_in_exactly_one_shard(files: list[list[RowGroup]], shard_rows: int) -> None:
    planned = plan_shards(described(*files), shard_rows)
    for number, groups in enumerate(files):
        mine = [shard for shard in planned if shard.file.location.path == f"/in/{number}.parquet"]
        covered = [row for shard in mine for row in range(shard.start, shard.stop)]
        assert covered == list(range(sum(group.rows for group in groups)))
        assert mine, "an empty file keeps its schema in an empty shard"
    assert all(shard.rows <= shard_rows for shard in planned)
    assert len({shard.name for shard in planned}) == len(planned)


@given(row_groups, st.integers(1, 60), st.lists(st.tuples(st.integers(0, 600), st.integers(1, 90)), max_size=4))
def test_what_is_planned_is_what_others_leave(
    groups: list[RowGroup], shard_rows: int, others: list[tuple[int, int]]
) -> None:
    rows = sum(group.rows for group in groups)
    done = sorted((start, min(rows, start + count)) for start, count in others if start < rows)
    planned = plan_shards(described(groups), shard_rows, {"0": done})
    covered = {row for start, stop in done for row in range(start, stop)}
    rest = [row for shard in planned for row in range(shard.start, shard.stop)]
    assert rest == [row for row in range(rows) if row not in covered]


@given(row_groups, st.integers(1, 60))
def test_a_shard_is_whole_row_groups_or_lies_in_one(groups: list[RowGroup], shard_rows: int) -> None:
    bounds = [0]
    for group in groups:
        bounds.append(bounds[-1] + group.rows)
    for shard in plan_shards(described(groups), shard_rows):
        whole = shard.start in bounds and shard.stop in bounds
        inside = any(low <= shard.start and shard.stop <= high for low, high in pairwise(bounds))
        assert whole or inside


def test_small_row_groups_are_joined_and_a_large_one_is_cut() -> None:
    groups = [RowGroup(3, 1), RowGroup(3, 1), RowGroup(25, 1), RowGroup(2, 1)]
    assert [(shard.start, shard.stop) for shard in plan_shards(described(groups), 10)] == [
        (0, 6),
        (6, 16),
        (16, 26),
        (26, 31),
        (31, 33),
    ]


def test_long_rows_make_shorter_shards() -> None:
    quarter = SHARD_BYTES // 4
    heavy = [RowGroup(1, quarter)] * 5
    assert [shard.rows for shard in plan_shards(described(heavy), SHARD_ROWS)] == [4, 1]
    assert [shard.rows for shard in plan_shards(described([RowGroup(5, 5 * quarter)]), SHARD_ROWS)] == [4, 1]


class Walked(tuple[RowGroup, ...]):
    """Row groups that count how often somebody goes through all of them."""

    times = 0

    def __iter__(self) -> Iterator[RowGroup]:
        Walked.times += 1
        return super().__iter__()


def test_partitions_are_found_in_one_walk_over_the_row_groups_however_many_there_are() -> None:
    groups = Walked([RowGroup(SHARD_ROWS, 1000)] * 50)
    file = InputFile(FileVersion(Location("/pairs.parquet"), ""), "pairs.parquet", 1, groups)
    source = Source(Location("/"), (), (file,), pa.schema([]))
    shards = plan_shards(source, SHARD_ROWS)
    Walked.times = 0
    assert shards_named(source, [shard.name for shard in shards]) == list(shards)
    assert (len(shards), Walked.times) == (50, 1)


def test_names_say_what_is_covered_and_sort_by_it() -> None:
    names = [shard.name for shard in plan_shards(described([RowGroup(25, 1)]), 10)]
    assert names == sorted(names)
    assert names[1] == "0-000000000010-000000000020.parquet"


@given(st.sets(st.tuples(st.integers(0, 8), st.integers(1, 4), st.integers(1, 3)), max_size=7))
def test_of_overlapping_partitions_those_with_the_most_rows_count_then_those_of_newer_claims(
    ranges: set[tuple[int, int, int]],
) -> None:
    """So where some of them tile the file, some that tile it count, whichever was written late."""
    file = described([RowGroup(12, 1)]).files[0].version
    claims = {Shard("0", file, start, start + rows): claim for start, rows, claim in ranges}
    shards = sorted(claims, key=lambda shard: (shard.start, -shard.stop))

    def worth(some: list[Shard]) -> tuple[int, int]:
        rows = [row for shard in some for row in range(shard.start, shard.stop)]
        return len(rows), sum(shard.rows * claims[shard] for shard in some) if len({*rows}) == len(rows) else -1

    choices = (list(some) for number in range(len(shards) + 1) for some in combinations(shards, number))
    kept = disjoint(shards, {shard.name: claim for shard, claim in claims.items()})
    assert worth(kept) == max(found for some in choices if (found := worth(some))[1] >= 0)
    assert kept == [shard for shard in shards if shard in kept]
