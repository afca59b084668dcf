"""Engine ``auto`` takes what is done first; wrong combinations are refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from pddl_eval.engines.choice import Choice, available_cpus, choose_engine


@pytest.fixture(autouse=True)
def no_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)


def test_few_rows_stay_in_this_process_and_many_do_not() -> None:
    assert choose_engine(500, 1, workers=8) == Choice("local", 1)
    assert choose_engine(0, 0, workers=8) == Choice("local", 1)
    assert choose_engine(1_000_000, 245, workers=8) == Choice("local", 8)
    assert choose_engine(1_000_000, 3, workers=8) == Choice("local", 3)


def test_local_has_worker_processes_only_when_asked() -> None:
    assert choose_engine(1_000_000, 245, engine="local") == Choice("local", 1)
    assert choose_engine(10, 2, engine="local", workers=2) == Choice("local", 2)


def test_a_cluster_is_taken_when_named_and_when_the_rows_are_worth_joining_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert choose_engine(1, 1, address="auto") == Choice("ray", None)
    assert choose_engine(1, 1, engine="ray", workers=3) == Choice("ray", 3)
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:6379")
    assert choose_engine(1_000_000, 245).engine == "ray"
    assert choose_engine(500, 1).engine == "local"
    monkeypatch.setenv("RAY_ADDRESS", "http://127.0.0.1:8265")
    assert choose_engine(1_000_000, 245).engine == "local", (
        "that is where jobs are submitted to, and no cluster's address"
    )


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"engine": "spark"}, "There is no engine spark"),
        ({"workers": 0}, "at least one worker"),
        ({"engine": "local", "address": "auto"}, "An address is that of a Ray cluster"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments: dict[str, object], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        choose_engine(1, 1, **arguments)  # type: ignore[arg-type]


def test_a_quota_of_the_container_counts(tmp_path: Path) -> None:
    quota = tmp_path / "cpu.max"
    everything = available_cpus(quota)
    quota.write_text("100000 100000\n")
    assert available_cpus(quota) == 1
    quota.write_text("max 100000\n")
    assert available_cpus(quota) == everything
