"""Which implementation scores a row: the kernel where it fully understands the row, the definition for all others.

The kernel is a shared library, built from ``pipeline/kernel`` where a Rust toolchain is found. It takes a batch of
pairs of problems, of plans or of domains and returns their score columns, Arrow in and out, with the interpreter lock
released. A row that it leaves has a reason. What it answers is what the definition answers, so it is no part of the
signature.
"""

from __future__ import annotations

import ctypes
import os
import sys
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any, TypeAlias

from pddl_eval.definition.budget import WORK_PER_LOOK, spend
from pddl_eval.definition.domains import PlanningDomain
from pddl_eval.definition.metrics import AnswerPair, detail_of, domain_of_problem, only_equal
from pddl_eval.definition.metrics import read_answer as read_by_definition
from pddl_eval.definition.metrics import score_problem_pair as score_by_definition
from pddl_eval.definition.model import Atom, Problem, domain_to_pddl, problem_to_pddl
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.definition.planning import Solution, executed, solve
from pddl_eval.definition.questions import PLAIN, Searches
from pddl_eval.definition.verdict import DomainVerdict, ProblemVerdict, Undecided, Unsolvable, Verdict
from pddl_eval.definition.words import Difference, sentence
from pddl_eval.errors import UserError
from pddl_eval.kernel import crate

try:
    import pyarrow as pa

    from pddl_eval.kernel.differences import differences
except ImportError:  # Functions on texts do without Arrow, and so without the kernel.
    pa = None

LIBRARY = Path(__file__).with_name("pddl_eval_kernel.library")
"""Where the build puts the library; named so that Python does not take it for a module."""

VARIABLE = "PDDL_EVAL_KERNEL"
"""``off``: the definition scores every row; ``must``: an error where there is no kernel; ``auto``: what is there."""

LEAST_SECONDS = 1.0
"""Where a row has less time than this, the definition scores it: the kernel's limits are counts."""

SEARCH_SECONDS = 10.0
"""Where a row has less time than this, the definition scores it if it may take a search: in any STRIPS domain."""

_PROBLEMS, _PLANS, _DOMAINS = range(3)
_CHECK_SOLVABLE, _LAST_ANSWER, _HAS_TIME, _NO_CERTIFICATES, _PROOFS_TOO, _CHEAPEST = 1, 2, 4, 8, 16, 32
_DOMAIN_COLUMNS = ("reference_domain", "generated_domain", "reference_problem", "generated_problem")
_SHOWN = ("object_map", "goal_object_map", "plan", "closure", "counterexample")
_SCHEMA_BYTES, _ARRAY_BYTES = 72, 80
Answers: TypeAlias = "tuple[dict[str, pa.Array], pa.Array]"
"""Score columns by name, and the reason why each row was left; null where it was not."""


@cache
def _library() -> ctypes.CDLL | None:
    """The library, None where it is not wanted, not there or built from other sources."""
    wanted = os.environ.get(VARIABLE) or "auto"
    if wanted not in ("auto", "off", "must"):
        raise UserError(f"{VARIABLE} is auto, off or must, not {wanted}")
    if wanted == "off" or (wanted == "auto" and pa is None):
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
    return library


def version() -> str | None:
    """The kernel's version, None where the definition scores every row."""
    library = _library()
    return library.pddl_eval_crate().decode().split()[0] if library else None


def score(rows: Mapping[str, pa.ChunkedArray], options: ScoringOptions, *, certificates: bool = True) -> Answers | None:
    """The score columns of pairs of problems, and for each row the reason why it was left, else null.

    ``rows`` maps meanings to columns of equal length; those of a row that was left are null. None where there is no
    kernel, or neither a reference nor a domain. ``certificates`` may be null where nobody reads them.

    >>> held = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"
    >>> column = pa.chunked_array([[held]])
    >>> scored = score({"reference_problem": column, "generated_problem": column}, ScoringOptions())
    >>> scored is None or scored[0]["verdict"].to_pylist() == ["identical"]
    True
    """
    if not _answers_now(options):
        return None
    if "reference_problem" not in rows:
        rows = _alone(rows, options)
        if not rows["domain"].null_count < len(rows["domain"]):
            return None
    try:
        columns = [_texts(rows["reference_problem"]), _texts(rows["generated_problem"]), _truths(rows)]
        columns += _domain(rows, options)
    except pa.ArrowException:  # no texts
        return None
    flags = _flags(options) | _NO_CERTIFICATES * (not certificates)
    return _answers(_PROBLEMS, columns, flags, "detail", "; ".join)


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


