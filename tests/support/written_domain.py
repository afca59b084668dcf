"""A domain as its text writes it: what recipes change, rename and write again; ADL and costs are kept.

The values are those of the text (formulas are trees), not the STRIPS reading of ``parsing``. ``spelled_out`` says when
two of them differ in no more than order and the names of variables; ``outline`` gives what no renaming changes. Neither
searches for a renaming: that is what the answers are there to test.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, count
from random import Random
from typing import Any

from pddl_eval.definition.model import EQUALITY, ROOT_TYPE, Types
from pddl_eval.definition.model import Formula as Expression
from pddl_eval.definition.pddl import DEFINE_DOMAIN, parse_domain, problem_blocks, typed_list, without_comments
from pddl_eval.definition.pddl.sexpr import read_expression
from pddl_eval.errors import UserError
from pddl_eval.shown import quote

Formula = tuple[Any, ...]
"""An atom, or a connective with its parts, which are formulas, terms and (in a quantifier) a typed list."""

Typed = tuple[tuple[str, Types], ...]
"""Names, each with its alternative types."""

TOTAL_COST = "total-cost"
"""The function that PDDL reserves for the costs of a plan."""

_CONNECTIVES = frozenset({"and", "or", "not", "imply", "when"})
_QUANTIFIERS = frozenset({"forall", "exists"})
_NUMERIC = frozenset(
    {"increase", "decrease", "assign", "scale-up", "scale-down", "<", ">", "<=", ">=", "+", "-", "*", "/"}
)
_RESERVED = frozenset({"preference", "oneof", "probabilistic", "either", "define", ROOT_TYPE, "-"})
_SECTIONS = {":requirements", ":types", ":constants", ":predicates", ":functions", ":derived", ":action"}


@dataclass(frozen=True, slots=True)
class WrittenOperator:
    """An operator; ``conditions`` and ``effects`` are the members of its two conjunctions, without repetitions."""

    name: str
    parameters: Typed
    conditions: tuple[Formula, ...]
    effects: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Renaming:
    """New names, and new orders: a renamed atom of p has at place i what it had at place ``orders[p][i]``.

    What is not named keeps its name and order, and an atom with another number of arguments its order. ``predicates``
    and ``orders`` hold functions too.
    """

    types: Mapping[str, str] = field(default_factory=dict)
    constants: Mapping[str, str] = field(default_factory=dict)
    predicates: Mapping[str, str] = field(default_factory=dict)
    operators: Mapping[str, str] = field(default_factory=dict)
    orders: Mapping[str, Sequence[int]] = field(default_factory=dict)
    parameter_orders: Mapping[str, Sequence[int]] = field(default_factory=dict)

    def atom(self, atom: Formula, objects: Collection[str] = ()) -> Formula:
        """A renamed atom; objects, variables and unknown constants keep their names."""
        name, terms = atom[0], atom[1:]
        order = self.orders.get(name, ())
        order = order if len(order) == len(terms) else range(len(terms))
        new = [terms[i] if terms[i] in objects else self.constants.get(terms[i], terms[i]) for i in order]
        return (self.predicates.get(name, name), *new)

    def typed(self, listing: Typed) -> Typed:
        """The listing with the new names of its types."""
        return tuple((name, tuple(self.types.get(type_, type_) for type_ in types)) for name, types in listing)


@dataclass(frozen=True, slots=True)
class WrittenDomain:
    """A domain's sections. ``derived`` holds the head, a typed list and the condition of each derived predicate."""

    name: str
    requirements: tuple[str, ...]
    types: tuple[tuple[str, str], ...]
    constants: Typed
    predicates: tuple[tuple[str, Typed], ...]
    functions: tuple[tuple[str, Typed], ...]
    derived: tuple[tuple[str, Typed, Formula], ...]
    operators: tuple[WrittenOperator, ...]

    def renamed(self, renaming: Renaming) -> WrittenDomain:
        """The same domain in other words, with parameters and arguments in other orders."""

        def ordered(name: str, listing: Typed, orders: Mapping[str, Sequence[int]]) -> Typed:
            return renaming.typed(tuple(listing[i] for i in orders.get(name, range(len(listing)))))

        def declared(listing: tuple[tuple[str, Typed], ...]) -> tuple[tuple[str, Typed], ...]:
            predicates, orders = renaming.predicates, renaming.orders
            return tuple((predicates.get(name, name), ordered(name, found, orders)) for name, found in listing)

        change = partial(mapped, atom=renaming.atom, typed=renaming.typed)
        heads = declared(tuple((name, parameters) for name, parameters, _ in self.derived))
        types = renaming.types
        return replace(
            self,
            types=tuple((types.get(name, name), types.get(parent, parent)) for name, parent in self.types),
            constants=tuple(
                (renaming.constants.get(name, name), found) for name, found in renaming.typed(self.constants)
            ),
            predicates=declared(self.predicates),
            functions=declared(self.functions),
            derived=tuple((*head, change(body)) for head, (_, _, body) in zip(heads, self.derived, strict=True)),
            operators=tuple(
                WrittenOperator(
                    renaming.operators.get(each.name, each.name),
                    ordered(each.name, each.parameters, renaming.parameter_orders),
                    tuple(map(change, each.conditions)),
                    tuple(map(change, each.effects)),
                )
                for each in self.operators
            ),
        )

    def ancestors(self, type_: str) -> Iterator[str]:
        """The type and what is above it, up to ``object``; an undeclared type is ``object``."""
        parents, seen = dict(self.types), set()
        while type_ in parents and type_ not in seen and type_ != ROOT_TYPE:
            yield type_
            seen.add(type_)
            type_ = parents[type_]
        yield ROOT_TYPE

    def widest(self, types: Types) -> frozenset[str]:
        """The alternatives without those that another one is above of; ``object`` is above of all."""
        found = {next(self.ancestors(type_)) for type_ in types}
        return frozenset(type_ for type_ in found if not (set(self.ancestors(type_)) - {type_}) & found)

    def atoms(self) -> Iterator[Formula]:
        """Every atom that an operator or a derived predicate contains, functions with their arguments included."""
        for each in self.operators:
            for formula in chain(each.conditions, each.effects):
                yield from atoms_in(formula)
        for name, parameters, body in self.derived:
            yield (name, *(variable for variable, _ in parameters))
            yield from atoms_in(body)


