"""No command writes over its input, and over a file of another kind only with ``--force``."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import polars as pl
import pytest
from pddl_eval import report
from pddl_eval.commands.cli import main
from pddl_eval.datasets import locate, put_bytes, read_bytes

from tests.support.running import run

WRITES: dict[str, tuple[str, str]] = {
    "explain html": ("explain scored --row 0 --html {}", "why.html"),
    "explain svg": ("explain scored --row 0 --svg {}", "why.svg"),
    "explain svg under another name": ("explain scored --row 0 --svg {}", "why.txt"),
    "explain plan": ("explain scored --row 0 --save-plan {}", "plan.txt"),
    **{
        f"report {form}": (f"report scored --output {{}} --format {form}", f"report.{form}") for form in ("html", "tex")
    },
    **{
        f"report {form}": (f"report scored --output {{}} --format {form}", f"report.{form}")
        for form in ("html", "tex", "md", "csv", "json", "svg", "png", "pdf", "parquet")
    },
    "report terminal": ("report scored --output {} --format terminal", "report.txt"),
    **{
        f"compare {form}": (f"compare scored scored --output {{}} --format {form}", f"compare.{form}")
        for form in ("html", "tex", "md", "csv", "json")
    },
    "compare terminal": ("compare scored scored --output {} --format terminal", "compare.txt"),
    "compare three": ("compare scored scored again --output {} --format md", "nights.md"),
    **{
        f"validate {form}": ("validate blocksworld held.pddl empty.plan --output {}", f"plan.{form}")
        for form in ("html", "tex")
    },
    "dedupe": ("dedupe pairs.parquet {} --workers 1", "classes.parquet"),
    "generate planetarium": ("generate planetarium {}", "benchmark.parquet"),
    "generate variants": ("generate variants problems.parquet {} --workers 1", "variants.parquet"),
    "generate tasks": ("generate tasks {} --domain blocksworld --count 2 --steps 1..2 --workers 1", "tasks.parquet"),
    "generate obfuscate": ("generate obfuscate problems.parquet {} --workers 1", "twins.parquet"),
    "generate prompts": ("generate prompts problems.parquet {} --kind problem", "batch.jsonl"),
    "generate questions": (
        "generate questions problems.parquet {} --kind validity --per-problem 1 --workers 1",
        "asked.parquet",
    ),
    "generate sample": ("generate sample {}", "sample.parquet"),
    "score report": ("score pairs.parquet out --workers 1 --report {}", "out.html"),
    "score counters": ("score pairs.parquet out --workers 1 --counters {}", "out.jsonl"),
    "score prometheus": ("score pairs.parquet out --workers 1 --counters {}", "out.prom"),
    "nightly page": ("nightly pairs.parquet nights --workers 1", "nights/nights.html"),
    "nightly counters": ("nightly pairs.parquet nights --workers 1 --counters {}", "out.prom"),
    "verify record": ("verify scored --rows 0 --save-record {}", "record.json"),
    "rescore report": ("rescore --previous scored pairs.parquet out --workers 1 --report {}", "out.md"),
    "rescore counters": ("rescore --previous scored pairs.parquet out --workers 1 --counters {}", "out.prom"),
}
"""Every option and argument of every command that names a file to write, as a command line, and a name for it."""

FOLDERS = {
    "report folder": ("report scored --format folder --output {}", "index.html"),
    "report tables": ("report scored --format csv --output {}", "rates.csv"),
    "report parquet tables": ("report scored --format parquet --output {}", "about.parquet"),
    "report figures": ("report scored --format svg --output {}", "ranking.svg"),
    "report results": (
        "report scored --format hf --output {} --about dataset=acme/blocks --about model=acme/one",
        "acme/one/.eval_results/blocks.yaml",
    ),
    "score report folder": ("score pairs.parquet out --workers 1 --report {}", "index.html"),
}

SLOW = (
    "generate planetarium",
    "report png",
    "report pdf",
    "report figures",
    "report tex",
    "compare tex",
    "compare three",
)
"""They make all problems, or take seconds; ``report svg`` and the other texts are written as these are."""

OUTPUTS = {
    *("explain --html", "explain --svg", "explain --save-plan", "report --output", "compare --output"),
    *(
        "dedupe output",
        "planetarium output",
        "tasks output",
        "obfuscate output",
        "prompts output",
        "variants output",
        "questions output",
        "sample output",
    ),
    *("score output", "score --report", "score --counters", "rescore output", "rescore --report", "rescore --counters"),
    *("nightly nights", "nightly --counters", "verify --save-record", "validate --output"),
}
"""A new one belongs into the tables above."""


def test_every_output_is_known_here() -> None:
    def commands(group: click.Group) -> Iterator[click.Command]:
        for each in group.commands.values():
            yield from commands(each) if isinstance(each, click.Group) else (each,)

    words = ("output", "report", "save-record", "html", "svg", "save-plan", "counters", "nights")
    found = {
        f"{command.name} {each.opts[0]}"
        for command in commands(main)
        for each in command.params
        if each.opts[0].lstrip("-") in words
        and f"{command.name} {each.opts[0]}" not in ("status output", "verify output")
    }
    assert found == OUTPUTS


BUILT: dict[str, report.Report] = {}


@pytest.fixture
def here(tmp_path: Path, scored: Path, monkeypatch: pytest.MonkeyPatch, undrawn: None, brief_reports: None) -> Path:
    """A working folder with pairs, their scores, and a dataset of somebody's own."""
    shutil.copytree(scored, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    build = report.build_report

    def build_once(*arguments: object, **options: object) -> report.Report:
        """The scores of these tests are the same everywhere, and so are their reports."""
        asked = repr((arguments, options))
        if asked not in BUILT:
            BUILT[asked] = build(*arguments, **options)
        return BUILT[asked]

    monkeypatch.setattr(report, "build_report", build_once)
    return tmp_path


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("outputs")
    run("generate", "sample", folder / "all.parquet")
    pl.read_parquet(folder / "all.parquet").head(6).write_parquet(folder / "pairs.parquet")
    pl.read_parquet(folder / "pairs.parquet", columns=["reference_problem"]).write_parquet(folder / "problems.parquet")
    for name in ("scored", "again"):
        assert run("score", folder / "pairs.parquet", folder / name, "--workers", "1").exit_code == 0
    (folder / "all.parquet").unlink()
    held = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (holding a)))"
    (folder / "held.pddl").write_text(held)
    (folder / "empty.plan").write_text("")
    pl.DataFrame({"id": [1], "mine": ["not to be made again"]}).write_parquet(folder / "mine.parquet")
    return folder