def _alone(rows: Mapping[str, pa.ChunkedArray], options: ScoringOptions) -> dict[str, pa.ChunkedArray]:
    """The rows of problems that have no reference, each with the domain that it is for."""
    values = zip(*(column.to_pylist() for column in rows.values()), strict=True)
    domains = [domain_of_problem(dict(zip(rows, row, strict=True)), options) for row in values]
    columns = {"reference_problem": [None] * len(domains), "domain": domains}
    return {**rows, **{name: pa.chunked_array([pa.array(each, pa.string())]) for name, each in columns.items()}}


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
    return None if found is None else [each and _shown(*each) for each in found]


def _pairs(
    pairs: Sequence[tuple[str | None, str | None]],
    is_placeholder: bool,
    domain: str | None,
    options: ScoringOptions,
    flags: int = 0,
) -> list[tuple[dict[str, Any], Sequence[Difference]] | None] | None:
    """The columns of each pair with what shows them, and its differences; None for one that is left."""
    if not _answers_now(options):
        return None
    try:
        columns = [_column(texts) for texts in zip(*pairs, strict=True)]
        columns.append(pa.Array.from_buffers(pa.bool_(), len(pairs), [None, _bits([is_placeholder] * len(pairs))]))
        if domain:
            domains = pa.chunked_array([[domain] * len(pairs)])
            columns += _domain({"domain": domains, "reference_problem": [*pairs]}, options)
    except (pa.ArrowException, UnicodeError):
        return None
    found = _scored(_PROBLEMS, columns, _flags(options) | _PROOFS_TOO | flags)
    if found is None:
        return None
    detail, left = found.pop("detail"), found.pop("left")
    said = differences(detail.dictionary)
    rows = pa.StructArray.from_arrays([*found.values()], [*found]).to_pylist()
    return [
        None if left[row].is_valid else (values, said[detail.indices[row].as_py()]) for row, values in enumerate(rows)
    ]


def _shown(
    values: dict[str, Any], said: Sequence[Difference]
) -> tuple[ProblemVerdict, frozenset[Atom] | Unsolvable | None] | None:
    """A row of the kernel's as a verdict, with the reference's cl(goal)."""
    detail = _said(said, "; ".join)
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


def read_answer(row: Mapping[str, Any], options: ScoringOptions) -> AnswerPair:
    """As the definition's function of that name, with the kernel's searches beyond few states."""
    return read_by_definition(row, options, _SEARCHES if _answers_now(options) else PLAIN)


FEW_STATES = 100
"""States that are enumerated before the kernel searches, which is faster from there on."""


def search(problem: Problem, planning_domain: PlanningDomain) -> Solution | Unsolvable | Undecided:
    """A plan or the proof that there is none: by the kernel in STRIPS, else by enumeration.

    >>> from pddl_eval.definition.domains import known_domain
    >>> held = Problem("p", "blocksworld", {"a": "object"}, frozenset({("holding", "a")}), frozenset({("clear", "a")}))
    >>> search(held, known_domain("blocksworld")).plan
    (('putdown', 'a'),)
    """
    return _planned(problem, planning_domain, 0) or solve(problem, planning_domain)


def cheapest(problem: Problem, planning_domain: PlanningDomain) -> Solution | Unsolvable | Undecided:
    """A plan of the fewest actions, or the proof that there is none: by the kernel in STRIPS.

    >>> from pddl_eval.definition.domains import known_domain
    >>> held = Problem("p", "blocksworld", {"a": "object"}, frozenset({("holding", "a")}), frozenset({("clear", "a")}))
    >>> found = cheapest(held, known_domain("blocksworld"))
    >>> isinstance(found, Undecided) or found.plan
    (('putdown', 'a'),)
    """
    return _planned(problem, planning_domain, _CHEAPEST) or Undecided("cheapest plans are searched for in STRIPS alone")


_SEARCHES = Searches(search, cheapest, FEW_STATES)


def _planned(problem: Problem, planning_domain: PlanningDomain, flags: int) -> Solution | Unsolvable | None:
    """What the kernel finds; None where it leaves the problem."""
    options = ScoringOptions()
    if not (planning_domain.has_literals_alone and problem.is_strips and _answers_now(options)):
        return None
    spend(WORK_PER_LOOK)  # Nothing is started for a row whose budget has ended.
    domain = planning_domain.domain
    pairs = [(None, problem_to_pddl(problem))]
    (asked,) = _pairs(pairs, False, domain_to_pddl(domain), options, flags | _NO_CERTIFICATES) or [None]
    if asked is None:
        return None
    values, said = asked
    if values["plan"] is not None:
        return executed(tuple(map(tuple, values["plan"])), problem, domain)
    return next(map(Unsolvable, _reasons(said, "unsolvable")), None)


