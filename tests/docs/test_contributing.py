"""CONTRIBUTING.md is true: its picture and its table of rooms against the imports, its examples by running them."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
from pddl_eval import settings

from tests.docs.markdown import ROOT, Block, blocks, read_page

PAGE = read_page("CONTRIBUTING.md")
LIBRARY = ROOT / "pipeline" / "pddl_eval"
ROOMS = re.findall(r"^\| `(\w+)` \|", PAGE.partition("<!-- rooms -->")[2], re.MULTILINE)
"""From the values up to the commands, as the table lists them."""

(PICTURE,) = (block.text for block in blocks(PAGE) if block.mark == "floors")
FLOORS = [
    re.findall(r"(?<=  )[a-z]+(?=  |$)", floor, re.MULTILINE)
    for floor in re.split(r"^ ─+$", PICTURE, flags=re.MULTILINE)
]
"""The rooms of each floor, the highest first; the words behind them stand in sentences."""

PURE = {"errors", "shown", "version", "columns", "settings", "definition"}
"""Rooms that are functions of values."""

OPEN = {"definition", "scoring", "kernel", "integrations"}
"""Folders whose files are what others import: each is a subject of its own."""

ONLY_IN: dict[str, set[str]] = {
    "ray": {"run"},
    "pddl": {"definition"},
    "lark": {"definition"},
    "igraph": set(),
    "scipy": set(),
}
"""The rooms that may import a package.

igraph is GPL and a judge in the tests; scipy comes with other packages and is no dependency.
"""

EXAMPLES = ("Adding a domain", "Adding a metric", "Adding an engine", "Adding a setting")


def imports(tree: ast.AST, package: str) -> Iterator[str]:
    """Every imported module, in functions too; ``from pddl_eval import x`` is ``pddl_eval.x``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            if node.level:
                module = ".".join([*package.split(".")[: len(package.split(".")) - node.level + 1], module]).strip(".")
            yield from (f"{module}.{alias.name}" for alias in node.names) if module == "pddl_eval" else [module]


def imported_names(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Each name that is imported from a module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield from ((node.module or "", alias.name) for alias in node.names)


def imported_by() -> Iterator[tuple[str, str, str]]:
    """Each import of the library: the file, its room, the imported module."""
    for path in sorted(LIBRARY.rglob("*.py")):
        file = path.relative_to(LIBRARY)
        room = file.parts[0].removesuffix(".py")
        if not room.startswith("__"):
            package = ".".join(("pddl_eval", *file.parts[:-1]))
            for module in imports(ast.parse(path.read_text(encoding="utf-8")), package):
                yield file.as_posix(), room, module


@cache
def all_imports() -> list[tuple[str, str, str]]:
    return list(imported_by())


def between_rooms() -> list[tuple[str, str, str]]:
    return [
        (file, room, module)
        for file, room, module in all_imports()
        if module.startswith("pddl_eval.") and module.split(".")[1] != room
    ]


def test_the_table_lists_every_room_once() -> None:
    assert len(ROOMS) == len(set(ROOMS))
    assert {*ROOMS, "templates"} == {path.stem for path in LIBRARY.glob("[a-z]*") if path.suffix in ("", ".py")}


def test_a_room_imports_only_rooms_above_it() -> None:
    """So there are no circles either, not even of imports in functions."""
    for file, room, module in between_rooms():
        above = ROOMS[: ROOMS.index(room)]
        assert module.split(".")[1] in above, f"{file} imports {module}"


def test_a_room_imports_nothing_from_a_higher_floor() -> None:
    floor_of = {room: number for number, floor in enumerate(FLOORS) for room in floor}
    assert floor_of.keys() == set(ROOMS) and sum(map(len, FLOORS)) == len(ROOMS)
    assert len(FLOORS) <= 7
    for file, room, module in between_rooms():
        assert floor_of[module.split(".")[1]] >= floor_of[room], f"{file} imports {module}"


def test_other_rooms_import_what_a_folder_names() -> None:
    depths = [(file, module, 2 + (module.split(".")[1] in OPEN)) for file, _, module in between_rooms()]
    assert not [f"{file} imports {module}" for file, module, most in depths if module.count(".") >= most]


def test_pure_rooms_have_no_files_and_no_tables() -> None:
    assert not [
        f"{file} imports {module}"
        for file, room, module in all_imports()
        if room in PURE and module.split(".")[0] in ("ray", "pyarrow", "polars")
    ]


@pytest.mark.parametrize("package", ONLY_IN)
def test_a_package_is_known_in_few_rooms(package: str) -> None:
    rooms = {room for _, room, module in all_imports() if module.split(".")[0] == package}
    assert rooms <= ONLY_IN[package]


def in_copy(place: Path, *arguments: str) -> None:
    result = subprocess.run(
        [sys.executable, *arguments],
        cwd=place,
        env={**os.environ, "PYTHONPATH": str(place / "pipeline")},
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stdout + result.stderr


def follow(block: Block, place: Path) -> None:
    """Write the file that a block is and run its doctests, or run the session or the line that it shows."""
    first, _, rest = block.text.partition("\n")
    file = place / ("session.txt" if block.language == "pycon" else first.removeprefix("# "))
    if block.language == "python" and not first.startswith("# "):
        exec(block.text, vars(settings).copy())
        return
    file.write_text(block.text if block.language == "pycon" else rest, encoding="utf-8")
    if ">>> " in block.text:
        in_copy(place, "-m", "doctest", str(file))


@pytest.mark.parametrize("heading", EXAMPLES)
def test_the_examples_work(heading: str, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "pipeline", tmp_path / "pipeline", ignore=shutil.ignore_patterns("__pycache__"))
    steps = [block for block in blocks(PAGE) if block.heading == heading]
    assert steps
    for step in steps:
        follow(step, tmp_path)


def test_there_are_no_other_examples() -> None:
    assert {block.heading for block in blocks(PAGE) if block.language not in ("sh", "text")} == set(EXAMPLES)


def test_reports_read_parquet_and_nothing_of_the_definition() -> None:
    """What they know of columns is declared in ``scoring.columns``."""
    known = {(file, module) for file, room, module in imported_by() if room == "report" and "definition" in module}
    assert not known


def test_no_circle_inside_the_room_of_reports() -> None:
    """Six files imported each other: a value is below what writes it; what only types need is not loaded."""
    below: dict[str, set[str]] = {}
    for path in (LIBRARY / "report").glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
                node.body = []
        names = (f"{module}.{each}" for module, each in imported_names(tree) if module.startswith("pddl_eval.report"))
        below[path.stem] = {name.split(".")[2] for name in names}
    TopologicalSorter(below).prepare()
