"""The benchmark's tasks: how its problems are arranged, which of them there are, and how they are told in words.

``blocksworld``, ``gripper`` and ``floor_tile`` hold the configurations of the paper's appendix D, each one function
from parameters to a ``Scene`` (atoms and words). ``enumeration`` combines initial and goal configurations into the 73
tasks and their 145,918 text-to-PDDL pairs. A new task is one new function and its line in the table at the end of its
file.

The room's other half takes any reference problem and makes answers of known correctness from it: ``variants`` draws
them by the mixes of ``presets`` from the kinds of ``rewritings`` (the same problem), ``changes`` (another problem) and
``damage`` (no problem). Nothing here judges an answer: labels hold by construction, and each kind says why.

``tables`` turns both into Arrow tables, and ``sample`` picks the few hundred pairs that are bundled with the project.
"""