def _reasons(said: Sequence[Difference], what: str) -> Iterable[str]:
    """Why there is no plan, in words."""
    return (sentence(each.fields["reason"]) for each in said if each.what == what)


def score_plans(rows: Mapping[str, pa.ChunkedArray], options: ScoringOptions) -> Answers | None:
    """As ``score``, for pairs of plans; None also where similar steps that are not equal may be matched.

    >>> plans = {"reference_plan": pa.chunked_array([["(a)"]]), "generated_plan": pa.chunked_array([["(a), (b)"]])}
    >>> scored = score_plans(plans, ScoringOptions())
    >>> scored is None or scored[0]["plan_lcs"].to_pylist() == [0.5]
    True
    """
    if not only_equal(options) or options.optimal or not _answers_now(options):
        return None
    try:
        plans = _texts(rows["generated_plan"])
        # Without a column of references no row has one: plans are executed in their problems.
        references = _texts(rows["reference_plan"]) if "reference_plan" in rows else pa.nulls(len(plans), plans.type)
        columns = [references, plans]
        if "reference_problem" in rows:
            columns += [_texts(rows["reference_problem"]), *_domain(rows, options)]
    except pa.ArrowException:
        return None
    answers = _answers(_PLANS, columns, _flags(options), "plan_detail", detail_of)
    if answers is not None:  # rows with constraints are left
        answers[0]["constraint_share"] = pa.nulls(len(plans), pa.float64())
    return answers


def score_domains(rows: Mapping[str, pa.ChunkedArray], options: ScoringOptions) -> Answers | None:
    """As ``score``, for pairs of domains.

    >>> domain = pa.chunked_array([["(define (domain d) (:action a :effect (p)))"]])
    >>> scored = score_domains({"reference_domain": domain, "generated_domain": domain}, ScoringOptions())
    >>> scored is None or scored[0]["domain_verdict"].to_pylist() == ["identical"]
    True
    """
    if "reference_domain" not in rows or not _answers_now(options):
        return None
    try:
        # Generated problems say something only beside those of the reference.
        wanted = _DOMAIN_COLUMNS[: 4 if "reference_problem" in rows else 2]
        columns = [_texts(rows[name]) for name in wanted if name in rows]
        if len(columns) == len(_DOMAIN_COLUMNS):
            columns.append(_truths(rows))
    except pa.ArrowException:
        return None
    answers = _answers(_DOMAINS, columns, _flags(options), "domain_detail", detail_of)
    if answers is not None:
        import pyarrow.compute as pc  # here and below: a first verdict does without it

        # The kernel leaves domains in which operators share a name: of all others the verdict says it.
        found = answers[0]
        only_types = pc.equal(found["domain_verdict"], DomainVerdict.TYPES_DIFFER.value)
        found["domain_equivalent_untyped"] = pc.or_(found["domain_equivalent"], only_types)
    return answers


def one_row(
    score: Callable[[Mapping[str, pa.ChunkedArray], ScoringOptions], Answers | None],
    row: Mapping[str, str | bool | None],
    options: ScoringOptions,
) -> dict[str, Any] | None:
    """The columns of a batch of one row by meanings, scored by ``score_domains`` or the like; None where it is left.

    >>> domain = "(define (domain d) (:action a :effect (p)))"
    >>> row = one_row(score_domains, {"reference_domain": domain, "generated_domain": domain}, ScoringOptions())
    >>> row is None or row["domain_verdict"] == "identical"
    True
    """
    if not _answers_now(options):
        return None
    types = {name: pa.bool_() if isinstance(value, bool) else pa.string() for name, value in row.items()}
    try:
        columns = {name: pa.chunked_array([pa.array([value], types[name])]) for name, value in row.items()}
    except (pa.ArrowException, UnicodeError):
        return None
    answers = score(columns, options)
    if answers is None or answers[1][0].is_valid:
        return None
    return {name: column[0].as_py() for name, column in answers[0].items()}


def _answers_now(options: ScoringOptions) -> bool:
    """False where the definition scores every row: then no column need be copied."""
    return _library() is not None and options.row_seconds >= LEAST_SECONDS


def _flags(options: ScoringOptions) -> int:
    """What the library has to know of the settings."""
    flags = _CHECK_SOLVABLE * options.check_solvable | _LAST_ANSWER * (options.answer == "last")
    return flags | _HAS_TIME * (options.row_seconds >= SEARCH_SECONDS)


