"""The report folder: links go both ways, hostile answers stay text, number and time are bounded."""

from __future__ import annotations

import re
from functools import partial
from http.server import HTTPServer, SimpleHTTPRequestHandler
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from threading import Thread
from urllib.parse import parse_qsl, urlsplit

import polars as pl
import pytest
from pddl_eval import build_report, score_dataset
from pddl_eval.commands import folder as viewer
from pddl_eval.commands.folder import INDEX, ROWS, write_folder
from pddl_eval.errors import UserError
from pddl_eval.report.rows import listed_rows, texts_of
from pddl_eval.shown import line

from tests.support.browser import PROGRAM, browser
from tests.support.html_page import Page, links, seen
from tests.support.pairs_by_verdict import ANSWERS, REFERENCE
from tests.support.scored_rows import HOSTILE

ENDING = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\x1b[31m\x07\u202e\u2028' \"--><!--"
"""What would end a script, a comment or an attribute."""


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two models with every verdict of the examples, each answer a hostile one; one model has a hostile name too."""
    texts = [(answer or "") + ENDING for answer in ANSWERS.values()]
    rows = [
        {
            "model": model,
            "prompt": "Write the towers." + ENDING,
            "reference_problem": REFERENCE,
            "generated_problem": text,
            "unrelated": number,
        }
        for model in ("plain", HOSTILE)
        for number, text in enumerate([*texts, ENDING, "(define (problem " + ENDING, None])
    ]
    frame = pl.DataFrame(rows).with_columns(domain=pl.lit("blocksworld"))
    folder = tmp_path_factory.mktemp("viewer")
    frame.write_parquet(folder / "pairs.parquet", row_group_size=5)
    score_dataset(folder / "pairs.parquet", folder / "scored", workers=1, shard_rows=10)
    return folder / "scored"


@pytest.fixture(scope="module")
def report(scored: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    write_folder(build_report(scored), folder)
    return folder


def links_of(path: Path) -> set[tuple[Path, str]]:
    """Files and fragments that a page links to."""
    found = set()
    for address in links(Page(path).root):
        parts = urlsplit(address)
        assert not parts.scheme and not parts.netloc
        found.add(((path.parent / parts.path).resolve() if parts.path else path, parts.fragment))
    return found


def row_pages(report: Path) -> dict[int, Page]:
    return {int(path.stem): Page(path) for path in (report / "rows").iterdir()}


def rows_shown(report: Path, fragment: str) -> list[int]:
    """The rows that the table shows where it is opened with filters in the address, as its script reads them."""
    page = Page(report / ROWS)
    (table,) = page.all("table")
    names = [seen(each) for each in table[1][0]]
    wanted: dict[str, list[str]] = {}
    for name, value in parse_qsl(fragment, strict_parsing=True):
        wanted.setdefault(name, []).append(value)
    assert set(wanted) <= set(names)
    rows = [dict(zip(names, map(seen, row), strict=True)) for row in page.tables()["Rows"]]
    kept = [row for row in rows if all(row[name] in values for name, values in wanted.items())]
    return [int(row["row"].replace(",", "")) for row in kept]


def test_links_resolve_and_rows_are_linked_both_ways(report: Path) -> None:
    pages = sorted(report.rglob("*.html"))
    ids = {page.resolve(): {each.get("id") for each in Page(page).elements()} for page in pages}
    for page in pages:
        for file, fragment in links_of(page):
            assert file.is_file()
            assert not fragment or fragment in ids[file] or file.name == ROWS
    rows = {path for path in pages if path.parent.name == "rows"}
    assert rows == {file for file, _ in links_of(report / ROWS) if file.parent.name == "rows"}
    for row in rows:
        assert {(report / INDEX, ""), (report / ROWS, "")} <= links_of(row)
    assert (report / ROWS, "") in links_of(report / INDEX)
    assert any(file in rows for file, _ in links_of(report / INDEX)), "examples of the report"


def test_from_the_ranking_to_rows_to_a_row(report: Path, scored: Path) -> None:
    """Every link of the report opens rows that are those of the dataset with these values."""
    frame = pl.read_parquet(scored / "*.parquet").with_row_index("row")
    assert rows_shown(report, "model=plain") == rows_in_order(frame.filter(model="plain"))
    (by_verdict,) = (rows for name, rows in Page(report / INDEX).tables().items() if name == "Verdicts")
    for cells in by_verdict:
        (address,) = links(cells[0])
        _, _, fragment = address.partition("#")
        verdict = seen(cells[0]).replace(" ", "_")
        assert rows_shown(report, fragment) == rows_in_order(frame.filter(verdict=verdict))
    bars = Page(report / INDEX).tables()["Verdicts by model"]
    for bar in bars:
        opened = [rows_shown(report, address.partition("#")[2]) for address in links(bar[1])]
        assert sum(map(len, opened)) == frame.height // 2


def rows_in_order(frame: pl.DataFrame) -> list[int]:
    right = pl.col("verdict").is_in(["identical", "isomorphic", "equivalent"])
    return frame.sort(right, "row")["row"].to_list()


def test_every_row_has_a_page_that_names_dataset_row_model_and_prompt(report: Path, scored: Path) -> None:
    listed = listed_rows(build_report(scored), 1000)
    pages = row_pages(report)
    assert listed.rows == listed.frame.height == len(pages) and 20 < listed.wrong < listed.rows
    for known in listed.frame.head(3).iter_rows(named=True):
        page = pages[known["row"]]
        assert f"Row {known['row']} of {scored}" in page.text and f"model {line(known['text.model'])}" in page.text
        assert page.text.index("Write the towers.") < page.text.index("Scores")
        (title,) = page.all("h1")
        (badge,) = title
        verdict = texts_of(listed, known)["verdict"]
        assert seen(badge).startswith(verdict) and badge.get("class") == f"badge v-{verdict.replace(' ', '_')}"


def test_wrong_rows_come_first_and_previous_and_next_follow_them(report: Path) -> None:
    order = rows_shown(report, "model=plain")
    page = Page(report / ROWS)
    rows = [int(seen(row[0]).replace(",", "")) for row in page.tables()["Rows"]]
    assert order == [row for row in rows if row in set(order)]
    pages = row_pages(report)
    steps = {row: {seen(each): each.get("href") for each in pages[row].all("nav")[0].iter("a")} for row in rows}
    for first, second in pairwise(rows):
        assert steps[first]["next (j)"] == f"{second}.html"
        assert steps[second]["previous (k)"] == f"{first}.html"


def test_other_answers_to_a_question_stand_side_by_side(tmp_path: Path) -> None:
    rows = [
        {"model": model, "question_id": question, "gold": REFERENCE, "output": REFERENCE, "sample": sample}
        for model in ("a", "b")
        for question in ("x", "y")
        for sample in range(2)
    ]
    pl.DataFrame(rows).write_parquet(tmp_path / "answers.parquet")
    names = {"reference_problem": "gold", "generated_problem": "output", "reference_id": "question_id"}
    score_dataset(tmp_path / "answers.parquet", tmp_path / "scored", workers=1, columns=names)
    assert write_folder(build_report(tmp_path / "scored"), tmp_path / "report") == 8
    (caption,) = (name for name in row_pages(tmp_path / "report")[0].tables() if "this question" in name)
    cells = row_pages(tmp_path / "report")[0].tables()[caption]
    assert [[seen(cell) for cell in row[:4]] for row in cells] == [
        [str(row), model, "blocksworld", str(sample)]
        for row, model, sample in ((0, "a", 0), (1, "a", 1), (4, "b", 0), (5, "b", 1))
    ]
    assert [links(row[0]) for row in cells] == [[], ["1.html"], ["4.html"], ["5.html"]]
    assert rows_shown(tmp_path / "report", "question=y&model=b") == [6, 7]


def test_two_answers_stand_beside_the_reference_with_what_is_not_in_it_marked(tmp_path: Path) -> None:
    """The page of a question, the marks inside lines, what was read beside what was written, the permanent link."""
    other = REFERENCE.replace("(:goal (and", "(:goal (and (clear b)", 1)
    assert other != REFERENCE
    rows = {"model": ["a", "b"], "reference_id": ["q 1"] * 2, "reference_problem": [REFERENCE] * 2}
    pl.DataFrame({**rows, "generated_problem": [f"Sure! {REFERENCE}", other]}).write_parquet(tmp_path / "in.parquet")
    score_dataset(tmp_path / "in.parquet", tmp_path / "scored", workers=1)
    write_folder(build_report(tmp_path / "scored"), tmp_path / "report")
    page = Page(tmp_path / "report" / "questions" / "0.html")
    (head, badges, texts) = page.all("table")[0].iter("tr")
    assert [seen(each) for each in head] == ["reference", "a, blocksworld", "b, blocksworld"]
    assert links(badges) == ["../rows/0.html", "../rows/1.html"]
    assert [seen(each) for each in texts.iter("mark")] == ["(clear b)"]
    row = row_pages(tmp_path / "report")[0]
    assert [seen(each) for each in row.all("pre") if each.get("class") == "beside"] == [seen(row.all("pre")[-2])]
    (link,) = (each.get("href") or "" for each in row.all("a") if seen(each) == "permanent link")
    assert link == "../rows.html#question=q+1&model=a&domain=blocksworld&:open="
    assert row.all("main")[0].get("data-row") == "question=q+1&model=a&domain=blocksworld"


@pytest.mark.slow
@pytest.mark.skipif(PROGRAM is None, reason="needs Chromium")
@pytest.mark.parametrize("scheme", ["file", "http"])
def test_next_and_previous_follow_what_the_table_showed(scheme: str, report: Path, tmp_path: Path) -> None:
    """Filtered and sorted, from disk and from a server; notes are kept, and read by the table of rows."""
    handler = partial(SimpleHTTPRequestHandler, directory=str(report))
    with HTTPServer(("127.0.0.1", 0), handler) as server, browser(tmp_path) as tab:
        Thread(target=server.serve_forever, daemon=True).start()
        base = f"http://127.0.0.1:{server.server_port}" if scheme == "http" else report.as_uri()
        tab.open(f"{base}/{ROWS}#model=plain&:sort=-verdict")
        order = tab.run("[...document.querySelectorAll('tbody tr:not([hidden]) a')].map((a) => a.href.split('#')[0])")
        assert len(order) > 5 and order != sorted(order)
        opened = [tab.follow("document.querySelector('tbody tr:not([hidden]) a').click()")]
        opened += [tab.press("j") for _ in order]
        assert opened == [*order, order[0]], "and from the last to the first"
        assert tab.press("k") == order[-1]
        tab.run("document.querySelector('form.notes [type=checkbox]').click()")
        assert tab.follow("[...document.querySelectorAll('nav a')].find((a) => a.textContent === 'All rows').click()")
        assert tab.run("document.querySelectorAll('tbody tr:not([hidden])').length") == len(order)
        number = order[-1].rpartition("/")[2].removesuffix(".html")
        assert tab.run("[...document.querySelectorAll('[title=\"looked at\"]')].length") >= 1
        tab.open(f"{base}/{ROWS}#unrelated={number}&model=plain&:open=")
        tab.wait(f"location.href === {order[-1]!r}")
        server.shutdown()


def test_nothing_is_loaded_and_no_answer_is_markup(report: Path) -> None:
    for path in report.rglob("*.html"):
        page, source = Page(path), path.read_text(encoding="utf-8")
        assert not {"link", "img", "iframe", "object", "form", "base"} & {each.tag for each in page.elements()}
        for each in page.elements():
            assert not any(name.startswith("on") for name in each.attrib)
            assert "src" not in each.attrib
        scripts = page.all("script")
        assert len(scripts) <= 1 and all(each.get("nonce") for each in scripts)
        assert not re.search(
            r"[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2028]", re.sub(r"(?s)<script.*?</script>", "", source)
        )
        (policy,) = (each.get("content", "") for each in page.all("meta") if "http-equiv" in each.attrib)
        assert policy.startswith("default-src 'none'") and "http" not in policy
    assert "<script>alert(1)" in Page(report / ROWS).text, "as text"


def test_the_table_names_its_filters_and_other_columns_wait(report: Path) -> None:
    (table,) = Page(report / ROWS).all("table")
    assert table.get("data-filters") == "model\ndomain\nverdict"
    assert {seen(each): "hidden" in each.attrib for each in table[1][0]} == {
        **dict.fromkeys(("row", "model", "domain", "verdict", "detail, and how the answer begins"), False),
        **dict.fromkeys(("prompt", "unrelated", "counted in"), True),
    }


@pytest.mark.parametrize("counts", ["first", "last"])
def test_how_an_answer_begins_is_what_was_scored_of_it(counts: str, tmp_path: Path) -> None:
    problem = "(define (problem {}) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"
    answer = f"<think>{problem.format('thought')}</think> {problem.format('one')} or {problem.format('two')}"
    rows = {"reference_problem": [problem.format("p")], "generated_problem": [answer]}
    pl.DataFrame(rows).write_parquet(tmp_path / "in.parquet")
    score_dataset(tmp_path / "in.parquet", tmp_path / "out", engine="local", answer=counts)
    (shown,) = listed_rows(build_report(tmp_path / "out"), 10).frame["answer"]
    assert shown.startswith(f"(define (problem {'one' if counts == 'first' else 'two'})")


def test_a_bound_is_said_and_every_group_and_verdict_has_its_turn(
    scored: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = build_report(scored)
    every = listed_rows(made, 1000)
    groups = every.frame.select("text.model", "text.verdict").unique()
    few = listed_rows(made, groups.height + made.examples.height)
    assert few.rows == every.rows and few.frame.select("text.model", "text.verdict").unique().height == groups.height
    monkeypatch.setattr(viewer, "MOST_LISTED", 5)
    assert write_folder(made, tmp_path, most=3) == 3
    assert len([*(tmp_path / "rows").iterdir()]) == 3
    text = Page(tmp_path / ROWS).text
    assert f"{made.rows} rows, {every.wrong} with" in text and "5 are below" in text


def test_when_the_time_is_up_the_rest_is_not_explained(
    scored: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(viewer, "MOST_SECONDS", -1.0)
    assert write_folder(build_report(scored), tmp_path, most=2) == 2
    assert all("the time was up" in page.text for page in row_pages(tmp_path).values())


def test_a_row_that_cannot_be_explained_costs_its_explanation(
    scored: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    explained = iter([ValueError("a bug")])

    def explain_row(*arguments: object, **options: object) -> object:
        for error in explained:
            raise error
        return original(*arguments, **options)

    original = viewer.explain_row
    monkeypatch.setattr(viewer, "explain_row", explain_row)
    assert write_folder(build_report(scored), tmp_path, most=3) == 3
    assert sum("not explained: a bug" in page.text for page in row_pages(tmp_path).values()) == 1


def test_plans_and_domains_fail_too(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "plan_valid": [True, False, True, None],
            "goal_reached": [True, True, False, None],
            "plan_detail": ["", "step 1 fails", "the goal lacks (on a b)", None],
            "domain_verdict": ["renamed", "identical", "identical", "operators_differ"],
            "domain_detail": [None, None, None, "go lacks the effect (q)"],
        }
    )
    frame.write_parquet(tmp_path / "scored.parquet")
    listed = listed_rows(build_report(tmp_path / "scored.parquet"), 10)
    assert listed.wrong == 3 and listed.verdicts == ("plan verdict", "domain verdict")
    assert listed.frame.sort("row").select("row", "text.plan verdict", "text.domain verdict", "detail").rows() == [
        (0, "valid", "renamed", ""),
        (1, "not valid", "identical", "step 1 fails"),
        (2, "goal not reached", "identical", "the goal lacks (on a b)"),
        (3, None, "operators differ", "go lacks the effect (q)"),
    ]
    assert write_folder(build_report(tmp_path / "scored.parquet"), tmp_path / "report") == 4
    assert "go lacks the effect (q)" in Page(tmp_path / "report" / ROWS).text


def test_a_dataset_without_texts_has_a_folder_too(tmp_path: Path) -> None:
    pl.DataFrame({"verdict": ["identical"], "equivalent": [True]}).write_parquet(tmp_path / "scored.parquet")
    assert write_folder(build_report(tmp_path / "scored.parquet"), tmp_path / "report") == 1
    assert (tmp_path / "report" / INDEX).is_file()


def test_a_frame_in_memory_has_no_rows_to_link_to(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="dataset"):
        write_folder(build_report(pl.DataFrame({"equivalent": [True]})), tmp_path)


def test_scripts_write_no_markup_and_are_small() -> None:
    """No string from the data becomes markup or code."""
    for script in ("rows.js", "row.js"):
        text = files("pddl_eval").joinpath("templates", script).read_text(encoding="utf-8")
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|Function\(", text)
        assert len(text) < 8_000


def test_a_preview_begins_where_the_pddl_does_and_is_that_of_the_wrong_answer(tmp_path: Path) -> None:
    rows = {
        "reference_problem": [REFERENCE] * 2,
        "generated_problem": [REFERENCE, "Here it is:\n" + REFERENCE],
        "reference_plan": ["(pickup a)"] * 2,
        "generated_plan": ["(fly a)", "(pickup a)"],
    }
    pl.DataFrame(rows).write_parquet(tmp_path / "pairs.parquet")
    score_dataset(tmp_path / "pairs.parquet", tmp_path / "scored", workers=1)
    listed = listed_rows(build_report(tmp_path / "scored"), 10)
    (first,) = listed.frame.filter(row=0)["answer"]
    assert first == "(fly a)"
