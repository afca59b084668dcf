"""Reading problems: what each verdict means, and that the fast reader and the ``pddl`` package never differ."""

from __future__ import annotations

import json
import pickle
import re
import subprocess
import sys
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pddl_eval import compare_problems
from pddl_eval.definition.model import Atom, Problem
from pddl_eval.definition.pddl import (
    ParseError,
    Unreadable,
    parse_domain,
    parse_problem,
    pddl_text,
    problems,
    read_problem,
    without_thinking,
)
from pddl_eval.definition.pddl.authority import PACKAGE_CHARACTERS, read_by_package
from pddl_eval.definition.pddl.problems import NotPlain, read_plain_problem
from pddl_eval.definition.pddl.sexpr import PACKAGE_NESTING
from pddl_eval.definition.verdict import SEVERAL_DRAFTS, Verdict
from pddl_eval.errors import UserError

from tests.judges.by_package import read_problem_by_package
from tests.support.mutations import (
    COMMENTS,
    FORMULAS,
    KEYWORDS,
    LISTINGS,
    NO_SPACES,
    OWN_PROBLEMS,
    REQUIREMENTS,
    SECTIONS,
    SPACES,
    WORDS,
    differ,
    mutate,
    reference_texts,
    soup,
)
from tests.support.volume import scaled

Reader = Callable[..., Any]
READ_BY_EITHER = pytest.mark.parametrize("read", [read_problem, read_problem_by_package], ids=["fast", "package"])

SEEDS = st.integers(0, 2**48).map(Random)


def problem(
    objects: str = "(:objects a b - t c)", init: str = "(p a)", goal: str = "(and (p b))", end: str = ""
) -> str:
    return f"(define (problem n) (:domain d) {objects} (:init {init}) (:goal {goal}){end})"


# What a problem is


@READ_BY_EITHER
def test_a_problem_is_objects_with_types_and_two_sets_of_atoms(read: Reader) -> None:
    text = """(Define (Problem Two-Towers) (:DOMAIN Blocks) (:requirements :strips :typing)
      (:objects B1 b2 - block arm - robot table) ; B3
      (:init (on b1 B2) (clear b1) (clear b1) (idle))
      (:goal (and (on b2 b1) (and (on b2 b1) (and)) (clear b2))))"""
    assert read(text) == Problem(
        "two-towers",
        "blocks",
        {"b1": "block", "b2": "block", "arm": "robot", "table": "object"},
        frozenset({("on", "b1", "b2"), ("clear", "b1"), ("idle",)}),
        frozenset({("on", "b2", "b1"), ("clear", "b2")}),
    )


@READ_BY_EITHER
@pytest.mark.parametrize(
    ("text", "goal"),
    [
        (problem(goal="(p b)"), {("p", "b")}),
        (problem(goal="(and)"), set()),
        (problem(goal="(and (and) (and (p b) (and (q))))"), {("p", "b"), ("q",)}),
        (problem(objects="", init="", goal="(q)"), {("q",)}),
        (problem(objects="(:objects)", init="(q)", goal="(and (q))"), {("q",)}),
        (problem(objects="(:objects a b - object)", goal="(and (p a))"), {("p", "a")}),
    ],
)
def test_goals_that_are_strips(read: Reader, text: str, goal: set[Atom]) -> None:
    outcome = read(text)
    assert isinstance(outcome, Problem)
    assert outcome.goal == goal


@READ_BY_EITHER
def test_names_are_plain_strings(read: Reader) -> None:
    read_text = read(problem())
    names = [read_text.name, read_text.domain, *read_text.objects, *read_text.objects.values()]
    for atom in read_text.init | read_text.goal:
        assert type(atom) is tuple
        names += atom
    assert {type(name) for name in names} == {str}


@READ_BY_EITHER
def test_the_first_block_that_is_a_strips_problem_counts(read: Reader) -> None:
    drafts = [
        problem(goal="(not (p a))"),
        problem(goal="(p z)"),
        problem(end=" ;cut"),
        problem(goal="(p c)"),
        problem(),
    ]
    assert read("\n".join(drafts)).goal == {("p", "c")}


@READ_BY_EITHER
def test_else_the_reason_of_the_first_block_stands(read: Reader) -> None:
    assert read(problem(goal="(not (p a))") + problem(goal="(p z)") + "(define (problem").verdict == "not_strips"
    assert read("(define (problem ..." + problem(goal="(p z)") + problem(goal="(not (p a))")).verdict == "invalid_atom"


