"""What the commands share: help, flags from declared settings, exit codes, errors that nobody expected."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import click
import pddl_eval
import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner
from pddl_eval import kernel
from pddl_eval.commands.cli import main
from pddl_eval.commands.command import REPLACED, Command
from pddl_eval.commands.flags import FileOnly, flags
from pddl_eval.commands.rescore import rescore
from pddl_eval.commands.score import score
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.errors import RunError, UserError
from pddl_eval.settings import ReadingOptions, RunOptions, grouped

from tests.support.running import run, start

HEAVY = {"ray", "pyarrow", "polars", "numpy", "networkx", "pddl", "altair"}
COMMANDS = {"score", "status", "validate", "rescore", "compare", "nightly", "report", "explain", "generate", "dedupe"}
COMMANDS |= {"verify", "check", "mcp"}


def test_the_commands_are_all_there() -> None:
    assert set(main.commands) == COMMANDS


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
    version = kernel.version() or "none"
    assert run("--version").stdout == f"pddl-eval {pddl_eval.__version__} (kernel {version})\n"


def test_score_and_rescore_take_every_declared_setting() -> None:
    declared = {each.name for options in (ReadingOptions, ScoringOptions, RunOptions) for each in fields(options)}
    of_score, of_rescore = ({each.name for each in command.params} for command in (score, rescore))
    assert declared <= of_score
    assert of_rescore - of_score == {"previous", "retry"}
    assert of_score - of_rescore == {"part", "check", "rows_per_file"}


def test_score_has_few_flags_and_each_is_written_where_it_is_declared() -> None:
    common = {"quiet", "verbose", "config", "force"}
    shown = [each for each in score.params if isinstance(each, click.Option) and not each.hidden]
    assert len([each for each in shown if each.name not in common]) <= 16
    sources = "".join(path.read_text() for path in Path(pddl_eval.__file__).parent.rglob("*.py"))
    for command in (score, *main.commands.values()):
        for option in command.params:
            if isinstance(option, click.Option) and not isinstance(option, FileOnly):
                assert all(re.search(rf'"{flag}["/]', sources) for flag in option.opts if flag.startswith("--"))


def test_flags_become_options(tmp_path: Path) -> None:
    found: list[ScoringOptions | RunOptions] = []

    @click.command(cls=Command)
    @flags(ScoringOptions)
    @flags(RunOptions)
    def probe(**settings: Any) -> None:
        found.extend(grouped(settings, ScoringOptions, RunOptions))

    (tmp_path / "settings.toml").write_text("beta = 0.5\nshard-rows = 7\n")
    words = "--column generated_plan=a --column domain=b --domain gripper --no-check-solvable --workers 3"
    assert CliRunner().invoke(probe, [*words.split(), "--config", f"{tmp_path}/settings.toml"]).exit_code == 0
    columns = {"generated_plan": "a", "domain": "b"}
    assert found[0] == ScoringOptions(columns=columns, domain="gripper", check_solvable=False, beta=0.5)
    assert found[1] == RunOptions(workers=3, shard_rows=7)
    assert CliRunner().invoke(probe, []).exit_code == 0
    assert found[2:] == [ScoringOptions(), RunOptions()]


def test_a_cluster_is_an_engine() -> None:
    assert RunOptions("ray://head:10001") == RunOptions("ray", "ray://head:10001")
    assert "--address" in {flag for each in score.params for flag in each.opts}, "a name of the contract"


def test_an_option_that_there_was_says_what_replaces_it() -> None:
    for flag, now in REPLACED.items():
        result = run("score", "in", "out", flag, "1")
        assert result.exit_code == 2 and now in " ".join(result.stderr.split())


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
        (SystemExit(5), 5, ""),
        (KeyboardInterrupt(), 130, "Stopped"),
    ],
)
def test_an_error_has_an_exit_code_and_one_line(
    error: BaseException, code: int, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    @click.command(cls=Command)
    def probe() -> None:
        raise error

    result = CliRunner().invoke(probe, [])
    assert result.exit_code == code
    assert said in result.stderr and len(result.stderr.splitlines()) == bool(said)
    if code == 1:
        monkeypatch.setenv("PDDL_EVAL_TRACEBACK", "1")
        assert CliRunner().invoke(probe, []).exception is error


def test_the_module_is_the_command() -> None:
    assert start("-m", "pddl_eval", "--version").stdout == run("--version").stdout


@pytest.mark.parametrize(
    ("line", "completed"),
    [
        ("generate variants pairs.parquet out --preset z", ["zero-shot"]),
        ("score pairs.parquet out --engine l", ["local"]),
        ("explain pairs.parquet --only pl", ["plan"]),
    ],
)
def test_a_shell_gets_choices(line: str, completed: list[str]) -> None:
    *words, begun = line.split(" ")
    found = ShellComplete(main, {}, "pddl-eval", "_PDDL_EVAL_COMPLETE").get_completions(words, begun)
    assert [each.value for each in found] == completed
