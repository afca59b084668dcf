"""How texts and names become tasks: names of domains, constants, vocabularies, and what may not be asked."""

from __future__ import annotations

import pytest
from pddl_eval import certificate, compare_plans, compare_problems
from pddl_eval.definition.domains import gripper, known_domain, rover_single_storeless
from pddl_eval.definition.pddl import parse_domain
from pddl_eval.definition.planning import fast_downward
from pddl_eval.definition.task import Task, read_pair, read_task

from tests.support.shared_problems import SHARED_PROBLEMS, needs_shared_problems
from tests.support.sliding_tiles import DOMAIN as TILES
from tests.support.sliding_tiles import random_goal

TRIP = """(define (domain trip) (:types place) (:constants k - place) (:predicates (at ?p - place) (been ?p - place))
  (:action go :parameters (?p - place) :precondition (at k) :effect (and (at ?p) (been ?p) (not (at k)))))"""

START = "(define (problem p) (:domain trip) (:objects a - place) (:init (at k)) (:goal (and (been a))))"

HELD = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"


@pytest.mark.parametrize("type_", ["place", "thing", "object"])
def test_a_constant_that_a_problem_declares_again_is_the_domains(type_: str) -> None:
    again = START.replace("(:objects a - place", f"(:objects a - place k - {type_}")
    verdict = compare_problems(START, again, domain=TRIP)
    assert (verdict.verdict.value, verdict.solvable) == ("identical", True)
    assert compare_problems(again, START, domain=TRIP).certificate == verdict.certificate == certificate(again, TRIP)
    assert compare_plans("(go a)", "(go a)", problem=again, domain=TRIP).plan_valid is True
    back = again.replace("been a", "been k")
    solvable = compare_problems(START, back, domain=TRIP)
    assert solvable.solvable is compare_plans("(go k)", "(go k)", problem=back, domain=TRIP).plan_valid is True


def test_an_object_in_an_operator_that_nobody_declares_is_undecided() -> None:
    domain = "(define (domain d) (:predicates (at ?x) (left)) (:action go :effect (and (at home) (left))))"
    problem = "(define (problem p) (:domain d) (:objects a) (:init (at a)) (:goal (and (left))))"
    verdict = compare_problems(problem, problem.replace("(left)", "(and (left) (at a))"), domain=domain)
    assert (verdict.verdict.value, verdict.certificate, verdict.solvable) == ("undecided", None, None)
    assert "home" in verdict.detail


def test_a_name_of_no_domain_in_a_row_is_named() -> None:
    reference, generated = read_pair(HELD, HELD, "blockworld")
    assert isinstance(reference, Task) and isinstance(generated, Task)
    for task in (reference, generated, reference.untyped):
        assert "`blockworld`; did you mean blocksworld?" in task.closure.reason  # type: ignore[union-attr]


def test_a_reference_in_another_vocabulary_is_told_so() -> None:
    other = HELD.replace("(holding a)", "(handempty) (ontable a) (clear a)").replace("(clear a)))", "(holding a)))")
    verdict = compare_problems(other, other)
    assert verdict.verdict.value == "reference_invalid"
    assert "handempty, ontable" in verdict.detail and "--domain FILE" in verdict.detail
    unsolvable = compare_problems(HELD.replace("(clear a)", "(on a a)"), HELD)
    assert unsolvable.verdict.value == "reference_invalid" and "--domain" not in unsolvable.detail


def test_both_rovers_have_names_that_say_which() -> None:
    stores, storeless = known_domain("rover-single-stores"), known_domain("rover-single-storeless")
    assert stores is not None and storeless is not None
    assert known_domain("rover") is known_domain("rover-single") is stores
    assert ("store" in stores.domain.types, "store" in storeless.domain.types) == (True, False)
    assert storeless.domain == parse_domain(rover_single_storeless.PDDL)


def test_the_names_of_a_domain_are_one_domain() -> None:
    rover = (
        "(define (problem p) (:domain rover) (:objects w - waypoint) (:init (at_rover w)) (:goal (and (at_rover w))))"
    )
    verdict = compare_problems(rover, rover.replace("(:domain rover)", "(:domain rover-single)"))
    assert (verdict.equivalent, verdict.solvable) == (True, True)
    assert certificate(rover) == certificate(rover.replace("(:domain rover)", "(:domain rover-single)"))
    assert certificate(rover) != certificate(rover, "rover-single-storeless")


@needs_shared_problems
@pytest.mark.slow
def test_the_benchmarks_rover_problems_find_their_domain() -> None:
    import polars as pl

    rows = pl.read_parquet(SHARED_PROBLEMS).filter(pl.col("domain") == "rover-single")
    tasks = [read_task(text) for text in rows["problem_pddl"]]
    assert len(tasks) == 192
    assert all(isinstance(task, Task) and task.domain is known_domain("rover") for task in tasks)
    ill_typed = [task.ill_typed for task in tasks if isinstance(task, Task) and task.ill_typed]
    assert len(ill_typed) == 24  # (visible waypoint3 objective1) for visible_from
    solvable = [isinstance(task.plan, tuple) for task in tasks if isinstance(task, Task)]
    assert sum(solvable) == 130


def test_no_planner_is_asked_where_the_verdict_is_no_and_nobody_asks_for_a_plan(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """On boards of two by two tiles, whose twelve states are enumerated without the kernel, too."""

    def asked(*_: object) -> None:
        raise AssertionError("a planner was asked")

    monkeypatch.setattr("pddl_eval.definition.task.solve", asked)
    monkeypatch.setattr(fast_downward, "find_plan", asked)
    board = random_goal(2, 1)
    no = {
        "object_count": board.replace("(:objects ", "(:objects extra "),
        "init_differs": board.replace("(blank p0-0)", "(blank p0-0) (blank p1-1)"),
        "goal_differs": random_goal(2, 3),
    }
    for expected, answer in no.items():
        verdict = compare_problems(board, answer, domain=TILES, check_solvable=False)
        assert (verdict.verdict.value, verdict.solvable) == (expected, None)


def test_a_certificate_depends_on_the_domains_operators_and_not_on_what_they_are_called() -> None:
    text = "(define (problem p) (:domain lamps) (:objects a) (:init (off a)) (:goal (on a)))"
    lamps = (
        "(define (domain lamps) (:action switch :parameters (?x)"
        " :precondition (off ?x) :effect (and (on ?x) (not (off ?x)))))"
    )
    same = lamps.replace("switch", "push").replace("?x", "?lamp")
    other = lamps.replace(" (not (off ?x))", "")
    certificates = [certificate(text, domain) for domain in (lamps, same, other)]
    assert certificates[0] == certificates[1] != certificates[2]


def test_a_known_domain_by_name_and_as_text_give_one_certificate() -> None:
    text = "(define (problem p) (:domain gripper) (:objects r) (:init (room r) (at-robby r)) (:goal (at-robby r)))"
    assert certificate(text, "gripper") == certificate(text, gripper.PDDL)
