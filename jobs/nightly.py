"""One night: ``pddl-eval nightly`` for schedulers that start a file.

python jobs/nightly.py INPUT NIGHTS
"""

from pddl_eval.commands.nightly import nightly

if __name__ == "__main__":
    nightly()
