"""The graph of a domain: a vertex for each type, constant, predicate, place of a predicate, operator, parameter, atom.

Two graphs are isomorphic exactly when a bijection of all of these turns the operators of one domain into those of the
other. What no operator uses is not in the graph. What STRIPS cannot say is a tree of vertices, as written. The scenes
of a problem can be joined to the graph of its domain: then an isomorphism renames both.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from functools import cached_property
from typing import Any, TypeAlias

from pddl_eval.definition.budget import spend
from pddl_eval.definition.canonical import LabelledGraph
from pddl_eval.definition.model import (
    ARITHMETIC,
    BINDERS,
    COMPARISONS,
    DURATION,
    EQUALITY,
    ROOT_TYPE,
    UPDATES,
    Atom,
    Domain,
    Formula,
    Operator,
    State,
    Types,
)
from pddl_eval.definition.pddl import MODAL, DomainError, typed_list
from pddl_eval.definition.structure.types import hierarchy, least_types

Vertex: TypeAlias = tuple[Any, ...]
"""What it is, and which one: ("operator", 3), ("predicate", "at", 2), ("place", ("predicate", "at", 2), 0)."""

PARTS = ("condition", "negative condition", "added", "deleted")
"""Of an operator, in the order of ``Operator.parts``."""

COST = ("function", "total-cost", 0)
"""The function that PDDL itself gives a meaning."""

IN_METRICS = frozenset({COST, ("function", "total-time", 0), ("function", "", 0)})
"""Those that it gives one in metrics; the nameless one stands for a metric's constant."""

NOTHING: Mapping[str, State] = {}

SETS = frozenset({"and", "or"})
_UNORDERED = frozenset({*SETS, EQUALITY, "+", "*"})
_NUMERIC = UPDATES | ARITHMETIC | COMPARISONS - {EQUALITY} | {"probabilistic"}
"""What has numbers and functions for its parts."""

_WORDS = BINDERS | _UNORDERED | _NUMERIC | {"not", "imply", "when", "preference", "oneof"}
"""What stands at the head of a formula and is no predicate."""

_NUMBER = re.compile(r"([-+]?)(?=\.?[0-9])0*+([0-9]*+)(?:\.([0-9]*+))?+(?:e([-+]?[0-9]{1,18}))?")


