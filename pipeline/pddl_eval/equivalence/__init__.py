"""Algorithm 1 of the paper, exact: are two PDDL problems the same planning problem?

``task`` is a problem in its domain with all that is known of it, ``decide`` compares two tasks, ``wording`` finds words
for what differs, ``scene_graph`` draws the paper's graphs for people. ``domains`` compares two domains, ``whole_tasks``
domains with their problems, in whatever words.
"""

from pddl_eval.equivalence.counterexample import counterexample
from pddl_eval.equivalence.decide import decide, same_domain
from pddl_eval.equivalence.domains import (
    DomainDecision,
    Partners,
    decide_domains,
    difference_sentence,
    operator_name,
    partners,
)
from pddl_eval.equivalence.scene_graph import same_graph, scene_graph
from pddl_eval.equivalence.task import Task, read_pair, read_task, task_of
from pddl_eval.equivalence.whole_tasks import TaskDecision, decide_tasks
from pddl_eval.equivalence.wording import closest_matching

__all__ = [
    "DomainDecision",
    "Partners",
    "Task",
    "TaskDecision",
    "closest_matching",
    "counterexample",
    "decide",
    "decide_domains",
    "decide_tasks",
    "difference_sentence",
    "operator_name",
    "partners",
    "read_pair",
    "read_task",
    "same_domain",
    "same_graph",
    "scene_graph",
    "task_of",
]
