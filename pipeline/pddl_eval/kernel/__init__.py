"""Which implementation scores a row: the kernel where it fully understands the row, the definition for all others.

The kernel is a shared library, built from ``pipeline/kernel`` where a Rust toolchain is found. It takes pairs of
problems, of plans or of domains and returns their score columns, with the interpreter lock released: those of a table
Arrow in and out (``tables``), those of a call as JSON, which needs no Arrow. A row that it leaves has a reason. What it
answers is what the definition answers, so it is no part of the signature.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from pddl_eval.definition.budget import WORK_PER_LOOK, spend
from pddl_eval.definition.domains import PlanningDomain
from pddl_eval.definition.metrics import AnswerPair, detail_of, domain_of, domain_of_problem, only_equal
from pddl_eval.definition.metrics import read_answer as read_by_definition
from pddl_eval.definition.metrics import score_problem_pair as score_by_definition
from pddl_eval.definition.model import Atom, Problem, domain_to_pddl, problem_to_pddl
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.definition.planning import Solution, executed, solve
from pddl_eval.definition.questions import PLAIN, Searches
from pddl_eval.definition.validation import execute_actions
from pddl_eval.definition.verdict import ProblemVerdict, Undecided, Unsolvable, Verdict
from pddl_eval.definition.words import Difference, sentence
from pddl_eval.errors import UserError
from pddl_eval.kernel import crate

LIBRARY = Path(__file__).with_name("pddl_eval_kernel.library")
"""Where the build puts the library; named so that Python does not take it for a module."""

VARIABLE = "PDDL_EVAL_KERNEL"
"""``off``: the definition scores every row; ``must``: an error where there is no kernel; ``auto``: what is there."""

LEAST_SECONDS = 1.0
"""Where a row has less time than this, the definition scores it: the kernel's limits are counts."""

SEARCH_SECONDS = 10.0
"""Where a row has less time than this, the definition scores it if it may take a search: in any STRIPS domain."""

PROBLEMS, PLANS, DOMAINS, TEXTS = range(4)
_CHECK_SOLVABLE, _LAST_ANSWER, _HAS_TIME, NO_CERTIFICATES, _PROOFS_TOO, _CHEAPEST = 1, 2, 4, 8, 16, 32
DOMAIN_COLUMNS = ("reference_domain", "generated_domain", "reference_problem", "generated_problem")
_CALLS: Mapping[str, tuple[int, Sequence[str], str, Callable[[Iterable[str]], str]]] = {
    "problem": (PROBLEMS, ("reference_problem", "generated_problem", "is_placeholder", "domain"), "detail", "; ".join),
    "plan": (PLANS, ("reference_plan", "generated_plan", "reference_problem", "domain"), "plan_detail", detail_of),
    "domain": (DOMAINS, (*DOMAIN_COLUMNS, "is_placeholder"), "domain_detail", detail_of),
}
"""What the kernel is given of a row of each kind, and the column of its differences, with what joins them."""

_SHOWN = ("object_map", "goal_object_map", "plan", "closure", "counterexample")


@cache
def library() -> ctypes.CDLL | None:
    """The library, None where it is not wanted, not there or built from other sources."""
    wanted = os.environ.get(VARIABLE) or "auto"
    if wanted not in ("auto", "off", "must"):
        raise UserError(f"{VARIABLE} is auto, off or must, not {wanted}")
    if wanted == "off":
        return None
    try:
        return _loaded()
    except (OSError, AttributeError) as error:
        why = f"the kernel cannot be used: {error}; `pip install .` in a checkout builds it, where cargo is found"
        if wanted == "must":
            raise UserError(f"{VARIABLE}=must, and {why}") from None
        from multiprocessing import parent_process  # here: it loads sockets

        if LIBRARY.exists() and parent_process() is None:  # one line, not one for each worker
            print(f"pddl-eval: {why}. The definition scores every row", file=sys.stderr)
        return None


