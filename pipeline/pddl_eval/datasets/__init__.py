"""Reads and writes rows, in every form and store; joins answers to their references.

It knows no PDDL and no runs. Errors of places and files become ``DatasetError`` and ``OutputError`` here.
"""

from pddl_eval.datasets import places
from pddl_eval.datasets.answers import with_references
from pddl_eval.datasets.columns import is_text, rows_of, taken, together, values_of
from pddl_eval.datasets.condition import fulfilling, only_where, parquet_where
from pddl_eval.datasets.forms import PARQUET_SUFFIXES, FileVersion, InputFile, RowGroup, form_of_name
from pddl_eval.datasets.inputs import (
    INPUT_FOLDER,
    KNOWN_FOLDER,
    PARTITIONS,
    SIGNATURE_KEY,
    Input,
    Source,
    Write,
    as_parquet,
    contents,
    find_source,
    holds_text,
    in_threads,
    key_of,
    known_contents,
    open_source,
    partition_stem,
    place_of,
    require_columns,
    require_parquet,
    require_text,
)
from pddl_eval.datasets.named import digest_of
from pddl_eval.datasets.parquet import step_rows
from pddl_eval.datasets.places import (
    DatasetError,
    Location,
    OutputError,
    OutputUnavailable,
    Unavailable,
    dataset_errors,
    has_file,
    list_files,
    list_folders,
    locate,
    new_file,
    new_parquet,
    one_line,
    put_bytes,
    read_bytes,
    read_text,
    remove_folder,
)
from pddl_eval.datasets.rows import Rows, close_file, column_batches, read_row, read_rows
