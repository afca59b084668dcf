"""What is wrong with an answer, where, and what would mend it: one list of findings for all that tell of them.

An answer is held against what its prompt may say (a domain, a problem to solve) and against itself: no reference comes
in there, so nothing that is found can give one away. Apart from that it is compared with its reference, where there is
one. ``scoring.feedback`` finds the places in the answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice, zip_longest

from pddl_eval import kernel
from pddl_eval.definition import words
from pddl_eval.definition.budget import OutOfBudgetError, or_undecided, spend
from pddl_eval.definition.comparison import read_alone
from pddl_eval.definition.domains import PlanningDomain, chosen_domain, known_domain, nothing_known_of
from pddl_eval.definition.formulas import World
from pddl_eval.definition.grounding import (
    Binding,
    Fitting,
    GroundingLimitError,
    objects_that_fit,
    reachable_operators,
    unify,
)
from pddl_eval.definition.metrics import DomainPair, given, operators_of, verdict_without_plan
from pddl_eval.definition.model import (
    EQUALITY,
    ROOT_TYPE,
    Action,
    Atom,
    Domain,
    Formula,
    Operator,
    Problem,
    State,
    show_atom,
    show_formula,
    words_of,
)
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.definition.pddl import (
    DEFINE_DOMAIN,
    DEFINE_PROBLEM,
    DomainError,
    Unreadable,
    has_several_domains,
    has_several_problems,
    not_executed,
    note_on_drafts,
    parse_domain,
    pddl_text,
    read_any_problem,
    read_problem,
    says_nothing,
    too_long,
)
from pddl_eval.definition.plans import Step, actions_of, read_plan
from pddl_eval.definition.task import Task, executed_in
from pddl_eval.definition.validation import Failure, operator_of
from pddl_eval.definition.verdict import (
    DomainVerdict,
    Judgement,
    NamedVerdict,
    PlanVerdict,
    Undecided,
    Unsolvable,
    Verdict,
)
from pddl_eval.errors import UserError, did_you_mean
from pddl_eval.scoring.budget import row_budget
from pddl_eval.scoring.plans import validate_in
from pddl_eval.shown import listed

MAX_ISSUES = 20

MOST_NAMES = 8
"""Names in one sentence."""

MOST_KNOWN, MOST_CHARACTERS = 300, 60
"""Names, and characters of a name, among which the one that was meant is looked for."""


class Check(NamedVerdict):
    """What can be wrong with an answer by itself, beside the verdicts; ``meaning`` says it in a few words.

    >>> Check.WRONG_TYPE.meaning, Check.EMPTY_GOAL.is_error
    ('an argument of another type', False)
    """

    PARENTHESES = ("parentheses", "parentheses that do not match")
    UNKNOWN_DOMAIN = ("unknown_domain", "a domain of which nothing is known")
    UNDECLARED_OBJECT = ("undeclared_object", "an object that is not declared")
    UNDECLARED_PREDICATE = ("undeclared_predicate", "a predicate that is not declared")
    UNDECLARED_TYPE = ("undeclared_type", "a type that is not declared")
    WRONG_NUMBER = ("wrong_number", "another number of arguments")
    WRONG_TYPE = ("wrong_type", "an argument of another type")
    NOT_EXECUTED = ("not_executed", "an operator with what is not declared or not executed")
    NO_OPERATORS = ("no_operators", "a domain without operators")
    CONTRADICTION = ("contradiction", "a condition and its negation")
    NEVER_APPLICABLE = ("never_applicable", "an operator that can never be applied")
    NO_EFFECT = ("no_effect", "an operator that changes nothing")
    UNUSED = ("unused", "a parameter that is not used")
    EMPTY_GOAL = ("empty_goal", "a goal that asks for nothing")
    GOAL_HOLDS = ("goal_holds", "a goal that holds from the start")
    PLAN_DIFFERS = ("plan_differs", "another plan")
    SEVERAL_DRAFTS = ("several_drafts", "several drafts, of which one was read")

    @property
    def is_error(self) -> bool:
        """False for what is suspicious and need not be wrong."""
        return self not in (
            *(Check.NEVER_APPLICABLE, Check.NO_EFFECT, Check.UNUSED, Check.EMPTY_GOAL),
            *(Check.GOAL_HOLDS, Check.SEVERAL_DRAFTS, Check.UNKNOWN_DOMAIN),
        )


Kind = Check | Verdict | PlanVerdict | DomainVerdict | Judgement


@dataclass(frozen=True, slots=True)
class Issue:
    """Something wrong with an answer.

    ``check`` names what was checked (the names are in the table of checks and verdicts). ``says`` is what is wrong,
    ``advice`` what would be right. ``words`` are those concerned, as PDDL writes them, in the part ``within``
    (``:goal``, ``:action lift``) of the answer. Those of a plan are an action; ``nth`` says which of several equal
    ones, from the end where it is negative. ``line`` and ``column`` count from 1 in the answer, None for what is
    missing there.
    """

    check: Kind
    says: str
    advice: str = ""
    words: str = ""
    within: str = ""
    nth: int = 0
    line: int | None = None
    column: int | None = None

    @property
    def is_error(self) -> bool:
        return not isinstance(self.check, Check) or self.check.is_error

    @property
    def severity(self) -> str:
        """``error``, or ``warning`` for what is suspicious and need not be wrong."""
        return "error" if self.is_error else "warning"


def findings(  # noqa: PLR0913 (what an answer is held against)
    kind: str,
    answer: str | None,
    reference: str | None,
    problem: str | None,
    domain: str | None,
    compared_in: str | None,
    is_placeholder: bool,
    draft: str,
    seconds: float,
) -> tuple[list[Issue], Issue | None]:
    """The faults of an answer by itself, in the ``domain`` that its prompt says, and what differs from the reference.

    A plan for a ``problem`` is not compared. The comparison is made in a domain that may be secret. Each of the two has
    that many seconds of processor time.
    """
    sources: Mapping[str, Callable[[], Iterable[Issue]]] = {
        "problem": lambda: problem_faults(answer, ScoringOptions(domain=domain, answer=draft, row_seconds=seconds)),
        "plan": lambda: plan_faults(answer, executed_in(problem, domain), draft) if problem is not None else (),
        "domain": lambda: domain_faults(answer, problem, draft),
    }
    if long := too_long(answer or ""):
        faults = [Issue(_UNREAD_KIND[kind], long)]
    else:
        with row_budget(seconds):
            faults = _bounded(sources[kind]())
    if kind == "plan" and problem is None and not given(reference):
        raise UserError("a plan needs the problem that it has to solve, or a reference")
    if not given(reference) or (kind == "plan" and problem is not None):
        return faults, None
    with row_budget(seconds):
        return faults, _COMPARED[kind](str(reference), answer, compared_in, is_placeholder, draft)


_UNREAD_KIND: Mapping[str, Kind] = {
    "problem": Verdict.UNPARSEABLE,
    "plan": PlanVerdict.UNREADABLE,
    "domain": DomainVerdict.UNPARSEABLE,
}


def _bounded(faults: Iterable[Issue]) -> list[Issue]:
    """The first errors and the first warnings: many warnings hide no error. Where the budget ends, it says so."""
    found: list[Issue] = []
    counts = {True: 0, False: 0}
    try:
        for fault in faults:
            counts[fault.is_error] += 1
            found += [fault] if counts[fault.is_error] <= MAX_ISSUES else []
            if counts[True] == MAX_ISSUES:
                break
    except OutOfBudgetError as end:
        found.append(Issue(Verdict.UNDECIDED, str(end)))
    return found


# Problems


def problem_faults(answer: str | None, options: ScoringOptions) -> Iterator[Issue]:
    """The faults of a raw answer with a problem, of the options' domain, else of the one that it names.

    >>> text = "(define (problem p) (:domain gripper) (:objects b) (:init (ball b)) (:goal (and (carry b g))))"
    >>> [(fault.check.value, fault.words) for fault in problem_faults(text, ScoringOptions()) if fault.is_error]
    [('undeclared_object', '(carry b g)')]
    """
    given, draft = chosen_domain(options.domain) if options.domain else None, options.answer
    if has_several_problems(answer):
        yield _drafts(draft)
    domain = given.domain if given else None
    constants = frozenset(domain.constants if domain else ())
    read = read_problem if given is None or given.is_strips else partial(read_any_problem, strips_first=False)
    problem = read(answer, constants, answer=draft)
    if isinstance(problem, Unreadable) and problem.verdict is Verdict.INVALID_ATOM and answer:
        words = answer.lower().replace("(", " ").replace(")", " ").split()
        problem = read(answer, words, answer=draft)  # any word is an object, to see what else is wrong
    if isinstance(problem, Unreadable):
        unread = Issue(problem.verdict, problem.detail, _UNREAD.get(problem.verdict, ""))
        yield next(parentheses_faults(answer or "", DEFINE_PROBLEM, draft), unread)
        return
    known = given or known_domain(problem.domain)
    if known is None:
        yield Issue(Check.UNKNOWN_DOMAIN, nothing_known_of(problem.domain), words=problem.domain, within=":domain")
    elif given and problem.domain != given.name and known_domain(problem.domain) is not given:
        says = f"the problem is one of the domain {problem.domain}, not of {given.name}"
        yield Issue(Verdict.DOMAIN_MISMATCH, says, f"write (:domain {given.name})", problem.domain, ":domain")
    found = False
    for fault in vocabulary_faults(problem, known.domain if known else None, constants):
        found = True
        yield fault
    if not problem.goal:
        yield Issue(Check.EMPTY_GOAL, "the goal asks for nothing: every state has it", within=":goal")
    elif problem.goal <= problem.init:
        yield Issue(Check.GOAL_HOLDS, "the goal holds in the initial state: there is nothing to do", within=":goal")
    if known is not None and not found and not _has_plan(answer, options):
        # An operator without use is no fault of a problem that can be solved, and looking for it takes a grounding.
        task, advice = Task(problem, known), "change :init or the goal so that a plan reaches it"
        yield from reachability_faults(task, advice, of_others=False)


def _has_plan(answer: str | None, options: ScoringOptions) -> bool:
    """Whether the kernel finds a plan for the problem of an answer, as its own reference."""
    row = {"reference_problem": answer, "generated_problem": answer}
    (found,) = kernel.score_rows("problem", [row], options, certificates=False) or [None]
    return found is not None and found["solvable"] is True


_UNREAD = {
    Verdict.EMPTY: "answer with one block `(define (problem …) …)`",
    Verdict.UNPARSEABLE: "write (define (problem …) (:domain …) (:objects …) (:init …) (:goal (and …))) in this order",
    Verdict.NOT_STRIPS: "list what is true in :init, and what has to be true in the goal, as atoms alone",
}


def vocabulary_faults(problem: Problem, domain: Domain | None, constants: Iterable[str] = ()) -> Iterator[Issue]:
    """What a problem names that nobody declares, and atoms that the domain's declarations do not admit.

    >>> from pddl_eval.definition.domains import known_domain
    >>> problem = Problem("p", "gripper", {"b": "object"}, frozenset({("bal", "b")}), frozenset({("free", "b", "b")}))
    >>> [fault.says for fault in vocabulary_faults(problem, known_domain("gripper").domain)]
    ['the domain declares no predicate bal', 'free takes 1 argument, not 2']
    """
    types = {**problem.objects, **(domain.constants if domain else {}), **dict.fromkeys(constants, ROOT_TYPE)}
    if domain and domain.types:
        for name, type_ in problem.objects.items():
            if type_ != ROOT_TYPE and type_ not in domain.types:
                advice = _meant(type_, domain.types, "types")
                yield Issue(Check.UNDECLARED_TYPE, f"{name} is of type {type_}", advice, type_, ":objects")
    named: set[str] = set()
    for within, atoms in ((":init", problem.init), (":goal", problem.goal)):
        for atom in sorted(atoms):
            for name in dict.fromkeys(atom[1:]):
                if name not in types and name not in named:
                    named.add(name)
                    says = words.undeclared(atom, within.replace(":goal", "the goal"), name)
                    known = f", or name one of them: {_meant(name, types, 'objects')}" if types else ""
                    advice = f"declare {name}{_wanted(atom, name, domain)} in :objects{known}"
                    yield Issue(Check.UNDECLARED_OBJECT, says, advice, show_atom(atom), within)
            if domain and domain.predicates and (fault := _refused(atom, types, domain, within)):
                yield fault


def _wanted(atom: Atom, name: str, domain: Domain | None) -> str:
    """The type that the predicate's declaration asks of an object, as it is written; empty where any will do."""
    declared = domain.predicates.get(atom[0], ()) if domain else ()
    types = dict(zip(atom[1:], declared, strict=False)).get(name, (ROOT_TYPE,))
    return "" if types == (ROOT_TYPE,) else f" - {types[0]}"


