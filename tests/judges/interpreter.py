"""The judge of plans: a plain interpreter of PDDL, written from the definitions and not from the program.

PDDL 1.2 with ADL, derived predicates, action costs and numeric fluents. The semantics are those of Fox and Long (2003,
JAIR 20) and, for derived predicates, of Thiébaux, Hoffmann and Nebel (2005, AIJ 168). A state is a
set of ground atoms and a dict of exact numbers, a quantifier is grounded over all objects, a derived predicate is
computed anew in each state. Nothing here is clever, so that it can be believed. It reads texts that are well-formed;
what is wrong with a text is the business of the program's readers. It imports nothing of pddl_eval, and only tests
import it.

What the definitions leave open is decided as follows.

- A comparison that reads an undefined fluent, or divides by zero, is undefined, and so is the formula around it: a
  precondition, an effect condition or an effect with one makes the step fail, a goal with one is not reached.
- Effects are computed in the state before the step; deletes come before adds.
- In a concurrent step no action adds, deletes or assigns what another one reads in its precondition, in a condition of
  its effects or at the right-hand side of an effect; a derived atom reads everything that its rules mention. No action
  deletes what another adds. Effects that do not happen change nothing, but their conditions are read.
- Increases and decreases of one fluent in one step commute; an assignment or a scaling beside any other change of the
  fluent is interference, also within one action.
- ``total-cost`` starts at 0 where the problem does not say otherwise.
"""

from __future__ import annotations

import heapq
import itertools
import operator
import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

Tree = str | list["Tree"]
Atom = tuple[str, ...]
Binding = Mapping[str, str]
Step = Atom | frozenset[Atom]
"""One action, or a set of concurrent ones. An action is its name and its arguments."""

ROOT = "object"
TOTAL_COST = ("total-cost",)
NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)")
COMPARISONS = {"<": operator.lt, "<=": operator.le, "=": operator.eq, ">=": operator.ge, ">": operator.gt}
ASSIGNMENTS = {
    "assign": lambda _, number: number,
    "increase": operator.add,
    "decrease": operator.sub,
    "scale-up": operator.mul,
    "scale-down": operator.truediv,
}


class Refused(Exception):
    """The text is not in the language that is read here."""


class Undefined(Exception):
    """A fluent without a value was read, or something was divided by zero."""


class Failed(Exception):
    """A step cannot be executed; the argument is the verdict."""


class TooManyStates(Exception):
    """A search met more states than its limit."""


HUGE_BITS = 10_000
"""Of a number in a state that a search still looks at."""


# --- Values ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class State:
    """The basic atoms that are true and the fluents that have a value; derived atoms are not part of it."""

    atoms: frozenset[Atom]
    numbers: Mapping[Atom, Fraction]


@dataclass(frozen=True)
class Action:
    parameters: list[tuple[str, tuple[str, ...]]]
    precondition: Tree
    effect: Tree


