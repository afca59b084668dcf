"""Verdicts on pairs whose answer is known from the definition, and the words that go with them."""

from __future__ import annotations

import pyarrow as pa
import pytest
from pddl_eval import DomainScores, compare_domains, compare_plans, compare_problems, compare_tasks, validate
from pddl_eval.definition import comparison, words
from pddl_eval.definition.budget import or_undecided
from pddl_eval.definition.domains import known_domain
from pddl_eval.definition.model import Problem, State
from pddl_eval.definition.pddl import misfits, parse_domain
from pddl_eval.definition.task import Task, read_task
from pddl_eval.definition.verdict import ProblemVerdict, Undecided, Verdict
from pddl_eval.definition.words import Difference
from pddl_eval.scoring.budget import row_budget

from tests.support.shared_problems import SHARED_PROBLEMS, needs_shared_problems


def atoms(text: str) -> State:
    return frozenset(tuple(atom.split()) for atom in text.split(",") if atom.strip())


def blocks(init: str, goal: str, names: str = "a b c", types: str = "object", domain: str = "blocksworld") -> Problem:
    return Problem("p", domain, dict.fromkeys(names.split(), types), atoms(init), atoms(goal))


TABLE = "arm-empty, clear a, clear b, clear c, on-table a, on-table b, on-table c"
TOWER = "on a b, on b c"


def compare(
    reference: Problem, generated: Problem, is_placeholder: bool = False, domain: str | None = "blocksworld"
) -> ProblemVerdict:
    known = known_domain(domain) if domain else None
    return comparison.compare(Task(reference, known), Task(generated, known), is_placeholder, check_solvable=False)


def test_the_same_atoms_are_identical() -> None:
    decision = compare(blocks(TABLE, TOWER), blocks(TABLE, TOWER))
    assert (decision.equivalent, decision.verdict) == (True, Verdict.IDENTICAL)
    assert decision.object_map == {"a": "a", "b": "b", "c": "c"}


def test_renamed_objects_are_isomorphic_and_the_map_says_how() -> None:
    renamed = blocks(
        "arm-empty, clear x, clear y, clear z, on-table x, on-table y, on-table z", "on x y, on y z", "x y z"
    )
    decision = compare(blocks(TABLE, TOWER), renamed)
    assert (decision.equivalent, decision.verdict) == (True, Verdict.ISOMORPHIC)
    assert decision.object_map == {"x": "a", "y": "b", "z": "c"}


def test_implied_atoms_make_no_difference() -> None:
    full = blocks(TABLE, TOWER + ", clear a, on-table c, arm-empty")
    decision = compare(full, blocks(TABLE, TOWER))
    assert (decision.equivalent, decision.verdict) == (True, Verdict.EQUIVALENT)
    assert decision.object_map is not None


def test_swapped_blocks_are_another_goal_unless_the_start_is_symmetric() -> None:
    start = "arm-empty, clear a, on a b, on-table b, clear c, on-table c"
    swapped = compare(blocks(start, "on a b, on b c"), blocks(start, "on a c, on c b"))
    assert (swapped.equivalent, swapped.verdict) == (False, Verdict.GOAL_DIFFERS)
    symmetric = compare(blocks(TABLE, "on a b, on b c"), blocks(TABLE, "on a c, on c b"))
    assert (symmetric.equivalent, symmetric.verdict) == (True, Verdict.ISOMORPHIC)


def test_placeholder_mode_compares_the_scenes_separately() -> None:
    start = "arm-empty, clear a, on a b, on-table b, clear c, on-table c"
    decision = compare(blocks(start, "on a b, on b c"), blocks(start, "on a c, on c b"), is_placeholder=True)
    assert (decision.equivalent, decision.verdict) == (True, Verdict.EQUIVALENT)
    assert decision.object_map == {"a": "a", "b": "b", "c": "c"}
    assert decision.goal_object_map == {"a": "a", "c": "b", "b": "c"}


def test_goal_differs_names_an_atom_that_the_other_goal_does_not_imply() -> None:
    start = "arm-empty, clear a, on a b, on-table b, clear c, on-table c"
    decision = compare(blocks(start, "on a c"), blocks(start, "on b c"))
    assert decision.separating_atom == ("on", "a", "c")
    assert decision.separating_side == "reference"
    assert decision.detail == "the goal does not imply (on a c), which the reference asks for"
    stronger = compare(blocks(start, "on a c"), blocks(start, "on a c, on c b"))
    assert stronger.separating_atom == ("on", "c", "b")
    assert stronger.detail == "the goal asks for (on c b), which the reference's goal does not imply"


