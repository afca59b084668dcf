"""Certificates as the page ``guide/certificates.md`` defines them, from that page alone: nothing here is the program's.

Reads the plain STRIPS kind of PDDL, enumerates the reachable states and follows every branch: for small problems. The
sections are those of the page.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from itertools import product
from typing import Any, NamedTuple

Atom = tuple[str, ...]
State = frozenset[Atom]
Types = list[str]
Vertex = str | tuple[str, Atom]
"""An object, or an atom and its scene."""
Colours = dict[Vertex, int]
Edge = tuple[int, Vertex, Vertex]
"""A relation, the start and the end."""


class Operator(NamedTuple):
    name: str
    parameters: dict[str, Types]
    scenes: dict[str, State]


class Domain(NamedTuple):
    name: str
    parents: dict[str, str]
    constants: dict[str, str]
    operators: list[Operator]


class Problem(NamedTuple):
    objects: dict[str, str]
    init: State
    goal: State


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


def value(problem: Problem, domain: Domain, closed: State | None, placeholder: bool = False) -> list[Any]:
    """What the certificate is the digest of; ``closed`` is cl(goal), None where no reachable state has the goal."""
    changed = {atom[0] for each in domain.operators for part in ("added", "deleted") for atom in each.scenes[part]}
    kept = {atom for atom in closed or () if placeholder or atom[0] in changed}
    goal = {"goal": kept} if closed is not None else {"no reachable state has": {("the-goal",)}}
    scenes: list[dict[str, Any]] = [{"init": problem.init}, goal]
    graphs = []
    for each in scenes if placeholder else [scenes[0] | scenes[1]]:
        named = {name for atoms in each.values() for atom in atoms for name in atom[1:]}
        constants = {name: f"= {name}" for name in domain.constants if name in named}
        graphs.append(outline_and_form(problem.objects | constants, each))
    return [2, fingerprint(problem, domain), *graphs]


def closure(problem: Problem, domain: Domain) -> State | None:
    """cl(goal) by enumeration; None where no reachable state contains the goal."""
    found = [state for state in reachable(problem, domain) if problem.goal <= state]
    return frozenset.intersection(*found) if found else None


def reachable(problem: Problem, domain: Domain) -> Iterator[State]:
    types = problem.objects | domain.constants
    ground = []
    for _, parameters, scenes in domain.operators:
        fitting = [[name for name in types if fits(domain, types[name], wanted)] for wanted in parameters.values()]
        for chosen in product(*fitting):
            names = dict(zip(parameters, chosen, strict=True))
            ground.append([{(a[0], *(names.get(t, t) for t in a[1:])) for a in part} for part in scenes.values()])
    equal = {("=", name, name) for name in types}
    waiting = [problem.init | equal]
    seen = set(waiting)
    for state in waiting:  # grows while it is walked
        yield state - equal
        for condition, negative, added, deleted in ground:
            if condition <= state and not negative & state and (after := (state - deleted) | added) not in seen:
                seen.add(after)
                waiting.append(after)


def fits(domain: Domain, type_: str, wanted: Types) -> bool:
    return any(each not in domain.parents or each in above(domain, type_) for each in wanted)


def above(domain: Domain, type_: str) -> list[str]:
    """The type and the declared types above it, the nearest first."""
    return [type_, *above(domain, domain.parents[type_])] if type_ in domain.parents else []


# --- The fingerprint of a domain ---


def fingerprint(problem: Problem, domain: Domain) -> str:
    def says(types: Types) -> Types:
        highest = {t for t in types if not set(above(domain, t)[1:]) & set(types)}
        return sorted(highest) if domain.parents.keys() >= highest else []

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
    _, (_, name), *sections = s_expression(domain_text)
    section = {each[0]: each[1:] for each in sections}
    parents, constants = ({n: t[0] for n, t in typed(section.get(key, []))} for key in (":types", ":constants"))
    parents = dict.fromkeys(parents.values(), "object") | parents
    parents.pop("object", None)
    operators = []
    for _, action, *words in (each for each in sections if each[0] == ":action"):
        found = dict(zip(words[::2], words[1::2], strict=True))
        names = ("condition", "negative condition", "added", "deleted")
        parts = [*literals(found.get(":precondition", [])), *literals(found.get(":effect", []))]
        operators.append(Operator(action, dict(typed(found[":parameters"])), dict(zip(names, parts, strict=True))))
    section = {each[0]: each[1:] for each in s_expression(problem_text)[1:]}
    objects = {n: t[0] for n, t in typed(section.get(":objects", [])) if n not in constants}
    init, goal = frozenset(map(tuple, section[":init"])), literals(section[":goal"][0])[0]
    return Problem(objects, init, goal), Domain(name, parents, constants, operators)


def s_expression(text: str) -> list[Any]:
    stack: list[list[Any]] = [[]]
    for word in re.findall(r"[()]|[^\s()]+", re.sub(";.*", "", text).lower()):
        if word == "(":
            stack.append([])
        elif word == ")":
            stack[-2].append(stack.pop())
        else:
            stack[-1].append(word)
    expression: list[Any] = stack[0][0]
    return expression


def typed(words: list[Any]) -> list[tuple[str, Types]]:
    """Each name with its types, of which there are several in ``either``."""
    if "-" not in words:
        return [(name, ["object"]) for name in words]
    dash = words.index("-")
    types = words[dash + 1][1:] if isinstance(words[dash + 1], list) else [words[dash + 1]]
    return [*((name, types) for name in words[:dash]), *typed(words[dash + 2 :])]


def literals(formula: list[Any]) -> tuple[State, State]:
    """The atoms of a conjunction, and those that are negated in it; costs are left out."""
    members = formula[1:] if formula[:1] == ["and"] else [formula] if formula else []
    negated = [tuple(each[1]) for each in members if each[0] == "not"]
    return frozenset(tuple(each) for each in members if each[0] not in ("not", "increase")), frozenset(negated)
