"""Nothing that is decided depends on the order in which sets are iterated: two Pythons with other hash seeds say it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from random import Random

from pddl_eval import compare_domains
from pddl_eval.benchmark import OwnTasks
from pddl_eval.definition.domains import NotCovered, PlanningDomain, known_domain
from pddl_eval.definition.metrics import score_problem_pair
from pddl_eval.definition.model import domain_to_pddl, problem_to_pddl
from pddl_eval.definition.pddl import parse_domain
from pddl_eval.definition.planning import Solution, solve
from pddl_eval.definition.verdict import Unsolvable

from tests.corpus import CORPUS
from tests.judges.behaviour import mutated
from tests.support.ipc_domains import DOMAINS, PROBLEMS
from tests.support.random_problems import VOCABULARY, random_pair, random_problem
from tests.support.towers import BLOCKS, blocks


def verdicts() -> Iterator[object]:
    """Details, verdicts and certificates."""
    pairs = [
        (pair.reference, pair.generated, None)
        for name in VOCABULARY
        for pair in (random_pair(Random(seed), name) for seed in range(3))
    ]
    pairs += [
        (make(seed), replace(make(seed), goal=make(seed + 100).goal), domain_to_pddl(DOMAINS[name]))
        for name, make in PROBLEMS.items()
        for seed in range(1, 3)
    ]
    for reference, generated, domain in pairs:
        yield score_problem_pair(problem_to_pddl(reference), problem_to_pddl(generated), False, domain)


def renamings() -> Iterator[object]:
    """Which of several renamings is found."""
    text = "(define (domain d) (:action go :effect (and (a) (b) (c) (d) (e))))"
    other = parse_domain(text.replace("go", "run").replace("(a) (b) (c)", "(x) (y) (z)"))
    scores = compare_domains(parse_domain(text), other)
    yield from (scores.detail, scores.renaming)


def rules() -> Iterator[object]:
    """Reasons, closures and plans of the domains with rules."""
    for name in VOCABULARY:
        for seed in range(5):
            problem = random_problem(Random(seed), name)
            known = known_domain(name)
            assert known is not None and known.rules is not None
            start = known.rules(problem, True)
            if isinstance(start, NotCovered):
                yield start
            else:
                goal = start.goal(problem.goal)
                yield goal if isinstance(goal, Unsolvable) else (sorted(goal.closure), goal.plan)


def plans() -> Iterator[object]:
    """Plans that are found by enumeration."""
    for problem, domain in ((blocks(3, 5), BLOCKS), *((PROBLEMS[name](5), DOMAINS[name]) for name in DOMAINS)):
        found = solve(problem, PlanningDomain(domain))
        yield found.plan if isinstance(found, Solution) else found


def behaviours() -> Iterator[object]:
    """What sampled states say of mutants of domains."""
    for name, domain in DOMAINS.items():
        for seed in range(1):
            yield compare_domains(domain, mutated(domain, seed), problem=PROBLEMS[name](seed))


def own_tasks() -> Iterator[object]:
    """Tasks of a seed, with objects added."""
    yield from OwnTasks(CORPUS["lift-adl"].domain, [CORPUS["lift-adl"].problem]).draw(8)


SAID = (verdicts, renamings, rules, plans, behaviours, own_tasks)


def test_nothing_depends_on_the_hash_seed() -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "tests.definition.test_definition_hash_seed"]
    one, other = (
        subprocess.run(command, env={**environment, "PYTHONHASHSEED": seed}, capture_output=True, check=True).stdout
        for seed in "12"
    )
    assert one == other
    expected = {b"ProblemVerdict": 15, b"run for go": 1, b"DomainScores": 3}
    assert {words: one.count(words) for words in expected} == expected
    assert b"Unsolvable" in one and b"NotCovered" in one and b"stack" in one


if __name__ == "__main__":
    for said in SAID:
        print(said.__name__, *map(repr, said()), sep="\n")
