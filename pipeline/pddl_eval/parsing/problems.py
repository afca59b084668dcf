"""A STRIPS problem out of a raw model answer, or the reason why there is none.

``extract`` finds the blocks, ``plain`` reads those written plainly, ``authority`` (the ``pddl`` package) all others.
Nothing here knows the domain beyond the names of its constants: whether predicates and types exist is for others.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from operator import itemgetter

from pddl_eval.model import Problem, show_atom
from pddl_eval.parsing.authority import PACKAGE_CHARACTERS, read_problem_block
from pddl_eval.parsing.extract import Block, problem_blocks, why_no_block
from pddl_eval.parsing.plain import read_plain_problem
from pddl_eval.parsing.unreadable import ParseError, Unreadable
from pddl_eval.parsing.words import NotPlain
from pddl_eval.shown import quote

_ARGUMENTS = itemgetter(slice(1, None))


def parse_problem(text: str | None, constants: Iterable[str] = ()) -> Problem:
    """The planning problem in a text: PDDL, or a model's answer with prose, Markdown fences or drafts around it.

    The first block that starts at ``(define (problem``, is accepted by the ``pddl`` package's parser, is STRIPS and
    names only declared objects counts (DESIGN.md section 3). Names are in lower case, for PDDL ignores case.

    ``constants`` are objects that the domain declares. Raises ``ParseError``, a ``ValueError`` with the ``verdict``
    (``empty``, ``unparseable``, ``not_strips`` or ``invalid_atom``) and the ``detail`` of the first block.

    >>> answer = "Sure! (define (problem P) (:domain d) (:objects a - block) (:init (clear a)) (:goal (and (held a))))"
    >>> problem = parse_problem(answer)
    >>> problem.name, problem.objects, problem.goal
    ('p', {'a': 'block'}, frozenset({('held', 'a')}))
    >>> parse_problem("Sorry, I cannot do that.")
    Traceback (most recent call last):
        ...
    pddl_eval.parsing.unreadable.ParseError: unparseable: no `(define (problem …` found
    """
    outcome = read_problem(text, constants)
    if isinstance(outcome, Unreadable):
        raise ParseError(outcome.verdict, outcome.detail)
    return outcome


def read_problem(text: str | None, constants: Iterable[str] = ()) -> Problem | Unreadable:
    """As ``parse_problem``, but the reason why there is no problem is returned, not raised.

    >>> read_problem("(define (problem p) (:domain d) (:objects b1) (:init (on b1 b9)) (:goal (and)))").detail
    '`(on b1 b9)` in :init names `b9`, which :objects does not declare'
    """
    return _first_problem(text, constants, plainly=True)


def read_problem_by_package(text: str | None, constants: Iterable[str] = ()) -> Problem | Unreadable:
    """As ``read_problem``, but the ``pddl`` package alone decides: far slower, the same verdict and problem.

    >>> text = "(define (problem p) (:domain d) (:init (q)) (:goal (and)))"
    >>> read_problem_by_package(text) == read_problem(text)
    True
    """
    return _first_problem(text, constants, plainly=False)


def _first_problem(answer: str | None, constants: Iterable[str], plainly: bool) -> Problem | Unreadable:
    if not answer or answer.isspace():
        return Unreadable("empty", "the answer is empty")
    answer = answer.lower()
    declared_by_domain = frozenset(constants)
    reason: Unreadable | None = None
    characters_read = 0
    for block in problem_blocks(answer):
        try:
            problem = _read_block(block, PACKAGE_CHARACTERS - characters_read, plainly)
            _require_declared(problem, declared_by_domain)
            return problem
        except ParseError as error:
            reason = reason or Unreadable(error.verdict, error.detail)
        characters_read += len(block.text)
    return reason or Unreadable("unparseable", why_no_block(answer))


def _read_block(block: Block, package_allowance: int, plainly: bool) -> Problem:
    if plainly:
        try:
            return read_plain_problem(block.text)
        except NotPlain:
            pass
    return read_problem_block(block.text, block.line, package_allowance)


def _require_declared(problem: Problem, constants: frozenset[str]) -> None:
    """Raise ``ParseError`` if an atom names an object that neither the problem nor the domain declares."""
    arguments = set(chain.from_iterable(map(_ARGUMENTS, chain(problem.init, problem.goal))))
    undeclared = arguments.difference(problem.objects, constants)
    if undeclared:
        atom = min(atom for atom in problem.init | problem.goal if undeclared.intersection(atom[1:]))
        where = ":init" if atom in problem.init else "the goal"
        name = next(name for name in atom[1:] if name in undeclared)
        raise ParseError(
            "invalid_atom",
            f"{quote(show_atom(atom))} in {where} names {quote(name)}, which :objects does not declare",
        )
