"""The judge of domains: all bijections of types, constants, predicates and operators, tried one after the other.

Everything follows DESIGN.md, section 7, word by word, on values of ``definition.model``; no code is shared with the
program. It serves domains of about three operators, four predicates of up to three arguments and a few types. The only
pruning: when some predicates are mapped, every operator must have a partner as far as literals of these predicates go.
Formulas are compared by what they say (``meaning``): ``and or not when imply forall exists increase``, rules of derived
predicates, the times and the duration of durative actions, constraints on trajectories, and no variable that nothing
binds. Only tests import it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import chain, permutations
from typing import Any, Protocol

from pddl_eval.definition.model import EQUALITY, ROOT_TYPE, Domain, Formula, Operator

Mapped = tuple[str, tuple[int, ...]]
"""A name in the reference, and for each argument or parameter its place there."""

Symbol = tuple[str, int]
"""A predicate: its name with the number of its arguments."""


@dataclass(frozen=True)
class Renaming:
    """What each name of the generated domain becomes in the reference."""

    types: Mapping[str, str] = field(default_factory=dict)
    constants: Mapping[str, str] = field(default_factory=dict)
    predicates: Mapping[Symbol, Mapped] = field(default_factory=dict)
    operators: Mapping[str, Mapped] = field(default_factory=dict)
    functions: Mapping[Symbol, Mapped] = field(default_factory=dict)


TIMES = ("at", "start"), ("over", "all"), ("at", "end")

MODAL = ("always", "sometime", "within", "sometime-after")

SAME = Renaming()
"""Everything keeps its name."""


class Witness(Protocol):
    """A renaming as ``compare_domains`` returns it."""

    @property
    def types(self) -> Mapping[str, str]: ...
    @property
    def constants(self) -> Mapping[str, str]: ...
    @property
    def predicates(self) -> Mapping[Symbol, tuple[str, Sequence[int]]]: ...
    @property
    def functions(self) -> Mapping[Symbol, tuple[str, Sequence[int]]]: ...
    @property
    def operators(self) -> Mapping[str, tuple[str, Sequence[int]]]: ...


# What of a domain counts.


def mentions(  # noqa: C901 (one case a construct)
    form: Any, function: bool = False
) -> Iterator[tuple[str, Any]]:
    """What a formula is about: each predicate, function, constant and type, after the word for what it is."""
    if isinstance(form, str):
        if not form.startswith("?") and not form[0].isdigit():
            yield "constant", form
    elif form[0] in ("and", "or", "not", "when", "imply"):
        for each in form[1:]:
            yield from mentions(each)
    elif form[0] == "increase":
        for each in form[1:]:
            yield from mentions(each, function=True)
    elif form[:2] in TIMES or form[0] in MODAL:
        for each in form:
            yield from mentions(each) if not isinstance(each, str) else ()
    elif form[1:2] == ("?duration",):
        yield from mentions(form[2], function=True)
    elif form[0] == EQUALITY:
        yield from (("constant", each) for each in form[1:] if not each.startswith("?"))
    elif form[0] in ("forall", "exists"):
        yield from (("type", type_) for _, type_ in bound_variables(form[1]))
        yield from mentions(form[2])
    elif form[0] == ":derived":
        yield "predicate", (form[1][0], len(form[1]) - 1)
        yield from mentions(form[2])
    else:
        yield "function" if function else "predicate", (form[0], len(form) - 1)
        for each in form[1:]:
            yield from mentions(each)


def bound_variables(listing: Sequence[Any]) -> list[tuple[str, str]]:
    """The variables of a quantifier, each with its one type."""
    return [(listing[place], listing[place + 2]) for place in range(0, len(listing), 3)]


def used(domain: Domain) -> frozenset[tuple[str, Any]]:
    """What operators are about, and the derived predicates that they use, and the rules of these."""
    found = {("predicate", (atom[0], len(atom) - 1)) for atom in _literals(domain) if atom[0] != EQUALITY}
    found |= {("constant", term) for atom in _literals(domain) for term in atom[1:] if not term.startswith("?")}
    found |= {each for operator in domain.operators for _, form in operator.formulas for each in mentions(form)}
    while True:
        more = {each for rule in used_rules(domain, found) for each in mentions(rule)}
        if more <= found:
            return frozenset(found)
        found |= more


def used_rules(domain: Domain, found: frozenset[tuple[str, Any]] | set[tuple[str, Any]]) -> list[Any]:
    """The rules of the derived predicates that are among what was found."""
    return [
        form
        for section, form in domain.formulas
        if section == ":constraints" or ("predicate", (form[1][0], len(form[1]) - 1)) in found
    ]


def _literals(domain: Domain) -> Iterator[tuple[str, ...]]:
    return chain.from_iterable(part for operator in domain.operators for part in operator.parts)


def _of(kind: str, domain: Domain) -> frozenset[Any]:
    return frozenset(name for each, name in used(domain) if each == kind)


def used_types(domain: Domain, further: Sequence[str] = ()) -> frozenset[str]:
    """The types of parameters, quantified variables and used constants, and the further ones, without ``object``.

    Several parents of one of these types, or of one above it, count too, unless one of them is below all others.
    """
    found = {
        type_ for operator in domain.operators for _, types in operator.parameters for type_ in widest(domain, types)
    }
    found |= {type_ for name in used_constants(domain) for type_ in constant_types(domain, name)}
    found |= {plain(domain, type_) for type_ in (*_of("type", domain), *further)}
    for type_ in sorted(found):
        for each in {type_} | above(domain, type_):
            parents = {plain(domain, parent) for parent in domain.several.get(("types", each), ())}
            lowest = {a for a in parents if not any(a != b and a in above(domain, b) for b in parents)}
            found |= lowest if len(lowest) > 1 else set()
    return frozenset(found) - {ROOT_TYPE}


def plain(domain: Domain, type_: str) -> str:
    """The type; an undeclared one is ``object``."""
    return type_ if type_ in domain.types else ROOT_TYPE


def above(domain: Domain, type_: str) -> set[str]:
    """The types that are really above the type."""
    found: set[str] = {ROOT_TYPE}
    waiting = [type_]
    while waiting:
        each = waiting.pop()
        for parent in domain.several.get(("types", each), (domain.types.get(each, ROOT_TYPE),)):
            if plain(domain, parent) not in found:
                found.add(plain(domain, parent))
                waiting.append(parent)
    return found - {type_} if type_ != ROOT_TYPE else found


def widest(domain: Domain, types: Sequence[str]) -> frozenset[str]:
    """The alternatives without those that another one is above of."""
    found = {plain(domain, type_) for type_ in types}
    return frozenset(type_ for type_ in found if type_ == ROOT_TYPE or not above(domain, type_) & found)


def constant_types(domain: Domain, name: str) -> frozenset[str]:
    """The types of a constant; of one that nobody declares it is ``object``."""
    return widest(domain, domain.several.get(("constants", name), (domain.constants.get(name, ROOT_TYPE),)))


def used_constants(domain: Domain) -> frozenset[str]:
    """The constants, declared or not, that a literal or a formula is about."""
    return _of("constant", domain)


def used_predicates(domain: Domain) -> frozenset[Symbol]:
    """The predicates of literals and formulas."""
    return _of("predicate", domain)


def used_functions(domain: Domain) -> frozenset[Symbol]:
    """The functions of formulas."""
    return _of("function", domain)


# What formulas say.


def meaning(  # noqa: C901 (one case a construct)
    domain: Domain, form: Any, renaming: Renaming | Witness, variables: Mapping[str, Any], function: bool = False
) -> Any:
    """What a formula says in the renaming's words: equal for formulas that say the same."""
    if isinstance(form, str):
        if form in variables:
            return variables[form]
        return ("number", Fraction(form)) if form[0].isdigit() else ("constant", renaming.constants.get(form, form))
    head, rest = form[0], form[1:]
    if head in ("and", "or"):
        members: list[Any] = []
        for each in _members(form, head):
            said = meaning(domain, each, renaming, variables)
            if said not in members or "'increase'" in repr(each):
                members.append(said)
        return members[0] if len(members) == 1 else (head, *sorted(members, key=repr))
    if head in ("not", "when", "imply"):
        return (head, *(meaning(domain, each, renaming, variables) for each in rest))
    if form[:2] == ("at", "end") or head in MODAL:  # a constraint
        times = tuple(Fraction(each) for each in rest if isinstance(each, str) and each != "end")
        return (
            head,
            times,
            *(meaning(domain, each, renaming, variables) for each in rest if not isinstance(each, str)),
        )
    if rest[:1] == ("?duration",):
        return (head, "?duration", meaning(domain, rest[1], renaming, variables, function=True))
    if head == EQUALITY:
        return (head, *sorted((meaning(domain, each, renaming, variables) for each in rest), key=repr))
    if head == "increase":
        return (head, *(meaning(domain, each, renaming, variables, function=True) for each in rest))
    if head in ("forall", "exists"):
        level = variables.get(" depth", 0)
        ways = []
        for order in permutations(bound_variables(rest[0])):
            types = tuple(renaming.types.get(t, t) for _, type_ in order for t in widest(domain, [type_]))
            inner = {**variables, **{name: ("bound", level, place) for place, (name, _) in enumerate(order)}}
            inner[" depth"] = level + 1
            ways.append((head, types, meaning(domain, rest[1], renaming, inner)))
        return min(ways, key=repr)
    if head == ":derived":
        name, order = renaming.predicates.get((rest[0][0], len(rest[0]) - 1), (rest[0][0], range(len(rest[0]) - 1)))
        inner = {variable: ("bound", place) for variable, place in zip(rest[0][1:], order, strict=True)}
        return (head, name, len(rest[0]), meaning(domain, rest[1], renaming, inner))
    symbols = renaming.functions if function else renaming.predicates
    name, order = symbols.get((head, len(rest)), (head, range(len(rest))))
    terms = dict(zip(order, (meaning(domain, each, renaming, variables) for each in rest), strict=True))
    return (function, name, *(terms[place] for place in range(len(rest))))


