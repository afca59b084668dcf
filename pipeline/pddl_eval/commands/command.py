"""What every command has: help, ``--config``, ``--quiet``, ``--verbose``, errors in one sentence, exit codes.

A command is a function with click's decorators, made by ``@click.command(cls=Command)``. It does nothing but call the
library: a command that is longer than its help needs a function elsewhere.
"""

from __future__ import annotations

import os
import shlex
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from traceback import print_exception
from typing import Any

import click

from pddl_eval.commands.config import file_values
from pddl_eval.commands.flags import READERS, Argument
from pddl_eval.commands.outputs import FILES
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.errors import FAILED, UNFINISHED, WRONG_INPUT, RunError, UserError, Verbosity, verbosity
from pddl_eval.process import available_cpus, begin_own_process, has_one_thread, interrupted_by_signals
from pddl_eval.shown import printable

EXIT_CODES = (
    "Exit codes: 0 done, 1 failed or incomplete, 2 wrong command or input, 3 rows of a run are missing or there "
    "twice, 75 try again later, 130 Ctrl-C, 143 terminated."
)
"""The last line of every command's help."""

TRACEBACK_VARIABLE = "PDDL_EVAL_TRACEBACK"
"""Set it to see where an unexpected error comes from."""

VERBOSITY = "pddl_eval.verbosity"
"""Where a context has what ``--quiet`` or ``--verbose`` chose."""

HELP = {"help_option_names": ["-h", "--help"]}

IN_A_FILE = "the same name in a file for --config, or in Python"

REPLACED = {
    **dict.fromkeys(("--beta", "--shard-rows", "--threshold"), IN_A_FILE),
    "--answers": "--column generated_plan=NAME or --column generated_domain=NAME",
    "--figures": "--format pdf --output FOLDER; also svg and png",
    "--json-log": "--verbose",
    "--on": "--key",
    "--previous-column": "rescore_dataset(previous_columns=…) in Python",
    "--against-column": "dedupe(against_columns=…) in Python",
    "--size": "build_report(size=…) in Python",
}
"""Options that there were, and what does the same now."""


class Command(click.Command):
    """A command of the program, or a job."""

    def __init__(self, name: str | None, *, params: list[click.Parameter], **known: Any) -> None:
        super().__init__(name, params=[*params, *COMMON], context_settings=HELP, **{"epilog": EXIT_CODES, **known})

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Say what replaces an option, and which argument is missing behind several inputs."""
        words = list(args)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            if now := REPLACED.get(error.option_name):
                raise click.UsageError(f"There is no {error.option_name} any more: use {now}.", ctx) from None
            raise
        except click.MissingParameter as error:
            if error.param is not None and error.param.nargs == -1:
                # The parser gives a single word to the last argument.
                given, *_ = self.make_parser(ctx).parse_args(words)
                arguments = [each for each in self.params if isinstance(each, Argument)]
                behind = arguments[[each.name for each in arguments].index(error.param.name) + 1 :]
                error.param = next((each for each in behind if isinstance(given.get(each.name), str)), error.param)
            raise

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The arguments, then the options."""
        arguments = [(each.make_metavar(ctx), each.meaning) for each in self.params if isinstance(each, Argument)]
        if arguments:
            with formatter.section("Arguments"):
                formatter.write_dl(arguments)
        super().format_options(ctx, formatter)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command: arguments become values, errors become sentences."""
        with plain_errors(ctx):
            forks = "engine" in ctx.params and has_one_thread()
            begin_own_process()
            with _workers(ctx.params) if forks else nullcontext():
                ctx.meta[FILES] = [ctx.params.get("domain"), *ctx.meta.get(FILES, ())]
                for name in READERS.keys() & ctx.params.keys():
                    ctx.params[name] = READERS[name](ctx.params[name])
                return super().invoke(ctx)


MOST_FORKED = 16
"""Workers that are forked before anybody knows how many pay: some milliseconds each."""


def _workers(settings: Mapping[str, Any]) -> AbstractContextManager[None]:
    """Forked worker processes for a run with these settings, as many as it may want."""
    from pddl_eval.run import forked_workers
    from pddl_eval.scoring.scorer import pair_scorer  # What workers need, so that each has it.

    pair_scorer(ScoringOptions())  # asks what it signs
    wanted = settings["workers"] or available_cpus()
    alone = wanted == 1 or settings["engine"] == "ray" or settings["address"]
    return forked_workers(0 if alone else min(wanted, MOST_FORKED))


class Group(click.Group):
    """Commands in the order in which they were added."""

    def __init__(self, name: str | None, **known: Any) -> None:
        super().__init__(name, epilog=EXIT_CODES, context_settings=HELP, **known)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Not by the alphabet."""
        return list(self.commands)


