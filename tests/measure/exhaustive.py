"""The long run of pipeline against judge: ``python -m tests.measure.exhaustive --domain gripper --count 20000``.

For each random pair of problems it compares the closed goals, solvability (every plan is executed by the judge's own
operators), the verdicts in both modes and the certificates with what enumeration of all states says, prints a table and
each disagreement as two PDDL texts with the number that draws it again (``--first NUMBER --count 1``), and exits
with 1 on any disagreement. The test suite makes the same comparisons on fewer problems; the rules are not in here.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from pddl_eval import compare_problems
from pddl_eval.definition import comparison
from pddl_eval.definition.domains import known_domain, planning_domain
from pddl_eval.definition.model import Atom, Domain, Operator, Problem, domain_to_pddl, problem_to_pddl, show_atom
from pddl_eval.definition.planning import Solution, solve
from pddl_eval.definition.task import Task
from pddl_eval.definition.verdict import Undecided, Unsolvable

from tests.judges.exhaustive import (
    DOMAINS,
    closure,
    equivalent,
    reachable,
    renamed_state,
    solvable,
    state_after,
    well_typed,
)
from tests.measure.tally import Tally, drawing
from tests.support.random_problems import Pair, random_pair

STATES_TO_DECIDE = 2_000
"""Up to so many states nothing may be left undecided, and nothing at all about a legal initial state."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One comparison: what was compared, what the judge says (equivalent? solvable?), and how the pipeline did."""

    check: str
    judged: bool
    outcome: str
    note: str = ""


AGREED, UNDECIDED, SKIPPED, DISAGREED = "agreed", "undecided", "skipped", "disagreed"


def draw(domain: str, seed: int, number: int) -> Pair:
    """The pair with this number."""
    return random_pair(Random(f"{domain} {seed} {number}"), domain)


def findings(pair: Pair, domain: str) -> Iterator[Finding]:
    """Every comparison that the pair allows."""
    planning_domain = known_domain(domain)
    if planning_domain is None:
        raise ValueError(f"the pipeline does not know the domain {domain!r}")
    may_give_up = not pair.legal and max(map(_states, (pair.reference, pair.generated))) > STATES_TO_DECIDE
    for finding in (
        *problem_findings(pair.reference, planning_domain),
        *problem_findings(pair.generated, planning_domain),
        *verdict_findings(pair, planning_domain),
        *certificate_findings(pair, planning_domain),
    ):
        if finding.outcome == UNDECIDED and not may_give_up:
            yield Finding(finding.check, finding.judged, DISAGREED, f"undecided without need: {finding.note}")
        else:
            yield finding


def _states(problem: Problem) -> int:
    return max(len(reachable(problem, typed=typed) or ()) for typed in (True, False))


def problem_findings(problem: Problem, planning_domain: Any) -> Iterator[Finding]:
    """The closed goal and the plan of one problem, with types and without."""
    for typed in (True, False):
        label = "typed" if typed else "untyped"
        expected = closure(problem, typed=typed)
        found = Task(problem, planning_domain, typed).closure
        yield Finding(f"closure {label}", expected is not None, *_closure_outcome(expected, found))
        found = solve(problem, planning_domain, typed)
        plan = found.plan if isinstance(found, Solution) else found
        yield Finding(f"solvable {label}", expected is not None, *_plan_outcome(problem, plan, typed))


def _closure_outcome(expected: frozenset[Atom] | None, found: object) -> tuple[str, str]:
    if isinstance(found, Undecided):
        return UNDECIDED, found.reason
    if isinstance(found, Unsolvable):
        return (AGREED, "") if expected is None else (DISAGREED, f"pipeline: unsolvable, {found.reason}")
    if not isinstance(found, frozenset):
        return DISAGREED, f"not a closure: {found!r}"
    if expected is None:
        return DISAGREED, "judge: unsolvable; pipeline: a closure"
    missing, extra = ([show_atom(atom) for atom in sorted(atoms)] for atoms in (expected - found, found - expected))
    return (DISAGREED, f"missing {missing}, too many {extra}") if missing or extra else (AGREED, "")


