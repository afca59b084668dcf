"""PDDL domain text -> ``Domain``: finds the first readable ``(define (domain …))`` of a raw answer, its STRIPS part.

Tolerant in layout (any order of sections, missing or empty ``:precondition``, prose, fences, drafts around the block),
strict in meaning: what STRIPS cannot say (``when``, ``forall``, numbers that decide whether an operator applies …) is
named in ``Domain.outside_strips``, never guessed, and kept as written (``Operator.formulas``, ``Domain.formulas``), so
that domains can be compared in it. Action costs are kept too, but not named: they do not change what is reachable.
Nothing here reads problems or instantiates an operator.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace

from pddl_eval.definition import words
from pddl_eval.definition.model import (
    AT_END,
    AT_START,
    COMPARISONS,
    EQUALITY,
    OVER_ALL,
    ROOT_TYPE,
    UPDATES,
    Atom,
    Domain,
    Formula,
    Operator,
    State,
    Types,
    When,
    is_equation,
    words_of,
)
from pddl_eval.definition.pddl.drafts import pddl_text, too_long
from pddl_eval.definition.pddl.durative import CONDITION, DURATION_PART, EFFECT, NoTimeError, by_time
from pddl_eval.definition.pddl.sexpr import (
    ACTION,
    DEFINE_DOMAIN,
    Unbalanced,
    excerpt,
    problem_blocks,
    read_expression,
    typed_groups,
    without_comments,
)
from pddl_eval.errors import UserError
from pddl_eval.shown import quote

_OPERATOR_PARTS = frozenset({":parameters", ":precondition", ":effect"})
_TIMED_PARTS = (DURATION_PART, CONDITION, EFFECT)
_OUTSIDE_STRIPS = frozenset({"when", "forall", "exists", "or", "imply", "preference", "oneof", "probabilistic"})

_Parameters = tuple[tuple[str, Types], ...]

_Formulas = list[tuple[str, Formula]]
"""Each with the part of an operator, or the section of a domain, that it stands in."""


_NO_HEADER = Domain("", {}, {}, {}, ())


class DomainError(UserError):
    """The text holds no readable PDDL domain; the message says why in one sentence."""


class OnlyActionsError(DomainError):
    """The text holds no PDDL domain, but actions; ``parse_actions`` reads them."""


def parse_domain(text: str, answer: str = "first") -> Domain:
    """Read the PDDL domain of a text, in lower case: the first block that can be read.

    What stands in comments or in thinking marks is no domain. ``answer`` says which of several drafts counts, the
    ``first`` or the ``last`` that can be read.

    Raises ``DomainError`` when there is none, when it is ``too_long`` or deeper than
    ``PACKAGE_NESTING``, or when it is not PDDL; the reason is that of the first block. A construct outside STRIPS is
    not an error: it is named in ``outside_strips`` and the rest is read; so is an object in an operator that is not
    among the constants, and a second, different operator of the same name. A type that is named only as a parent is
    declared by that, as a child of ``object``. Of two declarations of one predicate the first counts, as for VAL.

    >>> ferry = parse_domain('''A domain: (define (domain ferry) (:predicates (at ?c ?l) (empty))
    ...   (:action board :parameters (?c ?l) :precondition (and (at ?c ?l) (empty)) :effect (not (at ?c ?l))))''')
    >>> ferry.name, [operator.name for operator in ferry.operators]
    ('ferry', ['board'])
    >>> parse_domain("(define (domain ferry)")
    Traceback (most recent call last):
    pddl_eval.definition.pddl.domains.DomainError: the domain has a parenthesis that is never closed
    """
    searched = _searched(text)
    start = DEFINE_DOMAIN.search(searched)
    if start is None and ACTION.search(searched):
        raise OnlyActionsError(f"{words.domain_not_found()}, only actions")
    if start is None:
        raise DomainError(words.domain_not_found())
    reason: DomainError | None = None
    # The last one says why no block is closed.
    for block in (*_blocks(searched, DEFINE_DOMAIN, answer), searched[start.start() :]):
        try:
            return _domain(_expression(block, "the domain"))
        except DomainError as error:
            reason = reason or error
    assert reason is not None
    raise reason


def parse_actions(text: str, header: Domain, answer: str = "first") -> Domain:
    """A domain that has its operators from the ``(:action …)`` blocks of an answer, and all else from ``header``.

    There may be prose between the blocks. Of several blocks of one name ``answer`` says which counts. Raises
    ``DomainError`` where there is no block, or none of a name that can be read.

    >>> ferry = parse_domain("(define (domain ferry) (:predicates (empty)) (:action board :effect (not (empty))))")
    >>> answer = parse_actions("First `(:action wait)`, then ```(:action debark :effect (empty))```.", ferry)
    >>> answer.name, answer.predicates, [operator.name for operator in answer.operators]
    ('ferry', {'empty': ()}, ['wait', 'debark'])
    """
    searched = _searched(text)
    names = dict.fromkeys(ACTION.findall(searched))
    actions: dict[str, tuple[Formula, ...]] = {}
    reasons = dict.fromkeys(names, DomainError("an action has a parenthesis that is never closed"))
    for block in _blocks(searched, ACTION, answer):
        name = ACTION.findall(block)[0]
        try:
            action = _expression(block, f"operator {name}")
            _operator(action[1:], ":action", [])
            actions.setdefault(name, action)
        except DomainError as error:
            reasons[name] = error
    for name in names:
        if name not in actions:
            raise reasons[name]
    if not names:
        raise DomainError("no action found")
    own = {operator.name for operator in header.operators}
    # A note begins with what it is about.
    notes = tuple(note for note in header.outside_strips if note.partition(":")[0] not in own)
    chosen = map(actions.__getitem__, names)
    return _domain(("define", ("domain", header.name), *chosen), replace(header, outside_strips=notes))


def has_several_domains(text: str) -> bool:
    """True where an answer begins more than one domain or, without one, twice the same action; thoughts aside.

    >>> has_several_domains("(:action go) Better: (:action go :effect (gone))")
    True
    """
    searched = _searched(text)
    domains, actions = (opening.findall(searched) for opening in (DEFINE_DOMAIN, ACTION))
    return len(domains) > 1 or (not domains and len(set(actions)) < len(actions))


def _searched(text: str) -> str:
    """What of a text may hold a domain, in lower case: no thoughts, no comments."""
    if long := too_long(text):
        raise DomainError(long)
    text = pddl_text(text.lower())
    bare = without_comments(text)
    # In prose a `;` may stand before a domain.
    return bare if DEFINE_DOMAIN.search(bare) or not DEFINE_DOMAIN.search(text) else text


def _blocks(searched: str, opening: re.Pattern[str], answer: str) -> list[str]:
    blocks = [block.text for block in problem_blocks(searched, opening)]
    return blocks[::-1] if answer == "last" else blocks


def _expression(block: str, what: str) -> tuple[Formula, ...]:
    try:
        return read_expression(block)
    except Unbalanced as error:
        raise DomainError(f"{what} {error}") from None


def _domain(expression: tuple[Formula, ...], header: Domain = _NO_HEADER) -> Domain:  # noqa: C901 (one case a section)
    """The domain of a block; what the header declares need not be declared in it."""
    _, name, *sections = expression
    if len(name) != 2 or not isinstance(name[1], str):
        raise DomainError("the domain has no name")
    types, constants = dict(header.types), dict(header.constants)
    predicates, functions = dict(header.predicates), dict(header.functions)
    operators: dict[Operator, None] = {}
    names: set[str] = set()
    outside = list(header.outside_strips)
    formulas: _Formulas = list(header.formulas)
    several = dict(header.several)
    object_fluents: list[str] = []
    for section in sections:
        keyword, body = _named(section, "a section of the domain")
        if keyword in (":types", ":constants"):
            _read_types(body, keyword[1:], types if keyword == ":types" else constants, several, outside)
        elif keyword == ":predicates":
            for declaration in body:
                predicate, arguments = _named(declaration, "a predicate with its arguments")
                listing = typed_list(arguments, f"predicate {predicate}")
                predicates.setdefault(predicate, tuple(fitting for _, fitting in listing))
        elif keyword == ":functions":
            for declarations, values in typed_groups(body, glued=True):
                for declaration in (each for each in declarations if isinstance(each, tuple)):
                    with suppress(DomainError):
                        function, arguments = _named(declaration, "a function with its arguments")
                        listing = typed_list(arguments, f"function {function}")
                        functions.setdefault(function, tuple(fitting for _, fitting in listing))
                        object_fluents += [function] * (values not in (None, "number"))
        elif keyword in (":action", ":durative-action"):
            operator = _operator(body, keyword, outside)
            if operator.name in names and operator not in operators:
                outside.append(f"{operator.name}: defined twice")
            names.add(operator.name)
            operators[operator] = None
        elif keyword in (":derived", ":axiom"):
            head = body[0] if body else "domain"
            defined = head[0] if isinstance(head, tuple) and head else head
            outside.append(f"{defined if isinstance(defined, str) else 'domain'}: derived predicate")
            formulas.append((keyword, (":derived", *body)))
        elif keyword == "define":
            raise DomainError("another `(define` opens before the domain is closed")
        elif keyword != ":requirements":
            outside.append(f"domain: {keyword}")
            formulas.append((keyword, ("and", *body) if keyword == ":constraints" else body))
    parents = [parent for (section, _), found in several.items() if section == "types" for parent in found]
    for parent in [*types.values(), *parents]:
        types.setdefault(parent, ROOT_TYPE)
    types.pop(ROOT_TYPE, None)
    for operator in (half for each in operators for half in (each, *each.halves.values())):
        terms = {term for part in operator.parts for atom in part for term in atom[1:] if not term.startswith("?")}
        outside += [f"{operator.name}: {term} is not a constant" for term in sorted(terms - constants.keys())]
    written = [form for each in operators for _, form in each.formulas] + [form for _, form in formulas]
    outside += [f"{name}: object fluent" for name in object_fluents if any(name in words_of(form) for form in written)]
    predicates.pop(EQUALITY, None)
    notes = tuple(dict.fromkeys(outside))
    return Domain(name[1], types, constants, predicates, tuple(operators), notes, tuple(formulas), several, functions)


def _named(expression: Formula, what: str) -> tuple[str, tuple[Formula, ...]]:
    """The first word of a list and what follows it."""
    if isinstance(expression, str) or not expression or not isinstance(expression[0], str):
        raise DomainError(f"expected {what}, found {excerpt(expression)}")
    return expression[0], expression[1:]


def typed_list(items: Iterable[Formula], where: str) -> list[tuple[str, Types]]:
    """Read ``a b - t c - (either t u) d``: each name with its alternative types, ``object`` where none is given."""
    typed: list[tuple[str, Types]] = []
    for names, type_ in typed_groups(items, glued=True):  # `-truck` is `- truck` to the pddl package and to VAL
        for name in names:
            if not isinstance(name, str) or name.startswith(":"):
                raise DomainError(f"{where}: {excerpt(name)} is not a name")
        found = ROOT_TYPE if type_ is None else type_
        alternatives = found[1:] if isinstance(found, tuple) and found[:1] == ("either",) else (found,)
        type_names = tuple(name for name in alternatives if isinstance(name, str) and name[:1] not in ("", "-"))
        if not names or not type_names or len(type_names) < len(alternatives):
            raise DomainError(f"{where}: expected names, `-` and a type, found {excerpt((*names, '-', found))}")
        typed += [(str(name), type_names) for name in names]
    return typed


def _read_types(
    items: Iterable[Formula],
    section: str,
    single: dict[str, str],
    several: dict[tuple[str, str], Types],
    outside: list[str],
) -> None:
    """Read a typed list of which each name has one type; where it has several, that is noted and the first counts."""
    for name, alternatives in typed_list(items, section):
        known = several.get((section, name)) or ((single[name],) if name in single else ())
        found = tuple(dict.fromkeys((*known, *alternatives)))
        single.setdefault(name, found[0])
        if len(found) > 1:
            outside.append(f"{section}: {name} has more than one type")
            several[section, name] = found


def _operator(body: tuple[Formula, ...], keyword: str, outside: list[str]) -> Operator:  # noqa: C901 (a list of checks)
    """Read one action; a durative one as written, and as its halves."""
    if not body or not isinstance(body[0], str) or body[0].startswith(":"):
        raise DomainError(f"an {keyword} has no name")
    name = body[0]
    parts: dict[str, Formula] = {}
    key = ""
    for item in body[1:]:
        if isinstance(item, str) and item.startswith(":"):
            if item in parts:
                raise DomainError(f"operator {name} has {item} twice")
            key = item
            parts[key] = ()
        elif key and parts[key] == ():
            parts[key] = item
        else:
            raise DomainError(f"operator {name}: expected a keyword, found {excerpt(item)}")
    listing = parts.get(":parameters", ())
    if isinstance(listing, str):
        raise DomainError(f"operator {name}: {excerpt(listing)} is not a list of parameters")
    parameters = tuple(typed_list(listing, f"operator {name}"))
    variables = {variable for variable, _ in parameters}
    for variable in sorted(variables):
        if not variable.startswith("?"):
            raise DomainError(f"operator {name}: parameter {quote(variable)} does not start with `?`")
    if len(variables) < len(parameters):
        raise DomainError(f"operator {name} names a parameter twice")
    if keyword == ":durative-action":
        outside.append(f"{name}: durative action")
        timed = {part: form for part, form in parts.items() if part != ":parameters"}
        halves = _halves(name, parameters, timed, outside)
        nothing: State = frozenset()
        return Operator(name, parameters, nothing, nothing, nothing, nothing, tuple(timed.items()), halves=halves)
    other = {part: form for part, form in parts.items() if part not in _OPERATOR_PARTS}
    outside += [f"{name}: {part}" for part in other]
    precondition, effect = parts.get(":precondition", ()), parts.get(":effect", ())
    return _of_literals(name, parameters, precondition, effect, [*other.items()], outside)


def _halves(
    name: str, parameters: _Parameters, parts: Mapping[str, Formula], outside: list[str]
) -> dict[When, Operator]:
    """What a durative action needs and does at its start, over all and at its end; nothing where that cannot be said.

    The duration is a formula of the half that asks for it.
    """
    outside += [f"{name}: durative action with {part}" for part in parts if part not in _TIMED_PARTS]
    if DURATION_PART not in parts:
        outside.append(f"{name}: durative action without :duration")
        return {}
    try:
        said = [(part, when, each) for part, form in parts.items() for when, each in by_time(form, part)]
        halves = {}
        for half in (AT_START, OVER_ALL, AT_END):
            asked, needed, done = (
                [each for part, when, each in said if (part, when) == (wanted, half)] for wanted in _TIMED_PARTS
            )
            formulas: _Formulas = [(DURATION_PART, each) for each in asked]
            conditions, effects = ("and", *needed), ("and", *done)
            halves[half] = replace(_of_literals(name, parameters, conditions, effects, formulas, outside), when=half)
        return halves
    except (DomainError, NoTimeError) as error:
        outside.append(f"{name}: {error}")
        return {}


def _of_literals(  # noqa: PLR0913 (all that an action says)
    name: str, parameters: _Parameters, condition: Formula, effect: Formula, formulas: _Formulas, outside: list[str]
) -> Operator:
    """The operator with the literals of a condition and of an effect; what is none is added to the formulas."""
    conditions = literals(condition, name, ":precondition", outside, formulas)
    sets = (*conditions, *literals(effect, name, ":effect", outside, formulas))
    variables = {variable for variable, _ in parameters}
    for atom in sorted(frozenset().union(*sets)):
        unknown = [term for term in atom[1:] if term[0] == "?" and term not in variables]
        outside += [f"{name}: {term} is not a parameter" for term in unknown]
    return Operator(name, parameters, *sets, tuple(formulas))


def literals(  # noqa: C901 (one case a construct)
    expression: Formula, operator: str, part: str, outside: list[str], formulas: _Formulas
) -> tuple[State, State]:
    """The positive and negative atoms of a conjunction; other constructs go into ``formulas``, named in ``outside``."""
    positive: set[Atom] = set()
    negative: set[Atom] = set()
    stack: list[tuple[Formula, bool]] = [(expression, True)]
    while stack:
        form, holds = stack.pop()
        if form == () and holds:
            continue
        head, terms = ("and", ()) if form == () else _named(form, f"a condition or an effect of operator {operator}")
        atom = (head, *(term for term in terms if isinstance(term, str)))
        construct = ""
        if head.startswith(("?", ":")):
            raise DomainError(f"operator {operator}: {excerpt(form)} is not a condition or an effect")
        if head == "and" and (holds or len(terms) == 1):
            stack += [(term, holds) for term in reversed(terms)]
            continue
        if head == "not":
            if len(terms) != 1:
                raise DomainError(f"operator {operator}: {excerpt(form)} negates {len(terms)} formulas")
            stack.append((terms[0], not holds))
            continue
        if head == "and" or head in _OUTSIDE_STRIPS:
            construct = "negated conjunction" if head == "and" else head
        elif part == ":effect" and head in UPDATES and holds:
            formulas.append((part, form))
            continue
        elif head in UPDATES:
            construct = head
        elif head in COMPARISONS and not is_equation(form):
            construct = "numeric condition"
        elif len(atom) <= len(terms):
            construct = f"nested term in {head}"
        elif head == EQUALITY and (part == ":effect" or len(terms) != 2):
            raise DomainError(f"operator {operator}: {excerpt(form)} compares nothing")
        else:
            (positive if holds else negative).add(atom)
            continue
        outside.append(f"{operator}: {construct}")
        formulas.append((part, form if holds else ("not", form)))
    return frozenset(positive), frozenset(negative)
