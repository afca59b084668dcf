"""PDDL domain text -> ``Domain``: finds the first ``(define (domain …))`` of a raw answer and reads its STRIPS part.

Tolerant in layout (any order of sections, missing or empty ``:precondition``, prose and fences around the block),
strict in meaning: what STRIPS cannot say (``when``, ``forall``, numbers that decide whether an operator applies …) is
named in ``Domain.outside_strips``, never guessed, and kept as written (``Operator.formulas``, ``Domain.formulas``), so
that domains can be compared in it. Action costs are kept too, but not named: they do not change what is reachable.
Nothing here reads problems or instantiates an operator.
"""

from __future__ import annotations

from collections.abc import Iterable

from pddl_eval.errors import UserError
from pddl_eval.model import EQUALITY, ROOT_TYPE, Atom, Domain, Formula, Operator, State, Types
from pddl_eval.parsing.sexpr import DEFINE_DOMAIN, Expression, Unbalanced, read_expression
from pddl_eval.shown import quote

MAX_CHARACTERS = 1_000_000
"""The longest text that is read; the IPC's largest domain files stay below it."""

MAX_NESTING = 50
"""The deepest nesting of parentheses that is read; a STRIPS operator needs six."""

_OPERATOR_PARTS = frozenset({":parameters", ":precondition", ":effect"})
_QUANTITIES = frozenset({"increase", "decrease", "assign", "scale-up", "scale-down"})
_COMPARISONS = frozenset({"<", ">", "<=", ">="})
_OUTSIDE_STRIPS = frozenset({"when", "forall", "exists", "or", "imply", "preference", "oneof", "probabilistic"})

_Formulas = list[tuple[str, Formula]]
"""Each with the part of an operator, or the section of a domain, that it stands in."""


class DomainError(UserError):
    """The text holds no readable PDDL domain; the message says why in one sentence."""


def parse_domain(text: str) -> Domain:  # noqa: C901 (one case a section)
    """Read the first PDDL domain in a text, in lower case.

    Raises ``DomainError`` when there is none, when it is longer or deeper than the bounds above, or when it is not
    PDDL. A construct outside STRIPS is not an error: it is named in ``outside_strips`` and the rest is read; so is an
    object in an operator that is not among the constants, and a second, different operator of the same name. A type
    that is named only as a parent is declared by that, as a child of ``object``.

    >>> ferry = parse_domain('''A domain: (define (domain ferry) (:predicates (at ?c ?l) (empty))
    ...   (:action board :parameters (?c ?l) :precondition (and (at ?c ?l) (empty)) :effect (not (at ?c ?l))))''')
    >>> ferry.name, [operator.name for operator in ferry.operators]
    ('ferry', ['board'])
    >>> parse_domain("(define (domain ferry)")
    Traceback (most recent call last):
    pddl_eval.parsing.domains.DomainError: the domain has a parenthesis that is never closed
    """
    if len(text) > MAX_CHARACTERS:
        raise DomainError(f"the text has more than {MAX_CHARACTERS:,} characters")
    text = text.lower()
    start = DEFINE_DOMAIN.search(text)
    if start is None:
        raise DomainError("no `(define (domain …` found")
    try:
        _, header, *sections = read_expression(text[start.start() :], MAX_NESTING)
    except Unbalanced as error:
        raise DomainError(f"the domain {error}") from None
    if len(header) != 2 or not isinstance(header[1], str):
        raise DomainError("the domain has no name")
    types: dict[str, str] = {}
    constants: dict[str, str] = {}
    predicates: dict[str, tuple[Types, ...]] = {}
    operators: dict[Operator[State], None] = {}
    names: set[str] = set()
    outside: list[str] = []
    formulas: _Formulas = []
    for section in sections:
        keyword, body = _named(section, "a section of the domain")
        if keyword in (":types", ":constants"):
            (types if keyword == ":types" else constants).update(_single_types(body, keyword[1:], outside, formulas))
        elif keyword == ":predicates":
            for declaration in body:
                name, arguments = _named(declaration, "a predicate with its arguments")
                predicates[name] = tuple(fitting for _, fitting in typed_list(arguments, f"predicate {name}"))
        elif keyword in (":action", ":durative-action"):
            operator = _operator(body, keyword, outside)
            if operator.name in names and operator not in operators:
                outside.append(f"{operator.name}: defined twice")
            names.add(operator.name)
            operators[operator] = None
        elif keyword in (":derived", ":axiom"):
            head = body[0] if body else "domain"
            defined = head[0] if isinstance(head, list) and head else head
            outside.append(f"{defined if isinstance(defined, str) else 'domain'}: derived predicate")
            formulas.append((keyword, (":derived", *map(_as_written, body))))
        elif keyword not in (":requirements", ":functions"):
            outside.append(f"domain: {keyword}")
            formulas.append((keyword, _as_written(body)))
    for parent in [parent for parent in types.values() if parent not in types]:
        types[parent] = ROOT_TYPE
    types.pop(ROOT_TYPE, None)
    for operator in operators:
        terms = {term for part in operator.parts for atom in part for term in atom[1:] if not term.startswith("?")}
        outside += [f"{operator.name}: {term} is not a constant" for term in sorted(terms - constants.keys())]
    predicates.pop(EQUALITY, None)
    notes = tuple(dict.fromkeys(outside))
    return Domain(header[1], types, constants, predicates, tuple(operators), notes, tuple(formulas))


