"""Checks counterexamples of ``goal_differs`` with the judge's operators (``tests.judges.exhaustive``), and with VAL.

A counterexample must be a plan from the common initial state whose last state has the goal of the side that it names
and not the other's. The judge shares no code with the program's planners and executor.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pddl_eval
from pddl_eval.benchmark.answers import RECIPES
from pddl_eval.benchmark.original import Original
from pddl_eval.definition.domains import known_domain
from pddl_eval.definition.model import (
    EQUALITY,
    ROOT_TYPE,
    Domain,
    Problem,
    domain_to_pddl,
    problem_to_pddl,
)
from pddl_eval.definition.verdict import Verdict
from pddl_eval.errors import UserError

from tests.judges.exhaustive import DOMAINS, renamed_state, state_after
from tests.support import ipc_domains
from tests.support.plan_text import plan_to_pddl
from tests.support.random_problems import random_pair
from tests.support.random_tasks import as_the_judge_reads, random_task

VAL = next(filter(None, map(shutil.which, ("Validate", "validate", "VAL"))), None)
"""VAL's program, None where it is not installed."""

GOAL_RECIPES = ("goal_weakened", "goal_atom_lost", "goal_strengthened", "goal_objects_swapped", "goal_other")
"""The recipes of ``benchmark`` that change the goal only."""

assert set(GOAL_RECIPES) <= RECIPES.keys()

Row = tuple[Problem, Problem, bool, Domain | None]
"""Two problems, whether they are compared in placeholder mode, and their domain if it is none of the judge's three."""


def small_rows(seed: int) -> Iterator[Row]:
    """Two rows of random problems: of a known domain, perhaps beyond its rules, and of a domain without rules."""
    random = Random(seed)
    pair = random_pair(random, list(DOMAINS)[seed % len(DOMAINS)])
    yield pair.reference, pair.generated, random.random() < 0.3, None
    if random.random() < 0.5:
        problem, domain = random_task(seed)
        names = sorted(problem.objects.keys() | domain.constants)
        arity = {name: len(types) for name, types in domain.predicates.items()}
        goal = [(name, *random.choices(names, k=arity[name])) for name in random.choices(sorted(arity), k=2)]
        yield problem, replace(problem, goal=frozenset(goal)), False, domain
    else:
        name = random.choice(list(ipc_domains.PROBLEMS))
        problem = ipc_domains.PROBLEMS[name](seed)
        goals = [ipc_domains.PROBLEMS[name](number).goal for number in random.sample(range(1000), 5)]
        known = problem.objects.keys() | ipc_domains.DOMAINS[name].constants
        fitting = [goal for goal in goals if all(known >= set(atom[1:]) for atom in goal)]
        yield problem, replace(problem, goal=random.choice([*fitting, problem.goal])), False, ipc_domains.DOMAINS[name]


def row_of(reference: str, domain: str | None, is_placeholder: bool, random: Random) -> Row | None:
    """A row with an answer to a reference whose goal was changed; sometimes with other names, sometimes exchanged."""
    try:
        original = Original(reference, is_placeholder, domain)
    except UserError:  # it has no solution
        return None
    order = random.sample(GOAL_RECIPES, len(GOAL_RECIPES))
    for name in order:
        made = RECIPES[name].make(original, random)
        if isinstance(made, Problem):
            break
    else:
        return None
    if random.random() < 0.3:
        old = sorted(made.objects)
        names = dict(zip(old, random.sample([f"x{number}" for number in range(len(old))], len(old)), strict=True))
        made = Problem(
            made.name,
            made.domain,
            {names[each]: type_ for each, type_ in made.objects.items()},
            renamed_state(made.init, names),
            renamed_state(made.goal, names),
        )
    pair = (original.problem, made) if random.random() < 0.7 else (made, original.problem)
    assert original.planning_domain is not None
    known = original.planning_domain.domain
    return *pair, is_placeholder, None if known.name in DOMAINS else known


