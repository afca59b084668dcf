"""Why a verdict is what it is: both problems side by side, what was read of the answer, what decided, the plans.

``explanation`` gathers the values, with ``reading`` and ``side_by_side``, from ``pddl_eval.scoring`` and the rooms below
it; ``text``, ``html`` and ``scene_svg`` show them in the ``words`` that they share; ``dataset_row`` finds the pair that
a row of a dataset holds. Nothing here decides anything.
"""

from pddl_eval.explain.explanation import Explanation, explain

__all__ = ["Explanation", "explain"]
