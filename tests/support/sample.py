"""The pairs that are bundled with the project: a few small ones of each task, each with answers made by known recipes.

Every row has all three pairs that ``pddl-eval score`` knows: problems, plans and domains. What the plans and domains
must score follows from how they are made; no metric is computed here. ``python -m tests.support.sample`` writes the
file that is bundled.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from itertools import cycle, groupby, islice
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
from pddl_eval.benchmark.answers import RECIPES
from pddl_eval.benchmark.enumeration import Pair, benchmark_pairs, benchmark_problems, pairs_tables
from pddl_eval.benchmark.files import QUESTIONS_SAMPLE, SAMPLE
from pddl_eval.benchmark.original import Original
from pddl_eval.benchmark.questions import Asking
from pddl_eval.benchmark.variants import Variant, beside, variant_of, variants_table
from pddl_eval.datasets import locate, new_parquet
from pddl_eval.definition.domains import blocksworld, floor_tile, gripper, known_domain
from pddl_eval.definition.model import Action
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

Plan = tuple[Action, ...]


def _pddl(plan: Plan) -> str:
    return plan_to_pddl(plan) or "[]"  # an empty text is no answer


PLAN_RECIPES: Mapping[str, Callable[[Plan, int], str]] = {
    "same_plan": lambda plan, _: _pddl(plan),
    "plan_in_a_list": lambda plan, _: ", ".join(f"{name}({', '.join(names)})" for name, *names in plan) or "[]",
    "plan_as_json": lambda plan, _: json.dumps(
        [{"id": i, "name": name, "args": names} for i, (name, *names) in enumerate(plan)]
    ),
    "plan_step_lost": lambda plan, place: _pddl(plan[:place] + plan[place + 1 :]),
    "plan_step_doubled": lambda plan, place: _pddl(plan[: place + 1] + plan[place:]),
    "no_plan": lambda _, __: "I could not find a plan for this problem.",
}
"""Answers to a plan, given the place of one of its steps.

The first three are the plan in several notations: every score is 1, the plan is valid. A step lost or doubled:
``plan_lcs`` is (n−1)/n or n/(n+1) for a reference of n steps. The last scores 0."""


def _effect_lost(text: str) -> str:
    start = text.index(" (not (")
    return text[:start] + text[text.index("))", start) + 2 :]


DOMAIN_RECIPES: Mapping[str, Callable[[str], str]] = {
    "same_domain": lambda text: text,
    "domain_parameters_renamed": lambda text: text.replace("?", "?x-"),
    "domain_effect_lost": _effect_lost,
    "no_domain": lambda _: "(define (domain",
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
    table = variants_table(references, 0, _next_recipe)
    texts = zip(table["reference_problem"].to_pylist(), table["domain"].to_pylist(), strict=True)
    return beside(table, pa.Table.from_pylist([_companions(row, *text) for row, text in enumerate(texts)]))


def _task(pair: Pair) -> tuple[str, str, str]:
    return pair.described.problem.domain, pair.described.task_init, pair.described.task_goal


def _some(pairs: list[Pair], task: tuple[str, str, str]) -> list[Pair]:
    """A few of a task's pairs, in their order."""
    places = Random(" ".join(task)).sample(range(len(pairs)), min(PAIRS_PER_TASK, len(pairs)))
    return [pairs[place] for place in sorted(places)]


def _next_recipe(original: Original, row: int, _answer: int) -> Variant:
    """The recipes take turns; one that does not apply leaves its turn to the next."""
    turns = islice(cycle(RECIPES), row % len(RECIPES), None)
    random = Random(f"sample {row}")
    return next(variant for name in turns if (variant := variant_of(original, name, random)))


def _companions(row: int, problem: str, domain: str) -> dict[str, str]:
    """A plan and a domain beside the problem of a row, each with an answer, their recipes taking turns too."""
    found = solve(parse_problem(problem), known_domain(domain))
    if not isinstance(found, Solution):
        raise AssertionError(f"a problem of the benchmark has no plan: {found.reason}")
    plan = found.plan
    text = DOMAIN_TEXTS[domain]
    plan_recipe = list(PLAN_RECIPES)[row % len(PLAN_RECIPES)]
    domain_recipe = list(DOMAIN_RECIPES)[row % len(DOMAIN_RECIPES)]
    place = Random(f"companion {row}").randrange(len(plan)) if plan else 0
    return {
        "reference_plan": _pddl(plan),
        "generated_plan": PLAN_RECIPES[plan_recipe](plan, place),
        "label_plan": plan_recipe,
        "reference_domain": text,
        "generated_domain": DOMAIN_RECIPES[domain_recipe](text),
        "label_domain": domain_recipe,
    }


ANSWER_RECIPES: Mapping[str, Callable[[str, str], str | None]] = {
    "right": lambda _, key: key,
    "right_in_prose": lambda _, key: f"<think>One step after the other.</think>\nHere it is.\n\n```\n{key}\n```",
    "element_lost": lambda kind, key: _without_last(key) if kind in SETS else None,
    "other": lambda _, key: OTHERS.get(key.partition(",")[0], "none" if re.search(r"[(\d]", key) else None),
    "no_answer": lambda _, __: "I cannot say.",
}
"""Answers to a question, given its kind and its key; None where the recipe leaves its turn to the next one.

The first two are right, the next two are not, and nothing is read of the last."""

OTHERS = {"none": "(nowhere b1)", "yes": "no", "no": "yes"}
SETS = ("applicable", "progression", "state", "trace")
PROBLEMS_ASKED = {"blocksworld": 3, "gripper": 1}
QUESTIONS_PER_PROBLEM = 22


def _without_last(key: str) -> str | None:
    """The key without the last of at least two elements."""
    found = [*re.finditer(r"[,\s]*\([^()]*\)", key)]
    return key[: found[-1].start()] + key[found[-1].end() :] if len(found) > 1 else None


def made_questions() -> pa.Table:
    """Questions of all kinds about a few problems of the sample, whose recipes take turns."""
    sample = sample_table().select(["id", "reference_problem", "domain"]).to_pylist()
    fewest = sorted(sample, key=lambda row: (len(row["reference_problem"]), row["id"]))
    small = [
        {"reference_id": row["id"], "reference_problem": row["reference_problem"], "domain": domain}
        for domain, count in PROBLEMS_ASKED.items()
        for row in [row for row in fewest if row["domain"] == domain and goal_is_ahead(row)][:count]
    ]
    asked = Asking(per_problem=QUESTIONS_PER_PROBLEM).table(pa.Table.from_pylist(small))
    rows = []
    for number, row in enumerate(asked.to_pylist()):
        turns = islice(cycle(ANSWER_RECIPES), number % len(ANSWER_RECIPES), None)
        about = row["question"], row["reference_answer"]
        name, answer = next((name, said) for name in turns if (said := ANSWER_RECIPES[name](*about)) is not None)
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
