"""The signature of a score: one line with the version and every setting that can change a number, as sacreBLEU's.

Scores with different signatures are not comparable. The line can be quoted in a paper.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b
from importlib.metadata import version

from pipeline.scoring.settings import Settings


@lru_cache(maxsize=64)
def _version(distribution: str) -> str:
    return version(distribution)


def signature(settings: Settings) -> str:
    """The signature of scores made with these settings by the installed program.

    >>> signature(Settings()).startswith("pddl-eval:0")
    True
    """
    domain = settings.domain or "row"
    if "(" in domain:
        domain = f"pddl-{blake2b(domain.encode(), digest_size=6).hexdigest()}"
    parts = {
        "pddl-eval": _version("pddl-eval"),
        "pddl": _version("pddl"),
        "igraph": _version("igraph"),
        "domain": domain,
        "solvable": "yes" if settings.check_solvable else "no",
        "sim": settings.similarity,
        "beta": f"{settings.beta:g}",
        "threshold": f"{settings.threshold:g}",
    }
    return "|".join(f"{name}:{value}" for name, value in parts.items())
