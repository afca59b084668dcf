"""Facts about the equivalence of domains, each on the smallest pair that shows it (DESIGN.md, section 7)."""

from __future__ import annotations

from itertools import combinations, permutations
from random import Random

import pytest
from pddl_eval import compare_domains
from pddl_eval.definition.model import Domain, Operator, Problem, domain_to_pddl

from tests.corpus import CORPUS
from tests.judges.domain_equivalence import equivalent, faults, renamings, verdict
from tests.judges.task_equivalence import random_tasks, tasks_equivalent
from tests.measure.domains import isomorphic, mangled_pair, mutant, small_pair, small_problems, small_task
from tests.support.domain_pairs import random_pair, written
from tests.support.volume import in_two_sizes
from tests.support.written_domain import outline, read_written


def domain(*operators: str, head: str = "") -> str:
    return f"(define (domain d) {head} {' '.join(operators)})"


def operator(name: str = "a", parameters: str = "", needs: str = "(and)", does: str = "(and)") -> str:
    return f"(:action {name} :parameters ({parameters}) :precondition {needs} :effect {does})"


def needs(condition: str, parameters: str = "", head: str = "") -> str:
    return domain(operator(parameters=parameters, needs=condition), head=head)


def does(effect: str, parameters: str = "", head: str = "") -> str:
    return domain(operator(parameters=parameters, does=effect), head=head)


def lasts(condition: str = "(and)", effect: str = "(and)", duration: str = "(= ?duration 3)", head: str = "") -> str:
    body = f":parameters (?x ?y) :duration {duration} :condition {condition} :effect {effect}"
    return domain(f"(:durative-action a {body})", head=head)


def typed(types: str, parameters: str) -> str:
    return does("(p ?x)", parameters, f"(:types {types})")


def two_typed(types: str, parameters: str = "?x - a ?y - b") -> str:
    return does("(p ?x ?y)", parameters, f"(:types {types})")


def ring(*lengths: int, step: int = 1) -> str:
    """Tokens that go round rings of so many places."""
    return domain(
        *(
            operator(
                f"go-{number}-{place}", needs=f"(p{number}-{place})", does=f"(p{number}-{(place + step) % length})"
            )
            for number, length in enumerate(lengths)
            for place in range(length)
        )
    )


CELLS = [(row, column) for row in range(4) for column in range(4)]
SHRIKHANDE = {(0, 1), (0, 3), (1, 0), (3, 0), (1, 1), (3, 3)}


def strongly_regular(shrikhande: bool) -> str:
    """Two graphs of 16 vertices and 48 edges that colour refinement does not tell apart; an operator for each edge."""
    edges = [
        (a, b)
        for a, b in combinations(CELLS, 2)
        if (((a[0] - b[0]) % 4, (a[1] - b[1]) % 4) in SHRIKHANDE if shrikhande else (a[0] == b[0]) != (a[1] == b[1]))
    ]
    shown = [f"(and (p{a[0]}{a[1]}) (p{b[0]}{b[1]}))" for a, b in edges]
    return domain(*(operator(f"o{number}", needs=each, does="(done)") for number, each in enumerate(shown)))


