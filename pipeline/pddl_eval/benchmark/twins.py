"""Twins: rows of any dataset whose names are replaced, so that a model finds nothing in them that it has read before.

A name is a word of the row's domain or reference problem that PDDL does not reserve. It is replaced by one new word,
which occurs nowhere in the row, wherever it stands as a word of its own, also in raw answers. So what is read, and what
is decided of it, is the same: domains and problems are renamed by a bijection. Arguments of predicates and operators
are moved to other places, too. Every twin with an answer is scored beside its original all the same. Where a score
differs, as an answer may name arguments in a notation that is not found here, they stay in their places; where it
differs then, too, the row is left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import product
from random import Random
from string import ascii_lowercase
from typing import Any, ClassVar

import polars as pl
import pyarrow as pa

from pddl_eval.benchmark.original import write
from pddl_eval.benchmark.variants import PLAIN, require_texts
from pddl_eval.columns import NAMES, SCORED, TWIN
from pddl_eval.datasets import rows_of
from pddl_eval.definition.domain_equivalence import decide_domains
from pddl_eval.definition.domains import known_domain, planning_domain
from pddl_eval.definition.model import ROOT_TYPE, Problem, domain_to_pddl
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.definition.pddl import DomainError, parse_domain, read_problem, typed_list, without_comments
from pddl_eval.definition.structure import DomainStructure
from pddl_eval.errors import UserError
from pddl_eval.scoring.columns import SCORE_COLUMNS
from pddl_eval.scoring.table import score_table

WORD = re.compile(r"\\.|[?:]?[A-Za-z_][A-Za-z0-9_-]*")
"""A word that may be a name. A backslash and what it escapes are none: in JSON, ``\\npick`` is a new line."""


LISTED = re.compile(
    r"(\(\s*(?::action\s+)?([A-Za-z_][\w-]*)\s+(?::parameters\s*\(\s*)?|\b([A-Za-z_][\w-]*)\()"
    r"([^\s():,;]+(?:[\s,]+[^\s():,;]+)+)(?=\s*\))",
    re.IGNORECASE,
)
"""A name with two terms or more behind it: an atom, an action, a declaration with types, or a call."""


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


RESERVED = _words(
    "define domain problem object number and or not imply forall exists when either increase decrease assign"
    " scale-up scale-down total-cost total-time minimize maximize preference is-violated always sometime within"
    " at-most-once sometime-after sometime-before always-within hold-during hold-after start end over all name"
    " args id action actions arguments parameters params plan step steps state answer finishaction none no yes"
    " true false add delete positive negative effects effect precondition preconditions pre index valid invalid"
)
"""Words that PDDL, or a notation of plans or answers, gives a meaning to. What is called so keeps its name."""

OTHER_WORDS = _words(
    "apple basket candle dragon engine forest garden hammer island jacket kettle ladder mirror needle orchard"
    " pepper quilt ribbon saddle tunnel umbrella violin window yogurt anchor bottle carpet dinner eagle feather"
    " guitar harbor insect jungle kitten lemon market napkin onion pillow rabbit sailor teapot velvet walnut"
    " zipper bridge copper desert elbow falcon glacier honey iron jewel lantern meadow nectar oyster parrot silver"
    " thunder valley whistle"
)

STYLES = ("words", "other", "letters")
"""What names become: random words, other real words, letters."""

TEXTS = (*(each for each in SCORED if each not in ("is_placeholder", "question")), "reference_answer", "question_text")
"""Columns with names, as far as there are such columns."""

DESCRIPTIONS = ("description", "natural_language")
"""Columns that a twin lacks: a problem in words is about the world that the names are from."""

SOURCES = ("domain", "reference_domain", "reference_problem", "reference_plan")
"""Where the names are from. The domain is first: its words are the same in all rows."""

ADDED = tuple(pa.field(name, pa.string()) for name in (TWIN, NAMES, "names_replaced", "arguments_moved"))
"""What originals and twins have beside their columns: the id that both share, ``kept`` or ``replaced``, the map, and
for each new name the old places of its arguments, from 0."""

Orders = Mapping[str, Sequence[int]]
"""Where the arguments of a name stood, by their new places."""


@dataclass(frozen=True)
class Twins:
    """How names are replaced. Equal domains get equal words, of the same seed.

    >>> problem = "(define (problem p) (:domain gripper) (:objects b) (:init (ball b)) (:goal (and)))"
    >>> twins = Twins("letters").table(pa.table({"reference_problem": [problem]}))
    >>> twins["names"].to_pylist(), "gripper" in twins["reference_problem"][1].as_py()
    (['kept', 'replaced'], False)
    """

    style: str = "words"
    seed: int = 0
    options: ScoringOptions = PLAIN
    per_row: ClassVar[int] = 1

    def schema(self, schema: pa.Schema) -> pa.Schema:
        """The schema of originals and twins; raises ``UserError`` where no column holds names or one is there twice."""
        if not {*map(self.options.column, TEXTS)} & {*schema.names}:
            raise UserError(f"there is no column with PDDL, such as {self.options.column('reference_problem')}")
        require_texts(schema, ("domain", "reference_domain"), self.options)
        if twice := {*schema.names} & {field.name for field in ADDED}:
            raise UserError(f"the rows have a column {min(twice)} already")
        for meaning in ("reference_id", "domain"):
            if (column := self.options.column(meaning)) not in schema.names:
                schema = schema.append(pa.field(column, pa.string()))
        place = schema.names.index(self.options.column("reference_id"))
        return pa.schema([*schema.set(place, schema.field(place).with_type(pa.string())), *ADDED])

    def table(self, rows: pa.Table, first_row: int = 0) -> pa.Table:
        """Each row and its twin; neither where a score of the two differs, or a domain cannot be read.

        ``first_row`` is the number of the table's first row in its dataset: the id of rows that have none.
        """
        schema, column = self.schema(rows.schema), self.options.column
        identity = column("reference_id")
        originals: list[dict[str, Any]] = []
        twins: list[list[dict[str, Any]]] = []  # with moved arguments, and without
        for number, row in enumerate(rows_of(rows), first_row):
            row[identity] = str(number if row.get(identity) is None else row[identity])
            try:
                made = self._twins(row)
            except DomainError:
                continue
            originals.append({**row, TWIN: row[identity], NAMES: "kept"})
            shared = {TWIN: row[identity], NAMES: "replaced", identity: f"{row[identity]}-twin"}
            twins.append([{**twin, **shared} for twin in made])
        scored = pa.schema([each for each in schema if each.name in (*rows.column_names, column("domain"))])
        chosen: dict[int, dict[str, Any]] = {}
        for turn in range(2):
            tried = {place: each[turn] for place, each in enumerate(twins) if place not in chosen and len(each) > turn}
            same = self._same_scores(scored, [(originals[place], twin) for place, twin in tried.items()])
            chosen |= {place: twin for (place, twin), kept in zip(tried.items(), same, strict=True) if kept}
        both = [each for place in sorted(chosen) for each in (originals[place], chosen[place])]
        return pa.Table.from_pylist(both, schema)

    def counted(self, table: pa.Table) -> pl.DataFrame:
        """How many ``rows`` have their names, or those of a twin."""
        return pl.DataFrame(table.select([NAMES])).group_by(NAMES).len("rows")

    def _twins(self, row: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The row with other names and its arguments in other places, and with other names alone."""
        column = self.options.column
        texts = {name: row[name] for name in map(column, TEXTS) if isinstance(row.get(name), str)}
        problem, domain = texts.get(column("reference_problem")), row.get(column("domain")) or self.options.domain
        if not domain and not row.get(column("reference_domain")):
            named = re.search(r"\(\s*:domain\s+([^\s()]+)", problem or "", re.IGNORECASE)
            domain = named and known_domain(named[1].lower()) and named[1].lower()
        if domain and "(" not in domain and (known := planning_domain(domain)):
            domain = domain_to_pddl(known.domain)
        if domain:
            texts[column("domain")] = domain
        sources = [texts[name] for name in map(column, SOURCES) if name in texts]
        taken = {_plain(word) for text in texts.values() for word in WORD.findall(text)}
        random = Random(f"{self.seed} {domain or row.get(column('reference_domain'))}")
        replaced: dict[str, str] = {}
        reserved = {*RESERVED} | ({"at"} if _has_times(sources) else set())
        for source in sources:
            words = {_plain(word) for word in WORD.findall(without_comments(source))} - replaced.keys()
            olds = sorted(word for word in words - reserved if word[0] not in ":\\")
            fresh = [word for word in _pool(self.style) if word not in taken and f"?{word}" not in taken]
            if len(fresh) < len(olds):
                raise UserError(f"there are only {len(fresh):,} new words of the style {self.style}")
            # In alphabetical order: of several shortest plans, the first is the one that domains exchange.
            for old, new in zip(olds, sorted(random.sample(fresh, len(olds))), strict=True):
                # With as many parts: pick-up and pick_up are one name to some metrics.
                parts = [new, *random.choices(_pool(self.style), k=old.count("-"))]
                replaced[old] = "?" * old.startswith("?") + "-".join(parts)
                taken |= {new, f"?{new}"}
        if problem and (shuffled := _shuffled(problem, domain, random)):
            texts[column("reference_problem")] = shuffled
        described = dict.fromkeys([name for name in DESCRIPTIONS if name in row])
        renamed = {name: _renamed(text, replaced) for name, text in texts.items()}
        plain = {**row, **described, **renamed, "names_replaced": json.dumps(dict(sorted(replaced.items())))}
        text = renamed.get(column("domain")) or renamed.get(column("reference_domain"))
        if not (orders := _orders(text, random.random()) if text else {}):
            return [plain]
        moved = {name: _moved(each, orders) for name, each in renamed.items()}
        return [{**plain, **moved, "arguments_moved": json.dumps(orders)}, plain]

    def _same_scores(
        self, schema: pa.Schema, pairs: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]]
    ) -> list[bool]:
        """Whether all scores of each two are equal; true where there is nothing to score."""
        if not pairs or not any(name.startswith("generated_") for name in schema.names):
            return [True] * len(pairs)
        scored = [
            score_table(pa.Table.from_pylist(list(side), schema), self.options) for side in zip(*pairs, strict=True)
        ]
        compared = [name for name in scored[0].column_names if name in SCORE_COLUMNS and not _is_told(name)]
        one, other = (each.select(compared).to_pylist() for each in scored)
        return [first == second for first, second in zip(one, other, strict=True)]