def _refused(atom: Atom, types: Mapping[str, str], domain: Domain, within: str) -> Issue | None:
    """Why the declarations do not admit an atom, and what they have."""
    why = domain.why_not(atom, types)
    if why is None:
        return None
    declared = domain.predicates.get(atom[0])
    if declared is None:
        return Issue(
            *(Check.UNDECLARED_PREDICATE, why, _meant(atom[0], domain.predicates, "predicates")),
            *(show_atom(atom), within),
        )
    listing = " ".join(f"?x{number} - {' or '.join(wanted)}" for number, wanted in enumerate(declared, 1))
    kind = Check.WRONG_TYPE if len(declared) == len(atom) - 1 else Check.WRONG_NUMBER
    return Issue(kind, why, f"it is declared as {show_atom((atom[0], *listing.split()))}", show_atom(atom), within)


def reachability_faults(task: Task, advice: str, *, of_others: bool = True) -> Iterator[Issue]:
    """Operators that can never be applied in a problem, and a goal that is out of reach, with the reason.

    ``of_others``: also where the goal is not out of reach.
    """
    assert task.domain is not None
    found = read_alone(task)
    undecided = task.plan if found.solvable is None and isinstance(task.plan, Undecided) else None
    if found.verdict is not Verdict.UNSOLVABLE and undecided is None and not of_others:
        return
    never = dict(never_applicable(task.problem, task.domain.domain))
    if found.verdict is Verdict.UNSOLVABLE:
        plan = task.plan
        atoms = plan.atoms if isinstance(plan, Unsolvable) else ()
        atoms = atoms or tuple(atom for atom in sorted(task.problem.goal) if show_atom(atom) in found.detail)
        reasons = [
            f"{operator.name} would add it, but {why}"
            for operator, why in never.items()
            if any(True for atom in atoms for _ in _adds(operator, atom, _fitting(operator, task)))
        ]
        says = "; ".join([found.detail, *reasons])
        yield Issue(Verdict.UNSOLVABLE, says, advice, show_atom(atoms[0]) if atoms else "", ":goal")
    elif undecided is not None:
        yield Issue(Verdict.UNDECIDED, undecided.reason)
    for operator, why in never.items():
        yield Issue(
            Check.NEVER_APPLICABLE, f"{operator.name} can never be applied: {why}", within=f":action {operator.name}"
        )


