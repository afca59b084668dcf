"""Counterexamples of ``goal_differs``: plans that the judge finds right, and cases worked by hand."""

from collections import Counter
from random import Random

import pddl_eval
import polars as pl
import pytest
from pddl_eval.definition import comparison
from pddl_eval.definition.counterexample import counterexample
from pddl_eval.definition.model import renamed
from pddl_eval.definition.plans import read_plan
from pddl_eval.definition.task import Task, read_pair
from pddl_eval.definition.verdict import Undecided, Verdict
from pddl_eval.scoring.budget import row_budget
from pddl_eval.scoring.kept import KEPT

from tests.docs.readme_outputs import SAMPLE
from tests.judges.counterexamples import Row, outcome, row_of, small_rows
from tests.support.pairs_by_verdict import ANSWERS, REFERENCE
from tests.support.plan_text import plan_to_pddl
from tests.support.volume import in_two_sizes, with_seeds

TABLE = (
    "(define (problem p) (:domain blocksworld) (:objects {0} {1}) (:init (holding {0}) (clear {1}) (on-table {1})) {2})"
)


def checked(rows: list[Row]) -> Counter[str]:
    """How many rows have a right counterexample; all that have the verdict ``goal_differs``."""
    found = Counter(filter(None, map(outcome, rows)))
    assert set(found) <= {"right"}
    return found


@in_two_sizes(some=8, full=500)
def test_small_problems_with_and_without_rules(cases: int) -> None:
    total: Counter[str] = Counter()
    with_seeds(cases, lambda seed: total.update(checked(list(small_rows(seed)))))
    assert total["right"] > cases / 20


@in_two_sizes(some=8, full=500)
def test_answers_to_the_benchmark_s_problems(cases: int) -> None:
    sample = pl.read_parquet(SAMPLE)
    total: Counter[str] = Counter()

    def check(seed: int) -> None:
        random = Random(seed)
        reference = sample.row(random.randrange(sample.height), named=True)
        row = row_of(reference["reference_problem"], None, bool(reference["is_placeholder"]), random)
        total.update(checked([row] if row else []))

    with_seeds(cases, check)
    assert total["right"] > cases / 5


def test_an_atom_that_the_plan_made_by_chance_is_avoided() -> None:
    """Putting a down satisfies both goals; stacking it satisfies the one that the other does not imply."""
    found = pddl_eval.counterexample(
        TABLE.format("a", "b", "(:goal (on-table a))"), TABLE.format("a", "b", "(:goal (arm-empty))")
    )
    assert found is not None
    assert (found.plan[-1], found.satisfies, found.lacking) == (("stack", "a", "b"), "generated", {("on-table", "a")})


def test_the_plan_is_in_the_reference_s_words() -> None:
    reference, answer = TABLE.format("a", "b", "(:goal (arm-empty))"), TABLE.format("x", "y", "(:goal (on x y))")
    found = pddl_eval.counterexample(reference, answer)
    assert found is not None
    assert (found.object_map, found.satisfies, found.plan) == ({"x": "a", "y": "b"}, "reference", (("putdown", "a"),))
    assert found.lacking == renamed({("on", "x", "y")}, found.object_map)
    assert read_plan(plan_to_pddl(found.plan)).steps == found.plan


def test_a_goal_that_holds_at_the_start_needs_no_action() -> None:
    found = pddl_eval.counterexample(
        TABLE.format("a", "b", "(:goal (and))"), TABLE.format("a", "b", "(:goal (on a b))")
    )
    assert found is not None
    assert (found.plan, found.satisfies) == ((), "reference")


@pytest.mark.parametrize("verdict", [verdict for verdict in ANSWERS if verdict != Verdict.GOAL_DIFFERS], ids=str)
def test_other_verdicts_have_none(verdict: Verdict) -> None:
    assert pddl_eval.counterexample(REFERENCE, ANSWERS[verdict]) is None


def test_the_row_s_budget_bounds_the_search_for_it() -> None:
    """Six things that change places: no rules, and 720 states."""
    places = "(define (domain places) (:action swap :parameters (?a ?b ?x ?y) :precondition (and (at ?a ?x) (at ?b ?y))"
    places += " :effect (and (at ?a ?y) (at ?b ?x) (not (at ?a ?x)) (not (at ?b ?y)))))"
    names = [f"o{number}" for number in range(6)]
    init = " ".join(f"(at {name} {name})" for name in names)
    text = f"(define (problem p) (:domain places) (:objects {' '.join(names)}) (:init {init}) (:goal {{}}))"
    reference, generated = read_pair(text.format("(and (at o0 o1) (at o2 o3))"), text.format("(at o0 o1)"), places)
    assert isinstance(reference, Task) and isinstance(generated, Task)
    verdict = comparison.compare(reference, generated, False, check_solvable=False)
    assert verdict.verdict == Verdict.GOAL_DIFFERS
    KEPT.clear()
    with row_budget(1e-9):
        assert isinstance(counterexample(reference, generated, verdict), Undecided)
    assert isinstance(counterexample(reference, generated, verdict), pddl_eval.Counterexample)
