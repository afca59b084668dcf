"""Verdicts on domains and on whole tasks: each kind, what counts and what does not, the nearest difference."""

from __future__ import annotations

import pytest
from pddl_eval import compare_domains, compare_problems, compare_tasks
from pddl_eval.definition.domain_difference import partners
from pddl_eval.definition.domain_equivalence import decide_domains
from pddl_eval.definition.domains import planning_domain
from pddl_eval.definition.model import Domain, Operator, domain_to_pddl
from pddl_eval.definition.pddl import parse_domain
from pddl_eval.definition.structure import DomainGraph, DomainStructure, Renaming
from pddl_eval.definition.task import Task, task_of
from pddl_eval.definition.verdict import Undecided

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
        assert DomainStructure(given).certificate == DomainStructure(reference).certificate == found.domain_certificate
    elif answer and "define" in answer:
        assert found.domain_certificate != DomainStructure(parse_domain(LORRY)).certificate


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


def test_a_predicate_with_two_numbers_of_arguments_is_two_predicates() -> None:
    one, other = "(:action a :effect (p))", "(:action b :parameters (?x) :precondition (or (q) (r)) :effect (p ?x))"
    assert (
        compare_domains(f"(define (domain d) {one} {other})", f"(define (domain d) {other} {one})").verdict
        == "identical"
    )


def test_derived_predicates_are_compared_as_written() -> None:
    rule = "(define (domain d) (:derived (above ?x ?y) (or (on ?x ?y) (exists (?z) (and (on ?x ?z) (above ?z ?y))))))"
    goes = rule[:-1] + " (:action a :parameters (?x) :precondition (above ?x ?x) :effect (on ?x ?x)))"
    assert compare_domains(goes, goes.replace("?z", "?w").replace("above", "over")).verdict == "renamed"
    assert compare_domains(goes, goes.replace("(above ?z ?y)", "(above ?y ?z)")).equivalent is False


RULES = """
(define (domain d)
  (:derived (above ?x ?y) (or (on ?x ?y) (exists (?z) (and (on ?x ?z) (above ?z ?y)))))
  (:action a :effect (when (above ?x ?x) (increase (total-cost) 2))))
"""


@pytest.mark.parametrize(
    ("text", "digest"),
    [
        (LORRY, "53ed3ccde6b92c91b24070c79a0faa78"),
        (RULES, "4fe40e341bc9b830ee5ff8aff6e809e1"),
    ],
)
def test_certificates_of_domains_stay_what_they_are(text: str, digest: str) -> None:
    """Where one of these changes, ``verdict.CERTIFICATE_VERSION`` has to change with it."""
    assert DomainStructure(parse_domain(text)).certificate == digest


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
        {(name, arity): (f"is-{name}", tuple(reversed(range(arity)))) for name, arity in arities.items()},
        {each.name: (f"do-{each.name}", tuple(reversed(range(len(each.parameters))))) for each in domain.operators},
    )
    types = {words.types[name]: "object" for name in domain.types}
    other = Domain("floor", types, {}, {}, tuple(in_words(each, words) for each in domain.operators))
    given = planning_domain(domain_to_pddl(other))
    assert given is not None and given.rules is not None
    task = task_of(FLOOR)
    translated = Task(words.problem(task.problem, domain), given)
    assert isinstance(task.closure, frozenset)
    assert translated.start is not None and translated.closure == words.atoms(task.closure)
    assert isinstance(translated.plan, tuple) and translated.plan[0][0].startswith("do-")
    found = compare_domains(domain, other)
    assert found.verdict == "renamed" and found.renaming is not None
    assert {in_words(each, found.renaming) for each in other.operators} == set(domain.operators)