def foreign(folder: Path, name: str) -> Iterator[bytes]:
    """What somebody may have under that name."""
    yield (folder / "mine.parquet").read_bytes()
    yield b"id,mine\n1,2\n"
    yield b"<!DOCTYPE html>\n<title>Of pddl-eval</title>\n"
    if not name.endswith(".html"):
        yield b"# Notes\n\nnot to be made again\n"
    yield b'{"id": 1, "mine": 2}\n'
    yield b"\\documentclass{article}\n% pddl-eval\n"


@pytest.mark.parametrize("name", [pytest.param(each, marks=[pytest.mark.slow] * (each in SLOW)) for each in WRITES])
def test_a_file_of_another_kind_is_replaced_only_with_force(name: str, here: Path) -> None:
    line, file = WRITES[name]
    words, place = line.format(file).split(), here / file
    place.parent.mkdir(exist_ok=True)
    for content in foreign(here, file):
        place.write_bytes(content)
        refused = run(*words)
        assert refused.exit_code == 2 and "--force" in refused.stderr, content
        assert place.read_bytes() == content
    assert not (here / "out").exists(), "it is refused before the work"
    assert run(*words, "--force").exit_code == 0
    assert place.read_bytes() != content
    shutil.rmtree(here / "out", ignore_errors=True)
    assert run(*words).exit_code == 0, "what the command wrote itself is replaced"