@READ_BY_EITHER
def test_constants_of_the_domain_are_declared(read: Reader) -> None:
    text = problem(init="(p table)") * 2
    assert read(text).verdict == "invalid_atom"
    assert isinstance(read(text, constants=["table"]), Problem)
    assert isinstance(read(problem(init="(p x)") + problem(init="(p table)"), constants=iter(["table"])), Problem)


# What is not a problem, and why


@READ_BY_EITHER
@pytest.mark.parametrize("text", [None, "", " ", "\n\t\u00a0 \n"])
def test_empty(read: Reader, text: str | None) -> None:
    assert read(text).verdict is Verdict.EMPTY


NO_PROBLEM = {
    "Sorry.": ["`(define (problem …`"],
    "\n\n(define (problem n) (:domain d) (:init": ["line 3", "cut off"],
    "(define (problem) (:domain d))": ["a name", "(problem …)", "`)`"],
    "(define (problem n m) (:domain d))": ["(problem …)", "`m`"],
    "(define (problem n))": ["(:domain …)"],
    "(define (problem n) (:init) (:goal (and)))": ["(:domain …)", "`(:init`"],
    "(define (problem n) (:domain d) (:init (p)))": ["(:goal …)"],
    "(define (problem n) (:domain d) (:goal (and)))": ["(:init …)", "`(:goal`"],
    "(define (problem n) (:domain d) (:init) (:objects a) (:goal (and)))": [
        "`(:objects`",
        ":domain, :requirements, :objects, :init, :goal, :metric",
    ],
    "(define (problem n) (:domain d) (:objetcs a) (:init) (:goal (and)))": [
        "`(:objetcs`",
        "`(:requirements …)` or `(:objects …)` or `(:init …)`",
    ],
    problem(end="(:constraints (and))"): ["(:goal …)", "`(:constraints`"],
    problem(objects="(:requirements :stripes)"): ["`:stripes`"],
    problem(objects="(:requirements)"): ["`(:requirements)`", "empty"],
    problem(objects="(:objects a - t b a)"): [":objects", "`a` twice"],
    problem(objects="(:objects a - (either t u))"): ["(either …)", ":objects"],
    problem(objects="(:objects a -)"): ["` - `", ":objects"],
    problem(objects="(:objects 1 2)"): ["`1`", ":objects"],
    problem(objects="(:objects object)"): ["`object`", ":objects", "keyword"],
    problem(init="(p (a))"): ["a name", "`(`", ":init"],
    problem(init="p a"): ["`p`", ":init"],
    problem(init="()"): ["`()`", ":init"],
    problem(init="(p a,b)"): ["`a,b`", ":init"],
    problem(init="(= (f) a)"): ["a number", "`a`", ":init"],
    problem(goal="(p a) (p b)"): ["(:goal …)", "too many", "`and`"],
    problem(goal=""): ["(:goal …)", "lacks"],
    problem(goal="(and p a)"): ["a formula", "`p`", "goal"],
}


@pytest.mark.parametrize("text", NO_PROBLEM)
def test_unparseable(text: str) -> None:
    outcome = read_problem(text)
    assert isinstance(outcome, Unreadable)
    assert outcome.verdict == "unparseable"
    assert [fact for fact in NO_PROBLEM[text] if fact not in outcome.detail] == []
    by_package = read_problem_by_package(text)
    assert isinstance(by_package, Unreadable)
    assert by_package.verdict == "unparseable"
    assert by_package.detail


@READ_BY_EITHER
@pytest.mark.parametrize(
    ("text", "facts"),
    [
        (problem(goal="(and (p a) (not (p b)))"), ["goal", "`not`"]),
        (problem(goal="(or (p a) (p b))"), ["goal", "`or`"]),
        (problem(goal="(forall (?x - t) (p ?x))"), ["goal", "`forall`"]),
        (problem(goal="(exists (?x) (p ?x))"), ["goal", "`exists`"]),
        (problem(goal="(imply (p a) (p b))"), ["goal", "`imply`"]),
        (problem(goal="(= a b)"), ["goal", "`=`"]),
        (problem(goal="(p ?x)"), ["goal", "a variable"]),
        (problem(goal="(> (f) 3)"), ["goal", "`>`"]),
        (problem(init="(not (p a))", goal="(not (p a))"), ["goal", "`not`"]),
        (problem(init="(= (total-cost) 0)"), [":init"]),
        (problem(end="(:metric minimize (total-cost))"), ["`(:metric …)`"]),
    ],
)
def test_not_strips(read: Reader, text: str, facts: list[str]) -> None:
    outcome = read(text)
    assert outcome.verdict == "not_strips"
    assert [fact for fact in facts if fact not in outcome.detail] == []


