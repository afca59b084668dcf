"""Every setting, declared once: a field here is a keyword in Python, a flag of the commands with its help, an entry of
the run's manifest and, where it can change a score, a part of the signature.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields
from functools import cache, wraps
from hashlib import blake2b
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, TypeVar

from pddl_eval import __version__
from pddl_eval.errors import UserError, did_you_mean, require_extra
from pddl_eval.verdict import CERTIFICATE_VERSION

PAIRS = ("problem", "plan", "domain")
"""What is compared: each has a column ``reference_…`` and a column ``generated_…``."""

SCORED = (*(f"{side}_{pair}" for pair in PAIRS for side in ("reference", "generated")), "is_placeholder", "domain")
"""The columns that scores are made of."""

MEANINGS = (*SCORED, "model", "reference_id")
"""The columns that mean something: those, and who answered which question, which reports ask."""

REFERENCE_SIDE = (*(f"reference_{pair}" for pair in PAIRS), "is_placeholder", "domain")
"""The columns that belong to a question and not to an answer."""

PLAIN_NAMES = {"problem_pddl": "reference_problem"}
"""What published references call a column: Planetarium's dataset."""

HARNESSES = ("lm-eval", "inspect", "openai")

SIMILARITIES = ("exact", "lexical", "embedding:MODEL")

ENGINES = ("auto", "local", "ray")

SHARD_ROWS = 2048
"""A second or two of scoring: a hundred times the overhead of a shard, and few enough that a lost worker costs little
and that ten thousand rows occupy several."""

GARBAGE_THRESHOLDS = (50_000, 5, 1_000)
"""Of the cyclic garbage collector, in processes of this program: with Python's own it visits all references of a shard
every few rows, a tenth of the time of scoring, and finds nothing."""

Returned = TypeVar("Returned")


@dataclass(frozen=True, slots=True)
class Setting:
    """What is known of a field besides its type and default.

    ``flag`` and ``metavar`` are the command line's, ``choices`` are what a shell completes; ``signed`` is the name in
    the signature (empty: it changes no score); ``shown`` writes the value there; ``requires`` names the distributions
    that a value makes scores depend on.
    """

    help: str
    flag: str = ""
    metavar: str | None = None
    choices: Sequence[str] = ()
    signed: str = ""
    shown: Callable[[Any], str] = str
    requires: Callable[[Any], Sequence[str]] = lambda _: ()


