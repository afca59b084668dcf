"""Which state of the code this is: a version for people, from version control, and a digest of the sources.

It imports the standard library only: ``setup.py`` runs this file before anything is installed.
"""

from __future__ import annotations

import os
import re
from functools import cache
from hashlib import blake2b
from pathlib import Path

RELEASE = "0.2.0"
"""The last release. Its tag is ``v0.2.0``."""

PACKAGE = Path(__file__).resolve().parent


@cache
def program_version() -> str:
    """The version of this code, which is asked once a process.

    | ``0.2.0`` | a release |
    | ``0.2.0+g8abb01a`` | a later commit |
    | ``0.2.0+g8abb01a.d3f2a91c0d1`` | its sources with changes that are not committed, by their digest |
    | ``0.2.0+nogit.d3f2a91c0d1`` | sources without history |
    """
    checkout = PACKAGE.parents[1]
    # Only the repository that this package belongs to: an environment may lie in the checkout of another project.
    of_this = (checkout / ".git").exists()
    found = _git("log", "-1", "--no-show-signature", "--abbrev=7", "--format=%h, %D") if of_this else None
    if found is None:
        return _built_as(checkout) or f"{RELEASE}+nogit.d{code_digest()}"
    commit, *names = found.strip().split(", ")
    if _git("status", "--porcelain", "--untracked-files=all", "--", "*.py") != "":
        return f"{RELEASE}+g{commit}.d{code_digest()}"
    return RELEASE if f"tag: v{RELEASE}" in names else f"{RELEASE}+g{commit}"


def without_version(signature: str | None) -> str | None:
    """What of a signature scores depend on: all but the version, which a commit of documentation changes, too.

    >>> without_version("pddl-eval:0.1.0+g8abb01a|code:d3f2a91c0d1|domain:row")
    'code:d3f2a91c0d1|domain:row'
    """
    return signature and re.sub(r"^pddl-eval:[^|]*\|", "", signature)


@cache
def code_digest() -> str:
    """A digest of the package's sources: equal wherever they are installed, another after any edit."""
    digest = blake2b(digest_size=5)
    for file in sorted(PACKAGE.rglob("*.py")):
        if file.is_file():  # An editor's lock is a link that leads nowhere.
            source = file.read_bytes()
            digest.update(f"{file.relative_to(PACKAGE).as_posix()} {len(source)}\n".encode() + source)
    return digest.hexdigest()


@cache
def version_of(distribution: str) -> str:
    """The installed version, ``none`` where the distribution is missing."""
    from importlib.metadata import PackageNotFoundError, version  # Imports the email package; workers do without.

    try:
        return version(distribution)
    except PackageNotFoundError:
        return "none"


def _built_as(checkout: Path) -> str | None:
    """The version that was written down when this wheel or this sdist was built.

    Metadata elsewhere on the path, such as those of an editable installation, are not about these sources.
    """
    for file in (*PACKAGE.parent.glob("pddl_eval-*.dist-info/METADATA"), checkout / "PKG-INFO"):
        if file.is_file() and (known := re.search(r"^Version: (.+)$", file.read_text("utf-8"), re.MULTILINE)):
            return known[1]
    return None


def _git(*words: str) -> str | None:
    """What git prints, or None where it cannot say."""
    import subprocess  # Here: a verdict needs no version, and no process.

    # In a hook, GIT_DIR and GIT_INDEX_FILE are those of the repository whose hook it is.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    # A mounted checkout can belong to another user; whoever owns it has written the code that runs here anyway.
    command = ["git", "-c", "safe.directory=*", "--no-optional-locks", "-C", str(PACKAGE), *words]
    try:
        ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=10)
    except (OSError, subprocess.SubprocessError):
        return None
    return ran.stdout
