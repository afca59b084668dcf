"""AMLGym's predictive power: does a domain say which actions apply in a state, and what they do there?

The states are those that random walks visit from the reference problem's initial state in the reference domain
(``visited_states``). Operators match as in ``syntactic``: by name, ``-`` and ``_`` alike, their arguments by position;
predicates and types under equal names. What only the generated domain has is not asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from statistics import fmean
from typing import TYPE_CHECKING

from pddl_eval.budget import check
from pddl_eval.equivalence import Task, operator_name
from pddl_eval.metrics.registry import Column, Metric
from pddl_eval.metrics.syntactic import share, shared_operators
from pddl_eval.model import Atom, Domain, Problem
from pddl_eval.strips import (
    SEED,
    STEPS,
    WALKS,
    GroundingLimitError,
    Instances,
    VisitedStates,
    count_applicable,
    visited_states,
)
from pddl_eval.verdict import Undecided

if TYPE_CHECKING:
    from pddl_eval.metrics.domains import DomainPair

REFERENCES_KEPT = 32
"""Visited states kept for further answers: about 200 KB for a typical problem, at worst some 10 MB."""

SIGNED = f"walks:{WALKS}x{STEPS}|seed:{SEED}"
"""Which states are sampled."""

COLUMNS = tuple(
    Column(
        f"domain_{of}_{measure}", float, f"AMLGym's predictive power: {measure} {meaning}, over sampled states", True
    )
    for of, meaning in (
        ("applicability", "of which actions apply"),
        ("predicted_effects", "of what actions change"),
    )
    for measure in ("precision", "recall")
)


@lru_cache(maxsize=REFERENCES_KEPT)
def _visited(task: Task) -> VisitedStates | Undecided:
    assert task.domain is not None
    return visited_states(task.problem, task.domain.domain)


def predictive_power(
    reference: Domain, generated: Domain, problem: Problem, visited: VisitedStates
) -> tuple[float, float, float, float]:
    """Precision and recall of the actions that apply, then of the atoms that they change, in the visited states.

    For an operator of the reference, count the pairs of a state and an action: those in which the generated domain says
    that the action applies, and it does (true positives), and it does not (false positives), and those in which it
    applies and the generated domain does not say so (false negatives). For the effects, count in each pair in which
    both say that the action applies the atoms that it makes true and those that it makes false: those that the
    generated domain predicts rightly, those that it predicts wrongly, those that it does not predict. An atom that an
    effect leaves as it is does not count. Precision and recall of the domain are averages over the reference's
    operators. A ratio 0/0 is 1, with one exception: where the reference applies an operator and the generated domain
    never does, it predicts none of its effects, and their recall is 0.

    ``problem`` says which objects there are beside each domain's constants. Raises ``GroundingLimitError`` where the
    generated operators apply too often to be counted.
    Source: AMLGym, "Predictive power". Two things are said differently there. Its formulas of the effects count no
    true positive among the atoms that become false, and no false negative among those that become true; what it tests
    (``tests/test_predictive.py`` in its repository) counts both, as here. It gives an operator that the evaluated
    domain never applies recall 0, also where the reference never does, so that no domain would equal itself.

    >>> from pddl_eval.parsing import parse_domain
    >>> text = "(define (domain d) (:action a :precondition (p) :effect (and (r) (not (p)))))"
    >>> domain, problem = parse_domain(text), Problem("p", "d", {}, frozenset({("p",), ("q",)}), frozenset())
    >>> visited = visited_states(problem, domain)
    >>> predictive_power(domain, parse_domain(text.replace("(r)", "(r) (not (q))")), problem, visited)
    (1.0, 1.0, 0.6666666666666666, 1.0)
    """
    same = shared_operators(reference, generated)
    matching = {operator_name(operator): operator for operator in generated.operators}
    wanted = {operator_name(operator) for operator in reference.operators} - same
    asked = replace(generated, operators=tuple(each for name, each in matching.items() if name in wanted))
    ours, theirs = ({**problem.objects, **domain.constants} for domain in (reference, generated))
    predicted = count_applicable(asked, theirs, visited)
    ratios = []
    for operator in reference.operators:
        if operator_name(operator) in same:
            ratios.append((1.0, 1.0, 1.0, 1.0))
            continue
        applicable = visited.applicable.get(operator.name, {})
        expected = Instances(operator, reference, ours, visited)
        other = matching.get(operator_name(operator))
        found = Instances(other, generated, theirs, visited) if other is not None else None
        both = {arguments: states & found.where(arguments) for arguments, states in applicable.items()} if found else {}
        agreed = sum(states.bit_count() for states in both.values())
        said = predicted[other.name] if other is not None else 0
        applies = sum(states.bit_count() for states in applicable.values())
        right = wrong = missed = 0
        for arguments, states in both.items():
            if found is not None and states:
                counts = _changes(expected, found, arguments, states, visited.holds)
                right, wrong, missed = right + counts[0], wrong + counts[1], missed + counts[2]
            check()
        recall = share(right, right + missed) if agreed or not applies else 0.0
        ratios.append((share(agreed, said), share(agreed, applies), share(right, right + wrong), recall))
    one, two, three, four = (fmean(column) for column in zip(*ratios, strict=True))
    return one, two, three, four


def _changes(
    expected: Instances, found: Instances, arguments: tuple[str, ...], states: int, holds: Mapping[Atom, int]
) -> tuple[int, int, int]:
    """Atoms that an action changes and is said to change in these states, only said to change, only changes."""
    right = wrong = missed = 0
    for ours, theirs, added in zip(expected.effects(arguments), found.effects(arguments), (True, False), strict=True):
        for atom in ours | theirs:
            true_before = holds.get(atom, 0)
            changed = (states & (~true_before if added else true_before)).bit_count()
            if atom not in theirs:
                missed += changed
            elif atom in ours:
                right += changed
            else:
                wrong += changed
    return right, wrong, missed


def _score(pair: DomainPair) -> Sequence[float | None]:
    """All None where the domains cannot be carried out; 0 where there is no generated domain."""
    if pair.task is None:
        return [None] * len(COLUMNS)
    if pair.generated is None:
        return [0.0] * len(COLUMNS)
    if pair.same_operators >= set(map(operator_name, pair.reference.operators)):
        return [1.0] * len(COLUMNS)
    visited = _visited(pair.task)
    if isinstance(visited, Undecided):
        pair.notes.append(f"no predictive power: in the reference domain, {visited.reason}")
        return [None] * len(COLUMNS)
    try:
        return predictive_power(pair.reference, pair.generated, pair.task.as_written, visited)
    except GroundingLimitError as limit:
        pair.notes.append(f"no predictive power: in the generated domain, {limit}")
        return [None] * len(COLUMNS)


METRIC = Metric(COLUMNS, _score)