def outcome(row: Row) -> str | None:
    """``right``, ``undecided: …`` or what is wrong with the counterexample; None where the goals do not differ."""
    reference, generated, is_placeholder, domain = row
    arguments = [problem_to_pddl(problem) for problem in (reference, generated)]
    text = domain_to_pddl(domain) if domain is not None else None
    verdict = pddl_eval.compare_problems(*arguments, is_placeholder=is_placeholder, domain=text, check_solvable=False)
    try:
        found = pddl_eval.counterexample(*arguments, is_placeholder=is_placeholder, domain=text)
    except pddl_eval.UndecidedError as limit:
        return f"undecided: {limit}"
    if found is None or verdict.verdict != Verdict.GOAL_DIFFERS:
        return "no counterexample" if (found is None) == (verdict.verdict == Verdict.GOAL_DIFFERS) else None
    return _fault(row, found) or (_fault_by_val(row, found) if VAL else "") or "right"


def _fault(row: Row, found: pddl_eval.Counterexample) -> str:
    reference, generated, _, domain = row
    names = found.object_map
    constants = domain.constants if domain is not None else {}
    own = {name: type_ for name, type_ in generated.objects.items() if name not in constants}
    if {names.get(name): type_ for name, type_ in own.items()} != {
        name: type_ for name, type_ in reference.objects.items() if name not in constants
    }:
        return "the object map does not map objects onto objects"
    if renamed_state(generated.init, names) != reference.init:
        return "the object map does not map initial state onto initial state"
    end = state_after(reference, found.plan, None if domain is None else as_the_judge_reads(domain))
    if end is None:
        return "a step is not applicable"
    goals = {"reference": reference.goal, "generated": renamed_state(generated.goal, names)}
    satisfied = goals.pop(found.satisfies)
    (other,) = goals.values()
    if not satisfied <= end:
        return "the goal is not reached"
    if other <= end:
        return "both goals are reached"
    return "" if found.lacking == other - end else "other atoms are lacking"


def _fault_by_val(row: Row, found: pddl_eval.Counterexample) -> str:
    """VAL calls the plan valid for the one problem and not for the other; it reads only what a domain declares."""
    reference, generated, _, given = row
    known = known_domain(reference.domain)
    domain = given or (known.domain if known else None)
    goals = {"reference": reference.goal, "generated": renamed_state(generated.goal, found.object_map)}
    if domain is None or not all(_declared(replace(reference, goal=goal), domain) for goal in goals.values()):
        return ""
    with TemporaryDirectory() as folder:
        files = {
            "domain.pddl": domain_to_pddl(replace(domain, name=reference.domain)),
            "plan": plan_to_pddl(found.plan),
        }
        files |= {f"{side}.pddl": problem_to_pddl(replace(reference, goal=goal)) for side, goal in goals.items()}
        for name, content in files.items():
            (Path(folder) / name).write_text(f"{content}\n", encoding="utf-8")
        for side in goals:
            call = [str(VAL), "domain.pddl", f"{side}.pddl", "plan"]
            said = subprocess.run(call, cwd=folder, capture_output=True, text=True, timeout=60).stdout
            if ("Plan valid" in said) != (side == found.satisfies):
                return f"VAL on the {side}: {said}"
    return ""


def _declared(problem: Problem, domain: Domain) -> bool:
    """Whether the domain declares all types and predicates, those of its own operators too."""
    types = {
        *problem.objects.values(),
        *(type_ for o in domain.operators for _, each in o.parameters for type_ in each),
    }
    atoms = {*problem.init, *problem.goal, *(atom for o in domain.operators for part in o.parts for atom in part)}
    lengths = {name: len(arguments) for name, arguments in domain.predicates.items()} | {EQUALITY: 2}
    return types <= {*domain.types, ROOT_TYPE} and all(lengths.get(atom[0]) == len(atom) - 1 for atom in atoms)
