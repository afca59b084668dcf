"""Every command line of infra/ is one that the commands and jobs understand; no file of infra/ holds a credential."""

from __future__ import annotations

import re
import runpy
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pddl_eval.commands.cli import main

from tests.infra.folder import INFRA, ROOT

FILES = sorted(
    file
    for file in INFRA.rglob("*")
    if file.is_file() and file.relative_to(INFRA).parts[0] != "site" and file.suffix != ".pyc"
)
"""All but the documentation site, which runs nothing, and bytecode."""

COMMAND = re.compile(
    r"(?:\bpddl-eval(?::[\w.]+)? (?P<command>[a-z]+)|python (?:/opt/pddl-eval/)?(?P<job>jobs/\w+\.py))"
    r"(?P<arguments>(?: .*)?)$"
)
END_OF_COMMAND = re.compile(r"\s(?:&&|\|\|?|;|>|<).*$")


def command_lines(file: Path) -> Iterator[tuple[str, ...]]:
    """Command or job, and arguments, of each command line: in ``sh`` blocks of a README, outside comments elsewhere."""
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".md":
        text = "\n".join(re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    text = text.replace("\\\n", " ").replace("${INPUT}", "INPUT").replace(" $OPTIONS", "")
    for line in text.splitlines():
        found = None if line.lstrip().startswith("#") else COMMAND.search(line)
        if found:
            arguments = shlex.split(END_OF_COMMAND.sub("", found["arguments"]), comments=True)
            yield (found["command"] or found["job"], *arguments)


COMMANDS = sorted({found for file in FILES for found in command_lines(file)})


def command_of(name: str) -> Any:
    """The command or job as the command line knows it."""
    if not name.startswith("jobs/"):
        return main.commands[name]
    return runpy.run_path(str(ROOT / name))[Path(name).stem]


def test_the_commands_that_a_scheduler_needs_are_there() -> None:
    assert {"jobs/score.py", "nightly", "score", "compare"} <= {name for name, *_ in COMMANDS}


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_the_command_line_is_understood(command: tuple[str, ...]) -> None:
    name, *arguments = command
    command_of(name).make_context(name, arguments)  # Raises where an option does not exist or an argument is missing.


def test_the_pod_of_the_nightly_run_is_understood() -> None:
    from tests.infra.folder import pods

    (container,) = (
        container
        for pod in pods().values()
        for container in pod["spec"]["containers"]
        if container["name"] == "nightly"
    )
    interpreter, script = container["command"]
    assert (interpreter, script) == ("python", "/opt/pddl-eval/jobs/nightly.py")
    command_of("jobs/nightly.py").make_context("nightly", list(container["args"]))


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