def _plan_outcome(problem: Problem, plan: Any, typed: bool) -> tuple[str, str]:
    if isinstance(plan, Undecided):
        return UNDECIDED, plan.reason
    if isinstance(plan, Unsolvable):
        return (DISAGREED, f"pipeline: {plan.reason}") if solvable(problem, typed=typed) else (AGREED, "")
    state = state_after(problem, plan, typed=typed)
    if state is None:
        return DISAGREED, f"a step of the plan is not applicable: {plan}"
    return (AGREED, "") if problem.goal <= state else (DISAGREED, f"the plan misses the goal: {plan}")


def verdict_findings(pair: Pair, planning_domain: Any) -> Iterator[Finding]:
    """The verdict on the pair in both modes, with types and without, and the object map behind a yes."""
    reference, generated = pair.reference, pair.generated
    for is_placeholder in (False, True):
        mode = "placeholder" if is_placeholder else "identity"
        tasks = Task(reference, planning_domain), Task(generated, planning_domain)
        decision = comparison.compare(*tasks, is_placeholder, False)
        if not well_typed(reference):
            said = decision.verdict, decision.equivalent, decision.equivalent_untyped
            outcome = AGREED if said == ("reference_invalid", None, None) else DISAGREED
            yield Finding(f"{mode} ill-typed", False, outcome, str(said))
            tasks[0].__dict__["ill_typed"] = None  # The algorithm decides such pairs, too.
            decision = comparison.compare(*tasks, is_placeholder, False)
        for typed, answer in ((True, decision.equivalent), (False, decision.equivalent_untyped)):
            judged = equivalent(reference, generated, is_placeholder, typed=typed)
            outcome, note = _verdict_outcome(reference, judged, answer, decision, typed)
            yield Finding(f"{mode} {'typed' if typed else 'untyped'}", judged, outcome, note)
        if decision.equivalent:
            note = _map_fault(reference, generated, decision, is_placeholder)
            yield Finding(f"{mode} object map", True, DISAGREED if note else AGREED, note)


def _verdict_outcome(
    reference: Problem, judged: bool, answer: bool | None, decision: Any, typed: bool
) -> tuple[str, str]:
    shown = f"judge {judged}, pipeline {answer}: {decision.verdict!s}, {decision.detail}"
    if decision.verdict == "reference_invalid" and answer is None:
        unsolvable = not solvable(reference) or not solvable(reference, typed=typed)
        return (SKIPPED, "") if unsolvable else (DISAGREED, shown)
    if typed and (decision.verdict in ("identical", "isomorphic", "equivalent")) != (answer is True):
        return DISAGREED, f"verdict and answer do not agree: {shown}"
    if answer is None:
        return UNDECIDED, decision.detail
    return (AGREED, "") if answer is judged else (DISAGREED, shown)


def _map_fault(reference: Problem, generated: Problem, decision: Any, is_placeholder: bool) -> str:
    """What is wrong with the map from generated to reference objects behind a yes; empty when nothing is.

    In placeholder mode the closed goals may have a map of their own.
    """
    init_map = decision.object_map
    goal_map = init_map if not is_placeholder or decision.goal_object_map is None else decision.goal_object_map
    for object_map in (init_map, goal_map):
        if object_map is None:
            return "no map behind a yes"
        if sorted(object_map) != sorted(generated.objects) or sorted(object_map.values()) != sorted(reference.objects):
            return f"no bijection: {object_map}"
        if any(reference.objects[object_map[o]] != type_ for o, type_ in generated.objects.items()):
            return f"types are not kept: {object_map}"
    if renamed_state(generated.init, init_map) != reference.init:
        return f"initial state not onto initial state: {init_map}"
    closed = closure(generated)
    if closed is None or renamed_state(closed, goal_map) != closure(reference):
        return f"closed goal not onto closed goal: {goal_map}"
    return ""