def _as_written(expression: Expression) -> Formula:
    return expression if isinstance(expression, str) else tuple(map(_as_written, expression))


def _show(expression: Expression | tuple[Expression | Formula, ...]) -> str:
    """A short quotation of an expression."""
    if isinstance(expression, str):
        return quote(expression)
    return quote(f"({' '.join(part if isinstance(part, str) else '(…)' for part in expression[:20])})")


def _named(expression: Expression, what: str) -> tuple[str, list[Expression]]:
    """The first word of a list and what follows it."""
    if isinstance(expression, str) or not expression or not isinstance(expression[0], str):
        raise DomainError(f"expected {what}, found {_show(expression)}")
    return expression[0], expression[1:]


def typed_list(items: Iterable[Expression | Formula], where: str) -> list[tuple[str, Types]]:
    """Read ``a b - t c - (either t u) d``: each name with its alternative types, ``object`` where none is given."""
    typed: list[tuple[str, Types]] = []
    names: list[str] = []
    rest = iter(items)
    for item in rest:
        if item == "-":
            type_ = next(rest, "")
            alternatives = (
                type_[1:] if not isinstance(type_, str) and type_[:1] in (["either"], ("either",)) else [type_]
            )
            type_names = tuple(name for name in alternatives if isinstance(name, str) and name not in ("", "-"))
            if not names or not type_names or len(type_names) < len(alternatives):
                raise DomainError(f"{where}: expected names, `-` and a type, found {_show((*names, item, type_))}")
            typed += [(name, type_names) for name in names]
            names = []
        elif isinstance(item, str) and not item.startswith(("-", ":")):
            names.append(item)
        else:
            raise DomainError(f"{where}: {_show(item)} is not a name")
    return typed + [(name, (ROOT_TYPE,)) for name in names]


def _single_types(items: Iterable[Expression], where: str, outside: list[str], formulas: _Formulas) -> dict[str, str]:
    """A typed list of which each name has one type; a second or alternative one is noted, the first one counts."""
    single: dict[str, str] = {}
    for name, alternatives in typed_list(items, where):
        if len(alternatives) > 1 or single.get(name, alternatives[0]) != alternatives[0]:
            outside.append(f"{where}: {name} has more than one type")
            formulas.append((where, (name, *alternatives)))
        single.setdefault(name, alternatives[0])
    return single


