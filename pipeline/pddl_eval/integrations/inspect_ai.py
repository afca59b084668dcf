"""Planetarium in Inspect, which finds it by its entry point: a task, and a scorer that other tasks can use.

    inspect eval pddl_eval/planetarium --model openai/gpt-4o -T pairs=planetarium.jsonl

A line of ``pairs`` is a row of the published dataset.
"""

from asyncio import to_thread

from inspect_ai import Task, task
from inspect_ai.dataset import FieldSpec, json_dataset
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState, generate, system_message

from pddl_eval.integrations import judged, scores

PROMPT = "Answer with a PDDL problem that says what the user describes, in the domain that the user names."


@task
def planetarium(pairs: str) -> Task:
    """Write the PDDL problem that a text describes."""
    fields = FieldSpec(input="natural_language", target="problem_pddl", metadata=["domain", "is_placeholder"])
    solver = [system_message(PROMPT), generate()]
    return Task(dataset=json_dataset(pairs, fields), solver=solver, scorer=pddl_problem())


@scorer(metrics={"*": [mean(), stderr()]})
def pddl_problem() -> Scorer:
    """Whether the answer is the target's planning problem; undecided counts as no, the verdict is in the log."""

    async def score(state: TaskState, target: Target) -> Score:
        # In a thread: a hard problem takes seconds, and other samples go on meanwhile.
        row = {**(state.metadata or {}), "problem_pddl": target.text}
        found = await to_thread(judged, row, state.output.completion)
        return Score(
            value=scores(found),
            answer=state.output.completion,
            explanation=f"{found.verdict}: {found.detail}",
            metadata={"certificate": found.certificate},
        )

    return score
