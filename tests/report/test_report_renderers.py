"""The report as HTML, Markdown, text and tables: well-formed, escaped, complete."""

from __future__ import annotations

import io
import json
import re
import shutil
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import polars as pl
import pytest
from pddl_eval.errors import UserError
from pddl_eval.latex import ESCAPES, escape_latex, latex
from pddl_eval.pages import MOST_ROWS, Cell, Page, Section, Table, escape_markdown, markdown, only_table
from pddl_eval.report import Report, build_report, report_html, report_page, report_text, save
from pddl_eval.report.sections import methods
from pddl_eval.shown import line
from pddl_eval.terminal import plain, terminal
from rich.console import Console

from tests.support.html_page import Page as HtmlPage
from tests.support.html_page import links, seen
from tests.support.scored_rows import HOSTILE, answers, write_partitions

pytestmark = pytest.mark.usefixtures("drawn_once")


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


def markdown_of(report: Report) -> str:
    return markdown(report_page(report))


def printed(report: Report, width: int = 80, colours: bool = False) -> str:
    """What a console of that width shows."""
    file = io.StringIO()
    Console(file=file, width=width, highlight=False, force_terminal=colours).print(terminal(report_page(report)))
    return file.getvalue()


def test_the_page_is_well_formed_and_says_its_language(html: str) -> None:
    page = HtmlPage(html)
    assert html.startswith("<!DOCTYPE html>")
    assert [each.attrib for each in page.all("html")] == [{"lang": "en"}]
    assert len(page.all("title")) == len(page.all("h1")) == len(page.all("main")) == 1
    ids = [each.get("id") for each in page.elements() if each.get("id")]
    assert len(ids) == len(set(ids))


def test_the_body_of_the_page_is_xml_as_well(hostile_html: str) -> None:
    body = re.search(r"<main.*</main>", hostile_html, re.DOTALL)
    assert body is not None
    ElementTree.fromstring(body.group())


def test_the_page_loads_nothing_and_runs_nothing(hostile_html: str) -> None:
    page = HtmlPage(hostile_html)
    assert not {"link", "img", "iframe", "object", "form", "script"} & {each.tag for each in page.elements()}
    for each in page.elements():
        assert not any(attribute.startswith("on") for attribute in each.attrib)
        assert all((each.get(key) or "#").startswith("#") for key in ("href", "src"))
    assert "url(" not in hostile_html and "@import" not in hostile_html
    (policy,) = (each.get("content", "") for each in page.all("meta") if "http-equiv" in each.attrib)
    assert "default-src 'none'" in policy and "script-src" not in policy


def test_names_from_the_data_stay_text(hostile_html: str) -> None:
    page = HtmlPage(hostile_html)
    assert line(HOSTILE) in [seen(each) for each in page.all("th")]
    assert "\x1b" not in hostile_html


def test_the_answer_comes_first() -> None:
    """Who is best, with its interval; then the ranking, best first, each with a dot where its number is."""
    several = [("a", [True] * 18 + [False] * 2), ("b", [True] * 3 + [False] * 17), ("c", [True] * 17 + [False] * 3)]
    several.append(("d", several[2][1]))
    frame = pl.DataFrame(
        [
            {"model": model, "reference_id": f"q{question}", "equivalent": right, "parseable": True}
            for model, answered in several
            for question, right in enumerate(answered)
        ]
    )
    page = HtmlPage(report_html(build_report(frame), browse="rows.html"))
    (told,) = (seen(each) for each in page.all("p") if each.get("class") == "lead")
    assert told.startswith("a ranks first: 90.0 % (95 % interval ")
    assert "better than b (p < 0.001)" in told and "No significant difference from c and d (p = 1.000)" in told
    first, *_ = page.tables().values()
    assert [seen(row[0]) for row in first] == ["a", "c", "d", "b"]
    for row, percent in zip(first, (90, 85, 85, 15), strict=True):
        (dot,) = (each for each in row[1].iter("b"))
        assert dot.get("style") == f"left:{percent:.2f}%"
        assert links(row[0]) == [f"rows.html#model={seen(row[0])}"]
    matrix = page.tables()["The hardest questions"]
    assert [seen(cell) for cell in matrix[0]] == ["q18", "0", "0", "0", "0"]
    assert links(matrix[0][1]) == ["rows.html#question=q18&model=a"]
    solved = {seen(row[0]): seen(row[1]) for row in page.tables()["Questions solved by"]}
    assert solved == {"no model": "2", "a alone": "1", "3 models": "14", "all 4 models": "3"}
    assert [seen(row[0]) for row in page.tables()["Questions that one model alone solves"]] == ["q17"]


