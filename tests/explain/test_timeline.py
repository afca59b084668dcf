"""The time line of a plan: which bars there are, where it fails, and that names in it are no mark-up."""

from __future__ import annotations

from fractions import Fraction
from xml.etree import ElementTree

import pytest
from pddl_eval.explain import explain_row, html_page, timeline_svg
from pddl_eval.explain.plans import TIME_LINE, PlanExplanation
from pddl_eval.explain.timeline import bars_of

DOMAIN = """(define (domain match) (:predicates (light) (free) (done ?f) (<b>))
  (:durative-action strike :duration (= ?duration 8)
    :effect (and (at start (light)) (at end (not (light)))))
  (:durative-action mend :parameters (?f) :duration (and (>= ?duration 3) (<= ?duration 5))
    :condition (and (at start (free)) (over all (light)))
    :effect (and (at start (not (free))) (at end (done ?f)) (at end (free)))))"""
PROBLEM = """(define (problem p) (:domain match) (:objects f g) (:init (free) (at 30 (<b>)))
  (:goal (and (done f) (done g))) (:constraints (and (sometime (light)) (preference calm (always (free))))))"""


def explained(plan: str) -> PlanExplanation:
    row = {"generated_plan": plan, "reference_problem": PROBLEM, "domain": DOMAIN}
    part = explain_row(row).parts["plan"]
    assert isinstance(part, PlanExplanation)
    return part


def bars(plan: str) -> list[tuple[str, float, float | None, float | None]]:
    part = explained(plan)
    assert part.execution is not None
    return [
        (each.action[0], *(None if at is None else float(at) for at in each[1:]))
        for each in bars_of(part.execution, part.generated)
    ]


@pytest.mark.parametrize(
    ("plan", "expected"),
    [
        (
            "0: (strike) [8]\n1: (mend f) [3]\n4.5: (mend g) [3]",
            [("strike", 0, 8, None), ("mend", 1, 4, None), ("mend", 4.5, 7.5, None), ("at", 30, 30, None)],
        ),
        ("0: (strike) [8]\n5: (mend f) [4]", [("strike", 0, 8, None), ("mend", 5, None, 8)]),  # under way
        ("0: (mend f) [3]\n1: (strike) [8]", [("mend", 0, None, 0)]),
        ("0: (strike) [8]\n1: (mend f) [3]\n2: (mend f) [3]", [("strike", 0, None, None), ("mend", 1, None, 2)]),
        ("0: (strike) [7]", [("strike", 0, None, 0)]),
        ("", [("at", 30, 30, None)]),
    ],
)
def test_bars(plan: str, expected: list[tuple[str, float, float | None, float | None]]) -> None:
    assert bars(plan or "()") == expected


def test_the_drawing_is_xml_in_which_names_are_text_and_the_failure_is_no_colour_alone() -> None:
    drawn = timeline_svg(explained("0: (strike) [8]\n5: (mend g) [4]"))
    texts = [each.text or "" for each in ElementTree.fromstring(drawn).iter() if each.tag.endswith("}text")]
    assert [each for each in texts if "✗" in each] == ["5, fails at 8  (mend g)  ✗"]
    literal = ElementTree.fromstring(timeline_svg(explained("()")))
    assert "30  (at 30 (<b>))" in [each.text for each in literal.iter()]
    page = html_page(explain_row({"generated_plan": "()", "reference_problem": PROBLEM, "domain": DOMAIN}))
    assert TIME_LINE in page and "<svg" in page and "<b>)" not in page


def test_a_plan_without_times_has_no_time_line() -> None:
    row = {"generated_plan": "(pick a)", "reference_plan": "(pick b)"}
    part = explain_row(row).parts["plan"]
    assert isinstance(part, PlanExplanation) and not timeline_svg(part)
    assert TIME_LINE not in [section.title for section in part.page(whole=True).sections]


def test_what_is_violated_is_listed() -> None:
    page = explained("0: (strike) [8]\n1: (mend f) [3]").page()
    (section,) = (each for each in page.sections if each.title == "Constraints and preferences")
    assert [[cell.text for cell in row] for row in section.tables[0].rows] == [["✗", "(preference calm …)", "violated"]]


def test_numbers_of_a_time_line_are_exact() -> None:
    part = explained("3: (strike) [8]\n0.333333333333333333333333: (strike) [8]")
    assert part.execution is not None
    found = bars_of(part.execution, part.generated)
    assert Fraction("0.333333333333333333333333") in [each.start for each in found]
