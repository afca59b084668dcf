"""``pddl-eval generate planetarium|variants|sample``: the benchmark's pairs, and answers of known correctness."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, cast

from typer import Argument, Option

from pddl_eval.commands.command import EXIT_CODES, Inputs, Workers, application, command, flag_of
from pddl_eval.options import ScoringOptions
from pddl_eval.shown import printable

if TYPE_CHECKING:
    import polars

Output = Annotated[str, Argument(metavar="OUT", help="The Parquet file to write; may be s3://….")]
Preset = Annotated[Literal["zero-shot", "fine-tuned", "every-kind"], Option(help="The mix of answers.")]
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
    from pddl_eval.benchmark import PAIRS, write_benchmark
    from pddl_eval.progress import progress

    with progress(PAIRS) as pace:
        table = write_benchmark(output, pace.advance)
    _print_frame(table)


@generate.command(epilog=EXIT_CODES)
@command
def variants(
    inputs: Inputs,
    output: Output,
    preset: Preset = "every-kind",
    seed: Seed = 0,
    of: Annotated[
        Literal["problems", "domains", "tasks"] | None,
        Option(help="What to make answers to; tasks are both together. Default: problems if INPUT has any."),
    ] = None,
    per_reference: Annotated[int, Option(min=1, help="Answers to each reference.")] = 1,
    workers: Workers = None,
    columns: Annotated[list[str] | None, flag_of(ScoringOptions, "columns")] = None,
) -> None:
    """Answers of known correctness to any references, to test a judge, a prompt or a cluster.

    \b
    pddl-eval generate variants problems.parquet answers.parquet
    pddl-eval generate variants problems.parquet answers.parquet --preset fine-tuned --seed 7 --per-reference 3
    pddl-eval generate variants domains.parquet answers.parquet --of domains

    INPUT has a column reference_problem, reference_domain or both. OUT has the columns of INPUT, generated_problem,
    generated_domain or both, and columns label…: what a correct judge must say, null where that is not known.
    --column names those of OUT too. The number of workers changes no answer.
    """
    import polars as pl

    from pddl_eval.benchmark import PRESETS, by_preset, kind_of, write_variants
    from pddl_eval.datasets import open_source
    from pddl_eval.progress import progress
    from pddl_eval.run import available_cpus

    source = open_source(inputs)
    kind = kind_of(source.schema, of, cast("dict[str, str] | None", columns))  # ``command`` has read them.
    draw = by_preset(PRESETS[preset], seed, kind)
    wanted = source.rows * per_reference
    with progress(wanted) as pace:
        counts = write_variants(source, output, draw, per_reference, workers or available_cpus(), pace.advance, kind)
    made = int(counts["answers"].sum())
    recipe, *labels = (column for column in counts.columns if column != "answers")
    _print_frame(counts.group_by(recipe).agg(pl.sum("answers")).sort("answers", recipe, descending=[True, False]))
    for label in labels:  # by which the paper describes a model
        if counts.schema[label] == pl.Boolean and made:
            print(f"{int(counts.filter(label)['answers'].sum()) / made:7.1%} {label.removeprefix('label_')}")
    print(f"{made:,} answers; {wanted - made:,} left out because the reference cannot be used")


@generate.command(epilog=EXIT_CODES)
@command
def sample(output: Output) -> None:
    """The few hundred pairs that are bundled with the project.

    \b
    pddl-eval generate sample sample.parquet
    """
    from pddl_eval.benchmark import write_sample

    print(printable(f"{write_sample(output)} pairs in {output}"))


def _print_frame(frame: polars.DataFrame) -> None:
    """Print all rows and columns, numbers to the right."""
    import polars as pl

    with pl.Config(
        tbl_formatting="NOTHING",
        tbl_hide_column_data_types=True,
        tbl_hide_dataframe_shape=True,
        tbl_rows=-1,
        tbl_cols=-1,
        tbl_width_chars=1000,
        tbl_cell_numeric_alignment="RIGHT",
        thousands_separator=",",
    ):
        print(frame)
