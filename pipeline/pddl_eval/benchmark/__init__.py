"""The Planetarium benchmark and tasks of one's own; answers and questions of known correctness.

``blocksworld``, ``gripper`` and ``floor_tile`` hold the configurations of the paper's appendix D, each one function
from parameters to a ``Side`` (atoms and words). ``enumeration`` combines initial and goal configurations into the 73
tasks and their 145,918 text-to-PDDL pairs. A new task is one new function and its name in the table at the end of its
file.

``answers`` holds the recipes that make answers from any reference problem, ``damages`` those for plans, domains and
questions, and ``variants`` draws them by presets.
``questions`` asks about any problems, with computed keys. ``own_tasks`` makes new problems in any domain, each with a
plan; ``starts`` their initial states. ``twins`` takes the names away from any rows,
``prompts`` makes requests for models of them.
``files`` writes them, and the few hundred pairs that are bundled with the project (``tests/support/sample.py`` makes
them). Nothing here judges an answer: labels hold by construction, and each recipe says why.
"""

from pddl_eval.benchmark.answers import Grade
from pddl_eval.benchmark.damages import KINDS
from pddl_eval.benchmark.enumeration import PAIRS, PAIRS_SCHEMA, benchmark_problems, task_problem
from pddl_eval.benchmark.files import (
    QUESTIONS_SAMPLE,
    SAMPLE,
    Making,
    certificates_in,
    seeds_in,
    write_benchmark,
    write_made,
    write_prompts,
    write_sample,
    write_tasks,
)
from pddl_eval.benchmark.floor_tile import Floor
from pddl_eval.benchmark.gripper import Load
from pddl_eval.benchmark.own_tasks import TASKS_SCHEMA, OwnTask, OwnTasks
from pddl_eval.benchmark.prompts import FORMATS, Prompts
from pddl_eval.benchmark.questions import Asking
from pddl_eval.benchmark.twins import STYLES, Twins
from pddl_eval.benchmark.variants import PRESETS, Preset, Variants
