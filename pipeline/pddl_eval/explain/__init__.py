"""Why a verdict is what it is: both problems side by side, what was read of the answer, what decided, the plans.

``print`` shows an explanation; ``html_page`` and ``scenes_svg`` draw it. Nothing here decides anything.
"""

from pddl_eval.explain.dataset_row import find_pair
from pddl_eval.explain.drawing import html_page, scenes_svg
from pddl_eval.explain.explanation import Explanation, explain, plan_file

__all__ = ["Explanation", "explain", "find_pair", "html_page", "plan_file", "scenes_svg"]
