"""``pddl-eval validate --val`` beside VAL itself, where this machine has it: the table of a page on plans."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.running import run

VALIDATE = os.environ.get("VAL_VALIDATE") or shutil.which("Validate")
FERRY = """(define (domain ferry)
  (:predicates (at-ferry ?p) (at ?c ?p) (on ?c) (empty-ferry) (place ?p))
  (:action sail :parameters (?from ?to) :precondition (and (place ?from) (place ?to) (at-ferry ?from))
    :effect (and (at-ferry ?to) (not (at-ferry ?from))))
  (:action board :parameters (?c ?p) :precondition (and (at ?c ?p) (at-ferry ?p) (empty-ferry))
    :effect (and (on ?c) (not (at ?c ?p)) (not (empty-ferry)))))
"""
CROSSING = """(define (problem crossing) (:domain ferry) (:objects c left right)
  (:init (place left) (place right) (at-ferry right) (at c left) (empty-ferry)) (:goal (on c)))
"""
VAN = """(define (domain van) (:requirements :typing :numeric-fluents) (:types town)
  (:predicates (in ?t - town) (road ?a ?b - town)) (:functions (fuel) (length ?a ?b - town))
  (:action drive :parameters (?a ?b - town) :precondition (and (in ?a) (road ?a ?b) (>= (fuel) (length ?a ?b)))
    :effect (and (in ?b) (not (in ?a)) (decrease (fuel) (length ?a ?b)))))
"""
TRIP = """(define (problem trip) (:domain van) (:objects x y - town)
  (:init (in x) (road x y) (= (length x y) 3.5) (= (fuel) 8)) (:goal (in y)) (:metric maximize (fuel)))
"""
CASES = {  # domain, problem, plans, exit codes of VAL (None: it crashes) and here, whether the outputs are equal
    "valid": (FERRY, CROSSING, ["(sail right left)\n(board c left)\n"], 0, 0, True),
    "a metric": (VAN, TRIP, ["(drive x y)\n"], 0, 0, True),
    "precondition": (FERRY, CROSSING, ["(board c left)\n"], 1, 1, True),
    "goal": (FERRY, CROSSING, ["(sail right left)\n"], 1, 1, True),
    "no steps": (FERRY, CROSSING, [""], 1, 1, True),
    "three plans": (FERRY, CROSSING, ["(sail right left)\n(board c left)\n", "(board c left)\n", ""], 2, 2, True),
    "cannot be read": (FERRY, CROSSING, ["(sail right left\n"], 0, 1, True),
    "no such operator": (FERRY, CROSSING, ["(fly right left)\n"], 255, 1, False),
    "too few arguments": (FERRY, CROSSING, ["(sail right)\n"], None, 1, False),
    "undeclared object": (FERRY, CROSSING.replace("(at c left)", "(at z left)"), ["(board c left)\n"], 1, 255, False),
    "cut off": (FERRY, "(define (problem x)", ["(board c left)\n"], None, 255, True),
}


@pytest.mark.slow
@pytest.mark.skipif(VALIDATE is None, reason="needs VAL's Validate, on PATH or by VAL_VALIDATE")
@pytest.mark.parametrize("case", CASES)
def test_scripts_that_read_val_read_the_same(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    domain, problem, plans, theirs, ours, equal = CASES[case]
    monkeypatch.chdir(tmp_path)
    names = ["domain.pddl", "problem.pddl", *(f"plan{number}" for number in range(len(plans)))]
    for name, text in zip(names, (domain, problem, *plans), strict=True):
        Path(name).write_text(text, encoding="utf-8")
    said = subprocess.run([str(VALIDATE), *names], capture_output=True, text=True)
    found = run("validate", "--val", *names)
    assert found.exit_code == ours and theirs in (None, said.returncode)
    assert (said.stdout == found.stdout) is equal
