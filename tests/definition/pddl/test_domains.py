"""PDDL domain text -> Domain: what the reader accepts, what it notes as outside STRIPS, what it refuses."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pddl_eval import compare_domains
from pddl_eval.definition.domains import blocksworld, floor_tile, gripper, rover_single_stores
from pddl_eval.definition.model import EQUALITY, ROOT_TYPE, Atom, Domain
from pddl_eval.definition.pddl import (
    MAX_CHARACTERS,
    DomainError,
    OnlyActionsError,
    domains,
    parse_actions,
    parse_domain,
)
from pddl_eval.definition.pddl.sexpr import PACKAGE_NESTING

from tests.support.volume import scaled
from tests.support.written_domain import read_written

DEPOT = """
; a comment before the domain
(DEFINE (DOMAIN Depot)
  (:Requirements :strips :typing :negative-preconditions :equality :action-costs)
  (:types truck crane - machine box - (either thing cargo) yard machine - object)
  (:constants Main - yard spare)
  (:functions (total-cost) - number)
  (:predicates (at ?m - machine ?y - yard) (in ?b - box ?m - (either truck crane)) (idle) (broken ?m - machine))
  (:action load
    :effect (and (in ?b ?t) (not (at-box ?b Main)) (increase (total-cost) 3)) ; parts in any order
    :parameters (?b - box ?t ?spare - truck)
    :precondition (and (at ?t main) (and (at-box ?b main) (not (broken ?t))) (not (= ?t ?spare)) (= ?b ?b)))
  (:action rest :parameters () :precondition () :effect (idle))
  (:action wake :effect (not (idle)))
  (:action nothing))
"""


def test_reads_types_constants_and_predicates() -> None:
    domain = parse_domain(DEPOT)
    assert domain.name == "depot"
    assert domain.types == {
        "truck": "machine",
        "crane": "machine",
        "box": "thing",
        "thing": ROOT_TYPE,
        "cargo": ROOT_TYPE,
        "yard": ROOT_TYPE,
        "machine": ROOT_TYPE,
    }
    assert list(domain.ancestors("crane")) == ["crane", "machine", ROOT_TYPE]
    assert domain.constants == {"main": "yard", "spare": ROOT_TYPE}
    assert domain.predicates == {
        "at": (("machine",), ("yard",)),
        "in": (("box",), ("truck", "crane")),
        "idle": (),
        "broken": (("machine",),),
    }
    assert domain.outside_strips == ("types: box has more than one type",)


def test_reads_operators_in_any_layout() -> None:
    load, rest, wake, nothing = parse_domain(DEPOT).operators
    assert load.parameters == (("?b", ("box",)), ("?t", ("truck",)), ("?spare", ("truck",)))
    assert load.preconditions == {("at", "?t", "main"), ("at-box", "?b", "main"), (EQUALITY, "?b", "?b")}
    assert load.negative_preconditions == {("broken", "?t"), (EQUALITY, "?t", "?spare")}
    assert load.add_effects == {("in", "?b", "?t")}
    assert load.delete_effects == {("at-box", "?b", "main")}
    assert (rest.parameters, rest.preconditions, rest.add_effects) == ((), frozenset(), {("idle",)})
    assert (wake.preconditions, wake.delete_effects) == (frozenset(), {("idle",)})
    assert nothing.preconditions | nothing.add_effects | nothing.delete_effects == frozenset()


def test_finds_the_first_domain_in_an_answer() -> None:
    answer = "Sure! (see below)\n```pddl\n(define (domain one))\n```\nor\n(define (domain two) (:action a))"
    assert parse_domain(answer) == Domain("one", {}, {}, {}, ())


GO = "(define (domain d) (:predicates (p ?x)) (:action go :parameters (?x) :precondition (p ?x)))"


@pytest.mark.parametrize(
    "answer",
    [
        "; (define (domain e) (:action b))\n{}",
        "; (define (domain d)\n{}",
        "{}".replace("{}", GO.replace("(define (domain", "(define ; the domain\n (domain")),
        "I begin with `(define (domain d)`.\n{}",
        "I begin with `(define (domain d)`, and end with `)`.\n{}",
        # Broken drafts: cut off, not PDDL, a keyword twice.
        "(define (domain e) (:action b :precondition (and (p)\n{}",
        "(define (domain e) (:action b :precondition p)) Better:\n{}",
        "(define (domain e) (:action b :effect (p) :effect (q))) {}",
        "```pddl\n(define (domain e) (:predicates (p) (:action b))\n```\nIt is not closed:\n```pddl\n{}\n```",
        "(define (domain e) (:action b)\n{})",
        # In prose a semicolon opens no comment.
        "Here it is; {}",
    ],
)
def test_the_first_block_that_can_be_read_counts(answer: str) -> None:
    assert parse_domain(answer.replace("{}", GO)) == parse_domain(GO)
    assert parse_domain(answer.replace("{}", GO)) == parse_domain(GO)


def test_the_reason_is_that_of_the_first_block() -> None:
    with pytest.raises(DomainError, match="stray"):
        parse_domain("(define (domain a) stray) (define (domain b) other)")


@pytest.mark.parametrize(
    "answer",
    [
        "(define (domain d " * 50_000,
        "(define (domain d " * 25_000 + ")" * 50_000,
        "(define (domain d) x) " * 40_000,
        "; (define (domain d)\n" * 40_000,
        "(define (domain d) ; (define (domain d)\n" * 20_000 + "))" * 20_000,
        "(:action a " * 50_000 + ")" * 50_000,
    ],
    ids=lambda answer: answer[:40],
)
def test_what_is_read_of_hostile_texts_is_bounded(answer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The blocks of an answer, in the order of the text, have twice the length of an answer together, at most."""
    read: list[int] = []
    original = domains.read_expression
    monkeypatch.setattr(domains, "read_expression", lambda text: read.append(len(text)) or original(text))
    with pytest.raises(DomainError):
        parse_domain(answer)
    with pytest.raises(DomainError):
        parse_actions(answer, parse_domain(GO))
    assert sum(read) <= 6 * MAX_CHARACTERS


