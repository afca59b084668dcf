"""PDDL domain text -> ``Domain``: finds the first ``(define (domain …))`` of a raw answer and reads its STRIPS part.

Tolerant in layout (any order of sections, missing or empty ``:precondition``, prose and fences around the block),
strict in meaning: what STRIPS cannot say (``when``, ``forall``, numbers that decide whether an operator applies …) is
named in ``Domain.outside_strips``, never guessed. Action costs do not change what is reachable and are passed over.
Problems are read elsewhere; nothing here instantiates an operator.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from pddl_eval.errors import UserError
from pddl_eval.model import EQUALITY, ROOT_TYPE, Atom, Domain, Operator

MAX_CHARACTERS = 1_000_000
"""The longest text that is read; the IPC's largest domain files stay below it."""

MAX_NESTING = 50
"""The deepest nesting of parentheses that is read; a STRIPS operator needs six."""

Expression = str | list["Expression"]
"""A word, or the list of what stands between two parentheses."""

_START = re.compile(r"\(\s*define\s*\(\s*domain(?=[\s)])")
_TOKEN = re.compile(r";[^\n]*|[()]|[^\s();]+")
_IGNORED_SECTIONS = frozenset({":requirements", ":functions"})
_ACTION_KEYWORDS = frozenset({":parameters", ":precondition", ":effect"})
_QUANTITIES = frozenset({"increase", "decrease", "assign", "scale-up", "scale-down"})
_COMPARISONS = frozenset({"<", ">", "<=", ">="})
_OUTSIDE_STRIPS = frozenset({"when", "forall", "exists", "or", "imply", "preference", "oneof", "probabilistic"})


class DomainError(UserError):
    """The text holds no readable PDDL domain; the message says why in one sentence."""


def parse_domain(text: str) -> Domain:
    """Read the first PDDL domain in a text, in lower case.

    Raises ``DomainError`` when there is none, when it is longer or deeper than the bounds above, or when it is not
    PDDL. A construct outside STRIPS is no error: it is named in ``outside_strips`` and the rest is read. A type that
    is named only as a parent is declared by that, as a child of ``object``.

    >>> ferry = parse_domain('''A domain: (define (domain ferry) (:predicates (at ?c ?l) (empty))
    ...   (:action board :parameters (?c ?l) :precondition (and (at ?c ?l) (empty)) :effect (not (at ?c ?l))))''')
    >>> ferry.name, [operator.name for operator in ferry.operators]
    ('ferry', ['board'])
    >>> parse_domain("(define (domain ferry)")
    Traceback (most recent call last):
    pddl_eval.parsing.domains.DomainError: a parenthesis of the domain is never closed
    """
    _, header, *sections = _read_block(text)
    if len(header) != 2 or not isinstance(header[1], str):
        raise DomainError("the domain has no name")
    types: dict[str, str] = {}
    constants: dict[str, str] = {}
    predicates: dict[str, tuple[tuple[str, ...], ...]] = {}
    operators: dict[str, Operator] = {}
    outside: list[str] = []
    for section in sections:
        if not isinstance(section, list) or not section or not isinstance(section[0], str):
            raise DomainError(f"{_show(section)} stands where a section of the domain should")
        keyword, body = section[0], section[1:]
        if keyword == ":types":
            types |= _single_types(body, "types", outside)
        elif keyword == ":constants":
            constants |= _single_types(body, "constants", outside)
        elif keyword == ":predicates":
            predicates |= _predicates(body)
        elif keyword in (":action", ":durative-action"):
            operator = _operator(body, keyword, outside)
            if operator.name in operators:
                raise DomainError(f"operator {operator.name} is defined twice")
            operators[operator.name] = operator
        elif keyword in (":derived", ":axiom"):
            outside.append(f"{_derived_name(body)}: derived predicate")
        elif keyword not in _IGNORED_SECTIONS:
            outside.append(f"domain: {keyword}")
    for parent in [parent for parent in types.values() if parent not in types]:
        types[parent] = ROOT_TYPE
    types.pop(ROOT_TYPE, None)
    predicates.pop(EQUALITY, None)
    return Domain(header[1], types, constants, predicates, tuple(operators.values()), tuple(dict.fromkeys(outside)))