def _members(form: Any, head: str) -> Iterator[Any]:
    for each in form[1:]:
        if each[:1] == (head,):
            yield from _members(each, head)
        else:
            yield each


def formulas_of(
    domain: Domain, operator: Operator, renaming: Renaming | Witness, order: Sequence[int]
) -> frozenset[Any]:
    """What the formulas of an operator say, its parameter i in place ``order[i]``."""
    variables = {name: ("parameter", place) for place, (name, _) in zip(order, operator.parameters, strict=True)}
    parts: dict[str, list[Formula]] = {}
    is_durative = any(part == ":duration" for part, _ in operator.formulas)
    for part, form in operator.formulas:
        for when, each in _by_time(part, form) if is_durative else [(part, form)]:
            parts.setdefault(when, []).append(each)
    return frozenset(
        (part, meaning(domain, ("and", ("and",), *forms), renaming, variables)) for part, forms in parts.items()
    )


def _by_time(part: str, form: Any) -> Iterator[tuple[str, Any]]:
    """What a part of a durative action says, with its time."""
    if form[:1] == ("and",):
        for each in form[1:]:
            yield from _by_time(part, each)
    elif form[:2] in TIMES and form[2][:1] == ("and",):
        for each in form[2][1:]:
            yield from _by_time(part, (*form[:2], each))
    elif form[:2] in TIMES:
        yield " ".join((part, *form[:2])), form[2]
    else:
        yield part, form


