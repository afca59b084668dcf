"""What ``pyproject.toml`` cannot say: the version, from version control, the README of a package index, and the kernel.

A package index shows the README without the repository beside it, so its links lead to the version's tag or commit.
The kernel is built where a Rust toolchain is found; ``PDDL_EVAL_BUILD_KERNEL`` is ``auto``, ``must`` or ``off``.
"""

import os
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext
from setuptools.command.dist_info import dist_info

VERSION = runpy.run_path("pipeline/pddl_eval/version.py")["program_version"]()
COMMIT = re.search(r"\+g(\w+)", VERSION)
PLACE = COMMIT[1] if COMMIT else "main" if "+" in VERSION else f"v{VERSION}"
HOMEPAGE = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]["Homepage"]
FILES = HOMEPAGE.replace("//github.com", "//raw.githubusercontent.com")


def absolute(link):
    """A relative link of the README as a URL; code is left as it is."""
    target = link["target"]
    if target is None:
        return link[0]
    place = FILES if target.endswith((".svg", ".png")) else f"{HOMEPAGE}/blob"
    return f"]({place}/{PLACE}/{'README.md' if target.startswith('#') else ''}{target})"


CODE_OR_LINK = re.compile(r"^```.*?^```$|`[^`\n]+`|\]\((?!https://)(?P<target>[^)\s]+)\)", re.DOTALL | re.MULTILINE)

CRATE = Path("pipeline/kernel")
BUILT = "libpddl_eval_kernel.dylib" if sys.platform == "darwin" else "libpddl_eval_kernel.so"
LIBRARY = "pddl_eval_kernel.library"
WANTED = os.environ.get("PDDL_EVAL_BUILD_KERNEL") or "auto"
if WANTED not in ("auto", "must", "off"):
    raise SystemExit(f"PDDL_EVAL_BUILD_KERNEL is auto, must or off, not {WANTED}")
FOUND = shutil.which("cargo") is not None
if WANTED == "must" and not FOUND:
    raise SystemExit("PDDL_EVAL_BUILD_KERNEL=must, and there is no cargo: install Rust")
BUILDS = WANTED != "off" and FOUND
if not BUILDS:
    why = "PDDL_EVAL_BUILD_KERNEL=off" if WANTED == "off" else "there is no cargo"
    print(f"pddl-eval is built without its kernel ({why}): the definition scores every row", file=sys.stderr)


TARGET = Path(os.environ.get("CARGO_TARGET_DIR") or "build/cargo").resolve()
CARGO = ["cargo", "build", "--release", "--locked", "--offline", "--target-dir", TARGET]


class BeginKernel(dist_info):
    """Begins the build where pip asks for names and versions: it then downloads what they need, which takes as long.

    Whoever builds the extension later waits for cargo's lock, and reports what fails.
    """

    def run(self):
        if BUILDS:
            subprocess.Popen(CARGO, cwd=CRATE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        super().run()


class BuildKernel(build_ext):
    """Builds the crate, which has no dependencies, and puts its library beside the file that loads it."""

    def build_extension(self, extension):
        ran = subprocess.run(CARGO, cwd=CRATE, check=False)
        if ran.returncode:
            if WANTED == "must":
                raise SystemExit("the kernel does not build")
            print("the kernel does not build: the definition scores every row", file=sys.stderr)
            return
        place = Path(self.get_ext_fullpath(extension.name))
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(TARGET / "release" / BUILT, place)

    def get_ext_filename(self, name):
        return str(Path(*name.split(".")[:-1], LIBRARY))

    def copy_extensions_to_source(self):
        """As an editable installation wants it; there is nothing to copy where the crate did not build."""
        if all(Path(self.build_lib, self.get_ext_filename(each.name)).exists() for each in self.extensions):
            super().copy_extensions_to_source()


class AnyPython(bdist_wheel):
    """A wheel with the library is for one platform and every Python."""

    def get_tag(self):
        _, _, platform = super().get_tag()
        return "py3", "none", platform if BUILDS else "any"


setup(
    ext_modules=[Extension("pddl_eval.kernel.library", sources=[])] if BUILDS else [],
    cmdclass={"dist_info": BeginKernel, "build_ext": BuildKernel, "bdist_wheel": AnyPython},
    version=VERSION,
    long_description=CODE_OR_LINK.sub(absolute, Path("README.md").read_text(encoding="utf-8")),
    long_description_content_type="text/markdown",
)
