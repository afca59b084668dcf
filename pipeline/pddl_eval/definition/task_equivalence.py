"""Are a generated domain and problem together the reference's task, in other words?

Some renaming that makes the domains equivalent has to make the problems equivalent. So the graph of each domain is
joined with the scenes of its problem: two such graphs are isomorphic exactly when one renaming of both exists. Problems
that are isomorphic as written need no more; else their closed goals decide. Where no goal could be closed, another
initial state is still a proof.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from pddl_eval.definition.budget import or_undecided
from pddl_eval.definition.canonical import isomorphic
from pddl_eval.definition.closure import ClosedGoal
from pddl_eval.definition.difference import reference_unsolvable
from pddl_eval.definition.domain_equivalence import DomainDecision
from pddl_eval.definition.domains import PlanningDomain
from pddl_eval.definition.domains.renaming import renamed_rules
from pddl_eval.definition.model import ROOT_TYPE, Domain, Problem, State, words_of
from pddl_eval.definition.pddl import Unreadable
from pddl_eval.definition.scenes import LATER
from pddl_eval.definition.structure import (
    DomainGraph,
    DomainStructure,
    Renaming,
    derived_predicates,
    isomorphism,
    renaming_between,
)
from pddl_eval.definition.task import Scene, Task
from pddl_eval.definition.verdict import Undecided, Unsolvable, Verdict
from pddl_eval.definition.words import sentence


@dataclass(frozen=True, slots=True)
class TaskDecision:
    """Whether a generated task is the reference's (None: not decided), and why not, in words.

    ``renaming`` and ``object_map`` (generated → reference) prove a yes. ``object_map`` maps the objects of the problem
    and no constants of the domain; in placeholder mode it maps the initial states.
    """

    equivalent: bool | None
    detail: str
    renaming: Renaming | None = None
    object_map: dict[str, str] | None = None


def decide_tasks(
    domains: DomainDecision,
    reference: Task | Unreadable,
    generated_domain: Domain,
    generated: Problem | Unreadable,
    is_placeholder: bool,
) -> TaskDecision:
    """Whether the problems are equivalent under a renaming that makes their domains equivalent.

    ``domains`` is what ``decide_domains`` said of the domains.
    """
    if isinstance(reference, Unreadable):
        return TaskDecision(None, f"the reference problem cannot be read: {reference.detail}")
    if isinstance(ill_typed := or_undecided(lambda: reference.ill_typed), str):
        return TaskDecision(None, f"in the reference, {ill_typed}")
    if domains.renaming is None:
        return TaskDecision(False if domains.equivalent is False else None, f"the domains: {domains.detail}")
    if isinstance(generated, Unreadable):
        return TaskDecision(None if generated.verdict is Verdict.UNDECIDED else False, generated.detail)
    if generated.domain not in (generated_domain.name, reference.problem.domain):
        return TaskDecision(False, f"the problem is one of {generated.domain}, not of {generated_domain.name}")
    assert reference.domain is not None and domains.structures is not None
    known = reference.domain.domain
    sides = zip((known, generated_domain), domains.structures, (reference.problem, generated), strict=True)
    if known.formulas != generated_domain.formulas and any(_asks_for_more(*side) for side in sides):
        return TaskDecision(None, "the problems use a derived predicate that no operator uses")
    ours = _in_its_domain(generated, generated_domain, domains.renaming, reference)
    found = or_undecided(lambda: _decide(reference, ours, domains, is_placeholder))
    return TaskDecision(None, found.reason) if isinstance(found, Undecided) else found


def _decide(reference: Task, ours: Task, domains: DomainDecision, is_placeholder: bool) -> TaskDecision:
    """The decision on two problems in equivalent domains, each in its own words."""
    if isinstance(reference.closure, Unsolvable):  # a mistake in the data
        why = reference_unsolvable(reference.problem, reference.domain, reference.closure)
        return TaskDecision(None, sentence(why))
    as_written = _graphs(reference, ours, domains, Scene.AS_WRITTEN)
    if _isomorphic(*as_written):  # then both goals imply the same
        return _proof(ours, *as_written)
    reference, ours, is_proof = _reading_the_same(reference, ours, domains)
    undecided = next((each for each in (ours.closure, reference.closure) if isinstance(each, Undecided)), None)
    if undecided is not None:
        is_open = _isomorphic(*_graphs(reference, ours, domains, Scene.INIT))
        return TaskDecision(None, undecided.reason) if is_open else _NO
    if isinstance(ours.closure, Unsolvable):
        return TaskDecision(False, ours.closure.reason)
    scenes = (Scene.INIT, Scene.CLOSED_GOAL) if is_placeholder else (Scene.CLOSED,)
    closed = _graphs(reference, ours, domains, *scenes)
    if _isomorphic(*closed):
        return _proof(ours, *closed)
    return _NO if is_proof else TaskDecision(None, "another renaming of the domains may compare other numbers")


_SETS = ("init", "goal", "goal not", "goal possible")
"""The labels of sets of atoms in a scene; others are those of numbers and of states."""

_SPARE = " "
"""How the name of a constant begins that only the reference has: no text has a name with a blank."""

_NO = TaskDecision(False, "no renaming of the domains makes the problems equivalent")


def _in_its_domain(generated: Problem, domain: Domain, renaming: Renaming, reference: Task) -> Task:
    """The generated problem in its own domain, which is decided by the reference's rules where that has any.

    Of constants that neither an operator nor an atom of the problem names it gets as many as the reference has.
    """
    assert reference.domain is not None
    known = reference.domain.domain
    old_types = {new: old for old, new in renaming.types.items()}

    def here(type_: str) -> str:
        return next((old_types[each] for each in known.ancestors(type_) if each in old_types), ROOT_TYPE)

    spare = known.constants.keys() - {*_mentioned(known, reference.problem), *renaming.constants.values()}
    constants = {name: type_ for name, type_ in domain.constants.items() if name in renaming.constants}
    constants |= _mentioned(domain, generated)
    constants |= {f"{_SPARE}{name}": here(known.constants[name]) for name in sorted(spare)}
    if constants != domain.constants:
        domain = replace(domain, constants=constants)
    rules = reference.domain.rules
    return Task(generated, PlanningDomain(domain, rules and renamed_rules(rules, domain, renaming)))


def _reading_the_same(reference: Task, ours: Task, domains: DomainDecision) -> tuple[Task, Task, bool]:
    """The tasks with goal states that have values of the same functions, and whether a no is then a proof."""
    closed, wanted = ours.closed_goal, reference.closed_goal
    if not (isinstance(closed, ClosedGoal) and isinstance(wanted, ClosedGoal) and closed.states and wanted.states):
        return reference, ours, True
    assert domains.renaming is not None and domains.structures is not None
    new = {old: new for (old, _), (new, _) in domains.renaming.functions.items()}
    read = wanted.read | {new.get(name, name) for name in closed.read}
    if not read:
        return reference, ours, True
    old = {name: each for each, name in new.items()}
    ours = ours.reading(frozenset(old.get(name, name) for name in read))
    # Another renaming would make other functions of those that the generated goal reads.
    return reference.reading(read), ours, domains.structures[1].graph.labelled.is_rigid


def _graphs(reference: Task, ours: Task, domains: DomainDecision, *scenes: Scene) -> tuple[DomainGraph, DomainGraph]:
    """Of the generated task and of the reference, the domain joined with these scenes, each over its own objects."""
    assert domains.structures is not None
    theirs, here = domains.structures
    return _graph(ours, here.domain, scenes), _graph(reference, theirs.domain, scenes)


def _graph(task: Task, used: Domain, scenes: Iterable[Scene]) -> DomainGraph:
    """``used`` is what counts of the task's domain."""
    assert task.domain is not None
    problem, closed = task.problem, task.closed_goal
    graph = DomainGraph(replace(used, constants=task.domain.domain.constants))
    # What is derived and used nowhere follows from the rest.
    unused = derived_predicates(task.domain.domain) - derived_predicates(used)

    def counting(atoms: State) -> State:
        return frozenset(atom for atom in atoms if (atom[0], len(atom) - 1) not in unused)

    for scene in scenes:
        said = task.atoms(scene)
        numbers = {label: said[label] for label in said.keys() & task.numbers.keys() - {"metric", LATER}}
        sections = {":init", ":goal", ":constraints"} if scene is Scene.AS_WRITTEN else {":init"}
        formulas = [each for each in problem.formulas if each[0] in sections]
        if "metric" in said and problem.metric is not None:  # one that is no sum
            formulas.append((str(problem.metric[0]), problem.metric[1]))
        listed = closed.states if isinstance(closed, ClosedGoal) and scene in (Scene.CLOSED, Scene.CLOSED_GOAL) else ()
        states = [(counting(atoms), values) for atoms, values in listed or ()]
        sets = {label: counting(said[label]) for label in _SETS if label in said}
        if scene is Scene.CLOSED and isinstance(closed, ClosedGoal):
            sets["goal"] = counting(closed.true)  # also what is static: by name it may be so in one domain only
        graph.add_scene(scene.value, problem.objects, sets, numbers, formulas, states)
    return graph


