"""The judge of problem pairs in any PDDL: every reachable state of both problems, every bijection of their objects.

Written from DESIGN.md, sections 3 and 8, on top of the plain interpreter beside it, and from nothing of the program.
Two problems are equivalent when a bijection of their objects that keeps types maps initial atoms, initial numbers and
metric onto each other, and the set of reachable goal states onto the set of reachable goal states. Placeholder mode
asks for two bijections: one of the initial scenes, and one of the closed goals. The closed goal is the set of literals
that are true in all reachable goal states, in a domain without negation the set of atoms; where they do not tell the
goal states from other reachable ones, it is the set of goal states.

A derived atom is true or false in a state like any other. A constant of the domain stays itself. The cost so far is
part of the initial scene and of no other state.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

from tests.judges.interpreter import (
    ASSIGNMENTS,
    COMPARISONS,
    NUMBER,
    TOTAL_COST,
    Atom,
    Failed,
    Fraction,
    State,
    Task,
    TooManyStates,
    Tree,
    Undefined,
    as_atom,
    execute,
    identity,
    reachable_states,
    read,
    satisfied,
    tree_of,
    typed,
    with_derived,
)

Bijection = Mapping[str, str]
"""Generated → reference objects; a name that is not in it, such as a constant, stays itself."""

Facts = tuple[frozenset[Atom], frozenset[tuple[Atom, Fraction]]]
"""A state as a value: atoms and numbers."""


def renamed(atoms: frozenset[Atom], names: Bijection) -> frozenset[Atom]:
    return frozenset((atom[0], *(names.get(each, each) for each in atom[1:])) for atom in atoms)


def renamed_facts(facts: Facts, names: Bijection) -> Facts:
    atoms, numbers = facts
    return renamed(atoms, names), frozenset(
        ((fluent[0], *(names.get(each, each) for each in fluent[1:])), number) for fluent, number in numbers
    )


def renamed_metric(tree: Tree | None, names: Bijection) -> object:
    """The metric with other objects, and numbers as values: 2 and 2.0 are the same."""
    if tree is None or isinstance(tree, str):
        return Fraction(tree) if tree and NUMBER.fullmatch(tree) else tree
    return (tree[0], *(names.get(each, renamed_metric(each, names)) if isinstance(each, str) else
                       renamed_metric(each, names) for each in tree[1:]))  # fmt: skip


ENUMERATED: dict[object, list[State] | None] = {}
"""The states of the last problems: two problems that differ in their goals only have the same."""


class Side:
    """One problem of a pair, with its types or without."""

    def __init__(self, domain: str, problem: str, with_types: bool = True, limit: int = 20_000) -> None:
        sections = {section[0]: section[1:] for section in tree_of(problem)[2:]}
        self.domain: object = domain
        self.task = read(domain, problem, with_types)
        self.objects = dict(typed(sections.get(":objects", [])))
        self.limit = limit

    @classmethod
    def of(cls, domain: object, task: Task, objects: dict[str, tuple[str, ...]], limit: int) -> Side:
        """A task that was no text; ``domain`` is what tells its domain from others, the objects are the problem's."""
        side = cls.__new__(cls)
        side.domain, side.task, side.objects, side.limit = domain, task, objects, limit
        return side

    @cached_property
    def negation(self) -> bool:
        return uses_negation(self.task)

    @cached_property
    def literal_goal(self) -> bool:
        return all(is_literal(each) for each in conjuncts(self.task.goal))

    @cached_property
    def init(self) -> Facts:
        """The initial atoms and numbers; the cost is one of them."""
        return self.task.initial.atoms, frozenset(self.task.initial.numbers.items())

    def metric(self, names: Bijection) -> object:
        return self.task.metric and (self.task.maximize, renamed_metric(self.task.metric, names))

    @cached_property
    def states(self) -> list[State] | None:
        """All reachable states; None if they are too many, or a rule reads a number that one of them does not have."""
        types = self.task.with_types and bool(self.task.parents)
        key = (self.domain, str(sorted(self.objects.items())), self.init, types, self.limit)
        if key not in ENUMERATED:
            if len(ENUMERATED) > 16:
                ENUMERATED.clear()
            try:
                ENUMERATED[key] = reachable_states(self.task, self.limit)
            except (TooManyStates, Undefined):
                ENUMERATED[key] = None
        return ENUMERATED[key]

    @cached_property
    def goal_states(self) -> list[State] | None:
        if self.states is None:
            return None
        return [state for state in self.states if satisfied(self.task, self.task.goal, state)]

    @cached_property
    def goal_facts(self) -> frozenset[Facts] | None:
        return None if self.goal_states is None else frozenset(map(identity, self.goal_states))

    @property
    def solvable(self) -> bool | None:
        return None if self.goal_states is None else bool(self.goal_states)

    @cached_property
    def every_atom(self) -> frozenset[Atom]:
        """All atoms that the declarations allow."""
        return frozenset(
            (name, *binding.values())
            for name, parameters in self.task.predicates.items()
            for binding in self.task.bindings([(str(at), kinds) for at, (_, kinds) in enumerate(parameters)])
        )

    @cached_property
    def true(self) -> frozenset[Atom]:
        """The atoms that are true in all goal states, of which there are some."""
        return frozenset.intersection(*(with_derived(self.task, state) for state in self.goal_states or ()))

    @cached_property
    def false(self) -> frozenset[Atom]:
        """The atoms that are true in no goal state."""
        return self.every_atom.difference(*(with_derived(self.task, state) for state in self.goal_states or ()))

    def closed_goal(self, reading: str) -> list[Facts]:
        """Literals, if they tell the goal states from all others: true atoms and false ones; else these states, too.

        ``DESIGN`` has all literals that are true in all goal states. ``needed`` has of the false atoms only those that
        are true in some other reachable state with all of the true ones, and of the numbers those that change.
        """
        scenes = [with_derived(self.task, state) for state in self.states or ()]
        likely = [atoms for atoms in scenes if self.true <= atoms]
        false = self.false if self.negation or reading == "needed" else frozenset()
        if sum(atoms.isdisjoint(false) for atoms in likely) == len(self.goal_states or ()):
            if reading == "needed":
                false &= frozenset().union(*likely)
            return [(self.true, frozenset()), (false, frozenset())]
        kept = self.changed if reading == "needed" else set(self.task.functions)
        return [(self.true, frozenset()), *(
            (with_derived(self.task, state), frozenset(each for each in state.numbers.items() if each[0][0] in kept))
            for state in self.goal_states or ()
        )]  # fmt: skip

    @cached_property
    def changed(self) -> set[str]:
        """The functions that an effect changes, without the cost."""
        found, waiting = set(), [action.effect for action in self.task.actions.values()]
        while waiting:
            tree = waiting.pop()
            if isinstance(tree, list) and tree:
                if tree[0] in ASSIGNMENTS:
                    found.add(as_atom(tree[1])[0])
                waiting += tree
        return found - {TOTAL_COST[0]}

    @cached_property
    def well_typed(self) -> bool:
        """Whether the declarations admit each atom of the problem; in an untyped domain everything is admitted."""
        return not self.task.with_types or all(
            len(atom) - 1 == len(parameters) and all(
                each in self.task.objects and self.task.fits(each, kinds)
                for each, (_, kinds) in zip(atom[1:], parameters, strict=True)
            )
            for atom in (*self.task.initial.atoms, *self.task.initial.numbers, *atoms_in(self.task, self.task.goal))
            if (parameters := {**self.task.predicates, **self.task.functions}.get(atom[0])) is not None
        )  # fmt: skip


