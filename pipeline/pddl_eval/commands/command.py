"""What the commands share: flags made of the declared settings, how arguments are read, errors and exit codes.

A command is a function annotated for typer and decorated with ``command``. It does nothing but call the library: a
command that is longer than its help needs a function elsewhere.
"""

from __future__ import annotations

import gc
import inspect
import os
import shlex
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from functools import wraps
from traceback import print_exception
from typing import Annotated, Any, NoReturn, get_args, get_type_hints

import typer
from typer import Argument, Option
from typer.models import OptionInfo

from pddl_eval.commands.completion import COMPLETED, choices, several_columns
from pddl_eval.errors import Loudness, RunError, UserError, loudness, told_to_stop
from pddl_eval.options import GARBAGE_THRESHOLDS, ReadingOptions, RunOptions, ScoringOptions, setting_of, takes
from pddl_eval.shown import printable

OPTIONS = (ReadingOptions, ScoringOptions, RunOptions)

EXIT_CODES = (
    "Exit codes: 0 done, 1 failed or incomplete, 2 wrong command or input, 3 done but about an unfinished run, "
    "130 Ctrl-C, 143 terminated."
)
"""The last line of every command's help."""

FAILED, WRONG_INPUT, UNFINISHED = 1, 2, 3

TRACEBACK_VARIABLE = "PDDL_EVAL_TRACEBACK"
"""Set it to see where an unexpected error comes from."""

KEYWORD = inspect.Parameter.KEYWORD_ONLY

FORMER_NAMES = {"pair-id": "id", "placeholder": "is-placeholder"}
"""Options under the names that they had, which no help shows."""

Inputs = Annotated[
    list[str],
    Argument(metavar="INPUT", help="Files, folders, patterns or URIs: Parquet, JSON Lines, CSV or Arrow IPC."),
]

By = Annotated[
    list[str] | None,
    Option(
        metavar="COLUMN,…",
        help="Group by these, '' for none. Default: model,domain if present.",
        autocompletion=several_columns,
    ),
]

IsPlaceholder = Annotated[bool, Option("--is-placeholder", help="Compare initial states and goals separately.")]

Workers = Annotated[int | None, Option(min=1, help="Worker processes. Default: one a CPU.")]


def application(name: str | None = None, *, add_completion: bool = True) -> typer.Typer:
    """An empty typer application: plain help (rich's takes as long to load as all the rest), ``-h``, no typer pages."""
    return typer.Typer(
        name=name,
        add_completion=add_completion,
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={
            "help_option_names": ["-h", "--help"],
            "token_normalize_func": lambda name: FORMER_NAMES.get(name, name),
        },
    )


def run_alone(function: Callable[..., None], exit_codes: str = EXIT_CODES) -> None:
    """Run one command as a program of its own: what a file of ``jobs/`` does."""
    app = application(add_completion=False)
    app.command(epilog=exit_codes)(function)
    app()


def command(function: Callable[..., None]) -> Callable[..., None]:
    """The function as a command: settings become flags, arguments become values, errors become sentences.

    A parameter annotated with one of ``OPTIONS`` is replaced by a flag for each of its fields. Parameters
    named as in ``READERS`` arrive as values. A command with ``RunOptions`` can be resumed, and says so when stopped.
    Every command has the flags of ``EVERY_COMMAND``, and ``--config``.
    """
    groups = {name: kind for name, kind in get_type_hints(function).items() if kind in OPTIONS}
    owner = {each.name: group for group in groups.values() for each in fields(group)}
    call = takes(**groups)(function)

    @wraps(function)
    def run(**arguments: Any) -> None:
        gc.set_threshold(*GARBAGE_THRESHOLDS)
        arguments.pop("config", None)  # Its settings are in the other arguments.
        with (
            _loudness(arguments.pop("quiet", False), arguments.pop("verbose", False)),
            _plain_errors(resumable=RunOptions in groups.values()),
        ):
            for name in READERS.keys() & arguments.keys():
                arguments[name] = READERS[name](arguments[name]) if arguments[name] is not None else None
            call(**arguments)

    shape = inspect.signature(call)
    hints = get_type_hints(function, include_extras=True)
    types = {name: _annotation(owner[name], name) if name in owner else hints[name] for name in shape.parameters}
    added = {**EVERY_COMMAND, "config": _config_option(types)}
    run.__annotations__ = {**types, **added}
    own = [each.replace(kind=KEYWORD, annotation=types[each.name]) for each in shape.parameters.values()]
    common = [
        inspect.Parameter(name, KEYWORD, default=None if name == "config" else False, annotation=annotation)
        for name, annotation in added.items()
    ]
    run.__signature__ = shape.replace(parameters=[*own, *common])  # type: ignore[attr-defined]
    return run


def _config_option(hints: Mapping[str, Any]) -> Any:
    """The option ``--config`` of a command with these parameters."""
    known: dict[str, tuple[str, Any]] = {}
    for keyword, hint in hints.items():
        type_, declared = get_args(hint)[:2]
        if isinstance(declared, OptionInfo):
            type_ = Mapping[str, str] if keyword in MAPPINGS else type_
            written = (declared.default, *(declared.param_decls or ()))  # Typer takes the first for a default.
            names = [each.removeprefix("--") for each in written if isinstance(each, str) and each.startswith("--")]
            known |= dict.fromkeys((keyword, *names), (keyword, type_))

    def use(context: typer.Context, path: str | None) -> str | None:
        if path is not None and not context.resilient_parsing:
            context.default_map = _defaults(path, known)
        return path

    text = "Settings from a .toml or .yaml file, named as the flags; flags win."
    return Annotated[str | None, Option("--config", metavar="FILE", is_eager=True, callback=use, help=text)]