IDENTICAL = {
    "an equation is symmetric": (needs("(= ?x ?y)", "?x ?y"), needs("(= ?y ?x)", "?x ?y")),
    "an equation of a term with itself": (needs("(= ?x ?x)", "?x ?y"), needs("(= ?z ?z)", "?z ?y")),
    "its negation": (needs("(not (= ?x ?x))", "?x"), needs("(not (= ?z ?z))", "?z")),
    "an equation of a constant with itself": 2 * (needs("(and (p k) (= k k))", head="(:constants k)"),),
    "no precondition is the empty one": (does("(p)"), "(define (domain d) (:action a :effect (and (p))))"),
    "conjunctions are sets": (needs("(and (p) (and (q) (r)))"), needs("(and (r) (q) (p) (p))")),
    "names of variables": (does("(p ?x)", "?x ?y"), does("(p ?y)", "?y ?x")),
    "an unused type between two": (typed("a - b b - c c", "?x - a"), typed("a - object", "?x - a")),
    "an alternative below another": (typed("a - b b - object", "?x - (either a b)"), typed("b", "?x - b")),
    "one far below another": (typed("a - b b - c c", "?x - (either a c)"), typed("c", "?x - c")),
    "an alternative object": (typed("a b", "?x - (either a object)"), typed("a", "?x")),
    "the order of alternatives": (typed("a b", "?x - (either a b)"), typed("a b", "?x - (either b a)")),
    "an undeclared type is object": (typed("a", "?x - nowhere"), typed("a", "?x")),
    "declared types of predicates": (
        does("(p ?x)", "?x - a", "(:types a) (:predicates (p ?x - a))"),
        does("(p ?x)", "?x - a", "(:types a b) (:predicates (p ?x) (q ?y - b))"),
    ),
    "an unused constant": (does("(p k)", head="(:constants k unused)"), does("(p k)", head="(:constants k)")),
    "names of domain and requirements": (does("(p)", head="(:requirements :adl)"), does("(p)").replace(" d)", " e)")),
    "disjunctions are sets": (needs("(or (p) (or (q) (r)))"), needs("(or (r) (q) (p))")),
    "a member of a disjunction": (needs("(or (p) (and (q) (r)))"), needs("(or (and (r) (q)) (p))")),
    "a quantified variable's name": (does("(forall (?x) (p ?x))"), does("(forall (?z) (p ?z))")),
    "the order of quantified variables": (does("(forall (?x ?y) (p ?x ?y))"), does("(forall (?y ?x) (p ?x ?y))")),
    "a variable hidden by a quantifier": (does("(forall (?x) (p ?x))", "?x"), does("(forall (?y) (p ?y))", "?x")),
    "under a negation": (needs("(not (and (p) (q)))"), needs("(not (and (q) (p)))")),
    "conjunctions at one time": (lasts("(at start (and (p) (q)))"), lasts("(and (at start (q)) (at start (p)))")),
    "a duration that is asked for at the start": (lasts(duration="(at start (= ?duration 3.0))"), lasts()),
    "the order of halves": (lasts("(and (over all (p)) (at start (q)))"), lasts("(and (at start (q)) (over all (p)))")),
    "a quantifier around times": (
        lasts(effect="(forall (?z) (and (at start (p ?z)) (at end (q ?z))))"),
        lasts(effect="(and (forall (?w) (at end (q ?w))) (forall (?z) (at start (p ?z))))"),
    ),
    "the order of derived predicates": (
        domain("(:derived (p) (q))", "(:derived (q) (r))", operator(needs="(p)", does="(r)")),
        domain("(:derived (q) (r))", operator(needs="(p)", does="(r)"), "(:derived (p) (q))"),
    ),
}

