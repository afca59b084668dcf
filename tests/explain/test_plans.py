"""What an explanation of a plan says: the step that fails, since when a condition is unmet, the steps side by side."""

from random import Random

import pytest
from pddl_eval import compare_plans
from pddl_eval.definition.metrics.actions import common_subsequence
from pddl_eval.definition.plans import Plan
from pddl_eval.definition.validation import START
from pddl_eval.explain import explain_row
from pddl_eval.explain.plans import PlanExplanation, align
from pddl_eval.scoring.plans import Condition

from tests.support.pairs_by_verdict import REFERENCE

PLAN = "(unstack a b) (putdown a) (pickup b) (stack b c) (pickup a) (stack a b)".replace(") (", ")\n(")


def conditions_of(explanation: PlanExplanation) -> tuple[Condition, ...]:
    assert explanation.validation is not None
    return explanation.validation.conditions


def explained(generated: str | None, reference: str = PLAN, problem: str | None = REFERENCE) -> PlanExplanation:
    row = {"reference_plan": reference, "generated_plan": generated}
    part = explain_row({**row, "reference_problem": problem} if problem else row).parts["plan"]
    assert isinstance(part, PlanExplanation)
    return part


def text_of(explanation: PlanExplanation) -> str:
    page = explanation.page()
    cells = [cell.text for section in page.sections for table in section.tables for row in table.rows for cell in row]
    said = [text for section in page.sections for text in (section.title, *section.paragraphs)]
    return " ".join([page.title, *page.facts, *said, *cells])


def test_an_unmet_precondition_was_deleted_or_never_added() -> None:
    explanation = explained(PLAN.replace("(pickup b)\n", ""))
    assert explanation.execution is not None and explanation.execution.failed_step == 3
    assert conditions_of(explanation) == (
        Condition(("holding", "b"), True, False, START),
        Condition(("clear", "c"), True, True, START),
    )
    explanation = explained("(unstack a b)\n(pickup c)")
    assert conditions_of(explanation)[0] == Condition(("arm-empty",), True, False, 1)
    assert "step 2" in text_of(explanation) and "(holding a)" in text_of(explanation)
    assert explanation.page().good is False


def test_a_goal_that_is_not_reached_is_explained_atom_by_atom() -> None:
    explanation = explained("(unstack a b)\n(stack a c)")
    assert conditions_of(explanation) == (
        Condition(("on", "a", "b"), True, False, 1),
        Condition(("on", "b", "c"), True, False, START),
    )
    assert explanation.execution is not None and explanation.execution.failed_step is None


def test_a_valid_plan_is_good() -> None:
    explanation = explained(PLAN)
    assert explanation.page().good is True
    assert all(each.holds for each in conditions_of(explanation))


@pytest.mark.parametrize("generated", ["(unstack a b), (fly a)", "(stack a z)", "(stack a)", "(stack a b c)"])
def test_an_action_that_is_not_in_the_domain_s_words_has_its_reason(generated: str) -> None:
    explanation = explained(generated)
    assert explanation.execution is not None and explanation.execution.failed_step == 1 + ("fly" in generated)
    assert explanation.execution.reason in explanation.detail


def test_a_step_that_cannot_be_read_is_explained() -> None:
    for damaged in ("(unstack a b)\n(put (a", "(fly (a\n(unstack a b)", f"{PLAN}\n(put"):
        explanation = explained(damaged)
        assert explanation.scores["plan_valid"] is False
        assert explanation.page().good is False
        assert "cannot be read" in explanation.detail


def test_without_a_problem_or_a_plan_both_are_compared_only() -> None:
    assert explained(PLAN, problem=None).execution is None
    assert explained(PLAN, problem=None).page().good is None
    for generated in ("no plan here", None):
        explanation = explained(generated)
        assert (explanation.found, explanation.execution, explanation.page().good) == (False, None, False)
        assert len(explanation.alignment) == 6


def test_the_scores_are_those_of_the_metrics() -> None:
    scores = compare_plans(PLAN, "(unstack a b)\n(pickup c)", problem=REFERENCE)
    explanation = explained("(unstack a b)\n(pickup c)")
    assert {name: getattr(scores, name) for name in explanation.scores} == dict(explanation.scores)


def test_an_alignment_is_a_longest_common_subsequence() -> None:
    random = Random(1)
    for _ in range(500):
        plans: list[Plan] = [tuple((random.choice("abc"),) for _ in range(random.randint(0, 7))) for _ in range(2)]
        pairs = align(*plans)
        for side in (0, 1):
            assert [pair[side] for pair in pairs if pair[side] is not None] == list(range(len(plans[side])))
        equal = [(left, right) for left, right in pairs if left is not None and right is not None]
        assert all(plans[0][left] == plans[1][right] for left, right in equal)
        assert len(equal) == common_subsequence(*plans)


def test_long_plans_are_bounded() -> None:
    steps = "\n".join(f"(pickup b{number})" for number in range(6_000))
    explanation = explained(f"{steps}\n(stop)", steps, problem=None)
    assert len(explanation.alignment) == 3_000
    rows = [row for section in explanation.page().sections for table in section.tables for row in table.rows]
    assert len(rows) < 60, "a long run of equal steps is cut short"
    assert len(explained("(noop)", steps, problem=None).page(whole=True).sections[-2].tables[0].rows) <= 500


def test_a_plan_is_stepped_through_on_its_page() -> None:
    dark = "(define (problem p) (:domain d) (:init (off)) (:goal (on)))"
    lamp = "(define (domain d) (:action switch :precondition (off) :effect (and (on) (not (off)))))"
    row = {"generated_plan": "(switch)", "reference_problem": dark, "domain": lamp}
    (section,) = (each for each in explain_row(row).page(whole=True).sections if each.title == "Step by step")
    (step,) = ([cell.text for cell in line] for line in section.tables[0].rows)
    assert step[:5] == ["1", "(switch)", "(off)", "(on)", "(off)"]


def test_an_answer_with_times_is_read_with_its_times() -> None:
    timed = "0.5: (unstack a b) [2]\n3: (putdown a)\n3: (wave)"
    assert explained(timed).as_read == timed
    assert explained("unstack(a, b), {wave, putdown(a)}").as_read == "(unstack a b)\n{(putdown a) (wave)}"


def test_all_that_a_failed_step_lacks_ends_the_steps() -> None:
    domain = """(define (domain d) (:requirements :adl) (:predicates (p) (q) (r ?x))
      (:action go :precondition (and (not (p)) (q) (exists (?x) (r ?x))) :effect (q)))"""
    row = {"reference_problem": "(define (problem x) (:domain d) (:objects a) (:init (p)) (:goal (q)))"}
    part = explain_row({**row, "generated_plan": "(go)", "domain": domain}).parts["plan"]
    (steps,) = (each for each in part.page(whole=True).sections if each.title == "Step by step")
    assert [cell.text for cell in steps.tables[0].rows[-1]][1:3] == ["(go) fails", "(exists (?x) (r ?x)) (not (p)) (q)"]