def _loaded() -> ctypes.CDLL:
    library = ctypes.CDLL(str(LIBRARY))
    library.pddl_eval_crate.restype = ctypes.c_char_p
    if library.pddl_eval_crate().partition(b" ")[2].decode() != crate.DIGEST:
        raise OSError(f"{LIBRARY.name} was built from other sources")
    library.pddl_eval_score.argtypes = [*[ctypes.c_uint32] * 2, *[ctypes.c_void_p] * 4]
    library.pddl_eval_score_texts.argtypes = [
        *(ctypes.c_uint32, ctypes.c_uint32, ctypes.c_size_t, ctypes.c_size_t),
        *(ctypes.POINTER(ctypes.c_char_p), ctypes.c_void_p),
    ]
    library.pddl_eval_score_texts.restype = ctypes.c_void_p
    library.pddl_eval_release.argtypes = [ctypes.c_void_p]
    library.pddl_eval_list_states.argtypes = [ctypes.c_void_p, *[ctypes.c_size_t] * 2, ctypes.c_void_p]
    library.pddl_eval_list_states.restype = ctypes.c_void_p
    library.pddl_eval_release_states.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    return library


def version() -> str | None:
    """The kernel's version, None where the definition scores every row."""
    shared = library()
    return shared.pddl_eval_crate().decode().split()[0] if shared else None


def score_problem_pair(  # noqa: PLR0913 (as the definition's)
    reference_text: str | None,
    generated_text: str | None,
    is_placeholder: bool = False,
    domain: str | None = None,
    check_solvable: bool = True,
    answer: str = "first",
) -> ProblemVerdict:
    """As the definition's function of that name, which is asked where the kernel leaves the pair.

    >>> held = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"
    >>> found = score_problem_pair(held, held.replace("a)", "z)"))
    >>> found.object_map, found.plan
    ({'z': 'a'}, (('putdown', 'z'),))
    """
    options = ScoringOptions(check_solvable=check_solvable, answer=answer)
    found = problem_verdict(reference_text, generated_text, is_placeholder, domain, options)
    if found is not None:
        return found
    return score_by_definition(reference_text, generated_text, is_placeholder, domain, check_solvable, answer=answer)


def problem_verdict(
    reference: str | None, generated: str | None, is_placeholder: bool, domain: str | None, options: ScoringOptions
) -> ProblemVerdict | None:
    """The kernel's verdict on one pair of problems, with what shows it; None where it leaves the pair."""
    found = problem_pair(reference, generated, is_placeholder, domain, options)
    return found and found[0]


def problem_pair(
    reference: str | None, generated: str | None, is_placeholder: bool, domain: str | None, options: ScoringOptions
) -> tuple[ProblemVerdict, frozenset[Atom] | Unsolvable | None] | None:
    """All that the kernel says of one pair of problems: with the verdict the reference's cl(goal), where it is known.

    None where the kernel leaves the pair.
    """
    found = problem_pairs([(reference, generated)], is_placeholder, domain, options)
    return found[0] if found else None


def problem_pairs(
    pairs: Sequence[tuple[str | None, str | None]], is_placeholder: bool, domain: str | None, options: ScoringOptions
) -> list[tuple[ProblemVerdict, frozenset[Atom] | Unsolvable | None] | None] | None:
    """As ``problem_pair``, for pairs in one domain at once; None where there is no kernel.

    >>> held = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"
    >>> found = problem_pairs([(held, held)], False, "blocksworld", ScoringOptions())
    >>> found is None or found[0][0].plan
    (('putdown', 'a'),)
    """
    found = _pairs(pairs, is_placeholder, domain, options)
    return None if found is None else [None if each is None else _shown(each) for each in found]


def _pairs(
    pairs: Sequence[tuple[str | None, str | None]],
    is_placeholder: bool,
    domain: str | None,
    options: ScoringOptions,
    flags: int = 0,
) -> list[dict[str, Any] | None] | None:
    """The columns of each pair with what shows them; None for one that is left, or where there is no kernel."""
    domain = _domain_asked(domain or options.domain)
    rows = [(reference, generated, is_placeholder, domain) for reference, generated in pairs]
    return _rows(PROBLEMS, rows, options, flags | _PROOFS_TOO)


def _rows(
    what: int, rows: Sequence[Sequence[str | bool | None]], options: ScoringOptions, flags: int = 0
) -> list[dict[str, Any] | None] | None:
    """The columns of the rows of a call; None for one that is left, or where there is no kernel.

    Without Arrow, which takes longer for a batch of one than the kernel. The fourth column of problems and plans is the
    domain.
    """
    if not answers_now(options):
        return None
    shared = library()
    assert shared
    try:
        columns = [[*map(_bytes, column)] for column in zip(*rows, strict=True)]
    except UnicodeError:
        return None
    texts = [text for column in columns for text in column]
    count = len(texts)
    lengths = (ctypes.c_size_t * count)(*[len(text or b"") for text in texts])
    asked = (what, flags_of(options) | flags, len(columns), len(rows), (ctypes.c_char_p * count)(*texts), lengths)
    said = shared.pddl_eval_score_texts(*asked)
    if said is None:
        return None
    try:
        found = json.loads(ctypes.string_at(said))
    finally:
        shared.pddl_eval_release(said)
    return [None if each.pop("left") else each for each in found]