@dataclass
class Task:
    """A domain and a problem, as they are written."""

    parents: dict[str, tuple[str, ...]] = field(default_factory=dict)
    objects: dict[str, tuple[str, ...]] = field(default_factory=dict)
    predicates: dict[str, list[tuple[str, tuple[str, ...]]]] = field(default_factory=dict)
    functions: dict[str, list[tuple[str, tuple[str, ...]]]] = field(default_factory=dict)
    actions: dict[str, Action] = field(default_factory=dict)
    rules: list[tuple[Atom, Tree]] = field(default_factory=list)
    """All ground instances of the derivation rules: a derived atom and a ground formula that makes it true."""
    levels: dict[str, int] = field(default_factory=dict)
    """Each derived predicate with the number of its stratum."""
    initial: State = field(default_factory=lambda: State(frozenset(), {}))
    goal: Tree = field(default_factory=lambda: ["and"])
    """An ``and`` of the conjuncts as they are written, each of them ground."""
    metric: Tree | None = None
    maximize: bool = False
    with_types: bool = True
    """Whether types count; without them any object stands for any variable, also for a quantified one."""
    instances: dict[Atom, tuple[Tree, list[tuple[Tree, Tree]]]] = field(default_factory=dict)
    """The ground precondition and effects of the actions that were asked for, so that a search grounds each once."""
    filed: dict[Atom | None, list[tuple[int, Atom]]] = field(default_factory=dict)
    """The actions with their numbers, each under a basic atom without which it cannot be executed, if there is one."""
    complete: tuple[State | None, frozenset[Atom]] = (None, frozenset())
    """The state that derived atoms were asked of last, and all its atoms: a search asks again for each action."""

    def is_a(self, kind: str, wanted: str) -> bool:
        return wanted in (kind, ROOT) or any(self.is_a(parent, wanted) for parent in self.parents.get(kind, ()))

    def fits(self, name: str, wanted: Iterable[str]) -> bool:
        """Whether the object may stand for a parameter of one of these types."""
        return not self.with_types or any(self.is_a(kind, each) for kind in self.objects[name] for each in wanted)

    def bindings(self, parameters: Sequence[tuple[str, tuple[str, ...]]]) -> Iterator[dict[str, str]]:
        """All ways to put objects in the place of the variables."""
        fitting = [[name for name in self.objects if self.fits(name, kinds)] for _, kinds in parameters]
        for chosen in itertools.product(*fitting):
            yield dict(zip((variable for variable, _ in parameters), chosen, strict=True))


@dataclass(frozen=True)
class Judgement:
    """What a plan does. ``failed_step`` counts from 1; ``cost`` is None for a plan that is not valid."""

    valid: bool
    verdict: str
    failed_step: int | None
    cost: Fraction | None
    executable_share: float
    goal_share: float
    states: tuple[State, ...]
    """The initial state and the state after each step that could be executed."""

    @property
    def last_state(self) -> State:
        return self.states[-1]


# --- Reading ---------------------------------------------------------------------------------------------------------


def tree_of(text: str) -> Tree:
    """One S-expression in lower case as lists of words.

    >>> tree_of("(On ?x B) ; a comment")
    ['on', '?x', 'b']
    """
    open_lists: list[list[Tree]] = [[]]
    for word in re.findall(r"[()]|[^\s()]+", re.sub(r";[^\n]*", "", text).lower()):
        if word == "(":
            open_lists.append([])
        elif word != ")":
            open_lists[-1].append(word)
        elif len(open_lists) == 1:
            raise Refused("a bracket is closed that was not opened")
        else:
            closed = open_lists.pop()
            open_lists[-1].append(closed)
    if len(open_lists) > 1 or len(open_lists[0]) != 1:
        raise Refused("expected one expression in brackets")
    return open_lists[0][0]


def typed(words: Iterable[Tree]) -> list[tuple[str, tuple[str, ...]]]:
    """Names with their types: ``a b - t c - (either t u)``; a name without one is an object."""
    found: list[tuple[str, tuple[str, ...]]] = []
    waiting: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == "-":
            kind = next(rest)
            kinds = (kind,) if isinstance(kind, str) else tuple(kind[1:])
            found += [(name, kinds) for name in waiting]
            waiting = []
        else:
            waiting.append(word)
    return found + [(name, (ROOT,)) for name in waiting]


def read(domain_text: str, problem_text: str, with_types: bool = True) -> Task:
    """The task that a domain and a problem describe."""
    task = Task(with_types=with_types)
    derived = read_domain(task, tree_of(domain_text)[2:])
    read_problem(task, {section[0]: section[1:] for section in tree_of(problem_text)[2:]})
    for (name, *words), body in derived:
        for binding in task.bindings(typed(words)):
            head = (name, *(binding[variable] for variable, _ in typed(words)))
            task.rules.append((head, ground(task, body, binding)))
    task.levels = strata(task)
    return task


