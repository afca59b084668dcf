"""Reads problems that are written plainly, some forty times faster than the ``pddl`` package.

A block is plain when white space and parentheses alone already part its words. Of such a block this reader says what
the package would say: the problem, or why it is none. Of any other (a keyword glued to a name, a metric, arithmetic)
it says nothing: it raises ``NotPlain``, and ``authority`` decides. Nothing here imports the package; the tests compare
the two on mutated problem texts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence

from pddl_eval.model import ROOT_TYPE, Atom, Problem
from pddl_eval.parsing.plain_goal import read_goal
from pddl_eval.parsing.unreadable import ParseError
from pddl_eval.parsing.words import (
    NotPlain,
    is_name,
    read_atoms,
    refuse,
    refuse_word,
    require_atoms,
    require_names,
    split_words,
)
from pddl_eval.shown import quote

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

_SECTIONS = (":domain", ":requirements", ":objects", ":init", ":goal", ":metric")
_INIT_OPERATORS = frozenset(("not", "="))
_NUMBER = re.compile(r"[0-9]{1,15}(?:\.[0-9]{1,15})?+")


def read_plain_problem(block: str) -> Problem:
    """The problem that a lower-case block ``(define (problem …)`` states; its atoms may name undeclared objects.

    Raises ``ParseError`` where the package finds no problem or one that is not STRIPS, and ``NotPlain`` where only the
    package can tell.

    >>> read_plain_problem("(define (problem p) (:domain d) (:init (q)) (:goal (and)))").init
    frozenset({('q',)})
    """
    words = split_words(block)
    name, domain, at = _header(words)
    objects: dict[str, str] = {}
    section = _section(words, at, (":requirements", ":objects", ":init"))
    if section == ":requirements":
        at = _after_requirements(words, at)
        section = _section(words, at, (":objects", ":init"))
    if section == ":objects":
        objects, at = _objects(words, at)
        _section(words, at, (":init",))
    init, init_beyond, at = _init(words, at, objects)
    _section(words, at, (":goal",))
    goal, goal_beyond, at = read_goal(words, at, objects)
    if words[at] == "(" and words[at + 1].startswith(":metric"):
        raise NotPlain
    _require_closing(words, at, "`(:goal …)`")
    require_names((name, domain), "the header")
    if init_beyond or goal_beyond:
        raise ParseError("not_strips", init_beyond or goal_beyond)
    return Problem(name, domain, objects, frozenset(init), frozenset(goal))


# Below, ``at`` is the position of the parenthesis that opens the part to be read. A block is balanced and ends with the
# parenthesis that closes it, so as long as a part is open there is a next word.


def _header(words: Sequence[str]) -> tuple[str, str, int]:
    """The names in ``(define (problem name) (:domain name)``, and the position after that."""
    if words[3] != "problem":
        raise NotPlain
    name = words[4]
    if not is_name(name):
        refuse_word(name, "`(problem …)`")
    _require_closing(words, 5, "the problem's name")
    _section(words, 6, (":domain",))
    domain = words[8]
    if not is_name(domain):
        refuse_word(domain, "`(:domain …)`")
    _require_closing(words, 9, "the domain's name")
    return name, domain, 10


def _section(words: Sequence[str], at: int, allowed: tuple[str, ...]) -> str:
    """The keyword of the section that opens here, one of those allowed; the last of them is the one that must come."""
    due = allowed[-1]
    if words[at] == ")":
        refuse(f"`({due} …)` is missing")
    if words[at] != "(":
        refuse(f"{quote(words[at])} stands where `({due} …)` is due")
    keyword = words[at + 1]
    if keyword in allowed:
        return keyword
    if keyword.startswith(allowed):
        raise NotPlain
    if keyword not in _SECTIONS:
        possible = " or ".join(f"`({section} …)`" for section in allowed)
        refuse(f"unknown section {quote('(' + keyword)} where {possible} is due")
    if _SECTIONS.index(keyword) > _SECTIONS.index(due):
        refuse(f"`({due} …)` is missing: it must stand before `({keyword} …)`")
    refuse(f"`({keyword} …)` is repeated or too late: the order is {', '.join(_SECTIONS)}")


def _after_requirements(words: Sequence[str], at: int) -> int:
    end = words.index(")", at)
    requirements = words[at + 2 : end]
    if not requirements:
        refuse("`(:requirements)` is empty: name one or leave the section out")
    for requirement in requirements:
        if requirement not in REQUIREMENTS:
            if requirement.startswith(REQUIREMENTS):
                raise NotPlain
            refuse(f"{quote(requirement)} is no requirement")
    return end + 1


def _objects(words: Sequence[str], at: int) -> tuple[dict[str, str], int]:
    """The objects with their types, in the order of the text, and the position after the section."""
    end = words.index(")", at)
    names: list[str] = []
    types: list[str] = []
    listing = iter(words[at + 2 : end])
    for word in listing:
        if word != "-":
            names.append(word)
            continue
        type_ = next(listing, ")")
        if type_ == "(":
            refuse("`(either …)` stands in :objects: an object has one type")
        if len(names) == len(types) or type_ in ("-", ")"):
            refuse("a ` - ` in :objects needs names before it and a type after it")
        types += [type_] * (len(names) - len(types))
    types += [ROOT_TYPE] * (len(names) - len(types))
    require_names(names, ":objects", also_possible="-")
    require_names({*types} - {ROOT_TYPE}, ":objects")
    objects = dict(zip(names, types, strict=True))
    if len(objects) < len(names):
        twice = next(name for name, count in Counter(names).items() if count > 1)
        refuse(f":objects declares {quote(twice)} twice")
    return objects, end + 1


def _init(words: Sequence[str], at: int, objects: Collection[str]) -> tuple[list[Atom], str, int]:
    """The atoms of the initial state, what beyond STRIPS it says, if anything, and the position after the section."""
    atoms, at = read_atoms(words, at + 2, _INIT_OPERATORS)
    beyond = ""
    while words[at] == "(":
        if words[at + 1] == "not":
            at = _after_negated_atom(words, at)
            beyond = beyond or ":init contains `not`: what an initial state does not list is false in it"
        else:
            at = _after_numeric_value(words, at)
            beyond = beyond or ":init gives a number to a function: STRIPS has no numeric fluents"
        more, at = read_atoms(words, at, _INIT_OPERATORS)
        atoms += more
    require_atoms(atoms, objects, ":init", also_possible="=")
    _require_closing(words, at, "the atoms of :init")
    return atoms, beyond, at + 1


def _after_negated_atom(words: Sequence[str], at: int) -> int:
    if words[at + 2] != "(":
        refuse("`not` in :init needs an atom")
    end = words.index(")", at)
    require_atoms([tuple(words[at + 3 : end])], (), ":init", also_possible="")
    _require_closing(words, end + 1, "the atom of `not`")
    return end + 2


def _after_numeric_value(words: Sequence[str], at: int) -> int:
    """The position after ``(= (function object …) number)`` or ``(= function number)``."""
    if words[at + 2] == "(":
        end = words.index(")", at)
        function = words[at + 3 : end]
        at = end + 1
    else:
        function = words[at + 2 : at + 3]
        at += 3
    if function[:1] == ["total-cost"]:  # the one keyword that may name a function
        require_names(function[1:], ":init")
    else:
        require_atoms([tuple(function)], (), ":init", also_possible="")
    number = words[at]
    if not _NUMBER.fullmatch(number):
        if number in ("(", ")") or number[0].isalpha():
            refuse(f"`=` in :init compares a function with {quote(number)} instead of a number")
        raise NotPlain
    _require_closing(words, at + 1, "the number")
    return at + 2


def _require_closing(words: Sequence[str], at: int, after: str) -> None:
    if words[at] != ")":
        found = f"({words[at + 1]}" if words[at] == "(" else words[at]
        refuse(f"{quote(found)} follows {after} where `)` is due")
