"""The values behind an explanation: what each side says, what was added, what decided, which plan was found.

Built of ``score_problem_pair`` and of what the rooms below it know of one problem; nothing is decided here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pddl_eval.domains import PlanningDomain
from pddl_eval.equivalence.analysis import Analysis
from pddl_eval.equivalence.certificate import certify
from pddl_eval.explain.reading import Piece, pieces_of
from pddl_eval.explain.side_by_side import (
    NOTHING,
    AtomLine,
    ObjectLine,
    atom_lines,
    matching_objects,
    object_lines,
)
from pddl_eval.model import Action, Atom, Problem, State
from pddl_eval.parsing import Unreadable, read_problem
from pddl_eval.scoring.problem_pair import ProblemVerdict, reference_of, score_problem_pair
from pddl_eval.solve import solve
from pddl_eval.verdict import Undecided, Unsolvable, Verdict

DECIDED_BY = {
    Verdict.IDENTICAL: "an easy case: the same atoms under the same names, so no goal had to be specified",
    Verdict.ISOMORPHIC: "an easy case: the problem graphs as written are isomorphic, so no goal had to be specified",
    Verdict.EQUIVALENT: "no easy case: both goals were fully specified, and then the graphs are isomorphic",
    Verdict.OBJECT_COUNT: "an easy case: the problems have different numbers of objects",
    Verdict.TYPES_DIFFER: "an easy case: the problems have different numbers of objects of some type",
    Verdict.INIT_DIFFERS: "an easy case: the initial scenes are not isomorphic",
    Verdict.GOAL_DIFFERS: "no easy case: even fully specified, the goals do not correspond",
    Verdict.UNSOLVABLE: "no easy case: fully specifying the answer's goal showed that no reachable state contains it",
    Verdict.UNDECIDED: "a limit: a goal could not be fully specified, so nothing is claimed",
    Verdict.DOMAIN_MISMATCH: "an easy case: the answer names another domain",
    Verdict.EMPTY: "reading: there is no answer",
    Verdict.UNPARSEABLE: "reading: the answer holds no problem that can be read",
    Verdict.NOT_STRIPS: "reading: the answer's problem is not STRIPS",
    Verdict.INVALID_ATOM: "reading: an atom of the answer names an object that is not declared",
    Verdict.REFERENCE_INVALID: "a mistake in the data: no answer can be scored against this reference",
}
"""What each verdict means for how far the comparison went."""


@dataclass(frozen=True, slots=True)
class Side:
    """The reference or the answer.

    ``problem`` is None where nothing could be read, and ``unreadable`` says why. ``added`` are the atoms that
    fullySpecify added to the goal, those that operators can change first; None with ``not_closed`` where it could not.
    ``plan`` is the executed plan, or None with ``no_plan``.
    """

    pieces: tuple[Piece, ...]
    problem: Problem | None
    unreadable: str | None
    added: tuple[Atom, ...] | None
    not_closed: str | None
    plan: tuple[Action, ...] | None
    no_plan: str | None
    certificate: str | None


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a generated problem has its verdict; in a notebook it shows itself.

    ``other_verdict`` is the verdict in the other mode (placeholder or not), None where it is the same or there is none.
    ``objects``, ``init`` and ``goal`` hold both sides line by line under ``object_map`` (generated → reference), the
    map behind a yes or the one that the words of a no follow; ``goal_map`` is the goals' own. ``static`` are the
    predicates that no operator of the domain changes; ``goal_objects`` are the objects under ``goal_map``.
    """

    verdict: ProblemVerdict
    decided_by: str
    is_placeholder: bool
    other_verdict: Verdict | None
    domain: str | None
    static: frozenset[str]
    reference: Side
    generated: Side
    object_map: dict[str, str]
    goal_map: dict[str, str]
    objects: tuple[ObjectLine, ...]
    goal_objects: tuple[ObjectLine, ...]
    init: tuple[AtomLine, ...]
    goal: tuple[AtomLine, ...]

    @property
    def compares(self) -> bool:
        """True where both sides could be read, so that there is something to compare."""
        return self.reference.problem is not None and self.generated.problem is not None

    def _repr_html_(self) -> str:
        from pddl_eval.explain.html import html_fragment

        return html_fragment(self)

    def __str__(self) -> str:
        from pddl_eval.explain.text import plain_text

        return plain_text(self)


