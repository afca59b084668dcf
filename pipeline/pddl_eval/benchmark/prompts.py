"""Requests for a model, made of any dataset: what is asked, in which notation to answer, and examples.

A request's id says what kind of answer it asks for, so a batch of answers is scored as what was asked. Examples come
from the dataset, and state other problems than the question does: their certificates differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Literal

from pddl_eval.benchmark.describe import sentence_of
from pddl_eval.benchmark.twins import DESCRIPTIONS
from pddl_eval.benchmark.variants import PLAIN
from pddl_eval.columns import TWIN, asked_as
from pddl_eval.definition.domains import PlanningDomain, chosen_domain
from pddl_eval.definition.metrics import domain_of
from pddl_eval.definition.model import ROOT_TYPE, domain_to_pddl
from pddl_eval.definition.options import ScoringOptions
from pddl_eval.definition.pddl import DomainError
from pddl_eval.definition.task import Task, read_task
from pddl_eval.errors import UserError
from pddl_eval.scoring.dedupe import certify

Kind = Literal["problem", "plan", "domain", "question"]

KEYS: Mapping[str, str] = {
    "problem": "reference_problem",
    "plan": "reference_plan",
    "domain": "reference_domain",
    "question": "reference_answer",
}
"""What each kind asks for, as the dataset has it."""

INSTRUCTIONS: Mapping[str, str] = {
    "problem": "Write this as a PDDL problem of the domain. Answer with the problem alone: (define (problem …) …).",
    "plan": "Find a plan. Answer with its actions alone, one a line, such as (name argument argument).",
    "domain": "Write the domain in PDDL. Answer with the domain alone: (define (domain …) …).",
}
"""In which notation to answer; a question says it itself."""

FORMATS = ("openai", "messages", "inspect", "lm-eval")

EXAMPLES = 64
"""Rows that examples are drawn from: the first that have an answer."""

Message = dict[str, str]


@dataclass(frozen=True)
class Prompts:
    """Which requests are made: for answers of which kind, with how many examples (``shots``), in which format.

    ``model`` is named in requests of the format ``openai``. Raises ``UserError`` for another kind or format.

    >>> row = {"reference_id": "7", "reference_plan": "(putdown a)", "reference_problem":
    ...        "(define (problem p) (:domain blocksworld) (:objects a) (:init (holding a)) (:goal (clear a)))"}
    >>> (request,) = Prompts("plan").requests([row])
    >>> request["custom_id"], request["body"]["messages"][-1]["content"].splitlines()[-1]
    ('pddl-eval-plan-7', 'Find a plan. Answer with its actions alone, one a line, such as (name argument argument).')
    """

    kind: Kind
    shots: int = 0
    format: str = "openai"
    model: str = "MODEL"
    seed: int = 0
    options: ScoringOptions = PLAIN

    def __post_init__(self) -> None:
        if self.kind not in KEYS or self.format not in FORMATS:
            raise UserError(
                f"prompts are for a {', '.join(KEYS)}, as {', '.join(FORMATS)}; not {self.kind}, {self.format}"
            )

    @property
    def columns(self) -> set[str]:
        """The columns that are read, as far as there are such columns."""
        return {*map(self.options.column, (*KEYS.values(), *ASKED_ABOUT))}

    @property
    def texts(self) -> tuple[str, ...]:
        """What is read as text, by meaning."""
        asked = ("question_text",) if self.kind == "question" else ()
        problem = () if self.kind == "domain" else ("reference_problem", "domain", "reference_domain")
        return (KEYS[self.kind], *problem, *asked)

    def requests(self, rows: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
        """A request for each row that has what is asked about, in their order.

        Raises ``UserError`` where there are too few examples for one of them.
        """
        key, read = KEYS[self.kind], {each: self.options.column(each) for each in (*KEYS.values(), *ASKED_ABOUT)}
        known: list[dict[str, Any]] = [{meaning: row.get(name) for meaning, name in read.items()} for row in rows]
        certificates = self._certificates(known) if self.shots else [None] * len(rows)
        told = list(zip(known, map(self._asked, known), certificates, strict=True))
        examples = [(row, question, name) for row, question, name in told if question and row[key]][:EXAMPLES]
        for number, (row, asked, certificate) in enumerate(told):
            if asked is None:
                continue
            others = [
                (question, other[key])
                for other, question, name in examples
                if question != asked and name != certificate and (row[TWIN] is None or other[TWIN] != row[TWIN])
            ]
            if len(others) < self.shots:
                raise UserError(f"row {number} has only {len(others)} examples that are no twins of it")
            messages: list[Message] = []
            for example, answer in Random(f"{self.seed} {number}").sample(others, self.shots):
                messages += [{"role": "user", "content": example}, {"role": "assistant", "content": answer}]
            messages.append({"role": "user", "content": asked})
            identity = number if row["reference_id"] is None else row["reference_id"]
            yield self._written(asked_as(self.kind, identity), messages, row)

    def _written(self, identity: str, messages: list[Message], row: Mapping[str, Any]) -> dict[str, Any]:
        key = row[KEYS[self.kind]]
        match self.format:
            case "openai":
                body = {"model": self.model, "messages": messages}
                return {"custom_id": identity, "method": "POST", "url": "/v1/chat/completions", "body": body}
            case "messages":
                return {"custom_id": identity, "messages": messages}
            case "inspect":
                return {"id": identity, "input": messages, "target": key or ""}
            case _:
                turns = [f"{'Answer: ' * (each['role'] == 'assistant')}{each['content']}" for each in messages]
                return {"id": identity, "query": "\n\n".join([*turns, "Answer:"]), "target": key or ""}

    def _certificates(self, rows: Sequence[Mapping[str, Any]]) -> list[str | None]:
        if self.kind == "domain":
            return [row["reference_domain"] for row in rows]
        return [
            each.certificate
            for each in certify([(row["reference_problem"] or "", domain_of(row, self.options)) for row in rows], False)
        ]

    def _asked(self, row: Mapping[str, Any]) -> str | None:
        """What a row asks, in words; None where it lacks what that is about, or it cannot be read."""
        given = domain_of(row, self.options)
        try:
            if self.kind == "domain":
                return f"{_heads(chosen_domain(row['reference_domain'] or ''))}\n\n{INSTRUCTIONS['domain']}"
            task = read_task(row["reference_problem"], given, for_plans=True)
        except DomainError:
            return None
        if not isinstance(task, Task) or task.domain is None:
            return None
        if given is None or "(" not in given:
            given = domain_to_pddl(task.domain.domain)
        about = f"The problem:\n\n{row['reference_problem']}"
        if self.kind == "problem":
            about = f"The task: {next((row[name] for name in DESCRIPTIONS if row[name]), None) or _in_words(task)}"
        asked = row["question_text"] if self.kind == "question" else INSTRUCTIONS[self.kind]
        return f"The domain:\n\n{given.strip()}\n\n{about}\n\n{asked}" if asked else None


ASKED_ABOUT = ("reference_id", "domain", "question_text", TWIN, *DESCRIPTIONS)
"""What of a row is read beside its keys."""


def _heads(domain: PlanningDomain) -> str:
    """What a domain is made of, without what its operators need and do."""
    types = [f"{name} (a kind of {parent})" for name, parent in domain.domain.types.items()]
    said = [f"A planning domain is called {domain.name}."]
    said += [f"Its types: {', '.join(types)}."] if types else []
    predicates = [_head(name, types) for name, types in domain.domain.predicates.items()]
    actions = [_head(each.name, [types for _, types in each.parameters]) for each in domain.domain.operators]
    return "\n".join([*said, f"Its predicates: {', '.join(predicates)}.", f"Its actions: {', '.join(actions)}."])


def _head(name: str, parameters: Sequence[Sequence[str]]) -> str:
    typed = [f"?x{place} - {' or '.join(types)}" for place, types in enumerate(parameters, 1)]
    return f"({' '.join([name, *typed])})"


def _in_words(task: Task) -> str:
    """A problem in words, made of the names of predicates and objects."""
    problem = task.problem
    kinds: dict[str, list[str]] = {}
    for name, type_ in problem.objects.items():
        kinds.setdefault(type_, []).append(name)
    shown = {kind: "objects" if kind == ROOT_TYPE else f"of type {kind}" for kind in kinds}
    listed = [f"{shown[kind]}: {', '.join(names)}" for kind, names in kinds.items()]
    init, goal = ("; ".join(map(sentence_of, sorted(atoms))) for atoms in (problem.init, problem.goal))
    return f"There are {'; '.join(listed)}.\nAt the start: {init}.\nIn the end this shall hold: {goal}."
