"""Score a dataset: ``pddl-eval score`` for schedulers that start a file.

python jobs/score.py INPUT OUTPUT
ray job submit -- python /opt/pddl-eval/jobs/score.py s3://BUCKET/pairs s3://BUCKET/scored --engine ray

``infra/README.md`` says how to submit it from a clone, to a cluster without the program.
"""

from pddl_eval.commands.score import score

if __name__ == "__main__":
    score()