def certificate_findings(pair: Pair, planning_domain: Any) -> Iterator[Finding]:
    """Whether the certificates are equal exactly when the problems are equivalent."""
    for is_placeholder in (False, True):
        check = f"certificate {'placeholder' if is_placeholder else 'identity'}"
        judged = equivalent(pair.reference, pair.generated, is_placeholder)
        tasks = (Task(problem, planning_domain) for problem in (pair.reference, pair.generated))
        first, second = (task.placeholder_certificate if is_placeholder else task.certificate for task in tasks)
        undecided = [c.reason for c in (first, second) if isinstance(c, Undecided)]
        if undecided:
            yield Finding(check, judged, UNDECIDED, undecided[0])
        elif (first == second) is judged:
            yield Finding(check, judged, AGREED)
        else:
            yield Finding(check, judged, DISAGREED, f"judge {judged}, certificates {first} and {second}")


def overloaded_findings(pair: Pair, domain: str, random: Random) -> Iterator[Finding]:
    """The pair in words where predicates with different numbers of arguments share names."""
    known = known_domain(domain)
    assert known is not None
    used = {(atom[0], len(atom) - 1) for each in known.domain.operators for part in each.parts for atom in part}
    names: dict[tuple[str, int], str] = {}
    for symbol in random.sample(sorted(used), len(used)):
        free = [
            f"n{n}" for n in range(len(used)) if (f"n{n}", symbol[1]) not in {(new, a) for (_, a), new in names.items()}
        ]
        names[symbol] = random.choice(free[:2])

    def words(atoms: frozenset[Atom]) -> frozenset[Atom]:
        return frozenset((names.get((atom[0], len(atom) - 1), atom[0]), *atom[1:]) for atom in atoms)

    operators = tuple(Operator(each.name, each.parameters, *map(words, each.parts)) for each in known.domain.operators)
    text = domain_to_pddl(Domain(domain, {}, {}, {}, operators))
    problems = [
        replace(each, init=words(each.init), goal=words(each.goal)) for each in (pair.reference, pair.generated)
    ]
    yield Finding("overloaded rules", True, AGREED if planning_domain(text).rules else DISAGREED, "no rules")
    for is_placeholder in (False, True):
        found = compare_problems(*problems, domain=text, is_placeholder=is_placeholder)
        judged = equivalent(pair.reference, pair.generated, is_placeholder)
        yield Finding(
            "overloaded verdict", judged, *_verdict_outcome(pair.reference, judged, found.equivalent, found, True)
        )
    for before, problem in zip((pair.reference, pair.generated), problems, strict=True):
        outcome, note = _plan_outcome(before, Task(problem, planning_domain(text)).plan, True)
        yield Finding("overloaded plan", solvable(before), outcome, note)
        expected = closure(before)
        closed = Task(problem, planning_domain(text)).closure
        yield Finding(
            "overloaded closure", expected is not None, *_closure_outcome(expected and words(expected), closed)
        )


def main() -> int:
    """Compare, print the disagreements and the table; 1 when there are any."""
    parser = drawing(__doc__, 1000, "pairs")
    parser.add_argument("--domain", choices=sorted(DOMAINS), required=True)
    parser.add_argument("--overloaded", action="store_true", help="predicates share names, the domain is a text")
    arguments = parser.parse_args()
    tally = Tally("compared", "yes", SKIPPED, UNDECIDED, DISAGREED)
    for number in range(arguments.first, arguments.first + arguments.count):
        pair = draw(arguments.domain, arguments.seed, number)
        found = (
            overloaded_findings(pair, arguments.domain, Random(f"overloaded {number}"))
            if arguments.overloaded
            else findings(pair, arguments.domain)
        )
        faults = []
        for each in found:
            tally.count([each.check], "compared", "yes" if each.judged else "", each.outcome)
            faults += [f"  {each.check}: {each.note}"] if each.outcome == DISAGREED else []
        if faults:
            how = f"pair {number} ({pair.kind}, {'legal' if pair.legal else 'not legal'})"
            tally.disagree("\n".join([how, *faults, *map(problem_to_pddl, (pair.reference, pair.generated))]))
    return tally.finish(arguments.seed)


if __name__ == "__main__":
    sys.exit(main())
