"""The tables: columns as documented, variants the same whatever the shards, and the bundled sample."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import islice

import pyarrow as pa
import pytest
from pddl_eval.benchmark import PRESETS, Variants
from pddl_eval.benchmark.answers import RECIPES
from pddl_eval.benchmark.enumeration import PAIRS_SCHEMA, benchmark_pairs, pairs_tables
from pddl_eval.benchmark.tasks import TaskProblem
from pddl_eval.benchmark.variants import VARIANT_FIELDS
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.scoring.api import compare_problems
from pddl_eval.scoring.table import score_table

from tests.support.benchmark_problems import all_problems, some_problems
from tests.support.sample import LARGEST_SIZE, made_sample, sample_table

VARIANTS = Variants(PRESETS["every-kind"], seed=5)
TWO_EACH = replace(VARIANTS, per_row=2)


@pytest.fixture(scope="module")
def references() -> pa.Table:
    return next(pairs_tables(islice(benchmark_pairs(), 40), 40))


@pytest.fixture(scope="module")
def sample() -> pa.Table:
    return sample_table()


@pytest.fixture(scope="module")
def scored(sample: pa.Table) -> pa.Table:
    return score_table(sample, ScoringOptions())


def test_pairs_come_in_tables_of_the_size_asked_for() -> None:
    tables = list(pairs_tables(islice(benchmark_pairs(), 25), 10))
    assert [table.num_rows for table in tables] == [10, 10, 5]
    table = pa.concat_tables(tables)
    assert table.schema == PAIRS_SCHEMA
    assert table["id"].to_pylist() == list(range(1, 26))
    assert not any(column.null_count for column in table.columns)


def test_variants_stand_beside_their_references(references: pa.Table) -> None:
    table = TWO_EACH.table(references)
    assert table.schema == TWO_EACH.schema(references.schema)
    assert table["id"].to_pylist() == [number for number in range(1, 41) for _ in range(2)]
    assert table.num_rows == 80 and len(set(table["generated_problem"].to_pylist())) > 60


def test_variants_do_not_depend_on_how_the_references_are_cut(references: pa.Table) -> None:
    whole = VARIANTS.table(references, 100)
    parts = [VARIANTS.table(references.slice(start, 7), 100 + start) for start in range(0, 40, 7)]
    assert pa.concat_tables(parts).equals(whole)


def test_a_reference_that_cannot_be_used_has_no_variants() -> None:
    held = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"
    texts = [held, None, "nothing", held.replace("(clear a)", "(on a a)"), held]
    table = VARIANTS.table(pa.table({"n": [0, 1, 2, 3, 4], "reference_problem": texts}))
    assert table["n"].to_pylist() == [0, 4]


def test_the_domain_column_says_what_is_known() -> None:
    held = "(define (problem p) (:domain mine) (:objects a) (:init (holding a)) (:goal (clear a)))"
    unknown = pa.table({"reference_problem": [held] * 40})
    known = unknown.append_column("domain", pa.array(["blocksworld"] * 40))
    solvable = [set(VARIANTS.table(table)["label_solvable"].to_pylist()) for table in (unknown, known)]
    assert True not in solvable[0] and True in solvable[1]


@pytest.mark.parametrize(
    ("names", "complaint"),
    [(["problem"], "reference_problem"), (["reference_problem", "label"], "label")],
)
def test_columns_that_do_not_fit_are_named(names: list[str], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        VARIANTS.schema(pa.schema([(name, pa.string()) for name in names]))


@pytest.mark.slow  # It makes all problems.
def test_the_bundled_sample_is_what_is_made(sample: pa.Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.support.sample.benchmark_problems", all_problems)
    assert made_sample().equals(sample)


def test_the_sample_has_every_task_and_every_recipe(sample: pa.Table) -> None:
    tasks = Counter(zip(*(sample[name].to_pylist() for name in ("domain", "task_init", "task_goal")), strict=True))
    assert len(tasks) == 73 and max(tasks.values()) == 4
    assert set(sample["label"].to_pylist()) == set(RECIPES)
    assert max(sample["size"].to_pylist()) <= LARGEST_SIZE
    assert {field.name for field in VARIANT_FIELDS} <= set(sample.schema.names)


def test_the_judge_agrees_with_the_labels_of_the_sample(sample: pa.Table) -> None:
    for row in sample.to_pylist():
        verdict = compare_problems(
            row["reference_problem"], row["generated_problem"], is_placeholder=row["is_placeholder"]
        )
        for column in ("parseable", "solvable", "equivalent", "equivalent_untyped"):
            if row[f"label_{column}"] is not None:
                assert getattr(verdict, column) == row[f"label_{column}"], (row["label"], row["generated_problem"])


def test_the_plans_and_domains_of_the_sample_score_as_their_recipes_say(scored: pa.Table) -> None:
    for row in scored.to_pylist():
        assert row["score_error"] is None
        steps = row["reference_plan_length"]
        if row["label_plan"] in ("same_plan", "plan_in_a_list", "plan_as_json"):
            assert (row["plan_lcs"], row["plan_jaccard"], row["plan_valid"]) == (1.0, 1.0, True), row["name"]
        elif row["label_plan"] == "no_plan":
            assert (row["plan_lcs"], row["plan_valid"]) == (0.0, False)
        elif steps:
            lost = row["label_plan"] == "plan_step_lost"
            assert row["plan_lcs"] == pytest.approx((steps - 1) / steps if lost else steps / (steps + 1))
        domain = row["domain_precision"], row["domain_recall"]
        if row["label_domain"] == "domain_effect_lost":
            assert domain[0] == 1 > domain[1] > 0.9
        else:
            assert domain == ((0, 0) if row["label_domain"] == "no_domain" else (1, 1))


def undecided(scored: pa.Table) -> Counter[str]:
    """In how many rows each bool is open, of those that the row could have decided."""
    decided = [
        name
        for name in ("solvable", "equivalent", "equivalent_untyped", "domain_equivalent")
        if name in scored.schema.names
    ]
    return Counter(name for row in scored.to_pylist() for name in decided if row["parseable"] and row[name] is None)


def test_nothing_of_the_sample_is_undecided(scored: pa.Table) -> None:
    """A rule or a search that decides less than before would otherwise go unnoticed: no verdict would be wrong."""
    assert undecided(scored) == {}


def test_nothing_of_the_benchmark_is_undecided() -> None:
    """Answers of every kind to the smallest and the largest problem of each task, as placeholders and not."""
    tasks: dict[tuple[str, ...], list[TaskProblem]] = {}
    for problem in some_problems():
        tasks.setdefault((problem.problem.domain, problem.task_init, problem.task_goal), []).append(problem)
    chosen = [end(problems, key=lambda each: each.size) for problems in tasks.values() for end in (min, max)]
    references = pa.concat_tables(pairs_tables(benchmark_pairs(chosen), 100))
    scored = score_table(TWO_EACH.table(references), ScoringOptions())
    assert undecided(scored) == {} and len(tasks) == 73 and scored.num_rows > 500
