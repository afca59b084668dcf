"""Which sources the library has to be built from: the digest of the crate ``pipeline/kernel``.

The library carries the digest of the sources that it was built from, and one with another digest is not used. The
digest stands in a Python file, so ``code:`` in a signature covers the crate, too. After a change of the crate, this
writes it:

    python pipeline/pddl_eval/kernel/crate.py
"""

from __future__ import annotations

from hashlib import blake2b
from pathlib import Path

DIGEST = "1fa02d4b76703883305ad4277bc34421"

DOMAINS = ("blocksworld", "floor_tile", "gripper", "rover_single_stores")
"""The known domains whose PDDL the crate has from ``definition/domains``."""

CRATE = Path(__file__).resolve().parents[2] / "kernel"
"""The crate in a checkout; an installed package is without it."""


def digest_of(crate: Path) -> str:
    """The digest of the crate's sources; ``build.rs`` computes the same for the library."""
    named = [path.relative_to(crate).as_posix() for path in (crate / "src").rglob("*.rs")]
    digest = blake2b(digest_size=16)
    for name in sorted([*named, "Cargo.lock", "Cargo.toml", "build.rs"]):
        source = (crate / name).read_bytes()
        digest.update(f"{name} {len(source)}\n".encode() + source)
    for name in DOMAINS:
        file = crate.parent / "pddl_eval" / "definition" / "domains" / f"{name}.py"
        text = file.read_bytes().partition(b'\nPDDL = """')[2].partition(b'"""')[0]
        digest.update(f"{name}.pddl {len(text)}\n".encode() + text)
    return digest.hexdigest()


if __name__ == "__main__":
    this = Path(__file__)
    this.write_text(this.read_text("utf-8").replace(DIGEST, digest_of(CRATE)), "utf-8")
