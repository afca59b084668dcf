"""The nightly job: which night is compared with which, what a retry does, when it fails, who is told."""

from __future__ import annotations

import json
import os
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result
from pddl_eval.commands.nightly import nightly
from pddl_eval.datasets import list_files, list_folders, locate, new_parquet, read_bytes
from pddl_eval.run import claimed

from tests.support.parquet_files import damage
from tests.support.running import ROOT, start

pytestmark = pytest.mark.usefixtures("undrawn", "brief_reports")

GOOD, BAD = "(pick a)", "(drop a)"


class Nights:
    """Runs the job on chosen dates, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.pairs = folder / "pairs.parquet"
        self.nights = folder / "nights"
        self.drop: list[str] = []

    def answers(self, *plans: str) -> None:
        columns = {"pair_id": range(len(plans)), "reference_plan": [GOOD] * len(plans), "generated_plan": plans}
        pq.write_table(pa.table(columns).drop_columns(self.drop), self.pairs)

    def run(self, date: str, *options: str, code: int = 0) -> str:
        """What the night writes on stdout and stderr."""
        done = night(self.pairs, self.nights, date, *options)
        assert done.exit_code == code, done.stderr
        return done.stdout + done.stderr

    def carried(self, date: str) -> int:
        return int(json.loads((self.nights / date / "scored" / "_summary.json").read_text())["rows_carried"])


def night(pairs: object, nights: object, date: str, *options: str) -> Result:
    """The job in this process."""
    arguments = [str(pairs), str(nights), "--date", date, "--workers", "1", *options]
    result = CliRunner().invoke(nightly, arguments)
    assert "Traceback" not in result.stderr
    return result


@pytest.fixture
def page_of_nights() -> None:
    """For tests that look at the page over all nights; half of the time of a short night goes into it."""


@pytest.fixture(autouse=True)
def without_page(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if "page_of_nights" not in request.fixturenames:
        monkeypatch.setattr("pddl_eval.commands.nights.put_all_nights", lambda *_: None)


@pytest.fixture
def nights(tmp_path: Path) -> Nights:
    """Nights of plans."""
    found = Nights(tmp_path)
    found.answers(GOOD, BAD, GOOD)
    return found


def test_each_night_scores_what_changed_and_fails_when_an_answer_got_worse(nights: Nights) -> None:
    nights.run("2026-03-01")
    assert nights.carried("2026-03-01") == 0
    nights.answers(GOOD, "(pick b)", GOOD)
    nights.run("2026-03-02")
    assert nights.carried("2026-03-02") == 2
    nights.answers(GOOD, GOOD, BAD)
    for _ in range(2):  # A scheduler that retries is told the same.
        said = nights.run("2026-03-03", code=4)
        assert "right on 2026-03-02 and are not right now: 1.\n" in said
    assert sorted(night.name for night in nights.nights.glob("2026*")) == [f"2026-03-0{day}" for day in (1, 2, 3)]
    for night in nights.nights.glob("2026*"):
        assert f"Scores of {night / 'scored'}" in (night / "report.html").read_text()


@pytest.mark.usefixtures("page_of_nights")
def test_a_regression_is_told_every_night_until_it_is_mended_or_accepted(nights: Nights) -> None:
    worse = (BAD, BAD, GOOD)
    nights.run("2026-03-01")
    nights.answers(*worse)
    nights.run("2026-03-02", code=4)
    page = (nights.nights / "nights.html").read_text()
    assert "1 answer that was right is wrong now" in page and 'href="2026-03-02/rows/0.html"' in page
    row = (nights.nights / "2026-03-02" / "rows" / "0.html").read_text()
    assert "On 2026-03-01" in row and "(pick a)" in row and 'href="../../nights.html"' in row
    for day in ("03", "04"):
        assert "2026-03-01 and are not right now: 1." in nights.run(f"2026-03-{day}", "--keep", "2", code=4)
        assert nights.carried(f"2026-03-{day}") == 3, "the scores are those of the last night"
    nights.answers(GOOD, BAD, GOOD)
    nights.run("2026-03-05")
    assert "0 answers that were right are wrong now" in (nights.nights / "nights.html").read_text()
    nights.answers(*worse)
    nights.run("2026-03-06", code=4)
    nights.run("2026-03-06", "--baseline", "2026-03-06")  # Accepted.
    nights.run("2026-03-07", "--keep", "2")
    assert sorted(path.name for path in nights.nights.glob("2026*")) == ["2026-03-06", "2026-03-07"]
    nights.run("2026-03-08", "--baseline", "2026-03-05", code=2)
    nights.run("2026-03-08", "--baseline", "../2026-03-07", code=2)
    (nights.nights / "2026-03-07" / "compared.json").write_text("[]")
    nights.run("2026-03-08")


@pytest.mark.usefixtures("page_of_nights")
def test_old_nights_that_cannot_be_shown_silence_no_alarm(nights: Nights) -> None:
    for day in ("01", "02", "03"):
        nights.run(f"2026-03-{day}")
    shutil.rmtree(nights.nights / "2026-03-02" / "scored")  # to save space, say
    nights.answers(BAD, GOOD, GOOD)
    nights.run("2026-03-04", code=4)
    assert "2026-03-02" not in (nights.nights / "nights.html").read_text()
    (first,) = (nights.nights / "2026-03-01" / "scored").glob("*.parquet")
    first.write_bytes(b"no Parquet")
    assert "nights.html is without 2026-03-01" in nights.run("2026-03-05", "--baseline", "2026-03-03", code=4)
    assert "2026-03-05" in (nights.nights / "nights.html").read_text()


def emptied(night: Path) -> None:
    for file in (night / "scored").iterdir():
        file.unlink()


def cut(night: Path) -> None:
    (partition,) = (night / "scored").glob("*.parquet")
    partition.write_bytes(partition.read_bytes()[:200])


def flipped(night: Path) -> None:
    (partition,) = (night / "scored").glob("*.parquet")
    damage(partition, row_group=0, column=1)


def without_partition(night: Path) -> None:
    (partition,) = (night / "scored").glob("*.parquet")
    partition.unlink()


def cut_manifest(night: Path) -> None:
    manifest = night / "scored" / "_pddl_eval_run.json"
    manifest.write_bytes(manifest.read_bytes()[:100])


def doubled(night: Path) -> None:
    (partition,) = (night / "scored").glob("*.parquet")
    again = partition.with_name(partition.name.replace("000000000003", "000000000002"))
    pq.write_table(pq.read_table(partition).slice(0, 2), again)


def slow(*damages: Callable[[Path], None]) -> list[Any]:
    """Each damage is done to a baseline or to a last night by default, to both in slow tests."""
    return [pytest.param(each, marks=pytest.mark.slow) for each in damages]


@pytest.mark.parametrize(
    "lost", [shutil.rmtree, flipped, cut_manifest, *slow(emptied, cut, without_partition, doubled)]
)
def test_a_baseline_that_is_gone_is_an_error_until_another_is_named(
    nights: Nights, lost: Callable[[Path], None]
) -> None:
    nights.run("2026-03-01")
    nights.answers(BAD, BAD, GOOD)
    nights.run("2026-03-02", code=4)
    nights.run("2026-03-03", code=4)
    lost(nights.nights / "2026-03-01")
    for _ in range(2):
        said = nights.run("2026-03-04", code=2)
        assert "2026-03-01" in said and "--baseline 2026-03-03" in said
    nights.run("2026-03-04", "--baseline", "2026-03-03")
    nights.run("2026-03-05")


@pytest.mark.parametrize("lost", [emptied, cut, without_partition, doubled, *slow(flipped, cut_manifest)])
def test_a_damaged_last_night_does_not_stop_the_next(nights: Nights, lost: Callable[[Path], None]) -> None:
    nights.run("2026-03-01")
    nights.run("2026-03-02")
    lost(nights.nights / "2026-03-02")
    nights.answers(BAD, BAD, GOOD)
    said = nights.run("2026-03-03", code=4)
    assert "2026-03-02 is passed over" in said and "right on 2026-03-01 and are not right now: 1." in said
    assert "right on 2026-03-01 and are not right now: 1." in nights.run("2026-03-04", code=4)
    nights.answers(GOOD, BAD, GOOD)
    assert "passed over" not in nights.run("2026-03-05")


def test_a_damaged_night_that_was_worse_leaves_its_regression_open(nights: Nights) -> None:
    nights.run("2026-03-01")
    nights.answers(BAD, BAD, GOOD)
    nights.run("2026-03-02", code=4)
    nights.run("2026-03-03", code=4)
    emptied(nights.nights / "2026-03-03")
    assert "right on 2026-03-01 and are not right now: 1." in nights.run("2026-03-04", code=4)
    (nights.nights / "2026-03-04" / "compared.json").write_text("[")
    said = nights.run("2026-03-05", code=4)
    assert "compared.json cannot be read" in said and "right on 2026-03-01" in said
    for each in nights.nights.glob("2026*"):
        emptied(each)
    nights.run("2026-03-06", code=2)


def test_nights_of_earlier_versions_count(nights: Nights) -> None:
    nights.run("2026-03-01")
    (nights.nights / "2026-03-01" / "compared.json").unlink()
    nights.answers(BAD, BAD, GOOD)
    assert "cannot be read" not in nights.run("2026-03-02", code=4)
    for worse, code in (("true", 4), ("false", 0), ("", 4)):  # The last one is damaged.
        (nights.nights / "2026-03-02" / "compared.json").write_text(f'{{"baseline": "2026-03-01", "worse": {worse}}}')
        assert ("right on 2026-03-01" in nights.run("2026-03-03", code=code)) == (code == 4)
        shutil.rmtree(nights.nights / "2026-03-03")


def test_a_new_regression_is_told_while_another_is_open_and_until_it_is_mended(nights: Nights, tmp_path: Path) -> None:
    told = tmp_path / "told"
    alarm = f'{sys.executable} -c \'import sys; open("{told}", "a").write(sys.stdin.read() + chr(10))\''

    def night(day: int, *plans: str, code: int) -> list[dict[str, Any]]:
        """What the alarms of that night said."""
        told.write_text("")
        nights.answers(*plans)
        nights.run(f"2026-03-{day:02}", "--on-regression", alarm, code=code)
        return [json.loads(each) for each in told.read_text().splitlines()]

    night(1, BAD, GOOD, BAD, GOOD, code=0)
    (first,) = night(2, BAD, GOOD, BAD, BAD, code=4)
    assert (first["regressions"], first["new_regressions"], [each["row"] for each in first["worse"]]) == (1, 1, [3])
    assert night(3, GOOD, GOOD, BAD, BAD, GOOD, code=4)[0]["new_regressions"] == 0
    # Wrong on the baseline and mended since; and asked for the first time since the baseline.
    (fourth,) = night(4, BAD, GOOD, BAD, BAD, BAD, code=4)
    assert (fourth["regressions"], fourth["new_regressions"]) == (3, 2)
    assert [(each["row"], each["right_on"]) for each in fourth["worse"]] == [
        (0, "2026-03-03"),
        (4, "2026-03-03"),
        (3, "2026-03-01"),
    ]
    (fifth,) = night(5, BAD, GOOD, BAD, GOOD, BAD, code=4)
    assert (fifth["regressions"], fifth["new_regressions"], fifth["compared"]) == (
        2,
        0,
        ["2026-03-01", "2026-03-03", "2026-03-04"],
    )
    assert night(6, GOOD, GOOD, BAD, GOOD, GOOD, code=0) == []


def test_a_night_is_compared_with_the_last_complete_one_before_it(nights: Nights) -> None:
    nights.run("2026-03-01")
    # Stopped before its report was written, and a night that lies ahead.
    (nights.nights / "2026-03-02" / "scored").mkdir(parents=True)
    (nights.nights / "2026-03-09").mkdir()
    (nights.nights / "2026-03-09" / "report.html").touch()
    nights.run("2026-03-03")
    assert nights.carried("2026-03-03") == 3
    nights.run("2026-03-02")
    assert nights.carried("2026-03-02") == 3


def test_a_night_that_fails_is_not_complete(nights: Nights) -> None:
    job = (ROOT / "jobs" / "nightly.py", nights.pairs, nights.nights, "--date", "2026-03-01", "--workers", "1")
    assert start(*job, "--engine", "ray://127.0.0.1:1").returncode == 1
    assert not (nights.nights / "2026-03-01" / "report.html").exists()
    nights.run("2026-03-01", "--column", "answer", code=2)
    assert "YYYY-MM-DD" in start(ROOT / "jobs" / "nightly.py", "--help").stdout
    nights.run("yesterday", code=2)


def test_files_that_come_later_in_a_day_are_a_night_of_their_own_and_old_nights_go(nights: Nights) -> None:
    stopped, other = (nights.nights / name for name in ("2026-02-27", "2026-03-01-notes"))
    for folder in (stopped / "scored", other):
        folder.mkdir(parents=True)
    nights.run("2026-03-01")
    nights.answers(GOOD, BAD, GOOD, "(pick c)")
    for _ in range(2):
        nights.run("2026-03-01", "--keep", "2")
    assert nights.carried("2026-03-01.02") == 3
    assert not stopped.exists()
    nights.run("2026-03-02", "--keep", "2")
    assert nights.carried("2026-03-02") == 4
    names = sorted(path.name for path in nights.nights.glob("2026*"))
    assert names == ["2026-03-01-notes", "2026-03-01.02", "2026-03-02"]


def test_rows_without_ids_and_rows_that_find_no_partner(nights: Nights) -> None:
    nights.drop = ["pair_id"]
    nights.answers(GOOD, BAD, GOOD)
    nights.run("2026-03-01")
    nights.answers(BAD, GOOD, BAD)
    assert ": 1.\n" in nights.run("2026-03-02", code=4), "two were right, one is"
    nights.answers(BAD)
    assert "1 of the 3" in nights.run("2026-03-03", code=4)


def test_the_columns_of_models_and_questions_can_have_other_names(nights: Nights) -> None:
    columns = {"question": ["a", "b"], "who": ["m", "m"], "reference_plan": [GOOD] * 2, "output": [GOOD, BAD]}
    pq.write_table(pa.table(columns), nights.pairs)
    named = {"reference_id": "question", "model": "who", "generated_plan": "output"}
    options = [each for pair in named.items() for each in ("--column", "=".join(pair))]
    for day in ("2026-03-01", "2026-03-02", "2026-03-03"):
        nights.run(day, *options)
    assert nights.carried("2026-03-03") == 2


@pytest.mark.parametrize("alarm", ["cat > told", "echo hello >> told", "cat | mail me", "cat >told", "true && false"])
def test_an_alarm_that_needs_a_shell_is_refused_before_the_night(nights: Nights, alarm: str) -> None:
    assert "sh -c" in nights.run("2026-03-01", "--on-regression", alarm, code=2)
    assert not nights.nights.exists()
    nights.run("2026-03-01", "--on-regression", "cat '> got worse' me; its")


@pytest.mark.parametrize(
    "alarm", ["no-such-program", "./no-such-script --loud", "", "cat it's", "https://", "http://["]
)
def test_an_alarm_that_nobody_can_get_is_refused_before_the_night(nights: Nights, alarm: str) -> None:
    assert "--on-regression" in nights.run("2026-03-01", "--on-regression", alarm, code=2)
    assert not nights.nights.exists()


def test_rows_that_cannot_be_read_leave_the_night_incomplete(nights: Nights) -> None:
    damage(nights.pairs, row_group=0, column=2)
    nights.run("2026-03-01", code=3)
    assert not (nights.nights / "2026-03-01" / "report.html").exists()


def test_a_second_job_is_told_of_the_first(nights: Nights) -> None:
    with claimed(locate(nights.nights)):
        assert f"process {os.getpid()} " in nights.run("2026-03-01", code=2)


def test_settings_reach_the_scorer(nights: Nights) -> None:
    nights.run("2026-03-01", "--row-seconds", "9", "--no-check-solvable")
    summary = json.loads((nights.nights / "2026-03-01" / "scored" / "_summary.json").read_text())
    assert "seconds:9" in summary["signature"] and "solvable:no" in summary["signature"]


def test_a_command_gets_the_numbers_of_a_regression(nights: Nights, tmp_path: Path) -> None:
    told = tmp_path / "told by $(date).json"
    alarm = f"{sys.executable} -c 'import sys; open(sys.argv[1], \"w\").write(sys.stdin.read())' '{told}'"
    nights.run("2026-03-01", "--on-regression", alarm)
    nights.run("2026-03-02", "--on-regression", alarm)
    assert not told.exists()
    nights.answers(BAD, GOOD, GOOD)
    nights.run("2026-03-03", "--on-regression", alarm, code=4)
    facts = json.loads(told.read_text())
    assert (facts["night"], facts["previous"]) == ("2026-03-03", "2026-03-02")
    assert (facts["rows"], facts["regressions"], facts["improvements"]) == (3, 1, 1)
    assert Path(facts["report"]).exists()


def test_an_alarm_names_the_answers_and_is_told_once(nights: Nights, tmp_path: Path) -> None:
    told = tmp_path / "told"
    script = tmp_path / "tell.sh"
    script.write_text(f"#!/bin/sh\n[ -e {tmp_path}/away ] && exit 1\ncat >> {told}\necho >> {told}\n")
    script.chmod(0o755)
    named = {"reference_id": "asked", "model": "who", "generated_plan": "output"}
    options = [each for pair in named.items() for each in ("--column", "=".join(pair))]
    options += ["--key", "asked,who", "--on-regression", str(script)]

    def write(*plans: str) -> None:
        columns = {"asked": [f"q{number // 2}" for number in range(len(plans))], "who": ["a", "b"] * (len(plans) // 2)}
        pq.write_table(pa.table({**columns, "reference_plan": [GOOD] * len(plans), "output": plans}), nights.pairs)

    write(*[GOOD] * 60)
    nights.run("2026-03-01", *options)
    write(*[BAD] * 3, *[GOOD] * 27, *[BAD] * 30)
    (tmp_path / "away").touch()
    nights.run("2026-03-02", *options, code=4)
    assert not told.exists()
    (tmp_path / "away").unlink()
    for _ in range(3):  # The first of them mends what failed; the others are retries of a scheduler.
        said = nights.run("2026-03-02", *options, code=4)
        assert "row 1, model b, question q0" in said and "question q10" not in said
    (facts,) = map(json.loads, told.read_text().splitlines())
    assert facts["regressions"] == 33 and len(facts["worse"]) == 20
    expected = {"row": 2, "model": "a", "question": "q1", "right_on": "2026-03-01"}
    assert all(Path(each["page"]).exists() for each in facts["worse"])
    assert {name: facts["worse"][2][name] for name in expected} == expected
    nights.run("2026-03-03", *options, code=4)
    assert len(told.read_text().splitlines()) == 2, "another night is told again"


def test_a_night_that_is_compared_with_nothing_fails(nights: Nights) -> None:
    domain = "(define (domain d) (:predicates (p)) (:action a :parameters () :precondition (p) :effect (not (p))))"
    nights.run("2026-03-01")
    table = pq.read_table(nights.pairs)
    for name in ("reference_domain", "generated_domain"):
        table = table.append_column(name, [[domain] * 3])
    pq.write_table(table, nights.pairs)
    nights.run("2026-03-02")
    nights.answers(GOOD, BAD, GOOD)
    assert "domains" in nights.run("2026-03-03", code=4)
    pq.write_table(pq.read_table(nights.pairs).slice(0, 0), nights.pairs)
    nights.run("2026-03-04", code=4)
    nights.run("2026-03-05", "--baseline", "2026-03-04", code=4)


@pytest.fixture
def hook() -> Iterator[tuple[str, list[bytes]]]:
    """The URL of a web hook on the loopback interface, and what was posted there."""
    posted: list[bytes] = []

    class Hook(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            posted.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(500 if self.path == "/broken-token" else 204)
            self.end_headers()

        def log_message(self, format: str, *arguments: object) -> None:
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Hook)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", posted
    server.shutdown()


def test_a_url_gets_the_numbers_of_a_regression(nights: Nights, hook: tuple[str, list[bytes]]) -> None:
    url, posted = hook
    nights.run("2026-03-01")
    nights.answers(BAD, BAD, GOOD)
    said = nights.run("2026-03-02", "--on-regression", f"{url}/broken-token", code=4)
    assert "500" in said and "broken-token" not in said, "the URL of a web hook is a secret"
    for _ in range(2):
        nights.run("2026-03-02", "--on-regression", f"{url}/alarm", code=4)
    assert [json.loads(each)["regressions"] for each in posted] == [1, 1], "what failed, and once what did not"


@pytest.mark.parametrize(
    ("place", "dataset"),
    [
        *(pytest.param("disk", each, marks=pytest.mark.slow) for each in ("plain", "several models", "without ids")),
        *(
            pytest.param("s3", dataset, marks=(pytest.mark.slow, pytest.mark.s3))
            for dataset in ("plain", "without ids", "several models")
        ),
    ],
)
@pytest.mark.usefixtures("page_of_nights")
def test_two_nights_on_disk_and_on_s3(place: str, dataset: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    store = f"s3://{request.getfixturevalue('bucket')}" if place == "s3" else str(tmp_path)
    models = ["alpha", "beta"] if dataset == "several models" else ["alpha"]

    def write(worse: bool) -> None:
        """Four questions of each model: the second night, a better answer to one and perhaps a worse one to another."""
        asked = [(number, model) for model in models for number in range(4)]
        answers = [GOOD, GOOD, GOOD, BAD] * len(models)
        if worse:
            answers[0], answers[3] = BAD, GOOD
        columns = {
            "pair_id": [number for number, _ in asked],
            "model": [model for _, model in asked],
            "reference_plan": [f"{GOOD} (drop b{number})" for number, _ in asked],
            "generated_plan": [
                f"{answer} (drop b{number})" for answer, (number, _) in zip(answers, asked, strict=True)
            ],
        }
        table = pa.table(columns).drop_columns(["pair_id"] if dataset == "without ids" else [])
        with new_parquet(locate(f"{store}/pairs/answers.parquet"), table.schema) as writer:
            writer.write_table(table)

    places = f"{store}/pairs", f"{store}/nights"
    on = ("--key", "pair_id,model") if dataset == "several models" else ()
    write(worse=False)
    assert night(*places, "2026-03-01", *on).exit_code == 0
    write(worse=True)
    for _ in range(2):  # A scheduler that retries is told the same.
        found = night(*places, "2026-03-02", *on, "--keep", "2")
        assert found.exit_code == 4, found.stderr
        assert "2026-03-01 and are not right now: 1.\n" in found.stderr
    nights = locate(f"{store}/nights")
    summary = json.loads(read_bytes(nights / "2026-03-02/scored/_summary.json"))
    assert (summary["rows"], summary["rows_carried"]) == (4 * len(models), 4 * len(models) - 2)
    page = read_bytes(nights / "2026-03-02/report.html").decode()
    assert page.startswith("<!DOCTYPE html>") and all(model in page for model in models)
    assert set(list_files(nights)) == {"nights.html"}, "the lock is gone"
    with claimed(nights):
        assert night(*places, "2026-03-03", *on).exit_code == 2
    assert night(*places, "2026-03-03", *on, "--keep", "2").exit_code == 4
    assert list_folders(nights) == ["2026-03-01", "2026-03-02", "2026-03-03"], "the first is what it is compared with"
    assert night(*places, "2026-03-03", *on, "--keep", "2", "--baseline", "2026-03-02").exit_code == 0
    assert list_folders(nights) == ["2026-03-02", "2026-03-03"]
