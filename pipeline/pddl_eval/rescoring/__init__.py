"""A dataset scored again: rows whose content is that of a row scored before keep its scores, the rest is scored.

What it writes is what ``score`` would have written, partition by partition; only the time spent differs. It compares no
scores: that is ``pddl_eval.diff``.
"""

from pddl_eval.rescoring.rescore import rescore_dataset

__all__ = ["rescore_dataset"]