def _read_block(text: str) -> list[Expression]:
    """The nested lists of the first ``(define (domain …) …)``, without comments."""
    if len(text) > MAX_CHARACTERS:
        raise DomainError(f"the text has more than {MAX_CHARACTERS:,} characters")
    text = text.lower()
    start = _START.search(text)
    if start is None:
        raise DomainError("the text has no (define (domain …))")
    open_lists: list[list[Expression]] = []
    for match in _TOKEN.finditer(text, start.start()):
        token = match.group()
        if token == "(":
            if len(open_lists) == MAX_NESTING:
                raise DomainError(f"the domain nests deeper than {MAX_NESTING} parentheses")
            open_lists.append([])
        elif token == ")":
            closed = open_lists.pop()
            if not open_lists:
                return closed
            open_lists[-1].append(closed)
        elif not token.startswith(";"):
            open_lists[-1].append(token)
    raise DomainError("a parenthesis of the domain is never closed")


def _show(expression: Expression) -> str:
    """A short quotation of an expression for an error message."""
    if isinstance(expression, str):
        return f"'{expression[:40]}'"
    words = [word if isinstance(word, str) else "(…)" for word in expression[:4]]
    return f"'({' '.join(words)[:40]}{' …' if len(expression) > 4 else ''})'"


def _typed_list(items: Iterable[Expression], where: str) -> list[tuple[str, tuple[str, ...]]]:
    """Read ``a b - t c - (either t u) d``: each name with its alternative types, ``object`` where none is given."""
    typed: list[tuple[str, tuple[str, ...]]] = []
    waiting: list[str] = []
    expects_type = False
    for item in items:
        if expects_type:
            alternatives = item[1:] if isinstance(item, list) and item[:1] == ["either"] else [item]
            names = tuple(name for name in alternatives if isinstance(name, str) and name != "-")
            if not names or len(names) != len(alternatives):
                raise DomainError(f"{where}: {_show(item)} is not a type")
            typed += [(name, names) for name in waiting]
            waiting = []
            expects_type = False
        elif item == "-":
            if not waiting:
                raise DomainError(f"{where}: a '-' has no name before it")
            expects_type = True
        elif isinstance(item, str) and not item.startswith(("-", ":")):
            waiting.append(item)
        else:
            raise DomainError(f"{where}: {_show(item)} is not a name")
    if expects_type:
        raise DomainError(f"{where}: a '-' has no type after it")
    return typed + [(name, (ROOT_TYPE,)) for name in waiting]


def _single_types(items: Iterable[Expression], where: str, outside: list[str]) -> dict[str, str]:
    """A typed list of which each name has one type; a second or alternative one is noted, the first one counts."""
    single: dict[str, str] = {}
    for name, alternatives in _typed_list(items, where):
        if len(alternatives) > 1 or single.get(name, alternatives[0]) != alternatives[0]:
            outside.append(f"{where}: {name} has more than one type")
        single.setdefault(name, alternatives[0])
    return single


def _predicates(declarations: Iterable[Expression]) -> dict[str, tuple[tuple[str, ...], ...]]:
    """The declared predicates with the alternative types of each argument."""
    predicates = {}
    for declaration in declarations:
        if not isinstance(declaration, list) or not declaration or not isinstance(declaration[0], str):
            raise DomainError(f"{_show(declaration)} does not declare a predicate")
        name, arguments = declaration[0], declaration[1:]
        predicates[name] = tuple(types for _, types in _typed_list(arguments, f"predicate {name}"))
    return predicates


