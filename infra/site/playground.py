"""The files of the playground: Pyodide, this checkout's library and what it needs, and the gallery of examples.

Pages that are opened from disk may load scripts and nothing else. So each file is a script that hands over its bytes,
compressed and in characters of fifteen bits. The page loads two of them: what seldom changes, and this checkout's own.
"""

from __future__ import annotations

import json
import re
import subprocess
from base64 import b64decode, urlsafe_b64encode
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack, chdir, redirect_stdout, suppress
from doctest import DocTestParser
from gzip import compress
from hashlib import sha512
from importlib.metadata import distribution
from inspect import signature
from io import BytesIO, StringIO
from pathlib import Path
from tarfile import open as open_tar
from tempfile import TemporaryDirectory
from textwrap import dedent
from typing import Any
from unittest.mock import patch
from zipfile import ZipFile, ZipInfo
from zlib import compressobj

import numpy as np
import pddl_eval
import polars as pl
from pddl_eval import environment
from pddl_eval.definition.questions import kinds
from pddl_eval.version import program_version

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = ROOT / "pipeline" / "pddl_eval"

PYODIDE = "314.0.7"
INTEGRITY = "0YvXxEhfEdpLfb/XkM2BFAeMROq0iMUX2bzzH9pOttyMcWkwq+HbE5uyuGD82LN7y2q+SNvi/6V5JEsOlD2R1A=="
"""The version of the npm package, and the SHA-512 of its archive: CPython 3.14 in WebAssembly (MPL-2.0)."""

RUNTIME = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")

NEEDED = ("jinja2", "lark", "markupsafe", "pddl", "rapidfuzz")
"""Libraries in Python that go along, in the versions of the environment that builds the site."""

NOT_NEEDED = ("benchmark", "commands", "datasets", "integrations", "report", "run")
"""Rooms that read no texts."""

LIBRARY_OF_PYTHON = "python_stdlib.zip"

ENCODINGS = ("encodings/ascii.py", "encodings/latin_1.py", "encodings/cp437.py", "encodings/idna.py")

PLACE = "assets/playground"


def playground_files() -> dict[str, bytes]:
    """Each made file of the playground by its place in the site. Raises ``OSError`` where Pyodide cannot be had."""
    runtime, program = _pyodide(), {"program.zip": _program()}
    snapshot, modules = _snapshot({**runtime, **program})
    return {
        f"{PLACE}/runtime.js": _script({**runtime, LIBRARY_OF_PYTHON: _library(runtime[LIBRARY_OF_PYTHON], modules)}),
        f"{PLACE}/program.js": _script(
            {**program, "snapshot.bin": snapshot},
            f"playground.examples({json.dumps(EXAMPLES)});\nplayground.kinds({json.dumps(sorted(kinds()))});\n",
        ),
    }


def _script(files: Mapping[str, bytes], rest: str = "") -> bytes:
    """A script that hands over the files, in UTF-16: its mark goes before whatever encoding a host names."""
    calls = []
    for name, content in files.items():
        packed = compress(content, mtime=0)
        calls.append(f'playground.file({json.dumps(name)}, {len(packed)}, "{_characters(packed)}");\n')
    return "".join([*calls, rest]).encode("utf-16")


def _characters(content: bytes) -> str:
    """Eight characters, from U+0100 on, for fifteen bytes: none of them needs an escape or is half of a pair.

    >>> [hex(ord(each)) for each in _characters(bytes([255, 1]))]
    ['0x8080', '0x4100']
    """
    bits = np.unpackbits(np.frombuffer(content, np.uint8))
    rows = np.pad(bits, (0, -len(bits) % 15)).reshape(-1, 15)
    numbers = np.packbits(np.pad(rows, ((0, 0), (1, 0)))).view(">u2") + 0x100
    return numbers.astype(">u2").tobytes().decode("utf-16-be")


def _pyodide() -> dict[str, bytes]:
    """The files of the npm package, which is fetched once and kept in ``build/``."""
    archive = ROOT / "build" / f"pyodide-{PYODIDE}.tgz"
    if not archive.is_file():
        archive.parent.mkdir(exist_ok=True)
        wanted = ["npm", "pack", "--silent", "--pack-destination", str(archive.parent), f"pyodide@{PYODIDE}"]
        ran = subprocess.run(wanted, capture_output=True, text=True, timeout=300)
        if ran.returncode:
            raise OSError(f"npm pack pyodide@{PYODIDE}: {ran.stderr.strip()}")
    content = archive.read_bytes()
    if sha512(content).digest() != b64decode(INTEGRITY):
        raise ValueError(f"{archive} is not what was pinned")
    with open_tar(fileobj=BytesIO(content)) as package:
        return {name: package.extractfile(f"package/{name}").read() for name in RUNTIME}  # type: ignore[union-attr]