def conjuncts(goal: Tree) -> Iterator[Tree]:
    for each in goal[1:]:
        if each[:1] == ["and"]:
            yield from conjuncts(each)
        else:
            yield each


def is_literal(tree: Tree) -> bool:
    if tree[0] == "not":
        tree = tree[1]
    return tree[0] not in ("and", "or", "not", *COMPARISONS)


def atoms_in(task: Task, tree: Tree) -> Iterator[Atom]:
    """The atoms and fluents in a ground formula."""
    if isinstance(tree, str):
        if tree in task.functions:
            yield (tree,)
    elif tree[0] in ("and", "or", "not", "+", "-", "*", "/", *COMPARISONS):
        for each in tree[1:]:
            yield from atoms_in(task, each)
    else:
        yield tuple(tree)


def uses_negation(task: Task) -> bool:
    """Whether something in the domain is asked to be false: in a precondition, a condition of an effect or a rule."""
    asked = [body for _, body in task.rules]
    for action in task.actions.values():
        asked += [action.precondition, *conditions(action.effect)]
    return any(map(negates, asked))


def negates(tree: Tree) -> bool:
    if isinstance(tree, str) or not tree:
        return False
    return tree[0] == "imply" or (tree[0] == "not" and tree[1][0] != "=") or any(map(negates, tree))