def mapped(formula: Formula, atom: Callable[[Formula], Formula], typed: Callable[[Typed], Typed]) -> Formula:
    """The formula with other atoms and other typed lists, connectives and numbers being kept."""
    head = formula[0] if formula else "and"
    if head in _QUANTIFIERS:
        return (head, typed(formula[1]), *(mapped(part, atom, typed) for part in formula[2:]))
    if head in _CONNECTIVES or head in _NUMERIC or any(isinstance(part, tuple) for part in formula):
        return (head, *(mapped(part, atom, typed) if isinstance(part, tuple) else part for part in formula[1:]))
    return atom(formula)


def atoms_in(formula: Formula) -> list[Formula]:
    """The atoms of a formula, equations included.

    >>> atoms_in(("when", ("p", "?x"), ("not", ("q",))))
    [('p', '?x'), ('q',)]
    """
    found: list[Formula] = []
    mapped(formula, lambda atom: found.append(atom) or atom, lambda typed: typed)  # type: ignore[func-returns-value]
    return found


# From text and back.


def read_written(text: str) -> WrittenDomain:
    """The first domain of a text, in lower case.

    Raises ``UserError`` where ``parse_domain`` reads none, where it has no operators or is not well formed
    (a term that nothing declares), and where this reading would lose something (a durative action, two parents).

    >>> read_written("(define (domain d) (:action a :parameters (?x) :effect (and (p ?x))))").operators[0].effects
    (('p', '?x'),)
    """
    parse_domain(text)
    block = next(problem_blocks(without_comments(text.lower()), DEFINE_DOMAIN))
    _, header, *sections = read_expression(block.text)
    found: dict[str, list[Any]] = {}
    for section in sections:
        keyword = str(section[0])
        _require(keyword in _SECTIONS, keyword)
        found.setdefault(keyword, []).append(section[1:])
    _require(":action" in found, "a domain without operators")
    one = {keyword: list(chain.from_iterable(bodies)) for keyword, bodies in found.items()}
    constants = _typed_list(one.get(":constants", []))
    terms = frozenset(name for name, _ in constants)
    return WrittenDomain(
        str(header[1]),
        tuple(map(str, one.get(":requirements", []))),
        _declared_types(_typed_list(one.get(":types", []))),
        constants,
        _declarations(one.get(":predicates", [])),
        _declarations(one.get(":functions", [])),
        tuple(_derived(body, terms) for body in found.get(":derived", [])),
        tuple(_operator(body, terms) for body in found[":action"]),
    )