def never_applicable(problem: Problem, domain: Domain) -> Iterator[tuple[Operator, str]]:
    """Operators that nothing makes applicable in a problem, each with the reason: not even when nothing is deleted.

    >>> lamp = parse_domain('''(define (domain d) (:action switch :precondition (power) :effect (lit))
    ...   (:action read :precondition (lit) :effect (done)))''')
    >>> for operator, why in never_applicable(Problem("p", "d", {}, frozenset(), frozenset()), lamp):
    ...     print(operator.name, "-", why)
    switch - nothing makes (power) true
    read - nothing makes (lit) true
    """
    if domain.outside_strips:  # Formulas may add what operators need.
        return
    objects = {**problem.objects, **domain.constants}
    try:
        applicable = reachable_operators(objects, problem.init, domain)
    except GroundingLimitError:
        return
    true = problem.init.union(*(operator.add_effects for operator in applicable))
    shapes = {(atom[0], len(atom)) for atom in true}
    names = {operator.name for operator in applicable}
    for operator in domain.operators:
        if operator.name in names:
            continue
        for variable, types in operator.parameters:
            if not objects_that_fit(objects, types, domain):
                yield operator, f"there is no object of type {' or '.join(types)} for {variable}"
                break
        else:
            lacking = [atom for atom in sorted(operator.preconditions) if atom[0] != EQUALITY]
            lacking = [atom for atom in lacking if (atom[0], len(atom)) not in shapes]
            shown = " or ".join(map(show_atom, lacking))
            yield operator, f"nothing makes {shown} true" if lacking else "no objects have all that it needs"