def read_domain(task: Task, sections: Iterable[Tree]) -> list[Tree]:
    """Fill in what the domain says; its derivation rules come back, to be grounded when all objects are known."""
    derived: list[Tree] = []
    for key, *rest in sections:
        match key:
            case ":types":
                for name, kinds in typed(rest):
                    task.parents[name] = (*task.parents.get(name, ()), *kinds)
            case ":constants":
                task.objects.update(typed(rest))
            case ":predicates":
                task.predicates.update((name, typed(words)) for name, *words in rest)
            case ":functions":  # A function may be followed by its type, which is always number: (f ?x) - number.
                task.functions.update((each[0], typed(each[1:])) for each in rest if isinstance(each, list))
            case ":action":
                parts = dict(zip(rest[1::2], rest[2::2], strict=True))
                words, conditions = parts.get(":parameters", []), parts.get(":precondition", [])
                task.actions[rest[0]] = Action(typed(words), conditions, parts.get(":effect", []))
            case ":derived":
                derived.append(rest)
            case ":requirements":
                pass
            case _:
                raise Refused(key)
    return derived


def read_problem(task: Task, sections: Mapping[str, list[Tree]]) -> None:
    """Fill in what the problem says."""
    if unknown := set(sections) - {":domain", ":requirements", ":objects", ":init", ":goal", ":metric"}:
        raise Refused(*unknown)
    # An object that the domain declares as a constant is none of the problem's.
    task.objects.update(each for each in typed(sections.get(":objects", [])) if each[0] not in task.objects)
    task.initial = initial_state(task, sections.get(":init", []))
    (goal,) = sections.get(":goal", [[]])
    conjuncts = goal[1:] if goal[:1] == ["and"] else [goal]
    task.goal = ["and", *(ground(task, each, {}) for each in conjuncts)]
    if ":metric" in sections:
        direction, task.metric = sections[":metric"]
        task.maximize = direction == "maximize"


def initial_state(task: Task, facts: Iterable[Tree]) -> State:
    atoms: set[Atom] = set()
    numbers = {TOTAL_COST: Fraction(0)} if TOTAL_COST[0] in task.functions else {}
    for fact in facts:
        if fact[0] == "=":
            numbers[as_atom(fact[1])] = Fraction(fact[2])
        elif fact[0] != "not":
            atoms.add(as_atom(fact))
    return State(frozenset(atoms), numbers)


# --- Formulas --------------------------------------------------------------------------------------------------------


def as_atom(tree: Tree) -> Atom:
    """A ground atom or fluent; a fluent without arguments may be written without brackets."""
    return (tree,) if isinstance(tree, str) else tuple(tree)


def ground(task: Task, tree: Tree, binding: Binding) -> Tree:
    """The formula or term with objects for variables, and without quantifiers and implications."""
    if isinstance(tree, str):
        return binding.get(tree, tree)
    if not tree:
        return ["and"]
    head, *rest = tree
    if head in ("forall", "exists"):
        instances = [ground(task, rest[1], {**binding, **more}) for more in task.bindings(typed(rest[0]))]
        return ["and" if head == "forall" else "or", *instances]
    grounded = [ground(task, each, binding) for each in rest]
    return ["or", ["not", grounded[0]], grounded[1]] if head == "imply" else [head, *grounded]


def compares_objects(tree: Tree, functions: Iterable[str]) -> bool:
    """Whether a ground ``=`` is the equality of objects and not the comparison of numbers."""
    return all(isinstance(side, str) and not NUMBER.fullmatch(side) and side not in functions for side in tree[1:])


def holds(task: Task, tree: Tree, atoms: frozenset[Atom], numbers: Mapping[Atom, Fraction]) -> bool:
    """Whether a ground formula is true. An undefined part counts where the others do not decide."""
    head, *rest = tree
    if head in ("and", "or"):
        undefined = None
        for each in rest:
            try:
                if holds(task, each, atoms, numbers) is (head == "or"):
                    return head == "or"
            except Undefined as error:
                undefined = error
        if undefined is not None:
            raise undefined
        return head == "and"
    if head == "not":
        return not holds(task, rest[0], atoms, numbers)
    if head == "=" and compares_objects(tree, task.functions):
        return rest[0] == rest[1]
    if head in COMPARISONS:
        return COMPARISONS[head](value(rest[0], numbers), value(rest[1], numbers))
    return tuple(tree) in atoms


