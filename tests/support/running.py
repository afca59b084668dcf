"""Runs the command as a person does, in this process or in one of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pddl_eval
from click.testing import CliRunner, Result
from pddl_eval.commands.cli import main

ROOT = Path(__file__).parent.parent.parent

ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": os.pathsep.join([str(Path(pddl_eval.__file__).parent.parent), str(ROOT)]),
}
"""Other processes find the same package as this one, and the tests' modules."""


def run(*arguments: object, stdin: str | None = None) -> Result:
    """The command in this process; ``exit_code``, ``stdout`` and ``stderr`` say what came of it."""
    result = CliRunner().invoke(main, [str(argument) for argument in arguments], input=stdin)
    assert "Traceback" not in result.stderr
    return result


def start(*arguments: object, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """A Python program in a process of its own."""
    command = [sys.executable, *map(str, arguments)]
    return subprocess.run(command, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True)


def settings(folder: Path, *lines: str) -> tuple[str, str]:
    """The options for a file with these settings, in TOML."""
    (folder / "settings.toml").write_text("\n".join(lines))
    return "--config", f"{folder}/settings.toml"


def shard_rows(rows: int, folder: Path) -> tuple[str, str]:
    """The options for shards of so many rows: there is no flag."""
    return settings(folder, f"shard-rows = {rows}")


def only_line(text: str) -> str:
    """The one line that the text has."""
    (line,) = text.splitlines()
    return line
