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
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from multiprocessing import parent_process
from pathlib import Path
from typing import Any, TypeAlias

from pddl_eval.definition.comparison import NO_REFERENCE
from pddl_eval.definition.difference import Difference
from pddl_eval.definition.domain_wording import (
    NO_RENAMING,
    OTHER_TYPES,
    another_count,
    in_other_words,
    literal_sentence,
    parameters_sentence,
    type_sentence,
)
from pddl_eval.definition.domains import exclude_each_other, never_true
from pddl_eval.definition.formulas import no_value
from pddl_eval.definition.metrics import (
    GENERATED_PLAN,
    NO_DOMAIN_GIVEN,
    NO_GENERATED_PLAN,
    NO_REFERENCE_PLAN,
    REFERENCE_PLAN,
    detail_of,
    domain_of_problem,
    failure,
    goal_not_reached,
    ill_typed_domain,
    only_equal,
)
from pddl_eval.definition.metrics import score_problem_pair as score_by_definition
from pddl_eval.definition.model import (
    Action,
    Atom,
    Domain,
    Operator,
    no_such_predicate,
    show_atom,
    wrong_number_of_arguments,
    wrong_type,
)
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.definition.pddl import NEVER_CLOSED, NO_DOMAIN, REFUSALS, in_operator, note_on_drafts, refusal
from pddl_eval.definition.planning import never_added, no_state
from pddl_eval.definition.plans import EMPTY, NO_ANSWER, Unread, cannot_be_read, not_read
from pddl_eval.definition.task import ill_typed_problem
from pddl_eval.definition.validation import (
    Failure,
    different,
    ground_operator,
    needs,
    needs_false,
    needs_that,
    no_object,
    not_of_type,
)
from pddl_eval.definition.verdict import DomainVerdict, ProblemVerdict, Unsolvable, Verdict
from pddl_eval.definition.wording import EACH_WAY, EXCLUDED, OUT_OF_REACH, ran_out, sentence
from pddl_eval.errors import UserError
from pddl_eval.kernel import crate

try:
    import pyarrow as pa
    import pyarrow.compute as pc
except ImportError:  # Functions on texts do without Arrow, and so without the kernel.
    pa = pc = None

LIBRARY = Path(__file__).with_name("pddl_eval_kernel.library")
"""Where the build puts the library; named so that Python does not take it for a module."""

VARIABLE = "PDDL_EVAL_KERNEL"
"""``off``: the definition scores every row; ``must``: an error where there is no kernel; ``auto``: what is there."""

LEAST_SECONDS = 1.0
"""Where a row has less time than this, the definition scores it: the kernel's limits are counts."""

SEARCH_SECONDS = 10.0
"""Where a row has less time than this, the definition scores it if it may take a search: in any STRIPS domain."""

_PROBLEMS, _PLANS, _DOMAINS = range(3)
_CHECK_SOLVABLE, _LAST_ANSWER, _HAS_TIME, _NO_CERTIFICATES, _PROOFS_TOO = 1, 2, 4, 8, 16
_PROOFS = {
    "never true": never_true(()),
    "excludes itself": exclude_each_other(()),
    "exclude each other": exclude_each_other((), ()),
}
_DOMAIN_COLUMNS = ("reference_domain", "generated_domain", "reference_problem", "generated_problem")
_SHOWN = ("object_map", "goal_object_map", "plan", "closure", "counterexample")
_SCHEMA_BYTES, _ARRAY_BYTES = 72, 80
Answers: TypeAlias = "tuple[dict[str, pa.Array], pa.Array]"
"""Score columns by name, and the reason why each row was left; null where it was not."""

_BETWEEN_DIFFERENCES, _BETWEEN_WORDS = "\x1e", "\x1f"


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
        if LIBRARY.exists() and parent_process() is None:  # one line, not one for each worker
            print(f"pddl-eval: {why}. The definition scores every row", file=sys.stderr)
        return None


def _loaded() -> ctypes.CDLL:
    library = ctypes.CDLL(str(LIBRARY))
    library.pddl_eval_crate.restype = ctypes.c_char_p
    if library.pddl_eval_crate().decode().split()[1] != crate.DIGEST:
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
    answers = _answers(_PROBLEMS, columns, flags, "detail", _detail)
    if answers is not None:
        for name in _SHOWN:
            del answers[0][name]
    return answers


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
    if not _answers_now(options):
        return None
    try:
        columns = [pa.array([text], pa.large_string()) for text in (reference, generated)]
        columns.append(pa.array([is_placeholder], pa.bool_()))
        if domain:
            columns += _domain({"domain": pa.chunked_array([[domain]]), "reference_problem": [reference]}, options)
    except (pa.ArrowException, UnicodeError):
        return None
    answers = _answers(_PROBLEMS, columns, _flags(options) | _PROOFS_TOO, "detail", lambda said: said)
    if answers is None or answers[1][0].is_valid:
        return None
    found = {name: column[0].as_py() for name, column in answers[0].items() if name != "score_micros"}
    differences = [each for each in _differences(found["detail"]) if isinstance(each, Difference)]
    atom, side = next((each.separating for each in differences if each.separating), (None, None))
    for name in ("object_map", "goal_object_map"):
        if found[name] is not None:
            found[name] = dict(line.split(" ") for line in found[name].splitlines())
    closure, separating = found.pop("closure"), _lines(found.pop("counterexample"))
    verdict = found["verdict"] and Verdict[found["verdict"].upper()]
    found |= {"plan": _lines(found["plan"]), "verdict": verdict, "detail": _detail(found["detail"])}
    unsolvable = (Unsolvable(each.reason, each.atoms) for each in differences if each.what == "reference unsolvable")
    closed = next(unsolvable, None) if closure is None else frozenset(_lines(closure) or ())
    shown = ProblemVerdict(**found, separating_atom=atom, separating_side=side, separating_plan=separating)
    return shown, closed


