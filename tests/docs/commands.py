"""The commands as a shell sees them: options, help, examples; nothing is run."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from pddl_eval.commands.cli import main


@dataclass(frozen=True, slots=True)
class Described:
    """A command or subcommand: its words and what click made of it."""

    words: tuple[str, ...]
    click_command: Any

    @property
    def subcommands(self) -> list[Described]:
        """The commands below this one."""
        below = getattr(self.click_command, "commands", {})
        return [Described((*self.words, name), each) for name, each in below.items()]

    @property
    def options(self) -> set[str]:
        """The options of the command and of its subcommands."""
        shown = (each for each in self.click_command.params if not getattr(each, "hidden", False))
        own = {name for parameter in shown for name in parameter.opts}
        return own.union({"--help"}, *(each.options for each in self.subcommands))

    @property
    def examples(self) -> list[list[str]]:
        """The calls in its help, as words behind the command's name."""
        return [
            call.split() for call in re.findall(r"pddl-eval ((?:[^;\n.]|\.(?=\S))+)", self.click_command.help or "")
        ]

    def parse(self, arguments: list[str]) -> None:
        """Raise where the command would refuse these arguments."""
        with self.click_command.make_context(self.words[-1], list(arguments)):
            pass


COMMANDS = {command.words[0]: command for command in Described((), main).subcommands}
"""The commands by name."""
