"""The recipe for conda-forge says what ``pyproject.toml`` says; rattler-build, where it is installed, renders it."""

from __future__ import annotations

import tomllib

import pytest
import yaml
from packaging.requirements import Requirement

from tests.support.running import ROOT

RECIPE = ROOT / "infra" / "conda" / "recipe.yaml"


def test_the_recipe_needs_what_the_package_needs() -> None:
    recipe = yaml.safe_load(RECIPE.read_text(encoding="utf-8"))
    needed = map(Requirement, tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"])
    asked = map(Requirement, recipe["requirements"]["run"][1:])
    assert {each.name: each.specifier for each in asked} == {each.name: each.specifier for each in needed}
    assert f'RELEASE = "{recipe["context"]["version"]}"' in (ROOT / "pipeline/pddl_eval/version.py").read_text()


def test_rattler_build_renders_the_recipe() -> None:
    rattler_build = pytest.importorskip("rattler_build", reason="pip install py-rattler-build")
    recipe = rattler_build.Stage0Recipe.from_file(str(RECIPE))
    variants = rattler_build.VariantConfig({"python_min": ["3.11"], "python": ["3.11.* *_cpython"]})
    (rendered,) = recipe.render(variants)
    assert str(rendered.recipe.package.name) == "pddl-eval"
