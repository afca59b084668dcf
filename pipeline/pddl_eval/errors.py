"""The two kinds of errors that are not bugs: a mistake of the user, and a run that failed.

Inside scoring, what goes wrong is a value (a verdict with its detail); these exceptions are raised at the edges. Each
message says in one sentence what is wrong, where, and what would be right.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextvars import ContextVar
from difflib import get_close_matches
from enum import IntEnum
from importlib.util import find_spec
from threading import Event

EXTRAS = {
    "azure": ("fsspec", "adlfs"),
    "embedding": ("sentence_transformers",),
    "figures": ("altair", "vl_convert"),
    "gcs": ("fsspec", "gcsfs"),
    "hf": ("fsspec", "huggingface_hub"),
    "http": ("fsspec", "aiohttp"),
    "planner": ("up_fast_downward",),
    "ray": ("ray",),
}
"""What the extras of ``pyproject.toml`` install for those who ask for it, as import names."""

told_to_stop = Event()
"""Set where this process owns its signals (commands, workers) when one tells it to stop."""


class Loudness(IntEnum):
    """How much a command says on stderr: only what is wrong; also progress and what is good to know; also each step."""

    QUIET, NORMAL, VERBOSE = range(3)


loudness = ContextVar("loudness", default=Loudness.NORMAL)


class UserError(ValueError):
    """The command, a setting or the input cannot be used as it is. Exit code 2."""


class RunError(Exception):
    """The run failed or is incomplete, although its input and settings are valid. Exit code 1."""


def never_an_interrupt(error: Exception) -> None:
    """Raise ``KeyboardInterrupt`` if the error is what a library made of one.

    For places that turn any error into a result: an interrupt is none.

    >>> never_an_interrupt(ValueError("a bug in one row"))
    """
    if told_to_stop.is_set() or isinstance(error.__context__, KeyboardInterrupt):
        raise KeyboardInterrupt from error


def how_to_install(extra: str) -> str | None:
    """The command that installs an extra; None where all of it is installed.

    >>> how_to_install("planner")
    """
    missing = [name for name in EXTRAS[extra] if name not in sys.modules and find_spec(name) is None]
    return f"pip install 'pddl-eval[{extra}]'" if missing else None


def require_extra(extra: str, what: str) -> None:
    """Raise ``UserError`` where what the user asks for needs an extra that is not installed."""
    if command := how_to_install(extra):
        raise UserError(f"{what} needs an extra that is not installed: {command}")


def did_you_mean(name: str, known: Iterable[str], plural: str = "choices") -> str:
    """The end of a sentence about a name that is not known: the nearest known one, else all of them.

    >>> did_you_mean("griper", ["blocksworld", "gripper"])
    'did you mean gripper?'
    """
    known = list(known)
    near = get_close_matches(name, known, n=1)
    return f"did you mean {near[0]}?" if near else f"the {plural} are {', '.join(known) or 'none'}"
