"""A STRIPS problem out of a raw model answer, or the reason why there is none.

A block is plain when white space and parentheses alone separate its words. Plain blocks are read here, some forty times
faster than the ``pddl`` package reads them and with its verdicts; any other block (a keyword glued to a name, a metric,
arithmetic) is left to ``authority``. The tests compare the two on mutated texts.
Of the domain only the names of its constants are known here: whether predicates and types exist is for others to check.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from itertools import chain, pairwise
from operator import itemgetter
from typing import Any, cast

from pddl_eval.definition import words
from pddl_eval.definition.model import ROOT_TYPE, Atom, Formula, Problem, show_formula
from pddl_eval.definition.pddl.authority import (
    TOO_LONG,
    ParseError,
    Unreadable,
    not_strips,
    read_by_package,
    unparseable,
)
from pddl_eval.definition.pddl.drafts import pddl_text, too_long
from pddl_eval.definition.pddl.sexpr import (
    DEFINE_PROBLEM,
    Unbalanced,
    excerpt,
    problem_blocks,
    read_expression,
    typed_groups,
    why_no_block,
)
from pddl_eval.definition.verdict import Verdict
from pddl_eval.definition.words import SECTIONS
from pddl_eval.shown import listed

KEYWORDS = frozenset(
    """define problem domain object either and or not imply forall exists when oneof assign increase decrease scale-up
    scale-down minimize maximize total-cost""".split()  # noqa: SIM905 (a list of 21 strings takes 21 lines)
)
"""What the package's grammar reads as a name and its validation refuses as one."""

REQUIREMENTS = frozenset(
    """:strips :typing :equality :adl :non-deterministic :negative-preconditions :disjunctive-preconditions
    :existential-preconditions :universal-preconditions :quantified-preconditions :derived-predicates
    :conditional-effects :numeric-fluents :fluents :action-costs""".split()  # noqa: SIM905 (as above)
)
"""The requirement keywords of the package's grammar."""

_OPERANDS: dict[str, float] = {"and": math.inf, "or": math.inf, "not": 1, "imply": 2, "forall": 1, "exists": 1}
_REFUSED_AT_ONCE = frozenset(("or", "imply", "forall", "exists", "="))

_NAME = re.compile(r"[a-z][a-z0-9_-]*+")
_NO_TOKEN = re.compile(r"[^a-z0-9_:=<>+*/?-]")  # the lexer knows these characters in no token but a decimal number
_NUMBER = re.compile(r"[0-9]{1,15}(?:\.[0-9]{1,15})?+")
_VARIABLES = re.compile(r"(?:(?:\?[a-z][a-z0-9_-]*+ )++(?:- [a-z][a-z0-9_-]*+ )?+)*+")

_END = ")"
"""What stands behind the last expression of a list."""


class NotPlain(Exception):
    """Only the package can tell what the block says."""


def read_problem(text: str | None, constants: Iterable[str] = (), *, answer: str = "first") -> Problem | Unreadable:
    """The STRIPS problem in a text (``parse_problem``), or the reason why there is none.

    ``answer`` says which of several drafts counts, the ``first`` or the ``last`` that is a problem.

    >>> read_problem("(define (problem p) (:domain d) (:objects b1) (:init (on b1 b9)) (:goal (and)))").detail
    '`(on b1 b9)` in :init names `b9`, which :objects does not declare'
    """
    if text and (long := too_long(text)):
        return Unreadable(Verdict.UNPARSEABLE, long)
    lowered = pddl_text(text.lower()) if text else ""
    if not lowered or lowered.isspace():
        return Unreadable(Verdict.EMPTY, words.empty_text() if not text or text.isspace() else words.only_thoughts())
    constants = frozenset(constants)
    reason: Unreadable | None = None
    characters_read = 0
    for block, line in reversed([*problem_blocks(lowered)]) if answer == "last" else problem_blocks(lowered):
        try:
            try:
                problem = _read_block(block, line, characters_read)
            except ParseError as error:
                problem = _read_as_val(block, line, characters_read, error)
            require_declared(problem, constants)
            return problem
        except ParseError as error:
            reason = reason or Unreadable(error.verdict, error.detail)
        characters_read += len(block)
    return reason or Unreadable(Verdict.UNPARSEABLE, why_no_block(lowered))


def _read_block(block: str, line: int, characters_read: int) -> Problem:
    try:
        return read_plain_problem(block)
    except NotPlain:
        return read_by_package(block, line, characters_read)