def _adds(operator: Operator, atom: Atom, fitting: Fitting, deletes: bool = False) -> Iterator[Binding]:
    """The values of an operator's parameters with which it makes an atom true, or false."""
    for effect in sorted(operator.delete_effects if deletes else operator.add_effects):
        found = unify(effect, atom, {}, fitting) if len(effect) == len(atom) else None
        if found is not None:
            yield found


def _fitting(operator: Operator, task: Task) -> Fitting:
    """The objects that each parameter may stand for."""
    assert task.domain is not None
    domain = task.domain.domain
    objects = {**task.problem.objects, **domain.constants}
    return {name: objects_that_fit(objects, types, domain) for name, types in operator.parameters}


# Plans


def plan_faults(answer: str | None, task: Task | Unreadable, draft: str) -> Iterator[Issue]:
    """The faults of a raw answer with a plan for a task: what cannot be read, what cannot be executed, the goal.

    >>> from pddl_eval.definition.task import task_of
    >>> held = task_of("(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a))"
    ...                     " (:goal (on-table a)))")
    >>> for fault in plan_faults("(pickup a)", held, "first"):
    ...     print(fault.advice)
    (putdown a) adds (arm-empty), and can be done there; (stack ?b ?base) adds (arm-empty)
    (putdown a) adds (clear a), and can be done there; (stack a ?base) adds (clear a); (unstack ?b a) adds (clear a)
    (putdown a) adds (on-table a), and can be done there
    """
    if isinstance(task, Unreadable):
        found = validate_in(task, answer, answer=draft)
        yield Issue(found.verdict, found.detail)
        return
    assert task.domain is not None
    domain = task.domain.domain
    read = read_plan(answer, draft, operators_of(task))
    if read.several:
        yield _drafts(draft)
    for place in read.unread:
        says = f"{place.text!r} cannot be read as a step"
        yield Issue(PlanVerdict.UNREADABLE, says, _written((), task), line=place.line, column=place.column)
    found = validate_in(task, read, answer=draft)
    if found.verdict is PlanVerdict.UNREADABLE and read.unread:
        return
    steps, failed = [sorted(actions_of(step)) for step in read.steps], found.failed_step

    def fault(number: int | None, verdict: PlanVerdict, says: str, advice: str, action: Action = ()) -> Issue:
        words = show_atom(action) if action else ""
        before = sum(action in each for each in steps[: number - 1]) if number and action else 0
        nth = before - sum(action in each for each in steps) if draft == "last" else before
        return Issue(verdict, says, advice, words, nth=nth)

    action = found.failed[0] if found.failed else ()
    there = found.execution.state if found.execution else frozenset()
    for condition, says in zip(found.missing, found.advice, strict=False):
        yield fault(failed, found.verdict, says, _achievers(condition, task, there), action)
    if not found.advice and found.verdict is not PlanVerdict.VALID:
        advice = _written(action, task) if found.verdict in _OF_THE_ANSWER else ""
        yield fault(failed, found.verdict, found.detail, advice, action)
    world = World(task.problem, domain) if failed else None
    for number, action in ((number, each) for number, step in enumerate(steps, 1) for each in step if world):
        why = operator_of(action, world) if world and number != failed else None
        if isinstance(why, Failure) and why.verdict is not PlanVerdict.PRECONDITION:
            yield fault(number, why.verdict, f"step {number} fails: {why.reason}", _written(action, task), action)


