"""How settings are declared, once: a field is a keyword in Python, a flag of the commands with its help, an entry of
the run's manifest and, where it can change a score, a part of the signature.

The settings of reading and of a run are here, those that can change a score in ``definition.options``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields
from functools import cache
from numbers import Real
from pathlib import PurePosixPath
from typing import Any, TypeVar
from urllib.parse import urlsplit

from pddl_eval.errors import UserError, did_you_mean, require_extra

FIGURES = ("svg", "png", "pdf")

RESULTS = ("eee", "hf")
"""Formats of those who collect results: Every Eval Ever, and the Hub's ``.eval_results``. No suffix means them."""

RELATIONSHIPS = ("first_party", "third_party", "collaborative", "other")
"""Of an evaluator to the models, in the words of Every Eval Ever."""

FORMATS = ("terminal", "md", "tex", "csv", "json", "html", "parquet", "folder", *FIGURES, *RESULTS)
"""What a report can be written as."""

SUFFIXES = {
    "": "folder",
    "txt": "terminal",
    **{each: each for each in FORMATS if each not in ("terminal", "folder", *RESULTS)},
}
"""What the name of an output ends in, and the format that this means."""


def chosen_format(form: str | None, output: str | None) -> str:
    """The format that was asked for, else that of the output's suffix; raises ``UserError`` if it cannot be made."""
    suffix = PurePosixPath(output or "").suffix.removeprefix(".").lower()
    if form is None and output is not None and suffix not in SUFFIXES:
        known = ", ".join(f".{each}" for each in SUFFIXES if each)
        raise UserError(f"--output {output} does not end in a known suffix ({known}): choose one, or say --format.")
    chosen = form or ("terminal" if output is None else SUFFIXES[suffix])
    if chosen in ("parquet", "folder", *FIGURES, *RESULTS) and output is None:
        raise UserError(f"--format {chosen} needs --output FOLDER.")
    if chosen in FIGURES:
        require_extra("figures", "A report with figures")
    return chosen


