"""Certificates as the page ``guide/certificates.md`` defines them, from that page alone: nothing here is the program's.

Reads the plain STRIPS kind of PDDL with negation, costs that are sums, preconditions that are formulas, and any goal
without numbers; the interpreter enumerates the reachable states, and every branch is followed: for small problems. The
sections are those of the page.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from hashlib import blake2b
from itertools import count
from typing import Any, NamedTuple

from tests.judges import interpreter
from tests.judges.equivalence import negates
from tests.judges.interpreter import tree_of, typed

Atom = tuple[str, ...]
State = frozenset[Atom]
Types = tuple[str, ...]
Vertex = str | tuple[str, Atom]
"""An object, or an atom and its scene."""
Colours = dict[Vertex, int]
Edge = tuple[int, Vertex, Vertex]
"""A relation, the start and the end."""


class Operator(NamedTuple):
    name: str
    parameters: dict[str, Types]
    scenes: dict[str, State]
    formulas: list[tuple[str, Any]]
    """The conjuncts that are no literals, each with its section."""

    @property
    def costs(self) -> list[Any]:
        return [each for section, each in self.formulas if section == ":effect"]

    @property
    def conditions(self) -> list[Any]:
        return [each for section, each in self.formulas if section == ":precondition"]


class Domain(NamedTuple):
    name: str
    parents: dict[str, str]
    constants: dict[str, str]
    operators: list[Operator]


class Problem(NamedTuple):
    objects: dict[str, str]
    init: State
    goal: State
    values: dict[Atom, Fraction]
    metric: list[Any]
    task: interpreter.Task


class Closed(NamedTuple):
    """What tells the reachable goal states from all others."""

    true: State
    false: State = frozenset()
    states: frozenset[State] | None = None
    possible: State = frozenset()


def certificate(problem_text: str, domain_text: str, placeholder: bool = False) -> str:
    """The 32 digits of the problem."""
    problem, domain = read(problem_text, domain_text)
    return digest(*value(problem, domain, closure(problem, domain), placeholder))


# --- Bytes ---


def encoded(value: Any) -> bytes:
    if isinstance(value, int):
        return value.to_bytes(8, "little")
    parts = [value.encode()] if isinstance(value, str) else [encoded(member) for member in value]
    return encoded(len(parts[0] if isinstance(value, str) else value)) + b"".join(parts)


def digest(*values: Any) -> str:
    return blake2b(encoded(values), digest_size=16).hexdigest()


# --- The graph of scenes ---


def outline_and_form(types: Mapping[str, str], scenes: Mapping[str, Iterable[Atom]]) -> list[Any]:
    atoms = [(scene, atom) for scene, found in scenes.items() for atom in found]
    labels = sorted({(scene, atom[0], len(atom) - 1) for scene, atom in atoms})
    marks: dict[str, set[int]] = {name: set() for name in types}
    edges: set[Edge] = set()
    kinds: dict[Vertex, tuple[bool, str, tuple[int, ...]]] = {}  # led by whether it is an atom's
    for scene, atom in atoms:
        label, arguments = labels.index((scene, atom[0], len(atom) - 1)), atom[1:]
        if len(arguments) > 2:
            kinds[scene, atom] = (True, "", (label,))
            edges |= {(len(labels) + k, (scene, atom), argument) for k, argument in enumerate(arguments)}
        elif len(set(arguments)) == 2:
            edges.add((label, arguments[0], arguments[1]))
        elif arguments:
            marks[arguments[0]].add(label)
    kinds |= {name: (False, type_, tuple(sorted(marks[name]))) for name, type_ in types.items()}
    colours: Colours = {}
    for kind in sorted(set(kinds.values())):
        colours |= dict.fromkeys([vertex for vertex in kinds if kinds[vertex] == kind], len(colours))
    often = [[*kind[1:], count] for kind, count in sorted(Counter(kinds.values()).items())]
    return [[labels, often], form(split(colours, edges, set(colours)), edges)]


# --- Colours ---


def split(colours: Colours, edges: set[Edge], telling: set[Vertex]) -> Colours:
    """The colours after the rounds; ``telling`` are the vertices that tell in the first one."""
    while telling:
        heard: dict[Vertex, list[tuple[int, int]]] = {vertex: [] for vertex in colours}
        for relation, start, end in edges:
            if start in telling:
                heard[end].append((2 * relation, colours[start]))
            if end in telling:
                heard[start].append((2 * relation + 1, colours[end]))
        finer: Colours = {}
        telling = set()
        for colour, cell in cells(colours).items():
            parts = defaultdict(list)
            for vertex in cell:
                parts[tuple(sorted(heard[vertex]))].append(vertex)
            largest = max(sorted(parts), key=lambda pairs: len(parts[pairs]))
            for pairs in sorted(parts):
                finer |= dict.fromkeys(parts[pairs], colour)
                colour += len(parts[pairs])
                telling |= set(parts[pairs]) if pairs != largest else set()
        colours = finer
    return colours


def cells(colours: Colours) -> dict[int, list[Vertex]]:
    return {each: [v for v in colours if colours[v] == each] for each in sorted(set(colours.values()))}


# --- The form ---


def form(colours: Colours, edges: set[Edge]) -> list[int]:
    size = {colour: len(cell) for colour, cell in cells(colours).items()}
    often = Counter((relation, colours[start], colours[end]) for relation, start, end in edges)
    numbers = [len(size), *(n for pair in size.items() for n in pair)]
    numbers += [len(often), *(n for line in sorted(often) for n in (*line, often[line]))]
    pairs = {(one, other): size[one] * (size[other] - (one == other)) for one in size for other in size}
    pairs = {(one, other): size[one] * (size[other] - (one == other)) for one in size for other in size}
    whole = {line for line in often if often[line] == pairs[line[1:]]}
    left = {edge for edge in edges if (edge[0], colours[edge[1]], colours[edge[2]]) not in whole}
    parts = connected(left)
    if len(parts) == 1 and parts[0] == colours.keys():
        forms = []
        cell = max((cell for cell in cells(colours).values() if isinstance(cell[0], str)), key=len)
        for chosen in cell:
            others = {vertex: colours[vertex] + 1 for vertex in cell if vertex != chosen}
            forms.append(form(split(colours | others, left, {chosen}), left))
        return [*numbers, 1, *min(forms)]
    forms = [form({v: colours[v] for v in part}, {edge for edge in left if edge[1] in part}) for part in parts]
    return [*numbers, len(forms), *(n for each in sorted(forms) for n in each)]


def connected(edges: set[Edge]) -> list[set[Vertex]]:
    parts: list[set[Vertex]] = []
    for _, *ends in edges:
        joined = set(ends).union(*(part for part in parts if not part.isdisjoint(ends)))
        parts = [joined, *(part for part in parts if part.isdisjoint(ends))]
    return parts


# --- The certificate of a problem ---


def value(problem: Problem, domain: Domain, closed: Closed | None, placeholder: bool = False) -> list[Any]:
    """What the certificate is the digest of; ``closed`` is None where no reachable state has the goal."""
    changed = {atom[0] for each in domain.operators for part in ("added", "deleted") for atom in each.scenes[part]}
    init: dict[str, Any] = {"init": problem.init} | numbers(problem)
    goal: dict[str, Any] = {"no reachable state has": {("the-goal",)}}
    states: dict[str, str] = {}
    if closed is not None:
        goal = {"goal": {atom for atom in closed.true if placeholder or atom[0] in changed}, "goal not": closed.false}
        if placeholder and uses_negation(domain) and closed.states is None:
            goal = {"goal": closed.true, "goal possible": closed.possible}
        for state in closed.states or ():
            states[name := f"state {len(states)}"] = "goal state"
            goal.setdefault("goal state", set()).update({("", name), *((a[0], name, *a[1:]) for a in state)})
    graphs = []
    for each, own in ((init, {}), (goal, states)) if placeholder else ((init | goal, states),):
        named = {name for atoms in each.values() for atom in atoms for name in atom[1:]}
        constants = {name: f"= {name}" for name in domain.constants if name in named}
        graphs.append(outline_and_form(problem.objects | constants | own, each))
    return [3 if placeholder and uses_negation(domain) else 2, fingerprint(problem, domain), *graphs]


def closure(problem: Problem, domain: Domain) -> Closed | None:
    """What holds in the goal states by enumeration; None where no reachable state has the goal."""
    found: dict[bool, list[State]] = {True: [], False: []}
    task = problem.task
    for state in reachable(problem, domain):
        is_goal = interpreter.satisfied(task, task.goal, interpreter.State(state, {}))
        found[is_goal].append(state)
    if not found[True]:
        return None
    true = frozenset.intersection(*found[True])
    possible = frozenset().union(*found[True]) - true
    others = [state for state in found[False] if true <= state]
    false = frozenset().union(*others) - frozenset().union(*found[True])
    if all(state & false for state in others):
        return Closed(true, false, possible=possible)
    return Closed(true, frozenset(), frozenset(state - true for state in found[True]))


def uses_negation(domain: Domain) -> bool:
    return any(
        any(atom[0] != "=" for atom in each.scenes["negative condition"]) or any(map(negates, each.conditions))
        for each in domain.operators
    )


# --- Beyond STRIPS ---


def numbers(problem: Problem) -> dict[str, set[Atom]]:
    scenes: dict[str, set[Atom]] = defaultdict(set)
    for fluent, number in problem.values.items():
        if number or fluent != ("total-cost",):
            scenes[f"= {number}"].add(fluent)
    if problem.metric:
        factors = {term: factor for term, factor in factors_of(problem.metric[1]).items() if factor}
        for term, factor in (factors or {("",): 0}).items():
            scenes[f"{problem.metric[0]} {factor}"].add(term)
    return scenes


def factors_of(tree: Any) -> dict[Atom, Fraction]:
    """A sum, such as ``(+ (total-cost) (* 2 (fuel t)))``."""
    if isinstance(tree, str):
        return {("",): Fraction(tree)}
    head, *parts = tree
    if head not in "+*":
        return {tuple(tree): Fraction(1)}
    terms = [factors_of(part) for part in parts]
    if head == "+":
        return {
            term: sum((each.get(term, Fraction(0)) for each in terms), Fraction(0)) for each in terms for term in each
        }
    (constant,) = [each[("",)] for each in terms if [*each] == [("",)]]
    (other,) = [each for each in terms if [*each] != [("",)]]
    return {term: factor * constant for term, factor in other.items()}


def in_full(domain: Domain) -> list[Any]:
    """Constants, types, operators and rules as they are written."""
    operators = []
    for each in domain.operators:
        place = {name: f"?{k}" for k, name in enumerate(each.parameters)}
        parts = [[[a[0], *(place.get(t, t) for t in a[1:])] for a in part] for part in each.scenes.values()]
        atoms = [sorted(["=", *sorted(a[1:])] if a[0] == "=" else a for a in part) for part in parts]
        formulas = [[section, numbered(formula, place, count(len(place)))] for section, formula in each.formulas]
        operators.append([[*each.parameters.values()], atoms, sorted(formulas, key=encoded)])
    distinct = sorted({encoded(each): each for each in operators}.items())
    declared = (domain.constants, domain.parents)
    return [
        *([[name, [type_]] for name, type_ in sorted(each.items())] for each in declared),
        [e for _, e in distinct],
        [],
    ]


def numbered(tree: Any, names: Mapping[str, str], free: Iterator[int]) -> Any:
    if isinstance(tree, str):
        return names[tree] if tree[0] == "?" else str(Fraction(tree)) if tree[0] in "-.0123456789" else tree
    if tree and tree[0] in ("forall", "exists"):
        names = {**names, **{word: f"?{next(free)}" for word in tree[1] if word[0] == "?"}}
    return [numbered(each, names, free) for each in tree]


def reachable(problem: Problem, domain: Domain) -> Iterator[State]:
    """The interpreter's; a cost that has no value forbids its action where numbers or conditions count."""
    task = problem.task
    if not numbers(problem) and not any(each.conditions for each in domain.operators):
        for name, action in task.actions.items():
            task.actions[name] = replace(action, effect=without_costs(action.effect))
    waiting = [task.initial]
    seen = {task.initial.atoms}
    for state in waiting:  # grows while it is walked
        yield state.atoms
        for _, after in interpreter.successors(task, state):
            waiting += [after] if after.atoms not in seen else []
            seen.add(after.atoms)