def test_a_lost_initial_atom_is_named() -> None:
    decision = compare(blocks(TABLE, TOWER), blocks(TABLE.replace("clear b, ", ""), TOWER))
    assert (decision.equivalent, decision.verdict) == (False, Verdict.INIT_DIFFERS)
    assert decision.detail == "the initial state lacks (clear b)"


def test_object_count_names_what_is_missing() -> None:
    two = blocks("arm-empty, clear a, clear b, on-table a, on-table b", "on a b", "a b")
    decision = compare(blocks(TABLE, TOWER), two)
    assert (decision.equivalent, decision.verdict) == (False, Verdict.OBJECT_COUNT)
    assert decision.detail == "2 objects instead of 3; missing: c"


def test_added_types_are_a_strict_no_and_an_untyped_yes() -> None:
    decision = compare(blocks(TABLE, TOWER), blocks(TABLE, TOWER, types="block"))
    assert (decision.equivalent, decision.equivalent_untyped) == (False, True)
    assert decision.verdict == Verdict.TYPES_DIFFER
    assert decision.detail == "a has type block instead of object"


def test_another_domain_is_a_mismatch() -> None:
    decision = compare(blocks(TABLE, TOWER), blocks(TABLE, TOWER, domain="blocks"))
    assert (decision.equivalent, decision.equivalent_untyped) == (False, False)
    assert decision.verdict == Verdict.DOMAIN_MISMATCH
    assert decision.detail == "the domain is blocks instead of blocksworld"


@pytest.mark.parametrize(
    "goal", ["on a a", "on a b, on c b", "on a b, on b a", "holding a, holding b", "on a b, clear b"]
)
def test_an_impossible_goal_is_unsolvable_and_as_a_reference_a_mistake(goal: str) -> None:
    assert compare(blocks(TABLE, TOWER), blocks(TABLE, goal)).verdict == Verdict.UNSOLVABLE
    invalid = compare(blocks(TABLE, goal), blocks(TABLE, goal))
    assert (invalid.equivalent, invalid.verdict) == (None, Verdict.REFERENCE_INVALID)


def test_an_unknown_domain_is_decided_only_where_no_closure_is_needed() -> None:
    def ferry(goal: str, domain: str = "ferry") -> Problem:
        return Problem("p", domain, {"a": "object"}, atoms("at a"), atoms(goal))

    assert compare(ferry("at a"), ferry("at a"), domain=None).equivalent is True
    assert compare(ferry("on a"), ferry("at a"), domain=None).verdict == Verdict.UNDECIDED


def test_five_hundred_balls_and_three_hundred_blocks_are_decided() -> None:
    balls = [f"ball{i}" for i in range(500)]
    init = {("room", "x"), ("room", "y"), ("gripper", "l"), ("free", "l"), ("at-robby", "x")}
    init |= {("ball", ball) for ball in balls} | {("at", ball, "x") for ball in balls}
    objects = dict.fromkeys(["x", "y", "l", *balls], "object")
    moved = Problem("p", "gripper", objects, frozenset(init), frozenset(("at", ball, "y") for ball in balls))
    all_but_one = Problem("p", "gripper", objects, frozenset(init), frozenset(("at", ball, "y") for ball in balls[1:]))
    another = Problem("p", "gripper", objects, frozenset(init), frozenset(("at", ball, "y") for ball in balls[:-1]))
    assert compare(all_but_one, another, domain="gripper").verdict == Verdict.ISOMORPHIC
    assert compare(moved, all_but_one, domain="gripper").verdict == Verdict.GOAL_DIFFERS

    names = [f"b{i}" for i in range(300)]
    on_table = {("clear", b) for b in names} | {("on-table", b) for b in names} | {("arm-empty",)}
    tower = {("on", names[i], names[i + 1]) for i in range(299)}
    backwards = {("on", names[i + 1], names[i]) for i in range(299)}
    stacked = Problem("p", "blocksworld", dict.fromkeys(names, "object"), frozenset(on_table), frozenset(tower))
    reversed_ = Problem(
        "p", "blocksworld", dict.fromkeys(names, "object"), frozenset(on_table), frozenset(backwards | {("arm-empty",)})
    )
    assert compare(stacked, reversed_, domain="blocksworld").verdict == Verdict.EQUIVALENT