def _operator(body: list[Expression], keyword: str, outside: list[str]) -> Operator[State]:  # noqa: C901 (a list of checks)
    """Read one action; of a durative one only its name and parameters are STRIPS."""
    if not body or not isinstance(body[0], str) or body[0].startswith(":"):
        raise DomainError(f"an {keyword} has no name")
    name = body[0]
    parts: dict[str, Expression] = {}
    key = ""
    for item in body[1:]:
        if isinstance(item, str) and item.startswith(":"):
            if item in parts:
                raise DomainError(f"operator {name} has {item} twice")
            key = item
            parts[key] = []
        elif key and parts[key] == []:
            parts[key] = item
        else:
            raise DomainError(f"operator {name}: expected a keyword, found {_show(item)}")
    listing = parts.get(":parameters", [])
    if isinstance(listing, str):
        raise DomainError(f"operator {name}: {_show(listing)} is not a list of parameters")
    parameters = tuple(typed_list(listing, f"operator {name}"))
    variables = {variable for variable, _ in parameters}
    for variable in sorted(variables):
        if not variable.startswith("?"):
            raise DomainError(f"operator {name}: parameter {quote(variable)} does not start with `?`")
    if len(variables) < len(parameters):
        raise DomainError(f"operator {name} names a parameter twice")
    if keyword == ":durative-action":
        outside.append(f"{name}: durative action")
        timed = tuple((part, _as_written(form)) for part, form in parts.items() if part != ":parameters")
        return Operator(name, parameters, frozenset(), frozenset(), frozenset(), frozenset(), timed)
    other = {part: form for part, form in parts.items() if part not in _OPERATOR_PARTS}
    outside += [f"{name}: {part}" for part in other]
    formulas = [(part, _as_written(form)) for part, form in other.items()]
    precondition, effect = parts.get(":precondition", []), parts.get(":effect", [])
    literals = (
        *_literals(precondition, name, ":precondition", outside, formulas),
        *_literals(effect, name, ":effect", outside, formulas),
    )
    for atom in sorted(frozenset().union(*literals)):
        unknown = [term for term in atom[1:] if term[0] == "?" and term not in variables]
        outside += [f"{name}: {term} is not a parameter" for term in unknown]
    return Operator(name, parameters, *literals, tuple(dict.fromkeys(formulas)))


def _literals(  # noqa: C901 (one case a construct)
    expression: Expression, operator: str, part: str, outside: list[str], formulas: _Formulas
) -> tuple[State, State]:
    """The positive and negative atoms of a conjunction; other constructs go into ``formulas``, named in ``outside``."""
    positive: set[Atom] = set()
    negative: set[Atom] = set()
    stack: list[tuple[Expression, bool]] = [(expression, True)]
    while stack:
        form, holds = stack.pop()
        if form == [] and holds:
            continue
        head, terms = ("and", []) if form == [] else _named(form, f"a condition or an effect of operator {operator}")
        atom = (head, *(term for term in terms if isinstance(term, str)))
        construct = ""
        if head.startswith("?"):
            raise DomainError(f"operator {operator}: {_show(form)} is not a condition or an effect")
        if head == "and" and (holds or len(terms) == 1):
            stack += [(term, holds) for term in reversed(terms)]
            continue
        if head == "not":
            if len(terms) != 1:
                raise DomainError(f"operator {operator}: {_show(form)} negates {len(terms)} formulas")
            stack.append((terms[0], not holds))
            continue
        if head == "and" or head in _OUTSIDE_STRIPS:
            construct = "negated conjunction" if head == "and" else head
        elif part == ":effect" and head in _QUANTITIES:
            formulas.append((part, _as_written(form)))
            continue
        elif head in _COMPARISONS or (head == EQUALITY and len(atom) <= len(terms)):
            construct = "numeric condition"
        elif len(atom) <= len(terms):
            construct = f"nested term in {head}"
        elif head == EQUALITY and (part == ":effect" or len(terms) != 2):
            raise DomainError(f"operator {operator}: {_show(form)} compares nothing")
        else:
            (positive if holds else negative).add(atom)
            continue
        outside.append(f"{operator}: {construct}")
        formulas.append((part, _as_written(form) if holds else ("not", _as_written(form))))
    return frozenset(positive), frozenset(negative)
