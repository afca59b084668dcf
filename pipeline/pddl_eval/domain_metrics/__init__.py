"""How close two planning domains are as texts, operator by operator."""

from pddl_eval.domain_metrics.compare import compare_domains
from pddl_eval.domain_metrics.syntactic import DomainScores, score_domains, unreadable_domain

__all__ = ["DomainScores", "compare_domains", "score_domains", "unreadable_domain"]
