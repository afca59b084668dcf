"""The report as LaTeX: booktabs tables in which every name from the data is text."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import polars as pl
import pytest
from pddl_eval.pages import Cell, Page, Section, Table
from pddl_eval.report import build_report, report_page
from pddl_eval.report.latex import ESCAPES, escape_latex, latex

from tests.report.scored_rows import HOSTILE, answers

HOSTILE_TEX = r"\input{/etc/passwd} 100% & $x_1^2$ #1 ~{}" + HOSTILE

FOREIGN = "Ω ω Σ Α ά é Ł ß Ж 模型 ✓ 🦙 x² µ ħ ½ ™"
"""Letters and signs of names: with and without a command, accented, of other alphabets."""


WRAPPED = r"p{0.4\textwidth}"
"""A column of sentences."""


@pytest.fixture(scope="module")
def tex() -> str:
    return latex(report_page(build_report(answers(HOSTILE_TEX, plans=True))))


def test_every_table_of_the_page_is_one_with_three_rules(tex: str) -> None:
    page = report_page(build_report(answers(HOSTILE_TEX, plans=True)))
    tables = re.findall(r"\\begin{table}.*?\\end{table}", tex, re.DOTALL)
    assert len(tables) == sum(len(section.written) for section in page.sections) > 8
    for each in tables:
        assert [each.count(rf"\{rule}") for rule in ("toprule", "midrule", "bottomrule", "caption")] == [1, 1, 1, 1]
        columns = len(re.search(r"\\begin{tabular}{([lr]+)}", each.replace(WRAPPED, "l"))[1])  # type: ignore[index]
        rows = [row for row in each.splitlines() if row.endswith(r" \\")]
        assert rows and all(len(re.findall(r"(?<!\\)&", row)) == columns - 1 for row in rows)


def test_names_from_the_data_are_no_commands(tex: str) -> None:
    known = (
        r"\\(begin|end|centering|caption|label|[a-z]+rule|scriptsize|par|text[a-z]+|fittowidth|dots|to|neq|[&%$#_{}\\])"
    )
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
def test_pdflatex_reads_every_table(tmp_path: Path) -> None:
    table = latex(report_page(build_report(answers(HOSTILE_TEX + FOREIGN, plans=True))))
    packages = r"\usepackage[T1]{fontenc}\usepackage{booktabs}\usepackage{graphicx}"
    text = rf"\documentclass{{article}}{packages}\begin{{document}}{table}\end{{document}}"
    (tmp_path / "paper.tex").write_text(text, encoding="utf-8")
    result = subprocess.run(
        ["pdflatex", "-draftmode", "-halt-on-error", "paper.tex"], cwd=tmp_path, capture_output=True
    )
    assert result.returncode == 0, result.stdout[-2000:]
    assert b"Overfull" not in result.stdout, "tables fit the text"


def test_a_table_has_a_label_of_its_own_and_the_best_rates_in_bold() -> None:
    made = latex(report_page(build_report(answers(plans=True))))
    labels = re.findall(r"\\label{(tab:[a-z0-9-]+)}", made)
    assert "tab:percent-of-answers-by-model" in labels and len(labels) == len(set(labels)) == made.count(r"\caption{")
    rows = {row.split(" & ")[0]: row for row in made.splitlines() if row.startswith(("strong &", "weak &"))}
    first = next(row for row in made.splitlines() if row.startswith("strong &"))
    assert r"\textbf{75.0}" in first and "textbf" not in rows["weak"]


def test_a_name_is_not_taken_for_the_argument_of_the_line_above() -> None:
    named = answers().with_columns(pl.col("model").replace({"strong": "[strong]"}))
    made = latex(report_page(build_report(named)))
    assert "\n{}[strong] &" in made and "\n[strong] &" not in made
