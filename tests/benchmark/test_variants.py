"""Labels of variants: against exhaustive search on small references, and against the program's judge on real ones."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from pddl_eval.benchmark.answers import RECIPES, Grade, Labels, surely_different
from pddl_eval.benchmark.blocksworld import BLOCKSWORLD, tower
from pddl_eval.benchmark.enumeration import Pair, benchmark_pairs
from pddl_eval.benchmark.original import Original
from pddl_eval.benchmark.variants import PRESETS, Preset, draw_variant, variant_of
from pddl_eval.definition.model import Problem, problem_to_pddl
from pddl_eval.definition.pddl import Unreadable, read_problem
from pddl_eval.scoring.api import compare_problems

from tests.judges import exhaustive
from tests.support.benchmark_problems import some_problems
from tests.support.random_problems import random_problem
from tests.support.volume import in_two_sizes

HELD = "(define (problem p) (:domain {}) (:objects a) (:init (holding a)) (:goal (clear a)))"


@pytest.fixture(scope="module")
def small_pairs() -> list[Pair]:
    """Some pairs of at most 25 propositions."""
    return list(benchmark_pairs(problem for problem in some_problems() if problem.size <= 25))[::3]


def original_of(pair: Pair) -> Original:
    return Original(pair.described.pddl, pair.is_placeholder)


def judged_exhaustively(original: Original, answer: str) -> Labels:
    """What is true of the answer by enumeration of all states and all bijections."""
    found = read_problem(answer)
    if isinstance(found, Unreadable):
        return Labels(False, False, False, False)
    if found.domain != original.problem.domain:
        return Labels(True, False, False, False)
    return Labels(
        True,
        exhaustive.solvable(found) and exhaustive.well_typed(found),
        exhaustive.equivalent(original.problem, found, original.is_placeholder),
        exhaustive.equivalent(original.problem, found, original.is_placeholder, typed=False),
    )


def agrees(truth: Labels, labels: Labels) -> bool:
    return (truth.parseable, truth.equivalent, truth.equivalent_untyped) == (
        labels.parseable,
        labels.equivalent,
        labels.equivalent_untyped,
    ) and labels.solvable in (None, truth.solvable)


@pytest.mark.parametrize("domain", ["blocksworld", "gripper", "floor-tile"])
@pytest.mark.parametrize("is_placeholder", [False, True])
@in_two_sizes(8, full=400)
def test_labels_are_what_exhaustive_search_finds(domain: str, is_placeholder: bool, cases: int) -> None:
    """On references with held and frozen blocks, wrong types, isolated tiles and whatever else a domain allows."""
    random = Random(f"{domain} {is_placeholder}")
    tried: Counter[str] = Counter()
    while tried.total() < cases:
        try:
            original = Original(problem_to_pddl(random_problem(random, domain)), is_placeholder)
        except ValueError:
            continue
        for kind in random.sample(sorted(RECIPES), 6):
            variant = variant_of(original, kind, random)
            if variant:
                tried[kind] += 1
                truth = judged_exhaustively(original, variant.text)
                assert agrees(truth, variant.labels), (kind, truth, original.text, variant.text)
    assert len(tried) > min(25, cases / 3)


@pytest.mark.parametrize("preset", PRESETS)
def test_the_judge_agrees_with_the_labels(preset: str, small_pairs: list[Pair]) -> None:
    random = Random(preset)
    for pair in small_pairs:
        original = original_of(pair)
        variant = draw_variant(original, PRESETS[preset], random)
        verdict = compare_problems(original.text, variant.text, is_placeholder=original.is_placeholder)
        for column in ("parseable", "solvable", "equivalent", "equivalent_untyped"):
            label, found = getattr(variant.labels, column), getattr(verdict, column)
            assert label is None or found == label, (
                variant.recipe,
                column,
                verdict.verdict,
                original.text,
                variant.text,
            )


def test_every_recipe_is_drawn(small_pairs: list[Pair]) -> None:
    random = Random(1)
    drawn = Counter(draw_variant(original_of(pair), PRESETS["every-kind"], random).recipe for pair in small_pairs * 2)
    assert set(drawn) >= set(RECIPES) - {"types_removed", "goal_objects_swapped"}


def test_a_preset_has_the_shares_that_the_paper_reports(small_pairs: list[Pair]) -> None:
    """GPT-4o: 96.1 % parseable, 94.4 % solvable, 24.8 % correct (section 5), up to the chance of 2000 draws."""
    random, references = Random(0), [original_of(pair) for pair in small_pairs[:100]]
    drawn = [draw_variant(random.choice(references), PRESETS["zero-shot"], random).labels for _ in range(2000)]
    shares = [
        sum(bool(getattr(label, name)) for label in drawn) / 2000 for name in ("parseable", "solvable", "equivalent")
    ]
    assert shares == [pytest.approx(share, abs=0.03) for share in (0.961, 0.944, 0.248)]


@pytest.mark.parametrize("preset", PRESETS.values(), ids=list(PRESETS))
def test_presets_name_recipes_and_grades_that_exist(preset: Preset) -> None:
    assert set(preset.weights) <= set(RECIPES)
    assert set(preset.shares) <= {recipe.grade for recipe in RECIPES.values()} == set(Grade)


def test_an_answer_depends_on_nothing_but_its_seed(small_pairs: list[Pair]) -> None:
    for pair in small_pairs[:20]:
        first, second = (draw_variant(original_of(pair), PRESETS["zero-shot"], Random("7")) for _ in range(2))
        assert first == second


def test_of_an_ill_typed_answer_no_solution_is_promised(small_pairs: list[Pair]) -> None:
    originals = {(found := original_of(pair)).problem.domain: found for pair in small_pairs}
    for domain, solvable in {"blocksworld": True, "gripper": True, "floor-tile": False}.items():
        variant = variant_of(originals[domain], "init_unknown_predicate", Random(0))
        assert variant and variant.labels == Labels(True, solvable, False, False)


def test_of_an_unknown_domain_no_solution_is_promised() -> None:
    original = Original(HELD.format("nowhere"))
    renamed = variant_of(original, "renamed", Random(0))
    assert renamed and renamed.labels == Labels(True, None, True, True)
    assert variant_of(original, "goal_contradictory", Random(0)) is None
    drawn = {draw_variant(original, PRESETS["every-kind"], Random(seed)).recipe for seed in range(200)}
    assert drawn >= {"object_added", "wrong_domain", "cut_off", "init_atom_lost"}


@pytest.mark.parametrize("goal", ["(and (clear a) (holding a))", "(on a a)"])
def test_a_reference_without_a_solution_is_refused(goal: str) -> None:
    with pytest.raises(ValueError, match="no solution"):
        Original(HELD.format("blocksworld").replace("(clear a)", goal))


def test_a_domain_may_be_given_as_pddl() -> None:
    from pddl_eval.definition.domains.blocksworld import PDDL

    original = Original(HELD.format("mine"), domain=PDDL.replace("blocksworld", "mine"))
    assert original.closures == (frozenset({("arm-empty",), ("clear", "a"), ("on-table", "a")}),)


@pytest.mark.parametrize("heights", [(2, 3), (1, 1, 2), (4,)])
def test_the_invariant_never_tells_isomorphic_scenes_apart(heights: tuple[int, ...]) -> None:
    random = Random(str(heights))
    init, objects = frozenset(tower(heights).atoms), dict.fromkeys(BLOCKSWORLD.objects(heights), "object")
    for _ in range(50):
        names = dict(zip(objects, random.sample(list(objects), len(objects)), strict=True))
        renamed = exhaustive.renamed_state(init, names)
        assert not surely_different(objects, (init, init), (renamed, renamed))
        moved = exhaustive.isomorphisms(
            Problem("", "", objects, init, init), Problem("", "", objects, init, renamed), init, init
        )
        undone = any(exhaustive.renamed_state(init, bijection) == renamed for bijection in moved)
        assert not (undone and surely_different(objects, (init, init), (init, renamed)))
