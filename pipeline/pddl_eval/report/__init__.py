"""A scored dataset turned into the tables and figures of a paper.

``build_report`` reads the score columns (lazily, with polars) into a ``Report``: a value of small frames.
``report_page`` puts them into words and tables; all writers take that value and read nothing. Nothing here scores.
``diff`` uses the parts: scored datasets, groups, intervals.
"""

from pddl_eval.report.build import Report, build_report
from pddl_eval.report.files import report_html, report_json, to_json, write_figures, write_tables
from pddl_eval.report.groups import choose_groups, group_at, group_key, in_order
from pddl_eval.report.intervals import paired_difference
from pddl_eval.report.numbers import PROBLEM_MEASURES, measures
from pddl_eval.report.scored import DOMAIN_COLUMNS, PLAN_COLUMNS, ROW, Scored, ScoredInput, open_scored
from pddl_eval.report.sections import MEASURE_NAMES, report_page, warnings

__all__ = [
    "DOMAIN_COLUMNS",
    "MEASURE_NAMES",
    "PLAN_COLUMNS",
    "PROBLEM_MEASURES",
    "ROW",
    "Report",
    "Scored",
    "ScoredInput",
    "build_report",
    "choose_groups",
    "group_at",
    "group_key",
    "in_order",
    "measures",
    "open_scored",
    "paired_difference",
    "report_html",
    "report_json",
    "report_page",
    "to_json",
    "warnings",
    "write_figures",
    "write_tables",
]
