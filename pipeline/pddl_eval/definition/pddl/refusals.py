"""Why a text holds no problem, in words: one sentence for each kind of refusal.

The reader of problems and the kernel, which sends a kind and the words that its sentence names, both ask here.
"""

from __future__ import annotations

from pddl_eval.shown import quote

SECTIONS = (":domain", ":requirements", ":objects", ":init", ":goal", ":metric")
"""The keywords of a problem's sections in their order."""

REFUSALS = {
    "empty": "the text is empty",
    "thoughts": "there are only thoughts",
    "no block": "no `(define (problem …` found",
    "never closed": "the block at line {0} is never closed: the answer seems cut off",
    "unexpected": "expected {1}, found {0:quoted}",
    "section": "expected `({1:last} …)`, found {0:quoted}",
    "section order": f"expected `({{1:last}} …)` (the order is {', '.join(SECTIONS)}), found {{0:quoted}}",
    "no section": "expected {1:sections}, found {0:quoted}",
    "no requirement": "`(:requirements)` is empty: name one or leave the section out",
    "requirement": "{0:quoted} is not a requirement",
    "either": "`(either …)` in :objects: an object has one type",
    "typed list": "expected names before and a type after each ` - ` in :objects",
    "twice": ":objects declares {0:quoted} twice",
    "expected name": "expected a name in {1}, found {0:quoted}",
    "keyword": "{0:quoted} in {1} is a keyword of PDDL, not a name",
    "no name": "{0:quoted} in {1} is not a name: a letter, then letters, digits, `-` or `_`",
    "no atom": "`()` in {0} is not an atom",
    "too many": "`({0} …)` has a formula too many: `and` joins several",
    "lacks": "`({0} …)` lacks a formula",
    "not strips": "{0} contains {1}: only a conjunction of positive ground atoms is STRIPS",
    "undeclared": "{0:quoted} in {1} names {2:quoted}, which :objects does not declare",
    "true and false": "{0:quoted} is both true and false in :init",
}
"""The sentence of each kind of refusal, with places for the words that it names."""


class _Word(str):
    """A word of an answer, or the sections that may come: ``quoted``, the ``last`` of them, or all ``sections``."""

    def __format__(self, how: str) -> str:
        match how:
            case "quoted":
                return quote(self)
            case "last":
                return self.split()[-1]
            case "sections":
                return " or ".join(f"`({section} …)`" for section in self.split())
        return str(self)


def refusal(kind: str, *words: str) -> str:
    """The sentence of a refusal.

    >>> refusal("twice", "b1")
    ':objects declares `b1` twice'
    >>> refusal("not strips", "the goal", "`not`")
    'the goal contains `not`: only a conjunction of positive ground atoms is STRIPS'
    """
    return REFUSALS[kind].format(*map(_Word, words))
