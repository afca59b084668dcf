"""A STRIPS problem out of a raw model answer, or the reason why there is none.

A block is plain when white space and parentheses alone separate its words. Plain blocks are read here, some forty times
faster than the ``pddl`` package reads them and with its verdicts; any other block (a keyword glued to a name, a metric,
arithmetic) is left to ``authority``. The tests compare the two on mutated texts. Most answers are a plain block in
which only atoms nest and nothing is wrong: one regular expression takes such an ordinary block apart, twice as fast.
Of the domain only the names of its constants are known here: whether predicates and types exist is for others to check.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from itertools import chain
from operator import itemgetter

from pddl_eval.model import ROOT_TYPE, Atom, Problem, show_atom
from pddl_eval.parsing.authority import (
    PACKAGE_NESTING,
    ParseError,
    Unreadable,
    not_strips,
    read_by_package,
    unparseable,
)
from pddl_eval.parsing.sexpr import DEFINE_PROBLEM, WINDOW, problem_blocks, split_words, why_no_block
from pddl_eval.shown import quote
from pddl_eval.verdict import Verdict

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

_SECTIONS: tuple[str, ...] = (":domain", ":requirements", ":objects", ":init", ":goal", ":metric")
_INIT_OPERATORS = ("not", "=")
_OPERANDS: dict[str, float] = {"and": math.inf, "or": math.inf, "not": 1, "imply": 2, "forall": 1, "exists": 1}
_GOAL_OPERATORS = frozenset((*_OPERANDS, "="))
_REFUSED_AT_ONCE = frozenset(("or", "imply", "forall", "exists", "="))

_NAME = re.compile(r"[a-z][a-z0-9_-]*+")
_NO_TOKEN = re.compile(r"[^a-z0-9_:=<>+*/?-]")  # the lexer knows these characters in no token but a decimal number
_NUMBER = re.compile(r"[0-9]{1,15}(?:\.[0-9]{1,15})?+")
_VARIABLES = re.compile(r"(?:(?:\?[a-z][a-z0-9_-]*+ )++(?:- [a-z][a-z0-9_-]*+ )?+)*+")
_ATOMS = r"((?:\s*+\([^();]*+\))*+)\s*+"
_ORDINARY = re.compile(
    r"\(\s*+define\s*+\(\s*+problem\s++([^\s();]++)\s*+\)\s*+\(\s*+:domain\s++([^\s();]++)\s*+\)\s*+"
    r"(?:\(\s*+:requirements\s([^();]*+)\)\s*+)?(?:\(\s*+:objects\s([^();]*+)\)\s*+)?"
    rf"\(\s*+:init(?![^\s()]){_ATOMS}\)\s*+\(\s*+:goal\s*+\(\s*+and(?![^\s()]){_ATOMS}\)\s*+\)\s*+\)"
)
_PREDICATE = itemgetter(0)
_ARGUMENTS = itemgetter(slice(1, None))


class NotPlain(Exception):
    """Only the package can tell what the block says."""


def parse_problem(text: str | None, constants: Iterable[str] = ()) -> Problem:
    """The planning problem in a text: PDDL, or a model's answer with prose, Markdown fences or drafts around it.

    The first block that starts at ``(define (problem``, is accepted by the ``pddl`` package's parser, is STRIPS and
    names only declared objects counts. Names are in lower case, because PDDL ignores case.

    ``constants`` are objects that the domain declares. Raises ``ParseError``, a ``ValueError`` with the ``verdict``
    (``empty``, ``unparseable``, ``not_strips`` or ``invalid_atom``) and the ``detail`` of the first block.

    >>> answer = "Sure! (define (problem P) (:domain d) (:objects a - block) (:init (clear a)) (:goal (and (held a))))"
    >>> problem = parse_problem(answer)
    >>> problem.name, problem.objects, problem.goal
    ('p', {'a': 'block'}, frozenset({('held', 'a')}))
    >>> parse_problem("Sorry, I cannot do that.")
    Traceback (most recent call last):
        ...
    pddl_eval.parsing.authority.ParseError: unparseable: no `(define (problem …` found
    """
    outcome = read_problem(text, constants)
    if isinstance(outcome, Unreadable):
        raise ParseError(outcome.verdict, outcome.detail)
    return outcome


def read_problem(text: str | None, constants: Iterable[str] = (), *, by_package: bool = False) -> Problem | Unreadable:
    """As ``parse_problem``, but the reason why there is no problem is returned, not raised.

    With ``by_package`` the ``pddl`` package alone decides: far slower, the same verdict and problem.

    >>> read_problem("(define (problem p) (:domain d) (:objects b1) (:init (on b1 b9)) (:goal (and)))").detail
    '`(on b1 b9)` in :init names `b9`, which :objects does not declare'
    """
    if not text or text.isspace():
        return Unreadable(Verdict.EMPTY, "the text is empty")
    answer = text.lower()
    constants = frozenset(constants)
    ordinary = None if by_package else _ordinary_problem(answer, constants)
    if ordinary is not None:
        return ordinary
    reason: Unreadable | None = None
    characters_read = 0
    for block, line in problem_blocks(answer):
        try:
            try:
                problem = read_by_package(block, line, characters_read) if by_package else read_plain_problem(block)
            except NotPlain:
                problem = read_by_package(block, line, characters_read)
            require_declared(problem, constants)
            return problem
        except ParseError as error:
            reason = reason or Unreadable(error.verdict, error.detail)
        characters_read += len(block)
    return reason or Unreadable(Verdict.UNPARSEABLE, why_no_block(answer))


def require_declared(problem: Problem, constants: Iterable[str]) -> None:
    """Raise ``ParseError`` (``invalid_atom``) where an atom names an object that nobody declares.

    >>> require_declared(Problem("p", "d", {}, frozenset({("at", "home")}), frozenset()), ["home"])
    """
    arguments = set(chain.from_iterable(map(_ARGUMENTS, chain(problem.init, problem.goal))))
    undeclared = arguments.difference(problem.objects, constants)
    if undeclared:
        raise _undeclared(problem, undeclared)


def read_problem_by_package(text: str | None, constants: Iterable[str] = ()) -> Problem | Unreadable:
    """As ``read_problem``, decided by the ``pddl`` package alone.

    >>> text = "(define (problem p) (:domain d) (:init (q)) (:goal (and)))"
    >>> read_problem_by_package(text) == read_problem(text)
    True
    """
    return read_problem(text, constants, by_package=True)


def _ordinary_problem(answer: str, constants: frozenset[str]) -> Problem | None:
    """The problem of a lower-case answer's first block, where that is ordinary.

    None for any other: only those who read word by word say what is unusual or wrong.
    """
    opening = DEFINE_PROBLEM.search(answer)
    block = _ORDINARY.match(answer, opening.start(), opening.start() + WINDOW) if opening else None
    if block is None:
        return None
    name, domain, requirements, listing, *sections = block.groups()
    required = [":strips"] if requirements is None else requirements.split()
    if not required or not REQUIREMENTS.issuperset(required):
        return None
    try:
        objects = _objects(listing.split() if listing else ())
    except (ParseError, NotPlain):
        return None
    init, goal = (
        frozenset([tuple(atom.split()) for atom in section.replace(")", "").split("(")[1:]]) for section in sections
    )
    if () in init or () in goal:
        return None
    undeclared = set(chain.from_iterable(map(_ARGUMENTS, chain(init, goal)))).difference(objects)
    names = {name, domain, *map(_PREDICATE, chain(init, goal)), *undeclared}
    if undeclared - constants or not all(map(_NAME.fullmatch, names)) or not KEYWORDS.isdisjoint(names):
        return None
    return Problem(name, domain, objects, init, goal)


def read_plain_problem(block: str) -> Problem:  # noqa: C901 (one section after the other, without detours)
    """The problem that a lower-case block ``(define (problem …)`` states; its atoms may name undeclared objects.

    Raises ``ParseError`` where the package finds no problem or one that is not STRIPS, and ``NotPlain`` where only the
    package can tell.

    >>> read_plain_problem("(define (problem p) (:domain d) (:init (q)) (:goal (and)))").init
    frozenset({('q',)})
    """
    # Here and below ``at`` is a position in the words. A block is balanced and ends with the parenthesis that closes
    # it, so as long as a part is open there is a next word.
    words = split_words(block)
    if words[3] != "problem":
        raise NotPlain
    _require_name(words, 4, "`(problem …)`")
    if words[6:8] != ["(", ":domain"]:
        raise _unexpected_section(words, 6, (":domain",))
    _require_name(words, 8, "`(:domain …)`")
    at, possible = 10, _SECTIONS[1:4]
    if words[at : at + 2] == ["(", ":requirements"]:
        end = words.index(")", at)
        if not REQUIREMENTS.issuperset(words[at + 2 : end]) or end == at + 2:
            raise _bad_requirements(words[at + 2 : end])
        at, possible = end + 1, possible[1:]
    objects: dict[str, str] = {}
    if words[at : at + 2] == ["(", ":objects"]:
        end = words.index(")", at)
        objects = _objects(words[at + 2 : end])
        at, possible = end + 1, possible[-1:]
    if words[at : at + 2] != ["(", ":init"]:
        raise _unexpected_section(words, at, possible)
    init, init_beyond, at = _init(words, at + 2, objects)
    if words[at : at + 2] != ["(", ":goal"]:
        raise _unexpected_section(words, at, (":goal",))
    goal, goal_beyond, at = _goal(words, at + 2, objects)
    if words[at] != ")":
        if words[at] == "(" and words[at + 1].startswith(":metric"):
            raise NotPlain
        raise _unexpected(words, at, "`)` after `(:goal …)`")
    _require_names((words[4], words[8]), "the header")
    if beyond := init_beyond or goal_beyond:
        raise not_strips(":init" if init_beyond else "the goal", beyond)
    return Problem(words[4], words[8], objects, frozenset(init), frozenset(goal))


def _objects(listing: Sequence[str]) -> dict[str, str]:
    """The objects with their types, in the order of the text."""
    names: list[str] = []
    types: list[str] = []
    rest = iter(listing)
    for word in rest:
        if word != "-":
            names.append(word)
            continue
        type_ = next(rest, "-")
        if type_ == "(":
            raise unparseable("`(either …)` in :objects: an object has one type")
        if len(names) == len(types) or type_ == "-":
            raise unparseable("expected names before and a type after each ` - ` in :objects")
        types += [type_] * (len(names) - len(types))
    types += [ROOT_TYPE] * (len(names) - len(types))
    _require_names(names, ":objects", also_possible="-")
    _require_names({*types} - {ROOT_TYPE}, ":objects")
    objects = dict(zip(names, types, strict=True))
    if len(objects) < len(names):
        twice = next(name for name, count in Counter(names).items() if count > 1)
        raise unparseable(f":objects declares {quote(twice)} twice")
    return objects


def _init(words: Sequence[str], at: int, objects: Collection[str]) -> tuple[list[Atom], str, int]:
    """The atoms of the initial state, the first construct beyond STRIPS if any, and the position after the section."""
    atoms, at = _atoms(words, at, _INIT_OPERATORS)
    beyond = ""
    while words[at] == "(":
        if words[at + 1] == "not":
            beyond = beyond or "`not`"
            if words[at + 2] != "(":
                raise _unexpected(words, at + 2, "an atom after `not` in :init")
            end = words.index(")", at)
            _require_atoms([tuple(words[at + 3 : end])], (), ":init")
        else:  # `(= (function object …) number)` or `(= function number)`
            beyond = beyond or "the value of a function"
            end = words.index(")", at) if words[at + 2] == "(" else at + 2
            function = words[at + 3 : end] if words[at + 2] == "(" else [words[end]]
            if function[:1] == ["total-cost"]:  # the one keyword that may name a function
                _require_names(function[1:], ":init")
            else:
                _require_atoms([tuple(function)], (), ":init")
            end += 1
            if not _NUMBER.fullmatch(words[end]):
                if words[end] not in ("(", ")") and not words[end][0].isalpha():
                    raise NotPlain
                raise _unexpected(words, end, "a number as the value of a function in :init")
        if words[end + 1] != ")":
            raise _unexpected(words, end + 1, f"`)` after `({words[at + 1]} …` in :init")
        more, at = _atoms(words, end + 2, _INIT_OPERATORS)
        atoms += more
    _require_atoms(atoms, objects, ":init", also_possible="=")
    if words[at] != ")":
        raise _unexpected(words, at, "`)` after the atoms of :init")
    return atoms, beyond, at + 1


def _goal(words: Sequence[str], at: int, objects: Collection[str]) -> tuple[list[Atom], str, int]:  # noqa: C901 (a loop)
    """The atoms of the goal, the first construct beyond STRIPS if any, and the position after the section.

    The package refuses disjunction, quantifiers and equality as soon as it has read one to its end and the parenthesis
    after it, before it sees what may be wrong further on; so does this.
    """
    atoms: list[Atom] = []
    beyond = ""
    unfinished = [":goal"]  # the operators whose operands are being read, outermost first
    missing = [1.0]  # how many operands each of them still takes
    while unfinished:
        read, operator = 1, ""
        if words[at] == ")":
            operator = unfinished.pop()
            if 0 < missing.pop() < math.inf:
                raise unparseable(f"`({operator} …)` lacks a formula")
            at += 1
        elif words[at] != "(":
            raise _unexpected(words, at, "a formula in the goal")
        elif missing[-1] and (operator := words[at + 1]) in _OPERANDS:
            if len(unfinished) + 3 > PACKAGE_NESTING:  # the block, this operator and an atom in it will be open, too
                raise NotPlain
            if operator == "not":
                beyond = beyond or "`not`"
            at = _after_variables(words, at + 2) if operator in ("forall", "exists") else at + 2
            unfinished.append(operator)
            missing.append(_OPERANDS[operator])
            continue
        elif missing[-1] and operator == "=":
            end = words.index(")", at)
            terms = [word.removeprefix("?") for word in words[at + 2 : end]]
            if len(terms) != 2 or not all(map(_NAME.fullmatch, terms)) or not KEYWORDS.isdisjoint(terms):
                raise NotPlain
            at = end + 1
        elif missing[-1]:
            more, at = _atoms(words, at, _GOAL_OPERATORS)
            if not all(more) or not all(map(_NAME.fullmatch, set(map(_PREDICATE, more)))):
                predicates = [atom[0] if atom else ")" for atom in more]  # perhaps an operator glued to something
                raise _not_a_name(next(word for word in predicates if not _NAME.fullmatch(word)), "the goal", "=<>")
            atoms += more
            read = len(more)
        if operator in _REFUSED_AT_ONCE:
            _require_atoms(atoms, objects, "the goal", also_possible="?")
            if words[at] not in ("(", ")"):
                raise NotPlain
            raise not_strips("the goal", f"`{operator}`")
        if unfinished:
            missing[-1] -= read
            if missing[-1] < 0:
                raise unparseable(f"`({unfinished[-1]} …)` has a formula too many: `and` joins several")
    if _require_atoms(atoms, objects, "the goal", also_possible="?"):
        beyond = beyond or "a variable"
    return atoms, beyond, at


def _after_variables(words: Sequence[str], at: int) -> int:
    """The position after the typed list of a quantifier's variables."""
    if words[at] != "(":
        raise _unexpected(words, at, "the variables of a quantifier in the goal")
    end = words.index(")", at)
    listing = words[at + 1 : end]
    variables = [word for word in listing if word.startswith("?")]
    reserved = KEYWORDS.intersection(word.removeprefix("?") for word in listing)
    if reserved or len(set(variables)) < len(variables) or not _VARIABLES.fullmatch(" ".join([*listing, ""])):
        raise NotPlain
    return end + 1


def _atoms(words: Sequence[str], at: int, operators: Collection[str]) -> tuple[list[Atom], int]:
    """The expressions from here up to an operator or a word, and the position after them.

    That these are atoms is for ``_require_atoms`` to check: of ``(on (a) b)`` this reads ``("on", "(", "a")``.
    """
    atoms = []
    while words[at] == "(" and words[at + 1] not in operators:
        end = words.index(")", at)
        atoms.append(tuple(words[at + 1 : end]))
        at = end + 1
    return atoms, at


def _require_atoms(atoms: Collection[Atom], objects: Collection[str], where: str, also_possible: str = "") -> bool:
    """Raise for the first word of an atom that is not a name; ``objects`` are words that are known to be names.

    True if a word is a variable, where ``also_possible`` says that there may be some.
    """
    unknown = set(chain.from_iterable(atoms)).difference(objects)
    if all(atoms) and all(map(_NAME.fullmatch, unknown)) and KEYWORDS.isdisjoint(unknown):
        return False
    if not all(atoms):
        raise unparseable(f"`()` in {where} is not an atom")
    words = list(chain.from_iterable(atoms))
    _require_names([word.removeprefix("?") for word in words] if also_possible == "?" else words, where, also_possible)
    return True


def _require_name(words: Sequence[str], at: int, where: str) -> None:
    """Raise unless a name (of a problem or a domain; keywords are refused later) and a parenthesis come here."""
    if not _NAME.fullmatch(words[at]):
        raise _not_a_name(words[at], where)
    if words[at + 1] != ")":
        raise _unexpected(words, at + 1, f"`)` after the name in {where}")


def _require_names(words: Collection[str], where: str, also_possible: str = "") -> None:
    """Raise for the first word that is not a name, or is a keyword."""
    if not all(map(_NAME.fullmatch, words)) or not KEYWORDS.isdisjoint(words):
        strange = next(word for word in words if word in KEYWORDS or not _NAME.fullmatch(word))
        raise _not_a_name(strange, where, also_possible)


def _not_a_name(word: str, where: str, also_possible: str = "") -> ParseError | NotPlain:
    """The error for a word in place of a name.

    ``also_possible`` are the characters with which something else than a name might start there. Of a word that starts
    like that, or like a name, the package's lexer may make several tokens.
    """
    if word in ("(", ")"):
        return unparseable(f"expected a name in {where}, found {quote(word)}")
    if word in KEYWORDS:
        return unparseable(f"{quote(word)} in {where} is a keyword of PDDL, not a name")
    if _NO_TOKEN.search(word) or not (word[:1].isalpha() or word[:1] in also_possible):
        return unparseable(f"{quote(word)} in {where} is not a name: a letter, then letters, digits, `-` or `_`")
    return NotPlain()


def _unexpected(words: Sequence[str], at: int, expected: str) -> ParseError:
    found = f"({words[at + 1]}" if words[at] == "(" else words[at]
    return unparseable(f"expected {expected}, found {quote(found)}")


def _unexpected_section(words: Sequence[str], at: int, possible: tuple[str, ...]) -> ParseError | NotPlain:
    """The error for a place where one of these sections may come, or must in the case of the last one."""
    keyword = words[at + 1] if words[at] == "(" else ""
    if keyword.startswith(possible):
        return NotPlain()
    if keyword and keyword not in _SECTIONS:
        return _unexpected(words, at, " or ".join(f"`({section} …)`" for section in possible))
    order = f" (the order is {', '.join(_SECTIONS)})" if keyword else ""
    return _unexpected(words, at, f"`({possible[-1]} …)`{order}")


def _bad_requirements(requirements: Sequence[str]) -> ParseError | NotPlain:
    for unknown in requirements:
        if unknown not in REQUIREMENTS:
            known_start = unknown.startswith(tuple(REQUIREMENTS))
            return NotPlain() if known_start else unparseable(f"{quote(unknown)} is not a requirement")
    return unparseable("`(:requirements)` is empty: name one or leave the section out")


def _undeclared(problem: Problem, undeclared: set[str]) -> ParseError:
    """The error for the first atom that names an object that neither the problem nor the domain declares."""
    atom = min(atom for atom in problem.init | problem.goal if undeclared.intersection(atom[1:]))
    name = next(name for name in atom[1:] if name in undeclared)
    where = ":init" if atom in problem.init else "the goal"
    return ParseError(
        Verdict.INVALID_ATOM,
        f"{quote(show_atom(atom))} in {where} names {quote(name)}, which :objects does not declare",
    )
