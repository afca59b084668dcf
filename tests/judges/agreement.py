"""Where the program's verdict on a plan is not the judge's."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from random import Random
from typing import NamedTuple

import pddl_eval

from tests.judges import trajectories
from tests.judges.interpreter import TOTAL_COST, Atom, Judgement, judge
from tests.judges.plans import Case, plan_text


class Outcome(NamedTuple):
    """A case, decided by both."""

    case: Case
    plan: str
    judgement: Judgement
    undecided: bool
    difference: str
    """What differs, with both values; empty where nothing does."""

    def shown(self) -> str:
        """Everything that is needed to try it again."""
        return "\n".join((self.difference, self.case.story.text, self.case.problem, self.plan))


def outcome(case: Case, random: Random) -> Outcome:
    """Ask the judge and the program."""
    plan = plan_text(random, case.steps)
    judgement = judge(case.story.text, case.problem, case.steps, any_order=plain(case.story.text))
    undecided, difference = compared(plan, case.problem, case.story.text, judgement)
    return Outcome(case, plan, judgement, undecided, difference)


def plain(domain: str) -> bool:
    """Whether a domain has literals only. There the program has another rule for concurrent steps than PDDL 2.1.

    Its page on the language of plans says: actions may happen at once if each order of them gives the same.
    """
    return not re.search(r"\((or|imply|forall|exists|when|:derived|:functions)\b", domain)


def compared(plan: str, problem: str, domain: str, right: Judgement) -> tuple[bool, str]:
    """Whether the program leaves the plan undecided, and how it differs from the judgement."""
    found = pddl_eval.validate(plan, problem, domain)
    if found.valid is None:
        return True, ""
    pairs = {
        "valid": (found.valid, right.valid),
        "verdict": (str(found.verdict), right.verdict),
        "failed_step": (found.failed_step, right.failed_step),
        "cost": (found.cost, right.cost),
    }
    if found.states:  # There are none where no step names an action at all.
        states = [(state.atoms, state.numbers) for state in right.states]
        pairs["states"] = (list(map(shown, found.states)), list(map(shown, states)))
    differences = [f"{name}: {ours}, judge {theirs}" for name, (ours, theirs) in pairs.items() if ours != theirs]
    return False, "; ".join(differences) and f"{'; '.join(differences)} ({found.detail})"


def shown(state: tuple[frozenset[Atom], Mapping[Atom, Fraction]]) -> tuple[frozenset[Atom], dict[Atom, Fraction]]:
    """A state without a cost of 0, which may be written or not."""
    atoms, numbers = state
    return atoms, {fluent: number for fluent, number in numbers.items() if (fluent, number) != (TOTAL_COST, 0)}


def timed_difference(plan: str, problem: str, domain: str, right: trajectories.Judgement) -> str:
    """How the program differs from the judge of time; empty where it does not.

    Of several faults of one happening the program may name any; which preferences are violated counts for valid plans.
    """
    found = pddl_eval.validate(plan, problem, domain)
    verdict = str(found.verdict)
    faults = {fault for fault in right.faults if fault.verdict == verdict}
    if not faults and (verdict != "valid" or right.faults):
        return (
            f"verdict: {verdict}, judge {sorted({fault.verdict for fault in right.faults}) or 'valid'} ({found.detail})"
        )
    steps = {fault.step for fault in faults}
    only_literals = steps == {None} and verdict == "interference"  # No step is at fault; the program says the first.
    if faults and found.failed_step not in steps and not only_literals:
        return f"failed_step: {found.failed_step}, judge {faults} ({found.detail})"
    if right.faults:
        return ""
    states = [(state.atoms, dict(state.numbers)) for _, state in right.path]
    pairs = {
        "cost": (found.cost, right.cost),
        "violated": (Counter(found.violated), right.violated),
        "constraint_share": (found.constraint_share, None if right.share is None else float(right.share)),
        "states": ([(atoms, dict(numbers)) for atoms, numbers in found.states], states),
    }
    if found.times:  # There are none where time does not count.
        pairs["times"] = (list(found.times), [moment.time for moment in right.path])
    return "; ".join(f"{name}: {ours}, judge {theirs}" for name, (ours, theirs) in pairs.items() if ours != theirs)
