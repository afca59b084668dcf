"""``pddl-eval check`` as a command: what is wrong where, in which domain, and its exit codes."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from textwrap import dedent

from tests.support.running import ROOT, run

LAMP = "(define (domain lamp) (:predicates (on))\n (:action press :parameters () :effect (on)))"
DARK = "; a (define (domain comment)\n(define (problem p) (:domain lamp)\n (:init) (:goal (on)))"


def test_a_problem_is_checked_in_the_domain_beside_it(tmp_path: Path) -> None:
    (tmp_path / "domain.pddl").write_text(LAMP)
    (tmp_path / "below").mkdir()
    problem = tmp_path / "below" / "p.pddl"
    problem.write_text(DARK)
    (tmp_path / "notes.pddl").write_text("nothing of the kind")
    assert (run("check", tmp_path).exit_code, run("check", tmp_path).stdout) == (0, "")
    problem.write_text(DARK.replace("(on)", "(no)"))
    found = run("check", problem)
    assert found.exit_code == 1 and found.stdout.startswith(f"{problem}:3:") and "undeclared_predicate" in found.stdout
    told = run("check", tmp_path, "--format", "github").stdout
    assert told.startswith(f"::error file={problem},line=3,col=")


def test_a_damaged_domain_and_a_file_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "domain.pddl").write_text(LAMP[:-2])
    found = run("check", tmp_path / "domain.pddl")
    assert found.exit_code == 1 and "parentheses" in found.stdout
    assert run("check", tmp_path / "nowhere.pddl").exit_code == 2


def test_files_that_are_not_checked_are_counted_on_stderr(tmp_path: Path) -> None:
    """Also one that is meant as a domain: no CI passes because of a misspelt ``define``."""
    (tmp_path / "domain.pddl").write_text(LAMP.replace("define", "defin"))
    (tmp_path / "empty.pddl").write_text("")
    found = run("check", tmp_path)
    assert (found.exit_code, found.stdout) == (0, "")
    assert found.stderr.endswith(f"not checked: 2, the first {tmp_path / 'domain.pddl'}\n")
    assert run("check", tmp_path, "--quiet").stderr == ""


def test_pre_commit_gives_all_files_to_one_call() -> None:
    """Else it shares them out, and a problem misses a domain that lies far from it."""
    assert "require_serial: true" in (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")


def test_the_action_checks_the_files_of_every_line() -> None:
    step = dedent((ROOT / "action.yml").read_text(encoding="utf-8").split("run: |\n")[1])
    stand_ins = "python() { :; }\npddl-eval() { printf '<%s>' \"$@\"; }\n"
    shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", stand_ins + step]
    files = {**os.environ, "FILES": "a.pddl b\nc*.pddl\n", "VERSION": ""}
    said = subprocess.run(shell, env=files, capture_output=True, text=True, check=True).stdout
    assert said == "<check><--format><github><a.pddl><b><c*.pddl>"
