"""The smallest parts of a plainly written block: its words, those of them that are names, and atoms made of names.

Words are the parentheses of a block and what stands between them and white space. What cannot be a name is refused
here in the way the ``pddl`` package refuses it, or left to the package. Nothing here knows sections or operators.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import chain
from typing import NoReturn

from pddl_eval.model import Atom
from pddl_eval.parsing.unreadable import ParseError
from pddl_eval.shown import quote

KEYWORDS = frozenset(
    (
        *("define", "problem", "domain", "object", "either"),
        *("and", "or", "not", "imply", "forall", "exists", "when", "oneof"),
        *("assign", "increase", "decrease", "scale-up", "scale-down", "minimize", "maximize", "total-cost"),
    )
)
"""What the package's grammar reads as a name and its validation refuses as one."""

_NAME = re.compile(r"[a-z][a-z0-9_-]*+")
_FOREIGN = re.compile(r"[^a-z0-9_:=<>+*/?-]")  # characters of which no token is made, but for the point of a number
_COMMENT = re.compile(r";[^\n]*+")


class NotPlain(Exception):
    """Only the package can tell what the block says."""


def split_words(block: str) -> list[str]:
    """The words of a block, without its comments.

    >>> split_words("(on b1 ;below\\n b2)")
    ['(', 'on', 'b1', 'b2', ')']
    """
    if ";" in block:
        block = _COMMENT.sub("", block)
    return block.replace("(", " ( ").replace(")", " ) ").split()


def read_atoms(words: Sequence[str], at: int, operators: Collection[str]) -> tuple[list[Atom], int]:
    """What stands in parentheses here and next to here, up to an operator or a word; and the position after it.

    That these are atoms is for ``require_atoms`` to make sure: of ``(on (a) b)`` this reads ``("on", "(", "a")``.

    >>> read_atoms(split_words("(clear a) (on a b) (not (clear b))"), 0, {"not"})
    ([('clear', 'a'), ('on', 'a', 'b')], 9)
    """
    atoms = []
    while words[at] == "(" and words[at + 1] not in operators:
        end = words.index(")", at)
        atoms.append(tuple(words[at + 1 : end]))
        at = end + 1
    return atoms, at


def is_name(word: str) -> bool:
    """True for a letter followed by letters, digits, ``-`` or ``_``; keywords included."""
    return _NAME.fullmatch(word) is not None


def are_names(words: Collection[str]) -> bool:
    """True when each word is a name and none of them a keyword.

    >>> are_names(["b1", "on-table"]), are_names(["1b"]), are_names(["object"])
    (True, False, False)
    """
    return all(map(_NAME.fullmatch, words)) and KEYWORDS.isdisjoint(words)


def require_atoms(atoms: Collection[Atom], objects: Collection[str], where: str, also_possible: str) -> None:
    """Refuse the first atom that is not made of names; ``objects`` are words that are known to be names."""
    if not all(atoms):
        refuse(f"`()` in {where} is no atom")
    if not are_names(set(chain.from_iterable(atoms)).difference(objects)):
        require_names(list(chain.from_iterable(atoms)), where, also_possible)


def require_names(words: Collection[str], where: str, also_possible: str = "") -> None:
    """Refuse the first word that is no name, or is a keyword, as ``refuse_word`` does."""
    if not are_names(words):
        refuse_word(next(word for word in words if not are_names((word,))), where, also_possible)


def refuse_word(word: str, where: str, also_possible: str = "") -> NoReturn:
    """Raise ``ParseError`` for a word that stands where a name is due, or ``NotPlain`` where it may be more than one.

    ``also_possible`` are the characters with which something else than a name might start there. Of a word that starts
    like that, or like a name, the package's lexer may make several tokens.

    >>> refuse_word("b.1", ":objects")
    Traceback (most recent call last):
        ...
    pddl_eval.parsing.unreadable.ParseError: unparseable: `b.1` in :objects is no name: a letter, then letters, digits,
    `-` or `_`
    """
    if word in KEYWORDS:
        refuse(f"{quote(word)} in {where} is a keyword of PDDL and cannot be a name")
    if word in ("(", ")"):
        refuse(f"{quote(word)} stands in {where} where a name is due")
    if _FOREIGN.search(word) or not (word[:1].isalpha() or word[:1] in also_possible):
        refuse(f"{quote(word)} in {where} is no name: a letter, then letters, digits, `-` or `_`")
    raise NotPlain


def refuse(detail: str) -> NoReturn:
    """Raise ``ParseError``, verdict ``unparseable``."""
    raise ParseError("unparseable", detail)
