"""Why an answer has its verdict: both sides, what was added to their goals, what decided, which plans were found.

``explain`` collects what ``score_problem_pair`` and the tasks of both sides say, ``page`` puts it into words. Nothing
is decided here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from pddl_eval.definition.budget import or_undecided
from pddl_eval.definition.closure import ClosedGoal
from pddl_eval.definition.counterexample import counterexample
from pddl_eval.definition.difference import closest_matching
from pddl_eval.definition.domains import planning_domain
from pddl_eval.definition.equivalence import isomorphism
from pddl_eval.definition.metrics import given, score_lone_problem
from pddl_eval.definition.model import (
    ROOT_TYPE,
    Action,
    Formula,
    Problem,
    problem_to_pddl,
    show_atom,
    show_formula,
)
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.definition.pddl import Unreadable, read_any_problem, read_problem
from pddl_eval.definition.task import Scene, Task, read_pair, read_task
from pddl_eval.definition.verdict import Counterexample, ProblemVerdict, Undecided, Unsolvable, Verdict
from pddl_eval.errors import RunError, UserError
from pddl_eval.explain.reading import Piece, PieceKind, pieces_of
from pddl_eval.explain.sides import AtomLine, ObjectLine, Side, Standing, atom_lines, initial_scene, object_lines
from pddl_eval.explain.tables import ABSENT, ALL_ROWS, DIFFERENT, MOST_ROWS, cells, line_by_line, noted
from pddl_eval.explain.validation import steps_section
from pddl_eval.kernel import score_problem_pair
from pddl_eval.pages import BESIDE, FOLDED, Cell, Excerpt, Page, Section, Table, table, words
from pddl_eval.scoring.api import UnsolvableError, fully_specify
from pddl_eval.scoring.budget import row_budget
from pddl_eval.scoring.plans import Validation, validate_in
from pddl_eval.shown import YES, line, listed

if TYPE_CHECKING:
    from rich.console import Group

NO_PROBLEM = Problem("", "", {}, frozenset(), frozenset())

MOST_ITEMS, MOST_ACTIONS = 20, 200
"""Names, atoms or actions that are listed; actions on a page with drawings."""

MOST_REASON = 400
"""Characters of a reason."""

SCENES = "Scenes"


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a generated problem has its verdict; ``print`` shows it, ``html_page`` and ``scenes_svg`` draw it.

    ``other_verdict`` is the verdict in the other mode (placeholder or not), None if it is the same. ``objects``,
    ``init`` and ``goal`` hold both sides line by line under ``object_map`` (generated → reference): the map behind a
    yes, or the one that the words of a no follow. ``goal_map`` is the goals' own, ``goal_objects`` the objects under
    it. ``static`` are the predicates that no operator of the domain changes. ``counterexample`` is there for
    ``goal_differs``, ``steps`` are it executed in the reference.
    """

    verdict: ProblemVerdict
    reference: Side
    generated: Side
    objects: tuple[ObjectLine, ...]
    goal_objects: tuple[ObjectLine, ...]
    init: tuple[AtomLine, ...]
    goal: tuple[AtomLine, ...]
    object_map: dict[str, str] = field(default_factory=dict)
    goal_map: dict[str, str] = field(default_factory=dict)
    is_placeholder: bool = False
    other_verdict: Verdict | None = None
    domain: str | None = None
    static: frozenset[str] = frozenset()
    counterexample: Counterexample | Undecided | None = None
    steps: Validation | None = None

    @property
    def sides(self) -> dict[str, Side]:
        """Both sides by name."""
        return {"reference": self.reference, "answer": self.generated}

    @property
    def is_alone(self) -> bool:
        """True if there is no reference to compare with."""
        return not self.reference.pieces and self.verdict.verdict != Verdict.REFERENCE_INVALID

    @property
    def compares(self) -> bool:
        """True if both sides could be read, so that there is something to compare."""
        return all(isinstance(side.problem, Problem) for side in self.sides.values())

    @property
    def as_read(self) -> str | None:
        """The block of the answer that counts, else its first draft."""
        return _problem_text(self.generated.pieces)

    @property
    def problem(self) -> Explanation:
        """Itself: what can be drawn, as of a row's explanation."""
        return self

    def page(self, *, whole: bool = False) -> Page:
        """Scores, both sides side by side, the goals, plans and texts of each side.

        ``whole`` is for pages with drawings: longer tables and plans, and every piece of both texts. Without it a text
        that is nothing but the problem is left out.
        """
        sections = [Section("", tables=[_scores(self)])]
        if any(isinstance(side.problem, Problem) for side in self.sides.values()):
            sections += [Section(SCENES)] if whole else []
            sections.append(_side_by_side(self, whole=whole))
        if self.counterexample is not None:
            told = _counterexample(self, MOST_ACTIONS if whole else MOST_ITEMS)
            steps, title = self.steps if whole else None, "Counterexample"
            sections.append(Section(title, told) if steps is None else steps_section(title, steps, told))
        if whole and not self.is_alone:
            theirs, ours = (_problem_text(side.pieces) for side in self.sides.values())
            sections.append(line_by_line(theirs, ours))
        for name, side in list(self.sides.items())[self.is_alone :]:
            sentences = [
                f"implied by the goal: {_added(side, self.static)}",
                f"plan: {_plan(side, MOST_ACTIONS if whole else MOST_ITEMS)}",
                f"certificate: {side.certificate or 'none'}",
            ]
            only_problem = [piece.kind for piece in side.pieces] == [PieceKind.PROBLEM]
            excerpts = [] if only_problem and not whole else [_excerpt(piece) for piece in side.pieces]
            if whole and name == "answer" and isinstance(side.problem, Problem):
                excerpts.append(Excerpt("As it was read", problem_to_pddl(side.problem), BESIDE))
            sections.append(
                Section(f"The {name}", sentences if side.pieces else [*sentences, "There is no text."], (), excerpts)
            )
        verdict = self.verdict
        good = verdict.solvable if self.is_alone else verdict.equivalent
        badge = Cell(headline(verdict), kind=verdict.verdict.value if verdict.verdict else "other")
        return Page(headline(verdict), (), [verdict.detail], sections, good, badges=[badge])

    def __rich__(self) -> Group:
        from pddl_eval.terminal import terminal  # here: pages of HTML need no rich

        return terminal(self.page())

    def __str__(self) -> str:
        from pddl_eval.terminal import plain  # here: pages of HTML need no rich

        return plain(self.page())


