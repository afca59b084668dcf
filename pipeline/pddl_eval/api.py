"""The public functions on single problems: PDDL texts or ``Problem`` values in, values out, exceptions at the edge."""

from __future__ import annotations

from pddl_eval.equivalence import task_of
from pddl_eval.errors import UserError
from pddl_eval.metrics import score_problem_pair
from pddl_eval.model import Problem, State, problem_to_pddl
from pddl_eval.verdict import ProblemVerdict, Undecided, Unsolvable


class UnsolvableError(UserError):
    """No reachable state contains the goal, so it has no closure; the message says why.

    >>> held = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (on a a)))"
    >>> try:
    ...     fully_specify(held)
    ... except UnsolvableError as error:
    ...     print(error)
    the goal stacks blocks in a circle
    """


class UndecidedError(UserError):
    """A limit was hit before the answer was found, or nothing is known of the domain; the message says which.

    >>> try:
    ...     certificate("(define (problem p) (:domain chess) (:objects k) (:init (at k)) (:goal (mated k)))")
    ... except UndecidedError as error:
    ...     print(error)
    nothing is known of a domain named chess
    """


def compare_problems(
    reference: str | Problem,
    generated: str | Problem | None,
    *,
    is_placeholder: bool = False,
    domain: str | None = None,
    check_solvable: bool = True,
) -> ProblemVerdict:
    """Is the generated problem the reference's planning problem? With verdict, reason, object map and plan.

    ``generated`` may be a raw model answer. ``is_placeholder``: compare initial states and goals separately (the
    paper's "PDDL without object identity"). ``domain``: a known domain's name or a PDDL text; default: the domain that
    the reference names. ``check_solvable`` False leaves ``solvable`` None.

    Raises ``DomainError`` where ``domain`` is a text but no PDDL domain.
    Source: the paper, section 4, algorithm 1.

    >>> held = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"
    >>> verdict = compare_problems(held, "Sure: " + held.replace("a)", "z)"))
    >>> verdict.equivalent, verdict.verdict.value, verdict.object_map
    (True, 'isomorphic', {'z': 'a'})
    """
    texts = (problem_to_pddl(side) if isinstance(side, Problem) else side for side in (reference, generated))
    return score_problem_pair(*texts, is_placeholder, domain, check_solvable)


def fully_specify(problem: str | Problem, domain: str | None = None) -> State:
    """cl(goal): every atom that is true in all reachable states which contain the goal, static atoms included.

    Raises ``UnsolvableError`` where no reachable state contains the goal, ``UndecidedError`` where a limit was hit or
    nothing is known of the domain, ``ParseError`` where the text is no problem.
    Source: the paper, section 4 (fullySpecify) and appendix C.

    >>> held = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"
    >>> sorted(fully_specify(held))
    [('arm-empty',), ('clear', 'a'), ('on-table', 'a')]
    """
    closure = task_of(problem, domain).closure
    if isinstance(closure, Unsolvable):
        raise UnsolvableError(closure.reason)
    if isinstance(closure, Undecided):
        raise UndecidedError(closure.reason)
    return closure


def certificate(problem: str | Problem, domain: str | None = None, *, is_placeholder: bool = False) -> str:
    """32 hexadecimal digits, equal exactly for equivalent problems of one domain (in that mode).

    Raises ``UndecidedError`` where a limit was hit or nothing is known of the domain, ``ParseError`` where the text is
    no problem.

    >>> held = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"
    >>> certificate(held) == certificate(held.replace("clear a", "on-table a"))
    True
    """
    task = task_of(problem, domain)
    found = task.placeholder_certificate if is_placeholder else task.certificate
    if isinstance(found, Undecided):
        raise UndecidedError(found.reason)
    return found