def rules_of(domain: Domain, renaming: Renaming | Witness) -> frozenset[Any]:
    """What the rules of the derived predicates say that are used."""
    return frozenset(meaning(domain, rule, renaming, {}) for rule in used_rules(domain, used(domain)))


def counted(domain: Domain) -> Domain:
    """The domain with repeated operators once; the second of several operators with one name is ``name#2``."""
    kept: list[Operator] = []
    for each in domain.operators:
        same = range(len(each.parameters))
        if not any(
            each.name == other.name
            and len(each.parameters) == len(other.parameters)
            and _become(domain, domain, other, each, same, _every_name(domain))
            and _formulas_become(domain, domain, other, each, same, SAME)
            for other in kept
        ):
            kept.append(each)
    often: Counter[str] = Counter()
    operators = []
    for each in kept:
        often[each.name] += 1
        operators.append(replace(each, name=f"{each.name}#{often[each.name]}") if often[each.name] > 1 else each)
    return replace(domain, operators=tuple(operators))


def _every_name(domain: Domain) -> Renaming:
    predicates = {(name, arity): (name, tuple(range(arity))) for name, arity in used_predicates(domain)}
    return Renaming(predicates=predicates)


# All renamings.


def renamings(reference: Domain, generated: Domain) -> Iterator[Renaming]:
    """Every renaming that turns the generated domain's operators into the reference's."""
    reference, generated = counted(reference), counted(generated)
    if len(reference.operators) != len(generated.operators):
        return
    for types in type_bijections(reference, generated, used_types(reference), used_types(generated)):
        for constants in constant_bijections(
            reference, generated, used_constants(reference), used_constants(generated), types
        ):
            yield from _extended(reference, generated, Renaming(types, constants))


