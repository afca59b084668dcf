"""An explanation as a page that stands alone, as a fragment for notebooks, and its drawings as one SVG file.

The templates escape every text; the content policy of the page forbids scripts and the network.
"""

from __future__ import annotations

from itertools import accumulate

from pddl_eval.explain import words
from pddl_eval.explain.drawing import GAP, WIDTH, draw, scenes_of
from pddl_eval.explain.explanation import Explanation
from pddl_eval.pages import render


def html_page(explanation: Explanation, title: str = "pddl-eval explain", *, whole: bool = True) -> str:
    """The whole page, or (not ``whole``) what its body holds, with its style.

    >>> from pddl_eval.explain import explain
    >>> "<script>" in html_page(explain("(define (problem p)", "<script>alert(1)</script>"))
    False
    """
    drawings = [draw(scene) for scene in scenes_of(explanation)]
    return render("explain.html", whole=whole, title=title, explanation=explanation, words=words, drawings=drawings)


def scenes_svg(explanation: Explanation) -> str:
    """One SVG file with all scenes: initial states above goals, the reference's beside the answer's.

    >>> from pddl_eval.explain import explain
    >>> held = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"
    >>> scenes_svg(explain(held, held)).count(">Answer: goal<")
    1
    """
    drawings = [draw(scene) for scene in scenes_of(explanation)]
    columns = 2 if explanation.compares else 1
    rows = [drawings[start : start + columns] for start in range(0, len(drawings), columns)]
    heights = [max(drawing.height for drawing in row) + 2 * GAP for row in rows]
    *tops, height = accumulate(heights, initial=90.0)
    width = max([WIDTH, *(drawing.width for drawing in drawings)]) + GAP
    return render(
        "scene.svg",
        explanation=explanation,
        words=words,
        rows=list(zip(tops, rows, strict=True)),
        columns=columns,
        column=width,
        height=height,
    )
