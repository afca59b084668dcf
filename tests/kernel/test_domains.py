"""Of each pair of domains the kernel says what the definition says, or leaves it; and it leaves few common ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from random import Random

import pytest
from pddl_eval.definition.domains import known_domain
from pddl_eval.definition.metrics import DOMAIN
from pddl_eval.definition.model import domain_to_pddl, problem_to_pddl
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.definition.pddl import parse_domain
from pddl_eval.kernel import tables

from tests.corpus import CORPUS
from tests.judges.task_equivalence import in_other_words, random_tasks
from tests.measure.domains import mangled
from tests.measure.hostile import behaviours, domains, structures
from tests.support.differential import Row, columns_of, compared, needs_kernel
from tests.support.domain_answers import DOMAIN_ANSWERS, OriginalDomain, domain_answer
from tests.support.domain_pairs import changed, random_pair, written
from tests.support.domain_variants import task_rows
from tests.support.mutations import mutate
from tests.support.random_problems import VOCABULARY, random_problem

pytestmark = [needs_kernel, pytest.mark.xdist_group("kernel")]

STRIPS = [name for name, entry in CORPUS.items() if not parse_domain(entry.domain).outside_strips]


def labelled_domains(random: Random, count: int) -> Iterator[Row]:
    """Answers of every kind to the STRIPS domains of the corpus, each with its problem."""
    originals = {name: OriginalDomain(CORPUS[name].domain) for name in STRIPS}
    for number in range(count):
        original = originals[STRIPS[number % len(STRIPS)]]
        kinds = random.sample(sorted(DOMAIN_ANSWERS), len(DOMAIN_ANSWERS))
        text, _ = next(filter(None, (domain_answer(original, kind, random) for kind in kinds)))
        problem = CORPUS[STRIPS[number % len(STRIPS)]].problem
        yield {"reference_domain": original.text, "generated_domain": text, "reference_problem": problem}


def renamed_tasks(random: Random, count: int) -> Iterator[Row]:
    """Domains of the benchmark, half of them in other words, against changed ones; with a problem of the answer's."""
    for number in range(count):
        name = sorted(VOCABULARY)[number % len(VOCABULARY)]
        known = known_domain(name)
        assert known is not None
        domain, problem = known.domain, random_problem(random, name)
        arity = {predicate: len(types) for predicate, types in domain.predicates.items()}
        if random.random() < 0.7 and all(arity.get(atom[0]) == len(atom) - 1 for atom in problem.init | problem.goal):
            domain, problem = in_other_words(random, domain, problem)
        reference, generated = map(domain_to_pddl, (domain, changed(domain, random)))
        row = {"reference_domain": reference, "generated_domain": generated}
        text = problem_to_pddl(problem)
        yield row | {"reference_problem": text, "generated_problem": random.choice([text, None])}


def without_problems(rows: Iterable[Row]) -> list[Row]:
    """The same without problems: domains are only compared, not executed."""
    return [{name: text for name, text in row.items() if name != "reference_problem"} for row in rows]


def small_tasks(random: Random, count: int) -> Iterator[Row]:
    """Random small domains and changed ones, executed from random states; both ways round."""
    for _ in range(count):
        domain, problem = random_tasks(random)[0]
        sides = [domain, changed(domain, random)]
        random.shuffle(sides)
        reference, generated = map(domain_to_pddl, sides)
        text = problem_to_pddl(problem)
        yield {"reference_domain": reference, "generated_domain": generated, "reference_problem": text}


def known_tasks(random: Random, count: int) -> Iterator[Row]:
    """Changed domains of the benchmark, executed from its problems: what the rules do not solve is searched."""
    for number in range(count):
        name = sorted(VOCABULARY)[number % len(VOCABULARY)]
        known = known_domain(name)
        assert known is not None
        sides = [changed(known.domain, random) for _ in range(2)]
        reference, generated = map(domain_to_pddl, sides)
        text = problem_to_pddl(random_problem(random, name))
        yield {"reference_domain": reference, "generated_domain": generated, "reference_problem": text}


