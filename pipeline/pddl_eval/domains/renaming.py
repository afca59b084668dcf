"""A known domain in other words: ``pick-up`` and ``handempty`` are Blocks World all the same.

Rules speak of a domain's structure, not of its words. Where a renaming makes a given domain's operators those of a
known one (``pddl_eval.structure``), the known domain's rules decide the given domain's problems: problems go in and
atoms come out translated.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from pddl_eval.budget import attempt
from pddl_eval.canonical import isomorphic
from pddl_eval.domains.reading import BrokenAssumption, CoveredState, Rules
from pddl_eval.model import Action, Domain, Problem, State
from pddl_eval.structure import Renaming, Structure, renaming_between
from pddl_eval.verdict import Unsolvable


def recognised(given: Domain, known: Structure) -> Renaming | None:
    """The renaming of a given domain into a known one, None where there is none; action costs are passed over.

    >>> from pddl_eval.domains import known_domain
    >>> blocks = known_domain("blocksworld").domain
    >>> recognised(blocks, Structure(blocks)).operators["stack"]
    ('stack', (0, 1))
    """
    if given.outside_strips or given.constants:
        return None
    plain = Structure(replace(given, operators=tuple(replace(each, formulas=()) for each in given.operators)))
    if plain.outline != known.outline:
        return None
    # Past the budget it is not known to be isomorphic either.
    same = attempt(lambda: isomorphic(plain.graph.labelled, known.graph.labelled))
    return renaming_between(plain.graph, known.graph) if same is True else None


def renamed_rules(rules: Rules, given: Domain, renaming: Renaming) -> Rules:
    """The known domain's rules for problems in the given domain's words."""
    back = renaming.inverse

    def read(problem: Problem, typed: bool) -> CoveredState | BrokenAssumption:
        known = rules(renaming.problem(problem, given), typed)
        if isinstance(known, BrokenAssumption):
            return BrokenAssumption(tuple(map(back.atom, known.atoms)))
        return _RenamedState(known, renaming, back)

    return read


@dataclass(frozen=True, slots=True)
class _RenamedState:
    """An initial state that a known domain's rules cover, asked in the given domain's words."""

    known: CoveredState
    to_known: Renaming
    to_given: Renaming

    def fully_specify(self, goal: State) -> State | Unsolvable:
        closure = self.known.fully_specify(self.to_known.atoms(goal))
        return self._proof(closure) if isinstance(closure, Unsolvable) else self.to_given.atoms(closure)

    def plan(self, goal: State) -> tuple[Action, ...] | Unsolvable:
        plan = self.known.plan(self.to_known.atoms(goal))
        return self._proof(plan) if isinstance(plan, Unsolvable) else tuple(map(self.to_given.action, plan))

    def _proof(self, known: Unsolvable) -> Unsolvable:
        return replace(known, atoms=tuple(map(self.to_given.atom, known.atoms)))
