"""What CONTRIBUTING.md says of trees beside each other: the crate and the definition, the tests and the rooms."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.docs.markdown import ROOT, read_page

LIBRARY = ROOT / "pipeline" / "pddl_eval"
DEFINITION = LIBRARY / "definition"
CRATE = ROOT / "pipeline" / "kernel" / "src"
TESTS = ROOT / "tests"

TABLE = read_page("CONTRIBUTING.md").partition("<!-- crate -->")[2].partition("\n\n")[0]
SAME = {file: re.findall(r"`(\w+)`", names) for file, names in re.findall(r"^\| `([\w/]+)` \| (.*) \|$", TABLE, re.M)}
"""The functions of a file that have one name and decide the same in the crate and in the definition."""

ALONE = {
    "allocator",
    "arrow",
    "batches",
    "blake2b",
    "fraction",
    "hashing",
    "json",
    "left",
    "lib",
    "metrics/averages",
    "planning/bounds",
    "planning/heuristics",
    "planning/invariants",
    "planning/mutex_groups",
    "planning/search",
    "planning/symmetries",
    "tests",
}
"""Files of the crate for which the definition has a library of Python's, or nothing: it makes no search."""

BESIDE = {"docs", "infra", "jobs", "corpus", "judges", "kernel", "measure", "support"}
"""Folders of tests that are about no room of the library, and ``kernel``, which is about the crate."""


def name_of(file: Path, tree: Path) -> str:
    """The file without its ending, below the tree; the file of a folder itself has the folder's name."""
    path = file.relative_to(tree).with_suffix("")
    return (path.parent if path.name in ("mod", "__init__") else path).as_posix()


CRATE_FILES = {name_of(file, CRATE): file for file in sorted(CRATE.rglob("*.rs"))}
DEFINITION_FILES = {name_of(file, DEFINITION): file for file in sorted(DEFINITION.rglob("*.py"))}


def heading(file: Path) -> str:
    """The first comment of a file of the crate."""
    lines = file.read_text(encoding="utf-8").partition("\n\n")[0].splitlines()
    return " ".join(line.removeprefix("//!").strip() for line in lines if line.startswith("//!"))


def named_files(text: str) -> list[str]:
    return re.findall(r"\bdefinition/([\w/]+)", text)


@pytest.mark.parametrize("name", CRATE_FILES)
def test_a_file_of_the_crate_names_the_file_that_decides_the_same(name: str) -> None:
    named = named_files(heading(CRATE_FILES[name]))
    assert bool(named) != (name in ALONE)
    assert name not in DEFINITION_FILES or name in named
    assert not set(named_files(CRATE_FILES[name].read_text(encoding="utf-8"))) - DEFINITION_FILES.keys()


def test_no_file_is_said_to_be_alone_that_is_gone() -> None:
    assert CRATE_FILES.keys() >= ALONE


@pytest.mark.parametrize("name", SAME)
def test_functions_that_decide_the_same_have_one_name(name: str) -> None:
    tree = ast.parse(DEFINITION_FILES[name].read_text(encoding="utf-8"))
    python = {node.name.lstrip("_") for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    rust = set(re.findall(r"\bfn (\w+)", CRATE_FILES[name].read_text(encoding="utf-8")))
    assert SAME[name]
    assert not set(SAME[name]) - python, "not in the definition"
    assert not set(SAME[name]) - rust, "not in the crate"


def test_the_table_has_functions() -> None:
    assert len(SAME) >= 10


@pytest.mark.parametrize("folder", sorted({file.parent for file in TESTS.rglob("test_*.py")}))
def test_tests_stand_where_the_files_stand_that_they_test(folder: Path) -> None:
    """``test_lock.py`` and ``test_lock_of_a_store.py`` are about ``lock``; what is about a whole room has its name."""
    place = folder.relative_to(TESTS)
    if place.parts and place.parts[0] in BESIDE:
        return
    room = LIBRARY / place
    subjects = {room.name, *(file.stem for file in room.glob("[a-z]*") if file.suffix in ("", ".py"))}
    for file in folder.glob("test_*.py"):
        words = file.stem.removeprefix("test_").split("_")
        assert subjects & {"_".join(words[:count]) for count in range(1, len(words) + 1)}, file.name
