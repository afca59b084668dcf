"""PDDL texts to values: problems and domains out of raw model answers. Nothing here compares, searches or scores."""

from pddl_eval.definition.pddl.any_problem import parse_problem, read_any_problem
from pddl_eval.definition.pddl.authority import TOO_LONG, ParseError, Unreadable
from pddl_eval.definition.pddl.domains import (
    DomainError,
    OnlyActionsError,
    has_several_domains,
    parse_actions,
    parse_domain,
    typed_list,
)
from pddl_eval.definition.pddl.drafts import (
    MAX_CHARACTERS,
    note_on_drafts,
    pddl_text,
    says_nothing,
    too_long,
    without_thinking,
)
from pddl_eval.definition.pddl.durative import DURATION_PART
from pddl_eval.definition.pddl.language import (
    MODAL,
    Rule,
    changed_predicates,
    derivation_rules,
    derived_predicates,
    ill_typed,
    misfits,
    mistakes,
    not_executed,
    over_time,
    strata,
)
from pddl_eval.definition.pddl.problems import (
    has_several_problems,
    read_problem,
    require_declared,
)
from pddl_eval.definition.pddl.sexpr import (
    DEFINE_DOMAIN,
    DEFINE_PROBLEM,
    problem_blocks,
    without_comments,
)
