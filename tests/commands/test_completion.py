"""What a shell completes, through the environment variables by which it asks; and in bash itself."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pddl_eval.commands import completion
from pddl_eval.commands.cli import app

from tests.commands.running import ENVIRONMENT

MAIN = "import sys; sys.argv = ['pddl-eval']; from pddl_eval.commands.cli import main; main()"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file, and a folder of partitions, which both have the columns model, output and "out cost"."""
    folder = tmp_path_factory.mktemp("completion")
    table = pa.table({"model": ["m"], "output": [""], "out cost": [1]})
    pq.write_table(table, folder / "pairs.parquet")
    (folder / "scored" / "split=test").mkdir(parents=True)
    pq.write_table(table, folder / "scored" / "split=test" / "part.parquet")
    (folder / "scored" / "_summary.json").write_text("{}")
    (folder / "text.txt").write_text("no Parquet")
    return folder


@pytest.fixture
def asked(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., list[str]]:
    """What the command answers a shell."""

    def ask(shell: str, **variables: str) -> list[str]:
        monkeypatch.chdir(folder)
        monkeypatch.setattr(completion, "_finished", "")
        for name, value in {"_PDDL_EVAL_COMPLETE": f"complete_{shell}", **variables}.items():
            monkeypatch.setenv(name, value)
        with pytest.raises(SystemExit):
            completion.join_words_of_bash()
            app(prog_name="pddl-eval")
        return [line for line in capsys.readouterr().out.splitlines() if line]

    return ask


@pytest.mark.parametrize(
    ("line", "completed"),
    [
        ("report scored --by ", ["model", "output", "out cost", "split"]),
        ("report scored --by model,o", ["model,output", "model,out cost"]),
        ("report --by=mo", []),  # no dataset yet
        ("report scored --by=mo", ["model"]),
        ("report scored --size ou", ["output", "out cost"]),
        ("score pairs.parquet out --column generated_problem=", ["model", "output", "out cost"]),
        ("score pairs.parquet --column generated_problem=outp", ["output"]),
        ("score pairs.parquet --column generated_p", ["generated_problem=", "generated_plan="]),
        (
            "score '*.parquet' --column is_",
            ["is_placeholder=model", "is_placeholder=output", "is_placeholder=out cost"],
        ),
        ("rescore --previous scored pairs.parquet out --previous-column model=m", ["model"]),
        ("compare scored other --on m", ["model"]),
        ("explain scored --on model,outp", ["model,output"]),
        ("dedupe pairs.parquet --keep outp", ["output"]),
        ("dedupe --against pairs.parquet scored out --against-column model=m", ["model"]),
        ("score text.txt out --column domain=", []),
        ("score s3://bucket/pairs out --column domain=", []),
        ("score none.parquet out --column domain=", []),
        ("generate variants pairs.parquet out --preset z", ["zero-shot"]),
        ("generate variants pairs.parquet out --of t", ["tasks"]),
        ("score pairs.parquet out --similarity l", ["lexical"]),
        ("score pairs.parquet out --domain gri", ["gripper"]),
        ("explain pairs.parquet --only pl", ["plan"]),
        ("bench --workload pl", ["plans"]),
    ],
)
def test_bash_gets_columns_and_choices(line: str, completed: list[str], asked: Callable[..., list[str]]) -> None:
    """With the words as bash takes them apart: ``=`` is a word."""
    words = ["pddl-eval"]
    for word in line.split(" "):
        words += [each for each in word.replace("=", " = ").split(" ") if each or not word]
    current = words[:-1] if line.endswith(" ") else words
    found = asked("bash", COMP_WORDS="\n".join(words), COMP_CWORD=str(len(current) - (not line.endswith(" "))))
    assert found == completed


def test_zsh_gets_the_whole_word(asked: Callable[..., list[str]]) -> None:
    line = "pddl-eval score pairs.parquet out --column generated_problem=outp"
    assert "generated_problem=output" in asked("zsh", _TYPER_COMPLETE_ARGS=line)[0]


def test_bash_itself_completes_a_column(folder: Path) -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("no bash here")
    command = folder / "pddl-eval"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -c "{MAIN}"\n')
    command.chmod(0o755)
    ask = [sys.executable, "-c", MAIN]
    shell = {**ENVIRONMENT, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
    script = subprocess.run(
        ask, env={**shell, "_PDDL_EVAL_COMPLETE": "source_bash"}, capture_output=True, text=True, timeout=60
    ).stdout
    line = "COMP_WORDS=(pddl-eval score pairs.parquet out --column generated_problem = outp); COMP_CWORD=7"
    asking = f'{script}\n{line}\n_pddl_eval_completion pddl-eval\necho "${{COMPREPLY[@]}}"'
    result = subprocess.run([bash, "-c", asking], cwd=folder, env=shell, capture_output=True, text=True, timeout=60)
    assert result.stdout.split() == ["output"], result.stderr