def in_words(operator: Operator, renaming: Renaming) -> Operator:
    """The operator in the words of a renaming; its parameters keep their names."""
    types = {name: tuple(renaming.types.get(each, each) for each in types) for name, types in operator.parameters}
    name, *order = renaming.action(operator.action)
    parameters = tuple((parameter, types[parameter]) for parameter in order)
    return Operator(name, parameters, *map(renaming.atoms, operator.parts))


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
    assert found.renaming is not None and found.renaming.predicates["l", 1] == ("r", (0,))
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


def test_one_name_with_two_numbers_of_arguments() -> None:
    """Issue 24: the witness has both predicates, the task in other words is found, the nearest difference is right."""
    one = "(define (domain d) (:action go :parameters (?x ?y) :precondition (w ?x) :effect (z ?x ?y)))"
    other = changed(("(w ", "(p "), ("(z ", "(p "), text=one)
    found = compare_domains(one, other)
    assert found.renaming is not None and found.renaming.predicates == {
        ("p", 1): ("w", (0,)),
        ("p", 2): ("z", (0, 1)),
    }
    problem = "(define (problem t) (:domain d) (:objects a b) (:init (w a)) (:goal (z a b)))"
    assert compare_tasks(one, problem, other, changed(("(w ", "(p "), ("(z ", "(p "), text=problem)).equivalent is True
    assert "(p ?x)" in compare_domains(other, changed(("(p ?x)", "(and)"), text=other)).detail


MOVED = [
    ("(:types a b - object t - (either a b) u - a)", "(:types a b - object t - a u - (either a b))"),
    ("(:types a b - object t - a t - b u - a)", "(:types a b - object t - a u - a u - b)"),
    ("(:types a b t u) (:constants k - (either a b) l - a)", "(:types a b t u) (:constants k - a l - (either a b))"),
]


@pytest.mark.parametrize("heads", MOVED)
def test_several_types_are_told_apart(heads: tuple[str, str]) -> None:
    """Issue 24: what has several types is moved from what the precondition uses to what the effect uses."""
    text = "(define (domain d) {} (:action go :parameters (?x - t ?y - u) :precondition (p ?x k) :effect (q ?y l)))"
    one, other = map(text.format, heads)
    found = compare_domains(one, other)
    assert found.verdict == "types_differ" and found.renaming is None
    assert found.domain_certificate != compare_domains(one, one).domain_certificate


def test_a_constant_that_nobody_declares_is_one() -> None:
    """Issue 24: the relation is transitive, and a domain has one certificate whatever it is compared with."""
    undeclared = "(define (domain d) (:action go :parameters (?x) :precondition (p home) :effect (p ?x)))"
    declared = changed(("(:action", "(:constants home) (:action"), text=undeclared)
    texts = undeclared, declared, changed(("home", "casa"), text=declared)
    found = [compare_domains(one, other) for one in texts for other in texts]
    assert all(each.equivalent for each in found)
    assert len({each.domain_certificate for each in found}) == 1
    assert found[2].renaming is not None and found[2].renaming.constants == {"casa": "home"}


def test_the_witness_has_functions_and_all_operators_of_one_name() -> None:
    one = "(define (domain d) (:action go :effect (increase (p) (q))) (:action go :effect (and (p) (q))))"
    other = changed(("(increase (p) (q))", "(increase (f) (g))"), text=one)
    found = compare_domains(one, other).renaming
    assert found is not None and set(found.operators) == {"go", "go#2"}
    assert found.functions == {("f", 0): ("p", ()), ("g", 0): ("q", ())}
    assert found.inverse.inverse == found


def test_a_million_digits_are_compared() -> None:
    text = "(define (domain d) (:action a :effect (increase (total-cost) {})))"
    digits = "9" * 900_000
    assert compare_domains(text.format(digits), text.format(digits[:-1] + "8")).equivalent is False
    assert compare_domains(text.format(digits), text.format("0" + digits + ".0")).equivalent is True
    exponent = "1e" + digits
    assert compare_domains(text.format(exponent), text.format(exponent)).equivalent is True


