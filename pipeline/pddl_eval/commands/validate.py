"""``pddl-eval validate DOMAIN PROBLEM PLAN…``: are plans valid, and if not, why; a drop-in for VAL's ``Validate``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Never

import click

from pddl_eval.commands.command import Command
from pddl_eval.commands.flags import argument, flags
from pddl_eval.commands.outputs import force_option, require_all_writable
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.errors import UserError

if TYPE_CHECKING:
    from pddl_eval.scoring.plans import Validation

FORMS = ("html", "tex")

NOT_VALID, NOT_DECIDED = 1, 2

EXIT_CODES = "Exit codes: 0 all plans are valid, 1 one is not, 2 one cannot be read or executed."


@click.command(cls=Command, epilog=EXIT_CODES)
@argument("domain_file", "DOMAIN", "PDDL domain, or the name of a known one.")
@argument("problem", "PROBLEM", "PDDL problem; - reads stdin.")
@argument("plans", "PLAN...", "Plans in any notation, or raw answers; - reads stdin.", nargs=-1, required=True)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line for each plan.")
@click.option("--val", "as_val", is_flag=True, help="Print and exit as VAL's Validate does without options.")
@click.option("--states", is_flag=True, help="Also what each step adds, deletes and sets.")
@click.option("--optimal", is_flag=True, help="Also the cheapest plans' cost, and what each step is worth.")
@click.option("--output", metavar="FILE", help="Write a page with what each step changed: .html or .tex.")
@flags(ScoringOptions, "answer")
@force_option
def validate(
    domain_file: str,
    problem: str,
    plans: tuple[str, ...],
    as_json: bool,
    as_val: bool,
    states: bool,
    optimal: bool,
    output: str | None,
    answer: str,
    force: bool,
) -> None:
    """Execute plans step by step: are they valid, and if not, why.

    \b
    pddl-eval validate domain.pddl problem.pddl plan.txt
    pddl-eval validate domain.pddl problem.pddl plans/*.txt --json
    pddl-eval validate blocksworld problem.pddl - --states
    pddl-eval validate domain.pddl problem.pddl plan.txt --output plan.html

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
    form = (output or "").rpartition(".")[2]
    if output is not None:
        if form not in FORMS:
            raise UserError(
                f"--output is a file of the form {', '.join(FORMS)}, by its ending, not {printable(output)}"
            )
        require_all_writable({form: output}, [domain_file, problem, *plans], force=force)
    validated = validate_files(domain_file, problem, plans, answer)
    if output is not None:
        from pddl_eval.datasets import locate, put_bytes  # slow to import, as pages are; most calls write none
        from pddl_eval.explain import validation_page
        from pddl_eval.pages import html, render
        from pddl_eval.report import page_text

        validated = iter(kept := list(validated))
        page = validation_page(kept)
        text = html(page, script=render("row.js")) if form == "html" else page_text(page, form)
        put_bytes(locate(output), text.encode())
    if as_val:
        _print_as_val(list(validated))
    code = 0
    for name, found in validated:
        if as_json:
            print(json.dumps({"plan": name, **validation_values(found, states=states, optimal=optimal)}))
        elif len(plans) == 1 or states or optimal:
            print(f"{printable(name)}:\n" * (len(plans) > 1) + validation_text(found, states=states, optimal=optimal))
        else:
            print(f"{printable(name)}: {verdict_line(found)}")
        code = max(code, 0 if found.valid else NOT_DECIDED if found.verdict in NOT_EXECUTED else NOT_VALID)
    if output is not None and not as_json:
        print(f"\nwritten: {printable(output)}")
    sys.exit(code)


def _print_as_val(validated: list[tuple[str, Validation]]) -> Never:
    from pddl_eval.definition.verdict import PlanVerdict
    from pddl_eval.scoring.val import FAILED_TO_START, val_exit_code, val_lines

    for _, found in validated:
        if found.verdict is PlanVerdict.REFERENCE_INVALID:
            print(f"Error: {found.detail}", file=sys.stderr)
            sys.exit(FAILED_TO_START)
    print("\n".join(val_lines(validated)))
    sys.exit(val_exit_code(found for _, found in validated))
