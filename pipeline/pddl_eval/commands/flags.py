"""The arguments and options that several commands have, and a flag for each declared setting."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import Field, fields
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import click

from pddl_eval.errors import UserError
from pddl_eval.settings import setting_of

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

DOMAIN_BYTES = 10 * 2**20
"""Largest file of a domain that is read."""

TYPES: dict[str, Any] = {"bool": click.BOOL, "int": click.INT, "float": click.FLOAT}
"""By the annotation of a setting. Any other is a text, or texts."""


class Argument(click.Argument):
    """A positional argument that the help explains."""

    def __init__(self, *names: Any, meaning: str, **known: Any) -> None:
        super().__init__(*names, **known)
        self.meaning = meaning


class FileOnly(click.Option):
    """A setting without a flag: what is not in the file of ``--config`` has its default."""

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        """The command line does not know it."""


class Known(click.Choice[str]):
    """Values that the help lists and a shell completes. The settings themselves refuse others, also in Python."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ARG002
        """The value as it is."""
        return value


def argument(name: str, metavar: str, meaning: str, **known: Any) -> Callable[[Decorated], Decorated]:
    """A positional argument."""
    return click.argument(name, cls=Argument, metavar=metavar, meaning=meaning, **known)


def flags(options: type, *names: str) -> Callable[[Decorated], Decorated]:
    """A flag for each setting that the options declare, or for those with these names."""

    def decorate(function: Decorated) -> Decorated:
        for each in reversed(fields(options)):
            if not names or each.name in names:
                function = _flag(each)(function)
        return function

    return decorate


def _flag(each: Field[Any]) -> Callable[[Decorated], Decorated]:
    known = setting_of(each)
    annotation = str(each.type).removesuffix(" | None")
    return click.option(
        known.flag or f"--{each.name.replace('_', '-')}",
        each.name,
        cls=click.Option if known.flag else FileOnly,
        default=each.default,
        type=Known(known.choices) if known.choices else TYPES.get(annotation, click.STRING),
        multiple=annotation.startswith(("Mapping", "Sequence")),  # A mapping is written MEANING=NAME, repeatedly.
        metavar=known.metavar or "|".join(known.choices) or None,
        help=known.help,
        hidden=known.hidden or not known.flag,
        show_default=each.default is not None,
    )


columns_option = partial(click.option, metavar="COLUMN,…", multiple=True)
"""An option that names columns of the dataset, repeatedly or with commas."""


def key(default: str) -> Callable[[Decorated], Decorated]:
    """``--key`` of a command that looks rows up; ``default`` says by what it does without."""
    return columns_option("--key", help=f"What identifies a row. Default: {default}.")


INPUT = "Files, folders, patterns or URIs: Parquet, JSON Lines, CSV or Arrow IPC."
inputs = argument("inputs", "INPUT...", INPUT, nargs=-1, required=True)
by = columns_option("--by", help="Group by these, '' for none. Default: model,domain if present.")
metrics = columns_option("--metrics", help="Only these scores: equivalent,plan_valid,…. Default: all.")
is_placeholder = click.option("--is-placeholder", is_flag=True, help="Compare initial states and goals separately.")
terminal_or_json = click.option(
    "--format", type=click.Choice(["terminal", "json"]), default="terminal", show_default=True, help="How to write it."
)
seed = click.option("--seed", default=0, show_default=True, help="Seed of what is drawn at random.")
workers = click.option("--workers", type=click.IntRange(min=1), help="Worker processes. Default: one a CPU.")


def column_names(columns: Sequence[str]) -> dict[str, str]:
    """Meaning → name of the dataset's column, from ``MEANING=NAME`` arguments.

    Raises ``UserError``.

    >>> column_names(["generated_problem=output"])
    {'generated_problem': 'output'}
    """
    return _assigned(columns, "--column", "MEANING=NAME, such as generated_problem=output")


def facts(arguments: Sequence[str]) -> dict[str, str]:
    """Name → value, from ``NAME=VALUE`` arguments of ``--about``; raises ``UserError``.

    >>> facts(["organization=ACME", "url=https://acme.example/?a=1"])
    {'organization': 'ACME', 'url': 'https://acme.example/?a=1'}
    """
    return _assigned(arguments, "--about", "NAME=VALUE, such as organization=ACME")


def _assigned(arguments: Sequence[str], option: str, form: str) -> dict[str, str]:
    names: dict[str, str] = {}
    for argument in arguments:
        meaning, _, name = argument.partition("=")
        if not meaning or not name:
            raise UserError(f"{option} {argument} should read {form}.")
        if meaning in names:
            raise UserError(f"{option} names {meaning} twice: {names[meaning]} and {name}.")
        names[meaning] = name
    return names


def split_names(arguments: Sequence[str]) -> list[str] | None:
    """Column names given one by one or separated by commas; None where the option is not given.

    >>> split_names(["model,split", "domain"])
    ['model', 'split', 'domain']
    """
    return [name for argument in arguments for name in argument.split(",") if name] if arguments else None


def domain_text(name_or_file: str | None) -> str | None:
    """A known domain's name as it is, else the content of the file.

    Raises ``UserError`` where it is neither.

    >>> domain_text("gripper")
    'gripper'
    """
    from pddl_eval.datasets import read_text
    from pddl_eval.definition.domains import chosen_domain

    if name_or_file is None:
        return None
    path = Path(name_or_file)
    try:
        chosen_domain(name_or_file)
        return name_or_file
    except UserError as error:
        if not path.is_file():
            raise UserError(f"--domain {name_or_file} is no file, and {error}") from None
    if path.stat().st_size > DOMAIN_BYTES:
        raise UserError(f"--domain {name_or_file} is not a PDDL domain: it has more than {DOMAIN_BYTES:,} bytes.")
    text = read_text(name_or_file)
    try:
        chosen_domain(text)
    except UserError as error:
        raise UserError(f"--domain {name_or_file}: {error}") from None
    return text


READERS: dict[str, Callable[[Any], Any]] = {
    "about": facts,
    "columns": column_names,
    "domain": domain_text,
    **dict.fromkeys(("by", "chosen_columns", "key", "kinds", "metrics", "models"), split_names),
}
"""How what is written becomes a value, by the name of the parameter."""
