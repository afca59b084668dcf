"""Details, verdicts and certificates do not depend on the order in which sets are iterated."""

from __future__ import annotations

from tests.hash_seeds import outputs_with_two_seeds

SCRIPT = """
from dataclasses import replace
from random import Random
from pddl_eval.definition.metrics import score_problem_pair
from pddl_eval.definition.model import domain_to_pddl, problem_to_pddl
from tests.random_problems import random_pair
from tests.strips.ipc_domains import DOMAINS, PROBLEMS
pairs = [(pair.reference, pair.generated, None) for name in ("blocksworld", "gripper", "floor-tile")
         for pair in (random_pair(Random(seed), name) for seed in range(40))]
pairs += [(make(seed), replace(make(seed), goal=make(seed + 100).goal), domain_to_pddl(DOMAINS[name]))
          for name, make in PROBLEMS.items() for seed in range(20)]
for reference, generated, domain in pairs:
    print(score_problem_pair(problem_to_pddl(reference), problem_to_pddl(generated), False, domain))
"""


def test_verdicts_do_not_depend_on_the_hash_seed() -> None:
    outputs = outputs_with_two_seeds(SCRIPT)
    assert outputs[0].count(b"ProblemVerdict") == 180
    assert outputs[0] == outputs[1]


WITNESS = """
from pddl_eval import compare_domains
text = "(define (domain d) (:action go :effect (and (a) (b) (c) (d) (e))))"
scores = compare_domains(text, text.replace("go", "run").replace("(a) (b) (c)", "(x) (y) (z)"))
print(scores.detail, scores.renaming)
"""


def test_which_of_several_renamings_is_found_does_not_depend_on_the_hash_seed() -> None:
    outputs = outputs_with_two_seeds(WITNESS)
    assert outputs[0].count(b"run for go") == 1
    assert outputs[0] == outputs[1]
