"""Answers to references with what a right judge must say about each, drawn by named mixes; tables of them.

How an answer is made and why its labels hold is in ``answers`` and ``domain_answers``. No file is opened here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from random import Random
from typing import Any, NamedTuple, cast

import pyarrow as pa

from pddl_eval.benchmark.answers import RECIPES, Grade, Labels
from pddl_eval.benchmark.domain_answers import (
    DOMAIN_ANSWERS,
    DomainLabels,
    OriginalDomain,
    domain_answer,
    random_renaming,
)
from pddl_eval.benchmark.original import Original, write
from pddl_eval.benchmark.written_domain import Renaming, spelled_out, write_domain
from pddl_eval.errors import UserError, did_you_mean
from pddl_eval.model import Atom, Problem
from pddl_eval.options import ScoringOptions
from pddl_eval.parsing import parse_problem
from pddl_eval.table import values_of

VARIANT_FIELDS = (
    pa.field("generated_problem", pa.string()),
    pa.field("label", pa.string()),
    *(pa.field(f"label_{column}", pa.bool_()) for column in Labels._fields),
)
"""What a variant adds to its reference's row: the answer, its recipe, and what the score columns must say, if known."""

DOMAIN_FIELDS = (
    pa.field("generated_domain", pa.string()),
    pa.field("label_domain", pa.string()),
    pa.field("label_domain_equivalent", pa.bool_()),
    pa.field("label_domain_verdict", pa.string()),
)
"""The same for a variant of a domain."""

TASK_FIELDS = (
    *DOMAIN_FIELDS,
    *VARIANT_FIELDS[:2],
    pa.field("label_task_equivalent", pa.bool_()),
)
"""The same for a variant of a domain together with a problem in its words."""


class Variant(NamedTuple):
    """An answer, the name of its recipe, and its labels."""

    text: str
    recipe: str
    labels: Labels | DomainLabels

    @property
    def values(self) -> tuple[Any, ...]:
        """What it adds to its reference's row."""
        return (self.text, self.recipe, *self.labels)


class TaskVariant(NamedTuple):
    """A domain and a problem in its words, and what ``task_equivalent`` must say; None where it is not known."""

    domain: Variant
    problem: Variant
    equivalent: bool | None

    @property
    def values(self) -> tuple[Any, ...]:
        """What it adds to its reference's row."""
        return (*self.domain.values, self.problem.text, self.problem.recipe, self.equivalent)


Draw = Callable[[Any, int, int], Variant | TaskVariant]
"""The answer to a reference (as ``Kind.original`` reads it), given the number of its row and that of the answer."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What answers are made to: the columns of references, how a row is read, what a variant adds to the row.

    ``used`` are all columns that ``original`` reads; it raises ``UserError`` where the row's reference cannot be used.
    ``names`` are the dataset's own for some of the columns, those that a variant adds among them.
    """

    columns: tuple[str, ...]
    used: frozenset[str]
    original: Callable[[Mapping[str, Any]], Any]
    fields: tuple[pa.Field, ...]
    draw: Callable[[Any, Preset, Random], Variant | TaskVariant]
    names: Mapping[str, str] = field(default_factory=dict)

    def name(self, meaning: str) -> str:
        """The dataset's name for the column with that meaning."""
        return self.names.get(meaning, meaning)


@dataclass(frozen=True, slots=True)
class Preset:
    """``shares`` of the grades, of any sum; ``weights`` of recipes within their grade, 1 where none is given."""

    shares: Mapping[Grade, float]
    weights: Mapping[str, float] = field(default_factory=dict)


