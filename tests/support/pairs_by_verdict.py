"""Pairs of problems whose verdicts follow from the definition, one for each verdict."""

from pddl_eval.definition.verdict import Verdict

REFERENCE = """(define (problem tower)
  (:domain blocksworld)
  (:objects a b c)
  (:init (arm-empty) (clear a) (on a b) (on-table b) (clear c) (on-table c))
  (:goal (and (on a b) (on b c))))"""

RENAMED = """(define (problem tower)
  (:domain blocksworld)
  (:objects x y z)
  (:init (arm-empty) (clear x) (on x y) (on-table y) (clear z) (on-table z))
  (:goal (and (on x y) (on y z))))"""

ANSWERS: dict[Verdict, str | None] = {
    Verdict.IDENTICAL: f"Sure!\n```pddl\n{REFERENCE}\n```\n",
    Verdict.ISOMORPHIC: RENAMED,
    Verdict.EQUIVALENT: RENAMED.replace("(on y z)", "(on y z) (clear x)"),
    Verdict.EMPTY: None,
    Verdict.UNPARSEABLE: "I cannot do that.",
    Verdict.NOT_STRIPS: REFERENCE.replace("(on b c)", "(not (on b c))"),
    Verdict.DOMAIN_MISMATCH: REFERENCE.replace("blocksworld", "gripper"),
    Verdict.INVALID_ATOM: REFERENCE.replace("(on b c)", "(on b d)"),
    Verdict.OBJECT_COUNT: REFERENCE.replace("a b c", "a b c d"),
    Verdict.TYPES_DIFFER: REFERENCE.replace("a b c", "a b c - block"),
    Verdict.INIT_DIFFERS: REFERENCE.replace("(on a b) (on-table b)", "(on a b)"),
    Verdict.GOAL_DIFFERS: RENAMED.replace("(on x y) (on y z))", "(on y x) (on x z))"),
    Verdict.UNSOLVABLE: REFERENCE.replace("(on b c)", "(on b c) (on c a)"),
}
"""An answer for each verdict that one can have against ``REFERENCE``, save ``undecided``."""

UNKNOWN = "(define (problem p) (:domain nowhere) (:objects a) (:init (q a)) (:goal (and {})))"
"""A problem of a domain that nobody knows, with a goal to fill in."""

HOSTILE = '<script>alert("1")</script> &amp; </pre></svg> ]]> \x1b[2J\x07 \u202e [bold]rich[/bold] {0} %s '
"""What must never reach a page, a picture or a terminal as it is."""
