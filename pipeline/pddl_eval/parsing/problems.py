"""A STRIPS problem out of a raw model answer, or the reason why there is none.

Well-formed blocks, and blocks that stop short of a section, are read here, some forty times faster than the ``pddl``
package reads them and with its verdicts. Every other block is left to ``authority``, which knows what is wrong with
it. The tests compare the two on mutated texts. Of the domain only the names of its constants are known here: whether
predicates and types exist is for others to check.
"""

from __future__ import annotations

import math
import re
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
from pddl_eval.parsing.sexpr import problem_blocks, split_words, why_no_block
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

_INIT_OPERATORS = ("not", "=")
_OPERANDS: dict[str, float] = {"and": math.inf, "or": math.inf, "not": 1, "imply": 2, "forall": 1, "exists": 1}
_GOAL_OPERATORS = frozenset((*_OPERANDS, "="))
_REFUSED_AT_ONCE = frozenset(("or", "imply", "forall", "exists", "="))

_NAME = re.compile(r"[a-z][a-z0-9_-]*+")
_NUMBER = re.compile(r"[0-9]{1,15}(?:\.[0-9]{1,15})?+")
_VARIABLES = re.compile(r"(?:(?:\?[a-z][a-z0-9_-]*+ )++(?:- [a-z][a-z0-9_-]*+ )?+)*+")
_PREDICATE = itemgetter(0)
_ARGUMENTS = itemgetter(slice(1, None))


class NotPlain(Exception):
    """Only the package can tell what the block says."""


