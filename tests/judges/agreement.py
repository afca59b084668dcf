"""Where the program's verdict on a plan is not the judge's."""

from __future__ import annotations

from random import Random
from typing import NamedTuple

import pddl_eval

from tests.judges.interpreter import Judgement, judge
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
    plan, judgement = plan_text(random, case.steps), judge(case.story.text, case.problem, case.steps)
    found = pddl_eval.validate(plan, case.problem, case.story.text)
    if found.valid is None:
        return Outcome(case, plan, judgement, True, "")
    pairs = {
        "valid": (found.valid, judgement.valid),
        "verdict": (str(found.verdict), judgement.verdict),
        "failed_step": (found.failed_step, judgement.failed_step),
        "cost": (found.cost, judgement.cost),
    }
    differences = [f"{name}: {program}, judge {right}" for name, (program, right) in pairs.items() if program != right]
    return Outcome(
        case, plan, judgement, False, "; ".join(differences) and f"{'; '.join(differences)} ({found.detail})"
    )