@READ_BY_EITHER
@pytest.mark.parametrize(
    ("text", "facts"),
    [
        (problem(init="(p a)(on b1 b9)"), ["`(on b1 b9)`", ":init", "`b1`"]),
        (problem(goal="(p z)"), ["`(p z)`", "goal", "`z`"]),
    ],
)
def test_an_object_that_is_not_declared(read: Reader, text: str, facts: list[str]) -> None:
    outcome = read(text)
    assert outcome.verdict is Verdict.INVALID_ATOM
    assert [fact for fact in facts if fact not in outcome.detail] == []


@READ_BY_EITHER
@pytest.mark.parametrize(
    ("text", "facts"),
    [
        (problem(objects="(:objectsa a)"), ["line 1", "'a'"]),
        ("\n(define (problemn)\n(:domain d) x)", ["line 3", "expected `(`", "found `x`"]),
        ("(define (problemn) (:domain d) (:int))", ["line 1", "`:requirements` or `:objects` or `:init`", "`:int`"]),
    ],
)
def test_what_the_package_says_of_glued_words(read: Reader, text: str, facts: list[str]) -> None:
    outcome = read(text)
    assert outcome.verdict == "unparseable"
    assert [fact for fact in facts if fact not in outcome.detail] == []


@READ_BY_EITHER
def test_what_cannot_be_parsed_is_not_judged_further(read: Reader) -> None:
    assert read(problem(goal="(and (not (p a)) (p z))")).verdict == "not_strips"
    assert read(problem(init="(not (p a))", goal="(p (z))")).verdict == "unparseable"
    assert read(problem(goal="(and (not (p a)) (p and))")).verdict == "unparseable"
    assert read("(define (problem and) (:domain d) (:init) (:goal (not (p))))").verdict == "unparseable"


# What says nothing, and what only VAL reads


@READ_BY_EITHER
def test_what_is_called_false_says_nothing_under_a_closed_world(read: Reader) -> None:
    denied = read(problem(init="(p a) (not (p b)) (not (q))"))
    assert denied == read(problem()) and denied.denied == {("p", "b"), ("q",)}
    assert read(problem(init="(p a) (not (p b)) (p b)")).verdict is Verdict.INVALID_ATOM
    assert read(problem(init="(p a) (not (p z))")).verdict is Verdict.INVALID_ATOM
    assert isinstance(read(problem(init="(not (p z))"), constants=["z"]), Problem)
    assert read(problem(init="(not (not (p a)))")).verdict is Verdict.UNPARSEABLE


READ_BY_VAL = {
    problem(objects="(:objects a b - t c a - t)".replace("c a - t", "a - t c")): "`a` twice",
    problem(objects="(:objects - board a b - t - board c)"): "the type `board`",
    problem(objects="(:objects a b - t c c - object)"): "`c` twice",
    "(define (problem n) (:domain d) (:objects a b - t c) (:goal (and (p b))) (:init (p a)))": ":goal is before :init",
    problem(end="(:requirements :strips)"): ":goal is before :requirements",
}


@READ_BY_EITHER
@pytest.mark.parametrize("text", READ_BY_VAL)
def test_what_only_val_reads_is_read_and_said(read: Reader, text: str) -> None:
    assert isinstance(read(text), Problem)
    assert read(text) == read(problem())
    assert READ_BY_VAL[text] in read(text).remarks[0]
    for verdict in (compare_problems(problem(), text), compare_problems(text, problem())):
        assert (verdict.parseable, verdict.verdict) == (True, Verdict.IDENTICAL)
        assert READ_BY_VAL[text] in verdict.detail
    assert not read(problem()).remarks


