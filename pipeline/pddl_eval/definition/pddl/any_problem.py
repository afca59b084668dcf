"""A problem in any PDDL that plans are executed in: formulas in the goal, numbers in the initial state, a metric.

Also constraints on trajectories, preferences, and what the initial state says of later times.

Tolerant in layout as the reader of domains is: any order of sections, no requirements, the first readable block. Which
constructs are executed is said in ``language``. Pairs of problems in a STRIPS domain are read by ``problems``, which
refuses all that is not STRIPS; a STRIPS problem is the same to both.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import cast

from pddl_eval.definition import words
from pddl_eval.definition.model import (
    EQUALITY,
    IS_VIOLATED,
    NUMBER,
    Atom,
    Formula,
    Problem,
    is_atom,
    show_atom,
    show_formula,
)
from pddl_eval.definition.pddl.authority import TOO_LONG, ParseError, Unreadable, unparseable
from pddl_eval.definition.pddl.domains import DomainError, typed_list
from pddl_eval.definition.pddl.drafts import pddl_text, too_long
from pddl_eval.definition.pddl.language import (
    Scope,
    Undeclared,
    atom_faults,
    constraint_faults,
    mistakes,
    number_faults,
    soft_faults,
)
from pddl_eval.definition.pddl.problems import as_val_reads, has_several_problems, read_problem
from pddl_eval.definition.pddl.sexpr import Unbalanced, excerpt, problem_blocks, read_expression
from pddl_eval.definition.verdict import Verdict
from pddl_eval.shown import quote

MAX_SHOWN = 60
"""Characters of a formula in a message."""

_BEYOND_STRIPS = re.compile(r"(?i)\(\s*+(?:=|:metric|:constraints)")
"""What no STRIPS problem has, comments aside."""

_NEEDED = (":domain", ":init", ":goal")
_READ = frozenset({*_NEEDED, ":requirements", ":objects", ":metric", ":length", ":constraints"})


def parse_problem(text: str | None, constants: Iterable[str] = ()) -> Problem:
    """The planning problem in a text: PDDL, or a model's answer with prose, Markdown fences or drafts around it.

    The first block that states a STRIPS problem over declared objects counts, else the first that states any problem
    that ``validate`` executes: with numbers (``values``), a metric and other conjuncts in its goal (``formulas``). What
    stands in thinking marks never counts. Names are in lower case, because PDDL ignores case. ``constants`` are objects
    that the domain declares.

    Raises ``ParseError``, a ``ValueError`` with the ``verdict`` (``empty``, ``unparseable``, ``invalid_atom``, or
    ``undecided`` for a construct that is not executed) and the ``detail`` of the first block.

    >>> answer = "Sure! (define (problem P) (:domain d) (:objects a - block) (:init (clear a)) (:goal (and (held a))))"
    >>> problem = parse_problem(answer)
    >>> problem.name, problem.objects, problem.goal
    ('p', {'a': 'block'}, frozenset({('held', 'a')}))
    >>> parse_problem("(define (problem p) (:domain d) (:init) (:goal (not (q))))").conjuncts
    (('not', ('q',)),)
    >>> parse_problem("Sorry, I cannot do that.")
    Traceback (most recent call last):
        ...
    pddl_eval.definition.pddl.authority.ParseError: unparseable: no `(define (problem …` found
    """
    outcome = read_any_problem(text, constants)
    if isinstance(outcome, Unreadable):
        raise ParseError(outcome.verdict, outcome.detail)
    return outcome


def read_any_problem(
    text: str | None, constants: Iterable[str] = (), answer: str = "first", *, strips_first: bool = True
) -> Problem | Unreadable:
    """The planning problem in a text, STRIPS or not, or the reason why there is none.

    ``constants`` are objects that the domain declares; ``answer`` says which of several drafts counts, the ``first`` or
    the ``last`` that is a problem: a STRIPS problem where there is one, or with ``strips_first`` False any. A STRIPS
    problem is what ``read_problem`` reads.

    >>> problem = read_any_problem('''(define (problem p) (:domain d) (:objects a b) (:init (p a) (= (total-cost) 0))
    ...   (:goal (and (p b) (not (p a)))) (:metric minimize (total-cost)))''')
    >>> problem.goal, problem.formulas
    (frozenset({('p', 'b')}),
     ((':goal', ('not', ('p', 'a'))), (':metric', ('minimize', ('total-cost',)))))
    """
    constants = frozenset(constants)
    if text and _BEYOND_STRIPS.search(text) and not has_several_problems(text) and not too_long(text):
        # The package takes ten times as long to refuse it.
        for problem in _problems(text, constants, answer):
            if isinstance(problem, Problem) and not problem.is_strips:
                return problem
    found = read_problem(text, constants, answer=answer)
    if text is None or too_long(text) or (isinstance(found, Unreadable) and found.verdict is Verdict.EMPTY):
        return found
    if isinstance(found, Problem) and (strips_first or not has_several_problems(text)):
        return found
    refused: Unreadable | None = None
    for problem in _problems(text, constants, answer):
        if isinstance(problem, Unreadable):
            refused = refused or problem
        elif strips_first or problem == found or not problem.is_strips:
            return problem
    if isinstance(found, Problem) or refused is None:
        return found
    # What both refuse, and for the same reason, is said as pairs of problems say it.
    is_more = TOO_LONG in found.detail or refused.verdict != found.verdict
    is_more = is_more if strips_first else found.verdict is Verdict.NOT_STRIPS
    return refused if is_more or refused.verdict is Verdict.UNDECIDED else found


def _problems(text: str, constants: frozenset[str], answer: str) -> Iterator[Problem | Unreadable]:
    """What each block of a text states, in any layout."""
    blocks = [block.text for block in problem_blocks(pddl_text(text.lower()))]
    for block in blocks[::-1] if answer == "last" else blocks:
        try:
            yield problem_of_block(block, constants)
        except ParseError as error:
            yield Unreadable(error.verdict, error.detail)


def problem_of_block(block: str, constants: Iterable[str] = ()) -> Problem:
    """The problem that a lower-case block ``(define (problem …) …)`` states; raises ``ParseError``.

    >>> problem_of_block("(define (problem p) (:goal (or (q) (r))) (:init (= (fuel) 1.5)) (:domain d))").values
    {('fuel',): Fraction(3, 2)}
    """
    try:
        _, header, *listed = read_expression(block)
    except Unbalanced as error:
        raise unparseable(f"the problem {error}") from None
    listed, remarks = as_val_reads(listed)
    sections = _sections(listed)
    objects = _objects(sections.get(":objects", ()))
    scope = Scope(frozenset(), frozenset([*objects, *constants]))
    init, denied, values, later = _init(sections[":init"], scope)
    goal, formulas = _goal(sections[":goal"], scope)
    formulas += [(":init", literal) for literal in later]
    for constraint in sections.get(":constraints", ()):
        _require(constraint_faults(constraint, scope), constraint, ":constraints")
        formulas += [(":constraints", each) for each in _conjuncts(constraint)]
    if ":metric" in sections:
        formulas.append((":metric", _metric(sections[":metric"], scope)))
    name, domain = _name(header[1:], "`(problem …)`"), _name(sections[":domain"], "`(:domain …)`")
    sets = frozenset(init), frozenset(goal)
    return Problem(name, domain, objects, *sets, values, tuple(formulas), frozenset(denied), remarks)


def _sections(listed: Iterable[Formula]) -> dict[str, tuple[Formula, ...]]:
    """What follows the keyword of each section."""
    sections: dict[str, tuple[Formula, ...]] = {}
    for section in listed:
        keyword = section[0] if not isinstance(section, str) and section else section
        if isinstance(section, str) or not isinstance(keyword, str) or not keyword.startswith(":"):
            raise unparseable(f"expected a section of the problem, found {excerpt(section)}")
        if keyword not in _READ:
            raise _not_executed("the problem", quote(f"({keyword} …)"))
        if keyword in sections:
            raise unparseable(f"the problem has {keyword} twice")
        sections[keyword] = section[1:]
    for keyword in _NEEDED:
        if keyword not in sections:
            raise unparseable(f"the problem has no `({keyword} …)`")
    for requirement in sections.get(":requirements", ()):
        if not isinstance(requirement, str):
            raise unparseable(f"expected a requirement, found {excerpt(requirement)}")
    return sections


def _name(listing: Formula, where: str) -> str:
    if len(listing) != 1 or not isinstance(listing[0], str):
        raise unparseable(f"expected one name in {where}")
    return listing[0]


def _objects(listing: Iterable[Formula]) -> dict[str, str]:
    try:
        typed = typed_list(listing, ":objects")
    except DomainError as error:
        raise unparseable(str(error)) from None
    objects: dict[str, str] = {}
    for name, types in typed:
        if len(types) > 1:
            raise unparseable(words.either())
        if name in objects:
            raise unparseable(words.twice(name))
        if name.startswith("?"):
            raise unparseable(f"{quote(name)} is a variable, not an object")
        objects[name] = types[0]
    return objects


def _init(  # noqa: C901 (one case a kind of element)
    listing: Iterable[Formula], scope: Scope
) -> tuple[set[Atom], set[Atom], dict[Atom, Fraction], dict[Formula, None]]:
    """The atoms of the initial state, those that it calls false, its numbers, and what it says of later times."""
    true: set[Atom] = set()
    false: set[Atom] = set()
    values: dict[Atom, Fraction] = {}
    later: dict[Formula, None] = {}
    for element in listing:
        head, *parts = (element,) if isinstance(element, str) else element or ("",)
        if head == EQUALITY and len(parts) == 2 and isinstance(parts[1], str) and NUMBER.fullmatch(parts[1]):
            fluent = _atom((parts[0],) if isinstance(parts[0], str) else parts[0], scope)
            value = Fraction(parts[1])
            if values.setdefault(fluent, value) != value:
                raise unparseable(f"{show_atom(fluent)} has two values in :init")
        elif head == EQUALITY and len(parts) == 2 and isinstance(parts[1], str) and parts[1][:1] in "+-.0123456789":
            raise _not_executed(":init", f"the number {quote(parts[1])}")
        elif head == EQUALITY:
            raise _not_executed(":init", f"{excerpt(element)}: object fluents")
        elif head == "at" and parts and isinstance(parts[0], str) and NUMBER.fullmatch(parts[0]):
            if len(parts) != 2 or isinstance(parts[1], str) or Fraction(parts[0]) < 0:
                raise unparseable(f"expected a time and a literal in :init, found {excerpt(element)}")
            if _init(parts[1:], scope)[3]:
                raise unparseable(f"{excerpt(element)} in :init has two times")
            later[tuple(element)] = None
        elif head == "not" and len(parts) == 1:
            false.add(_atom(parts[0], scope))
        else:
            true.add(_atom(element, scope))
    for atom in sorted(true & false):
        raise ParseError(Verdict.INVALID_ATOM, words.true_and_false(atom))
    return true, false, values, later


def _atom(expression: Formula, scope: Scope) -> Atom:
    """An atom or a fluent over declared objects."""
    if isinstance(expression, str) or not is_atom(expression) or expression[0] == "when":
        raise unparseable(f"expected an atom in :init, found {excerpt(expression)}")
    _require(atom_faults(expression, scope), expression, ":init")
    return cast("Atom", expression)


def _goal(section: tuple[Formula, ...], scope: Scope) -> tuple[set[Atom], list[tuple[str, Formula]]]:
    """The conjuncts of the goal that are atoms, and the others."""
    if len(section) != 1:
        raise unparseable(f"the goal has {len(section)} formulas, not one")
    _require(soft_faults(section[0], scope), section[0], "the goal")
    conjuncts = list(_conjuncts(section[0]))
    atoms = {tuple([word for word in each if isinstance(word, str)]) for each in conjuncts if is_atom(each)}
    return atoms, [(":goal", each) for each in dict.fromkeys(conjuncts) if not is_atom(each)]


def _conjuncts(formula: Formula) -> Iterator[Formula]:
    """The conjuncts of a condition, in the order of the text."""
    if formula[:1] == ("and",):
        for part in formula[1:]:
            yield from _conjuncts(part)
    elif formula:
        yield formula


def _metric(section: tuple[Formula, ...], scope: Scope) -> Formula:
    if len(section) != 2 or section[0] not in ("minimize", "maximize"):
        raise unparseable("the metric is not `minimize` or `maximize` and an expression")
    expression = _named_violations(section[1])
    _require(number_faults(expression, scope), expression, "the metric")
    return section[0], expression


def _named_violations(expression: Formula) -> Formula:
    """The expression, in which ``(is-violated p)`` is a function of its own: a preference's name is no object."""
    if isinstance(expression, str) or expression[:1] != (IS_VIOLATED,):
        return expression if isinstance(expression, str) else tuple(map(_named_violations, expression))
    return (" ".join(word for word in expression if isinstance(word, str)),) if len(expression) == 2 else expression


def _require(faults: Iterator[str], formula: Formula, where: str) -> None:
    """Raise ``ParseError`` for the first fault."""
    for fault in faults:
        if isinstance(fault, Undeclared):
            raise ParseError(
                Verdict.INVALID_ATOM, words.undeclared(show_formula(formula)[:MAX_SHOWN], where, fault.name)
            )
        raise unparseable(f"{fault} in {where}") if mistakes([fault]) else _not_executed(where, fault)


def _not_executed(where: str, construct: str) -> ParseError:
    return ParseError(Verdict.UNDECIDED, f"{construct} in {where}")
