"""Figures: which there are, that they are SVG, that they say what the numbers say, that people can see them."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import polars as pl
import pytest
from pddl_eval.definition.verdict import DomainVerdict, Judgement, PlanVerdict, Verdict
from pddl_eval.pages import COLOURS
from pddl_eval.report import Report, build_report
from pddl_eval.report.figures import (
    COLUMN,
    FAINT,
    INK,
    MOST_GROUPS,
    PAPER,
    SERIES,
    Figure,
    drawn_as,
    figures,
)
from pddl_eval.report.files import save

from tests.support.scored_rows import HOSTILE, answers

pytestmark = pytest.mark.usefixtures("drawn_once")

SVG = "{http://www.w3.org/2000/svg}"


def all_figures(report: Report) -> list[Figure]:
    return figures(report)


def drawn(figure: Figure) -> ElementTree.Element:
    return ElementTree.fromstring(drawn_as(figure, "svg").decode())


def texts(figure: Figure) -> list[str]:
    return ["".join(element.itertext()) for element in drawn(figure).iter(f"{SVG}text")]


def bars(figure: Figure, colour: str) -> list[tuple[float, float]]:
    """Where the bars of a colour begin, and how long they are."""
    paths = [element.get("d") or "" for element in drawn(figure).iter(f"{SVG}path") if element.get("fill") == colour]
    found = [re.match(r"M([\d.]+),[\d.]+h([\d.]+)v[\d.]+h-[\d.]+Z$", path) for path in paths]
    return [(float(each[1]), float(each[2])) for each in found if each is not None]


def test_there_is_a_figure_for_each_question_the_ranking_first() -> None:
    first, *others = [figure.name for figure in all_figures(build_report(answers(plans=True)))]
    assert first == "ranking" and len(set(others)) == len(others) >= 10
    assert {"rates", "plan", "verdicts", "distribution", "score"} == {name.partition("-")[0] for name in others}


def test_a_dataset_without_groups_has_figures_of_all_rows() -> None:
    drawings = all_figures(build_report(answers(plans=True), by=[]))
    assert [figure.name for figure in drawings][:3] == ["rates", "verdicts", "score-against-size"]
    assert all("all rows" in " ".join(texts(figure)) for figure in drawings)


def test_nothing_scored_nothing_drawn() -> None:
    assert all_figures(build_report(answers().clear())) == []


def test_bars_are_as_long_as_their_numbers() -> None:
    frame = pl.DataFrame({"model": ["a"] * 4 + ["b"] * 4, "parseable": [True] * 4 + [True, False] * 2})
    _, figure = all_figures(build_report(frame))
    (_, full), (_, half) = bars(figure, SERIES[7])
    assert half == pytest.approx(full / 2)
    assert {"100.0", "50.0"} <= set(texts(figure))
    assert figure.description == "a: parseable 100.0. b: parseable 50.0."


def test_parts_of_a_stacked_bar_add_up_to_its_width() -> None:
    figure = next(each for each in all_figures(build_report(answers(), by="model")) if each.name == "verdicts")
    colours = {light for light, _ in COLOURS.values()}
    parts = sorted(bar for colour in colours for bar in bars(figure, colour) if bar[1] != 13)
    ends = {start + length for start, length in parts}
    assert max(ends) == pytest.approx(sum(length for _, length in parts) / 2, abs=0.1)
    assert figure.description.startswith("strong: right 75.0, goal differs 25.0, ")


@pytest.mark.parametrize(("wide", "inches"), [(False, 3.3), (True, 6.9)])
def test_a_figure_is_as_wide_as_a_column_or_the_text_with_letters_of_8_points(wide: bool, inches: float) -> None:
    (figure, *_) = all_figures(build_report(answers()))
    root = ElementTree.fromstring(drawn_as(figure, "svg", wide=wide))
    width, unit = float((root.get("width") or "")[:-2]), (root.get("width") or "")[-2:]
    assert (width, unit) == (pytest.approx(inches, abs=0.02), "in")
    scale = 72 * width / float((root.get("viewBox") or "").split()[2])
    sizes = {float(each.removesuffix("px")) for text in root.iter(f"{SVG}text") if (each := text.get("font-size"))}
    assert {round(each * scale) for each in sizes} == {8}


@pytest.mark.slow
def test_marks_stay_inside_the_figure() -> None:
    for figure in all_figures(build_report(answers("m" * 500, plans=True))):
        left, top, width, height = map(float, (drawn(figure).get("viewBox") or "").split())
        assert (left, top) == (0, 0)
        assert width == pytest.approx(COLUMN * 108, abs=3)
        assert height < 400
        assert all(len(text) < 100 for text in texts(figure))


def test_hostile_names_are_text_in_the_drawing() -> None:
    drawings = all_figures(build_report(answers(HOSTILE, plans=True)))
    for figure in drawings:
        assert re.fullmatch(r"[\w-]{1,150}", figure.name)
        for element in drawn(figure).iter():
            assert element.tag in {SVG + name for name in ("svg", "g", "rect", "text", "tspan", "path", "line")}
            assert not [name for name in element.attrib if name.startswith("on") or "href" in name]
        assert "\x1b" not in drawn_as(figure, "svg").decode()
    assert any("<script>" in text for figure in drawings for text in texts(figure))


def test_groups_of_equal_beginnings_stay_apart() -> None:
    models = [f"{'m' * 500}{number}" for number in range(3)]
    figure = all_figures(build_report(pl.DataFrame({"model": models, "parseable": [True, False, True]})))[1]
    assert len(bars(figure, SERIES[7])) + figure.description.count(" 0.0.") == 3


def test_names_of_files_do_not_collide() -> None:
    frame = answers().with_columns(模型=pl.col("model"), 领域=pl.col("domain"))
    names = [figure.name for figure in all_figures(build_report(frame, by=["模型", "领域"]))]
    assert len(names) == len(set(names))


def test_groups_are_sorted_by_score_and_no_group_is_left_out_silently() -> None:
    models = [f"m{number}" for number in range(MOST_GROUPS + 5) for _ in range(10)]
    scores = [place < number % 10 for number in range(MOST_GROUPS + 5) for place in range(10)]
    frame = pl.DataFrame({"model": models, "equivalent": scores})
    few = frame.filter(pl.col("model").str.len_chars() == 2)
    _, figure = all_figures(build_report(few))
    shown = [text for text in texts(figure) if re.fullmatch(r"m\d+", text)]
    assert shown == sorted(shown, reverse=True) and len(shown) == 10
    assert figure.title == "Percent of answers, by model"
    _, figure = all_figures(build_report(frame))
    assert len([text for text in texts(figure) if re.fullmatch(r"m\d+", text)]) == MOST_GROUPS
    assert f"({MOST_GROUPS} of {MOST_GROUPS + 5}" in figure.title


def test_of_as_many_groups_as_fit_those_with_most_rows_are_drawn() -> None:
    models = [f"m{number}" for number in range(MOST_GROUPS + 1) for _ in range(number + 1)]
    _, figure = all_figures(build_report(pl.DataFrame({"model": models, "parseable": [True] * len(models)})))
    assert {text for text in texts(figure) if text.startswith("m")} == {f"m{each + 1}" for each in range(MOST_GROUPS)}


def test_no_text_is_smaller_than_twelve_pixels() -> None:
    for figure in all_figures(build_report(answers("m" * 100, plans=True))):
        assert min(map(float, re.findall(r'font-size="([\d.]+)px"', drawn_as(figure, "svg").decode()))) >= 12


def test_the_ranking_s_dots_stand_where_their_numbers_are() -> None:
    figure = next(each for each in all_figures(build_report(answers(plans=True))) if each.name == "ranking")
    assert figure.description == "strong: equivalent 75.0. weak: equivalent 0.0."
    assert {"75.0", "0.0"} <= set(texts(figure))


def test_long_names_do_not_reach_into_each_other() -> None:
    """In lines that end at a hyphen, one below the other; a name that JavaScript knows is a name like any other."""
    names = [f"meta-llama/Llama-3.1-405B-Instruct-Turbo-{each}-dynamic" for each in ("fp8", "bf16", "int4")]
    names.append("constructor")
    figure = all_figures(build_report(pl.DataFrame({"model": names, "equivalent": [True, False, True, False]})))[0]
    (labels,) = (each for each in drawn(figure).iter() if "role-axis-label" in each.get("class", "") and len(each) == 4)
    found = []
    for label in labels:
        lines = ["".join(line.itertext()) for line in label] or [label.text or ""]
        (middle,) = re.findall(r"translate\([^,]*,([^)]*)\)", label.get("transform", ""))
        found.append((float(middle), lines))
    assert sorted("".join(lines) for _, lines in found) == sorted(names)
    for (place, lines), (following, _) in pairwise(sorted(found)):
        assert place + 12 * len(lines) <= following


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


@pytest.mark.parametrize("colour", [INK, FAINT, *SERIES])
def test_colours_can_be_seen_on_their_page(colour: str) -> None:
    assert _contrast(colour, PAPER) >= 4.5


@pytest.mark.parametrize("name", [*COLOURS])
def test_colours_of_verdicts_can_be_seen_by_day_and_by_night(name: str) -> None:
    light, dark = COLOURS[name]
    assert min(_contrast(light, PAPER), _contrast(dark, "#15181d")) >= 4.5


def test_red_is_wrong_and_every_verdict_has_a_colour() -> None:
    for verdict in (*Verdict, *PlanVerdict, *DomainVerdict, *Judgement):
        assert (COLOURS[verdict.value] == COLOURS["right"]) == verdict.right
        assert not (verdict.right and COLOURS[verdict.value] == COLOURS["wrong"])


def test_a_verdict_has_one_colour_in_every_report() -> None:
    """Review C: goal differs was purple in one report and orange in another."""
    for frame in (answers(), answers().filter(pl.col("verdict") != "types_differ")):
        (figure,) = (each for each in all_figures(build_report(frame, by="model")) if each.name == "verdicts")
        assert bars(figure, COLOURS["goal_differs"][0]) and bars(figure, COLOURS["right"][0])


def test_a_file_gets_the_ranking(tmp_path: Path) -> None:
    assert save(build_report(answers()), tmp_path / "ranking.svg", "svg").startswith("1 figure written")
    assert "strong" in (tmp_path / "ranking.svg").read_text(encoding="utf-8")


@pytest.mark.slow
def test_every_figure_is_written_as_svg_png_and_pdf(tmp_path: Path) -> None:
    report = build_report(answers())
    names = [figure.name for figure in all_figures(report)]
    for form in ("svg", "png", "pdf"):
        assert save(report, tmp_path / "new" / "folder", form).startswith(f"{len(names)} figures written")
    assert len(list((tmp_path / "new" / "folder").iterdir())) == 3 * len(names)
    for name in names:
        written = tmp_path / "new" / "folder" / f"{name}.svg"
        assert ElementTree.parse(written).getroot().tag == f"{SVG}svg"
        png = written.with_suffix(".png").read_bytes()
        assert png.startswith(b"\x89PNG\r\n")
        assert int.from_bytes(png[16:20], "big") == pytest.approx(300 * COLUMN, abs=5)
        assert written.with_suffix(".pdf").read_bytes().startswith(b"%PDF-")
