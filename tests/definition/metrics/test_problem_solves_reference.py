"""solves_reference: the generated problem's plan, executed in the reference (DESIGN.md, section 3)."""

from random import Random

import pytest
from pddl_eval.definition.metrics import score_problem_pair
from pddl_eval.definition.model import problem_to_pddl
from pddl_eval.definition.verdict import Verdict

from tests.judges.exhaustive import DOMAINS, state_after, well_typed
from tests.support.pairs_by_verdict import ANSWERS, REFERENCE, RENAMED
from tests.support.random_problems import random_pair
from tests.support.volume import in_two_sizes, with_seeds


@pytest.mark.parametrize(
    ("answer", "solves"),
    [
        (REFERENCE, True),
        (REFERENCE.replace("(on b c)", "(on b c) (clear a)"), True),
        (REFERENCE.replace("(on b c)", "(on b c) (on-table c) (arm-empty)"), True),
        (REFERENCE.replace("(on a b) (on b c)", "(on b c)"), False),
        (REFERENCE.replace("(on a b) (on-table b)", "(on-table a) (on-table b) (clear b)"), False),
        (ANSWERS[Verdict.TYPES_DIFFER], True),
        (RENAMED, True),
        (RENAMED.replace("(on y z)", ""), None),
        (ANSWERS[Verdict.UNSOLVABLE], None),
        (ANSWERS[Verdict.DOMAIN_MISMATCH], None),
        (ANSWERS[Verdict.UNPARSEABLE], None),
        (None, None),
    ],
)
def test_the_plan_is_carried_out_under_equal_names_or_the_object_map(answer: str | None, solves: bool | None) -> None:
    assert score_problem_pair(REFERENCE, answer).solves_reference is solves


def test_an_equivalent_problem_with_the_names_exchanged_solves_the_reference_under_its_map() -> None:
    init = "(:objects a b) (:init (arm-empty) (clear a) (on-table a) (clear b) (on-table b))"
    reference = f"(define (problem p) (:domain blocksworld) {init} (:goal (on a b)))"
    verdict = score_problem_pair(reference, reference.replace("(on a b)", "(on b a)"))
    assert (verdict.equivalent, verdict.plan, verdict.solves_reference) == (
        True,
        (("pickup", "b"), ("stack", "b", "a")),
        True,
    )


def test_a_placeholder_answer_is_carried_out_under_the_map_of_the_initial_states() -> None:
    """The goals may have another map: then the plan builds another tower than the reference asks for."""
    text = """(define (problem p) (:domain blocksworld) (:objects {0} {1})
      (:init (arm-empty) (clear {0}) (on {0} {1}) (on-table {1})) (:goal {2}))"""
    found = {}
    for goal in ("(on u v)", "(on v u)"):
        verdict = score_problem_pair(
            text.format("a", "b", "(on a b)"), text.format("u", "v", goal), is_placeholder=True
        )
        assert verdict.equivalent and verdict.object_map == {"u": "a", "v": "b"}
        found[goal] = verdict.solves_reference
    assert found == {"(on u v)": True, "(on v u)": False}


def test_no_plan_was_asked_for() -> None:
    assert score_problem_pair(REFERENCE, REFERENCE, check_solvable=False).solves_reference is None


def test_no_plan_solves_an_ill_typed_reference() -> None:
    floor = """(define (problem p) (:domain floor-tile) (:objects t1 t2 - tile k - robot c - color)
        (:init (right t2 t1) (robot-at k t1) (robot-has k c) (available-color c){}) (:goal (painted t2 c)))"""
    assert score_problem_pair(floor.format(""), floor.format("")).solves_reference is True
    assert score_problem_pair(floor.format(" (up k k)"), floor.format("")).solves_reference is False


@in_two_sizes(some=15, full=600)
def test_the_judge_carries_it_out_too(cases: int) -> None:
    found = {True: 0, False: 0, None: 0}

    def check(seed: int) -> None:
        domain = list(DOMAINS)[seed % len(DOMAINS)]
        pair = random_pair(Random(seed), domain)
        verdict = score_problem_pair(problem_to_pddl(pair.reference), problem_to_pddl(pair.generated))
        expected = None
        names = verdict.object_map or {name: name for name in pair.generated.objects}
        if verdict.plan is not None and sorted(names.values()) == sorted(pair.reference.objects):
            plan = [(name, *(names[argument] for argument in arguments)) for name, *arguments in verdict.plan]
            end = state_after(pair.reference, plan)
            expected = well_typed(pair.reference) and end is not None and pair.reference.goal <= end
        assert verdict.solves_reference is expected
        if verdict.equivalent and verdict.plan is not None and well_typed(pair.reference):
            assert expected is True
        found[expected] += 1

    with_seeds(cases, check)
    assert min(found.values()) > 0