def value(tree: Tree, numbers: Mapping[Atom, Fraction]) -> Fraction:
    """The number that a ground expression stands for."""
    if isinstance(tree, str) and NUMBER.fullmatch(tree):
        return Fraction(tree)
    head, *rest = as_atom(tree)
    if head not in ("+", "-", "*", "/"):
        if as_atom(tree) not in numbers:
            raise Undefined(tree)
        return numbers[as_atom(tree)]
    first, *others = [value(each, numbers) for each in rest]
    if head == "-" and not others:
        return -first
    for other in others:
        if head == "/" and other == 0:
            raise Undefined(tree)
        first = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}[head](first, other)
    return first


def mentioned(task: Task, tree: Tree, negated: bool = False) -> Iterator[tuple[Atom, bool]]:
    """All ground atoms and fluents in a ground formula or expression, and whether they stand under a ``not``."""
    if isinstance(tree, str):
        if tree in task.functions:
            yield (tree,), negated
        return
    head, *rest = tree
    if head in ("and", "or", "not", "+", "-", "*", "/", *COMPARISONS):
        for each in rest:
            yield from mentioned(task, each, negated != (head == "not"))
    else:
        yield tuple(tree), negated


# --- Derived predicates ----------------------------------------------------------------------------------------------


def strata(task: Task) -> dict[str, int]:
    """Stratum of each derived predicate: not below what it uses, and above what it uses negated."""
    levels = {head[0]: 0 for head, _ in task.rules}
    for _ in range(len(levels) + 1):
        before = dict(levels)
        for head, body in task.rules:
            for atom, negated in mentioned(task, body):
                if atom[0] in before:
                    levels[head[0]] = max(levels[head[0]], levels[atom[0]] + negated)
        if levels == before:
            return levels
    raise Refused("the derivation rules cannot be stratified")


def with_derived(task: Task, state: State) -> frozenset[Atom]:
    """The atoms of the state and those that the rules derive from them, stratum by stratum."""
    if task.complete[0] is state:
        return task.complete[1]
    atoms = state.atoms
    for level in range(max(task.levels.values(), default=-1) + 1):
        rules = [(head, body) for head, body in task.rules if task.levels[head[0]] == level]
        while True:
            more = atoms | {head for head, body in rules if holds(task, body, atoms, state.numbers)}
            if more == atoms:
                break
            atoms = more
    task.complete = state, atoms
    return atoms


def satisfied(task: Task, tree: Tree, state: State) -> bool:
    """Whether a ground formula is true in the state; what is undefined is not."""
    try:
        return holds(task, tree, with_derived(task, state), state.numbers)
    except Undefined:
        return False


# --- Steps -----------------------------------------------------------------------------------------------------------


def effects(task: Task, tree: Tree, binding: Binding, conditions: tuple[Tree, ...] = ()) -> Iterator[tuple[Tree, Tree]]:
    """The effect as pairs of a ground condition and a ground literal or assignment."""
    head, *rest = tree or ["and"]
    if head == "and":
        for each in rest:
            yield from effects(task, each, binding, conditions)
    elif head == "forall":
        for more in task.bindings(typed(rest[0])):
            yield from effects(task, rest[1], {**binding, **more}, conditions)
    elif head == "when":
        yield from effects(task, rest[1], binding, (*conditions, ground(task, rest[0], binding)))
    else:
        yield ["and", *conditions], ground(task, tree, binding)


@dataclass
class Change:
    """What one action reads and does in one state."""

    reads: set[Atom] = field(default_factory=set)
    adds: set[Atom] = field(default_factory=set)
    deletes: set[Atom] = field(default_factory=set)
    assignments: list[tuple[str, Atom, Fraction]] = field(default_factory=list)

    def writes(self) -> set[Atom]:
        return self.adds | self.deletes | {fluent for _, fluent, _ in self.assignments}


def instance(task: Task, action: Atom) -> tuple[Tree, list[tuple[Tree, Tree]]]:
    """The ground precondition of an action and its effects."""
    if action not in task.instances:
        schema = task.actions[action[0]]
        binding = dict(zip((variable for variable, _ in schema.parameters), action[1:], strict=True))
        precondition = ground(task, schema.precondition, binding)
        task.instances[action] = precondition, list(effects(task, schema.effect, binding))
    return task.instances[action]