def parse_problem(text: str | None, constants: Iterable[str] = ()) -> Problem:
    """The planning problem in a text: PDDL, or a model's answer with prose, Markdown fences or drafts around it.

    The first block that starts at ``(define (problem``, is accepted by the ``pddl`` package's parser, is STRIPS and
    names only declared objects counts (DESIGN.md section 3). Names are in lower case, because PDDL ignores case.

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
        return Unreadable(Verdict.EMPTY, "the answer is empty")
    answer = text.lower()
    constants = frozenset(constants)
    reason: Unreadable | None = None
    characters_read = 0
    for block, line in problem_blocks(answer):
        try:
            try:
                problem = read_by_package(block, line, characters_read) if by_package else read_plain_problem(block)
            except NotPlain:
                problem = read_by_package(block, line, characters_read)
            arguments = set(chain.from_iterable(map(_ARGUMENTS, chain(problem.init, problem.goal))))
            undeclared = arguments.difference(problem.objects, constants)
            if undeclared:
                raise _undeclared(problem, undeclared)
            return problem
        except ParseError as error:
            reason = reason or Unreadable(error.verdict, error.detail)
        characters_read += len(block)
    return reason or Unreadable(Verdict.UNPARSEABLE, why_no_block(answer))


def read_plain_problem(block: str) -> Problem:
    """The problem that a lower-case block ``(define (problem …)`` states; its atoms may name undeclared objects.

    Raises ``ParseError`` where the problem is not STRIPS or lacks a section, and ``NotPlain`` where only the package
    can tell.

    >>> read_plain_problem("(define (problem p) (:domain d) (:init (q)) (:goal (and)))").init
    frozenset({('q',)})
    """
    # Here and below ``at`` is a position in the words. A block is balanced and ends with the parenthesis that closes
    # it, so as long as a part is open there is a next word.
    words = split_words(block)
    if words[3] != "problem" or words[5:8] != [")", "(", ":domain"] or words[9] != ")":
        raise NotPlain
    _require_names((words[4], words[8]))
    at = 10
    if words[at : at + 2] == ["(", ":requirements"]:
        end = words.index(")", at)
        if end == at + 2 or not REQUIREMENTS.issuperset(words[at + 2 : end]):
            raise NotPlain
        at = end + 1
    objects: dict[str, str] = {}
    if words[at : at + 2] == ["(", ":objects"]:
        end = words.index(")", at)
        objects = _objects(words[at + 2 : end])
        at = end + 1
    _require_section(words, at, ":init")
    init, init_beyond, at = _init(words, at + 2, objects)
    _require_section(words, at, ":goal")
    goal, goal_beyond, at = _goal(words, at + 2, objects)
    if words[at] != ")":
        raise NotPlain
    if beyond := init_beyond or goal_beyond:
        raise not_strips(":init" if init_beyond else "the goal", beyond)
    return Problem(words[4], words[8], objects, frozenset(init), frozenset(goal))


def _require_section(words: Sequence[str], at: int, section: str) -> None:
    """Raise unless this section begins here."""
    if words[at] == ")":
        raise unparseable(f"the problem ends without `({section} …)`")
    if words[at] != "(" or words[at + 1] != section:
        raise NotPlain


def _objects(listing: Sequence[str]) -> dict[str, str]:
    """The objects with their types, in the order of the text."""
    names: list[str] = []
    types: list[str] = []
    rest = iter(listing)
    for word in rest:
        if word != "-":
            names.append(word)
        elif len(names) == len(types):
            raise NotPlain
        else:
            types += [next(rest, "")] * (len(names) - len(types))
    types += [ROOT_TYPE] * (len(names) - len(types))
    _require_names(names)
    _require_names({*types} - {ROOT_TYPE})
    objects = dict(zip(names, types, strict=True))
    if len(objects) < len(names):
        raise NotPlain
    return objects


def _init(words: Sequence[str], at: int, objects: Collection[str]) -> tuple[list[Atom], str, int]:
    """The atoms of the initial state, the first construct beyond STRIPS if any, and the position after the section."""
    atoms, at = _atoms(words, at, _INIT_OPERATORS)
    beyond = ""
    while words[at] == "(":
        nested = words[at + 2] == "("
        end = words.index(")", at) if nested else at + 2
        inside = words[at + 3 : end] if nested else [words[end]]
        if words[at + 1] == "not":
            beyond = beyond or "`not`"
            valid = nested
        else:  # `(= (function object …) number)` or `(= function number)`
            beyond = beyond or "the value of a function"
            end += 1
            valid = bool(_NUMBER.fullmatch(words[end]))
            if inside[:1] == ["total-cost"]:  # the one keyword that may name a function
                inside = ["cost", *inside[1:]]
        if not valid or not inside or words[end + 1] != ")":
            raise NotPlain
        _require_names(inside)
        more, at = _atoms(words, end + 2, _INIT_OPERATORS)
        atoms += more
    _have_variables(atoms, objects, possible=False)
    if words[at] != ")":
        raise NotPlain
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
                raise NotPlain
            at += 1
        elif words[at] != "(" or not missing[-1]:
            raise NotPlain
        elif (operator := words[at + 1]) in _OPERANDS:
            if len(unfinished) + 3 > PACKAGE_NESTING:  # the block, this operator and an atom in it will be open, too
                raise NotPlain
            if operator == "not":
                beyond = beyond or "`not`"
            at = _after_variables(words, at + 2) if operator in ("forall", "exists") else at + 2
            unfinished.append(operator)
            missing.append(_OPERANDS[operator])
            continue
        elif operator == "=":
            end = words.index(")", at)
            _require_names([word.removeprefix("?") for word in words[at + 2 : end]])
            if end != at + 4:
                raise NotPlain
            at = end + 1
        else:
            more, at = _atoms(words, at, _GOAL_OPERATORS)
            if not all(more) or not all(map(_NAME.fullmatch, map(_PREDICATE, more))):
                raise NotPlain  # perhaps an operator glued to something
            atoms += more
            read = len(more)
        if operator in _REFUSED_AT_ONCE:
            _have_variables(atoms, objects, possible=True)
            if words[at] not in ("(", ")"):
                raise NotPlain
            raise not_strips("the goal", f"`{operator}`")
        if unfinished:
            missing[-1] -= read
            if missing[-1] < 0:
                raise NotPlain
    if _have_variables(atoms, objects, possible=True):
        beyond = beyond or "a variable"
    return atoms, beyond, at


def _after_variables(words: Sequence[str], at: int) -> int:
    """The position after the typed list of a quantifier's variables."""
    end = words.index(")", at)
    listing = words[at + 1 : end]
    variables = [word for word in listing if word.startswith("?")]
    reserved = KEYWORDS.intersection(word.removeprefix("?") for word in listing)
    if words[at] != "(" or reserved or len(set(variables)) < len(variables):
        raise NotPlain
    if not _VARIABLES.fullmatch(" ".join([*listing, ""])):
        raise NotPlain
    return end + 1


def _atoms(words: Sequence[str], at: int, operators: Collection[str]) -> tuple[list[Atom], int]:
    """The expressions from here up to an operator or a word, and the position after them.

    That these are atoms is for ``_have_variables`` to check: of ``(on (a) b)`` this reads ``("on", "(", "a")``.
    """
    atoms = []
    while words[at] == "(" and words[at + 1] not in operators:
        end = words.index(")", at)
        atoms.append(tuple(words[at + 1 : end]))
        at = end + 1
    return atoms, at


def _have_variables(atoms: Collection[Atom], objects: Collection[str], *, possible: bool) -> bool:
    """True if one of the words is a variable; raises unless these are atoms. ``objects`` are known to be names."""
    unknown = set(chain.from_iterable(atoms)).difference(objects)
    names = {word.removeprefix("?") for word in unknown} if possible else unknown
    if not all(atoms):
        raise NotPlain
    _require_names(names)
    return names != unknown


def _require_names(words: Collection[str]) -> None:
    """Raise unless all of them are names; the package refuses its keywords."""
    if not all(map(_NAME.fullmatch, words)) or not KEYWORDS.isdisjoint(words):
        raise NotPlain


def _undeclared(problem: Problem, undeclared: set[str]) -> ParseError:
    """The error for the first atom that names an object that neither the problem nor the domain declares."""
    atom = min(atom for atom in problem.init | problem.goal if undeclared.intersection(atom[1:]))
    name = next(name for name in atom[1:] if name in undeclared)
    where = ":init" if atom in problem.init else "the goal"
    return ParseError(
        Verdict.INVALID_ATOM,
        f"{quote(show_atom(atom))} in {where} names {quote(name)}, which :objects does not declare",
    )
