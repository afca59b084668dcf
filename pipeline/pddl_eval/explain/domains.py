"""Why a domain has its scores: the operators of both sides beside each other, and the literals that one lacks.

``explain_domains`` collects what the metrics and ``equivalence`` say, ``domains_page`` puts it into words. Which
operators are partners is decided there: by name first, else by what they have in common.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pddl_eval.budget import attempt
from pddl_eval.equivalence import DomainDecision, Partners, partners
from pddl_eval.errors import UserError
from pddl_eval.explain.plans import scores_table
from pddl_eval.metrics import DOMAIN, DomainPair, Row
from pddl_eval.model import Domain, Formula, Operator, State, Types, show_atom
from pddl_eval.options import ScoringOptions
from pddl_eval.pages import Cell, Excerpt, Page, Section, Table, table
from pddl_eval.shown import line, listed
from pddl_eval.structure import PARTS
from pddl_eval.verdict import Undecided

DIFFERENT, ABSENT = "≠", "–"

MOST_OPERATORS, ALL_OPERATORS = 12, 200
"""Operators that are shown side by side; on a page with the texts."""

MOST_LITERALS = 100
"""Literals of an operator that are shown."""

MOST_NAMES = 30
"""Names in a sentence."""


@dataclass(frozen=True, slots=True)
class DomainExplanation:
    """Why a generated domain has its scores.

    ``scores`` are the score columns by name. ``partners`` are the operators of both sides, those that differ first;
    their literals are in the reference's words.
    """

    scores: Mapping[str, Any]
    decision: DomainDecision
    detail: str
    texts: tuple[str | None, str | None]
    reference: Domain
    generated: Domain | None
    partners: tuple[Partners, ...]

    def page(self, *, whole: bool = False) -> Page:
        """The explanation in words; ``whole``: all operators, all scores' meanings and both texts."""
        return domains_page(self, whole=whole)


def explain_domains(row: Row, options: ScoringOptions) -> DomainExplanation:
    """Why the generated domain of a row has its scores.

    ``row`` maps meanings (``options.MEANINGS``) to values. Raises ``UserError`` where the reference domain cannot
    be read.

    >>> go = "(define (domain d) (:action go :parameters (?a ?b) :precondition (at ?a) :effect (at ?b)))"
    >>> walk = go.replace("go", "walk").replace(":effect (at", ":effect (in")
    >>> row = {"reference_domain": go, "generated_domain": walk}
    >>> (pair,) = explain_domains(row, ScoringOptions()).partners
    >>> pair.generated.name, pair.lacks, pair.has
    ('walk', (('added', ('at', '?b')),), (('added', ('in', '?b')),))
    """
    pair = DOMAIN.read(row, options)
    if not isinstance(pair, DomainPair):
        raise UserError(pair["domain_detail"])
    scores = dict(zip((column.name for column in DOMAIN.columns), DOMAIN.score(pair), strict=True))
    found: Sequence[Partners] | Undecided = [Partners(operator, None) for operator in pair.reference.operators]
    generated = pair.generated
    if generated is not None:
        found = attempt(lambda: partners(pair.reference, generated, pair.decision.renaming))
    shown = [] if isinstance(found, Undecided) else sorted(found, key=lambda each: not _differs(each))
    texts = (row["reference_domain"], row["generated_domain"])
    return DomainExplanation(scores, pair.decision, pair.detail, texts, pair.reference, generated, tuple(shown))


def _differs(pair: Partners) -> bool:
    """True for operators that differ in literals, in types, or in formulas as written."""
    theirs, ours = pair.reference, pair.generated
    if theirs is None or ours is None or pair.distance > 0 or _types_of(theirs) != _types_of(ours):
        return True
    return {*map(_formula, theirs.formulas)} != {*map(_formula, ours.formulas)}


def domains_page(explanation: DomainExplanation, *, whole: bool = False) -> Page:
    """The explanation in words: scores, names, operators side by side."""
    most = ALL_OPERATORS if whole else MOST_OPERATORS
    decision = explanation.decision
    meaning = {True: "equivalent", False: "not equivalent", None: "not decided"}[decision.equivalent]
    differ = [pair for pair in explanation.partners if not decision.equivalent and _differs(pair)]
    same = [pair for pair in explanation.partners if pair not in differ]
    sections = [Section("", tables=[scores_table(DOMAIN, explanation.scores, whole=whole)])]
    if names := _names(explanation):
        sections.append(Section("", tables=[names]))
    if explanation.generated is not None:
        shown = (differ + same if whole else differ)[:most]
        said = [f"Operators that are the same: {_listed(same)}."] if same and not whole else []
        said += ["The operators were not compared: a limit was hit."] if not explanation.partners else []
        said += [f"{len(differ) - most:,} more operators differ."] if len(differ) > most else []
        sections.append(
            Section(
                "Operators side by side", said, [_operator(pair, as_written=not decision.equivalent) for pair in shown]
            )
        )
    if whole:
        texts = zip(("The reference", "The answer"), explanation.texts, strict=True)
        sections.append(
            Section("The domains as written", excerpts=[Excerpt(name, text) for name, text in texts if text])
        )
    title = f"{decision.verdict}: {meaning}"
    return Page(title, (), [explanation.detail or decision.verdict.meaning], sections, decision.equivalent)