IDENTICAL |= {
    "a constant that nobody declares": (does("(p k)"), does("(p k)", head="(:constants k)")),
    "several parents of a type that nothing uses": (typed("u - (either a b)", "?x - a"), typed("a", "?x - a")),
    "several parents, one above the other": (typed("t - (either a b) a - b", "?x - t"), typed("t - a", "?x - t")),
    "several parents, declared twice": (
        two_typed("t - (either a b)", "?x - t ?y - a"),
        two_typed("t - b t - a", "?x - t ?y - a"),
    ),
    "several parents, in another section": (
        typed("t - (either a b)", "?x - t"),
        does("(p ?x)", "?x - t", "(:types t - a) (:types t - b)"),
    ),
    "the order of a constant's alternatives": (
        does("(p k)", head="(:types a b) (:constants k - (either a b))"),
        does("(p k)", head="(:types a b) (:constants k - (either b a))"),
    ),
    "an operator said twice": (
        domain(operator("a", "?x", "(p ?x)", "(q ?x)"), operator("a", "?y", "(p ?y)", "(q ?y)")),
        domain(operator("a", "?x", "(p ?x)", "(q ?x)")),
    ),
    "an operator with a quantifier said twice": (
        domain(operator(needs="(forall (?y) (p ?y))"), operator(needs="(forall (?z) (p ?z))")),
        needs("(forall (?y) (p ?y))"),
    ),
    "a quantifier said twice": (
        needs("(and (forall (?z) (p ?z)) (forall (?y) (p ?y)))"),
        needs("(forall (?y) (p ?y))"),
    ),
    "two quantified variables said twice": (
        needs("(or (r) (forall (?x ?y) (p ?x ?y)) (forall (?x ?y) (p ?y ?x)))"),
        needs("(or (forall (?x ?y) (p ?x ?y)) (r))"),
    ),
    "a quantifier over a type with several parents said twice": (
        does("(when (or (exists (?y - t) (p ?y)) (exists (?z - t) (p ?z))) (q))", head="(:types t - (either a b))"),
        does("(when (exists (?y - t) (p ?y)) (q))", head="(:types t - (either a b))"),
    ),
    "a condition said twice": (
        does("(and (when (p) (and (q) (r))) (when (p) (and (r) (q) (r))))"),
        does("(when (p) (and (q) (r)))"),
    ),
    "a disjunction said twice": (needs("(and (or (p) (q)) (or (q) (p)))"), needs("(or (q) (p))")),
    "nothing in a conjunction": (needs("(or (p) (and () (q) (r)))"), needs("(or (p) (and (r) (q)))")),
    "a derived predicate that nothing uses": (domain("(:derived (u ?x) (p))", operator(does="(p)")), does("(p)")),
    "derived predicates that use only each other": (
        domain("(:derived (u) (v))", "(:derived (v) (u))", operator(does="(p)")),
        does("(p)"),
    ),
    "a rule said twice": (
        domain("(:derived (u ?x) (p ?x))", "(:derived (u ?y) (p ?y))", operator(needs="(u ?x)", parameters="?x")),
        domain("(:derived (u ?x) (p ?x))", operator(needs="(u ?x)", parameters="?x")),
    ),
    "one number": (does("(increase (total-cost) 02.50)"), does("(increase (total-cost) 2.5)")),
    "zero": (does("(increase (total-cost) -0.0)"), does("(increase (total-cost) 0)")),
}

RENAMED = {
    "an equation of a term with itself": (
        needs("(and (p ?x) (= ?x ?x))", "?x ?y"),
        needs("(and (q ?x) (= ?x ?x))", "?x ?y"),
    ),
    "an equation of a constant with itself, negated": (
        needs("(and (p k) (not (= k k)))", head="(:constants k)"),
        needs("(and (p m) (not (= m m)))", head="(:constants m)"),
    ),
    "operators of equal content": (
        domain(operator("a", does="(p)"), operator("b", does="(p)")),
        domain(operator("c", does="(q)"), operator("b", does="(q)")),
    ),
    "a ring turned round": (ring(6), ring(6, step=5)),
    "types that change places": (two_typed("a b"), two_typed("a b", "?x - b ?y - a")),
    "a constant": (does("(p k)", head="(:constants k)"), does("(p m)", head="(:constants m)")),
    "arguments everywhere": (
        domain(operator("a", "?x ?y", "(p ?x ?y)", "(p ?y ?x)"), operator("b", "?x", "(q ?x)", "(p ?x ?x)")),
        domain(operator("a", "?x ?y", "(p ?y ?x)", "(p ?x ?y)"), operator("b", "?x", "(q ?x)", "(p ?x ?x)")),
    ),
    "parameters": (does("(p ?x)", "?x ?y"), does("(p ?x)", "?y ?x")),
    "operators that change names": (
        domain(operator("a", does="(p)"), operator("b", does="(q)")),
        domain(operator("b", does="(p)"), operator("a", does="(q)")),
    ),
    "predicates in a condition": (
        domain(operator(needs="(q)", does="(when (p) (q))")),
        domain(operator(needs="(p)", does="(when (q) (p))")),
    ),
    "a quantified variable's type": (
        does("(forall (?x - a) (p ?x))", head="(:types a)"),
        does("(forall (?x - b) (p ?x))", head="(:types b)"),
    ),
    "a function": (
        does("(increase (total-cost) (far))", head="(:functions (far))"),
        does("(increase (total-cost) (wide))", head="(:functions (wide))"),
    ),
    "derived predicates": (
        domain("(:derived (p) (q))", operator(needs="(p)", does="(q)")),
        domain("(:derived (a) (b))", operator(needs="(a)", does="(b)")),
    ),
}

