"""AMLGym's predictive power: does a domain say which actions apply in a state, and what they do there?

The states are those that random walks visit from the reference problem's initial state in the reference domain
(``visited_states``). Operators match as in ``syntactic``: by name, ``-`` and ``_`` alike, their arguments by position;
predicates and types under equal names. What only the generated domain has is not asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from operator import contains
from statistics import fmean

from pddl_eval.definition.budget import spend
from pddl_eval.definition.domain_equivalence import shared_operators
from pddl_eval.definition.grounding import GroundingLimitError, instance, objects_that_fit
from pddl_eval.definition.metrics.domain_pair import DomainPair
from pddl_eval.definition.metrics.registry import Column, Metric
from pddl_eval.definition.metrics.syntactic import share
from pddl_eval.definition.model import Action, Domain, Operator, Problem, State
from pddl_eval.definition.states import SEED, STEPS, WALKS, VisitedStates, count_applicable, visited_states
from pddl_eval.definition.structure import by_name, operator_name
from pddl_eval.definition.verdict import Undecided

SIGNED = f"walks:{WALKS}x{STEPS}|seed:{SEED}"
"""Which states are sampled."""

COLUMNS = tuple(
    Column(
        f"domain_{of}_{measure}",
        float,
        f"AMLGym's predictive power: {measure} {meaning}, over sampled states",
        has_mean=True,
    )
    for of, meaning in (("applicability", "of which actions apply"), ("predicted_effects", "of what actions change"))
    for measure in ("precision", "recall")
)


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

    >>> from pddl_eval.definition.pddl import parse_domain
    >>> text = "(define (domain d) (:action a :precondition (p) :effect (and (r) (not (p)))))"
    >>> domain, problem = parse_domain(text), Problem("p", "d", {}, frozenset({("p",), ("q",)}), frozenset())
    >>> visited = visited_states(problem, domain)
    >>> predictive_power(domain, parse_domain(text.replace("(r)", "(r) (not (q))")), problem, visited)
    (1.0, 1.0, 0.6666666666666666, 1.0)
    """
    same = shared_operators(reference, generated)
    matching = by_name(generated)
    wanted = {operator_name(operator) for operator in reference.operators} - same
    asked = replace(generated, operators=tuple(each for name, each in matching.items() if name in wanted))
    objects = {**problem.objects, **generated.constants}
    predicted = count_applicable(asked, objects, visited)
    applicable: dict[str, dict[Action, tuple[Operator, list[State]]]] = {}
    for state, operators in visited.items():
        spend(len(operators))
        for expected in operators:
            _, states = applicable.setdefault(expected.name, {}).setdefault(expected.action, (expected, []))
            states.append(state)
    ratios = []
    for operator in reference.operators:
        if operator_name(operator) in same:
            ratios.append((1.0, 1.0, 1.0, 1.0))
            continue
        other = matching.get(operator_name(operator))
        fitting = [objects_that_fit(objects, types, generated) for _, types in other.parameters] if other else []
        applies = agreed = right = wrong = missed = 0
        for (_, *arguments), (expected, states) in applicable.get(operator.name, {}).items():
            applies += len(states)
            if other is None or len(arguments) != len(fitting) or not all(map(contains, fitting, arguments)):
                continue
            found = instance(other, arguments)
            if not isinstance(found, Operator):
                continue
            spend(len(states))
            for state in states:
                if found.applicable(state):
                    agreed += 1
                    changed, said_to = _changed(expected, state), _changed(found, state)
                    right += len(changed & said_to)
                    wrong += len(said_to - changed)
                    missed += len(changed - said_to)
        said = predicted[other.name] if other is not None else 0
        recall = share(right, right + missed) if agreed or not applies else 0.0
        ratios.append((share(agreed, said), share(agreed, applies), share(right, right + wrong), recall))
    one, two, three, four = (fmean(column) for column in zip(*ratios, strict=True))
    return one, two, three, four


def _changed(operator: Operator, state: State) -> State:
    """The atoms that a ground operator makes true or false in a state."""
    return (operator.add_effects - state) | ((operator.delete_effects - operator.add_effects) & state)


def _score(pair: DomainPair) -> Sequence[float | None]:
    """All None where the domains cannot be executed; 0 where the generated domain is missing or ill-typed."""
    if pair.task is None:
        return [None] * len(COLUMNS)
    if pair.generated is None or pair.ill_typed:
        return [0.0] * len(COLUMNS)
    if shared_operators(pair.reference, pair.generated) >= set(map(operator_name, pair.reference.operators)):
        return [1.0] * len(COLUMNS)
    visited = visited_states(pair.task.problem, pair.reference)
    if isinstance(visited, Undecided):
        pair.notes.append(f"no predictive power: in the reference domain, {visited.reason}")
        return [None] * len(COLUMNS)
    try:
        return predictive_power(pair.reference, pair.generated, pair.task.as_written, visited)
    except GroundingLimitError as limit:
        pair.notes.append(f"no predictive power: in the generated domain, {limit}")
        return [None] * len(COLUMNS)


METRIC = Metric(COLUMNS, _score)