def explain(
    reference_text: str | None,
    generated_text: str | None,
    *,
    is_placeholder: bool = False,
    domain: str | None = None,
) -> Explanation:
    """Why the generated problem (a raw model answer) has its verdict against the reference.

    Parameters as ``pddl_eval.compare_problems``. Raises ``DomainError`` where ``domain`` is a
    text but no PDDL domain.

    >>> held = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"
    >>> explanation = explain(held, "Sure: " + held.replace("clear", "on-table"))
    >>> explanation.verdict.verdict.value, explanation.generated.added
    ('equivalent', (('arm-empty',), ('clear', 'a')))
    """
    verdict = score_problem_pair(reference_text, generated_text, is_placeholder, domain)
    other = score_problem_pair(reference_text, generated_text, not is_placeholder, domain, check_solvable=False)
    reference = reference_of(reference_text, domain)
    planning_domain = reference.planning_domain
    constants = {name: name for name in planning_domain.domain.constants} if planning_domain else {}
    unread = read_problem(generated_text, constants)
    ours = None if isinstance(unread, Unreadable) else Analysis(unread, planning_domain)
    theirs = None if isinstance(reference.problem, Unreadable) else reference.analysis

    object_map = verdict.object_map or (matching_objects(theirs, ours) if theirs and ours else {})
    goal_map = verdict.goal_object_map or object_map
    their_init, their_goal, their_closure = _atoms(theirs)
    our_init, our_goal, our_closure = _atoms(ours)
    if their_closure is None or our_closure is None:
        their_closure = our_closure = NOTHING
    return Explanation(
        verdict=verdict,
        decided_by=DECIDED_BY[verdict.verdict],
        is_placeholder=is_placeholder,
        other_verdict=other.verdict if other.verdict != verdict.verdict else None,
        domain=planning_domain.name if planning_domain else None,
        static=_static_predicates(planning_domain, their_init | our_init),
        reference=_side(reference_text, theirs, reference.problem, constants, reference.plan if theirs else None),
        generated=_side(generated_text, ours, unread, constants, _plan(ours, verdict)),
        object_map=object_map,
        goal_map=goal_map,
        objects=object_lines(_objects(theirs), _objects(ours), object_map),
        goal_objects=object_lines(_objects(theirs), _objects(ours), goal_map),
        init=atom_lines(their_init, our_init, constants | object_map),
        goal=atom_lines(their_goal, our_goal, constants | goal_map, their_closure, our_closure),
    )


def _objects(analysis: Analysis | None) -> Mapping[str, str]:
    return analysis.problem.objects if analysis else {}


def _atoms(analysis: Analysis | None) -> tuple[State, State, State | None]:
    """Initial state, goal and, where it is known, the closed goal."""
    if analysis is None:
        return NOTHING, NOTHING, None
    closure = analysis.closure
    return analysis.problem.init, analysis.problem.goal, closure if isinstance(closure, frozenset) else None


def _side(
    text: str | None,
    analysis: Analysis | None,
    read: Problem | Unreadable,
    constants: Iterable[str],
    plan: tuple[Action, ...] | Unsolvable | Undecided | None,
) -> Side:
    pieces = pieces_of(text, constants)
    if analysis is None or isinstance(read, Unreadable):
        reason = read.detail if isinstance(read, Unreadable) else None
        return Side(pieces, None, reason, None, reason, None, "there is no problem to solve", None)
    closure, certificate = analysis.closure, certify(analysis)
    found = plan if isinstance(plan, tuple) else None
    return Side(
        pieces=pieces,
        problem=read,
        unreadable=None,
        added=_added(closure - read.goal, analysis.planning_domain) if isinstance(closure, frozenset) else None,
        not_closed=None if isinstance(closure, frozenset) else closure.reason,
        plan=found,
        no_plan=plan.reason if isinstance(plan, Unsolvable | Undecided) else None,
        certificate=certificate if isinstance(certificate, str) else None,
    )


def _plan(generated: Analysis | None, verdict: ProblemVerdict) -> tuple[Action, ...] | Unsolvable | Undecided | None:
    """The plan behind ``solvable``, or once more why there is none: a verdict keeps no reason."""
    if generated is None or verdict.plan is not None:
        return verdict.plan
    if verdict.verdict == Verdict.DOMAIN_MISMATCH:
        return Unsolvable("the problem belongs to another domain")
    if isinstance(generated.closure, Unsolvable):
        return generated.closure
    return solve(generated.problem, generated.planning_domain)


def _added(atoms: State, planning_domain: PlanningDomain | None) -> tuple[Atom, ...]:
    static = _static_predicates(planning_domain, atoms)
    return tuple(sorted(atoms, key=lambda atom: (atom[0] in static, atom)))


def _static_predicates(planning_domain: PlanningDomain | None, atoms: State) -> frozenset[str]:
    if planning_domain is None:
        return frozenset()
    operators = planning_domain.domain.operators
    changed = {atom[0] for operator in operators for atom in operator.add_effects | operator.delete_effects}
    return frozenset(atom[0] for atom in atoms) - changed
