"""Answers of known correctness to domains, and to domains together with problems, drawn by presets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from random import Random
from typing import Any, NamedTuple, cast

from pddl_eval.benchmark import PRESETS, Grade, Preset
from pddl_eval.benchmark.original import Original, write
from pddl_eval.benchmark.variants import Variant, draw_variant
from pddl_eval.definition.model import Atom, Problem
from pddl_eval.definition.pddl import parse_problem

from tests.support.domain_answers import DOMAIN_ANSWERS, DomainLabels, OriginalDomain, domain_answer, random_renaming
from tests.support.written_domain import Renaming, spelled_out, write_domain


class DomainVariant(NamedTuple):
    """An answer, the name of its recipe, and its labels."""

    text: str
    recipe: str
    labels: DomainLabels

    @property
    def row(self) -> dict[str, Any]:
        """As columns of a dataset."""
        labels = {f"label_domain_{name}": value for name, value in self.labels._asdict().items()}
        return {"generated_domain": self.text, "label_domain": self.recipe, **labels}


class TaskVariant(NamedTuple):
    """A domain and a problem in its words, and what ``task_equivalent`` must say; None where it is not known."""

    domain: DomainVariant
    problem: Variant
    equivalent: bool | None

    @property
    def row(self) -> dict[str, Any]:
        """As columns of a dataset."""
        problem = {"generated_problem": self.problem.text, "label": self.problem.recipe}
        return {**self.domain.row, **problem, "label_task_equivalent": self.equivalent}


def domain_rows(rows: list[dict[str, Any]], seed: int, each: int = 1) -> list[dict[str, Any]]:
    """The rows, each with that many answers to its ``reference_domain``, which must be usable."""
    return _rows(rows, seed, each, draw_domain_variant, lambda row: OriginalDomain(row["reference_domain"]))


def task_rows(rows: list[dict[str, Any]], seed: int, each: int = 1) -> list[dict[str, Any]]:
    """The same for ``reference_domain`` together with ``reference_problem``."""

    def read(row: Mapping[str, Any]) -> tuple[Original, OriginalDomain]:
        domain = row["reference_domain"]
        return Original(row["reference_problem"], bool(row.get("is_placeholder")), domain), OriginalDomain(domain)

    return _rows(rows, seed, each, draw_task_variant, read)


def _rows(
    rows: list[dict[str, Any]],
    seed: int,
    each: int,
    draw: Callable[[Any, Preset, Random], DomainVariant | TaskVariant],
    read: Callable[[Mapping[str, Any]], Any],
) -> list[dict[str, Any]]:
    originals = [read(row) for row in rows]
    return [
        {**row, **draw(originals[number], PRESETS["every-kind"], Random(f"{seed} {number} {answer}")).row}
        for number, row in enumerate(rows)
        for answer in range(each)
    ]


def draw_domain_variant(original: OriginalDomain, preset: Preset, random: Random) -> DomainVariant:
    """One answer to a domain: correct, unparseable or another domain by the preset's shares, then any recipe of these.

    >>> drawn = draw_domain_variant(OriginalDomain("(define (domain d) (:action a))"), PRESETS["every-kind"], Random(7))
    >>> drawn.recipe, drawn.labels.verdict
    ('operator_doubled', 'operator_count')
    """
    (grade,) = random.choices(list(preset.shares), list(preset.shares.values()))
    if grade not in (Grade.CORRECT, Grade.UNPARSEABLE):
        grade = Grade.OPEN
    names = [name for name, recipe in DOMAIN_ANSWERS.items() if recipe.grade is grade]
    for name in random.sample(names, len(names)):
        if found := domain_answer(original, name, random):
            return DomainVariant(found[0], name, found[1])
    raise AssertionError(f"no recipe of {grade} applies")  # each grade has one that always does


def draw_task_variant(originals: tuple[Original, OriginalDomain], preset: Preset, random: Random) -> TaskVariant:
    """One answer to a domain and its problem: each by the preset's shares, the problem in the words of the domain.

    Both being equivalent, so is the task: the renaming that made the domain made the problem. It is not where the
    domains are not, and where the problems differ in a number that no renaming changes. All else is left open, because
    a domain's symmetries can make up for a difference.
    """
    original, domain = originals
    problem = draw_variant(original, preset, random)
    found = parse_problem(problem.text, dict(domain.domain.constants)) if problem.labels[0] else None
    if random.random() < 0.5:
        renaming = random_renaming(domain.domain, random, _names(found))
        changed = domain.domain.renamed(renaming)
        same = spelled_out(changed) == spelled_out(domain.domain)
        labels = DomainLabels(True, "identical" if same else "renamed")
        answer = DomainVariant(write_domain(changed, random), "all_renamed", labels)
        if found is not None:
            found = _in_words(found, renaming)
            problem = problem._replace(text=write(found, random))
    else:
        answer = draw_domain_variant(domain, preset, random)
        while answer.labels[1] == "renamed":  # in words that the problem does not have
            answer = draw_domain_variant(domain, preset, random)
    return TaskVariant(answer, problem, _task_label(original, answer, problem, found))


def _names(problem: Problem | None) -> frozenset[str]:
    """Every name in a problem."""
    sides = [problem.init, problem.goal] if problem else []
    names = {name for side in sides for atom in side for name in atom}
    return frozenset(names).union(*([problem.objects, problem.objects.values()] if problem else []))


def _in_words(problem: Problem, renaming: Renaming) -> Problem:
    """The problem in a domain's new words; its objects keep their names, which are no constant's."""
    atoms = (
        {cast(Atom, renaming.atom(atom, problem.objects)) for atom in side} for side in (problem.init, problem.goal)
    )
    init, goal = map(frozenset, atoms)
    types = {name: renaming.types.get(type_, type_) for name, type_ in problem.objects.items()}
    return replace(problem, objects=types, init=init, goal=goal)


def _task_label(original: Original, domain: DomainVariant, problem: Variant, found: Problem | None) -> bool | None:
    if domain.labels.equivalent is False or found is None:
        return False
    if problem.recipe == "wrong_domain" or domain.labels.equivalent is None:
        return None  # whether the problem is to name its domain is not said anywhere
    if problem.labels.equivalent:
        return True
    sizes = [(len(each.objects), len(each.init)) for each in (original.problem, found)]
    return False if sizes[0] != sizes[1] else None