def _domain_asked(domain: str | None) -> str | None:
    """As the kernel is asked for a domain: a text, or a name in one form."""
    return domain or None if not domain or "(" in domain else domain.strip().lower().replace("_", "-")


def _bytes(value: str | bool | None) -> bytes | None:
    if isinstance(value, str):
        return value.encode()
    return b"" if value else None


def _shown(values: dict[str, Any]) -> tuple[ProblemVerdict, frozenset[Atom] | Unsolvable | None] | None:
    """A row of the kernel's as a verdict, with the reference's cl(goal)."""
    said = [*map(_difference, values["detail"])]
    detail = in_words(said, "; ".join)
    if detail is None:
        return None
    del values["score_micros"]
    for name in _SHOWN:
        if values[name] is not None:
            lists = tuple(map(tuple, values[name]))
            values[name] = dict(lists) if name.endswith("map") else lists
    atom, side = next((each.separating for each in said if each.separating), (None, None))
    closure, separating = values.pop("closure"), values.pop("counterexample")
    proof = next(iter(_reasons(said, "reference unsolvable")), None)
    closed = frozenset(closure) if closure is not None else Unsolvable(proof) if proof else None
    values |= {"detail": detail, "verdict": values["verdict"] and Verdict[values["verdict"].upper()]}
    return ProblemVerdict(**values, separating_atom=atom, separating_side=side, separating_plan=separating), closed


def _difference(sent: Mapping[str, Any]) -> Difference:
    return Difference(sent["what"], **{name: _field(value) for name, value in sent["fields"].items()})


def _field(value: Any) -> Any:
    """Lists are tuples. An atom behind ``not`` is negated: no predicate, object or type has that name."""
    if isinstance(value, dict):
        return _difference(value)
    if not isinstance(value, list):
        return value
    found = tuple(map(_field, value))
    return ("not", found[1:]) if found[:1] == ("not",) else found


def read_answer(row: Mapping[str, Any], options: ScoringOptions) -> AnswerPair:
    """As the definition's function of that name, with the kernel's searches beyond few states."""
    return read_by_definition(row, options, _SEARCHES if answers_now(options) else PLAIN)


FEW_STATES = 100
"""States that are enumerated before the kernel searches, which is faster from there on."""


def search(
    problem: Problem, planning_domain: PlanningDomain, *, soon: bool = False
) -> Solution | Unsolvable | Undecided:
    """A plan or the proof that there is none: by the kernel where literals decide it, else by enumeration.

    Unless it is wanted ``soon``, a cheapest plan is searched for where the search for any finds none.

    >>> from pddl_eval.definition.domains import known_domain
    >>> held = Problem("p", "blocksworld", {"a": "object"}, frozenset({("holding", "a")}), frozenset({("clear", "a")}))
    >>> search(held, known_domain("blocksworld")).plan
    (('putdown', 'a'),)
    """
    found = _planned(problem, planning_domain, 0)
    if not (found or soon):
        found = _planned(problem, planning_domain, _CHEAPEST)
    return found or solve(problem, planning_domain)


def cheapest(problem: Problem, planning_domain: PlanningDomain) -> Solution | Unsolvable | Undecided:
    """A plan of the fewest actions, or the proof that there is none: by the kernel, where each action costs 1.

    >>> from pddl_eval.definition.domains import known_domain
    >>> held = Problem("p", "blocksworld", {"a": "object"}, frozenset({("holding", "a")}), frozenset({("clear", "a")}))
    >>> found = cheapest(held, known_domain("blocksworld"))
    >>> isinstance(found, Undecided) or found.plan
    (('putdown', 'a'),)
    """
    found = None if problem.metric else _planned(problem, planning_domain, _CHEAPEST)
    return found or Undecided("cheapest plans are searched for in STRIPS alone")


