"""The rules of the three domains against enumeration of every reachable state, on adversarial random problems.

``python -m tests.measure.exhaustive`` makes the same comparisons on any number of problems.
"""

from __future__ import annotations

from random import Random

import pytest
from pddl_eval.definition.domains import known_domain

from tests.exhaustive import DOMAINS
from tests.hash_seeds import outputs_with_two_seeds
from tests.measure.exhaustive import AGREED, SKIPPED, draw, overloaded_findings, problem_findings
from tests.random_problems import random_problem
from tests.volume import in_two_sizes, with_seeds


@pytest.mark.parametrize("domain", sorted(DOMAINS))
@in_two_sizes(40, full=300)
def test_closed_goals_and_plans_are_those_of_exhaustive_search(domain: str, cases: int) -> None:
    """cl(g) to the atom or a proof that there is none, and a plan that the judge can execute."""

    def check(seed: int) -> None:
        problem = random_problem(Random(seed), domain)
        wrong = [finding for finding in problem_findings(problem, known_domain(domain)) if finding.outcome != AGREED]
        assert not wrong, problem

    with_seeds(cases, check)


@pytest.mark.parametrize("domain", ["blocksworld", "gripper"])
@in_two_sizes(15, full=300)
def test_predicates_that_share_a_name_are_as_many_as_their_numbers_of_arguments(domain: str, cases: int) -> None:
    for number in range(cases):
        pair = draw(domain, 0, number)
        found = list(overloaded_findings(pair, domain, Random(number)))
        assert [finding for finding in found if finding.outcome not in (AGREED, SKIPPED)] == [], number


def test_reasons_and_plans_do_not_depend_on_the_hash_seed() -> None:
    script = """
from random import Random
from pddl_eval.definition.domains import NotCovered, known_domain
from pddl_eval.definition.verdict import Unsolvable
from tests.random_problems import random_problem
for name in ("blocksworld", "gripper", "floor-tile"):
    for seed in range(60):
        problem = random_problem(Random(seed), name)
        start = known_domain(name).rules(problem, True)
        if isinstance(start, NotCovered):
            print(sorted(problem.init), start)
        else:
            goal = start.goal(problem.goal)
            said = [goal] if isinstance(goal, Unsolvable) else [sorted(goal.closure), goal.plan]
            print(sorted(problem.goal), *said)
"""
    outputs = outputs_with_two_seeds(script)
    assert outputs[0] == outputs[1]
    assert b"Unsolvable" in outputs[0] and b"NotCovered" in outputs[0]
