"""The command ``pddl-eval``: finds the job that is asked for, runs it, and says in one sentence what went wrong.

Only the module of that job is imported, so that the help appears at once. A job is a module of this package with a
function of its own name, annotated for typer, or, where it has commands of its own, a typer ``app``; it runs by itself
as ``python -m pddl_eval.<name>`` too.

Exit codes: 0 done, 1 the run failed or is incomplete, 2 the command or its input is wrong, 130 interrupted (Ctrl-C),
143 terminated.
"""

from __future__ import annotations

import os
import shlex
import signal
import sys
from collections.abc import Callable
from functools import wraps
from importlib import import_module
from typing import Any, NoReturn

import typer

JOBS = {
    "score": "Score a dataset of (generated, reference) pairs into a folder of Parquet partitions.",
    "rescore": "Score a dataset again: only rows that changed, the others keep the scores they have.",
    "compare": "Compare two scored datasets row by row: which answers got better or worse, and by how much.",
    "report": "Turn a scored dataset into the tables and figures of a paper.",
    "explain": "Show why an answer has its verdict: what was read, what differs, what decided.",
    "generate": "Make the benchmark's text-to-PDDL pairs, or answers of known correctness.",
    "bench": "Measure pairs per second by stage on this machine, beside a plain baseline.",
    "dedupe": "Find the rows that state the same planning problem, and leaks between splits.",
}

RESUMABLE = ("score", "rescore")
"""Jobs that keep what is finished when they are interrupted."""

RUN_FAILED, WRONG_INPUT = 1, 2

EXIT_CODES = "Exit codes: 0 done, 1 failed or incomplete, 2 wrong command or input, 130 Ctrl-C, 143 terminated."
"""The last line of every command's help."""

TRACEBACK_VARIABLE = "PDDL_EVAL_TRACEBACK"
"""Set it to see where an unexpected error comes from."""


def main() -> None:
    """Entry point of ``pddl-eval``."""
    app = typer.Typer(name="pddl-eval", pretty_exceptions_enable=False, no_args_is_help=True)
    app.callback(epilog=EXIT_CODES)(_describe)
    asked = next((argument for argument in _arguments() if not argument.startswith("-")), None)
    for name, summary in JOBS.items():
        if name == asked:
            module = import_module(f"pddl_eval.commands.{name}")
            if hasattr(module, "app"):
                app.add_typer(module.app, name=name)
            else:
                app.command(name, epilog=EXIT_CODES)(with_plain_errors(getattr(module, name)))
        else:
            app.command(name, help=summary)(_not_imported)
    app()


def run_job(function: Callable[..., None]) -> None:
    """Run one job as a command of its own: what ``python -m pddl_eval.commands.score`` does."""
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command(epilog=EXIT_CODES)(with_plain_errors(function))
    app()


def with_plain_errors(function: Callable[..., None]) -> Callable[..., None]:
    """The function with its exceptions turned into one sentence on stderr and an exit code."""

    @wraps(function)
    def run(*arguments: Any, **options: Any) -> None:
        signal.signal(signal.SIGTERM, _terminate)
        try:
            function(*arguments, **options)
        except KeyboardInterrupt as interrupt:
            code = 143 if isinstance(interrupt, _Terminated) else 130
            if function.__name__ in RESUMABLE:
                again = shlex.join(sys.orig_argv if "-m" in sys.orig_argv[:3] else sys.argv)
                _say(f"Stopped. What is finished is kept; the same command goes on from there: {again}")
            else:
                _say("Stopped. Nothing was kept.")
            raise typer.Exit(code) from None
        except (typer.Exit, typer.Abort, BrokenPipeError):
            raise
        except Exception as error:
            if os.environ.get(TRACEBACK_VARIABLE):
                raise
            sentence, code = _explain(error)
            _say(sentence)
            raise typer.Exit(code) from None

    return run


def _arguments() -> list[str]:
    """The words behind the command's name; those that a shell wants completed, where it asks for that."""
    line = os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS")  # bash; zsh and fish
    return line.split()[1:] if line and "_PDDL_EVAL_COMPLETE" in os.environ else sys.argv[1:]


class _Terminated(KeyboardInterrupt):
    """SIGTERM, stopped as cleanly as Ctrl-C."""


def _terminate(_signal: int, _frame: object) -> NoReturn:
    raise _Terminated


def _describe() -> None:
    """Score PDDL problems, plans and domains written by language models against references.

    \b
    pddl-eval score pairs.parquet scored
    pddl-eval report scored --output report.html
    pddl-eval explain scored --row 17
    """


def _not_imported() -> None:
    """Stands for a job in the help; its module is imported when it is asked for."""


def _explain(error: Exception) -> tuple[str, int]:
    from pddl_eval.run import DatasetError, EngineError, OutputError, RunIncomplete

    sentence = str(error)
    if isinstance(error, (OutputError, EngineError, RunIncomplete)):
        return sentence, RUN_FAILED
    if isinstance(error, (DatasetError, ValueError)):
        if sentence.partition(" ")[0].isalpha():  # Not a path.
            sentence = sentence[:1].upper() + sentence[1:]
        return sentence + ("" if sentence.endswith((".", "?")) else "."), WRONG_INPUT
    return f"Unexpected {type(error).__name__}: {sentence} (set {TRACEBACK_VARIABLE}=1 to see where)", RUN_FAILED


def _say(sentence: str) -> None:
    print(f"pddl-eval: {sentence}", file=sys.stderr)


if __name__ == "__main__":
    main()
