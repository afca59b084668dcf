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
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, NoReturn, get_type_hints

import typer
from typer import Argument, Option

from pddl_eval.errors import RunError, UserError, told_to_stop
from pddl_eval.options import GARBAGE_THRESHOLDS, RunOptions, ScoringOptions, setting_of, takes
from pddl_eval.shown import printable

EXIT_CODES = (
    "Exit codes: 0 done, 1 failed or incomplete, 2 wrong command or input, 3 done but about an unfinished run, "
    "130 Ctrl-C, 143 terminated."
)
"""The last line of every command's help."""

FAILED, WRONG_INPUT, UNFINISHED = 1, 2, 3

TRACEBACK_VARIABLE = "PDDL_EVAL_TRACEBACK"
"""Set it to see where an unexpected error comes from."""

KEYWORD = inspect.Parameter.KEYWORD_ONLY

DOMAIN_BYTES = 10 * 2**20

Inputs = Annotated[
    list[str],
    Argument(metavar="INPUT", help="Files, folders, patterns, s3:// URIs: Parquet, JSON Lines, CSV or Arrow."),
]


By = Annotated[
    list[str] | None, Option(metavar="COLUMN,…", help="Group by these, '' for none. Default: model,domain if present.")
]


def application(name: str | None = None, *, add_completion: bool = True) -> typer.Typer:
    """An empty typer application: plain help (rich's takes as long to load as all the rest), ``-h``, no typer pages."""
    return typer.Typer(
        name=name,
        add_completion=add_completion,
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )


def run_alone(function: Callable[..., None], exit_codes: str = EXIT_CODES) -> None:
    """Run one command as a program of its own: what a file of ``jobs/`` does."""
    app = application(add_completion=False)
    app.command(epilog=exit_codes)(function)
    app()


def command(function: Callable[..., None]) -> Callable[..., None]:
    """The function as a command: settings become flags, arguments become values, errors become sentences.

    A parameter annotated ``ScoringOptions`` or ``RunOptions`` is replaced by a flag for each of its fields. Parameters
    named as in ``READERS`` arrive as values. A command with ``RunOptions`` can be resumed, and says so when stopped.
    """
    groups = {name: kind for name, kind in get_type_hints(function).items() if kind in (ScoringOptions, RunOptions)}
    owner = {each.name: group for group in groups.values() for each in fields(group)}
    call = takes(**groups)(function)

    @wraps(function)
    def run(**arguments: Any) -> None:
        gc.set_threshold(*GARBAGE_THRESHOLDS)
        with _plain_errors(resumable=RunOptions in groups.values()):
            for name in READERS.keys() & arguments.keys():
                arguments[name] = READERS[name](arguments[name]) if arguments[name] is not None else None
            call(**arguments)

    shape = inspect.signature(call)
    hints = get_type_hints(function, include_extras=True)
    run.__annotations__ = {
        name: _annotation(owner[name], name) if name in owner else hints[name] for name in shape.parameters
    }
    run.__signature__ = shape.replace(  # type: ignore[attr-defined]
        parameters=[
            each.replace(kind=KEYWORD, annotation=run.__annotations__[each.name]) for each in shape.parameters.values()
        ]
    )
    return run


def flag_of(options: type, name: str) -> Any:
    """The flag of one declared setting, for a command that takes no other of them: ``Annotated[str, flag_of(…)]``."""
    declared = setting_of(next(each for each in fields(options) if each.name == name))
    complete = (lambda: list(declared.choices)) if declared.choices else None
    names = [declared.flag] if declared.flag else []
    metavar = declared.metavar or "|".join(declared.choices) or None
    return Option(*names, help=declared.help, metavar=metavar, autocompletion=complete)


def _annotation(options: type, name: str) -> Any:
    # A mapping is written MEANING=NAME, again and again.
    type_ = list[str] | None if name == "columns" else get_type_hints(options)[name]
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
    """A known domain's name as it is, else the content of the file.

    Raises ``UserError`` where it is neither.
    """
    from pddl_eval.domains import chosen_domain

    path = Path(name_or_file)
    try:
        chosen_domain(name_or_file)
        return name_or_file
    except UserError as error:
        if not path.is_file():
            raise UserError(f"--domain {name_or_file} is no file, and {error}") from None
    if path.stat().st_size > DOMAIN_BYTES:
        raise UserError(f"--domain {name_or_file} is not a PDDL domain: it has more than {DOMAIN_BYTES:,} bytes.")
    text = path.read_text(encoding="utf-8", errors="replace")
    try:
        chosen_domain(text)
    except UserError as error:
        raise UserError(f"--domain {name_or_file}: {error}") from None
    return text


READERS: dict[str, Callable[[Any], Any]] = {
    "columns": column_names,
    "domain": domain_text,
    "by": split_names,
    "on": split_names,
}
"""How arguments become values, by the name of the parameter."""


def say(sentence: str) -> None:
    """Tell the user something on stderr, in one line."""
    print(f"pddl-eval: {printable(sentence)}", file=sys.stderr)


@contextmanager
def _plain_errors(*, resumable: bool) -> Iterator[None]:
    """Turn what a command raises into one sentence on stderr and an exit code."""
    told_to_stop.clear()
    stopped_by: list[int] = []

    def stop(number: int, _frame: object) -> NoReturn:
        told_to_stop.set()
        stopped_by.append(number)
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
