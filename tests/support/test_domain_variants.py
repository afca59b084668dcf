"""Labels of variants of domains: against a judge that tries all bijections; that every recipe applies somewhere."""

from __future__ import annotations

from collections import Counter
from functools import cache
from random import Random

import pytest
from pddl_eval import compare_domains, compare_tasks
from pddl_eval.benchmark import PRESETS
from pddl_eval.benchmark.answers import Grade
from pddl_eval.benchmark.original import Original
from pddl_eval.definition.model import domain_to_pddl, problem_to_pddl
from pddl_eval.definition.pddl import DomainError, parse_domain, parse_problem
from pddl_eval.errors import UserError

from tests.corpus import ADL, CORPUS
from tests.judges.domain_equivalence import verdict
from tests.judges.task_equivalence import declared, random_tasks, tasks_equivalent
from tests.measure.domains import mangled
from tests.support.domain_answers import DOMAIN_ANSWERS, OriginalDomain, domain_answer, labels_of
from tests.support.domain_pairs import random_domain, renamed
from tests.support.domain_variants import draw_domain_variant, draw_task_variant, task_rows
from tests.support.volume import in_two_sizes
from tests.support.written_domain import read_written, spelled_out


@cache
def original_of(name: str) -> OriginalDomain:
    return OriginalDomain(CORPUS[name].domain)


@in_two_sizes(20, full=250)
def test_labels_are_what_all_bijections_say(cases: int) -> None:
    tried: Counter[str] = Counter()
    open_labels = 0
    for number in range(cases):
        random = Random(number)
        domain = random_domain(random, 2, 3, 2)
        original = OriginalDomain(domain_to_pddl(domain))
        for name in random.sample(sorted(DOMAIN_ANSWERS), 10):
            found = domain_answer(original, name, random)
            if found is None or DOMAIN_ANSWERS[name].grade is Grade.UNPARSEABLE:
                continue
            text, labels = found
            said = verdict(domain, parse_domain(text))
            assert labels.verdict in (None, said), (name, said, original.text, text)
            assert labels.equivalent in (None, said in ("identical", "renamed")), (name, said, original.text, text)
            tried[name] += 1
            open_labels += labels.equivalent is None
    assert len(tried) > 20
    assert open_labels < tried.total() / 20


def test_invariants_never_tell_a_domain_from_itself_in_other_words() -> None:
    for number in range(60):
        domain = random_domain(Random(number))
        one, other = (read_written(domain_to_pddl(each)) for each in (domain, renamed(domain, Random(number))))
        assert labels_of(one, other).equivalent is not False


@pytest.mark.parametrize("name", ["wires", "deliveries", "shop", "lift-adl", "towers"])
def test_every_domain_gets_every_grade_of_answer(name: str) -> None:
    drawn = [draw_domain_variant(original_of(name), PRESETS["every-kind"], Random(seed)) for seed in range(40)]
    assert {DOMAIN_ANSWERS[each.recipe].grade for each in drawn} == {Grade.CORRECT, Grade.OPEN, Grade.UNPARSEABLE}
    assert drawn[0] == draw_domain_variant(original_of(name), PRESETS["every-kind"], Random(0))


@pytest.mark.parametrize("name", DOMAIN_ANSWERS)
def test_every_recipe_applies_to_some_domain(name: str) -> None:
    for seed in range(10):
        for domain in ("tyres", "woodwork", "courier", "wires"):
            if found := domain_answer(original_of(domain), name, Random(seed)):
                if DOMAIN_ANSWERS[name].grade is Grade.CORRECT:
                    assert found[1].equivalent and read_written(found[0])
                if DOMAIN_ANSWERS[name].grade is Grade.UNPARSEABLE:
                    with pytest.raises(DomainError):
                        parse_domain(found[0])
                return
    pytest.fail(f"{name} applies nowhere")