def test_a_pipe_is_no_place_for_an_output(here: Path) -> None:
    """A device neither: a file that is renamed over ``/dev/null`` takes its place."""
    os.mkfifo(here / "why.html")
    for line in ("explain scored --row 0 --html why.html", "report scored --output why.html --format html --force"):
        assert run(*line.split()).exit_code == 2
    assert (here / "why.html").is_fifo()


@pytest.mark.parametrize("name", [pytest.param(each, marks=[pytest.mark.slow] * (each in SLOW)) for each in FOLDERS])
def test_files_of_another_kind_in_a_folder_are_replaced_only_with_force(name: str, here: Path) -> None:
    line, file = FOLDERS[name]
    words, place = line.format("made").split(), here / "made" / file
    place.parent.mkdir(parents=True)
    place.write_text("mine\n")
    (here / "made" / "mine.txt").write_text("mine\n")
    refused = run(*words)
    assert refused.exit_code == 2 and "--force" in refused.stderr and place.read_bytes() == b"mine\n"
    assert run(*words, "--force").exit_code == 0 and place.read_bytes() != b"mine\n"
    shutil.rmtree(here / "out", ignore_errors=True)
    assert run(*words).exit_code == 0
    assert (here / "made" / "mine.txt").read_text() == "mine\n"


def linked(make: Callable[[str, str], None]) -> Callable[[Path], str]:
    def link(file: Path) -> str:
        make(str(file), str(file.parent / "link"))
        return "link"

    return link


SPELLINGS: dict[str, Callable[[Path], str]] = {
    "as it is": lambda file: file.name,
    "absolute": str,
    "through a folder": lambda file: f"scored/../{file.name}",
    "a URI": lambda file: f"file://{file}",
    "a link": linked(os.symlink),
    "a hard link": linked(os.link),
}

OVER_INPUTS = [
    ("explain {input} --row 0 --html {output}", "pairs.parquet"),
    ("explain {input} --row 0 --save-plan {output}", "pairs.parquet"),
    ("explain own.plan own.plan --problem problem.pddl --html {output}", "problem.pddl"),
    ("explain own.plan {input} --problem problem.pddl --save-plan {output}", "own.plan"),
    ("explain mine.parquet --row 0 --domain {input} --svg {output}", "domain.pddl"),
    ("report {input} --format html --output {output}", "one.parquet"),
    ("report {input} --format parquet --output {output}", "one.parquet"),
    ("report 'on*.parquet' --format json --output {output}", "one.parquet"),
    ("report one.parquet --config {input} --format md --output {output}", "settings.toml"),
    ("compare one.parquet {input} --format md --output {output}", "one.parquet"),
    ("dedupe {input} {output} --workers 1", "pairs.parquet"),
    ("dedupe pairs.parquet {output} --against {input} --workers 1", "mine.parquet"),
    ("dedupe pairs.parquet {output} --domain {input} --workers 1", "domain.pddl"),
    ("generate variants {input} {output} --workers 1", "pairs.parquet"),
    ("generate tasks {output} --domain blocksworld --exclude {input} --workers 1", "pairs.parquet"),
    ("generate obfuscate {input} {output} --workers 1", "pairs.parquet"),
    ("generate prompts {input} {output} --kind problem", "pairs.parquet"),
    ("generate questions {input} {output} --workers 1", "pairs.parquet"),
    ("generate questions pairs.parquet {output} --domain {input} --workers 1", "domain.pddl"),
    ("score {input} out --workers 1 --counters {output}", "rows.jsonl"),
    ("nightly {input} out --workers 1 --counters {output}", "rows.jsonl"),
    ("score {input} out --workers 1 --report {output} --references pairs.parquet", "rows.jsonl"),
    ("score rows.jsonl out --workers 1 --counters {output} --references {input}", "references.jsonl"),
]


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize(("line", "file"), OVER_INPUTS)
def test_no_output_replaces_an_input(line: str, file: str, spelling: str, here: Path) -> None:
    shutil.copy(next((here / "scored").glob("*.parquet")), here / "one.parquet")
    for name in ("rows.jsonl", "references.jsonl"):
        pl.read_parquet(here / "pairs.parquet").write_ndjson(here / name)
    (here / "own.plan").write_text("; A plan for the answer's problem, in its names.\n(pick a)\n")
    (here / "problem.pddl").write_text("(define (problem p) (:domain gripper) (:objects) (:init) (:goal (and)))")
    (here / "domain.pddl").write_text("(define (domain d) (:predicates (p)))")
    (here / "settings.toml").write_text("by = ['domain']\n")
    output = SPELLINGS[spelling](here / file)
    if "--counters" in line and not output.endswith(".jsonl"):
        (here / "link").rename(here / "link.jsonl")
        output = "link.jsonl"
    before = (here / file).read_bytes()
    words = [word.strip("'") for word in line.format(input=file, output=output).split()]
    for forced in ([], ["--force"]):
        assert run(*words, *forced).exit_code == 2
        assert (here / file).read_bytes() == before


