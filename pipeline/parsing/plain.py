"""Reads problems that are written plainly, some fifty times faster than the ``pddl`` package, and knows where it may not.

A block is plain when white space and parentheses alone already part its words. Of such a block this reader says what
the package says: the problem, or why it is none. Of any other (a keyword glued to a name, a metric, arithmetic) it says
nothing: it raises ``NotPlain`` and the package decides (``authority``). Nothing here imports the package; the tests
compare the two on mutated problem texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import NoReturn

from pipeline.parsing.unreadable import ParseError, quote
from pipeline.problem import ROOT_TYPE, Atom, Problem

REQUIREMENTS = (
    ":strips",
    ":typing",
    ":equality",
    ":adl",
    ":non-deterministic",
    ":negative-preconditions",
    ":disjunctive-preconditions",
    ":existential-preconditions",
    ":universal-preconditions",
    ":quantified-preconditions",
    ":derived-predicates",
    ":conditional-effects",
    ":numeric-fluents",
    ":fluents",
    ":action-costs",
)
"""The requirement keywords of the package's grammar."""

KEYWORDS = frozenset(
    "and assign decrease define domain either exists forall imply increase maximize minimize not object oneof or problem "
    "scale-down scale-up total-cost when".split()
)
"""The words that the package's grammar reads as names and its validation then refuses as such."""

NESTING = 50
"""Parentheses that may be open at once in a block; an ordinary problem needs four or five."""

_SECTIONS = (":domain", ":requirements", ":objects", ":init", ":goal", ":metric")
_ANY_NUMBER = -1
_OPERANDS = {"and": _ANY_NUMBER, "or": _ANY_NUMBER, "not": 1, "imply": 2, "forall": 1, "exists": 1}
_REFUSED_AT_ONCE = frozenset(("or", "imply", "forall", "exists"))  # their requirements, the package says, are missing

_COMMENT = re.compile(r";[^\n]*+")
_NAME = re.compile(r"[a-z][a-z0-9_-]*+")
_VARIABLE = re.compile(r"\?[a-z][a-z0-9_-]*+")
_NUMBER = re.compile(r"[0-9]{1,15}(?:\.[0-9]{1,15})?+")
_FOREIGN = re.compile(r"[^a-z0-9_:=<>+*/?-]")  # no token has such a character, but for the point of a number


class NotPlain(Exception):
    """The block is not written plainly enough for this reader."""


def read_plain_problem(block: str) -> Problem:
    """The problem that a lower-case block ``(define (problem …)`` states; its atoms may name undeclared objects.

    Raises ``ParseError`` where the package finds no problem or one that is not STRIPS, and ``NotPlain`` where only the
    package can tell.

    >>> read_plain_problem("(define (problem p) (:domain d) (:init (q)) (:goal (and)))").init
    frozenset({('q',)})
    """
    if ";" in block:
        block = _COMMENT.sub("", block)
    words = block.replace("(", " ( ").replace(")", " ) ").split()
    name, domain, at = _header(words)
    objects: dict[str, str] = {}
    section = _section(words, at, (":requirements", ":objects", ":init"))
    if section == ":requirements":
        at = _requirements(words, at)
        section = _section(words, at, (":objects", ":init"))
    if section == ":objects":
        objects, at = _objects(words, at)
        _section(words, at, (":init",))
    init, init_beyond, at = _init(words, at, objects)
    _section(words, at, (":goal",))
    goal, goal_beyond, at = _goal(words, at, objects)
    _end(words, at)
    for what in (name, domain):
        if what in KEYWORDS:
            _refuse_name(what)
    if init_beyond or goal_beyond:
        raise ParseError("not_strips", init_beyond or goal_beyond)
    return Problem(name, domain, objects, frozenset(init), frozenset(goal))


# In what follows ``words`` are the parentheses of the block and what stands between them, ``at`` is the position of the
# parenthesis that opens the part to be read. Each function returns the position after its part. A block is balanced
# and ends with its matching parenthesis, so there is a next word as long as a part is open.