def _lines(text: str | None) -> tuple[Atom, ...] | None:
    return None if text is None else tuple(tuple(line.split(" ")) for line in text.splitlines())


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
    return _answers(_PLANS, columns, _flags(options), "plan_detail", _plan_detail)


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
    answers = _answers(_DOMAINS, columns, _flags(options), "domain_detail", _domain_detail)
    if answers is not None:
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
    >>> row is None or row["domain_verdict"]
    'identical'
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


def _answers(
    what: int, columns: Sequence[pa.Array], flags: int, detail: str, words: Callable[[str | None], Any]
) -> Answers | None:
    """What the library makes of a batch; ``words`` are those of its column ``detail``."""
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
    found = dict(zip((field.name for field in scored.type), scored.flatten(), strict=True))
    left = found.pop("left")
    if found[detail].null_count < len(left):
        found[detail] = pa.array(map(words, found[detail].to_pylist()), pa.string())
    return {name: _plain(column) for name, column in found.items()}, left


def count_left(left: pa.Array) -> dict[str, int]:
    """How many rows were left, by reason.

    >>> count_left(pa.array([None, "domain"]))
    {'domain': 1}
    """
    return dict(sorted(Counter(left.drop_null().to_pylist()).items()))


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
    named = [pc.if_else(pc.equal(column, ""), None, column) for column in given]
    found = pc.coalesce(*named, pa.scalar(options.domain or None, pa.large_string()))
    if isinstance(found, pa.Scalar):
        found = pa.repeat(found, len(rows["reference_problem"]))
    name = pc.replace_substring(pc.utf8_lower(pc.utf8_trim_whitespace(found)), "_", "-")
    return [pc.if_else(pc.match_substring(found, "("), found, name).cast(pa.large_string())]


def _plain(column: pa.Array) -> pa.Array:
    return column.cast(pa.string()) if column.type == pa.large_string() else column


@lru_cache(maxsize=4096)
def _detail(difference: str | None) -> str | None:
    """The detail of a row: its differences in the words of the definition."""
    if difference is None:
        return None
    said = (sentence(each) if isinstance(each, Difference) else each for each in _differences(difference))
    return "; ".join(said)


def _differences(said: str) -> list[Difference | str]:
    """The differences of a row, and what else is said of it in the words of the definition."""
    return [_difference(*part.split(_BETWEEN_WORDS)) for part in said.split(_BETWEEN_DIFFERENCES)]


def _difference(what: str, *words: str) -> Difference | str:
    if what in REFUSALS:
        return refusal(what, *words)
    match what:
        case "drafts":
            return note_on_drafts(True, "first")
        case "no reference":
            return NO_REFERENCE
        case "ill-typed":
            return _fate(what, *words)
        case "ill-typed predicate":
            why = no_such_predicate(words[1])
        case "ill-typed arguments":
            why = wrong_number_of_arguments(words[1], int(words[2]), int(words[3]))
        case "ill-typed argument":
            why = wrong_type(words[1], int(words[2]), words[3], words[4])
        case _:
            return Difference(what, **dict(_field(*word.split("=", 1)) for word in words))
    return ill_typed_problem(f"{words[0]}: {why}")


def _field(name: str, value: str) -> tuple[str, Any]:
    """A field of a difference."""
    match name:
        case "found" | "expected":
            return name, int(value)
        case "atoms":
            return name, tuple(tuple(atom.split()) for atom in value.split(","))
        case "reason":
            return name, _PROOFS[value].says if value in _PROOFS else _fate(*value.split(":"))
    return name, tuple(value.split())


@lru_cache(maxsize=4096)
def _plan_detail(notes: str | None) -> str | None:
    """The detail of a pair of plans: its notes in the words of the definition."""
    if notes is None:
        return None
    return detail_of(_note(*part.split(_BETWEEN_WORDS)) for part in notes.split(_BETWEEN_DIFFERENCES))