def test_a_verdict_opens_its_rows(report: Report) -> None:
    page = HtmlPage(report_html(report, browse="rows.html"))
    by_verdict = {seen(row[0]): links(row[0]) for row in page.tables()["Verdicts"]}
    assert by_verdict["goal differs"] == ["rows.html#verdict=goal+differs"]
    strong, _ = page.tables()["Verdicts by model"]
    right, *_ = links(strong[1])
    assert right == "rows.html#model=strong&verdict=equivalent&verdict=identical&verdict=isomorphic"
    assert not links(HtmlPage(report_html(report)).all("table")[0]), "without a table of rows there is nothing to open"


def test_one_measure_is_seen_first_and_the_others_can_be_chosen(html: str) -> None:
    page = HtmlPage(html)
    chosen = [each for each in page.all("input") if each.get("name") == page.all("input")[0].get("name")]
    assert [each.get("type") for each in chosen] == ["radio"] * 5
    assert ["checked" in each.attrib for each in chosen] == [True, False, False, False, False]
    labels = [seen(each) for each in page.all("label")][:5]
    assert labels == ["equivalent", "parseable", "solvable", "ignoring types", "all"]


def test_tables_have_captions_and_scopes(html: str) -> None:
    page = HtmlPage(html)
    assert len(page.all("table")) == len(page.all("caption")) > 8
    assert {each.get("scope") for each in page.all("th")} == {"col", "row"}


def test_a_wide_table_scrolls_in_a_box_that_the_keyboard_reaches(html: str) -> None:
    page = HtmlPage(html)
    boxes = [each for each in page.all("div") if each.get("class") == "scroll"]
    assert len(boxes) == len(page.all("table"))
    assert all((each.get("tabindex"), each.get("role")) == ("0", "region") and each.get("aria-label") for each in boxes)


def test_drawings_are_described(html: str) -> None:
    spoken = [each.get("aria-label", "") for each in HtmlPage(html).all("span") if each.get("role") == "img"]
    assert len(spoken) > 10 and all(spoken)
    assert "strong: 75.0 % equivalent, 95 % interval 30.1 to 95.4, of 4 rows" in spoken


def test_headings_follow_in_order(html: str) -> None:
    headings = [each.tag for each in HtmlPage(html).elements() if re.fullmatch("h[1-6]", each.tag)]
    assert headings[0] == "h1"
    assert set(headings[1:]) == {"h2"}


def test_a_notebook_gets_the_same_in_a_fragment(report: Report, html: str) -> None:
    fragment = report_html(report, whole=False)
    page = HtmlPage(fragment)
    assert not {"html", "head", "body", "main"} & {each.tag for each in page.elements()}
    assert page.tables().keys() == HtmlPage(html).tables().keys()
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
    rows = text[text.index("Percent of answers, by model\n") : text.index("Models compared")]
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


def test_what_does_not_fit_a_terminal_comes_below_and_no_name_is_broken() -> None:
    header = ["model", *(f"number {each}" for each in range(12))]
    rows = [[Cell(name), *(Cell(f"{each}.0", "10.0–20.0") for each in range(12))] for name in ("llama-3-8b", "gpt-4o")]
    lines = plain(Page("t", (), (), [Section("s", (), [Table("c", header, rows)])]), 80).splitlines()
    assert max(map(len, lines)) <= 80
    shown = [each.split()[1:] for each in lines if each.startswith("llama-3-8b")]
    assert len(shown) > 1 and [word for words in shown for word in words] == [f"{each}.0" for each in range(12)]


