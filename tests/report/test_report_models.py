"""Models compared with each other, several samples of a model, and clusters: who is compared with whom, on what."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import polars.testing
import pytest
import scipy
from pddl_eval.errors import UserError
from pddl_eval.report import Report, build_report, report_page, report_text
from pddl_eval.report.groups import at_level

from tests.support.scored_rows import several_samples

ROWS = 1000


def samples(*answers: tuple[str, str, Sequence[bool | None]], **columns: Any) -> pl.DataFrame:
    """One row for each (model, reference's certificate, answers)."""
    rows = [(model, reference, answer) for model, reference, given in answers for answer in given]
    return pl.DataFrame(rows, schema=["model", "reference_certificate", "equivalent"], orient="row").with_columns(
        **columns
    )


def two_models(seed: int, **columns: Any) -> pl.DataFrame:
    """Random answers of two models to 1,000 references, the second model's rows in another order."""
    generator = np.random.default_rng(seed)
    right = generator.random((2, ROWS)) < [[0.6], [0.5]]
    parts = []
    for model, given in zip("ab", right, strict=True):
        order = generator.permutation(ROWS)
        parts.append(
            pl.DataFrame({"model": model, "reference_certificate": order, "equivalent": given[order]}).with_columns(
                id=pl.int_range(ROWS), reference_certificate=pl.format("c{}", "reference_certificate")
            )
        )
    return pl.concat(parts).with_columns(**columns)


def only(report: Report, frame: str = "differences") -> dict[str, Any]:
    (row,) = getattr(report, frame).to_dicts()
    return row


def test_equal_running_numbers_are_not_the_same_problems() -> None:
    scrambled = two_models(1).with_columns(
        reference_certificate=pl.when(pl.col("model") == "a")
        .then("reference_certificate")
        .otherwise(pl.format("other {}", "reference_certificate"))
    )
    assert build_report(scrambled).differences.is_empty()
    # Nor does a reference_id make two problems one, if their certificates differ.
    assert build_report(scrambled, columns={"reference_id": "id"}).differences.is_empty()
    assert build_report(two_models(1).drop("reference_certificate")).differences.is_empty()


def test_models_are_compared_on_equal_certificates_whatever_the_order() -> None:
    frame = two_models(2)
    row = only(build_report(frame))
    pairs = frame.pivot("model", index="reference_certificate", values="equivalent")
    b, c = pairs.filter(pl.col("a") & ~pl.col("b")).height, pairs.filter(~pl.col("a") & pl.col("b")).height
    assert (row["references"], row["first_better"], row["second_better"]) == (ROWS, b, c)
    assert row["p"] == pytest.approx(scipy.stats.binomtest(b, b + c).pvalue)
    assert row["difference"] == pytest.approx(100 * (b - c) / ROWS)
    assert row["low"] < row["difference"] < row["high"]


def test_a_reference_id_keeps_questions_with_one_certificate_apart() -> None:
    frame = samples(("a", "c", [True, False]), ("b", "c", [True, True]), question=pl.int_range(pl.len()) % 2)
    assert only(build_report(frame))["references"] == 1
    assert only(build_report(frame, columns={"reference_id": "question"}))["references"] == 2


def test_repeating_every_row_ten_times_changes_no_interval() -> None:
    frame = two_models(3)
    once, ten = build_report(frame), build_report(pl.concat([frame] * 10))
    for name in ("rates", "differences"):
        kept = [each for each in ("low", "high", "percent", "difference", "references") if each in getattr(once, name)]
        columns = zip(getattr(once, name).select(kept), getattr(ten, name).select(kept), strict=True)
        assert all(before.to_list() == pytest.approx(after.to_list()) for before, after in columns)


@pytest.mark.parametrize("column", ["reference_problem", "reference_plan", "reference_domain"])
def test_without_certificates_equal_texts_are_one_reference(column: str) -> None:
    frame = two_models(4).rename({"reference_certificate": column})
    report = build_report(frame)
    assert (report.clusters, only(report)["references"]) == (column, ROWS)
    assert report.rates["references"].to_list() == [ROWS] * 3


@pytest.mark.parametrize("plan", ["", " \n", "[]", None])
def test_nothing_is_paired_on_an_empty_plan(plan: str | None) -> None:
    frame = two_models(5).drop("reference_certificate").with_columns(reference_plan=pl.lit(plan, pl.String))
    report = build_report(frame)
    assert report.differences.is_empty()
    assert report.rates["references"].to_list() == [2 * ROWS, ROWS, ROWS]


def test_where_certificates_are_missing_the_texts_tell() -> None:
    frame = two_models(6).rename({"reference_certificate": "reference_problem"})
    some = pl.col("reference_problem").str.contains("[02468]$")
    known = frame.with_columns(reference_certificate=pl.when(some).then("reference_problem"))
    assert only(build_report(known))["references"] == ROWS
    assert only(build_report(frame.with_columns(reference_certificate=pl.lit(None, pl.String))))["references"] == ROWS


def test_only_models_are_compared_not_domains_nor_splits() -> None:
    frame = two_models(7).rename({"model": "domain"})
    assert build_report(frame).differences.is_empty()
    assert build_report(frame.rename({"domain": "split"}), by=["split"]).differences.is_empty()
    named = build_report(frame.rename({"domain": "llm"}), columns={"model": "llm"})
    assert (named.by, named.differences.height) == (("llm",), 1)


def test_p_values_are_corrected_for_all_pairs_of_models() -> None:
    frame = pl.concat([two_models(8), two_models(9).with_columns(pl.col("model").replace({"a": "c", "b": "d"}))])
    found = build_report(frame).differences
    assert found.height == 6
    ordered = found.sort("p")
    assert ordered["p_holm"][0] == pytest.approx(min(1, 6 * ordered["p"][0]))
    assert (ordered["p_holm"] >= ordered["p"]).all()


def test_a_frame_that_was_scored_under_other_names_is_told_how_to_say_so() -> None:
    rows = [{"qid": f"q{number // 4}", "model": "ab"[number % 2], "sample": number // 2 % 2} for number in range(24)]
    frame = pl.DataFrame(rows).with_columns(reference_certificate=pl.col("qid").replace("q1", "q0"), equivalent=True)
    assert build_report(frame).question_columns == ("qid",)
    assert "qid" in report_text(build_report(frame), "html")
    named = build_report(frame, columns={"reference_id": "qid"})
    assert (named.question_columns, named.clusters) == ((), "qid")
    assert build_report(frame.rename({"qid": "reference_id"})).question_columns == ()


def test_several_answers_to_a_reference_weigh_as_one() -> None:
    row = only(
        build_report(samples(("a", "x", [True, False]), ("a", "y", [True]), ("b", "x", [False]), ("b", "y", [True])))
    )
    assert (row["references"], row["first_percent"], row["second_percent"]) == (2, 75.0, 50.0)
    assert (row["first_better"], row["second_better"], row["p"]) == (1, 0, 1.0)


@pytest.mark.parametrize("seed", range(4))
def test_no_number_depends_on_the_order_of_rows(seed: int) -> None:
    frame = several_samples(seed)
    given = build_report(frame).tables()
    shuffled = build_report(frame.sample(fraction=1, shuffle=True, seed=seed)).tables()
    assert (
        {"differences", "pass_at_k", "majority", "macro", "metrics", "sizes", "reasons"} <= set(given) == set(shuffled)
    )
    for name in given.keys() - {
        "examples",
        "reason_examples",
        "questions",
        "doubts",
    }:  # These quote rows by their numbers.
        pl.testing.assert_frame_equal(given[name], shuffled[name], rel_tol=1e-12)


def test_the_first_answers_in_the_file_decide_nothing() -> None:
    """Review C, B2: 300 rows whose p-value was 0.025 or 0.884, depending on their order."""
    frame = several_samples(5, "ab", 50).select("model", "reference_certificate", "sample", "equivalent")
    orders = [frame.sort("equivalent", "sample", descending=order) for order in product((True, False), repeat=2)]
    assert len({tuple(only(build_report(rows)).items()) for rows in orders}) == 1


def test_several_samples_have_the_exact_p_of_their_means() -> None:
    right = {"a": [3, 2, 4, 4, 1, 0], "b": [1, 2, 3, 0, 0, 1]}
    given = [
        (model, f"c{n}", [True] * k + [False] * (4 - k)) for model, all_ in right.items() for n, k in enumerate(all_)
    ]
    gaps = np.subtract(right["a"], right["b"])
    sums = [abs(gaps @ signs) for signs in product((1, -1), repeat=6)]
    assert only(build_report(samples(*given)))["p"] == pytest.approx(np.mean(sums >= abs(gaps.sum())))


def test_pass_at_k_is_the_mean_over_references() -> None:
    frame = samples(("a", "x", [True, False, None, False]), ("a", "y", [True] * 4), ("b", "x", [True]))
    found = build_report(frame).pass_at_k.select("model", "k", "references", "percent").rows()
    # Of x, one of four is right: 1/4 of single samples and 3 of the 6 pairs.
    assert found == [("b", 1, 1, 100.0), ("a", 1, 2, 62.5), ("a", 2, 2, 75.0)]


def test_one_sample_each_has_no_pass_at_k() -> None:
    report = build_report(two_models(10))
    assert report.pass_at_k.is_empty() and report.majority.is_empty()


def test_k_goes_up_to_the_samples_there_are() -> None:
    frame = samples(("a", "x", [True] + [False] * 11), ("a", "y", [False] * 3))
    found = build_report(frame).pass_at_k
    assert found.select("k", "references").rows() == [(1, 2), (2, 2), (5, 1), (10, 1)]
    assert found["percent"].to_list() == pytest.approx([100 / 24, 100 / 12, 500 / 12, 1000 / 12])


def test_the_majority_is_that_of_equivalent_answers() -> None:
    frame = pl.DataFrame(
        [
            # The wrong answers differ from each other: the right one is the commonest.
            *[("a", "x", "x", True)] * 2,
            *[("a", "x", wrong, False) for wrong in ("p", "q", "r")],
            # Answers without a certificate do not vote.
            *[("a", "y", None, False)] * 3,
            ("a", "y", "y", True),
            # A tie counts with its mean.
            *[("a", "z", "z", True), ("a", "z", "p", False)],
            # Nobody votes.
            *[("a", "w", None, False)] * 2,
            # One sample is no vote.
            ("b", "x", "x", True),
        ],
        schema=["model", "reference_certificate", "certificate", "equivalent"],
        orient="row",
    )
    row = only(build_report(frame), "majority")
    assert (row["model"], row["references"], row["ties"], row["percent"]) == ("a", 4, 1, 62.5)


def by_domain() -> pl.DataFrame:
    """Right answers: 9 of 10 gripper, 1 of 2 ferry, and of the other model 5 of 10 gripper."""
    rows = [("a", "gripper", each < 9) for each in range(10)] + [("a", "ferry", True), ("a", "ferry", False)]
    rows += [("b", "gripper", each < 5) for each in range(10)]
    return pl.DataFrame(rows, schema=["model", "domain", "equivalent"], orient="row")


def test_the_macro_average_gives_every_domain_the_same_weight() -> None:
    report = build_report(by_domain())
    assert at_level(report.rates, report.by, ["model"])["percent"].to_list() == pytest.approx([1000 / 12, 50.0])
    found = {row["model"]: row for row in report.macro.to_dicts()}
    assert {model: (row["domains"], row["percent"]) for model, row in found.items()} == {
        None: (2, pytest.approx(60.0)),
        "a": (2, pytest.approx(70.0)),
        "b": (1, pytest.approx(50.0)),
    }
    # One domain alone has its own interval; the mean of two has a narrower one than the wider of theirs.
    alone = at_level(report.rates, report.by, ["model", "domain"]).row(by_predicate=pl.col("model") == "b", named=True)
    assert (found["b"]["low"], found["b"]["high"]) == pytest.approx((alone["low"], alone["high"]))
    assert 0 < found["a"]["low"] < 70 < found["a"]["high"] < 100


def test_a_domain_without_an_interval_leaves_the_macro_average_without_one() -> None:
    several = pl.DataFrame({"domain": ["maze"] * 3, "reference_id": [1] * 3, "equivalent": [True, False, True]})
    known = pl.DataFrame({"domain": ["ferry"] * 5, "reference_id": range(2, 7), "equivalent": [True] * 4 + [False]})
    (row,) = build_report(pl.concat([several, known])).macro.to_dicts()
    assert (row["percent"], row["low"], row["high"]) == (pytest.approx(100 * (2 / 3 + 0.8) / 2), None, None)


def test_a_blank_interval_is_explained() -> None:
    def explained(frame: pl.DataFrame) -> list[str]:
        sections = report_page(build_report(frame)).sections
        return [section.title for section in sections if any("No interval" in each for each in section.paragraphs)]

    frame = samples(("a", "x", [True, False]), ("b", "x", [True]), ("b", "y", [True]), num_objects=3)
    intervals = at_level(build_report(frame).rates, ["model"], ["model"]).select("model", pl.col("low").is_null())
    assert dict(intervals.rows()) == {"a": True, "b": False}
    assert explained(frame) == ["How this was computed"]
    assert explained(frame.filter(model="b")) == []


def test_one_domain_has_no_macro_average() -> None:
    assert build_report(by_domain().filter(domain="gripper")).macro.is_empty()
    assert build_report(by_domain(), by=["model"]).macro.is_empty()


def test_abstraction_against_size_is_the_papers_split() -> None:
    frame = by_domain().with_columns(
        init_is_abstract=pl.int_range(pl.len()) % 2 == 0,
        goal_is_abstract=pl.lit(True),
        size_bucket=pl.when(pl.int_range(pl.len()) < 12).then(pl.lit("1-20")).otherwise(pl.lit("21-40")),
    )
    report = build_report(frame, by=["model"])
    found = report.abstraction.filter(pl.col("model").is_null())
    assert found.select("abstraction", "problem_size", "rows").rows() == [
        ("abstract-abstract", None, 11),
        ("abstract-abstract", "1-20", 6),
        ("abstract-abstract", "21-40", 5),
        ("explicit-abstract", None, 11),
        ("explicit-abstract", "1-20", 6),
        ("explicit-abstract", "21-40", 5),
    ]
    in_words = frame.with_columns(
        abstractness=pl.when("init_is_abstract")
        .then(pl.lit("abstract-abstract"))
        .otherwise(pl.lit("explicit-abstract"))
    ).drop("init_is_abstract")
    assert build_report(in_words, by=["model"]).abstraction.equals(report.abstraction)


def test_the_measure_of_size_can_be_chosen() -> None:
    frame = by_domain().with_columns(size_bucket=pl.lit("1-20"), num_objects=pl.int_range(pl.len()))
    assert build_report(frame).sizes["problem_size"].unique().to_list() == ["1-20"]
    chosen = build_report(frame, size="num_objects")
    assert (chosen.size, chosen.sizes["problem_size"].n_unique() > 1) == ("objects", True)


@pytest.mark.parametrize("size", ["reference_plan_length", "weight"])
def test_a_size_that_is_not_there_is_the_users_mistake(size: str) -> None:
    with pytest.raises(ValueError, match=size):
        build_report(by_domain(), size=size)


def test_the_signature_says_how(tmp_path: Path) -> None:
    two_models(11).write_parquet(tmp_path / "scored.parquet")
    report = build_report(tmp_path / "scored.parquet")
    parts = report.signature.split("|")
    assert {"clusters:reference_certificate", "tests:sign-flips-exact", "correction:holm"} <= set(parts)
    assert parts[0].startswith("pddl-eval-report:")


def test_a_report_asks_polars_some_dozens_of_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue 37: it was 1,421, one for each measure and group and two models; more models and measures ask no more."""
    asked = 0

    def counted(ask: Callable[..., Any]) -> Callable[..., Any]:
        def wrapper(*args: Any, **options: Any) -> Any:
            nonlocal asked
            asked += 1
            return ask(*args, **options)

        return wrapper

    for name in ("collect", "_collect_eager"):  # the second is behind each method of a frame
        monkeypatch.setattr(pl.LazyFrame, name, counted(getattr(pl.LazyFrame, name)))
    monkeypatch.setattr(pl, "collect_all", counted(pl.collect_all))
    build_report(several_samples(1, "abc"))
    few, asked = asked, 0
    build_report(several_samples(1, "abcdefgh"))
    assert few < 120
    assert asked < few + 12


def test_what_the_questions_can_show() -> None:
    """With several samples, chance within a question is told apart: endless samples need fewer questions."""
    frame = samples(*((model, f"c{each}", [True, each % 2 == 0, False]) for model in "ab" for each in range(20)))
    row = build_report(two_models(2), detect=5).power.row(0, named=True)
    gap = build_report(two_models(2)).differences.filter(measure="equivalent").row(0, named=True)
    assert (row["questions"], row["samples"], row["with_endless_samples"]) == (gap["references"], 1, None)
    assert row["detectable"] > (gap["high"] - gap["low"]) / 2, "80 % asks for more than half of an interval"
    assert row["questions_needed"] > ROWS * (row["detectable"] / 5) ** 2 * 0.9
    alike = build_report(frame, detect=5).power.row(0, named=True)
    assert alike["samples"] == 3 and alike["with_endless_samples"] == 2 and alike["detectable"] < row["detectable"]
    assert build_report(two_models(2)).power.is_empty()


@pytest.mark.parametrize("points", [0, -1, 101, float("nan")])
def test_a_difference_to_detect_is_a_number_of_points(points: float) -> None:
    with pytest.raises(UserError):
        build_report(two_models(2), detect=points)
