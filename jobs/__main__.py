"""``python -m jobs``: the command ``pddl-eval`` where no script is installed."""

from jobs.cli import main

main()
