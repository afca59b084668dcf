"""What tests share: one Ray of two CPUs, one S3 server on the loopback interface, and where tests run under xdist.

Under ``pytest -n`` each worker process has its own session fixtures. All tests that use Ray therefore go to one worker,
and all tests that use the S3 server to one, so that each is started once.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

SHARED_BY = {"ray_session": "ray", "s3_endpoint": "s3"}
"""A fixture that is slow to start, and the name of the xdist group and of the mark of the tests that use it."""


@pytest.hookimpl(tryfirst=True)  # Before xdist reads the groups and before pytest deselects by marks.
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark and group the tests that use a shared server."""
    for item in items:
        for fixture, name in SHARED_BY.items():
            if fixture in getattr(item, "fixturenames", ()):
                item.add_marker(name)
            if item.get_closest_marker(name):
                item.add_marker(pytest.mark.xdist_group(name))
                break


@pytest.fixture(scope="session")
def ray_session() -> Iterator[None]:
    """A local Ray that every test of the session uses; its workers find the tests' own modules."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")  # Loopback, as pddl_eval.run sets it.
    ray = pytest.importorskip("ray")
    root = str(Path(__file__).parent.parent)
    ray.init(
        address="local",
        num_cpus=2,
        include_dashboard=False,
        log_to_driver=False,
        logging_level="ERROR",
        runtime_env={
            "env_vars": {"PYTHONPATH": os.pathsep.join([root, f"{root}/pipeline", os.environ.get("PYTHONPATH", "")])}
        },
    )
    yield
    ray.shutdown()


@pytest.fixture(scope="session")
def s3_endpoint() -> Iterator[str]:
    """The URL of an HTTP S3 server that runs in this process."""
    server = pytest.importorskip("moto.server").ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def bucket(s3_endpoint: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a new bucket; the environment of this process points to its server."""
    from pyarrow import fs

    for name, value in {
        "AWS_ENDPOINT_URL": s3_endpoint,
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_REGION": "us-east-1",
    }.items():
        monkeypatch.setenv(name, value)
    name = f"bucket-{uuid4().hex[:12]}"
    fs.S3FileSystem(
        endpoint_override=s3_endpoint.removeprefix("http://"),
        scheme="http",
        region="us-east-1",
        access_key="testing",
        secret_key="testing",
        allow_bucket_creation=True,
    ).create_dir(name)
    return name