def test_the_terminal_shows_rates_with_intervals(report: Report) -> None:
    lines = printed(report).splitlines()
    rates = next(number for number, line in enumerate(lines) if line.startswith("Percent of answers, by model"))
    row = next(number for number in range(rates, len(lines)) if lines[number].split()[:1] == ["strong"])
    assert lines[row].split() == ["strong", "75.0", "100.0", "100.0", "75.0", "4", "0"]
    assert lines[row + 1].split() == ["30.1–95.4", "51.0–100.0", "51.0–100.0", "30.1–95.4"]


def test_every_reader_learns_what_was_left_out_and_not_decided(report: Report, html: str) -> None:
    for text in (html, markdown_of(report), printed(report, 400)):
        assert "1 row left out of all rates" in text
        assert re.search(
            r"1 row undecided, counted as no; counted as yes: .*?equivalent 50.0 %", text.replace("\n", " ")
        )


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
    assert html.count('<th scope="row"') == MOST_ROWS


def test_a_name_as_long_as_an_answer_is_cut() -> None:
    report = build_report(answers("m" * 300_000))
    assert len(report_html(report)) < 200_000
    assert len(markdown_of(report)) < 100_000


def test_json_holds_every_table_unrounded(report: Report) -> None:
    found = json.loads(report_text(report, "json"))
    assert found["rows"] == 9
    assert found["by"] == ["model", "domain"]
    assert set(found["tables"]) == set(report.tables())
    assert found["tables"]["rates"][0] == report.rates.row(0, named=True)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_tables_are_written_one_a_file(report: Report, tmp_path: Path, suffix: str) -> None:
    save(report, tmp_path / "tables", suffix)
    names = {f"{name}.{suffix}" for name in ("about", *report.tables())}
    assert {path.name for path in (tmp_path / "tables").iterdir()} == names
    read = pl.read_csv if suffix == "csv" else pl.read_parquet
    assert read(tmp_path / "tables" / f"rates.{suffix}").equals(report.rates)


def test_a_file_gets_the_rates_alone(report: Report, tmp_path: Path) -> None:
    save(report, tmp_path / "deep" / "rates.parquet", "parquet")
    assert pl.read_parquet(tmp_path / "deep" / "rates.parquet").equals(report.rates)


def test_a_dataset_without_rates_has_its_metrics_as_main_table(tmp_path: Path) -> None:
    save(build_report(pl.DataFrame({"domain_precision": [1.0]})), tmp_path / "one.csv", "csv")
    assert pl.read_csv(tmp_path / "one.csv")["metric"].to_list() == ["domain_precision"]


def test_a_section_stands_only_where_there_is_something_to_say() -> None:
    def titles(frame: pl.DataFrame) -> list[str]:
        return [seen(each) for each in HtmlPage(report_html(build_report(frame))).all("h2")]

    assert titles(answers().clear()) == ["How this was computed"]
    assert titles(pl.DataFrame({"domain_precision": [1.0, 0.5]})) == ["Domains", "How this was computed"]


def test_an_empty_bin_of_a_distribution_keeps_its_place() -> None:
    """Values in the first and the last tenth: ten bars, of which eight have no height."""
    page = HtmlPage(report_html(build_report(pl.DataFrame({"plan_score": [0.05, 0.95]}))))
    ((_, bars),) = page.tables()["Distributions, all rows together"]
    heights = [each.get("style") for each in bars.iter("span") if each.get("title")]
    assert heights == ["height:100.00%", *["height:0.00%"] * 8, "height:100.00%"]


# --- The report as LaTeX: booktabs tables in which every name from the data is text


HOSTILE_TEX = r"\input{/etc/passwd} 100% & $x_1^2$ #1 ~{}" + HOSTILE

FOREIGN = "Ω ω Σ Α ά é Ł ß Ж 模型 ✓ 🦙 x² µ ħ ½ ™"
"""Letters and signs of names: with and without a command, accented, of other alphabets."""


WRAPPED = r"p{0.4\linewidth}"
"""A column of sentences."""


@pytest.fixture(scope="module")
def tex() -> str:
    return latex(report_page(build_report(answers(HOSTILE_TEX, plans=True))))