def _use_config(ctx: click.Context, _param: click.Parameter, path: str | None) -> None:
    if path is not None and not ctx.resilient_parsing:
        try:
            ctx.default_map = file_values(path, ctx)
            ctx.meta[FILES] = [path]
        except UserError as error:
            say(_sentence(error))
            ctx.exit(WRONG_INPUT)


def _use_verbosity(ctx: click.Context, param: click.Parameter, wanted: bool) -> None:
    if wanted:
        ctx.meta[VERBOSITY] = Verbosity[(param.name or "").upper()]


_option = partial(click.Option, expose_value=False)

COMMON = (
    _option(["--quiet", "-q"], is_flag=True, callback=_use_verbosity, help="On stderr only what is wrong."),
    _option(
        ["--verbose", "-v"],
        is_flag=True,
        callback=_use_verbosity,
        help="On stderr also each shard, and errors in full.",
    ),
    _option(
        ["--config"],
        is_eager=True,
        callback=_use_config,
        metavar="FILE",
        help="Settings from a .toml file, named as the flags; flags win.",
    ),
)
"""The options that every command has. What a command finds out goes to stdout, whatever they say."""


def say(sentence: str) -> None:
    """Tell the user on stderr, in one line, what is wrong."""
    print(f"pddl-eval: {printable(sentence)}", file=sys.stderr)


def note(sentence: str) -> None:
    """Tell the user on stderr, in one line, what is good to know; nothing with ``--quiet``."""
    if verbosity.get() > Verbosity.QUIET:
        say(sentence)


def require_all_rows(missing: str | None) -> None:
    """Where rows of a dataset are missing, say what is (a sentence) and exit with 3."""
    if missing:
        say(missing)
        sys.exit(UNFINISHED)


@contextmanager
def plain_errors(ctx: click.Context) -> Iterator[None]:
    """Turn what a command raises into one sentence on stderr and an exit code; it says as much as it is asked to."""
    before = verbosity.set(ctx.meta.get(VERBOSITY, verbosity.get()))
    with interrupted_by_signals() as stopped_by:
        try:
            yield
        except KeyboardInterrupt:
            again = shlex.join(sys.orig_argv if "-m" in sys.orig_argv[:3] else sys.argv)
            resumed = f"The finished part is kept; to continue, run: {again}"
            kept = resumed if "engine" in ctx.params else "Nothing was kept."
            say(f"Stopped. {kept}")
            # The first signal counts: libraries make interrupts of their own while they stop.
            sys.exit(128 + (stopped_by or [signal.SIGINT])[0])
        except (click.exceptions.Exit, click.ClickException, click.Abort, BrokenPipeError):
            raise
        except Exception as error:
            if os.environ.get(TRACEBACK_VARIABLE):
                raise
            if verbosity.get() is Verbosity.VERBOSE:
                print_exception(error)
            say(_sentence(error))
            sys.exit(error.exit_code if isinstance(error, (UserError, RunError)) else FAILED)
        finally:
            verbosity.reset(before)


def _sentence(error: Exception) -> str:
    text = str(error)
    if isinstance(error, ImportError) and error.name and not error.name.startswith("pddl_eval"):
        return f"The package {error.name.partition('.')[0]} is missing or does not load: {text}."
    if not isinstance(error, (UserError, RunError)):
        advice = f"set {TRACEBACK_VARIABLE}=1 to see the traceback, and report it in the project's issue tracker"
        return f"Unexpected {type(error).__name__}: {text}. This is a bug in pddl-eval: {advice}."
    if text.partition(" ")[0].isalpha():  # Not a path.
        text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "?")) else f"{text}."
