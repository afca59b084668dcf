"""The pairs that are bundled with the project: a few small ones of each task, each with answers of known kinds.

Every row has all three pairs that ``pddl-eval score`` knows: problems, plans and domains.
"""

from __future__ import annotations

from itertools import cycle, groupby, islice
from random import Random

import pyarrow as pa

from pddl_eval.benchmark.companions import DOMAIN_KINDS, PLAN_KINDS, reference_domain, reference_plan, written
from pddl_eval.benchmark.enumeration import Pair, benchmark_problems, tell_problems
from pddl_eval.benchmark.reference import Reference
from pddl_eval.benchmark.tables import pairs_tables, variants_table
from pddl_eval.benchmark.variants import KINDS, Variant, variant_of
from pddl_eval.parsing import parse_problem

PAIRS_PER_TASK = 4
LARGEST_SIZE = 40
"""Propositions of a bundled problem, at most."""


def sample_table() -> pa.Table:
    """The bundled sample, the same on every machine: every task, all kinds of answers by turns."""
    small = (problem for problem in benchmark_problems() if problem.size <= LARGEST_SIZE)
    chosen = [pair for task, pairs in groupby(tell_problems(small), _task) for pair in _some(list(pairs), task)]
    (references,) = pairs_tables(chosen, rows=len(chosen))
    return _with_companions(variants_table(references, 0, _next_kind))


def _task(pair: Pair) -> tuple[str, str, str]:
    return pair.described.problem.domain, pair.described.task_init, pair.described.task_goal


def _some(pairs: list[Pair], task: tuple[str, str, str]) -> list[Pair]:
    """A few of a task's pairs, in their order."""
    places = Random(" ".join(task)).sample(range(len(pairs)), min(PAIRS_PER_TASK, len(pairs)))
    return [pairs[place] for place in sorted(places)]


def _next_kind(reference: Reference, row: int, answer: int) -> Variant:
    """The kinds take turns; one that does not apply leaves its turn to the next."""
    turns = islice(cycle(KINDS), row % len(KINDS), None)
    random = Random(f"sample {row}")
    return next(variant for kind in turns if (variant := variant_of(reference, kind, random)))


def _with_companions(table: pa.Table) -> pa.Table:
    """Plans and domains beside the problems, their kinds taking turns too."""
    plan_kinds, domain_kinds = list(PLAN_KINDS), list(DOMAIN_KINDS)
    rows = []
    for row, (text, domain) in enumerate(zip(*(table[name].to_pylist() for name in _NEEDED), strict=True)):
        plan, model = reference_plan(parse_problem(text)), reference_domain(domain)
        plan_kind, domain_kind = plan_kinds[row % len(plan_kinds)], domain_kinds[row % len(domain_kinds)]
        random = Random(f"companion {row}")
        rows.append(
            {
                "reference_plan": written(plan),
                "generated_plan": PLAN_KINDS[plan_kind](plan, random),
                "label_plan": plan_kind,
                "reference_domain": model,
                "generated_domain": DOMAIN_KINDS[domain_kind](model, random),
                "label_domain": domain_kind,
            }
        )
    companions = pa.Table.from_pylist(rows)
    for name in companions.column_names:
        table = table.append_column(name, companions[name])
    return table


_NEEDED = ("reference_problem", "domain")
