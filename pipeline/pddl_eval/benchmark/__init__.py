"""The Planetarium benchmark: its problems and their descriptions in words, and answers of known correctness.

``blocksworld``, ``gripper`` and ``floor_tile`` hold the configurations of the paper's appendix D, each one function
from parameters to a ``Side`` (atoms and words). ``enumeration`` combines initial and goal configurations into the 73
tasks and their 145,918 text-to-PDDL pairs. A new task is one new function and its name in the table at the end of its
file.

``answers`` holds the recipes that make answers from any reference problem, ``variants`` draws them by presets, and
``sample`` picks the few hundred pairs that are bundled with the project. Nothing here judges an answer: labels hold by
construction, and each recipe says why.
"""

from pddl_eval.benchmark.answers import Grade
from pddl_eval.benchmark.enumeration import (
    DOMAINS,
    PAIRS,
    PAIRS_SCHEMA,
    SIZE_BUCKETS,
    benchmark_pairs,
    benchmark_problems,
    pairs_tables,
)
from pddl_eval.benchmark.sample import sample_table
from pddl_eval.benchmark.variants import PRESETS, Preset, by_preset, variants_schema, variants_table

__all__ = [
    "DOMAINS",
    "PAIRS",
    "PAIRS_SCHEMA",
    "PRESETS",
    "SIZE_BUCKETS",
    "Grade",
    "Preset",
    "benchmark_pairs",
    "benchmark_problems",
    "by_preset",
    "pairs_tables",
    "sample_table",
    "variants_schema",
    "variants_table",
]