def without_costs(effect: Any) -> Any:
    return [each for each in effect if each[:1] != ["increase"]] if effect[:1] == ["and"] else effect


def above(domain: Domain, type_: str) -> list[str]:
    """The type and the declared types above it, the nearest first."""
    return [type_, *above(domain, domain.parents[type_])] if type_ in domain.parents else []


# --- The fingerprint of a domain ---


def fingerprint(problem: Problem, domain: Domain) -> str:
    costs_count = numbers(problem) and any(each.costs for each in domain.operators)
    if costs_count or any(each.conditions for each in domain.operators):
        return digest(domain.name, *in_full(domain))

    def says(types: Types) -> Types:
        highest = {t for t in types if not set(above(domain, t)[1:]) & set(types)}
        return tuple(sorted(highest)) if domain.parents.keys() >= highest else ()

    operators = [each for n, each in enumerate(domain.operators) if each not in domain.operators[:n]]
    terms = [
        {term for atoms in each.scenes.values() for atom in atoms for term in atom[1:]} - each.parameters.keys()
        for each in operators
    ]
    constants = [(name, says([domain.constants[name]])) for name in sorted(set().union(*terms))]
    declared = [types for each in operators for types in each.parameters.values()]
    among = {t for types in [*declared, *(types for _, types in constants)] for t in says(types)}
    among |= set(problem.objects.values())
    hierarchy = [[t, next(filter(among.__contains__, above(domain, t)[1:]), "")] for t in sorted(among)]
    graphs = []
    for each, used in zip(operators, terms, strict=True):
        types = {name: " ".join(["?", *says(found)]) for name, found in each.parameters.items()}
        scenes = {
            scene: atoms | {(atom[0], *atom[:0:-1]) for atom in atoms if atom[0] == "="}
            for scene, atoms in each.scenes.items()
        }
        graphs.append(outline_and_form(types | {name: f"= {name}" for name in used}, scenes))
    return digest(domain.name, constants, [pair for pair in hierarchy if pair[1]], sorted(graphs, key=encoded))