@lru_cache(64)
def _orders(domain: str, seed: float) -> dict[str, list[int]]:
    """New orders for the arguments of predicates and operators with several; none where this made another domain."""
    read, random = parse_domain(domain), Random(seed)
    arities = {name: len(types) for name, types in read.predicates.items() if all(len(each) == 1 for each in types)}
    arities |= {each.name: len(each.parameters) for each in read.operators}
    names = sorted(name for name, arity in arities.items() if arity > 1 and name not in read.functions)
    orders = {name: random.sample(range(arities[name]), arities[name]) for name in names}
    moved = parse_domain(_moved(domain, orders))
    return orders if decide_domains(*map(DomainStructure, (read, moved))).equivalent else {}


def _moved(text: str, orders: Orders) -> str:
    """The text with the arguments of these names in other places: in atoms, calls, and declarations with their types.

    >>> _moved("(on ?x - block ?y) on(a, b) (:action put :parameters (?x ?y - t)", {"on": [1, 0], "put": [1, 0]})
    '(on ?y - object ?x - block) on(b, a) (:action put :parameters (?y - t ?x - t)'
    """

    def moved(found: re.Match[str]) -> str:
        opened, atom, call, listed = found.groups()
        name = atom or call
        order = orders.get(_plain(name))
        between = ", " if "," in listed else " "
        try:
            typed = [] if order is None else typed_list(listed.replace(",", " ").split(), "")
        except DomainError:
            typed = []
        plain = all(types == (ROOT_TYPE,) for _, types in typed)  # else a type behind it would be that of a name, too
        terms = [each if plain else f"{each} - {types[0]}" for each, types in typed]
        if order is None or len(terms) != len(order):
            return found[0]
        return f"{opened}{between.join(terms[place] for place in order)}"

    return LISTED.sub(moved, text)


