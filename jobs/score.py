"""Score a dataset: ``pddl-eval score`` for schedulers that start a file.

python jobs/score.py INPUT OUTPUT
ray job submit --working-dir . -- python jobs/score.py s3://BUCKET/pairs s3://BUCKET/scored --engine ray
"""

from pddl_eval.commands.command import run_alone
from pddl_eval.commands.score import score

if __name__ == "__main__":
    run_alone(score)
