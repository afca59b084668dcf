"""What the tests of infra/ share: where it is, its YAML documents, the pods that they would start."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parent.parent.parent
INFRA = ROOT / "infra"


def documents() -> dict[str, dict[str, Any]]:
    """The Kubernetes documents by kind and name, such as ``CronJob/pddl-eval-nightly``."""
    found = {}
    for file in sorted((INFRA / "kubernetes").glob("*.yaml")):
        for document in yaml.safe_load_all(file.read_text(encoding="utf-8")):
            found[f"{document['kind']}/{document['metadata']['name']}"] = document
    return found


def pods() -> dict[str, dict[str, Any]]:
    """The pod templates inside the documents, by the document and the path that lead to them."""
    return {
        f"{name}: {path}": template for name, document in documents().items() for path, template in _templates(document)
    }


def _templates(node: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(node, dict) and "containers" in node.get("spec", {}):
        yield path.lstrip("."), node
    elif isinstance(node, dict):
        for key, value in node.items():
            yield from _templates(value, f"{path}.{key}")
    elif isinstance(node, list):
        for position, value in enumerate(node):
            yield from _templates(value, f"{path}[{position}]")