def _defaults(path: str, known: Mapping[str, tuple[str, Any]]) -> dict[str, Any]:
    """The settings of the file as the command line would give them; a mistake in it ends the command."""
    from pddl_eval.config import named_settings, read_settings

    try:
        settings = named_settings(read_settings(path), known, path)
    except UserError as error:
        say(_sentence(error))
        raise typer.Exit(WRONG_INPUT) from None
    types = dict(known.values())
    for keyword, value in settings.items():
        if isinstance(value, dict):
            settings[keyword] = [f"{meaning}={name}" for meaning, name in value.items()]
        elif isinstance(value, str) and list[str] in (types[keyword], *get_args(types[keyword])):
            settings[keyword] = [value]
    return settings


EVERY_COMMAND: Mapping[str, Any] = {
    "quiet": Annotated[bool, Option("--quiet", "-q", help="On stderr only what is wrong.")],
    "verbose": Annotated[bool, Option("--verbose", "-v", help="On stderr also each shard, and errors in full.")],
}
"""The flags that every command has, beside ``--config``. What a command finds out goes to stdout, whatever they say."""


@contextmanager
def _loudness(quiet: bool, verbose: bool) -> Iterator[None]:
    """How much is said on stderr until the block ends."""
    chosen = loudness.set(Loudness.VERBOSE if verbose else Loudness.QUIET if quiet else loudness.get())
    try:
        yield
    finally:
        loudness.reset(chosen)


def flag_of(options: type, name: str) -> Any:
    """The flag of one declared setting, for a command that takes no other of them: ``Annotated[str, flag_of(…)]``."""
    declared = setting_of(next(each for each in fields(options) if each.name == name))
    complete = COMPLETED.get(name) or (choices(declared.choices) if declared.choices else None)
    names = [declared.flag] if declared.flag else []
    metavar = declared.metavar or "|".join(declared.choices) or None
    return Option(*names, help=declared.help, metavar=metavar, autocompletion=complete)


def _annotation(options: type, name: str) -> Any:
    # A mapping is written MEANING=NAME, again and again, as names of columns are.
    type_ = list[str] | None if name in ("columns", "on") else get_type_hints(options)[name]
    return Annotated[type_, flag_of(options, name)]


def column_names(columns: Sequence[str]) -> dict[str, str]:
    """Meaning → name of the dataset's column, from ``MEANING=NAME`` arguments.

    Raises ``UserError``.

    >>> column_names(["generated_problem=output"])
    {'generated_problem': 'output'}
    """
    names: dict[str, str] = {}
    for column in columns:
        meaning, _, name = column.partition("=")
        if not meaning or not name:
            raise UserError(f"--column {column} should read MEANING=NAME, such as generated_problem=output.")
        if meaning in names:
            raise UserError(f"--column names {meaning} twice: {names[meaning]} and {name}.")
        names[meaning] = name
    return names


def split_names(arguments: Sequence[str]) -> list[str]:
    """Column names given one by one or separated by commas.

    >>> split_names(["model,split", "domain"])
    ['model', 'split', 'domain']
    """
    return [name for argument in arguments for name in argument.split(",") if name]


def domain_text(name_or_file: str) -> str:
    """As ``pddl_eval.config.domain_text``."""
    from pddl_eval import config

    return config.domain_text(name_or_file)


MAPPINGS = ("columns", "previous_columns", "against_columns")
"""The parameters that are mappings: ``MEANING=NAME``, again and again."""

READERS: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(MAPPINGS, column_names),
    **dict.fromkeys(("by", "on"), split_names),
    "domain": domain_text,
}
"""How arguments become values, by the name of the parameter."""


def say(sentence: str) -> None:
    """Tell the user on stderr, in one line, what is wrong."""
    print(f"pddl-eval: {printable(sentence)}", file=sys.stderr)


def note(sentence: str) -> None:
    """Tell the user on stderr, in one line, what is good to know; nothing with ``--quiet``."""
    if loudness.get() > Loudness.QUIET:
        say(sentence)


@contextmanager
def _plain_errors(*, resumable: bool) -> Iterator[None]:
    """Turn what a command raises into one sentence on stderr and an exit code."""
    told_to_stop.clear()
    stopped_by: list[int] = []

    def stop(number: int, _frame: object) -> NoReturn:
        told_to_stop.set()
        stopped_by.append(number)
        # A scheduler sends it to the program and to the shell around it, which passes it on.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise KeyboardInterrupt

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    except KeyboardInterrupt:
        again = shlex.join(sys.orig_argv if "-m" in sys.orig_argv[:3] else sys.argv)
        say(
            f"Stopped. The finished part is kept; to continue, run: {again}"
            if resumable
            else "Stopped. Nothing was kept."
        )
        # The first signal counts: libraries make interrupts of their own while they stop.
        raise typer.Exit(128 + (stopped_by or [signal.SIGINT])[0]) from None
    except (typer.Exit, typer.Abort, BrokenPipeError):
        raise
    except Exception as error:
        if os.environ.get(TRACEBACK_VARIABLE):
            raise
        if loudness.get() is Loudness.VERBOSE:
            print_exception(error)
        say(_sentence(error))
        raise typer.Exit(WRONG_INPUT if isinstance(error, UserError) else FAILED) from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


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
