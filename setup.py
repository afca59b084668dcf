"""What ``pyproject.toml`` cannot say: the README of a package index, and the modules that are compiled on demand.

    PDDL_EVAL_COMPILE=1 pip install .

A package index shows the README without the repository beside it, so its links lead to the tag of the version.

The modules are ordinary typed Python; mypyc makes them C extensions that give the same scores. Classes in them have no
working ``functools.cached_property`` (mypyc computes it at each access), which a test checks.
"""

import os
import re
import sys
import tempfile
import tomllib
from pathlib import Path

from setuptools import setup

# Those that gain: readers of plans and domains are regular expressions and sets, and take as long when compiled.
COMPILED = [
    "canonical",
    "domains/blocksworld",
    "domains/floor_tile",
    "domains/gripper",
    "domains/reading",
    "equivalence/decide",
    "equivalence/wording",
    "parsing/problems",
    "parsing/sexpr",
    "solve/executor",
    "structure/graph",
]

# Other packages' types are not needed to compile these, and reading them would take minutes. CI checks the types with
# them; what mypy finds without them says nothing.
CONFIG = """
[mypy]
ignore_missing_imports = True
plugins =
[mypy-altair.*,jinja2.*,networkx.*,numpy.*,pandas.*,pddl.*,polars.*,pyarrow.*,rapidfuzz.*,ray.*,rich.*,typer.*]
follow_imports = skip
[mypy-pddl_eval.*]
ignore_errors = True
"""

PROJECT = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
VERSION = re.search(r'^__version__ = "(.+)"$', Path("pipeline/pddl_eval/__init__.py").read_text("utf-8"), re.M)[1]


def absolute(link):
    """A relative link of the README as a URL; code is left as it is."""
    target = link["target"]
    if target is None:
        return link[0]
    place = PROJECT["urls"]["Homepage"] + "/blob"
    if target.endswith((".svg", ".png")):
        place = place.replace("//github.com", "//raw.githubusercontent.com").removesuffix("/blob")
    return f"]({place}/v{VERSION}/{'README.md' if target.startswith('#') else ''}{target})"


CODE_OR_LINK = re.compile(r"^```.*?^```$|`[^`\n]+`|\]\((?!https://)(?P<target>[^)\s]+)\)", re.DOTALL | re.MULTILINE)
README = {
    "long_description": CODE_OR_LINK.sub(absolute, Path("README.md").read_text(encoding="utf-8")),
    "long_description_content_type": "text/markdown",
}

if os.environ.get("PDDL_EVAL_COMPILE") != "1":
    setup(**README)
elif {"egg_info", "dist_info"}.intersection(sys.argv):  # pip asks what the build needs, and for the metadata
    setup(setup_requires=["mypy>=1.18"], **README)
else:
    from mypyc.build import mypycify

    with tempfile.NamedTemporaryFile("w", suffix=".ini") as config:
        config.write(CONFIG)
        config.flush()
        modules = [f"pipeline/pddl_eval/{module}.py" for module in COMPILED]
        setup(ext_modules=mypycify([f"--config-file={config.name}", *modules]), **README)