@READ_BY_EITHER
@pytest.mark.parametrize(
    "text",
    [
        problem(objects="(:objects a - t b a - u)"),
        "(define (problem n) (:domain d) (:init (p a)) (:objects a b - t c) (:goal (and (p b))))",  # nor by VAL
        "(define (problem n) (:objects a) (:domain d) (:init (p a)) (:goal (and (p a))))",
        problem(objects="(:objects a - t -)"),
    ],
)
def test_what_val_refuses_too_is_unparseable(read: Reader, text: str) -> None:
    assert read(text).verdict is Verdict.UNPARSEABLE


@READ_BY_EITHER
def test_only_a_new_line_ends_a_comment(read: Reader) -> None:
    """As in the ``pddl`` package, between the words of the opening as elsewhere."""
    for comment in (";c\n", "; (x) )\n ;\n", " ;a;b\r\n"):
        for opening in (
            f"(define {comment}(problem n)",
            f"(define ({comment}problem n)",
            f"(define (problem {comment}n)",
        ):
            assert read(problem().replace("(define (problem n)", opening)) == read(problem())
    cut_off = read(problem(objects=";c\r(:objects a b - t c)").replace("(:init", "\n(:init"))
    assert isinstance(cut_off, Unreadable) and cut_off.verdict is Verdict.INVALID_ATOM


def test_openings_with_comments_are_looked_for_in_linear_time() -> None:
    for text in ("(define;" * 100_000, "(define;\n" * 100_000, "(define" + ";\n" * 300_000, "(define ;( " * 90_000):
        assert read_problem(text) == read_problem("(define")


def test_details_are_short_and_printable_whatever_the_text() -> None:
    outcome = read_problem(problem(init=f"(p \x00\ud800{'x' * 10_000})"))
    assert isinstance(outcome, Unreadable)
    assert outcome.detail.isprintable()
    assert len(outcome.detail) < 200


def test_parse_problem_raises_what_read_problem_returns() -> None:
    with pytest.raises(ParseError, match=r"^invalid_atom: .*`z`") as caught:
        parse_problem(problem(goal="(not (p z))"))
    error = pickle.loads(pickle.dumps(caught.value))
    assert isinstance(error, ParseError)
    assert isinstance(error, ValueError)
    assert error.verdict == "invalid_atom"
    assert error.verdict is Verdict.INVALID_ATOM
    assert str(error) == str(caught.value)
    assert parse_problem(problem()) == read_problem(problem())


# The fast reader and the package


def test_keywords_and_requirements_are_those_of_the_package() -> None:
    import pddl.parser
    from pddl.parser.symbols import ALL_REQUIREMENTS, ALL_SYMBOLS

    assert {symbol for symbol in ALL_SYMBOLS if re.fullmatch("[a-z][a-z0-9_-]*", symbol)} == problems.KEYWORDS
    grammar = pddl.parser.GRAMMAR_FILE.read_text()
    assert {requirement for requirement in ALL_REQUIREMENTS if f'"{requirement}"' in grammar} == problems.REQUIREMENTS


def test_plain_problems_are_read_without_the_package() -> None:
    code = f"""if True:
        import sys
        from pddl_eval.definition.pddl import read_problem
        assert read_problem({problem()!r}).name == "n"
        assert read_problem({problem(goal="(or (p a) (p b))")!r}).verdict == "not_strips"
        assert not {{"pddl", "lark"}} & sys.modules.keys(), "imported"
    """
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("pieces", "frames"),
    [
        (
            FORMULAS,
            [problem(goal="@"), problem(goal="(and (p a) @ (p b))"), problem(init="@"), problem(init="(p a) @ (p b)")],
        ),
        (FORMULAS, [problem(goal="(not @)"), problem(goal="(or (p a) @)"), problem(goal="(forall (?x) @)")]),
        (LISTINGS + WORDS, [problem(objects="(:objects @)"), problem(objects="(:objects c d - t @)")]),
        (
            WORDS + KEYWORDS,
            [
                problem(init="(@ a)"),
                problem(init="(p @)"),
                problem(init="(not (@ a))"),
                problem(init="(= (@ a) 3)"),
                problem(init="(= (f @) 3)"),
                problem(init="(= @ 3)"),
                problem(init="(= (f) @)"),
                problem(goal="(@ a)"),
                problem(goal="(and (p @))"),
                problem(goal="(or (p @) (@ p))"),
                problem(goal="(forall (?x - @) (p ?x))"),
                problem(goal="(forall (?@) (p ?@))"),
                problem(goal="(= a @)"),
                problem(objects="(:objects @ a b)"),
                problem(objects="(:objects a b - @)"),
                problem(objects="@"),
                problem(end="@"),
                problem().replace("problem n", "problem @"),
                problem().replace("problem n", "problem @ n"),
                problem().replace(":domain d", ":domain @"),
                problem(goal="(or (p a))").replace(":domain d", ":domain @"),
            ],
        ),
        (REQUIREMENTS, [problem(objects="(:requirements @)"), problem(objects="(:requirements :strips @)")]),
        (SECTIONS, [problem(objects="@"), problem(end="@"), problem(goal="@"), problem(init="@"), problem() + "@"]),
        (
            SPACES + NO_SPACES + COMMENTS,
            [problem(init="(p@a)"), problem(goal="(and@(p a)@)"), problem(objects="(:objects@)")],
        ),
    ],
    ids=["formulas", "operands", "listings", "words", "requirements", "sections", "spaces"],
)
def test_both_readers_agree_on_each_oddity_in_each_place(pieces: list[str], frames: list[str]) -> None:
    places = len(frames) if settings().max_examples > 30 else 4
    for number, piece in enumerate(pieces):
        for frame in (frames[number:] + frames)[:places]:  # By default each piece stands in some places.
            assert differ(frame.replace("@", piece)) == ""