def _snapshot(files: Mapping[str, bytes]) -> tuple[bytes, list[str]]:
    """The memory of Python when it has judged each example once, and the files of its library that are imported at all.

    A page that begins with that memory is ready at once.
    """
    with TemporaryDirectory() as folder:
        for name, content in (
            files | {"examples.json": json.dumps([each["row"] for each in EXAMPLES]).encode()}
        ).items():
            Path(folder, name).write_bytes(content)
        ran = subprocess.run(
            ["node", str(Path(__file__).with_name("snapshot.mjs")), folder], capture_output=True, text=True, timeout=300
        )
        if ran.returncode:
            raise OSError(f"node snapshot.mjs: {ran.stderr[-1000:].strip()}")
        return Path(folder, "snapshot.bin").read_bytes(), json.loads(Path(folder, "modules.json").read_text())


def _program() -> bytes:
    """The library, what it needs and ``in_browser`` as one archive; equal sources make equal bytes."""
    version = program_version()
    return _archive([*_sources(), (f"pddl_eval-{version}.dist-info/METADATA", f"Version: {version}\n".encode())])


def _library(archive: bytes, names: Collection[str]) -> bytes:
    """Those files of Python's standard library, and the encodings that are found by their names."""
    with ZipFile(BytesIO(archive)) as whole:
        return _archive((name, whole.read(name)) for name in {*names, *ENCODINGS})


def _archive(files: Iterable[tuple[str, bytes]]) -> bytes:
    """The files as they are: a script compresses all of them together."""
    packed = BytesIO()
    with ZipFile(packed, "w") as archive:
        for name, content in sorted(files):
            archive.writestr(ZipInfo(name), content)
    return packed.getvalue()


def _sources() -> Iterator[tuple[str, bytes]]:
    for file in LIBRARY.rglob("*"):
        inside = file.relative_to(LIBRARY)
        if (
            inside.parts[0] not in NOT_NEEDED
            and (file.suffix == ".py" or inside.parts[0] == "templates")
            and file.is_file()
        ):
            yield f"pddl_eval/{inside.as_posix()}", file.read_bytes()
    yield "in_browser.py", Path(__file__).with_name("in_browser.py").read_bytes()
    for name in NEEDED:
        for path in distribution(name).files or ():
            if path.suffix in (".py", ".lark") or path.name in ("METADATA", "RECORD"):
                yield path.as_posix(), Path(str(path.locate())).read_bytes()


def _blocks(name: str, init: str, goal: str, objects: str = "a b") -> str:
    return (
        f"(define (problem {name})\n  (:domain blocksworld)\n  (:objects {objects})\n"
        f"  (:init {init})\n  (:goal (and {goal})))\n"
    )


TABLE = "(arm-empty) (clear a) (on-table a) (clear b) (on-table b)"
THREE = f"{TABLE} (clear c) (on-table c)"
TOWER = _blocks("tower", THREE, "(on a b) (on b c)", "a b c")
PAIR = _blocks("pair", TABLE, "(on a b)")
FERRY = """(define (domain ferry)
  (:requirements :strips)
  (:predicates (at-ferry ?p) (at ?c ?p) (on ?c) (empty-ferry) (place ?p) (car ?c))
  (:action sail
    :parameters (?from ?to)
    :precondition (and (place ?from) (place ?to) (at-ferry ?from))
    :effect (and (at-ferry ?to) (not (at-ferry ?from))))
  (:action board
    :parameters (?c ?p)
    :precondition (and (car ?c) (at ?c ?p) (at-ferry ?p) (empty-ferry))
    :effect (and (on ?c) (not (at ?c ?p)) (not (empty-ferry))))
  (:action debark
    :parameters (?c ?p)
    :precondition (and (car ?c) (place ?p) (on ?c) (at-ferry ?p))
    :effect (and (at ?c ?p) (empty-ferry) (not (on ?c)))))
"""
CROSSING = """(define (problem crossing)
  (:domain ferry)
  (:objects c1 left right)
  (:init (car c1) (place left) (place right) (at-ferry right) (at c1 left) (empty-ferry))
  (:goal (at c1 right)))
"""
FUEL = """(define (domain van)
  (:requirements :typing :numeric-fluents)
  (:types town)
  (:predicates (in ?t - town) (road ?a ?b - town))
  (:functions (fuel) (length ?a ?b - town))
  (:action drive
    :parameters (?a ?b - town)
    :precondition (and (in ?a) (road ?a ?b) (>= (fuel) (length ?a ?b)))
    :effect (and (in ?b) (not (in ?a)) (decrease (fuel) (length ?a ?b)))))
"""
TRIP = """(define (problem trip)
  (:domain van)
  (:objects x y z - town)
  (:init (in x) (road x y) (road y z) (= (length x y) 4) (= (length y z) 3.5) (= (fuel) 7))
  (:goal (in z)))
"""

