"""Which problems of a dataset are the same planning problem: equivalence classes, duplicates, leaks between splits.

``texts`` reads the problems and tells distinct texts apart, ``certify`` gives each distinct text its certificate,
``find`` and ``classes`` join the rows by it, ``summary`` counts. Nothing here decides equivalence, and no two problems
are ever compared: equal certificates are equivalence (``pddl_eval.equivalence.certificate``).
"""

from pddl_eval.dedupe.find import Duplicates, dedupe

__all__ = ["Duplicates", "dedupe"]