@pytest.mark.parametrize("hyphen", ["- ", "-", "-\n", " - ", " -"])
def test_a_type_may_touch_its_hyphen(hyphen: str) -> None:
    """As the pddl package and VAL read it, and as ours reads the objects of a problem; everywhere that names types."""
    text = """(define (domain d) (:requirements :typing :adl) (:types truck - thing box - thing thing - object)
      (:constants home - box) (:predicates (at ?x ?y - thing ?z - box) (up ?z - (either truck box)))
      (:action go :parameters (?x ?y - truck ?z - box) :precondition (and (at ?x ?y ?z) (forall (?v - truck) (up ?v)))
        :effect (and (up ?x) (forall (?v - box) (when (up ?z) (not (up ?v)))))))"""
    glued = text.replace(" - ", f" {hyphen}")
    domain = parse_domain(glued)
    assert (domain.types, domain.constants) == (parse_domain(text).types, {"home": "box"})
    assert domain.predicates == {"at": (("thing",), ("thing",), ("box",)), "up": (("truck", "box"),)}
    assert domain.operators[0].parameters == (("?x", ("truck",)), ("?y", ("truck",)), ("?z", ("box",)))
    assert compare_domains(text, glued).equivalent is True
    assert read_written(glued) == read_written(text)
    parser = pytest.importorskip("pddl.parser.domain")
    assert parser.DomainParser()(glued) == parser.DomainParser()(text)


ROOMS = """(define (domain rooms) (:requirements :strips :typing) (:types room ball) (:constants hall - room)
  (:predicates (at ?r - room) (in ?b - ball ?r - room) (held ?b - ball)) (:functions (total-cost))
  (:action go :parameters (?r ?s - room) :precondition (at ?r) :effect (and (at ?s) (not (at ?r))))
  (:action pick :parameters (?b - ball ?r - room) :precondition (and (in ?b ?r) (at ?r))
    :effect (and (held ?b) (not (in ?b ?r)))))"""
ACTIONS = ROOMS[ROOMS.index("(:action go") : -1]


@pytest.mark.parametrize(
    "answer",
    [
        ACTIONS,
        f"```pddl\n{ACTIONS}\n```",
        "1. go:\n```\n" + ACTIONS.replace("(:action pick", "```\nIt moves; then it takes:\n```lisp\n(:ACTION pick"),
        # The first block of a name counts.
        ACTIONS + " (:action go :parameters () :effect (at hall))",
        "; (:action go :parameters ())\n" + ACTIONS,
    ],
)
def test_actions_alone_are_read_with_the_header_of_another_domain(answer: str) -> None:
    reference = parse_domain(ROOMS)
    assert parse_actions(answer, reference) == reference
    with pytest.raises(OnlyActionsError):
        parse_domain(answer)


