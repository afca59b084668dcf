"""``pddl-eval generate planetarium|tasks|variants|questions|sample``: problems, answers and questions with keys."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from pddl_eval.commands.command import Command, Group
from pddl_eval.commands.flags import argument, flags, inputs, seed, workers
from pddl_eval.commands.outputs import force_option, require_writable
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.errors import UserError
from pddl_eval.shown import printable

if TYPE_CHECKING:
    import polars

    from pddl_eval.benchmark import Making

output = argument("output", "OUT", "The Parquet file to write; may be s3://….")
mixes = click.Choice(["zero-shot", "fine-tuned", "every-kind"])
answered = click.Choice(["problem", "plan", "domain", "question"])
preset = partial(click.option, "--preset", type=mixes, show_default=True, help="The mix of answers.")

Names = dict[str, str]
"""The dataset's own names of columns, by their meaning."""


@click.group(cls=Group)
def generate() -> None:
    """Make the benchmark's pairs, new tasks, variants or questions.

    \b
    pddl-eval generate planetarium benchmark.parquet
    pddl-eval generate tasks tasks.parquet --domain ferry.pddl --from seed.pddl --count 1000 --steps 2..20
    pddl-eval generate variants benchmark.parquet answers.parquet --preset zero-shot
    pddl-eval generate questions problems.jsonl questions.parquet --domain ferry.pddl
    """


@generate.command(cls=Command)
@output
@force_option
def planetarium(output: str, force: bool) -> None:
    """The benchmark: 145,918 text-to-PDDL pairs of 73 tasks, with its train/test split.

    \b
    pddl-eval generate planetarium benchmark.parquet
    """
    from pddl_eval.benchmark import PAIRS, PAIRS_SCHEMA, write_benchmark
    from pddl_eval.progress import progress

    require_writable(output, "table", force=force, columns=[PAIRS_SCHEMA.names])
    with progress(PAIRS) as bar:
        table = write_benchmark(output, bar.advance)
    _print_frame(table)


@generate.command(cls=Command)
@output
@click.option("--domain", metavar="NAME|FILE", required=True, help="The domain: a known one, or a PDDL file.")
@click.option("--from", "seeds", metavar="SEEDS", multiple=True, help="Problems to begin with: .pddl files, datasets.")
@click.option("--count", type=click.IntRange(min=1), default=1000, show_default=True, help="Tasks that are made.")
@click.option("--steps", metavar="A..B", default="1..20", show_default=True, help="How many steps plans have.")
@click.option("--unsolvable", type=float, default=0.0, show_default=True, help="Share of tasks without a plan.")
@click.option("--exclude", metavar="DATASET", multiple=True, help="No task is equivalent to a problem in these.")
@seed
@workers
@force_option
@flags(ScoringOptions, "columns")
def tasks(
    output: str,
    domain: str,
    seeds: tuple[str, ...],
    count: int,
    steps: str,
    unsolvable: float,
    exclude: tuple[str, ...],
    seed: int,
    workers: int | None,
    force: bool,
    **settings: Any,
) -> None:
    """New problems in any domain, all different, each with a plan and what is proven of it.

    \b
    pddl-eval generate tasks tasks.parquet --domain blocksworld --count 1000 --steps 2..20
    pddl-eval generate tasks tasks.parquet --domain ferry.pddl --from seed.pddl --exclude train.parquet --seed 7

    Initial states are those of the seeds, with objects more or fewer, after random walks; without seeds those of the
    benchmark. Goals are from states that are reached later, whole or in part. There are as many tasks of each number of
    steps, as far as such are found. OUT has the columns reference_problem, reference_plan, domain, reference_id (the
    certificate: no two tasks are equivalent), optimal_cost (null: not proven), steps, states (that can be reached; at
    least so many where states_complete is false), closure_size, and proof (why there is no plan). The number of workers
    changes no task.
    """
    from pddl_eval.benchmark import TASKS_SCHEMA, OwnTasks, certificates_in, seeds_in, write_tasks
    from pddl_eval.process import available_cpus
    from pddl_eval.progress import progress

    require_writable(output, "table", (*seeds, *exclude), force=force, columns=[TASKS_SCHEMA.names])
    column, least = ScoringOptions(**settings).column("reference_problem"), steps.partition("..")
    if not (least[0].isdecimal() and least[2].isdecimal()):
        raise UserError(f"--steps {steps} should read A..B, such as 2..20")
    used = workers or available_cpus()
    excluded = certificates_in(exclude, domain, used, column)
    made = OwnTasks(domain, seeds_in(seeds, column), (int(least[0]), int(least[2])), seed, unsolvable, excluded)
    with progress(count) as bar:
        table = write_tasks(made, count, output, used, bar.advance)
    _print_frame(table)
    found = int(table["tasks"].sum())
    print(f"{found:,} tasks{f'; {count - found:,} fewer than asked for: no others were found' * (found < count)}")