_SEARCHES = Searches(search, cheapest, FEW_STATES)


def _planned(problem: Problem, planning_domain: PlanningDomain, flags: int) -> Solution | Unsolvable | None:
    """What the kernel finds in the task without its costs; None where it leaves the problem."""
    options = ScoringOptions()
    if not (planning_domain.is_searched_in(problem) and answers_now(options)):
        return None
    spend(WORK_PER_LOOK)  # Nothing is started for a row whose budget has ended.
    domain, split = planning_domain.domain, planning_domain.disjuncts
    operators = tuple(replace(each, formulas=()) for each in split.domain.operators)
    plain = replace(split.domain, operators=operators, functions={})
    pairs = [(None, problem_to_pddl(replace(problem, values={}, formulas=())))]
    (values,) = _pairs(pairs, False, domain_to_pddl(plain), options, flags | NO_CERTIFICATES) or [None]
    if values is None:
        return None
    if values["plan"] is None:  # Costs take actions away and add none: this is a proof with them, too.
        return next(map(Unsolvable, _reasons(map(_difference, values["detail"]), "unsolvable")), None)
    plan = split.own(map(tuple, values["plan"]))
    if planning_domain.moves_freely(problem):
        return executed(plan, problem, domain)
    # An action whose cost has no value cannot be executed.
    execution = execute_actions(plan, problem, domain)
    return Solution(plan, execution.state) if execution.reaches_goal else None


def _reasons(said: Iterable[Difference], what: str) -> Iterable[str]:
    """Why there is no plan, in words."""
    return (sentence(each.fields["reason"]) for each in said if each.what == what)


def one_row(kind: str, row: Mapping[str, str | bool | None], options: ScoringOptions) -> dict[str, Any] | None:
    """As ``score_rows``, for one row; None where it is left.

    >>> domain = "(define (domain d) (:action a :effect (p)))"
    >>> found = one_row("domain", {"reference_domain": domain, "generated_domain": domain}, ScoringOptions())
    >>> found is None or found["domain_verdict"]
    'identical'
    """
    (found,) = score_rows(kind, [row], options) or [None]
    return found


def score_rows(
    kind: str, rows: Sequence[Mapping[str, str | bool | None]], options: ScoringOptions, *, certificates: bool = True
) -> list[dict[str, Any] | None] | None:
    """The columns of rows by meanings, as ``score`` and the like have them, without Arrow.

    None for a row that is left, or where there is no kernel. ``kind`` is that of the pair: ``problem``, with its
    reference, ``plan`` or ``domain``.
    """
    what, names, detail, joined = _CALLS[kind]
    if what == PLANS and (options.optimal or not only_equal(options)):
        return None
    if what == DOMAINS:  # a missing answer to a problem is none, where one was asked for
        absent = (count for count in (2, 3) if not any(DOMAIN_COLUMNS[count] in row for row in rows))
        names = names[: next(absent, len(names))]

    def value(row: Mapping[str, str | bool | None], name: str) -> str | bool | None:
        return _domain_asked(domain_of(row, options)) if name == "domain" else row.get(name)

    asked = [[value(row, name) for name in names] for row in rows]
    found = _rows(what, asked, options, NO_CERTIFICATES * (not certificates))
    return found and [None if each is None else _columns_in_words(each, detail, joined) for each in found]


def _columns_in_words(
    found: dict[str, Any], detail: str, joined: Callable[[Iterable[str]], str]
) -> dict[str, Any] | None:
    """The columns of a row, its differences in words; None where no words are known."""
    if (said := found[detail]) is not None and (told := in_words(map(_difference, said), joined)) is None:
        return None
    found[detail] = said and told
    return found


def answers_now(options: ScoringOptions) -> bool:
    """False where the definition scores every row: then no column need be copied."""
    return library() is not None and options.row_seconds >= LEAST_SECONDS


def flags_of(options: ScoringOptions) -> int:
    """What the library has to know of the settings."""
    flags = _CHECK_SOLVABLE * options.check_solvable | _LAST_ANSWER * (options.answer == "last")
    return flags | _HAS_TIME * (options.row_seconds >= SEARCH_SECONDS)


def in_words(row: Iterable[Difference], joined: Callable[[Iterable[str]], str]) -> str | None:
    """A row's differences in words; None where no words are known."""
    try:
        return joined(map(sentence, row))
    except (LookupError, TypeError):
        return None