def _header(words: Sequence[str]) -> tuple[str, str, int]:
    """The names in ``(define (problem name) (:domain name)``."""
    if words[3] != "problem":
        raise NotPlain
    name = words[4]
    _require_name(name, "the problem's name")
    _require_closing(words, 5, "the problem's name")
    _section(words, 6, (":domain",))
    domain = words[8]
    _require_name(domain, "the domain's name")
    _require_closing(words, 9, "the domain's name")
    return name, domain, 10


def _section(words: Sequence[str], at: int, allowed: tuple[str, ...]) -> str:
    """The keyword of the section that opens here, one of those allowed; the last of them is the one that must come."""
    due = allowed[-1]
    if words[at] == ")":
        _refuse(f"`({due} …)` is missing")
    if words[at] != "(":
        _refuse(f"{quote(words[at])} stands where `({due} …)` is due")
    keyword = words[at + 1]
    if keyword in allowed:
        return keyword
    if keyword.startswith(allowed):
        raise NotPlain
    if keyword not in _SECTIONS:
        _refuse(f"unknown section {quote('(' + keyword)} where `({due} …)` is due")
    if _SECTIONS.index(keyword) > _SECTIONS.index(due):
        _refuse(f"`({due} …)` is missing: it must stand before `({keyword} …)`")
    _refuse(f"`({keyword} …)` is repeated or too late: the order is {', '.join(_SECTIONS)}")


def _requirements(words: Sequence[str], at: int) -> int:
    end = words.index(")", at)
    keys = words[at + 2 : end]
    if not keys:
        _refuse("`(:requirements)` is empty: name a requirement or leave the section out")
    for key in keys:
        if key not in REQUIREMENTS:
            if key.startswith(REQUIREMENTS):
                raise NotPlain
            _refuse(f"{quote(key)} is no known requirement")
    return end + 1


def _objects(words: Sequence[str], at: int) -> tuple[dict[str, str], int]:
    """The objects with their types, in the order of the text."""
    end = words.index(")", at)
    listing = words[at + 2 : end]
    objects: dict[str, str] = {}
    names: list[str] = []
    following = iter(listing)
    for word in following:
        if word != "-":
            names.append(word)
            continue
        type_ = next(following, ")")
        if not names or type_ == "-":
            _refuse("a ` - ` in :objects needs names before it and a type after it")
        if type_ != ROOT_TYPE:
            _require_names((type_,), "a type in :objects")
        _declare(objects, names, type_)
        names = []
    _declare(objects, names, ROOT_TYPE)
    return objects, end + 1


def _declare(objects: dict[str, str], names: list[str], type_: str) -> None:
    _require_names(names, "an object", also_possible="-")
    count = len(objects) + len(names)
    declared_before = objects.keys() & names
    objects.update(dict.fromkeys(names, type_))
    if len(objects) != count:
        twice = next(name for name in names if name in declared_before or names.count(name) > 1)
        _refuse(f":objects declares {quote(twice)} twice")


def _init(words: Sequence[str], at: int, objects: dict[str, str]) -> tuple[list[Atom], str, int]:
    """The atoms of the initial state, and what beyond STRIPS it contains, if anything."""
    atoms: list[Atom] = []
    beyond = ""
    at += 2
    while words[at] == "(":
        head = words[at + 1]
        if head == "not":
            at = _negated_atom(words, at)
            beyond = beyond or ":init contains `not`: what an initial state does not list is false in it"
        elif head == "=":
            at = _numeric_value(words, at)
            beyond = beyond or ":init gives a number to a function: STRIPS has no numeric fluents"
        else:
            end = words.index(")", at)
            atoms.append(tuple(words[at + 1 : end]))
            at = end + 1
    _require_atoms(atoms, objects, ":init", also_possible="", head_also_possible="=")
    _require_closing(words, at, "the atoms of :init")
    return atoms, beyond, at + 1