def test_details_name_no_literal_where_only_derived_predicates_differ() -> None:
    text = "(define (domain d) (:derived (u) {}) (:action go :parameters (?x ?y) :precondition (u) :effect (p ?x ?y)))"
    found = compare_domains(text.format("(p x)"), text.format("(not (p x))"))
    assert found.verdict == "operators_differ" and ":derived" in found.detail and "go" not in found.detail


def test_rules_that_only_the_goal_uses_are_not_passed_over() -> None:
    """No operator uses ``above``: the domains are equivalent, and the tasks may not be."""
    text = "(define (domain d) (:derived (above ?x ?y) {}) (:action go :parameters (?x ?y) :effect (on ?x ?y)))"
    one, other = map(text.format, ("(on ?x ?y)", "(on ?y ?x)"))
    problem = "(define (problem p) (:domain d) (:objects a b) (:init (on a b)) (:goal (above a b)))"
    assert compare_domains(one, other).equivalent is True
    assert compare_tasks(one, problem, other, problem).equivalent is None
    assert compare_tasks(one, problem, one, problem).equivalent is True


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


ADL = """(define (domain d) (:types t) (:constants y) (:predicates (p ?x) (q ?x) (c ?x))
  (:action f :parameters (?x) :precondition (p ?x) :effect (when (p ?x) (not (p ?x))))
  (:action g :parameters (?x) :precondition (q ?x) :effect (when (q ?x) (not (q ?x)))))"""
SPOTS = "(define (problem s) (:domain d) (:objects x - t z) (:init (p x) (c y)) (:goal (and (p x))))"
SYMMETRIC = "(define (domain d) (:action f :parameters (?x ?y) :effect (when (l ?x ?y) (not (l ?x ?y)))))"
PAIR = "(define (problem s) (:domain d) (:objects x y) (:init (l x y) (c x)) (:goal (and (l x y))))"
MANY = """(define (domain d) (:predicates (r ?a ?b ?c ?d) (c ?x)) (:action link :parameters (?a ?b ?c ?d)
  :precondition (not (r ?a ?b ?c ?d)) :effect (r ?a ?b ?c ?d)))"""
SEVENTY = f"""(define (problem s) (:domain d) (:objects {" ".join(f"l{n}" for n in range(70))})
  (:init (c l0)) (:goal (and (r l0 l1 l2 l3))))"""


@pytest.mark.parametrize(
    ("domain", "problem", "in_domain", "in_problem"),
    [
        pytest.param(ADL, SPOTS, [("(c ", "(k ")], [("(c ", "(k ")], id="an unused predicate"),
        pytest.param(ADL, SPOTS, [(" t)", " u)")], [("- t", "- u")], id="an unused type"),
        pytest.param(ADL, SPOTS, [(" y)", " w)")], [(" y)", " w)")], id="an unused constant"),
        pytest.param(ADL, SPOTS, [], [("(p ", "(q ")], id="an automorphism"),
        pytest.param(SYMMETRIC, PAIR, [], [("l x y", "l y x")], id="arguments exchanged"),
        pytest.param(MANY, SEVENTY, [("(c ", "(k ")], [("(c ", "(k ")], id="too large to be grounded"),
        pytest.param(MANY, SEVENTY, [], [("l0 l1 l2 l3", "l3 l2 l1 l0")], id="arguments exchanged in a large one"),
    ],
)
def test_where_no_goal_is_specified_the_no_of_one_renaming_is_no_verdict(
    domain: str, problem: str, in_domain: list[tuple[str, str]], in_problem: list[tuple[str, str]]
) -> None:
    words = changed(*in_domain, text=domain), changed(*in_problem, text=problem)
    for is_placeholder in (False, True):
        found = compare_tasks(domain, problem, *words, is_placeholder=is_placeholder)
        assert found.equivalent is True and found.renaming is not None and found.object_map is not None