@pytest.mark.parametrize(
    ("generated", "sentence"),
    [
        (blocks(TABLE, TOWER), "the same atoms"),
        (blocks(TABLE, TOWER + ", arm-empty"), "the goals agree once fully specified: 2 implied atoms added"),
        (blocks(TABLE, TOWER, domain="blocks"), "the domain is blocks instead of blocksworld"),
        (blocks("arm-empty", "", "a b"), "2 objects instead of 3; missing: c"),
        (blocks(TABLE, TOWER, types="block"), "a has type block instead of object"),
        (blocks(TABLE + ", holding a", TOWER), "the initial state has (holding a), which is not in the reference"),
        (blocks(TABLE, "on a a"), "the goal is out of reach: (on a a) is never true"),
        (blocks(TABLE, "on a b, on-table c"), "the goal does not imply (on b c), which the reference asks for"),
    ],
)
def test_a_difference_is_plain_enough_for_arrow_and_then_says_the_same(generated: Problem, sentence: str) -> None:
    known = known_domain("blocksworld")
    decision = comparison.decided(Task(blocks(TABLE, TOWER), known), Task(generated, known), False)
    (back,) = pa.array([decision.difference.fields]).to_pylist()
    back = {name: tuple(field) if isinstance(field, list) else field for name, field in (back or {}).items()}
    assert Difference(decision.difference.what, **back) == decision.difference
    assert words.sentence(decision.difference).startswith(sentence)


# --- What the declarations of a typed domain do not admit makes a problem ill-typed: it has no solution, as VAL says


FLOOR = """(define (problem p) (:domain floor-tile)
  (:objects r - robot t1 t2 - tile c - color)
  (:init (robot-at r t1) (robot-has r c) (available-color c) (up t2 t1))
  (:goal (and (painted t2 c))))"""

BLOCKS = """(define (problem p) (:domain blocksworld) (:objects a b)
  (:init (arm-empty) (clear a) (on-table a) (clear b) (on-table b)) (:goal (and (on a b))))"""

LORRY = """(define (domain lorry) (:types place lorry - object big - lorry)
  (:predicates (at ?l - lorry ?p - place) (allowed ?p - place))
  (:action drive :parameters (?l - lorry ?from ?to - place) :precondition (and (at ?l ?from) (allowed ?to))
    :effect (and (at ?l ?to) (not (at ?l ?from)))))"""

DRIVE = """(define (problem p) (:domain lorry) (:objects l - lorry a b - place)
  (:init (at l a) (allowed b)) (:goal (and (at l b))))"""


def added(problem: str, atom: str) -> str:
    return problem.replace("(:init", f"(:init {atom}")


@pytest.mark.parametrize(
    "atom", ["(polished t1)", "(available-color t2)", "(up t1)", "(robot-at t1 r)", "(painted t1 c c)"]
)
def test_an_ill_typed_atom_leaves_no_solution(atom: str) -> None:
    verdict = compare_problems(FLOOR, added(FLOOR, atom))
    assert (verdict.verdict.value, verdict.equivalent, verdict.solvable, verdict.plan) == (
        "init_differs",
        False,
        False,
        None,
    )
    assert "ill-typed" in verdict.detail and atom in verdict.detail


@pytest.mark.parametrize("place", ["(:init", "(:goal (and"])
@pytest.mark.parametrize(("text", "domain"), [(FLOOR, None), (DRIVE, LORRY)])
def test_an_ill_typed_reference_is_invalid_everywhere(text: str, domain: str | None, place: str) -> None:
    ill_typed = text.replace(place, f"{place} (polished t1 t1)".replace("t1 t1", "r" if text is FLOOR else "l"))
    for generated in (ill_typed, text, "nothing"):
        for verdict in (
            compare_problems(ill_typed, generated, domain=domain),
            compare_problems(ill_typed, generated, domain=domain, is_placeholder=True),
        ):
            assert (verdict.verdict, verdict.equivalent) == ("reference_invalid", None)
            assert verdict.equivalent_untyped is None
            assert "polished" in verdict.detail
    assert validate("", ill_typed, domain).verdict == "reference_invalid"
    own = domain or known_domain("floor-tile").domain
    task = compare_tasks(own, ill_typed, own, ill_typed)
    assert task.equivalent is None and "polished" in task.detail


