"""Of each row the kernel says what the definition says, in every column but the time, or it leaves the row.

Where states are too many to list, the definition says nothing: what the kernel says there is collected apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from pddl_eval import kernel
from pddl_eval.benchmark.answers import RECIPES
from pddl_eval.benchmark.original import Original
from pddl_eval.benchmark.variants import variant_of
from pddl_eval.definition.kept import keeping
from pddl_eval.definition.metrics import DOMAIN, PLAN, PROBLEM, Pair
from pddl_eval.definition.model import Problem, problem_to_pddl, renamed
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.definition.pddl import parse_domain, parse_problem
from pddl_eval.definition.task import Task, read_pair
from pddl_eval.definition.verdict import Undecided
from pddl_eval.kernel import tables
from pddl_eval.scoring.kept import KEPT
from pddl_eval.shown import printable

Row = dict[str, Any]

SCORES = {PROBLEM: tables.score, PLAN: tables.score_plans, DOMAIN: tables.score_domains}
"""What the kernel has for a pair."""

needs_kernel = pytest.mark.skipif(kernel.version() is None, reason="the kernel is not built")


@dataclass
class Comparison:
    """How many rows were compared, how many were left by reason, and where the two differ.

    ``only_kernel`` are the rows of which the definition does not decide all that the kernel does.
    """

    rows: int = 0
    left: Counter[str] = field(default_factory=Counter)
    only_kernel: list[Row] = field(default_factory=list)
    differences: list[tuple[Row, dict[str, tuple[Any, Any]]]] = field(default_factory=list)

    @property
    def share_left(self) -> float:
        return self.left.total() / max(1, self.rows)


def columns_of(rows: Sequence[Row]) -> dict[str, pa.ChunkedArray]:
    """The rows as columns by meaning."""
    names = {name: pa.bool_() if name == "is_placeholder" else pa.string() for row in rows for name in row}
    return {name: pa.chunked_array([pa.array([row.get(name) for row in rows], type_)]) for name, type_ in names.items()}


def names_of(pair: Pair) -> list[str]:
    return [column.name for column in pair.asked(ScoringOptions()).columns]


def by_definition(row: Row, options: ScoringOptions, pair: Pair = PROBLEM) -> dict[str, Any]:
    """The row's columns as the definition fills them."""
    scores = pair.asked(options).score(pair.read(row, options))
    shown = (printable(str(score)) if isinstance(score, str) else score for score in scores)
    return dict(zip(names_of(pair), shown, strict=True))


def compared(rows: Iterable[Row], options: ScoringOptions | None = None, pair: Pair = PROBLEM) -> Comparison:
    """The comparison of all rows, which are one batch for the kernel."""
    rows, options = list(rows), options or ScoringOptions()
    scored = SCORES[pair](columns_of(rows), options)
    assert scored is not None
    # Where the kernel has no column, nothing is compared.
    nothing = [None] * len(rows)
    columns = {name: scored[0][name].to_pylist() if name in scored[0] else nothing for name in names_of(pair)}
    with keeping(KEPT):
        return _compared(rows, columns, scored[1].to_pylist(), options, pair)


def _compared(
    rows: list[Row], columns: dict[str, list[Any]], why_left: list[str | None], options: ScoringOptions, pair: Pair
) -> Comparison:
    found = Comparison(len(rows))
    for number, (row, left) in enumerate(zip(rows, why_left, strict=True)):
        if left:
            found.left[left] += 1
            continue
        ours = {name: values[number] for name, values in columns.items()}
        theirs = by_definition(row, options, pair)
        differing = {name: (ours[name], theirs[name]) for name in ours if ours[name] != theirs[name]}
        if differing and (open_ := undecided(row, theirs, pair)):
            differing = {name: both for name, both in differing.items() if name not in open_}
            found.only_kernel.append(row)
        if differing:
            found.differences.append((row, differing))
    return found