PRESETS: Mapping[str, Preset] = {
    # GPT-4o: 96.1 % parseable, 94.4 % solvable, 24.8 % correct; added types are its commonest mistake (figure 4).
    "zero-shot": Preset(
        {Grade.UNPARSEABLE: 3.9, Grade.UNSOLVABLE: 1.7, Grade.SOLVABLE: 69.6, Grade.CORRECT: 24.8},
        {"types_added": 6, "in_prose": 3, "in_a_fence": 3, "renamed": 3, "identical": 0},
    ),
    # Gemma 2 27B after fine-tuning: 34.2 % correct, bare PDDL in the dataset's own form.
    "fine-tuned": Preset(
        {Grade.UNPARSEABLE: 2.0, Grade.UNSOLVABLE: 4.0, Grade.SOLVABLE: 59.8, Grade.CORRECT: 34.2},
        {"identical": 4, "shuffled": 3, "types_added": 0.1, "in_prose": 0, "in_a_fence": 0, "commented": 0},
    ),
    # As many of each grade as it has recipes, so that every recipe comes up about equally often.
    "every-kind": Preset(
        {Grade.CORRECT: 10, Grade.SOLVABLE: 10, Grade.UNSOLVABLE: 4, Grade.OPEN: 1, Grade.UNPARSEABLE: 7}
    ),
}
"""Mixes of answers, after the results that the paper reports for language models (its section 5, figure 3).

The paper gives shares of parseable, solvable and correct answers; which mistakes make up the rest are choices of this
project, as are the shares that it does not give.
"""


def draw_variant(original: Original, preset: Preset, random: Random) -> Variant:
    """One answer: its grade by the preset's shares, its recipe among those of the grade that apply.

    The recipes are tried in an order drawn by weight (Efraimidis and Spirakis). Each grade has one that applies to
    every original but those without any initial atom; where none does, the answer is the original rewritten.

    >>> held = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"
    >>> drawn = draw_variant(Original(held), PRESETS["every-kind"], Random(1))
    >>> drawn.recipe, drawn.labels.equivalent
    ('identical', True)
    """
    grade = random.choices(list(preset.shares), list(preset.shares.values()))[0]
    weights = {name: preset.weights.get(name, 1) for name, recipe in RECIPES.items() if recipe.grade is grade}
    keys = {name: random.random() ** (1 / weight) for name, weight in weights.items() if weight > 0}
    order = [*sorted(keys, key=keys.__getitem__, reverse=True), "shuffled"]
    return next(variant for name in order if (variant := variant_of(original, name, random)))


def variant_of(original: Original, recipe: str, random: Random) -> Variant | None:
    """An answer by that recipe, None where it does not apply; ``KeyError`` where there is no such recipe.

    A solution is promised only where the original is known to have one, and none where the answer is ill-typed.
    """
    made = RECIPES[recipe].make(original, random)
    if made is None:
        return None
    labels = RECIPES[recipe].labels
    if labels.solvable and original.ill_typed(made if isinstance(made, Problem) else original.problem):
        labels = labels._replace(solvable=False)
    elif not original.closures and labels.solvable:
        labels = labels._replace(solvable=None)
    return Variant(write(made, random) if isinstance(made, Problem) else made, recipe, labels)


def draw_domain_variant(original: OriginalDomain, preset: Preset, random: Random) -> Variant:
    """One answer to a domain: correct, unparseable or another domain by the preset's shares, then any recipe of these.

    >>> drawn = draw_domain_variant(OriginalDomain("(define (domain d) (:action a))"), PRESETS["every-kind"], Random(7))
    >>> drawn.recipe, drawn.labels.verdict
    ('parameter_added', 'operators_differ')
    """
    (grade,) = random.choices(list(preset.shares), list(preset.shares.values()))
    if grade not in (Grade.CORRECT, Grade.UNPARSEABLE):
        grade = Grade.OPEN
    names = [name for name, recipe in DOMAIN_ANSWERS.items() if recipe.grade is grade]
    for name in random.sample(names, len(names)):
        if found := domain_answer(original, name, random):
            return Variant(found[0], name, found[1])
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
        answer = Variant(write_domain(changed, random), "all_renamed", labels)
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


def _task_label(original: Original, domain: Variant, problem: Variant, found: Problem | None) -> bool | None:
    if domain.labels.equivalent is False or found is None:
        return False
    if problem.recipe == "wrong_domain" or domain.labels.equivalent is None:
        return None  # whether the problem is to name its domain is not said anywhere
    if problem.labels.equivalent:
        return True
    sizes = [(len(each.objects), len(each.init)) for each in (original.problem, found)]
    return False if sizes[0] != sizes[1] else None


def _original_problem(row: Mapping[str, Any]) -> Original:
    domain = row.get("domain") or row.get("reference_domain")
    return Original(row["reference_problem"], bool(row.get("is_placeholder")), domain)


