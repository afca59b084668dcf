"""Are a generated domain and problem together the reference's task, in other words?

Some renaming that makes the domains equivalent has to make the problems equivalent. The generated problem is read in
the reference's words first, where the ordinary decision may find a yes. Its no proves nothing: another renaming of the
same domains may fit better. The graphs of both domains with the scenes of both problems joined to them decide, with
the goals as written or fully specified; where no goal could be, a yes or another initial state is still a proof.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from pddl_eval.definition.budget import or_undecided
from pddl_eval.definition.canonical import isomorphic
from pddl_eval.definition.comparison import decided
from pddl_eval.definition.domain_equivalence import DomainDecision
from pddl_eval.definition.model import (
    ARITHMETIC,
    COMPARISONS,
    CONNECTIVES,
    NUMBER,
    QUANTIFIERS,
    ROOT_TYPE,
    Domain,
    Problem,
    State,
    renamed,
    words_of,
)
from pddl_eval.definition.pddl import Unreadable
from pddl_eval.definition.scenes import renamed_formula
from pddl_eval.definition.structure import (
    DomainGraph,
    DomainStructure,
    Renaming,
    counted,
    derived_predicates,
    isomorphism,
    renaming_between,
)
from pddl_eval.definition.task import Task
from pddl_eval.definition.verdict import DomainVerdict, Undecided, Unsolvable, Verdict
from pddl_eval.definition.wording import sentence


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
    same_rules = domains.verdict == DomainVerdict.IDENTICAL and known.formulas == generated_domain.formulas
    sides = zip((known, generated_domain), domains.structures, (reference.problem, generated), strict=True)
    if not same_rules and any(_asks_for_more(*side) for side in sides):
        return TaskDecision(None, "the problems use a derived predicate that no operator uses")
    renaming = domains.renaming
    if not (reference.problem.is_strips and generated.is_strips):
        # Formulas and numbers are compared under one renaming only.
        if same_rules:
            in_words = Task(replace(generated, domain=reference.problem.domain), reference.domain)
            decision = decided(reference, in_words, is_placeholder)
            if decision.equivalent:
                return TaskDecision(True, sentence(decision.difference), renaming, decision.object_map)
        proof = or_undecided(lambda: _beyond_strips(domains, reference, generated_domain, generated, is_placeholder))
        no_proof = TaskDecision(None, "one renaming of the domains does not decide problems beyond STRIPS")
        return proof if isinstance(proof, TaskDecision) else no_proof
    found = or_undecided(lambda: _decide(renaming, reference, generated_domain, generated, is_placeholder))
    return TaskDecision(None, found.reason) if isinstance(found, Undecided) else found


@dataclass(frozen=True, slots=True)
class _Translated:
    """The generated problem in the reference's words, under one renaming of the domains."""

    task: Task
    own: Mapping[str, str]
    """The objects that the renaming does not map, each with its name in the task: none is taken for a constant."""
    names: Mapping[str, str]
    """All objects, each with its name in the task."""
    same_constants: bool
    """True where both problems have the same constants under every renaming of the domains."""
    types: frozenset[str]
    """The types of the objects and of the constants that the problem mentions."""


@dataclass(frozen=True, slots=True)
class _Sides:
    """Both domains with their problems.

    ``spare`` are the reference's constants that neither an operator nor its problem mentions, with their types; the
    generated domain gets as many (``spare_here``).
    """

    domain: Domain
    generated: Problem
    known: Domain
    reference: Problem
    spare: Mapping[str, str]
    spare_here: Mapping[str, str]

    def graphs(self, ours: State, theirs: State, apart: bool = False) -> tuple[DomainGraph, DomainGraph]:
        """The domains, the initial states and these goals, each over objects of its own if ``apart``."""
        return (
            _graph(self.domain, self.spare_here, self.generated, ours, apart),
            _graph(self.known, self.spare, self.reference, theirs, apart),
        )

    def proof(self, ours: DomainGraph, theirs: DomainGraph) -> TaskDecision:
        """The yes that two isomorphic graphs prove."""
        found = renaming_between(ours, theirs)
        constants = {name: new for name, new in found.constants.items() if name not in self.spare_here}
        # An object that operators name is a constant of the renaming; a declared constant is no object.
        objects = self.generated.objects.keys() - self.domain.constants.keys()
        names = {name: new for name, new in constants.items() if name in objects}
        image = isomorphism(ours, theirs)
        names |= {old[2]: new[2] for old, new in image.items() if old[:2] == ("object", "init")}
        return TaskDecision(True, "the same problem in other words", replace(found, constants=constants), names)


