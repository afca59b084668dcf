"""Why a row has its scores: problems, plans and domains side by side, what was read of the answer, what decided.

``print`` shows an explanation; ``html_page`` and ``scenes_svg`` draw it. Nothing here decides anything.
"""

from pddl_eval.explain.dataset_row import DatasetRow, find_row, options_of, scored_columns
from pddl_eval.explain.drawing import html_page, problem_svg, scenes_svg, timeline_svg
from pddl_eval.explain.explanation import Explanation, explain, plan_file
from pddl_eval.explain.plans import PlanExplanation
from pddl_eval.explain.row import RowExplanation, explain_row
from pddl_eval.explain.tables import line_by_line, marks_of
from pddl_eval.explain.validation import validation_page

__all__ = [
    "DatasetRow",
    "Explanation",
    "PlanExplanation",
    "RowExplanation",
    "explain",
    "explain_row",
    "find_row",
    "html_page",
    "line_by_line",
    "marks_of",
    "options_of",
    "plan_file",
    "problem_svg",
    "scenes_svg",
    "scored_columns",
    "timeline_svg",
    "validation_page",
]
