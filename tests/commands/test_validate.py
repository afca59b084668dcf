"""``pddl-eval validate`` as a command: exit codes, one object a plan, the state after each step, hostile files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pddl_eval
import pytest
from pddl_eval.explain import validation_page

from tests.support.running import only_line, run, start

POST = """(define (domain post) (:requirements :typing :numeric-fluents :negative-preconditions)
 (:types place parcel)
 (:predicates (road ?a ?b - place) (at ?p - place) (in ?x - parcel ?p - place) (on ?x - parcel))
 (:functions (fuel) (total-cost) (length ?a ?b - place))
 (:action drive :parameters (?a ?b - place)
  :precondition (and (at ?a) (road ?a ?b) (>= (fuel) (length ?a ?b)))
  :effect (and (not (at ?a)) (at ?b)
   (decrease (fuel) (length ?a ?b)) (increase (total-cost) (length ?a ?b))))
 (:action load :parameters (?x - parcel ?p - place)
  :precondition (and (at ?p) (in ?x ?p)) :effect (and (on ?x) (not (in ?x ?p))))
 (:action drop :parameters (?x - parcel ?p - place)
  :precondition (and (at ?p) (on ?x)) :effect (and (in ?x ?p) (not (on ?x)))))
"""
PROBLEM = """(define (problem one) (:domain post) (:objects a b c - place x - parcel)
 (:init (at a) (in x a) (road a b) (road b c) (= (fuel) 5) (= (total-cost) 0)
  (= (length a b) 2.5) (= (length b c) 3))
 (:goal (and (in x b) (not (at a)))) (:metric minimize (total-cost)))
