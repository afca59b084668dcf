"""Answers to references with what a right judge must say about each, drawn by named mixes; tables of them.

How an answer is made and why its labels hold is in ``answers``. No file is opened here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, NamedTuple

import polars as pl
import pyarrow as pa

from pddl_eval.benchmark.answers import RECIPES, Grade, Labels
from pddl_eval.benchmark.original import Original, write
from pddl_eval.datasets import is_text, rows_of
from pddl_eval.definition.metrics import Row, domain_of
from pddl_eval.definition.model import Problem
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.errors import UserError, did_you_mean

PLAIN = ScoringOptions()
"""Columns are called what they mean."""


class Variant(NamedTuple):
    """An answer, the name of its recipe, and its labels: what score columns must say, None where it is not known."""

    text: str
    recipe: str
    labels: Labels | tuple[bool]

    @property
    def values(self) -> tuple[Any, ...]:
        """What it adds to its reference's row."""
        return (self.text, self.recipe, *self.labels)


class Kind(NamedTuple):
    """What answers are made to: ``original`` reads it from the columns ``reads``, ``draw`` makes one by a preset.

    ``original`` raises ``ValueError`` for a row that cannot be used. A variant adds ``fields`` to its reference's row:
    the answer, its recipe, and its labels. The first of ``reads`` has to be there.
    """

    reads: tuple[str, ...]
    fields: tuple[pa.Field, ...]
    original: Callable[[Row, ScoringOptions], Any]
    draw: Callable[[Any, Preset, Random], Variant]


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


def _problem(row: Row, options: ScoringOptions) -> Original:
    return Original(row["reference_problem"], bool(row.get("is_placeholder")), domain_of(row, options))


VARIANT_FIELDS = (
    pa.field("generated_problem", pa.string()),
    pa.field("label", pa.string()),
    *(pa.field(f"label_{column}", pa.bool_()) for column in Labels._fields),
)
"""What an answer to a problem adds to its reference's row."""

PROBLEMS = Kind(
    ("reference_problem", "is_placeholder", "domain", "reference_domain"), VARIANT_FIELDS, _problem, draw_variant
)


@dataclass(frozen=True)
class Variants:
    """Which answers are made to references of a kind: by which preset, how many to each (``per_row``), by which seed.

    An answer depends on the original, the seed, the number of its row and its own, and on nothing else.

    >>> held = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"
    >>> Variants(PRESETS["fine-tuned"], seed=2).table(pa.table({"reference_problem": [held]}))["label"].to_pylist()
    ['shuffled']
    """

    preset: Preset
    kind: Kind = PROBLEMS
    per_row: int = 1
    seed: int = 0
    options: ScoringOptions = PLAIN

    def schema(self, schema: pa.Schema) -> pa.Schema:
        """The schema of the answers to references with this schema; raises ``UserError`` as ``widened`` does."""
        return widened(schema, self.kind.reads, self.kind.fields, self.options)

    def table(self, references: pa.Table, first_row: int = 0) -> pa.Table:
        """The answers to each reference, in the references' order; none where it cannot be read or solved.

        ``first_row`` is the number of the table's first row in its dataset.
        """
        return widened_table(references, first_row, self.kind.reads, self.kind.fields, self.options, self._answers)

    def counted(self, table: pa.Table) -> pl.DataFrame:
        """How many ``answers`` have the same recipe and labels."""
        labels = [self.options.column(field.name) for field in self.kind.fields[1:]]
        return pl.DataFrame(table.select(labels)).group_by(labels, maintain_order=True).len("answers")

    def _answers(self, row: Row, number: int) -> Iterator[tuple[Any, ...]]:
        try:
            original = self.kind.original(row, self.options)
        except ValueError:
            return
        for answer in range(self.per_row):
            yield self.kind.draw(original, self.preset, Random(f"{self.seed} {number} {answer}")).values


def require_texts(schema: pa.Schema, meanings: Iterable[str], options: ScoringOptions) -> None:
    """Raise ``UserError`` where one of these columns is there and holds no text."""
    for name in map(options.column, meanings):
        if name in schema.names and not is_text(type_ := schema.field(name).type):
            raise UserError(f"column {name} should hold text, but its type is {type_}")


def widened(
    schema: pa.Schema,
    reads: Sequence[str],
    fields: Sequence[pa.Field],
    options: ScoringOptions,
    replaced: Sequence[str] = (),
) -> pa.Schema:
    """The schema with these fields at its end, without those that they replace.

    Raises ``UserError`` where the first column that is read is missing, where one that should hold text does not, or
    where a column would be there twice.
    """
    column = options.column(reads[0])
    if column not in schema.names:
        raise UserError(f"there is no column {column}; {did_you_mean(column, schema.names, 'columns')}")
    require_texts(schema, {*reads} - {"is_placeholder", "reference_id"}, options)
    kept = [each for each in schema if each.name not in map(options.column, replaced)]
    added = [each.with_name(options.column(each.name)) for each in fields]
    if twice := {each.name for each in kept} & {each.name for each in added}:
        raise UserError(f"the rows have a column {min(twice)} already")
    return pa.schema([*kept, *added])


def widened_table(  # noqa: PLR0913 (what is read, and what is made of it)
    table: pa.Table,
    first_row: int,
    reads: Sequence[str],
    fields: Sequence[pa.Field],
    options: ScoringOptions,
    made: Callable[[Row, int], Iterable[tuple[Any, ...]]],
    replaced: Sequence[str] = (),
) -> pa.Table:
    """Each row as often as something is ``made`` of it and its number: the values of the fields (``widened``).

    ``made`` is given the columns of the meanings in ``reads``, as far as there are such columns.
    """
    schema = widened(table.schema, reads, fields, options, replaced)
    there = [meaning for meaning in reads if options.column(meaning) in table.column_names]
    rows = rows_of(table.select([options.column(meaning) for meaning in there]).rename_columns(there))
    found = [(place, new) for place, row in enumerate(rows) for new in made(row, first_row + place)]
    kept = table.select(schema.names[: -len(fields)]).take(pa.array([place for place, _ in found], pa.int64()))
    added = pa.schema([*schema][-len(fields) :])
    return beside(kept, pa.Table.from_pylist([dict(zip(added.names, new, strict=True)) for _, new in found], added))


def beside(table: pa.Table, added: pa.Table) -> pa.Table:
    """The table with the other's columns after its own."""
    return pa.Table.from_arrays([*table.columns, *added.columns], schema=pa.schema([*table.schema, *added.schema]))