def change(task: Task, state: State, atoms: frozenset[Atom], action: Atom, alone: bool = False) -> Change:
    """What an action does whose name and arguments are right; raises ``Failed`` or ``Undefined``.

    What it reads is left out if it is ``alone`` in its step.
    """
    precondition, its_effects = instance(task, action)
    if not holds(task, precondition, atoms, state.numbers):
        raise Failed("precondition")
    made = Change()
    for condition, effect in its_effects:
        if not holds(task, condition, atoms, state.numbers):
            continue
        if effect[0] in ASSIGNMENTS:
            kind, fluent, number = effect[0], as_atom(effect[1]), value(effect[2], state.numbers)
            if (kind != "assign" and fluent not in state.numbers) or (kind == "scale-down" and number == 0):
                raise Undefined(fluent)
            made.assignments.append((kind, fluent, number))
        elif effect[0] == "not":
            made.deletes.add(as_atom(effect[1]))
        else:
            made.adds.add(as_atom(effect))
    if not alone:
        made.reads = read_by(task, state, atoms, action)
    return made


def read_by(task: Task, state: State, atoms: frozenset[Atom], action: Atom) -> set[Atom]:
    """The atoms and fluents that an action reads in the state, and what the rules of those that are derived read."""
    precondition, its_effects = instance(task, action)
    reads = {atom for atom, _ in mentioned(task, precondition)}
    for condition, effect in its_effects:
        reads |= {atom for atom, _ in mentioned(task, condition)}
        if effect[0] in ASSIGNMENTS and holds(task, condition, atoms, state.numbers):
            reads |= {atom for atom, _ in mentioned(task, effect[2])}
    while more := {atom for head, body in task.rules if head in reads for atom, _ in mentioned(task, body)} - reads:
        reads |= more
    return reads


def interfere(changes: Sequence[Change]) -> bool:
    """Whether actions of one step disturb one another: the rule of no moving targets of Fox and Long."""
    for one, other in itertools.permutations(changes, 2):
        if one.writes() & other.reads or one.deletes & other.adds:
            return True
    kinds: dict[Atom, list[str]] = {}
    for made in changes:
        for kind, fluent, _ in made.assignments:
            kinds.setdefault(fluent, []).append(kind)
    return any(len(each) > 1 and not set(each) <= {"increase", "decrease"} for each in kinds.values())


def same_in_each_order(task: Task, state: State, actions: Sequence[Atom]) -> bool:
    """Whether the actions can be done one after the other in each order, and always lead to the same state."""
    ends = set()
    for order in itertools.permutations(actions):
        after = state
        try:
            for action in order:
                after = execute(task, after, action)
        except Failed:
            return False
        ends.add(identity(after))
    return len(ends) == 1


def check_arguments(task: Task, actions: Sequence[Atom]) -> None:
    """Raises ``Failed`` if an action is not the domain's, or its arguments are not what its parameters ask for."""
    if any(action[0] not in task.actions for action in actions):
        raise Failed("unknown_action")
    for name, *arguments in actions:
        parameters = task.actions[name].parameters
        if len(arguments) != len(parameters) or not all(
            each in task.objects and task.fits(each, kinds)
            for each, (_, kinds) in zip(arguments, parameters, strict=True)
        ):
            raise Failed("wrong_arguments")


def execute(task: Task, state: State, step: Step, any_order: bool = False) -> State:
    """The state after the step; raises ``Failed`` with the verdict.

    With ``any_order`` actions interfere if they cannot be done in each order with one result, else by ``interfere``.
    """
    actions = sorted(step) if isinstance(step, frozenset) else [step]
    if not all(action in task.instances for action in actions):  # Those are known to be right.
        check_arguments(task, actions)
    atoms = with_derived(task, state)
    try:
        changes = [change(task, state, atoms, action, len(actions) == 1) for action in actions]
    except Undefined as error:
        raise Failed("precondition") from error
    if not same_in_each_order(task, state, actions) if any_order and len(actions) > 1 else interfere(changes):
        raise Failed("interference")
    numbers, after = dict(state.numbers), state.atoms
    for made in changes:
        after -= made.deletes
        for kind, fluent, number in made.assignments:
            numbers[fluent] = ASSIGNMENTS[kind](numbers.get(fluent, number), number)
    for made in changes:
        after |= made.adds
    return State(after, numbers)