_OF_THE_ANSWER = (
    *(PlanVerdict.EMPTY, PlanVerdict.UNREADABLE, PlanVerdict.UNKNOWN_ACTION, PlanVerdict.WRONG_ARGUMENTS),
)
"""Verdicts on what is written, for which it helps to know the actions."""


def _signature(operator: Operator) -> str:
    """An action as it is written, with the types of its parameters.

    >>> _signature(Operator("drive", (("?c", ("car",)), ("?to", ("object",))), *[frozenset()] * 4))
    '(drive ?c - car ?to)'
    """
    typed = [f"{name} - {' or '.join(types)}" * (types != (ROOT_TYPE,)) or name for name, types in operator.parameters]
    return show_atom((operator.name, *typed))


def _written(action: Action, task: Task) -> str:
    """How actions are written, and which object is meant by a name that none has."""
    assert task.domain is not None
    domain, problem = task.domain.domain, task.problem
    known = {**problem.objects, **domain.constants}
    advice = [f"the actions are {listed([_signature(operator) for operator in domain.operators], MOST_NAMES)}"]
    advice += [f"of {name}: {_meant(name, known, 'objects')}" for name in action[1:] if name not in known]
    return "; ".join(advice)


def _achievers(condition: Formula, task: Task, state: State) -> str:
    """Which actions make a condition true, an atom or the negation of one: first those that can be done there."""
    assert task.domain is not None
    is_negated = condition[0] == "not" and len(condition) == 2
    atom = condition[1] if is_negated else condition
    if isinstance(atom, str) or not all(isinstance(word, str) for word in atom):
        return ""
    verb = f"{'deletes' if is_negated else 'adds'} {show_formula(atom)}"
    possible, others = [], []
    true: dict[str, list[Atom]] = {}
    for each in sorted(state):
        true.setdefault(each[0], []).append(each)
    for operator in task.domain.domain.operators:
        fitting = _fitting(operator, task)
        for binding in _adds(operator, atom, fitting, deletes=is_negated):  # type: ignore[arg-type]
            needed = sorted(operator.preconditions, key=lambda each: len(fitting.keys() & {*each} - binding.keys()))
            ground = (operator.renamed(each) for each in _bindings(needed, true, binding, fitting))
            if found := next((each for each in ground if each.applicable(state)), None):
                possible.append(f"{show_atom(found.action)} {verb}, and can be done there")
            else:
                others.append(f"{show_atom(operator.renamed(binding).action)} {verb}")
    return listed(possible + others, MOST_NAMES, "; ")