@pytest.mark.parametrize("is_placeholder", [False, True])
@pytest.mark.parametrize(
    ("domain", "problem", "same_goal"),
    [
        pytest.param(ADL, SPOTS, False, id="no state has the goal"),
        pytest.param(SYMMETRIC, PAIR, True, id="each state has the atom"),
        pytest.param(MANY, SEVENTY, None, id="too large to be grounded"),
    ],
)
def test_another_initial_state_is_a_no_and_another_goal_is_open_where_it_is_not_specified(
    domain: str, problem: str, same_goal: bool | None, is_placeholder: bool
) -> None:
    name = problem.split("(:objects ")[1].split()[0]
    init = changed(("(:init", f"(:init (c2 {name})"), text=problem)
    assert compare_tasks(domain, problem, domain, init, is_placeholder=is_placeholder).equivalent is False
    goal = changed(("(:goal (and", f"(:goal (and (c {name})"), text=problem)
    assert compare_tasks(domain, problem, domain, goal, is_placeholder=is_placeholder).equivalent is same_goal


HOME = "(define (domain d) (:predicates (p ?x)) (:action go :parameters (?x) :precondition (p home) :effect (p ?x)))"
AT_HOME = "(define (problem s) (:domain d) (:objects o home) (:init (p home)) (:goal (and (p o))))"
AT_O = "(define (problem s) (:domain d) (:objects o home) (:init (p o)) (:goal (and (p home))))"
AT_CASA = AT_HOME.replace("home", "casa")
NOWHERE = "(define (problem s) (:domain d) (:objects o) (:init (p o)) (:goal (and (p o))))"
DECLARED = HOME.replace("(:predicates", "(:constants home) (:predicates")


@pytest.mark.parametrize("is_placeholder", [False, True])
def test_an_object_that_operators_name_stays_what_it_is(is_placeholder: bool) -> None:
    for other in (AT_O, AT_CASA):
        verdict = compare_problems(AT_HOME, other, domain=HOME, is_placeholder=is_placeholder)
        assert verdict.verdict.value == "init_differs"
        assert compare_tasks(HOME, AT_HOME, HOME, other, is_placeholder=is_placeholder).equivalent is False
    types = [AT_HOME.replace("o home", each) for each in ("home - room o", "o - room home")]
    assert compare_problems(*types, domain=HOME, is_placeholder=is_placeholder).equivalent is False
    assert compare_tasks(HOME, types[0], HOME, types[1], is_placeholder=is_placeholder).equivalent is False


def test_an_object_that_operators_name_may_have_its_type_in_two_scenes() -> None:
    graph = DomainGraph(parse_domain(HOME))
    for scene in ("init", "goal"):
        graph.add_scene(scene, {"home": "room", "o": "room"}, {scene: frozenset({("p", "home")})})
    assert graph.labelled.form


def test_a_task_is_itself() -> None:
    for domain, problem in ((HOME, AT_HOME), (HOME, AT_O), (HOME, NOWHERE), (ADL, SPOTS), (MANY, SEVENTY)):
        assert compare_tasks(domain, problem, domain, problem).equivalent is True


@pytest.mark.parametrize(
    ("goal", "verdict"), [("(p x)", "isomorphic"), ("(p x) (p home)", "equivalent"), ("(p home) (p x)", "equivalent")]
)
@pytest.mark.parametrize("problem", [AT_HOME, AT_HOME.replace("o home", "o")])
def test_an_object_map_has_the_objects_of_the_problem_and_no_constants(problem: str, goal: str, verdict: str) -> None:
    answer = changed(("(:objects o", "(:objects x"), ("(p o)", goal), text=problem)
    found = compare_problems(problem, answer, domain=DECLARED)
    assert (found.verdict.value, found.object_map) == (verdict, {"x": "o"})
    assert compare_tasks(DECLARED, problem, DECLARED, answer).object_map == {"x": "o"}
    assert compare_tasks(DECLARED, problem, DECLARED, problem).object_map == {"o": "o"}


