"""Verdicts on domains and on whole tasks: each kind, what counts and what does not, the nearest difference."""

from __future__ import annotations

import pytest
from pddl_eval import compare_domains, compare_tasks
from pddl_eval.domains import planning_domain
from pddl_eval.equivalence import Task, task_of
from pddl_eval.model import Domain, domain_to_pddl
from pddl_eval.parsing import parse_domain
from pddl_eval.structure import Renaming, Structure

LORRY = """
(define (domain lorry)
  (:types lorry van - vehicle vehicle place - object)
  (:constants depot - place)
  (:predicates (at ?v - vehicle ?p - place) (road ?a ?b - place) (loaded ?v - lorry) (spare ?p - place))
  (:action drive :parameters (?v - vehicle ?a ?b - place)
    :precondition (and (at ?v ?a) (road ?a ?b) (not (= ?a ?b))) :effect (and (at ?v ?b) (not (at ?v ?a))))
  (:action load :parameters (?l - lorry) :precondition (and (at ?l depot) (not (loaded ?l))) :effect (loaded ?l)))
"""


def changed(*changes: tuple[str, str], text: str = LORRY) -> str:
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return text


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        (LORRY, "identical"),
        (changed(("?v", "?x"), ("(domain lorry)", "(domain d)"), ("(spare ?p - place)", "")), "identical"),
        (changed(("(= ?a ?b)", "(= ?b ?a)"), ("van - vehicle", "- vehicle")), "identical"),
        (changed(("(at ?v - vehicle ?p - place)", "(at ?v ?p)")), "identical"),
        (changed(("drive", "go"), ("depot", "yard")), "renamed"),
        (changed(("place", "site"), ("vehicle", "thing")), "renamed"),
        (changed(("(road ?a ?b", "(road ?b ?a")), "renamed"),
        (changed(("(?v - vehicle ?a ?b - place)", "(?b ?a - place ?v - vehicle)")), "renamed"),
        (
            changed(("(road ?a ?b)", "(road ?b ?a)"), ("(at ?v ?a)", "(at ?a ?v)"), ("(at ?v ?b)", "(at ?b ?v)")),
            "operators_differ",
        ),
        (changed(("(?l - lorry)", "(?l - vehicle)")), "types_differ"),
        (changed(("lorry van - vehicle", "lorry van - object")), "types_differ"),
        (changed(("depot - place", "depot - van")), "types_differ"),
        (changed((" (not (loaded ?l))", "")), "operators_differ"),
        (changed(("(road ?a ?b)", "(road ?b ?a)")), "renamed"),
        (changed(("(not (= ?a ?b))", "")), "operators_differ"),
        (changed(("(at ?v ?b) (not (at ?v ?a))", "(at ?v ?a) (not (at ?v ?b))")), "operators_differ"),
        (changed((" :effect (loaded ?l))", " :effect (loaded ?l)) (:action rest :parameters ())")), "operator_count"),
        (changed(("(?l - lorry)", "(?l ?m - lorry)")), "operators_differ"),
        ("", "empty"),
        (None, "empty"),
        ("I cannot do that.", "unparseable"),
    ],
)
def test_verdicts(answer: str | None, verdict: str) -> None:
    found = compare_domains(LORRY, answer)
    assert found.verdict == verdict
    assert found.equivalent is (verdict in ("identical", "renamed"))
    if found.equivalent:
        assert found.renaming is not None
        given, reference = parse_domain(answer or ""), parse_domain(LORRY)
        assert set(found.renaming.operators) == {operator.name for operator in given.operators}
        assert Structure(given).certificate == Structure(reference).certificate == found.domain_certificate
    elif answer and "define" in answer:
        assert found.domain_certificate != Structure(parse_domain(LORRY)).certificate