def corpus_tasks(random: Random, count: int) -> Iterator[Row]:
    """Answers to whole tasks: the domains of the corpus with their problems, most of the answers in other words."""
    rows = [{"reference_domain": CORPUS[name].domain, "reference_problem": CORPUS[name].problem} for name in STRIPS]
    for row in islice(task_rows(rows, random.randrange(2**32), each=-(-count // len(rows))), count):
        yield {name: text for name, text in row.items() if name.startswith(("reference", "generated"))}


def random_whole_tasks(random: Random, count: int) -> Iterator[Row]:
    """Small random tasks and the same in other words, some of them changed."""
    for _ in range(count):
        row: Row = {"is_placeholder": random.random() < 0.3}
        for side, (domain, problem) in zip(("reference", "generated"), random_tasks(random), strict=True):
            row |= {f"{side}_domain": domain_to_pddl(domain), f"{side}_problem": problem_to_pddl(problem)}
        yield row


def test_labelled_answers() -> None:
    found = compared(without_problems(labelled_domains(Random(1), 68)), pair=DOMAIN)
    assert not found.differences
    assert found.share_left <= 0.1, found.left


@pytest.mark.parametrize("check_solvable", [True, False])
def test_labelled_answers_that_are_executed(check_solvable: bool) -> None:
    found = compared(labelled_domains(Random(4), 34), ScoringOptions(check_solvable=check_solvable), DOMAIN)
    assert not found.differences
    assert found.share_left <= 0.1, found.left


@pytest.mark.parametrize("tasks", [small_tasks, known_tasks, renamed_tasks, random_whole_tasks])
def test_random_tasks(tasks: Callable[[Random, int], Iterator[Row]]) -> None:
    assert not compared(tasks(Random(5), 12), pair=DOMAIN).differences


def test_whole_tasks_of_the_corpus() -> None:
    rows = list(corpus_tasks(Random(7), 34))
    found = compared(rows, pair=DOMAIN)
    assert not found.differences
    assert found.share_left <= 0.15, found.left
    scored = tables.score_domains(columns_of(rows), ScoringOptions())
    assert scored is not None
    assert {True, False} <= {*scored[0]["task_equivalent"].to_pylist()}


@pytest.mark.slow
@pytest.mark.parametrize(
    "tasks", [small_tasks, known_tasks, renamed_tasks, labelled_domains, corpus_tasks, random_whole_tasks]
)
def test_many_tasks(tasks: Callable[[Random, int], Iterator[Row]]) -> None:
    assert not compared(tasks(Random(6), 1500), pair=DOMAIN).differences


@pytest.mark.parametrize("answer", ["first", "last"])
def test_damaged_answers(answer: str) -> None:
    random = Random(2)
    rows = list(labelled_domains(random, 51))
    for row, other in zip(rows, rows[::-1], strict=True):
        for _ in range(random.randint(1, 3)):
            text = row["generated_domain"]
            if random.random() < 0.5 and len(text.split()) > 12 and "(define" in text:
                row["generated_domain"] = mangled(text, random, 1)
            elif text.strip():
                row["generated_domain"] = mutate(text, random)
        if random.random() < 0.2:
            row["generated_domain"] += other["generated_domain"]
        if random.random() < 0.3:
            row["reference_problem"] = mutate(row["reference_problem"], random)
    assert not compared(rows, ScoringOptions(answer=answer), pair=DOMAIN).differences


def test_small_random_domains() -> None:
    pairs = [random_pair(Random(f"kernel {number}")) for number in range(50)]
    rows = [dict(zip(("reference_domain", "generated_domain"), map(written, pair), strict=True)) for pair in pairs]
    assert not compared(rows, pair=DOMAIN).differences


def test_domains_of_other_rows() -> None:
    random = Random(3)
    names = [random.sample(STRIPS, 2) for _ in range(30)]
    rows = [{"reference_domain": CORPUS[one].domain, "generated_domain": CORPUS[two].domain} for one, two in names]
    assert not compared(rows, pair=DOMAIN).differences


def test_texts_that_are_no_domain() -> None:
    domain = domain_to_pddl(parse_domain(CORPUS["ferry"].domain))
    answers = [None, "", " \n", "I cannot.", "(define (domain", "(define (domain ferry)", domain[:-2], domain.upper()]
    answers += ["<think>" + domain + "</think>", "; " + domain, "Here: ; " + domain, domain + domain, "(:action a)"]
    answers += ["(" * 60, "(define (domain x) " + "(" * 60, domain.replace("(:action", "(:action ;\n", 1)]
    rows = [{"reference_domain": domain, "generated_domain": answer} for answer in answers]
    rows += [{"reference_domain": answer, "generated_domain": domain} for answer in answers if answer]
    assert not compared(rows, pair=DOMAIN).differences


@pytest.mark.slow
def test_domains_made_to_hang_or_exhaust() -> None:
    kinds = [kind for made in (domains(), structures(), behaviours()) for kind in made]
    rows = [kind.row for kind in kinds if {"reference_domain", "generated_domain"} <= kind.row.keys()]
    rows = [{name: text for name, text in row.items() if name != "generated_problem"} for row in rows]
    assert not compared(rows, pair=DOMAIN).differences
