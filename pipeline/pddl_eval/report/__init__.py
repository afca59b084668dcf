"""A scored dataset turned into the tables and figures of a paper.

``build_report`` reads the score columns (lazily, with polars) into a ``Report``: a value of small frames.
``report_page`` puts them into words and tables; all writers take that value and read nothing. Nothing here scores.
"""

from pddl_eval.report.build import Report, build_report
from pddl_eval.report.files import report_html, report_json, write_figures, write_tables
from pddl_eval.report.sections import report_page, warnings

__all__ = [
    "Report",
    "build_report",
    "report_html",
    "report_json",
    "report_page",
    "warnings",
    "write_figures",
    "write_tables",
]