def _decide(
    renaming: Renaming, reference: Task, domain: Domain, generated: Problem, is_placeholder: bool
) -> TaskDecision:
    ours = _translated(renaming, reference, domain, generated)
    decision = decided(reference, ours.task, is_placeholder)
    detail = sentence(decision.difference)
    if isinstance(reference.closure, Unsolvable):  # a mistake in the data
        return TaskDecision(None, detail)
    # Two types that the renaming does not tell apart are one in the reference's words.
    if decision.object_map is not None and ours.same_constants and ours.types <= {*renaming.types, ROOT_TYPE}:
        names = {name: decision.object_map[new] for name, new in ours.names.items()}
        return TaskDecision(True, detail, renaming, names)

    sides = _sides(renaming, reference, domain, generated)
    as_written = sides.graphs(generated.goal, reference.problem.goal)
    if _isomorphic(*as_written):  # then both goals imply the same
        return sides.proof(*as_written)
    if isinstance(reference.closure, frozenset) and isinstance(ours.task.closure, frozenset):
        back = {new: name for name, new in ours.own.items()} | {name: _nobodys(name) for name in sides.spare}
        closure = renamed(renaming.inverse.atoms(ours.task.closure), back)
        closed = sides.graphs(closure, reference.closure, is_placeholder)
        if _isomorphic(*closed):
            return sides.proof(*closed)
    elif isinstance(ours.task.closure, Unsolvable) and isinstance(reference.closure, frozenset):
        return TaskDecision(False, ours.task.closure.reason)
    else:  # the no of one renaming proves nothing of the others
        if _isomorphic(*sides.graphs(frozenset(), frozenset())):
            undecided = ours.task.closure if isinstance(ours.task.closure, Undecided) else reference.closure
            assert isinstance(undecided, Undecided)
            return TaskDecision(None, undecided.reason)
    no = "no renaming of the domains makes the problems equivalent"
    return TaskDecision(False, no if decision.equivalent is not False else detail)


def _beyond_strips(
    domains: DomainDecision, reference: Task, domain: Domain, generated: Problem, is_placeholder: bool
) -> TaskDecision | None:
    """What one renaming of the domains proves: a yes, or a no where there is no other."""
    assert domains.renaming is not None and domains.structures is not None and reference.domain is not None
    renaming, known = domains.renaming, reference.domain.domain
    if domain.constants.keys() - renaming.constants or known.constants.keys() - {*renaming.constants.values()}:
        return None  # Quantifiers range over what no operator names, too.
    try:
        ours = _translated(renaming, reference, domain, generated)
    except KeyError:  # The problem uses what no operator does.
        return None
    decision = decided(reference, ours.task, is_placeholder)
    if not ours.same_constants or not ours.types <= {*renaming.types, ROOT_TYPE}:
        return None
    if decision.object_map is not None:
        names = {name: decision.object_map[new] for name, new in ours.names.items()}
        return TaskDecision(True, sentence(decision.difference), renaming, names)
    sides = (renaming, generated), (renaming.inverse, reference.problem)
    is_proof = decision.equivalent is False and all(_names_only(*side) for side in sides)
    is_proof = is_proof and domains.structures[1].graph.labelled.is_rigid
    return TaskDecision(False, sentence(decision.difference)) if is_proof else None


def _names_only(renaming: Renaming, problem: Problem) -> bool:
    """True where a problem says nothing but with words that the renaming maps: another one would be of the domains."""
    symbols = {*renaming.predicates, *renaming.functions}
    if not {(atom[0], len(atom) - 1) for atom in problem.init | problem.goal} <= symbols:
        return False
    of_formulas = CONNECTIVES | QUANTIFIERS | COMPARISONS | ARITHMETIC | {"-", "either", ROOT_TYPE}
    names = {*of_formulas, *(name for name, _ in symbols), *renaming.types, *renaming.constants, *problem.objects}
    return all(word in names or word[0] == "?" or NUMBER.fullmatch(word) for word in words_of(problem.conjuncts))


