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

try:
    import resource
except ImportError:  # Windows.
    resource = None  # type: ignore[assignment]

EXTRAS = {
    "azure": ("fsspec", "adlfs"),
    "embedding": ("sentence_transformers",),
    "figures": ("altair", "vl_convert"),
    "gcs": ("fsspec", "gcsfs"),
    "hf": ("fsspec", "huggingface_hub"),
    "http": ("fsspec", "aiohttp"),
    "mcp": ("mcp",),
    "planner": ("up_fast_downward",),
    "ray": ("ray",),
}
"""What the extras of ``pyproject.toml`` install for those who ask for it, as import names."""

MAX_NAME = 100
"""Characters of a name that is compared with those that it may have meant."""

FIGURES_ADDRESSES = 80 * 10**9
"""Address space that drawing reserves, of which it uses next to nothing."""


class Verbosity(IntEnum):
    """How much a command says on stderr: only what is wrong; also progress and what is good to know; also each step."""

    QUIET, NORMAL, VERBOSE = range(3)


verbosity = ContextVar("verbosity", default=Verbosity.NORMAL)

FAILED, WRONG_INPUT, UNFINISHED, TRY_AGAIN = 1, 2, 3, 75
"""Exit codes. The last one is ``EX_TEMPFAIL`` of ``sysexits.h``."""


class UserError(ValueError):
    """The command, a setting or the input cannot be used as it is."""

    exit_code = WRONG_INPUT


class RunError(Exception):
    """The run failed or is incomplete, although its input and settings are valid."""

    exit_code = FAILED


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
    if extra == "figures" and resource:
        allowed, _ = resource.getrlimit(resource.RLIMIT_AS)
        if allowed != resource.RLIM_INFINITY and allowed < FIGURES_ADDRESSES:  # Its JavaScript ends the process then.
            raise UserError(
                f"{what} needs {FIGURES_ADDRESSES / 1e9:.0f} GB of addresses, though little memory, and the limit is "
                f"{allowed / 1e9:.0f} GB: ulimit -v unlimited, or a format without figures"
            )


def did_you_mean(name: str, known: Iterable[str], plural: str = "choices") -> str:
    """The end of a sentence about a name that is not known: the nearest known one, else all of them.

    >>> did_you_mean("griper", ["blocksworld", "gripper"])
    'did you mean gripper?'
    """
    known = list(known)
    near = get_close_matches(name[:MAX_NAME], known, n=1)
    return f"did you mean {near[0]}?" if near else f"the {plural} are {', '.join(known) or 'none'}"