@row_budget(ScoringOptions().row_seconds)
def explain(
    reference_text: str | None,
    generated_text: str | None,
    *,
    is_placeholder: bool = False,
    domain: str | None = None,
    answer: str = "first",
) -> Explanation:
    """Why the generated problem (a raw model answer) has its verdict against the reference.

    Without a reference, what was read and whether it can be solved. Parameters as ``pddl_eval.compare_problems``.
    Raises ``DomainError`` if ``domain`` is a text but no PDDL domain.

    >>> held = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"
    >>> explanation = explain(held, "Sure: " + held.replace("clear", "on-table"))
    >>> explanation.verdict.verdict.value, explanation.generated.added
    ('equivalent', (('arm-empty',), ('clear', 'a')))
    """
    domain = domain or None
    if given(reference_text):
        verdict = score_problem_pair(reference_text, generated_text, is_placeholder, domain, answer=answer)
        other = score_problem_pair(
            reference_text, generated_text, not is_placeholder, domain, check_solvable=False, answer=answer
        )
        reference, generated = read_pair(reference_text, generated_text, domain, answer)
    else:
        reference_text = None
        verdict = other = score_lone_problem(generated_text, domain, answer=answer, is_placeholder=is_placeholder)
        reference, generated = read_task(None), read_task(generated_text, domain, answer=answer)
    tasks = [each for each in (reference, generated) if isinstance(each, Task)]
    known = tasks[0].domain if tasks else planning_domain(domain) if domain else None
    constants = {name: name for name in known.domain.constants} if known else {}
    read = read_problem if known is None or known.is_strips else partial(read_any_problem, strips_first=False)

    theirs, ours = (each.problem if isinstance(each, Task) else NO_PROBLEM for each in (reference, generated))
    object_map = verdict.object_map or _matching_objects(reference, generated)
    goal_map = verdict.goal_object_map or object_map
    pieces = pieces_of(reference_text, constants, read=read), pieces_of(generated_text, constants, answer, read)
    closures = tuple(_closed_goal(each, domain) for each in (reference, generated))
    closed = [each for each in closures if isinstance(each, frozenset)]
    static = frozenset(atom[0] for atom in theirs.init | ours.init) - known.fluents if known else frozenset()
    found = None
    if verdict.verdict == Verdict.GOAL_DIFFERS and isinstance(reference, Task) and isinstance(generated, Task):
        found = counterexample(reference, generated, verdict)
    return Explanation(
        verdict=verdict,
        is_placeholder=is_placeholder,
        other_verdict=other.verdict if other.verdict != verdict.verdict else None,
        domain=known.name if known else None,
        static=static,
        reference=_side(pieces[0], reference, closures[0], static, verdict.reference_certificate),
        generated=_side(pieces[1], generated, closures[1], static, verdict.certificate, verdict),
        object_map=object_map,
        goal_map=goal_map,
        objects=object_lines(theirs.objects, ours.objects, object_map),
        goal_objects=object_lines(theirs.objects, ours.objects, goal_map),
        init=atom_lines(initial_scene(theirs), initial_scene(ours), constants | object_map),
        goal=atom_lines(
            frozenset(theirs.goal_as_written),
            frozenset(ours.goal_as_written),
            constants | goal_map,
            *(closed if len(closed) == 2 and not (theirs.conjuncts or ours.conjuncts) else ()),
        ),
        counterexample=found,
        steps=validate_in(reference, _plan_text(found.plan))
        if isinstance(found, Counterexample) and isinstance(reference, Task)
        else None,
    )