FORMULA = "(define (domain d) (:constants c) (:action a :parameters (?x) :precondition {} :effect {}))"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (("(or (p ?x) (q ?x))", "(r)"), ("(or (q ?x) (p ?x))", "(r)"), True),
        (("(or (p ?x) (or (q ?x) (s ?x)))", "(r)"), ("(or (q ?x) (s ?x) (p ?x))", "(r)"), True),
        (("(forall (?y) (p ?x ?y))", "(r)"), ("(forall (?z) (p ?x ?z))", "(r)"), True),
        (("(forall (?y) (p ?x ?y))", "(r)"), ("(forall (?y) (p ?y ?y))", "(r)"), False),
        (("(forall (?y) (p ?x ?y))", "(r)"), ("(exists (?y) (p ?x ?y))", "(r)"), False),
        (("(imply (p ?x) (q ?x))", "(r)"), ("(imply (q ?x) (p ?x))", "(p ?x)"), False),
        (("(p ?x)", "(when (q ?x) (r))"), ("(p ?x)", "(when (r) (q ?x))"), False),
        (("(p ?x)", "(and (when (q ?x) (r)) (s))"), ("(p ?x)", "(and (s) (when (and (q ?x)) (r)))"), True),
        (("(p ?x)", "(increase (total-cost) 2)"), ("(p ?x)", "(increase (total-cost) 3)"), False),
        (("(p ?x)", "(increase (total-cost) 2)"), ("(p ?x)", "(increase (fuel) 2)"), False),
        (("(p ?x)", "(increase (gas ?x) 2.0)"), ("(p ?x)", "(increase (fuel ?x) 2)"), True),
        (("(not (and (p ?x) (q c)))", "(r)"), ("(not (and (q c) (p ?x)))", "(r)"), True),
        (("(or () (p ?x))", "(when () (r))"), ("(or (p ?x) (and))", "(when (and) (r))"), True),
    ],
)
def test_what_strips_cannot_say_is_compared_as_written(
    one: tuple[str, str], other: tuple[str, str], same: bool
) -> None:
    found = compare_domains(FORMULA.format(*one), FORMULA.format(*other))
    assert found.equivalent is same


def test_derived_predicates_are_compared_as_written() -> None:
    rule = "(define (domain d) (:derived (above ?x ?y) (or (on ?x ?y) (exists (?z) (and (on ?x ?z) (above ?z ?y))))))"
    goes = rule[:-1] + " (:action a :effect (on ?x ?x)))"
    assert compare_domains(goes, goes.replace("?z", "?w").replace("above", "over")).verdict == "renamed"
    assert compare_domains(goes, goes.replace("(above ?x ?y)", "(above ?y ?x)")).equivalent is False


RULES = """
(define (domain d)
  (:derived (above ?x ?y) (or (on ?x ?y) (exists (?z) (and (on ?x ?z) (above ?z ?y)))))
  (:action a :effect (when (above ?x ?x) (increase (total-cost) 2))))
"""


@pytest.mark.parametrize(
    ("text", "digest"),
    [
        (LORRY, "a515e8695051496c94eab6c7ffcc2fba"),
        (RULES, "424468b57d075ba5f44e3af65f223a29"),
    ],
)
def test_certificates_of_domains_stay_what_they_are(text: str, digest: str) -> None:
    """Where one of these changes, ``verdict.CERTIFICATE_VERSION`` has to change with it."""
    assert Structure(parse_domain(text)).certificate == digest


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ([(" (not (loaded ?l))", "")], ["load", "lacks", "(not (loaded ?l))"]),
        ([("(not (at ?v ?a))", "(not (at ?v ?a)) (spare ?a)")], ["drive", "has", "(spare ?a)"]),
        ([("(?l - lorry)", "(?l ?m - lorry)")], ["load", "2 parameters", "1"]),
        ([("(?l - lorry)", "(?l - vehicle)")], ["load", "vehicle", "lorry"]),
        (
            [("load :", "fill :"), ("(loaded ", "(full "), (" (not (full ?l))", "")],
            ["fill", "load", "(not (loaded ?l))"],
        ),
    ],
)
def test_the_nearest_difference(changes: list[tuple[str, str]], words: list[str]) -> None:
    found = compare_domains(LORRY, changed(*changes))
    assert [word for word in words if word not in found.detail] == []


def test_the_nearest_difference_in_other_words_throughout() -> None:
    names = ["drive", "load", "road", "at ", "vehicle", "lorry ", "place", "depot", "spare"]
    other = changed(*((name, f"x{name}") for name in names), (" (not (xloaded ?l))", ""))
    found = compare_domains(LORRY, other)
    assert found.verdict == "operators_differ"
    assert "xload (for load) lacks the precondition (not (loaded ?l))" in found.detail