@settings(max_examples=scaled(100), deadline=None)
@given(st.sampled_from(OWN_PROBLEMS), SEEDS)
def test_both_readers_agree_on_mutated_problems(text: str, chance: Random) -> None:
    assert differ(mutate(text, chance)) == ""


@settings(max_examples=scaled(150), deadline=None)
@given(SEEDS)
def test_both_readers_agree_on_sections_of_random_words(chance: Random) -> None:
    assert differ(soup(chance)) == ""


@settings(max_examples=scaled(60), deadline=None)
@given(SEEDS)
def test_both_readers_agree_on_mutated_references(references: list[str], chance: Random) -> None:
    assert differ(mutate(chance.choice(references), chance)) == ""


def test_both_readers_read_the_same_in_references(references: list[str]) -> None:
    for text in Random(5).sample(references, 50):
        assert isinstance(read_plain_problem(text), Problem)
        assert differ(text) == ""


@pytest.fixture(scope="module")
def references() -> list[str]:
    texts = reference_texts()
    if not texts:
        pytest.skip("../shared/data is absent")
    return texts


@pytest.mark.parametrize("depth", [1, PACKAGE_NESTING - 4, PACKAGE_NESTING - 3, PACKAGE_NESTING - 2, 1_000, 100_000])
@pytest.mark.parametrize("operator", ["and", "not"])
def test_both_readers_agree_on_how_deep_is_too_deep(operator: str, depth: int) -> None:
    text = problem(goal=f"({operator} " * depth + "(p a)" + ")" * depth)
    assert differ(text) == ""
    readable = "accepted" if operator == "and" else "not_strips"
    expected = readable if depth <= PACKAGE_NESTING - 3 else "unparseable"
    assert getattr(read_problem(text), "verdict", "accepted") == expected


def test_both_readers_agree_on_what_nests_too_deeply_behind_what_is_not_strips() -> None:
    text = problem(goal="(and (or (p a)) " + "(and " * PACKAGE_NESTING + ")" * PACKAGE_NESTING + ")")
    assert differ(text) == ""
    assert getattr(read_problem(text), "verdict", "accepted") == "unparseable"


@pytest.mark.parametrize("goal", ["(and (p (a)) (p b))", "(and (p (a) b))", "(and (p a) (p b (c)))"])
def test_a_list_in_an_atom_is_named(goal: str) -> None:
    outcome = read_problem(problem(goal=goal))
    assert isinstance(outcome, Unreadable)
    assert (outcome.verdict, "found `(`" in outcome.detail) == ("unparseable", True)


def test_the_package_keeps_no_state() -> None:
    typed, untyped = problem(objects="(:objects a b - t)"), problem(objects="", init="", goal="(and)")
    for text, objects in [
        (typed, {"a": "t", "b": "t"}),
        (untyped, {}),
        (problem(init="(= (f) 1.2.3)"), None),
        (untyped, {}),
    ]:
        assert getattr(read_problem_by_package(text), "objects", None) == objects