EXAMPLES = [
    {"title": title, "verdict": verdict, "row": row}
    for title, verdict, row in (
        (
            "A goal that leaves out a block",
            "goal_differs",
            {
                "reference_problem": TOWER,
                "generated_problem": "Here is the problem:\n```pddl\n"
                + _blocks("stack", THREE, "(on a b)", "a b c")
                + "```\n",
            },
        ),
        (
            "Other names for the blocks",
            "isomorphic",
            {
                "reference_problem": PAIR,
                "generated_problem": _blocks("two", TABLE, "(on b a)"),
            },
        ),
        (
            "A goal that says more than it must",
            "equivalent",
            {
                "reference_problem": PAIR,
                "generated_problem": _blocks("said", TABLE, "(on a b) (on-table b) (clear a) (arm-empty)"),
            },
        ),
        (
            "What becomes true and false",
            "incomplete",
            {
                "question": "progression",
                "reference_problem": TOWER,
                "plan": "(pickup b)\n(stack b c)\n",
                "generated_answer": "Now true: (on b c), (arm-empty). No longer true: (holding b).",
            },
        ),
        (
            "A parenthesis too few",
            "unparseable",
            {"reference_problem": PAIR, "generated_problem": PAIR.replace("(clear a)", "(clear a", 1)},
        ),
        (
            "A plan that works",
            "valid",
            {
                "reference_problem": TOWER,
                "generated_plan": "1. (pickup b)\n2. (stack b c)\n3. (pickup a)\n4. (stack a b)\n",
            },
        ),
        (
            "A step that cannot be executed",
            "precondition",
            {
                "reference_problem": TOWER,
                "generated_plan": "(pickup a)\n(stack a b)\n(pickup b)\n(stack b c)\n",
            },
        ),
        (
            "A plan that stops too early",
            "goal_not_reached",
            {
                "reference_problem": CROSSING,
                "generated_plan": "sail(right, left), board(c1, left), sail(left, right)\n",
                "domain": FERRY,
            },
        ),
        (
            "Too little fuel, in numbers",
            "precondition",
            {"reference_problem": TRIP, "generated_plan": "(drive x y)\n(drive y z)\n", "domain": FUEL},
        ),
        (
            "A domain in other words",
            "renamed",
            {
                "reference_domain": FERRY,
                "generated_domain": FERRY.replace("sail", "cross").replace("at-ferry", "ferry-at"),
            },
        ),
        (
            "An effect that is missing",
            "operators_differ",
            {"reference_domain": FERRY, "generated_domain": FERRY.replace(" (not (empty-ferry))", "")},
        ),
        (
            "A plan that can be shorter",
            "right",
            {
                "question": "justification",
                "reference_problem": PAIR,
                "plan": "(pickup b)\n(putdown b)\n(pickup a)\n(stack a b)\n",
                "generated_answer": "The first two actions are not needed: (pickup a), (stack a b)",
            },
        ),
    )
]
"""The gallery: twelve rows, each with its verdict."""


# Links to the playground


def row_link(row: Mapping[str, str]) -> str:
    """What follows ``#`` in an address that holds the row's texts, as ``playground.js`` reads it.

    >>> row_link({"generated_plan": "(a)"})
    'row=q1ZKT81LLUosSU2JL8hJzFOyUlDSSNRUqgUA'
    """
    packer = compressobj(9, wbits=-15)
    packed = packer.compress(json.dumps(row).encode()) + packer.flush()
    return f"row={urlsafe_b64encode(packed).decode().rstrip('=')}"