def test_untyped_domains_admit_undeclared_atoms() -> None:
    verdict = compare_problems(BLOCKS, added(BLOCKS, "(polished a)"))
    assert (verdict.verdict.value, verdict.solvable) == ("init_differs", True)
    assert "ill-typed" not in verdict.detail


def test_without_the_question_of_solvability_nothing_is_said_of_types() -> None:
    verdict = compare_problems(FLOOR, added(FLOOR, "(polished t1)"), check_solvable=False)
    assert (verdict.solvable, "ill-typed" in verdict.detail) == (None, False)


def test_no_plan_is_judged_in_an_ill_typed_problem() -> None:
    plan = "(paint-up r t2 t1 c)"
    assert compare_plans(plan, plan, problem=FLOOR).plan_valid is True
    scores = compare_plans(plan, plan, problem=added(FLOOR, "(available-color t2)"))
    assert (scores.plan_valid, scores.goal_reached, scores.plan_verdict) == (None, None, "reference_invalid")
    assert "(available-color t2)" in scores.detail


def test_subtypes_fit_and_a_domain_without_declarations_admits_every_atom() -> None:
    for change in ({"l - lorry": "l - big"}, {}):
        text = DRIVE
        for old, new in change.items():
            text = text.replace(old, new)
        assert compare_problems(text, text, domain=LORRY).solvable is True
    undeclared = LORRY.replace("(:predicates (at ?l - lorry ?p - place) (allowed ?p - place))", "")
    assert compare_problems(DRIVE, added(DRIVE, "(polished a)"), domain=undeclared).solvable is True
    assert compare_problems(DRIVE, added(DRIVE, "(polished a)"), domain=LORRY).solvable is False


VAL = [
    ("", "", True),
    # Parameters of a type that does not fit, or of none.
    ("(?l - lorry ?from", "(?l ?from", False),
    ("(?l - lorry ?from ?to - place)", "(?l - lorry ?from ?to)", False),
    ("lorry - object big - lorry)", "big - object lorry - big)", True),
    ("(?l - lorry ?from", "(?l - (either lorry big) ?from", True),
    ("(?l - lorry ?from", "(?l - (either lorry place) ?from", False),
    ("(?l - lorry ?from", "(?l - (either place lorry) ?from", False),
    ("(at ?l - lorry ?p - place)", "(at ?l - (either place lorry) ?p - place)", True),
    # Too many and too few arguments.
    ("(at ?l ?to)", "(at ?l ?to) (allowed ?l ?to)", False),
    ("(allowed ?to)", "(allowed)", False),
    ("(allowed ?to)", "(not (allowed))", False),
    # A predicate that is not declared; no declarations at all.
    (" (allowed ?p - place)", "", False),
    ("(:predicates (at ?l - lorry ?p - place) (allowed ?p - place))", "", True),
    # The first of two declarations counts.
    ("(allowed ?p - place)", "(allowed ?p - place) (allowed)", True),
    ("(allowed ?p - place)", "(allowed) (allowed ?p - place)", False),
    ("(allowed ?p - place)", "(allowed ?p - lorry) (allowed ?p - place)", False),
    # Constants.
    ("big - lorry)", "big - lorry) (:constants home - place)", True),
    # An operator that no plan uses, and an equation, which has no declaration.
    ("(:action drive", "(:action wash :parameters (?l - lorry) :effect (allowed ?l)) (:action drive", False),
    ("(allowed ?to))", "(allowed ?to) (not (= ?l ?to)))", True),
    # A domain without types.
    ("(:types place lorry - object big - lorry)", "", True),
]
"""A change of LORRY, and whether VAL (`Validate`, commit 3c7a1f3 of KCL-Planning/VAL) then accepts (drive l a b)."""


@pytest.mark.parametrize(("was", "is_", "accepted"), VAL)
def test_a_plan_is_valid_in_a_domain_where_val_says_so(was: str, is_: str, accepted: bool) -> None:
    assert was in LORRY
    domain = LORRY.replace(was, is_, 1) if was else LORRY
    # Where VAL refuses the domain there is a mistake in the data, and the plan is not judged.
    found = compare_plans("(drive l a b)", "(drive l a b)", problem=DRIVE, domain=domain)
    assert (found.plan_valid, found.plan_verdict) == ((True, "valid") if accepted else (None, "reference_invalid"))
    assert compare_problems(DRIVE, DRIVE, domain=domain).solvable is accepted
    scores = compare_domains(LORRY, domain, problem=DRIVE)
    assert isinstance(scores, DomainScores)
    assert scores.domain_reference_plan_valid is accepted


