"""What tests share: one Ray of two CPUs, one S3 server on the loopback interface, and where tests run under xdist.

Under ``pytest -n`` each worker process has its own fixtures. What is made once for several tests is therefore made in
one worker, to which all of these tests go: those of a file, of ``ONE_WORKER``, of the shared Ray and of the server.
"""

from __future__ import annotations

import gc
import json
import logging
import os
import sys
from collections.abc import Generator, Iterator
from functools import cache, partial
from pathlib import Path
from uuid import uuid4

import pytest
from hypothesis import settings

# A slow machine is no fault; what fails here fails again: the default run has the same examples each time.
settings.register_profile("some", deadline=None, max_examples=20, derandomize=True, database=None)
settings.register_profile("all", deadline=None, max_examples=300)  # pytest --hypothesis-profile=all
settings.load_profile("some")

MARKS = {"ray_session": ("ray",), "s3_endpoint": ("s3",), "cluster": ("ray", "network", "slow")}
"""The marks of the tests that use a fixture; ``cluster`` is several Ray nodes in a network namespace."""

ONE_WORKER = {
    "problems": ("benchmark/", "commands/test_generate.py"),
    "figures": (
        "docs/test_readme.py",
        "report/test_figures.py",
        "report/test_report_renderers.py",
        "commands/test_folder.py",
    ),
}
"""Folders and files of tests that run in one worker: making the benchmark's problems takes seconds, and so does the
first figure of a process."""

SLOW_TIMEOUT = 600.0


# Some of these tests start Python, together a hundred times: it is not to compile the package each time.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False


gc.disable()  # Until everything is collected: it would look at a million objects again and again, and find nothing.


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """A file of tests without an example has no doctests, and is not searched for them."""
    found = yield
    if ">>>" in file_path.read_text(encoding="utf-8", errors="replace"):
        return found
    return [each for each in found if isinstance(each, pytest.Module) or file_path.suffix != ".py"]


@pytest.hookimpl(tryfirst=True)  # Before xdist reads the groups and before pytest deselects by marks.
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give each test the marks of its fixtures, its xdist group, and more time where it is slow."""
    for item in items:
        for fixture in MARKS.keys() & getattr(item, "fixturenames", ()):
            for mark in MARKS[fixture]:
                item.add_marker(mark)
        item.add_marker(pytest.mark.xdist_group(group_of(item)))
        if item.get_closest_marker("slow") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(SLOW_TIMEOUT))


def group_of(item: pytest.Item) -> str:
    """The name of what runs in one worker with this test."""
    if item.get_closest_marker("s3"):
        return "s3"
    if "ray_session" in getattr(item, "fixturenames", ()):
        return "ray"
    file = item.path.relative_to(item.config.rootpath).as_posix()
    shared = (name for name, places in ONE_WORKER.items() if file.removeprefix("tests/").startswith(places))
    return next(shared, file)


@pytest.fixture(scope="session")
def ray_session() -> Iterator[None]:
    """A local Ray that every test of the session uses; its workers find the tests' own modules."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")  # Loopback, as pddl_eval.run.engines.ray has it.
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
def drawn_once() -> Iterator[None]:
    """A chart that was drawn in this process is not drawn again: vl-convert is a function of its specification."""
    vl_convert = pytest.importorskip("vl_convert")
    draw = vl_convert.vegalite_to_svg
    drawn = cache(lambda specification: draw(json.loads(specification)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vl_convert, "vegalite_to_svg", lambda chart: drawn(json.dumps(chart)))
        yield


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Charts are empty: for tests of what stands beside them."""
    vl_convert = pytest.importorskip("vl_convert")
    empty = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"></svg>'
    monkeypatch.setattr(vl_convert, "vegalite_to_svg", lambda chart: empty)


@pytest.fixture
def brief_reports(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports have one metric: most of the time of one goes into the others."""
    from pddl_eval import report
    from pddl_eval.commands import nights
    from pddl_eval.report import series

    for module in (report, series, nights):
        monkeypatch.setattr(module, "build_report", partial(report.build_report, metrics=["plan_score"]))


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