def test_what_the_header_says_beyond_strips_is_kept_and_what_its_operators_say_is_not() -> None:
    reference = parse_domain(
        ROOMS.replace("(:functions", "(:derived (free ?r - room) (not (at ?r))) (:functions").replace(
            ":precondition (at ?r)", ":precondition (or (at ?r) (at ?s))"
        )
    )
    assert reference.outside_strips == ("free: derived predicate", "go: or")
    assert parse_actions(ACTIONS, reference).outside_strips == ("free: derived predicate",)
    assert parse_actions("(:action go :effect (at yard))", reference).outside_strips == (
        "free: derived predicate",
        "go: yard is not a constant",
    )


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("I do not know.", "no action"),
        ("; (:action go)", "no action"),
        (ACTIONS[:-2], "never closed"),
        (ACTIONS.replace("(and (at ?s) (not (at ?r))))", "(and (at ?s) (not (at ?r)))"), "never closed"),
        ("(:action go) (:action (pick))", "no name"),
        ("(:action go :parameters (r))", "parameter `r`"),
        ("(:action go :effect " + "(" * PACKAGE_NESTING + ")" * PACKAGE_NESTING + ")", "nests deeper"),
    ],
)
def test_no_action_is_lost_silently(answer: str, reason: str) -> None:
    with pytest.raises(DomainError, match=reason):
        parse_actions(answer, parse_domain(ROOMS))


@pytest.mark.parametrize(
    ("condition", "construct"),
    [
        ("(or (p) (q))", "or"),
        ("(imply (p) (q))", "imply"),
        ("(forall (?y - t) (r ?y))", "forall"),
        ("(exists (?y - t) (r ?y))", "exists"),
        ("(not (and (p) (q)))", "negated conjunction"),
        ("(not (and))", "negated conjunction"),
        ("(not ())", "negated conjunction"),
        ("(at home)", "home is not a constant"),
        ("(>= (fuel) 3)", "numeric condition"),
        ("(= (fuel) 3)", "numeric condition"),
        ("(r (place-of ?x))", "nested term in r"),
        ("(r ?z)", "?z is not a parameter"),
    ],
)
def test_names_conditions_outside_strips_and_reads_the_rest(condition: str, construct: str) -> None:
    domain = parse_domain(f"(define (domain d) (:action a :parameters (?x) :precondition (and (p) {condition})))")
    assert domain.outside_strips == (f"a: {construct}",)
    assert ("p",) in domain.operators[0].preconditions


@pytest.mark.parametrize(
    ("section", "note"),
    [
        ("(:action a :effect (and (p) (when (q) (r))))", "a: when"),
        ("(:action a :effect (forall (?x) (not (p ?x))))", "a: forall"),
        ("(:action a :vars (?x) :effect (p))", "a: :vars"),
        ("(:derived (above ?x ?y) (on ?x ?y))", "above: derived predicate"),
        ("(:durative-action a :parameters (?x) :duration (= ?duration 3) :effect (at end (p)))", "a: durative action"),
        ("(:constraints (always (p)))", "domain: :constraints"),
        ("(:action a :effect (at home)) (:constants house)", "a: home is not a constant"),
        ("(:action a :effect (not ()))", "a: negated conjunction"),
        ("(:action a :effect (p)) (:action a :effect (q))", "a: defined twice"),
    ],
)
def test_names_other_constructs_outside_strips(section: str, note: str) -> None:
    assert parse_domain(f"(define (domain d) {section})").outside_strips == (note,)


def test_an_action_that_stands_twice_is_read_once_as_the_pddl_package_does() -> None:
    action = "(:action a :parameters () :precondition (p) :effect (q))"
    domain = parse_domain(f"(define (domain d) (:predicates (p) (q)) {action} {action.replace('(p)', '(and (p))')})")
    assert (len(domain.operators), domain.outside_strips) == (1, ())
    parser = pytest.importorskip("pddl.parser.domain")
    assert len(parser.DomainParser()(f"(define (domain d) (:predicates (p) (q)) {action} {action})").actions) == 1
    other = f"(define (domain d) (:predicates (p) (q)) {action} {action.replace('(p)', '(q)')})"
    assert len(parser.DomainParser()(other).actions) == len(parse_domain(other).operators) == 2


