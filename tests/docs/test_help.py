"""The command line helps: examples that it accepts, completion, the nearest right word after a slip."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands.running import run
from tests.docs.commands import COMMANDS, Described
from tests.docs.markdown import ROOT

SAMPLE = "pipeline/pddl_eval/benchmark/sample.parquet"

ALL = [each for command in COMMANDS.values() for each in (command, *command.subcommands)]

HEAVY = """
import sys
sys.argv[1:] = ["--help"]
try:
    from pddl_eval.commands.cli import main
    main()
except SystemExit:
    pass
print(sorted({"ray", "polars", "pyarrow", "pddl", "networkx"} & sys.modules.keys()))
"""
"""Prints the first page and then the heavy packages that it imported."""


def run_python(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT / "pipeline"), **environment},
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize("command", ALL, ids=lambda command: " ".join(command.words))
def test_a_command_has_examples_that_it_accepts(command: Described) -> None:
    assert [call for call in command.examples if tuple(call[: len(command.words)]) == command.words]
    for call in command.examples:
        COMMANDS[call[0]].parse([word.strip("'") for word in call[1:]])


def test_the_first_page_shows_every_command_and_imports_nothing_heavy() -> None:
    page = run_python("-c", HEAVY).stdout
    assert set(COMMANDS) <= set(page.split())
    assert page.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    ("line", "completed"),
    [
        ("pddl-eval sc", ["score"]),
        ("pddl-eval score --engi", ["--engine"]),
        ("pddl-eval score --engine ", ["auto", "local", "ray"]),
        ("pddl-eval report --format h", ["html"]),
        ("pddl-eval generate var", ["variants"]),
    ],
)
def test_a_shell_completes_commands_options_and_values(line: str, completed: list[str]) -> None:
    result = run_python(
        "-c",
        "import sys; sys.argv = ['pddl-eval']; from pddl_eval.commands.cli import main; main()",
        _PDDL_EVAL_COMPLETE="bash_complete",
        COMP_WORDS=line,
        COMP_CWORD=str(line.count(" ")),
    )
    assert [line.partition(",")[2] for line in result.stdout.split()] == completed, result.stderr


@pytest.mark.parametrize(
    ("call", "hint"),
    [
        ("scroe in out", "score"),
        ("score in out --engin ray", "--engine"),
        ("score {sample} {out} --column generatd_problem=x", "did you mean generated_problem?"),
        ("score {sample} {out} --column domain=domian", "did you mean domain?"),
        ("score {sample} {out} --domain griper", "did you mean gripper?"),
        ("generate variants {sample} {out} --preset zeroshot", "zero-shot"),
        ("generate varints in out", "variants"),
        ("report {sample}", "score columns"),
    ],
)
def test_a_slip_is_answered_with_the_nearest_right_word(
    call: str, hint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    result = run(*call.format(sample=ROOT / SAMPLE, out=tmp_path / "out").split())
    assert result.exit_code == 2
    assert hint in result.stderr
    assert not (tmp_path / "out").exists()