def _bindings(
    needed: Sequence[Atom], true: Mapping[str, Sequence[Atom]], binding: Binding, fitting: Fitting
) -> Iterator[Binding]:
    """The values of all parameters with which the needed atoms are true."""
    if not needed:
        yield from [binding] * (len(binding) == len(fitting))
        return
    first, *rest = needed
    atoms = true.get(first[0], ())
    spend(len(atoms))
    for atom in atoms:
        found = unify(first, atom, binding, fitting) if len(atom) == len(first) else None
        if found is not None:
            yield from _bindings(rest, true, found, fitting)


# Domains


def domain_faults(answer: str | None, problem: str | None, draft: str) -> Iterator[Issue]:
    """The faults of a raw answer with a domain and, where the prompt has a problem for it, those that show there.

    >>> text = '''(define (domain d) (:predicates (at ?x)) (:action go :parameters (?a ?b)
    ...   :precondition (and (at ?a) (not (at ?a))) :effect (and (at ?a ?b) (at ?c))))'''
    >>> [fault.check.value for fault in domain_faults(text, None, "first")]
    ['not_executed', 'wrong_number', 'contradiction']
    """
    if answer is None or says_nothing(answer):
        yield Issue(DomainVerdict.EMPTY, "there is no answer", "answer with one block `(define (domain …) …)`")
        return
    try:
        domain = parse_domain(answer, draft)
    except DomainError as error:
        advice = "write (define (domain …) (:predicates …) (:action … :parameters (…) :precondition … :effect …))"
        unread = Issue(DomainVerdict.UNPARSEABLE, str(error), advice)
        yield next(parentheses_faults(answer, DEFINE_DOMAIN, draft), unread)
        return
    if has_several_domains(answer):
        yield _drafts(draft)
    if not domain.operators:
        yield Issue(Check.NO_OPERATORS, "the domain has no operators", "write each action as `(:action …)`")
    for note in not_executed(domain):
        name, _, what = note.partition(": ")
        term, _, why = what.partition(" ")
        owner = next((each for each in domain.operators if each.name == name), None)
        known: Iterable[str] = () if owner is None else owner.action[1:] if term.startswith("?") else domain.constants
        advice = _meant(term, known, "parameters") if why.startswith("is not a") and known else ""
        yield Issue(Check.NOT_EXECUTED, note, advice, term, f":action {name}")
    broken = False
    for operator in domain.operators:
        for fault in _operator_faults(operator, domain):
            broken |= fault.is_error
            yield fault
    if problem is not None and not broken:
        found = read_problem(problem, domain.constants)
        if isinstance(found, Problem):
            yield from vocabulary_faults(found, domain)
            task = Task(found, PlanningDomain(domain))
            yield from reachability_faults(task, "change the operators so that the problem can be solved")