def test_quantities_that_decide_nothing_are_passed_over() -> None:
    text = "(define (domain d) (:functions (cost ?x)) (:action a :effect (and (p) (decrease (cost a) (* 2 3)))))"
    domain = parse_domain(text)
    assert domain.outside_strips == ()
    assert domain.operators[0].add_effects == {("p",)}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("no domain here", "`(define (domain …`"),
        ("(define (problem p) (:domain d))", "`(define (domain …`"),
        ("(define (domain d) (:action a", "never closed"),
        ("(define (domain))", "no name"),
        ("(define (domain d) stray)", "a section of the domain, found `stray`"),
        ("(define (domain d) (:types a - ))", "found `(a - )`"),
        ("(define (domain d) (:types - a))", "found `(- a)`"),
        ("(define (domain d) (:predicates (p ?x - -t)))", "found `(?x - -t)`"),
        ("(define (domain d) (:predicates (p ?x --t)))", "found `(?x - -t)`"),
        ("(define (domain d) (:action a :precondition (and (:action b))))", "operator a: `(:action b)`"),
        ("(define (domain d) (:predicates (p)) (define (domain)))", "another `(define`"),
        ("(define (domain d) (:predicates p))", "a predicate with its arguments, found `p`"),
        ("(define (domain d) (:action))", "no name"),
        ("(define (domain d) (:action a :effect (p) :effect (q)))", "twice"),
        ("(define (domain d) (:action a :parameters (x)))", "parameter `x`"),
        ("(define (domain d) (:action a :parameters (?x ?x)))", "names a parameter twice"),
        ("(define (domain d) (:action a :precondition handempty))", "found `handempty`"),
        ("(define (domain d) (:action a :precondition ((p))))", "operator a, found `((…))`"),
        ("(define (domain d) (:action a :parameters (?p) :precondition (?p)))", "operator a: `(?p)`"),
        ("(define (domain d) (:action a :precondition (not (p) (q))))", "`(not (…) (…))` negates 2 formulas"),
        ("(define (domain d) (:action a :effect (= x y)))", "`(= x y)`"),
        ("(define (domain d)" + "(" * PACKAGE_NESTING, "nests deeper"),
        ("(define (domain d))" + " " * MAX_CHARACTERS, "characters"),
    ],
)
def test_refuses_what_is_no_domain_in_one_sentence(text: str, reason: str) -> None:
    with pytest.raises(DomainError) as error:
        parse_domain(text)
    assert reason in str(error.value)
    assert "\n" not in str(error.value)


def test_a_name_that_is_only_a_parent_is_a_type() -> None:
    domain = parse_domain("(define (domain d) (:types truck - vehicle))")
    assert list(domain.ancestors("truck")) == ["truck", "vehicle", ROOT_TYPE]


@pytest.mark.parametrize("pddl_text", [blocksworld.PDDL, gripper.PDDL, floor_tile.PDDL, rover_single_stores.PDDL])
def test_agrees_with_the_pddl_package(pddl_text: str) -> None:
    parser = pytest.importorskip("pddl.parser.domain")
    theirs = parser.DomainParser()(pddl_text)
    ours = parse_domain(pddl_text)
    assert ours.outside_strips == ()
    assert ours.name == str(theirs.name)
    assert ours.types == {str(name): str(parent or ROOT_TYPE) for name, parent in theirs.types.items()}
    assert {name: len(types) for name, types in ours.predicates.items()} == {
        str(predicate.name): predicate.arity for predicate in theirs.predicates
    }
    by_name = {operator.name: operator for operator in ours.operators}
    assert by_name.keys() == {str(action.name) for action in theirs.actions}
    for action in theirs.actions:
        operator = by_name[str(action.name)]
        assert operator.parameters == tuple(
            (f"?{variable.name}", tuple(sorted(variable.type_tags)) or (ROOT_TYPE,)) for variable in action.parameters
        )
        assert (operator.preconditions, operator.negative_preconditions) == _split(action.precondition)
        assert (operator.add_effects, operator.delete_effects) == _split(action.effect)


def _split(formula: Any) -> tuple[set[Atom], set[Atom]]:
    """The positive and the negative atoms of a conjunction of the package."""
    from pddl.logic.base import And, Not

    positive: set[Atom] = set()
    negative: set[Atom] = set()
    for literal in formula.operands if isinstance(formula, And) else [formula]:
        atom = literal.argument if isinstance(literal, Not) else literal
        (negative if isinstance(literal, Not) else positive).add((atom.name, *(f"?{term.name}" for term in atom.terms)))
    return positive, negative


@settings(max_examples=scaled(80), deadline=None)
@given(st.text(alphabet="()?-:; \nadefinomp=", max_size=120))
def test_any_text_is_a_domain_or_a_domain_error(text: str) -> None:
    try:
        domain = parse_domain("(define (domain d) " + text)
    except DomainError:
        return
    assert domain.name == "d"


@settings(max_examples=scaled(100), deadline=None)
@given(st.randoms(use_true_random=False))
def test_a_domain_with_a_part_cut_out_is_a_domain_or_a_domain_error(random: Random) -> None:
    start = random.randrange(len(DEPOT))
    text = DEPOT[:start] + DEPOT[start + random.randrange(40) :]
    try:
        domain = parse_domain(text)
    except DomainError:
        return
    assert len(domain.operators) <= 4