def _read_as_val(block: str, line: int, characters_read: int, refused: ParseError) -> Problem:
    """The problem of a block that the package refuses, where VAL reads it; else raises what it was refused with."""
    try:
        start, header, *sections = read_expression(block)
    except Unbalanced:
        raise refused from None
    sections, remarks = as_val_reads(sections)
    if refused.verdict is not Verdict.UNPARSEABLE or not remarks:
        raise refused
    try:
        problem = _read_block(show_formula((start, header, *sections)), line, characters_read + len(block))
    except ParseError as error:
        is_refused = error.verdict is Verdict.UNPARSEABLE and TOO_LONG not in error.detail
        raise refused if is_refused else error from None
    return replace(problem, remarks=remarks)


def as_val_reads(sections: Sequence[Formula]) -> tuple[list[Formula], tuple[str, ...]]:
    """The sections of a problem as the package reads them, and what of them only VAL reads.

    VAL takes the sections in any order, an object that is listed again with the same type, and a type without objects.

    >>> as_val_reads([(":domain", "d"), (":objects", "a", "a", "-", "t"), (":goal", ("p", "a")), (":init",)])
    ([(':domain', 'd'), (':objects', 'a', '-', 't'), (':init',), (':goal', ('p', 'a'))],
     ('read as VAL does: :objects lists `a` twice, :goal is before :init',))
    """
    keywords = [section[0] if not isinstance(section, str) and section else "" for section in sections]
    read, said = list(sections), list[str]()
    if keywords.count(":objects") == 1:
        place = keywords.index(":objects")
        names, said = _objects_as_val_reads(sections[place][1:])
        read[place] = (":objects", *names)
    order = [SECTIONS.index(each) for each in keywords if isinstance(each, str) and each in SECTIONS]
    is_known = len(order) == len(keywords) == len({*order}) and keywords[:1] == [":domain"]
    if is_known and order != sorted(order):
        place = next(place for place, (one, other) in enumerate(pairwise(order)) if one > other)
        before = order[: order.index(SECTIONS.index(":objects"))] if ":objects" in keywords else []
        if not {SECTIONS.index(":init"), SECTIONS.index(":goal")}.intersection(before):  # VAL wants names declared
            said.append(f"{keywords[place]} is before {keywords[place + 1]}")
            read = [section for _, section in sorted(zip(order, read, strict=True), key=itemgetter(0))]
    return read, (f"read as VAL does: {listed(said, most=3)}",) if said else ()


def _objects_as_val_reads(listing: Sequence[Formula]) -> tuple[list[Formula], list[str]]:
    read: list[Formula] = []
    types: dict[Formula, Formula] = {}
    said: list[str] = []
    for names, written in typed_groups(listing):
        type_ = ROOT_TYPE if written is None else written
        if not names and isinstance(type_, str) and type_ not in ("", "-"):
            said.append(f":objects has no names before the type {excerpt(type_)}")
            continue
        new: dict[Formula, Formula] = {}
        for name in names:
            if name in new or types.get(name) == type_:
                said.append(f":objects lists {excerpt(name)} twice")
            else:
                new[name] = type_
        types |= new
        read += [*new, *(("-", written) if new and written is not None else ())]
    return read, said


def has_several_problems(text: str | None) -> bool:
    """True where an answer begins more than one problem, thoughts aside.

    >>> has_several_problems("(define (problem p) … no: (define (problem p) …")
    True
    """
    if not text or too_long(text):
        return False
    return len(DEFINE_PROBLEM.findall(pddl_text(text.lower()))) > 1


def require_declared(problem: Problem, constants: Iterable[str]) -> None:
    """Raise ``ParseError`` (``invalid_atom``) where an atom names an object that nobody declares, or is true and false.

    >>> require_declared(Problem("p", "d", {}, frozenset({("at", "home")}), frozenset()), ["home"])
    """
    arguments = set(chain.from_iterable([atom[1:] for atom in chain(problem.init, problem.goal, problem.denied)]))
    undeclared = arguments.difference(problem.objects, constants)
    if undeclared:
        raise _undeclared(problem, undeclared)
    for atom in sorted(problem.init & problem.denied):
        raise ParseError(Verdict.INVALID_ATOM, words.true_and_false(atom))


