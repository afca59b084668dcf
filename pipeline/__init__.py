"""pddl-eval: score PDDL problems, plans and domains written by language models against references."""