JUDGES = {
    "compare_problems": ("problem", "generated"),
    "compare_domains": ("domain", "generated"),
    "validate": ("plan", "plan"),
    "judge_answer": ("answer", "answer"),
    "feedback": ("problem", "answer"),
    "reward": ("problem", "completions"),
}
"""Functions whose calls are rows: what they judge, where no ``kind`` says it, and the argument that is judged."""


EXAMPLE = re.compile(
    r"^( *)(?:```(pycon|pddl|text|sh)\n(.*?)^ *```|!\[[^]]*]\([^)]*explain\.svg\))$", re.DOTALL | re.MULTILINE
)
"""A block of code, or the picture that ``explain`` draws of a row."""

SAMPLE_ROW = re.compile(r"\A(?:row|.*explain scored/ --row) (\d+)\b|.*`pddl-eval explain scored --row (\d+)", re.DOTALL)
"""What pages say of rows of the sample: an explanation, the command's help, the command before its picture."""


def with_links(markdown: str, playground: str) -> str:
    """The page with a link below each example: what a session in Python judges first, a row explained, a problem.

    >>> judged = '>>> pddl_eval.validate("(a)", "(define (problem p) (:domain d))")'
    >>> with_links(f"```pycon\\n>>> import pddl_eval\\n{judged}\\n```", "playground.html").splitlines()[-1][:40]
    '<a class="try" href="playground.html#row'
    """
    rows: list[dict[str, str]] = []
    opened: list[dict[str, str]] = []
    session: dict[str, Any] = {}
    judges = any(name in markdown for name in (*(f"pddl_eval.{name}(" for name in JUDGES), "Environment("))

    def linked(block: re.Match[str]) -> str:
        rows.clear()
        language, text = block[2], block[3]
        if language == "pycon" and judges:
            for example in DocTestParser().get_examples(dedent(text)):
                with suppress(Exception):  # What an example shows is for the tests; here are its calls.
                    exec(compile(example.source, "<page>", "exec"), session)
        elif language == "pddl":
            domain, begin, problem = text.partition("(define (problem")
            row = {"reference_problem": begin + problem, "generated_problem": begin + problem, "domain": domain.strip()}
            rows.append({name: known for name, known in row.items() if known})
        elif language != "pycon" and (named := SAMPLE_ROW.match(text or markdown[: block.start()])):
            rows.append(_sample_row(int(named[1] or named[2])))
        if not rows or rows[0] in opened:
            return block[0]
        opened.append(rows[0])
        link = f'<a class="try" href="{playground}#{row_link(rows[0])}">Open in the playground</a>'
        return f"{block[0]}\n\n{block[1] or ''}{link}"

    with ExitStack() as changed, TemporaryDirectory() as folder, redirect_stdout(StringIO()):
        changed.enter_context(chdir(folder))
        for place in (pddl_eval, environment):
            for name in JUDGES:
                if hasattr(place, name):  # The package loads its names when they are asked for.
                    changed.enter_context(patch.object(place, name, _recorded(getattr(place, name), rows)))
        return EXAMPLE.sub(linked, markdown)


def _sample_row(number: int) -> dict[str, str]:
    """The problems of a row of the sample, as the playground reads them."""
    row = pl.read_parquet(LIBRARY / "benchmark" / "sample.parquet").row(number, named=True)
    placeholder = {"is_placeholder": "true"} if row["is_placeholder"] else {}
    return {name: row[name] for name in ("reference_problem", "generated_problem")} | placeholder


def _recorded(function: Any, rows: list[dict[str, str]]) -> Any:
    """The function, which also notes the row of each call whose arguments are texts."""
    kind, judged = JUDGES[function.__name__]

    def call(*args: Any, **kwargs: Any) -> Any:
        given = signature(function).bind(*args, **kwargs).arguments
        kind_ = given.get("kind", kind)
        answer = given[judged][0] if isinstance(given[judged], list) else given[judged]
        known = given.get("problem") or given.get("reference")
        row = {f"reference_{'domain' if kind_ == 'domain' else 'problem'}": known, "domain": given.get("domain")}
        if kind_ == "answer":
            row |= {each: given.get(each) for each in ("question", "plan")}
        row = {each: text for each, text in {**row, f"generated_{kind_}": answer}.items() if text is not None}
        if all(isinstance(text, str) for text in row.values()):
            rows.append(row)
        return function(*args, **kwargs)

    return call
