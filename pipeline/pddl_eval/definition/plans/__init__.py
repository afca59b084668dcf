"""Action sequences out of raw model answers, in the notations that ``reading`` lists."""

from pddl_eval.definition.plans.found import (
    Damage,
    Operators,
    Plan,
    ReadPlan,
    Step,
    Unread,
    actions_of,
    without_finish,
)
from pddl_eval.definition.plans.json import in_order, steps_of_value
from pddl_eval.definition.plans.reading import EMPTY, NO_ANSWER, NO_OPERATOR, PlanError, read_plan