def test_a_plan_is_not_valid_where_the_problems_lorry_is_not_big() -> None:
    domain = LORRY.replace("(?l - lorry ?from", "(?l - big ?from")
    assert compare_plans("(drive l a b)", "(drive l a b)", problem=DRIVE, domain=domain).plan_valid is False
    assert compare_problems(DRIVE, DRIVE, domain=domain).solvable is False
    # As a domain it is the same in other words: big for lorry. Plans are exchanged in these words.
    scores = compare_domains(LORRY, domain, problem=DRIVE)
    assert (scores.verdict.value, scores.domain_reference_plan_valid) == ("renamed", True)


def test_nothing_is_carried_out_in_an_ill_typed_domain_and_the_rest_is_compared_as_written() -> None:
    wide = LORRY.replace("(?l - lorry", "(?l - object")
    scores = compare_domains(LORRY, wide, problem=DRIVE)
    assert (scores.domain_precision, scores.domain_recall, scores.verdict.value) == (1.0, 1.0, "types_differ")
    assert (scores.domain_plan_valid, scores.domain_reference_plan_valid) == (False, False)
    assert (scores.domain_applicability_recall, scores.domain_predicted_effects_precision) == (0.0, 0.0)
    for said in (scores.detail, compare_domains(LORRY, wide).detail):
        assert "(at ?l ?from)" in said and "lorry, not object" in said
    # Declarations do not count in equivalence, but VAL refuses the domain.
    declared = compare_domains(LORRY, LORRY.replace("(allowed ?p - place)", "(allowed ?p - lorry)"), problem=DRIVE)
    assert (declared.equivalent, declared.domain_plan_valid, declared.domain_reference_plan_valid) == (
        True,
        False,
        False,
    )


def test_against_an_ill_typed_reference_domain_no_behaviour_is_compared() -> None:
    wide = LORRY.replace("(?l - lorry", "(?l - object")
    scores = compare_domains(wide, LORRY, problem=DRIVE)
    assert (scores.domain_recall, scores.verdict.value) == (1.0, "types_differ")
    assert (scores.domain_plan_valid, scores.domain_reference_plan_valid) == (None, None)
    assert scores.domain_applicability_recall is scores.domain_predicted_effects_precision is None
    for said in (
        scores.detail,
        compare_domains(wide, LORRY).detail,
        compare_problems(DRIVE, DRIVE, domain=wide).detail,
    ):
        assert "(at ?l ?from)" in said and "lorry, not object" in said


def test_an_undeclared_type_is_a_plain_object() -> None:
    """That is ours alone: VAL lets no object stand for such a parameter."""
    spare = LORRY.replace("(?l - lorry", "(?m - mood ?l - lorry")
    assert compare_plans("(drive a l a b)", "(drive a l a b)", problem=DRIVE, domain=spare).plan_valid is True
    mood = LORRY.replace("(?l - lorry", "(?l - mood")
    scores = compare_domains(LORRY, mood, problem=DRIVE)
    assert scores.domain_reference_plan_valid is False and "lorry, not mood" in scores.detail


def test_the_time_to_find_an_ill_typed_operator_is_that_of_the_row() -> None:
    chain = " ".join(f"t{number} - t{number + 1}" for number in range(8_000))
    parameters = " ".join(f"?x{number} - t{number}" for number in range(4_000))
    atoms = " ".join(f"(p ?x{number})" for number in range(4_000))
    text = f"""(define (domain d) (:types {chain} u) (:predicates (p ?x - t8000))
      (:action a :parameters ({parameters}) :effect (and {atoms})))"""
    with row_budget(0):
        assert isinstance(or_undecided(lambda: [*misfits(parse_domain(text))]), Undecided)


@needs_shared_problems
def test_the_floors_of_the_benchmark_are_well_typed() -> None:
    import polars as pl

    rows = pl.read_parquet(SHARED_PROBLEMS).filter(pl.col("domain") == "floor-tile")
    for text in rows["problem_pddl"].gather_every(200):
        task = read_task(text)
        assert isinstance(task, Task) and task.domain is known_domain("floor-tile")
        assert task.ill_typed is None