def _scored(what: int, columns: Sequence[pa.Array], flags: int) -> dict[str, pa.Array] | None:
    """What the library makes of a batch."""
    batch = pa.StructArray.from_arrays(columns, [str(number) for number in range(len(columns))])
    schemas, arrays = ([ctypes.create_string_buffer(size) for _ in range(2)] for size in (_SCHEMA_BYTES, _ARRAY_BYTES))
    addresses = [
        (ctypes.addressof(schema), ctypes.addressof(array)) for schema, array in zip(schemas, arrays, strict=True)
    ]
    (schema_in, array_in), (schema_out, array_out) = addresses
    batch._export_to_c(array_in, schema_in)  # noqa: SLF001 (the C data interface of pyarrow)
    library = _library()
    if library is None or library.pddl_eval_score(what, flags, schema_in, array_in, schema_out, array_out):
        return None
    scored = pa.Array._import_from_c(array_out, schema_out)  # noqa: SLF001 (as above)
    return dict(zip((field.name for field in scored.type), scored.flatten(), strict=True))


def _answers(
    what: int, columns: Sequence[pa.Array], flags: int, detail: str, joined: Callable[[Iterable[str]], str]
) -> Answers | None:
    """What the library makes of a batch, with its differences in words; a row that no words are known for is left."""
    found = _scored(what, columns, flags)
    if found is None:
        return None
    column = found[detail]
    said = [_said(each, joined) for each in differences(column.dictionary)]
    found[detail], left = pa.array(said, pa.string()).take(column.indices), found.pop("left")
    if None in said:
        import pyarrow.compute as pc

        left = left.fill_null(pc.if_else(pc.and_not(found[detail].is_null(), column.is_null()), "words", None))
    return found, left


def _said(row: Sequence[Difference], joined: Callable[[Iterable[str]], str]) -> str | None:
    """A row's differences in words; None where no words are known."""
    try:
        return joined(map(sentence, row))
    except (LookupError, TypeError):
        return None


def count_left(left: pa.Array) -> dict[str, int]:
    """How many rows were left, by reason.

    >>> count_left(pa.array([None, "domain"]))
    {'domain': 1}
    """
    return dict(sorted(Counter(left.drop_null().to_pylist()).items()))


def _column(texts: Sequence[str | None]) -> pa.Array:
    """A column of texts. ``pa.array`` would import pandas, to see whether the texts are one of its series."""
    told = [b"" if text is None else text.encode() for text in texts]
    ends = array("q", accumulate(map(len, told), initial=0))
    buffers = [_bits([text is not None for text in texts]), pa.py_buffer(ends), pa.py_buffer(b"".join(told))]
    return pa.Array.from_buffers(pa.large_string(), len(told), buffers)


def _bits(flags: Sequence[bool]) -> pa.Buffer:
    """The flags as Arrow packs them, the first one lowest."""
    packed = int("0" + "".join("1" if flag else "0" for flag in reversed(flags)), 2)
    return pa.py_buffer(packed.to_bytes(len(flags) // 8 + 1, "little"))


def _texts(column: pa.ChunkedArray) -> pa.Array:
    if column.num_chunks == 1 and column.type == pa.string():  # which the kernel takes as it is
        return column.chunk(0)
    return _whole(column, pa.large_string())


def _truths(rows: Mapping[str, pa.ChunkedArray]) -> pa.Array:
    column = rows.get("is_placeholder")
    return pa.nulls(len(rows["reference_problem"]), pa.bool_()) if column is None else _whole(column, pa.bool_())


def _whole(column: pa.ChunkedArray, type_: pa.DataType) -> pa.Array:
    whole = column.cast(type_).combine_chunks()
    return pa.concat_arrays(whole.chunks) if isinstance(whole, pa.ChunkedArray) else whole


def _domain(rows: Mapping[str, pa.ChunkedArray], options: ScoringOptions) -> list[pa.Array]:
    """The name or text of the domain of each row, as ``domain_of`` finds it; no column where no row has any."""
    given = [_texts(rows[name]) for name in ("domain", "reference_domain") if name in rows]
    if not given and not options.domain:
        return []
    import pyarrow.compute as pc

    named = [pc.if_else(pc.equal(column, ""), None, column) for column in given]
    found = pc.coalesce(*named, pa.scalar(options.domain or None, pa.large_string()))
    if isinstance(found, pa.Scalar):
        found = pa.repeat(found, len(rows["reference_problem"]))
    name = pc.replace_substring(pc.utf8_lower(pc.utf8_trim_whitespace(found)), "_", "-")
    return [pc.if_else(pc.match_substring(found, "("), found, name).cast(pa.large_string())]
