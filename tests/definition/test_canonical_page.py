"""The page that defines certificates, against an implementation that follows it alone, and that against the program."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from importlib import import_module
from itertools import islice
from pathlib import Path
from random import Random

import pytest
from pddl_eval import UndecidedError, certificate
from pddl_eval.definition.canonical import LabelledGraph, encoded
from pddl_eval.definition.domains import known_domain_names
from pddl_eval.definition.model import ROOT_TYPE, Atom, Formula, Problem, State, problem_to_pddl, renamed
from pddl_eval.definition.scenes import renamed_formula

from tests.judges import certificate_page
from tests.judges.isomorphism import Structure, random_pair
from tests.support.certificate_cases import FILE
from tests.support.domain_pairs import random_domain, written
from tests.support.random_problems import VOCABULARY, random_problem
from tests.support.volume import in_two_sizes, seeded, with_seeds

PAGE = (Path(__file__).parents[2] / "infra/site/pages/guide/certificates.md").read_text(encoding="utf-8")
EXAMPLES = PAGE.partition("## Examples")[2].split("\n### ")[1:]
CASES = json.loads(FILE.read_text(encoding="utf-8"))["problems"]
TABLE = dict(re.findall(r"^\| `([\w-]+)` \| `([0-9a-f]{32})` \|$", PAGE, re.MULTILINE))

MOST_STATES = 150
"""Reachable states of a random problem that are enumerated."""


def known_pddl(name: str) -> str:
    text: str = import_module(f"pddl_eval.definition.domains.{name.replace('-', '_')}").PDDL
    return text


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.partition("\n")[0])
def test_each_example_gives_its_value_its_bytes_and_its_digits(example: str) -> None:
    blocks = dict(re.findall(r"```(pddl|json|text)\n(.*?)```", example, re.DOTALL))
    domain_text, opening, problem_text = blocks["pddl"].partition("(define (problem")
    problem_text, domain_text = opening + problem_text, domain_text or known_pddl("blocksworld")
    (digits,) = re.findall(r"^`([0-9a-f]{32})`$", example, re.MULTILINE)
    problem, domain = certificate_page.read(problem_text, domain_text)
    value = certificate_page.value(problem, domain, certificate_page.closure(problem, domain))
    assert json.loads(json.dumps(value)) == json.loads(blocks["json"])
    name = example.partition("\n")[0]
    written = {case["bytes"] for case in CASES if case["name"] == name and not case["is_placeholder"]}
    written |= {"".join(blocks["text"].split())} if "text" in blocks else set()
    assert written == {certificate_page.encoded(value).hex()}
    assert certificate_page.digest(*value) == digits == certificate(problem_text, domain_text)


def test_the_table_has_the_fingerprint_of_each_known_domain() -> None:
    nothing = "(define (problem p) (:domain d) (:init) (:goal (and)))"
    read = {name: certificate_page.read(nothing, known_pddl(name)) for name in known_domain_names()}
    assert {name: certificate_page.fingerprint(*pair) for name, pair in read.items()} == TABLE


@in_two_sizes(15, 1_500)
def test_random_problems_have_the_digits_that_the_page_says(cases: int) -> None:
    seen: Counter[str] = Counter()

    def check(seed: int) -> None:
        rng = Random(seed)
        problem, domain_text = drawn(rng)
        texts = [problem_to_pddl(each) for each in (problem, in_other_words(rng, problem, domain_text))]
        read = certificate_page.read(texts[0], domain_text)
        closed = certificate_page.closure(*read)
        for placeholder in (False, True):
            value = certificate_page.value(*read, closed, placeholder)
            digits = certificate_page.digest(*value)
            assert [certificate(text, domain_text, is_placeholder=placeholder) for text in texts] == [digits] * 2
        seen[problem.domain] += 1
        seen["unsolvable"] += closed is None
        seen["branches"] += any(branches(graph[1]) for graph in value[2:])

    with_seeds(cases, check)
    assert cases < 1_000 or min(seen[each] for each in (*VOCABULARY, "d", "unsolvable", "branches")) > cases / 50, seen


@in_two_sizes(15, 1_500)
def test_random_problems_beyond_strips_have_the_digits_that_the_page_says(cases: int) -> None:
    """With costs, a metric, goals that are no sets of atoms, and quantifiers that share the name of their variable."""
    seen: Counter[str] = Counter()

    def check(seed: int) -> None:
        rng = Random(seed)
        problem, domain_text = drawn(rng)
        if problem.domain != "d":
            return
        states = [
            *islice(certificate_page.reachable(*certificate_page.read(problem_to_pddl(problem), domain_text)), 50)
        ]
        changing = frozenset().union(*states) - frozenset.intersection(*states)
        problem = beyond_strips(rng, problem, sorted(changing))
        domain_text = domain_text.replace("(:predicates", FUNCTIONS)
        if rng.random() < 0.6:
            domain_text = domain_text.replace(":effect (and", ":effect (and (increase (total-cost) (fee))")
        domain_texts = [domain_text] * 2
        if changing and rng.random() < 0.4:
            name, *terms = rng.choice(sorted(changing))
            once = f"({' '.join([name, *['?q'] * len(terms)])})"
            formula = f"(or (forall (?q) (not {once})) (exists (?q) {once}))"
            head, middle, last = formula.partition("(exists")
            domain_texts = [
                domain_text.replace(":precondition (and", f":precondition (and {each}")
                for each in (formula, head + middle + last.replace("?q", "?r"))
            ]
            domain_text = domain_texts[0]
        texts = [problem_to_pddl(each) for each in (problem, in_other_words(rng, problem, domain_text))]
        read = certificate_page.read(texts[0], domain_text)
        closed = certificate_page.closure(*read)
        for placeholder in (False, True):
            digits = certificate_page.digest(*certificate_page.value(*read, closed, placeholder))
            both = zip(texts, domain_texts, strict=True)
            try:
                ours = [certificate(*each, is_placeholder=placeholder) for each in both]
            except UndecidedError:  # its states take more work than is given
                seen["undecided"] += 1
                return
            assert ours == [digits] * 2
        seen["all"] += 1
        seen["formulas"] += "exists" in domain_text
        seen["costs"] += "increase" in domain_text and bool(certificate_page.numbers(read[0]))
        seen["literals"] += closed is not None and bool(closed.false)
        seen["states"] += closed is not None and closed.states is not None

    with_seeds(cases, check)
    assert seen["undecided"] <= 3 + cases / 50, seen
    assert cases < 1_000 or min(seen[each] for each in ("costs", "literals", "states", "formulas")) > cases / 150, seen


FUNCTIONS = "(:functions (fee) (f ?x) (total-cost)) (:predicates"
TOTAL: Formula = ("total-cost",)
SUMS: list[Formula] = [TOTAL, ("+", TOTAL, ("*", "2", ("fee",)), "3"), ("*", "0", TOTAL), ("+", TOTAL, TOTAL)]


def beyond_strips(rng: Random, problem: Problem, atoms: list[Atom]) -> Problem:
    """The problem with numbers, perhaps a metric, and a goal that is a formula over these atoms."""
    values = {("f", name): Fraction(rng.choice(["0", "1", "-2.50", "1e2"])) for name in problem.objects}
    values |= {("fee",): Fraction(2)} if rng.random() < 0.9 else {}
    values |= {("total-cost",): Fraction(rng.randint(0, 1))} if rng.random() < 0.4 else {}
    formulas: list[tuple[str, Formula]] = []
    if atoms:
        a, b = rng.choice(atoms), rng.choice(atoms)
        conjuncts: list[Formula] = [("not", a), ("or", a, b), ("not", ("and", a, b)), ("or", ("not", a), b)]
        formulas.append(
            (":goal", rng.choice([*conjuncts, ("forall", ("?v",), ("or", a, ("not", (a[0], *["?v"] * (len(a) - 1)))))]))
        )
    if rng.random() < 0.6:
        formulas.append((":metric", (rng.choice(["minimize", "maximize"]), rng.choice(SUMS))))
    values = values if rng.random() < 0.8 else {}
    return replace(problem, goal=frozenset(), values=values, formulas=tuple(formulas))


@seeded(15, 1_500)
def test_random_graphs_have_the_form_that_the_page_says(seed: int) -> None:
    """Symmetric ones, and ones in which no refinement tells objects apart although no symmetry exchanges them."""
    rng = Random(seed)
    for structure in (*random_pair(rng, 5)[1:], of_equal_degrees(rng, "next", "near")):
        expected = certificate_page.outline_and_form(structure.colors, structure.scenes)
        form = LabelledGraph(structure.colors, structure.scenes).form
        assert encoded(form) == certificate_page.encoded(expected)


def of_equal_degrees(rng: Random, *predicates: str) -> Structure:
    """Objects of which each is once the first and once the second argument of each predicate."""
    names = [f"o{number}" for number in range(rng.randint(4, 8))]
    shuffled = {predicate: rng.sample(names, len(names)) for predicate in predicates}
    atoms = [(predicate, *pair) for predicate in shuffled for pair in zip(names, shuffled[predicate], strict=True)]
    return Structure(dict.fromkeys(names, ROOT_TYPE), {"init": tuple(atoms)})


GO = "(:action go :parameters (?a - {}) :precondition (at ?a) :effect (was {}))"


@pytest.mark.parametrize(
    ("sections", "objects"),
    [
        ("(:types car - thing)" + GO.format("(either thing car)", "?a"), "a - car b - thing"),
        ("(:types car boat - thing)" + GO.format("(either car boat)", "?a"), "a - car b - boat c - thing"),
        ("(:types car)" + GO.format("(either car object)", "?a"), "a - car b"),
        ("(:types car)" + GO.format("(either car boat)", "?a"), "a - boat b"),
        ("(:types object - thing car)" + GO.format("car", "?a"), "a - car b"),
        ("(:types a - b b - c c - d e - d)" + GO.format("d", "?a"), "a - a b - e"),
        ("(:types a - b b - c c - d e - d)" + GO.format("a", "?a"), "a - c b - e c - d"),
        ("(:constants c)" + GO.format("object", "c"), "a b c"),
        ("(:types s) (:constants b c - s)" + GO.format("s", "c"), "a b"),
        ("(:types s) (:constants b c)" + GO.format("s", "c"), "a b - s"),
        (2 * GO.format("object", "?a"), "a b"),
        (GO.format("object", "?a") + GO.format("object", "?a").replace("go", "run"), "a b"),
        (GO.format("object", "?a").replace("(was ?a)", "(and (was ?a) (increase (total-cost) 2))"), "a b"),
    ],
)
def test_declarations_count_as_the_page_says(sections: str, objects: str) -> None:
    domain = f"(define (domain d) {sections})"
    problem = f"(define (problem p) (:domain other) (:objects {objects}) (:init (at a) (at b)) (:goal (was a)))"
    for placeholder in (False, True):
        digits = certificate_page.certificate(problem, domain, placeholder)
        assert digits == certificate(problem, domain, is_placeholder=placeholder)


@pytest.mark.parametrize(
    "sections",
    [
        "(:types s t - (either s u))" + GO.format("t", "?a"),
        "(:types s t) (:constants c - (either s t))" + GO.format("object", "c"),
        GO.format("object", "a"),
        GO.format("object", "?a") + GO.format("object", "?a").replace("?a", "?b"),
    ],
)
def test_other_domains_have_no_certificates(sections: str) -> None:
    problem = "(define (problem p) (:domain d) (:objects a) (:init (at a)) (:goal (at a)))"
    with pytest.raises(UndecidedError, match="the domain is not STRIPS"):
        certificate(problem, f"(define (domain d) {sections})")


def branches(form: list[int]) -> bool:
    """True where the last member says that there are parts or branches at the head of the form."""
    cells = form[0]
    relations = form[1 + 2 * cells]
    return form[2 + 2 * cells + 4 * relations] > 0


def drawn(rng: Random) -> tuple[Problem, str]:
    """A problem with few states, and its domain as a text: one of three known domains, or a random one."""
    while True:
        name = rng.choice([*VOCABULARY, "d", "d", "d"])
        if name == "d":
            domain = random_domain(rng)
            domain_text = written(domain)
            arities = {predicate: len(types) for predicate, types in domain.predicates.items()}
            problem = over(rng, arities, domain.types, domain.constants)
        else:
            problem, domain_text = random_problem(rng, name), known_pddl(name)
        found = certificate_page.reachable(*certificate_page.read(problem_to_pddl(problem), domain_text))
        states = list(islice(found, MOST_STATES + 1))
        if len(states) <= MOST_STATES:
            if name == "d":
                state = sorted(rng.choice(states) | some_atoms(rng, arities, [*problem.objects], rng.random() < 0.3))
                problem = replace(problem, goal=frozenset(rng.sample(state, min(len(state), rng.choice([0, 1, 2, 3])))))
            return problem, domain_text


def over(rng: Random, arities: Mapping[str, int], types: Mapping[str, str], constants: Mapping[str, str]) -> Problem:
    """Up to six objects, some of undeclared types or constants again, and atoms that often have a symmetry."""
    names = [f"o{number}" for number in range(rng.randint(0, 6))]
    kinds = [rng.choice([ROOT_TYPE, *types, "strange"])] if rng.random() < 0.5 else [ROOT_TYPE, *types, "strange"]
    objects = {name: rng.choice(kinds) for name in names}
    terms = [*names, *constants]
    init = some_atoms(rng, arities, terms, rng.randint(0, 4))
    turned = dict(zip(names, rng.sample(names, len(names)), strict=True))
    if rng.random() < 0.5:
        for _ in range(6):
            init |= renamed(init, turned)
    elif binary := [name for name, arity in arities.items() if arity == 2]:  # all objects look alike, not all are
        images = [rng.sample(names, len(names)) for _ in "ab"]
        init = frozenset(
            (name, *pair)
            for name, image in zip(rng.choices(binary, k=2), images, strict=True)
            for pair in zip(names, image, strict=True)
        )
    again = {name: rng.choice(kinds) for name in constants if rng.random() < 0.2}
    return Problem("p", "d", {**objects, **again}, init, frozenset())


def some_atoms(rng: Random, arities: Mapping[str, int], terms: list[str], count: int) -> State:
    names = [name for name, arity in arities.items() if terms or not arity]
    found: list[Atom] = []
    for _ in range(count if names else 0):
        name = rng.choice(names)
        found.append((name, *(rng.choice(terms) for _ in range(arities[name]))))
    return frozenset(found)


def in_other_words(rng: Random, problem: Problem, domain_text: str) -> Problem:
    """The problem with other names for its objects, in another order; constants keep theirs."""
    own, _ = certificate_page.read(problem_to_pddl(problem), domain_text)
    names = rng.sample([*problem.objects], len(problem.objects))
    new = {name: f"n{number}" if name in own.objects else name for number, name in enumerate(names)}
    objects = {new[name]: problem.objects[name] for name in names}
    return replace(
        problem,
        objects=objects,
        init=renamed(problem.init, new),
        goal=renamed(problem.goal, new),
        values={(f[0], *(new.get(t, t) for t in f[1:])): value for f, value in problem.values.items()},
        formulas=tuple((part, renamed_formula(formula, new)) for part, formula in problem.formulas),
    )


def test_certificates_in_time() -> None:
    """What is written counts, by the page's paragraph on time; the values are written by hand from it."""
    domain = """(define (domain d) (:types t) (:constants k - t) (:predicates (p ?x - t) (q ?x - t))
        (:constraints (always (forall (?z - t) (p ?z))))
        (:durative-action a :parameters (?x - t) :duration (= ?duration 2.0)
          :condition (and (at start (p ?x)) (over all (q k))) :effect (at end (q ?x))))"""
    problem = """(define (problem x) (:domain d) (:objects a b - t) (:init (p a) (at 5.0 (p b)) (at 7 (not (p a))))
        (:goal (and (q a) (p b) (or (q b) (q a)))) (:metric minimize (total-time))
        (:constraints (and (sometime-before (q a) (p k)) (preference w (within 3 (q b))))))"""
    formulas = [
        [":duration", ["=", ["?duration"], "2"]],
        [":condition", ["and", ["at", "start", ["p", "?0"]], ["over", "all", ["q", "k"]]]],
        [":effect", ["at", "end", ["q", "?0"]]],
    ]
    operator = [[["t"]], [[], [], [], []], sorted(formulas, key=certificate_page.encoded)]
    rule = ["and", ["always", ["forall", ["?0", "-", "t"], ["p", "?0"]]]]
    fingerprint = certificate_page.digest("d", [["k", ["t"]]], [["t", ["object"]]], [operator], [rule])
    scenes = {
        "init": {("p", "a")},
        "minimize 1": {("total-time",)},
        "init as written": {("(at 5 (p 0))", "b"), ("(at 7 (not (p 0)))", "a")},
        "goal": {("q", "a"), ("p", "b")},
        "goal as written": {("(or (q 0) (q 1))", "b", "a")},
        ":constraints": {("(sometime-before (q 0) (p 1))", "a", "k"), ("(preference w (within 3 (q 0)))", "b")},
    }
    graph = certificate_page.outline_and_form({"a": "t", "b": "t", "k": "= k"}, scenes)
    assert certificate_page.digest(3, fingerprint, graph) == certificate(problem, domain)
