"""Certificates: a short name for a planning problem, the same for equivalent problems and for no others.

With certificates, duplicates inside a dataset, leaks between splits and "does this answer match any reference?" are a
join. They are equal across machines and runs, given one version of igraph (whose BLISS chooses the canonical form).
"""

from __future__ import annotations

from hashlib import blake2b

from pddl_eval.domains import PlanningDomain
from pddl_eval.equivalence.analysis import Analysis
from pddl_eval.model import Problem
from pddl_eval.verdict import Undecided


def certificate_of(
    problem: Problem, planning_domain: PlanningDomain | None, is_placeholder: bool = False
) -> str | Undecided:
    """32 hexadecimal digits, equal exactly for problems that are equivalent in that mode; Undecided where cl(goal) is.

    All unsolvable problems over isomorphic initial states are one problem: none has a goal state.

    >>> from pddl_eval.domains import known_domain
    >>> def held(name):
    ...     return Problem("p", "blocksworld", {name: "object"}, frozenset({("holding", name)}), frozenset())
    >>> domain = known_domain("blocksworld")
    >>> certificate_of(held("a"), domain) == certificate_of(held("z"), domain)
    True
    """
    return certify(Analysis(problem, planning_domain), is_placeholder)


def certify(analysis: Analysis, is_placeholder: bool = False) -> str | Undecided:
    """``certificate_of`` for a problem that is already analysed."""
    if isinstance(analysis.closure, Undecided):
        return analysis.closure
    name = analysis.planning_domain.name if analysis.planning_domain else analysis.problem.domain
    if is_placeholder:
        form: object = (name, analysis.initial_scene.form, analysis.closed_goal_scene.form)
    else:
        form = (name, analysis.closed_graph.form)
    return blake2b(repr(form).encode(), digest_size=16).hexdigest()