@pytest.mark.parametrize("limit", [None, 7])
@pytest.mark.parametrize("text", [problem(), problem(goal="(p")])
def test_the_package_leaves_the_interpreter_as_it_was(
    text: str, limit: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(sys, "tracebacklimit", raising=False)
    if limit is not None:
        monkeypatch.setattr(sys, "tracebacklimit", limit, raising=False)
    read_problem_by_package(text)
    assert getattr(sys, "tracebacklimit", None) == limit


def test_what_is_glued_is_left_to_the_package() -> None:
    glued = "(define(problemn)(:domaind)(:objectsa b -t)(:init(p a))(:goal(p b)))"
    with pytest.raises(NotPlain):
        read_plain_problem(glued)
    assert read_problem(glued) == read_problem(problem(objects="(:objects a b - t)", goal="(p b)"))


# Bounds


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ("(" * 100_000, "unparseable"),
        ("(" * 10_000_000, "unparseable"),
        ("(define (problem" * 1_000_000, "unparseable"),
        ("(define (problem n))" * 20_000, "unparseable"),
        ("(define (problemn))" * 20_000, "unparseable"),
        ("(define (problem " * 50_000 + "))" * 50_000, "unparseable"),
        ("(define (problemx " * 50_000 + "))" * 50_000, "unparseable"),
        ("(;" * 5_000_000, "unparseable"),
        (Random(1).randbytes(1_000_000).decode("latin-1") * 10, "unparseable"),
        ("the quick (brown) fox; jumps\n" * 350_000, "unparseable"),
        (" " * 4_000_000, "empty"),
        (" " * 10_000_000, "unparseable"),
        (problem(goal="(and " * 150_000 + ")" * 150_000), "unparseable"),
        (problem(goal="(or " * 150_000 + ")" * 150_000), "unparseable"),
        (problem(goal="(not " * 150_000 + "(p a)" + ")" * 150_000), "unparseable"),
        (problem(init="(p a)" * 250_000), "unparseable"),
        (problem(init="".join(f"(p x{number})" for number in range(40_000))), "invalid_atom"),
        (problem(init="(p a)" * 100_000, goal="(or (p a))"), "not_strips"),
        (problem(end="(:metric minimize (f))") * 1_000, "not_strips"),
    ],
    ids=lambda value: value[:24].encode("ascii", "replace").decode(),
)
def test_hostile_answers_get_their_verdict(answer: str, verdict: str) -> None:
    outcome = read_problem(answer)
    assert isinstance(outcome, Unreadable)
    assert outcome.verdict == verdict


@pytest.mark.parametrize(
    "answer",
    [
        problem() + "x (y" * 900_000,
        "the quick (brown) fox; jumps\n" * 130_000 + problem(),
        "(define (problem n) (:domain" * 1_000 + problem(),
        problem(init="(p a)" * 150_000),
    ],
    ids=["before noise", "after noise", "after cut-off drafts", "long"],
)
def test_a_problem_is_found_in_what_surrounds_it(answer: str) -> None:
    assert read_problem(answer) == read_problem(problem())


IN_STRINGS: dict[str, Callable[[str], str]] = {
    "JSON": lambda text: json.dumps({"problem": text}),
    "JSON in a fence": lambda text: (
        "Sure:\n```json\n" + json.dumps({"why": 'the "goal"', "p": text}, indent=1) + "\n```"
    ),
    "JSON in JSON": lambda text: json.dumps({"answer": json.dumps({"pddl": text})}),
    "a JSON string": json.dumps,
    "an answer in JSON": lambda text: json.dumps({"content": f"Here it is:\n```pddl\n{text}\n```"}),
    "Python": lambda text: str({"pddl": text}),
    "unescaped": lambda text: f'{{"pddl": "{text}"}}',
}


@pytest.mark.parametrize("kind", IN_STRINGS)
def test_pddl_in_strings_is_read(kind: str) -> None:
    """A line break ends a comment also where it was escaped."""
    problem = "(define (problem p)\n\t(:domain d) ; so :(\n (:init (q))\n (:goal (q)))"
    text = IN_STRINGS[kind](problem)
    assert parse_problem(text) == parse_problem(problem)
    assert parse_domain(text.replace("(problem p)", "(domain d)").replace("(:domain d)", "")).name == "d"
    assert len(pddl_text(text)) == len(text)
    assert isinstance(read_problem(text.replace("(q)))", "(q))")), Unreadable)