WHEN_AT = "(when (at {0} ?x) (not (at {0} ?x)))"
COSTS = "(and (not ({} ?x)) (increase (total-cost) ({} ?x)))"

RENAMED |= {
    "a durative action": (
        lasts("(and (at start (p ?x)) (over all (r ?x ?y)))", "(at end (not (p ?y)))", "(= ?duration (f ?x))"),
        lasts("(and (over all (s ?x ?y)) (at start (q ?y)))", "(at end (not (q ?x)))", "(= ?duration (g ?y))"),
    ),
    "constraints": (
        does("(p)", head="(:constraints (and (always (p)) (sometime-after (p) (q))))"),
        does("(r)", head="(:constraints (and (sometime-after (r) (s)) (always (r))))"),
    ),
    "a constant that nobody declares": (does("(p k)"), does("(p m)", head="(:constants m)")),
    "a constant that nobody declares, in both": (does("(p k)"), does("(p m)")),
    "a constant that looks like a number": (does("(p 1)"), does("(p k)")),
    "one name with two numbers of arguments": (
        domain(operator("a", "?x", "(p)", "(p ?x)")),
        domain(operator("a", "?x", "(p)", "(q ?x)")),
    ),
    "a constant called as PDDL calls a time": (
        does(WHEN_AT.format("start"), "?x", "(:constants start)"),
        does(WHEN_AT.format("home"), "?x", "(:constants home)"),
    ),
    "a predicate of no arguments called as PDDL calls a time": (does("(when (at) (p))"), does("(when (q) (at))")),
    "a function called as a predicate": (
        does(COSTS.format("dist", "dist"), "?x"),
        does(COSTS.format("dist", "length"), "?x"),
    ),
    "several parents": (
        two_typed("t - (either a b) u - a", "?x - t ?y - u"),
        two_typed("u - (either b c) t - c", "?x - u ?y - t"),
    ),
}

INCREASE = "(increase (total-cost) {})"

OPERATORS_DIFFER = {
    "a quantifier without variables and an atom": (needs("(not (and (forall) (p)))"), needs("(not (and (q) (p)))")),
    "a quantifier over nothing": (needs("(imply (p) (exists (?x)))"), needs("(imply (p) (exists (?x) (p)))")),
    "an equation of one term and of two": (needs("(= ?x ?x)", "?x ?y"), needs("(= ?x ?y)", "?x ?y")),
    "an equation and none": (needs("(and (p ?x) (= ?x ?x))", "?x"), needs("(p ?x)", "?x")),
    "an equation and its negation": (needs("(= ?x ?y)", "?x ?y"), needs("(not (= ?x ?y))", "?x ?y")),
    "a parameter that no literal uses": (does("(p)", "?x"), does("(p)")),
    "one ring of six and two of three": (ring(6), ring(3, 3)),
    "two strongly regular graphs": (strongly_regular(True), strongly_regular(False)),
    "two constants and one": (
        does("(and (p k) (q m))", head="(:constants k m)"),
        does("(and (p k) (q k))", head="(:constants k)"),
    ),
    "a constant and a parameter": (does("(p k)", head="(:constants k)"), does("(p ?k)", "?k")),
    "two predicates and one": (
        domain(operator(needs="(p)", does="(q)")),
        domain(operator(needs="(p)", does="(p)")),
    ),
    "arguments in one place only": (
        domain(operator("a", "?x ?y", "(and (p ?x ?y) (r ?x))", "(q ?x)")),
        domain(operator("a", "?x ?y", "(and (p ?x ?y) (r ?x))", "(q ?y)")),
    ),
    "a condition and an effect": (needs("(p)"), does("(p)")),
    "and is not or": (needs("(and (p) (q))"), needs("(or (p) (q))")),
    "quantifiers": (needs("(forall (?x) (p ?x))"), needs("(exists (?x) (p ?x))")),
    "which variable": (does("(forall (?y) (p ?y))", "?x"), does("(forall (?y) (p ?x))", "?x")),
    "as written, not as meant": (needs("(not (and (p) (q)))"), needs("(and (not (p)) (not (q)))")),
    "a cost": (does("(increase (total-cost) 1)"), does("(increase (total-cost) 2)")),
    "no cost": (does("(and (p) (increase (total-cost) 1))"), does("(p)")),
    "a derived predicate": (
        domain("(:derived (p) (q))", operator(needs="(p)", does="(q)")),
        domain(operator(needs="(p)", does="(q)")),
    ),
}