def _plan_text(plan: Sequence[Action]) -> str:
    return "".join(f"{show_atom(action)}\n" for action in plan)


def _closed_goal(task: Task | Unreadable, domain: str | None) -> frozenset[Formula] | Unsolvable | Undecided:
    """cl(goal), or of a goal that no literals say all that they imply; without rules the kernel's, if it has one."""
    if isinstance(task, Unreadable):
        return Undecided(f"nothing could be read: {task.detail}")
    if task.domain is not None and task.goal is None:
        try:
            return fully_specify(task.problem, domain or task.domain.name)
        except UnsolvableError as error:
            return Unsolvable(str(error))
        except UserError:
            pass  # The task says why.
    closed = task.closed_goal
    return closed.literals if isinstance(closed, ClosedGoal) else closed


def _side(  # noqa: PLR0913 (all that is known of a side)
    pieces: tuple[Piece, ...],
    task: Task | Unreadable,
    closed: frozenset[Formula] | Unsolvable | Undecided,
    static: frozenset[str],
    certificate: str | None,
    verdict: ProblemVerdict | None = None,
) -> Side:
    """What is known of a text; the answer's plan is that of its ``verdict``."""
    if isinstance(task, Unreadable):
        assert isinstance(closed, Undecided)
        return Side(pieces, task, closed, closed, None)
    added: tuple[Formula, ...] | Unsolvable | Undecided
    if isinstance(closed, frozenset):
        new = closed.difference(task.problem.goal_as_written)
        added = tuple(sorted(new, key=lambda atom: (atom[0] in static, show_formula(atom))))
    else:
        added = closed
    plan: tuple[Action, ...] | Unsolvable | Undecided | None = verdict.plan if verdict else None
    if verdict and verdict.verdict == Verdict.DOMAIN_MISMATCH:
        plan = Unsolvable("the problem belongs to another domain")
    plan = task.plan if plan is None else plan
    return Side(pieces, task.problem, added, plan, certificate)


def _matching_objects(reference: Task | Unreadable, generated: Task | Unreadable) -> dict[str, str]:
    """The generated → reference map under which unequal problems are shown: the one that the decision's words follow.

    It maps initial state onto initial state if possible, by the same names first; otherwise it is a plausible map.
    """
    if isinstance(reference, Unreadable) or isinstance(generated, Unreadable):
        return {}
    found = or_undecided(lambda: isomorphism(generated, reference, Scene.INIT))
    return found if isinstance(found, dict) else closest_matching(generated.problem, reference.problem)


def headline(verdict: ProblemVerdict) -> str:
    """The verdict and what it means for the score."""
    if verdict.verdict == Verdict.REFERENCE_INVALID:
        return f"{words(verdict.verdict)}: no answer can be scored"
    if verdict.verdict is None:
        return f"{ {True: 'solvable', False: 'not solvable', None: 'read'}[verdict.solvable] }: not compared"
    if verdict.equivalent is None and verdict.verdict != Verdict.UNDECIDED:
        return f"{words(verdict.verdict)}: not compared"
    meaning = {True: "equivalent", False: "not equivalent", None: "not decided"}[verdict.equivalent]
    if verdict.equivalent is False and verdict.equivalent_untyped:
        meaning += ", but equivalent ignoring types"
    return meaning if verdict.verdict == meaning else f"{words(verdict.verdict or '')}: {meaning}"


