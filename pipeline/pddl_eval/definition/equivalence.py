"""Algorithm 1 of the paper (section 4): are two problems the same planning problem?

``decide`` is the algorithm. With object identity two problems are equivalent when one bijection of their objects maps
initial state onto initial state and cl(goal) onto cl(goal). For placeholders the two are compared separately.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from pddl_eval.definition.budget import or_undecided
from pddl_eval.definition.closure import ClosedGoal
from pddl_eval.definition.difference import (
    Difference,
    init_difference,
    object_count,
    reference_unsolvable,
    type_difference,
)
from pddl_eval.definition.domains import known_domain
from pddl_eval.definition.model import Formula, Problem, renamed
from pddl_eval.definition.scenes import renamed_formula
from pddl_eval.definition.separation import separation
from pddl_eval.definition.task import Scene, Task
from pddl_eval.definition.verdict import Undecided, Unsolvable, Verdict

ObjectMap = dict[str, str]
"""Generated → reference objects."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What the comparison of two problems came to, and why.

    ``object_map`` proves a yes; for placeholders it maps the initial states, and ``goal_map`` the goals.
    """

    verdict: Verdict
    difference: Difference
    object_map: ObjectMap | None = None
    goal_map: ObjectMap | None = None

    @property
    def equivalent(self) -> bool | None:
        """None where it is not decided."""
        return None if self.verdict in (Verdict.UNDECIDED, Verdict.REFERENCE_INVALID) else self.verdict.right


def decide(  # noqa: C901 (the cases of the algorithm, in order)
    reference: Task, generated: Task, is_placeholder: bool
) -> Decision:
    """Whether the generated problem is the reference's planning problem; the reference's goal can be reached.

    Raises ``OutOfBudgetError`` where a graph could not be labelled.

    >>> from pddl_eval.definition.task import read_pair
    >>> held = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"
    >>> decision = decide(*read_pair(held, held.replace("clear", "on-table").replace("a)", "z)")), False)
    >>> decision.verdict.value, decision.equivalent, decision.object_map
    ('equivalent', True, {'z': 'a'})
    """
    ours, theirs = generated.problem, reference.problem
    # Every early answer follows from the comparison of closed goals below and only saves work: a bijection of the
    # objects changes no number, and problems that are isomorphic as written have isomorphic closures. Only what is left
    # needs cl(goal), which may take a search.
    if not same_domain(reference, generated):
        return Decision(Verdict.DOMAIN_MISMATCH, Difference("domain", names=(ours.domain, theirs.domain)))
    if len(ours.objects) != len(theirs.objects):
        return Decision(Verdict.OBJECT_COUNT, object_count(ours, theirs))
    if ours.objects == theirs.objects and generated.atoms(Scene.AS_WRITTEN) == reference.atoms(Scene.AS_WRITTEN):
        return Decision(Verdict.IDENTICAL, Difference("identical"), {name: name for name in ours.objects})
    if Counter(ours.objects.values()) != Counter(theirs.objects.values()):
        return Decision(Verdict.TYPES_DIFFER, type_difference(ours, theirs))
    if (object_map := isomorphism(generated, reference, Scene.AS_WRITTEN)) is not None:
        return Decision(Verdict.ISOMORPHIC, Difference("renamed"), object_map)
    if not counts_agree(generated, reference, Scene.INIT):
        return Decision(Verdict.INIT_DIFFERS, init_difference(ours, theirs))

    ours_closed, theirs_closed = generated.closed_goal, reference.closed_goal
    if (object_map := isomorphism(generated, reference, Scene.INIT)) is None:
        return Decision(Verdict.INIT_DIFFERS, init_difference(ours, theirs))
    if isinstance(theirs_closed, Unsolvable):  # without types, where a quantifier asks for more than with them
        return Decision(
            Verdict.REFERENCE_INVALID, reference_unsolvable(reference.problem, reference.domain, theirs_closed)
        )
    if isinstance(ours_closed, Unsolvable):
        return Decision(Verdict.UNSOLVABLE, Difference("unsolvable", reason=ours_closed.reason))
    read = [closed.read for closed in (ours_closed, theirs_closed) if isinstance(closed, ClosedGoal) and closed.states]
    if len(read) == 2 and read[0] != read[1]:  # Lists of states can be compared where both say the same of a state.
        generated, reference = (task.reading(read[0] | read[1]) for task in (generated, reference))
        ours_closed, theirs_closed = generated.closed_goal, reference.closed_goal
    for closed in (ours_closed, theirs_closed):
        if isinstance(closed, Undecided):
            return Decision(Verdict.UNDECIDED, Difference("undecided", reason=closed.reason))
    assert isinstance(ours_closed, ClosedGoal) and isinstance(theirs_closed, ClosedGoal)
    agree = _agree(reference, generated, ours_closed, theirs_closed)
    if is_placeholder and (goal_map := isomorphism(generated, reference, Scene.CLOSED_GOAL)) is not None:
        return Decision(Verdict.EQUIVALENT, agree, object_map, goal_map)
    if not is_placeholder and (joined := isomorphism(generated, reference, Scene.CLOSED)) is not None:
        return Decision(Verdict.EQUIVALENT, agree, joined)
    return Decision(
        Verdict.GOAL_DIFFERS, _goal_difference(reference, generated, (ours_closed, theirs_closed), object_map)
    )


def _agree(reference: Task, generated: Task, ours: ClosedGoal, theirs: ClosedGoal) -> Difference:
    if ours.literals != ours.true or ours.states or generated.problem.conjuncts or reference.problem.conjuncts:
        return Difference("goal states agree")
    added = len(ours.true) - len(generated.problem.goal), len(theirs.true) - len(reference.problem.goal)
    return Difference("closures agree", found=added[0], expected=added[1])


def _goal_difference(
    reference: Task, generated: Task, closed: tuple[ClosedGoal, ClosedGoal], object_map: ObjectMap
) -> Difference:
    """A conjunct of one goal that the other does not imply, under the object map of the initial states."""
    ours, theirs = generated.problem, reference.problem
    back = {new: old for old, new in object_map.items()}
    if not ours.conjuncts and not theirs.conjuncts:
        if not_implied := renamed(theirs.goal, back) - closed[0].true:
            return _reference_asks(min(renamed(not_implied, object_map)), object_map)
        if not_asked := renamed(ours.goal, object_map) - closed[1].true:
            return Difference("goal", has=min(renamed(not_asked, back)))
        return Difference("goal placement")

    def not_implied_by(task: Task, goal: Problem, names: ObjectMap) -> Formula | None:
        asked = [renamed_formula(each, names) for each in goal.goal_as_written]
        found = or_undecided(lambda: separation(task, asked))
        return found[0] if isinstance(found, tuple) else None

    if lacks := not_implied_by(generated, theirs, back):
        return _reference_asks(renamed_formula(lacks, object_map), object_map)
    if has := not_implied_by(reference, ours, object_map):
        return Difference("goal", has=renamed_formula(has, back))
    return Difference("goal states differ")


def same_domain(reference: Task, generated: Task) -> bool:
    """True where the generated problem names the reference's domain, by the problem's name for it or the domain's."""
    name = generated.problem.domain
    if name == reference.problem.domain:
        return True
    return reference.domain is not None and (name == reference.domain.name or known_domain(name) is reference.domain)


