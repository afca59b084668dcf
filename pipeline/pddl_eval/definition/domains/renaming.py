"""A known domain in other words: ``pick-up`` and ``handempty`` are Blocks World all the same.

Rules speak of a domain's structure, not of its words. Where a renaming makes a given domain's operators those of a
known one (``definition.structure``), the known domain's rules decide the given domain's problems: problems go in and
atoms come out translated.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from pddl_eval.definition.budget import or_undecided
from pddl_eval.definition.canonical import isomorphic
from pddl_eval.definition.domains.reading import CoveredGoal, CoveredState, NotCovered, Rules
from pddl_eval.definition.model import Action, Domain, Problem, State
from pddl_eval.definition.structure import DomainStructure, Renaming, renaming_between
from pddl_eval.definition.verdict import Unsolvable


def recognised(given: Domain, known: DomainStructure) -> Renaming | None:
    """The renaming of a given domain into a known one, None if they differ; action costs are ignored.

    >>> from pddl_eval.definition.domains import known_domain
    >>> blocks = known_domain("blocksworld").domain
    >>> recognised(blocks, DomainStructure(blocks)).operators["stack"]
    ('stack', (0, 1))
    """
    if given.outside_strips or given.constants:
        return None
    plain = DomainStructure(replace(given, operators=tuple(replace(each, formulas=()) for each in given.operators)))
    if len(plain.domain.operators) != len(known.domain.operators):
        return None
    # Past the budget it is not known to be isomorphic either.
    same = or_undecided(lambda: isomorphic(plain.graph.labelled, known.graph.labelled))
    return renaming_between(plain.graph, known.graph) if same is True else None


def renamed_rules(rules: Rules, given: Domain, renaming: Renaming) -> Rules:
    """The known domain's rules for problems in the given domain's words."""
    back = renaming.inverse

    def read(problem: Problem, typed: bool) -> CoveredState | NotCovered:
        known = rules(renaming.problem(problem, given), typed)
        if isinstance(known, NotCovered):
            return NotCovered(tuple(map(back.atom, known.atoms)))
        return _RenamedState(known, renaming, back)

    return read


@dataclass(frozen=True, slots=True)
class _RenamedState:
    """An initial state that a known domain's rules cover, asked in the given domain's words."""

    known: CoveredState
    to_known: Renaming
    to_given: Renaming

    def goal(self, goal: State) -> CoveredGoal | Unsolvable:
        known = self.known.goal(self.to_known.atoms(goal))
        if isinstance(known, Unsolvable):
            return replace(known, atoms=tuple(map(self.to_given.atom, known.atoms)))
        return _RenamedGoal(known, self.to_given)


@dataclass(frozen=True, slots=True)
class _RenamedGoal:
    """A goal that a known domain's rules cover, answered in the given domain's words."""

    known: CoveredGoal
    to_given: Renaming

    @property
    def closure(self) -> State:
        return self.to_given.atoms(self.known.closure)

    @property
    def plan(self) -> tuple[Action, ...]:
        return tuple(map(self.to_given.action, self.known.plan))
