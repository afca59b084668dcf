"""The file of ``ray up``: Ray's own validation of it, nothing started."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from tests.infra.folder import INFRA


@pytest.fixture(scope="module")
def prepared() -> dict[str, Any]:
    """The configuration as ``ray up`` would use it, checked against the schema that Ray ships."""
    util = pytest.importorskip("ray.autoscaler._private.util")
    config = util.prepare_config(yaml.safe_load((INFRA / "ray-cluster.yaml").read_text(encoding="utf-8")))
    util.validate_config(config)
    return config


def start_commands(config: dict[str, Any]) -> list[str]:
    commands = config["head_start_ray_commands"] + config["worker_start_ray_commands"]
    return [command for command in commands if "ray start" in command]


def test_ray_starts_every_worker_that_is_named(prepared: dict[str, Any]) -> None:
    (node,) = prepared["available_node_types"].values()
    assert node["min_workers"] == node["max_workers"] == len(prepared["provider"]["worker_ips"])


def test_ray_start_has_the_options(prepared: dict[str, Any]) -> None:
    from ray.scripts import scripts

    known = {name for option in scripts.start.params for name in option.opts}
    for command in start_commands(prepared):
        assert set(re.findall(r"--[a-z-]+", command)) <= known


def test_the_schema_is_really_applied() -> None:
    util = pytest.importorskip("ray.autoscaler._private.util")
    jsonschema = pytest.importorskip("jsonschema")
    config = yaml.safe_load((INFRA / "ray-cluster.yaml").read_text(encoding="utf-8"))
    with pytest.raises(jsonschema.ValidationError):
        util.validate_config(util.prepare_config(config | {"no_such_key": 1}))


def test_the_dashboard_is_on_loopback_and_a_token_is_asked_for(prepared: dict[str, Any]) -> None:
    head, worker = start_commands(prepared)
    assert "--head" in head and "--dashboard-host=127.0.0.1" in head
    assert "--head" not in worker and "--address=$RAY_HEAD_IP:6379" in worker
    assert all(command.startswith("RAY_AUTH_MODE=token ray start") for command in (head, worker))
    assert "~/.ray/auth_token" in prepared["file_mounts"]


def test_the_container_runs_a_shell_and_has_limits(prepared: dict[str, Any]) -> None:
    """Ray appends ``bash`` to ``docker run``, which the image's entry point would take for a subcommand."""
    options = prepared["docker"]["run_options"]
    assert "--entrypoint=" in options
    assert {"--cap-drop=ALL", "--security-opt=no-new-privileges"} <= set(options)
    assert {option.partition("=")[0] for option in options} >= {"--cpus", "--memory"}