def _isomorphic(ours: DomainGraph, theirs: DomainGraph) -> bool:
    return ours.says_the_same(theirs) or isomorphic(ours.labelled, theirs.labelled)


def _proof(task: Task, ours: DomainGraph, theirs: DomainGraph) -> TaskDecision:
    """The yes that two isomorphic graphs prove."""
    found, image = renaming_between(ours, theirs), isomorphism(ours, theirs)
    constants = {name: new for name, new in found.constants.items() if not name.startswith(_SPARE)}
    # An object that operators name is a constant of the renaming.
    names = {name: new for name, new in constants.items() if name in task.problem.objects}
    names |= {old[2]: new[2] for old, new in image.items() if old[0] == "object" and old[1] != Scene.CLOSED_GOAL}
    return TaskDecision(True, "the same problem in other words", replace(found, constants=constants), names)


def _asks_for_more(domain: Domain, structure: DomainStructure, problem: Problem) -> bool:
    """True where a problem uses a derived predicate that is not in the domain's structure, for no operator uses it."""
    left_out = derived_predicates(domain) - derived_predicates(structure.domain)
    names = {name for name, _ in left_out}
    said = not names.isdisjoint(words_of(problem.conjuncts))
    return said or any((atom[0], len(atom) - 1) in left_out for atom in problem.init | problem.goal)


def _mentioned(domain: Domain, problem: Problem) -> dict[str, str]:
    """The declared constants that a problem mentions, with their types."""
    terms = {*words_of(problem.conjuncts), *words_of((*problem.init, *problem.goal, *problem.values))}
    return {name: type_ for name, type_ in domain.constants.items() if name in terms}