def _operator_faults(operator: Operator, domain: Domain) -> Iterator[Issue]:
    """What is wrong with an operator, whatever the problem."""
    within = f":action {operator.name}"
    types = {name: domain.types_of(name)[0] for name in domain.constants}
    for variable, alternatives in operator.parameters:
        types[variable] = alternatives[0]
        for each in alternatives:
            if each != ROOT_TYPE and each not in domain.types:
                says = f"operator {operator.name}: {variable} is of type {each}"
                yield Issue(Check.UNDECLARED_TYPE, says, _meant(each, domain.types, "types"), each, within)
    atoms = frozenset[Atom]().union(*operator.parts)
    for atom in sorted(atoms) if domain.predicates else ():
        if fault := _refused(atom, types, domain, within):
            yield replace(fault, says=f"operator {operator.name}: {show_atom(atom)}: {fault.says}")
    for atom in sorted(operator.preconditions & operator.negative_preconditions):
        says = f"{operator.name} can never be applied: {show_atom(atom)} has to be true and false"
        yield Issue(Check.CONTRADICTION, says, "leave one of the two out", show_atom(atom), within)
    if not operator.add_effects and not operator.delete_effects and not operator.formulas:
        yield Issue(Check.NO_EFFECT, f"{operator.name} changes nothing", "write its :effect", within=within)
    used = {term for atom in atoms for term in atom}.union(*(words_of(formula) for _, formula in operator.formulas))
    for variable, _ in operator.parameters:
        if variable not in used:
            says = f"{operator.name} does not use its parameter {variable}"
            yield Issue(Check.UNUSED, says, words=variable, within=within)


# Both


def parentheses_faults(answer: str, opening: re.Pattern[str], draft: str) -> Iterator[Issue]:
    """Where the parentheses of a block that cannot be read stop to match, as its sections show.

    >>> text = "(define (problem p) (:domain d)\\n(:init (q)\\n(:goal (q)))"
    >>> [(fault.says, fault.line, fault.column) for fault in parentheses_faults(text, DEFINE_PROBLEM, "first")]
    [('(:goal opens inside of (:init', 3, 1)]
    """
    text = bare_text(answer)
    starts = [found.start() for found in opening.finditer(text)]
    if not starts:
        return
    section, closed = "(define", False
    opened: list[str] = []  # the first words of the lists that are open
    whole: set[int] = set()  # depths of those that have all that they can hold
    for mark in _PARENTHESIS.finditer(text, starts[-1 if draft == "last" else 0]):
        if mark[0] != ")":
            word = mark["part"] or f"({mark['head']}"
            if wrong := _misplaced(word, opened, len(opened) in whole, section):
                number, column = place_of(text, mark.start())
                yield Issue(Check.PARENTHESES, *wrong, word, line=number, column=column)
                return
            section = word if word[1:] in _SECTIONS else section
            opened += [] if mark["part"] else [mark["head"]]
        elif not opened:
            return
        else:
            whole.discard(len(opened))
            opened.pop()
            whole.update({len(opened)} if opened[-1:] == ["not"] else ())
            closed |= not opened
    if not closed:
        missing = f"{len(opened)} closing parenthes{'is is' if len(opened) == 1 else 'es are'}"
        number, column = place_of(text, max(0, len(text.rstrip()) - 1))
        yield Issue(Check.PARENTHESES, f"{missing} missing at the end", line=number, column=column)


