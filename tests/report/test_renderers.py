"""The report as HTML, Markdown, text and tables: well-formed, escaped, complete."""

from __future__ import annotations

import io
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import polars as pl
import pytest
from pddl_eval.pages import MOST_ROWS, Cell, Page, Section, Table, escape_markdown, markdown, plain, terminal
from pddl_eval.report import Report, build_report, report_html, report_json, report_page, write_tables
from pddl_eval.shown import line
from rich.console import Console

from tests.report.scored_rows import HOSTILE, answers, write_partitions

pytestmark = pytest.mark.usefixtures("drawn_once")

VOID = {"meta", "br", "wbr"}


@pytest.fixture(scope="module")
def hostile() -> Report:
    """A report in which a model's name and a detail attack every renderer."""
    frame = answers(HOSTILE, plans=True)
    return build_report(frame.with_columns(detail=pl.col("detail") + HOSTILE))


@pytest.fixture(scope="module")
def report() -> Report:
    return build_report(answers(plans=True))


@pytest.fixture(scope="module")
def hostile_html(hostile: Report) -> str:
    return report_html(hostile)


@pytest.fixture(scope="module")
def html(report: Report) -> str:
    return report_html(report)


class _Page(HTMLParser):
    """The elements of a page with the attributes and texts that the tests ask for; refuses what is not nested well."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open:
            self.texts.append((self.open[-1], data))

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


def without_scripts(html: str) -> str:
    """The page as a reader without scripts gets it; none of what runs comes from the data."""
    return re.sub(r"<script\b.*?</script>", "", html, flags=re.DOTALL)


def markdown_of(report: Report) -> str:
    return markdown(report_page(report))


def printed(report: Report, width: int = 80, colours: bool = False) -> str:
    """What a console of that width shows."""
    file = io.StringIO()
    Console(file=file, width=width, highlight=False, force_terminal=colours).print(terminal(report_page(report)))
    return file.getvalue()


def test_the_page_is_well_formed_and_says_its_language(html: str) -> None:
    page = _Page(html)
    assert html.startswith("<!DOCTYPE html>")
    assert page.all("html") == [{"lang": "en"}]
    assert len(page.all("title")) == len(page.all("h1")) == len(page.all("main")) == 1
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_the_body_of_the_page_is_xml_as_well(hostile_html: str) -> None:
    body = re.search(r"<main.*</main>", hostile_html, re.DOTALL)
    assert body is not None
    ElementTree.fromstring(body.group())


def test_the_page_loads_nothing_and_runs_one_script(hostile_html: str) -> None:
    html = hostile_html
    page = _Page(html)
    assert not {"link", "img", "iframe", "object", "form"} & {name for name, _ in page.elements}
    for _, attributes in page.elements:
        assert not any(attribute.startswith("on") for attribute in attributes)
        assert all((attributes.get(key) or "#").startswith("#") for key in ("href", "src"))
    assert "url(" not in without_scripts(html)
    assert "@import" not in without_scripts(html)
    (policy,) = (each["content"] or "" for each in page.all("meta") if "http-equiv" in each)
    scripts = page.all("script")
    (runs,) = (each for each in scripts if each.get("type") != "application/json")
    assert f"script-src 'nonce-{runs['nonce']}'" in policy and "default-src 'none'" in policy and "eval" not in policy
    assert len(scripts) == 1 + without_scripts(html).count("<figcaption>")


def test_a_chart_s_specification_holds_no_markup(hostile_html: str) -> None:
    for text in re.findall(r'<script type="application/json">(.*?)</script>', hostile_html, re.DOTALL):
        assert not set("<>&\x1b\u202e") & set(text)
        json.loads(text)


def test_names_from_the_data_stay_text(hostile_html: str) -> None:
    page = _Page(hostile_html)
    assert ("th", line(HOSTILE)) in page.texts
    assert "<script" not in without_scripts(hostile_html)
    assert "\x1b" not in hostile_html


def test_tables_have_captions_and_scopes(html: str) -> None:
    page = _Page(html)
    assert len(page.all("table")) == len(page.all("caption")) > 8
    assert {attributes.get("scope") for attributes in page.all("th")} == {"col", "row"}


def test_a_wide_table_scrolls_in_a_box_that_the_keyboard_reaches(html: str) -> None:
    boxes = [each for each in _Page(html).all("div") if each.get("class") == "scroll"]
    assert len(boxes) == without_scripts(html).count("<table>")
    assert all((each["tabindex"], each["role"]) == ("0", "region") and each["aria-label"] for each in boxes)


def test_figures_are_named_and_described(html: str) -> None:
    figures = _Page(html).all("svg")
    assert len(figures) == html.count("<figcaption>") > 5
    assert {figure["role"] for figure in figures} == {"img"}
    spoken = " ".join(figure["aria-label"] or "" for figure in figures)
    assert "by model. strong: parseable 100.0, solvable 100.0, ignoring types 75.0, equivalent 75.0." in spoken


def test_headings_follow_in_order(html: str) -> None:
    headings = [name for name, _ in _Page(html).elements if re.fullmatch("h[1-6]", name)]
    assert headings[0] == "h1"
    assert set(headings[1:]) == {"h2"}


def test_a_notebook_gets_the_same_in_a_fragment(report: Report, html: str) -> None:
    fragment = report_html(report, whole=False)
    assert not {"html", "head", "body", "main"} & {name for name, _ in _Page(fragment).elements}
    assert fragment.count("<svg") == html.count("<svg")
    style = re.search(r"<style>(.*?)</style>", fragment, re.DOTALL)
    assert style is not None
    rules = re.sub(r"/\*.*?\*/", "", style.group(1), flags=re.DOTALL)
    while rules != (rules := re.sub(r"\([^()]*\)", "", rules)):
        pass  # :is(…) and light-dark(…), the innermost parentheses first
    selectors = re.findall(r"(?:^|[{}])\s*([^{}@]+)\{", rules)
    assert len(selectors) > 30
    assert all(re.search(r"\.pddl-eval\b|\bbody:has$", part.strip()) for each in selectors for part in each.split(","))


def test_markdown_tables_have_as_many_cells_in_each_row(hostile: Report) -> None:
    text = markdown_of(hostile)
    blocks = [block.splitlines() for block in text.split("\n\n") if block.startswith("|")]
    assert len(blocks) > 8
    for lines in blocks:
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in lines}) == 1


def test_markdown_escapes_names(hostile: Report) -> None:
    text = markdown_of(hostile)
    assert "<script" not in text
    assert escape_markdown(HOSTILE) in text
    assert "| strong" in markdown_of(build_report(answers()))


def test_markdown_keeps_a_command_whole(tmp_path: Path) -> None:
    place = write_partitions(tmp_path / "a`b", [answers()])
    assert f"`` pddl-eval explain '{place}' --row 3 ``".replace("`` p", "``p").replace("3 ``", "3``") in markdown_of(
        build_report(place)
    )


def test_the_terminal_stays_within_its_width(hostile: Report, report: Report) -> None:
    for each in (hostile, report):
        assert max(map(len, printed(each, 80).splitlines())) <= 80


def test_a_long_name_takes_few_lines_of_a_terminal() -> None:
    long, other = (f"org/{'very-long-' * 20}{end}" for end in ("7b", "70b"))
    text = printed(build_report(pl.concat([answers(long), answers(other)])), 100)
    assert long not in text and "7b" in text and "70b" in text
    rows = text[text.index("Percent of answers, by model\n") : text.index("Percent of answers, by domain\n")]
    assert len(rows.splitlines()) < 25


def test_names_that_differ_in_their_middle_are_shown_whole() -> None:
    one, other = (f"{'a' * 40}{middle}{'b' * 40}" for middle in "12")
    cells = [[Cell(one)], [Cell(other)], [Cell("c" * 90)]]
    text = plain(Page("t", (), (), [Section("s", (), [Table("c", ["model"], cells)])]), 120)
    assert one in text and other in text and "c" * 90 not in text


def test_the_terminal_takes_nothing_for_markup_or_escapes(hostile: Report) -> None:
    text = printed(hostile, 400)
    assert line(HOSTILE) in text
    assert "\x1b" not in text
    assert "\x1b[31m\u202e" not in printed(hostile, 400, colours=True)


def test_the_terminal_shows_rates_with_intervals(report: Report) -> None:
    lines = printed(report).splitlines()
    rates = next(number for number, line in enumerate(lines) if line.startswith("Percent of answers, by model"))
    row = next(number for number in range(rates, len(lines)) if lines[number].split()[:1] == ["strong"])
    assert lines[row].split() == ["strong", "4", "100.0", "100.0", "75.0", "75.0", "0"]
    assert lines[row + 1].split() == ["51.0–100.0", "51.0–100.0", "30.1–95.4", "30.1–95.4"]


def test_every_reader_learns_what_was_left_out_and_not_decided(report: Report, html: str) -> None:
    for text in (html, markdown_of(report), printed(report, 400)):
        assert "1 row left out of all rates" in text
        assert "equivalent in 1 (50.0 % if all of these were yes)" in text


def test_a_warning_stands_above_everything(tmp_path: Path) -> None:
    mixed = build_report(write_partitions(tmp_path, [answers(), answers()], ["one", "two"]))
    assert '<p class="warning" role="note">' in report_html(mixed).split("<h2")[0]
    assert "**Warning:**" in markdown_of(mixed).split("##")[0]
    assert "Warning:" in printed(mixed).split("Rates")[0]


def test_long_tables_are_cut_and_say_so() -> None:
    number = MOST_ROWS + 40
    frame = pl.DataFrame({"model": [f"m{each}" for each in range(number)], "parseable": [True] * number})
    html = report_html(build_report(frame))
    assert f"the first {MOST_ROWS} of {number}" in html
    assert html.count('<th scope="row"') == 1 + MOST_ROWS


def test_a_name_as_long_as_an_answer_is_cut() -> None:
    report = build_report(answers("m" * 1_000_000))
    assert len(without_scripts(report_html(report))) < 200_000
    assert len(markdown_of(report)) < 100_000


def test_json_holds_every_table_unrounded(report: Report) -> None:
    found = json.loads(report_json(report))
    assert found["rows"] == 9
    assert found["by"] == ["model", "domain"]
    assert set(found["tables"]) == set(report.tables())
    assert found["tables"]["rates"][0] == report.rates.row(0, named=True)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_tables_are_written_one_a_file(report: Report, tmp_path: Path, suffix: str) -> None:
    write_tables(report, tmp_path / "tables", suffix)
    names = {f"{name}.{suffix}" for name in ("about", *report.tables())}
    assert {path.name for path in (tmp_path / "tables").iterdir()} == names
    read = pl.read_csv if suffix == "csv" else pl.read_parquet
    assert read(tmp_path / "tables" / f"rates.{suffix}").equals(report.rates)


def test_a_file_gets_the_rates_alone(report: Report, tmp_path: Path) -> None:
    write_tables(report, tmp_path / "deep" / "rates.parquet", "parquet")
    assert pl.read_parquet(tmp_path / "deep" / "rates.parquet").equals(report.rates)


def test_a_dataset_without_rates_has_its_metrics_as_main_table(tmp_path: Path) -> None:
    write_tables(build_report(pl.DataFrame({"domain_precision": [1.0]})), tmp_path / "one.csv", "csv")
    assert pl.read_csv(tmp_path / "one.csv")["metric"].to_list() == ["domain_precision"]


def test_a_section_stands_only_where_there_is_something_to_say() -> None:
    assert "<h2" not in report_html(build_report(answers().clear()))
    domains = report_html(build_report(pl.DataFrame({"domain_precision": [1.0, 0.5]})))
    assert re.findall(r"<h2[^>]*>([^<]*)", without_scripts(domains)) == ["Domains"]