OPERATORS_DIFFER |= {
    f"{what}: {one} and {other}": (does(INCREASE.format(one)), does(INCREASE.format(other)))
    for what, one, other in (
        ("beyond doubles", "9007199254740993", "9007199254740992"),
        ("a small difference", "0.1", "0.10000000000000000001"),
        ("powers", "1e999999999", "1e999999998"),
    )
}
OPERATORS_DIFFER |= {
    "when a condition is needed": (lasts("(at start (p))"), lasts("(over all (p))")),
    "when an effect comes": (lasts(effect="(at start (p))"), lasts(effect="(at end (p))")),
    "a disjunction of empty conjunctions": (needs("(or (and) (and))"), needs("(and)")),
    "one at a time": (lasts("(at start (or (and) (and)))"), lasts("(at start (and))")),
    "a disjunction of one at a time": (lasts("(at start (or (p)))"), lasts("(at start (p))")),
    "a duration": (lasts(), lasts(duration="(= ?duration 4)")),
    "a duration and a bound of it": (lasts(), lasts(duration="(<= ?duration 3)")),
    "an action with and without duration": (lasts(effect="(at end (p ?x))"), does("(p ?x)", "?x ?y")),
    "which constraint": (
        does("(p)", head="(:constraints (always (p)))"),
        does("(p)", head="(:constraints (sometime (p)))"),
    ),
    "costs add up": (does(f"(and {INCREASE.format(1)} {INCREASE.format(1)})"), does(INCREASE.format(1))),
    "costs add up in a condition": (
        does(f"(when (p) (and {INCREASE.format(1)} {INCREASE.format(1)}))"),
        does(f"(when (p) {INCREASE.format(1)})"),
    ),
    "conditional costs add up": (
        does(f"(and (when (p) {INCREASE.format(1)}) (when (p) {INCREASE.format(1)}))"),
        does(f"(when (p) {INCREASE.format(1)})"),
    ),
    "a variable that nothing binds": (needs("(and (p ?z) (q ?z))"), needs("(and (p ?z) (q ?w))")),
    "a variable that nothing binds, in a condition": (
        does("(when (p ?z) (q ?z))"),
        does("(when (p ?z) (q ?w))"),
    ),
    "a variable that is called as a position": (does("(p ?0)", "?x"), does("(p ?x)", "?x")),
    "a rule that another rule uses": (
        domain("(:derived (u) (v))", "(:derived (v) (p))", operator(needs="(u)")),
        domain("(:derived (u) (v))", "(:derived (v) (u))", operator(needs="(u)")),
    ),
    "two operators of one name": (
        domain(operator(needs="(p)", does="(q)"), operator(needs="(q)", does="(r)")),
        domain(operator(needs="(p)", does="(q)"), operator("b", needs="(r)", does="(q)")),
    ),
}

TWO = "?x - t ?y - u"