# --- Plans -----------------------------------------------------------------------------------------------------------


def judge(domain_text: str, problem_text: str, steps: Sequence[Step], any_order: bool = False) -> Judgement:
    """Execute the plan and say whether it is valid, where it fails and what it costs; ``execute`` on ``any_order``."""
    return judge_task(read(domain_text, problem_text), steps, any_order)


def judge_task(task: Task, steps: Sequence[Step], any_order: bool = False) -> Judgement:
    """``judge`` for a task that was read."""
    states = [task.initial]
    verdict, failed_step = "valid", None
    for number, step in enumerate(steps, start=1):
        try:
            states.append(execute(task, states[-1], step, any_order))
        except Failed as failed:
            verdict, failed_step = str(failed), number
            break
    distinct = {str(each): each for each in conjuncts(task.goal)}.values()
    reached = [satisfied(task, each, states[-1]) for each in distinct]
    if verdict == "valid" and not all(reached):
        verdict = "goal_not_reached"
    return Judgement(
        verdict == "valid",
        verdict,
        failed_step,
        cost(task, steps, states[-1]) if verdict == "valid" else None,
        (len(states) - 1) / len(steps) if steps else 1.0,
        sum(reached) / len(reached) if reached else 1.0,
        tuple(states),
    )


def conjuncts(tree: Tree) -> Iterator[Tree]:
    """What a ground condition asks for: ``forall`` was grounded to an ``and``, and counts as what it stands for."""
    if tree[0] == "and":
        for each in tree[1:]:
            yield from conjuncts(each)
    else:
        yield tree


def cost(task: Task, steps: Sequence[Step], last: State) -> Fraction | None:
    """The value of the metric, else the number of actions; None where the metric is undefined."""
    if task.metric is None:
        return Fraction(sum(len(step) if isinstance(step, frozenset) else 1 for step in steps))
    try:
        return value(task.metric, last.numbers)
    except Undefined:
        return None


# --- Searches --------------------------------------------------------------------------------------------------------


def all_actions(task: Task) -> list[Atom]:
    """Every action with every choice of objects that its types allow.

    Left out is what needs an atom that is false from the beginning and that nothing adds. The task files each action
    under one of the atoms that it needs, so that a search tries it where this atom is true.
    """
    found: dict[Atom, list[Atom]] = {}
    changing = {predicate for action in task.actions.values() for predicate in added(action.effect)}
    for name, action in task.actions.items():
        needed = [atom for atom in literals(action.precondition) if atom[0] not in task.levels]
        bindings: list[dict[str, str]] = [{}]
        for parameter in action.parameters:
            bindings = [{**each, **more} for each in bindings for more in task.bindings([parameter])]
            known = [atom for atom in needed if atom[0] not in changing and not unbound(atom, bindings)]
            bindings = [
                each for each in bindings if all(as_atom(ground(task, a, each)) in task.initial.atoms for a in known)
            ]
        for each in bindings:
            asked = [as_atom(ground(task, atom, each)) for atom in needed if atom[0] in changing]
            found[name, *each.values()] = asked
    often = Counter(itertools.chain.from_iterable(found.values()))
    task.filed.clear()
    for number, (acting, asked) in enumerate(found.items()):
        rarest = min(asked, key=lambda atom: often[atom], default=None)
        task.filed.setdefault(rarest, []).append((number, acting))
    return list(found)


def literals(tree: Tree) -> Iterator[Tree]:
    """The atoms that a conjunction asks for."""
    for each in tree[1:] if tree[:1] == ["and"] else [tree]:
        if each[:1] == ["and"]:
            yield from literals(each)
        elif each and each[0] not in ("or", "not", "imply", "forall", "exists", *COMPARISONS):
            yield each


def added(effect: Tree) -> Iterator[str]:
    """The predicates of which an effect adds an atom, on whatever condition."""
    head, *rest = effect or ["and"]
    if head == "and":
        for each in rest:
            yield from added(each)
    elif head in ("forall", "when"):
        yield from added(rest[1])
    elif head not in ("not", *ASSIGNMENTS):
        yield head