class DomainGraph:
    """The graph of a domain's operators, and of scenes that are added before it is labelled.

    ``kinds`` has each vertex with its colour. Names of operators and places of parameters count only where
    ``operators``, all other names only where ``words``.
    """

    def __init__(self, domain: Domain, *, words: bool = False, operators: bool = False) -> None:
        self.domain = domain
        self.kinds: dict[Vertex, str] = {}
        self._words, self._operators = words, operators
        self._meant = frozenset({COST})
        self._links: dict[tuple[Any, ...], None] = {}  # each once: (= ?v ?v) links its vertex to the same term twice
        for number, operator in enumerate(domain.operators):
            spend(10)
            self._add_operator(number, operator)
        for section, form in domain.formulas:
            spend(10)
            self._owner = self._another("section", section)
            self._link("is", self._owner, self._formula(form, {}))

    @cached_property
    def labelled(self) -> LabelledGraph:
        """The graph with its canonical form; nothing can be added any more."""
        for type_, other in hierarchy(self.domain, self.names("type")):
            self._link("below", self._type(type_), self._type(other))
        return LabelledGraph(self.kinds, {"": self._links})

    def names(self, kind: str) -> frozenset[str]:
        """The names of the types or of the constants in the graph."""
        return frozenset(vertex[1] for vertex in self.kinds if vertex[0] == kind)

    def says_the_same(self, other: DomainGraph) -> bool:
        """True where all is equal under equal names, for which nothing has to be labelled."""
        return (self.kinds, self._links) == (other.kinds, other._links)

    def add_scene(  # noqa: PLR0913 (all that a problem says)
        self,
        name: str,
        objects: Mapping[str, str],
        atoms: Mapping[str, State],
        numbers: Mapping[str, State] = NOTHING,
        formulas: Iterable[tuple[str, Formula]] = (),
        states: Iterable[tuple[State, Set[tuple[Atom, Any]]]] = (),
    ) -> None:
        """Add objects with their types, and what is said of them and of the domain's constants.

        Atoms and fluents are in labelled sets, formulas have labels, and each state has atoms and fluents with their
        values. An object that operators name is a constant, declared or not.
        """
        terms: dict[str, Vertex] = {}
        for object_, type_ in objects.items():
            if object_ not in self.domain.constants:
                constant = ("constant", object_)
                is_named = constant in self.kinds
                terms[object_] = constant if is_named else self._vertex(("object", name, object_), "object")
                if type_ != ROOT_TYPE:  # an undeclared type, too: objects differ by it
                    self._link("type", terms[object_], self._type(type_))
        self._add_atoms(atoms, terms, None)
        self._meant = IN_METRICS
        for label, fluents in sorted(numbers.items()):
            for fluent in sorted(fluents):
                self._atom(label, "function", fluent[0], [self._term(term, terms) for term in fluent[1:]])
        for label, form in formulas:
            self._owner = self._another("section", label)
            self._link("is", self._owner, self._formula(form, terms, numeric=not label.startswith(":")))
        for true, values in sorted(states, key=lambda state: [*map(sorted, state)]):
            state = self._another("state", "")
            said = [("atom", "predicate", atom) for atom in sorted(true)]
            said += [(f"= {value}", "function", fluent) for fluent, value in sorted(values)]
            for label, what, (head, *words) in said:
                self._link("in", self._atom(label, what, head, [self._term(word, terms) for word in words]), state)

    def _add_operator(self, number: int, operator: Operator) -> None:
        kind = f"operator {operator.name}" if self._operators else "operator"
        self._owner = owner = self._vertex(("operator", number), kind)
        terms = {}
        for place, (variable, types) in enumerate(operator.parameters):
            kind = f"parameter {place}" if self._operators else "parameter"
            terms[variable] = self._typed(self._vertex(("parameter", number, place), kind), types)
            self._link("parameter", owner, terms[variable])
        atoms, formulas = parts_of(operator)
        self._add_atoms(atoms, terms, owner)
        for part, form in formulas:
            section = self._another("section", part)
            self._link("says", owner, section)
            self._link("is", section, self._formula(form, terms))

    def _add_atoms(self, scene: Mapping[str, State], terms: dict[str, Vertex], owner: Vertex | None) -> None:
        """Atoms, each with a label that says which of the sets it is in.

        An atom of one argument is an edge to its predicate; one of two is a pair of vertices, each with its place and
        its argument; any other is a vertex, linked to its owner where no parameter leads there.
        """
        labels: dict[Atom, set[str]] = {}
        for label, atoms in scene.items():
            for atom in sorted(atoms):  # which of several isomorphisms is found must not depend on the order in a set
                labels.setdefault(sorted_equality(atom), set()).add(label)
        for atom, sets in labels.items():
            spend(10)
            kind = f"atom {' '.join(sorted(sets))}"
            arguments = [self._term(term, terms) for term in atom[1:]]
            belongs = owner is None or not terms.keys().isdisjoint(atom)
            if atom[0] == EQUALITY or len(arguments) > 2 or (arguments and not belongs):
                vertex = self._atom(kind, "predicate", atom[0], arguments)
                if owner is not None and not belongs:
                    self._link("says", owner, vertex)
                continue
            symbol, places = self._symbol("predicate", atom[0], len(arguments))
            if not places:
                self._link(kind, *(arguments or ([] if owner is None else [owner])), symbol)
                continue
            pair = [self._vertex(("atom", len(self.kinds)), kind) for _ in places]
            self._link("with", *pair)
            self._link("with", *reversed(pair))
            for vertex, place, term in zip(pair, places, arguments, strict=True):
                self._link("at", vertex, place)
                self._link("on", vertex, term)

    def _atom(self, kind: str, what: str, name: str, arguments: list[Vertex]) -> Vertex:
        """The vertex of an atom, or of a function's value, linked to its symbol and its arguments."""
        vertex = self._vertex(("atom", len(self.kinds)), f"{kind} =" if name == EQUALITY else kind)
        symbol, places = self._symbol(what, name, len(arguments)) if name != EQUALITY else (None, [])
        for place, term in zip(places, arguments, strict=False):
            self._link("argument", vertex, place, term)
        for term in arguments if not places else ():
            self._link("on", vertex, term)
        if symbol and not places:
            self._link("symbol", vertex, symbol)
        return vertex

    def _symbol(self, what: str, name: str, arity: int) -> tuple[Vertex, list[Vertex]]:
        """The vertex of a predicate or a function, and those of its places where it has more than one."""
        symbol = (what, name, arity)  # a word with another number of arguments is another symbol
        places: list[Vertex] = [("place", symbol, place) for place in range(arity)] if arity > 1 else []
        if symbol not in self.kinds:
            self._vertex(
                symbol, f"{what} {name}/{arity}" if self._words or symbol in self._meant else f"{what} {arity}"
            )
            for place in places:
                self._link("place", symbol, self._vertex(place, f"place {place[-1]}" if self._words else "place"))
        return symbol, places

    def _term(self, name: str, terms: Mapping[str, Vertex], numeric: bool = False) -> Vertex:
        """The vertex of a variable, an object, a constant or, where one is expected, a number."""
        if name in terms:
            return terms[name]
        if name.startswith("?"):
            is_named = self._words or name == DURATION
            return self._vertex(("unbound", self._owner, name), f"unbound {name}" if is_named else "unbound")
        value = number(name) if numeric else None
        if value is not None:
            return self._vertex(("number", value), f"number {value}")
        vertex = ("constant", name)
        if vertex not in self.kinds:
            self._vertex(vertex, f"constant {name}" if self._words else "constant")
            self._typed(vertex, self.domain.types_of(name))
        return vertex

    def _formula(self, form: Formula, terms: Mapping[str, Vertex], numeric: bool = False) -> Vertex:
        """The vertex of a formula as written, up to the order of conjunctions, disjunctions, sums, products, (= …).

        ``numeric``: it stands where a number or the value of a function is expected.
        """
        if isinstance(form, str):
            return self._term(form, terms, numeric)
        spend(10)
        head, rest = (form[0], form[1:]) if form else ((), form)
        if not isinstance(head, str):
            return self._items("list", form, terms)
        bound = bound_variables(form)
        if bound is not None:  # they have vertices of their own in the formula
            variables = [(name, self._typed(self._another("formula", "variable"), types)) for name, types in bound]
            # A rule says of which predicate it is, and the order of its variables.
            derived = [(*form[1][:1], *[name for name, _ in bound])] if head == ":derived" else []
            vertex = self._items(head, [*derived, *form[2:]], {**terms, **dict(variables)})
            for _, variable in variables:
                self._link("binds", vertex, variable)
            return vertex
        # With times, which are no objects; `(at start)` is an atom of a constant.
        if head in MODAL or (head in ("at", "over") and not isinstance(form[-1], str)):
            times = [number(each) or each for each in rest if isinstance(each, str)]
            return self._items(" ".join((head, *times)), [each for each in rest if not isinstance(each, str)], terms)
        if head in _WORDS:
            numbers = head in _NUMERIC
            if head == EQUALITY:
                numbers = any(not isinstance(each, str) or each == DURATION for each in rest)
            return self._items(head, rest, terms, numbers)
        arguments = [self._formula(each, terms, not isinstance(each, str)) for each in rest]
        return self._atom("formula atom", "function" if numeric else "predicate", head, arguments)

    def _items(self, kind: str, forms: Iterable[Formula], terms: Mapping[str, Vertex], numbers: bool = False) -> Vertex:
        """A vertex with its parts: one after the other, or all beside each other where their order says nothing."""
        vertex = last = self._another("formula", kind)
        for form in forms:
            item = self._another("formula", "item")
            self._link("item" if kind in _UNORDERED else "next", last, item)
            self._link("is", item, self._formula(form, terms, numbers))
            last = vertex if kind in _UNORDERED else item
        return vertex

    def _type(self, name: str) -> Vertex:
        return self._vertex(("type", name), f"type {name}" if self._words else "type")

    def _typed(self, vertex: Vertex, types: Types) -> Vertex:
        for type_ in least_types(self.domain, types):
            self._link("type", vertex, self._type(type_))
        return vertex

    def _another(self, what: str, kind: str) -> Vertex:
        return self._vertex((what, len(self.kinds)), f"{what} {kind}")

    def _vertex(self, vertex: Vertex, kind: str) -> Vertex:
        self.kinds.setdefault(vertex, kind)
        return vertex

    def _link(self, relation: str, *vertices: Vertex) -> None:
        self._links[relation, *vertices] = None