@pytest.mark.parametrize(
    "line",
    [
        "report scored --format parquet --output scored",
        "report scored --format csv --output scored/tables",
        "report scored --output scored/report.csv",
        "dedupe scored scored/classes.parquet --workers 1",
        "dedupe scored link/classes.parquet --workers 1",
        "generate variants *.parquet variants.parquet --workers 1",
        "generate questions *.parquet asked.parquet --workers 1",
        "score pairs.parquet out --workers 1 --report out/report.csv",
        "score pairs.parquet scored/part --references scored --key id --workers 1",
        "score scored link/scored --workers 1",
        "nightly scored scored/nights --workers 1",
        "rescore --previous scored pairs.parquet scored/new --workers 1",
    ],
)
def test_nothing_is_written_beside_rows_that_would_be_taken_for_rows(line: str, here: Path) -> None:
    (here / "link").symlink_to(here / "scored")
    before = sorted(map(str, here.rglob("*")))
    assert run(*line.split(), "--force").exit_code == 2
    assert sorted(map(str, here.rglob("*"))) == before


def test_pages_and_new_files_may_lie_beside_rows(here: Path) -> None:
    for line in ("report scored --output scored/report.html", "explain scored --row 0 --html scored/why.html"):
        for _ in range(2):
            assert run(*line.split()).exit_code == 0
    (here / "empty.html").touch()
    assert run("report", "scored", "--output", "empty.html").exit_code == 0
    assert run("report", "scored", "--output", "empty.html", "--format", "md").exit_code == 2
    for line in ("report scored --output scored --format md", "dedupe pairs.parquet scored --workers 1"):
        assert run(*line.split()).exit_code == 2, "a folder is no file"
    assert run("report", "scored").exit_code == 0


@pytest.mark.s3
def test_it_is_the_same_in_a_store(bucket: str, here: Path) -> None:
    pairs, page = f"s3://{bucket}/pairs/pairs.parquet", f"s3://{bucket}/why.html"
    for place, content in ((pairs, (here / "pairs.parquet").read_bytes()), (page, b"mine")):
        put_bytes(locate(place), content)
    explain = ("explain", pairs, "--row", 0, "--html", page)
    assert run(*explain).exit_code == 2 and read_bytes(locate(page)) == b"mine"
    assert run(*explain, "--force").exit_code == 0
    assert run(*explain).exit_code == 0
    for given in (pairs, f"s3://{bucket}/pairs", f"S3://{bucket}/pairs/*.parquet"):
        for output in (pairs, f"s3://{bucket}/pairs/classes.parquet"):
            if given != pairs or output == pairs:
                assert run("dedupe", given, output, "--workers", 1, "--force").exit_code == 2
    assert run("dedupe", pairs, f"s3://{bucket}/classes.parquet", "--workers", 1).exit_code == 0