def bijections(ours: frozenset[str], theirs: frozenset[str]) -> Iterator[dict[str, str]]:
    """Every bijection of their names onto ours."""
    for image in permutations(sorted(ours)) if len(ours) == len(theirs) else ():
        yield dict(zip(sorted(theirs), image, strict=True))


def type_bijections(
    reference: Domain, generated: Domain, ours: frozenset[str], theirs: frozenset[str]
) -> Iterator[dict[str, str]]:
    """Every bijection of their types onto ours that keeps which type is above which."""
    for types in bijections(ours, theirs):
        if all(
            (b in above(generated, a)) == (types[b] in above(reference, types[a]))
            for a in theirs
            for b in theirs
            if a != b
        ):
            yield types


def constant_bijections(
    reference: Domain, generated: Domain, ours: frozenset[str], theirs: frozenset[str], types: Mapping[str, str]
) -> Iterator[dict[str, str]]:
    """Every bijection of their constants onto ours that keeps types."""
    for constants in bijections(ours, theirs):
        if all(
            {types.get(type_, type_) for type_ in constant_types(generated, name)}
            == constant_types(reference, constants[name])
            for name in theirs
        ):
            yield constants


def _extended(reference: Domain, generated: Domain, renaming: Renaming) -> Iterator[Renaming]:
    """The renaming with one more predicate mapped in every way; with all mapped, the operators in every way."""
    partners = [
        [
            (ours.name, order)
            for ours in reference.operators
            if len(ours.parameters) == len(theirs.parameters)
            for order in permutations(range(len(theirs.parameters)))
            if _become(reference, generated, ours, theirs, order, renaming)
        ]
        for theirs in generated.operators
    ]
    if not all(partners):
        return
    theirs, ours = used_predicates(generated), used_predicates(reference)
    if len(ours) != len(theirs):
        return
    left = sorted(theirs - renaming.predicates.keys())
    if not left:
        for functions in _function_maps(used_functions(reference), sorted(used_functions(generated))):
            whole = replace(renaming, functions=functions)
            if rules_of(reference, SAME) == rules_of(generated, whole):
                yield from _matched(reference, generated, whole, partners)
        return
    taken = images(renaming)
    for name, arity in sorted(ours - taken):
        if arity == left[0][1]:
            for order in permutations(range(arity)):
                predicates = {**renaming.predicates, left[0]: (name, order)}
                yield from _extended(reference, generated, Renaming(renaming.types, renaming.constants, predicates))