def _require(is_kept: bool, what: object) -> None:
    if not is_kept:
        raise _malformed(what)


def _malformed(what: object) -> UserError:
    return UserError(f"variants are made of well-formed domains of PDDL 2.2 without time, not of {quote(str(what))}")


def _derived(body: Sequence[Expression], constants: frozenset[str]) -> tuple[str, Typed, Formula]:
    head, condition = body if len(body) == 2 else ((), ())
    if not isinstance(head, tuple) or not head:
        raise _malformed(body)
    parameters = _variables(head[1:])
    return str(head[0]), parameters, _formula(condition, constants.union(dict(parameters)))


def _operator(body: Sequence[Expression], constants: frozenset[str]) -> WrittenOperator:
    name, *rest = body
    keywords = [str(word) for word in rest[::2]]
    _require(len(rest) % 2 == 0 and {":parameters", ":precondition", ":effect"}.issuperset(keywords), body)
    parts = dict(zip(keywords, rest[1::2], strict=True))
    parameters = _variables(parts.get(":parameters", ()))
    terms = constants.union(dict(parameters))
    both = [conjuncts(_formula(parts.get(part) or ("and",), terms)) for part in (":precondition", ":effect")]
    return WrittenOperator(str(name), parameters, *both)


def _declared_types(listing: Typed) -> tuple[tuple[str, str], ...]:
    """Each type with its parent; a type that is named only as a parent is declared by that."""
    parents = {name: types[0] for name, types in listing}
    _require(len(parents) == len(listing) and all(len(types) == 1 for _, types in listing), listing)
    parents = {**dict.fromkeys(parents.values(), ROOT_TYPE), **parents}
    return tuple((name, parent) for name, parent in parents.items() if name != ROOT_TYPE)


def _declarations(items: Iterable[Expression]) -> tuple[tuple[str, Typed], ...]:
    """Predicates or functions; what functions yield (``- number``) is left out."""
    return tuple((str(item[0]), _typed_list(item[1:])) for item in items if isinstance(item, tuple) and item)


def _variables(listing: Expression) -> Typed:
    _require(isinstance(listing, tuple), listing)
    variables = _typed_list(listing)
    _require(len(dict(variables)) == len(variables) and all(name[0] == "?" for name, _ in variables), listing)
    return variables


def _typed_list(items: Iterable[Expression]) -> Typed:
    return tuple(typed_list(items, "a list of names"))


def _formula(expression: Expression, terms: frozenset[str]) -> Formula:
    """The expression as tuples; its atoms are about the terms and what quantifiers bind."""
    if isinstance(expression, str) or not expression or not isinstance(expression[0], str):
        raise _malformed(expression)
    head, parts = expression[0], expression[1:]
    if head in _QUANTIFIERS:
        _require(len(parts) == 2, expression)
        variables = _variables(parts[0])
        return (head, variables, _formula(parts[1], terms.union(dict(variables))))
    if head in _CONNECTIVES:
        _require(len(parts) == {"not": 1, "imply": 2, "when": 2}.get(head, len(parts)), expression)
        return (head, *(_formula(part, terms) for part in parts))
    is_numeric = head in _NUMERIC or (head == EQUALITY and any(isinstance(part, tuple) for part in parts))
    if is_numeric:
        return (head, *(part if isinstance(part, str) else _formula(part, terms) for part in parts))
    _require(terms.issuperset(map(str, parts)) and head not in _RESERVED and head[0] not in "?:", expression)
    _require(head != EQUALITY or len(parts) == 2, expression)
    return (head, *map(str, parts))


