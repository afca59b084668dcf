"""The command ``pddl-eval report``: what it prints and writes, and what it says when it cannot."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from urllib.parse import parse_qs

import polars as pl
import pytest
from pddl_eval.datasets import list_files, locate, read_bytes
from pddl_eval.report import brief_page, build_report, report_page
from pddl_eval.terminal import plain

from tests.support.html_page import Page as HtmlPage
from tests.support.html_page import links, seen
from tests.support.running import ENVIRONMENT, only_line, run
from tests.support.sample import DOMAIN_TEXTS
from tests.support.scored_rows import answers, write_partitions

pytestmark = pytest.mark.usefixtures("undrawn", "brief_reports")


@pytest.fixture
def scored(tmp_path: Path) -> Path:
    frame = answers(plans=True)
    return write_partitions(tmp_path / "scored", [frame.head(4), frame.tail(5)], ["one", "one"])


def test_by_default_a_table_for_the_terminal(scored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    result = run("report", scored)
    assert result.exit_code == 0, result.stderr
    assert "model" in result.stdout and "equivalent" in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 80


@pytest.mark.parametrize(
    ("by", "columns"),
    [
        (("--by", "model,num_objects", "--by", "domain"), ["model", "num_objects", "domain"]),
        (("--by", ""), []),
        ((), ["model", "domain"]),
    ],
)
def test_columns_to_group_by(scored: Path, by: tuple[str, ...], columns: list[str]) -> None:
    assert json.loads(run("report", scored, *by, "--format", "json").stdout)["by"] == columns


@pytest.mark.parametrize(("form", "start"), [("md", "# "), ("csv", "model,domain,measure"), ("html", "<!")])
def test_formats_go_to_stdout(scored: Path, form: str, start: str) -> None:
    assert run("report", scored, "--format", form).stdout.startswith(start)


@pytest.mark.parametrize(
    ("name", "start"), [("r.html", "<!DOCTYPE html>"), ("r.md", "# "), ("r.json", "{"), ("r.txt", "Scores of")]
)
def test_the_suffix_of_the_output_chooses_the_format(scored: Path, name: str, start: str) -> None:
    output = scored.parent / "new" / name
    result = run("report", scored, "--output", output)
    assert (result.exit_code, result.stdout) == (0, "")
    text = output.read_text(encoding="utf-8")
    assert text.startswith(start)
    if name == "r.txt":
        assert max(map(len, text.splitlines())) <= 100 and "\x1b" not in text


@pytest.mark.parametrize("name", ["pages/", "deep/pages"])
def test_an_output_without_a_suffix_is_a_folder_of_pages(scored: Path, name: str) -> None:
    result = run("report", scored, "--by", "model", "--output", f"{scored.parent}/{name}")
    assert (result.exit_code, result.stdout) == (0, "") and only_line(result.stderr).endswith("/index.html")
    assert {path.name for path in (scored.parent / name).iterdir()} == {"index.html", "rows.html", "rows"}


def test_what_a_rate_counts_is_what_it_opens(tmp_path: Path) -> None:
    """Of each link to the table of rows, the rows that ``rows.js`` keeps are as many as the cell says.

    One answer of nine has a reference that is a mistake in the data, two plans were not judged.
    """
    scored = write_partitions(tmp_path, [answers(strong="long " * 80, plans=True)], ["one"])
    assert run("report", scored, "--output", f"{tmp_path}/pages/").exit_code == 0
    pages = {name: HtmlPage(tmp_path / "pages" / f"{name}.html") for name in ("index", "rows")}
    names = [seen(each).strip() for each in pages["rows"].all("thead")[0][0]]
    rows = [[seen(cell) for cell in row] for row in pages["rows"].tables()["Rows"]]

    def kept(row: list[str], wanted: dict[str, list[str]]) -> bool:
        cells = dict(zip(names, row, strict=True))
        counted = cells.pop("counted in").split(", ")
        return all({*values} & {*counted, cells.get(name)} for name, values in wanted.items())

    opened: dict[str, list[str]] = {}
    for caption, table in pages["index"].tables().items():
        cells = [cell for row in table for cell in row[1:] if links(cell) and seen(cell).isdigit()]
        for cell in cells if caption.startswith("Percent of") else ():
            (address,) = links(cell)
            there = sum(kept(each, parse_qs(address.partition("#")[2])) for each in rows)
            assert seen(cell) == str(there), (caption, address)
            opened.setdefault(caption, []).append(seen(cell))
    assert opened["Percent of answers, by model"] == ["4", "4"]
    assert opened["Percent of plans, by model"] == ["4", "2"]


def test_csv_and_parquet_fill_a_folder_or_a_file(scored: Path) -> None:
    tables = scored.parent / "tables"
    assert run("report", scored, "--format", "parquet", "--output", tables).exit_code == 0
    assert "differences.parquet" in {path.name for path in tables.iterdir()}
    assert run("report", scored, "--output", scored.parent / "rates.csv").exit_code == 0
    assert pl.read_csv(scored.parent / "rates.csv").equals(pl.read_parquet(tables / "rates.parquet"))


def test_figures_fill_a_folder_and_the_ranking_a_file(scored: Path, undrawn: None) -> None:
    figures = scored.parent / "figures"
    result = run("report", scored, "--format", "svg", "--output", figures)
    assert result.exit_code == 0 and str(figures) in only_line(result.stderr) and result.stdout == ""
    assert run("report", scored, "--output", figures / "paper.svg").exit_code == 0
    assert (figures / "paper.svg").read_bytes() == (figures / "ranking.svg").read_bytes()


def test_mixed_signatures_are_reported_in_every_format(tmp_path: Path) -> None:
    mixed = write_partitions(tmp_path, [answers(), answers()], ["one", "two"])
    assert "not comparable" in run("report", mixed, "--format", "csv").stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--by", "modell"), "did you mean model?"),
        (("--column", "reference_id=nix"), "nix"),
        (("--metrics", ""), "No score"),
        (("--metrics", ","), "No score"),
        (("--output", "x.rtf"), ".tex"),
        (("--format", "folder"), "--output"),
        (("--format", "parquet"), "--output"),
        (("--format", "png"), "--output"),
    ],
)
def test_a_mistake_is_one_sentence(scored: Path, arguments: tuple[str, ...], said: str) -> None:
    result = run("report", scored, *arguments)
    assert result.exit_code == 2 and said in only_line(result.stderr)


@pytest.mark.parametrize(
    "arguments",
    [
        ("--output", "{}/r.html"),
        ("--format", "csv", "--output", "{}/tables"),
        ("--format", "svg", "--output", "{}/figures"),
    ],
)
def test_an_output_that_cannot_be_written_is_one_sentence(scored: Path, arguments: tuple[str, ...]) -> None:
    file = scored.parent / "file"
    file.write_text("no folder")
    result = run("report", scored, *(each.format(file) for each in arguments))
    assert result.exit_code == 1 and str(file) in only_line(result.stderr)


@pytest.mark.slow  # Every figure in four forms.
def test_reports_go_to_object_stores(scored: Path, bucket: str) -> None:
    place = f"s3://{bucket}/out"
    assert run("report", scored, "--output", f"{place}/r.html").exit_code == 0
    assert run("report", scored, "--format", "svg", "--output", f"{place}/figures").exit_code == 0
    assert run("report", scored, "--format", "parquet", "--output", f"{place}/tables").exit_code == 0
    assert read_bytes(locate(f"{place}/r.html")).startswith(b"<!DOCTYPE html>")
    assert any(name.endswith(".svg") for name in list_files(locate(f"{place}/figures")))
    assert "verdicts.parquet" in list_files(locate(f"{place}/tables"))


@pytest.mark.parametrize("form", ["csv", "json"])
def test_names_in_csv_and_json_are_printable(form: str, tmp_path: Path) -> None:
    frame = answers(strong="gpt\x1b[31m\x9b\u202e", plans=True)
    scored = write_partitions(tmp_path / "scored", [frame], ["one"])
    text = run("report", scored, "--format", form).stdout
    assert text.replace("\n", "").isprintable() and ("\\x1b" if form == "csv" else "\\u001b") in text
    if form == "json":
        assert {row["model"] for row in json.loads(text)["tables"]["rates"]} >= {"gpt\x1b[31m\x9b\u202e"}


def test_no_text_of_a_csv_is_a_formula(tmp_path: Path) -> None:
    models = ["=HYPERLINK(1)", "+cmd", "-1", "@SUM(1)", "\tx", "\rx", "x=1", "a-b"]
    frame = pl.DataFrame({"=model": models, "equivalent": [True, False] * 4})
    frame.write_parquet(tmp_path / "scored.parquet")
    assert run("report", tmp_path / "scored.parquet", "--by", "=model", "--output", tmp_path / "x.csv").exit_code == 0
    written = pl.read_csv(tmp_path / "x.csv")
    formulas = ("=", "+", "-", "@", "\t", "\r")
    assert {each.lstrip("'") for each in written["'=model"].drop_nulls()} >= {*models[:4], *models[6:]}
    assert not any(text.startswith(formulas) for text in [*written["'=model"].drop_nulls(), *written.columns])
    assert written["percent"].dtype == pl.Float64


def test_a_report_of_domains_alone_has_no_empty_table(tmp_path: Path) -> None:
    columns = {"reference_domain": [DOMAIN_TEXTS["gripper"]] * 2, "generated_domain": [DOMAIN_TEXTS["gripper"], ""]}
    problem = "(define (problem p) (:domain gripper) (:objects a) (:init (room a)) (:goal (room a)))"
    pl.DataFrame({**columns, "reference_problem": [problem] * 2}).write_parquet(tmp_path / "pairs.parquet")
    assert run("score", tmp_path / "pairs.parquet", tmp_path / "scored", "--no-check-solvable").exit_code == 0
    page = report_page(build_report(tmp_path / "scored"))
    assert all(table.rows for section in page.sections for table in section.tables)


def test_a_limit_of_addresses_is_said_before_the_work(scored: Path, tmp_path: Path) -> None:
    limited = f"ulimit -v 20000000; exec {sys.executable} -m pddl_eval report {scored} --output {tmp_path}/x.pdf"
    done = subprocess.run(["sh", "-c", limited], env=ENVIRONMENT, capture_output=True, text=True)
    assert done.returncode == 2 and "ulimit" in only_line(done.stderr)


@pytest.mark.parametrize("width", [80, 120, 200])
def test_a_report_is_two_screens_and_names_what_else_there_is(width: int, tmp_path: Path) -> None:
    answers(plans=True).write_parquet(tmp_path / "scored.parquet")
    page = report_page(build_report(tmp_path / "scored.parquet"))
    brief = plain(brief_page(page, width), width)
    assert len(brief.splitlines()) <= 80 and max(map(len, brief.splitlines())) <= width
    shown = run("report", tmp_path / "scored.parquet").stdout
    assert "--all" in shown and "By group" not in shown
    assert "By group" in run("report", tmp_path / "scored.parquet", "--all").stdout
    alone = run("report", tmp_path / "scored.parquet", "--table", "by-group").stdout
    assert "By group" in alone and "Ranking" not in alone


def test_a_table_that_is_cut_short_says_so() -> None:
    rows = {"model": [f"m{n}" for n in range(20)], "domain": ["a", "b"] * 10, "equivalent": [True] * 20}
    page = report_page(build_report(pl.DataFrame(rows)))
    ranking = brief_page(page, 100).sections[0].tables[0]
    assert len(ranking.rows) == 8 and "the first 8" in ranking.caption
    assert "the first" not in page.sections[0].tables[0].caption


def test_what_was_not_asked_for_has_no_rate(tmp_path: Path) -> None:
    held = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"
    pairs = pl.DataFrame({"reference_problem": [held] * 2, "generated_problem": [held, "no problem"]})
    pairs.write_parquet(tmp_path / "pairs.parquet")
    assert run("score", tmp_path / "pairs.parquet", tmp_path / "scored", "--no-check-solvable").exit_code == 0
    measured = build_report(tmp_path / "scored").rates["measure"].to_list()
    assert "equivalent" in measured and not {"solvable", "solves_reference"} & set(measured)