def _function_maps(ours: frozenset[Symbol], theirs: list[Symbol]) -> Iterator[dict[Symbol, Mapped]]:
    """Every bijection of functions that keeps ``(total-cost)``."""
    if not theirs:
        if not ours:
            yield {}
        return
    old, *rest = theirs
    for new in sorted(ours):
        if new[1] == old[1] and (old == ("total-cost", 0)) == (new == ("total-cost", 0)):
            for order in permutations(range(old[1])):
                for further in _function_maps(ours - {new}, rest):
                    yield {old: (new[0], order), **further}


def images(renaming: Renaming | Witness) -> set[Symbol]:
    """What predicates become."""
    return {(name, len(order)) for name, order in renaming.predicates.values()}


def _matched(
    reference: Domain, generated: Domain, renaming: Renaming, partners: list[list[Mapped]]
) -> Iterator[Renaming]:
    ours = {each.name: each for each in reference.operators}
    partners = [
        [
            (name, order)
            for name, order in found
            if _formulas_become(reference, generated, ours[name], each, order, renaming)
        ]
        for each, found in zip(generated.operators, partners, strict=True)
    ]

    def choose(number: int, chosen: dict[str, Mapped]) -> Iterator[dict[str, Mapped]]:
        if number == len(partners):
            yield dict(chosen)
            return
        for name, order in partners[number]:
            if all(name != other for other, _ in chosen.values()):
                yield from choose(number + 1, {**chosen, generated.operators[number].name: (name, order)})

    for operators in choose(0, {}):
        yield replace(renaming, operators=operators)


def _formulas_become(  # noqa: PLR0913
    reference: Domain,
    generated: Domain,
    ours: Operator,
    theirs: Operator,
    order: Sequence[int],
    renaming: Renaming | Witness,
) -> bool:
    same = range(len(ours.parameters))
    return formulas_of(reference, ours, SAME, same) == formulas_of(generated, theirs, renaming, order)


def _become(  # noqa: PLR0913
    reference: Domain,
    generated: Domain,
    ours: Operator,
    theirs: Operator,
    order: Sequence[int],
    renaming: Renaming | Witness,
) -> bool:
    """Whether their operator, renamed, with its parameter i in place ``order[i]``, is ours: in its parameters' types,
    and in the literals of equations and of the predicates that are mapped.
    """
    for place, (_, types) in zip(order, theirs.parameters, strict=True):
        image = {renaming.types.get(type_, type_) for type_ in widest(generated, types)}
        if image != widest(reference, ours.parameters[place][1]):
            return False
    variables = {name: ours.parameters[place][0] for place, (name, _) in zip(order, theirs.parameters, strict=True)}
    mapped = images(renaming)
    for our_part, their_part in zip(ours.parts, theirs.parts, strict=True):
        wanted = {_symmetric(atom) for atom in our_part if (atom[0], len(atom) - 1) in mapped or atom[0] == EQUALITY}
        found = set()
        for predicate, *arguments in their_part:
            terms = [variables.get(term, renaming.constants.get(term, term)) for term in arguments]
            if predicate == EQUALITY:
                found.add(_symmetric((EQUALITY, *terms)))
            elif (predicate, len(terms)) in renaming.predicates:
                name, places = renaming.predicates[predicate, len(terms)]
                moved = dict(zip(places, terms, strict=True))
                found.add((name, *(moved[place] for place in range(len(terms)))))
        if wanted != found:
            return False
    return True


def _symmetric(atom: tuple[str, ...]) -> tuple[str, ...]:
    return (EQUALITY, *sorted(atom[1:])) if atom[0] == EQUALITY else atom


# Verdicts and witnesses.


def equivalent(reference: Domain, generated: Domain) -> bool:
    """Whether there is a renaming."""
    return next(renamings(reference, generated), None) is not None


