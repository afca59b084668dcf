"""Verdicts on domains and whole tasks against judges that try all bijections; the same comparisons as the long run."""

from __future__ import annotations

from itertools import permutations
from random import Random

import pytest
from pddl_eval.definition.model import Domain, Operator, Problem, domain_to_pddl

from tests.benchmark.written_domain import outline, read_written
from tests.corpus import CORPUS
from tests.equivalence.domain_judge import equivalent, faults, renamings, verdict
from tests.equivalence.random_domains import random_pair
from tests.equivalence.task_judge import random_tasks, tasks_equivalent
from tests.measure.domains import isomorphic, mangled_pair, mutant, small_pair, small_problems, small_task
from tests.volume import in_two_sizes


@in_two_sizes(60, full=300)
def test_small_domains_against_all_bijections(cases: int) -> None:
    found = [small_pair(0, number) for number in range(cases)]
    assert [each for each in found if each.wrong] == []
    assert {each.kind for each in found} >= {"renamed", "operators_differ", "types_differ", "operator_count"}


@in_two_sizes(30, full=120)
def test_mutants_of_the_corpus_against_their_labels(cases: int) -> None:
    assert [each for number in range(cases) if (each := mutant(0, number)).wrong] == []


@in_two_sizes(40, full=250)
def test_small_tasks_against_all_bijections_and_states(cases: int) -> None:
    found = [small_task(0, number) for number in range(cases)]
    assert [each for each in found if each.wrong] == []
    assert {each.kind for each in found} >= {"task True", "task False", "placeholder True", "placeholder False"}


@in_two_sizes(60, full=300)
def test_small_problems_as_texts_against_all_bijections_and_states(cases: int) -> None:
    """Objects of types that no domain declares, and constants that only the problems declare, are among them."""
    found = [small_problems(0, number) for number in range(cases)]
    assert [each for each in found if each.wrong] == []
    assert {each.kind for each in found} >= {"problems True", "problems False"}


@in_two_sizes(30, full=250)
def test_nothing_breaks_on_mangled_domains(cases: int) -> None:
    found = [mangled_pair(0, number) for number in range(cases)]
    assert [each for each in found if each.wrong] == []
    assert {each.kind for each in found} >= {"identical", "operators_differ", "unparseable"}


# The judges themselves.


@in_two_sizes(20, full=150)
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
