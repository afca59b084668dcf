"""pipeline/README.md is true: the picture of the rooms against the imports, and the worked examples executed."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.markdown import ROOT, Block, blocks, read_page

PAGE = "pipeline/README.md"
EXAMPLES = ("Adding a domain", "Adding a metric", "Adding an engine")
PIPELINE = ROOT / "pipeline"
NO_PDDL = {"dataset", "engines", "summary"}
OF_VALUES = {"problem", "domain", "outcome", "pairing", "parsing", "planning_domains", "renamed_rules", "grounded"}
OF_VALUES |= {"equivalence", "solvability", "plan_metrics", "domain_metrics"}


def room_of(module: str) -> str:
    return module.split(".")[1]


def modules() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(PIPELINE.rglob("*.py")):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        yield name, ast.parse(path.read_text(encoding="utf-8"))


def imports(tree: ast.Module) -> Iterator[str]:
    """Every module that is imported, in functions too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module == "pipeline":
            yield from (f"pipeline.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def rooms() -> set[str]:
    return {room_of(name) for name, _ in modules() if name != "pipeline"}


def levels() -> dict[str, int]:
    """The line of the picture on which each room stands."""
    (picture,) = (block for block in blocks(read_page(PAGE)) if block.mark == "rooms")
    known = rooms()
    found = [(word, line) for line, text in enumerate(picture.text.splitlines()) for word in text.split()]
    places = [(word, line) for word, line in found if word in known]
    assert len(places) == len(dict(places)), "a room stands in two places"
    return dict(places)


def test_the_picture_shows_every_room() -> None:
    assert set(levels()) == rooms()


def test_the_table_of_the_rooms_names_every_room() -> None:
    rows = [line.split("|")[1] for line in read_page(PAGE).splitlines() if line.startswith("| `")]
    assert sorted(name.strip("` ") for row in rows for name in row.split(",")) == sorted(rooms())


def test_a_room_imports_only_what_stands_below_it() -> None:
    level = levels()
    for name, tree in modules():
        for imported in imports(tree):
            if name == "pipeline" or not imported.startswith("pipeline.") or room_of(imported) == room_of(name):
                continue
            assert level[room_of(name)] < level[room_of(imported)], f"{name} imports {imported}"


def test_nothing_in_the_library_imports_the_commands() -> None:
    for name, tree in modules():
        assert not [imported for imported in imports(tree) if imported.split(".")[0] == "jobs"], name


def test_what_moves_rows_knows_no_pddl_and_what_knows_pddl_moves_no_rows() -> None:
    for name, tree in modules():
        if name == "pipeline":
            continue
        imported = set(imports(tree))
        below = {room_of(module) for module in imported if module.startswith("pipeline.")}
        packages = {module.split(".")[0] for module in imported}
        if room_of(name) in NO_PDDL:
            assert below <= NO_PDDL, name
            assert "pddl" not in packages, name
        if room_of(name) in OF_VALUES:
            assert below <= OF_VALUES, name
            assert packages.isdisjoint({"ray", "pyarrow", "polars", "jobs"}), name
        if room_of(name) != "engines":
            assert "ray" not in packages, name


def run_session(session: str, place: Path) -> None:
    """Run a session of the Python prompt in a process of its own, on that copy of the library."""
    file = place / "session.txt"
    file.write_text(session, encoding="utf-8")
    run_doctest(file, place)


def run_doctest(file: Path, place: Path) -> None:
    result = subprocess.run(
        [sys.executable, "-m", "doctest", str(file)],
        cwd=place,
        env={**os.environ, "PYTHONPATH": str(place)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert result.returncode == 0, result.stdout + result.stderr


def apply(block: Block, place: Path) -> None:
    """Write the file that a block is, make the change that it describes, or run the session that it shows."""
    first, _, rest = block.text.partition("\n")
    if block.language == "pycon":
        run_session(block.text, place)
    elif block.language == "python":
        file = place / first.removeprefix("# ")
        assert file.parent.is_dir()
        file.write_text(rest, encoding="utf-8")
    else:
        file = place / first.removeprefix("# ")
        lines = rest.splitlines(keepends=True)
        before = "".join(line[1:] for line in lines if line[0] != "+")
        after = "".join(line[1:] for line in lines if line[0] != "-")
        text = file.read_text(encoding="utf-8")
        assert text.count(before) == 1, f"{first} has changed: {before}"
        file.write_text(text.replace(before, after), encoding="utf-8")


def test_there_are_no_other_examples() -> None:
    assert {block.heading for block in blocks(read_page(PAGE)) if block.mark is None} == set(EXAMPLES)


@pytest.mark.parametrize("heading", EXAMPLES)
def test_the_worked_examples_work(heading: str, tmp_path: Path) -> None:
    steps = [block for block in blocks(read_page(PAGE)) if block.heading == heading]
    assert {"python", "pycon"} <= {block.language for block in steps} <= {"python", "diff", "pycon"}
    shutil.copytree(PIPELINE, tmp_path / "pipeline", ignore=shutil.ignore_patterns("__pycache__"))
    for block in steps:
        apply(block, tmp_path)
        if block.language == "python" and ">>>" in block.text:
            run_doctest(tmp_path / block.text.split()[1], tmp_path)
