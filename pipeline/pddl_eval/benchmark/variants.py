"""Answers to a reference problem with what a right judge must say about each, drawn by a preset's shares.

A kind's labels hold by its construction, which its docstring argues. No label is asked from the comparison of problems
that variants are there to test; closures, which exhaustive search tests, are used where a docstring says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from random import Random

from pddl_eval.benchmark import changes, damage, rewritings
from pddl_eval.benchmark.labels import LABELS, Labels, Outcome
from pddl_eval.benchmark.presets import Preset
from pddl_eval.benchmark.reference import Reference

Make = Callable[[Reference, Random], str | None]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of answer: the function that makes it, and what it comes to with and without types."""

    make: Make
    outcome: Outcome
    equivalent_untyped: bool

    @property
    def labels(self) -> Labels:
        return replace(LABELS[self.outcome], equivalent_untyped=self.equivalent_untyped)


@dataclass(frozen=True, slots=True)
class Variant:
    """An answer, its kind, and its labels."""

    text: str
    kind: str
    labels: Labels


def _kinds(outcome: Outcome, *makers: Make, equivalent_untyped: bool | None = None) -> dict[str, Kind]:
    if equivalent_untyped is None:
        equivalent_untyped = LABELS[outcome].equivalent_untyped
    return {make.__name__: Kind(make, outcome, equivalent_untyped) for make in makers}


KINDS: Mapping[str, Kind] = {
    **_kinds(
        Outcome.CORRECT,
        rewritings.identical,
        rewritings.shuffled,
        rewritings.renamed,
        rewritings.implied_atoms_left_out,
        rewritings.implied_atoms_added,
        rewritings.goal_renamed,
        rewritings.in_prose,
        rewritings.in_a_fence,
        rewritings.in_upper_case,
        rewritings.commented,
    ),
    **_kinds(
        Outcome.SOLVABLE,
        changes.init_atom_added,
        changes.init_unknown_predicate,
        changes.init_other,
        changes.object_added,
        changes.goal_atom_lost,
        changes.goal_weakened,
        changes.goal_strengthened,
        changes.goal_objects_swapped,
        changes.goal_other,
    ),
    **_kinds(Outcome.SOLVABLE, changes.types_added, equivalent_untyped=True),
    **_kinds(Outcome.UNSOLVABLE, changes.goal_contradictory, changes.goal_unknown_predicate, changes.wrong_domain),
    **_kinds(Outcome.UNSOLVABLE, changes.types_removed, equivalent_untyped=True),
    **_kinds(Outcome.OPEN, changes.init_atom_lost),
    **_kinds(
        Outcome.UNPARSEABLE,
        damage.cut_off,
        damage.unbalanced,
        damage.undeclared_object,
        damage.negated_goal,
        damage.no_goal,
        damage.refused,
        damage.empty,
    ),
}
"""All kinds of answers, by name."""


def draw_variant(reference: Reference, preset: Preset, random: Random) -> Variant:
    """One answer: its outcome by the preset's shares, its kind among those of the outcome that apply.

    Each outcome has a kind that applies to every reference but those without any initial atom; where none does, the
    answer is the reference rewritten. A solution is promised only where the reference is known to have one.

    >>> from pddl_eval.benchmark.presets import PRESETS
    >>> held = "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"
    >>> drawn = draw_variant(Reference(held), PRESETS["every-kind"], Random(1))
    >>> drawn.kind, drawn.labels.equivalent
    ('identical', True)
    """
    outcomes = list(preset.shares)
    outcome = random.choices(outcomes, [preset.shares[each] for each in outcomes])[0]
    answers = (
        variant_of(reference, kind, random) for kind in (*_in_weighted_order(outcome, preset, random), "shuffled")
    )
    return next(answer for answer in answers if answer)


def variant_of(reference: Reference, kind: str, random: Random) -> Variant | None:
    """An answer of that kind, None where it does not apply; ``KeyError`` where there is no such kind."""
    text = KINDS[kind].make(reference, random)
    if text is None:
        return None
    labels = KINDS[kind].labels
    if not reference.closures and labels.solvable:
        labels = replace(labels, solvable=None)
    return Variant(text, kind, labels)


def _in_weighted_order(outcome: Outcome, preset: Preset, random: Random) -> list[str]:
    """The outcome's kinds, each next one drawn by weight among those that are left (Efraimidis and Spirakis)."""
    weights = {name: preset.weights.get(name, 1) for name, kind in KINDS.items() if kind.outcome == outcome}
    keys = {name: random.random() ** (1 / weight) for name, weight in weights.items() if weight > 0}
    return sorted(keys, key=keys.__getitem__, reverse=True)
