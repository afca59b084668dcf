"""What a domain says, whatever its words: its graph, the renamings between two domains, its certificate.

Two domains are equivalent when a bijection of types, constants, predicates (each with a permutation of its arguments)
and operators (each with a permutation of its parameters) turns the operators of one into those of the other: the strong
equivalence of Shoeeb and McCluskey, and of Chrpa et al. The graph has a vertex for each of these, for each place of a
predicate and for each atom of an operator. Two graphs are isomorphic exactly when there is such a bijection, and an
isomorphism is one. What no operator uses is not in the graph. The scenes of a problem can be joined to the graph of its
domain: then an isomorphism renames both.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from itertools import chain

from pddl_eval.canonical import LabelledGraph, isomorphic
from pddl_eval.model import EQUALITY, ROOT_TYPE, Action, Atom, Domain, Formula, Operator, Problem, State, Types, renamed
from pddl_eval.parsing import DomainError, typed_list
from pddl_eval.verdict import CERTIFICATE_VERSION

Places = tuple[int, ...]
"""For each argument or parameter of what is renamed, its position in what it becomes."""

COST = "total-cost"
"""The function that PDDL itself gives a meaning."""

PARTS = ("condition", "negative condition", "added", "deleted")
"""Of an operator, in the order of ``Operator.parts``."""

_SETS = frozenset({"and", "or"})
_UNORDERED = frozenset({*_SETS, EQUALITY, "+", "*"})
_QUANTIFIERS = frozenset({"forall", "exists"})
_ORDERED = frozenset({"not", "imply", "when", "preference", "oneof", "probabilistic", "<", ">", "<=", ">=", "-", "/"})
_CHANGES = frozenset({"increase", "decrease", "assign", "scale-up", "scale-down"})
_TIMED = frozenset({("at", "start"), ("at", "end"), ("over", "all")})
_NUMBER = re.compile(r"[-+]?[0-9]{1,300}+(\.[0-9]{0,300}+)?+")


UNDECLARED = "undeclared "
"""In front of a predicate that no operator of its domain uses, where the new words have it for another one."""


@dataclass(frozen=True)
class Renaming:
    """A way to read one domain in the words of an equivalent one.

    ``types`` and ``constants`` map names to names; ``predicates`` and ``operators`` map a name to the new name and, for
    each argument or parameter, its new position. Only what operators use is in it.

    >>> turned = Renaming({}, {}, {"on": ("under", (1, 0))}, {})
    >>> turned.atoms({("on", "a", "b")})
    frozenset({('under', 'b', 'a')})
    """

    types: Mapping[str, str]
    constants: Mapping[str, str]
    predicates: Mapping[str, tuple[str, Places]]
    operators: Mapping[str, tuple[str, Places]]

    @cached_property
    def _new(self) -> frozenset[str]:
        return frozenset(new for new, _ in self.predicates.values())

    def atom(self, atom: Atom) -> Atom:
        """An atom or a literal in the new words."""
        name, places = self.predicates.get(atom[0], ("", ()))
        if name and len(places) == len(atom) - 1:
            return self._moved(name, places, atom)
        if atom[0].startswith(UNDECLARED):
            return (atom[0].removeprefix(UNDECLARED), *self._terms(atom))
        return (UNDECLARED + atom[0] if atom[0] in self._new else atom[0], *self._terms(atom))

    def atoms(self, atoms: Iterable[Atom]) -> State:
        """Atoms in the new words."""
        return frozenset(map(self.atom, atoms))

    def action(self, action: Action) -> Action:
        """A ground action in the new words."""
        return self._moved(*self.operators[action[0]], action)

    def operator(self, operator: Operator[State]) -> Operator[State]:
        """An operator in the new words, without its formulas; its parameters keep their names."""
        types = {name: tuple(self.types.get(type_, type_) for type_ in types) for name, types in operator.parameters}
        name, *order = self.action(operator.action)
        preconditions, negative, added, deleted = map(self.atoms, operator.parts)
        parameters = tuple((parameter, types[parameter]) for parameter in order)
        return Operator(name, parameters, preconditions, negative, added, deleted)

    def problem(self, problem: Problem, domain: Domain) -> Problem:
        """A problem of the given domain in the new words: a type that no operator asks for is the next one above it."""

        def new(type_: str) -> str:
            return next((self.types[each] for each in domain.ancestors(type_) if each in self.types), ROOT_TYPE)

        objects = {self.constants.get(name, name): new(type_) for name, type_ in problem.objects.items()}
        return replace(problem, objects=objects, init=self.atoms(problem.init), goal=self.atoms(problem.goal))

    @property
    def inverse(self) -> Renaming:
        """The renaming back."""
        return Renaming(
            {new: old for old, new in self.types.items()},
            {new: old for old, new in self.constants.items()},
            *(
                {new: (old, tuple(map(places.index, range(len(places))))) for old, (new, places) in names.items()}
                for names in (self.predicates, self.operators)
            ),
        )

    def _terms(self, atom: Atom) -> list[str]:
        return [self.constants.get(term, term) for term in atom[1:]]

    def _moved(self, name: str, places: Places, atom: Atom) -> Atom:
        terms = self._terms(atom)
        for term, place in zip(terms.copy(), places, strict=True):
            terms[place] = term
        return (name, *terms)


class Structure:
    """A domain with what follows from its operators, each made once.

    >>> drop = Operator("drop", (("?b", ("ball",)),), frozenset({("held", "?b")}), *[frozenset()] * 3)
    >>> free = Operator("free", (("?x", ("toy",)),), frozenset({("kept", "?x")}), *[frozenset()] * 3)
    >>> balls = Structure(Domain("balls", {"ball": "object"}, {}, {}, (drop,)))
    >>> toys = Structure(Domain("toys", {"toy": "object", "child": "object"}, {}, {}, (free,)))
    >>> balls.certificate == toys.certificate, renaming_between(toys.graph, balls.graph).operators
    (True, {'free': ('drop', (0,))})
    """

    def __init__(self, domain: Domain) -> None:
        self.domain = domain

    @cached_property
    def graph(self) -> DomainGraph:
        """The graph of the operators."""
        return DomainGraph(self.domain)

    @cached_property
    def untyped(self) -> DomainGraph:
        """The graph of the operators once all types are erased."""
        return DomainGraph(self.domain.without_types())

    @cached_property
    def certificate(self) -> str:
        """32 hexadecimal digits that are equal exactly for equivalent domains; raises ``OutOfBudgetError``."""
        form = repr((CERTIFICATE_VERSION, "domain", self.graph.labelled.form))
        return blake2b(form.encode(), digest_size=16).hexdigest()

    @cached_property
    def outline(self) -> Counter[tuple[object, ...]]:
        """What is cheap and equal for equivalent domains: how large the operators and their parts are."""
        outline: Counter[tuple[object, ...]] = Counter()
        for operator in self.domain.operators:
            parts = [tuple(sorted(map(len, set(map(sorted_equality, part))))) for part in operator.parts]
            outline[len(operator.parameters), len(operator.formulas), *parts] += 1
        return outline

    @cached_property
    def as_written(self) -> object:
        """Equal for domains whose operators are equal under equal names, whatever their parameters are called."""
        domain = self.domain
        if has_formulas(domain):
            return DomainGraph(domain, named=True).labelled.form
        operators = []
        constants: set[str] = set()
        types: set[str] = set()
        for operator in domain.operators:
            place = {name: f"?{number}" for number, (name, _) in enumerate(operator.parameters)}
            kinds = tuple(least_types(domain, alternatives) for _, alternatives in operator.parameters)
            parts = [frozenset(map(sorted_equality, renamed(part, place))) for part in operator.parts]
            operators.append((operator.name, kinds, *parts))
            types.update(chain.from_iterable(kinds))
            constants.update(term for part in parts for atom in part for term in atom[1:] if term[0] != "?")
        typed = {name: least_types(domain, (domain.constants.get(name, ROOT_TYPE),)) for name in constants}
        below = hierarchy(domain, types.union(*typed.values()))
        return frozenset(operators), tuple(sorted(typed.items())), frozenset(below)


def renaming_between(given: DomainGraph, other: DomainGraph) -> Renaming | None:
    """A renaming that turns the operators of the given domain into those of the other; None where there is none.

    Raises ``OutOfBudgetError`` where a graph is too symmetric to label within the budget.
    """
    if not isomorphic(given.labelled, other.labelled):
        return None

    def names(kind: str) -> dict[str, str]:
        return _becomes(given, other, kind)

    places, parameters = names("place "), names("parameter ")
    predicates = {
        name: (new, tuple(int(places.get(f"{i} {name}", "0").split()[0]) for i in range(given.arities[name])))
        for name, new in names("predicate ").items()
    }
    operators = {}
    for ours, theirs in names("operator ").items():
        old, new = given.domain.operators[int(ours)], other.domain.operators[int(theirs)]
        moved = tuple(int(parameters[f"{i} {ours}"].split()[0]) for i in range(len(old.parameters)))
        operators[old.name] = (new.name, moved)
    return Renaming(names("type "), names("constant "), predicates, operators)


def object_map(given: DomainGraph, other: DomainGraph, scene: str) -> dict[str, str]:
    """The objects of a scene under the isomorphism of two graphs that are isomorphic."""
    return _becomes(given, other, f"object {scene} ")


def _becomes(given: DomainGraph, other: DomainGraph, kind: str) -> dict[str, str]:
    pairs = zip(given.labelled.order, other.labelled.order, strict=True)
    return {ours[len(kind) :]: theirs[len(kind) :] for ours, theirs in pairs if ours.startswith(kind)}


def same_names(domain: Domain) -> Renaming:
    """The renaming in which everything keeps its name."""
    atoms = [atom for operator in domain.operators for part in operator.parts for atom in part if atom[0] != EQUALITY]
    arities = {atom[0]: len(atom) - 1 for atom in atoms}
    if has_formulas(domain):
        arities = DomainGraph(domain).arities
    predicates = {name: (name, tuple(range(arity))) for name, arity in arities.items()}
    operators = {each.name: (each.name, tuple(range(len(each.parameters)))) for each in domain.operators}
    types, constants = ({name: name for name in names} for names in (domain.types, domain.constants))
    return Renaming(types, constants, predicates, operators)


def has_formulas(domain: Domain) -> bool:
    """True where the domain says more than sets of atoms can."""
    return bool(domain.formulas) or any(operator.formulas for operator in domain.operators)


def least_types(domain: Domain, alternatives: Types) -> Types:
    """The alternatives that say something, sorted: none that another one includes; no type is any object.

    >>> least_types(Domain("d", {"car": "thing", "thing": "object"}, {}, {}, ()), ("car", "thing"))
    ('thing',)
    """
    if len(alternatives) == 1:
        return alternatives if alternatives[0] in domain.types else ()
    wanted = {type_ if type_ in domain.types else ROOT_TYPE for type_ in alternatives}
    if ROOT_TYPE in wanted:
        return ()
    above = {type_: wanted.intersection(domain.ancestors(type_)) - {type_} for type_ in wanted}
    # Of types that are each other's ancestors the first one stays.
    return tuple(sorted(t for t in wanted if not any(t not in above[other] or other < t for other in above[t])))


def hierarchy(domain: Domain, types: Iterable[str]) -> list[tuple[str, str]]:
    """Each of the types with each other one that includes it."""
    types = set(types)
    return [
        (type_, other) for type_ in types for other in types.intersection(domain.ancestors(type_)) if other != type_
    ]


def sorted_equality(atom: Atom) -> Atom:
    """(= ?x ?y) says what (= ?y ?x) says."""
    return (EQUALITY, *sorted(atom[1:])) if atom[0] == EQUALITY else atom


class DomainGraph:
    """The graph of a domain's operators, and of scenes that are added before it is labelled.

    A vertex is called by its kind and then by its name, which counts only where ``named``. ``arities`` are those of the
    predicates in the graph.
    """

    def __init__(self, domain: Domain, *, named: bool = False) -> None:
        self.domain = domain
        self.arities: dict[str, int] = {}
        self._named = named
        self._kinds: dict[str, str] = {}
        self._links: list[Atom] = []
        self._types: set[str] = set()
        for number, operator in enumerate(domain.operators):
            self._add_operator(number, operator)
        for section, form in domain.formulas:
            types = {name: self._type(name) for name in form if section == "types" and isinstance(name, str)}
            self._link("is", self._another("section", section), self._formula(form, types))

    @cached_property
    def labelled(self) -> LabelledGraph:
        """The graph with its canonical form; nothing can be added any more."""
        for type_, other in hierarchy(self.domain, self._types):
            self._link("below", f"type {type_}", f"type {other}")
        return LabelledGraph(self._kinds, {"": self._links})

    def add_scene(self, name: str, objects: Mapping[str, str], scene: Mapping[str, State]) -> None:
        """Add objects with their types, and labelled sets of atoms over them and the domain's constants."""
        terms = {}
        for object_, type_ in objects.items():
            if object_ not in self.domain.constants:
                terms[object_] = self._vertex(f"object {name} {object_}", "object")
                self._has_types(terms[object_], (type_,))
        self._add_atoms(scene, terms, None)

    def _add_operator(self, number: int, operator: Operator[State]) -> None:
        owner = self._vertex(f"operator {number}", f"operator {operator.name}" if self._named else "operator")
        terms = {}
        for place, (variable, types) in enumerate(operator.parameters):
            kind = f"parameter {place}" if self._named else "parameter"
            terms[variable] = self._vertex(f"parameter {place} {number}", kind)
            self._link("parameter", owner, terms[variable])
            self._has_types(terms[variable], types)
        self._add_atoms(dict(zip(PARTS, operator.parts, strict=True)), terms, owner)
        for part, form in operator.formulas:
            wrapper = self._another("section", part)
            self._link("says", owner, wrapper)
            self._link("is", wrapper, self._formula(form, terms))

    def _add_atoms(self, scene: Mapping[str, State], terms: dict[str, str], owner: str | None) -> None:
        """A vertex for each atom, whose kind says which of the sets it is in."""
        labels: dict[Atom, set[str]] = {}
        for label, atoms in scene.items():
            for atom in atoms:
                labels.setdefault(sorted_equality(atom), set()).add(label)
        for atom, says in labels.items():
            vertex = self._another("atom", " ".join(sorted(says)))
            self._arguments(vertex, atom[0], [self._term(term, terms) for term in atom[1:]])
            if owner is not None and terms.keys().isdisjoint(atom):
                self._link("says", owner, vertex)  # otherwise a parameter leads to the operator

    def _arguments(self, vertex: str, head: str, terms: list[str]) -> None:
        """Link an atom, or a function's value, to its symbol and its arguments."""
        if head == EQUALITY:
            self._kinds[vertex] += " ="
            for term in terms:
                self._link("on", vertex, term)
            return
        symbol, places = self._symbol(head, len(terms))
        if len(terms) < 2:
            self._link("symbol", vertex, symbol)
            for term in terms:
                self._link("on", vertex, term)
        for term, place in zip(terms, places, strict=False):
            self._link("argument", vertex, place, term)

    def _symbol(self, name: str, arity: int) -> tuple[str, list[str]]:
        """The vertex of a predicate or function, and those of its places where it has more than one."""
        if self.arities.setdefault(name, arity) != arity:  # a word with another number of arguments is another symbol
            name = f"{name}/{arity}"
            self.arities[name] = arity
        symbol = f"predicate {name}"
        places = [f"place {place} {name}" for place in range(arity)] if arity > 1 else []
        if symbol not in self._kinds:
            self._vertex(symbol, symbol if self._named or name == COST else f"predicate {arity}")
            for place in places:
                self._link("place", symbol, self._vertex(place, place if self._named else "place"))
        return symbol, places

    def _term(self, name: str, terms: Mapping[str, str]) -> str:
        """The vertex of a variable, an object, a constant or a number."""
        if name in terms:
            return terms[name]
        if name.startswith("?"):
            return self._another("unbound", "unbound")
        if name not in self.domain.constants and _NUMBER.fullmatch(name):
            return self._vertex(f"number {float(name)}", f"number {float(name)}")
        vertex = f"constant {name}"
        if vertex not in self._kinds:
            declared = name in self.domain.constants
            self._vertex(vertex, vertex if self._named else "constant" if declared else "undeclared constant")
            self._has_types(vertex, (self.domain.constants.get(name, ROOT_TYPE),))
        return vertex

    def _formula(self, form: Formula, terms: Mapping[str, str]) -> str:
        """The vertex of a formula as written, up to the order of conjunctions, disjunctions, sums, products, (= …)."""
        if isinstance(form, str):
            return self._term(form, terms)
        head, rest = (form[0], form[1:]) if form else ("and", ())
        if not isinstance(head, str):
            return self._list(self._another("formula", "list"), form, terms)
        if form[:2] in _TIMED and len(form) == 3:
            return self._list(self._another("formula", f"{head} {form[1]}"), form[2:], terms)
        if head in _QUANTIFIERS or head == ":derived":
            return self._binding(head, rest, terms)
        if head in _SETS:
            rest = tuple(dict.fromkeys(_flat(form, head)))
            if len(rest) == 1:
                return self._formula(rest[0], terms)
        if head in _UNORDERED:
            vertex = self._another("formula", head)
            for each in rest:
                item = self._another("formula", "item")
                self._link("item", vertex, item)
                self._link("is", item, self._formula(each, terms))
            return vertex
        if head in _ORDERED or head in _CHANGES:
            return self._list(self._another("formula", head), rest, terms)
        vertex = self._another("formula", "atom")
        self._arguments(vertex, head, [self._formula(each, terms) for each in rest])
        return vertex

    def _list(self, vertex: str, forms: Iterable[Formula], terms: Mapping[str, str]) -> str:
        """The vertex with its parts, one after the other."""
        last = vertex
        for form in forms:
            item = self._another("formula", "item")
            self._link("next", last, item)
            self._link("is", item, self._formula(form, terms))
            last = item
        return vertex

    def _binding(self, head: str, rest: tuple[Formula, ...], terms: Mapping[str, str]) -> str:
        """A quantifier, or a rule of a derived predicate: its variables have vertices of their own in its formula."""
        vertex = self._another("formula", head)
        opening, formulas = rest[:1], rest[1:]
        try:
            if not opening or isinstance(opening[0], str):
                raise DomainError("there are no variables")
            listing = opening[0][1:] if head == ":derived" else opening[0]
            bound = typed_list(listing, head)
        except DomainError:
            return self._list(vertex, rest, terms)
        if head == ":derived":
            formulas = ((*opening[0][:1], *[name for name, _ in bound]), *formulas)
        inner = dict(terms)
        for name, types in bound:
            inner[name] = self._another("formula", "variable")
            self._link("binds", vertex, inner[name])
            self._has_types(inner[name], types)
        return self._list(vertex, formulas, inner)

    def _type(self, name: str) -> str:
        self._types.add(name)
        return self._vertex(f"type {name}", f"type {name}" if self._named else "type")

    def _has_types(self, vertex: str, types: Types) -> None:
        for type_ in least_types(self.domain, types):
            self._link("type", vertex, self._type(type_))

    def _another(self, what: str, kind: str) -> str:
        return self._vertex(f"{what} {len(self._kinds)}", f"{what} {kind}")

    def _vertex(self, name: str, kind: str) -> str:
        self._kinds.setdefault(name, kind)
        return name

    def _link(self, relation: str, *vertices: str) -> None:
        self._links.append((relation, *vertices))


def _flat(form: Formula, head: str) -> Iterator[Formula]:
    """The members of a conjunction in which conjunctions are nested, or of a disjunction."""
    if isinstance(form, tuple) and form[:1] == (head,):
        for each in form[1:]:
            yield from _flat(each, head)
    else:
        yield form