def unbound(atom: Tree, bindings: Sequence[Binding]) -> bool:
    return any(term.startswith("?") and term not in each for each in bindings[:1] for term in atom[1:])


def successors(task: Task, state: State) -> Iterator[tuple[Atom, State]]:
    """What can be done in the state, one action at a time, in the order of ``all_actions``."""
    if not task.filed:
        all_actions(task)
    tried = [each for atom in (None, *state.atoms) for each in task.filed.get(atom, ())]
    for _, action in sorted(tried):
        try:
            yield action, execute(task, state, action)
        except Failed:
            continue


def identity(state: State) -> tuple[frozenset[Atom], frozenset[tuple[Atom, Fraction]]]:
    """What makes two states one: everything but the cost so far."""
    numbers = frozenset((fluent, number) for fluent, number in state.numbers.items() if fluent != TOTAL_COST)
    return state.atoms, numbers


def check_cost_is_not_read(task: Task) -> None:
    """A search forgets the cost so far, which is right only where no formula or expression depends on it."""

    def reads(tree: Tree) -> bool:
        if isinstance(tree, str):
            return tree == TOTAL_COST[0]
        if tree and tree[0] in ASSIGNMENTS:
            return reads(tree[2]) or (as_atom(tree[1]) == TOTAL_COST and tree[0] not in ("increase", "decrease"))
        return any(reads(each) for each in tree)

    conditions = [part for action in task.actions.values() for part in (action.precondition, action.effect)]
    if reads(task.goal) or any(map(reads, conditions)) or any(reads(body) for _, body in task.rules):
        raise Refused("total-cost is read")


def reachable(domain_text: str, problem_text: str, limit: int = 20_000) -> list[State]:
    """All reachable states, breadth first, each once (with the cost at which it was first met)."""
    return reachable_states(read(domain_text, problem_text), limit)


def reachable_states(task: Task, limit: int = 20_000) -> list[State]:
    """``reachable`` for a task that was read."""
    check_cost_is_not_read(task)
    found = {identity(task.initial): task.initial}
    waiting = deque([task.initial])
    while waiting:
        for _, state in successors(task, waiting.popleft()):
            if identity(state) not in found:
                if len(found) >= limit or any(map(is_huge, state.numbers.values())):
                    raise TooManyStates(limit)
                found[identity(state)] = state
                waiting.append(state)
    return list(found.values())


def is_huge(number: Fraction) -> bool:
    """A number whose length doubles with each step has no end of states, and soon takes minutes to multiply."""
    return max(number.numerator.bit_length(), number.denominator.bit_length()) > HUGE_BITS


def optimal_cost(domain_text: str, problem_text: str, limit: int = 20_000) -> Fraction | None:
    """The least cost of a sequential plan: ``total-cost`` where it is minimized, else the number of actions.

    None if no plan exists. Uniform-cost search, so no action may have a negative cost.
    """
    return optimal_task_cost(read(domain_text, problem_text), limit)


def optimal_task_cost(task: Task, limit: int = 20_000) -> Fraction | None:
    """``optimal_cost`` for a task that was read."""
    if task.metric is not None and (task.maximize or as_atom(task.metric) != TOTAL_COST):
        raise Refused("only total-cost is minimized")
    check_cost_is_not_read(task)
    order = itertools.count()
    start = task.initial.numbers[TOTAL_COST] if task.metric is not None else Fraction(0)
    waiting = [(start, next(order), task.initial)]
    closed = set()
    while waiting:
        spent, _, state = heapq.heappop(waiting)
        if identity(state) in closed:
            continue
        if len(closed) >= limit:
            raise TooManyStates(limit)
        closed.add(identity(state))
        if satisfied(task, task.goal, state):
            return spent
        for _, after in successors(task, state):
            total = after.numbers[TOTAL_COST] if task.metric is not None else spent + 1
            if total < spent:
                raise Refused("an action has a negative cost")
            heapq.heappush(waiting, (total, next(order), after))
    return None
