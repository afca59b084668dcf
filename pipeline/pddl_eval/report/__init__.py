"""A scored dataset turned into the tables and figures of a paper.

``build_report`` reads the score columns (lazily, with polars) into a ``Report``: a value of small frames. The renderers
(``terminal``, ``markdown``, ``html``, ``files``, ``figures``) take that value and read nothing. Nothing here scores.
"""

from pddl_eval.report.build import Report, build_report

__all__ = ["Report", "build_report"]
