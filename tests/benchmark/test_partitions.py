"""The benchmark's lists of numbers: how many there are, and that they are partitions."""

from __future__ import annotations

import pytest
from pddl_eval.benchmark.partitions import benchmark_partitions, partitions

# p(n), the number of partitions of n (OEIS A000041).
PARTITION_NUMBERS = [1, 1, 2, 3, 5, 7, 11, 15, 22, 30, 42, 56, 77, 101, 135, 176]


@pytest.mark.parametrize("total", range(len(PARTITION_NUMBERS)))
def test_there_are_as_many_partitions_as_euler_counted(total: int) -> None:
    listed = [parts for count in range(total + 1) for parts in partitions(total, count)]
    assert len(listed) == len(set(listed)) == PARTITION_NUMBERS[total]
    assert all(sum(parts) == total and list(parts) == sorted(parts) for parts in listed)


def test_the_benchmark_has_all_partitions_of_small_numbers_that_begin_with_one() -> None:
    small = {parts for parts in benchmark_partitions() if sum(parts) <= 10}
    assert small == {(1, *rest) for n in range(10) for count in range(n + 1) for rest in partitions(n, count)}


def test_the_benchmark_thins_out_the_partitions_of_large_numbers() -> None:
    counts = [sum(1 for parts in benchmark_partitions() if sum(parts) == total) for total in range(20, 26)]
    assert counts == [393, 98, 119, 37, 44, 18]
    assert max(map(len, benchmark_partitions())) == 10
