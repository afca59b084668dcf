"""Optimal costs against uniform-cost search: ``python -m tests.measure.optimal_costs --count 5000 --seed 1``.

Draws problems of the judges' domains, with and without a plan, and compares what ``pddl_eval`` says the cheapest plans
cost with a uniform-cost search in ``tests.judges.interpreter`` (breadth-first where each action costs 1). Left out are
problems with more states than ``--states``, those whose metric is another than ``total-cost``, and those in which a
derived predicate asks for a number that a state does not have.
Prints each disagreement in full and a table, and exits with 1 on any.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from pddl_eval.definition.state_space import goal_costs
from pddl_eval.definition.task import task_of
from pddl_eval.definition.verdict import Undecided

from tests.judges.domains import Story
from tests.judges.interpreter import Refused, TooManyStates, Undefined, optimal_task_cost, reachable_states, read
from tests.judges.pairs import pair
from tests.judges.plans import cases
from tests.measure.tally import Tally, drawing

COLUMNS = ["tasks", "cost above 0", "no plan", "undecided", "wrong", "other metric", "too many states", "undefined"]


def problems(number: int, seed: int) -> Iterator[tuple[Story, str]]:
    """The problem of a walk, the same with another goal, and both problems of a pair."""
    for case in cases(number, seed):
        if case.how in ("valid", "another goal"):
            yield case.story, case.problem
    drawn = pair(number, seed)
    yield drawn.story, drawn.reference
    yield drawn.story, drawn.generated


def compare(story: Story, problem: str, states: int) -> tuple[str, str]:
    """The column in which the problem counts, and what differs."""
    try:
        task = read(story.text, problem)
        reachable_states(task, states)
        least = optimal_task_cost(task, states)
    except TooManyStates:
        return "too many states", ""
    except Undefined:
        return "undefined", ""
    except Refused:
        return "other metric", ""
    asked = task_of(problem, story.text, for_plans=True)
    assert asked.domain is not None
    found = goal_costs(asked.problem, asked.domain.domain)
    if isinstance(found, Undecided):
        return "undecided", found.reason
    if found.optimal_cost != least:
        return "wrong", f"{found.optimal_cost}, judge {least}"
    return "no plan" if least is None else "cost above 0" if least else "tasks", ""


def main() -> int:
    """Compare, print the disagreements and the table; 1 when there are any."""
    parser = drawing(__doc__, 500, "problems that are compared")
    parser.add_argument("--states", type=int, default=200, help="most states of a problem")
    arguments = parser.parse_args()
    tally, number = Tally(*COLUMNS), arguments.first
    while tally.cells["all"]["tasks"] < arguments.count:
        for story, problem in problems(number, arguments.seed):
            column, difference = compare(story, problem, arguments.states)
            tally.count((story.name, "all"), column, "" if column in ("tasks", *COLUMNS[-3:]) else "tasks")
            if column == "wrong":
                tally.disagree(f"{number} {story.name}: {difference}\n{problem}")
        number += 1
    return tally.finish(arguments.seed)


if __name__ == "__main__":
    sys.exit(main())
