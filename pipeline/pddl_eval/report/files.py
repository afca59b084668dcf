"""The report for programs: its frames as JSON, CSV and Parquet, unrounded and as the data names things."""

from __future__ import annotations

import json
import os
from dataclasses import fields
from io import BytesIO

import polars as pl

from pddl_eval.report.build import Report
from pddl_eval.run import locate, put_bytes


def report_json(report: Report) -> str:
    """Everything that the report knows, frames as lists of objects under ``tables``."""
    simple = {
        field.name: value
        for field in fields(report)
        if not isinstance(value := getattr(report, field.name), pl.DataFrame)
    }
    simple["signatures"] = [{"signature": signature, "rows": rows} for signature, rows in report.signatures]
    tables = {name: frame.to_dicts() for name, frame in report.tables().items()}
    return json.dumps({**simple, "tables": tables}, ensure_ascii=False, indent=1) + "\n"


def write_tables(report: Report, output: str | os.PathLike[str], suffix: str) -> None:
    """Write the frames as ``csv`` or ``parquet``: one file each into a folder, or the rates alone into a file.

    Where ``output`` ends in ``.csv`` or ``.parquet`` it names a file; it may be a URI. Raises ``DatasetError`` where it
    names nothing that can be, ``OutputError`` where it cannot be written.
    """
    place = locate(output)
    if place.path.endswith(f".{suffix}"):
        put_bytes(place, _encoded(report.main_table(), suffix))
        return
    for name, frame in report.tables().items():
        put_bytes(place / f"{name}.{suffix}", _encoded(frame, suffix))


def _encoded(frame: pl.DataFrame, suffix: str) -> bytes:
    content = BytesIO()
    if suffix == "csv":
        frame.write_csv(content)
    else:
        frame.write_parquet(content)
    return content.getvalue()
