"""The pairs that are bundled with the project: a few small ones of each task, each with answers made by known recipes.

Every row has all three pairs that ``pddl-eval score`` knows: problems, plans and domains. What the plans and domains
must score follows from how they are made; no metric is computed here. ``python -m tests.support.sample`` writes the
file that is bundled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import cycle, groupby, islice
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pddl_eval.benchmark.answers import RECIPES
from pddl_eval.benchmark.damages import (
    ANSWER_RECIPES,
    DOMAIN_RECIPES,
    PLAN_RECIPES,
    answer_original,
    plan_original,
    shown_plan,
)
from pddl_eval.benchmark.enumeration import Pair, benchmark_pairs, benchmark_problems, pairs_tables
from pddl_eval.benchmark.files import QUESTIONS_SAMPLE, SAMPLE
from pddl_eval.benchmark.questions import Asking
from pddl_eval.benchmark.variants import PROBLEMS, beside, variant_of, widened_table
from pddl_eval.datasets import locate, new_parquet
from pddl_eval.definition.domains import blocksworld, floor_tile, gripper, known_domain
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.definition.pddl import parse_problem
from pddl_eval.definition.planning import Solution, solve

from tests.support.plan_text import plan_to_pddl

PAIRS_PER_TASK = 4
LARGEST_SIZE = 40
"""Propositions of a bundled problem, at most."""

DOMAIN_TEXTS = {
    "blocksworld": blocksworld.PDDL.strip(),
    "gripper": gripper.PDDL.strip(),
    "floor-tile": floor_tile.PDDL.strip(),
}

SAMPLE_PLANS = ("same_plan", "plan_in_a_list", "plan_as_json", "plan_step_lost", "plan_step_doubled", "no_plan")
"""The recipes of plans that take turns.

The first three are the plan in several notations: every score is 1, the plan is valid. A step lost or doubled:
``plan_lcs`` is (n−1)/n or n/(n+1) for a reference of n steps. The last scores 0."""


def _effect_lost(text: str, _random: Random) -> str:
    start = text.index(" (not (")
    return text[:start] + text[text.index("))", start) + 2 :]


SAMPLE_DOMAINS: Mapping[str, Callable[[str, Random], str]] = {
    "same_domain": DOMAIN_RECIPES["same_domain"].make,
    "domain_parameters_renamed": DOMAIN_RECIPES["domain_parameters_renamed"].make,
    "domain_effect_lost": _effect_lost,
    "no_domain": DOMAIN_RECIPES["no_domain"].make,
}
"""The first two score 1; where a delete effect is lost precision stays 1 and recall does not; the last scores 0."""


def sample_table() -> pa.Table:
    """The bundled sample."""
    return pq.read_table(SAMPLE)


def made_sample() -> pa.Table:
    """The sample, the same on every machine: every task, all recipes by turns."""
    small = (problem for problem in benchmark_problems() if problem.size <= LARGEST_SIZE)
    chosen = [pair for task, pairs in groupby(benchmark_pairs(small), _task) for pair in _some(list(pairs), task)]
    (references,) = pairs_tables(chosen, rows=len(chosen))
    table = widened_table(references, 0, PROBLEMS.reads, PROBLEMS.fields, ScoringOptions(), _next_recipe)
    texts = zip(table["reference_problem"].to_pylist(), table["domain"].to_pylist(), strict=True)
    return beside(table, pa.Table.from_pylist([_companions(row, *text) for row, text in enumerate(texts)]))


def _task(pair: Pair) -> tuple[str, str, str]:
    return pair.described.problem.domain, pair.described.task_init, pair.described.task_goal


def _some(pairs: list[Pair], task: tuple[str, str, str]) -> list[Pair]:
    """A few of a task's pairs, in their order."""
    places = Random(" ".join(task)).sample(range(len(pairs)), min(PAIRS_PER_TASK, len(pairs)))
    return [pairs[place] for place in sorted(places)]


def _next_recipe(row: Mapping[str, Any], number: int) -> Iterator[tuple[Any, ...]]:
    """The recipes take turns; one that does not apply leaves its turn to the next."""
    original = PROBLEMS.original(row, ScoringOptions())
    turns = islice(cycle(RECIPES), number % len(RECIPES), None)
    random = Random(f"sample {number}")
    yield next(variant.values for name in turns if (variant := variant_of(original, name, random)))


def _companions(row: int, problem: str, domain: str) -> dict[str, str]:
    """A plan and a domain beside the problem of a row, each with an answer, their recipes taking turns too."""
    found = solve(parse_problem(problem), known_domain(domain))
    if not isinstance(found, Solution):
        raise AssertionError(f"a problem of the benchmark has no plan: {found.reason}")
    plan = found.plan
    text = DOMAIN_TEXTS[domain]
    plan_recipe = SAMPLE_PLANS[row % len(SAMPLE_PLANS)]
    domain_recipe = list(SAMPLE_DOMAINS)[row % len(SAMPLE_DOMAINS)]
    known = {"reference_problem": problem, "domain": domain, "reference_plan": plan_to_pddl(plan)}
    random = Random(f"companion {row}")
    answer = PLAN_RECIPES[plan_recipe].make(plan_original(known, ScoringOptions()), random)
    return {
        "reference_plan": shown_plan(plan),
        "generated_plan": answer if isinstance(answer, str) else shown_plan(answer),
        "label_plan": plan_recipe,
        "reference_domain": text,
        "generated_domain": SAMPLE_DOMAINS[domain_recipe](text, random),
        "label_domain": domain_recipe,
    }


SAMPLE_ANSWERS = ("right", "right_in_prose", "element_lost", "other", "no_answer")
"""The recipes of answers to questions that take turns.

The first two are right, the next two are not, and nothing is read of the last."""

PROBLEMS_ASKED = {"blocksworld": 3, "gripper": 1}
QUESTIONS_PER_PROBLEM = 22


def made_questions() -> pa.Table:
    """Questions of all kinds about a few problems of the sample, whose recipes take turns."""
    sample = sample_table().select(["id", "reference_problem", "domain"]).to_pylist()
    fewest = sorted(sample, key=lambda row: (len(row["reference_problem"]), row["id"]))
    small = [
        {"reference_id": row["id"], "reference_problem": row["reference_problem"], "domain": domain}
        for domain, count in PROBLEMS_ASKED.items()
        for row in [row for row in fewest if row["domain"] == domain and goal_is_ahead(row)][:count]
    ]
    asked = Asking(per_row=QUESTIONS_PER_PROBLEM).table(pa.Table.from_pylist(small))
    rows = []
    for number, row in enumerate(asked.to_pylist()):
        turns = islice(cycle(SAMPLE_ANSWERS), number % len(SAMPLE_ANSWERS), None)
        known, random = answer_original(row, ScoringOptions()), Random(number)
        made = ((name, ANSWER_RECIPES[name].make(known, random)) for name in turns)
        name, answer = next((name, said) for name, said in made if said is not None)
        rows.append({"generated_answer": answer, "label_answer": name})
    return beside(asked, pa.Table.from_pylist(rows))


def goal_is_ahead(row: Mapping[str, str]) -> bool:
    """True where a plan has at least four steps."""
    found = solve(parse_problem(row["reference_problem"]), known_domain(row["domain"]))
    return isinstance(found, Solution) and len(found.plan) > 3


if __name__ == "__main__":
    for sample, made in ((SAMPLE, made_sample), (QUESTIONS_SAMPLE, made_questions)):
        table = made()
        with new_parquet(locate(sample), table.schema) as writer:
            writer.write_table(table)
