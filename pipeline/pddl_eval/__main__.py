"""``python -m pddl_eval``: the command ``pddl-eval`` where no script is installed."""

from pddl_eval.commands.cli import main

main()