def parts_of(operator: Operator) -> tuple[dict[str, State], Sequence[tuple[str, Formula]]]:
    """The sets of atoms of an operator by their names, and its formulas.

    Those of a durative action have the time before them, as in ``at start added``.
    """
    # One with something that has no time is compared as written.
    timed = {f"{' '.join(when)} ": half for when, half in operator.halves.items()} or {"": operator}
    atoms = {when + part: atoms for when, half in timed.items() for part, atoms in zip(PARTS, half.parts, strict=True)}
    return atoms, [(when + part, form) for when, half in timed.items() for part, form in half.formulas]


def bound_variables(form: Formula) -> list[tuple[str, Types]] | None:
    """The variables that a quantifier, or a rule of a derived predicate, binds; None for what binds none."""
    if len(form) < 2 or form[0] not in BINDERS or isinstance(form[1], str):
        return None
    try:
        return typed_list(form[1][form[0] == ":derived" :], str(form[0]))
    except DomainError:
        return None


def number(word: str) -> str | None:
    """A number in its shortest form, exactly and in time linear in its length; None for another word.

    >>> [number(word) for word in ("2", "-02.50", "0.25e1", "1e999999999", "two")]
    ['2e0', '-25e-1', '25e-1', '1e999999999', None]
    """
    found = _NUMBER.fullmatch(word)
    if found is None:
        return None
    sign, whole, fraction, exponent = found.groups(default="")
    digits = (whole + fraction).rstrip("0")
    power = int(exponent or 0) + len(whole) - len(digits)  # of ten, for the last digit
    digits = digits.lstrip("0")
    return f"{'-' if sign == '-' else ''}{digits}e{power}" if digits else "0e0"


def sorted_equality(atom: Atom) -> Atom:
    """(= ?x ?y) says what (= ?y ?x) says."""
    return (EQUALITY, *sorted(atom[1:])) if atom[0] == EQUALITY else atom