def test_an_object_that_operators_name_is_in_the_object_map() -> None:
    answer = changed((" o", " home"), text=AT_CASA)
    found = compare_tasks(HOME, AT_HOME, HOME.replace("home", "casa"), answer)
    assert found.equivalent is True and found.object_map == {"home": "o", "casa": "home"}


SORTS = "(define (domain d) {} (:action go :parameters (?x) :precondition (p ?x) :effect (p ?x)))"
SORTED = "(define (problem s) (:domain d) (:objects {}) (:init (p a)) (:goal (and)))"


@pytest.mark.parametrize("types", ["", "(:types t)"])
@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("a b - block", "a b", False),
        ("a - block b", "b - block a", False),
        ("a - r b - s c - s", "a - r b - r c - s", False),
        ("a b - t", "a b", False),
        ("a - block b", "a - block c", True),
    ],
)
def test_types_that_no_domain_declares_are_compared_in_tasks_as_in_problems(
    types: str, one: str, other: str, same: bool
) -> None:
    domain, problem, answer = SORTS.format(types), SORTED.format(one), SORTED.format(other)
    assert compare_problems(problem, answer, domain=domain).equivalent is same
    assert compare_tasks(domain, problem, domain, answer).equivalent is same
    words = domain.replace("(p ", "(w "), answer.replace("(p ", "(w ").replace("block", "brick")
    assert compare_tasks(domain, problem, *words).equivalent is same


def test_a_constant_that_nothing_names_is_an_object_of_the_tasks_as_of_the_problems() -> None:
    """One of a type that an operator asks for makes the goal reachable, and an atom of it another goal."""
    domain = """(define (domain d) (:types t) (:constants k - t)
      (:action take :parameters (?x - t) :precondition (free) :effect (and (p ?x) (done) (not (free)))))"""
    problem = "(define (problem s) (:domain d) (:objects a - t) (:init (free)) (:goal (and (done))))"
    answer = changed(("(done)", "(p a)"), text=problem)
    assert compare_problems(problem, answer, domain=domain).equivalent is False
    assert compare_tasks(domain, problem, domain, answer).equivalent is False
    alone = changed(("a - t", ""), text=problem)
    for other in (domain, domain.replace("k", "m"), domain.replace("(:constants k - t)", "")):
        found = compare_tasks(domain, alone, other.replace("take", "hold"), alone)
        assert found.equivalent is True and found.renaming is not None and found.renaming.constants == {}


def test_a_task_whose_generated_predicates_share_a_name() -> None:
    one = "(define (domain d) (:action go :parameters (?x ?y) :precondition (w ?x) :effect (z ?x ?y)))"
    problem = "(define (problem s) (:domain d) (:objects a b) (:init (w a)) (:goal (and (z a b))))"
    words = [text.replace("(w", "(p").replace("(z", "(p") for text in (one, problem)]
    found = compare_tasks(one, problem, *words)
    assert found.equivalent is True and found.renaming is not None
    assert found.renaming.predicates == {("p", 1): ("w", (0,)), ("p", 2): ("z", (0, 1))}
    for other in (words[1].replace("(p a b)", "(p a)"), words[1].replace("(p a)", "(p b)")):
        assert compare_tasks(one, problem, words[0], other).equivalent is False


def test_which_predicates_are_static_is_no_question_of_names() -> None:
    """``(p)`` never changes; in the answer's words it shares its name with ``(p ?x)``, which an operator deletes."""
    domain = """(define (domain d) (:constants k) (:action o :parameters (?x)
      :precondition (and (q ?x) (not (q ?x)) (not (q k))) :effect (not (q ?x))))"""
    problem = "(define (problem s) (:domain d) (:objects a) (:init (p) (q a) (q k)) (:goal (and (q k))))"
    answer = problem.replace("(:goal (and (q k)", "(:goal (and (q a)").replace("(q ", "(p ")
    assert compare_tasks(domain, problem, domain.replace("(q ", "(p "), answer).equivalent is True


