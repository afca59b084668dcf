"""The command ``pddl-eval``: one file of this folder for each command.

Commands import the rooms of the library inside their functions, so that ``pddl-eval --help``, completion and a typing
mistake take a tenth of a second and not the second that polars, pyarrow, ray and pddl need to load. Nothing else
justifies an import inside a function here.
"""

from __future__ import annotations

import click

from pddl_eval.commands.check import check
from pddl_eval.commands.command import Group
from pddl_eval.commands.compare import compare
from pddl_eval.commands.dedupe import dedupe
from pddl_eval.commands.explain import explain
from pddl_eval.commands.generate import generate
from pddl_eval.commands.mcp import mcp
from pddl_eval.commands.nightly import nightly
from pddl_eval.commands.report import report
from pddl_eval.commands.rescore import rescore
from pddl_eval.commands.score import score
from pddl_eval.commands.status import status
from pddl_eval.commands.validate import validate
from pddl_eval.commands.verify import verify
from pddl_eval.version import program_version


def _print_version(ctx: click.Context, _param: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        from pddl_eval import kernel

        print(f"pddl-eval {program_version()} (kernel {kernel.version() or 'none'})")
        ctx.exit()


@click.group("pddl-eval", cls=Group)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version, help="Print the version."
)
def main() -> None:
    """Score PDDL problems, plans and domains written by language models against references.

    \b
    pddl-eval score pairs.parquet scored
    pddl-eval report scored --output report.html
    pddl-eval explain scored --row 17
    """


for each in (score, status, verify, rescore, compare, nightly, report, explain, validate, check, generate, dedupe, mcp):
    main.add_command(each)