def conjuncts(formula: Formula) -> tuple[Formula, ...]:
    """The members of a conjunction, those of conjunctions in it included, each once.

    >>> conjuncts(("and", ("p",), ("and", ("q",), ("p",))))
    (('p',), ('q',))
    """
    if formula[0] != "and":
        return (formula,)
    return tuple(dict.fromkeys(member for part in formula[1:] for member in conjuncts(part)))


def write_domain(domain: WrittenDomain, random: Random, any_order: bool = False) -> str:
    """The domain as PDDL, its declarations, operators and conjuncts in random order.

    The sections have PDDL's order unless ``any_order``. Raises nothing; ``read_written`` reads the same domain.

    >>> print(write_domain(read_written("(define (domain d) (:action a :effect (p)))"), Random(0)))
    (define (domain d)
      (:action a
        :parameters ()
        :precondition (and)
        :effect (and (p))))
    """

    def shuffled(items: Iterable[Any]) -> list[Any]:
        found = list(items)
        random.shuffle(found)
        return found

    def conjunction(formulas: Iterable[Formula]) -> str:
        return _show(("and", *shuffled(formulas)))

    def declarations(listing: Iterable[tuple[str, Typed]]) -> Iterator[str]:
        for name, typed in shuffled(listing):
            yield f"({' '.join([name, *_show_typed(typed)])})"

    sections = {
        ":types": [f"{name} - {parent}" for name, parent in shuffled(domain.types)],
        ":constants": list(_show_typed(shuffled(domain.constants))),
        ":predicates": list(declarations(domain.predicates)),
        ":functions": list(declarations(domain.functions)),
    }
    lines = [f"  ({keyword} {' '.join(items)})" for keyword, items in sections.items() if items]
    structures = [
        f"  (:derived ({' '.join([name, *_show_typed(parameters)])}) {_show(body)})"
        for name, parameters, body in domain.derived
    ] + [
        f"  (:action {each.name}\n    :parameters ({' '.join(_show_typed(each.parameters))})\n"
        f"    :precondition {conjunction(each.conditions)}\n    :effect {conjunction(each.effects)})"
        for each in domain.operators
    ]
    lines = shuffled(lines + structures) if any_order else lines + shuffled(structures)
    if domain.requirements:
        lines.insert(0, f"  (:requirements {' '.join(domain.requirements)})")
    return "\n".join([f"(define (domain {domain.name})", *lines]) + ")"


def _show(formula: Any) -> str:
    if isinstance(formula, str):
        return formula
    if formula[0] in _QUANTIFIERS:
        typed = f"({' '.join(_show_typed(formula[1]))})"
        return f"({' '.join([formula[0], typed, *map(_show, formula[2:])])})"
    return f"({' '.join(map(_show, formula))})"


def _show_typed(listing: Iterable[tuple[str, Types]]) -> Iterator[str]:
    """Each name with its type; where there are no types, none is written."""
    listing = list(listing)
    if all(types == (ROOT_TYPE,) for _, types in listing):
        return iter([name for name, _ in listing])
    alternatives = ((name, " ".join(types if len(types) == 1 else ("(either", *types))) for name, types in listing)
    return (f"{name} - {shown}{')' * (' ' in shown)}" for name, shown in alternatives)


# What two texts have in common.