def isomorphism(generated: Task, reference: Task, scene: Scene) -> ObjectMap | None:
    """The object map under which the scenes are equal, by the same names first; None if they are not isomorphic."""
    objects = generated.problem.objects
    if _are_equal(generated, reference, scene):
        return {name: name for name in objects}
    if not counts_agree(generated, reference, scene):
        return None
    ours, theirs = generated.graph(scene), reference.graph(scene)
    if ours.form != theirs.form:
        return None
    return {name: other for name, other in zip(ours.order, theirs.order, strict=True) if name in objects}


def counts_agree(generated: Task, reference: Task, scene: Scene) -> bool:
    """False where counting shows that the scenes are not isomorphic: atoms of a predicate, then objects of a kind."""
    if _are_equal(generated, reference, scene):
        return True
    ours, theirs = (
        {label: sorted(atom[0] for atom in atoms) for label, atoms in task.atoms(scene).items()}
        for task in (generated, reference)
    )
    return ours == theirs and generated.graph(scene).invariant == reference.graph(scene).invariant


def _are_equal(generated: Task, reference: Task, scene: Scene) -> bool:
    return generated.problem.objects == reference.problem.objects and generated.atoms(scene) == reference.atoms(scene)


def _reference_asks(conjunct: Formula, object_map: ObjectMap) -> Difference:
    """The generated goal does not imply a conjunct of the reference's."""
    back = {theirs: ours for ours, theirs in object_map.items()}
    return Difference("goal", lacks=conjunct, lacks_here=renamed_formula(conjunct, back))