def _derived_name(body: Sequence[Expression]) -> str:
    """The predicate that a derivation rule defines, as far as the rule names one."""
    head = body[0] if body else "domain"
    name = head[0] if isinstance(head, list) and head else head
    return name if isinstance(name, str) else "domain"


def _operator(body: Sequence[Expression], keyword: str, outside: list[str]) -> Operator:
    """Read one action; of a durative one only its name and parameters are STRIPS."""
    if not body or not isinstance(body[0], str) or body[0].startswith(":"):
        raise DomainError(f"an {keyword} has no name")
    name, rest = body[0], body[1:]
    parts: dict[str, Expression] = {}
    key: str | None = None
    for item in rest:
        if isinstance(item, str) and item.startswith(":"):
            if item in parts:
                raise DomainError(f"operator {name} has {item} twice")
            key = item
            parts[key] = []
        elif key is not None and parts[key] == []:
            parts[key] = item
        else:
            raise DomainError(f"operator {name}: {_show(item)} stands where a keyword should")
    parameters = parts.get(":parameters", [])
    if not isinstance(parameters, list):
        raise DomainError(f"operator {name}: {_show(parameters)} is not a list of parameters")
    typed = tuple(_typed_list(parameters, f"operator {name}"))
    variables = {variable for variable, _ in typed}
    for variable, _ in typed:
        if not variable.startswith("?"):
            raise DomainError(f"operator {name}: parameter '{variable}' does not start with '?'")
    if len(variables) < len(typed):
        raise DomainError(f"operator {name} names a parameter twice")
    if keyword == ":durative-action":
        outside.append(f"{name}: durative action")
        return Operator(name, typed, frozenset(), frozenset(), frozenset(), frozenset())
    outside += [f"{name}: {part}" for part in parts if part not in _ACTION_KEYWORDS]
    required, forbidden = _literals(parts.get(":precondition", []), name, False, outside)
    added, deleted = _literals(parts.get(":effect", []), name, True, outside)
    for atom in sorted(required | forbidden | added | deleted):
        outside += [
            f"{name}: {term} is not a parameter" for term in atom[1:] if term[0] == "?" and term not in variables
        ]
    return Operator(name, typed, required, forbidden, added, deleted)


def _literals(
    expression: Expression, operator: str, is_effect: bool, outside: list[str]
) -> tuple[frozenset[Atom], frozenset[Atom]]:
    """The positive and the negative atoms of a conjunction; each other construct is added to ``outside``."""
    positive: set[Atom] = set()
    negative: set[Atom] = set()
    stack: list[tuple[Expression, bool]] = [(expression, True)]
    while stack:
        form, holds = stack.pop()
        if form == []:
            continue
        if isinstance(form, str) or not isinstance(form[0], str) or form[0].startswith("?"):
            raise DomainError(f"operator {operator}: {_show(form)} is not a condition or an effect")
        head, terms = form[0], form[1:]
        if head == "and" and (holds or len(terms) <= 1):
            stack += [(term, holds) for term in reversed(terms)]
        elif head == "not":
            if len(terms) != 1:
                raise DomainError(f"operator {operator}: {_show(form)} negates {len(terms)} formulas")
            stack.append((terms[0], not holds))
        elif head == "and" or head in _OUTSIDE_STRIPS:
            outside.append(f"{operator}: {'negated conjunction' if head == 'and' else head}")
        elif is_effect and head in _QUANTITIES:
            continue
        else:
            atom = (head, *(term for term in terms if isinstance(term, str)))
            if head in _COMPARISONS or (head == EQUALITY and len(atom) <= len(terms)):
                outside.append(f"{operator}: numeric condition")
            elif len(atom) <= len(terms):
                outside.append(f"{operator}: nested term in {head}")
            elif head == EQUALITY and (is_effect or len(terms) != 2):
                raise DomainError(f"operator {operator}: {_show(form)} compares nothing")
            else:
                (positive if holds else negative).add(atom)
    return frozenset(positive), frozenset(negative)
