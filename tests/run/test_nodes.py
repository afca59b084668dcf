"""Whose fault a failed shard is, played without a cluster: bad nodes lose no shard, bad shards cost no node."""

from __future__ import annotations

import heapq
import random
from collections import deque
from itertools import count

import pytest
from pddl_eval.run.nodes import MOST_TRIES, TRIES, Nodes
from pddl_eval.run.partitions import ShardFailure

SECONDS = {True: 2.0, False: 0.01}
"""What a shard takes on a node that works, and on one that fails it."""


def play(nodes: list[str], bad: set[str], shards: list[str], broken: set[str], seed: int) -> tuple[Nodes, set[str]]:
    """What the nodes are known for in the end, and the shards that have failed for good. Each node has one CPU."""
    chance, known, lost = random.Random(seed), Nodes(), set()
    waiting, free, running, ticket = deque(shards), list(nodes), [], count()
    now = 0.0
    while waiting or running:
        chance.shuffle(free)
        for node in list(free):
            excluded = known.excluded(nodes)
            mine = (
                shard
                for shard in waiting
                if not (others := set(nodes) - excluded - known.tried(shard)) or node in others
            )
            if node in excluded or (chosen := next(mine, None)) is None:
                continue
            waiting.remove(chosen)
            free.remove(node)
            works = node not in bad and chosen not in broken
            heapq.heappush(running, (now + SECONDS[works], next(ticket), node, chosen, works))
        now, _, node, shard, works = heapq.heappop(running)
        free.append(node)
        if works:
            known.scored(node, shard)
        elif known.failed(ShardFailure(shard, "No such file.", node=node), nodes):
            lost.add(shard)
        else:
            waiting.append(shard)
    return known, lost


@pytest.mark.parametrize(("good", "bad"), [(1, 1), (1, 2), (3, 1), (10, 10), (40, 10)])
def test_bad_nodes_are_excluded_and_lose_no_shard(good: int, bad: int) -> None:
    nodes = [f"host{number}/{number}" for number in range(good + bad)]
    for seed in range(20):
        known, lost = play(nodes, set(nodes[good:]), [f"s{n}" for n in range(200)], set(), seed)
        assert lost == set()
        assert not known.excluded(nodes) & set(nodes[:good])


@pytest.mark.parametrize("nodes", [1, 2, 5])
def test_bad_shards_are_found_and_exclude_no_node(nodes: int) -> None:
    names = [f"host/{number}" for number in range(nodes)]
    shards = [f"s{n}" for n in range(60)]
    for seed in range(20):
        known, lost = play(names, set(), shards, set(shards[::7]), seed)
        assert (lost, known.excluded(names)) == (set(shards[::7]), frozenset())


def test_where_all_nodes_fail_each_shard_fails_and_that_soon() -> None:
    names = [f"host/{number}" for number in range(30)]
    known = Nodes()
    tries = [known.failed(ShardFailure("s0", "Read-only.", fatal=True, node=node), names) for node in names]
    assert next(number for number, agreed in enumerate(tries) if agreed) < MOST_TRIES


def test_the_last_node_is_used_unless_another_one_has_worked() -> None:
    known, alone = Nodes(), ["host/a"]
    for shard in ("s0", "s1", "s2", "s3"):
        for _ in range(TRIES - 1):
            assert not known.failed(ShardFailure(shard, "No such file.", node="host/a"), alone)
    assert known.excluded(alone) == frozenset()
    assert known.excluded(["host/a", "host/b"]) == {"host/a"}
    known.scored("host/b", "s4")
    assert known.excluded(alone) == {"host/a"}
    known.scored("host/a", "s0")
    assert known.excluded(alone) == frozenset()
