"""``pddl-eval generate planetarium|variants|sample``: the benchmark's pairs, and answers of known correctness."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from pddl_eval.commands.command import EXIT_CODES, Inputs, application, command
from pddl_eval.errors import UserError, did_you_mean

if TYPE_CHECKING:
    import pyarrow as pa

    from pddl_eval.run import Shard

ROW_GROUP_ROWS = 4096
"""Rows that are made, written and held at a time, about."""

Job = tuple["Shard", int, "pa.Schema", str, int, int]
"""A shard of references, the number of its first row, their schema; preset, seed and answers to each reference."""

Output = Annotated[str, Argument(metavar="OUT", help="The Parquet file to write; may be s3://….")]
Preset = Annotated[str, Option(help="The mix of answers: zero-shot, fine-tuned or every-kind.")]
Seed = Annotated[int, Option(help="Another seed gives other answers.")]

generate = application("generate")


@generate.callback(epilog=EXIT_CODES)
def describe() -> None:
    """Make the benchmark's pairs, or answers of known correctness.

    \b
    pddl-eval generate planetarium benchmark.parquet
    pddl-eval generate variants benchmark.parquet answers.parquet --preset zero-shot
    """


@generate.command(epilog=EXIT_CODES)
@command
def planetarium(output: Output) -> None:
    """The benchmark: 145,918 text-to-PDDL pairs of 73 tasks, with its train/test split.

    \b
    pddl-eval generate planetarium benchmark.parquet
    """
    from pddl_eval.benchmark import DOMAINS, PAIRS, PAIRS_SCHEMA, SIZE_BUCKETS, benchmark_pairs, pairs_tables
    from pddl_eval.progress import progress
    from pddl_eval.run import locate, new_parquet

    counts: Counter[tuple[str, str]] = Counter()
    with new_parquet(locate(output), PAIRS_SCHEMA) as file, progress(PAIRS) as pace:
        for table in pairs_tables(benchmark_pairs(), ROW_GROUP_ROWS):
            file.write_table(table)
            pace.advance(table.num_rows)
            for column in ("abstractness", "size_bucket", "split"):
                counts.update(zip(table["domain"].to_pylist(), table[column].to_pylist(), strict=True))
    # The paper's table 1, of what was written.
    sides = [f"{init}-{goal}" for init in ("explicit", "abstract") for goal in ("explicit", "abstract")]
    columns = [*sides, *SIZE_BUCKETS, "train", "test"]
    rows = {domain: [counts[domain, column] for column in columns] for domain in DOMAINS}
    _print_table(["domain", "total", *columns], {name: [sum(row[: len(sides)]), *row] for name, row in rows.items()})


@generate.command(epilog=EXIT_CODES)
@command
def variants(
    inputs: Inputs,
    output: Output,
    preset: Preset = "every-kind",
    seed: Seed = 0,
    per_reference: Annotated[int, Option(min=1, help="Answers to each reference.")] = 1,
    workers: Annotated[int, Option(min=1, help="Worker processes; changes no answer.")] = os.cpu_count() or 1,
) -> None:
    """Answers of known correctness to any references, to test a judge, a prompt or a cluster.

    \b
    pddl-eval generate variants problems.parquet answers.parquet
    pddl-eval generate variants problems.parquet answers.parquet --preset fine-tuned --seed 7 --per-reference 3

    INPUT has a column reference_problem. OUT has the columns of INPUT, generated_problem and columns label…: what a
    correct judge must say.
    """
    from pddl_eval.benchmark import PRESETS, variants_schema
    from pddl_eval.progress import progress
    from pddl_eval.run import locate, new_parquet, open_source, ordered_map, plan_shards

    if preset not in PRESETS:
        raise UserError(f"--preset {preset} does not exist; {did_you_mean(preset, PRESETS, 'presets')}")
    source = open_source(inputs)
    schema = variants_schema(source.schema)
    shards = plan_shards(source, max(1, ROW_GROUP_ROWS // per_reference))
    first_rows = accumulate((shard.rows for shard in shards), initial=0)
    jobs = [
        (shard, row, source.schema, preset, seed, per_reference) for shard, row in zip(shards, first_rows, strict=False)
    ]
    counts: Counter[tuple[str, bool, bool | None, bool]] = Counter()
    wanted = source.rows * per_reference
    with new_parquet(locate(output), schema) as file, progress(wanted) as pace:
        for shard, table in zip(shards, ordered_map(_answer_shard, jobs, workers), strict=True):
            file.write_table(table)
            pace.advance(shard.rows * per_reference)
            labels = (f"label{name}" for name in ("", "_parseable", "_solvable", "_equivalent"))
            counts.update(zip(*(table[label].to_pylist() for label in labels), strict=True))
    # How often each kind was drawn, and the shares by which the paper describes a model.
    made = counts.total()
    kinds: Counter[str] = Counter()
    for (kind, *_), count in counts.items():
        kinds[kind] += count
    _print_table(["label", "answers"], {kind: [count] for kind, count in kinds.most_common()})
    for place, share in enumerate(("parseable", "solvable", "equivalent"), start=1):
        print(f"{sum(count for key, count in counts.items() if key[place]) / max(1, made):7.1%} {share}")
    print(f"{made:,} answers; {wanted - made:,} left out because the reference cannot be read or solved")


@generate.command(epilog=EXIT_CODES)
@command
def sample(output: Output) -> None:
    """The few hundred pairs that are bundled with the project.

    \b
    pddl-eval generate sample sample.parquet
    """
    from pddl_eval.benchmark import sample_table
    from pddl_eval.run import locate, new_parquet

    table = sample_table()
    with new_parquet(locate(output), table.schema) as file:
        file.write_table(table)
    print(f"{table.num_rows} pairs in {output}")


def _answer_shard(job: Job) -> pa.Table:
    from pddl_eval.benchmark import PRESETS, by_preset, variants_table
    from pddl_eval.run import DatasetError, read_rows

    shard, first_row, schema, preset, seed, per_reference = job
    rows = read_rows(shard.file, shard.start, shard.stop, schema)
    if rows.damage:
        raise DatasetError(f"{shard.file} is damaged: {rows.damage}")
    return variants_table(rows.table, first_row, by_preset(PRESETS[preset], seed), per_reference)


def _print_table(header: Sequence[str], rows: dict[str, list[int]]) -> None:
    """Names to the left, numbers to the right."""
    lines = [header, *([name, *(f"{number:,}" for number in numbers)] for name, numbers in rows.items())]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for name, *cells in lines:
        print(
            f"{name:<{widths[0]}}",
            *(f"{cell:>{width}}" for cell, width in zip(cells, widths[1:], strict=True)),
            sep="  ",
        )
