"""Settings from a file: TOML or YAML with the names of the flags, for ``--config FILE`` and ``read_config``.

A file is read as data only: no tags, no anchors, bounded in size, and each value has the type that its setting has.
YAML is read by the core schema of YAML 1.2, so that ``on`` is a name and not a truth value.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from pddl_eval.domains import chosen_domain
from pddl_eval.errors import UserError, did_you_mean
from pddl_eval.options import ReadingOptions, RunOptions, ScoringOptions, setting_of
from pddl_eval.shown import shorten

CONFIG_BYTES = 64 * 1024
"""Of a file of settings, at most."""

DOMAIN_BYTES = 10 * 2**20

SUFFIXES = (".toml", ".yaml", ".yml")

CORE_SCHEMA = {
    "bool": (r"true|True|TRUE|false|False|FALSE", "tTfF"),
    "null": (r"~|null|Null|NULL|", "~nN\0"),
    "int": (r"[-+]?(?:0|[1-9][0-9]*)", "-+0123456789"),
    "float": (r"[-+]?(?:(?:\.[0-9]+|[0-9]+\.[0-9]*)(?:[eE][-+]?[0-9]+)?|[0-9]+[eE][-+]?[0-9]+)", "-+.0123456789"),
}
"""Plain YAML scalars that are no text: tag, pattern, first characters."""


def read_config(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The settings in a TOML or YAML file, as keywords of ``score_dataset`` and of what else takes the same settings.

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
    known: dict[str, tuple[str, Any]] = {}
    for options in (ReadingOptions, ScoringOptions, RunOptions):
        types = get_type_hints(options)
        for each in fields(options):
            for name in (each.name, setting_of(each).flag.removeprefix("--")):
                known[name] = (each.name, types[each.name])
    settings = named_settings(read_settings(path), known, path)
    if settings.get("domain"):
        settings["domain"] = domain_text(settings["domain"])
    return settings


def named_settings(
    settings: Mapping[str, Any], known: Mapping[str, tuple[str, Any]], path: str | os.PathLike[str]
) -> dict[str, Any]:
    """The settings under their keywords; ``known`` says keyword and type of each name, in which ``-`` may be ``_``.

    Raises ``UserError`` for a name that is not known, twice the same setting and a value of another type.

    >>> named_settings({"row-seconds": 5}, {"row_seconds": ("row_seconds", float)}, "settings.toml")
    {'row_seconds': 5}
    """
    keywords = {name.replace("-", "_"): keyword for name, keyword in known.items() if name}
    found: dict[str, Any] = {}
    for name, value in settings.items():
        if name.replace("-", "_") not in keywords:
            hint = did_you_mean(name, [each for each in known if each], "settings")
            raise UserError(f"{path}: no setting is named {shorten(name, 80)}; {hint}")
        keyword, type_ = keywords[name.replace("-", "_")]
        if keyword in found:
            raise UserError(f"{path}: {name} is there twice, in two spellings")
        if value is None:
            continue
        if not _fits(value, type_):
            raise UserError(f"{path}: {name} should be {_described(type_)}, not {shorten(repr(value), 80)}")
        found[keyword] = value
    return found


def read_settings(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The names and values in a TOML or YAML file, by its suffix; raises ``UserError`` where it is none.

    >>> read_settings("settings.ini")
    Traceback (most recent call last):
    pddl_eval.errors.UserError: --config settings.ini should end in .toml, .yaml, .yml
    """
    file = Path(path)
    if file.suffix.lower() not in SUFFIXES:
        raise UserError(f"--config {file} should end in {', '.join(SUFFIXES)}")
    try:
        if file.stat().st_size > CONFIG_BYTES:
            raise UserError(f"--config {file} has more than {CONFIG_BYTES:,} bytes")
        text = file.read_text(encoding="utf-8-sig")
        settings = tomllib.loads(text) if file.suffix.lower() == ".toml" else _from_yaml(text)
    except OSError as error:
        raise UserError(f"cannot read --config {file}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:  # TOML's errors and those of the encoding are ValueErrors.
        if isinstance(error, UserError):
            raise
        reason = "nested too deeply" if isinstance(error, RecursionError) else " ".join(str(error).split())
        raise UserError(f"--config {file} cannot be read: {shorten(reason, 300)}") from None
    if not isinstance(settings, dict) or not all(isinstance(name, str) for name in settings):
        raise UserError(f"--config {file} should hold names and values, such as workers: 4")
    return settings


def _from_yaml(text: str) -> Any:
    """The value of a YAML document: text, numbers, truth values, lists and tables; ``ValueError`` for all else."""
    import yaml  # Only files of settings in YAML need it.

    class Loader(yaml.SafeLoader):  # type: ignore[misc]  # pyyaml has no types.
        yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 (pyyaml's, which subclasses replace)

        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.AliasEvent):  # Aliases of aliases spell out a document without end.
                raise ValueError("aliases (*name) are not allowed")
            return super().compose_node(parent, index)

        def construct_mapping(self, node: Any, deep: bool = False) -> Any:  # noqa: ARG002 (pyyaml's)
            pairs = [(self.construct_object(key, deep=True), value) for key, value in node.value]
            found: dict[str, Any] = {}
            for name, value in pairs:
                if not isinstance(name, str):
                    raise ValueError(f"a name should be text, not {name!r}")
                if name in found:
                    raise ValueError(f"{name} is there twice")
                found[name] = self.construct_object(value, deep=True)
            return found

    for tag, (pattern, first) in CORE_SCHEMA.items():
        characters = ["" if each == "\0" else each for each in first]
        Loader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(rf"(?:{pattern})\Z"), characters)
    try:
        return yaml.load(text, Loader) or {}  # noqa: S506, RUF100 (a subclass of SafeLoader)
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from None


def _fits(value: Any, type_: Any) -> bool:
    """Whether a value of a file has that type; an integer is a float, a text is a list of one."""
    origin, arguments = get_origin(type_), get_args(type_)
    if origin in (Union, UnionType):
        return any(_fits(value, each) for each in arguments if each is not NoneType)
    if origin is Literal:
        return value in arguments
    if origin in (list, Sequence):
        return isinstance(value, str) or (isinstance(value, list) and all(_fits(each, arguments[0]) for each in value))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return isinstance(value, dict) and all(isinstance(each, str) for item in value.items() for each in item)
    if isinstance(type_, type) and issubclass(type_, os.PathLike):
        return isinstance(value, str)
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if type_ in (int, float):
        return number and (type_ is float or isinstance(value, int))
    return isinstance(value, type_)


def _described(type_: Any) -> str:
    """A type in words.

    >>> _described(int | None), _described(Literal["md", "json"])
    ('a whole number', 'one of md, json')
    """
    origin, arguments = get_origin(type_), get_args(type_)
    if origin in (Union, UnionType):
        return " or ".join(_described(each) for each in arguments if each is not NoneType)
    if origin is Literal:
        return f"one of {', '.join(arguments)}"
    if origin in (list, Sequence):
        return "a text or a list of texts"
    if isinstance(origin, type):
        return "a table of texts"
    return {int: "a whole number", float: "a number", bool: "true or false"}.get(type_, "a text")


def domain_text(name_or_file: str) -> str:
    """A known domain's name as it is, else the content of the file.

    Raises ``UserError`` where it is neither.

    >>> domain_text("gripper")
    'gripper'
    """
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