def _scores(explanation: Explanation) -> Table:
    verdict = explanation.verdict
    mode, other = "objects keep their identity from initial state to goal", "placeholder"
    if explanation.is_placeholder:
        mode, other = "placeholder: initial state and goal are compared separately", "identity"
    if explanation.other_verdict is not None:
        mode += f" (in {other} mode the verdict is {explanation.other_verdict})"
    rows = [("parseable", YES[verdict.parseable]), ("solvable", YES[verdict.solvable])]
    if not explanation.is_alone:
        equivalent = f"{YES[verdict.equivalent]}; ignoring types: {YES[verdict.equivalent_untyped]}"
        rows = [("equivalent", equivalent), *rows, ("solves the reference", _solves_reference(explanation))]
        rows += [("decided by", verdict.verdict.decided_by if verdict.verdict else ""), ("mode", mode)]
    rows.append(("domain", explanation.domain or "unknown"))
    return table("Scores", ("", ""), rows, texts=1)


def _solves_reference(explanation: Explanation) -> str:
    verdict = explanation.verdict
    if verdict.solves_reference is None:
        names = {
            frozenset(each.problem.objects) for each in explanation.sides.values() if isinstance(each.problem, Problem)
        }
        unknown = "objects have other names" if len(names) > 1 and not verdict.object_map else "not decided"
        return "no plan" if verdict.plan is None else unknown
    under = " under the object map" if verdict.object_map else ""
    said = f"{YES[verdict.solves_reference]}, the answer's plan, executed in the reference{under}"
    if verdict.equivalent and not verdict.solves_reference:
        said += ": initial states and goals are equivalent, but under different object maps"
    return said


def _side_by_side(explanation: Explanation, *, whole: bool) -> Section:
    """Objects, initial states and goals, those that differ first; static atoms that are only implied are left out.

    On a ``whole`` page what is equal is folded.
    """

    def is_static(each: AtomLine) -> bool:
        return each.predicate in explanation.static and not each.differs

    counterparts = "counterparts" if explanation.verdict.object_map else "probable counterparts"
    problems = [side.problem for side in explanation.sides.values() if isinstance(side.problem, Problem)]
    closed = all(isinstance(side.added, tuple) for side in explanation.sides.values())
    # All that a goal with negated atoms implies is no list of literals to look at.
    closed = closed and not any(problem.conjuncts for problem in problems)
    init = sorted(explanation.init, key=is_static)
    lines: dict[str, Sequence[ObjectLine | AtomLine]] = {
        f"Objects and their {counterparts}" if explanation.compares else "Objects": explanation.objects,
        "Initial state": init,
        "Goal, fully specified" if closed else "Goal, as written": [
            each for each in explanation.goal if not (is_static(each) and each.implied)
        ],
    }
    if explanation.goal_map != explanation.object_map:
        lines["Objects of the goal, in placeholder mode"] = explanation.goal_objects
    tables, folded = [], []
    most = ALL_ROWS if whole else MOST_ROWS
    alone = explanation.is_alone  # Then only the answer has a column.
    header = ("", *("reference", "answer")[alone:])
    for caption, found in lines.items():
        differ = [each.differs and explanation.compares for each in found]
        if whole and explanation.compares and not all(differ):
            same = [each for each, differs in zip(found, differ, strict=True) if not differs]
            text = "\n".join(" = ".join(dict.fromkeys(_texts(each))) for each in same[:most])
            folded.append(Excerpt(f"{caption}: {len(same):,} equal", text, FOLDED))
            found = [each for each in found if each.differs]
            differ = [True] * len(found)
            if not found:
                continue
        rows = [
            cells([DIFFERENT * differs, *list(_texts(each))[alone:]], differs)
            for each, differs in zip(found[:most], differ, strict=False)
        ]
        cut = f"the first {most} of {len(found):,}" * (len(found) > most)
        title = noted(caption, f"{sum(differ):,} different" * any(differ), cut)
        tables.append(Table(title, header, rows, labels=0, texts=len(header)))
    return Section(
        "The problem" if alone else "Side by side",
        [f"{each.caption}: none." for each in tables if not each.rows],
        [t for t in tables if t.rows],
        folded,
    )


