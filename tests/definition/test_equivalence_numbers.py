"""Problems with costs: the numbers of the initial state and the metric belong to the initial scene."""

import polars as pl
import pytest
from pddl_eval import certificate, compare_problems, score_frame, validate
from pddl_eval.definition import state_space
from pddl_eval.definition.model import Problem, problem_to_pddl
from pddl_eval.definition.pddl import read_any_problem
from pddl_eval.definition.verdict import ProblemVerdict

TRIP = """
(define (domain trip) (:requirements :typing :action-costs) (:types place)
  (:predicates (at ?p - place) (road ?a ?b - place)) (:functions (length ?a ?b - place) (total-cost) - number)
  (:action go :parameters (?a ?b - place) :precondition (and (at ?a) (road ?a ?b))
    :effect (and (at ?b) (not (at ?a)) (increase (total-cost) (length ?a ?b)))))
"""
STRIPS = "(define (domain trip) (:predicates (at ?p) (road ?a ?b))\n  (:action go :parameters (?a ?b)\n"
STRIPS += "    :precondition (and (at ?a) (road ?a ?b)) :effect (and (at ?b) (not (at ?a)))))"
ROADS = "(at a) (road a b) (road b c) (road c a) "
TABLE = "(= (length a b) 1) (= (length b c) 2) (= (length c a) 3) "
METRIC = "(:metric minimize (total-cost))"


def trip(numbers: str = TABLE, metric: str = METRIC, objects: str = "a b c - place", goal: str = "(at c)") -> str:
    init = f"(:init {ROADS}{numbers})"
    return f"(define (problem p) (:domain trip) (:objects {objects}) {init} (:goal (and {goal})) {metric})"


def compare(reference: str, generated: str) -> ProblemVerdict:
    """The verdict, and the certificates with it: equal exactly for a yes."""
    verdict = compare_problems(reference, generated, domain=TRIP)
    same = certificate(reference, TRIP) == certificate(generated, TRIP)
    assert same is verdict.equivalent
    return verdict


def test_a_reference_with_costs_is_compared_and_solved() -> None:
    verdict = compare(trip(), trip())
    assert (verdict.verdict, verdict.solvable, verdict.solves_reference) == ("identical", True, True)
    assert verdict.plan == (("go", "a", "b"), ("go", "b", "c"))


@pytest.mark.parametrize(
    ("numbers", "metric"),
    [
        (TABLE.replace(" 2)", " 2.0)").replace(" 3)", " 0.3e1)"), METRIC),
        (TABLE + "(= (total-cost) 0)", METRIC),
        (TABLE, METRIC.replace("(total-cost)", "total-cost")),
        (TABLE, METRIC.replace("(total-cost)", "(+ 1 (- (total-cost) 1))")),
        (TABLE, METRIC.replace("(total-cost)", "(/ (* 3 (total-cost)) 3)")),
    ],
)
def test_the_same_numbers_written_otherwise_are_identical(numbers: str, metric: str) -> None:
    assert compare(trip(), trip(numbers, metric)).verdict == "identical"


def test_a_table_that_is_permuted_with_its_objects_is_isomorphic() -> None:
    """Each object takes the name of the next one on the ring, and its lengths go with it."""
    turned = "(at b) (road b c) (road c a) (road a b) (= (length b c) 1) (= (length c a) 2) (= (length a b) 3)"
    generated = trip(goal="(at a)").replace(ROADS + TABLE, turned)
    verdict = compare(trip(), generated)
    assert (verdict.verdict, verdict.object_map) == ("isomorphic", {"a": "c", "b": "a", "c": "b"})


def test_a_table_that_is_permuted_without_its_objects_is_another_initial_state() -> None:
    turned = "(at b) (road b c) (road c a) (road a b) " + TABLE
    assert compare(trip(), trip(goal="(at a)").replace(ROADS + TABLE, turned)).verdict == "init_differs"


@pytest.mark.parametrize(
    ("numbers", "metric", "detail"),
    [
        (TABLE.replace(" 2)", " 2.5)"), METRIC, "(length b c) is 2.5 instead of 2"),
        (TABLE.replace(" 2)", " -2)"), METRIC, "(length b c) is -2 instead of 2"),
        ("(= (length a b) 1) (= (length b c) 2)", METRIC, "(length c a) has no value; in the reference it is 3"),
        (TABLE + "(= (length a a) 0)", METRIC, "(length a a) is 0, and has no value in the reference"),
        (TABLE + "(= (total-cost) 5)", METRIC, "(total-cost) is 5 instead of 0"),
        (TABLE.replace("(length c a)", "(length a c)"), METRIC, "(length a c) is 3, and has no value in the reference"),
        (TABLE, "", "there is no metric; the reference's is (minimize (total-cost))"),
        (
            TABLE,
            METRIC.replace("minimize", "maximize"),
            "the metric is (maximize (total-cost)) instead of (minimize (total-cost))",
        ),
        (
            TABLE,
            METRIC.replace("(total-cost)", "(* 2 (total-cost))"),
            "the metric is (minimize (* 2 (total-cost))) instead of (minimize (total-cost))",
        ),
        (
            " ".join(f"(= (length {r}) {2 * n})" for n, r in ((1, "a b"), (2, "b c"), (3, "c a"))),
            METRIC,
            "(length a b) is 2 instead of 1",
        ),
    ],
)
def test_another_number_or_metric_is_another_initial_state(numbers: str, metric: str, detail: str) -> None:
    verdict = compare(trip(), trip(numbers, metric))
    assert (verdict.verdict, verdict.equivalent, verdict.detail) == ("init_differs", False, detail)
    assert compare(trip(numbers, metric), trip()).verdict == "init_differs"