def test_the_package_is_given_only_so_much_of_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    given_to_package = []

    def count(block: str, line: int, characters_before: int) -> Problem:
        outcome = read_by_package(block, line, characters_before)
        given_to_package.append(len(block))
        return outcome

    monkeypatch.setattr(problems, "read_by_package", count)
    undeclared = problem(init="(p z)", objects="(:objectsa)", goal="(q)")
    outcome = read_problem(undeclared * 2_000)
    assert isinstance(outcome, Unreadable)
    assert outcome.verdict == "invalid_atom"
    assert PACKAGE_CHARACTERS - len(undeclared) < sum(given_to_package) <= PACKAGE_CHARACTERS


def test_a_block_that_is_too_long_for_the_package() -> None:
    outcome = read_problem(problem(objects="(:objectsa)", init="(p a)" * 20_000))
    assert isinstance(outcome, Unreadable)
    assert outcome.verdict == "unparseable"
    assert "line 1" in outcome.detail
    assert "50,000 characters" in outcome.detail


HELD = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"
WRONG = HELD.replace("(clear a)", "(holding a)")
THOUGHTS = {
    "think": f"<think>{WRONG}</think>{{}}",
    "opened by the prompt": f"{WRONG}\n</think>\n{{}}",
    "thinking": f"<Thinking>\n{WRONG}\n</Thinking>\n{{}}",
    "reasoning with an attribute": f'<reasoning effort="high">{WRONG}</reasoning>{{}}',
    "one in the other": f"<think>{WRONG}<reflection>{WRONG}</reflection>{WRONG}</think>{{}}",
    "opened twice": f"<think>{WRONG}<think>{WRONG}</think>{WRONG}</think>{{}}",
    "after the answer": f"{{}}<think>{WRONG}</think>",
    "not closed after the answer": f"{{}}\n<think>{WRONG}",
    "brackets": f"[THINK]{WRONG}[/THINK]{{}}",
    "Kimi": f"◁think▷{WRONG}◁/think▷{{}}",
    "Cohere": f"<|START_THINKING|>{WRONG}<|END_THINKING|>{{}}",
    "harmony": f"<|channel|>analysis<|message|>{WRONG}<|end|><|channel|>final<|message|>{{}}<|return|>",
    "harmony without its tokens": f"analysis{WRONG}assistantfinal{{}}",
}


@pytest.mark.parametrize("marks", THOUGHTS)
def test_a_thought_is_never_the_answer(marks: str) -> None:
    thought = THOUGHTS[marks]
    assert read_problem(thought.format(HELD)) == read_problem(HELD)
    assert read_problem(thought.format(HELD), answer="last") == read_problem(HELD)
    nothing = read_problem(thought.format(""))
    assert isinstance(nothing, Unreadable)
    assert nothing.verdict in (Verdict.EMPTY, Verdict.UNPARSEABLE)


@pytest.mark.parametrize(
    "piece", ["<think>", "</think>", "<think>x</think>", "<think ", "[think", "◁", "assistantfinal"]
)
def test_thinking_marks_leave_every_other_character_in_its_place(piece: str) -> None:
    """Work and memory are linear: 50,000 marks, each once quadratic."""
    text = f"{piece}\n" * 50_000 + HELD
    assert len(without_thinking(text)) == len(text)
    assert without_thinking(text).count("\n") == text.count("\n")


def test_the_last_draft_counts_where_it_is_asked_for() -> None:
    broken = "(define (problem p) (:domain blocksworld) (:init"
    assert read_problem(f"{WRONG}\nNo: {HELD}") == read_problem(WRONG)
    assert read_problem(f"{WRONG}\nNo: {HELD}\n{broken}", answer="last") == read_problem(HELD)
    assert read_problem(broken, answer="last") == read_problem(broken)


def test_several_problems_are_said_and_compared_as_asked() -> None:
    drafts = f"{WRONG}\nNo: {HELD}"
    first, last = (compare_problems(HELD, drafts, answer=answer) for answer in ("first", "last"))
    assert (first.equivalent, last.equivalent) == (False, True)
    assert first.detail.startswith(SEVERAL_DRAFTS) and last.detail.startswith(SEVERAL_DRAFTS)
    assert SEVERAL_DRAFTS not in compare_problems(HELD, f"<think>{WRONG}</think>{HELD}").detail
    with pytest.raises(UserError, match="middle"):
        compare_problems(HELD, drafts, answer="middle")
