"""Why an answer has its verdict: both sides, what was added to their goals, what decided, which plans were found.

Composed of ``score_problem_pair`` and of what is known of each problem; nothing is decided here.
"""

from __future__ import annotations

from dataclasses import dataclass

from rich.console import Group

from pddl_eval.domains import PlanningDomain, planning_domain
from pddl_eval.equivalence import Task, closest_matching, read_task
from pddl_eval.explain import words
from pddl_eval.explain.reading import Piece, PieceKind, pieces_of
from pddl_eval.explain.sides import AtomLine, ObjectLine, Side, atom_lines, object_lines
from pddl_eval.explain.words import Section
from pddl_eval.metrics import score_problem_pair
from pddl_eval.model import Action, Atom, Problem, State
from pddl_eval.parsing import Unreadable, read_problem
from pddl_eval.shown import line as one_line
from pddl_eval.verdict import ProblemVerdict, Undecided, Unsolvable, Verdict

NO_PROBLEM = Problem("", "", {}, frozenset(), frozenset())


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a generated problem has its verdict; ``print`` shows it, ``html_page`` and ``scenes_svg`` draw it.

    ``other_verdict`` is the verdict in the other mode (placeholder or not), None where it is the same. ``objects``,
    ``init`` and ``goal`` hold both sides line by line under ``object_map`` (generated → reference): the map behind a
    yes, or the one that the words of a no follow. ``goal_map`` is the goals' own, ``goal_objects`` the objects under
    it. ``static`` are the predicates that no operator of the domain changes.
    """

    verdict: ProblemVerdict
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
    def sides(self) -> dict[str, Side]:
        """Both sides by name."""
        return {"reference": self.reference, "answer": self.generated}

    @property
    def compares(self) -> bool:
        """True where both sides could be read, so that there is something to compare."""
        return all(isinstance(side.problem, Problem) for side in self.sides.values())

    @property
    def facts(self) -> list[tuple[str, str]]:
        """Label and value of what there is to say besides the problems themselves."""
        mode, other = "objects keep their identity from initial state to goal", "placeholder"
        if self.is_placeholder:
            mode, other = "placeholder: initial state and goal are compared separately", "identity"
        if self.other_verdict is not None:
            mode += f" (in {other} mode the verdict is {self.other_verdict})"
        return [*words.scores(self.verdict), ("mode", mode), ("domain", one_line(self.domain or "unknown"))]

    @property
    def tables(self) -> list[Section]:
        """Objects, initial states and goals side by side; what both sides have alike is only counted."""

        def is_static(line: ObjectLine | AtomLine) -> bool:
            return isinstance(line, AtomLine) and line.predicate in self.static and not line.differs

        if not any(isinstance(side.problem, Problem) for side in self.sides.values()):
            return []
        certain = "" if self.verdict.object_map else "probable "
        title = f"Objects, and their {certain}counterparts" if self.compares else "Objects"
        same = [line.reference for line in self.objects if line.reference and line.same]
        remark = f"{len(same):,} with the same name and type on both sides: {words.listed(same)}" if same else ""
        tables = [words.table(title, [line for line in self.objects if not line.same], self.compares, remark)]
        if self.goal_map != self.object_map:
            tables.append(words.table("Objects of the goal, in placeholder mode", self.goal_objects, self.compares))
        tables.append(words.table("Initial state", sorted(self.init, key=is_static), self.compares))
        goal = [line for line in self.goal if not (is_static(line) and line.implied)]
        rest = len(self.goal) - len(goal)
        remark = f"{rest:,} static atoms hold in every state and are implied on both sides" if rest else ""
        closed = all(isinstance(side.added, tuple) for side in self.sides.values())
        title = "Goal, fully specified" if closed else "Goal, as written"
        return [*tables, words.table(title, goal, self.compares, remark)]

    def __rich__(self) -> Group:
        mixed = {n: side for n, side in self.sides.items() if [p.kind for p in side.pieces] != [PieceKind.PROBLEM]}
        sections = [
            Section("", self.facts),
            *(words.pieces(name, side) for name, side in mixed.items()),
            *self.tables,
            *(words.about(name, side, self.static) for name, side in self.sides.items()),
        ]
        return words.for_terminal(self.verdict, sections)

    def __str__(self) -> str:
        return words.plain(self)


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
    reference = read_task(reference_text, domain)
    known = reference.domain if isinstance(reference, Task) else planning_domain(domain) if domain else None
    constants = {name: name for name in known.domain.constants} if known else {}
    problem = read_problem(generated_text, constants)
    generated = problem if isinstance(problem, Unreadable) else Task(problem, known)

    theirs, ours = (each.problem if isinstance(each, Task) else NO_PROBLEM for each in (reference, generated))
    object_map = verdict.object_map or _matching_objects(reference, generated)
    goal_map = verdict.goal_object_map or object_map
    closures = [each.closure for each in (reference, generated) if isinstance(each, Task)]
    closed = [closure for closure in closures if isinstance(closure, frozenset)]
    static = _static_predicates(known, theirs.init | ours.init)
    return Explanation(
        verdict=verdict,
        is_placeholder=is_placeholder,
        other_verdict=other.verdict if other.verdict != verdict.verdict else None,
        domain=known.name if known else None,
        static=static,
        reference=_side(pieces_of(reference_text, constants), reference, static),
        generated=_side(pieces_of(generated_text, constants), generated, static, verdict),
        object_map=object_map,
        goal_map=goal_map,
        objects=object_lines(theirs.objects, ours.objects, object_map),
        goal_objects=object_lines(theirs.objects, ours.objects, goal_map),
        init=atom_lines(theirs.init, ours.init, constants | object_map),
        goal=atom_lines(theirs.goal, ours.goal, constants | goal_map, *(closed if len(closed) == 2 else ())),
    )


def _side(
    pieces: tuple[Piece, ...], task: Task | Unreadable, static: frozenset[str], verdict: ProblemVerdict | None = None
) -> Side:
    """What is known of a text; ``verdict`` is the answer's, whose plan is the one that it keeps."""
    if isinstance(task, Unreadable):
        unread = Undecided(f"nothing could be read: {task.detail}")
        return Side(pieces, task, unread, unread, None)
    added: tuple[Atom, ...] | Unsolvable | Undecided
    if isinstance(task.closure, frozenset):
        added = tuple(sorted(task.closure - task.problem.goal, key=lambda atom: (atom[0] in static, atom)))
    else:
        added = task.closure
    plan: tuple[Action, ...] | Unsolvable | Undecided | None = verdict.plan if verdict else None
    certificate: str | Undecided | None = task.certificate
    if verdict and verdict.verdict == Verdict.DOMAIN_MISMATCH:
        plan, certificate = Unsolvable("the problem belongs to another domain"), verdict.certificate
    plan = task.plan if plan is None else plan
    return Side(pieces, task.problem, added, plan, certificate if isinstance(certificate, str) else None)


def _static_predicates(known: PlanningDomain | None, atoms: State) -> frozenset[str]:
    """The predicates of the atoms that no operator changes; none where the domain is unknown."""
    operators = known.domain.operators if known else ()
    changed = {atom[0] for operator in operators for atom in operator.add_effects | operator.delete_effects}
    return frozenset(atom[0] for atom in atoms) - changed if known else frozenset()


def _matching_objects(reference: Task | Unreadable, generated: Task | Unreadable) -> dict[str, str]:
    """The generated → reference map under which unequal problems are shown: the one that the decision's words follow.

    It maps initial state onto initial state where it can, by the same names first, and is a plausible one where not.
    """
    if isinstance(reference, Unreadable) or isinstance(generated, Unreadable):
        return {}
    ours, theirs = generated.problem, reference.problem
    if ours.objects == theirs.objects and ours.init == theirs.init:
        return {name: name for name in ours.objects}
    our_scene, their_scene = generated.initial_scene, reference.initial_scene
    if our_scene.invariant == their_scene.invariant and our_scene.form == their_scene.form:
        return dict(zip(our_scene.order, their_scene.order, strict=True))
    return closest_matching(ours, theirs)
