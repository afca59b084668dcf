"""Compiles the modules that a pair's time is spent in where ``PDDL_EVAL_COMPILE=1`` asks for it; else does nothing.

    PDDL_EVAL_COMPILE=1 pip install .

The modules are ordinary typed Python; mypyc makes them C extensions that give the same scores. Classes in them have no
working ``functools.cached_property`` (mypyc computes it at each access), which a test checks.
"""

import os
import sys
import tempfile

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

if os.environ.get("PDDL_EVAL_COMPILE") != "1":
    setup()
elif {"egg_info", "dist_info"}.intersection(sys.argv):  # pip asks what the build needs, and for the metadata
    setup(setup_requires=["mypy>=1.18"])
else:
    from mypyc.build import mypycify

    with tempfile.NamedTemporaryFile("w", suffix=".ini") as config:
        config.write(CONFIG)
        config.flush()
        modules = [f"pipeline/pddl_eval/{module}.py" for module in COMPILED]
        setup(ext_modules=mypycify([f"--config-file={config.name}", *modules]))
