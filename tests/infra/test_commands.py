"""Every command line of infra/ is one that the commands understand; no file of infra/ holds a credential."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.infra.folder import INFRA

FILES = sorted(file for file in INFRA.rglob("*") if file.is_file())

COMMAND = re.compile(r"(?:\bpddl-eval(?::[\w.]+)? |\bpython -m pddl_eval\.)(?P<job>[a-z]+)(?P<arguments>(?: .*)?)$")
END_OF_COMMAND = re.compile(r"\s(?:&&|\|\|?|;|>|<).*$")


def command_lines(file: Path) -> Iterator[tuple[str, list[str]]]:
    """The job and the arguments of each command: in ``sh`` blocks of a README, outside comments elsewhere."""
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".md":
        text = "\n".join(re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    for line in text.replace("\\\n", " ").splitlines():
        found = None if line.lstrip().startswith("#") else COMMAND.search(line)
        if found:
            arguments = shlex.split(END_OF_COMMAND.sub("", found["arguments"]), comments=True)
            yield found["job"], [argument for argument in arguments if argument != "$@"]


COMMANDS = sorted({(job, *arguments) for file in FILES for job, arguments in command_lines(file)})


def command_of(job: str) -> Any:
    """The job as the command line knows it."""
    import typer

    app = typer.Typer()
    app.command()(getattr(import_module(f"pddl_eval.commands.{job}"), job))
    return typer.main.get_command(app)


def test_the_commands_that_a_scheduler_needs_are_there() -> None:
    assert {job for job, *_ in COMMANDS} == {"score", "rescore", "report", "compare"}


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_the_command_line_is_understood(command: tuple[str, ...]) -> None:
    from pddl_eval.commands.cli import JOBS

    job, *arguments = command
    assert job in JOBS
    command_of(job).make_context(job, arguments)  # Raises where an option does not exist or an argument is missing.


def test_a_wrong_command_line_would_be_noticed() -> None:
    with pytest.raises(Exception, match="no-such-option"):
        command_of("score").make_context("score", ["a", "b", "--no-such-option"])


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(INFRA)))
def test_no_credential_is_written_down(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert not re.search(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|PRIVATE KEY-----", text)
    for name, value in re.findall(r"(\w*(?:ACCESS_KEY|ACCESS_KEY_ID|TOKEN|SECRET|PASSWORD))\s*[=:]\s*(\S+)", text):
        assert value.startswith('"$('), f"{name} is given a value that does not come from elsewhere"


def test_every_file_is_explained() -> None:
    guide = (INFRA / "README.md").read_text(encoding="utf-8")
    for file in FILES:
        if file.name != "README.md":
            assert file.name in guide or f"{file.stem}.*" in guide, f"README.md does not mention {file.name}"