def conditions(effect: Tree) -> Iterator[Tree]:
    if isinstance(effect, list) and effect:
        if effect[0] == "when":
            yield effect[1]
        for each in effect[1:]:
            yield from conditions(each)


# --- Bijections ------------------------------------------------------------------------------------------------------


def bijections(generated: Side, reference: Side, ours: Facts, theirs: Facts) -> Iterator[Bijection]:
    """Every bijection of the objects that keeps types and maps the one set of facts onto the other.

    An object becomes only one that stands as often in each place, and a choice is taken back as soon as an atom has all
    its objects mapped and its image is missing; each bijection that is left is checked whole.
    """
    marks = [marked(side, facts) for side, facts in ((generated, ours), (reference, theirs))]
    if sorted(marks[0].values()) != sorted(marks[1].values()):
        return
    twins = {name: [other for other, its in marks[1].items() if its == mark] for name, mark in marks[0].items()}
    order = sorted(twins, key=lambda name: len(twins[name]))
    atoms_of = {name: [atom for atom in ours[0] if name in atom[1:]] for name in order}

    def extended(names: dict[str, str]) -> Iterator[Bijection]:
        if len(names) == len(order):
            if renamed_facts(ours, names) == theirs:
                yield dict(names)
            return
        name = order[len(names)]
        for other in twins[name]:
            if other not in names.values():
                names[name] = other
                whole = (atom for atom in atoms_of[name] if marks[0].keys() & set(atom[1:]) <= names.keys())
                if renamed(frozenset(whole), names) <= theirs[0]:
                    yield from extended(names)
                del names[name]

    yield from extended({})


def marked(side: Side, facts: Facts) -> dict[str, tuple[str, ...]]:
    """Each object with its type and where it stands in the facts."""
    marks: dict[str, list[str]] = {
        name: [str(sorted(kinds))] if side.task.with_types else [] for name, kinds in side.objects.items()
    }
    atoms, numbers = facts
    for atom, mark in [*((atom, "") for atom in atoms), *((fluent, f" {number}") for fluent, number in numbers)]:
        for place, name in enumerate(atom[1:]):
            if name in marks:
                marks[name].append(f"{atom[0]} {place}{mark}")
    return {name: tuple(sorted(each)) for name, each in marks.items()}


def scene_maps(generated: Side, reference: Side) -> Iterator[Bijection]:
    """The bijections that map initial state, numbers and metric."""
    for names in bijections(generated, reference, generated.init, reference.init):
        if generated.metric(names) == reference.metric({}):
            yield names


# --- Equivalence -----------------------------------------------------------------------------------------------------