def _misplaced(word: str, opened: Sequence[str], whole: bool, section: str) -> tuple[str, str] | None:
    """What is wrong and what to do where a list opens, or a part of an action begins, in a place that has none."""
    outer = opened[-1] if opened else ""
    atom = _NAME.fullmatch(outer) is not None and outer not in _HOLD_LISTS and word != "(either"
    if word[1:] in _SECTIONS and not opened:
        return f"{word} opens behind the end of the block", "remove a closing parenthesis before it"
    if word[1:] in _SECTIONS and len(opened) > 1:
        return f"{word} opens inside of {section}", f"close {section} before it"
    if whole or atom or (word[0] == ":" and outer and not outer.endswith("action")):
        return f"{word} stands inside of ({outer}", f"close ({outer} before it"
    return None


_PARENTHESIS = re.compile(
    r"\(\s*+(?P<head>(?:at|over)\s+(?:start|end|all|[\d.]+)(?=[\s()])|[^\s()]*+)|\)|(?<![^\s()])(?P<part>:(?:parameters|precondition|effect))(?![^\s()])"
)
_NAME = re.compile(r"[a-z][\w-]*+")
_SECTIONS = frozenset(
    """:domain :requirements :types :constants :predicates :functions :objects :init :goal :metric
    :action""".split()  # noqa: SIM905 (a long list)
)
_HOLD_LISTS = frozenset(
    """define and or not imply forall exists when preference oneof probabilistic increase decrease assign
    scale-up scale-down always sometime within""".split()  # noqa: SIM905 (a long list)
)
"""Heads of lists that may hold lists; an atom holds words alone."""


def bare_text(answer: str) -> str:
    """The answer in lower case, with blanks in place of thoughts and comments: lines and columns stay."""
    return _COMMENT.sub(lambda found: " " * len(found[0]), pddl_text(answer.lower()))


_COMMENT = re.compile(r";[^\n]*+")


def place_of(text: str, offset: int) -> tuple[int, int]:
    """The line and the column of an offset, from 1.

    >>> place_of("a\\nbc", 3)
    (2, 2)
    """
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def _meant(name: str, known: Iterable[str], plural: str) -> str:
    """As ``did_you_mean``, of a few short names: both sides may come from an answer, and comparing is quadratic."""
    few = [each for each in islice(known, MOST_KNOWN) if len(each) <= MOST_CHARACTERS]
    spend(10)
    return did_you_mean(name[:MOST_CHARACTERS], few, plural)


def _drafts(draft: str) -> Issue:
    return Issue(Check.SEVERAL_DRAFTS, note_on_drafts(True, draft), "give one answer only")


# What differs from the reference


def _problem(reference: str, answer: str | None, domain: str | None, is_placeholder: bool, drafts: str) -> Issue:
    found = kernel.score_problem_pair(reference, answer, is_placeholder, domain, check_solvable=False, answer=drafts)
    assert found.verdict is not None
    return Issue(found.verdict, found.detail)


def _domain(reference: str, answer: str | None, _domain: str | None, _placeholder: bool, drafts: str) -> Issue:
    pair = DomainPair(reference, answer, options=ScoringOptions(answer=drafts))
    decision = or_undecided(lambda: pair.decision)
    if isinstance(decision, Undecided):
        return Issue(DomainVerdict.UNDECIDED, decision.reason)
    return Issue(decision.verdict, decision.detail)


def _plan(reference: str, answer: str | None, _domain: str | None, _placeholder: bool, drafts: str) -> Issue:
    theirs, ours = read_plan(reference), read_plan(answer, drafts)
    if not theirs.found:
        raise UserError(f"the reference plan is missing: {theirs.reason}")
    if not ours.found:
        return Issue(verdict_without_plan(ours.reason), ours.reason)
    if ours.damage is not None:
        return Issue(PlanVerdict.UNREADABLE, f"a step cannot be read, {ours.damage.place}")
    steps = zip_longest(theirs.steps, ours.steps)
    for number, (expected, step) in enumerate(steps, 1):
        if step != expected:
            return Issue(Check.PLAN_DIFFERS, f"step {number} is {_shown(step)} instead of {_shown(expected)}")
    return Issue(Verdict.IDENTICAL, "")


def _shown(step: Step | None) -> str:
    return "missing" if step is None else " ".join(map(show_atom, sorted(actions_of(step)))) or "{}"


_COMPARED = {"problem": _problem, "plan": _plan, "domain": _domain}
