"""Two scored datasets compared row by row: which answers got better or worse, which are new or gone, by how much.

It reads the score columns of both and scores nothing. Models compared within one dataset are the business of
``pddl_eval.report``.
"""

from pddl_eval.comparison.compare import Comparison, compare_datasets

__all__ = ["Comparison", "compare_datasets"]