def test_a_road_without_a_length_cannot_be_taken() -> None:
    """As the validator says: an effect whose amount has no value makes the step fail."""
    unpriced = trip("(= (length a b) 1) (= (length c a) 3)")
    verdict = compare_problems(trip(), unpriced, domain=TRIP)
    assert (verdict.verdict, verdict.solvable) == ("init_differs", False)
    assert validate("(go a b) (go b c)", unpriced, TRIP).verdict == "precondition"
    assert compare_problems(unpriced, trip(), domain=TRIP).verdict == "reference_invalid"


def test_a_metric_that_is_no_sum_is_compared_as_written() -> None:
    product = METRIC.replace("(total-cost)", "(* (total-cost) (length {} c))")
    assert compare(trip(metric=product.format("b")), trip(metric=product.format("b"))).verdict == "identical"
    assert compare(trip(metric=product.format("b")), trip(metric=product.format("a"))).verdict == "init_differs"


def test_goals_are_fully_specified_beside_numbers() -> None:
    assert compare(trip(goal="(at c)"), trip(goal="(at c) (road a b)")).verdict == "equivalent"
    assert compare(trip(goal="(at c)"), trip(goal="(at b)")).verdict == "goal_differs"


def test_a_strips_problem_has_the_certificate_that_it_has_without_functions() -> None:
    plain = trip(numbers="", metric="", objects="a b c")
    untyped = TRIP.replace("(:types place)", "").replace(" - place", "")
    assert certificate(plain, untyped) == certificate(plain, STRIPS)
    assert certificate(trip(numbers="(= (total-cost) 0)", metric="", objects="a b c"), untyped) == certificate(
        plain, STRIPS
    )


def test_in_a_strips_domain_a_problem_with_costs_is_not_strips() -> None:
    plain, priced = trip(numbers="", metric="", objects="a b c"), trip(objects="a b c")
    assert compare_problems(plain, priced, domain=STRIPS).verdict == "not_strips"
    assert compare_problems(priced, plain, domain=STRIPS).verdict == "reference_invalid"


def test_the_first_draft_in_the_domains_language_counts() -> None:
    drafts = trip(metric="") + trip(numbers="", metric="", goal="(at b)") + trip()
    assert compare_problems(trip(metric=""), drafts, domain=TRIP).verdict == "identical"
    assert compare_problems(trip(), drafts, domain=TRIP, answer="last").verdict == "identical"
    plain = trip(numbers="", metric="", goal="(at b)")
    assert compare_problems(plain, drafts, domain=STRIPS).verdict == "identical"


def test_written_and_read_again_it_is_the_same_problem() -> None:
    problem = read_any_problem(trip(TABLE.replace(" 2)", " -2.125)")))
    assert isinstance(problem, Problem) and read_any_problem(problem_to_pddl(problem)) == problem
    assert compare_problems(problem, problem, domain=TRIP).verdict == "identical"


def test_rows_of_a_table_with_costs() -> None:
    answers = [trip(), trip(metric=""), trip(numbers="", metric="")]
    frame = pl.DataFrame({"reference_problem": [trip()] * 3, "generated_problem": answers, "domain": [TRIP] * 3})
    assert score_frame(frame)["verdict"].to_list() == ["identical", "init_differs", "init_differs"]


def priced(goal: str, init: str = "(= (total-cost) 0)", metric: str = "", objects: str = "a b") -> str:
    return f"(define (problem p) (:domain d) (:objects {objects}) (:init {init}) (:goal {goal}) {metric})"


def test_a_goal_that_compares_costs_is_paid_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state_space, "MAX_STATES", 500)
    domain = "(define (domain d) (:functions (total-cost)) (:action go :parameters (?x) :effect (and (at ?x) {})))"
    domain = domain.format("(increase (total-cost) 5)")
    asked = priced("(and (at a) (>= (total-cost) 1))")
    assert compare_problems(asked, asked, domain=domain).solvable
    cheap = compare_problems(priced("(at a)"), priced("(and (at a) (<= (total-cost) 3))"), domain=domain)
    assert (cheap.verdict, cheap.solvable) == ("undecided", None)  # Costs have no end, and states tell them apart.


def test_a_number_of_another_arity_is_no_price() -> None:
    domain = (
        "(define (domain d) (:action go :parameters (?x) :effect (and (at ?x) (increase (total-cost) (price ?x)))))"
    )
    given = "(= (price) 1) (= (price a b) 1) (= (price b) 1)"
    found = compare_problems(*[priced("(at a)", given, "(:metric minimize (total-cost))")] * 2, domain=domain)
    assert (found.verdict, found.solvable) == ("reference_invalid", False)


def test_a_plan_that_the_reference_cannot_pay_within_the_limits_decides_nothing() -> None:
    domain = (
        "(define (domain d) (:action go :parameters (?x)"
        " :effect (and (at ?x) (increase (total-cost) (* (price) (price) (price))))))"
    )
    metric = "(:metric minimize (total-cost))"
    found = compare_problems(
        priced("(at a)", f"(= (price) {'9' * 999})", metric), priced("(at a)", "(= (price) 1)", metric), domain=domain
    )
    assert (found.verdict, found.solves_reference) == ("init_differs", None)


@pytest.mark.parametrize("name", ["minimize", "increase", "when"])
def test_words_of_the_language_are_no_names(name: str) -> None:
    action = "(:action go :parameters (?x) :precondition (not (r)) :effect (s ?x))"
    domain = f"(define (domain d) {action})"
    pair = [priced(f"(or ({name} a) (r))", f"(q {each})") for each in "ab"]
    assert compare_problems(*pair, domain=domain).equivalent is not True
