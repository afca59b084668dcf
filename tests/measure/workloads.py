"""What is measured: pairs made from the benchmark's own tasks with fixed seeds.

``plainly`` is the baseline: the ``pddl`` package, closures, networkx's matcher, no caches.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from itertools import cycle, islice
from random import Random
from typing import Any

import networkx
import pyarrow as pa
from pddl_eval.benchmark import (
    PRESETS,
    Floor,
    Grade,
    Load,
    Preset,
    Variants,
    benchmark_problems,
    task_problem,
)
from pddl_eval.benchmark.damages import shown_plan
from pddl_eval.definition import comparison
from pddl_eval.definition.domains import known_domain
from pddl_eval.definition.model import Problem, problem_to_pddl
from pddl_eval.definition.planning import Solution, solve
from pddl_eval.definition.task import Task, read_pair
from pddl_eval.scoring.scene_graph import scene_graph

from tests.judges.by_package import read_problem_by_package
from tests.support.sample import DOMAIN_TEXTS, SAMPLE_DOMAINS

RENAMED = Preset({Grade.CORRECT: 1}, {"renamed": 1e6})

WEAK = Preset({Grade.SOLVABLE: 3, Grade.CORRECT: 1}, {"object_added": 0, "types_added": 0})
"""Three quarters wrong in the initial state or the goal."""

LOST = SAMPLE_DOMAINS["domain_effect_lost"]


def equivalence(reference: str, generated: str, is_placeholder: bool) -> bool | None:
    """The decision alone: no plan, no certificate, no columns."""
    decision = comparison.decided(*read_pair(reference, generated), is_placeholder)
    return decision.equivalent


def same_graph(a: networkx.MultiDiGraph, b: networkx.MultiDiGraph) -> bool:
    """Isomorphism by networkx's matcher: the definition in code, exponential on symmetric graphs."""

    def same_edges(a: Mapping[int, Mapping[str, Any]], b: Mapping[int, Mapping[str, Any]]) -> bool:
        ours, theirs = (sorted(sorted(edge.items()) for edge in edges.values()) for edges in (a, b))
        return ours == theirs

    return bool(networkx.is_isomorphic(a, b, node_match=dict.__eq__, edge_match=same_edges))


def plainly(row: dict[str, Any]) -> bool | None:
    """Whether two problems are equivalent, as one would decide it first."""
    theirs, ours = (read_problem_by_package(row[side]) for side in ("reference_problem", "generated_problem"))
    if not isinstance(theirs, Problem) or not isinstance(ours, Problem) or len(ours.objects) != len(theirs.objects):
        return None
    if not same_graph(scene_graph(ours, ["init"]), scene_graph(theirs, ["init"])):
        return False
    if same_graph(scene_graph(ours), scene_graph(theirs)):
        return True
    our_goal, their_goal = (Task(problem, known_domain(theirs.domain)).closure for problem in (ours, theirs))
    if not isinstance(our_goal, frozenset) or not isinstance(their_goal, frozenset):
        return None
    scenes = ["goal"] if row["is_placeholder"] else ["init", "goal"]
    return same_graph(scene_graph(ours, scenes, goal=our_goal), scene_graph(theirs, scenes, goal=their_goal))


def _answers(problems: Sequence[Problem], preset: Preset) -> pa.Table:
    texts = [problem_to_pddl(problem) for problem in problems]
    references = {"reference_problem": texts, "is_placeholder": [i % 3 != 0 for i in range(len(texts))]}
    return Variants(preset, seed=1).table(pa.table(references))