def verdict(reference: Domain, generated: Domain) -> str:
    """The verdict of a pair of domains that can be read, by enumeration."""
    if len(counted(reference).operators) != len(counted(generated).operators):
        return "operator_count"
    if identity_is_a_witness(reference, generated):
        return "identical"
    if equivalent(reference, generated):
        return "renamed"
    return "types_differ" if equivalent(reference.without_types(), generated.without_types()) else "operators_differ"


def identity_is_a_witness(reference: Domain, generated: Domain) -> bool:
    """Whether the two are equal under equal names, parameters by their places."""
    sides = [counted(domain).operators for domain in (reference, generated)]
    words = Renaming(
        {type_: type_ for type_ in used_types(generated)},
        {name: name for name in used_constants(generated)},
        {(name, arity): (name, tuple(range(arity))) for name, arity in used_predicates(generated)},
        {},
        {(name, arity): (name, tuple(range(arity))) for name, arity in used_functions(generated)},
    )
    return len(sides[0]) == len(sides[1]) and any(
        not faults(reference, generated, replace(words, operators=operators))
        for order in permutations(sides[0])
        if [_word(each) for each in order] == [_word(each) for each in sides[1]]
        for operators in [
            {
                theirs.name: (ours.name, tuple(range(len(theirs.parameters))))
                for ours, theirs in zip(order, sides[1], strict=True)
            }
        ]
    )


def _word(operator: Operator) -> str:
    return operator.name.partition("#")[0]


def faults(reference: Domain, generated: Domain, witness: Witness) -> list[str]:
    """What is wrong with a witness; nothing where it turns the generated domain's operators into the reference's."""
    reference, generated = counted(reference), counted(generated)
    sides = (generated, reference)
    found = [
        f"{what}: {sorted(theirs)} become {[names.get(name) for name in theirs]}, not {sorted(ours)}"
        for what, (theirs, ours), names in (
            ("types", map(used_types, sides), dict(witness.types)),
            ("constants", map(used_constants, sides), dict(witness.constants)),
            (
                "predicates",
                map(used_predicates, sides),
                {symbol: (image, len(order)) for symbol, (image, order) in witness.predicates.items()},
            ),
            (
                "functions",
                map(used_functions, sides),
                {symbol: (image, len(order)) for symbol, (image, order) in witness.functions.items()},
            ),
            ("operators", map(_names, sides), {name: image for name, (image, _) in witness.operators.items()}),
        )
        if Counter(names.get(name) for name in theirs) != Counter(list(ours))
    ]
    found += [
        f"predicate {symbol} has no order"
        for symbol in used_predicates(generated)
        if sorted(witness.predicates.get(symbol, ("", ()))[1]) != list(range(symbol[1]))
    ]
    return found or [
        *(["the derived predicates differ"] if rules_of(reference, SAME) != rules_of(generated, witness) else []),
        *_changed_types(reference, generated, witness),
        *(
            f"operator {each.name} does not become {witness.operators[each.name][0]}"
            for each in generated.operators
            if not _becomes(reference, generated, each, witness)
        ),
    ]


def _names(domain: Domain) -> set[str]:
    return {each.name for each in domain.operators}


def _changed_types(reference: Domain, generated: Domain, witness: Witness) -> Iterator[str]:
    for a, b in permutations(used_types(generated), 2):
        if (b in above(generated, a)) != (witness.types[b] in above(reference, witness.types[a])):
            yield f"types {a} and {b} are related in one domain only"
    for name in used_constants(generated):
        types = {witness.types.get(type_, type_) for type_ in constant_types(generated, name)}
        if types != constant_types(reference, witness.constants[name]):
            yield f"constant {name} changes its type"


def _becomes(reference: Domain, generated: Domain, theirs: Operator, witness: Witness) -> bool:
    name, order = witness.operators[theirs.name]
    (ours,) = (each for each in reference.operators if each.name == name)
    is_order = sorted(order) == list(range(len(ours.parameters))) and len(order) == len(theirs.parameters)
    pair = reference, generated, ours, theirs, order, witness
    return is_order and _become(*pair) and _formulas_become(*pair)
