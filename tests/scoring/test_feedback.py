"""Feedback: which faults are found and where, what is never said, bounds, the column and the command."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random
from typing import Any

import pddl_eval
import polars as pl
import pytest
from pddl_eval.definition.domains import blocksworld
from pddl_eval.definition.model import problem_to_pddl, renamed
from pddl_eval.errors import UserError
from pddl_eval.scoring import feedback as room

from tests.support.random_problems import random_pair
from tests.support.running import run

START = "(arm-empty) (clear a) (on-table a) (clear b) (on-table b)"
TOWER = f"(define (problem p) (:domain blocksworld) (:objects a b)\n  (:init {START})\n  (:goal (and (on a b))))"
TRUCKS = """(define (domain trucks) (:types truck place)
  (:predicates (at ?t - truck ?p - place) (fuel ?t - truck) (road ?p ?q - place))
  (:action drive :parameters (?t - truck ?p ?q - place) :precondition (and (at ?t ?p) (road ?p ?q) (fuel ?t))
    :effect (and (at ?t ?q) (not (at ?t ?p)))))"""
TRIP = """(define (problem trip) (:domain trucks) (:objects t - truck p q - place)
  (:init (at t p) (road p q) (fuel t))
  (:goal (at t q)))"""

Found = list[tuple[str, int | None, str]]


def issues(answer: str | None, *reference: str, **settings: Any) -> Found:
    return [(each.check, each.line, each.words) for each in pddl_eval.feedback(answer, *reference, **settings).issues]


def without(text: str, old: str, new: str = "") -> str:
    assert old in text
    return text.replace(old, new, 1)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("(on a b)", "(on a c)", [("undeclared_object", 3, "(on a c)")]),
        ("(on a b)", "(onn a b)", [("undeclared_predicate", 3, "(onn a b)")]),
        ("(clear a)", "(clear a b)", [("wrong_number", 2, "(clear a b)")]),
        ("(on a b)", "(on a a)", [("unsolvable", 3, "(on a a)")]),
        ("(on-table b))", "(on-table b)", [("parentheses", 3, "(:goal")]),
        ("(on-table b))", "(on-table b)))", [("parentheses", 3, "(:goal")]),
        ("(on a b))))", "(on a b)", [("parentheses", 3, "")]),
        ("(on a b)", "(not (on a b))", [("not_strips", 3, "")]),
        ("(on a b)", "", [("empty_goal", 3, "")]),
        ("(on a b)", "(clear b)", [("goal_holds", 3, "")]),
        ("blocksworld", "blocks", [("unknown_domain", 1, "blocks")]),
        (
            "(:objects a b)",
            "(:objects)",
            [("undeclared_object", 2, "(clear a)"), ("undeclared_object", 2, "(clear b)")],
        ),
    ],
)
def test_faults_of_a_problem_by_itself(old: str, new: str, expected: Found) -> None:
    answer = without(TOWER, old, new)
    assert issues(answer) == expected
    found = pddl_eval.feedback(f"<think>\n{TOWER}</think>\n{answer}")
    assert [(each.check, each.line and each.line - 4, each.words) for each in found.issues] == expected
    assert found.ok == all(each.severity == "warning" for each in found.issues)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("t - truck p q", "t p - truck q", [("wrong_type", 2, "(at t p)"), ("wrong_type", 2, "(road p q)")]),
        ("q - place", "q - city", [("undeclared_type", 1, "city")]),
        ("(fuel t)", "", [("unsolvable", 3, "(at t q)"), ("never_applicable", None, "")]),
        ("(at t q)", "(and (at t q) (road q p))", [("unsolvable", 3, "(road q p)")]),
    ],
)
def test_faults_in_a_domain_of_the_prompt(old: str, new: str, expected: Found) -> None:
    found = issues(without(TRIP, old, new), domain=TRUCKS)
    assert [each for each in found if each[0] != "wrong_type"][:1] == [
        each for each in expected if each[0] != "wrong_type"
    ][:1]
    assert {*expected} <= {*found}


def test_a_goal_out_of_reach_has_its_reason() -> None:
    found = pddl_eval.feedback(without(TRIP, "(fuel t)"), domain=TRUCKS)
    assert "drive would add it" in found.text and "nothing makes (fuel ?t) true" in found.text


@pytest.mark.parametrize(
    ("plan", "expected"),
    [
        ("(pickup a)\n(stack a b)", []),
        ("So:\n(stack a b)", [("precondition", 2, "(stack a b)")]),
        ("1. pickup(a)\n2. stack(a, b", [("unreadable", 2, "")]),
        ("(pickup a)", [("goal_not_reached", None, "")]),
        ("(pickup a)\n(putdown a)\n(putdown a)", [("precondition", 3, "(putdown a)")]),
        (
            '[{"name": "pickup", "args": ["a"]},\n{"name": "stack", "args": ["a", "a"]}]',
            [("precondition", 2, "(stack a a)")],
        ),
        (
            "(pickup a)\n(stack a c)\n(fly a)\n(stack b)",
            [
                ("wrong_arguments", 2, "(stack a c)"),
                ("unknown_action", 3, "(fly a)"),
                ("wrong_arguments", 4, "(stack b)"),
            ],
        ),
        (None, [("empty", None, "")]),
    ],
)
def test_faults_of_a_plan(plan: str | None, expected: Found) -> None:
    assert issues(plan, kind="plan", problem=TOWER) == expected


def test_advice_on_a_plan_names_the_actions_that_help() -> None:
    (issue,) = pddl_eval.feedback("(stack a b)", kind="plan", problem=TOWER).issues
    assert issue.advice.startswith("(pickup a) adds (holding a), and can be done there")
    on_b = TOWER.replace(START, "(arm-empty) (clear a) (on a b) (on-table b)").replace("(on a b))))", "(on b a))))")
    _, issue = pddl_eval.feedback("(stack a b)", kind="plan", problem=on_b).issues
    assert issue.advice.startswith("(unstack a b) adds (holding a), and can be done there")
    (issue,) = pddl_eval.feedback("(pickup aa)", kind="plan", problem=TOWER.replace(" a", " aaa")).issues
    assert "did you mean aaa?" in issue.advice


def test_advice_on_a_plan_minds_the_types() -> None:
    """A robot can be brought to b; a box cannot drive there itself."""
    domain = """(define (domain d) (:types robot box - thing room thing) (:predicates (at ?x - thing ?r - room))
      (:action go :parameters (?r - robot ?to - room) :effect (at ?r ?to)))"""
    problem = """(define (problem p) (:domain d) (:objects r - robot c - box b - room)
      (:init) (:goal (and (at r b) (at c b))))"""
    told = pddl_eval.feedback("[]", kind="plan", problem=problem, domain=domain)
    assert [issue.advice for issue in told.issues] == ["", "(go r b) adds (at r b), and can be done there"]


def test_advice_on_names() -> None:
    (issue,) = pddl_eval.feedback(without(TRIP, "p q - place", "q - place"), domain=TRUCKS).issues
    assert issue.advice.startswith("declare p - place in :objects")
    (issue,) = pddl_eval.feedback(without(TRUCKS, "(not (at ?t ?p))", "(not (at ?t ?x))"), kind="domain").issues[:1]
    assert (issue.check, issue.words, issue.line) == ("not_executed", "?x", 4)


@pytest.mark.parametrize(
    ("kind", "text", "old", "word"),
    [
        ("problem", TOWER, "(clear a) (on-table a)", "(on-table"),
        ("problem", TRIP, "(road p q) (fuel t)", "(fuel"),
        ("domain", TRUCKS, "(at ?t - truck ?p - place) (fuel", "(fuel"),
        ("domain", TRUCKS, "?q - place) :precondition", ":precondition"),
        ("domain", TRUCKS, "(at ?t ?p) (road", "(road"),
        ("domain", TRUCKS, "(fuel ?t))\n    :effect", ":effect"),
    ],
)
def test_where_a_parenthesis_is_missing(kind: str, text: str, old: str, word: str) -> None:
    damaged = without(text, old, old.replace(")", "", 1))
    (issue,) = pddl_eval.feedback(damaged, kind=kind, domain=None if text == TOWER else TRUCKS).issues[:1]
    at = damaged.index(word, damaged.index(old[:8]))
    place = damaged.count("\n", 0, at) + 1, at - damaged.rfind("\n", 0, at)
    assert (issue.check, issue.line, issue.column, issue.words) == ("parentheses", *place, word)


def test_faults_of_a_domain() -> None:
    text = without(TRUCKS, "(fuel ?t))\n", "(fuel ?q) (not (at ?t ?p)) (lit))\n")
    text = without(text, "?q - place) :pre", "?q - place ?r - city) :pre")
    assert issues(text, kind="domain") == [
        ("undeclared_type", 3, "city"),
        ("wrong_type", 3, "(fuel ?q)"),
        ("undeclared_predicate", 3, "(lit)"),
        ("contradiction", 3, "(at ?t ?p)"),
        ("unused", 3, "?r"),
    ]
    assert issues("(define (domain d))", kind="domain") == [("no_operators", None, "")]
    assert (
        issues(without(TRUCKS, "(road ?p ?q)"), kind="domain", problem=without(TRIP, "(fuel t)"))[0][0] == "unsolvable"
    )
    assert issues(TRUCKS[:-1], kind="domain")[0] == ("parentheses", 4, "")
    assert issues(TRUCKS, kind="domain", problem=TRIP) == []


def test_levels() -> None:
    answer = without(without(TOWER, "(clear a)", "(clear c)"), "(on a b)", "(on d b)")
    found = {level: pddl_eval.feedback(answer, level=level) for level in room.LEVELS}
    assert [len(each.issues) for each in found.values()] == [0, 1, 2]
    assert len({(each.ok, each.verdict) for each in found.values()}) == 1
    assert found["verdict"].text.count("\n") == 0 and "1 more" not in found["verdict"].text
    assert found["first"].issues[0] == found["all"].issues[0]


def test_with_a_reference_the_answer_is_right_or_not() -> None:
    assert pddl_eval.feedback(TOWER.replace("a", "A"), TOWER).ok is True
    wrong = without(TOWER, "(on a b)", "(holding a)")
    hidden, shown = (pddl_eval.feedback(wrong, TOWER, reveal=reveal) for reveal in room.REVEALED)
    assert (hidden.ok, hidden.verdict) == (shown.ok, shown.verdict) == (False, "goal_differs")
    assert "(on a b)" in shown.text and "(on a b)" not in hidden.text
    other = without(blocksworld.PDDL, "(clear ?b) (on ?b ?base) (not", "(on ?b ?base) (not")
    assert pddl_eval.feedback(other, blocksworld.PDDL, kind="domain").verdict == "operators_differ"
    assert pddl_eval.feedback("(a) (b)", "(a) (b)", kind="plan").ok is True
    hidden, shown = (pddl_eval.feedback("(a) (b)", "(a) (c)", kind="plan", reveal=reveal) for reveal in room.REVEALED)
    assert "(c)" in shown.text and "(c)" not in hidden.text


def words(text: str) -> set[str]:
    return set(re.findall(r"[\w-]+", text.lower()))


@pytest.mark.parametrize("domain", ["blocksworld", "gripper", "floor-tile"])
def test_nothing_of_the_reference_is_said(domain: str) -> None:
    """Its names are secret words here. Of two references with one verdict the feedback is one, so no number tells."""
    told: dict[tuple[int, str], pddl_eval.Feedback] = {}
    rng = Random(7)
    pairs = [random_pair(rng, domain) for _ in range(8)]
    for number, pair in enumerate(pairs):
        answer = problem_to_pddl(pair.generated)
        if number % 3 == 0:
            answer = answer.replace(rng.choice("()"), "", 1)
        for reference in (pair.reference, pairs[number - 1].reference, pairs[number - 2].reference):
            secret = {name: f"secret{index}" for index, name in enumerate(reference.objects)}
            hidden = problem_to_pddl(
                type(reference)(
                    "secret-name",
                    reference.domain,
                    {secret[name]: type_ for name, type_ in reference.objects.items()},
                    *(renamed(atoms, secret) for atoms in (reference.init, reference.goal)),
                )
            )
            try:
                found = pddl_eval.feedback(answer, hidden)
            except UserError:  # An unsolvable reference.
                continue
            assert not {word for word in words(str(found)) if word.startswith("secret")}
            assert told.setdefault((number, found.verdict), found) == found
            assert found.ok is pddl_eval.compare_problems(hidden, answer).equivalent
    assert len({verdict for _, verdict in told}) > 3


def test_nothing_of_a_reference_domain_or_plan_is_said() -> None:
    secret = re.sub(r"\b(drive|road|fuel)\b", lambda found: f"secret-{found[0]}", TRUCKS)
    answers = [TRUCKS, TRUCKS[:-1], without(TRUCKS, "(fuel ?t))", "(fool ?t))"), "", "no", blocksworld.PDDL]
    for answer in answers:
        for reference in (secret, blocksworld.PDDL.replace("stack", "secret-stack")):
            assert "secret" not in str(pddl_eval.feedback(answer, reference, kind="domain"))
    for answer in ("(a)", "(a", "", None, "1. (a)\n2. b c"):
        assert "secret" not in str(pddl_eval.feedback(answer, "(secret a)", kind="plan"))
    # A row that asks for both says nothing of either.
    row = {
        "reference_domain": secret,
        "reference_problem": TRIP.replace(" q", " secret"),
        "generated_plan": "(drive t)",
    }
    row |= {"generated_domain": TRUCKS, "generated_problem": TRIP, "reference_plan": None}
    for domain in ({}, {"domain": secret}):
        (told,) = pddl_eval.score_frame(pl.DataFrame([row | domain]), feedback=True)["feedback"]
        assert "secret" not in (told or "")


def test_a_problem_beside_a_domain_is_compared_and_the_domain_kept_secret() -> None:
    row = {"reference_domain": TRUCKS, "reference_problem": TRIP, "generated_domain": "no", "generated_problem": TRIP}
    (told,) = pddl_eval.score_frame(pl.DataFrame([row]), feedback=True)["feedback"]
    assert told.startswith("The problem is right.\n\nThe domain is wrong")
    row["generated_problem"] = without(TRIP, "(fuel t)")
    (told,) = pddl_eval.score_frame(pl.DataFrame([row]), feedback=True)["feedback"]
    assert told.startswith("The problem is wrong: another initial state.") and "drive" not in told
    named = {"reference_domain": blocksworld.PDDL, "domain": "blocksworld", "generated_domain": "no"}
    named |= {"reference_problem": TOWER, "generated_problem": without(TOWER, "(on a b)", "(onn a b)")}
    (told,) = pddl_eval.score_frame(pl.DataFrame([named]), feedback=True)["feedback"]
    assert "Did you mean on?" in told


@pytest.mark.parametrize("kind", ["problem", "plan", "domain"])
@pytest.mark.parametrize(
    "answer",
    [
        *(
            "(" * 100_000,
            ")" * 100_000,
            "`" * 100_000,
            "\0\x1b[31m" * 1_000,
            "\ud800",
            ";" * 100_000,
            "(define (problem",
        ),
        "(define (problem p) (:domain blocksworld) (:objects) (:init " + "(on x y)" * 20_000 + ") (:goal (and)))",
        "(define (domain d) " + "(:action a :parameters (?x - t) :effect (p ?y))" * 3_000 + ")",
        "\n".join(f"(fly a{number})" for number in range(5_000)),
        "(define (problem p) (:domain d) (:objects "
        + " ".join(f"o{i} - t{i}" for i in range(20_000))
        + ") (:init) (:goal (q)))",
        TOWER.replace("(:objects a b)", f"(:objects {'a' * 40_000} {'ab' * 20_000})").replace(
            "(on a b)", f"(on {'a' * 39_999} b)"
        ),
        TOWER.replace("(on a b)", " ".join(f"(on a{i} b{i})" for i in range(5_000))),
    ],
    ids=range(13),
)
def test_feedback_is_bounded(kind: str, answer: str) -> None:
    reference = {"problem": TOWER, "plan": None, "domain": TRUCKS}[kind]
    found = pddl_eval.feedback(answer, reference, kind=kind, problem=TRIP if kind == "domain" else TOWER, seconds=1)
    assert found.ok is not True
    assert len(found.text) <= room.MAX_TEXT + 100 and len(found.issues) <= room.MAX_ISSUES
    assert found.text.replace("\n", "").isprintable()
    assert all(len(part) <= room.MAX_SENTENCE for each in found.issues for part in (each.words, each.says, each.advice))


@pytest.mark.parametrize(
    "arguments",
    [
        {"kind": "poem"},
        {"kind": "plan"},
        {"level": "much"},
        {"reveal": "all"},
        {"drafts": "best"},
        {"domain": "nowhere"},
        {"reference": "no problem"},
        {"kind": "plan", "problem": "no problem"},
        {"kind": "domain", "reference": "(define (domain d))"},
    ],
)
def test_a_call_that_cannot_be_meant_raises(arguments: dict[str, Any]) -> None:
    with pytest.raises(UserError):
        pddl_eval.feedback(TOWER, **arguments)


def test_the_column_is_there_on_request() -> None:
    wrong = without(TOWER, "(on a b)", "(on a c)")
    frame = pl.DataFrame(
        {"reference_problem": [TOWER, TOWER, None, "no"], "generated_problem": [TOWER, wrong, wrong, wrong]}
    )
    plain, asked = pddl_eval.score_frame(frame), pddl_eval.score_frame(frame, feedback=True)
    assert "feedback" not in plain.columns
    assert asked.drop("feedback", "score_micros").equals(plain.drop("score_micros"))
    right, *others, mistake = asked["feedback"].to_list()
    assert right == "The problem is right." and mistake is None
    assert others == [pddl_eval.feedback(wrong, TOWER).text, pddl_eval.feedback(wrong).text]
    assert asked["score_error"].null_count() == 4


def test_the_command_prints_it_alone(tmp_path: Path) -> None:
    reference, answer = tmp_path / "reference.pddl", tmp_path / "answer.txt"
    reference.write_text(TOWER)
    answer.write_text(without(TOWER, "(on a b)", "(on a c)"))
    result = run("explain", reference, answer, "--feedback")
    assert result.exit_code == 0 and result.stdout == f"{pddl_eval.feedback(answer.read_text(), TOWER).text}\n"
    plan = tmp_path / "plan.txt"
    plan.write_text("(stack a b)")
    result = run("explain", plan, plan, "--problem", reference, "--feedback", "--only", "plan")
    assert result.stdout == f"{pddl_eval.feedback('(stack a b)', kind='plan', problem=TOWER).text}\n"


def test_many_warnings_hide_no_error() -> None:
    unused = " ".join(f"?v{number}" for number in range(25))
    domain = (
        f"(define (domain d) (:predicates (p)) (:action a :parameters ({unused}) :effect (p))"
        " (:action b :precondition (zzz) :effect (p)))"
    )
    assert pddl_eval.feedback(domain, kind="domain").ok is False