def _negated_atom(words: Sequence[str], at: int) -> int:
    if words[at + 2] != "(":
        _refuse("`not` in :init needs an atom")
    end = words.index(")", at)
    _require_atoms([tuple(words[at + 3 : end])], {}, ":init", also_possible="", head_also_possible="")
    _require_closing(words, end + 1, "the atom of `not`")
    return end + 2


def _numeric_value(words: Sequence[str], at: int) -> int:
    """Pass over ``(= (function name …) number)`` or ``(= function number)``."""
    if words[at + 2] == "(":
        end = words.index(")", at)
        function = tuple(words[at + 3 : end])
        at = end + 1
    else:
        function = (words[at + 2],)
        at += 3
    if function[:1] == ("total-cost",):
        function = ("cost", *function[1:])  # the one keyword that may name a function
    _require_atoms([function], {}, ":init", also_possible="", head_also_possible="")
    number = words[at]
    if not _NUMBER.fullmatch(number):
        if number in ("(", ")") or number[0].isalpha():
            _refuse(f"`=` in :init compares a function with a number, not with {quote(number)}")
        raise NotPlain
    _require_closing(words, at + 1, "the number")
    return at + 2


def _goal(words: Sequence[str], at: int, objects: dict[str, str]) -> tuple[list[Atom], str, int]:
    """The atoms of the goal, and what beyond STRIPS it contains, if anything.

    The package refuses disjunction, quantifiers and equality as soon as it has read one to its end (and the
    parenthesis after it), before it sees what may be wrong further on; so does this.
    """
    atoms: list[Atom] = []
    beyond = ""
    at += 2
    unfinished: list[str] = []  # the operators whose operands are being read, outermost first
    operands_due: list[int] = []
    while True:
        if words[at] == "(":
            if operands_due and operands_due[-1] == 0:
                _refuse(f"`{unfinished[-1]}` in :goal has an operand too many")
            head = words[at + 1]
            if head in _OPERANDS:
                unfinished.append(head)
                operands_due.append(_OPERANDS[head])
                if len(unfinished) > NESTING - 5:
                    raise NotPlain
                if head == "not":
                    beyond = beyond or "goal contains `not`: only a conjunction of positive atoms is STRIPS"
                at = _variables(words, at + 2) if head in ("forall", "exists") else at + 2
                continue
            end = words.index(")", at)
            if head == "=":
                _require_terms(words[at + 2 : end])
                finished = head
            else:
                if not _NAME.fullmatch(head):
                    _refuse_word(head, "a predicate in :goal", also_possible="=<>")
                atoms.append(tuple(words[at + 1 : end]))
                finished = ""
            at = end + 1
        elif words[at] != ")":
            _refuse(f"{quote(words[at])} stands in :goal where an atom or a parenthesis is due")
        elif not unfinished:
            _refuse("`(:goal …)` is empty: write `(and)` for a goal that always holds")
        elif operands_due.pop() > 0:
            _refuse(f"`{unfinished[-1]}` in :goal lacks an operand")
        else:
            finished = unfinished.pop()
            at += 1
        if finished == "=" or finished in _REFUSED_AT_ONCE:
            _require_atoms(atoms, objects, ":goal", also_possible="?", head_also_possible="")
            if words[at] not in ("(", ")"):
                raise NotPlain
            raise ParseError("not_strips", f"goal contains `{finished}`: only a conjunction of positive atoms is STRIPS")
        if not unfinished:
            break
        if operands_due[-1] > 0:
            operands_due[-1] -= 1
    variables = _require_atoms(atoms, objects, ":goal", also_possible="?", head_also_possible="")
    if variables:
        beyond = beyond or f"goal contains the variable {quote(variables[0])}: a STRIPS goal is ground"
    _require_closing(words, at, "the one formula of :goal (join several by `and`)")
    return atoms, beyond, at + 1