# --- PDDL ---


def read(problem_text: str, domain_text: str) -> tuple[Problem, Domain]:
    """Both texts; an object that the domain declares as a constant is none of the problem's."""
    _, (_, name), *sections = tree_of(domain_text)
    section = {each[0]: each[1:] for each in sections}
    parents, constants = ({n: t[0] for n, t in typed(section.get(key, []))} for key in (":types", ":constants"))
    parents = dict.fromkeys(parents.values(), "object") | parents
    parents.pop("object", None)
    operators = []
    for _, action, *words in (each for each in sections if each[0] == ":action"):
        found = dict(zip(words[::2], words[1::2], strict=True))
        names = ("condition", "negative condition", "added", "deleted")
        parts: list[State] = []
        formulas: list[tuple[str, Any]] = []
        for key in (":precondition", ":effect"):
            true, false, others = literals(found.get(key, []))
            parts += [true, false]
            formulas += [(key, each) for each in others]
        parameters = dict(typed(found[":parameters"]))
        operators.append(Operator(action, parameters, dict(zip(names, parts, strict=True)), formulas))
    sections = {each[0]: each[1:] for each in tree_of(problem_text)[2:]}
    objects = {n: t[0] for n, t in typed(sections.get(":objects", [])) if n not in constants}
    init = frozenset(tuple(each) for each in sections[":init"] if each[0] != "=")
    values = {tuple(each[1]): Fraction(each[2]) for each in sections[":init"] if each[0] == "="}
    conjuncts = sections[":goal"][0]
    conjuncts = conjuncts[1:] if conjuncts[:1] == ["and"] else [conjuncts]
    asked = [each for each in conjuncts if each[0] in ("not", "and", "or", "imply", "forall", "exists")]
    goal = frozenset(tuple(each) for each in conjuncts if each not in asked)
    problem = Problem(objects, init, goal, values, sections.get(":metric", []), task_of(domain_text, sections, parents))
    return problem, Domain(name, parents, constants, operators)


