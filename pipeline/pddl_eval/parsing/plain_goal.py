"""Reads the goal of a plainly written problem: its atoms, or what makes it more than a conjunction of atoms.

The other sections are read in ``plain``, which says what "plainly written" means. No recursion: an answer may nest as
deep as it likes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from itertools import chain
from typing import NoReturn

from pddl_eval.model import Atom
from pddl_eval.parsing.authority import PACKAGE_NESTING
from pddl_eval.parsing.unreadable import ParseError
from pddl_eval.parsing.words import (
    KEYWORDS,
    NotPlain,
    are_names,
    is_name,
    read_atoms,
    refuse,
    refuse_word,
    require_atoms,
)
from pddl_eval.shown import quote

_OPERANDS: dict[str, float] = {"and": math.inf, "or": math.inf, "not": 1, "imply": 2, "forall": 1, "exists": 1}
_OPERATORS = frozenset((*_OPERANDS, "="))
_QUANTIFIERS = ("forall", "exists")
_REFUSED_AT_ONCE = frozenset(("or", "imply", "forall", "exists"))
_VARIABLES = re.compile(r"(?:(?:\?[a-z][a-z0-9_-]*+ )++(?:- [a-z][a-z0-9_-]*+ )?+)*+")


def read_goal(words: Sequence[str], at: int, objects: Collection[str]) -> tuple[list[Atom], str, int]:
    """The atoms of the goal, what beyond STRIPS it says, if anything, and the position after the section.

    The package refuses disjunction, quantifiers and equality as soon as it has read one to its end and the parenthesis
    after it, before it sees what may be wrong further on; so does this.

    >>> read_goal("( :goal ( and ( on a b ) ( clear a ) ) ) )".split(), 0, {"a", "b"})
    ([('on', 'a', 'b'), ('clear', 'a')], '', 15)
    """
    atoms: list[Atom] = []
    beyond = ""
    unfinished = [":goal"]  # the operators whose operands are being read, outermost first
    operands_due = [1.0]  # how many operands each of them still takes
    at += 2
    while unfinished:
        if words[at] == ")":
            operator = unfinished.pop()
            if 0 < operands_due.pop() < math.inf:
                refuse(f"`({operator} …)` lacks a formula")
            at += 1
            read = 1
            if operator in _REFUSED_AT_ONCE:
                _refuse_operator(operator, words, at, atoms, objects)
        elif words[at] != "(":
            refuse(f"{quote(words[at])} stands in the goal where a formula is due")
        elif not operands_due[-1]:
            _refuse_surplus(unfinished[-1])
        elif (operator := words[at + 1]) in _OPERANDS:
            if len(unfinished) + 3 > PACKAGE_NESTING:  # the block, this operator and an atom in it will be open, too
                raise NotPlain
            unfinished.append(operator)
            operands_due.append(_OPERANDS[operator])
            beyond = beyond or (_beyond_strips("`not`") if operator == "not" else "")
            at = _after_variables(words, at + 2) if operator in _QUANTIFIERS else at + 2
            continue
        elif operator == "=":
            at = _after_equality(words, at)
            _refuse_operator(operator, words, at, atoms, objects)
        else:
            run, at = read_atoms(words, at, _OPERATORS)
            predicates = dict.fromkeys(atom[0] if atom else ")" for atom in run)
            if not all(map(is_name, predicates)):  # it may be an operator glued to something: look before reading on
                refuse_word(next(word for word in predicates if not is_name(word)), "the goal", also_possible="=<>")
            atoms += run
            read = len(run)
        if unfinished:
            operands_due[-1] -= read
            if operands_due[-1] < 0:
                _refuse_surplus(unfinished[-1])
    if _require_goal_atoms(atoms, objects):
        beyond = beyond or _beyond_strips("a variable")
    return atoms, beyond, at


def _after_variables(words: Sequence[str], at: int) -> int:
    """The position after the typed list of a quantifier's variables."""
    if words[at] != "(":
        refuse(f"{quote(words[at])} stands in the goal where the variables of a quantifier are due")
    end = words.index(")", at)
    listing = words[at + 1 : end]
    variables = [word for word in listing if word.startswith("?")]
    reserved = KEYWORDS.intersection(word.removeprefix("?") for word in listing)
    if reserved or len(set(variables)) < len(variables) or not _VARIABLES.fullmatch(" ".join([*listing, ""])):
        raise NotPlain
    return end + 1


def _after_equality(words: Sequence[str], at: int) -> int:
    """The position after an equality between two objects or variables."""
    end = words.index(")", at)
    terms = [word.removeprefix("?") for word in words[at + 2 : end]]
    if len(terms) != 2 or not are_names(terms):
        raise NotPlain
    return end + 1


def _refuse_surplus(operator: str) -> NoReturn:
    refuse(f"`({operator} …)` has a formula too many: `and` joins several")


def _refuse_operator(
    operator: str, words: Sequence[str], at: int, atoms: list[Atom], objects: Collection[str]
) -> NoReturn:
    """Raise ``ParseError`` for an operator read to its end, unless the package stumbled before."""
    _require_goal_atoms(atoms, objects)
    if words[at] not in ("(", ")"):
        raise NotPlain
    raise ParseError("not_strips", _beyond_strips(f"`{operator}`"))


def _require_goal_atoms(atoms: list[Atom], objects: Collection[str]) -> bool:
    """Make sure that the atoms read so far are atoms; true if an argument of one is a variable."""
    words = set(chain.from_iterable(atoms)).difference(objects)
    has_variables = any(word.startswith("?") for word in words)
    if has_variables:
        atoms = [tuple(word.removeprefix("?") for word in atom) for atom in atoms]
    require_atoms(atoms, objects, "the goal", also_possible="?")
    return has_variables


def _beyond_strips(construct: str) -> str:
    return f"the goal contains {construct}: only a conjunction of positive ground atoms is STRIPS"