def test_without_closures_tasks_with_equal_initial_states_are_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    lopsided = changed(("(and (m ?x) (not (l ?x)))", "(m ?x)"), text=MIRROR)
    text = "(define (problem p) (:domain mirror) (:objects a b) (:init (l a) (r b) (s a) (s b)) (:goal (and {})))"
    goals = text.format("(m a)"), text.format("(m b) (s b)")  # the same by left <-> right, once specified
    assert compare_tasks(MIRROR, goals[0], MIRROR, goals[1]).equivalent is True
    monkeypatch.setattr("pddl_eval.definition.task.closure", lambda *_: Undecided("not asked"))
    monkeypatch.setattr("pddl_eval.kernel.library", lambda: None)
    for domain in (MIRROR, lopsided):
        assert compare_tasks(domain, goals[0], domain, goals[1]).equivalent is None


def test_the_sentence_about_types_says_which_side_is_the_reference() -> None:
    reference = (
        "(define (domain d) (:types airport - place) (:predicates (at ?x - place))"
        " (:action fly :parameters (?from - airport) :precondition (at ?from) :effect (not (at ?from)))"
        " (:action walk :parameters (?to - place) :effect (at ?to)))"
    )
    scores = compare_domains(reference, reference.replace("?from - airport", "?from - place"))
    assert scores.verdict == "types_differ"
    ours, theirs = scores.detail.split(", ")[:2]
    assert "place" in ours and "reference" not in ours and "reference" in theirs and "airport" in theirs


@pytest.mark.parametrize("sort", ["", " - t"])
def test_a_constant_may_be_declared_by_the_domain_or_by_the_problem(sort: str) -> None:
    here = AT_HOME.replace("o home", f"o{sort} home")
    there = AT_HOME.replace("o home", f"o{sort}")
    for one, other in (((HOME, here), (DECLARED, there)), ((DECLARED, there), (HOME, here))):
        assert compare_tasks(*one, *other).equivalent is True
        moved = other[1].replace("(p home)", "(p o)", 1)
        assert compare_tasks(*one, other[0], moved).equivalent is False


NAMESAKES = """(define (domain d) (:types t u) (:action go :parameters (?x - t) :effect (p ?x))
  (:action go :parameters (?x - t) :effect (not (p ?x))))"""


def test_the_sentence_about_types_tells_operators_of_one_name_apart() -> None:
    apart = changed(("go :parameters (?x - t) :effect (p", "run :parameters (?x - t) :effect (p"), text=NAMESAKES)
    answer = changed(("t) :effect (not", "u) :effect (not"), ("action go", "action walk"), text=apart)
    found = compare_domains(NAMESAKES, answer)
    assert found.verdict == "types_differ" and found.detail.startswith("walk takes ?x of type u")


def test_partners_are_those_of_the_renaming_among_operators_of_one_name() -> None:
    structure = DomainStructure(parse_domain(NAMESAKES))
    found = decide_domains(structure, structure)
    pairs = partners(structure.domain, structure.domain, found.renaming)
    assert [each.distance for each in pairs] == [0, 0]


def test_what_a_renaming_does_not_name_keeps_apart_from_what_it_names() -> None:
    """A predicate that no operator uses is called as the renaming calls another one."""
    renaming = Renaming({}, {}, {("a", 1): ("b", (0,)), ("b", 1): ("c", (0,)), ("d", 2): ("e", (1, 0))}, {})
    atoms = frozenset({("a", "x"), ("b", "x"), ("c", "x"), ("e", "x", "y"), ("d", "x", "y"), ("a", "x", "y")})
    assert len(renaming.atoms(atoms)) == len(atoms)
    assert renaming.inverse.atoms(renaming.atoms(atoms)) == atoms