def _listed(pairs: Sequence[Partners]) -> str:
    return listed([pair.reference.name for pair in pairs if pair.reference], MOST_NAMES)


def _names(explanation: DomainExplanation) -> Table | None:
    """What is called otherwise: by the renaming behind a yes, else operators and their partners."""
    renaming = explanation.decision.renaming
    if renaming is not None:
        kinds = {
            "operator": {old: new for old, (new, _) in renaming.operators.items()},
            "predicate": {old: new for old, (new, _) in renaming.predicates.items()},
            "type": renaming.types,
            "constant": renaming.constants,
        }
        order = {
            ("operator" if names is renaming.operators else "predicate", old): places
            for names in (renaming.operators, renaming.predicates)
            for old, (_, places) in names.items()
            if places != tuple(range(len(places)))
        }
    else:
        pairs = [(each.generated, each.reference) for each in explanation.partners]
        kinds = {"operator": {ours.name: theirs.name for ours, theirs in pairs if ours and theirs}}
        order = {}
    rows = [
        (kind, line(new), line(old), _order(order.get((kind, old))))
        for kind, names in kinds.items()
        for old, new in names.items()
        if old != new or (kind, old) in order
    ]
    return table("Other words", ("", "reference", "answer", ""), rows, texts=3) if rows else None


def _order(places: tuple[int, ...] | None) -> str:
    return f"arguments in the order {' '.join(str(place + 1) for place in places)}" if places else ""


def _operator(pair: Partners, *, as_written: bool) -> Table:
    """Two partners, or an operator without one: parameters, then each literal of one of them.

    ``as_written``: other types, and other formulas beyond STRIPS, are marked as different.
    """
    theirs, ours = pair.reference, pair.generated
    rows: list[Sequence[Cell]] = []

    def add(what: str, texts: Sequence[str], differs: bool) -> None:
        rows.append([Cell(line(text), differs=differs) for text in (DIFFERENT if differs else "", what, *texts)])

    sides = (theirs, ours)
    other_types = as_written and _types_of(theirs) != _types_of(ours)
    add("parameters", [_parameters(side) if side else ABSENT for side in sides], other_types)
    operator = theirs or ours
    assert operator is not None
    for part, atoms in zip(PARTS, operator.parts, strict=True):
        for atom in sorted(atoms):
            here = theirs is not None, ours is not None and (part, atom) not in pair.lacks
            add(part, [show_atom(atom) if present else ABSENT for present in here], not all(here))
        for atom in (atom for each, atom in pair.has if each == part):
            add(part, [ABSENT, show_atom(atom)], differs=True)
    formulas = [dict.fromkeys(map(_formula, side.formulas)) if side else {} for side in sides]
    for text in [*formulas[0], *(each for each in formulas[1] if each not in formulas[0])]:
        present = [text in side for side in formulas]
        shown = [text if there else ABSENT for there in present]
        add("beyond STRIPS", shown, as_written and not all(present))
    names = [line(operator.name) if operator else ABSENT for operator in (theirs, ours)]
    caption = names[0] if names[0] == names[1] else " | ".join(names)
    differ = sum(bool(row[0].text) for row in rows)
    notes = [f"{differ:,} different"] if differ else ["the same"]
    notes += [f"the first {MOST_LITERALS} of {len(rows):,}"] if len(rows) > MOST_LITERALS else []
    return Table(f"{caption} ({'; '.join(notes)})", ("", "", "reference", "answer"), rows[:MOST_LITERALS], 0, 4)


def _types_of(operator: Operator[State] | None) -> list[Types] | None:
    """The types of the parameters in alphabetical order; None where there is no operator."""
    return None if operator is None else sorted(types for _, types in operator.parameters)


def _parameters(operator: Operator[State]) -> str:
    return " ".join(f"{name}{_type(types)}" for name, types in operator.parameters) or "none"


def _type(types: Types) -> str:
    return "" if types == ("object",) else f" - {'|'.join(types)}"


def _formula(formula: tuple[str, Formula]) -> str:
    part, expression = formula
    return f"{part}: {_written(expression)}"


def _written(expression: Formula) -> str:
    return expression if isinstance(expression, str) else f"({' '.join(map(_written, expression))})"
