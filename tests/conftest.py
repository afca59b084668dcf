"""What tests share that is slow to start: one Ray of two CPUs, one S3 endpoint on the loopback interface."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest


@pytest.fixture(scope="session")
def ray_session() -> Iterator[None]:
    """A local Ray that every test of the session uses; its workers find the tests' own modules."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")  # Loopback, as pddl_eval.run.ray_engine has it.
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
    """The URL of a real HTTP S3 server, which lives in this process."""
    server = pytest.importorskip("moto.server").ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def bucket(s3_endpoint: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a new bucket, which this process's environment leads to."""
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
