"""Nodes that Ray's autoscaler starts on this machine, each a process: Ray's fake provider of nodes, with memory."""

from __future__ import annotations

from typing import Any

from ray.autoscaler._private.fake_multi_node.node_provider import FakeMultiNodeProvider


class Provider(FakeMultiNodeProvider):
    """Its nodes find their memory by themselves; the one of their type is what the autoscaler reckons with."""

    def _create_node_with_resources_and_labels(
        self, node_config: Any, tags: Any, count: int, resources: dict[str, float], labels: Any
    ) -> None:
        own = {name: amount for name, amount in resources.items() if name != "memory"}
        super()._create_node_with_resources_and_labels(node_config, tags, count, own, labels)