def _translated(renaming: Renaming, reference: Task, domain: Domain, generated: Problem) -> _Translated:
    assert reference.domain is not None
    known, used = reference.domain.domain, renaming.constants
    # Constants that no operator uses are objects where the problem mentions them; otherwise both problems have those of
    # the reference.
    as_objects = _mentioned_constants(known, reference.problem).keys() - set(used.values())
    constants = {name: type_ for name, type_ in known.constants.items() if name not in as_objects}
    here = replace(reference.domain, domain=replace(known, constants=constants)) if as_objects else reference.domain
    mentioned = _mentioned_constants(domain, generated)
    objects = mentioned | {name: type_ for name, type_ in generated.objects.items() if name not in domain.constants}
    taken = {*known.constants, *used.values()}
    own = {name: f"{name} " if name in taken else name for name in objects if name not in used}
    types = {**generated.objects, **domain.constants}
    # What operators name and only the problem declares is a constant for the renaming and an object here.
    words = own | {name: name for name in types if name in used and used[name] not in known.constants}
    written = replace(
        generated,
        domain=reference.problem.domain,
        objects={new: types[name] for name, new in words.items()},
        init=renamed(generated.init, own),
        goal=renamed(generated.goal, own),
        values={(name, *(own.get(term, term) for term in terms)): v for (name, *terms), v in generated.values.items()},
        formulas=tuple((section, renamed_formula(formula, own)) for section, formula in generated.formulas),
    )
    return _Translated(
        Task(renaming.problem(written, domain), here),
        own,
        {name: used.get(name, new) for name, new in words.items()},
        not as_objects
        and used.keys() >= mentioned.keys()
        and all((name in domain.constants) == (new in known.constants) for name, new in used.items()),
        frozenset(objects.values()),
    )


def _sides(renaming: Renaming, reference: Task, domain: Domain, generated: Problem) -> _Sides:
    assert reference.domain is not None
    known = reference.domain.domain
    mentioned = {*_mentioned_constants(known, reference.problem), *renaming.constants.values()}
    spare = known.constants.keys() - mentioned
    old_types = {new: old for old, new in renaming.types.items()}
    types = {
        name: next(filter(old_types.get, known.ancestors(type_)), ROOT_TYPE)
        for name, type_ in known.constants.items()
        if name in spare
    }
    here = {_nobodys(name): old_types.get(type_, ROOT_TYPE) for name, type_ in types.items()}
    return _Sides(domain, generated, known, reference.problem, types, here)


def _nobodys(name: str) -> str:
    """What a spare constant is called on the generated side: no text has a name with a blank."""
    return f" {name}"


def _graph(domain: Domain, spare: Mapping[str, str], problem: Problem, closure: State, apart: bool) -> DomainGraph:
    """The domain and the initial state with the closed goal, each over objects of its own if ``apart``."""
    used = counted(replace(domain, constants={**domain.constants, **spare}))
    graph = DomainGraph(used)
    # What is derived and used nowhere follows from the rest.
    unused = derived_predicates(domain) - derived_predicates(used)
    goal = {"goal": frozenset(atom for atom in closure if (atom[0], len(atom) - 1) not in unused)}
    graph.add_scene("init", problem.objects, {"init": problem.init} | ({} if apart else goal))
    if apart:
        graph.add_scene("goal", problem.objects, goal)
    return graph


def _isomorphic(ours: DomainGraph, theirs: DomainGraph) -> bool:
    return isomorphic(ours.labelled, theirs.labelled)


def _asks_for_more(domain: Domain, structure: DomainStructure, problem: Problem) -> bool:
    """True where a problem uses a derived predicate that is not in the domain's structure, for no operator uses it."""
    left_out = derived_predicates(domain) - derived_predicates(structure.domain)
    names = {name for name, _ in left_out}
    said = not names.isdisjoint(words_of(problem.conjuncts))
    return said or any((atom[0], len(atom) - 1) in left_out for atom in problem.init | problem.goal)


def _mentioned_constants(domain: Domain, problem: Problem) -> dict[str, str]:
    """The declared constants that a problem mentions, with their types."""
    terms = {term for atom in problem.init | problem.goal for term in atom[1:]}
    return {name: type_ for name, type_ in domain.constants.items() if name in terms}