TYPES_DIFFER = {
    "several parents moved": (
        two_typed("t - (either a b) u - a", TWO + " ?z - a"),
        two_typed("t - a u", TWO + " ?z - a"),
    ),
    "several parents and one": (two_typed("t - (either a b) u - a", TWO), two_typed("t u - a", TWO)),
    "several types of a constant moved": (
        does("(and (p k) (q l))", head="(:types a b) (:constants k - (either a b) l - a)"),
        does("(and (p k) (q l))", head="(:types a b) (:constants k - a l - a)"),
    ),
    "a type and object": (typed("a", "?x - a"), typed("a", "?x")),
    "one type and two alternatives": (typed("a b", "?x - a"), typed("a b", "?x - (either a b)")),
    "which type is above which": (two_typed("a - b b - object"), two_typed("a b")),
    "one type and two": (two_typed("a b"), two_typed("a", "?x ?y - a")),
    "the type of a constant": (
        does("(p k)", head="(:types t) (:constants k - t)"),
        does("(p k)", head="(:types t) (:constants k)"),
    ),
    "a quantified variable's type": (
        does("(forall (?x - a) (p ?x))", head="(:types a)"),
        does("(forall (?x) (p ?x))", head="(:types a)"),
    ),
}

FACTS = [
    pytest.param(verdict, *pair, id=f"{verdict}: {name}")
    for verdict, pairs in {
        "identical": IDENTICAL,
        "renamed": RENAMED,
        "operators_differ": OPERATORS_DIFFER,
        "types_differ": TYPES_DIFFER,
    }.items()
    for name, pair in pairs.items()
]


@pytest.mark.parametrize(("verdict", "one", "other"), FACTS)
def test_the_verdict_is_the_same_in_both_directions(verdict: str, one: str, other: str) -> None:
    there, back = compare_domains(one, other), compare_domains(other, one)
    assert (there.verdict.value, back.verdict.value) == (verdict, verdict)
    certificates = {compare_domains(each, each).domain_certificate for each in (one, other)}
    assert len(certificates) == (1 if there.equivalent else 2) and None not in certificates


def test_the_number_of_operators_comes_first() -> None:
    two = domain(operator("a", does="(p)"), operator("b", does="(p)"))
    assert compare_domains(two, does("(p)")).verdict.value == "operator_count"
    assert compare_domains(does("(p)", "?x - t", "(:types t)"), two).verdict.value == "operator_count"


# --- Verdicts on domains and whole tasks against judges that try all bijections; tests.measure.domains has more


@in_two_sizes(60, full=300)
def test_small_domains_against_all_bijections(cases: int) -> None:
    found = [small_pair(0, number) for number in range(cases)]
    assert [each for each in found if each.wrong] == []
    assert {each.kind for each in found} >= {"renamed", "operators_differ", "types_differ", "operator_count"}


@in_two_sizes(60, full=300)
def test_without_types_against_all_bijections(cases: int) -> None:
    seen = set()
    for number in range(cases):
        one, other = random_pair(Random(f"untyped {number}"))
        found = compare_domains(written(one), written(other))
        assert found.equivalent_untyped == equivalent(one.without_types(), other.without_types()), number
        assert found.domain_equivalent_untyped == found.equivalent_untyped
        seen.add((found.equivalent, found.equivalent_untyped))
    assert seen == {(True, True), (False, True), (False, False)}


@in_two_sizes(12, full=120)
def test_mutants_of_the_corpus_against_their_labels(cases: int) -> None:
    assert [each for number in range(cases) if (each := mutant(0, number)).wrong] == []


@in_two_sizes(15, full=250)
def test_small_tasks_against_all_bijections_and_states(cases: int) -> None:
    found = [small_task(0, number) for number in range(cases)]
    assert [each for each in found if each.wrong] == []
    assert {each.kind for each in found} >= {"task True", "task False", "placeholder True", "placeholder False"}


@in_two_sizes(25, full=300)
def test_small_problems_as_texts_against_all_bijections_and_states(cases: int) -> None:
    """Objects of types that no domain declares, and constants that only the problems declare, are among them."""
    found = [small_problems(0, number) for number in range(cases)]
    assert [each for each in found if each.wrong] == []
    assert {each.kind for each in found} >= {"problems True", "problems False"}


@in_two_sizes(12, full=250)
def test_nothing_breaks_on_mangled_domains(cases: int) -> None:
    found = [mangled_pair(0, number) for number in range(cases)]
    assert [each for each in found if each.wrong] == []
    assert {each.kind for each in found} >= {"identical", "operators_differ", "unparseable"}


# The judges themselves.


