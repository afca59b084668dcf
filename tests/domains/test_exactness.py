"""The rules of the three domains against enumeration of every reachable state, on adversarial random problems.

``python -m tests.exhaustive_run`` makes the same comparisons on any number of problems.
"""

from __future__ import annotations

from random import Random

import pytest
from pddl_eval.domains import known_domain

from tests.exhaustive import DOMAINS
from tests.exhaustive_run import AGREED, problem_findings
from tests.hash_seeds import outputs_with_two_seeds
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


def test_reasons_and_plans_do_not_depend_on_the_hash_seed() -> None:
    script = """
from random import Random
from pddl_eval.domains import BrokenAssumption, known_domain
from tests.random_problems import random_problem
for name in ("blocksworld", "gripper", "floor-tile"):
    for seed in range(60):
        problem = random_problem(Random(seed), name)
        start = known_domain(name).rules(problem, True)
        if isinstance(start, BrokenAssumption):
            print(sorted(problem.init), start)
        else:
            closure = start.fully_specify(problem.goal)
            print(sorted(problem.goal), sorted(closure) if isinstance(closure, frozenset) else closure)
            print(start.plan(problem.goal))
"""
    outputs = outputs_with_two_seeds(script)
    assert outputs[0] == outputs[1]
    assert b"Unsolvable" in outputs[0] and b"BrokenAssumption" in outputs[0]