@generate.command(cls=Command)
@inputs
@output
@preset(default="every-kind")
@seed
@click.option(
    "--per-reference", type=click.IntRange(min=1), default=1, show_default=True, help="Answers to each reference."
)
@click.option("--kind", type=answered, default="problem", show_default=True, help="What is answered.")
@workers
@force_option
@flags(ScoringOptions, "columns", "domain")
def variants(
    preset: str, kind: str, seed: int, per_reference: int, columns: Names, domain: str | None, **where: Any
) -> None:
    """Answers of known correctness to any references, to test a judge, a prompt or a cluster.

    \b
    pddl-eval generate variants problems.parquet answers.parquet
    pddl-eval generate variants problems.parquet answers.parquet --preset fine-tuned --seed 7 --per-reference 3

    pddl-eval generate variants tasks.parquet answers.parquet --kind plan

    INPUT has a column reference_problem, for --kind domain reference_domain, for --kind question question. OUT has the
    columns of INPUT, generated_problem (…_plan, …_domain, …_answer) and columns label…: the recipe of the answer, and
    what a correct judge must say, null where that is not known. --column names those of OUT too. The number of workers
    changes no answer.
    """
    import polars as pl

    from pddl_eval.benchmark import KINDS, PRESETS, Variants

    chosen, options = KINDS[kind], ScoringOptions(columns=columns, domain=domain)
    making, told = Variants(PRESETS[preset], chosen, per_reference, seed, options), chosen.fields[1:]
    counts, wanted = _write_made(making, [each.name for each in told], **where)
    made = int(counts["answers"].sum())
    recipe, *labels = (column for column in counts.columns if column != "answers")
    _print_frame(counts.group_by(recipe).agg(pl.sum("answers")).sort("answers", recipe, descending=[True, False]))
    for label in labels:  # by which the paper describes a model
        if counts.schema[label] == pl.Boolean and made:
            print(f"{int(counts.filter(label)['answers'].sum()) / made:7.1%} {label.removeprefix('label_')}")
    print(f"{made:,} answers; {wanted - made:,} left out because the reference cannot be used")


@generate.command(cls=Command)
@inputs
@output
@click.option("--kind", "kinds", metavar="KIND,…", multiple=True, help="Only these kinds of questions. Default: all.")
@click.option(
    "--per-problem", type=click.IntRange(min=1), default=11, show_default=True, help="Questions about each problem."
)
@seed
@workers
@force_option
@flags(ScoringOptions, "columns", "domain")
def questions(
    kinds: list[str] | None, per_problem: int, seed: int, columns: Names, domain: str | None, **where: Any
) -> None:
    """Questions about any problems, with computed keys.

    \b
    pddl-eval generate questions problems.jsonl questions.parquet --domain ferry.pddl
    pddl-eval generate questions problems.jsonl questions.parquet --kind applicable,landmark --per-problem 100 --seed 7

    INPUT has a column reference_problem. A question is about what holds after some actions: of a random walk, or of a
    plan. Half of the keys, where the problem admits it, are yes, or some; half are no, or none. OUT has the columns of
    INPUT, the question (question, plan, and in words question_text), a right answer (reference_answer) and
    prefix_length, the number of the plan's actions. A question without a key in bounded time is left out. The number
    of workers changes no question.
    """
    from pddl_eval.benchmark import Asking

    asking = Asking(kinds or (), per_problem, seed, ScoringOptions(columns=columns, domain=domain))
    counts, wanted = _write_made(asking, ["question_text"], **where)
    _print_frame(counts.sort(counts.columns[0]))
    made = int(counts["questions"].sum())
    print(f"{made:,} questions; {wanted - made:,} fewer than asked for: no other was found, or its key not decided")


