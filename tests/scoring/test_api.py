"""The public functions: what is wrong with an argument is said in one sentence, and a result is the caller's own."""

from __future__ import annotations

from typing import Any

import pytest
from pddl_eval import (
    ParseError,
    Problem,
    certificate,
    compare_domains,
    compare_plans,
    compare_problems,
    compare_tasks,
    fully_specify,
)
from pddl_eval.definition.pddl import DomainError
from pddl_eval.explain import explain

HELD = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"
FERRY = "(define (domain ferry) (:action sail :parameters (?a) :precondition (at ?a) :effect (not (at ?a))))"


def test_a_changed_result_changes_no_later_one() -> None:
    moved = HELD.replace("a)", "z)")
    compare_problems(HELD, moved).object_map["z"] = "somewhere"  # type: ignore[index]
    explain(HELD, moved).object_map["z"] = "somewhere"
    assert compare_problems(HELD, moved).object_map == {"z": "a"}


@pytest.mark.parametrize("name", ["blockworld", "chess", "Blocks World"])
def test_an_unknown_domain_is_an_error(name: str) -> None:
    for call in (
        lambda: compare_problems(HELD, HELD, domain=name),
        lambda: fully_specify(HELD, name),
        lambda: certificate(HELD, name),
        lambda: compare_plans("(putdown a)", "(putdown a)", problem=HELD, domain=name),
    ):
        with pytest.raises(DomainError, match="blocksworld"):
            call()


def test_a_domain_has_its_name_in_any_case_and_with_either_dash() -> None:
    for name in ("floor-tile", "floor_tile", " Floor_Tile"):
        problem = Problem("p", "mine", {"t": "tile"}, frozenset(), frozenset())
        assert certificate(problem, name) == certificate(problem, "floor-tile")
    assert compare_problems(HELD, HELD, domain="").verdict.value == "identical"


@pytest.mark.parametrize("wrong", [[HELD], 3, {"problem": HELD}, b"(define"])
def test_other_types_are_named_with_their_side(wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"^reference .* score_frame$"):
        compare_problems(wrong, HELD)
    with pytest.raises(TypeError, match=r"^generated .* score_frame$"):
        compare_problems(HELD, wrong)
    if not isinstance(wrong, list):
        with pytest.raises(TypeError, match="reference domain"):
            compare_domains(wrong, FERRY)
        with pytest.raises(TypeError, match="generated domain"):
            compare_domains(FERRY, wrong)


def test_an_unreadable_reference_domain_says_which_side() -> None:
    with pytest.raises(DomainError, match="reference domain"):
        compare_domains("foo", FERRY)
    assert compare_domains(FERRY, "foo").domain_precision == 0.0  # type: ignore[union-attr]


def test_a_problem_with_an_undeclared_object_is_refused() -> None:
    problem = Problem("p", "blocksworld", {"a": "object"}, frozenset({("holding", "b")}), frozenset())
    for call in (certificate, fully_specify):
        with pytest.raises(ParseError, match="`b`"):
            call(problem)


@pytest.mark.parametrize("reference", [None, ""])
def test_a_task_without_a_reference_problem_is_refused_by_its_name(reference: str | None) -> None:
    domain = "(define (domain d) (:action go :parameters (?a) :precondition (at ?a) :effect (done ?a)))"
    with pytest.raises(ParseError, match="reference problem") as caught:
        compare_tasks(domain, reference, domain, None)
    assert "answer" not in str(caught.value)
