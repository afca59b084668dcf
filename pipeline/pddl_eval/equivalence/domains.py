"""Is this domain right? The verdict on a generated domain, and the nearest difference where it is another one.

The verdict follows from the structures (``pddl_eval.structure``) and is exact. Which operators are partners, and what
one lacks that the other has, are words for a no: by the same names first, by structure where names are of no help.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice, permutations, product

from pddl_eval.budget import attempt, check
from pddl_eval.canonical import isomorphic
from pddl_eval.model import EQUALITY, Atom, Domain, Operator, State, show_atom
from pddl_eval.shown import line, listed
from pddl_eval.structure import PARTS, DomainGraph, Renaming, Structure, renaming_between, same_names, sorted_equality
from pddl_eval.verdict import DomainVerdict, Undecided

MOST_ORDERS = 120
"""Orders of an operator's parameters that are tried to find its partner: all of five."""

MOST_COMPARED = 100
"""Pairs of operators that are compared to find partners; what is left over is paired as it stands."""

MOST_NAMES = 5
"""Operators that a sentence names."""

Literal = tuple[str, Atom]
"""An atom with the part of the operator that it stands in (``structure.PARTS``)."""


Uses = Counter[tuple[str, int, int]]
"""How often a word stands in which part of operators, in atoms of how many words, at which place."""


@dataclass(frozen=True)
class DomainDecision:
    """The verdict on a generated domain and, as ``detail``, the nearest difference or the reason.

    ``structures`` are those of the reference and of the generated domain, where both could be read.
    """

    verdict: DomainVerdict
    detail: str
    structures: tuple[Structure, Structure] | None = None

    @property
    def equivalent(self) -> bool | None:
        """None where it is not decided."""
        return None if self.verdict == DomainVerdict.UNDECIDED else self.verdict.right

    @cached_property
    def renaming(self) -> Renaming | None:
        """Of the generated domain into the reference: the proof of a yes; None for a no."""
        if self.structures is None or not self.verdict.right:
            return None
        reference, generated = self.structures
        if self.verdict == DomainVerdict.IDENTICAL:
            return same_names(generated.domain)
        return renaming_between(generated.graph, reference.graph)


@dataclass(frozen=True, slots=True)
class Partners:
    """An operator of the reference and the generated one that comes closest to it; None where one has no partner.

    ``lacks`` and ``has``: the literals that only the reference's operator has, and those that only the generated one
    has, in the words of the reference, with the parameters of its operator.
    """

    reference: Operator[State] | None
    generated: Operator[State] | None
    lacks: tuple[Literal, ...] = ()
    has: tuple[Literal, ...] = ()

    @property
    def distance(self) -> int:
        """How many literals and parameters differ."""
        if self.reference is None or self.generated is None:
            return 0
        parameters = len(self.reference.parameters) - len(self.generated.parameters)
        return len(self.lacks) + len(self.has) + abs(parameters)


def decide_domains(reference: Structure, generated: Structure) -> DomainDecision:
    """Whether the operators of the generated domain are those of the reference in some other words, and which ones.

    Source: strong equivalence of domain models (Shoeeb and McCluskey; Chrpa et al.).

    >>> from pddl_eval.parsing import parse_domain
    >>> text = "(define (domain d) (:action go :parameters (?a ?b) :precondition (at ?a) :effect (at ?b)))"
    >>> one, other = Structure(parse_domain(text)), Structure(parse_domain(text.replace("(at ?b)", "(not (at ?b))")))
    >>> decide_domains(one, other).detail
    'go lacks the effect (at ?b)'
    """
    verdict = attempt(lambda: _decide(reference, generated))
    if isinstance(verdict, Undecided):
        return DomainDecision(DomainVerdict.UNDECIDED, verdict.reason)
    detail = attempt(lambda: _detail(verdict, reference, generated))
    # The verdict stands where no time is left for words.
    return DomainDecision(verdict, detail if isinstance(detail, str) else verdict.meaning, (reference, generated))


def _decide(reference: Structure, generated: Structure) -> DomainVerdict:
    if reference.as_written == generated.as_written:
        return DomainVerdict.IDENTICAL
    if len(generated.domain.operators) != len(reference.domain.operators):
        return DomainVerdict.OPERATOR_COUNT
    if reference.outline != generated.outline:  # otherwise the graphs say so too
        return DomainVerdict.OPERATORS_DIFFER
    if isomorphic(generated.graph.labelled, reference.graph.labelled):
        return DomainVerdict.RENAMED
    typed = reference.domain.types or generated.domain.types
    if typed and isomorphic(generated.untyped.labelled, reference.untyped.labelled):
        return DomainVerdict.TYPES_DIFFER
    return DomainVerdict.OPERATORS_DIFFER


