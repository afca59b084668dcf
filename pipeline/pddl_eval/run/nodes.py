"""Whose fault it is that a shard failed on a node of a cluster: the shard's, or the node's.

A node without the input's mount fails every shard, and fails faster than the others work. So a failed shard is tried on
other nodes. If nodes that can score other shards fail it as well, it is the shard's fault; until then it speaks against
the node, and a node that fails one shard after the other gets no more of them. Where all nodes fail from the start, no
node is any worse than the others, and what they say about a shard is believed.

A node is written ``host/id``: the name that a person knows, and the one that Ray knows.
"""

from __future__ import annotations

from collections.abc import Collection

from pddl_eval.run.partitions import ShardFailure

STRIKES = 3
"""Shards in a row that a node fails before it is excluded."""

AGREED = 3
"""Nodes that scored other shards and agree that this one fails."""

TRIES = 3
"""Tries at a shard where every node that is left has failed it."""

MOST_TRIES = 10


class Nodes:
    """What the nodes of a cluster have done so far."""

    def __init__(self) -> None:
        self._useful: set[str] = set()
        self._strikes: dict[str, dict[str, str]] = {}
        self._tries: dict[str, list[str]] = {}

    def scored(self, node: str, shard: str) -> None:
        """The node has scored the shard: it works."""
        self._useful.add(node)
        self._strikes.pop(node, None)
        self._tries.pop(shard, None)

    def failed(self, failure: ShardFailure, present: Collection[str]) -> list[str]:
        """Take note of a failure; the nodes that agree where it is the shard's fault, none where it is tried again."""
        tries = self._tries.setdefault(failure.name, [])
        tries.append(failure.node)
        self._strikes.setdefault(failure.node, {})[failure.name] = failure.reason
        untried = set(present) - self.excluded(present) - set(tries)
        agreed = len(self._useful & set(tries)) >= AGREED
        if agreed or len(tries) >= MOST_TRIES or (not untried and len(tries) >= TRIES):
            del self._tries[failure.name]
            for shards in self._strikes.values():
                shards.pop(failure.name, None)
            return list(dict.fromkeys(tries))
        return []

    def tried(self, shard: str) -> frozenset[str]:
        """The nodes that have failed this shard."""
        return frozenset(self._tries.get(shard, ()))

    def excluded(self, present: Collection[str]) -> frozenset[str]:
        """The nodes that get no more shards: not all that are present, unless others have shown that it can be done."""
        bad = [node for node, shards in self._strikes.items() if len(shards) >= STRIKES]
        if set(present) <= set(bad) and not self._useful - set(bad):
            spared = min(bad, key=lambda node: (node not in present, node not in self._useful), default=None)
            bad = [node for node in bad if node != spared]
        return frozenset(bad)

    def reason(self, node: str) -> str:
        """Why the node failed a shard last."""
        return next(reversed(self._strikes[node].values()))


def shown(node: str) -> str:
    """The node as a person is told of it.

    >>> shown("worker-3/8a714b9b9085fccc118426dd")
    'worker-3 (Ray node 8a714b9b)'
    """
    return f"{node.rpartition('/')[0]} (Ray node {identity(node)[:8]})"


def identity(node: str) -> str:
    """Ray's own name of the node."""
    return node.rpartition("/")[2]
