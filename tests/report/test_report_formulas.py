"""The formulas on the page about reports, written from the page, give the numbers of the file beside it."""

from __future__ import annotations

import json
from itertools import pairwise, product
from math import gcd, isclose, sqrt
from typing import Any

import polars as pl
import pytest
from pddl_eval.report import build_report

from tests.docs.markdown import ROOT

CASES = json.loads((ROOT / "infra/site/pages/guide/intervals.json").read_text(encoding="utf-8"))
Z = 1.959964
RATES = pytest.mark.parametrize("case", CASES["rates"], ids=lambda case: case["name"])
DIFFERENCES = pytest.mark.parametrize("case", CASES["differences"], ids=lambda case: case["name"])


def student(freedom: float) -> float:
    """Interpolated in 1 / degrees of freedom."""
    known = sorted([(0.0, Z), *((1 / int(each), quantile) for each, quantile in CASES["student"].items())])
    at = 1 / max(1.0, freedom)
    for (left, low), (right, high) in pairwise(known):
        if left <= at <= right:
            return low + (high - low) * (at - left) / (right - left)
    raise AssertionError(freedom)


def rate(answers: list[list[int]]) -> tuple[float, float | None, float | None]:
    references = [(len(each), sum(each)) for each in answers]
    total = sum(n for n, _ in references)
    p = sum(y for _, y in references) / total
    kish = total**2 / sum(n**2 for n, _ in references)
    distinct = total / gcd(*(number for each in references for number in each))
    if isclose(kish, distinct):
        size, t = distinct, Z
    elif isclose(kish, 1):
        return 100 * p, None, None
    else:
        variance = sum((y - p * n) ** 2 for n, y in references) / total**2 * kish / (kish - 1)
        effective = min(p * (1 - p) / variance, distinct) if variance else distinct
        mixed = min(sum(y > 0 for _, y in references), sum(y < n for n, y in references))
        weight = mixed / (mixed + 0.5)
        size, t = 1 / ((1 - weight) / kish + weight / effective), student(kish - 1)
    margin = t * sqrt(p * (1 - p) / size + t**2 / (4 * size**2))
    bounds = ((p + t**2 / (2 * size) + side * margin) / (1 + t**2 / size) for side in (-1, 1))
    low, high = (100 * min(max(bound, 0.0), 1.0) for bound in bounds)
    return 100 * p, low, high


def difference(first: list[list[int]], second: list[list[int]]) -> tuple[float, float, float, float]:
    gaps = [sum(a) / len(a) - sum(b) / len(b) for a, b in zip(first, second, strict=True)]
    n = len(gaps)
    added = (sum(d**2 for d in gaps) + 2) / (sum(map(abs, gaps)) + 2)
    mean = sum(gaps) / (n + 2)
    margin = Z * sqrt(sum((d - mean) ** 2 for d in gaps) + 2 * (added + mean**2)) / (n + 2)
    sums = [abs(sum(sign * d for sign, d in zip(signs, gaps, strict=True))) for signs in product((1, -1), repeat=n)]
    p = sum(each >= abs(sum(gaps)) - 1e-9 for each in sums) / len(sums)
    return 100 * sum(gaps) / n, 100 * (mean - margin), 100 * (mean + margin), p


def rows(model: str, answers: list[list[int]]) -> list[dict[str, Any]]:
    return [
        {"model": model, "reference_id": f"q{number}", "equivalent": bool(value)}
        for number, each in enumerate(answers)
        for value in each
    ]


@RATES
def test_the_formula_of_a_rate_gives_the_numbers_of_the_file(case: dict[str, Any]) -> None:
    assert rate(case["answers"]) == pytest.approx((case["percent"], case["low"], case["high"]), abs=1e-4)


@RATES
def test_a_report_has_the_rates_of_the_file(case: dict[str, Any]) -> None:
    found = build_report(pl.DataFrame(rows("a", case["answers"]))).rates.filter(pl.col("model") == "a")
    (numbers,) = found.filter(pl.col("measure") == "equivalent").select("percent", "low", "high").rows()
    assert numbers == pytest.approx((case["percent"], case["low"], case["high"]), abs=1e-6)


@DIFFERENCES
def test_the_formula_of_a_difference_gives_the_numbers_of_the_file(case: dict[str, Any]) -> None:
    expected = tuple(case[name] for name in ("difference", "low", "high", "p"))
    assert difference(case["first"], case["second"]) == pytest.approx(expected, abs=1e-4)


@DIFFERENCES
def test_a_report_has_the_differences_of_the_file(case: dict[str, Any]) -> None:
    made = build_report(pl.DataFrame(rows("a", case["first"]) + rows("b", case["second"])))
    (numbers,) = (
        made.differences.filter(pl.col("measure") == "equivalent").select("difference", "low", "high", "p").rows()
    )
    assert numbers == pytest.approx(tuple(case[name] for name in ("difference", "low", "high", "p")), abs=1e-6)