def setting(default: Any, help: str, **known: Any) -> Any:
    """A dataclass field with what ``Setting`` says of it."""
    return field(default=default, metadata={"setting": Setting(help, **known)})


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
        "The dataset's own name for a column: generated_problem=output.",
        flag="--column",
        metavar="MEANING=NAME",
    )
    domain: str | None = setting(
        None,
        "Domain of all rows that name none: a known one or a PDDL file.",
        metavar="NAME|FILE",
        signed="domain",
        shown=_show_domain,
    )
    check_solvable: bool = setting(
        True,
        "Decide whether generated problems can be solved, and exchange plans between domains.",
        signed="solvable",
        shown=lambda wanted: "yes" if wanted else "no",
        requires=lambda wanted: ("up-fast-downward",) if wanted else (),
    )
    similarity: str = setting(
        "exact", "Of plan steps.", choices=SIMILARITIES, signed="sim", requires=_similarity_requires
    )
    beta: float = setting(
        0.75, "Weight of the action's name in the plan score, 0 to 1.", signed="beta", shown="{:g}".format
    )
    threshold: float = setting(
        0.8, "Similarity above which plan steps match, 0 to 1.", signed="threshold", shown="{:g}".format
    )

    row_seconds: float = setting(
        10.0,
        "Processor time of a row; what is open then is undecided.",
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
        for meaning in self.columns or {}:
            if meaning not in MEANINGS:
                raise UserError(f"no column means {meaning}; {did_you_mean(meaning, MEANINGS, 'meanings')}")
        for meaning in MEANINGS:
            for other in MEANINGS if meaning.startswith("generated_") else ():
                if meaning != other and self.column(meaning) == self.column(other):
                    raise UserError(f"the column {self.column(meaning)} cannot be both {meaning} and {other}")

    @property
    def signature(self) -> str:
        """One line with the versions and every setting that can change a score, as sacreBLEU's.

        Scores with different signatures are not comparable. The line can be quoted in a paper.
        """
        parts = {name: version_of(name) for name in ("pddl-eval", "pddl")} | {"certificate": str(CERTIFICATE_VERSION)}
        for each in fields(self):
            known, value = setting_of(each), getattr(self, each.name)
            if known.signed:
                parts[known.signed] = known.shown(value)
            parts |= {name: version_of(name) for name in known.requires(value)}
        return "|".join(f"{name}:{value}" for name, value in parts.items())


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Where and how a dataset is scored; none of it changes a score.

    Raises ``UserError`` where a setting has no meaning.
    """

    engine: str = setting("auto", "Where to score; changes no score.", choices=ENGINES)
    address: str | None = setting(
        None, "Ray cluster to join: auto, HOST:PORT or ray://HOST:PORT. Default: RAY_ADDRESS."
    )
    workers: int | None = setting(None, "Worker processes, or tasks in flight on Ray. Default: what pays.")
    shard_rows: int = setting(SHARD_ROWS, "Rows of a shard, at most.")
    json_log: str | None = setting(None, "Append one JSON line for each finished shard.", metavar="FILE")

    def __post_init__(self) -> None:
        if self.engine not in ENGINES:
            raise UserError(f"There is no engine {self.engine}: choose {', '.join(ENGINES)}.")
        if self.workers is not None and self.workers < 1:
            raise UserError(f"A run has at least one worker, not {self.workers}.")
        if self.shard_rows < 1:
            raise UserError(f"A shard holds at least one row, not {self.shard_rows}.")
        if self.engine == "local" and self.address:
            raise UserError("An address is that of a Ray cluster: choose the engine ray or auto.")
        if self.engine == "ray" or self.address:
            require_extra("ray", "The engine ray")


@dataclass(frozen=True, slots=True)
class ReadingOptions:
    """What an input holds, and where the references of its answers are.

    Raises ``UserError`` where a setting has no meaning.
    """

    harness: str | None = setting(None, "INPUT is logs of this harness.", flag="--from", choices=HARNESSES)
    answers: str = setting("problem", "What the answers in a log are.", choices=PAIRS)
    references: str | None = setting(
        None, "Dataset with the references of INPUT's answers, joined by id.", metavar="DATASET"
    )
    on: Sequence[str] | None = setting(
        None, "The references' id. Default: reference_id, else id, else name.", metavar="COLUMN,…"
    )

    def __post_init__(self) -> None:
        if isinstance(self.on, str):
            object.__setattr__(self, "on", [self.on])
        for name, value, known in (("harness", self.harness, HARNESSES), ("kind of answers", self.answers, PAIRS)):
            if value is not None and value not in known:
                raise UserError(f"there is no {name} {value}; {did_you_mean(value, known)}")
        if self.on and self.harness is None and self.references is None:
            raise UserError("--on belongs to --references or --from: it names the id of the references")
        if self.answers != "problem" and self.harness is None:
            raise UserError("--answers belongs to --from: the columns of any other input say what they are")


def setting_of(each: Field[Any]) -> Setting:
    """What the declaration of a field says."""
    known: Setting = each.metadata["setting"]
    return known


def takes(**groups: type) -> Callable[[Callable[..., Returned]], Callable[..., Returned]]:
    """Let a function that takes options take their fields as keywords instead: ``takes(options=ScoringOptions)``.

    ``help()`` shows the keywords with their types and defaults.
    """

    def decorate(function: Callable[..., Returned]) -> Callable[..., Returned]:
        owner = {each.name: group for group, options in groups.items() for each in fields(options)}

        @wraps(function)
        def call(*arguments: Any, **keywords: Any) -> Returned:
            chosen: dict[str, dict[str, Any]] = {group: {} for group in groups}
            for name in owner.keys() & keywords.keys():
                chosen[owner[name]][name] = keywords.pop(name)
            return function(*arguments, **keywords, **{group: groups[group](**chosen[group]) for group in groups})

        shape = inspect.signature(function)
        own = [each for each in shape.parameters.values() if each.name not in groups]
        expanded = [
            inspect.Parameter(each.name, inspect.Parameter.KEYWORD_ONLY, default=each.default, annotation=each.type)
            for options in groups.values()
            for each in fields(options)
        ]
        parameters = sorted([*own, *expanded], key=lambda each: each.kind)
        call.__signature__ = shape.replace(parameters=parameters)  # type: ignore[attr-defined]
        return call

    return decorate


@cache
def version_of(distribution: str) -> str:
    """The installed version, ``none`` where the distribution is missing; of this program, that of the running code."""
    if distribution == "pddl-eval":
        return __version__
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "none"


@cache
def build() -> str:
    """``compiled`` where the hot modules are C extensions (``setup.py``), else ``plain Python``; the scores are equal.

    >>> build() in ("compiled", "plain Python")
    True
    """
    hot = Path(__file__).parent / "canonical"
    return "compiled" if any(hot.with_suffix(suffix).exists() for suffix in EXTENSION_SUFFIXES) else "plain Python"