def test_rules_decide_a_known_domain_in_other_words_with_other_types_and_arguments() -> None:
    known = planning_domain("floor-tile")
    assert known is not None
    domain = known.domain
    arities = {atom[0]: len(atom) - 1 for operator in domain.operators for part in operator.parts for atom in part}
    words = Renaming(
        {name: f"kind-of-{name}" for name in domain.types},
        {},
        {name: (f"is-{name}", tuple(reversed(range(arity)))) for name, arity in arities.items()},
        {each.name: (f"do-{each.name}", tuple(reversed(range(len(each.parameters))))) for each in domain.operators},
    )
    types = {words.types[name]: "object" for name in domain.types}
    other = Domain("floor", types, {}, {}, tuple(map(words.operator, domain.operators)))
    given = planning_domain(domain_to_pddl(other))
    assert given is not None and given.rules is not None
    task = task_of(FLOOR)
    translated = Task(words.problem(task.problem, domain), given)
    assert isinstance(task.closure, frozenset)
    assert translated.start is not None and translated.closure == words.atoms(task.closure)
    assert isinstance(translated.plan, tuple) and translated.plan[0][0].startswith("do-")
    found = compare_domains(domain, other)
    assert found.verdict == "renamed" and found.renaming is not None
    assert {found.renaming.operator(each) for each in other.operators} == set(domain.operators)


FLOOR = """
(define (problem f) (:domain floor-tile) (:objects a b c d - tile r - robot w k - color)
  (:init (right b a) (right d c) (up a c) (up b d) (robot-at r a) (robot-has r w) (available-color w)
    (available-color k)) (:goal (and (painted c w) (painted d k))))
"""


MIRROR = """
(define (domain mirror)
  (:action left :parameters (?x) :precondition (l ?x) :effect (and (m ?x) (not (l ?x))))
  (:action right :parameters (?x) :precondition (r ?x) :effect (and (m ?x) (not (r ?x)))))
"""
START = "(define (problem p) (:domain mirror) (:objects a b c) (:init (l a) (l b) (r c)) (:goal (m a)))"


def test_another_renaming_of_the_same_domain_may_make_the_problems_equivalent() -> None:
    turned = START.replace("(l ", "(x ").replace("(r ", "(l ").replace("(x ", "(r ")
    found = compare_tasks(MIRROR, START, MIRROR, turned)
    assert found.equivalent is True
    assert found.renaming is not None and found.renaming.predicates["l"] == ("r", (0,))
    assert found.object_map is not None and found.object_map["a"] in ("a", "b") and found.object_map["c"] == "c"
    assert compare_tasks(MIRROR, START, MIRROR, START.replace("(m a)", "(m c)")).equivalent is False


def test_a_task_in_other_words() -> None:
    words = [("mirror", "doors"), ("left", "push"), ("(l ", "(shut "), ("(m ", "(open ")]
    domain, problem = changed(*words, text=MIRROR), changed(words[0], *words[2:], (" a", " z"), text=START)
    found = compare_tasks(MIRROR, START, domain, problem)
    assert found.equivalent is True and found.object_map is not None and found.object_map["c"] == "c"
    assert compare_tasks(MIRROR, START, domain, problem.replace("(shut b)", "(shut c)")).equivalent is False
    assert compare_tasks(MIRROR, START, domain, problem.replace("doors", "windows")).equivalent is False
    assert compare_tasks(MIRROR, START, domain.replace("(not (r ?x))", "(r ?x)"), problem).equivalent is False
    assert compare_tasks(MIRROR, START, domain, "no problem").equivalent is False


def test_the_goal_of_a_placeholder_task_may_name_other_objects() -> None:
    other = START.replace("(m a)", "(m c)")
    goal = "(and (m {}) (l {}))"
    one, two = (START.replace("(m a)", goal.format(*names)) for names in ("ab", "ca"))
    assert compare_tasks(MIRROR, one, MIRROR, two).equivalent is False
    assert compare_tasks(MIRROR, START, MIRROR, other).equivalent is False
    assert compare_tasks(MIRROR, START, MIRROR, other, is_placeholder=True).equivalent is True
    free = MIRROR.replace("(r ?x)", "(l ?x)").replace("(not (r ?x))", "(not (l ?x))")
    assert compare_tasks(free, START, free, START.replace("(m a)", "(m b)"), is_placeholder=True).equivalent is True


def test_constants_of_both_domains() -> None:
    domain = (
        "(define (domain d) (:constants hub) (:action go :parameters (?x) :precondition (in ?x) :effect (at hub ?x)))"
    )
    problem = "(define (problem p) (:domain d) (:objects a b) (:init (in a) (near hub b)) (:goal (at hub a)))"
    other = domain.replace("hub", "a"), problem.replace(" a", " hub2").replace("hub ", "a ").replace("hub2", "hub")
    found = compare_tasks(domain, problem, *other)
    assert found.equivalent is True and found.object_map == {"hub": "a", "b": "b"}
    wrong = other[1].replace("(near a b)", "(near hub b)")
    assert compare_tasks(domain, problem, other[0], wrong).equivalent is False