def _problem_text(pieces: Sequence[Piece]) -> str | None:
    """The text of the problem that counts, else of the first draft."""
    kinds = {piece.kind: piece.text for piece in reversed(pieces)}
    return kinds.get(PieceKind.PROBLEM) or kinds.get(PieceKind.DRAFT)


def _texts(each: ObjectLine | AtomLine) -> Iterator[str]:
    """An object or an atom as each side writes it."""
    if isinstance(each, ObjectLine):
        for name, type_ in zip(each.names, each.types, strict=True):
            yield ABSENT if name is None else line(name if type_ == ROOT_TYPE else f"{name} - {type_}")
    else:
        for atom, standing in zip(each.atoms, each.standings, strict=True):
            if atom is None or standing == Standing.ABSENT:
                yield ABSENT
            else:
                yield line(show_formula(atom)) + " implied" * (standing == Standing.IMPLIED)


def _excerpt(piece: Piece) -> Excerpt:
    """A piece of a text; drafts and the problem that counts are the important ones."""
    title = f"{'lines' if '-' in piece.lines else 'line'} {piece.lines}: {piece.kind}"
    kind = piece.kind.name.lower() if piece.kind in (PieceKind.DRAFT, PieceKind.PROBLEM) else ""
    return Excerpt(f"{title} ({piece.note})" if piece.note else title, piece.text, kind)


def _added(side: Side, static: frozenset[str]) -> str:
    if isinstance(side.added, Unsolvable | Undecided):
        return f"none: {line(side.added.reason, MOST_REASON)}"
    changing = [show_formula(atom) for atom in side.added if atom[0] not in static]
    rest = len(side.added) - len(changing)
    atoms = listed(changing, MOST_ITEMS, " ") or "nothing more"
    return atoms + (f"; and {rest:,} static atom{'s' * (rest > 1)}" if rest else "")


def _plan(side: Side, most: int) -> str:
    if isinstance(side.plan, Unsolvable | Undecided):
        return f"none: {line(side.plan.reason, MOST_REASON)}"
    if not side.plan:
        return "the initial state is a goal state: nothing to do"
    return _actions(side.plan, most)


def _actions(plan: Sequence[Action], most: int) -> str:
    count = "1 action" if len(plan) == 1 else f"{len(plan):,} actions"
    return f"{count}: {listed([show_atom(action) for action in plan], most, ' ')}"


def _counterexample(explanation: Explanation, most: int) -> list[str]:
    """The plan to a state with one goal and without the other."""
    found = explanation.counterexample
    if not isinstance(found, Counterexample):
        return [f"none was found: {line(found.reason, MOST_REASON)}"] if found else []
    names = "" if all(ours == theirs for ours, theirs in found.object_map.items()) else ", in the reference's names"
    sentences = [f"plan{names}: {_actions(found.plan, most) if found.plan else 'no actions'}", _where_it_ends(found)]
    if explanation.is_placeholder:
        sentences.append(
            "The goals are compared here under the object map of the initial states; no other map makes them equal."
        )
    return sentences


def _where_it_ends(found: Counterexample) -> str:
    there, other = ("answer", "reference") if found.satisfies == "generated" else ("reference", "answer")
    lacking = listed(sorted(map(show_formula, found.lacking)), MOST_ITEMS, " ")
    return f"At its end the {there}'s goal holds; the {other}'s lacks {lacking}."


def plan_file(explanation: Explanation) -> str:
    """What ``--save-plan`` writes, in VAL's format: the counterexample of ``goal_differs``, else the answer's plan.

    Comments say what it is and whose names it has. Raises ``RunError`` where there is no plan.
    """
    found = explanation.counterexample
    if isinstance(found, Counterexample):
        plan, sentences = found.plan, ["A counterexample, in the names of the reference.", _where_it_ends(found)]
        pairs = [f"{ours} is {theirs}" for ours, theirs in found.object_map.items() if ours != theirs]
        sentences += [f"Of the answer's objects, {listed(pairs, len(pairs))}."] if pairs else []
    elif isinstance(found, Undecided) or not isinstance(explanation.generated.plan, tuple):
        missing = found if isinstance(found, Undecided) else explanation.generated.plan
        assert not isinstance(missing, tuple)
        raise RunError(f"there is no plan to save: {missing.reason}")
    else:
        plan, sentences = explanation.generated.plan, ["A plan for the answer's problem, in its names."]
    return "".join(f"; {sentence}\n" for sentence in sentences) + _plan_text(plan)
