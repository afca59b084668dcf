"""Answers to references with what a right judge must say about each, drawn by named mixes; tables of them.

How an answer is made and why its labels hold is in ``answers`` and ``domain_answers``. No file is opened here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Any, NamedTuple

import pyarrow as pa

from pddl_eval.benchmark.answers import RECIPES, Grade, Labels
from pddl_eval.benchmark.domain_answers import DOMAIN_ANSWERS, DomainLabels, OriginalDomain, domain_answer
from pddl_eval.benchmark.original import Original, write
from pddl_eval.errors import UserError
from pddl_eval.model import Problem
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


class Variant(NamedTuple):
    """An answer, the name of its recipe, and its labels."""

    text: str
    recipe: str
    labels: Labels | DomainLabels


Draw = Callable[[Any, int, int], Variant]
"""The answer to a reference (as ``Kind.original`` reads it), given the number of its row and that of the answer."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What answers are made to: the column of references, how a row of it is read, what a variant adds to the row.

    ``original`` raises ``UserError`` where the row's reference cannot be used.
    """

    column: str
    used: frozenset[str]
    original: Callable[[Mapping[str, Any]], Any]
    fields: tuple[pa.Field, ...]
    by_preset: Callable[[Preset, int], Draw]


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


def by_preset(preset: Preset, seed: int) -> Draw:
    """Draws by a preset; an answer depends on the original, the seed and the two numbers, and on nothing else."""
    return partial(_drawn, draw_variant, preset, seed)


def domains_by_preset(preset: Preset, seed: int) -> Draw:
    """The same for domains."""
    return partial(_drawn, draw_domain_variant, preset, seed)


def _drawn(  # noqa: PLR0913 (picklable: a partial with the numbers of a row)
    draw: Callable[[Any, Preset, Random], Variant], preset: Preset, seed: int, original: Any, row: int, answer: int
) -> Variant:
    return draw(original, preset, Random(f"{seed} {row} {answer}"))


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


def _original_problem(row: Mapping[str, Any]) -> Original:
    return Original(row["reference_problem"], bool(row.get("is_placeholder")), row.get("domain"))


def _original_domain(row: Mapping[str, Any]) -> OriginalDomain:
    return OriginalDomain(row["reference_domain"] or "")


PROBLEMS = Kind(
    "reference_problem",
    frozenset({"reference_problem", "is_placeholder", "domain"}),
    _original_problem,
    VARIANT_FIELDS,
    by_preset,
)
DOMAINS = Kind(
    "reference_domain",
    frozenset({"reference_domain"}),
    _original_domain,
    DOMAIN_FIELDS,
    domains_by_preset,
)
KINDS = {"problems": PROBLEMS, "domains": DOMAINS}


def kind_of(schema: pa.Schema, kind: str | None) -> Kind:
    """The kind of that name; without a name that of the first column of references that there is.

    Raises ``UserError`` where the kind's column is missing, or where a column would be there twice.
    """
    present = [each for each in KINDS.values() if each.column in schema.names]
    found = KINDS[kind] if kind else next(iter(present), PROBLEMS)
    variants_schema(schema, found)
    return found


def variants_schema(schema: pa.Schema, kind: Kind = PROBLEMS) -> pa.Schema:
    """The schema of the variants of references with this schema.

    Raises ``UserError`` where the column of references is missing, or where a column would be there twice.
    """
    if kind.column not in schema.names:
        raise UserError(f"there is no column {kind.column}; the columns are {', '.join(schema.names)}")
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
    values = {name: values_of(references[name]) for name in kind.used.intersection(references.column_names)}
    taken: list[int] = []
    answers: list[dict[str, Any]] = []
    for place in range(len(references)):
        try:
            original = kind.original({name: column[place] for name, column in values.items()})
        except ValueError:
            continue
        for answer in range(per_reference):
            text, recipe, labels = draw(original, first_row + place, answer)
            taken.append(place)
            answers.append(dict(zip(names, (text, recipe, *labels), strict=True)))
    added = pa.Table.from_pylist(answers, pa.schema(kind.fields))
    return beside(references.take(pa.array(taken, pa.int64())), added)


def beside(table: pa.Table, added: pa.Table) -> pa.Table:
    """The table with the other's columns after its own."""
    return pa.Table.from_arrays([*table.columns, *added.columns], schema=pa.schema([*table.schema, *added.schema]))