def spelled_out(domain: WrittenDomain) -> object:
    """What the domain says, by names and places: equal for texts that differ in order and names of variables only.

    Declarations count as far as operators use them: which types are above which, and the types of constants.

    >>> one, other = (read_written(f"(define (domain d) (:action a :parameters ({v}) :effect (p {v})))")
    ...               for v in ("?x", "?y"))
    >>> spelled_out(one) == spelled_out(other)
    True
    """

    def typed(listing: Typed) -> tuple[frozenset[str], ...]:
        return tuple(domain.widest(types) for _, types in listing)

    def spelled(formula: Formula, places: Mapping[str, str]) -> object:
        head = formula[0]
        if head in _QUANTIFIERS:
            bound = {name: f"?{len(places) + number}" for number, (name, _) in enumerate(formula[1])}
            return (head, typed(formula[1]), *(spelled(part, {**places, **bound}) for part in formula[2:]))
        if head in ("and", "or"):
            members = {spelled(part, places) for part in _members(formula, head)}
            return next(iter(members)) if len(members) == 1 else (head, frozenset(members))
        parts = [spelled(part, places) if isinstance(part, tuple) else places.get(part, part) for part in formula[1:]]
        return (head, frozenset(parts)) if head == EQUALITY else (head, *parts)

    operators = []
    for name, parameters, formulas in _structures(domain):
        places = {variable: f"?{number}" for number, (variable, _) in enumerate(parameters)}
        operators.append((name, typed(parameters), tuple(spelled(("and", *part), places) for part in formulas)))
    constants, types = used_constants(domain), used_types(domain)
    return (
        frozenset(Counter(operators).items()),
        frozenset((name, domain.widest(found)) for name, found in domain.constants if name in constants),
        frozenset((type_, above) for type_ in types for above in domain.ancestors(type_) if above in types),
    )


def used_constants(domain: WrittenDomain) -> frozenset[str]:
    """The constants that atoms contain."""
    terms = {term for atom in domain.atoms() for term in atom[1:]}
    return frozenset(name for name, _ in domain.constants if name in terms)


def used_types(domain: WrittenDomain) -> frozenset[str]:
    """The types of parameters, quantified variables and used constants, without ``object``."""
    constants = used_constants(domain)
    listings = [parameters for _, parameters, _ in _structures(domain)]
    listings.append(tuple((name, types) for name, types in domain.constants if name in constants))

    def note(listing: Typed) -> Typed:
        listings.append(listing)
        return listing

    for _, _, formulas in _structures(domain):
        for formula in chain.from_iterable(formulas):
            mapped(formula, lambda atom: atom, note)
    return frozenset().union(*(domain.widest(types) for listing in listings for _, types in listing)) - {ROOT_TYPE}


def _structures(domain: WrittenDomain) -> Iterator[tuple[str, Typed, tuple[tuple[Formula, ...], ...]]]:
    """Operators, and derived predicates (which have one part): name, parameters, parts."""
    for each in domain.operators:
        yield each.name, each.parameters, (each.conditions, each.effects)
    for name, parameters, body in domain.derived:
        yield name, parameters, ((body,),)


def _members(formula: Formula, head: str) -> Iterator[Formula]:
    for part in formula[1:]:
        if isinstance(part, tuple) and part[0] == head:
            yield from _members(part, head)
        else:
            yield part


def without_types(domain: WrittenDomain) -> WrittenDomain:
    """The domain with every parameter, quantified variable and constant a plain ``object``."""

    def plain(listing: Typed) -> Typed:
        return tuple((name, (ROOT_TYPE,)) for name, _ in listing)

    def erased(formula: Formula) -> Formula:
        return mapped(formula, lambda atom: atom, plain)

    return replace(
        domain,
        types=(),
        constants=plain(domain.constants),
        predicates=tuple((name, plain(listing)) for name, listing in domain.predicates),
        functions=tuple((name, plain(listing)) for name, listing in domain.functions),
        derived=tuple((name, plain(listing), erased(body)) for name, listing, body in domain.derived),
        operators=tuple(
            WrittenOperator(
                each.name, plain(each.parameters), tuple(map(erased, each.conditions)), tuple(map(erased, each.effects))
            )
            for each in domain.operators
        ),
    )


Outline = tuple[dict[str, str], frozenset[tuple[str, ...]]]
"""Things, each with its kind, and the relations between them."""


