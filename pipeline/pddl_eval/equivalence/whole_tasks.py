"""Are a generated domain and problem together the reference's task, in whatever words?

Some renaming that makes the domains equivalent has to make the problems equivalent. The generated problem is read in
the reference's words first, where the ordinary decision may find a yes. If not, another renaming of the same domains
may fit better: the graphs of both domains with the scenes of both problems joined to them decide.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, replace

from pddl_eval.budget import attempt
from pddl_eval.canonical import isomorphic
from pddl_eval.equivalence.decide import decide
from pddl_eval.equivalence.domains import DomainDecision
from pddl_eval.equivalence.task import Task
from pddl_eval.model import ROOT_TYPE, Domain, Problem, State, renamed
from pddl_eval.parsing import Unreadable
from pddl_eval.structure import DomainGraph, Renaming, object_map, renaming_between
from pddl_eval.verdict import Undecided, Unsolvable


@dataclass(frozen=True, slots=True)
class TaskDecision:
    """Whether a generated task is the reference's (None: not decided), and why not, in words.

    ``renaming`` and ``object_map`` (generated → reference) prove a yes; in placeholder mode ``object_map`` maps the
    initial states.
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
    if domains.renaming is None:
        return TaskDecision(domains.equivalent, f"the domains: {domains.detail}")
    if isinstance(generated, Unreadable):
        return TaskDecision(False, generated.detail)
    if generated.domain not in (generated_domain.name, reference.problem.domain):
        return TaskDecision(False, f"the problem is one of {generated.domain}, not of {generated_domain.name}")
    found = attempt(lambda: _decide(domains.renaming, reference, generated_domain, generated, is_placeholder))
    return TaskDecision(None, found.reason) if isinstance(found, Undecided) else found


def _decide(
    renaming: Renaming | None, reference: Task, domain: Domain, generated: Problem, is_placeholder: bool
) -> TaskDecision:
    assert renaming is not None and reference.domain is not None
    known, used = reference.domain.domain, renaming.constants
    # Constants that no operator uses are objects where the problem mentions them; otherwise they do not count.
    expected = _those(known.constants, _mentioned(reference.problem))
    asked = _those(known.constants, set(used.values()))
    objects = _those(domain.constants, _mentioned(generated))
    objects |= {name: type_ for name, type_ in generated.objects.items() if name not in domain.constants}
    # None of them is taken for a constant of the reference.
    own = {name: f"{name} " if name in known.constants else name for name in objects if name not in used}
    written = replace(
        generated,
        domain=reference.problem.domain,
        objects={name: objects[old] for old, name in own.items()},
        init=renamed(generated.init, own),
        goal=renamed(generated.goal, own),
    )
    here = reference.domain
    if (asked | expected).keys() != known.constants.keys():
        reference = Task(reference.problem, replace(here, domain=replace(known, constants=asked | expected)))
    if asked.keys() != known.constants.keys():
        here = replace(here, domain=replace(known, constants=asked))
    task = Task(renaming.problem(written, domain), here)
    decision = decide(reference, task, is_placeholder)
    if not isinstance(reference.closure, frozenset):  # a mistake in the data, or undecided
        return TaskDecision(decision.equivalent, decision.detail)
    plain = expected.keys() <= asked.keys() and used.keys() >= domain.constants.keys() & objects.keys()
    if decision.equivalent and plain and all(type_ in {*renaming.types, ROOT_TYPE} for type_ in objects.values()):
        names = {name.rstrip(): new for name, new in (decision.object_map or {}).items()}
        return TaskDecision(True, decision.detail, renaming, names)
    if isinstance(task.closure, Unsolvable):
        return TaskDecision(False, task.closure.reason)
    if isinstance(task.closure, Undecided):
        return TaskDecision(None, task.closure.reason)
    closure = renamed(renaming.inverse.atoms(task.closure), {new: name for name, new in own.items()})
    theirs = _graph(known, reference.problem, reference.closure, is_placeholder)
    ours = _graph(domain, generated, closure, is_placeholder)
    if not isomorphic(ours.labelled, theirs.labelled):
        return TaskDecision(False, decision.detail or "no renaming of the domains makes the problems equivalent")
    names = object_map(ours, theirs, "init")
    return TaskDecision(True, "the same problem in other words", renaming_between(ours, theirs), names)


def _those(constants: Mapping[str, str], names: Set[str]) -> dict[str, str]:
    return {name: type_ for name, type_ in constants.items() if name in names}


def _mentioned(problem: Problem) -> set[str]:
    return {term for atom in problem.init | problem.goal for term in atom[1:]}


def _graph(domain: Domain, problem: Problem, closure: State, is_placeholder: bool) -> DomainGraph:
    """The domain with the initial state and the closed goal, over the same objects unless ``is_placeholder``."""
    graph = DomainGraph(domain)
    if is_placeholder:
        graph.add_scene("init", problem.objects, {"init": problem.init})
        graph.add_scene("goal", problem.objects, {"goal": closure})
    else:
        graph.add_scene("init", problem.objects, {"init": problem.init, "goal": closure})
    return graph
