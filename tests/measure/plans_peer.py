"""unified-planning on plans, in its own Python: ``plans_any --peer unified-planning`` starts this file as a script.

It imports the standard library and unified-planning. Cases come in as a JSON list; what goes out is, for each, whether
its sequential plan validator says ``valid`` or ``invalid`` and the value of the metric, or its error.
"""

import importlib
import importlib.metadata
import json
import os
import sys
from functools import lru_cache
from typing import Any


@lru_cache(maxsize=4)
def read(domain: str, problem: str) -> Any:
    """A problem, read once for all its plans."""
    return importlib.import_module("unified_planning.io").PDDLReader().parse_problem_string(domain, problem)


def answer(case: dict[str, Any]) -> tuple[str, str | None]:
    """The verdict and the metric's value as text."""
    try:
        problem = read(case["domain"], case["problem"])
    except Exception as error:
        return f"cannot read: {type(error).__name__}: {error}".splitlines()[0][:160], None
    try:
        text = "\n".join(f"({' '.join(step)})" for step in case["steps"])
        plan = importlib.import_module("unified_planning.io").PDDLReader().parse_plan_string(problem, text)
    except Exception:
        return "invalid", None  # It has no other way to say that a name or the number of arguments is wrong.
    try:
        validators = importlib.import_module("unified_planning.engines.plan_validator")
        result = validators.SequentialPlanValidator().validate(problem, plan)
    except Exception as error:
        return f"cannot validate: {type(error).__name__}: {error}".splitlines()[0][:160], None
    costs = [str(value) for value in (result.metric_evaluations or {}).values()]
    return result.status.name.lower(), costs[0] if costs else None


def main() -> None:
    """``plans_peer.py < CASES``."""
    sys.path.pop(0)  # The folder of this script: its neighbours are not what the peer means by their names.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # What a peer prints is not an answer.
    found = [answer(case) for case in json.load(sys.stdin)]
    print(json.dumps({"version": importlib.metadata.version("unified_planning"), "answers": found}), file=answers)


if __name__ == "__main__":
    main()
