"""``pddl-eval validate DOMAIN PROBLEM PLAN…``: are plans valid, and if not, why; a drop-in for VAL's ``Validate``."""

from __future__ import annotations

import sys

import click

from pddl_eval.commands.command import Command
from pddl_eval.commands.flags import argument, flags
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.errors import UserError

NOT_VALID, NOT_DECIDED = 1, 2

EXIT_CODES = "Exit codes: 0 all plans are valid, 1 one is not, 2 one cannot be read or executed."


@click.command(cls=Command, epilog=EXIT_CODES)
@argument("domain_file", "DOMAIN", "PDDL domain, or the name of a known one.")
@argument("problem", "PROBLEM", "PDDL problem; - reads stdin.")
@argument("plans", "PLAN...", "Plans in any notation, or raw answers; - reads stdin.", nargs=-1, required=True)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line for each plan.")
@click.option("--states", is_flag=True, help="Also what each step adds, deletes and sets.")
@click.option("--optimal", is_flag=True, help="Also the cheapest plans' cost, and what each step is worth.")
@flags(ScoringOptions, "answer")
def validate(
    domain_file: str, problem: str, plans: tuple[str, ...], as_json: bool, states: bool, optimal: bool, answer: str
) -> None:
    """Execute plans step by step: are they valid, and if not, why.

    \b
    pddl-eval validate domain.pddl problem.pddl plan.txt
    pddl-eval validate domain.pddl problem.pddl plans/*.txt --json
    pddl-eval validate blocksworld problem.pddl - --states

    STRIPS, ADL, derived predicates, numbers, durative actions, constraints. An empty file is the empty plan.
    """
    import json

    from pddl_eval.scoring.plans import (
        NOT_EXECUTED,
        validate_files,
        validation_text,
        validation_values,
        verdict_line,
    )
    from pddl_eval.shown import printable

    if [domain_file, problem, *plans].count("-") > 1:
        raise UserError("Standard input can be only one of the files.")
    code = 0
    for name, found in validate_files(domain_file, problem, plans, answer):
        if as_json:
            print(json.dumps({"plan": name, **validation_values(found, states=states, optimal=optimal)}))
        elif len(plans) == 1 or states or optimal:
            print(f"{printable(name)}:\n" * (len(plans) > 1) + validation_text(found, states=states, optimal=optimal))
        else:
            print(f"{printable(name)}: {verdict_line(found)}")
        code = max(code, 0 if found.valid else NOT_DECIDED if found.verdict in NOT_EXECUTED else NOT_VALID)
    sys.exit(code)