@in_two_sizes(8, full=150)
def test_the_judge_finds_what_a_search_for_isomorphisms_finds(cases: int) -> None:
    """Two ways of looking at a domain that share no code: bijections of names, and a graph of everything it says."""
    for number in range(cases):
        reference, generated = random_pair(Random(number), plain=True)
        drawn = [outline(read_written(domain_to_pddl(domain))) for domain in (reference, generated)]
        assert equivalent(reference, generated) == isomorphic(*drawn), number


def _switches(number: int) -> Domain:
    """So many operators, each with a predicate of its own."""
    operators = tuple(
        Operator(f"o{n}", (), frozenset({(f"p{n}",)}), frozenset(), frozenset(), frozenset({(f"p{n}",)}))
        for n in range(number)
    )
    return Domain("d", {}, {}, {}, operators)


def test_every_renaming_is_found_once() -> None:
    switches = _switches(3)
    found = list(renamings(switches, switches))
    assert {tuple(name for name, _ in each.operators.values()) for each in found} == set(
        permutations(("o0", "o1", "o2"))
    )
    assert len(found) == 6 and all(not faults(switches, switches, each) for each in found)


@pytest.mark.parametrize(
    ("atoms", "other", "expected"),
    [
        ({("p", "?x", "?y")}, {("q", "?y", "?x")}, "renamed"),
        ({("p", "?x", "?y")}, {("q", "?x", "?x")}, "operators_differ"),
        ({("p", "?x", "?y"), ("p", "?y", "?x")}, {("p", "?x", "?y")}, "operators_differ"),
        ({("=", "?x", "?y")}, {("=", "?y", "?x")}, "identical"),
    ],
)
def test_the_judge_on_pairs_known_by_hand(
    atoms: set[tuple[str, ...]], other: set[tuple[str, ...]], expected: str
) -> None:
    def domain(found: set[tuple[str, ...]]) -> Domain:
        parameters = (("?x", ("object",)), ("?y", ("object",)))
        return Domain("d", {}, {}, {}, (Operator("a", parameters, frozenset(found), *[frozenset()] * 3),))

    assert verdict(domain(atoms), domain(other)) == expected


def test_a_wrong_witness_has_faults() -> None:
    for number in range(100):
        reference, generated = random_pair(Random(number))
        found = next(renamings(reference, generated), None)
        if found and len(found.operators) > 1 and len({each.parts for each in reference.operators}) > 1:
            rotated = dict(
                zip(
                    found.operators,
                    [*list(found.operators.values())[1:], next(iter(found.operators.values()))],
                    strict=True,
                )
            )
            wrong = type(found)(found.types, found.constants, found.predicates, rotated)
            is_other = wrong not in list(renamings(reference, generated))
            assert bool(faults(reference, generated, wrong)) == is_other


def test_the_judge_of_tasks_uses_the_symmetries_of_the_domain() -> None:
    """Switching one thing on is the same task as switching on another; switching on both is not."""
    switches = _switches(2)
    on = frozenset({("p0",), ("p1",)})
    one, other, both = (
        (switches, Problem("p", "d", {}, on, frozenset(goal))) for goal in ({("p0",)}, {("p1",)}, {("p0",), ("p1",)})
    )
    assert tasks_equivalent(one, other) and not tasks_equivalent(one, both)
    first, second = (Problem("p", "d", {}, frozenset({(p,)}), frozenset({("p0",)})) for p in ("p0", "p1"))
    assert not tasks_equivalent((switches, first), (switches, second))


def test_random_tasks_are_of_both_kinds() -> None:
    drawn = [random_tasks(Random(number)) for number in range(100)]
    equal = sum(tasks_equivalent(*pair) for pair in drawn)
    assert 30 < equal < 80
    assert drawn[:3] == [random_tasks(Random(number)) for number in range(3)]


@pytest.mark.parametrize("name", ["switches", "ring", "meetings", "petersen", "towers", "circle", "movie"])
def test_symmetric_domains_are_decided(name: str) -> None:
    """Each recipe on each of them; ``mutant`` compares with labels, witnesses and certificates."""
    assert [each for number in range(12) if (each := mutant(1, number, (name,))).wrong] == []
    assert name in CORPUS
