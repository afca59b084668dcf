"""The benchmark and the variants as Arrow tables, with the columns of DESIGN.md section 2. No file is opened here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from random import Random
from typing import Any

import pyarrow as pa

from pddl_eval.benchmark.enumeration import Pair, size_bucket
from pddl_eval.benchmark.presets import Preset
from pddl_eval.benchmark.reference import Reference
from pddl_eval.benchmark.variants import Variant, draw_variant
from pddl_eval.errors import UserError
from pddl_eval.model import problem_to_pddl

PAIRS_SCHEMA = pa.schema(
    [
        ("id", pa.int32()),
        ("name", pa.string()),
        ("domain", pa.string()),
        ("reference_problem", pa.string()),
        ("description", pa.string()),
        ("is_placeholder", pa.bool_()),
        ("task_init", pa.string()),
        ("task_goal", pa.string()),
        ("abstractness", pa.string()),
        ("num_objects", pa.int32()),
        ("size", pa.int32()),
        ("size_bucket", pa.string()),
        ("split", pa.string()),
    ]
)
"""``size`` is the number of propositions that table 1 counts; ``id`` counts the pairs from 1."""

VARIANT_FIELDS = (
    pa.field("generated_problem", pa.string()),
    pa.field("label", pa.string()),
    pa.field("label_parseable", pa.bool_()),
    pa.field("label_solvable", pa.bool_()),
    pa.field("label_equivalent", pa.bool_()),
    pa.field("label_equivalent_untyped", pa.bool_()),
)
"""What a variant adds to its reference's row: the answer, its kind, and what the score columns must say, if known."""

Draw = Callable[[Reference, int, int], Variant]
"""The answer to a reference, given the number of its row and the number of the answer."""


def pairs_tables(pairs: Iterable[Pair], rows: int) -> Iterator[pa.Table]:
    """The pairs as tables of that many rows, the last one of fewer."""
    numbered = _rows(pairs)
    while block := list(islice(numbered, rows)):
        yield pa.Table.from_pylist(block, PAIRS_SCHEMA)


def variants_schema(schema: pa.Schema) -> pa.Schema:
    """The schema of the variants of references with this schema.

    Raises ``ValueError`` where there is no ``reference_problem``, or where a column would be there twice.
    """
    names = [field.name for field in VARIANT_FIELDS]
    if "reference_problem" not in schema.names:
        raise UserError(f"there is no column reference_problem; the columns are {', '.join(schema.names)}")
    taken = [name for name in names if name in schema.names]
    if taken:
        raise UserError(f"the references have a column {taken[0]} already")
    return pa.schema([*schema, *VARIANT_FIELDS])


def by_preset(preset: Preset, seed: int) -> Draw:
    """Draws by a preset; an answer depends on the reference, the seed and the two numbers, and on nothing else."""

    def draw(reference: Reference, row: int, answer: int) -> Variant:
        return draw_variant(reference, preset, Random(f"{seed} {row} {answer}"))

    return draw


def variants_table(references: pa.Table, first_row: int, draw: Draw, per_reference: int = 1) -> pa.Table:
    """So many variants of each reference, in the references' order; unusable references have none.

    Unusable is a reference that cannot be read or solved. ``first_row`` is the number of the table's first row in its
    dataset.
    """
    taken: list[int] = []
    answers: list[dict[str, Any]] = []
    for place, row in enumerate(_meaning(references)):
        try:
            reference = Reference(row["reference_problem"], bool(row.get("is_placeholder")), row.get("domain"))
        except ValueError:
            continue
        for answer in range(per_reference):
            taken.append(place)
            answers.append(_columns(draw(reference, first_row + place, answer)))
    added = pa.Table.from_pylist(answers, pa.schema(VARIANT_FIELDS))
    table = references.take(pa.array(taken, pa.int64()))
    for field, column in zip(VARIANT_FIELDS, added.columns, strict=True):
        table = table.append_column(field, column)
    return table


def _rows(pairs: Iterable[Pair]) -> Iterator[dict[str, Any]]:
    described, pddl = None, ""
    for number, pair in enumerate(pairs, 1):
        if pair.described is not described:
            described, pddl = pair.described, problem_to_pddl(pair.described.problem)
        problem = pair.described.problem
        yield {
            "id": number,
            "name": problem.name,
            "domain": problem.domain,
            "reference_problem": pddl,
            "description": pair.description,
            "is_placeholder": pair.is_placeholder,
            "task_init": pair.described.task_init,
            "task_goal": pair.described.task_goal,
            "abstractness": pair.abstractness,
            "num_objects": len(problem.objects),
            "size": pair.described.size,
            "size_bucket": size_bucket(pair.described.size),
            "split": pair.described.split,
        }


def _meaning(references: pa.Table) -> Sequence[dict[str, Any]]:
    meant = [name for name in ("reference_problem", "is_placeholder", "domain") if name in references.column_names]
    return references.select(meant).to_pylist()


def _columns(variant: Variant) -> dict[str, Any]:
    labels = variant.labels
    return {
        "generated_problem": variant.text,
        "label": variant.kind,
        "label_parseable": labels.parseable,
        "label_solvable": labels.solvable,
        "label_equivalent": labels.equivalent,
        "label_equivalent_untyped": labels.equivalent_untyped,
    }