Called = TypeVar("Called", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Setting:
    """What is known of a field besides its type and default.

    ``flag`` is its name in the command line; a setting without one is for Python and ``--config``, a ``hidden`` one is
    not in the help. ``metavar`` is what the help shows as its value, ``choices`` are the values that it can have.
    ``signed`` is the name in the signature (empty: it changes no score); ``shown`` writes the value there; ``requires``
    names the distributions that a value makes scores depend on.
    """

    help: str
    flag: str = ""
    metavar: str | None = None
    choices: Sequence[str] = ()
    hidden: bool = False
    signed: str = ""
    shown: Callable[[Any], str] = str
    requires: Callable[[Any], Sequence[str]] = lambda _: ()


def setting(default: Any, help: str, flag: str = "", **known: Any) -> Any:
    """A dataclass field with what ``Setting`` says of it."""
    return field(default=default, metadata={"setting": Setting(help, flag, **known)})


def setting_of(each: Field[Any]) -> Setting:
    """What the declaration of a field says."""
    known: Setting = each.metadata["setting"]
    return known


def require_choices(options: Any) -> None:
    """Raise ``UserError`` where a setting that has choices has another value, or a number is none."""
    for name, number, may_be_none, known in _bounded(options.__class__):
        value = getattr(options, name)
        if value is None and may_be_none:
            continue
        if number and not isinstance(value, number):
            raise UserError(f"{name} is a number, not {value!r}")
        if known and value is not None and value not in known:
            raise UserError(f"{name} cannot be {value!r}; {did_you_mean(str(value), known)}")


@cache
def _bounded(group: Any) -> Sequence[tuple[str, type[Any] | None, bool, Sequence[str]]]:
    """The settings of a group that have choices or are numbers: name, type of number, whether none is one, choices."""
    found = []
    for each in fields(group):
        written, known = str(each.type), setting_of(each).choices
        number = {"int": int, "float": Real}.get(written.removesuffix(" | None"))
        if number or known:
            found.append((each.name, number, "None" in written, known))
    return found


def grouped(settings: Mapping[str, Any], *groups: type[Any]) -> list[Any]:
    """Settings given as keywords, as one value of each group of options.

    Raises ``TypeError`` for a keyword that is no setting, as Python does, and ``UserError`` as the groups.
    """
    group_of = {each.name: group for group in groups for each in fields(group)}
    for name in settings.keys() - group_of.keys():
        raise TypeError(f"no setting is named {name}; {did_you_mean(name, group_of, 'settings')}")
    return [group(**{name: value for name, value in settings.items() if group_of[name] is group}) for group in groups]


def shows_settings(*groups: type[Any]) -> Callable[[Called], Called]:
    """Let ``help()`` and completion show a function's ``**settings`` as keywords with their types and defaults."""

    def decorate(function: Called) -> Called:
        shape = inspect.signature(function)
        own = [each for each in shape.parameters.values() if each.kind is not each.VAR_KEYWORD]
        keywords = [
            inspect.Parameter(each.name, inspect.Parameter.KEYWORD_ONLY, default=each.default, annotation=each.type)
            for group in groups
            for each in fields(group)
        ]
        function.__signature__ = shape.replace(parameters=[*own, *keywords])  # type: ignore[attr-defined]
        return function

    return decorate


HARNESSES = ("lm-eval", "inspect", "openai", "planbench", "acpbench")


@dataclass(frozen=True, slots=True)
class ReadingOptions:
    """What an input holds, and where the references of its answers are.

    Raises ``UserError`` where a setting has no meaning.
    """

    harness: str | None = setting(
        None,
        "INPUT is logs of this harness. They hold problems (planbench: plans), answers to questions, or what --column "
        "generated_…=NAME says.",
        "--from",
        choices=HARNESSES,
    )
    references: str | None = setting(
        None,
        "Dataset with the references of INPUT's answers, joined by id; or NAME@REVISION.",
        "--references",
        metavar="DATASET",
    )
    key: Sequence[str] | None = setting(
        None, "The references' id. Default: reference_id, else id, else name.", "--key", metavar="COLUMN,…"
    )
    where: str | None = setting(
        None, "Only the rows of which this is true: \"split = 'test'\".", "--where", metavar="SQL"
    )

    def __post_init__(self) -> None:
        if isinstance(self.key, str):
            object.__setattr__(self, "key", [self.key])
        require_choices(self)
        if self.key and self.harness is None and self.references is None:
            raise UserError("--key belongs to --references or --from: it names the id of the references")


ENGINES = ("auto", "local", "ray")

ROWS_AGAIN = 100
"""Rows that a verification scores again where no number is named."""

SHARD_ROWS = 2048
"""Rows of a shard, unless they take the kernel less than a second: a hundred times the overhead of a shard, and few
enough that a lost worker costs little and that ten thousand rows occupy several."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Where and how a dataset is scored; none of it changes a score.

    ``engine`` can name the Ray cluster too: ``ray://HOST:PORT`` is the engine ``ray`` with that ``address``. Raises
    ``UserError`` where a setting has no meaning.
    """

    engine: str = setting(
        "auto",
        "Where to score; changes no score. Without an address, ray is the cluster in RAY_ADDRESS, else this machine.",
        "--engine",
        metavar="|".join((*ENGINES, "ray://HOST:PORT")),
        choices=ENGINES,
    )
    address: str | None = setting(
        None, "Ray cluster to join: auto, HOST:PORT or ray://HOST:PORT.", "--address", hidden=True
    )
    workers: int | None = setting(
        None, "Worker processes, or tasks in flight on Ray. Default: what pays.", "--workers", metavar="N"
    )
    shard_rows: int | None = setting(None, "Rows of a shard, at most. Default: about a second of work.")
    counters: str | None = setting(
        None,
        "Counters while it runs: a Prometheus textfile (.prom) or lines of JSON (.jsonl); may be s3://….",
        "--counters",
        metavar="FILE",
        hidden=True,
    )

    def __post_init__(self) -> None:
        if self.counters is not None and not str(self.counters).endswith((".prom", ".jsonl")):
            raise UserError(f"The file of counters ends in .prom or .jsonl, not {self.counters}.")
        for place in (self.engine, self.address or ""):
            if place.startswith("ray://") and not urlsplit(place).hostname:
                raise UserError(f"{place} names no host: ray://HOST:PORT is a Ray cluster.")
        if self.engine.startswith("ray://"):
            object.__setattr__(self, "address", self.engine)
            object.__setattr__(self, "engine", "ray")
        require_choices(self)
        if self.workers is not None and self.workers < 1:
            raise UserError(f"A run has at least one worker, not {self.workers}.")
        if self.shard_rows is not None and self.shard_rows < 1:
            raise UserError(f"A shard holds at least one row, not {self.shard_rows}.")
        if self.engine == "local" and self.address:
            raise UserError("An address is that of a Ray cluster: choose the engine ray or auto.")
        if self.engine == "ray" or self.address:
            require_extra("ray", "The engine ray")
