"""What the commands share: flags made of the declared settings, how arguments are read, errors and exit codes.

A command is a function annotated for typer and decorated with ``command``. It does nothing but call the library: a
command that is longer than its help needs a function elsewhere.
"""

from __future__ import annotations

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

from pddl_eval.errors import RunError, UserError, did_you_mean
from pddl_eval.options import ENGINES, SIMILARITIES, RunOptions, ScoringOptions, setting_of, takes
from pddl_eval.shown import printable

EXIT_CODES = "Exit codes: 0 done, 1 failed or incomplete, 2 wrong command or input, 130 Ctrl-C, 143 terminated."
"""The last line of every command's help."""

FAILED, WRONG_INPUT = 1, 2

TRACEBACK_VARIABLE = "PDDL_EVAL_TRACEBACK"
"""Set it to see where an unexpected error comes from."""

KEYWORD = inspect.Parameter.KEYWORD_ONLY

DOMAIN_BYTES = 10 * 2**20

CHOICES = {"similarity": SIMILARITIES, "engine": ENGINES}
"""What a shell completes."""

Inputs = Annotated[list[str], Argument(metavar="INPUT", help="Parquet files, folders, patterns, s3:// URIs.")]


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


def run_alone(function: Callable[..., None]) -> None:
    """Run one command as a program of its own: what a file of ``jobs/`` does."""
    app = application(add_completion=False)
    app.command(epilog=EXIT_CODES)(function)
    app()


def command(function: Callable[..., None]) -> Callable[..., None]:
    """The function as a command: settings become flags, arguments become values, errors become sentences.

    A parameter annotated ``ScoringOptions`` or ``RunOptions`` is replaced by a flag for each of its fields. Parameters
    named as in ``READERS`` arrive as values. A command with ``RunOptions`` can be resumed, and says so when stopped.
    """
    hints = get_type_hints(function, include_extras=True)
    groups = {name: kind for name, kind in hints.items() if kind in (ScoringOptions, RunOptions)}
    call = takes(**groups)(function)

    @wraps(function)
    def run(**arguments: Any) -> None:
        with _plain_errors(resumable=RunOptions in groups.values()):
            for name in READERS.keys() & arguments.keys():
                arguments[name] = READERS[name](arguments[name]) if arguments[name] is not None else None
            call(**arguments)

    shape = inspect.signature(function, eval_str=True)
    own = [each.replace(kind=KEYWORD) for each in shape.parameters.values() if each.name not in groups]
    parameters = own + [
        inspect.Parameter(each.name, KEYWORD, default=each.default, annotation=_annotation(group, each.name))
        for group in groups.values()
        for each in fields(group)
    ]
    run.__signature__ = shape.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    return run


def flag_of(options: type, name: str) -> Any:
    """The flag of one declared setting, for a command that takes no other of them: ``Annotated[str, flag_of(…)]``."""
    declared = setting_of(next(each for each in fields(options) if each.name == name))
    complete = (lambda: list(CHOICES[name])) if name in CHOICES else None
    names = [declared.flag] if declared.flag else []
    return Option(*names, help=declared.help, metavar=declared.metavar, autocompletion=complete)


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
    names = dict(column.partition("=")[::2] for column in columns)
    for meaning, name in names.items():
        if not meaning or not name:
            raise UserError(f"--column {meaning}{name} should read MEANING=NAME, such as generated_problem=output.")
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
    from pddl_eval.domains import known_domain_names, planning_domain

    if "(" not in name_or_file and planning_domain(name_or_file) is not None:
        return name_or_file
    path = Path(name_or_file)
    if not path.is_file():
        hint = did_you_mean(name_or_file, known_domain_names(), "known domains")
        raise UserError(f"--domain {name_or_file} is neither a file nor a known domain; {hint}")
    if path.stat().st_size > DOMAIN_BYTES:
        raise UserError(f"--domain {name_or_file} is not a PDDL domain: it has more than {DOMAIN_BYTES:,} bytes.")
    return path.read_text(encoding="utf-8", errors="replace")


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


class _Terminated(KeyboardInterrupt):
    """SIGTERM, which stops a command as cleanly as Ctrl-C."""


def _terminate(_signal: int, _frame: object) -> NoReturn:
    raise _Terminated


@contextmanager
def _plain_errors(*, resumable: bool) -> Iterator[None]:
    """Turn what a command raises into one sentence on stderr and an exit code."""
    signal.signal(signal.SIGTERM, _terminate)
    try:
        yield
    except KeyboardInterrupt as interrupt:
        again = shlex.join(sys.orig_argv if "-m" in sys.orig_argv[:3] else sys.argv)
        say(
            f"Stopped. The finished part is kept; to continue, run: {again}"
            if resumable
            else "Stopped. Nothing was kept."
        )
        raise typer.Exit(143 if isinstance(interrupt, _Terminated) else 130) from None
    except (typer.Exit, typer.Abort, BrokenPipeError):
        raise
    except Exception as error:
        if os.environ.get(TRACEBACK_VARIABLE):
            raise
        say(_sentence(error))
        raise typer.Exit(WRONG_INPUT if isinstance(error, UserError) else FAILED) from None


def _sentence(error: Exception) -> str:
    text = str(error)
    if not isinstance(error, (UserError, RunError)):
        advice = f"set {TRACEBACK_VARIABLE}=1 to see the traceback, and report it in the project's issue tracker"
        return f"Unexpected {type(error).__name__}: {text}. This is a bug in pddl-eval: {advice}."
    if text.partition(" ")[0].isalpha():  # Not a path.
        text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "?")) else f"{text}."
