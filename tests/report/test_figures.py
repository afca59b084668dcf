"""Figures: which there are, that they are SVG, that they say what the numbers say, that people can see them."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import polars as pl
import pytest
from pddl_eval.report import build_report
from pddl_eval.report.figure_files import write_figures
from pddl_eval.report.figures import MOST_GROUPS, all_figures
from pddl_eval.report.svg import INKS, WIDTH, Figure, standalone

from tests.report.scored_rows import HOSTILE, answers

SVG = "{http://www.w3.org/2000/svg}"


def drawn(figure: Figure) -> ElementTree.Element:
    return ElementTree.fromstring(standalone(figure))


def texts(figure: Figure) -> list[str]:
    return [element.text or "" for element in drawn(figure).iter(f"{SVG}text")]


def test_there_is_a_figure_for_each_question() -> None:
    names = [figure.name for figure in all_figures(build_report(answers(plans=True)))]
    assert names == [
        "rates-by-model",
        "rates-by-domain",
        "rates-by-domain-within-model-1-strong",
        "rates-by-domain-within-model-2-weak",
        "verdicts",
        "score-against-size",
        "plan-rates-by-model",
        "plan-rates-by-domain",
        "distribution-plan-score",
        "distribution-plan-length",
    ]


def test_a_dataset_without_groups_has_figures_of_all_rows() -> None:
    figures = all_figures(build_report(answers(plans=True), by=[]))
    assert [figure.name for figure in figures][:3] == ["rates", "verdicts", "score-against-size"]
    assert all("all rows" in " ".join(texts(figure)) for figure in figures)


def test_nothing_scored_nothing_drawn() -> None:
    assert all_figures(build_report(answers().clear())) == ()


def test_bars_are_as_long_as_their_numbers() -> None:
    frame = pl.DataFrame({"model": ["a"] * 4 + ["b"] * 4, "parseable": [True] * 4 + [True, False] * 2})
    (figure,) = all_figures(build_report(frame))
    widths = [
        float(element.get("width") or 0)
        for element in drawn(figure).iter(f"{SVG}rect")
        if element.get("class") == "fill-parseable"
    ]
    _swatch, full, half = widths
    assert half == pytest.approx(full / 2)
    assert {"100.0", "50.0"} <= set(texts(figure))
    assert figure.description == "a: parseable 100.0. b: parseable 50.0."


def test_parts_of_a_stacked_bar_add_up_to_its_width() -> None:
    figure = next(each for each in all_figures(build_report(answers())) if each.name == "verdicts")
    rows: dict[str, float] = {}
    for element in drawn(figure).iter(f"{SVG}rect"):
        if element.get("height") == "18.0":
            rows[element.get("y") or ""] = rows.get(element.get("y") or "", 0) + float(element.get("width") or 0) + 1
    assert list(rows.values()) == [pytest.approx(WIDTH - 2, abs=1.5)] * 2


def test_marks_stay_inside_the_figure() -> None:
    for figure in all_figures(build_report(answers("m" * 500, plans=True))):
        for element in drawn(figure).iter(f"{SVG}text"):
            assert 0 <= float(element.get("x") or 0) <= WIDTH
            assert float(element.get("y") or 0) <= figure.height
        for element in drawn(figure).iter(f"{SVG}rect"):
            assert float(element.get("x") or 0) + float(element.get("width") or 0) <= WIDTH + 8


def test_hostile_names_are_text_in_the_drawing() -> None:
    figures = all_figures(build_report(answers(HOSTILE, plans=True)))
    tags = {element.tag for figure in figures for element in drawn(figure).iter()}
    assert tags <= {SVG + name for name in ("svg", "title", "desc", "rect", "text", "polyline", "polygon")}
    assert all(re.fullmatch(r"[\w-]{1,150}", figure.name) for figure in figures)


def test_names_of_files_do_not_collide() -> None:
    frame = answers().with_columns(模型=pl.col("model"), 领域=pl.col("domain"))
    names = [figure.name for figure in all_figures(build_report(frame, by=["模型", "领域"]))]
    assert len(names) == len(set(names))


def test_of_many_groups_those_with_most_rows_are_drawn() -> None:
    models = [f"m{number}" for number in range(40) for _ in range(number + 1)]
    figure = all_figures(build_report(pl.DataFrame({"model": models, "parseable": [True] * len(models)})))[0]
    assert [text for text in texts(figure) if text.startswith("m")] == [f"m{each}" for each in range(28, 40)]
    assert MOST_GROUPS == 12


def test_an_empty_bin_between_others_keeps_its_place() -> None:
    frame = pl.DataFrame({"plan_score": [0.35, 0.95], "plan_length": [1, 9]})
    score, length = all_figures(build_report(frame))
    assert score.description.startswith("all rows: 0–.1 0.0, .1–.2 0.0, .2–.3 0.0, .3–.4 50.0, .4–.5 0.0")
    assert length.description == ("all rows: 1 50.0, 2 0.0, 3 0.0, 4 0.0, 5 0.0, 6 0.0, 7 0.0, 8 0.0, 9 50.0.")


def _contrast(one: str, other: str) -> float:
    """The contrast ratio of two colours (WCAG 2.1, relative luminance)."""

    def luminance(colour: str) -> float:
        parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_inks_can_be_seen_on_their_page(scheme: int) -> None:
    paper = INKS["paper"][scheme]
    for ink, colours in INKS.items():
        least = 4.5 if ink in ("ink", "faint") or ink.startswith("series") else 3.0
        if ink not in ("paper", "grid"):
            assert _contrast(colours[scheme], paper) >= least, ink


def test_every_figure_is_written_as_svg_and_png(tmp_path: Path) -> None:
    pytest.importorskip("vl_convert")
    figures = all_figures(build_report(answers()))
    assert write_figures(figures, tmp_path / "new" / "folder") == ("svg", "png")
    for figure in figures:
        written = tmp_path / "new" / "folder" / figure.name
        assert written.with_suffix(".svg").read_text(encoding="utf-8") == standalone(figure)
        png = written.with_suffix(".png").read_bytes()
        assert png.startswith(b"\x89PNG\r\n")
        assert int.from_bytes(png[16:20], "big") == 3 * (WIDTH + 16)


def test_without_the_extra_there_are_svg_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pddl_eval.report.figure_files.find_spec", lambda name: None)
    assert write_figures(all_figures(build_report(answers())), tmp_path) == ("svg",)
    assert {path.suffix for path in tmp_path.iterdir()} == {".svg"}