def task_of(domain_text: str, sections: dict[str, Any], parents: dict[str, str]) -> interpreter.Task:
    """The interpreter's task: operators of one name are several, a type that nobody declares is ``object``."""
    task = interpreter.Task(functions={"total-cost": []})
    listed = [[key, f"{number} {rest[0]}", *rest[1:]] if key == ":action" else [key, *rest]
              for number, (key, *rest) in enumerate(tree_of(domain_text)[2:])]  # fmt: skip
    interpreter.read_domain(task, listed)
    task.parents = {name: (parent,) for name, parent in parents.items()}
    for name, action in task.actions.items():
        kinds = [(v, tuple(t if t in parents else "object" for t in found)) for v, found in action.parameters]
        task.actions[name] = replace(action, parameters=kinds)
    interpreter.read_problem(task, sections)
    return task


def literals(formula: list[Any]) -> tuple[State, State, list[Any]]:
    """The atoms of a conjunction, those that are negated in it, and its other conjuncts."""
    true: set[Atom] = set()
    false: set[Atom] = set()
    others: list[Any] = []
    for each in formula[1:] if formula[:1] == ["and"] else [formula] if formula else []:
        atom = each[1] if each[0] == "not" else each
        if atom[0] in ("not", "and", "or", "imply", "forall", "exists", "increase"):
            others.append(each)
        else:
            (false if each[0] == "not" else true).add(tuple(atom))
    return frozenset(true), frozenset(false), others
