"""The functions on texts as tools of the Model Context Protocol: ``pddl-eval mcp`` serves them on standard input.

A call has the limits of a row of a dataset: sizes, nesting, work, processor time. What a client reads is bounded, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Annotated, Any, Literal

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import Field

import pddl_eval
from pddl_eval.definition.model import show_atom
from pddl_eval.definition.questions import kinds
from pddl_eval.errors import UserError
from pddl_eval.pages import markdown
from pddl_eval.scoring.plans import validation_values
from pddl_eval.shown import block
from pddl_eval.version import program_version

MOST_ITEMS, MOST_CHARACTERS = 500, 20_000
"""Entries of a list and characters of a text that a client reads; ``cut`` names what has more."""

MOST_STEPS = 50
"""Of the plan of a task that is made."""

INSTRUCTIONS = (
    "Exact verdicts on PDDL: is a plan valid, are two problems or domains the same task, is an answer to a question "
    "about a problem right. A verdict is proven, not guessed; what is not decided within the limits is `undecided`."
)

_START = "(:init (arm-empty) (clear a) (on-table a) (clear b) (on-table b))"
_TOWER = f"(define (problem p) (:domain blocksworld) (:objects a b) {_START} (:goal (on a b)))"
_LAMP = "(define (domain lamp) (:predicates (on)) (:action press :parameters () :effect (on)))"

Problem = Annotated[str, Field(description="A PDDL problem.", examples=[_TOWER])]
Answer = Annotated[str, Field(description="A raw answer: prose, fences and several drafts are allowed.")]
Domain = Annotated[
    str | None,
    Field(
        description="A PDDL domain, or the name of a known one (blocksworld, gripper, floor-tile, rover-single); "
        "without it the one that the problem names.",
        examples=["blocksworld", _LAMP],
    ),
]
Plan = Annotated[
    str, Field(description="A plan in any notation, or a raw answer.", examples=["(pickup a)\n(stack a b)"])
]
Question = Annotated[str, Field(description="What is asked about the problem.", json_schema_extra={"enum": [*kinds()]})]
Kind = Annotated[Literal["problem", "plan", "domain"], Field(description="What the answer is.")]


def validate(plan: Plan, problem: Problem, domain: Domain = None, states: bool = False) -> dict[str, Any]:
    """Execute a plan step by step: is it valid, and if not, which step fails and why.

    STRIPS, ADL, derived predicates, numbers, durative actions, constraints. With `states` also what each step changed.
    """
    return validation_values(pddl_eval.validate(plan, problem, domain), states=states)


def compare_problems(
    reference: Problem, generated: Answer, domain: Domain = None, is_placeholder: bool = False
) -> dict[str, Any]:
    """Are two PDDL problems the same planning problem, up to the names of objects; if not, what differs.

    `is_placeholder`: compare initial states and goals separately.
    """
    found = pddl_eval.compare_problems(reference, generated, domain=domain, is_placeholder=is_placeholder)
    names = ("verdict", "detail", "parseable", "solvable", "equivalent", "equivalent_untyped", "solves_reference")
    return _named(found, *names, "object_map", "certificate", "reference_certificate") | {
        "plan": None if found.plan is None else [show_atom(action) for action in found.plan]
    }


def compare_domains(reference: str, generated: Answer, problem: Problem | None = None) -> dict[str, Any]:
    """Are two PDDL domains the same up to names; if not, the nearest difference and how similar they are.

    With a `problem`: does the plan of each domain work in the other.
    """
    found = pddl_eval.compare_domains(reference, generated, problem=problem)
    names = ("verdict", "detail", "equivalent", "equivalent_untyped", "missing_operators", "extra_operators")
    measures = ("domain_precision", "domain_recall", "domain_plan_valid", "domain_reference_plan_valid")
    return _named(found, *names, *measures)


def feedback(
    answer: Answer,
    kind: Kind = "problem",
    reference: Annotated[str | None, Field(description="What the answer should be; nothing of it is revealed.")] = None,
    problem: Annotated[str | None, Field(description="The problem that a plan solves.")] = None,
    domain: Domain = None,
) -> dict[str, Any]:
    """What is wrong with an answer, where, and what would mend it, in words for whoever wrote it."""
    found = pddl_eval.feedback(answer, reference, kind=kind, problem=problem, domain=domain)
    return _named(found, "ok", "verdict", "text")


def judge_answer(
    question: Question, answer: Answer, problem: Problem, domain: Domain = None, plan: str = ""
) -> dict[str, Any]:
    """Is an answer to a question about a problem right; the right answer is computed.

    `plan`: the actions that the question is about.
    """
    found = pddl_eval.judge_answer(question, answer, problem, domain, plan=plan)
    return _named(found, "correct", "verdict", "precision", "recall", "first_wrong_step", "detail")


def explain(
    reference: Annotated[str, Field(description="The right problem or domain; for a plan the problem that it solves.")],
    answer: Answer,
    kind: Kind = "problem",
    domain: Domain = None,
) -> dict[str, Any]:
    """Why an answer has its verdict, as a page in Markdown: both sides, what differs, a plan that shows it."""
    row = {f"reference_{'domain' if kind == 'domain' else 'problem'}": reference, f"generated_{kind}": answer}
    return {"page": markdown(pddl_eval.explain_row(row | {"domain": domain}).page())}


def generate_task(
    domain: Annotated[str, Field(description="A PDDL domain, or the name of a known one.", examples=["blocksworld"])],
    example: Annotated[str | None, Field(description="A problem of the domain, where it is no known one.")] = None,
    least_steps: Annotated[int, Field(ge=1, le=MOST_STEPS)] = 1,
    most_steps: Annotated[int, Field(ge=1, le=MOST_STEPS)] = 10,
    seed: int = 0,
) -> dict[str, Any]:
    """Make a new problem in a domain, with a plan of so many steps, its optimal cost if proven, and its certificate."""
    seeds = [example] if example else []
    environment = pddl_eval.Environment(domain, seeds, steps=(least_steps, most_steps), seed=seed, held_out=0)
    return next(environment.stream()).task._asdict()


TOOLS: tuple[Callable[..., dict[str, Any]], ...]
TOOLS = (validate, compare_problems, compare_domains, feedback, judge_answer, explain, generate_task)


def server() -> MCPServer:
    """The server with its tools, none of which changes anything."""
    made = MCPServer("pddl-eval", instructions=INSTRUCTIONS, version=program_version(), log_level="WARNING")
    harmless = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
    for tool in TOOLS:
        made.add_tool(_as_tool(tool), annotations=harmless)
    return made


def _as_tool(function: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    """The function with results that are bounded, and mistakes of the client told to it."""

    @wraps(function)
    def tool(*args: Any, **kwargs: Any) -> dict[str, Any]:
        try:
            found = function(*args, **kwargs)
        except UserError as error:
            raise ToolError(str(error)) from error
        shown = {name: _bounded(value) for name, value in found.items()}
        cut = [name for name, value in found.items() if shown[name] != value]
        return shown | {"cut": cut} if cut else shown

    return tool


def _bounded(value: Any) -> Any:
    if isinstance(value, str):
        return block(value, MOST_CHARACTERS) if len(value) > MOST_CHARACTERS else str(value)
    if isinstance(value, Mapping):
        return dict(list(value.items())[:MOST_ITEMS])
    return list(value)[:MOST_ITEMS] if isinstance(value, list | tuple | frozenset) else value


def _named(found: Any, *names: str) -> dict[str, Any]:
    return {name: getattr(found, name) for name in names}
