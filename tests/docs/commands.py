"""The commands as a shell sees them: options, help, examples; nothing is run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pddl_eval.commands.cli import app
from typer.main import get_command

COMMANDS = list(get_command(app).commands)  # type: ignore[attr-defined]


@dataclass(frozen=True, slots=True)
class Described:
    """A command or subcommand: its words, its options and its help as it is written."""

    words: tuple[str, ...]
    click_command: Any

    @property
    def options(self) -> set[str]:
        """The options of the command and of its subcommands."""
        own = {name for parameter in self.click_command.params for name in parameter.opts}
        below = [option for command in subcommands(self) for option in command.options]
        return own.union(below, ["--help"])

    @property
    def help(self) -> str:
        return self.click_command.help or ""

    @property
    def examples(self) -> list[list[str]]:
        """The calls in its help, as words behind the command's name."""
        return [call.split() for call in re.findall(r"pddl-eval ((?:[^;\n.]|\.(?=\S))+)", self.help)]

    def parse(self, arguments: list[str]) -> None:
        """Raise where the command would refuse these arguments."""
        with self.click_command.make_context(self.words[-1], list(arguments)):
            pass


def command_named(name: str) -> Described:
    """The command ``pddl-eval NAME``."""
    return Described((name,), get_command(app).commands[name])  # type: ignore[attr-defined]


def subcommands(command: Described) -> list[Described]:
    """Those of a command that has some."""
    below = getattr(command.click_command, "commands", {})
    return [Described((*command.words, name), each) for name, each in below.items()]


def all_commands() -> Iterator[Described]:
    """Every command and subcommand."""
    for name in COMMANDS:
        command = command_named(name)
        yield command
        yield from subcommands(command)