@generate.command(cls=Command)
@inputs
@output
@click.option(
    "--style",
    type=click.Choice(["words", "other", "letters"]),
    default="words",
    show_default=True,
    help="What names become: random words, other real words, letters.",
)
@seed
@workers
@force_option
@flags(ScoringOptions, "columns", "domain")
def obfuscate(style: str, seed: int, columns: Names, domain: str | None, **where: Any) -> None:
    """Twins of any rows, with other names: what is left of a model's skill without the names?

    \b
    pddl-eval generate obfuscate tasks.parquet twins.parquet
    pddl-eval generate obfuscate answers.parquet twins.parquet --style letters --seed 7

    Names of domains, operators, predicates, types, objects and variables are replaced in problems, plans, domains,
    questions and raw answers; atoms of reference problems are shuffled, arguments moved to other places. OUT has each
    row and its twin, with the columns twin (the id that both share), names (kept or replaced), names_replaced (the map)
    and arguments_moved. A known domain becomes its text. Rows with answers are scored on both sides; those with a score
    that differs are left out. report --by names sets both sides beside each other.
    """
    from pddl_eval.benchmark import Twins

    twins = Twins(style, seed, ScoringOptions(columns=columns, domain=domain))
    counts, rows = _write_made(twins, ["names_replaced"], **where)
    made = int(counts.filter(names="replaced")["rows"].sum())
    left = f"; {rows - made:,} left out: a score would differ, or the domain is unreadable"
    print(f"{made:,} rows and their twins{left * (made < rows)}")


@generate.command(cls=Command)
@inputs
@argument("output", "OUT", "The file of JSON Lines to write; may be s3://….")
@click.option("--kind", type=answered, required=True, help="What to ask for.")
@click.option("--shots", type=click.IntRange(min=0, max=32), default=0, show_default=True, help="Examples before each.")
@click.option(
    "--format",
    type=click.Choice(["openai", "messages", "inspect", "lm-eval"]),
    default="openai",
    show_default=True,
    help="For whom: a batch file, messages alone, a dataset of Inspect or lm-eval.",
)
@click.option("--model", default="MODEL", show_default=True, help="The model that a batch file names.")
@seed
@force_option
@flags(ScoringOptions, "columns", "domain")
def prompts(
    inputs: tuple[str, ...], output: str, force: bool, columns: Names, domain: str | None, **asked: Any
) -> None:
    """Requests for a model, made of any dataset.

    \b
    pddl-eval generate prompts tasks.parquet batch.jsonl --kind plan
    pddl-eval generate prompts twins.parquet batch.jsonl --kind plan --shots 2 --model gpt-4o
    pddl-eval generate prompts questions.parquet batch.jsonl --kind question --format inspect

    A request has the domain, what is asked (a problem in words where the dataset describes none), and the notation of
    the answer. Examples are rows whose problems are not equivalent to the one that is asked about. Its id says what was
    asked: score --from openai --references INPUT reads the answers as that.
    """
    from pddl_eval.benchmark import Prompts, write_prompts
    from pddl_eval.run import open_rows

    require_writable(output, "prompts", inputs, force=force)
    source = open_rows(inputs)
    options = ScoringOptions(columns=columns, domain=domain)
    made = write_prompts(source, output, Prompts(**asked, options=options))
    left = f"; {source.rows - made:,} left out: something that is asked about is missing"
    print(f"{made:,} requests{left * (made < source.rows)}")


@generate.command(cls=Command)
@output
@click.option("--questions", is_flag=True, help="Questions of all kinds with right, wrong and unreadable answers.")
@force_option
def sample(output: str, questions: bool, force: bool) -> None:
    """The few hundred pairs that are bundled with the project.

    \b
    pddl-eval generate sample sample.parquet
    pddl-eval generate sample answers.parquet --questions
    """
    import pyarrow.parquet as pq

    from pddl_eval.benchmark import QUESTIONS_SAMPLE, SAMPLE, write_sample

    columns = pq.read_schema(QUESTIONS_SAMPLE if questions else SAMPLE).names
    require_writable(output, "table", force=force, columns=[columns])
    rows = write_sample(output, questions=questions)
    print(printable(f"{rows} {'questions' if questions else 'pairs'} in {output}"))


def _write_made(
    making: Making, added: Sequence[str], inputs: Sequence[str], output: str, workers: int | None, force: bool
) -> tuple[polars.DataFrame, int]:
    """Write what is made of a dataset, which has the columns ``added``: the counts of it, and how many were wanted."""
    from pddl_eval.benchmark import write_made
    from pddl_eval.process import available_cpus
    from pddl_eval.progress import progress
    from pddl_eval.run import open_rows

    require_writable(output, "table", inputs, force=force, columns=[added])
    source = open_rows(inputs)
    wanted = source.rows * making.per_row
    with progress(wanted) as bar:
        return write_made(making, source, output, workers or available_cpus(), bar.advance), wanted


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