class Answer(NamedTuple):
    """What the definitions say of a pair; ``equivalent`` is None where the states are too many."""

    equivalent: bool | None
    because: str
    """What decides it: objects, types, init, unsolvable (the generated one), goal, no goal states (of both)."""
    needed: bool | None = None
    """For placeholders the answer by the other reading of ``Side.closed_goal``; it is the same but for odd cases."""


def compared(reference: Side, generated: Side, is_placeholder: bool) -> Answer:
    """Whether the problems are equivalent."""
    if len(reference.objects) != len(generated.objects):
        return Answer(False, "objects")
    kinds = [sorted(map(sorted, side.objects.values())) for side in (reference, generated)]
    if reference.task.with_types and kinds[0] != kinds[1]:
        return Answer(False, "types")
    if next(scene_maps(generated, reference), None) is None:
        return Answer(False, "init")
    if reference.goal_facts is None or generated.goal_facts is None:
        scenes = scene_maps(generated, reference)
        same_goal = any(conjunct_set(generated, names) == conjunct_set(reference, {}) for names in scenes)
        return Answer(True if same_goal else None, "")
    if not generated.solvable or not reference.solvable:
        both = generated.solvable is reference.solvable
        return Answer(both, "no goal states" if both else "goal" if generated.solvable else "unsolvable")
    if is_placeholder:
        same = [same_closed_goal(reference, generated, reading) for reading in ("DESIGN", "needed")]
        return Answer(same[0], "" if same[0] else "goal", same[1])
    same_goal = any(maps_goal_states(reference, generated, names) for names in scene_maps(generated, reference))
    return Answer(True, "") if same_goal else Answer(False, "goal")


def conjunct_set(side: Side, names: Bijection) -> frozenset[str]:
    """The goal as written."""
    return frozenset(str(renamed_tree(each, names)) for each in conjuncts(side.task.goal))


def renamed_tree(tree: Tree, names: Bijection) -> Tree:
    return names.get(tree, tree) if isinstance(tree, str) else [renamed_tree(each, names) for each in tree]


def maps_goal_states(reference: Side, generated: Side, names: Bijection) -> bool:
    ours, theirs = generated.goal_facts, reference.goal_facts
    assert ours is not None and theirs is not None
    return len(ours) == len(theirs) and all(renamed_facts(facts, names) in theirs for facts in ours)


def same_closed_goal(reference: Side, generated: Side, reading: str) -> bool:
    """Whether any bijection at all maps the closed goals."""
    ours, theirs = generated.closed_goal(reading), reference.closed_goal(reading)
    if len(ours) != len(theirs):
        return False
    for names in bijections(generated, reference, ours[0], theirs[0]):
        mapped = [renamed_facts(facts, names) for facts in ours[1:]]
        if set(mapped) == set(theirs[1:]):
            return True
    return False


def fits_map(reference: Side, generated: Side, init_map: Bijection, goal_map: Bijection | None) -> str:
    """What is wrong with the object maps behind a yes; empty where nothing is. ``goal_map`` only for placeholders."""
    for names in filter(None, (init_map, goal_map)):
        if sorted(names) != sorted(generated.objects) or sorted(names.values()) != sorted(reference.objects):
            return f"no bijection: {names}"
        if reference.task.with_types and any(
            sorted(kinds) != sorted(reference.objects[names[name]]) for name, kinds in generated.objects.items()
        ):
            return f"types are not kept: {names}"
    if renamed_facts(generated.init, init_map) != reference.init:
        return f"initial state not onto initial state: {init_map}"
    if generated.metric(init_map) != reference.metric({}):
        return f"metric not onto metric: {init_map}"
    if reference.goal_facts is None or generated.goal_facts is None or goal_map is not None:
        return ""
    return "" if maps_goal_states(reference, generated, init_map) else f"goal states not onto goal states: {init_map}"


def after(task: Task, plan: Iterable[Atom]) -> State | None:
    """The state that a plan leads to; None where a step fails."""
    state = task.initial
    for step in plan:
        try:
            state = execute(task, state, step)
        except Failed:
            return None
    return state
