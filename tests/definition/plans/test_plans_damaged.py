"""Valid plans with lines damaged or decorated in 85 ways: no damaged one is valid, and no decorated one is lost.

The texts and their labels are those of ``damaged_plans``, written from DESIGN.md section 6 without sight of the reader.
Left out is what another rule decides: a heading of a plan between steps begins another draft (``plans.drafts``).
"""

from __future__ import annotations

import pytest
from pddl_eval.definition.metrics import PLAN, operators_of
from pddl_eval.definition.plans import Plan, ReadPlan, read_plan
from pddl_eval.definition.task import Task, task_of
from pddl_eval.scoring.plans import validate_in

from tests.support.damaged_plans import PLACES, WAYS, Text, texts
from tests.support.differential import Row, compared, needs_kernel
from tests.support.volume import in_two_sizes

HEADINGS = ("## Our plan for this task", "**Final plan:**", "Here is the plan, as asked:")


def labelled(count: int) -> list[Text]:
    """That many texts, without those in which a heading between steps begins another draft."""
    found = texts(count, seed=1)
    return [text for text in found if text.damaged or not any(heading in text.plan for heading in HEADINGS)]


def positional(plan: Plan) -> list[list[str]]:
    """The steps; of named arguments, which are sorted by their names, the values in alphabetical order."""
    return [[name, *sorted(argument.split("=")[-1] for argument in step)] for name, *step in plan]


def fault(text: Text) -> str:
    """What is wrong with the reading of this text; empty where nothing is."""
    task = task_of(text.problem, text.domain, for_plans=True)
    assert isinstance(task, Task)
    validation = validate_in(task, text.plan)
    known, unknown = read_plan(text.plan, operators=operators_of(task)), read_plan(text.plan)
    steps = positional(text.steps)
    wrong = ""
    if text.damaged:
        if validation.valid is not False:
            wrong = "damaged and valid"
        elif text.without_domain_too and is_whole(unknown) and positional(unknown.steps) == steps:
            wrong = "damaged and, without a domain, not said"
    elif not validation.valid:
        wrong = f"lost: {validation.detail}"
    elif not all(is_whole(read) and positional(read.steps) == steps for read in (known, unknown)):
        wrong = f"read as {known.steps}, without a domain {unknown.steps}"
    elif known.skipped != text.ways.count("quoting_prose"):
        wrong = f"{known.skipped} lines of prose that quote actions"
    return wrong and f"{wrong}: {text.ways} {text.plan!r}"


def is_whole(read: ReadPlan) -> bool:
    return read.found and read.damage is None and not read.reason


@in_two_sizes(200, 10_000)
def test_no_damaged_plan_is_valid_and_no_decorated_one_is_lost(cases: int) -> None:
    assert [wrong for text in labelled(cases) if (wrong := fault(text))] == []


@needs_kernel
@pytest.mark.xdist_group("kernel")
@in_two_sizes(100, 10_000)
def test_the_kernel_reads_what_the_definition_reads(cases: int) -> None:
    for with_domain in (True, False):
        rows: list[Row] = [
            {
                "reference_plan": "\n".join(f"({' '.join(step)})" for step in text.steps),
                "generated_plan": text.plan,
                "reference_problem": text.problem if with_domain else None,
                "domain": text.domain if with_domain else None,
            }
            for text in labelled(cases)
        ]
        assert not compared(rows, pair=PLAN).differences


@pytest.mark.slow
def test_each_way_is_tried_in_each_place() -> None:
    found = texts(2 * sum(len(way.places) for way in WAYS.values()), seed=1)
    tried = {(text.ways[0], text.places[0]) for text in found}
    assert tried == {(way.name, place) for way in WAYS.values() for place in way.places}
    assert {place for _, place in tried} == {*PLACES, "none"}
