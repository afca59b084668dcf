"""Why a text holds no problem, in words: one sentence for each kind of refusal.

The reader of problems and the kernel, which sends a kind and the words that its sentence names, both ask here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pddl_eval.shown import quote

SECTIONS = (":domain", ":requirements", ":objects", ":init", ":goal", ":metric")
"""The keywords of a problem's sections in their order."""


def beyond_strips(where: str, construct: str) -> str:
    """A construct in ``:init`` or the goal that STRIPS does not have.

    >>> beyond_strips("the goal", "`not`")
    'the goal contains `not`: only a conjunction of positive ground atoms is STRIPS'
    """
    return f"{where} contains {construct}: only a conjunction of positive ground atoms is STRIPS"


def unexpected(found: str, expected: str) -> str:
    """Something else than what the grammar expects.

    >>> unexpected("q", "a formula in the goal")
    'expected a formula in the goal, found `q`'
    """
    return f"expected {expected}, found {quote(found)}"


def no_section(found: str, possible: str) -> str:
    """Neither of these sections, nor any other."""
    return unexpected(found, " or ".join(f"`({section} …)`" for section in possible.split()))


def section_missing(found: str, possible: str) -> str:
    """No section where the last of these has to come."""
    return unexpected(found, f"`({possible.split()[-1]} …)`")


def section_order(found: str, possible: str) -> str:
    """A section where another one has to come."""
    return unexpected(found, f"`({possible.split()[-1]} …)` (the order is {', '.join(SECTIONS)})")


def undeclared(atom: str, where: str, name: str) -> str:
    """An atom that names an object that nobody declares.

    >>> undeclared("(on b1 b9)", ":init", "b9")
    '`(on b1 b9)` in :init names `b9`, which :objects does not declare'
    """
    return f"{quote(atom)} in {where} names {quote(name)}, which :objects does not declare"


REFUSALS: Mapping[str, Callable[..., str]] = {
    "empty": lambda: "the text is empty",
    "thoughts": lambda: "there are only thoughts",
    "no block": lambda: "no `(define (problem …` found",
    "never closed": lambda line: f"the block at line {line} is never closed: the answer seems cut off",
    "unexpected": unexpected,
    "section": section_missing,
    "section order": section_order,
    "no section": no_section,
    "no requirement": lambda: "`(:requirements)` is empty: name one or leave the section out",
    "requirement": lambda word: f"{quote(word)} is not a requirement",
    "either": lambda: "`(either …)` in :objects: an object has one type",
    "typed list": lambda: "expected names before and a type after each ` - ` in :objects",
    "twice": lambda name: f":objects declares {quote(name)} twice",
    "expected name": lambda word, where: f"expected a name in {where}, found {quote(word)}",
    "keyword": lambda word, where: f"{quote(word)} in {where} is a keyword of PDDL, not a name",
    "no name": lambda word, where: (
        f"{quote(word)} in {where} is not a name: a letter, then letters, digits, `-` or `_`"
    ),
    "no atom": lambda where: f"`()` in {where} is not an atom",
    "too many": lambda operator: f"`({operator} …)` has a formula too many: `and` joins several",
    "lacks": lambda operator: f"`({operator} …)` lacks a formula",
    "not strips": beyond_strips,
    "undeclared": undeclared,
    "true and false": lambda atom: f"{quote(atom)} is both true and false in :init",
}
"""The sentence of each kind of refusal, made of the words that it names."""


def refusal(kind: str, *words: str) -> str:
    """The sentence of a refusal.

    >>> refusal("twice", "b1")
    ':objects declares `b1` twice'
    """
    return REFUSALS[kind](*words)