def _note(what: str, whose: str = "", *words: str) -> str:
    match what:
        case "empty":
            return EMPTY
        case "no answer":
            return NO_ANSWER
        case "goal":
            first = words[0] if words[0].startswith("(") else tuple(words[0].split())
            return goal_not_reached(whose, first, int(words[1]))
        case "not read":
            return not_read(_place(whose, *words))
    step, why, *rest = words
    if why == "unread":
        return failure(whose, int(step), cannot_be_read(_place(*rest)))
    return failure(whose, int(step), _fault(tuple(rest[0].split(" ")), why, *rest[1:]))


def _place(line: str, column: str, text: str) -> str:
    return str(Unread(int(line), int(column), text))


@lru_cache(maxsize=4096)
def _domain_detail(notes: str | None) -> str | None:
    """The detail of a pair of domains: its notes in the words of the definition."""
    if notes is None:
        return None
    return detail_of(_domain_note(*part.split(_BETWEEN_WORDS)) for part in notes.split(_BETWEEN_DIFFERENCES))


def _domain_note(what: str, *words: str) -> str:  # noqa: C901 (one case a sentence)
    match what:
        case "no domain":
            return NO_DOMAIN_GIVEN
        case "not found":
            return NO_DOMAIN
        case "never closed":
            return f"the domain {NEVER_CLOSED}"
        case "drafts":
            return note_on_drafts(True, *words)
        case "operator count":
            return another_count(int(words[0]), int(words[1]), words[2].split(), words[3].split())
        case "renamed":
            return in_other_words(list(zip(words[::2], words[1::2], strict=True)))
        case "lacks" | "has":
            return literal_sentence(words[0], words[1], what, words[2], tuple(words[3].split()))
        case "parameters":
            return parameters_sentence(words[0], words[1], int(words[2]), int(words[3]))
        case "parameter type":
            name, parameter, type_, theirs, expected, wanted = words
            return type_sentence((name, parameter, (type_,)), (theirs, expected, (wanted,)))
        case "ill-typed":
            side, operator, shown, why, *rest = words
            return ill_typed_domain(side, in_operator(operator, _misfit(tuple(shown.split()), why, *rest)))
        case "reference's plan" | "generated plan" | "no reference plan" | "no generated plan":
            return _EXCHANGED[what] + _fate(*words)
    return {"no renaming": NO_RENAMING, "types": OTHER_TYPES}[what]


def _misfit(atom: Atom, why: str, *words: str) -> str:
    """Why the declarations do not admit an atom."""
    match why:
        case "predicate":
            reason = no_such_predicate(atom[0])
        case "arguments":
            reason = wrong_number_of_arguments(atom[0], int(words[0]), len(atom) - 1)
        case _:
            reason = wrong_type(atom[0], int(words[0]), *words[1:])
    return f"{show_atom(atom)}: {reason}"


_EXCHANGED = {
    "reference's plan": REFERENCE_PLAN,
    "generated plan": GENERATED_PLAN,
    "no reference plan": NO_REFERENCE_PLAN,
    "no generated plan": NO_GENERATED_PLAN,
}


def _fate(what: str, *words: str) -> str:
    """Why a plan is not valid, or there is none."""
    match what:
        case "ill-typed":
            return ill_typed_problem(_misfit(tuple(words[0].split()), *words[1:]))
        case "goal":
            return goal_not_reached("", tuple(words[0].split()), int(words[1]))
        case "step":
            step, action, why, *rest = words
            return failure("", int(step), _fault(tuple(action.split()), why, *rest))
        case "not added":
            return never_added(tuple(words[0].split()))
        case "ran out":
            return ran_out(int(words[0]))
        case "no state":
            return no_state(int(words[0]))
    return {"excluded": EXCLUDED, "out of reach": OUT_OF_REACH, "each way": EACH_WAY}[what]


def _fault(action: Action, why: str, *words: str) -> str:
    """Why an action cannot be executed."""
    nothing = frozenset[Atom]()
    match why:
        case "unknown":
            operators = [Operator(name, (), nothing, nothing, nothing, nothing) for name in words[0].split()]
        case "arguments":
            parameters = tuple((f"?{number}", ("object",)) for number in range(int(words[0])))
            operators = [Operator(action[0], parameters, nothing, nothing, nothing, nothing)]
        case "equation":
            return different(action, *words)
        case "needs":
            return needs(action, [tuple(atom.split()) for atom in words[0].split(",")])
        case "needs false":
            return needs_false(action, [tuple(atom.split()) for atom in words[0].split(",")])
        case "needs that":
            return needs_that(action, words)
        case "no value":
            return f"{show_atom(action)}: {no_value(tuple(words[0].split()))}"
        case "no object":
            return no_object(action, *words)
        case _:
            return not_of_type(action, words[0], words[1:2], words[2:])
    found = ground_operator(action, Domain("", {}, {}, {}, tuple(operators)))
    assert isinstance(found, Failure)
    return found.reason