def test_the_commonest_mistakes_have_the_verdict_that_they_should() -> None:
    expected = {
        "literal_lost": "operators_differ",
        "arguments_swapped": "operators_differ",
        "types_lost": "types_differ",
        "parameter_type_changed": "types_differ",
        "operator_lost": "operator_count",
        "all_renamed": "renamed",
        "unused_declared": "identical",
    }
    for name, said in expected.items():
        found = domain_answer(original_of("logistics"), name, Random(3))
        assert found and found[1].verdict == said, name


def test_adl_and_costs_are_kept_in_variants() -> None:
    for name, words in {"wires": ":derived exists or", "deliveries": "increase", "shop": "when forall imply"}.items():
        found = domain_answer(original_of(name), "all_renamed", Random(0))
        assert found and all(word in found[0] for word in words.split())


def test_a_type_that_is_named_only_as_a_parent_is_one() -> None:
    text = "(define (domain d) (:types a - b) (:action o :parameters (?x - b) :effect (p ?x)))"
    assert dict(read_written(text).types) == {"a": "b", "b": "object"}
    assert spelled_out(read_written(text)) != spelled_out(read_written(text.replace("?x - b", "?x - a")))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no domain",
        "(define (domain d) (:predicates (p)))",
        "(define (domain d) (:durative-action a :parameters ()))",
        "(define (domain d) (:action a :parameters () :cost 1))",
    ],
)
def test_what_no_variants_are_made_of(text: str) -> None:
    with pytest.raises(UserError):
        OriginalDomain(text)


@in_two_sizes(20, full=400)
def test_a_mangled_reference_is_refused_or_its_labels_hold(cases: int) -> None:
    refused = 0
    for number in range(cases):
        random = Random(number)
        reference = mangled(CORPUS[random.choice(sorted(CORPUS))].domain, random, random.choice((1, 1, 2)))
        try:
            original = OriginalDomain(reference)
        except UserError:
            refused += 1
            continue
        for name in random.sample(sorted(DOMAIN_ANSWERS), 3):
            if found := domain_answer(original, name, random):
                said = compare_domains(reference, found[0]).verdict.value
                assert found[1].verdict in (None, said), (number, name, reference, found[0])
    assert 0 < refused < cases


@in_two_sizes(20, full=150)
def test_labels_of_tasks_are_what_all_bijections_and_states_say(cases: int) -> None:
    tried: Counter[bool | None] = Counter()
    for number in range(cases):
        random = Random(number)
        domain, problem = declared(random_tasks(random)[0])
        text, is_placeholder = domain_to_pddl(domain), random.random() < 0.3
        originals = Original(problem_to_pddl(problem), is_placeholder, text), OriginalDomain(text)
        answer = draw_task_variant(originals, PRESETS["every-kind"], random)
        tried[answer.equivalent] += 1
        if answer.problem.labels[0] and answer.domain.labels[1] != "unparseable" and answer.domain.text.strip():
            changed = parse_domain(answer.domain.text)
            generated = changed, parse_problem(answer.problem.text, changed.constants)
            said = tasks_equivalent((domain, problem), generated, is_placeholder)
            assert answer.equivalent in (None, said), (number, answer)
    assert len(tried) == 3


LARGE = {"bar", "depots", "drivers", "logistics", "warehouse", "woodwork"}
"""Of some of their variants all states are enumerated."""


@pytest.mark.parametrize(
    "names", [CORPUS.keys() - {*ADL, "deliveries", *LARGE}, pytest.param(LARGE, marks=pytest.mark.slow)]
)
def test_variants_of_tasks_are_scored_as_their_labels_say(names: set[str]) -> None:
    columns = {"reference_domain": "domain", "reference_problem": "problem"}
    references = [{column: getattr(CORPUS[name], part) for column, part in columns.items()} for name in sorted(names)]
    rows = task_rows(references, 1, each=2)
    labels = Counter(row["label_task_equivalent"] for row in rows)
    assert labels[True] > 2 and labels[False] > 2
    for row in rows:
        texts = [row[f"{side}_{what}"] for side in ("reference", "generated") for what in ("domain", "problem")]
        assert row["label_task_equivalent"] in (None, compare_tasks(*texts).equivalent), row