def test_every_table_of_the_page_is_one_with_three_rules(tex: str) -> None:
    page = report_page(build_report(answers(HOSTILE_TEX, plans=True)))
    tables = re.findall(r"\\begin{table\*?}.*?\\end{table\*?}", tex, re.DOTALL)
    assert len(tables) == sum(len(section.written) for section in page.sections) > 8
    for each in tables:
        assert [each.count(rf"\{rule}") for rule in ("toprule", "midrule", "bottomrule", "caption")] == [1, 1, 1, 1]
        columns = len(re.search(r"\\begin{tabular}{([lr]+)}", each.replace(WRAPPED, "l"))[1])  # type: ignore[index]
        rows = [row for row in each.splitlines() if row.endswith(r" \\")]
        assert rows and all(len(re.findall(r"(?<!\\)&", row)) == columns - 1 for row in rows)


def test_names_from_the_data_are_no_commands(tex: str) -> None:
    layout = "begin|end|centering|caption|label|[a-z]+rule|scriptsize|par|fittowidth|linewidth|allowbreak"
    layout += "|emergencystretch|char34"
    known = rf"\\({layout}|text[a-z]+|dots|to|n?eq|geq|leq|[&%$#_{{}}\\])"
    body = "\n".join(each for each in tex.splitlines() if not each.startswith(("%", r"\providecommand")))
    assert re.sub(known, "", body).count("\\") == 0
    assert r"\input" not in body
    unescaped = re.sub(r"\\.", "", body)
    assert unescaped.count("{") == unescaped.count("}") and "%" not in unescaped and "#" not in unescaped


@pytest.mark.parametrize("character", [*ESCAPES])
def test_every_special_character_is_escaped(character: str) -> None:
    assert escape_latex(f"a{character}b") == f"a{ESCAPES[character]}b"


def test_a_line_break_in_the_data_does_not_end_a_comment() -> None:
    page = Page("title\n\\evil", ["warning\nx"], ["fact\r\\evil"], [Section("s\n\\evil", ["p\n\\evil"])])
    assert [each for each in latex(page).splitlines() if "evil" in each and not each.startswith("%")] == []


def test_a_line_may_end_inside_a_name_that_is_wider_than_its_column() -> None:
    names = ["m" * 60, "acme/model_" * 5 + "it", "brief"]
    cells = [[Cell(name), Cell("1")] for name in names]
    tex = latex(Page("", (), (), [Section("", (), [Table("Names", ("model", "rows"), cells)])]))
    assert r"\allowbreak{}".join(["m" * 10] * 6) in tex
    assert all(r"\allowbreak{}" in row for row in tex.splitlines() if "acme" in row)
    assert tex.replace(r"\allowbreak{}", "").count(escape_latex(names[1])) == 1, "no letter is lost"
    narrow = latex(Page("", (), (), [Section("", (), [Table("Names", ("model", "rows"), [cells[2]])])]))
    assert "allowbreak" not in narrow


def test_intervals_stand_small_below_their_number() -> None:
    page = Page("t", (), (), [Section("s", (), [Table("c", ["model", "%"], [[Cell("a"), Cell("50.0", "40.0–60.0")]])])])
    assert r" & {\scriptsize 40.0--60.0} \\" in latex(page)


@pytest.mark.parametrize(
    ("text", "spelled"),
    [
        ("Ω", r"$\Omega$"),
        ("λ", r"$\lambda$"),
        ("Α", "[U+0391]"),
        ("ạ", "a"),
        ("模", "[U+6A21]"),
        ("🦙", "[U+1F999]"),
    ],
)
def test_what_pdflatex_has_no_letter_for_is_spelled(text: str, spelled: str) -> None:
    assert escape_latex(text) == rf"\unicodecharacter{{{text}}}{{{spelled}}}"
    made = latex(Page("t", (), (), [Section("s", (), [Table("c", ["model"], [[Cell(text)]])])]))
    assert made.count(r"\providecommand{\unicodecharacter}") == 1
    assert made.index("providecommand") < made.index(r"\begin{table}")