def _original_domain(row: Mapping[str, Any]) -> OriginalDomain:
    return OriginalDomain(row["reference_domain"] or "")


def _original_task(row: Mapping[str, Any]) -> tuple[Original, OriginalDomain]:
    return _original_problem({**row, "domain": None}), _original_domain(row)


_OF_PROBLEMS = frozenset({"reference_problem", "is_placeholder", "domain", "reference_domain"})

PROBLEMS = Kind(("reference_problem",), _OF_PROBLEMS, _original_problem, VARIANT_FIELDS, draw_variant)
DOMAINS = Kind(
    ("reference_domain",), frozenset({"reference_domain"}), _original_domain, DOMAIN_FIELDS, draw_domain_variant
)
TASKS = Kind(("reference_domain", "reference_problem"), _OF_PROBLEMS, _original_task, TASK_FIELDS, draw_task_variant)
KINDS = {"problems": PROBLEMS, "domains": DOMAINS, "tasks": TASKS}


def by_preset(preset: Preset, seed: int, kind: Kind = PROBLEMS) -> Draw:
    """Draws by a preset; an answer depends on the original, the seed and the two numbers, and on nothing else."""
    return partial(_drawn, kind.draw, preset, seed)


def _drawn(  # noqa: PLR0913 (picklable: a partial with the numbers of a row)
    draw: Callable[[Any, Preset, Random], Variant | TaskVariant],
    preset: Preset,
    seed: int,
    original: Any,
    row: int,
    answer: int,
) -> Variant | TaskVariant:
    return draw(original, preset, Random(f"{seed} {row} {answer}"))


def kind_of(schema: pa.Schema, kind: str | None, columns: Mapping[str, str] | None = None) -> Kind:
    """The kind of that name; without a name domains where there are no problems. ``columns`` as for scores.

    Raises ``UserError`` where a column of the kind is missing, or where a column would be there twice.
    """
    domain, problem = map(ScoringOptions(columns=columns).column, ("reference_domain", "reference_problem"))
    found = KINDS[kind or ("domains" if domain in schema.names and problem not in schema.names else "problems")]
    names = dict(columns or {})
    fields = tuple(each.with_name(names.get(each.name, each.name)) for each in found.fields)
    found = replace(found, names=names, fields=fields)
    variants_schema(schema, found)
    return found


def variants_schema(schema: pa.Schema, kind: Kind = PROBLEMS) -> pa.Schema:
    """The schema of the variants of references with this schema.

    Raises ``UserError`` where the column of references is missing, or where a column would be there twice.
    """
    for column in map(kind.name, kind.columns):
        if column not in schema.names:
            raise UserError(f"there is no column {column}; {did_you_mean(column, schema.names, 'columns')}")
    taken = [field.name for field in kind.fields if field.name in schema.names]
    if taken:
        raise UserError(f"the references have a column {taken[0]} already")
    return pa.schema([*schema, *kind.fields])


def variants_table(
    references: pa.Table, first_row: int, draw: Draw, per_reference: int = 1, kind: Kind = PROBLEMS
) -> pa.Table:
    """So many variants of each reference, in the references' order; unusable references have none.

    Unusable is a reference that cannot be read or solved. ``first_row`` is the number of the table's first row in its
    dataset.
    """
    names = [field.name for field in kind.fields]
    there = [meaning for meaning in kind.used if kind.name(meaning) in references.column_names]
    values = {meaning: values_of(references[kind.name(meaning)]) for meaning in there}
    taken: list[int] = []
    answers: list[dict[str, Any]] = []
    for place in range(len(references)):
        try:
            original = kind.original({name: column[place] for name, column in values.items()})
        except ValueError:
            continue
        for answer in range(per_reference):
            taken.append(place)
            answers.append(dict(zip(names, draw(original, first_row + place, answer).values, strict=True)))
    added = pa.Table.from_pylist(answers, pa.schema(kind.fields))
    return beside(references.take(pa.array(taken, pa.int64())), added)


def beside(table: pa.Table, added: pa.Table) -> pa.Table:
    """The table with the other's columns after its own."""
    return pa.Table.from_arrays([*table.columns, *added.columns], schema=pa.schema([*table.schema, *added.schema]))
