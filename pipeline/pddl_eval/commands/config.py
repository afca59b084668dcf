"""Settings from a file: TOML with the names of the flags, for ``--config FILE`` and ``read_config``.

A file is bounded in size. What a flag would refuse, it refuses.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from pddl_eval.commands.flags import READERS, flags
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.errors import UserError, did_you_mean
from pddl_eval.settings import ReadingOptions, RunOptions
from pddl_eval.shown import shorten

CONFIG_BYTES = 64 * 1024
"""Largest file of settings that is read."""


@click.command()
@flags(ReadingOptions)
@flags(ScoringOptions)
@flags(RunOptions)
def _settings(**_: Any) -> None:
    """Every declared setting, for ``read_config``."""


def read_config(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The settings in a TOML file, as keywords of ``score_dataset`` and of what else takes the same settings.

    Names are those of the flags, with ``-`` or ``_``: ``column`` (a table), ``domain`` (a name or a file),
    ``row-seconds``. Raises ``UserError`` where the file cannot be read, a name is no setting or a value has the wrong
    type.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "settings.toml"
    ...     _ = path.write_text('workers = 2\\n[column]\\ngenerated_problem = "output"\\n')
    ...     read_config(path)
    {'workers': 2, 'columns': {'generated_problem': 'output'}}
    """
    found = file_values(path, click.Context(_settings))
    return {name: READERS[name](value) if name in READERS else value for name, value in found.items()}


def file_values(path: str | os.PathLike[str], ctx: click.Context) -> dict[str, Any]:
    """The values in a file for the options of a command, by the names of the parameters; errors as ``read_config``."""
    options = [each for each in ctx.command.params if isinstance(each, click.Option) and each.expose_value]
    flag_of = {each: each.opts[0].removeprefix("--") for each in options}
    named = {name.replace("-", "_"): each for each in options for name in (each.name or "", flag_of[each])}
    found: dict[str, Any] = {}
    for name, value in read_settings(path).items():
        option = named.get(name.replace("-", "_"))
        if option is None:
            hint = did_you_mean(name, flag_of.values(), "settings")
            raise UserError(f"{path}: no setting is named {shorten(name, 80)}; {hint}")
        if option.name in found:
            raise UserError(f"{path}: {name} is there twice, in two spellings")
        try:
            found[option.name or ""] = option.type_cast_value(ctx, _as_written(value, several=option.multiple))
        except (click.BadParameter, ValueError) as error:
            raise UserError(f"{path}: {name} cannot have this value: {shorten(str(error), 300)}") from None
    return found


def _as_written(value: Any, *, several: bool) -> str | Sequence[str]:
    """A value of a file as the command line would have it, where every value is text."""
    if isinstance(value, dict):
        value = [f"{meaning}={name}" for meaning, name in value.items()]
    if isinstance(value, list) and not several:
        raise ValueError("it should be one text or number")
    values = value if isinstance(value, list) else [value]
    if not all(isinstance(each, str | int | float) for each in values):
        raise ValueError("it should be text, a number, true or false")
    return list(map(str, values)) if several else str(value)


def read_settings(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The names and values in a TOML file; raises ``UserError`` where it is none.

    >>> read_settings("settings.ini")
    Traceback (most recent call last):
    pddl_eval.errors.UserError: --config settings.ini should end in .toml
    """
    file = Path(path)
    if file.suffix.lower() != ".toml":
        raise UserError(f"--config {file} should end in .toml")
    try:
        if file.stat().st_size > CONFIG_BYTES:
            raise UserError(f"--config {file} has more than {CONFIG_BYTES:,} bytes")
        return tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise UserError(f"cannot read --config {file}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:  # TOML's errors and those of the encoding are ValueErrors.
        if isinstance(error, UserError):
            raise
        reason = "nested too deeply" if isinstance(error, RecursionError) else " ".join(str(error).split())
        raise UserError(f"--config {file} cannot be read: {shorten(reason, 300)}") from None
