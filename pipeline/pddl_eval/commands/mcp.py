"""``pddl-eval mcp``: the functions on texts as tools for agents."""

from __future__ import annotations

import click

from pddl_eval.commands.command import Command
from pddl_eval.errors import require_extra


@click.command(cls=Command)
def mcp() -> None:
    """Serve tools to agents over standard input (MCP).

    \b
    pddl-eval mcp

    Tools: validate, compare_problems, compare_domains, feedback, judge_answer, explain, generate_task. A call has the
    limits of a row. Needs the extra mcp.
    """
    require_extra("mcp", "pddl-eval mcp")
    from pddl_eval.integrations.mcp import server

    server().run()