def test_letters_with_accents_stay() -> None:
    assert escape_latex("é Ł ß ü ŝ") == "é Ł ß ü ŝ"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex with booktabs")
@pytest.mark.parametrize("columns", ["onecolumn", "twocolumn"])
def test_pdflatex_reads_every_table(columns: str, tmp_path: Path) -> None:
    frame = answers(HOSTILE_TEX + FOREIGN if columns == "onecolumn" else "m" * 60, plans=True)
    table = latex(report_page(build_report(frame)))
    packages = r"\usepackage[T1]{fontenc}\usepackage{booktabs}\usepackage{graphicx}"
    document = rf"\maxdeadcycles=1000\extrafloats{{200}}\begin{{document}}{table}\pddlevalmethods\end{{document}}"
    text = rf"\documentclass[{columns}]{{article}}{packages}{document}"
    (tmp_path / "paper.tex").write_text(text, encoding="utf-8")
    result = subprocess.run(
        ["pdflatex", "-draftmode", "-halt-on-error", "paper.tex"], cwd=tmp_path, capture_output=True
    )
    assert result.returncode == 0, result.stdout[-2000:]
    assert b"Overfull" not in result.stdout, "tables fit the text"


def test_a_row_without_a_model_is_no_model_of_the_paragraph() -> None:
    frame = pl.DataFrame([{"model": model, "equivalent": True} for model in ("a", "b", None)])
    assert "3 answers of 2 models" in methods(build_report(frame))


def test_every_table_has_a_label_of_its_own() -> None:
    made = latex(report_page(build_report(answers(plans=True))))
    labels = re.findall(r"\\label{(tab:[a-z0-9-]+)}", made)
    assert "tab:percent-of-answers-by-model" in labels and len(labels) == len(set(labels)) == made.count(r"\caption{")


def models(**solved: int) -> pl.DataFrame:
    """Of ten questions each model solves the first ones."""
    rows = [
        {"model": model, "reference_id": f"q{question}", "equivalent": question < number, "domain": "gripper"}
        for model, number in solved.items()
        for question in range(10)
    ]
    return pl.DataFrame(rows).with_columns(verdict=pl.when("equivalent").then(pl.lit("identical")))


def test_bold_are_the_best_and_what_the_test_does_not_tell_from_it() -> None:
    """All against none of ten questions has p = 2/1024, corrected 6/1024; nine against all is chance."""
    (table,) = only_table(report_page(build_report(models(a=10, b=9, c=0))), "ranking").sections[0].tables
    assert [cell.bold for row in table.rows for cell in row if cell.interval] == [True, True, False]
    assert "sign-flip" in table.bold and r"\textbf{90.0}" in latex(report_page(build_report(models(a=10, b=9, c=0))))
    alike = latex(report_page(build_report(models(a=10, b=9))))
    assert r"\textbf" not in alike, "nothing is told, so nothing is best"


def test_one_table_with_chosen_columns_and_a_paragraph_are_written_alone(tmp_path: Path) -> None:
    report = build_report(models(a=10, b=9, c=0))
    report.save(tmp_path / "t.tex", table="ranking", columns=["rows", "equivalent"])
    made = (tmp_path / "t.tex").read_text(encoding="utf-8")
    assert made.count(r"\begin{table}") == 1 and r"model & rows & equivalent \\" in made and "90.0" in made
    report.save(tmp_path / "methods.md", table="methods")
    said = (tmp_path / "methods.md").read_text(encoding="utf-8")
    assert said.startswith("We scored 30 answers of 3 models") and "Holm" in said
    with pytest.raises(UserError, match="ranking"):
        report.save(tmp_path / "t.tex", table="rankin")
    with pytest.raises(UserError, match="equivalent"):
        report.save(tmp_path / "t.tex", table="ranking", columns=["solved"])


def test_a_name_is_not_taken_for_the_argument_of_the_line_above() -> None:
    named = answers().with_columns(pl.col("model").replace({"strong": "[strong]"}))
    made = latex(report_page(build_report(named)))
    assert "\n{}[strong] &" in made and "\n[strong] &" not in made