@cache
def _pool(style: str) -> tuple[str, ...]:
    """The new words of a style."""
    if style == "words":
        found = ["".join(each) for each in product("bdfgklmnprstvz", "aeiou", "bdfgklmnprstvz", "aeiou")]
    else:
        stems = OTHER_WORDS if style == "other" else ascii_lowercase
        found = [f"{stem}{number or ''}" for number in range(100) for stem in stems]
    return tuple(word for word in found if word not in RESERVED)


def _is_told(name: str) -> bool:
    """True for scores in words, times and digests: they may tell one name, or its domain, from another."""
    told = ("certificate", "reference_certificate", "feedback", "score_micros", "score_error")
    return name.endswith("detail") or name in told


def _plain(word: str) -> str:
    return word.lower().replace("_", "-")


def _renamed(text: str, replaced: Mapping[str, str]) -> str:
    """The text with new words for old ones; a ``_`` stays where it stood."""

    def new(found: re.Match[str]) -> str:
        word = replaced.get(_plain(found[0]))
        if word is None:
            return found[0]
        separators = iter(re.findall("[-_]", found[0]))
        return re.sub("-", lambda _: next(separators), word)

    return WORD.sub(new, text)


def _has_times(texts: Iterable[str]) -> bool:
    return any(re.search(r":durative-action|:timed-initial|\(\s*at\s+[\d.]", text, re.IGNORECASE) for text in texts)


def _shuffled(text: str, domain: str | None, random: Random) -> str | None:
    """The problem with its objects and atoms in another order; None where it is not all sets of atoms."""
    known = planning_domain(domain) if domain else None
    problem = read_problem(text, known.domain.constants if known else ())
    if isinstance(problem, Problem) and problem.is_strips and not problem.denied and not problem.remarks:
        return write(problem, random)
    return None
