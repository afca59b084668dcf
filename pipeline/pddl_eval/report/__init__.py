"""A scored dataset turned into the tables and figures of a paper, and two of them compared row by row.

``build_report`` reads the score columns (lazily, with polars) into a ``Report``: a value of small frames.
``report_page`` puts them into words and tables; all writers take that value and read nothing. ``compare_datasets`` and
``comparison_page`` do the same for two datasets. Nothing here scores.
"""

from pddl_eval.report.build import Report, build_report, ranking
from pddl_eval.report.diff import (
    NAMES,
    Comparison,
    compare_datasets,
    comparison_page,
    comparison_text,
)
from pddl_eval.report.files import files_in, page_text, report_html, report_text, save
from pddl_eval.report.rows import Listed, listed_rows, texts_of
from pddl_eval.report.scored import open_scored
from pddl_eval.report.sections import brief_page, report_page, warnings
from pddl_eval.report.series import Series, compare_series, series_page, series_text
