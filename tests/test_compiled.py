"""The modules that ``setup.py`` compiles: what mypyc would change is not in them, and nothing else differs."""

from __future__ import annotations

import ast
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pddl_eval
import pytest
from pddl_eval.options import ScoringOptions, build

from tests.docs.markdown import ROOT

LIBRARY = ROOT / "pipeline" / "pddl_eval"


def compiled() -> list[str]:
    """``COMPILED`` of ``setup.py``."""
    for node in ast.parse((ROOT / "setup.py").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "COMPILED":
            modules: list[str] = ast.literal_eval(node.value)
            return modules
    raise AssertionError("setup.py names no modules")


@pytest.mark.parametrize("module", compiled())
def test_a_compiled_module_has_no_cached_property(module: str) -> None:
    """mypyc's classes have no ``__dict__``: the value would be computed again at each access."""
    source = (LIBRARY / f"{module}.py").read_text(encoding="utf-8")
    names = {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}
    assert not names & {"cached_property", "attempted"}


def test_what_runs_is_what_is_said() -> None:
    installed = Path(pddl_eval.__file__).parent
    extensions = [
        any((installed / f"{module}{suffix}").exists() for suffix in EXTENSION_SUFFIXES) for module in compiled()
    ]
    assert all(extensions) if build() == "compiled" else not any(extensions)


def test_the_signature_is_that_of_the_other_build() -> None:
    """Its parts are versions and settings: scores of the two builds are compared without a warning."""
    assert build() not in str(ScoringOptions().signature)