def _detail(verdict: DomainVerdict, reference: Structure, generated: Structure) -> str:
    match verdict:
        case DomainVerdict.RENAMED:
            return _renaming_sentence(renaming_between(generated.graph, reference.graph))
        case DomainVerdict.OPERATOR_COUNT:
            return _count_sentence(reference.domain, generated.domain)
        case DomainVerdict.TYPES_DIFFER:
            renaming = renaming_between(generated.untyped, reference.untyped)
            return _types_sentence(reference.domain, generated.domain, renaming)
        case DomainVerdict.OPERATORS_DIFFER:
            return _nearest_sentence(reference.domain, generated.domain)
    return ""


def partners(reference: Domain, generated: Domain, renaming: Renaming | None = None) -> tuple[Partners, ...]:
    """Each operator of either domain with its partner, in the order of the reference: those of the renaming, if given.

    >>> from pddl_eval.parsing import parse_domain
    >>> one = parse_domain("(define (domain d) (:action a :effect (p)) (:action b :effect (q)))")
    >>> other = parse_domain("(define (domain d) (:action b :effect (and (q) (p))))")
    >>> [(each.reference.name, each.generated and each.generated.name, each.has) for each in partners(one, other)]
    [('a', None, ()), ('b', 'b', (('added', ('p',)),))]
    """
    words = _words(reference, generated) if renaming is None else renaming
    left = dict(enumerate(generated.operators))
    found: dict[int, Partners] = {}

    def pair(number: int, other: int) -> None:
        operator = left.pop(other)
        order = renaming.operators[operator.name][1] if renaming is not None else None
        found[number] = _compared(reference.operators[number], operator, words, order)

    names = {
        operator_name(operator) if renaming is None else renaming.operators[operator.name][0]: number
        for number, operator in left.items()
    }
    for number, operator in enumerate(reference.operators):
        other = names.get(operator_name(operator) if renaming is None else operator.name)
        if other in left:
            pair(number, other)
    without = [number for number in range(len(reference.operators)) if number not in found]
    distances = sorted(
        (_compared(reference.operators[number], left[other], words).distance, number, other)
        for number, other in islice(product(without, left), MOST_COMPARED)
    )
    for _, number, other in distances:
        if number not in found and other in left:
            pair(number, other)
    for number, other in list(zip([number for number in without if number not in found], left, strict=False)):
        pair(number, other)
    lines = [found.get(number, Partners(operator, None)) for number, operator in enumerate(reference.operators)]
    return (*lines, *(Partners(None, operator) for operator in left.values()))


def operator_name(operator: Operator[State]) -> str:
    """The name by which operators match: in lower case, ``_`` as ``-``."""
    return operator.name.lower().replace("_", "-")


def _words(reference: Domain, generated: Domain) -> Renaming:
    """Predicates and constants by the same names, else by how operators use them; operators and types as they are."""
    theirs, ours = _uses(reference), _uses(generated)
    constants, predicates = (_alike(theirs[kind], ours[kind]) for kind in (False, True))
    arities = {name: next(iter(uses))[1] - 1 for name, uses in ours[True].items()}
    places = {name: (new, tuple(range(arities[name]))) for name, new in predicates.items()}
    return Renaming({}, constants, places, {})


def _uses(domain: Domain) -> dict[bool, dict[str, Uses]]:
    """How often each constant (False) and each predicate (True) stands in which part, of how many words, at which."""
    uses: dict[bool, dict[str, Uses]] = {False: {}, True: {}}
    for operator in domain.operators:
        for part, atoms in zip(PARTS, operator.parts, strict=True):
            for atom in sorted(atoms):
                for place, word in enumerate(atom):
                    if word != EQUALITY and not word.startswith("?"):
                        uses[place == 0].setdefault(word, Counter())[part, len(atom), place] += 1
    return uses


def _alike(theirs: Mapping[str, Uses], ours: Mapping[str, Uses]) -> dict[str, str]:
    """Each of our names with one of theirs: the same, else the one whose uses are most alike of those that are left."""
    free = {name: uses for name, uses in theirs.items() if name not in ours}
    found = {name: name for name in ours if name in theirs}
    for name, uses in ours.items():
        if name not in theirs and free:
            check()
            found[name] = min(free, key=lambda other: ((uses - free[other]) + (free[other] - uses)).total())
            del free[found[name]]
    return found


