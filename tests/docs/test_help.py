"""The command line helps: examples that it accepts, completion, the nearest right word after a slip."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.commands import COMMANDS, Described
from tests.docs.markdown import ROOT
from tests.support.running import ENVIRONMENT, run

SAMPLE = "pipeline/pddl_eval/benchmark/sample.parquet"

ALL = [each for command in COMMANDS.values() for each in (command, *command.subcommands)]


@pytest.mark.parametrize("command", ALL, ids=lambda command: " ".join(command.words))
def test_a_command_has_examples_that_it_accepts(command: Described) -> None:
    assert [call for call in command.examples if tuple(call[: len(command.words)]) == command.words]
    for call in command.examples:
        COMMANDS[call[0]].parse([word.strip("'") for word in call[1:]])


def test_a_shell_completes() -> None:
    """Each kind of word in ``tests/commands/test_cli.py``."""
    done = subprocess.run(
        [sys.executable, "-c", "import sys; sys.argv = ['pddl-eval']; from pddl_eval.commands.cli import main; main()"],
        env={**ENVIRONMENT, "_PDDL_EVAL_COMPLETE": "bash_complete", "COMP_WORDS": "pddl-eval sc", "COMP_CWORD": "1"},
        capture_output=True,
        text=True,
    )
    assert done.stdout.split() == ["plain,score"], done.stderr


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
