"""How fast this machine scores, beside a plain baseline, one parse by the ``pddl`` package, and other programs.

Workloads have fixed seeds, so two runs measure the same pairs. Times are those of this machine at this moment: quote
ratios within one run. Nothing here asserts a time.
"""

from pddl_eval.bench.measuring import machine, measure, whole_runs
from pddl_eval.bench.peers import CELLS, measure_peer
from pddl_eval.bench.workloads import WORKLOADS

__all__ = ["CELLS", "WORKLOADS", "machine", "measure", "measure_peer", "whole_runs"]
