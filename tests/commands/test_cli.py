"""What the commands share: help, flags from declared settings, exit codes, errors that nobody expected."""

from __future__ import annotations

import inspect
import shutil
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pddl_eval
import pytest
import typer
from pddl_eval.commands.cli import app
from pddl_eval.commands.command import command
from pddl_eval.commands.rescore import rescore
from pddl_eval.commands.score import score
from pddl_eval.errors import RunError, UserError
from pddl_eval.options import RunOptions, ScoringOptions, version_of
from typer.testing import CliRunner

from tests.commands.running import ENVIRONMENT, run, start

HEAVY = {"ray", "pyarrow", "polars", "numpy", "networkx", "pddl", "altair"}
COMMANDS = {"score", "status", "rescore", "compare", "report", "explain", "generate", "bench", "dedupe"}


def test_the_commands_are_all_there() -> None:
    assert set(typer.main.get_command(app).commands) == COMMANDS  # type: ignore[attr-defined]


def test_the_help_shows_every_command_and_imports_no_heavy_library() -> None:
    probe = (
        "import sys; sys.argv = ['pddl-eval', '--help']\n"
        "from pddl_eval.commands.cli import main\n"
        "try: main()\n"
        f"except SystemExit: print(sorted({HEAVY} & set(sys.modules)))"
    )
    result = start("-c", probe)
    assert result.stdout.splitlines()[-1] == "[]", result.stderr
    assert all(f"  {name} " in result.stdout for name in COMMANDS)
    assert "..." not in result.stdout.partition("Commands:")[2], "no summary is cut"


@pytest.mark.parametrize("name", [*sorted(COMMANDS), "generate variants"])
@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_every_command_has_help(name: str, flag: str) -> None:
    result = run(*name.split(), flag)
    assert result.exit_code == 0 and f"pddl-eval {name}" in result.stdout


def test_the_version_is_printed() -> None:
    assert version_of("pddl-eval") in run("--version").stdout


def test_score_and_rescore_take_every_declared_setting() -> None:
    declared = {each.name for options in (ScoringOptions, RunOptions) for each in fields(options)}
    of_score, of_rescore = (set(inspect.signature(each).parameters) for each in (score, rescore))
    assert declared <= of_score
    assert of_rescore - of_score == {"previous", "previous_columns", "retry"}
    assert of_score - of_rescore == {"part"}


def test_flags_become_options() -> None:
    found: list[ScoringOptions | RunOptions] = []

    @command
    def probe(options: ScoringOptions, run: RunOptions) -> None:
        found.extend([options, run])

    alone = typer.Typer()
    alone.command()(probe)
    flags = "--column generated_plan=a --column domain=b --domain gripper --no-check-solvable --beta 0.5 --workers 3"
    assert CliRunner().invoke(alone, flags.split()).exit_code == 0
    columns = {"generated_plan": "a", "domain": "b"}
    assert found[0] == ScoringOptions(columns=columns, domain="gripper", check_solvable=False, beta=0.5)
    assert found[1] == RunOptions(workers=3)
    assert CliRunner().invoke(alone, []).exit_code == 0
    assert found[2:] == [ScoringOptions(), RunOptions()]


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (UserError("no column is named \x1b[2J"), 2, "\\x1b[2J"),
        (RunError("a worker died"), 1, "A worker died."),
        (ValueError("7"), 1, "Unexpected ValueError: 7"),
        (KeyError("k"), 1, "PDDL_EVAL_TRACEBACK"),
        (
            ModuleNotFoundError("No module named 'vl_convert'", name="vl_convert"),
            1,
            "The package vl_convert is missing",
        ),
        (typer.Exit(5), 5, ""),
        (KeyboardInterrupt(), 130, "Stopped"),
    ],
)
def test_an_error_has_an_exit_code_and_one_line(
    error: BaseException, code: int, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    @command
    def probe() -> None:
        raise error

    alone = typer.Typer()
    alone.command()(probe)
    result = CliRunner().invoke(alone, [])
    assert result.exit_code == code
    assert said in result.stderr and len(result.stderr.splitlines()) == bool(said)
    if code == 1:
        monkeypatch.setenv("PDDL_EVAL_TRACEBACK", "1")
        assert CliRunner().invoke(alone, []).exception is error


def test_the_module_is_the_command() -> None:
    assert start("-m", "pddl_eval", "--version").stdout == run("--version").stdout


def test_sources_on_the_path_say_their_version_without_an_installation(tmp_path: Path) -> None:
    """As on a cluster whose nodes have the dependencies and get the sources with the job."""
    shutil.copytree(Path(pddl_eval.__file__).parent, tmp_path / "pddl_eval", ignore=shutil.ignore_patterns("*.pyc"))
    code = (
        "import importlib.metadata, sys\n"
        "def missing(name): raise importlib.metadata.PackageNotFoundError(name)\n"
        "known = importlib.metadata.version\n"
        "importlib.metadata.version = lambda name: missing(name) if name == 'pddl-eval' else known(name)\n"
        "import pddl_eval\n"
        "from pddl_eval.options import ScoringOptions\n"
        "print(pddl_eval.__file__, pddl_eval.__version__, ScoringOptions().signature)"
    )
    environment = {**ENVIRONMENT, "PYTHONPATH": str(tmp_path)}
    started = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    place, version, signature = started.stdout.split()
    assert Path(place).is_relative_to(tmp_path)
    assert version == version_of("pddl-eval") == pddl_eval.__version__
    assert signature == ScoringOptions().signature