def outline(domain: WrittenDomain, typed: bool = True) -> Outline:
    """The domain as things of some kinds with relations between them; renaming it changes nothing but things' names.

    Things are operators, parameters, formulas, predicates and the places of their arguments, constants and types. So
    an invariant of isomorphism tells that no renaming turns one domain into another.
    """
    drawn = _Outline(domain, typed)
    used = used_constants(domain)
    constants = {name: drawn.variable("constant", types) for name, types in domain.constants if name in used}
    for number, (name, parameters, formulas) in enumerate(_structures(domain)):
        is_operator = number < len(domain.operators)
        root = drawn.thing("operator" if is_operator else "derived")
        variables = {each: drawn.variable("parameter", types) for each, types in parameters}
        drawn.relations.update(("parameter-of", each, root) for each in variables.values())
        if not is_operator:
            drawn.grow(root, "head", (name, *variables), variables)
        for part, members in enumerate(formulas):
            for formula in dict.fromkeys(_members(("and", *members), "and")):
                drawn.grow(root, f"part {part}", formula, {**constants, **variables})
    types = used_types(domain) if typed else frozenset()
    for type_ in types:
        for above in set(domain.ancestors(type_)) & types - {type_}:
            drawn.relations.add(("below", drawn.named("type", type_), drawn.named("type", above)))
    return drawn.kinds, frozenset(drawn.relations)


class _Outline:
    """An outline that grows formula by formula."""

    def __init__(self, domain: WrittenDomain, typed: bool) -> None:
        self.kinds: dict[str, str] = {}
        self.relations: set[tuple[str, ...]] = set()
        self._domain = domain
        self._typed = typed
        self._numbers = count()

    def thing(self, kind: str) -> str:
        """A new thing of that kind."""
        name = f"{kind} {next(self._numbers)}"
        self.kinds[name] = kind
        return name

    def named(self, kind: str, name: str) -> str:
        """The thing of that kind with that name, the same at each call."""
        key = f"{kind}: {name}"
        self.kinds[key] = kind
        return key

    def variable(self, kind: str, types: Types) -> str:
        """A new parameter, quantified variable or constant."""
        made = self.thing(kind)
        for type_ in self._domain.widest(types) - {ROOT_TYPE} if self._typed else ():
            self.relations.add(("of-type", made, self.named("type", type_)))
        return made

    def grow(self, parent: str, relation: str, formula: Any, terms: Mapping[str, str]) -> None:
        """Add a formula, or a number or term of a numeric expression, below its parent."""
        if isinstance(formula, str):
            self.relations.add((relation, parent, terms.get(formula) or self.named(f"word {formula}", "")))
        elif formula[0] in _CONNECTIVES | _QUANTIFIERS:
            self._grow_connective(parent, relation, formula, terms)
        else:
            self._grow_atom(parent, relation, formula, terms)

    def _grow_connective(self, parent: str, relation: str, formula: Formula, terms: Mapping[str, str]) -> None:
        head, *parts = formula
        node = self.thing(head)
        self.relations.add((relation, parent, node))
        if head in _QUANTIFIERS:
            bound = {name: self.variable("bound", types) for name, types in parts[0]}
            self.relations.update(("binds", node, each) for each in bound.values())
            terms, parts = {**terms, **bound}, parts[1:]
        if head in ("and", "or"):
            for part in dict.fromkeys(_members(formula, head)):
                self.grow(node, "member", part, terms)
        else:
            for number, part in enumerate(parts):
                self.grow(node, f"part {number}", part, terms)

    def _grow_atom(self, parent: str, relation: str, formula: Formula, terms: Mapping[str, str]) -> None:
        head, *parts = formula
        node = self.thing("atom")
        reserved = head in _NUMERIC or head in (EQUALITY, TOTAL_COST)
        predicate = self.named(head, "") if reserved else self.named("predicate", f"{head} {len(parts)}")
        self.relations.update([(relation, parent, node), ("says", node, predicate)])
        for number, term in enumerate(parts):
            if isinstance(term, tuple) or head in _NUMERIC:
                self.grow(node, f"part {number}", term, terms)
                continue
            place = predicate  # both places of an equation are alike
            if head != EQUALITY:
                place = self.named("place", f"{head} {len(parts)} {number}")
                self.relations.add(("place-of", place, predicate))
            self.relations.add(("argument", node, place, terms.get(term) or self.named("word", term)))
