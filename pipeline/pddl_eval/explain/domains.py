"""Why a domain has its scores: the operators of both sides beside each other, and the literals that one lacks.

``explain_domains`` collects what the metrics and ``domain_equivalence`` say, ``page`` puts it into words. Which
operators are partners is decided there: by name first, else by what they have in common.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from pddl_eval.columns import SCORED
from pddl_eval.definition.budget import or_undecided
from pddl_eval.definition.domain_difference import Partners, partners
from pddl_eval.definition.domain_equivalence import DomainDecision
from pddl_eval.definition.metrics import DOMAIN, DomainPair, Row, given
from pddl_eval.definition.model import (
    ROOT_TYPE,
    Domain,
    Formula,
    Operator,
    Types,
    problem_to_pddl,
    show_atom,
    show_formula,
)
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.definition.pddl import DomainError, parse_domain
from pddl_eval.definition.structure import parts_of
from pddl_eval.definition.verdict import Undecided
from pddl_eval.errors import UserError
from pddl_eval.explain.tables import ABSENT, DIFFERENT, as_written, cells, line_by_line, noted, scores_table
from pddl_eval.explain.telling import TellingPlan, telling_plan
from pddl_eval.kernel import one_row
from pddl_eval.pages import PDDL, Cell, Excerpt, Page, Section, Table, table, words
from pddl_eval.shown import line, listed

MOST_OPERATORS, ALL_OPERATORS = 12, 200
"""Operators that are shown side by side; on a page with the texts."""

MOST_LITERALS = 100
"""Literals of an operator that are shown."""

MOST_NAMES = 30
"""Names in a sentence."""


@dataclass(frozen=True, slots=True)
class DomainExplanation:
    """Why a generated domain has its scores; without a reference, what was read of it.

    ``scores`` are the score columns by name. ``partners`` are the operators of both sides, those that differ first;
    their literals are in the reference's words. ``decision`` is None where there is no reference.
    """

    scores: Mapping[str, Any]
    detail: str
    texts: tuple[str | None, str | None]
    generated: Domain | None
    decision: DomainDecision | None = None
    partners: tuple[Partners, ...] = ()
    telling: TellingPlan | None = None

    def page(self, *, whole: bool = False) -> Page:
        """The self in words: scores, names, operators side by side."""
        most = ALL_OPERATORS if whole else MOST_OPERATORS
        verdict = self.scores["domain_verdict"]
        if self.decision is None:
            sections = [Section("", *_operators(self, most))] if self.generated is not None else []
            title = f"{words(verdict)}: nothing to compare" if verdict else "not compared: there is no reference"
            facts, good, badges = [self.detail] * bool(self.detail), False if self.detail else None, []
        else:
            good = self.decision.equivalent
            title = f"{words(verdict)}: { {True: 'equivalent', False: 'not equivalent', None: 'not decided'}[good] }"
            facts, badges = [self.detail or self.decision.verdict.meaning], [Cell(title, kind=verdict)]
            sections = [Section("", tables=[scores_table(DOMAIN, self.scores, whole=whole)])]
            names = _names(self.decision, self.partners)
            sections += [Section("", tables=[names])] if names else []
            sections += [_side_by_side(self, most)] if self.generated is not None else []
            sections += [_telling(self.telling)] if self.telling is not None else []
        if whole:
            sections += [line_by_line(*self.texts)] if self.decision else []
            sections.append(as_written("The domains as written", ("The reference", "The answer"), self.texts))
        return Page(title, (), facts, sections, good, badges=badges)


def explain_domains(row: Row, options: ScoringOptions) -> DomainExplanation:
    """Why the generated domain of a row has its scores.

    ``row`` maps meanings (``options.MEANINGS``) to values; without a reference domain, what was read is shown. Raises
    ``UserError`` where the reference domain cannot be read.

    >>> go = "(define (domain d) (:action go :parameters (?a ?b) :precondition (at ?a) :effect (at ?b)))"
    >>> walk = go.replace("go", "walk").replace(":effect (at", ":effect (in")
    >>> row = {"reference_domain": go, "generated_domain": walk}
    >>> (pair,) = explain_domains(row, ScoringOptions()).partners
    >>> pair.generated.name, pair.lacks, pair.has
    ('walk', (('added', ('at', '?b')),), (('added', ('in', '?b')),))
    """
    pair = DOMAIN.read(row, options)
    if not isinstance(pair, DomainPair) and given(row.get("reference_domain")):
        raise UserError(pair["domain_detail"])
    plain = replace(options, columns=None, feedback=False)
    known = one_row("domain", {name: row[name] for name in SCORED if row.get(name) is not None}, plain)
    scores = known or (DOMAIN.scores(pair) if isinstance(pair, DomainPair) else pair)
    scores = {column.name: scores.get(column.name) for column in DOMAIN.columns}
    texts = (row.get("reference_domain"), row["generated_domain"])
    if not isinstance(pair, DomainPair):
        alone: Domain | None = None
        with suppress(DomainError):
            alone = parse_domain(texts[1] or "", options.answer)
        return DomainExplanation(scores, scores["domain_detail"] or "", texts, alone)
    found: Sequence[Partners] | Undecided = [Partners(operator, None) for operator in pair.reference.operators]
    if pair.generated is not None:
        # What is said twice is shown once.
        sides = [each.domain for each in pair.decision.structures or ()] or [pair.reference, pair.generated]
        found = or_undecided(lambda: partners(sides[0], sides[1], pair.decision.renaming))
    shown = [] if isinstance(found, Undecided) else sorted(found, key=lambda each: not _differs(each))
    told = telling_plan(pair.reference, pair.generated) if pair.generated and not pair.decision.equivalent else None
    detail = scores["domain_detail"] or ""
    return DomainExplanation(scores, detail, texts, pair.generated, pair.decision, tuple(shown), told)


def _telling(found: TellingPlan) -> Section:
    works, fails = ("reference", "answer") if found.works_in_reference else ("answer", "reference")
    problem = found.problem
    goal = [*map(show_atom, sorted(problem.goal)), *(show_formula(each) for _, each in problem.formulas)]
    start = listed(list(map(show_atom, sorted(problem.init))), MOST_LITERALS) or "nothing is true"
    task = f"Initial state: {line(start)}. Goal: {line(listed(goal, MOST_LITERALS)) or 'none'}."
    said = [f"{found.step} works in the {works}. In the {fails}: {line(found.why)}.", task]
    written = Excerpt("The problem", problem_to_pddl(problem), PDDL)
    return Section(f"A plan that works only in the {works}", said, excerpts=[written])


def _operators(explanation: DomainExplanation, most: int) -> tuple[list[str], list[Table]]:
    """The certificate and the operators of the answer alone."""
    assert explanation.generated is not None
    operators = explanation.generated.operators
    rows = [(line(operator.name), line(_parameters(operator))) for operator in operators[:most]]
    caption = noted("Operators", f"the first {most} of {len(operators):,}" * (most < len(operators)))
    certificate = f"certificate: {explanation.scores['domain_certificate'] or 'none'}"
    return [certificate], [table(caption, ("", "parameters"), rows, texts=1)]


def _side_by_side(explanation: DomainExplanation, most: int) -> Section:
    """The operators of both sides, those that are the same by their names."""
    equivalent = explanation.decision is not None and bool(explanation.decision.equivalent)
    differ = [pair for pair in explanation.partners if not equivalent and _differs(pair)]
    same = [pair.reference.name for pair in explanation.partners if pair not in differ and pair.reference]
    sentences = [f"Operators that are the same: {listed(same, MOST_NAMES)}."] if same else []
    sentences += [] if explanation.partners else ["The operators were not compared: a limit was hit."]
    sentences += [f"{len(differ) - most:,} more operators differ."] if len(differ) > most else []
    tables = [_operator(pair, as_written=not equivalent) for pair in differ[:most]]
    return Section("Operators side by side", sentences, tables)


def _differs(pair: Partners) -> bool:
    """True for operators that differ in literals, in types, or in formulas as written."""
    theirs, ours = pair.reference, pair.generated
    if theirs is None or ours is None or pair.distance > 0 or _types_of(theirs) != _types_of(ours):
        return True
    return sorted(map(_formula, theirs.formulas)) != sorted(map(_formula, ours.formulas))


def _names(decision: DomainDecision, found: Sequence[Partners]) -> Table | None:
    """What is called otherwise: by the renaming behind a yes, else operators and their partners."""
    renaming = decision.renaming
    if renaming is not None:
        named = [("operator", old, *new) for old, new in renaming.operators.items()]
        named += [("predicate", old, *new) for (old, _), new in renaming.predicates.items()]
        named += [("function", old, *new) for (old, _), new in renaming.functions.items()]
        for kind, names in (("type", renaming.types), ("constant", renaming.constants)):
            named += [(kind, old, new, ()) for old, new in names.items()]
    else:
        pairs = [(each.generated, each.reference) for each in found]
        named = [("operator", ours.name, theirs.name, ()) for ours, theirs in pairs if ours and theirs]
    rows = [
        (kind, line(new), line(old), _order(places)) for kind, old, new, places in named if old != new or _order(places)
    ]
    return table("Other words", ("", "reference", "answer", ""), rows, texts=3) if rows else None


def _order(places: tuple[int, ...]) -> str:
    """The order of arguments, empty where they keep theirs."""
    moved = places != tuple(range(len(places)))
    return f"arguments in the order {' '.join(str(place + 1) for place in places)}" if moved else ""


def _operator(pair: Partners, *, as_written: bool) -> Table:
    """Two partners, or an operator without one: parameters, then each literal of one of them.

    ``as_written``: other types, and other formulas beyond STRIPS, are marked as different.
    """
    theirs, ours = pair.reference, pair.generated
    rows: list[Sequence[Cell]] = []

    def add(what: str, texts: Sequence[str], differs: bool) -> None:
        rows.append(cells([DIFFERENT * differs, what, *map(line, texts)], differs))

    sides = (theirs, ours)
    other_types = as_written and _types_of(theirs) != _types_of(ours)
    add("parameters", [_parameters(side) if side else ABSENT for side in sides], other_types)
    operator = theirs or ours
    assert operator is not None
    parts = parts_of(operator)[0]
    for part in dict.fromkeys((*parts, *(part for part, _ in pair.has))):
        for atom in sorted(parts.get(part, ())):
            here = theirs is not None, ours is not None and (part, atom) not in pair.lacks
            add(part, [show_atom(atom) if present else ABSENT for present in here], not all(here))
        for atom in (atom for each, atom in pair.has if each == part):
            add(part, [ABSENT, show_atom(atom)], differs=True)
    formulas = [Counter(map(_formula, parts_of(side)[1] if side else ())) for side in sides]
    for text in formulas[0] | formulas[1]:
        often = [side[text] for side in formulas]
        shown = [f"{text} ×{count}" if count > 1 else text if count else ABSENT for count in often]
        add("beyond STRIPS", shown, as_written and often[0] != often[1])
    names = [line(operator.name) if operator else ABSENT for operator in (theirs, ours)]
    caption = names[0] if names[0] == names[1] else " | ".join(names)
    differ = sum(bool(row[0].text) for row in rows)
    cut = f"the first {MOST_LITERALS} of {len(rows):,}" * (len(rows) > MOST_LITERALS)
    caption = noted(caption, f"{differ:,} different" if differ else "the same", cut)
    return Table(caption, ("", "", "reference", "answer"), rows[:MOST_LITERALS], 0, 4)


def _types_of(operator: Operator | None) -> list[Types] | None:
    """The types of the parameters in alphabetical order; None where there is no operator."""
    return None if operator is None else sorted(types for _, types in operator.parameters)


def _parameters(operator: Operator) -> str:
    typed = (f"{name} - {'|'.join(types)}" * (types != (ROOT_TYPE,)) or name for name, types in operator.parameters)
    return " ".join(typed) or "none"


def _formula(formula: tuple[str, Formula]) -> str:
    part, expression = formula
    return f"{part}: {show_formula(expression)}"