def read_plain_problem(block: str) -> Problem:
    """The problem that a lower-case block ``(define (problem …)`` states; atoms may name objects that are not declared.

    Raises ``ParseError`` where the package finds no problem or one that is not STRIPS, and ``NotPlain`` where only the
    package can tell.

    >>> read_plain_problem("(define (problem p) (:domain d) (:init (q)) (:goal (and)))").init
    frozenset({('q',)})
    """
    try:
        _, header, *sections = read_expression(block)
    except Unbalanced:  # it is closed, so it nests too deeply
        raise NotPlain from None
    if header[0] != "problem":
        raise NotPlain
    name = _name(header[1:], "`(problem …)`")
    rest = [_END, *reversed(sections)]
    domain = _name(_section(rest, ":domain")[1:], "`(:domain …)`")
    keyword, *body = _section(rest, ":requirements", ":objects", ":init")
    if keyword == ":requirements":
        if not body or not REQUIREMENTS.issuperset(body):
            raise _bad_requirements([*map(_word, body)])
        keyword, *body = _section(rest, ":objects", ":init")
    objects: dict[str, str] = {}
    if keyword == ":objects":
        objects = _objects(body)
        _, *body = _section(rest, ":init")
    known = {*objects}
    init, denied, beyond_init = _init(body, known)
    goal: list[Atom] = []
    beyond_goal = "`not`" if _conjuncts(":goal", _section(rest, ":goal")[1:], goal, known) else ""
    if not beyond_goal and any(word[0] == "?" for atom in goal for word in atom):
        beyond_goal = "a variable"
    after = rest.pop()
    if after != _END:
        if _opening(after).startswith("(:metric"):
            raise NotPlain
        raise _unexpected(after, "`)` after `(:goal …)`")
    _require_names((name, domain), "the header")
    if beyond_init or beyond_goal:
        raise not_strips(":init" if beyond_init else "the goal", beyond_init or beyond_goal)
    return Problem(name, domain, objects, frozenset(init), frozenset(goal), denied=frozenset(denied))


def _section(rest: list[Formula], *possible: str) -> tuple[Formula, ...]:
    """Take the next section, the last of ``rest``, which has one of these keywords."""
    section = rest.pop()
    if isinstance(section, str) or not section or section[0] not in possible:
        raise _unexpected_section(section, possible)
    return section


def _objects(listing: Iterable[Formula]) -> dict[str, str]:
    """The objects with their types, in the order of the text."""
    names: list[str] = []
    types: list[str] = []
    for group, type_ in typed_groups(listing):
        if isinstance(type_, tuple):
            raise unparseable(words.either())
        if not group or type_ in ("", "-"):
            raise unparseable(words.typed_list())
        names += map(_word, group)
        types += [type_ or ROOT_TYPE] * len(group)
    _require_names(names, ":objects", also_possible="-")
    _require_names({*types} - {ROOT_TYPE}, ":objects")
    objects = dict(zip(names, types, strict=True))
    if len(objects) < len(names):
        twice = next(name for name, count in Counter(names).items() if count > 1)
        raise unparseable(words.twice(twice))
    return objects


def _init(listing: Sequence[Formula], known: set[str]) -> tuple[list[Atom], list[Atom], str]:
    """The atoms of the initial state, those that it calls false, and the first construct beyond STRIPS if any."""
    atoms: list[Atom] = []
    denied: list[Atom] = []
    beyond = ""
    for element in listing:
        if isinstance(element, str):
            raise _unexpected(element, "`)` after the atoms of :init")
        head = element[0] if element else ""
        if head not in ("not", "="):
            atoms.append(_atom(element, ":init", known, also_possible="="))
            continue
        operand, value, *more = *element[1:], _END, _END
        if head == "not":
            if isinstance(operand, str):
                raise _unexpected(operand, "an atom after `not` in :init")
            denied.append(_atom(operand, ":init", known))
            more = [value]
        else:  # `(= (function object …) number)` or `(= function number)`
            beyond = beyond or "the value of a function"
            function = (operand,) if isinstance(operand, str) else operand
            if function[:1] == ("total-cost",):  # the one keyword that may name a function
                _require_names([*map(_word, function[1:])], ":init")
            else:
                _atom(function, ":init", known)
            if not _NUMBER.fullmatch(_word(value)):
                if not _word(value)[0].isalpha() and _word(value) not in ("(", _END):
                    raise NotPlain
                raise _unexpected(value, "a number as the value of a function in :init")
        if more[0] != _END:
            raise _unexpected(more[0], f"`)` after `({head} …` in :init")
    return atoms, denied, beyond


def _conjuncts(  # noqa: C901 (one case a construct)
    operator: str, formulas: Sequence[Any], atoms: list[Atom], known: set[str]
) -> bool:
    """Add the atoms among an operator's operands to ``atoms``; True where some are negated.

    The package refuses disjunction, quantifiers and equality as soon as it has read one to its end and the parenthesis
    after it, before it sees what may be wrong further on; so does this.
    """
    negated = operator == "not"
    operands = _OPERANDS.get(operator, 1)
    for number, formula in enumerate(formulas, 1):
        if isinstance(formula, str):
            raise _unexpected(formula, "a formula in the goal")
        if number > operands:
            raise unparseable(words.too_many_formulas(operator))
        head = _word(formula[0]) if formula else _END
        if head in _OPERANDS:
            inner = _after_variables(formula) if head in ("forall", "exists") else formula[1:]
            negated |= _conjuncts(head, inner, atoms, known)
        elif head == "=":
            terms = [_word(term).removeprefix("?") for term in formula[1:]]
            if len(terms) != 2 or not all(map(_NAME.fullmatch, terms)) or not KEYWORDS.isdisjoint(terms):
                raise NotPlain
        elif _NAME.fullmatch(head):
            atoms.append(_atom(formula, "the goal", known, also_possible="?"))
        else:  # perhaps an operator glued to something
            raise _not_a_name(head, "the goal", "=<>")
        if head in _REFUSED_AT_ONCE:
            if isinstance((*formulas, ())[number], str):
                raise NotPlain
            raise not_strips("the goal", f"`{head}`")
    if len(formulas) < operands < math.inf:
        raise unparseable(words.no_formula(operator))
    return negated


