"""The graph of a domain: a vertex for each type, constant, predicate, place of a predicate, operator, parameter, atom.

Two graphs are isomorphic exactly when a bijection of all of these turns the operators of one domain into those of the
other. What no operator uses is not in the graph. What STRIPS cannot say is a tree of vertices, as written. The scenes
of a problem can be joined to the graph of its domain: then an isomorphism renames both.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Set

from pddl_eval.budget import check
from pddl_eval.canonical import LabelledGraph
from pddl_eval.model import EQUALITY, ROOT_TYPE, Atom, Domain, Formula, Operator, State, Types, renamed
from pddl_eval.parsing import DomainError, typed_list

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


class DomainGraph:
    """The graph of a domain's operators, and of scenes that are added before it is labelled.

    A vertex is called by its kind and then by its name, which counts only where ``named``. ``arities`` are those of the
    predicates in the graph, by ``name/arity``.
    """

    def __init__(self, domain: Domain, *, named: bool = False) -> None:
        self.domain = domain
        self.arities: dict[str, int] = {}
        self._named = named
        self._kinds: dict[str, str] = {}
        self._links: list[Atom] = []
        self._types: set[str] = set()
        self._labelled: LabelledGraph | None = None  # not cached_property, which mypyc's classes have not
        for number, operator in enumerate(domain.operators):
            self._add_operator(number, operator)
        for section, form in domain.formulas:
            types = {name: self._type(name) for name in form if section == "types" and isinstance(name, str)}
            self._link("is", self._another("section", section), self._formula(form, types))

    @property
    def labelled(self) -> LabelledGraph:
        """The graph with its canonical form; nothing can be added any more."""
        if self._labelled is None:
            for type_, other in hierarchy(self.domain, self._types):
                self._link("below", f"type {type_}", f"type {other}")
            self._labelled = LabelledGraph(self._kinds, {"": self._links})
        return self._labelled

    def names(self, kind: str) -> list[str]:
        """The names of the vertices that are called by that kind."""
        return [name[len(kind) :] for name in self._kinds if name.startswith(kind)]

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
        """Atoms, each with a label that says which of the sets it is in.

        An atom of one argument is an edge to its predicate; one of two is a pair of vertices, each with its place and
        its argument; any other is a vertex, linked to its owner where no parameter leads there.
        """
        labels: dict[Atom, set[str]] = {}
        for label, atoms in scene.items():
            for atom in atoms:
                labels.setdefault(sorted_equality(atom), set()).add(label)
        for atom, sets in labels.items():
            check()
            label = " ".join(sorted(sets))
            arguments = [self._term(term, terms) for term in atom[1:]]
            belongs = owner is None or not terms.keys().isdisjoint(atom)
            if atom[0] == EQUALITY or len(arguments) > 2 or (arguments and not belongs):
                vertex = self._another("atom", label)
                self._arguments(vertex, atom[0], arguments)
                if owner is not None and not belongs:
                    self._link("says", owner, vertex)
                continue
            symbol, places = self._symbol(atom[0], len(arguments))
            if not places:
                ends = arguments or ([] if owner is None else [owner])
                self._link(f"atom {label}", *ends, symbol)
                continue
            pair = [self._another("atom", label) for _ in places]
            self._link("with", *pair)
            self._link("with", *reversed(pair))
            for vertex, place, term in zip(pair, places, arguments, strict=True):
                self._link("at", vertex, place)
                self._link("on", vertex, term)

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
        raw, name = name, f"{name}/{arity}"  # a word with another number of arguments is another symbol
        symbol = f"predicate {name}"
        places = [f"place {place} {name}" for place in range(arity)] if arity > 1 else []
        if symbol not in self._kinds:
            self.arities[name] = arity
            self._vertex(symbol, symbol if self._named or raw == COST else f"predicate {arity}")
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
        form = form or ("and",)
        head, rest = form[0], form[1:]
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


def hierarchy(domain: Domain, types: Set[str]) -> Iterator[tuple[str, str]]:
    """Each of the types with the next one of them that includes it."""
    for type_ in types:
        above = next((other for other in domain.ancestors(type_) if other in types and other != type_), None)
        if above is not None:
            yield type_, above


def by_position(operator: Operator[State]) -> list[State]:
    """The atoms of each part, parameters replaced by their positions."""
    position = {name: f"?{number}" for number, (name, _) in enumerate(operator.parameters)}
    return [frozenset(map(sorted_equality, renamed(part, position))) for part in operator.parts]


def sorted_equality(atom: Atom) -> Atom:
    """(= ?x ?y) says what (= ?y ?x) says."""
    return (EQUALITY, *sorted(atom[1:])) if atom[0] == EQUALITY else atom