def _compared(
    reference: Operator[State],
    generated: Operator[State],
    words: Renaming,
    order: Sequence[int] | None = None,
) -> Partners:
    """Two operators as partners, their parameters in that order, else in the one that leaves the least difference."""
    theirs = _literals(reference)
    known = [name for name, _ in reference.parameters]
    own = [name for name, _ in generated.parameters]
    literals = [(part, words.atom(atom)) for part, atom in _literals(generated)]
    extra = [name for name in own if name not in known] + [f"{name}'" for name in own if name in known]
    best: Partners | None = None
    for names in [[known[place] for place in order]] if order is not None else _orders(known, len(own), extra):
        check()
        parameter = dict(zip(own, names, strict=True))
        ours = {
            (part, sorted_equality((atom[0], *[parameter.get(term, term) for term in atom[1:]])))
            for part, atom in literals
        }
        compared = Partners(reference, generated, tuple(sorted(theirs - ours)), tuple(sorted(ours - theirs)))
        if best is None or compared.distance < best.distance:
            best = compared
        if not best.lacks and not best.has:
            break
    assert best is not None
    return best


def _orders(known: list[str], count: int, extra: list[str]) -> Iterator[Sequence[str]]:
    """Names for so many parameters: the known ones as they stand, then in other orders; extra ones where they end."""
    names = known + extra[: max(0, count - len(known))]
    return islice(permutations(names, count), MOST_ORDERS)


def _literals(operator: Operator[State]) -> set[Literal]:
    return {(part, sorted_equality(atom)) for part, atoms in zip(PARTS, operator.parts, strict=True) for atom in atoms}


def _renaming_sentence(renaming: Renaming) -> str:
    """What is called otherwise."""
    pairs = [(old, new) for names in (renaming.operators, renaming.predicates) for old, (new, _) in names.items()]
    pairs += [*renaming.types.items(), *renaming.constants.items()]
    different = [f"{old} for {new}" for old, new in pairs if old != new]
    if not different:
        return "the same operators with their parameters or arguments in another order"
    return f"the same operators in other words: {listed(different, MOST_NAMES)}"


def _count_sentence(reference: Domain, generated: Domain) -> str:
    """Both numbers, and the operators that have no partner."""
    pairs = partners(reference, generated)
    missing = [each.reference.name for each in pairs if each.generated is None and each.reference is not None]
    extra = [each.generated.name for each in pairs if each.reference is None and each.generated is not None]
    sentence = f"{_operators(len(generated.operators))} instead of {len(reference.operators)}"
    for what, names in (("nothing corresponds to", missing), ("too many:", extra)):
        sentence += f" ({what} {listed(names, MOST_NAMES)})" if names else ""
    return sentence


def _operators(count: int) -> str:
    return "1 operator" if count == 1 else f"{count:,} operators"


def _nearest_sentence(reference: Domain, generated: Domain) -> str:
    """The first difference of the two partners that are closest to each other and differ."""
    pairs = partners(reference, generated)
    different = [each for each in pairs if each.distance]
    if not different:
        for each in pairs:
            if each.reference and each.generated and each.reference.formulas + each.generated.formulas:
                one, other = (
                    DomainGraph(replace(domain, operators=(operator,)))
                    for domain, operator in ((reference, each.reference), (generated, each.generated))
                )
                if not isomorphic(one.labelled, other.labelled):
                    return f"{line(each.generated.name)} differs in what is beyond STRIPS"
        return "the operators agree in their literals one by one, but no one renaming makes all of them agree"
    return difference_sentence(min(different, key=lambda each: each.distance))


def difference_sentence(pair: Partners) -> str:
    """What the generated operator lacks or has first, in the words of the reference."""
    theirs, ours = pair.reference, pair.generated
    if theirs is None or ours is None:
        return "there is no partner"
    name = line(ours.name if ours.name == theirs.name else f"{ours.name} (for {theirs.name})")
    for verb, literals in (("lacks", pair.lacks), ("has", pair.has)):
        for part, atom in literals:
            noun = "precondition" if "condition" in part else "effect"
            shown = show_atom(atom) if part in ("condition", "added") else f"(not {show_atom(atom)})"
            return f"{name} {verb} the {noun} {line(shown)}"
    return f"{name} takes {len(ours.parameters)} parameters instead of {len(theirs.parameters)}"


def _types_sentence(reference: Domain, generated: Domain, renaming: Renaming) -> str:
    """The first parameter whose type is another one, under a renaming that ignores types."""
    theirs = {operator.name: operator for operator in reference.operators}
    for operator in generated.operators:
        name, order = renaming.operators[operator.name]
        for (parameter, types), place in zip(operator.parameters, order, strict=True):
            expected, wanted = theirs[name].parameters[place]
            if types != wanted:
                types_shown, wanted_shown = line(" or ".join(types)), line(" or ".join(wanted))
                return (
                    f"{line(operator.name)} takes {parameter} of type {types_shown}, "
                    f"{line(name)} takes {expected} of type {wanted_shown}"
                )
    return "the types differ in constants, in quantified variables or in which type includes which"