def undecided(row: Row, scores: dict[str, Any], pair: Pair) -> set[str]:
    """The columns that the definition leaves open because the states are too many to list."""
    if pair is DOMAIN:
        if "that was found" not in (scores["domain_detail"] or ""):
            return set()
        return {"domain_detail", "domain_plan_valid", "domain_reference_plan_valid"} & _open(scores, "domain_detail")
    if pair is not PROBLEM or not has_many_states(row):
        return set()
    return _open(scores, *(["verdict", "detail"] if scores["verdict"] == "undecided" else []))


def _open(scores: dict[str, Any], *others: str) -> set[str]:
    return {name for name, score in scores.items() if score is None}.union(others)


def has_many_states(row: Row) -> bool:
    """True where the states of one of a row's problems cannot be listed, with types or without."""
    tasks = read_pair(row["reference_problem"], row["generated_problem"], row.get("domain"))
    both = [each for task in tasks if isinstance(task, Task) for each in (task, task.untyped)]
    return any(isinstance(each.closed_goal, Undecided) for each in both)


def damaged(problem: Problem, random: Random) -> Problem:
    """A copy of a problem with what answers get wrong: other names, an atom or an object more or less."""
    names, objects = list(problem.objects), dict(problem.objects)
    some, other = random.choice([*names, "new"]), random.choice([*names, "new"])
    for _ in range(random.choice([1, 1, 2])):
        init, goal = sorted(problem.init), sorted(problem.goal)
        match random.randrange(8):
            case 0 if names:
                others = random.sample(range(len(names)), len(names))
                new = {name: f"z{number}" for name, number in zip(names, others, strict=True)}
                listed = random.sample(list(objects.items()), len(objects))
                problem = replace(
                    problem,
                    objects={new.get(name, name): type_ for name, type_ in listed},
                    init=renamed(init, new),
                    goal=renamed(goal, new),
                )
            case 1 if init:
                problem = replace(problem, init=problem.init - {random.choice(init)})
            case 2 | 3 if goal:
                problem = replace(problem, goal=problem.goal - {random.choice(goal)})
            case 4 if init:
                problem = replace(problem, goal=problem.goal | {random.choice(init)})
            case 5 if init:
                predicate, *terms = random.choice(init)
                atom = (predicate, *[random.choice(list(problem.objects) or terms) for _ in terms])
                problem = replace(problem, **{random.choice(["init", "goal"]): frozenset([*init, atom])})
            case 6:
                objects = {name: type_ for name, type_ in problem.objects.items() if name != some}
                init, goal = ([atom for atom in part if some not in atom] for part in (init, goal))
                problem = replace(problem, objects=objects, init=frozenset(init), goal=frozenset(goal))
            case 7:
                type_ = random.choice([*problem.objects.values(), "object"])
                problem = replace(problem, objects={**problem.objects, other: type_})
        names, objects = list(problem.objects), dict(problem.objects)
    return problem


def answers_in(domain: str, reference: str, random: Random, count: int) -> Iterator[Row]:
    """Rows with damaged copies of a reference, in a domain that is given by its text."""
    problem = parse_problem(reference, parse_domain(domain).constants)
    for _ in range(count):
        answer = problem_to_pddl(damaged(problem, random))
        placeholder = random.random() < 0.3
        yield {
            "reference_problem": reference,
            "generated_problem": answer,
            "domain": domain,
            "is_placeholder": placeholder,
        }


def labelled_answers(references: Iterable[Row], random: Random, recipes: int = 1) -> list[Row]:
    """Rows with answers of known kinds to each reference, that many recipes drawn for each."""
    rows = []
    for row in references:
        original = Original(row["reference_problem"], is_placeholder=bool(row.get("is_placeholder")))
        names = random.sample(list(RECIPES), len(RECIPES))
        variants = (variant_of(original, name, random) for name in names)
        made = [variant for variant, _ in zip(filter(None, variants), range(recipes), strict=False)]
        rows += [{**row, "generated_problem": variant.text} for variant in made]
    return rows