def _atom(terms: Sequence[Formula], where: str, known: set[str], also_possible: str = "") -> Atom:
    """An atom: all its words are names, or variables where they are possible. ``known`` are words that are."""
    if not terms:
        raise unparseable(words.no_atom(where))
    for expression in terms:
        if expression not in known:
            word = _word(expression)
            _require_names([word.removeprefix("?") if also_possible == "?" else word], where, also_possible)
            known.add(word)
    return cast("Atom", terms)


def _after_variables(quantified: Sequence[Formula]) -> Sequence[Formula]:
    """What follows the typed list of a quantifier's variables."""
    listing = (*quantified, _END)[1]
    if isinstance(listing, str):
        raise _unexpected(listing, "the variables of a quantifier in the goal")
    words = [*map(_word, listing)]
    variables = [word for word in words if word.startswith("?")]
    reserved = KEYWORDS.intersection(word.removeprefix("?") for word in words)
    if reserved or len(set(variables)) < len(variables) or not _VARIABLES.fullmatch(" ".join([*words, ""])):
        raise NotPlain
    return quantified[2:]


def _name(listing: Sequence[Formula], where: str) -> str:
    """The name (of a problem or a domain; keywords are refused later) that a section is made of."""
    name, *more = map(_word, (*listing, _END))
    if not _NAME.fullmatch(name):
        raise _not_a_name(name, where)
    if more != [_END]:
        raise _unexpected(listing[1], f"`)` after the name in {where}")
    return name


def _require_names(words: Collection[str], where: str, also_possible: str = "") -> None:
    """Raise for the first word that is not a name, or is a keyword."""
    if not all(map(_NAME.fullmatch, words)) or not KEYWORDS.isdisjoint(words):
        strange = next(word for word in words if word in KEYWORDS or not _NAME.fullmatch(word))
        raise _not_a_name(strange, where, also_possible)


def _word(expression: Formula) -> str:
    """A word, or the parenthesis that opens a list."""
    return expression if isinstance(expression, str) else "("


def _opening(expression: Formula) -> str:
    """A word, or the parenthesis that opens a list, with what follows it."""
    return expression if isinstance(expression, str) else f"({_word((*expression, _END)[0])}"


def _not_a_name(word: str, where: str, also_possible: str = "") -> ParseError | NotPlain:
    """The error for a word in place of a name.

    ``also_possible`` are the characters with which something else than a name might start there. Of a word that starts
    like that, or like a name, the package's lexer may make several tokens.
    """
    if word in ("(", ")"):
        return unparseable(words.expected_name(word, where))
    if word in KEYWORDS:
        return unparseable(words.keyword(word, where))
    if _NO_TOKEN.search(word) or not (word[:1].isalpha() or word[:1] in also_possible):
        return unparseable(words.no_name(word, where))
    return NotPlain()


def _unexpected(found: Formula, expected: str) -> ParseError:
    return unparseable(words.unexpected(_opening(found), expected))


def _unexpected_section(found: Formula, possible: tuple[str, ...]) -> ParseError | NotPlain:
    """The error for a place where one of these sections may come, or must in the case of the last one."""
    keyword = "" if isinstance(found, str) else _opening(found)[1:]
    if keyword.startswith(possible):
        return NotPlain()
    says = words.section if not keyword else words.section_order if keyword in SECTIONS else words.no_section
    return unparseable(says(_opening(found), possible))


def _bad_requirements(requirements: Sequence[str]) -> ParseError | NotPlain:
    for unknown in requirements:
        if unknown not in REQUIREMENTS:
            known_start = unknown.startswith(tuple(REQUIREMENTS))
            return NotPlain() if known_start else unparseable(words.requirement(unknown))
    return unparseable(words.no_requirement())


def _undeclared(problem: Problem, undeclared: set[str]) -> ParseError:
    """The error for the first atom that names an object that neither the problem nor the domain declares."""
    init = problem.init | problem.denied
    atom = min(atom for atom in init | problem.goal if undeclared.intersection(atom[1:]))
    name = next(name for name in atom[1:] if name in undeclared)
    where = ":init" if atom in init else "the goal"
    return ParseError(Verdict.INVALID_ATOM, words.undeclared(atom, where, name))
