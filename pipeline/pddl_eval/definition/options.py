"""The settings that can change a score, and the signature that says them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from hashlib import blake2b
from typing import Any, Self

from pddl_eval.columns import ASKED, MEANINGS
from pddl_eval.definition.verdict import CERTIFICATE_VERSION
from pddl_eval.errors import UserError, did_you_mean, require_extra
from pddl_eval.settings import require_choices, setting, setting_of
from pddl_eval.version import code_digest, program_version, version_of

SIMILARITIES = ("exact", "lexical", "embedding:MODEL")

DOMAIN_HEADERS = ("none", "reference")

ANSWERS = ("first", "last")


def _show_domain(domain: str | None) -> str:
    if domain and "(" in domain:
        return f"pddl-{blake2b(domain.encode(), digest_size=6).hexdigest()}"
    return domain or "row"


def _similarity_requires(similarity: str) -> Sequence[str]:
    return {"exact": (), "lexical": ("rapidfuzz",)}.get(similarity, ("sentence-transformers",))


@dataclass(frozen=True, slots=True)
class ScoringOptions:
    """How to score.

    Raises ``UserError`` where a setting has no meaning or the extra that it needs is not installed.

    >>> ScoringOptions(similarity="lexical").signature.partition("|")[0].startswith("pddl-eval:")
    True
    """

    columns: Mapping[str, str] | None = setting(
        None,
        "The dataset's own name for a column: reference_problem=gold.",
        "--column",
        metavar="MEANING=NAME",
    )
    domain: str | None = setting(
        None,
        "Domain of all rows that name none: a known one or a PDDL file.",
        "--domain",
        metavar="NAME|FILE",
        signed="domain",
        shown=_show_domain,
    )
    domain_header: str = setting(
        "none",
        "What generated actions without a domain are taken with: reference, its types, predicates and constants.",
        "--domain-header",
        hidden=True,
        choices=DOMAIN_HEADERS,
        signed="header",
    )
    check_solvable: bool = setting(
        True,
        "Decide whether generated problems can be solved, and exchange plans between domains.",
        "--check-solvable/--no-check-solvable",
        signed="solvable",
        shown=lambda wanted: "yes" if wanted else "no",
        requires=lambda wanted: ("up-fast-downward",) if wanted else (),
    )
    similarity: str = setting(
        "exact",
        "Similarity of plan steps.",
        "--similarity",
        hidden=True,
        metavar="|".join(SIMILARITIES),
        signed="sim",
        requires=_similarity_requires,
    )
    beta: float = setting(
        0.75, "Weight of the action's name in the plan score, 0 to 1.", signed="beta", shown="{:g}".format
    )
    threshold: float = setting(
        0.8, "Similarity above which plan steps match, 0 to 1.", signed="threshold", shown="{:g}".format
    )

    answer: str = setting(
        "first", "Which of several drafts of an answer is read.", "--answer", choices=ANSWERS, signed="answer"
    )
    optimal: bool = setting(
        False,
        "Also decide whether plans are optimal, where the states can be enumerated.",
        "--optimal/--no-optimal",
        signed="optimal",
        shown=lambda wanted: "yes" if wanted else "",
    )
    feedback: bool = setting(
        False,
        "Also write what to tell the models that wrote the answers.",
        "--feedback/--no-feedback",
        hidden=True,
        signed="feedback",
        shown=lambda wanted: "yes" if wanted else "",
    )
    row_seconds: float = setting(
        10.0,
        "CPU time of a row; what is open then is undecided.",
        "--row-seconds",
        metavar="SECONDS",
        signed="seconds",
        shown="{:g}".format,
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", dict(self.columns or {}))
        if self.similarity.startswith("embedding:") and len(self.similarity) > len("embedding:"):
            require_extra("embedding", "similarity embedding:…")
        elif self.similarity not in ("exact", "lexical"):
            raise UserError(f"no similarity is named {self.similarity!r}: choose {', '.join(SIMILARITIES)}")
        require_choices(self)
        for name, value in (("beta", self.beta), ("threshold", self.threshold)):
            if not 0 <= value <= 1:
                raise UserError(f"{name} is a number from 0 to 1, not {value}")
        if not self.row_seconds > 0:
            raise UserError(f"row_seconds is a number above 0, not {self.row_seconds}")
        self._check_columns()

    def column(self, meaning: str) -> str:
        """The dataset's name for the column with that meaning."""
        return (self.columns or {}).get(meaning, meaning)

    def _check_columns(self) -> None:
        if not self.columns:
            return
        for meaning in self.columns:
            if meaning not in MEANINGS:
                raise UserError(f"no column means {meaning}; {did_you_mean(meaning, MEANINGS, 'meanings')}")
        for meaning in MEANINGS:
            for other in MEANINGS if meaning.startswith("generated_") else ():
                # Another column may have the name of what is asked where no answers are.
                if other in ASKED and other not in self.columns:
                    continue
                if meaning != other and self.column(meaning) == self.column(other):
                    raise UserError(f"the column {self.column(meaning)} cannot be both {meaning} and {other}")

    @classmethod
    def reading_as(cls, settings: Mapping[str, Any]) -> Self:
        """The columns and what its domains are read with, of the settings that a dataset was scored with.

        Those of no settings where these mean nothing here.
        """
        read_with = ("columns", "domain", "domain_header", "answer")
        try:
            return cls(**{name: settings[name] for name in read_with if name in settings})
        except (ValueError, TypeError, AttributeError):
            return cls()

    @property
    def signature(self) -> str:
        """One line with the versions and every setting that can change a score, as sacreBLEU's.

        Scores with different signatures are not comparable. The line can be quoted in a paper.
        """
        return f"pddl-eval:{program_version()}|{self.comparable}"

    @property
    def comparable(self) -> str:
        """The signature without the version: what driver and workers have in common, with or without a repository."""
        parts = {"code": code_digest(), "pddl": version_of("pddl"), "certificate": str(CERTIFICATE_VERSION)}
        for each in fields(self):
            known, value = setting_of(each), getattr(self, each.name)
            if known.signed and (said := known.shown(value)):
                parts[known.signed] = said
            parts |= {name: version_of(name) for name in known.requires(value)}
        return "|".join(f"{name}:{value}" for name, value in parts.items())