@lru_cache(maxsize=2)  # Making all the problems takes longer than scoring some.
def _spread(count: int) -> tuple[Problem, ...]:
    """So many problems spread evenly over the benchmark."""
    problems = [task.problem for task in benchmark_problems()]
    return tuple(problems[i * len(problems) // count] for i in range(count))


def _benchmark(pairs: int, preset: Preset) -> pa.Table:
    """Answers to about four rows a problem, as in the benchmark."""
    return _answers([problem for problem in _spread(-(-pairs // 4)) for _ in range(4)][:pairs], preset)


def _symmetric(pairs: int) -> pa.Table:
    """Twenty equal towers, a hundred balls, a row of tiles: each against a renamed copy."""
    tasks = (
        task_problem("blocksworld", "equal_towers", "on_table", (100,)),
        task_problem("gripper", "one_room", "evenly_distributed", Load((0,), (100, 0))),
        task_problem("floor-tile", "grid", "paint_all", Floor((30,), 2, 1)),
    )
    return _answers([task.problem for task in islice(cycle(filter(None, tasks)), max(3, min(pairs, 300)))], RENAMED)


def _plans(pairs: int) -> pa.Table:
    """Plans of benchmark problems against the same with a step lost or doubled."""
    random = Random(1)
    rows = []
    for problem in _spread(pairs):
        found = solve(problem, known_domain(problem.domain))
        if isinstance(found, Solution) and found.plan:
            place = random.randrange(len(found.plan))
            step = found.plan[place : place + 1] * random.choice((0, 2))
            changed = found.plan[:place] + step + found.plan[place + 1 :]
            rows.append((problem_to_pddl(problem), *map(shown_plan, (found.plan, changed))))
    return _table(("reference_problem", "reference_plan", "generated_plan"), rows)


def _long_plans(pairs: int) -> pa.Table:
    """Plans of a thousand steps against the same with every tenth step another."""
    random = Random(1)
    rows = []
    for _ in range(min(pairs, 20)):
        steps = [f"(stack b{random.randrange(30)} b{random.randrange(30)})" for _ in range(1000)]
        changed = [f"(pickup b{i % 30})" if i % 10 == 0 else step for i, step in enumerate(steps)]
        rows.append(("\n".join(steps), "\n".join(changed)))
    return _table(("reference_plan", "generated_plan"), rows)


def random_plans(pairs: int, steps: int, step: Callable[[Random], str]) -> pa.Table:
    """Unrelated plans of so many random steps, apart by commas; fewer pairs of long ones."""
    random = Random(1)
    count = min(pairs, max(5, 10_000 // (2 * steps)))
    rows = [[", ".join(step(random) for _ in range(steps)) for _ in range(2)] for _ in range(count)]
    return _table(("reference_plan", "generated_plan"), rows)


def _call(random: Random) -> str:
    """An action of Blocks World with twenty blocks."""
    name, arguments = random.choice((("pickup", 1), ("putdown", 1), ("stack", 2), ("unstack", 2)))
    return f"{name}({', '.join(f'b{random.randint(1, 20)}' for _ in range(arguments))})"


def _call_or_braces(random: Random) -> str:
    """One step in ten is concurrent."""
    return f"{{{_call(random)}, {_call(random)}}}" if random.random() < 0.1 else _call(random)


STEPS: dict[str, Callable[[Random], str]] = {
    "calls": _call,
    "with braces": _call_or_braces,
    "bare names": lambda random: f"a{random.randint(1, 400)}",
}
"""Random steps in the notations of GAICo's page."""


def _domains(pairs: int) -> pa.Table:
    """The known domains against copies that lost an effect."""
    texts = islice(cycle(DOMAIN_TEXTS.values()), pairs)
    return _table(("reference_domain", "generated_domain"), [(text, LOST(text, Random(0))) for text in texts])


def _behaviour(pairs: int) -> pa.Table:
    """The same with a problem of the benchmark for each four."""
    problems = [problem for problem in _spread(-(-pairs // 4)) for _ in range(4)][:pairs]
    rows = [(problem_to_pddl(each), text := DOMAIN_TEXTS[each.domain], LOST(text, Random(0))) for each in problems]
    return _table(("reference_problem", "reference_domain", "generated_domain"), rows)


def _weak(pairs: int) -> pa.Table:
    """Weak answers, all objects renamed, each reference seen once."""
    weak = _answers(_spread(pairs), WEAK)
    answers = {name: weak[name] for name in ("reference_problem", "is_placeholder")}
    renamed = {"answered": answers["reference_problem"], **answers, "reference_problem": weak["generated_problem"]}
    table = Variants(RENAMED, seed=1).table(pa.table(renamed))
    return table.select(["answered", "generated_problem", "is_placeholder"]).rename_columns(
        {"answered": "reference_problem"}
    )


def _table(names: Sequence[str], rows: Sequence[Sequence[str]]) -> pa.Table:
    return pa.table(dict(zip(names, zip(*rows, strict=True), strict=True)))


WORKLOADS: dict[str, Callable[[int], pa.Table]] = {
    "zero-shot": partial(_benchmark, preset=PRESETS["zero-shot"]),
    "weak": _weak,
    "fine-tuned": partial(_benchmark, preset=PRESETS["fine-tuned"]),
    "renamed": partial(_benchmark, preset=RENAMED),
    "unparseable": partial(_benchmark, preset=Preset({Grade.UNPARSEABLE: 1})),
    "symmetric": _symmetric,
    "plans": _plans,
    "long plans": _long_plans,
    "domains": _domains,
    "domains in problems": _behaviour,
}
"""Each makes so many pairs of a kind, or as many as there are."""