"""
RIGHT = "(load x a)\n(drive a b)\n(drop x b)\n"
PLANS = {
    "right": (RIGHT, 0, "valid", None, []),
    "far": ("(load x a) (drive a b) (drive b c)", 1, "precondition", 3, ["(>= (fuel) (length b c))"]),
    "short": ("(load x a)", 1, "goal_not_reached", None, ["(in x b)", "(not (at a))"]),
    "flown": ("(load x a)\n(fly a b)", 1, "unknown_action", 2, []),
    "typed": ("(load x a)\n(drive a x)", 1, "wrong_arguments", 2, []),
    "at_once": ("{load(x, a), drive(a, b)}", 1, "interference", 1, []),
    "empty": ("; cost = 0 (unit cost)\n", 1, "goal_not_reached", None, ["(in x b)", "(not (at a))"]),
    "prose": ("I am sorry, I cannot help with that.", 2, "unreadable", None, []),
}
"""Of each plan the exit code, the verdict, the step that fails, and what is missing."""


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    domain, problem = tmp_path / "domain.pddl", tmp_path / "problem.pddl"
    domain.write_text(POST)
    problem.write_text(PROBLEM)
    return domain, problem


def validated(*arguments: object, stdin: str | None = None) -> tuple[int, list[dict[str, Any]]]:
    result = run("validate", *arguments, "--json", stdin=stdin)
    return result.exit_code, [json.loads(line) for line in result.stdout.splitlines()]


@pytest.mark.parametrize("name", PLANS)
def test_facts_of_one_plan(name: str, files: tuple[Path, Path], tmp_path: Path) -> None:
    text, code, verdict, step, missing = PLANS[name]
    plan = tmp_path / name
    plan.write_text(text)
    found_code, (found,) = validated(*files, plan)
    assert (found_code, found["plan"], found["verdict"]) == (code, str(plan), verdict)
    assert (found["failed_step"], found["missing"], found["valid"]) == (step, missing, code == 0)
    assert found["cost"] == (2.5 if code == 0 else None)
    shown = run("validate", *files, plan)
    assert (shown.exit_code, shown.stdout.startswith("valid, cost 2.5")) == (code, code == 0)
    assert len(shown.stdout.splitlines()) == 1 + len(missing), "the verdict, and advice on each condition"


def test_several_plans_have_a_line_each_and_the_worst_exit_code(files: tuple[Path, Path], tmp_path: Path) -> None:
    for name, (text, *_) in PLANS.items():
        (tmp_path / name).write_text(text)
    names = list(PLANS)
    for chosen, code in ((names[:1] * 2, 0), (names[:3], 1), (names, 2), (["prose", "right"], 2)):
        result = run("validate", *files, *[tmp_path / name for name in chosen])
        assert result.exit_code == code
        assert [Path(line.partition(":")[0]).name for line in result.stdout.splitlines()] == chosen
        assert validated(*files, *[tmp_path / name for name in chosen])[0] == code


def test_states_are_what_each_step_changes(files: tuple[Path, Path], tmp_path: Path) -> None:
    plan = tmp_path / "plan"
    plan.write_text(RIGHT)
    _, (found,) = validated(*files, plan, "--states")
    assert [each.pop("needed") for each in found["states"]] == [
        ["(at a)", "(in x a)"],
        ["(>= (fuel) (length a b))", "(at a)", "(road a b)"],
        ["(at b)", "(on x)"],
    ]
    assert found["states"] == [
        {"step": 1, "actions": ["(load x a)"], "added": ["(on x)"], "deleted": ["(in x a)"], "numbers": {}},
        {
            "step": 2,
            "actions": ["(drive a b)"],
            "added": ["(at b)"],
            "deleted": ["(at a)"],
            "numbers": {"(fuel)": 2.5, "(total-cost)": 2.5},
        },
        {"step": 3, "actions": ["(drop x b)"], "added": ["(in x b)"], "deleted": ["(on x)"], "numbers": {}},
    ]
    lines = run("validate", *files, plan, "--states").stdout.splitlines()
    assert len(lines) == 4 and all(change in lines[1] for change in ("+(at b)", "-(at a)", "(fuel) = 2.5"))


def test_what_is_optimal_and_what_each_step_is_worth(files: tuple[Path, Path], tmp_path: Path) -> None:
    files[1].write_text(PROBLEM.replace("(= (fuel) 5)", "(= (fuel) 9) (= (length b a) 1) (road b a)"))
    plan = tmp_path / "plan"
    for text, optimal, steps in (
        (RIGHT, True, [1.0, 1.0, 1.0]),
        ("(load x a)\n(drop x a)\n(load x a)\n(drive a b)\n(drop x b)", True, [1.0, 0.5, 0.5, 1.0, 1.0]),
        ("(drive a b)", False, [0.75]),
        ("(drive a b)\n(drive b c)\n(load x c)", False, [0.75, 0.25, 0.0]),
    ):
        plan.write_text(text)
        _, (found,) = validated(*files, plan, "--optimal")
        assert (found["optimal"], found["optimal_cost"], found["steps"]) == (optimal, 2.5, steps), text
        assert run("validate", *files, plan, "--optimal").stdout.splitlines()[-1].startswith("not ") != optimal
    files[1].write_text(PROBLEM.replace("minimize (total-cost)", "maximize (fuel)"))
    _, (found,) = validated(*files, plan, "--optimal")
    assert (found["optimal"], found["optimal_cost"], found["steps"]) == (False, None, None)


def test_a_plan_may_come_through_a_pipe_and_so_may_the_problem(files: tuple[Path, Path], tmp_path: Path) -> None:
    domain, problem = files
    plan = tmp_path / "plan"
    plan.write_text(RIGHT)
    assert validated(domain, problem, "-", stdin=RIGHT)[0] == 0
    assert validated(domain, "-", plan, stdin=PROBLEM)[0] == 0
    assert run("validate", domain, "-", "-", stdin=PROBLEM).exit_code == 2


def test_raw_answers_and_drafts(files: tuple[Path, Path], tmp_path: Path) -> None:
    answer = tmp_path / "answer"
    answer.write_text(f"<think>(fly)</think>Draft:\n```\n(load x a)\n```\nFinal plan:\n```\n{RIGHT}```\n")
    assert validated(*files, answer)[0] == 1
    assert validated(*files, answer, "--answer", "last")[0] == 0


def test_a_known_domain_has_a_name(tmp_path: Path) -> None:
    problem = tmp_path / "problem.pddl"
    problem.write_text("(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))")
    assert validated("blocksworld", problem, "-", stdin="(putdown a)")[0] == 0


def test_domain_and_problem_that_are_exchanged_are_named(files: tuple[Path, Path], tmp_path: Path) -> None:
    domain, problem = files
    (tmp_path / "plan").write_text(RIGHT)
    result = run("validate", problem, domain, tmp_path / "plan")
    assert result.exit_code == 2 and str(problem) in result.stderr and "domain comes first" in result.stderr


@pytest.mark.parametrize("broken", [0, 1])
def test_what_cannot_be_read_is_the_verdict_on_all_plans(broken: int, files: tuple[Path, Path], tmp_path: Path) -> None:
    files[broken].write_text("(define (durian")
    plan = tmp_path / "plan"
    plan.write_text(RIGHT)
    code, found = validated(*files, plan, plan)
    assert (code, [each["verdict"] for each in found]) == (2, ["reference_invalid"] * 2)
    assert [each["valid"] for each in found] == [None] * 2 and found[0]["detail"]


def test_what_is_not_executed_is_refused_by_its_name(files: tuple[Path, Path], tmp_path: Path) -> None:
    files[0].write_text(
        POST.replace(
            "(:action load",
            "(:process wait :parameters () :precondition () :effect ()) (:action load",
        )
    )
    plan = tmp_path / "plan"
    plan.write_text(RIGHT)
    code, (found,) = validated(*files, plan)
    assert (code, found["cost"]) == (2, None)
    assert ":process" in found["detail"]


def test_a_problem_that_is_not_executed_is_refused_by_its_name(files: tuple[Path, Path], tmp_path: Path) -> None:
    files[1].write_text(PROBLEM.replace("(in x b)", "(in x b) (not (preference w (at c)))"))
    plan = tmp_path / "plan"
    plan.write_text(RIGHT)
    code, (found,) = validated(*files, plan)
    assert (code, found["verdict"]) == (2, "undecided")
    assert "preference in the goal" in found["detail"] and "strips" not in found["detail"]


def test_where_time_counts_states_are_a_time_line(files: tuple[Path, Path], tmp_path: Path) -> None:
    files[0].write_text(
        POST.replace(
            "(:action load",
            "(:durative-action wait :parameters () :duration (= ?duration 2) :condition () :effect ()) (:action load",
        )
    )
    plan = tmp_path / "plan"
    plan.write_text("0.5: (wait) [2]")
    shown = run("validate", *files, plan, "--states").stdout
    assert "0.5: (wait) starts" in shown and "2.5: (wait) ends" in shown


def test_numbers_are_exact_for_people(files: tuple[Path, Path], tmp_path: Path) -> None:
    files[0].write_text(POST.replace("(increase (total-cost) (length ?a ?b))", "(increase (total-cost) (/ 10 3))"))
    plan = tmp_path / "plan"
    plan.write_text("(load x a) (drive a b) (drive b c)")
    assert "(total-cost) = 10/3" in run("validate", *files, plan, "--states").stdout
    assert "(fuel) is 2.5 since step 2" in run("validate", *files, plan).stdout


def test_a_missing_file_is_named(files: tuple[Path, Path], tmp_path: Path) -> None:
    result = run("validate", *files, tmp_path / "nothing.txt")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "nothing.txt" in only_line(result.stderr)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_a_file_in_utf_16_is_named(encoding: str, files: tuple[Path, Path], tmp_path: Path) -> None:
    for place in range(3):
        paths = [*files, tmp_path / "plan"]
        paths[2].write_text("(pickup a)")
        (other := tmp_path / f"other{place}").write_text(paths[place].read_text(), encoding=encoding)
        paths[place] = other
        done = run("validate", *paths)
        assert done.exit_code == 2 and "UTF-16" in done.output and f"other{place}" in done.output
    done = run("explain", paths[1], other)
    assert done.exit_code == 2 and "UTF-16" in done.output


def test_the_argument_that_is_missing_is_named(files: tuple[Path, Path]) -> None:
    for given, missing in ((files, "PLAN"), (files[:1], "PROBLEM"), ((), "DOMAIN")):
        result = run("validate", *given)
        assert result.exit_code == 2 and f"'{missing}" in result.stderr.splitlines()[-1]


def test_hostile_plans_stay_on_one_line(files: tuple[Path, Path], tmp_path: Path) -> None:
    plan = tmp_path / "plan"
    for text in ("(\x1b[31mload\u202e x a)\n(b", "(" * 50_000, "(load x a)\n" * 2_000, "\x00\xff", "9" * 10**5):
        plan.write_text(text)
        result = run("validate", *files, plan, plan)
        assert result.exit_code in (1, 2)
        assert len(result.stdout.splitlines()) == 2 and len(result.stdout) < 10_000
        assert "\x1b" not in result.stdout and "\u202e" not in result.stdout


def test_the_command_exits_with_this_code_as_a_process(files: tuple[Path, Path], tmp_path: Path) -> None:
    plan = tmp_path / "plan"
    text, code, *_ = PLANS["far"]
    plan.write_text(text)
    assert start("-m", "pddl_eval", "validate", *files, plan).returncode == code


def as_val(files: tuple[Path, Path], tmp_path: Path, *names: str) -> tuple[int, list[str]]:
    plans = [tmp_path / f"{name}.plan" for name in names]
    for file in plans:
        file.write_text(PLANS[file.stem][0])
    result = run("validate", *files, *plans, "--val")
    return result.exit_code, result.stdout.splitlines()


def test_what_scripts_look_for_in_what_val_prints(files: tuple[Path, Path], tmp_path: Path) -> None:
    code, lines = as_val(files, tmp_path, "right")
    assert code == 0 and {"Plan executed successfully - checking goal", "Plan valid", "Final value: 2.5 "} <= set(lines)
    assert "Successful plans:" in lines and "Plan invalid" not in lines
    code, lines = as_val(files, tmp_path, "right", "far", "short", "flown", "prose")
    assert code == 4 and [lines.count(each) for each in ("Plan valid", "Plan invalid", "Goal not satisfied")] == [
        1,
        1,
        1,
    ]
    assert lines.count("Plan failed to execute") == 1 and lines.count("Bad plan description!") == 2
    assert lines[-1].split() == [str(tmp_path / f"{name}.plan") for name in ("far", "short", "flown", "prose")]


def test_val_cannot_start_without_a_domain(files: tuple[Path, Path], tmp_path: Path) -> None:
    files[0].write_text("(define (domain")
    assert as_val(files, tmp_path, "right") == (255, [])


@pytest.mark.parametrize("form", ["html", "tex"])
def test_a_page_of_what_each_step_changed(form: str, files: tuple[Path, Path], tmp_path: Path) -> None:
    (tmp_path / "a.plan").write_text(RIGHT)
    page = tmp_path / f"plan.{form}"
    assert run("validate", *files, tmp_path / "a.plan", "--output", page).exit_code == 0
    text = page.read_text()
    assert "(drive a b)" in text and "(fuel) = 2.5" in text and "cost 2.5" in text
    assert run("validate", *files, tmp_path / "a.plan", "--output", tmp_path / "plan.txt").exit_code == 2


def test_a_page_of_a_plan_goes_through_its_steps(files: tuple[Path, Path], tmp_path: Path) -> None:
    plan, page = tmp_path / "plan", tmp_path / "plan.html"
    plan.write_text(RIGHT)
    assert f"written: {page}" in run("validate", *files, plan, "--output", page).stdout
    text = page.read_text(encoding="utf-8")
    assert text.count("<script nonce=") == 1 and "ArrowDown" in text


def test_the_step_that_fails_ends_the_steps_and_only_numbers_that_change_have_a_column() -> None:
    """Of the step that fails all is listed that does not hold, not only what the verdict names."""
    problem = "(define (problem p) (:domain blocksworld) (:objects a b) (:init (holding a)) (:goal (clear a)))"
    section = validation_page([("a.plan", pddl_eval.validate("(putdown a) (stack a b)", problem))]).sections[0]
    shown = section.tables[0]
    assert shown.header[-1] == "becomes false" and [row[0].differs for row in shown.rows] == [False, True]
    assert [cell.text for cell in shown.rows[1]] == ["2", "(stack a b) fails", "(clear b) (holding a)", "", ""]
