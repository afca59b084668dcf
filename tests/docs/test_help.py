"""The help and the completion of the command line: every command with examples that it would accept."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pddl_eval.commands.command import EXIT_CODES

from tests.docs.commands import COMMANDS, Described, all_commands, command_named
from tests.docs.markdown import ROOT

EVERY = list(all_commands())


def run(*arguments: str, folder: Path = ROOT, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pddl_eval", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "120", "NO_COLOR": "1", **environment},
        capture_output=True,
        text=True,
        timeout=60,
    )


def named(command: Described) -> str:
    return " ".join(command.words)


@pytest.mark.parametrize("command", EVERY, ids=named)
def test_a_command_has_examples_that_it_accepts(command: Described) -> None:
    own = [call for call in command.examples if tuple(call[: len(command.words)]) == command.words]
    assert own
    for call in command.examples:
        called = command_named(call[0])
        called.parse([word.strip("'") for word in call[1:]])


@pytest.mark.parametrize("command", EVERY, ids=named)
def test_every_option_says_in_one_line_what_it_is_for(command: Described) -> None:
    for parameter in command.click_command.params:
        if parameter.name != "help":
            text = getattr(parameter, "help", None)
            assert text and "\n" not in text and len(text) <= 80, parameter.name


@pytest.mark.parametrize("command", EVERY, ids=named)
def test_help_shows_examples_before_options_and_exit_codes_behind(command: Described) -> None:
    result = run(*command.words, "--help")
    assert result.returncode == 0, result.stderr
    example = result.stdout.index("pddl-eval", result.stdout.index("Usage") + 20)
    assert example < result.stdout.index("Options ─") < result.stdout.index(EXIT_CODES.split(",")[0])


def test_the_first_page_shows_every_command_and_imports_none() -> None:
    result = run("--help")
    assert all(f"│ {name} " in result.stdout for name in COMMANDS)
    probe = "import sys; sys.argv[1:] = ['--help']\ntry:\n    from pddl_eval.commands.cli import main; main()\nexcept SystemExit: pass\n"
    probe += "print(sorted({'ray', 'polars', 'igraph', 'pyarrow', 'pddl', 'networkx'} & sys.modules.keys()))"
    heavy = subprocess.run([sys.executable, "-c", probe], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert heavy.stdout.splitlines()[-1] == "[]"


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
    words = line.split(" ")
    probe = "import sys; sys.argv = ['pddl-eval']; from pddl_eval.commands.cli import main; main()"
    result = subprocess.run(
        [sys.executable, "-c", probe],
        cwd=ROOT,
        env={
            **os.environ,
            "_PDDL_EVAL_COMPLETE": "complete_bash",
            "COMP_WORDS": line,
            "COMP_CWORD": str(len(words) - 1),
        },
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert result.stdout.split() == completed, result.stderr


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (("scroe", "in", "out"), "'score'"),
        (("score", "in", "out", "--engin", "ray"), "--engine"),
        (
            ("score", "pipeline/pddl_eval/benchmark/sample.parquet", "{out}", "--column", "generatd_problem=x"),
            "did you mean generated_problem?",
        ),
        (
            ("score", "pipeline/pddl_eval/benchmark/sample.parquet", "{out}", "--column", "domain=domian"),
            "did you mean domain?",
        ),
        (
            ("score", "pipeline/pddl_eval/benchmark/sample.parquet", "{out}", "--domain", "griper"),
            "did you mean gripper?",
        ),
        (
            ("generate", "variants", "pipeline/pddl_eval/benchmark/sample.parquet", "{out}", "--preset", "zeroshot"),
            "zero-shot",
        ),
        (("generate", "varints", "in", "out"), "'variants'"),
        (
            ("report", "pipeline/pddl_eval/benchmark/sample.parquet"),
            "pddl-eval: pipeline/pddl_eval/benchmark/sample.parquet has no score columns",
        ),
    ],
)
def test_a_slip_is_answered_with_the_nearest_right_word(arguments: tuple[str, ...], hint: str, tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    result = run(*(argument.replace("{out}", out) for argument in arguments))
    assert result.returncode == 2
    assert hint in result.stderr
    assert not (tmp_path / "out").exists()
